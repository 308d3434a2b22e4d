/* SPDX-License-Identifier: MIT */
#include "process/random.h"
#include "kernels/variant.h"
#include "kernels/partial-vectors.h"
#include "kernels/gradient-terms.h"

/* Loops over n contiguous scalars. They use vectors, or have a form that the compiler vectorises. */

void
KERNEL (accumulate) (PlaitScalar *y, PlaitScalar beta, PlaitScalar alpha, const PlaitScalar *x, gint64 n)
{
  gint64 i = 0;

  if (beta != 0)
    {
      for (; i + VECTOR_LENGTH <= n; i += VECTOR_LENGTH)
        vector_store (y + i, vector_load (y + i) + alpha * vector_load (x + i));
      if (i < n)
        put (y + i, take (y + i, n - i) + alpha * take (x + i, n - i), n - i);
      return;
    }
  for (; i + VECTOR_LENGTH <= n; i += VECTOR_LENGTH)
    vector_store (y + i, alpha * vector_load (x + i));
  if (i < n)
    put (y + i, alpha * take (x + i, n - i), n - i);
}

void
KERNEL (combine) (PlaitScalar *y, const PlaitScalar *const *x, const PlaitScalar *factors, guint terms, gint64 n)
{
  for (gint64 i = 0; i < n; i += VECTOR_LENGTH)
    {
      gint64 here = MIN (VECTOR_LENGTH, n - i);
      Vector sum = vector_all (0);

      for (guint k = 0; k < terms; k++)
        sum += factors[k] * take (x[k] + i, here);
      put (y + i, sum, here);
    }
}

void
KERNEL (multiply_elements) (PlaitScalar *z, PlaitScalar beta, const PlaitScalar *x, const PlaitScalar *y, gint64 n)
{
  if (beta != 0)
    for (gint64 i = 0; i < n; i++)
      z[i] = z[i] + x[i] * y[i];
  else
    for (gint64 i = 0; i < n; i++)
      z[i] = x[i] * y[i];
}

void
KERNEL (rotate) (PlaitScalar *y, PlaitScalar beta, PlaitScalar sign, const PlaitScalar *x, const PlaitScalar *cosines,
                 const PlaitScalar *sines, guint heads, gint64 pairs)
{
  for (guint head = 0; head < heads; head++, x += 2 * pairs, y += 2 * pairs)
    {
      INDEPENDENT
      for (gint64 i = 0; i < pairs; i++)
        {
          PlaitScalar first = x[2 * i], second = x[2 * i + 1], sine = sign * sines[i];
          PlaitScalar turned = first * cosines[i] - second * sine, other = second * cosines[i] + first * sine;

          y[2 * i] = beta != 0 ? y[2 * i] + turned : turned;
          y[2 * i + 1] = beta != 0 ? y[2 * i + 1] + other : other;
        }
    }
}

void
KERNEL (maximum) (PlaitScalar *z, PlaitScalar sign, const PlaitScalar *x, const PlaitScalar *y, gint64 n)
{
  for (gint64 i = 0; i < n; i++)
    z[i] = sign * x[i] > sign * y[i] || x[i] != x[i] ? x[i] : y[i];
}

void
KERNEL (maximum_backward) (PlaitScalar *dx, PlaitScalar beta, PlaitScalar sign, const PlaitScalar *dz,
                           const PlaitScalar *x, const PlaitScalar *y, gint64 n)
{
  for (gint64 i = 0; i < n; i++)
    {
      PlaitScalar share = x[i] == y[i] ? (PlaitScalar).5 : sign * x[i] > sign * y[i] ? 1 : 0;

      dx[i] = beta != 0 ? dx[i] + dz[i] * share : dz[i] * share;
    }
}

