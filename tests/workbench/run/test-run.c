/* SPDX-License-Identifier: MIT */
#include "scoring/length-table.h"
#include "setup/trained.h"
#include "files.h"
#include "harness.h"
#include "runs.h"
#include "system.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs @path on one thread without an interruption. Returns the path of the run. (transfer none) */
static const char *
reference_run (const char *path)
{
  const char *output = plait_test_path ("reference.h5");

  CHECK (test_run (path, output, FALSE, 1, NULL, NULL, NO_ERROR));
  return output;
}

TEST_CASE (run, is_the_same_for_any_number_of_threads)
{
  const char *path = test_write_experiment_of_two ("tiny", NULL);
  const char *reference = reference_run (path);

  for (guint threads = 2; threads <= 3; threads++)
    {
      const char *output = plait_test_path ("threads.h5");
      CONTEXT ("%u threads", threads);

      g_unlink (output);
      CHECK (test_run (path, output, FALSE, threads, NULL, NULL, NO_ERROR));
      test_check_same_run (reference, output);
    }
}

typedef struct
{
  const char *path;
  const char *output;
  int line; /* number of the line of progress at which something is done to the run */
  gint stop;
} Disturbance;

static void
raise_stop (int line, gpointer data)
{
  Disturbance *disturbance = data;

  if (line == disturbance->line)
    g_atomic_int_set (&disturbance->stop, 1);
}

/* Returns the seconds that the run at @path stores for its training. */
static double
training_seconds (const char *path)
{
  g_autoptr (PlaitStore) store = plait_store_open (path, NULL);
  double seconds = -1;

  CHECK (store && plait_store_get_double (store, "/environment/training", "seconds", &seconds, NULL));
  return seconds;
}

/* Checks that a run which a signal's flag interrupts at one of several lines of progress continues to equal bits, and
 * that its time includes the time before the interruption. @more are lines of [train], or NULL. */
static void
check_interruptions (const char *more)
{
  const char *path = test_write_experiment_of_two ("tiny", more);
  const char *reference = reference_run (path);
  const char *output = plait_test_path ("interrupted.h5");
  const int lines[] = { 1, 6, 7, 13, 19 };

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++)
    {
      Disturbance disturbance = { path, output, lines[i], 0 };
      g_autoptr (PlaitLog) log = test_log_new (raise_stop, &disturbance);
      GError *error = NULL;
      double seconds;
      CONTEXT ("interrupted at line %d", lines[i]);

      g_unlink (output);
      CHECK (!test_run (path, output, FALSE, 1, log, &disturbance.stop, &error));
      CHECK_ERROR (error, PLAIT_ERROR_INTERRUPTED, "--resume continues");
      seconds = training_seconds (output);
      CHECK (test_run (path, output, TRUE, 1, NULL, NULL, NO_ERROR));
      CHECK (seconds > 0 && training_seconds (output) > seconds);
      test_check_same_run (reference, output);
    }
}

TEST_CASE (run, goes_on_after_an_interruption_as_if_nothing_had_happened)
{
  check_interruptions (NULL);
}

TEST_CASE (run, goes_on_after_an_interruption_with_adadelta_too)
{
  check_interruptions ("optimizer=adadelta");
}

static void
kill_here (int line, gpointer data)
{
  Disturbance *disturbance = data;

  if (line == disturbance->line)
    kill (getpid (), SIGKILL);
}

static void
run_and_die (const Disturbance *disturbance)
{
  pid_t child = fork ();
  int status;

  if (child == 0)
    {
      PlaitLog *log = test_log_new (kill_here, (gpointer)disturbance);

      test_run (disturbance->path, disturbance->output, TRUE, 1, log, NULL, NULL);
      _exit (0);
    }
  CHECK (waitpid (child, &status, 0) == child);
  CHECK (WIFSIGNALED (status) && WTERMSIG (status) == SIGKILL);
}

/* Checks that a run which is killed at any of the lines of progress @lines (0-terminated) continues from its last
 * checkpoint to equal bits. */
