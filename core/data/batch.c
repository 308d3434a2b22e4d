/* SPDX-License-Identifier: MIT */
#include "data/batch.h"

#include <string.h>

#include "base/error.h"

#define ALIGNMENT 64

/* A walk over the parts of a batch: once to add up their sizes (base NULL), once to place them. */
typedef struct
{
  guint8 *base;
  gsize used;
  gboolean overflow;
} Layout;

static gpointer
place (Layout *layout, gint64 items, gsize item_size)
{
  gsize size;
  if (__builtin_mul_overflow ((gsize)items, item_size, &size) || __builtin_add_overflow (size, ALIGNMENT - 1, &size)
      || size > G_MAXSSIZE - layout->used)
    {
      layout->overflow = TRUE;
      return NULL;
    }
  gpointer part = layout->base != NULL ? layout->base + layout->used : NULL;
  layout->used += size & ~(gsize)(ALIGNMENT - 1);
  return part;
}

static const PlaitTrees *
lay_out_trees (Layout *layout, gint64 n, gint64 nodes)
{
  PlaitTrees *trees = place (layout, 1, sizeof (PlaitTrees));
  PlaitTrees parts = { .nodes = { n, place (layout, n + 1, sizeof (gint64)) } };
  parts.left = place (layout, nodes, sizeof (gint64));
  parts.right = place (layout, nodes, sizeof (gint64));
  parts.labels = place (layout, nodes, sizeof (char *));
  if (trees != NULL)
    *trees = parts;
  return trees;
}

static void
lay_out (Layout *layout, PlaitBatch *batch, const PlaitBatchSource *sources)
{
  gint64 n = batch->n_sentences;
  PlaitInput *inputs = place (layout, batch->n_sources, sizeof (PlaitInput));
  batch->inputs = inputs;
  batch->sentence = place (layout, n, sizeof (gint64));
  for (gint64 s = 0; s < batch->n_sources; s++)
    {
      PlaitInput input = { .kind = sources[s].kind, .name = sources[s].name };
      input.rows = (PlaitRagged){ n, place (layout, n + 1, sizeof (gint64)) };
      if (input.kind == PLAIT_INPUT_TOKENS)
        input.tokens = place (layout, sources[s].rows, sizeof (gint32));
      else
        {
          gint64 scalars = 0;
          if (__builtin_mul_overflow (sources[s].rows, sources[s].width, &scalars))
            layout->overflow = TRUE;
          input.features
              = plait_tensor (place (layout, scalars, sizeof (PlaitScalar)), sources[s].rows, sources[s].width);
        }
      if (sources[s].has_trees)
        input.trees = lay_out_trees (layout, n, sources[s].nodes);
      if (inputs != NULL)
        inputs[s] = input;
    }
  if (batch->target_rows.n == 0)
    return;
  gint64 target_rows = batch->target_rows.n;
  batch->target_rows = (PlaitRagged){ n, place (layout, n + 1, sizeof (gint64)) };
  batch->target_inputs = place (layout, target_rows, sizeof (gint32));
  batch->target_outputs = place (layout, target_rows, sizeof (gint32));
}

PlaitBatch *
plait_batch_new (gint64 n_sentences, const PlaitBatchSource *sources, gint64 n_sources, gint64 target_rows,
                 GError **error)
{
  /* A target has at least the row of EOS a sentence, so 0 rows can stand for none while the parts are laid out. */
  PlaitBatch plan = { .n_sentences = n_sentences, .n_sources = n_sources, .target_rows.n = MAX (target_rows, 0) };
  Layout layout = { 0 };
  PlaitBatch measured = plan;
  place (&layout, 1, sizeof (PlaitBatch));
  lay_out (&layout, &measured, sources);
  guint8 *memory = layout.overflow ? NULL : g_try_malloc (layout.used + ALIGNMENT);
  if (memory == NULL)
    {
      plait_fail (error, PLAIT_ERROR_MEMORY,
                  "A batch of %" G_GINT64_FORMAT " sentences needs %" G_GSIZE_FORMAT
                  " MiB, which are not there; lower the batch size",
                  n_sentences, layout.used >> 20);
      return NULL;
    }

  /* The batch itself stands at the start of the allocation, which plait_batch_free frees; the parts are aligned. */
  PlaitBatch *batch = (PlaitBatch *)memory;
  *batch = plan;
  gsize skew = (ALIGNMENT - (gsize)memory % ALIGNMENT) % ALIGNMENT;
  layout = (Layout){ .base = memory + skew };
  place (&layout, 1, sizeof (PlaitBatch));
  lay_out (&layout, batch, sources);
  return batch;
}

