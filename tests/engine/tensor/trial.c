/* SPDX-License-Identifier: MIT */
#include "trial.h"

#include <math.h>
#include <string.h>
#include <xxhash.h>

#include "kernels/kernels.h"

#ifdef PLAIT_SCALAR_DOUBLE
#define TOLERANCE 1e-13
#else
#define TOLERANCE 3e-5
#endif

/* Sanitizers look for memory errors, which depend on the shapes of a round and on whether there are several threads.
 * They need fewer rounds and numbers of threads than a comparison of bits. */
#ifdef __SANITIZE_ADDRESS__
#define ROUNDS_OF(n) (((n) + 1) / 2)
#define THREADS_STEP 2
#else
#define ROUNDS_OF(n) (n)
#define THREADS_STEP 1
#endif

static gboolean compares;

static guint64
trial_once (TrialBody body, guint threads, guint round)
{
  g_autoptr (PlaitPool) pool = plait_pool_new (threads, NULL);
  g_autoptr (PlaitArena) arena = plait_arena_new (0);
  g_autoptr (GPtrArray) blocks = g_ptr_array_new_with_free_func (g_free);
  Trial trial = { pool, arena, plait_random_key (7, "trial", NULL, round), 0, blocks, 5381 };

  body (&trial);
  return trial.digest;
}

void
trial_run (TrialBody body, guint rounds)
{
  static const char *const variants[] = { "v1", "v3", "v4" };

  for (guint variant = 0; variant < G_N_ELEMENTS (variants); variant++)
    {
      if (!plait_kernels_choose (variants[variant]))
        continue;
      for (guint round = 0; round < ROUNDS_OF (rounds); round++)
        {
          guint64 digests[4];

          for (guint threads = 1; threads <= 3; threads += THREADS_STEP)
            {
              CONTEXT ("kernels %s, round %u, threads %u", variants[variant], round, threads);
              compares = threads == 1;
              digests[threads] = trial_once (body, threads, round);
              CHECK (digests[threads] == digests[1]);
            }
        }
    }
  plait_kernels_choose (NULL);
}

gboolean
trial_compares (void)
{
  return compares;
}

gint64
trial_number (Trial *trial, gint64 least, gint64 most)
{
  return least + (gint64)plait_random_below (trial->key, trial->draws++, (guint64)(most - least + 1));
}

gboolean
trial_flip (Trial *trial)
{
  return trial_number (trial, 0, 1) == 1;
}

gpointer
trial_memory (Trial *trial, gsize size)
{
  gpointer memory = g_malloc0 (MAX (size, 1));

  g_ptr_array_add (trial->blocks, memory);
  return memory;
}

static PlaitTensor
allocate (Trial *trial, gint64 rows, gint64 width)
{
  gint64 stride = width + (trial_flip (trial) ? trial_number (trial, 1, 20) : 0);

  return (PlaitTensor){ trial_memory (trial, sizeof (PlaitScalar) * (gsize)(rows * stride)), rows, width, stride };
}

/* Returns a random element with mean 0 and variance 1: the sum of three uniform numbers, which is faster than a normal
 * one. */
static PlaitScalar
draw (Trial *trial)
{
  guint64 bits = plait_random_bits (trial->key, trial->draws++), mask = (1 << 21) - 1;

  return (PlaitScalar)((double)((bits & mask) + (bits >> 21 & mask) + (bits >> 42 & mask)) * 0x1p-20 - 3);
}

PlaitTensor
trial_tensor (Trial *trial, gint64 rows, gint64 width)
{
  PlaitTensor tensor = allocate (trial, rows, width);

  for (gint64 i = 0; i < rows; i++)
    for (gint64 j = 0; j < width; j++)
      plait_tensor_row (tensor, i)[j] = draw (trial);
  return tensor;
}

PlaitScalar *
trial_vector (Trial *trial, gint64 n)
{
  PlaitScalar *vector = trial_memory (trial, sizeof (PlaitScalar) * (gsize)n);

  for (gint64 i = 0; i < n; i++)
    vector[i] = draw (trial);
  return vector;
}

PlaitTensor
trial_rubbish (Trial *trial, gint64 rows, gint64 width)
{
  PlaitTensor tensor = allocate (trial, rows, width);

  for (gint64 i = 0; i < rows; i++)
    for (gint64 j = 0; j < width; j++)
      plait_tensor_row (tensor, i)[j] = (PlaitScalar)NAN;
  return tensor;
}

PlaitTensor
trial_copy (Trial *trial, PlaitTensor tensor)
{
  PlaitTensor copy = allocate (trial, tensor.rows, tensor.width);

  for (gint64 i = 0; i < tensor.rows; i++)
    memcpy (plait_tensor_row (copy, i), plait_tensor_row (tensor, i), sizeof (PlaitScalar) * (gsize)tensor.width);
  return copy;
}

PlaitTensor
trial_target (Trial *trial, gint64 rows, gint64 width, PlaitScalar beta, PlaitTensor *slow)
{
  PlaitTensor target;

  if (beta == 0)
    {
      *slow = allocate (trial, rows, width);
      return trial_rubbish (trial, rows, width);
    }
  target = trial_tensor (trial, rows, width);
  *slow = trial_copy (trial, target);
  return target;
}

