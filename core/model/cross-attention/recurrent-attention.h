/* SPDX-License-Identifier: MIT */
#pragma once

#include "settings/settings.h"
#include "layers/linear.h"
#include "interface/cross-attention.h"

/*
 * The parameters of an attention of recurrent decoders: one head, scores that are additive (Chen et al. 2017, eq. 7),
 * multiplicative or dot products (Luong et al. 2015). Joint attention and attention over contexts are Libovicky & Helcl
 * 2017, eq. 6-10; either can have a sentinel (ibid.; Lu et al. 2017), a further item that lets the decoder read no
 * memory.
 */

/* What an attention has of its own for each memory (or context), or once for all. */
typedef struct
{
  PlaitLinear key;      /* [memory, attention], with a bias in additive scores; undeclared: rows are keys */
  PlaitParameter *bias; /* [1, 1] beside the score, or NULL */
  PlaitLinear value;    /* [memory, context] with a bias, or undeclared: rows are values, or keys where @tied */
  gboolean tied;
} PlaitRecurrentAttentionItem;

typedef struct
{
  PlaitLinear query;                  /* [state, attention]; undeclared in dot products */
  PlaitParameter *vector;             /* [1, attention] of additive scores; NULL: scores are products */
  PlaitRecurrentAttentionItem *items; /* [n_items]: one for all, or one each */
  guint n_items;
  PlaitRecurrentAttentionItem *sentinel; /* of states, not of memories; NULL: none */
} PlaitRecurrentAttention;

/* What such an attention is declared with. */
typedef struct
{
  PlaitParameters *parameters;
  PlaitScoreFunction score;
  gint64 state_width;     /* of queries */
  gint64 attention_width; /* of additive scores */
  gint64 width;           /* of contexts, and of every memory */
  gboolean tied;          /* keys are values too, and as wide as contexts */
} PlaitRecurrentAttentionDeclaration;

/* How wide the inside of an additive score is, or 1. */
gint64 plait_recurrent_attention_score_width (const PlaitRecurrentAttentionDeclaration *declaration);

/* Below @name; for each of @items [n] a projection of its own, or one for all where @n is 0. */
PlaitRecurrentAttention plait_recurrent_attention_declare (const PlaitRecurrentAttentionDeclaration *declaration,
                                                           const char *name, const PlaitMemorySpecification *items,
                                                           guint n);

/* The sentinel's part in an attention. */
PlaitRecurrentAttentionItem *
plait_recurrent_attention_declare_sentinel (const PlaitRecurrentAttentionDeclaration *declaration, const char *name);

/* The parameters of item @i. */
static inline const PlaitRecurrentAttentionItem *
plait_recurrent_attention_item (const PlaitRecurrentAttention *attention, guint i)
{
  return &attention->items[attention->n_items > 1 ? i : 0];
}

/* Keys and values of rows as an item sees them; they do not depend on the step. */
PlaitKeyValues plait_recurrent_attention_project (PlaitTape *tape, const PlaitRecurrentAttentionItem *item,
                                                  PlaitNode *rows, PlaitRagged ragged);
