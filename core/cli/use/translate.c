/* SPDX-License-Identifier: MIT */
#include "text/display.h"
#include "text/json.h"
#include "text/number.h"
#include "command/command.h"
#include "command/options.h"
#include "use/inference.h"
#include "setup/requirements.h"
#include "documents/documents.h"
#include "types/input.h"
#include "search/translate.h"

/*
 * Implements plait translate: translates text batch by batch as lines arrive. On request, adds scores and alignments or
 * dumps attention.
 */

/* Upper limit of --beam and of --n-best. */
#define MAX_HYPOTHESES 1000
/* Words of --format, in the order of Format. */
#define FORMATS "text|tsv|json"

/* Format of the output. */
typedef enum
{
  FORMAT_TEXT, /* only the text of the best hypothesis */
  FORMAT_TSV,  /* a line for each hypothesis: line number, score, log-probability, text, length, alignments */
  FORMAT_JSON, /* a line for all hypotheses of one source line or chunk of a document */
} Format;

/*
 * Settings and state of printing translations.
 *
 * FORMAT_TEXT prints documents in the layout of the target's documents: one sentence on each line and a blank line
 * between documents, or one document on each line. FORMAT_TEXT joins the chunks of a document.
 */
typedef struct
{
  FILE *stream;
  Format format;
  const PlaitWordAligner *aligner; /* aligner of words; NULL without --alignment or for FORMAT_TEXT */
  const PlaitVocabulary *vocabulary;
  PlaitTextLayout layout; /* layout of the target's documents */
  gboolean whole;         /* TRUE: predictions are not sequences, so no length limit cuts them off */

  /* Index of the last line or document that FORMAT_TEXT printed; -1 before the first. */
  gint64 line;
  gboolean is_empty; /* TRUE if FORMAT_TEXT has printed nothing of the current document yet */
} Printer;

static char *
text_of (const Printer *printer, const PlaitHypothesis *hypothesis)
{
  GString *numbers;

  if (printer->vocabulary)
    return hypothesis->length > 0 ? plait_vocabulary_decode_words (
               printer->vocabulary, hypothesis->tokens, plait_hypothesis_words (hypothesis), (gsize)hypothesis->length)
                                  : g_strdup ("");
  numbers = g_string_new (NULL);
  plait_translation_append (NULL, hypothesis, numbers);
  return g_string_free (numbers, FALSE);
}

/* Returns the number of tokens, with the end token if there is one. "No answer" (token -1) always counts as two. */
static gint64
length_of (const PlaitHypothesis *hypothesis)
{
  return hypothesis->length + (hypothesis->ended || (hypothesis->length == 1 && hypothesis->tokens[0] < 0));
}

/* Returns the alignments of hypothesis @i to each source; NULL if @alignments is NULL. */
static const char *const *
alignments_of (const Printer *printer, const char *const *alignments, guint i)
{
  return alignments ? alignments + i * printer->aligner->n : NULL;
}

/* Prints @line + 1 and the fields of @hypothesis, separated by tabs. If @hypothesis is NULL, its fields are empty. */
static void
print_fields (const Printer *printer, gint64 line, const PlaitHypothesis *hypothesis, const char *const *alignments)
{
  g_autoptr (GString) fields = g_string_new (NULL);

  g_string_append_printf (fields, "%jd\t", line + 1);
  if (hypothesis)
    {
      g_autofree char *text = text_of (printer, hypothesis);
      g_autofree char *scores = plait_format ("%.6f\t%.6f", hypothesis->score, hypothesis->log_probability);

      g_string_append_printf (fields, "%s\t%s\t%jd", scores, g_strdelimit (text, "\t", ' '), length_of (hypothesis));
    }
  else
    g_string_append (fields, "\t\t\t");
  for (guint i = 0; printer->aligner && i < printer->aligner->n; i++)
    g_string_append_printf (fields, "\t%s", hypothesis ? alignments[i] : "");
  plait_display_line (printer->stream, fields->str);
}

