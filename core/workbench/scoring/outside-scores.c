/* SPDX-License-Identifier: MIT */
#include "scoring/outside-scores.h"

#include <string.h>

#include "lines/text-file.h"
#include "metrics/outside.h"
#include "process/program.h"
#include "scoring/length-table.h"
#include "text/number.h"

#define MAX_BYTES ((gsize)1 << 28)
#define MAX_SECONDS (30 * 24 * 60 * 60)
#define MAX_SAID 300 /* maximum bytes of a line that a message quotes */

/* Appends @text with each character of white space replaced by a space, so that fields contain no tab or line end. */
static void
append_text (GString *to, const char *text)
{
  for (const char *c = text; *c != '\0'; c++)
    g_string_append_c (to, g_ascii_isspace (*c) ? ' ' : *c);
}

/* Returns the input of evaluate.scores commands: a line for each line or document of the split. (transfer full) */
static char *
input_of (const PlaitEvaluation *evaluation)
{
  GString *input = g_string_new (NULL);

  for (gint64 i = 0; i < evaluation->translation->n_lines; i++)
    {
      append_text (input, evaluation->translation->text[i]);
      g_string_append_c (input, '\t');
      append_text (input, plait_references_texts (evaluation->references, 0)[i]);
      for (guint s = 0; s < evaluation->sources->len; s++)
        {
          g_string_append_c (input, '\t');
          append_text (input, g_array_index (evaluation->sources, PlaitEvaluationSource, s).lines[i]);
        }
      g_string_append_c (input, '\n');
    }
  return g_string_free (input, FALSE);
}

/* Returns the end of an error message, with the last line of @errors, if there is one. (transfer full) */
static char *
last_words (char *errors)
{
  const char *line = strrchr (g_strchomp (errors), '\n');

  line = line ? line + 1 : errors;
  return *line != '\0' ? g_strdup_printf (": %.*s", MAX_SAID, line)
                       : g_strdup (", without a message on standard error");
}

/* Runs the command of @score and returns the lines that it prints. (transfer full) */
static char **
run_command (const PlaitExperimentScore *score, const PlaitEvaluation *evaluation, const PlaitEvaluator *evaluator,
             GError **error)
{
  g_autofree char *input = input_of (evaluation);
  g_autofree char *split = plait_evaluation_split (evaluation->split);
  const char *const words[] = { "/bin/sh",
                                "-c",
                                "cd -- \"$1\" && PLAIT_SPLIT=$2 exec /bin/sh -c \"$3\"",
                                "plait",
                                evaluator->experiment_model->experiment->data.folder,
                                split,
                                score->command,
                                NULL };
  const PlaitProgramCall call
      = { .words = words, .input = input, .seconds = MAX_SECONDS, .stop = evaluator->stop, .max_output = MAX_BYTES };
  g_auto (PlaitProgramResult) answer = { 0 };
  g_autofree char *said = NULL;

  if (!plait_program_call (&call, &answer, error))
    return NULL;
  if (answer.end == PLAIT_PROGRAM_DONE)
    return g_strsplit (g_strchomp (answer.output), "\n", -1);
  if (answer.end == PLAIT_PROGRAM_OVERFLOWED)
    return plait_fail_null (error, PLAIT_ERROR_FAILED,
                            "the command %s was ended, because it wrote more than %zu MiB to standard output or to "
                            "standard error; print one number for each line, and few messages",
                            score->command, MAX_BYTES >> 20);
  said = last_words (answer.errors);
  return plait_fail_null (error, PLAIT_ERROR_FAILED, "the command %s failed%s", score->command, said);
}

/* Sets @scores [lines] to the numbers in @lines. */
static gboolean
read_numbers (char **lines, const PlaitEvaluation *evaluation, double *scores, GError **error)
{
  gint64 n = evaluation->translation->n_lines;
  guint given = g_strv_length (lines);

  if (given == 1 && *g_strstrip (lines[0]) == '\0')
    given = 0;
  if (given != n)
    return plait_fail (
        error, PLAIT_ERROR_INPUT,
        "there are %u numbers for %jd lines of %s; expected one number for each line, in the order of the lines", given,
        n, evaluation->split);
  for (gint64 i = 0; i < n; i++)
    if (!plait_parse_double (g_strstrip (lines[i]), &scores[i]))
      return plait_fail (error, PLAIT_ERROR_INPUT, "line %jd is \"%.*s\"; expected a finite number", i + 1, MAX_SAID,
                         lines[i]);
  return TRUE;
}

