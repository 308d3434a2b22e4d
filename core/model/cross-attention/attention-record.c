/* SPDX-License-Identifier: MIT */
#include "cross-attention/attention-record.h"

#include <string.h>

static PlaitRecordedAttention *
new_attention (PlaitAttentionRecord *record, const char *name, guint memory)
{
  PlaitRecordedAttention *attention = plait_arena_new_array (record->arena, PlaitRecordedAttention, 1);

  *attention = (PlaitRecordedAttention){
    .name = name,
    .memory = memory,
    .layers = plait_arena_new_array0 (record->arena, PlaitRecordedLayer, record->n_layers),
  };
  return attention;
}

PlaitAttentionRecord *
plait_attention_record_new (PlaitArena *arena, guint n_layers, guint n_memories, gboolean coverage)
{
  PlaitAttentionRecord *record = plait_arena_new_array (arena, PlaitAttentionRecord, 1);
  PlaitRecordedAttention **slot = &record->attentions;

  *record
      = (PlaitAttentionRecord){ .arena = arena, .n_layers = n_layers, .n_memories = n_memories, .coverage = coverage };
  for (guint m = 0; m < n_memories; m++, slot = &(*slot)->next)
    *slot = new_attention (record, NULL, m);
  record->contexts = plait_arena_new_array0 (arena, PlaitRecordedItems, n_layers);
  record->sentinels = plait_arena_new_array0 (arena, PlaitRecordedItems, n_layers);
  record->copied = plait_arena_new_array0 (arena, PlaitScalar *, n_memories);
  return record;
}

/* Returns the number of (query row, memory row) pairs of the first @n sentences. */
static gint64
pairs_of (const PlaitAttentionRecord *record, guint memory, gint64 n)
{
  gint64 pairs = 0;

  for (gint64 s = 0; s < n; s++)
    pairs += plait_ragged_length (record->queries, s) * plait_ragged_length (record->memories[memory].rows, s);
  return pairs;
}

gint64
plait_attention_record_pairs (const PlaitAttentionRecord *record, guint memory)
{
  return pairs_of (record, memory, record->queries.n);
}

PlaitRecordedLayer *
plait_attention_record_find (const PlaitAttentionRecord *record, guint layer, const char *name, guint memory)
{
  for (PlaitRecordedAttention *attention = record->attentions; attention; attention = attention->next)
    if (attention->memory == memory && g_strcmp0 (attention->name, name) == 0)
      return &attention->layers[layer];
  return NULL;
}

PlaitRecordedLayer *
plait_attention_record_layer (PlaitAttentionRecord *record, guint layer, const char *name, guint memory)
{
  PlaitRecordedLayer *found = plait_attention_record_find (record, layer, name, memory);
  PlaitRecordedAttention **slot = &record->attentions;

  if (found)
    return found;
  while (*slot)
    slot = &(*slot)->next;
  *slot = new_attention (record, name, memory);
  return &(*slot)->layers[layer];
}

PlaitScalar *
plait_attention_record_weights (PlaitAttentionRecord *record, guint layer, const char *name, guint memory, guint heads)
{
  PlaitRecordedLayer *slot = plait_attention_record_layer (record, layer, name, memory);

  slot->heads = heads;
  slot->weights
      = plait_arena_new_array (record->arena, PlaitScalar, heads * plait_attention_record_pairs (record, memory) + 1);
  return slot->weights;
}

/* Returns the layer's record. If its weights were not recorded yet, allocates them as zeros. */
static PlaitRecordedLayer *
layer_of_weights (PlaitAttentionRecord *record, guint layer, const char *name, guint memory, guint heads)
{
  PlaitRecordedLayer *slot = plait_attention_record_layer (record, layer, name, memory);

  if (!slot->weights)
    memset (plait_attention_record_weights (record, layer, name, memory, heads), 0,
            (gsize)(heads * plait_attention_record_pairs (record, memory)) * sizeof (PlaitScalar));
  return slot;
}

/* Returns the record of attention @name to @memory in @layer. Allocates its weights and its sets if needed. */
static PlaitRecordedLayer *
layer_of_sets (PlaitAttentionRecord *record, guint layer, const char *name, guint memory, guint heads)
{
  PlaitRecordedLayer *slot = layer_of_weights (record, layer, name, memory, heads);

  if (!slot->sets)
    slot->sets = plait_arena_new_array0 (record->arena, PlaitRecordedSets, plait_ragged_rows (record->queries) * heads);
  return slot;
}

