/* SPDX-License-Identifier: MIT */
#include "setup/limits.h"

#include "files/memory.h"
#include "files/problems.h"
#include "corpus/batch.h"
#include "lines/text-file.h"
#include "training/optimizer.h"
#include "layers/parameter-set.h"

gboolean
plait_limits_check_memory (const PlaitParameters *parameters, GError **error)
{
  gsize values = sizeof (PlaitScalar) * (gsize)plait_parameters_values (parameters).width;
  gsize bytes = values + plait_optimizer_bytes (NULL, parameters);

  if (plait_memory_is_available (bytes))
    return TRUE;
  return plait_fail (error, PLAIT_ERROR_MEMORY,
                     "the parameters and the optimizer's moments need %.1f GiB, more than this machine has free: lower "
                     "decoder.width, decoder.layers, decoder.feed_forward or data.vocabulary_size",
                     (double)bytes / 1024 / 1024 / 1024);
}

static gboolean
check_width (const PlaitModel *model, const PlaitCorpus *training, const PlaitCorpus *corpus, guint source,
             GError **error)
{
  gint64 expected = plait_corpus_width (training, source), width = plait_corpus_width (corpus, source);

  return width == expected
         || plait_fail (error, PLAIT_ERROR_INPUT,
                        "source \"%s\": the features are %jd wide, but %jd in training; give features of one width",
                        plait_model_specification (model)->sources[source].name, width, expected);
}

/* TRUE if only the number of rows of stream @stream decides whether the model can read the stream. */
static gboolean
length_decides (const PlaitModel *model, guint stream)
{
  const PlaitModelSpecification *specification = plait_model_specification (model);

  return stream == specification->n_sources
         || (specification->sources[stream].kind != PLAIT_INPUT_DOCUMENTS
             && specification->predict.kind != PLAIT_PREDICT_CHOICE && !plait_model_has_input_check (model, stream));
}

/* Fails if the model cannot read stream @stream of tuple @tuple. */
static gboolean
check_tuple (const PlaitModel *model, const PlaitCorpus *corpus, guint stream, gint64 tuple, GError **error)
{
  g_autoptr (PlaitBatch) batch = NULL;

  if (length_decides (model, stream))
    return plait_model_check_length (model, stream, plait_corpus_length (corpus, stream, tuple), error);
  batch = plait_corpus_batch (corpus, &tuple, 1, error);
  return batch && plait_model_check_input (model, stream, &batch->inputs[stream], error);
}

gint64
plait_limits_max_rows (const PlaitModel *model, guint stream, gint64 too_many)
{
  gint64 fits = 0;

  while (too_many - fits > 1)
    {
      gint64 middle = fits + (too_many - fits) / 2;

      *(plait_model_check_length (model, stream, middle, NULL) ? &fits : &too_many) = middle;
    }
  return fits;
}

/* Truncates the sentences of @source that are too long for the model, if that is possible, and logs a warning. */
static void
truncate_source (const PlaitModel *model, const char *split, PlaitCorpus *corpus, guint source, PlaitLog *log)
{
  gint64 longest = plait_corpus_longest (corpus, source), n = 0, first = -1, limit;
  g_autofree char *place = NULL;

  if (!plait_corpus_can_truncate (corpus, source) || plait_model_check_length (model, source, longest, NULL))
    return;
  limit = plait_limits_max_rows (model, source, longest);
  if (limit < 2)
    return;
  for (gint64 tuple = 0; tuple < plait_corpus_size (corpus); tuple++)
    if (plait_corpus_length (corpus, source, tuple) > limit && n++ == 0)
      first = tuple;
  place = plait_corpus_location (corpus, source, first);
  plait_log_warning (
      log, "%s: truncated %jd of %jd sentences to %jd tokens, the most that the model can read; the first is %s", split,
      n, plait_corpus_size (corpus), limit, place);
  plait_corpus_truncate (corpus, source, limit);
}

/* Results of a check of one corpus. */
typedef struct
{
  const PlaitModel *model;
  const char *split;
  PlaitCorpus *corpus;
  gboolean *unreadable; /* [size]: TRUE for tuples that the model cannot read */
  gint64 n_unreadable;
  gboolean can_truncate; /* TRUE if at least one unreadable tuple can be truncated */
  char *first;           /* location and reason of the first unreadable tuple */
  PlaitProblems *problems;
} Findings;

