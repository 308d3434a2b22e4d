/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "process/random.h"
#include "bench.h"
#include "autograd/layer-operators.h"

/* Tests of the values of operators against values computed by hand or in plain loops over doubles. */

TEST_CASE (operators, linear)
{
  g_auto (Bench) bench = bench_new (1);
  PlaitNode *x, *weight, *bias, *y;

  x = bench_leaf (&bench, 2, 3, (double[]){ 1, 2, 3, -1, 0, 2 });
  weight = bench_leaf (&bench, 3, 2, (double[]){ 1, -1, 0, 2, 0.5, 1 });
  bias = bench_leaf (&bench, 1, 2, (double[]){ 0.5, -7 });
  y = plait_linear (bench.tape, x, weight, bias, PLAIT_ACTIVATION_NONE);
  check_tensor ("x W + b", y->value, (double[]){ 3, -1, 0.5, -4 }, NEAR);
  y = plait_linear (bench.tape, x, weight, bias, PLAIT_ACTIVATION_RELU);
  check_tensor ("relu (x W + b)", y->value, (double[]){ 3, 0, 0.5, 0 }, NEAR);
  plait_tape_backward (bench.tape, bench_weigh (&bench, y, (double[]){ 2, 5, 3, 7 }));
  check_tensor ("dx", x->gradient, (double[]){ 2, 0, 1, 3, 0, 1.5 }, NEAR);
  check_tensor ("dW", weight->gradient, (double[]){ -1, 0, 4, 0, 12, 0 }, NEAR);
  check_tensor ("db", bias->gradient, (double[]){ 5, 0 }, NEAR);
}

TEST_CASE (operators, activations)
{
  g_auto (Bench) bench = bench_new (1);
  PlaitNode *x;

  x = bench_leaf (&bench, 1, 3, (double[]){ -1, 0, 2 });
  CHECK (plait_activate (bench.tape, x, PLAIT_ACTIVATION_NONE) == x);
  check_tensor ("relu", plait_activate (bench.tape, x, PLAIT_ACTIVATION_RELU)->value, (double[]){ 0, 0, 2 }, NEAR);
  /* The expected values are x Phi (x), with Phi from a table of the normal distribution. */
  check_tensor ("gelu", plait_activate (bench.tape, x, PLAIT_ACTIVATION_GELU)->value,
                (double[]){ -0.158655253931457, 0, 1.954499736103642 }, NEAR);
  /* The expected values are x / 2 (1 + tanh (...)), from a calculator. */
  check_tensor ("gelu by tanh", plait_activate (bench.tape, x, PLAIT_ACTIVATION_GELU_TANH)->value,
                (double[]){ -0.158808009391723, 0, 1.954597694087775 }, NEAR);
  check_tensor ("tanh", plait_activate (bench.tape, x, PLAIT_ACTIVATION_TANH)->value,
                (double[]){ -0.761594155955765, 0, 0.964027580075817 }, NEAR);
  check_tensor ("sigmoid", plait_activate (bench.tape, x, PLAIT_ACTIVATION_SIGMOID)->value,
                (double[]){ 0.268941421369995, 0.5, 0.880797077977882 }, NEAR);
}

TEST_CASE (operators, exponentials_and_logarithms)
{
  g_auto (Bench) bench = bench_new (1);
  PlaitTape *tape = bench.tape;
  PlaitNode *x;

  x = bench_leaf (&bench, 2, 2, (double[]){ 0, 1, -1, 2 });
  check_tensor ("exp", plait_exp (tape, x)->value,
                (double[]){ 1, 2.718281828459045, 0.367879441171442, 7.389056098930650 }, 8 * NEAR);
  check_tensor ("log", plait_log (tape, bench_leaf (&bench, 1, 4, (double[]){ 1, 2, 0.1, 1000 }))->value,
                (double[]){ 0, 0.693147180559945, -2.302585092994046, 6.907755278982137 }, 8 * NEAR);
  /* The rows have the odds 1 : e and 1 : e^3. */
  check_tensor ("softmax", plait_softmax (tape, x)->value,
                (double[]){ 0.268941421369995, 0.731058578630005, 0.047425873177567, 0.952574126822433 }, NEAR);
  /* Large numbers do not overflow. */
  check_tensor ("softmax of great numbers",
                plait_softmax (tape, bench_leaf (&bench, 1, 3, (double[]){ 1000, 1000, -1000 }))->value,
                (double[]){ 0.5, 0.5, 0 }, NEAR);
}

