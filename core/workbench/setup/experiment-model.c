/* SPDX-License-Identifier: MIT */
#include "setup/experiment-model.h"

#include <string.h>

#include "files/problems.h"
#include "process/sandbox.h"
#include "cross-attention/token-attention.h"
#include "foreign/feature.h"
#include "layers/parameter-set.h"

#define SOME_WORDS 1000
#define SOME_FACTORS 100
#define SCORED "evaluate.alignment_attention: " /* begins messages about scored alignments */

/* Sizes of vocabularies of an experiment. */
typedef struct
{
  const PlaitExperiment *experiment;
  const PlaitRunInputs *run_inputs; /* inputs with the vocabularies; NULL: there are none */
  GHashTable *known; /* if run_inputs is NULL: name of a vocabulary -> its known size (gint64); or NULL */
} Sizes;

static gint64
vocabulary_size (const Sizes *sizes, const char *stream)
{
  const PlaitExperiment *experiment = sizes->experiment;
  const PlaitExperimentSource *factor_of = plait_experiment_factor_source (experiment, stream);
  gint64 wanted = factor_of ? factor_of->factor_vocabulary_size : experiment->data.vocabulary_size;
  const gint64 *known
      = sizes->known ? g_hash_table_lookup (sizes->known, plait_experiment_vocabulary (experiment, stream)) : NULL;

  return sizes->run_inputs ? plait_vocabulary_size (plait_run_inputs_vocabulary (sizes->run_inputs, stream))
         : known           ? *known
         : wanted > 0      ? wanted
         : factor_of       ? SOME_FACTORS
                           : SOME_WORDS;
}

/* Returns the factors and tags of @source. (transfer full) */
static PlaitFactorSpecification *
find_factors (const Sizes *sizes, const PlaitExperimentSource *source)
{
  guint n = source->n_factors + source->n_tags;
  PlaitFactorSpecification *factors = g_new0 (PlaitFactorSpecification, n);

  for (guint f = 0; f < n; f++)
    factors[f] = (PlaitFactorSpecification){ .name = source->factors[f] + strlen (source->stream) + 1,
                                             .vocabulary_size = vocabulary_size (sizes, source->factors[f]) };
  for (guint f = 0; f < source->n_factors; f++)
    factors[f].width = source->factor_widths[f];
  for (guint t = 0; t < source->n_tags; t++)
    factors[source->n_factors + t].weight = source->tag_weights[t];
  return factors;
}

/* TRUE if a search may output start tokens: sentences of target documents begin with them, or the vocabulary of the
 * target begins each text with one. */
static gboolean
target_starts (const PlaitExperiment *experiment, const PlaitRunInputs *run_inputs)
{
  const char *target = experiment->data.target;

  if (plait_experiment_target_kind (experiment, target) != PLAIT_TARGET_TEXT)
    return FALSE;
  return plait_experiment_documents (experiment, target).start_tokens
         || (run_inputs && plait_vocabulary_adds_bos (plait_run_inputs_vocabulary (run_inputs, target)));
}

/* Returns the number of classes that a target row can have: the size of the vocabulary, or the number of labels or tags
 * without special tokens. 0 if the target has no fixed set of classes. */
static gint64
target_size (const Sizes *sizes)
{
  const PlaitExperiment *experiment = sizes->experiment;

  switch (plait_experiment_target_kind (experiment, experiment->data.target))
    {
    case PLAIT_TARGET_LABELS:
    case PLAIT_TARGET_TAGS:
      return vocabulary_size (sizes, experiment->data.target) - PLAIT_TOKEN_SPECIALS;
    case PLAIT_TARGET_CHOICE:
    case PLAIT_TARGET_SPAN:
    case PLAIT_TARGET_NUMBER:
      return 0;
    default:
      return vocabulary_size (sizes, experiment->data.target);
    }
}

