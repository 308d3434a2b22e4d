/* SPDX-License-Identifier: MIT */
#include "process/pool.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>

#include "process/crash.h"
#include "text/error.h"

#define SPIN_MICROSECONDS 20
#define WAIT_MICROSECONDS 500

/* The pieces and the scratch memory of a thread. Aligned to two cache lines, to avoid false sharing. */
typedef struct
{
  /* Number of unclaimed pieces: pieces @end - @unclaimed .. @end - 1. A claim changes only this word. Therefore a
   * thread that was delayed in an earlier run claims a valid piece of the current run, or nothing. */
  _Alignas(128) _Atomic gint64 unclaimed;
  gint64 end;
  gint64 begun, ended; /* start of the first piece and end of the last piece in a profiled run, nanoseconds; @begun is 0
                          without a piece */
  gpointer scratch;
  gsize scratch_size;
  PlaitPool *own_pool;
} Share;

typedef struct
{
  PlaitPool *pool;
  guint thread;
  pthread_t handle;
} Worker;

struct PlaitPool
{
  guint threads;
  gboolean spins; /* TRUE: threads spin before they sleep; FALSE with more threads than processors */
  Share *shares;
  Worker *workers;

  PlaitPoolFunc piece;
  gpointer data;
  PlaitCodeOwner caller; /* owner of the code that began the run */

  gboolean profiled;
  PlaitWorkKind work; /* kind of work of the caller */
  gint64 accounted;   /* end of the time that @times covers, nanoseconds */
  PlaitWorkTimes times;

  /* Number of the current run. Workers sleep until the number changes (futex). */
  _Alignas(128) _Atomic guint32 run;
  _Atomic guint32 sleepers;
  _Atomic gboolean stops;
  _Atomic guint32 started; /* workers that have started */
  /* Number of unfinished pieces of the run. The caller sleeps until the number changes (futex). */
  _Alignas(128) _Atomic guint32 left;
  _Atomic gboolean caller_sleeps;
};

