/* SPDX-License-Identifier: MIT */
#pragma once

#include "tensor/kernels/kernels.h"
#include "tensor/kernels/vector.h"

/* The functions of this compilation's variant; kernels.h says what each does. */
void KERNEL (multiply) (gint64 rows, gint64 width, gint64 depth, const PlaitScalar *a, gint64 row, gint64 step,
                        const PlaitScalar *b, gint64 b_stride, PlaitScalar *c, gint64 c_stride, gboolean add);
void KERNEL (multiply_packed) (gint64 rows, gint64 width, gint64 depth, const PlaitScalar *a, gint64 row,
                               const PlaitScalar *b, gint64 distance, PlaitScalar *c, gint64 c_stride, gboolean add,
                               const PlaitScalar *next);
void KERNEL (transpose) (PlaitScalar *to, gint64 to_stride, gint64 padded, const PlaitScalar *from, gint64 from_stride,
                         gint64 rows, gint64 columns);
void KERNEL (accumulate) (PlaitScalar *y, PlaitScalar beta, PlaitScalar alpha, const PlaitScalar *x, gint64 n);
void KERNEL (combine) (PlaitScalar *y, const PlaitScalar *const *x, const PlaitScalar *factors, guint terms, gint64 n);
void KERNEL (multiply_elements) (PlaitScalar *z, PlaitScalar beta, const PlaitScalar *x, const PlaitScalar *y,
                                 gint64 n);
void KERNEL (dropout) (PlaitScalar *y, const PlaitScalar *base, PlaitScalar factor, const PlaitScalar *x, gint64 n,
                       const PlaitMask *mask, guint32 first);
void KERNEL (activate) (PlaitActivation activation, PlaitScalar *y, const PlaitScalar *x, gint64 n);
void KERNEL (activate_backward) (PlaitActivation activation, PlaitScalar *dx, PlaitScalar beta, const PlaitScalar *dy,
                                 const PlaitScalar *kept, gint64 n);
double KERNEL (total) (const PlaitScalar *x, gint64 n);
double KERNEL (squares) (const PlaitScalar *x, gint64 n);
void KERNEL (adam) (const PlaitUpdateSlot *slot, gint64 first, gint64 n, const PlaitAdamSettings *settings);
void KERNEL (adadelta) (const PlaitUpdateSlot *slot, gint64 first, gint64 n, const PlaitAdadeltaSettings *settings);
void KERNEL (layer_norm) (PlaitScalar *y, const PlaitScalar *x, const PlaitScalar *gain, const PlaitScalar *bias,
                          gint64 n, PlaitScalar epsilon, PlaitScalar *mean, PlaitScalar *inverse);
void KERNEL (layer_norm_backward) (PlaitScalar *dx, PlaitScalar beta, PlaitScalar *dgain, PlaitScalar *dbias,
                                   const PlaitScalar *dy, const PlaitScalar *x, const PlaitScalar *gain, gint64 n,
                                   PlaitScalar mean, PlaitScalar inverse);
PlaitScalar KERNEL (greatest) (const PlaitScalar *x, gint64 n);
gint64 KERNEL (at_least) (const PlaitScalar *x, PlaitScalar bound, gint64 n, gint32 *places);
gint64 KERNEL (count_at_least) (const PlaitScalar *x, PlaitScalar bound, gint64 n);
double KERNEL (logits) (PlaitScalar *x, const PlaitScalar *bias, gint64 n, PlaitScalar *greatest);
double KERNEL (exponentials) (PlaitScalar *x, PlaitScalar shift, gint64 n);
void KERNEL (scale_shift) (PlaitScalar *x, PlaitScalar factor, PlaitScalar offset, gint64 n);
gsize KERNEL (attention_forward) (const PlaitAttentionPiece *piece, gpointer scratch);
gsize KERNEL (attention_backward) (const PlaitAttentionPiece *piece, gpointer scratch);
gboolean KERNEL (attention_one) (const PlaitAttentionJob *job, gint64 sentence, PlaitScalar *scratch);
PlaitScalar KERNEL (dot) (const PlaitScalar *x, const PlaitScalar *y, gint64 n);
PlaitScalar KERNEL (additive_score) (const PlaitScalar *query, const PlaitScalar *key, const PlaitScalar *extra,
                                     const PlaitScalar *vector, gint64 n);