TEST_CASE (operators, maximum_and_minimum)
{
  g_auto (Bench) bench = bench_new (1);
  PlaitTape *tape = bench.tape;
  PlaitNode *x, *y, *greater, *lesser;

  x = bench_leaf (&bench, 1, 3, (double[]){ 1, -2, 3 });
  y = bench_leaf (&bench, 1, 3, (double[]){ 0, 5, 3 });
  greater = plait_maximum (tape, x, y);
  lesser = plait_minimum (tape, x, y);
  check_tensor ("maximum", greater->value, (double[]){ 1, 5, 3 }, 0);
  check_tensor ("minimum", lesser->value, (double[]){ 0, -2, 3 }, 0);
  plait_tape_backward (tape, bench_weigh (&bench, plait_concatenate_rows (tape, (PlaitNode *[]){ greater, lesser }, 2),
                                          (double[]){ 1, 2, 4, 8, 16, 32 }));
  check_tensor ("dx", x->gradient, (double[]){ 1, 16, 18 }, 0);
  check_tensor ("dy", y->gradient, (double[]){ 8, 2, 18 }, 0);
}

TEST_CASE (operators, rows_and_columns_times_numbers)
{
  g_auto (Bench) bench = bench_new (1);
  PlaitTape *tape = bench.tape;
  PlaitNode *x, *column, *row, *rows, *columns;

  x = bench_leaf (&bench, 2, 3, (double[]){ 1, 2, 3, 4, 5, 6 });
  column = bench_leaf (&bench, 2, 1, (double[]){ 10, -1 });
  row = bench_leaf (&bench, 1, 3, (double[]){ 1, 0, 2 });
  rows = plait_multiply_broadcast (tape, x, column);
  columns = plait_multiply_broadcast (tape, x, row);
  check_tensor ("rows", rows->value, (double[]){ 10, 20, 30, -4, -5, -6 }, 0);
  check_tensor ("columns", columns->value, (double[]){ 1, 0, 6, 4, 0, 12 }, 0);
  plait_tape_backward (tape, bench_weigh (&bench, plait_add_n (tape, (PlaitNode *[]){ rows, columns }, 2),
                                          (double[]){ 1, 0, 0, 0, 2, 1 }));
  check_tensor ("dx", x->gradient, (double[]){ 11, 0, 0, 0, -2, 1 }, 0);
  check_tensor ("dcolumn", column->gradient, (double[]){ 1, 16 }, 0);
  check_tensor ("drow", row->gradient, (double[]){ 1, 10, 6 }, 0);
}

