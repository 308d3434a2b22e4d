/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "materials.h"

/* Tests of outputs that cannot be written, and of outputs that exist already: no file is incomplete or lost. */

static const struct
{
  const char *name;
  const char *command; /* command that writes the file "new" */
} outputs[] = {
  { "run", "run text.ini -q -o new" },
  { "run made again", "reproduce text.h5 -q -s data.folder=. -o new" },
  { "translation", "translate text.h5 -q -s a=test.a -s b=test.b -o new" },
  { "dump of a translation", "translate text.h5 -q -s a=test.a -s b=test.b -a new" },
  { "dump of scores", "score text.h5 -q -s a=test.a -s b=test.b --target test.target -a new" },
  { "vocabulary", "vocabulary -q --size 60 -o new train.a train.b train.target" },
  { "page", "report text.h5 -q -o new" },
  { "trees in another form", "trees --convert reorder/train.a.trees --to triples -q -o new" },
  { "initial values", "plait-bench steps text.ini --set experiment.sources=a --set decoder.combiner=serial --lengths 2 "
                      "-n 1 -q --parameters new" },
};

/* Limits the size of files to less than the output needs. */
HOSTILE_CASE (hostile_output, full_disk)
{
  for (guint i = 0; i < G_N_ELEMENTS (outputs); i++)
    for (guint64 size = 1; size < 100000; size *= 50)
      {
        CONTEXT ("%s, files of at most %d bytes", outputs[i].name, (int)size);
        PlaitTestCallSettings limits = { .file_size = size };
        DONE (ATTEMPT (outputs[i].command));
        g_autoptr (GBytes) bytes = plait_test_read ("new");
        gsize needed = g_bytes_get_size (bytes);

        plait_test_remove ("new");
        if (needed <= size)
          continue;
        attempt_refused_with (outputs[i].command, &limits, 1, "new");
        /* The command fails, and the existing file stays. */
        plait_test_write ("new", "what was there");
        attempt_refused_with (plait_test_format ("%s --force", outputs[i].command), &limits, 1, "new");
        plait_test_remove ("new");
      }
}

/* Each command replaces an existing file only with --force. */
HOSTILE_CASE (hostile_output, what_is_there_is_replaced_by_force_alone)
{
  for (guint i = 0; i < G_N_ELEMENTS (outputs); i++)
    {
      CONTEXT ("%s", outputs[i].name);
      g_autofree char *forced = g_strconcat (outputs[i].command, " --force", NULL);

      for (guint run = 0; run < 2; run++)
        {
          /* The existing file is first a text of the user, then a finished run. */
          plait_test_write ("new", "what was there");
          if (run)
            plait_test_copy ("image.h5", "new");
          REFUSED (outputs[i].command, "new exists: |, or replace it with --force");
          g_autoptr (GBytes) before = plait_test_read ("new");
          QUIET (ATTEMPT (forced));
          g_autoptr (GBytes) after = plait_test_read ("new");
          CHECK (!g_bytes_equal (before, after));
          plait_test_remove ("new");
        }
    }
  /* If one of several output files exists, the command fails. */
  REFUSED ("generate agreement -q -o .", "train.a exists: write elsewhere with --output");
  DONE (ATTEMPT ("generate agreement -q -o corpus -s train=2"));
  REFUSED ("generate agreement -q -o corpus -s train=3", "corpus/train.a exists: ");
  DONE (ATTEMPT ("generate agreement -q -o corpus -s train=3 --force"));
  REFUSED ("run text.ini -q --force --resume -o begun.h5", "--force and --resume are opposites");
}

/* --dry-run reports that the run could not write its output. */
HOSTILE_CASE (hostile_output, plans_know_where_nothing_can_be_written)
{
  static const struct
  {
    const char *command;
    const char *parts;
  } cases[] = {
    { "run text.ini -q", "text.h5 exists: add --resume" },
    { "run text.ini -q -o test.a", "test.a: is the same file as|which the command reads" },
    { "run text.ini -q -o nowhere/new", "nowhere/new: no file can be made in its folder" },
    { "run text.ini -q -o grid", "grid: it is not a regular file" },
    { "run text.ini -q -r -o grid", "grid: it is not a regular file" },
    { "run text.ini -q -r -o spoilt.h5", "spoilt.h5: is damaged" },
    { "run text.ini -q -r -o test.a", "test.a: does not begin with" },
    { "run text.ini -q -r -o image.h5", "image.h5 is a run of another experiment" },
    { "run text.ini -q -r -o begun.h5", "train.epochs was 1000000, is 1" },
    { "grid grid.ini -q -o test.a", "test.a: is a file" },
    { "grid grid.ini -q -o test.a/new", "test.a/new: the grid's folder cannot be made" },
    { "grid grid.ini -q -o tables", "tables/table.md: exists" },
    { "grid grid.ini -q -o runs", "runs/grid.h5: is not the file of a grid" },
    { "grid grid.ini -q -o spoilt", "spoilt/grid.h5" },
  };

  const char *tables = plait_test_path ("tables"), *runs = plait_test_path ("runs"),
             *spoilt = plait_test_path ("spoilt");
  CHECK (g_mkdir (tables, 0755) == 0 && g_mkdir (runs, 0755) == 0 && g_mkdir (spoilt, 0755) == 0);
  plait_test_write ("tables/table.md", "mine");
  plait_test_copy ("text.h5", "runs/grid.h5");
  plait_test_write ("spoilt/grid.h5", "mine");
  plait_test_copy ("text.h5", "spoilt.h5");
  int file = g_open (plait_test_path ("spoilt.h5"), O_WRONLY, 0);
  CHECK (pwrite (file, "spoilt", 6, 5000) == 6);
  close (file);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      REFUSED (cases[i].command, cases[i].parts);
      REFUSED (plait_test_format ("%s --dry-run", cases[i].command), cases[i].parts);
    }
}

