/* SPDX-License-Identifier: MIT */
#include "layers/encoder-stack.h"
#include "layers/positions.h"
#include "reference.h"
#include "layers/parameter-set.h"
#include "autograd/layer-operators.h"
#include "layers/attention.h"
#include "layers/internal.h"

/* Tests of layers against a float64 reference: outputs, attention weights and all gradients. */

enum
{
  WIDTH = 8,
  HEADS = 2
};

static void
allocate (PlaitParameters *parameters)
{
  g_autoptr (GError) error = NULL;

  plait_parameters_allocate (parameters, &error);
  g_assert_no_error (error);
}

TEST_CASE (reference, layer_norm)
{
  const char *name = "transformer/layer_norm_1e-06";
  g_auto (Bench) bench = bench_new (1);
  g_autoptr (PlaitParameters) parameters = plait_parameters_new ();
  PlaitNorm norm = plait_norm_declare (parameters, "norm", WIDTH);
  PlaitNode *x;

  allocate (parameters);
  reference_set_norm (&norm, name, NULL);
  x = reference_input (&bench, name, "x");
  reference_go_back (&bench, plait_norm_apply (bench.tape, &norm, x), name);
  reference_check_input (x, name, "x");
  reference_check_norm (&norm, name, NULL);
}

TEST_CASE (reference, positions)
{
  static const char *const names[] = { "transformer/positions_interleaved", "transformer/positions_concatenated" };
  static const PlaitPositionKind kinds[] = { PLAIT_POSITIONS_INTERLEAVED, PLAIT_POSITIONS_CONCATENATED };

  for (int i = 0; i < 2; i++)
    {
      CONTEXT ("%s", names[i]);
      PlaitScalar numbers[7 * WIDTH];

      plait_positions_fill (plait_tensor (numbers, 7, WIDTH), kinds[i], 0);
      reference_check_output (numbers, names[i], "y");
    }
}

TEST_CASE (reference, cross_entropy)
{
  static const char *const names[] = { "transformer/cross_entropy_0.1", "transformer/cross_entropy_0.1_others" };
  static const gint32 targets[] = { 0, 3, 4, 1 };

  for (int others = 0; others < 2; others++)
    {
      CONTEXT ("%s", names[others]);
      g_auto (Bench) bench = bench_new (1);
      const ReferenceArray *table = reference (names[others], "weights/E");
      const double *cotangents = reference (names[others], "cotangents/loss")->numbers;
      const double *losses = reference (names[others], "outputs/loss")->numbers;
      PlaitNode *x, *weight, *rows[4];

      x = reference_input (&bench, names[others], "x");
      weight = bench_leaf (&bench, table->rows, table->width, table->numbers);
      /* The reference gives each row its own gradient of the output. */
      for (int i = 0; i < 4; i++)
        {
          PlaitOutputLossOptions options = { .smoothing = 0.1, .others = others, .scale = cotangents[i] };
          PlaitOutputLossSums sums;

          rows[i] = plait_output_loss (bench.tape, plait_rows (bench.tape, x, i, 1), weight, NULL, &targets[i],
                                       &options, &sums, NULL);
          CHECK_NEAR (sums.loss, losses[i], NEAR);
        }
      plait_tape_backward (bench.tape, plait_add_n (bench.tape, rows, 4));
      reference_check_input (x, names[others], "x");
      check_tensor ("gradient of E", weight->gradient, reference (names[others], "gradients/weights/E")->numbers, NEAR);
    }
}

/* Multi-head attention A^h (Q, K, V) (Libovicky et al. 2018, eq. 2-3): heads are projected, attended to, concatenated
 * and projected back. */
