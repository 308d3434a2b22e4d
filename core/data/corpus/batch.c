/* SPDX-License-Identifier: MIT */
#include "corpus/batch.h"

#include <string.h>

#include "text/error.h"

#define ALIGNMENT 64

/* A block of memory at @base, from which reserve() takes the parts of a batch. If @base is NULL, reserve() only adds up
 * their sizes. */
typedef struct
{
  guint8 *base;
  gsize used;
  gboolean overflow;
} Layout;

static gpointer
reserve (Layout *layout, gint64 items, gsize item_size)
{
  gsize size;
  if (__builtin_mul_overflow ((gsize)items, item_size, &size) || __builtin_add_overflow (size, ALIGNMENT - 1, &size)
      || size > G_MAXSSIZE - layout->used)
    {
      layout->overflow = TRUE;
      return NULL;
    }
  gpointer part = layout->base ? layout->base + layout->used : NULL;
  layout->used += size & ~(gsize)(ALIGNMENT - 1);
  return part;
}

static const PlaitTrees *
lay_out_trees (Layout *layout, gint64 n, gint64 nodes)
{
  PlaitTrees *trees = reserve (layout, 1, sizeof (PlaitTrees));
  PlaitTrees parts = { .nodes = { n, reserve (layout, n + 1, sizeof (gint64)) } };
  parts.left = reserve (layout, nodes, sizeof (gint64));
  parts.right = reserve (layout, nodes, sizeof (gint64));
  parts.labels = reserve (layout, nodes, sizeof (char *));
  if (trees)
    *trees = parts;
  return trees;
}

static const PlaitDocuments *
lay_out_documents (Layout *layout, gint64 n, const PlaitBatchSource *source)
{
  PlaitDocuments *documents = reserve (layout, 1, sizeof (PlaitDocuments));
  PlaitDocuments parts
      = { .sentences = { n, reserve (layout, n + 1, sizeof (gint64)) }, .start_tokens = source->start_tokens };
  parts.rows = reserve (layout, source->sentences + 1, sizeof (gint64));
  if (source->has_roles)
    parts.roles = reserve (layout, source->sentences, sizeof (gint32));
  if (documents)
    *documents = parts;
  return documents;
}

static const PlaitAlignment *
lay_out_alignment (Layout *layout, gint64 n, gint64 links)
{
  PlaitAlignment *alignment = reserve (layout, 1, sizeof (PlaitAlignment));
  PlaitAlignment parts = { .links = { n, reserve (layout, n + 1, sizeof (gint64)) } };
  parts.source = reserve (layout, links, sizeof (gint64));
  parts.target = reserve (layout, links, sizeof (gint64));
  if (alignment)
    *alignment = parts;
  return alignment;
}

static const gint32 *const *
lay_out_factors (Layout *layout, const PlaitBatchSource *source)
{
  const gint32 **factors = reserve (layout, source->n_factors, sizeof (gint32 *));

  for (guint f = 0; f < source->n_factors; f++)
    {
      const gint32 *ids = reserve (layout, source->rows, sizeof (gint32));

      if (factors)
        factors[f] = ids;
    }
  return factors;
}

static void
lay_out (Layout *layout, PlaitBatch *batch, const PlaitBatchSource *sources)
{
  gint64 n = batch->n_sentences;
  PlaitInput *inputs = reserve (layout, batch->n_sources, sizeof (PlaitInput));
  batch->inputs = inputs;
  batch->sentence = reserve (layout, n, sizeof (gint64));
  batch->weights = reserve (layout, n, sizeof (double));
  for (gint64 s = 0; s < batch->n_sources; s++)
    {
      PlaitInput input = { .kind = sources[s].kind, .name = sources[s].name };
      input.rows = (PlaitRagged){ n, reserve (layout, n + 1, sizeof (gint64)) };
      if (plait_input_kind_is_text (input.kind))
        input.tokens = reserve (layout, sources[s].rows, sizeof (gint32));
      else
        {
          gint64 scalars = 0;
          if (__builtin_mul_overflow (sources[s].rows, sources[s].width, &scalars))
            layout->overflow = TRUE;
          input.features
              = plait_tensor (reserve (layout, scalars, sizeof (PlaitScalar)), sources[s].rows, sources[s].width);
        }
      if (sources[s].has_unknown)
        input.unknown_words = reserve (layout, sources[s].rows, sizeof (char *));
      if (sources[s].has_own_ids)
        input.own_ids = reserve (layout, sources[s].rows, sizeof (gint32));
      if (sources[s].has_trees)
        input.trees = lay_out_trees (layout, n, sources[s].nodes);
      if (sources[s].has_documents)
        input.documents = lay_out_documents (layout, n, &sources[s]);
      if (sources[s].has_alignment)
        input.alignment = lay_out_alignment (layout, n, sources[s].links);
      input.n_factors = sources[s].n_factors;
      if (input.n_factors > 0)
        input.factors = lay_out_factors (layout, &sources[s]);
      if (inputs)
        inputs[s] = input;
    }
  if (batch->own_words.n >= 0)
    {
      batch->own_texts = reserve (layout, batch->own_words.n, sizeof (char *));
      batch->own_words = (PlaitRagged){ n, reserve (layout, n + 1, sizeof (gint64)) };
    }
  else
    batch->own_words.n = 0;
  if (batch->target_rows.n < 0)
    {
      batch->target_rows.n = 0;
      return;
    }
  gint64 target_rows = batch->target_rows.n;
  batch->target_rows = (PlaitRagged){ n, reserve (layout, n + 1, sizeof (gint64)) };
  batch->target_inputs = reserve (layout, target_rows, sizeof (gint32));
  batch->target_outputs = reserve (layout, target_rows, sizeof (gint32));
}

