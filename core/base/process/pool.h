/* SPDX-License-Identifier: MIT */
#pragma once

#include "types/export.h"

/*
 * The thread pool of the program.
 *
 * The caller cuts work into pieces. If results are summed over pieces, the number and size of the pieces depend only on
 * shapes, never on the number of threads, and one thread computes each piece in a fixed order. So results have the same
 * bits for any number of threads.
 *
 * Workers spin for a bounded time (half a millisecond, mostly yielding the processor) before they sleep, because waking
 * a thread takes the time of many calls of plait_pool_run. They sleep at once if the pool has more threads than there
 * are processors. The calling thread takes part. Each thread begins with a contiguous share of the pieces, then takes
 * pieces of other shares.
 */
typedef struct PlaitPool PlaitPool;

#define PLAIT_POOL_MAX_THREADS 1024

/* Computes piece @piece. @thread (0 .. threads - 1) selects scratch memory and must not influence the result. */
typedef void (*PlaitPoolFunc) (gpointer data, gint64 piece, guint thread);

/* Returns a pool of @threads threads (at most PLAIT_POOL_MAX_THREADS), the caller included; 0: one for each processor
 * that this process may use. Fails with PLAIT_ERROR_FAILED if the system refuses a thread; a pool of one thread never
 * fails. (transfer full) */
PlaitPool *plait_pool_new (guint threads, GError **error);
void plait_pool_free (PlaitPool *pool);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitPool, plait_pool_free)

guint plait_pool_threads (const PlaitPool *pool);

/* Runs pieces 0 .. @pieces - 1 and returns when all are done. A single piece, or any pieces if @pool is NULL or has one
 * thread, run in the caller. Not reentrant: a piece must not call it on the same pool. */
PLAIT_API void plait_pool_run (PlaitPool *pool, gint64 pieces, PlaitPoolFunc piece, gpointer data);

/*
 * Kinds of work for the time profile. The caller of plait_pool_run names its work in a scope; the innermost scope
 * counts. A profiled pool adds up the time of its threads by kind.
 */
typedef enum
{
  PLAIT_WORK_OTHER, /* all other work: reading, selecting, bookkeeping */
  PLAIT_WORK_PRODUCTS,
  PLAIT_WORK_ATTENTION,
  PLAIT_WORK_CELLS,  /* cells of recurrent networks and tree encoders */
  PLAIT_WORK_OUTPUT, /* the fused output layer: product, softmax and selection of the best words */
  PLAIT_WORK_ROWS,   /* normalisation, activations, sums, embeddings */
  PLAIT_WORK_UPDATE, /* updates of parameters */
  PLAIT_N_WORK_KINDS,
} PlaitWorkKind;

/* Returns the name of a kind of work for tables, such as "products". (transfer none) */
const char *plait_work_name (PlaitWorkKind work);

/* A scope: until its end, the calling thread does one kind of work. PLAIT_WORK_SCOPE begins a scope that ends with the
 * current block. */
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

/* Times of a profiled pool in nanoseconds, summed over its threads. */
typedef struct
{
  gint64 works[PLAIT_N_WORK_KINDS];
  gint64 dispatch; /* time from the start of a run to a thread's first piece, or to the end of the run if the thread
                      gets no piece */
  gint64 waiting;  /* time that threads wait from their last piece to the end of the run */
  gint64 idle;     /* time of the workers between runs, while only the caller works */
  gint64 all;      /* total time of all threads: the sum of the other fields */
} PlaitWorkTimes;

/* Starts the time profile of @pool from zero. */
void plait_pool_profile (PlaitPool *pool);

/* Returns the times since plait_pool_profile; zeros if the pool is not profiled. */
PlaitWorkTimes plait_pool_times (PlaitPool *pool);

/* Profile a piece that runs several kinds of work on @part, a pool of one thread. The piece calls
 * plait_pool_profile_nested, which starts the profile of @part if @pool is profiled. In the profile of @pool, the whole
 * piece counts as work of the run's kind. After the run, the caller passes the times of @part to
 * plait_pool_add_nested_times, which moves these times from that kind to the kinds of @part. */
void plait_pool_profile_nested (PlaitPool *part, const PlaitPool *pool);
void plait_pool_add_nested_times (PlaitPool *pool, const PlaitWorkTimes *part);

/* Returns a pool of one thread that belongs to @thread of @pool, so that a piece can call functions that need a pool.
 * (transfer none) */
PlaitPool *plait_pool_for_thread (PlaitPool *pool, guint thread);

/* Returns at least @size bytes of 64-byte aligned scratch memory of @thread, with undefined contents, valid until the
 * next call for @thread. @thread = plait_pool_threads () selects memory of the caller of plait_pool_run, in which
 * pieces can leave results. Ends the program if memory runs out, so request only what a piece needs. (transfer none) */
gpointer plait_pool_scratch (PlaitPool *pool, guint thread, gsize size);
