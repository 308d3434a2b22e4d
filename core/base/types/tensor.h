/* SPDX-License-Identifier: MIT */
#pragma once

#include "types/export.h"

/*
 * The scalar of every tensor. Users run float; the build option -Dscalar=double makes gradient checks sharp. A plugin
 * built for the other one is refused by the host.
 */
#ifdef PLAIT_SCALAR_DOUBLE
typedef double PlaitScalar;
#define PLAIT_SCALAR_NAME "double"
#else
typedef float PlaitScalar;
#define PLAIT_SCALAR_NAME "float"
#endif

/* A dense matrix, row-major. It owns nothing. A vector is one row. @stride is the distance between rows in elements
 * (>= width): a view of some columns has the stride of the whole. */
typedef struct
{
  PlaitScalar *data;
  gint64 rows;
  gint64 width;
  gint64 stride;
} PlaitTensor;

/*
 * What products multiply: numbers as they are; bytes, in search; or bfloat16, in training, by the processor's
 * instructions or by what emulates them. With bytes each column of a weight and each row that is multiplied by it is
 * quantised by itself, to 255 steps from minus to plus its greatest magnitude; sums of products are exact. With
 * bfloat16 both factors are rounded to it, and sums are floats (kernels/bfloat16.h).
 */
typedef enum
{
  PLAIT_PRECISION_FLOAT,
  PLAIT_PRECISION_INT8,
  PLAIT_PRECISION_BFLOAT16,
  PLAIT_PRECISION_BFLOAT16_EMULATED
} PlaitPrecision;

/* A tensor over @data whose rows stand end to end. */
static inline PlaitTensor
plait_tensor (PlaitScalar *data, gint64 rows, gint64 width)
{
  PlaitTensor tensor = { data, rows, width, width };

  return tensor;
}

static inline PlaitScalar *
plait_tensor_row (PlaitTensor tensor, gint64 row)
{
  return tensor.data + row * tensor.stride;
}

/* Columns @first .. @first + @width - 1 of @tensor, a view. */
static inline PlaitTensor
plait_tensor_columns (PlaitTensor tensor, gint64 first, gint64 width)
{
  PlaitTensor columns = { tensor.data + first, tensor.rows, width, tensor.stride };

  return columns;
}

/* Rows @first .. @first + @rows - 1 of @tensor, a view. */
static inline PlaitTensor
plait_tensor_rows (PlaitTensor tensor, gint64 first, gint64 rows)
{
  PlaitTensor some_rows = { tensor.data + first * tensor.stride, rows, tensor.width, tensor.stride };

  return some_rows;
}

/*
 * Sentences of a batch laid end to end: sentence i has the rows offsets[i] .. offsets[i + 1] - 1 of a tensor. A
 * sentence may have none (a missing source). @offsets has n + 1 entries and starts with 0.
 */
typedef struct
{
  gint64 n;
  const gint64 *offsets;
} PlaitRagged;

static inline gint64
plait_ragged_rows (PlaitRagged ragged)
{
  return ragged.offsets[ragged.n];
}

static inline gint64
plait_ragged_length (PlaitRagged ragged, gint64 sentence)
{
  return ragged.offsets[sentence + 1] - ragged.offsets[sentence];
}

/* TRUE if the offsets begin at 0 and do not fall. */
static inline gboolean
plait_ragged_is_valid (PlaitRagged ragged)
{
  if (ragged.n < 0 || !ragged.offsets || ragged.offsets[0] != 0)
    return FALSE;
  for (gint64 i = 0; i < ragged.n; i++)
    if (plait_ragged_length (ragged, i) < 0)
      return FALSE;
  return TRUE;
}

/* The rows of the longest sentence; 0 where there is none. */
static inline gint64
plait_ragged_longest (PlaitRagged ragged)
{
  gint64 longest = 0;

  for (gint64 i = 0; i < ragged.n; i++)
    longest = MAX (longest, plait_ragged_length (ragged, i));
  return longest;
}

/* The first rows of the sentences of documents, each of which is a "sentence" of rows here. */
typedef struct
{
  PlaitRagged sentences; /* n = documents */
  const gint64 *rows;    /* [sentences], of the batch */
} PlaitSentenceStarts;
