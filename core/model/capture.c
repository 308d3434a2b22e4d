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
  memset (capture->memories, 0, places * sizeof *capture->memories);
  memset (capture->contexts, 0, n_layers * sizeof *capture->contexts);
  if (coverage)
    {
      capture->coverage = plait_arena_new_array (arena, PlaitCapturedCoverage, n_memories + 1);
      memset (capture->coverage, 0, n_memories * sizeof *capture->coverage);
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
plait_capture_coverage (PlaitCapture *capture, guint memory, gint64 width)
{
  PlaitCapturedCoverage *place = &capture->coverage[memory];

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
add_memory (PlaitCapture *capture, const PlaitCapture *from, gint64 step, guint memory)
{
  const PlaitCapturedMemory *source = &from->memories[memory];
  PlaitCapturedMemory *to = &capture->memories[memory];
  gint64 pairs, source_pairs;

  if (source->heads == 0)
    return;
  if (!to->weights)
    plait_capture_memory (capture, 0, memory, source->heads);
  pairs = plait_capture_pairs (capture, memory);
  source_pairs = plait_capture_pairs (from, memory);
  for (guint h = 0; h < source->heads; h++)
    add_pairs (capture, from, step, memory, 1, to->weights + h * pairs, source->weights + h * source_pairs);
}

static void
add_coverage (PlaitCapture *capture, const PlaitCapture *from, gint64 step, guint memory)
{
  const PlaitCapturedCoverage *source = &from->coverage[memory];
  PlaitCapturedCoverage *to = &capture->coverage[memory];

  if (source->width == 0)
    return;
  if (!to->states)
    plait_capture_coverage (capture, memory, source->width);
  to->name = source->name;
  to->prepared = source->prepared;
  add_pairs (capture, from, step, memory, source->width, to->states, source->states);
}

void
plait_capture_add_step (PlaitCapture *capture, const PlaitCapture *from, gint64 step)
{
  const PlaitCapturedContexts *source = &from->contexts[0];
  PlaitCapturedContexts *to = &capture->contexts[0];
  gint64 queries = plait_ragged_rows (capture->queries), source_queries = plait_ragged_rows (from->queries);
  guint n = capture->n_memories;

  for (guint memory = 0; memory < n; memory++)
    {
      add_memory (capture, from, step, memory);
      if (capture->coverage)
        add_coverage (capture, from, step, memory);
    }
  if (source->heads == 0)
    return;
  if (!to->weights)
    plait_capture_contexts (capture, 0, source->heads);
  for (gint64 s = 0; s < capture->queries.n; s++)
    for (guint h = 0; h < source->heads && plait_ragged_length (from->queries, s) > 0; h++)
      memcpy (to->weights + (h * queries + capture->queries.offsets[s] + step) * n,
              source->weights + (h * source_queries + from->queries.offsets[s]) * n, n * sizeof (PlaitScalar));
}
