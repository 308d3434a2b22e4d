/* SPDX-License-Identifier: MIT */
#include "experiment/resolution.h"

#include <string.h>

#include "files/path.h"
#include "foreign/safetensors.h"

static const char *const group_names[]
    = { "experiment", "data",  "source NAME", "predict",  "decoder", "combiner", "coverage",
        "output",     "train", "decode",      "evaluate", "bench",   "grid",     NULL };

void
plait_resolution_problem (const PlaitResolution *resolution, const char *group, const char *key, const char *format,
                          ...)
{
  va_list arguments;

  va_start (arguments, format);
  plait_problems_add_key_va (resolution->problems, resolution->file, group, key, format, arguments);
  va_end (arguments);
}

/* Returns the plugin of @component as a text KIND/NAME. (transfer full) */
static char *
full_name (const PlaitComponent *component)
{
  return g_strdup_printf ("%s/%s", plait_plugin_kind_name (component->plugin->kind), component->plugin->name);
}

/* Returns the argument of plait inspect that shows the keys of @group. (transfer full) */
static char *
inspect_name (const PlaitResolution *resolution, const char *group)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;
  const PlaitComponent *parts[] = { experiment->combiner, experiment->coverage, experiment->output };

  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    if (parts[i] && g_str_equal (group, parts[i]->group))
      return full_name (parts[i]);
  for (guint i = 0; i < resolution->experiment->sources->len; i++)
    {
      const PlaitParsedSource *source = resolution->experiment->sources->pdata[i];

      for (const PlaitComponent *component = source->encoder; component; component = component->leaves)
        if (g_str_equal (group, component->group))
          return full_name (component);
    }
  return g_strdup (g_str_has_prefix (group, PLAIT_SOURCE_PREFIX) ? "source" : group);
}

gboolean
plait_resolution_any_alternative (const PlaitResolution *resolution, PlaitPluginKind kind,
                                  gboolean (*found) (const PlaitSchema *schema, gconstpointer data), gconstpointer data)
{
  g_autofree char *prefix = g_strdup_printf ("%s ", plait_plugin_kind_name (kind));

  for (guint i = 0; resolution->resolver->alternatives && resolution->resolver->alternatives[i]; i++)
    {
      const char *alternative = resolution->resolver->alternatives[i];
      PlaitPlugin *plugin
          = g_str_has_prefix (alternative, prefix)
                ? plait_registry_find (resolution->resolver->registry, kind, alternative + strlen (prefix), NULL)
                : NULL;

      if (plugin && found (plugin->schema, data))
        return TRUE;
    }
  return FALSE;
}

static gboolean
has_parameter (const PlaitSchema *schema, gconstpointer name)
{
  return plait_schema_parameter (schema, name) != NULL;
}

gboolean
plait_resolution_is_alternative (const PlaitResolution *resolution, const char *group, const char *key,
                                 gconstpointer data)
{
  return plait_resolution_any_alternative (resolution, *(const PlaitPluginKind *)data, has_parameter, key);
}

static void
unknown_key (const PlaitResolution *resolution, const char *group, const char *key, const PlaitSettings *settings)
{
  g_autofree char *name = inspect_name (resolution, group);
  g_autofree char *otherwise = plait_settings_n (settings) == 0
                                   ? g_strdup_printf ("%s has no parameters", name)
                                   : g_strdup_printf ("plait inspect %s lists the keys", name);
  g_autofree char *remedy = plait_settings_remedy (settings, key, otherwise);

  plait_resolution_problem (resolution, group, key, "no such key; %s", remedy);
}

