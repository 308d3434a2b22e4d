/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/export.h"

/*
 * The one thread pool.
 *
 * Work is cut by the caller into pieces whose number and extent depend on the shapes alone, not on the number of
 * threads, wherever anything is summed over pieces; each piece is done by one thread in a fixed order. So results have
 * the same bits for any thread count.
 * Workers wait actively for a bounded time (half a millisecond, most of it yielding to whoever wants the processor) and
 * then sleep: to be woken takes as long as many a run. The calling thread takes part. Each thread starts in a
 * contiguous share of the pieces and takes over the rest of the others' when its own is done.
 */
typedef struct PlaitPool PlaitPool;

#define PLAIT_POOL_MOST_THREADS 1024

/* Does piece @piece. @thread (0 .. threads - 1) selects scratch memory, and must not influence the result. */
typedef void (*PlaitPiece) (gpointer data, gint64 piece, guint thread);

/* A pool of @threads threads (at most PLAIT_POOL_MOST_THREADS), the caller included; 0 asks for the processors this
 * process may use. NULL with PLAIT_ERROR_FAILED if the system has no room for so many; of one thread it cannot fail.
 * (transfer full) */
PLAIT_API PlaitPool *plait_pool_new (guint threads, GError **error);
PLAIT_API void plait_pool_free (PlaitPool *pool);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitPool, plait_pool_free)

PLAIT_API guint plait_pool_threads (const PlaitPool *pool);

/* Runs pieces 0 .. @pieces - 1 and returns when all are done. One piece, or a pool of one thread, runs in the caller.
 * Not reentrant: a piece must not call it on the same pool. */
PLAIT_API void plait_pool_run (PlaitPool *pool, gint64 pieces, PlaitPiece piece, gpointer data);

/* A pool of one thread that belongs to @thread of @pool: for a piece to call what cuts its own work. (transfer none) */
PLAIT_API PlaitPool *plait_pool_alone (PlaitPool *pool, guint thread);

/* 64-byte aligned scratch of at least @size bytes belonging to @thread, kept between calls and grown as needed. That
 * of thread plait_pool_threads () belongs to who calls plait_pool_run, for the pieces to leave results in. Contents are
 * whatever the last user left. Ends the program if there is no memory: keep @size to what a piece needs. (transfer
 * none) */
PLAIT_API gpointer plait_pool_scratch (PlaitPool *pool, guint thread, gsize size);