static void
check_kills (const char *more, const int *lines)
{
  const char *path = test_write_experiment ("tiny", more);
  const char *reference = reference_run (path);
  const char *output = plait_test_path ("killed.h5");

  for (; *lines; lines++)
    {
      Disturbance disturbance = { path, output, *lines, 0 };
      CONTEXT ("killed at line %d", *lines);

      g_unlink (output);
      run_and_die (&disturbance);
      CHECK (test_run (path, output, TRUE, 1, NULL, NULL, NO_ERROR));
      test_check_same_run (reference, output);
    }
}

/* The file is written after the lines of the updates 3, 6, 9 and so on, and at the validations after updates 7 and 14,
 * which are lines 8 and 16. The kills are at a line before the first write, and at a line after each write. A later
 * kill, before the next write, would leave an equal file. */
TEST_CASE (run, goes_on_after_a_kill_between_any_two_writes)
{
  static const int lines[] = { 1, 4, 7, 9, 11, 14, 17, 18, 21, 0 };

  check_kills ("checkpoint_every=3", lines);
}

TEST_CASE (run, goes_on_after_a_kill_with_adadelta_too)
{
  static const int lines[] = { 1, 5, 9, 13, 17, 0 };

  check_kills ("checkpoint_every=3\noptimizer=adadelta", lines);
}

/*
 * Kills the process that writes a checkpoint before each of its system calls and after the last one; between two calls
 * the disk does not change. For each call, the run forks a child at the line of progress before a checkpoint; the child
 * writes the checkpoint and is killed at the call.
 */
typedef struct
{
  const char *output;
  int calls; /* number of system calls that one checkpoint makes */
  int unchanged;
  int replaced;
  char *before; /* contents of the file before the checkpoint */
  gsize before_length;
  const char *kept; /* path of a second name (hard link) of the file */
} Writer;

enum
{
  COUNTED_LINE = 2,
  KILLED_LINE = 4,
};

/* Checks that the file is either the old one, byte by byte, or the complete new one. */
static void
check_what_is_left (Writer *writer)
{
  g_autofree char *bytes = NULL;
  gsize length;
  gint64 step = 0;
  g_autoptr (PlaitStore) store = NULL;

  CHECK (g_file_get_contents (writer->output, &bytes, &length, NULL));
  /* The old file is known to be valid, since the run continues from it below. */
  if (length == writer->before_length && memcmp (bytes, writer->before, length) == 0)
    {
      writer->unchanged++;
      return;
    }
  store = plait_store_open (writer->output, NO_ERROR);
  REQUIRE (store != NULL);
  CHECK (plait_store_get_int (store, "/checkpoint/last/state", "step", &step, NULL));
  CHECK_INT (step, KILLED_LINE);
  writer->replaced++;
}

static void
kill_writer (int line, gpointer data)
{
  Writer *writer = data;

  if (line == COUNTED_LINE)
    plait_test_system_begin (PLAIT_TEST_SYSTEM_COUNT, 0, 0);
  if (line == COUNTED_LINE + 1)
    writer->calls = plait_test_system_end ();
  if (line != KILLED_LINE)
    return;
  CHECK (g_file_get_contents (writer->output, &writer->before, &writer->before_length, NULL));
  writer->kept = plait_test_path ("kept");
  CHECK (link (writer->output, writer->kept) == 0);
  for (int i = 0; i <= writer->calls; i++)
    {
      gboolean behind = i == writer->calls;
      pid_t child = fork ();
      int status;
      CONTEXT ("killed %s call %d of %d", behind ? "after" : "before", behind ? i - 1 : i, writer->calls);

      if (child == 0)
        {
          /* Only the child gets here and returns to the run, which then writes the checkpoint. */
          plait_test_system_begin (behind ? PLAIT_TEST_SYSTEM_KILL_AFTER : PLAIT_TEST_SYSTEM_KILL_BEFORE,
                                   behind ? i - 1 : i, 0);
          return;
        }
      CHECK (waitpid (child, &status, 0) == child);
      check_what_is_left (writer);
      /* Restore the file by its second name, because the run would not write over a file with another inode. */
      CHECK (g_unlink (writer->output) == 0 && link (writer->kept, writer->output) == 0);
    }
}

