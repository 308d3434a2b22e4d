/* SPDX-License-Identifier: MIT */
#pragma once

#include "cross-attention/cross-attention.h"
#include "cross-attention/rows.h"
#include "decoders/decoder.h"
#include "interface/decoder.h"
#include "layers/attention.h"

/*
 * A running decoder plugin, for the files of this folder: what it declared, what search keeps for that between steps,
 * and the handle that the plugin receives.
 *
 * declare.c: calls during build; primitives.c: calls while running; steps.c: decoders with carried rows; kept.c: rows
 * that search keeps.
 */

#define PLAIT_DECODER_MAX_PRIMITIVES 1024

typedef enum
{
  PLAIT_PRIMITIVE_ATTEND,
  PLAIT_PRIMITIVE_CROSS,
  PLAIT_PRIMITIVE_CONVOLVE,
  PLAIT_PRIMITIVE_SCAN,
  PLAIT_PRIMITIVE_RECUR,
  PLAIT_PRIMITIVE_CARRIED,
} PlaitPrimitiveKind;

/* One declared function of interface/decoder.h; the kind says which fields are set. */
typedef struct
{
  PlaitPrimitiveKind kind;
  PlaitAttention attention;
  gboolean sentences; /* TRUE: self-attention is limited to the sentence of each row */
  PlaitCrossAttentionLayer cross;
  guint layer;             /* number of a cross-attention in attention records */
  PlaitLinear convolution; /* [size in, out] */
  gint64 size;             /* rows that a convolution reads */
  PlaitCell cell;
  gint64 width; /* width of rows that search keeps: of a convolution, the last size - 1 rows side by side */
} PlaitPrimitive;

struct PlaitDecoder
{
  PlaitDecoderComponents components;
  PlaitDecoderBuild build;
  PlaitInstance instance;
  PlaitPrimitive *primitives; /* [n_primitives] */
  guint n_primitives;
  guint n_cross;
  guint n_carried;
  guint n_attend;
  gboolean attends_sentences; /* TRUE if a self-attention is limited to sentences */
  gint32 start;               /* token read in place of a target's first start token */
};

/* The function of the plugin that runs. The bits of PLAIT_DECODING_IN (phase) are the phases in which a call is
 * allowed. */
typedef enum
{
  PLAIT_DECODING_BUILD,
  PLAIT_DECODING_BEGIN,
  PLAIT_DECODING_DECODE,
  PLAIT_DECODING_STEP, /* the step of plait_decoding_steps */
} PlaitDecodingPhase;

#define PLAIT_DECODING_IN(phase) (1u << (phase))
#define PLAIT_DECODING_IN_DECODE PLAIT_DECODING_IN (PLAIT_DECODING_DECODE)
#define PLAIT_DECODING_IN_STEP PLAIT_DECODING_IN (PLAIT_DECODING_STEP)
#define PLAIT_DECODING_IN_BEGIN PLAIT_DECODING_IN (PLAIT_DECODING_BEGIN)

/* Rows that search keeps from one step to the next, one for each hypothesis. They are copied, since each step clears
 * its tape. */
typedef struct
{
  PlaitTensor rows; /* [capacity, width] */
  gint64 n;         /* rows of the previous step; before the first step, one for each sentence */
} PlaitKeptRows;

/* The values that search keeps for one primitive. */
typedef struct
{
  PlaitAttentionCache cache;
  PlaitCrossAttentionSearch cross;
  PlaitKeptRows state; /* last rows of a convolution, state of a scan or a cell, or carried rows */
  PlaitKeptRows cell;  /* cell state of an LSTM */
} PlaitKept;

struct PlaitDecoderState
{
  const PlaitDecoder *decoder;
  PlaitEncoderOutputs encoded;
  PlaitKept *kept; /* [n_primitives] */
  guint8 *called;  /* [n_primitives]: what the first step called, and so each step must call */
  gint64 steps;    /* number of steps made */
  gint64 limit;

  /* Set if there is self-attention. The cache rows of each hypothesis of the previous step, so that reordering
   * hypotheses copies no keys. */
  gint64 *ancestry;      /* [hypotheses][steps] */
  gint64 *next_ancestry; /* [hypotheses][steps + 1]: buffer for the current step */
  gint64 used;           /* cache rows used */

