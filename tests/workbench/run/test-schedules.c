/* SPDX-License-Identifier: MIT */
#include "files.h"
#include "harness.h"
#include "runs.h"
#include "tables/table.h"

/* Tests of schedules and of clipping in whole runs. */

/* Reads column @name of the training table of @store. (transfer full) (element-type double) */
static GArray *
read_column (PlaitStore *store, const char *name)
{
  const PlaitStoreField fields[] = { { name, PLAIT_STORE_DOUBLE, 0, NULL } };
  GArray *rows = g_array_new (FALSE, FALSE, sizeof (double));

  CHECK (plait_store_read_table (store, "/training/updates", fields, 1, 10000, rows, NO_ERROR));
  return rows;
}

#define PLATEAU "schedule=plateau\nplateau_patience=2\nplateau_factor=0.25\n"

/* Writes the tiny experiment with the further keys @more of [train] and the learning rate @rate, without warm-up, and
 * with a validation after every second update. Returns its path. (transfer none) */
static const char *
write_experiment (const char *name, const char *more, const char *rate)
{
  g_autofree char *content = NULL;
  g_autoptr (GString) text = NULL;

  CHECK (g_file_get_contents (test_write_experiment (name, more), &content, NULL, NULL));
  text = g_string_new (content);
  CHECK_INT (g_string_replace (text, "learning_rate=1\n", plait_test_format ("learning_rate=%s\n", rate), 0), 1);
  CHECK_INT (g_string_replace (text, "warm_up=10\n", "warm_up=0\n", 0), 1);
  CHECK_INT (g_string_replace (text, "validate_every=7\n", "validate_every=2\n", 0), 1);
  CHECK_INT (g_string_replace (text, "log_every=5\n", "log_every=1\n", 0), 1);
  return plait_test_write (plait_test_format ("%s.ini", name), text->str);
}

/* The learning rate is so small that nothing changes, so no validation is better than the first. The rate falls to a
 * quarter after the validations 3, 5, 7 and so on, that is from the updates 7, 11, 15 on, but not below the lowest
 * rate. */
TEST_CASE (schedules, plateau_falls_when_validation_stalls)
{
  static const char *const overrides[] = { "train.minimum_rate=1e-13", "train.updates=16", "train.epochs=0", NULL };
  g_autoptr (PlaitStore) store
      = test_run_open (write_experiment ("plateau", PLATEAU, "1e-12"), overrides, "plateau.h5");
  g_autoptr (GArray) rates = NULL;

  REQUIRE (store != NULL);
  rates = read_column (store, "learning_rate");
  REQUIRE (rates->len == 16);
  for (guint i = 0; i < 16; i++)
    {
      CONTEXT ("update %u", i + 1);
      CHECK_NEAR (g_array_index (rates, double, i), i < 6 ? 1e-12 : i < 10 ? 2.5e-13 : 1e-13, 1e-20);
    }
}

TEST_CASE (schedules, plateau_continues_with_the_same_bits)
{
  test_check_interruption (write_experiment ("plateau", PLATEAU, "1e-12"), 7, 2);
}

TEST_CASE (schedules, lion_continues_with_the_same_bits)
{
  test_check_interruption (write_experiment ("lion", "optimizer=lion\n", "0.001"), 3, 2);
}

/* The column clipped has the share of clipped gradients: 1 if the maximum norm is tiny, and 0 without a maximum. */
TEST_CASE (schedules, clipping_is_counted)
{
  static const char *const always[] = { "train.clip=1e-9", NULL }, *const never[] = { "train.clip=0", NULL };
  const char *path = test_write_experiment ("clip", NULL);

  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (PlaitStore) store = test_run_open (path, i == 0 ? always : never, "clip.h5");
      g_autoptr (GArray) clipped = store ? read_column (store, "clipped") : NULL;

      REQUIRE (clipped && clipped->len > 0);
      for (guint k = 0; k < clipped->len; k++)
        CHECK_NEAR (g_array_index (clipped, double, k), i == 0, 0);
      unlink (plait_test_path ("clip.h5"));
    }
}

TEST_CASE (schedules, refuse_in_words)
{
  static const struct
  {
    const char *overrides[3], *message;
  } cases[] = {
    { { "train.schedule=steps" }, "[train] rates: there are no rates; write pairs such as" },
    { { "train.schedule=steps", "train.rates=5:0.1" },
      "[train] rates: \"5:0.1\": the first step must be 1, and each later step must be above the previous step" },
    { { "train.rates=1:0.1" }, "[train] rates: gives rates for schedule=steps; set schedule=steps, or drop the key" },
  };
  const char *path = test_write_experiment ("refused", NULL);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;

      CHECK (!test_run_with (path, cases[i].overrides, plait_test_path ("refused.h5"), FALSE, NULL, &error));
      CHECK_ERROR (error, PLAIT_ERROR_INPUT, cases[i].message);
    }
}