void
KERNEL (dropout) (PlaitScalar *y, const PlaitScalar *base, PlaitScalar factor, const PlaitScalar *x, gint64 n,
                  const PlaitMask *mask, guint32 first)
{
  guint32 key = mask->key, key2 = mask->key2, threshold = mask->threshold;
  PlaitScalar kept = factor * mask->kept;

  if (base)
    for (gint64 i = 0; i < n; i++)
      {
        PlaitScalar scale = plait_random_hash32 (key, key2, first + (guint32)i) < threshold ? 0 : kept;
        y[i] = base[i] + x[i] * scale;
      }
  else
    for (gint64 i = 0; i < n; i++)
      {
        PlaitScalar scale = plait_random_hash32 (key, key2, first + (guint32)i) < threshold ? 0 : kept;
        y[i] = x[i] * scale;
      }
}

/* GELU by tanh: x / 2 * (1 + tanh (GELU_SCALE * x * (1 + GELU_CUBIC * x^2))). */
#define GELU_SCALE ((PlaitScalar)(M_SQRT2 * M_2_SQRTPI / 2))
#define GELU_CUBIC ((PlaitScalar)0.044715)

/* For |x| above this bound, the tanh is 1 or -1 in every precision and its derivative 0. The formula of the derivative
 * is not used there, because x^2 may overflow. */
#define GELU_FLAT ((PlaitScalar)10)

static inline __attribute__ ((always_inline)) Vector
gelu_tanh (Vector x)
{
  return vector_tanh (GELU_SCALE * x * (1 + GELU_CUBIC * x * x));
}

static inline __attribute__ ((always_inline)) Vector
gelu_tanh_density (Vector x)
{
  Vector t = gelu_tanh (x);
  Vector density = (PlaitScalar).5 * x * (1 - t * t) * GELU_SCALE * (1 + 3 * GELU_CUBIC * x * x);

  return vector_choose ((x > GELU_FLAT) | (x < -GELU_FLAT), (Vector){ 0 }, density);
}

static inline __attribute__ ((always_inline)) Vector
activated (PlaitActivation activation, Vector x)
{
  switch (activation)
    {
    case PLAIT_ACTIVATION_RELU:
      return vector_choose (x < 0, (Vector){ 0 }, x);
    case PLAIT_ACTIVATION_GELU:
      return x * (PlaitScalar).5 * (1 + vector_erf (x * (PlaitScalar)M_SQRT1_2));
    case PLAIT_ACTIVATION_GELU_TANH:
      return x * (PlaitScalar).5 * (1 + gelu_tanh (x));
    case PLAIT_ACTIVATION_SWISH:
      return x * vector_sigmoid (x);
    case PLAIT_ACTIVATION_TANH:
      return vector_tanh (x);
    case PLAIT_ACTIVATION_SIGMOID:
      return vector_sigmoid (x);
    case PLAIT_ACTIVATION_EXP:
      return vector_exp (x);
    case PLAIT_ACTIVATION_LOG:
      return vector_log_of_any (x);
    case PLAIT_ACTIVATION_NONE:
      break;
    }
  return x;
}

/* Returns the derivative of the activation. @kept is its input for both GELUs, swish and log, else its output. */
static inline __attribute__ ((always_inline)) Vector
derivative (PlaitActivation activation, Vector kept)
{
  switch (activation)
    {
    case PLAIT_ACTIVATION_RELU:
      return PLAIT_GRADIENT_TERM (relu, vector_choose (kept > 0, vector_all (1), (Vector){ 0 }));
    case PLAIT_ACTIVATION_GELU:
      return PLAIT_GRADIENT_TERM (gelu_distribution, (PlaitScalar).5 * (1 + vector_erf (kept * (PlaitScalar)M_SQRT1_2)))
             + PLAIT_GRADIENT_TERM (gelu_density, kept * (PlaitScalar)(M_SQRT1_2 * M_2_SQRTPI / 2)
                                                      * vector_exp (kept * kept * (PlaitScalar)-.5));
    case PLAIT_ACTIVATION_GELU_TANH:
      return PLAIT_GRADIENT_TERM (approximate_gelu_distribution, (PlaitScalar).5 * (1 + gelu_tanh (kept)))
             + PLAIT_GRADIENT_TERM (approximate_gelu_density, gelu_tanh_density (kept));
    case PLAIT_ACTIVATION_SWISH:
      return PLAIT_GRADIENT_TERM (swish_sigmoid, vector_sigmoid (kept))
             + PLAIT_GRADIENT_TERM (swish_slope, kept * vector_sigmoid (kept) * (1 - vector_sigmoid (kept)));
    case PLAIT_ACTIVATION_TANH:
      return PLAIT_GRADIENT_TERM (tanh_one, vector_all (1)) - PLAIT_GRADIENT_TERM (tanh_square, kept * kept);
    case PLAIT_ACTIVATION_SIGMOID:
      return kept * (PLAIT_GRADIENT_TERM (sigmoid_one, vector_all (1)) - PLAIT_GRADIENT_TERM (sigmoid_square, kept));
    case PLAIT_ACTIVATION_EXP:
      return PLAIT_GRADIENT_TERM (exp, kept);
    case PLAIT_ACTIVATION_LOG:
      return PLAIT_GRADIENT_TERM (log, 1 / kept);
    case PLAIT_ACTIVATION_NONE:
      break;
    }
  return vector_all (1);
}

