/* SPDX-License-Identifier: MIT */
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "files/lock.h"
#include "files/memory.h"
#include "call.h"
#include "files.h"
#include "harness.h"
#include "grids.h"

/* Tests of running the cells of a grid one by one, as schedulers do, and of submission to Slurm. */

/* A folder name that a shell must quote. */
#define FOLDER "the cells' \"$HOME\" 100%"

/* Runs the command line @line in another folder, as a scheduler does. */
static void
run_line (const char *line)
{
  g_autofree char *elsewhere = g_strconcat ("cd /; ", line, NULL);
  DONE (plait_test_call_shell (elsewhere));
}

/* Returns @table without the column of speed, the last one. (transfer full) */
static char *
remove_speed (const char *table)
{
  g_autoptr (GRegex) speed = g_regex_new (" +[0-9]+$", G_REGEX_MULTILINE, 0, NO_ERROR);

  CHECK (g_regex_match (speed, table, 0, NULL));
  return g_regex_replace_literal (speed, table, -1, 0, "", 0, NO_ERROR);
}

/* Running the printed lines gives the table of plait grid, except for the speed. Cells with equal training share one
 * line. */
TEST_CASE (command_grid, prints_lines_that_any_scheduler_runs)
{
  plait_test_write_grid ("experiment.seed=1;2\ndecode.beam=1;2\n");
  PlaitTestCall whole = CALL ("grid", "tiny.ini", "--quiet", "--jobs", "1", "--threads", "1");
  PlaitTestCall printed = DONE (START ("grid", "tiny.ini", "--output", FOLDER, "--commands", "--threads", "1",
                                       "--retries", "2", "--time", "30m", "--set", "experiment.name=a name"));
  PlaitTestCall without
      = DONE (CALL ("grid", "tiny.ini", "--output", FOLDER, "--commands", "--unset", "decoder.width"));
  g_auto (GStrv) lines = g_strsplit (printed.output, "\n", -1);

  CHECK (!plait_test_exists (FOLDER));
  REQUIRE (g_strv_length (lines) == 3);
  CHECK_CONTAINS (lines[0], " --set 'experiment.name=a name' --jobs 1 --threads 1 --time 1800s --retries 2 --cell "
                            "seed-1_beam-1-");
  CHECK_CONTAINS (lines[0], " --cell seed-1_beam-2-");
  CHECK_CONTAINS (without.output, " --unset decoder.width --jobs ");
  run_line (lines[1]);
  CHECK (!plait_test_exists (FOLDER "/grid.h5"));

  PlaitTestCall half = CALL ("grid", "tiny.ini", "--output", FOLDER, "--collect", "--set", "experiment.name=a name");
  CHECK_INT (half.code, 1);
  CHECK_CONTAINS (half.errors, "the cell experiment.seed=1 decode.beam=1 failed: no process has begun it");
  CHECK_CONTAINS (half.errors, "error: 2 of 4 cells failed");
  CHECK_CONTAINS (half.errors, "and the same command without --collect runs them\n");
  run_line (lines[0]);
  run_line (lines[0]);
  PlaitTestCall all
      = DONE (CALL ("grid", "tiny.ini", "--output", FOLDER, "--collect", "--quiet", "--set", "experiment.name=a name"));
  g_autofree char *expected = remove_speed (whole.output), *table = remove_speed (all.output);
  CHECK_STRING (table, expected);

  PlaitTestCall none = START ("grid", "tiny.ini", "--output", FOLDER, "--commands", "--set", "experiment.name=a name");
  CHECK_STRING (none.output, "");
  CHECK_CONTAINS (none.errors, FOLDER ": no cell is left to run");
}

/* Returns the number of validations in all logs in @folder whose names begin with @cell. */
static guint
count_validations (const char *folder, const char *cell)
{
  g_autoptr (GDir) directory = g_dir_open (plait_test_path (folder), 0, NULL);
  const char *name;
  guint n = 0;

  while (directory && (name = g_dir_read_name (directory)))
    if (g_str_has_prefix (name, cell) && g_str_has_suffix (name, ".jsonl"))
      {
        g_autofree char *file = g_build_filename (folder, name, NULL);
        const char *text = plait_test_read_text (file);
        g_auto (GStrv) parts = g_strsplit (text, "{\"table\": \"validation\", \"step\": ", -1);

        n += g_strv_length (parts) - 1;
      }
  return n;
}

