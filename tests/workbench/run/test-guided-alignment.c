/* SPDX-License-Identifier: MIT */
#include "experiments.h"
#include "files.h"
#include "harness.h"
#include "run/result.h"
#include "runs.h"
#include "scoring/test.h"
#include "significance/report.h"
#include "tables/table.h"

#include <math.h>
#include <string.h>

/* Tests of guided alignment, from the experiment to scores: files of alignments, training, AER of the run, resuming. */

#define TRAINING 600
#define TESTS 20

/* Writes @n lines of the source a, of the target (its words translated, in reverse order), and of their alignment. */
static void
write_reversed (const char *split, guint n, guint32 seed)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (seed);
  g_autoptr (GString) source = g_string_new (NULL), target = g_string_new (NULL), links = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    {
      gint words = g_rand_int_range (random, 3, 7), drawn[8];

      for (gint k = 0; k < words; k++)
        {
          drawn[k] = g_rand_int_range (random, 0, 12);
          g_string_append_printf (source, "%s%c", k > 0 ? " " : "", 'a' + drawn[k]);
        }
      for (gint k = 0; k < words; k++)
        {
          g_string_append_printf (target, "%s%c", k > 0 ? " " : "", 'A' + drawn[words - 1 - k]);
          g_string_append_printf (links, "%s%d-%d", k > 0 ? " " : "", words - 1 - k, k);
        }
      g_string_append_c (source, '\n');
      g_string_append_c (target, '\n');
      g_string_append_c (links, '\n');
    }
  plait_test_write_bytes (plait_test_format ("%s.a", split), source->str, source->len);
  plait_test_write_bytes (plait_test_format ("%s.t", split), target->str, target->len);
  plait_test_write_bytes (plait_test_format ("%s.links", split), links->str, links->len);
}

static const char text[]
    = "[experiment]\nname=guided\nseed=3\n"
      "[data]\nvocabulary_type=words\ntarget=t\n"
      "train.a=train.a\ntrain.t=train.t\ntrain.a.alignment=train.links\n"
      "test.a=test.a\ntest.t=test.t\ntest.a.alignment=test.links\n" SMALL_SOURCE ("a")
          SMALL_DECODER ("serial") "[train]\nbatch=20\nepochs=12\nwarm_up=20\nlearning_rate=0.02\nschedule=constant\n"
                                   "alignment_weight=1\nlog_every=30\n[evaluate]\nresamples=50\nattention=0\n";

static const char *
write_experiment (void)
{
  write_reversed ("train", TRAINING, 1);
  write_reversed ("test", TESTS, 2);
  return plait_test_write ("guided.ini", text);
}

/* Runs @path with @overrides. Returns the scores of the run. (transfer full) */
static PlaitRunResult *
run (const char *path, const char *const *overrides, const char *name)
{
  g_autoptr (PlaitStore) store = test_run_open (path, overrides, name);

  return store ? plait_run_result_new (store, NO_ERROR) : NULL;
}

static double
score_of (const PlaitRunResult *result, const char *metric)
{
  const PlaitRunScore *score = plait_run_result_find (result, "test", metric);

  return score ? score->score : NAN;
}

/* Attention that learns alignments makes fewer errors than attention that does not: AER is 3 to 12 for seeds 1 to 8,
 * and 28 to 41 if the weight of the loss is 0. Scores have intervals and the statistics of each sentence. */
TEST_CASE (guided_alignment_run, aligns_better)
{
  static const char *const with[] = { "decoder.width=16", "train.learning_rate=0.01", NULL };
  static const char *const without[]
      = { "decoder.width=16", "train.learning_rate=0.01", "train.alignment_weight=0", NULL };
  const char *path = write_experiment ();
  g_autoptr (PlaitRunResult) guided = run (path, with, "guided.h5"), plain = run (path, without, "plain.h5");
  const PlaitRunScore *score;

  REQUIRE (guided && plain);
  CONTEXT ("AER %g with guidance, %g without", score_of (guided, "alignment/a/aer"),
           score_of (plain, "alignment/a/aer"));
  CHECK (score_of (guided, "alignment/a/aer") < 20);
  CHECK (score_of (plain, "alignment/a/aer") > 22);
  CHECK (score_of (guided, "alignment/a/alignment-precision") > 80);
  CHECK (score_of (guided, "alignment/a/alignment-recall") > 80);
  score = plait_run_result_find (guided, "test", "alignment/a/aer");
  REQUIRE (score && score->scorer && score->statistics);
  CHECK_STRING (score->name, "AER a");
  CHECK_INT (score->statistics->sentences, TESTS);
  CHECK (score->low <= score->score && score->score <= score->high && score->low < score->high);
  CHECK (!plait_metric_larger_is_better (score->scorer));
}

/* A source of sentences is aligned beside a source of documents. */
TEST_CASE (guided_alignment_run, aligns_sentences_beside_documents)
{
  static const char *const with[] = { "data.documents=d",
                                      "data.train.d=train.d",
                                      "data.test.d=test.d",
                                      "source.d.encoder=transformer",
                                      "source.d.layers=1",
                                      "source.d.heads=2",
                                      "train.epochs=1",
                                      "data.document_starts=none",
                                      NULL };
  const char *path = write_experiment ();
  g_autoptr (GString) documents = g_string_new (NULL);

  for (guint i = 0; i < TRAINING; i++)
    g_string_append (documents, "b a\nc\n\n");
  plait_test_write_bytes ("train.d", documents->str, documents->len);
  plait_test_write_bytes ("test.d", documents->str, TESTS * strlen ("b a\nc\n\n"));
  g_autoptr (PlaitRunResult) result = run (path, with, "beside.h5");

  REQUIRE (result != NULL);
  CHECK (score_of (result, "alignment/a/aer") > 0);
}