PlaitBatch *
plait_batch_new (gint64 n_sentences, const PlaitBatchSource *sources, gint64 n_sources, gint64 target_rows,
                 gint64 own_words, GError **error)
{
  /* Before lay_out, target_rows.n is the number of target rows (-1: no target), and own_words.n is the number of own
   * words (-1: no arrays of own words). */
  PlaitBatch plan = {
    .n_sentences = n_sentences,
    .n_sources = n_sources,
    .target_rows.n = target_rows,
    .own_words.n = own_words,
  };
  Layout layout = { 0 };
  PlaitBatch measured = plan;
  reserve (&layout, 1, sizeof (PlaitBatch));
  lay_out (&layout, &measured, sources);
  guint8 *memory = layout.overflow ? NULL : g_try_malloc (layout.used + ALIGNMENT);
  if (!memory)
    return plait_fail_null (error, PLAIT_ERROR_MEMORY,
                            "A batch of %jd sentences needs %zu MiB, more than the free memory; lower the batch size",
                            n_sentences, layout.used >> 20);

  /* The batch is at the start of the allocation, so plait_batch_free can free it; its parts are aligned. */
  PlaitBatch *batch = (PlaitBatch *)memory;
  *batch = plan;
  gsize skew = (ALIGNMENT - (gsize)memory % ALIGNMENT) % ALIGNMENT;
  layout = (Layout){ .base = memory + skew };
  reserve (&layout, 1, sizeof (PlaitBatch));
  lay_out (&layout, batch, sources);
  for (gint64 i = 0; i < n_sentences; i++)
    plait_batch_fill (double, batch->weights)[i] = 1;
  return batch;
}

void
plait_batch_fill_target (PlaitBatch *batch, PlaitTargetKind kind, gint64 row, const gint32 *ids, gint64 n)
{
  gint32 *inputs = plait_batch_fill (gint32, batch->target_inputs) + row;
  gint32 *outputs = plait_batch_fill (gint32, batch->target_outputs) + row;
  if (kind != PLAIT_TARGET_TEXT)
    {
      for (gint64 i = 0; i < n; i++)
        {
          inputs[i] = PLAIT_TOKEN_BOS;
          outputs[i] = ids[i] - (plait_target_has_labels (kind) ? PLAIT_TOKEN_SPECIALS : 0);
        }
      return;
    }
  inputs[0] = PLAIT_TOKEN_BOS;
  if (n > 0)
    {
      memcpy (inputs + 1, ids, (gsize)n * sizeof (gint32));
      memmove (outputs, ids, (gsize)n * sizeof (gint32));
    }
  outputs[n] = PLAIT_TOKEN_EOS;
}

void
plait_batch_fill_documents (const PlaitInput *input, const PlaitDocumentSentence *sentences, const gint64 *bounds)
{
  const PlaitDocuments *documents = input->documents;
  gint64 *offsets = plait_batch_fill (gint64, documents->sentences.offsets);
  gint64 *rows = plait_batch_fill (gint64, documents->rows);
  gint32 *roles = plait_batch_fill (gint32, documents->roles);

  for (gint64 d = 0; d <= documents->sentences.n; d++)
    offsets[d] = bounds[d];
  for (gint64 d = 0; d < documents->sentences.n; d++)
    {
      gint64 row = input->rows.offsets[d];

      for (gint64 i = bounds[d]; i < bounds[d + 1]; i++)
        {
          rows[i] = row;
          row += sentences[i].tokens;
          if (roles)
            roles[i] = sentences[i].role;
        }
    }
  rows[bounds[documents->sentences.n]] = plait_ragged_rows (input->rows);
}