void
plait_resolution_read_group (const PlaitResolution *resolution, const char *group, PlaitSettings *settings,
                             PlaitOtherKey other, gconstpointer data)
{
  const char *const *keys = plait_key_file_keys (resolution->file, group);

  for (guint i = 0; keys[i]; i++)
    {
      g_autoptr (GError) fault = NULL;

      if (plait_settings_find (settings, keys[i]) < 0)
        {
          if (!other || !other (resolution, group, keys[i], data))
            unknown_key (resolution, group, keys[i], settings);
        }
      else if (!plait_settings_set (settings, keys[i], plait_key_file_value (resolution->file, group, keys[i]), &fault))
        plait_resolution_problem (resolution, group, keys[i], "%s", fault->message);
    }
  for (guint i = 0; i < plait_settings_n (settings); i++)
    {
      const PlaitSettingSpecification *specification = plait_settings_specification (settings, i);

      if (!plait_settings_text_at (settings, i) && !plait_key_file_value (resolution->file, group, specification->name))
        {
          g_autofree char *expectation = plait_setting_expectation (specification);
          plait_resolution_problem (resolution, group, NULL, "%s is missing (%s); add %s= and %s", specification->name,
                                    specification->summary, specification->name, expectation);
        }
    }
}

/* Sets other default values if [train] names an optimizer that needs them. */
static void
suit_optimizer (const PlaitResolution *resolution, PlaitSettings *train)
{
  static const char *const defaults[][3] = {
    { "adadelta", "learning_rate", "1" }, { "adadelta", "schedule", "constant" }, { "adadelta", "warm_up", "0" },
    { "adamw", "weight_decay", "0.01" },  { "lion", "learning_rate", "0.0001" },  { "lion", "schedule", "constant" },
    { "lion", "beta2", "0.99" },
  };
  const char *optimizer = plait_key_file_value (resolution->file, "train", "optimizer");

  for (guint i = 0; i < G_N_ELEMENTS (defaults); i++)
    if (g_strcmp0 (optimizer, defaults[i][0]) == 0)
      plait_settings_set (train, defaults[i][1], defaults[i][2], NULL);
}

/* Sets experiment.name to the name of the file, without folder and suffix, if the file does not set it. */
static void
name_experiment (const PlaitResolution *resolution, PlaitSettings *experiment)
{
  g_autofree char *name = plait_path_stem (plait_key_file_name (resolution->file), ".ini");

  if (*plait_settings_text (experiment, "name") == '\0')
    plait_settings_set (experiment, "name", name, NULL);
}

/* Makes the path that [@group] @key, a setting of @settings, holds absolute, since a run stores it as text. */
static void
find_path (const PlaitResolution *resolution, PlaitSettings *settings, const char *group, const char *key)
{
  const char *written = plait_settings_text (settings, key);
  g_autoptr (GError) fault = NULL;
  g_autofree char *expanded = plait_path_expand (written, &fault);
  g_autofree char *path
      = expanded && *expanded != '\0' ? g_canonicalize_filename (expanded, resolution->resolver->folder) : NULL;

  if (!expanded || (path && !plait_settings_set (settings, key, path, &fault)))
    plait_resolution_problem (resolution, group, key, "%s", fault->message);
}

static void
find_initial (const PlaitResolution *resolution, PlaitSettings *train)
{
  find_path (resolution, train, "train", "initialise");
}

static void
find_dictionary (const PlaitResolution *resolution, PlaitSettings *decode)
{
  find_path (resolution, decode, "decode", "dictionary");
}

gboolean
plait_resolution_read_host_keys (const PlaitResolution *resolution, const char *group, PlaitSettings *host)
{
  gboolean good = TRUE;

  for (guint i = 0; i < plait_settings_n (host); i++)
    {
      const char *key = plait_settings_specification (host, i)->name;
      const char *value = plait_key_file_value (resolution->file, group, key);
      g_autoptr (GError) fault = NULL;

      if (value && !plait_settings_set (host, key, value, &fault))
        {
          plait_resolution_problem (resolution, group, key, "%s", fault->message);
          good = FALSE;
        }
    }
  return good;
}

