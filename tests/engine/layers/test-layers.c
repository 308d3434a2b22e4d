/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "autograd/check.h"
#include "bench.h"
#include "layers/attention.h"
#include "layers/embedding.h"
#include "layers/feed-forward.h"
#include "layers/norm.h"
#include "layers/positions.h"
#include "layers/parameter-set.h"

static const gint64 offsets[] = { 0, 3, 3, 5 };
static const PlaitRagged rows = { 3, offsets };

TEST_CASE (layers, embedding)
{
  g_auto (Bench) bench = bench_new (1);
  g_autoptr (PlaitParameters) parameters = plait_parameters_new ();
  PlaitEmbedding embedding = plait_embedding_declare (parameters, "target/embedding", 4, 2, PLAIT_ZEROS, 3);

  CHECK_STRING (embedding.table->name, "target/embedding/table");
  CHECK (plait_parameters_allocate (parameters, NULL));
  for (int i = 0; i < 8; i++)
    embedding.table->value.data[i] = (PlaitScalar)i;
  check_tensor ("embedded", plait_embedding_apply (bench.tape, &embedding, (gint32[]){ 3, 0, 3 }, 3)->value,
                (double[]){ 18, 21, 0, 3, 18, 21 }, NEAR);
}

/* Vaswani et al. 2017, section 3.5. */
TEST_CASE (layers, positions_interleaved_by_formula)
{
  PlaitScalar numbers[3 * 4];

  plait_positions_fill (plait_tensor (numbers, 3, 4), PLAIT_POSITIONS_INTERLEAVED, 5);
  for (int t = 0; t < 3; t++)
    for (int i = 0; i < 2; i++)
      {
        CHECK_NEAR (numbers[4 * t + 2 * i], sin ((5 + t) / pow (10000, 2. * i / 4)), NEAR);
        CHECK_NEAR (numbers[4 * t + 2 * i + 1], cos ((5 + t) / pow (10000, 2. * i / 4)), NEAR);
      }
}

/* If the width is odd, the last column is a sine by the formula of the paper, and zero in Neural Monkey. */
TEST_CASE (layers, positions_of_odd_widths)
{
  PlaitScalar numbers[2 * 5], one;

  plait_positions_fill (plait_tensor (numbers, 2, 5), PLAIT_POSITIONS_INTERLEAVED, 3);
  for (int t = 0; t < 2; t++)
    for (int i = 0; i < 5; i++)
      {
        double angle = (3 + t) / pow (10000, (i - i % 2) / 5.);

        CHECK_NEAR (numbers[5 * t + i], i % 2 == 0 ? sin (angle) : cos (angle), NEAR);
      }
  plait_positions_fill (plait_tensor (numbers, 2, 5), PLAIT_POSITIONS_CONCATENATED, 3);
  for (int t = 0; t < 2; t++)
    {
      for (int i = 0; i < 2; i++)
        {
          CHECK_NEAR (numbers[5 * t + i], sin ((3 + t) / pow (10000, i)), NEAR);
          CHECK_NEAR (numbers[5 * t + 2 + i], cos ((3 + t) / pow (10000, i)), NEAR);
        }
      CHECK (numbers[5 * t + 4] == 0);
    }
  plait_positions_fill (plait_tensor (&one, 1, 1), PLAIT_POSITIONS_CONCATENATED, 3);
  CHECK (one == 0);
  plait_positions_fill (plait_tensor (&one, 1, 1), PLAIT_POSITIONS_INTERLEAVED, 3);
  CHECK_NEAR (one, sin (3), NEAR);
}

