/* SPDX-License-Identifier: MIT */
#include "text/error.h"
#include "text/json.h"
#include "text/separators.h"
#include "command/command.h"
#include "command/options.h"
#include "command/stop.h"
#include "terminal/table-print.h"
#include "scoring/evaluation.h"
#include "setup/limits.h"
#include "setup/replacement.h"
#include "setup/trained.h"
#include "significance/system-scores.h"
#include "tensor/blas.h"

/*
 * Implements plait adversarial: measures how much a model uses each source.
 *
 * One source at a time is replaced: by this source of other sentences (a seeded permutation without fixed points), by
 * its tokens or rows from random sentences, or by nothing. Then the split is translated and scored again (Libovicky,
 * Helcl & Marecek 2018, section 4; Elliott 2018).
 */

typedef enum
{
  SHUFFLED,
  NOISE,
  ABSENT,
} Perturbation;
static const char *const perturbations[] = { "shuffled", "noise", "absent", NULL };

typedef struct
{
  const char *split, *source_is, *checkpoint;
  const PlaitOverride *sets;
  gint64 seed, threads;
  gboolean json, changed;
} Options;

typedef struct
{
  const PlaitTrained *trained;
  const char *split;
  guint64 seed;
  PlaitPool *pool;
  PlaitSearch *search;
  PlaitLog *log;
  const gint *stop;
  GPtrArray *metrics;
  GArray *rows;              /* (element-type Row); in the first row all sources are unchanged */
  PlaitSystemScore **scores; /* [rows][metrics] */
} Test;

/* A row of the results: the split with one source perturbed, or, in the first row, unchanged. */
typedef struct
{
  const char *source;       /* name of the perturbed source; NULL in the first row */
  const char *perturbation; /* "shuffled", "noise" or "absent"; NULL in the first row */
} Row;

static gboolean
perturb (PlaitCorpus *corpus, guint source, Perturbation perturbation, guint64 seed, GError **error)
{
  switch (perturbation)
    {
    case SHUFFLED:
      return plait_corpus_derange (corpus, source, seed, error);
    case NOISE:
      plait_corpus_add_noise (corpus, source, seed);
      return TRUE;
    default:
      plait_corpus_remove_source (corpus, source);
      return TRUE;
    }
}

/* Translates @corpus, scores the translations and appends a row. */
static gboolean
add_row (const Test *test, PlaitCorpus *corpus, const char *source, const char *perturbation, GError **error)
{
  const PlaitExperiment *experiment = test->trained->experiment;
  g_autoptr (PlaitReferences) references
      = plait_evaluation_references (test->trained->run_inputs, test->split, corpus, source ? NULL : test->log, error);
  g_autofree char *what
      = source ? g_strdup_printf ("%s, %s %s", test->split, source, perturbation) : g_strdup (test->split);
  g_autoptr (PlaitTranslation) translation = NULL;
  PlaitSystemScore *scores;

  if (!references
      || (!source
          && !plait_evaluation_check_metrics (references, experiment->evaluate.metrics, test->split, test->log, error)))
    return FALSE;
  translation = plait_translate_corpus (
      test->search, corpus, plait_run_inputs_vocabulary (test->trained->run_inputs, experiment->data.target),
      &experiment->decode, what, test->log, test->stop, NULL, NULL, error);
  if (!translation)
    return FALSE;
  plait_evaluation_join (experiment, test->split, translation->text, NULL);
  PlaitTextPairs pairs = plait_references_pairs (references, (const char *const *)translation->text);
  scores = plait_system_scores_new (test->metrics, &pairs, (guint)experiment->evaluate.resamples,
                                    (guint64)experiment->evaluate.seed, error);
  if (!scores)
    return FALSE;
  test->scores[test->rows->len] = scores;
  g_array_append_val (test->rows, ((Row){ source, perturbation }));
  return TRUE;
}

static void
print_table (const Test *test)
{
  g_autoptr (PlaitTerminal) terminal = plait_terminal_new ();
  g_autoptr (PlaitTable) table = plait_table_new ();
  g_autofree char *note
      = plait_comparison_note ("the sources as they are", PLAIT_TEST_PERMUTATION, PLAIT_PERMUTATION_SHUFFLES,
                               (guint64)test->trained->experiment->evaluate.seed, FALSE);

  plait_table_column (table, PLAIT_TABLE_WORDS, "Source");
  plait_table_column (table, PLAIT_TABLE_WORDS, "Is");
  for (guint m = 0; m < test->metrics->len; m++)
    plait_system_score_columns (table, &test->scores[0][m], TRUE);
  for (guint r = 0; r < test->rows->len; r++)
    {
      const Row *row = &g_array_index (test->rows, Row, r);

      plait_table_text (table, PLAIT_TABLE_NAME, row->source ? row->source : "all");
      plait_table_text (table, PLAIT_TABLE_PLAIN, row->source ? row->perturbation : "as they are");
      for (guint m = 0; m < test->metrics->len; m++)
        plait_system_score_cells (table, &test->scores[r][m], TRUE, r > 0);
    }
  plait_table_note (table, note);
  plait_table_print (table, terminal);
}

