/* SPDX-License-Identifier: MIT */
#pragma once

#include "cross-attention/cross-attention.h"
#include "cross-attention/rows.h"
#include "decoders/decoder.h"
#include "interface/decoder.h"
#include "layers/attention.h"

/*
 * A running decoder plugin, for the files of this folder: its declared primitives, the rows that search keeps for them
 * between steps, and the handle that the plugin receives.
 *
 * declare.c: calls in build; primitives.c: calls while running; steps.c: decoders with carried rows; kept.c: rows that
 * search keeps.
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

/* A primitive that the decoder declared (interface/decoder.h). @kind determines which fields are set. */
typedef struct
{
  PlaitPrimitiveKind kind;
  PlaitAttention attention;
  gboolean sentences; /* TRUE: a row of self-attention sees only rows of its sentence */
  PlaitCrossAttentionLayer cross;
  guint layer;             /* number of the cross-attention, from 0; also its layer in attention records */
  PlaitLinear convolution; /* [size * in, out] */
  gint64 size;             /* number of rows that a convolution reads for each output row */
  PlaitCell cell;
  gint64 width; /* width of the rows that search keeps; for a convolution, one row holds the last size - 1 input rows
                   side by side */
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
  gint32 start;               /* token that the decoder reads instead of a target's first start token */
};

/* Phase: the function of the plugin that runs. PLAIT_DECODING_IN (phase) is the bit of a phase; several such bits name
 * the phases in which a call is allowed. */
typedef enum
{
  PLAIT_DECODING_BUILD,
  PLAIT_DECODING_BEGIN,
  PLAIT_DECODING_DECODE,
  PLAIT_DECODING_STEP, /* the step function given to plait_decoding_steps */
} PlaitDecodingPhase;

#define PLAIT_DECODING_IN(phase) (1u << (phase))
#define PLAIT_DECODING_IN_DECODE PLAIT_DECODING_IN (PLAIT_DECODING_DECODE)
#define PLAIT_DECODING_IN_STEP PLAIT_DECODING_IN (PLAIT_DECODING_STEP)
#define PLAIT_DECODING_IN_BEGIN PLAIT_DECODING_IN (PLAIT_DECODING_BEGIN)

/* Rows that search keeps from one step to the next, one for each hypothesis. They are copied, because each step clears
 * its tape. */
typedef struct
{
  PlaitTensor rows; /* [capacity, width] */
  gint64 n;         /* number of rows: one for each hypothesis of the previous step; before the first step, one for each
                       sentence */
} PlaitKeptRows;

/* The values that search keeps for one primitive. */
typedef struct
{
  PlaitAttentionCache cache;
  PlaitCrossAttentionSearch cross;
  PlaitKeptRows state; /* last rows of a convolution, state of a scan or of a cell, or carried rows */
  PlaitKeptRows cell;  /* cell state of an LSTM */
} PlaitKept;

struct PlaitDecoderState
{
  const PlaitDecoder *decoder;
  PlaitEncoderOutputs encoded;
  PlaitKept *kept; /* [n_primitives] */
  guint8 *called;  /* [n_primitives]: TRUE if the first step called the primitive; every step must call the same ones */
  gint64 steps;    /* number of steps made */
  gint64 limit;

  /* Set if there is self-attention. For each hypothesis of the previous step, the cache rows of its tokens. Reordering
   * hypotheses reorders these numbers and copies no keys. */
  gint64 *ancestry;      /* [hypotheses][steps] */
  gint64 *next_ancestry; /* [hypotheses][steps + 1]: buffer for @ancestry after the current step */
  gint64 used;           /* number of cache rows in use */

  /* Set if a self-attention is limited to sentences: number of rows in each hypothesis's current sentence. */
  gint64 *length;      /* [hypotheses] of the previous step */
  gint64 *next_length; /* [hypotheses] of the current step: buffer */

  /* Set if the target has roles, or if a combiner reads positions, sentences or tokens of its queries. */
  gint64 *sentence;      /* [hypotheses] of the previous step: index of the sentence that each is in */
  gint64 *next_sentence; /* [hypotheses] of the current step: buffer */
};