void
plait_resolution_read_plugin_keys (const PlaitResolution *resolution, const char *group, const PlaitSettings *host,
                                   PlaitComponent *component, const char *chooser)
{
  const PlaitSchema *schema = component->schema;
  PlaitPluginKind kind = schema->kind;
  guint n = schema->n_parameters, n_host = plait_settings_n (host);
  g_autofree const PlaitSettingSpecification **both = g_new (const PlaitSettingSpecification *, n + n_host);
  g_autoptr (PlaitSettings) all = NULL;

  for (guint i = 0; i < n; i++)
    {
      both[i] = schema->parameters[i];
      if (plait_settings_find (host, both[i]->name) >= 0)
        plait_resolution_problem (resolution, group, chooser,
                                  "%s has a parameter %s, which is a key of plait itself; rename it in the plugin",
                                  schema->path, both[i]->name);
    }
  for (guint i = 0; i < n_host; i++)
    both[n + i] = plait_settings_specification (host, i);
  all = plait_settings_new (both, n + n_host);
  plait_resolution_read_group (resolution, group, all, plait_resolution_is_alternative, &kind);
  for (guint i = 0; i < n; i++)
    if (plait_settings_is_given (all, i))
      plait_settings_set (component->parameters, both[i]->name, plait_settings_text_at (all, i), NULL);
}

/* Reads a core group into its struct @memory. Before reading, @suit sets defaults that depend on a key. After reading,
 * @complete fills in missing values. @check runs only if the group has no faults. All three may be NULL. */
static void
read_core_group (const PlaitResolution *resolution, const PlaitSettingGroup *group, gpointer memory,
                 void (*suit) (const PlaitResolution *resolution, PlaitSettings *settings),
                 void (*complete) (const PlaitResolution *resolution, PlaitSettings *settings),
                 void (*check) (const PlaitResolution *resolution))
{
  PlaitSettings *settings = plait_settings_new_for_group (group);
  guint problems = plait_problems_count (resolution->problems);

  if (suit)
    suit (resolution, settings);
  plait_resolution_read_group (resolution, group->name, settings,
                               group == &plait_evaluate_group ? plait_resolution_take_score : NULL, NULL);
  if (complete)
    complete (resolution, settings);
  plait_settings_fill_group (settings, group, memory);
  g_hash_table_insert (resolution->experiment->settings, (gpointer)group->name, settings);
  if (check && plait_problems_count (resolution->problems) == problems)
    check (resolution);
}

/* Reads [decoder]: the core's keys, and the parameters of the decoder that the key type names. */
static void
read_decoder (const PlaitResolution *resolution)
{
  PlaitExperiment *experiment = &resolution->experiment->public;
  const PlaitSettingGroup *group = &plait_decoder_group;
  PlaitSettings *settings = plait_settings_new_for_group (group);
  guint problems = plait_problems_count (resolution->problems);
  gboolean good = plait_resolution_read_host_keys (resolution, group->name, settings);
  g_autoptr (GError) fault = NULL;
  PlaitPlugin *plugin;

  plait_settings_fill_group (settings, group, &experiment->decoder);
  plugin = plait_registry_find (resolution->resolver->registry, PLAIT_PLUGIN_DECODER, experiment->decoder.type, &fault);
  if (!plugin)
    plait_resolution_problem (resolution, group->name, "type", "%s", fault->message);
  else
    experiment->decoder_component = plait_component_new (plugin, group->name);
  if (plugin && good)
    plait_resolution_read_plugin_keys (resolution, group->name, settings, experiment->decoder_component, "type");
  g_hash_table_insert (resolution->experiment->settings, (gpointer)group->name, settings);
  if (plait_problems_count (resolution->problems) == problems)
    plait_resolution_check_decoder (resolution);
}

static void
check_groups (const PlaitResolution *resolution)
{
  const char *const *groups = plait_key_file_groups (resolution->file);

  for (guint i = 0; groups[i]; i++)
    {
      const char *group = groups[i];

      if (g_strv_contains (group_names, group) || g_str_has_prefix (group, PLAIT_SOURCE_PREFIX))
        continue;
      g_autofree char *remedy = plait_name_remedy (group, group_names, NULL);
      gboolean source
          = g_str_has_prefix (group, "source") || plait_nearest_name (group, (const char *[]){ "source", NULL });

      plait_resolution_problem (resolution, group, NULL, "no such group; %s",
                                source ? "a source is [source NAME], such as [source en]" : remedy);
    }
}

