/* SPDX-License-Identifier: MIT */
#include "text/json.h"
#include "compare/compare.h"
#include "experiment/groups.h"
#include "terminal/table-print.h"
#include "lines/text-file.h"
#include "metrics/frequencies.h"
#include "metrics/pieces.h"

typedef struct
{
  const char *name; /* name of the run */
  PlaitFrequencyScore scores[PLAIT_FREQUENCY_BINS];
} System;

/* Returns a table with the number of times each word occurs in the file at @path. Joins subword pieces as evaluate.join
 * of @experiment says. (transfer full) */
static GHashTable *
read_text (const char *path, const PlaitKeyFile *experiment, GError **error)
{
  const char *join = plait_key_file_value (experiment, "evaluate", "join");
  PlaitSettingValue pieces = { .choice = PLAIT_PIECES_NONE };

  g_autoptr (PlaitTextReader) reader = plait_text_reader_open_pipe (path, error);
  g_autoptr (GHashTable) frequencies = plait_frequencies_new ();
  g_autoptr (GError) fault = NULL;

  if (!reader)
    return NULL;
  if (join)
    g_free (plait_setting_parse (plait_experiment_setting ("evaluate", "join"), join, &pieces, NULL));
  for (const char *line; (line = plait_text_reader_next (reader, NULL, &fault));)
    {
      char *text[] = { g_strdup (line), NULL };

      plait_text_join_pieces (text, (PlaitTextPieces)pieces.choice);
      plait_frequencies_count (frequencies, text[0]);
      g_free (text[0]);
    }
  return plait_no_error (&fault, error) ? g_steal_pointer (&frequencies) : NULL;
}

/* Scores the translated words of each run in the split whose first score column is @first. Leaves out runs without
 * scores, translations or references in this split. (transfer full) (element-type System) */
static GArray *
score_runs (const PlaitRunComparison *comparison, guint first, GHashTable *frequencies)
{
  guint end = plait_run_comparison_split_end (comparison, first);
  GArray *systems = g_array_new (FALSE, TRUE, sizeof (System));

  for (guint r = 0; r < comparison->runs->len; r++)
    {
      const PlaitRunFile *run = comparison->runs->pdata[r];
      System system = { .name = run->name };
      const char *split = comparison->score_columns[first].split;
      gint64 n = 0, m = 0;
      guint k = first;

      while (k < end && !plait_score_column_score (&comparison->score_columns[k], run->result))
        k++;
      if (k == end)
        continue;
      g_auto (GStrv) references = plait_run_lines (run->store, split, "references", &n);
      g_auto (GStrv) hypotheses = plait_run_lines (run->store, split, "hypotheses", &m);
      if (!references || !hypotheses || n != m)
        continue;
      for (gint64 i = 0; i < n; i++)
        plait_frequencies_score (frequencies, references[i], hypotheses[i], system.scores);
      g_array_append_val (systems, system);
    }
  return systems;
}

static void
add_json (const PlaitScoreColumn *score_column, const GArray *systems, PlaitJson *json)
{
  for (guint bin = 0; bin < PLAIT_FREQUENCY_BINS; bin++)
    for (guint s = 0; s < systems->len; s++)
      {
        const System *system = &g_array_index (systems, System, s);
        const PlaitFrequencyScore *score = &system->scores[bin];

        plait_json_object (
            json, NULL,
            "split=%s in_training=%s run=%s reference_words=%jd hypothesis_words=%jd matched_words=%jd f1=%g",
            score_column->split, plait_frequency_label (bin), system->name, score->references, score->hypotheses,
            score->matched, plait_frequency_f1 (score));
      }
}

static void
print (const PlaitScoreColumn *score_column, const GArray *systems, PlaitTerminal *terminal)
{
  g_autoptr (PlaitTable) table = plait_table_new ();
  g_autofree char *split = plait_score_column_split_text (score_column);

  table->title = g_strdup_printf ("words of %s by their frequency in training: F1, %%", split);
  plait_table_column (table, PLAIT_TABLE_WORDS, "In training");
  plait_table_column (table, PLAIT_TABLE_COUNTS, "Words");
  for (guint s = 0; s < systems->len; s++)
    plait_table_column (table, PLAIT_TABLE_NUMBERS, g_array_index (systems, System, s).name);
  for (guint bin = 0; bin < PLAIT_FREQUENCY_BINS; bin++)
    {
      plait_table_text (table, PLAIT_TABLE_NAME, plait_frequency_label (bin));
      plait_table_integer (table, PLAIT_TABLE_PLAIN, g_array_index (systems, System, 0).scores[bin].references);
      for (guint s = 0; s < systems->len; s++)
        plait_table_real_or_none (table, plait_frequency_f1 (&g_array_index (systems, System, s).scores[bin]));
    }
  plait_table_print (table, terminal);
}

gboolean
plait_compare_frequencies (const PlaitRunComparison *comparison, const char *path, gboolean as_json, GError **error)
{
  g_autoptr (GHashTable) frequencies = read_text (path, plait_run_at (comparison->runs, 0)->experiment, error);
  gboolean any = FALSE;

  if (!frequencies)
    return FALSE;
  g_autoptr (PlaitJson) json = as_json ? plait_json_new_array () : NULL;
  g_autoptr (PlaitTerminal) terminal = as_json ? NULL : plait_terminal_new ();
  for (guint m = 0; m < comparison->n_score_columns; m = plait_run_comparison_split_end (comparison, m))
    {
      g_autoptr (GArray) systems = score_runs (comparison, m, frequencies);

      if (systems->len == 0)
        continue;
      any = TRUE;
      if (json)
        add_json (&comparison->score_columns[m], systems, json);
      else
        print (&comparison->score_columns[m], systems, terminal);
    }
  if (!any)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "--frequencies: no split of these runs has translations and references; run plait test on them");
  if (json)
    plait_json_print (json);
  return TRUE;
}