TEST_CASE (operators, parts_and_wholes)
{
  g_auto (Bench) bench = bench_new (1);
  PlaitTape *tape = bench.tape;
  PlaitNode *x, *y, *both;

  x = bench_leaf (&bench, 3, 2, (double[]){ 1, 2, 3, 4, 5, 6 });
  y = bench_leaf (&bench, 3, 1, (double[]){ 7, 8, 9 });
  both = plait_concatenate_columns (tape, (PlaitNode *[]){ y, x }, 2);
  check_tensor ("columns side by side", both->value, (double[]){ 7, 1, 2, 8, 3, 4, 9, 5, 6 }, 0);
  check_tensor ("a column", plait_columns (tape, both, 1, 1)->value, (double[]){ 1, 3, 5 }, 0);
  check_tensor ("two rows", plait_rows (tape, both, 1, 2)->value, (double[]){ 8, 3, 4, 9, 5, 6 }, 0);
  check_tensor (
      "rows below each other",
      plait_concatenate_rows (tape, (PlaitNode *[]){ plait_rows (tape, x, 2, 1), plait_rows (tape, x, 0, 2) }, 2)
          ->value,
      (double[]){ 5, 6, 1, 2, 3, 4 }, 0);
  check_tensor ("gathered", plait_gather_rows (tape, x, (gint64[]){ 2, -1, 2 }, 3)->value,
                (double[]){ 5, 6, 0, 0, 5, 6 }, 0);
  check_tensor ("selected", plait_select_rows (tape, (guint8[]){ 0, 1, 0 }, x, plait_scale (tape, x, 10))->value,
                (double[]){ 10, 20, 3, 4, 50, 60 }, 0);
  check_tensor ("selected or zero", plait_select_rows (tape, (guint8[]){ 0, 1, 0 }, x, NULL)->value,
                (double[]){ 0, 0, 3, 4, 0, 0 }, 0);
  check_tensor ("the sum of four", plait_add_n (tape, (PlaitNode *[]){ x, x, x, x }, 4)->value,
                (double[]){ 4, 8, 12, 16, 20, 24 }, 0);
  check_tensor ("the total", plait_reduce_sum (tape, x)->value, (double[]){ 21 }, 0);
  check_tensor ("embedded", plait_embed (tape, x, (gint32[]){ 1, 0 }, 2, 0.5)->value, (double[]){ 1.5, 2, 0.5, 1 }, 0);
}

TEST_CASE (operators, layer_norm)
{
  g_auto (Bench) bench = bench_new (1);
  /* The first row has mean 2 and biased variance 2 / 3. The second row is constant, and epsilon keeps its result
   * finite. */
  double s = sqrt (2. / 3 + 1e-6);
  PlaitNode *y;

  y = plait_layer_norm (bench.tape, bench_leaf (&bench, 2, 3, (double[]){ 1, 2, 3, 4, 4, 4 }),
                        bench_leaf (&bench, 1, 3, (double[]){ 1, 2, 3 }),
                        bench_leaf (&bench, 1, 3, (double[]){ 0, 10, 20 }), 1e-6);
  check_tensor ("y", y->value, (double[]){ -1 / s, 10, 20 + 3 / s, 0, 10, 20 }, NEAR);
}

/* Returns the result of inverted dropout for the element 1, from the hash that is documented. */
static double
mask_of (PlaitRandomKey key, guint32 element, double rate)
{
  guint32 hash = plait_random_hash32 ((guint32)key.state, (guint32)(key.state >> 32), element);

  return hash < (guint32)(rate * 0x1p32) ? 0 : 1 / (1 - rate);
}

TEST_CASE (operators, dropout)
{
  enum
  {
    ROWS = 40,
    WIDTH = 50
  };
  const double rate = 0.3;
  g_auto (Bench) bench = bench_new (2);
  PlaitTape *tape = bench.tape;
  PlaitRandomKey key = plait_random_subkey (plait_random_key (5, "dropout", NULL, 1), 0);
  double ones[ROWS * WIDTH], expected[ROWS * WIDTH], mean = 0;
  PlaitNode *x, *y;

  for (guint32 i = 0; i < ROWS * WIDTH; i++)
    {
      ones[i] = 1;
      expected[i] = mask_of (key, i, rate);
      mean += expected[i] / (ROWS * WIDTH);
    }
  CHECK_NEAR (mean, 1, 0.06);

  bench_begin (&bench, PLAIT_TAPE_TRAIN);
  x = bench_leaf (&bench, ROWS, WIDTH, ones);
  CHECK (plait_dropout (tape, x, 0) == x);
  y = plait_dropout (tape, x, rate);
  check_tensor ("dropout", y->value, expected, NEAR);
  plait_tape_backward (tape, plait_reduce_sum (tape, y));
  check_tensor ("its gradient", x->gradient, expected, NEAR);

  /* Dropout changes only the branch, not the residual stream. */
  bench_begin (&bench, PLAIT_TAPE_TRAIN);
  x = bench_leaf (&bench, ROWS, WIDTH, ones);
  y = plait_residual (tape, plait_scale (tape, x, 5), x, rate);
  for (int i = 0; i < ROWS * WIDTH; i++)
    expected[i] += 5;
  check_tensor ("residual", y->value, expected, NEAR);

  for (PlaitTapeMode mode = PLAIT_TAPE_EVALUATE; mode <= PLAIT_TAPE_CHECK; mode++)
    {
      bench_begin (&bench, mode);
      x = bench_leaf (&bench, ROWS, WIDTH, ones);
      CHECK (plait_dropout (tape, x, rate) == x);
      CHECK_NEAR (plait_reduce_sum (tape, plait_residual (tape, x, x, rate))->value.data[0], 2 * ROWS * WIDTH, NEAR);
    }
}

