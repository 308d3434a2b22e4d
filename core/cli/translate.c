/* SPDX-License-Identifier: MIT */
#include "cli/command.h"
#include "cli/stop.h"
#include "cli/streams.h"
#include "base/file.h"
#include "experiment/evaluation.h"

#include <stdio.h>

/*
 * plait translate: raw text in, translations out, batch by batch as lines come; with --attention also a dump.
 */

typedef struct
{
  gboolean scores;  /* print n-best lists with scores */
  PlaitStore *dump; /* or NULL */
  FILE *stream;
} Output;

static void
print_sentence (const Output *output, const PlaitVocabulary *vocabulary, gint64 line, const PlaitHypotheses *found)
{
  for (guint i = 0; i < MAX (found->n, 1); i++)
    {
      const PlaitHypothesis *hypothesis = i < found->n ? &found->hypotheses[i] : NULL;
      g_autofree char *text = hypothesis
                                  ? plait_vocabulary_decode (vocabulary, hypothesis->tokens, (gsize)hypothesis->length)
                                  : g_strdup ("");

      if (output->scores && hypothesis)
        {
          char score[G_ASCII_DTOSTR_BUF_SIZE];
          char log_probability[G_ASCII_DTOSTR_BUF_SIZE];

          fprintf (output->stream, "%" G_GINT64_FORMAT "\t%s\t%s\t%s\n", line + 1,
                   g_ascii_formatd (score, sizeof score, "%.6f", hypothesis->score),
                   g_ascii_formatd (log_probability, sizeof log_probability, "%.6f", hypothesis->log_probability),
                   text);
        }
      else
        fprintf (output->stream, "%s\n", text);
    }
}

static gboolean
translate (const PlaitTrained *trained, PlaitSearch *search, PlaitFeed *feed, const PlaitDecodeSettings *settings,
           const Output *output, const gint *stop, PlaitLog *log, GError **error)
{
  const PlaitExperiment *experiment = trained->experiment;
  const PlaitVocabulary *vocabulary = plait_materials_vocabulary (trained->materials, experiment->data.target);
  PlaitEvaluator evaluator
      = { .system = trained->system, .materials = trained->materials, .search = search, .log = log, .stop = stop };
  gint64 done = 0;

  for (;;)
    {
      g_autoptr (GError) local = NULL;
      g_autoptr (PlaitBatch) batch = plait_feed_next (feed, settings->batch, &local);
      PlaitSentenceAttention *attention = NULL;
      PlaitHypotheses *found;
      gboolean good = TRUE;

      if (local)
        {
          g_propagate_error (error, g_steal_pointer (&local));
          return FALSE;
        }
      if (!batch)
        return TRUE;
      if (stop && g_atomic_int_get (stop))
        return plait_fail (error, PLAIT_ERROR_INTERRUPTED, "interrupted after %" G_GINT64_FORMAT " sentences", done);
      found = plait_search_batch_with_attention (search, batch, settings, output->dump ? &attention : NULL, error);
      if (!found)
        return FALSE;
      for (gint64 i = 0; i < batch->n_sentences; i++)
        print_sentence (output, vocabulary, batch->sentence[i], &found[i]);
      fflush (output->stream);
      if (output->dump)
        good = plait_evaluation_write_batch_attention (&evaluator, "translation", batch, attention, found, output->dump,
                                                       error);
      plait_sentence_attention_free (attention, batch->n_sentences);
      plait_hypotheses_free (found, batch->n_sentences);
      if (!good)
        return FALSE;
      done += batch->n_sentences;
      plait_log_progress (log, "%" G_GINT64_FORMAT " sentences", done);
    }
}

