/* SPDX-License-Identifier: MIT */
#include "process/arena.h"
#include "process/crash.h"
#include "text/error.h"
#include "process/random.h"
#include "harness.h"

#include <string.h>

TEST_CASE (arena, blocks_are_aligned_and_apart)
{
  g_autoptr (PlaitArena) arena = plait_arena_new (0);
  const gsize sizes[] = { 0, 1, 63, 64, 65, 1000, 1088, 4097, 100000, 3 << 20 };
  unsigned char *blocks[G_N_ELEMENTS (sizes)];

  for (gsize i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      blocks[i] = plait_arena_allocate (arena, sizes[i]);
      CHECK_INT ((guintptr)blocks[i] % 64, 0);
      memset (blocks[i], (int)i + 1, sizes[i]);
    }
  for (gsize i = 0; i < G_N_ELEMENTS (sizes); i++)
    for (gsize j = 0; j < sizes[i]; j++)
      REQUIRE (blocks[i][j] == i + 1);
}

TEST_CASE (arena, reuses_released_blocks_the_tightest_first)
{
  g_autoptr (PlaitArena) arena = plait_arena_new (0);
  gpointer large = plait_arena_allocate (arena, 20000), wall = plait_arena_allocate (arena, 2000), tight, small;

  tight = plait_arena_allocate (arena, 5000);
  plait_arena_allocate (arena, 2000);
  plait_arena_release (arena, large, 20000);
  plait_arena_release (arena, tight, 5000);
  CHECK (plait_arena_allocate (arena, 4990) == tight);
  CHECK (plait_arena_allocate (arena, 5100) == large);
  CHECK (plait_arena_allocate (arena, 2000) == (char *)large + 5120);
  CHECK (wall != large);

  small = plait_arena_allocate (arena, 100);
  plait_arena_release (arena, small, 100);
  CHECK (plait_arena_allocate (arena, 200) != small);
  CHECK (plait_arena_allocate (arena, 128) == small);
}

TEST_CASE (arena, released_blocks_grow_together)
{
  /* Allocate blocks 0 to 4 next to each other, then release blocks 1 to 3 in each of these orders. */
  const int orders[][3] = { { 1, 2, 3 }, { 3, 2, 1 }, { 1, 3, 2 }, { 2, 1, 3 } };

  for (gsize order = 0; order < G_N_ELEMENTS (orders); order++)
    {
      g_autoptr (PlaitArena) arena = plait_arena_new (0);
      char *blocks[5];

      for (int i = 0; i < 5; i++)
        blocks[i] = plait_arena_allocate (arena, 4096);
      for (int i = 0; i < 3; i++)
        plait_arena_release (arena, blocks[orders[order][i]], 4096);
      CHECK (plait_arena_allocate (arena, 3 * 4096) == blocks[1]);
      plait_arena_release (arena, blocks[4], 4096);
      CHECK (plait_arena_allocate (arena, 100000) == blocks[4]);
    }
}

/* Allocates and releases blocks in random order (seeded): blocks never overlap, and no memory is lost. */
TEST_CASE (arena, holds_any_order_of_taking_and_releasing)
{
  enum
  {
    HELD = 60,
  };
  g_autoptr (PlaitArena) arena = plait_arena_new (0);
  PlaitRandomKey key = plait_random_key (5, "test", "arena", 0);
  unsigned char *blocks[HELD] = { NULL };
  gsize sizes[HELD];

  for (guint64 i = 0; i < 20000; i++)
    {
      gsize place = (gsize)plait_random_below (key, 2 * i, HELD);

      if (blocks[place])
        {
          REQUIRE (blocks[place][0] == place && blocks[place][sizes[place] - 1] == place);
          plait_arena_release (arena, blocks[place], sizes[place]);
          blocks[place] = NULL;
          continue;
        }
      sizes[place] = 1 + (gsize)plait_random_below (key, 2 * i + 1, i % 3 == 0 ? 1200 : 60000);
      blocks[place] = plait_arena_allocate (arena, sizes[place]);
      memset (blocks[place], (int)place, sizes[place]);
    }
  /* At any time about 30 blocks of about 20 kB are in use. */
  CHECK (plait_arena_peak (arena) < 2500000);
  for (gsize place = 0; place < HELD; place++)
    if (blocks[place])
      plait_arena_release (arena, blocks[place], sizes[place]);
  CHECK (plait_arena_allocate (arena, 900000) != NULL);
  CHECK (plait_arena_peak (arena) < 2500000);
}

TEST_CASE (arena, steady_steps_map_nothing_new)
{
  g_autoptr (PlaitArena) arena = plait_arena_new (0);
  gsize peak = 0;

  for (int step = 0; step < 6; step++)
    {
      for (int i = 0; i < 1000; i++)
        {
          gsize size = 64 + 37 * (gsize)i;

          memset (plait_arena_allocate (arena, size), 1, size);
        }
      plait_arena_reset (arena);
      if (step == 1)
        peak = plait_arena_peak (arena);
    }
  CHECK_INT (plait_arena_peak (arena), peak);
  CHECK (peak >= 18 * 1000 * 1000 && peak < 40 * 1000 * 1000);
}

TEST_CASE (arena, the_rest_of_a_mapping_is_not_lost)
{
  g_autoptr (PlaitArena) arena = plait_arena_new (0);
  char *first = plait_arena_allocate (arena, 700 << 10);

  plait_arena_allocate (arena, 900 << 10);
  CHECK (plait_arena_allocate (arena, 250 << 10) == first + (700 << 10));
  CHECK_INT (plait_arena_peak (arena), (700 + 900 + 250) << 10);
}

