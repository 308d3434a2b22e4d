/* SPDX-License-Identifier: MIT */
#include "reference.h"
#include "site-stand.h"
#include "layers/attention.h"

/* The combiners as plugins, each at a site of one layer, against a float64 reference of the paper's section 3: outputs,
 * weights and all gradients. Three memories, of which the second is missing. */

enum
{
  WIDTH = 8,
  MEMORIES = 3,
  QUERIES = 3
};

static const PlaitMemorySpecification specifications[MEMORIES]
    = { { .name = "0", .width = WIDTH }, { .name = "1", .width = WIDTH }, { .name = "2", .width = WIDTH } };

/* Heads of the reference's attention to contexts. */
static const char *const plain[] = { NULL }, *const contexts[] = { "context_heads", "4", NULL };

static gboolean
build (SiteStand *stand, const char *combiner, const char *const *keys, gint norm,
       const PlaitMemorySpecification *memories, guint n, GError **error)
{
  PlaitDecoderSettings decoder = plait_specimen_decoder (0);

  decoder.norm = norm;
  decoder.attention_bias = norm == PLAIT_DECODER_NORM_POST; /* so the reference has it */
  site_stand_begin (stand, decoder, combiner, keys);
  stand->build.memories = memories;
  stand->build.n_memories = n;
  return site_stand_build (stand, WIDTH, error);
}

/* Sets the site's parameters to those of the case, or checks their gradients. */
static void
visit (const PlaitDeclaredSite *site, const char *name,
       void (*attention) (const PlaitAttention *attention, const char *the_case, const char *name),
       void (*norm) (const PlaitNorm *norm, const char *the_case, const char *name))
{
  gboolean many = site->n_slots > 1;
  const PlaitReader *reader;

  for (guint i = 0; i < MEMORIES; i++)
    {
      g_autofree char *ln = many ? g_strdup_printf ("ln/%u", i) : g_strdup ("ln");

      reader = test_reader (site, PLAIT_READS_MEMORY, i);
      if (reader)
        attention (&reader->scaled, name, plait_test_format ("attend/%u", i));
      if (site->norms[i].gain)
        norm (&site->norms[i], name, ln);
    }
  reader = test_reader (site, PLAIT_READS_JOINTLY, 0);
  if (reader)
    attention (&reader->scaled, name, "attend/0");
  reader = test_reader (site, PLAIT_READS_CONTEXTS, 0);
  if (reader)
    attention (&reader->scaled, name, "level2");
}

static void
check_combiner (const char *combiner, const char *const *settings, const char *name, gint norm)
{
  static const gint64 query_offsets[] = { 0, QUERIES }, offsets[MEMORIES][2] = { { 0, 3 }, { 0, 0 }, { 0, 4 } };
  static const char *const inputs[MEMORIES] = { "memory0", "memory1", "memory2" };
  g_auto (Bench) bench = bench_new (2);
  g_auto (SiteStand) stand = { NULL };
  PlaitMemory memories[MEMORIES] = { { NULL } };
  PlaitCapture *capture;
  PlaitSitePass pass;
  PlaitSiteStep step = { .layer = 0 };
  PlaitNode *x;

  CHECK (build (&stand, combiner, settings, norm, specifications, MEMORIES, NO_ERROR));
  visit (&stand.site, name, reference_set_attention, reference_set_norm);
  bench_begin (&bench, PLAIT_TAPE_CHECK);
  x = reference_input (&bench, name, "x");
  for (guint i = 0; i < MEMORIES; i++)
    memories[i]
        = (PlaitMemory){ .states = reference_input (&bench, name, inputs[i]), .rows = (PlaitRagged){ 1, offsets[i] } };
  capture = plait_capture_new (bench.arena, 1, MEMORIES, FALSE);
  pass = plait_site_pass (bench.tape, memories, MEMORIES, (PlaitRagged){ 1, query_offsets }, capture);
  step.keys = plait_site_project (&stand.site, bench.tape, memories);
  reference_go_back (&bench, plait_site_combine (&stand.site, &pass, &step, x).query, name);
  reference_check_output (plait_capture_find (capture, 0, NULL, 0)->weights, name, "weights0");
  reference_check_output (plait_capture_find (capture, 0, NULL, 2)->weights, name, "weights2");
  if (test_reader (&stand.site, PLAIT_READS_CONTEXTS, 0))
    reference_check_output (capture->contexts[0].weights, name, "level2");
  reference_check_input (x, name, "x");
  reference_check_input (memories[0].states, name, "memory0");
  reference_check_input (memories[2].states, name, "memory2");
  visit (&stand.site, name, reference_check_attention, reference_check_norm);
}

TEST_CASE (combiners, paper1_section_3_serial)
{
  check_combiner ("serial", plain, "combiner/serial_pre_304", PLAIT_DECODER_NORM_PRE);
}

TEST_CASE (combiners, paper1_equation_4_parallel)
{
  check_combiner ("parallel", plain, "combiner/parallel_post_304", PLAIT_DECODER_NORM_POST);
}

TEST_CASE (combiners, paper1_equations_5_and_6_flat)
{
  check_combiner ("flat", plain, "combiner/flat_post_304", PLAIT_DECODER_NORM_POST);
}

TEST_CASE (combiners, paper1_equations_7_and_8_hierarchical)
{
  check_combiner ("hierarchical", contexts, "combiner/hierarchical_pre_304", PLAIT_DECODER_NORM_PRE);
}

TEST_CASE (combiners, more_memories_than_a_softmax_takes_are_refused)
{
  PlaitMemorySpecification many[65];
  g_auto (SiteStand) fits = { NULL }, joint = { NULL }, apart = { NULL };
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < 65; i++)
    many[i] = (PlaitMemorySpecification){ .name = g_strdup_printf ("%u", i), .width = WIDTH };
  CHECK (build (&fits, "flat", plain, PLAIT_DECODER_NORM_PRE, many, 64, NO_ERROR));
  CHECK (build (&apart, "serial", plain, PLAIT_DECODER_NORM_PRE, many, 65, NO_ERROR));
  CHECK (!build (&joint, "flat", plain, PLAIT_DECODER_NORM_PRE, many, 65, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "one softmax over 65 memories, at most 64 can share one");
  for (guint i = 0; i < 65; i++)
    g_free ((char *)many[i].name);
}

TEST_CASE (combiners, sentinels_are_refused_in_a_transformer_decoder)
{
  static const char *const names[] = { "flat", "hierarchical" };
  static const char *const sentinel[] = { "sentinel", "true", NULL };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_auto (SiteStand) stand = { NULL };
      g_autoptr (GError) error = NULL;

      CHECK (!build (&stand, names[i], sentinel, PLAIT_DECODER_NORM_PRE, specifications, MEMORIES, &error));
      CHECK_ERROR (error, PLAIT_ERROR_INPUT,
                   "a sentinel was asked for, but a Transformer decoder has none: set sentinel=false, or "
                   "decoder.type=gru or lstm");
    }
}
