/* SPDX-License-Identifier: MIT */
#include "tensor/kernels/variant.h"
#include "tensor/terms.h"

#include "base/random.h"

/*
 * One sentence and head. Keys (and for backward values) are transposed into scratch once, so that scores come from the
 * register tile with a vector of keys in each register; then tiles of queries go through, whose scores stay in cache.
 */
#define MOST_QUERIES 64
#define MOST_SCORES 32768
/* Scratch is taken in multiples of so many scalars. */
#define TAKEN 16

/* Shapes of the piece and the layout of its scratch. */
typedef struct
{
  const PlaitAttentionJob *job;
  gint64 sentence;
  guint head;
  gint64 first_query; /* row */
  gint64 queries;
  gint64 keys;   /* of all memories */
  gint64 width;  /* of a head */
  gint64 column; /* of its first number */
  gint64 padded; /* width rounded up to whole vectors */
  gint64 stride; /* of a row of scores: room for the keys in whole vectors, and one more */
  gint64 tile;   /* queries in a tile */
  PlaitScalar scale;
  guint32 threshold; /* of the dropout hash */
  PlaitScalar kept;  /* factor of weights that are not dropped */
} Piece;

static gint64
whole_vectors (gint64 n)
{
  return (n + VECTOR_LENGTH - 1) / VECTOR_LENGTH * VECTOR_LENGTH;
}

static Piece
piece_of (const PlaitAttentionPiece *given)
{
  const PlaitAttentionJob *job = given->job;
  const PlaitAttentionSettings *settings = job->settings;
  Piece piece = { .job = job, .sentence = given->sentence, .head = given->head };

  piece.first_query = job->query_rows.offsets[given->sentence];
  piece.queries = plait_ragged_length (job->query_rows, given->sentence);
  for (guint m = 0; m < job->n_memories; m++)
    piece.keys += plait_ragged_length (job->memories[m].rows, given->sentence);
  piece.width = job->queries.width / settings->heads;
  piece.column = given->head * piece.width;
  piece.padded = whole_vectors (piece.width);
  piece.stride = whole_vectors (piece.keys) + VECTOR_LENGTH;
  piece.tile = CLAMP (MOST_SCORES / piece.stride, 4, MIN (MOST_QUERIES, MAX (piece.queries, 4)));
  piece.scale = settings->scale != 0 ? (PlaitScalar)settings->scale : 1 / (PlaitScalar)sqrt ((double)piece.width);
  piece.threshold = (guint32)(settings->dropout * 0x1p32);
  piece.kept = (PlaitScalar)(1 / (1 - settings->dropout));
  return piece;
}

gsize
KERNEL (attention_scratch) (const PlaitAttentionPiece *given, gboolean backward)
{
  Piece piece = piece_of (given);
  gint64 transposed = piece.width * piece.stride, rows = piece.keys * piece.padded;
  gint64 scores = piece.tile * piece.stride, queries = piece.queries * piece.padded;
  gint64 numbers = backward ? 2 * transposed + 4 * rows + 2 * scores + 3 * queries : transposed + 2 * rows + scores;
  gint64 blocks = 2 * given->job->n_memories + 9; /* at most, of which take rounds each up */

  return sizeof (PlaitScalar) * (gsize)(numbers + TAKEN * blocks);
}

static PlaitScalar *
take (PlaitScalar **scratch, gint64 n)
{
  PlaitScalar *block = *scratch;

  *scratch += (n + TAKEN - 1) / TAKEN * TAKEN;
  return block;
}

/* Rows as the tile's right factor: as they are if they are whole vectors, else copied and filled up. */
typedef struct
{
  const PlaitScalar *data;
  gint64 stride;
} Rows;

static Rows
rows_of (const Piece *piece, const PlaitScalar *data, gint64 stride, const gint64 *gather, gint64 n,
         PlaitScalar **scratch)
{
  PlaitScalar *copy;

  if (!gather && piece->padded == piece->width)
    return (Rows){ data, stride };
  copy = take (scratch, n * piece->padded);
  for (gint64 i = 0; i < n; i++)
    {
      memcpy (copy + i * piece->padded, data + (gather ? gather[i] : i) * stride,
              sizeof (PlaitScalar) * (gsize)piece->width);
      memset (copy + i * piece->padded + piece->width, 0, sizeof (PlaitScalar) * (gsize)(piece->padded - piece->width));
    }
  return (Rows){ copy, piece->padded };
}