/* A slice of a batch has its own offsets and borrows its rows from the whole batch. */

static void
copy_offsets (PlaitRagged to, PlaitRagged from, gint64 first)
{
  gint64 *offsets = plait_batch_fill (gint64, to.offsets);

  for (gint64 i = 0; i <= to.n; i++)
    offsets[i] = from.offsets[first + i] - from.offsets[first];
}

static void
borrow_trees (PlaitTrees *to, const PlaitTrees *from, gint64 first)
{
  gint64 node = from->nodes.offsets[first];

  copy_offsets (to->nodes, from->nodes, first);
  to->left = from->left + node;
  to->right = from->right + node;
  to->labels = from->labels + node;
}

static void
borrow_documents (PlaitDocuments *to, const PlaitDocuments *from, gint64 first)
{
  gint64 sentence = from->sentences.offsets[first];

  copy_offsets (to->sentences, from->sentences, first);
  copy_offsets ((PlaitRagged){ plait_ragged_rows (to->sentences), to->rows }, (PlaitRagged){ 0, from->rows }, sentence);
  if (from->roles)
    to->roles = from->roles + sentence;
}

static void
borrow_alignment (PlaitAlignment *to, const PlaitAlignment *from, gint64 first)
{
  copy_offsets (to->links, from->links, first);
  to->source = from->source + from->links.offsets[first];
  to->target = from->target + from->links.offsets[first];
}

static void
borrow_input (PlaitInput *to, const PlaitInput *from, gint64 first)
{
  gint64 row = from->rows.offsets[first];

  copy_offsets (to->rows, from->rows, first);
  for (gint64 i = 0; i < to->rows.n; i++)
    to->n_missing += plait_input_is_missing (to, i);
  if (plait_input_kind_is_text (to->kind))
    to->tokens = from->tokens + row;
  else
    to->features = plait_tensor_rows (from->features, row, plait_ragged_rows (to->rows));
  if (from->unknown_words)
    to->unknown_words = from->unknown_words + row;
  if (from->own_ids)
    to->own_ids = from->own_ids + row;
  if (to->trees)
    borrow_trees (plait_batch_fill (PlaitTrees, to->trees), from->trees, first);
  if (to->documents)
    borrow_documents (plait_batch_fill (PlaitDocuments, to->documents), from->documents, first);
  if (to->alignment)
    borrow_alignment (plait_batch_fill (PlaitAlignment, to->alignment), from->alignment, first);
  for (guint f = 0; f < to->n_factors; f++)
    plait_batch_fill (const gint32 *, to->factors)[f] = from->factors[f] + row;
}

PlaitBatch *
plait_batch_slice (const PlaitBatch *batch, gint64 first, gint64 n, GError **error)
{
  g_autofree PlaitBatchSource *sources = g_new0 (PlaitBatchSource, batch->n_sources);
  gboolean has_target = batch->target_rows.offsets != NULL;
  PlaitBatch *part;

  for (gint64 i = 0; i < batch->n_sources; i++)
    {
      const PlaitDocuments *documents = batch->inputs[i].documents;

      sources[i] = (PlaitBatchSource){ .name = batch->inputs[i].name,
                                       .kind = batch->inputs[i].kind,
                                       .has_trees = batch->inputs[i].trees != NULL,
                                       .has_documents = documents != NULL,
                                       .has_alignment = batch->inputs[i].alignment != NULL,
                                       .n_factors = batch->inputs[i].n_factors };
      if (!documents)
        continue;
      sources[i].sentences = documents->sentences.offsets[first + n] - documents->sentences.offsets[first];
      sources[i].start_tokens = documents->start_tokens;
    }
  part = plait_batch_new (n, sources, batch->n_sources, has_target ? 0 : -1, batch->first_own > 0 ? 0 : -1, error);
  if (!part)
    return NULL;
  if (batch->first_own > 0)
    {
      part->first_own = batch->first_own;
      copy_offsets (part->own_words, batch->own_words, first);
      part->own_texts = batch->own_texts + batch->own_words.offsets[first];
    }
  part->sentence = batch->sentence + first;
  part->weights = batch->weights + first;
  for (gint64 i = 0; i < batch->n_sources; i++)
    borrow_input (plait_batch_fill (PlaitInput, part->inputs) + i, &batch->inputs[i], first);
  if (!has_target)
    return part;
  copy_offsets (part->target_rows, batch->target_rows, first);
  part->target_inputs = batch->target_inputs + batch->target_rows.offsets[first];
  part->target_outputs = batch->target_outputs + batch->target_rows.offsets[first];
  return part;
}

void
plait_batch_free (PlaitBatch *batch)
{
  g_free (batch);
}