TEST_CASE (operators, positions)
{
  g_auto (Bench) bench = bench_new (1);
  PlaitRagged rows = { 3, (gint64[]){ 0, 2, 2, 3 } };
  PlaitNode *x, *table;

  x = bench_leaf (&bench, 3, 1, (double[]){ 0.1, 0.2, 0.3 });
  table = bench_leaf (&bench, 4, 1, (double[]){ 10, 20, 30, 40 });
  check_tensor ("from 0", plait_add_positions (bench.tape, x, rows, table, 0, 0)->value, (double[]){ 10.1, 20.2, 10.3 },
                NEAR);
  check_tensor ("from 2", plait_add_positions (bench.tape, x, rows, table, 2, 0)->value, (double[]){ 30.1, 40.2, 30.3 },
                NEAR);
}

/* Computes one head of attention for one query in plain loops, over the rows first[i] to end[i] - 1 of keys[i] and
 * values[i]. */
static void
attend (const PlaitScalar *query, const PlaitTensor *keys, const PlaitTensor *values, const gint64 *first,
        const gint64 *end, guint n, gint64 column, gint64 width, double scale, double *context)
{
  double sum = 0;

  for (gint64 i = 0; i < width; i++)
    context[i] = 0;
  for (int pass = 0; pass < 2; pass++)
    for (guint m = 0; m < n; m++)
      for (gint64 row = first[m]; row < end[m]; row++)
        {
          double score = 0;

          for (gint64 i = 0; i < width; i++)
            score += (double)query[column + i] * plait_tensor_row (keys[m], row)[column + i];
          score = exp (score * scale);
          if (pass == 0)
            sum += score;
          else
            for (gint64 i = 0; i < width; i++)
              context[i] += score / sum * plait_tensor_row (values[m], row)[column + i];
        }
}

/* Libovicky et al. 2018, eq. 1: A (Q, K, V) = softmax (Q K^T / sqrt (d)) V, where d is the width of a head. */
TEST_CASE (operators, libovicky2018_equation_1_scaled_dot_product)
{
  g_auto (Bench) bench = bench_new (1);
  gint64 query_offsets[] = { 0, 2, 5 }, key_offsets[] = { 0, 4, 7 };
  PlaitAttentionOptions options = { .heads = 2 };
  PlaitKeyValues memory = { .rows = { 2, key_offsets } };
  PlaitNode *queries, *context;
  double expected[5 * 6];

  queries = bench_random (&bench, 5, 6, 1);
  memory.keys = bench_random (&bench, 7, 6, 2);
  memory.values = bench_random (&bench, 7, 6, 3);
  context = plait_attention (bench.tape, queries, (PlaitRagged){ 2, query_offsets }, &memory, 1, &options);
  for (gint64 row = 0; row < 5; row++)
    for (gint64 head = 0; head < 2; head++)
      attend (plait_tensor_row (queries->value, row), &memory.keys->value, &memory.values->value,
              &key_offsets[row >= 2], &key_offsets[1 + (row >= 2)], 1, 3 * head, 3, 1 / sqrt (3),
              expected + 6 * row + 3 * head);
  check_tensor ("context", context->value, expected, NEAR);
}

