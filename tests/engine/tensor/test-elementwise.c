/* SPDX-License-Identifier: MIT */
#include "tensor/elementwise.h"

#include <math.h>

#include "trial.h"

static PlaitScalar *
at (PlaitTensor tensor, gint64 i)
{
  return plait_tensor_row (tensor, i / tensor.width) + i % tensor.width;
}

static void
elements_body (Trial *trial)
{
  gint64 rows = trial_number (trial, 0, 40), width = trial_number (trial, 1, 50), n = rows * width;
  PlaitScalar beta = (PlaitScalar)trial_number (trial, 0, 1), alpha = (PlaitScalar).75;
  double rate = trial_flip (trial) ? .3 : 0;
  PlaitRandomKey key = plait_random_subkey (trial->key, 1);
  PlaitTensor x[5], y, slow;
  double total = 0;

  for (guint i = 0; i < 5; i++)
    x[i] = trial_tensor (trial, rows, width);

  y = trial_target (trial, rows, width, beta, &slow);
  plait_tensor_accumulate (trial->pool, y, beta, alpha, x[0]);
  for (gint64 i = 0; i < n; i++)
    *at (slow, i) += alpha * *at (x[0], i);
  trial_check (trial, "accumulate", y, slow);

  y = trial_target (trial, rows, width, beta, &slow);
  plait_tensor_multiply (trial->pool, y, beta, x[0], x[1]);
  for (gint64 i = 0; i < n; i++)
    *at (slow, i) += *at (x[0], i) * *at (x[1], i);
  trial_check (trial, "multiply", y, slow);

  for (int sign = -1; sign <= 1; sign += 2)
    {
      PlaitTensor dx = trial_target (trial, rows, width, beta, &slow), slow_maximum = trial_copy (trial, x[0]);

      y = trial_rubbish (trial, rows, width);
      if (n > 0)
        *at (x[1], 0) = *at (x[0], 0);
      plait_tensor_maximum (trial->pool, y, (PlaitScalar)sign, x[0], x[1]);
      plait_tensor_maximum_backward (trial->pool, dx, beta, (PlaitScalar)sign, x[2], x[0], x[1]);
      for (gint64 i = 0; i < n; i++)
        {
          PlaitScalar a = *at (x[0], i), b = *at (x[1], i);

          *at (slow_maximum, i) = sign > 0 ? MAX (a, b) : MIN (a, b);
          *at (slow, i) += a == b ? *at (x[2], i) / 2 : (a > b) == (sign > 0) ? *at (x[2], i) : 0;
        }
      trial_check (trial, "maximum", y, slow_maximum);
      trial_check (trial, "maximum backward", dx, slow);
    }

  y = trial_target (trial, rows, width, beta, &slow);
  plait_tensor_fill (trial->pool, y, beta, alpha);
  for (gint64 i = 0; i < n; i++)
    *at (slow, i) += alpha;
  trial_check (trial, "fill", y, slow);

  y = trial_target (trial, rows, width, beta, &slow);
  plait_tensor_dropout (trial->pool, y, beta, x[0], key, rate);
  for (gint64 i = 0; i < n; i++)
    if (!trial_dropped (key, rate, i))
      *at (slow, i) += *at (x[0], i) / (PlaitScalar)(1 - rate);
  trial_check (trial, "dropout", y, slow);

  y = trial_target (trial, rows, width, 0, &slow);
  plait_residual_forward (trial->pool, y, x[0], x[1], key, rate);
  for (gint64 i = 0; i < n; i++)
    *at (slow, i) = *at (x[0], i) + (trial_dropped (key, rate, i) ? 0 : *at (x[1], i) / (PlaitScalar)(1 - rate));
  trial_check (trial, "residual", y, slow);

  for (guint terms = 1; terms <= 5; terms++)
    {
      y = trial_target (trial, rows, width, 0, &slow);
      plait_tensor_add_n (trial->pool, y, x, terms);
      for (gint64 i = 0; i < n; i++)
        for (guint j = 0; j < terms; j++)
          *at (slow, i) += *at (x[j], i);
      trial_check (trial, "sum", y, slow);
    }

  for (gint64 i = 0; i < n; i++)
    total += (double)*at (x[0], i);
  CHECK_NEAR (plait_tensor_reduce_sum (trial->pool, trial->arena, x[0]), total, 1e-9);
}

