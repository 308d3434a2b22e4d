/* SPDX-License-Identifier: MIT */
#include "tensor/output-layer.h"

#include <math.h>
#include <string.h>

#include "tensor/blas.h"
#include "tensor/elementwise.h"
#include "kernels/bfloat16-factors.h"
#include "tensor/packed-private.h"
#include "tensor/panel.h"
#include "kernels/gradient-terms.h"

/*
 * Each chunk of rows goes through these runs of the pool, besides runs that round or pack the states:
 *
 *   1. For each block of words: computes the logits and each row's maximum, sum of exponentials and sum of logits in
 *      the block. Replaces the logits by exp (logit - maximum).
 *   2. For each row: computes log-sum-exp and loss.
 *   3. With gradients, for each lane (a range of blocks): turns the exponentials into the gradient of the logits. While
 *      that is in cache, computes the block's part of dtable and dbias, and adds to the lane's partial sum of dstates.
 *   4. With dstates, for each row: adds the partial sums of the lanes in order.
 */
#define BLOCK_WORDS 128
#define MAX_LANES 16
/* Maximum rows of a chunk: CHUNK_LOGITS / V, but at least MIN_CHUNK and at most MAX_CHUNK. Values chosen by
 * measuring. */
#define CHUNK_LOGITS 17000000
#define MIN_CHUNK 128
#define MAX_CHUNK 1024
#define ROWS_IN_PIECE 16

/* Statistics of the logits of one row and block. */
typedef struct
{
  PlaitScalar greatest;
  PlaitScalar exponentials; /* sum of exp (logit - greatest) */
  PlaitScalar logits;       /* sum of the logits; only set with smoothing */
} Statistics;

typedef struct
{
  double log_sum;
  double loss;
  double negative_log_likelihood;
  PlaitScalar target;      /* logit of the target */
  PlaitScalar generated;   /* factor of the softmax in the gradients of the logits; 1 without copied words */
  PlaitScalar share;       /* factor of stage->target in the gradient of the target's logit; 1 without copied words */
  gboolean first_in_block; /* TRUE if, within the target's block, all words with lower ids have lower logits than the
                              target */
  gboolean correct;
} Row;

typedef struct
{
  const PlaitKernels *kernels;
  PlaitPool *pool;
  const PlaitOutputLayerWork *work;
  gboolean wants_gradient;
  double each;   /* smoothed probability of each word except the target */
  double target; /* smoothed probability of the target, minus @each */
  gint64 words;
  gint64 width;
  gint64 block; /* number of words in a block */
  gint64 blocks;
  gint64 lanes;
  /* First row of the current chunk, and its number of rows. */
  gint64 first;
  gint64 rows;
  gboolean blas;             /* products by BLAS instead of the kernels */
  const PlaitPacked *packed; /* packed table, or NULL if it is not used */
  PlaitPackedRows packed_rows;
  const PlaitBfloat16Kernels *bfloat16; /* kernels for products in bfloat16, or NULL */
  PlaitBfloat16Pair *rounded;           /* states rounded to bfloat16: [row][plait_bfloat16_pairs (width)] */
  PlaitScalar *logits;    /* logits, overwritten by exponentials, then by gradients: [block][row][word]; NULL without
                             gradients */
  Statistics *statistics; /* [row][block] */
  Row *row;
  PlaitScalar *copied; /* [copied words of all rows]: logits, overwritten by corrections of their gradients; NULL if no
                          words are copied */
  PlaitScalar *states; /* states as a right factor: panels [panel][row][tile_width], or rounded to bfloat16 */
  PlaitScalar *shares; /* partial sums of dstates: [lane][row][width] */
} Stage;

static gint64
chunk_rows (gint64 rows, gint64 words)
{
  gint64 most = CLAMP (CHUNK_LOGITS / MAX (words, 1), MIN_CHUNK, MAX_CHUNK), chunks = (rows + most - 1) / most;

  /* Make all chunks about equally large. */
  return chunks == 0 ? 0 : (rows + chunks - 1) / chunks;
}

