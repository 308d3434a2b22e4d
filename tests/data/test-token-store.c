/* SPDX-License-Identifier: MIT */
#include "corpus/token-store.h"

#include <malloc.h>

#include "harness.h"

/* Returns an id that depends on @sentence and on @place in it. Sentence i has i * 37 % 23 ids. */
static gint32
id_of (gint64 sentence, gint64 place, gint64 ids)
{
  return (gint32)((sentence * 7919 + place * 104729) % ids);
}

static void
check_store (gint64 ids, gint64 sentences, gint64 longest)
{
  CONTEXT ("%d ids, %d sentences", (int)ids, (int)sentences);
  g_autoptr (GError) error = NULL;
  g_autoptr (PlaitTokenStore) store = plait_token_store_new (ids);
  g_autofree gint32 *sentence = g_new (gint32, longest);
  for (gint64 i = 0; i < sentences; i++)
    {
      gint64 n = i * 37 % longest;
      for (gint64 j = 0; j < n; j++)
        sentence[j] = id_of (i, j, ids);
      REQUIRE (plait_token_store_append (store, sentence, (gsize)n, NO_ERROR));
    }
  CHECK (plait_token_store_finish (store, NO_ERROR));
  gint64 wrong = 0;
  for (gint64 i = sentences - 1; i >= 0; i -= 1 + i % 3)
    {
      gint64 n = plait_token_store_length (store, i);
      wrong += n != i * 37 % longest;
      REQUIRE (plait_token_store_read (store, i, 0, n, sentence, &error));
      for (gint64 j = 0; j < n; j += MAX (1, n / 20))
        {
          gint32 id = -1;
          REQUIRE (plait_token_store_read (store, i, j, 1, &id, &error));
          wrong += sentence[j] != id_of (i, j, ids) || id != sentence[j];
        }
    }
  CHECK_INT (wrong, 0);
}

TEST_CASE (token_store, gives_back_what_it_got)
{
  check_store (100, 0, 23);
  check_store (100, 1000, 23);
  check_store (65536, 1000, 23);
  check_store (65537, 1000, 23);
}

TEST_CASE (token_store, moves_to_a_file_when_large)
{
  check_store (65536, 8000, 10007);
  check_store (1 << 20, 5000, 10007);
}

/* Returns the number of bytes that malloc has allocated; not available with sanitizers. */
static gsize
allocated (void)
{
  struct mallinfo2 all = mallinfo2 ();

  return all.uordblks + all.hblkhd;
}

/* Once ids are written to the store's file, their memory is released. */
TEST_CASE (token_store, holds_no_ids_in_memory_once_it_has_a_file)
{
  enum
  {
    LENGTH = 10000,
    SENTENCES = 4000, /* 80 MB of ids */
  };
  gsize before = allocated ();
  g_autoptr (PlaitTokenStore) store = plait_token_store_new (65536);
  g_autofree gint32 *sentence = g_new0 (gint32, LENGTH);

  for (gint64 i = 0; i < SENTENCES; i++)
    REQUIRE (plait_token_store_append (store, sentence, LENGTH, NO_ERROR));
  CHECK (allocated () - before < 4 * 1024 * 1024);
  CHECK (plait_token_store_finish (store, NO_ERROR));
  CHECK (allocated () - before < 1024 * 1024);
}