static inline __attribute__ ((always_inline)) void
forward (PlaitActivation activation, PlaitScalar *y, const PlaitScalar *x, gint64 n)
{
  gint64 i = 0;

  for (; i + VECTOR_LENGTH <= n; i += VECTOR_LENGTH)
    vector_store (y + i, activated (activation, vector_load (x + i)));
  if (i < n)
    vector_store_partial (y + i, activated (activation, vector_load_partial (x + i, n - i, 0)), n - i);
}

static inline __attribute__ ((always_inline)) void
backward (PlaitActivation activation, PlaitScalar *dx, PlaitScalar beta, const PlaitScalar *dy, const PlaitScalar *kept,
          gint64 n)
{
  gint64 i = 0;

  for (; i + VECTOR_LENGTH <= n; i += VECTOR_LENGTH)
    {
      Vector gradient = vector_load (dy + i) * derivative (activation, vector_load (kept + i));

      vector_store (dx + i, beta != 0 ? vector_load (dx + i) + gradient : gradient);
    }
  if (i < n)
    {
      Vector gradient
          = vector_load_partial (dy + i, n - i, 0) * derivative (activation, vector_load_partial (kept + i, n - i, 0));

      vector_store_partial (dx + i, beta != 0 ? vector_load_partial (dx + i, n - i, 0) + gradient : gradient, n - i);
    }
}

/* A switch with one case for each activation, so that each gets a loop of its own. */
#define EACH_ACTIVATION(CASE)                                                                                          \
  switch (activation)                                                                                                  \
    {                                                                                                                  \
      CASE (PLAIT_ACTIVATION_NONE)                                                                                     \
      CASE (PLAIT_ACTIVATION_RELU)                                                                                     \
      CASE (PLAIT_ACTIVATION_GELU)                                                                                     \
      CASE (PLAIT_ACTIVATION_GELU_TANH)                                                                                \
      CASE (PLAIT_ACTIVATION_SWISH)                                                                                    \
      CASE (PLAIT_ACTIVATION_TANH)                                                                                     \
      CASE (PLAIT_ACTIVATION_SIGMOID)                                                                                  \
      CASE (PLAIT_ACTIVATION_EXP)                                                                                      \
      CASE (PLAIT_ACTIVATION_LOG)                                                                                      \
    }

void
KERNEL (activate) (PlaitActivation activation, PlaitScalar *y, const PlaitScalar *x, gint64 n)
{
#define FORWARD(which)                                                                                                 \
  case which:                                                                                                          \
    forward (which, y, x, n);                                                                                          \
    break;
  EACH_ACTIVATION (FORWARD)
}

void
KERNEL (activate_backward) (PlaitActivation activation, PlaitScalar *dx, PlaitScalar beta, const PlaitScalar *dy,
                            const PlaitScalar *kept, gint64 n)
{
#define BACKWARD(which)                                                                                                \
  case which:                                                                                                          \
    backward (which, dx, beta, dy, kept, n);                                                                           \
    break;
  EACH_ACTIVATION (BACKWARD)
}

