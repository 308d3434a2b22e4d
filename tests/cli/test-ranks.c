/* SPDX-License-Identifier: MIT */
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>

#include "call.h"
#include "files.h"
#include "harness.h"
#include "tiny-grid.h"

/* Several processes that train one model, started as a user starts them. */

/* What a shell prints, and its exit code, where MPI may be run as root and by more processes than processors.
 * A container may forbid processes to read each other's memory. Open MPI leaves memory behind, and closes what took it,
 * so that no suppression knows its name. Two launchers at a time may fail over one folder in /tmp. mpirun does not wait
 * before it kills what a failed process leaves. */
static PlaitTestCall
shell (const char *command)
{
  g_autofree char *line = g_strconcat (
      "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 "
      "OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_odls_base_sigkill_timeout=0 "
      "OMPI_MCA_orte_tmpdir_base=\"$PWD\" "
      "ASAN_OPTIONS=\"$ASAN_OPTIONS:detect_leaks=0\"; ",
      command, NULL);

  return plait_test_call_shell (line);
}

#define SHELL(call, code_expected, command)                                                                            \
  PlaitTestCall call = shell (command);                                                                                \
  if (call.code != code_expected)                                                                                      \
    CHECK_STRING (call.errors, "");                                                                                    \
  CHECK_INT (call.code, code_expected)

static gboolean
is_absent (void)
{
  g_autofree char *mpirun = g_find_program_in_path ("mpirun");

  return !PLAIT_HAS_MPI || !mpirun;
}

#define SKIP_WITHOUT_MPI                                                                                               \
  if (is_absent ())                                                                                                    \
  SKIP_TEST ("there is no MPI: libopenmpi-dev, openmpi-bin")

/* TRUE if @call tells of one error, by the first process. */
static void
check_told_once (const PlaitTestCall *call, const char *part)
{
  CHECK_CONTAINS (call->errors, part);
  CHECK (strstr (call->errors, "error: ") == g_strrstr (call->errors, "error: "));
}

/* Small batches, so that some have fewer sentences than there are shards; four an epoch, of which three an update leave
 * one. */
#define SETTINGS                                                                                                       \
  " --set train.epochs=2 --set train.shards=5 --set train.batch=7 --set train.metric=chrf --set "                      \
  "train.validation_batch=1 "                                                                                          \
  "--set decode.batch=1 --threads 1 --quiet "
#define BUT_TIMES                                                                                                      \
  " --exclude-path /environment --exclude-path /contents --exclude-path /training/updates/seconds"                     \
  " --exclude-path /training/updates/target_tokens_per_second"                                                         \
  " --exclude-attribute /training/updates/step " /* which refers to the columns of times */

TEST_CASE (ranks, have_the_bits_of_one_process)
{
  SKIP_WITHOUT_MPI;
  plait_test_write_grid ("");
  for (guint accumulate = 1; accumulate <= 3; accumulate++)
    {
      g_autofree char *one
          = g_strdup_printf ("$PLAIT run tiny.ini" SETTINGS "--set train.accumulate=%u --force -o one.h5", accumulate);
      CONTEXT ("accumulate %u", accumulate);
      SHELL (alone, 0, one);

      for (guint n = accumulate; n <= 4; n += n)
        {
          g_autofree char *command
              = g_strdup_printf ("mpirun -n %u $PLAIT run tiny.ini" SETTINGS
                                 "--set train.accumulate=%u --force -o many.h5 && h5diff" BUT_TIMES "one.h5 many.h5",
                                 n, accumulate);
          CONTEXT ("%u processes", n);
          SHELL (together, 0, command);
        }
    }
}

TEST_CASE (ranks, tell_what_exchange_costs)
{
  SKIP_WITHOUT_MPI;
  plait_test_write_grid ("");
  SHELL (call, 0, "mpirun -n 2 $PLAIT run tiny.ini --set train.shards=2 --threads 1 -o told.h5");
  CHECK_CONTAINS (call.errors, "2 processes: ");
  CHECK_CONTAINS (call.errors, " of the updates' time for exchange");
  /* mpirun gives it a terminal, wherever that leads to. */
  CHECK (!strchr (call.output, '\033'));
  /* The first speaks, and it alone. */
  CHECK (strstr (call.errors, "told.h5 is complete") == g_strrstr (call.errors, "told.h5 is complete"));
}

