/* SPDX-License-Identifier: MIT */
#include "run/attention.h"

#include "store/ragged.h"

#include <math.h>
#include <string.h>

/* What a sentinel is called, as a label and as a group: no source can have this name. */
#define SENTINEL "<sentinel>"

/* The greatest of the @n numbers of heads at @heads[i * stride]. */
static guint
most_heads (const guint *heads, guint n, guint stride)
{
  guint most = 0;

  for (guint i = 0; i < n; i++)
    most = MAX (most, heads[i * stride]);
  return most;
}

static gboolean
fail_on_sum (const char *what, guint layer, guint head, gint64 target, double sum, GError **error)
{
  return plait_fail (error, PLAIT_ERROR_FAILED,
                     "%s of layer %u, head %u, target row %jd sums to %g instead of 1: nothing was written", what,
                     layer, head, target, sum);
}

/* What the attentions called as attention @first is pay in one layer, head and target row. */
typedef struct
{
  double joint;
  gboolean any;
  gboolean separate; /* each is a distribution of its own */
} Paid;

static Paid
paid_by (const PlaitSentenceAttention *a, guint first, guint l, guint h, gint64 t)
{
  Paid paid = { 0, FALSE, TRUE };

  for (guint i = first; i < a->n_attentions; i++)
    {
      guint place = l * a->n_attentions + i;
      gint64 rows = a->rows[a->memory[i]];
      const PlaitScalar *row = a->weights[place] + (h * a->length + t) * rows;
      double sum = 0;

      if (g_strcmp0 (a->names[i], a->names[first]) != 0 || h >= a->heads[place] || a->choices[place])
        continue;
      for (gint64 k = 0; k < rows; k++)
        sum += (double)row[k];
      paid.joint += sum;
      paid.any |= rows > 0;
      paid.separate &= rows == 0 || fabs (sum - 1) < 1e-4;
    }
  return paid;
}

static gboolean
is_first_of_name (const PlaitSentenceAttention *a, guint i)
{
  for (guint k = 0; k < i; k++)
    if (g_strcmp0 (a->names[k], a->names[i]) == 0)
      return FALSE;
  return TRUE;
}

/* Whether the sentinel of the first level is an item of the attentions called as attention @i is. */
static gboolean
has_sentinel (const PlaitSentenceAttention *a, guint i)
{
  for (guint k = 0; k < a->n_attentions; k++)
    if (g_strcmp0 (a->names[k], PLAIT_CAPTURED_JOINTLY) == 0)
      return g_strcmp0 (a->names[i], PLAIT_CAPTURED_JOINTLY) == 0;
  return !a->names[i];
}

/* Each row of weights is a distribution, jointly over what one softmax covers. With which weights chosen rows are read
 * is the combiner's own affair. */
static gboolean
check_rows (const PlaitSentenceAttention *a, GError **error)
{
  for (guint l = 0; l < a->n_layers; l++)
    for (gint64 t = 0; t < a->length; t++)
      for (guint i = 0; i < a->n_attentions; i++)
        for (guint h = 0;
             is_first_of_name (a, i) && h < most_heads (a->heads + l * a->n_attentions, a->n_attentions, 1); h++)
          {
            Paid paid = paid_by (a, i, l, h, t);

            if (a->context_heads[l] == 0 && h < a->sentinel_heads[l] && has_sentinel (a, i))
              {
                paid.joint += (double)a->sentinels[l][h * a->length + t];
                paid.any = TRUE;
                paid.separate = FALSE;
              }
            if (paid.any && !paid.separate && !(fabs (paid.joint - 1) < 1e-4))
              return fail_on_sum ("attention", l, h, t, paid.joint, error);
          }
  return TRUE;
}

/* The attention to contexts is a distribution over the memories that are there, and the sentinel. */
static gboolean
check_contexts (const PlaitSentenceAttention *a, GError **error)
{
  gboolean any = FALSE;

  for (guint m = 0; m < a->n_memories; m++)
    any |= a->rows[m] > 0;
  for (guint l = 0; l < a->n_layers; l++)
    for (guint h = 0; h < a->context_heads[l]; h++)
      for (gint64 t = 0; t < a->length; t++)
        {
          const PlaitScalar *row = a->contexts[l] + (h * a->length + t) * a->n_memories;
          double sum = 0;

          for (guint m = 0; m < a->n_memories; m++)
            sum += (double)row[m];
          if (h < a->sentinel_heads[l])
            sum += (double)a->sentinels[l][h * a->length + t];
          if (!(fabs (sum - (any || h < a->sentinel_heads[l])) < 1e-4))
            return fail_on_sum ("attention to contexts", l, h, t, sum, error);
        }
  return TRUE;
}