static void
add_hypothesis (const Printer *printer, const PlaitHypothesis *hypothesis, const char *const *alignments,
                PlaitJson *json)
{
  g_autofree char *text = text_of (printer, hypothesis);

  plait_json_begin_object (json, NULL);
  plait_json_members (json, "text=%s score=%g log_probability=%g length=%jd ended=%d", text, hypothesis->score,
                      hypothesis->log_probability, length_of (hypothesis), printer->whole || hypothesis->ended);
  if (alignments)
    {
      plait_json_begin_object (json, "alignment");
      for (guint i = 0; i < printer->aligner->n; i++)
        plait_json_text (json, printer->aligner->sources[i].name, alignments[i]);
      plait_json_end_object (json);
    }
  plait_json_end_object (json);
}

static void
print_json (const Printer *printer, gint64 line, const PlaitHypotheses *found, const char *const *alignments)
{
  g_autoptr (PlaitJson) json = plait_json_new_line ();

  plait_json_begin_object (json, NULL);
  plait_json_integer (json, "line", line + 1);
  plait_json_begin_array (json, "hypotheses");
  for (guint i = 0; i < found->n; i++)
    add_hypothesis (printer, &found->hypotheses[i], alignments_of (printer, alignments, i), json);
  plait_json_end_array (json);
  plait_json_end_object (json);
  fputs (plait_json_string (json), printer->stream);
}

/* Prints a line for each sentence of @best, whose sentences begin with start tokens. Prints no blank line, since that
 * would end the document. */
static void
print_sentences (Printer *printer, const PlaitHypothesis *best)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_auto (GStrv) sentences = NULL;

  plait_translation_append (printer->vocabulary, best, text);
  sentences = g_strsplit (text->str, "\n", -1);
  for (guint i = 0; sentences[i]; i++)
    {
      plait_display_line (printer->stream, sentences[i]);
      printer->is_empty = FALSE;
    }
}

/* Continues the line of a document with the text of @best. */
static void
print_more (Printer *printer, const PlaitHypothesis *best)
{
  g_autofree char *text = text_of (printer, best);

  if (!printer->is_empty)
    fputc (' ', printer->stream);
  plait_display_text (printer->stream, text);
  printer->is_empty = FALSE;
}

/* Prints the hypotheses of line or document @line (from 0), or of its next chunk; FORMAT_TEXT prints only the best one.
 * @alignments [hypotheses][sources of the aligner] is used only if there is an aligner. */
static void
print_found (Printer *printer, gint64 line, const PlaitHypotheses *found, const char *const *alignments)
{
  const PlaitHypothesis nothing = { .length = 0 }, *best = found->n > 0 ? &found->hypotheses[0] : &nothing;

  if (printer->format == FORMAT_JSON)
    print_json (printer, line, found, alignments);
  if (printer->format == FORMAT_TSV)
    for (guint i = 0; i < MAX (found->n, 1); i++)
      print_fields (printer, line, found->n > 0 ? &found->hypotheses[i] : NULL, alignments_of (printer, alignments, i));
  if (printer->format != FORMAT_TEXT)
    return;
  if (line != printer->line)
    {
      if (printer->line >= 0 && printer->layout != PLAIT_LAYOUT_SENTENCES)
        fputc ('\n', printer->stream);
      printer->line = line;
      printer->is_empty = TRUE;
    }
  if (printer->layout == PLAIT_LAYOUT_DOCUMENTS)
    print_sentences (printer, best);
  else if (printer->layout == PLAIT_LAYOUT_LINES)
    print_more (printer, best);
  else
    {
      g_autofree char *text = text_of (printer, best);

      plait_display_line (printer->stream, text);
    }
}