PlaitComponent *
plait_resolution_read_part (const PlaitResolution *resolution, PlaitPluginKind kind, const char *name,
                            const char *place, const char *key, const char *group)
{
  g_autoptr (GError) fault = NULL;
  PlaitPlugin *plugin = plait_registry_find (resolution->resolver->registry, kind, name, &fault);
  PlaitComponent *component;

  if (!plugin)
    {
      plait_resolution_problem (resolution, place, key, "%s", fault->message);
      return NULL;
    }
  component = plait_component_new (plugin, group);
  plait_resolution_read_group (resolution, group, component->parameters, plait_resolution_is_alternative, &kind);
  return component;
}

/* Reads the group of a combiner, coverage or output that this experiment does not use. The group may still have
 * parameters for other cells of a grid. */
static void
read_nothing (const PlaitResolution *resolution, PlaitPluginKind kind, const char *group)
{
  g_autoptr (PlaitSettings) nothing = plait_settings_new (NULL, 0);

  plait_resolution_read_group (resolution, group, nothing, plait_resolution_is_alternative, &kind);
}

/* Reads the combiner, the coverage and the output, if a decoder predicts a sequence. */
static void
read_parts (const PlaitResolution *resolution)
{
  PlaitExperiment *experiment = &resolution->experiment->public;

  if (plait_experiment_has_decoder (experiment))
    experiment->combiner = plait_resolution_read_part (resolution, PLAIT_PLUGIN_COMBINER, experiment->decoder.combiner,
                                                       "decoder", "combiner", "combiner");
  else
    read_nothing (resolution, PLAIT_PLUGIN_COMBINER, "combiner");
  if (plait_experiment_has_decoder (experiment) && !g_str_equal (experiment->decoder.coverage, "none"))
    experiment->coverage = plait_resolution_read_part (resolution, PLAIT_PLUGIN_COVERAGE, experiment->decoder.coverage,
                                                       "decoder", "coverage", "coverage");
  else
    read_nothing (resolution, PLAIT_PLUGIN_COVERAGE, "coverage");
  if (plait_experiment_has_decoder (experiment))
    experiment->output = plait_resolution_read_part (resolution, PLAIT_PLUGIN_OUTPUT, experiment->decoder.output,
                                                     "decoder", "output", "output");
  else
    read_nothing (resolution, PLAIT_PLUGIN_OUTPUT, "output");
}

/* Sets other default metrics if the target is not text. */
static void
suit_prediction (const PlaitResolution *resolution, PlaitSettings *evaluate)
{
  const char *metrics = plait_predictions[resolution->experiment->public.predict.kind].metrics;

  if (metrics)
    plait_settings_set (evaluate, "metrics", metrics, NULL);
}

/* Adds a problem if the file train.initialise, an absolute path, is missing or cannot be read. */
static void
check_initial (const PlaitResolution *resolution)
{
  const char *path = resolution->experiment->public.train.initialise;
  g_autoptr (PlaitSafetensors) weights = NULL;
  g_autoptr (GError) fault = NULL;

  if (!(resolution->resolver->flags & PLAIT_RESOLVE_CHECK_FILES) || *path == '\0')
    return;
  weights = plait_safetensors_is_named (path) ? plait_safetensors_open (path, &fault) : NULL;
  if (fault)
    plait_resolution_problem (resolution, "train", "initialise", "%s", fault->message);
  else if (!weights && !g_file_test (path, G_FILE_TEST_IS_REGULAR))
    plait_resolution_problem (resolution, "train", "initialise",
                              "%s %s; name the file of a finished run, or a safetensors file of weights, or its index",
                              path,
                              g_file_test (path, G_FILE_TEST_EXISTS) ? "is not a regular file" : "does not exist");
}

