/* SPDX-License-Identifier: MIT */
#pragma once

#include "documents/labels.h"
#include "layers/encoder-stack.h"
#include "layers/positions.h"
#include "layers/recurrent.h"
#include "schema/settings.h"

/*
 * [decoder], [predict] and [decode]. The build makes their structs and tables from schemas/group, where each setting
 * has its summary and default.
 */

/* How a recurrent decoder scores the rows of a memory. */
typedef enum
{
  PLAIT_SCORE_ADDITIVE,       /* v . tanh (W q + U h + b) (Bahdanau et al. 2015) */
  PLAIT_SCORE_MULTIPLICATIVE, /* q W h, Luong's general */
  PLAIT_SCORE_DOT,            /* q h */
} PlaitScoreFunction;

/* What is predicted from what the sources say. */
typedef enum
{
  PLAIT_PREDICT_SEQUENCE, /* the target's tokens one after the other, by the decoder */
  PLAIT_PREDICT_CLASS,    /* one label a line */
  PLAIT_PREDICT_CHOICE,   /* which sentence of a document is right, each read by itself */
  PLAIT_PREDICT_SPAN,     /* where in a document the answer begins and ends, or that it has none */
  PLAIT_PREDICT_MASKED,   /* tokens of the source that are masked there */
} PlaitPredictKind;

/* What else follows from the kind. */
typedef struct
{
  PlaitTargetKind target;
  const char *metrics; /* a list, unless [evaluate] names others; NULL: those that it has by default */
  gboolean of_source;  /* what is predicted is a part of the one source */
} PlaitPrediction;

extern const PlaitPrediction plait_predictions[]; /* [PlaitPredictKind] */

/* Which row of a memory stands for the whole of it. */
typedef enum
{
  PLAIT_ROW_FIRST, /* with start tokens, that of the first */
  PLAIT_ROW_LAST,  /* with data.append_end, that of the end */
  PLAIT_ROW_MEAN,  /* of all rows */
} PlaitMemoryRow;

#include "settings/decode-settings.h"
#include "settings/decoder-settings.h"
#include "settings/predict-settings.h"

/* The score of a hypothesis of @length tokens, of which EOS is one: its log-probability over the length penalty, and a
 * reward for each token. */
double plait_hypothesis_score (const PlaitDecodeSettings *settings, double log_probability, gint64 length);
