/* SPDX-License-Identifier: MIT */
#include "harness.h"
#include "reference.h"
#include "cross-attention-fixture.h"
#include "layers/parameter-set.h"

#include <string.h>

/* Tests of coverage with additive attention to one memory of four words and three nodes, in four steps. */

#define STEPS 4
#define ROWS 7
#define WIDTH 6

/* A parameter of the coverage. Its columns are gates, which have the names @parts in the reference. */
typedef struct
{
  const char *name;
  const char *parts[3];
} Gates;

static const Gates gated[] = {
  { "cell/input/weight", { "Hr", "Hz", "Hh" } },
  { "cell/input/bias", { "br", "bz", "bh" } },
  { "cell/recurrent/weight", { "Cr", "Cz", NULL } },
  { "cell/candidate/weight", { "Ch", NULL, NULL } },
  { "query/weight", { "Sr", "Sz", "Sh" } },
  { "attention/weight", { "ar", "az", "ah" } },
  { "left/weight", { "LCr", "LCz", "LCh" } },
  { "right/weight", { "RCr", "RCz", "RCh" } },
  { "left_attention/weight", { "Lar", "Laz", "Lah" } },
  { "right_attention/weight", { "Rar", "Raz", "Rah" } },
  { "previous/weight", { "PCr", "PCz", "PCh" } },
  { "next/weight", { "NCr", "NCz", "NCh" } },
  { "fertility/weight", { "f", NULL, NULL } },
  { "fertility/bias", { "fb", NULL, NULL } },
};

/* Sets the parameters to those of the case, or checks their gradients, through @touch. */
static void
visit (const PlaitParameters *parameters, const PlaitCrossAttentionLayer *cross, const char *the_case,
       void (*touch) (const PlaitParameter *parameter, gint64 column, const char *the_case, const char *name))
{
  const PlaitDeclaredAttention *declared = test_declared_attention (cross, PLAIT_ATTEND_MEMORY, 0);
  const PlaitRecurrentAttention *attention = &declared->recurrent;
  gint64 width = declared->covered->width;

  touch (attention->query.weight, 0, the_case, "att/W");
  touch (attention->items[0].key.weight, 0, the_case, "att/U");
  touch (attention->items[0].key.bias, 0, the_case, "att/b");
  touch (attention->vector, 0, the_case, "att/v");
  touch (declared->covered->score.weight, 0, the_case, "cov/V");
  for (guint i = 0; i < G_N_ELEMENTS (gated); i++)
    {
      g_autofree char *name = g_strconcat ("site/attend/m/coverage/", gated[i].name, NULL);
      const PlaitParameter *parameter = plait_parameters_find (parameters, name);

      for (guint k = 0; parameter && k < 3 && gated[i].parts[k]; k++)
        touch (parameter, (gint64)k * width, the_case, plait_test_format ("cov/%s", gated[i].parts[k]));
    }
}

static void
set (const PlaitParameter *parameter, gint64 column, const char *the_case, const char *name)
{
  reference_set ((PlaitParameter *)parameter, column, the_case, name);
}

/* Builds a cross-attention with a coverage and the combiner serial, over one memory. @width is the width of the states
 * of gated coverage. */
static void
fixture_build (CrossAttentionFixture *fixture, const char *coverage, guint width)
{
  static const char *const none[] = { NULL };
  g_autoptr (PlaitSettings) settings = NULL;
  PlaitPlugin *plugin;

  fixture->memory = (PlaitMemorySpecification){ .name = "m", .width = WIDTH };
  cross_attention_fixture_begin (fixture, plait_fixture_decoder (2), "serial", none);
  plugin = test_plugin (fixture->registry, PLAIT_PLUGIN_COVERAGE, coverage);
  settings = plait_fixture_settings (plugin);
  if (plait_schema_parameter (plugin->schema, "width"))
    plait_settings_set (settings, "width", plait_test_format ("%u", width), NULL);
  fixture->build.coverage = fixture->coverage = test_opened_part (plugin, settings, "coverage");
  fixture->declaration.attention_width = 7;
  CHECK (cross_attention_fixture_build (fixture, WIDTH, NO_ERROR));
}

static const gint64 memory_rows[] = { 0, ROWS };
static const gint64 one_query[] = { 0, 1 };
static const gint64 left[] = { -1, -1, -1, -1, 0, 4, 5 };
static const gint64 right[] = { -1, -1, -1, -1, 1, 2, 3 };
static const PlaitLinks links = { .left = left, .right = right };