static gboolean
open_parts (const PlaitExperiment *experiment, GError **error)
{
  for (guint i = 0; i < experiment->n_sources; i++)
    if (!plait_component_open (experiment->sources[i].encoder, error))
      return FALSE;
  if (plait_experiment_has_decoder (experiment) && !plait_component_open (experiment->decoder_component, error))
    return FALSE;
  return (!experiment->combiner || plait_component_open (experiment->combiner, error))
         && (!experiment->coverage || plait_component_open (experiment->coverage, error))
         && (!experiment->output || plait_component_open (experiment->output, error));
}

static gboolean
find_alignment (const PlaitTrainSettings *train, PlaitAlignmentSettings *alignment, GError **error)
{
  PlaitAttentionSelection selection;

  if (!plait_attention_selection_parse (train->alignment_attention, "train.alignment_attention", &selection, error))
    return FALSE;
  *alignment = (PlaitAlignmentSettings){
    .weight = train->alignment_weight,
    .layer = MAX (selection.layer, -1),
    .head = MAX (selection.head, -1),
    .name = *train->alignment_name != '\0' ? train->alignment_name : NULL,
  };
  return TRUE;
}

/* TRUE if a test split has alignments of @source. */
static gboolean
has_scored_alignment (const PlaitExperiment *experiment, const PlaitExperimentSource *source)
{
  for (guint i = 0; experiment->test_splits[i]; i++)
    if (*plait_experiment_data_files (experiment, experiment->test_splits[i], source->alignment))
      return TRUE;
  return FALSE;
}

/* Fails if no attention of @selection reads memory @memory of @decoder. */
static gboolean
check_selection (const PlaitDecoder *decoder, PlaitAttentionSelection selection, const char *name, guint memory,
                 GError **error)
{
  guint layers = decoder ? plait_decoder_n_layers (decoder) : 0, heads = 0;

  if (MAX (selection.layer, 0) >= (gint64)layers)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       SCORED "there is no layer %jd: the decoder has %u layers with attention, counted from 0; name "
                              "one of these",
                       MAX (selection.layer, 0), layers);
  for (guint l = 0; l < layers; l++)
    if (selection.layer < 0 || selection.layer == (gint64)l)
      heads = MAX (heads, plait_cross_layer_max_heads (plait_decoder_cross (decoder, l), memory));
  return MAX (selection.head, 0) < (gint64)heads
         || (heads == 0 ? plait_fail (
                 error, PLAIT_ERROR_INPUT,
                 SCORED "no attention that this key selects reads the source %s; name another layer, mean or last",
                 name)
                        : plait_fail (error, PLAIT_ERROR_INPUT,
                                      SCORED "there is no head %jd: the attention to the source %s has %u heads, "
                                             "counted from 0; name one of these, or mean",
                                      selection.head, name, heads));
}

gboolean
plait_experiment_model_check_alignment (const PlaitExperimentModel *experiment_model, GError **error)
{
  const PlaitExperiment *experiment = experiment_model->experiment;
  const PlaitDecoder *decoder = plait_model_decoder (experiment_model->model);
  guint n;
  const PlaitMemorySpecification *memories = plait_model_memories (experiment_model->model, &n);
  PlaitAttentionSelection selection;

  for (guint i = 0; i < experiment->n_sources; i++)
    {
      const char *name = experiment->sources[i].name;
      guint m = 0;

      if (!has_scored_alignment (experiment, &experiment->sources[i]))
        continue;
      while (m < n && !g_str_equal (memories[m].name, name))
        m++;
      if (m == n)
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "data.*.%s: the decoder does not attend to the tokens of source %s, so they cannot be "
                           "aligned; leave this file out",
                           experiment->sources[i].alignment, name);
      if (!plait_attention_selection_parse (experiment->evaluate.alignment_attention, "evaluate.alignment_attention",
                                            &selection, error)
          || !check_selection (decoder, selection, name, m, error))
        return FALSE;
    }
  return TRUE;
}