static void
findings_clear (Findings *findings)
{
  g_free (findings->unreadable);
  g_free (findings->first);
  plait_problems_free (findings->problems);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Findings, findings_clear)

/* Records each tuple that the model cannot read in stream @stream. Returns FALSE if the corpus cannot be read. */
static gboolean
check_stream (Findings *findings, guint stream, GError **error)
{
  const PlaitModel *model = findings->model;
  const PlaitCorpus *corpus = findings->corpus;

  if (length_decides (model, stream)
      && plait_model_check_length (model, stream, plait_corpus_longest (corpus, stream), NULL))
    return TRUE;
  for (gint64 tuple = 0; tuple < plait_corpus_size (corpus); tuple++)
    {
      g_autofree char *place = NULL;
      g_autoptr (GError) cause = NULL;

      if (check_tuple (model, corpus, stream, tuple, &cause))
        continue;
      if (cause->code != PLAIT_ERROR_INPUT)
        return plait_no_error (&cause, error);
      place = plait_corpus_location (corpus, stream, tuple);
      plait_problems_add (findings->problems, "the %s corpus: %s: %s", findings->split, place, cause->message);
      if (!findings->first)
        findings->first = g_strdup_printf ("%s: %s", place, cause->message);
      findings->can_truncate |= plait_corpus_can_truncate (corpus, stream);
      findings->n_unreadable += !findings->unreadable[tuple];
      findings->unreadable[tuple] = TRUE;
    }
  return TRUE;
}

/* Sets @error to the findings in a corpus, and names the choices of data.too_long that would help. */
static gboolean
refuse (const Findings *findings, gint policy, gboolean is_training, GError **error)
{
  g_autoptr (GError) fault = NULL;
  const char *skip = "", *cut = "";

  if (is_training)
    skip = policy == PLAIT_DATA_TOO_LONG_ERROR ? "; data.too_long=skip drops such tuples" : "; no tuple would remain";
  else if (policy == PLAIT_DATA_TOO_LONG_SKIP)
    skip = "; data.too_long=skip drops only training text, because every scored line counts";
  if (findings->can_truncate && policy != PLAIT_DATA_TOO_LONG_TRUNCATE)
    cut = "; data.too_long=truncate reads the beginning";
  else if (*skip == '\0')
    cut = "; trees, documents, features and targets are not truncated";
  plait_problems_report (findings->problems, PLAIT_ERROR_INPUT, &fault);
  return plait_fail (error, PLAIT_ERROR_INPUT, "%s%s%s", fault->message, skip, cut);
}

gboolean
plait_limits_check_corpus (const PlaitExperimentModel *experiment_model, const PlaitCorpus *training, const char *split,
                           PlaitCorpus *corpus, PlaitLog *log, GError **error)
{
  gint policy = experiment_model->experiment->data.too_long;
  guint n_sources = plait_model_specification (experiment_model->model)->n_sources;
  g_auto (Findings) findings = { .model = experiment_model->model, .split = split, .corpus = corpus };

  if (!corpus)
    return TRUE;
  for (guint source = 0; training && source < n_sources; source++)
    if (!check_width (experiment_model->model, training, corpus, source, error))
      {
        g_prefix_error (error, "the %s corpus: ", split);
        return FALSE;
      }
  for (guint source = 0; policy == PLAIT_DATA_TOO_LONG_TRUNCATE && source < n_sources; source++)
    truncate_source (experiment_model->model, split, corpus, source, log);
  findings.problems = plait_problems_new ();
  findings.unreadable = g_new0 (gboolean, plait_corpus_size (corpus));
  for (guint stream = 0; stream < n_sources + plait_corpus_has_target (corpus); stream++)
    if (!check_stream (&findings, stream, error))
      return FALSE;
  if (findings.n_unreadable == 0)
    return TRUE;
  if (corpus != training || policy == PLAIT_DATA_TOO_LONG_ERROR || findings.n_unreadable == plait_corpus_size (corpus))
    return refuse (&findings, policy, corpus == training, error);
  plait_log_warning (log, "%s: dropped %jd of %jd tuples, since the model cannot read them; the first of them is %s",
                     split, findings.n_unreadable, plait_corpus_size (corpus), findings.first);
  plait_corpus_drop (corpus, findings.unreadable);
  return TRUE;
}

/*
 * Functions for the check before vocabularies are learnt
 */