/* --dry-run checks that the run can write its output, and leaves no file there. */
HOSTILE_CASE (hostile_output, plans_leave_nothing_behind)
{
  static const char *const commands[] = {
    "run text.ini -q -o new --dry-run",
    "run text.ini -q -r -o text.h5 --dry-run",
    "run text.ini -q -r -o begun.h5 --set train.epochs=1000000 --dry-run",
    "run text.ini -q --force -o text.h5 --dry-run",
    "grid grid.ini -q -o new --dry-run",
    "grid grid.ini -q --dry-run",
  };

  g_autofree char *before = attempt_folder ();
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    {
      CONTEXT ("plait %s", commands[i]);
      QUIET (ATTEMPT (commands[i]));
      g_autofree char *after = attempt_folder ();

      CHECK_STRING (after, before);
    }
}

HOSTILE_CASE (hostile_output, full_disk_on_the_way)
{
  PlaitTestCallSettings limits = { .file_size = 60000 };
  PlaitTestCallSettings small = { .file_size = 50 };
  PlaitTestCallSettings middle = { .file_size = 1000 };

  attempt_refused_with ("run text.ini -q -r -o begun.h5 --set train.epochs=1000000", &limits, 1, "begun.h5");
  attempt_refused_with ("generate agreement -q -o new", &small, 1, "new");
  attempt_refused_with ("generate agreement -q -o . --force", &small, 1, "train");
  /* First the first file cannot be written, then a later one. */
  attempt_refused_with ("new encoder -q fresh", &small, 1, "fresh/meson.build");
  attempt_refused_with ("new encoder -q fresh", &middle, 1, "fresh/fresh.c");
}

HOSTILE_CASE (hostile_output, standard_output_is_full)
{
  static const char *const commands[] = {
    "translate text.h5 -q -s a=test.a -s b=test.b",
    "score text.h5 -q -s a=test.a -s b=test.b --target test.target",
    "evaluate -q -r test.target -i test.target",
    "compare text.h5 image.h5 -q --trials 2",
    "show text.h5",
    "show text.h5 --json",
    "vocabulary -q --show words.vocabulary",
    "vocabulary -q --encode words.vocabulary test.a",
    "run text.ini --dry-run -q -o new",
    "grid grid.ini --dry-run -q",
    "inspect serial",
  };
  PlaitTestCallSettings limits = { .output = "/dev/full" };

  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    attempt_refused_with (commands[i], &limits, 1, "standard output cannot be written");
}

HOSTILE_CASE (hostile_output, places_that_take_none)
{
  static const char *const places[]
      = { "/nowhere/new", "/dev/full", "/dev/null", ".", "new/", "test.a/new", "loop", "dangling", "pipe" };

  const char *loop = plait_test_path ("loop"), *dangling = plait_test_path ("dangling"),
             *pipe = plait_test_path ("pipe");
  CHECK (symlink ("loop", loop) == 0 && symlink ("nothing", dangling) == 0 && mkfifo (pipe, 0600) == 0);
  for (guint i = 0; i < G_N_ELEMENTS (outputs); i++)
    for (guint k = 0; k < G_N_ELEMENTS (places); k++)
      {
        g_auto (GStrv) words = g_strsplit (outputs[i].command, " new", 2);

        REFUSED (plait_test_format ("%s %s%s", words[0], places[k], words[1]), places[k]);
      }
}

/* Only the cell whose log is a pipe fails. */
HOSTILE_CASE (hostile_output, pipe_in_place_of_a_log)
{
  const char *folder = plait_test_path ("grid");
  g_autoptr (GDir) names = g_dir_open (folder, 0, NULL);
  const char *name = "";
  REQUIRE (names != NULL);
  while (name && !g_str_has_suffix (name, ".log"))
    name = g_dir_read_name (names);
  REQUIRE (name != NULL);
  g_autofree char *log = g_build_filename (folder, name, NULL);
  CHECK (g_unlink (log) == 0 && mkfifo (log, 0600) == 0);
  PlaitTestCall attempt = ATTEMPT ("grid grid.ini --fresh --set train.epochs=0 --set train.updates=1");
  attempt_check (&attempt, 1, "1 of 2 cells");
  CHECK_CONTAINS (attempt.errors, ".log: cannot be written");
}

