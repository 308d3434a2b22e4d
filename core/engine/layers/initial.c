/* SPDX-License-Identifier: MIT */
/* Initial values of parameters. */
#include "layers/parameter.h"
#include "layers/parameter-set.h"

#include <math.h>

/* Number of elements that one piece of work draws. */
#define PIECE ((gint64)1 << 14)

/* Standard deviation of weights that are not square, in dl4mt. */
#define DL4MT_DEVIATION 0.01

typedef struct
{
  PlaitParameter *parameter;
  PlaitRandomKey key;
  double bound;
  PlaitPool *pool;
} Draw;

static void
draw_piece (gpointer data, gint64 piece, guint thread)
{
  const Draw *draw = data;
  PlaitTensor value = draw->parameter->value;
  PlaitInitialKind kind = draw->parameter->initial.kind;
  gint64 end = MIN ((piece + 1) * PIECE, value.rows * value.width);

  for (gint64 i = piece * PIECE; i < end; i++)
    if (kind == PLAIT_INITIAL_NORMAL || kind == PLAIT_INITIAL_ORTHOGONAL)
      value.data[i] = (PlaitScalar)(draw->bound * plait_random_normal (draw->key, (guint64)i));
    else
      value.data[i] = (PlaitScalar)(draw->bound * (2 * plait_random_uniform (draw->key, (guint64)i) - 1));
}

/* Returns x . y, in eight partial sums, which the compiler can keep in vector registers. */
static double
dot (const double *x, const PlaitScalar *y, gint64 n)
{
  double sums[8] = { 0 };
  gint64 i = 0;

  for (; i + 8 <= n; i += 8)
    for (gint64 k = 0; k < 8; k++)
      sums[k] += x[i + k] * (double)y[i + k];
  for (; i < n; i++)
    sums[0] += x[i] * (double)y[i];
  return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}

/* Makes the rows of one block orthonormal by Gram-Schmidt, applied twice so that the only error left is the
 * rounding of the rows (Giraud et al. 2005, "twice is enough"). Normal draws favour no direction, so all orthogonal
 * matrices are equally likely. */
static void
orthogonalise_block (gpointer data, gint64 block, guint thread)
{
  const Draw *draw = data;
  PlaitTensor value = draw->parameter->value;
  gint64 blocks = MAX (draw->parameter->initial.blocks, 1), n = value.width / blocks;
  PlaitScalar *corner = value.data + block / blocks * n * value.width + block % blocks * n;
  double *row = plait_pool_scratch (draw->pool, thread, (gsize)n * sizeof *row);

  for (gint64 i = 0; i < n; i++)
    {
      PlaitScalar *out = corner + i * value.width;
      double norm = 0;

      for (gint64 k = 0; k < n; k++)
        row[k] = (double)out[k];
      for (gint64 j = 0; j < 2 * i; j++)
        {
          const PlaitScalar *before = corner + j % i * value.width;
          double shadow = dot (row, before, n);

          for (gint64 k = 0; k < n; k++)
            row[k] -= shadow * (double)before[k];
        }
      for (gint64 k = 0; k < n; k++)
        norm += row[k] * row[k];
      for (gint64 k = 0; k < n; k++)
        out[k] = (PlaitScalar)(row[k] / sqrt (norm));
    }
}

static void
initialise (PlaitParameter *parameter, PlaitPool *pool, guint64 seed)
{
  PlaitTensor value = parameter->value;
  gint64 n = value.rows * value.width;
  guint blocks = MAX (parameter->initial.blocks, 1);
  Draw draw = { parameter, plait_random_key (seed, "initial", parameter->name, 0), parameter->initial.size, pool };

  switch (parameter->initial.kind)
    {
    case PLAIT_INITIAL_ZEROS:
    case PLAIT_INITIAL_ONES:
      for (gint64 i = 0; i < n; i++)
        value.data[i] = parameter->initial.kind == PLAIT_INITIAL_ONES ? 1 : 0;
      return;

    case PLAIT_INITIAL_BLOCKS:
      for (gint64 i = 0; i < n; i++)
        {
          gint64 block = i % value.width / (value.width / blocks);

          value.data[i] = (PlaitScalar)(block >= parameter->initial.first && block <= parameter->initial.last
                                            ? parameter->initial.size
                                            : 0);
        }
      return;

    case PLAIT_INITIAL_GLOROT:
      draw.bound = sqrt (6.0 / ((double)value.rows + (double)value.width / blocks));
      break;

    case PLAIT_INITIAL_ORTHOGONAL:
      draw.bound = 1;
      break;

    case PLAIT_INITIAL_NORMAL:
    case PLAIT_INITIAL_UNIFORM:
      break;
    }
  plait_pool_run (pool, (n + PIECE - 1) / PIECE, draw_piece, &draw);
  if (parameter->initial.kind == PLAIT_INITIAL_ORTHOGONAL)
    plait_pool_run (pool, blocks * MAX (parameter->initial.stacked, 1), orthogonalise_block, &draw);
}

void
plait_parameters_initialise (PlaitParameters *parameters, PlaitPool *pool, guint64 seed)
{
  plait_parameters_write_values (parameters);
  for (guint i = 0; i < plait_parameters_n (parameters); i++)
    initialise (plait_parameters_get (parameters, i), pool, seed);
}

static gboolean
is_square (const PlaitParameter *parameter)
{
  return parameter->value.rows / MAX (parameter->initial.stacked, 1)
         == parameter->value.width / MAX (parameter->initial.blocks, 1);
}

void
plait_parameters_follow_dl4mt (PlaitParameters *parameters)
{
  for (guint i = 0; i < plait_parameters_n (parameters); i++)
    {
      PlaitParameter *parameter = plait_parameters_get (parameters, i);

      if (parameter->initial.kind == PLAIT_INITIAL_GLOROT && is_square (parameter))
        parameter->initial.kind = PLAIT_INITIAL_ORTHOGONAL;
      else if (parameter->initial.kind == PLAIT_INITIAL_GLOROT || parameter->initial.kind == PLAIT_INITIAL_NORMAL
               || parameter->initial.kind == PLAIT_INITIAL_UNIFORM)
        parameter->initial = PLAIT_NORMAL (DL4MT_DEVIATION);
    }
}
