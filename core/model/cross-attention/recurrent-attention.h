/* SPDX-License-Identifier: MIT */
#pragma once

#include "settings/settings.h"
#include "layers/linear.h"
#include "interface/cross-attention.h"

/*
 * Parameters of an attention in recurrent decoders, which has one head. Scores are additive (Chen et al. 2017, eq. 7),
 * multiplicative or dot products (Luong et al. 2015). Joint attention and attention over contexts follow Libovicky &
 * Helcl 2017, eq. 6-10. They can have a sentinel (also Lu et al. 2017): one more item, made from the decoder's state.
 * The sentinel takes part in the softmax, so with it the weights of the memories sum to less than 1.
 */

/* Projections of one memory, one context or the sentinel; if shared, of all memories or contexts. */
typedef struct
{
  PlaitLinear key; /* [memory, width of keys], with a bias if scores are additive or if tied; not declared: the rows are
                      the keys */
  PlaitParameter *bias; /* [1, 1], added to the score, or NULL */
  PlaitLinear value; /* [memory, context] with a bias; not declared: the values are the keys if tied, else the rows */
  gboolean tied;
} PlaitRecurrentAttentionItem;

typedef struct
{
  PlaitLinear query;                  /* [state, width of keys]; not declared for dot products */
  PlaitParameter *vector;             /* [1, width of keys], vector of additive scores; NULL: scores are products */
  PlaitRecurrentAttentionItem *items; /* [n_items]: projections of each memory or context; a single item if
                                         they are shared */
  guint n_items;
  PlaitRecurrentAttentionItem *sentinel; /* projections of the sentinel, which is made from the state; NULL: no
                                            sentinel */
} PlaitRecurrentAttention;

/* Options for declaring a PlaitRecurrentAttention. */
typedef struct
{
  PlaitParameters *parameters;
  PlaitScoreFunction score;
  gint64 state_width;     /* width of queries */
  gint64 attention_width; /* width of the tanh layer of additive scores; not used if @tied */
  gint64 width;           /* width of contexts and of every memory */
  gboolean tied;          /* TRUE: one projection, of the width of contexts, is both key and value */
} PlaitRecurrentAttentionDeclaration;

/* Returns the width of the tanh layer of additive scores, or 1 for other scores. */
gint64 plait_recurrent_attention_score_width (const PlaitRecurrentAttentionDeclaration *declaration);

/* Declares an attention with parameters below @name. Each of @items [n] has projections; if n is 0, items share. */
PlaitRecurrentAttention plait_recurrent_attention_declare (const PlaitRecurrentAttentionDeclaration *declaration,
                                                           const char *name, const PlaitMemorySpecification *items,
                                                           guint n);

/* Declares the sentinel of an attention with parameters below @name. */
PlaitRecurrentAttentionItem *
plait_recurrent_attention_declare_sentinel (const PlaitRecurrentAttentionDeclaration *declaration, const char *name);

/* Returns the projections of memory or context @i. */
static inline const PlaitRecurrentAttentionItem *
plait_recurrent_attention_item (const PlaitRecurrentAttention *attention, guint i)
{
  return &attention->items[attention->n_items > 1 ? i : 0];
}

/* Returns keys and values of @rows, which belong to a memory, a context or the sentinel. @ragged: the rows of each
 * sentence. */
PlaitKeyValues plait_recurrent_attention_project (PlaitTape *tape, const PlaitRecurrentAttentionItem *item,
                                                  PlaitNode *rows, PlaitRagged ragged);
