/* SPDX-License-Identifier: MIT */
#pragma once

#include "interface/cross-attention.h"
#include "layers/linear.h"
#include "layers/positions.h"
#include "layers/recurrent.h"

/*
 * The decoder contract: embedded target tokens and the memories of all sources -> one state for each target row, from
 * which the output computes a word. Row t of a target depends on its rows 0 .. t only.
 *
 * A decoder is written once, in decode. The host calls decode with whole targets (training, forced decoding, dumps)
 * and, in search, with one new row for each hypothesis. Only the functions of this header relate rows of a target to
 * earlier rows; everything else in decode must work on each row by itself. In search the host keeps the data that these
 * functions need of earlier rows (keys and values, a state, the last rows) and follows the ancestry of hypotheses.
 *
 * A layer of a Transformer decoder with these functions:
 *
 *     x <- residual (x, attend (normalise (x)));  x <- cross (x);  x <- residual (x, feed_forward (normalise (x)))
 *
 * build must declare every function that decode uses, and receives a number for each declaration. A wrong call in build
 * is recorded, and the host reports it after build. A wrong call while running ends the step (plait_tape_fail).
 */
typedef struct PlaitDecoding PlaitDecoding;

/* Methods by which the cross-attentions of a decoder compute scores. */
typedef enum
{
  PLAIT_SCORES_HEADS,     /* attention=heads: scaled dot products of several heads; queries have the decoder's width */
  PLAIT_SCORES_RECURRENT, /* attention=score: one head, whose score function PlaitCrossSettings names */
} PlaitCrossScores;

/* The score function of PLAIT_SCORES_RECURRENT: query q, row h of a memory. */
typedef enum
{
  PLAIT_SCORE_ADDITIVE,       /* v . tanh (W q + U h + b) (Bahdanau et al. 2015) */
  PLAIT_SCORE_MULTIPLICATIVE, /* q W h (Luong et al. 2015, general) */
  PLAIT_SCORE_DOT,            /* q h */
} PlaitScoreFunction;

/* Settings that all decoders share, and the memories and summaries that a decoder reads. */
typedef struct
{
  gint64 width;             /* decoder.width, the width of embeddings and of the states that decode returns */
  guint heads;              /* value of decoder.heads */
  gboolean pre_norm;        /* TRUE if decoder.norm is pre */
  double dropout;           /* value of decoder.dropout */
  double attention_dropout; /* value of decoder.attention_dropout */
  gboolean attention_bias;  /* value of decoder.attention_bias */
  const PlaitMemorySpecification *memories; /* [n_memories] memories, all of the width that memory_width returned */
  guint n_memories;
  const PlaitMemorySpecification *summaries; /* [n_summaries] name and width of the summaries of encoders */
  guint n_summaries;
  PlaitParameters *parameters; /* registry in which to declare parameters; names begin with "decoder/" */
} PlaitDecoderBuild;

typedef struct
{
  gsize state_size; /* bytes of the decoder's state. The host allocates it, zeroed, and frees it without a callback;
                       allocate its arrays with plait_parameters_memory */

  /* Returns the width to which the memories, of @widths [n], are projected. NULL: decoder.width. */
  gint64 (*memory_width) (gconstpointer settings, gint64 width, const gint64 *widths, guint n);

  /* Declares parameters and everything that decode uses, and fills @state. Returns FALSE with PLAIT_ERROR_INPUT if the
   * settings contradict each other. */
  gboolean (*build) (PlaitDecoding *decoding, const PlaitDecoderBuild *build, gconstpointer settings, gpointer state,
                     GError **error);

  /* Sets the carried rows before the first step, one row for each sentence, with plait_decoding_carry. NULL: they are
   * zeros. */
  void (*begin) (PlaitDecoding *decoding, gconstpointer settings, gconstpointer state);

  /* Returns the states [rows, width] after the rows of @embedded [rows, width], the embeddings of the target tokens
   * without dropout. */
  PlaitNode *(*decode) (PlaitDecoding *decoding, gconstpointer settings, gconstpointer state, PlaitNode *embedded);

  /* Returns FALSE with PLAIT_ERROR_INPUT, naming the setting that limits the length, if a target of @rows rows is too
   * long. NULL: any length is allowed. */
  gboolean (*check_length) (gconstpointer settings, gconstpointer state, gint64 rows, GError **error);

  gpointer reserved[3];
} PlaitDecoderTable;

