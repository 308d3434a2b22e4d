/* SPDX-License-Identifier: MIT */
#pragma once

#include "cross-attention/attention-record.h"

/*
 * What target rows paid to the tokens of a source, from all attentions to its memory. What is paid to an inner node of
 * a tree, or to a row of a pyramid's upper levels, is spread evenly over its leaves.
 */

#define PLAIT_ATTENTION_MEAN -1 /* over layers, or over heads */
#define PLAIT_ATTENTION_LAST -2 /* the last layer that attends */

/* Of which layers and heads; numbers count from 0. */
typedef struct
{
  gint64 layer;
  gint64 head;
} PlaitAttentionSelection;

/* TRUE if rows of @memory, which is of one sentence, stand for tokens. */
gboolean plait_attention_has_tokens (const PlaitMemory *memory);

/* Adds to @sums [@tokens + 1] what the target rows @begin .. @end - 1 paid to each of the @tokens tokens of which
 * @memory was made; the last number is for its other rows. FALSE if nothing of @selection attends to it, or its rows
 * stand for no tokens. */
gboolean plait_attention_token_sums (const PlaitAttentionRecord *attention, guint memory, gint64 tokens, gint64 begin,
                                     gint64 end, PlaitAttentionSelection selection, double *sums);

/*
 * What it is made of, for tests.
 */

/* Adds to @sums [rows of the memory] what the target rows @begin .. @end - 1 paid to @memory. FALSE if nothing of
 * @selection attends to it. */
gboolean plait_attention_sums (const PlaitAttentionRecord *attention, guint memory, gint64 begin, gint64 end,
                               PlaitAttentionSelection selection, double *sums);

/* @sums [@rows]: what rows above leaves have goes to the leaves below, the same to each; by first_child and
 * n_children. */
void plait_attention_spread_levels (const PlaitLinks *links, gint64 rows, double *sums);

/* The same by left and right, of nodes that stand after their children. */
void plait_attention_spread (const PlaitLinks *links, gint64 rows, double *sums);
