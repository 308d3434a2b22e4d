/* SPDX-License-Identifier: MIT */
#include "tensor/packed.h"

#include "files/memory.h"
#include "tensor/packed-private.h"

/* Products with at most this many multiply-adds run in one thread. */
#define MIN_PARALLEL_WORK 131072
/* Number of scalars, about, in a piece of quantising or rounding. */
#define PIECE_SCALARS 16384

gboolean
plait_precision_runs_here (PlaitPrecision precision)
{
  switch (precision)
    {
    case PLAIT_PRECISION_FLOAT:
      return TRUE;
    case PLAIT_PRECISION_INT8:
      return plait_int8_kernels () != NULL;
    default:
      return plait_bfloat16_kernels (precision) != NULL;
    }
}

PlaitPrecision
plait_packed_precision (const PlaitPacked *packed)
{
  return packed->precision;
}

/* Returns the number of groups of PLAIT_INT8_GROUP bytes along the depth. */
static gint64
groups_of (const PlaitPacked *packed)
{
  return (packed->depth + PLAIT_INT8_GROUP - 1) / PLAIT_INT8_GROUP;
}

static gint64
tile_width (const PlaitPacked *packed)
{
  return packed->int8 ? PLAIT_INT8_WIDTH : packed->bfloat16 ? PLAIT_BFLOAT16_WIDTH : packed->kernels->packed_width;
}

/* Returns the maximum columns that one call of a kernel multiplies, a multiple of a panel's width. */
static gint64
band_width (const PlaitPacked *packed)
{
  return MAX (tile_width (packed), packed->kernels->tile_width);
}

static gint64
n_panels (const PlaitPacked *packed)
{
  return (packed->width + tile_width (packed) - 1) / tile_width (packed);
}

static gsize
panel_bytes (const PlaitPacked *packed)
{
  if (packed->int8)
    return (gsize)(groups_of (packed) * PLAIT_INT8_GROUP * PLAIT_INT8_WIDTH);
  if (packed->bfloat16)
    return plait_bfloat16_panel_bytes (PLAIT_BFLOAT16_WIDTH, packed->depth);
  return sizeof (PlaitScalar) * (gsize)(packed->depth * packed->kernels->packed_width);
}

/* Returns the size in bytes of the panels and of the scales after them. */
static gsize
bytes_of (const PlaitPacked *packed)
{
  return (panel_bytes (packed) + (packed->int8 ? sizeof (PlaitScalar) * PLAIT_INT8_WIDTH : 0))
         * (gsize)n_panels (packed);
}

static gpointer
panel_at (const PlaitPacked *packed, gint64 column)
{
  return (char *)packed->panels + panel_bytes (packed) * (gsize)(column / tile_width (packed));
}

/* Returns a packed weight whose panels are not yet allocated. */
static PlaitPacked
new_packed (PlaitTensor weight, gboolean transposed, PlaitPrecision precision)
{
  PlaitPacked packed = { .kernels = plait_kernels (),
                         .precision = precision,
                         .bfloat16 = plait_bfloat16_kernels (precision),
                         .depth = transposed ? weight.width : weight.rows,
                         .width = transposed ? weight.rows : weight.width };

  if (precision == PLAIT_PRECISION_INT8 && packed.depth <= PLAIT_INT8_MAX_DEPTH)
    packed.int8 = plait_int8_kernels ();
  if (!packed.int8 && !packed.bfloat16)
    packed.precision = PLAIT_PRECISION_FLOAT;
  return packed;
}

PlaitPacked *
plait_pack (PlaitPool *pool, PlaitTensor weight, gboolean transposed, PlaitPrecision precision)
{
  PlaitPacked *packed = g_new (PlaitPacked, 1);

  *packed = new_packed (weight, transposed, precision);
  packed->panels = plait_pages_allocate (bytes_of (packed));
  if (!packed->panels)
    {
      g_free (packed);
      return NULL;
    }
  if (packed->int8)
    packed->scales = (gpointer)((char *)packed->panels + panel_bytes (packed) * (gsize)n_panels (packed));
  plait_packed_update (pool, packed, weight, transposed);
  return packed;
}

