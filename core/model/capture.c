/* SPDX-License-Identifier: MIT */
#include "model/capture.h"

#include <string.h>

PlaitCapture *
plait_capture_new (PlaitArena *arena, guint n_layers, guint n_memories)
{
  PlaitCapture *capture = plait_arena_new_array (arena, PlaitCapture, 1);
  gsize places = (gsize)n_layers * n_memories;

  *capture = (PlaitCapture){ .arena = arena, .n_layers = n_layers, .n_memories = n_memories };
  capture->memories = plait_arena_new_array (arena, PlaitCapturedMemory, places + 1);
  capture->contexts = plait_arena_new_array (arena, PlaitCapturedContexts, n_layers + 1);
  memset (capture->memories, 0, places * sizeof *capture->memories);
  memset (capture->contexts, 0, n_layers * sizeof *capture->contexts);
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
