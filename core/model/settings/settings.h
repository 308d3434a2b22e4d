/* SPDX-License-Identifier: MIT */
#pragma once

#include "documents/labels.h"
#include "layers/recurrent.h"
#include "schema/settings.h"

/* [decoder]: the decoder and what it shares with the sources. */

typedef enum
{
  PLAIT_DECODER_TRANSFORMER,
  PLAIT_DECODER_GRU,
  PLAIT_DECODER_LSTM,
} PlaitDecoderType;

/* Which state of a recurrent decoder asks. */
typedef enum
{
  PLAIT_QUERY_PREVIOUS,     /* d_(j-1); then d_j = cell (d_(j-1), [y; c]) (Chen et al. 2017, eq. 4 and 7) */
  PLAIT_QUERY_INTERMEDIATE, /* a first cell's state; a second cell reads the context (dl4mt's conditional GRU) */
  PLAIT_QUERY_CURRENT,      /* d_j (Luong et al. 2015) */
} PlaitQueryState;

typedef enum
{
  PLAIT_SCORE_ADDITIVE,       /* v . tanh (W q + U h + b) (Bahdanau et al. 2015) */
  PLAIT_SCORE_MULTIPLICATIVE, /* q W h, Luong's general */
  PLAIT_SCORE_DOT,            /* q h */
} PlaitAttentionScore;

typedef enum
{
  PLAIT_READOUT_DEEP,        /* tanh (W [state; embedding; context] + b) */
  PLAIT_READOUT_ATTENTIONAL, /* tanh (W [state; context] + b) (Luong et al. 2015, eq. 5) */
} PlaitReadout;

typedef enum
{
  PLAIT_INITIAL_MEAN,    /* tanh (W mean of the memory + b), summed over the memories inside the tanh */
  PLAIT_INITIAL_SUMMARY, /* tanh (W summary + b), the same of the encoders' summaries */
  PLAIT_INITIAL_ZERO,
} PlaitInitialState;

/* What coverage counts where attention has several heads. */
typedef enum
{
  PLAIT_COVERAGE_HEADS_MEAN, /* one state, of the mean of what they pay */
  PLAIT_COVERAGE_HEADS_EACH, /* a state a head */
} PlaitCoverageHeads;

/* What vectors the roles of a target's sentences have. */
typedef enum
{
  PLAIT_TARGET_ROLES_NONE,
  PLAIT_TARGET_ROLES_OWN,
  PLAIT_TARGET_ROLES_SHARED, /* with the source that tells them */
} PlaitTargetRoles;

/* What a decoder reads first. */
typedef enum
{
  PLAIT_START_BOS,
  PLAIT_START_EOS,
  PLAIT_START_PAD,
} PlaitStartToken;

typedef enum
{
  PLAIT_NORM_PRE,
  PLAIT_NORM_POST,
} PlaitNormPlace;

typedef struct
{
  gint type; /* PlaitDecoderType */
  gint64 layers;
  gint64 width;
  gint64 heads;
  gint64 feed_forward;
  gint activation; /* place in PLAIT_FEED_FORWARD_ACTIVATIONS */
  gint norm;       /* PlaitNormPlace */
  double norm_epsilon;
  double dropout;
  double attention_dropout;
  double feed_forward_dropout;
  gboolean attention_bias;
  gint positions; /* PlaitPositionKind */
  gint64 position_limit;
  gboolean embedding_norm;
  gint start; /* PlaitStartToken */
  gint roles; /* PlaitTargetRoles */
  gboolean scale_embeddings;
  gboolean share_embeddings;
  gboolean tie_output;
  gboolean output_bias;
  const char *combiner;
  const char *coverage; /* none, or a plugin */
  gint coverage_heads;  /* PlaitCoverageHeads */
  /* Of recurrent decoders. */
  gint64 state_width;     /* PLAIT_DECODER_WIDTH: width */
  gint64 context_width;   /* 0: the memories', if they have one width; else width */
  gint reset;             /* PlaitResetPlace */
  gint query;             /* PlaitQueryState */
  gint attention;         /* PlaitAttentionScore */
  gint64 attention_width; /* 0: the state's */
  gboolean input_feeding;
  gint readout; /* PlaitReadout */
  gint initial; /* PlaitInitialState */
} PlaitDecoderSettings;

extern const PlaitSettingGroup plait_decoder_group;

/* [predict]: what is predicted from what the sources say. */

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

/* What a label of validation and test sets is that training lacks. */
typedef enum
{
  PLAIT_UNKNOWN_LABELS_ERROR,
  PLAIT_UNKNOWN_LABELS_WRONG, /* whatever is told of its line is wrong; it has no probability */
} PlaitUnknownLabels;

/* Which row of a memory stands for the whole of it. */
typedef enum
{
  PLAIT_ROW_FIRST, /* with start tokens, that of the first */
  PLAIT_ROW_LAST,  /* with data.append_end, that of the end */
  PLAIT_ROW_MEAN,  /* of all rows */
} PlaitMemoryRow;

typedef struct
{
  gint kind;            /* PlaitPredictKind */
  gint unknown_labels;  /* PlaitUnknownLabels */
  gint row;             /* PlaitMemoryRow */
  const char *memories; /* a list; empty: all */
  gint64 longest_answer;
  double mask_rate;
  double mask_share;
  double random_share;
} PlaitPredictSettings;

extern const PlaitSettingGroup plait_predict_group;

/* [decode]: search. */

typedef enum
{
  PLAIT_NORMALISE_WU,      /* ((5 + length) / 6)^alpha (Wu et al. 2016, eq. 14) */
  PLAIT_NORMALISE_AVERAGE, /* length^alpha */
  PLAIT_NORMALISE_NONE,
} PlaitLengthNormalisation;

typedef enum
{
  PLAIT_RANK_PARTIAL, /* every step ranks by the normalised score */
  PLAIT_RANK_FINAL,   /* steps rank by log-probability, the normalised score only what the search ends with */
} PlaitRanking;

typedef enum
{
  PLAIT_FINISHED_COMPETE, /* stay in the beam while nothing of a higher rank pushes them out */
  PLAIT_FINISHED_SHRINK,  /* are set aside, and the beam has a place less */
  PLAIT_FINISHED_REFILL,  /* are set aside, and the beam stays as wide */
} PlaitFinished;

typedef enum
{
  PLAIT_LIMIT_CUT, /* ends a hypothesis as it stands */
  PLAIT_LIMIT_END, /* leaves the end alone to the last token, at its probability (fairseq) */
} PlaitLimit;

typedef struct
{
  gint64 beam;
  gint64 n_best;
  gint length_normalisation; /* PlaitLengthNormalisation */
  double alpha;
  double word_reward;      /* a token */
  gint ranking;            /* PlaitRanking */
  gint finished;           /* PlaitFinished */
  gint64 no_repeat_ngrams; /* 0: no such rule */
  gint64 minimum_length;
  gint64 maximum_length;
  double maximum_ratio;
  gint64 maximum_offset;
  gint at_limit; /* PlaitLimit */
  gint64 batch;
  gint precision; /* PlaitPrecision */
} PlaitDecodeSettings;

extern const PlaitSettingGroup plait_decode_group;

/* The score of a hypothesis of @length tokens, of which EOS is one: its log-probability over the length penalty, and a
 * reward for each token. */
double plait_hypothesis_score (const PlaitDecodeSettings *settings, double log_probability, gint64 length);
