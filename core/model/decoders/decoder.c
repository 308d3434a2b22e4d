/* SPDX-License-Identifier: MIT */
#include "decoders/decoder.h"
#include "cross-attention/rows.h"
#include "layers/embedding.h"

#include <string.h>

gint64
plait_decoder_memory_width (const PlaitDecoderSettings *settings, const gint64 *widths, guint n)
{
  if (settings->type == PLAIT_DECODER_TYPE_TRANSFORMER)
    return settings->width;
  if (settings->context_width > 0)
    return settings->context_width;
  for (guint i = 1; i < n; i++)
    if (widths[i] != widths[0])
      return settings->width;
  return widths[0];
}

PlaitDecoder *
plait_decoder_new (const PlaitDecoderBuild *build, GError **error)
{
  typedef PlaitDecoder *(*New) (const PlaitDecoderBuild *build, GError **error);
  static const New of_sequences[] = {
    [PLAIT_DECODER_TYPE_TRANSFORMER] = plait_transformer_decoder_new,
    [PLAIT_DECODER_TYPE_GRU] = plait_recurrent_decoder_new,
    [PLAIT_DECODER_TYPE_LSTM] = plait_recurrent_decoder_new,
  };
  static const New of_others[] = {
    [PLAIT_PREDICT_CLASS] = plait_classifier_new,
    [PLAIT_PREDICT_CHOICE] = plait_classifier_new,
    [PLAIT_PREDICT_SPAN] = plait_span_head_new,
    [PLAIT_PREDICT_MASKED] = plait_masked_lm_head_new,
  };
  static const gint32 starts[] = { PLAIT_TOKEN_BOS, PLAIT_TOKEN_EOS, PLAIT_TOKEN_PAD };
  gboolean sequence = build->predict->kind == PLAIT_PREDICT_SEQUENCE;
  PlaitDecoder *decoder
      = (sequence ? of_sequences[build->settings->type] : of_others[build->predict->kind]) (build, error);

  if (decoder)
    decoder->start = sequence ? starts[build->settings->start] : PLAIT_TOKEN_BOS;
  return decoder;
}

gboolean
plait_decoder_has_steps (const PlaitDecoder *decoder)
{
  return decoder->table->step != NULL;
}

gboolean
plait_decoder_check_length (const PlaitDecoder *decoder, gint64 length, GError **error)
{
  return !decoder->table->check_length || decoder->table->check_length (decoder, length, error);
}

/* Returns @tokens with the first token of each target replaced by the decoder's start token. */
static const gint32 *
with_start (const PlaitDecoder *decoder, PlaitTape *tape, PlaitRagged rows, const gint32 *tokens)
{
  gint64 n = plait_ragged_rows (rows);
  gint32 *read;

  if (decoder->start == PLAIT_TOKEN_BOS)
    return tokens;
  read = plait_arena_new_array (plait_tape_arena (tape), gint32, n + 1);
  memcpy (read, tokens, sizeof *read * (gsize)n);
  for (gint64 i = 0; i < rows.n; i++)
    read[rows.offsets[i]] = decoder->start;
  return read;
}

/* Returns the role of sentence @i of document @s. A target sentence beyond the end of its source has the last role;
 * without a source the role is 0. */
static gint32
role_of (const PlaitDocuments *documents, gint64 s, gint64 i)
{
  const gint64 *bounds = documents->sentences.offsets + s;

  return bounds[0] == bounds[1] ? 0 : documents->roles[MIN (bounds[0] + i, bounds[1] - 1)];
}

/* Returns the role of each row of whole targets. A start token begins the next sentence. */
static const gint32 *
roles_of_targets (const PlaitDocuments *documents, PlaitTape *tape, PlaitRagged rows, const gint32 *tokens)
{
  gint32 *roles = plait_arena_new_array (plait_tape_arena (tape), gint32, plait_ragged_rows (rows) + 1);

  for (gint64 s = 0; s < rows.n; s++)
    {
      gint64 sentence = -1;

      for (gint64 row = rows.offsets[s]; row < rows.offsets[s + 1]; row++)
        {
          if (row == rows.offsets[s] || tokens[row] == PLAIT_TOKEN_BOS)
            sentence++;
          roles[row] = role_of (documents, s, sentence);
        }
    }
  return roles;
}

