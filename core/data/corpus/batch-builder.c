/* SPDX-License-Identifier: MIT */
#include "corpus/own-words.h"

#include <string.h>

PlaitStreamBuilder *
plait_stream_builder_new (const char *name, PlaitInputKind kind)
{
  PlaitStreamBuilder *self = g_new0 (PlaitStreamBuilder, 1);

  self->name = name;
  self->kind = kind;
  /* @ids and @steps reserve an element, because pointer arithmetic needs data that is not NULL. */
  self->offsets = g_array_new (FALSE, TRUE, sizeof (gint64));
  self->ids = g_array_sized_new (FALSE, FALSE, sizeof (gint32), 1);
  self->lines = g_array_new (FALSE, FALSE, sizeof (gint64));
  self->steps = g_array_sized_new (FALSE, FALSE, sizeof (gint32), 1);
  self->nodes = g_array_new (FALSE, TRUE, sizeof (gint64));
  self->sentences = g_array_new (FALSE, FALSE, sizeof (PlaitDocumentSentence));
  self->bounds = g_array_new (FALSE, TRUE, sizeof (gint64));
  self->factors = g_ptr_array_new_with_free_func ((GDestroyNotify)g_array_unref);
  self->links = g_array_new (FALSE, FALSE, sizeof (gint32));
  self->link_bounds = g_array_new (FALSE, TRUE, sizeof (gint64));
  g_array_set_size (self->offsets, 1);
  g_array_set_size (self->nodes, 1);
  g_array_set_size (self->bounds, 1);
  g_array_set_size (self->link_bounds, 1);
  return self;
}

void
plait_stream_builder_free (gpointer gathered)
{
  PlaitStreamBuilder *self = gathered;

  g_array_unref (self->offsets);
  g_array_unref (self->ids);
  g_clear_pointer (&self->unknown, g_ptr_array_unref);
  g_clear_pointer (&self->own_ids, g_array_unref);
  g_array_unref (self->lines);
  g_array_unref (self->steps);
  g_array_unref (self->nodes);
  g_array_unref (self->sentences);
  g_array_unref (self->bounds);
  g_ptr_array_unref (self->factors);
  g_array_unref (self->links);
  g_array_unref (self->link_bounds);
  g_free (self);
}

void
plait_stream_builder_end_sentence (PlaitStreamBuilder *self, gint64 rows)
{
  gint64 end = plait_input_kind_is_text (self->kind)
                   ? self->ids->len
                   : g_array_index (self->offsets, gint64, self->offsets->len - 1) + rows;
  gint64 nodes = self->steps->len / 2, bound = self->sentences->len, links = self->links->len / 2;

  g_array_append_val (self->offsets, end);
  g_array_append_val (self->nodes, nodes);
  g_array_append_val (self->bounds, bound);
  g_array_append_val (self->link_bounds, links);
}

/* Splits @children [2 * n], pairs of a left and a right child, into @left and @right, and gives all @n nodes empty
 * labels. */
static void
fill_linked (const gint32 *children, gint64 n, gint64 *left, gint64 *right, const char **labels)
{
  for (gint64 i = 0; i < n; i++)
    {
      left[i] = children[2 * i];
      right[i] = children[2 * i + 1];
      labels[i] = "";
    }
}

static void
fill_trees (const PlaitStreamBuilder *source, const PlaitInput *input)
{
  const PlaitTrees *trees = input->trees;
  gint64 n = trees->nodes.n;
  memcpy (plait_batch_fill (gint64, trees->nodes.offsets), source->nodes->data, (gsize)(n + 1) * sizeof (gint64));
  for (gint64 i = 0; i < n; i++)
    {
      gint64 first = trees->nodes.offsets[i], nodes = plait_ragged_length (trees->nodes, i);
      const gint32 *steps = (const gint32 *)(gpointer)source->steps->data + 2 * first;
      gint64 *left = plait_batch_fill (gint64, trees->left) + first;
      gint64 *right = plait_batch_fill (gint64, trees->right) + first;
      const char **labels = plait_batch_fill (const char *, trees->labels) + first;
      if (source->linked)
        fill_linked (steps, nodes, left, right, labels);
      else
        plait_tree_maker_fill (source->trees, steps, nodes, plait_ragged_length (input->rows, i), left, right, labels);
    }
}

static gboolean
fill_source (const PlaitStreamBuilder *source, PlaitInput *input, GError **error)
{
  gint64 n = input->rows.n;
  memcpy (plait_batch_fill (gint64, input->rows.offsets), source->offsets->data, (gsize)(n + 1) * sizeof (gint64));
  for (gint64 i = 0; i < n; i++)
    input->n_missing += plait_input_is_missing (input, i);
  if (source->features)
    return source->features->read (source->features, (const gint64 *)(gpointer)source->lines->data, source->lines->len,
                                   input->features, error);
  if (source->ids->len > 0)
    memcpy (plait_batch_fill (gint32, input->tokens), source->ids->data,
            (gsize)plait_ragged_rows (input->rows) * sizeof (gint32));
  if (input->unknown_words && source->ids->len > 0)
    memcpy (plait_batch_fill (const char *, input->unknown_words), source->unknown->pdata,
            (gsize)plait_ragged_rows (input->rows) * sizeof (char *));
  if (input->own_ids && source->ids->len > 0)
    memcpy (plait_batch_fill (gint32, input->own_ids), source->own_ids->data,
            (gsize)plait_ragged_rows (input->rows) * sizeof (gint32));
  for (guint f = 0; f < input->n_factors && source->ids->len > 0; f++)
    memcpy (plait_batch_fill (gint32, input->factors[f]), ((const GArray *)source->factors->pdata[f])->data,
            (gsize)plait_ragged_rows (input->rows) * sizeof (gint32));
  if (input->trees)
    fill_trees (source, input);
  if (input->documents)
    plait_batch_fill_documents (input, (const PlaitDocumentSentence *)(gpointer)source->sentences->data,
                                (const gint64 *)(gpointer)source->bounds->data);
  return TRUE;
}