/* A query does not see keys after its own position. */
TEST_CASE (operators, causal_attention_sees_nothing_later)
{
  g_auto (Bench) bench = bench_new (1);
  gint64 offsets[] = { 0, 4 };
  gint64 first = 0;
  PlaitAttentionOptions options = { .heads = 1, .causal = TRUE, .scale = 0.3 };
  PlaitScalar weights[16];
  PlaitKeyValues memory = { .rows = { 1, offsets }, .weights = weights };
  PlaitNode *x, *context;
  double expected[4 * 3];

  x = bench_random (&bench, 4, 3, 1);
  memory.keys = memory.values = x;
  context = plait_attention (bench.tape, x, memory.rows, &memory, 1, &options);
  for (gint64 row = 0; row < 4; row++)
    {
      gint64 end = row + 1;
      double sum = 0;

      attend (plait_tensor_row (x->value, row), &x->value, &x->value, &first, &end, 1, 0, 3, 0.3, expected + 3 * row);
      for (gint64 key = 0; key < 4; key++)
        {
          sum += weights[4 * row + key];
          CHECK (key <= row ? weights[4 * row + key] > 0 : weights[4 * row + key] == 0);
        }
      CHECK_NEAR (sum, 1, NEAR);
    }
  check_tensor ("context", context->value, expected, NEAR);
}

/* One softmax over the rows of all memories: Libovicky et al. 2018, eq. 5, K_flat = concat (K_i). The second sentence
 * has only the second memory, the third sentence has no memory. */
TEST_CASE (operators, libovicky2018_equation_5_one_softmax_over_all_memories)
{
  g_auto (Bench) bench = bench_new (1);
  gint64 query_offsets[] = { 0, 1, 2, 4 }, first_offsets[] = { 0, 2, 2, 2 }, second_offsets[] = { 0, 1, 3, 3 };
  PlaitAttentionOptions options = { .heads = 1 };
  PlaitScalar weights[2][4] = { { 0 } };
  PlaitKeyValues memories[] = {
    { .rows = { 3, first_offsets }, .weights = weights[0] },
    { .rows = { 3, second_offsets }, .weights = weights[1] },
  };
  PlaitTensor tensors[2];
  PlaitNode *queries, *context;
  double expected[4 * 3] = { 0 };

  queries = bench_random (&bench, 4, 3, 1);
  memories[0].keys = memories[0].values = bench_random (&bench, 2, 3, 2);
  memories[1].keys = memories[1].values = bench_random (&bench, 3, 3, 3);
  for (int m = 0; m < 2; m++)
    tensors[m] = memories[m].keys->value;
  context = plait_attention (bench.tape, queries, (PlaitRagged){ 3, query_offsets }, memories, 2, &options);
  for (gint64 s = 0; s < 2; s++)
    attend (plait_tensor_row (queries->value, s), tensors, tensors, (gint64[]){ first_offsets[s], second_offsets[s] },
            (gint64[]){ first_offsets[s + 1], second_offsets[s + 1] }, 2, 0, 3, 1 / sqrt (3), expected + 3 * s);
  check_tensor ("context", context->value, expected, NEAR);
  CHECK_NEAR (weights[0][0] + weights[0][1] + weights[1][0], 1, NEAR);
  CHECK_NEAR (weights[1][1] + weights[1][2], 1, NEAR);
}

TEST_CASE (operators, attention_gathers_keys_of_caches)
{
  g_auto (Bench) bench = bench_new (1);
  gint64 query_offsets[] = { 0, 1, 2 }, offsets[] = { 0, 2, 5 }, gather[] = { 3, 0, 1, 1, 2 };
  PlaitAttentionOptions options = { .heads = 2 };
  PlaitKeyValues gathered = { .rows = { 2, offsets }, .gather = gather };
  PlaitKeyValues plain = { .rows = { 2, offsets } };
  PlaitNode *queries;

  bench_begin (&bench, PLAIT_TAPE_EVALUATE);
  queries = bench_random (&bench, 2, 4, 1);
  gathered.keys = bench_random (&bench, 4, 4, 2);
  gathered.values = bench_random (&bench, 4, 4, 3);
  plain.keys = plait_gather_rows (bench.tape, gathered.keys, gather, 5);
  plain.values = plait_gather_rows (bench.tape, gathered.values, gather, 5);
  for (int i = 0; i < 2; i++)
    {
      PlaitRagged rows = { 2, query_offsets };
      PlaitNode *found = plait_attention (bench.tape, queries, rows, &gathered, 1, &options);
      PlaitNode *expected = plait_attention (bench.tape, queries, rows, &plain, 1, &options);

      CHECK (memcmp (found->value.data, expected->value.data, 8 * sizeof (PlaitScalar)) == 0);
    }
}

