/* SPDX-License-Identifier: MIT */
#include "comparison/attention-difference.h"

#include <math.h>
#include <string.h>

#include "comparison/heatmap.h"
#include "comparison/location.h"
#include "dumps/attention.h"

#define MAX_STEPS 4096

static void
difference_free (gpointer item)
{
  PlaitAttentionDifference *difference = item;

  g_free (difference->split);
  g_free (difference->memory);
  g_free (difference->sums);
  g_free (difference->rows);
  g_free (difference);
}

/* Returns -x log2 x, or 0 for x = 0. */
static double
entropy_term (double x)
{
  return x > 0 ? -x * log2 (x) : 0;
}

double
plait_jensen_shannon (const double *p, const double *q, gint64 n)
{
  double p_sum = 0, q_sum = 0, divergence = 0;

  for (gint64 i = 0; i < n; i++)
    {
      p_sum += p[i];
      q_sum += q[i];
    }
  if (!(p_sum > 0) || !(q_sum > 0))
    return NAN;
  for (gint64 i = 0; i < n; i++)
    {
      double a = p[i] / p_sum, b = q[i] / q_sum;

      divergence += entropy_term ((a + b) / 2) - (entropy_term (a) + entropy_term (b)) / 2;
    }
  return MAX (divergence, 0); /* rounding can give a small negative number */
}

/* TRUE if the memory of the heatmap @path has rows labelled by numbers, like latents: rows of two models cannot be
 * compared. */
static gboolean
is_numbered (PlaitStore *store, const char *path)
{
  g_autofree char *rows = plait_store_get_string (store, path, "rows", NULL);

  return g_strcmp0 (rows, PLAIT_ATTENTION_NUMBERED) == 0;
}

static gboolean
same_tokens (const PlaitHeatmap *a, const PlaitHeatmap *b)
{
  return a->n_rows == b->n_rows && a->n_columns == b->n_columns
         && g_strv_equal ((const char *const *)a->rows, (const char *const *)b->rows)
         && g_strv_equal ((const char *const *)a->columns, (const char *const *)b->columns);
}

/* Returns the entry for @split and @memory in @differences. Adds it if it is missing. */
static PlaitAttentionDifference *
entry (GPtrArray *differences, const char *split, const char *memory, gint64 layers, gint64 heads)
{
  for (guint i = 0; i < differences->len; i++)
    {
      PlaitAttentionDifference *difference = differences->pdata[i];

      if (strcmp (difference->split, split) == 0 && strcmp (difference->memory, memory) == 0)
        return difference;
    }
  PlaitAttentionDifference *difference = g_new0 (PlaitAttentionDifference, 1);
  difference->split = g_strdup (split);
  difference->memory = g_strdup (memory);
  difference->layers = layers;
  difference->heads = heads;
  difference->sums = g_new0 (double, layers *heads);
  difference->rows = g_new0 (gint64, layers * heads);
  g_ptr_array_add (differences, difference);
  return difference;
}

/* Adds the divergences of one sentence in one layer and head; @step is layer * heads + head. Sets *@same to FALSE and
 * adds nothing if the files have different tokens. */
static gboolean
add_step (PlaitAttentionDifference *difference, PlaitStore *first, PlaitStore *second, const char *path,
          PlaitHeatmapSelection choice, gint64 step, gboolean *same, GError **error)
{
  g_autoptr (PlaitHeatmap) a = plait_heatmap_read (first, path, choice, error);
  g_autoptr (PlaitHeatmap) b = a ? plait_heatmap_read (second, path, choice, error) : NULL;

  if (!b)
    return FALSE;
  *same = same_tokens (a, b);
  for (gint64 r = 0; *same && r < a->n_rows; r++)
    {
      double divergence
          = plait_jensen_shannon (a->values + r * a->n_columns, b->values + r * b->n_columns, a->n_columns);

      if (!isfinite (divergence))
        continue;
      difference->sums[step] += divergence;
      difference->rows[step]++;
    }
  return TRUE;
}