/* Adds a problem if train.initialise_state=optimizer is impossible. Only a run stores an optimizer's state, and only
 * for its last parameters. */
static void
check_initial_state (const PlaitResolution *resolution)
{
  const PlaitTrainSettings *train = &resolution->experiment->public.train;

  if (train->initialise_state != PLAIT_TRAIN_INITIALISE_STATE_OPTIMIZER)
    return;
  if (*train->initialise == '\0' || plait_safetensors_is_named (train->initialise))
    plait_resolution_problem (resolution, "train", "initialise_state",
                              "optimizer needs a run in train.initialise; name one, or leave it at parameters");
  else if (!g_str_equal (train->initialise_checkpoint, PLAIT_CHECKPOINT_LAST))
    plait_resolution_problem (
        resolution, "train", "initialise_state",
        "a run stores the optimizer's state only for its last parameters; set initialise_checkpoint=last");
  else if (plait_schedule_has_end (train))
    plait_resolution_problem (resolution, "train", "initialise_state",
                              "a %s schedule ends at its last update and cannot continue from there; choose another, "
                              "or leave it at parameters",
                              plait_experiment_value (&resolution->experiment->public, "train", "schedule"));
}

/* Finds the file of the name map train.initialise_map. */
static void
find_name_map (const PlaitResolution *resolution)
{
  PlaitExperiment *experiment = &resolution->experiment->public;
  const PlaitTrainSettings *train = &experiment->train;
  g_autoptr (GError) fault = NULL;

  if (*train->initialise_map == '\0')
    return;
  experiment->name_map
      = plait_registry_find_text (resolution->resolver->registry, PLAIT_NAME_MAP_FOLDER, train->initialise_map, &fault);
  if (!(resolution->resolver->flags & PLAIT_RESOLVE_CHECK_FILES))
    return;
  if (!experiment->name_map)
    plait_resolution_problem (resolution, "train", "initialise_map", "%s", fault->message);
  else if (!plait_safetensors_is_named (train->initialise))
    plait_resolution_problem (resolution, "train", "initialise_map",
                              "is only for weights in NAME" PLAIT_SAFETENSORS_SUFFIX
                              " or in files with the index NAME" PLAIT_SAFETENSORS_INDEX_SUFFIX
                              ", but train.initialise names neither; to begin with a run, leave this key out");
}

/* Adds a problem if @checkpoint, the value of [@group] @key, is not the name of a checkpoint. */
static void
check_checkpoint_name (const PlaitResolution *resolution, const char *group, const char *key, const char *checkpoint)
{
  if (!g_str_equal (checkpoint, PLAIT_CHECKPOINT_BEST) && !g_str_equal (checkpoint, PLAIT_CHECKPOINT_LAST)
      && !g_str_equal (checkpoint, PLAIT_CHECKPOINT_AVERAGE) && plait_checkpoint_update (checkpoint) == 0)
    plait_resolution_problem (resolution, group, key,
                              "\"%s\" is not a checkpoint; expected best, last, average or update-N", checkpoint);
}

static void
check_checkpoint (const PlaitResolution *resolution)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;

  check_checkpoint_name (resolution, "train", "initialise_checkpoint", experiment->train.initialise_checkpoint);
  check_checkpoint_name (resolution, "evaluate", "checkpoint", experiment->evaluate.checkpoint);
  if (plait_checkpoint_update (experiment->evaluate.checkpoint) > 0 && experiment->train.keep == 0)
    plait_resolution_problem (resolution, "evaluate", "checkpoint",
                              "%s is not kept, because train.keep is 0; set it to the number of checkpoints to keep, "
                              "or choose best, last or average",
                              experiment->evaluate.checkpoint);
  if (g_str_equal (experiment->evaluate.checkpoint, PLAIT_CHECKPOINT_AVERAGE) && experiment->train.average == 0)
    plait_resolution_problem (resolution, "evaluate", "checkpoint",
                              "there is no average to evaluate, because train.average is 0; set it to the number of "
                              "validations to average over, or choose best or last");
}

