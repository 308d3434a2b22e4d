/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "autograd/internal.h"
#include "process/crash.h"
#include "text/error.h"
#include "bench.h"
#include "autograd/layer-operators.h"

static const PlaitRandomKey no_key = { 0 };

TEST_CASE (tape, adds_to_the_gradients_of_leaves)
{
  g_auto (Bench) bench = bench_new (1);
  PlaitScalar x[] = { 1, -2, 3 };
  PlaitScalar dx[] = { 10, 20, 30 };
  PlaitTensor gradient = plait_tensor (dx, 1, 3);

  for (int step = 0; step < 2; step++)
    {
      PlaitNode *leaf, *root;

      plait_tape_begin (bench.tape, PLAIT_TAPE_CHECK, no_key);
      leaf = plait_leaf (bench.tape, plait_tensor (x, 1, 3), &gradient);
      root = plait_reduce_sum (bench.tape, plait_multiply (bench.tape, leaf, leaf));
      plait_tape_backward (bench.tape, root);
      CHECK_NEAR (root->value.data[0], 14, 1e-6);
    }
  /* The derivative of x^2 is 2 x. It is added twice. */
  CHECK_NEAR (dx[0], 10 + 2 * 2, 1e-5);
  CHECK_NEAR (dx[1], 20 - 2 * 4, 1e-5);
  CHECK_NEAR (dx[2], 30 + 2 * 6, 1e-5);
}

TEST_CASE (tape, lets_no_gradient_flow_to_constants_or_in_evaluation)
{
  g_auto (Bench) bench = bench_new (1);
  PlaitScalar x[] = { 1, 2 };
  PlaitScalar dx[] = { 0, 0 };
  PlaitTensor gradient = plait_tensor (dx, 1, 2);
  PlaitNode *constant, *leaf;

  plait_tape_begin (bench.tape, PLAIT_TAPE_TRAIN, no_key);
  constant = plait_leaf (bench.tape, plait_tensor (x, 1, 2), NULL);
  leaf = plait_leaf (bench.tape, plait_tensor (x, 1, 2), &gradient);
  CHECK (!plait_scale (bench.tape, constant, 2)->needs_gradient);
  CHECK (plait_multiply (bench.tape, constant, leaf)->needs_gradient);
  CHECK (plait_columns (bench.tape, leaf, 1, 1)->needs_gradient);
  plait_tape_backward (bench.tape, plait_reduce_sum (bench.tape, constant));
  CHECK_NEAR (dx[0], 0, 0);

  plait_tape_begin (bench.tape, PLAIT_TAPE_EVALUATE, no_key);
  leaf = plait_leaf (bench.tape, plait_tensor (x, 1, 2), &gradient);
  CHECK (!leaf->needs_gradient);
  CHECK (!plait_scale (bench.tape, leaf, 2)->needs_gradient);
}

TEST_CASE (tape, passes_over_branches_that_do_not_reach_the_root)
{
  g_auto (Bench) bench = bench_new (1);
  PlaitScalar x[] = { 3 };
  PlaitScalar dx[] = { 0 };
  PlaitTensor gradient = plait_tensor (dx, 1, 1);
  PlaitNode *leaf, *root;

  plait_tape_begin (bench.tape, PLAIT_TAPE_CHECK, no_key);
  leaf = plait_leaf (bench.tape, plait_tensor (x, 1, 1), &gradient);
  plait_multiply (bench.tape, plait_scale (bench.tape, leaf, 5), leaf);
  root = plait_scale (bench.tape, leaf, 7);
  plait_scale (bench.tape, root, 11);
  plait_tape_backward (bench.tape, root);
  CHECK_NEAR (dx[0], 7, 1e-6);
}

