/* SPDX-License-Identifier: MIT */
#include "base/json.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/stop.h"
#include "cli/table-print.h"
#include "run/evaluation.h"
#include "run/trained.h"
#include "tensor/blas.h"

#include <stdio.h>

/*
 * plait adversarial: does a model use a source? Each source in turn is taken from other sentences, by a seeded
 * permutation without fixed points, and the test set is translated and scored again (Libovicky, Helcl & Marecek 2018,
 * section 4; Elliott 2018).
 */

typedef struct
{
  const PlaitTrained *trained;
  const char *split;
  guint64 seed;
  PlaitPool *pool;
  PlaitSearch *search;
  PlaitLog *log;
  const gint *stop;
} Test;

/* The scores of the split with source @shuffled deranged; negative: none. (transfer full) (element-type PlaitResult) */
static GPtrArray *
score_with (const Test *test, gint shuffled, GError **error)
{
  const PlaitExperiment *experiment = test->trained->experiment;
  g_autoptr (PlaitCorpus) corpus
      = plait_materials_open (test->trained->materials, test->split, test->pool, test->log, error);
  g_autoptr (PlaitTranslation) translation = NULL;
  g_auto (GStrv) references = NULL;
  g_autofree char *what = NULL;

  if (!corpus || (shuffled >= 0 && !plait_corpus_derange (corpus, shuffled, test->seed, error)))
    return NULL;
  references = plait_corpus_text (corpus, plait_corpus_n_sources (corpus), error);
  if (!references)
    return NULL;
  what = shuffled < 0 ? g_strdup (test->split)
                      : g_strdup_printf ("%s, %s shuffled", test->split, experiment->sources[shuffled].name);
  translation = plait_translate_corpus (test->search, corpus,
                                        plait_materials_vocabulary (test->trained->materials, experiment->data.target),
                                        &experiment->decode, what, test->log, test->stop, NULL, NULL, error);
  return translation ? plait_evaluation_score (&experiment->evaluate, translation->n_lines, translation->text,
                                               references, error)
                     : NULL;
}

static void
print_table (const Test *test, GPtrArray *const *scores)
{
  const PlaitExperiment *experiment = test->trained->experiment;
  g_autoptr (PlaitPage) page = plait_page_new ();
  g_autoptr (PlaitTable) table = plait_table_new ();
  guint n_metrics = scores[0]->len;

  plait_table_column (table, PLAIT_TABLE_WORDS, "Shuffled");
  for (guint k = 0; k < n_metrics; k++)
    plait_table_column (table, PLAIT_TABLE_NUMBERS, ((const PlaitResult *)scores[0]->pdata[k])->name);
  for (guint i = 0; i <= experiment->n_sources; i++)
    {
      plait_table_text (table, PLAIT_TABLE_NAME, i == 0 ? "nothing" : experiment->sources[i - 1].name);
      for (guint k = 0; k < n_metrics; k++)
        plait_table_score (table, plait_result_score (scores[i]->pdata[k]));
    }
  plait_table_print (table, page);
}

static void
print_json (const Test *test, GPtrArray *const *scores)
{
  const PlaitExperiment *experiment = test->trained->experiment;
  g_autoptr (PlaitJson) json = plait_json_new ();

  plait_json_begin_object (json, NULL);
  plait_json_text (json, "split", test->split);
  plait_json_integer (json, "seed", (gint64)test->seed);
  plait_json_begin_array (json, "rows");
  for (guint i = 0; i <= experiment->n_sources; i++)
    {
      plait_json_begin_object (json, NULL);
      plait_json_text (json, "shuffled", i == 0 ? NULL : experiment->sources[i - 1].name);
      plait_json_begin_array (json, "metrics");
      for (guint k = 0; k < scores[i]->len; k++)
        plait_result_add_json (scores[i]->pdata[k], json, NULL);
      plait_json_end_array (json);
      plait_json_end_object (json);
    }
  plait_json_end_array (json);
  plait_json_end_object (json);
  fputs (plait_json_string (json), stdout);
}