static Stage
stage_of (gint64 rows, gint64 width, gint64 words)
{
  Stage stage = { .kernels = plait_kernels (), .words = words, .width = width };
  gint64 tile = stage.kernels->tile_width;

  stage.block = (BLOCK_WORDS + tile - 1) / tile * tile;
  stage.blocks = (words + stage.block - 1) / stage.block;
  stage.lanes = MIN (stage.blocks, MAX_LANES);
  stage.rows = chunk_rows (rows, words);
  return stage;
}

static gint64
block_width (const Stage *stage, gint64 block)
{
  return MIN (stage->block, stage->words - block * stage->block);
}

/* Returns the statistics of @n logits of one row, and replaces them by exp (logit - maximum). */
static Statistics
statistics_of (const Stage *stage, PlaitScalar *logits, gint64 n)
{
  Statistics statistics = { .greatest = stage->kernels->greatest (logits, n) };

  if (stage->each > 0)
    statistics.logits = (PlaitScalar)stage->kernels->total (logits, n);
  statistics.exponentials = (PlaitScalar)stage->kernels->exponentials (logits, statistics.greatest, n);
  return statistics;
}

/* If the row's target is in the block, stores the target's logit and sets first_in_block. */
static void
note_target (Stage *stage, gint64 block, gint64 row, const PlaitScalar *logits, gint64 n)
{
  gint64 target = stage->work->targets[stage->first + row] - block * stage->block;

  if (target < 0 || target >= n)
    return;
  stage->row[row].target = logits[target];
  stage->row[row].first_in_block = TRUE;
  for (gint64 i = 0; i < target; i++)
    if (logits[i] >= logits[target])
      stage->row[row].first_in_block = FALSE;
}

static void
multiply_rounded_logits (const Stage *stage, gint64 block, PlaitScalar *logits, PlaitBfloat16Pair *panel)
{
  gint64 n = block_width (stage, block), row = plait_bfloat16_pairs (stage->width);

  for (gint64 first = 0; first == 0 || first < stage->width; first += PLAIT_MAX_PANEL_DEPTH)
    {
      gint64 depth = MIN (PLAIT_MAX_PANEL_DEPTH, stage->width - first);
      PlaitBfloat16Panel left = { .rows = stage->rows,
                                  .bfloat16_pairs = plait_bfloat16_pairs (depth),
                                  .x = stage->rounded + plait_bfloat16_pairs (first),
                                  .row = row,
                                  .step = 1 };

      plait_bfloat16_right (stage->bfloat16, panel, stage->work->table, TRUE, first, depth, block * stage->block, n);
      plait_bfloat16_multiply (stage->bfloat16, &left, panel, left.bfloat16_pairs, logits, stage->block, n, first > 0);
    }
}

/* Writes the logits of a block, without bias. @panel is scratch memory. */
static void
multiply_logits (const Stage *stage, gint64 block, PlaitScalar *logits, PlaitScalar *panel)
{
  const PlaitOutputLayerWork *work = stage->work;
  const PlaitKernels *kernels = stage->kernels;
  gint64 tile = kernels->tile_width, n = block_width (stage, block), word = block * stage->block;
  PlaitTensor states = plait_tensor_rows (work->states, stage->first, stage->rows);

  if (stage->packed)
    {
      plait_packed_multiply (stage->packed, logits, stage->block, FALSE, &stage->packed_rows, 0, stage->rows, word, n);
      return;
    }
  if (stage->bfloat16)
    {
      multiply_rounded_logits (stage, block, logits, (PlaitBfloat16Pair *)panel);
      return;
    }
  if (stage->blas)
    {
      plait_blas_multiply ((PlaitTensor){ logits, stage->rows, n, stage->block }, FALSE, 1, states, FALSE,
                           plait_tensor_rows (work->table, word, n), TRUE);
      return;
    }
  for (gint64 first = 0; first == 0 || first < stage->width; first += PLAIT_MAX_PANEL_DEPTH)
    {
      gint64 depth = MIN (PLAIT_MAX_PANEL_DEPTH, stage->width - first);

      plait_panel_pack (kernels, tile, panel, work->table, TRUE, first, depth, word, n);
      for (gint64 j = 0; j < n; j += tile)
        kernels->multiply (stage->rows, MIN (tile, n - j), depth, states.data + first, states.stride, 1,
                           panel + j * depth, tile, logits + j, stage->block, first > 0);
    }
}

