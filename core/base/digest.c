/* SPDX-License-Identifier: MIT */
#include "base/digest.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

char *
plait_digest_bytes (gconstpointer bytes, gsize length)
{
  return g_compute_checksum_for_data (G_CHECKSUM_SHA256, bytes, length);
}

/* The rest of @descriptor goes into @checksum. FALSE with errno set. */
static gboolean
add_rest (GChecksum *checksum, int descriptor)
{
  enum
  {
    CHUNK = 1 << 18
  };
  g_autofree guchar *chunk = g_malloc (CHUNK);

  for (;;)
    {
      ssize_t got = read (descriptor, chunk, CHUNK);

      if (got == 0)
        return TRUE;
      if (got > 0)
        g_checksum_update (checksum, chunk, got);
      else if (errno != EINTR)
        return FALSE;
    }
}

char *
plait_digest_file (const char *path, goffset offset, GError **error)
{
  /* A pipe without a writer is refused, not waited for. */
  int descriptor = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status;
  char *digest = NULL;

  if (descriptor < 0)
    {
      plait_fail (error, PLAIT_ERROR_INPUT, "%s: the file cannot be opened: %s.", path, g_strerror (errno));
      return NULL;
    }
  if (fstat (descriptor, &status) != 0 || !S_ISREG (status.st_mode))
    plait_fail (error, PLAIT_ERROR_INPUT, "%s: it is not a regular file; name one that can be read again.", path);
  else if (status.st_size < offset)
    plait_fail (error, PLAIT_ERROR_INPUT,
                "%s: the file has %" G_GINT64_FORMAT " bytes, at least %" G_GINT64_FORMAT
                " were expected; it is cut off.",
                path, (gint64)status.st_size, (gint64)offset);
  else
    {
      g_autoptr (GChecksum) checksum = g_checksum_new (G_CHECKSUM_SHA256);

      if ((offset == 0 || lseek (descriptor, offset, SEEK_SET) == offset) && add_rest (checksum, descriptor))
        digest = g_strdup (g_checksum_get_string (checksum));
      else
        plait_fail (error, PLAIT_ERROR_INPUT, "%s: the file cannot be read: %s.", path, g_strerror (errno));
    }
  close (descriptor);
  return digest;
}
