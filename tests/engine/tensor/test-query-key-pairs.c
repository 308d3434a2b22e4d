/* SPDX-License-Identifier: MIT */
#include "attention/query-key-pairs.h"

#include <math.h>

#include "trial.h"

/* Returns the pair of query @q (numbered over all sentences) and row @row of its sentence @s. */
static gint64
pair_of (const PlaitQueryKeyPairs *pairs, gint64 s, gint64 q, gint64 row)
{
  return pairs->offsets[s] + (q - pairs->queries.offsets[s]) * plait_ragged_length (pairs->rows, s) + row;
}

/* Computes what plait_weighted_sum_forward computes, in plain loops: its slow twin. */
static void
slow_read (const PlaitQueryKeyPairs *pairs, PlaitTensor y, const PlaitScalar *numbers, PlaitTensor x)
{
  for (gint64 s = 0; s < pairs->queries.n && trial_compares (); s++)
    for (gint64 q = pairs->queries.offsets[s]; q < pairs->queries.offsets[s + 1]; q++)
      for (gint64 j = 0; j < y.width; j++)
        {
          double sum = (double)plait_tensor_row (y, q)[j];

          for (gint64 row = 0; row < plait_ragged_length (pairs->rows, s); row++)
            sum += (double)numbers[pair_of (pairs, s, q, row)]
                   * (double)plait_tensor_row (x, pairs->rows.offsets[s] + row)[j];
          plait_tensor_row (y, q)[j] = (PlaitScalar)sum;
        }
}

static void
check_read (Trial *trial, gint64 sentences, gint64 most_queries, gint64 least_rows, gint64 most_rows)
{
  gint64 width = trial_number (trial, 1, 300);
  PlaitRagged queries = trial_ragged (trial, sentences, 0, most_queries);
  PlaitRagged rows = trial_ragged (trial, sentences, least_rows, most_rows);
  PlaitQueryKeyPairs pairs = plait_query_key_pairs_new (trial->arena, queries, rows);
  PlaitScalar beta = (PlaitScalar)trial_number (trial, 0, 1);
  PlaitScalar *numbers = trial_vector (trial, plait_query_key_pairs_count (&pairs) + 1);
  PlaitTensor x = trial_tensor (trial, plait_ragged_rows (rows), width), slow;
  PlaitTensor y = trial_target (trial, plait_ragged_rows (queries), width, beta, &slow);

  plait_weighted_sum_forward (trial->pool, trial->arena, &pairs, y, beta != 0, numbers, x);
  slow_read (&pairs, slow, numbers, x);
  trial_check (trial, "weighted sum", y, slow);
}

static void
read_body (Trial *trial)
{
  check_read (trial, trial_number (trial, 1, 5), 4, 0, 60);
}

TEST_CASE (pairs, read_as_the_slow_twin)
{
  trial_run (read_body, 10);
}

/* The sum over a long memory is cut into pieces of work. In a short memory, some of these pieces have no rows. */
static void
long_body (Trial *trial)
{
  check_read (trial, 1, 3, 500, 2000);
  check_read (trial, 3, 2, 0, 1500);
}

TEST_CASE (pairs, read_long_memories_as_the_slow_twin)
{
  trial_run (long_body, 3);
}

static void
additive_body (Trial *trial)
{
  gint64 width = trial_number (trial, 1, 70);
  PlaitRagged queries = trial_ragged (trial, 2, 0, 3), rows = trial_ragged (trial, 2, 0, 300);
  PlaitQueryKeyPairs pairs = plait_query_key_pairs_new (trial->arena, queries, rows);
  gint64 n = plait_query_key_pairs_count (&pairs);
  gboolean has_extra = trial_flip (trial);
  PlaitAdditiveScores additive = { .queries = trial_tensor (trial, plait_ragged_rows (queries), width),
                                   .keys = trial_tensor (trial, plait_ragged_rows (rows), width),
                                   .vector = trial_vector (trial, width),
                                   .bias = trial_flip (trial) ? trial_vector (trial, 1) : NULL };
  PlaitScalar *fast = trial_vector (trial, n + 1), *slow = trial_vector (trial, n + 1);

  if (has_extra)
    additive.extra = trial_tensor (trial, n, width);
  plait_additive_scores_forward (trial->pool, &pairs, fast, &additive);
  for (gint64 s = 0; s < 2 && trial_compares (); s++)
    for (gint64 q = queries.offsets[s]; q < queries.offsets[s + 1]; q++)
      for (gint64 row = 0; row < plait_ragged_length (rows, s); row++)
        {
          gint64 pair = pair_of (&pairs, s, q, row);
          double sum = additive.bias ? (double)*additive.bias : 0;

          for (gint64 j = 0; j < width; j++)
            sum += (double)additive.vector[j]
                   * tanh ((double)plait_tensor_row (additive.queries, q)[j]
                           + (double)plait_tensor_row (additive.keys, rows.offsets[s] + row)[j]
                           + (has_extra ? (double)plait_tensor_row (additive.extra, pair)[j] : 0));
          slow[pair] = (PlaitScalar)sum;
        }
  trial_check_vector (trial, "additive scores", fast, slow, n);
}

TEST_CASE (pairs, score_additively_as_the_slow_twin)
{
  trial_run (additive_body, 8);
}
