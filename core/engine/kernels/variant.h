/* SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/kernels.h"
#include "kernels/vector.h"

/* List of the kernels of this variant, by the names of their members in PlaitKernels (kernels/kernels.h). */
#define EACH_KERNEL(X)                                                                                                 \
  X (multiply)                                                                                                         \
  X (multiply_packed)                                                                                                  \
  X (transpose)                                                                                                        \
  X (accumulate)                                                                                                       \
  X (combine)                                                                                                          \
  X (multiply_elements)                                                                                                \
  X (rotate)                                                                                                           \
  X (maximum)                                                                                                          \
  X (maximum_backward)                                                                                                 \
  X (dropout)                                                                                                          \
  X (activate)                                                                                                         \
  X (activate_backward)                                                                                                \
  X (total)                                                                                                            \
  X (squares)                                                                                                          \
  X (adam)                                                                                                             \
  X (adadelta)                                                                                                         \
  X (layer_norm)                                                                                                       \
  X (layer_norm_backward)                                                                                              \
  X (greatest)                                                                                                         \
  X (at_least)                                                                                                         \
  X (count_at_least)                                                                                                   \
  X (logits)                                                                                                           \
  X (exponentials)                                                                                                     \
  X (scale_shift)                                                                                                      \
  X (attention_forward)                                                                                                \
  X (attention_backward)                                                                                               \
  X (attention_single_query)                                                                                           \
  X (relative_attention_forward)                                                                                       \
  X (relative_attention_backward)                                                                                      \
  X (relative_attention_single_query)                                                                                  \
  X (dot)                                                                                                              \
  X (additive_score)                                                                                                   \
  X (additive_score_backward)                                                                                          \
  X (dot_rows)                                                                                                         \
  X (sum_rows)                                                                                                         \
  X (spread_rows)                                                                                                      \
  X (additive_rows_backward)                                                                                           \
  X (weigh_siblings)                                                                                                   \
  X (best_lanes)                                                                                                       \
  X (weigh_sibling_groups)                                                                                             \
  X (weigh_sibling_groups_backward)                                                                                    \
  X (extent)                                                                                                           \
  X (softmax_sets)                                                                                                     \
  X (softmax_sets_backward)                                                                                            \
  X (items_forward)                                                                                                    \
  X (items_backward)                                                                                                   \
  X (gru_after)                                                                                                        \
  X (gru_reset)                                                                                                        \
  X (gru_candidate)                                                                                                    \
  X (lstm)                                                                                                             \
  X (gru_after_backward)                                                                                               \
  X (gru_candidate_backward)                                                                                           \
  X (gru_reset_backward)                                                                                               \
  X (lstm_backward)                                                                                                    \
  X (scan)                                                                                                             \
  X (scan_backward)                                                                                                    \
  X (tree_gru_reset)                                                                                                   \
  X (tree_gru_candidate)                                                                                               \
  X (tree_gru_after)                                                                                                   \
  X (tree_lstm)                                                                                                        \
  X (tree_gru_candidate_backward)                                                                                      \
  X (tree_gru_reset_backward)                                                                                          \
  X (tree_gru_after_backward)                                                                                          \
  X (tree_lstm_backward)                                                                                               \
  X (tree_head)                                                                                                        \
  X (tree_head_backward)

#define DECLARE(name) __typeof__ (*((PlaitKernels *)NULL)->name) KERNEL (name);
EACH_KERNEL (DECLARE)
#undef DECLARE
