/* SPDX-License-Identifier: MIT */
#include "cli/command.h"
#include "cli/stop.h"
#include "cli/streams.h"
#include "evaluate/perplexity.h"
#include "experiment/evaluation.h"

#include <math.h>
#include <stdio.h>

/* plait score: forced decoding of given translations. */

static gboolean
score (PlaitSearch *search, PlaitFeed *feed, gint64 batch_size, const PlaitEvaluator *evaluator, PlaitStore *dump,
       double *sum, gint64 *tokens, GError **error)
{
  for (;;)
    {
      g_autoptr (GError) local = NULL;
      g_autoptr (PlaitBatch) batch = plait_feed_next (feed, batch_size, &local);
      g_autofree double *rows = NULL;
      PlaitSentenceAttention *attention = NULL;
      gboolean good = TRUE;

      if (local)
        {
          g_propagate_error (error, g_steal_pointer (&local));
          return FALSE;
        }
      if (!batch)
        return TRUE;
      if (evaluator->stop && g_atomic_int_get (evaluator->stop))
        return plait_fail (error, PLAIT_ERROR_INTERRUPTED, "interrupted");
      rows = g_new (double, plait_ragged_rows (batch->target_rows));
      if (!plait_search_forced (search, batch, rows, dump ? &attention : NULL, error))
        return FALSE;
      for (gint64 i = 0; i < batch->n_sentences; i++)
        {
          gint64 length = plait_ragged_length (batch->target_rows, i);
          char number[G_ASCII_DTOSTR_BUF_SIZE];
          double total = 0;

          for (gint64 t = 0; t < length; t++)
            total += rows[batch->target_rows.offsets[i] + t];
          printf ("%s\t%" G_GINT64_FORMAT "\n", g_ascii_formatd (number, sizeof number, "%.6f", total), length);
          *sum += total;
          *tokens += length;
        }
      if (dump)
        good = plait_evaluation_write_batch_attention (evaluator, "forced", batch, attention, NULL, dump, error);
      plait_sentence_attention_free (attention, batch->n_sentences);
      if (!good)
        return FALSE;
      plait_log_progress (evaluator->log, "%" G_GINT64_FORMAT " target tokens", *tokens);
    }
}

gboolean
plait_command_score (PlaitInvocation *invocation, GError **error)
{
  g_auto (GStrv) sources = NULL;
  g_auto (GStrv) without = NULL;
  g_autofree char *target = NULL;
  g_autofree char *attention_path = NULL;
  g_autofree char *checkpoint = NULL;
  gint threads = 0;
  const GOptionEntry entries[] = {
    { "source", 's', 0, G_OPTION_ARG_FILENAME_ARRAY, &sources, "Text (or features) of a source", "NAME=FILE" },
    { "without", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &without, "Leave a source out", "NAME" },
    { "target", 0, 0, G_OPTION_ARG_FILENAME, &target, "Translations to score", "FILE" },
    { "attention", 'a', 0, G_OPTION_ARG_FILENAME, &attention_path, "Dump the teacher-forced attention", "DUMP.h5" },
    { "checkpoint", 'c', 0, G_OPTION_ARG_FILENAME, &checkpoint, "best (the default), last or average", "NAME" },
    { "threads", 't', 0, G_OPTION_ARG_INT, &threads, "Threads; else as many as there are processors", "N" },
    { NULL },
  };
  g_autoptr (PlaitPool) pool = NULL;
  g_autoptr (PlaitTrained) trained = NULL;
  g_autoptr (PlaitSearch) search = NULL;
  g_autoptr (PlaitFeed) feed = NULL;
  g_autoptr (PlaitStore) dump = NULL;
  g_autofree const char **files = NULL;
  PlaitEvaluator evaluator;
  double sum = 0;
  gint64 tokens = 0;

  if (!plait_invocation_parse (invocation, entries, 1, 1, error))
    return FALSE;
  if (!target)
    return plait_fail (error, PLAIT_ERROR_INPUT, "there is nothing to score: add --target FILE");
  if (threads < 0)
    return plait_fail (error, PLAIT_ERROR_INPUT, "--threads=%d: expected a number from 0 (all processors) on", threads);
  trained = plait_trained_open (invocation->arguments[0], checkpoint, invocation->log, error);
  if (!trained)
    return FALSE;
  files = plait_source_files (trained->experiment, (const char *const *)sources, (const char *const *)without, error);
  feed = files ? plait_materials_open_feed (trained->materials, files, target, error) : NULL;
  if (!feed)
    return FALSE;
  if (attention_path && !(dump = plait_store_create (attention_path, error)))
    return FALSE;
  pool = plait_pool_new ((guint)threads);
  search = plait_search_new (trained->system->model, pool, 0, error);
  if (!search)
    return FALSE;
  evaluator = (PlaitEvaluator){
    .system = trained->system,
    .materials = trained->materials,
    .search = search,
    .log = invocation->log,
    .stop = plait_stop_on_signals (),
  };
  if (!score (search, feed, trained->experiment->decode.batch, &evaluator, dump, &sum, &tokens, error))
    return FALSE;
  plait_log_progress_end (invocation->log);
  plait_log_info (invocation->log, "%" G_GINT64_FORMAT " tokens, perplexity a token %.4f", tokens,
                  exp (-sum / (double)MAX (1, tokens)));
  return !dump || plait_store_commit (dump, error);
}
