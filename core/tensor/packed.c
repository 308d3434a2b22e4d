/* SPDX-License-Identifier: MIT */
#include "tensor/packed.h"

#include "base/memory.h"
#include "tensor/packed-private.h"

/* Multiply-adds that are not worth a second thread. */
#define SMALL 131072

static gsize
bytes_of (const PlaitPacked *packed)
{
  gint64 width = plait_panels (packed->kernels, packed->width) * packed->kernels->tile_width;

  return sizeof (PlaitScalar) * (gsize)(packed->depth * width);
}

/* Without the panels. */
static PlaitPacked
new_packed (PlaitTensor weight, gboolean transposed)
{
  return (PlaitPacked){ .kernels = plait_kernels (),
                        .depth = transposed ? weight.width : weight.rows,
                        .width = transposed ? weight.rows : weight.width };
}

PlaitPacked *
plait_pack (PlaitPool *pool, PlaitTensor weight, gboolean transposed)
{
  PlaitPacked *packed = g_new (PlaitPacked, 1);

  *packed = new_packed (weight, transposed);
  packed->panels = plait_pages_take (bytes_of (packed));
  if (!packed->panels)
    {
      g_free (packed);
      return NULL;
    }
  plait_packed_update (pool, packed, weight, transposed);
  return packed;
}

PlaitPacked *
plait_pack_in (PlaitArena *arena, PlaitPool *pool, PlaitTensor weight, gboolean transposed)
{
  PlaitPacked *packed = plait_arena_take (arena, sizeof *packed);

  *packed = new_packed (weight, transposed);
  packed->panels = plait_arena_take (arena, bytes_of (packed));
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
  plait_pages_give_back (packed->panels, bytes_of (packed));
  g_free (packed);
}

typedef struct
{
  PlaitPacked *packed;
  PlaitTensor weight;
  gboolean transposed;
} Packing;

static void
packing_piece (gpointer data, gint64 piece, guint thread)
{
  const Packing *packing = data;
  PlaitPacked *packed = packing->packed;
  gint64 column = piece * packed->kernels->tile_width;

  plait_panel_pack (packed->kernels, packed->panels + column * packed->depth, packing->weight, packing->transposed, 0,
                    packed->depth, column, MIN (packed->kernels->tile_width, packed->width - column));
}

void
plait_packed_update (PlaitPool *pool, PlaitPacked *packed, PlaitTensor weight, gboolean transposed)
{
  Packing packing = { packed, weight, transposed };

  g_assert (packed->depth == (transposed ? weight.width : weight.rows)
            && packed->width == (transposed ? weight.rows : weight.width));
  plait_pool_run (pool, plait_panels (packed->kernels, packed->width), packing_piece, &packing);
}

void
plait_packed_multiply (const PlaitPacked *packed, PlaitScalar *y, gint64 y_stride, gboolean add, const PlaitScalar *x,
                       gint64 x_stride, gint64 rows, gint64 column, gint64 width)
{
  const PlaitKernels *kernels = packed->kernels;
  gint64 tile = kernels->tile_width;
  gboolean far = bytes_of (packed) > PLAIT_NEAR_BYTES;

  for (gint64 j = 0; j < width; j += tile)
    {
      const PlaitScalar *panel = packed->panels + (column + j) * packed->depth, *next;
      gint64 first = 0, depth;

      do
        {
          depth = MIN (PLAIT_PANEL_DEPTH, packed->depth - first);
          next = panel + depth * tile;
          kernels->multiply (rows, MIN (tile, width - j), depth, x + first, x_stride, 1, panel, tile, y + j, y_stride,
                             add || first > 0, far ? next : NULL);
          panel = next;
          first += depth;
        }
      while (first < packed->depth);
    }
}

typedef struct
{
  const PlaitPacked *packed;
  PlaitTensor y;
  PlaitScalar beta;
  PlaitTensor x;
  PlaitFinish finish;
  gint64 row_bands;
  gint64 bands;
  gint64 band_width;
  gboolean by_rows; /* pieces of the same rows stand together, else those of the same columns */
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
                         product->beta != 0, plait_tensor_row (product->x, first), product->x.stride, rows, column,
                         width);
  plait_panel_finish (product->packed->kernels, &product->finish, product->y, first, rows, column, width);
}

void
plait_packed_product_finish (PlaitPool *pool, PlaitTensor y, PlaitScalar beta, PlaitTensor x, const PlaitPacked *packed,
                             const PlaitFinish *finish)
{
  Product product = { .packed = packed, .y = y, .beta = beta, .x = x, .finish = *finish };
  gint64 most = 48;

  g_assert (x.rows == y.rows && x.width == packed->depth && y.width == packed->width);
  if (y.rows == 0 || y.width == 0)
    return;
  product.row_bands = (y.rows + most - 1) / most;
  product.band_width = packed->kernels->tile_width;
  if (y.rows * y.width * packed->depth <= SMALL)
    {
      product.row_bands = 1;
      product.band_width = y.width;
    }
  product.bands = (y.width + product.band_width - 1) / product.band_width;
  product.by_rows = bytes_of (packed) <= PLAIT_NEAR_BYTES;
  plait_pool_run (pool, product.bands * product.row_bands, product_piece, &product);
}

void
plait_packed_product (PlaitPool *pool, PlaitTensor y, PlaitScalar beta, PlaitTensor x, const PlaitPacked *packed,
                      const PlaitScalar *bias, PlaitActivation activation)
{
  plait_packed_product_finish (pool, y, beta, x, packed, &(PlaitFinish){ .bias = bias, .activation = activation });
}
