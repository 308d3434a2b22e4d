/* SPDX-License-Identifier: MIT */
#include "autograd/check.h"

#include "tensor/elementwise.h"

#include <math.h>

/* Step sizes, tried in turn. A step that crosses a kink (ReLU) gives a wrong difference, but a smaller step may not
 * cross it. A wrong gradient disagrees with the differences of all steps. */
#ifdef PLAIT_SCALAR_DOUBLE
static const double steps[] = { 1e-3, 1e-4, 1e-5 };
#define TOLERANCE 1e-6
#define ROUNDING 1e-5
#else
static const double steps[] = { 2e-2, 5e-3, 1e-3 };
#define TOLERANCE 3e-2
#define ROUNDING 2e-3
#endif

/* The divisor of an element's error is at least SMALL times the largest gradient of the leaf, at least ROUNDING times
 * the root, and at least ROUNDING, because finite differences are not accurate enough for a smaller divisor. */
#define SMALL 1e-3

typedef struct
{
  const PlaitGradientCheck *check;
  PlaitTape *tape;
  PlaitTensor *targets;   /* [leaves]: gradient of each leaf, to which backward adds */
  PlaitTensor *gradients; /* [leaves] copy of the field targets after the backward pass */
  PlaitNode **nodes;
  gboolean backward; /* TRUE: compute the gradients too */
  double root;       /* value of the tape's root, the scalar to differentiate */
} Checker;

static void
compute (gpointer data)
{
  Checker *checker = data;
  const PlaitGradientCheck *check = checker->check;
  PlaitNode *root;

  plait_tape_begin (checker->tape, check->mode, check->key);
  for (guint i = 0; i < check->n_leaves; i++)
    checker->nodes[i] = plait_leaf (checker->tape, check->leaves[i].value, &checker->targets[i]);
  root = check->build (checker->tape, checker->nodes, check->data);
  g_assert (root->value.rows == 1 && root->value.width == 1);
  if (checker->backward)
    plait_tape_backward (checker->tape, root);
  checker->root = root->value.data[0];
}

/* Builds the graph and sets checker->root; with @backward also adds the gradients to checker->targets. */
static gboolean
evaluate (Checker *checker, gboolean backward, GError **error)
{
  checker->backward = backward;
  return plait_arena_protect (plait_tape_arena (checker->tape), compute, checker, error);
}

static gboolean
difference (Checker *checker, PlaitScalar *element, double step, double *difference, GError **error)
{
  /* The derivative is the sum of weight * f (x + k * step), divided by 12 * step; exact for polynomials of degree 4. */
  static const struct
  {
    int k;
    double weight;
  } points[] = { { -2, 1 }, { -1, -8 }, { 1, 8 }, { 2, -1 } };
  PlaitScalar old = *element;
  gboolean done = TRUE;
  double sum = 0;

  for (gsize i = 0; i < G_N_ELEMENTS (points) && done; i++)
    {
      *element = (PlaitScalar)(old + points[i].k * step);
      done = evaluate (checker, FALSE, error);
      sum += points[i].weight * checker->root;
    }
  *element = old;
  *difference = sum / (12 * step);
  return done;
}

static double
largest (PlaitTensor tensor)
{
  double found = 0;

  for (gint64 row = 0; row < tensor.rows; row++)
    for (gint64 i = 0; i < tensor.width; i++)
      found = fmax (found, fabs ((double)plait_tensor_row (tensor, row)[i]));
  return found;
}

/* Compares backward's gradient of one element with finite differences. Divides the error by the greatest of the
 * two magnitudes and @floor. */
