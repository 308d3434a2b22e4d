/* SPDX-License-Identifier: MIT */
#include "scoring/evaluation-references.h"

#include <string.h>

#include "documents/documents.h"
#include "experiment/groups.h"

const char *
plait_evaluation_join_name (PlaitTextPieces pieces)
{
  g_auto (GStrv) names = g_strsplit (plait_experiment_setting ("evaluate", "join")->choices, ";", -1);

  return g_intern_string (names[pieces]);
}

void
plait_evaluation_join (const PlaitExperiment *experiment, const char *split, char **texts, PlaitLog *log)
{
  PlaitTextPieces found = PLAIT_PIECES_NONE;

  if (experiment->predict.kind != PLAIT_PREDICT_SEQUENCE)
    return;
  if (log && experiment->evaluate.join == PLAIT_PIECES_NONE)
    found = plait_text_find_pieces ((const char *const *)texts);
  if (found != PLAIT_PIECES_NONE)
    plait_log_warning (log,
                       "%s: the text looks like pieces of words, which metrics would count as words; evaluate.join=%s "
                       "joins them before scoring",
                       split, plait_evaluation_join_name (found));
  plait_text_join_pieces (texts, experiment->evaluate.join);
}

gboolean
plait_evaluation_is_named (const char *name)
{
  return strchr (name, '.') != NULL;
}

char *
plait_evaluation_split (const char *name)
{
  return g_strndup (name, strcspn (name, "."));
}

PlaitReferences *
plait_evaluation_references (const PlaitRunInputs *run_inputs, const char *split, const PlaitCorpus *corpus,
                             PlaitLog *log, GError **error)
{
  const PlaitExperiment *experiment = plait_run_inputs_experiment (run_inputs);
  PlaitDocumentSettings settings = plait_experiment_documents (experiment, experiment->data.target);
  g_autofree char *own = plait_evaluation_split (split);
  g_autofree const char **streams = plait_experiment_references (experiment, own);
  char **first = plait_corpus_text (corpus, plait_corpus_n_sources (corpus), error);
  g_autoptr (PlaitReferences) references = NULL;

  if (!first)
    return NULL;
  plait_evaluation_join (experiment, split, first, log);
  references = plait_references_new (first);
  for (guint i = 0; streams[i]; i++)
    {
      const char *path = *plait_experiment_data_files (experiment, own, streams[i]);
      gboolean unchanged = plait_digests_file (plait_run_inputs_digests (run_inputs), path, error) != NULL;
      g_autoptr (GPtrArray) texts = unchanged ? plait_document_texts (path, &settings, NULL, error) : NULL;
      guint n = texts ? texts->len : 0;
      char **lines;

      if (!texts)
        return NULL;
      lines = (char **)g_ptr_array_steal (texts, NULL);
      plait_evaluation_join (experiment, split, lines, log);
      if (!plait_references_add (references, plait_experiment_reference_name (experiment, streams[i]), lines))
        return plait_fail_null (
            error, PLAIT_ERROR_INPUT,
            "%s: the file has %u references, but the split %s has %zu texts; give one reference for each text", path, n,
            own, references->n);
    }
  return g_steal_pointer (&references);
}

gboolean
plait_evaluation_check_metrics (const PlaitReferences *references, const char *names, const char *split, PlaitLog *log,
                                GError **error)
{
  const PlaitTextPairs pairs = plait_references_pairs (references, NULL);
  g_autoptr (GPtrArray) metrics = plait_metric_new_list (names, error);

  for (guint m = 0; metrics && m < metrics->len; m++)
    {
      gsize place, wordless, all = 0;

      if (!plait_metric_check_references (metrics->pdata[m], &pairs, &place, error))
        {
          g_prefix_error (error, "%s: ", split);
          return FALSE;
        }
      wordless = log ? plait_metric_count_wordless (metrics->pdata[m], &pairs, &all) : 0;
      if (wordless > 0)
        plait_log_warning (log, "%s: " PLAIT_WORDLESS_FORMAT, split, plait_metric_text (metrics->pdata[m]), wordless,
                           all);
    }
  return metrics != NULL;
}

gboolean
plait_evaluation_check_references (const PlaitRunInputs *run_inputs, const char *names, const char *split,
                                   const PlaitCorpus *corpus, PlaitLog *log, GError **error)
{
  g_autoptr (PlaitReferences) references = NULL;

  if (!corpus || plait_run_inputs_experiment (run_inputs)->predict.kind == PLAIT_PREDICT_MASKED)
    return TRUE;
  references = plait_evaluation_references (run_inputs, split, corpus, log, error);
  return references && plait_evaluation_check_metrics (references, names, split, log, error);
}

/* Appends the pieces of @ids [n] to @text, separated by spaces. Spaces and tabs inside a piece become '_', because
 * spaces separate pieces. */
static void
append_pieces (GString *text, const PlaitVocabulary *vocabulary, const gint32 *ids, gint64 n)
{
  for (gint64 i = 0; i < n; i++)
    {
      g_autofree char *piece = g_strdelimit (g_strdup (plait_vocabulary_piece (vocabulary, ids[i])), " \t", '_');

      g_string_append_printf (text, "%s%s", text->len > 0 ? " " : "", piece);
    }
}

char **
plait_evaluation_masked_text (const PlaitCorpus *corpus, const PlaitVocabulary *vocabulary,
                              const PlaitHypotheses *found, GError **error)
{
  g_autoptr (GStrvBuilder) lines = g_strv_builder_new ();
  gint64 tuple = 0;

  for (gint64 line = 0; line < plait_corpus_lines (corpus); line++)
    {
      g_autoptr (GString) text = g_string_new (NULL);

      for (; tuple < plait_corpus_size (corpus) && plait_corpus_line (corpus, tuple) == line; tuple++)
        {
          g_autoptr (PlaitBatch) batch = found ? NULL : plait_corpus_batch (corpus, &tuple, 1, error);

          if (found)
            append_pieces (text, vocabulary, found[tuple].hypotheses[0].tokens, found[tuple].hypotheses[0].length);
          else if (batch)
            append_pieces (text, vocabulary, batch->target_outputs, plait_ragged_rows (batch->target_rows));
          else
            return NULL;
        }
      g_strv_builder_add (lines, text->str);
    }
  return g_strv_builder_end (lines);
}
