/* SPDX-License-Identifier: MIT */
#include "tasks/generate.h"
#include "harness.h"

static void
clear_lines (GString **lines)
{
  for (int s = 0; s < 2; s++)
    g_string_free (lines[s], TRUE);
}

/* The target has the names of the source at their places, and each other word has one translation. No name of the test
 * split occurs in any other tuple. */
TEST_CASE (names, are_copied_and_never_seen_before)
{
  g_auto (PlaitTaskSettings) settings = plait_task_defaults (&plait_task_names);
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GHashTable) translations = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  GString *lines[] = { g_string_new (NULL), g_string_new (NULL) };
  guint names = 0, sentences = 0;

  for (gint64 split = 0; split < PLAIT_TASK_SPLITS; split++)
    for (gint64 i = 0; i < 2000; i++, sentences++)
      {
        guint own = 0, n;

        plait_task_tuple (&plait_task_names, &settings, split, i, lines);
        g_auto (GStrv) words = g_strsplit (lines[0]->str, " ", -1);
        g_auto (GStrv) target = g_strsplit (lines[1]->str, " ", -1);
        n = g_strv_length (words);
        CHECK_INT (g_strv_length (target), n);
        for (guint w = 0; w < n; w++)
          if (g_ascii_isupper (*words[w]))
            {
              CHECK_STRING (target[w], words[w]);
              CHECK (g_hash_table_add (seen, g_strdup (words[w])));
              own++;
            }
          else
            {
              const char *before = g_hash_table_lookup (translations, words[w]);

              if (before)
                CHECK_STRING (target[w], before);
              else
                g_hash_table_insert (translations, g_strdup (words[w]), g_strdup (target[w]));
            }
        CHECK (own >= 1 && own <= 2 && n - own >= 4 && n - own <= 10);
        names += own;
      }
  CHECK_INT (g_hash_table_size (translations), 40);
  CHECK_NEAR (names / (double)sentences, 1.5, 0.05);
  clear_lines (lines);
}
