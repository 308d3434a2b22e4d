/* SPDX-License-Identifier: MIT */
#include "tensor/output-layer.h"

#include <math.h>
#include "tensor/packed-private.h"

/* Number of words in a piece, in units of kernels->tile_width words. */
#define PIECE_PANELS 4
/* Number of words that are compared with a bound before the bound is raised. */
#define WORDS_AT_ONCE 64
/* Limits of the search for a thread's first bound: enough of its logits must reach the bound. The distance of the bound
 * below the greatest logit starts at 1 and doubles, at most to 2 * MAX_DISTANCE, until enough logits reach the bound;
 * then HALVINGS bisections refine it. */
#define MAX_DISTANCE 64
#define HALVINGS 3
/* Number of rows whose logits a thread's scratch memory holds at once. */
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
  PlaitPackedRows rows; /* the states as a factor of packed products */
  const PlaitPacked *table;
  const PlaitScalar *bias;
  const gint32 *forbidden;
  guint n_forbidden;
  const guint8 *forbid;
  const PlaitOutputMixture *mixture;
  PlaitScalar *copied_logits; /* logits of the copied words of all rows */
  guint best;
  gint32 *ids;
  PlaitScalar *log_probabilities;
  gint64 block; /* number of words in a block; a piece computes one block */
  gint64 blocks;
  Statistics *statistics; /* maximum and sum of exponentials: [row][block] */
  Candidate *candidates;  /* best words that a thread has found so far, most probable first: [thread][row][best] */
  guint *found;           /* number of candidates: [thread][row] */
} Search;

static inline gboolean
precedes (Candidate a, Candidate b)
{
  return a.logit > b.logit || (a.logit == b.logit && a.id < b.id);
}

/* Inserts @word into the @n best words so far, if @word is among the best @most. Returns the new number of words. The
 * result does not depend on the order of the calls. */
static guint
insert (Candidate *candidates, guint n, guint most, Candidate word)
{
  guint at;

  if (n == most)
    {
      if (!precedes (word, candidates[n - 1]))
        return n;
      n--;
    }
  for (at = n; at > 0 && precedes (word, candidates[at - 1]); at--)
    candidates[at] = candidates[at - 1];
  candidates[at] = word;
  return n + 1;
}

/* Returns a bound that at least search->best logits of the block reach, usually few more. Returns -INFINITY if fewer
 * logits are near @greatest. */
static PlaitScalar
first_bound (const Search *search, const PlaitScalar *logits, PlaitScalar greatest, gint64 n)
{
  const PlaitKernels *kernels = search->table->kernels;
  PlaitScalar near = 0, far = 1;

  for (; kernels->count_at_least (logits, greatest - far, n) < search->best; far *= 2)
    {
      if (far > MAX_DISTANCE)
        return -(PlaitScalar)INFINITY;
      near = far;
    }
  for (int i = 0; i < HALVINGS; i++)
    {
      PlaitScalar middle = (near + far) / 2;

      if (kernels->count_at_least (logits, greatest - middle, n) < search->best)
        near = middle;
      else
        far = middle;
    }
  return greatest - far;
}

/* Adds the words of a block to the best words of the row that this thread has found. Skips words that cannot be among
 * the best, and forbidden words, whose logit is -INFINITY. No logit of the block is above @greatest. @places is scratch
 * memory for WORDS_AT_ONCE indices. */
static void
collect_best (const Search *search, gint64 row, guint thread, gint64 first, const PlaitScalar *logits,
              PlaitScalar greatest, gint64 n, gint32 *places)
{
  gint64 list = thread * search->states.rows + row;
  Candidate *candidates = search->candidates + list * search->best;
  guint found = search->found[list];
  PlaitScalar bound = found == search->best ? candidates[found - 1].logit : first_bound (search, logits, greatest, n);

  for (gint64 from = 0; from < n && greatest >= bound; from += WORDS_AT_ONCE)
    {
      gint64 reached = search->table->kernels->at_least (logits + from, bound, MIN (WORDS_AT_ONCE, n - from), places);

      for (gint64 i = 0; i < reached; i++)
        if (logits[from + places[i]] > -(PlaitScalar)INFINITY)
          found = insert (candidates, found, search->best,
                          (Candidate){ logits[from + places[i]], (gint32)(first + from) + places[i] });
      if (found == search->best)
        bound = candidates[found - 1].logit;
    }
  search->found[list] = found;
}

