/* SPDX-License-Identifier: MIT */
#pragma once

#include "attention/chosen.h"
#include "kernels/kernels.h"

/* How the work on chosen rows is cut. All cuts depend on the choice alone. */

/* Multiply-adds, or what takes as long, of a piece; less than LITTLE in all is not worth waking threads. */
#define PLAIT_CHOSEN_PIECE 32768
#define PLAIT_CHOSEN_LITTLE 131072
/* What a hyperbolic tangent takes. */
#define PLAIT_CHOSEN_TANH 8
/* What it takes to choose by a row. */
#define PLAIT_CHOSEN_CHOICE 64
/* Columns of a strip: what several queries read or add to stays near. */
#define PLAIT_CHOSEN_COLUMNS 64

/* Where the chosen rows of @entry begin. */
static inline gint64
plait_chosen_begin (const PlaitChosen *chosen, gint64 entry)
{
  return chosen->rows.offsets[chosen->sets.offsets[entry]];
}

static inline gint64
plait_chosen_begin_of_query (const PlaitChosen *chosen, gint64 query)
{
  return plait_chosen_begin (chosen, query * chosen->heads);
}

static inline gint64
plait_chosen_queries (const PlaitChosen *chosen)
{
  return chosen->sets.n / chosen->heads;
}

/* plait_pool_run, or in the calling thread if there is little @work. */
static inline void
plait_chosen_run (PlaitPool *pool, gint64 pieces, gint64 work, PlaitPiece piece, gpointer data)
{
  if (work >= PLAIT_CHOSEN_LITTLE)
    plait_pool_run (pool, pieces, piece, data);
  else
    for (gint64 i = 0; i < pieces; i++)
      piece (data, i, 0);
}

/* Strips of columns, heads side by side. */
gint64 plait_chosen_strips (const PlaitChosen *chosen, gint64 width);

/* The strips of one head from @strip on, before @end. */
typedef struct
{
  gint64 head;
  gint64 n;
  gint64 column; /* of the whole width */
  gint64 width;
} PlaitChosenStrips;

PlaitChosenStrips plait_chosen_strips_from (const PlaitChosen *chosen, gint64 width, gint64 strip, gint64 end);