static void
fill_target (const PlaitStreamBuilder *target, PlaitBatch *batch)
{
  const gint64 *ends = (const gint64 *)(gpointer)target->offsets->data;
  gint64 *offsets = plait_batch_fill (gint64, batch->target_rows.offsets);
  offsets[0] = 0;
  for (gint64 i = 0; i < batch->n_sentences; i++)
    {
      gint64 n = ends[i + 1] - ends[i];
      plait_batch_fill_target (batch, target->target, offsets[i], (const gint32 *)(gpointer)target->ids->data + ends[i],
                               n);
      if (target->own_ids && n > 0)
        memcpy (plait_batch_fill (gint32, batch->target_outputs) + offsets[i],
                (const gint32 *)(gpointer)target->own_ids->data + ends[i], (gsize)n * sizeof (gint32));
      if (target->target == PLAIT_TARGET_SPAN)
        plait_span_to_rows (&batch->inputs[0], i, plait_batch_fill (gint32, batch->target_outputs) + offsets[i]);
      offsets[i + 1] = offsets[i] + n + plait_target_has_end (target->target);
    }
}

/* Fills the links of @input from its builder @source. Skips links to rows that do not exist because the source is
 * truncated or comes from another tuple than the target. */
static void
fill_links (const PlaitStreamBuilder *source, const PlaitInput *input, PlaitRagged target_rows)
{
  const PlaitAlignment *alignment = input->alignment;
  const gint64 *bounds = (const gint64 *)(gpointer)source->link_bounds->data;
  const gint32 *rows = (const gint32 *)(gpointer)source->links->data;
  gint64 *offsets = plait_batch_fill (gint64, alignment->links.offsets), n = 0;

  for (gint64 s = 0; s < alignment->links.n; s++)
    {
      offsets[s] = n;
      for (gint64 i = bounds[s]; i < bounds[s + 1]; i++)
        if (rows[2 * i] < plait_ragged_length (input->rows, s)
            && rows[2 * i + 1] < plait_ragged_length (target_rows, s))
          {
            plait_batch_fill (gint64, alignment->source)[n] = rows[2 * i];
            plait_batch_fill (gint64, alignment->target)[n++] = rows[2 * i + 1];
          }
    }
  offsets[alignment->links.n] = n;
}

static void
fill_own_words (const PlaitOwnWords *own, PlaitBatch *batch)
{
  batch->first_own = own->first;
  memcpy (plait_batch_fill (gint64, batch->own_words.offsets), own->offsets->data,
          (gsize)own->offsets->len * sizeof (gint64));
  if (own->texts->len > 0)
    memcpy (plait_batch_fill (const char *, batch->own_texts), own->texts->pdata,
            (gsize)own->texts->len * sizeof (char *));
}

PlaitBatch *
plait_batch_build (const GPtrArray *streams, gint64 n_sources, gint64 n, gint64 target_rows, GError **error)
{
  g_autofree PlaitBatchSource *sources = g_new0 (PlaitBatchSource, n_sources);
  const PlaitStreamBuilder *target = streams->len > n_sources ? streams->pdata[n_sources] : NULL;
  g_autoptr (PlaitBatch) batch = NULL;
  g_auto (PlaitOwnWords) own = { 0 };

  plait_own_words_collect (&own, streams, n_sources, n);
  for (gint64 s = 0; s < n_sources; s++)
    {
      const PlaitStreamBuilder *source = streams->pdata[s];
      sources[s] = (PlaitBatchSource){
        .name = source->name,
        .kind = source->kind,
        .rows = g_array_index (source->offsets, gint64, n),
        .width = source->features ? source->features->width : 0,
        .has_unknown = source->unknown != NULL,
        .has_own_ids = source->own_ids != NULL,
        .has_trees = source->trees || source->linked,
        .nodes = g_array_index (source->nodes, gint64, n),
        .has_documents = source->documents != NULL,
        .sentences = g_array_index (source->bounds, gint64, n),
        .start_tokens = source->documents && source->documents->start_tokens,
        .has_roles = source->documents && source->documents->roles > 0,
        .has_alignment = target && source->aligned,
        .links = g_array_index (source->link_bounds, gint64, n),
        .n_factors = source->factors->len,
      };
    }
  if (target)
    target_rows = g_array_index (target->offsets, gint64, n) + n * plait_target_has_end (target->target);
  batch = plait_batch_new (n, sources, n_sources, target_rows, own.first > 0 ? (gint64)own.texts->len : -1, error);
  if (!batch)
    return NULL;
  if (own.first > 0)
    fill_own_words (&own, batch);
  for (gint64 s = 0; s < n_sources; s++)
    if (!fill_source (streams->pdata[s], plait_batch_fill (PlaitInput, batch->inputs) + s, error))
      return NULL;
  if (target)
    fill_target (target, batch);
  for (gint64 s = 0; s < n_sources; s++)
    if (sources[s].has_alignment)
      fill_links (streams->pdata[s], &batch->inputs[s], batch->target_rows);
  return g_steal_pointer (&batch);
}
