/* SPDX-License-Identifier: MIT */
#include "tensor/attention.h"

#include "tensor/kernels/kernels.h"

typedef struct
{
  const PlaitKernels *kernels;
  PlaitPool *pool;
  PlaitAttentionJob job;
} Attention;

/* Pieces are heads of sentences. A sentence's heads stand together, so a thread meets its rows
 * while they are in cache. */
static PlaitAttentionPiece
piece_of (const Attention *attention, gint64 piece)
{
  guint heads = attention->job.settings->heads;

  return (PlaitAttentionPiece){ &attention->job, piece / heads, (guint)(piece % heads) };
}

static void
forward_piece (gpointer data, gint64 number, guint thread)
{
  const Attention *attention = data;
  PlaitAttentionPiece piece = piece_of (attention, number);
  gsize size = attention->kernels->attention_forward (&piece, NULL);

  attention->kernels->attention_forward (&piece, plait_pool_scratch (attention->pool, thread, size));
}

static void
backward_piece (gpointer data, gint64 number, guint thread)
{
  const Attention *attention = data;
  PlaitAttentionPiece piece = piece_of (attention, number);
  gsize size = attention->kernels->attention_backward (&piece, NULL);

  attention->kernels->attention_backward (&piece, plait_pool_scratch (attention->pool, thread, size));
}

/* A sentence with one query, all of its heads; the general way where the kernel does not know their width. */
static void
one_piece (gpointer data, gint64 sentence, guint thread)
{
  const Attention *attention = data;
  guint heads = attention->job.settings->heads;
  gint64 keys = plait_ragged_length (attention->job.memories[0].rows, sentence) + attention->kernels->vector_length;
  PlaitScalar *scratch = plait_pool_scratch (attention->pool, thread, sizeof (PlaitScalar) * (gsize)(heads * keys));

  if (attention->kernels->attention_one (&attention->job, sentence, scratch))
    return;
  for (guint head = 0; head < heads; head++)
    forward_piece (data, sentence * heads + head, thread);
}

/* Whether the job is a step of search: one query a sentence, and nothing to be kept. */
static gboolean
has_single_queries (const PlaitAttentionJob *job)
{
  gint64 n = job->query_rows.n;

  if (job->n_memories > 1 || job->memories[0].weights || job->log_sums || job->settings->causal
      || job->settings->dropout > 0 || plait_ragged_rows (job->query_rows) != n)
    return FALSE;
  for (gint64 s = 0; s < n; s++)
    if (plait_ragged_length (job->query_rows, s) != 1)
      return FALSE;
  return TRUE;
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
    work->kernels->transpose (work->columns + plait_key_columns_place (work->rows, sentence, work->keys.width), stride,
                              stride, plait_tensor_row (work->keys, work->rows.offsets[sentence]), work->keys.stride,
                              keys, work->keys.width);
}

gint64
plait_attention_key_columns_size (PlaitRagged rows, gint64 width)
{
  /* Blocks of keys are read in whole vectors from anywhere. */
  return plait_key_columns_place (rows, rows.n, width) + PLAIT_LONGEST_VECTOR;
}

void
plait_attention_key_columns (PlaitPool *pool, PlaitScalar *columns, PlaitTensor keys, PlaitRagged rows)
{
  PLAIT_WORK_SCOPE (pool, PLAIT_WORK_ATTENTION);
  KeyColumns work = { plait_kernels (), columns, keys, rows };

  g_assert (plait_ragged_rows (rows) == keys.rows);
  plait_pool_run (pool, rows.n, key_columns_piece, &work);
}

static void
check (const Attention *attention)
{
  const PlaitAttentionJob *job = &attention->job;

  g_assert (job->settings->heads > 0 && job->queries.width % job->settings->heads == 0);
  g_assert (job->n_memories >= 1 && job->n_memories <= PLAIT_ATTENTION_MEMORIES);
  g_assert (!job->settings->causal || job->n_memories == 1);
  for (guint m = 0; m < job->n_memories; m++)
    {
      const PlaitAttentionMemory *memory = &job->memories[m];

      g_assert (memory->rows.n == job->query_rows.n);
      g_assert (!memory->key_columns || (!memory->gather && !job->settings->causal));
      g_assert (!memory->key_columns == !job->memories[0].key_columns);
    }
}