/* Ends the last document. */
static void
print_end (const Printer *printer)
{
  /* An empty document is visible only by the blank line at its end. */
  if (printer->format == FORMAT_TEXT && printer->line >= 0
      && (printer->layout == PLAIT_LAYOUT_LINES || (printer->layout == PLAIT_LAYOUT_DOCUMENTS && printer->is_empty)))
    fputc ('\n', printer->stream);
}

/* Prints the translations of sentence @sentence of @batch, with word alignments if the user asks for them. */
static gboolean
print (const PlaitInference *inference, Printer *printer, const PlaitBatch *batch, gint64 sentence,
       const PlaitAttentionRecords *attention, const PlaitHypotheses *found, GError **error)
{
  const PlaitWordAligner *aligner = printer->aligner;
  g_autoptr (GPtrArray) alignments = g_ptr_array_new_with_free_func (g_free);

  for (guint h = 0; aligner && h < found->n; h++)
    for (guint i = 0; i < aligner->n; i++)
      {
        char *text
            = plait_word_aligner_align (aligner, i, batch, sentence, attention->of[h * batch->n_sentences + sentence],
                                        &found->hypotheses[h], error);

        if (!text)
          return FALSE;
        g_ptr_array_add (alignments, text);
      }
  print_found (printer, plait_feed_line (inference->feed, batch->sentence[sentence]), found,
               (const char *const *)alignments->pdata);
  return TRUE;
}

/* Settings of the search, and requirements that translations must meet. */
typedef struct
{
  PlaitDecodeSettings settings;
  PlaitRequirements *requirements; /* owned; NULL without --prefix and --constraints */
} Decoding;

static void
decoding_clear (Decoding *decoding)
{
  plait_requirements_free (decoding->requirements);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Decoding, decoding_clear)

static gboolean
translate_batch (PlaitInference *inference, const Decoding *decoding, Printer *printer, const PlaitBatch *batch,
                 GError **error)
{
  g_autoptr (PlaitAttentionRecords) attention = NULL;
  guint attended = printer->aligner ? (guint)decoding->settings.n_best : inference->dump ? 1 : 0;
  g_autofree PlaitRequirement *requirements
      = decoding->requirements ? g_new (PlaitRequirement, batch->n_sentences) : NULL;
  PlaitHypotheses *found;
  gboolean good = TRUE;

  for (gint64 i = 0; requirements && i < batch->n_sentences; i++)
    if (!plait_requirements_find (decoding->requirements, plait_feed_line (inference->feed, batch->sentence[i]),
                                  &requirements[i], error))
      return FALSE;
  found
      = plait_search_batch_with_attention (inference->search, batch, &decoding->settings, requirements,
                                           attended > 0 ? &attention : NULL, attended, inference->dump != NULL, error);
  if (!found)
    return FALSE;
  for (gint64 i = 0; good && i < batch->n_sentences; i++)
    good = print (inference, printer, batch, i, attention, &found[i], error);
  fflush (printer->stream);
  good = good && plait_inference_dump (inference, batch, attention, found, error);
  plait_hypotheses_free (found, batch->n_sentences);
  return good;
}

static gboolean
translate (PlaitInference *inference, const Decoding *decoding, Printer *printer, gint64 *done, GError **error)
{
  gint64 lines = 0;

  for (;;)
    {
      g_autoptr (GError) local = NULL;
      g_autoptr (PlaitBatch) batch = plait_inference_next_batch (inference, decoding->settings.batch, &local);

      if (!plait_no_error (&local, error))
        return FALSE;
      if (!batch)
        {
          print_end (printer);
          return !decoding->requirements || plait_requirements_check_end (decoding->requirements, lines, error);
        }
      lines = plait_feed_line (inference->feed, batch->sentence[batch->n_sentences - 1]) + 1;
      if (inference->skips)
        print_found (printer, plait_feed_line (inference->feed, batch->sentence[0]), &(PlaitHypotheses){ 0 }, NULL);
      else if (!translate_batch (inference, decoding, printer, batch, error))
        return FALSE;
      *done += batch->n_sentences;
      plait_log_progress (inference->log, "%jd sentence%s so far", *done, *done == 1 ? "" : "s");
    }
}

