/* SPDX-License-Identifier: MIT */
#include "attention/sparse.h"

#include <math.h>
#include <string.h>

#include "trial.h"

/* Loops over all entries and their selected rows, if the twin computes (trial_compares). */
#define EACH_SELECTED(entry, i, selected)                                                                              \
  for (gint64 entry = 0; entry < (selected)->sets.n && trial_compares (); entry++)                                     \
    for (gint64 i = (selected)->rows.offsets[(selected)->sets.offsets[entry]];                                         \
         i < (selected)->rows.offsets[(selected)->sets.offsets[entry + 1]]; i++)

/* Size of a selection: maximum number of sets of an entry, and of rows of a set. */
typedef struct
{
  guint heads;
  gint64 queries;
  gint64 rows;
  gint64 most_sets;
  gint64 most_in_set;
} Shape;

/* Returns a random selection for the queries of four sentences, each with its own range of rows. The rows of a set are
 * consecutive, or anywhere and repeated. Entries may have no sets, and sets may have no rows. */
static PlaitSelectedRows
draw_selection (Trial *trial, Shape shape)
{
  gint64 entries = shape.queries * shape.heads, most = shape.most_sets * entries;
  gint64 *sets = trial_memory (trial, sizeof (gint64) * (gsize)(entries + 1));
  gint64 *rows = trial_memory (trial, sizeof (gint64) * (gsize)(most + 1));
  gint64 *row = trial_memory (trial, sizeof (gint64) * (gsize)(most * shape.most_in_set));
  gint64 set = 0, at = 0;

  for (gint64 entry = 0; entry < entries; entry++)
    {
      gint64 sentence = entry / shape.heads * 4 / shape.queries, first = shape.rows * sentence / 4;
      gint64 length = shape.rows * (sentence + 1) / 4 - first, n_sets = trial_number (trial, 0, shape.most_sets);

      for (gint64 s = 0; s < n_sets; s++, set++)
        {
          gboolean follow = trial_flip (trial);
          gint64 n = trial_number (trial, 0, MIN (shape.most_in_set, length));
          gint64 start = first + trial_number (trial, 0, length - n);

          for (gint64 i = 0; i < n; i++, at++)
            row[at] = follow ? start + i : first + trial_number (trial, 0, length - 1);
          rows[set + 1] = at;
        }
      sets[entry + 1] = set;
    }
  return (PlaitSelectedRows){ shape.heads, { entries, sets }, { set, rows }, row };
}

/* Returns a shape with few rows, so that the calling thread does all the work. */
static Shape
small (Trial *trial)
{
  return (Shape){ (guint)trial_number (trial, 1, 3), trial_number (trial, 1, 12), trial_number (trial, 4, 60), 4, 9 };
}

/* Returns a shape with enough rows for several pieces of work. */
static Shape
large (Trial *trial)
{
  return (Shape){ (guint)trial_number (trial, 1, 2), trial_number (trial, 80, 120), trial_number (trial, 300, 600), 3,
                  90 };
}

/* Returns a shape with few queries and so many rows that their sums are cut into pieces. */
static Shape
deep (Trial *trial)
{
  return (Shape){ (guint)trial_number (trial, 1, 2), trial_number (trial, 1, 12), 6000, 1, 1500 };
}

/* Returns the number of columns of the head of @entry. Sets *first to the first column. */
static gint64
columns_of (const PlaitSelectedRows *selected, gint64 entry, gint64 width, gint64 *first)
{
  *first = entry % selected->heads * (width / selected->heads);
  return width / selected->heads;
}

