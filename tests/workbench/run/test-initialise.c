/* SPDX-License-Identifier: MIT */
#include "grid/difference.h"
#include "files.h"
#include "harness.h"
#include "initial.h"
#include "layers/parameter-set.h"
#include "weights/export.h"
#include "runs.h"

#include <math.h>
#include <string.h>

/* Tests of training that begins with the parameters of another run. */

/* Returns the name of the first parameter of @run that begins with @prefix; NULL if there is none. (transfer full) */
static char *
first_name (PlaitStore *run, const char *prefix)
{
  g_auto (GStrv) names = plait_store_read_strings (run, "/initialisation/parameters/name", 1 << 20, NULL, NULL);

  for (guint i = 0; names && names[i]; i++)
    if (g_str_has_prefix (names[i], prefix))
      return g_strdup (names[i]);
  return NULL;
}

/* A square weight is orthogonal at first with train.initial_values=dl4mt; a gain has its usual value. */
TEST_CASE (initialise, begins_as_dl4mt_where_it_is_asked_to)
{
  enum
  {
    MAX_ITEMS = 1 << 20,
  };
  static const char place[] = "/checkpoint/last/parameters/decoder/layer/0/self_attention/output/weight";
  const char *experiment = test_write_experiment ("tiny", NULL);
  g_autoptr (PlaitStore) usual = test_run_still (experiment, "usual.h5", NULL, NULL, NO_ERROR);
  g_autoptr (PlaitStore) as_dl4mt
      = test_run_still (experiment, "dl4mt.h5", (const char *[]){ "train.initial_values=dl4mt", NULL }, NULL, NO_ERROR);
  PlaitStore *const runs[] = { usual, as_dl4mt };
  double distances[2] = { 0, 0 };

  REQUIRE (usual && as_dl4mt);
  for (guint i = 0; i < 2; i++)
    {
      gint64 n = 0;
      g_autofree double *x = plait_store_read_array (runs[i], place, PLAIT_STORE_DOUBLE, MAX_ITEMS, &n, NO_ERROR);
      gint64 width = (gint64)sqrt ((double)n);

      REQUIRE (x && width * width == n);
      for (gint64 a = 0; a < width; a++)
        for (gint64 b = 0; b < width; b++)
          {
            double product = a == b ? -1 : 0;

            for (gint64 k = 0; k < width; k++)
              product += x[k * width + a] * x[k * width + b];
            distances[i] = fmax (distances[i], fabs (product));
          }
    }
  CHECK (distances[0] > 0.1);
  CHECK (distances[1] < 1e-5);
  CHECK (test_is_same (as_dl4mt, usual, "last", "decoder/norm/gain"));
}

/* Training in two phases: the second takes embeddings and encoders of the first, and has a new decoder. */
TEST_CASE (initialise, takes_encoders_and_leaves_the_decoder)
{
  const char *experiment = test_write_experiment_of_two ("tiny", NULL);
  const char *base_path = test_base_run (experiment);
  g_autofree char *said = NULL;
  g_autoptr (PlaitStore) base = plait_store_open (base_path, NO_ERROR);
  g_autoptr (PlaitStore) random = test_run_still (experiment, "random.h5", NULL, NULL, NO_ERROR);
  g_autoptr (PlaitStore) second
      = test_run_still (experiment, "second.h5",
                        (const char *[]){ "train.initialise=base.h5", "decoder.combiner=serial",
                                          "train.initialise_leave=decoder/*;nothing;decoder/*,source/*", NULL },
                        &said, NO_ERROR);
  g_autofree char *source = NULL;
  g_autofree char *decoder = NULL;
  g_autofree char *place = NULL;

  REQUIRE (base && random && second);
  source = first_name (second, "source/a/layer/0/");
  decoder = first_name (second, "decoder/layer/0/self");
  REQUIRE (source && decoder);
  CHECK (test_is_same (second, base, "best", source));
  CHECK (test_is_same (second, base, "best", "embedding/shared/table"));
  CHECK (!test_is_same (second, base, "best", decoder));
  CHECK (test_is_same (second, random, "last", decoder));
  CHECK (!test_is_same (second, random, "last", source));
  TEST_CHECK_OUTCOME (second, source, "taken");
  TEST_CHECK_OUTCOME (second, decoder, "left");
  place = plait_store_get_string (second, "/initialisation", "run", NULL);
  CHECK_STRING (place, base_path);
  CHECK_CONTAINS (said, "base.h5:/checkpoint/best/parameters, ");
  CHECK_CONTAINS (said, " parameters: embedding/*, source/*\n");
  CHECK_CONTAINS (said,
                  "fresh random values for parameters that initialise_take or initialise_leave excludes: decoder/");
  CHECK_CONTAINS (said, "fresh random values for parameters that are not in that run: decoder/layer/0/");
  CHECK_CONTAINS (said, "warning: train.initialise_leave: no parameter of this model matches \"nothing\"\n");
  CHECK_CONTAINS (said, "matches \"decoder/*,source/*\"; did you mean \"decoder/*;source/*\"?\n");
}