TEST_CASE (elementwise, equals_its_slow_twin)
{
  trial_run (elements_body, 12);
}

static void
large_body (Trial *trial)
{
  PlaitTensor x = trial_tensor (trial, 300, 129), y = trial_rubbish (trial, 300, 129), slow = trial_copy (trial, x);
  PlaitRandomKey key = plait_random_subkey (trial->key, 2);
  double total = 0;

  plait_tensor_dropout (trial->pool, y, 0, x, key, .1);
  for (gint64 i = 0; i < 300 * 129; i++)
    {
      total += (double)*at (x, i);
      *at (slow, i) = trial_dropped (key, .1, i) ? 0 : *at (x, i) / (PlaitScalar).9;
    }
  trial_check (trial, "dropout in many pieces", y, slow);
  CHECK_NEAR (plait_tensor_reduce_sum (trial->pool, trial->arena, x), total, 1e-8);
}

TEST_CASE (elementwise, works_in_many_pieces)
{
  trial_run (large_body, 2);
}

static void
activation_body (Trial *trial)
{
  gint64 rows = trial_number (trial, 0, 20), width = trial_number (trial, 1, 40);
  PlaitScalar beta = (PlaitScalar)trial_number (trial, 0, 1);

  for (int which = PLAIT_ACTIVATION_NONE; which <= PLAIT_ACTIVATION_LOG; which++)
    {
      PlaitActivation activation = (PlaitActivation)which;
      PlaitTensor x = trial_tensor (trial, rows, width), y = trial_rubbish (trial, rows, width);
      PlaitTensor dy = trial_tensor (trial, rows, width), slow = trial_copy (trial, x), slow_dx;
      PlaitTensor dx = trial_target (trial, rows, width, beta, &slow_dx);
      CONTEXT ("activation %d", which);

      for (gint64 i = 0; activation == PLAIT_ACTIVATION_LOG && i < rows * width; i++)
        *at (x, i) = *at (x, i) * *at (x, i) + (PlaitScalar)1e-3;
      plait_activation_forward (trial->pool, activation, y, x);
      plait_activation_backward (trial->pool, activation, dx, beta, dy,
                                 plait_activation_saves_input (activation) ? x : y);
      for (gint64 i = 0; i < rows * width; i++)
        {
          double derivative;

          *at (slow, i) = (PlaitScalar)trial_activation (activation, (double)*at (x, i), &derivative);
          *at (slow_dx, i) += *at (dy, i) * (PlaitScalar)derivative;
        }
      trial_check (trial, "activation", y, slow);
      trial_check (trial, "its backward", dx, slow_dx);
    }
}

TEST_CASE (activation, equals_its_slow_twin)
{
  trial_run (activation_body, 8);
}

#ifdef PLAIT_SCALAR_DOUBLE
#define UNIT 0x1p-52
#else
#define UNIT 0x1p-23
#endif

