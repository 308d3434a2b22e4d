/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/types.h>

#include "text/error.h"

/* Memory whose size comes from input: too large a size and a failed allocation are errors and never abort. */

/* Sets *product to @a * @b. FALSE if it overflows. */
static inline gboolean
plait_size_multiply (gsize a, gsize b, gsize *product)
{
  return !__builtin_mul_overflow (a, b, product);
}

/* Returns @count zeroed items of @size bytes, at least one byte, to be freed with g_free. NULL with PLAIT_ERROR_FAILED
 * if memory is not available; @what completes "there is no memory for ...". (transfer full) */
gpointer plait_try_allocate (gsize count, gsize size, const char *what, GError **error);

/* TRUE if @size more bytes are free both in the machine (memory and swap) and in the control groups. If a process
 * uses more than is free, the system kills processes. Always TRUE for small sizes. */
gboolean plait_memory_is_available (gsize size);

/* Returns the bytes that the limits (memory.max) of @group, such as "/job_7/step_0", and of the groups around it leave,
 * in the control groups (version 2) of the folder @root; G_MAXUINT64 without a limit. A group's inactive file cache
 * counts as free. */
guint64 plait_memory_left_in_groups (const char *root, const char *group);

/* Sets *@held to the resident bytes of @process and *@most to their maximum so far; 0 if the process does not exist. */
void plait_memory_of_process (pid_t process, gsize *held, gsize *most);

/* Returns the bytes of address space that this process uses. */
gsize plait_address_space_used (void);

/* TRUE if @size more bytes fit into the process's address space (ulimit -v). Call it before a library that does not
 * handle a failed allocation. */
gboolean plait_address_space_is_available (gsize size);

/* Bytes of a huge page. */
#define PLAIT_HUGE_PAGE ((gsize)2 << 20)

/* Allocates a large zeroed array directly from the system, in huge pages if possible. A page uses memory only after its
 * first access. Returns NULL if there is not enough memory; the caller must handle that. (transfer full) */
gpointer plait_pages_allocate (gsize size);

/* Frees @size bytes at @pages, from plait_pages_allocate. NULL is allowed. */
void plait_pages_free (gpointer pages, gsize size);
