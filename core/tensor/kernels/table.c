/* SPDX-License-Identifier: MIT */
#include "tensor/kernels/variant.h"
#include "tensor/kernels/tile.h"

extern const PlaitKernels KERNEL (kernels);

/* What BLAS is measured to be faster at (the README has the numbers). The least variant has no wide vectors on any
 * processor, where BLAS may have them. */
#define MANY_ROWS 64
#if defined(__AVX512F__)
#define BLAS_ROWS                                                                                                      \
  {                                                                                                                    \
    0, 0                                                                                                               \
  }
#elif defined(__AVX2__)
#define BLAS_ROWS                                                                                                      \
  {                                                                                                                    \
    0, MANY_ROWS                                                                                                       \
  }
#else
#define BLAS_ROWS                                                                                                      \
  {                                                                                                                    \
    MANY_ROWS, MANY_ROWS                                                                                               \
  }
#endif

const PlaitKernels KERNEL (kernels) = {
  .variant = G_STRINGIFY (PLAIT_KERNEL_VARIANT),
  .vector_length = VECTOR_BYTES / sizeof (PlaitScalar),
  .tile_width = TILE_VECTORS * VECTOR_BYTES / sizeof (PlaitScalar),
  .packed_width = PACKED_VECTORS * VECTOR_BYTES / sizeof (PlaitScalar),
  .blas_rows = BLAS_ROWS,
  .multiply = KERNEL (multiply),
  .multiply_packed = KERNEL (multiply_packed),
  .transpose = KERNEL (transpose),
  .accumulate = KERNEL (accumulate),
  .combine = KERNEL (combine),
  .multiply_elements = KERNEL (multiply_elements),
  .dropout = KERNEL (dropout),
  .activate = KERNEL (activate),
  .activate_backward = KERNEL (activate_backward),
  .total = KERNEL (total),
  .squares = KERNEL (squares),
  .adam = KERNEL (adam),
  .adadelta = KERNEL (adadelta),
  .layer_norm = KERNEL (layer_norm),
  .layer_norm_backward = KERNEL (layer_norm_backward),
  .greatest = KERNEL (greatest),
  .at_least = KERNEL (at_least),
  .count_at_least = KERNEL (count_at_least),
  .logits = KERNEL (logits),
  .exponentials = KERNEL (exponentials),
  .scale_shift = KERNEL (scale_shift),
  .attention_forward = KERNEL (attention_forward),
  .attention_backward = KERNEL (attention_backward),
  .attention_one = KERNEL (attention_one),
  .dot = KERNEL (dot),
  .additive_score = KERNEL (additive_score),
  .additive_score_backward = KERNEL (additive_score_backward),
  .dot_rows = KERNEL (dot_rows),
  .sum_rows = KERNEL (sum_rows),
  .spread_rows = KERNEL (spread_rows),
  .additive_rows_backward = KERNEL (additive_rows_backward),
  .weigh_siblings = KERNEL (weigh_siblings),
  .best_lanes = KERNEL (best_lanes),
  .weigh_families = KERNEL (weigh_families),
  .weigh_families_backward = KERNEL (weigh_families_backward),
  .extent = KERNEL (extent),
  .softmax_sets = KERNEL (softmax_sets),
  .softmax_sets_backward = KERNEL (softmax_sets_backward),
  .items_forward = KERNEL (items_forward),
  .items_backward = KERNEL (items_backward),
  .gru_after = KERNEL (gru_after),
  .gru_reset = KERNEL (gru_reset),
  .gru_candidate = KERNEL (gru_candidate),
  .lstm = KERNEL (lstm),
  .gru_after_backward = KERNEL (gru_after_backward),
  .gru_candidate_backward = KERNEL (gru_candidate_backward),
  .gru_reset_backward = KERNEL (gru_reset_backward),
  .lstm_backward = KERNEL (lstm_backward),
  .tree_gru_reset = KERNEL (tree_gru_reset),
  .tree_gru_candidate = KERNEL (tree_gru_candidate),
  .tree_gru_after = KERNEL (tree_gru_after),
  .tree_lstm = KERNEL (tree_lstm),
  .tree_gru_candidate_backward = KERNEL (tree_gru_candidate_backward),
  .tree_gru_reset_backward = KERNEL (tree_gru_reset_backward),
  .tree_gru_after_backward = KERNEL (tree_gru_after_backward),
  .tree_lstm_backward = KERNEL (tree_lstm_backward),
  .tree_head = KERNEL (tree_head),
  .tree_head_backward = KERNEL (tree_head_backward),
};
