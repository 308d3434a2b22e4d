/* SPDX-License-Identifier: MIT */
#include "experiment/resolution.h"

#include <string.h>

#define SOURCE_PREFIX "source "

static const char *const group_names[]
    = { "experiment", "data", "decoder", "combiner", "train", "decode", "evaluate", "grid", NULL };

void
plait_resolution_problem (const PlaitResolution *resolution, const char *group, const char *key, const char *format,
                          ...)
{
  g_autofree char *place = plait_key_file_place (resolution->file, group, key);
  va_list arguments;

  va_start (arguments, format);
  g_autofree char *sentence = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  if (key != NULL)
    plait_problems_add (resolution->problems, "%s: [%s] %s: %s", place, group, key, sentence);
  else
    plait_problems_add (resolution->problems, "%s: [%s]: %s", place, group, sentence);
}

/* What plait inspect calls the group. */
static const char *
inspect_name (const PlaitResolution *resolution, const char *group)
{
  const PlaitExperiment *experiment = &resolution->experiment->public;

  if (g_str_equal (group, "combiner") && experiment->combiner != NULL)
    return experiment->combiner->name;
  for (guint i = 0; i < resolution->experiment->sources->len; i++)
    {
      const PlaitSourceInFile *source = resolution->experiment->sources->pdata[i];

      if (source->encoder != NULL && g_str_equal (source->group, group))
        return source->encoder->name;
    }
  return g_str_has_prefix (group, SOURCE_PREFIX) ? "source" : group;
}

static void
unknown_key (const PlaitResolution *resolution, const char *group, const char *key, const PlaitSettings *settings)
{
  const char *nearest = plait_settings_nearest (settings, key);

  if (nearest != NULL)
    plait_resolution_problem (resolution, group, key, "no such key; did you mean \"%s\"?", nearest);
  else if (plait_settings_n (settings) == 0)
    plait_resolution_problem (resolution, group, key, "no such key; %s has no parameters",
                              inspect_name (resolution, group));
  else
    plait_resolution_problem (resolution, group, key, "no such key; plait inspect %s lists the keys",
                              inspect_name (resolution, group));
}

void
plait_resolution_read_group (const PlaitResolution *resolution, const char *group, PlaitSettings *settings,
                             PlaitOtherKey other)
{
  const char *const *keys = plait_key_file_keys (resolution->file, group);

  for (guint i = 0; keys[i] != NULL; i++)
    {
      g_autoptr (GError) fault = NULL;

      if (plait_settings_find (settings, keys[i]) < 0)
        {
          if (other == NULL || !other (resolution, group, keys[i]))
            unknown_key (resolution, group, keys[i], settings);
        }
      else if (!plait_settings_set (settings, keys[i], plait_key_file_value (resolution->file, group, keys[i]), &fault))
        plait_resolution_problem (resolution, group, keys[i], "%s", fault->message);
    }
  for (guint i = 0; i < plait_settings_n (settings); i++)
    {
      const PlaitSettingSpecification *specification = plait_settings_specification (settings, i);

      if (plait_settings_text_at (settings, i) == NULL
          && plait_key_file_value (resolution->file, group, specification->name) == NULL)
        {
          g_autofree char *expectation = plait_setting_expectation (specification);
          plait_resolution_problem (resolution, group, NULL, "%s is missing (%s); add %s= and %s", specification->name,
                                    specification->summary, specification->name, expectation);
        }
    }
}

/* Adadelta finds its step sizes itself: what [train] leaves open about the rate is otherwise than with Adam. */
static void
suit_optimizer (const PlaitResolution *resolution, PlaitSettings *train)
{
  const char *optimizer = plait_key_file_value (resolution->file, "train", "optimizer");

  if (g_strcmp0 (optimizer, "adadelta") != 0)
    return;
  plait_settings_set (train, "learning_rate", "1", NULL);
  plait_settings_set (train, "schedule", "constant", NULL);
  plait_settings_set (train, "warm_up", "0", NULL);
}

/* A core group into its struct, and its own check (may be NULL) unless something is wrong with it already. @suit (may
 * be NULL) sets defaults that depend on a key. */
