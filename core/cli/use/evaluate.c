/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "text/json.h"
#include "text/number.h"
#include "command/command.h"
#include "comparison/lengths.h"
#include "command/options.h"
#include "terminal/table-print.h"
#include "lines/text-file.h"
#include "metrics/documents.h"
#include "scoring/evaluation.h"
#include "significance/system-scores.h"

/* Implements plait evaluate: scores translations in text files and tests differences between systems. */

#define TEXT_LIMIT ((gsize)1 << 30)
#define DIGITS 2
#define JOINS "subword-nmt|wordpiece|sentencepiece"
#define USUAL_BINS "10;20;30;40;50"

typedef struct
{
  const char *name; /* name of the system: path of the file of its translations */
  char **lines;
  GArray **lengths; /* [metrics] (element-type PlaitLengthRow): scores by source length; NULL without --source */
} System;

typedef struct
{
  const char *const *references, *const *hypotheses; /* paths of files, NULL-terminated */
  const char *metrics, *source, *bins, *join;
  gint64 resamples, seed, trials;
  guint test;
  gboolean sentences, json;
} Options;

typedef struct
{
  guint64 seed;
  guint resamples;
  gboolean tested; /* FALSE with --test none, with --sentences, or for one system: differences are not tested */
  PlaitTest test;
  guint trials;
  GPtrArray *metrics;
  gboolean documents; /* TRUE if every metric scores documents, so that files may differ in their number of lines */
  PlaitTextPieces join;
  PlaitLog *log;
  gsize sentences;
  guint n_references;
  const char *const *reference_paths; /* [n_references] */
  char ***references;                 /* [n_references][sentences] lines; NULL: no further reference */
  PlaitLengthBins *bins;              /* bins of source lengths; NULL without --source */
  gint64 *words;                      /* [sentences]: number of words of each source sentence; NULL without --source */
  guint n_systems;
  System *systems;
  PlaitSystemScore **scores; /* [systems][metrics] */
} Evaluation;

