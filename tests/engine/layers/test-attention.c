/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "bench.h"
#include "layers/attention.h"
#include "layers/parameter-set.h"

/* Tests of identities of attention layers, and of properties on which search relies. */

enum
{
  WIDTH = 12,
  HEADS = 3
};

static const PlaitAttentionDeclaration plain = { .width = WIDTH, .heads = HEADS };
static const PlaitAttentionDeclaration biased = { .width = WIDTH, .heads = HEADS, .biases = TRUE };

static const gint64 query_offsets[] = { 0, 2, 5 };
static const PlaitRagged query_rows = { 2, query_offsets };

/* Sets all parameters, biases included, to values away from zero. */
static void
fill (PlaitParameters *parameters)
{
  PlaitRandomKey key = plait_random_key (9, "values", NULL, 0);
  g_autoptr (GError) error = NULL;
  PlaitTensor values;

  plait_parameters_allocate (parameters, &error);
  g_assert_no_error (error);
  values = plait_parameters_write_values (parameters);
  for (gint64 i = 0; i < values.width; i++)
    values.data[i] = (PlaitScalar)(0.5 * plait_random_normal (key, (guint64)i));
}

static void
copy (const PlaitParameter *to, const PlaitParameter *from)
{
  memcpy (to->value.data, from->value.data, sizeof (PlaitScalar) * (gsize)(from->value.rows * from->value.width));
}

static void
check_equal (const PlaitNode *found, const PlaitNode *expected, double tolerance)
{
  REQUIRE (found->value.rows == expected->value.rows && found->value.width == expected->value.width);
  for (gint64 i = 0; i < expected->value.rows * expected->value.width; i++)
    CHECK_NEAR (found->value.data[i], expected->value.data[i], tolerance);
}

/* If there is one source and each memory has its own projections, flat combination equals serial and parallel
 * combination, bit by bit. */
TEST_CASE (attention, over_one_memory_is_joint_attention)
{
  static const char *const names[] = { "only" };
  static const gint64 offsets[] = { 0, 4, 6 };
  g_auto (Bench) bench = bench_new (1);
  g_autoptr (PlaitParameters) parameters = plait_parameters_new ();
  PlaitAttention cross = plait_attention_declare (parameters, "cross", &biased, 7);
  PlaitAttention joint = plait_attention_declare_joint (parameters, "joint", &biased, names, (gint64[]){ 7 }, 1);
  PlaitKeyValues of_cross, of_joint;
  PlaitNode *x, *memory;

  fill (parameters);
  copy (joint.query.weight, cross.query.weight);
  copy (joint.query.bias, cross.query.bias);
  copy (joint.key_value[0].weight, cross.key_value[0].weight);
  copy (joint.key_value[0].bias, cross.key_value[0].bias);
  copy (joint.output.weight, cross.output.weight);
  copy (joint.output.bias, cross.output.bias);
  x = bench_random (&bench, 5, WIDTH, 1);
  memory = bench_random (&bench, 6, 7, 2);
  of_cross = plait_attention_project (bench.tape, &cross, 0, memory, (PlaitRagged){ 2, offsets });
  of_joint = plait_attention_project (bench.tape, &joint, 0, memory, (PlaitRagged){ 2, offsets });
  check_equal (plait_attention_apply (bench.tape, &joint, x, query_rows, &of_joint, 1),
               plait_attention_apply (bench.tape, &cross, x, query_rows, &of_cross, 1), 0);
}

/* Flat combination of two memories equals attention to one memory that consists of both, end to end (Libovicky et al.
 * 2018, eq. 5). */