static PlaitSettings *
read_core_group (const PlaitResolution *resolution, const PlaitSettingGroup *group, gpointer memory,
                 void (*suit) (const PlaitResolution *resolution, PlaitSettings *settings),
                 void (*check) (const PlaitResolution *resolution))
{
  PlaitSettings *settings = plait_settings_new_for_group (group);
  guint problems = plait_problems_count (resolution->problems);

  if (suit != NULL)
    suit (resolution, settings);
  plait_resolution_read_group (resolution, group->name, settings, NULL);
  plait_settings_fill_group (settings, group, memory);
  if (check != NULL && plait_problems_count (resolution->problems) == problems)
    check (resolution);
  return settings;
}

static void
check_groups (const PlaitResolution *resolution)
{
  const char *const *groups = plait_key_file_groups (resolution->file);

  for (guint i = 0; groups[i] != NULL; i++)
    {
      const char *group = groups[i];

      if (g_strv_contains (group_names, group) || g_str_has_prefix (group, SOURCE_PREFIX))
        continue;
      const char *nearest = plait_nearest_name (group, group_names);
      if (g_str_has_prefix (group, "source") || plait_nearest_name (group, (const char *[]){ "source", NULL }) != NULL)
        plait_resolution_problem (resolution, group, NULL,
                                  "no such group; a source is [source NAME], such as [source en]");
      else if (nearest != NULL)
        plait_resolution_problem (resolution, group, NULL, "no such group; did you mean [%s]?", nearest);
      else
        plait_resolution_problem (resolution, group, NULL,
                                  "no such group; there are experiment, data, source NAME, decoder, combiner, train, "
                                  "decode, evaluate and grid");
    }
}

/* Whether @key is a parameter of another plugin of @kind that the grid may choose in the place of this one. */
static gboolean
is_alternative_key (const PlaitResolution *resolution, PlaitPluginKind kind, const char *key)
{
  g_autofree char *prefix = g_strdup_printf ("%s ", plait_plugin_kind_name (kind));

  for (guint i = 0; resolution->alternatives != NULL && resolution->alternatives[i] != NULL; i++)
    {
      const char *alternative = resolution->alternatives[i];
      PlaitPlugin *plugin;

      if (!g_str_has_prefix (alternative, prefix))
        continue;
      plugin = plait_registry_find (resolution->registry, kind, alternative + strlen (prefix), NULL);
      if (plugin != NULL && plait_schema_parameter (plugin->schema, key) != NULL)
        return TRUE;
    }
  return FALSE;
}

static gboolean
is_encoder_alternative (const PlaitResolution *resolution, const char *group, const char *key)
{
  return is_alternative_key (resolution, PLAIT_PLUGIN_ENCODER, key);
}

static gboolean
is_combiner_alternative (const PlaitResolution *resolution, const char *group, const char *key)
{
  return is_alternative_key (resolution, PLAIT_PLUGIN_COMBINER, key);
}

/* A source's group holds the host's keys and the encoder's: reads the former, which say what the latter are. */
static gboolean
read_host_keys (const PlaitResolution *resolution, PlaitSourceInFile *source)
{
  gboolean good = TRUE;

  for (guint i = 0; i < plait_settings_n (source->host); i++)
    {
      const char *key = plait_settings_specification (source->host, i)->name;
      const char *value = plait_key_file_value (resolution->file, source->group, key);
      g_autoptr (GError) fault = NULL;

      if (value != NULL && !plait_settings_set (source->host, key, value, &fault))
        {
          plait_resolution_problem (resolution, source->group, key, "%s", fault->message);
          good = FALSE;
        }
    }
  plait_settings_fill_group (source->host, &plait_source_group, &source->settings);
  return good;
}

