/* SPDX-License-Identifier: MIT */
#include "run/training-log.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "files/input-guard.h"
#include "files/file.h"
#include "text/json.h"
#include "run/event-file.h"

typedef struct
{
  char *path;
  FILE *stream; /* NULL: not requested, or ended by an error */
} Output;

struct PlaitTrainingLog
{
  Output lines, events;
  PlaitLog *log;
};

static void
output_close (Output *output)
{
  if (output->stream)
    fclose (output->stream);
  g_free (output->path);
}

void
plait_training_log_free (PlaitTrainingLog *training)
{
  if (!training)
    return;
  output_close (&training->lines);
  output_close (&training->events);
  g_free (training);
}

static gboolean
output_open (Output *output, const char *option, GError **error)
{
  if (!plait_input_guard_check (output->path, output->path, error))
    return FALSE;
  output->stream = plait_file_open_output (output->path, FALSE);
  if (!output->stream && errno == ENXIO)
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s %s: no program reads this pipe; start the reading program first",
                       option, output->path);
  return output->stream
         || plait_fail (error, PLAIT_ERROR_INPUT, "%s %s: cannot be written (%s); name another place", option,
                        output->path, g_strerror (errno));
}

/* Writes @n bytes and flushes them. */
static void
output_add (PlaitTrainingLog *training, Output *output, gconstpointer bytes, gsize n)
{
  if (fwrite (bytes, 1, n, output->stream) == n && fflush (output->stream) == 0)
    return;
  plait_log_warning (training->log, "%s: cannot be written (%s); it ends here, and training continues", output->path,
                     g_strerror (errno));
  fclose (output->stream);
  output->stream = NULL;
}

static double
now (void)
{
  return (double)g_get_real_time () / 1e6;
}

PlaitTrainingLog *
plait_training_log_open (const char *lines, const char *events, PlaitLog *log, GError **error)
{
  g_autoptr (PlaitTrainingLog) training = g_new0 (PlaitTrainingLog, 1);

  training->log = log;
  if (lines)
    {
      training->lines.path = g_strdup (lines);
      if (!output_open (&training->lines, "--log", error))
        return NULL;
    }
  if (events)
    {
      g_autoptr (GByteArray) bytes = g_byte_array_new ();

      if (g_mkdir_with_parents (events, 0777) != 0)
        return plait_fail_null (error, PLAIT_ERROR_INPUT,
                                "--tensorboard %s: the folder cannot be made (%s); name another place", events,
                                g_strerror (errno));
      training->events.path = g_build_filename (events, PLAIT_TRAINING_LOG_EVENTS, NULL);
      if (!output_open (&training->events, "--tensorboard", error))
        return NULL;
      plait_event_append_version (bytes, now ());
      output_add (training, &training->events, bytes->data, bytes->len);
    }
  return g_steal_pointer (&training);
}

static void
add_line (PlaitTrainingLog *training, const char *table, const PlaitTrainingNumber *numbers, guint n)
{
  g_autoptr (PlaitJson) json = plait_json_new_line ();
  const char *text;

  plait_json_begin_object (json, NULL);
  plait_json_text (json, "table", table);
  for (guint i = 0; i < n; i++)
    if (numbers[i].type == PLAIT_STORE_DOUBLE)
      plait_json_real (json, numbers[i].name, numbers[i].value);
    else if (numbers[i].type == PLAIT_STORE_INT64)
      plait_json_integer (json, numbers[i].name, (gint64)numbers[i].value);
    else
      plait_json_boolean (json, numbers[i].name, numbers[i].value != 0);
  plait_json_end_object (json);
  text = plait_json_string (json);
  output_add (training, &training->lines, text, strlen (text));
}

static void
add_event (PlaitTrainingLog *training, const char *table, const PlaitTrainingNumber *numbers, guint n)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  g_autofree PlaitEventScalar *scalars = g_new (PlaitEventScalar, n);
  g_autoptr (GStringChunk) tags = g_string_chunk_new (1024);
  gint64 step = 0;
  guint known = 0;

  for (guint i = 0; i < n; i++)
    if (g_str_equal (numbers[i].name, "step"))
      step = (gint64)numbers[i].value;
    else if (!isnan (numbers[i].value))
      {
        g_autofree char *tag = g_strconcat (table, "/", numbers[i].name, NULL);

        scalars[known++] = (PlaitEventScalar){ g_string_chunk_insert (tags, tag), numbers[i].value };
      }
  plait_event_append_scalars (bytes, now (), step, scalars, known);
  output_add (training, &training->events, bytes->data, bytes->len);
}

void
plait_training_log_add (PlaitTrainingLog *training, const char *table, const PlaitTrainingNumber *numbers, guint n)
{
  if (training->lines.stream)
    add_line (training, table, numbers, n);
  if (training->events.stream)
    add_event (training, table, numbers, n);
}
