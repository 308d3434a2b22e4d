/* SPDX-License-Identifier: MIT */
#include "harness.h"
#include "model/recurrent-site.h"
#include "models.h"
#include "reference.h"

#include <string.h>

/* Coverage beside additive attention to one memory, four words and three nodes, asked four times. */

#define STEPS 4
#define ROWS 7
#define WIDTH 6

/* A parameter of the coverage and the names of its gates in the reference, side by side. */
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

/* Sets the parameters to those of the case, or checks their gradients. */
static void
visit (const PlaitParameters *parameters, const PlaitRecurrentSite *site, const char *the_case,
       void (*touch) (const PlaitParameter *parameter, gint64 column, const char *the_case, const char *name))
{
  const PlaitScoredAttention *attention = &site->attend[0];
  gint64 width = site->covered[0].width;

  touch (attention->query.weight, 0, the_case, "att/W");
  touch (attention->items[0].key.weight, 0, the_case, "att/U");
  touch (attention->items[0].key.bias, 0, the_case, "att/b");
  touch (attention->vector, 0, the_case, "att/v");
  touch (site->covered[0].score.weight, 0, the_case, "cov/V");
  for (guint i = 0; i < G_N_ELEMENTS (gated); i++)
    {
      g_autofree char *name = g_strconcat ("site/attend/m/coverage/", gated[i].name, NULL);
      const PlaitParameter *parameter = plait_parameters_find (parameters, name);

      for (guint k = 0; parameter && k < 3 && gated[i].parts[k]; k++)
        {
          g_autofree char *part = g_strconcat ("cov/", gated[i].parts[k], NULL);

          touch (parameter, (gint64)k * width, the_case, part);
        }
    }
}

static void
set (const PlaitParameter *parameter, gint64 column, const char *the_case, const char *name)
{
  reference_set ((PlaitParameter *)parameter, column, the_case, name);
}

/* The sum of @x times rows @first .. of the cotangent @name. */
static PlaitNode *
weigh (Bench *bench, PlaitNode *x, const char *the_case, const char *name, gint64 first)
{
  g_autofree char *full = g_strconcat ("cotangents/", name, NULL);
  const ReferenceArray *array = reference (the_case, full);
  PlaitTensor tensor = bench_tensor (bench, x->value.rows, x->value.width, array->numbers + first * array->width);

  return plait_total (bench->tape, plait_multiply (bench->tape, x, plait_leaf (bench->tape, tensor, NULL)));
}

static void
check_coverage (const char *coverage, const char *the_case)
{
  static const gint64 rows[] = { 0, ROWS }, one[] = { 0, 1 };
  static const gint64 left[] = { -1, -1, -1, -1, 0, 4, 5 }, right[] = { -1, -1, -1, -1, 1, 2, 3 };
  const PlaitLinks links = { .left = left, .right = right };
  const PlaitRagged queries = { 1, one };
  g_autoptr (PlaitRegistry) registry = plait_registry_new ();
  g_autoptr (PlaitParameters) parameters = plait_parameters_new ();
  PlaitPlugin *serial = test_plugin (registry, PLAIT_PLUGIN_COMBINER, "serial");
  PlaitPlugin *plugin = test_plugin (registry, PLAIT_PLUGIN_COVERAGE, coverage);
  g_autoptr (PlaitSettings) settings = test_small_settings (plugin);
  g_autoptr (PlaitSettings) serial_settings = test_small_settings (serial);
  PlaitDecoderSettings decoder = test_decoder (2);
  PlaitMemorySpecification memory = { .name = "m", .width = WIDTH };
  PlaitDecoderBuild build = { .settings = &decoder,
                              .combiner = serial->descriptor->table,
                              .coverage = plugin->descriptor->table,
                              .memories = &memory,
                              .n_memories = 1,
                              .parameters = parameters };
  g_autofree gpointer own = NULL, combiner_settings = NULL;
  PlaitRecurrentSite site;
  g_autoptr (GError) error = NULL;

  if (plait_schema_parameter (plugin->schema, "width"))
    plait_settings_set (settings, "width", "3", NULL);
  build.coverage_settings = own = plait_plugin_new_settings (plugin, settings);
  build.combiner_settings = combiner_settings = plait_plugin_new_settings (serial, serial_settings);
  decoder.attention_width = 7;
  CHECK (plait_recurrent_site_build (&site, &build, WIDTH, WIDTH, "site/", &error));
  CHECK (plait_parameters_allocate (parameters, &error));
  CHECK_NO_ERROR (error);
  visit (parameters, &site, the_case, set);

  g_auto (Bench) bench = bench_new (1);
  PlaitNode *contexts[STEPS], *covered, *terms[2 * STEPS];
  PlaitScalar states[(STEPS + 1) * ROWS * 3] = { 0 }, read[STEPS * WIDTH], weights[STEPS * ROWS];

  bench_begin (&bench, PLAIT_TAPE_CHECK);
  PlaitNode *asked = reference_input (&bench, the_case, "q");
  PlaitMemory m = { .states = reference_input (&bench, the_case, "m"), .rows = { 1, rows }, .links = &links };
  PlaitScoredKeys keys = plait_recurrent_site_project (&site, bench.tape, &m);
  PlaitPairs pairs = plait_pairs (bench.tape, queries, m.rows);

  covered = plait_covered_begin (&site.covered[0], bench.tape, &pairs);
  for (gint64 t = 0; t < STEPS; t++)
    {
      PlaitCapture *capture = plait_capture_new (bench.arena, 1, 1);
      PlaitSitePass pass = plait_site_pass (bench.tape, &m, 1, queries, capture);
      gsize size = (gsize)(ROWS * site.covered[0].width);

      contexts[t]
          = plait_recurrent_site_combine (&site, &pass, &keys, &build, plait_rows (bench.tape, asked, t, 1), &covered);
      memcpy (read + t * WIDTH, contexts[t]->value.data, WIDTH * sizeof *read);
      memcpy (weights + t * ROWS, capture->memories[0].weights, ROWS * sizeof *weights);
      memcpy (states + (gsize)(t + 1) * size, covered->value.data, size * sizeof *states);
      terms[2 * t] = weigh (&bench, contexts[t], the_case, "context", t);
      terms[2 * t + 1] = weigh (&bench, covered, the_case, "coverage", (t + 1) * ROWS);
    }
  reference_check_output (read, the_case, "context");
  reference_check_output (weights, the_case, "weights");
  reference_check_output (states, the_case, "coverage");
  plait_tape_backward (bench.tape, plait_sum (bench.tape, terms, 2 * STEPS));
  visit (parameters, &site, the_case, reference_check_gradient);
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