static gboolean
run_test (const Test *test, gboolean json, GError **error)
{
  guint n = test->trained->experiment->n_sources + 1;
  g_autofree GPtrArray **scores = g_new0 (GPtrArray *, n);
  gboolean good = TRUE;

  for (guint i = 0; good && i < n; i++)
    {
      scores[i] = score_with (test, (gint)i - 1, error);
      good = scores[i] != NULL;
    }
  if (good && json)
    print_json (test, scores);
  else if (good)
    print_table (test, scores);
  for (guint i = 0; i < n; i++)
    g_clear_pointer (&scores[i], g_ptr_array_unref);
  return good;
}

gboolean
plait_command_adversarial (PlaitInvocation *invocation, GError **error)
{
  g_autofree char *split = NULL;
  static const char *const groups[] = { "decode", "evaluate", NULL };
  g_autofree char *checkpoint = NULL;
  g_auto (GStrv) sets = NULL;
  g_autofree char *seed_text = NULL;
  g_autofree char *threads_text = NULL;
  gint64 seed = 1;
  gint64 threads = 0;
  gboolean json = FALSE;
  const GOptionEntry entries[] = {
    { "split", 0, 0, G_OPTION_ARG_FILENAME, &split, "Split of the experiment; else its first test split", "NAME" },
    { "seed", 0, 0, G_OPTION_ARG_FILENAME, &seed_text, "Seed of the shuffles; 1 unless told", "N" },
    { "checkpoint", 'c', 0, G_OPTION_ARG_FILENAME, &checkpoint, "best (the default), last or average", "NAME" },
    { "set", 's', 0, G_OPTION_ARG_FILENAME_ARRAY, &sets,
      "Set a key of [decode] or [evaluate] otherwise than the experiment, such as decode.beam=10", "G.K=V" },
    { "threads", 't', 0, G_OPTION_ARG_FILENAME, &threads_text, "Threads; else as many as there are processors", "N" },
    { "json", 0, 0, G_OPTION_ARG_NONE, &json, "Print JSON", NULL },
    { NULL },
  };
  g_autoptr (PlaitTrained) trained = NULL;
  g_autoptr (PlaitPool) pool = NULL;
  g_autoptr (PlaitSearch) search = NULL;
  Test test;

  if (!plait_invocation_parse (invocation, entries, 1, 1, error)
      || !plait_option_integer ("--seed", seed_text, 0, G_MAXINT64, &seed, error)
      || !plait_option_threads (threads_text, &threads, error)
      || !plait_option_sets ((const char *const *)sets, groups, error))
    return FALSE;
  trained
      = plait_trained_open (invocation->arguments[0], checkpoint, (const char *const *)sets, invocation->log, error);
  if (!trained || !plait_materials_generate (trained->materials, invocation->log, error))
    return FALSE;
  if (trained->experiment->predict.kind == PLAIT_PREDICT_MASKED
      || trained->experiment->predict.kind == PLAIT_PREDICT_CHOICE
      || trained->experiment->predict.kind == PLAIT_PREDICT_SPAN)
    return plait_fail (
        error, PLAIT_ERROR_INPUT,
        "%s predicts a part of its source, which cannot be another sentence's; take a run that reads one "
        "text to tell another",
        invocation->arguments[0]);
  test = (Test){
    .trained = trained,
    .split = split ? split : trained->experiment->test_splits[0],
    .seed = (guint64)seed,
    .log = invocation->log,
    .stop = plait_stop_on_signals (),
  };
  if (!test.split || !plait_materials_file (trained->materials, test.split, trained->experiment->data.target))
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s: the experiment has no split \"%s\": name one with --split",
                       invocation->arguments[0], test.split ? test.split : "test");
  if (!plait_materials_check (trained->materials, trained->store, error))
    return FALSE;
  test.pool = pool = plait_pool_new ((guint)threads, error);
  if (!pool || !plait_blas_reserve (pool, error))
    return FALSE;
  test.search = search = plait_search_new (trained->system->model, pool,
                                           (PlaitPrecision)trained->experiment->decode.precision, 0, error);
  return search && run_test (&test, json, error);
}