/* Returns the number of words in a block. */
static gint64
block_of (const PlaitPacked *table)
{
  return PIECE_PANELS * table->kernels->tile_width;
}

static void
forbid_words (const Search *search, gint64 row, gint64 first, PlaitScalar *logits, gint64 n)
{
  if (search->forbid && !search->forbid[row])
    return;
  for (guint i = 0; i < search->n_forbidden; i++)
    if (search->forbidden[i] >= first && search->forbidden[i] < first + n)
      logits[search->forbidden[i] - first] = -(PlaitScalar)INFINITY;
}

static void
search_rows (const Search *search, gint64 block, gint64 first_row, gint64 rows, guint thread)
{
  const PlaitKernels *kernels = search->table->kernels;
  gint64 first = block * search->block, n = MIN (search->block, search->table->width - first);
  PlaitScalar *logits = plait_pool_scratch (
      search->pool, thread, sizeof (PlaitScalar) * (gsize)(rows * search->block) + sizeof (gint32) * WORDS_AT_ONCE);
  gint32 *places = (gint32 *)(logits + rows * search->block);

  plait_packed_multiply (search->table, logits, search->block, FALSE, &search->rows, first_row, rows, first, n);
  for (gint64 row = first_row; row < first_row + rows; row++)
    {
      PlaitScalar *at = logits + (row - first_row) * search->block;
      Statistics statistics;

      statistics.exponentials
          = (PlaitScalar)kernels->logits (at, search->bias ? search->bias + first : NULL, n, &statistics.greatest);
      search->statistics[row * search->blocks + block] = statistics;
      if (search->mixture)
        plait_output_mixture_note (search->mixture, row, first, at, n, search->copied_logits);
      forbid_words (search, row, first, at, n);
      collect_best (search, row, thread, first, at, statistics.greatest, n, places);
    }
}

static void
block_piece (gpointer data, gint64 block, guint thread)
{
  const Search *search = data;

  for (gint64 row = 0; row < search->states.rows; row += PIECE_ROWS)
    search_rows (search, block, row, MIN (PIECE_ROWS, search->states.rows - row), thread);
}

/* Returns the log of the sum of the exponentials of a row's logits. */
static double
log_sum_of (const Statistics *statistics, gint64 blocks)
{
  double greatest = -INFINITY, sum = 0;

  for (gint64 b = 0; b < blocks; b++)
    greatest = MAX (greatest, (double)statistics[b].greatest);
  for (gint64 b = 0; b < blocks; b++)
    sum += statistics[b].exponentials * exp (statistics[b].greatest - greatest);
  return greatest + log (sum);
}

/* TRUE if search must not return @id in @row. */
static gboolean
is_forbidden (const Search *search, gint64 row, gint32 id)
{
  if (search->forbid && !search->forbid[row])
    return FALSE;
  for (guint i = 0; i < search->n_forbidden; i++)
    if (search->forbidden[i] == id)
      return TRUE;
  return FALSE;
}

/*
 * Finds the best words of the mixture in @row, with log-probabilities, and returns their number. Compares only the
 * copied words and @words [@found], the best words of the softmax. The mixture multiplies the probabilities of all
 * words that are not copied by one factor, so it keeps their order.
 */