static void
check_products (Trial *trial, Shape shape)
{
  PlaitSelectedRows selected = draw_selection (trial, shape);
  gint64 width = shape.heads * trial_number (trial, 1, 150), n = plait_selected_rows_count (&selected), first;
  PlaitScalar beta = (PlaitScalar)trial_number (trial, 0, 1);
  PlaitTensor queries = trial_tensor (trial, shape.queries, width), rows = trial_tensor (trial, shape.rows, width);
  PlaitTensor slow_sum, slow_spread, sum = trial_target (trial, shape.queries, width, beta, &slow_sum);
  PlaitTensor spread = trial_target (trial, shape.rows, width, 1, &slow_spread);
  PlaitScalar *numbers = trial_vector (trial, n + 1), *fast = trial_vector (trial, n + 1);
  PlaitScalar *slow = trial_vector (trial, n + 1);
  double *sums = trial_memory (trial, sizeof (double) * (gsize)((shape.queries + shape.rows) * width));
  double *spreads = sums + shape.queries * width;

  plait_sparse_dot_scores_forward (trial->pool, &selected, fast, (PlaitScalar)0.7, queries, rows);
  plait_sparse_weighted_sum_forward (trial->pool, &selected, sum, beta != 0, numbers, rows);
  plait_sparse_weighted_sum_transposed (trial->pool, trial->arena, &selected, spread, numbers, queries);
  EACH_SELECTED (entry, i, &selected)
  {
    gint64 columns = columns_of (&selected, entry, width, &first), query = entry / shape.heads, row = selected.row[i];
    double dot = 0;

    for (gint64 j = first; j < first + columns; j++)
      {
        double x = (double)plait_tensor_row (queries, query)[j], y = (double)plait_tensor_row (rows, row)[j];

        dot += x * y;
        sums[query * width + j] += (double)numbers[i] * y;
        spreads[row * width + j] += (double)numbers[i] * x;
      }
    slow[i] = (PlaitScalar)(0.7 * dot);
  }
  for (gint64 j = 0; j < width && trial_compares (); j++)
    {
      for (gint64 query = 0; query < shape.queries; query++)
        plait_tensor_row (slow_sum, query)[j] += (PlaitScalar)sums[query * width + j];
      for (gint64 row = 0; row < shape.rows; row++)
        plait_tensor_row (slow_spread, row)[j] += (PlaitScalar)spreads[row * width + j];
    }
  trial_check_vector (trial, "products", fast, slow, n);
  trial_check (trial, "sums of rows", sum, slow_sum);
  trial_check (trial, "transposed sum", spread, slow_spread);
}

static void
products_body (Trial *trial)
{
  check_products (trial, small (trial));
  check_products (trial, large (trial));
}

static void
deep_body (Trial *trial)
{
  check_products (trial, deep (trial));
}

TEST_CASE (selected, products_and_sums_as_the_slow_twins)
{
  trial_run (products_body, 3);
  trial_run (deep_body, 1);
}

static void
check_additive (Trial *trial, Shape shape)
{
  shape.heads = 1;

  PlaitSelectedRows selected = draw_selection (trial, shape);
  gint64 width = trial_number (trial, 1, 90), n = plait_selected_rows_count (&selected);
  PlaitAdditiveScores additive = { .queries = trial_tensor (trial, shape.queries, width),
                                   .keys = trial_tensor (trial, shape.rows, width),
                                   .vector = trial_vector (trial, width) };
  PlaitTensor slow_queries, slow_keys, slow_vector, vector;
  PlaitAdditiveGradients gradients = { .queries = trial_target (trial, shape.queries, width, 1, &slow_queries),
                                       .keys = trial_target (trial, shape.rows, width, 1, &slow_keys) };
  PlaitScalar *fast = trial_vector (trial, n + 1), *slow = trial_vector (trial, n + 1);
  PlaitScalar *dscores = trial_vector (trial, n + 1);

  vector = trial_target (trial, 1, width, 1, &slow_vector);
  gradients.vector = vector.data;
  plait_sparse_additive_scores_forward (trial->pool, &selected, fast, &additive);
  plait_sparse_additive_scores_backward (trial->pool, trial->arena, &selected, &gradients, dscores, &additive);
  EACH_SELECTED (query, i, &selected)
  {
    double score = 0;

    for (gint64 j = 0; j < width; j++)
      {
        double v = (double)additive.vector[j];
        double t = tanh ((double)plait_tensor_row (additive.queries, query)[j]
                         + (double)plait_tensor_row (additive.keys, selected.row[i])[j]);
        PlaitScalar dx = (PlaitScalar)((double)dscores[i] * v * (1 - t * t));

        score += v * t;
        plait_tensor_row (slow_queries, query)[j] += dx;
        plait_tensor_row (slow_keys, selected.row[i])[j] += dx;
        slow_vector.data[j] += (PlaitScalar)((double)dscores[i] * t);
      }
    slow[i] = (PlaitScalar)score;
  }
  trial_check_vector (trial, "additive scores", fast, slow, n);
  trial_check (trial, "gradient of the queries", gradients.queries, slow_queries);
  trial_check (trial, "gradient of the keys", gradients.keys, slow_keys);
  trial_check (trial, "gradient of the vector", vector, slow_vector);
}

static void
additive_body (Trial *trial)
{
  check_additive (trial, small (trial));
  check_additive (trial, large (trial));
}

TEST_CASE (selected, additive_scores_as_the_slow_twin)
{
  trial_run (additive_body, 2);
}