/* Returns the role of each row of a step. A start token begins the next sentence of the hypothesis. */
static const gint32 *
roles_of_step (PlaitDecoderState *state, PlaitTape *tape, PlaitRagged hypotheses, const gint32 *tokens,
               const gint64 *parents)
{
  gint32 *roles = plait_arena_new_array (plait_tape_arena (tape), gint32, plait_ragged_rows (hypotheses) + 1);
  gint64 *swap = state->sentence;

  for (gint64 s = 0; s < hypotheses.n; s++)
    for (gint64 row = hypotheses.offsets[s]; row < hypotheses.offsets[s + 1]; row++)
      {
        state->next_sentence[row] = state->sentence[parents[row]] + (tokens[row] == PLAIT_TOKEN_BOS);
        roles[row] = role_of (state->encoded.documents, s, state->next_sentence[row]);
      }
  state->sentence = state->next_sentence;
  state->next_sentence = swap;
  return roles;
}

PlaitNode *
plait_decoder_embed (const PlaitDecoderBuild *build, PlaitTape *tape, const gint32 *tokens, const gint32 *roles,
                     gint64 n)
{
  PlaitNode *embedded = plait_embedding_apply (tape, build->embedding, tokens, n);

  return roles ? plait_add (tape, embedded, plait_embedding_apply (tape, build->roles, roles, n)) : embedded;
}

PlaitNode *
plait_decoder_forward (const PlaitDecoder *decoder, PlaitTape *tape, const PlaitEncoderOutputs *encoded,
                       PlaitRagged target_rows, const gint32 *target_inputs, PlaitAttentionRecord *record)
{
  PlaitEncoderOutputs with_roles = *encoded;

  /* Heads that predict no sequence do not read the target, which may be unknown. */
  if (!decoder->table->start)
    return decoder->table->forward (decoder, tape, encoded, target_rows, target_inputs, record);
  if (encoded->documents)
    with_roles.roles = roles_of_targets (encoded->documents, tape, target_rows, target_inputs);
  target_inputs = with_start (decoder, tape, target_rows, target_inputs);
  return decoder->table->forward (decoder, tape, &with_roles, target_rows, target_inputs, record);
}

PlaitDecoderState *
plait_decoder_start (const PlaitDecoder *decoder, PlaitTape *tape, const PlaitEncoderOutputs *encoded,
                     gint64 hypotheses, gint64 steps)
{
  PlaitDecoderState *state = decoder->table->start (decoder, tape, encoded, hypotheses, steps);

  state->decoder = decoder;
  state->encoded = *encoded;
  if (encoded->documents)
    {
      state->sentence = plait_arena_new_array (plait_tape_arena (tape), gint64, hypotheses);
      state->next_sentence = plait_arena_new_array (plait_tape_arena (tape), gint64, hypotheses);
      for (gint64 i = 0; i < hypotheses; i++)
        state->sentence[i] = -1;
    }
  return state;
}

PlaitNode *
plait_decoder_step (PlaitDecoderState *state, PlaitTape *tape, PlaitRagged hypotheses, const gint32 *tokens,
                    const gint64 *parents, PlaitAttentionRecord *record)
{
  PlaitNode *states;

  if (state->encoded.documents)
    state->encoded.roles = roles_of_step (state, tape, hypotheses, tokens, parents);
  if (!state->begun)
    tokens = with_start (state->decoder, tape,
                         plait_ragged_units (plait_tape_arena (tape), plait_ragged_rows (hypotheses)), tokens);
  states = state->decoder->table->step (state, tape, hypotheses, tokens, parents, record);
  state->begun = TRUE;
  return states;
}