/* Refuses an output that is the input, because writing would destroy it. */
HOSTILE_CASE (hostile_output, same_file_as_an_input)
{
  static const char *const commands[] = {
    "translate text.h5 -q -s a=test.a -s b=test.b -o text.h5",
    "translate text.h5 -q -s a=test.a -s b=test.b -a text.h5",
    "translate text.h5 -q -s a=test.a -s b=test.b -o test.a",
    "translate text.h5 -q -s a=test.a -s b=test.b -o ./test.b",
    "translate text.h5 -q -s a=test.a -s b=test.b -o linked",
    "translate text.h5 -q -s a=test.a -s b=test.b -o new -a ./new",
    "score text.h5 -q -s a=test.a -s b=test.b --target test.target -a text.h5",
    "score text.h5 -q -s a=test.a -s b=test.b --target test.target -a test.target",
    "report image.h5 text.h5 -q -o text.h5",
    "vocabulary -q --type words -o train.b train.a train.b",
  };

  const char *original = plait_test_path ("test.b"), *linked = plait_test_path ("linked");
  CHECK (link (original, linked) == 0);
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    REFUSED (commands[i], "is the same file as|name another");
  REFUSED ("run text.ini -q -r -o text.ini", "text.ini");
}

/* Refuses an output that is an input of the command, under any name, even with --force. */
HOSTILE_CASE (hostile_output, never_replaces_what_was_read)
{
  static const char *const commands[] = {
    "plait-bench train text.ini -q -n 1 -w 0 --force --parameters text.ini",
    "plait-bench train text.ini -q -n 1 -w 0 --force --parameters linked.ini",
    "plait-bench train text.ini -q -n 1 -w 0 --force --parameters symbolic.ini",
    ("plait-bench steps text.ini --set experiment.sources=a --set decoder.combiner=serial --lengths 2 -n 1 -q --force "
     "--parameters text.ini"),
    "translate text.h5 -q -s a=test.a -s b=test.b --force -o linked.h5",
    "translate text.h5 -q -s a=test.a -s b=test.b --force -a linked.h5",
    "trees --convert reorder/train.a.trees --to triples -q --force -o reorder/train.a.trees",
    "run text.ini -q --force -o test.b",
    "run text.ini -q --force -o new.h5 --log text.ini",
    "reproduce text.h5 -q --force -o linked.h5",
  };

  const char *original = plait_test_path ("text.ini"), *run = plait_test_path ("text.h5"),
             *linked = plait_test_path ("linked.ini"), *symbolic = plait_test_path ("symbolic.ini"),
             *second = plait_test_path ("linked.h5");
  CHECK (link (original, linked) == 0 && symlink (original, symbolic) == 0 && link (run, second) == 0);
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    REFUSED (commands[i], "name another");
}

/* If a file has the name of a grid's file but another kind, the user made it, so it is not replaced. */
HOSTILE_CASE (hostile_output, grid_replaces_no_files_of_others)
{
  static const char *const command = "grid grid.ini -q --set train.epochs=0 --set train.updates=1";

  const char *folder = plait_test_path ("grid");
  g_autoptr (GDir) names = g_dir_open (folder, 0, NULL);
  const char *name;
  REQUIRE (names != NULL);
  while ((name = g_dir_read_name (names)))
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);
      g_autofree char *other = g_strconcat ("grid/", name, NULL);
      g_autoptr (GBytes) bytes = g_str_has_suffix (name, ".h5") ? plait_test_read (other) : NULL;

      if (!bytes)
        continue;
      CONTEXT ("%s", name);
      plait_test_write (other, "mine");
      REFUSED (command, other);
      plait_test_copy (g_str_equal (name, "grid.h5") ? "text.h5" : "dump.h5", other);
      REFUSED (command, other);
      g_unlink (path);
      CHECK (mkfifo (path, 0600) == 0);
      REFUSED (command, other);
      g_unlink (path);
      plait_test_write_bytes (other, g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
    }
}

/* Refuses a pipe in place of a file that is read twice or whose size is needed, since the command would wait for its
 * writer. */
HOSTILE_CASE (hostile_output, pipes_that_nobody_writes)
{
  const char *pipe = plait_test_path ("pipe");
  CHECK (mkfifo (pipe, 0600) == 0);
  REFUSED ("plait-bench train text.ini -q --data pipe", "pipe: is not a regular file");
  REFUSED ("plait-bench decode text.ini -q --data pipe", "pipe: is not a regular file");
  REFUSED ("plait-bench train pipe -q", "pipe");
  REFUSED ("plait-bench train text.ini -q --parameters pipe --force", "pipe: it is not a regular file");
}
