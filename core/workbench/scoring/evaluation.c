/* SPDX-License-Identifier: MIT */
#include "scoring/outside-scores.h"

#include "metrics/perplexity.h"
#include "words/text.h"
#include "scoring/length-table.h"
#include "dumps/translation-rates.h"
#include "tables/table.h"

/* Adds the score by @metric. With @bins, also adds a score for each bin of source lengths; @words are these lengths. */
static gboolean
add_score (PlaitEvaluation *evaluation, const PlaitEvaluateSettings *settings, const PlaitMetric *metric,
           const PlaitLengthBins *bins, const gint64 *words, GError **error)
{
  PlaitTextPairs pairs
      = plait_references_pairs (evaluation->references, (const char *const *)evaluation->translation->text);
  guint resamples = (guint)settings->resamples;
  guint64 seed = (guint64)settings->seed;
  g_autoptr (PlaitStatistics) statistics = plait_metric_statistics (metric, &pairs, error);
  PlaitResult *result = statistics ? plait_result_new (metric, statistics, resamples, seed, error) : NULL;

  if (!result)
    return FALSE;
  g_ptr_array_add (evaluation->results, result);
  return !bins || plait_length_rows_add (evaluation->lengths, bins, metric, statistics, words, resamples, seed, error);
}

/* Adds the scores by the metrics of [evaluate]. Length bins use the first text source. */
static gboolean
add_scores (PlaitEvaluation *evaluation, const PlaitEvaluateSettings *settings, GError **error)
{
  g_autoptr (GPtrArray) metrics = plait_metric_new_list (settings->metrics, error);
  gboolean binned = *settings->length_bins != '\0';
  g_autoptr (PlaitLengthBins) bins = metrics && binned ? plait_length_bins_new (settings->length_bins, error) : NULL;
  g_autofree gint64 *words = NULL;

  if (!metrics || (binned && !bins))
    return FALSE;
  if (bins)
    words = plait_length_bins_count (
        (gsize)evaluation->translation->n_lines,
        (const char *const *)g_array_index (evaluation->sources, PlaitEvaluationSource, 0).lines);
  for (guint i = 0; i < metrics->len; i++)
    if (!add_score (evaluation, settings, metrics->pdata[i], bins, words, error))
      return FALSE;
  return TRUE;
}

/* Adds the perplexity per target row and, for sequences, per word. Adds nothing for numbers, which have no
 * probability. */
static gboolean
add_perplexities (PlaitEvaluation *evaluation, const PlaitExperiment *experiment, gint64 n, GError **error)
{
  guint last = plait_experiment_has_decoder (experiment) ? PLAIT_PERPLEXITY_WORD : PLAIT_PERPLEXITY_TOKEN;
  g_autofree gint64 *words = g_new (gint64, n);
  g_autoptr (PlaitStatistics) statistics = NULL;

  if (experiment->predict.kind == PLAIT_PREDICT_NUMBER)
    return TRUE;
  for (gint64 i = 0; i < n; i++)
    words[i] = (gint64)plait_text_count_words (plait_references_texts (evaluation->references, 0)[i])
               + 1; /* the end token counts as a word */
  statistics = plait_perplexity_statistics (evaluation->log_probabilities, evaluation->tokens, words, (gsize)n, error);
  if (!statistics)
    return FALSE;
  for (guint unit = PLAIT_PERPLEXITY_TOKEN; unit <= last; unit++)
    {
      g_autoptr (PlaitMetric) metric = plait_metric_new_perplexity ((PlaitPerplexityUnit)unit);
      PlaitResult *result = plait_result_new (metric, statistics, 0, 0, error);

      if (!result)
        return FALSE;
      g_ptr_array_add (evaluation->results, result);
    }
  return TRUE;
}

static void
outside_clear (gpointer item)
{
  g_free (((PlaitOutsideScore *)item)->scores);
}

static void
source_clear (gpointer item)
{
  PlaitEvaluationSource *source = item;

  g_free (source->name);
  g_strfreev (source->lines);
}

static gboolean
add_sources (PlaitEvaluation *evaluation, const PlaitExperiment *experiment, const PlaitCorpus *corpus, GError **error)
{
  for (gint64 i = 0; i < plait_corpus_n_sources (corpus); i++)
    if (plait_input_kind_is_text (experiment->sources[i].kind))
      {
        PlaitEvaluationSource source = { g_strdup (experiment->sources[i].name), plait_corpus_text (corpus, i, error) };

        g_array_append_val (evaluation->sources, source);
        if (!source.lines)
          return FALSE;
      }
  return TRUE;
}

/* Parts of an evaluation that read the attention of forced decoding; NULL: not requested. */
typedef struct
{
  PlaitTranslationRates *rates;
  PlaitAlignmentScores *alignments;
} Forced;

