/* SPDX-License-Identifier: MIT */
#include "attention/sibling-softmax.h"

#include <complex.h>
#include <math.h>
#include <string.h>

#include "kernels/kernels.h"
#include "trial.h"

#define SENTENCES 4
#define MAX_ROWS 4096

/* Pyramids over sentences, with blocks of 1 to 4 rows. Two neighbouring blocks may share one row. */
typedef struct
{
  gint64 *level;
  gint64 *first_child;
  gint64 *n_children;
  gint64 *offsets;
} Forest;

/* Appends the level above the @n rows that begin at @first, and returns the number of its rows. */
static gint64
add_level (Trial *trial, Forest *forest, gint64 first, gint64 n, gint64 level)
{
  gint64 rows = 0, child = first;

  for (; child < first + n; rows++)
    {
      gint64 row = first + n + rows, children = trial_number (trial, 1 + (n > 8), 4);

      children = MIN (children, first + n - child);
      forest->level[row] = level;
      forest->first_child[row] = child;
      forest->n_children[row] = children;
      child += children;
      if (children > 2 && child < first + n && trial_flip (trial))
        child--;
    }
  return rows;
}

static Forest
plant (Trial *trial, gint64 most_leaves)
{
  Forest forest
      = { trial_memory (trial, sizeof (gint64) * MAX_ROWS), trial_memory (trial, sizeof (gint64) * MAX_ROWS),
          trial_memory (trial, sizeof (gint64) * MAX_ROWS), trial_memory (trial, sizeof (gint64) * (SENTENCES + 1)) };

  for (gint64 s = 0; s < SENTENCES; s++)
    {
      gint64 first = forest.offsets[s], n = trial_number (trial, 0, most_leaves), heights = trial_number (trial, 0, 6);

      for (gint64 i = first; i < first + n; i++)
        {
          forest.level[i] = forest.n_children[i] = 0;
          forest.first_child[i] = -1;
        }
      for (gint64 level = 1; level <= heights && n > 1; level++)
        {
          gint64 above = add_level (trial, &forest, first, n, level);

          first += n;
          n = above;
        }
      forest.offsets[s + 1] = first + n;
    }
  return forest;
}

/* Slow tree descent for one entry, as the equations read. */
typedef struct
{
  const PlaitTreeDescent *descent;
  const PlaitTreeDescentScores *scores;
  gint64 sentence;
  gint64 query;
  gint64 head;
  gint64 n;      /* number of weighed rows */
  double *share; /* [rows]: product of weights on the way to each row; 0 for rows that were not reached */
} Slow;

static double
slow_score (const Slow *slow, gint64 row)
{
  gint64 width = slow->scores->keys.width / slow->descent->heads;
  const PlaitScalar *query = plait_tensor_row (slow->scores->queries, slow->query) + slow->head * width;
  const PlaitScalar *key = plait_tensor_row (slow->scores->keys, row) + slow->head * width;
  double score = 0;

  for (gint64 j = 0; j < width; j++)
    score += slow->scores->vector ? (double)slow->scores->vector[j] * tanh ((double)query[j] + (double)key[j])
                                  : (double)slow->scores->scale * (double)query[j] * (double)key[j];
  return score;
}

/* Adds @above times the softmax of @n rows, from @first on, to the shares of these rows. */
static void
slow_weigh (Slow *slow, gint64 first, gint64 n, double above)
{
  double sum = 0;

  for (gint64 row = first; row < first + n; row++)
    sum += exp (slow_score (slow, row));
  for (gint64 row = first; row < first + n; row++)
    slow->share[row] += above * exp (slow_score (slow, row)) / sum;
  slow->n += n;
}

