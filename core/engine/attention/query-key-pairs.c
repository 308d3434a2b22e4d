/* SPDX-License-Identifier: MIT */
#include "attention/query-key-pairs.h"

#include <math.h>
#include <string.h>

#include "kernels/kernels.h"
#include "kernels/gradient-terms.h"

/* Sizes of pieces of work, which do not depend on the number of threads. ROWS: number of memory rows of a sentence in a
 * piece, except in plait_weighted_sum_forward. */
#define ROWS 128
/* Number of columns and of memory rows in a piece of plait_weighted_sum_forward. Long memories have several pieces. */
#define COLUMNS 256
#define READ_ROWS 512
/* Number of sentences in a piece of a softmax. */
#define SENTENCES 8

PlaitQueryKeyPairs
plait_query_key_pairs_new (PlaitArena *arena, PlaitRagged queries, PlaitRagged rows)
{
  gint64 *offsets = plait_arena_new_array (arena, gint64, queries.n + 1);

  g_assert (queries.n == rows.n);
  offsets[0] = 0;
  for (gint64 s = 0; s < queries.n; s++)
    offsets[s + 1] = offsets[s] + plait_ragged_length (queries, s) * plait_ragged_length (rows, s);
  return (PlaitQueryKeyPairs){ queries, rows, offsets };
}

PlaitRagged
plait_ragged_units (PlaitArena *arena, gint64 n)
{
  gint64 *offsets = plait_arena_new_array (arena, gint64, n + 1);

  for (gint64 i = 0; i <= n; i++)
    offsets[i] = i;
  return (PlaitRagged){ n, offsets };
}

const gint64 *
plait_ragged_ends (PlaitArena *arena, PlaitRagged rows, gboolean first)
{
  gint64 *ends = plait_arena_new_array (arena, gint64, rows.n + 1);

  for (gint64 s = 0; s < rows.n; s++)
    if (plait_ragged_length (rows, s) == 0)
      ends[s] = -1;
    else
      ends[s] = first ? rows.offsets[s] : rows.offsets[s + 1] - 1;
  return ends;
}

typedef struct
{
  const PlaitKernels *kernels;
  const PlaitQueryKeyPairs *pairs;
  guint n; /* number of memories under one softmax */
  /* Arguments of additive scores and dot scores. */
  PlaitScalar *scores;
  const PlaitScalar *dscores;
  const PlaitAdditiveScores *additive;
  const PlaitAdditiveGradients *gradients;
  PlaitScalar *partial; /* partial sums of the pieces, added in order later */
  gint64 pieces_in;     /* number of pieces into which each sentence is cut */
  PlaitScalar scale;
  PlaitTensor x;
  PlaitTensor y;
  const PlaitScalar *numbers;
  gboolean add;
  PlaitScalar *const *targets;
  const PlaitScalar *betas;
} Call;

/* Returns the number of pieces into which each sentence is cut: as many pieces of @rows rows as the longest sentence
 * needs. Shorter sentences get empty pieces. */
static gint64
pieces_of (const PlaitQueryKeyPairs *pairs, gint64 rows)
{
  return (MAX (plait_ragged_longest (pairs->rows), 1) + rows - 1) / rows;
}

/* A range of memory rows of a sentence, with all queries of the sentence. */
typedef struct
{
  gint64 first_query; /* number of the first query row */
  gint64 queries;
  gint64 first_row; /* number of the first memory row */
  gint64 rows;
  gint64 pair;   /* index of the pair of the first query and the first row */
  gint64 stride; /* number of pairs of each query; pair p + stride has the row of pair p and the next query */
} RowRange;

static RowRange
range_of (const Call *call, gint64 piece)
{
  const PlaitQueryKeyPairs *pairs = call->pairs;
  gint64 sentence = piece / call->pieces_in, first = piece % call->pieces_in * ROWS;
  gint64 length = plait_ragged_length (pairs->rows, sentence);

  return (RowRange){
    .first_query = pairs->queries.offsets[sentence],
    .queries = plait_ragged_length (pairs->queries, sentence),
    .first_row = pairs->rows.offsets[sentence] + first,
    .rows = CLAMP (length - first, 0, ROWS),
    .pair = pairs->offsets[sentence] + first,
    .stride = length,
  };
}