/* A step that plait_decoding_steps makes over whole targets. */
typedef struct
{
  PlaitStepRows rows;
  PlaitStepRows next;
  gint64 number;
  PlaitCrossAttentionStep *cross; /* [n_primitives]: keys of each cross-attention, and its coverage states from the
                                     previous step */
} PlaitWholeStep;

struct PlaitDecoding
{
  PlaitDecoder *decoder;
  PlaitDecodingPhase phase;
  GError *fault; /* first fault in build, or NULL */

  /* Set while running. */
  PlaitTape *tape;
  const PlaitEncoderOutputs *encoded;
  PlaitCrossAttentionPass pass; /* inputs of the combiner, for whole targets or for a step of a search */
  PlaitRagged rows; /* rows of each target; in search, one row for each hypothesis; in a step over whole targets, one
                       row for each target that the step reaches */
  PlaitRagged sentence_rows;       /* offsets of the sentences of all targets; in search, offsets of the hypotheses in
                                      sentence_ancestry; set if a self-attention is limited to sentences */
  const gint64 *sentence_ancestry; /* cache rows of the current sentence of each hypothesis, in a search with
                                      self-attention that is limited to sentences; else NULL */
  gint64 first_position;
  gboolean in_layer; /* TRUE while the function given to plait_decoding_layer runs */
  guint8 *called; /* [n_primitives]: TRUE if this pass called the primitive; for carried rows: TRUE if this pass called
                     plait_decoding_steps */
  PlaitNode **carried; /* [n_primitives]: carried rows of the previous step; plait_decoding_carry replaces them by the
                          rows for the next step */
  PlaitCrossAttentionKeys *keys; /* [n_primitives]: keys of each cross-attention; NULL in search, and if the decoder has
                                    no carried rows */
  PlaitWholeStep *step;          /* the current step of a loop over whole targets; NULL outside steps and in search */

  /* Set in search. */
  PlaitDecoderState *search;
  const gint64 *parents;
  PlaitRagged ancestry_rows; /* rows of each hypothesis in search->ancestry */
};

/* TRUE if the plugin may call the function @call now: @phases has the bits of the phases in which it is allowed.
 * Otherwise stores a fault while the model is built, and fails the step while it runs. */
gboolean plait_decoding_expect_phase (PlaitDecoding *decoding, const char *call, guint phases);

/* Returns primitive @number, counted over all kinds. Fails the step if it is missing or not of @kind, or if the phase
 * is not in @phases. While the model is built, stores a fault and returns NULL. @call: name of the function that the
 * plugin called. */
const PlaitPrimitive *plait_decoding_primitive (PlaitDecoding *decoding, const char *call, guint phases,
                                                PlaitPrimitiveKind kind, guint number);

/* Like plait_decoding_primitive, and marks the primitive as called. Fails the step if this pass called it before. */
const PlaitPrimitive *plait_decoding_call (PlaitDecoding *decoding, const char *call, guint phases,
                                           PlaitPrimitiveKind kind, guint number);

/* Fails the step unless this pass called exactly the primitives for which @called [n_primitives] is TRUE. Each step
 * needs the rows that these primitives computed in the previous step. */
void plait_decoding_expect_calls (PlaitDecoding *decoding, const guint8 *called);

/* Fails the step if this pass has rows and did not call every declared cross-attention. Dumps read all
 * cross-attentions, and an output can read the last one. */
void plait_decoding_expect_cross (PlaitDecoding *decoding);

/* Returns space for at most @capacity rows of width @width, in the arena of @tape. It has no rows yet. */
PlaitKeptRows plait_kept_rows (PlaitTape *tape, gint64 capacity, gint64 width);

/* Copies the rows of @node to @kept, in place of the rows of the previous step. */
void plait_kept_rows_store (PlaitKeptRows *kept, PlaitTape *tape, PlaitNode *node);

/* Returns rows parents[i] of @kept, for i = 0 .. @n - 1, as a node on @tape. */
PlaitNode *plait_kept_rows_follow (const PlaitKeptRows *kept, PlaitTape *tape, const gint64 *parents, gint64 n);

/* Sets decoding->carried to the rows that the first step receives for @n sentences. The plugin's begin computes these
 * rows; rows that begin does not carry are 0. */
void plait_decoding_begin (PlaitDecoding *decoding, gint64 n);