/* The parameters of @schema and, so that nearest names and lists are whole, the host's keys too. */
static void
read_encoder_keys (const PlaitResolution *resolution, PlaitSourceInFile *source)
{
  const PlaitSchema *schema = source->encoder->schema;
  guint n_host = plait_source_group.n_definitions;
  g_autofree const PlaitSettingSpecification **both
      = g_new (const PlaitSettingSpecification *, schema->n_parameters + n_host);

  for (guint i = 0; i < schema->n_parameters; i++)
    {
      both[i] = schema->parameters[i];
      if (plait_settings_find (source->host, both[i]->name) >= 0)
        plait_resolution_problem (resolution, source->group, "encoder",
                                  "%s has a parameter %s, which the host keeps for itself; rename it in the plugin",
                                  schema->path, both[i]->name);
    }
  for (guint i = 0; i < n_host; i++)
    both[schema->n_parameters + i] = plait_settings_specification (source->host, i);

  g_autoptr (PlaitSettings) all = plait_settings_new (both, schema->n_parameters + n_host);
  plait_resolution_read_group (resolution, source->group, all, is_encoder_alternative);
  source->parameters = plait_settings_new (schema->parameters, schema->n_parameters);
  for (guint i = 0; i < schema->n_parameters; i++)
    if (plait_settings_is_given (all, i))
      plait_settings_set (source->parameters, both[i]->name, plait_settings_text_at (all, i), NULL);
}

static void
read_source (const PlaitResolution *resolution, const char *group)
{
  PlaitSourceInFile *source = g_new0 (PlaitSourceInFile, 1);
  g_autoptr (GError) fault = NULL;

  source->group = group;
  source->name = group + strlen (SOURCE_PREFIX);
  source->host = plait_settings_new_for_group (&plait_source_group);
  g_ptr_array_add (resolution->experiment->sources, source);
  if (!plait_name_is_valid (source->name))
    plait_resolution_problem (
        resolution, group, NULL,
        "\"%s\" is no name for a source; use letters, digits, '-' and '_', beginning with a letter", source->name);
  if (!read_host_keys (resolution, source))
    return;
  if (*source->settings.stream == '\0')
    source->settings.stream = source->name;
  if (source->settings.encoder == NULL)
    {
      plait_resolution_problem (resolution, group, NULL,
                                "encoder is missing; add encoder= and one of those that plait plugins lists");
      return;
    }
  source->encoder = plait_registry_find (resolution->registry, PLAIT_PLUGIN_ENCODER, source->settings.encoder, &fault);
  if (source->encoder == NULL)
    plait_resolution_problem (resolution, group, "encoder", "%s", fault->message);
  else
    read_encoder_keys (resolution, source);
}

static PlaitSourceInFile *
find_source (const PlaitExperimentPrivate *experiment, const char *name)
{
  for (guint i = 0; i < experiment->sources->len; i++)
    {
      PlaitSourceInFile *source = experiment->sources->pdata[i];

      if (g_str_equal (source->name, name))
        return source;
    }
  return NULL;
}

static void
use_source (PlaitExperimentPrivate *experiment, PlaitSourceInFile *source)
{
  PlaitExperimentSource used = {
    .name = source->name,
    .stream = source->settings.stream,
    .dataset = source->settings.dataset,
    .encoder = source->encoder,
    .parameters = source->parameters,
    .kind = source->encoder != NULL ? source->encoder->schema->input : PLAIT_INPUT_TOKENS,
  };

  g_array_append_val (experiment->used, used);
}

static void
unknown_source (const PlaitResolution *resolution, const char *name)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();

  for (guint i = 0; i < resolution->experiment->sources->len; i++)
    g_ptr_array_add (names, (gpointer)((PlaitSourceInFile *)resolution->experiment->sources->pdata[i])->name);
  g_ptr_array_add (names, NULL);
  const char *nearest = plait_nearest_name (name, (const char *const *)names->pdata);
  g_autofree char *all = g_strjoinv (", ", (char **)names->pdata);
  if (nearest != NULL)
    plait_resolution_problem (resolution, "experiment", "sources", "there is no [source %s]; did you mean \"%s\"?",
                              name, nearest);
  else
    plait_resolution_problem (resolution, "experiment", "sources",
                              "there is no [source %s]; join names with '+' (there are: %s)", name, all);
}