/* Writes the shell script @script as the program bin/@name. */
static void
stand_in (const char *name, const char *script)
{
  g_autofree char *file = g_strconcat ("bin/", name, NULL);

  plait_test_make_folder ("bin");
  plait_test_write (file, plait_test_format ("#!/bin/sh\n%s", script));
  CHECK_INT (g_chmod (plait_test_path (file), 0755), 0);
}

/* Installs a fake Slurm in front of PATH. sbatch logs its arguments in words and its input in script, counts its calls
 * as $n, and runs the script @sbatch. scancel logs its first argument in cancelled; squeue prints the file queue. */
static void
stand_in_slurm (const char *sbatch)
{
  g_autofree char *script
      = g_strdup_printf ("printf '%%s\\n' \"$@\" >> words\ncat >> script\nn=$(cat number 2> /dev/null)\n"
                         "n=$((n + 1))\necho $n > number\n%s\n",
                         sbatch);

  stand_in ("scontrol", "echo 'MaxArraySize            = 2'\n");
  stand_in ("squeue", "cat queue 2> /dev/null; true\n");
  stand_in ("scancel", "echo \"$1\" >> cancelled\n");
  stand_in ("sbatch", script);
  g_setenv ("PATH", plait_test_format ("%s:/usr/bin:/bin", plait_test_path ("bin")), TRUE);
}

/* Each trained cell writes a training log, whether plait grid, a printed line or Slurm runs it. Of cells with equal
 * training, one is trained. */
TEST_CASE (command_grid, tells_of_training_as_run_does)
{
  const char *logs = plait_test_path ("its logs");

  plait_test_write_grid ("experiment.seed=1;2\ndecode.beam=1;2\n");
  PlaitTestCall run = CALL ("grid", "tiny.ini", "-q", "--jobs", "2", "--log", "a/logs");
  CHECK_STRING (run.errors, "");
  CHECK_INT (count_validations ("a/logs", "seed-1_"), 1);
  CHECK_INT (count_validations ("a/logs", "seed-2_"), 1);

  PlaitTestCall printed = START ("grid", "tiny.ini", "--output", FOLDER, "--commands", "--log", "its logs");
  g_auto (GStrv) lines = g_strsplit (printed.output, "\n", -1);
  REQUIRE (g_strv_length (lines) == 3);
  CHECK_CONTAINS (lines[0], plait_test_format (" --log '%s' ", logs));
  run_line (lines[1]);
  CHECK_INT (count_validations ("its logs", "seed-1_"), 0);
  CHECK_INT (count_validations ("its logs", "seed-2_"), 1);

  stand_in_slurm ("echo $n");
  DONE (CALL ("grid", "tiny.ini", "--output", "submitted", "--executor", "slurm", "--log", "its logs"));
  g_auto (GStrv) logged = g_strsplit (plait_test_read_text ("script"), plait_test_format (" --log '%s' ", logs), -1);
  CHECK_INT (g_strv_length (logged) - 1, 2);

  CHECK_REFUSED (CALL ("grid", "tiny.ini", "--output", "other", "--log", "tiny.ini"),
                 "--log tiny.ini: the folder for a log of each cell cannot be made (");
  PlaitTestCall collect = CALL ("grid", "tiny.ini", "--collect", "--log", "logs");
  CHECK_REFUSED (CALL ("grid", "tiny.ini", "--output", "other", "--commands", "--log", "a\nb"),
                 "a path or a value of --set contains a line break");
  CHECK_REFUSED (collect, "--log writes a log of training, but --collect trains nothing; leave --log out");
  CHECK (!plait_test_exists ("other"));
}