static void
evaluation_clear (Evaluation *evaluation)
{
  guint n_metrics = evaluation->metrics ? evaluation->metrics->len : 0;

  for (guint s = 0; s < evaluation->n_systems; s++)
    {
      System *system = &evaluation->systems[s];

      g_strfreev (system->lines);
      for (guint m = 0; system->lengths && m < n_metrics; m++)
        g_clear_pointer (&system->lengths[m], g_array_unref);
      g_free (system->lengths);
      plait_system_scores_free (evaluation->scores[s], evaluation->metrics);
    }
  g_free (evaluation->scores);
  g_free (evaluation->systems);
  for (guint r = 0; r < evaluation->n_references; r++)
    {
      for (gsize i = 0; i < evaluation->sentences; i++)
        g_free (evaluation->references[r][i]);
      g_free (evaluation->references[r]);
    }
  g_free (evaluation->references);
  g_free (evaluation->words);
  plait_length_bins_free (evaluation->bins);
  g_clear_pointer (&evaluation->metrics, g_ptr_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Evaluation, evaluation_clear)

/* Joins the subwords in @lines, read from @path, as --join says. If --join is not given and the lines look like
 * subwords, warns. */
static void
join (const Evaluation *evaluation, const char *path, char **lines)
{
  PlaitTextPieces found
      = evaluation->join == PLAIT_PIECES_NONE ? plait_text_find_pieces ((const char *const *)lines) : PLAIT_PIECES_NONE;

  if (found != PLAIT_PIECES_NONE)
    plait_log_warning (
        evaluation->log,
        "%s: looks like text in subwords, which metrics would count as words; --join %s joins them before scoring",
        path, plait_evaluation_join_name (found));
  plait_text_join_pieces (lines, evaluation->join);
}

/* Reads the lines of the file at @path. The file must have as many lines as the first reference, @first_path, or, if
 * evaluation->documents, as many documents. (transfer full) */
static char **
read_lines (Evaluation *evaluation, const char *path, const char *first_path, GError **error)
{
  g_auto (GStrv) lines = plait_text_file_lines (path, TRUE, TEXT_LIMIT, error);

  if (!lines)
    return NULL;
  join (evaluation, path, lines);
  gsize n = g_strv_length (lines);
  if (n == 0)
    plait_fail (error, PLAIT_ERROR_INPUT, "%s: is empty; expected one sentence a line", path);
  else if (evaluation->sentences > 0 && evaluation->documents)
    return plait_documents_align ((const char *const *)lines, path, (const char *const *)evaluation->references[0],
                                  first_path, error);
  else if (evaluation->sentences > 0 && n != evaluation->sentences)
    plait_fail (error, PLAIT_ERROR_INPUT,
                "%s: has %zu lines, but %s has %zu; line N of both files must be of the same sentence; give files that "
                "belong together",
                path, n, first_path, evaluation->sentences);
  else
    {
      evaluation->sentences = n;
      return g_steal_pointer (&lines);
    }
  return NULL;
}

static gboolean
read_files (Evaluation *evaluation, const Options *options, GError **error)
{
  guint n_references = g_strv_length ((char **)options->references),
        n_systems = g_strv_length ((char **)options->hypotheses);

  evaluation->reference_paths = options->references;
  evaluation->references = g_new0 (char **, n_references);
  for (guint r = 0; r < n_references; r++)
    {
      evaluation->references[r] = read_lines (evaluation, options->references[r], options->references[0], error);
      if (!evaluation->references[r])
        return FALSE;
      evaluation->n_references++;
      /* Keep empty lines of documents: they separate documents or are empty sentences. */
      for (gsize i = 0; r > 0 && !evaluation->documents && i < evaluation->sentences; i++)
        if (*evaluation->references[r][i] == '\0' && *evaluation->references[0][i] != '\0')
          g_clear_pointer (&evaluation->references[r][i], g_free);
    }
  evaluation->systems = g_new0 (System, n_systems);
  evaluation->scores = g_new0 (PlaitSystemScore *, n_systems);
  for (guint s = 0; s < n_systems; s++)
    {
      System *system = &evaluation->systems[s];

      system->name = options->hypotheses[s];
      system->lines = read_lines (evaluation, options->hypotheses[s], options->references[0], error);
      if (!system->lines)
        return FALSE;
      evaluation->n_systems++;
    }
  if (!evaluation->bins)
    return TRUE;
  g_auto (GStrv) source = read_lines (evaluation, options->source, options->references[0], error);
  if (!source)
    return FALSE;
  evaluation->words = plait_length_bins_count (evaluation->sentences, (const char *const *)source);
  return TRUE;
}

/* Returns the path of the file that a metric rejected: a file of references or the file of @system. (transfer none) */
static const char *
unscored_path (const Evaluation *evaluation, const System *system)
{
  for (guint m = 0; m < evaluation->metrics->len; m++)
    for (guint r = 0; r < evaluation->n_references; r++)
      {
        PlaitTextPairs pairs
            = { evaluation->sentences, NULL, r + 1, (const char *const *const *)evaluation->references };
        gsize place;

        if (!plait_metric_check_references (evaluation->metrics->pdata[m], &pairs, &place, NULL))
          return evaluation->reference_paths[r];
      }
  return system->name;
}

/* Warns if a metric finds no word in some references of @pairs, since such a reference scores 0. */
static void
warn_of_wordless (const Evaluation *evaluation, const PlaitTextPairs *pairs)
{
  for (guint m = 0; m < evaluation->metrics->len; m++)
    {
      const PlaitMetric *metric = evaluation->metrics->pdata[m];
      gsize all, n = plait_metric_count_wordless (metric, pairs, &all);

      if (n > 0)
        plait_log_warning (evaluation->log, PLAIT_WORDLESS_FORMAT, plait_metric_text (metric), n, all);
    }
}

/* Scores system @s by every metric. If --source is given, also by source length. */
static gboolean
score_system (const Evaluation *evaluation, guint s, GError **error)
{
  System *system = &evaluation->systems[s];
  PlaitTextPairs pairs = { evaluation->sentences, (const char *const *)system->lines, evaluation->n_references,
                           (const char *const *const *)evaluation->references };
  guint n = evaluation->metrics->len;

  evaluation->scores[s]
      = plait_system_scores_new (evaluation->metrics, &pairs, evaluation->resamples, evaluation->seed, error);
  if (!evaluation->scores[s])
    {
      g_prefix_error (error, "%s: ", unscored_path (evaluation, system));
      return FALSE;
    }
  if (s == 0)
    warn_of_wordless (evaluation, &pairs);
  system->lengths = evaluation->bins ? g_new0 (GArray *, n) : NULL;
  for (guint m = 0; system->lengths && m < n; m++)
    {
      system->lengths[m] = plait_length_rows_new ();
      if (!plait_length_rows_add (system->lengths[m], evaluation->bins, evaluation->metrics->pdata[m],
                                  evaluation->scores[s][m].statistics, evaluation->words, evaluation->resamples,
                                  evaluation->seed, error))
        return FALSE;
    }
  return TRUE;
}

static void
print_json (const Evaluation *evaluation, const char *const *reference_names)
{
  g_autoptr (PlaitJson) json = plait_json_new_object ();

  plait_json_texts (json, "references", reference_names, -1);
  plait_json_members (json, "sentences=%jd join=%s", (gint64)evaluation->sentences,
                      plait_evaluation_join_name (evaluation->join));
  plait_json_begin_array (json, "systems");
  for (guint s = 0; s < evaluation->n_systems; s++)
    {
      const System *system = &evaluation->systems[s];

      plait_json_begin_object (json, NULL);
      plait_json_text (json, "hypothesis", system->name);
      plait_system_scores_add_json (evaluation->scores[s], evaluation->metrics, "results", evaluation->tested && s > 0,
                                    json);
      if (evaluation->bins)
        {
          plait_json_begin_array (json, "length_bins");
          for (guint m = 0; m < evaluation->metrics->len; m++)
            for (guint i = 0; i < evaluation->bins->n; i++)
              plait_length_row_add_json (&g_array_index (system->lengths[m], PlaitLengthRow, i), NULL, json);
          plait_json_end_array (json);
        }
      plait_json_end_object (json);
    }
  plait_json_end_array (json);
  plait_json_print (json);
}

static void
print_lines (const Evaluation *evaluation)
{
  for (guint m = 0; m < evaluation->metrics->len; m++)
    {
      g_autofree char *line = plait_result_to_text (evaluation->scores[0][m].result, DIGITS);
      puts (line);
    }
}

/* Returns a table for metric @m: the score of each system and, if evaluation->tested, its difference from the score of
 * the first system and the p values. (transfer full) */
static PlaitTable *
metric_table (const Evaluation *evaluation, guint m)
{
  PlaitTable *table = plait_table_new ();

  plait_table_column (table, PLAIT_TABLE_WORDS, "System");
  plait_system_score_columns (table, &evaluation->scores[0][m], evaluation->tested);
  for (guint s = 0; s < evaluation->n_systems; s++)
    {
      plait_table_text (table, PLAIT_TABLE_NAME, evaluation->systems[s].name);
      plait_system_score_cells (table, &evaluation->scores[s][m], evaluation->tested, s > 0);
    }
  return table;
}

static void
print_tables (const Evaluation *evaluation)
{
  g_autoptr (PlaitTerminal) terminal = plait_terminal_new ();
  g_autofree char *test = plait_comparison_note (evaluation->systems[0].name, evaluation->test, evaluation->trials,
                                                 evaluation->seed, FALSE);

  for (guint m = 0; m < evaluation->metrics->len; m++)
    {
      g_autoptr (PlaitTable) table = metric_table (evaluation, m);

      plait_terminal_text (terminal, PLAIT_TERMINAL_PLAIN, "%s", m > 0 ? "\n" : "");
      plait_table_print (table, terminal);
      plait_terminal_text (terminal, PLAIT_TERMINAL_DIM, "  %s\n", evaluation->scores[0][m].result->signature);
    }
  if (!evaluation->tested)
    return;
  plait_terminal_text (terminal, PLAIT_TERMINAL_PLAIN, "\n  ");
  plait_terminal_paragraph (terminal, 2, 2, test);
}

/* Prints a table for each metric, with a row for each bin of source length and a column for each system. */
static void
print_lengths (const Evaluation *evaluation)
{
  g_autofree const char **names = g_new0 (const char *, evaluation->n_systems + 1);
  g_autofree GArray **rows = g_new (GArray *, evaluation->n_systems);

  if (!evaluation->bins)
    return;
  g_autoptr (PlaitTerminal) terminal = plait_terminal_new ();
  /* Print an empty text, so that the terminal puts a blank line before the first table. */
  plait_terminal_text (terminal, PLAIT_TERMINAL_PLAIN, "%s", "");
  for (guint s = 0; s < evaluation->n_systems; s++)
    names[s] = evaluation->systems[s].name;
  for (guint m = 0; m < evaluation->metrics->len; m++)
    {
      const PlaitResult *result = evaluation->scores[0][m].result;
      g_autoptr (PlaitTable) table = NULL;

      for (guint s = 0; s < evaluation->n_systems; s++)
        rows[s] = evaluation->systems[s].lengths[m];
      table = plait_length_table_new (NULL, result->metric, result->name, names, rows);
      plait_table_print (table, terminal);
    }
}

/* Returns the name of the unit that a row of --sentences scores: a sentence or a document. */
static const char *
unit_of (const Evaluation *evaluation)
{
  return plait_metric_is_of_documents (evaluation->metrics->pdata[0]) ? "document" : "sentence";
}

/* TRUE if all metrics score sentences, or all score documents. */
static gboolean
check_units (const Evaluation *evaluation, GError **error)
{
  const PlaitMetric *first = evaluation->metrics->pdata[0];

  for (guint m = 1; m < evaluation->metrics->len; m++)
    if (plait_metric_is_of_documents (evaluation->metrics->pdata[m]) != plait_metric_is_of_documents (first))
      return plait_fail (error, PLAIT_ERROR_INPUT,
                         "--sentences cannot print %s together with %s, since one of them scores sentences and the "
                         "other documents; run plait evaluate once for each",
                         plait_metric_text (first), plait_metric_text (evaluation->metrics->pdata[m]));
  return TRUE;
}

/* Returns the score of sentence or document @i of system @s by metric @m. */
static double
sentence_score (const Evaluation *evaluation, guint s, guint m, gsize i)
{
  const PlaitStatistics *statistics = evaluation->scores[s][m].statistics;

  return plait_metric_score (evaluation->metrics->pdata[m], statistics->values + i * statistics->width);
}

/* Prints a line for each sentence or document: its number and its scores by metric and system, with all digits,
 * separated by tabs. */
static void
print_sentences (const Evaluation *evaluation)
{
  gsize rows = evaluation->scores[0][0].statistics->sentences;
  g_autoptr (GString) text = g_string_new (unit_of (evaluation));

  for (guint m = 0; m < evaluation->metrics->len; m++)
    for (guint s = 0; s < evaluation->n_systems; s++)
      g_string_append_printf (text, "\t%s%s%s", evaluation->n_systems > 1 ? evaluation->systems[s].name : "",
                              evaluation->n_systems > 1 ? " " : "", plait_metric_text (evaluation->metrics->pdata[m]));
  g_string_append_c (text, '\n');
  for (gsize i = 0; i < rows; i++)
    {
      g_string_append_printf (text, "%zu", i + 1);
      for (guint m = 0; m < evaluation->metrics->len; m++)
        for (guint s = 0; s < evaluation->n_systems; s++)
          {
            char digits[PLAIT_NUMBER_LENGTH];

            g_string_append_printf (text, "\t%s", plait_format_double (digits, sentence_score (evaluation, s, m, i)));
          }
      g_string_append_c (text, '\n');
    }
  fputs (text->str, stdout);
}

/* Prints the scores of all sentences or documents as JSON, by system and metric. */
static void
print_sentences_json (const Evaluation *evaluation)
{
  gsize rows = evaluation->scores[0][0].statistics->sentences;
  g_autoptr (PlaitJson) json = plait_json_new_object ();

  plait_json_members (json, "unit=%s rows=%jd", unit_of (evaluation), (gint64)rows);
  plait_json_begin_array (json, "systems");
  for (guint s = 0; s < evaluation->n_systems; s++)
    {
      plait_json_begin_object (json, NULL);
      plait_json_text (json, "hypothesis", evaluation->systems[s].name);
      plait_json_begin_object (json, "scores");
      for (guint m = 0; m < evaluation->metrics->len; m++)
        {
          plait_json_begin_array (json, plait_metric_text (evaluation->metrics->pdata[m]));
          for (gsize i = 0; i < rows; i++)
            plait_json_real (json, NULL, sentence_score (evaluation, s, m, i));
          plait_json_end_array (json);
        }
      plait_json_end_object (json);
      plait_json_end_object (json);
    }
  plait_json_end_array (json);
  plait_json_print (json);
}

/* TRUE if the options name standard input at most once, because it can be read only once. */
static gboolean
check_standard_input (const Options *options, GError **error)
{
  const char *source[] = { options->source, NULL };
  const struct
  {
    const char *option;
    const char *const *files;
  } read[]
      = { { "--reference", options->references }, { "--hypothesis", options->hypotheses }, { "--source", source } };
  const char *first = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (read); i++)
    for (const char *const *file = read[i].files; *file; file++)
      {
        if (!g_str_equal (*file, "-"))
          continue;
        if (first)
          return plait_fail (error, PLAIT_ERROR_INPUT,
                             "standard input cannot be both %s and %s; name a file for one of them", first,
                             first == read[i].option ? "another file of this option" : read[i].option);
        first = read[i].option;
      }
  return TRUE;
}

