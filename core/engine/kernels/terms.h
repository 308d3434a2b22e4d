/* SPDX-License-Identifier: MIT */
#pragma once

#include "types/export.h"

/*
 * The terms of all derivatives, by name: the operator's name, then the term's. Wherever a backward computes a term it
 * says PLAIT_TERM (name, expression). That is the expression itself in the builds that users run. In the build with
 * double scalars, which is for tests, it is multiplied by a factor of its own that a test may change: each term is
 * dropped, flipped and scaled in turn, and a gradient check must notice.
 */
#define PLAIT_TERMS(X)                                                                                                 \
  X (linear_input)                                                                                                     \
  X (linear_weight)                                                                                                    \
  X (linear_bias)                                                                                                      \
  X (relu)                                                                                                             \
  X (gelu_distribution)                                                                                                \
  X (gelu_density)                                                                                                     \
  X (approximate_gelu_distribution)                                                                                    \
  X (approximate_gelu_density)                                                                                         \
  X (swish_sigmoid)                                                                                                    \
  X (swish_slope)                                                                                                      \
  X (tanh_one)                                                                                                         \
  X (tanh_square)                                                                                                      \
  X (sigmoid_one)                                                                                                      \
  X (sigmoid_square)                                                                                                   \
  X (exp)                                                                                                              \
  X (log)                                                                                                              \
  X (sum)                                                                                                              \
  X (multiply_left)                                                                                                    \
  X (multiply_right)                                                                                                   \
  X (divide_numerator)                                                                                                 \
  X (divide_denominator)                                                                                               \
  X (maximum_left)                                                                                                     \
  X (maximum_right)                                                                                                    \
  X (scale)                                                                                                            \
  X (scale_rows_value)                                                                                                 \
  X (scale_rows_factor)                                                                                                \
  X (scale_columns_value)                                                                                              \
  X (scale_columns_factor)                                                                                             \
  X (total)                                                                                                            \
  X (concatenate_columns)                                                                                              \
  X (concatenate_rows)                                                                                                 \
  X (gather_rows)                                                                                                      \
  X (select_rows_taken)                                                                                                \
  X (select_rows_other)                                                                                                \
  X (dropout)                                                                                                          \
  X (residual_stream)                                                                                                  \
  X (residual_branch)                                                                                                  \
  X (layer_norm_input)                                                                                                 \
  X (layer_norm_mean)                                                                                                  \
  X (layer_norm_variance)                                                                                              \
  X (layer_norm_gain)                                                                                                  \
  X (layer_norm_bias)                                                                                                  \
  X (embed_table)                                                                                                      \
  X (positions_input)                                                                                                  \
  X (positions_table)                                                                                                  \
  X (attention_query)                                                                                                  \
  X (attention_key)                                                                                                    \
  X (attention_value)                                                                                                  \
  X (attention_weight)                                                                                                 \
  X (attention_normaliser)                                                                                             \
  X (pair_scores_one)                                                                                                  \
  X (pair_scores_square)                                                                                               \
  X (pair_scores_vector)                                                                                               \
  X (pair_scores_query)                                                                                                \
  X (pair_scores_key)                                                                                                  \
  X (pair_scores_extra)                                                                                                \
  X (pair_scores_bias)                                                                                                 \
  X (pair_dot_query)                                                                                                   \
  X (pair_dot_key)                                                                                                     \
  X (pair_softmax_weight)                                                                                              \
  X (pair_softmax_normaliser)                                                                                          \
  X (pair_read_weight)                                                                                                 \
  X (pair_read_value)                                                                                                  \
  X (chosen_products_query)                                                                                            \
  X (chosen_products_key)                                                                                              \
  X (chosen_additive_one)                                                                                              \
  X (chosen_additive_square)                                                                                           \
  X (chosen_additive_vector)                                                                                           \
  X (chosen_additive_query)                                                                                            \
  X (chosen_additive_key)                                                                                              \
  X (chosen_weights_weight)                                                                                            \
  X (chosen_weights_normaliser)                                                                                        \
  X (chosen_read_weight)                                                                                               \
  X (chosen_read_value)                                                                                                \
  X (families_attention_query)                                                                                         \
  X (families_attention_key)                                                                                           \
  X (families_attention_value)                                                                                         \
  X (families_attention_weight)                                                                                        \
  X (families_attention_normaliser)                                                                                    \
  X (families_attention_parent)                                                                                        \
  X (family_weights_weight)                                                                                            \
  X (family_weights_normaliser)                                                                                        \
  X (family_weights_parent)                                                                                            \
  X (walk_leaf)                                                                                                        \
  X (walk_sum)                                                                                                         \
  X (walk_parent)                                                                                                      \
  X (walk_weight)                                                                                                      \
  X (walk_normaliser)                                                                                                  \
  X (walk_query)                                                                                                       \
  X (walk_key)                                                                                                         \
  X (shares_number)                                                                                                    \
  X (shares_rest)                                                                                                      \
  X (shares_carried)                                                                                                   \
  X (pair_cell_row)                                                                                                    \
  X (pair_cell_query)                                                                                                  \
  X (pair_cell_number)                                                                                                 \
  X (pair_cell_number_weight)                                                                                          \
  X (pair_cell_linked)                                                                                                 \
  X (pair_cell_linked_weight)                                                                                          \
  X (pair_cell_back)                                                                                                   \
  X (pair_cell_weight)                                                                                                 \
  X (pair_cell_candidate_back)                                                                                         \
  X (pair_cell_candidate_weight)                                                                                       \
  X (items_attention_query)                                                                                            \
  X (items_attention_key)                                                                                              \
  X (items_attention_value)                                                                                            \
  X (items_attention_weight)                                                                                           \
  X (items_attention_normaliser)                                                                                       \
  X (recur_gru_update)                                                                                                 \
  X (recur_gru_state)                                                                                                  \
  X (recur_gru_candidate)                                                                                              \
  X (recur_gru_reset)                                                                                                  \
  X (recur_gru_reset_product)                                                                                          \
  X (recur_gru_reset_state)                                                                                            \
  X (recur_lstm_cell)                                                                                                  \
  X (recur_lstm_input)                                                                                                 \
  X (recur_lstm_candidate)                                                                                             \
  X (recur_lstm_output)                                                                                                \
  X (recur_lstm_forget)                                                                                                \
  X (recur_lstm_previous_cell)                                                                                         \
  X (recur_state)                                                                                                      \
  X (recur_weight)                                                                                                     \
  X (recur_gru_back)                                                                                                   \
  X (recur_gru_weight)                                                                                                 \
  X (recur_beginning)                                                                                                  \
  X (recur_lstm_beginning)                                                                                             \
  X (upward_gru_update_left)                                                                                           \
  X (upward_gru_update_right)                                                                                          \
  X (upward_gru_update)                                                                                                \
  X (upward_gru_left)                                                                                                  \
  X (upward_gru_right)                                                                                                 \
  X (upward_gru_candidate)                                                                                             \
  X (upward_gru_reset)                                                                                                 \
  X (upward_gru_reset_child)                                                                                           \
  X (upward_gru_product)                                                                                               \
  X (upward_lstm_cell)                                                                                                 \
  X (upward_lstm_input)                                                                                                \
  X (upward_lstm_forget)                                                                                               \
  X (upward_lstm_candidate)                                                                                            \
  X (upward_lstm_output)                                                                                               \
  X (upward_lstm_child)                                                                                                \
  X (upward_head)                                                                                                      \
  X (upward_head_left)                                                                                                 \
  X (upward_head_right)                                                                                                \
  X (upward_gates)                                                                                                     \
  X (upward_gates_weight)                                                                                              \
  X (upward_gru_reset_product)                                                                                         \
  X (upward_gru_candidate_weight)                                                                                      \
  X (upward_gru_candidate_bias)                                                                                        \
  X (upward_leaf)                                                                                                      \
  X (upward_lstm_leaf)                                                                                                 \
  X (downward_state)                                                                                                   \
  X (downward_reset)                                                                                                   \
  X (downward_weight)                                                                                                  \
  X (downward_candidate_weight)                                                                                        \
  X (downward_root)                                                                                                    \
  X (vocabulary_loss_probability)                                                                                      \
  X (vocabulary_loss_target)                                                                                           \
  X (vocabulary_loss_smoothing)                                                                                        \
  X (vocabulary_loss_states)                                                                                           \
  X (vocabulary_loss_table)                                                                                            \
  X (vocabulary_loss_bias)

#ifdef PLAIT_SCALAR_DOUBLE

typedef enum
{
#define PLAIT_TERM_ENTRY(name) PLAIT_TERM_##name,
  PLAIT_TERMS (PLAIT_TERM_ENTRY)
#undef PLAIT_TERM_ENTRY
      PLAIT_N_TERMS
} PlaitTerm;

/* 1 each, unless a mutation test says otherwise. */
extern double plait_term_factors[PLAIT_N_TERMS];
extern const char *const plait_term_names[PLAIT_N_TERMS];

#define PLAIT_TERM(name, expression) ((expression)*plait_term_factors[PLAIT_TERM_##name])

/* For a term that is a product of @n numbers with something: multiplies them. */
#define PLAIT_TERM_NUMBERS(name, numbers, n)                                                                           \
  for (gint64 term_number = 0; term_number < (n); term_number++)                                                       \
  (numbers)[term_number] *= plait_term_factors[PLAIT_TERM_##name]

#else

#define PLAIT_TERM(name, expression) (expression)
#define PLAIT_TERM_NUMBERS(name, numbers, n) ((void)0)

#endif
