/* SPDX-License-Identifier: MIT */
#include "files/file.h"
#include "files/folder.h"
#include "files/lock.h"
#include "harness.h"

#include <dlfcn.h>
#include <errno.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

/* Simulates a file system without locks; replaces flock of the C library. */
static gboolean has_no_locks;

int
flock (int descriptor, int operation)
{
  if (!has_no_locks)
    return (int)syscall (SYS_flock, descriptor, operation);
  errno = ENOLCK;
  return -1;
}

/* Simulates a mount whose locks do not reach other machines. NULL, or the text of /proc/self/mountinfo. */
static const char *mounts_now;

gboolean
g_file_get_contents (const char *path, char **contents, gsize *length, GError **error)
{
  typedef gboolean (*Function) (const char *, char **, gsize *, GError **);

  if (!mounts_now || !g_str_equal (path, "/proc/self/mountinfo"))
    return ((Function)dlsym (RTLD_NEXT, "g_file_get_contents")) (path, contents, length, error);
  *contents = g_strdup (mounts_now);
  return TRUE;
}

/* Simulates a network file system. */
static const struct stat *remembered; /* status that lstat() still reports after another machine deleted the file */
static gboolean loses_answer;         /* TRUE: the answer to a rename is lost */

int
lstat (const char *path, struct stat *status)
{
  if (!remembered)
    return fstatat (AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW);
  *status = *remembered;
  return 0;
}

int
rename (const char *from, const char *to)
{
  int result = renameat (AT_FDCWD, from, AT_FDCWD, to);

  if (!loses_answer)
    return result;
  errno = ENOENT;
  return -1;
}

static PlaitLock *
take (const char *path, PlaitLog *log, GError **error)
{
  return plait_lock_take (path, plait_test_format ("%s: taken", path), "wait", log, error);
}

static gboolean
lock_file_is_there (const char *path)
{
  g_autofree char *lock = g_strconcat (path, PLAIT_LOCK_SUFFIX, NULL);

  return g_file_test (lock, G_FILE_TEST_EXISTS);
}

/* Starts a process that holds the lock of @path. Returns when the lock is taken. */
static pid_t
start_holder (const char *path)
{
  int ends[2];
  char byte;

  g_assert_cmpint (pipe (ends), ==, 0);
  pid_t holder = fork ();
  if (holder == 0)
    {
      PlaitLock *lock = take (path, NULL, NULL);

      if (!lock || write (ends[1], "y", 1) != 1)
        _exit (1);
      for (;;)
        pause ();
    }
  g_assert_cmpint (read (ends[0], &byte, 1), ==, 1);
  close (ends[0]);
  close (ends[1]);
  return holder;
}

