/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "contract/case.h"

/* Models in which a property is checked: the plugin with its defaults under every decoder, and with each other value of
 * its choice and boolean parameters. */

/* A seed for which no ReLU is near its kink, where finite differences are wrong. */
#define SEED 6
#define MAX_SOURCES 3

/* The first decoder of each type. */
static const guint firsts[PLAIT_FIXTURE_TYPES] = { PLAIT_FIXTURE_TRANSFORMER, PLAIT_FIXTURE_GRU, PLAIT_FIXTURE_LSTM };

static PlaitFixtureSource
source_of (const PlaitContract *contract, PlaitPlugin *encoder, PlaitSettings *settings)
{
  PlaitFixtureSource source = { .encoder = encoder, .settings = settings };

  if (encoder->schema->requires_leaves)
    {
      source.leaves = contract->tokens.plugin;
      source.inner_settings = contract->tokens.settings;
    }
  return source;
}

/* Returns source @i of @n. Its encoder is the tested encoder or, if another plugin is tested, an encoder with the
 * structure that this plugin requires. The second of three sources has a simple encoder of tokens instead if an encoder
 * is tested, or if the tested plugin needs the structure in one memory only. */
static PlaitFixtureSource
source_at (const PlaitContract *contract, PlaitSettings *settings, guint i, guint n)
{
  const PlaitSchema *schema = contract->plugin->schema;
  const PlaitCompanion *structured = &contract->structured, *tokens = &contract->tokens;
  gboolean between = n == 3 && i == 1;

  if (schema->kind == PLAIT_PLUGIN_ENCODER && !between)
    return source_of (contract, contract->plugin, settings);
  if (schema->kind == PLAIT_PLUGIN_ENCODER || (between && schema->one_memory_is_enough))
    return source_of (contract, tokens->plugin, tokens->settings);
  return source_of (contract, structured->plugin, structured->settings);
}

static PlaitFixture *
build (const PlaitContractSweep *sweep, PlaitSettings *settings, guint decoder_number, guint n, GError **error)
{
  const PlaitContract *contract = sweep->contract;
  PlaitPlugin *plugin = contract->plugin;
  g_autoptr (PlaitSettings) small = sweep->decoder ? plait_fixture_settings (sweep->decoder) : NULL;
  PlaitFixtureSource sources[MAX_SOURCES];
  PlaitFixtureDecoder decoder = plait_fixture_decoder (decoder_number);

  decoder.plugin = sweep->decoder;
  decoder.plugin_settings = plugin->kind == PLAIT_PLUGIN_DECODER ? settings : small;
  decoder.combiner = contract->combiner.plugin;
  decoder.combiner_settings = contract->combiner.settings;
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
  if (plugin->kind == PLAIT_PLUGIN_OUTPUT)
    {
      decoder.output = plugin;
      decoder.output_settings = settings;
    }
  return plait_fixture_new (sources, n, &decoder, SEED, error);
}

/* Builds one model and checks the property in it. Sets *@taken to FALSE if the plugin refused the model; sweep->refusal
 * then has its message. */
static gboolean
check_model (PlaitContractSweep *sweep, PlaitSettings *settings, guint decoder, guint n_sources, gboolean *taken,
             GError **error)
{
  g_autoptr (GError) fault = NULL;
  g_autoptr (PlaitFixture) fixture = build (sweep, settings, decoder, n_sources, &fault);
  PlaitContractCase tested = { .plugin = sweep->contract->plugin, .fixture = fixture };

  *taken = fixture != NULL;
  if (!fixture && g_error_matches (fault, PLAIT_ERROR, PLAIT_ERROR_INPUT))
    {
      g_clear_error (&sweep->refusal);
      sweep->refusal = g_steal_pointer (&fault);
      return TRUE;
    }
  if (!plait_no_error (&fault, error))
    return FALSE;
  if (!sweep->property->check (&tested, error))
    return FALSE;
  sweep->progress->n_models += !tested.not_applicable;
  return TRUE;
}

