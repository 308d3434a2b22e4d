/* SPDX-License-Identifier: MIT */
#include "cli/streams.h"

#include "cli/options.h"
#include "cli/stop.h"
#include "tensor/blas.h"

#include <string.h>

/* What was given for each source, nothing for a missing one, and for its trees, nothing where none are read. */
typedef struct
{
  PlaitTextPlace *texts;
  PlaitTextPlace *trees;
  PlaitFeedTable table;
} Files;

static void
files_clear (Files *files)
{
  g_free (files->texts);
  g_free (files->trees);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Files, files_clear)

/* The name under which the trees of @source are given, or NULL if they come from no file. (transfer full) */
static char *
trees_name (const PlaitExperiment *experiment, guint source)
{
  if (!experiment->sources[source].trees || experiment->data.trees != PLAIT_TREES_GIVEN)
    return NULL;
  return g_strconcat (experiment->sources[source].name, ".trees", NULL);
}

/* Where the file of "NAME" or "NAME.trees", of @length bytes, belongs, or NULL. */
static PlaitTextPlace *
find_place (const PlaitExperiment *experiment, const Files *files, const char *name, gsize length)
{
  for (guint i = 0; i < experiment->n_sources; i++)
    {
      g_autofree char *trees = trees_name (experiment, i);
      const char *source = experiment->sources[i].name;

      if (strlen (source) == length && strncmp (source, name, length) == 0)
        return &files->texts[i];
      if (trees && strlen (trees) == length && strncmp (trees, name, length) == 0)
        return &files->trees[i];
    }
  return NULL;
}

static gboolean
unknown_source (const PlaitExperiment *experiment, const char *option, GError **error)
{
  g_autoptr (GString) names = g_string_new (NULL);

  for (guint i = 0; i < experiment->n_sources; i++)
    {
      g_autofree char *trees = trees_name (experiment, i);

      g_string_append_printf (names, "%s%s%s%s", i ? ", " : "", experiment->sources[i].name, trees ? ", " : "",
                              trees ? trees : "");
    }
  return plait_fail (error, PLAIT_ERROR_INPUT, "%s: the run has no such source; it reads: %s", option, names->str);
}

static gboolean
take_sources (const PlaitExperiment *experiment, const char *const *given, Files *files, GError **error)
{
  for (guint i = 0; given && given[i]; i++)
    {
      const char *equals = strchr (given[i], '=');
      PlaitTextPlace *place = equals ? find_place (experiment, files, given[i], (gsize)(equals - given[i])) : NULL;

      if (!equals || equals[1] == '\0')
        return plait_fail (error, PLAIT_ERROR_INPUT, "--source %s: expected NAME=FILE", given[i]);
      if (!place)
        {
          g_autofree char *option = g_strconcat ("--source ", given[i], NULL);

          return unknown_source (experiment, option, error);
        }
      if (place->path)
        return plait_fail (error, PLAIT_ERROR_INPUT, "--source %s: this source was given already", given[i]);
      place->path = equals + 1;
    }
  return TRUE;
}

/* What the source of @files whose text stands at @place is, where a column of sentences cannot be it; else NULL. */
static const char *
other_than_sentences (const PlaitExperiment *experiment, const Files *files, const PlaitTextPlace *place)
{
  for (guint i = 0; i < experiment->n_sources; i++)
    if (place == &files->texts[i])
      return !plait_input_kind_is_text (experiment->sources[i].kind) ? "features"
             : plait_experiment_documents (experiment, experiment->sources[i].stream).layout != PLAIT_LAYOUT_SENTENCES
                 ? "documents"
                 : NULL;
  return NULL;
}