TEST_CASE (run, survives_a_kill_at_every_call_of_the_checkpoint_writer)
{
  const char *path = test_write_experiment ("short", "updates=6\ncheckpoint_every=1");
  const char *reference = reference_run (path);
  const char *output = plait_test_path ("killed.h5");
  Writer writer = { .output = output };
  g_autoptr (PlaitLog) log = test_log_new (kill_writer, &writer);

  CHECK (test_run (path, output, FALSE, 1, log, NULL, NO_ERROR));
  CHECK (writer.calls > 50);
  CHECK (writer.unchanged > writer.calls / 2);
  CHECK (writer.replaced > 0);
  test_check_same_run (reference, output);
  /* The run continues from a file that a kill left, and gives equal bits. */
  plait_test_write_bytes (output, writer.before, writer.before_length);
  CHECK (test_run (path, output, TRUE, 1, NULL, NULL, NO_ERROR));
  test_check_same_run (reference, output);
  g_free (writer.before);
}

/* The disk is full at one system call. Then the run succeeds, or fails with an error that says so; in both cases it can
 * be continued to equal bits. */
TEST_CASE (run, keeps_the_old_checkpoint_when_the_disk_is_full)
{
  const char *path = test_write_experiment ("short", "updates=3\ncheckpoint_every=2");
  const char *reference = plait_test_path ("reference.h5");
  const char *output = plait_test_path ("full.h5");
  GError *error = NULL;
  int calls, failed = 0;

  plait_test_system_begin (PLAIT_TEST_SYSTEM_COUNT, 0, 0);
  CHECK (test_run (path, reference, FALSE, 1, NULL, NULL, &error));
  calls = plait_test_system_end ();
  for (int i = 0; i < calls; i += 131)
    {
      gboolean good;
      CONTEXT ("call %d of %d fails", i, calls);

      g_unlink (output);
      plait_test_system_begin (PLAIT_TEST_SYSTEM_FAIL, i, ENOSPC);
      good = test_run (path, output, FALSE, 1, NULL, NULL, &error);
      plait_test_system_end ();
      CHECK (good == !error);
      if (error)
        CHECK_CONTAINS (error->message, g_strerror (ENOSPC));
      g_clear_error (&error);
      failed += !good;
      CHECK (test_run (path, output, TRUE, 1, NULL, NULL, NO_ERROR));
      test_check_same_run (reference, output);
    }
  CHECK (failed > 5);
}

static void
count_lines (int line, gpointer data)
{
  *(int *)data = line;
}

/* If the output's folder does not exist, the run fails before training, not at its first checkpoint. */
TEST_CASE (run, says_before_training_that_its_place_takes_no_file)
{
  const char *path = test_write_experiment ("tiny", NULL);
  g_autoptr (GError) error = NULL;
  int lines = 0;
  g_autoptr (PlaitLog) log = test_log_new (count_lines, &lines);

  CHECK (!test_run_with (path, NULL, plait_test_path ("nowhere/run.h5"), FALSE, log, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "nowhere/run.h5");
  CHECK_INT (lines, 0);
}

/* The first update also allocates memory, so the log estimates the time that is left from the second update on. */
TEST_CASE (run, estimates_the_time_left_after_two_updates)
{
  static const struct
  {
    const char *words;
    int lines;
  } cases[] = { { "target tokens/s", 3 }, { "target tokens/s, ", 2 } };
  const char *path = test_write_experiment ("tiny", "updates=3");

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      int lines = 0;
      g_autoptr (PlaitLog) log = test_log_new_at (cases[i].words, count_lines, &lines);

      CHECK (test_run_with (path, NULL, plait_test_path (i == 0 ? "a.h5" : "b.h5"), FALSE, log, NO_ERROR));
      CHECK_INT (lines, cases[i].lines);
    }
}

/* The run stores the attention of more sentences than a batch of the search has. */
TEST_CASE (run, keeps_the_attention_of_many_sentences)
{
  static const char *const overrides[] = { "evaluate.attention=5", "decode.batch=2", "train.updates=1", NULL };
  const char *path = test_write_experiment ("tiny", NULL);
  g_autoptr (PlaitStore) store = test_run_open (path, overrides, "run.h5");
  g_autoptr (GError) error = NULL;

  REQUIRE (store != NULL);
  g_auto (GStrv) sentences = plait_store_members (store, "/attention/test-forced", &error);
  REQUIRE (sentences != NULL);
  CHECK_INT (g_strv_length (sentences), 5);
  CHECK_STRING (sentences[4], "4");
}

