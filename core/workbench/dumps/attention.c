/* SPDX-License-Identifier: MIT */
#include "dumps/attention.h"

#include "tables/ragged.h"

#include <math.h>
#include <string.h>

/* Label and group of a sentinel. A source cannot have this name. */
#define SENTINEL "<sentinel>"

static gint64
length_of (const PlaitAttentionRecord *a)
{
  return plait_ragged_rows (a->queries);
}

/* Returns the number of rows of the memory that @of reads in this sentence. */
static gint64
rows_of (const PlaitAttentionRecord *a, const PlaitRecordedAttention *of)
{
  return plait_ragged_rows (a->memories[of->memory].rows);
}

/* Returns the largest number of heads of @items [layers]. */
static guint
max_heads (const PlaitAttentionRecord *a, const PlaitRecordedItems *items)
{
  guint max = 0;

  for (guint l = 0; l < a->n_layers; l++)
    max = MAX (max, items[l].heads);
  return max;
}

static gboolean
fail_on_sum (const char *what, guint layer, guint head, gint64 target, double sum, GError **error)
{
  return plait_fail (
      error, PLAIT_ERROR_FAILED,
      "%s of layer %u, head %u, target row %jd sums to %g instead of 1, so nothing was written; correct the combiner",
      what, layer, head, target, sum);
}

/* Weights of all attentions with one name, for one layer, head and target row. */
typedef struct
{
  double joint;      /* sum of all weights */
  gboolean any;      /* TRUE: there are rows to read */
  gboolean separate; /* TRUE: each of the attentions is a distribution by itself */
} AttentionTotal;

static AttentionTotal
attention_total (const PlaitAttentionRecord *a, const PlaitRecordedAttention *first, guint l, guint h, gint64 t)
{
  AttentionTotal total = { 0, FALSE, TRUE };

  for (const PlaitRecordedAttention *of = first; of; of = of->next)
    {
      const PlaitRecordedLayer *layer = &of->layers[l];
      gint64 rows = rows_of (a, of);
      double sum = 0;

      if (g_strcmp0 (of->name, first->name) != 0 || h >= layer->heads || layer->sets)
        continue;
      for (gint64 k = 0; k < rows; k++)
        sum += (double)layer->weights[(h * length_of (a) + t) * rows + k];
      total.joint += sum;
      total.any |= rows > 0;
      total.separate &= rows == 0 || fabs (sum - 1) < 1e-4;
    }
  return total;
}

/* Returns the first attention with the name @name, or NULL. */
static const PlaitRecordedAttention *
first_of_name (const PlaitAttentionRecord *a, const char *name)
{
  const PlaitRecordedAttention *of = a->attentions;

  while (of && g_strcmp0 (of->name, name) != 0)
    of = of->next;
  return of;
}

/* TRUE if the attentions with the name @name are the joint attention, to which the sentinel belongs. */
static gboolean
has_sentinel (const PlaitAttentionRecord *a, const char *name)
{
  return g_strcmp0 (name, first_of_name (a, PLAIT_RECORDED_JOINTLY) ? PLAIT_RECORDED_JOINTLY : NULL) == 0;
}

/* Checks the weights of each layer, head and target row. Among attentions with one name, the weights of each attention
 * must sum to 1, or the weights of all these attentions together must. If there is a sentinel, all these weights and
 * the sentinel's must sum to 1. Does not check the weights of selected rows, because the combiner defines them. */
static gboolean
check_rows (const PlaitAttentionRecord *a, GError **error)
{
  for (guint l = 0; l < a->n_layers; l++)
    {
      guint heads = 0;

      for (const PlaitRecordedAttention *of = a->attentions; of; of = of->next)
        heads = MAX (heads, of->layers[l].heads);
      for (gint64 t = 0; t < length_of (a); t++)
        for (const PlaitRecordedAttention *of = a->attentions; of; of = of->next)
          for (guint h = 0; first_of_name (a, of->name) == of && h < heads; h++)
            {
              AttentionTotal total = attention_total (a, of, l, h, t);

              if (a->contexts[l].heads == 0 && h < a->sentinels[l].heads && has_sentinel (a, of->name))
                {
                  total.joint += (double)a->sentinels[l].weights[h * length_of (a) + t];
                  total.any = TRUE;
                  total.separate = FALSE;
                }
              if (total.any && !total.separate && !(fabs (total.joint - 1) < 1e-4))
                return fail_on_sum ("attention", l, h, t, total.joint, error);
            }
    }
  return TRUE;
}

/* Checks that attention to contexts sums to 1 over the memories and the sentinel, or to 0 if there is neither a row nor
 * a sentinel. */