/* Functions that build calls. Each declares something, such as a self-attention, and returns the number under which
 * decode uses it. */

/* Settings of causal self-attention. */
typedef struct
{
  guint heads;                 /* number of heads, which must divide the width */
  double dropout;              /* dropout rate on the weights */
  gboolean biases;             /* TRUE: the four projections have biases */
  PlaitPositionKind positions; /* PLAIT_POSITIONS_ROTARY or PLAIT_POSITIONS_ALIBI; other kinds have no effect here */

  /* Number of rows that a row attends to, itself included; 0: itself and all rows before it. */
  gint64 window;

  /* TRUE: a row attends only to rows of its own sentence; start tokens begin the sentences of a target */
  gboolean sentences;
} PlaitCausalSettings;

/* Declares causal self-attention of rows of the decoder's width, with parameters below @name. */
PLAIT_API guint plait_decoding_declare_attend (PlaitDecoding *decoding, const char *name,
                                               const PlaitCausalSettings *settings);

/* Settings of a cross-attention. Settings of the score function are used with PLAIT_SCORES_RECURRENT only. */
typedef struct
{
  gint64 query_width; /* width of the queries; with PLAIT_SCORES_HEADS, decoder.width */
  PlaitScoreFunction score;
  gint64 attention_width; /* width of the tanh layer of additive scores; not used if projections are tied */
} PlaitCrossSettings;

/* Declares a cross-attention, which the combiner fills, with parameters below @name, such as "decoder/combiner/". Dumps
 * number the cross-attentions as layers, in the order of their declaration. */
PLAIT_API guint plait_decoding_declare_cross (PlaitDecoding *decoding, const char *name,
                                              const PlaitCrossSettings *settings);

/* Declares a causal convolution: the output of row t is a linear function, with bias, of the rows t - @size + 1 .. t
 * [in] side by side, zeros before the first row. Parameters below @name: weight [@size * @in, @out], bias. */
PLAIT_API guint plait_decoding_declare_convolve (PlaitDecoding *decoding, const char *name, gint64 in, gint64 out,
                                                 gint64 size);

/* Declares a linear recurrence of @width numbers. */
PLAIT_API guint plait_decoding_declare_scan (PlaitDecoding *decoding, gint64 width);

/* Declares a recurrence of @cell along the target. */
PLAIT_API guint plait_decoding_declare_recur (PlaitDecoding *decoding, const PlaitCell *cell);

/* Declares carried rows [targets or hypotheses, @width], which each step of plait_decoding_steps hands to the next. A
 * decoder that declares carried rows runs one step at a time. */
PLAIT_API guint plait_decoding_declare_carried (PlaitDecoding *decoding, gint64 width);

/* Functions that are called while the model runs. In a pass, call each cross-attention once, and each self-attention,
 * convolution and recurrence at most once. All steps of a search or of a target must call those that its first step
 * called, and no others. */

/* Returns the tape, for operators and layers. (transfer none) */
PLAIT_API PlaitTape *plait_decoding_tape (PlaitDecoding *decoding);

/* Returns the rows of each target. In search and in a PlaitDecodingStep, each hypothesis, or each target that is in the
 * step, counts as a target of one row. */
PLAIT_API PlaitRagged plait_decoding_rows (PlaitDecoding *decoding);

/* Returns the position in its target of the first row that plait_decoding_rows has for the target: 0; in search and in
 * a PlaitDecodingStep, the number of the step, from 0. */
PLAIT_API gint64 plait_decoding_first_position (PlaitDecoding *decoding);

/* Return memory @memory, and summary @summary [sentences, width] of an encoder. Call these functions in begin only,
 * because the rows of a summary belong to sentences and not to target rows. (transfer none) */
PLAIT_API const PlaitMemory *plait_decoding_memory (PlaitDecoding *decoding, guint memory);
PLAIT_API PlaitNode *plait_decoding_summary (PlaitDecoding *decoding, guint summary);

