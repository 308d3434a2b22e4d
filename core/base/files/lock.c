/* SPDX-License-Identifier: MIT */
#include "files/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "files/transfer.h"

enum
{
  TRIES = 30,
  PAUSE = 100000, /* microseconds between two attempts to take a lock */
  MAX_HOLDER = 300,
};

struct PlaitLock
{
  char *path;
  int descriptor;
};

PlaitLockState
plait_lock_descriptor (int descriptor)
{
  while (flock (descriptor, LOCK_EX | LOCK_NB) != 0)
    if (errno != EINTR)
      return errno == EWOULDBLOCK ? PLAIT_LOCK_BUSY : PLAIT_LOCK_NONE;
  return PLAIT_LOCK_TAKEN;
}

void
plait_lock_share (int descriptor)
{
  while (flock (descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EINTR)
    ;
}

gboolean
plait_lock_is_at_path (int descriptor, const char *path)
{
  struct stat held, found;

  /* After another machine has deleted the file, a network file system can still have its name in a cache. The link
   * count of a locked file is never cached; 0: the file was deleted. */
  return fstat (descriptor, &held) == 0 && held.st_nlink > 0 && lstat (path, &found) == 0 && held.st_dev == found.st_dev
         && held.st_ino == found.st_ino;
}

gboolean
plait_lock_is_local (const char *mounts, guint major, guint minor)
{
  static const char *const local[] = { "local_lock=all", "local_lock=flock", "nolock", "localflock", "nobrl", NULL };
  g_autofree char *device = g_strdup_printf (" %u:%u ", major, minor);
  g_auto (GStrv) lines = g_strsplit (mounts, "\n", -1);

  for (guint i = 0; lines[i]; i++)
    {
      const char *options = strrchr (lines[i], ' ');
      g_auto (GStrv) words = options && strstr (lines[i], device) ? g_strsplit (options + 1, ",", -1) : NULL;

      for (guint w = 0; words && words[w]; w++)
        if (g_strv_contains (local, words[w]))
          return TRUE;
    }
  return FALSE;
}

/* TRUE if a mount option says that locks on the file system of @descriptor do not reach other machines. */
static gboolean
is_local (int descriptor)
{
  g_autofree char *mounts = NULL;
  struct stat status;

  return fstat (descriptor, &status) == 0 && g_file_get_contents ("/proc/self/mountinfo", &mounts, NULL, NULL)
         && plait_lock_is_local (mounts, major (status.st_dev), minor (status.st_dev));
}

/* Opens @path for locking. Opens it for writing if permitted, because some file systems lock only writable files; else
 * read-only. */
static int
open_stale (const char *path)
{
  const int flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  int descriptor = TEMP_FAILURE_RETRY (open (path, O_RDWR | flags));

  return descriptor >= 0 || errno != EACCES ? descriptor : TEMP_FAILURE_RETRY (open (path, O_RDONLY | flags));
}

PlaitLockState
plait_lock_remove_stale (const char *path, gboolean here)
{
  int descriptor = open_stale (path);

  if (descriptor < 0)
    return PLAIT_LOCK_BUSY;
  PlaitLockState state = plait_lock_descriptor (descriptor);
  if (state == PLAIT_LOCK_TAKEN && plait_lock_is_at_path (descriptor, path) && (here || !is_local (descriptor)))
    unlink (path);
  close (descriptor);
  return state;
}

/* Writes the holder into the lock file, for messages. On a full disk the name is missing, but the lock is held. */
static void
write_holder (int descriptor)
{
  g_autofree char *text = g_strdup_printf ("process %d on host %s\n", (int)getpid (), g_get_host_name ());

  if (TEMP_FAILURE_RETRY (ftruncate (descriptor, 0)) == 0)
    plait_write_at (descriptor, text, strlen (text), 0);
}

/* Reads the name of the process that holds the lock from the lock file. (transfer full) */
static char *
read_holder (int descriptor)
{
  char text[MAX_HOLDER] = "";

  if (plait_read_at (descriptor, text, sizeof text - 1, 0) <= 0)
    return g_strdup ("an unnamed process");
  text[strcspn (text, "\n")] = '\0';
  return g_utf8_make_valid (text, -1);
}

static gboolean
cannot_be_made (const PlaitLock *lock, GError **error)
{
  return plait_fail (error, plait_error_code (errno),
                     "%s: the lock cannot be made (%s); use a folder where files can be made", lock->path,
                     g_strerror (errno));
}

/* Tries once to take the lock. FALSE with @error set if the lock cannot be made. FALSE without @error if the caller
 * should retry; *@holder is set if the lock is busy. */
static gboolean
try_to_take (PlaitLock *lock, PlaitLockState *state, char **holder, GError **error)
{
  gboolean foreign = FALSE;

  lock->descriptor
      = TEMP_FAILURE_RETRY (open (lock->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666));
  if (lock->descriptor < 0 && errno == EACCES)
    {
      foreign = TRUE;
      lock->descriptor = open_stale (lock->path);
    }
  if (lock->descriptor < 0)
    return cannot_be_made (lock, error);
  *state = plait_lock_descriptor (lock->descriptor);
  if (*state == PLAIT_LOCK_BUSY)
    *holder = read_holder (lock->descriptor);
  else if (foreign)
    {
      /* A lock file made by another user cannot be written, so delete it; the next attempt makes a new one. */
      if (unlink (lock->path) != 0)
        return cannot_be_made (lock, error);
    }
  else if (plait_lock_is_at_path (lock->descriptor, lock->path))
    {
      write_holder (lock->descriptor);
      return TRUE;
    }
  /* The lock is busy, or the lock file is no longer at the path. */
  close (lock->descriptor);
  lock->descriptor = -1;
  return FALSE;
}

PlaitLock *
plait_lock_take (const char *path, const char *busy, const char *remedy, PlaitLog *log, GError **error)
{
  g_autoptr (PlaitLock) lock = g_new0 (PlaitLock, 1);
  g_autofree char *holder = NULL;
  g_autoptr (GError) fault = NULL;
  PlaitLockState state = PLAIT_LOCK_TAKEN;
  char resolved[PATH_MAX];

  /* A symbolic link and its target share one lock. */
  lock->path = g_strconcat (realpath (path, resolved) ? resolved : path, PLAIT_LOCK_SUFFIX, NULL);
  lock->descriptor = -1;
  for (guint tries = 0; tries < TRIES; tries++)
    {
      g_clear_pointer (&holder, g_free);
      if (try_to_take (lock, &state, &holder, &fault))
        {
          if (state == PLAIT_LOCK_NONE)
            plait_log_warning (
                log,
                "%s: the file system does not support locks, so plait cannot stop a second process from writing there, "
                "and notices the second process only afterwards; do not start a second one",
                path);
          else if (is_local (lock->descriptor))
            plait_log_warning (
                log,
                "%s: the file system is mounted with locks that hold only on this machine, so plait cannot stop a "
                "process on another machine from writing there, and notices that process only afterwards; do not start "
                "a second process, or mount the file system with local_lock=none",
                path);
          return g_steal_pointer (&lock);
        }
      if (!plait_no_error (&fault, error))
        return NULL;
      if (holder)
        g_usleep (PAUSE);
    }
  return plait_fail_null (error, PLAIT_ERROR_INPUT, "%s (%s); %s", busy, holder ? holder : "an unnamed process",
                          remedy);
}

void
plait_lock_release (PlaitLock *lock)
{
  if (!lock)
    return;
  if (lock->descriptor >= 0)
    {
      if (plait_lock_is_at_path (lock->descriptor, lock->path))
        unlink (lock->path);
      close (lock->descriptor);
    }
  g_free (lock->path);
  g_free (lock);
}
