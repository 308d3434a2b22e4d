/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "autograd/internal.h"
#include "bench.h"

/* Tests of weights that are used at many steps: they are packed once, and the rows for their gradients are
 * collected. */

enum
{
  STEPS = 12,
  ROWS = 100, /* so many rows that collected rows are multiplied before the backward pass ends */
  WIDTH = 5,
};

typedef struct
{
  PlaitScalar x[ROWS * WIDTH];
  PlaitScalar weight[WIDTH * WIDTH];
  PlaitScalar bias[WIDTH];
} Numbers;

/* Computes the gradients of a chain of layers that share one weight. With @apart, the weight is not a leaf, so rows are
 * not collected. */
static void
go_back (guint threads, gboolean apart, gboolean biased, Numbers *gradients)
{
  g_auto (Bench) bench = bench_new (threads);
  PlaitNode *x, *weight, *bias, *chain;

  x = bench_random (&bench, ROWS, WIDTH, 1);
  weight = bench_random (&bench, WIDTH, WIDTH, 2);
  bias = bench_random (&bench, 1, WIDTH, 3);
  chain = x;
  for (int t = 0; t < STEPS; t++)
    chain = plait_linear (bench.tape, chain, apart ? plait_scale (bench.tape, weight, 1) : weight,
                          biased || t % 3 == 0 ? bias : NULL, PLAIT_ACTIVATION_TANH);
  plait_tape_backward (bench.tape, plait_reduce_sum (bench.tape, plait_multiply (bench.tape, chain, chain)));
  memcpy (gradients->x, x->gradient.data, sizeof gradients->x);
  memcpy (gradients->weight, weight->gradient.data, sizeof gradients->weight);
  memcpy (gradients->bias, bias->gradient.data, sizeof gradients->bias);
}

static void
check_near (const char *what, const PlaitScalar *found, const PlaitScalar *expected, gint64 n)
{
  double most = 1;

  for (gint64 i = 0; i < n; i++)
    most = fmax (most, fabs ((double)expected[i]));
  for (gint64 i = 0; i < n; i++)
    {
      CONTEXT ("%s[%d]", what, (int)i);

      CHECK_NEAR (found[i], expected[i], 10 * NEAR * most);
    }
}

TEST_CASE (weight_reuse, rows_that_are_collected_make_the_same_gradients)
{
  for (gboolean biased = FALSE; biased <= TRUE; biased++)
    {
      CONTEXT ("a bias at each step %d", biased);
      Numbers together, apart;

      go_back (1, FALSE, biased, &together);
      go_back (1, TRUE, biased, &apart);
      check_near ("x", together.x, apart.x, ROWS * WIDTH);
      check_near ("weight", together.weight, apart.weight, WIDTH * WIDTH);
      check_near ("bias", together.bias, apart.bias, WIDTH);
    }
}

TEST_CASE (weight_reuse, gradients_have_the_same_bits_on_any_number_of_threads)
{
  Numbers one, found;

  go_back (1, FALSE, TRUE, &one);
  for (guint threads = 2; threads <= 3; threads++)
    {
      CONTEXT ("%u threads", threads);

      go_back (threads, FALSE, TRUE, &found);
      CHECK (memcmp (&found, &one, sizeof one) == 0);
    }
}

/* If a step has no backward pass, its collected rows do not reach the next step. */
TEST_CASE (weight_reuse, nothing_is_left_for_the_next_step)
{
  g_auto (Bench) bench = bench_new (1);
  PlaitScalar value[] = { 2 }, gradient[] = { 0 };
  PlaitTensor tensor = plait_tensor (gradient, 1, 1);

  for (int step = 0; step < 3; step++)
    {
      PlaitNode *weight, *chain;

      bench_begin (&bench, step == 1 ? PLAIT_TAPE_EVALUATE : PLAIT_TAPE_CHECK);
      weight = plait_leaf (bench.tape, plait_tensor (value, 1, 1), &tensor);
      chain = bench_leaf (&bench, 1, 1, (double[]){ 1 });
      for (int t = 0; t < STEPS; t++)
        chain = plait_linear (bench.tape, chain, weight, NULL, PLAIT_ACTIVATION_NONE);
      CHECK_NEAR (chain->value.data[0], step < 2 ? 4096 : 531441, 1e-6);
      if (step != 1)
        plait_tape_backward (bench.tape, chain);
      if (step == 1)
        value[0] = 3; /* the next step must pack the changed weight again */
    }
  /* w^12 has the derivative 12 w^11, here at 2 and at 3. */
  CHECK_NEAR (gradient[0], 12 * 2048 + 12 * 177147, 1);
}
