/* SPDX-License-Identifier: MIT */
#include "use/inference.h"

#include "text/separators.h"
#include "command/stop.h"
#include "setup/replacement.h"
#include "tensor/blas.h"

#include <string.h>

/* The files or columns of all sources, then of the trees and factors that belong to the sources. */
typedef struct
{
  guint n_runs;
  guint n;                      /* number of different source names in all runs */
  guint n_names;                /* number of names: of sources, then of trees and factors */
  char **names;                 /* [n_names]: "NAME" of every source, then "NAME.trees" and "NAME.FACTOR" */
  guint *owners;                /* [n_names]: index of the source to which trees or a factor belong; 0 for a source */
  PlaitTextLocation *locations; /* [n_names]: file or column of each name; all zeros: the source is missing */
  PlaitFeedTable table;
} Files;

static void
files_clear (Files *files)
{
  for (guint i = 0; i < files->n_names; i++)
    g_free (files->names[i]);
  g_free (files->names);
  g_free (files->owners);
  g_free (files->locations);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Files, files_clear)

/* Returns the index of @name among the first @n names; @n if it is not there. */
static guint
find_name (const Files *files, const char *name, guint n)
{
  guint i = 0;

  while (i < n && g_strcmp0 (files->names[i], name) != 0)
    i++;
  return i;
}

/* Returns the index of source @name; files->n if there is no such source. */
static guint
find_source (const Files *files, const char *name)
{
  return find_name (files, name, files->n);
}

static gboolean
reads_tree_file (const PlaitExperiment *experiment, guint source)
{
  return experiment->sources[source].trees && experiment->data.trees == PLAIT_TREES_GIVEN;
}

/* Returns the name of @stream, the trees or a factor of @source: "NAME.trees" or "NAME.FACTOR". (transfer full) */
static char *
name_beside (const PlaitExperimentSource *source, const char *stream)
{
  return g_strconcat (source->name, stream + strlen (source->stream), NULL);
}

/* Adds the name of @stream, the trees or a factor of @source, unless @files has the name already. */
static void
add_beside (Files *files, const PlaitExperimentSource *source, const char *stream)
{
  g_autofree char *name = name_beside (source, stream);

  if (find_name (files, name, files->n_names) < files->n_names)
    return;
  files->owners[files->n_names] = find_source (files, source->name);
  files->names[files->n_names++] = g_steal_pointer (&name);
}

static void
name_files (const GPtrArray *runs, Files *files)
{
  guint most = 0;

  files->n_runs = runs->len;
  for (guint r = 0; r < runs->len; r++)
    {
      const PlaitExperiment *experiment = ((const PlaitTrained *)runs->pdata[r])->experiment;

      for (guint i = 0; i < experiment->n_sources; i++)
        most += 2 + experiment->sources[i].n_factors; /* the source, its trees and its factors */
    }
  files->names = g_new0 (char *, most);
  files->owners = g_new0 (guint, most);
  files->locations = g_new0 (PlaitTextLocation, most);
  for (guint r = 0; r < runs->len; r++)
    {
      const PlaitExperiment *experiment = ((const PlaitTrained *)runs->pdata[r])->experiment;

      for (guint i = 0; i < experiment->n_sources; i++)
        if (find_source (files, experiment->sources[i].name) == files->n)
          files->names[files->n++] = g_strdup (experiment->sources[i].name);
    }
  files->n_names = files->n;
  for (guint r = 0; r < runs->len; r++)
    {
      const PlaitExperiment *experiment = ((const PlaitTrained *)runs->pdata[r])->experiment;

      for (guint i = 0; i < experiment->n_sources; i++)
        {
          const PlaitExperimentSource *source = &experiment->sources[i];

          if (reads_tree_file (experiment, i))
            add_beside (files, source, source->trees);
          for (guint f = 0; f < source->n_factors; f++)
            add_beside (files, source, source->factors[f]);
        }
    }
}

/* Returns the location of @stream, the trees or a factor of @source. */
static PlaitTextLocation
location_beside (const Files *files, const PlaitExperimentSource *source, const char *stream)
{
  g_autofree char *name = name_beside (source, stream);

  return files->locations[find_name (files, name, files->n_names)];
}

