/* SPDX-License-Identifier: MIT */
#include "files/path.h"
#include "harness.h"

#include <pwd.h>

TEST_CASE (path, expands_folders_of_users_and_variables)
{
  const struct
  {
    const char *written, *path;
  } cases[] = {
    { "", "" },
    { "text/train.en", "text/train.en" },
    { "~", "/home/of a" },
    { "~/text", "/home/of a/text" },
    { "./~/text", "./~/text" },
    { "text/~", "text/~" },
    { "$PLAIT_TEST", "/data" },
    { "$PLAIT_TEST/text", "/data/text" },
    { "${PLAIT_TEST}s/$PLAIT_TEST.en", "/datas//data.en" },
    { "a$$PLAIT_TEST", "a$PLAIT_TEST" },
    { "$$$PLAIT_TEST$$", "$/data$" },
    { "$PLAIT_TEST_EMPTY", "" },
    { "$PLAIT_TEST_SIGN", "~/$HOME" },
  };

  g_setenv ("HOME", "/home/of a", TRUE);
  g_setenv ("PLAIT_TEST", "/data", TRUE);
  g_setenv ("PLAIT_TEST_EMPTY", "", TRUE);
  g_setenv ("PLAIT_TEST_SIGN", "~/$HOME", TRUE);
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      CONTEXT ("%s", cases[i].written);
      g_autofree char *path = plait_path_expand (cases[i].written, NO_ERROR);

      CHECK_STRING (path, cases[i].path);
    }
}

TEST_CASE (path, knows_other_users)
{
  const struct passwd *root = getpwnam ("root");

  if (!root)
    SKIP_TEST ("there is no user root");
  g_autofree char *path = plait_path_expand ("~root/a", NO_ERROR), *expected = g_strconcat (root->pw_dir, "/a", NULL);
  CHECK_STRING (path, expected);
}

TEST_CASE (path, refuses_what_is_not_there)
{
  const struct
  {
    const char *written, *part;
  } cases[] = {
    { "$PLAIT_TEST_UNSET/text", "the variable PLAIT_TEST_UNSET is not set" },
    { "${PLAIT_TEST_UNSET}", "the variable PLAIT_TEST_UNSET is not set" },
    { "~no-such-user/text", "~no-such-user: there is no user no-such-user" },
    { "cost$", "is not followed by the name" },
    { "$5", "is not followed by the name" },
    { "${}", "is not followed by the name" },
    { "${HOME", "is not followed by the name" },
    { "$(HOME)", "is not followed by the name" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      CONTEXT ("%s", cases[i].written);
      g_autoptr (GError) error = NULL;

      CHECK (!plait_path_expand (cases[i].written, &error));
      CHECK_ERROR (error, PLAIT_ERROR_INPUT, cases[i].part);
    }
}

TEST_CASE (path, escaped_is_read_back)
{
  static const char *const paths[] = { "", "/data/a", "/data/$HOME/$", "~/a", "$", "a$$b" };

  for (gsize i = 0; i < G_N_ELEMENTS (paths); i++)
    {
      CONTEXT ("%s", paths[i]);
      g_autofree char *escaped = plait_path_escape (paths[i]);
      g_autofree char *again = plait_path_expand (escaped, NULL);

      CHECK_STRING (g_str_has_prefix (again, "./") ? again + 2 : again, paths[i]);
    }
}

/* Replaces only "~" in values from the command line: the shell has already replaced variables. */
TEST_CASE (path, tilde_alone_leaves_signs_as_they_are)
{
  g_setenv ("HOME", "/home/a", TRUE);
  g_autofree char *path = plait_path_expand_home ("~/$HOME/$$", NULL);
  CHECK_STRING (path, "/home/a/$HOME/$$");
}

/* Ignores a relative folder in a variable, because it would depend on the current folder. */
TEST_CASE (path, passes_over_folders_that_are_not_absolute)
{
  const struct
  {
    const char *named, *home, *folder;
  } cases[] = {
    { "/data", "/home/a", "/data" },
    { NULL, "/home/a", "/home/a/.local/share" },
    { "", "/home/a", "/home/a/.local/share" },
    { "data", "/home/a", "/home/a/.local/share" },
    { "./data", "/home/a", "/home/a/.local/share" },
    { NULL, "", NULL },
    { NULL, "home", NULL },
    { "data", ".", NULL },
    { "/data", "", "/data" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      CONTEXT ("case %zu", i);

      g_setenv ("HOME", cases[i].home, TRUE);
      if (cases[i].named)
        g_setenv ("XDG_DATA_HOME", cases[i].named, TRUE);
      else
        g_unsetenv ("XDG_DATA_HOME");
      g_autofree char *folder = plait_path_user_folder ("XDG_DATA_HOME", ".local/share");
      CHECK_STRING (folder, cases[i].folder);
    }

  g_setenv ("TMPDIR", "/data/tmp", TRUE);
  CHECK_STRING (plait_path_temporary (), "/data/tmp");
  g_setenv ("TMPDIR", "data", TRUE);
  CHECK_STRING (plait_path_temporary (), "/tmp");
  g_setenv ("TMPDIR", "", TRUE);
  CHECK_STRING (plait_path_temporary (), "/tmp");
  g_unsetenv ("TMPDIR");
  CHECK_STRING (plait_path_temporary (), "/tmp");
}

TEST_CASE (path, within_a_folder)
{
  CHECK_STRING (plait_path_within ("/a/b/c", "/a"), "b/c");
  CHECK_STRING (plait_path_within ("/a/b/c", "/a/b"), "c");
  CHECK_STRING (plait_path_within ("/ab/c", "/a"), "/ab/c");
  CHECK_STRING (plait_path_within ("/b/c", "/a"), "/b/c");
  CHECK_STRING (plait_path_within ("/a", "/a"), "/a");
}
