/* SPDX-License-Identifier: MIT */
#pragma once

#ifdef __AVX__
#include <immintrin.h>
#endif
#include <math.h>

#include "types/tensor.h"

/*
 * Vectors of scalars, as wide as the vector registers of the processor variant, and functions on them. Only kernel
 * files, which are compiled once for each variant, include this file.
 */
#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#elif defined(__AVX__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif
#ifdef PLAIT_SCALAR_DOUBLE
#define LANES (VECTOR_BYTES / 8)
typedef gint64 VectorInteger;
typedef guint64 VectorBits;
#else
#define LANES (VECTOR_BYTES / 4)
typedef gint32 VectorInteger;
typedef guint32 VectorBits;
#endif
#define VECTOR_LENGTH ((gint64)LANES)

typedef PlaitScalar Vector __attribute__ ((vector_size (VECTOR_BYTES)));
typedef VectorInteger IntegerVector __attribute__ ((vector_size (VECTOR_BYTES)));
typedef VectorBits BitVector __attribute__ ((vector_size (VECTOR_BYTES))); /* unsigned: sums and shifts may overflow */
typedef PlaitScalar UnalignedVector
    __attribute__ ((vector_size (VECTOR_BYTES), aligned (sizeof (PlaitScalar)), may_alias));

/* Names of kernel functions contain the variant: KERNEL (exp) is plait_v4_exp. */
#define KERNEL_PASTE(variant, name) plait_##variant##_##name
#define KERNEL_NAME(variant, name) KERNEL_PASTE (variant, name)
#define KERNEL(name) KERNEL_NAME (PLAIT_KERNEL_VARIANT, name)

/* Unrolled loops take up to ten times as long to compile with the checks of a sanitizer. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define UNROLL
#else
#define UNROLL _Pragma ("GCC unroll 32")
#endif
/* Promises that no iteration of the next loop reads what another iteration writes. */
#ifdef __clang__
#define INDEPENDENT _Pragma ("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma ("GCC ivdep")
#endif

static inline __attribute__ ((always_inline)) Vector
vector_load (const PlaitScalar *from)
{
  return *(const UnalignedVector *)from;
}

static inline __attribute__ ((always_inline)) void
vector_store (PlaitScalar *to, Vector value)
{
  *(UnalignedVector *)to = value;
}

/* Returns the first @n scalars of @from, followed by @rest in the other lanes. */
static inline __attribute__ ((always_inline)) Vector
vector_load_partial (const PlaitScalar *from, gint64 n, PlaitScalar rest)
{
#if defined(__AVX512F__) && defined(PLAIT_SCALAR_DOUBLE)
  return _mm512_mask_loadu_pd (_mm512_set1_pd (rest), (__mmask8)((1u << n) - 1), from);
#elif defined(__AVX512F__)
  return _mm512_mask_loadu_ps (_mm512_set1_ps (rest), (__mmask16)((1u << n) - 1), from);
#else
  PlaitScalar part[VECTOR_BYTES / sizeof (PlaitScalar)];

  for (gint64 i = 0; i < VECTOR_LENGTH; i++)
    part[i] = i < n ? from[i] : rest;
  return vector_load (part);
#endif
}

static inline __attribute__ ((always_inline)) void
vector_store_partial (PlaitScalar *to, Vector value, gint64 n)
{
#if defined(__AVX512F__) && defined(PLAIT_SCALAR_DOUBLE)
  _mm512_mask_storeu_pd (to, (__mmask8)((1u << n) - 1), value);
#elif defined(__AVX512F__)
  _mm512_mask_storeu_ps (to, (__mmask16)((1u << n) - 1), value);
#else
  for (gint64 i = 0; i < VECTOR_LENGTH; i++)
    if (i < n)
      to[i] = value[i];
#endif
}

static inline __attribute__ ((always_inline)) Vector
vector_all (PlaitScalar value)
{
  return value - (Vector){ 0 };
}