static void
slow_descent (Slow *slow)
{
  const PlaitTreeDescent *descent = slow->descent;
  gint64 begin = descent->rows.offsets[slow->sentence], end = descent->rows.offsets[slow->sentence + 1], top = end;
  double sum = 0;

  if (!trial_compares ())
    return;
  while (top > begin && descent->level[top - 1] == descent->level[end - 1])
    top--;
  slow_weigh (slow, top, end - top, 1);
  if (end - top == 1 && descent->level[top] > 0)
    slow->n = 0;
  for (gint64 level = top < end ? descent->level[top] : 0; level > 0; level--)
    {
      gboolean passed = slow->n == 0;

      for (gint64 b = 0; b < descent->branches; b++)
        {
          gint64 best = -1;

          for (gint64 row = begin; row < end; row++)
            if (descent->level[row] == level && slow->share[row] > 0
                && (best < 0 || slow->share[row] > slow->share[best]))
              best = row;
          if (best < 0)
            break;
          slow_weigh (slow, descent->first_child[best], descent->n_children[best], slow->share[best]);
          slow->share[best] = 0;
        }
      if (passed && level > 1 && slow->n == 1)
        slow->n = 0;
    }
  for (gint64 row = begin; row < end; row++)
    sum += descent->level[row] == 0 ? slow->share[row] : 0;
  for (gint64 row = begin; row < end && descent->normalise; row++)
    slow->share[row] /= sum;
}

/* Checks the leaf weights of @entry. A leaf that was not reached must have the weight 0. */
static void
check_leaves (Trial *trial, const PlaitTreeDescentResult *result, gint64 entry, const Slow *slow)
{
  gint64 begin = slow->descent->rows.offsets[slow->sentence], end = slow->descent->rows.offsets[slow->sentence + 1];
  PlaitScalar *fast = trial_vector (trial, end - begin + 1), *expected = trial_vector (trial, end - begin + 1);

  for (gint64 row = begin; row < end; row++)
    {
      fast[row - begin] = 0;
      expected[row - begin] = slow->descent->level[row] == 0 ? (PlaitScalar)slow->share[row] : 0;
    }
  for (gint64 i = result->leaves.rows.offsets[entry]; i < result->leaves.rows.offsets[entry + 1]; i++)
    fast[result->leaves.row[i] - begin] += result->leaf_weights[i];
  trial_check_vector (trial, "weights of leaves", fast, expected, end - begin);
}

/* Returns the sum of the leaf weights of @entry times @dleaves. Computes the weights from @scores. */
static double complex
slow_total (const PlaitTreeDescentResult *result, gint64 entry, const double complex *scores,
            const PlaitScalar *dleaves)
{
  const PlaitSelectedRows *all = &result->all;
  gint64 begin = all->rows.offsets[all->sets.offsets[entry]], end = all->rows.offsets[all->sets.offsets[entry + 1]];
  gint64 leaf = result->leaves.rows.offsets[entry], n = result->leaves.rows.offsets[entry + 1] - leaf;
  g_autofree double complex *path = g_new0 (double complex, end - begin + 1);
  double complex total = 0, sum = 0;

  for (gint64 set = all->sets.offsets[entry]; set < all->sets.offsets[entry + 1]; set++)
    {
      gint64 first = all->rows.offsets[set], last = all->rows.offsets[set + 1], parent = result->parent[set];
      double complex exponentials = 0, above = parent < 0;

      for (gint64 i = parent; i >= 0 && i < first && all->row[i] == all->row[parent]; i++)
        above += path[i - begin];
      for (gint64 i = first; i < last; i++)
        exponentials += cexp (scores[i - begin]);
      for (gint64 i = first; i < last; i++)
        path[i - begin] = above * cexp (scores[i - begin]) / exponentials;
    }
  for (gint64 i = 0; i < n; i++)
    {
      sum += path[end - n - begin + i];
      total += path[end - n - begin + i] * (double)dleaves[leaf + i];
    }
  return result->normalised && n > 0 ? total / sum : total;
}

