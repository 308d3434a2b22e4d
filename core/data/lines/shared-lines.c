/* SPDX-License-Identifier: MIT */
#include "lines/shared-lines.h"

typedef struct
{
  char *text;
  gsize length;
  gint64 number;
  guint wanted; /* number of readers that have not got the line */
} Line;

struct PlaitSharedLines
{
  guint users;
  guint n;
  PlaitTextReader *lines;
  GQueue kept;  /* (element-type Line) lines that some reader has not got, oldest first */
  gint64 first; /* position of the first line in @kept */
  gboolean ended;
};

static void
line_free (gpointer item)
{
  Line *line = item;

  g_free (line->text);
  g_free (line);
}

PlaitSharedLines *
plait_shared_lines_new (PlaitTextReader *lines, guint n)
{
  PlaitSharedLines *shared = g_new0 (PlaitSharedLines, 1);

  shared->users = shared->n = n;
  shared->lines = lines;
  g_queue_init (&shared->kept);
  return shared;
}

void
plait_shared_lines_unref (PlaitSharedLines *shared)
{
  if (!shared || --shared->users > 0)
    return;
  g_queue_clear_full (&shared->kept, line_free);
  plait_text_reader_free (shared->lines);
  g_free (shared);
}

static gboolean
read_line (PlaitSharedLines *shared, GError **error)
{
  gsize length = 0;
  const char *text = shared->ended ? NULL : plait_text_reader_next (shared->lines, &length, error);
  Line *line;

  shared->ended = !text;
  if (!text)
    return FALSE;
  line = g_new0 (Line, 1);
  line->text = g_memdup2 (text, length + 1);
  line->length = length;
  line->number = plait_text_reader_line (shared->lines);
  line->wanted = shared->n;
  g_queue_push_tail (&shared->kept, line);
  return TRUE;
}

char *
plait_shared_lines_next (PlaitSharedLines *shared, gint64 position, gsize *length, gint64 *number, GError **error)
{
  Line *line;
  char *text;

  if (position == shared->first + shared->kept.length && !read_line (shared, error))
    return NULL;
  line = g_queue_peek_nth (&shared->kept, (guint)(position - shared->first));
  *length = line->length;
  *number = line->number;
  if (--line->wanted > 0)
    return g_memdup2 (line->text, line->length + 1);
  text = g_steal_pointer (&line->text);
  line_free (g_queue_pop_head (&shared->kept));
  shared->first++;
  return text;
}