/* Returns the files and columns where @run finds its text. */
static PlaitFeedReader
reader_of (const PlaitTrained *run, const Files *files)
{
  const PlaitExperiment *experiment = run->experiment;
  g_autoptr (GArray) factors = g_array_new (FALSE, FALSE, sizeof (PlaitTextLocation));
  PlaitFeedReader reader = { .run_inputs = run->run_inputs,
                             .sources = g_new (PlaitTextLocation, experiment->n_sources),
                             .trees = g_new0 (PlaitTextLocation, experiment->n_sources) };

  for (guint i = 0; i < experiment->n_sources; i++)
    {
      const PlaitExperimentSource *source = &experiment->sources[i];

      reader.sources[i] = files->locations[find_source (files, source->name)];
      if (reads_tree_file (experiment, i))
        reader.trees[i] = location_beside (files, source, source->trees);
      for (guint f = 0; f < source->n_factors; f++)
        {
          PlaitTextLocation location = location_beside (files, source, source->factors[f]);

          g_array_append_val (factors, location);
        }
    }
  reader.factors = (PlaitTextLocation *)(gpointer)g_array_free (g_steal_pointer (&factors), FALSE);
  return reader;
}

static void
feed_reader_clear (gpointer item)
{
  PlaitFeedReader *reader = item;

  g_free (reader->sources);
  g_free (reader->trees);
  g_free (reader->factors);
}

/* Opens the files that each of @runs reads. */
static PlaitFeed *
open_feed (const GPtrArray *runs, const Files *files, const char *target, GError **error)
{
  g_autoptr (GArray) readers = g_array_new (FALSE, FALSE, sizeof (PlaitFeedReader));

  g_array_set_clear_func (readers, feed_reader_clear);
  for (guint r = 0; r < runs->len; r++)
    {
      const PlaitTrained *run = runs->pdata[r];
      PlaitFeedReader reader = reader_of (run, files);
      gboolean any = FALSE;

      g_array_append_val (readers, reader);
      for (guint i = 0; i < run->experiment->n_sources; i++)
        any |= reader.sources[i].paths[0] != NULL;
      if (!any && runs->len > 1)
        return plait_fail_null (error, PLAIT_ERROR_INPUT,
                                "every source of %s is missing; give one of them a file, or leave the run out",
                                plait_store_path (run->store));
    }
  return plait_run_inputs_open_feed ((const PlaitFeedReader *)(gpointer)readers->data, readers->len, target,
                                     &files->table, error);
}

static gpointer
unknown_source (const Files *files, const char *option, GError **error)
{
  g_autoptr (GString) names = g_string_new (NULL);

  for (guint i = 0; i < files->n_names; i++)
    g_string_append_printf (names, "%s%s", i ? ", " : "", files->names[i]);
  return plait_fail_null (error, PLAIT_ERROR_INPUT, "%s: %s: %s", option,
                          files->n_runs > 1 ? "no run reads this source; expected one of"
                                            : "the run does not read this source; expected one of",
                          names->str);
}

/* Returns the location to fill in for the source, trees or factor @name. Fails if the name is unknown or was already
 * given; @option names the option in the error. (transfer none) */
static PlaitTextLocation *
find_text_location (const Files *files, const char *name, const char *option, GError **error)
{
  guint i = find_name (files, name, files->n_names);

  if (i == files->n_names)
    return unknown_source (files, option, error);
  if (files->locations[i].paths[0])
    return plait_fail_null (error, PLAIT_ERROR_INPUT, "%s: this name was already given; give it once", option);
  return &files->locations[i];
}

static gboolean
take_sources (const char *const *given, const Files *files, GError **error)
{
  for (guint i = 0; given && given[i]; i++)
    {
      const char *equals = strchr (given[i], '=');
      g_autofree char *name = g_strndup (given[i], strcspn (given[i], "="));
      g_autofree char *option = g_strconcat ("--source ", given[i], NULL);
      PlaitTextLocation *location;

      if (!equals || equals[1] == '\0')
        return plait_fail (error, PLAIT_ERROR_INPUT, "%s: expected NAME=FILE", option);
      location = find_text_location (files, name, option, error);
      if (!location)
        return FALSE;
      location->paths[0] = equals + 1;
    }
  return TRUE;
}

/* Returns "features" or "documents" if source @name of a run consists of these; NULL if it is sentences in all runs. */
static const char *
other_than_sentences (const GPtrArray *runs, const char *name)
{
  for (guint r = 0; r < runs->len; r++)
    {
      const PlaitExperiment *experiment = ((const PlaitTrained *)runs->pdata[r])->experiment;

      for (guint i = 0; i < experiment->n_sources; i++)
        {
          const PlaitExperimentSource *source = &experiment->sources[i];

          if (!g_str_equal (source->name, name))
            continue;
          if (!plait_input_kind_is_text (source->kind))
            return "features";
          if (plait_experiment_is_documents (experiment, source->stream))
            return "documents";
        }
    }
  return NULL;
}

static gboolean
is_source (const char *text, gconstpointer data)
{
  const Files *files = data;

  return g_str_equal (text, "-") || find_name (files, text, files->n_names) < files->n_names;
}

