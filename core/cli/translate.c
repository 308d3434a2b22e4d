/* SPDX-License-Identifier: MIT */
#include "cli/command.h"
#include "cli/options.h"
#include "cli/streams.h"
#include "cli/translation-print.h"

/*
 * plait translate: raw text in, translations out, batch by batch as lines come; with --attention also a dump.
 */

/* As [decode] has it. */
#define MOST_HYPOTHESES 1000

static gboolean
translate (PlaitTextUse *use, const PlaitDecodeSettings *settings, gboolean scored, FILE *stream, gint64 *done,
           GError **error)
{
  const PlaitExperiment *experiment = use->trained->experiment;
  const char *target = experiment->data.target;
  PlaitTranslationPrinter printer = {
    .stream = stream,
    .scored = scored,
    .vocabulary = plait_materials_vocabulary (use->trained->materials, target),
    .layout = plait_experiment_documents (experiment, target).layout,
    .line = -1,
  };

  for (;;)
    {
      g_autoptr (GError) local = NULL;
      g_autoptr (PlaitBatch) batch = plait_text_use_next (use, settings->batch, &local);
      PlaitSentenceAttention *attention = NULL;
      PlaitHypotheses *found;
      gboolean good;

      if (local)
        {
          g_propagate_error (error, g_steal_pointer (&local));
          return FALSE;
        }
      if (!batch)
        {
          plait_translation_print_end (&printer);
          return TRUE;
        }
      found = plait_search_batch_with_attention (use->search, batch, settings, use->dump ? &attention : NULL, TRUE,
                                                 error);
      if (!found)
        return FALSE;
      for (gint64 i = 0; i < batch->n_sentences; i++)
        plait_translation_print (&printer, plait_feed_line (use->feed, batch->sentence[i]), &found[i]);
      fflush (stream);
      good = plait_text_use_dump (use, batch, attention, found, error);
      plait_hypotheses_free (found, batch->n_sentences);
      if (!good)
        return FALSE;
      *done += batch->n_sentences;
      plait_log_progress (use->log, "%" G_GINT64_FORMAT " sentences so far", *done);
    }
}

/* Options as they were given. */
typedef struct
{
  char *beam, *n_best;
} Texts;

static void
texts_clear (Texts *texts)
{
  g_free (texts->beam);
  g_free (texts->n_best);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Texts, texts_clear)

/* The experiment's settings of search, with what the options say. */
static gboolean
decode_settings (const PlaitDecodeSettings *usual, const Texts *texts, PlaitDecodeSettings *settings, GError **error)
{
  *settings = *usual;
  settings->n_best = 1;
  if (!plait_option_integer ("--n-best", texts->n_best, 1, MOST_HYPOTHESES, &settings->n_best, error))
    return FALSE;
  settings->beam = MAX (settings->beam, settings->n_best);
  if (!plait_option_integer ("--beam", texts->beam, 1, MOST_HYPOTHESES, &settings->beam, error))
    return FALSE;
  return settings->n_best <= settings->beam
         || plait_fail (error, PLAIT_ERROR_INPUT,
                        "--n-best %" G_GINT64_FORMAT " is more than the beam of %" G_GINT64_FORMAT
                        " keeps: raise --beam",
                        settings->n_best, settings->beam);
}

gboolean
plait_command_translate (PlaitInvocation *invocation, GError **error)
{
  g_auto (PlaitTextUse) use = { 0 };
  g_auto (Texts) texts = { NULL };
  const GOptionEntry entries[] = {
    PLAIT_TEXT_USE_OPTIONS (use),
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &use.output, "Write here instead of standard output", "FILE" },
    PLAIT_OUTPUT_FORCE (use.force),
    { "set", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &use.sets,
      "Set a key of [decode] otherwise than the experiment, such as decode.batch=8", "decode.K=V" },
    { "beam", 'b', 0, G_OPTION_ARG_FILENAME, &texts.beam, "Hypotheses kept; else the experiment's", "N" },
    { "n-best", 0, 0, G_OPTION_ARG_FILENAME, &texts.n_best,
      "Print N hypotheses a line: line, score, log-probability, text", "N" },
    { NULL },
  };
  g_auto (PlaitOutput) to = { 0 };
  PlaitDecodeSettings settings;
  g_autofree char *told = NULL;
  PlaitSearchWork work;
  gint64 done = 0;
  gboolean good;

  if (!plait_invocation_parse (invocation, entries, 1, 1, error) || !plait_text_use_open (&use, invocation, NULL, error)
      || !decode_settings (&use.trained->experiment->decode, &texts, &settings, error))
    return FALSE;
  if (!plait_output_begin (&to, use.output, error))
    return FALSE;
  good = translate (&use, &settings, texts.n_best != NULL, to.stream, &done, error);
  plait_log_progress_end (use.log);
  if (!good || !plait_output_commit (&to, error) || (use.dump && !plait_store_commit (use.dump, error)))
    return FALSE;
  if (use.output)
    plait_log_info (use.log, "%s: %" G_GINT64_FORMAT " sentences", use.output, done);
  if (!plait_experiment_has_decoder (use.trained->experiment))
    return TRUE;
  work = plait_search_work (use.search);
  told = plait_search_work_text (&work);
  plait_log_info (use.log, "%s", told);
  return TRUE;
}