TEST_CASE (initialise, takes_what_globs_name_of_the_checkpoint_that_is_asked_for)
{
  const char *experiment = test_write_experiment_of_two ("tiny", NULL);
  const char *base_path = test_base_run (experiment);
  g_autoptr (PlaitStore) base = plait_store_open (base_path, NO_ERROR);
  g_autoptr (PlaitStore) second = test_run_still (
      experiment, "second.h5",
      (const char *[]){ "train.initialise=base.h5", "train.initialise_checkpoint=average",
                        "train.initialise_take=source/?/layer/*", "train.initialise_leave=*b/l*", NULL },
      NULL, NO_ERROR);
  g_autofree char *a = NULL;
  g_autofree char *b = NULL;

  REQUIRE (base && second);
  a = first_name (second, "source/a/layer/0/");
  b = first_name (second, "source/b/layer/0/");
  CHECK (test_is_same (second, base, "average", a));
  TEST_CHECK_OUTCOME (second, a, "taken");
  TEST_CHECK_OUTCOME (second, b, "left");
  TEST_CHECK_OUTCOME (second, "embedding/shared/table", "left");
}

/* The second run has another width of one hidden layer, another vocabulary of the same size, and an output weight of
 * its own. */
TEST_CASE (initialise, says_what_does_not_fit)
{
  const char *experiment = test_write_experiment_of_two ("tiny", NULL);
  g_autofree char *said = NULL;
  g_autofree char *narrow = NULL;

  test_base_run (experiment);
  g_autoptr (PlaitStore) second = test_run_still (
      experiment, "second.h5",
      (const char *[]){ "train.initialise=base.h5", "train.initialise_vocabulary=learnt", "source.b.feed_forward=12",
                        "data.generate.seed=9", "decoder.tie_output=false", NULL },
      &said, NO_ERROR);

  REQUIRE (second != NULL);
  TEST_CHECK_OUTCOME (second, "embedding/shared/table", "other vocabulary");
  TEST_CHECK_OUTCOME (second, "decoder/output/weight", "fresh");
  narrow = first_name (second, "source/b/layer/0/feed_forward/");
  REQUIRE (narrow != NULL);
  TEST_CHECK_OUTCOME (second, narrow, "other shape");
  CHECK_CONTAINS (
      said, "fresh random values, since the vocabulary differs: embedding/shared/table; the parameters that are taken");
  CHECK_CONTAINS (said, " is [8, 12] in this model, but [8, 8] in train.initialise\n");
  CHECK_CONTAINS (said, "fresh random values for parameters that are not in that run: decoder/output/*\n");
}

/* A longer table of learned positions has the rows of the base run first, then random rows. A shorter table is not
 * taken. */