static void
accuracy_body (Trial *trial)
{
  const int n = 4001;
  PlaitTensor x = plait_tensor (trial_memory (trial, sizeof (PlaitScalar) * (gsize)n), 1, n);
  PlaitTensor y = plait_tensor (trial_memory (trial, sizeof (PlaitScalar) * (gsize)n), 1, n);
  double worst[PLAIT_ACTIVATION_EXP + 1] = { 0 };

  for (int i = 0; i < n; i++)
    x.data[i] = (PlaitScalar)((i - n / 2) * (i % 3 == 0 ? 1e-2 : i % 3 == 1 ? 1e-4 : 4e-3));
  for (int which = PLAIT_ACTIVATION_GELU; which <= PLAIT_ACTIVATION_EXP; which++)
    {
      plait_activation_forward (trial->pool, (PlaitActivation)which, y, x);
      for (int i = 0; i < n; i++)
        {
          double derivative, exact = trial_activation ((PlaitActivation)which, (double)x.data[i], &derivative);
          /* The error of GELU is relative to x and not to the result, because the left tail is a difference of nearly
           * equal numbers. */
          double unit = UNIT * (which <= PLAIT_ACTIVATION_GELU_TANH ? fabs ((double)x.data[i]) : fabs (exact));

          worst[which] = MAX (worst[which], fabs ((double)y.data[i] - exact) / (unit + 1e-300));
        }
    }
  CHECK_NEAR (worst[PLAIT_ACTIVATION_GELU], 0, 2);
  CHECK_NEAR (worst[PLAIT_ACTIVATION_GELU_TANH], 0, 4);
  CHECK_NEAR (worst[PLAIT_ACTIVATION_SWISH], 0, 4);
  CHECK_NEAR (worst[PLAIT_ACTIVATION_TANH], 0, 4);
  CHECK_NEAR (worst[PLAIT_ACTIVATION_SIGMOID], 0, 4);
  CHECK_NEAR (worst[PLAIT_ACTIVATION_EXP], 0, 3);
}

TEST_CASE (activation, is_accurate_to_a_few_units)
{
  trial_run (accuracy_body, 1);
}

static void
strange_body (Trial *trial)
{
  for (int which = PLAIT_ACTIVATION_RELU; which <= PLAIT_ACTIVATION_SIGMOID; which++)
    {
      PlaitScalar numbers[37];
      PlaitTensor x = plait_tensor (numbers, 1, 37);
      CONTEXT ("activation %d", which);

      for (int i = 0; i < 37; i++)
        numbers[i] = i % 3 == 0 ? (PlaitScalar)NAN : i % 3 == 1 ? (PlaitScalar)INFINITY : (PlaitScalar)1e30;
      plait_activation_forward (trial->pool, (PlaitActivation)which, x, x);
      for (int i = 0; i < 37; i++)
        if (i % 3 == 0)
          CHECK (isnan (numbers[i]));
        else
          CHECK (which <= PLAIT_ACTIVATION_SWISH ? numbers[i] > 1e29 : numbers[i] == 1);
    }
}

TEST_CASE (activation, keeps_nan)
{
  trial_run (strange_body, 1);
}

static void
strange_logarithms_body (Trial *trial)
{
  static const double numbers[] = { 0, -1, INFINITY, NAN, 1e-310, 1e-40, 1e-38, 1, 1 + 0x1p-20, 0.99, 3e38 };
  const gint n = G_N_ELEMENTS (numbers);
  PlaitScalar x[G_N_ELEMENTS (numbers)], y[G_N_ELEMENTS (numbers)];

  for (gint i = 0; i < n; i++)
    x[i] = (PlaitScalar)numbers[i];
  plait_activation_forward (trial->pool, PLAIT_ACTIVATION_LOG, plait_tensor (y, 1, n), plait_tensor (x, 1, n));
  for (gint i = 0; i < n; i++)
    {
      double expected = log ((double)x[i]);

      CONTEXT ("log (%g)", (double)x[i]);
      if (isfinite (expected))
        CHECK_NEAR (y[i], expected, 2 * UNIT * fabs (expected) + UNIT / 1e3);
      else
        CHECK (isnan (expected) ? isnan (y[i]) : y[i] == (PlaitScalar)expected);
    }
}

TEST_CASE (activation, takes_the_logarithm_of_any_number)
{
  trial_run (strange_logarithms_body, 1);
}

static void
nan_extremes_body (Trial *trial)
{
  PlaitScalar numbers[] = { (PlaitScalar)NAN, 1 }, others[] = { 1, (PlaitScalar)NAN }, found[2];

  for (int sign = -1; sign <= 1; sign += 2)
    {
      plait_tensor_maximum (trial->pool, plait_tensor (found, 1, 2), (PlaitScalar)sign, plait_tensor (numbers, 1, 2),
                            plait_tensor (others, 1, 2));
      CHECK (isnan (found[0]) && isnan (found[1]));
    }
}

TEST_CASE (elementwise, extremes_keep_nan)
{
  trial_run (nan_extremes_body, 1);
}
