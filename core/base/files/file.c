/* SPDX-License-Identifier: MIT */
#include "files/file.h"

#include "files/input-guard.h"
#include "files/file-stamp.h"
#include "files/lock.h"
#include "files/memory.h"
#include "files/transfer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* TRUE if @descriptor is a regular file of size 0 that has a byte or cannot be read. The kernel and some programs
 * generate such files while they are read (/proc/kmsg); some never end. */
static gboolean
is_virtual (int descriptor, const struct stat *status)
{
  char byte;

  return S_ISREG (status->st_mode) && status->st_size == 0 && TEMP_FAILURE_RETRY (pread (descriptor, &byte, 1, 0)) != 0;
}

int
plait_file_open (const char *path, PlaitFileInput input, const char *expected, struct stat *status, GError **error)
{
  /* O_NONBLOCK: open must not wait until a pipe has a writer. */
  int descriptor = input == PLAIT_FILE_OR_PIPE ? open (path, O_RDONLY | O_CLOEXEC)
                                               : TEMP_FAILURE_RETRY (open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));

  if (descriptor < 0 && errno == EINTR)
    plait_fail (error, PLAIT_ERROR_INTERRUPTED, "%s: interrupted before a program wrote to this pipe", path);
  else if (descriptor < 0 || fstat (descriptor, status) != 0)
    plait_fail (error, plait_error_code (errno), "%s: cannot be opened (%s); expected %s", path, g_strerror (errno),
                expected);
  else if (S_ISDIR (status->st_mode) || (input == PLAIT_FILE_REGULAR && !S_ISREG (status->st_mode)))
    plait_fail (error, PLAIT_ERROR_INPUT, "%s: is %s; expected %s", path,
                S_ISDIR (status->st_mode) ? "a folder" : "not a regular file", expected);
  else if (fcntl (descriptor, F_SETFL, O_NONBLOCK), is_virtual (descriptor, status))
    plait_fail (error, PLAIT_ERROR_INPUT,
                "%s: its size is 0, but reading it gives bytes, perhaps without end, as for files of /proc; expected "
                "%s; copy the part that you need into an ordinary file",
                path, expected);
  else
    {
      /* Clear O_NONBLOCK, so that reads of a pipe wait for its writer. */
      if (!S_ISREG (status->st_mode))
        fcntl (descriptor, F_SETFL, 0);
      plait_input_guard_add (descriptor, path);
      return descriptor;
    }
  if (descriptor >= 0)
    close (descriptor);
  return -1;
}

/* Reads up to @limit + 1 bytes of @descriptor, probably @size bytes. NULL with errno set. (transfer full) */
static char *
read_all (int descriptor, gsize size, gsize limit, gsize *length)
{
  gsize room = MIN (size, limit) + 1;
  g_autofree char *bytes = plait_memory_is_available (room) ? g_try_malloc (room) : NULL;

  *length = 0;
  errno = ENOMEM;
  while (bytes)
    {
      gssize got = read (descriptor, bytes + *length, room - *length);

      if (got < 0 && errno == EINTR)
        continue;
      if (got < 0)
        return NULL;
      *length += (gsize)got;
      if (got == 0 || *length > limit)
        return g_steal_pointer (&bytes);
      if (*length == room)
        {
          char *more = g_try_realloc (bytes, room = MIN (2 * room, limit + 1));

          errno = ENOMEM;
          if (!more)
            return NULL;
          g_steal_pointer (&bytes);
          bytes = more;
        }
    }
  return NULL;
}

GBytes *
plait_file_read (const char *path, PlaitFileInput input, gsize limit, const char *expected, GError **error)
{
  struct stat status;
  int descriptor = plait_file_open (path, input, expected, &status, error), problem = 0;
  g_autofree char *bytes = NULL;
  gsize size, length = 0;

  if (descriptor < 0)
    return NULL;
  /* Do not read a file that is known to be too large. A pipe has size 0 and a file may grow, so the length is checked
   * again after reading. */
  size = (gsize)status.st_size;
  if (size <= limit)
    {
      bytes = read_all (descriptor, size, limit, &length);
      problem = errno;
    }
  close (descriptor);
  if (MAX (size, length) > limit)
    return plait_fail_null (error, PLAIT_ERROR_INPUT, "%s: has more than %zu bytes; expected %s", path, limit,
                            expected);
  if (!bytes)
    return plait_fail_null (error, plait_error_code (problem), "%s: cannot be read (%s); expected %s", path,
                            g_strerror (problem), expected);
  if (length == 0 && S_ISFIFO (status.st_mode))
    return plait_fail_null (error, PLAIT_ERROR_INPUT,
                            "%s: no bytes came from this pipe; start a program that writes to the pipe first", path);
  return g_bytes_new_take (g_steal_pointer (&bytes), length);
}