static void
logits_piece (gpointer data, gint64 block, guint thread)
{
  Stage *stage = data;
  const PlaitOutputLayerWork *work = stage->work;
  const PlaitKernels *kernels = stage->kernels;
  gint64 n = block_width (stage, block), word = block * stage->block;
  gint64 panel = MIN (PLAIT_MAX_PANEL_DEPTH, stage->width) * stage->block;
  PlaitScalar *table
      = plait_pool_scratch (stage->pool, thread, sizeof (PlaitScalar) * (gsize)(panel + stage->rows * stage->block));
  PlaitScalar *logits = stage->wants_gradient ? stage->logits + word * stage->rows : table + panel;

  multiply_logits (stage, block, logits, table);
  for (gint64 row = 0; row < stage->rows; row++)
    {
      PlaitScalar *at = logits + row * stage->block;

      if (work->bias)
        kernels->accumulate (at, 1, 1, work->bias + word, n);
      note_target (stage, block, row, at, n);
      if (stage->copied)
        plait_output_mixture_note (work->mixture, stage->first + row, word, at, n, stage->copied);
      stage->statistics[row * stage->blocks + block] = statistics_of (stage, at, n);
    }
}

/* Returns the factor by which the gradients of row @number of the chunk are multiplied. */
static double
scale_of (const Stage *stage, gint64 number)
{
  const PlaitOutputLayerWork *work = stage->work;

  return work->weights ? work->scale * work->weights[stage->first + number] : work->scale;
}

/* Computes the loss and the factors of the gradients of a row with copied words. */
static void
mix_row (const Stage *stage, gint64 number, double greatest, double logits)
{
  const PlaitOutputLayerWork *work = stage->work;
  Row *row = &stage->row[number];
  PlaitMixedRow mixed = {
    .words = stage->words,
    .target = work->targets[stage->first + number],
    .logit = (double)row->target,
    .log_sum = row->log_sum,
    .greatest = greatest,
    .logits = logits,
    .each = stage->each,
    .rest = stage->target,
    .scale = scale_of (stage, number),
    .best = row->correct,
  };

  plait_output_mixture_row (work->mixture, stage->first + number, stage->copied, &mixed);
  row->loss = mixed.loss;
  row->negative_log_likelihood = mixed.negative_log_likelihood;
  row->correct = mixed.best;
  row->generated = (PlaitScalar)mixed.generated;
  row->share = (PlaitScalar)mixed.target_share;
}

static void
finish_row (const Stage *stage, gint64 number)
{
  const Statistics *statistics = stage->statistics + number * stage->blocks;
  gint64 own = stage->work->targets[stage->first + number] / stage->block;
  Row *row = &stage->row[number];
  double greatest = -INFINITY, sum = 0, logits = 0;

  if (stage->work->targets[stage->first + number] >= stage->words)
    *row = (Row){ .first_in_block = FALSE };
  row->correct = row->first_in_block;
  row->generated = row->share = 1;
  for (gint64 b = 0; b < stage->blocks; b++)
    {
      greatest = MAX (greatest, (double)statistics[b].greatest);
      logits += statistics[b].logits;
      if (b < own ? !(statistics[b].greatest < row->target) : !(statistics[b].greatest <= row->target))
        row->correct = FALSE;
    }
  for (gint64 b = 0; b < stage->blocks; b++)
    sum += statistics[b].exponentials * exp (statistics[b].greatest - greatest);
  row->log_sum = greatest + log (sum);
  row->negative_log_likelihood = row->log_sum - row->target;
  row->loss = row->log_sum - stage->target * row->target - stage->each * logits;
  if (plait_output_mixture_has_words (stage->work->mixture, stage->first + number))
    mix_row (stage, number, greatest, logits);
}

