/* SPDX-License-Identifier: MIT */
#include "harness.h"
#include "search/translate.h"
#include "run/process.h"
#include "setup/trained.h"
#include "runs.h"

/* Data for a callback that sets a stop flag while a corpus is translated. */

typedef struct
{
  gint stop;
  gint64 left; /* number of sentences until the flag is set */
} Raising;

static gboolean
raise_stop (const PlaitBatch *batch, gint64 sentence, const PlaitHypothesis *best,
            const PlaitAttentionRecord *attention, gpointer data, GError **error)
{
  Raising *raising = data;

  if (--raising->left == 0)
    g_atomic_int_set (&raising->stop, 1);
  return TRUE;
}

/* A stop after the last sentence does not make the translation fail. An earlier stop gives an error. */
TEST_CASE (stop, leaves_a_translation_that_is_done)
{
  const char *path = test_write_experiment ("tiny", NULL), *output = plait_test_path ("run.h5");
  g_autoptr (PlaitStore) run = test_run_open (path, NULL, "run.h5");
  g_autoptr (GError) error = NULL;
  g_autoptr (PlaitTrained) trained = plait_trained_open (output, NULL, NULL, FALSE, NULL, NO_ERROR);
  g_autoptr (PlaitPool) pool = plait_pool_new (1, NULL);
  g_autoptr (PlaitCorpus) corpus = NULL;

  REQUIRE (run && trained && plait_run_inputs_generate (trained->run_inputs, NULL, &error));
  corpus = plait_run_inputs_open (trained->run_inputs, "test", pool, NULL, &error);
  REQUIRE (corpus != NULL);
  for (gint64 early = 0; early < 2; early++)
    {
      g_autoptr (PlaitSearch) search
          = plait_search_new (trained->experiment_model->model, pool, PLAIT_PRECISION_FLOAT, 0, NULL);
      PlaitDecodeSettings settings = trained->experiment_model->experiment->decode;
      Raising raising = { 0, early ? 1 : plait_corpus_size (corpus) };
      g_autoptr (PlaitTranslation) translation = NULL;
      CONTEXT ("%s", early ? "early" : "at the end");

      settings.batch = 1;
      translation = plait_translate_corpus (search, corpus, NULL, &settings, "test", NULL, &raising.stop, raise_stop,
                                            &raising, &error);
      CHECK (!translation == (early == 1));
      if (early)
        CHECK_ERROR (error, PLAIT_ERROR_INTERRUPTED, "interrupted");
      else
        CHECK_NO_ERROR (error);
    }
}

/* A process that is started after the stop is stopped too, and a repeated stop does not kill it. */
TEST_CASE (stop, reaches_what_is_only_beginning)
{
  const char *path = test_write_experiment ("tiny", NULL), *output = plait_test_path ("run.h5");
  g_autofree char *reason = NULL;
  const gint stop = 1;
  PlaitRunOptions options = { .output = output, .threads = 1, .resume = TRUE, .stop = &stop };
  g_autoptr (PlaitRegistry) registry = plait_registry_new ();
  g_autoptr (PlaitExperiment) experiment = test_load (path, NULL, registry, NO_ERROR);
  g_autoptr (PlaitRunProcess) process
      = experiment ? plait_run_process_new (experiment, &options, NULL, FALSE, NO_ERROR) : NULL;
  PlaitProcessEnd end;

  REQUIRE (process != NULL);
  plait_run_process_stop (process, FALSE);
  while ((end = plait_run_process_poll (process, &reason)) == PLAIT_PROCESS_RUNNING)
    g_usleep (1000);
  CHECK_STRING (reason, NULL);
  CHECK_INT (end, PLAIT_PROCESS_INTERRUPTED);
}