typedef struct
{
  PlaitInferenceOptions text;
  const char *format, *prefix, *constraints;
  gint64 beam, n_best; /* values of the options; 0: not given */
} Options;

/* Returns "--n-best" or "--set decode.n_best", by which the user sets the number of hypotheses; NULL if neither is
 * given. */
static const char *
n_best_name (const Options *options)
{
  if (options->n_best > 0)
    return "--n-best";
  return plait_option_set_value (options->text.sets, "decode.n_best") ? "--set decode.n_best" : NULL;
}

/* Fills @implied [3], settings that are checked together with --set: decode.n_best=1 unless --set gives decode.n_best;
 * decode.beam=@beam if --beam is given. decode_settings() applies --n-best later. */
static void
imply_sets (const Options *options, const char *beam, PlaitOverride *implied)
{
  guint n = 0;

  if (!plait_option_set_value (options->text.sets, "decode.n_best"))
    implied[n++] = (PlaitOverride){ "decode.n_best", "1" };
  if (options->beam > 0)
    implied[n++] = (PlaitOverride){ "decode.beam", beam };
  implied[n] = (PlaitOverride){ NULL };
}

/* Copies the experiment's search settings @usual into @settings and applies the options. */
static gboolean
decode_settings (const PlaitDecodeSettings *usual, const Options *options, PlaitDecodeSettings *settings,
                 GError **error)
{
  *settings = *usual;
  if (options->n_best > 0)
    settings->n_best = options->n_best;
  else if (!n_best_name (options))
    settings->n_best = 1;
  if (settings->method == PLAIT_DECODE_METHOD_SAMPLE)
    return options->beam == 0
           || plait_fail (error, PLAIT_ERROR_INPUT, "--beam: decode.method=sample has no beam; leave the option out");
  settings->beam = options->beam > 0 ? options->beam : MAX (settings->beam, settings->n_best);
  if (settings->beam % settings->groups != 0)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "decode.groups=%jd does not divide the beam of %jd hypotheses; set a --beam that it divides",
                       settings->groups, settings->beam);
  return settings->n_best <= settings->beam
         || plait_fail (error, PLAIT_ERROR_INPUT,
                        "--n-best %jd is larger than the beam, which keeps %jd hypotheses; raise --beam",
                        settings->n_best, settings->beam);
}

/* Reads the files of --prefix and --constraints, if they are given. */
static gboolean
read_requirements (const PlaitInference *inference, const Options *options, const char *run,
                   const PlaitVocabulary *vocabulary, Decoding *decoding, GError **error)
{
  const PlaitExperiment *experiment = inference->trained->experiment;
  const char *paths[] = { options->prefix, options->constraints };
  static const char *const names[] = { "--prefix", "--constraints" };

  for (guint i = 0; i < G_N_ELEMENTS (paths); i++)
    {
      if (!paths[i])
        continue;
      if (!plait_experiment_has_decoder (experiment))
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "%s: %s has no decoder, so it does not search; leave the option out", names[i], run);
      if (plait_experiment_documents (experiment, experiment->data.target).layout != PLAIT_LAYOUT_SENTENCES)
        return plait_fail (
            error, PLAIT_ERROR_INPUT,
            "%s: the target of %s is documents, but the option needs a target of sentences; leave the option out",
            names[i], run);
      if (!plait_output_differs ("--output", options->text.output, paths[i], error)
          || !plait_output_differs ("--attention", options->text.attention, paths[i], error))
        return FALSE;
    }
  if (options->constraints && !plait_requirements_check_settings (&decoding->settings, error))
    return FALSE;
  if (options->prefix || options->constraints)
    decoding->requirements
        = plait_requirements_read (options->prefix, options->constraints, vocabulary, &decoding->settings,
                                   experiment->output && experiment->output->schema->writes_own_words, error);
  return decoding->requirements || (!options->prefix && !options->constraints);
}

