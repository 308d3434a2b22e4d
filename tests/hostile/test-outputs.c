/* SPDX-License-Identifier: MIT */
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "materials.h"

/* Outputs that cannot be written, and those that stand already: nothing half-written, nothing lost. */

static const struct
{
  const char *name;
  const char *command; /* writes "new" */
} outputs[] = {
  { "run", "run text.ini -q -o new" },
  { "translation", "translate text.h5 -q -s a=test.a -s b=test.b -o new" },
  { "dump of a translation", "translate text.h5 -q -s a=test.a -s b=test.b -a new" },
  { "dump of scores", "score text.h5 -q -s a=test.a -s b=test.b --target test.target -a new" },
  { "vocabulary", "vocabulary -q --size 60 -o new train.a train.b train.target" },
  { "page", "report text.h5 -q -o new" },
};

/* Any file stops growing at a size below what the output needs. */
TEST_CASE (hostile_output, full_disk)
{
  NEED_MATERIALS ();
  for (guint i = 0; i < G_N_ELEMENTS (outputs); i++)
    for (guint64 size = 1; size < 100000; size *= 50)
      {
        CONTEXT ("%s, files of at most %d bytes", outputs[i].name, (int)size);
        AttemptLimits limits = { .file_size = size };
        g_auto (Attempt) whole = ATTEMPT (outputs[i].command);
        g_autoptr (GBytes) bytes = materials_read ("new");
        gsize needed = g_bytes_get_size (bytes);

        CHECK_INT (whole.code, 0);
        materials_remove ("new");
        if (needed <= size)
          continue;
        attempt_refused_with (outputs[i].command, &limits, 1, "new");
        /* What is there stays; a run is not written over in the first place. */
        materials_write_text ("new", "what was there");
        if (i > 0)
          attempt_refused_with (outputs[i].command, &limits, 1, "new");
        else
          attempt_refused_with (outputs[i].command, &limits, 2, "new exists");
        materials_remove ("new");
      }
}

TEST_CASE (hostile_output, full_disk_on_the_way)
{
  AttemptLimits limits = { .file_size = 60000 };
  AttemptLimits small = { .file_size = 50 };

  NEED_MATERIALS ();
  attempt_refused_with ("run text.ini -q -r -o begun.h5 --set train.epochs=1000000", &limits, 1, "begun.h5");
  attempt_refused_with ("generate agreement -q -o new", &small, 1, "new");
  attempt_refused_with ("generate agreement -q -o .", &small, 1, "train");
}

TEST_CASE (hostile_output, standard_output_is_full)
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
    "run text.ini --dry-run -q",
    "grid grid.ini --dry-run -q",
    "inspect serial",
  };
  AttemptLimits limits = { .output = "/dev/full" };

  NEED_MATERIALS ();
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    attempt_refused_with (commands[i], &limits, 1, "standard output cannot be written");
}

TEST_CASE (hostile_output, places_that_take_none)
{
  static const char *const places[]
      = { "/nowhere/new", "/dev/full", "/dev/null", ".", "new/", "test.a/new", "loop", "dangling", "pipe" };

  NEED_MATERIALS ();
  g_autofree char *loop = plait_test_path ("loop"), *dangling = plait_test_path ("dangling"),
                  *pipe = plait_test_path ("pipe");
  CHECK (symlink ("loop", loop) == 0 && symlink ("nothing", dangling) == 0 && mkfifo (pipe, 0600) == 0);
  for (guint i = 0; i < G_N_ELEMENTS (outputs); i++)
    for (guint k = 0; k < G_N_ELEMENTS (places); k++)
      {
        g_auto (GStrv) words = g_strsplit (outputs[i].command, " new", 2);
        g_autofree char *line = g_strconcat (words[0], " ", places[k], words[1], NULL);

        REFUSED (line, places[k]);
      }
}

/* Costs that cell alone. */
TEST_CASE (hostile_output, pipe_in_place_of_a_log)
{
  NEED_MATERIALS ();
  g_autofree char *folder = plait_test_path ("grid");
  g_autoptr (GDir) names = g_dir_open (folder, 0, NULL);
  const char *name = "";
  REQUIRE (names != NULL);
  while (name != NULL && !g_str_has_suffix (name, ".log"))
    name = g_dir_read_name (names);
  REQUIRE (name != NULL);
  g_autofree char *log = g_build_filename (folder, name, NULL);
  CHECK (g_unlink (log) == 0 && mkfifo (log, 0600) == 0);
  g_auto (Attempt) attempt = ATTEMPT ("grid grid.ini --fresh --set train.epochs=0 --set train.updates=1");
  attempt_check (&attempt, 1, "1 of 2 cells");
  CHECK_CONTAINS (attempt.errors, ".log: cannot be written");
}

/* An output that is also an input would be lost. */
TEST_CASE (hostile_output, same_file_as_an_input)
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

  NEED_MATERIALS ();
  g_autofree char *original = plait_test_path ("test.b"), *linked = plait_test_path ("linked");
  CHECK (link (original, linked) == 0);
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    REFUSED (commands[i], "is the same file as|name another");
  REFUSED ("run text.ini -q -r -o text.ini", "text.ini");
}