TEST_CASE (command_grid, runs_a_cell_in_one_process_alone)
{
  g_autofree char *place = NULL;
  g_autoptr (PlaitLock) lock = NULL;

  plait_test_write_grid ("experiment.seed=1;2\n");
  PlaitTestCall one = DONE (CALL ("grid", "tiny.ini", "--cell", "experiment.seed=1"));
  CHECK_CONTAINS (one.errors, "experiment.seed=1 begins");
  PlaitTestCall plan = CALL ("grid", "tiny.ini", "--dry-run");
  CHECK_CONTAINS (plan.output, "1 that\nran and 0 whose speed was measured now; memory of a cell at most ");
  PlaitTestCall again = DONE (CALL ("grid", "tiny.ini", "--cell", "experiment.seed=1", "--cell", "experiment.seed=1"));
  CHECK (!strstr (again.errors, "begins"));

  PlaitTestCall printed = CALL ("grid", "tiny.ini", "--commands");
  const char *name = strstr (printed.output, "--cell ");
  REQUIRE (name != NULL);
  name += strlen ("--cell ");
  place = g_strdup_printf ("%s/%.*s", plait_test_path ("tiny"), (int)strcspn (name, "\n"), name);
  lock = plait_lock_take (place, "busy", "wait", NULL, NULL);
  REQUIRE (lock != NULL);
  CHECK_REFUSED (CALL ("grid", "tiny.ini", "--cell", "experiment.seed=2"),
                 "the cell experiment.seed=2: another process runs it (process ");
  PlaitTestCall grid = CALL ("grid", "tiny.ini");
  CHECK_INT (grid.code, 1);
  CHECK_CONTAINS (grid.errors, "the cell experiment.seed=2: another process runs it (process ");
  CHECK_CONTAINS (grid.errors, "1 of 2 cells failed (experiment.seed=2)");
}

TEST_CASE (command_grid, refuses_what_no_executor_does)
{
  plait_test_write_grid ("experiment.seed=1\n");
  PlaitTestCall cell = CALL ("grid", "tiny.ini", "--cell", "none");
  CHECK_REFUSED (CALL ("grid", "tiny.ini", "--cell", "none", "--collect"),
                 "only one of --cell, --collect, --commands and --dry-run can be given");
  PlaitTestCall time = CALL ("grid", "tiny.ini", "--time", "2 hours");
  PlaitTestCall retries = CALL ("grid", "tiny.ini", "--retries", "-1");
  PlaitTestCall executor = CALL ("grid", "tiny.ini", "--executor", "lsf");
  PlaitTestCall fresh = CALL ("grid", "tiny.ini", "--commands", "--fresh");

  CHECK_REFUSED (cell, "there is no cell \"none\" in this grid");
  CHECK_REFUSED (time, "--time cannot be \"2 hours\"; expected a time up to a year, such as 90s");
  CHECK_REFUSED (retries, "--retries cannot be \"-1\"; expected an integer from 0 to 100");
  CHECK_REFUSED (executor, "--executor cannot be \"lsf\"; expected local or slurm");
  CHECK_REFUSED (fresh, "--fresh is for cells that this command runs itself, not for");
  CHECK (!plait_test_exists ("tiny"));

  plait_test_write_grid (
      "experiment.seed=1\nexecutor=lsf\nexecutor.jobs=0\nexecutor.memory=much\nexecutor.options=long\n"
      "executor.partition=cpu\n");
  PlaitTestCall file = CALL ("grid", "tiny.ini");
  CHECK_INT (file.code, 2);
  CHECK_CONTAINS (file.errors, "executor: the value \"lsf\" is not a choice; give one of local, slurm");
  CHECK_CONTAINS (file.errors, "executor.jobs: the value \"0\" is below the minimum 1; give an integer from 1 to 1024");
  CHECK_CONTAINS (file.errors, "executor.memory: cannot be \"much\"; expected a size such as 500M or 4G");
  CHECK_CONTAINS (file.errors,
                  "executor.options: \"long\" is not allowed; expected options of sbatch separated by ';'");
  CHECK_CONTAINS (file.errors,
                  "executor.partition: is neither an axis nor a key of [grid]; write GROUP.KEY=VALUE;VALUE");
}