/* Sets *@format to the value of --format, which must not be text with a number of hypotheses or --alignment. Without
 * --format, sets *@format to tsv if the user gives a number of hypotheses or --alignment, else to text. */
static gboolean
read_format (const Options *options, Format *format, GError **error)
{
  const char *cause = n_best_name (options);
  if (!cause && options->text.alignment)
    cause = "--alignment";
  Format usual = cause ? FORMAT_TSV : FORMAT_TEXT;

  *format = options->format ? (Format)plait_option_choice (options->format, FORMATS) : usual;
  return *format != FORMAT_TEXT || usual == FORMAT_TEXT
         || plait_fail (error, PLAIT_ERROR_INPUT, "--format text cannot print what %s asks for; choose tsv or json",
                        cause);
}

static gboolean
run_command (PlaitInvocation *invocation, GError **error)
{
  Options *options = invocation->options;
  g_autofree char *beam = g_strdup_printf ("%jd", options->beam);
  PlaitOverride implied[3];
  g_auto (PlaitInference) inference = { 0 };
  g_auto (PlaitOutput) to = { 0 };
  Printer printer = { .line = -1 };
  const PlaitExperiment *experiment;
  g_auto (Decoding) decoding = { 0 };
  g_autofree char *told = NULL;
  PlaitSearchWork work;
  gint64 done = 0;
  gboolean good;

  imply_sets (options, beam, implied);
  options->text.implied = implied;
  if (!read_format (options, &printer.format, error) || !plait_inference_open (&inference, invocation, NULL, error)
      || !decode_settings (&inference.trained->experiment->decode, options, &decoding.settings, error))
    return FALSE;
  experiment = inference.trained->experiment;
  if (options->beam > 0 && !plait_experiment_has_decoder (experiment))
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "--beam: %s has no decoder, so it does not search; leave the option out",
                       invocation->arguments[0]);
  printer.vocabulary = plait_run_inputs_vocabulary (inference.trained->run_inputs, experiment->data.target);
  if (!read_requirements (&inference, options, invocation->arguments[0], printer.vocabulary, &decoding, error))
    return FALSE;
  if (!plait_output_begin (&to, options->text.output, error))
    return FALSE;
  printer.stream = to.stream;
  printer.aligner = inference.aligner;
  printer.layout = plait_experiment_documents (experiment, experiment->data.target).layout;
  printer.whole = !plait_experiment_has_decoder (experiment);
  good = translate (&inference, &decoding, &printer, &done, error);
  plait_log_progress_end (inference.log);
  /* If a sentence is too long, keep the output for the lines before it. */
  if (!good && inference.is_unreadable && done > 0)
    plait_output_commit (&to, NULL);
  if (!good || !plait_output_commit (&to, error) || (inference.dump && !plait_store_commit (inference.dump, error)))
    return FALSE;
  if (options->text.output)
    plait_log_info (inference.log, "%s: %jd sentences", options->text.output, done);
  if (!plait_experiment_has_decoder (experiment))
    return TRUE;
  work = plait_search_work (inference.search);
  told = plait_search_work_text (&work);
  plait_log_info (inference.log, "%s", told);
  return TRUE;
}

static const PlaitOption options[] = {
  PLAIT_INFERENCE_OPTIONS,
  PLAIT_OPTION ("output", 'o', TEXT, text.output, "Output file; default: standard output", "FILE"),
  PLAIT_OPTION_FORCE (PlaitInferenceOptions),
  PLAIT_OPTION ("beam", 'b', INTEGER, beam, "Hypotheses in the beam; default: decode.beam, or --n-best if larger", "N",
                1, MAX_HYPOTHESES),
  PLAIT_OPTION ("n-best", 0, INTEGER, n_best, "Print N hypotheses for each line, with their scores", "N", 1,
                MAX_HYPOTHESES),
  PLAIT_OPTION ("prefix", 0, TEXT, prefix, "Begin the translation of line i with line i of this file", "FILE"),
  PLAIT_OPTION ("constraints", 0, TEXT, constraints,
                "Put all phrases of line i of this file, separated by tabs, into the translation of line i", "FILE"),
  PLAIT_OPTION ("format", 0, TEXT, format, "Output format; default: text, or tsv for --n-best, --alignment", FORMATS),
  { NULL },
};