static PlaitExperimentModel *
model_new (const Sizes *sizes, const gint64 *feature_widths, GError **error)
{
  const PlaitExperiment *experiment = sizes->experiment;
  g_autoptr (PlaitExperimentModel) experiment_model = g_new0 (PlaitExperimentModel, 1);
  guint n = experiment->n_sources;
  PlaitModelSpecification specification = {
    .n_sources = n,
    .target_vocabulary = plait_experiment_vocabulary (experiment, experiment->data.target),
    .target_vocabulary_size = target_size (sizes),
    .predict = experiment->predict,
    .target_starts = target_starts (experiment, sizes->run_inputs),
    .decoder = experiment->decoder,
  };

  experiment_model->experiment = experiment;
  experiment_model->sources = g_new0 (PlaitSourceSpecification, n);
  if (!open_parts (experiment, error))
    return NULL;
  experiment_model->feature_widths = g_memdup2 (feature_widths, n * sizeof *feature_widths);
  for (guint i = 0; i < n; i++)
    {
      const PlaitExperimentSource *source = &experiment->sources[i];

      experiment_model->sources[i] = (PlaitSourceSpecification){
        .name = source->name,
        .kind = source->kind,
        .encoder = source->encoder,
        .feature_width = feature_widths[i],
        .roles = plait_experiment_documents (experiment, source->stream).roles,
        .aligned = plait_experiment_learns_alignment (experiment, source),
        .factors = find_factors (sizes, source),
        .n_factors = source->n_factors,
        .n_tags = source->n_tags,
      };
      if (plait_input_kind_is_text (source->kind))
        {
          experiment_model->sources[i].vocabulary = plait_experiment_vocabulary (experiment, source->stream);
          experiment_model->sources[i].vocabulary_size = vocabulary_size (sizes, source->stream);
        }
    }
  if (!find_alignment (&experiment->train, &specification.alignment, error))
    return NULL;
  specification.sources = experiment_model->sources;
  if (plait_experiment_has_decoder (experiment))
    specification.decoder_component = experiment->decoder_component;
  specification.combiner = experiment->combiner;
  specification.coverage = experiment->coverage;
  specification.output = experiment->output;
  experiment_model->model = plait_model_new (&specification, error);
  return experiment_model->model ? g_steal_pointer (&experiment_model) : NULL;
}

PlaitExperimentModel *
plait_experiment_model_new (const PlaitExperiment *experiment, const PlaitRunInputs *run_inputs,
                            const gint64 *feature_widths, GError **error)
{
  const Sizes sizes = { experiment, run_inputs, NULL };

  return model_new (&sizes, feature_widths, error);
}

/* Finds the feature width of each source of features: that of its first training file, or bench.feature_width without
 * a file. */
static gboolean
find_widths (const PlaitExperiment *experiment, gint64 *widths, GError **error)
{
  for (guint i = 0; i < experiment->n_sources; i++)
    {
      const PlaitExperimentSource *source = &experiment->sources[i];
      const char *path = *plait_experiment_data_files (experiment, "train", source->stream);
      g_autoptr (PlaitFeatures) file = NULL;

      if (source->kind != PLAIT_INPUT_FEATURES)
        continue;
      widths[i] = experiment->bench.feature_width;
      if (!path)
        continue;
      file = plait_feature_file_open (path, source->dataset, error);
      if (!file)
        return FALSE;
      widths[i] = file->width;
    }
  return TRUE;
}

typedef struct
{
  const PlaitExperiment *experiment;
  const gint64 *widths;
} TryBuild;

static gboolean
build (gpointer data, GError **error)
{
  const TryBuild *try_build = data;
  g_autoptr (PlaitExperimentModel) experiment_model
      = plait_experiment_model_new (try_build->experiment, NULL, try_build->widths, error);

  return experiment_model && plait_experiment_model_check_alignment (experiment_model, error);
}