/* The rows of the piece's keys or values in memory @m. */
static Rows
memory_rows (const Piece *piece, guint m, gboolean values, PlaitScalar **scratch)
{
  const PlaitAttentionMemory *memory = &piece->job->memories[m];
  PlaitTensor tensor = values ? memory->values : memory->keys;
  gint64 first = memory->rows.offsets[piece->sentence], n = plait_ragged_length (memory->rows, piece->sentence);

  if (memory->gather)
    return rows_of (piece, tensor.data + piece->column, tensor.stride, memory->gather + first, n, scratch);
  return rows_of (piece, plait_tensor_row (tensor, first) + piece->column, tensor.stride, NULL, n, scratch);
}

/* [width][stride]: the keys or values of all memories side by side. */
static void
transpose_memories (const Piece *piece, gboolean values, const Rows *rows, PlaitScalar *to)
{
  for (guint m = 0; m < piece->job->n_memories; m++)
    {
      gint64 n = plait_ragged_length (piece->job->memories[m].rows, piece->sentence);

      /* What is written beyond a memory's keys is overwritten by the next, or lies in the room at the end. */
      KERNEL (transpose) (to, piece->stride, whole_vectors (n), rows[m].data, rows[m].stride, n, piece->width);
      to += n;
    }
}

/* How many keys query @query of the sentence sees. */
static gint64
visible (const Piece *piece, gint64 query)
{
  return piece->job->settings->causal ? MIN (query + 1, piece->keys) : piece->keys;
}

static IntegerVector
lanes_below (gint64 n)
{
  return vector_lanes () < (VectorInteger)MIN (n, VECTOR_LENGTH);
}

/* The key of query @query's row of draws. */
static guint32
draw_key (const Piece *piece, gint64 query)
{
  guint64 key = piece->job->settings->key.state;
  guint64 place = (guint64)(piece->first_query + query) * piece->job->settings->heads + piece->head;

  return plait_random_hash32 ((guint32)key, (guint32)(key >> 32), (guint32)place);
}

/* row[j] *= its dropout factor. */
static void
drop (const Piece *piece, gint64 query, PlaitScalar *row, gint64 n)
{
  guint32 key = draw_key (piece, query), key2 = (guint32)(piece->job->settings->key.state >> 32);
  guint32 threshold = piece->threshold;
  PlaitScalar kept = piece->kept;

  for (gint64 j = 0; j < n; j++)
    row[j] = plait_random_hash32 (key, key2, (guint32)j) < threshold ? 0 : row[j] * kept;
}

/*
 * The softmax of a tile: scores -> weights, zeros from where a query sees no more up to the last key. Each step goes
 * over all queries before the next, so that the processor has several to work on at once.
 */
static void
softmax (const Piece *piece, PlaitScalar *scores, gint64 first, gint64 queries)
{
  const PlaitAttentionJob *job = piece->job;
  const Vector lowest = vector_all (-(PlaitScalar)INFINITY);
  PlaitScalar greatest[MOST_QUERIES], totals[MOST_QUERIES];
  gint64 i;

  for (gint64 q = 0; q < queries; q++)
    {
      const PlaitScalar *row = scores + q * piece->stride;
      gint64 n = visible (piece, first + q);
      Vector found = lowest;

      for (i = 0; i + VECTOR_LENGTH <= n; i += VECTOR_LENGTH)
        found = vector_maximum (found, vector_load (row + i));
      if (i < n)
        found = vector_maximum (found, vector_choose (lanes_below (n - i), vector_load (row + i), lowest));
      greatest[q] = vector_greatest (found) * piece->scale;
    }
  for (gint64 q = 0; q < queries; q++)
    {
      PlaitScalar *row = scores + q * piece->stride;
      gint64 n = visible (piece, first + q);
      Vector sum = { 0 };

      for (i = 0; i < n; i += VECTOR_LENGTH)
        {
          Vector weight = vector_exp (vector_load (row + i) * piece->scale - greatest[q]);

          if (i + VECTOR_LENGTH > n)
            weight = vector_choose (lanes_below (n - i), weight, (Vector){ 0 });
          sum += weight;
          vector_store (row + i, weight);
        }
      for (; i < piece->keys; i += VECTOR_LENGTH)
        vector_store (row + i, (Vector){ 0 });
      totals[q] = vector_sum (sum);
    }
  for (gint64 q = queries; q % VECTOR_LENGTH != 0; q++)
    totals[q] = 1;
  for (gint64 q = 0; q < queries; q++)
    {
      PlaitScalar *row = scores + q * piece->stride, inverse = 1 / totals[q];

      for (i = 0; i < visible (piece, first + q); i += VECTOR_LENGTH)
        vector_store (row + i, vector_load (row + i) * inverse);
    }
  if (!job->log_sums)
    return;
  for (i = 0; i < queries; i += VECTOR_LENGTH)
    vector_store (totals + i, vector_log (vector_load (totals + i)));
  for (gint64 q = 0; q < queries; q++)
    job->log_sums[(piece->first_query + first + q) * job->settings->heads + piece->head] = greatest[q] + totals[q];
}