/* mpirun says more, each time it ends. */
static void
check_refused (const char *command, const char *part)
{
  CONTEXT ("%s", command);
  SHELL (call, 2, command);

  check_told_once (&call, part);
  CHECK (!g_file_test (plait_test_format ("%s/refused.h5", plait_test_folder ()), G_FILE_TEST_EXISTS));
}

TEST_CASE (ranks, refuse_in_one_sentence)
{
  SKIP_WITHOUT_MPI;
  plait_test_write_grid ("");
  check_refused ("mpirun -n 2 $PLAIT run tiny.ini -o refused.h5", "train.shards is 1: a batch has no part for each");
  check_refused ("mpirun -n 1 $PLAIT run tiny.ini --set train.shards=2 -o refused.h5 : "
                 "-n 1 $PLAIT run tiny.ini --set train.shards=2 --set experiment.seed=2 -o refused.h5",
                 "is not what the first process has");
  check_refused ("mpirun -n 1 $PLAIT run tiny.ini --set train.shards=2 -o refused.h5 : "
                 "-n 1 $PLAIT run tiny.ini --set train.shards=2 --set decoder.combiner=flatt -o refused.h5",
                 "process 2 of 2: ");
  check_refused ("mpirun -n 2 $PLAIT run tiny.ini --dry-run", "--dry-run is for one");
  check_refused ("mpirun -n 2 $PLAIT run tiny.ini --outptu refused.h5", "did you mean \"--output\"?");
  check_refused ("mpirun -n 2 $PLAIT run tiny.ini --threads many", "--threads cannot be \"many\"");
  check_refused ("mpirun -n 2 $PLAIT-bench train tiny.ini --stepz 3", "did you mean \"--steps\"?");
  check_refused ("mpirun -n 2 $PLAIT-bench decode tiny.ini", "this mode is for one");
}

/* While gradients are on their way: they come to an end, and all tell of it. */
TEST_CASE (ranks, fail_together_in_an_update)
{
  SKIP_WITHOUT_MPI;
  plait_test_write_grid ("");
  SHELL (call, 1,
         "mpirun -n 2 $PLAIT run tiny.ini --set train.shards=2 --set decoder.width=512 --set train.memory=1 -o "
         "refused.h5");
  check_told_once (&call, "does not fit (");
}

TEST_CASE (ranks, diverge_together)
{
  SKIP_WITHOUT_MPI;
  plait_test_write_grid ("");
  SHELL (call, 1,
         "mpirun -n 2 $PLAIT run tiny.ini --set train.shards=2 --set train.learning_rate=1e6 --set train.warm_up=0 "
         "--set train.epochs=100 --quiet -o diverged.h5");
  check_told_once (&call, "training has diverged");
}

/* Weights that are used at each step of a recurrent decoder come to their gradients late. */
TEST_CASE (ranks, have_the_bits_of_one_process_with_a_recurrent_decoder)
{
  SKIP_WITHOUT_MPI;
  plait_test_write ("recurrent.ini", "[data]\ngenerate=agreement\ngenerate.train=24\ngenerate.validation=4\n"
                                     "generate.test=6\nvocabulary_type=words\n"
                                     "[source a]\nencoder=bigru\nwidth=8\n"
                                     "[decoder]\ntype=gru\nwidth=8\nstate_width=8\n[train]\nepochs=1\n"
                                     "[decode]\nbeam=2\nmaximum_length=8\n[evaluate]\nresamples=5\n");
  SHELL (call, 0,
         "$PLAIT run recurrent.ini" SETTINGS "-o one.h5 && mpirun -n 2 $PLAIT run recurrent.ini" SETTINGS
         "-o two.h5 && "
         "h5diff" BUT_TIMES "one.h5 two.h5");
}