TEST_CASE (tape, reads_and_writes_strided_leaves)
{
  g_auto (Bench) bench = bench_new (1);
  PlaitScalar x[] = { 1, 2, 0, 3, 4, 0 };
  PlaitScalar dx[10] = { 0 };
  PlaitTensor value = { x, 2, 2, 3 };
  PlaitTensor gradient = { dx, 2, 2, 5 };
  PlaitNode *leaf, *column;

  plait_tape_begin (bench.tape, PLAIT_TAPE_CHECK, no_key);
  leaf = plait_leaf (bench.tape, value, &gradient);
  column = plait_columns (bench.tape, leaf, 1, 1);
  plait_tape_backward (bench.tape, plait_reduce_sum (bench.tape, plait_multiply (bench.tape, column, column)));
  CHECK_NEAR (dx[0], 0, 0);
  CHECK_NEAR (dx[1], 4, 1e-6);
  CHECK_NEAR (dx[5], 0, 0);
  CHECK_NEAR (dx[6], 8, 1e-6);
}

TEST_CASE (tape, gives_storage_back_during_backward)
{
  enum
  {
    LAYERS = 50,
    NUMBERS = 16384
  };
  g_auto (Bench) bench = bench_new (1);
  g_autofree PlaitScalar *x = g_new0 (PlaitScalar, NUMBERS);
  g_autofree PlaitScalar *dx = g_new0 (PlaitScalar, NUMBERS);
  PlaitTensor gradient = plait_tensor (dx, 64, NUMBERS / 64);
  gsize layer = NUMBERS * sizeof (PlaitScalar);
  gsize held[2];

  for (int backward = 0; backward < 2; backward++)
    {
      PlaitNode *node;

      plait_tape_begin (bench.tape, PLAIT_TAPE_CHECK, no_key);
      node = plait_leaf (bench.tape, plait_tensor (x, 64, NUMBERS / 64), &gradient);
      for (int i = 0; i < LAYERS; i++)
        node = plait_multiply (bench.tape, plait_activate (bench.tape, node, PLAIT_ACTIVATION_TANH), node);
      node = plait_reduce_sum (bench.tape, node);
      if (backward)
        plait_tape_backward (bench.tape, node);
      held[backward] = plait_arena_peak (bench.arena);
    }
  CHECK (held[0] >= 2 * LAYERS * layer);
  /* Gradients reuse the memory of values. Without reuse, they would need memory for 2 * LAYERS more layers. */
  CHECK (held[1] <= held[0] + 16 * layer);
}

TEST_CASE (tape, draws_the_same_keys_in_the_same_order)
{
  g_auto (Bench) bench = bench_new (1);
  PlaitRandomKey step = plait_random_key (1, "dropout", NULL, 7);
  PlaitRandomKey first, second;

  plait_tape_begin (bench.tape, PLAIT_TAPE_TRAIN, step);
  first = plait_tape_next_key (bench.tape);
  second = plait_tape_next_key (bench.tape);
  CHECK (first.state != second.state);
  plait_tape_begin (bench.tape, PLAIT_TAPE_TRAIN, step);
  CHECK (plait_tape_next_key (bench.tape).state == first.state);
  CHECK (plait_tape_next_key (bench.tape).state == second.state);
}

static void
cube_backward (PlaitTape *tape, PlaitNode *node)
{
  const PlaitScalar *factor = node->payload;
  PlaitScalar beta;
  PlaitTensor target = plait_gradient_target (tape, node->inputs[0], &beta);

  for (gint64 i = 0; i < target.width; i++)
    {
      PlaitScalar x = node->inputs[0]->value.data[i];
      PlaitScalar gradient = *factor * 3 * x * x * node->gradient.data[i];

      target.data[i] = beta == 0 ? gradient : target.data[i] + gradient;
    }
}

