/* SPDX-License-Identifier: MIT */
#include "dumps/alignment-scores.h"

#include "lines/text-file.h"
#include "significance/report.h"

#define MAX_BYTES ((gsize)1 << 30)
#define PREFIX "alignment/" /* first part of the name of an alignment metric in a run: alignment/SOURCE/KIND */

/* Kinds of metrics, each with the beginning of its title. */
static const char *const kinds[][2] = {
  { "aer", "AER" },
  { "alignment-precision", "alignment precision" },
  { "alignment-recall", "alignment recall" },
};

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

/* Adds the alignments of source @name, read from @path. The corpus has read them, so they are valid. */
static gboolean
add_source (PlaitAlignmentScores *scores, const char *name, const char *path, GError **error)
{
  gsize n = (gsize)plait_corpus_lines (scores->corpus);
  Source *source = &scores->sources[scores->n];

  *source = (Source){ .name = name };
  while (source->index < scores->aligner->n && !g_str_equal (scores->aligner->sources[source->index].name, name))
    source->index++;
  if (source->index == scores->aligner->n)
    return plait_fail (
        error, PLAIT_ERROR_INPUT,
        "%s: the decoder does not attend to the tokens of source %s, so they cannot be aligned; leave this file out",
        path, name);
  source->references = plait_text_file_lines (path, FALSE, MAX_BYTES, error);
  if (!source->references)
    return FALSE;
  scores->n++;
  source->hypotheses = g_new0 (char *, n + 1);
  for (gsize i = 0; i < n; i++)
    source->hypotheses[i] = g_strdup ("");
  return g_strv_length (source->references) == n
         || plait_fail (error, PLAIT_ERROR_INPUT, "%s: the file changed while it was read; run again", path);
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

static PlaitStatistics *
count (const PlaitMetric *metric, char *const *hypotheses, char *const *references, GError **error)
{
  const char *const *sets[] = { (const char *const *)references };
  const PlaitTextPairs pairs = { g_strv_length ((char **)references), (const char *const *)hypotheses, 1, sets, TRUE };

  return plait_metric_statistics (metric, &pairs, error);
}

gboolean
plait_alignment_scores_add_results (const PlaitAlignmentScores *scores, GPtrArray *results, GError **error)
{
  const PlaitEvaluateSettings *settings = &scores->experiment->evaluate;

  for (guint i = 0; i < scores->n; i++)
    for (guint k = 0; k < G_N_ELEMENTS (kinds); k++)
      {
        const Source *source = &scores->sources[i];
        g_autofree char *text = g_strdup_printf (PREFIX "%s/%s", source->name, kinds[k][0]);
        g_autofree char *title = g_strdup_printf ("%s %s", kinds[k][1], source->name);
        g_autoptr (PlaitMetric) metric = plait_metric_new_as (kinds[k][0], text, title);
        g_autoptr (PlaitStatistics) statistics = count (metric, source->hypotheses, source->references, error);
        PlaitResult *result = statistics ? plait_result_new (metric, statistics, (guint)settings->resamples,
                                                             (guint64)settings->seed, error)
                                         : NULL;

        if (!result)
          return FALSE;
        g_ptr_array_add (results, result);
      }
  return TRUE;
}

gboolean
plait_alignment_scores_write (const PlaitAlignmentScores *scores, PlaitStore *store, const char *path, GError **error)
{
  gint64 n = plait_corpus_lines (scores->corpus);

  for (guint i = 0; i < scores->n; i++)
    {
      const Source *source = &scores->sources[i];
      g_autofree char *hypotheses = g_strdup_printf ("%s/%s/hypotheses", path, source->name);
      g_autofree char *references = g_strdup_printf ("%s/%s/references", path, source->name);

      if (!plait_store_write_strings (store, hypotheses, (const char *const *)source->hypotheses, n, error)
          || !plait_store_write_strings (store, references, (const char *const *)source->references, n, error))
        return FALSE;
    }
  return TRUE;
}

/* Returns the kind of an alignment metric whose text has the parts @parts; NULL if it is another metric. */
static const char *
kind_of (char *const *parts)
{
  for (guint k = 0; k < G_N_ELEMENTS (kinds) && g_strv_length ((char **)parts) == 3; k++)
    if (g_str_equal (parts[0], "alignment") && g_str_equal (parts[2], kinds[k][0]))
      return kinds[k][0];
  return NULL;
}

PlaitStatistics *
plait_alignment_scores_read (PlaitStore *store, const char *path, const char *metric, const char *title,
                             PlaitMetric **scorer, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (metric, "/", -1);
  const char *kind = kind_of (parts);
  g_autofree char *hypotheses_path = kind ? g_strdup_printf ("%s/%s/hypotheses", path, parts[1]) : NULL;
  g_autofree char *references_path = kind ? g_strdup_printf ("%s/%s/references", path, parts[1]) : NULL;
  g_auto (GStrv) hypotheses = NULL, references = NULL;
  gint64 n_hypotheses, n_references;
  PlaitStatistics *statistics;

  if (!kind)
    return NULL;
  hypotheses = plait_store_read_strings (store, hypotheses_path, MAX_BYTES, &n_hypotheses, error);
  references = hypotheses ? plait_store_read_strings (store, references_path, MAX_BYTES, &n_references, error) : NULL;
  if (!references)
    return NULL;
  if (n_hypotheses != n_references)
    return plait_fail_null (error, PLAIT_ERROR_INPUT,
                            "%s:%s has %jd alignments, but %s has %jd; run the experiment again",
                            plait_store_path (store), hypotheses_path, n_hypotheses, references_path, n_references);
  *scorer = plait_metric_new_as (kind, metric, title);
  statistics = count (*scorer, hypotheses, references, error);
  if (!statistics)
    g_clear_pointer (scorer, plait_metric_free);
  return statistics;
}
