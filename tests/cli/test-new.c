/* SPDX-License-Identifier: MIT */
#include <glib/gstdio.h>
#include <string.h>

#include "call.h"
#include "files.h"
#include "harness.h"

/* Tests of plait new. tests/plugin/new.py builds and trains what it writes. */

static gboolean
is_there (const char *name)
{
  return plait_test_exists (name);
}

TEST_CASE (new_command, writes_a_project_of_each_kind)
{
  static const char *const kinds[] = { "encoder", "combiner", "coverage", "decoder" };

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      CONTEXT ("%s", kinds[i]);
      g_autofree char *name = g_strconcat ("my-", kinds[i], NULL);
      g_autofree char *schema = g_strdup_printf ("%s/%s.ini", name, name);
      g_autofree char *line = g_strdup_printf ("name=%s\nkind=%s\n", name, kinds[i]);
      PlaitTestCall call = QUIET (CALL ("new", kinds[i], name));
      g_auto (GStrv) files = g_strsplit (call.output, "\n", -1);

      CHECK_INT (g_strv_length (files), 8);
      CHECK_CONTAINS (call.output, plait_test_format ("%s/%s/meson.build", name, kinds[i]));
      for (guint k = 0; files[k] && *files[k]; k++)
        {
          CONTEXT ("%s", files[k]);
          const char *path = plait_test_path (files[k]);

          const char *text = plait_test_read_text (path);
          CHECK (!strstr (text, "@NAME@") && !strstr (text, "@KIND@"));
          if (g_str_equal (files[k], schema))
            CHECK_CONTAINS (text, line);
        }
    }
}

TEST_CASE (new_command, quiet_ones_print_nothing)
{
  PlaitTestCall call = QUIET (CALL ("new", "combiner", "silent", "-q"));
  PlaitTestCall generate = DONE (CALL ("generate", "copy", "-o", "corpus", "-s", "train=2", "--quiet"));

  CHECK_STRING (call.output, "");
  CHECK (is_there ("silent/silent.c"));
  CHECK_STRING (generate.output, "");
  CHECK (is_there ("corpus/train.target") || is_there ("corpus/train.a"));
}

TEST_CASE (new_command, replaces_nothing)
{
  plait_test_write ("mine", "a file");
  const char *folder = plait_test_path ("empty"), *mine = plait_test_path ("mine");
  plait_test_make_folder (folder);
  CHECK_REFUSED (CALL ("new", "combiner", "mine"), "mine exists: choose another name");
  CHECK_REFUSED (CALL ("new", "combiner", "empty"), "empty exists: choose another name");

  const char *text = plait_test_read_text (mine);
  CHECK_STRING (text, "a file");
  CHECK (g_rmdir (folder) == 0);
}

TEST_CASE (new_command, refuses)
{
  static const char *const longest = "a123456789012345678901234567890123456789012345678901234567890123";
  CHECK_REFUSED (CALL ("new", "combinr", "x"), "\"combinr\" is not a kind of plugin; did you mean \"combiner\"?");
  CHECK_REFUSED (CALL ("new", "layer-of-mine", "x"),
                 "not a kind of plugin; expected one of encoder, combiner, coverage, output, decoder");
  CHECK_REFUSED (CALL ("new", "", "x"), "\"\" is not a kind of plugin");
  CHECK_REFUSED (CALL ("new", "encoder", ""), "\"\" cannot be the name of a plugin; use up to 64 letters");
  CHECK_REFUSED (CALL ("new", "encoder", "../x"), "\"../x\" cannot be the name of a plugin");
  CHECK_REFUSED (CALL ("new", "encoder", "x/y"), "\"x/y\" cannot be the name of a plugin");
  CHECK_REFUSED (CALL ("new", "encoder", "1x"), "\"1x\" cannot be the name of a plugin");
  CHECK_REFUSED (CALL ("new", "encoder", "x y"), "\"x y\" cannot be the name of a plugin");
  CHECK_REFUSED (CALL ("new", "encoder", "x\"y"), "cannot be the name of a plugin");
  CHECK_REFUSED (CALL ("new", "encoder", "x\xff"), "cannot be the name of a plugin");
  CHECK_REFUSED (CALL ("new", "encoder", plait_test_format ("%s4", longest)), "cannot be the name of a plugin");
  CHECK_REFUSED (CALL ("new", "coverage", "none"), "a coverage cannot be called \"none\"");
  CHECK_REFUSED (CALL ("new", "combiner", "serial"), "combiner \"serial\" exists already (");
  CHECK_REFUSED (CALL ("new", "combiner"), "another argument is missing; usage: plait new KIND NAME");
  CHECK_REFUSED (CALL ("new", "combiner", "x", "y"), "1 argument too many; usage: plait new KIND NAME");
  CHECK (!is_there ("x") && !is_there ("serial") && !is_there ("none"));

  /* Plugins of different kinds may have equal names. */
  DONE (CALL ("new", "encoder", "serial"));
  DONE (CALL ("new", "encoder", longest));
}
