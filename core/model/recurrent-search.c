/* SPDX-License-Identifier: MIT */
#include "model/recurrent-step.h"
#include "tensor/elementwise.h"

#include <string.h>

/* Search with a recurrent decoder. What a step hands to the next stands in storage of its own, since a step's tape is
 * begun anew. */
typedef struct
{
  PlaitDecoderState state;
  const PlaitRecurrent *recurrent;
  const PlaitMemory *memories;
  PlaitScoredKeys keys;
  PlaitRecurrentCarried first; /* a row a sentence, on the lasting tape */
  PlaitTensor *stored;         /* [layers][state, cell], then the readout */
  gint64 rows;                 /* of the step before */
  PlaitRagged queries;         /* likewise */
  PlaitTensor *coverage;       /* [n_memories] */
  gint64 steps;
} State;

static PlaitNode **
node_of (PlaitRecurrentCarried *carried, gint64 i, gint64 layers)
{
  if (i == 2 * layers)
    return &carried->readout;
  return i % 2 ? &carried->layers[i / 2].cell : &carried->layers[i / 2].state;
}

/* Room for the coverage of all pairs, and for the offsets of the hypotheses. */
static void
start_coverage (State *state, PlaitArena *arena, gint64 hypotheses)
{
  const PlaitRecurrent *r = state->recurrent;
  gint64 n = state->memories[0].rows.n;

  state->queries = (PlaitRagged){ n, plait_arena_new_array (arena, gint64, n + 1) };
  state->coverage = plait_arena_new_array (arena, PlaitTensor, r->build.n_memories);
  for (guint m = 0; m < r->build.n_memories; m++)
    {
      gint64 width = r->site.covered[m].table ? r->site.covered[m].width : 0;
      gint64 pairs = n > 0 ? hypotheses / n * plait_ragged_rows (state->memories[m].rows) : 0;

      state->coverage[m] = plait_tensor (plait_arena_new_array (arena, PlaitScalar, pairs * width + 1), pairs, width);
    }
}

PlaitDecoderState *
plait_recurrent_start (const PlaitDecoder *decoder, PlaitTape *tape, const PlaitDecoderSources *sources,
                       gint64 hypotheses, gint64 steps)
{
  const PlaitRecurrent *r = (const PlaitRecurrent *)decoder;
  PlaitArena *arena = plait_tape_arena (tape);
  gint64 layers = r->settings->layers;
  State *state = plait_arena_take (arena, sizeof *state);

  *state = (State){ .state.table = decoder->table, .recurrent = r, .memories = sources->memories };
  state->keys = plait_recurrent_site_project (&r->site, tape, sources->memories);
  state->first = plait_recurrent_begin (r, tape, sources, r->build.n_memories ? sources->memories[0].rows.n : 0);
  state->stored = plait_arena_new_array (arena, PlaitTensor, 2 * layers + 1);
  for (gint64 i = 0; i <= 2 * layers; i++)
    {
      gint64 width = i == 2 * layers ? r->settings->width : r->state_width;

      state->stored[i]
          = plait_tensor (plait_arena_new_array (arena, PlaitScalar, hypotheses * width), hypotheses, width);
    }
  start_coverage (state, arena, hypotheses);
  return &state->state;
}

/* What the hypotheses continue, as leaves of @tape. */
static PlaitRecurrentCarried
continued (State *state, PlaitTape *tape, PlaitRagged hypotheses, const gint64 *parents)
{
  const PlaitRecurrent *r = state->recurrent;
  PlaitArena *arena = plait_tape_arena (tape);
  gint64 layers = r->settings->layers, n = plait_ragged_rows (hypotheses);
  PlaitRecurrentCarried before = { .layers = plait_arena_new_array (arena, PlaitCellState, layers) };
  gint64 *sentences;

  for (gint64 i = 0; i <= 2 * layers; i++)
    {
      PlaitNode *first = *node_of (&state->first, i, layers);
      PlaitTensor tensor = state->steps > 0 ? plait_tensor_rows (state->stored[i], 0, state->rows)
                           : first          ? first->value
                                            : (PlaitTensor){ 0 };

      *node_of (&before, i, layers) = first ? plait_leaf (tape, tensor, NULL) : NULL;
    }
  if (state->steps > 0)
    return plait_recurrent_carry (r, tape, &before, parents, n);
  sentences = plait_arena_new_array (arena, gint64, n + 1);
  for (gint64 s = 0; s < hypotheses.n; s++)
    for (gint64 row = hypotheses.offsets[s]; row < hypotheses.offsets[s + 1]; row++)
      sentences[row] = s;
  return plait_recurrent_carry (r, tape, &before, sentences, n);
}

static PlaitNode **
continued_coverage (const State *state, PlaitTape *tape, PlaitRagged hypotheses, const gint64 *parents)
{
  const PlaitRecurrent *r = state->recurrent;
  PlaitNode **before = plait_arena_new_array (plait_tape_arena (tape), PlaitNode *, r->build.n_memories);

  for (guint m = 0; m < r->build.n_memories && state->steps > 0; m++)
    {
      PlaitPairs pairs = plait_pairs (tape, state->queries, state->memories[m].rows);

      before[m] = plait_leaf (tape, plait_tensor_rows (state->coverage[m], 0, plait_pairs_number (&pairs)), NULL);
    }
  return plait_recurrent_carry_coverage (r, tape, state->memories, before, state->steps > 0 ? &state->queries : NULL,
                                         hypotheses, parents);
}

static void
store_coverage (State *state, PlaitTape *tape, PlaitRagged hypotheses, PlaitNode *const *coverage)
{
  for (guint m = 0; m < state->recurrent->build.n_memories; m++)
    if (coverage[m])
      plait_tensor_accumulate (plait_tape_pool (tape),
                               plait_tensor_rows (state->coverage[m], 0, coverage[m]->value.rows), 0, 1,
                               coverage[m]->value);
  memcpy ((gint64 *)state->queries.offsets, hypotheses.offsets, (gsize)(hypotheses.n + 1) * sizeof (gint64));
}

PlaitNode *
plait_recurrent_step (PlaitDecoderState *base, PlaitTape *tape, PlaitRagged hypotheses, const gint32 *tokens,
                      const gint64 *parents, PlaitCapture *capture)
{
  State *state = (State *)base;
  const PlaitRecurrent *r = state->recurrent;
  gint64 n = plait_ragged_rows (hypotheses), layers = r->settings->layers;
  PlaitSitePass pass = plait_site_pass (tape, state->memories, r->build.n_memories, hypotheses, capture);
  PlaitScoredKeys keys = plait_scored_keys_on (&state->keys, r->build.n_memories, tape);
  PlaitNode *embedded = plait_recurrent_embed (r, tape, tokens, n), *out;
  PlaitRecurrentCarried carried = continued (state, tape, hypotheses, parents);
  PlaitRecurrentStep made;

  carried.coverage = continued_coverage (state, tape, hypotheses, parents);
  made = plait_recurrent_advance (r, &pass, &keys, plait_recurrent_input (r, tape, embedded), &carried);

  out = plait_recurrent_read_out (r, tape, made.state, embedded, made.context);
  if (r->settings->input_feeding)
    carried.readout = out;
  for (gint64 i = 0; i <= 2 * layers; i++)
    {
      PlaitNode *node = *node_of (&carried, i, layers);

      if (node)
        plait_tensor_accumulate (plait_tape_pool (tape), plait_tensor_rows (state->stored[i], 0, n), 0, 1, node->value);
    }
  store_coverage (state, tape, hypotheses, carried.coverage);
  state->rows = n;
  state->steps++;
  return out;
}
