/* SPDX-License-Identifier: MIT */
#pragma once

#include "types/export.h"

/*
 * Type of every number in a tensor. float by default; the build option -Dscalar=double makes gradient checks precise.
 * The host refuses a plugin that was built for the other type.
 */
#ifdef PLAIT_SCALAR_DOUBLE
typedef double PlaitScalar;
#define PLAIT_SCALAR_NAME "double"
#else
typedef float PlaitScalar;
#define PLAIT_SCALAR_NAME "float"
#endif

/* A dense, row-major matrix; a vector is one row. A tensor does not own its memory. @stride is the distance between
 * rows in elements (>= width): a view of some columns keeps the stride of the whole matrix. */
typedef struct
{
  PlaitScalar *data;
  gint64 rows;
  gint64 width;
  gint64 stride;
} PlaitTensor;

/*
 * Number format of the two factors of a matrix product: rows, and a weight.
 *
 * FLOAT: PlaitScalar.
 * INT8, for search: each column of the weight, and each row, is rounded to 255 values, from minus to plus its greatest
 * magnitude. Sums of products are exact.
 * BFLOAT16, for training: both factors are rounded to bfloat16, and sums are floats (kernels/bfloat16.h). BFLOAT16 uses
 * instructions of the processor; BFLOAT16_EMULATED does without them.
 */
typedef enum
{
  PLAIT_PRECISION_FLOAT,
  PLAIT_PRECISION_INT8,
  PLAIT_PRECISION_BFLOAT16,
  PLAIT_PRECISION_BFLOAT16_EMULATED
} PlaitPrecision;

/* Returns a tensor over @data whose rows are contiguous. */
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

/* Returns a view of columns @first .. @first + @width - 1 of @tensor. */
static inline PlaitTensor
plait_tensor_columns (PlaitTensor tensor, gint64 first, gint64 width)
{
  PlaitTensor columns = { tensor.data + first, tensor.rows, width, tensor.stride };

  return columns;
}

/* Returns a view of rows @first .. @first + @rows - 1 of @tensor. */
static inline PlaitTensor
plait_tensor_rows (PlaitTensor tensor, gint64 first, gint64 rows)
{
  PlaitTensor some_rows = { tensor.data + first * tensor.stride, rows, tensor.width, tensor.stride };

  return some_rows;
}

/*
 * Sentences of a batch, stored end to end: sentence i has the rows offsets[i] .. offsets[i + 1] - 1 of a tensor. A
 * sentence may have no rows (a missing source). @offsets has n + 1 entries and begins with 0.
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

/* TRUE if the offsets begin at 0 and never decrease. */
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

/* Returns the number of rows of the longest sentence; 0 without sentences. */
static inline gint64
plait_ragged_longest (PlaitRagged ragged)
{
  gint64 longest = 0;

  for (gint64 i = 0; i < ragged.n; i++)
    longest = MAX (longest, plait_ragged_length (ragged, i));
  return longest;
}

/* First row of each sentence of documents. */
typedef struct
{
  PlaitRagged sentences; /* the sentences of each document; sentences.n is the number of documents */
  const gint64 *rows;    /* [sentences] first row of each sentence in the batch */
} PlaitSentenceStarts;
