/* SPDX-License-Identifier: MIT */
#include "experiments.h"
#include "files.h"
#include "harness.h"
#include "search/translate.h"
#include "setup/trained.h"
#include "runs.h"

#include <math.h>
#include <string.h>

/* Tests of runs that leave out sources at random in training. */

TEST_CASE (source_dropout, goes_on_after_an_interruption_on_any_threads)
{
  const char *path = test_write_experiment_of_two ("tiny", "source_dropout=0.4");

  test_check_interruption (path, 13, 3);
}

/* Checks that the dataset @path has equal numbers in @run and @other if @same; otherwise different ones. */
static void
check_numbers (PlaitStore *run, PlaitStore *other, const char *path, gboolean same)
{
  gint64 n = 0, m = 0;
  g_autofree double *a = plait_store_read_array (run, path, PLAIT_STORE_DOUBLE, 1 << 20, &n, NULL);
  g_autofree double *b = plait_store_read_array (other, path, PLAIT_STORE_DOUBLE, 1 << 20, &m, NULL);
  CONTEXT ("%s", path);

  CHECK (a && b && n > 0);
  CHECK_INT (m, n);
  if (a && b && n == m)
    CHECK ((memcmp (a, b, (gsize)n * sizeof *a) == 0) == same);
}

/* A learning rate of 0 leaves the parameters unchanged. So validation and test losses must be equal with and without
 * source dropout. */
TEST_CASE (source_dropout, is_of_training_alone)
{
  const char *path = test_write_experiment_of_two ("tiny", "source_dropout=0.4");
  const char *still[] = { "train.learning_rate=0", NULL };
  const char *whole[] = { "train.learning_rate=0", "train.source_dropout=0", NULL };
  g_autoptr (PlaitStore) run = test_run_open (path, still, "run.h5");
  g_autoptr (PlaitStore) other = test_run_open (path, whole, "other.h5");

  REQUIRE (run && other);
  check_numbers (run, other, "/training/updates/negative_log_likelihood", FALSE);
  check_numbers (run, other, "/training/validation/negative_log_likelihood", TRUE);
  check_numbers (run, other, "/evaluation/test/reference_log_probabilities", TRUE);
  check_numbers (run, other, "/evaluation/test/metrics/score", TRUE);
}

#define LINES 40

static const char *const streams[] = { "a", "b", "target" };

/* Writes LINES lines of each stream to @name.STREAM. If absent[s][i], line i of source s is blank. */
static void
write_lines (const char *name, gboolean (*absent)[LINES])
{
  for (guint s = 0; s < G_N_ELEMENTS (streams); s++)
    {
      g_autoptr (GString) text = g_string_new (NULL);

      for (guint i = 0; i < LINES; i++)
        {
          for (guint k = 0; k < 2 + (i + s) % 4 && !(absent && s < 2 && absent[s][i]); k++)
            g_string_append_printf (text, "%c ", (char)('a' + (i * (k + s + 1) + k) % 7));
          g_string_append_c (text, '\n');
        }
      plait_test_write_bytes (plait_test_format ("%s.%s", name, streams[s]), text->str, text->len);
    }
}

/* Sets @absent [source, line] to TRUE where source dropout leaves out the line in the first epoch of @path. */
static void
find_absent (const char *path, gboolean (*absent)[LINES])
{
  g_autoptr (PlaitRegistry) registry = plait_registry_new ();
  g_autoptr (PlaitExperiment) experiment = test_load (path, NULL, registry, NULL);
  g_autoptr (PlaitRunInputs) run_inputs = plait_run_inputs_new (experiment, NULL, NULL, NULL, NULL, NULL);
  g_autoptr (PlaitCorpus) corpus = plait_run_inputs_open (run_inputs, "train", NULL, NULL, NULL);
  gint64 tuples[LINES];
  gint n = 0;

  for (gint64 i = 0; i < LINES; i++)
    tuples[i] = i;
  plait_corpus_set_source_dropout (corpus, experiment->train.source_dropout, (guint64)experiment->experiment.seed);
  g_autoptr (PlaitBatch) batch = plait_corpus_batch_in (corpus, 0, tuples, LINES, NULL);
  for (guint s = 0; batch && s < 2; s++)
    for (gint64 i = 0; i < LINES; i++)
      n += absent[s][i] = plait_input_is_missing (&batch->inputs[s], i);
  CHECK (n > LINES / 4 && n < LINES);
}

/* An epoch with source dropout equals, bit by bit, an epoch without it over text in which the left-out lines are blank:
 * an absent source adds nothing to losses and gradients. */