static void
print_json (const Test *test)
{
  g_autoptr (PlaitJson) json = plait_json_new_object ();

  plait_json_members (json, "split=%s seed=%jd", test->split, (gint64)test->seed);
  plait_json_begin_array (json, "rows");
  for (guint r = 0; r < test->rows->len; r++)
    {
      const Row *row = &g_array_index (test->rows, Row, r);

      plait_json_begin_object (json, NULL);
      plait_json_members (json, "source=%s disturbance=%s", row->source, row->perturbation);
      plait_system_scores_add_json (test->scores[r], test->metrics, "metrics", r > 0, json);
      plait_json_end_object (json);
    }
  plait_json_end_array (json);
  plait_json_print (json);
}

/* Scores the split unchanged, and once for each source and perturbation of @wanted [n_wanted]. Prints the scores. */
static gboolean
run_test (const Test *test, const Perturbation *wanted, guint n_wanted, gboolean json, GError **error)
{
  const PlaitExperiment *experiment = test->trained->experiment;

  for (guint i = 0; i < 1 + experiment->n_sources * n_wanted; i++)
    {
      guint source = i > 0 ? (i - 1) / n_wanted : 0;
      Perturbation perturbation = wanted[i > 0 ? (i - 1) % n_wanted : 0];
      g_autoptr (PlaitCorpus) corpus
          = plait_run_inputs_open (test->trained->run_inputs, test->split, test->pool, test->log, error);

      if (!corpus
          || !plait_limits_check_corpus (test->trained->experiment_model, NULL, test->split, corpus,
                                         i == 0 ? test->log : NULL, error)
          || (i > 0 && !perturb (corpus, source, perturbation, test->seed, error))
          || !add_row (test, corpus, i > 0 ? experiment->sources[source].name : NULL,
                       i > 0 ? perturbations[perturbation] : NULL, error))
        return FALSE;
    }
  if (!plait_system_scores_compare (test->scores, test->rows->len, test->metrics, PLAIT_TEST_PERMUTATION,
                                    PLAIT_PERMUTATION_SHUFFLES, (guint64)experiment->evaluate.seed, error))
    return FALSE;
  if (json)
    print_json (test);
  else
    print_table (test);
  return TRUE;
}

/* Parses @text, a list such as "shuffled;noise", into @wanted [*@n_wanted]. If @text is NULL, the list is
 * "shuffled". */
static gboolean
read_perturbations (const char *text, Perturbation *wanted, guint *n_wanted, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (text ? text : perturbations[SHUFFLED], ";", -1);

  *n_wanted = 0;
  for (guint i = 0; parts[i]; i++)
    {
      guint k = 0;

      while (perturbations[k] && !g_str_equal (perturbations[k], parts[i]))
        k++;
      for (guint n = 0; n < *n_wanted; n++)
        if (perturbations[k] && wanted[n] == (Perturbation)k)
          return plait_fail (error, PLAIT_ERROR_INPUT,
                             "--source-is \"%s\" names the replacement \"%s\" twice; name it once", text, parts[i]);
      if (!perturbations[k])
        {
          g_autofree char *remedy = plait_item_remedy (parts[i], perturbations, ";",
                                                       "expected shuffled, noise or absent, or several with ; between");

          return plait_fail (error, PLAIT_ERROR_INPUT, "--source-is cannot be \"%s\"; %s", text, remedy);
        }
      wanted[(*n_wanted)++] = (Perturbation)k;
    }
  if (*n_wanted == 0)
    return plait_fail (error, PLAIT_ERROR_INPUT, "--source-is is empty; expected shuffled, noise or absent");
  return TRUE;
}

