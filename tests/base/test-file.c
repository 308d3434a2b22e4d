/* SPDX-License-Identifier: MIT */
#include "files/file.h"
#include "files/lock.h"
#include "harness.h"
#include "system.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static guint
files_in_folder (void)
{
  g_autoptr (GDir) folder = g_dir_open (plait_test_folder (), 0, NULL);
  guint files = 0;

  while (g_dir_read_name (folder))
    files++;
  return files;
}

static void
check_contents (const char *path, const char *expected)
{
  g_autofree char *text = NULL;

  CHECK (g_file_get_contents (path, &text, NULL, NULL));
  CHECK_STRING (text, expected);
}

TEST_CASE (file, makes_and_replaces)
{
  const char *path = plait_test_path ("file");

  CHECK (plait_file_replace (path, "one", 3, NO_ERROR));
  check_contents (path, "one");
  CHECK (plait_file_replace (path, "two", 3, NO_ERROR));
  check_contents (path, "two");
  CHECK (plait_file_replace (path, "", 0, NO_ERROR));
  check_contents (path, "");
  CHECK_INT (files_in_folder (), 1);
}

TEST_CASE (file, stays_until_the_commit)
{
  const char *path = plait_test_path ("file");
  g_autoptr (GError) error = NULL;

  REQUIRE (g_file_set_contents (path, "old", 3, NULL));
  PlaitFile *file = plait_file_begin (path, NO_ERROR);
  PlaitFile *other = plait_file_begin (path, NO_ERROR);
  REQUIRE (file && other);
  /* Two writers that replace one file use different temporary files. */
  CHECK (strcmp (plait_file_temporary (file), plait_file_temporary (other)) != 0);
  CHECK (g_file_set_contents (plait_file_temporary (file), "new", 3, NULL));
  check_contents (path, "old");
  plait_file_abandon (other);
  check_contents (path, "old");
  CHECK (plait_file_commit (file, &error));
  check_contents (path, "new");
  CHECK_INT (files_in_folder (), 1);
}

TEST_CASE (file, keeps_mode_and_link)
{
  const char *path = plait_test_path ("file");
  const char *link = plait_test_path ("link");
  struct stat status;

  REQUIRE (g_file_set_contents (path, "old", 3, NULL) && chmod (path, 0640) == 0 && symlink ("file", link) == 0);
  CHECK (plait_file_replace (link, "new", 3, NO_ERROR));
  check_contents (path, "new");
  CHECK (lstat (link, &status) == 0 && S_ISLNK (status.st_mode));
  CHECK (stat (path, &status) == 0);
  CHECK_INT (status.st_mode & 0777, 0640);
}

TEST_CASE (file, stream_is_flushed_and_remembers_failures)
{
  const char *path = plait_test_path ("file");
  g_autoptr (GError) error = NULL;
  PlaitFile *file = plait_file_begin (path, NO_ERROR);
  struct stat status;
  struct rlimit before;

  REQUIRE (file && fputs ("new", plait_file_stream (file)) >= 0 && fflush (plait_file_stream (file)) == 0);
  CHECK (stat (plait_file_temporary (file), &status) == 0 && status.st_size == 3);
  CHECK (fputs ("er", plait_file_stream (file)) >= 0 && plait_file_commit (file, NO_ERROR));
  check_contents (path, "newer");
  file = plait_file_begin (path, &error);
  REQUIRE (file && getrlimit (RLIMIT_FSIZE, &before) == 0);
  signal (SIGXFSZ, SIG_IGN);
  REQUIRE (setrlimit (RLIMIT_FSIZE, &(struct rlimit){ 0, before.rlim_max }) == 0);
  CHECK (fputs ("newest", plait_file_stream (file)) >= 0 && fflush (plait_file_stream (file)) != 0);
  REQUIRE (setrlimit (RLIMIT_FSIZE, &before) == 0);
  signal (SIGXFSZ, SIG_DFL);
  CHECK (!plait_file_commit (file, &error));
  CHECK_ERROR (error, PLAIT_ERROR_FAILED, "so the new file is discarded");
  check_contents (path, "newer");
  CHECK_INT (files_in_folder (), 1);
}