/* Each row attends to those of its own items that are present (Libovicky et al. 2018, eq. 8). */
TEST_CASE (operators, libovicky2018_equation_8_attention_over_items)
{
  g_auto (Bench) bench = bench_new (1);
  guint8 first[] = { 1, 1, 0 }, second[] = { 1, 0, 0 };
  const guint8 *const present[] = { first, second };
  PlaitAttentionOptions options = { .heads = 1 };
  PlaitScalar weights[3 * 2];
  PlaitNode *queries, *items[2], *context;
  double score[2];

  queries = bench_leaf (&bench, 3, 2, (double[]){ 1, 2, 1, 1, 3, 3 });
  items[0] = bench_leaf (&bench, 3, 2, (double[]){ 0.5, -1, 4, 5, 6, 7 });
  items[1] = bench_leaf (&bench, 3, 2, (double[]){ 1, 0, 1, 1, 1, 1 });
  context = plait_attention_over_items (bench.tape, queries, items, items, present, 2, &options, weights);
  score[0] = exp (-1.5 / sqrt (2));
  score[1] = exp (1 / sqrt (2));
  CHECK_NEAR (weights[0], score[0] / (score[0] + score[1]), NEAR);
  CHECK_NEAR (weights[1], score[1] / (score[0] + score[1]), NEAR);
  check_tensor (
      "context", context->value,
      (double[]){ (0.5 * score[0] + score[1]) / (score[0] + score[1]), -score[0] / (score[0] + score[1]), 4, 5, 0, 0 },
      NEAR);
}

/* Dot-product scores of pairs, a softmax over two memories and weighted sums together equal plait_attention. */
TEST_CASE (operators, pairs_put_together_are_attention)
{
  g_auto (Bench) bench = bench_new (2);
  gint64 query_offsets[] = { 0, 2, 3, 4 }, first_offsets[] = { 0, 3, 3, 3 }, second_offsets[] = { 0, 2, 7, 7 };
  PlaitRagged query_rows = { 3, query_offsets }, rows[] = { { 3, first_offsets }, { 3, second_offsets } };
  PlaitAttentionOptions options = { .heads = 1, .scale = 0.3 };
  PlaitKeyValues memories[2] = { { .rows = rows[0] }, { .rows = rows[1] } };
  PlaitQueryKeyPairs pairs[2];
  PlaitNode *queries, *scores[2], *weights, *contexts[2], *expected, *found;

  queries = bench_random (&bench, 4, 5, 1);
  for (guint m = 0; m < 2; m++)
    {
      memories[m].keys = bench_random (&bench, plait_ragged_rows (rows[m]), 5, 2 + m);
      memories[m].values = bench_random (&bench, plait_ragged_rows (rows[m]), 5, 4 + m);
      pairs[m] = plait_query_key_pairs (bench.tape, query_rows, rows[m]);
      scores[m] = plait_dot_scores (bench.tape, &pairs[m], queries, memories[m].keys, 0.3);
    }
  expected = plait_attention (bench.tape, queries, query_rows, memories, 2, &options);
  weights = plait_ragged_softmax (bench.tape, pairs, scores, 2);
  for (gint64 m = 0, first = 0; m < 2; first += plait_query_key_pairs_count (&pairs[m]), m++)
    contexts[m] = plait_weighted_sum (bench.tape, &pairs[m],
                                      plait_rows (bench.tape, weights, first, plait_query_key_pairs_count (&pairs[m])),
                                      memories[m].values);
  found = plait_add_n (bench.tape, contexts, 2);
  for (gint64 i = 0; i < 4 * 5; i++)
    CHECK_NEAR (found->value.data[i], expected->value.data[i], NEAR);
}

