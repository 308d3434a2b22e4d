/* SPDX-License-Identifier: MIT */
#include "files/temporary.h"

#include "files/lock.h"
#include "files/path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "plait-corpus-"
#define PATTERN PREFIX "XXXXXX"

struct PlaitTemporary
{
  char *path;
  int descriptor;
};

static int
open_folder (const char *path)
{
  return TEMP_FAILURE_RETRY (open (path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

/* Removes the folder that is open as @descriptor, which stands at @path, with the files in it. Closes it. */
static void
remove_folder (int descriptor, const char *path)
{
  DIR *folder = fdopendir (descriptor);
  const struct dirent *entry;

  if (!folder)
    {
      close (descriptor);
      return;
    }
  while ((entry = readdir (folder)))
    unlinkat (descriptor, entry->d_name, 0);
  rmdir (path);
  closedir (folder);
}

/* Removes @path if it is a folder of this user that no process holds. */
static void
remove_left (const char *path)
{
  int descriptor = open_folder (path);
  struct stat status;

  if (descriptor < 0)
    return;
  if (fstat (descriptor, &status) == 0 && status.st_uid == geteuid ()
      && plait_lock_descriptor (descriptor) == PLAIT_LOCK_TAKEN)
    remove_folder (descriptor, path);
  else
    close (descriptor);
}

static void
remove_left_behind (void)
{
  g_autoptr (GDir) folder = g_dir_open (plait_path_temporary (), 0, NULL);
  const char *name;

  while (folder && (name = g_dir_read_name (folder)))
    if (g_str_has_prefix (name, PREFIX) && strlen (name) == strlen (PATTERN))
      {
        g_autofree char *path = g_build_filename (plait_path_temporary (), name, NULL);

        remove_left (path);
      }
}

PlaitTemporary *
plait_temporary_new (GError **error)
{
  g_autoptr (PlaitTemporary) temporary = g_new0 (PlaitTemporary, 1);

  temporary->descriptor = -1;
  remove_left_behind ();
  for (;;)
    {
      g_autofree char *path = g_build_filename (plait_path_temporary (), PATTERN, NULL);

      if (!g_mkdtemp (path) || ((temporary->descriptor = open_folder (path)) < 0 && errno != ENOENT))
        return plait_fail_null (
            error, PLAIT_ERROR_FAILED,
            "%s: no folder for temporary files can be made (%s); make room there, or set TMPDIR to another folder",
            plait_path_temporary (), g_strerror (errno));
      /* Another process may have taken it for left behind before it was locked. */
      if (temporary->descriptor >= 0 && plait_lock_descriptor (temporary->descriptor) != PLAIT_LOCK_BUSY
          && plait_lock_stands (temporary->descriptor, path))
        {
          temporary->path = g_steal_pointer (&path);
          return g_steal_pointer (&temporary);
        }
      if (temporary->descriptor >= 0)
        close (temporary->descriptor);
      temporary->descriptor = -1;
    }
}

void
plait_temporary_free (PlaitTemporary *temporary)
{
  if (!temporary)
    return;
  if (temporary->descriptor >= 0)
    remove_folder (temporary->descriptor, temporary->path);
  g_free (temporary->path);
  g_free (temporary);
}

const char *
plait_temporary_path (const PlaitTemporary *temporary)
{
  return temporary->path;
}