static gint64
nanoseconds (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return (gint64)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void
sleep_while (_Atomic guint32 *word, guint32 value)
{
  syscall (SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void
wake (_Atomic guint32 *word, int threads)
{
  syscall (SYS_futex, word, FUTEX_WAKE_PRIVATE, threads, NULL, NULL, 0);
}

static inline void
relax (void)
{
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause ();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/* Spins until @word differs from @value, for a bounded time; checks only once if @pool does not spin. After the first
 * part of this time, yields the processor between checks. TRUE if @word differs. */
static gboolean
spin_while (const PlaitPool *pool, _Atomic guint32 *word, guint32 value)
{
  gint64 begin, passed = 0;

  if (atomic_load (word) != value)
    return TRUE;
  if (!pool->spins)
    return FALSE;
  begin = g_get_monotonic_time ();
  do
    {
      for (int i = 0; i < 16; i++)
        {
          relax ();
          if (atomic_load_explicit (word, memory_order_acquire) != value)
            return TRUE;
        }
      if (passed > SPIN_MICROSECONDS)
        sched_yield ();
      passed = g_get_monotonic_time () - begin;
    }
  while (passed < WAIT_MICROSECONDS);
  return FALSE;
}

/* Claims one piece of @share. FALSE if all are claimed. */
static gboolean
claim (Share *share, gint64 *piece)
{
  gint64 seen = atomic_load_explicit (&share->unclaimed, memory_order_relaxed);

  while (seen > 0)
    if (atomic_compare_exchange_weak_explicit (&share->unclaimed, &seen, seen - 1, memory_order_acquire,
                                               memory_order_relaxed))
      {
        /* The run cannot end before this piece is done; until then @end does not change. */
        *piece = share->end - seen;
        return TRUE;
      }
  return FALSE;
}

/* Computes pieces of the run as thread @thread: first its own share, then the rest of other shares. */
static void
take_part (PlaitPool *pool, guint thread)
{
  gint64 begun = 0;
  guint32 done = 0;

  for (guint i = 0; i < pool->threads; i++)
    {
      gint64 piece;

      for (; claim (&pool->shares[(thread + i) % pool->threads], &piece); done++)
        {
          if (pool->profiled && begun == 0)
            begun = nanoseconds ();
          plait_crash_set_owner (pool->caller);
          pool->piece (pool->data, piece, thread);
        }
    }
  if (begun > 0)
    {
      pool->shares[thread].begun = begun;
      pool->shares[thread].ended = nanoseconds ();
    }
  if (done > 0 && atomic_fetch_sub (&pool->left, done) == done && atomic_load (&pool->caller_sleeps))
    wake (&pool->left, 1);
}

static void *
worker_main (void *data)
{
  Worker *worker = data;
  PlaitPool *pool = worker->pool;
  guint32 run = 0;

  plait_crash_use_signal_stack ();
  atomic_fetch_add (&pool->started, 1);
  wake (&pool->started, 1);
  while (!atomic_load (&pool->stops))
    {
      if (spin_while (pool, &pool->run, run))
        {
          run = atomic_load (&pool->run);
          take_part (pool, worker->thread);
          continue;
        }
      atomic_fetch_add (&pool->sleepers, 1);
      sleep_while (&pool->run, run);
      atomic_fetch_sub (&pool->sleepers, 1);
    }
  return NULL;
}

/* Waits until all workers have started. A starting worker may hold a lock of the allocator, and a fork
 * (process/sandbox.h) would copy the held lock. */
static void
await_workers (PlaitPool *pool)
{
  guint32 started;

  while ((started = atomic_load (&pool->started)) + 1 < pool->threads)
    sleep_while (&pool->started, started);
}

/* Starts the workers with all signals blocked except crash signals, so that other threads receive the other signals. */
static gboolean
start_workers (PlaitPool *pool, guint threads, GError **error)
{
  sigset_t all, before;
  int problem = 0;

  sigfillset (&all);
  plait_crash_unblock_signals (&all);
  pthread_sigmask (SIG_SETMASK, &all, &before);
  for (guint i = 1; i < threads && problem == 0; i++)
    {
      Worker *worker = &pool->workers[i];

      *worker = (Worker){ .pool = pool, .thread = i };
      problem = pthread_create (&worker->handle, NULL, worker_main, worker);
      if (problem == 0)
        pool->threads = i + 1;
    }
  pthread_sigmask (SIG_SETMASK, &before, NULL);
  await_workers (pool);
  return problem == 0
         || plait_fail (
             error, PLAIT_ERROR_FAILED,
             "thread %u of %u cannot be started (%s); ask for fewer threads with --threads, or raise the limit of "
             "processes (ulimit -u) or memory (ulimit -v)",
             pool->threads + 1, threads, g_strerror (problem));
}

PlaitPool *
plait_pool_new (guint threads, GError **error)
{
  guint processors = g_get_num_processors ();
  g_autoptr (PlaitPool) pool = g_aligned_alloc0 (1, sizeof (PlaitPool), 128);

  threads = CLAMP (threads == 0 ? processors : threads, 1, PLAIT_POOL_MAX_THREADS);
  pool->threads = 1;
  pool->spins = threads <= processors;
  /* The extra share has no pieces, only scratch memory. */
  pool->shares = g_aligned_alloc0 (threads + 1, sizeof (Share), 128);
  pool->workers = g_new0 (Worker, threads);
  return start_workers (pool, threads, error) ? g_steal_pointer (&pool) : NULL;
}

void
plait_pool_free (PlaitPool *pool)
{
  if (!pool)
    return;
  atomic_store (&pool->stops, TRUE);
  atomic_fetch_add (&pool->run, 1);
  wake (&pool->run, G_MAXINT);
  for (guint i = 1; i < pool->threads; i++)
    pthread_join (pool->workers[i].handle, NULL);
  for (guint i = 0; i <= pool->threads; i++)
    {
      plait_pool_free (pool->shares[i].own_pool);
      free (pool->shares[i].scratch);
    }
  g_free (pool->workers);
  g_aligned_free (pool->shares);
  g_aligned_free (pool);
}

guint
plait_pool_threads (const PlaitPool *pool)
{
  return pool->threads;
}

const char *
plait_work_name (PlaitWorkKind work)
{
  static const char *const names[PLAIT_N_WORK_KINDS]
      = { "other", "products", "attention", "cells", "output layer", "norms, sums", "update" };

  return names[work];
}

/* Adds the time since the last accounting to the profile. Only the caller has worked in that time. */
static void
account_alone (PlaitPool *pool)
{
  gint64 now = nanoseconds (), passed = now - pool->accounted;

  pool->times.works[pool->work] += passed;
  pool->times.idle += passed * (pool->threads - 1);
  pool->times.all += passed * pool->threads;
  pool->accounted = now;
}

/* Adds the time since the last accounting to the profile. All threads took part in one run in that time. */
static void
account_run (PlaitPool *pool)
{
  gint64 now = nanoseconds (), start = pool->accounted;

  for (guint i = 0; i < pool->threads; i++)
    {
      const Share *share = &pool->shares[i];

      pool->times.dispatch += (share->begun > 0 ? share->begun : now) - start;
      if (share->begun == 0)
        continue;
      pool->times.works[pool->work] += share->ended - share->begun;
      pool->times.waiting += now - share->ended;
    }
  pool->times.all += (now - start) * pool->threads;
  pool->accounted = now;
}

PlaitWorkScope
plait_work_enter (PlaitPool *pool, PlaitWorkKind work)
{
  PlaitWorkScope scope = { pool, pool->work };

  if (pool->profiled)
    account_alone (pool);
  pool->work = work;
  return scope;
}

void
plait_work_leave (PlaitWorkScope *scope)
{
  if (scope->pool->profiled)
    account_alone (scope->pool);
  scope->pool->work = scope->before;
}

void
plait_pool_profile (PlaitPool *pool)
{
  pool->profiled = TRUE;
  pool->times = (PlaitWorkTimes){ 0 };
  pool->accounted = nanoseconds ();
}

PlaitWorkTimes
plait_pool_times (PlaitPool *pool)
{
  if (pool->profiled)
    account_alone (pool);
  return pool->times;
}

void
plait_pool_profile_nested (PlaitPool *part, const PlaitPool *pool)
{
  if (pool->profiled)
    plait_pool_profile (part);
}

void
plait_pool_add_nested_times (PlaitPool *pool, const PlaitWorkTimes *part)
{
  pool->times.works[pool->work] -= part->all;
  for (guint work = 0; work < PLAIT_N_WORK_KINDS; work++)
    pool->times.works[work] += part->works[work];
}

void
plait_pool_run (PlaitPool *pool, gint64 pieces, PlaitPoolFunc piece, gpointer data)
{
  if (pieces <= 1 || !pool || pool->threads == 1)
    {
      for (gint64 i = 0; i < pieces; i++)
        piece (data, i, 0);
      return;
    }
  g_assert (pieces <= G_MAXINT32);
  g_assert (atomic_load (&pool->left) == 0);

  if (pool->profiled)
    account_alone (pool);
  pool->piece = piece;
  pool->data = data;
  pool->caller = plait_crash_get_owner ();
  atomic_store (&pool->left, (guint32)pieces);
  for (guint i = 0; i < pool->threads; i++)
    {
      gint64 first = pieces * i / pool->threads;
      Share *share = &pool->shares[i];

      share->end = pieces * (i + 1) / pool->threads;
      share->begun = 0;
      atomic_store_explicit (&share->unclaimed, share->end - first, memory_order_release);
    }
  atomic_fetch_add (&pool->run, 1);
  if (atomic_load (&pool->sleepers) > 0)
    wake (&pool->run, (int)MIN (pieces - 1, (gint64)pool->threads));

  take_part (pool, 0);
  for (guint32 left = atomic_load (&pool->left); left != 0; left = atomic_load (&pool->left))
    if (!spin_while (pool, &pool->left, left))
      {
        atomic_store (&pool->caller_sleeps, TRUE);
        sleep_while (&pool->left, left);
        atomic_store (&pool->caller_sleeps, FALSE);
      }
  if (pool->profiled)
    account_run (pool);
}

PlaitPool *
plait_pool_for_thread (PlaitPool *pool, guint thread)
{
  Share *share = &pool->shares[thread];

  if (!share->own_pool)
    share->own_pool = plait_pool_new (1, NULL);
  return share->own_pool;
}

gpointer
plait_pool_scratch (PlaitPool *pool, guint thread, gsize size)
{
  Share *share = &pool->shares[thread];

  if (share->scratch_size < size)
    {
      gsize grown = (MAX (size, share->scratch_size + share->scratch_size / 2) + 63) / 64 * 64;

      free (share->scratch);
      share->scratch = NULL;
      if (grown < size || posix_memalign (&share->scratch, 64, grown) != 0)
        g_error ("no memory for %zu bytes of scratch", size);
      share->scratch_size = grown;
    }
  return share->scratch;
}