gboolean
plait_experiment_model_try_build (const PlaitExperiment *experiment, GError **error)
{
  /* Limit only time. The child process never writes the pages of the parameters, so they need no memory. */
  const PlaitSandboxLimits limits = { .wall_seconds = 20, .processor_seconds = 80 };
  g_autofree char *subject = g_strdup_printf ("%s: the process that builds the model", experiment->path);
  g_autofree gint64 *widths = g_new0 (gint64, experiment->n_sources);
  TryBuild try_build = { experiment, widths };

  return open_parts (experiment, error) && find_widths (experiment, widths, error)
         && plait_sandbox_run_with_subject (subject, PLAIT_ERROR_PLUGIN, build, &try_build, limits, error);
}

PlaitExperimentModel *
plait_experiment_model_new_without_vocabularies (const PlaitExperiment *experiment, GError **error)
{
  g_autofree gint64 *widths = g_new0 (gint64, experiment->n_sources);

  return find_widths (experiment, widths, error) ? plait_experiment_model_new (experiment, NULL, widths, error) : NULL;
}

gint64
plait_experiment_model_count_parameters (const PlaitExperiment *experiment, GHashTable *known, GError **error)
{
  const Sizes sizes = { experiment, NULL, known };
  g_autofree gint64 *widths = g_new0 (gint64, experiment->n_sources);
  g_autoptr (PlaitExperimentModel) experiment_model
      = find_widths (experiment, widths, error) ? model_new (&sizes, widths, error) : NULL;

  return experiment_model ? plait_parameters_count (plait_model_parameters (experiment_model->model), NULL) : -1;
}

void
plait_experiment_model_free (PlaitExperimentModel *experiment_model)
{
  if (!experiment_model)
    return;
  plait_model_free (experiment_model->model);
  for (guint i = 0; i < experiment_model->experiment->n_sources; i++)
    g_free ((gpointer)experiment_model->sources[i].factors);
  g_free (experiment_model->sources);
  g_free (experiment_model->feature_widths);
  g_free (experiment_model);
}

void
plait_experiment_model_initialise (const PlaitExperimentModel *experiment_model, PlaitPool *pool)
{
  PlaitParameters *parameters = plait_model_parameters (experiment_model->model);

  if (experiment_model->experiment->train.initial_values == PLAIT_TRAIN_INITIAL_VALUES_DL4MT)
    plait_parameters_follow_dl4mt (parameters);
  plait_parameters_initialise (parameters, pool, (guint64)experiment_model->experiment->experiment.seed);
}

static char *
plugin_path (const PlaitPlugin *plugin)
{
  return g_strdup_printf ("/plugins/%s/%s", plait_plugin_kind_name (plugin->kind), plugin->name);
}

/* Group of a run that lists the module files of its plugins. */
#define HOMES "/environment/plugins"

static gboolean
write_plugin (PlaitPlugin *plugin, gpointer data, GError **error)
{
  PlaitStore *store = data;
  g_autofree char *path = plugin_path (plugin), *home = g_strconcat ("/environment", path, NULL);
  g_autofree char *module = g_utf8_make_valid (plugin->module_path, -1);

  return plait_plugin_digest (plugin, error) && plait_store_make_group (store, path, error)
         && plait_store_set_string (store, path, "kind", plait_plugin_kind_name (plugin->kind), error)
         && plait_store_set_string (store, path, "version", plugin->descriptor->version, error)
         && plait_store_set_string (store, path, "schema_sha256", plugin->schema_digest, error)
         && plait_store_set_string (store, path, "module_sha256", plugin->module_digest, error)
         && plait_store_make_group (store, home, error)
         && plait_store_set_string (store, home, "module", module, error);
}