static gboolean
stands_in (const PlaitContractSweep *sweep, guint decoder)
{
  const PlaitPlugin *plugin = sweep->contract->plugin;

  /* For sweep->decoder, use only the settings of the two Transformers: pre-norm and post-norm. */
  if (sweep->decoder)
    return decoder < PLAIT_FIXTURE_GRU;
  PlaitPlugin *of = plait_registry_find (plugin->registry, PLAIT_PLUGIN_DECODER,
                                         plait_fixture_decoder (decoder).settings.type, NULL);

  return of && plait_schema_allows_decoder (plugin->schema, of->schema);
}

/* Sets sweep->decoder. Fails if no decoder is found that the schema allows. */
static gboolean
choose_decoder (PlaitContractSweep *sweep, GError **error)
{
  PlaitPlugin *plugin = sweep->contract->plugin;

  if (plugin->kind == PLAIT_PLUGIN_DECODER)
    sweep->decoder = plugin;
  for (guint i = 0; i < PLAIT_FIXTURE_TYPES; i++)
    if (stands_in (sweep, firsts[i]))
      return TRUE;
  for (guint i = 0; i < plait_registry_n_plugins (plugin->registry) && !sweep->decoder; i++)
    {
      PlaitPlugin *other = plait_registry_plugin (plugin->registry, i);
      const PlaitSchema *schema = other->kind == PLAIT_PLUGIN_DECODER ? plait_plugin_schema (other, NULL) : NULL;

      if (schema && plait_schema_allows_decoder (plugin->schema, schema))
        sweep->decoder = other;
    }
  return sweep->decoder
         || plait_fail (error, PLAIT_ERROR_FAILED,
                        "plait finds no decoder that the plugin's schema allows: correct decoder= or attention= under "
                        "[requires], or put a decoder that it allows into a folder that \"plait plugins\" lists");
}

/* Returns the settings of test decoder @decoder, as in [decoder]; sweep->decoder replaces the type. (transfer full) */
static char *
decoder_text (const PlaitContractSweep *sweep, guint decoder)
{
  const char *parameters = plait_fixture_decoder (decoder).parameters;

  return sweep->decoder ? g_strconcat ("type=", sweep->decoder->name, strchr (parameters, ' '), NULL)
                        : g_strdup (parameters);
}

/* Returns the type of test decoder @decoder, as an index in firsts. */
static guint
type_of (guint decoder)
{
  guint type = 0;

  while (type + 1 < PLAIT_FIXTURE_TYPES && firsts[type + 1] <= decoder)
    type++;
  return type;
}

static gboolean
check_defaults (PlaitContractSweep *sweep, guint decoder, GError **error)
{
  g_autoptr (PlaitSettings) settings = plait_fixture_settings (sweep->contract->plugin);
  g_autofree char *of = decoder_text (sweep, decoder);

  for (guint n = sweep->property->fewer_sources ? 1 : MAX_SOURCES; n <= MAX_SOURCES; n++)
    {
      gboolean taken = FALSE;

      g_snprintf (sweep->progress->model_text, sizeof sweep->progress->model_text, "[decoder] %s, %u source%s", of, n,
                  n > 1 ? "s" : "");
      if (!check_model (sweep, settings, decoder, n, &taken, error))
        return FALSE;
      sweep->progress->n_refused += !taken;
      sweep->taken[type_of (decoder)] |= taken;
    }
  return TRUE;
}

/* Fails if the plugin, with its defaults, refused all test decoders of a type that its schema allows. */
static gboolean
expect_types (const PlaitContractSweep *sweep, GError **error)
{
  for (guint i = 0; i < PLAIT_FIXTURE_TYPES; i++)
    if (!sweep->taken[i] && stands_in (sweep, firsts[i]))
      return plait_fail (error, PLAIT_ERROR_FAILED,
                         "the plugin's schema allows decoders of type=%s, but the plugin's defaults work with none of "
                         "them (%s): list the supported decoders under [requires], as decoder=A;B",
                         sweep->decoder ? sweep->decoder->name : plait_fixture_decoder (firsts[i]).settings.type,
                         sweep->refusal ? sweep->refusal->message : "no message");
  return TRUE;
}