static gboolean
check_contexts (const PlaitAttentionRecord *a, GError **error)
{
  gboolean any = FALSE;

  for (guint m = 0; m < a->n_memories; m++)
    any |= plait_ragged_rows (a->memories[m].rows) > 0;
  for (guint l = 0; l < a->n_layers; l++)
    for (guint h = 0; h < a->contexts[l].heads; h++)
      for (gint64 t = 0; t < length_of (a); t++)
        {
          gint64 row = h * length_of (a) + t;
          gboolean sentinel = h < a->sentinels[l].heads;
          double sum = 0;

          for (guint m = 0; m < a->n_memories; m++)
            sum += (double)a->contexts[l].weights[row * a->n_memories + m];
          if (sentinel)
            sum += (double)a->sentinels[l].weights[row];
          if (!(fabs (sum - (any || sentinel)) < 1e-4))
            return fail_on_sum ("attention to contexts", l, h, t, sum, error);
        }
  return TRUE;
}

static gboolean
write_heatmap (PlaitStore *store, const char *path, const char *name, const char *signal, const char *title, guint rank,
               const gint64 *shape, const PlaitScalar *values, const char *const *axes, char ***labels, GError **error)
{
  PlaitStoreHeatmap heatmap = {
    .signal = signal,
    .rank = rank,
    .shape = shape,
    .values = values,
    .axes = axes,
    .labels = (const char *const *const *)labels,
    .title = title,
  };

  return plait_store_append_heatmap (store, path, name, &heatmap, error);
}

char *
plait_attention_label (const PlaitRecordedAttention *of, const PlaitLabels *labels)
{
  const char *memory = labels->memories[of->memory].name;

  return of->name ? g_strdup_printf ("%s:%s", memory, of->name) : g_strdup (memory);
}

/* Writes the number of each row's sentence if the rows of @memory are tokens of documents. Writes the attribute rows if
 * the rows are made of text but are not tokens. */
static gboolean
write_row_sentences (PlaitStore *store, const char *path, const char *name, const PlaitMemoryLabels *memory,
                     gint64 rows, GError **error)
{
  static const char *const axes[] = { "row" };

  if (memory->of_sentences)
    return plait_store_append_attribute (store, path, name, "rows", "sentences", error);
  if (memory->numbered)
    return plait_store_append_attribute (store, path, name, "rows", PLAIT_ATTENTION_NUMBERED, error);
  return !memory->sentence
         || plait_store_append (store, path, name, "row_sentence", PLAIT_STORE_INT64, 1, &rows, memory->sentence, axes,
                                error);
}

/* Writes the weights of @items [layers], each with @n rows, as one heatmap. */
static gboolean
write_items (PlaitStore *store, const char *path, const char *name, const char *title, const PlaitAttentionRecord *a,
             const PlaitRecordedItems *items, gint64 n, char **targets, char **rows, GError **error)
{
  static const char *const axes[] = { "layer", "head", "target", "row" };
  gint64 shape[] = { a->n_layers, max_heads (a, items), length_of (a), n };
  gint64 block = shape[1] * shape[2] * n;
  char **labels[] = { NULL, NULL, targets, rows };
  g_autofree PlaitScalar *values = g_new0 (PlaitScalar, a->n_layers * block + 1);

  for (guint l = 0; l < a->n_layers; l++)
    if (items[l].heads > 0)
      memcpy (values + l * block, items[l].weights, (gsize)(items[l].heads * shape[2] * n) * sizeof *values);
  return write_heatmap (store, path, name, "weights", title, 4, shape, values, axes, labels, error);
}

/* Returns @name, put in angle brackets if a memory has this name too. (transfer full) */
static char *
free_name (const char *name, const PlaitAttentionRecord *a, const PlaitLabels *labels)
{
  for (guint m = 0; m < a->n_memories; m++)
    if (g_str_equal (labels->memories[m].name, name))
      return g_strdup_printf ("<%s>", name);
  return g_strdup (name);
}

/* Writes the product of the attention @of and the attention to contexts. Averages each of the two over its own heads
 * first, because their heads do not correspond. */