TEST_CASE (tape, takes_operators_from_outside)
{
  static const PlaitOperator cube = { "cube", cube_backward };
  g_auto (Bench) bench = bench_new (1);
  PlaitScalar x[] = { 2, -1 };
  PlaitScalar dx[] = { 0, 0 };
  PlaitTensor gradient = plait_tensor (dx, 1, 2);
  PlaitNode *leaf, *node;

  plait_tape_begin (bench.tape, PLAIT_TAPE_CHECK, no_key);
  leaf = plait_leaf (bench.tape, plait_tensor (x, 1, 2), &gradient);
  node = plait_tape_node (bench.tape, &cube, 1, 2, (PlaitNode *[]){ leaf, NULL }, 2, sizeof (PlaitScalar));
  CHECK_NEAR (*(PlaitScalar *)node->payload, 0, 0);
  *(PlaitScalar *)node->payload = 10;
  for (int i = 0; i < 2; i++)
    node->value.data[i] = 10 * x[i] * x[i] * x[i];
  plait_tape_backward (bench.tape, plait_reduce_sum (bench.tape, node));
  CHECK_NEAR (dx[0], 120, 1e-4);
  CHECK_NEAR (dx[1], 30, 1e-4);
}

/* Runs a Transformer layer with a loss over words, forward and backward, on @threads threads. Appends all results to
 * @found. */
static void
run_layer (guint threads, GArray *found)
{
  enum
  {
    ROWS = 120,
    WIDTH = 48,
    WORDS = 300
  };
  static const gint64 offsets[] = { 0, 50, 50, 57, 120 };
  static const guint64 shapes[][2]
      = { { ROWS, WIDTH }, { WIDTH, 3 * WIDTH }, { 1, 3 * WIDTH }, { 1, WIDTH }, { 1, WIDTH }, { WORDS, WIDTH } };
  g_auto (Bench) bench = bench_new (threads);
  PlaitTape *tape = bench.tape;
  g_autoptr (GPtrArray) storage = g_ptr_array_new_with_free_func (g_free);
  PlaitNode *leaves[G_N_ELEMENTS (shapes)];
  PlaitTensor gradients[G_N_ELEMENTS (shapes)];
  PlaitRagged rows = { 4, offsets };
  PlaitAttentionOptions options = { .heads = 4, .dropout = 0.1 };
  PlaitOutputLossOptions loss_options = { .smoothing = 0.1, .scale = 0.01 };
  gint32 targets[ROWS];
  PlaitKeyValues memory = { .rows = rows };
  PlaitNode *projected, *context, *x, *root;

  plait_tape_begin (tape, PLAIT_TAPE_TRAIN, plait_random_key (3, "dropout", NULL, 0));
  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++)
    {
      gint64 n = (gint64)(shapes[i][0] * shapes[i][1]);
      PlaitRandomKey key = plait_random_key (3, "leaf", NULL, i);
      PlaitScalar *numbers = g_new0 (PlaitScalar, 2 * n);

      g_ptr_array_add (storage, numbers);
      for (gint64 j = 0; j < n; j++)
        numbers[j] = (PlaitScalar)(0.3 * plait_random_normal (key, (guint64)j));
      gradients[i] = plait_tensor (numbers + n, (gint64)shapes[i][0], (gint64)shapes[i][1]);
      leaves[i] = plait_leaf (tape, plait_tensor (numbers, gradients[i].rows, gradients[i].width), &gradients[i]);
    }
  for (gint32 i = 0; i < ROWS; i++)
    targets[i] = (i * 37) % WORDS;

  x = plait_layer_norm (tape, leaves[0], leaves[3], leaves[4], 1e-6);
  projected = plait_linear (tape, x, leaves[1], leaves[2], PLAIT_ACTIVATION_NONE);
  memory.keys = plait_columns (tape, projected, WIDTH, WIDTH);
  memory.values = plait_columns (tape, projected, 2 * WIDTH, WIDTH);
  context = plait_attention (tape, plait_columns (tape, projected, 0, WIDTH), rows, &memory, 1, &options);
  x = plait_residual (tape, leaves[0], context, 0.2);
  root = plait_output_loss (tape, x, leaves[5], NULL, targets, &loss_options, NULL, NULL);
  g_array_append_vals (found, root->value.data, 1);
  plait_tape_backward (tape, root);
  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++)
    g_array_append_vals (found, gradients[i].data, (guint)(gradients[i].rows * gradients[i].width));
}