TEST_CASE (initialise, lets_learned_positions_grow)
{
  enum
  {
    MAX_ITEMS = 1 << 20,
    SHORT = 40,
    LONG = 48,
  };
  static const char name[] = "/checkpoint/last/parameters/source/a/positions/table";
  static const char *const learned[]
      = { "source.a.positions=learned", "source.a.position_limit=40", "train.updates=2", NULL };
  static const char *const longer[] = { "source.a.positions=learned", "source.a.position_limit=48", NULL };
  static const char *const taking[]
      = { "source.a.positions=learned", "source.a.position_limit=48", "train.initialise=base.h5", NULL };
  static const char *const shorter[]
      = { "source.a.positions=learned", "source.a.position_limit=32", "train.initialise=base.h5", NULL };
  const char *experiment = test_write_experiment ("tiny", NULL);
  const char *base_path = plait_test_path ("base.h5");
  g_autofree char *said = NULL;
  gint64 n[3] = { 0 };

  CHECK (test_run_with (experiment, learned, base_path, FALSE, NULL, NO_ERROR));
  g_autoptr (PlaitStore) base = plait_store_open (base_path, NO_ERROR);
  g_autoptr (PlaitStore) grown = test_run_still (experiment, "grown.h5", taking, &said, NO_ERROR);
  g_autoptr (PlaitStore) random = test_run_still (experiment, "random.h5", longer, NULL, NO_ERROR);
  g_autoptr (PlaitStore) cut = test_run_still (experiment, "cut.h5", shorter, NULL, NO_ERROR);
  REQUIRE (base && grown && random && cut);
  g_autofree double *there = plait_store_read_array (base, name, PLAIT_STORE_DOUBLE, MAX_ITEMS, &n[0], NULL);
  g_autofree double *here = plait_store_read_array (grown, name, PLAIT_STORE_DOUBLE, MAX_ITEMS, &n[1], NULL);
  g_autofree double *fresh = plait_store_read_array (random, name, PLAIT_STORE_DOUBLE, MAX_ITEMS, &n[2], NULL);

  REQUIRE (there && here && fresh && n[1] == n[2] && n[0] * LONG == n[1] * SHORT);
  CHECK (memcmp (here, there, (gsize)n[0] * sizeof *here) == 0);
  CHECK (memcmp (here, fresh, (gsize)n[0] * sizeof *here) != 0);
  CHECK (memcmp (here + n[0], fresh + n[0], (gsize)(n[1] - n[0]) * sizeof *here) == 0);
  TEST_CHECK_OUTCOME (grown, "source/a/positions/table", "grown");
  CHECK_CONTAINS (said, "taken, but with fresh random values from row 40 on: source/a/positions/table\n");
  TEST_CHECK_OUTCOME (cut, "source/a/positions/table", "other shape");
}

/* A longer table of learned positions repeats the rows of the base run with train.initialise_positions=copied. */
TEST_CASE (initialise, lets_learned_positions_repeat)
{
  enum
  {
    MAX_ITEMS = 1 << 20,
    SHORT = 20,
    LONG = 48,
    WIDTH = 8,
  };
  static const char name[] = "/checkpoint/last/parameters/source/a/positions/table";
  static const char *const learned[]
      = { "source.a.positions=learned", "source.a.position_limit=20", "train.updates=2", NULL };
  static const char *const taking[] = { "source.a.positions=learned", "source.a.position_limit=48",
                                        "train.initialise=base.h5", "train.initialise_positions=copied", NULL };
  const char *experiment = test_write_experiment ("tiny", NULL);
  const char *base_path = plait_test_path ("base.h5");
  g_autofree char *said = NULL;

  CHECK (test_run_with (experiment, learned, base_path, FALSE, NULL, NO_ERROR));
  g_autoptr (PlaitStore) base = plait_store_open (base_path, NO_ERROR);
  g_autoptr (PlaitStore) grown = test_run_still (experiment, "grown.h5", taking, &said, NO_ERROR);
  REQUIRE (base && grown);
  g_autofree double *there = plait_store_read_array (base, name, PLAIT_STORE_DOUBLE, MAX_ITEMS, NULL, NULL);
  g_autofree double *here = plait_store_read_array (grown, name, PLAIT_STORE_DOUBLE, MAX_ITEMS, NULL, NULL);
  REQUIRE (there && here);
  for (int row = 0; row < LONG; row++)
    CHECK (memcmp (here + row * WIDTH, there + row % SHORT * WIDTH, WIDTH * sizeof *here) == 0);
  CHECK_CONTAINS (said, "taken, but with repeated rows from row 20 on: source/a/positions/table\n");
}

