/* SPDX-License-Identifier: MIT */
#include "model/capture.h"

#include <string.h>

PlaitCapture *
plait_capture_new (PlaitArena *arena, guint n_layers, guint n_memories, gboolean coverage)
{
  PlaitCapture *capture = plait_arena_new_array (arena, PlaitCapture, 1);
  gsize places = (gsize)n_layers * n_memories;

  *capture = (PlaitCapture){ .arena = arena, .n_layers = n_layers, .n_memories = n_memories };
  capture->memories = plait_arena_new_array (arena, PlaitCapturedMemory, places + 1);
  capture->contexts = plait_arena_new_array (arena, PlaitCapturedContexts, n_layers + 1);
  capture->sentinels = plait_arena_new_array (arena, PlaitCapturedSentinel, n_layers + 1);
  memset (capture->memories, 0, places * sizeof *capture->memories);
  memset (capture->contexts, 0, n_layers * sizeof *capture->contexts);
  memset (capture->sentinels, 0, n_layers * sizeof *capture->sentinels);
  if (coverage)
    {
      capture->coverage = plait_arena_new_array (arena, PlaitCapturedCoverage, places + 1);
      memset (capture->coverage, 0, places * sizeof *capture->coverage);
    }
  return capture;
}

gint64
plait_capture_pairs (const PlaitCapture *capture, guint memory)
{
  gint64 pairs = 0;

  for (gint64 s = 0; s < capture->queries.n; s++)
    pairs += plait_ragged_length (capture->queries, s) * plait_ragged_length (capture->rows[memory], s);
  return pairs;
}

PlaitScalar *
plait_capture_memory (PlaitCapture *capture, guint layer, guint memory, guint heads)
{
  PlaitCapturedMemory *place = &capture->memories[layer * capture->n_memories + memory];

  place->heads = heads;
  place->weights
      = plait_arena_new_array (capture->arena, PlaitScalar, heads * plait_capture_pairs (capture, memory) + 1);
  return place->weights;
}

PlaitScalar *
plait_capture_contexts (PlaitCapture *capture, guint layer, guint heads)
{
  PlaitCapturedContexts *place = &capture->contexts[layer];
  gsize items = (gsize)heads * (gsize)plait_ragged_rows (capture->queries) * capture->n_memories;

  place->heads = heads;
  place->weights = plait_arena_new_array (capture->arena, PlaitScalar, items + 1);
  return place->weights;
}

PlaitScalar *
plait_capture_sentinel (PlaitCapture *capture, guint layer, guint heads)
{
  PlaitCapturedSentinel *place = &capture->sentinels[layer];

  place->heads = heads;
  place->weights = plait_arena_new_array (capture->arena, PlaitScalar,
                                          (gsize)heads * (gsize)plait_ragged_rows (capture->queries) + 1);
  return place->weights;
}

PlaitScalar *
plait_capture_coverage (PlaitCapture *capture, guint layer, guint memory, gint64 width)
{
  PlaitCapturedCoverage *place = &capture->coverage[layer * capture->n_memories + memory];

  place->width = width;
  place->states
      = plait_arena_new_array (capture->arena, PlaitScalar, width * plait_capture_pairs (capture, memory) + 1);
  return place->states;
}

/* Copies what is @width wide of the pairs of @from, whose sentences have one query or none, to the rows @step of
 * @capture's. */
static void
add_pairs (const PlaitCapture *capture, const PlaitCapture *from, gint64 step, guint memory, gint64 width,
           PlaitScalar *to, const PlaitScalar *source)
{
  gint64 at = 0;

  for (gint64 s = 0; s < capture->queries.n; s++)
    {
      gint64 numbers = plait_ragged_length (capture->rows[memory], s) * width;

      if (plait_ragged_length (from->queries, s) > 0)
        {
          memcpy (to + at + step * numbers, source, (gsize)numbers * sizeof (PlaitScalar));
          source += numbers;
        }
      at += plait_ragged_length (capture->queries, s) * numbers;
    }
}

static void
add_memory (PlaitCapture *capture, guint layer, const PlaitCapture *from, gint64 step, guint memory)
{
  const PlaitCapturedMemory *source = &from->memories[memory];
  PlaitCapturedMemory *to = &capture->memories[layer * capture->n_memories + memory];
  gint64 pairs, source_pairs;

  if (source->heads == 0)
    return;
  if (!to->weights)
    plait_capture_memory (capture, layer, memory, source->heads);
  pairs = plait_capture_pairs (capture, memory);
  source_pairs = plait_capture_pairs (from, memory);
  for (guint h = 0; h < source->heads; h++)
    add_pairs (capture, from, step, memory, 1, to->weights + h * pairs, source->weights + h * source_pairs);
}

static void
add_coverage (PlaitCapture *capture, guint layer, const PlaitCapture *from, gint64 step, guint memory)
{
  const PlaitCapturedCoverage *source = &from->coverage[memory];
  PlaitCapturedCoverage *to = &capture->coverage[layer * capture->n_memories + memory];

  if (source->width == 0)
    return;
  if (!to->states)
    plait_capture_coverage (capture, layer, memory, source->width);
  to->name = source->name;
  to->prepared = source->prepared;
  add_pairs (capture, from, step, memory, source->width, to->states, source->states);
}

/* What stands in @from for query rows, @n numbers a row and head, to row @step of their sentences. */
static void
add_rows (const PlaitCapture *capture, PlaitScalar *to, const PlaitCapture *from, const PlaitScalar *weights,
          guint heads, guint n, gint64 step)
{
  gint64 queries = plait_ragged_rows (capture->queries), source_queries = plait_ragged_rows (from->queries);

  for (gint64 s = 0; s < capture->queries.n; s++)
    for (guint h = 0; h < heads && plait_ragged_length (from->queries, s) > 0; h++)
      memcpy (to + (h * queries + capture->queries.offsets[s] + step) * n,
              weights + (h * source_queries + from->queries.offsets[s]) * n, n * sizeof (PlaitScalar));
}

void
plait_capture_add_step (PlaitCapture *capture, guint layer, const PlaitCapture *from, gint64 step)
{
  const PlaitCapturedContexts *contexts = &from->contexts[0];
  const PlaitCapturedSentinel *sentinel = &from->sentinels[0];

  for (guint memory = 0; memory < capture->n_memories; memory++)
    {
      add_memory (capture, layer, from, step, memory);
      if (capture->coverage)
        add_coverage (capture, layer, from, step, memory);
    }
  if (contexts->heads > 0 && !capture->contexts[layer].weights)
    plait_capture_contexts (capture, layer, contexts->heads);
  if (sentinel->heads > 0 && !capture->sentinels[layer].weights)
    plait_capture_sentinel (capture, layer, sentinel->heads);
  add_rows (capture, capture->contexts[layer].weights, from, contexts->weights, contexts->heads, capture->n_memories,
            step);
  add_rows (capture, capture->sentinels[layer].weights, from, sentinel->weights, sentinel->heads, 1, step);
}
