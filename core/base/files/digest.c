/* SPDX-License-Identifier: MIT */

/* OpenSSL uses the SHA instructions of processors; GLib does not. The deprecated functions of OpenSSL never allocate,
 * so they cannot fail; their replacements can fail. */
#define OPENSSL_SUPPRESS_DEPRECATED

#include "files/digest.h"

#include <errno.h>
#include <openssl/sha.h>
#include <unistd.h>

#include "files/file.h"
#include "files/transfer.h"

static char *
hexadecimal (const guchar *value)
{
  GString *digest = g_string_new (NULL);

  for (gsize i = 0; i < PLAIT_DIGEST_LENGTH / 2; i++)
    g_string_append_printf (digest, "%02x", value[i]);
  return g_string_free (digest, FALSE);
}

char *
plait_digest_bytes (gconstpointer bytes, gsize length)
{
  guchar value[PLAIT_DIGEST_LENGTH / 2];
  SHA256_CTX context;

  SHA256_Init (&context);
  SHA256_Update (&context, bytes, length);
  SHA256_Final (value, &context);
  return hexadecimal (value);
}

/* Returns the digest of all bytes of @descriptor. NULL with errno set. (transfer full) */
static char *
digest_open (int descriptor)
{
  enum
  {
    CHUNK = 1 << 18
  };
  g_autofree guchar *chunk = g_malloc (CHUNK);
  guchar value[PLAIT_DIGEST_LENGTH / 2];
  SHA256_CTX context;
  gint64 place = 0;

  SHA256_Init (&context);
  for (gssize got = CHUNK; got == CHUNK; place += got)
    {
      got = plait_read_at (descriptor, chunk, CHUNK, place);
      if (got < 0)
        return NULL;
      SHA256_Update (&context, chunk, (gsize)got);
    }
  SHA256_Final (value, &context);
  return hexadecimal (value);
}

char *
plait_digest_file (const char *path, GError **error)
{
  struct stat status;
  int descriptor = plait_file_open (path, PLAIT_FILE_REGULAR, "a file that can be read again", &status, error);

  if (descriptor < 0)
    return NULL;
  char *digest = digest_open (descriptor);
  if (!digest)
    plait_fail (error, plait_error_code (errno), "%s: the file cannot be read: %s", path, g_strerror (errno));
  close (descriptor);
  return digest;
}