/* Additive attention of Chen et al. 2017, eq. 5-7, by hand: the scores vector . tanh (query + key), their softmax, and
 * the context. */
TEST_CASE (operators, chen2017_equations_5_to_7_additive_attention)
{
  g_auto (Bench) bench = bench_new (1);
  gint64 query_offsets[] = { 0, 1 }, offsets[] = { 0, 2 };
  double q[] = { 0.5, -1 }, k[] = { 1, 2, -0.5, 0.25 }, v[] = { 2, -3 }, h[] = { 1, 2, 3, 4, 5, 6 }, b = 0.125;
  double score[2], weight, context[3];
  PlaitNode *scores, *weights;
  PlaitQueryKeyPairs pairs;

  pairs = plait_query_key_pairs (bench.tape, (PlaitRagged){ 1, query_offsets }, (PlaitRagged){ 1, offsets });
  scores = plait_additive_scores (bench.tape, &pairs, bench_leaf (&bench, 1, 2, q), bench_leaf (&bench, 2, 2, k), NULL,
                                  bench_leaf (&bench, 1, 2, v), bench_leaf (&bench, 1, 1, &b));
  for (int i = 0; i < 2; i++)
    score[i] = v[0] * tanh (q[0] + k[2 * i]) + v[1] * tanh (q[1] + k[2 * i + 1]) + b;
  check_tensor ("scores", scores->value, score, NEAR);
  weights = plait_ragged_softmax (bench.tape, &pairs, &scores, 1);
  weight = exp (score[0]) / (exp (score[0]) + exp (score[1]));
  check_tensor ("weights", weights->value, (double[]){ weight, 1 - weight }, NEAR);
  for (int j = 0; j < 3; j++)
    context[j] = weight * h[j] + (1 - weight) * h[3 + j];
  check_tensor ("context", plait_weighted_sum (bench.tape, &pairs, weights, bench_leaf (&bench, 2, 3, h))->value,
                context, NEAR);
}

/* The weights of one head are a column of [pairs, heads]. */
TEST_CASE (operators, a_weighted_sum_reads_a_column)
{
  g_auto (Bench) bench = bench_new (1);
  gint64 query_offsets[] = { 0, 1 }, offsets[] = { 0, 2 };
  PlaitQueryKeyPairs pairs
      = plait_query_key_pairs (bench.tape, (PlaitRagged){ 1, query_offsets }, (PlaitRagged){ 1, offsets });
  PlaitNode *weights = bench_leaf (&bench, 2, 2, (double[]){ 0.75, 0.5, 0.25, 1 }), *sum;
  PlaitNode *values = bench_leaf (&bench, 2, 1, (double[]){ 10, 100 });

  sum = plait_weighted_sum (bench.tape, &pairs, plait_columns (bench.tape, weights, 1, 1), values);
  check_tensor ("sum", sum->value, (double[]){ 105 }, NEAR);
  plait_tape_backward (bench.tape, sum);
  check_tensor ("dweights", weights->gradient, (double[]){ 0, 10, 0, 100 }, NEAR);
  check_tensor ("dvalues", values->gradient, (double[]){ 0.5, 1 }, NEAR);
}

TEST_CASE (operators, attention_to_nothing_has_finite_gradients)
{
  g_auto (Bench) bench = bench_new (1);
  gint64 query_offsets[] = { 0, 2, 3 }, offsets[] = { 0, 0, 0 };
  PlaitAttentionOptions options = { .heads = 1 };
  guint8 absent[] = { 0, 0, 0 };
  const guint8 *const present[] = { absent };
  PlaitKeyValues memory = { .rows = { 2, offsets } };
  double zeros[6] = { 0 };
  PlaitNode *queries, *item, *context, *second;

  queries = bench_random (&bench, 3, 2, 1);
  item = bench_random (&bench, 3, 2, 2);
  memory.keys = memory.values = bench_random (&bench, 0, 2, 3);
  context = plait_attention (bench.tape, queries, (PlaitRagged){ 2, query_offsets }, &memory, 1, &options);
  second = plait_attention_over_items (bench.tape, queries, &item, &item, present, 1, &options, NULL);
  check_tensor ("context", context->value, zeros, 0);
  check_tensor ("contexts", second->value, zeros, 0);
  plait_tape_backward (bench.tape,
                       plait_reduce_sum (bench.tape, plait_add_n (bench.tape, (PlaitNode *[]){ context, second }, 2)));
  check_tensor ("gradient of the queries", queries->gradient, zeros, 0);
  check_tensor ("gradient of the item", item->gradient, zeros, 0);
}