TEST_CASE (reference, libovicky2018_equations_2_and_3_multi_head_attention)
{
  const char *name = "transformer/attend";
  g_auto (Bench) bench = bench_new (1);
  g_autoptr (PlaitParameters) parameters = plait_parameters_new ();
  PlaitAttentionDeclaration declaration = { .width = WIDTH, .heads = HEADS };
  PlaitAttention attention = plait_attention_declare (parameters, "attend", &declaration, WIDTH);
  PlaitRagged rows = { 1, (gint64[]){ 0, 5 } };
  PlaitScalar weights[HEADS * 5 * 5];
  PlaitNode *x, *memory;
  PlaitKeyValues projected;

  allocate (parameters);
  reference_set_attention (&attention, name, NULL);
  x = reference_input (&bench, name, "q");
  memory = reference_input (&bench, name, "m");
  projected = plait_attention_project (bench.tape, &attention, 0, memory, rows);
  projected.weights = weights;
  reference_go_back (&bench, plait_attention_apply (bench.tape, &attention, x, rows, &projected, 1), name);
  reference_check_output (weights, name, "weights");
  reference_check_input (x, name, "q");
  reference_check_input (memory, name, "m");
  reference_check_attention (&attention, name, NULL);
}

/* Attention with biases and a causal mask. Only self-attention can have a mask, but in the reference q and m are two
 * inputs, so this test composes operators. */
TEST_CASE (reference, causal_attention_with_biases)
{
  const char *name = "transformer/attend_bias_causal";
  g_auto (Bench) bench = bench_new (1);
  g_autoptr (PlaitParameters) parameters = plait_parameters_new ();
  PlaitAttentionDeclaration declaration = { .width = WIDTH, .heads = HEADS, .biases = TRUE };
  PlaitAttention attention = plait_attention_declare (parameters, "attend", &declaration, WIDTH);
  PlaitAttentionOptions options = { .heads = HEADS, .causal = TRUE };
  PlaitRagged rows = { 1, (gint64[]){ 0, 5 } };
  PlaitScalar weights[HEADS * 5 * 5];
  PlaitNode *x, *memory, *queries, *context;
  PlaitKeyValues projected;

  allocate (parameters);
  reference_set_attention (&attention, name, NULL);
  x = reference_input (&bench, name, "q");
  memory = reference_input (&bench, name, "m");
  projected = plait_attention_project (bench.tape, &attention, 0, memory, rows);
  projected.weights = weights;
  queries = plait_linear_apply (bench.tape, &attention.query, x, PLAIT_ACTIVATION_NONE);
  context = plait_attention (bench.tape, queries, rows, &projected, 1, &options);
  context = plait_linear_apply (bench.tape, &attention.output, context, PLAIT_ACTIVATION_NONE);
  reference_go_back (&bench, context, name);
  reference_check_output (weights, name, "weights");
  reference_check_input (x, name, "q");
  reference_check_input (memory, name, "m");
  reference_check_attention (&attention, name, NULL);
}

/* Checks self-attention with relative positions and a window. */
static void
check_relative (const char *name, PlaitPositionKind positions, gboolean causal, gint64 window)
{
  g_auto (Bench) bench = bench_new (1);
  g_autoptr (PlaitParameters) parameters = plait_parameters_new ();
  PlaitAttentionDeclaration declaration
      = { .width = WIDTH, .heads = HEADS, .biases = TRUE, .positions = positions, .window = window };
  PlaitAttention attention = plait_attention_declare_self (parameters, "self", &declaration);
  PlaitRagged rows = { 1, (gint64[]){ 0, 6 } };
  PlaitScalar weights[HEADS * 6 * 6];
  PlaitNode *x;

  allocate (parameters);
  reference_set_attention (&attention, name, NULL);
  x = reference_input (&bench, name, "x");
  reference_go_back (&bench, plait_attention_apply_self (bench.tape, &attention, x, rows, causal, weights), name);
  reference_check_output (weights, name, "weights");
  reference_check_input (x, name, "x");
  reference_check_attention (&attention, name, NULL);
}

TEST_CASE (reference, self_attention_with_relative_positions)
{
  check_relative ("relative/rotary", PLAIT_POSITIONS_ROTARY, FALSE, 0);
  check_relative ("relative/rotary_causal", PLAIT_POSITIONS_ROTARY, TRUE, 0);
  check_relative ("relative/alibi", PLAIT_POSITIONS_ALIBI, FALSE, 0);
  check_relative ("relative/alibi_causal_window", PLAIT_POSITIONS_ALIBI, TRUE, 3);
  check_relative ("relative/window", PLAIT_POSITIONS_NONE, FALSE, 3);
}

