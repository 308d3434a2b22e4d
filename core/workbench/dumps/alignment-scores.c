/* SPDX-License-Identifier: MIT */
#include "dumps/alignment-scores.h"

#include "dumps/text-scores.h"
#include "lines/text-file.h"

#define MAX_BYTES ((gsize)1 << 30)

/* A source with an alignment file. */
typedef struct
{
  const char *name;
  guint index;       /* index of the source in the aligner */
  char **references; /* [lines]: alignments of the file, NULL-terminated */
  char **hypotheses; /* [lines]: alignments of the model, NULL-terminated; "" for a line that is not aligned yet */
} Source;

struct PlaitAlignmentScores
{
  const PlaitExperiment *experiment;
  const PlaitCorpus *corpus;
  PlaitWordAligner *aligner;
  guint n;
  Source *sources; /* [n] */
};

void
plait_alignment_scores_free (PlaitAlignmentScores *scores)
{
  if (!scores)
    return;
  for (guint i = 0; i < scores->n; i++)
    {
      g_strfreev (scores->sources[i].references);
      g_strfreev (scores->sources[i].hypotheses);
    }
  plait_word_aligner_free (scores->aligner);
  g_free (scores->sources);
  g_free (scores);
}

/* Adds the alignments of source @name, read from @path. Does not check their format, because the corpus has read and
 * checked the file. */
static gboolean
add_source (PlaitAlignmentScores *scores, const char *name, const char *path, GError **error)
{
  gsize n = (gsize)plait_corpus_lines (scores->corpus);
  Source *source = &scores->sources[scores->n];

  *source = (Source){ .name = name };
  while (source->index < scores->aligner->n && !g_str_equal (scores->aligner->sources[source->index].name, name))
    source->index++;
  g_assert (source->index < scores->aligner->n); /* plait_experiment_model_check_alignment */
  source->references = plait_text_file_lines (path, FALSE, MAX_BYTES, error);
  if (!source->references)
    return FALSE;
  scores->n++;
  source->hypotheses = g_new0 (char *, n + 1);
  for (gsize i = 0; i < n; i++)
    source->hypotheses[i] = g_strdup ("");
  return g_strv_length (source->references) == n
         || plait_fail (error, PLAIT_ERROR_INPUT, "%s: the file changed while it was read; run the command again",
                        path);
}

gboolean
plait_alignment_scores_new (const PlaitExperimentModel *experiment_model, const PlaitRunInputs *run_inputs,
                            const char *split, const PlaitCorpus *corpus, PlaitAlignmentScores **scores, GError **error)
{
  const PlaitExperiment *experiment = experiment_model->experiment;
  g_autoptr (PlaitAlignmentScores) made = g_new0 (PlaitAlignmentScores, 1);

  *scores = NULL;
  made->experiment = experiment;
  made->corpus = corpus;
  made->sources = g_new0 (Source, experiment->n_sources + 1);
  for (guint i = 0; i < experiment->n_sources; i++)
    {
      const PlaitExperimentSource *source = &experiment->sources[i];
      const char *path = *plait_run_inputs_files (run_inputs, split, source->alignment);

      if (!path)
        continue;
      if (!made->aligner)
        made->aligner = plait_word_aligner_new (experiment_model, run_inputs, "evaluate.alignment_attention",
                                                experiment->evaluate.alignment_attention, error);
      if (!made->aligner || !add_source (made, source->name, path, error))
        return FALSE;
    }
  if (made->n > 0)
    *scores = g_steal_pointer (&made);
  return TRUE;
}

gboolean
plait_alignment_scores_take (const PlaitBatch *batch, gint64 sentence, const PlaitHypothesis *best,
                             const PlaitAttentionRecord *attention, gpointer data, GError **error)
{
  const PlaitAlignmentScores *scores = data;
  gint64 line = plait_corpus_line (scores->corpus, batch->sentence[sentence]);

  for (guint i = 0; i < scores->n; i++)
    {
      const Source *source = &scores->sources[i];
      char *links = plait_word_aligner_align (scores->aligner, source->index, batch, sentence, attention, best, error);

      if (!links)
        return FALSE;
      g_free (source->hypotheses[line]);
      source->hypotheses[line] = links;
    }
  return TRUE;
}

static PlaitTextScores
texts_of (const Source *source)
{
  return (PlaitTextScores){ PLAIT_TEXT_SCORES_ALIGNMENT, source->name, source->hypotheses, source->references };
}

gboolean
plait_alignment_scores_add_results (const PlaitAlignmentScores *scores, GPtrArray *results, GError **error)
{
  for (guint i = 0; i < scores->n; i++)
    {
      PlaitTextScores texts = texts_of (&scores->sources[i]);

      if (!plait_text_scores_add_results (&texts, &scores->experiment->evaluate, results, error))
        return FALSE;
    }
  return TRUE;
}

gboolean
plait_alignment_scores_write (const PlaitAlignmentScores *scores, PlaitStore *store, const char *group, GError **error)
{
  for (guint i = 0; i < scores->n; i++)
    {
      PlaitTextScores texts = texts_of (&scores->sources[i]);

      if (!plait_text_scores_write (&texts, store, group, error))
        return FALSE;
    }
  return TRUE;
}
