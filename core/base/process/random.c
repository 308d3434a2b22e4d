/* SPDX-License-Identifier: MIT */
#include "process/random.h"

#include <math.h>
#include <string.h>

/*
 * Philox 2x64 with ten rounds (Salmon, Moraes, Dror & Shaw 2011, "Parallel random numbers: as easy as 1, 2, 3"): a
 * keyed bijection of 128-bit counters that passes BigCrush. PlaitRandomKey.state is the key. The index of a draw is the
 * low word of the counter. Philox also derives keys: a key absorbs one word after another.
 */
typedef struct
{
  guint64 low;
  guint64 high;
} Block;

static Block
philox (guint64 key, guint64 low, guint64 high)
{
  for (int round = 0; round < 10; round++)
    {
      unsigned __int128 product = (unsigned __int128)0xd2b74407b1ce6e93u * low;

      low = (guint64)(product >> 64) ^ key ^ high;
      high = (guint64)product;
      key += 0x9e3779b97f4a7c15u;
    }
  return (Block){ low, high };
}

/* Uses of a key. The use is the high word of the counter, so that different uses never share a counter. */
enum
{
  USE_DRAW,
  USE_SUBKEY,
  USE_LENGTH,
  USE_TEXT,
  USE_STEP,
};

static guint64
absorb (guint64 state, guint64 word, guint64 use)
{
  return philox (state, word, use).low;
}

static guint64
absorb_text (guint64 state, const char *text)
{
  /* Absorb the length + 1 first, and 0 for a missing text, so that a missing text and an empty one give different
   * keys. */
  gsize length = !text ? 0 : strlen (text);

  state = absorb (state, !text ? 0 : (guint64)length + 1, USE_LENGTH);
  for (gsize i = 0; i < length; i += 8)
    {
      guint64 word = 0;

      for (gsize j = i; j < MIN (i + 8, length); j++)
        word |= (guint64)(guchar)text[j] << (8 * (j - i));
      state = absorb (state, word, USE_TEXT);
    }
  return state;
}

PlaitRandomBase
plait_random_base (guint64 seed, const char *purpose, const char *name)
{
  return (PlaitRandomBase){ absorb_text (absorb_text (seed, purpose), name) };
}

PlaitRandomKey
plait_random_base_key (PlaitRandomBase base, guint64 step)
{
  return (PlaitRandomKey){ absorb (base.state, step, USE_STEP) };
}

PlaitRandomKey
plait_random_key (guint64 seed, const char *purpose, const char *name, guint64 step)
{
  return plait_random_base_key (plait_random_base (seed, purpose, name), step);
}

PlaitRandomKey
plait_random_subkey (PlaitRandomKey key, guint64 number)
{
  return (PlaitRandomKey){ absorb (key.state, number, USE_SUBKEY) };
}

guint64
plait_random_bits (PlaitRandomKey key, guint64 index)
{
  return philox (key.state, index, USE_DRAW).low;
}

/* Returns the upper 53 bits as a fraction in [0, 1). */
static double
fraction (guint64 bits)
{
  return (double)(bits >> 11) * 0x1p-53;
}

double
plait_random_uniform (PlaitRandomKey key, guint64 index)
{
  return fraction (plait_random_bits (key, index));
}

double
plait_random_normal (PlaitRandomKey key, guint64 index)
{
  Block block = philox (key.state, index, USE_DRAW);

  /* 1 - u is in (0, 1], where the logarithm is finite. */
  return sqrt (-2.0 * log (1.0 - fraction (block.low))) * cos (2.0 * G_PI * fraction (block.high));
}

guint64
plait_random_below (PlaitRandomKey key, guint64 index, guint64 bound)
{
  g_assert (bound > 0);
  return (guint64)(((unsigned __int128)plait_random_bits (key, index) * bound) >> 64);
}

/* Fills @permutation with 0 .. n - 1. For i = n - 1 .. 1, swaps item i with the item at a random position below i +
 * @reach. In a large permutation each swap misses the cache, so the positions of several swaps are drawn and prefetched
 * in advance. */
static void
shuffle (PlaitRandomKey key, guint32 *permutation, gsize n, gsize reach)
{
  enum
  {
    AHEAD = 32
  };
  g_assert (n <= (gsize)G_MAXUINT32 + 1);
  for (gsize i = 0; i < n; i++)
    permutation[i] = (guint32)i;
  for (gsize end = n, begin; end > 1; end = begin)
    {
      gsize places[AHEAD];

      begin = MAX (end, AHEAD + 1) - AHEAD;
      for (gsize i = begin; i < end; i++)
        {
          places[i - begin] = plait_random_below (key, i, i + reach);
          __builtin_prefetch (&permutation[places[i - begin]], 1);
        }
      for (gsize i = end; i-- > begin;)
        {
          gsize j = places[i - begin];
          guint32 kept = permutation[i];

          permutation[i] = permutation[j];
          permutation[j] = kept;
        }
    }
}

void
plait_random_permutation (PlaitRandomKey key, guint32 *permutation, gsize n)
{
  shuffle (key, permutation, n, 1);
}

void
plait_random_derangement (PlaitRandomKey key, guint32 *permutation, gsize n)
{
  g_assert (n >= 2);
  shuffle (key, permutation, n, 0);
}