gboolean
plait_command_translate (PlaitInvocation *invocation, GError **error)
{
  g_auto (GStrv) sources = NULL;
  g_auto (GStrv) without = NULL;
  g_autofree char *output_path = NULL;
  g_autofree char *attention_path = NULL;
  g_autofree char *checkpoint = NULL;
  gint beam = 0;
  gint n_best = 0;
  gint threads = 0;
  gint batch = 0;
  const GOptionEntry entries[] = {
    { "source", 's', 0, G_OPTION_ARG_FILENAME_ARRAY, &sources, "Text (or features) of a source; - is standard input",
      "NAME=FILE" },
    { "without", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &without, "Leave a source out", "NAME" },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &output_path, "Write here instead of standard output", "FILE" },
    { "beam", 'b', 0, G_OPTION_ARG_INT, &beam, "Hypotheses kept; else the experiment's", "N" },
    { "n-best", 0, 0, G_OPTION_ARG_INT, &n_best, "Print N hypotheses a line: line, score, log-probability, text", "N" },
    { "batch", 0, 0, G_OPTION_ARG_INT, &batch, "Sentences searched together; else the experiment's", "N" },
    { "attention", 'a', 0, G_OPTION_ARG_FILENAME, &attention_path, "Dump the attention of every sentence", "DUMP.h5" },
    { "checkpoint", 'c', 0, G_OPTION_ARG_FILENAME, &checkpoint, "best (the default), last or average", "NAME" },
    { "threads", 't', 0, G_OPTION_ARG_INT, &threads, "Threads; else as many as there are processors", "N" },
    { NULL },
  };
  g_autoptr (PlaitPool) pool = NULL;
  g_autoptr (PlaitTrained) trained = NULL;
  g_autoptr (PlaitSearch) search = NULL;
  g_autoptr (PlaitFeed) feed = NULL;
  g_autoptr (PlaitStore) dump = NULL;
  g_autoptr (PlaitFile) file = NULL;
  g_autofree const char **files = NULL;
  PlaitDecodeSettings settings;
  Output output = { .stream = stdout };
  gboolean good;

  if (!plait_invocation_parse (invocation, entries, 1, 1, error))
    return FALSE;
  if (beam < 0 || n_best < 0 || threads < 0 || batch < 0)
    return plait_fail (error, PLAIT_ERROR_INPUT, "--beam, --n-best, --batch and --threads take numbers from 1 on");
  trained = plait_trained_open (invocation->arguments[0], checkpoint, invocation->log, error);
  if (!trained)
    return FALSE;
  files = plait_source_files (trained->experiment, (const char *const *)sources, (const char *const *)without, error);
  if (!files)
    return FALSE;
  feed = plait_materials_open_feed (trained->materials, files, NULL, error);
  if (!feed)
    return FALSE;
  settings = trained->experiment->decode;
  settings.beam = beam ? beam : MAX (settings.beam, n_best);
  settings.n_best = MAX (1, n_best);
  settings.batch = batch ? batch : settings.batch;
  if (settings.n_best > settings.beam)
    return plait_fail (error, PLAIT_ERROR_INPUT, "--n-best=%d is more than the beam of %d keeps: raise --beam", n_best,
                       beam);
  pool = plait_pool_new ((guint)threads);
  search = plait_search_new (trained->system->model, pool, 0, error);
  if (!search)
    return FALSE;
  output.scores = n_best > 0;
  if (attention_path)
    {
      output.dump = dump = plait_store_create (attention_path, error);
      if (!dump)
        return FALSE;
    }
  if (output_path)
    {
      file = plait_file_begin (output_path, error);
      if (!file)
        return FALSE;
      output.stream = fopen (plait_file_temporary (file), "w");
      if (!output.stream)
        return plait_fail (error, PLAIT_ERROR_FAILED, "%s cannot be written", output_path);
    }
  good = translate (trained, search, feed, &settings, &output, plait_stop_on_signals (), invocation->log, error);
  plait_log_progress_end (invocation->log);
  if (output_path && (fclose (output.stream) != 0) && good)
    good = plait_fail (error, PLAIT_ERROR_FAILED, "%s cannot be written: the disk may be full", output_path);
  if (!good)
    return FALSE;
  return (!file || plait_file_commit (g_steal_pointer (&file), error)) && (!dump || plait_store_commit (dump, error));
}