/* A run takes the exact weights that plait export has written, except parameters that a glob leaves out. */
TEST_CASE (initialise, takes_exported_weights)
{
  const char *experiment = test_write_experiment ("tiny", NULL);
  const char *base_path = test_base_run (experiment);
  g_autofree char *said = NULL;
  g_autoptr (PlaitTrained) trained = plait_trained_open (base_path, "last", NULL, FALSE, NULL, NO_ERROR);

  REQUIRE (trained != NULL);
  CHECK (plait_export_safetensors (trained, plait_test_path ("base.safetensors"), NO_ERROR));
  g_autoptr (PlaitStore) second = test_run_still (
      experiment, "second.h5",
      (const char *[]){ "train.initialise=base.safetensors", "train.initialise_leave=decoder/norm/*", NULL }, &said,
      NO_ERROR);
  REQUIRE (second != NULL);
  PlaitParameters *parameters = plait_model_parameters (trained->experiment_model->model);
  for (guint i = 0; i < plait_parameters_n (parameters); i++)
    {
      const char *name = plait_parameters_get (parameters, i)->name;

      CONTEXT ("%s", name);
      TEST_CHECK_OUTCOME (second, name, g_str_has_prefix (name, "decoder/norm/") ? "left" : "taken");
      if (!g_str_has_prefix (name, "decoder/norm/"))
        CHECK (test_is_same (second, trained->store, "last", name));
    }
  CHECK_CONTAINS (said, "/base.safetensors, ");
  CHECK_CONTAINS (said, "unused tensors of that file: 2: decoder/norm/gain, decoder/norm/bias\n");
}

/* A name map must exist, and can be used only with a file of weights. */
TEST_CASE (initialise, refuses_maps_that_do_not_belong)
{
  const struct
  {
    const char *initialise, *map, *part;
  } cases[] = {
    { "train.initialise=base.h5", "train.initialise_map=bart", "so train.initialise must name NAME.safetensors or" },
    { "train.initialise=", "train.initialise_map=bart", "so train.initialise must name NAME.safetensors or" },
    { "train.initialise=w.safetensors", "train.initialise_map=brat", "brat" },
    { "train.initialise=w.safetensors", "train.initialise_map=bart", "does not begin with '{'" },
    { "train.initialise=w.safetensors", "train.initialise_map=", "does not begin with '{'" },
  };
  const char *experiment = test_write_experiment ("tiny", NULL);
  const char *base = plait_test_path ("base.h5");

  CHECK (g_file_set_contents (base, "x", 1, NULL)
         && g_file_set_contents (plait_test_path ("w.safetensors"), "\2\0\0\0\0\0\0\0[]", 10, NULL));
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      GError *error = NULL;
      CONTEXT ("%s, %s", cases[i].initialise, cases[i].map);
      g_autoptr (PlaitStore) run = test_run_still (
          experiment, "none.h5", (const char *[]){ cases[i].initialise, cases[i].map, NULL }, NULL, &error);

      CHECK (!run);
      CHECK_ERROR (error, PLAIT_ERROR_INPUT, cases[i].part);
    }
}

/* Each stream has its own vocabulary. Vocabularies of a source and of the target are compared with those of the same
 * stream in the other run. */
