/* SPDX-License-Identifier: MIT */
#include "model/capture.h"

#include <string.h>

static PlaitCapturedAttention *
new_attention (PlaitCapture *capture, const char *name, guint memory)
{
  PlaitCapturedAttention *attention = plait_arena_new_array (capture->arena, PlaitCapturedAttention, 1);

  *attention = (PlaitCapturedAttention){
    .name = name,
    .memory = memory,
    .layers = plait_arena_new_array0 (capture->arena, PlaitCapturedLayer, capture->n_layers),
  };
  return attention;
}

PlaitCapture *
plait_capture_new (PlaitArena *arena, guint n_layers, guint n_memories, gboolean coverage)
{
  PlaitCapture *capture = plait_arena_new_array (arena, PlaitCapture, 1);
  PlaitCapturedAttention **place = &capture->attentions;

  *capture = (PlaitCapture){ .arena = arena, .n_layers = n_layers, .n_memories = n_memories, .coverage = coverage };
  for (guint m = 0; m < n_memories; m++, place = &(*place)->next)
    *place = new_attention (capture, NULL, m);
  capture->contexts = plait_arena_new_array0 (arena, PlaitCapturedItems, n_layers);
  capture->sentinels = plait_arena_new_array0 (arena, PlaitCapturedItems, n_layers);
  return capture;
}

gint64
plait_capture_pairs (const PlaitCapture *capture, guint memory)
{
  gint64 pairs = 0;

  for (gint64 s = 0; s < capture->queries.n; s++)
    pairs += plait_ragged_length (capture->queries, s) * plait_ragged_length (capture->memories[memory].rows, s);
  return pairs;
}

PlaitCapturedLayer *
plait_capture_find (const PlaitCapture *capture, guint layer, const char *name, guint memory)
{
  for (PlaitCapturedAttention *attention = capture->attentions; attention; attention = attention->next)
    if (attention->memory == memory && g_strcmp0 (attention->name, name) == 0)
      return &attention->layers[layer];
  return NULL;
}

PlaitCapturedLayer *
plait_capture_layer (PlaitCapture *capture, guint layer, const char *name, guint memory)
{
  PlaitCapturedLayer *found = plait_capture_find (capture, layer, name, memory);
  PlaitCapturedAttention **place = &capture->attentions;

  if (found)
    return found;
  while (*place)
    place = &(*place)->next;
  *place = new_attention (capture, name, memory);
  return &(*place)->layers[layer];
}

PlaitScalar *
plait_capture_weights (PlaitCapture *capture, guint layer, const char *name, guint memory, guint heads)
{
  PlaitCapturedLayer *place = plait_capture_layer (capture, layer, name, memory);

  place->heads = heads;
  place->weights
      = plait_arena_new_array (capture->arena, PlaitScalar, heads * plait_capture_pairs (capture, memory) + 1);
  return place->weights;
}

/* The layer with weights, zeros unless some were noted. */
static PlaitCapturedLayer *
layer_of_weights (PlaitCapture *capture, guint layer, const char *name, guint memory, guint heads)
{
  PlaitCapturedLayer *place = plait_capture_layer (capture, layer, name, memory);

  if (!place->weights)
    memset (plait_capture_weights (capture, layer, name, memory, heads), 0,
            (gsize)(heads * plait_capture_pairs (capture, memory)) * sizeof (PlaitScalar));
  return place;
}

/* Likewise with room for sets. */
static PlaitCapturedLayer *
layer_of_sets (PlaitCapture *capture, guint layer, const char *name, guint memory, guint heads)
{
  PlaitCapturedLayer *place = layer_of_weights (capture, layer, name, memory, heads);

  if (!place->sets)
    place->sets
        = plait_arena_new_array0 (capture->arena, PlaitCapturedSets, plait_ragged_rows (capture->queries) * heads);
  return place;
}

void
plait_capture_chosen (PlaitCapture *capture, guint layer, const char *name, guint memory, const PlaitChosen *chosen,
                      const PlaitScalar *weights)
{
  PlaitCapturedLayer *place = layer_of_sets (capture, layer, name, memory, chosen->heads);
  gsize n = (gsize)plait_chosen_number (chosen);
  PlaitCapturedSet *sets
      = plait_arena_new_array (capture->arena, PlaitCapturedSet, (gsize)plait_ragged_rows (chosen->sets) + 1);
  gint64 *row = plait_arena_new_array (capture->arena, gint64, n + 1);
  PlaitScalar *kept = plait_arena_new_array (capture->arena, PlaitScalar, n + 1);

  memcpy (row, chosen->row, n * sizeof *row);
  memcpy (kept, weights, n * sizeof *kept);
  for (gint64 e = 0; e < chosen->sets.n; e++)
    for (gint64 s = chosen->sets.offsets[e]; s < chosen->sets.offsets[e + 1]; s++)
      {
        PlaitCapturedSets *of = &place->sets[e];
        gint64 first = chosen->rows.offsets[s];

        sets[s] = (PlaitCapturedSet){ NULL, chosen->rows.offsets[s + 1] - first, row + first, kept + first };
        if (of->last)
          of->last->next = &sets[s];
        else
          of->first = &sets[s];
        of->last = &sets[s];
      }
}

