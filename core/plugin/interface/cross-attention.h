/* SPDX-License-Identifier: MIT */
#pragma once

#include "layers/parameter.h"
#include "interface/loss.h"
#include "interface/memory.h"
#include "attention/sparse.h"
#include "attention/query-key-pairs.h"

/*
 * A cross-attention: the place in a decoder where the memories of all sources are read. Every decoder offers it, so a
 * combiner is written once. The host handles caches of keys and values, ancestry of hypotheses, recording of weights,
 * dropout and threads. The four strategies of Libovicky et al. 2018 with the functions of this header:
 *
 *     serial         for each memory i:  x <- residual (x, attend_i (normalise (x)))
 *     parallel       q <- normalise (x);  x <- residual (x, sum_i attend_i (q))
 *     flat           x <- residual (x, attend_jointly (normalise (x)))
 *     hierarchical   q <- normalise (x);  x <- residual (x, attend_contexts (q, [attend_i (q)]))
 *
 * Everything that is used while running must be declared in build. A wrong call in build (such as a memory that does
 * not exist) is recorded, and the host reports it after build. A wrong call while running ends the step
 * (plait_tape_fail).
 */
typedef struct PlaitCrossAttention PlaitCrossAttention;

/* The values that flow through a cross-attention. In a Transformer decoder, @query is the layer's states [query rows,
 * width] and @context is NULL. In a recurrent decoder, @context is NULL until the first plait_cross_residual. */
typedef struct
{
  PlaitNode *query; /* [query rows, query width] queries */
  PlaitNode *context;
} PlaitResidualStream;

/* The result of attention: [query rows, width], after output dropout. A row whose sentence has nothing to read is zero,
 * and its byte in @present is 0. @present: one byte for each query row, or NULL if every query row has something to
 * read. */
typedef struct
{
  PlaitNode *value;
  const guint8 *present;
  PlaitNode *weights; /* [pairs, heads] attention weights before dropout; NULL unless the attention reads one memory and
                         PlaitAttendSettings.weights was TRUE */
} PlaitContext;

/* The projections of keys and values in joint attention and in attention over contexts. */
typedef enum
{
  /* One projection for all memories or contexts; a recurrent decoder then projects only the keys, and only for additive
   * scores. */
  PLAIT_PROJECTIONS_SHARED,

  PLAIT_PROJECTIONS_SEPARATE, /* one projection for each memory or context */

  /* One projection for each memory or context, which serves as key and as value ("shared" in Libovicky & Helcl 2017);
   * recurrent decoders only. */
  PLAIT_PROJECTIONS_TIED,

  PLAIT_PROJECTIONS_PUBLISHED, /* shared in a Transformer decoder (Libovicky et al. 2018, eq. 5-8), separate in a
                                  recurrent decoder (Libovicky & Helcl 2017, eq. 6-10) */
} PlaitProjections;

/* Values of PlaitAttendSettings that stand for the decoder's number of heads and for its dropout rate. */
#define PLAIT_DECODER_HEADS 0
#define PLAIT_DECODER_DROPOUT (-1.0)

/* Initialises the two rates of PlaitAttendSettings: each becomes the decoder's rate of the same kind. */
#define PLAIT_DECODER_DROPOUT_RATES .dropout = PLAIT_DECODER_DROPOUT, .output_dropout = PLAIT_DECODER_DROPOUT

/* The settings of one declared attention. */
typedef struct
{
  const char *name;             /* distinguishes several attentions to one memory, such as a second hop; NULL: no name.
                                   Joint attention and attention over contexts cannot have a name */
  guint heads;                  /* number of heads; PLAIT_DECODER_HEADS: decoder.heads, in recurrent decoders 1 */
  double dropout;               /* dropout rate on weights; PLAIT_DECODER_DROPOUT: the decoder's attention dropout */
  double output_dropout;        /* dropout rate on the context; PLAIT_DECODER_DROPOUT: the decoder's dropout */
  PlaitProjections projections; /* projections of joint attention and of attention over contexts */
  gboolean sentinel; /* TRUE: joint attention or attention over contexts has one more item, the sentinel, made of the
                        decoder's state (Libovicky & Helcl 2017). Recurrent decoders only; at most one attention of a
                        cross-attention may have it */
  gboolean weights;  /* TRUE: attention to one memory returns its weights */
} PlaitAttendSettings;

/*
 * Functions that may be called in build and while the model runs.
 */