static gboolean
take_options (Evaluation *evaluation, const Options *options, GError **error)
{
  gint64 trials = options->trials;

  if (!options->references || !options->hypotheses)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "--%s is missing; plait evaluate needs --reference FILE and --hypothesis FILE",
                       !options->references ? "reference" : "hypothesis");
  if (!check_standard_input (options, error))
    return FALSE;
  if (options->sentences && options->source)
    return plait_fail (error, PLAIT_ERROR_INPUT, "--sentences and --source print different tables; leave out --source");
  if (options->bins && !options->source)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "--bins needs --source, the file that determines the length of each sentence");
  evaluation->join = options->join ? 1 + plait_option_choice (options->join, JOINS) : PLAIT_PIECES_NONE;
  evaluation->tested
      = plait_option_test (options->test, &evaluation->test, &trials) && options->hypotheses[1] && !options->sentences;
  evaluation->seed = (guint64)options->seed;
  evaluation->resamples = options->sentences ? 0 : (guint)options->resamples;
  evaluation->trials = (guint)trials;
  evaluation->metrics = plait_metric_new_list (options->metrics ? options->metrics : "bleu;chrf", error);
  if (!evaluation->metrics)
    return FALSE;
  evaluation->documents = TRUE;
  for (guint m = 0; m < evaluation->metrics->len; m++)
    evaluation->documents &= plait_metric_is_of_documents (evaluation->metrics->pdata[m]);
  if (!options->source)
    return TRUE;
  evaluation->bins = plait_length_bins_new (options->bins ? options->bins : USUAL_BINS, error);
  if (!evaluation->bins)
    g_prefix_error (error, "--bins: ");
  return evaluation->bins != NULL;
}