static void
rows_piece (gpointer data, gint64 piece, guint thread)
{
  const Stage *stage = data;

  for (gint64 row = piece * ROWS_IN_PIECE; row < MIN ((piece + 1) * ROWS_IN_PIECE, stage->rows); row++)
    finish_row (stage, row);
}

/* Adds the corrections for the copied words of @row to @logits [n], the gradients of the logits from word @first on. */
static void
correct_copied (const Stage *stage, gint64 row, gint64 first, PlaitScalar *logits, gint64 n)
{
  const PlaitOutputMixture *mixture = stage->work->mixture;

  for (gint64 word = plait_output_mixture_find (mixture, row, first);
       word < mixture->offsets[row + 1] && mixture->ids[word] < first + n; word++)
    logits[mixture->ids[word] - first] += PLAIT_GRADIENT_TERM (
        mixture_loss_correction, (PlaitScalar)(scale_of (stage, row - stage->first) * (double)stage->copied[word]));
}

/* Turns the exponentials of a block's logits into the gradient of the logits. */
static void
differentiate (const Stage *stage, gint64 block, PlaitScalar *logits, gint64 n)
{
  for (gint64 row = 0; row < stage->rows; row++)
    {
      double scale = scale_of (stage, row);
      PlaitScalar offset = (PlaitScalar)(scale * stage->each);
      PlaitScalar *at = logits + row * stage->block;
      gint64 target = stage->work->targets[stage->first + row] - block * stage->block;
      double greatest = (double)stage->statistics[row * stage->blocks + block].greatest;
      PlaitScalar factor = (PlaitScalar)(scale * exp (greatest - stage->row[row].log_sum));
      PlaitScalar of_target = (PlaitScalar)(scale * stage->target);

      if (stage->copied)
        {
          factor *= PLAIT_GRADIENT_TERM (mixture_loss_softmax, stage->row[row].generated);
          of_target *= PLAIT_GRADIENT_TERM (mixture_loss_share, stage->row[row].share);
        }
      stage->kernels->scale_shift (at, PLAIT_GRADIENT_TERM (output_loss_probability, factor),
                                   PLAIT_GRADIENT_TERM (output_loss_smoothing, offset), n);
      if (target >= 0 && target < n)
        at[target] -= PLAIT_GRADIENT_TERM (output_loss_target, of_target);
      if (stage->copied)
        correct_copied (stage, stage->first + row, block * stage->block, at, n);
    }
}

/* TRUE if a stage adds to a gradient tensor instead of overwriting it: @beta is not 0, or earlier chunks have written
 * to it. */
static gboolean
adds (const Stage *stage, PlaitScalar beta)
{
  return beta != 0 || stage->first > 0;
}

/* Writes or adds the gradient of the block's rows of the table. @logits: gradients of the logits; @left: scratch
 * memory. */
static void
add_table_gradient (const Stage *stage, gint64 block, const PlaitTensor *logits, PlaitBfloat16Pair *left)
{
  gint64 tile = stage->kernels->tile_width, width = stage->width, rows = stage->rows;
  PlaitTensor dtable = plait_tensor_rows (stage->work->dtable, block * stage->block, logits->width);
  gboolean add = adds (stage, stage->work->dtable_beta);

  if (stage->bfloat16)
    {
      PlaitBfloat16Panel transposed
          = plait_bfloat16_left (stage->bfloat16, left, *logits, TRUE, 0, logits->width, 0, rows);

      plait_bfloat16_multiply (stage->bfloat16, &transposed, (PlaitBfloat16Pair *)stage->states,
                               transposed.bfloat16_pairs, dtable.data, dtable.stride, width, add);
    }
  else if (stage->blas)
    plait_blas_multiply (dtable, add, PLAIT_GRADIENT_TERM (output_loss_table, 1), *logits, TRUE,
                         plait_tensor_rows (stage->work->states, stage->first, rows), FALSE);
  else
    for (gint64 j = 0; j < width; j += tile)
      stage->kernels->multiply (dtable.rows, MIN (tile, width - j), rows, logits->data, 1, logits->stride,
                                stage->states + j * rows, tile, dtable.data + j, dtable.stride, add);
}

