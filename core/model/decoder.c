/* SPDX-License-Identifier: MIT */
#include "model/decoder.h"

gint64
plait_decoder_memory_width (const PlaitDecoderSettings *settings, const gint64 *widths, guint n)
{
  if (settings->type == PLAIT_DECODER_TRANSFORMER)
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
  switch (build->settings->type)
    {
    case PLAIT_DECODER_TRANSFORMER:
      return plait_transformer_decoder_new (build, error);
    case PLAIT_DECODER_GRU:
    case PLAIT_DECODER_LSTM:
      return plait_recurrent_decoder_new (build, error);
    }
  g_assert_not_reached ();
}

void
plait_decoder_free (PlaitDecoder *decoder)
{
  if (decoder)
    decoder->table->free (decoder);
}

guint
plait_decoder_n_layers (const PlaitDecoder *decoder)
{
  return decoder->n_layers;
}

gboolean
plait_decoder_check_length (const PlaitDecoder *decoder, gint64 length, GError **error)
{
  return decoder->table->check_length (decoder, length, error);
}

PlaitNode *
plait_decoder_forward (const PlaitDecoder *decoder, PlaitTape *tape, const PlaitDecoderSources *sources,
                       PlaitRagged target_rows, const gint32 *target_inputs, PlaitCapture *capture)
{
  return decoder->table->forward (decoder, tape, sources, target_rows, target_inputs, capture);
}

PlaitDecoderState *
plait_decoder_start (const PlaitDecoder *decoder, PlaitTape *tape, const PlaitDecoderSources *sources,
                     gint64 hypotheses, gint64 steps)
{
  return decoder->table->start (decoder, tape, sources, hypotheses, steps);
}

PlaitNode *
plait_decoder_step (PlaitDecoderState *state, PlaitTape *tape, PlaitRagged hypotheses, const gint32 *tokens,
                    const gint64 *parents, PlaitCapture *capture)
{
  return state->table->step (state, tape, hypotheses, tokens, parents, capture);
}
