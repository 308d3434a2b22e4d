/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "materials.h"

/* Tests of names chosen by users that equal names in the layout of files. */

/* Renames the source @old of text.ini to @name, without renaming its files. */
static void
name_source (const char *old, const char *name)
{
  static const char *const splits[] = { "train", "validation", "test" };
  g_autofree char *group = g_strdup_printf ("[source %s]", old), *named = g_strdup_printf ("[source %s]", name);

  plait_test_replace ("text.ini", group, named);
  for (guint i = 0; i < G_N_ELEMENTS (splits); i++)
    {
      g_autofree char *from = g_strdup_printf ("\n%s.%s=", splits[i], old);

      plait_test_replace ("text.ini", from, plait_test_format ("\n%s.%s=", splits[i], name));
    }
}

static void
check_done (const char *command)
{
  CONTEXT ("plait %s", command);
  QUIET (ATTEMPT (command));
}

HOSTILE_CASE (hostile_names, sources)
{
  static const char *const names[][2] = {
    { "contexts", "sentence" },
    { "bytes", "offsets" },
    { "extents", "entry_offsets" },
  };
  static const char *const commands[] = {
    "run text.ini -q -o new.h5 --force",
    "show new.h5 --all",
    "show new.h5 --json",
    "show new.h5 /evaluation/test/sources",
    "show new.h5 /evaluation/test/sources --json",
    "report new.h5 -q -o new --force",
    "compare new.h5 new.h5 -q --trials 2 --attention",
    "run text.ini -q -r -o new.h5 --set train.epochs=2",
  };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *shown = g_strdup_printf ("show new.h5 /attention/test/0/%s", names[i][0]);
      g_autofree char *drawn = g_strdup_printf ("plot new.h5 /attention/test/0/%s -q -o new.svg --force", names[i][1]);

      name_source (i > 0 ? names[i - 1][0] : "a", names[i][0]);
      name_source (i > 0 ? names[i - 1][1] : "b", names[i][1]);
      for (guint c = 0; c < G_N_ELEMENTS (commands); c++)
        check_done (commands[c]);
      check_done (shown);
      check_done (drawn);
      PlaitTestCall tree = ATTEMPT ("show new.h5");
      CHECK_CONTAINS (tree.output, i == 0 ? "contexts, contexts.effective, sentence, sentence.effective, <contexts>\n"
                                          : ".effective, contexts\n");
      if (i == 0)
        check_done ("show new.h5 /attention/test/0/<contexts>");
    }
}

/* Gives splits and named evaluations names that occur in the file of a run. */
HOSTILE_CASE (hostile_names, splits_and_searches)
{
  REFUSED ("test text.h5 -q --as short-forced", "--as cannot be \"short-forced\"|leave -forced out");
  plait_test_replace ("text.ini", "[source a]",
                      "test-forced.a=test.a\ntest-forced.b=test.b\ntest-forced.target=test.target\n[source a]");
  REFUSED ("run text.ini -q -o new.h5",
           "text.ini|\"test-forced\" is the name under which a run stores forced decoding of test");
}

/* Uses an axis for a key of [source NAME/leaves], whose name has a slash. */
HOSTILE_CASE (hostile_names, axes_of_a_grid)
{
  plait_test_replace ("trees.ini", "[decode]", "[grid]\nsource.a/leaves.width=4;8\n[decode]");
  check_done ("grid trees.ini -q -o new");
  check_done ("show new/grid.h5 --all");
  check_done ("test new/grid.h5 -q --set decode.maximum_length=3 --as short");
  PlaitTestCall shown = ATTEMPT ("show new/grid.h5 /summary");
  CHECK_CONTAINS (shown.output, "source.a/leaves.width");
  CHECK_CONTAINS (shown.output, "test.short");
}
