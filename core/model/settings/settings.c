/* SPDX-License-Identifier: MIT */
#include "settings/settings.h"

#include <math.h>

#include "layers/encoder-stack.h"

const PlaitPrediction plait_predictions[] = {
  [PLAIT_PREDICT_SEQUENCE] = { PLAIT_TARGET_TEXT, NULL, FALSE },
  [PLAIT_PREDICT_CLASS] = { PLAIT_TARGET_LABELS, "accuracy;macro-f1", FALSE },
  [PLAIT_PREDICT_TAGS] = { PLAIT_TARGET_TAGS, "accuracy:words", TRUE },
  [PLAIT_PREDICT_CHOICE] = { PLAIT_TARGET_CHOICE, "accuracy", TRUE },
  [PLAIT_PREDICT_SPAN] = { PLAIT_TARGET_SPAN, "accuracy;span-f1", TRUE },
  [PLAIT_PREDICT_MASKED] = { PLAIT_TARGET_TEXT, "accuracy:words", TRUE },
  [PLAIT_PREDICT_NUMBER] = { PLAIT_TARGET_NUMBER, "pearson;spearman;mse", FALSE },
};

static double
length_penalty (const PlaitDecodeSettings *settings, gint64 length)
{
  switch (settings->length_normalisation)
    {
    case PLAIT_DECODE_LENGTH_NORMALISATION_WU:
      return pow ((5.0 + (double)length) / 6.0, settings->alpha);
    case PLAIT_DECODE_LENGTH_NORMALISATION_AVERAGE:
      return pow ((double)MAX (length, 1), settings->alpha);
    default:
      return 1;
    }
}

double
plait_hypothesis_score (const PlaitDecodeSettings *settings, double log_probability, gint64 length)
{
  return log_probability / length_penalty (settings, length) + settings->word_reward * (double)length;
}

gint64
plait_decode_width (const PlaitDecodeSettings *settings)
{
  return settings->method == PLAIT_DECODE_METHOD_SAMPLE ? settings->n_best : settings->beam;
}