/* Writes the block's part of dstates to @share, the partial sum of this lane, or adds it there if @add. @logits is
 * the gradient of the logits; @panel and @left are scratch memory. */
static void
add_states_gradient (const Stage *stage, gint64 block, const PlaitTensor *logits, PlaitScalar *share, gboolean add,
                     PlaitScalar *panel, PlaitBfloat16Pair *left)
{
  const PlaitKernels *kernels = stage->kernels;
  gint64 tile = kernels->tile_width, width = stage->width, rows = stage->rows, n = logits->width;
  gint64 word = block * stage->block;

  if (stage->bfloat16)
    {
      PlaitBfloat16Panel whole = plait_bfloat16_left (stage->bfloat16, left, *logits, FALSE, 0, rows, 0, n);

      plait_bfloat16_right (stage->bfloat16, (PlaitBfloat16Pair *)panel, stage->work->table, FALSE, word, n, 0, width);
      plait_bfloat16_multiply (stage->bfloat16, &whole, (PlaitBfloat16Pair *)panel, whole.bfloat16_pairs, share, width,
                               width, add);
      return;
    }
  if (stage->blas)
    {
      plait_blas_multiply (plait_tensor (share, rows, width), add, 1, *logits, FALSE,
                           plait_tensor_rows (stage->work->table, word, n), FALSE);
      return;
    }
  plait_panel_pack (kernels, tile, panel, stage->work->table, FALSE, word, n, 0, width);
  for (gint64 j = 0; j < width; j += tile)
    kernels->multiply (rows, MIN (tile, width - j), n, logits->data, logits->stride, 1, panel + j * n, tile, share + j,
                       width, add);
}

static void
gradient_piece (gpointer data, gint64 lane, guint thread)
{
  const PlaitScalar one = PLAIT_GRADIENT_TERM (output_loss_bias, 1);
  const Stage *stage = data;
  const PlaitOutputLayerWork *work = stage->work;
  const PlaitKernels *kernels = stage->kernels;
  gint64 rows = stage->rows;
  gint64 first = stage->blocks * lane / stage->lanes, end = stage->blocks * (lane + 1) / stage->lanes;
  PlaitScalar *share = stage->shares + lane * rows * stage->width;
  gsize panel_bytes
      = stage->bfloat16
            ? plait_bfloat16_panel_bytes (stage->width, stage->block)
            : sizeof (PlaitScalar) * (gsize)(plait_panels (kernels, stage->width) * kernels->tile_width * stage->block);
  gsize left_bytes = stage->bfloat16 ? plait_bfloat16_left_bytes (stage->block, rows + 1) : 0;
  PlaitScalar *panel = plait_pool_scratch (stage->pool, thread, panel_bytes + left_bytes);
  PlaitBfloat16Pair *left = (PlaitBfloat16Pair *)((char *)panel + panel_bytes);

  for (gint64 block = first; block < end; block++)
    {
      gint64 n = block_width (stage, block), word = block * stage->block;
      PlaitTensor logits = { stage->logits + word * rows, rows, n, stage->block };

      differentiate (stage, block, logits.data, n);
      if (work->dtable.data)
        add_table_gradient (stage, block, &logits, left);
      if (work->dbias.data)
        kernels->multiply (1, n, rows, &one, 0, 0, logits.data, logits.stride, work->dbias.data + word, 0,
                           adds (stage, work->dbias_beta));
      if (work->dstates.data)
        add_states_gradient (stage, block, &logits, share, block > first, panel, left);
    }
}