/* Puts the weights of a query where the memories want them. */
static void
keep_weights (const Piece *piece, gint64 query, const PlaitScalar *row)
{
  const PlaitAttentionJob *job = piece->job;

  for (guint m = 0; m < job->n_memories; m++)
    {
      const PlaitAttentionMemory *memory = &job->memories[m];
      gint64 n = plait_ragged_length (memory->rows, piece->sentence), before = 0, pairs = 0;

      if (memory->weights)
        {
          for (gint64 s = 0; s < job->query_rows.n; s++)
            {
              before = s == piece->sentence ? pairs : before;
              pairs += plait_ragged_length (job->query_rows, s) * plait_ragged_length (memory->rows, s);
            }
          memcpy (memory->weights + piece->head * pairs + before + query * n, row, sizeof (PlaitScalar) * (gsize)n);
        }
      row += n;
    }
}

/* The same from the keys' columns that the memories bring along. */
static void
multiply_key_columns (const Piece *piece, PlaitScalar *scores, gint64 first, gint64 n)
{
  const PlaitAttentionJob *job = piece->job;

  /* What is written beyond a memory's keys is overwritten by the next, or lies in the room at the end. */
  for (guint m = 0; m < job->n_memories; m++)
    {
      const PlaitAttentionMemory *memory = &job->memories[m];
      gint64 keys = plait_ragged_length (memory->rows, piece->sentence), stride = whole_vectors (keys);
      const PlaitScalar *columns = memory->key_columns
                                   + plait_key_columns_place (memory->rows, piece->sentence, job->queries.width)
                                   + piece->column * stride;

      if (keys > 0)
        KERNEL (multiply)
      (n, stride, piece->width, plait_tensor_row (job->queries, piece->first_query + first) + piece->column,
       job->queries.stride, 1, columns, stride, scores, piece->stride, FALSE, NULL);
      scores += keys;
    }
}

/* scores [tile][stride] of the queries first .. first + n - 1 against the first @most keys. */
static void
multiply_keys (const Piece *piece, PlaitScalar *scores, PlaitTensor left, gint64 first, gint64 n, gint64 most,
               const PlaitScalar *transposed)
{
  KERNEL (multiply)
  (n, whole_vectors (most), piece->width, plait_tensor_row (left, piece->first_query + first) + piece->column,
   left.stride, 1, transposed, piece->stride, scores, piece->stride, FALSE, NULL);
}

static void
no_keys (const Piece *piece)
{
  const PlaitAttentionJob *job = piece->job;

  for (gint64 i = 0; i < piece->queries; i++)
    {
      memset (plait_tensor_row (job->context, piece->first_query + i) + piece->column, 0,
              sizeof (PlaitScalar) * (gsize)piece->width);
      if (job->log_sums)
        job->log_sums[(piece->first_query + i) * job->settings->heads + piece->head] = 0;
    }
}

void
KERNEL (attention_forward) (const PlaitAttentionPiece *given, gpointer scratch)
{
  Piece piece = piece_of (given);
  const PlaitAttentionJob *job = piece.job;
  PlaitScalar *room = scratch, *transposed, *scores;
  Rows rows[PLAIT_ATTENTION_MEMORIES];
  gboolean given_columns = job->memories[0].key_columns != NULL;

  if (piece.keys == 0)
    {
      no_keys (&piece);
      return;
    }
  transposed = take (&room, piece.width * piece.stride);
  scores = take (&room, piece.tile * piece.stride);
  if (!given_columns)
    {
      for (guint m = 0; m < job->n_memories; m++)
        rows[m] = memory_rows (&piece, m, FALSE, &room);
      transpose_memories (&piece, FALSE, rows, transposed);
    }
  for (guint m = 0; m < job->n_memories; m++)
    rows[m] = memory_rows (&piece, m, TRUE, &room);

  for (gint64 first = 0; first < piece.queries; first += piece.tile)
    {
      gint64 n = MIN (piece.tile, piece.queries - first), most = visible (&piece, first + n - 1), offset = 0;
      PlaitScalar *context = plait_tensor_row (job->context, piece.first_query + first) + piece.column;

      if (given_columns)
        multiply_key_columns (&piece, scores, first, n);
      else
        multiply_keys (&piece, scores, job->queries, first, n, most, transposed);
      softmax (&piece, scores, first, n);
      for (gint64 i = 0; i < n; i++)
        {
          keep_weights (&piece, first + i, scores + i * piece.stride);
          if (piece.threshold > 0)
            drop (&piece, first + i, scores + i * piece.stride, most);
        }
      for (guint m = 0; m < job->n_memories; m++)
        {
          gint64 keys = MIN (plait_ragged_length (job->memories[m].rows, piece.sentence), most - offset);

          if (m == 0 || keys > 0)
            KERNEL (multiply)
          (n, piece.width, keys, scores + offset, piece.stride, 1, rows[m].data, rows[m].stride, context,
           job->context.stride, m > 0, NULL);
          offset += keys;
        }
    }
}