/* Returns @yes in the lanes where @mask is all ones, @no where it is zero. */
static inline __attribute__ ((always_inline)) Vector
vector_choose (IntegerVector mask, Vector yes, Vector no)
{
  return (Vector)((mask & (IntegerVector)yes) | (~mask & (IntegerVector)no));
}

/* Returns the greater value in each lane; @y where one of the two is NaN. */
static inline __attribute__ ((always_inline)) Vector
vector_maximum (Vector x, Vector y)
{
#if defined(__AVX512F__) && defined(PLAIT_SCALAR_DOUBLE)
  return _mm512_max_pd (x, y);
#elif defined(__AVX512F__)
  return _mm512_max_ps (x, y);
#else
  return vector_choose (x > y, x, y);
#endif
}

/* Returns the smaller value in each lane; @y where one of the two is NaN. */
static inline __attribute__ ((always_inline)) Vector
vector_minimum (Vector x, Vector y)
{
#if defined(__AVX512F__) && defined(PLAIT_SCALAR_DOUBLE)
  return _mm512_min_pd (x, y);
#elif defined(__AVX512F__)
  return _mm512_min_ps (x, y);
#else
  return vector_choose (x < y, x, y);
#endif
}

/* Returns an integer whose bit i is set if lane i of @x is at least @bound. */
static inline __attribute__ ((always_inline)) guint32
vector_at_least (Vector x, PlaitScalar bound)
{
#if defined(__AVX512F__) && defined(PLAIT_SCALAR_DOUBLE)
  return _mm512_cmp_pd_mask (x, vector_all (bound), _CMP_GE_OQ);
#elif defined(__AVX512F__)
  return _mm512_cmp_ps_mask (x, vector_all (bound), _CMP_GE_OQ);
#elif defined(__AVX__) && defined(PLAIT_SCALAR_DOUBLE)
  return (guint32)_mm256_movemask_pd (_mm256_cmp_pd (x, vector_all (bound), _CMP_GE_OQ));
#elif defined(__AVX__)
  return (guint32)_mm256_movemask_ps (_mm256_cmp_ps (x, vector_all (bound), _CMP_GE_OQ));
#else
  guint32 bits = 0;

  for (gint64 i = 0; i < VECTOR_LENGTH; i++)
    bits |= (guint32)(x[i] >= bound) << i;
  return bits;
#endif
}

/* Returns the indices of the lanes: 0, 1, ... */
static inline __attribute__ ((always_inline)) IntegerVector
vector_lanes (void)
{
  IntegerVector lanes = { 0 };

  UNROLL
  for (VectorInteger i = 1; i < VECTOR_LENGTH; i++)
    lanes[i] = i;
  return lanes;
}

/*
 * SHUFFLE (x, y, from, distance) returns a vector. If @from (i, distance) is k, lane i is lane k of @x followed by
 * @y, where @from is a macro.
 *
 * EACH_DISTANCE (step) expands to step (LANES / 2) step (LANES / 4) ... step (1).
 *
 * SHUFFLE and @from are macros: the compiler wants constant lane indices, and checks this before it unrolls loops.
 */
#if LANES == 16
#define SHUFFLE(x, y, from, d) __builtin_shufflevector (x, y, FROM_8 (from, 0, d), FROM_8 (from, 8, d))
#define EACH_DISTANCE(step) step (8) step (4) step (2) step (1)
#elif LANES == 8
#define SHUFFLE(x, y, from, d) __builtin_shufflevector (x, y, FROM_8 (from, 0, d))
#define EACH_DISTANCE(step) step (4) step (2) step (1)
#elif LANES == 4
#define SHUFFLE(x, y, from, d) __builtin_shufflevector (x, y, FROM_4 (from, 0, d))
#define EACH_DISTANCE(step) step (2) step (1)
#else
#define SHUFFLE(x, y, from, d) __builtin_shufflevector (x, y, FROM_2 (from, 0, d))
#define EACH_DISTANCE(step) step (1)
#endif
#define FROM_8(from, i, d) FROM_4 (from, i, d), FROM_4 (from, i + 4, d)
#define FROM_4(from, i, d) FROM_2 (from, i, d), FROM_2 (from, i + 2, d)
#define FROM_2(from, i, d) from ((i), d), from ((i + 1), d)

