/* SPDX-License-Identifier: MIT */
#include "tensor/blas.h"

#include <cblas.h>
#include <dlfcn.h>
#include <string.h>

#include "tensor/kernels/kernels.h"

/* Names of OpenBLAS that a BLAS need not have. */
typedef void (*SetThreads) (int threads);
typedef char *(*GetText) (void);

static gpointer
prepare_once (gpointer data)
{
  SetThreads set_threads = (SetThreads)dlsym (RTLD_DEFAULT, "openblas_set_num_threads");

  if (set_threads != NULL)
    set_threads (1);
  return NULL;
}

void
plait_blas_prepare (void)
{
  static GOnce once = G_ONCE_INIT;

  g_once (&once, prepare_once, NULL);
}

static gpointer
describe_once (gpointer data)
{
  GetText configuration = (GetText)dlsym (RTLD_DEFAULT, "openblas_get_config");
  GetText core = (GetText)dlsym (RTLD_DEFAULT, "openblas_get_corename");
  g_auto (GStrv) words = g_strsplit (configuration != NULL ? configuration () : "unknown BLAS", " ", -1);
  gboolean named = words[0] != NULL && words[1] != NULL;

  return g_strdup_printf ("%s%s%s core %s, kernels %s", words[0] != NULL ? words[0] : "BLAS", named ? " " : "",
                          named ? words[1] : "", core != NULL ? core () : "unknown", plait_kernels ()->level);
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
  PlaitScalar *a = rate->matrices + piece * 3 * SIDE * SIDE, *b = a + SIDE * SIDE, *c = b + SIDE * SIDE;

  for (int i = 0; i < rate->rounds; i++)
#ifdef PLAIT_SCALAR_DOUBLE
    cblas_dgemm (CblasRowMajor, CblasNoTrans, CblasNoTrans, SIDE, SIDE, SIDE, 1, a, SIDE, b, SIDE, 0, c, SIDE);
#else
    cblas_sgemm (CblasRowMajor, CblasNoTrans, CblasNoTrans, SIDE, SIDE, SIDE, 1, a, SIDE, b, SIDE, 0, c, SIDE);
#endif
}

double
plait_blas_rate (PlaitPool *pool, double seconds)
{
  guint threads = plait_pool_threads (pool);
  gint64 until = g_get_monotonic_time () + (gint64)(seconds * G_USEC_PER_SEC);
  Rate rate = { .rounds = 2 };
  double best = 0;
  gsize n = (gsize)threads * 3 * SIDE * SIDE;

  plait_blas_prepare ();
  rate.matrices = g_new (PlaitScalar, n);
  for (gsize i = 0; i < n; i++)
    rate.matrices[i] = (PlaitScalar)(i % 17) / 17;
  do
    {
      gint64 start = g_get_monotonic_time (), end;

      plait_pool_run (pool, threads, rate_piece, &rate);
      end = g_get_monotonic_time ();
      best = MAX (best, 2. * SIDE * SIDE * SIDE * rate.rounds * threads / (double)MAX (end - start, 1) * 1e6);
    }
  while (g_get_monotonic_time () < until);
  g_free (rate.matrices);
  return best;
}
