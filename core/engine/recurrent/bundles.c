/* SPDX-License-Identifier: MIT */
#include "recurrent/bundles.h"

#include "tensor/blas.h"
#include "tensor/panel.h"
#include "tensor/element-ranges.h"

/* Minimum average of sentences per bundle. With fewer, reading the packed weights costs more than the products. */
#define MIN_SENTENCES 8

/* Returns how many bundles to make: one for each thread, or 1 if each step shall use all threads. */
static gint64
count (const PlaitPool *pool, gint64 sentences, gint64 most_rows, const PlaitRnnWeight *factors, guint n)
{
  gint64 threads = plait_pool_threads (pool), blas_rows = plait_blas_rows (plait_kernels (), FALSE);

  /* If products use BLAS, one bundle: BLAS may round a row differently if the product has fewer rows. */
  if (sentences < threads * MIN_SENTENCES || (blas_rows > 0 && most_rows >= blas_rows))
    return 1;
  for (guint i = 0; i < n; i++)
    if ((gsize)(factors[i].weight.rows * factors[i].weight.width) * sizeof (PlaitScalar) > PLAIT_CACHED_FACTOR_BYTES)
      return 1;
  return threads;
}

typedef struct
{
  PlaitPool *pool;
  gint64 n;
  PlaitBundleWork work;
  gpointer data;
} Bundles;

static void
bundle_piece (gpointer data, gint64 bundle, guint thread)
{
  const Bundles *bundles = data;

  bundles->work (bundles->data, bundle, bundles->n, plait_pool_for_thread (bundles->pool, thread));
}

void
plait_bundles_run (PlaitPool *pool, gint64 sentences, gint64 most_rows, const PlaitRnnWeight *factors, guint n,
                   PlaitBundleWork work, gpointer data)
{
  Bundles bundles = { pool, count (pool, sentences, most_rows, factors, n), work, data };

  if (bundles.n == 1)
    work (data, 0, 1, pool);
  else
    plait_pool_run (pool, bundles.n, bundle_piece, &bundles);
}

gint64
plait_bundle_row (PlaitRagged sentences, gint64 rows, gint64 bundle, gint64 bundles)
{
  if (bundle == 0 || bundle == bundles)
    return bundle == 0 ? 0 : rows;
  return sentences.offsets[plait_lower_bound (sentences.offsets, 0, sentences.n, rows * bundle / bundles)];
}
