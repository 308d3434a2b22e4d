/* SPDX-License-Identifier: MIT */
#include "harness.h"
#include "search/search.h"
#include "models.h"
#include "autograd/layer-operators.h"

#include <string.h>

/* Tests of the cross-attention of all decoders, with a combiner that uses only interface/cross-attention.h. */

typedef struct
{
  guint built;
  guint combined;
} Calls;

static Calls calls;

static gboolean
build (PlaitCrossAttention *cross, gconstpointer settings, gpointer state, GError **error)
{
  PlaitAttendSettings attention = { PLAIT_DECODER_DROPOUT_RATES };

  calls.built++;
  for (guint i = 0; i < plait_cross_n_memories (cross); i++)
    {
      CHECK_INT (plait_cross_memory (cross, i)->width, plait_cross_width (cross));
      plait_cross_declare_residual (cross, i);
      plait_cross_declare_attend (cross, i, &attention);
    }
  return TRUE;
}

/* Computes what the combiner serial computes. */
static PlaitResidualStream
combine (PlaitCrossAttention *cross, gconstpointer settings, gconstpointer state, PlaitResidualStream x)
{
  calls.combined++;
  for (guint i = 0; i < plait_cross_n_memories (cross); i++)
    {
      PlaitResidualStream query = plait_cross_normalise (cross, i, x);
      PlaitContext context = plait_cross_attend (cross, i, query);

      CHECK_INT (query.query->value.width, plait_cross_query_width (cross));
      CHECK_INT (context.value->value.width, plait_cross_width (cross));
      x = plait_cross_residual (cross, i, x, context);
      CHECK_INT (x.query->value.width, plait_cross_query_width (cross));
      CHECK (!x.context || x.context->value.width == plait_cross_width (cross));
    }
  return x;
}

/* Builds a model with two sources and @combiner in test decoder @i (plait_fixture_decoder). */
static PlaitFixture *
model_of (PlaitRegistry *registry, PlaitPlugin *combiner, guint i)
{
  PlaitPlugin *encoder = test_plugin (registry, PLAIT_PLUGIN_ENCODER, "bigru");
  g_autoptr (PlaitSettings) settings = plait_fixture_settings (encoder);
  g_autoptr (PlaitSettings) combiner_settings = plait_fixture_settings (combiner);
  PlaitFixtureSource source = { .encoder = encoder, .settings = settings };
  PlaitFixtureDecoder decoder = plait_fixture_decoder_with (i, combiner, combiner_settings, NULL, NULL);

  return plait_fixture_new ((PlaitFixtureSource[]){ source, source }, 2, &decoder, 3, NO_ERROR);
}

static void
pass_over (const PlaitFixture *model)
{
  static const gint64 lengths[] = { 3, 1 }, targets[] = { 2, 3 };
  const gint64 *const of_sources[] = { lengths, lengths };
  g_autoptr (PlaitBatch) batch = plait_fixture_batch (model, 0, 2, of_sources, targets);
  g_autoptr (PlaitPool) pool = plait_pool_new (1, NULL);
  g_autoptr (PlaitArena) arena = plait_arena_new (0);
  g_autoptr (PlaitTape) tape = plait_tape_new (pool, arena);
  PlaitOutputLossOptions options = { .scale = 1 };
  PlaitModelSums sums;

  plait_tape_begin (tape, PLAIT_TAPE_EVALUATE, plait_random_key (1, "dropout", NULL, 1));
  plait_model_loss (model->model, tape, batch, &options, &sums, NULL, NULL);
}

/* States are wider than contexts in some recurrent decoders, and narrower in others. */
TEST_CASE (cross, tells_the_widths_of_queries_and_of_contexts)
{
  static const PlaitCombinerTable table = { .build = build, .combine = combine };
  PlaitRegistry *registry = test_registry ();
  PlaitPlugin combiner = *test_plugin (registry, PLAIT_PLUGIN_COMBINER, "serial");
  PlaitPluginDescriptor descriptor = *combiner.descriptor;

  descriptor.table = &table;
  combiner.descriptor = &descriptor;
  for (guint i = 0; i < PLAIT_FIXTURE_DECODERS; i++)
    {
      CONTEXT ("decoder %u", i);

      calls = (Calls){ 0, 0 };
      g_autoptr (PlaitFixture) model = model_of (registry, &combiner, i);
      REQUIRE (model != NULL);
      pass_over (model);
      CHECK (calls.built > 0 && calls.combined > 0);
    }
}

/*
 * Tests of a combiner that declares several attentions
 */

static gboolean
build_all (PlaitCrossAttention *cross, gconstpointer settings, gpointer state, GError **error)
{
  PlaitAttendSettings attention = { PLAIT_DECODER_DROPOUT_RATES }, again = attention;

  again.name = "again";
  plait_cross_declare_residual (cross, 0);
  for (guint i = 0; i < plait_cross_n_memories (cross); i++)
    plait_cross_declare_attend (cross, i, &attention);
  plait_cross_declare_attend (cross, 1, &again);
  plait_cross_declare_attend_jointly (cross, &attention);
  return TRUE;
}