static gboolean
run_command (PlaitInvocation *invocation, GError **error)
{
  const Options *options = invocation->options;
  g_auto (Evaluation) evaluation = { .log = invocation->log };

  if (!take_options (&evaluation, options, error) || (options->sentences && !check_units (&evaluation, error))
      || !read_files (&evaluation, options, error))
    return FALSE;
  for (guint s = 0; s < evaluation.n_systems; s++)
    if (!score_system (&evaluation, s, error))
      return FALSE;
  if (evaluation.tested
      && !plait_system_scores_compare (evaluation.scores, evaluation.n_systems, evaluation.metrics, evaluation.test,
                                       evaluation.trials, evaluation.seed, error))
    return FALSE;
  if (options->sentences && options->json)
    print_sentences_json (&evaluation);
  else if (options->sentences)
    print_sentences (&evaluation);
  else if (options->json)
    print_json (&evaluation, options->references);
  else if (evaluation.n_systems == 1)
    print_lines (&evaluation);
  else
    print_tables (&evaluation);
  if (!options->json)
    print_lengths (&evaluation);
  return TRUE;
}

static const PlaitOption options[] = {
  PLAIT_OPTION ("reference", 'r', TEXTS, references,
                "References, plain or gzip; repeat for further files, where an empty line is no reference", "FILE"),
  PLAIT_OPTION ("hypothesis", 'i', TEXTS, hypotheses,
                "File of a system's translations; repeat for more systems, which are tested against the first", "FILE"),
  PLAIT_OPTION ("metric", 'm', TEXT, metrics, "Metrics with their options; default: bleu;chrf", "LIST"),
  PLAIT_OPTION ("source", 0, TEXT, source, "Source text; scores are also printed by its length in words", "FILE"),
  PLAIT_OPTION ("join", 0, TEXT, join,
                "Join subwords before scoring: un@@ known, un ##known, or those of SentencePiece", JOINS),
  PLAIT_OPTION ("bins", 0, TEXT, bins, "With --source: bounds of the bins of source length; default: " USUAL_BINS,
                "LIST"),
  PLAIT_OPTION ("resamples", 0, INTEGER, resamples,
                "Bootstrap samples for confidence intervals, 0 for no intervals; default: 1000", "N", 0,
                PLAIT_MAX_TRIALS),
  PLAIT_OPTION ("test", 0, CHOICE, test, "Test between systems; default: permutation", PLAIT_OPTION_TESTS),
  PLAIT_OPTION_TRIALS (Options),
  PLAIT_OPTION ("seed", 0, INTEGER, seed, "Seed of intervals and tests; default: 12345", "N", 0, (double)G_MAXINT64),
  PLAIT_FLAG ("sentences", 0, sentences,
              "Print the scores of every sentence instead, separated by tabs, one column per metric and system"),
  PLAIT_OPTION_JSON (Options),
  { NULL },
};