TEST_CASE (operators, vocabulary_loss)
{
  g_auto (Bench) bench = bench_new (1);
  PlaitOutputLossOptions options = { .smoothing = 0.1, .scale = 0.5 };
  PlaitOutputLossSums sums;
  double row_losses[2];
  gint32 targets[] = { 2, 0 };
  PlaitNode *states, *table, *bias, *loss;
  /* The logits 0, ln 2 and ln 5 give the probabilities 1/8, 2/8 and 5/8, in both rows. */
  double nll0 = log (8. / 5), nll1 = log (8), all = log (8) + log (8. / 2) + log (8. / 5);

  for (int others = 0; others < 2; others++)
    {
      double spread = others ? 0.1 / 2 : 0.1 / 3;
      double rest = others ? 1 - 0.1 - spread : 1 - 0.1;
      double p[] = { 1. / 8, 2. / 8, 5. / 8 }, dlogits[2][3], dbias[3];

      options.others = others;
      bench_begin (&bench, PLAIT_TAPE_CHECK);
      states = bench_leaf (&bench, 2, 1, (double[]){ 1, 1 });
      table = bench_leaf (&bench, 3, 1, (double[]){ 0, log (2), 0 });
      bias = bench_leaf (&bench, 1, 3, (double[]){ 0, 0, log (5) });
      loss = plait_output_loss (bench.tape, states, table, bias, targets, &options, &sums, row_losses);
      CHECK_NEAR (row_losses[0], nll0, NEAR);
      CHECK_NEAR (row_losses[1], nll1, NEAR);
      CHECK_NEAR (sums.negative_log_likelihood, nll0 + nll1, NEAR);
      CHECK_NEAR (sums.loss, rest * (nll0 + nll1) + 2 * spread * all, NEAR);
      CHECK_NEAR (loss->value.data[0], 0.5 * sums.loss, NEAR);
      CHECK_INT (sums.correct, 1);

      plait_tape_backward (bench.tape, loss);
      for (int row = 0; row < 2; row++)
        for (int word = 0; word < 3; word++)
          dlogits[row][word] = 0.5 * (p[word] - spread - (word == targets[row] ? rest : 0));
      for (int word = 0; word < 3; word++)
        dbias[word] = dlogits[0][word] + dlogits[1][word];
      check_tensor ("dbias", bias->gradient, dbias, NEAR);
      check_tensor ("dtable", table->gradient, dbias, NEAR);
      check_tensor ("dstates", states->gradient, (double[]){ dlogits[0][1] * log (2), dlogits[1][1] * log (2) }, NEAR);
    }
}

TEST_CASE (operators, vocabulary_loss_without_gradients)
{
  g_auto (Bench) bench = bench_new (1);
  PlaitOutputLossOptions options = { .scale = 1 };
  PlaitOutputLossSums sums;
  PlaitNode *loss;

  /* If all logits are equal, the loss is ln V for each row, and the word with the lowest id counts as most probable. */
  bench_begin (&bench, PLAIT_TAPE_EVALUATE);
  loss = plait_output_loss (bench.tape, bench_leaf (&bench, 2, 1, (double[]){ 1, 2 }), bench_leaf (&bench, 7, 1, NULL),
                            NULL, (gint32[]){ 0, 6 }, &options, &sums, NULL);
  CHECK_NEAR (loss->value.data[0], 2 * log (7), NEAR);
  CHECK_INT (sums.correct, 1);
}