/* Returns the number of words of @line [@length]. The line has at least as many tokens. */
static gint64
count_words (const char *line, gsize length)
{
  gint64 words = 0;

  for (gsize i = 0; i < length; i++)
    words += line[i] != ' ' && (i == 0 || line[i - 1] == ' ');
  return words;
}

/* Adds to @findings the lines of the file @path that have too many words for stream @stream of the model. */
static void
check_words (Findings *findings, const PlaitExperiment *experiment, guint stream, const char *path)
{
  gboolean is_source = stream < experiment->n_sources;
  gboolean is_tagged = stream == 0 && experiment->predict.kind == PLAIT_PREDICT_TAGS;
  gint64 end = is_source ? experiment->data.append_end : plait_target_has_end (PLAIT_TARGET_TEXT);
  /* Ignore read errors here: they are reported when the whole file is read. */
  g_autoptr (PlaitTextReader) reader = plait_text_reader_open (path, NULL);
  const char *line;
  gsize length;

  while (reader && (line = plait_text_reader_next (reader, &length, NULL)))
    {
      g_autoptr (GError) cause = NULL;
      gint64 words = count_words (line, length);

      if (words == 0 || plait_model_check_length (findings->model, stream, words + end, &cause))
        continue;
      plait_problems_add (findings->problems, "the %s corpus: %s:%jd: with each word counted as one token: %s",
                          findings->split, path, plait_text_reader_line (reader), cause->message);
      findings->can_truncate |= is_source && !is_tagged && !experiment->sources[stream].trees;
    }
}

/* TRUE if a sentence of @stream with too many words is certainly too long for the model. */
static gboolean
counts_words (const PlaitExperiment *experiment, const PlaitModel *model, guint stream)
{
  gboolean is_source = stream < experiment->n_sources;
  const char *name = is_source ? experiment->sources[stream].stream : experiment->data.target;

  return !plait_model_check_length (model, stream, G_MAXINT32, NULL)
         && (is_source ? experiment->sources[stream].kind == PLAIT_INPUT_TOKENS
                       : plait_experiment_target_kind (experiment, name) == PLAIT_TARGET_TEXT)
         && !plait_experiment_is_documents (experiment, name)
         && !plait_experiment_vocabulary_file (experiment, plait_experiment_vocabulary (experiment, name));
}

/* Adds to @unreadable a problem for each sentence of @split with too many words. */
static void
check_split (const PlaitExperiment *experiment, const PlaitModel *model, const char *split, PlaitProblems *unreadable)
{
  g_auto (Findings) findings = { .model = model, .split = split, .problems = plait_problems_new () };
  guint n_streams = experiment->n_sources + plait_experiment_has_decoder (experiment);
  gboolean is_training = g_str_equal (split, "train");
  GError *fault = NULL;

  if (is_training && (experiment->data.share != 1 || plait_experiment_drops_tuples (experiment)))
    return;
  for (guint stream = 0; stream < n_streams; stream++)
    {
      const char *name = stream < experiment->n_sources ? experiment->sources[stream].stream : experiment->data.target;
      const char *const *paths = plait_experiment_data_files (experiment, split, name);

      for (guint i = 0; paths[i] && counts_words (experiment, model, stream); i++)
        check_words (&findings, experiment, stream, paths[i]);
    }
  if (plait_problems_count (findings.problems) > 0
      && !refuse (&findings, PLAIT_DATA_TOO_LONG_ERROR, is_training, &fault))
    plait_problems_add_error (unreadable, fault);
}

gboolean
plait_limits_check_words (const PlaitExperiment *experiment, GError **error)
{
  g_autoptr (PlaitProblems) unreadable = NULL;
  g_autoptr (PlaitExperimentModel) experiment_model = NULL;

  if (experiment->task || experiment->data.too_long != PLAIT_DATA_TOO_LONG_ERROR
      || experiment->data.vocabulary_type == PLAIT_DATA_VOCABULARY_TYPE_GIVEN || *experiment->train.initialise)
    return TRUE;
  experiment_model = plait_experiment_model_new_without_vocabularies (experiment, error);
  if (!experiment_model)
    return FALSE;
  unreadable = plait_problems_new ();
  check_split (experiment, experiment_model->model, "train", unreadable);
  check_split (experiment, experiment_model->model, "validation", unreadable);
  for (guint i = 0; experiment->test_splits[i]; i++)
    check_split (experiment, experiment_model->model, experiment->test_splits[i], unreadable);
  return plait_problems_report (unreadable, PLAIT_ERROR_INPUT, error);
}
