/* SPDX-License-Identifier: MIT */
#include "tensor/blas.h"

#include "files/memory.h"
#include "process/module.h"
#include "tensor/blas-library.h"

/* BLAS libraries in the order in which they are tried, unless PLAIT_BLAS names one. */
static const PlaitModuleWanted libraries[] = {
  { "blas", "openblas", "multiplying matrices by OpenBLAS", "libopenblas-dev", sizeof (PlaitBlasTable) },
  { "blas", "blis", "multiplying matrices by BLIS", "libblis-dev", sizeof (PlaitBlasTable) },
  { "blas", "mkl", "multiplying matrices by MKL", "libmkl-dev", sizeof (PlaitBlasTable) },
};

/* Maximum number of bytes of address space that loading a library takes, with the buffer of the first thread. */
#define LOADING ((gsize)300 << 20)

/* Opens the library @name; NULL: the first that can be loaded. */
static const PlaitBlasTable *
open_library (const char *name, GError **error)
{
  const PlaitBlasTable *table = NULL;
  GError *first = NULL;

  if (!plait_address_space_is_available (LOADING))
    return plait_fail_null (
        error, PLAIT_ERROR_MEMORY,
        "there is not enough memory to open BLAS, which takes up to %zu MiB; raise the memory limit (ulimit -v)",
        LOADING >> 20);
  for (guint i = 0; i < G_N_ELEMENTS (libraries) && !table; i++)
    if (!name || g_str_equal (name, libraries[i].name))
      table = plait_module_open (&libraries[i], first ? NULL : &first);
  if (!table && !first)
    return plait_fail_null (error, PLAIT_ERROR_INPUT,
                            "the environment variable PLAIT_BLAS is \"%s\"; set it to openblas, blis or mkl", name);
  if (table)
    g_clear_error (&first);
  else
    g_propagate_error (error, first);
  return table;
}

/* Environment variables that limit the threads of a BLAS library: the first for OpenBLAS, the second for BLIS, MKL and
 * OpenBLAS built with OpenMP. */
static const char *const thread_variables[] = { "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS" };

/* Opens the library with one thread, then restores the environment. Otherwise OpenBLAS starts a thread with 128 MiB for
 * each processor while it is loaded; without that memory it retries forever or ends the process. plait calls the
 * library from threads of its own. */
static const PlaitBlasTable *
open_with_one_thread (const char *name, GError **error)
{
  char *before[G_N_ELEMENTS (thread_variables)];
  const PlaitBlasTable *table;

  for (guint i = 0; i < G_N_ELEMENTS (before); i++)
    {
      before[i] = g_strdup (g_getenv (thread_variables[i]));
      g_setenv (thread_variables[i], "1", TRUE);
    }
  table = open_library (name, error);
  for (guint i = 0; i < G_N_ELEMENTS (before); i++)
    {
      if (before[i])
        g_setenv (thread_variables[i], before[i], TRUE);
      else
        g_unsetenv (thread_variables[i]);
      g_free (before[i]);
    }
  return table;
}

/* Returns the name of the library in PLAIT_BLAS, or NULL. */
static const char *
wanted_library (void)
{
  const char *name = g_getenv ("PLAIT_BLAS");

  return name && *name != '\0' ? name : NULL;
}

/* Returns the library, or NULL with the reason why it cannot be loaded. The first call opens it. (transfer none) */
static const PlaitBlasTable *
get_library (GError **error)
{
  static GMutex lock;
  static const PlaitBlasTable *opened;
  static GError *refusal;
  const PlaitBlasTable *table = g_atomic_pointer_get (&opened);

  if (G_LIKELY (table))
    return table;
  g_mutex_lock (&lock);
  if (!opened && !refusal)
    g_atomic_pointer_set (&opened, open_with_one_thread (wanted_library (), &refusal));
  table = opened;
  if (!table && error)
    *error = g_error_copy (refusal);
  g_mutex_unlock (&lock);
  return table;
}

gint64
plait_blas_rows (const PlaitKernels *kernels, gboolean transpose_a)
{
  gint64 rows = kernels->blas_rows[transpose_a ? 1 : 0];

  return rows > 0 && get_library (NULL) ? rows : 0;
}

