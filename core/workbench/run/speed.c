/* SPDX-License-Identifier: MIT */
#include "run/speed.h"

#include <unistd.h>

#include "files/memory.h"
#include "corpus/iterator.h"
#include "search/search.h"

#define SECONDS .5     /* seconds for timing updates, and as many for timing translations of each split */
#define MAX_BATCHES 20 /* maximum number of updates, and of batches of each split, that are timed */
#define FORWARD (1. / 3)

/* Sets *@sentence to the seconds of search for each sentence of @corpus. Every translation of a batch gets the mean
 * length of the batch's targets, at most decode.maximum_length; without targets, decode.maximum_length. */
static gboolean
time_search (const PlaitExperimentModel *experiment_model, PlaitPool *pool, const PlaitCorpus *corpus, double *sentence,
             GError **error)
{
  PlaitDecodeSettings decode = experiment_model->experiment->decode;
  g_autoptr (PlaitSearch) search = plait_search_new (experiment_model->model, pool, decode.precision, 0, error);
  PlaitIteratorSettings settings = plait_iterator_defaults ();
  g_autoptr (PlaitIterator) iterator = NULL;
  gint64 longest = decode.maximum_length, start, sentences = 0, n = 0;

  settings.size = decode.batch;
  iterator = search ? plait_iterator_new (corpus, &settings, error) : NULL;
  if (!iterator)
    return FALSE;
  decode.maximum_ratio = 0;
  start = g_get_monotonic_time ();
  do
    {
      g_autoptr (PlaitBatch) batch = plait_iterator_next (iterator, error);
      PlaitHypotheses *found;
      gint64 length = longest;

      if (!batch)
        return FALSE;
      if (plait_corpus_has_target (corpus))
        length = plait_ragged_rows (batch->target_rows) / batch->n_sentences;
      decode.minimum_length = decode.maximum_length = CLAMP (length, 1, longest);
      found = plait_search_batch (search, batch, &decode, error);
      if (!found)
        return FALSE;
      plait_hypotheses_free (found, batch->n_sentences);
      sentences += batch->n_sentences;
      n++;
      *sentence = (double)(g_get_monotonic_time () - start) / 1e6 / (double)sentences;
    }
  while (n < MAX_BATCHES && *sentence * (double)sentences < SECONDS);
  return TRUE;
}

gboolean
plait_run_speed (const PlaitExperimentModel *experiment_model, PlaitTrainer *trainer, const PlaitCorpus *validation,
                 const GPtrArray *tests, PlaitPool *pool, PlaitRunSpeed *speed, GError **error)
{
  const PlaitExperiment *experiment = experiment_model->experiment;
  double n_validation = validation ? (double)plait_corpus_size (validation) : 0, translated = 0;
  PlaitTrainerSpeed measured;
  gsize held, bytes;
  gboolean estimated;

  *speed = (PlaitRunSpeed){ 0 };
  /* Run the largest batches first, to measure memory. */
  if (!plait_trainer_measure_memory (trainer, &bytes, &estimated, error)
      || !plait_trainer_measure_validation_memory (trainer, &bytes, error)
      || !plait_trainer_measure_speed (trainer, SECONDS, MAX_BATCHES, &measured, error)
      || (n_validation > 0 && *experiment->train.metric
          && !time_search (experiment_model, pool, validation, &translated, error)))
    return FALSE;
  speed->training = (double)plait_trainer_planned_updates (trainer) * measured.update
                    + (double)measured.validations * n_validation * (FORWARD * measured.sentence + translated);
  for (guint i = 0; i < tests->len; i++)
    {
      const PlaitCorpus *corpus = tests->pdata[i];

      if (!time_search (experiment_model, pool, corpus, &translated, error))
        return FALSE;
      speed->evaluation += (double)plait_corpus_size (corpus) * (FORWARD * measured.sentence + translated);
    }
  plait_memory_of_process (getpid (), &held, &speed->bytes);
  return TRUE;
}