/* Adds empty rates of over- and under-translation to @evaluation, and returns them. Attention fills them later:
 * attention of the search if @of is "search", of forced decoding if @of is "forced". NULL if [evaluate] does not ask
 * for these rates. */
static PlaitTranslationRates *
begin_rates (PlaitEvaluation *evaluation, const PlaitExperimentModel *experiment_model, const char *of,
             const PlaitCorpus *corpus)
{
  g_auto (GStrv) asked = g_strsplit (experiment_model->experiment->evaluate.translation_rates, ";", -1);
  PlaitTranslationRates *rates = NULL;

  if (g_strv_contains ((const char *const *)asked, of))
    {
      rates = plait_translation_rates_new (experiment_model, of, corpus);
      g_ptr_array_add (evaluation->rates, rates);
    }
  return rates;
}

/* Passes the attention of forced decoding to the parts of an evaluation that read it; @data is a Forced. A
 * PlaitAttentionTaker. */
static gboolean
take_forced (const PlaitBatch *batch, gint64 sentence, const PlaitHypothesis *best,
             const PlaitAttentionRecord *attention, gpointer data, GError **error)
{
  const Forced *forced = data;

  return (!forced->rates || plait_translation_rates_take (batch, sentence, best, attention, forced->rates, error))
         && (!forced->alignments
             || plait_alignment_scores_take (batch, sentence, best, attention, forced->alignments, error));
}

/* Predicts the tags of the words of @corpus, if it has tags, and adds their accuracy. */
static gboolean
add_tags (PlaitEvaluation *evaluation, const PlaitEvaluator *evaluator, const PlaitCorpus *corpus, GError **error)
{
  g_autofree char *what = g_strconcat (evaluation->split, ", tagging", NULL);

  evaluation->tags = plait_tag_scores_new (evaluator->experiment_model, evaluator->run_inputs, corpus);
  return !evaluation->tags
         || (plait_encode_corpus (evaluator->search, corpus, evaluator->experiment_model->experiment->decode.batch,
                                  what, evaluator->log, evaluator->stop, plait_tag_scores_take, evaluation->tags, error)
             && plait_tag_scores_add_results (evaluation->tags, evaluation->results, error));
}

/* Returns the references of @split, after checking that the metrics of [evaluate] accept them. If the model predicts
 * masked tokens, returns their correct pieces without a check. (transfer full) */
static PlaitReferences *
find_references (const PlaitEvaluator *evaluator, const char *split, const PlaitCorpus *corpus,
                 const PlaitVocabulary *vocabulary, GError **error)
{
  const PlaitExperiment *experiment = evaluator->experiment_model->experiment;
  g_autoptr (PlaitReferences) references = NULL;
  char **masked;

  if (experiment->predict.kind == PLAIT_PREDICT_MASKED)
    {
      masked = plait_evaluation_masked_text (corpus, vocabulary, NULL, error);
      return masked ? plait_references_new (masked) : NULL;
    }
  references = plait_evaluation_references (evaluator->run_inputs, split, corpus, NULL, error);
  return references && plait_evaluation_check_metrics (references, experiment->evaluate.metrics, split, NULL, error)
             ? g_steal_pointer (&references)
             : NULL;
}

/* Replaces the text of the translation by the pieces that the model predicts for masked tokens. */
static gboolean
use_masked_text (PlaitTranslation *translation, const PlaitCorpus *corpus, const PlaitVocabulary *vocabulary,
                 GError **error)
{
  g_strfreev (translation->text);
  translation->text = plait_evaluation_masked_text (corpus, vocabulary, translation->hypotheses, error);
  return translation->text != NULL;
}