void
plait_batch_fill_target (PlaitBatch *batch, gint64 row, const gint32 *ids, gint64 n)
{
  gint32 *inputs = plait_batch_fill (gint32, batch->target_inputs) + row;
  gint32 *outputs = plait_batch_fill (gint32, batch->target_outputs) + row;
  inputs[0] = PLAIT_TOKEN_BOS;
  if (n > 0)
    {
      memcpy (inputs + 1, ids, (gsize)n * sizeof (gint32));
      memmove (outputs, ids, (gsize)n * sizeof (gint32));
    }
  outputs[n] = PLAIT_TOKEN_EOS;
}

/*
 * Parts
 */

static gint64
rows_in (PlaitRagged rows, gint64 first, gint64 n)
{
  return rows.offsets[first + n] - rows.offsets[first];
}

static void
copy_offsets (PlaitRagged to, PlaitRagged from, gint64 first)
{
  gint64 *offsets = plait_batch_fill (gint64, to.offsets);

  for (gint64 i = 0; i <= to.n; i++)
    offsets[i] = from.offsets[first + i] - from.offsets[first];
}

static void
copy_trees (const PlaitTrees *to, const PlaitTrees *from, gint64 first)
{
  gsize nodes = (gsize)rows_in (from->nodes, first, to->nodes.n);
  gint64 at = from->nodes.offsets[first];

  copy_offsets (to->nodes, from->nodes, first);
  memcpy (plait_batch_fill (gint64, to->left), from->left + at, nodes * sizeof *to->left);
  memcpy (plait_batch_fill (gint64, to->right), from->right + at, nodes * sizeof *to->right);
  memcpy (plait_batch_fill (const char *, to->labels), from->labels + at, nodes * sizeof *to->labels);
}

static void
copy_input (PlaitInput *to, const PlaitInput *from, gint64 first)
{
  gint64 n = to->rows.n, rows = rows_in (from->rows, first, n), at = from->rows.offsets[first];

  copy_offsets (to->rows, from->rows, first);
  for (gint64 i = 0; i < n; i++)
    to->n_missing += plait_input_is_missing (to, i);
  if (to->kind == PLAIT_INPUT_TOKENS)
    memcpy (plait_batch_fill (gint32, to->tokens), from->tokens + at, (gsize)rows * sizeof *to->tokens);
  for (gint64 i = 0; to->kind == PLAIT_INPUT_FEATURES && i < rows; i++)
    memcpy (plait_tensor_row (to->features, i), plait_tensor_row (from->features, at + i),
            (gsize)to->features.width * sizeof (PlaitScalar));
  if (to->trees != NULL)
    copy_trees (to->trees, from->trees, first);
}

PlaitBatch *
plait_batch_part (const PlaitBatch *batch, gint64 first, gint64 n, GError **error)
{
  g_autofree PlaitBatchSource *sources = g_new (PlaitBatchSource, batch->n_sources);
  gboolean has_target = batch->target_rows.offsets != NULL;
  gint64 target = has_target ? rows_in (batch->target_rows, first, n) : -1, at;
  PlaitBatch *part;

  for (gint64 i = 0; i < batch->n_sources; i++)
    {
      const PlaitInput *input = &batch->inputs[i];

      sources[i] = (PlaitBatchSource){ .name = input->name,
                                       .kind = input->kind,
                                       .rows = rows_in (input->rows, first, n),
                                       .width = input->features.width,
                                       .has_trees = input->trees != NULL };
      if (input->trees != NULL)
        sources[i].nodes = rows_in (input->trees->nodes, first, n);
    }
  part = plait_batch_new (n, sources, batch->n_sources, target, error);
  if (part == NULL)
    return NULL;
  memcpy (plait_batch_fill (gint64, part->sentence), batch->sentence + first, (gsize)n * sizeof *part->sentence);
  for (gint64 i = 0; i < batch->n_sources; i++)
    copy_input (plait_batch_fill (PlaitInput, part->inputs) + i, &batch->inputs[i], first);
  if (!has_target)
    return part;
  copy_offsets (part->target_rows, batch->target_rows, first);
  at = batch->target_rows.offsets[first];
  memcpy (plait_batch_fill (gint32, part->target_inputs), batch->target_inputs + at, (gsize)target * sizeof (gint32));
  memcpy (plait_batch_fill (gint32, part->target_outputs), batch->target_outputs + at, (gsize)target * sizeof (gint32));
  return part;
}

void
plait_batch_free (PlaitBatch *batch)
{
  g_free (batch);
}
