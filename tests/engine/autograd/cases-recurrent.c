/* SPDX-License-Identifier: MIT */
#include "cases.h"
#include "autograd/layer-operators.h"

/* Cases of cells that run over time and over trees. Widths are not multiples of a vector, so kernels also run their
 * remainder loops. */

static const gint64 three_sentences[] = { 0, 2, 2, 5 };
static const PlaitRagged five_rows = { 3, three_sentences };

#define CHECK_MODE PLAIT_TAPE_CHECK

static PlaitNode *
rnn_gru_after (PlaitTape *tape, PlaitNode *const *leaves)
{
  PlaitRecurrentCell cell
      = { .kind = PLAIT_CELL_GRU, .reset = PLAIT_RESET_AFTER, .recurrent = leaves[1], .bias = leaves[2] };

  return plait_rnn (tape, &cell, leaves[0], five_rows, FALSE, leaves[3], NULL);
}

/* A GRU in both directions, from zero states. Both directions read one projected input. */
static PlaitNode *
rnn_gru_both (PlaitTape *tape, PlaitNode *const *leaves)
{
  PlaitRecurrentCell cell = { .kind = PLAIT_CELL_GRU, .reset = PLAIT_RESET_AFTER, .recurrent = leaves[1] };
  PlaitNode *forward = plait_rnn (tape, &cell, leaves[0], five_rows, FALSE, NULL, NULL);

  return plait_concatenate_columns (
      tape, (PlaitNode *[]){ forward, plait_rnn (tape, &cell, leaves[0], five_rows, TRUE, NULL, NULL) }, 2);
}

static PlaitNode *
rnn_gru_before (PlaitTape *tape, PlaitNode *const *leaves)
{
  PlaitRecurrentCell cell
      = { .kind = PLAIT_CELL_GRU, .reset = PLAIT_RESET_BEFORE, .recurrent = leaves[1], .candidate = leaves[2] };

  return plait_rnn (tape, &cell, leaves[0], five_rows, TRUE, leaves[3], NULL);
}

static PlaitNode *
rnn_lstm (PlaitTape *tape, PlaitNode *const *leaves)
{
  PlaitRecurrentCell cell = { .kind = PLAIT_CELL_LSTM, .recurrent = leaves[1], .bias = leaves[2] };

  return plait_rnn (tape, &cell, leaves[0], five_rows, FALSE, leaves[3], leaves[4]);
}

/* An LSTM from a zero state. Nothing reads its cell states. */
static PlaitNode *
rnn_lstm_states (PlaitTape *tape, PlaitNode *const *leaves)
{
  PlaitRecurrentCell cell = { .kind = PLAIT_CELL_LSTM, .recurrent = leaves[1] };

  return plait_columns (tape, plait_rnn (tape, &cell, leaves[0], five_rows, TRUE, NULL, NULL), 0, 3);
}

/* Single steps, as in a decoder: the state is a view, and all steps use one weight. */
static PlaitNode *
rnn_steps (PlaitTape *tape, PlaitNode *const *leaves)
{
  static const gint64 offsets[] = { 0, 1, 2 };
  PlaitRecurrentCell cell = { .kind = PLAIT_CELL_LSTM, .recurrent = leaves[1] };
  PlaitNode *state = leaves[2], *memory = NULL, *states[3];

  for (int t = 0; t < 3; t++)
    {
      PlaitNode *projected = plait_rows (tape, leaves[0], 2 * t, 2);

      states[t] = plait_rnn (tape, &cell, projected, (PlaitRagged){ 2, offsets }, FALSE, state, memory);
      state = plait_columns (tape, states[t], 0, 3);
      memory = plait_columns (tape, states[t], 3, 3);
    }
  return plait_concatenate_rows (tape, states, 3);
}

/* A linear layer that is used at many steps, so that the rows for its gradient are collected; also a GRU's recurrent
 * weight. */
static PlaitNode *
linear_weight_reuse (PlaitTape *tape, PlaitNode *const *leaves)
{
  static const gint64 offsets[] = { 0, 1, 2 };
  PlaitRecurrentCell cell = { .kind = PLAIT_CELL_GRU, .reset = PLAIT_RESET_AFTER, .recurrent = leaves[3] };
  PlaitNode *x = leaves[0];

  for (int t = 0; t < 6; t++)
    {
      PlaitNode *projected = plait_linear (tape, x, leaves[1], leaves[2], PLAIT_ACTIVATION_NONE);

      x = plait_rnn (tape, &cell, projected, (PlaitRagged){ 2, offsets }, FALSE, x, NULL);
    }
  return x;
}

