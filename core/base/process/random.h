/* SPDX-License-Identifier: MIT */
#pragma once

#include "types/export.h"

/*
 * Counter-based random numbers: a draw is a pure function of (seed, purpose, name, step, index), so nothing depends on
 * the order of calls, the number of threads or what else was drawn. There is no generator state to save.
 */
typedef struct
{
  guint64 state;
} PlaitRandomKey;

/* Derives a key from @seed, @purpose (such as "initial", "dropout", "shuffle"), @name (may be NULL) and @step. */
PlaitRandomKey plait_random_key (guint64 seed, const char *purpose, const char *name, guint64 step);

/* The keys of many steps: plait_random_key is the key of its base at a step. */
typedef struct
{
  guint64 state;
} PlaitRandomBase;

PlaitRandomBase plait_random_base (guint64 seed, const char *purpose, const char *name);
PlaitRandomKey plait_random_base_key (PlaitRandomBase base, guint64 step);

/* A key below @key, for draws with two numbers. */
PlaitRandomKey plait_random_subkey (PlaitRandomKey key, guint64 number);

/* 64 random bits for @index. */
PLAIT_API guint64 plait_random_bits (PlaitRandomKey key, guint64 index);

/* Uniform in [0, 1), 53 bits. */
PLAIT_API double plait_random_uniform (PlaitRandomKey key, guint64 index);

/* Standard normal (Box-Muller over two uniforms of @index). */
PLAIT_API double plait_random_normal (PlaitRandomKey key, guint64 index);

/* Uniform in 0 .. @bound - 1, without modulo bias to speak of (64-bit multiply-high). @bound > 0. */
guint64 plait_random_below (PlaitRandomKey key, guint64 index, guint64 bound);

/* Fills @permutation[0 .. n-1] with a random permutation of 0 .. n-1, where n is at most 2^32. */
void plait_random_permutation (PlaitRandomKey key, guint32 *permutation, gsize n);

/* A permutation without fixed points (Sattolo's cycle); n must be at least 2. */
void plait_random_derangement (PlaitRandomKey key, guint32 *permutation, gsize n);

/*
 * The cheap 32-bit hash that dropout uses, inline because kernels vectorise it. @key is (guint32) of the low half and
 * @key2 the high half of PlaitRandomKey.state.
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