/* Checks the gradient of an entry's scores against complex-step differentiation, which loses no digits. */
static void
check_backward (Trial *trial, const PlaitTreeDescentResult *result, gint64 entry, const PlaitScalar *dscores,
                const Slow *slow, const PlaitScalar *dleaves)
{
  const PlaitSelectedRows *all = &result->all;
  gint64 begin = all->rows.offsets[all->sets.offsets[entry]], end = all->rows.offsets[all->sets.offsets[entry + 1]];
  double complex *scores = trial_memory (trial, sizeof (double complex) * (gsize)(end - begin + 1));
  const double step = 1e-100;
  PlaitScalar *expected = trial_vector (trial, end - begin + 1);

  for (gint64 i = begin; i < end && trial_compares (); i++)
    scores[i - begin] = slow_score (slow, all->row[i]);
  for (gint64 i = 0; i < end - begin && trial_compares (); i++)
    {
      scores[i] += step * I;
      expected[i] = (PlaitScalar)(cimag (slow_total (result, entry, scores, dleaves)) / step);
      scores[i] = creal (scores[i]);
    }
  trial_check_vector (trial, "gradient of the scores", dscores + begin, expected, end - begin);
}

static void
check_descents (Trial *trial, gint64 most_leaves, gint64 most_queries, gint64 most_width, gboolean additive)
{
  Forest forest = plant (trial, most_leaves);
  PlaitTreeDescent descent = {
    .queries = trial_ragged (trial, SENTENCES, 0, most_queries),
    .rows = { SENTENCES, forest.offsets },
    .level = forest.level,
    .first_child = forest.first_child,
    .n_children = forest.n_children,
    .max_children = 4,
    .heads = additive ? 1 : (guint)trial_number (trial, 1, 3),
    .branches = trial_flip (trial)   ? 1
                : trial_flip (trial) ? trial_number (trial, 2, 5)
                                     : G_MAXINT64,
    .normalise = trial_flip (trial),
  };
  gint64 width = descent.heads * trial_number (trial, 1, most_width), entry = 0, weighed = 0;
  PlaitTreeDescentScores scores = {
    .queries = trial_tensor (trial, plait_ragged_rows (descent.queries), width),
    .keys = trial_tensor (trial, plait_ragged_rows (descent.rows), width),
    .scale = (PlaitScalar)(2 / sqrt ((double)width)),
    .vector = additive ? trial_vector (trial, width) : NULL,
  };
  PlaitTreeDescentResult result = plait_tree_descent_forward (trial->pool, trial->arena, &descent, &scores, TRUE),
                         leaves;
  PlaitScalar *dleaves = trial_vector (trial, plait_selected_rows_count (&result.leaves) + 1);
  PlaitScalar *dscores = trial_vector (trial, result.weighed + 1);

  plait_tree_descent_backward (trial->pool, trial->arena, &result, dscores, 1, dleaves);
  for (gint64 s = 0; s < SENTENCES; s++)
    for (gint64 q = descent.queries.offsets[s]; q < descent.queries.offsets[s + 1]; q++)
      for (gint64 h = 0; h < descent.heads; h++, entry++)
        {
          Slow slow = { &descent, &scores, s, q, h, 0, NULL };

          slow.share = trial_memory (trial, sizeof (double) * MAX_ROWS);
          slow_descent (&slow);
          weighed += slow.n;
          check_leaves (trial, &result, entry, &slow);
          check_backward (trial, &result, entry, dscores, &slow, dleaves);
        }
  if (trial_compares ())
    CHECK_INT (result.weighed, weighed);
  leaves = plait_tree_descent_forward (trial->pool, trial->arena, &descent, &scores, FALSE);
  CHECK_INT (plait_selected_rows_count (&leaves.leaves), plait_selected_rows_count (&result.leaves));
  CHECK (memcmp (leaves.leaf_weights, result.leaf_weights,
                 sizeof (PlaitScalar) * (gsize)plait_selected_rows_count (&leaves.leaves))
         == 0);
}

/* Computes the context of one entry: the sum of the values times the leaf weights. */
static void
slow_context (Trial *trial, const Slow *slow, PlaitTensor values, PlaitTensor context)
{
  gint64 width = values.width / slow->descent->heads;

  for (gint64 j = slow->head * width; j < (slow->head + 1) * width; j++)
    {
      double sum = 0;

      for (gint64 row = slow->descent->rows.offsets[slow->sentence];
           row < slow->descent->rows.offsets[slow->sentence + 1]; row++)
        sum += slow->descent->level[row] == 0 ? slow->share[row] * (double)plait_tensor_row (values, row)[j] : 0;
      plait_tensor_row (context, slow->query)[j] = (PlaitScalar)sum;
    }
}