/* The sources that experiment.sources chooses, in its order. */
static void
choose_sources (const PlaitResolution *resolution)
{
  PlaitExperimentPrivate *experiment = resolution->experiment;
  const char *wanted = experiment->public.experiment.sources;
  g_auto (GStrv) names = g_strsplit (wanted, "+", -1);

  if (experiment->sources->len == 0)
    {
      g_autofree char *place = plait_key_file_place (resolution->file, "source", NULL);
      plait_problems_add (resolution->problems,
                          "%s: there is no source; add a group [source NAME] with encoder=, one for each source",
                          place);
      return;
    }
  if (*wanted == '\0')
    for (guint i = 0; i < experiment->sources->len; i++)
      use_source (experiment, experiment->sources->pdata[i]);
  for (guint i = 0; *wanted != '\0' && names[i] != NULL; i++)
    {
      PlaitSourceInFile *source = find_source (experiment, g_strstrip (names[i]));

      if (source == NULL)
        unknown_source (resolution, names[i]);
      else if (g_strv_contains ((const char *const *)names + i + 1, names[i]))
        plait_resolution_problem (resolution, "experiment", "sources", "%s stands there twice; name each source once",
                                  names[i]);
      else
        use_source (experiment, source);
    }
}

static void
read_combiner (const PlaitResolution *resolution)
{
  PlaitExperiment *experiment = &resolution->experiment->public;
  g_autoptr (GError) fault = NULL;

  experiment->combiner
      = plait_registry_find (resolution->registry, PLAIT_PLUGIN_COMBINER, experiment->decoder.combiner, &fault);
  if (experiment->combiner == NULL)
    {
      plait_resolution_problem (resolution, "decoder", "combiner", "%s", fault->message);
      return;
    }
  const PlaitSchema *schema = experiment->combiner->schema;
  experiment->combiner_parameters = plait_settings_new (schema->parameters, schema->n_parameters);
  plait_resolution_read_group (resolution, "combiner", experiment->combiner_parameters, is_combiner_alternative);
}

/* experiment.name, or the file's name without its folder and suffix. */
static void
name_experiment (const PlaitResolution *resolution)
{
  PlaitExperiment *experiment = &resolution->experiment->public;
  g_autofree char *name = g_path_get_basename (plait_key_file_name (resolution->file));

  if (g_str_has_suffix (name, ".ini"))
    name[strlen (name) - strlen (".ini")] = '\0';
  if (*experiment->experiment.name == '\0')
    plait_settings_set (resolution->experiment->experiment, "name", name, NULL);
  experiment->name = plait_settings_text (resolution->experiment->experiment, "name");
  experiment->experiment.name = experiment->name;
}

/* The run that training begins with, made absolute: a run keeps it as text. */
static void
find_initial (const PlaitResolution *resolution)
{
  PlaitExperimentPrivate *experiment = resolution->experiment;
  const char *written = experiment->public.train.initialise;
  g_autoptr (GError) fault = NULL;

  if (*written == '\0')
    return;
  g_autofree char *path = g_canonicalize_filename (written, resolution->folder);
  if ((resolution->flags & PLAIT_RESOLVE_CHECK_FILES) && !g_file_test (path, G_FILE_TEST_IS_REGULAR))
    plait_resolution_problem (
        resolution, "train", "initialise", "%s %s; name the file of a finished run, relative to %s", path,
        g_file_test (path, G_FILE_TEST_EXISTS) ? "is not a regular file" : "does not exist", resolution->folder);
  else if (!plait_settings_set (experiment->train, "initialise", path, &fault))
    plait_resolution_problem (resolution, "train", "initialise", "%s", fault->message);
  experiment->public.train.initialise = plait_settings_text (experiment->train, "initialise");
}

