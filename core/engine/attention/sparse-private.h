/* SPDX-License-Identifier: MIT */
#pragma once

#include "attention/sparse.h"
#include "kernels/kernels.h"

/* How the work on chosen rows is cut. All cuts depend on the choice alone. */

/* Multiply-adds, or what takes as long, of a piece; less than LITTLE in all is not worth waking threads. */
#define PLAIT_SPARSE_PIECE_WORK 32768
#define PLAIT_SPARSE_MIN_PARALLEL_WORK 131072
/* What a hyperbolic tangent takes. */
#define PLAIT_SPARSE_TANH_COST 8
/* What it takes to choose by a row. */
#define PLAIT_SPARSE_SELECTION_COST 64
/* Columns of a strip: what several queries read or add to stays near. */
#define PLAIT_SPARSE_STRIP_COLUMNS 64

/* Where the chosen rows of @entry begin. */
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

/* plait_pool_run, or in the calling thread if there is little @work. */
static inline void
plait_sparse_run (PlaitPool *pool, gint64 pieces, gint64 work, PlaitPoolFunc piece, gpointer data)
{
  if (work >= PLAIT_SPARSE_MIN_PARALLEL_WORK)
    plait_pool_run (pool, pieces, piece, data);
  else
    for (gint64 i = 0; i < pieces; i++)
      piece (data, i, 0);
}

/* Strips of columns, heads side by side. */
gint64 plait_sparse_strips (const PlaitSelectedRows *selected, gint64 width);

/* The strips of one head from @strip on, before @end. */
typedef struct
{
  gint64 head;
  gint64 n;
  gint64 column; /* of the whole width */
  gint64 width;
} PlaitSparseStrips;

PlaitSparseStrips plait_sparse_strips_from (const PlaitSelectedRows *selected, gint64 width, gint64 strip, gint64 end);