/* Computes the softmax of set @s. Adds the gradient of its scores, for @dweights. */
static void
slow_softmax (const PlaitSelectedRows *selected, gint64 s, const PlaitScalar *scores, const PlaitScalar *dweights,
              PlaitScalar *weights, PlaitScalar *dscores)
{
  gint64 first = selected->rows.offsets[s], end = selected->rows.offsets[s + 1];
  double sum = 0, product = 0;

  for (gint64 i = first; i < end; i++)
    sum += exp ((double)scores[i]);
  for (gint64 i = first; i < end; i++)
    {
      weights[i] = (PlaitScalar)(exp ((double)scores[i]) / sum);
      product += (double)weights[i] * (double)dweights[i];
    }
  for (gint64 i = first; i < end; i++)
    dscores[i] += (PlaitScalar)((double)weights[i] * ((double)dweights[i] - product));
}

static void
check_weights (Trial *trial, Shape shape)
{
  PlaitSelectedRows selected = draw_selection (trial, shape);
  gint64 n = plait_selected_rows_count (&selected);
  PlaitScalar *scores = trial_vector (trial, n + 1);
  PlaitScalar *weights = trial_vector (trial, n + 1), *slow_weights = trial_vector (trial, n + 1);
  PlaitScalar *cotangent = trial_vector (trial, n + 1), beta = (PlaitScalar)trial_number (trial, 0, 1);
  PlaitTensor slow_scores, dscores = trial_target (trial, 1, n, beta, &slow_scores);

  plait_sparse_softmax_forward (trial->pool, &selected, weights, scores);
  for (gint64 s = 0; s < selected.rows.n && trial_compares (); s++)
    slow_softmax (&selected, s, scores, cotangent, slow_weights, slow_scores.data);
  plait_sparse_softmax_backward (trial->pool, &selected, dscores.data, beta, cotangent, weights);
  trial_check_vector (trial, "weights", weights, slow_weights, n);
  trial_check_vector (trial, "gradient of the scores", dscores.data, slow_scores.data, n);
}

static void
weights_body (Trial *trial)
{
  Shape many = large (trial);

  check_weights (trial, small (trial));
  many.queries *= 8;
  check_weights (trial, many);
}

TEST_CASE (selected, weights_as_the_slow_twin)
{
  trial_run (weights_body, 2);
}

/* The bits of a query must not depend on other queries that have selected the same rows. @each: number of selected rows
 * of a query. */
static void
check_alone (Trial *trial, gint64 each)
{
  gint64 sets[] = { 0, 1, 2, 3, 4, 5 }, rows[] = { 0, each, 2 * each, 3 * each, 4 * each, 5 * each };
  gint64 *row = trial_memory (trial, sizeof (gint64) * (gsize)(5 * each)), width = trial_number (trial, 1, 150);
  PlaitTensor x = trial_tensor (trial, 600, width), y = trial_tensor (trial, 5, width);
  PlaitTensor together = trial_rubbish (trial, 5, width), alone = trial_rubbish (trial, 1, width);
  PlaitScalar *numbers = trial_vector (trial, 5 * each), *products = trial_vector (trial, 5 * each);
  PlaitScalar *own = trial_vector (trial, each);
  PlaitSelectedRows all = { 1, { 5, sets }, { 5, rows }, row }, one = { 1, { 1, sets }, { 1, rows }, row };

  for (gint64 i = 0; i < 5 * each; i++)
    row[i] = i % 600;
  plait_sparse_weighted_sum_forward (trial->pool, &all, together, FALSE, numbers, x);
  plait_sparse_dot_scores_forward (trial->pool, &all, products, 1, y, x);
  for (gint64 q = 0; q < 5; q++)
    {
      plait_sparse_weighted_sum_forward (trial->pool, &one, alone, FALSE, numbers + each * q, x);
      plait_sparse_dot_scores_forward (trial->pool, &one, own, 1, plait_tensor_rows (y, q, 1), x);
      CHECK (memcmp (alone.data, plait_tensor_row (together, q), sizeof (PlaitScalar) * (gsize)width) == 0);
      CHECK (memcmp (own, products + each * q, sizeof (PlaitScalar) * (gsize)each) == 0);
    }
}

static void
alone_body (Trial *trial)
{
  check_alone (trial, 600);
  check_alone (trial, 5400);
}

TEST_CASE (selected, a_query_gets_the_same_alone_and_beside_others)
{
  trial_run (alone_body, 2);
}