static void
resolve (const PlaitResolution *resolution)
{
  PlaitExperimentPrivate *experiment = resolution->experiment;
  PlaitExperiment *public = &experiment->public;
  const char *const *groups = plait_key_file_groups (resolution->file);

  check_groups (resolution);
  experiment->experiment = read_core_group (resolution, &plait_experiment_group, &public->experiment, NULL, NULL);
  name_experiment (resolution);
  for (guint i = 0; groups[i] != NULL; i++)
    if (g_str_has_prefix (groups[i], SOURCE_PREFIX))
      read_source (resolution, g_string_chunk_insert (experiment->texts, groups[i]));
  choose_sources (resolution);
  plait_resolution_read_data (resolution);
  experiment->decoder
      = read_core_group (resolution, &plait_decoder_group, &public->decoder, NULL, plait_resolution_check_decoder);
  read_combiner (resolution);
  public->sources = (const PlaitExperimentSource *)(gpointer)experiment->used->data;
  public->n_sources = experiment->used->len;
  if (plait_problems_count (resolution->problems) == 0)
    plait_resolution_check_crossings (resolution);
  experiment->train
      = read_core_group (resolution, &plait_train_group, &public->train, suit_optimizer, plait_resolution_check_train);
  find_initial (resolution);
  experiment->decode
      = read_core_group (resolution, &plait_decode_group, &public->decode, NULL, plait_resolution_check_decode);
  experiment->evaluate
      = read_core_group (resolution, &plait_evaluate_group, &public->evaluate, NULL, plait_resolution_check_evaluate);
}

static void
source_free (gpointer data)
{
  PlaitSourceInFile *source = data;

  plait_settings_free (source->host);
  plait_settings_free (source->parameters);
  g_free (source);
}

static PlaitExperimentPrivate *
experiment_new (void)
{
  PlaitExperimentPrivate *experiment = g_new0 (PlaitExperimentPrivate, 1);

  experiment->texts = g_string_chunk_new (1024);
  experiment->sources = g_ptr_array_new_with_free_func (source_free);
  experiment->used = g_array_new (FALSE, FALSE, sizeof (PlaitExperimentSource));
  experiment->files = g_array_new (FALSE, FALSE, sizeof (PlaitDataFile));
  experiment->vocabulary_files = g_array_new (FALSE, FALSE, sizeof (PlaitDataFile));
  experiment->test_splits = g_ptr_array_new ();
  experiment->task_specifications = g_array_new (FALSE, TRUE, sizeof (PlaitSettingSpecification));
  return experiment;
}

void
plait_experiment_free (PlaitExperiment *public)
{
  PlaitExperimentPrivate *experiment = (PlaitExperimentPrivate *)public;

  if (experiment == NULL)
    return;
  plait_settings_free (experiment->experiment);
  plait_settings_free (experiment->data);
  plait_settings_free (experiment->decoder);
  plait_settings_free (experiment->train);
  plait_settings_free (experiment->decode);
  plait_settings_free (experiment->evaluate);
  plait_settings_free (experiment->task_settings);
  plait_settings_free (public->combiner_parameters);
  plait_task_settings_clear (&public->task_settings);
  g_ptr_array_unref (experiment->sources);
  g_ptr_array_unref (experiment->test_splits);
  g_array_unref (experiment->used);
  g_array_unref (experiment->files);
  g_array_unref (experiment->vocabulary_files);
  g_array_unref (experiment->task_specifications);
  g_string_chunk_free (experiment->texts);
  g_free (experiment);
}

PlaitExperiment *
plait_experiment_resolve (const PlaitKeyFile *file, const char *folder, const char *const *alternatives,
                          PlaitResolveFlags flags, PlaitRegistry *registry, GError **error)
{
  g_autoptr (PlaitProblems) problems = plait_problems_new ();
  g_autoptr (PlaitExperiment) experiment = (PlaitExperiment *)experiment_new ();
  PlaitResolution resolution = {
    .file = file,
    .folder = folder,
    .alternatives = alternatives,
    .flags = flags,
    .registry = registry,
    .problems = problems,
    .experiment = (PlaitExperimentPrivate *)experiment,
  };

  experiment->path = g_string_chunk_insert (resolution.experiment->texts, plait_key_file_name (file));
  resolve (&resolution);
  if (!plait_problems_report (problems, PLAIT_ERROR_INPUT, error))
    return NULL;
  return g_steal_pointer (&experiment);
}