static void
append_set (PlaitRecordedSets *sets, PlaitRecordedSet *set)
{
  if (sets->last)
    sets->last->next = set;
  else
    sets->first = set;
  sets->last = set;
}

void
plait_attention_record_selected (PlaitAttentionRecord *record, guint layer, const char *name, guint memory,
                                 const PlaitSelectedRows *selected, const PlaitScalar *weights)
{
  PlaitRecordedLayer *slot = layer_of_sets (record, layer, name, memory, selected->heads);
  gsize n = (gsize)plait_selected_rows_count (selected);
  PlaitRecordedSet *sets
      = plait_arena_new_array (record->arena, PlaitRecordedSet, (gsize)plait_ragged_rows (selected->sets) + 1);
  gint64 *row = plait_arena_new_array (record->arena, gint64, n + 1);
  PlaitScalar *kept = plait_arena_new_array (record->arena, PlaitScalar, n + 1);

  memcpy (row, selected->row, n * sizeof *row);
  memcpy (kept, weights, n * sizeof *kept);
  for (gint64 e = 0; e < selected->sets.n; e++)
    for (gint64 s = selected->sets.offsets[e]; s < selected->sets.offsets[e + 1]; s++)
      {
        gint64 first = selected->rows.offsets[s];

        sets[s] = (PlaitRecordedSet){ NULL, selected->rows.offsets[s + 1] - first, row + first, kept + first };
        append_set (&slot->sets[e], &sets[s]);
      }
}

static PlaitScalar *
allocate_items (const PlaitAttentionRecord *record, PlaitRecordedItems *slot, guint heads, guint n)
{
  gsize rows = (gsize)plait_ragged_rows (record->queries);

  slot->heads = heads;
  slot->weights = plait_arena_new_array (record->arena, PlaitScalar, heads * rows * n + 1);
  return slot->weights;
}

PlaitScalar *
plait_attention_record_contexts (PlaitAttentionRecord *record, guint layer, guint heads)
{
  return allocate_items (record, &record->contexts[layer], heads, record->n_memories);
}

PlaitScalar *
plait_attention_record_sentinel (PlaitAttentionRecord *record, guint layer, guint heads)
{
  return allocate_items (record, &record->sentinels[layer], heads, 1);
}

PlaitScalar *
plait_attention_record_coverage (PlaitAttentionRecord *record, guint layer, const char *name, guint memory,
                                 gint64 width)
{
  PlaitRecordedCoverage *slot = &plait_attention_record_layer (record, layer, name, memory)->coverage;

  slot->width = width;
  slot->states
      = plait_arena_new_array (record->arena, PlaitScalar, width * plait_attention_record_pairs (record, memory) + 1);
  return slot->states;
}

PlaitScalar *
plait_attention_record_gate (PlaitAttentionRecord *record)
{
  record->gate = plait_arena_new_array0 (record->arena, PlaitScalar, plait_ragged_rows (record->queries) + 1);
  return record->gate;
}

PlaitScalar *
plait_attention_record_copied (PlaitAttentionRecord *record, guint memory)
{
  record->copied[memory]
      = plait_arena_new_array0 (record->arena, PlaitScalar, plait_attention_record_pairs (record, memory) + 1);
  return record->copied[memory];
}

/*
 * Functions that copy from one record to another
 */

/* An attention query of which a record has the weights. */
typedef struct
{
  guint layer;
  gint64 sentence;
  gint64 row; /* row of the whole batch */
} Query;

/* Returns the index of the first pair of @query with the rows of @memory. */
static gint64
pairs_before (const PlaitAttentionRecord *record, Query query, guint memory)
{
  return pairs_of (record, memory, query.sentence)
         + (query.row - record->queries.offsets[query.sentence])
               * plait_ragged_length (record->memories[memory].rows, query.sentence);
}

/* Returns the first row of @memory in the sentence of @query. */
static gint64
first_row (const PlaitAttentionRecord *record, Query query, guint memory)
{
  return record->memories[memory].rows.offsets[query.sentence];
}

