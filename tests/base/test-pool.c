/* SPDX-License-Identifier: MIT */
#include "process/pool.h"
#include "process/sandbox.h"
#include "harness.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#define PIECES 97

typedef struct
{
  PlaitPool *pool;
  double sums[PIECES];
  _Atomic int visits[PIECES];
  _Atomic int strangers;
} Work;

static void
sum_piece (gpointer data, gint64 piece, guint thread)
{
  Work *work = data;
  double *scratch = plait_pool_scratch (work->pool, thread, 100 * sizeof (double));

  if (thread >= plait_pool_threads (work->pool) || (guintptr)scratch % 64 != 0)
    work->strangers++;
  for (int i = 0; i < 100; i++)
    scratch[i] = sin ((double)(piece * 100 + i));
  work->sums[piece] = 0;
  for (int i = 0; i < 100; i++)
    work->sums[piece] += scratch[i];
  work->visits[piece]++;
}

TEST_CASE (pool, same_bits_for_any_number_of_threads)
{
  const guint threads[] = { 1, 2, 3, 5 };
  Work first = { 0 };

  for (gsize t = 0; t < G_N_ELEMENTS (threads); t++)
    {
      g_autoptr (PlaitPool) pool = plait_pool_new (threads[t], NULL);
      Work work = { .pool = pool };

      CONTEXT ("%u threads", threads[t]);
      CHECK_INT (plait_pool_threads (pool), threads[t]);
      plait_pool_run (pool, PIECES, sum_piece, &work);
      for (int i = 0; i < PIECES; i++)
        CHECK_INT (work.visits[i], 1);
      CHECK_INT (work.strangers, 0);
      if (t == 0)
        memcpy (first.sums, work.sums, sizeof first.sums);
      CHECK (memcmp (first.sums, work.sums, sizeof first.sums) == 0);
    }
}

TEST_CASE (pool, any_number_of_pieces)
{
  g_autoptr (PlaitPool) pool = plait_pool_new (3, NULL);

  for (gint64 pieces = 0; pieces <= 10; pieces++)
    {
      Work work = { .pool = pool };

      CONTEXT ("%d pieces", (int)pieces);
      plait_pool_run (pool, pieces, sum_piece, &work);
      for (int i = 0; i < PIECES; i++)
        CHECK_INT (work.visits[i], i < pieces);
    }
}

static void
count_piece (gpointer data, gint64 piece, guint thread)
{
  atomic_fetch_add ((_Atomic gint64 *)data, piece + 1);
}

TEST_CASE (pool, the_caller_runs_all_pieces_without_one)
{
  _Atomic gint64 sum = 0;

  plait_pool_run (NULL, 5, count_piece, &sum);
  CHECK_INT (sum, 15);
}

/* Calls plait_pool_run many times, for little work, with many more threads than processors: no piece is lost or done
 * twice, and no call hangs. */
TEST_CASE (pool, oversubscription_does_not_hang)
{
  g_autoptr (PlaitPool) pool = plait_pool_new (16, NULL);
  _Atomic gint64 sum = 0;

  for (int run = 0; run < 3000; run++)
    plait_pool_run (pool, 1 + run % 40, count_piece, &sum);

  gint64 expected = 0;
  for (int run = 0; run < 3000; run++)
    expected += (gint64)(1 + run % 40) * (2 + run % 40) / 2;
  CHECK_INT (sum, expected);
}

TEST_CASE (pool, pools_run_beside_each_other)
{
  g_autoptr (PlaitPool) one = plait_pool_new (2, NULL);
  g_autoptr (PlaitPool) other = plait_pool_new (4, NULL);
  _Atomic gint64 sum = 0;

  for (int run = 0; run < 200; run++)
    {
      plait_pool_run (one, 10, count_piece, &sum);
      plait_pool_run (other, 10, count_piece, &sum);
    }
  CHECK_INT (sum, 400 * 55);
}

enum
{
  OUTER = 6,
};

typedef struct
{
  PlaitPool *pool;
  Work works[OUTER];
} Nested;

static void
nested_piece (gpointer data, gint64 piece, guint thread)
{
  Nested *nested = data;
  Work *work = &nested->works[piece];
  gpointer scratch = plait_pool_scratch (nested->pool, thread, 64);

  memset (scratch, 7, 64);
  work->pool = plait_pool_for_thread (nested->pool, thread);
  plait_pool_run (work->pool, PIECES, sum_piece, work);
  work->strangers += plait_pool_threads (work->pool) != 1 || ((const char *)scratch)[63] != 7;
}