const PlaitCommand plait_command_translate = {
  .name = "translate",
  .synopsis
  = "RUN.h5... --source NAME=FILE...|--tsv NAME,... [--output FILE] [--format text|tsv|json] [--n-best N] [--prefix "
    "FILE] [--constraints FILE] [--alignment LAYER[:HEAD]] [--set G.K=V]... [--attention DUMP.h5] [--force]",
  .summary = "Translate text with a trained run, or an ensemble of runs",
  .details
  = "Prints a line for each line of the sources, or a document for each document if the target has documents. Name a "
    "missing source by --without. If the encoder of source NAME reads trees, give them by --source NAME.trees=FILE.\n"
    "With --format tsv each line is a hypothesis: number of the line from 1, score, natural log-probability, text, "
    "number of target tokens including the end token, and with --alignment one field per source in the experiment's "
    "order. With --format json each line is an object with all hypotheses of a line. Alignments are pairs "
    "SOURCE-TARGET of word numbers from 0 (Pharaoh format). For a line that is empty in all sources, tsv has empty "
    "fields. With --tsv each line of standard input has a column for each source, separated by tabs. An empty line or "
    "column is an error if the run has data.empty=error; --set data.empty=missing treats the source as missing there.\n"
    "--prefix and --constraints name files with a line for each line of the sources; a line may be empty. The "
    "translation begins with the prefix, and its score counts the prefix. The translation contains every phrase of the "
    "constraints (Post & Vilar 2018), in any order; phrases may overlap. Prefixes and phrases are cut into pieces by "
    "the target's vocabulary, each by itself, and a translation must have these pieces. So the translation may "
    "continue the last word of a prefix or phrase: \"nation\" may become \"nations\". The limit decode.maximum_ratio "
    "leaves room for prefix and phrases. Both files are read before the first translation.\n"
    "--set decode.method=sample draws --n-best translations at random. --set decode.groups=N searches a beam in N "
    "groups that avoid each other's words. plait inspect decode lists the keys of both.\n"
    "Several runs form an ensemble. They need one target vocabulary, and may differ in everything else. The command "
    "needs the sources of all runs; runs with a source of the same name read the same text. A run takes no part in a "
    "line that is missing in all its sources. At each step the probability of a word is the mean of the runs' "
    "probabilities. With --ensemble log its log-probability is the mean of their log-probabilities; a word that one of "
    "the runs cannot copy is then never written. The first run gives the keys of [decode], except precision, and the "
    "attention of --alignment and --attention.\n"
    "\n"
    "Examples:\n"
    "  plait translate run.h5 --source en=test.en --source de=test.de\n"
    "  plait translate run.h5 --source en=- --without de --beam 10\n"
    "  paste test.en test.de | plait translate run.h5 --tsv en,de\n"
    "  plait translate run.h5 --source en=test.en --n-best 5 --format json --alignment mean\n"
    "  plait translate run.h5 --source en=test.en --set decode.no_repeat_ngrams=3 --set decode.minimum_length=20\n"
    "  plait translate run.h5 --source en=test.en --n-best 4 --set decode.method=sample --set decode.nucleus=0.9\n"
    "  plait translate run.h5 --source en=test.en --constraints terms.txt --beam 10\n"
    "  plait translate seed-1.h5 seed-2.h5 --source en=test.en --ensemble log --weights \"0.7;0.3\"",
  .options = options,
  .size = sizeof (Options),
  .min = 1,
  .max = -1,
  .run = run_command,
};