/* Assigns the columns of standard input to the sources, trees and factors that @tsv names. */
static gboolean
take_columns (const GPtrArray *runs, const char *tsv, Files *files, GError **error)
{
  g_auto (GStrv) names = tsv ? g_strsplit (tsv, ",", -1) : NULL;
  guint n = names ? g_strv_length (names) : 0;

  if (tsv)
    files->table = (PlaitFeedTable){ "-", n };
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *option = g_strconcat ("--tsv ", names[i], NULL);
      g_autofree char *mended = plait_separators_mend (names[i], ",", is_source, files);
      PlaitTextLocation *location;
      const char *other;

      if (mended)
        return plait_fail (error, PLAIT_ERROR_INPUT, "%s: join names by ','; did you mean \"%s\"?", option, mended);
      if (g_str_equal (names[i], "-"))
        continue;
      location = find_text_location (files, names[i], option, error);
      if (!location)
        return FALSE;
      other = location < files->locations + files->n ? other_than_sentences (runs, names[i]) : NULL;
      if (other)
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "%s: this source is %s, which a column cannot hold; give it with --source", option, other);
      *location = (PlaitTextLocation){ { "-" }, i + 1 };
    }
  return TRUE;
}

static gboolean
check_sources (const gboolean *missing, const Files *files, GError **error)
{
  for (guint i = 0; i < files->n; i++)
    {
      const char *name = files->names[i];

      if (!files->locations[i].paths[0] == !missing[i])
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           missing[i]
                               ? "source \"%s\" is both given and left out by --without; remove one of the two options"
                               : "source \"%s\" is not given: add --source %s=FILE, or leave it out with --without %s",
                           name, name, name);
    }
  for (guint i = files->n; i < files->n_names; i++)
    if (!files->locations[i].paths[0] == !missing[files->owners[i]])
      return plait_fail (error, PLAIT_ERROR_INPUT,
                         missing[files->owners[i]]
                             ? "%s is given, but source \"%s\" is left out by --without: remove one of the two options"
                             : "%s is not given, but source \"%s\" needs it: add --source %s=FILE",
                         files->names[i], files->names[files->owners[i]], files->names[i]);
  return TRUE;
}

static gboolean
find_files (const PlaitInference *inference, Files *files, GError **error)
{
  g_autofree gboolean *missing = NULL;

  name_files (inference->runs, files);
  missing = g_new0 (gboolean, files->n);
  if (!take_sources (inference->options->sources, files, error)
      || !take_columns (inference->runs, inference->options->tsv, files, error))
    return FALSE;
  for (guint i = 0; inference->options->without && inference->options->without[i]; i++)
    {
      g_autofree char *option = g_strconcat ("--without ", inference->options->without[i], NULL);
      guint source = find_source (files, inference->options->without[i]);

      if (source == files->n)
        return unknown_source (files, option, error) != NULL;
      missing[source] = TRUE;
    }
  return check_sources (missing, files, error);
}

/* TRUE if no output is an input, the other output or (without --force) an old file, and at most one input is "-". */
static gboolean
check_files (const PlaitInference *inference, char *const *runs, const Files *files, const char *target, GError **error)
{
  guint n = files->n_names;
  const char *standard_input = files->table.path ? "columns" : NULL;

  for (guint i = 0; i <= n; i++)
    {
      const PlaitTextLocation *location = i < n ? &files->locations[i] : NULL;
      const char *file = location ? location->paths[0] : target;

      if (!plait_output_differs ("--attention", inference->options->attention, file, error)
          || !plait_output_differs ("--output", inference->options->output, file, error))
        return FALSE;
      if (file && g_str_equal (file, "-") && !(location && location->column > 0))
        {
          const char *name = location ? files->names[i] : "target";

          if (standard_input)
            return plait_fail (error, PLAIT_ERROR_INPUT,
                               "standard input cannot be both %s and %s; name a file for one of them", standard_input,
                               name);
          standard_input = name;
        }
    }
  for (guint i = 0; runs[i]; i++)
    if (!plait_output_differs ("--attention", inference->options->attention, runs[i], error)
        || !plait_output_differs ("--output", inference->options->output, runs[i], error))
      return FALSE;
  return plait_output_differs ("--attention", inference->options->attention, inference->options->output, error)
         && plait_file_check_new (inference->options->attention, inference->options->force, "", "--attention", error)
         && plait_file_check_new (inference->options->output, inference->options->force, "", "--output", error);
}

/* TRUE if all of @files, and @target unless it is NULL, are regular files, so that reading never waits for another
 * program. */
static gboolean
are_files (const Files *files, const char *target)
{
  gboolean are = !target || g_file_test (target, G_FILE_TEST_IS_REGULAR);

  for (guint i = 0; i < files->n_names; i++)
    are &= !files->locations[i].paths[0] || g_file_test (files->locations[i].paths[0], G_FILE_TEST_IS_REGULAR);
  return are;
}

