/* SPDX-License-Identifier: MIT */
#include "run/coverage.h"

#include "run/attention.h"
#include "store/ragged.h"

static const char *const axes[] = { "target", "row", "unit" };

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
write_memory (PlaitStore *store, const char *path, const PlaitSentenceAttention *a, guint place,
              const PlaitLabels *labels, GError **error)
{
  const PlaitSentenceCoverage *coverage = &a->coverage[place];
  guint i = place % a->n_attentions, layer = place / a->n_attentions, m = a->memory[i];
  g_autofree char *name = plait_attention_label (a, i, labels);
  gint64 shape[] = { a->length, a->rows[m], coverage->width };
  gboolean scalar = coverage->width == 1;
  g_autofree char *kind = a->n_layers > 1 ? g_strdup_printf ("%s/%u", name, layer) : g_strdup (name);
  g_autofree char *title = scalar ? g_strdup_printf ("coverage of %s: its state after each step", name)
                                  : g_strdup_printf ("coverage of %s: attention so far", name);
  g_autofree PlaitScalar *sums = accumulate (a, place);
  const char *const *axis_labels[] = { (const char *const *)labels->targets, (const char *const *)labels->rows[m] };
  PlaitStoreHeatmap shown = {
    .signal = scalar ? "state" : "accumulated",
    .rank = 2,
    .shape = shape,
    .values = scalar ? coverage->states : sums,
    .axes = axes,
    .labels = axis_labels,
    .title = title,
  };

  if (!plait_store_append_heatmap (store, path, kind, &shown, error)
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
        && !write_memory (store, path, a, i, labels, error))
      return FALSE;
  return TRUE;
}
