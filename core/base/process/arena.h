/* SPDX-License-Identifier: MIT */
#pragma once

#include <string.h>

#include "types/export.h"

/*
 * Memory for one training or search step.
 *
 * Blocks come from anonymous mappings that are kept from step to step, so after the first steps no system call is
 * needed. Released blocks are reused within the step, the smallest that fits first. Released neighbours are merged,
 * except blocks of at most 1 KiB. An arena belongs to one thread, the one that runs the tape. Blocks are 64-byte
 * aligned and not zeroed.
 *
 * If memory runs out, plait_arena_allocate does not return NULL: it jumps out of the call in plait_arena_protect. So
 * operators need no error path for memory.
 */
typedef struct PlaitArena PlaitArena;

typedef void (*PlaitArenaFunc) (gpointer data);

/* Returns an arena of at most @limit bytes; 0: limited by the system only. (transfer full) */
PlaitArena *plait_arena_new (gsize limit);
void plait_arena_free (PlaitArena *arena);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitArena, plait_arena_free)

/* Returns @size bytes, valid until plait_arena_reset or plait_arena_release. If @size depends on input, call it inside
 * plait_arena_protect; outside, the program aborts if memory runs out. (transfer none) */
PLAIT_API gpointer plait_arena_allocate (PlaitArena *arena, gsize size);

/* Releases @block for reuse within the step. @size is the size passed to plait_arena_allocate. */
void plait_arena_release (PlaitArena *arena, gpointer block, gsize size);

/* Releases all blocks. The next step begins with one mapping of the greatest total size so far, if the system permits
 * it. */
void plait_arena_reset (PlaitArena *arena);

/* Returns the maximum number of bytes in use since the arena was made: blocks and the gaps between blocks. */
gsize plait_arena_peak (const PlaitArena *arena);

/* Runs @call (@data). If the arena has no memory left during @call, jumps out of @call, resets the arena and returns
 * FALSE with PLAIT_ERROR_MEMORY. plait_arena_fail also jumps out of @call, with its own error. The functions that the
 * jump skips must own nothing outside the arena. */
gboolean plait_arena_protect (PlaitArena *arena, PlaitArenaFunc call, gpointer data, GError **error);

/* Returns @n items of @size bytes each. An overflow of the product is refused like any too large size. */
static inline gpointer
plait_arena_allocate_items (PlaitArena *arena, gsize n, gsize size)
{
  return plait_arena_allocate (arena, n > G_MAXSIZE / size ? G_MAXSIZE : n * size);
}

/* Returns @n zeroed items of @size bytes each. */
static inline gpointer
plait_arena_allocate_zeros (PlaitArena *arena, gsize n, gsize size)
{
  return memset (plait_arena_allocate_items (arena, n, size), 0, n * size);
}

/* Jumps out of the call in plait_arena_protect, which returns FALSE with @error (transfer full). Outside of such a
 * call, ends the program with the message. */
G_NORETURN void plait_arena_fail (PlaitArena *arena, GError *error);

/* Return an array of @n items of @type; plait_arena_new_array0 zeroes it. */
#define plait_arena_new_array(arena, type, n) ((type *)plait_arena_allocate_items ((arena), (gsize)(n), sizeof (type)))
#define plait_arena_new_array0(arena, type, n) ((type *)plait_arena_allocate_zeros ((arena), (gsize)(n), sizeof (type)))