TEST_CASE (initialise, compares_vocabularies_by_stream)
{
  static const char *const apart[]
      = { "data.vocabulary=separate", "decoder.share_embeddings=false", "train.updates=1", NULL };
  const char *experiment = test_write_experiment ("tiny", NULL);
  g_autoptr (PlaitStore) second = NULL;

  CHECK (test_run_with (experiment, apart, plait_test_path ("base.h5"), FALSE, NULL, NO_ERROR));
  second = test_run_still (experiment, "second.h5",
                           (const char *[]){ "train.initialise=base.h5", "data.vocabulary=separate",
                                             "decoder.share_embeddings=false", NULL },
                           NULL, NO_ERROR);
  REQUIRE (second != NULL);
  TEST_CHECK_OUTCOME (second, "source/a/embedding/table", "taken");
  TEST_CHECK_OUTCOME (second, "decoder/embedding/table", "taken");
  plait_store_free (g_steal_pointer (&second));
  second = test_run_still (
      experiment, "third.h5",
      (const char *[]){ "train.initialise=base.h5", "data.vocabulary=shared", "decoder.share_embeddings=false", NULL },
      NULL, NO_ERROR);
  REQUIRE (second != NULL);
  TEST_CHECK_OUTCOME (second, "source/a/embedding/table", "other vocabulary");
  TEST_CHECK_OUTCOME (second, "decoder/embedding/table", "other vocabulary");
}

TEST_CASE (initialise, goes_on_after_an_interruption_to_the_same_bits)
{
  const char *first = test_write_experiment ("tiny", NULL);
  const char *experiment = test_write_experiment ("second", "updates=5\ninitialise=base.h5");

  test_base_run (first);
  test_check_interruption (experiment, 3, 1);
}

static char *
key_of (const char *path, const char *const *overrides)
{
  g_autoptr (PlaitRegistry) registry = plait_registry_new ();
  g_autoptr (PlaitExperiment) experiment = test_load (path, overrides, registry, NO_ERROR);
  g_autoptr (PlaitDigests) digests = plait_digests_new (NULL, NULL);
  char *key = experiment ? plait_training_fingerprint (experiment, digests, NO_ERROR) : NULL;

  return key;
}

/* The fingerprint of a run depends on the bytes of the file that it begins with, not on the path of the file. */
TEST_CASE (initialise, the_key_knows_the_file_and_not_its_place)
{
  const char *experiment = test_write_experiment ("tiny", NULL);
  const char *one = plait_test_path ("one.h5");
  const char *two = plait_test_path ("two.h5");
  const char *from_one[] = { "train.initialise=one.h5", NULL };
  const char *from_two[] = { "train.initialise=two.h5", NULL };
  g_autofree char *none_key = key_of (experiment, NULL);
  g_autofree char *one_key = NULL;
  g_autofree char *moved_key = NULL;
  g_autofree char *other_key = NULL;

  CHECK (g_file_set_contents (one, "bytes", -1, NULL) && g_file_set_contents (two, "bytes", -1, NULL));
  one_key = key_of (experiment, from_one);
  moved_key = key_of (experiment, from_two);
  plait_test_write (two, "other");
  other_key = key_of (experiment, from_two);
  CHECK_STRING (moved_key, one_key);
  CHECK (g_strcmp0 (one_key, none_key) != 0);
  CHECK (g_strcmp0 (one_key, other_key) != 0);
}

static void
replace_file (int line, gpointer path)
{
  if (line == 1)
    plait_test_write (path, "what another training has made of it");
}

/* The file changes after the run has read it. The run stores the digest of the bytes that it has read. */
TEST_CASE (initialise, the_run_knows_the_file_as_it_was_read)
{
  const char *first = test_write_experiment ("tiny", NULL);
  const char *base_path = test_base_run (first);
  const char *experiment = test_write_experiment ("second", "initialise=base.h5");
  const char *output = plait_test_path ("second.h5");
  g_autofree char *digest = plait_digest_file (base_path, NULL);
  g_autoptr (PlaitLog) log = test_log_new (replace_file, (gpointer)base_path);

  CHECK (test_run (experiment, output, FALSE, 1, log, NULL, NO_ERROR));
  g_autoptr (PlaitStore) store = plait_store_open (output, NULL);
  g_autofree char *told = plait_store_get_string (store, "/data/initialise", "sha256", NULL);
  CHECK_STRING (told, digest);
}

