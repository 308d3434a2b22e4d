/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/error.h"
#include "text/table.h"
#include "hdf5/store.h"

/*
 * How differently two models attend: the Jensen-Shannon divergence of their attention weights, in bits, over the same
 * sentences with the same tokens.
 *
 * JSD (p, q) = H ((p + q) / 2) - (H (p) + H (q)) / 2 is 0 for equal distributions and 1 for those that share nothing.
 * Every row of weights is scaled to sum to 1 first, since a memory may have only its share of a joint softmax; rows
 * without any weight are left out.
 */

/* One memory of one split. */
typedef struct
{
  char *split, *memory;
  gint64 layers, heads; /* at least 1 */
  double *sums;         /* [layers, heads]: of the divergences of rows */
  gint64 *rows;         /* [layers, heads] */
  gint64 sentences;     /* compared */
  gint64 skipped;       /* other tokens, another number of layers or heads, or rows that stand for no tokens */
} PlaitAttentionDifference;

/* Compares all attention below /attention of the two files. (transfer full) (element-type PlaitAttentionDifference) */
GPtrArray *plait_attention_differences (PlaitStore *first, PlaitStore *second, GError **error);

/* The mean over rows in @layer and @head; NaN if there are none. */
double plait_attention_difference_mean (const PlaitAttentionDifference *difference, gint64 layer, gint64 head);

/* A row a layer, a column a head. (transfer full) */
PlaitTable *plait_attention_difference_shown (const PlaitAttentionDifference *difference);

/* What the numbers are. */
extern const char plait_attention_difference_legend[];

/* The divergence of @p and @q [n] in bits; NaN if either sums to nothing. */
double plait_jensen_shannon (const double *p, const double *q, gint64 n);