/* Returns the output projection [rows, width] of causal self-attention of @x [rows, width] (Vaswani et al. 2017,
 * section 3.2). The projection gets no dropout. */
PLAIT_API PlaitNode *plait_decoding_attend (PlaitDecoding *decoding, guint attend, PlaitNode *x);

/* Returns a node [rows, out]: the causal convolution of @x [rows, in]. */
PLAIT_API PlaitNode *plait_decoding_convolve (PlaitDecoding *decoding, guint convolve, PlaitNode *x);

/* Returns a node [rows, width]: h_t = a_t * h_(t-1) + b_t, element by element, with zeros before the first row. */
PLAIT_API PlaitNode *plait_decoding_scan (PlaitDecoding *decoding, guint scan, PlaitNode *a, PlaitNode *b);

/* Returns the states [rows, cell width] of the cell along each target, from a zero state. projected: plait_cell_project
 * of the inputs of all rows. */
PLAIT_API PlaitNode *plait_decoding_recur (PlaitDecoding *decoding, guint recur, PlaitNode *projected);

/* Runs the combiner on @query [rows, query width]. With PLAIT_SCORES_HEADS, the field query of the result is the
 * sublayer's output; with PLAIT_SCORES_RECURRENT, the field context [rows, memory width] is the sum of all contexts.
 * @gate: gate of the sentinel, or NULL. */
PLAIT_API PlaitResidualStream plait_decoding_cross (PlaitDecoding *decoding, guint cross, PlaitNode *query,
                                                    PlaitNode *gate);

/* Compute the gate of a combiner's sentinel (Libovicky & Helcl 2017) in two steps; NULL if the combiner has no
 * sentinel. plait_decoding_gate_input returns the term of the embeddings [rows, width], for all rows at once.
 * plait_decoding_gate returns the gate, computed from this term, @input, and from @state [rows, query width], such as
 * the previous state. */
PLAIT_API PlaitNode *plait_decoding_gate_input (PlaitDecoding *decoding, guint cross, PlaitNode *embedded);
PLAIT_API PlaitNode *plait_decoding_gate (PlaitDecoding *decoding, guint cross, PlaitNode *input, PlaitNode *state);

/* Computes layer @index of a decoder: returns its output for the rows @x. plait_decoding_layer calls the function. In
 * training with train.recompute, the host may drop the values of the layer and call the function again in the backward
 * pass. */
typedef PlaitNode *(*PlaitDecodingLayer) (PlaitDecoding *decoding, gconstpointer settings, gconstpointer state,
                                          guint index, PlaitNode *x);
PLAIT_API PlaitNode *plait_decoding_layer (PlaitDecoding *decoding, PlaitDecodingLayer layer, guint index,
                                           PlaitNode *x);

/* One step of a decoder with carried rows: reads the rows of this step of all @inputs, and the carried rows, and fills
 * @outputs, each with one row for each target or hypothesis that is in the step. */
typedef void (*PlaitDecodingStep) (PlaitDecoding *decoding, gconstpointer settings, gconstpointer state,
                                   PlaitNode *const *inputs, PlaitNode **outputs);

/* Runs @step for row 0, row 1, ... of all targets; in search, once. @inputs [n_inputs]: nodes [rows, any width]; some
 * may be NULL. @outputs [n_outputs] receives the outputs of all steps, [rows, their width]. */
PLAIT_API void plait_decoding_steps (PlaitDecoding *decoding, PlaitDecodingStep step, PlaitNode *const *inputs,
                                     guint n_inputs, PlaitNode **outputs, guint n_outputs);

/* Returns the carried rows with number @carried, which the previous step set with plait_decoding_carry; in the first
 * step, the rows that the function begin set, or zeros. */
PLAIT_API PlaitNode *plait_decoding_carried (PlaitDecoding *decoding, guint carried);

/* Hands @rows [rows of this step, width] to the next step. In begin(), hands @rows [sentences, width] to the first
 * step. */
PLAIT_API void plait_decoding_carry (PlaitDecoding *decoding, guint carried, PlaitNode *rows);