/* Returns a descent that follows all branches of @forest, with a few queries for each sentence. */
static PlaitTreeDescent
descend_all (Trial *trial, const Forest *forest, gint64 most_queries, guint heads)
{
  return (PlaitTreeDescent){
    .queries = trial_ragged (trial, SENTENCES, 0, most_queries),
    .rows = { SENTENCES, forest->offsets },
    .level = forest->level,
    .first_child = forest->first_child,
    .n_children = forest->n_children,
    .max_children = 4,
    .heads = heads,
    .branches = G_MAXINT64,
  };
}

/* Checks attention that descends through all branches. */
static void
check_sibling_attention (Trial *trial, gint64 most_leaves, gint64 most_queries, gint64 most_width)
{
  Forest forest = plant (trial, most_leaves);
  PlaitTreeDescent descent = descend_all (trial, &forest, most_queries, (guint)trial_number (trial, 1, 3));
  gint64 width = descent.heads * trial_number (trial, 1, most_width), rows = plait_ragged_rows (descent.rows);
  PlaitAttentionSettings settings = { .heads = descent.heads, .scale = 2 / sqrt ((double)width) };
  PlaitTensor queries = trial_tensor (trial, plait_ragged_rows (descent.queries), width);
  PlaitTensor keys = trial_tensor (trial, rows, width), values = trial_tensor (trial, rows, width);
  PlaitTensor context = trial_tensor (trial, queries.rows, width), expected = trial_tensor (trial, queries.rows, width);
  PlaitTreeDescentScores scores = { queries, keys, (PlaitScalar)settings.scale, NULL };
  PlaitSiblingGroups groups;
  PlaitSiblingAttention attention = { queries, keys, values, descent.queries, &groups, &settings };

  CHECK (plait_sibling_groups_find (trial->arena, &descent, &groups));
  plait_sibling_attention_run (trial->pool, context, NULL, &attention);
  for (gint64 s = 0; s < SENTENCES; s++)
    for (gint64 q = descent.queries.offsets[s]; q < descent.queries.offsets[s + 1]; q++)
      for (gint64 h = 0; h < descent.heads; h++)
        {
          Slow slow = { &descent, &scores, s, q, h, 0, NULL };

          slow.share = trial_memory (trial, sizeof (double) * MAX_ROWS);
          slow_descent (&slow);
          if (!trial_compares ())
            continue;
          CHECK_INT (groups.weighed[s], slow.n);
          slow_context (trial, &slow, values, expected);
        }
  trial_check (trial, "context of all branches", context, expected);
}

/* Checks the sibling softmax over scores of pairs. Its gradient must equal that of the tree descent, in which a row may
 * occur several times. */