static PlaitResidualStream
combine_all (PlaitCrossAttention *cross, gconstpointer settings, gconstpointer state, PlaitResidualStream x)
{
  PlaitResidualStream query = plait_cross_normalise (cross, 0, x);
  PlaitContext contexts[]
      = { plait_cross_attend (cross, 0, query), plait_cross_attend (cross, 1, query),
          plait_cross_attend_named (cross, "again", 1, query), plait_cross_attend_jointly (cross, query) };

  return plait_cross_residual (cross, 0, x, plait_cross_sum (cross, contexts, G_N_ELEMENTS (contexts)));
}

/* TRUE if the weights of the attentions @x and @y in layer 0, to one memory, differ. */
static gboolean
differ (const PlaitAttentionRecord *a, const PlaitRecordedAttention *x, const PlaitRecordedAttention *y)
{
  gsize n = (gsize)(x->layers->heads * plait_attention_record_pairs (a, x->memory));

  CHECK_INT (x->memory, y->memory);
  return memcmp (x->layers->weights, y->layers->weights, n * sizeof (PlaitScalar)) != 0;
}

/* Checks that each attention is recorded under its own name in all layers, and that their weights differ. If scores
 * have no @parameters, the two separate attentions to memory 1 may have equal weights. */
static void
check_names (const PlaitAttentionRecord *a, gboolean parameters)
{
  static const char *const names[] = { NULL, NULL, "again", PLAIT_RECORDED_JOINTLY, PLAIT_RECORDED_JOINTLY };
  static const guint memories[] = { 0, 1, 1, 0, 1 };
  const PlaitRecordedAttention *all[5], *next = a->attentions;

  for (guint i = 0; i < 5; i++, next = next->next)
    {
      REQUIRE (next != NULL);
      CHECK_STRING (next->name, names[i]);
      CHECK_INT (next->memory, memories[i]);
      all[i] = next;
    }
  CHECK (!next);
  for (guint l = 0; l < a->n_layers; l++)
    for (gint64 t = 0; t < plait_ragged_rows (a->queries); t++)
      {
        double sums[5] = { 0 };

        for (guint i = 0; i < 5; i++)
          {
            gint64 rows = plait_ragged_rows (a->memories[memories[i]].rows);

            for (gint64 row = 0; row < rows; row++)
              sums[i] += (double)all[i]->layers[l].weights[t * rows + row];
          }
        for (guint i = 0; i < 3; i++)
          CHECK_NEAR (sums[i], 1, 1e-5);
        CHECK_NEAR (sums[3] + sums[4], 1, 1e-5);
      }
  CHECK (differ (a, all[1], all[4]) && differ (a, all[0], all[3]) && (differ (a, all[1], all[2]) || !parameters));
}

TEST_CASE (cross, keeps_what_each_attention_pays_by_its_name)
{
  static const PlaitCombinerTable table = { .build = build_all, .combine = combine_all };
  static const gint64 lengths[] = { 3, 2 }, targets[] = { 2, 3 };
  static const gint64 *const of_sources[] = { lengths, lengths };
  PlaitRegistry *registry = test_registry ();
  PlaitPlugin combiner = *test_plugin (registry, PLAIT_PLUGIN_COMBINER, "serial");
  PlaitPluginDescriptor descriptor = *combiner.descriptor;

  descriptor.table = &table;
  combiner.descriptor = &descriptor;
  for (guint d = 0; d < PLAIT_FIXTURE_DECODERS; d++)
    {
      CONTEXT ("decoder %u", d);
      g_autoptr (PlaitFixture) model = model_of (registry, &combiner, d);
      g_autoptr (PlaitBatch) batch = model ? plait_fixture_batch (model, 0, 2, of_sources, targets) : NULL;
      g_autoptr (PlaitPool) pool = plait_pool_new (1, NULL);
      g_autoptr (PlaitSearch) search
          = model ? plait_search_new (model->model, pool, PLAIT_PRECISION_FLOAT, 0, NULL) : NULL;
      g_autoptr (PlaitAttentionRecords) forced = NULL, found = NULL;
      gboolean parameters = !strstr (plait_fixture_decoder (d).parameters, "attention=dot");
      PlaitDecodeSettings decode;
      PlaitHypotheses *hypotheses;
      double rows[16];

      REQUIRE (search != NULL);
      plait_setting_group_defaults (&plait_decode_group, &decode);
      decode.maximum_length = 4;
      CHECK (plait_search_forced (search, batch, rows, &forced, FALSE, NULL));
      hypotheses = plait_search_batch_with_attention (search, batch, &decode, NULL, &found, 1, FALSE, NULL);
      REQUIRE (hypotheses && forced);
      for (gint64 s = 0; s < 2; s++)
        {
          check_names (forced->of[s], parameters);
          check_names (found->of[s], parameters);
        }
      plait_hypotheses_free (hypotheses, 2);
    }
}