static gboolean
write_effective (PlaitStore *store, const char *path, const char *name, const PlaitAttentionRecord *a,
                 const PlaitRecordedAttention *of, const PlaitLabels *labelled, GError **error)
{
  const PlaitMemoryLabels *memory = &labelled->memories[of->memory];
  gint64 rows = rows_of (a, of), length = length_of (a);
  g_autofree char *wanted = g_strconcat (name, ".effective", NULL);
  g_autofree char *effective = free_name (wanted, a, labelled);
  static const char *const axes[] = { "layer", "target", "row" };
  gint64 shape[] = { a->n_layers, length, rows };
  char **labels[] = { NULL, labelled->targets, memory->rows };
  g_autofree PlaitScalar *values = g_new0 (PlaitScalar, a->n_layers * length * rows + 1);
  g_autofree char *title = g_strdup_printf ("effective attention to %s: both attentions together", name);

  for (guint l = 0; l < a->n_layers; l++)
    for (gint64 t = 0; t < length; t++)
      {
        const PlaitRecordedLayer *total = &of->layers[l];
        const PlaitRecordedItems *contexts = &a->contexts[l];
        PlaitScalar *row = values + (l * length + t) * rows;
        PlaitScalar share = 0;

        for (guint h = 0; h < contexts->heads; h++)
          share += contexts->weights[(h * length + t) * a->n_memories + of->memory] / contexts->heads;
        for (guint h = 0; h < total->heads; h++)
          for (gint64 k = 0; k < rows; k++)
            row[k] += share * total->weights[(h * length + t) * rows + k] / total->heads;
      }
  return write_heatmap (store, path, effective, "weights", title, 3, shape, values, axes, labels, error)
         && write_row_sentences (store, path, effective, memory, rows, error);
}

/* Writes the weights of the attention @of. If there is attention to contexts, also writes the product of the two
 * attentions. */
static gboolean
write_attention (PlaitStore *store, const char *path, const PlaitAttentionRecord *a, const PlaitRecordedAttention *of,
                 const PlaitLabels *labels, GError **error)
{
  g_autofree char *name = plait_attention_label (of, labels);
  g_autofree char *title = g_strdup_printf ("attention to %s", name);
  g_autofree PlaitRecordedItems *items = g_new (PlaitRecordedItems, a->n_layers);
  const PlaitMemoryLabels *memory = &labels->memories[of->memory];
  gint64 rows = rows_of (a, of);

  for (guint l = 0; l < a->n_layers; l++)
    items[l] = (PlaitRecordedItems){ of->layers[l].heads, of->layers[l].weights };
  if (rows == 0 || max_heads (a, items) == 0)
    return TRUE; /* the memory is missing or not read */
  return write_items (store, path, name, title, a, items, rows, labels->targets, memory->rows, error)
         && write_row_sentences (store, path, name, memory, rows, error)
         && (max_heads (a, a->contexts) == 0 || write_effective (store, path, name, a, of, labels, error));
}

/* Writes the attention to contexts: a column for each memory, and one for the sentinel if there is one. */
static gboolean
write_contexts (PlaitStore *store, const char *path, const PlaitAttentionRecord *a, const PlaitLabels *labelled,
                GError **error)
{
  static const char *const axes[] = { "layer", "head", "target", "memory" };
  gint64 heads = max_heads (a, a->contexts);
  guint n = a->n_memories, columns = n + (max_heads (a, a->sentinels) > 0);
  gint64 shape[] = { a->n_layers, heads, length_of (a), columns };
  gint64 block = heads * length_of (a);
  g_autofree char *name = free_name ("contexts", a, labelled);
  g_autofree char **names = g_new0 (char *, columns + 1);
  char **labels[] = { NULL, NULL, labelled->targets, names };
  g_autofree PlaitScalar *values = g_new0 (PlaitScalar, a->n_layers * block * columns + 1);

  for (guint m = 0; m < columns; m++)
    names[m] = (char *)(m < n ? labelled->memories[m].name : SENTINEL);
  for (guint l = 0; l < a->n_layers; l++)
    for (gint64 row = 0; row < a->contexts[l].heads * length_of (a); row++)
      {
        PlaitScalar *to = values + (l * block + row) * columns;

        memcpy (to, a->contexts[l].weights + row * n, n * sizeof *to);
        if (row < a->sentinels[l].heads * length_of (a))
          to[n] = a->sentinels[l].weights[row];
      }
  return write_heatmap (store, path, name, "weights", "attention over the sources' contexts", 4, shape, values, axes,
                        labels, error);
}

gboolean
plait_attention_write (PlaitStore *store, const char *path, const PlaitAttentionRecord *a, const PlaitLabels *labels,
                       GError **error)
{
  char *sentinel[] = { (char *)SENTINEL, NULL };

  if (!check_rows (a, error) || !check_contexts (a, error))
    return FALSE;
  if (length_of (a) == 0)
    return TRUE;
  for (const PlaitRecordedAttention *of = a->attentions; of; of = of->next)
    if (!write_attention (store, path, a, of, labels, error))
      return FALSE;
  if (max_heads (a, a->contexts) > 0)
    return write_contexts (store, path, a, labels, error);
  /* The sentinel of joint attention is written like a memory of one row. */
  return max_heads (a, a->sentinels) == 0
         || write_items (store, path, SENTINEL, "attention to the sentinel", a, a->sentinels, 1, labels->targets,
                         sentinel, error);
}

