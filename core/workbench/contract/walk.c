/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "contract/case.h"

/* The models in which a plugin is held to a property: with its defaults under every decoder, and with each of its other
 * choices. */

/* With this seed no ReLU of theirs stands near its kink, where finite differences are wrong. */
#define SEED 6
#define MOST_SOURCES 3

static const char *const types[] = { "transformer", "gru", "lstm" }; /* PlaitDecoderType */

/* The first decoder of each type. */
static const guint firsts[G_N_ELEMENTS (types)]
    = { PLAIT_SPECIMEN_TRANSFORMER, PLAIT_SPECIMEN_GRU, PLAIT_SPECIMEN_LSTM };

static PlaitSpecimenSource
source_of (const PlaitContract *contract, PlaitPlugin *encoder, PlaitSettings *settings)
{
  PlaitSpecimenSource source = { .encoder = encoder, .settings = settings };

  if (encoder->schema->requires_leaves)
    {
      source.leaves = contract->tokens.plugin;
      source.leaves_settings = contract->tokens.settings;
    }
  return source;
}

/* What stands at source @i of @n: an encoder first and last, with another between them; before all else, what carries
 * the structure that it requires, which one may lack where one memory is enough. */
static PlaitSpecimenSource
source_at (const PlaitContract *contract, PlaitSettings *settings, guint i, guint n)
{
  const PlaitSchema *schema = contract->plugin->schema;
  const PlaitCompanion *carrying = &contract->carrying, *tokens = &contract->tokens;
  gboolean between = n == 3 && i == 1;

  if (schema->kind == PLAIT_PLUGIN_ENCODER && !between)
    return source_of (contract, contract->plugin, settings);
  if (schema->kind == PLAIT_PLUGIN_ENCODER || (between && schema->one_memory_is_enough))
    return source_of (contract, tokens->plugin, tokens->settings);
  return source_of (contract, carrying->plugin, carrying->settings);
}

static PlaitSpecimen *
build (const PlaitContract *contract, PlaitSettings *settings, guint decoder_number, guint n, GError **error)
{
  PlaitPlugin *plugin = contract->plugin;
  PlaitSpecimenSource sources[MOST_SOURCES];
  PlaitSpecimenDecoder decoder = {
    .combiner = contract->combiner.plugin,
    .combiner_settings = contract->combiner.settings,
    .settings = plait_specimen_decoder (decoder_number),
  };

  for (guint i = 0; i < n; i++)
    sources[i] = source_at (contract, settings, i, n);
  if (plugin->kind == PLAIT_PLUGIN_COMBINER)
    {
      decoder.combiner = plugin;
      decoder.combiner_settings = settings;
    }
  if (plugin->kind == PLAIT_PLUGIN_COVERAGE)
    {
      decoder.coverage = plugin;
      decoder.coverage_settings = settings;
    }
  return plait_specimen_new (sources, n, &decoder, SEED, error);
}

/* @taken: the plugin did not refuse it; what it says of that is walk->refusal. */
static gboolean
hold_model (PlaitContractWalk *walk, PlaitSettings *settings, guint decoder, guint n_sources, gboolean *taken,
            GError **error)
{
  g_autoptr (GError) fault = NULL;
  g_autoptr (PlaitSpecimen) specimen = build (walk->contract, settings, decoder, n_sources, &fault);
  PlaitCase held = { .plugin = walk->contract->plugin, .specimen = specimen };

  *taken = specimen != NULL;
  if (!specimen && g_error_matches (fault, PLAIT_ERROR, PLAIT_ERROR_INPUT))
    {
      g_clear_error (&walk->refusal);
      walk->refusal = g_steal_pointer (&fault);
      return TRUE;
    }
  if (!plait_no_fault (&fault, error))
    return FALSE;
  if (!walk->property->hold (&held, error))
    return FALSE;
  walk->note->n_models += !held.nothing;
  return TRUE;
}

static gboolean
stands_in (const PlaitContractWalk *walk, guint decoder)
{
  PlaitDecoderSettings settings = plait_specimen_decoder (decoder);

  return plait_schema_allows_decoder (walk->contract->plugin->schema, types[settings.type]);
}