/* Checks the property with @choice, which is not the default of @parameter. The models have the first decoder of each
 * type that the schema allows, but there are at most two models, and only one for an encoder or a decoder. Also fails
 * if the plugin refuses all models, or if the message of a refusal does not name @parameter. */
static gboolean
check_choice_of_plugin (PlaitContractSweep *sweep, const char *parameter, const char *choice, GError **error)
{
  PlaitPlugin *plugin = sweep->contract->plugin;
  guint max = plugin->kind == PLAIT_PLUGIN_ENCODER ? 1 : 2, tried = 0, times = 0;

  for (guint i = 0; i < G_N_ELEMENTS (firsts) && tried < max; i++)
    {
      g_autoptr (PlaitSettings) settings = plait_fixture_settings (plugin);
      guint d = firsts[i];
      g_autofree char *of = decoder_text (sweep, d);
      gboolean taken = FALSE;

      if (!stands_in (sweep, d))
        continue;
      tried++;
      g_snprintf (sweep->progress->model_text, sizeof sweep->progress->model_text, "[decoder] %s, %s=%s", of, parameter,
                  choice);
      if (!plait_settings_set (settings, parameter, choice, error)
          || !check_model (sweep, settings, d, MAX_SOURCES, &taken, error))
        return FALSE;
      times += taken;
      if (!taken && !strstr (sweep->refusal->message, parameter))
        return plait_fail (error, PLAIT_ERROR_FAILED,
                           "the plugin refuses this value, but its message does not name the parameter %s (%s): name "
                           "the parameter there",
                           parameter, sweep->refusal->message);
    }
  return times > 0
         || plait_fail (error, PLAIT_ERROR_FAILED,
                        "the plugin refuses this value under every decoder (%s): remove the value from choices=",
                        sweep->refusal ? sweep->refusal->message : "no message");
}

static gboolean
check_choices_of_plugin (PlaitContractSweep *sweep, const PlaitSettingSpecification *parameter, GError **error)
{
  g_auto (GStrv) choices = NULL;

  if (parameter->type == PLAIT_SETTING_CHOICE)
    choices = g_strsplit (parameter->choices, ";", -1);
  else if (parameter->type == PLAIT_SETTING_BOOLEAN)
    choices = g_strsplit ("false;true", ";", -1);
  for (guint c = 0; choices && choices[c]; c++)
    if (g_strcmp0 (choices[c], parameter->standard) != 0
        && !check_choice_of_plugin (sweep, parameter->name, choices[c], error))
      return FALSE;
  return TRUE;
}

static gboolean
sweep_all (PlaitContractSweep *sweep, GError **error)
{
  const PlaitSchema *schema = sweep->contract->plugin->schema;

  if (sweep->property->kinds && !(sweep->property->kinds & 1u << schema->kind))
    return TRUE;
  if (!choose_decoder (sweep, error))
    return FALSE;
  for (guint d = 0; d < PLAIT_FIXTURE_DECODERS; d++)
    if (stands_in (sweep, d) && !check_defaults (sweep, d, error))
      return FALSE;
  *sweep->progress->model_text = '\0';
  if (!expect_types (sweep, error))
    return FALSE;
  for (guint i = 0; i < schema->n_parameters; i++)
    if (!check_choices_of_plugin (sweep, schema->parameters[i], error))
      return FALSE;
  return TRUE;
}

gboolean
plait_contract_sweep (gpointer data, GError **error)
{
  PlaitContractSweep *sweep = data;
  gboolean tested = sweep_all (sweep, error);

  g_clear_error (&sweep->refusal);
  return tested;
}
