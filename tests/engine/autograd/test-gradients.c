/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "autograd/check.h"
#include "autograd/layer-operators.h"
#include "bench.h"
#include "cases.h"
#include "kernels/kernels.h"
#include "kernels/gradient-terms.h"

static const char *const variants[] = { "v1", "v3", "v4" };

TEST_CASE (gradients, agree_with_finite_differences)
{
  g_autoptr (PlaitPool) pool = plait_pool_new (2, NULL);

  for (guint variant = 0; variant < G_N_ELEMENTS (variants); variant++)
    for (guint i = 0; gradient_case_at (i) && plait_kernels_choose (variants[variant]); i++)
      {
        CONTEXT ("%s, kernels %s", gradient_case_at (i)->name, variants[variant]);

        run_gradient_case (gradient_case_at (i), pool, NO_ERROR);
      }
  plait_kernels_choose (NULL);
}

TEST_CASE (gradients, agree_where_one_node_is_two_inputs)
{
  g_autoptr (PlaitPool) pool = plait_pool_new (2, NULL);
  const GradientCase *one;
  guint pairs = 0;

  for (guint i = 0; (one = gradient_case_at (i)); i++)
    for (guint second = 1; second < one->n_leaves; second++)
      for (guint first = 0; first < second; first++)
        if (one->leaves[first].rows == one->leaves[second].rows
            && one->leaves[first].width == one->leaves[second].width)
          {
            CONTEXT ("%s, leaf %u is also leaf %u", one->name, first, second);

            run_gradient_case_with (one, first, second, pool, NO_ERROR);
            pairs++;
          }
  CHECK (pairs > 50);
}

/* Functions that return an operator whose inputs are all @x, one long sentence. */

static const gint64 long_sentence[] = { 0, 400 };
static const PlaitRagged long_rows = { 1, long_sentence };

static PlaitNode *
attend_to_itself (PlaitTape *tape, PlaitNode *x)
{
  PlaitKeyValues memory = { .keys = x, .values = x, .rows = long_rows };

  return plait_attention (tape, x, long_rows, &memory, 1, &(PlaitAttentionOptions){ .heads = 2, .scale = 0.5 });
}

static PlaitNode *
score_itself (PlaitTape *tape, PlaitNode *x)
{
  PlaitQueryKeyPairs pairs = plait_query_key_pairs (tape, long_rows, long_rows);

  return plait_additive_scores (tape, &pairs, x, x, NULL, plait_rows (tape, x, 0, 1), NULL);
}

static PlaitNode *
multiply_with_itself (PlaitTape *tape, PlaitNode *x)
{
  PlaitQueryKeyPairs pairs = plait_query_key_pairs (tape, long_rows, long_rows);

  return plait_dot_scores (tape, &pairs, x, x, 0.5);
}

static PlaitNode *
score_chosen_rows (PlaitTape *tape, PlaitNode *x)
{
  enum
  {
    CHOSEN = 20,
  };
  gint64 n = long_sentence[1];
  gint64 *each = plait_arena_new_array (plait_tape_arena (tape), gint64, n + 1);
  gint64 *ends = plait_arena_new_array (plait_tape_arena (tape), gint64, n + 1);
  gint64 *row = plait_arena_new_array (plait_tape_arena (tape), gint64, n * CHOSEN);

  for (gint64 i = 0; i <= n; i++)
    {
      each[i] = i;
      ends[i] = i * CHOSEN;
    }
  for (gint64 i = 0; i < n * CHOSEN; i++)
    row[i] = i * 7 % n;
  return plait_sparse_additive_scores (
      tape, &(PlaitSelectedRows){ .heads = 1, .sets = { n, each }, .rows = { n, ends }, .row = row }, x, x,
      plait_rows (tape, x, 0, 1));
}

TEST_CASE (gradients, of_one_node_that_is_all_inputs_have_the_same_bits_on_any_threads)
{
  static PlaitNode *(*const builds[]) (PlaitTape * tape, PlaitNode * x)
      = { attend_to_itself, score_itself, multiply_with_itself, score_chosen_rows };

  for (guint i = 0; i < G_N_ELEMENTS (builds); i++)
    {
      g_auto (Bench) one = bench_new (1), four = bench_new (4);
      PlaitNode *x[] = { bench_random (&one, long_sentence[1], 8, 1), bench_random (&four, long_sentence[1], 8, 1) };
      CONTEXT ("operator %u", i);

      plait_tape_backward (one.tape, plait_reduce_sum (one.tape, plait_exp (one.tape, builds[i](one.tape, x[0]))));
      plait_tape_backward (four.tape, plait_reduce_sum (four.tape, plait_exp (four.tape, builds[i](four.tape, x[1]))));
      CHECK (memcmp (x[0]->gradient.data, x[1]->gradient.data, sizeof (PlaitScalar) * 8 * (gsize)long_sentence[1])
             == 0);
    }
}

