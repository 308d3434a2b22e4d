/* SPDX-License-Identifier: MIT */
#include "model/transformer-site.h"
#include "models.h"
#include "reference.h"

/* The combiners as plugins, each at a site of one layer, against a float64 reference of the paper's section 3: outputs,
 * weights and all gradients. Three memories, of which the second is missing. */

enum
{
  WIDTH = 8,
  MEMORIES = 3,
  QUERIES = 3
};

typedef struct
{
  PlaitRegistry *registry;
  PlaitParameters *parameters;
  PlaitPlugin *plugin;
  gpointer settings;
  PlaitTransformerSite site;
} Stand;

static void
stand_clear (Stand *stand)
{
  g_free (stand->settings);
  plait_parameters_free (stand->parameters);
  plait_registry_free (stand->registry);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Stand, stand_clear)

static const PlaitMemorySpecification specifications[MEMORIES]
    = { { .name = "0", .width = WIDTH }, { .name = "1", .width = WIDTH }, { .name = "2", .width = WIDTH } };

static gboolean
build (Stand *stand, const char *combiner, gint norm, const PlaitMemorySpecification *memories, guint n, GError **error)
{
  PlaitDecoderSettings decoder = test_decoder_settings ();
  g_autoptr (PlaitSettings) settings = NULL;
  const PlaitSchema *schema;

  decoder.norm = norm;
  decoder.attention_bias = norm == PLAIT_NORM_POST; /* so the reference has it */
  stand->registry = plait_registry_new ();
  stand->parameters = plait_parameters_new ();
  stand->plugin = test_plugin (stand->registry, PLAIT_PLUGIN_COMBINER, combiner);
  schema = plait_plugin_schema (stand->plugin, NULL);
  settings = plait_settings_new (schema->parameters, schema->n_parameters);
  if (plait_schema_parameter (schema, "context_heads") != NULL)
    plait_settings_set (settings, "context_heads", "4", NULL);
  stand->settings = plait_plugin_new_settings (stand->plugin, settings);
  return plait_transformer_site_build (&stand->site, &decoder, stand->plugin->descriptor->table, stand->settings,
                                       memories, n, stand->parameters, "site/", error)
         && plait_parameters_allocate (stand->parameters, error);
}

/* Sets the site's parameters to those of the case, or checks their gradients. */
static void
visit (const PlaitTransformerSite *site, const char *name,
       void (*attention) (const PlaitAttention *attention, const char *the_case, const char *name),
       void (*norm) (const PlaitNorm *norm, const char *the_case, const char *name))
{
  gboolean many = site->norms[1].gain != NULL;

  for (guint i = 0; i < MEMORIES; i++)
    {
      g_autofree char *attend = g_strdup_printf ("attend/%u", i);
      g_autofree char *ln = many ? g_strdup_printf ("ln/%u", i) : g_strdup ("ln");

      if (site->attend[i].declared)
        attention (&site->attend[i].attention, name, attend);
      if (site->norms[i].gain != NULL)
        norm (&site->norms[i], name, ln);
    }
  if (site->jointly.declared)
    attention (&site->jointly.attention, name, "attend/0");
  if (site->contexts.declared)
    attention (&site->contexts.attention, name, "level2");
}

