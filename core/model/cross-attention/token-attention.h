/* SPDX-License-Identifier: MIT */
#pragma once

#include "cross-attention/attention-record.h"

/*
 * Attention of target rows to the tokens of one memory: the mean over selected layers and heads, and over all
 * attentions that read this memory. If the rows of the memory form a tree or a pyramid, the weight of a row that is not
 * a leaf is spread evenly over its leaves. Each attention record here is the record of one sentence.
 */

#define PLAIT_ATTENTION_MEAN -1 /* mean over layers or heads */
#define PLAIT_ATTENTION_LAST -2 /* last layer that attends to the memory */

/* Selected layers and heads, counted from 0. */
typedef struct
{
  gint64 layer;
  gint64 head;
} PlaitAttentionSelection;

/* Sets *@selection from @text: "mean", "last" or a layer from 0, optionally followed by ":" and a head. Without a head,
 * selects the mean of all heads. Fails with PLAIT_ERROR_INPUT for other text; the message begins with @name. */
gboolean plait_attention_selection_parse (const char *text, const char *name, PlaitAttentionSelection *selection,
                                          GError **error);

/* TRUE if weights on rows of @memory, which holds one sentence, can be turned into weights on tokens. At least one row
 * must be a token. In a binary tree, each inner node must also have two children, and both must precede the node. */
gboolean plait_attention_has_tokens (const PlaitMemory *memory);

/* Adds to @sums[i] the attention weights that target rows @begin .. @end - 1 give to token i of @memory, and to
 * @sums[@tokens] the weights on other rows. Weights on inner nodes are first spread over their leaves. FALSE if no
 * attention of @selection reads @memory, or if plait_attention_has_tokens() is FALSE for @memory. */
gboolean plait_attention_token_sums (const PlaitAttentionRecord *attention, guint memory, gint64 tokens, gint64 begin,
                                     gint64 end, PlaitAttentionSelection selection, double *sums);

/*
 * Building blocks of plait_attention_token_sums, public for tests.
 */

/* Adds to @sums [rows of the memory] the weights that target rows @begin .. @end - 1 give to @memory, as means over the
 * attentions of @selection. FALSE if no attention of @selection reads @memory. */
gboolean plait_attention_sums (const PlaitAttentionRecord *attention, guint memory, gint64 begin, gint64 end,
                               PlaitAttentionSelection selection, double *sums);

/* Spreads the sums of rows that are not leaves evenly over their leaves, by first_child and n_children of @links.
 * @sums: [@rows]. */
void plait_attention_spread_levels (const PlaitLinks *links, gint64 rows, double *sums);

/* Spreads the sums of inner nodes evenly over their leaves, by left and right of @links. Children must precede
 * parents. */
void plait_attention_spread (const PlaitLinks *links, gint64 rows, double *sums);