/* Adds a problem if the module of @component, the value of [@group] @key, does not load. */
static void
check_module (const PlaitResolution *resolution, const PlaitComponent *component, const char *group, const char *key)
{
  g_autoptr (GError) fault = NULL;

  if (component && !plait_plugin_load (component->plugin, &fault))
    plait_resolution_problem (resolution, group, key, "%s", fault->message);
}

static void
check_modules (const PlaitResolution *resolution)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;

  for (guint i = 0; i < experiment->n_sources; i++)
    {
      const PlaitComponent *encoder = experiment->sources[i].encoder;

      if (!encoder)
        continue;
      check_module (resolution, encoder, encoder->group, "encoder");
      check_module (resolution, encoder->leaves, encoder->group, "leaves");
    }
  if (plait_experiment_has_decoder (experiment))
    check_module (resolution, experiment->decoder_component, "decoder", "type");
  check_module (resolution, experiment->combiner, "decoder", "combiner");
  check_module (resolution, experiment->coverage, "decoder", "coverage");
  check_module (resolution, experiment->output, "decoder", "output");
}

static void
resolve (const PlaitResolution *resolution)
{
  PlaitExperiment *experiment = &resolution->experiment->public;
  guint before = plait_problems_count (resolution->problems);

  check_groups (resolution);
  read_core_group (resolution, &plait_experiment_group, &experiment->experiment, NULL, name_experiment, NULL);
  experiment->name = experiment->experiment.name;
  plait_resolution_read_sources (resolution);
  plait_resolution_read_data (resolution);
  read_core_group (resolution, &plait_predict_group, &experiment->predict, NULL, NULL, NULL);
  read_decoder (resolution);
  read_parts (resolution);
  if (plait_problems_count (resolution->problems) == before)
    {
      plait_resolution_check_compatibility (resolution);
      plait_resolution_check_training_files (resolution);
    }
  if (resolution->resolver->flags & PLAIT_RESOLVE_COUNT_LINES)
    plait_resolution_check_lines (resolution);
  if (resolution->resolver->flags & PLAIT_RESOLVE_LOAD_MODULES)
    check_modules (resolution);
  read_core_group (resolution, &plait_train_group, &experiment->train, suit_optimizer, find_initial,
                   plait_resolution_check_train);
  check_initial (resolution);
  check_initial_state (resolution);
  find_name_map (resolution);
  read_core_group (resolution, &plait_decode_group, &experiment->decode, NULL, find_dictionary,
                   plait_resolution_check_decode);
  read_core_group (resolution, &plait_evaluate_group, &experiment->evaluate, suit_prediction, NULL,
                   plait_resolution_check_evaluate);
  plait_resolution_check_scores (resolution);
  check_checkpoint (resolution);
  if (resolution->resolver->flags & PLAIT_RESOLVE_CHECK_FILES)
    plait_resolution_check_references (resolution);
  read_core_group (resolution, &plait_bench_group, &experiment->bench, NULL, NULL, plait_resolution_check_bench);
}

void
plait_experiment_free (PlaitExperiment *public)
{
  PlaitExperimentPrivate *experiment = (PlaitExperimentPrivate *)public;

  if (!experiment)
    return;
  g_hash_table_unref (experiment->settings);
  plait_component_free (public->decoder_component);
  plait_component_free (public->combiner);
  plait_component_free (public->coverage);
  plait_component_free (public->output);
  g_ptr_array_unref (experiment->sources);
  g_array_unref (experiment->used);
  g_clear_pointer (&experiment->vocabulary_texts, g_array_unref);
  g_array_unref (experiment->scores);
  g_string_chunk_free (experiment->score_texts);
  g_clear_pointer (&experiment->data, plait_parsed_data_free);
  g_free (public->head_rules);
  g_free (public->name_map);
  g_free (public->path);
  g_free (experiment);
}

