/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/types.h>

#include "text/error.h"

/*
 * Memory whose size comes from input: never an overflow, never an abort.
 */

/* a * b in *product, or FALSE if it does not fit. */
static inline gboolean
plait_size_multiply (gsize a, gsize b, gsize *product)
{
  return !__builtin_mul_overflow (a, b, product);
}

/* @count items of @size bytes, zeroed, for @what (as in "no memory for the vectors of features.h5"); to be freed with
 * g_free. At least one byte is allocated. NULL with PLAIT_ERROR_FAILED if the system has none. (transfer full) */
gpointer plait_try_allocate (gsize count, gsize size, const char *what, GError **error);

/* TRUE if @size bytes more can be had before the system would begin to end processes: of the machine's memory and swap,
 * and of the control group. Small sizes are always granted. */
gboolean plait_memory_is_available (gsize size);

/* The bytes of memory that @process holds and the most that it has held; 0 of one that is gone. */
void plait_memory_of_process (pid_t process, gsize *held, gsize *most);

/* The bytes of address space that this process has taken. */
gsize plait_address_space_used (void);

/* TRUE if @size bytes more fit into the address space that the process is allowed (ulimit -v). To be asked on behalf of
 * libraries that do not take no for an answer. */
gboolean plait_address_space_is_available (gsize size);

/*
 * Large arrays, straight from the system: zeroed, in huge pages where the system has them and they fill one. Pages take
 * memory from when they are first touched. NULL if the system has none, or has not that much left; a refusal is an
 * answer here.
 */
#define PLAIT_HUGE_PAGE ((gsize)2 << 20)

gpointer plait_pages_allocate (gsize size);

/* Gives back what plait_pages_allocate gave for @size bytes. NULL is allowed. */
void plait_pages_free (gpointer pages, gsize size);
