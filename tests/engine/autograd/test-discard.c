/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "autograd/internal.h"
#include "bench.h"

/* Tests of values that the tape discards to save memory and computes again in the backward pass. */

#define ROWS 6
#define WIDTH 16
#define NUMBERS (ROWS * WIDTH)

/* The inputs of all graphs in this file. */
typedef struct
{
  PlaitScalar x[NUMBERS];
  PlaitScalar weight[WIDTH * WIDTH];
  PlaitScalar gain[WIDTH];
  PlaitScalar dx[NUMBERS];
  PlaitScalar dweight[WIDTH * WIDTH];
  PlaitScalar dgain[WIDTH];
} Numbers;

static void
numbers_fill (Numbers *numbers)
{
  PlaitRandomKey key = plait_random_key (3, "test", "spare", 0);

  memset (numbers, 0, sizeof *numbers);
  for (guint i = 0; i < NUMBERS; i++)
    numbers->x[i] = (PlaitScalar)plait_random_normal (key, i);
  for (guint i = 0; i < WIDTH * WIDTH; i++)
    numbers->weight[i] = (PlaitScalar)plait_random_normal (key, 1000 + i) / 4;
  for (guint i = 0; i < WIDTH; i++)
    numbers->gain[i] = 1 + (PlaitScalar)i / WIDTH;
}

typedef struct
{
  PlaitNode *x;
  PlaitNode *weight;
  PlaitNode *gain;
  PlaitNode *bias;
} Leaves;

static Leaves
leaves_of (PlaitTape *tape, Numbers *numbers)
{
  static PlaitScalar zeros[WIDTH];
  PlaitTensor dx = plait_tensor (numbers->dx, ROWS, WIDTH);
  PlaitTensor dweight = plait_tensor (numbers->dweight, WIDTH, WIDTH);
  PlaitTensor dgain = plait_tensor (numbers->dgain, 1, WIDTH);

  return (Leaves){ plait_leaf (tape, plait_tensor (numbers->x, ROWS, WIDTH), &dx),
                   plait_leaf (tape, plait_tensor (numbers->weight, WIDTH, WIDTH), &dweight),
                   plait_leaf (tape, plait_tensor (numbers->gain, 1, WIDTH), &dgain),
                   plait_leaf (tape, plait_tensor (zeros, 1, WIDTH), NULL) };
}

TEST_CASE (spare, values_come_back_with_the_same_bits)
{
  g_auto (Bench) bench = bench_new (2);
  PlaitRandomKey key = plait_random_key (1, "dropout", NULL, 1);
  Numbers numbers;
  PlaitScalar norm[NUMBERS], dropped[NUMBERS];
  PlaitNode *normal, *branch, *sum;
  Leaves leaves;

  numbers_fill (&numbers);
  plait_tape_begin (bench.tape, PLAIT_TAPE_TRAIN, key);
  leaves = leaves_of (bench.tape, &numbers);
  normal = plait_layer_norm (bench.tape, leaves.x, leaves.gain, leaves.bias, 1e-6);
  memcpy (norm, normal->value.data, sizeof norm);
  branch = plait_linear (bench.tape, normal, leaves.weight, NULL, PLAIT_ACTIVATION_NONE);
  branch = plait_dropout (bench.tape, branch, .5);
  memcpy (dropped, branch->value.data, sizeof dropped);
  sum = plait_residual (bench.tape, leaves.x, branch, 0);
  REQUIRE (!normal->value.data);
  REQUIRE (!branch->value.data);
  for (guint i = 0; i < NUMBERS; i++)
    CHECK (sum->value.data[i] == numbers.x[i] + dropped[i]);
  CHECK (memcmp (plait_tape_value (bench.tape, branch).data, dropped, sizeof dropped) == 0);
  CHECK (memcmp (plait_tape_value (bench.tape, normal).data, norm, sizeof norm) == 0);
  CHECK_INT (branch->value.rows, ROWS);
  CHECK_INT (branch->value.stride, WIDTH);
}

/* Builds a graph that reads values after the tape discarded them, runs backward and returns the root's value. With
 * @pin, takes views of the values, so that the tape must keep them. */