PlaitEvaluation *
plait_evaluation_new (const PlaitEvaluator *evaluator, const char *split, const PlaitCorpus *corpus, GError **error)
{
  const PlaitExperiment *experiment = evaluator->experiment_model->experiment;
  g_autoptr (PlaitEvaluation) evaluation = g_new0 (PlaitEvaluation, 1);
  const PlaitVocabulary *vocabulary = plait_run_inputs_vocabulary (evaluator->run_inputs, experiment->data.target);
  gint64 n = plait_corpus_lines (corpus);
  gboolean decodes = plait_experiment_has_decoder (experiment);
  g_autofree char *searching = g_strconcat (split, decodes ? ", searching" : ", predicting", NULL);
  g_autofree char *scoring = g_strconcat (split, decodes ? ", forced decoding" : ", scoring", NULL);
  g_autofree char *own = plait_evaluation_split (split);
  PlaitTranslationRates *search;
  Forced forced;

  evaluation->rates = g_ptr_array_new_with_free_func ((GDestroyNotify)plait_translation_rates_free);
  evaluation->references = find_references (evaluator, split, corpus, vocabulary, error);
  if (!evaluation->references)
    return NULL;
  search = begin_rates (evaluation, evaluator->experiment_model, "search", corpus);
  forced.rates = begin_rates (evaluation, evaluator->experiment_model, "forced", corpus);
  if (!plait_alignment_scores_new (evaluator->experiment_model, evaluator->run_inputs, own, corpus,
                                   &evaluation->alignments, error))
    return NULL;
  forced.alignments = evaluation->alignments;
  evaluation->split = g_strdup (split);
  evaluation->sources = g_array_new (FALSE, FALSE, sizeof (PlaitEvaluationSource));
  g_array_set_clear_func (evaluation->sources, source_clear);
  evaluation->outside = g_array_new (FALSE, FALSE, sizeof (PlaitOutsideScore));
  g_array_set_clear_func (evaluation->outside, outside_clear);
  evaluation->translation
      = plait_translate_corpus (evaluator->search, corpus, vocabulary, &experiment->decode, searching, evaluator->log,
                                evaluator->stop, search ? plait_translation_rates_take : NULL, search, error);
  if (!evaluation->translation
      || (experiment->predict.kind == PLAIT_PREDICT_MASKED
          && !use_masked_text (evaluation->translation, corpus, vocabulary, error))
      || !add_sources (evaluation, experiment, corpus, error))
    return NULL;
  plait_evaluation_join (experiment, split, evaluation->translation->text, evaluator->log);
  for (guint i = 0; i < evaluation->sources->len; i++)
    plait_evaluation_join (experiment, split, g_array_index (evaluation->sources, PlaitEvaluationSource, i).lines,
                           NULL);
  evaluation->log_probabilities = g_new0 (double, n);
  evaluation->tokens = g_new0 (gint64, n);
  if (!plait_score_corpus (evaluator->search, corpus, experiment->decode.batch, scoring, evaluator->log,
                           evaluator->stop, evaluation->log_probabilities, evaluation->tokens,
                           forced.rates || forced.alignments ? take_forced : NULL, &forced, error))
    return NULL;
  evaluation->results = g_ptr_array_new_with_free_func ((GDestroyNotify)plait_result_free);
  evaluation->lengths = plait_length_rows_new ();
  if (!add_scores (evaluation, &experiment->evaluate, error) || !add_perplexities (evaluation, experiment, n, error))
    return NULL;
  for (guint i = 0; i < evaluation->rates->len; i++)
    if (!plait_translation_rates_add_results (evaluation->rates->pdata[i], evaluator->log, evaluation->results, error))
      return NULL;
  if (evaluation->alignments
      && !plait_alignment_scores_add_results (evaluation->alignments, evaluation->results, error))
    return NULL;
  if (!add_tags (evaluation, evaluator, corpus, error))
    return NULL;
  return g_steal_pointer (&evaluation);
}

void
plait_evaluation_free (PlaitEvaluation *evaluation)
{
  if (!evaluation)
    return;
  g_free (evaluation->split);
  plait_translation_free (evaluation->translation);
  plait_references_free (evaluation->references);
  g_clear_pointer (&evaluation->sources, g_array_unref);
  g_clear_pointer (&evaluation->results, g_ptr_array_unref);
  g_clear_pointer (&evaluation->lengths, g_array_unref);
  g_ptr_array_unref (evaluation->rates);
  plait_alignment_scores_free (evaluation->alignments);
  plait_tag_scores_free (evaluation->tags);
  g_clear_pointer (&evaluation->outside, g_array_unref);
  g_clear_error (&evaluation->fault);
  g_free (evaluation->log_probabilities);
  g_free (evaluation->tokens);
  g_free (evaluation);
}

static gboolean
write_results (const PlaitEvaluation *evaluation, PlaitStore *store, const char *group, GError **error)
{
  g_autofree char *path = g_strconcat (group, "/metrics", NULL);
  g_autofree char *scores = g_strconcat (path, "/score", NULL);
  guint n = evaluation->results->len;
  g_autofree gint64 *larger = g_new (gint64, n + 1);
  g_autoptr (PlaitTable) table = plait_table_new ();

  plait_table_column (table, PLAIT_TABLE_WORDS, "metric");
  plait_table_column (table, PLAIT_TABLE_WORDS, "name");
  plait_table_column (table, PLAIT_TABLE_NUMBERS, "score");
  plait_table_column (table, PLAIT_TABLE_NUMBERS, "low");
  plait_table_column (table, PLAIT_TABLE_NUMBERS, "high");
  plait_table_column (table, PLAIT_TABLE_WORDS, "signature");
  for (guint i = 0; i < n; i++)
    {
      const PlaitResult *result = evaluation->results->pdata[i];
      gboolean interval = result->interval.resamples > 0;

      plait_table_text (table, PLAIT_TABLE_PLAIN, result->metric);
      plait_table_text (table, PLAIT_TABLE_PLAIN, result->name);
      plait_table_real (table, result->score);
      plait_table_real (table, interval ? result->interval.low : result->score);
      plait_table_real (table, interval ? result->interval.high : result->score);
      plait_table_text (table, PLAIT_TABLE_PLAIN, result->signature);
      larger[i] = result->larger_is_better;
    }
  return plait_store_write_table (store, path, table, error)
         && (n == 0 || plait_store_set_list (store, scores, "larger_is_better", PLAIT_STORE_INT64, n, larger, error));
}