PlaitPacked *
plait_pack_in (PlaitArena *arena, PlaitPool *pool, PlaitTensor weight, gboolean transposed, PlaitPrecision precision)
{
  PlaitPacked *packed = plait_arena_allocate (arena, sizeof *packed);

  *packed = new_packed (weight, transposed, precision);
  packed->panels = plait_arena_allocate (arena, bytes_of (packed));
  plait_packed_update (pool, packed, weight, transposed);
  return packed;
}

void
plait_packed_release (PlaitArena *arena, PlaitPacked *packed)
{
  if (!packed)
    return;
  plait_arena_release (arena, packed->panels, bytes_of (packed));
  plait_arena_release (arena, packed, sizeof *packed);
}

void
plait_packed_free (PlaitPacked *packed)
{
  if (!packed)
    return;
  plait_pages_free (packed->panels, bytes_of (packed));
  g_free (packed);
}

typedef struct
{
  PlaitPool *pool;
  PlaitPacked *packed;
  PlaitTensor weight;
  gboolean transposed;
} Packing;

/* Quantises one column. */
static void
pack_bytes (const Packing *packing, gint64 column, guint thread)
{
  const PlaitPacked *packed = packing->packed;
  guint8 *to = (guint8 *)panel_at (packed, column) + column % PLAIT_INT8_WIDTH * PLAIT_INT8_GROUP;
  gint64 padded = groups_of (packed) * PLAIT_INT8_GROUP;
  PlaitScalar *numbers = plait_pool_scratch (packing->pool, thread, (gsize)padded * (sizeof (PlaitScalar) + 1));
  gint8 *bytes = (gint8 *)(numbers + padded);

  for (gint64 k = 0; k < packed->depth; k++)
    numbers[k] = packing->transposed ? plait_tensor_row (packing->weight, column)[k]
                                     : plait_tensor_row (packing->weight, k)[column];
  packed->int8->quantise (bytes, padded, &packed->scales[column], numbers, packed->depth);
  for (gint64 k = 0; k < padded; k++)
    to[k / PLAIT_INT8_GROUP * PLAIT_INT8_WIDTH * PLAIT_INT8_GROUP + k % PLAIT_INT8_GROUP]
        = (guint8)(bytes[k] + PLAIT_INT8_ZERO_POINT);
}

static void
packing_piece (gpointer data, gint64 piece, guint thread)
{
  const Packing *packing = data;
  PlaitPacked *packed = packing->packed;
  gint64 column = piece * tile_width (packed), end = MIN (column + tile_width (packed), packed->width);

  if (packed->bfloat16)
    {
      plait_bfloat16_right (packed->bfloat16, panel_at (packed, column), packing->weight, packing->transposed, 0,
                            packed->depth, column, end - column);
      return;
    }
  if (!packed->int8)
    {
      plait_panel_pack (packed->kernels, tile_width (packed), panel_at (packed, column), packing->weight,
                        packing->transposed, 0, packed->depth, column, end - column);
      return;
    }
  for (; column < end; column++)
    pack_bytes (packing, column, thread);
}

void
plait_packed_update (PlaitPool *pool, PlaitPacked *packed, PlaitTensor weight, gboolean transposed)
{
  PLAIT_WORK_SCOPE (pool, PLAIT_WORK_PRODUCTS);
  Packing packing = { pool, packed, weight, transposed };

  g_assert (packed->depth == (transposed ? weight.width : weight.rows)
            && packed->width == (transposed ? weight.rows : weight.width));
  plait_pool_run (pool, n_panels (packed), packing_piece, &packing);
}

typedef struct
{
  const PlaitPacked *packed;
  PlaitPackedRows rows;
  gint64 pieces;
} Rounding;