/* Checks a whole encoder layer, pre-norm or post-norm: self-attention and feed-forward layer with residual
 * connections. */
static void
check_encoder_layer (const char *name, PlaitEncoderNorm norm, gboolean biases, PlaitFeedForwardActivation activation)
{
  g_auto (Bench) bench = bench_new (1);
  g_autoptr (PlaitParameters) parameters = plait_parameters_new ();
  PlaitEncoderStackDeclaration declaration = { .layers = 1,
                                               .heads = HEADS,
                                               .feed_forward = 12,
                                               .norm = norm,
                                               .activation = activation,
                                               .attention_bias = biases,
                                               .width = WIDTH };
  PlaitEncoderStack stack;
  PlaitEncoderLayer layer;
  PlaitRagged rows = { 1, (gint64[]){ 0, 4 } };
  PlaitNode *x;

  CHECK (plait_encoder_stack_declare (&stack, parameters, "", &declaration, NULL));
  layer = stack.layers[0];
  allocate (parameters);
  reference_set_attention (&layer.attention, name, "self");
  reference_set_norm (&layer.attention_norm, name, "ln1");
  reference_set_norm (&layer.feed_forward_norm, name, "ln2");
  reference_set (layer.feed_forward.inner.weight, 0, name, "ff/W1");
  reference_set (layer.feed_forward.inner.bias, 0, name, "ff/b1");
  reference_set (layer.feed_forward.outer.weight, 0, name, "ff/W2");
  reference_set (layer.feed_forward.outer.bias, 0, name, "ff/b2");
  x = reference_input (&bench, name, "x");
  reference_go_back (&bench, plait_encoder_stack_apply (bench.tape, &stack, x, rows, NULL), name);
  reference_check_input (x, name, "x");
  reference_check_attention (&layer.attention, name, "self");
  reference_check_norm (&layer.attention_norm, name, "ln1");
  reference_check_norm (&layer.feed_forward_norm, name, "ln2");
  reference_check_gradient (layer.feed_forward.inner.weight, 0, name, "ff/W1");
  reference_check_gradient (layer.feed_forward.inner.bias, 0, name, "ff/b1");
  reference_check_gradient (layer.feed_forward.outer.weight, 0, name, "ff/W2");
  reference_check_gradient (layer.feed_forward.outer.bias, 0, name, "ff/b2");
}

TEST_CASE (reference, encoder_layer_with_norms_before)
{
  check_encoder_layer ("transformer/encoder_pre_relu", PLAIT_ENCODER_NORM_PRE, FALSE, PLAIT_FEED_FORWARD_RELU);
}

TEST_CASE (reference, encoder_layer_with_norms_after_and_biases)
{
  check_encoder_layer ("transformer/encoder_post_gelu", PLAIT_ENCODER_NORM_POST, TRUE, PLAIT_FEED_FORWARD_GELU);
}

static const gint64 memory_lengths[] = { 3, 0, 4 };

/* Libovicky et al. 2018, eq. 5-6: K_flat = V_flat = concat (K_i), A_flat (Q, K_1:n) = A (Q, K_flat), with biases and
 * one memory missing; post-norm. */