TEST_CASE (initialise, says_that_the_file_has_changed_since)
{
  const char *first = test_write_experiment ("tiny", NULL);
  const char *base_path = test_base_run (first);
  const char *other = plait_test_path ("other.h5");
  const char *experiment = test_write_experiment ("second", "updates=1\ninitialise=base.h5");
  const char *output = plait_test_path ("second.h5");
  g_autofree char *bytes = NULL;
  gsize length;
  GError *error = NULL;

  CHECK (test_run (experiment, output, FALSE, 1, NULL, NULL, &error));
  CHECK (test_run_with (first, (const char *[]){ "train.updates=2", NULL }, other, FALSE, NULL, &error));
  CHECK (g_file_get_contents (other, &bytes, &length, NULL));
  plait_test_write_bytes (base_path, bytes, length);
  CHECK (!test_run (experiment, output, TRUE, 1, NULL, NULL, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "base.h5: this file of train.initialise has changed since");
}

static char *
difference_of (const char *path, const char *const *overrides, const char *run)
{
  g_autoptr (PlaitRegistry) registry = plait_registry_new ();
  g_autoptr (PlaitExperiment) experiment = test_load (path, overrides, registry, NO_ERROR);
  g_autoptr (PlaitDigests) digests = plait_digests_new (NULL, NULL);
  g_autoptr (PlaitStore) store = plait_store_open (run, NO_ERROR);
  char *difference = experiment && store ? plait_grid_difference (experiment, digests, store, NO_ERROR) : NULL;

  return difference;
}

/* If the initial file has changed, the grid names it as the reason to run a cell again. */
TEST_CASE (initialise, a_grid_says_what_it_would_begin_with_otherwise)
{
  static const char *const none[] = { "train.updates=1", NULL };
  static const char *const base[] = { "train.updates=1", "train.initialise=base.h5", NULL };
  const char *experiment = test_write_experiment ("tiny", NULL);
  const char *base_path = test_base_run (experiment);
  const char *random = plait_test_path ("random.h5");
  const char *second = plait_test_path ("second.h5");
  g_autofree char *first_difference = NULL;
  g_autofree char *second_difference = NULL;
  g_autofree char *third_difference = NULL;

  CHECK (test_run_with (experiment, none, random, FALSE, NULL, NO_ERROR));
  CHECK (test_run_with (experiment, base, second, FALSE, NULL, NO_ERROR));
  first_difference = difference_of (experiment, base, random);
  CHECK_STRING (first_difference, plait_test_format ("train.initialise was empty, is %s", base_path));
  second_difference = difference_of (experiment, none, second);
  CHECK_STRING (second_difference, plait_test_format ("train.initialise was %s, is empty", base_path));
  plait_test_write (base_path, "other");
  third_difference = difference_of (experiment, base, second);
  CHECK_STRING (third_difference, "the file of train.initialise has changed");
}

static void
write_store (const char *name, gboolean experiment)
{
  g_autoptr (PlaitStore) store = plait_store_create (plait_test_path (name), NULL);

  CHECK (plait_store_make_group (store, experiment ? "/other" : "/checkpoint", NULL));
  if (experiment)
    CHECK (plait_store_set_string (store, "/", "experiment", "[data]\n", NULL));
  CHECK (plait_store_commit (store, NULL));
}

TEST_CASE (initialise, refuses)
{
  static const struct
  {
    const char *overrides[3];
    int code;
    const char *part;
  } cases[] = {
    { { "train.initialise=nowhere.h5" }, PLAIT_ERROR_INPUT, "nowhere.h5 does not exist; name the file of a finished" },
    { { "train.initialise=." }, PLAIT_ERROR_INPUT, "is not a regular file; name the file of a finished run" },
    { { "train.initialise=text" }, PLAIT_ERROR_CORRUPT, "text: " },
    { { "train.initialise=bare.h5" }, PLAIT_ERROR_INPUT, "bare.h5 is not a run: it holds no experiment" },
    { { "train.initialise=untrained.h5" }, PLAIT_ERROR_INPUT, "untrained.h5 is not a run: it holds no checkpoint" },
    { { "train.initialise=flipped.h5" }, PLAIT_ERROR_CORRUPT, "flipped.h5" },
    { { "train.initialise=base.h5", "train.initialise_take=nothing" },
      PLAIT_ERROR_INPUT,
      "base.h5: train.initialise takes no parameter from this file: 0 parameters of this model are missing there" },
    { { "train.initialise=base.h5", "train.initialise_checkpoint=average" },
      PLAIT_ERROR_INPUT,
      "there is no checkpoint \"average\" (the checkpoints are: last, best); name one of them, or train" },
  };
  const char *experiment = test_write_experiment ("tiny", NULL);
  const char *base_path = plait_test_path ("base.h5");
  const char *output = plait_test_path ("second.h5");
  g_autofree char *bytes = NULL;
  gsize length;
  GError *error = NULL;

  CHECK (test_run_with (experiment, (const char *[]){ "train.updates=1", "train.average=0", NULL }, base_path, FALSE,
                        NULL, NO_ERROR));
  write_store ("bare.h5", FALSE);
  write_store ("untrained.h5", TRUE);
  plait_test_write ("text", "no HDF5\n");
  REQUIRE (g_file_get_contents (base_path, &bytes, &length, NULL));
  bytes[length / 2] ^= 1;
  plait_test_write_bytes ("flipped.h5", bytes, length);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      CONTEXT ("%s", cases[i].overrides[0]);

      CHECK (!test_run_with (experiment, cases[i].overrides, output, FALSE, NULL, &error));
      REQUIRE (error != NULL);
      CHECK_INT (error->code, cases[i].code);
      CHECK_CONTAINS (error->message, cases[i].part);
      CHECK (!plait_test_exists (output));
      g_clear_error (&error);
    }
}

