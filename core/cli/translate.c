/* SPDX-License-Identifier: MIT */
#include "cli/command.h"
#include "cli/options.h"
#include "cli/streams.h"
#include "cli/translation-print.h"

/*
 * plait translate: raw text in, translations out, batch by batch as lines come, with scores and alignments if asked
 * for; with --attention also a dump.
 */

/* As [decode] has it. */
#define MOST_HYPOTHESES 1000
/* In the order of PlaitTranslationFormat. */
#define FORMATS "text|tsv|json"

/* Prints the translations of sentence @sentence of @batch, and which words they align. */
static gboolean
print (const PlaitTextUse *use, PlaitTranslationPrinter *printer, const PlaitBatch *batch, gint64 sentence,
       const PlaitSentenceAttention *attention, const PlaitHypotheses *found, GError **error)
{
  const PlaitWordAligner *aligner = printer->aligner;
  g_autoptr (GPtrArray) alignments = g_ptr_array_new_with_free_func (g_free);

  for (guint h = 0; aligner && h < found->n; h++)
    for (guint i = 0; i < aligner->n; i++)
      {
        char *text = plait_word_aligner_align (
            aligner, i, batch, sentence, &attention[h * batch->n_sentences + sentence], &found->hypotheses[h], error);

        if (!text)
          return FALSE;
        g_ptr_array_add (alignments, text);
      }
  plait_translation_print (printer, plait_feed_line (use->feed, batch->sentence[sentence]), found,
                           (const char *const *)alignments->pdata);
  return TRUE;
}

static gboolean
translate_batch (PlaitTextUse *use, const PlaitDecodeSettings *settings, PlaitTranslationPrinter *printer,
                 const PlaitBatch *batch, GError **error)
{
  PlaitSentenceAttention *attention = NULL;
  guint attended = printer->aligner ? (guint)settings->n_best : use->dump ? 1 : 0;
  PlaitHypotheses *found = plait_search_batch_with_attention (
      use->search, batch, settings, attended > 0 ? &attention : NULL, attended, use->dump != NULL, error);
  gboolean good = TRUE;

  if (!found)
    return FALSE;
  for (gint64 i = 0; good && i < batch->n_sentences; i++)
    good = print (use, printer, batch, i, attention, &found[i], error);
  fflush (printer->stream);
  good = good && plait_text_use_dump (use, batch, attention, found, error);
  plait_sentence_attention_free (attention, attended * batch->n_sentences);
  plait_hypotheses_free (found, batch->n_sentences);
  return good;
}

static gboolean
translate (PlaitTextUse *use, const PlaitDecodeSettings *settings, PlaitTranslationPrinter *printer, gint64 *done,
           GError **error)
{
  for (;;)
    {
      g_autoptr (GError) local = NULL;
      g_autoptr (PlaitBatch) batch = plait_text_use_next (use, settings->batch, &local);

      if (!plait_no_fault (&local, error))
        return FALSE;
      if (!batch)
        {
          plait_translation_print_end (printer);
          return TRUE;
        }
      if (!translate_batch (use, settings, printer, batch, error))
        return FALSE;
      *done += batch->n_sentences;
      plait_log_progress (use->log, "%" G_GINT64_FORMAT " sentence%s so far", *done, *done == 1 ? "" : "s");
    }
}

/* Options as they were given. */
typedef struct
{
  char *beam, *n_best, *format, *alignment;
} Texts;

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

/* What is printed: what --format says; else text, or fields if there is more than text to tell. */
static gboolean
read_format (const Texts *texts, PlaitTranslationFormat *format, GError **error)
{
  PlaitTranslationFormat usual = texts->n_best || texts->alignment ? PLAIT_TRANSLATION_TSV : PLAIT_TRANSLATION_TEXT;

  *format = texts->format ? (PlaitTranslationFormat)plait_option_choice (texts->format, FORMATS) : usual;
  return *format != PLAIT_TRANSLATION_TEXT || usual == PLAIT_TRANSLATION_TEXT
         || plait_fail (error, PLAIT_ERROR_INPUT, "--format text has no room for what %s asks for; take tsv or json",
                        texts->n_best ? "--n-best" : "--alignment");
}

gboolean
plait_command_translate (PlaitInvocation *invocation, GError **error)
{
  g_auto (PlaitTextUse) use = { 0 };
  Texts texts = { NULL };
  const GOptionEntry entries[] = {
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &use.output, "Write here instead of standard output", "FILE" },
    PLAIT_OUTPUT_FORCE (use.force),
    { "beam", 'b', 0, G_OPTION_ARG_FILENAME, &texts.beam, "Hypotheses kept; else the experiment's", "N" },
    { "n-best", 0, 0, G_OPTION_ARG_FILENAME, &texts.n_best, "Print N hypotheses a line, with their scores", "N" },
    { "alignment", 0, 0, G_OPTION_ARG_FILENAME, &texts.alignment,
      "Print which words each attends to: mean over the layers, last, or a layer from 0; and a head, as in 2:0",
      "LAYER[:HEAD]" },
    { "format", 0, 0, G_OPTION_ARG_FILENAME, &texts.format, "What to print; tsv and json have the scores too (text)",
      FORMATS },
    { NULL },
  };
  g_auto (PlaitOutput) to = { 0 };
  g_autoptr (PlaitWordAligner) aligner = NULL;
  PlaitTranslationPrinter printer = { .line = -1 };
  const PlaitExperiment *experiment;
  PlaitDecodeSettings settings;
  g_autofree char *told = NULL;
  PlaitSearchWork work;
  gint64 done = 0;
  gboolean good;

  if (!plait_text_use_parse (&use, invocation, entries, error) || !read_format (&texts, &printer.format, error)
      || !plait_text_use_open (&use, invocation, NULL, error)
      || !decode_settings (&use.trained->experiment->decode, &texts, &settings, error))
    return FALSE;
  experiment = use.trained->experiment;
  if (texts.alignment)
    {
      aligner = plait_word_aligner_new (use.trained->system, use.trained->materials, texts.alignment, error);
      if (!aligner)
        return FALSE;
    }
  if (!plait_output_begin (&to, use.output, error))
    return FALSE;
  printer.stream = to.stream;
  printer.aligner = aligner;
  printer.vocabulary = plait_materials_vocabulary (use.trained->materials, experiment->data.target);
  printer.layout = plait_experiment_documents (experiment, experiment->data.target).layout;
  printer.whole = !plait_experiment_has_decoder (experiment);
  good = translate (&use, &settings, &printer, &done, error);
  plait_log_progress_end (use.log);
  if (!good || !plait_output_commit (&to, error) || (use.dump && !plait_store_commit (use.dump, error)))
    return FALSE;
  if (use.output)
    plait_log_info (use.log, "%s: %" G_GINT64_FORMAT " sentences", use.output, done);
  if (!plait_experiment_has_decoder (experiment))
    return TRUE;
  work = plait_search_work (use.search);
  told = plait_search_work_text (&work);
  plait_log_info (use.log, "%s", told);
  return TRUE;
}