static void
check_combiner (const char *combiner, const char *name, gint norm)
{
  static const gint64 query_offsets[] = { 0, QUERIES }, offsets[MEMORIES][2] = { { 0, 3 }, { 0, 0 }, { 0, 4 } };
  static const char *const inputs[MEMORIES] = { "memory0", "memory1", "memory2" };
  g_auto (Bench) bench = bench_new (2);
  g_auto (Stand) stand = { NULL };
  PlaitMemory memories[MEMORIES] = { { NULL } };
  g_autoptr (GError) error = NULL;
  PlaitCapture *capture;
  PlaitSitePass pass;
  PlaitSiteKeys keys;
  PlaitNode *x;

  CHECK (build (&stand, combiner, norm, specifications, MEMORIES, &error));
  CHECK_NO_ERROR (error);
  visit (&stand.site, name, reference_set_attention, reference_set_norm);
  bench_begin (&bench, PLAIT_TAPE_CHECK);
  x = reference_input (&bench, name, "x");
  for (guint i = 0; i < MEMORIES; i++)
    memories[i]
        = (PlaitMemory){ .states = reference_input (&bench, name, inputs[i]), .rows = (PlaitRagged){ 1, offsets[i] } };
  capture = plait_capture_new (bench.arena, 1, MEMORIES, FALSE);
  pass = plait_site_pass (bench.tape, memories, MEMORIES, (PlaitRagged){ 1, query_offsets }, capture);
  keys = plait_transformer_site_project (&stand.site, bench.tape, memories);
  reference_go_back (
      &bench,
      plait_transformer_site_combine (&stand.site, &pass, &keys, 0, stand.plugin->descriptor->table, stand.settings, x),
      name);
  reference_check_output (capture->memories[0].weights, name, "weights0");
  reference_check_output (capture->memories[2].weights, name, "weights2");
  if (stand.site.contexts.declared)
    reference_check_output (capture->contexts[0].weights, name, "level2");
  reference_check_input (x, name, "x");
  reference_check_input (memories[0].states, name, "memory0");
  reference_check_input (memories[2].states, name, "memory2");
  visit (&stand.site, name, reference_check_attention, reference_check_norm);
}

TEST_CASE (combiners, paper1_section_3_serial)
{
  check_combiner ("serial", "combiner/serial_pre_304", PLAIT_NORM_PRE);
}

TEST_CASE (combiners, paper1_equation_4_parallel)
{
  check_combiner ("parallel", "combiner/parallel_post_304", PLAIT_NORM_POST);
}

TEST_CASE (combiners, paper1_equations_5_and_6_flat)
{
  check_combiner ("flat", "combiner/flat_post_304", PLAIT_NORM_POST);
}

TEST_CASE (combiners, paper1_equations_7_and_8_hierarchical)
{
  check_combiner ("hierarchical", "combiner/hierarchical_pre_304", PLAIT_NORM_PRE);
}

TEST_CASE (combiners, more_memories_than_a_softmax_takes_are_refused)
{
  PlaitMemorySpecification many[65];
  g_auto (Stand) fits = { NULL }, joint = { NULL }, apart = { NULL };
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < 65; i++)
    many[i] = (PlaitMemorySpecification){ .name = g_strdup_printf ("%u", i), .width = WIDTH };
  CHECK (build (&fits, "flat", PLAIT_NORM_PRE, many, 64, &error));
  CHECK (build (&apart, "serial", PLAIT_NORM_PRE, many, 65, &error));
  CHECK_NO_ERROR (error);
  CHECK (!build (&joint, "flat", PLAIT_NORM_PRE, many, 65, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "one softmax over 65 memories, at most 64 can share one");
  for (guint i = 0; i < 65; i++)
    g_free ((char *)many[i].name);
}

TEST_CASE (combiners, sentinels_are_refused_in_a_transformer_decoder)
{
  static const char *const names[] = { "flat", "hierarchical" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autoptr (PlaitRegistry) registry = plait_registry_new ();
      g_autoptr (PlaitParameters) parameters = plait_parameters_new ();
      PlaitPlugin *plugin = test_plugin (registry, PLAIT_PLUGIN_COMBINER, names[i]);
      g_autoptr (PlaitSettings) settings = test_small_settings (plugin);
      PlaitDecoderSettings decoder = test_decoder_settings ();
      g_autofree gpointer with = NULL;
      PlaitTransformerSite site;
      g_autoptr (GError) error = NULL;

      CHECK (plait_settings_set (settings, "sentinel", "true", NULL));
      with = plait_plugin_new_settings (plugin, settings);
      CHECK (!plait_transformer_site_build (&site, &decoder, plugin->descriptor->table, with, specifications, MEMORIES,
                                            parameters, "site/", &error));
      CHECK_ERROR (error, PLAIT_ERROR_INPUT,
                   "a sentinel was asked for, but a Transformer decoder has none: set sentinel=false, or "
                   "decoder.type=gru or lstm");
    }
}
