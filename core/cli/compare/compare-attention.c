/* SPDX-License-Identifier: MIT */
#include "text/json.h"
#include "comparison/attention-difference.h"
#include "compare/compare.h"
#include "terminal/table-print.h"

static void
print_json (GPtrArray *differences)
{
  g_autoptr (PlaitJson) json = plait_json_new_array ();

  for (guint i = 0; i < differences->len; i++)
    {
      const PlaitAttentionDifference *difference = differences->pdata[i];

      plait_json_begin_object (json, NULL);
      plait_json_members (json, "split=%s memory=%s sentences=%jd skipped=%jd", difference->split, difference->memory,
                          difference->sentences, difference->skipped);
      plait_json_begin_array (json, "divergence");
      for (gint64 l = 0; l < difference->layers; l++)
        {
          plait_json_begin_array (json, NULL);
          for (gint64 h = 0; h < difference->heads; h++)
            plait_json_real (json, NULL, plait_attention_difference_mean (difference, l, h));
          plait_json_end_array (json);
        }
      plait_json_end_array (json);
      plait_json_end_object (json);
    }
  plait_json_print (json);
}

static void
print_one (const PlaitAttentionDifference *difference, PlaitTerminal *terminal)
{
  g_autoptr (PlaitTable) table = plait_attention_difference_shown (difference);
  g_autofree char *title = g_strdup_printf ("attention to %s on %s", difference->memory, difference->split);

  plait_terminal_heading (terminal, title);
  if (difference->sentences > 0)
    plait_table_print (table, terminal);
  plait_terminal_text (terminal, PLAIT_TERMINAL_DIM, "  %jd sentence%s", difference->sentences,
                       difference->sentences == 1 ? "" : "s");
  if (difference->skipped > 0)
    plait_terminal_text (terminal, PLAIT_TERMINAL_DIM,
                         "; %jd sentences left out: their tokens, layers or heads differ, or their rows are not tokens",
                         difference->skipped);
  plait_terminal_text (terminal, PLAIT_TERMINAL_PLAIN, "\n");
}

gboolean
plait_compare_attention (char *const *paths, gboolean json, PlaitLog *log, GError **error)
{
  if (!paths[0] || !paths[1] || paths[2])
    return plait_fail (error, PLAIT_ERROR_INPUT, "--attention compares two files; name two");
  g_autoptr (PlaitStore) first = plait_store_open_rewritten (paths[0], log, error);
  g_autoptr (PlaitStore) second = first ? plait_store_open_rewritten (paths[1], log, error) : NULL;
  if (!second)
    return FALSE;
  g_autoptr (GPtrArray) differences = plait_attention_differences (first, second, error);
  if (!differences)
    return FALSE;
  if (differences->len == 0)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s and %s: no sentence has attention in both files to a source of the same name; dump the "
                       "attention of both runs on one text",
                       paths[0], paths[1]);
  if (json)
    {
      print_json (differences);
      return TRUE;
    }
  g_autoptr (PlaitTerminal) terminal = plait_terminal_new ();
  for (guint i = 0; i < differences->len; i++)
    print_one (differences->pdata[i], terminal);
  plait_terminal_text (terminal, PLAIT_TERMINAL_PLAIN, "\n  ");
  plait_terminal_paragraph (terminal, 2, 2, plait_attention_difference_legend);
  return TRUE;
}