/* The file has the text of each source, next to the translations. */
TEST_CASE (run, keeps_the_text_of_its_sources)
{
  static const char *const overrides[] = { "train.updates=1", NULL };
  const char *path = test_write_experiment ("tiny", NULL);
  g_autoptr (PlaitStore) store = test_run_open (path, overrides, "run.h5");

  REQUIRE (store != NULL);
  g_auto (GStrv) sources = plait_store_members (store, "/evaluation/test/sources", NO_ERROR);
  REQUIRE (sources && sources[0]);
  for (char **source = sources; *source; source++)
    {
      g_autofree char *lines = g_strconcat ("/evaluation/test/sources/", *source, NULL);
      gint64 n = 0;
      g_auto (GStrv) text = plait_store_read_strings (store, lines, 10000, &n, NO_ERROR);

      CHECK_INT (n, 8);
      CHECK (text && *text[0] != '\0');
    }
}

/* For each metric, each of the eight sentences of the tiny corpus is in one bin. */
TEST_CASE (run, scores_by_length_of_the_source)
{
  static const char *const overrides[]
      = { "evaluate.length_bins=3;6;50", "evaluate.metrics=bleu;repetition", "train.updates=1", NULL };
  const char *path = test_write_experiment ("tiny", NULL);
  g_autoptr (PlaitStore) store = test_run_open (path, overrides, "run.h5");

  REQUIRE (store != NULL);
  g_autoptr (GArray) rows = plait_length_table_read (store, "/evaluation/test/length_bins", NO_ERROR);
  REQUIRE (rows != NULL);
  REQUIRE (rows->len == 8);
  for (guint m = 0; m < 2; m++)
    {
      gint64 sentences = 0;

      for (guint i = 0; i < 4; i++)
        {
          const PlaitLengthRow *row = &g_array_index (rows, PlaitLengthRow, 4 * m + i);

          CHECK_STRING (row->metric, m == 0 ? "bleu" : "repetition");
          CHECK (isnan (row->score) == (row->sentences == 0));
          sentences += row->sentences;
        }
      CHECK_INT (sentences, 8);
      CHECK_STRING (g_array_index (rows, PlaitLengthRow, 4 * m + 1).bin, "4-6");
      CHECK_INT (g_array_index (rows, PlaitLengthRow, 4 * m + 3).sentences, 0);
    }
  CHECK (plait_store_has (store, "/evaluation/test/metrics"));
  gint64 n = 0;
  g_autofree gint64 *larger = plait_store_get_list (store, "/evaluation/test/length_bins/score", "larger_is_better",
                                                    PLAIT_STORE_INT64, &n, NULL);
  REQUIRE (larger && n == 8);
  CHECK_INT (larger[0], 1);
  CHECK_INT (larger[7], 0);
}

/* Translating needs no text of the run, so no text is generated. */
TEST_CASE (run, is_opened_without_its_text)
{
  const char *path = test_write_experiment ("tiny", "updates=1");
  const char *output = reference_run (path);
  g_autofree char *said = NULL;
  size_t length = 0;
  FILE *stream = open_memstream (&said, &length);
  g_autoptr (PlaitLog) log = plait_log_new_with ((PlaitLogSettings){ .stream = stream, .now = g_get_monotonic_time });
  g_autoptr (PlaitTrained) trained = plait_trained_open (output, NULL, NULL, FALSE, log, NO_ERROR);

  REQUIRE (trained != NULL);
  CHECK (!*plait_run_inputs_files (trained->run_inputs, "test", "a"));
  CHECK (plait_run_inputs_generate (trained->run_inputs, NULL, NO_ERROR));
  CHECK (*plait_run_inputs_files (trained->run_inputs, "test", "a") != NULL);
  g_clear_pointer (&trained, plait_trained_free);
  g_clear_pointer (&log, plait_log_free);
  fclose (stream);
  CHECK_STRING (said, "");
}

/* A resumed run with other settings fails before it reads text, with one message about all differences. The message
 * leaves out settings that may differ, such as train.epochs of a finished run, and settings that follow from others. */