#define FROM_SWAPPED(i, distance) (i ^ distance)

/* Returns the sum of the lanes, added pairwise in a fixed order. */
static inline __attribute__ ((always_inline)) PlaitScalar
vector_sum (Vector x)
{
#define ADD_SWAPPED(distance) x += SHUFFLE (x, x, FROM_SWAPPED, distance);
  EACH_DISTANCE (ADD_SWAPPED)
#undef ADD_SWAPPED
  return x[0];
}

/* Lane indices for SHUFFLE, to add pairs of lanes at distance @d in two vectors. FROM_KEPT selects the first summands,
 * FROM_JOINED the second ones. */
#define FROM_KEPT(i, d) (i + ((i & d) != 0) * LANES)
#define FROM_JOINED(i, d) ((i ^ d) + ((i & d) != 0) * LANES)

/* Sums VECTOR_LENGTH vectors at once, in the order of vector_sum: lane i of the result is the sum of the lanes of x[i].
 * Overwrites @x. */
static inline __attribute__ ((always_inline)) Vector
vector_sums (Vector *x)
{
#define ADD_PAIRS(distance)                                                                                            \
  UNROLL                                                                                                               \
  for (gint64 i = 0; i < distance; i++)                                                                                \
    x[i] = SHUFFLE (x[i], x[i + distance], FROM_KEPT, distance)                                                        \
           + SHUFFLE (x[i], x[i + distance], FROM_JOINED, distance);
  EACH_DISTANCE (ADD_PAIRS)
#undef ADD_PAIRS
  return x[0];
}

/* Returns the greatest lane. If a lane is NaN, the result may be NaN or a number. */
static inline __attribute__ ((always_inline)) PlaitScalar
vector_greatest (Vector x)
{
#define COMPARE_SWAPPED(distance) x = vector_maximum (x, SHUFFLE (x, x, FROM_SWAPPED, distance));
  EACH_DISTANCE (COMPARE_SWAPPED)
#undef COMPARE_SWAPPED
  return x[0];
}

/*
 * Computes exp (x) = 2^n exp (r) with |r| <= ln (2) / 2, and exp (r) by its series. Returns p = exp (r) - 1 and sets
 * *scale to 2^n, so that the caller can compute exp (x) - 1 without cancellation. exp (x) must be a normal number.
 */
static inline __attribute__ ((always_inline)) Vector
vector_exp_parts (Vector x, Vector *scale)
{
#ifdef PLAIT_SCALAR_DOUBLE
  static const double series[]
      = { 1. / 6227020800, 1. / 479001600, 1. / 39916800, 1. / 3628800, 1. / 362880, 1. / 40320,
          1. / 5040,       1. / 720,       1. / 120,      1. / 24,      1. / 6,      1. / 2 };
  const PlaitScalar high = 0x1.62e42fee00000p-1, low = 0x1.a39ef35793c76p-33, round = 0x1.8p52;
  const int bits = 52;
#else
  static const float series[] = { 1.f / 5040, 1.f / 720, 1.f / 120, 1.f / 24, 1.f / 6, 1.f / 2 };
  const PlaitScalar high = 0x1.62e4p-1f, low = 0x1.7f7d1cp-20f, round = 0x1.8p23f;
  const int bits = 23;
#endif
  Vector shifted = x * (PlaitScalar)M_LOG2E + round;
  Vector n = shifted - round;
  Vector r = x - n * high - n * low;
  Vector p = vector_all (series[0]);

  UNROLL
  for (guint i = 1; i < G_N_ELEMENTS (series); i++)
    p = p * r + series[i];
  /* Unsigned, because signed overflow is undefined and lanes that the caller ignores may have any x. */
  *scale = (Vector)(((BitVector)shifted << bits) + (BitVector)vector_all (1));
  return p * r * r + r;
}

