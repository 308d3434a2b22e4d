/* SPDX-License-Identifier: MIT */
#include "dumps/word-alignment.h"

#include <string.h>

void
plait_word_aligner_free (PlaitWordAligner *aligner)
{
  if (!aligner)
    return;
  g_free (aligner->sources);
  g_free (aligner);
}

PlaitWordAligner *
plait_word_aligner_new (const PlaitExperimentModel *experiment_model, const PlaitRunInputs *run_inputs, const char *key,
                        const char *selection, GError **error)
{
  g_autoptr (PlaitWordAligner) aligner = g_new0 (PlaitWordAligner, 1);
  const PlaitExperiment *experiment = experiment_model->experiment;
  GArray *memories;

  aligner->key = key;
  if (!plait_attention_selection_parse (selection, key, &aligner->selection, error))
    return NULL;
  if (!plait_experiment_has_decoder (experiment))
    return plait_fail_null (error, PLAIT_ERROR_INPUT,
                            "%s: the run has no decoder, so no attention; leave this option out", key);
  aligner->target = plait_run_inputs_vocabulary (run_inputs, experiment->data.target);
  memories = plait_text_memories_new (experiment_model, run_inputs);
  for (guint i = memories->len; i-- > 0;)
    {
      guint source = g_array_index (memories, PlaitTextMemory, i).source;

      if (plait_experiment_is_documents (experiment, experiment->sources[source].stream)
          || plait_experiment_is_documents (experiment, experiment->data.target))
        g_array_remove_index (memories, i);
    }
  aligner->n = memories->len;
  aligner->sources = (PlaitTextMemory *)(gpointer)g_array_free (memories, FALSE);
  if (aligner->n == 0)
    return plait_fail_null (error, PLAIT_ERROR_INPUT,
                            "%s: words of sentences are aligned, not of documents, and this decoder does not attend to "
                            "the tokens of a source of sentences; leave this option out (--attention stores the "
                            "attention)",
                            key);
  return g_steal_pointer (&aligner);
}

/* Returns the source word that gets most attention. Returns -1 if a token outside words gets at least as much, or if
 * rows that are not tokens do in total. @sums has the attention to each of @n tokens, then this total. */
static gint64
find_best (const double *sums, const gint64 *words, gint64 n, gint64 n_words)
{
  g_autofree double *paid = g_new0 (double, n_words + 1);
  gint64 best = -1;
  double max = sums[n];

  for (gint64 k = 0; k < n; k++)
    if (words[k] >= 0)
      paid[words[k]] += sums[k];
    else
      max = MAX (max, sums[k]);
  for (gint64 w = 0; w < n_words; w++)
    if (paid[w] > max)
      {
        best = w;
        max = paid[w];
      }
  return best;
}

char *
plait_word_aligner_align (const PlaitWordAligner *aligner, guint source, const PlaitBatch *batch, gint64 sentence,
                          const PlaitAttentionRecord *attention, const PlaitHypothesis *found, GError **error)
{
  const PlaitTextMemory *aligned = &aligner->sources[source];
  const PlaitInput *input = &batch->inputs[aligned->source];
  gint64 tokens = plait_ragged_length (input->rows, sentence);
  g_autofree gint64 *source_words = g_new (gint64, tokens + 1);
  g_autofree gint64 *target_words = g_new (gint64, found->length + 1);
  g_autofree double *sums = g_new (double, tokens + 1);
  g_autoptr (GString) text = g_string_new (NULL);
  gint64 n_words;

  if (plait_input_is_missing (input, sentence))
    return g_string_free (g_steal_pointer (&text), FALSE);
  if (!plait_attention_has_tokens (&attention->memories[aligned->memory]))
    return plait_fail_null (error, PLAIT_ERROR_INPUT,
                            "%s: the encoder of %s makes rows that are not tokens, so words cannot be aligned; leave "
                            "out --alignment or the alignment file (--attention stores the attention to each row)",
                            aligner->key, aligned->name);
  n_words = plait_vocabulary_count_words (aligned->vocabulary, input->tokens + input->rows.offsets[sentence], tokens,
                                          source_words);
  plait_vocabulary_count_words (aligner->target, found->tokens, found->length, target_words);
  for (gint64 begin = 0, end; begin < found->length; begin = end)
    {
      gint64 word;

      for (end = begin + 1; end < found->length && target_words[end] == target_words[begin]; end++)
        ;
      if (target_words[begin] < 0)
        continue;
      memset (sums, 0, (gsize)(tokens + 1) * sizeof *sums);
      if (!plait_attention_token_sums (attention, aligned->memory, tokens, begin, end, aligner->selection, sums))
        return plait_fail_null (error, PLAIT_ERROR_INPUT,
                                "%s: no attention of this layer and head reads the tokens of %s; choose another layer "
                                "or head, counted from 0, or mean",
                                aligner->key, aligned->name);
      word = find_best (sums, source_words, tokens, n_words);
      if (word >= 0)
        g_string_append_printf (text, "%s%jd-%jd", text->len > 0 ? " " : "", word, target_words[begin]);
    }
  return g_string_free (g_steal_pointer (&text), FALSE);
}