static void
shares_piece (gpointer data, gint64 piece, guint thread)
{
  const Stage *stage = data;

  for (gint64 row = piece * ROWS_IN_PIECE; row < MIN ((piece + 1) * ROWS_IN_PIECE, stage->rows); row++)
    for (gint64 lane = 0; lane < stage->lanes; lane++)
      stage->kernels->accumulate (plait_tensor_row (stage->work->dstates, stage->first + row), lane > 0,
                                  PLAIT_GRADIENT_TERM (output_loss_states, 1),
                                  stage->shares + (lane * stage->rows + row) * stage->width, stage->width);
}

static void
rounding_piece (gpointer data, gint64 piece, guint thread)
{
  const Stage *stage = data;
  gint64 first = piece * ROWS_IN_PIECE, rows = MIN (ROWS_IN_PIECE, stage->rows - first);

  plait_bfloat16_left (stage->bfloat16, stage->rounded + first * plait_bfloat16_pairs (stage->width),
                       stage->work->states, FALSE, stage->first + first, rows, 0, stage->width);
}

static gint64
panel_width (const Stage *stage)
{
  return stage->bfloat16 ? PLAIT_BFLOAT16_WIDTH : stage->kernels->tile_width;
}

static void
states_piece (gpointer data, gint64 panel, guint thread)
{
  const Stage *stage = data;
  PlaitTensor states = stage->work->states;
  gint64 tile = panel_width (stage), column = panel * tile, width = MIN (tile, stage->width - column);

  if (stage->bfloat16)
    {
      plait_bfloat16_right (stage->bfloat16,
                            (PlaitBfloat16Pair *)stage->states + column * plait_bfloat16_pairs (stage->rows), states,
                            FALSE, stage->first, stage->rows, column, width);
      return;
    }
  plait_panel_pack (stage->kernels, tile, stage->states + column * stage->rows, states, FALSE, stage->first,
                    stage->rows, column, width);
  /* Only the gradient of the table is computed from these panels. */
  PLAIT_GRADIENT_TERM_NUMBERS (output_loss_table, stage->states + column * stage->rows, stage->rows * tile);
}

static void
compute_chunk (Stage *stage, PlaitOutputLayerSums *sums)
{
  const PlaitOutputLayerWork *work = stage->work;
  gint64 pieces = (stage->rows + ROWS_IN_PIECE - 1) / ROWS_IN_PIECE;

  stage->blas = !stage->bfloat16 && plait_blas_is_used (stage->kernels, FALSE, stage->rows, stage->words, stage->width);

  if (stage->bfloat16)
    plait_pool_run (stage->pool, pieces, rounding_piece, stage);
  plait_pool_run (stage->pool, stage->blocks, logits_piece, stage);
  plait_pool_run (stage->pool, pieces, rows_piece, stage);
  for (gint64 row = 0; row < stage->rows; row++)
    {
      sums->loss += stage->row[row].loss;
      sums->weighted += (work->weights ? work->weights[stage->first + row] : 1) * stage->row[row].loss;
      sums->negative_log_likelihood += stage->row[row].negative_log_likelihood;
      sums->correct += stage->row[row].correct;
      if (work->row_losses)
        work->row_losses[stage->first + row] = stage->row[row].negative_log_likelihood;
    }
  if (!stage->wants_gradient)
    return;
  if (work->dtable.data && !stage->blas)
    plait_pool_run (stage->pool, (stage->width + panel_width (stage) - 1) / panel_width (stage), states_piece, stage);
  plait_pool_run (stage->pool, stage->lanes, gradient_piece, stage);
  if (work->dstates.data)
    plait_pool_run (stage->pool, pieces, shares_piece, stage);
}