TEST_CASE (attention, over_two_memories_is_attention_over_both_end_to_end)
{
  static const gint64 first[] = { 0, 2, 3 }, second[] = { 0, 1, 4 }, whole[] = { 0, 3, 7 };
  static const gint64 order[] = { 0, 1, 3, 2, 4, 5, 6 }; /* rows of the two memories, sentence by sentence */
  g_auto (Bench) bench = bench_new (1);
  g_autoptr (PlaitParameters) parameters = plait_parameters_new ();
  PlaitAttention attention = plait_attention_declare (parameters, "flat", &plain, 7);
  PlaitKeyValues parts[2], together;
  PlaitNode *x, *memory[2], *both;

  fill (parameters);
  x = bench_random (&bench, 5, WIDTH, 1);
  memory[0] = bench_random (&bench, 3, 7, 2);
  memory[1] = bench_random (&bench, 4, 7, 3);
  both = plait_gather_rows (bench.tape, plait_concatenate_rows (bench.tape, memory, 2), order, 7);
  parts[0] = plait_attention_project (bench.tape, &attention, 0, memory[0], (PlaitRagged){ 2, first });
  parts[1] = plait_attention_project (bench.tape, &attention, 0, memory[1], (PlaitRagged){ 2, second });
  together = plait_attention_project (bench.tape, &attention, 0, both, (PlaitRagged){ 2, whole });
  check_equal (plait_attention_apply (bench.tape, &attention, x, query_rows, parts, 2),
               plait_attention_apply (bench.tape, &attention, x, query_rows, &together, 1), NEAR);
}

TEST_CASE (attention, over_memories_one_of_which_is_missing_is_attention_without_it)
{
  static const gint64 there[] = { 0, 3, 4 }, missing[] = { 0, 0, 0 };
  g_auto (Bench) bench = bench_new (1);
  g_autoptr (PlaitParameters) parameters = plait_parameters_new ();
  PlaitAttention attention = plait_attention_declare (parameters, "flat", &biased, 7);
  PlaitKeyValues memories[2];
  PlaitNode *x, *nothing;

  fill (parameters);
  x = bench_random (&bench, 5, WIDTH, 1);
  nothing = bench_random (&bench, 0, 7, 3);
  memories[0]
      = plait_attention_project (bench.tape, &attention, 0, bench_random (&bench, 4, 7, 2), (PlaitRagged){ 2, there });
  memories[1] = plait_attention_project (bench.tape, &attention, 0, nothing, (PlaitRagged){ 2, missing });
  check_equal (plait_attention_apply (bench.tape, &attention, x, query_rows, memories, 2),
               plait_attention_apply (bench.tape, &attention, x, query_rows, memories, 1), NEAR);
}

/* Attention to a single item gives it weight 1, so the layer is the value projection followed by the output
 * projection. */
TEST_CASE (attention, over_one_item_is_a_linear_map)
{
  g_auto (Bench) bench = bench_new (1);
  g_autoptr (PlaitParameters) parameters = plait_parameters_new ();
  PlaitAttention attention = plait_attention_declare (parameters, "contexts", &biased, WIDTH);
  PlaitScalar weights[HEADS * 5];
  PlaitNode *x, *item, *expected;

  fill (parameters);
  x = bench_random (&bench, 5, WIDTH, 1);
  item = bench_random (&bench, 5, WIDTH, 2);
  expected = plait_linear_apply (bench.tape, &attention.key_value[0], item, PLAIT_ACTIVATION_NONE);
  expected = plait_linear_apply (bench.tape, &attention.output, plait_columns (bench.tape, expected, WIDTH, WIDTH),
                                 PLAIT_ACTIVATION_NONE);
  check_equal (plait_attention_apply_items (bench.tape, &attention, x, &item, NULL, 1, weights), expected, NEAR);
  for (int i = 0; i < HEADS * 5; i++)
    CHECK_NEAR (weights[i], 1, NEAR);
}

/* A sentence that lacks the memory gets zeros, even if there is an output bias, and its gradients are zero. */
TEST_CASE (attention, to_nothing_is_zero_with_biases)
{
  static const gint64 offsets[] = { 0, 2, 2 };
  static const guint8 here[] = { 1, 1, 0, 0, 0 };
  const guint8 *const present[] = { here };
  g_auto (Bench) bench = bench_new (1);
  g_autoptr (PlaitParameters) parameters = plait_parameters_new ();
  PlaitAttention attention = plait_attention_declare (parameters, "cross", &biased, WIDTH);
  PlaitNode *x, *y, *second;
  PlaitKeyValues memory;

  fill (parameters);
  x = bench_random (&bench, 5, WIDTH, 1);
  memory = plait_attention_project (bench.tape, &attention, 0, bench_random (&bench, 2, WIDTH, 2),
                                    (PlaitRagged){ 2, offsets });
  y = plait_attention_apply (bench.tape, &attention, x, query_rows, &memory, 1);
  second = plait_attention_apply_items (bench.tape, &attention, x, &y, present, 1, NULL);
  for (int i = 0; i < 5 * WIDTH; i++)
    {
      CHECK_INT (y->value.data[i] == 0, i >= 2 * WIDTH);
      CHECK_INT (second->value.data[i] == 0, i >= 2 * WIDTH);
    }
  plait_tape_backward (bench.tape, plait_reduce_sum (bench.tape, second));
  for (int i = 0; i < 5 * WIDTH; i++)
    CHECK (i >= 2 * WIDTH ? x->gradient.data[i] == 0 : isfinite ((double)x->gradient.data[i]));
  for (gint64 i = 0; i < plait_parameters_gradients (parameters).width; i++)
    CHECK (isfinite ((double)plait_parameters_gradients (parameters).data[i]));
}