#ifdef PLAIT_SCALAR_DOUBLE
#define EXP_LOWEST -708.
#define EXP_HIGHEST 709.
#else
#define EXP_LOWEST -87.f
#define EXP_HIGHEST 88.f
#endif

/* Returns exp (x) within 2 units in the last place: 0 below EXP_LOWEST, infinity above EXP_HIGHEST, NaN for NaN. */
static inline __attribute__ ((always_inline)) Vector
vector_exp (Vector x)
{
  Vector lowest = vector_all (EXP_LOWEST), highest = vector_all (EXP_HIGHEST);
  Vector scale, p;

  p = vector_exp_parts (vector_maximum (lowest, vector_minimum (highest, x)), &scale);
  p = p * scale + scale;
  p = vector_choose (x < lowest, vector_all (0), p);
  return vector_choose (x > highest, vector_all ((PlaitScalar)INFINITY), p);
}

/* Returns exp (x) for EXP_LOWEST <= x <= 0 and e^EXP_LOWEST for lower x. Undefined for positive x. In a softmax, so
 * small a weight changes nothing. */
static inline __attribute__ ((always_inline)) Vector
vector_exp_of_negative (Vector x)
{
  Vector scale, p = vector_exp_parts (vector_maximum (vector_all (EXP_LOWEST), x), &scale);

  return p * scale + scale;
}

/* Returns tanh (x) within 4 units in the last place. |tanh (x)| is (e - 1) / (e + 1) with e = exp (2 |x|), computed
 * from e - 1 so that small x keep their digits. */
static inline __attribute__ ((always_inline)) Vector
vector_tanh (Vector x)
{
  const IntegerVector sign = (IntegerVector)vector_all (-(PlaitScalar)0);
  Vector magnitude = vector_minimum (vector_all (20), (Vector)((IntegerVector)x & ~sign)), scale, p;

#ifdef PLAIT_SCALAR_DOUBLE
  p = vector_exp_parts (2 * magnitude, &scale);
#else
  /* Coefficients of (exp (2 r) - 1) / r, where |x| = n ln (2) / 2 + r and |r| <= ln (2) / 4: the polynomial with the
   * least relative error (1e-8). For large n, the rounding error of n ln (2) / 2 does not change the result. */
  static const float series[] = { .08888879f, .26781043f, .6666742f, 1.3333205f, 1.9999999f, 2.f };
  Vector shifted = magnitude * (PlaitScalar)(2 * M_LOG2E) + 0x1.8p23f;
  Vector r = magnitude - (shifted - 0x1.8p23f) * (PlaitScalar)(M_LN2 / 2);

  p = vector_all (series[0]);
  UNROLL
  for (guint i = 1; i < G_N_ELEMENTS (series); i++)
    p = p * r + series[i];
  p *= r;
  scale = (Vector)(((IntegerVector)shifted << 23) + (IntegerVector)vector_all (1));
#endif
  p = p * scale + (scale - 1);
  return (Vector)((IntegerVector)(p / (p + 2)) | ((IntegerVector)x & sign));
}

/* Returns log (x) of a positive normal x. With x = 2^n m and sqrt (1/2) <= m < sqrt (2), log (m) = 2 atanh ((m - 1) /
 * (m + 1)). */
