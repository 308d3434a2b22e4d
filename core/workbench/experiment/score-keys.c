/* SPDX-License-Identifier: MIT */
#include "experiment/resolution.h"

#include <string.h>

/* This file reads the keys scores.NAME of [evaluate]. */

#define PREFIX "scores."
#define FILE_PREFIX "file:"

static const PlaitSettingSpecification any_text = { "score", PLAIT_SETTING_TEXT };

/* Sets @score->path if the value of @key has the form file:FILE. If files are checked, adds a problem if the file is
 * missing. */
static void
find_file (const PlaitResolution *resolution, const char *key, PlaitExperimentScore *score)
{
  PlaitExperimentPrivate *experiment = resolution->experiment;
  g_autofree char *path = NULL;

  if (!g_str_has_prefix (score->command, FILE_PREFIX))
    return;
  path = g_canonicalize_filename (score->command + strlen (FILE_PREFIX), experiment->public.data.folder);
  score->path = g_string_chunk_insert (experiment->data->texts, path);
  if ((resolution->resolver->flags & PLAIT_RESOLVE_CHECK_FILES) && !g_file_test (path, G_FILE_TEST_IS_REGULAR))
    plait_resolution_problem (resolution, "evaluate", key,
                              "there is no file %s; name a file of numbers, relative to data.folder, or a command",
                              path);
}

gboolean
plait_resolution_take_score (const PlaitResolution *resolution, const char *group, const char *key, gconstpointer data)
{
  PlaitExperimentPrivate *experiment = resolution->experiment;
  g_autoptr (GError) fault = NULL;
  g_autofree char *command = NULL;
  PlaitExperimentScore score = { .larger_is_better = TRUE };

  if (!g_str_has_prefix (key, PREFIX))
    return FALSE;
  command = plait_setting_parse (&any_text, plait_key_file_value (resolution->file, group, key), NULL, &fault);
  if (!plait_name_is_valid (key + strlen (PREFIX)))
    plait_resolution_problem (resolution, group, key, "\"%s\" is not a name for a score; use " PLAIT_NAME_FORM,
                              key + strlen (PREFIX));
  else if (!command || *g_strstrip (command) == '\0')
    plait_resolution_problem (resolution, group, key, "%s",
                              fault ? fault->message : "is empty; give a command, or file:FILE");
  else
    {
      score.name = g_string_chunk_insert (experiment->data->texts, key + strlen (PREFIX));
      score.command = g_string_chunk_insert (experiment->data->texts, command);
      find_file (resolution, key, &score);
      g_array_append_val (experiment->scores, score);
    }
  return TRUE;
}

void
plait_resolution_check_scores (const PlaitResolution *resolution)
{
  PlaitExperimentPrivate *experiment = resolution->experiment;
  PlaitExperimentScore *scores = (PlaitExperimentScore *)(gpointer)experiment->scores->data;
  g_auto (GStrv) smaller = g_strsplit (experiment->public.evaluate.smaller_is_better, ";", -1);
  g_autoptr (GPtrArray) names = g_ptr_array_new_null_terminated (8, NULL, TRUE);

  for (guint i = 0; i < experiment->scores->len; i++)
    {
      scores[i].larger_is_better = !g_strv_contains ((const char *const *)smaller, scores[i].name);
      g_ptr_array_add (names, (gpointer)scores[i].name);
    }
  for (guint i = 0; smaller[i]; i++)
    if (!g_strv_contains ((const char *const *)names->pdata, smaller[i]))
      {
        g_autofree char *remedy
            = plait_name_remedy (smaller[i], (const char *const *)names->pdata, "add scores.NAME, or drop the name");

        plait_resolution_problem (resolution, "evaluate", "smaller_is_better", "there is no score \"%s\"; %s",
                                  smaller[i], remedy);
      }
  experiment->public.scores = scores;
  experiment->public.n_scores = experiment->scores->len;
}