/* Checks that single steps with a cache equal attention to the whole prefix. Each hypothesis has its own ancestors: two
 * hypotheses of three rows, of which hypothesis 1 has two successors after the second step. */
static void
check_steps (const PlaitAttentionDeclaration *declaration)
{
  enum
  {
    STEPS = 3,
    HYPOTHESES = 2
  };
  /* Rows of x[step][hypothesis] that make up each final hypothesis. */
  static const gint64 ancestry[HYPOTHESES][STEPS] = { { 1, 3, 4 }, { 1, 3, 5 } };
  /* Cache rows that each step reads, one hypothesis after the other. */
  static const gint64 gathers[STEPS][HYPOTHESES * STEPS] = { { 0, 1 }, { 0, 2, 1, 3 }, { 1, 3, 4, 1, 3, 5 } };
  static const gint64 whole[] = { 0, STEPS, 2 * STEPS };
  g_auto (Bench) bench = bench_new (2);
  g_autoptr (PlaitParameters) parameters = plait_parameters_new ();
  PlaitAttention attention = plait_attention_declare_self (parameters, "self", declaration);
  PlaitScalar storage[STEPS * HYPOTHESES * 2 * WIDTH];
  PlaitScalar at_once[HEADS * HYPOTHESES * STEPS * STEPS], last[HEADS * HYPOTHESES * STEPS];
  PlaitAttentionCache cache = { .keys_values = plait_tensor (storage, STEPS * HYPOTHESES, 2 * WIDTH) };
  PlaitNode *x, *expected, *found = NULL;

  fill (parameters);
  bench_begin (&bench, PLAIT_TAPE_EVALUATE);
  x = bench_random (&bench, STEPS * HYPOTHESES, WIDTH, 1);
  expected = plait_attention_apply_self (bench.tape, &attention,
                                         plait_gather_rows (bench.tape, x, ancestry[0], STEPS * HYPOTHESES),
                                         (PlaitRagged){ 2, whole }, TRUE, at_once);
  for (int step = 0; step < STEPS; step++)
    {
      gint64 offsets[HYPOTHESES + 1] = { 0, step + 1, 2 * (step + 1) };

      found = plait_attention_step (bench.tape, &attention, plait_rows (bench.tape, x, step * HYPOTHESES, HYPOTHESES),
                                    &cache, (PlaitRagged){ HYPOTHESES, offsets }, gathers[step],
                                    step == STEPS - 1 ? last : NULL);
    }
  CHECK_INT (cache.used, STEPS * HYPOTHESES);
  for (int h = 0; h < HYPOTHESES; h++)
    {
      for (int i = 0; i < WIDTH; i++)
        CHECK_NEAR (found->value.data[h * WIDTH + i], plait_tensor_row (expected->value, h * STEPS + STEPS - 1)[i],
                    NEAR);
      for (int head = 0; head < HEADS; head++)
        for (int key = 0; key < STEPS; key++)
          CHECK_NEAR (last[(head * HYPOTHESES + h) * STEPS + key],
                      at_once[((head * HYPOTHESES + h) * STEPS + STEPS - 1) * STEPS + key], NEAR);
    }
}

TEST_CASE (attention, step_by_step_equals_causal_attention_at_once)
{
  check_steps (&biased);
}