/* Runs with a correct digest and wrong contents are refused: an experiment that is not a key-file, a parameter with a
 * NaN, and a group in place of a parameter. */
TEST_CASE (initialise, refuses_forged_runs)
{
  static const char parameter[] = "/checkpoint/last/parameters/decoder/norm/gain";
  const char *experiment = test_write_experiment ("tiny", NULL);
  const char *output = plait_test_path ("second.h5");
  const char *path = plait_test_path ("forged.h5");

  for (guint i = 0; i < 3; i++)
    {
      static const char *const parts[]
          = { "forged.h5:/@experiment:1: ", "decoder/norm/gain has values that are undefined or out of range",
              "takes no parameter from this file" };
      PlaitScalar values[8] = { 1, 1, 1, (PlaitScalar)NAN, 1, 1, 1, 1 };
      gint64 shape[] = { 1, 8 };
      g_autoptr (PlaitStore) store = plait_store_create (path, NULL);
      GError *error = NULL;
      CONTEXT ("forgery %u", i);

      CHECK (plait_store_set_string (store, "/", "experiment", i == 0 ? "no key-file" : "[data]\n", NULL));
      if (i < 2)
        CHECK (plait_store_write (store, parameter, PLAIT_STORE_SCALAR, 2, shape, values, PLAIT_STORE_PLAIN, NULL));
      else
        CHECK (plait_store_make_group (store, parameter, NULL));
      CHECK (plait_store_commit (store, NULL));
      CHECK (!test_run_with (experiment, (const char *[]){ "train.initialise=forged.h5", NULL }, output, FALSE, NULL,
                             &error));
      REQUIRE (error != NULL);
      CHECK_CONTAINS (error->message, parts[i]);
      g_clear_error (&error);
    }
}
