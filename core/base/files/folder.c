/* SPDX-License-Identifier: MIT */
#include "files/folder.h"

#include "files/input-guard.h"
#include "files/file.h"
#include "files/lock.h"
#include "files/path.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define MAX_OPEN 16 /* maximum of file descriptors that nftw opens at once */

struct PlaitFolder
{
  char *name; /* path as given by the user */
  char *path;
  char *parent;
  char *temporary;
  int descriptor;  /* the temporary folder, locked while it is open */
  gboolean inside; /* TRUE if the temporary folder is inside the final folder */
};

static int
remove_one (const char *path, const struct stat *status, int kind, struct FTW *walk)
{
  (void)status;
  (void)kind;
  (void)walk;
  remove (path);
  return 0;
}

static void
remove_tree (const char *path)
{
  nftw (path, remove_one, MAX_OPEN, FTW_DEPTH | FTW_PHYS);
}

static void
folder_free (PlaitFolder *folder)
{
  if (folder->descriptor >= 0)
    close (folder->descriptor);
  g_free (folder->name);
  g_free (folder->path);
  g_free (folder->parent);
  g_free (folder->temporary);
  g_free (folder);
}

void
plait_folder_abandon (PlaitFolder *folder)
{
  if (!folder)
    return;
  if (folder->temporary)
    remove_tree (folder->temporary);
  folder_free (folder);
}

const char *
plait_folder_temporary (const PlaitFolder *folder)
{
  return folder->temporary;
}

gboolean
plait_folder_fail (const PlaitFolder *folder, GError **error)
{
  g_autoptr (GString) message = error && *error ? g_string_new ((*error)->message) : NULL;

  if (!message)
    return FALSE;
  g_string_replace (message, folder->temporary, folder->name, 0);
  g_free ((*error)->message);
  (*error)->message = g_strdup (message->str);
  return FALSE;
}

/* Opens and locks the folder @path, made by process @maker; 0: by this process. Returns -1 with errno EEXIST if the
 * folder was renamed or deleted, if its lock is held, or, on a file system without locks, if @maker still runs. Returns
 * -1 with another errno if the folder cannot be opened. */
