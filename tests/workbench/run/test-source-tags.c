/* SPDX-License-Identifier: MIT */
#include "experiments.h"
#include "files.h"
#include "harness.h"
#include "hdf5/walk.h"
#include "initial.h"
#include "run/result.h"
#include "runs.h"
#include "tables/table.h"

#include <math.h>
#include <string.h>

/* Tests of runs that translate, and predict tags of the source words too. */

#define TRAINING 600
#define VALIDATION 20
#define TESTS 40

/* Writes @n sentences of a split, each of 3 to 6 words. The target copies the words as capitals. A word has the tag of
 * its letter, and a tag that says whether it is the first word of its sentence. */
static void
write_split (const char *split, guint n, guint32 seed)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (seed);
  g_autoptr (GString) source = g_string_new (NULL), target = g_string_new (NULL);
  g_autoptr (GString) letters = g_string_new (NULL), places = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    {
      gint words = g_rand_int_range (random, 3, 7);

      for (gint k = 0; k < words; k++)
        {
          gint drawn = g_rand_int_range (random, 0, 9);
          const char *space = k > 0 ? " " : "";

          g_string_append_printf (source, "%s%c", space, 'a' + drawn);
          g_string_append_printf (target, "%s%c", space, 'A' + drawn);
          g_string_append_printf (letters, "%sT%d", space, drawn % 4);
          g_string_append_printf (places, "%s%s", space, k > 0 ? "O" : "B");
        }
      g_string_append_c (source, '\n');
      g_string_append_c (target, '\n');
      g_string_append_c (letters, '\n');
      g_string_append_c (places, '\n');
    }
  plait_test_write (plait_test_format ("%s.a", split), source->str);
  plait_test_write (plait_test_format ("%s.t", split), target->str);
  plait_test_write (plait_test_format ("%s.pos", split), letters->str);
  plait_test_write (plait_test_format ("%s.ner", split), places->str);
}

#define FILES(split)                                                                                                   \
  split ".a=" split ".a\n" split ".t=" split ".t\n" split ".a.pos=" split ".pos\n" split ".a.ner=" split ".ner\n"

#define EXPERIMENT(decoder)                                                                                            \
  "[experiment]\nname=tagged\nseed=3\n[data]\nvocabulary_type=words\nvocabulary=separate\ntarget=t\n" FILES ("train")  \
      FILES ("validation") FILES ("test") SMALL_SOURCE (                                                               \
          "a") "tags=pos+ner\ntag_weights=1+0.5\n" decoder                                                             \
               "[train]\nbatch=20\nepochs=20\nwarm_up=20\nlearning_rate=0.02\nschedule=constant\nlog_every=50\n"       \
               "[decode]\nbeam=2\nmaximum_length=9\n"                                                                  \
               "[evaluate]\nresamples=50\nattention=0\n"

static const char *
write_experiment (void)
{
  write_split ("train", TRAINING, 1);
  write_split ("validation", VALIDATION, 2);
  write_split ("test", TESTS, 3);
  return plait_test_write ("tagged.ini", EXPERIMENT (SMALL_DECODER ("serial")) "metrics=bleu:tok=none\n");
}

static double
score_of (const PlaitRunResult *result, const char *split, const char *metric)
{
  const PlaitRunScore *score = plait_run_result_find (result, split, metric);

  return score ? score->score : NAN;
}

/* Returns the percentage of the words of the split test whose tag in @run is that of the file. */
static double
share_of_right_tags (PlaitStore *run, const char *tags)
{
  g_autofree char *path = g_strdup_printf ("/evaluation/test/tags/a.%s/hypotheses", tags);
  g_autofree char *file = NULL;
  gint64 n = 0;
  g_auto (GStrv) said = plait_store_read_strings (run, path, 1 << 20, &n, NO_ERROR);
  double right = 0, all = 0;

  CHECK (g_file_get_contents (plait_test_path (plait_test_format ("test.%s", tags)), &file, NULL, NULL));
  g_auto (GStrv) lines = g_strsplit (file, "\n", -1);
  CHECK_INT (n, TESTS);
  for (gint64 i = 0; i < n; i++)
    {
      g_auto (GStrv) a = g_strsplit (said[i], " ", -1), b = g_strsplit (lines[i], " ", -1);

      CHECK_INT (g_strv_length (a), g_strv_length (b));
      for (guint k = 0; a[k] && b[k]; k++, all++)
        right += g_str_equal (a[k], b[k]);
    }
  return 100 * right / all;
}

typedef struct
{
  double pos, accuracy, ner;
} Row;

/* Reads the columns of tags of the table @path. (transfer full) */
static GArray *
columns_of (PlaitStore *run, const char *path)
{
  const PlaitStoreField fields[] = {
    { "tags.a.pos", PLAIT_STORE_DOUBLE, G_STRUCT_OFFSET (Row, pos), NULL },
    { "tags.a.pos.accuracy", PLAIT_STORE_DOUBLE, G_STRUCT_OFFSET (Row, accuracy), NULL },
    { "tags.a.ner", PLAIT_STORE_DOUBLE, G_STRUCT_OFFSET (Row, ner), NULL },
  };
  GArray *rows = g_array_new (FALSE, FALSE, sizeof (Row));

  CHECK (plait_store_read_table (run, path, fields, G_N_ELEMENTS (fields), 1000, rows, NO_ERROR));
  return rows;
}

