/* SPDX-License-Identifier: MIT */
#include "text/json.h"
#include "command/command.h"
#include "use/inference.h"

#include <math.h>
#include <stdio.h>

/* Implements plait score: scores given translations by forced decoding, and aligns their words. */

/* Sums over all sentences. Members line_* are sums over one line or document, or with --sentences over one sentence. */
typedef struct
{
  double log_probability;
  gint64 tokens;

  gint64 line;     /* index of the current line; -1 before the first */
  gint64 sentence; /* index of the current sentence in its document; -1 without --sentences */
  double line_log_probability;
  gint64 line_tokens;

  const PlaitWordAligner *aligner; /* aligner of words; NULL without --alignment */
  char **alignments;               /* [sources of the aligner]: alignments of the current line; NULL: not aligned */

  gboolean as_json;
} Sum;

static void
sum_clear (Sum *sum)
{
  g_strfreev (sum->alignments);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Sum, sum_clear)

/* Prints the sums of the current line, document or sentence as one JSON object on one line. */
static void
print_json (const Sum *sum)
{
  g_autoptr (PlaitJson) json = plait_json_new_line ();

  plait_json_begin_object (json, NULL);
  plait_json_integer (json, "line", sum->line + 1);
  if (sum->sentence >= 0)
    plait_json_integer (json, "sentence", sum->sentence + 1);
  plait_json_members (json, "log_probability=%g tokens=%jd", sum->line_log_probability, sum->line_tokens);
  if (sum->aligner)
    plait_json_begin_object (json, "alignment");
  for (guint i = 0; sum->aligner && i < sum->aligner->n; i++)
    plait_json_text (json, sum->aligner->sources[i].name, sum->alignments ? sum->alignments[i] : "");
  if (sum->aligner)
    plait_json_end_object (json);
  plait_json_end_object (json);
  fputs (plait_json_string (json), stdout);
}

static void
print_score (const Sum *sum)
{
  char number[G_ASCII_DTOSTR_BUF_SIZE];

  if (sum->as_json)
    {
      print_json (sum);
      return;
    }
  printf ("%s\t%jd", g_ascii_formatd (number, sizeof number, "%.6f", sum->line_log_probability), sum->line_tokens);
  for (guint i = 0; sum->aligner && i < sum->aligner->n; i++)
    printf ("\t%s", sum->alignments ? sum->alignments[i] : "");
  putchar ('\n');
}

static void
begin_line (Sum *sum, gint64 line)
{
  sum->line = line;
  g_clear_pointer (&sum->alignments, g_strfreev);
  sum->line_log_probability = 0;
  sum->line_tokens = 0;
}

static void
print_line (Sum *sum)
{
  if (sum->line < 0)
    return;
  print_score (sum);
  sum->line = -1;
}

/* Prints a score for each sentence of a document. A score includes the start token of the next sentence or the end
 * token. Without --json, a blank line separates documents. If @rows is NULL (@batch was skipped), scores are nan. */
static void
print_sentences (const PlaitFeed *feed, const PlaitBatch *batch, const double *rows, Sum *sum)
{
  for (gint64 i = 0; i < batch->n_sentences; i++)
    {
      gint64 line = plait_feed_line (feed, batch->sentence[i]), end = batch->target_rows.offsets[i + 1];

      if (line != sum->line)
        {
          if (sum->line >= 0 && !sum->as_json)
            putchar ('\n');
          sum->sentence = 0;
        }
      begin_line (sum, line);
      sum->tokens += rows ? plait_ragged_length (batch->target_rows, i) : 0;
      for (gint64 row = batch->target_rows.offsets[i]; row < end; row++)
        {
          sum->log_probability += rows ? rows[row] : 0;
          sum->line_log_probability += rows ? rows[row] : NAN;
          sum->line_tokens += rows ? 1 : 0;
          if (row + 1 < end && batch->target_outputs[row] != PLAIT_TOKEN_BOS)
            continue;
          print_score (sum);
          sum->sentence++;
          begin_line (sum, line);
        }
    }
}

/* Aligns the words of sentence @sentence of @batch, if there is an aligner and @attention is not NULL. */
static gboolean
align (Sum *sum, const PlaitBatch *batch, gint64 sentence, const PlaitAttentionRecords *attention, GError **error)
{
  g_auto (PlaitHypothesis) target = { 0 };

  if (!sum->aligner || !attention)
    return TRUE;
  target = plait_hypothesis_of_target (batch, sentence);
  sum->alignments = g_new0 (char *, sum->aligner->n + 1);
  for (guint i = 0; i < sum->aligner->n; i++)
    {
      sum->alignments[i]
          = plait_word_aligner_align (sum->aligner, i, batch, sentence, attention->of[sentence], &target, error);
      if (!sum->alignments[i])
        return FALSE;
    }
  return TRUE;
}

/* Adds the score of each sentence of @batch to the score of its line, and prints the lines that are complete. A
 * document that was cut has several chunks, whose scores are added. If @rows is NULL, @batch was skipped, and the score
 * of its line is nan. */