  /* Set if a self-attention is limited to sentences: rows of the sentence that each hypothesis is in. */
  gint64 *length;      /* [hypotheses], of the previous step */
  gint64 *next_length; /* [hypotheses]: buffer for the current step */

  /* Set if the target has roles, or if a combiner asks what its queries are. */
  gint64 *sentence;      /* [hypotheses]: index of the sentence that each hypothesis of the previous step is in */
  gint64 *next_sentence; /* [hypotheses]: buffer for the current step */
};

/* The step that plait_decoding_steps runs in a whole target. */
typedef struct
{
  PlaitStepRows rows;
  PlaitStepRows next;
  gint64 number;
  PlaitCrossAttentionStep *cross; /* [n_primitives]: keys, and coverage from one step to the next */
} PlaitWholeStep;

struct PlaitDecoding
{
  PlaitDecoder *decoder;
  PlaitDecodingPhase phase;
  GError *fault; /* the first fault in build */

  /* Set while running. */
  PlaitTape *tape;
  const PlaitEncoderOutputs *encoded;
  PlaitCrossAttentionPass pass;    /* inputs of the combiner: whole targets, or the step of a search */
  PlaitRagged rows;                /* rows of each target; in search, one row a hypothesis */
  PlaitRagged sentence_rows;       /* rows of each sentence of all targets, if a self-attention is limited to them; in
                                      search, those of each hypothesis in sentence_ancestry */
  const gint64 *sentence_ancestry; /* cache rows of the sentence of each hypothesis; NULL outside a search */
  gint64 first_position;
  gboolean in_layer;             /* TRUE in the function of plait_decoding_layer */
  guint8 *called;                /* [n_primitives] in this pass; of carried rows: whether steps ran */
  PlaitNode **carried;           /* [n_primitives]: rows that the step reads, then those that it hands on */
  PlaitCrossAttentionKeys *keys; /* [n_primitives], of cross-attentions; NULL if the decoder has no carried rows */
  PlaitWholeStep *step;          /* the step of a whole target; NULL outside steps and in search */

  /* Set in search. */
  PlaitDecoderState *search;
  const gint64 *parents;
  PlaitRagged ancestry_rows; /* rows of each hypothesis in search->ancestry */
};

/* TRUE if the function @call may be called now: @phases has the bits of the allowed phases. If not, stores a fault
 * while the model is built, and fails the step while it runs. */
gboolean plait_decoding_expect_phase (PlaitDecoding *decoding, const char *call, guint phases);

/* Returns primitive @number of @kind, for a call in one of @phases. While the model is built, stores a fault and
 * returns NULL; while it runs, fails the step if there is no such primitive. @call: name of the function. */
const PlaitPrimitive *plait_decoding_primitive (PlaitDecoding *decoding, const char *call, guint phases,
                                                PlaitPrimitiveKind kind, guint number);

/* Like plait_decoding_primitive, and marks the primitive as called; fails the step if it was called before in this
 * pass. */
const PlaitPrimitive *plait_decoding_call (PlaitDecoding *decoding, const char *call, guint phases,
                                           PlaitPrimitiveKind kind, guint number);

/* Fails the step of a search or a target unless this pass called the primitives of @called [n_primitives]: rows that
 * are kept for a call must be those of the step before. */
void plait_decoding_expect_calls (PlaitDecoding *decoding, const guint8 *called);

/* Fails the step unless this pass called every declared cross-attention: dumps and outputs read them. */
void plait_decoding_expect_cross (PlaitDecoding *decoding);

/* Returns room for @capacity rows of @width. */
PlaitKeptRows plait_kept_rows (PlaitTape *tape, gint64 capacity, gint64 width);

/* Copies the rows of @node. */
void plait_kept_rows_store (PlaitKeptRows *kept, PlaitTape *tape, PlaitNode *node);

/* Returns rows @parents [n] of those stored last, on @tape. */
PlaitNode *plait_kept_rows_follow (const PlaitKeptRows *kept, PlaitTape *tape, const gint64 *parents, gint64 n);

/* Calls begin of the plugin for @n sentences; afterwards decoding->carried has the rows before the first step. */
void plait_decoding_begin (PlaitDecoding *decoding, gint64 n);
