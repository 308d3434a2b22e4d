/* SPDX-License-Identifier: MIT */
#pragma once

#include "types/export.h"

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

#define PLAIT_POOL_MAX_THREADS 1024

/* Does piece @piece. @thread (0 .. threads - 1) selects scratch memory, and must not influence the result. */
typedef void (*PlaitPoolFunc) (gpointer data, gint64 piece, guint thread);

/* A pool of @threads threads (at most PLAIT_POOL_MAX_THREADS), the caller included; 0 asks for the processors this
 * process may use. NULL with PLAIT_ERROR_FAILED if the system has no room for so many; of one thread it cannot fail.
 * (transfer full) */
PlaitPool *plait_pool_new (guint threads, GError **error);
void plait_pool_free (PlaitPool *pool);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitPool, plait_pool_free)

guint plait_pool_threads (const PlaitPool *pool);

/* Runs pieces 0 .. @pieces - 1 and returns when all are done. One piece, or without a pool (NULL) or with one of one
 * thread all of them, run in the caller.
 * Not reentrant: a piece must not call it on the same pool. */
PLAIT_API void plait_pool_run (PlaitPool *pool, gint64 pieces, PlaitPoolFunc piece, gpointer data);

/*
 * Where time goes. Who calls plait_pool_run says what for (the innermost word counts); a pool that is watched adds up
 * the time of its threads.
 */
typedef enum
{
  PLAIT_WORK_OTHER, /* what nobody has named: reading, choosing, keeping books */
  PLAIT_WORK_PRODUCTS,
  PLAIT_WORK_ATTENTION,
  PLAIT_WORK_CELLS,  /* of recurrent networks and trees */
  PLAIT_WORK_OUTPUT, /* the output layer: its product, softmax and the choice of the best words, which are one */
  PLAIT_WORK_ROWS,   /* norms, activations, sums, embeddings */
  PLAIT_WORK_UPDATE, /* of parameters */
  PLAIT_N_WORK_KINDS,
} PlaitWorkKind;

/* "products", as tables have it. (transfer none) */
const char *plait_work_name (PlaitWorkKind work);

/* What the calling thread works at until the end of the block; PLAIT_WORK_SCOPE declares one. */
typedef struct
{
  PlaitPool *pool;
  PlaitWorkKind before;
} PlaitWorkScope;

PlaitWorkScope plait_work_enter (PlaitPool *pool, PlaitWorkKind work);
void plait_work_leave (PlaitWorkScope *scope);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (PlaitWorkScope, plait_work_leave)

#define PLAIT_WORK_SCOPE(pool, work)                                                                                   \
  G_GNUC_UNUSED g_auto (PlaitWorkScope) G_PASTE (work_scope_, __LINE__) = plait_work_enter (pool, work)

/* Nanoseconds, added up over the threads of a pool. */
typedef struct
{
  gint64 works[PLAIT_N_WORK_KINDS];
  gint64 dispatch; /* from when a run begins until a thread begins its first piece, or to the end if it gets none */
  gint64 waiting;  /* from its last piece until the run ends */
  gint64 idle;     /* between runs, when only the caller has something to do */
  gint64 all;      /* all threads from beginning to end: the sum of these */
} PlaitWorkTimes;

/* Begins to add up, from zero. */
void plait_pool_profile (PlaitPool *pool);

/* What has been added up until now; nothing where it is not watched. */
PlaitWorkTimes plait_pool_times (PlaitPool *pool);

/* Of a piece that works with a pool of its own, @part: begins to add up in it too if @pool is watched; and, when the
 * run on @pool is over, lets what it came to stand in the place of the run's one work. */
void plait_pool_profile_nested (PlaitPool *part, const PlaitPool *pool);
void plait_pool_add_nested_times (PlaitPool *pool, const PlaitWorkTimes *part);

/* A pool of one thread that belongs to @thread of @pool: for a piece to call what cuts its own work. (transfer none) */
PlaitPool *plait_pool_for_thread (PlaitPool *pool, guint thread);

/* 64-byte aligned scratch of at least @size bytes belonging to @thread, kept between calls and grown as needed. That
 * of thread plait_pool_threads () belongs to who calls plait_pool_run, for the pieces to leave results in. Contents are
 * whatever the last user left. Ends the program if there is no memory: keep @size to what a piece needs. (transfer
 * none) */
gpointer plait_pool_scratch (PlaitPool *pool, guint thread, gsize size);