static PlaitScalar
run_graph (Numbers *numbers, gboolean pin)
{
  g_auto (Bench) bench = bench_new (2);
  PlaitTape *tape = bench.tape;
  PlaitNode *normal, *branch, *again, *sum, *root;
  Leaves leaves;

  numbers_fill (numbers);
  plait_tape_begin (tape, PLAIT_TAPE_TRAIN, plait_random_key (1, "dropout", NULL, 1));
  leaves = leaves_of (tape, numbers);
  normal = plait_layer_norm (tape, leaves.x, leaves.gain, leaves.bias, 1e-6);
  branch = plait_linear (tape, normal, leaves.weight, NULL, PLAIT_ACTIVATION_NONE);
  if (pin)
    {
      plait_columns (tape, normal, 0, 1);
      plait_columns (tape, branch, 0, 1);
    }
  sum = plait_residual (tape, leaves.x, branch, .25);
  CHECK (!branch->value.data == !pin);
  CHECK (!normal->value.data == !pin);
  again = plait_linear (tape, normal, leaves.weight, NULL, PLAIT_ACTIVATION_TANH);
  again = plait_multiply (tape, again, branch);
  root = plait_reduce_sum (tape, plait_multiply (tape, again, plait_multiply (tape, sum, normal)));
  plait_tape_backward (tape, root);
  return root->value.data[0];
}

TEST_CASE (spare, gradients_are_those_of_values_that_stayed)
{
  Numbers spare, kept;
  PlaitScalar value = run_graph (&spare, FALSE);

  CHECK (value == run_graph (&kept, TRUE));
  CHECK (memcmp (spare.dx, kept.dx, sizeof kept.dx) == 0);
  CHECK (memcmp (spare.dweight, kept.dweight, sizeof kept.dweight) == 0);
  CHECK (memcmp (spare.dgain, kept.dgain, sizeof kept.dgain) == 0);
  CHECK (kept.dx[0] != 0);
}

TEST_CASE (spare, a_value_with_another_reader_stays)
{
  g_auto (Bench) bench = bench_new (1);
  Numbers numbers;
  PlaitNode *branch, *activated;
  Leaves leaves;

  numbers_fill (&numbers);
  plait_tape_begin (bench.tape, PLAIT_TAPE_TRAIN, (PlaitRandomKey){ 0 });
  leaves = leaves_of (bench.tape, &numbers);
  branch = plait_linear (bench.tape, leaves.x, leaves.weight, NULL, PLAIT_ACTIVATION_NONE);
  plait_reduce_sum (bench.tape, branch);
  plait_residual (bench.tape, leaves.x, branch, 0);
  CHECK (branch->value.data != NULL);

  /* This output is kept: the derivative of its activation reads it. */
  activated = plait_linear (bench.tape, leaves.x, leaves.weight, NULL, PLAIT_ACTIVATION_RELU);
  plait_residual (bench.tape, leaves.x, activated, 0);
  CHECK (activated->value.data != NULL);

  /* This value is kept: the caller owns the value of a leaf. */
  plait_residual (bench.tape, branch, leaves.x, 0);
  CHECK (leaves.x->value.data == numbers.x);
}

/* One operator for a linear layer with dropout gives the bits that two operators give. */
TEST_CASE (spare, dropout_of_a_layer_needs_no_second_value)
{
  const PlaitActivation activations[]
      = { PLAIT_ACTIVATION_NONE, PLAIT_ACTIVATION_RELU, PLAIT_ACTIVATION_GELU, PLAIT_ACTIVATION_GELU_TANH };

  for (gsize i = 0; i < G_N_ELEMENTS (activations); i++)
    {
      Numbers numbers[2];
      PlaitScalar values[2][NUMBERS];

      CONTEXT ("activation %d", activations[i]);
      for (int fused = 0; fused < 2; fused++)
        {
          g_auto (Bench) bench = bench_new (2);
          PlaitTape *tape = bench.tape;
          PlaitNode *node;
          Leaves leaves;

          numbers_fill (&numbers[fused]);
          plait_tape_begin (tape, PLAIT_TAPE_TRAIN, plait_random_key (1, "dropout", NULL, 1));
          leaves = leaves_of (tape, &numbers[fused]);
          if (fused)
            node = plait_linear_dropout (tape, leaves.x, leaves.weight, leaves.gain, activations[i], .4);
          else
            node = plait_dropout (tape, plait_linear (tape, leaves.x, leaves.weight, leaves.gain, activations[i]), .4);
          memcpy (values[fused], node->value.data, sizeof values[fused]);
          plait_tape_backward (tape, plait_reduce_sum (tape, plait_multiply (tape, node, leaves.x)));
        }
      CHECK (memcmp (values[0], values[1], sizeof values[0]) == 0);
      CHECK (memcmp (numbers[0].dx, numbers[1].dx, sizeof numbers[0].dx) == 0);
      CHECK (memcmp (numbers[0].dweight, numbers[1].dweight, sizeof numbers[0].dweight) == 0);
      CHECK (memcmp (numbers[0].dgain, numbers[1].dgain, sizeof numbers[0].dgain) == 0);
    }
}