TEST_CASE (pool, a_piece_may_run_pieces_alone)
{
  for (guint threads = 1; threads <= 3; threads++)
    {
      CONTEXT ("%u threads", threads);
      g_autoptr (PlaitPool) pool = plait_pool_new (threads, NULL);
      Nested nested = { .pool = pool };

      plait_pool_run (pool, OUTER, nested_piece, &nested);
      for (int i = 0; i < OUTER; i++)
        {
          CHECK_INT (nested.works[i].strangers, 0);
          for (int k = 0; k < PIECES; k++)
            CHECK_INT (nested.works[i].visits[k], 1);
          CHECK (memcmp (nested.works[i].sums, nested.works[0].sums, sizeof nested.works[0].sums) == 0);
        }
    }
}

/* Pieces of work for a test: the caller's first piece lasts until the worker has done all other pieces. */
typedef struct
{
  gint64 pieces;
  _Atomic gint64 done[2];
  _Atomic pid_t worker;
} Shared;

static void
wait_for_worker (gpointer data, gint64 piece, guint thread)
{
  Shared *shared = data;

  if (thread == 1)
    shared->worker = gettid ();
  while (thread == 0 && shared->done[1] < shared->pieces - 1)
    g_thread_yield ();
  shared->done[thread]++;
}

/* While the caller does its first piece, the worker does all other pieces: its own share and then the rest of the
 * caller's. */
static void
check_worker (PlaitPool *pool, Shared *shared)
{
  REQUIRE (plait_pool_threads (pool) == 2);
  shared->done[0] = shared->done[1] = 0;
  plait_pool_run (pool, shared->pieces, wait_for_worker, shared);
  CHECK_INT (shared->done[0] + shared->done[1], shared->pieces);
  CHECK (shared->done[1] >= shared->pieces - 1);
}

TEST_CASE (pool, idle_threads_take_over_the_rest)
{
  g_autoptr (PlaitPool) pool = plait_pool_new (2, NULL);
  Shared shared = { .pieces = 20 };

  check_worker (pool, &shared);
}

/* TRUE if the thread @thread of this process sleeps. */
static gboolean
is_asleep (pid_t thread)
{
  g_autofree char *text = NULL;

  g_assert_true (g_file_get_contents (plait_test_format ("/proc/self/task/%d/stat", (int)thread), &text, NULL, NULL));
  return g_str_has_prefix (strrchr (text, ')'), ") S");
}

TEST_CASE (pool, sleepers_wake)
{
  g_autoptr (PlaitPool) pool = plait_pool_new (2, NULL);
  Shared shared = { .pieces = 4 };

  check_worker (pool, &shared);
  for (int run = 0; run < 3; run++)
    {
      while (!is_asleep (shared.worker))
        g_thread_yield ();
      check_worker (pool, &shared);
    }
}

TEST_CASE (pool, asks_for_the_processors)
{
  g_autoptr (PlaitPool) pool = plait_pool_new (0, NULL);

  CHECK_INT (plait_pool_threads (pool), g_get_num_processors ());
}

static gboolean
start_many (gpointer data, GError **error)
{
  g_autoptr (PlaitPool) pool = plait_pool_new (GPOINTER_TO_UINT (data), error);

  return pool != NULL;
}

/* Limits the address space, of which each thread needs some megabytes for its stack. */
TEST_CASE (pool, says_that_there_is_no_room_for_its_threads)
{
  PlaitSandboxLimits limits = { 20, 10, (gsize)100 << 20 };
  GError *error = NULL;

#ifdef __SANITIZE_ADDRESS__
  SKIP_TEST ("AddressSanitizer takes more for each thread, and ends the process if it cannot have it");
#endif
  CHECK (plait_sandbox_run ("the pool", PLAIT_ERROR_PLUGIN, start_many, GUINT_TO_POINTER (2), limits, NO_ERROR));
  CHECK (!plait_sandbox_run ("the pool", PLAIT_ERROR_PLUGIN, start_many, GUINT_TO_POINTER (1000), limits, &error));
  CHECK_ERROR (error, PLAIT_ERROR_FAILED,
               "of 1000 cannot be started (Resource temporarily unavailable); ask for fewer threads");
}

TEST_CASE (pool, scratch_is_kept_and_grows)
{
  g_autoptr (PlaitPool) pool = plait_pool_new (2, NULL);
  char *scratch = plait_pool_scratch (pool, 1, 1000);

  memset (scratch, 7, 1000);
  CHECK (plait_pool_scratch (pool, 1, 500) == scratch);
  CHECK_INT (scratch[999], 7);
  CHECK (plait_pool_scratch (pool, 0, 1000) != scratch);
  memset (plait_pool_scratch (pool, 1, 1 << 20), 7, 1 << 20);
}