FILE *
plait_file_open_output (const char *path, gboolean append)
{
  int descriptor = TEMP_FAILURE_RETRY (
      open (path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | (append ? O_APPEND : O_TRUNC), 0666));
  FILE *stream = descriptor >= 0 && fcntl (descriptor, F_SETFL, append ? O_APPEND : 0) == 0
                     ? fdopen (descriptor, append ? "a" : "w")
                     : NULL;

  if (!stream && descriptor >= 0)
    close (descriptor);
  return stream;
}

/* Middle of the name of a temporary file, NAME.partial-HOST-PROCESS-NUMBER. NAME is the name of the final file. */
#define PARTIAL ".partial-"

struct PlaitFile
{
  /* Path as given by the user, for messages. */
  char *name;
  char *path;
  char *folder;
  char *temporary;
  int descriptor;        /* the temporary file, locked while it is open */
  FILE *stream;          /* writes the temporary file; fclose also closes @descriptor */
  PlaitFileStamp before; /* stamp of the file to be replaced, before the replacement began */
};

static void
file_free (PlaitFile *file)
{
  g_free (file->name);
  g_free (file->path);
  if (file->stream)
    fclose (file->stream);
  else if (file->descriptor >= 0)
    close (file->descriptor);
  g_free (file->folder);
  g_free (file->temporary);
  g_free (file);
}

static gboolean
fail_with_errno (const PlaitFile *file, PlaitErrorCode code, const char *what, GError **error)
{
  return plait_fail (error, code, "%s: %s: %s", file->name, what, g_strerror (errno));
}

/* Cuts "-NUMBER" off the end of @text. FALSE if @text does not end like that. */
static gboolean
cut_number (char *text, guint64 *number)
{
  char *dash = strrchr (text, '-');

  if (!dash || !g_ascii_string_to_unsigned (dash + 1, 10, 0, G_MAXINT, number, NULL))
    return FALSE;
  *dash = '\0';
  return TRUE;
}

/* Returns the id of the process that made the temporary file @name, and sets *@here to TRUE if it ran on this host.
 * Returns 0 if @name is not the name of a temporary file. */
static pid_t
maker_of (const char *name, gboolean *here)
{
  const char *rest = g_strrstr (name, PARTIAL);
  g_autofree char *host = g_strdup (rest ? rest + strlen (PARTIAL) : "");
  guint64 number, process;

  if (!cut_number (host, &number) || !cut_number (host, &process))
    return 0;
  *here = g_str_equal (host, g_get_host_name ());
  return (pid_t)process;
}

/* Deletes the temporary files and lock files in the folder of @file that no process has locked. If locks do not reach
 * other hosts, deletes only temporary files of this host; the name of a lock file contains no host. If the file system
 * has no locks, deletes only temporary files of this host whose process, named in the file name, has ended. */
static void
remove_stale (const PlaitFile *file)
{
  g_autoptr (GDir) folder = g_dir_open (file->folder, 0, NULL);
  const char *name;

  while (folder && (name = g_dir_read_name (folder)))
    {
      gboolean here = FALSE;
      pid_t maker = maker_of (name, &here);

      if (maker == 0 && !g_str_has_suffix (name, PLAIT_LOCK_SUFFIX))
        continue;
      g_autofree char *path = g_build_filename (file->folder, name, NULL);
      if (plait_lock_remove_stale (path, here) == PLAIT_LOCK_NONE && here && maker > 0 && kill (maker, 0) != 0
          && errno == ESRCH)
        unlink (path);
    }
}

/* Makes the temporary file and locks it. Retries with the next number if a file of this name exists, or if another
 * process took the new file for stale and locked it first. FALSE with errno set. */