void
plait_attention_forward (PlaitPool *pool, PlaitTensor context, PlaitTensor queries, PlaitRagged query_rows,
                         const PlaitAttentionMemory *memories, guint n_memories, const PlaitAttentionSettings *settings,
                         PlaitScalar *log_sums)
{
  PLAIT_WORK_SCOPE (pool, PLAIT_WORK_ATTENTION);
  Attention attention = { plait_kernels (),
                          pool,
                          { .context = context,
                            .queries = queries,
                            .query_rows = query_rows,
                            .memories = memories,
                            .n_memories = n_memories,
                            .settings = settings,
                            .log_sums = log_sums } };

  check (&attention);
  if (has_single_queries (&attention.job))
    plait_pool_run (pool, query_rows.n, one_piece, &attention);
  else
    plait_pool_run (pool, query_rows.n * settings->heads, forward_piece, &attention);
}

void
plait_attention_backward (PlaitPool *pool, PlaitGradientTarget dqueries, const PlaitAttentionMemoryGradient *dmemories,
                          PlaitTensor dcontext, PlaitTensor context, PlaitTensor queries, PlaitRagged query_rows,
                          const PlaitAttentionMemory *memories, guint n_memories,
                          const PlaitAttentionSettings *settings, const PlaitScalar *log_sums)
{
  PLAIT_WORK_SCOPE (pool, PLAIT_WORK_ATTENTION);
  Attention attention = { plait_kernels (),
                          pool,
                          { .context = context,
                            .queries = queries,
                            .query_rows = query_rows,
                            .memories = memories,
                            .n_memories = n_memories,
                            .settings = settings,
                            .log_sums = (PlaitScalar *)log_sums,
                            .dcontext = dcontext,
                            .dqueries = dqueries,
                            .dmemories = dmemories } };

  check (&attention);
  plait_pool_run (pool, query_rows.n * settings->heads, backward_piece, &attention);
}

typedef struct
{
  const PlaitKernels *kernels;
  PlaitPool *pool;
  PlaitItemsJob job;
  gint64 rows_in_piece;
  gboolean backward;
} Items;

static void
items_piece (gpointer data, gint64 piece, guint thread)
{
  const Items *items = data;
  PlaitScalar *scratch = plait_pool_scratch (items->pool, thread, sizeof (PlaitScalar) * 2 * (items->job.n + 1));
  gint64 end = MIN ((piece + 1) * items->rows_in_piece, items->job.queries.rows);

  for (gint64 row = piece * items->rows_in_piece; row < end; row++)
    if (items->backward)
      items->kernels->items_backward (&items->job, row, scratch);
    else
      items->kernels->items_forward (&items->job, row, scratch);
}

static void
run_items (Items *items)
{
  gint64 numbers = MAX (1, items->job.queries.width * (1 + items->job.n));

  g_assert (items->job.settings->heads > 0 && items->job.queries.width % items->job.settings->heads == 0);
  items->kernels = plait_kernels ();
  items->rows_in_piece = MAX (1, 16384 / numbers);
  plait_pool_run (items->pool, (items->job.queries.rows + items->rows_in_piece - 1) / items->rows_in_piece, items_piece,
                  items);
}

void
plait_items_attention_forward (PlaitPool *pool, PlaitTensor context, PlaitTensor queries, const PlaitTensor *keys,
                               const PlaitTensor *values, const guint8 *const *present, guint n,
                               const PlaitAttentionSettings *settings, PlaitScalar *weights)
{
  PLAIT_WORK_SCOPE (pool, PLAIT_WORK_ATTENTION);
  Items items = { .pool = pool,
                  .job = { .context = context,
                           .queries = queries,
                           .keys = keys,
                           .values = values,
                           .present = present,
                           .n = n,
                           .settings = settings,
                           .weights = weights } };

  run_items (&items);
}

void
plait_items_attention_backward (PlaitPool *pool, PlaitGradientTarget dqueries, const PlaitGradientTarget *dkeys,
                                const PlaitGradientTarget *dvalues, PlaitTensor dcontext, PlaitTensor queries,
                                const PlaitTensor *keys, const PlaitTensor *values, const guint8 *const *present,
                                guint n, const PlaitAttentionSettings *settings)
{
  PLAIT_WORK_SCOPE (pool, PLAIT_WORK_ATTENTION);
  Items items = { .pool = pool,
                  .backward = TRUE,
                  .job = { .queries = queries,
                           .keys = keys,
                           .values = values,
                           .present = present,
                           .n = n,
                           .settings = settings,
                           .dcontext = dcontext,
                           .dqueries = dqueries,
                           .dkeys = dkeys,
                           .dvalues = dvalues } };

  run_items (&items);
}