static void
run_ranges (PlaitPool *pool, Call *call, PlaitPoolFunc piece)
{
  PLAIT_WORK_SCOPE (pool, PLAIT_WORK_ATTENTION);

  call->kernels = plait_kernels ();
  call->pieces_in = pieces_of (call->pairs, ROWS);
  plait_pool_run (pool, call->pairs->queries.n * call->pieces_in, piece, call);
}

static const PlaitScalar *
extra_of (const PlaitAdditiveScores *additive, gint64 pair)
{
  return additive->extra.data ? plait_tensor_row (additive->extra, pair) : NULL;
}

static void
additive_piece (gpointer data, gint64 piece, guint thread)
{
  const Call *call = data;
  const PlaitAdditiveScores *additive = call->additive;
  RowRange range = range_of (call, piece);
  PlaitScalar bias = additive->bias ? *additive->bias : 0;

  for (gint64 q = 0; q < range.queries; q++)
    for (gint64 r = 0; r < range.rows; r++)
      {
        gint64 pair = range.pair + q * range.stride + r;

        call->scores[pair]
            = bias
              + call->kernels->additive_score (plait_tensor_row (additive->queries, range.first_query + q),
                                               plait_tensor_row (additive->keys, range.first_row + r),
                                               extra_of (additive, pair), additive->vector, additive->queries.width);
      }
}

void
plait_additive_scores_forward (PlaitPool *pool, const PlaitQueryKeyPairs *pairs, PlaitScalar *scores,
                               const PlaitAdditiveScores *additive)
{
  run_ranges (pool, &(Call){ .pairs = pairs, .scores = scores, .additive = additive }, additive_piece);
}

/* Returns the size of a piece's partial sums: gradients of the bias, the vector and, if a sentence has several pieces,
 * its queries. */
static gint64
partial_size (const Call *call)
{
  gint64 width = call->additive->queries.width;

  return 1 + width + (call->pieces_in > 1 ? plait_ragged_longest (call->pairs->queries) * width : 0);
}

static void
clear_rows (PlaitTensor tensor, const RowRange *range)
{
  for (gint64 r = 0; r < range->rows && tensor.data; r++)
    memset (plait_tensor_row (tensor, range->first_row + r), 0, sizeof (PlaitScalar) * (gsize)tensor.width);
}

static void
additive_backward_piece (gpointer data, gint64 piece, guint thread)
{
  const Call *call = data;
  const PlaitAdditiveScores *additive = call->additive;
  const PlaitAdditiveGradients *gradients = call->gradients;
  gint64 width = additive->queries.width, size = partial_size (call);
  PlaitScalar *bias = call->partial + piece * size, *vector = bias + 1, *queries = vector + width;
  RowRange range = range_of (call, piece);

  memset (bias, 0, sizeof (PlaitScalar) * (gsize)size);
  if (range.queries == 0 && gradients->replaces_keys)
    clear_rows (gradients->keys, &range);
  for (gint64 q = 0; q < range.queries; q++)
    for (gint64 r = 0; r < range.rows; r++)
      {
        gint64 pair = range.pair + q * range.stride + r;
        PlaitScalar dscore = call->dscores[pair];
        PlaitAdditivePair from = {
          .query = plait_tensor_row (additive->queries, range.first_query + q),
          .key = plait_tensor_row (additive->keys, range.first_row + r),
          .extra = (PlaitScalar *)extra_of (additive, pair),
          .vector = (PlaitScalar *)additive->vector,
        };
        PlaitAdditivePair to = { .vector = vector,
                                 .replaces_key = gradients->replaces_keys && q == 0,
                                 .replaces_extra = gradients->replaces_extra };

        if (gradients->queries.data)
          to.query = call->pieces_in > 1 ? queries + q * width
                                         : plait_tensor_row (gradients->queries, range.first_query + q);
        if (gradients->keys.data)
          to.key = plait_tensor_row (gradients->keys, range.first_row + r);
        if (gradients->extra.data)
          to.extra = plait_tensor_row (gradients->extra, pair);
        call->kernels->additive_score_backward (&to, dscore, &from, width);
        *bias += PLAIT_GRADIENT_TERM (additive_scores_bias, dscore);
      }
}