TEST_CASE (file, refuses_what_is_no_file)
{
  const char *fifo = plait_test_path ("fifo");
  const char *dangling = plait_test_path ("dangling");
  g_autoptr (GError) error = NULL;

  CHECK (!plait_file_replace (plait_test_path ("missing/file"), "x", 1, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "missing/file: no file can be made in its folder: No such file");
  CHECK (!plait_file_replace (plait_test_folder (), "x", 1, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "not a regular file");
  CHECK (!plait_file_replace ("/dev/null", "x", 1, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "/dev/null: it is not a regular file");
  CHECK (!plait_file_replace ("", "x", 1, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "is not the name of a file");
  CHECK (!plait_file_replace (plait_test_path ("new/"), "x", 1, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "is not the name of a file");
  REQUIRE (mkfifo (fifo, 0600) == 0 && symlink ("nowhere", dangling) == 0);
  CHECK (!plait_file_replace (fifo, "x", 1, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "not a regular file");
  CHECK (!plait_file_replace (dangling, "x", 1, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "a link to a file that does not exist");
  CHECK_INT (files_in_folder (), 2);
}

/* Starts a process that begins to replace @path and then waits for ever. */
static pid_t
start_writer (const char *path)
{
  int ends[2];
  char byte;

  g_assert_cmpint (pipe (ends), ==, 0);
  pid_t writer = fork ();
  if (writer == 0)
    {
      if (!plait_file_begin (path, NULL) || write (ends[1], "y", 1) != 1)
        _exit (1);
      for (;;)
        pause ();
    }
  g_assert_cmpint (read (ends[0], &byte, 1), ==, 1);
  close (ends[0]);
  close (ends[1]);
  return writer;
}

static char *
temporary_of (const char *path, pid_t process)
{
  return g_strdup_printf ("%s.partial-%s-%d-0", path, g_get_host_name (), (int)process);
}

TEST_CASE (file, removes_what_the_dead_left)
{
  const char *path = plait_test_path ("file"), *other = plait_test_path ("other");
  pid_t dead = start_writer (other), alive = start_writer (path);
  g_autofree char *left = temporary_of (other, dead), *used = temporary_of (path, alive);
  /* with the number of this process, which does not lock the file */
  g_autofree char *numbered = temporary_of (path, getpid ());
  g_autofree char *elsewhere = g_strdup_printf ("%s.partial-far-%s-1-0", path, g_get_host_name ());
  g_autofree char *used_elsewhere = g_strdup_printf ("%s.partial-far-off-2-0", path);
  g_autofree char *named = g_strdup_printf ("%s.partial-%s-x", path, g_get_host_name ());
  g_autofree char *numbered_once = g_strdup_printf ("%s.partial-%s-1", path, g_get_host_name ());
  siginfo_t information;

  REQUIRE (g_file_set_contents (numbered, "x", 1, NULL) && g_file_set_contents (elsewhere, "x", 1, NULL)
           && g_file_set_contents (used_elsewhere, "x", 1, NULL) && g_file_set_contents (named, "x", 1, NULL)
           && g_file_set_contents (numbered_once, "x", 1, NULL));
  int holder = g_open (used_elsewhere, O_RDWR | O_CLOEXEC, 0);
  CHECK_INT (plait_lock_descriptor (holder), PLAIT_LOCK_TAKEN);
  CHECK (g_file_test (left, G_FILE_TEST_EXISTS));
  kill (dead, SIGKILL);
  CHECK_INT (waitid (P_PID, (id_t)dead, &information, WEXITED | WNOWAIT), 0); /* a zombie, which keeps its number */
  CHECK (plait_file_replace (path, "new", 3, NULL));
  CHECK (!g_file_test (left, G_FILE_TEST_EXISTS));
  CHECK (!g_file_test (numbered, G_FILE_TEST_EXISTS));
  CHECK (g_file_test (used, G_FILE_TEST_EXISTS));
  /* The file is not locked, so its process has ended. A process of another host cannot be looked up by number. */
  CHECK (!g_file_test (elsewhere, G_FILE_TEST_EXISTS));
  CHECK (g_file_test (used_elsewhere, G_FILE_TEST_EXISTS));
  CHECK (g_file_test (named, G_FILE_TEST_EXISTS));
  CHECK (g_file_test (numbered_once, G_FILE_TEST_EXISTS));
  close (holder);
  waitpid (dead, NULL, 0);
  kill (alive, SIGKILL);
  waitpid (alive, NULL, 0);
}

/* Begins to replace the file, lets another program write @other_text into it, and commits. Checks that the other text
 * stays. */
static void
check_left_alone (const char *path, const char *other_text)
{
  g_autoptr (GError) error = NULL;
  PlaitFile *file = plait_file_begin (path, NO_ERROR);

  REQUIRE (file != NULL);
  CHECK (g_file_set_contents (plait_file_temporary (file), "ours", 4, NULL));
  CHECK (g_file_set_contents (path, other_text, -1, NULL));
  CHECK (!plait_file_commit (file, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "another program has written this file in the meantime");
  check_contents (path, other_text);
  CHECK_INT (files_in_folder (), 1);
}

TEST_CASE (file, leaves_alone_what_came_in_between)
{
  const char *path = plait_test_path ("file");

  check_left_alone (path, "first");
  check_left_alone (path, "other");
}

TEST_CASE (file, does_not_mind_that_the_old_one_is_gone)
{
  const char *path = plait_test_path ("file");

  REQUIRE (g_file_set_contents (path, "old", 3, NULL));
  PlaitFile *file = plait_file_begin (path, NO_ERROR);
  g_unlink (path);
  CHECK (plait_file_commit (file, NO_ERROR));
  check_contents (path, "");
}

TEST_CASE (file, replaces_what_exists_by_force_alone)
{
  const char *path = plait_test_path ("file");
  g_autoptr (GError) error = NULL;

  CHECK (plait_file_check_new (path, FALSE, "", "--output", NO_ERROR));
  CHECK (plait_file_check_new (NULL, FALSE, "", "--output", NO_ERROR));
  REQUIRE (g_file_set_contents (path, "", 0, NULL));
  CHECK (plait_file_check_new (path, TRUE, "", "--output", NO_ERROR));
  CHECK (!plait_file_check_new (path, FALSE, "wait, ", "--output", &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT,
               "file exists: wait, write elsewhere with --output, or replace it with --force");
}

static const char old_text[] = "what was there";
static const char new_text[] = "what shall be there";

static int
calls_of_a_replacement (const char *path)
{
  plait_test_system_begin (PLAIT_TEST_SYSTEM_COUNT, 0, 0);
  CHECK (plait_file_replace (path, new_text, strlen (new_text), NULL));
  return plait_test_system_end ();
}

/* Lets each system call fail in turn, as if the disk were full or broken. The file must keep its old or its new
 * text. */
TEST_CASE (file, every_failing_call_keeps_old_or_new)
{
  const int problems[] = { ENOSPC, EIO, EACCES };
  const char *path = plait_test_path ("file");
  int calls, refused = 0;

  REQUIRE (g_file_set_contents (path, old_text, -1, NULL));
  calls = calls_of_a_replacement (path);
  REQUIRE (calls >= 8);
  for (int call = 0; call < calls; call++)
    for (gsize p = 0; p < G_N_ELEMENTS (problems); p++)
      {
        g_autoptr (GError) error = NULL;
        g_autofree char *text = NULL;

        CONTEXT ("call %d fails with %s", call, g_strerror (problems[p]));
        REQUIRE (g_file_set_contents (path, old_text, -1, NULL));
        plait_test_system_begin (PLAIT_TEST_SYSTEM_FAIL, call, problems[p]);
        gboolean done = plait_file_replace (path, new_text, strlen (new_text), &error);
        plait_test_system_end ();
        CHECK (g_file_get_contents (path, &text, NULL, NULL));
        CHECK_INT (done, !error);
        if (done)
          CHECK_STRING (text, new_text);
        else
          {
            refused++;
            CHECK (error->domain == PLAIT_ERROR);
            CHECK_CONTAINS (error->message, path);
            CHECK_CONTAINS (error->message, g_strerror (problems[p]));
            /* After the rename, only the sync of the folder can fail. */
            CHECK_STRING (text, strstr (error->message, "was replaced") ? new_text : old_text);
          }
        CHECK_INT (files_in_folder (), 1);
      }
  /* Calls that can fail: making the file, its mode, writing, sync, rename, opening and syncing the folder. */
  CHECK_INT (refused, 3 * 7);
}

typedef struct
{
  const char *path;
  PlaitTestSystemMode mode;
  int call;
} Kill;

static void
replace_and_die (gpointer data)
{
  const Kill *killing = data;

  plait_test_system_begin (killing->mode, killing->call, 0);
  plait_file_replace (killing->path, new_text, strlen (new_text), NULL);
}

TEST_CASE (file, a_kill_at_any_call_keeps_old_or_new)
{
  const char *path = plait_test_path ("file");

  REQUIRE (g_file_set_contents (path, old_text, -1, NULL));
  int calls = calls_of_a_replacement (path);
  for (int call = 0; call < calls; call++)
    for (PlaitTestSystemMode mode = PLAIT_TEST_SYSTEM_KILL_BEFORE; mode <= PLAIT_TEST_SYSTEM_KILL_AFTER; mode++)
      {
        Kill killing = { path, mode, call };
        g_autofree char *text = NULL;

        CONTEXT ("killed %s call %d", mode == PLAIT_TEST_SYSTEM_KILL_BEFORE ? "before" : "after", call);
        REQUIRE (g_file_set_contents (path, old_text, -1, NULL));
        CHECK (plait_test_system_fork (replace_and_die, &killing));
        CHECK (g_file_get_contents (path, &text, NULL, NULL));
        CHECK (g_strcmp0 (text, old_text) == 0 || g_strcmp0 (text, new_text) == 0);
        /* The next replacement deletes the temporary file of a dead process. */
        CHECK (plait_file_replace (path, new_text, strlen (new_text), NULL));
        CHECK_INT (files_in_folder (), 1);
      }
}

/* ---- Tests of reading ---- */

#define READ(path) plait_file_read (path, PLAIT_FILE_REGULAR, 100, "a text", &error)

TEST_CASE (file, reads_all_within_its_limit)
{
  const char *path = plait_test_path ("file");
  g_autofree char *text = g_strnfill (101, 'x');
  GError *error = NULL;

  for (gssize length = 0; length <= 101; length += length == 1 ? 98 : 1)
    {
      CONTEXT ("%d bytes", (int)length);

      REQUIRE (g_file_set_contents (path, text, length, NULL));
      g_autoptr (GBytes) bytes = READ (path);
      if (length > 100)
        CHECK_ERROR (error, PLAIT_ERROR_INPUT, "has more than 100 bytes; expected a text");
      CHECK_NO_ERROR (error);
      CHECK_INT (bytes ? (gssize)g_bytes_get_size (bytes) : -1, length > 100 ? -1 : length);
    }
}

/* Files of /proc are regular files of size 0, but reading them gives hundreds of gigabytes or waits for ever. */
TEST_CASE (file, refuses_what_is_made_up_as_it_is_read)
{
  static const char *const files[] = { "/proc/self/pagemap", "/proc/version", "/proc/kmsg" };
  GError *error = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      if (access (files[i], R_OK) != 0)
        continue;
      CHECK (!READ (files[i]));
      if (strstr (error->message, g_strerror (EPERM)))
        g_clear_error (&error);
      else
        CHECK_ERROR (error, PLAIT_ERROR_INPUT,
                     "reading it gives bytes, perhaps without end, as for files of /proc; expected a text");
    }
}

/* If the system lacks memory or descriptors, the error does not blame the file. */
TEST_CASE (file, tells_what_the_system_lacks)
{
  static const int problems[] = { ENOMEM, EMFILE, ENFILE, ENOSPC, EDQUOT, EIO };
  const char *path = plait_test_path ("file");
  GError *error = NULL;

  REQUIRE (g_file_set_contents (path, "text", 4, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (problems); i++)
    {
      plait_test_system_begin (PLAIT_TEST_SYSTEM_FAIL, 0, problems[i]);
      CHECK (!READ (path));
      plait_test_system_end ();
      CHECK_ERROR (error, PLAIT_ERROR_FAILED, g_strerror (problems[i]));
      plait_test_system_begin (PLAIT_TEST_SYSTEM_FAIL, 0, problems[i]);
      CHECK (!plait_file_begin (path, &error));
      plait_test_system_end ();
      CHECK_ERROR (error, PLAIT_ERROR_FAILED, g_strerror (problems[i]));
    }
}

TEST_CASE (file, waits_for_no_reader)
{
  const char *pipe = plait_test_path ("pipe");

  REQUIRE (mkfifo (pipe, 0600) == 0);
  CHECK (!plait_file_open_output (pipe, FALSE));
  CHECK_INT (errno, ENXIO);
  CHECK (!plait_file_open_output (pipe, TRUE));
  CHECK_INT (errno, ENXIO);
}

TEST_CASE (file, repeats_what_is_interrupted)
{
  const char *path = plait_test_path ("file"), *lock_path = plait_test_path ("lock");
  g_autoptr (GError) error = NULL;

  plait_test_system_begin (PLAIT_TEST_SYSTEM_INTERRUPT, 0, 0);
  gboolean replaced = plait_file_replace (path, "text", 4, &error);
  g_autoptr (GBytes) bytes = plait_file_read (path, PLAIT_FILE_REGULAR, 100, "a file", error ? NULL : &error);
  gboolean synced = plait_file_sync (path);
  PlaitLock *lock = plait_lock_take (lock_path, "busy", "wait", NULL, error ? NULL : NO_ERROR);
  FILE *output = plait_file_open_output (path, TRUE);
  plait_test_system_end ();
  CHECK (replaced && synced && lock && output);
  CHECK (bytes && g_bytes_get_size (bytes) == 4);
  if (output)
    fclose (output);
  plait_lock_release (lock);
}

/* Counts what other programs could do with a file after each system call of its writer. */
typedef struct
{
  const PlaitFile *file;
  const char *path;
  int read;   /* number of times that the file existed under its name */
  int locked; /* number of times that the writer held a lock on it */
  int free;   /* number of times that the temporary file was unlocked, so that others could delete it */
} Outside;

static int
open_locked (const char *path, int operation)
{
  int descriptor = open (path, O_RDONLY | O_CLOEXEC);
  gboolean taken = descriptor >= 0 && flock (descriptor, operation | LOCK_NB) == 0;

  if (descriptor >= 0)
    close (descriptor);
  return descriptor < 0 ? -1 : taken;
}

static void
look_from_outside (gpointer data)
{
  Outside *outside = data;
  int shared = open_locked (outside->path, LOCK_SH);

  outside->read += shared == 1;
  outside->locked += shared == 0;
  outside->free += shared < 0 && open_locked (plait_file_temporary (outside->file), LOCK_EX) == 1;
}

/* Programs that lock files before reading (HDF5, so also h5py and h5dump) can open the file as soon as it has its
 * name. */
TEST_CASE (file, can_be_read_and_locked_as_soon_as_it_has_its_name)
{
  const char *path = plait_test_path ("new");
  PlaitFile *file = plait_file_begin (path, NO_ERROR);
  Outside outside = { .file = file, .path = path };

  REQUIRE (file != NULL);
  plait_test_system_watch (look_from_outside, &outside);
  plait_test_system_begin (PLAIT_TEST_SYSTEM_COUNT, 0, 0);
  CHECK (plait_file_finish (file, "text", 4, NO_ERROR));
  plait_test_system_end ();
  plait_test_system_watch (NULL, NULL);
  CHECK (outside.read > 0);
  CHECK_INT (outside.locked, 0);
  CHECK_INT (outside.free, 0);
}