/*
 * Functions of the resolver
 */

/* Adds the plugins among which the axes of [grid] choose. */
static void
add_choices (GPtrArray *names, const PlaitKeyFile *file)
{
  const char *const *keys = plait_key_file_keys (file, PLAIT_GRID_GROUP);

  for (guint i = 0; keys[i]; i++)
    {
      gboolean encoder = g_str_has_prefix (keys[i], "source.")
                         && (g_str_has_suffix (keys[i], ".encoder") || g_str_has_suffix (keys[i], ".leaves"));
      const char *kind = encoder                                     ? "encoder"
                         : g_str_equal (keys[i], "decoder.combiner") ? "combiner"
                         : g_str_equal (keys[i], "decoder.coverage") ? "coverage"
                         : g_str_equal (keys[i], "decoder.output")   ? "output"
                                                                     : NULL;
      g_auto (GStrv) values = kind ? plait_key_file_list (file, PLAIT_GRID_GROUP, keys[i]) : NULL;

      for (guint v = 0; values && values[v]; v++)
        g_ptr_array_add (names, g_strdup_printf ("%s %s", kind, values[v]));
    }
}

/* Returns the plugins whose parameters a file may contain although it does not use the plugins, as "combiner NAME" or
 * "encoder NAME"; NULL-terminated. These are the choices of the grid, and all decoders, so that a user can change
 * decoder.type alone. (transfer full) */
static char **
find_alternatives (const PlaitKeyFile *file, const PlaitRegistry *registry)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();

  if (file)
    add_choices (names, file);
  for (guint i = 0; i < plait_registry_n_plugins (registry); i++)
    if (plait_registry_plugin (registry, i)->kind == PLAIT_PLUGIN_DECODER)
      g_ptr_array_add (names, g_strdup_printf ("decoder %s", plait_registry_plugin (registry, i)->name));
  g_ptr_array_add (names, NULL);
  return (char **)g_ptr_array_free (g_steal_pointer (&names), FALSE);
}

PlaitResolver *
plait_resolver_new (const PlaitKeyFile *file, const char *path, PlaitResolveFlags flags, PlaitRegistry *registry)
{
  PlaitResolver *resolver = g_new0 (PlaitResolver, 1);

  resolver->folder = file ? plait_experiment_folder (path) : g_strdup ("/");
  resolver->alternatives = find_alternatives (file, registry);
  resolver->flags = flags;
  resolver->registry = registry;
  resolver->lines = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  resolver->scorable = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  return resolver;
}

void
plait_resolver_free (PlaitResolver *resolver)
{
  if (!resolver)
    return;
  g_hash_table_unref (resolver->lines);
  g_hash_table_unref (resolver->scorable);
  g_strfreev (resolver->alternatives);
  g_free (resolver->folder);
  g_free (resolver);
}

PlaitExperiment *
plait_resolver_resolve (const PlaitResolver *resolver, const PlaitKeyFile *file, PlaitProblems *problems)
{
  guint before = plait_problems_count (problems);
  PlaitExperimentPrivate *inside = g_new0 (PlaitExperimentPrivate, 1);
  g_autoptr (PlaitExperiment) experiment = &inside->public;
  PlaitResolution resolution = { resolver, file, problems, inside };

  inside->settings = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, (GDestroyNotify)plait_settings_free);
  inside->sources = g_ptr_array_new_with_free_func (plait_parsed_source_free);
  inside->used = g_array_new (FALSE, FALSE, sizeof (PlaitExperimentSource));
  inside->scores = g_array_new (FALSE, FALSE, sizeof (PlaitExperimentScore));
  inside->score_texts = g_string_chunk_new (256);
  experiment->path = g_strdup (plait_key_file_name (file));
  resolve (&resolution);
  return plait_problems_count (problems) == before ? g_steal_pointer (&experiment) : NULL;
}
