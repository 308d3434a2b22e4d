/* SPDX-License-Identifier: MIT */
#include "bench.h"
#include "autograd/layer-operators.h"

/* A pyramid over five rows: one row above the first three and one above the last two. Each query has selected both top
 * rows, and then the children of one of them. */
static const gint64 top_sets[] = { 0, 1, 2 }, top_rows[] = { 0, 2, 4 }, top_row[] = { 0, 1, 0, 1 };
static const PlaitSelectedRows top = { 1, { 2, top_sets }, { 2, top_rows }, top_row };
static const gint64 leaf_rows[] = { 0, 3, 5 }, leaf_row[] = { 2, 3, 4, 5, 6 };
static const PlaitSelectedRows leaves = { 1, { 2, top_sets }, { 2, leaf_rows }, leaf_row };
/* The first query descends from the first top row, the second query from the second. */
static const gint64 parent[] = { 0, 0, 0, 3, 3 };

/* Multiplies the softmax of each set by the weight of the set's parent. Expected values are computed by hand. */
TEST_CASE (selected, a_descent_by_hand)
{
  g_auto (Bench) bench = bench_new (1);
  double q[] = { 1, 0.5, -0.25, 2 };
  double k[] = { 0.5, -1, 1, 1, 2, 0, 0, 1, -1, 0.5, 0.25, 0.75, 1.5, -0.5 };
  double v[] = { 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 };
  double weight[4], score[5], expected[5], context[4] = { 0 };
  PlaitNode *queries, *keys, *weights, *path;

  queries = bench_leaf (&bench, 2, 2, q);
  keys = bench_leaf (&bench, 7, 2, k);
  for (int i = 0; i < 4; i++)
    weight[i] = exp (0.5 * (q[i / 2 * 2] * k[2 * (i % 2)] + q[i / 2 * 2 + 1] * k[2 * (i % 2) + 1]));
  weights = plait_sparse_softmax (bench.tape, &top, plait_sparse_dot_scores (bench.tape, &top, queries, keys, 0.5));
  check_tensor ("weights of the top", weights->value,
                (double[]){ weight[0] / (weight[0] + weight[1]), weight[1] / (weight[0] + weight[1]),
                            weight[2] / (weight[2] + weight[3]), weight[3] / (weight[2] + weight[3]) },
                NEAR);
  for (int i = 0; i < 5; i++)
    {
      const double *query = q + (i < 3 ? 0 : 2);

      score[i] = exp (0.5 * (query[0] * k[4 + 2 * i] + query[1] * k[5 + 2 * i]));
    }
  for (int i = 0; i < 5; i++)
    {
      expected[i] = i < 3 ? score[i] / (score[0] + score[1] + score[2]) * weight[0] / (weight[0] + weight[1])
                          : score[i] / (score[3] + score[4]) * weight[3] / (weight[2] + weight[3]);
      context[i < 3 ? 0 : 2] += expected[i] * v[4 + 2 * i];
      context[i < 3 ? 1 : 3] += expected[i] * v[5 + 2 * i];
    }
  path = plait_multiply (
      bench.tape, plait_gather_rows (bench.tape, weights, parent, 5),
      plait_sparse_softmax (bench.tape, &leaves, plait_sparse_dot_scores (bench.tape, &leaves, queries, keys, 0.5)));
  check_tensor ("path", path->value, expected, NEAR);
  check_tensor ("context", plait_sparse_weighted_sum (bench.tape, &leaves, path, bench_leaf (&bench, 7, 2, v))->value,
                context, NEAR);
}