static const PlaitBlasTable *
prepared_library (void)
{
  static __thread gboolean prepared;
  const PlaitBlasTable *table = get_library (NULL);

  if (prepared || !table)
    return table;
  table->prepare ();
  prepared = TRUE;
  return table;
}

/* Makes OpenBLAS allocate buffers for @threads threads. If memory ran out later, OpenBLAS would retry forever. */
static gboolean
reserve (const PlaitBlasTable *table, guint threads, GError **error)
{
  g_autofree gpointer *buffers = g_new (gpointer, threads);
  guint n = 0;

  if (!table->take_buffer)
    return TRUE;
  while (n < threads && plait_address_space_is_available (table->buffer_size))
    buffers[n++] = table->take_buffer ();
  for (guint i = 0; i < n; i++)
    table->give_buffer (buffers[i]);
  return n == threads
         || plait_fail (error, PLAIT_ERROR_MEMORY,
                        "OpenBLAS has no memory for thread %u of %u (it maps up to 256 MiB for each thread); ask for "
                        "fewer threads with --threads, or raise the limit of memory (ulimit -v)",
                        n + 1, threads);
}

/* TRUE if some products use BLAS. */
static gboolean
serves (const PlaitKernels *kernels)
{
  return kernels->blas_rows[0] > 0 || kernels->blas_rows[1] > 0;
}

gboolean
plait_blas_reserve (PlaitPool *pool, GError **error)
{
  gboolean served = serves (plait_kernels ());
  g_autoptr (GError) refusal = NULL;
  const PlaitBlasTable *table = served || wanted_library () ? get_library (&refusal) : NULL;

  /* Lack of memory is always an error, a library that cannot be loaded only if PLAIT_BLAS names it. */
  if (refusal && (wanted_library () || refusal->code == PLAIT_ERROR_MEMORY))
    {
      g_propagate_error (error, g_steal_pointer (&refusal));
      return FALSE;
    }
  return !table || !served || reserve (table, plait_pool_threads (pool), error);
}

/* A call of BLAS costs more time than it saves if a product has a smaller width or depth than this. */
#define MIN_SIDE 8

gboolean
plait_blas_is_used (const PlaitKernels *kernels, gboolean transpose_a, gint64 rows, gint64 width, gint64 depth)
{
  gint64 least = kernels->blas_rows[transpose_a ? 1 : 0];

  return least > 0 && rows >= least && width >= MIN_SIDE && depth >= MIN_SIDE
         && plait_blas_rows (kernels, transpose_a) > 0;
}

#ifdef __x86_64__
/* Clears the upper halves of the vector registers. Some kernels of OpenBLAS (Sandybridge) do not, and SSE code is slow
 * until they are cleared. */
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
  const PlaitBlasTable *library = prepared_library ();
  gint64 depth = transpose_a ? a.rows : a.width;

  g_assert (MAX (MAX (c.rows, depth), MAX (c.stride, MAX (a.stride, b.stride))) <= G_MAXINT);
  g_assert (library);
  library->multiply (c, add, factor, a, transpose_a, b, transpose_b);
#ifdef __x86_64__
  if (__builtin_cpu_supports ("avx"))
    clear_upper_halves ();
#endif
}

char *
plait_blas_description (GError **error)
{
  const PlaitKernels *kernels = plait_kernels ();
  g_autoptr (GError) refusal = NULL;
  const PlaitBlasTable *table = get_library (&refusal);
  g_autofree char *library = table ? table->describe () : NULL;

  if (refusal && (wanted_library () || (serves (kernels) && refusal->code == PLAIT_ERROR_MEMORY)))
    {
      g_propagate_error (error, g_steal_pointer (&refusal));
      return NULL;
    }
  return g_strdup_printf ("%s, kernels %s, products %s", library ? library : "no BLAS", kernels->variant,
                          plait_blas_rows (kernels, FALSE) > 0  ? "of many rows by BLAS"
                          : plait_blas_rows (kernels, TRUE) > 0 ? "by the kernels, weight gradients by BLAS"
                                                                : "by the kernels");
}

/* Width and height of the square matrices that the benchmark multiplies: OpenBLAS is fast at this size. */
#define SIDE 768

typedef struct
{
  PlaitScalar *matrices; /* three matrices for each thread */
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

  const PlaitBlasTable *library = get_library (error);

  *rate = 0;
  if (!library || !reserve (library, threads, error))
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