static void
check_coverage (const char *coverage, const char *the_case)
{
  const PlaitRagged queries = { 1, one_query };
  g_auto (CrossAttentionFixture) fixture = { NULL };

  fixture_build (&fixture, coverage, 3);
  visit (fixture.parameters, &fixture.cross, the_case, set);

  g_auto (Bench) bench = bench_new (1);
  PlaitNode *contexts[STEPS], *covered, *terms[2 * STEPS];
  PlaitScalar states[(STEPS + 1) * ROWS * 3] = { 0 }, read[STEPS * WIDTH], weights[STEPS * ROWS];

  PlaitNode *asked = reference_input (&bench, the_case, "q");
  PlaitMemory m = { .states = reference_input (&bench, the_case, "m"), .rows = { 1, memory_rows }, .links = &links };
  PlaitCrossAttentionKeys keys = plait_cross_project (&fixture.cross, bench.tape, &m);
  PlaitQueryKeyPairs pairs = plait_query_key_pairs (bench.tape, queries, m.rows);

  covered = plait_covered_memory_begin (test_declared_attention (&fixture.cross, PLAIT_ATTEND_MEMORY, 0)->covered,
                                        bench.tape, &pairs);
  for (gint64 t = 0; t < STEPS; t++)
    {
      PlaitAttentionRecord *record = plait_attention_record_new (bench.arena, 1, 1, TRUE);
      PlaitCrossAttentionPass pass = plait_cross_pass (bench.tape, &m, 1, queries, record);
      PlaitCrossAttentionStep step = { .keys = keys, .coverage = &covered };
      gsize size = (gsize)(ROWS * fixture.cross.attentions[0].covered->width);

      contexts[t] = plait_cross_combine (&fixture.cross, &pass, &step, plait_rows (bench.tape, asked, t, 1)).context;
      memcpy (read + t * WIDTH, contexts[t]->value.data, WIDTH * sizeof *read);
      memcpy (weights + t * ROWS, plait_attention_record_find (record, 0, NULL, 0)->weights, ROWS * sizeof *weights);
      memcpy (states + (gsize)(t + 1) * size, plait_attention_record_find (record, 0, NULL, 0)->coverage.states,
              size * sizeof *states);
      terms[2 * t] = reference_weigh (&bench, contexts[t], the_case, "context", t);
      terms[2 * t + 1] = reference_weigh (&bench, covered, the_case, "coverage", (t + 1) * ROWS);
    }
  reference_check_output (read, the_case, "context");
  reference_check_output (weights, the_case, "weights");
  reference_check_output (states, the_case, "coverage");
  plait_tape_backward (bench.tape, plait_add_n (bench.tape, terms, 2 * STEPS));
  visit (fixture.parameters, &fixture.cross, the_case, reference_check_gradient);
  reference_check_input (asked, the_case, "q");
  reference_check_input (m.states, the_case, "m");
}

TEST_CASE (coverage, chen2017_equations_11_and_12_word)
{
  check_coverage ("word", "coverage/word_additive_before");
}

TEST_CASE (coverage, chen2017_equation_13_tree)
{
  check_coverage ("tree", "coverage/tree_additive_before");
}

TEST_CASE (coverage, chen2017_section_5_neighbour)
{
  check_coverage ("neighbour", "coverage/neighbour_additive_before");
}

TEST_CASE (coverage, tu2016_section_3_fertility)
{
  check_coverage ("fertility", "coverage/fertility_additive_before");
}

/* Runs four steps of coverage with zero weights for children. Parameters with equal names begin with equal values. */
static void
run_without_children (const char *coverage, PlaitScalar *read)
{
  static const char *const children[] = { "left", "left_attention", "right", "right_attention" };
  g_auto (CrossAttentionFixture) fixture = { NULL };
  g_auto (Bench) bench = bench_new (1);
  PlaitNode *asked, *covered;

  fixture_build (&fixture, coverage, 4);
  plait_parameters_initialise (fixture.parameters, bench.pool, 3);
  for (guint i = 0; i < G_N_ELEMENTS (children); i++)
    {
      g_autofree char *name = g_strdup_printf ("site/attend/m/coverage/%s/weight", children[i]);
      PlaitParameter *parameter = plait_parameters_find (fixture.parameters, name);

      for (gint64 k = 0; parameter && k < parameter->value.rows * parameter->value.width; k++)
        parameter->value.data[k] = 0;
    }
  asked = bench_random (&bench, STEPS, WIDTH, 1);
  PlaitMemory m = { .states = bench_random (&bench, ROWS, WIDTH, 2), .rows = { 1, memory_rows }, .links = &links };
  PlaitCrossAttentionKeys keys = plait_cross_project (&fixture.cross, bench.tape, &m);
  PlaitQueryKeyPairs pairs = plait_query_key_pairs (bench.tape, (PlaitRagged){ 1, one_query }, m.rows);

  covered = plait_covered_memory_begin (test_declared_attention (&fixture.cross, PLAIT_ATTEND_MEMORY, 0)->covered,
                                        bench.tape, &pairs);
  for (gint64 t = 0; t < STEPS; t++)
    {
      PlaitCrossAttentionPass pass = plait_cross_pass (bench.tape, &m, 1, pairs.queries, NULL);
      PlaitCrossAttentionStep step = { .keys = keys, .coverage = &covered };
      PlaitNode *context
          = plait_cross_combine (&fixture.cross, &pass, &step, plait_rows (bench.tape, asked, t, 1)).context;

      memcpy (read + t * WIDTH, context->value.data, WIDTH * sizeof *read);
    }
}

TEST_CASE (coverage, of_trees_without_the_terms_of_children_is_that_of_words)
{
  PlaitScalar tree[STEPS * WIDTH], word[STEPS * WIDTH];

  run_without_children ("tree", tree);
  run_without_children ("word", word);
  for (guint i = 0; i < STEPS * WIDTH; i++)
    CHECK_NEAR (tree[i], word[i], NEAR);
}
