/* SPDX-License-Identifier: MIT */
#pragma once

#include "types/export.h"

/*
 * Counter-based random numbers: a draw is a pure function of (seed, purpose, name, step, index). It does not depend on
 * the order of calls, the number of threads or other draws. There is no generator state to save.
 */
typedef struct
{
  guint64 state;
} PlaitRandomKey;

/* Derives a key from @seed, @purpose (such as "initial", "dropout", "shuffle"), @name (may be NULL) and @step. */
PlaitRandomKey plait_random_key (guint64 seed, const char *purpose, const char *name, guint64 step);

/* Precomputed part of a key, for the keys of many steps: plait_random_key (seed, purpose, name, step) =
 * plait_random_base_key (plait_random_base (seed, purpose, name), step). */
typedef struct
{
  guint64 state;
} PlaitRandomBase;

PlaitRandomBase plait_random_base (guint64 seed, const char *purpose, const char *name);
PlaitRandomKey plait_random_base_key (PlaitRandomBase base, guint64 step);

/* Derives a key from @key and @number, for draws with two indices. */
PlaitRandomKey plait_random_subkey (PlaitRandomKey key, guint64 number);

/* Returns 64 random bits for @index. */
PLAIT_API guint64 plait_random_bits (PlaitRandomKey key, guint64 index);

/* Returns a uniform number in [0, 1) with 53 random bits. */
PLAIT_API double plait_random_uniform (PlaitRandomKey key, guint64 index);

/* Returns a standard normal number (Box-Muller, from two uniforms of @index). */
PLAIT_API double plait_random_normal (PlaitRandomKey key, guint64 index);

/* Returns a uniform integer in 0 .. @bound - 1 (64-bit multiply-high; the bias is negligible). @bound > 0. */
guint64 plait_random_below (PlaitRandomKey key, guint64 index, guint64 bound);

/* Fills @permutation [n] with a random permutation of 0 .. n - 1; n is at most 2^32. */
void plait_random_permutation (PlaitRandomKey key, guint32 *permutation, gsize n);

/* Fills @permutation [n] with a random permutation of 0 .. n - 1 that is one cycle (Sattolo), so it has no fixed
 * points; n is at least 2. */
void plait_random_derangement (PlaitRandomKey key, guint32 *permutation, gsize n);

/*
 * Returns 32 random bits for @index: a cheap hash for dropout, inline so that kernels vectorise it. @key and @key2 are
 * the low and the high half of PlaitRandomKey.state.
 */
static inline guint32
plait_random_hash32 (guint32 key, guint32 key2, guint32 index)
{
  guint32 x = index * 0x9e3779b9u + key;
  x ^= x >> 16;
  x *= 0x21f0aaadu;
  x ^= key2;
  x ^= x >> 15;
  x *= 0xd35a2d97u;
  x ^= x >> 15;
  return x;
}