/* The columns of standard input that @tsv names. */
static gboolean
take_columns (const PlaitExperiment *experiment, const char *tsv, Files *files, GError **error)
{
  g_auto (GStrv) names = tsv ? g_strsplit (tsv, ",", -1) : NULL;
  guint n = names ? g_strv_length (names) : 0;

  if (tsv)
    files->table = (PlaitFeedTable){ "-", n };
  for (guint i = 0; i < n; i++)
    {
      PlaitTextPlace *place = find_place (experiment, files, names[i], strlen (names[i]));
      g_autofree char *option = g_strconcat ("--tsv ", names[i], NULL);
      const char *other;

      if (g_str_equal (names[i], "-"))
        continue;
      if (!place)
        return unknown_source (experiment, option, error);
      if (place->path)
        return plait_fail (error, PLAIT_ERROR_INPUT, "%s: this source was given already", option);
      other = other_than_sentences (experiment, files, place);
      if (other)
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "%s: this source is %s, which columns of lines cannot hold; give it by --source", option,
                           other);
      *place = (PlaitTextPlace){ "-", i + 1 };
    }
  return TRUE;
}

static gboolean
check_sources (const PlaitExperiment *experiment, const gboolean *missing, const Files *files, GError **error)
{
  for (guint i = 0; i < experiment->n_sources; i++)
    {
      const char *name = experiment->sources[i].name;
      g_autofree char *trees = trees_name (experiment, i);

      if (!files->texts[i].path == !missing[i])
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           missing[i]
                               ? "source \"%s\" is given and left out by --without"
                               : "source \"%s\" is not given: add --source %s=FILE, or --without %s to leave it out",
                           name, name, name);
      if (missing[i] && files->trees[i].path)
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "the trees of source \"%s\" are given, but it is left out by --without", name);
      if (!missing[i] && trees && !files->trees[i].path)
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "source \"%s\" is given without its trees, which its encoder reads: add --source %s=FILE",
                           name, trees);
    }
  return TRUE;
}

static gboolean
find_files (const PlaitExperiment *experiment, const char *const *given, const char *tsv, const char *const *without,
            Files *files, GError **error)
{
  g_autofree gboolean *missing = g_new0 (gboolean, experiment->n_sources);

  files->texts = g_new0 (PlaitTextPlace, experiment->n_sources);
  files->trees = g_new0 (PlaitTextPlace, experiment->n_sources);
  if (!take_sources (experiment, given, files, error) || !take_columns (experiment, tsv, files, error))
    return FALSE;
  for (guint i = 0; without && without[i]; i++)
    {
      guint source = 0;

      while (source < experiment->n_sources && !g_str_equal (experiment->sources[source].name, without[i]))
        source++;
      if (source == experiment->n_sources)
        {
          g_autofree char *option = g_strconcat ("--without ", without[i], NULL);

          return unknown_source (experiment, option, error);
        }
      missing[source] = TRUE;
    }
  return check_sources (experiment, missing, files, error);
}

/* Standard input can be read once, and what is read, or was there before, must not be written over. */
static gboolean
check_files (const PlaitTextUse *use, const char *run, const Files *files, const char *target, GError **error)
{
  guint n = use->trained->experiment->n_sources;
  const char *standard_input = files->table.path ? "columns" : NULL;

  for (guint i = 0; i <= 2 * n; i++)
    {
      const PlaitTextPlace *place = i < n ? &files->texts[i] : i < 2 * n ? &files->trees[i - n] : NULL;
      const char *file = place ? place->path : target;

      if (!plait_output_differs ("--attention", use->attention, file, error)
          || !plait_output_differs ("--output", use->output, file, error))
        return FALSE;
      if (file && g_str_equal (file, "-") && !(place && place->column > 0))
        {
          const char *name = i < 2 * n ? use->trained->experiment->sources[i % n].name : "target";

          if (standard_input)
            return plait_fail (error, PLAIT_ERROR_INPUT,
                               "standard input cannot be both %s and %s: name a file for one of them", standard_input,
                               i < n || i == 2 * n ? name : "its trees");
          standard_input = name;
        }
    }
  return plait_output_differs ("--attention", use->attention, run, error)
         && plait_output_differs ("--output", use->output, run, error)
         && plait_output_differs ("--attention", use->attention, use->output, error)
         && plait_file_check_new (use->attention, use->force, "", "--attention", error)
         && plait_file_check_new (use->output, use->force, "", "--output", error);
}

