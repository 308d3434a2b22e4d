/* SPDX-License-Identifier: MIT */
#include "reference.h"
#include "cross-attention-fixture.h"
#include "layers/attention.h"

/* Tests of combiners, each as a plugin in a cross-attention of one layer, against a float64 reference of Libovicky et
 * al. 2018, section 3: outputs, weights and all gradients. There are three memories, of which the second is missing. */

enum
{
  WIDTH = 8,
  MEMORIES = 3,
  QUERIES = 3
};

static const PlaitMemorySpecification specifications[MEMORIES]
    = { { .name = "0", .width = WIDTH }, { .name = "1", .width = WIDTH }, { .name = "2", .width = WIDTH } };

/* Keys without and with the number of heads that the reference's attention over contexts has. */
static const char *const plain[] = { NULL }, *const contexts[] = { "context_heads", "4", NULL };

static gboolean
build (CrossAttentionFixture *fixture, const char *combiner, const char *const *keys, gint norm,
       const PlaitMemorySpecification *memories, guint n, GError **error)
{
  PlaitFixtureDecoder decoder = plait_fixture_decoder (0);

  decoder.settings.norm = norm;
  decoder.settings.attention_bias = norm == PLAIT_DECODER_NORM_POST; /* the reference has biases with post-norm */
  cross_attention_fixture_begin (fixture, decoder, combiner, keys);
  fixture->build.memories = memories;
  fixture->build.n_memories = n;
  return cross_attention_fixture_build (fixture, WIDTH, error);
}

/* Sets the parameters to those of the case, or checks their gradients, through @attention and @norm. */
static void
visit (const PlaitCrossAttentionLayer *cross, const char *name,
       void (*attention) (const PlaitAttention *attention, const char *the_case, const char *name),
       void (*norm) (const PlaitNorm *norm, const char *the_case, const char *name))
{
  gboolean many = cross->n_slots > 1;
  const PlaitDeclaredAttention *declared;

  for (guint i = 0; i < MEMORIES; i++)
    {
      g_autofree char *ln = many ? g_strdup_printf ("ln/%u", i) : g_strdup ("ln");

      declared = test_declared_attention (cross, PLAIT_ATTEND_MEMORY, i);
      if (declared)
        attention (&declared->multi_head, name, plait_test_format ("attend/%u", i));
      if (cross->norms[i].gain)
        norm (&cross->norms[i], name, ln);
    }
  declared = test_declared_attention (cross, PLAIT_ATTEND_JOINTLY, 0);
  if (declared)
    attention (&declared->multi_head, name, "attend/0");
  declared = test_declared_attention (cross, PLAIT_ATTEND_CONTEXTS, 0);
  if (declared)
    attention (&declared->multi_head, name, "level2");
}

static void
check_combiner (const char *combiner, const char *const *settings, const char *name, gint norm)
{
  static const gint64 query_offsets[] = { 0, QUERIES }, offsets[MEMORIES][2] = { { 0, 3 }, { 0, 0 }, { 0, 4 } };
  static const char *const inputs[MEMORIES] = { "memory0", "memory1", "memory2" };
  g_auto (Bench) bench = bench_new (2);
  g_auto (CrossAttentionFixture) fixture = { NULL };
  PlaitMemory memories[MEMORIES] = { { NULL } };
  PlaitAttentionRecord *record;
  PlaitCrossAttentionPass pass;
  PlaitCrossAttentionStep step = { .layer = 0 };
  PlaitNode *x;

  CHECK (build (&fixture, combiner, settings, norm, specifications, MEMORIES, NO_ERROR));
  visit (&fixture.cross, name, reference_set_attention, reference_set_norm);
  x = reference_input (&bench, name, "x");
  for (guint i = 0; i < MEMORIES; i++)
    memories[i]
        = (PlaitMemory){ .states = reference_input (&bench, name, inputs[i]), .rows = (PlaitRagged){ 1, offsets[i] } };
  record = plait_attention_record_new (bench.arena, 1, MEMORIES, FALSE);
  pass = plait_cross_pass (bench.tape, memories, MEMORIES, (PlaitRagged){ 1, query_offsets }, record);
  step.keys = plait_cross_project (&fixture.cross, bench.tape, memories);
  reference_go_back (&bench, plait_cross_combine (&fixture.cross, &pass, &step, x).query, name);
  reference_check_output (plait_attention_record_find (record, 0, NULL, 0)->weights, name, "weights0");
  reference_check_output (plait_attention_record_find (record, 0, NULL, 2)->weights, name, "weights2");
  if (test_declared_attention (&fixture.cross, PLAIT_ATTEND_CONTEXTS, 0))
    reference_check_output (record->contexts[0].weights, name, "level2");
  reference_check_input (x, name, "x");
  reference_check_input (memories[0].states, name, "memory0");
  reference_check_input (memories[2].states, name, "memory2");
  visit (&fixture.cross, name, reference_check_attention, reference_check_norm);
}

TEST_CASE (combiners, libovicky2018_section_3_serial)
{
  check_combiner ("serial", plain, "combiner/serial_pre_304", PLAIT_DECODER_NORM_PRE);
}

TEST_CASE (combiners, libovicky2018_equation_4_parallel)
{
  check_combiner ("parallel", plain, "combiner/parallel_post_304", PLAIT_DECODER_NORM_POST);
}

TEST_CASE (combiners, libovicky2018_equations_5_and_6_flat)
{
  check_combiner ("flat", plain, "combiner/flat_post_304", PLAIT_DECODER_NORM_POST);
}

TEST_CASE (combiners, libovicky2018_equations_7_and_8_hierarchical)
{
  check_combiner ("hierarchical", contexts, "combiner/hierarchical_pre_304", PLAIT_DECODER_NORM_PRE);
}

TEST_CASE (combiners, more_memories_than_a_softmax_takes_are_refused)
{
  PlaitMemorySpecification many[65];
  g_auto (CrossAttentionFixture) fits = { NULL }, joint = { NULL }, apart = { NULL };
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < 65; i++)
    many[i] = (PlaitMemorySpecification){ .name = g_strdup_printf ("%u", i), .width = WIDTH };
  CHECK (build (&fits, "flat", plain, PLAIT_DECODER_NORM_PRE, many, 64, NO_ERROR));
  CHECK (build (&apart, "serial", plain, PLAIT_DECODER_NORM_PRE, many, 65, NO_ERROR));
  CHECK (!build (&joint, "flat", plain, PLAIT_DECODER_NORM_PRE, many, 65, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "one softmax is to cover 65 memories, but at most 64 can share a softmax");
  for (guint i = 0; i < 65; i++)
    g_free ((char *)many[i].name);
}

TEST_CASE (combiners, sentinels_are_refused_in_a_transformer_decoder)
{
  static const char *const names[] = { "flat", "hierarchical" };
  static const char *const sentinel[] = { "sentinel", "true", NULL };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_auto (CrossAttentionFixture) fixture = { NULL };
      g_autoptr (GError) error = NULL;

      CHECK (!build (&fixture, names[i], sentinel, PLAIT_DECODER_NORM_PRE, specifications, MEMORIES, &error));
      CHECK_ERROR (error, PLAIT_ERROR_INPUT,
                   "a Transformer decoder cannot have a sentinel: set sentinel=false, or "
                   "decoder.type=gru or lstm");
    }
}
