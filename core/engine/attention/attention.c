/* SPDX-License-Identifier: MIT */
#include "attention/attention.h"

#include "kernels/kernels.h"

typedef struct
{
  const PlaitKernels *kernels;
  PlaitPool *pool;
  const PlaitAttentionJob *job;
  gsize (*kernel) (const PlaitAttentionPiece *piece, gpointer scratch);
  gboolean (*single_query) (const PlaitAttentionJob *job, gint64 sentence, PlaitScalar *scratch);
} Attention;

/* Computes one head of one sentence. A sentence's heads are consecutive pieces, so that its rows stay in cache. */
static void
head_piece (gpointer data, gint64 number, guint thread)
{
  const Attention *attention = data;
  guint heads = attention->job->settings->heads;
  PlaitAttentionPiece piece = { attention->job, number / heads, (guint)(number % heads) };
  gsize size = attention->kernel (&piece, NULL);

  attention->kernel (&piece, plait_pool_scratch (attention->pool, thread, size));
}

/* Computes all heads of a sentence with one query. Calls head_piece if the kernel does not support the width. */
static void
single_query_piece (gpointer data, gint64 sentence, guint thread)
{
  const Attention *attention = data;
  guint heads = attention->job->settings->heads;
  gint64 keys = plait_ragged_length (attention->job->memories[0].rows, sentence) + attention->kernels->vector_length;
  PlaitScalar *scratch = plait_pool_scratch (attention->pool, thread, sizeof (PlaitScalar) * (gsize)(heads * keys));

  if (attention->single_query (attention->job, sentence, scratch))
    return;
  for (guint head = 0; head < heads; head++)
    head_piece (data, sentence * heads + head, thread);
}

/* TRUE if the kernel for sentences with one query supports the job, apart from the width of the heads: the job has one
 * memory, keeps no weights and no log-sums, and has no causal mask and no dropout. */
static gboolean
allows_single_queries (const PlaitAttentionJob *job)
{
  return job->n_memories == 1 && !job->memories[0].weights && !job->log_sums && !job->settings->causal
         && job->settings->dropout <= 0;
}

/* TRUE if each sentence has one query, as in a step of greedy search. */
static gboolean
has_single_queries (const PlaitAttentionJob *job)
{
  gint64 n = job->query_rows.n;

  if (plait_ragged_rows (job->query_rows) != n)
    return FALSE;
  for (gint64 s = 0; s < n; s++)
    if (plait_ragged_length (job->query_rows, s) != 1)
      return FALSE;
  return TRUE;
}

/* Computes one head of a sentence. If the sentence has one query, the piece of head 0 computes all heads, and the other
 * pieces compute nothing. */
static void
separate_piece (gpointer data, gint64 number, guint thread)
{
  const Attention *attention = data;
  guint heads = attention->job->settings->heads;

  if (plait_ragged_length (attention->job->query_rows, number / heads) != 1)
    head_piece (data, number, thread);
  else if (number % heads == 0)
    single_query_piece (data, number / heads, thread);
}

typedef struct
{
  const PlaitKernels *kernels;
  PlaitScalar *columns;
  PlaitTensor keys;
  PlaitRagged rows;
} KeyColumns;

static void
key_columns_piece (gpointer data, gint64 sentence, guint thread)
{
  const KeyColumns *work = data;
  gint64 vector = work->kernels->vector_length, keys = plait_ragged_length (work->rows, sentence);
  gint64 stride = (keys + vector - 1) / vector * vector;

  if (keys > 0)
    work->kernels->transpose (work->columns + plait_transposed_keys_offset (work->rows, sentence, work->keys.width),
                              stride, stride, plait_tensor_row (work->keys, work->rows.offsets[sentence]),
                              work->keys.stride, keys, work->keys.width);
}

gint64
plait_transposed_keys_size (PlaitRagged rows, gint64 width)
{
  /* The kernels may start a whole vector at any key, so there is padding after the last key. */
  return plait_transposed_keys_offset (rows, rows.n, width) + PLAIT_MAX_VECTOR_LENGTH;
}