static guint
mix_row (const Search *search, gint64 row, Candidate *words, guint found, Candidate *mixed, double log_sum)
{
  const PlaitOutputMixture *mixture = search->mixture;
  double gate = plait_output_mixture_log_gate (mixture, row);
  guint n = 0;

  for (guint i = 0; i < found; i++)
    {
      gint64 word = plait_output_mixture_find (mixture, row, words[i].id);

      if (word == mixture->offsets[row + 1] || mixture->ids[word] != words[i].id)
        n = insert (mixed, n, search->best,
                    (Candidate){ (PlaitScalar)(gate + (double)words[i].logit - log_sum), words[i].id });
    }
  for (gint64 word = mixture->offsets[row]; word < mixture->offsets[row + 1]; word++)
    {
      double log_probability = plait_output_mixture_log_probability (mixture, row, word, search->table->width,
                                                                     search->copied_logits, log_sum);

      if (log_probability > -INFINITY && !is_forbidden (search, row, mixture->ids[word]))
        n = insert (mixed, n, search->best, (Candidate){ (PlaitScalar)log_probability, mixture->ids[word] });
    }
  return n;
}

static void
row_piece (gpointer data, gint64 row, guint thread)
{
  const Search *search = data;
  Candidate *best = plait_pool_scratch (search->pool, thread, 2 * sizeof (Candidate) * search->best);
  double log_sum = log_sum_of (search->statistics + row * search->blocks, search->blocks);
  guint found = 0;

  for (guint t = 0; t < plait_pool_threads (search->pool); t++)
    {
      gint64 list = t * search->states.rows + row;

      for (guint i = 0; i < search->found[list]; i++)
        found = insert (best, found, search->best, search->candidates[list * search->best + i]);
    }
  if (plait_output_mixture_has_words (search->mixture, row))
    {
      found = mix_row (search, row, best, found, best + search->best, log_sum);
      best += search->best;
      log_sum = 0;
    }
  for (guint i = 0; i < search->best; i++)
    {
      search->ids[row * search->best + i] = i < found ? best[i].id : -1;
      search->log_probabilities[row * search->best + i]
          = i < found ? (PlaitScalar)(best[i].logit - log_sum) : -(PlaitScalar)INFINITY;
    }
}

void
plait_output_layer_top_k (PlaitPool *pool, PlaitArena *arena, PlaitTensor states, const PlaitPacked *table,
                          const PlaitScalar *bias, const gint32 *forbidden, guint n_forbidden, const guint8 *forbid,
                          const PlaitOutputMixture *mixture, guint best, gint32 *ids, PlaitScalar *log_probabilities)
{
  PLAIT_WORK_SCOPE (pool, PLAIT_WORK_OUTPUT);
  Search search = { .pool = pool,
                    .states = states,
                    .table = table,
                    .bias = bias,
                    .forbidden = forbidden,
                    .n_forbidden = n_forbidden,
                    .forbid = forbid,
                    .mixture = mixture,
                    .best = best,
                    .ids = ids,
                    .log_probabilities = log_probabilities };
  gint64 lists;

  g_assert (states.width == table->depth && best >= 1 && best <= table->width);
  if (states.rows == 0)
    return;
  search.rows = plait_packed_rows (pool, table, states);
  search.block = block_of (table);
  search.blocks = (table->width + search.block - 1) / search.block;
  lists = plait_pool_threads (pool) * states.rows;
  search.statistics = plait_arena_new_array (arena, Statistics, states.rows * search.blocks);
  search.candidates = plait_arena_new_array (arena, Candidate, lists * best);
  search.found = plait_arena_new_array0 (arena, guint, lists);
  if (mixture)
    search.copied_logits = plait_arena_new_array (arena, PlaitScalar, mixture->offsets[states.rows] + 1);
  plait_pool_run (pool, search.blocks, block_piece, &search);
  plait_pool_run (pool, states.rows, row_piece, &search);
  if (mixture)
    plait_arena_release (arena, search.copied_logits,
                         sizeof (PlaitScalar) * (gsize)(mixture->offsets[states.rows] + 1));
  plait_arena_release (arena, search.found, sizeof (guint) * (gsize)lists);
  plait_arena_release (arena, search.candidates, sizeof (Candidate) * (gsize)(lists * best));
  plait_arena_release (arena, search.statistics, sizeof (Statistics) * (gsize)(states.rows * search.blocks));
}