static int
open_own (const char *path, pid_t maker)
{
  int descriptor = TEMP_FAILURE_RETRY (open (path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  PlaitLockState state = descriptor >= 0 ? plait_lock_descriptor (descriptor) : PLAIT_LOCK_BUSY;

  if (descriptor >= 0 && plait_lock_is_at_path (descriptor, path)
      && (state == PLAIT_LOCK_TAKEN
          || (state == PLAIT_LOCK_NONE && (maker == 0 || (kill (maker, 0) != 0 && errno == ESRCH)))))
    return descriptor;
  if (descriptor >= 0)
    {
      close (descriptor);
      errno = EEXIST;
    }
  return -1;
}

/* Deletes the temporary folders in @place whose names begin with @begin and that are not in use (open_own). */
static void
remove_stale (const char *place, const char *begin)
{
  g_autoptr (GDir) folder = g_dir_open (place, 0, NULL);
  const char *name;

  while (folder && (name = g_dir_read_name (folder)))
    {
      guint64 maker = g_str_has_prefix (name, begin) ? g_ascii_strtoull (name + strlen (begin), NULL, 10) : 0;
      g_autofree char *path = g_build_filename (place, name, NULL);
      int left = maker > 0 && maker <= G_MAXINT ? open_own (path, (pid_t)maker) : -1;

      if (left < 0)
        continue;
      remove_tree (path);
      close (left);
    }
}

/* Makes the temporary folder in @place with mode @mode (0: the default mode). On failure the message ends with
 * @remedy. */
static gboolean
make_temporary (PlaitFolder *folder, const char *place, mode_t mode, const char *remedy, GError **error)
{
  g_autofree char *base = g_path_get_basename (folder->path);
  g_autofree char *begin = g_strdup_printf ("%s.partial-%s-", base, g_get_host_name ());

  remove_stale (place, begin);
  for (int number = 0; folder->descriptor < 0; number++)
    {
      g_autofree char *path = g_strdup_printf ("%s/%s%d-%d", place, begin, (int)getpid (), number);

      gboolean made = g_mkdir (path, 0777) == 0;

      if (made)
        folder->descriptor = open_own (path, 0);
      if (folder->descriptor >= 0)
        folder->temporary = g_steal_pointer (&path);
      /* ENOENT: another process deleted the new folder as stale before it was locked. */
      else if (errno != EEXIST && errno != EINTR && !(made && errno == ENOENT))
        {
          plait_fail (error, made ? PLAIT_ERROR_FAILED : plait_error_code (errno),
                      "%s: the folder cannot be made (%s); %s", folder->name, g_strerror (errno), remedy);
          if (made)
            g_rmdir (path);
          return FALSE;
        }
    }
  return mode == 0 || fchmod (folder->descriptor, mode & 07777) == 0
         || plait_fail (error, PLAIT_ERROR_FAILED, "%s: the permissions of the new folder cannot be set (%s); %s",
                        folder->name, g_strerror (errno), remedy);
}

/* TRUE if a process has locked the folder @path: then the folder must not be replaced. */
static gboolean
is_held (const char *path)
{
  int descriptor = open (path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  gboolean held = descriptor >= 0 && plait_lock_descriptor (descriptor) == PLAIT_LOCK_BUSY;

  if (descriptor >= 0)
    close (descriptor);
  return held;
}

PlaitFolder *
plait_folder_begin (const char *path, GError **error)
{
  g_autoptr (PlaitFolder) folder = g_new0 (PlaitFolder, 1);
  char *resolved = realpath (path, NULL);
  g_autofree char *canonical = g_canonicalize_filename (path, NULL);
  struct stat here, above, current;

  folder->descriptor = -1;
  folder->name = g_strdup (path);
  folder->path = g_strdup (resolved ? resolved : canonical);
  folder->parent = g_path_get_dirname (folder->path);
  free (resolved);
  if (*path == '\0')
    return plait_fail_null (error, PLAIT_ERROR_INPUT, "\"\" is not the name of a folder; give the name of a folder");
  gboolean exists = stat (folder->path, &here) == 0;
  if (exists ? !S_ISDIR (here.st_mode) : lstat (folder->path, &here) == 0)
    return plait_fail_null (error, PLAIT_ERROR_INPUT, "%s: exists, but is not a folder; name another folder", path);
  if (g_mkdir_with_parents (folder->parent, 0777) != 0)
    return plait_fail_null (error, plait_error_code (errno), "%s: the folder cannot be made (%s); name another folder",
                            path, g_strerror (errno));
  folder->inside
      = exists
        && (is_held (folder->path) || stat (folder->parent, &above) != 0 || above.st_dev != here.st_dev
            || access (folder->parent, W_OK) != 0
            || (stat (".", &current) == 0 && current.st_dev == here.st_dev && current.st_ino == here.st_ino));
  return make_temporary (folder, folder->inside ? folder->path : folder->parent, exists ? here.st_mode : 0,
                         "name another", error)
             ? g_steal_pointer (&folder)
             : NULL;
}

PlaitFolder *
plait_folder_begin_temporary (GError **error)
{
  g_autoptr (PlaitFolder) folder = g_new0 (PlaitFolder, 1);

  folder->descriptor = -1;
  folder->name = g_strdup (plait_path_temporary ());
  folder->path = g_build_filename (folder->name, "plait-corpus", NULL);
  return make_temporary (folder, folder->name, S_IRWXU, "free space there, or set TMPDIR to another folder", error)
             ? g_steal_pointer (&folder)
             : NULL;
}

/* TRUE if the final folder contains only regular files whose names are in @names. */
static gboolean
holds_only (const PlaitFolder *folder, const char *const *names)
{
  g_autoptr (GDir) dir = g_dir_open (folder->path, 0, NULL);
  const char *name = NULL;

  while (dir && (name = g_dir_read_name (dir)))
    {
      g_autofree char *path = g_build_filename (folder->path, name, NULL);
      struct stat status;

      if (!g_strv_contains (names, name) || lstat (path, &status) != 0 || !S_ISREG (status.st_mode))
        return FALSE;
    }
  return dir != NULL;
}

/* Returns the path of the file @name in the final folder, links followed. (transfer full) */
static char *
path_within (const PlaitFolder *folder, const char *name)
{
  char *path = g_build_filename (folder->path, name, NULL);
  char *resolved = realpath (path, NULL);

  if (!resolved)
    return path;
  g_free (path);
  path = g_strdup (resolved);
  free (resolved);
  return path;
}

/* TRUE if each file of @names in the final folder may be replaced: it is missing, or a regular file that
 * plait_input_guard_check allows. */
static gboolean
are_files (const PlaitFolder *folder, const char *const *names, GError **error)
{
  for (guint i = 0; names[i]; i++)
    {
      g_autofree char *path = path_within (folder, names[i]);
      struct stat status;

      if (lstat (path, &status) == 0 && !S_ISREG (status.st_mode))
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "%s: it is not a regular file, so it cannot be replaced; name another folder", path);
      if (!plait_input_guard_check (path, path, error))
        return FALSE;
    }
  return TRUE;
}

/* Moves the new files into the final folder one by one. Deletes the old files of @names that have no new version. */
static gboolean
move_files (const PlaitFolder *folder, const char *const *names, GError **error)
{
  for (guint i = 0; names[i]; i++)
    {
      g_autofree char *from = g_build_filename (folder->temporary, names[i], NULL);
      g_autofree char *to = path_within (folder, names[i]);
      gboolean made = g_file_test (from, G_FILE_TEST_EXISTS);

      if (made ? rename (from, to) != 0 : unlink (to) != 0 && errno != ENOENT)
        return plait_fail (error, PLAIT_ERROR_FAILED, "%s: cannot be written or deleted (%s); name another folder", to,
                           g_strerror (errno));
    }
  g_rmdir (folder->temporary);
  return TRUE;
}

static gboolean
move_into_place (const PlaitFolder *folder, const char *const *names, GError **error)
{
  if (!names && g_file_test (folder->path, G_FILE_TEST_EXISTS))
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s: another program has made this folder in the meantime; name another folder", folder->name);
  if (names && !are_files (folder, names, error))
    return FALSE;
  if (!folder->inside && rename (folder->temporary, folder->path) == 0)
    return TRUE;
  if (!names || (!folder->inside && errno != ENOTEMPTY && errno != EEXIST && errno != EBUSY))
    return plait_fail (error, PLAIT_ERROR_FAILED,
                       "%s: the new folder cannot be renamed to this name (%s); name another folder", folder->name,
                       g_strerror (errno));
  if (folder->inside || !holds_only (folder, names)
      || renameat2 (AT_FDCWD, folder->temporary, AT_FDCWD, folder->path, RENAME_EXCHANGE) != 0)
    return move_files (folder, names, error);
  remove_tree (folder->temporary);
  return TRUE;
}

gboolean
plait_folder_commit (PlaitFolder *folder, const char *const *names, GError **error)
{
  gboolean done;

  if (!plait_file_sync (folder->temporary) && errno != EINVAL)
    plait_fail (error, PLAIT_ERROR_FAILED,
                "%s: the folder cannot be written (%s); free some space, or name another folder", folder->name,
                g_strerror (errno));
  else if (move_into_place (folder, names, error))
    {
      done = plait_file_sync (folder->parent) || errno == EINVAL || errno == EACCES;
      if (!done)
        plait_fail (
            error, PLAIT_ERROR_FAILED,
            "%s: the folder was made, but its parent folder cannot be synced, so a loss of power may undo it: %s",
            folder->name, g_strerror (errno));
      folder_free (folder);
      return done;
    }
  plait_folder_abandon (folder);
  return FALSE;
}
