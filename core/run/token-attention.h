/* SPDX-License-Identifier: MIT */
#pragma once

#include "data/input.h"
#include "model/capture.h"

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
} PlaitAttentionPart;

/* Adds to @sums [rows of the memory + 1] what the target rows @begin .. @end - 1 paid to the tokens of @sentence of
 * @input, of which @memory was made. FALSE if nothing of @part attends to it, or its rows are not those of tokens. */
gboolean plait_attention_token_sums (const PlaitCapture *attention, guint memory, const PlaitInput *input,
                                     gint64 sentence, gint64 begin, gint64 end, PlaitAttentionPart part, double *sums);

/*
 * What it is made of, for tests.
 */

/* Adds to @sums [rows of the memory] what the target rows @begin .. @end - 1 paid to @memory. FALSE if nothing of @part
 * attends to it. */
gboolean plait_attention_sums (const PlaitCapture *attention, guint memory, gint64 begin, gint64 end,
                               PlaitAttentionPart part, double *sums);

/* @sums [@rows]: what rows above leaves have goes to the leaves below, the same to each. How many rows are leaves. */
gint64 plait_attention_spread_levels (const PlaitLinks *links, gint64 rows, double *sums);

/* @sums [leaves, then inner nodes of sentence @sentence]: what inner nodes have goes to the leaves below, the same to
 * each. @leaves counts the rows of the sentence, its end included. */
void plait_attention_spread (const PlaitTrees *trees, gint64 sentence, gint64 leaves, double *sums);
