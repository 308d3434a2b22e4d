/* SPDX-License-Identifier: MIT */
#include <glib/gstdio.h>
#include <string.h>

#include "call.h"
#include "files.h"
#include "harness.h"

/* plait new. That what it writes builds and trains is shown by tests/plugin/new.py. */

static gboolean
is_there (const char *name)
{
  return g_file_test (plait_test_path (name), G_FILE_TEST_EXISTS);
}

TEST_CASE (new_command, writes_a_project_of_each_kind)
{
  static const char *const kinds[] = { "encoder", "combiner", "coverage" };

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      CONTEXT ("%s", kinds[i]);
      g_autofree char *name = g_strconcat ("my-", kinds[i], NULL);
      g_autofree char *schema = g_strdup_printf ("%s/%s.ini", name, name);
      g_autofree char *line = g_strdup_printf ("name=%s\nkind=%s\n", name, kinds[i]);
      g_auto (PlaitTestCall) call = CALL ("new", kinds[i], name);
      g_auto (GStrv) files = g_strsplit (call.output, "\n", -1);

      CHECK_INT (call.code, 0);
      CHECK_STRING (call.errors, "");
      CHECK_INT (g_strv_length (files), 8);
      CHECK_CONTAINS (call.output, plait_test_format ("%s/%s/meson.build", name, kinds[i]));
      for (guint k = 0; files[k] && *files[k]; k++)
        {
          CONTEXT ("%s", files[k]);
          const char *path = plait_test_path (files[k]);
          g_autofree char *text = NULL;

          REQUIRE (g_file_get_contents (path, &text, NULL, NULL));
          CHECK (!strstr (text, "@NAME@") && !strstr (text, "@KIND@"));
          if (g_str_equal (files[k], schema))
            CHECK_CONTAINS (text, line);
        }
    }
}

TEST_CASE (new_command, quiet_ones_print_nothing)
{
  g_auto (PlaitTestCall) call = CALL ("new", "combiner", "silent", "-q");
  g_auto (PlaitTestCall) generate = CALL ("generate", "copy", "-o", "corpus", "-s", "train=2", "--quiet");

  CHECK_INT (call.code, 0);
  CHECK_STRING (call.output, "");
  CHECK_STRING (call.errors, "");
  CHECK (is_there ("silent/silent.c"));
  CHECK_INT (generate.code, 0);
  CHECK_STRING (generate.output, "");
  CHECK (is_there ("corpus/train.target") || is_there ("corpus/train.a"));
}

TEST_CASE (new_command, replaces_nothing)
{
  plait_test_write ("mine", "a file");
  const char *folder = plait_test_path ("empty"), *mine = plait_test_path ("mine");
  g_autofree char *text = NULL;
  REQUIRE (g_mkdir (folder, 0755) == 0);
  g_auto (PlaitTestCall) over_file = CALL ("new", "combiner", "mine");
  g_auto (PlaitTestCall) over_folder = CALL ("new", "combiner", "empty");

  plait_test_check_refused (&over_file, "mine exists: choose another name");
  plait_test_check_refused (&over_folder, "empty exists: choose another name");
  CHECK (g_file_get_contents (mine, &text, NULL, NULL));
  CHECK_STRING (text, "a file");
  CHECK (g_rmdir (folder) == 0);
}

TEST_CASE (new_command, refuses)
{
  static const char *const longest = "a123456789012345678901234567890123456789012345678901234567890123";
  const struct
  {
    PlaitTestCall call;
    const char *part;
  } cases[] = {
    { CALL ("new", "combinr", "x"), "\"combinr\" is no kind of plugin; did you mean \"combiner\"?" },
    { CALL ("new", "decoder-layer", "x"), "no kind of plugin; expected one of encoder, combiner, coverage" },
    { CALL ("new", "", "x"), "\"\" is no kind of plugin" },
    { CALL ("new", "encoder", ""), "\"\" cannot be the name of a plugin; expected a letter" },
    { CALL ("new", "encoder", "../x"), "\"../x\" cannot be the name of a plugin" },
    { CALL ("new", "encoder", "x/y"), "\"x/y\" cannot be the name of a plugin" },
    { CALL ("new", "encoder", "1x"), "\"1x\" cannot be the name of a plugin" },
    { CALL ("new", "encoder", "x y"), "\"x y\" cannot be the name of a plugin" },
    { CALL ("new", "encoder", "x\"y"), "cannot be the name of a plugin" },
    { CALL ("new", "encoder", "x\xff"), "cannot be the name of a plugin" },
    { CALL ("new", "encoder", plait_test_format ("%s4", longest)), "cannot be the name of a plugin" },
    { CALL ("new", "coverage", "none"), "a coverage cannot be called \"none\"" },
    { CALL ("new", "combiner", "serial"), "combiner \"serial\" is there already, " },
    { CALL ("new", "combiner"), "another argument is missing; usage: plait new KIND NAME" },
    { CALL ("new", "combiner", "x", "y"), "1 argument too many; usage: plait new KIND NAME" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      CONTEXT ("case %u", i);
      g_auto (PlaitTestCall) call = cases[i].call;

      plait_test_check_refused (&call, cases[i].part);
    }
  CHECK (!is_there ("x") && !is_there ("serial") && !is_there ("none"));

  /* The names of other kinds are free. */
  g_auto (PlaitTestCall) other_kind = CALL ("new", "encoder", "serial");
  g_auto (PlaitTestCall) long_name = CALL ("new", "encoder", longest);
  CHECK_INT (other_kind.code, 0);
  CHECK_INT (long_name.code, 0);
}
