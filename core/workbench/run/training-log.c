/* SPDX-License-Identifier: MIT */
#include "run/training-log.h"

#include <errno.h>
#include <stdio.h>

#include "files/input-guard.h"
#include "files/file.h"
#include "text/json.h"

struct PlaitTrainingLog
{
  char *path;
  FILE *stream; /* file of the log; NULL after an error */
  PlaitLog *log;
};

void
plait_training_log_free (PlaitTrainingLog *training)
{
  if (!training)
    return;
  if (training->stream)
    fclose (training->stream);
  g_free (training->path);
  g_free (training);
}

PlaitTrainingLog *
plait_training_log_open (const char *path, PlaitLog *log, GError **error)
{
  g_autoptr (PlaitTrainingLog) training = g_new0 (PlaitTrainingLog, 1);

  training->log = log;
  training->path = g_strdup (path);
  if (!plait_input_guard_check (path, path, error))
    return NULL;
  training->stream = plait_file_open_output (path, FALSE);
  if (training->stream)
    return g_steal_pointer (&training);
  return plait_fail_null (error, plait_error_code (errno),
                          errno == ENXIO ? "--log %s: no program reads this pipe; start the reading program first"
                                         : "--log %s: cannot be written (%s); name another file",
                          path, g_strerror (errno));
}

void
plait_training_log_add (PlaitTrainingLog *training, const char *table, const PlaitTrainingNumber *numbers, guint n)
{
  g_autoptr (PlaitJson) json = plait_json_new_line ();
  const char *text;

  if (!training->stream)
    return;
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
  if (fputs (text, training->stream) >= 0 && fflush (training->stream) == 0)
    return;
  plait_log_warning (training->log, "%s: cannot be written (%s); the log ends here, and training continues",
                     training->path, g_strerror (errno));
  fclose (training->stream);
  training->stream = NULL;
}
