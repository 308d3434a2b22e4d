/* SPDX-License-Identifier: MIT */
#include "lines/tree-lines.h"

#include "text/error.h"

#define LOOK_AHEAD (1024 * 1024)

typedef struct
{
  char *text;
  gsize length;
  gint64 number;
} Line;

struct PlaitTreeLines
{
  PlaitTextReader *lines;
  gboolean may_look;
  gboolean begun;
  gboolean spread;     /* TRUE if a tree that takes several lines was found */
  gboolean gave_empty; /* TRUE if an empty line was returned as a sentence without a tree */
  GQueue ahead;        /* (element-type Line) lines that were read ahead and not returned yet */
  gsize ahead_bytes;
  Line *given;   /* line returned last, if it was read ahead; else NULL */
  GString *tree; /* a tree joined from several lines */
  GError *fault; /* error found while reading ahead, reported after the lines in @ahead */
};

static void
line_free (gpointer data)
{
  Line *line = data;

  if (!line)
    return;
  g_free (line->text);
  g_free (line);
}

PlaitTreeLines *
plait_tree_lines_new (PlaitTextReader *lines, gboolean ahead)
{
  PlaitTreeLines *trees = g_new0 (PlaitTreeLines, 1);

  trees->lines = lines;
  trees->may_look = ahead;
  trees->tree = g_string_new (NULL);
  g_queue_init (&trees->ahead);
  return trees;
}

void
plait_tree_lines_free (PlaitTreeLines *trees)
{
  if (!trees)
    return;
  g_queue_clear_full (&trees->ahead, line_free);
  line_free (trees->given);
  g_string_free (trees->tree, TRUE);
  g_clear_error (&trees->fault);
  plait_text_reader_free (trees->lines);
  g_free (trees);
}

/* Returns the number of opening brackets in @line minus the number of closing ones. */
static gint64
open_brackets (const char *line, gsize length)
{
  gint64 open = 0;

  for (gsize i = 0; i < length; i++)
    open += (line[i] == '(') - (line[i] == ')');
  return open;
}

/* TRUE if @line can continue a tree with open brackets: it begins with a space, a tab or ')', and is not blank. */
static gboolean
goes_on (const char *line, gsize length)
{
  return (*line == ' ' || *line == '\t' || *line == ')') && !plait_text_is_blank (line, length);
}

/* Reads one more line ahead. FALSE at the end, or on an error, which stays in trees->fault. */
static gboolean
read_ahead (PlaitTreeLines *trees)
{
  gsize length;
  const char *text = trees->fault ? NULL : plait_text_reader_next (trees->lines, &length, &trees->fault);
  Line *line;

  if (!text)
    return FALSE;
  line = g_new (Line, 1);
  *line = (Line){ g_strndup (text, length), length, plait_text_reader_line (trees->lines) };
  g_queue_push_tail (&trees->ahead, line);
  trees->ahead_bytes += length + 1;
  return TRUE;
}

/* If lines may be read ahead, reads until a tree takes several lines, or LOOK_AHEAD bytes are read. */
static void
look_ahead (PlaitTreeLines *trees)
{
  gint64 open = 0;

  trees->begun = TRUE;
  while (trees->may_look && !trees->spread && trees->ahead_bytes < LOOK_AHEAD && read_ahead (trees))
    {
      const Line *line = g_queue_peek_tail (&trees->ahead);

      trees->spread = open > 0 && goes_on (line->text, line->length);
      open = open_brackets (line->text, line->length);
    }
}

/* Returns the next line of the file unchanged, and its number in *@number. */
static const char *
next_line (PlaitTreeLines *trees, gsize *length, gint64 *number, GError **error)
{
  const char *text;

  g_clear_pointer (&trees->given, line_free);
  trees->given = g_queue_pop_head (&trees->ahead);
  if (trees->given)
    {
      trees->ahead_bytes -= trees->given->length + 1;
      *length = trees->given->length;
      *number = trees->given->number;
      return trees->given->text;
    }
  if (!plait_no_error (&trees->fault, error))
    return NULL;
  text = plait_text_reader_next (trees->lines, length, error);
  *number = plait_text_reader_line (trees->lines);
  return text;
}

/* Notes that the trees of the file take several lines. Fails if an empty line was already returned as a sentence
 * without a tree. */
static gboolean
may_spread (PlaitTreeLines *trees, gint64 number, GError **error)
{
  if (trees->gave_empty && !trees->spread)
    return plait_fail (
        error, PLAIT_ERROR_INPUT,
        "%s:%jd: the tree has several lines, but empty lines above were read as sentences without a tree; write each "
        "tree on one line, or remove the empty lines and write () for each sentence without a tree",
        plait_text_reader_name (trees->lines), number);
  trees->spread = TRUE;
  return TRUE;
}

/* Returns the tree that begins with @line, which leaves @open brackets open, joined with the lines that continue it. */
static const char *
join (PlaitTreeLines *trees, const char *line, gsize *length, gint64 number, gint64 open, GError **error)
{
  g_string_truncate (trees->tree, 0);
  g_string_append_len (trees->tree, line, (gssize)*length);
  while (open > 0 && (!g_queue_is_empty (&trees->ahead) || read_ahead (trees)))
    {
      const Line *next = g_queue_peek_head (&trees->ahead);
      gint64 place;
      gsize n;

      if (!goes_on (next->text, next->length))
        break;
      if (!may_spread (trees, number, error))
        return NULL;
      line = next_line (trees, &n, &place, error);
      open += open_brackets (line, n);
      g_string_append_c (trees->tree, ' ');
      g_string_append_len (trees->tree, line, (gssize)n);
      if (trees->tree->len > PLAIT_TEXT_LINE_LIMIT)
        return plait_fail_null (error, PLAIT_ERROR_INPUT,
                                "%s:%jd: the tree that begins here has more than %d bytes; expected one tree over one "
                                "sentence, so close its brackets, or remove it",
                                plait_text_reader_name (trees->lines), number, PLAIT_TEXT_LINE_LIMIT);
    }
  if (open > 0 && g_queue_is_empty (&trees->ahead) && !plait_no_error (&trees->fault, error))
    return NULL;
  *length = trees->tree->len;
  return trees->tree->str;
}

const char *
plait_tree_lines_next (PlaitTreeLines *trees, gsize *length, gint64 *number, GError **error)
{
  const char *line;
  gint64 open;

  if (!trees->begun)
    look_ahead (trees);
  do
    line = next_line (trees, length, number, error);
  while (line && trees->spread && plait_text_is_blank (line, *length));
  if (!line)
    return NULL;
  trees->gave_empty |= plait_text_is_blank (line, *length);
  open = open_brackets (line, *length);
  return open > 0 ? join (trees, line, length, *number, open, error) : line;
}
