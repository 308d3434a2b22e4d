/* SPDX-License-Identifier: MIT */
#include "tensor/product.h"

#include <string.h>

#include "tensor/blas.h"
#include "kernels/bfloat16-factors.h"
#include "tensor/packed-private.h"
#include "tensor/panel.h"
#include "tensor/rows.h"
#include "kernels/gradient-terms.h"

/*
 * Limits for the cut of a product into pieces of at most @rows rows and @columns columns. Our kernels use pieces with
 * all columns if the left factor is not transposed, the product has many rows, and the right factor fits into
 * PLAIT_CACHED_FACTOR_BYTES. If there would be fewer than @least_pieces pieces, the pieces become smaller, down to
 * @least_rows and @least_columns.
 *
 * Our kernels pack the columns of the right factor that a piece needs. A thread reuses packed columns if its next piece
 * has the same columns, so such pieces have consecutive numbers. BLAS packs both factors of each piece, so it needs
 * larger pieces. Values chosen by measuring.
 */
typedef struct
{
  gint64 rows;
  gint64 columns;
  gint64 least_rows;
  gint64 least_columns;
  gint64 least_pieces;
} Cut;

static const Cut kernels_cut = { 96, 256, 24, 0, 16 };
static const Cut blas_cut = { 256, 512, 96, 128, 8 };

/* Rules of our kernels in full precision. If the result has at most FEW_ROWS rows and the right factor is not
 * transposed, the right factor is read in place: packing would cost more than it saves. Only its last columns are
 * packed if they do not fill a panel. A transposed left factor with rows at least FAR_BYTES apart is copied. */
#define FEW_ROWS 128
#define FAR_BYTES 2048

typedef struct
{
  const PlaitKernels *kernels;
  const PlaitBfloat16Kernels *bfloat16; /* kernels for products in bfloat16, or NULL */
  PlaitPool *pool;
  PlaitTensor c;
  PlaitTensor a;
  PlaitTensor b;
  gboolean transpose_a;
  gboolean transpose_b;
  const PlaitEpilogue *epilogue; /* NULL except in the last round */
  PlaitScalar *column_sums;      /* array that receives the sum of each column of @b, or NULL */
  gint64 first;                  /* start of this round along the depth */
  gint64 depth;
  gboolean add;
  gboolean add_sums;
  gboolean blas; /* pieces are multiplied by BLAS */
  gint64 tile;   /* number of columns of a packed panel */
  gint64 row_bands;
  gint64 band_width; /* number of columns of a piece */
} Product;

/* Bytes before the panels in a thread's scratch memory; they hold the index of the panels' column band. */
#define BAND_BYTES 64

/* TRUE if a transposed left factor is copied for each piece, because its rows are far apart: reading a few elements of
 * each row would cost a page and a cache line every time. */
static gboolean
copies_left (const Product *product)
{
  return product->transpose_a && product->a.stride * (gint64)sizeof (PlaitScalar) >= FAR_BYTES;
}

static gsize
scratch_bytes (const Product *product)
{
  gint64 rows = (product->c.rows + product->row_bands - 1) / product->row_bands;

  if (product->bfloat16)
    return BAND_BYTES + plait_bfloat16_panel_bytes (product->band_width, product->depth)
           + plait_bfloat16_left_bytes (rows, product->depth);
  return BAND_BYTES
         + sizeof (PlaitScalar) * (gsize)(product->depth * (product->band_width + (copies_left (product) ? rows : 0)));
}

/* A piece of a product: its position in c. */
typedef struct
{
  gint64 band;
  gint64 part; /* index of the piece within the band */
  gint64 row;
  gint64 rows;
  gint64 column;
  gint64 width;
} Block;

static void
add_column_sums (const Product *product, const Block *block)
{
  if (product->depth == 0 && !product->add_sums)
    memset (product->column_sums + block->column, 0, (gsize)block->width * sizeof (PlaitScalar));
  for (gint64 k = 0; k < product->depth; k++)
    product->kernels->accumulate (product->column_sums + block->column, product->add_sums || k > 0,
                                  PLAIT_GRADIENT_TERM (linear_bias, 1),
                                  plait_tensor_row (product->b, product->first + k) + block->column, block->width);
}

