/* SPDX-License-Identifier: MIT */
#include "scoring/evaluation.h"

#include "dumps/attention.h"
#include "dumps/descent-dump.h"

/* Returns the model's memories for the labels of heatmaps. Each has its name. A memory of a text source also has the
 * vocabulary of the source and the source's input in @batch. Sets *@n to their number. (transfer container) */
static PlaitLabelledMemory *
labelled_memories (const PlaitEvaluator *evaluator, const PlaitBatch *batch, guint *n)
{
  const PlaitExperiment *experiment = evaluator->experiment_model->experiment;
  const PlaitMemorySpecification *specifications = plait_model_memories (evaluator->experiment_model->model, n);
  PlaitLabelledMemory *memories = g_new0 (PlaitLabelledMemory, *n + 1);

  for (guint m = 0; m < *n; m++)
    {
      memories[m].name = specifications[m].name;
      for (gint64 i = 0; i < batch->n_sources; i++)
        if (plait_model_memory_is_of (&specifications[m], experiment->sources[i].name)
            && plait_input_kind_is_text (batch->inputs[i].kind))
          {
            memories[m].vocabulary = plait_run_inputs_vocabulary (evaluator->run_inputs, experiment->sources[i].stream);
            memories[m].input = &batch->inputs[i];
          }
    }
  return memories;
}

gboolean
plait_evaluation_write_batch_attention (const PlaitEvaluator *evaluator, const char *name, const PlaitBatch *batch,
                                        char *const *names, const PlaitAttentionRecords *attention,
                                        const PlaitHypotheses *hypotheses, PlaitStore *store, GError **error)
{
  const PlaitExperiment *experiment = evaluator->experiment_model->experiment;
  const PlaitVocabulary *vocabulary = plait_run_inputs_vocabulary (evaluator->run_inputs, experiment->data.target);
  guint n_memories;
  g_autofree PlaitLabelledMemory *memories = labelled_memories (evaluator, batch, &n_memories);

  for (gint64 s = 0; s < batch->n_sentences; s++)
    {
      g_autofree char *path = g_strdup_printf ("/attention/%s/%s", name, names[s]);
      g_autofree char *coverage = g_strdup_printf ("/coverage/%s/%s", name, names[s]);
      g_autofree char *copy = g_strdup_printf ("/copy/%s/%s", name, names[s]);
      g_autofree char *descent = g_strdup_printf ("/descent/%s/%s", name, names[s]);
      g_auto (PlaitHypothesis) target = { 0 };
      const PlaitHypothesis *labelled = hypotheses ? hypotheses[s].hypotheses : &target;
      g_autoptr (PlaitLabels) labels = NULL;

      if (hypotheses && hypotheses[s].n == 0)
        continue;
      if (!hypotheses)
        target = plait_hypothesis_of_target (batch, s);
      labels = plait_labels_new (memories, attention->of[s], s, vocabulary, labelled->tokens,
                                 plait_hypothesis_words (labelled), labelled->ended);
      if (!plait_attention_write (store, path, attention->of[s], labels, error)
          || !plait_coverage_write (store, coverage, attention->of[s], labels, error)
          || !plait_copy_write (store, copy, attention->of[s], labels, error)
          || !plait_descent_dump_write (store, descent, attention->of[s], labels, error))
        return FALSE;
    }
  return TRUE;
}

/* Writes the attention of the search and of forced decoding for the tuples @first .. @first + @count - 1. */
static gboolean
write_some_attention (const PlaitEvaluator *evaluator, const char *split, const PlaitCorpus *corpus, gint64 first,
                      gint64 count, PlaitStore *store, GError **error)
{
  const PlaitExperiment *experiment = evaluator->experiment_model->experiment;
  g_autofree gint64 *tuples = g_new (gint64, count);
  g_autofree char *forced = g_strconcat (split, "-forced", NULL);
  g_autofree double *rows = NULL;
  g_auto (GStrv) names = g_new0 (char *, count + 1);
  g_autoptr (PlaitBatch) batch = NULL;
  PlaitHypotheses *hypotheses;
  g_autoptr (PlaitAttentionRecords) attention = NULL;
  gboolean written;

  for (gint64 i = 0; i < count; i++)
    {
      tuples[i] = first + i;
      names[i] = plait_corpus_name (corpus, first + i);
    }
  batch = plait_corpus_batch (corpus, tuples, count, error);
  if (!batch)
    return FALSE;
  hypotheses = plait_search_batch_with_attention (evaluator->search, batch, &experiment->decode, NULL, &attention, 1,
                                                  TRUE, error);
  if (!hypotheses)
    return FALSE;
  written
      = plait_evaluation_write_batch_attention (evaluator, split, batch, names, attention, hypotheses, store, error);
  plait_hypotheses_free (hypotheses, count);
  if (!written)
    return FALSE;
  g_clear_pointer (&attention, plait_attention_records_free);
  rows = g_new (double, plait_ragged_rows (batch->target_rows));
  return plait_search_forced (evaluator->search, batch, rows, &attention, TRUE, error)
         && plait_evaluation_write_batch_attention (evaluator, forced, batch, names, attention, NULL, store, error);
}

gboolean
plait_evaluation_write_attention (const PlaitEvaluator *evaluator, const char *split, const PlaitCorpus *corpus,
                                  gint64 n, PlaitStore *store, GError **error)
{
  gint64 batch = evaluator->experiment_model->experiment->decode.batch;
  gint64 count = MIN (n, plait_corpus_size (corpus));

  if (!plait_experiment_has_decoder (evaluator->experiment_model->experiment))
    return TRUE;
  for (gint64 first = 0; first < count; first += batch)
    if (!write_some_attention (evaluator, split, corpus, first, MIN (batch, count - first), store, error))
      return FALSE;
  return TRUE;
}
