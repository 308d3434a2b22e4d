/* SPDX-License-Identifier: MIT */
#include "files/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files/file.h"
#include "files/lock.h"
#include "files.h"
#include "harness.h"
#include "system.h"

/* Simulates a file system whose folders cannot change their permissions; replaces fchmod of the C library. */
static gboolean has_fixed_modes;

int
fchmod (int descriptor, mode_t mode)
{
  if (!has_fixed_modes)
    return (int)syscall (SYS_fchmod, descriptor, mode);
  errno = EPERM;
  return -1;
}

static const char *const names[] = { "a", "b", "c", NULL };

static gint
compare (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *)a, *(const char *const *)b);
}

/* Returns the files in the folder @path with their texts: "a=1 b=2". (transfer full) */
static char *
contents (const char *path)
{
  g_autoptr (GPtrArray) files = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GDir) folder = g_dir_open (path, 0, NULL);
  const char *name;

  while (folder && (name = g_dir_read_name (folder)))
    {
      g_autofree char *file = g_build_filename (path, name, NULL);
      g_autofree char *text = NULL;

      g_file_get_contents (file, &text, NULL, NULL);
      g_ptr_array_add (files, g_strdup_printf ("%s=%s", name, text ? text : "?"));
    }
  g_ptr_array_sort (files, compare);
  g_ptr_array_add (files, NULL);
  return g_strjoinv (" ", (char **)files->pdata);
}

/* Makes the folder @path with files "a" and "b" that contain @text. */
static gboolean
make (const char *path, const char *text, GError **error)
{
  g_autoptr (PlaitFolder) folder = plait_folder_begin (path, error);

  return folder && plait_file_replace_text (plait_folder_temporary (folder), "a", text, error)
         && plait_file_replace_text (plait_folder_temporary (folder), "b", text, error)
         && plait_folder_commit (g_steal_pointer (&folder), names, error);
}

static void
check (const char *path, const char *expected)
{
  g_autofree char *found = contents (path);

  CHECK_STRING (found, expected);
}

static void
write_into (const char *path, const char *name, const char *text)
{
  g_autofree char *file = g_build_filename (path, name, NULL);

  CHECK (g_mkdir_with_parents (path, 0777) == 0 && g_file_set_contents (file, text, -1, NULL));
}

/* Makes a folder that did not exist, one with older files, and one with foreign files. Foreign files stay; an older
 * file "c" that is not made again is deleted. */
TEST_CASE (folder, is_made_or_made_anew)
{
  const char *path = plait_test_path ("deep/model");

  CHECK (make (path, "1", NO_ERROR));
  check (path, "a=1 b=1");
  write_into (path, "c", "old");
  CHECK (make (path, "2", NO_ERROR));
  check (path, "a=2 b=2");
  write_into (path, "c", "old");
  write_into (path, "README", "mine");
  CHECK (make (path, "3", NO_ERROR));
  check (path, "README=mine a=3 b=3");
  check (plait_test_path ("deep"), "model=?");
}

/* A folder without files is made if there are no names or if none of the files is made. Older files of these names are
 * deleted. */
TEST_CASE (folder, is_made_empty)
{
  static const char *const none[] = { NULL };
  const char *path = plait_test_path ("deep/empty");

  for (guint way = 0; way < 5; way++)
    {
      gboolean is_old = way >= 2, is_foreign = way == 4;
      PlaitFolder *folder;
      CONTEXT ("way %u", way);

      if (is_old)
        CHECK (make (path, "1", NO_ERROR));
      if (is_foreign)
        write_into (path, "README", "mine");
      folder = plait_folder_begin (path, NO_ERROR);
      REQUIRE (folder != NULL);
      CHECK (plait_folder_commit (folder, way % 2 == 1 ? none : names, NO_ERROR));
      CHECK (g_file_test (path, G_FILE_TEST_IS_DIR));
      check (path, way == 3 ? "a=1 b=1" : is_foreign ? "README=mine" : "");
      check (plait_test_path ("deep"), "empty=?");
      if (way < 2)
        g_rmdir (path);
    }
}

/* Leaves nothing behind if the new folder cannot be opened, for example because too many files are open. */
TEST_CASE (folder, is_removed_if_it_cannot_be_opened)
{
  const char *path = plait_test_path ("deep/model");
  g_autoptr (GError) error = NULL;

  plait_test_system_begin (PLAIT_TEST_SYSTEM_FAIL, 0, EMFILE);
  CHECK (!plait_folder_begin (path, &error));
  CHECK_INT (plait_test_system_end (), 1);
  CHECK_ERROR (error, PLAIT_ERROR_FAILED, "the folder cannot be made (Too many open files)");
  check (plait_test_path ("deep"), "");
}