/* Adds the partial sums of all pieces to the gradients, in order. */
static void
add_up (const Call *call)
{
  const PlaitAdditiveGradients *gradients = call->gradients;
  const PlaitRagged rows = call->pairs->queries;
  gint64 width = call->additive->queries.width, size = partial_size (call);

  for (gint64 piece = 0; piece < rows.n * call->pieces_in; piece++)
    {
      const PlaitScalar *bias = call->partial + piece * size, *vector = bias + 1, *queries = vector + width;
      gint64 sentence = piece / call->pieces_in;

      if (gradients->bias)
        *gradients->bias += *bias;
      if (gradients->vector)
        call->kernels->accumulate (gradients->vector, 1, 1, vector, width);
      for (gint64 q = 0; q < plait_ragged_length (rows, sentence); q++)
        if (gradients->queries.data && call->pieces_in > 1)
          call->kernels->accumulate (plait_tensor_row (gradients->queries, rows.offsets[sentence] + q), 1, 1,
                                     queries + q * width, width);
    }
}

void
plait_additive_scores_backward (PlaitPool *pool, PlaitArena *arena, const PlaitQueryKeyPairs *pairs,
                                const PlaitAdditiveGradients *gradients, const PlaitScalar *dscores,
                                const PlaitAdditiveScores *additive)
{
  PLAIT_WORK_SCOPE (pool, PLAIT_WORK_ATTENTION);
  Call call = { .pairs = pairs,
                .dscores = dscores,
                .additive = additive,
                .gradients = gradients,
                .pieces_in = pieces_of (pairs, ROWS) };
  gsize bytes = sizeof (PlaitScalar) * (gsize)MAX (partial_size (&call) * pairs->queries.n * call.pieces_in, 1);

  call.partial = plait_arena_allocate (arena, bytes);
  run_ranges (pool, &call, additive_backward_piece);
  add_up (&call);
  plait_arena_release (arena, call.partial, bytes);
}

static void
dot_piece (gpointer data, gint64 piece, guint thread)
{
  const Call *call = data;
  RowRange range = range_of (call, piece);

  for (gint64 q = 0; q < range.queries; q++)
    for (gint64 r = 0; r < range.rows; r++)
      call->scores[range.pair + q * range.stride + r]
          = call->scale
            * call->kernels->dot (plait_tensor_row (call->y, range.first_query + q),
                                  plait_tensor_row (call->x, range.first_row + r), call->x.width);
}

void
plait_dot_scores_forward (PlaitPool *pool, const PlaitQueryKeyPairs *pairs, PlaitScalar *scores, PlaitScalar scale,
                          PlaitTensor queries, PlaitTensor keys)
{
  run_ranges (pool, &(Call){ .pairs = pairs, .scores = scores, .scale = scale, .x = keys, .y = queries }, dot_piece);
}

/* Computes c = (@add: c +) a b like the kernel. The kernel reads whole vectors of b; here the columns after the last
 * whole vector are summed one by one, so that nothing after the last column is read. */
static void
multiply (const Call *call, gint64 rows, gint64 width, gint64 depth, const PlaitScalar *a, gint64 row, gint64 step,
          const PlaitScalar *b, gint64 b_stride, PlaitScalar *c, gint64 c_stride, gboolean add)
{
  gint64 whole = width - width % call->kernels->vector_length;

  if (whole > 0)
    call->kernels->multiply (rows, whole, depth, a, row, step, b, b_stride, c, c_stride, add);
  for (gint64 i = 0; i < rows; i++)
    for (gint64 j = whole; j < width; j++)
      {
        PlaitScalar sum = 0;

        for (gint64 k = 0; k < depth; k++)
          sum += a[i * row + k * step] * b[k * b_stride + j];
        c[i * c_stride + j] = add ? c[i * c_stride + j] + sum : sum;
      }
}

/* Computes the weighted sums of all queries of a sentence over one range of rows of x, in one range of columns. The
 * sums over the first range of rows go to y, or are added to y if call->add. Each later range of rows has its own
 * tensor [query rows, w] in @partial. */
