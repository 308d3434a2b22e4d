/* SPDX-License-Identifier: MIT */
#include "process/random.h"
#include "harness.h"

#include <math.h>
#include <stdlib.h>

/* Counter and key 0, from the published test vectors of Philox 2x64-10. */
TEST_CASE (random, philox_known_values)
{
  CHECK (plait_random_bits ((PlaitRandomKey){ 0 }, 0) == 0xca00a0459843d731u);
}

/* The keys must never change, since a later version of plait must repeat old runs exactly. */
TEST_CASE (random, keys_stay_what_they_are)
{
  PlaitRandomKey key = plait_random_key (1, "initial", "decoder/layer/0/weight", 0);

  CHECK (plait_random_bits (key, 0) == 0xa5af48cf2d9a403bu);
  CHECK (plait_random_bits (plait_random_subkey (key, 7), 3) == 0x4b37ef81d7b84aa6u);
  CHECK_NEAR (plait_random_uniform (key, 5), 0.55997811280243259, 1e-16);
  CHECK_NEAR (plait_random_normal (key, 5), -0.25410528149607448, 1e-12);
  CHECK_INT (plait_random_hash32 (1, 2, 3), 1489227927);
}

TEST_CASE (random, every_part_of_a_key_counts)
{
  const guint64 states[] = {
    plait_random_key (1, "initial", "a", 0).state,
    plait_random_key (2, "initial", "a", 0).state,
    plait_random_key (1, "dropout", "a", 0).state,
    plait_random_key (1, "initial", "b", 0).state,
    plait_random_key (1, "initial", "a", 1).state,
    plait_random_key (1, "initial", NULL, 0).state,
    plait_random_key (1, "initial", "", 0).state,
    plait_random_key (1, "initiala", "", 0).state,
    plait_random_key (1, "initial", "aaaaaaaaa", 0).state,
    plait_random_key (1, "initial", "aaaaaaaa", 0).state,
    plait_random_subkey (plait_random_key (1, "initial", "a", 0), 0).state,
    plait_random_subkey (plait_random_key (1, "initial", "a", 0), 1).state,
  };

  for (gsize i = 0; i < G_N_ELEMENTS (states); i++)
    for (gsize j = 0; j < i; j++)
      {
        CONTEXT ("keys %zu and %zu", i, j);
        CHECK (states[i] != states[j]);
      }
  CHECK (plait_random_key (1, "initial", "a", 0).state == states[0]);
}

TEST_CASE (random, uniform_and_normal_have_their_moments)
{
  const int n = 200000;
  PlaitRandomKey key = plait_random_key (3, "test", NULL, 0);
  double sum = 0, squares = 0, normal_sum = 0, normal_squares = 0, normal_cubes = 0, fourths = 0, lag = 0;

  for (int i = 0; i < n; i++)
    {
      double u = plait_random_uniform (key, i), z = plait_random_normal (key, i);

      REQUIRE (u >= 0 && u < 1 && isfinite (z));
      sum += u;
      squares += u * u;
      normal_sum += z;
      normal_squares += z * z;
      normal_cubes += z * z * z;
      fourths += z * z * z * z;
      lag += z * plait_random_normal (key, i + 1);
    }
  /* The bounds are about five standard errors. */
  CHECK_NEAR (sum / n, 0.5, 0.0033);
  CHECK_NEAR (squares / n, 1.0 / 3, 0.0034);
  CHECK_NEAR (normal_sum / n, 0, 0.012);
  CHECK_NEAR (normal_squares / n, 1, 0.016);
  CHECK_NEAR (normal_cubes / n, 0, 0.044);
  CHECK_NEAR (fourths / n, 3, 0.11);
  CHECK_NEAR (lag / n, 0, 0.012);
}

TEST_CASE (random, below_is_even_and_below)
{
  PlaitRandomKey key = plait_random_key (3, "test", "below", 0);
  int counts[7] = { 0 };

  for (guint64 i = 0; i < 70000; i++)
    {
      guint64 draw = plait_random_below (key, i, 7);

      REQUIRE (draw < 7);
      counts[draw]++;
    }
  for (int i = 0; i < 7; i++)
    CHECK_NEAR (counts[i], 10000, 460);
  CHECK_INT (plait_random_below (key, 0, 1), 0);
}

