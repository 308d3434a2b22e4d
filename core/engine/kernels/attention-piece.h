/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/random.h"
#include "kernels/bfloat16.h"
#include "kernels/partial-vectors.h"
#include "kernels/variant.h"

/*
 * One sentence and head of attention, forward and backward.
 *
 * Tiles of queries are combined with blocks of keys that are small enough for the second-level cache, which then holds
 * the scores and the rows they are computed from. Keys (and values, in the backward pass) are transposed, so that the
 * register tile computes the scores of a whole vector of keys at once.
 *
 * In bfloat16, products read rounded copies of the rows. In other precisions, products read the rows in place if all
 * keys of a sentence fit into one block, a head fills whole vectors and the rows are not gathered; else, rows that are
 * read repeatedly are copied end to end: in a tensor, the elements of a column are often a power of two apart, so they
 * compete for few sets of the caches.
 */

/*
 * The files that include this one are compiled twice. RELATIVE is TRUE for attention with a linear bias or a window
 * (attention-job.h), so that other attention has no branch for them.
 */
#ifdef PLAIT_RELATIVE_ATTENTION
#define RELATIVE TRUE
#define ATTENTION(direction) KERNEL (relative_attention_##direction)
#else
#define RELATIVE FALSE
#define ATTENTION(direction) KERNEL (attention_##direction)
#endif

#define MAX_QUERIES 64
#define MAX_KEYS 256
/* Fewest keys with which bfloat16 products save more time than it takes to round the keys. */
#define MIN_BFLOAT16_KEYS 64
/* Blocks of scratch memory are multiples of this many scalars. */
#define TAKEN 16

/* Shapes of one sentence and head of attention. Shapes of scratch memory, such as [tile][padded], name these fields. */
typedef struct
{
  const PlaitAttentionJob *job;
  gint64 sentence;
  guint head;
  gint64 first_query; /* row of the first query of the sentence */
  gint64 queries;
  gint64 keys;       /* number of keys in all memories */
  gint64 width;      /* width of a head */
  gint64 column;     /* first column of the head */
  gint64 padded;     /* @width rounded up to whole vectors */
  gint64 tile;       /* number of queries in a tile */
  gint64 block;      /* number of keys in a block, rounded up to whole vectors */
  gint64 stride;     /* distance between rows of scores, and of transposed keys: @block plus one SIMD vector */
  gboolean at_once;  /* TRUE if all keys fit into one block */
  gboolean in_place; /* TRUE if rows are read in place, not copied */
  const PlaitBfloat16Kernels *bfloat16; /* kernels for products in bfloat16, or NULL */
  PlaitScalar scale;
  PlaitMask mask; /* dropout mask of the attention weights */
} Piece;

static inline gint64
whole_vectors (gint64 n)
{
  return (n + VECTOR_LENGTH - 1) / VECTOR_LENGTH * VECTOR_LENGTH;
}

static inline gint64
memory_length (const Piece *piece, guint m)
{
  return plait_ragged_length (piece->job->memories[m].rows, piece->sentence);
}

static inline Piece
piece_of (const PlaitAttentionPiece *given)
{
  const PlaitAttentionJob *job = given->job;
  const PlaitAttentionSettings *settings = job->settings;
  Piece piece = { .job = job, .sentence = given->sentence, .head = given->head };

  piece.first_query = job->query_rows.offsets[given->sentence];
  piece.queries = plait_ragged_length (job->query_rows, given->sentence);
  for (guint m = 0; m < job->n_memories; m++)
    piece.keys += memory_length (&piece, m);
  piece.width = job->queries.width / settings->heads;
  piece.column = given->head * piece.width;
  piece.padded = whole_vectors (piece.width);
  piece.tile = CLAMP (piece.queries, 1, MAX_QUERIES);
  piece.block = MIN (whole_vectors (MAX (piece.keys, 1)), MAX_KEYS);
  piece.stride = piece.block + VECTOR_LENGTH;
  piece.at_once = piece.keys <= piece.block;
  if (piece.keys >= MIN_BFLOAT16_KEYS && !job->memories[0].transposed_keys)
    piece.bfloat16 = plait_bfloat16_kernels (settings->precision);
  /* Rounding to bfloat16 copies the rows, so another copy is not needed. */
  piece.in_place = piece.bfloat16 || (piece.at_once && piece.padded == piece.width);
  piece.scale = settings->scale != 0 ? (PlaitScalar)settings->scale : 1 / (PlaitScalar)sqrt ((double)piece.width);
  piece.mask = plait_mask (settings->key, settings->dropout);
  return piece;
}

