/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/error.h"
#include "text/table.h"
#include "hdf5/store.h"

/*
 * The difference between the attention of two models: the Jensen-Shannon divergence of their attention weights, in
 * bits, over the sentences that are in both files and have equal tokens there.
 *
 * JSD (p, q) = H ((p + q) / 2) - (H (p) + H (q)) / 2 is 0 for equal distributions and 1 for distributions without
 * overlap. Every row of weights is scaled to sum to 1 first, because several memories may share one softmax. Rows
 * without any weight are skipped.
 */

/* Divergence between the attention weights of two models to one memory in one split. */
typedef struct
{
  char *split, *memory;
  gint64 layers, heads; /* numbers of layers and heads, each at least 1 */
  double *sums;     /* [layers, heads]: sum of the divergences of all rows of weights, one row for each target token */
  gint64 *rows;     /* [layers, heads]: number of divergences in sums */
  gint64 sentences; /* number of compared sentences */
  gint64 skipped;   /* number of sentences that cannot be compared, because their tokens or their numbers of layers or
                       heads differ, or the memory has rows labelled by numbers, like latents */
} PlaitAttentionDifference;

/* Compares the attention weights in /attention of two files. Returns a difference for each memory of each split that
 * both files have. (transfer full) (element-type PlaitAttentionDifference) */
GPtrArray *plait_attention_differences (PlaitStore *first, PlaitStore *second, GError **error);

/* Returns the mean divergence over rows of weights in @layer and @head; NaN if there are no such rows. */
double plait_attention_difference_mean (const PlaitAttentionDifference *difference, gint64 layer, gint64 head);

/* Returns a table with a row for each layer, a column for each head and a column of means. (transfer full) */
PlaitTable *plait_attention_difference_shown (const PlaitAttentionDifference *difference);

/* Text that explains the numbers to users. */
extern const char plait_attention_difference_legend[];

/* Returns the Jensen-Shannon divergence of @p and @q [n] in bits; NaN if one of them sums to 0. */
double plait_jensen_shannon (const double *p, const double *q, gint64 n);
