/* SPDX-License-Identifier: MIT */
#include "harness.h"
#include "models.h"
#include "reference.h"
#include "layers/parameter-set.h"

/* Tests of the attention scores of recurrent decoders, for one query and one memory, against the float64 reference. */

#define WIDTH 8
#define ROWS 5

static void
check_score (const char *the_case, PlaitScoreFunction score)
{
  static const gint64 one_query[] = { 0, 1 }, memory_rows[] = { 0, ROWS };
  PlaitRegistry *registry = test_registry ();
  g_autoptr (PlaitParameters) parameters = plait_parameters_new ();
  PlaitPlugin *serial = test_plugin (registry, PLAIT_PLUGIN_COMBINER, "serial");
  g_autoptr (PlaitSettings) settings = plait_fixture_settings (serial);
  g_autoptr (PlaitComponent) combiner = test_opened_part (serial, settings, "combiner");
  PlaitLossColumns losses = { 0 };
  PlaitDecoderSettings decoder = plait_fixture_decoder (2).settings;
  PlaitMemorySpecification memory = { .name = "m", .width = WIDTH };
  PlaitDecoderComponents build = {
    .settings = &decoder,
    .combiner = combiner,
    .losses = &losses,
    .memories = &memory,
    .n_memories = 1,
    .parameters = parameters,
  };
  const PlaitCrossDeclaration declaration
      = { .width = WIDTH, .query_width = WIDTH, .score = score, .attention_width = 7 };
  PlaitCrossAttentionLayer cross;

  CHECK (plait_cross_layer_build (&cross, &build, &declaration, "site/", NO_ERROR));
  CHECK (plait_parameters_allocate (parameters, NO_ERROR));

  const PlaitRecurrentAttention *attention = &test_declared_attention (&cross, PLAIT_ATTEND_MEMORY, 0)->recurrent;
  g_auto (Bench) bench = bench_new (1);

  reference_set (attention->query.weight, 0, the_case, "W");
  reference_set (attention->items[0].key.weight, 0, the_case, "U");
  reference_set (attention->items[0].key.bias, 0, the_case, "b");
  reference_set (attention->vector, 0, the_case, "v");
  PlaitNode *query = reference_input (&bench, the_case, "q");
  PlaitMemory m = { .states = reference_input (&bench, the_case, "m"), .rows = { 1, memory_rows } };
  PlaitCrossAttentionStep step = { .keys = plait_cross_project (&cross, bench.tape, &m) };
  PlaitAttentionRecord *record = plait_attention_record_new (bench.arena, 1, 1, FALSE);
  PlaitCrossAttentionPass pass = plait_cross_pass (bench.tape, &m, 1, (PlaitRagged){ 1, one_query }, record);
  PlaitNode *context = plait_cross_combine (&cross, &pass, &step, query).context;

  reference_check_output (plait_attention_record_find (record, 0, NULL, 0)->weights, the_case, "weights");
  reference_check_output (context->value.data, the_case, "context");
  plait_tape_backward (bench.tape, reference_weigh (&bench, context, the_case, "context", 0));
  reference_check_input (query, the_case, "q");
  reference_check_input (m.states, the_case, "m");
  reference_check_gradient (attention->query.weight, 0, the_case, "W");
  reference_check_gradient (attention->items[0].key.weight, 0, the_case, "U");
  reference_check_gradient (attention->items[0].key.bias, 0, the_case, "b");
  reference_check_gradient (attention->vector, 0, the_case, "v");
}

TEST_CASE (scores, chen2017_equations_5_to_7_additive)
{
  check_score ("recurrent/read_additive", PLAIT_SCORE_ADDITIVE);
}

TEST_CASE (scores, luong2015_equation_8_general)
{
  check_score ("recurrent/read_multiplicative", PLAIT_SCORE_MULTIPLICATIVE);
}

TEST_CASE (scores, luong2015_equation_8_dot)
{
  check_score ("recurrent/read_dot", PLAIT_SCORE_DOT);
}