void
plait_inference_clear (PlaitInference *inference)
{
  plait_store_free (inference->dump);
  plait_word_aligner_free (inference->aligner);
  plait_batch_free (inference->whole);
  plait_feed_free (inference->feed);
  plait_search_free (inference->search);
  plait_pool_free (inference->pool);
  g_clear_pointer (&inference->runs, g_ptr_array_unref);
}

/* Reads the weights of @n runs. */
static gboolean
read_weights (const PlaitInference *inference, guint n, double *weights, GError **error)
{
  const PlaitInferenceOptions *options = inference->options;

  if (n == 1 && (options->weights || options->ensemble))
    return plait_fail (error, PLAIT_ERROR_INPUT, "--%s: there is only one run; name several, or leave the option out",
                       options->weights ? "weights" : "ensemble");
  return plait_ensemble_weights (options->weights, n, weights, error);
}

gboolean
plait_inference_open (PlaitInference *inference, const PlaitInvocation *invocation, const char *target, GError **error)
{
  static const char *const search[] = { "decode.", "data.empty", "data.too_long", NULL };
  static const char *const forced[] = { "decode.batch", "decode.precision", "data.empty", "data.too_long", NULL };
  const PlaitInferenceOptions *options = invocation->options;
  const PlaitEnsembleOptions ensemble
      = { options->checkpoint, options->sets, options->implied, options->changed, invocation->log };
  PlaitEnsembleRule rule = (PlaitEnsembleRule)plait_option_choice (options->ensemble, PLAIT_ENSEMBLE_RULES);
  guint n = g_strv_length (invocation->arguments);
  g_autofree double *weights = g_new (double, n);
  g_auto (Files) files = { 0 };

  inference->options = options;
  if (!(target ? plait_option_sets (inference->options->sets, forced,
                                    "decode.batch, decode.precision, data.empty and data.too_long", error)
               : plait_option_sets (inference->options->sets, search, "data.empty, data.too_long and keys of [decode]",
                                    error)))
    return FALSE;
  inference->log = invocation->log;
  if (!read_weights (inference, n, weights, error))
    return FALSE;
  inference->runs = plait_ensemble_open (invocation->arguments, &ensemble, error);
  if (!inference->runs)
    return FALSE;
  inference->trained = inference->runs->pdata[0];
  if (inference->trained->experiment->predict.kind == PLAIT_PREDICT_MASKED)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s predicts the masked tokens of its own corpus, and cannot read other text; use it as "
                       "train.initialise of a run that translates or classifies",
                       invocation->arguments[0]);
  if (inference->options->attention && !plait_experiment_has_decoder (inference->trained->experiment))
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "--attention: %s has no decoder, so no attention; leave the option out",
                       invocation->arguments[0]);
  if (!find_files (inference, &files, error) || !check_files (inference, invocation->arguments, &files, target, error))
    return FALSE;
  inference->are_files = are_files (&files, target);
  inference->feed = open_feed (inference->runs, &files, target, error);
  if (!inference->feed)
    return FALSE;
  inference->pool = plait_pool_new ((guint)inference->options->threads, error);
  if (!inference->pool || !plait_blas_reserve (inference->pool, error))
    return FALSE;
  inference->search = plait_ensemble_search (inference->runs, weights, rule, inference->pool, error);
  if (!inference->search
      || (!target
          && !plait_replacement_prepare (inference->search, inference->trained->experiment_model,
                                         inference->trained->run_inputs, error)))
    return FALSE;
  if (options->attention && !(inference->dump = plait_store_create (options->attention, error)))
    return FALSE;
  if (options->alignment
      && !(inference->aligner
           = plait_word_aligner_new (inference->trained->experiment_model, inference->trained->run_inputs,
                                     "--alignment", options->alignment, error)))
    return FALSE;
  inference->stop = plait_stop_reads_on_signals ();
  return TRUE;
}

gboolean
plait_inference_dump (PlaitInference *inference, const PlaitBatch *batch, const PlaitAttentionRecords *attention,
                      const PlaitHypotheses *hypotheses, GError **error)
{
  PlaitEvaluator evaluator = { inference->trained->experiment_model, inference->trained->run_inputs, inference->search,
                               inference->log, inference->stop };
  PlaitBatch read = plait_search_member_batch (inference->search, 0, batch);
  g_auto (GStrv) names = g_new0 (char *, batch->n_sentences + 1);

  if (!inference->dump)
    return TRUE;
  for (gint64 s = 0; s < batch->n_sentences; s++)
    names[s] = plait_feed_name (inference->feed, batch->sentence[s]);
  return plait_evaluation_write_batch_attention (&evaluator, hypotheses ? "translation" : "forced", &read, names,
                                                 attention, hypotheses, inference->dump, error);
}
