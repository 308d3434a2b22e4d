/* SPDX-License-Identifier: MIT */
#pragma once

#include "attention/sparse.h"
#include "kernels/kernels.h"

/* Costs in multiply-adds: approximate cost of a piece, and minimum cost of a call that uses several threads. */
#define PLAIT_SPARSE_PIECE_WORK 32768
#define PLAIT_SPARSE_MIN_PARALLEL_WORK 131072
/* Cost of a tanh in multiply-adds. */
#define PLAIT_SPARSE_TANH_COST 8
/* Cost of one row in a selection of the best rows, in multiply-adds. */
#define PLAIT_SPARSE_SELECTION_COST 64
/* Width of a strip of columns. It is small, so that rows that several queries select stay in cache. */
#define PLAIT_SPARSE_STRIP_COLUMNS 64

/* Returns the index of the first selected row of @entry. */
static inline gint64
plait_selected_rows_begin (const PlaitSelectedRows *selected, gint64 entry)
{
  return selected->rows.offsets[selected->sets.offsets[entry]];
}

static inline gint64
plait_selected_rows_begin_of_query (const PlaitSelectedRows *selected, gint64 query)
{
  return plait_selected_rows_begin (selected, query * selected->heads);
}

static inline gint64
plait_selected_rows_queries (const PlaitSelectedRows *selected)
{
  return selected->sets.n / selected->heads;
}

/* Runs all pieces: with plait_pool_run, or in the calling thread if @work is small. @work: cost of all pieces in
 * multiply-adds. */
static inline void
plait_sparse_run (PlaitPool *pool, gint64 pieces, gint64 work, PlaitPoolFunc piece, gpointer data)
{
  if (work >= PLAIT_SPARSE_MIN_PARALLEL_WORK)
    plait_pool_run (pool, pieces, piece, data);
  else
    for (gint64 i = 0; i < pieces; i++)
      piece (data, i, 0);
}

/* Returns the number of strips of columns in all heads. */
gint64 plait_sparse_strips (const PlaitSelectedRows *selected, gint64 width);

/* Consecutive strips of columns within one head. */
typedef struct
{
  gint64 head;
  gint64 n;
  gint64 column; /* first column, counted over all heads */
  gint64 width;
} PlaitSparseStrips;

PlaitSparseStrips plait_sparse_strips_from (const PlaitSelectedRows *selected, gint64 width, gint64 strip, gint64 end);