static gboolean
compute (const PlaitExperimentScore *score, const PlaitEvaluation *evaluation, const PlaitEvaluator *evaluator,
         double *scores, GError **error)
{
  g_auto (GStrv) lines = score->path ? plait_text_file_lines (score->path, FALSE, MAX_BYTES, error)
                                     : run_command (score, evaluation, evaluator, error);

  return lines && read_numbers (lines, evaluation, scores, error);
}

/* Adds the result of @score. Takes ownership of its numbers, @scores [lines]. */
static gboolean
add_result (PlaitEvaluation *evaluation, const PlaitEvaluator *evaluator, const PlaitExperimentScore *score,
            double *scores, GError **error)
{
  const PlaitEvaluateSettings *settings = &evaluator->experiment_model->experiment->evaluate;
  guint resamples = (guint)settings->resamples;
  guint64 seed = (guint64)settings->seed;
  gint64 n = evaluation->translation->n_lines;
  g_autoptr (PlaitMetric) metric = plait_metric_new_outside (score->name, score->larger_is_better);
  g_autoptr (PlaitStatistics) statistics = plait_outside_statistics (scores, (gsize)n);
  g_autoptr (PlaitLengthBins) bins = NULL;
  g_autofree gint64 *words = NULL;
  PlaitResult *result = plait_result_new (metric, statistics, resamples, seed, error);
  PlaitOutsideScore kept = { score->name, scores };

  g_array_append_val (evaluation->outside, kept);
  if (!result)
    return FALSE;
  g_ptr_array_add (evaluation->results, result);
  if (*settings->length_bins == '\0')
    return TRUE;
  bins = plait_length_bins_new (settings->length_bins, error);
  if (!bins)
    return FALSE;
  words = plait_length_bins_count (
      (gsize)n, (const char *const *)g_array_index (evaluation->sources, PlaitEvaluationSource, 0).lines);
  return plait_length_rows_add (evaluation->lengths, bins, metric, statistics, words, resamples, seed, error);
}

gboolean
plait_outside_scores_add (PlaitEvaluation *evaluation, const PlaitEvaluator *evaluator, GError **error)
{
  const PlaitExperiment *experiment = evaluator->experiment_model->experiment;

  for (guint i = 0; i < experiment->n_scores; i++)
    {
      const PlaitExperimentScore *score = &experiment->scores[i];
      double *scores = g_new0 (double, evaluation->translation->n_lines + 1);
      g_autoptr (GError) fault = NULL;

      if (compute (score, evaluation, evaluator, scores, &fault))
        {
          if (!add_result (evaluation, evaluator, score, scores, error))
            return FALSE;
          continue;
        }
      g_free (scores);
      if (g_error_matches (fault, PLAIT_ERROR, PLAIT_ERROR_INTERRUPTED))
        return plait_no_error (&fault, error);
      g_prefix_error (&fault, "evaluate.scores.%s of %s: ", score->name, evaluation->split);
      plait_log_warning (evaluator->log, "%s", fault->message);
      if (!evaluation->fault)
        evaluation->fault = g_steal_pointer (&fault);
    }
  return TRUE;
}

gboolean
plait_outside_scores_write (const PlaitEvaluation *evaluation, PlaitStore *store, const char *path, GError **error)
{
  gint64 n = evaluation->translation->n_lines;

  for (guint i = 0; i < evaluation->outside->len; i++)
    {
      const PlaitOutsideScore *score = &g_array_index (evaluation->outside, PlaitOutsideScore, i);
      g_autofree char *below = g_strdup_printf ("%s/%s", path, score->name);

      if (!plait_store_write (store, below, PLAIT_STORE_DOUBLE, 1, &n, score->scores, PLAIT_STORE_COMPRESSED, error))
        return FALSE;
    }
  return TRUE;
}

PlaitStatistics *
plait_outside_scores_read (PlaitStore *store, const char *path, const char *metric, PlaitMetric **scorer,
                           GError **error)
{
  g_autofree char *name = NULL;
  g_autoptr (PlaitMetric) read = plait_metric_read_outside (metric, &name);
  g_autofree char *below = read ? g_strdup_printf ("%s/%s", path, name) : NULL;
  g_autofree double *scores = NULL;
  gint64 n;

  if (!read)
    return NULL;
  scores = plait_store_read_array (store, below, PLAIT_STORE_DOUBLE, MAX_BYTES, &n, error);
  if (!scores)
    return NULL;
  *scorer = g_steal_pointer (&read);
  return plait_outside_statistics (scores, (gsize)n);
}