/* Two sentences: two rows with one query, and three rows with two queries. These are eight pairs. */
static const gint64 pair_queries[] = { 0, 1, 3 }, pair_rows[] = { 0, 2, 5 };
static const gint64 rows_of_pairs[] = { 0, 1, 2, 3, 4, 2, 3, 4 };
static const gint64 queries_of_pairs[] = { 0, 0, 1, 1, 1, 2, 2, 2 };
/* Links of pairs: the last row of the second sentence reads the other two rows, and one row of the first sentence reads
 * the other. */
static const gint64 pair_left[] = { -1, 0, -1, -1, 2, -1, -1, 5 };
static const gint64 pair_right[] = { -1, -1, -1, -1, 3, -1, -1, 6 };

/* Two steps of a GRU whose gates read linked states and numbers, as in tree coverage. The leaves are: row part, query
 * part, states, U, numbers, their weight, the weights of the three inputs of a pair and, with PLAIT_RESET_BEFORE,
 * U_c. */
static PlaitNode *
pair_cell (PlaitTape *tape, PlaitNode *const *leaves, PlaitResetOrder reset)
{
  PlaitRecurrentCell gru = { .kind = PLAIT_CELL_GRU, .reset = reset, .recurrent = leaves[3] };
  PlaitPairIndices indices
      = { plait_query_key_pairs (tape, (PlaitRagged){ 2, pair_queries }, (PlaitRagged){ 2, pair_rows }), rows_of_pairs,
          queries_of_pairs };
  PlaitNode *states = leaves[2];

  if (reset == PLAIT_RESET_BEFORE)
    gru.candidate = leaves[9];
  for (gint t = 0; t < 2; t++)
    {
      PlaitPairInput pair_inputs[] = { { pair_left, states, leaves[6] },
                                       { pair_left, leaves[4], leaves[7] },
                                       { pair_right, states, leaves[8] } };

      states = plait_pair_cell (tape, &gru, &indices, leaves[0], leaves[1], leaves[4], leaves[5], pair_inputs,
                                G_N_ELEMENTS (pair_inputs), states);
    }
  return states;
}

static PlaitNode *
pair_cell_before (PlaitTape *tape, PlaitNode *const *leaves)
{
  return pair_cell (tape, leaves, PLAIT_RESET_BEFORE);
}

static PlaitNode *
pair_cell_after (PlaitTape *tape, PlaitNode *const *leaves)
{
  return pair_cell (tape, leaves, PLAIT_RESET_AFTER);
}

/* Three trees: three words under two nodes, two words under one node, and a single word without a node. */
static const gint64 tree_leaf[] = { 0, 1, 2, -1, -1, 3, 4, -1, 5 };
static const gint64 tree_first[] = { 0, 2, 3 };
static const gint64 tree_row[] = { 3, 7, 4 };
static const gint64 tree_left[] = { 0, 5, 3 };
static const gint64 tree_right[] = { 1, 6, 2 };
static const PlaitTreeHeights tree_heights
    = { .rows = 9, .leaf = tree_leaf, .n = 2, .first = tree_first, .row = tree_row, tree_left, tree_right };

static PlaitNode *
bottom_up_gru_before (PlaitTape *tape, PlaitNode *const *leaves)
{
  PlaitTreeCell cell = { PLAIT_TREE_GRU, PLAIT_RESET_BEFORE, leaves[1], leaves[2], leaves[3], leaves[4] };

  return plait_tree_bottom_up (tape, &cell, &tree_heights, leaves[0], NULL, leaves[5]);
}

static PlaitNode *
bottom_up_gru_after (PlaitTape *tape, PlaitNode *const *leaves)
{
  PlaitTreeCell cell = { PLAIT_TREE_GRU, PLAIT_RESET_AFTER, leaves[1], leaves[2], leaves[3], leaves[4] };

  return plait_tree_bottom_up (tape, &cell, &tree_heights, leaves[0], NULL, leaves[5]);
}

