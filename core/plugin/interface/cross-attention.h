/* SPDX-License-Identifier: MIT */
#pragma once

#include "layers/parameter.h"
#include "interface/loss.h"
#include "interface/memory.h"
#include "attention/sparse.h"
#include "attention/query-key-pairs.h"

/*
 * An attention site: the place in a decoder where the memories of all sources are read. Any decoder can offer one; a
 * combiner is written against it once. Caches of keys and values, ancestry of hypotheses, capture of weights, dropout
 * and threads stay on the host's side of it.
 *
 * The four strategies of Libovicky, Helcl & Marecek 2018 in its terms:
 *
 *     serial         for each memory i:  x <- residual (x, attend_i (normalise (x)))
 *     parallel       q <- normalise (x);  x <- residual (x, sum_i attend_i (q))
 *     flat           x <- residual (x, attend_jointly (normalise (x)))
 *     hierarchical   q <- normalise (x);  x <- residual (x, attend_contexts (q, [attend_i (q)]))
 *
 * What is used is declared while building. While building, a call that cannot be (a thing declared twice, a memory that
 * is not there) is a fault that the host reports when build returns. While running, it leaves combine at once
 * (plait_tape_fail) and ends the run in one sentence.
 */
typedef struct PlaitCrossAttention PlaitCrossAttention;

/* What flows through a site. In a Transformer decoder @query is the layer's states, [query rows, width], and @context
 * is NULL. In a recurrent decoder the pair starts at (query, NULL) and residual grows both. */
typedef struct
{
  PlaitNode *query; /* [query rows, query width] */
  PlaitNode *context;
} PlaitResidualStream;

/* What attending gave: [query rows, width], with output dropout applied. Rows whose sentence had nothing to read are
 * zero, and 0 in @present (one byte a query row; NULL: all present). */
typedef struct
{
  PlaitNode *value;
  const guint8 *present;
  PlaitNode *weights; /* of one memory, where they were declared: [pairs, heads], before dropout; else NULL */
} PlaitContext;

/* Keys and values of what joint attention and attention over contexts choose among. */
typedef enum
{
  PLAIT_PROJECTIONS_SHARED,   /* one projection for all; in a recurrent decoder values are what is chosen itself */
  PLAIT_PROJECTIONS_SEPARATE, /* one for each memory, or context */
  PLAIT_PROJECTIONS_TIED, /* one for each that makes key and value at once, in a recurrent decoder (Libovicky & Helcl
                             2017, where they call it shared); a Transformer decoder refuses it */
  PLAIT_PROJECTIONS_PUBLISHED, /* shared in a Transformer decoder (Libovicky et al. 2018, eq. 5-8), separate in a
                                  recurrent one (Libovicky & Helcl 2017, eq. 6-10) */
} PlaitProjections;

/* Value of a setting: the decoder's own number of heads, or rate of dropout. */
#define PLAIT_DECODER_HEADS 0
#define PLAIT_DECODER_DROPOUT (-1.0)

/* Begins the initialiser of a PlaitAttendSettings whose rates are the decoder's. */
#define PLAIT_DECODER_DROPOUT_RATES .dropout = PLAIT_DECODER_DROPOUT, .output_dropout = PLAIT_DECODER_DROPOUT

/* Settings of one declared attention. */
typedef struct
{
  const char *name;             /* tells it from others of its kind, a second hop; NULL: the one without a name */
  guint heads;                  /* PLAIT_DECODER_HEADS: as many as the decoder's self-attention has */
  double dropout;               /* of the weights; PLAIT_DECODER_DROPOUT: the decoder's attention dropout */
  double output_dropout;        /* of the context; PLAIT_DECODER_DROPOUT: the decoder's dropout */
  PlaitProjections projections; /* of joint attention, and of attention over contexts */
  gboolean sentinel; /* likewise: one more item, made of the decoder's own state (Libovicky & Helcl 2017), in a
                        recurrent decoder; a Transformer decoder refuses it. At most one attention of a site has it */
  gboolean weights;  /* of one memory: contexts come with their weights */
} PlaitAttendSettings;

/*
 * While building and running.
 */

/* The memories that stand at this site, in the order of the experiment's sources. */
PLAIT_API guint plait_cross_n_memories (const PlaitCrossAttention *cross);
PLAIT_API const PlaitMemorySpecification *plait_cross_memory (const PlaitCrossAttention *cross, guint memory);

/* Width of contexts, and of every memory's states. */
PLAIT_API gint64 plait_cross_width (const PlaitCrossAttention *cross);

/* Width of queries: that of contexts in a Transformer decoder, of the states in a recurrent one. */
PLAIT_API gint64 plait_cross_query_width (const PlaitCrossAttention *cross);

/*
 * While building: every parameter is declared before anything runs. Names: PREFIX/normalise/SLOT/...,
 * PREFIX/attend/MEMORY/..., PREFIX/jointly/..., PREFIX/contexts/...; PREFIX/NAME/attend/MEMORY/... with a name.
 */

/* Where a combiner declares parameters of its own, under names that begin with plait_cross_prefix. */
PLAIT_API PlaitParameters *plait_cross_parameters (PlaitCrossAttention *cross);
PLAIT_API const char *plait_cross_prefix (const PlaitCrossAttention *cross);

