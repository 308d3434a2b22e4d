/* SPDX-License-Identifier: MIT */
#include "significance/system-scores.h"

#include <math.h>

void
plait_system_scores_free (PlaitSystemScore *scores, const GPtrArray *metrics)
{
  for (guint m = 0; scores && m < metrics->len; m++)
    {
      plait_statistics_free (scores[m].statistics);
      plait_result_free (scores[m].result);
    }
  g_free (scores);
}

PlaitSystemScore *
plait_system_scores_new (const GPtrArray *metrics, const PlaitTextPairs *pairs, guint resamples, guint64 seed,
                         GError **error)
{
  PlaitSystemScore *scores = g_new0 (PlaitSystemScore, metrics->len);

  for (guint m = 0; m < metrics->len; m++)
    {
      scores[m].statistics = plait_metric_statistics (metrics->pdata[m], pairs, error);
      if (scores[m].statistics)
        scores[m].result = plait_result_new (metrics->pdata[m], scores[m].statistics, resamples, seed, error);
      if (!scores[m].result)
        {
          plait_system_scores_free (scores, metrics);
          return NULL;
        }
    }
  return scores;
}

gboolean
plait_system_scores_compare (PlaitSystemScore *const *systems, guint n, const GPtrArray *metrics, PlaitTest test,
                             guint trials, guint64 seed, GError **error)
{
  for (guint m = 0; m < metrics->len; m++)
    {
      g_autoptr (GPtrArray) compared = g_ptr_array_new ();

      for (guint s = 1; s < n; s++)
        {
          PlaitSystemScore *score = &systems[s][m];

          if (!plait_compare_systems (metrics->pdata[m], systems[0][m].statistics, score->statistics, test, trials,
                                      seed, &score->comparison, error))
            return FALSE;
          g_ptr_array_add (compared, &score->comparison);
        }
      plait_holm_adjust (compared);
    }
  return TRUE;
}

void
plait_system_scores_add_json (const PlaitSystemScore *scores, const GPtrArray *metrics, const char *name,
                              gboolean compared, PlaitJson *json)
{
  plait_json_begin_array (json, name);
  for (guint m = 0; m < metrics->len; m++)
    plait_result_add_json (scores[m].result, json);
  plait_json_end_array (json);
  if (!compared)
    return;
  plait_json_begin_array (json, "comparisons");
  for (guint m = 0; m < metrics->len; m++)
    plait_comparison_add_json (&scores[m].comparison, json, NULL);
  plait_json_end_array (json);
}

void
plait_system_score_columns (PlaitTable *table, const PlaitSystemScore *score, gboolean tests)
{
  plait_table_column (table, PLAIT_TABLE_NUMBERS, score->result->name);
  if (!tests)
    return;
  plait_table_column (table, PLAIT_TABLE_NUMBERS, "Difference")->format = "%+.2f";
  plait_comparison_columns (table, NULL);
}

void
plait_system_score_cells (PlaitTable *table, const PlaitSystemScore *score, gboolean tests, gboolean compared)
{
  plait_table_score (table, plait_result_score (score->result));
  if (!tests)
    return;
  plait_table_real_or_none (table, compared ? score->comparison.difference : NAN);
  plait_comparison_cells (table, compared ? &score->comparison : NULL);
}