TEST_CASE (random, permutations_are_permutations_and_all_of_them)
{
  int seen[6] = { 0 };

  for (guint64 step = 0; step < 6000; step++)
    {
      guint32 p[3];

      plait_random_permutation (plait_random_key (1, "shuffle", NULL, step), p, 3);
      REQUIRE (p[0] + p[1] + p[2] == 3 && p[0] * p[0] + p[1] * p[1] + p[2] * p[2] == 5);
      seen[p[0] * 2 + (p[1] > p[2])]++;
    }
  for (int i = 0; i < 6; i++)
    CHECK_NEAR (seen[i], 1000, 150);
}

/* The order must never change: a resumed run needs the permutation that it began with. */
TEST_CASE (random, permutations_are_swaps_from_the_last_down)
{
  for (gsize n = 2; n < 140; n++)
    {
      PlaitRandomKey key = plait_random_key (1, "shuffle", NULL, n);
      guint32 p[140], expected[140];

      for (gsize i = 0; i < n; i++)
        expected[i] = (guint32)i;
      for (gsize i = n - 1; i > 0; i--)
        {
          gsize j = plait_random_below (key, i, i + 1);
          guint32 kept = expected[i];

          expected[i] = expected[j];
          expected[j] = kept;
        }
      plait_random_permutation (key, p, n);
      for (gsize i = 0; i < n; i++)
        REQUIRE (p[i] == expected[i]);
    }
}

TEST_CASE (random, permutations_of_any_size)
{
  const gsize sizes[] = { 0, 1, 2, 5, 1000 };

  for (gsize s = 0; s < G_N_ELEMENTS (sizes); s++)
    {
      gsize n = sizes[s];
      g_autofree guint32 *p = g_new (guint32, n + 1);
      g_autofree gboolean *seen = g_new0 (gboolean, n + 1);

      CONTEXT ("%zu items", n);
      p[n] = 7777;
      plait_random_permutation (plait_random_key (1, "shuffle", NULL, n), p, n);
      CHECK_INT (p[n], 7777);
      for (gsize i = 0; i < n; i++)
        {
          REQUIRE (p[i] < n && !seen[p[i]]);
          seen[p[i]] = TRUE;
        }
    }
}

TEST_CASE (random, derangements_move_everything)
{
  for (gsize n = 2; n < 40; n++)
    {
      guint32 p[40];
      guint64 seen = 0;

      CONTEXT ("%zu items", n);
      plait_random_derangement (plait_random_key (1, "adversary", NULL, n), p, n);
      for (gsize i = 0; i < n; i++)
        {
          CHECK (p[i] != i);
          seen |= (guint64)1 << p[i];
        }
      CHECK (seen == ((guint64)1 << n) - 1);
    }
}

/* Dropout at rate p keeps an element if its hash is below (1 - p) 2^32. The fraction of kept elements must be right,
 * also for neighbouring elements. */
TEST_CASE (random, the_cheap_hash_is_even)
{
  const guint32 n = 200000;
  PlaitRandomKey key = plait_random_key (3, "dropout", NULL, 0);
  guint32 low = (guint32)key.state, high = (guint32)(key.state >> 32);
  guint32 kept = 0, pairs = 0, bits[32] = { 0 };

  for (guint32 i = 0; i < n; i++)
    {
      guint32 hash = plait_random_hash32 (low, high, i);

      kept += hash < 429496730u;
      pairs += hash < 429496730u && plait_random_hash32 (low, high, i + 1) < 429496730u;
      for (int b = 0; b < 32; b++)
        bits[b] += hash >> b & 1;
    }
  CHECK_NEAR (kept, 0.1 * n, 680);
  CHECK_NEAR (pairs, 0.01 * n, 225);
  for (int b = 0; b < 32; b++)
    CHECK_NEAR (bits[b], 0.5 * n, 1120);
}
