/* SPDX-License-Identifier: MIT */
#include "tensor/vocabulary.h"

#include <math.h>

#include "tensor/packed-private.h"

/* Panels in a piece. */
#define PIECE_PANELS 4
/* Words that are looked at before the bound is raised to what they reached. */
#define LOOK 64
/* Rows whose logits stand in a thread's scratch at once, however many a batch has. */
#define PIECE_ROWS 256

typedef struct
{
  PlaitScalar logit;
  gint32 id;
} Candidate;

typedef struct
{
  PlaitScalar greatest;
  PlaitScalar exponentials; /* sum of exp (logit - greatest) */
} Statistics;

typedef struct
{
  PlaitPool *pool;
  PlaitTensor states;
  const PlaitPacked *table;
  const PlaitScalar *bias;
  const gint32 *forbidden;
  guint n_forbidden;
  const guint8 *forbid;
  guint best;
  gint32 *ids;
  PlaitScalar *log_probabilities;
  gint64 block; /* words in a piece */
  gint64 blocks;
  Statistics *statistics; /* [row][block] */
  Candidate *candidates;  /* [row][block][best], most probable first, id -1 at the end */
  /* [row]: a logit that as many words as are wanted are known to reach. It only spares work: what lies below it cannot
   * be among the best, whichever piece raised it when. */
  PlaitScalar *bounds;
} Search;

/* Puts a word among the @n best so far, of at most @most; the caller meets words in the order of their ids, so that an
 * equal one stays behind. */
static guint
insert (Candidate *candidates, guint n, guint most, Candidate word)
{
  guint at;

  if (n == most)
    {
      if (!(word.logit > candidates[n - 1].logit))
        return n;
      n--;
    }
  for (at = n; at > 0 && word.logit > candidates[at - 1].logit; at--)
    candidates[at] = candidates[at - 1];
  candidates[at] = word;
  return n + 1;
}

/* The best words of a row within a block, none of which is above @greatest; @places is scratch for LOOK. */
static void
choose (const Search *search, gint64 row, gint64 first, const PlaitScalar *logits, PlaitScalar greatest, gint64 n,
        gint32 *places, Candidate *candidates)
{
  PlaitScalar bound, known;
  guint found = 0;

  __atomic_load (&search->bounds[row], &bound, __ATOMIC_RELAXED);
  for (gint64 look = 0; look < n && greatest >= bound; look += LOOK)
    {
      gint64 reached = search->table->kernels->at_least (logits + look, bound, MIN (LOOK, n - look), places);

      for (gint64 i = 0; i < reached; i++)
        if (logits[look + places[i]] > -(PlaitScalar)INFINITY)
          found = insert (candidates, found, search->best,
                          (Candidate){ logits[look + places[i]], (gint32)(first + look) + places[i] });
      if (found == search->best)
        bound = MAX (bound, candidates[found - 1].logit);
    }
  if (found < search->best)
    {
      candidates[found].id = -1;
      return;
    }
  bound = candidates[found - 1].logit;
  __atomic_load (&search->bounds[row], &known, __ATOMIC_RELAXED);
  if (bound > known)
    __atomic_store (&search->bounds[row], &bound, __ATOMIC_RELAXED);
}

static void
forbid_words (const Search *search, gint64 row, gint64 first, PlaitScalar *logits, gint64 n)
{
  if (search->forbid != NULL && !search->forbid[row])
    return;
  for (guint i = 0; i < search->n_forbidden; i++)
    if (search->forbidden[i] >= first && search->forbidden[i] < first + n)
      logits[search->forbidden[i] - first] = -(PlaitScalar)INFINITY;
}