TEST_CASE (source_tags_run, learns_to_translate_and_to_tag)
{
  const char *path = write_experiment ();
  g_autoptr (PlaitStore) run = test_run_open (path, NULL, "tagged.h5");
  g_autoptr (PlaitRunResult) result = run ? plait_run_result_new (run, NO_ERROR) : NULL;
  const PlaitRunScore *score;

  REQUIRE (result != NULL);
  CONTEXT ("BLEU %g, accuracy %g and %g", score_of (result, "test", "bleu:tok=none"),
           score_of (result, "test", "tags/a.pos/accuracy"), score_of (result, "test", "tags/a.ner/accuracy"));
  CHECK (score_of (result, "test", "bleu:tok=none") > 60);
  CHECK (score_of (result, "test", "tags/a.pos/accuracy") > 97);
  CHECK (score_of (result, "test", "tags/a.ner/accuracy") > 97);
  CHECK_NEAR (score_of (result, "test", "tags/a.pos/accuracy"), share_of_right_tags (run, "pos"), 1e-9);
  CHECK_NEAR (score_of (result, "test", "tags/a.ner/accuracy"), share_of_right_tags (run, "ner"), 1e-9);
  score = plait_run_result_find (result, "test", "tags/a.pos/accuracy");
  REQUIRE (score && score->scorer && score->statistics);
  CHECK_STRING (score->name, "accuracy a.pos");
  CHECK_INT (score->statistics->sentences, TESTS);
  CHECK (score->low <= score->score && score->score <= score->high);
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (GArray) rows = columns_of (run, i > 0 ? "/training/validation" : "/training/updates");
      const Row *first = (const Row *)(gpointer)rows->data, *last = first + rows->len - 1;
      CONTEXT ("table %u: loss %g to %g, accuracy %g", i, first->pos, last->pos, last->accuracy);

      CHECK (rows->len > 5);
      CHECK (first->pos < 2 * log (4) && last->pos < 0.2);
      CHECK (last->accuracy > 0.97 && last->accuracy <= 1);
      CHECK (last->ner < 0.2);
    }
}

TEST_CASE (source_tags_run, continues_with_the_same_bits)
{
  test_check_interruption (write_experiment (), 70, 2);
}

TEST_CASE (source_tags_run, has_the_same_bits_for_any_number_of_threads)
{
  const char *path = write_experiment (), *outputs[2];

  for (guint i = 0; i < 2; i++)
    {
      outputs[i] = plait_test_path (plait_test_format ("threads%u.h5", i));
      CHECK (test_run (path, outputs[i], FALSE, i > 0 ? 3 : 1, NULL, NULL, NO_ERROR));
    }
  test_check_same_run (outputs[0], outputs[1]);
}

/* TRUE if the datasets @path of @a and @b have equal bits. */
static gboolean
is_equal (PlaitStore *a, PlaitStore *b, const char *path)
{
  gint64 n = 0, m = 0;
  g_autofree double *of_a = plait_store_read_array (a, path, PLAIT_STORE_DOUBLE, 1 << 20, &n, NO_ERROR);
  g_autofree double *of_b = plait_store_read_array (b, path, PLAIT_STORE_DOUBLE, 1 << 20, &m, NO_ERROR);

  CHECK_INT (n, m);
  return of_a && of_b && n == m && memcmp (of_a, of_b, (gsize)n * sizeof *of_a) == 0;
}

static PlaitStoreWalkAction
compare (PlaitStore *store, const PlaitStoreVisit *visit, gpointer data, GError **error)
{
  PlaitStore *other = data;
  CONTEXT ("%s", visit->path);

  if (visit->object.kind == PLAIT_STORE_DATASET)
    CHECK (is_equal (store, other, visit->path));
  return PLAIT_STORE_WALK_CONTINUE;
}

/* A weight of 0 teaches the head nothing, and all other parameters have the bits that they have without tags. Other
 * weights change parameters, and unequal weights give unequal parameters. */
TEST_CASE (source_tags_run, weighs_the_losses_of_tags)
{
  static const char parameters[] = "/checkpoint/last/parameters";
  const char *path = write_experiment ();
  const char *none[] = { "source.a.tags=none", "train.epochs=2", "train.shards=3", NULL };
  const char *zero[] = { "source.a.tag_weights=0", "train.epochs=2", "train.shards=3", NULL };
  const char *half[] = { "source.a.tag_weights=0.5", "train.epochs=2", "train.shards=3", NULL };
  const char *more[] = { "source.a.tag_weights=0.5+0.25", "train.epochs=2", "train.shards=3", NULL };
  const char *table = "/checkpoint/last/parameters/embedding/a/table";
  g_autoptr (PlaitStore) without = test_run_open (path, none, "none.h5");
  g_autoptr (PlaitStore) ignored = test_run_open (path, zero, "zero.h5");
  g_autoptr (PlaitStore) halves = test_run_open (path, half, "half.h5");
  g_autoptr (PlaitStore) unequal = test_run_open (path, more, "more.h5");
  gint64 n;

  REQUIRE (without && ignored && halves && unequal);
  CHECK (plait_store_walk (without, parameters, 20, compare, ignored, NO_ERROR));
  g_autofree double *bias = plait_store_read_array (ignored, "/checkpoint/last/parameters/source/a/tags/pos/bias",
                                                    PLAIT_STORE_DOUBLE, 100, &n, NO_ERROR);
  REQUIRE (bias != NULL);
  CHECK_INT (n, 4);
  for (gint64 i = 0; i < n; i++)
    CHECK (bias[i] == 0);
  CHECK (!is_equal (halves, without, table));
  CHECK (!is_equal (unequal, halves, table));
}

