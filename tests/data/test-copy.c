/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "tasks/generate.h"
#include "harness.h"

/* Lines of one tuple of the task copy. */
typedef struct
{
  GString *lines[2];
} Tuple;

static void
tuple_clear (Tuple *tuple)
{
  for (int s = 0; s < 2; s++)
    if (tuple->lines[s])
      g_string_free (tuple->lines[s], TRUE);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Tuple, tuple_clear)

static void
make_tuple (Tuple *tuple, const PlaitTaskSettings *settings, gint64 split, gint64 index)
{
  for (int s = 0; s < 2; s++)
    if (!tuple->lines[s])
      tuple->lines[s] = g_string_new (NULL);
  plait_task_tuple (&plait_task_copy, settings, split, index, tuple->lines);
}

static void
set (PlaitTaskSettings *settings, const char *name, gint64 value)
{
  CHECK (plait_task_set (&plait_task_copy, settings, name, value, NO_ERROR));
}

/* Lengths and symbols are uniformly distributed, and the target equals the source. */
TEST_CASE (copy, target_is_the_source)
{
  const int n = 3000;
  g_auto (PlaitTaskSettings) settings = plait_task_defaults (&plait_task_copy);
  g_autoptr (GHashTable) counts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_auto (Tuple) tuple = { 0 };
  guint shortest = G_MAXUINT, longest = 0;
  double symbols = 0;
  GHashTableIter each;
  gpointer count;

  for (gint64 i = 0; i < n; i++)
    {
      make_tuple (&tuple, &settings, 0, i);
      CHECK_STRING (tuple.lines[1]->str, tuple.lines[0]->str);
      g_auto (GStrv) words = g_strsplit (tuple.lines[0]->str, " ", -1);
      guint length = g_strv_length (words);
      shortest = MIN (shortest, length);
      longest = MAX (longest, length);
      symbols += length;
      for (guint k = 0; k < length; k++)
        {
          CHECK_INT (strlen (words[k]), 4);
          g_hash_table_insert (counts, g_strdup (words[k]),
                               GINT_TO_POINTER (GPOINTER_TO_INT (g_hash_table_lookup (counts, words[k])) + 1));
        }
    }
  CHECK_INT (shortest, 10);
  CHECK_INT (longest, 100);
  CHECK_NEAR (symbols / n, 55, 4 * 91 / sqrt (12. * n));
  CHECK_INT (g_hash_table_size (counts), 40);
  g_hash_table_iter_init (&each, counts);
  while (g_hash_table_iter_next (&each, NULL, &count))
    CHECK_NEAR (GPOINTER_TO_INT (count), symbols / 40, 5 * sqrt (symbols / 40));
}

TEST_CASE (copy, keys_say_symbols_and_lengths)
{
  g_auto (PlaitTaskSettings) settings = plait_task_defaults (&plait_task_copy);
  g_auto (Tuple) tuple = { 0 };

  set (&settings, "symbols", 1);
  set (&settings, "shortest", 3);
  set (&settings, "longest", 2); /* longest is below shortest, so all sentences have the shortest length, three */
  make_tuple (&tuple, &settings, 0, 0);
  g_auto (GStrv) words = g_strsplit (tuple.lines[1]->str, " ", -1);
  CHECK_INT (g_strv_length (words), 3);
  CHECK_STRING (words[1], words[0]);
  CHECK_STRING (words[2], words[0]);
}

TEST_CASE (copy, repeats_itself_by_seed)
{
  g_auto (PlaitTaskSettings) settings = plait_task_defaults (&plait_task_copy);
  g_auto (Tuple) first = { 0 }, again = { 0 }, other = { 0 }, test = { 0 };

  for (gint64 i = 0; i < 100; i++)
    {
      settings.seed = 1;
      make_tuple (&first, &settings, 0, i);
      make_tuple (&again, &settings, 0, i);
      make_tuple (&test, &settings, 2, i);
      settings.seed = 2;
      make_tuple (&other, &settings, 0, i);
      CHECK_STRING (again.lines[0]->str, first.lines[0]->str);
      CHECK (strcmp (first.lines[0]->str, other.lines[0]->str) != 0);
      CHECK (strcmp (first.lines[0]->str, test.lines[0]->str) != 0);
    }
}