static void
rounding_piece (gpointer data, gint64 piece, guint thread)
{
  const Rounding *rounding = data;
  const PlaitPacked *packed = rounding->packed;
  const PlaitPackedRows *rows = &rounding->rows;
  PlaitTensor x = rows->x;
  gint64 first = x.rows * piece / rounding->pieces, end = x.rows * (piece + 1) / rounding->pieces;

  if (packed->bfloat16)
    plait_bfloat16_left (packed->bfloat16, rows->bfloat16_pairs + first * plait_bfloat16_pairs (x.width), x, FALSE,
                         first, end - first, 0, x.width);
  else
    for (gint64 i = first; i < end; i++)
      rows->sums[i] = packed->int8->quantise (rows->bytes + i * rows->stride, rows->stride, &rows->scales[i],
                                              plait_tensor_row (x, i), x.width);
}

PlaitPackedRows
plait_packed_rows (PlaitPool *pool, const PlaitPacked *packed, PlaitTensor x)
{
  PLAIT_WORK_SCOPE (pool, PLAIT_WORK_PRODUCTS);
  gint64 stride = groups_of (packed) * PLAIT_INT8_GROUP;
  Rounding rounding
      = { packed, { .x = x, .stride = stride }, CLAMP (x.rows * packed->depth / PIECE_SCALARS, 1, x.rows) };
  PlaitPackedRows *rows = &rounding.rows;

  if (packed->bfloat16)
    rows->bfloat16_pairs
        = plait_pool_scratch (pool, plait_pool_threads (pool), plait_bfloat16_left_bytes (x.rows, packed->depth));
  else if (packed->int8)
    {
      rows->scales = plait_pool_scratch (pool, plait_pool_threads (pool),
                                         (gsize)x.rows * (sizeof (PlaitScalar) + sizeof (gint32) + (gsize)stride));
      rows->sums = (gint32 *)(rows->scales + x.rows);
      rows->bytes = (gint8 *)(rows->sums + x.rows);
    }
  if (packed->bfloat16 || packed->int8)
    plait_pool_run (pool, rounding.pieces, rounding_piece, &rounding);
  return *rows;
}

/* plait_packed_multiply for one band of columns in bytes. */
static void
multiply_bytes (const PlaitPacked *packed, PlaitScalar *y, gint64 y_stride, gboolean add, const PlaitPackedRows *rows,
                gint64 first, gint64 n, gint64 column, gint64 width)
{
  packed->int8->multiply (&(PlaitInt8Panel){
      .rows = n,
      .groups = groups_of (packed),
      .x = rows->bytes + first * rows->stride,
      .x_stride = rows->stride,
      .row_scales = rows->scales + first,
      .row_sums = rows->sums + first,
      .panel = panel_at (packed, column),
      .scales = packed->scales + column,
      .y = y,
      .y_stride = y_stride,
      .width = width,
      .add = add,
  });
}

/* plait_packed_multiply for one band of columns in bfloat16. Cuts the depth as unpacked products do, so that the bits
 * are equal. */
static void
multiply_bfloat16 (const PlaitPacked *packed, PlaitScalar *y, gint64 y_stride, gboolean add,
                   const PlaitPackedRows *rows, gint64 first, gint64 n, gint64 column, gint64 width)
{
  gint64 bfloat16_pairs = plait_bfloat16_pairs (packed->depth), done = 0;

  do
    {
      PlaitBfloat16Panel panel
          = { .rows = n,
              .bfloat16_pairs = MIN (PLAIT_MAX_PANEL_DEPTH / 2, bfloat16_pairs - done),
              .x = rows->bfloat16_pairs + first * bfloat16_pairs + done,
              .row = bfloat16_pairs,
              .step = 1,
              .panel = (PlaitBfloat16Pair *)panel_at (packed, column) + done * PLAIT_BFLOAT16_WIDTH,
              .y = y,
              .y_stride = y_stride,
              .width = width,
              .add = add || done > 0 };

      packed->bfloat16->multiply (&panel);
      done += panel.bfloat16_pairs;
    }
  while (done < bfloat16_pairs);
}