void
plait_experiment_model_remember_plugins (PlaitStore *run, PlaitRegistry *registry)
{
  for (guint kind = 0; kind < PLAIT_PLUGIN_KINDS; kind++)
    {
      g_autofree char *folder = g_strdup_printf (HOMES "/%s", plait_plugin_kind_name ((PlaitPluginKind)kind));
      g_auto (GStrv) names = plait_store_has (run, folder) ? plait_store_members (run, folder, NULL) : NULL;

      for (guint i = 0; names && names[i]; i++)
        {
          g_autofree char *path = g_strdup_printf ("%s/%s", folder, names[i]);
          g_autofree char *module = plait_store_get_string (run, path, "module", NULL);

          if (module && !strpbrk (module, "\r\n"))
            plait_registry_remember (registry, (PlaitPluginKind)kind, names[i], module);
        }
    }
}

gboolean
plait_experiment_model_write (const PlaitExperimentModel *experiment_model, PlaitStore *store, GError **error)
{
  return plait_experiment_each_plugin (experiment_model->experiment, write_plugin, store, error)
         && plait_store_set_list (store, "/plugins", "feature_widths", PLAIT_STORE_INT64,
                                  experiment_model->experiment->n_sources, experiment_model->feature_widths, error);
}

gint64 *
plait_experiment_model_read_feature_widths (const PlaitExperiment *experiment, PlaitStore *run, GError **error)
{
  gint64 n;
  g_autofree gint64 *widths = plait_store_get_list (run, "/plugins", "feature_widths", PLAIT_STORE_INT64, &n, error);

  if (!widths)
    return NULL;
  if (n != experiment->n_sources)
    return plait_fail_null (error, PLAIT_ERROR_INPUT,
                            "%s: %jd feature widths are stored for %u sources, so the file is not a run of this "
                            "version of plait; train the run anew",
                            plait_store_path (run), n, experiment->n_sources);
  return g_steal_pointer (&widths);
}

typedef struct
{
  PlaitStore *run;
  PlaitProblems *changed;
  gboolean shared; /* TRUE: accept plugins that the run does not list */
} PluginCheck;

static gboolean
check_plugin (PlaitPlugin *plugin, gpointer data, GError **error)
{
  const PluginCheck *check = data;
  PlaitStore *run = check->run;
  g_autofree char *path = plugin_path (plugin);
  g_autofree char *schema = NULL, *module = NULL;

  if (!plait_store_has (run, path))
    {
      if (!check->shared)
        plait_problems_add (check->changed,
                            "%s does not name %s \"%s\" among its plugins: it was trained before the %s was a plugin; "
                            "begin a new run",
                            plait_store_path (run), plait_plugin_kind_name (plugin->kind), plugin->name,
                            plait_plugin_kind_name (plugin->kind));
      return TRUE;
    }
  schema = plait_store_get_string (run, path, "schema_sha256", error);
  module = schema ? plait_store_get_string (run, path, "module_sha256", error) : NULL;
  if (!module || !plait_plugin_digest (plugin, error))
    return FALSE;
  if (!g_str_equal (schema, plugin->schema_digest) || !g_str_equal (module, plugin->module_digest))
    plait_problems_add (check->changed,
                        "%s was trained with another build of %s \"%s\" than %s: the plugin's %s has changed; put the "
                        "old build back, or %s",
                        plait_store_path (run), plait_plugin_kind_name (plugin->kind), plugin->name,
                        plugin->module_path, g_str_equal (module, plugin->module_digest) ? "schema" : "module",
                        check->shared ? "check that the parameters still mean the same" : "begin a new run");
  return TRUE;
}

gboolean
plait_experiment_model_check_plugins (const PlaitExperiment *experiment, PlaitStore *run, gboolean shared,
                                      GError **error)
{
  g_autoptr (PlaitProblems) changed = plait_problems_new ();
  PluginCheck check = { run, changed, shared };

  return plait_experiment_each_plugin (experiment, check_plugin, &check, error)
         && plait_problems_report (changed, PLAIT_ERROR_PLUGIN, error);
}
