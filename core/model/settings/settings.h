/* SPDX-License-Identifier: MIT */
#pragma once

#include "documents/labels.h"
#include "layers/encoder-stack.h"
#include "layers/positions.h"
#include "layers/recurrent.h"
#include "schema/settings.h"

/*
 * The settings [decoder], [predict] and [decode]. The build generates their structs and tables from schemas/group,
 * where each setting has its summary and default.
 */

/* Values of the key kind in [predict]: what the model predicts. */
typedef enum
{
  PLAIT_PREDICT_SEQUENCE, /* tokens of the target, by the decoder, one after another */
  PLAIT_PREDICT_CLASS,    /* one label for each line */
  PLAIT_PREDICT_TAGS,     /* one label for each token of the first source */
  PLAIT_PREDICT_CHOICE,   /* the correct sentence of a document; the encoder reads each sentence separately */
  PLAIT_PREDICT_SPAN,     /* beginning and end of the answer in a document, or "no answer" */
  PLAIT_PREDICT_MASKED,   /* masked tokens of the source */
  PLAIT_PREDICT_NUMBER,   /* one number for each line */
} PlaitPredictKind;

/* Properties of a value of PlaitPredictKind. */
typedef struct
{
  PlaitTargetKind target;
  const char *metrics; /* default metrics, separated by ';'; NULL: the defaults of [evaluate] */
  gboolean of_source;  /* TRUE: predictions refer to tokens or sentences of the first source */
} PlaitPrediction;

extern const PlaitPrediction plait_predictions[]; /* the properties of each PlaitPredictKind */

/* Values of the key row in [predict]: the row of a memory that represents the whole sentence. */
typedef enum
{
  PLAIT_ROW_FIRST, /* the first row, which is a start token if there are start tokens */
  PLAIT_ROW_LAST,  /* the last row, which is the end token if data.append_end is set */
  PLAIT_ROW_MEAN,  /* the mean of all rows */
} PlaitMemoryRow;

#include "settings/decode-settings.h"
#include "settings/decoder-settings.h"
#include "settings/predict-settings.h"

/* Returns the score of a hypothesis with @length tokens, EOS included: log-probability / length penalty + word reward *
 * @length. */
double plait_hypothesis_score (const PlaitDecodeSettings *settings, double log_probability, gint64 length);

/* Returns the maximum number of hypotheses of a sentence that a search extends at once: the beam, or the number of
 * samples. */
gint64 plait_decode_width (const PlaitDecodeSettings *settings);