TEST_CASE (run, says_what_is_set_otherwise_than_in_the_run_that_goes_on)
{
  static const struct
  {
    const char *overrides[6];
    const char *told;
    gboolean unfinished;
  } cases[] = {
    { { "decoder.combiner=serial" }, "decoder.combiner was hierarchical, is serial" },
    { { "data.vocabulary=separate" }, "data.vocabulary was shared, is separate" },
    { { "train.learning_rate=2", "train.epochs=7", "train.updates=9", "train.log_every=1", "train.clip=3" },
      "train.learning_rate was 1, is 2; train.clip was 1, is 3" },
    { { "train.learning_rate=2", "train.epochs=7", "evaluate.resamples=3", "data.generate.test=4" },
      "train.epochs was 2, is 7; train.learning_rate was 1, is 2",
      TRUE },
    { { "experiment.sources=a", "source.a.layers=2" },
      "experiment.sources was a+b, is a; source.a.layers was 1, is 2" },
    { { "decoder.coverage=word", "decoder.type=gru" },
      "decoder.type was transformer, is gru; decoder.coverage was none, is word" },
  };
  const char *path = test_write_experiment_of_two ("tiny", "updates=1");
  const char *part = plait_test_path ("part.h5");
  const char *output = reference_run (path);
  g_autofree char *said = NULL;
  size_t length = 0;
  FILE *stream = open_memstream (&said, &length);
  g_autoptr (PlaitLog) log = plait_log_new_with ((PlaitLogSettings){ .stream = stream, .now = g_get_monotonic_time });
  GError *interrupted = NULL;
  gint stop = 1;

  CHECK (!test_run (path, part, FALSE, 1, NULL, &stop, &interrupted));
  CHECK_ERROR (interrupted, PLAIT_ERROR_INTERRUPTED, "update 0");
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *told = g_strdup_printf ("is a run of another experiment: %s; resume with", cases[i].told);
      g_autoptr (GError) error = NULL;
      CONTEXT ("case %u", i);

      CHECK (!test_run_with (path, cases[i].overrides, cases[i].unfinished ? part : output, TRUE, log, &error));
      CHECK_ERROR (error, PLAIT_ERROR_INPUT, told);
    }
  /* The log would say that text is generated and vocabularies are learnt. */
  g_clear_pointer (&log, plait_log_free);
  fclose (stream);
  CHECK_STRING (said, "");
}

/* Training ended within an epoch, at a validation that longer training would not have made. */
TEST_CASE (run, warns_of_a_validation_that_a_break_added)
{
  const char *path = test_write_experiment ("tiny", NULL), *output = plait_test_path ("longer.h5");
  g_autofree char *said = NULL;
  size_t length = 0;
  FILE *stream = open_memstream (&said, &length);
  g_autoptr (PlaitLog) log = plait_log_new_with ((PlaitLogSettings){ .stream = stream, .now = g_get_monotonic_time });

  CHECK (test_run_with (path, (const char *[]){ "train.updates=3", NULL }, output, FALSE, NULL, NO_ERROR));
  CHECK (test_run_with (path, (const char *[]){ "train.updates=4", NULL }, output, TRUE, log, NO_ERROR));
  g_clear_pointer (&log, plait_log_free);
  fclose (stream);
  CHECK_CONTAINS (said, "ended with a validation that one long training would not make; the checkpoint last is "
                        "that of one long training, but the checkpoints best and average count this validation too");
}

/* The message names the memory that the batch needs, and the key to lower. */
TEST_CASE (run, names_the_batch_that_does_not_fit)
{
  const char *path = test_write_experiment_of_two ("large", "memory=1\nbatch_unit=tokens\n");
  g_auto (GStrv) parts = NULL;
  g_autofree char *whole = NULL;
  GError *error = NULL;

  const char *text = plait_test_read_text (path);
  parts = g_strsplit (text, "batch=6\n", 2);
  whole = g_strjoinv ("batch=9999\n", parts);
  plait_test_write (path, whole);
  CHECK (!test_run (path, plait_test_path ("run.h5"), FALSE, 1, NULL, NULL, &error));
  REQUIRE (error != NULL);
  CHECK_CONTAINS (error->message, "needs about ");
  CHECK_ERROR (error, PLAIT_ERROR_MEMORY, "lower train.batch");
}
