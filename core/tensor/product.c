/* SPDX-License-Identifier: MIT */
#include "tensor/product.h"

#include "tensor/packed-private.h"
#include "tensor/panel.h"
#include "tensor/rows.h"
#include "tensor/terms.h"

/* A piece is some panels of columns and some rows. It packs its columns of the right factor, unless its thread did so
 * for the piece before; pieces of the same columns stand together. Chosen by measuring. */
#define PIECE_COLUMNS 256
#define PIECE_ROWS 96
#define LEAST_ROWS 24
#define LEAST_PIECES 16
/* Up to so many rows the right factor is read where it stands, if its rows are the panels' rows: packing would cost
 * more than it gives. */
#define FEW_ROWS 128

typedef struct
{
  const PlaitKernels *kernels;
  PlaitPool *pool;
  PlaitTensor c;
  PlaitTensor a;
  PlaitTensor b;
  gboolean transpose_a;
  gboolean transpose_b;
  const PlaitFinish *finish; /* NULL but in the last round */
  PlaitScalar *column_sums;  /* NULL, or where to add b's column sums */
  gint64 first;              /* of the depth, in this round */
  gint64 depth;
  gboolean add;
  gboolean add_sums;
  gint64 row_groups;
  gint64 group_width; /* columns of a piece */
} Product;

/* The column group whose panels stand in a thread's scratch, at the start of it. */
typedef struct
{
  gint64 group;
} Kept;

#define KEPT_BYTES 64

static gsize
scratch_bytes (const Product *product)
{
  return KEPT_BYTES + sizeof (PlaitScalar) * (gsize)(product->depth * product->group_width);
}

static void
product_piece (gpointer data, gint64 piece, guint thread)
{
  const PlaitScalar one = PLAIT_TERM (linear_bias, 1);
  const Product *product = data;
  const PlaitKernels *kernels = product->kernels;
  gint64 tile = kernels->tile_width, depth = product->depth, row = product->a.stride, step = 1;
  gint64 group = piece / product->row_groups, part = piece % product->row_groups;
  gint64 first_row = product->c.rows * part / product->row_groups;
  gint64 rows = product->c.rows * (part + 1) / product->row_groups - first_row;
  gint64 column = group * product->group_width, width = MIN (product->group_width, product->c.width - column);
  gint64 unpacked = product->transpose_b || product->c.rows > FEW_ROWS ? 0 : width - width % tile;
  const PlaitScalar *a = product->a.data;
  Kept *kept = plait_pool_scratch (product->pool, thread, scratch_bytes (product));
  PlaitScalar *panels = (PlaitScalar *)((char *)kept + KEPT_BYTES);

  if (kept->group != group)
    {
      if (unpacked < width)
        plait_panel_pack (kernels, panels + unpacked * depth, product->b, product->transpose_b, product->first, depth,
                          column + unpacked, width - unpacked);
      kept->group = group;
    }
  if (product->transpose_a)
    {
      row = 1;
      step = product->a.stride;
      a += product->first * step + first_row;
    }
  else
    a += first_row * row + product->first;
  for (gint64 j = 0; j < width; j += tile)
    {
      gboolean packed = j >= unpacked;
      const PlaitScalar *panel
          = packed ? panels + j * depth : plait_tensor_row (product->b, product->first) + column + j;
      gint64 wide = MIN (tile, width - j), stride = packed ? tile : product->b.stride;

      kernels->multiply (rows, wide, depth, a, row, step, panel, stride,
                         plait_tensor_row (product->c, first_row) + column + j, product->c.stride, product->add);
      if (product->column_sums != NULL && part == 0)
        kernels->multiply (1, wide, depth, &one, 0, 0, panel, stride, product->column_sums + column + j, 0,
                           product->add_sums);
    }
  if (product->finish != NULL)
    plait_panel_finish (kernels, product->finish, product->c, first_row, rows, column, width);
}

static void
run_round (Product *product)
{
  gint64 panels = plait_panels (product->kernels, product->c.width), rows = PIECE_ROWS, groups;
  gint64 group = MAX (1, PIECE_COLUMNS / product->kernels->tile_width);

  for (;;)
    {
      groups = (panels + group - 1) / group;
      product->row_groups = (product->c.rows + rows - 1) / rows;
      if (groups * product->row_groups >= LEAST_PIECES || (group == 1 && rows == LEAST_ROWS))
        break;
      if (rows > LEAST_ROWS)
        rows /= 2;
      else
        group /= 2;
    }
  product->group_width = group * product->kernels->tile_width;
  for (guint thread = 0; thread < plait_pool_threads (product->pool); thread++)
    {
      Kept *kept = plait_pool_scratch (product->pool, thread, scratch_bytes (product));

      kept->group = -1;
    }
  plait_pool_run (product->pool, groups * product->row_groups, product_piece, product);
}

static void
run_product (Product *product, PlaitScalar beta, const PlaitFinish *finish, PlaitScalar sums_beta)
{
  gint64 depth = product->transpose_a ? product->a.rows : product->a.width;

  g_assert (product->c.rows == (product->transpose_a ? product->a.width : product->a.rows));
  g_assert (product->c.width == (product->transpose_b ? product->b.rows : product->b.width));
  g_assert (depth == (product->transpose_b ? product->b.width : product->b.rows));
  product->kernels = plait_kernels ();
  if (product->c.rows == 0 || product->c.width == 0)
    return;
  /* A first round even at depth 0: the empty sum is zero. */
  for (gint64 first = 0; first == 0 || first < depth; first += PLAIT_PANEL_DEPTH)
    {
      product->first = first;
      product->depth = MIN (PLAIT_PANEL_DEPTH, depth - first);
      product->add = beta != 0 || first > 0;
      product->add_sums = sums_beta != 0 || first > 0;
      product->finish = first + product->depth == depth ? finish : NULL;
      run_round (product);
    }
}

void
plait_product (PlaitPool *pool, PlaitTensor c, PlaitScalar beta, PlaitTensor a, gboolean transpose_a, PlaitTensor b,
               gboolean transpose_b)
{
  Product product = { .pool = pool, .c = c, .a = a, .b = b, .transpose_a = transpose_a, .transpose_b = transpose_b };

  run_product (&product, beta, NULL, 0);
}

void
plait_linear_forward (PlaitPool *pool, PlaitTensor y, PlaitTensor x, PlaitTensor weight, const PlaitPacked *packed,
                      const PlaitScalar *bias, PlaitActivation activation, const PlaitTensor *before)
{
  PlaitFinish finish = { .bias = bias, .activation = activation };
  Product product = { .pool = pool, .c = y, .a = x, .b = weight };

  if (before != NULL)
    finish.before = *before;
  if (packed != NULL)
    plait_packed_product_finish (pool, y, 0, x, packed, &finish);
  else
    run_product (&product, 0, &finish, 0);
}

void
plait_linear_backward (PlaitPool *pool, const PlaitLinearBackward *work)
{
  if (work->dx.data != NULL)
    plait_product (pool, work->dx, work->dx_beta, work->dz, FALSE, work->weight, TRUE);
  if (work->dweight.data != NULL && work->x.width > 0)
    {
      Product product = { .pool = pool,
                          .c = work->dweight,
                          .a = work->x,
                          .b = work->dz,
                          .transpose_a = TRUE,
                          .column_sums = work->dbias.data };

      run_product (&product, work->dweight_beta, NULL, work->dbias_beta);
    }
  else if (work->dbias.data != NULL)
    plait_rows_sum (pool, work->dbias, work->dbias_beta, work->dz);
}