TEST_CASE (command_grid, hands_arrays_and_a_collector_to_slurm)
{
  plait_test_write_grid ("experiment.seed=1;2;3\nexecutor=slurm\nexecutor.memory=3G\nexecutor.options=--partition=cpu\n"
                         "executor.jobs=1\nexecutor.time=90s\nexecutor.threads=2\n");
  stand_in_slurm ("echo $n");
  PlaitTestCall call = DONE (CALL ("grid", "tiny.ini", "--output", FOLDER, "--retries", "1"));
  const char *words = plait_test_read_text ("words"), *script = plait_test_read_text ("script");

  CHECK_CONTAINS (call.errors, "3 tasks are submitted to Slurm under job number 1, 2 (job name plait-");
  CHECK_CONTAINS (call.errors, "after all tasks, job 3 makes the table");
  CHECK (plait_test_exists (FOLDER "/slurm") && !plait_test_exists (FOLDER "/grid.h5"));
  CHECK_CONTAINS (words, "--array=0-1%1\n--cpus-per-task=2\n--time=5\n--mem=3G\n--partition=cpu\n");
  CHECK_CONTAINS (words, "--array=0-0%1\n--cpus-per-task=2\n--time=5\n--mem=3G\n--dependency=afterany:1\n");
  CHECK_CONTAINS (words, "--dependency=afterany:1:2\n");
  CHECK_CONTAINS (words, " 100%%/slurm/%A_%a.log\n");
  CHECK_CONTAINS (script, "1) cd ");
  CHECK_CONTAINS (script, " && exec ");
  CHECK_CONTAINS (script, "--threads 2 --time 90s --retries 1 --cell seed-3-");
  CHECK_CONTAINS (script, " --collect\n");
}

/* The script of an array is valid if the current folder's name looks like part of a command. */
TEST_CASE (command_grid, quotes_the_current_folder_in_the_script_of_an_array)
{
  plait_test_write_grid ("experiment.seed=1;2\n");
  plait_test_make_folder ("a && b");
  stand_in_slurm ("echo $n");
  PlaitTestCall call
      = plait_test_call_shell ("cd 'a && b' && \"$PLAIT\" grid ../tiny.ini --output ../cells --executor slurm");
  const char *script = plait_test_read_text ("a && b/script"), *plait = plait_test_build_path ("plait");

  CHECK_INT (call.code, 0);
  CHECK_CONTAINS (script, plait_test_format ("\n0) cd '%s' && exec %s grid ", plait_test_path ("a && b"), plait));
  CHECK_INT (plait_test_call_shell ("sh -n 'a && b/script'").code, 0);
}

/* --dry-run prints what would be submitted. It asks an installed Slurm only for the maximum size of an array and for
 * the jobs in the queue. */
TEST_CASE (command_grid, says_beforehand_what_slurm_would_be_asked)
{
  plait_test_write_grid ("experiment.seed=1;2;3\nexecutor=slurm\nexecutor.memory=3G\nexecutor.options=--partition=cpu\n"
                         "executor.time=90s\nexecutor.threads=2\n");
  g_setenv ("PATH", "/nowhere", TRUE);
  PlaitTestCall absent = DONE (CALL ("grid", "tiny.ini", "--dry-run"));
  PlaitTestCall local = CALL ("grid", "tiny.ini", "--dry-run", "--executor", "local");
  stand_in_slurm ("echo $n");
  PlaitTestCall present = CALL ("grid", "tiny.ini", "--dry-run", "--jobs", "1");
  PlaitTestCall json = CALL ("grid", "tiny.ini", "--dry-run", "--json");
  plait_test_write ("queue", "12_3\n");
  PlaitTestCall queued = CALL ("grid", "tiny.ini", "--dry-run");

  CHECK_CONTAINS (absent.output, "Requested from the scheduler\n  sbatch --parsable ");
  CHECK_CONTAINS (absent.output, " --array=0-2 --cpus-per-task=2 --time=3 --mem=3G --partition=cpu\n  sbatch ");
  CHECK_CONTAINS (absent.output, " --dependency=afterany:JOB1 --partition=cpu\n");
  CHECK (!strstr (local.output, "sbatch"));
  CHECK_CONTAINS (present.output, " --array=0-0%1 --cpus-per-task=2 --time=3 --mem=3G --dependency=afterany:JOB1 ");
  CHECK_CONTAINS (present.output, " --dependency=afterany:JOB1:JOB2 ");
  CHECK_CONTAINS (json.output, " --dependency=afterany:JOB1:JOB2 ");
  CHECK_INT (queued.code, 2);
  CHECK_CONTAINS (queued.errors, "jobs of this grid are in Slurm's queue already");
  CHECK (!plait_test_exists ("tiny") && !plait_test_exists ("words"));
}