static void
multiply_bfloat16 (const Product *product, const Block *block, guint thread)
{
  gint64 *packed_band = plait_pool_scratch (product->pool, thread, scratch_bytes (product));
  char *panels = (char *)packed_band + BAND_BYTES;
  PlaitBfloat16Pair *left
      = (PlaitBfloat16Pair *)(panels + plait_bfloat16_panel_bytes (product->band_width, product->depth));
  PlaitBfloat16Panel rows;

  if (*packed_band != block->band)
    plait_bfloat16_right (product->bfloat16, (PlaitBfloat16Pair *)panels, product->b, product->transpose_b,
                          product->first, product->depth, block->column, block->width);
  *packed_band = block->band;
  rows = plait_bfloat16_left (product->bfloat16, left, product->a, product->transpose_a, block->row, block->rows,
                              product->first, product->depth);
  plait_bfloat16_multiply (product->bfloat16, &rows, (PlaitBfloat16Pair *)panels, rows.bfloat16_pairs,
                           plait_tensor_row (product->c, block->row) + block->column, product->c.stride, block->width,
                           product->add);
}

static void
multiply_panels (const Product *product, const Block *block, guint thread)
{
  const PlaitScalar one = PLAIT_GRADIENT_TERM (linear_bias, 1);
  const PlaitKernels *kernels = product->kernels;
  gint64 tile = product->tile, depth = product->depth, row = product->a.stride, step = 1;
  gint64 column = block->column, width = block->width;
  gint64 unpacked = product->transpose_b || product->c.rows > FEW_ROWS ? 0 : width - width % tile;
  const PlaitScalar *a = product->a.data;
  gint64 *packed_band = plait_pool_scratch (product->pool, thread, scratch_bytes (product));
  PlaitScalar *panels = (PlaitScalar *)((char *)packed_band + BAND_BYTES);

  if (*packed_band != block->band)
    {
      if (unpacked < width)
        plait_panel_pack (kernels, tile, panels + unpacked * depth, product->b, product->transpose_b, product->first,
                          depth, column + unpacked, width - unpacked);
      *packed_band = block->band;
    }
  if (copies_left (product))
    {
      PlaitScalar *left = panels + depth * product->band_width;

      row = 1;
      step = block->rows;
      for (gint64 k = 0; k < depth; k++)
        memcpy (left + k * step, plait_tensor_row (product->a, product->first + k) + block->row,
                sizeof (PlaitScalar) * (gsize)step);
      a = left;
    }
  else if (product->transpose_a)
    {
      row = 1;
      step = product->a.stride;
      a += product->first * step + block->row;
    }
  else
    a += block->row * row + product->first;
  for (gint64 j = 0; j < width; j += tile)
    {
      gboolean packed = j >= unpacked;
      const PlaitScalar *panel
          = packed ? panels + j * depth : plait_tensor_row (product->b, product->first) + column + j;
      gint64 wide = MIN (tile, width - j), stride = packed ? tile : product->b.stride;

      kernels->multiply (block->rows, wide, depth, a, row, step, panel, stride,
                         plait_tensor_row (product->c, block->row) + column + j, product->c.stride, product->add);
      if (product->column_sums && block->part == 0)
        kernels->multiply (1, wide, depth, &one, 0, 0, panel, stride, product->column_sums + column + j, 0,
                           product->add_sums);
    }
}

static void
multiply_blas (const Product *product, const Block *block)
{
  PlaitTensor a = product->a, b = product->b;
  PlaitTensor c
      = plait_tensor_columns (plait_tensor_rows (product->c, block->row, block->rows), block->column, block->width);

  a = product->transpose_a ? plait_tensor_columns (a, block->row, block->rows)
                           : plait_tensor_rows (a, block->row, block->rows);
  b = product->transpose_b ? plait_tensor_rows (b, block->column, block->width)
                           : plait_tensor_columns (b, block->column, block->width);
  plait_blas_multiply (c, product->add, 1, a, product->transpose_a, b, product->transpose_b);
}

static void
multiply_piece (const Product *product, const Block *block, guint thread)
{
  if (!product->bfloat16 && !product->blas)
    {
      multiply_panels (product, block, thread);
      return;
    }
  if (product->bfloat16)
    multiply_bfloat16 (product, block, thread);
  else
    multiply_blas (product, block);
  if (product->column_sums && block->part == 0)
    add_column_sums (product, block);
}

static void
product_piece (gpointer data, gint64 piece, guint thread)
{
  const Product *product = data;
  gint64 band = piece / product->row_bands, part = piece % product->row_bands;
  Block block = { .band = band, .part = part, .column = band * product->band_width };

  block.row = product->c.rows * part / product->row_bands;
  block.rows = product->c.rows * (part + 1) / product->row_bands - block.row;
  block.width = MIN (product->band_width, product->c.width - block.column);
  multiply_piece (product, &block, thread);
  if (product->epilogue)
    plait_panel_epilogue (product->kernels, product->epilogue, product->c, block.row, block.rows, block.column,
                          block.width);
}

static void
forget_panels (const Product *product, guint thread)
{
  *(gint64 *)plait_pool_scratch (product->pool, thread, scratch_bytes (product)) = -1;
}