static void
check_sibling_softmax (Trial *trial, gint64 most_leaves, gint64 most_queries, gint64 most_width)
{
  Forest forest = plant (trial, most_leaves);
  PlaitTreeDescent descent = descend_all (trial, &forest, most_queries, 1);
  gint64 width = trial_number (trial, 1, most_width), pair = 0, leaf = 0;
  PlaitTensor queries = trial_tensor (trial, plait_ragged_rows (descent.queries), width);
  PlaitTensor keys = trial_tensor (trial, plait_ragged_rows (descent.rows), width);
  PlaitTreeDescentScores from = { .queries = queries, .keys = keys, .vector = trial_vector (trial, width) };
  PlaitTreeDescentResult result = plait_tree_descent_forward (trial->pool, trial->arena, &descent, &from, TRUE);
  PlaitScalar *dleaves = trial_vector (trial, plait_selected_rows_count (&result.leaves) + 1);
  PlaitScalar *dresult = trial_vector (trial, result.weighed + 1);
  PlaitScalar *scores, *weights, *dweights, *expected;
  gboolean add = trial_flip (trial);
  PlaitTensor dscores, dexpected;
  PlaitSiblingSoftmax taken;
  PlaitSiblingGroups groups;

  CHECK (plait_sibling_groups_find (trial->arena, &descent, &groups));
  taken = plait_sibling_softmax_new (trial->arena, &groups, descent.queries);
  scores = trial_vector (trial, plait_query_key_pairs_count (&taken.pairs) + 1);
  weights = trial_vector (trial, plait_query_key_pairs_count (&taken.leaves) + 1);
  dweights = trial_vector (trial, plait_query_key_pairs_count (&taken.leaves) + 1);
  expected = trial_vector (trial, plait_query_key_pairs_count (&taken.leaves) + 1);
  dscores = trial_target (trial, 1, plait_query_key_pairs_count (&taken.pairs), add, &dexpected);
  for (gint64 s = 0; s < SENTENCES; s++)
    for (gint64 q = descent.queries.offsets[s]; q < descent.queries.offsets[s + 1]; q++)
      {
        gint64 begin = descent.rows.offsets[s], leaves = plait_sibling_groups_leaves (&groups, s);
        Slow slow = { &descent, &from, s, q, 0, 0, trial_memory (trial, sizeof (double) * MAX_ROWS) };

        slow_descent (&slow);
        for (gint64 row = begin; row < descent.rows.offsets[s + 1]; row++)
          scores[pair + row - begin] = (PlaitScalar)slow_score (&slow, row);
        for (gint64 i = 0; i < leaves; i++)
          expected[leaf + i] = (PlaitScalar)slow.share[begin + i];
        for (gint64 i = result.leaves.rows.offsets[q]; i < result.leaves.rows.offsets[q + 1]; i++)
          dleaves[i] = dweights[leaf + result.leaves.row[i] - begin];
        leaf += leaves;
        pair += plait_ragged_length (descent.rows, s);
      }
  plait_sibling_softmax_forward (trial->pool, &taken, weights, scores);
  trial_check_vector (trial, "weights of leaves", weights, expected, leaf);
  plait_tree_descent_backward (trial->pool, trial->arena, &result, dresult, 1, dleaves);
  pair = 0;
  for (gint64 s = 0; s < SENTENCES; s++)
    for (gint64 q = descent.queries.offsets[s]; q < descent.queries.offsets[s + 1]; q++)
      {
        const gint64 *rows = result.all.rows.offsets;

        for (gint64 i = rows[result.all.sets.offsets[q]]; i < rows[result.all.sets.offsets[q + 1]]; i++)
          dexpected.data[pair + result.all.row[i] - descent.rows.offsets[s]] += dresult[i];
        pair += plait_ragged_length (descent.rows, s);
      }
  plait_sibling_softmax_backward (trial->pool, &taken, dscores.data, add, dweights);
  trial_check (trial, "gradient of sibling scores", dscores, dexpected);
}

static void
few_body (Trial *trial)
{
  check_descents (trial, 30, 4, 40, FALSE);
  check_descents (trial, 30, 4, 40, TRUE);
  check_sibling_attention (trial, 30, 20, 20);
  check_sibling_softmax (trial, 30, 4, 20);
}

/* Checks with enough rows for several pieces of work. */
static void
many_body (Trial *trial)
{
  check_descents (trial, 200, 24, 90, FALSE);
  check_descents (trial, 200, 8, 90, TRUE);
  check_sibling_attention (trial, 800, 150, 40);
  check_sibling_softmax (trial, 800, 6, 40);
}

TEST_CASE (descent, as_the_slow_twin)
{
  trial_run (few_body, 4);
  trial_run (many_body, 1);
}

