/* SPDX-License-Identifier: MIT */
#include "cross-attention/capture.h"

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

/* How many pairs the first @n sentences have. */
static gint64
pairs_of (const PlaitCapture *capture, guint memory, gint64 n)
{
  gint64 pairs = 0;

  for (gint64 s = 0; s < n; s++)
    pairs += plait_ragged_length (capture->queries, s) * plait_ragged_length (capture->memories[memory].rows, s);
  return pairs;
}

gint64
plait_capture_pairs (const PlaitCapture *capture, guint memory)
{
  return pairs_of (capture, memory, capture->queries.n);
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

static void
append_set (PlaitCapturedSets *sets, PlaitCapturedSet *set)
{
  if (sets->last)
    sets->last->next = set;
  else
    sets->first = set;
  sets->last = set;
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
        gint64 first = chosen->rows.offsets[s];

        sets[s] = (PlaitCapturedSet){ NULL, chosen->rows.offsets[s + 1] - first, row + first, kept + first };
        append_set (&place->sets[e], &sets[s]);
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

/*
 * From one capture to another
 */

/* A query in a capture. */
typedef struct
{
  guint layer;
  gint64 sentence;
  gint64 row; /* of the whole batch */
} Query;

/* Where the pairs of @query with its rows of @memory begin. */
static gint64
pairs_before (const PlaitCapture *capture, Query query, guint memory)
{
  return pairs_of (capture, memory, query.sentence)
         + (query.row - capture->queries.offsets[query.sentence])
               * plait_ragged_length (capture->memories[memory].rows, query.sentence);
}

/* Where the rows that @query is paired with begin. */
static gint64
first_row (const PlaitCapture *capture, Query query, guint memory)
{
  return capture->memories[memory].rows.offsets[query.sentence];
}

/* Copies @sets, whose rows are numbered from @first on, to @to of @capture, where they are from @own on. */
static void
copy_sets (const PlaitCapture *capture, PlaitCapturedSets *to, gint64 own, const PlaitCapturedSets *sets, gint64 first)
{
  for (const PlaitCapturedSet *set = sets->first; set; set = set->next)
    {
      PlaitCapturedSet *copy = plait_arena_new_array (capture->arena, PlaitCapturedSet, 1);
      gint64 *row = plait_arena_new_array (capture->arena, gint64, set->n + 1);
      PlaitScalar *weights = plait_arena_new_array (capture->arena, PlaitScalar, set->n + 1);

      for (gint64 i = 0; i < set->n; i++)
        row[i] = set->row[i] - first + own;
      memcpy (weights, set->weights, (gsize)set->n * sizeof *weights);
      *copy = (PlaitCapturedSet){ NULL, set->n, row, weights };
      append_set (to, copy);
    }
}

/* A combiner need not call each attention in each pass: what it leaves out stays zero. */
static void
copy_weights (PlaitCapture *to, Query at, const PlaitCapture *from, Query query,
              const PlaitCapturedAttention *attention)
{
  const PlaitCapturedLayer *source = &attention->layers[query.layer];
  guint m = attention->memory;
  gint64 rows = plait_ragged_length (from->memories[m].rows, query.sentence);
  gint64 pairs, before, source_pairs, source_before;
  PlaitCapturedLayer *place;

  if (source->heads == 0)
    return;
  place = (source->sets ? layer_of_sets : layer_of_weights) (to, at.layer, attention->name, m, source->heads);
  pairs = plait_capture_pairs (to, m);
  before = pairs_before (to, at, m);
  source_pairs = plait_capture_pairs (from, m);
  source_before = pairs_before (from, query, m);
  for (guint h = 0; h < MIN (source->heads, place->heads); h++)
    {
      memcpy (place->weights + h * pairs + before, source->weights + h * source_pairs + source_before,
              (gsize)rows * sizeof (PlaitScalar));
      if (source->sets)
        copy_sets (to, &place->sets[at.row * place->heads + h], first_row (to, at, m),
                   &source->sets[query.row * source->heads + h], first_row (from, query, m));
    }
}

static void
copy_coverage (PlaitCapture *to, Query at, const PlaitCapture *from, Query query,
               const PlaitCapturedAttention *attention)
{
  const PlaitCapturedCoverage *source = &attention->layers[query.layer].coverage;
  guint m = attention->memory;
  gint64 rows = plait_ragged_length (from->memories[m].rows, query.sentence), width = source->width;
  PlaitCapturedCoverage *place;

  if (width == 0)
    return;
  place = &plait_capture_layer (to, at.layer, attention->name, m)->coverage;
  if (!place->states)
    memset (plait_capture_coverage (to, at.layer, attention->name, m, width), 0,
            (gsize)(width * plait_capture_pairs (to, m)) * sizeof (PlaitScalar));
  if (place->width == width)
    memcpy (place->states + pairs_before (to, at, m) * width, source->states + pairs_before (from, query, m) * width,
            (gsize)(rows * width) * sizeof (PlaitScalar));
  if (!source->prepared)
    return;
  if (!place->prepared)
    place->prepared = plait_arena_new_array0 (to->arena, PlaitScalar, plait_ragged_rows (to->memories[m].rows) + 1);
  place->name = source->name;
  memcpy (place->prepared + first_row (to, at, m), source->prepared + first_row (from, query, m),
          (gsize)rows * sizeof (PlaitScalar));
}

/* What was paid to @n items. */
static void
copy_items (const PlaitCapture *to, PlaitCapturedItems *place, Query at, const PlaitCapture *from,
            const PlaitCapturedItems *source, Query query, guint n)
{
  gint64 queries = plait_ragged_rows (to->queries), source_queries = plait_ragged_rows (from->queries);

  if (source->heads > 0 && !place->weights)
    memset (room_for_items (to, place, source->heads, n), 0,
            (gsize)(source->heads * queries * n) * sizeof (PlaitScalar));
  for (guint h = 0; h < MIN (source->heads, place->heads); h++)
    memcpy (place->weights + (h * queries + at.row) * n, source->weights + (h * source_queries + query.row) * n,
            n * sizeof (PlaitScalar));
}

/* Copies what @query of @from has paid to @at of @to, whose rows are the same. */
static void
copy_query (PlaitCapture *to, Query at, const PlaitCapture *from, Query query)
{
  for (const PlaitCapturedAttention *attention = from->attentions; attention; attention = attention->next)
    {
      copy_weights (to, at, from, query, attention);
      copy_coverage (to, at, from, query, attention);
    }
  copy_items (to, &to->contexts[at.layer], at, from, &from->contexts[query.layer], query, to->n_memories);
  copy_items (to, &to->sentinels[at.layer], at, from, &from->sentinels[query.layer], query, 1);
}

void
plait_capture_add_step (PlaitCapture *capture, guint layer, const PlaitCapture *from, gint64 step)
{
  for (gint64 s = 0; s < capture->queries.n; s++)
    if (plait_ragged_length (from->queries, s) > 0)
      copy_query (capture, (Query){ layer, s, capture->queries.offsets[s] + step }, from,
                  (Query){ 0, s, from->queries.offsets[s] });
}

/*
 * Of one sentence
 */

static PlaitRagged
one_sentence (PlaitArena *arena, gint64 rows)
{
  gint64 *offsets = plait_arena_new_array (arena, gint64, 2);

  offsets[0] = 0;
  offsets[1] = rows;
  return (PlaitRagged){ 1, offsets };
}

/* What @from, which has a number or -1 for each row of the batch, has for those of @rows that are of @sentence; row
 * numbers begin with @first. */
static gint64 *
cut_numbers (PlaitArena *arena, PlaitRagged rows, gint64 sentence, const gint64 *from, gint64 first)
{
  gint64 n = plait_ragged_length (rows, sentence);
  gint64 *cut = plait_arena_new_array (arena, gint64, n + 1);

  for (gint64 i = 0; i < n; i++)
    {
      gint64 number = from[rows.offsets[sentence] + i];

      cut[i] = number < 0 ? -1 : number - first;
    }
  return cut;
}

static PlaitMemory
cut_memory (PlaitArena *arena, const PlaitMemory *memory, gint64 sentence)
{
  const PlaitLinks *links = memory->links;
  PlaitRagged rows = memory->rows;
  PlaitLinks *cut = plait_arena_new_array0 (arena, PlaitLinks, 1);

  if (links && links->level && links->first_child && links->n_children)
    {
      cut->level = cut_numbers (arena, rows, sentence, links->level, 0);
      cut->first_child = cut_numbers (arena, rows, sentence, links->first_child, rows.offsets[sentence]);
      cut->n_children = cut_numbers (arena, rows, sentence, links->n_children, 0);
    }
  if (links && links->left && links->right)
    {
      cut->left = cut_numbers (arena, rows, sentence, links->left, rows.offsets[sentence]);
      cut->right = cut_numbers (arena, rows, sentence, links->right, rows.offsets[sentence]);
    }
  if (links && links->sentence)
    cut->sentence = cut_numbers (arena, rows, sentence, links->sentence, 0);
  if (links && links->token)
    cut->token = cut_numbers (arena, rows, sentence, links->token, 0);
  return (PlaitMemory){ .rows = one_sentence (arena, plait_ragged_length (rows, sentence)), .links = cut };
}

PlaitCapture *
plait_capture_sentence (PlaitArena *arena, const PlaitCapture *batch, gint64 sentence, gint64 length)
{
  PlaitCapture *capture = plait_capture_new (arena, batch->n_layers, batch->n_memories, batch->coverage);
  PlaitMemory *memories = plait_arena_new_array (arena, PlaitMemory, batch->n_memories);

  for (guint m = 0; m < batch->n_memories; m++)
    memories[m] = cut_memory (arena, &batch->memories[m], sentence);
  capture->memories = memories;
  capture->queries = one_sentence (arena, length);
  return capture;
}

void
plait_capture_add_row (PlaitCapture *capture, gint64 target, const PlaitCapture *from, gint64 sentence, gint64 row)
{
  for (guint l = 0; l < capture->n_layers; l++)
    copy_query (capture, (Query){ l, 0, target }, from, (Query){ l, sentence, row });
}

PlaitCaptures *
plait_captures_new (gint64 n)
{
  PlaitCaptures *captures = g_new (PlaitCaptures, 1);

  captures->arena = plait_arena_new (0);
  captures->of = plait_arena_new_array0 (captures->arena, PlaitCapture *, n + 1);
  return captures;
}

void
plait_captures_free (PlaitCaptures *captures)
{
  if (!captures)
    return;
  plait_arena_free (captures->arena);
  g_free (captures);
}