/* If a file in an older folder is a link, its target is replaced. Anything but a regular file is refused. */
TEST_CASE (folder, follows_links_and_replaces_only_files)
{
  const char *path = plait_test_path ("model");
  const char *target = plait_test_path ("elsewhere");
  g_autofree char *a = g_build_filename (path, "a", NULL);
  g_autofree char *c = g_build_filename (path, "c", NULL);
  GError *error = NULL;

  REQUIRE (g_mkdir (path, 0777) == 0 && g_file_set_contents (target, "old", -1, NULL) && symlink (target, a) == 0);
  CHECK (make (path, "1", NO_ERROR));
  CHECK (g_file_test (a, G_FILE_TEST_IS_SYMLINK));
  check (path, "a=1 b=1");
  plait_test_make_folder (c);
  CHECK (!make (path, "2", &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "model/c: it is not a regular file");
  check (path, "a=1 b=1 c=?");
  CHECK (!make (target, "2", &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "elsewhere: exists, but is not a folder");
  CHECK (!make ("", "2", &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "is not the name of a folder");
}

/* Temporary folders are locked. The files in a locked folder are replaced, never the folder. */
TEST_CASE (folder, is_the_same_where_it_is_locked)
{
  const char *path = plait_test_path ("locked");

  plait_test_make_folder (path);
  int descriptor = open (path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  REQUIRE (plait_lock_descriptor (descriptor) == PLAIT_LOCK_TAKEN);
  CHECK (make (path, "1", NO_ERROR));
  CHECK (make (path, "2", NO_ERROR));
  CHECK (plait_lock_is_at_path (descriptor, path));
  check (path, "a=2 b=2");
  close (descriptor);
}

/* If no names are given, the folder must not exist. */
TEST_CASE (folder, is_not_replaced_without_names)
{
  const char *path = plait_test_path ("project");
  GError *error = NULL;
  PlaitFolder *folder = plait_folder_begin (path, NO_ERROR);

  REQUIRE (folder != NULL);
  plait_test_make_folder (path);
  CHECK (!plait_folder_commit (folder, NULL, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "another program has made this folder");
  check (path, "");
}

typedef struct
{
  const char *path;
  PlaitTestSystemMode mode;
  int call;
} Kill;

static void
make_and_die (gpointer data)
{
  const Kill *killing = data;

  plait_test_system_begin (killing->mode, killing->call, 0);
  make (killing->path, "2", NULL);
  plait_test_system_end ();
}

/* Kills the process at each step. The folder then holds either all old files or all new files, and the next
 * plait_folder_begin() deletes the rest. */
TEST_CASE (folder, is_whole_when_killed)
{
  const char *path = plait_test_path ("whole/model");
  const char *above = plait_test_path ("whole");

  CHECK (make (path, "1", NULL));
  plait_test_system_begin (PLAIT_TEST_SYSTEM_COUNT, 0, 0);
  CHECK (make (path, "1", NULL));
  int calls = plait_test_system_end ();
  CHECK (calls > 8);
  for (int i = 0; i < 4 * calls; i++)
    {
      gboolean exists = i % 2;
      Kill killing = { path, i / 2 % 2 ? PLAIT_TEST_SYSTEM_KILL_BEFORE : PLAIT_TEST_SYSTEM_KILL_AFTER, i / 4 };

      CONTEXT ("killed %s call %d of %d", i / 2 % 2 ? "before" : "after", i / 4, calls);
      CHECK (make (path, "1", NULL));
      if (!exists)
        for (guint k = 0; k < 2; k++)
          {
            g_autofree char *file = g_build_filename (path, names[k], NULL);

            g_unlink (file);
          }
      if (!exists)
        g_rmdir (path);
      CHECK (plait_test_system_fork (make_and_die, &killing));
      g_autofree char *found = g_file_test (path, G_FILE_TEST_EXISTS) ? contents (path) : g_strdup ("");
      CHECK (g_str_equal (found, exists ? "a=1 b=1" : "") || g_str_equal (found, "a=2 b=2"));
      CHECK (make (path, "3", NULL));
      check (path, "a=3 b=3");
      check (above, "model=?");
    }
}

/* A folder that cannot get its permissions is removed, and the message names what the user can change. */
TEST_CASE (folder, needs_its_permissions)
{
  const char *path = plait_test_path ("folder");
  g_autoptr (GError) error = NULL, temporary = NULL;

  CHECK (make (path, "1", NO_ERROR));
  has_fixed_modes = TRUE;
  CHECK (!make (path, "2", &error));
  CHECK (!plait_folder_begin_temporary (&temporary));
  has_fixed_modes = FALSE;
  CHECK_ERROR (error, PLAIT_ERROR_FAILED,
               "the permissions of the new folder cannot be set (Operation not permitted); name");
  CHECK_ERROR (temporary, PLAIT_ERROR_FAILED, "; free space there, or set TMPDIR to another folder");
  check (path, "a=1 b=1");
}

/*
 * Temporary folders
 */

TEST_CASE (temporary, goes_with_what_is_in_it)
{
  PlaitFolder *one = plait_folder_begin_temporary (NO_ERROR), *two = plait_folder_begin_temporary (NO_ERROR);

  REQUIRE (one && two);
  g_autofree char *path = g_strdup (plait_folder_temporary (one));
  CHECK (strcmp (path, plait_folder_temporary (two)) != 0);
  write_into (path, "file", "x");
  write_into (path, "other", "x");
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

      write_into (plait_folder_temporary (temporary), "file", "x");
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
