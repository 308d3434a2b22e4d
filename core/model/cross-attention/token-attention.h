/* SPDX-License-Identifier: MIT */
#pragma once

#include "cross-attention/attention-record.h"

/*
 * Attention of target rows to the tokens of a source, summed over all attentions to its memory. The weight of an inner
 * node of a tree, or of an upper row of a pyramid, is spread evenly over its leaves.
 */

#define PLAIT_ATTENTION_MEAN -1 /* mean over layers or heads */
#define PLAIT_ATTENTION_LAST -2 /* last layer with attention */

/* Selected layers and heads, counted from 0. */
typedef struct
{
  gint64 layer;
  gint64 head;
} PlaitAttentionSelection;

/* Sets *@selection from @text: "mean", "last" or a layer from 0, optionally with ":" and a head; without a head it is
 * the mean of all heads. PLAIT_ERROR_INPUT, which begins with @name, for other text. */
gboolean plait_attention_selection_parse (const char *text, const char *name, PlaitAttentionSelection *selection,
                                          GError **error);

/* TRUE if the rows of @memory, which holds one sentence, are tokens. */
gboolean plait_attention_has_tokens (const PlaitMemory *memory);

/* Adds to @sums[i] the attention that target rows @begin .. @end - 1 pay to token i of @memory, and to @sums[@tokens]
 * what they pay to rows of @memory that are not tokens. FALSE if no attention of @selection reads @memory, or its rows
 * are not tokens. */
gboolean plait_attention_token_sums (const PlaitAttentionRecord *attention, guint memory, gint64 tokens, gint64 begin,
                                     gint64 end, PlaitAttentionSelection selection, double *sums);

/*
 * Building blocks, public for tests.
 */

/* Adds to @sums [rows of the memory] the weights that target rows @begin .. @end - 1 give to @memory. FALSE if no
 * attention of @selection reads @memory. */
gboolean plait_attention_sums (const PlaitAttentionRecord *attention, guint memory, gint64 begin, gint64 end,
                               PlaitAttentionSelection selection, double *sums);

/* Spreads the sums [@rows] of rows above the leaves evenly over their leaves, using first_child and n_children. */
void plait_attention_spread_levels (const PlaitLinks *links, gint64 rows, double *sums);

/* Spreads the sums of inner nodes evenly over their leaves, using left and right. Children must precede parents. */
void plait_attention_spread (const PlaitLinks *links, gint64 rows, double *sums);
