/* SPDX-License-Identifier: MIT */
#include "setup/training-tuples.h"

#include <math.h>

#include "setup/limits.h"

/* Reads the loss weights of the tuples of the training corpus @corpus, if the experiment names a file of them. */
static gboolean
take_weights (const PlaitRunInputs *run_inputs, PlaitCorpus *corpus, PlaitLog *log, GError **error)
{
  const char *const *files = plait_run_inputs_files (run_inputs, "train", PLAIT_LOSS_WEIGHTS);

  if (!files[0])
    return TRUE;
  if (!plait_corpus_read_weights (corpus, files, error))
    return FALSE;
  g_autofree char *names = g_strjoinv (", ", (char **)files);
  plait_log_info (log, "train: the loss of each tuple is multiplied by its weight in %s", names);
  return TRUE;
}

/* Keeps as many tuples of the training corpus @corpus as data.share says. */
static gboolean
take_share (const PlaitExperiment *experiment, PlaitCorpus *corpus, PlaitLog *log, GError **error)
{
  double share = experiment->data.share;
  gint64 size = plait_corpus_size (corpus), n = share > 1 ? (gint64)share : MAX (1, llround (share * (double)size));

  if (share == 1)
    return TRUE;
  if (n > size)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "data.share=%jd: the training corpus has %jd tuples; give at most that many, or a share below 1",
                       n, size);
  plait_corpus_keep (corpus, n, (guint64)experiment->experiment.seed);
  plait_log_info (log, "train: data.share keeps %jd of %jd tuples", n, size);
  return TRUE;
}

gboolean
plait_training_tuples_choose (const PlaitRunInputs *run_inputs, PlaitCorpus *corpus, PlaitLog *log, GError **error)
{
  return take_weights (run_inputs, corpus, log, error)
         && take_share (plait_run_inputs_experiment (run_inputs), corpus, log, error);
}

/* Makes @corpus draw tuples by data.weights, if it is set, and logs how often it draws each file. */
static gboolean
weigh_files (const PlaitExperiment *experiment, PlaitCorpus *corpus, PlaitLog *log, GError **error)
{
  guint n = 0;
  g_autofree double *weights = plait_experiment_file_weights (experiment, &n);
  g_autofree gint64 *draws = NULL;
  gint64 first, end;

  if (!weights)
    return TRUE;
  for (guint i = 0; i < n; i++)
    {
      plait_corpus_file_tuples (corpus, i, &first, &end);
      if (first == end)
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "%s: no tuple of this file is left to draw by data.weights; leave the file out, or change "
                           "what drops its tuples (length limits, data.share)",
                           plait_corpus_file (corpus, i));
    }
  plait_corpus_set_file_weights (corpus, weights);
  draws = plait_corpus_draws (corpus);
  for (guint i = 0; i < n; i++)
    {
      plait_corpus_file_tuples (corpus, i, &first, &end);
      plait_log_info (log, "train: an epoch draws %jd tuples from %s, each tuple %.3g times on average", draws[i],
                      plait_corpus_file (corpus, i), (double)draws[i] / (double)(end - first));
    }
  return TRUE;
}

/* Makes @corpus sample subwords if the experiment asks for it. Sentences stay within the learned positions of
 * @model. */
static gboolean
sample_subwords (const PlaitExperiment *experiment, const PlaitModel *model, PlaitCorpus *corpus, PlaitLog *log,
                 GError **error)
{
  double strength = experiment->data.subword_sampling;
  g_autofree gint64 *most = g_new0 (gint64, experiment->n_sources + 1);

  if (strength == 0)
    return TRUE;
  for (guint i = 0; i <= experiment->n_sources; i++)
    most[i] = plait_limits_max_rows (model, i, G_MAXINT32);
  plait_log_info (log, "train: text is segmented anew in each epoch (data.subword_sampling=%g)", strength);
  return plait_corpus_sample_subwords (corpus, strength, (guint64)experiment->experiment.seed, most, error);
}

gboolean
plait_training_tuples_vary (const PlaitRunInputs *run_inputs, const PlaitModel *model, PlaitCorpus *corpus,
                            PlaitLog *log, GError **error)
{
  const PlaitExperiment *experiment = plait_run_inputs_experiment (run_inputs);

  return sample_subwords (experiment, model, corpus, log, error) && weigh_files (experiment, corpus, log, error);
}