/* An evaluation with a name of its own scores alignments too. */
TEST_CASE (guided_alignment_run, aligns_in_a_named_evaluation)
{
  static const char *const few[] = { "train.updates=2", NULL };
  const PlaitTestOptions options = { .name = "again", .threads = 1 };
  const char *path = write_experiment ();
  g_autoptr (PlaitRunResult) first = run (path, few, "named.h5");
  g_autoptr (PlaitStore) store = NULL;
  g_autoptr (PlaitRunResult) result = NULL;
  const PlaitRunScore *score;
  PlaitTestOutcome outcome;

  REQUIRE (first && plait_test_file (plait_test_path ("named.h5"), NULL, &options, &outcome, NO_ERROR));
  store = plait_store_open (plait_test_path ("named.h5"), NO_ERROR);
  result = store ? plait_run_result_new (store, NO_ERROR) : NULL;
  REQUIRE (result != NULL);
  score = plait_run_result_find (result, "test.again", "alignment/a/aer");
  REQUIRE (score != NULL);
  CHECK_NEAR (score->score, score_of (first, "alignment/a/aer"), 0);
}

/* The loss has a column in the training table. Its values fall. */
TEST_CASE (guided_alignment_run, logs_its_loss)
{
  const char *path = write_experiment ();
  g_autoptr (PlaitStore) store = test_run_open (path, NULL, "guided.h5");
  struct
  {
    double loss;
  } * row;
  const PlaitStoreField fields[] = { { "alignment", PLAIT_STORE_DOUBLE, 0, NULL } };
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (double));

  REQUIRE (store != NULL);
  REQUIRE (plait_store_read_table (store, "/training/updates", fields, 1, 1000, rows, NO_ERROR));
  row = (gpointer)rows->data;
  REQUIRE (rows->len > 2);
  CHECK (row[0].loss > 1 && row[rows->len - 1].loss < row[0].loss / 2);
}

TEST_CASE (guided_alignment_run, continues_with_the_same_bits)
{
  const char *path = write_experiment ();

  test_check_interruption (path, 3, 2);
}

/* The run stores its alignments of the references and those of the file. Scoring these texts gives the stored score. */
TEST_CASE (guided_alignment_run, stores_alignments_that_are_read_back)
{
  const char *path = write_experiment ();
  g_autoptr (PlaitStore) store = test_run_open (path, NULL, "guided.h5");
  g_autoptr (PlaitRunResult) result = store ? plait_run_result_new (store, NO_ERROR) : NULL;
  g_autoptr (PlaitMetric) metric = plait_metric_new ("aer", NO_ERROR);
  g_auto (GStrv) found = NULL, right = NULL;
  gint64 n, n_right;

  REQUIRE (result != NULL);
  found = plait_store_read_strings (store, "/evaluation/test/alignments/a/hypotheses", 1 << 20, &n, NO_ERROR);
  right = plait_store_read_strings (store, "/evaluation/test/alignments/a/references", 1 << 20, &n_right, NO_ERROR);
  REQUIRE (found && right && n == TESTS && n_right == TESTS);
  const char *const *sets[] = { (const char *const *)right };
  const PlaitTextPairs pairs = { TESTS, (const char *const *)found, 1, sets };
  g_autoptr (PlaitResult) again = plait_evaluate (metric, &pairs, 0, 1, NO_ERROR);
  REQUIRE (again != NULL);
  CHECK_NEAR (again->score, score_of (result, "alignment/a/aer"), 1e-9);
}

TEST_CASE (guided_alignment_run, refuses_in_words)
{
  static const struct
  {
    const char *override, *message;
  } cases[] = {
    { "data.train.a.alignment=test.links", "test.links:2: a link names word 4 of a, but the sentence has 4 words" },
    { "data.validation.a.alignment=test.links", "validation does not read word alignments; drop the line" },
    { "data.train.b.alignment=train.links", "no source reads the stream \"b.alignment\"" },
    { "train.alignment_attention=mean", "[train] alignment_attention: the mean of all layers does not learn" },
    { "train.alignment_attention=first", "[train] alignment_attention: the value cannot be \"first\"" },
    { "train.alignment_attention=1", "train.alignment_attention: there is no layer 1: the decoder has 1" },
    { "train.alignment_attention=0:2", "train.alignment_attention: there is no head 2: the attention to the memory a" },
    { "train.alignment_name=hop",
      "train.alignment_attention: combiner \"serial\" of [combiner] has no attention called hop" },
    { "evaluate.alignment_attention=4", "evaluate.alignment_attention: there is no layer 4: the decoder has 1" },
    { "evaluate.alignment_attention=0:2",
      "evaluate.alignment_attention: there is no head 2: the attention to the source a has 2 heads" },
    { "evaluate.alignment_attention=mean:2", "evaluate.alignment_attention: there is no head 2" },
    { "data.documents=a;t", "words of documents cannot be aligned" },
  };
  const char *path = write_experiment ();

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const char *const overrides[] = { cases[i].override, NULL };
      g_autoptr (GError) error = NULL;

      CONTEXT ("%s", cases[i].override);
      CHECK (!test_run_with (path, overrides, plait_test_path ("refused.h5"), FALSE, NULL, &error));
      CHECK_ERROR (error, PLAIT_ERROR_INPUT, cases[i].message);
    }
}