const PlaitCommand plait_command_evaluate = {
  .name = "evaluate",
  .synopsis = "--reference FILE... --hypothesis FILE... [--metric LIST] [--source FILE] [--sentences] [--json]",
  .summary = "Score translations in text files, and test systems against the first",
  .details
  = "Files have one sentence a line, plain or gzip; \"-\" is standard input. Metrics include bleu, chrf, chrf++ and "
    "ter (equal to sacreBLEU), meteor (exact and stem matches), multi-bleu (as multi-bleu.perl -lc), rouge (equal to "
    "rouge-score), and repetition; plait inspect metrics lists all. Write NAME or NAME:OPTION,OPTION=VALUE, separated "
    "by ';', as in evaluate.metrics. With unit=document a metric scores documents that end at blank lines.\n"
    "\n"
    "Examples:\n"
    "  plait evaluate --reference test.cs --hypothesis system.txt\n"
    "  plait evaluate -r test.cs -i baseline.txt -i system.txt --metric 'bleu:lowercase;chrf++' --json\n"
    "  plait evaluate -r test.cs -i system.txt --metric multi-bleu --source test.en --bins '10;20;30'\n"
    "  plait evaluate -r pages.cs -i system.txt --metric 'bleu:unit=document;chrf:unit=document'\n"
    "  plait evaluate -r summaries -i lead.txt -i system.txt --metric 'rouge:type=1;rouge:type=2;rouge:type=L'",
  .options = options,
  .size = sizeof (Options),
  .defaults = &(const Options){ .resamples = PLAIT_BOOTSTRAP_RESAMPLES, .seed = 12345 },
  .run = run_command,
};