void
plait_text_use_clear (PlaitTextUse *use)
{
  plait_store_free (use->dump);
  plait_feed_free (use->feed);
  plait_search_free (use->search);
  plait_pool_free (use->pool);
  plait_trained_free (use->trained);
}

gboolean
plait_text_use_open (PlaitTextUse *use, const PlaitInvocation *invocation, const char *target, GError **error)
{
  static const char *const keys[] = { "decode.", "data.empty=", NULL };
  g_auto (Files) files = { NULL };
  guint threads = 0;

  if (!plait_option_threads (use->threads, &threads, error)
      || !plait_option_sets (use->sets, keys, "[decode] and data.empty", error))
    return FALSE;
  use->log = invocation->log;
  use->trained = plait_trained_open (invocation->arguments[0], use->checkpoint, use->sets, invocation->log, error);
  if (!use->trained)
    return FALSE;
  if (use->trained->experiment->predict.kind == PLAIT_PREDICT_MASKED)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s predicts the masked tokens of its own corpus, nothing of other text; begin a run that "
                       "translates or classifies with it (train.initialise)",
                       invocation->arguments[0]);
  if (use->attention && !plait_experiment_has_decoder (use->trained->experiment))
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "--attention: %s has no decoder that could pay attention; leave the option out",
                       invocation->arguments[0]);
  if (!find_files (use->trained->experiment, use->sources, use->tsv, use->without, &files, error)
      || !check_files (use, invocation->arguments[0], &files, target, error))
    return FALSE;
  use->feed
      = plait_materials_open_feed (use->trained->materials, files.texts, files.trees, target, &files.table, error);
  if (!use->feed)
    return FALSE;
  use->pool = plait_pool_new (threads, error);
  if (!use->pool || !plait_blas_reserve (use->pool, error))
    return FALSE;
  use->search = plait_search_new (use->trained->system->model, use->pool,
                                  (PlaitPrecision)use->trained->experiment->decode.precision, 0, error);
  if (!use->search)
    return FALSE;
  if (use->attention)
    {
      use->dump = plait_store_create (use->attention, error);
      if (!use->dump)
        return FALSE;
    }
  use->stop = plait_stop_reads_on_signals ();
  return TRUE;
}

PlaitBatch *
plait_text_use_next (PlaitTextUse *use, gint64 sentences, GError **error)
{
  PlaitBatch *batch = plait_feed_next (use->feed, sentences, error);

  if (batch && g_atomic_int_get (use->stop))
    {
      plait_fail (error, PLAIT_ERROR_INTERRUPTED, "interrupted before line %" G_GINT64_FORMAT,
                  plait_feed_line (use->feed, batch->sentence[0]) + 1);
      g_clear_pointer (&batch, plait_batch_free);
    }
  return batch;
}

gboolean
plait_text_use_dump (PlaitTextUse *use, const PlaitBatch *batch, const PlaitSentenceAttention *attention,
                     const PlaitHypotheses *hypotheses, GError **error)
{
  PlaitEvaluator evaluator = { use->trained->system, use->trained->materials, use->search, use->log, use->stop };
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  g_auto (GStrv) names = NULL;

  if (!use->dump)
    return TRUE;
  for (gint64 s = 0; s < batch->n_sentences; s++)
    {
      g_autofree char *name = plait_feed_name (use->feed, batch->sentence[s]);

      g_strv_builder_add (builder, name);
    }
  names = g_strv_builder_end (builder);
  return plait_evaluation_write_batch_attention (&evaluator, hypotheses ? "translation" : "forced", batch, names,
                                                 attention, hypotheses, use->dump, error);
}
