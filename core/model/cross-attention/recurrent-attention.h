/* SPDX-License-Identifier: MIT */
#pragma once

#include "settings/settings.h"
#include "layers/linear.h"
#include "interface/cross-attention.h"

/*
 * Parameters of an attention in recurrent decoders: one head; additive scores (Chen et al. 2017, eq. 7), multiplicative
 * scores or dot products (Luong et al. 2015). Joint attention and attention over contexts follow Libovicky & Helcl
 * 2017, eq. 6-10. Either can have a sentinel (also Lu et al. 2017), one more item that lets the decoder read no memory.
 */

/* Projections for one memory or context, or shared by all. */
typedef struct
{
  PlaitLinear key;      /* [memory, attention], with a bias for additive scores; not declared: rows are keys */
  PlaitParameter *bias; /* [1, 1], added to the score, or NULL */
  PlaitLinear value;    /* [memory, context] with a bias; not declared: values are the keys if tied, else the rows */
  gboolean tied;
} PlaitRecurrentAttentionItem;

typedef struct
{
  PlaitLinear query;                  /* [state, attention]; not declared for dot products */
  PlaitParameter *vector;             /* [1, attention] of additive scores; NULL: scores are products */
  PlaitRecurrentAttentionItem *items; /* [n_items]: one for each memory, or one for all */
  guint n_items;
  PlaitRecurrentAttentionItem *sentinel; /* projections of the state as one more item; NULL without a sentinel */
} PlaitRecurrentAttention;

/* Options for declaring such an attention. */
typedef struct
{
  PlaitParameters *parameters;
  PlaitScoreFunction score;
  gint64 state_width;     /* width of queries */
  gint64 attention_width; /* width inside additive scores */
  gint64 width;           /* width of contexts and of every memory */
  gboolean tied;          /* TRUE: one projection makes keys and values, as wide as contexts */
} PlaitRecurrentAttentionDeclaration;

/* Returns the width inside additive scores, or 1 for other scores. */
gint64 plait_recurrent_attention_score_width (const PlaitRecurrentAttentionDeclaration *declaration);

/* Declares an attention with parameters below @name: projections for each of @items [n], or shared ones if @n is 0. */
PlaitRecurrentAttention plait_recurrent_attention_declare (const PlaitRecurrentAttentionDeclaration *declaration,
                                                           const char *name, const PlaitMemorySpecification *items,
                                                           guint n);

/* Declares the sentinel of an attention with parameters below @name. */
PlaitRecurrentAttentionItem *
plait_recurrent_attention_declare_sentinel (const PlaitRecurrentAttentionDeclaration *declaration, const char *name);

/* Returns the projections of item @i. */
static inline const PlaitRecurrentAttentionItem *
plait_recurrent_attention_item (const PlaitRecurrentAttention *attention, guint i)
{
  return &attention->items[attention->n_items > 1 ? i : 0];
}

/* Returns keys and values of @rows, whose sentences are @ragged. They do not depend on the decoder's step. */
PlaitKeyValues plait_recurrent_attention_project (PlaitTape *tape, const PlaitRecurrentAttentionItem *item,
                                                  PlaitNode *rows, PlaitRagged ragged);