static void
run_round (Product *product)
{
  const Cut *cut = product->blas ? &blas_cut : &kernels_cut;
  gint64 tile = product->tile, panels = (product->c.width + tile - 1) / tile, bands;
  gint64 rows = cut->rows, band = MAX (1, cut->columns / tile), least = MAX (1, cut->least_columns / tile);

  if (!product->blas && !product->transpose_a && product->c.rows >= cut->least_rows * cut->least_pieces / 2
      && (gsize)(product->depth * product->c.width) * (product->bfloat16 ? sizeof (guint16) : sizeof (PlaitScalar))
             <= PLAIT_CACHED_FACTOR_BYTES)
    band = panels;
  for (;;)
    {
      bands = (panels + band - 1) / band;
      product->row_bands = (product->c.rows + rows - 1) / rows;
      if (bands * product->row_bands >= cut->least_pieces || (band <= least && rows <= cut->least_rows))
        break;
      if (rows > cut->least_rows)
        rows /= 2;
      else
        band /= 2;
    }
  product->band_width = band * tile;
  for (guint thread = 0; thread < plait_pool_threads (product->pool) && !product->blas; thread++)
    forget_panels (product, thread);
  plait_pool_run (product->pool, bands * product->row_bands, product_piece, product);
}

/*
 * A deep product with a small result and a transposed left factor, such as the gradient of a small weight, has too few
 * rows and columns to cut, so our kernels cut it along the depth. Each piece stores its product and its column sums;
 * then the pieces are added in order.
 */
#define DEEP_RESULT 16384 /* largest (rows + 1) * width of the result of a product cut along the depth */
#define DEEP_PIECE 192    /* the least depth of a piece */
#define DEEP_PIECES 16    /* the largest number of pieces */

typedef struct
{
  const Product *product;
  PlaitScalar beta;
  PlaitScalar sums_beta;
  gint64 depth;
  gint64 pieces;
  PlaitScalar *sums; /* product of each piece, with its column sums as an additional last row: [pieces][rows + 1,
                        width] */
} Deep;

static PlaitTensor
deep_sums (const Deep *deep, gint64 piece)
{
  PlaitTensor c = deep->product->c;

  return plait_tensor (deep->sums + piece * (c.rows + 1) * c.width, c.rows + 1, c.width);
}

static void
deep_piece (gpointer data, gint64 piece, guint thread)
{
  const Deep *deep = data;
  Product part = *deep->product;
  gint64 begin = deep->depth * piece / deep->pieces, end = deep->depth * (piece + 1) / deep->pieces;
  Block block = { .rows = part.c.rows, .width = part.c.width };

  part.c = plait_tensor_rows (deep_sums (deep, piece), 0, block.rows);
  if (part.column_sums)
    part.column_sums = plait_tensor_row (deep_sums (deep, piece), block.rows);
  for (part.first = begin; part.first < end; part.first += part.depth)
    {
      part.depth = MIN (PLAIT_MAX_PANEL_DEPTH, end - part.first);
      part.add = part.add_sums = part.first > begin;
      forget_panels (&part, thread);
      multiply_piece (&part, &block, thread);
    }
}

static void
deep_sum_piece (gpointer data, gint64 row, guint thread)
{
  const Deep *deep = data;
  const Product *product = deep->product;
  gboolean last = row == product->c.rows;
  PlaitScalar *to = last ? product->column_sums : plait_tensor_row (product->c, row);

  for (gint64 piece = 0; piece < deep->pieces; piece++)
    product->kernels->accumulate (to,
                                  piece > 0 ? 1
                                  : last    ? deep->sums_beta
                                            : deep->beta,
                                  1, plait_tensor_row (deep_sums (deep, piece), row), product->c.width);
}

/* Computes a product that is cut along the depth. Returns FALSE, with nothing done, if cutting rows and columns is
 * better. */
static gboolean
run_deep (Product *product, PlaitScalar beta, PlaitScalar sums_beta, gint64 depth)
{
  PlaitPool *pool = product->pool;
  gint64 size = (product->c.rows + 1) * product->c.width;
  Deep deep = { .product = product,
                .beta = beta,
                .sums_beta = sums_beta,
                .depth = depth,
                .pieces = MIN (depth / DEEP_PIECE, DEEP_PIECES) };

  if (!product->transpose_a || product->blas || deep.pieces < 4 || size > DEEP_RESULT)
    return FALSE;
  deep.sums = plait_pool_scratch (pool, plait_pool_threads (pool), sizeof (PlaitScalar) * (gsize)(size * deep.pieces));
  product->row_bands = 1;
  product->band_width = (product->c.width + product->tile - 1) / product->tile * product->tile;
  plait_pool_run (pool, deep.pieces, deep_piece, &deep);
  plait_pool_run (pool, product->c.rows + (product->column_sums != NULL), deep_sum_piece, &deep);
  return TRUE;
}