/* plait_cross_n_memories returns the number of memories; plait_cross_memory returns the specification of memory @memory
 * (transfer none). Memories are in the order of the experiment's sources. */
PLAIT_API guint plait_cross_n_memories (const PlaitCrossAttention *cross);
PLAIT_API const PlaitMemorySpecification *plait_cross_memory (const PlaitCrossAttention *cross, guint memory);

/* Returns the width of contexts, which is also the width of the states of every memory. */
PLAIT_API gint64 plait_cross_width (const PlaitCrossAttention *cross);

/* Returns the width of queries, which in Transformer decoders is the width of contexts. */
PLAIT_API gint64 plait_cross_query_width (const PlaitCrossAttention *cross);

/* Returns the number of this cross-attention in its decoder, from 0: in most decoders the number of the layer. */
PLAIT_API guint plait_cross_layer (const PlaitCrossAttention *cross);

/*
 * Functions for build, which declares all parameters before the model runs. Names of parameters, after the prefix:
 * attend/MEMORY/..., NAME/attend/MEMORY/... (attention with a name), jointly/..., contexts/..., sentinel/...,
 * normalise/SLOT/..., refine/SLOT/...
 */

/* Return the registry in which a combiner declares parameters of its own, and the required beginning of their names.
 * (transfer none) */
PLAIT_API PlaitParameters *plait_cross_parameters (PlaitCrossAttention *cross);
PLAIT_API const char *plait_cross_prefix (const PlaitCrossAttention *cross);

/* Declares slot @slot. In a Transformer decoder it has a layer normalisation, used by plait_cross_normalise (pre-norm)
 * or plait_cross_residual (post-norm). Declare slots 0, 1, 2, ... in this order, each once. */
PLAIT_API void plait_cross_declare_residual (PlaitCrossAttention *cross, guint slot);

/* Declare the attention that plait_cross_attend, plait_cross_attend_jointly or plait_cross_attend_contexts computes. A
 * second attention to a memory needs another name; joint attention and attention over contexts can be declared once. */
PLAIT_API void plait_cross_declare_attend (PlaitCrossAttention *cross, guint memory,
                                           const PlaitAttendSettings *attention);
PLAIT_API void plait_cross_declare_attend_jointly (PlaitCrossAttention *cross, const PlaitAttendSettings *attention);
PLAIT_API void plait_cross_declare_attend_contexts (PlaitCrossAttention *cross, const PlaitAttendSettings *attention);

/* Declares that the combiner itself reads the rows of @memory, or the node that its function prepare computed from
 * these rows. */
PLAIT_API void plait_cross_declare_rows (PlaitCrossAttention *cross, guint memory);

/* Declares that the combiner calls plait_cross_positions, plait_cross_sentences or plait_cross_tokens. */
PLAIT_API void plait_cross_declare_queries (PlaitCrossAttention *cross);

PLAIT_API void plait_cross_declare_loss (PlaitCrossAttention *cross, const char *name, double weight);

/*
 * Functions for combine, while the model runs.
 */

/* Returns the tape, for the combiner's own operators. (transfer none) */
PLAIT_API PlaitTape *plait_cross_tape (PlaitCrossAttention *cross);

/* In a pre-norm Transformer decoder, returns @x with its query normalised by layer normalisation @slot. In other
 * decoders, returns @x unchanged. */
PLAIT_API PlaitResidualStream plait_cross_normalise (PlaitCrossAttention *cross, guint slot, PlaitResidualStream x);

/* Return the context [query rows, width] of the attention to memory @memory that was declared without a name, or with
 * name @name (multi-head: Libovicky et al. 2018, eq. 2-3). Each declared attention may run at most once in a pass. */
PLAIT_API PlaitContext plait_cross_attend (PlaitCrossAttention *cross, guint memory, PlaitResidualStream query);
PLAIT_API PlaitContext plait_cross_attend_named (PlaitCrossAttention *cross, const char *name, guint memory,
                                                 PlaitResidualStream query);

/* Returns the context of attention with one softmax over the rows of all memories (Libovicky et al. 2018, eq. 5-6). */
PLAIT_API PlaitContext plait_cross_attend_jointly (PlaitCrossAttention *cross, PlaitResidualStream query);

/* Returns the context of attention over @contexts, one for each memory (Libovicky et al. 2018, eq. 7-8). Absent
 * contexts get no weight. */