TEST_CASE (source_dropout, trains_as_if_the_lines_were_blank)
{
  static const char text[] = "[experiment]\nname=lines\nseed=3\n"
                             "[data]\nvocabulary_type=words\ntarget=target\nempty=missing\n"
                             "train.a=whole.a\ntrain.b=whole.b\ntrain.target=whole.target\n"
                             "validation.a=whole.a\nvalidation.b=whole.b\nvalidation.target=whole."
                             "target\n" SMALL_SOURCE ("a") "[source b]\nencoder=bigru\nwidth=8\n" SMALL_DECODER (
                                 "hierarchical") "[train]\nsource_dropout=0.4\nbatch=5\nepochs=1\nwarm_up=4\nlearning_"
                                                 "rate=1\nlog_every=1\n";
  gboolean absent[2][LINES] = { { FALSE } };
  const char *blank[] = { "train.source_dropout=0", "data.train.a=blank.a", "data.train.b=blank.b",
                          "data.vocabulary.shared=whole.h5", NULL };

  const char *path = plait_test_write ("lines.ini", text);
  write_lines ("whole", NULL);
  find_absent (path, absent);
  write_lines ("blank", absent);
  g_autoptr (PlaitStore) run = test_run_open (path, NULL, "whole.h5");
  g_autoptr (PlaitStore) other = test_run_open (path, blank, "blank.h5");
  REQUIRE (run && other);
  check_numbers (run, other, "/training/updates/loss", TRUE);
  check_numbers (run, other, "/training/updates/gradient_norm", TRUE);
  check_numbers (run, other, "/training/validation/negative_log_likelihood", TRUE);
}

/* Returns the loss for each target token of the run @name on its test split, without source @absent (-1: with all
 * sources). */
static double
loss_without (const char *name, gint64 absent)
{
  g_autoptr (PlaitTrained) trained = plait_trained_open (plait_test_path (name), NULL, NULL, FALSE, NULL, NO_ERROR);
  g_autoptr (PlaitCorpus) corpus = NULL;
  double sum = 0;
  gint64 tokens = 0;

  if (trained && plait_run_inputs_generate (trained->run_inputs, NULL, NO_ERROR))
    corpus = plait_run_inputs_open (trained->run_inputs, "test", NULL, NULL, NO_ERROR);
  if (!corpus)
    return NAN;
  gint64 n = plait_corpus_lines (corpus);
  g_autofree double *log_probabilities = g_new (double, n);
  g_autofree gint64 *counts = g_new (gint64, n);
  g_autoptr (PlaitPool) pool = plait_pool_new (1, NULL);
  g_autoptr (PlaitSearch) search
      = plait_search_new (trained->experiment_model->model, pool, PLAIT_PRECISION_FLOAT, 0, NULL);
  if (absent >= 0)
    plait_corpus_remove_source (corpus, absent);
  CHECK (plait_score_corpus (search, corpus, 32, "test", NULL, NULL, log_probabilities, counts, NULL, NULL, NO_ERROR));
  for (gint64 i = 0; i < n; i++)
    {
      sum -= log_probabilities[i];
      tokens += counts[i];
    }
  return sum / (double)tokens;
}

/* Returns how much the loss of the run @name rises without the more important of its two sources. */
static double
cost_of_absence (const char *name)
{
  return MAX (loss_without (name, 0), loss_without (name, 1)) - loss_without (name, -1);
}

/* Two sources have equal text, and one of them suffices to predict the class. With this seed, a model trained without
 * source dropout depends on one source: if this source is absent, the loss rises by .8. The loss of a model trained
 * with source dropout rises by less than .15. */
TEST_CASE (source_dropout, lets_a_model_do_without_a_source)
{
  static const char text[] = "[experiment]\nname=class\nseed=5\n"
                             "[data]\ngenerate=topic\ngenerate.train=400\ngenerate.validation=4\ngenerate.test=60\n"
                             "generate.topics=3\ngenerate.words=6\ngenerate.own=3\ngenerate.common=6\n"
                             "vocabulary_type=words\n"
                             "[predict]\nkind=class\n"
                             "[source text]\nencoder=transformer\nlayers=1\nheads=2\nfeed_forward=16\n"
                             "[source again]\nstream=text\nencoder=transformer\nlayers=1\nheads=2\nfeed_forward=16\n"
                             "[decoder]\nwidth=16\n"
                             "[train]\nsource_dropout=0.5\nbatch=16\nepochs=8\nwarm_up=40\nlearning_rate=1\n"
                             "[evaluate]\nresamples=0\n";

  const char *path = plait_test_write ("class.ini", text);
  g_autoptr (PlaitStore) dropped = test_run_open (path, NULL, "dropped.h5");
  g_autoptr (PlaitStore) whole = test_run_open (path, (const char *[]){ "train.source_dropout=0", NULL }, "whole.h5");
  REQUIRE (dropped && whole);
  double cost = cost_of_absence ("dropped.h5"), usual = cost_of_absence ("whole.h5");
  CHECK (usual > 0.5);
  CHECK (cost < usual / 2);
}