#define SPIN_NANOSECONDS 200000

static void
spin_piece (gpointer data, gint64 piece, guint thread)
{
  gint64 end = g_get_monotonic_time () + SPIN_NANOSECONDS / 1000 + 1; /* + 1, because the clock rounds down */

  while (g_get_monotonic_time () < end)
    continue;
}

/* The times of all kinds of work add up to the time of all threads, and named work is counted under its name. */
TEST_CASE (pool, tells_where_time_goes)
{
  const guint threads[] = { 1, 2, 3 };

  for (gsize t = 0; t < G_N_ELEMENTS (threads); t++)
    {
      g_autoptr (PlaitPool) pool = plait_pool_new (threads[t], NULL);
      gint64 sum = 0;
      CONTEXT ("%u threads", threads[t]);

      plait_pool_run (pool, 8, spin_piece, NULL); /* before profiling, so it is not counted */
      plait_pool_profile (pool);
      {
        PLAIT_WORK_SCOPE (pool, PLAIT_WORK_ATTENTION);

        plait_pool_run (pool, 8, spin_piece, NULL);
        {
          PLAIT_WORK_SCOPE (pool, PLAIT_WORK_PRODUCTS);

          plait_pool_run (pool, 1, spin_piece, NULL);
        }
        plait_pool_run (pool, 4, spin_piece, NULL);
      }
      spin_piece (NULL, 0, 0);
      PlaitWorkTimes times = plait_pool_times (pool);
      CHECK (times.works[PLAIT_WORK_ATTENTION] >= 12 * SPIN_NANOSECONDS);
      CHECK (times.works[PLAIT_WORK_PRODUCTS] >= SPIN_NANOSECONDS);
      CHECK (times.works[PLAIT_WORK_OTHER] >= SPIN_NANOSECONDS);
      CHECK_INT (times.works[PLAIT_WORK_UPDATE], 0);
      CHECK (times.idle >= 2 * SPIN_NANOSECONDS * (threads[t] - 1));
      CHECK (threads[t] > 1 || times.dispatch + times.waiting == 0);
      for (guint work = 0; work < PLAIT_N_WORK_KINDS; work++)
        sum += times.works[work];
      CHECK_INT (sum + times.dispatch + times.waiting + times.idle, times.all);
    }
}

static void
part_piece (gpointer data, gint64 piece, guint thread)
{
  PlaitPool **parts = data;
  PLAIT_WORK_SCOPE (parts[piece], PLAIT_WORK_CELLS);

  spin_piece (NULL, 0, 0);
}

typedef struct
{
  PlaitPool *pool;
  PlaitPool *parts[2];
  PlaitWorkTimes times[2];
} Divided;

static void
divided_piece (gpointer data, gint64 piece, guint thread)
{
  Divided *divided = data;

  plait_pool_profile_nested (divided->parts[piece], divided->pool);
  spin_piece (NULL, 0, 0);
  part_piece (divided->parts, piece, thread);
  divided->times[piece] = plait_pool_times (divided->parts[piece]);
}

/* The work of a nested pool is counted under its own kind, and the sum is still right. */
TEST_CASE (pool, tells_where_the_time_of_parts_goes)
{
  g_autoptr (PlaitPool) pool = plait_pool_new (2, NULL);
  Divided divided = { pool, { plait_pool_for_thread (pool, 0), plait_pool_for_thread (pool, 1) }, { { { 0 } } } };

  for (guint watched = 0; watched < 2; watched++)
    {
      PlaitWorkTimes times;
      gint64 sum = 0;

      if (watched)
        plait_pool_profile (pool);
      plait_pool_run (pool, 2, divided_piece, &divided);
      for (guint part = 0; part < 2; part++)
        plait_pool_add_nested_times (pool, &divided.times[part]);
      times = plait_pool_times (pool);
      CHECK (times.works[PLAIT_WORK_CELLS] >= watched * 2 * SPIN_NANOSECONDS);
      CHECK (times.works[PLAIT_WORK_OTHER] >= watched * 2 * SPIN_NANOSECONDS);
      for (guint work = 0; work < PLAIT_N_WORK_KINDS; work++)
        sum += times.works[work];
      CHECK_INT (sum + times.dispatch + times.waiting + times.idle, times.all);
      CHECK (watched || times.all == 0);
    }
}