TEST_CASE (arena, the_next_step_has_one_mapping)
{
  g_autoptr (PlaitArena) arena = plait_arena_new (0);

  for (int i = 0; i < 20; i++)
    plait_arena_allocate (arena, 1 << 20);
  plait_arena_reset (arena);
  char *first = plait_arena_allocate (arena, 1 << 20);
  for (int i = 1; i < 20; i++)
    CHECK ((char *)plait_arena_allocate (arena, 1 << 20) == first + ((gsize)i << 20));
}

TEST_CASE (arena, released_memory_keeps_the_peak_low)
{
  g_autoptr (PlaitArena) arena = plait_arena_new (0);

  for (int i = 0; i < 10000; i++)
    {
      gsize size = 10000 + 40 * (gsize)(i % 5);

      plait_arena_release (arena, plait_arena_allocate (arena, size), size);
    }
  CHECK (plait_arena_peak (arena) <= 1 << 20);
}

typedef struct
{
  PlaitArena *arena;
  gsize size;
  int times;
  int done;
} Taking;

static void
take_many (gpointer data)
{
  Taking *taking = data;

  for (; taking->done < taking->times; taking->done++)
    memset (plait_arena_allocate (taking->arena, taking->size), 1, taking->size);
}

TEST_CASE (arena, leaves_the_call_when_the_limit_is_reached)
{
  g_autoptr (PlaitArena) arena = plait_arena_new (3 << 20);
  g_autoptr (GError) error = NULL;
  Taking taking = { arena, 100000, 1000, 0 };

  CHECK (!plait_arena_protect (arena, take_many, &taking, &error));
  CHECK (error && strstr (error->message, "3145728 allowed"));
  CHECK_ERROR (error, PLAIT_ERROR_MEMORY, "100000 bytes were requested");
  /* Allocations succeeded until nearly all of the limit was used. */
  CHECK (taking.done >= 25 && taking.done <= 31);
  CHECK (plait_arena_peak (arena) <= 3 << 20);

  /* After an error, the arena still serves requests that fit. */
  taking = (Taking){ arena, 100000, 25, 0 };
  CHECK (plait_arena_protect (arena, take_many, &taking, NO_ERROR));
  CHECK_INT (taking.done, 25);
}

TEST_CASE (arena, the_whole_limit_fits_after_a_reset)
{
  g_autoptr (PlaitArena) arena = plait_arena_new (8 << 20);
  Taking small = { arena, 1 << 20, 6, 0 }, large = { arena, 8 << 20, 1, 0 };

  CHECK (plait_arena_protect (arena, take_many, &small, NO_ERROR));
  plait_arena_reset (arena);
  CHECK (plait_arena_protect (arena, take_many, &large, NO_ERROR));
}

static void
take_items (gpointer data)
{
  Taking *taking = data;

  plait_arena_new_array (taking->arena, double, taking->size);
}

/* Requests so many items that their size in bytes would overflow to a small number. */
TEST_CASE (arena, absurd_numbers_of_items_are_refused)
{
  const gsize numbers[] = { G_MAXSIZE, ((gsize)1 << 61) + 1, (gsize)-1, (gsize)1 << 63 };

  for (gsize i = 0; i < G_N_ELEMENTS (numbers); i++)
    {
      g_autoptr (PlaitArena) arena = plait_arena_new (0);
      g_autoptr (GError) error = NULL;
      Taking taking = { .arena = arena, .size = numbers[i] };

      CONTEXT ("%zu items", numbers[i]);
      CHECK (!plait_arena_protect (arena, take_items, &taking, &error));
      CHECK_ERROR (error, PLAIT_ERROR_MEMORY, "make the batches smaller");
    }
}

TEST_CASE (arena, absurd_sizes_are_refused)
{
  const gsize sizes[] = { G_MAXSIZE, G_MAXSIZE - 63, (gsize)1 << 63, ((gsize)1 << 47) + 1, (gsize)1 << 47 };

  for (gsize i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autoptr (PlaitArena) arena = plait_arena_new (0);
      g_autoptr (GError) error = NULL;
      Taking taking = { arena, sizes[i], 1, 0 };

      CONTEXT ("%zu bytes", sizes[i]);
      CHECK (!plait_arena_protect (arena, take_many, &taking, &error));
      CHECK_ERROR (error, PLAIT_ERROR_MEMORY, "make the batches smaller");
    }
}

static void
leave_with_words (gpointer data)
{
  Taking *taking = data;
  GError *error = g_error_new (PLAIT_ERROR, PLAIT_ERROR_PLUGIN, "a plugin did %s", "wrong");

  plait_arena_allocate (taking->arena, taking->size);
  plait_crash_set_owner ((PlaitCodeOwner){ "a plugin", "call" });
  taking->done++;
  plait_arena_fail (taking->arena, error);
}

TEST_CASE (arena, is_left_with_words)
{
  g_autoptr (PlaitArena) arena = plait_arena_new (0);
  g_autoptr (GError) error = NULL;
  Taking taking = { arena, 100000, 1, 0 };

  for (gsize i = 1; i <= 2; i++)
    {
      CHECK (!plait_arena_protect (arena, leave_with_words, &taking, &error));
      CHECK_ERROR (error, PLAIT_ERROR_PLUGIN, "a plugin did wrong");
      CHECK_INT (taking.done, i);
      CHECK (!plait_crash_get_owner ().who);
    }

  /* The error of the earlier calls is not reported again. */
  taking = (Taking){ arena, G_MAXSIZE, 1, 0 };
  CHECK (!plait_arena_protect (arena, take_many, &taking, &error));
  CHECK_ERROR (error, PLAIT_ERROR_MEMORY, "make the batches smaller");
  taking = (Taking){ arena, 100000, 1, 0 };
  CHECK (plait_arena_protect (arena, take_many, &taking, NO_ERROR));
}