/* Sets the gradients with beta 0 to zero, for a call without rows. */
static void
clear_gradients (PlaitPool *pool, const PlaitOutputLayerWork *work)
{
  if (work->dtable.data && work->dtable_beta == 0)
    plait_tensor_fill (pool, work->dtable, 0, 0);
  if (work->dbias.data && work->dbias_beta == 0)
    plait_tensor_fill (pool, work->dbias, 0, 0);
}

PlaitOutputLayerSums
plait_output_layer_compute (PlaitPool *pool, PlaitArena *arena, const PlaitOutputLayerWork *work)
{
  PLAIT_WORK_SCOPE (pool, PLAIT_WORK_OUTPUT);
  gint64 rows = work->states.rows, most;
  Stage stage = stage_of (rows, work->states.width, work->table.rows);
  PlaitOutputLayerSums sums = { 0 };
  gsize numbers = sizeof (PlaitScalar), copied = 0, statistics, rounded, logits, states, shares;

  g_assert (work->table.width == stage.width && stage.words > 0);
  if (rows == 0)
    {
      clear_gradients (pool, work);
      return sums;
    }
  stage.pool = pool;
  stage.work = work;
  stage.wants_gradient = work->dstates.data || work->dtable.data || work->dbias.data;
  if (work->packed && plait_packed_precision (work->packed) != PLAIT_PRECISION_FLOAT && !stage.wants_gradient)
    stage.packed = work->packed;
  else
    stage.bfloat16 = plait_bfloat16_kernels (work->precision);
  stage.each = work->others ? (stage.words > 1 ? work->smoothing / (double)(stage.words - 1) : 0)
                            : work->smoothing / (double)stage.words;
  stage.target = 1 - work->smoothing - (work->others ? stage.each : 0);
  most = stage.rows;
  statistics = sizeof (Statistics) * (gsize)(most * stage.blocks);
  rounded = plait_bfloat16_left_bytes (most, stage.width);
  logits = numbers * (gsize)(stage.blocks * stage.block * most);
  states = stage.bfloat16
               ? plait_bfloat16_panel_bytes (stage.width, most)
               : numbers * (gsize)(plait_panels (stage.kernels, stage.width) * stage.kernels->tile_width * most);
  shares = numbers * (gsize)(stage.lanes * most * stage.width);
  stage.statistics = plait_arena_allocate (arena, statistics);
  stage.row = plait_arena_new_array (arena, Row, most);
  if (work->mixture && work->mixture->offsets[rows] > 0)
    stage.copied = plait_arena_allocate (arena, copied = numbers * (gsize)work->mixture->offsets[rows]);
  if (work->mixture && work->mixture->dgate)
    memset (work->mixture->dgate, 0, numbers * (gsize)rows);
  if (stage.bfloat16)
    stage.rounded = plait_arena_allocate (arena, rounded);
  if (stage.wants_gradient)
    {
      stage.logits = plait_arena_allocate (arena, logits);
      stage.states = plait_arena_allocate (arena, states);
      stage.shares = plait_arena_allocate (arena, shares);
    }
  for (; stage.first < rows; stage.first += most)
    {
      stage.rows = MIN (most, rows - stage.first);
      if (stage.packed)
        stage.packed_rows
            = plait_packed_rows (pool, stage.packed, plait_tensor_rows (work->states, stage.first, stage.rows));
      compute_chunk (&stage, &sums);
    }
  if (stage.wants_gradient)
    {
      plait_arena_release (arena, stage.shares, shares);
      plait_arena_release (arena, stage.states, states);
      plait_arena_release (arena, stage.logits, logits);
    }
  if (stage.bfloat16)
    plait_arena_release (arena, stage.rounded, rounded);
  if (stage.copied)
    plait_arena_release (arena, stage.copied, copied);
  plait_arena_release (arena, stage.row, sizeof (Row) * (gsize)most);
  plait_arena_release (arena, stage.statistics, statistics);
  return sums;
}