/* The backward function of an operator with a mistake: a factor is missing. */
static void
wrong_backward (PlaitTape *tape, PlaitNode *node)
{
  PlaitScalar beta;
  PlaitTensor target = plait_gradient_target (tape, node->inputs[0], &beta);

  for (gint64 i = 0; i < target.width; i++)
    target.data[i] = beta * target.data[i] + node->gradient.data[0] * (i == 2 ? 3 : 2) * node->inputs[0]->value.data[i];
}

static PlaitNode *
sum_of_squares (PlaitTape *tape, PlaitNode *const *leaves, gpointer data)
{
  static const PlaitOperator wrong = { "wrong", wrong_backward };
  PlaitNode *node = plait_tape_node (tape, &wrong, 1, 1, leaves, 1, 0);

  node->value.data[0] = 0;
  for (gint64 i = 0; i < leaves[0]->value.width; i++)
    node->value.data[0] += leaves[0]->value.data[i] * leaves[0]->value.data[i];
  return node;
}

TEST_CASE (gradients, name_what_is_off)
{
  g_autoptr (PlaitPool) pool = plait_pool_new (1, NULL);
  g_autoptr (GError) error = NULL;
  PlaitScalar values[] = { 1, 2, 3, 4 };
  PlaitCheckLeaf leaf = { .name = "numbers", .value = plait_tensor (values, 1, 4) };
  PlaitGradientCheck check = { .build = sum_of_squares, .leaves = &leaf, .n_leaves = 1, .mode = PLAIT_TAPE_CHECK };

  CHECK (!plait_check_gradients (&check, pool, &error));
  CHECK_ERROR (error, PLAIT_ERROR_FAILED, "the gradient of numbers[0, 2] is 9 by backward and ");
  CHECK_NEAR (values[2], 3, 0);
}

#ifdef PLAIT_SCALAR_DOUBLE

/* Sets the factor of all gradient terms called @name. */
static void
set_factor (const char *name, double factor)
{
  for (PlaitGradientTerm *term = __start_plait_gradient_terms; term < __stop_plait_gradient_terms; term++)
    if (g_str_equal (term->name, name))
      term->factor = factor;
}

/* TRUE if a gradient check fails when the gradient terms called @name are multiplied by @factor. */
static gboolean
is_noticed (PlaitPool *pool, const char *name, double factor)
{
  gboolean noticed = FALSE;

  set_factor (name, factor);
  for (guint i = 0; gradient_case_at (i) && !noticed; i++)
    {
      const GradientCase *one = gradient_case_at (i);

      if (one->covers && g_str_has_prefix (name, one->covers))
        noticed = !run_gradient_case (one, pool, NULL);
    }
  set_factor (name, 1);
  return noticed;
}

TEST_CASE (gradients, notice_every_term_that_is_dropped_flipped_or_scaled)
{
  static const double factors[] = { 0, -1, 1.001 };
  g_autoptr (PlaitPool) pool = plait_pool_new (1, NULL);
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);

  for (const PlaitGradientTerm *term = __start_plait_gradient_terms; term < __stop_plait_gradient_terms; term++)
    g_hash_table_add (names, (gpointer)term->name);
  CHECK (g_hash_table_size (names) > 150);
  for (guint variant = 0; variant < G_N_ELEMENTS (variants); variant++)
    if (plait_kernels_choose (variants[variant]))
      {
        GHashTableIter each;
        gpointer name;

        g_hash_table_iter_init (&each, names);
        while (g_hash_table_iter_next (&each, &name, NULL))
          for (guint i = 0; i < G_N_ELEMENTS (factors); i++)
            {
              CONTEXT ("the term %s times %g, kernels %s", (const char *)name, factors[i], variants[variant]);
              CHECK (is_noticed (pool, name, factors[i]));
            }
      }
  plait_kernels_choose (NULL);
}

#endif