static gboolean
hold_defaults (PlaitContractWalk *walk, guint decoder, GError **error)
{
  g_autoptr (PlaitSettings) settings = plait_specimen_settings (walk->contract->plugin);
  PlaitDecoderSettings of = plait_specimen_decoder (decoder);

  for (guint n = walk->property->fewer_sources ? 1 : MOST_SOURCES; n <= MOST_SOURCES; n++)
    {
      gboolean taken = FALSE;

      g_snprintf (walk->note->place, sizeof walk->note->place, "[decoder] %s, %u source%s",
                  plait_specimen_decoder_text (decoder), n, n > 1 ? "s" : "");
      if (!hold_model (walk, settings, decoder, n, &taken, error))
        return FALSE;
      walk->note->n_refused += !taken;
      walk->taken[of.type] |= taken;
    }
  return TRUE;
}

/* Where no decoder of a type takes the defaults, the schema says too much. */
static gboolean
expect_types (const PlaitContractWalk *walk, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    if (!walk->taken[i] && plait_schema_allows_decoder (walk->contract->plugin->schema, types[i]))
      return plait_fail (error, PLAIT_ERROR_FAILED,
                         "its schema lets it stand in decoders of type=%s, each of which refuses its defaults (%s): "
                         "name under [requires] those that it can stand in, as decoder=",
                         types[i], walk->refusal ? walk->refusal->message : "there is none");
  return TRUE;
}

/* A choice, or a boolean, other than the standard: in the first decoder that the plugin stands in, and where decoders
 * matter to it in one of another type too. One of them may refuse it, in words that name it. */
static gboolean
hold_choice (PlaitContractWalk *walk, const char *parameter, const char *choice, GError **error)
{
  PlaitPlugin *plugin = walk->contract->plugin;
  guint most = plugin->kind == PLAIT_PLUGIN_ENCODER ? 1 : 2, tried = 0, times = 0;

  for (guint i = 0; i < G_N_ELEMENTS (firsts) && tried < most; i++)
    {
      g_autoptr (PlaitSettings) settings = plait_specimen_settings (plugin);
      guint d = firsts[i];
      gboolean taken = FALSE;

      if (!stands_in (walk, d))
        continue;
      tried++;
      g_snprintf (walk->note->place, sizeof walk->note->place, "[decoder] %s, %s=%s", plait_specimen_decoder_text (d),
                  parameter, choice);
      if (!plait_settings_set (settings, parameter, choice, error)
          || !hold_model (walk, settings, d, MOST_SOURCES, &taken, error))
        return FALSE;
      times += taken;
      if (!taken && !strstr (walk->refusal->message, parameter))
        return plait_fail (error, PLAIT_ERROR_FAILED, "it refuses this in words that do not name %s (%s)", parameter,
                           walk->refusal->message);
    }
  return times > 0
         || plait_fail (error, PLAIT_ERROR_FAILED, "it refuses this under every decoder (%s): take it out of choices=",
                        walk->refusal ? walk->refusal->message : "its schema names none");
}

static gboolean
hold_choices (PlaitContractWalk *walk, const PlaitSettingSpecification *parameter, GError **error)
{
  g_auto (GStrv) choices = NULL;

  if (parameter->type == PLAIT_SETTING_CHOICE)
    choices = g_strsplit (parameter->choices, ";", -1);
  else if (parameter->type == PLAIT_SETTING_BOOLEAN)
    choices = g_strsplit ("false;true", ";", -1);
  for (guint c = 0; choices && choices[c]; c++)
    if (g_strcmp0 (choices[c], parameter->standard) != 0 && !hold_choice (walk, parameter->name, choices[c], error))
      return FALSE;
  return TRUE;
}

static gboolean
walk_all (PlaitContractWalk *walk, GError **error)
{
  const PlaitSchema *schema = walk->contract->plugin->schema;

  if (walk->property->of_encoders && schema->kind != PLAIT_PLUGIN_ENCODER)
    return TRUE;
  for (guint d = 0; d < PLAIT_SPECIMEN_DECODERS; d++)
    if (stands_in (walk, d) && !hold_defaults (walk, d, error))
      return FALSE;
  *walk->note->place = '\0';
  if (!expect_types (walk, error))
    return FALSE;
  for (guint i = 0; i < schema->n_parameters; i++)
    if (!hold_choices (walk, schema->parameters[i], error))
      return FALSE;
  return TRUE;
}

gboolean
plait_contract_walk (gpointer data, GError **error)
{
  PlaitContractWalk *walk = data;
  gboolean held = walk_all (walk, error);

  g_clear_error (&walk->refusal);
  return held;
}