/* Hands out consecutive blocks of @data. If @data is NULL it only counts the scalars. */
typedef struct
{
  PlaitScalar *data;
  gsize taken;
} Scratch;

static inline PlaitScalar *
take_block (Scratch *scratch, gint64 n)
{
  PlaitScalar *block = scratch->data ? scratch->data + scratch->taken : NULL;

  scratch->taken += (gsize)(n + TAKEN - 1) / TAKEN * TAKEN;
  return block;
}

/* A range of consecutive keys of one attention memory. */
typedef struct
{
  guint memory;
  gint64 first; /* first key, counted within the sentence in this memory */
  gint64 key;   /* first key, counted over the sentence in all memories */
  gint64 n;
} KeyRange;

/* Returns the range from key @key up to the end of its memory, but not beyond @end; n = 0 if @key >= @end. */
static inline KeyRange
key_range_at (const Piece *piece, gint64 key, gint64 end)
{
  KeyRange part = { .first = key, .key = key };

  if (key >= end)
    return part;
  while (part.first >= memory_length (piece, part.memory))
    part.first -= memory_length (piece, part.memory++);
  part.n = MIN (memory_length (piece, part.memory) - part.first, end - key);
  return part;
}

#define EACH_KEY_RANGE(part, piece, from, end)                                                                         \
  for (KeyRange part = key_range_at (piece, from, end); part.n > 0; part = key_range_at (piece, part.key + part.n, end))

/* The columns of one head in some rows, as a factor of a product. */
typedef struct
{
  const PlaitScalar *data;
  gint64 stride;
} Rows;

/* Returns the head's columns of @n rows of a tensor: rows @first, @first + 1, ..., or gather[0], gather[1], ... In
 * place if @in_place and without @gather; else copied to @workspace [n][padded]. */
static inline Rows
rows_of (const Piece *piece, PlaitTensor tensor, gint64 first, const gint64 *gather, gint64 n, gboolean in_place,
         PlaitScalar *workspace)
{
  if (in_place && !gather)
    return (Rows){ plait_tensor_row (tensor, first) + piece->column, tensor.stride };
  for (gint64 i = 0; i < n; i++)
    {
      const PlaitScalar *from = plait_tensor_row (tensor, gather ? gather[i] : first + i) + piece->column;
      PlaitScalar *to = workspace + i * piece->padded;

      for (gint64 j = 0; j < piece->width; j += VECTOR_LENGTH)
        vector_store (to + j, take (from + j, MIN (VECTOR_LENGTH, piece->width - j)));
    }
  return (Rows){ workspace, piece->padded };
}

/* Returns the rows of the keys (or values, if @values) in @part, in place or copied to @workspace. */
static inline Rows
rows_of_key_range (const Piece *piece, KeyRange part, gboolean values, gboolean in_place, PlaitScalar *workspace)
{
  const PlaitAttentionMemory *memory = &piece->job->memories[part.memory];
  gint64 first = memory->rows.offsets[piece->sentence] + part.first;

  return rows_of (piece, values ? memory->values : memory->keys, first, memory->gather ? memory->gather + first : NULL,
                  part.n, in_place, workspace);
}

/* Returns the rows of @tensor for queries @first .. @first + @n - 1, copied to @workspace unless piece->in_place. */
static inline Rows
rows_of_queries (const Piece *piece, PlaitTensor tensor, gint64 first, gint64 n, PlaitScalar *workspace)
{
  return rows_of (piece, tensor, piece->first_query + first, NULL, n, piece->in_place, workspace);
}

/* Writes the transpose of keys (or values, if @values) @from .. @end - 1 to @columns [width][stride]. @workspace has
 * room for [block][padded]; it is used only if rows are gathered. */
static inline void
transpose_block (const Piece *piece, PlaitScalar *columns, gboolean values, gint64 from, gint64 end,
                 PlaitScalar *workspace)
{
  /* Whole vectors are written, so padding follows the keys of a range. The next range overwrites it. The padding of the
   * last range lies in the extra vector that @stride includes. */
  EACH_KEY_RANGE (part, piece, from, end)
  {
    Rows rows = rows_of_key_range (piece, part, values, TRUE, workspace);

    KERNEL (transpose)
    (columns + part.key - from, piece->stride, whole_vectors (part.n), rows.data, rows.stride, part.n, piece->width);
  }
}

