/* SPDX-License-Identifier: MIT */
#include "harness.h"
#include "models.h"

/* What the attention sites of all decoders tell a combiner that knows plugin/site.h alone. */

typedef struct
{
  guint built;
  guint combined;
} Calls;

static Calls calls;

static gboolean
build (PlaitSite *site, gconstpointer settings, gpointer state, GError **error)
{
  PlaitSiteAttention attention = { .dropout = -1, .output_dropout = -1 };

  calls.built++;
  for (guint i = 0; i < plait_site_n_memories (site); i++)
    {
      CHECK_INT (plait_site_memory (site, i)->width, plait_site_width (site));
      plait_site_declare_residual (site, i);
      plait_site_declare_attend (site, i, &attention);
    }
  return TRUE;
}

/* As serial. */
static PlaitStream
combine (PlaitSite *site, gconstpointer settings, gconstpointer state, PlaitStream x)
{
  calls.combined++;
  for (guint i = 0; i < plait_site_n_memories (site); i++)
    {
      PlaitStream query = plait_site_normalise (site, i, x);
      PlaitContext context = plait_site_attend (site, i, query);

      CHECK_INT (query.query->value.width, plait_site_query_width (site));
      CHECK_INT (context.value->value.width, plait_site_width (site));
      x = plait_site_residual (site, i, x, context);
      CHECK_INT (x.query->value.width, plait_site_query_width (site));
      CHECK (!x.context || x.context->value.width == plait_site_width (site));
    }
  return x;
}

static void
pass_over (const PlaitSpecimen *model)
{
  static const gint64 lengths[] = { 3, 1 }, targets[] = { 2, 3 };
  const gint64 *const of_sources[] = { lengths, lengths };
  g_autoptr (PlaitBatch) batch = plait_specimen_batch (model, 0, 2, of_sources, targets);
  g_autoptr (PlaitPool) pool = plait_pool_new (1, NULL);
  g_autoptr (PlaitArena) arena = plait_arena_new (0);
  g_autoptr (PlaitTape) tape = plait_tape_new (pool, arena);
  PlaitVocabularyLossOptions options = { .scale = 1 };
  PlaitModelSums sums;

  plait_tape_begin (tape, PLAIT_TAPE_EVALUATE, plait_random_key (1, "dropout", NULL, 1));
  plait_model_loss (model->model, tape, batch, &options, &sums, NULL, NULL);
}

/* States of recurrent decoders are wider than contexts in some, and narrower in others. */
TEST_CASE (site, tells_the_widths_of_queries_and_of_contexts)
{
  static const PlaitCombinerTable table = { .build = build, .combine = combine };
  g_autoptr (PlaitRegistry) registry = plait_registry_new ();
  PlaitPlugin *encoder = test_plugin (registry, PLAIT_PLUGIN_ENCODER, "bigru");
  PlaitPlugin combiner = *test_plugin (registry, PLAIT_PLUGIN_COMBINER, "serial");
  PlaitPluginDescriptor descriptor = *combiner.descriptor;
  g_autoptr (PlaitSettings) settings = plait_specimen_settings (encoder);
  g_autoptr (PlaitSettings) combiner_settings = plait_specimen_settings (&combiner);
  PlaitSpecimenSource sources[]
      = { { .encoder = encoder, .settings = settings }, { .encoder = encoder, .settings = settings } };

  descriptor.table = &table;
  combiner.descriptor = &descriptor;
  for (guint i = 0; i < PLAIT_SPECIMEN_DECODERS; i++)
    {
      CONTEXT ("decoder %u", i);
      PlaitSpecimenDecoder decoder = { &combiner, combiner_settings, NULL, NULL, plait_specimen_decoder (i) };
      GError *error = NULL;

      calls = (Calls){ 0, 0 };
      g_autoptr (PlaitSpecimen) model = plait_specimen_new (sources, 2, &decoder, 3, &error);
      CHECK_NO_ERROR (error);
      REQUIRE (model != NULL);
      pass_over (model);
      CHECK (calls.built > 0 && calls.combined > 0);
    }
}