TEST_CASE (tape, gives_the_same_bits_on_any_number_of_threads)
{
  g_autoptr (GArray) alone = g_array_new (FALSE, FALSE, sizeof (PlaitScalar));

  run_layer (1, alone);
  for (guint threads = 2; threads <= 5; threads++)
    {
      CONTEXT ("%u threads", threads);
      g_autoptr (GArray) found = g_array_new (FALSE, FALSE, sizeof (PlaitScalar));

      run_layer (threads, found);
      REQUIRE (found->len == alone->len);
      CHECK (memcmp (found->data, alone->data, alone->len * sizeof (PlaitScalar)) == 0);
    }
}

typedef struct
{
  PlaitTape *tape;
  void (*deed) (PlaitTape *tape);
} Step;

static void
run_step (gpointer data)
{
  const Step *step = data;

  plait_tape_begin (step->tape, PLAIT_TAPE_TRAIN, no_key);
  plait_tape_set_caller (step->tape, (PlaitCodeOwner){ "combiner=gate", "combine" });
  step->deed (step->tape);
}

static void
fail (PlaitTape *tape)
{
  plait_tape_fail (tape, "has %d memories too few", 3);
}

static void
multiply_what_differs (PlaitTape *tape)
{
  static PlaitScalar x[6];

  plait_multiply (tape, plait_leaf (tape, plait_tensor (x, 2, 3), NULL),
                  plait_leaf (tape, plait_tensor (x, 3, 2), NULL));
}

static void
fail_backward (PlaitTape *tape, PlaitNode *node)
{
  plait_tape_expect (tape, !plait_crash_get_owner ().who);
}

/* The backward function of a plugin's own operator fails, long after the plugin's function returned. */
static void
fail_in_backward (PlaitTape *tape)
{
  static const PlaitOperator own = { "own", fail_backward };
  static PlaitScalar x, dx;
  PlaitTensor gradient = plait_tensor (&dx, 1, 1);
  PlaitNode *leaf = plait_leaf (tape, plait_tensor (&x, 1, 1), &gradient);
  PlaitNode *node = plait_tape_node (tape, &own, 1, 1, &leaf, 1, 0);

  plait_tape_set_caller (tape, (PlaitCodeOwner){ NULL, NULL });
  plait_tape_backward (tape, node);
}

static void
do_nothing (PlaitTape *tape)
{
}

TEST_CASE (tape, is_left_with_the_name_of_who_ran)
{
  static const struct
  {
    void (*deed) (PlaitTape *tape);
    const char *sentence;
  } deeds[] = {
    { fail, "combiner=gate, combine: has 3 memories too few" },
    { multiply_what_differs, "combiner=gate, combine: plait_multiply was given nodes of the shapes [2, 3] and [3, 2]: "
                             "give it nodes of one shape" },
    { fail_in_backward, "combiner=gate, backward: fail_backward was called with wrong arguments: it needs " },
  };
  g_auto (Bench) bench = bench_new (1);

  for (guint i = 0; i < G_N_ELEMENTS (deeds); i++)
    {
      CONTEXT ("deed %u", i);
      Step step = { bench.tape, deeds[i].deed };
      g_autoptr (GError) error = NULL;

      CHECK (!plait_arena_protect (bench.arena, run_step, &step, &error));
      REQUIRE (error != NULL);
      CHECK (g_str_has_prefix (error->message, deeds[i].sentence));
      CHECK_ERROR (error, PLAIT_ERROR_PLUGIN, "");
      CHECK (!plait_crash_get_owner ().who);

      /* After an error, the tape works again. */
      step.deed = do_nothing;
      CHECK (plait_arena_protect (bench.arena, run_step, &step, NO_ERROR));
      plait_tape_set_caller (bench.tape, (PlaitCodeOwner){ NULL, NULL });
    }
}