/* Checks a set with more rows than a vector has lanes. */
static void
wide_body (Trial *trial)
{
  static const gint64 level[41] = { [40] = 1 }, first_child[41] = { [40] = 0 }, n_children[41] = { [40] = 40 };
  static const gint64 offsets[] = { 0, 41 }, one[] = { 0, 1 };
  PlaitTreeDescent descent = { { 1, one }, { 1, offsets }, level, first_child, n_children, 40, 1, 1, TRUE };
  PlaitTreeDescentScores scores = { trial_tensor (trial, 1, 20), trial_tensor (trial, 41, 20), (PlaitScalar).3, NULL };
  Slow slow = { &descent, &scores, 0, 0, 0, 0, trial_memory (trial, sizeof (double) * 41) };
  PlaitTreeDescentResult result = plait_tree_descent_forward (trial->pool, trial->arena, &descent, &scores, FALSE);

  slow_descent (&slow);
  check_leaves (trial, &result, 0, &slow);
  CHECK_INT (result.weighed, 40);
}

TEST_CASE (descent, sets_of_more_rows_than_a_vector)
{
  trial_run (wide_body, 1);
}

static PlaitScalar
or_lowest (PlaitScalar x)
{
  return isnan (x) ? -(PlaitScalar)INFINITY : x;
}

/* Returns a bit mask of the lanes of the @most largest scalars. Of equal ones, the first are taken; NaN counts as
 * -infinity. */
static guint32
slow_best_lanes (const PlaitScalar *x, gint64 n, gint64 most)
{
  guint32 lanes = 0;

  for (gint64 k = 0; k < MIN (most, n); k++)
    {
      gint64 best = -1;

      for (gint64 i = 0; i < n; i++)
        if (!(lanes >> i & 1) && (best < 0 || or_lowest (x[i]) > or_lowest (x[best])))
          best = i;
      lanes |= 1u << best;
    }
  return lanes;
}

static void
lanes_body (Trial *trial)
{
  static const double numbers[] = { -INFINITY, -2, -1, -1e-30, -0., 0, 1e-30, .5, 1, INFINITY, NAN };
  PlaitScalar *x = trial_memory (trial, sizeof *x * PLAIT_MAX_VECTOR_LENGTH);

  for (gint64 i = 0; i < 500; i++)
    {
      gint64 n = trial_number (trial, 1, plait_kernels ()->vector_length), most = trial_number (trial, 1, 6);
      gboolean few = trial_flip (trial);

      for (gint64 j = 0; j < n; j++)
        x[j] = few ? (PlaitScalar)numbers[trial_number (trial, 0, G_N_ELEMENTS (numbers) - 1)]
                   : (PlaitScalar)trial_number (trial, -8, 8) / 4;
      CHECK_INT (plait_kernels ()->best_lanes (x, n, most), slow_best_lanes (x, n, most));
    }
}

TEST_CASE (descent, best_rows_of_a_vector)
{
  trial_run (lanes_body, 2);
}

/* Before any row is read, refuses children outside the sentence and wrong numbers of children. */
TEST_CASE (descent, children_elsewhere_are_refused)
{
  static const gint64 level[] = { 0, 0, 0, 0, 1, 1 }, offsets[] = { 0, 6 }, one[] = { 0, 1 };
  static const gint64 first_child[][6] = { { -1, -1, -1, -1, 0, 5 }, { -1, -1, -1, -1, -3, -3 }, { 0, 0, 0, 0, 0, 0 } };
  static const gint64 n_children[][6] = { { 0, 0, 0, 0, 2, 2 }, { 0, 0, 0, 0, 2, 2 }, { 0, 0, 0, 0, 5, -1 } };
  g_autoptr (PlaitPool) pool = plait_pool_new (1, NULL);
  g_autoptr (PlaitArena) arena = plait_arena_new (0);

  for (guint i = 0; i < G_N_ELEMENTS (first_child); i++)
    {
      PlaitScalar numbers[6] = { 0 };
      PlaitSiblingGroups groups;
      PlaitTreeDescent descent = { { 1, one }, { 1, offsets }, level, first_child[i], n_children[i], 2, 1, 2, FALSE };
      PlaitTreeDescentScores scores = { plait_tensor (numbers, 1, 1), plait_tensor (numbers, 6, 1), 1, NULL };

      CHECK_INT (plait_tree_descent_forward (pool, arena, &descent, &scores, FALSE).weighed, -1);
      CHECK (!plait_sibling_groups_find (arena, &descent, &groups));
    }
}
