/* SPDX-License-Identifier: MIT */
#include "decoders/decoder.h"

static const char *const transformers[] = {
  [PLAIT_DECODER_NORM_PRE]
  = "x = E[y] + positions;in each layer: x <- x + self_attention (normalise (x));x <- combiner (x), with residual (x, "
    "c) = x + c;x <- x + W_2 f (W_1 normalise (x) + b_1) + b_2;state = normalise (x) after the last layer",
  [PLAIT_DECODER_NORM_POST] = "x = E[y] + positions;in each layer: x <- normalise (x + self_attention (x));x <- "
                              "combiner (x), with normalise (x) = x and residual (x, c) = layer norm (x + c);x <- "
                              "normalise (x + W_2 f (W_1 x + b_1) + b_2);state = x after the last layer",
};

/* [query][readout]; recurrent.h has the equations of cells and readout. */
#define STEP(step)                                                                                                     \
  {                                                                                                                    \
    [PLAIT_DECODER_READOUT_DEEP] = step ";state = tanh (W [s, y, c] + b)", [PLAIT_DECODER_READOUT_ATTENTIONAL]         \
                                                                           = step ";state = tanh (W [s, c] + b)"       \
  }

static const char *const recurrent[][2] = {
  [PLAIT_DECODER_QUERY_PREVIOUS] = STEP ("c = combiner (s');s = cell (s', [y, c])"),
  [PLAIT_DECODER_QUERY_INTERMEDIATE] = STEP ("h = cell (s', y);c = combiner (h);s = second cell (h, c)"),
  [PLAIT_DECODER_QUERY_CURRENT] = STEP ("s = cell (s', y);c = combiner (s)"),
};

static const char *const predictions[] = {
  [PLAIT_PREDICT_SEQUENCE] = "p (word) = softmax (state V^T + b)",
  [PLAIT_PREDICT_CLASS]
  = "state = tanh ([row (memory_1), .., row (memory_n)] W + b);p (label) = softmax (state V^T + b)",
  [PLAIT_PREDICT_CHOICE] = ("state = tanh ([row (memory_1), .., row (memory_n)] W + b) of each sentence;p (sentence) = "
                            "softmax over those of a document (state v + b)"),
  [PLAIT_PREDICT_SPAN] = "p (beginning), p (end) = softmax over the rows of a document (h W + b)",
  [PLAIT_PREDICT_MASKED] = "state = norm (gelu (h W + b)) of each masked row;p (token) = softmax (state V^T + b)",
};

const char *
plait_decoder_equations (const PlaitDecoderSettings *settings)
{
  return settings->type == PLAIT_DECODER_TYPE_TRANSFORMER ? transformers[settings->norm]
                                                          : recurrent[settings->query][settings->readout];
}

const char *
plait_predict_equations (PlaitPredictKind kind)
{
  return predictions[kind];
}