static gboolean
add_heatmap (GPtrArray *differences, PlaitStore *first, PlaitStore *second, const char *split, const char *memory,
             const char *path, GError **error)
{
  gint64 layers, heads, other_layers, other_heads;

  plait_heatmap_extents (first, path, &layers, &heads);
  plait_heatmap_extents (second, path, &other_layers, &other_heads);
  gint64 n_layers = MAX (layers, 1), n_heads = MAX (heads, 1);
  if (n_layers > MAX_STEPS || n_heads > MAX_STEPS)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s: %s has more than %d layers or heads, too many to compare; name another dump",
                       plait_store_path (first), path, MAX_STEPS);
  PlaitAttentionDifference *difference = entry (differences, split, memory, n_layers, n_heads);
  gboolean same = layers == other_layers && heads == other_heads && difference->layers == n_layers
                  && difference->heads == n_heads && !is_numbered (first, path) && !is_numbered (second, path);
  for (gint64 step = 0; same && step < n_layers * n_heads; step++)
    {
      PlaitHeatmapSelection choice = { layers > 0 ? step / n_heads : PLAIT_HEATMAP_DEFAULT,
                                       heads > 0 ? step % n_heads : PLAIT_HEATMAP_DEFAULT, 0 };

      if (!add_step (difference, first, second, path, choice, step, &same, error))
        return FALSE;
    }
  *(same ? &difference->sentences : &difference->skipped) += 1;
  return TRUE;
}

static gboolean
add_split (GPtrArray *differences, PlaitStore *first, PlaitStore *second, const char *split, GError **error)
{
  g_autofree char *group = plait_location_join ("/attention", split);
  g_auto (GStrv) sentences = plait_store_members (first, group, error);

  for (guint s = 0; sentences && sentences[s]; s++)
    {
      g_autofree char *sentence = plait_location_join (group, sentences[s]);

      if (!plait_store_has (second, sentence))
        continue;
      g_auto (GStrv) memories = plait_store_members (first, sentence, error);
      if (!memories)
        return FALSE;
      for (guint m = 0; memories[m]; m++)
        {
          g_autofree char *path = plait_location_join (sentence, memories[m]);

          if (plait_heatmap_exists (first, path) && plait_heatmap_exists (second, path)
              && !add_heatmap (differences, first, second, split, memories[m], path, error))
            return FALSE;
        }
    }
  return sentences != NULL;
}

GPtrArray *
plait_attention_differences (PlaitStore *first, PlaitStore *second, GError **error)
{
  g_autoptr (GPtrArray) differences = g_ptr_array_new_with_free_func (difference_free);
  PlaitStore *const stores[] = { first, second };

  for (guint i = 0; i < G_N_ELEMENTS (stores); i++)
    if (!plait_store_has (stores[i], "/attention"))
      return plait_fail_null (error, PLAIT_ERROR_INPUT,
                              "%s: holds no attention; expected a run with attention of test sentences, or a dump of "
                              "plait translate --attention",
                              plait_store_path (stores[i]));
  g_auto (GStrv) splits = plait_store_members (first, "/attention", error);
  if (!splits)
    return NULL;
  for (guint i = 0; splits[i]; i++)
    {
      g_autofree char *group = plait_location_join ("/attention", splits[i]);

      if (plait_store_has (second, group) && !add_split (differences, first, second, splits[i], error))
        return NULL;
    }
  return g_steal_pointer (&differences);
}

const char plait_attention_difference_legend[]
    = "Jensen-Shannon divergence in bits, a mean over target tokens: 0 is equal, 1 is nothing in common.";

double
plait_attention_difference_mean (const PlaitAttentionDifference *difference, gint64 layer, gint64 head)
{
  gint64 step = layer * difference->heads + head;

  return difference->rows[step] > 0 ? difference->sums[step] / (double)difference->rows[step] : NAN;
}

PlaitTable *
plait_attention_difference_shown (const PlaitAttentionDifference *difference)
{
  PlaitTable *table = plait_table_new ();

  plait_table_column (table, PLAIT_TABLE_COUNTS, "Layer");
  for (gint64 h = 0; h < difference->heads; h++)
    {
      g_autofree char *head = g_strdup_printf ("Head %jd", h);

      plait_table_column (table, PLAIT_TABLE_NUMBERS, head)->format = "%.4f";
    }
  plait_table_column (table, PLAIT_TABLE_NUMBERS, "Mean")->format = "%.4f";
  for (gint64 l = 0; l < difference->layers; l++)
    {
      double sum = 0;

      plait_table_integer (table, PLAIT_TABLE_NAME, l);
      for (gint64 h = 0; h < difference->heads; h++)
        {
          sum += plait_attention_difference_mean (difference, l, h);
          plait_table_real_or_none (table, plait_attention_difference_mean (difference, l, h));
        }
      plait_table_real_or_none (table, sum / (double)difference->heads);
    }
  return table;
}
