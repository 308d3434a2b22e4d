/* SPDX-License-Identifier: MIT */
#pragma once

#include "layers/linear.h"

/*
 * Multi-head attention with its projections (Libovicky et al. 2018, eq. 1-6; Vaswani et al. 2017, 3.2).
 *
 * A layer is declared for one use: over its own rows (self), over memories with one key and value projection for all,
 * or over memories with a projection each. Apply functions give the context after the output projection, without
 * dropout of it: that is the caller's. Rows of a sentence that has nothing to attend to come out as zeros, biases
 * included.
 */
typedef struct
{
  gint64 width;         /* d, of queries and contexts; a multiple of heads */
  guint heads;          /* h */
  double dropout;       /* of the attention weights */
  gboolean biases;      /* of the four projections; the papers have none */
  gboolean zero_output; /* the output projection starts as zeros: a model begins as if it had no such layer */
} PlaitAttentionDeclaration;

/* A value of this type refers to parameters and memory of the registry and owns nothing. */
typedef struct
{
  PlaitAttentionDeclaration declaration;
  PlaitLinear query_key_value; /* self: [d, 3 d], NAME/query_key_value */
  PlaitLinear query;           /* memories: [d, d], NAME/query */
  PlaitLinear *key_value;      /* memories: [d', 2 d] each, NAME/key_value or NAME/key_value/MEMORY */
  guint n_key_values;          /* 1 if all memories share it */
  PlaitLinear output;          /* [d, d], NAME/output */
} PlaitAttention;

/* For plait_attention_apply_self and plait_attention_step. */
PlaitAttention plait_attention_declare_self (PlaitParameters *parameters, const char *name,
                                             const PlaitAttentionDeclaration *declaration);

/* For memories of width @memory_width, one projection of keys and values for all of them. */
PlaitAttention plait_attention_declare (PlaitParameters *parameters, const char *name,
                                        const PlaitAttentionDeclaration *declaration, gint64 memory_width);

/* For @n memories with a projection of keys and values each: NAME/key_value/MEMORY. */
PlaitAttention plait_attention_declare_joint (PlaitParameters *parameters, const char *name,
                                              const PlaitAttentionDeclaration *declaration,
                                              const char *const *memory_names, const gint64 *memory_widths, guint n);

/* Self-attention: x [rows, d] -> [rows, d], within each sentence. @causal: row t sees rows 0 .. t. @weights is NULL or
 * has place for heads * (sum over sentences of length^2) numbers, laid out as PlaitKeyValues.weights. */
PlaitNode *plait_attention_apply_self (PlaitTape *tape, const PlaitAttention *attention, PlaitNode *x, PlaitRagged rows,
                                       gboolean causal, PlaitScalar *weights);

/* Self-attention in which a row sees no rows of its document but those of @starts: x [rows, d] -> [rows, d]. */
PlaitNode *plait_attention_apply_to_starts (PlaitTape *tape, const PlaitAttention *attention, PlaitNode *x,
                                            PlaitRagged rows, const PlaitSentenceStarts *starts);

/*
 * Keys and values of memory @index (0 where all share a projection): memory [rows, d'] -> nodes [rows, d]. They do not
 * depend on the queries, so search computes them once and keeps the values. The weights of the result are NULL: set
 * them to capture attention.
 */
PlaitKeyValues plait_attention_project (PlaitTape *tape, const PlaitAttention *attention, guint index,
                                        PlaitNode *memory, PlaitRagged rows);

/* For search, which reads the same keys at every step: keeps their columns as attention reads them, in the arena of
 * @tape, which must live as long as @key_values is used. Only where no gradient is needed. */
void plait_key_values_transpose (PlaitTape *tape, PlaitKeyValues *key_values);

/*
 * Attention of x [query_rows, d] to @n projected memories under one softmax (n = 1: cross-attention, eq. 1-3; more:
 * flat, eq. 5-6) -> [query_rows, d]. Sentence s of x reads sentence s of each memory; in search the queries of a
 * sentence are its hypotheses.
 */
PlaitNode *plait_attention_apply (PlaitTape *tape, const PlaitAttention *attention, PlaitNode *x,
                                  PlaitRagged query_rows, const PlaitKeyValues *memories, guint n);

/*
 * Attention of each row of x [r, d] to its own @n items (the contexts of the hierarchical combination, eq. 7-8),
 * items[j] [r, d'], through the layer's one key and value projection or the item's own -> [r, d]. present[j] is NULL or
 * a byte a row; an absent item gets no weight. @weights is NULL or [heads][r][n].
 */
PlaitNode *plait_attention_apply_items (PlaitTape *tape, const PlaitAttention *attention, PlaitNode *x,
                                        PlaitNode *const *items, const guint8 *const *present, guint n,
                                        PlaitScalar *weights);

/* Keys and values of the target rows that search has passed, side by side: [capacity, 2 d], of which @used rows are
 * filled. The storage is the caller's. */
typedef struct
{
  PlaitTensor keys_values;
  gint64 used;
} PlaitAttentionCache;

/*
 * A step of causal self-attention in search: x [r, d] has one row a hypothesis -> [r, d]. Appends the r new keys and
 * values to the cache as its rows used .. used + r - 1. Hypothesis i then attends to the cache rows
 * gather[rows.offsets[i]] .. gather[rows.offsets[i + 1] - 1], its ancestry with its own new row last. Only on a tape in
 * PLAIT_TAPE_EVALUATE. @weights is NULL or [heads][rows], hypothesis after hypothesis within a head.
 */
PlaitNode *plait_attention_step (PlaitTape *tape, const PlaitAttention *attention, PlaitNode *x,
                                 PlaitAttentionCache *cache, PlaitRagged rows, const gint64 *gather,
                                 PlaitScalar *weights);