/* Appends copies of @sets to @to. The sentence begins at row @first in @sets and at row @own in the copies. */
static void
copy_sets (const PlaitAttentionRecord *record, PlaitRecordedSets *to, gint64 own, const PlaitRecordedSets *sets,
           gint64 first)
{
  for (const PlaitRecordedSet *set = sets->first; set; set = set->next)
    {
      PlaitRecordedSet *copy = plait_arena_new_array (record->arena, PlaitRecordedSet, 1);
      gint64 *row = plait_arena_new_array (record->arena, gint64, set->n + 1);
      PlaitScalar *weights = plait_arena_new_array (record->arena, PlaitScalar, set->n + 1);

      for (gint64 i = 0; i < set->n; i++)
        row[i] = set->row[i] - first + own;
      memcpy (weights, set->weights, (gsize)set->n * sizeof *weights);
      *copy = (PlaitRecordedSet){ NULL, set->n, row, weights };
      append_set (to, copy);
    }
}

/* Copies the weights that one attention has for @query of @from to query @at of @to. Does nothing if the combiner did
 * not call the attention. */
static void
copy_weights (PlaitAttentionRecord *to, Query at, const PlaitAttentionRecord *from, Query query,
              const PlaitRecordedAttention *attention)
{
  const PlaitRecordedLayer *source = &attention->layers[query.layer];
  guint m = attention->memory;
  gint64 rows = plait_ragged_length (from->memories[m].rows, query.sentence);
  gint64 pairs, before, source_pairs, source_before;
  PlaitRecordedLayer *slot;

  if (source->heads == 0)
    return;
  slot = (source->sets ? layer_of_sets : layer_of_weights) (to, at.layer, attention->name, m, source->heads);
  pairs = plait_attention_record_pairs (to, m);
  before = pairs_before (to, at, m);
  source_pairs = plait_attention_record_pairs (from, m);
  source_before = pairs_before (from, query, m);
  for (guint h = 0; h < MIN (source->heads, slot->heads); h++)
    {
      memcpy (slot->weights + h * pairs + before, source->weights + h * source_pairs + source_before,
              (gsize)rows * sizeof (PlaitScalar));
      if (source->sets)
        copy_sets (to, &slot->sets[at.row * slot->heads + h], first_row (to, at, m),
                   &source->sets[query.row * source->heads + h], first_row (from, query, m));
    }
}

static void
copy_coverage (PlaitAttentionRecord *to, Query at, const PlaitAttentionRecord *from, Query query,
               const PlaitRecordedAttention *attention)
{
  const PlaitRecordedCoverage *source = &attention->layers[query.layer].coverage;
  guint m = attention->memory;
  gint64 rows = plait_ragged_length (from->memories[m].rows, query.sentence), width = source->width;
  PlaitRecordedCoverage *slot;

  if (width == 0)
    return;
  slot = &plait_attention_record_layer (to, at.layer, attention->name, m)->coverage;
  if (!slot->states)
    memset (plait_attention_record_coverage (to, at.layer, attention->name, m, width), 0,
            (gsize)(width * plait_attention_record_pairs (to, m)) * sizeof (PlaitScalar));
  if (slot->width == width)
    memcpy (slot->states + pairs_before (to, at, m) * width, source->states + pairs_before (from, query, m) * width,
            (gsize)(rows * width) * sizeof (PlaitScalar));
  if (!source->prepared)
    return;
  if (!slot->prepared)
    slot->prepared = plait_arena_new_array0 (to->arena, PlaitScalar, plait_ragged_rows (to->memories[m].rows) + 1);
  slot->name = source->name;
  memcpy (slot->prepared + first_row (to, at, m), source->prepared + first_row (from, query, m),
          (gsize)rows * sizeof (PlaitScalar));
}

/* Copies the weights of one query on its @n contexts, or on its sentinel (@n = 1). */
static void
copy_items (const PlaitAttentionRecord *to, PlaitRecordedItems *slot, Query at, const PlaitAttentionRecord *from,
            const PlaitRecordedItems *source, Query query, guint n)
{
  gint64 queries = plait_ragged_rows (to->queries), source_queries = plait_ragged_rows (from->queries);

  if (source->heads > 0 && !slot->weights)
    memset (allocate_items (to, slot, source->heads, n), 0,
            (gsize)(source->heads * queries * n) * sizeof (PlaitScalar));
  for (guint h = 0; h < MIN (source->heads, slot->heads); h++)
    memcpy (slot->weights + (h * queries + at.row) * n, source->weights + (h * source_queries + query.row) * n,
            n * sizeof (PlaitScalar));
}