/* Marian puts all sines before all cosines. If the width is odd, there is one sine more than cosines. */
TEST_CASE (layers, positions_in_halves_are_the_interleaved_ones_in_another_order)
{
  for (int width = 1; width <= 6; width++)
    {
      PlaitScalar halves[3 * 6], interleaved[3 * 6];

      plait_positions_fill (plait_tensor (halves, 3, width), PLAIT_POSITIONS_HALVES, 5);
      plait_positions_fill (plait_tensor (interleaved, 3, width), PLAIT_POSITIONS_INTERLEAVED, 5);
      for (int t = 0; t < 3; t++)
        for (int i = 0; i < width; i++)
          CHECK (halves[width * t + (i % 2 == 0 ? i / 2 : (width + 1) / 2 + i / 2)] == interleaved[width * t + i]);
    }
}

/* BART (Lewis et al. 2020) applies a norm to the embeddings, before dropout. */
TEST_CASE (layers, positions_have_a_norm_with_the_model_s_epsilon)
{
  g_auto (Bench) bench = bench_new (1);
  g_autoptr (PlaitParameters) parameters = plait_parameters_new ();
  PlaitNorm usual = plait_norm_declare (parameters, "usual", 6), norm;
  PlaitPositions positions = plait_positions_declare (parameters, "positions", PLAIT_POSITIONS_INTERLEAVED, 20, 6);
  PlaitNode *x, *sum, *found;

  CHECK_NEAR (usual.epsilon, 1e-6, 0);
  plait_parameters_set_norm_epsilon (parameters, .5);
  norm = plait_norm_declare (parameters, "norm", 6);
  CHECK (plait_parameters_allocate (parameters, NULL));
  plait_parameters_initialise (parameters, bench.pool, 1);
  x = bench_random (&bench, 5, 6, 1);
  sum = plait_positions_apply (bench.tape, &positions, x, rows, 1, 0);
  found = plait_positions_apply_norm (bench.tape, &positions, &norm, x, rows, 1, 0);
  for (int row = 0; row < 5; row++)
    {
      double mean = 0, variance = 0;

      for (int i = 0; i < 6; i++)
        mean += (double)sum->value.data[6 * row + i] / 6;
      for (int i = 0; i < 6; i++)
        variance += pow ((double)sum->value.data[6 * row + i] - mean, 2) / 6;
      for (int i = 0; i < 6; i++)
        CHECK_NEAR (found->value.data[6 * row + i],
                    ((double)sum->value.data[6 * row + i] - mean) / sqrt (variance + .5), 1e-5);
    }
}

TEST_CASE (layers, positions_go_on_beyond_their_table)
{
  g_auto (Bench) bench = bench_new (1);
  g_autoptr (PlaitParameters) parameters = plait_parameters_new ();

  for (PlaitPositionKind kind = PLAIT_POSITIONS_INTERLEAVED; kind <= PLAIT_POSITIONS_HALVES; kind++)
    {
      g_autofree char *name = g_strdup_printf ("%d", kind);
      PlaitPositions kept = plait_positions_declare (parameters, name, kind, 20, 6);
      PlaitPositions short_one = plait_positions_declare (parameters, name, kind, 2, 6);
      PlaitNode *x, *expected, *found;

      bench_begin (&bench, PLAIT_TAPE_CHECK);
      x = bench_random (&bench, 5, 6, 1);
      expected = plait_positions_apply (bench.tape, &kept, x, rows, 4, 0);
      found = plait_positions_apply (bench.tape, &short_one, x, rows, 4, 0);
      CHECK (memcmp (expected->value.data, found->value.data, 30 * sizeof (PlaitScalar)) == 0);
      CHECK (fabs ((double)expected->value.data[0] - (double)x->value.data[0]) > 1e-3);
    }
  CHECK_INT (plait_parameters_n (parameters), 0);
}

TEST_CASE (layers, no_positions_leave_the_rows_alone)
{
  g_auto (Bench) bench = bench_new (1);
  g_autoptr (PlaitParameters) parameters = plait_parameters_new ();
  PlaitPositions none = plait_positions_declare (parameters, "none", PLAIT_POSITIONS_NONE, 20, 6);
  PlaitNode *x;

  x = bench_random (&bench, 5, 6, 1);
  CHECK (plait_positions_apply (bench.tape, &none, x, rows, 0, 0.1) == x);
}