typedef struct
{
  PlaitPackedRows rows;
  const PlaitPacked *table;
  const PlaitScalar *bias;
  const PlaitOutputMixture *mixture;
  PlaitTensor logits;         /* [rows, V], then columns for the copied words whose ids are at or above V */
  PlaitScalar *copied_logits; /* logits of the copied words of all rows */
  gint64 block, blocks;
  Statistics *statistics; /* [row][block] */
} Whole;

static void
whole_block_piece (gpointer data, gint64 block, guint thread)
{
  const Whole *whole = data;
  gint64 first = block * whole->block, n = MIN (whole->block, whole->table->width - first);

  plait_packed_multiply (whole->table, whole->logits.data + first, whole->logits.stride, FALSE, &whole->rows, 0,
                         whole->logits.rows, first, n);
  for (gint64 row = 0; row < whole->logits.rows; row++)
    {
      Statistics *statistics = &whole->statistics[row * whole->blocks + block];

      statistics->exponentials = (PlaitScalar)whole->table->kernels->logits (
          plait_tensor_row (whole->logits, row) + first, whole->bias ? whole->bias + first : NULL, n,
          &statistics->greatest);
    }
}

static void
whole_row_piece (gpointer data, gint64 row, guint thread)
{
  const Whole *whole = data;
  PlaitScalar *logits = plait_tensor_row (whole->logits, row);
  double log_sum = log_sum_of (whole->statistics + row * whole->blocks, whole->blocks);
  const PlaitOutputMixture *mixture = whole->mixture;
  gint64 n = whole->table->width;
  double gate = 0;

  if (plait_output_mixture_has_words (mixture, row))
    {
      gate = plait_output_mixture_log_gate (mixture, row);
      plait_output_mixture_note (mixture, row, 0, logits, n, whole->copied_logits);
    }
  for (gint64 i = 0; i < n; i++)
    logits[i] = (PlaitScalar)(gate + logits[i] - log_sum);
  for (gint64 i = n; i < whole->logits.width; i++)
    logits[i] = -(PlaitScalar)INFINITY;
  for (gint64 word = mixture ? mixture->offsets[row] : 0; mixture && word < mixture->offsets[row + 1]; word++)
    if (mixture->ids[word] < whole->logits.width)
      logits[mixture->ids[word]]
          = (PlaitScalar)plait_output_mixture_log_probability (mixture, row, word, n, whole->copied_logits, log_sum);
}

void
plait_output_layer_log_probabilities (PlaitPool *pool, PlaitArena *arena, PlaitTensor states, const PlaitPacked *table,
                                      const PlaitScalar *bias, const PlaitOutputMixture *mixture,
                                      PlaitTensor log_probabilities)
{
  PLAIT_WORK_SCOPE (pool, PLAIT_WORK_OUTPUT);
  Whole whole
      = { .table = table, .bias = bias, .mixture = mixture, .logits = log_probabilities, .block = block_of (table) };

  g_assert (states.width == table->depth);
  g_assert (log_probabilities.rows == states.rows && log_probabilities.width >= table->width);
  if (states.rows == 0)
    return;
  whole.rows = plait_packed_rows (pool, table, states);
  whole.blocks = (table->width + whole.block - 1) / whole.block;
  whole.statistics = plait_arena_new_array (arena, Statistics, states.rows * whole.blocks);
  if (mixture)
    whole.copied_logits = plait_arena_new_array (arena, PlaitScalar, mixture->offsets[states.rows] + 1);
  plait_pool_run (pool, whole.blocks, whole_block_piece, &whole);
  plait_pool_run (pool, states.rows, whole_row_piece, &whole);
  if (mixture)
    plait_arena_release (arena, whole.copied_logits, sizeof (PlaitScalar) * (gsize)(mixture->offsets[states.rows] + 1));
  plait_arena_release (arena, whole.statistics, sizeof (Statistics) * (gsize)(states.rows * whole.blocks));
}