static gboolean
write_map (PlaitStore *store, const char *path, const char *name, const char *signal, const char *title, guint rank,
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
plait_attention_label (const PlaitSentenceAttention *a, guint i, const PlaitLabels *labels)
{
  const char *memory = labels->names[a->memory[i]];

  return a->names[i] ? g_strdup_printf ("%s:%s", memory, a->names[i]) : g_strdup (memory);
}

/* Of memory @m, if it is of documents: whose rows they are. */
static gboolean
write_places (PlaitStore *store, const char *path, const char *name, const PlaitLabels *labels, guint m, gint64 rows,
              GError **error)
{
  static const char *const axes[] = { "row" };

  if (labels->of_sentences[m])
    return plait_store_append_attribute (store, path, name, "rows", "sentences", error);
  return !labels->sentence[m]
         || plait_store_append (store, path, name, "row_sentence", PLAIT_STORE_INT64, 1, &rows, labels->sentence[m],
                                axes, error);
}

static gboolean
write_attention (PlaitStore *store, const char *path, const PlaitSentenceAttention *a, guint i,
                 const PlaitLabels *labelled, GError **error)
{
  g_autofree char *name = plait_attention_label (a, i, labelled);
  static const char *const axes[] = { "layer", "head", "target", "row" };
  guint heads = most_heads (a->heads + i, a->n_layers, a->n_attentions), m = a->memory[i];
  gint64 shape[] = { a->n_layers, heads, a->length, a->rows[m] };
  gint64 block = (gint64)heads * a->length * a->rows[m];
  char **labels[] = { NULL, NULL, labelled->targets, labelled->rows[m] };
  g_autofree PlaitScalar *values = g_new0 (PlaitScalar, a->n_layers * block + 1);
  g_autofree char *title = g_strdup_printf ("attention to %s", name);

  if (block == 0)
    return TRUE; /* missing, or not attended to */
  for (guint l = 0; l < a->n_layers; l++)
    memcpy (values + l * block, a->weights[l * a->n_attentions + i],
            (gsize)a->heads[l * a->n_attentions + i] * a->length * a->rows[m] * sizeof *values);
  return write_map (store, path, name, "weights", title, 4, shape, values, axes, labels, error)
         && write_places (store, path, name, labelled, m, a->rows[m], error);
}

/* The attention to contexts: a column a memory, and one for the sentinel where there is one. */
static gboolean
write_contexts (PlaitStore *store, const char *path, const PlaitSentenceAttention *a, const PlaitLabels *labelled,
                GError **error)
{
  static const char *const axes[] = { "layer", "head", "target", "memory" };
  guint heads = most_heads (a->context_heads, a->n_layers, 1), n = a->n_memories;
  guint columns = n + (most_heads (a->sentinel_heads, a->n_layers, 1) > 0);
  gint64 shape[] = { a->n_layers, heads, a->length, columns };
  gint64 block = (gint64)heads * a->length;
  g_autofree char **names = g_new0 (char *, columns + 1);
  char **labels[] = { NULL, NULL, labelled->targets, names };
  g_autofree PlaitScalar *values = g_new0 (PlaitScalar, a->n_layers * block * columns + 1);

  for (guint m = 0; m < columns; m++)
    names[m] = (char *)(m < n ? labelled->names[m] : SENTINEL);
  for (guint l = 0; l < a->n_layers; l++)
    for (gint64 row = 0; row < a->context_heads[l] * a->length; row++)
      {
        PlaitScalar *to = values + (l * block + row) * columns;

        memcpy (to, a->contexts[l] + row * n, n * sizeof *to);
        if (row < a->sentinel_heads[l] * a->length)
          to[n] = a->sentinels[l][row];
      }
  return write_map (store, path, "contexts", "weights", "attention over the sources' contexts", 4, shape, values, axes,
                    labels, error);
}

/* The sentinel of joint attention: as a memory of one row. */
static gboolean
write_sentinel (PlaitStore *store, const char *path, const PlaitSentenceAttention *a, const PlaitLabels *labelled,
                GError **error)
{
  static const char *const axes[] = { "layer", "head", "target", "row" };
  guint heads = most_heads (a->sentinel_heads, a->n_layers, 1);
  gint64 shape[] = { a->n_layers, heads, a->length, 1 };
  gint64 block = (gint64)heads * a->length;
  char *names[] = { (char *)SENTINEL, NULL };
  char **labels[] = { NULL, NULL, labelled->targets, names };
  g_autofree PlaitScalar *values = g_new0 (PlaitScalar, a->n_layers * block + 1);

  for (guint l = 0; l < a->n_layers; l++)
    memcpy (values + l * block, a->sentinels[l], (gsize)a->sentinel_heads[l] * a->length * sizeof *values);
  return write_map (store, path, SENTINEL, "weights", "attention to the sentinel", 4, shape, values, axes, labels,
                    error);
}

/* The heads of the two attentions do not pair up, so the product of their means is what can be said. */
static gboolean
write_effective (PlaitStore *store, const char *path, const PlaitSentenceAttention *a, guint i,
                 const PlaitLabels *labelled, GError **error)
{
  guint m = a->memory[i];
  g_autofree char *name = plait_attention_label (a, i, labelled);
  g_autofree char *effective = g_strconcat (name, ".effective", NULL);
  static const char *const axes[] = { "layer", "target", "row" };
  gint64 shape[] = { a->n_layers, a->length, a->rows[m] };
  char **labels[] = { NULL, labelled->targets, labelled->rows[m] };
  g_autofree PlaitScalar *values = g_new0 (PlaitScalar, a->n_layers * a->length * a->rows[m] + 1);
  g_autofree char *title = g_strdup_printf ("effective attention to %s: both attentions together", name);

  if (a->rows[m] == 0 || most_heads (a->heads + i, a->n_layers, a->n_attentions) == 0)
    return TRUE;
  for (guint l = 0; l < a->n_layers; l++)
    for (gint64 t = 0; t < a->length; t++)
      {
        guint place = l * a->n_attentions + i;
        PlaitScalar *row = values + (l * a->length + t) * a->rows[m];
        PlaitScalar share = 0;

        for (guint h = 0; h < a->context_heads[l]; h++)
          share += a->contexts[l][(h * a->length + t) * a->n_memories + m] / a->context_heads[l];
        for (guint h = 0; h < a->heads[place]; h++)
          for (gint64 k = 0; k < a->rows[m]; k++)
            row[k] += share * a->weights[place][(h * a->length + t) * a->rows[m] + k] / a->heads[place];
      }
  return write_map (store, path, effective, "weights", title, 3, shape, values, axes, labels, error)
         && write_places (store, path, effective, labelled, m, a->rows[m], error);
}

gboolean
plait_attention_write (PlaitStore *store, const char *path, const PlaitSentenceAttention *a, const PlaitLabels *labels,
                       GError **error)
{
  gboolean second = most_heads (a->context_heads, a->n_layers, 1) > 0;

  if (!check_rows (a, error) || !check_contexts (a, error))
    return FALSE;
  for (guint i = 0; i < a->n_attentions && a->length > 0; i++)
    if (!write_attention (store, path, a, i, labels, error)
        || (second && !write_effective (store, path, a, i, labels, error)))
      return FALSE;
  if (a->length == 0)
    return TRUE;
  if (second)
    return write_contexts (store, path, a, labels, error);
  return most_heads (a->sentinel_heads, a->n_layers, 1) == 0 || write_sentinel (store, path, a, labels, error);
}

/*
 * Coverage
 */

/* The sums of what memory and layer @place have been paid, [target, row], the mean of the heads. (transfer full) */
static PlaitScalar *
accumulate (const PlaitSentenceAttention *a, guint place)
{
  gint64 rows = a->rows[a->memory[place % a->n_attentions]];
  PlaitScalar *sums = g_new0 (PlaitScalar, a->length * rows + 1);

  for (gint64 t = 0; t < a->length; t++)
    for (gint64 i = 0; i < rows; i++)
      {
        double paid = 0;

        for (guint h = 0; h < a->heads[place]; h++)
          paid += (double)a->weights[place][(h * a->length + t) * rows + i];
        sums[t * rows + i] = (PlaitScalar)(paid / a->heads[place] + (t > 0 ? (double)sums[(t - 1) * rows + i] : 0));
      }
  return sums;
}

static gboolean
write_coverage (PlaitStore *store, const char *path, const PlaitSentenceAttention *a, guint place,
                const PlaitLabels *labels, GError **error)
{
  static const char *const axes[] = { "target", "row", "unit" };
  const PlaitSentenceCoverage *coverage = &a->coverage[place];
  guint i = place % a->n_attentions, layer = place / a->n_attentions, m = a->memory[i];
  g_autofree char *name = plait_attention_label (a, i, labels);
  gint64 shape[] = { a->length, a->rows[m], coverage->width };
  gboolean scalar = coverage->width == 1;
  g_autofree char *kind = a->n_layers > 1 ? g_strdup_printf ("%s/%u", name, layer) : g_strdup (name);
  g_autofree char *title = scalar ? g_strdup_printf ("coverage of %s: its state after each step", name)
                                  : g_strdup_printf ("coverage of %s: attention so far", name);
  g_autofree PlaitScalar *sums = accumulate (a, place);
  char **axis_labels[] = { labels->targets, labels->rows[m] };

  if (!write_map (store, path, kind, scalar ? "state" : "accumulated", title, 2, shape,
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
plait_coverage_write (PlaitStore *store, const char *path, const PlaitSentenceAttention *a, const PlaitLabels *labels,
                      GError **error)
{
  for (guint i = 0; i < a->n_layers * a->n_attentions; i++)
    if (a->coverage[i].width > 0 && a->length > 0 && a->rows[a->memory[i % a->n_attentions]] > 0
        && !write_coverage (store, path, a, i, labels, error))
      return FALSE;
  return TRUE;
}
