/* SPDX-License-Identifier: MIT */
/* Making a batch of the tuples that a feed has read. */
#include <string.h>

#include "data/batch.h"
#include "data/feed-private.h"

static void
fill_trees (const PlaitFeedSide *side, const PlaitInput *input)
{
  const PlaitTrees *trees = input->trees;
  gint64 n = trees->nodes.n;
  memcpy (plait_batch_fill (gint64, trees->nodes.offsets), side->nodes->data, (gsize)(n + 1) * sizeof (gint64));
  for (gint64 i = 0; i < n; i++)
    {
      gint64 first = trees->nodes.offsets[i];
      plait_tree_maker_fill (
          side->trees, (const gint32 *)(gpointer)side->steps->data + 2 * first, plait_ragged_length (trees->nodes, i),
          plait_ragged_length (input->rows, i), plait_batch_fill (gint64, trees->left) + first,
          plait_batch_fill (gint64, trees->right) + first, plait_batch_fill (const char *, trees->labels) + first);
    }
}

static gboolean
fill_source (const PlaitFeed *feed, gint64 source, PlaitBatch *batch, GError **error)
{
  const PlaitFeedSide *side = &feed->sides[source];
  PlaitInput *input = &plait_batch_fill (PlaitInput, batch->inputs)[source];
  gint64 n = batch->n_sentences;
  memcpy (plait_batch_fill (gint64, input->rows.offsets), side->offsets->data, (gsize)(n + 1) * sizeof (gint64));
  for (gint64 i = 0; i < n; i++)
    input->n_missing += plait_input_is_missing (input, i);
  if (side->features)
    return plait_feature_file_read (side->features, (const gint64 *)(gpointer)feed->lines->data, n, input->features,
                                    error);
  if (input->trees)
    fill_trees (side, input);
  if (input->documents)
    plait_batch_fill_documents (input, (const PlaitDocumentSentence *)(gpointer)side->sentences->data,
                                (const gint64 *)(gpointer)side->bounds->data);
  if (side->ids->len > 0)
    memcpy (plait_batch_fill (gint32, input->tokens), side->ids->data, side->ids->len * sizeof (gint32));
  return TRUE;
}

static void
fill_target (const PlaitFeedSide *side, PlaitBatch *batch)
{
  const gint64 *ends = (const gint64 *)side->offsets->data;
  gint64 *offsets = plait_batch_fill (gint64, batch->target_rows.offsets);
  offsets[0] = 0;
  for (gint64 i = 0; i < batch->n_sentences; i++)
    {
      gint64 n = ends[i + 1] - ends[i];
      plait_batch_fill_target (batch, side->target, offsets[i], (const gint32 *)side->ids->data + ends[i], n);
      if (side->target == PLAIT_TARGET_SPAN)
        plait_span_to_rows (&batch->inputs[0], i, plait_batch_fill (gint32, batch->target_outputs) + offsets[i]);
      offsets[i + 1] = offsets[i] + n + plait_target_has_end (side->target);
    }
}

PlaitBatch *
plait_feed_batch (const PlaitFeed *feed, gint64 n, GError **error)
{
  g_autofree PlaitBatchSource *sources = g_new0 (PlaitBatchSource, feed->n_sources);
  for (gint64 s = 0; s < feed->n_sources; s++)
    {
      const PlaitFeedSide *side = &feed->sides[s];
      sources[s] = (PlaitBatchSource){ .name = side->name, .kind = side->kind };
      sources[s].rows = g_array_index (side->offsets, gint64, n);
      if (side->features)
        sources[s].width = plait_feature_file_width (side->features);
      sources[s].has_trees = side->trees != NULL;
      if (side->trees)
        sources[s].nodes = g_array_index (side->nodes, gint64, n);
      sources[s].has_documents = side->bounds != NULL;
      sources[s].starts = side->settings.starts;
      sources[s].has_roles = side->settings.roles > 0;
      if (side->bounds)
        sources[s].sentences = g_array_index (side->bounds, gint64, n);
    }
  const PlaitFeedSide *target = feed->n_sides > feed->n_sources ? &feed->sides[feed->n_sources] : NULL;
  gint64 target_rows = target ? (gint64)target->ids->len + n * plait_target_has_end (target->target) : -1;
  g_autoptr (PlaitBatch) batch = plait_batch_new (n, sources, feed->n_sources, target_rows, error);
  if (!batch)
    return NULL;
  for (gint64 i = 0; i < n; i++)
    plait_batch_fill (gint64, batch->sentence)[i] = feed->first + i;
  for (gint64 s = 0; s < feed->n_sources; s++)
    if (!fill_source (feed, s, batch, error))
      return NULL;
  if (target)
    fill_target (target, batch);
  return g_steal_pointer (&batch);
}