/* In training, dropout changes inner activations and attention weights. */
TEST_CASE (layers, drop_out_in_training_only)
{
  g_auto (Bench) bench = bench_new (1);
  g_autoptr (PlaitParameters) parameters = plait_parameters_new ();
  PlaitAttentionDeclaration declaration = { .width = 4, .heads = 1, .dropout = 0.5 };
  PlaitAttention self = plait_attention_declare_self (parameters, "self", &declaration);
  PlaitAttention cross = plait_attention_declare (parameters, "cross", &declaration, 4);
  PlaitFeedForward feed_forward = plait_feed_forward_declare (parameters, "ff", 4, 30, PLAIT_ACTIVATION_RELU, 0.5);
  PlaitScalar calm[3][5 * 4];

  CHECK (plait_parameters_allocate (parameters, NULL));
  plait_parameters_initialise (parameters, bench.pool, 1);
  for (int i = 0; i < 3; i++)
    {
      static const PlaitTapeMode modes[] = { PLAIT_TAPE_CHECK, PLAIT_TAPE_EVALUATE, PLAIT_TAPE_TRAIN };
      PlaitTapeMode mode = modes[i];
      PlaitNode *x, *found[3];
      PlaitKeyValues memory;

      bench_begin (&bench, mode);
      x = bench_random (&bench, 5, 4, 1);
      memory = plait_attention_project (bench.tape, &cross, 0, x, rows);
      found[0] = plait_attention_apply_self (bench.tape, &self, x, rows, FALSE, NULL);
      found[1] = plait_attention_apply (bench.tape, &cross, x, rows, &memory, 1);
      found[2] = plait_feed_forward_apply (bench.tape, &feed_forward, x);
      for (int layer = 0; layer < 3; layer++)
        {
          CONTEXT ("layer %d, mode %d", layer, (int)mode);

          if (mode == PLAIT_TAPE_CHECK)
            memcpy (calm[layer], found[layer]->value.data, sizeof calm[layer]);
          else
            CHECK_INT (memcmp (calm[layer], found[layer]->value.data, sizeof calm[layer]) != 0,
                       mode == PLAIT_TAPE_TRAIN);
        }
    }
}

/* An encoder layer and a decoder layer with all options on. The gradients of their parameters are checked. */
typedef struct
{
  PlaitEmbedding embedding;
  PlaitPositions positions;
  PlaitAttention self;
  PlaitAttention cross;
  PlaitAttention joint;
  PlaitAttention contexts;
  PlaitNorm norm;
  PlaitFeedForward feed_forward;
} Layers;

static const gint64 memory_offsets[] = { 0, 2, 4, 4 };
static const PlaitRagged memory_rows = { 3, memory_offsets };
static const gint64 other_offsets[] = { 0, 0, 1, 3 };
static const PlaitRagged other_rows = { 3, other_offsets };

/* Builds the two layers. @leaves are two memories, [4, 5] and [3, 6]. */
static PlaitNode *
build (PlaitTape *tape, PlaitNode *const *leaves, gpointer data)
{
  static const gint32 ids[] = { 1, 0, 2, 2, 1 };
  static const guint8 first[] = { 1, 1, 1, 0, 0 };
  const guint8 *const present[] = { first, NULL };
  const Layers *layers = data;
  PlaitNode *x = plait_embedding_apply (tape, &layers->embedding, ids, 5);
  PlaitNode *q, *items[2];
  PlaitKeyValues one, both[2];

  x = plait_positions_apply (tape, &layers->positions, x, rows, 0, 0.1);
  q = plait_norm_apply (tape, &layers->norm, x);
  x = plait_residual (tape, x, plait_attention_apply_self (tape, &layers->self, q, rows, TRUE, NULL), 0.1);
  one = plait_attention_project (tape, &layers->cross, 0, leaves[0], memory_rows);
  items[0] = plait_attention_apply (tape, &layers->cross, x, rows, &one, 1);
  both[0] = plait_attention_project (tape, &layers->joint, 0, leaves[0], memory_rows);
  both[1] = plait_attention_project (tape, &layers->joint, 1, leaves[1], other_rows);
  items[1] = plait_attention_apply (tape, &layers->joint, x, rows, both, 2);
  q = plait_attention_apply_items (tape, &layers->contexts, x, items, present, 2, NULL);
  x = plait_residual (tape, x, q, 0.1);
  x = plait_feed_forward_apply (tape, &layers->feed_forward, x);
  return plait_reduce_sum (tape, plait_multiply (tape, x, plait_activate (tape, x, PLAIT_ACTIVATION_TANH)));
}