static gboolean
make_own (PlaitFile *file)
{
  for (int number = 0;; number++)
    {
      g_free (file->temporary);
      file->temporary
          = g_strdup_printf ("%s" PARTIAL "%s-%d-%d", file->path, g_get_host_name (), (int)getpid (), number);
      /* Over NFS, a shared lock (plait_lock_share) needs a descriptor that can read. */
      file->descriptor = open (file->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (file->descriptor >= 0 && plait_lock_descriptor (file->descriptor) != PLAIT_LOCK_BUSY
          && plait_lock_is_at_path (file->descriptor, file->temporary))
        return TRUE;
      if (file->descriptor >= 0)
        close (file->descriptor);
      else if (errno != EEXIST && errno != EINTR)
        return FALSE;
    }
}

/* Makes the temporary file with mode @mode; 0: the default mode. */
static gboolean
make_temporary (PlaitFile *file, mode_t mode, GError **error)
{
  remove_stale (file);
  if (!make_own (file))
    return fail_with_errno (file, plait_error_code (errno), "no file can be made in its folder", error);
  file->stream = fdopen (file->descriptor, "w");
  if (!file->stream)
    fail_with_errno (file, PLAIT_ERROR_FAILED, "the new file cannot be written", error);
  else if (mode != 0 && fchmod (file->descriptor, mode & 0777) != 0)
    fail_with_errno (file, PLAIT_ERROR_FAILED, "the permissions of the old file cannot be given to the new one", error);
  else
    return TRUE;
  unlink (file->temporary);
  return FALSE;
}

PlaitFile *
plait_file_begin (const char *path, GError **error)
{
  PlaitFile *file = g_new0 (PlaitFile, 1);
  char *resolved = realpath (path, NULL);
  struct stat status;
  gboolean begun = FALSE;

  file->name = g_strdup (path);
  file->descriptor = -1;
  file->path = g_strdup (resolved ? resolved : path);
  file->folder = g_path_get_dirname (file->path);
  if (resolved ? stat (resolved, &status) != 0 : errno != ENOENT)
    fail_with_errno (file, PLAIT_ERROR_INPUT, "the file cannot be reached", error);
  else if (!resolved && lstat (path, &status) == 0)
    plait_fail (error, PLAIT_ERROR_INPUT,
                "%s: it is a link to a file that does not exist; remove the link, or name its target", path);
  else if (*path == '\0' || g_str_has_suffix (path, "/"))
    plait_fail (error, PLAIT_ERROR_INPUT, "\"%s\" is not the name of a file; give the name of a file", path);
  else if (resolved && !S_ISREG (status.st_mode))
    plait_fail (error, PLAIT_ERROR_INPUT, "%s: it is not a regular file, so it cannot be replaced; name another file",
                path);
  else if (plait_input_guard_check (file->path, path, error))
    {
      file->before = plait_file_stamp (file->path);
      begun = make_temporary (file, resolved ? status.st_mode : 0, error);
    }
  free (resolved);
  if (begun)
    return file;
  file_free (file);
  return NULL;
}

const char *
plait_file_temporary (const PlaitFile *file)
{
  return file->temporary;
}

FILE *
plait_file_stream (const PlaitFile *file)
{
  return file->stream;
}

gboolean
plait_file_sync (const char *path)
{
  int descriptor = TEMP_FAILURE_RETRY (open (path, O_RDONLY | O_CLOEXEC));

  if (descriptor < 0)
    return FALSE;
  int problem = TEMP_FAILURE_RETRY (fsync (descriptor)) == 0 ? 0 : errno;
  close (descriptor);
  errno = problem;
  return problem == 0;
}

static gboolean
cannot_be_written (const PlaitFile *file, GError **error)
{
  return plait_fail (error, PLAIT_ERROR_FAILED,
                     "%s: cannot be written (%s), so the new file is discarded; free some space, or name another file",
                     file->name, g_strerror (errno));
}

static gboolean
complete (PlaitFile *file, GError **error)
{
  errno = EIO; /* ferror does not tell the errno of an earlier failed write: report EIO */
  return (fflush (file->stream) == 0 && !ferror (file->stream) && TEMP_FAILURE_RETRY (fsync (file->descriptor)) == 0)
         || cannot_be_written (file, error);
}

/* TRUE if the file to be replaced is unchanged or deleted: in either case no data is lost. */
static gboolean
check_is_as_before (const PlaitFile *file, GError **error)
{
  PlaitFileStamp now = plait_file_stamp (file->path);

  return now.number == 0 || plait_file_stamp_matches (&now, &file->before)
         || plait_fail (error, PLAIT_ERROR_INPUT,
                        "%s: another program has written this file in the meantime, so plait leaves it unchanged; name "
                        "another file",
                        file->name);
}

static gboolean
move_into_place (const PlaitFile *file, GError **error)
{
  /* HDF5 locks the files that it reads, and fails if another process has an exclusive lock. */
  plait_lock_share (file->descriptor);
  /* If the answer to a successful rename is lost, the NFS client asks again and gets ENOENT. */
  return rename (file->temporary, file->path) == 0
         || (errno == ENOENT && plait_lock_is_at_path (file->descriptor, file->path))
         || fail_with_errno (file, PLAIT_ERROR_FAILED, "the new file cannot replace the old one, which stays", error);
}

gboolean
plait_file_commit (PlaitFile *file, GError **error)
{
  if (!complete (file, error) || !check_is_as_before (file, error)
      || !plait_input_guard_check (file->path, file->name, error) || !move_into_place (file, error))
    {
      plait_file_abandon (file);
      return FALSE;
    }
  /* EINVAL: the file system cannot sync folders. */
  gboolean done = plait_file_sync (file->folder) || errno == EINVAL;
  if (!done)
    fail_with_errno (file, PLAIT_ERROR_FAILED,
                     "the file was replaced, but its folder cannot be synced, so a loss of power may undo it", error);
  file_free (file);
  return done;
}

void
plait_file_abandon (PlaitFile *file)
{
  if (!file)
    return;
  unlink (file->temporary);
  file_free (file);
}

gboolean
plait_file_is_same (const char *a, const char *b)
{
  g_autofree char *a_path = g_canonicalize_filename (a, NULL);
  g_autofree char *b_path = g_canonicalize_filename (b, NULL);
  PlaitFileStamp a_mark = plait_file_stamp (a), b_mark = plait_file_stamp (b);

  return g_str_equal (a_path, b_path)
         || (a_mark.number != 0 && a_mark.device == b_mark.device && a_mark.number == b_mark.number);
}

gboolean
plait_file_check_new (const char *path, gboolean force, const char *remedy, const char *option, GError **error)
{
  struct stat status;

  return (!path || force || stat (path, &status) != 0 || !S_ISREG (status.st_mode))
         || plait_fail (error, PLAIT_ERROR_INPUT, "%s exists: %swrite elsewhere with %s, or replace it with --force",
                        path, remedy, option);
}

gboolean
plait_file_finish (PlaitFile *file, gconstpointer bytes, gsize length, GError **error)
{
  if (plait_write_at (file->descriptor, bytes, length, 0))
    return plait_file_commit (file, error);
  cannot_be_written (file, error);
  plait_file_abandon (file);
  return FALSE;
}

gboolean
plait_file_replace (const char *path, gconstpointer bytes, gsize length, GError **error)
{
  PlaitFile *file = plait_file_begin (path, error);

  return file && plait_file_finish (file, bytes, length, error);
}

gboolean
plait_file_replace_text (const char *folder, const char *name, const char *text, GError **error)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);

  return plait_file_replace (path, text, strlen (text), error);
}

static const struct
{
  const char *beginning, *kind;
} kinds[] = {
  { "plait-store\n", "a run, a dump or a grid of plait" },
  { "\x89HDF\r\n", "an HDF5 file" },
  { "\x1f\x8b", "a gzip file" },
  { "PK\x03\x04", "a zip file" },
  { "\x7f"
    "ELF",
    "a program" },
  { "<!DOCTYPE", "a page of HTML" },
};

const char *
plait_file_kind (const char *bytes, gsize length)
{
  for (gsize i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (length >= strlen (kinds[i].beginning) && memcmp (bytes, kinds[i].beginning, strlen (kinds[i].beginning)) == 0)
      return kinds[i].kind;
  return NULL;
}
