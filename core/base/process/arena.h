/* SPDX-License-Identifier: MIT */
#pragma once

#include <string.h>

#include "types/export.h"

/*
 * Memory that lives for one step.
 *
 * Blocks come from anonymous mappings that are kept from step to step, so the steady state makes no system call.
 * Released blocks grow together and are reused within the step, the smallest that fits first. One thread (the one that
 * runs the tape) uses an arena. Memory is 64-byte aligned and not zeroed.
 *
 * Running out of the limit does not return NULL: it leaves the protected call (plait_arena_protect), so that no
 * operator has to carry an error path for memory.
 */
typedef struct PlaitArena PlaitArena;

typedef void (*PlaitArenaFunc) (gpointer data);

/* A new arena that may hold at most @limit bytes (0: no limit but the system's). (transfer full) */
PlaitArena *plait_arena_new (gsize limit);
void plait_arena_free (PlaitArena *arena);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitArena, plait_arena_free)

/* @size bytes, valid until plait_arena_reset or plait_arena_release. Must stand below plait_arena_protect in the call
 * stack if @size depends on input; outside one, running out aborts. (transfer none) */
PLAIT_API gpointer plait_arena_allocate (PlaitArena *arena, gsize size);

/* Gives @block of @size bytes (as asked of plait_arena_allocate) back for reuse within the step. */
void plait_arena_release (PlaitArena *arena, gpointer block, gsize size);

/* Forgets everything that was taken. The next step starts with one mapping as large as those of the largest so far. */
void plait_arena_reset (PlaitArena *arena);

/* Most bytes that have been in use at once since the arena was made, gaps between blocks included: what the steps add
 * to the memory of the process. */
gsize plait_arena_peak (const PlaitArena *arena);

/* Runs @call (@data). When the arena runs out inside it, the call is left at once (its frames are skipped, so they must
 * own nothing outside the arena), the arena is reset, and FALSE comes back with PLAIT_ERROR_MEMORY naming the bytes
 * asked, held and allowed; likewise when it is left by plait_arena_fail. */
gboolean plait_arena_protect (PlaitArena *arena, PlaitArenaFunc call, gpointer data, GError **error);

/* @n items of @size bytes: plait_arena_allocate, where a product that overflows is too large like any other. */
static inline gpointer
plait_arena_allocate_items (PlaitArena *arena, gsize n, gsize size)
{
  return plait_arena_allocate (arena, n > G_MAXSIZE / size ? G_MAXSIZE : n * size);
}

/* The same, zeroed. */
static inline gpointer
plait_arena_allocate_zeros (PlaitArena *arena, gsize n, gsize size)
{
  return memset (plait_arena_allocate_items (arena, n, size), 0, n * size);
}

/* Leaves the protected call as running out does; plait_arena_protect gives back @error (transfer full). Outside of one
 * its message ends the program. */
G_NORETURN void plait_arena_fail (PlaitArena *arena, GError *error);

/* Typed shorthand: n items of a type; the second zeroed. */
#define plait_arena_new_array(arena, type, n) ((type *)plait_arena_allocate_items ((arena), (gsize)(n), sizeof (type)))
#define plait_arena_new_array0(arena, type, n) ((type *)plait_arena_allocate_zeros ((arena), (gsize)(n), sizeof (type)))