/* Layer normalisation number @slot, for normalise (pre-norm) or residual (post-norm). Slots are declared in the order
 * 0, 1, 2, ..., each once. */
PLAIT_API void plait_cross_declare_residual (PlaitCrossAttention *cross, guint slot);

/* The attention that the function of the same name below computes. */
PLAIT_API void plait_cross_declare_attend (PlaitCrossAttention *cross, guint memory,
                                           const PlaitAttendSettings *attention);
PLAIT_API void plait_cross_declare_attend_jointly (PlaitCrossAttention *cross, const PlaitAttendSettings *attention);
PLAIT_API void plait_cross_declare_attend_contexts (PlaitCrossAttention *cross, const PlaitAttendSettings *attention);

/* That the combiner reads the rows of @memory itself, or what it has prepared of them. */
PLAIT_API void plait_cross_declare_rows (PlaitCrossAttention *cross, guint memory);

PLAIT_API void plait_cross_declare_loss (PlaitCrossAttention *cross, const char *name, double weight);

/*
 * While running.
 */

/* What operators of one's own are composed on. */
PLAIT_API PlaitTape *plait_cross_tape (PlaitCrossAttention *cross);

/* Layer norm @slot over the query in a pre-norm Transformer decoder; @x itself in post-norm and in recurrent
 * decoders. */
PLAIT_API PlaitResidualStream plait_cross_normalise (PlaitCrossAttention *cross, guint slot, PlaitResidualStream x);

/* Multi-head attention of the queries to one memory (eq. 2-3), through the attention without a name or the one called
 * @name. Each declared attention once a pass. */
PLAIT_API PlaitContext plait_cross_attend (PlaitCrossAttention *cross, guint memory, PlaitResidualStream query);
PLAIT_API PlaitContext plait_cross_attend_named (PlaitCrossAttention *cross, const char *name, guint memory,
                                                 PlaitResidualStream query);

/* One softmax over the rows of all memories (eq. 5-6). */
PLAIT_API PlaitContext plait_cross_attend_jointly (PlaitCrossAttention *cross, PlaitResidualStream query);

/* Attention over contexts, one for each memory (eq. 7-8). Absent contexts get no weight. */
PLAIT_API PlaitContext plait_cross_attend_contexts (PlaitCrossAttention *cross, PlaitResidualStream query,
                                                    const PlaitContext *contexts);

/* The sum of @n contexts (eq. 4). */
PLAIT_API PlaitContext plait_cross_sum (PlaitCrossAttention *cross, const PlaitContext *contexts, guint n);

/* x + context; in post-norm layer norm @slot of that, and @x itself where the context is absent. */
PLAIT_API PlaitResidualStream plait_cross_residual (PlaitCrossAttention *cross, guint slot, PlaitResidualStream x,
                                                    PlaitContext context);

/*
 * The rows of a memory, where declared: as constants while searching. Which query sees which rows: pairs as in
 * attention/query-key-pairs.h. What the combiner's prepare made of the rows.
 */
PLAIT_API const PlaitMemory *plait_cross_rows (PlaitCrossAttention *cross, guint memory);
PLAIT_API PlaitQueryKeyPairs plait_cross_pairs (PlaitCrossAttention *cross, guint memory);
PLAIT_API PlaitNode *plait_cross_prepared (PlaitCrossAttention *cross, guint memory);

/*
 * Attention to rows that are chosen for each query and head (attention/sparse.h), through a declared attention to
 * @memory (@name may be NULL): its cost is that of the rows chosen, not of the memory's. Weighing gives one softmax a
 * set, [chosen, 1]; reading gives the context of weights [chosen, 1], which may be any function of those, the product
 * along a path for one. plait_cross_heads says for how many heads rows are chosen.
 */
PLAIT_API guint plait_cross_heads (PlaitCrossAttention *cross, const char *name, guint memory);
PLAIT_API PlaitNode *plait_cross_sparse_weights (PlaitCrossAttention *cross, const char *name, guint memory,
                                                 PlaitResidualStream query, const PlaitSelectedRows *selected);
PLAIT_API PlaitContext plait_cross_sparse_context (PlaitCrossAttention *cross, const char *name, guint memory,
                                                   const PlaitSelectedRows *selected, PlaitNode *weights);

/* Attention from the top of a memory with levels, whose rows were declared, down to its leaves: the rows at the top are
 * under one softmax, and so are the children of each of the @branches rows of a level that have most, which is their
 * weight times what their parent has; 0: of all rows. The context is that of the leaves that are reached, by what they
 * have, where @normalise says so divided by its sum. What chooses the rows has no gradient. */
PLAIT_API PlaitContext plait_cross_descend (PlaitCrossAttention *cross, const char *name, guint memory,
                                            PlaitResidualStream query, gint64 branches, gboolean normalise);

/* Adds @loss [1, 1], summed over what is read in this pass, to the declared loss @name. */
PLAIT_API void plait_cross_add_loss (PlaitCrossAttention *cross, const char *name, PlaitNode *loss);