void KERNEL (additive_score_backward) (const PlaitAdditivePair *to, PlaitScalar dscore, const PlaitAdditivePair *from,
                                       gint64 n);
void KERNEL (dot_rows) (PlaitScalar *y, PlaitScalar scale, const PlaitScalar *x, const PlaitScalar *rows, gint64 stride,
                        const gint64 *row, gint64 n, gint64 width);
void KERNEL (sum_rows) (PlaitScalar *y, gboolean add, const PlaitScalar *numbers, const PlaitScalar *rows,
                        gint64 stride, const gint64 *row, gint64 n, gint64 width);
void KERNEL (spread_rows) (PlaitScalar *rows, gint64 stride, const gint64 *row, gint64 n, const PlaitScalar *numbers,
                           const PlaitScalar *x, gint64 width);
void KERNEL (additive_rows_backward) (const PlaitAdditiveRows *job, gint64 width);
void KERNEL (weigh_siblings) (const PlaitRowScores *from, const PlaitSiblings *sets, gint64 n, PlaitScalar *weights,
                              PlaitScalar *path);
guint32 KERNEL (best_lanes) (const PlaitScalar *x, gint64 n, gint64 most);
void KERNEL (weigh_families) (const PlaitFamilyTile *tile);
void KERNEL (weigh_families_backward) (const PlaitFamilyTile *tile);
void KERNEL (extent) (const gint64 *numbers, gint64 n, gint64 *least, gint64 *greatest);
void KERNEL (softmax_sets) (PlaitScalar *weights, const PlaitScalar *scores, const gint64 *offsets, gint64 n);
void KERNEL (softmax_sets_backward) (PlaitScalar *dscores, gboolean add, const PlaitScalar *dweights,
                                     const PlaitScalar *weights, const gint64 *offsets, gint64 n);
void KERNEL (items_forward) (const PlaitItemsJob *job, gint64 row, PlaitScalar *scratch);
void KERNEL (items_backward) (const PlaitItemsJob *job, gint64 row, PlaitScalar *scratch);
void KERNEL (gru_after) (const PlaitCellRow *row, gint64 width);
void KERNEL (gru_reset) (const PlaitCellRow *row, gint64 width);
void KERNEL (gru_candidate) (const PlaitCellRow *row, gint64 width);
void KERNEL (lstm) (const PlaitCellRow *row, gint64 width);
void KERNEL (gru_after_backward) (const PlaitCellRow *row, gint64 width);
void KERNEL (gru_candidate_backward) (const PlaitCellRow *row, gint64 width);
void KERNEL (gru_reset_backward) (const PlaitCellRow *row, gint64 width);
void KERNEL (lstm_backward) (const PlaitCellRow *row, gint64 width);
void KERNEL (tree_gru_reset) (const PlaitTreeRow *row, gint64 width);
void KERNEL (tree_gru_candidate) (const PlaitTreeRow *row, gint64 width);
void KERNEL (tree_gru_after) (const PlaitTreeRow *row, gint64 width);
void KERNEL (tree_lstm) (const PlaitTreeRow *row, gint64 width);
void KERNEL (tree_gru_candidate_backward) (const PlaitTreeRow *row, gint64 width);
void KERNEL (tree_gru_reset_backward) (const PlaitTreeRow *row, gint64 width);
void KERNEL (tree_gru_after_backward) (const PlaitTreeRow *row, gint64 width);
void KERNEL (tree_lstm_backward) (const PlaitTreeRow *row, gint64 width);
void KERNEL (tree_head) (const PlaitTreeRow *row, gint64 width);
void KERNEL (tree_head_backward) (const PlaitTreeRow *row, gint64 width);
