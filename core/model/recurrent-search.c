/* SPDX-License-Identifier: MIT */
#include "model/coverage-search.h"
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
  PlaitTouched *touched;
  PlaitSiteKeys keys;
  PlaitRecurrentCarried first; /* a row a sentence, on the lasting tape */
  PlaitTensor *stored;         /* [layers][state, cell], then the readout */
  gint64 rows;                 /* of the step before */
  PlaitSearchCoverage coverage;
  gint64 steps;
} State;

static PlaitNode **
node_of (PlaitRecurrentCarried *carried, gint64 i, gint64 layers)
{
  if (i == 2 * layers)
    return &carried->readout;
  return i % 2 ? &carried->layers[i / 2].cell : &carried->layers[i / 2].state;
}

PlaitDecoderState *
plait_recurrent_start (const PlaitDecoder *decoder, PlaitTape *tape, const PlaitDecoderSources *sources,
                       gint64 hypotheses, gint64 steps)
{
  const PlaitRecurrent *r = (const PlaitRecurrent *)decoder;
  PlaitArena *arena = plait_tape_arena (tape);
  gint64 layers = r->settings->layers;
  State *state = plait_arena_take (arena, sizeof *state);

  *state
      = (State){ .state.decoder = decoder, .recurrent = r, .memories = sources->memories, .touched = sources->touched };
  state->keys = plait_site_project (&r->site, tape, sources->memories);
  state->first = plait_recurrent_begin (r, tape, sources, r->build.n_memories ? sources->memories[0].rows.n : 0);
  state->stored = plait_arena_new_array (arena, PlaitTensor, 2 * layers + 1);
  for (gint64 i = 0; i <= 2 * layers; i++)
    {
      gint64 width = i == 2 * layers ? r->settings->width : r->state_width;

      state->stored[i]
          = plait_tensor (plait_arena_new_array (arena, PlaitScalar, hypotheses * width), hypotheses, width);
    }
  state->coverage = plait_search_coverage (&r->site, tape, sources->memories, hypotheses);
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

PlaitNode *
plait_recurrent_step (PlaitDecoderState *base, PlaitTape *tape, PlaitRagged hypotheses, const gint32 *tokens,
                      const gint64 *parents, PlaitCapture *capture)
{
  State *state = (State *)base;
  const PlaitRecurrent *r = state->recurrent;
  gint64 n = plait_ragged_rows (hypotheses), layers = r->settings->layers;
  PlaitSitePass pass = plait_site_pass (tape, state->memories, r->build.n_memories, hypotheses, capture);
  PlaitSiteKeys keys = plait_site_keys_on (&r->site, &state->keys, tape);
  PlaitNode *embedded = plait_recurrent_embed (r, tape, tokens, base->roles, n), *out;
  PlaitRecurrentCarried carried = continued (state, tape, hypotheses, parents);
  PlaitRecurrentStep made;

  pass.touched = state->touched;
  carried.coverage = plait_search_coverage_continue (&state->coverage, tape, hypotheses, parents);
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
  plait_search_coverage_keep (&state->coverage, tape, hypotheses, carried.coverage);
  state->rows = n;
  state->steps++;
  return out;
}