PlaitRagged
trial_ragged (Trial *trial, gint64 n, gint64 least, gint64 most)
{
  gint64 *offsets = trial_memory (trial, sizeof (gint64) * (gsize)(n + 1));

  for (gint64 i = 0; i < n; i++)
    offsets[i + 1] = offsets[i] + trial_number (trial, least, most);
  return (PlaitRagged){ n, offsets };
}

guint8 *
trial_bytes (Trial *trial, gint64 n)
{
  guint8 *bytes = trial_memory (trial, (gsize)n);

  for (gint64 i = 0; i < n; i++)
    bytes[i] = trial_flip (trial);
  return bytes;
}

gboolean
trial_dropped (PlaitRandomKey key, double rate, gint64 i)
{
  return plait_random_hash32 ((guint32)key.state, (guint32)(key.state >> 32), (guint32)i) < (guint32)(rate * 0x1p32);
}

double
trial_activation (PlaitActivation activation, double x, double *derivative)
{
  double y;

  switch (activation)
    {
    case PLAIT_ACTIVATION_RELU:
      *derivative = x > 0;
      return x > 0 ? x : 0;
    case PLAIT_ACTIVATION_GELU:
      *derivative = .5 * erfc (-x * M_SQRT1_2) + x * exp (-x * x / 2) / sqrt (2 * G_PI);
      return x * .5 * erfc (-x * M_SQRT1_2);
    case PLAIT_ACTIVATION_GELU_TANH:
      y = tanh (sqrt (2 / G_PI) * (x + .044715 * x * x * x));
      *derivative = .5 * (1 + y) + .5 * x * (1 - y * y) * sqrt (2 / G_PI) * (1 + 3 * .044715 * x * x);
      return x * .5 * (1 + y);
    case PLAIT_ACTIVATION_SWISH:
      y = 1 / (1 + exp (-x));
      *derivative = y + x * y * (1 - y);
      return x * y;
    case PLAIT_ACTIVATION_TANH:
      y = tanh (x);
      *derivative = 1 - y * y;
      return y;
    case PLAIT_ACTIVATION_SIGMOID:
      y = 1 / (1 + exp (-x));
      *derivative = y * (1 - y);
      return y;
    case PLAIT_ACTIVATION_EXP:
      *derivative = exp (x);
      return exp (x);
    case PLAIT_ACTIVATION_LOG:
      *derivative = 1 / x;
      return log (x);
    case PLAIT_ACTIVATION_NONE:
      break;
    }
  *derivative = 1;
  return x;
}

void
trial_digest (Trial *trial, gconstpointer bytes, gsize size)
{
  trial->digest = XXH3_64bits_withSeed (bytes, size, trial->digest);
}

void
trial_check (Trial *trial, const char *what, PlaitTensor fast, PlaitTensor slow)
{
  double greatest = 1, worst = 0;

  for (gint64 i = 0; i < fast.rows; i++)
    trial_digest (trial, plait_tensor_row (fast, i), sizeof (PlaitScalar) * (gsize)fast.width);
  if (!compares)
    return;
  for (gint64 i = 0; i < slow.rows; i++)
    for (gint64 j = 0; j < slow.width; j++)
      greatest = MAX (greatest, fabs ((double)plait_tensor_row (slow, i)[j]));
  for (gint64 i = 0; i < slow.rows; i++)
    for (gint64 j = 0; j < slow.width; j++)
      {
        double difference = fabs ((double)plait_tensor_row (fast, i)[j] - (double)plait_tensor_row (slow, i)[j]);

        if (!(difference <= worst) && !isnan (worst))
          worst = difference;
      }
  {
    CONTEXT ("%s [%d, %d]", what, (int)slow.rows, (int)slow.width);
    CHECK_INT (fast.rows, slow.rows);
    CHECK_INT (fast.width, slow.width);
    CHECK_NEAR (worst / greatest, 0, TOLERANCE);
  }
}

void
trial_check_vector (Trial *trial, const char *what, const PlaitScalar *fast, const PlaitScalar *slow, gint64 n)
{
  trial_check (trial, what, plait_tensor ((PlaitScalar *)fast, 1, n), plait_tensor ((PlaitScalar *)slow, 1, n));
}

void
trial_check_alone (Trial *trial, const PlaitPacked *packed, PlaitTensor x, gint64 out)
{
  PlaitTensor alone = trial_rubbish (trial, 1, out), together = trial_rubbish (trial, x.rows, out);
  gint64 row = trial_number (trial, 0, MAX (x.rows - 1, 0));

  if (x.rows == 0)
    return;
  plait_packed_product (trial->pool, together, 0, x, packed, NULL);
  plait_packed_product (trial->pool, alone, 0, plait_tensor_rows (x, row, 1), packed, NULL);
  CHECK (memcmp (alone.data, plait_tensor_row (together, row), sizeof (PlaitScalar) * (gsize)out) == 0);
}
