/* SPDX-License-Identifier: MIT */
#include "decoders/head.h"

static const char *const predictions[] = {
  [PLAIT_PREDICT_SEQUENCE] = "p (word) = softmax (state V^T + b)",
  [PLAIT_PREDICT_CLASS]
  = "state = tanh ([row (memory_1), .., row (memory_n)] W + b);p (label) = softmax (state V^T + b)",
  [PLAIT_PREDICT_TAGS] = "state = tanh ([h, row (memory_2), .., row (memory_n)] W + b) of each token of the first "
                         "source;p (tag) = softmax (state V^T + b)",
  [PLAIT_PREDICT_CHOICE] = ("state = tanh ([row (memory_1), .., row (memory_n)] W + b) of each sentence;p (sentence) = "
                            "softmax over the sentences of a document (state v)"),
  [PLAIT_PREDICT_SPAN] = "p (beginning), p (end) = softmax over the rows of a document ([h, row (memory_2), ..] W + b)",
  [PLAIT_PREDICT_MASKED]
  = "state = norm (gelu ([h, row (memory_2), ..] W + b)) of each masked row;p (token) = softmax (state V^T + b)",
  [PLAIT_PREDICT_NUMBER] = "state = tanh ([row (memory_1), .., row (memory_n)] W + b);number = state v + b",
};

const char *
plait_predict_equations (PlaitPredictKind kind)
{
  return predictions[kind];
}

PlaitHead *
plait_head_new (const PlaitDecoderComponents *components, GError **error)
{
  typedef PlaitHead *(*New) (const PlaitDecoderComponents *components, GError **error);
  static const New heads[] = {
    [PLAIT_PREDICT_CLASS] = plait_classifier_new,      [PLAIT_PREDICT_TAGS] = plait_tag_head_new,
    [PLAIT_PREDICT_CHOICE] = plait_classifier_new,     [PLAIT_PREDICT_SPAN] = plait_span_head_new,
    [PLAIT_PREDICT_MASKED] = plait_masked_lm_head_new, [PLAIT_PREDICT_NUMBER] = plait_classifier_new,
  };

  return heads[components->predict->kind](components, error);
}