static void
multiply_numbers (const PlaitPacked *packed, PlaitScalar *y, gint64 y_stride, gboolean add, const PlaitPackedRows *rows,
                  gint64 first, gint64 n, gint64 column, gint64 width)
{
  gint64 tile = tile_width (packed), distance = packed->depth * tile, done = 0, depth;
  const PlaitScalar *panels = panel_at (packed, column), *x = plait_tensor_row (rows->x, first), *next;
  const PlaitScalar *end = panels + (width + tile - 1) / tile * distance;

  do
    {
      depth = MIN (PLAIT_MAX_PANEL_DEPTH, packed->depth - done);
      next = done + depth < packed->depth ? panels + depth * tile : end;
      packed->kernels->multiply_packed (n, width, depth, x + done, rows->x.stride, panels, distance, y, y_stride,
                                        add || done > 0, next);
      panels = next;
      done += depth;
    }
  while (done < packed->depth);
}

void
plait_packed_multiply (const PlaitPacked *packed, PlaitScalar *y, gint64 y_stride, gboolean add,
                       const PlaitPackedRows *rows, gint64 first, gint64 n, gint64 column, gint64 width)
{
  gint64 band = band_width (packed);

  for (gint64 j = 0; j < width; j += band)
    (packed->int8 ? multiply_bytes
     : packed->bfloat16
         ? multiply_bfloat16
         : multiply_numbers) (packed, y + j, y_stride, add, rows, first, n, column + j, MIN (band, width - j));
}

typedef struct
{
  const PlaitPacked *packed;
  PlaitTensor y;
  PlaitScalar beta;
  PlaitPackedRows rows;
  const PlaitEpilogue *epilogue; /* applied to the result, or NULL */
  gint64 row_bands;
  gint64 bands;
  gint64 band_width;
  gboolean by_rows; /* number the pieces row by row instead of column by column */
} Product;

static void
product_piece (gpointer data, gint64 piece, guint thread)
{
  const Product *product = data;
  gint64 part = product->by_rows ? piece / product->bands : piece % product->row_bands;
  gint64 column = (product->by_rows ? piece % product->bands : piece / product->row_bands) * product->band_width;
  gint64 first = product->y.rows * part / product->row_bands;
  gint64 rows = product->y.rows * (part + 1) / product->row_bands - first;
  gint64 width = MIN (product->band_width, product->y.width - column);

  plait_packed_multiply (product->packed, plait_tensor_row (product->y, first) + column, product->y.stride,
                         product->beta != 0, &product->rows, first, rows, column, width);
  if (product->epilogue)
    plait_panel_epilogue (product->packed->kernels, product->epilogue, product->y, first, rows, column, width);
}

void
plait_packed_product (PlaitPool *pool, PlaitTensor y, PlaitScalar beta, PlaitTensor x, const PlaitPacked *packed,
                      const PlaitEpilogue *epilogue)
{
  PLAIT_WORK_SCOPE (pool, PLAIT_WORK_PRODUCTS);
  Product product = { .packed = packed, .y = y, .beta = beta, .epilogue = epilogue };
  gint64 most = 48;

  g_assert (x.rows == y.rows && x.width == packed->depth && y.width == packed->width);
  if (y.rows == 0 || y.width == 0)
    return;
  product.rows = plait_packed_rows (pool, packed, x);
  product.row_bands = (y.rows + most - 1) / most;
  product.band_width = band_width (packed);
  if (y.rows * y.width * packed->depth <= MIN_PARALLEL_WORK)
    {
      product.row_bands = 1;
      product.band_width = y.width;
    }
  product.bands = (y.width + product.band_width - 1) / product.band_width;
  product.by_rows = bytes_of (packed) <= PLAIT_CACHED_FACTOR_BYTES;
  plait_pool_run (pool, product.bands * product.row_bands, product_piece, &product);
}
