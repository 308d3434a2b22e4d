/* SPDX-License-Identifier: MIT */
#include "search-fixture.h"

#include "harness.h"

#include <math.h>

const char *const search_fixture_combiners[] = { "serial", "parallel", "flat", "hierarchical", "descent" };

static const gint64 in_first[] = { 4, 2, 1 };
static const gint64 in_second[] = { 3, 0, 0 };
const gint64 *const search_fixture_lengths[] = { in_first, in_second };
const gint64 search_fixture_targets[] = { 3, 1, 4 };

void
search_fixture_clear (SearchFixture *fixture)
{
  plait_fixture_free (fixture->model);
  plait_pool_free (fixture->pool);
}

SearchFixture
search_fixture_with (const char *first, const char *combiner_name, PlaitFixtureDecoder decoder,
                     const char *coverage_name, gboolean sentinel)
{
  SearchFixture fixture = { test_registry (), NULL, NULL };
  PlaitPlugin *encoder = test_plugin (fixture.registry, PLAIT_PLUGIN_ENCODER, "transformer");
  PlaitPlugin *combiner = test_plugin (fixture.registry, PLAIT_PLUGIN_COMBINER, combiner_name);
  g_autoptr (PlaitSettings) encoder_settings = plait_fixture_settings (encoder);
  g_autoptr (PlaitSettings) combiner_settings = plait_fixture_settings (combiner);
  PlaitPlugin *over = first ? test_plugin (fixture.registry, PLAIT_PLUGIN_ENCODER, first) : NULL;
  g_autoptr (PlaitSettings) over_settings = over ? plait_fixture_settings (over) : NULL;
  PlaitFixtureSource sources[]
      = { { .encoder = encoder, .settings = encoder_settings }, { .encoder = encoder, .settings = encoder_settings } };
  PlaitPlugin *coverage = coverage_name ? test_plugin (fixture.registry, PLAIT_PLUGIN_COVERAGE, coverage_name) : NULL;
  g_autoptr (PlaitSettings) coverage_settings = coverage ? plait_fixture_settings (coverage) : NULL;

  decoder.combiner = combiner;
  decoder.combiner_settings = combiner_settings;
  decoder.coverage = coverage;
  decoder.coverage_settings = coverage_settings;
  if (sentinel)
    CHECK (plait_settings_set (combiner_settings, "sentinel", "true", NULL));
  if (over)
    sources[0] = (PlaitFixtureSource){ over, over_settings, encoder, encoder_settings };
  fixture.model = plait_fixture_new (sources, 2, &decoder, 11, NO_ERROR);
  /* Start the pool after the plugins were tried in a forked child: AddressSanitizer does not survive a fork while
   * threads start. */
  fixture.pool = plait_pool_new (2, NULL);
  return fixture;
}

SearchFixture
search_fixture_over (const char *first, const char *combiner, guint decoder, const char *coverage, gboolean sentinel)
{
  return search_fixture_with (first, combiner, plait_fixture_decoder (decoder), coverage, sentinel);
}

SearchFixture
search_fixture_new (const char *combiner, guint decoder, const char *coverage, gboolean sentinel)
{
  return search_fixture_over (g_str_equal (combiner, "descent") ? "pyramid" : NULL, combiner, decoder, coverage,
                              sentinel);
}

PlaitDecodeSettings
search_fixture_settings (gint64 beam)
{
  PlaitDecodeSettings settings;

  plait_setting_group_defaults (&plait_decode_group, &settings);
  settings.beam = beam;
  settings.n_best = beam;
  settings.maximum_length = 7;
  return settings;
}

PlaitBatch *
search_fixture_forced (const SearchFixture *fixture, const PlaitHypotheses *hypotheses, guint place)
{
  gint64 found[3];
  PlaitBatch *batch;

  for (gint64 s = 0; s < 3; s++)
    found[s] = hypotheses[s].hypotheses[place].length;
  batch = plait_fixture_batch (fixture->model, 0, 3, search_fixture_lengths, found);
  for (gint64 s = 0; s < 3; s++)
    {
      const PlaitHypothesis *hypothesis = &hypotheses[s].hypotheses[place];
      gint64 row = batch->target_rows.offsets[s];

      for (gint64 t = 0; t < hypothesis->length; t++)
        {
          ((gint32 *)batch->target_inputs)[row + t + 1] = hypothesis->tokens[t];
          ((gint32 *)batch->target_outputs)[row + t] = hypothesis->tokens[t];
        }
    }
  return batch;
}

gint64
search_fixture_steps (const PlaitHypothesis *hypothesis)
{
  return hypothesis->length + (hypothesis->ended ? 1 : 0);
}

void
search_fixture_check (SearchFixture *fixture, PlaitSearch *search, const PlaitHypotheses *hypotheses, guint place)
{
  g_autoptr (PlaitBatch) batch = search_fixture_forced (fixture, hypotheses, place);
  double rows[64];

  CHECK (plait_search_forced (search, batch, rows, NULL, FALSE, NO_ERROR));
  for (gint64 s = 0; s < 3; s++)
    {
      const PlaitHypothesis *hypothesis = &hypotheses[s].hypotheses[place];
      double sum = 0;

      for (gint64 t = 0; t < search_fixture_steps (hypothesis); t++)
        sum += rows[batch->target_rows.offsets[s] + t];
      CHECK_NEAR (hypothesis->log_probability, sum, 1e-4 * (1 + fabs (sum)));
    }
}

PlaitBatch *
search_fixture_batch (const SearchFixture *fixture)
{
  return plait_fixture_batch (fixture->model, 0, 3, search_fixture_lengths, search_fixture_targets);
}
