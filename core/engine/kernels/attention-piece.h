/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/random.h"
#include "kernels/bfloat16.h"
#include "kernels/partial-vectors.h"
#include "kernels/variant.h"

/*
 * One sentence and head of attention, forward and backward.
 *
 * Tiles of queries meet blocks of keys, so small that scores and what they are made of stay in the second cache, and
 * what comes from farther away serves a whole tile. Keys (and for backward values) are transposed, so that scores come
 * from the register tile with a vector of keys in each register.
 *
 * A sentence whose keys are one block is read where it stands. Of a longer one the rows that products read again and
 * again are copied end to end: as columns of a tensor they lie powers of two apart, and fall into few sets of the
 * caches.
 */
#define MAX_QUERIES 64
#define MAX_KEYS 256
/* With fewer keys rounding costs more than bfloat16 saves. */
#define MIN_BFLOAT16_KEYS 64
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
  gint64 keys;       /* of all memories */
  gint64 width;      /* of a head */
  gint64 column;     /* of its first number */
  gint64 padded;     /* width rounded up to whole vectors */
  gint64 tile;       /* queries in a tile */
  gint64 block;      /* keys in a block, whole vectors */
  gint64 stride;     /* of a row of scores, or of a column of keys: a block, and room for a memory's last vector */
  gboolean at_once;  /* the keys are one block */
  gboolean in_place; /* rows are read where they stand */
  const PlaitBfloat16Kernels *bfloat16; /* multiplies, or NULL */
  PlaitScalar scale;
  PlaitMask mask; /* of the weights */
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
  /* What is rounded is copied anyway. */
  piece.in_place = piece.bfloat16 || (piece.at_once && piece.padded == piece.width);
  piece.scale = settings->scale != 0 ? (PlaitScalar)settings->scale : 1 / (PlaitScalar)sqrt ((double)piece.width);
  piece.mask = plait_mask (settings->key, settings->dropout);
  return piece;
}

/* Blocks of memory from @data; of NULL none, but what they would take is counted. */
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

/* Keys that follow one another in one memory. */
typedef struct
{
  guint memory;
  gint64 first; /* among those of the sentence in the memory */
  gint64 place; /* of the first, among the keys of all memories */
  gint64 n;
} KeyRange;

/* The part that begins at @place and ends before @end; n is 0 behind the last. */
static inline KeyRange
key_range_at (const Piece *piece, gint64 place, gint64 end)
{
  KeyRange part = { .first = place, .place = place };

  if (place >= end)
    return part;
  while (part.first >= memory_length (piece, part.memory))
    part.first -= memory_length (piece, part.memory++);
  part.n = MIN (memory_length (piece, part.memory) - part.first, end - place);
  return part;
}

#define EACH_KEY_RANGE(part, piece, from, end)                                                                         \
  for (KeyRange part = key_range_at (piece, from, end); part.n > 0;                                                    \
       part = key_range_at (piece, part.place + part.n, end))

/* Rows of the head, as a factor of products. */
typedef struct
{
  const PlaitScalar *data;
  gint64 stride;
} Rows;

/* @n rows of a tensor, from @first on or those that @gather names; to be read where they stand, or copied to @workspace
 * and filled up with zeros to whole vectors. */
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

/* The keys or values of a part. */
static inline Rows
rows_of_key_range (const Piece *piece, KeyRange part, gboolean values, gboolean in_place, PlaitScalar *workspace)
{
  const PlaitAttentionMemory *memory = &piece->job->memories[part.memory];
  gint64 first = memory->rows.offsets[piece->sentence] + part.first;

  return rows_of (piece, values ? memory->values : memory->keys, first, memory->gather ? memory->gather + first : NULL,
                  part.n, in_place, workspace);
}

/* Rows of the sentence's queries, or of what has as many. */
static inline Rows
rows_of_queries (const Piece *piece, PlaitTensor tensor, gint64 first, gint64 n, PlaitScalar *workspace)
{
  return rows_of (piece, tensor, piece->first_query + first, NULL, n, piece->in_place, workspace);
}

/* columns [width][stride]: keys or values @from .. @end - 1 side by side; @workspace is for [block][padded]. */
static inline void
transpose_block (const Piece *piece, PlaitScalar *columns, gboolean values, gint64 from, gint64 end,
                 PlaitScalar *workspace)
{
  /* What is written beyond a part is overwritten by the next, or lies in the room at the end. */
  EACH_KEY_RANGE (part, piece, from, end)
  {
    Rows rows = rows_of_key_range (piece, part, values, TRUE, workspace);

    KERNEL (transpose)
    (columns + part.place - from, piece->stride, whole_vectors (part.n), rows.data, rows.stride, part.n, piece->width);
  }
}

/* Of a tile's queries @first .. @first + @n - 1: one more than the last key that any of them sees. */
static inline gint64
keys_of_tile (const Piece *piece, gint64 first, gint64 n)
{
  return piece->job->settings->causal ? MIN (first + n, piece->keys) : piece->keys;
}

/* How many of the @n keys from @from on query @query sees. */
static inline gint64
seen_of_block (const Piece *piece, gint64 query, gint64 from, gint64 n)
{
  return piece->job->settings->causal ? CLAMP (query + 1 - from, 0, n) : n;
}

static inline IntegerVector
lanes_below (gint64 n)
{
  return vector_lanes () < (VectorInteger)MIN (n, VECTOR_LENGTH);
}

/* row[j] *= the dropout factor of key @from + j. The draws of a query and head have a key of their own. */
static inline void
drop (const Piece *piece, gint64 query, PlaitScalar *row, gint64 from, gint64 n)
{
  guint64 place = (guint64)(piece->first_query + query) * piece->job->settings->heads + piece->head;
  const PlaitMask mask = piece->mask;
  guint32 key = plait_random_hash32 (mask.key, mask.key2, (guint32)place);

  for (gint64 j = 0; j < n; j++)
    row[j] = plait_random_hash32 (key, mask.key2, (guint32)(from + j)) < mask.threshold ? 0 : row[j] * mask.kept;
}