TEST_CASE (reference, libovicky2018_equations_5_and_6_flat)
{
  const char *name = "combiner/flat_post_304";
  g_auto (Bench) bench = bench_new (1);
  g_autoptr (PlaitParameters) parameters = plait_parameters_new ();
  PlaitAttentionDeclaration declaration = { .width = WIDTH, .heads = HEADS, .biases = TRUE };
  PlaitAttention attention = plait_attention_declare (parameters, "jointly", &declaration, WIDTH);
  PlaitNorm norm = plait_norm_declare (parameters, "norm", WIDTH);
  PlaitRagged query_rows = { 1, (gint64[]){ 0, 3 } };
  PlaitScalar first_weights[HEADS * 3 * 3], last_weights[HEADS * 3 * 4];
  PlaitKeyValues projected[3];
  PlaitNode *input, *memories[3], *x;
  gint64 offsets[3][2] = { { 0 } };

  allocate (parameters);
  reference_set_attention (&attention, name, "attend/0");
  reference_set_norm (&norm, name, "ln");
  input = reference_input (&bench, name, "x");
  for (guint i = 0; i < 3; i++)
    {
      offsets[i][1] = memory_lengths[i];
      memories[i] = reference_input (&bench, name, plait_test_format ("memory%u", i));
      projected[i] = plait_attention_project (bench.tape, &attention, 0, memories[i], (PlaitRagged){ 1, offsets[i] });
    }
  projected[0].weights = first_weights;
  projected[2].weights = last_weights;
  x = plait_attention_apply (bench.tape, &attention, input, query_rows, projected, 3);
  x = plait_norm_apply (bench.tape, &norm, plait_residual (bench.tape, input, x, 0));
  reference_go_back (&bench, x, name);
  reference_check_output (first_weights, name, "weights0");
  reference_check_output (last_weights, name, "weights2");
  reference_check_input (input, name, "x");
  reference_check_input (memories[0], name, "memory0");
  reference_check_input (memories[2], name, "memory2");
  reference_check_attention (&attention, name, "attend/0");
  reference_check_norm (&norm, name, "ln");
}

/* Libovicky et al. 2018, eq. 7-8: K_hier = V_hier = concat (A (Q, K_i)), A_hier (Q, K_1:n) = A (Q, K_hier), one memory
 * missing; pre-norm. */
TEST_CASE (reference, libovicky2018_equations_7_and_8_hierarchical)
{
  const char *name = "combiner/hierarchical_pre_304";
  g_auto (Bench) bench = bench_new (1);
  g_autoptr (PlaitParameters) parameters = plait_parameters_new ();
  PlaitAttentionDeclaration declaration = { .width = WIDTH, .heads = HEADS };
  PlaitAttentionDeclaration level2 = { .width = WIDTH, .heads = 4 };
  PlaitNorm norm = plait_norm_declare (parameters, "norm", WIDTH);
  PlaitRagged query_rows = { 1, (gint64[]){ 0, 3 } };
  PlaitScalar weights[4 * 3 * 3];
  guint8 absent[] = { 0, 0, 0 };
  const guint8 *const present[] = { NULL, absent, NULL };
  PlaitAttention attentions[3], contexts;
  PlaitNode *input, *memories[3], *items[3], *q, *x;
  gint64 offsets[3][2] = { { 0 } };

  for (guint i = 0; i < 3; i++)
    attentions[i] = plait_attention_declare (parameters, plait_test_format ("attend/%u", i), &declaration, WIDTH);
  contexts = plait_attention_declare (parameters, "contexts", &level2, WIDTH);
  allocate (parameters);
  reference_set_norm (&norm, name, "ln");
  reference_set_attention (&contexts, name, "level2");
  input = reference_input (&bench, name, "x");
  q = plait_norm_apply (bench.tape, &norm, input);
  for (guint i = 0; i < 3; i++)
    {
      PlaitKeyValues projected;

      reference_set_attention (&attentions[i], name, plait_test_format ("attend/%u", i));
      offsets[i][1] = memory_lengths[i];
      memories[i] = reference_input (&bench, name, plait_test_format ("memory%u", i));
      projected = plait_attention_project (bench.tape, &attentions[i], 0, memories[i], (PlaitRagged){ 1, offsets[i] });
      items[i] = plait_attention_apply (bench.tape, &attentions[i], q, query_rows, &projected, 1);
    }
  x = plait_attention_apply_items (bench.tape, &contexts, q, items, present, 3, weights);
  reference_go_back (&bench, plait_residual (bench.tape, input, x, 0), name);
  reference_check_output (weights, name, "level2");
  reference_check_input (input, name, "x");
  reference_check_input (memories[0], name, "memory0");
  reference_check_input (memories[2], name, "memory2");
  reference_check_attention (&attentions[0], name, "attend/0");
  reference_check_attention (&attentions[2], name, "attend/2");
  reference_check_attention (&contexts, name, "level2");
  reference_check_norm (&norm, name, "ln");
}