/* target (rows first .. first + n - 1, the head's columns) = beta * target + factor * gradient;
 * gradient NULL: zeros. */
static void
give (const Piece *piece, const PlaitGradientTarget *target, gint64 first, gint64 n, PlaitScalar factor,
      const PlaitScalar *gradient)
{
  if (!target->gradient.data)
    return;
  for (gint64 i = 0; i < n; i++)
    {
      PlaitScalar *to = plait_tensor_row (target->gradient, first + i) + piece->column;
      const PlaitScalar *from = gradient + i * piece->padded;

      if (gradient && piece->padded == piece->width)
        for (gint64 j = 0; j < piece->width; j += VECTOR_LENGTH)
          {
            Vector part = factor * vector_load (from + j);

            vector_store (to + j, target->beta != 0 ? vector_load (to + j) + part : part);
          }
      else if (gradient)
        KERNEL (accumulate) (to, target->beta, factor, from, piece->width);
      else if (target->beta == 0)
        memset (to, 0, sizeof (PlaitScalar) * (gsize)piece->width);
    }
}

/* The sum of weight times its gradient, which is context . dcontext, dropout or not. */
static PlaitScalar
mean_change (const Piece *piece, gint64 query)
{
  const PlaitAttentionJob *job = piece->job;
  gint64 at = piece->first_query + query, i;
  const PlaitScalar *context = plait_tensor_row (job->context, at) + piece->column;
  const PlaitScalar *dcontext = plait_tensor_row (job->dcontext, at) + piece->column;
  Vector sum = { 0 };
  PlaitScalar rest = 0;

  for (i = 0; i + VECTOR_LENGTH <= piece->width; i += VECTOR_LENGTH)
    sum += vector_load (context + i) * vector_load (dcontext + i);
  for (; i < piece->width; i++)
    rest += context[i] * dcontext[i];
  return rest + vector_sum (sum);
}

/* row: scores -> weights after dropout; change: the gradient of those -> the gradient of the scores. */
static void
softmax_backward (const Piece *piece, gint64 query, PlaitScalar *row, PlaitScalar *change, PlaitScalar delta,
                  gint64 most)
{
  const PlaitAttentionJob *job = piece->job;
  gint64 n = visible (piece, query), i;
  PlaitScalar log_sum = job->log_sums[(piece->first_query + query) * job->settings->heads + piece->head];

  if (piece->threshold > 0)
    drop (piece, query, change, n);
  for (i = 0; i < n; i += VECTOR_LENGTH)
    {
      Vector weight = vector_exp (vector_load (row + i) * piece->scale - log_sum);
      Vector gradient
          = weight
            * (PLAIT_TERM (attention_weight, vector_load (change + i)) - PLAIT_TERM (attention_normaliser, delta))
            * piece->scale;

      if (i + VECTOR_LENGTH > n)
        {
          weight = vector_choose (lanes_below (n - i), weight, (Vector){ 0 });
          gradient = vector_choose (lanes_below (n - i), gradient, (Vector){ 0 });
        }
      vector_store (row + i, weight);
      vector_store (change + i, gradient);
    }
  for (; i < most; i += VECTOR_LENGTH)
    {
      vector_store (row + i, (Vector){ 0 });
      vector_store (change + i, (Vector){ 0 });
    }
  if (piece->threshold > 0)
    drop (piece, query, row, n);
}

