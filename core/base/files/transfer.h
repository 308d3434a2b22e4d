/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/* Bytes of a file at a place, all of them, however often the system is interrupted or transfers a part. */

/* Reads @n bytes at @offset of @descriptor. How many there were: fewer where the file ends before; -1 with errno
 * set. */
gssize plait_read_at (int descriptor, gpointer bytes, gsize n, gint64 offset);

/* Writes @n bytes at @offset of @descriptor. FALSE with errno set. */
gboolean plait_write_at (int descriptor, gconstpointer bytes, gsize n, gint64 offset);