/* RELATIVE only: returns the shift from query numbers to key positions: query t has the position of key t + shift. */
static inline gint64
shift_of (const Piece *piece)
{
  return piece->job->settings->causal ? 0 : piece->keys - piece->queries;
}

/* RELATIVE only: returns the window: the number of keys that a query sees in one direction, including the key at the
 * query's position. Without a window, returns a number that includes all keys. */
static inline gint64
window_of (const Piece *piece)
{
  gint64 window = piece->job->settings->window, all = piece->keys + piece->queries;

  return window > 0 ? MIN (window, all) : all;
}

/* Returns how many keys, from key 0 on, queries @first .. @first + @n - 1 need: up to the last key that one of them
 * sees. */
static inline gint64
keys_of_tile (const Piece *piece, gint64 first, gint64 n)
{
  if (piece->job->settings->causal)
    return MIN (first + n, piece->keys);
  return RELATIVE ? MIN (first + n - 1 + shift_of (piece) + window_of (piece), piece->keys) : piece->keys;
}

/* Returns the first key that query @query can see. */
static inline gint64
first_key_of_query (const Piece *piece, gint64 query)
{
  return RELATIVE ? MAX (query + shift_of (piece) - window_of (piece) + 1, 0) : 0;
}

/* Returns the first key of the first block that a tile of queries from @first on can see. */
static inline gint64
first_key_of_tile (const Piece *piece, gint64 first)
{
  return RELATIVE ? first_key_of_query (piece, first) / piece->block * piece->block : 0;
}

/* Returns how many of the keys @from .. @from + @n - 1 come before the first key that query @query sees. */
static inline gint64
unseen_of_block (const Piece *piece, gint64 query, gint64 from, gint64 n)
{
  return RELATIVE ? CLAMP (first_key_of_query (piece, query) - from, 0, n) : 0;
}

/* Returns how many of the keys @from .. @from + @n - 1 come before the end of the range that query @query sees. Keys
 * before the beginning of the range are counted too. */
static inline gint64
seen_of_block (const Piece *piece, gint64 query, gint64 from, gint64 n)
{
  if (piece->job->settings->causal)
    return CLAMP (query + 1 - from, 0, n);
  return RELATIVE ? CLAMP (query + shift_of (piece) + window_of (piece) - from, 0, n) : n;
}

static inline IntegerVector
lanes_below (gint64 n)
{
  return vector_lanes () < (VectorInteger)MIN (n, VECTOR_LENGTH);
}

/* Returns a mask that selects the lanes @unseen .. @seen - 1. */
static inline IntegerVector
lanes_between (gint64 unseen, gint64 seen)
{
  return lanes_below (seen) & ~lanes_below (unseen);
}

/* Subtracts the linear bias, if there is one, from the unscaled scores [n][stride] of @n queries from @first on and
 * @keys keys from @from on. */
static inline void
add_linear_bias (const Piece *piece, PlaitScalar *scores, gint64 first, gint64 n, gint64 from, gint64 keys)
{
  const PlaitAttentionSettings *settings = piece->job->settings;
  const Vector lanes = __builtin_convertvector(vector_lanes (), Vector);
  PlaitScalar slope;

  if (!settings->linear_bias)
    return;
  slope = (PlaitScalar)plait_attention_slope (settings->heads, piece->head) / piece->scale;
  for (gint64 q = 0; q < n; q++)
    for (gint64 i = 0; i < keys; i += VECTOR_LENGTH)
      {
        Vector distance = (PlaitScalar)(first + q + shift_of (piece) - from - i) - lanes;
        PlaitScalar *score = scores + q * piece->stride + i;

        vector_store (score, vector_load (score) - slope * vector_maximum (distance, -distance));
      }
}

/* Applies dropout to @row: the weights, or their gradients, of attention keys @from .. @from + @n - 1 for one query. */
static inline void
drop (const Piece *piece, gint64 query, PlaitScalar *row, gint64 from, gint64 n)
{
  guint64 entry = (guint64)(piece->first_query + query) * piece->job->settings->heads + piece->head;
  const PlaitMask mask = piece->mask;
  guint32 key = plait_random_hash32 (mask.key, mask.key2, (guint32)entry);

  for (gint64 j = 0; j < n; j++)
    row[j] = plait_random_hash32 (key, mask.key2, (guint32)(from + j)) < mask.threshold ? 0 : row[j] * mask.kept;
}