static void
read_piece (gpointer data, gint64 piece, guint thread)
{
  const Call *call = data;
  const PlaitQueryKeyPairs *pairs = call->pairs;
  gint64 blocks = (call->x.width + COLUMNS - 1) / COLUMNS, column = piece % blocks * COLUMNS;
  gint64 sentence = piece / blocks / call->pieces_in, part = piece / blocks % call->pieces_in;
  gint64 length = plait_ragged_length (pairs->rows, sentence), queries = plait_ragged_length (pairs->queries, sentence);
  gint64 first = part * READ_ROWS, rows = CLAMP (length - first, 0, READ_ROWS);
  PlaitTensor y = call->y;

  if (queries == 0 || (rows == 0 && part > 0))
    return;
  if (part > 0)
    y = plait_tensor (call->partial + (part - 1) * y.rows * y.width, y.rows, y.width);
  multiply (call, queries, MIN (COLUMNS, y.width - column), rows, call->numbers + pairs->offsets[sentence] + first,
            length, 1, plait_tensor_row (call->x, pairs->rows.offsets[sentence] + first) + column, call->x.stride,
            plait_tensor_row (y, pairs->queries.offsets[sentence]) + column, y.stride, call->add && part == 0);
}

static void
read_sum_piece (gpointer data, gint64 sentence, guint thread)
{
  const Call *call = data;
  const PlaitQueryKeyPairs *pairs = call->pairs;
  gint64 parts = (plait_ragged_length (pairs->rows, sentence) + READ_ROWS - 1) / READ_ROWS;
  PlaitTensor y = call->y;

  for (gint64 q = pairs->queries.offsets[sentence]; q < pairs->queries.offsets[sentence + 1]; q++)
    for (gint64 part = 1; part < parts; part++)
      call->kernels->accumulate (plait_tensor_row (y, q), 1, 1, call->partial + ((part - 1) * y.rows + q) * y.width,
                                 y.width);
}

void
plait_weighted_sum_forward (PlaitPool *pool, PlaitArena *arena, const PlaitQueryKeyPairs *pairs, PlaitTensor y,
                            gboolean add, const PlaitScalar *numbers, PlaitTensor x)
{
  PLAIT_WORK_SCOPE (pool, PLAIT_WORK_ATTENTION);
  Call call = { .kernels = plait_kernels (), .pairs = pairs, .x = x, .y = y, .numbers = numbers, .add = add };
  gint64 blocks = (x.width + COLUMNS - 1) / COLUMNS;
  gsize bytes;

  g_assert (x.width == y.width && y.rows == plait_ragged_rows (pairs->queries));
  call.pieces_in = pieces_of (pairs, READ_ROWS);
  bytes = sizeof (PlaitScalar) * (gsize)((call.pieces_in - 1) * y.rows * y.width);
  if (bytes > 0)
    call.partial = plait_arena_allocate (arena, bytes);
  plait_pool_run (pool, pairs->queries.n * call.pieces_in * blocks, read_piece, &call);
  if (bytes > 0)
    {
      plait_pool_run (pool, pairs->queries.n, read_sum_piece, &call);
      plait_arena_release (arena, call.partial, bytes);
    }
}

static void
spread_piece (gpointer data, gint64 piece, guint thread)
{
  const Call *call = data;
  RowRange range = range_of (call, piece);

  if (range.rows > 0 && range.queries > 0)
    multiply (call, range.rows, call->x.width, range.queries, call->numbers + range.pair, 1, range.stride,
              plait_tensor_row (call->y, range.first_query), call->y.stride,
              plait_tensor_row (call->x, range.first_row), call->x.stride, call->add);
  else if (!call->add)
    clear_rows (call->x, &range);
}

void
plait_weighted_sum_transposed (PlaitPool *pool, const PlaitQueryKeyPairs *pairs, PlaitTensor x, gboolean add,
                               const PlaitScalar *numbers, PlaitTensor y)
{
  g_assert (x.width == y.width && y.rows == plait_ragged_rows (pairs->queries));
  run_ranges (pool, &(Call){ .pairs = pairs, .x = x, .y = y, .numbers = numbers, .add = add }, spread_piece);
}

/* Returns the index of the first pair of query @q of @sentence in one memory, counted over the pairs of all memories.
 * @pairs: the pairs of the memory; @before: number of pairs of earlier memories. Sets *length to the number of pairs of
 * @q in the memory. */
