/* SPDX-License-Identifier: MIT */
#include "experiment/resolution.h"

#include "files/path.h"

/* This file resolves an experiment: it reads the groups and calls the checks. */

static const char *const group_names[]
    = { "experiment", "data",  "source NAME", "predict",  "decoder", "combiner", "coverage",
        "output",     "train", "decode",      "evaluate", "bench",   "grid",     NULL };

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

/* Sets experiment.name to the name of the file, without folder and ".ini", if the file does not set it. */
static void
name_experiment (const PlaitResolution *resolution, PlaitSettings *experiment)
{
  g_autofree char *name = plait_path_stem (plait_key_file_name (resolution->file), ".ini");

  if (*plait_settings_text (experiment, "name") == '\0')
    plait_settings_set (experiment, "name", name, NULL);
}

/* Makes the path in [@group] @key absolute, since a run stores it as text. @settings are the settings of the group. */
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

/* Reads a core group into its struct @memory. Before reading, @suit sets defaults that depend on other settings. After
 * reading, @complete replaces values, such as relative paths. @check runs only if the group has no faults. Each of
 * these functions may be NULL. */
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
  plait_resolution_check_initial (resolution);
  read_core_group (resolution, &plait_decode_group, &experiment->decode, NULL, find_dictionary,
                   plait_resolution_check_decode);
  read_core_group (resolution, &plait_evaluate_group, &experiment->evaluate, suit_prediction, NULL,
                   plait_resolution_check_evaluate);
  plait_resolution_check_scores (resolution);
  plait_resolution_check_checkpoints (resolution);
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
  g_clear_pointer (&experiment->data, plait_parsed_data_free);
  g_free (public->head_rules);
  g_free (public->name_map);
  g_free (public->path);
  g_free (experiment);
}

/*
 * Functions of the resolver
 */

/* Adds to @names the plugins, "KIND NAME", among which the axes of [grid] choose. */
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

/* Returns the plugins whose parameters a file may contain although it does not use the plugins, as "KIND NAME";
 * NULL-terminated. These are the choices of the grid, and all decoders, so that a user can change decoder.type alone.
 * (transfer full) */
static char **
find_alternatives (const PlaitKeyFile *file, const PlaitRegistry *registry)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_null_terminated (8, NULL, TRUE);

  if (file)
    add_choices (names, file);
  for (guint i = 0; i < plait_registry_n_plugins (registry); i++)
    if (plait_registry_plugin (registry, i)->kind == PLAIT_PLUGIN_DECODER)
      g_ptr_array_add (names, g_strdup_printf ("decoder %s", plait_registry_plugin (registry, i)->name));
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
  experiment->path = g_strdup (plait_key_file_name (file));
  resolve (&resolution);
  return plait_problems_count (problems) == before ? g_steal_pointer (&experiment) : NULL;
}
