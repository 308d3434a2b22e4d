/* SPDX-License-Identifier: MIT */
#pragma once

#include "lines/text-file.h"

/*
 * Lines of one text for several readers. Each line is read once, when it is first asked for, and kept until all readers
 * have it.
 */
typedef struct PlaitSharedLines PlaitSharedLines;

/* Returns the lines of @lines for @n readers, each of which holds a reference. Takes ownership of @lines. (transfer
 * full) */
PlaitSharedLines *plait_shared_lines_new (PlaitTextReader *lines, guint n);

/* Releases the reference of one reader. NULL is allowed. */
void plait_shared_lines_unref (PlaitSharedLines *shared);

/* Returns line @position, from 0, to a reader that has got all lines before it. Sets *@number to the line's number in
 * the file. Returns NULL at the end without setting @error, and NULL with @error set on failure. Only the reader that
 * asks first gets the error; for the other readers, the lines end there. (transfer full) */
char *plait_shared_lines_next (PlaitSharedLines *shared, gint64 position, gsize *length, gint64 *number,
                               GError **error);
