/* SPDX-License-Identifier: MIT */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct PlaitFile
{
  /* What the user called it, for messages. */
  char *name;
  char *path;
  char *folder;
  char *temporary;
};

static void
file_free (PlaitFile *file)
{
  g_free (file->name);
  g_free (file->path);
  g_free (file->folder);
  g_free (file->temporary);
  g_free (file);
}

static gboolean
fail_with_errno (const PlaitFile *file, PlaitErrorCode code, const char *what, GError **error)
{
  return plait_fail (error, code, "%s: %s: %s.", file->name, what, g_strerror (errno));
}

/* What the temporary files of this host for the file begin with. */
static char *
temporary_prefix (const PlaitFile *file)
{
  return g_strdup_printf ("%s.partial-%s-", file->path, g_get_host_name ());
}

/* Removes the temporary files of processes of this host that are no more. */
static void
remove_left_behind (const PlaitFile *file, const char *prefix)
{
  g_autoptr (GDir) folder = g_dir_open (file->folder, 0, NULL);
  g_autofree char *beginning = g_path_get_basename (prefix);
  const char *name;

  while (folder != NULL && (name = g_dir_read_name (folder)) != NULL)
    if (g_str_has_prefix (name, beginning))
      {
        gint64 process = g_ascii_strtoll (name + strlen (beginning), NULL, 10);

        if (process > 0 && process <= G_MAXINT && kill ((pid_t)process, 0) != 0 && errno == ESRCH)
          {
            g_autofree char *path = g_build_filename (file->folder, name, NULL);

            unlink (path);
          }
      }
}

/* Makes the temporary file with the mode @mode, or the usual one if @mode is 0. */
static gboolean
make_temporary (PlaitFile *file, mode_t mode, GError **error)
{
  g_autofree char *prefix = temporary_prefix (file);
  int descriptor = -1;

  remove_left_behind (file, prefix);
  for (int number = 0; descriptor < 0; number++)
    {
      g_free (file->temporary);
      file->temporary = g_strdup_printf ("%s%d-%d", prefix, (int)getpid (), number);
      descriptor = open (file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (descriptor < 0 && errno != EEXIST && errno != EINTR)
        return fail_with_errno (file, errno == ENOSPC || errno == EIO ? PLAIT_ERROR_FAILED : PLAIT_ERROR_INPUT,
                                "no file can be made beside it", error);
    }
  if (mode != 0 && fchmod (descriptor, mode & 0777) != 0)
    {
      fail_with_errno (file, PLAIT_ERROR_FAILED, "its permissions cannot be given to the new file", error);
      close (descriptor);
      unlink (file->temporary);
      return FALSE;
    }
  close (descriptor);
  return TRUE;
}

PlaitFile *
plait_file_begin (const char *path, GError **error)
{
  PlaitFile *file = g_new0 (PlaitFile, 1);
  char *resolved = realpath (path, NULL);
  struct stat status;
  gboolean begun = FALSE;

  file->name = g_strdup (path);
  file->path = g_strdup (resolved != NULL ? resolved : path);
  file->folder = g_path_get_dirname (file->path);
  if (resolved == NULL && errno != ENOENT)
    fail_with_errno (file, PLAIT_ERROR_INPUT, "the file cannot be reached", error);
  else if (resolved == NULL && lstat (path, &status) == 0)
    plait_fail (error, PLAIT_ERROR_INPUT,
                "%s: it is a link to a file that does not exist; remove it or name its target.", path);
  else if (*path == '\0' || g_str_has_suffix (path, "/"))
    plait_fail (error, PLAIT_ERROR_INPUT, "\"%s\" is not the name of a file.", path);
  else if (resolved != NULL && stat (resolved, &status) != 0)
    fail_with_errno (file, PLAIT_ERROR_INPUT, "the file cannot be reached", error);
  else if (resolved != NULL && !S_ISREG (status.st_mode))
    plait_fail (error, PLAIT_ERROR_INPUT, "%s: it is not a regular file, so it cannot be replaced; name another.",
                path);
  else
    begun = make_temporary (file, resolved != NULL ? status.st_mode : 0, error);
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

/* fsync of what @path names. FALSE with errno set. */
static gboolean
sync_path (const char *path)
{
  int descriptor = open (path, O_RDONLY | O_CLOEXEC);
  int problem;

  if (descriptor < 0)
    return FALSE;
  problem = fsync (descriptor) == 0 ? 0 : errno;
  close (descriptor);
  errno = problem;
  return problem == 0;
}

gboolean
plait_file_commit (PlaitFile *file, GError **error)
{
  gboolean done = FALSE;

  if (!sync_path (file->temporary))
    fail_with_errno (file, PLAIT_ERROR_FAILED, "the new file cannot be synced, so the old one stays", error);
  else if (rename (file->temporary, file->path) != 0)
    fail_with_errno (file, PLAIT_ERROR_FAILED, "the new file cannot take its place, so the old one stays", error);
  else
    {
      /* EINVAL: a file system that has no such thing as the sync of a folder. */
      done = sync_path (file->folder) || errno == EINVAL;
      if (!done)
        fail_with_errno (file, PLAIT_ERROR_FAILED,
                         "the file was replaced, but its folder cannot be synced, so a loss of power may undo it",
                         error);
      file_free (file);
      return done;
    }
  plait_file_abandon (file);
  return FALSE;
}

void
plait_file_abandon (PlaitFile *file)
{
  if (file == NULL)
    return;
  unlink (file->temporary);
  file_free (file);
}

static gboolean
write_all (const char *path, const char *bytes, gsize length)
{
  int descriptor = open (path, O_WRONLY | O_CLOEXEC);
  int problem = 0;

  if (descriptor < 0)
    return FALSE;
  while (length > 0 && problem == 0)
    {
      ssize_t written = write (descriptor, bytes, length);

      if (written >= 0)
        {
          bytes += written;
          length -= written;
        }
      else if (errno != EINTR)
        problem = errno;
    }
  if (close (descriptor) != 0 && problem == 0)
    problem = errno;
  errno = problem;
  return problem == 0;
}

gboolean
plait_file_replace (const char *path, gconstpointer bytes, gsize length, GError **error)
{
  PlaitFile *file = plait_file_begin (path, error);

  if (file == NULL)
    return FALSE;
  if (!write_all (file->temporary, bytes, length))
    {
      fail_with_errno (file, PLAIT_ERROR_FAILED, "the new file cannot be written, so the old one stays", error);
      plait_file_abandon (file);
      return FALSE;
    }
  return plait_file_commit (file, error);
}
