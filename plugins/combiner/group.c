/* SPDX-License-Identifier: MIT */
#include "interface/plugin.h"
#include "layers/layers.h"

#include "group-settings.h"

/*
 * The cross-attention of G-Transformer (Bao et al. 2021, section 4) to one memory after the other: the words of target
 * sentence i attend to the rows of source sentence i (group attention, eq. 5-6); from layer group_layers on, a gate
 * sums group attention and attention to all rows (eq. 7-8):
 *
 *     H_L = group attention (q);  H_G = attention (q)
 *     x <- residual (x, g * H_L + (1 - g) * H_G),  g = sigmoid ([H_L, H_G] W + b)
 *
 * If a document has fewer source sentences than target sentences, the words of the remaining target sentences attend to
 * the last source sentence. A memory without sentence numbers counts as one sentence.
 */

typedef struct
{
  /* [memories] gated sums of group and global attention; NULL in layers without global attention */
  PlaitGatedSum *gates;
} State;

#define GLOBAL "global"

static gboolean
build (PlaitCrossAttention *cross, gconstpointer data, gpointer state_data, GError **error)
{
  const Settings *settings = data;
  State *state = state_data;
  PlaitParameters *parameters = plait_cross_parameters (cross);
  guint n = plait_cross_n_memories (cross);
  gboolean global = plait_cross_layer (cross) >= (guint)settings->group_layers;

  plait_cross_declare_queries (cross);
  if (global)
    state->gates = plait_parameters_memory (parameters, n * sizeof *state->gates);
  for (guint i = 0; i < n; i++)
    {
      PlaitAttendSettings attention = { PLAIT_DECODER_DROPOUT_RATES, .heads = (guint)settings->heads };
      g_autofree char *gate
          = g_strconcat (plait_cross_prefix (cross), "group_gate/", plait_cross_memory (cross, i)->name, NULL);

      plait_cross_declare_residual (cross, i);
      plait_cross_declare_rows (cross, i);
      plait_cross_declare_attend (cross, i, &attention);
      if (!global)
        continue;
      attention.name = GLOBAL;
      plait_cross_declare_attend (cross, i, &attention);
      state->gates[i] = plait_gated_sum_declare (parameters, gate, plait_cross_width (cross));
    }
  return TRUE;
}

/* Returns the first row of @memory in the rows @begin .. @end - 1 whose sentence is @sentence or a later one; the rows
 * are in the order of their sentences. */
static gint64
find_sentence (const PlaitMemory *memory, gint64 begin, gint64 end, gint64 sentence)
{
  while (begin < end)
    {
      gint64 middle = begin + (end - begin) / 2;

      if (memory->links->sentence[middle] < sentence)
        begin = middle + 1;
      else
        end = middle;
    }
  return begin;
}

/* Sets *@begin and *@end to the rows of @memory that queries of sentence @sentence of target document @s read. */
static void
find_group (const PlaitMemory *memory, gint64 s, gint64 sentence, gint64 *begin, gint64 *end)
{
  gint64 last;

  *begin = memory->rows.offsets[s];
  *end = memory->rows.offsets[s + 1];
  if (!memory->links || !memory->links->sentence || *begin == *end)
    return;
  last = memory->links->sentence[*end - 1];
  sentence = MIN (sentence, last);
  *begin = find_sentence (memory, *begin, *end, sentence);
  /* If the source sentence has no rows, for example because it is a start token alone, queries read the next
   * sentence. */
  *end = find_sentence (memory, *begin, *end, memory->links->sentence[*begin] + 1);
}

/* Returns the rows of @memory that each query and head reads: one set for each query and head, or no set if there are
 * no rows to read. */
static PlaitSelectedRows
select_groups (PlaitCrossAttention *cross, guint memory)
{
  PlaitArena *arena = plait_tape_arena (plait_cross_tape (cross));
  const PlaitMemory *of = plait_cross_rows (cross, memory);
  PlaitRagged queries = plait_cross_queries (cross);
  const gint64 *sentences = plait_cross_sentences (cross);
  guint heads = plait_cross_heads (cross, NULL, memory);
  gint64 entries = plait_ragged_rows (queries) * heads, n = 0, n_sets = 0, begin, end;
  gint64 *sets = plait_arena_new_array (arena, gint64, entries + 1);
  gint64 *offsets = plait_arena_new_array (arena, gint64, entries + 1);
  gint64 *rows;

  for (gint64 s = 0; s < queries.n; s++)
    for (gint64 q = queries.offsets[s]; q < queries.offsets[s + 1]; q++)
      {
        find_group (of, s, sentences[q], &begin, &end);
        n += heads * (end - begin);
      }
  rows = plait_arena_new_array (arena, gint64, n + 1);
  n = 0;
  sets[0] = offsets[0] = 0;
  for (gint64 s = 0; s < queries.n; s++)
    for (gint64 q = queries.offsets[s]; q < queries.offsets[s + 1]; q++)
      {
        find_group (of, s, sentences[q], &begin, &end);
        for (guint h = 0; h < heads; h++)
          {
            for (gint64 row = begin; row < end; row++)
              rows[n++] = row;
            if (begin < end)
              offsets[++n_sets] = n;
            sets[q * heads + h + 1] = n_sets;
          }
      }
  return (PlaitSelectedRows){ heads, { entries, sets }, { n_sets, offsets }, rows };
}

static PlaitResidualStream
combine (PlaitCrossAttention *cross, gconstpointer data, gconstpointer state_data, PlaitResidualStream x)
{
  const State *state = state_data;
  PlaitTape *tape = plait_cross_tape (cross);

  for (guint i = 0; i < plait_cross_n_memories (cross); i++)
    {
      PlaitResidualStream query = plait_cross_normalise (cross, i, x);
      PlaitSelectedRows groups = select_groups (cross, i);
      PlaitNode *weights = plait_cross_sparse_weights (cross, NULL, i, query, &groups);
      PlaitContext context = plait_cross_sparse_context (cross, NULL, i, &groups, weights);

      if (state->gates)
        context.value = plait_gated_sum_apply (tape, &state->gates[i], context.value,
                                               plait_cross_attend_named (cross, GLOBAL, i, query).value);
      x = plait_cross_residual (cross, i, x, context);
    }
  return x;
}

PLAIT_PLUGIN_DEFINE (.state_size = sizeof (State), .build = build, .combine = combine)