/*
 * Functions that write coverage
 */

/* Returns the attention accumulated up to each step, the mean over all heads: [target, row]. (transfer full) */
static PlaitScalar *
accumulate (const PlaitRecordedLayer *total, gint64 length, gint64 rows)
{
  PlaitScalar *sums = g_new0 (PlaitScalar, length * rows + 1);

  for (gint64 t = 0; t < length; t++)
    for (gint64 i = 0; i < rows; i++)
      {
        double sum = 0;

        for (guint h = 0; h < total->heads; h++)
          sum += (double)total->weights[(h * length + t) * rows + i];
        sums[t * rows + i] = (PlaitScalar)(sum / total->heads + (t > 0 ? (double)sums[(t - 1) * rows + i] : 0));
      }
  return sums;
}

static gboolean
write_coverage (PlaitStore *store, const char *path, const PlaitAttentionRecord *a, const PlaitRecordedAttention *of,
                guint layer, const PlaitLabels *labels, GError **error)
{
  static const char *const axes[] = { "target", "row", "unit" };
  const PlaitRecordedCoverage *coverage = &of->layers[layer].coverage;
  g_autofree char *name = plait_attention_label (of, labels);
  gint64 shape[] = { length_of (a), rows_of (a, of), coverage->width };
  gboolean scalar = coverage->width == 1;
  g_autofree char *kind = a->n_layers > 1 ? g_strdup_printf ("%s/%u", name, layer) : g_strdup (name);
  g_autofree char *title = scalar ? g_strdup_printf ("coverage of %s: its state after each step", name)
                                  : g_strdup_printf ("coverage of %s: attention so far", name);
  g_autofree PlaitScalar *sums = accumulate (&of->layers[layer], shape[0], shape[1]);
  char **axis_labels[] = { labels->targets, labels->memories[of->memory].rows };

  if (!write_heatmap (store, path, kind, scalar ? "state" : "accumulated", title, 2, shape,
                      scalar ? coverage->states : sums, axes, axis_labels, error)
      || !(scalar
               ? plait_store_append (store, path, kind, "accumulated", PLAIT_STORE_SCALAR, 2, shape, sums, axes, error)
               : plait_store_append (store, path, kind, "state", PLAIT_STORE_SCALAR, 3, shape, coverage->states, axes,
                                     error)))
    return FALSE;
  return !coverage->prepared
         || plait_store_append (store, path, kind, coverage->name, PLAIT_STORE_SCALAR, 1, shape + 1, coverage->prepared,
                                axes + 1, error);
}

gboolean
plait_coverage_write (PlaitStore *store, const char *path, const PlaitAttentionRecord *a, const PlaitLabels *labels,
                      GError **error)
{
  for (guint l = 0; l < a->n_layers; l++)
    for (const PlaitRecordedAttention *of = a->attentions; of; of = of->next)
      if (of->layers[l].coverage.width > 0 && length_of (a) > 0 && rows_of (a, of) > 0
          && !write_coverage (store, path, a, of, l, labels, error))
        return FALSE;
  return TRUE;
}

/*
 * Functions that write copied words
 */

static gboolean
write_copied (PlaitStore *store, const char *path, const PlaitAttentionRecord *a, guint memory,
              const PlaitLabels *labels, GError **error)
{
  static const char *const axes[] = { "target", "row" };
  const char *name = labels->memories[memory].name;
  gint64 shape[] = { length_of (a), plait_ragged_rows (a->memories[memory].rows) };
  g_autofree char *title = g_strdup_printf ("copied from %s", name);
  g_autofree PlaitScalar *values = g_new (PlaitScalar, shape[0] * shape[1]);
  char **axis_labels[] = { labels->targets, labels->memories[memory].rows };

  for (gint64 t = 0; t < shape[0]; t++)
    for (gint64 i = 0; i < shape[1]; i++)
      values[t * shape[1] + i] = (1 - a->gate[t]) * a->copied[memory][t * shape[1] + i];
  return write_heatmap (store, path, name, "copied", title, 2, shape, values, axes, axis_labels, error)
         && plait_store_append (store, path, name, "gate", PLAIT_STORE_SCALAR, 1, shape, a->gate, axes, error);
}

gboolean
plait_copy_write (PlaitStore *store, const char *path, const PlaitAttentionRecord *a, const PlaitLabels *labels,
                  GError **error)
{
  for (guint m = 0; a->gate && m < a->n_memories; m++)
    if (a->copied[m] && length_of (a) > 0 && plait_ragged_rows (a->memories[m].rows) > 0
        && !write_copied (store, path, a, m, labels, error))
      return FALSE;
  return TRUE;
}