/* Copies weights and coverage of query @query in record @from to query @at in record @to. The sentence has equally many
 * memory rows in both records. */
static void
copy_query (PlaitAttentionRecord *to, Query at, const PlaitAttentionRecord *from, Query query)
{
  for (const PlaitRecordedAttention *attention = from->attentions; attention; attention = attention->next)
    {
      copy_weights (to, at, from, query, attention);
      copy_coverage (to, at, from, query, attention);
    }
  copy_items (to, &to->contexts[at.layer], at, from, &from->contexts[query.layer], query, to->n_memories);
  copy_items (to, &to->sentinels[at.layer], at, from, &from->sentinels[query.layer], query, 1);
}

/* Copies the fields gate and copied of query @query in record @from to query @at in record @to. */
static void
copy_gate (PlaitAttentionRecord *to, Query at, const PlaitAttentionRecord *from, Query query)
{
  if (!from->gate)
    return;
  if (!to->gate)
    plait_attention_record_gate (to);
  to->gate[at.row] = from->gate[query.row];
  for (guint m = 0; m < to->n_memories; m++)
    {
      gint64 rows = plait_ragged_length (from->memories[m].rows, query.sentence);

      if (!from->copied[m])
        continue;
      if (!to->copied[m])
        plait_attention_record_copied (to, m);
      memcpy (to->copied[m] + pairs_before (to, at, m), from->copied[m] + pairs_before (from, query, m),
              (gsize)rows * sizeof (PlaitScalar));
    }
}

void
plait_attention_record_add_step (PlaitAttentionRecord *record, guint layer, const PlaitAttentionRecord *from,
                                 gint64 step)
{
  for (gint64 s = 0; s < record->queries.n; s++)
    if (plait_ragged_length (from->queries, s) > 0)
      copy_query (record, (Query){ layer, s, record->queries.offsets[s] + step }, from,
                  (Query){ 0, s, from->queries.offsets[s] });
}

/*
 * Functions for the record of one sentence
 */

static PlaitRagged
one_sentence (PlaitArena *arena, gint64 rows)
{
  gint64 *offsets = plait_arena_new_array (arena, gint64, 2);

  offsets[0] = 0;
  offsets[1] = rows;
  return (PlaitRagged){ 1, offsets };
}

/* Returns @from[i] - @first for each row i of @sentence, but -1 if @from[i] is negative. */
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

PlaitAttentionRecord *
plait_attention_record_sentence (PlaitArena *arena, const PlaitAttentionRecord *batch, gint64 sentence, gint64 length)
{
  PlaitAttentionRecord *record
      = plait_attention_record_new (arena, batch->n_layers, batch->n_memories, batch->coverage);
  PlaitMemory *memories = plait_arena_new_array (arena, PlaitMemory, batch->n_memories);

  for (guint m = 0; m < batch->n_memories; m++)
    memories[m] = cut_memory (arena, &batch->memories[m], sentence);
  record->memories = memories;
  record->queries = one_sentence (arena, length);
  return record;
}

void
plait_attention_record_add_row (PlaitAttentionRecord *record, gint64 target, const PlaitAttentionRecord *from,
                                gint64 sentence, gint64 row)
{
  for (guint l = 0; l < record->n_layers; l++)
    copy_query (record, (Query){ l, 0, target }, from, (Query){ l, sentence, row });
  copy_gate (record, (Query){ 0, 0, target }, from, (Query){ 0, sentence, row });
}

PlaitAttentionRecords *
plait_attention_records_new (gint64 n)
{
  PlaitAttentionRecords *records = g_new (PlaitAttentionRecords, 1);

  records->arena = plait_arena_new (0);
  records->of = plait_arena_new_array0 (records->arena, PlaitAttentionRecord *, n + 1);
  return records;
}

void
plait_attention_records_free (PlaitAttentionRecords *records)
{
  if (!records)
    return;
  plait_arena_free (records->arena);
  g_free (records);
}