TEST_CASE (attention, step_by_step_with_relative_positions_and_a_window)
{
  static const PlaitPositionKind kinds[] = { PLAIT_POSITIONS_NONE, PLAIT_POSITIONS_ROTARY, PLAIT_POSITIONS_ALIBI };

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    for (gint64 window = 0; window < 3; window++)
      {
        PlaitAttentionDeclaration declaration = biased;

        declaration.positions = kinds[i];
        declaration.window = window;
        check_steps (&declaration);
      }
}

/* The last rows of a sentence have equal results if the rows before their window are cut off, because relative
 * positions stay equal if all rows move. */
TEST_CASE (attention, relative_positions_do_not_depend_on_the_place)
{
  static const gint64 alone[] = { 0, 4 }, whole[] = { 0, 9 };
  static const PlaitPositionKind kinds[] = { PLAIT_POSITIONS_ROTARY, PLAIT_POSITIONS_ALIBI };

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      g_auto (Bench) bench = bench_new (1);
      g_autoptr (PlaitParameters) parameters = plait_parameters_new ();
      PlaitAttentionDeclaration declaration = biased;
      PlaitAttention attention;
      PlaitNode *x, *moved, *expected;

      declaration.positions = kinds[i];
      declaration.window = 2;
      attention = plait_attention_declare_self (parameters, "self", &declaration);
      fill (parameters);
      x = bench_random (&bench, 9, WIDTH, 1);
      moved = plait_attention_apply_self (bench.tape, &attention, x, (PlaitRagged){ 1, whole }, TRUE, NULL);
      expected = plait_attention_apply_self (bench.tape, &attention, plait_rows (bench.tape, x, 5, 4),
                                             (PlaitRagged){ 1, alone }, TRUE, NULL);
      check_equal (plait_rows (bench.tape, moved, 6, 3), plait_rows (bench.tape, expected, 1, 3), NEAR);
    }
}

/* The result for a sentence does not depend on the other sentences of the batch. */
TEST_CASE (attention, does_not_mix_sentences)
{
  static const gint64 offsets[] = { 0, 4, 6 };
  g_auto (Bench) bench = bench_new (1);
  g_autoptr (PlaitParameters) parameters = plait_parameters_new ();
  PlaitAttention attention = plait_attention_declare_self (parameters, "self", &plain);
  PlaitNode *x, *both, *alone;

  fill (parameters);
  x = bench_random (&bench, 6, WIDTH, 1);
  both = plait_attention_apply_self (bench.tape, &attention, x, (PlaitRagged){ 2, offsets }, FALSE, NULL);
  alone = plait_attention_apply_self (bench.tape, &attention, plait_rows (bench.tape, x, 4, 2),
                                      (PlaitRagged){ 1, (gint64[]){ 0, 2 } }, FALSE, NULL);
  check_equal (alone, plait_rows (bench.tape, both, 4, 2), NEAR);
  plait_tape_backward (bench.tape, plait_reduce_sum (bench.tape, plait_rows (bench.tape, both, 4, 2)));
  for (int i = 0; i < 4 * WIDTH; i++)
    CHECK_NEAR (x->gradient.data[i], 0, 0);
}

/* The layer does not keep attention weights for the backward pass: a step on a long sentence takes less memory than the
 * weights of one head would take. */
TEST_CASE (attention, keeps_no_weights_for_backward)
{
  static const gint64 offsets[] = { 0, 1024 };
  const PlaitRagged rows = { 1, offsets };
  g_auto (Bench) bench = bench_new (1);
  g_autoptr (PlaitParameters) parameters = plait_parameters_new ();
  PlaitAttentionDeclaration declaration = { .width = 32, .heads = 8, .dropout = .1 };
  PlaitAttention attention = plait_attention_declare_self (parameters, "self", &declaration);
  PlaitNode *out;

  fill (parameters);
  bench_begin (&bench, PLAIT_TAPE_TRAIN);
  out = plait_attention_apply_self (
      bench.tape, &attention, plait_leaf (bench.tape, bench_tensor (&bench, 1024, 32, NULL), NULL), rows, FALSE, NULL);
  plait_tape_backward (bench.tape, plait_reduce_sum (bench.tape, out));
  CHECK (plait_arena_peak (bench.arena) < 1024 * 1024 * sizeof (PlaitScalar));
}
