/* SPDX-License-Identifier: MIT */
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "files.h"
#include "harness.h"
#include "grids.h"

/* Tests of several processes that train one model, started by mpirun. */

/* Runs a shell command with MPI variables that allow root and more processes than processors. Containers may forbid a
 * process to read the memory of another, so MPI does not try it. Open MPI leaks memory of libraries that it has closed,
 * so leaks are not checked. Each launcher gets its own temporary folders, since two launchers may disturb each other in
 * /tmp or /dev/shm. mpirun kills the remaining processes without waiting. */
static PlaitTestCall
shell (const char *command)
{
  g_autofree char *line = g_strconcat (
      "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 "
      "OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_odls_base_sigkill_timeout=0 "
      "OMPI_MCA_orte_tmpdir_base=\"$PWD\" OMPI_MCA_btl_vader_backing_directory=\"$PWD\" "
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

/* Checks that the processes of @call printed one error in all, and @part. */
static void
check_told_once (const PlaitTestCall *call, const char *part)
{
  CHECK_CONTAINS (call->errors, part);
  CHECK (strstr (call->errors, "error: ") == g_strrstr (call->errors, "error: "));
}

/* Settings with small batches, some of which have fewer sentences than shards. An epoch has four batches; if an update
 * takes three, one is left. */
#define SETTINGS                                                                                                       \
  " --set train.epochs=2 --set train.shards=5 --set train.batch=7 --set train.metric=chrf --set "                      \
  "train.validation_batch=1 "                                                                                          \
  "--set decode.batch=1 --threads 1 --quiet "
#define BUT_TIMES                                                                                                      \
  " --exclude-path /environment --exclude-path /contents --exclude-path /training/updates/seconds"                     \
  " --exclude-path /training/updates/target_tokens_per_second"                                                         \
  " --exclude-attribute /training/updates/step " /* this attribute refers to the columns of times */

/* Checks that a launch exits with 2, writes no refused.h5, and prints one error, with @part. mpirun itself prints
 * further lines when a process fails. */
static void
check_launch_refused (const char *command, const char *part)
{
  CONTEXT ("%s", command);
  SHELL (call, 2, command);

  check_told_once (&call, part);
  CHECK (!plait_test_exists ("refused.h5"));
}

/* Commands for the cases below. One launch of two processes runs all of them (ranks-server.c). The output of a command
 * is NAME.h5. */
static const struct
{
  const char *name;
  const char *first;
  const char *second; /* command of the second process; NULL: the command of the first */
  const char *same;   /* file with whose bits the output is compared, or NULL */
} served[] = {
  { "recurrent", "run recurrent.ini" SETTINGS "-o recurrent.h5", NULL, "alone-recurrent.h5" },
  { "tags", "run tags.ini" SETTINGS "-o tags.h5", NULL, "alone-tags.h5" },
  { "few-shards", "run tiny.ini -o few-shards.h5" },
  { "two-experiments", "run tiny.ini --set train.shards=2 -o two-experiments.h5",
    "run tiny.ini --set train.shards=2 --set experiment.seed=2 -o two-experiments.h5" },
  { "second-fails", "run tiny.ini --set train.shards=2 -o second-fails.h5",
    "run tiny.ini --set train.shards=2 --set decoder.combiner=flatt -o second-fails.h5" },
  { "dry-run", "run tiny.ini --dry-run" },
  { "no-option", "run tiny.ini --outptu no-option.h5" },
  { "no-number", "run tiny.ini --threads many -o no-number.h5" },
  { "too-large", "run tiny.ini --set train.shards=2 --set decoder.width=512 --set train.memory=1 -o too-large.h5" },
  { "one-too-large", "run tiny.ini --set train.shards=2 --set decoder.width=512 -o one-too-large.h5",
    "run tiny.ini --set train.shards=2 --set decoder.width=512 --set train.memory=1 -o one-too-large.h5" },
  { "diverges", "run tiny.ini --set train.shards=2 --set train.learning_rate=1e6 --set train.warm_up=0 "
                "--set train.epochs=100 --quiet -o diverges.h5" },
};

typedef struct
{
  int codes[2];
  char *errors;          /* stderr of both processes together */
  gboolean second_spoke; /* TRUE: the second process printed an error */
  gboolean written;
  char *difference; /* difference between the output and the file same; NULL if they were not compared */
} Served;

static void
serve (guint n, const char *commands)
{
  const char *server = plait_test_build_path ("tests/cli/ranks-server");

  plait_test_write ("commands", commands);
  SHELL (call, 0, plait_test_format ("mpirun -n %u '%s' commands > served", n, server));
}

static int
code_of (const char *name, guint rank)
{
  return atoi (plait_test_read_text (plait_test_format ("%s.%u.code", name, rank)));
}

static const char *
difference (const char *one, const char *other)
{
  return shell (plait_test_format ("h5diff" BUT_TIMES "%s %s 2>&1; echo $?", one, other)).output;
}

/* Writes an experiment that predicts tags too. */
static void
write_tags (void)
{
  g_autoptr (GString) words = g_string_new (NULL), tags = g_string_new (NULL);

  for (guint i = 0; i < 24; i++)
    {
      g_string_append_printf (words, "w%u w%u\n", i % 7, i % 5);
      g_string_append_printf (tags, "T%u T%u\n", i % 7 % 2, i % 5 % 2);
    }
  plait_test_write ("words", words->str);
  plait_test_write ("signs", tags->str);
  plait_test_write ("tags.ini", "[data]\nvocabulary_type=words\ntarget=t\ntrain.a=words\ntrain.t=words\n"
                                "train.a.tag=signs\nvalidation.a=words\nvalidation.t=words\nvalidation.a.tag=signs\n"
                                "test.a=words\ntest.t=words\ntest.a.tag=signs\n"
                                "[source a]\nencoder=transformer\nlayers=1\ntags=tag\n"
                                "[decoder]\nwidth=8\nheads=2\n[decode]\nbeam=2\nmaximum_length=5\n"
                                "[evaluate]\nresamples=5\n");
}

/* Runs all commands of the table served in one launch. */
static void
launch (Served *found)
{
  g_autoptr (GString) commands = g_string_new (NULL);

  plait_test_write_grid ("");
  plait_test_write ("recurrent.ini", "[data]\ngenerate=agreement\ngenerate.train=24\ngenerate.validation=4\n"
                                     "generate.test=6\nvocabulary_type=words\n"
                                     "[source a]\nencoder=bigru\nwidth=8\n"
                                     "[decoder]\ntype=gru\nwidth=8\nstate_width=8\n[train]\nepochs=1\n"
                                     "[decode]\nbeam=2\nmaximum_length=8\n[evaluate]\nresamples=5\n");
  write_tags ();
  for (guint i = 0; i < G_N_ELEMENTS (served); i++)
    g_string_append_printf (commands, "%s\tplait %s\tplait %s\n", served[i].name, served[i].first,
                            served[i].second ? served[i].second : served[i].first);
  serve (2, commands->str);
  SHELL (alone, 0, "$PLAIT run recurrent.ini" SETTINGS "-o alone-recurrent.h5");
  SHELL (tagged, 0, "$PLAIT run tags.ini" SETTINGS "-o alone-tags.h5");
  for (guint i = 0; i < G_N_ELEMENTS (served); i++)
    {
      const char *output = plait_test_format ("%s.h5", served[i].name), *errors[2];

      for (guint rank = 0; rank < 2; rank++)
        {
          found[i].codes[rank] = code_of (served[i].name, rank);
          errors[rank] = plait_test_read_text (plait_test_format ("%s.%u.errors", served[i].name, rank));
        }
      found[i].errors = g_strconcat (errors[0], errors[1], NULL);
      found[i].second_spoke = strstr (errors[1], "error: ") != NULL;
      found[i].written = plait_test_exists (output);
      found[i].difference = served[i].same ? g_strdup (difference (served[i].same, output)) : NULL;
    }
}

/* Returns the result of the command @name. The first call launches all commands. */
static const Served *
find_served (const char *name)
{
  static Served found[G_N_ELEMENTS (served)];

  if (!found[0].errors)
    launch (found);
  for (guint i = 0; i < G_N_ELEMENTS (served); i++)
    if (g_str_equal (served[i].name, name))
      return &found[i];
  g_assert_not_reached ();
}

/* Checks that the first process failed with exit code @code and printed the only error, with @part, and that the second
 * ended with 0. */
static void
check_failed (const char *name, int code, const char *part)
{
  const Served *run = find_served (name);
  PlaitTestCall call = { run->codes[0], "", run->errors };
  CONTEXT ("%s", name);

  CHECK_INT (run->codes[0], code);
  CHECK_INT (run->codes[1], 0);
  CHECK (!run->second_spoke);
  check_told_once (&call, part);
}

static void
check_refused (const char *name, const char *part)
{
  check_failed (name, 2, part);
  CHECK (!find_served (name)->written);
}

TEST_CASE (ranks, have_the_bits_of_one_process)
{
#define ACCUMULATE(n) "\tplait run tiny.ini" SETTINGS "--set train.accumulate=" n " --force -o many-" n ".h5\n"
  static const struct
  {
    guint processes;
    const char *commands;
    guint accumulate[2];
  } cases[] = {
    { 1, "one" ACCUMULATE ("1"), { 1 } },
    { 2, "one" ACCUMULATE ("1") "two" ACCUMULATE ("2"), { 1, 2 } },
    { 3, "three" ACCUMULATE ("3"), { 3 } },
    { 4, "one" ACCUMULATE ("1") "two" ACCUMULATE ("2"), { 1, 2 } },
  };

  SKIP_WITHOUT_MPI;
  plait_test_write_grid ("");
  for (guint accumulate = 1; accumulate <= 3; accumulate++)
    {
      SHELL (alone, 0,
             plait_test_format ("$PLAIT run tiny.ini" SETTINGS "--set train.accumulate=%u -o one-%u.h5", accumulate,
                                accumulate));
    }
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      CONTEXT ("%u processes", cases[i].processes);

      serve (cases[i].processes, cases[i].commands);
      for (guint k = 0; k < 2 && cases[i].accumulate[k] > 0; k++)
        {
          guint accumulate = cases[i].accumulate[k];
          CONTEXT ("accumulate %u", accumulate);

          CHECK_STRING (
              difference (plait_test_format ("one-%u.h5", accumulate), plait_test_format ("many-%u.h5", accumulate)),
              "0\n");
        }
    }
}

/* Each process translates a part of the sentences. The words that replace unknown ones reach the other processes with
 * the translations. */
TEST_CASE (ranks, exchange_the_words_of_translations)
{
#define UNKNOWN SETTINGS "--set data.vocabulary_type=words --set data.vocabulary_size=6 --set decode.unknown="
  SKIP_WITHOUT_MPI;
  plait_test_write_grid ("");
  SHELL (kept, 0, "$PLAIT run tiny.ini" UNKNOWN "keep -o kept.h5 && $PLAIT show kept.h5 /evaluation/test/hypotheses");
  SHELL (alone, 0,
         "$PLAIT run tiny.ini" UNKNOWN "replace -o alone.h5 && $PLAIT show alone.h5 /evaluation/test/hypotheses");
  SHELL (both, 0, "mpirun -n 2 $PLAIT run tiny.ini" UNKNOWN "replace -o both.h5");

  CHECK_CONTAINS (kept.output, "<unk>");
  CHECK (!strstr (alone.output, "<unk>"));
  CHECK_STRING (difference ("alone.h5", "both.h5"), "0\n");
}

TEST_CASE (ranks, tell_what_exchange_costs)
{
  SKIP_WITHOUT_MPI;
  plait_test_write_grid ("");
  SHELL (call, 0, "mpirun -n 2 $PLAIT run tiny.ini --set train.shards=2 --threads 1 -o told.h5");
  CHECK_CONTAINS (call.errors, "2 processes: ");
  CHECK_CONTAINS (call.errors, " of the updates' time was spent on communication");
  /* mpirun gives the process a terminal even if its own output is a pipe. The output must not have colours. */
  CHECK (!strchr (call.output, '\033'));
  /* Only the first process logs. */
  CHECK (strstr (call.errors, "told.h5 is complete") == g_strrstr (call.errors, "told.h5 is complete"));
}

TEST_CASE (ranks, refuse_in_one_sentence)
{
  SKIP_WITHOUT_MPI;
  check_refused ("few-shards", "train.shards is 1: each process needs a shard");
  check_refused ("two-experiments", "differs from the first process in plait, plugins, data or the run to continue");
  check_refused ("second-fails", "process 2 of 2: ");
  check_refused ("dry-run", "--dry-run runs as one");
  check_refused ("no-option", "did you mean \"--output\"?");
  check_refused ("no-number", "--threads cannot be \"many\"");
  plait_test_write_grid ("");
  check_launch_refused ("mpirun -n 2 $PLAIT-bench train tiny.ini --stepz 3", "did you mean \"--steps\"?");
  check_launch_refused ("mpirun -n 2 $PLAIT-bench decode tiny.ini", "this mode runs as one");
}

/* An update needs more memory than train.memory allows to both processes, or only to the second: the exchange of
 * gradients ends, and both processes end. */
TEST_CASE (ranks, fail_together_in_an_update)
{
  SKIP_WITHOUT_MPI;
  check_failed ("too-large", 1, "error: a batch of ");
  check_failed ("one-too-large", 1, "error: process 2 of 2: a batch of ");
}

TEST_CASE (ranks, diverge_together)
{
  SKIP_WITHOUT_MPI;
  check_failed ("diverges", 1, "training has diverged");
}

static void
check_same (const char *name)
{
  const Served *run = find_served (name);
  CONTEXT ("%s", run->errors);

  CHECK_INT (run->codes[0], 0);
  CHECK_INT (run->codes[1], 0);
  CHECK_STRING (run->difference, "0\n");
}

/* A recurrent decoder uses its weights at each step, so their gradients are complete late; they must still be exchanged
 * right. */
TEST_CASE (ranks, have_the_bits_of_one_process_with_a_recurrent_decoder)
{
  SKIP_WITHOUT_MPI;
  check_same ("recurrent");
}

TEST_CASE (ranks, have_the_bits_of_one_process_with_tags)
{
  SKIP_WITHOUT_MPI;
  check_same ("tags");
}

/* Only the first process exits with an error, because mpirun ends all processes when one has failed, possibly before
 * the first has printed its error. Here the first process waits until the second has written its exit code. */
TEST_CASE (ranks, leave_word_and_code_to_the_first)
{
  SKIP_WITHOUT_MPI;
  plait_test_write_grid ("");
  plait_test_write ("second.sh", "$PLAIT run tiny.ini -o refused.h5\necho $? > code\n");
  plait_test_write ("first.sh", "$PLAIT run tiny.ini -o refused.h5\nown=$?\n"
                                "for again in $(seq 1000); do [ -s code ] && break; sleep .01; done\n"
                                "exit $own\n");
  check_launch_refused ("mpirun -n 1 sh first.sh : -n 1 sh second.sh", "train.shards is 1");
  SHELL (code, 0, "cat code");
  CHECK_STRING (code.output, "0\n");
}

TEST_CASE (ranks, are_not_for_grids)
{
  plait_test_write_grid ("train.batch=7;8\n");
  SHELL (call, 2, "OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 $PLAIT grid tiny.ini --dry-run");
  CHECK_CONTAINS (call.errors, "2 processes were started together, but plait grid");
}

/* Processes need no common folder, except for resuming, since all of them then read the run's file. */
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

/* One process dies and the job ends. The last checkpoint is valid, and one process resumes it to the bits of an
 * uninterrupted run. */
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

/* A signal to one process stops all processes, and the first one logs it. */
TEST_CASE (ranks, stop_together)
{
  SKIP_WITHOUT_MPI;
  plait_test_write_grid ("");
  plait_test_write ("stops.sh", "$PLAIT run tiny.ini" SETTINGS "--set train.epochs=1000000 -o stopped.h5 & own=$!\n"
                                "while [ ! -e stopped.h5 ]; do sleep .01; done\n"
                                "kill -TERM $own\n"
                                "wait $own\n");
  /* mpirun of Open MPI 4.1 sometimes crashes in libpmix when a process ends the job. Then try again. */
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