/* Writes loss weights, one for each training sentence. */
static void
write_weights (void)
{
  g_autoptr (GString) weights = g_string_new (NULL);

  for (guint i = 0; i < TRAINING; i++)
    g_string_append (weights, i % 2 ? "1\n" : "0.5\n");
  plait_test_write ("weights", weights->str);
}

/* The log names every file of loss weights. */
TEST_CASE (source_tags_run, names_all_files_of_loss_weights)
{
  const char *path = write_experiment ();
  const char *twice[] = { "data.train.a=train.a;train.a",
                          "data.train.t=train.t;train.t",
                          "data.train.a.pos=train.pos;train.pos",
                          "data.train.a.ner=train.ner;train.ner",
                          "data.train.loss_weights=weights;weights",
                          NULL };
  g_autofree char *said = NULL;

  write_weights ();
  g_autoptr (PlaitStore) run = test_run_still (path, "weighted.h5", twice, &said, NO_ERROR);
  const char *weights = plait_test_path ("weights");

  REQUIRE (run != NULL);
  CHECK_CONTAINS (
      said, plait_test_format ("the loss of each tuple is multiplied by its weight in %s, %s\n", weights, weights));
}

/* Test and validation text may lack tags. Unknown tags count as wrong. Weights of sentences (data.train.loss_weights)
 * are accepted. A model that predicts tags in place of a sentence can learn tags of its source words too. */
TEST_CASE (source_tags_run, reads_splits_with_and_without_tags)
{
  const char *path = write_experiment ();
  const char *overrides[]
      = { "data.test2.a=test.a", "data.test2.t=test.t", "train.epochs=1", "data.train.loss_weights=weights", NULL };
  g_autofree char *tags = NULL;

  write_weights ();
  CHECK (g_file_get_contents (plait_test_path ("test.pos"), &tags, NULL, NULL));
  plait_test_write ("test.pos", g_strdelimit (tags, "T", 'U'));
  plait_test_replace ("tagged.ini", "validation.a.pos=validation.pos\nvalidation.a.ner=validation.ner\n", "");
  g_autoptr (PlaitStore) run = test_run_open (path, overrides, "splits.h5");
  g_autoptr (PlaitRunResult) result = run ? plait_run_result_new (run, NO_ERROR) : NULL;

  REQUIRE (result != NULL);
  CHECK (score_of (result, "test", "tags/a.pos/accuracy") == 0);
  CHECK (score_of (result, "test", "tags/a.ner/accuracy") > 50);
  CHECK (isnan (score_of (result, "test2", "tags/a.ner/accuracy")));
  CHECK (!isnan (score_of (result, "test2", "bleu:tok=none")));
  g_autoptr (GArray) rows = columns_of (run, "/training/validation");
  gint64 n = 0;
  g_autofree double *losses = plait_store_read_array (run, "/training/validation/negative_log_likelihood",
                                                      PLAIT_STORE_DOUBLE, 1000, &n, NO_ERROR);
  REQUIRE (losses && rows->len > 0);
  CHECK_INT (n, rows->len);
  for (guint i = 0; i < rows->len; i++)
    {
      const Row *row = &g_array_index (rows, Row, i);

      CHECK (isfinite (losses[i]));
      CHECK (isnan (row->pos) && isnan (row->accuracy) && isnan (row->ner));
    }
  const char *classes[] = { "predict.kind=tags",
                            "data.target=ner",
                            "train.epochs=4",
                            "source.a.tags=pos",
                            "source.a.tag_weights=1",
                            "data.train.ner=train.ner",
                            "data.validation.ner=validation.ner",
                            "data.test.ner=test.ner",
                            "experiment.sources=a",
                            "evaluate.metrics=accuracy:words",
                            NULL };
  write_experiment ();
  plait_test_write ("tagged.ini", EXPERIMENT (TINY_DECODER "[source t]\nencoder=transformer\n"));
  g_autoptr (PlaitStore) tagger = test_run_open (path, classes, "tagger.h5");
  g_autoptr (PlaitRunResult) scores = tagger ? plait_run_result_new (tagger, NO_ERROR) : NULL;
  REQUIRE (scores != NULL);
  CHECK (score_of (scores, "test", "tags/a.pos/accuracy") > 80);
}
