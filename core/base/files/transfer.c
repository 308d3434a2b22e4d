/* SPDX-License-Identifier: MIT */
#include "files/transfer.h"

#include <errno.h>
#include <unistd.h>

gssize
plait_read_at (int descriptor, gpointer bytes, gsize n, gint64 offset)
{
  gsize done = 0;

  while (done < n)
    {
      ssize_t got = pread (descriptor, (char *)bytes + done, n - done, (off_t)(offset + (gint64)done));

      if (got < 0 && errno == EINTR)
        continue;
      if (got < 0)
        return -1;
      if (got == 0)
        break;
      done += (gsize)got;
    }
  return (gssize)done;
}

gboolean
plait_write_at (int descriptor, gconstpointer bytes, gsize n, gint64 offset)
{
  for (gsize done = 0; done < n;)
    {
      ssize_t put = pwrite (descriptor, (const char *)bytes + done, n - done, (off_t)(offset + (gint64)done));

      if (put < 0 && errno == EINTR)
        continue;
      if (put == 0)
        errno = ENOSPC;
      if (put <= 0)
        return FALSE;
      done += (gsize)put;
    }
  return TRUE;
}