static inline __attribute__ ((always_inline)) Vector
vector_log (Vector x)
{
#ifdef PLAIT_SCALAR_DOUBLE
  static const double series[]
      = { 1. / 23, 1. / 21, 1. / 19, 1. / 17, 1. / 15, 1. / 13, 1. / 11, 1. / 9, 1. / 7, 1. / 5, 1. / 3 };
  const int bits = 52;
#else
  static const float series[] = { 1.f / 11, 1.f / 9, 1.f / 7, 1.f / 5, 1.f / 3 };
  const int bits = 23;
#endif
  const IntegerVector root = (IntegerVector)vector_all ((PlaitScalar)M_SQRT1_2);
  IntegerVector n = ((IntegerVector)x - root) >> bits;
  Vector m = (Vector)((IntegerVector)x - (n << bits)), s = (m - 1) / (m + 1), square = s * s;
  Vector p = vector_all (series[0]);

  UNROLL
  for (guint i = 1; i < G_N_ELEMENTS (series); i++)
    p = p * square + series[i];
  return __builtin_convertvector(n, Vector) * (PlaitScalar)M_LN2 + (2 * s + 2 * s * square * p);
}

/* Returns log (x) of any x: -infinity for 0, NaN for negative x. Scales subnormal x up first. */
static inline __attribute__ ((always_inline)) Vector
vector_log_of_any (Vector x)
{
#ifdef PLAIT_SCALAR_DOUBLE
  const PlaitScalar normal = 0x1p-1022, scale = 0x1p54, shift = 54 * (PlaitScalar)M_LN2;
#else
  const PlaitScalar normal = 0x1p-126f, scale = 0x1p25f, shift = 25 * (PlaitScalar)M_LN2;
#endif
  IntegerVector small = x < normal;
  Vector log = vector_log (vector_choose (small, x * scale, x));

  log -= vector_choose (small, vector_all (shift), (Vector){ 0 });
  log = vector_choose (x == 0, vector_all (-(PlaitScalar)INFINITY), log);
  log = vector_choose (x < 0, vector_all ((PlaitScalar)NAN), log);
  return vector_choose (x < (PlaitScalar)INFINITY, log, x);
}

/* Returns 1 / (1 + exp (-x)). Very low x give a tiny positive result instead of 0. */
static inline __attribute__ ((always_inline)) Vector
vector_sigmoid (Vector x)
{
  Vector bound = vector_all (-EXP_LOWEST), scale, p;

  p = vector_exp_parts (vector_minimum (bound, vector_maximum (-bound, -x)), &scale);
  return 1 / (p * scale + (scale + 1));
}

static inline __attribute__ ((always_inline)) Vector
vector_erf (Vector x)
{
#ifdef PLAIT_SCALAR_DOUBLE
  for (gint64 i = 0; i < VECTOR_LENGTH; i++)
    x[i] = erf (x[i]);
  return x;
#else
  /* Chebyshev fits: for |x| < 1, erf (x) / x as a polynomial in x^2; else, up to 4.2, erfc (|x|) exp (x^2) as a
   * polynomial in 1 / (1 + |x| / 2). */
  static const float inner[] = { -9.667045788e-06f, 1.12659594e-04f, -8.484080445e-04f, 5.221031809e-03f,
                                 -2.686543073e-02f, 1.12837825e-01f, -3.761263847e-01f, 1.128379167f };
  static const float outer[] = { -5.809020742e-02f, -4.338603843e-02f, 3.861862588e-01f, 1.130556456e-01f,
                                 3.264605985e-01f,  2.74476618e-01f,   5.370958181e-04f };
  const IntegerVector sign = (IntegerVector)vector_all (-(PlaitScalar)0);
  Vector magnitude = (Vector)((IntegerVector)x & ~sign), most = vector_all (4.2f);
  Vector square, near = vector_all (inner[0]), far = vector_all (outer[0]), t;

  magnitude = vector_choose (magnitude > most, most, magnitude);
  square = magnitude * magnitude;
  t = 1 / (1 + magnitude * .5f);
  UNROLL
  for (guint i = 1; i < G_N_ELEMENTS (inner); i++)
    near = near * square + inner[i];
  UNROLL
  for (guint i = 1; i < G_N_ELEMENTS (outer); i++)
    far = far * t + outer[i];
  near = vector_choose (magnitude < 1, near * magnitude, 1 - far * vector_exp (-square));
  return (Vector)((IntegerVector)near | ((IntegerVector)x & sign));
#endif
}