/* Writes counts and times of the search. Writes nothing if no row was weighed, for example if the model predicts
 * classes and does not search. Times go to /environment, because they differ between machines; counts do not. */
static gboolean
write_work (const PlaitEvaluation *evaluation, PlaitStore *store, const char *group, GError **error)
{
  const PlaitSearchWork *work = &evaluation->translation->work;
  g_autofree char *times = g_strdup_printf ("/environment/evaluation/%s", evaluation->split);

  if (plait_search_work_rows_weighed (work) <= 0)
    return TRUE;
  return plait_store_set_double (store, group, "states_touched", plait_search_work_rows_weighed (work), error)
         && plait_store_set_double (store, group, "states_chosen", plait_search_work_rows_selected (work), error)
         && plait_store_make_group (store, times, error)
         && plait_store_set_double (store, times, "seconds", work->seconds, error)
         && plait_store_set_int (store, times, "words", work->words, error)
         && plait_store_set_double (store, times, "milliseconds_a_word", plait_search_work_milliseconds (work), error);
}

/* Writes the lines of the sources. The names of sources cannot contain '/', because they are names of groups in an
 * experiment file. */
static gboolean
write_sources (const PlaitEvaluation *evaluation, PlaitStore *store, const char *group, GError **error)
{
  for (guint i = 0; i < evaluation->sources->len; i++)
    {
      const PlaitEvaluationSource *source = &g_array_index (evaluation->sources, PlaitEvaluationSource, i);
      g_autofree char *path = g_strdup_printf ("%s/sources/%s", group, source->name);

      if (!plait_store_write_strings (store, path, (const char *const *)source->lines, evaluation->translation->n_lines,
                                      error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
write_references (const PlaitEvaluation *evaluation, PlaitStore *store, const char *group, GError **error)
{
  const PlaitReferences *references = evaluation->references;

  for (guint k = 0; k < references->sets->len; k++)
    {
      g_autofree char *path
          = k == 0 ? g_strconcat (group, "/references", NULL)
                   : g_strdup_printf ("%s/other_references/%s", group, (const char *)references->names->pdata[k]);

      if (!plait_store_write_strings (store, path, plait_references_texts (references, k), (gint64)references->n,
                                      error))
        return FALSE;
    }
  return TRUE;
}

gboolean
plait_evaluation_write (const PlaitEvaluation *evaluation, PlaitStore *store, GError **error)
{
  gint64 n = evaluation->translation->n_lines;
  g_autofree char *group = g_strdup_printf ("/evaluation/%s", evaluation->split);
  g_autofree char *hypotheses = g_strconcat (group, "/hypotheses", NULL);
  g_autofree char *probabilities = g_strconcat (group, "/reference_log_probabilities", NULL);
  g_autofree char *tokens = g_strconcat (group, "/reference_tokens", NULL);
  g_autofree char *lengths = g_strconcat (group, "/length_bins", NULL);
  g_autofree char *rates = g_strconcat (group, "/translation_rates", NULL);
  g_autofree char *scores = g_strconcat (group, "/scores", NULL);

  for (guint i = 0; i < evaluation->rates->len; i++)
    if (!plait_translation_rates_write (evaluation->rates->pdata[i], store, rates, error))
      return FALSE;
  return plait_store_make_group (store, group, error) && write_work (evaluation, store, group, error)
         && write_results (evaluation, store, group, error)
         && plait_store_write_strings (store, hypotheses, (const char *const *)evaluation->translation->text, n, error)
         && write_references (evaluation, store, group, error) && write_sources (evaluation, store, group, error)
         && plait_store_write (store, probabilities, PLAIT_STORE_DOUBLE, 1, &n, evaluation->log_probabilities,
                               PLAIT_STORE_COMPRESSED, error)
         && plait_store_write (store, tokens, PLAIT_STORE_INT64, 1, &n, evaluation->tokens, PLAIT_STORE_COMPRESSED,
                               error)
         && (!evaluation->alignments || plait_alignment_scores_write (evaluation->alignments, store, group, error))
         && (!evaluation->tags || plait_tag_scores_write (evaluation->tags, store, group, error))
         && plait_outside_scores_write (evaluation, store, scores, error)
         && (evaluation->lengths->len == 0 || plait_length_table_write (evaluation->lengths, store, lengths, error));
}