static PlaitNode *
bottom_up_lstm (PlaitTape *tape, PlaitNode *const *leaves)
{
  PlaitTreeCell cell = { .kind = PLAIT_TREE_LSTM, .gates = leaves[2], .gate_bias = leaves[3] };

  return plait_tree_bottom_up (tape, &cell, &tree_heights, leaves[0], leaves[1], leaves[4]);
}

static PlaitNode *
bottom_up_head (PlaitTape *tape, PlaitNode *const *leaves)
{
  PlaitTreeCell cell = { .kind = PLAIT_TREE_HEAD_WORD, .gates = leaves[1], .gate_bias = leaves[2] };

  return plait_tree_bottom_up (tape, &cell, &tree_heights, leaves[0], NULL, NULL);
}

/* A Tree-GRU whose nodes have no inputs and which has no biases, as in Chen et al. 2017. Its states are read twice. */
static PlaitNode *
bottom_up_plain (PlaitTape *tape, PlaitNode *const *leaves)
{
  PlaitTreeCell cell = { .kind = PLAIT_TREE_GRU, .gates = leaves[1], .candidate = leaves[2] };
  PlaitNode *states = plait_tree_bottom_up (tape, &cell, &tree_heights, plait_scale (tape, leaves[0], 1), NULL, NULL);

  return plait_multiply (tape, states, states);
}

/* The trees of tree_leaf, read top-down. The single word has no root. */
static const gint64 tree_root[] = { -1, -1, -1, -1, 0, -1, -1, 1, -1 };
static const gint64 side_first[] = { 0, 2, 3 };
static const gint64 left_row[] = { 3, 5, 0 }, left_parent[] = { 4, 7, 3 };
static const gint64 right_row[] = { 2, 6, 1 }, right_parent[] = { 4, 7, 3 };
static const PlaitTreeDepths tree_depths = {
  .rows = 9,
  .root = tree_root,
  .n = 2,
  .sides = { { side_first, left_row, left_parent }, { side_first, right_row, right_parent } },
};

static PlaitNode *
top_down_after (PlaitTape *tape, PlaitNode *const *leaves)
{
  PlaitRecurrentCell cells[] = {
    { .kind = PLAIT_CELL_GRU, .reset = PLAIT_RESET_AFTER, .recurrent = leaves[3], .bias = leaves[5] },
    { .kind = PLAIT_CELL_GRU, .reset = PLAIT_RESET_AFTER, .recurrent = leaves[4], .bias = leaves[5] },
  };

  return plait_tree_top_down (tape, cells, &tree_depths, leaves[0], leaves + 1);
}

/* Left and right children read the same projected input. */
static PlaitNode *
top_down_before (PlaitTape *tape, PlaitNode *const *leaves)
{
  PlaitRecurrentCell cells[] = {
    { .kind = PLAIT_CELL_GRU, .reset = PLAIT_RESET_BEFORE, .recurrent = leaves[2], .candidate = leaves[4] },
    { .kind = PLAIT_CELL_GRU, .reset = PLAIT_RESET_BEFORE, .recurrent = leaves[3], .candidate = leaves[5] },
  };

  return plait_tree_top_down (tape, cells, &tree_depths, leaves[0], (PlaitNode *[]){ leaves[1], leaves[1] });
}

static PlaitNode *
scan (PlaitTape *tape, PlaitNode *const *leaves)
{
  return plait_scan (tape, leaves[0], leaves[1], leaves[2], five_rows);
}

/* A scan from a zero state whose factors and summands are views of one node, which is read again. */
static PlaitNode *
scan_views (PlaitTape *tape, PlaitNode *const *leaves)
{
  PlaitNode *x = plait_scale (tape, leaves[0], 0.5);
  PlaitNode *h = plait_scan (tape, plait_columns (tape, x, 1, 3), plait_columns (tape, x, 3, 3), NULL, five_rows);

  return plait_concatenate_columns (tape, (PlaitNode *[]){ h, x }, 2);
}

/* A scan whose initial state, factors and summands are one node. */
static PlaitNode *
scan_of_one (PlaitTape *tape, PlaitNode *const *leaves)
{
  static const gint64 units[] = { 0, 1, 2, 3 };

  return plait_scan (tape, leaves[0], leaves[0], leaves[0], (PlaitRagged){ 3, units });
}