static void
some_rows (const Search *search, gint64 block, gint64 first_row, gint64 rows, guint thread)
{
  const PlaitKernels *kernels = search->table->kernels;
  gint64 first = block * search->block, n = MIN (search->block, search->table->width - first);
  PlaitScalar *logits = plait_pool_scratch (
      search->pool, thread, sizeof (PlaitScalar) * (gsize)(rows * search->block) + sizeof (gint32) * LOOK);
  gint32 *places = (gint32 *)(logits + rows * search->block);

  plait_packed_multiply (search->table, logits, search->block, FALSE, plait_tensor_row (search->states, first_row),
                         search->states.stride, rows, first, n);
  for (gint64 row = first_row; row < first_row + rows; row++)
    {
      PlaitScalar *at = logits + (row - first_row) * search->block;
      gint64 place = row * search->blocks + block;
      Statistics statistics;

      if (search->bias != NULL)
        kernels->accumulate (at, 1, 1, search->bias + first, n);
      statistics.greatest = kernels->greatest (at, n);
      statistics.exponentials = (PlaitScalar)kernels->exponential_sum (at, statistics.greatest, n);
      search->statistics[place] = statistics;
      forbid_words (search, row, first, at, n);
      choose (search, row, first, at, statistics.greatest, n, places, search->candidates + place * search->best);
    }
}

static void
block_piece (gpointer data, gint64 block, guint thread)
{
  const Search *search = data;

  for (gint64 row = 0; row < search->states.rows; row += PIECE_ROWS)
    some_rows (search, block, row, MIN (PIECE_ROWS, search->states.rows - row), thread);
}

static void
row_piece (gpointer data, gint64 row, guint thread)
{
  const Search *search = data;
  const Statistics *statistics = search->statistics + row * search->blocks;
  Candidate *best = plait_pool_scratch (search->pool, thread, sizeof (Candidate) * search->best);
  double greatest = -INFINITY, sum = 0, log_sum;
  guint found = 0;

  for (gint64 b = 0; b < search->blocks; b++)
    greatest = MAX (greatest, (double)statistics[b].greatest);
  for (gint64 b = 0; b < search->blocks; b++)
    {
      const Candidate *candidates = search->candidates + (row * search->blocks + b) * search->best;

      sum += statistics[b].exponentials * exp (statistics[b].greatest - greatest);
      for (guint i = 0; i < search->best && candidates[i].id >= 0; i++)
        found = insert (best, found, search->best, candidates[i]);
    }
  log_sum = greatest + log (sum);
  for (guint i = 0; i < search->best; i++)
    {
      search->ids[row * search->best + i] = i < found ? best[i].id : -1;
      search->log_probabilities[row * search->best + i]
          = i < found ? (PlaitScalar)(best[i].logit - log_sum) : -(PlaitScalar)INFINITY;
    }
}

void
plait_vocabulary_best (PlaitPool *pool, PlaitArena *arena, PlaitTensor states, const PlaitPacked *table,
                       const PlaitScalar *bias, const gint32 *forbidden, guint n_forbidden, const guint8 *forbid,
                       guint best, gint32 *ids, PlaitScalar *log_probabilities)
{
  Search search = { .pool = pool,
                    .states = states,
                    .table = table,
                    .bias = bias,
                    .forbidden = forbidden,
                    .n_forbidden = n_forbidden,
                    .forbid = forbid,
                    .best = best,
                    .ids = ids,
                    .log_probabilities = log_probabilities };
  gint64 places;

  g_assert (states.width == table->depth && best >= 1 && best <= table->width);
  if (states.rows == 0)
    return;
  search.block = PIECE_PANELS * table->kernels->tile_width;
  search.blocks = (table->width + search.block - 1) / search.block;
  places = states.rows * search.blocks;
  search.statistics = plait_arena_new_array (arena, Statistics, places);
  search.candidates = plait_arena_new_array (arena, Candidate, places * best);
  search.bounds = plait_arena_new_array (arena, PlaitScalar, states.rows);
  for (gint64 row = 0; row < states.rows; row++)
    search.bounds[row] = -(PlaitScalar)INFINITY;
  plait_pool_run (pool, search.blocks, block_piece, &search);
  plait_pool_run (pool, states.rows, row_piece, &search);
  plait_arena_release (arena, search.bounds, sizeof (PlaitScalar) * (gsize)states.rows);
  plait_arena_release (arena, search.candidates, sizeof (Candidate) * (gsize)(places * best));
  plait_arena_release (arena, search.statistics, sizeof (Statistics) * (gsize)places);
}