/* Returns the number after "--OPTION=" in the logged arguments @words. */
static gint64
asked_of (const char *words, const char *option)
{
  g_autofree char *begin = g_strdup_printf ("--%s=", option);
  const char *found = strstr (words, begin);

  CHECK (found != NULL);
  return found ? g_ascii_strtoll (found + strlen (begin), NULL, 10) : -1;
}

TEST_CASE (command_grid, asks_slurm_for_what_was_measured)
{
  gsize held = 0, most = 0;

  plait_test_write_grid ("experiment.seed=1;2\nexecutor=slurm\nexecutor.memory=measured\nexecutor.time=measured\n");
  stand_in_slurm ("echo $n");
  DONE (CALL ("grid", "tiny.ini"));
  const char *words = plait_test_read_text ("words"), *script = plait_test_read_text ("script");
  CHECK_REFUSED (CALL ("grid", "tiny.ini", "--quiet", "--output", "other", "--set", "train.learning_rate=1e6", "--set",
                       "train.warm_up=0", "--set", "train.clip=0"),
                 "time and memory of the cell experiment.seed=1 could not be measured (update ");

  plait_memory_of_process (getpid (), &held,
                           &most); /* the process of a cell is forked, so it begins with as much memory */
  CHECK (asked_of (words, "time") >= 2 && asked_of (words, "time") < 60); /* minutes, including a margin */
  CHECK (asked_of (words, "mem") > 10 && (gsize)asked_of (words, "mem") < 1000 + 2 * (most >> 20));
  CHECK (!strstr (script, "--time"));
  CHECK (!plait_test_exists ("other"));
}

TEST_CASE (command_grid, leaves_nothing_where_slurm_refuses)
{
  static const char *const configurations[] = { "", "MaxArraySize = -5", "MaxArraySize = all", "MaxArraySize" };

  plait_test_write_grid ("experiment.seed=1;2;3\n");
  stand_in_slurm ("[ $n = 1 ] && echo 71 && exit\necho 'sbatch: error: no room' >&2\nexit 1\n");
  PlaitTestCall refused = CALL ("grid", "tiny.ini", "--executor", "slurm");
  stand_in ("scontrol", "echo 'no configuration' >&2; exit 1\n");
  PlaitTestCall silent = CALL ("grid", "tiny.ini", "--executor", "slurm");
  CHECK_CONTAINS (silent.errors, "error: Slurm does not answer (no configuration); run this where jobs are submitted");
  for (guint i = 0; i < G_N_ELEMENTS (configurations); i++)
    {
      CONTEXT ("%s", configurations[i]);
      stand_in ("scontrol", plait_test_format ("echo '%s'\n", configurations[i]));
      PlaitTestCall call = CALL ("grid", "tiny.ini", "--executor", "slurm");
      CHECK_INT (call.code, 1);
      CHECK_CONTAINS (call.errors,
                      "scontrol show config gives no number for MaxArraySize; check that scontrol is Slurm's own");
    }
  stand_in ("scontrol", "echo 'MaxArraySize            = 2'\n");
  plait_test_write ("queue", "12_3\n");
  CHECK_REFUSED (CALL ("grid", "tiny.ini", "--executor", "slurm"),
                 "tiny: jobs of this grid are in Slurm's queue already (12_3); wait for them");
  g_setenv ("PATH", "/nowhere", TRUE);
  CHECK_REFUSED (CALL ("grid", "tiny.ini", "--executor", "slurm"),
                 "there is no scontrol here; run this where jobs are submitted to Slurm");
  const char *cancelled = plait_test_read_text ("cancelled"), *number = plait_test_read_text ("number");

  CHECK_INT (refused.code, 1);
  CHECK_STRING (refused.errors,
                "error: Slurm refuses the job (sbatch: error: no room); change the keys executor.* of [grid], or "
                "use --commands for another scheduler\n");
  CHECK_STRING (cancelled + strlen ("--name=plait-12345678"), "\n");
  CHECK_STRING (number, "2\n"); /* only the first call asks sbatch */
  CHECK (!plait_test_exists ("tiny"));
}