void
plait_transpose_keys (PlaitPool *pool, PlaitScalar *columns, PlaitTensor keys, PlaitRagged rows)
{
  PLAIT_WORK_SCOPE (pool, PLAIT_WORK_ATTENTION);
  KeyColumns work = { plait_kernels (), columns, keys, rows };

  g_assert (plait_ragged_rows (rows) == keys.rows);
  plait_pool_run (pool, rows.n, key_columns_piece, &work);
}

static void
check_job (const PlaitAttentionJob *job)
{
  g_assert (job->settings->heads > 0 && job->queries.width % job->settings->heads == 0);
  g_assert (job->n_memories >= 1 && job->n_memories <= PLAIT_MAX_ATTENTION_MEMORIES);
  g_assert (!job->settings->causal || job->n_memories == 1);
  for (guint m = 0; m < job->n_memories; m++)
    {
      const PlaitAttentionMemory *memory = &job->memories[m];

      g_assert (memory->rows.n == job->query_rows.n);
      g_assert (!memory->transposed_keys || (!memory->gather && !job->settings->causal));
      g_assert (!memory->transposed_keys == !job->memories[0].transposed_keys);
    }
  g_assert (!plait_attention_is_relative (job->settings)
            || (job->n_memories == 1 && !job->memories[0].transposed_keys));
}

void
plait_attention_forward (PlaitPool *pool, const PlaitAttentionJob *job)
{
  PLAIT_WORK_SCOPE (pool, PLAIT_WORK_ATTENTION);
  const PlaitKernels *kernels = plait_kernels ();
  Attention attention = { kernels, pool, job, kernels->attention_forward, kernels->attention_single_query };

  check_job (job);
  if (plait_attention_is_relative (job->settings))
    {
      attention.kernel = kernels->relative_attention_forward;
      attention.single_query = kernels->relative_attention_single_query;
    }
  if (allows_single_queries (job) && has_single_queries (job))
    plait_pool_run (pool, job->query_rows.n, single_query_piece, &attention);
  else if (allows_single_queries (job) && job->separate)
    plait_pool_run (pool, job->query_rows.n * job->settings->heads, separate_piece, &attention);
  else
    plait_pool_run (pool, job->query_rows.n * job->settings->heads, head_piece, &attention);
}

void
plait_attention_backward (PlaitPool *pool, const PlaitAttentionJob *job)
{
  PLAIT_WORK_SCOPE (pool, PLAIT_WORK_ATTENTION);
  const PlaitKernels *kernels = plait_kernels ();
  Attention attention = { kernels, pool, job, kernels->attention_backward, NULL };

  check_job (job);
  if (plait_attention_is_relative (job->settings))
    attention.kernel = kernels->relative_attention_backward;
  plait_pool_run (pool, job->query_rows.n * job->settings->heads, head_piece, &attention);
}

typedef struct
{
  PlaitPool *pool;
  const PlaitItemsJob *job;
  void (*kernel) (const PlaitItemsJob *job, gint64 row, PlaitScalar *scratch);
  gint64 rows_in_piece;
} Items;

static void
items_piece (gpointer data, gint64 piece, guint thread)
{
  const Items *items = data;
  PlaitScalar *scratch = plait_pool_scratch (items->pool, thread, sizeof (PlaitScalar) * 2 * (items->job->n + 1));
  gint64 end = MIN ((piece + 1) * items->rows_in_piece, items->job->queries.rows);

  for (gint64 row = piece * items->rows_in_piece; row < end; row++)
    items->kernel (items->job, row, scratch);
}

static void
run_items (Items *items)
{
  PLAIT_WORK_SCOPE (items->pool, PLAIT_WORK_ATTENTION);
  const PlaitItemsJob *job = items->job;

  g_assert (job->settings->heads > 0 && job->queries.width % job->settings->heads == 0);
  items->rows_in_piece = MAX (1, 16384 / MAX (1, job->queries.width * (1 + job->n)));
  plait_pool_run (items->pool, (job->queries.rows + items->rows_in_piece - 1) / items->rows_in_piece, items_piece,
                  items);
}

void
plait_items_attention_forward (PlaitPool *pool, const PlaitItemsJob *job)
{
  run_items (&(Items){ pool, job, plait_kernels ()->items_forward });
}

void
plait_items_attention_backward (PlaitPool *pool, const PlaitItemsJob *job)
{
  run_items (&(Items){ pool, job, plait_kernels ()->items_backward });
}
