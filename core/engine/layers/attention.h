/* SPDX-License-Identifier: MIT */
#pragma once

#include "layers/linear.h"
#include "layers/positions.h"

/*
 * Multi-head attention with its projections (Libovicky et al. 2018, eq. 1-6; Vaswani et al. 2017, section 3.2). A layer
 * is declared for one use: self-attention, attention to memories that share one key and value projection, or to
 * memories with a projection each. The apply functions return the context after the output projection, without dropout
 * on it. A row that has nothing to attend to gives zeros, even with biases.
 */
typedef struct
{
  gint64 width;         /* d, width of queries and contexts; a multiple of heads */
  guint heads;          /* h, number of attention heads */
  double dropout;       /* dropout rate on attention weights */
  gboolean biases;      /* TRUE: the four projections have biases, which the papers leave out */
  gboolean zero_output; /* TRUE: the output projection starts at zero, so that the layer changes nothing at first */
  /* Self-attention only. Rotary positions need heads of an even width. */
  PlaitPositionKind positions; /* PLAIT_POSITIONS_ROTARY or PLAIT_POSITIONS_ALIBI; other kinds are not relative and
                                  have no effect here */
  gint64 window;               /* a row sees only rows at a distance less than @window; 0: all rows */
} PlaitAttentionDeclaration;

/* An attention layer. It refers to parameters and memory of the registry and owns nothing. */
typedef struct
{
  PlaitAttentionDeclaration declaration;
  /* Names of parameters begin with the names below, such as NAME/query/weight. */
  PlaitLinear query_key_value; /* self-attention only: [d, 3 d], NAME/query_key_value */
  PlaitLinear query;           /* attention to memories only: [d, d], NAME/query */
  /* attention to memories only: [n_key_values] of [d', 2 d], NAME/key_value or NAME/key_value/MEMORY */
  PlaitLinear *key_value;
  guint n_key_values; /* 1 if all memories share a projection, else the number of memories; 0 for self-attention */
  PlaitLinear output; /* [d, d], NAME/output */
} PlaitAttention;

/* Declares a self-attention layer, for plait_attention_apply_self, plait_attention_apply_to_starts and
 * plait_attention_step. */
PlaitAttention plait_attention_declare_self (PlaitParameters *parameters, const char *name,
                                             const PlaitAttentionDeclaration *declaration);

/* Declares attention to memories of width @memory_width, which share one projection of keys and values. */
PlaitAttention plait_attention_declare (PlaitParameters *parameters, const char *name,
                                        const PlaitAttentionDeclaration *declaration, gint64 memory_width);

/* Declares attention to @n memories that have a projection of keys and values each, NAME/key_value/MEMORY. */
PlaitAttention plait_attention_declare_joint (PlaitParameters *parameters, const char *name,
                                              const PlaitAttentionDeclaration *declaration,
                                              const char *const *memory_names, const gint64 *memory_widths, guint n);

/* Returns a node [rows, d]: self-attention of x [rows, d] within each sentence. @causal: row t sees rows 0 .. t.
 * @weights: NULL, or receives heads * (sum over sentences of length^2) numbers, laid out as PlaitKeyValues.weights. */
PlaitNode *plait_attention_apply_self (PlaitTape *tape, const PlaitAttention *attention, PlaitNode *x, PlaitRagged rows,
                                       gboolean causal, PlaitScalar *weights);

/* Returns a node [rows, d]: self-attention of x [rows, d] in which a row sees only the rows of its document that
 * @starts lists. The layer must not have PLAIT_POSITIONS_ALIBI or a window. */
PlaitNode *plait_attention_apply_to_starts (PlaitTape *tape, const PlaitAttention *attention, PlaitNode *x,
                                            PlaitRagged rows, const PlaitSentenceStarts *starts);

/*
 * Returns keys and values [rows, d] of memory @index (0 if all memories share a projection), projected from memory
 * [rows, d']. They do not depend on the queries, so search computes them once. The result's weights are NULL; set them
 * to record attention.
 */
PlaitKeyValues plait_attention_project (PlaitTape *tape, const PlaitAttention *attention, guint index,
                                        PlaitNode *memory, PlaitRagged rows);

/* Stores also the transpose of the keys in @key_values. This saves time if search reads the keys at every step. The
 * copy is in the arena of @tape and must live as long as @key_values is used. Only for keys that need no gradient. */
void plait_key_values_transpose (PlaitTape *tape, PlaitKeyValues *key_values);

/*
 * Returns a node [query_rows, d]: attention of x [query_rows, d] to @n projected memories under one softmax (Libovicky
 * et al. 2018; n = 1: eq. 1-3, more: flat combination, eq. 5-6). Sentence s of x reads sentence s of each memory. In
 * search, the queries of a sentence are its hypotheses.
 */
PlaitNode *plait_attention_apply (PlaitTape *tape, const PlaitAttention *attention, PlaitNode *x,
                                  PlaitRagged query_rows, const PlaitKeyValues *memories, guint n);

/*
 * Returns a node [r, d]: attention of each row of x [r, d] to its own @n items (contexts of the hierarchical
 * combination, Libovicky et al. 2018, eq. 7-8). items[j] [r, d'] are projected by projection j, or by the layer's only
 * projection. present[j]: one byte for each row, 0 if item j is absent and gets no weight; @present or present[j] NULL:
 * no item is absent. @weights: NULL, or receives [heads][r][n].
 */
PlaitNode *plait_attention_apply_items (PlaitTape *tape, const PlaitAttention *attention, PlaitNode *x,
                                        PlaitNode *const *items, const guint8 *const *present, guint n,
                                        PlaitScalar *weights);

/* Keys and values of earlier target rows in search, side by side: [capacity, 2 d], of which the first @used rows are
 * filled. The caller owns the storage. */
typedef struct
{
  PlaitTensor keys_values;
  gint64 used;
} PlaitAttentionCache;

/*
 * Returns a node [r, d]: one step of causal self-attention in search. x [r, d] has one row for each hypothesis, its
 * newest token. Appends the new keys (rotated, with rotary positions) and values to @cache as rows used .. used + r -
 * 1. Hypothesis i then attends to the cache rows gather[rows.offsets[i]] .. gather[rows.offsets[i + 1] - 1]: those of
 * its earlier tokens and, last, its own new row. The tape must be in PLAIT_TAPE_EVALUATE. @weights: NULL, or receives
 * [heads][entries of gather], hypothesis after hypothesis within a head.
 */
PlaitNode *plait_attention_step (PlaitTape *tape, const PlaitAttention *attention, PlaitNode *x,
                                 PlaitAttentionCache *cache, PlaitRagged rows, const gint64 *gather,
                                 PlaitScalar *weights);
