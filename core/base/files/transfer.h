/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/* Complete reads and writes at a position of a file, in spite of signals and partial transfers. */

/* Reads @n bytes at @offset of @descriptor. Returns the number of bytes read, fewer than @n at the end of the file; -1
 * with errno set. */
gssize plait_read_at (int descriptor, gpointer bytes, gsize n, gint64 offset);

/* Writes @n bytes at @offset of @descriptor. FALSE with errno set. */
gboolean plait_write_at (int descriptor, gconstpointer bytes, gsize n, gint64 offset);