static gboolean
print_batch (const PlaitFeed *feed, const PlaitBatch *batch, const double *rows, const PlaitAttentionRecords *attention,
             Sum *sum, GError **error)
{
  for (gint64 i = 0; i < batch->n_sentences; i++)
    {
      gint64 length = rows ? plait_ragged_length (batch->target_rows, i) : 0;
      gint64 line = plait_feed_line (feed, batch->sentence[i]);
      double total = 0;

      for (gint64 t = 0; t < length; t++)
        total += rows[batch->target_rows.offsets[i] + t];
      if (line != sum->line)
        {
          print_line (sum);
          begin_line (sum, line);
          if (!align (sum, batch, i, attention, error))
            return FALSE;
        }
      sum->line_log_probability += rows ? total : NAN;
      sum->line_tokens += length;
      sum->log_probability += total;
      sum->tokens += length;
    }
  return TRUE;
}

static gboolean
score (PlaitInference *inference, gboolean sentences, Sum *sum, GError **error)
{
  const PlaitExperiment *experiment = inference->trained->experiment;
  gboolean chunks = experiment->data.document_length > 0;

  if (sentences && !plait_experiment_documents (experiment, experiment->data.target).start_tokens)
    return plait_fail (
        error, PLAIT_ERROR_INPUT,
        "--sentences needs a start token for each sentence, but the target %s has none; leave the option out",
        experiment->data.target);

  for (;;)
    {
      g_autoptr (GError) local = NULL;
      g_autoptr (PlaitBatch) batch = plait_inference_next_batch (inference, experiment->decode.batch, &local);
      g_autofree double *rows = NULL;
      g_autoptr (PlaitAttentionRecords) attention = NULL;

      if (!plait_no_error (&local, error))
        return FALSE;
      if (!batch)
        {
          if (!sentences)
            print_line (sum);
          return TRUE;
        }
      rows = inference->skips ? NULL : g_new (double, plait_ragged_rows (batch->target_rows) + 1);
      if (rows
          && !plait_search_forced (inference->search, batch, rows, inference->dump || sum->aligner ? &attention : NULL,
                                   inference->dump != NULL, error))
        return FALSE;
      if (sentences)
        print_sentences (inference->feed, batch, rows, sum);
      else if (!print_batch (inference->feed, batch, rows, attention, sum, error))
        return FALSE;
      if (!sentences && !chunks) /* with chunks, the next batch may hold another chunk of this line */
        print_line (sum);
      if (rows && !plait_inference_dump (inference, batch, attention, NULL, error))
        return FALSE;
      plait_log_progress (inference->log, "%jd target tokens so far", sum->tokens);
    }
}

typedef struct
{
  PlaitInferenceOptions text;
  const char *target;
  gboolean sentences, json;
} Options;

static gboolean
run_command (PlaitInvocation *invocation, GError **error)
{
  const Options *options = invocation->options;
  g_auto (PlaitInference) inference = { 0 };
  g_auto (Sum) sum = { .line = -1, .sentence = -1, .as_json = options->json };

  if (!options->target)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "--target is missing; name the translations to score with --target FILE");
  if (!plait_inference_open (&inference, invocation, options->target, error))
    return FALSE;
  if (inference.trained->experiment->predict.kind == PLAIT_PREDICT_NUMBER)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s predicts numbers, which have no probability; score the output of plait translate by plait "
                       "evaluate --metric 'pearson;mse'",
                       invocation->arguments[0]);
  sum.aligner = inference.aligner;
  if (!score (&inference, options->sentences, &sum, error))
    return FALSE;
  plait_log_progress_end (inference.log);
  plait_log_info (inference.log, "%jd tokens, perplexity per token %.4f", sum.tokens,
                  exp (-sum.log_probability / (double)MAX (1, sum.tokens)));
  return !inference.dump || plait_store_commit (inference.dump, error);
}

static const PlaitOption options[] = {
  PLAIT_INFERENCE_OPTIONS,
  PLAIT_OPTION ("target", 0, TEXT, target, "Translations to score", "FILE"),
  PLAIT_FLAG ("sentences", 0, sentences, "Print a line for each sentence of a document"),
  PLAIT_FLAG ("json", 0, json, "Print one JSON object a line"),
  PLAIT_OPTION_FORCE (PlaitInferenceOptions),
  { NULL },
};

const PlaitCommand plait_command_score = {
  .name = "score",
  .synopsis
  = "RUN.h5... --source NAME=FILE...|--tsv NAME,... --target FILE [--alignment LAYER[:HEAD]] [--set G.K=V]... [--json]",
  .summary = "Score given translations by forced decoding",
  .details = "Prints a line for each sentence or document: the natural log-probability and the number of target "
             "tokens, which includes the end token. With --sentences it prints a line for each sentence of a document, "
             "and a blank line between documents. With --alignment each line has one more field per source, such as "
             "0-0 1-2. Several runs form an ensemble, as in translate.",
  .options = options,
  .size = sizeof (Options),
  .min = 1,
  .max = -1,
  .run = run_command,
};