/* gradient (+)= scores^T right, for a memory's keys: @scores begin at its first key. */
static void
multiply_transposed (const Piece *piece, PlaitScalar *gradient, const PlaitScalar *scores, gint64 keys, gint64 queries,
                     Rows right, gint64 first)
{
  KERNEL (multiply)
  (keys, piece->width, queries, scores, 1, piece->stride, right.data + first * right.stride, right.stride, gradient,
   piece->padded, TRUE, NULL);
}

void
KERNEL (attention_backward) (const PlaitAttentionPiece *given, gpointer scratch)
{
  Piece piece = piece_of (given);
  const PlaitAttentionJob *job = piece.job;
  PlaitScalar *room = scratch, *key_columns, *value_columns, *weights, *changes, *dqueries, *dkeys, *dvalues;
  PlaitScalar deltas[MOST_QUERIES];
  Rows keys[PLAIT_ATTENTION_MEMORIES], values[PLAIT_ATTENTION_MEMORIES], queries, dcontext;
  gint64 offset;

  key_columns = take (&room, piece.width * piece.stride);
  value_columns = take (&room, piece.width * piece.stride);
  weights = take (&room, piece.tile * piece.stride);
  changes = take (&room, piece.tile * piece.stride);
  dqueries = take (&room, piece.queries * piece.padded);
  dkeys = take (&room, piece.keys * piece.padded);
  dvalues = take (&room, piece.keys * piece.padded);
  memset (dqueries, 0, sizeof (PlaitScalar) * (gsize)(piece.queries * piece.padded));
  memset (dkeys, 0, sizeof (PlaitScalar) * (gsize)(piece.keys * piece.padded));
  memset (dvalues, 0, sizeof (PlaitScalar) * (gsize)(piece.keys * piece.padded));

  if (piece.keys > 0 && piece.queries > 0)
    {
      for (guint m = 0; m < job->n_memories; m++)
        {
          keys[m] = memory_rows (&piece, m, FALSE, &room);
          values[m] = memory_rows (&piece, m, TRUE, &room);
        }
      transpose_memories (&piece, FALSE, keys, key_columns);
      transpose_memories (&piece, TRUE, values, value_columns);
      queries = rows_of (&piece, plait_tensor_row (job->queries, piece.first_query) + piece.column, job->queries.stride,
                         NULL, piece.queries, &room);
      dcontext = rows_of (&piece, plait_tensor_row (job->dcontext, piece.first_query) + piece.column,
                          job->dcontext.stride, NULL, piece.queries, &room);
      for (gint64 first = 0; first < piece.queries; first += piece.tile)
        {
          gint64 n = MIN (piece.tile, piece.queries - first), most = visible (&piece, first + n - 1);

          multiply_keys (&piece, weights, job->queries, first, n, most, key_columns);
          multiply_keys (&piece, changes, job->dcontext, first, n, most, value_columns);
          for (gint64 i = 0; i < n; i++)
            deltas[i] = mean_change (&piece, first + i);
          for (gint64 i = 0; i < n; i++)
            softmax_backward (&piece, first + i, weights + i * piece.stride, changes + i * piece.stride, deltas[i],
                              most);
          offset = 0;
          for (guint m = 0; m < job->n_memories; m++)
            {
              gint64 here = MIN (plait_ragged_length (job->memories[m].rows, piece.sentence), most - offset);

              if (here <= 0)
                continue;
              KERNEL (multiply)
              (n, piece.width, here, changes + offset, piece.stride, 1, keys[m].data, keys[m].stride,
               dqueries + first * piece.padded, piece.padded, TRUE, NULL);
              multiply_transposed (&piece, dkeys + offset * piece.padded, changes + offset, here, n, queries, first);
              multiply_transposed (&piece, dvalues + offset * piece.padded, weights + offset, here, n, dcontext, first);
              offset += here;
            }
        }
    }

  give (&piece, &job->dqueries, piece.first_query, piece.queries, PLAIT_TERM (attention_query, 1), dqueries);
  offset = 0;
  for (guint m = 0; m < job->n_memories; m++)
    {
      PlaitRagged ragged = job->memories[m].rows;
      gint64 n = plait_ragged_length (ragged, piece.sentence);

      give (&piece, &job->dmemories[m].keys, ragged.offsets[piece.sentence], n, PLAIT_TERM (attention_key, 1),
            dkeys + offset * piece.padded);
      give (&piece, &job->dmemories[m].values, ragged.offsets[piece.sentence], n, PLAIT_TERM (attention_value, 1),
            dvalues + offset * piece.padded);
      offset += n;
    }
}
