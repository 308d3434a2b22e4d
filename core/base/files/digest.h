/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/error.h"

/* Length of a SHA-256 digest in hexadecimal, without the NUL. */
#define PLAIT_DIGEST_LENGTH 64

/* Returns the SHA-256 of @length bytes in lower-case hexadecimal. (transfer full) */
char *plait_digest_bytes (gconstpointer bytes, gsize length);

/* Returns the SHA-256 of the file @path in lower-case hexadecimal. NULL with an error if it is not a regular file or
 * cannot be read. (transfer full) */
char *plait_digest_file (const char *path, GError **error);
