/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "autograd/check.h"
#include "cases.h"
#include "harness.h"
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
