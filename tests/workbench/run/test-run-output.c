/* SPDX-License-Identifier: MIT */
#include "setup/run-output.h"

#include "files.h"
#include "harness.h"
#include "runs.h"

#include <glib/gstdio.h>
#include <unistd.h>

/* Tests of the file of a run: what the run may overwrite, other programs that write the file, and damage. */

TEST_CASE (run, refuses_to_write_over_a_run)
{
  const char *path = test_write_experiment ("tiny", "updates=2");
  const char *other = test_write_experiment ("other", "updates=2\nsmoothing=0.2");
  const char *output = plait_test_path ("run.h5");
  GError *error = NULL;

  CHECK (test_run (path, output, FALSE, 1, NULL, NULL, &error));
  CHECK (!test_run (path, output, FALSE, 1, NULL, NULL, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "exists: add --resume");
  CHECK (!test_run (other, output, TRUE, 1, NULL, NULL, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "train.smoothing was 0.1, is 0.2");
  CHECK (test_run (path, output, TRUE, 1, NULL, NULL, NO_ERROR));
}

typedef struct
{
  const char *path;
  const char *output;
  int line;
} Intruder;

/* Starts a second run, with another seed, that writes the file of the running one. A TestAtProgress. */
static void
run_beside (int line, gpointer data)
{
  const Intruder *intruder = data;
  g_autofree char *holder = g_strdup_printf ("run.h5: another plait run is writing this file (process %d on host %s)",
                                             (int)getpid (), g_get_host_name ());
  const char *overrides[] = { "experiment.seed=4", NULL };
  g_autoptr (GError) error = NULL;

  if (line != intruder->line)
    return;
  CHECK (!test_run_with (intruder->path, overrides, intruder->output, TRUE, NULL, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, holder);
}

TEST_CASE (run, keeps_a_second_run_out)
{
  const char *path = test_write_experiment ("tiny", NULL);
  const char *reference = plait_test_path ("reference.h5");
  const char *output = plait_test_path ("run.h5");
  Intruder intruder = { path, output, 9 };
  g_autoptr (PlaitLog) log = test_log_new (run_beside, &intruder);
  g_autoptr (GDir) folder = NULL;
  const char *name;

  CHECK (test_run (path, reference, FALSE, 1, NULL, NULL, NO_ERROR));
  CHECK (test_run (path, output, FALSE, 1, log, NULL, NO_ERROR));
  test_check_same_run (reference, output);
  folder = g_dir_open (plait_test_folder (), 0, NULL);
  while ((name = g_dir_read_name (folder)))
    CHECK (g_str_has_suffix (name, ".h5") || g_str_has_suffix (name, ".ini"));
}

static void
write_beside (int line, gpointer data)
{
  const Intruder *intruder = data;

  if (line == intruder->line)
    plait_test_write (intruder->output, "somebody's");
}

/* Another program replaces the file, before the first checkpoint, between checkpoints, or after the last checkpoint,
 * while the run is evaluated. A lock does not prevent that. */
TEST_CASE (run, leaves_the_file_of_another_program_alone)
{
  static const struct
  {
    const char *words;
    int line;
  } cases[] = { { "update ", 1 }, { "update ", 9 }, { "update ", 20 }, { "test: ", 1 } };
  const char *path = test_write_experiment ("tiny", "checkpoint_every=3");
  const char *output = plait_test_path ("run.h5");

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      CONTEXT ("at line %d with %s", cases[i].line, cases[i].words);
      Intruder intruder = { path, output, cases[i].line };
      g_autoptr (PlaitLog) log = test_log_new_at (cases[i].words, write_beside, &intruder);
      GError *error = NULL;

      g_unlink (output);
      CHECK (!test_run (path, output, FALSE, 1, log, NULL, &error));
      CHECK_ERROR (error, PLAIT_ERROR_INPUT, "run.h5: another program has written this file since the run began");
      const char *text = plait_test_read_text (output);
      CHECK_STRING (text, "somebody's");
    }
}

TEST_CASE (run, notices_a_flipped_byte_before_it_resumes)
{
  const char *path = test_write_experiment ("tiny", "updates=2");
  const char *output = plait_test_path ("run.h5");
  g_autofree char *bytes = NULL;
  gsize length;
  GError *error = NULL;

  CHECK (test_run (path, output, FALSE, 1, NULL, NULL, &error));
  CHECK (g_file_get_contents (output, &bytes, &length, NULL));
  for (guint i = 0; i < 20; i++)
    {
      gsize place = (gsize)plait_random_below (plait_random_key (9, "flip", NULL, 0), i, length);

      bytes[place] ^= 0x10;
      plait_test_write_bytes (output, bytes, length);
      bytes[place] ^= 0x10;
      CHECK (!test_run (path, output, TRUE, 1, NULL, NULL, &error));
      CHECK (error && (error->code == PLAIT_ERROR_CORRUPT || error->code == PLAIT_ERROR_INPUT));
      g_clear_error (&error);
    }
}
