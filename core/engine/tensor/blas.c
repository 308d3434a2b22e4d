/* SPDX-License-Identifier: MIT */
#include "tensor/blas.h"

#include "tensor/blas-library.h"

void
plait_blas_prepare (void)
{
  static __thread gboolean prepared;

  if (prepared)
    return;
  plait_blas_library_prepare ();
  prepared = TRUE;
}

gboolean
plait_blas_reserve (PlaitPool *pool, GError **error)
{
  const PlaitKernels *kernels = plait_kernels ();
  gboolean served = kernels->blas_rows[0] > 0 || kernels->blas_rows[1] > 0;

  return !served || plait_blas_library_reserve (plait_pool_threads (pool), error);
}

/* Below this a call costs more than it computes. */
#define LEAST_SIDE 8

gboolean
plait_blas_serves (const PlaitKernels *kernels, gboolean transpose_a, gint64 rows, gint64 width, gint64 depth)
{
  gint64 least = kernels->blas_rows[transpose_a ? 1 : 0];

  return least > 0 && rows >= least && width >= LEAST_SIDE && depth >= LEAST_SIDE;
}

#ifdef PLAIT_SCALAR_DOUBLE
#define GEMM cblas_dgemm
#else
#define GEMM cblas_sgemm
#endif

#ifdef __x86_64__
/* Some of OpenBLAS's kernels (Sandybridge) leave the upper halves of the vectors in use: SSE code then takes 3.5 times
 * its time. */
__attribute__ ((target ("avx"))) static void
clear_upper_halves (void)
{
  __builtin_ia32_vzeroupper ();
}
#endif

void
plait_blas_multiply (PlaitTensor c, gboolean add, PlaitScalar factor, PlaitTensor a, gboolean transpose_a,
                     PlaitTensor b, gboolean transpose_b)
{
  gint64 depth = transpose_a ? a.rows : a.width;

  g_assert (MAX (MAX (c.rows, depth), MAX (c.stride, MAX (a.stride, b.stride))) <= G_MAXINT);
  plait_blas_prepare ();
  GEMM (CblasRowMajor, transpose_a ? CblasTrans : CblasNoTrans, transpose_b ? CblasTrans : CblasNoTrans, (int)c.rows,
        (int)c.width, (int)depth, factor, a.data, (int)a.stride, b.data, (int)b.stride, add ? 1 : 0, c.data,
        (int)c.stride);
#ifdef __x86_64__
  if (__builtin_cpu_supports ("avx"))
    clear_upper_halves ();
#endif
}

static gpointer
describe_once (gpointer data)
{
  g_autofree char *library = plait_blas_library_describe ();
  const PlaitKernels *kernels = plait_kernels ();
  const char *route = kernels->blas_rows[0] > 0   ? "of many rows by BLAS"
                      : kernels->blas_rows[1] > 0 ? "by the kernels, weight gradients by BLAS"
                                                  : "by the kernels";

  return g_strdup_printf ("%s, kernels %s, products %s", library, kernels->variant, route);
}

const char *
plait_blas_description (void)
{
  static GOnce once = G_ONCE_INIT;

  return g_once (&once, describe_once, NULL);
}

/* Square matrices whose sides OpenBLAS likes. */
#define SIDE 768

typedef struct
{
  PlaitScalar *matrices; /* three for each piece */
  int rounds;
} Rate;

static void
rate_piece (gpointer data, gint64 piece, guint thread)
{
  const Rate *rate = data;
  PlaitTensor all = plait_tensor (rate->matrices + piece * 3 * SIDE * SIDE, 3 * SIDE, SIDE);
  PlaitTensor a = plait_tensor_rows (all, 0, SIDE), b = plait_tensor_rows (all, SIDE, SIDE);
  PlaitTensor c = plait_tensor_rows (all, 2 * SIDE, SIDE);

  for (int i = 0; i < rate->rounds; i++)
    plait_blas_multiply (c, FALSE, 1, a, FALSE, b, FALSE);
}

gboolean
plait_blas_rate (PlaitPool *pool, double seconds, double *rate, GError **error)
{
  guint threads = plait_pool_threads (pool);
  gint64 until = g_get_monotonic_time () + (gint64)(seconds * G_USEC_PER_SEC);
  Rate work = { .rounds = 2 };
  gsize n = (gsize)threads * 3 * SIDE * SIDE;

  *rate = 0;
  if (!plait_blas_library_reserve (threads, error))
    return FALSE;

  work.matrices = g_new (PlaitScalar, n);
  for (gsize i = 0; i < n; i++)
    work.matrices[i] = (PlaitScalar)(i % 17) / 17;
  do
    {
      gint64 start = g_get_monotonic_time (), end;

      plait_pool_run (pool, threads, rate_piece, &work);
      end = g_get_monotonic_time ();
      *rate = MAX (*rate, 2. * SIDE * SIDE * SIDE * work.rounds * threads / (double)MAX (end - start, 1) * 1e6);
    }
  while (g_get_monotonic_time () < until);
  g_free (work.matrices);
  return TRUE;
}