static gboolean
check_element (Checker *checker, guint leaf, gint64 element, double floor, GError **error)
{
  const PlaitCheckLeaf *what = &checker->check->leaves[leaf];
  gint64 row = element / what->value.width;
  gint64 column = element % what->value.width;
  double tolerance = checker->check->tolerance > 0 ? checker->check->tolerance : TOLERANCE;
  double analytic = plait_tensor_row (checker->gradients[leaf], row)[column];
  double numeric = 0;
  double off = 0;

  for (gsize i = 0; i < G_N_ELEMENTS (steps); i++)
    {
      double size;

      if (!difference (checker, plait_tensor_row (what->value, row) + column, steps[i], &numeric, error))
        return FALSE;
      size = fmax (fmax (fabs (numeric), fabs (analytic)), floor);
      off = fabs (numeric - analytic) / size;
      if (off <= tolerance)
        return TRUE;
    }
  return plait_fail (
      error, PLAIT_ERROR_FAILED,
      "the gradient of %s[%jd, %jd] is %.12g by backward and %.12g by finite differences, a relative error of %.3g "
      "where at most %.3g is allowed; correct the backward function that computes this gradient",
      what->name, row, column, analytic, numeric, off, tolerance);
}

static gboolean
check_leaf (Checker *checker, guint leaf, double root, GError **error)
{
  const PlaitGradientCheck *check = checker->check;
  gint64 n = check->leaves[leaf].value.rows * check->leaves[leaf].value.width;
  gboolean all = check->sample <= 0 || check->sample >= n;
  PlaitRandomKey key = plait_random_subkey (check->key, leaf);
  double small = check->small > 0 ? check->small : SMALL;
  double floor = fmax (small * largest (checker->gradients[leaf]), ROUNDING * fmax (1, fabs (root)));

  for (gint64 i = 0; i < (all ? n : check->sample); i++)
    {
      gint64 element = all ? i : (gint64)plait_random_below (key, (guint64)i, (guint64)n);

      if (!check_element (checker, leaf, element, floor, error))
        return FALSE;
    }
  return TRUE;
}

/* Returns a zeroed tensor of the shape of @like; @storage owns its memory. */
static PlaitTensor
new_zeros (GPtrArray *storage, PlaitTensor like)
{
  PlaitScalar *data = g_new0 (PlaitScalar, MAX (like.rows * like.width, 1));

  g_ptr_array_add (storage, data);
  return plait_tensor (data, like.rows, like.width);
}

gboolean
plait_check_gradients (const PlaitGradientCheck *check, PlaitPool *pool, GError **error)
{
  g_autoptr (PlaitArena) arena = plait_arena_new (0);
  g_autoptr (PlaitTape) tape = plait_tape_new (pool, arena);
  g_autoptr (GPtrArray) storage = g_ptr_array_new_with_free_func (g_free);
  g_autofree PlaitTensor *targets = g_new0 (PlaitTensor, check->n_leaves);
  g_autofree PlaitTensor *gradients = g_new0 (PlaitTensor, check->n_leaves);
  g_autofree PlaitNode **nodes = g_new0 (PlaitNode *, check->n_leaves);
  Checker checker = { check, tape, targets, gradients, nodes, FALSE, 0 };
  double root;

  g_assert (check->mode != PLAIT_TAPE_EVALUATE);
  for (guint i = 0; i < check->n_leaves; i++)
    {
      const PlaitCheckLeaf *leaf = &check->leaves[i];

      targets[i] = leaf->gradient.data ? leaf->gradient : new_zeros (storage, leaf->value);
      gradients[i] = new_zeros (storage, leaf->value);
      plait_tensor_fill (pool, targets[i], 0, 0);
    }

  /* Copy the gradients: some operators add to their targets in the forward pass too, so later passes spoil them. */
  if (!evaluate (&checker, TRUE, error))
    return FALSE;
  root = checker.root;
  for (guint i = 0; i < check->n_leaves; i++)
    plait_tensor_accumulate (pool, gradients[i], 0, 1, targets[i]);
  for (guint i = 0; i < check->n_leaves; i++)
    if (!check_leaf (&checker, i, root, error))
      return FALSE;
  return TRUE;
}