/* mpirun ends all when it sees that one has failed, perhaps before the first has said why. Here the first stays until
 * the second has written its code down, since mpirun would end that one too. */
TEST_CASE (ranks, leave_word_and_code_to_the_first)
{
  SKIP_WITHOUT_MPI;
  plait_test_write_grid ("");
  plait_test_write ("second.sh", "$PLAIT run tiny.ini -o refused.h5\necho $? > code\n");
  plait_test_write ("first.sh", "$PLAIT run tiny.ini -o refused.h5\nown=$?\n"
                                "for again in $(seq 1000); do [ -s code ] && break; sleep .01; done\n"
                                "exit $own\n");
  check_refused ("mpirun -n 1 sh first.sh : -n 1 sh second.sh", "train.shards is 1");
  SHELL (code, 0, "cat code");
  CHECK_STRING (code.output, "0\n");
}

TEST_CASE (ranks, are_not_for_grids)
{
  plait_test_write_grid ("train.batch=7;8\n");
  SHELL (call, 2, "OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 $PLAIT grid tiny.ini --dry-run");
  CHECK_CONTAINS (call.errors, "2 processes were started together, but plait grid");
}

/* But for going on with a run, whose file all read. */
TEST_CASE (ranks, need_no_folder_in_common)
{
  SKIP_WITHOUT_MPI;
  plait_test_write_grid ("");
  SHELL (alone, 0, "$PLAIT run tiny.ini" SETTINGS "-o one.h5");
  SHELL (call, 0,
         "mpirun -n 1 $PLAIT run tiny.ini" SETTINGS "-o apart.h5 : "
         "-n 1 sh -c 'cd / && $PLAIT run $OLDPWD/tiny.ini" SETTINGS "-o apart.h5' && "
         "h5diff" BUT_TIMES "one.h5 apart.h5");
}

/* The last checkpoint is whole, and one process goes on with it to the bits of an undisturbed run. */
TEST_CASE (ranks, one_that_dies_ends_the_job)
{
#define LONG SETTINGS "--set train.epochs=12 --set train.validate_every=1 "
  SKIP_WITHOUT_MPI;
  plait_test_write_grid ("");
  SHELL (alone, 0, "$PLAIT run tiny.ini" LONG "-o one.h5");
  plait_test_write ("dies.sh", "$PLAIT run tiny.ini" LONG "-o dies.h5 & own=$!\n"
                               "while [ ! -e dies.h5 ]; do sleep .01; done\n"
                               "kill -9 $own\n"
                               "wait $own\n");
  SHELL (call, 137, "mpirun -n 1 $PLAIT run tiny.ini" LONG "-o dies.h5 : -n 1 sh dies.sh");
  SHELL (after, 0,
         "$PLAIT verify dies.h5 > verified && $PLAIT run tiny.ini" LONG "--resume -o dies.h5 && "
         "h5diff" BUT_TIMES "one.h5 dies.h5");
}

/* A signal to one of them reaches all, and the first tells of it. */
TEST_CASE (ranks, stop_together)
{
  SKIP_WITHOUT_MPI;
  plait_test_write_grid ("");
  plait_test_write ("stops.sh", "$PLAIT run tiny.ini" SETTINGS "--set train.epochs=1000000 -o stopped.h5 & own=$!\n"
                                "while [ ! -e stopped.h5 ]; do sleep .01; done\n"
                                "kill -TERM $own\n"
                                "wait $own\n");
  /* The launcher of Open MPI 4.1 has been seen to crash in libpmix when a process ends the job; it is asked again. */
  for (guint tries = 1, done = FALSE; !done; tries++)
    {
      PlaitTestCall call = shell ("rm -f stopped.h5; "
                                  "mpirun -n 1 $PLAIT run tiny.ini" SETTINGS
                                  "--set train.epochs=1000000 -o stopped.h5 : -n 1 sh stops.sh");

      done = tries == 5 || !strstr (call.errors, "libpmix");
      if (!done)
        continue;
      CHECK_INT (call.code, 130);
      check_told_once (&call, "process 1 of 2: interrupted after update");
    }
}
