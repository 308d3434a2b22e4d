/* SPDX-License-Identifier: MIT */
#include "tensor/groups.h"

#include "tensor/kernels/kernels.h"
#include "tensor/panel.h"

/* Fewer sentences would leave a factor's panels too little used each time they are read. */
#define LEAST_SENTENCES 8

/* How many groups. */
static gint64
count (const PlaitPool *pool, gint64 sentences, gint64 most_rows, const PlaitStepFactor *factors, guint n)
{
  gint64 threads = plait_pool_threads (pool), blas_rows = plait_kernels ()->blas_rows[0];

  /* BLAS may give a row other bits in another company. */
  if (sentences < threads * LEAST_SENTENCES || (blas_rows > 0 && most_rows >= blas_rows))
    return 1;
  for (guint i = 0; i < n; i++)
    if ((gsize)(factors[i].weight.rows * factors[i].weight.width) * sizeof (PlaitScalar) > PLAIT_NEAR_BYTES)
      return 1;
  return threads;
}

typedef struct
{
  PlaitPool *pool;
  gint64 n;
  PlaitGroupWork work;
  gpointer data;
} Groups;

static void
group_piece (gpointer data, gint64 group, guint thread)
{
  const Groups *groups = data;

  groups->work (groups->data, group, groups->n, plait_pool_alone (groups->pool, thread));
}

void
plait_groups_run (PlaitPool *pool, gint64 sentences, gint64 most_rows, const PlaitStepFactor *factors, guint n,
                  PlaitGroupWork work, gpointer data)
{
  Groups groups = { pool, count (pool, sentences, most_rows, factors, n), work, data };

  if (groups.n == 1)
    work (data, 0, 1, pool);
  else
    plait_pool_run (pool, groups.n, group_piece, &groups);
}

gint64
plait_group_row (PlaitRagged sentences, gint64 rows, gint64 group, gint64 groups)
{
  if (group == 0 || group == groups)
    return group == 0 ? 0 : rows;
  return sentences.offsets[plait_group_place (sentences.offsets, 0, sentences.n, rows * group / groups)];
}

gint64
plait_group_place (const gint64 *numbers, gint64 first, gint64 end, gint64 least)
{
  while (first < end)
    {
      gint64 middle = first + (end - first) / 2;

      if (numbers[middle] < least)
        first = middle + 1;
      else
        end = middle;
    }
  return first;
}
