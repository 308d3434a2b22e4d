/* SPDX-License-Identifier: MIT */
#include "search-stand.h"

#include "harness.h"

#include <math.h>

const char *const search_stand_combiners[] = { "serial", "parallel", "flat", "hierarchical", "descent" };

static const gint64 in_first[] = { 4, 2, 1 };
static const gint64 in_second[] = { 3, 0, 0 };
const gint64 *const search_stand_lengths[] = { in_first, in_second };
const gint64 search_stand_targets[] = { 3, 1, 4 };

void
search_stand_clear (SearchStand *stand)
{
  plait_specimen_free (stand->model);
  plait_pool_free (stand->pool);
  plait_registry_free (stand->registry);
}

SearchStand
search_stand_with (const char *first, const char *combiner_name, PlaitDecoderSettings settings,
                   const char *coverage_name, gboolean sentinel)
{
  SearchStand stand = { plait_registry_new (), NULL, NULL };
  PlaitPlugin *encoder = test_plugin (stand.registry, PLAIT_PLUGIN_ENCODER, "transformer");
  PlaitPlugin *combiner = test_plugin (stand.registry, PLAIT_PLUGIN_COMBINER, combiner_name);
  g_autoptr (PlaitSettings) encoder_settings = plait_specimen_settings (encoder);
  g_autoptr (PlaitSettings) combiner_settings = plait_specimen_settings (combiner);
  PlaitPlugin *over = first ? test_plugin (stand.registry, PLAIT_PLUGIN_ENCODER, first) : NULL;
  g_autoptr (PlaitSettings) over_settings = over ? plait_specimen_settings (over) : NULL;
  PlaitSpecimenSource sources[]
      = { { .encoder = encoder, .settings = encoder_settings }, { .encoder = encoder, .settings = encoder_settings } };
  PlaitPlugin *coverage = coverage_name ? test_plugin (stand.registry, PLAIT_PLUGIN_COVERAGE, coverage_name) : NULL;
  g_autoptr (PlaitSettings) coverage_settings = coverage ? plait_specimen_settings (coverage) : NULL;
  PlaitSpecimenDecoder decoder = { combiner, combiner_settings, coverage, coverage_settings, settings };

  if (sentinel)
    CHECK (plait_settings_set (combiner_settings, "sentinel", "true", NULL));
  if (over)
    sources[0] = (PlaitSpecimenSource){ over, over_settings, encoder, encoder_settings };
  stand.model = plait_specimen_new (sources, 2, &decoder, 11, NO_ERROR);
  /* Not before plugins are tried in a forked child, which AddressSanitizer does not survive while threads start. */
  stand.pool = plait_pool_new (2, NULL);
  return stand;
}

SearchStand
search_stand_over (const char *first, const char *combiner, guint decoder, const char *coverage, gboolean sentinel)
{
  return search_stand_with (first, combiner, plait_specimen_decoder (decoder), coverage, sentinel);
}

SearchStand
search_stand_new (const char *combiner, guint decoder, const char *coverage, gboolean sentinel)
{
  return search_stand_over (g_str_equal (combiner, "descent") ? "pyramid" : NULL, combiner, decoder, coverage,
                            sentinel);
}

PlaitDecodeSettings
search_stand_settings (gint64 beam)
{
  PlaitDecodeSettings settings;

  plait_setting_group_defaults (&plait_decode_group, &settings);
  settings.beam = beam;
  settings.n_best = beam;
  settings.maximum_length = 7;
  return settings;
}

PlaitBatch *
search_stand_forced (const SearchStand *stand, const PlaitHypotheses *hypotheses, guint place)
{
  gint64 found[3];
  PlaitBatch *batch;

  for (gint64 s = 0; s < 3; s++)
    found[s] = hypotheses[s].hypotheses[place].length;
  batch = plait_specimen_batch (stand->model, 0, 3, search_stand_lengths, found);
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
search_stand_steps (const PlaitHypothesis *hypothesis)
{
  return hypothesis->length + (hypothesis->ended ? 1 : 0);
}

void
search_stand_check (SearchStand *stand, PlaitSearch *search, const PlaitHypotheses *hypotheses, guint place)
{
  g_autoptr (PlaitBatch) batch = search_stand_forced (stand, hypotheses, place);
  double rows[64];

  CHECK (plait_search_forced (search, batch, rows, NULL, FALSE, NO_ERROR));
  for (gint64 s = 0; s < 3; s++)
    {
      const PlaitHypothesis *hypothesis = &hypotheses[s].hypotheses[place];
      double sum = 0;

      for (gint64 t = 0; t < search_stand_steps (hypothesis); t++)
        sum += rows[batch->target_rows.offsets[s] + t];
      CHECK_NEAR (hypothesis->log_probability, sum, 1e-4 * (1 + fabs (sum)));
    }
}

PlaitBatch *
search_stand_batch (const SearchStand *stand)
{
  return plait_specimen_batch (stand->model, 0, 3, search_stand_lengths, search_stand_targets);
}