/* If every query selects all rows of its sentence as one set, the results equal those of query-key pairs. */
TEST_CASE (selected, all_rows_are_the_pairs)
{
  g_auto (Bench) bench = bench_new (2);
  gint64 query_offsets[] = { 0, 2, 3, 4 }, row_offsets[] = { 0, 3, 3, 8 }, sets[] = { 0, 1, 2, 3, 4 };
  gint64 rows[] = { 0, 3, 6, 6, 11 }, row[] = { 0, 1, 2, 0, 1, 2, 3, 4, 5, 6, 7 };
  PlaitSelectedRows selected = { 1, { 4, sets }, { 4, rows }, row };
  PlaitNode *queries, *keys, *values, *vector, *weights[2], *contexts[2];
  PlaitQueryKeyPairs pairs;

  pairs = plait_query_key_pairs (bench.tape, (PlaitRagged){ 3, query_offsets }, (PlaitRagged){ 3, row_offsets });
  queries = bench_random (&bench, 4, 19, 1);
  keys = bench_random (&bench, 8, 19, 2);
  values = bench_random (&bench, 8, 19, 3);
  vector = bench_random (&bench, 1, 19, 4);
  for (guint way = 0; way < 2; way++)
    {
      PlaitNode *score = way == 0 ? plait_additive_scores (bench.tape, &pairs, queries, keys, NULL, vector, NULL)
                                  : plait_dot_scores (bench.tape, &pairs, queries, keys, 0.25);

      weights[0] = plait_ragged_softmax (bench.tape, &pairs, &score, 1);
      contexts[0] = plait_weighted_sum (bench.tape, &pairs, weights[0], values);
      score = way == 0 ? plait_sparse_additive_scores (bench.tape, &selected, queries, keys, vector)
                       : plait_sparse_dot_scores (bench.tape, &selected, queries, keys, 0.25);
      weights[1] = plait_sparse_softmax (bench.tape, &selected, score);
      contexts[1] = plait_sparse_weighted_sum (bench.tape, &selected, weights[1], values);
      for (gint64 i = 0; i < 11; i++)
        CHECK_NEAR (weights[1]->value.data[i], weights[0]->value.data[i], NEAR);
      for (gint64 i = 0; i < 4 * 19; i++)
        CHECK_NEAR (contexts[1]->value.data[i], contexts[0]->value.data[i], NEAR);
    }
}

/* Adds gradients to existing ones, and only in selected rows. */
TEST_CASE (selected, backward_adds_to_chosen_rows_alone)
{
  g_auto (Bench) bench = bench_new (1);
  PlaitNode *queries, *memory, *weights, *vector, *context;

  queries = bench_random (&bench, 2, 3, 1);
  memory = bench_random (&bench, 1000, 3, 2);
  vector = bench_random (&bench, 1, 3, 3);
  for (gint64 i = 0; i < 1000 * 3; i++)
    memory->gradient.data[i] = 7;
  weights = plait_sparse_softmax (
      bench.tape, &leaves,
      plait_add_n (bench.tape,
                   (PlaitNode *[]){
                       plait_sparse_dot_scores (bench.tape, &leaves, queries, memory, 1),
                       plait_sparse_additive_scores (bench.tape, &leaves, queries, memory, vector),
                   },
                   2));
  context = plait_sparse_weighted_sum (bench.tape, &leaves, weights, memory);
  plait_tape_backward (bench.tape, plait_reduce_sum (bench.tape, context));
  for (gint64 i = 0; i < 1000 * 3; i++)
    CHECK ((memory->gradient.data[i] == 7) == (i / 3 < 2 || i / 3 > 6));
}

/* Some queries select no rows, or there are no queries: gradients are finite. */
TEST_CASE (selected, nothing_has_finite_gradients)
{
  g_auto (Bench) bench = bench_new (1);
  gint64 nothing[] = { 0, 0, 0 }, one_each[] = { 0, 1, 2 };
  PlaitSelectedRows none[] = { { 1, { 0, nothing }, { 0, nothing }, NULL },
                               { 1, { 2, nothing }, { 0, nothing }, NULL },
                               { 2, { 2, one_each }, { 2, nothing }, NULL } };
  gint64 n_queries[] = { 0, 2, 1 };
  double zeros[4] = { 0 };

  for (guint i = 0; i < G_N_ELEMENTS (none); i++)
    {
      PlaitNode *queries, *rows, *vector, *numbers, *context;

      bench_begin (&bench, PLAIT_TAPE_CHECK);
      queries = bench_random (&bench, n_queries[i], 2, 1);
      rows = bench_random (&bench, 2, 2, 2);
      vector = bench_random (&bench, 1, 2, 3);
      numbers = plait_sparse_dot_scores (bench.tape, &none[i], queries, rows, 1);
      if (none[i].heads == 1)
        numbers = plait_add_n (
            bench.tape,
            (PlaitNode *[]){ numbers, plait_sparse_additive_scores (bench.tape, &none[i], queries, rows, vector) }, 2);
      numbers = plait_sparse_softmax (bench.tape, &none[i], numbers);
      CHECK_INT (numbers->value.rows, 0);
      context = plait_sparse_weighted_sum (bench.tape, &none[i], numbers, rows);
      check_tensor ("context", context->value, zeros, 0);
      plait_tape_backward (bench.tape, plait_reduce_sum (bench.tape, context));
      check_tensor ("gradient of the queries", queries->gradient, zeros, 0);
      check_tensor ("gradient of the rows", rows->gradient, zeros, 0);
    }
}
