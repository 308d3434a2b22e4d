/* SPDX-License-Identifier: MIT */

/*
 * The flag of HDF5 for a file that is open for writing: the consistency flags in superblocks of versions 2 and 3. HDF5
 * clears the flag when it closes the file, so the flag remains if the program was killed.
 */
#include "files/lock.h"
#include "files/path.h"
#include "hdf5/internal.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define SIGNATURE "\211HDF\r\n\032\n"

enum
{
  VERSION = 8, /* VERSION and FLAGS are offsets in the superblock */
  FLAGS = 11,
  OPEN_TO_WRITE = 1 << 0,
  OPEN_TO_SWMR = 1 << 2, /* single writer, multiple readers */
};

/* TRUE if the superblock of the file @fd has the open flag and no unknown bit: unknown bits mean damage. The superblock
 * may follow a user block. */
static gboolean
is_flagged (int fd)
{
  guint8 start[FLAGS + 1];

  for (off_t at = 0; pread (fd, start, sizeof start, at) == (ssize_t)sizeof start; at = MAX (2 * at, 512))
    if (memcmp (start, SIGNATURE, strlen (SIGNATURE)) == 0)
      return (start[VERSION] == 2 || start[VERSION] == 3) && start[FLAGS] != 0
             && (start[FLAGS] & ~(OPEN_TO_WRITE | OPEN_TO_SWMR)) == 0;
  return FALSE;
}

gboolean
plait_store_check_closed (int fd, const char *path, GError **error)
{
  g_autoptr (GString) command = g_string_new ("h5clear -s");

  if (!is_flagged (fd))
    return TRUE;
  if (plait_lock_descriptor (fd) == PLAIT_LOCK_BUSY)
    return plait_fail (error, PLAIT_ERROR_CORRUPT,
                       "%s: another program has this file open for writing (HDF5's open flag is set, and the file is "
                       "locked); close the file in that program",
                       path);
  plait_path_append_quoted (command, path);
  return plait_fail (error, PLAIT_ERROR_CORRUPT,
                     "%s: another program opened this file for writing and did not close it (HDF5's open flag is set), "
                     "perhaps because it was killed; close the file in that program, or clear the flag with: %s "
                     "(Debian: hdf5-tools); if that fails, restore a copy",
                     path, command->str);
}

gboolean
plait_store_check_not_left_open (const char *path, GError **error)
{
  int fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  gboolean closed = fd < 0 || plait_store_check_closed (fd, path, error);

  if (fd >= 0)
    close (fd);
  return closed;
}