static void
run_product (Product *product, PlaitPrecision precision, PlaitScalar beta, const PlaitEpilogue *epilogue,
             PlaitScalar sums_beta)
{
  gint64 depth = product->transpose_a ? product->a.rows : product->a.width, most = PLAIT_MAX_PANEL_DEPTH;

  g_assert (product->c.rows == (product->transpose_a ? product->a.width : product->a.rows));
  g_assert (product->c.width == (product->transpose_b ? product->b.rows : product->b.width));
  g_assert (depth == (product->transpose_b ? product->b.width : product->b.rows));
  product->kernels = plait_kernels ();
  product->bfloat16 = plait_bfloat16_kernels (precision);
  product->tile = product->bfloat16 ? PLAIT_BFLOAT16_WIDTH : product->kernels->tile_width;
  if (product->c.rows == 0 || product->c.width == 0)
    return;
  product->blas
      = !product->bfloat16
        && plait_blas_is_used (product->kernels, product->transpose_a, product->c.rows, product->c.width, depth);
  if (run_deep (product, beta, sums_beta, depth))
    return;
  if (product->blas)
    most = depth; /* the whole depth in one round, because BLAS cuts it itself */
  /* At depth 0 one round runs too: it writes the empty sum, zero. */
  for (gint64 first = 0; first == 0 || first < depth; first += most)
    {
      product->first = first;
      product->depth = MIN (most, depth - first);
      product->add = beta != 0 || first > 0;
      product->add_sums = sums_beta != 0 || first > 0;
      product->epilogue = first + product->depth == depth ? epilogue : NULL;
      run_round (product);
    }
}

void
plait_product (PlaitPool *pool, PlaitTensor c, PlaitScalar beta, PlaitTensor a, gboolean transpose_a, PlaitTensor b,
               gboolean transpose_b, PlaitPrecision precision)
{
  PLAIT_WORK_SCOPE (pool, PLAIT_WORK_PRODUCTS);
  Product product = { .pool = pool, .c = c, .a = a, .b = b, .transpose_a = transpose_a, .transpose_b = transpose_b };

  run_product (&product, precision, beta, NULL, 0);
}

/* TRUE if a product of this shape reads @packed; FALSE if BLAS computes it, which reads the unpacked weight. */
static gboolean
reads_packed (const PlaitPacked *packed, gint64 rows, gint64 width, gint64 depth)
{
  return packed
         && (plait_packed_precision (packed) != PLAIT_PRECISION_FLOAT
             || !plait_blas_is_used (plait_kernels (), FALSE, rows, width, depth));
}

void
plait_linear_forward (PlaitPool *pool, PlaitTensor y, PlaitTensor x, PlaitTensor weight, const PlaitPacked *packed,
                      PlaitPrecision precision, const PlaitScalar *bias, PlaitActivation activation,
                      const PlaitTensor *preactivation)
{
  PLAIT_WORK_SCOPE (pool, PLAIT_WORK_PRODUCTS);
  PlaitEpilogue epilogue = { .bias = bias, .activation = activation };
  Product product = { .pool = pool, .c = y, .a = x, .b = weight };

  if (preactivation)
    epilogue.preactivation = *preactivation;
  if (reads_packed (packed, y.rows, y.width, x.width))
    plait_packed_product (pool, y, 0, x, packed, &epilogue);
  else
    run_product (&product, precision, 0, &epilogue, 0);
}

void
plait_linear_backward (PlaitPool *pool, const PlaitLinearBackward *work)
{
  PLAIT_WORK_SCOPE (pool, PLAIT_WORK_PRODUCTS);
  if (work->dx.data && reads_packed (work->packed, work->dx.rows, work->dx.width, work->dz.width))
    plait_packed_product (pool, work->dx, work->dx_beta, work->dz, work->packed, NULL);
  else if (work->dx.data)
    plait_product (pool, work->dx, work->dx_beta, work->dz, FALSE, work->weight, TRUE, work->precision);
  if (work->dweight.data && work->x.width > 0)
    {
      Product product = { .pool = pool,
                          .c = work->dweight,
                          .a = work->x,
                          .b = work->dz,
                          .transpose_a = TRUE,
                          .column_sums = work->dbias.data };

      run_product (&product, work->precision, work->dweight_beta, NULL, work->dbias_beta);
    }
  else if (work->dbias.data)
    plait_rows_sum (pool, work->dbias, work->dbias_beta, work->dz);
}