TEST_CASE (lock, is_held_by_one_process)
{
  const char *path = plait_test_path ("file"), *link = plait_test_path ("link");
  g_autoptr (GError) error = NULL;

  REQUIRE (g_file_set_contents (path, "x", 1, NULL) && symlink ("file", link) == 0);
  pid_t holder = start_holder (path);
  g_autofree char *named
      = g_strdup_printf ("link: taken (process %d on host %s); wait", (int)holder, g_get_host_name ());
  /* A link and its target share one lock. */
  CHECK (!take (link, NULL, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, named);
  kill (holder, SIGTERM);
  waitpid (holder, NULL, 0);
}

TEST_CASE (lock, does_not_outlive_its_process)
{
  const char *path = plait_test_path ("file");
  pid_t holder = start_holder (path);

  kill (holder, SIGKILL);
  PlaitLock *lock = take (path, NULL, NO_ERROR); /* the dead holder is still a zombie */
  CHECK (lock != NULL);
  CHECK (lock_file_is_there (path));
  plait_lock_release (lock);
  CHECK (!lock_file_is_there (path));
  waitpid (holder, NULL, 0);
}

/* When a file is made in a folder, files that killed processes left there are deleted, except locked ones. */
TEST_CASE (lock, is_tidied_up)
{
  const char *left = plait_test_path ("left"), *held = plait_test_path ("held"), *other = plait_test_path ("other");
  pid_t killed = start_holder (left), holder = start_holder (held);

  kill (killed, SIGKILL);
  waitpid (killed, NULL, 0);
  CHECK (plait_file_replace (other, "x", 1, NULL));
  CHECK (!lock_file_is_there (left));
  CHECK (lock_file_is_there (held));
  kill (holder, SIGKILL);
  waitpid (holder, NULL, 0);
}

/* If locks do not reach other machines, a lock file without a lock may be held on another machine, so it stays. */
TEST_CASE (lock, of_another_machine_is_not_tidied_up)
{
  const char *held = plait_test_path ("held" PLAIT_LOCK_SUFFIX), *other = plait_test_path ("other");
  struct stat status;

  REQUIRE (g_file_set_contents (held, "process 1 on host other\n", -1, NULL) && stat (held, &status) == 0);
  mounts_now = plait_test_format ("9 2 %u:%u / / rw - nfs h:/ rw,local_lock=flock\n", major (status.st_dev),
                                  minor (status.st_dev));
  CHECK (plait_file_replace (other, "x", 1, NULL));
  CHECK (g_file_test (held, G_FILE_TEST_EXISTS));
  mounts_now = NULL;
  CHECK (plait_file_replace (other, "x", 1, NULL));
  CHECK (!g_file_test (held, G_FILE_TEST_EXISTS));
}

TEST_CASE (lock, says_where_it_cannot_be)
{
  g_autoptr (GError) error = NULL;

  CHECK (!take (plait_test_path ("nowhere/file"), NULL, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "nowhere/file" PLAIT_LOCK_SUFFIX ": the lock cannot be made (No such file");
}

TEST_CASE (lock, is_of_a_file_that_is_still_there)
{
  const char *path = plait_test_path ("file");
  int descriptor = open (path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  struct stat status;

  REQUIRE (descriptor >= 0 && fstat (descriptor, &status) == 0);
  CHECK (plait_lock_is_at_path (descriptor, path));
  CHECK_INT (unlink (path), 0);
  remembered = &status;
  CHECK (!plait_lock_is_at_path (descriptor, path));
  remembered = NULL;
  close (descriptor);
}

TEST_CASE (lock, of_this_machine_alone_is_known_by_how_it_is_mounted)
{
  static const char mounts[]
      = "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw,errors=remount-ro\n"
        "90 22 0:52 / /home rw,relatime shared:2 - nfs4 host:/home rw,vers=4.2,hard,local_lock=none,addr=10.0.0.1\n"
        "91 22 0:53 / /old rw shared:3 - nfs host:/old rw,vers=3,nolock,proto=tcp,local_lock=all,addr=10.0.0.1\n"
        "92 22 0:54 / /flock rw shared:4 - nfs host:/flock rw,vers=3,local_lock=flock,addr=10.0.0.1\n";

  CHECK (!plait_lock_is_local (mounts, 8, 1));
  CHECK (!plait_lock_is_local (mounts, 0, 52));
  CHECK (plait_lock_is_local (mounts, 0, 53));
  CHECK (plait_lock_is_local (mounts, 0, 54));
  CHECK (!plait_lock_is_local (mounts, 0, 5));
}

/* NFS sends a request again if no answer arrives, so the second request fails although the first succeeded. */
TEST_CASE (lock, a_file_that_took_its_place_is_known_by_itself)
{
  const char *path = plait_test_path ("file");
  g_autofree char *bytes = NULL;

  loses_answer = TRUE;
  CHECK (plait_file_replace (path, "x", 1, NO_ERROR));
  loses_answer = FALSE;
  CHECK (g_file_get_contents (path, &bytes, NULL, NULL));
  CHECK_STRING (bytes, "x");
}

TEST_CASE (lock, says_that_there_are_none)
{
  const char *path = plait_test_path ("file");
  g_autofree char *said = NULL;
  size_t length = 0;
  FILE *stream = open_memstream (&said, &length);
  PlaitLog *log = plait_log_new_with ((PlaitLogSettings){ .stream = stream, .now = g_get_monotonic_time });
  g_autoptr (GError) error = NULL;

  has_no_locks = TRUE;
  PlaitLock *one = take (path, log, NO_ERROR);
  PlaitLock *two = take (path, NULL, NO_ERROR);
  CHECK (one && two);
  /* Files are replaced even without locks. The second writer must not delete the temporary file of the first. */
  PlaitFile *first = plait_file_begin (path, NO_ERROR), *second = plait_file_begin (path, NO_ERROR);
  REQUIRE (first && second);
  CHECK (g_file_set_contents (plait_file_temporary (first), "first", -1, NULL));
  CHECK (plait_file_commit (first, NO_ERROR));
  CHECK (!plait_file_commit (second, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "another program has written this file in the meantime");
  has_no_locks = FALSE;
  plait_lock_release (one);
  plait_lock_release (two);
  CHECK (!lock_file_is_there (path));
  plait_log_free (log);
  fclose (stream);
  CHECK_CONTAINS (said, "warning: ");
  CHECK_CONTAINS (said, "the file system does not support locks");
}

/* A process may make several folders of one name at the same time, even without locks. */
TEST_CASE (lock, is_not_needed_for_several_folders)
{
  for (guint way = 0; way < 2; way++)
    {
      CONTEXT ("way %u", way);
      has_no_locks = way == 1;
      PlaitFolder *first = plait_folder_begin_temporary (NO_ERROR), *second = plait_folder_begin_temporary (NO_ERROR);

      REQUIRE (first && second);
      CHECK (g_file_test (plait_folder_temporary (first), G_FILE_TEST_IS_DIR));
      CHECK (!g_str_equal (plait_folder_temporary (first), plait_folder_temporary (second)));
      plait_folder_abandon (first);
      plait_folder_abandon (second);
    }
  has_no_locks = FALSE;
}