/* Returns the sum of the scalars, or of their squares if @squares, which must be a constant. */
static inline __attribute__ ((always_inline)) double
sum_of (const PlaitScalar *x, gint64 n, gboolean squares)
{
  double sums[8] = { 0 }, sum = 0;
  gint64 i = 0;

  for (; i + 8 <= n; i += 8)
    for (int j = 0; j < 8; j++)
      sums[j] += squares ? (double)x[i + j] * x[i + j] : x[i + j];
  for (; i < n; i++)
    sum += squares ? (double)x[i] * x[i] : x[i];
  for (int j = 0; j < 8; j++)
    sum += sums[j];
  return sum;
}

double
KERNEL (total) (const PlaitScalar *x, gint64 n)
{
  return sum_of (x, n, FALSE);
}

double
KERNEL (squares) (const PlaitScalar *x, gint64 n)
{
  return sum_of (x, n, TRUE);
}

static inline __attribute__ ((always_inline)) PlaitScalar
square_root (PlaitScalar x)
{
#ifdef PLAIT_SCALAR_DOUBLE
  return sqrt (x);
#else
  return sqrtf (x);
#endif
}

void
KERNEL (adam) (const PlaitUpdateSlot *slot, gint64 first, gint64 n, const PlaitUpdateSettings *settings)
{
  PlaitScalar *value = slot->value + first, *gradient = slot->gradient + first;
  PlaitScalar *m = slot->kept[0] + first, *v = slot->kept[1] + first;
  double correction1 = 1 - pow (settings->beta1, (double)settings->step);
  double correction2 = 1 - pow (settings->beta2, (double)settings->step);
  PlaitScalar beta1 = (PlaitScalar)settings->beta1, beta2 = (PlaitScalar)settings->beta2;
  PlaitScalar rest1 = (PlaitScalar)(1 - settings->beta1), rest2 = (PlaitScalar)(1 - settings->beta2);
  PlaitScalar rate = (PlaitScalar)(settings->rate / correction1), unbias = (PlaitScalar)(1 / correction2);
  PlaitScalar epsilon = (PlaitScalar)settings->epsilon;
  PlaitScalar keep = (PlaitScalar)(1 - settings->rate * settings->weight_decay);
  PlaitScalar scale = (PlaitScalar)settings->gradient_scale;

  INDEPENDENT
  for (gint64 i = 0; i < n; i++)
    {
      PlaitScalar g = gradient[i] * scale;
      PlaitScalar new_m = beta1 * m[i] + rest1 * g, new_v = beta2 * v[i] + rest2 * g * g;
      PlaitScalar root = square_root (new_v * unbias);

      m[i] = new_m;
      v[i] = new_v;
      value[i] = keep * value[i] - rate * new_m / (root + epsilon);
    }
  if (!settings->keep)
    memset (gradient, 0, sizeof (PlaitScalar) * (gsize)n);
}

void
KERNEL (adadelta) (const PlaitUpdateSlot *slot, gint64 first, gint64 n, const PlaitUpdateSettings *settings)
{
  PlaitScalar *value = slot->value + first, *gradient = slot->gradient + first;
  PlaitScalar *gradients = slot->kept[0] + first, *updates = slot->kept[1] + first;
  PlaitScalar rho = (PlaitScalar)settings->rho, rest = (PlaitScalar)(1 - settings->rho);
  PlaitScalar rate = (PlaitScalar)settings->rate, epsilon = (PlaitScalar)settings->epsilon;
  PlaitScalar keep = (PlaitScalar)(1 - settings->rate * settings->weight_decay);
  PlaitScalar scale = (PlaitScalar)settings->gradient_scale;

  INDEPENDENT
  for (gint64 i = 0; i < n; i++)
    {
      PlaitScalar g = gradient[i] * scale;
      PlaitScalar square = rho * gradients[i] + rest * g * g;
      PlaitScalar update = square_root (updates[i] + epsilon) / square_root (square + epsilon) * g;

      gradients[i] = square;
      updates[i] = rho * updates[i] + rest * update * update;
      value[i] = keep * value[i] - rate * update;
    }
  if (!settings->keep)
    memset (gradient, 0, sizeof (PlaitScalar) * (gsize)n);
}