/* Refuses options of Slurm in an experiment file that change or hide what is run. */
TEST_CASE (command_grid, passes_no_option_to_slurm_that_changes_what_is_run)
{
  static const char *const refused[] = {
    "--wrap=true", "--wra=true",     "--test-only",    "--test",    "--export=NONE", "--chdir=/",
    "--array=0-1", "--output=/file", "--prolog=x",     "-d",        "-Dx",           "-pcpu",
    "--partition", "--part=cpu",     "--dependency=1", "--",        "--job-name=x",  "--input=x",
    "--hold;-Dx",  "--error=x",      "--parsable",     "--requeue", "--wait",        "--get-user-env",
    "--uid=0",     "--bb=x",         "--container=x",  "script.sh",
  };

  for (guint i = 0; i < G_N_ELEMENTS (refused); i++)
    {
      const char *last = strrchr (refused[i], ';');
      g_autofree char *axes = g_strdup_printf ("experiment.seed=1\nexecutor.options=--qos=a;%s\n", refused[i]);
      g_autofree char *part = g_strdup_printf (
          "executor.options: \"%s\" is not allowed; expected options of sbatch separated by ';', such as "
          "--partition=cpu;--account=mt, and only these: --account, ",
          last ? last + 1 : refused[i]);

      CONTEXT ("%s", refused[i]);
      plait_test_write_grid (axes);
      CHECK_REFUSED (CALL ("grid", "tiny.ini", "--executor", "slurm"), part);
    }
}

/* sbatch must print the number of the job alone on a line. Otherwise plait cannot know what is in the queue. */
TEST_CASE (command_grid, takes_the_number_of_a_job_alone_on_its_line)
{
  static const struct
  {
    const char *sbatch;
    const char *number; /* expected number of the job; NULL: the output is refused */
  } cases[] = {
    { "echo 4711", "4711" },
    { "echo '4711;north'", "4711" },
    { "echo Welcome to the cluster; echo; echo 12 nodes are down.; echo ' 4711 '", "4711" },
    { "echo 4711; echo Bye", "4711" },
    { "true", NULL },
    { "echo Welcome", NULL },
    { "echo 12 nodes are down", NULL },
    { "echo Submitted batch job 4711", NULL },
    { "echo 2026; echo 4711", NULL },
    { "echo 0; echo -3; echo 4711x; echo 99999999999999999999", NULL },
  };
  const char *list = plait_test_path ("words");
  const char *cancelled = plait_test_path ("cancelled");

  plait_test_write_grid ("experiment.seed=1\n");
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      CONTEXT ("%s", cases[i].sbatch);
      stand_in_slurm (cases[i].sbatch);
      g_unlink (list);
      g_unlink (cancelled);
      PlaitTestCall call = CALL ("grid", "tiny.ini", "--executor", "slurm");
      const char *words = plait_test_read_text ("words");
      g_autofree char *dependency = g_strdup_printf ("--dependency=afterany:%s\n", cases[i].number);

      CHECK_INT (call.code, cases[i].number ? 0 : 1);
      if (cases[i].number)
        CHECK_CONTAINS (words, dependency);
      else
        {
          CHECK (!strstr (words, "--dependency"));
          CHECK_CONTAINS (call.errors,
                          "error: sbatch --parsable should print the number of the job on a line of its own");
          CHECK_CONTAINS (call.errors, "; jobs may be in the queue: squeue --name=plait-");
          CHECK_CONTAINS (call.errors, " shows them, scancel --name=plait-");
          CHECK_CONTAINS (plait_test_read_text (cancelled), "--name=plait-");
        }
    }
}

/* A second plait grid starts while the first one reads Slurm's queue; the jobs are submitted once. */
TEST_CASE (command_grid, submits_once_where_two_begin_at_a_time)
{
  const char *plait = plait_test_build_path ("plait");
  g_autofree char *script = g_strdup_printf (
      "[ -e second ] || { touch second; '%s' grid tiny.ini --executor slurm 2> second; echo $? >> second; }\n", plait);

  plait_test_write_grid ("experiment.seed=1;2\n");
  stand_in_slurm ("echo $n");
  stand_in ("squeue", script);
  DONE (CALL ("grid", "tiny.ini", "--executor", "slurm"));
  const char *second = plait_test_read_text ("second"), *number = plait_test_read_text ("number");

  CHECK_CONTAINS (second, "error: tiny: another plait grid is working in this folder (process ");
  CHECK (g_str_has_suffix (second, "\n2\n"));
  CHECK_STRING (number, "2\n"); /* number of submissions: an array of cells, and the job that makes the table */
}