const GradientCase recurrent_cases[] = {
  { "linear, weight reuse",
    "linear_",
    linear_weight_reuse,
    CHECK_MODE,
    4,
    { { 2, 5 }, { 5, 15 }, { 1, 15 }, { 5, 15 } } },
  { "rnn, step by step", "rnn_", rnn_steps, CHECK_MODE, 3, { { 6, 12 }, { 3, 12 }, { 2, 3 } } },
  { "rnn gru", "rnn_gru_", rnn_gru_after, CHECK_MODE, 4, { { 5, 27 }, { 9, 27 }, { 1, 27 }, { 3, 9 } } },
  { "rnn gru, both ways", NULL, rnn_gru_both, CHECK_MODE, 2, { { 5, 12 }, { 4, 12 } } },
  { "rnn gru, reset before", "rnn_gru_", rnn_gru_before, CHECK_MODE, 4, { { 5, 27 }, { 9, 18 }, { 9, 9 }, { 3, 9 } } },
  { "rnn lstm", "rnn_lstm_", rnn_lstm, CHECK_MODE, 5, { { 5, 36 }, { 9, 36 }, { 1, 36 }, { 3, 9 }, { 3, 9 } } },
  { "rnn lstm, states", NULL, rnn_lstm_states, CHECK_MODE, 2, { { 5, 12 }, { 3, 12 } } },
  { "pair cell, reset before",
    "pair_cell_",
    pair_cell_before,
    CHECK_MODE,
    10,
    { { 5, 27 }, { 3, 27 }, { 8, 9 }, { 9, 18 }, { 8, 1 }, { 1, 27 }, { 9, 27 }, { 1, 27 }, { 9, 27 }, { 9, 9 } } },
  { "pair cell, reset after",
    "pair_cell_",
    pair_cell_after,
    CHECK_MODE,
    9,
    { { 5, 27 }, { 3, 27 }, { 8, 9 }, { 9, 27 }, { 8, 1 }, { 1, 27 }, { 9, 27 }, { 1, 27 }, { 9, 27 } } },
  { "bottom-up, plain", "bottom_up_", bottom_up_plain, CHECK_MODE, 3, { { 6, 4 }, { 8, 20 }, { 8, 4 } } },
  { "bottom-up gru, reset before",
    "bottom_up_gru_",
    bottom_up_gru_before,
    CHECK_MODE,
    6,
    { { 6, 9 }, { 18, 45 }, { 1, 45 }, { 18, 9 }, { 1, 9 }, { 3, 54 } } },
  { "bottom-up gru, reset after",
    "bottom_up_gru_",
    bottom_up_gru_after,
    CHECK_MODE,
    6,
    { { 6, 9 }, { 18, 45 }, { 1, 45 }, { 18, 9 }, { 1, 9 }, { 3, 54 } } },
  { "bottom-up lstm",
    "bottom_up_lstm_",
    bottom_up_lstm,
    CHECK_MODE,
    5,
    { { 6, 9 }, { 6, 9 }, { 18, 45 }, { 1, 45 }, { 3, 45 } } },
  { "bottom-up head", "bottom_up_head", bottom_up_head, CHECK_MODE, 3, { { 6, 9 }, { 18, 9 }, { 1, 9 } } },
  { "top-down, reset after",
    "top_down_",
    top_down_after,
    CHECK_MODE,
    6,
    { { 2, 9 }, { 3, 27 }, { 3, 27 }, { 9, 27 }, { 9, 27 }, { 1, 27 } } },
  { "top-down, reset before",
    "top_down_",
    top_down_before,
    CHECK_MODE,
    6,
    { { 2, 9 }, { 3, 27 }, { 9, 18 }, { 9, 18 }, { 9, 9 }, { 9, 9 } } },
  { "scan", "scan_", scan, CHECK_MODE, 3, { { 5, 9 }, { 5, 9 }, { 3, 9 } } },
  { "scan, views", NULL, scan_views, CHECK_MODE, 1, { { 5, 7 } } },
  { "scan, one node", NULL, scan_of_one, CHECK_MODE, 1, { { 3, 4 } } },
};
const guint n_recurrent_cases = G_N_ELEMENTS (recurrent_cases);