static PlaitScalar *
room_for_items (const PlaitCapture *capture, PlaitCapturedItems *place, guint heads, guint n)
{
  gsize rows = (gsize)plait_ragged_rows (capture->queries);

  place->heads = heads;
  place->weights = plait_arena_new_array (capture->arena, PlaitScalar, heads * rows * n + 1);
  return place->weights;
}

PlaitScalar *
plait_capture_contexts (PlaitCapture *capture, guint layer, guint heads)
{
  return room_for_items (capture, &capture->contexts[layer], heads, capture->n_memories);
}

PlaitScalar *
plait_capture_sentinel (PlaitCapture *capture, guint layer, guint heads)
{
  return room_for_items (capture, &capture->sentinels[layer], heads, 1);
}

PlaitScalar *
plait_capture_coverage (PlaitCapture *capture, guint layer, const char *name, guint memory, gint64 width)
{
  PlaitCapturedCoverage *place = &plait_capture_layer (capture, layer, name, memory)->coverage;

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
      gint64 numbers = plait_ragged_length (capture->memories[memory].rows, s) * width;

      if (plait_ragged_length (from->queries, s) > 0)
        {
          memcpy (to + at + step * numbers, source, (gsize)numbers * sizeof (PlaitScalar));
          source += numbers;
        }
      at += plait_ragged_length (capture->queries, s) * numbers;
    }
}

/* Hands the sets of @from's queries on. */
static void
add_sets (const PlaitCapture *capture, PlaitCapturedSets *to, const PlaitCapture *from, const PlaitCapturedSets *sets,
          guint heads, gint64 step)
{
  for (gint64 s = 0; s < capture->queries.n; s++)
    if (plait_ragged_length (from->queries, s) > 0)
      memcpy (to + (capture->queries.offsets[s] + step) * heads, sets + from->queries.offsets[s] * heads,
              heads * sizeof *to);
}

static void
add_weights (PlaitCapture *capture, guint layer, const PlaitCapture *from, gint64 step,
             const PlaitCapturedAttention *attention)
{
  const PlaitCapturedLayer *source = &attention->layers[0];
  PlaitCapturedLayer *to;
  gint64 pairs, source_pairs;

  if (source->heads == 0)
    return;
  to = (source->sets ? layer_of_sets : layer_of_weights) (capture, layer, attention->name, attention->memory,
                                                          source->heads);
  pairs = plait_capture_pairs (capture, attention->memory);
  source_pairs = plait_capture_pairs (from, attention->memory);
  for (guint h = 0; h < source->heads; h++)
    add_pairs (capture, from, step, attention->memory, 1, to->weights + h * pairs, source->weights + h * source_pairs);
  if (source->sets)
    add_sets (capture, to->sets, from, source->sets, source->heads, step);
}

static void
add_coverage (PlaitCapture *capture, guint layer, const PlaitCapture *from, gint64 step,
              const PlaitCapturedAttention *attention)
{
  const PlaitCapturedCoverage *source = &attention->layers[0].coverage;
  PlaitCapturedCoverage *to = &plait_capture_layer (capture, layer, attention->name, attention->memory)->coverage;

  if (source->width == 0)
    return;
  if (!to->states)
    plait_capture_coverage (capture, layer, attention->name, attention->memory, source->width);
  to->name = source->name;
  to->prepared = source->prepared;
  add_pairs (capture, from, step, attention->memory, source->width, to->states, source->states);
}

/* What @from paid to @n items for each query row and head, to row @step of their sentences. */
static void
add_items (const PlaitCapture *capture, PlaitCapturedItems *to, const PlaitCapture *from,
           const PlaitCapturedItems *items, guint n, gint64 step)
{
  gint64 queries = plait_ragged_rows (capture->queries), source_queries = plait_ragged_rows (from->queries);

  if (items->heads > 0 && !to->weights)
    room_for_items (capture, to, items->heads, n);
  for (gint64 s = 0; s < capture->queries.n; s++)
    for (guint h = 0; h < items->heads && plait_ragged_length (from->queries, s) > 0; h++)
      memcpy (to->weights + (h * queries + capture->queries.offsets[s] + step) * n,
              items->weights + (h * source_queries + from->queries.offsets[s]) * n, n * sizeof (PlaitScalar));
}

void
plait_capture_add_step (PlaitCapture *capture, guint layer, const PlaitCapture *from, gint64 step)
{
  for (const PlaitCapturedAttention *attention = from->attentions; attention; attention = attention->next)
    {
      add_weights (capture, layer, from, step, attention);
      add_coverage (capture, layer, from, step, attention);
    }
  add_items (capture, &capture->contexts[layer], from, &from->contexts[0], capture->n_memories, step);
  add_items (capture, &capture->sentinels[layer], from, &from->sentinels[0], 1, step);
}