static gboolean
run_command (PlaitInvocation *invocation, GError **error)
{
  const Options *options = invocation->options;
  static const char *const keys[] = { "decode.",       "-decode.n_best", "evaluate.metrics", "evaluate.resamples",
                                      "evaluate.seed", "evaluate.join",  "data.too_long",    NULL };
  Perturbation wanted[G_N_ELEMENTS (perturbations)];
  guint n_wanted;
  g_autoptr (PlaitTrained) trained = NULL;
  g_autoptr (PlaitPool) pool = NULL;
  g_autoptr (PlaitSearch) search = NULL;
  g_autoptr (GPtrArray) metrics = NULL;
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (Row));
  g_autofree PlaitSystemScore **scores = NULL;
  gboolean good;
  Test test;

  if (!read_perturbations (options->source_is, wanted, &n_wanted, error)
      || !plait_option_sets (options->sets, keys,
                             "data.too_long, evaluate.metrics, evaluate.join, evaluate.resamples, evaluate.seed and "
                             "keys of [decode] except n_best",
                             error))
    return FALSE;
  trained = plait_trained_open (invocation->arguments[0], options->checkpoint, options->sets, options->changed,
                                invocation->log, error);
  if (!trained || !plait_experiment_check_sets (trained->experiment, options->sets, error)
      || !plait_run_inputs_generate (trained->run_inputs, invocation->log, error))
    return FALSE;
  if (plait_predictions[trained->experiment->predict.kind].of_source)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s predicts a part of its own source, so this source cannot be replaced; use a run whose "
                       "target is another text",
                       invocation->arguments[0]);
  for (guint i = 0; i < n_wanted; i++)
    if (wanted[i] == ABSENT && trained->experiment->n_sources == 1)
      return plait_fail (
          error, PLAIT_ERROR_INPUT,
          "%s reads only one source, so nothing is left if it is absent; drop \"absent\" from --source-is",
          invocation->arguments[0]);
  metrics = plait_metric_new_list (trained->experiment->evaluate.metrics, error);
  if (!metrics)
    return FALSE;
  scores = g_new0 (PlaitSystemScore *, 1 + trained->experiment->n_sources * n_wanted);
  test = (Test){
    .trained = trained,
    .metrics = metrics,
    .rows = rows,
    .scores = scores,
    .split = options->split ? options->split : trained->experiment->test_splits[0],
    .seed = (guint64)options->seed,
    .log = invocation->log,
    .stop = plait_stop_on_signals (),
  };
  if (!test.split || !*plait_run_inputs_files (trained->run_inputs, test.split, trained->experiment->data.target))
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s: the experiment has no split \"%s\"; name one with --split",
                       invocation->arguments[0], test.split ? test.split : "test");
  if (!plait_run_inputs_check (trained->run_inputs, trained->store, error))
    return FALSE;
  test.pool = pool = plait_pool_new ((guint)options->threads, error);
  if (!pool || !plait_blas_reserve (pool, error))
    return FALSE;
  test.search = search
      = plait_search_new (trained->experiment_model->model, pool, trained->experiment->decode.precision, 0, error);
  good = search && plait_replacement_prepare (search, trained->experiment_model, trained->run_inputs, error)
         && run_test (&test, wanted, n_wanted, options->json, error);
  for (guint r = 0; r < rows->len; r++)
    plait_system_scores_free (scores[r], metrics);
  return good;
}

static const PlaitOption options[] = {
  PLAIT_OPTION ("split", 0, TEXT, split, "Split of the experiment; default: its first test split", "NAME"),
  PLAIT_OPTION ("source-is", 0, TEXT, source_is,
                "Replacement of each source in turn: shuffled (the source of another sentence; the default), noise "
                "(tokens or rows drawn from the whole split), absent; several with ; between",
                "LIST"),
  PLAIT_OPTION ("seed", 0, INTEGER, seed, "Seed of shuffling and noise; default: 1", "N", 0, (double)G_MAXINT64),
  PLAIT_OPTION_CHECKPOINT (Options),
  PLAIT_OPTION ("set", 's', SETS, sets,
                "Change a key of [decode], data.too_long, or metrics, join, resamples or seed of [evaluate]", "G.K=V"),
  PLAIT_OPTION_THREADS (Options),
  PLAIT_OPTION_JSON (Options),
  PLAIT_OPTION_CHANGED_PLUGINS (Options),
  { NULL },
};

const PlaitCommand plait_command_adversarial = {
  .name = "adversarial",
  .synopsis = "RUN.h5 [--split NAME] [--source-is LIST] [--set G.K=V]... [--seed N] [--json]",
  .summary = "Measure how much a model uses each source, by shuffling it and scoring again",
  .details
  = "One source at a time is taken from other sentences (a seeded permutation without fixed points), replaced by "
    "noise, or left out. The fall of the scores shows how much the model relies on this source. Differences are "
    "tested.\n"
    "\n"
    "Example:\n"
    "  plait adversarial run.h5 --source-is 'shuffled;noise;absent'",
  .options = options,
  .size = sizeof (Options),
  .defaults = &(const Options){ .seed = 1 },
  .min = 1,
  .max = 1,
  .run = run_command,
};