PLAIT_API PlaitContext plait_cross_attend_contexts (PlaitCrossAttention *cross, PlaitResidualStream query,
                                                    const PlaitContext *contexts);

/* Returns the sum of @n contexts (Libovicky et al. 2018, eq. 4). */
PLAIT_API PlaitContext plait_cross_sum (PlaitCrossAttention *cross, const PlaitContext *contexts, guint n);

/* Returns @x with @context added. A Transformer decoder adds @context to the query; with post-norm, layer normalisation
 * @slot then normalises the rows that have a context. A recurrent decoder adds @context to the context of @x and,
 * except in the last slot, adds @context times the slot's matrix to the query. Use each slot at most once in a pass. */
PLAIT_API PlaitResidualStream plait_cross_residual (PlaitCrossAttention *cross, guint slot, PlaitResidualStream x,
                                                    PlaitContext context);

/*
 * plait_cross_rows returns memory @memory. plait_cross_prepared returns the node that the combiner's prepare made for
 * the memory, or NULL. Both functions need plait_cross_declare_rows in build. plait_cross_pairs returns the pairs of
 * query rows and memory rows (attention/query-key-pairs.h); it needs no declaration.
 */
PLAIT_API const PlaitMemory *plait_cross_rows (PlaitCrossAttention *cross, guint memory);
PLAIT_API PlaitQueryKeyPairs plait_cross_pairs (PlaitCrossAttention *cross, guint memory);
PLAIT_API PlaitNode *plait_cross_prepared (PlaitCrossAttention *cross, guint memory);

/*
 * Return a number for each query row, [query rows]. Call plait_cross_declare_queries in build for this.
 * plait_cross_positions: position of the row in the target, from 0. plait_cross_sentences: number of the row's sentence
 * in the target document, from 0 (a start token begins each sentence); 0 if targets are not documents.
 * plait_cross_tokens: token that the decoder reads in the row. (transfer none)
 */
PLAIT_API const gint64 *plait_cross_positions (PlaitCrossAttention *cross);
PLAIT_API const gint64 *plait_cross_sentences (PlaitCrossAttention *cross);
PLAIT_API const gint32 *plait_cross_tokens (PlaitCrossAttention *cross);

/* Returns the queries of this pass for each sentence: all rows of its target or, in search, its hypotheses. If targets
 * run step by step (carried rows or coverage), a pass has only the rows of one step. */
PLAIT_API PlaitRagged plait_cross_queries (PlaitCrossAttention *cross);

/*
 * Sparse attention: each query and head attends only to selected rows of @memory (attention/sparse.h). @name: name of
 * the declared attention, or NULL. The cost depends on the number of selected rows, not on the size of the memory.
 * plait_cross_heads returns the number of heads. plait_cross_sparse_weights returns weights [selected, 1] with one
 * softmax for each set of selected rows. plait_cross_sparse_context returns the context for @weights [selected, 1]:
 * these weights, or numbers computed from them, such as products along a path.
 */
PLAIT_API guint plait_cross_heads (PlaitCrossAttention *cross, const char *name, guint memory);
PLAIT_API PlaitNode *plait_cross_sparse_weights (PlaitCrossAttention *cross, const char *name, guint memory,
                                                 PlaitResidualStream query, const PlaitSelectedRows *selected);
PLAIT_API PlaitContext plait_cross_sparse_context (PlaitCrossAttention *cross, const char *name, guint memory,
                                                   const PlaitSelectedRows *selected, PlaitNode *weights);

/* Returns the context of a descent from the top rows of a memory with levels to its leaves. Call
 * plait_cross_declare_rows in build. The top rows share one softmax, and so do the children of one row. The weight of a
 * row is its softmax value times its parent's weight. On each level above the leaves, the descent selects the @branches
 * rows with the largest weights (0: all rows) and continues with their children. The context is the sum over the
 * reached leaves of weight times value; @normalise: the weights are first divided by their sum. The selection has no
 * gradient. */
PLAIT_API PlaitContext plait_cross_descend (PlaitCrossAttention *cross, const char *name, guint memory,
                                            PlaitResidualStream query, gint64 branches, gboolean normalise);

/* Adds @loss [1, 1], a sum over the sentences of this pass, to the declared loss @name. */
PLAIT_API void plait_cross_add_loss (PlaitCrossAttention *cross, const char *name, PlaitNode *loss);