static gint64
segment (const PlaitQueryKeyPairs *pairs, gint64 before, gint64 sentence, gint64 q, gint64 *length)
{
  *length = plait_ragged_length (pairs->rows, sentence);
  return before + pairs->offsets[sentence] + q * *length;
}

static void
softmax_query (const Call *call, gint64 sentence, gint64 q)
{
  PlaitScalar greatest = -(PlaitScalar)INFINITY;
  gint64 before = 0, length;
  double sum = 0;

  for (guint m = 0; m < call->n; before += plait_query_key_pairs_count (&call->pairs[m]), m++)
    {
      gint64 at = segment (&call->pairs[m], before, sentence, q, &length);

      greatest = MAX (greatest, call->kernels->greatest (call->numbers + at, length));
    }
  before = 0;
  for (guint m = 0; m < call->n; before += plait_query_key_pairs_count (&call->pairs[m]), m++)
    {
      gint64 at = segment (&call->pairs[m], before, sentence, q, &length);

      if (call->scores != call->numbers)
        memcpy (call->scores + at, call->numbers + at, sizeof (PlaitScalar) * (gsize)length);
      sum += call->kernels->exponentials (call->scores + at, greatest, length);
    }
  before = 0;
  for (guint m = 0; m < call->n; before += plait_query_key_pairs_count (&call->pairs[m]), m++)
    {
      gint64 at = segment (&call->pairs[m], before, sentence, q, &length);

      call->kernels->scale_shift (call->scores + at, (PlaitScalar)(1 / sum), 0, length);
    }
}

static void
softmax_backward_query (const Call *call, gint64 sentence, gint64 q)
{
  gint64 before = 0, length;
  PlaitScalar sum = 0;

  for (guint m = 0; m < call->n; before += plait_query_key_pairs_count (&call->pairs[m]), m++)
    {
      gint64 at = segment (&call->pairs[m], before, sentence, q, &length);

      sum += call->kernels->dot (call->numbers + at, call->dscores + at, length);
    }
  sum = PLAIT_GRADIENT_TERM (ragged_softmax_normaliser, sum);
  before = 0;
  for (guint m = 0; m < call->n; before += plait_query_key_pairs_count (&call->pairs[m]), m++)
    {
      gint64 at = segment (&call->pairs[m], before, sentence, q, &length);
      PlaitScalar *to = call->targets[m] + at - before;

      for (gint64 i = 0; i < length && call->targets[m]; i++)
        to[i] = (call->betas[m] != 0 ? to[i] : 0)
                + call->numbers[at + i] * (PLAIT_GRADIENT_TERM (ragged_softmax_weight, call->dscores[at + i]) - sum);
    }
}

static void
softmax_piece (gpointer data, gint64 piece, guint thread)
{
  const Call *call = data;
  PlaitRagged queries = call->pairs->queries;

  for (gint64 s = piece * SENTENCES; s < MIN ((piece + 1) * SENTENCES, queries.n); s++)
    for (gint64 q = 0; q < plait_ragged_length (queries, s); q++)
      if (!call->targets)
        softmax_query (call, s, q);
      else
        softmax_backward_query (call, s, q);
}

static void
run_softmax (PlaitPool *pool, Call *call)
{
  PLAIT_WORK_SCOPE (pool, PLAIT_WORK_ATTENTION);

  call->kernels = plait_kernels ();
  plait_pool_run (pool, (call->pairs->queries.n + SENTENCES - 1) / SENTENCES, softmax_piece, call);
}

void
plait_ragged_softmax_forward (PlaitPool *pool, const PlaitQueryKeyPairs *pairs, guint n, PlaitScalar *weights,
                              const PlaitScalar *scores)
{
  run_softmax (pool, &(Call){ .pairs = pairs, .n = n, .scores = weights, .numbers = scores });
}

void
plait_ragged_softmax_backward (PlaitPool *pool, const PlaitQueryKeyPairs *pairs, guint n, PlaitScalar *const *dscores,
                               const PlaitScalar *betas, const PlaitScalar *dweights, const PlaitScalar *weights)
{
  Call call = { .pairs = pairs, .n = n, .dscores = dweights, .numbers = weights, .targets = dscores, .betas = betas };

  run_softmax (pool, &call);
}
