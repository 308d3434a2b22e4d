/* SPDX-License-Identifier: MIT */
#include "files/folder.h"
#include "harness.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void
write_in (const char *folder, const char *name)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);

  CHECK (g_file_set_contents (path, "x", 1, NULL));
}

TEST_CASE (temporary, goes_with_what_is_in_it)
{
  PlaitFolder *one = plait_folder_begin_temporary (NO_ERROR), *two = plait_folder_begin_temporary (NO_ERROR);

  REQUIRE (one && two);
  g_autofree char *path = g_strdup (plait_folder_temporary (one));
  CHECK (strcmp (path, plait_folder_temporary (two)) != 0);
  write_in (path, "file");
  write_in (path, "other");
  plait_folder_abandon (one);
  CHECK (!g_file_test (path, G_FILE_TEST_EXISTS));
  CHECK (g_file_test (plait_folder_temporary (two), G_FILE_TEST_IS_DIR));
  plait_folder_abandon (two);
}

/* Starts a process that has a temporary folder with a file, and sets *@path to the path of the folder. */
static pid_t
start_user (char **path)
{
  int ends[2];
  char text[4096] = "";

  g_assert_cmpint (pipe (ends), ==, 0);
  pid_t user = fork ();
  if (user == 0)
    {
      PlaitFolder *temporary = plait_folder_begin_temporary (NULL);

      write_in (plait_folder_temporary (temporary), "file");
      if (write (ends[1], plait_folder_temporary (temporary), strlen (plait_folder_temporary (temporary))) < 0)
        _exit (1);
      for (;;)
        pause ();
    }
  g_assert_cmpint (read (ends[0], text, sizeof text - 1), >, 0);
  close (ends[0]);
  close (ends[1]);
  *path = g_strdup (text);
  return user;
}

/* TRUE if @path is deleted within some seconds. Another process may be deleting it at this moment. */
static gboolean
goes_away (const char *path)
{
  for (int i = 0; i < 10000 && g_file_test (path, G_FILE_TEST_EXISTS); i++)
    g_usleep (1000);
  return !g_file_test (path, G_FILE_TEST_EXISTS);
}

TEST_CASE (temporary, removes_what_the_dead_left)
{
  g_autofree char *left = NULL, *used = NULL;
  pid_t dead = start_user (&left), alive = start_user (&used);

  CHECK (g_file_test (left, G_FILE_TEST_IS_DIR));
  kill (dead, SIGKILL);
  siginfo_t information;
  CHECK_INT (waitid (P_PID, (id_t)dead, &information, WEXITED | WNOWAIT), 0); /* a zombie, which keeps its number */
  plait_folder_abandon (plait_folder_begin_temporary (NULL));
  CHECK (goes_away (left));
  CHECK (g_file_test (used, G_FILE_TEST_IS_DIR));
  waitpid (dead, NULL, 0);
  kill (alive, SIGKILL);
  waitpid (alive, NULL, 0);
  plait_folder_abandon (plait_folder_begin_temporary (NULL));
  CHECK (goes_away (used));
}