TEST_CASE (layers, have_right_gradients)
{
  static const char *const names[] = { "first", "second" };
  static const gint64 widths[] = { 5, 6 };
  g_auto (Bench) bench = bench_new (2);
  g_autoptr (PlaitParameters) parameters = plait_parameters_new ();
  PlaitAttentionDeclaration declaration = { .width = 4, .heads = 2, .dropout = 0.2, .biases = TRUE };
  Layers layers = {
    .embedding = plait_embedding_declare (parameters, "embedding", 3, 4, PLAIT_NORMAL (1), 2),
    .positions = plait_positions_declare (parameters, "positions", PLAIT_POSITIONS_LEARNED, 3, 4),
    .self = plait_attention_declare_self (parameters, "self", &declaration),
    .cross = plait_attention_declare (parameters, "cross", &declaration, 5),
    .joint = plait_attention_declare_joint (parameters, "joint", &declaration, names, widths, 2),
    .contexts = plait_attention_declare (parameters, "contexts", &declaration, 4),
    .norm = plait_norm_declare (parameters, "norm", 4),
    .feed_forward = plait_feed_forward_declare (parameters, "feed_forward", 4, 7, PLAIT_ACTIVATION_GELU, 0.1),
  };
  g_autofree PlaitCheckLeaf *leaves = NULL;
  guint n;
  PlaitGradientCheck check
      = { .build = build, .data = &layers, .mode = PLAIT_TAPE_TRAIN, .key = plait_random_key (1, "dropout", NULL, 0) };
  PlaitScalar memories[2][4 * 6];
  PlaitTensor values;

  CHECK (plait_parameters_find (parameters, "joint/key_value/second/weight") == layers.joint.key_value[1].weight);
  CHECK (plait_parameters_find (parameters, "self/query_key_value/bias") == layers.self.query_key_value.bias);
  CHECK (plait_parameters_allocate (parameters, NULL));
  /* Give biases and gains random values too, away from their initial ones. */
  values = plait_parameters_write_values (parameters);
  for (gint64 i = 0; i < values.width; i++)
    values.data[i] = (PlaitScalar)(0.6 * plait_random_normal (check.key, (guint64)i));
  for (int i = 0; i < 2 * 4 * 6; i++)
    memories[i / 24][i % 24] = (PlaitScalar)plait_random_normal (check.key, (guint64)(1000000 + i));

  n = plait_parameters_n (parameters);
  leaves = g_new0 (PlaitCheckLeaf, n + 2);
  leaves[0] = (PlaitCheckLeaf){ .name = "first memory", .value = plait_tensor (memories[0], 4, 5) };
  leaves[1] = (PlaitCheckLeaf){ .name = "second memory", .value = plait_tensor (memories[1], 3, 6) };
  for (guint i = 0; i < n; i++)
    {
      PlaitParameter *parameter = plait_parameters_get (parameters, i);

      leaves[2 + i] = (PlaitCheckLeaf){ parameter->name, parameter->value, parameter->gradient };
    }
  check.leaves = leaves;
  check.n_leaves = n + 2;
  CHECK (plait_check_gradients (&check, bench.pool, NO_ERROR));
}
