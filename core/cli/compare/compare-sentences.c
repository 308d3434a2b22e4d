/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "text/json.h"
#include "compare/compare.h"
#include "terminal/table-print.h"

typedef struct
{
  gint64 sentence;
  double scores[2];
} Pair;

static int
by_difference (gconstpointer a, gconstpointer b)
{
  const Pair *one = a, *other = b;
  double first = fabs (one->scores[1] - one->scores[0]), second = fabs (other->scores[1] - other->scores[0]);

  if (first < second)
    return 1;
  return first > second ? -1 : (one->sentence > other->sentence) - (one->sentence < other->sentence);
}

/* Returns the scores in @score_column of sentences that the two runs score differently, largest difference first; NULL
 * if a run lacks such scores, or if the numbers of sentences differ. (transfer full) (element-type Pair) */
static GArray *
pairs_of (const PlaitRunComparison *comparison, const PlaitScoreColumn *score_column)
{
  const PlaitRunScore *scores[2];
  GArray *pairs;

  for (guint r = 0; r < 2; r++)
    {
      scores[r] = plait_score_column_score (score_column, plait_run_at (comparison->runs, r)->result);
      if (!scores[r] || !scores[r]->statistics || scores[r]->statistics->sentences != scores[0]->statistics->sentences)
        return NULL;
    }
  pairs = g_array_new (FALSE, FALSE, sizeof (Pair));
  for (gsize i = 0; i < scores[0]->statistics->sentences; i++)
    {
      Pair pair = { .sentence = (gint64)i };

      for (guint r = 0; r < 2; r++)
        pair.scores[r]
            = plait_metric_score (scores[r]->scorer, scores[r]->statistics->values + i * scores[r]->statistics->width);
      if (isfinite (pair.scores[0]) && isfinite (pair.scores[1]) && fabs (pair.scores[1] - pair.scores[0]) > 0)
        g_array_append_val (pairs, pair);
    }
  g_array_sort (pairs, by_difference);
  return pairs;
}

/* Lines of a split: the translations of a run, references or a source. */
typedef struct
{
  char *name;
  char **lines; /* [n]; NULL if the lines are missing */
  gint64 n;
} Text;

static void
text_clear (gpointer item)
{
  Text *text = item;

  g_free (text->name);
  g_strfreev (text->lines);
}

static void
add_text (GArray *texts, const PlaitRunFile *run, const char *split, const char *path, const char *name)
{
  Text text = { .name = g_strdup (name) };

  text.lines = plait_run_lines (run->store, split, path, &text.n);
  if (!text.lines)
    text.n = 0;
  g_array_append_val (texts, text);
}

/* Adds the texts in the group @group of /evaluation/@split of @run, with names "@kind MEMBER". */
static void
add_group (GArray *texts, const PlaitRunFile *run, const char *split, const char *group, const char *kind)
{
  g_autofree char *path = g_strdup_printf ("/evaluation/%s/%s", split, group);
  g_auto (GStrv) members
      = plait_store_has (run->store, path) ? plait_store_members (run->store, path, NULL) : g_new0 (char *, 1);

  for (guint i = 0; members && members[i]; i++)
    {
      g_autofree char *member = g_strdup_printf ("%s/%s", group, members[i]);
      g_autofree char *name = g_strdup_printf ("%s %s", kind, members[i]);

      add_text (texts, run, split, member, name);
    }
}

/* Returns the translations of both runs, then references and sources of the first run. (transfer full)
 * (element-type Text) */
static GArray *
texts_of (const PlaitRunComparison *comparison, const char *split)
{
  GArray *texts = g_array_new (FALSE, FALSE, sizeof (Text));
  const PlaitRunFile *first = plait_run_at (comparison->runs, 0);

  g_array_set_clear_func (texts, text_clear);
  for (guint r = 0; r < 2; r++)
    add_text (texts, plait_run_at (comparison->runs, r), split, "hypotheses", plait_run_at (comparison->runs, r)->name);
  add_text (texts, first, split, "references", "reference");
  add_group (texts, first, split, "other_references", "reference");
  add_group (texts, first, split, "sources", "source");
  return texts;
}

/* Makes a table of the sentences of the first @n entries of @pairs, with all their texts. (transfer full) */
static PlaitTable *
table_of (const PlaitRunComparison *comparison, const PlaitScoreColumn *score_column, const GArray *pairs, guint n)
{
  PlaitTable *table = plait_table_new ();
  g_autoptr (GArray) texts = texts_of (comparison, score_column->split);

  plait_table_column (table, PLAIT_TABLE_COUNTS, "Sentence");
  plait_table_column (table, PLAIT_TABLE_WORDS, "Run");
  plait_table_column (table, PLAIT_TABLE_NUMBERS, score_column->name);
  plait_table_column (table, PLAIT_TABLE_PROSE, "Text");
  for (guint i = 0; i < MIN (n, pairs->len); i++)
    {
      const Pair *pair = &g_array_index (pairs, Pair, i);

      for (guint t = 0; t < texts->len; t++)
        {
          const Text *text = &g_array_index (texts, Text, t);

          plait_table_integer (table, PLAIT_TABLE_PLAIN, pair->sentence);
          if (t < 2)
            plait_table_run (table, text->name, t);
          else
            plait_table_text (table, PLAIT_TABLE_DIM, text->name);
          plait_table_real_or_none (table, t < 2 ? pair->scores[t] : NAN);
          plait_table_text (table, t < 2 ? PLAIT_TABLE_PLAIN : PLAIT_TABLE_DIM,
                            pair->sentence < text->n ? text->lines[pair->sentence] : NULL);
        }
    }
  return table;
}

static void
add_or_print (const PlaitScoreColumn *score_column, const PlaitTable *table, PlaitJson *json, PlaitTerminal *terminal)
{
  g_autofree char *title
      = g_strdup_printf ("sentences of %s that differ most by %s", score_column->split, score_column->name);

  if (json)
    {
      plait_json_begin_object (json, NULL);
      plait_json_members (json, "split=%s metric=%s", score_column->split, score_column->metric);
      plait_table_add_json (table, json);
      plait_json_end_object (json);
      return;
    }
  plait_terminal_heading (terminal, title);
  if (table->cells->len > 0)
    plait_table_print (table, terminal);
  else
    plait_terminal_text (terminal, PLAIT_TERMINAL_PLAIN, "  none: both runs have equal scores in every sentence\n");
}

gboolean
plait_compare_sentences (const PlaitRunComparison *comparison, gint64 n, gboolean as_json, GError **error)
{
  gboolean any = FALSE;

  if (comparison->runs->len != 2)
    return plait_fail (error, PLAIT_ERROR_INPUT, "--differ compares two runs, not %u; name two", comparison->runs->len);
  g_autoptr (PlaitJson) json = as_json ? plait_json_new_array () : NULL;
  g_autoptr (PlaitTerminal) terminal = as_json ? NULL : plait_terminal_new ();
  for (guint m = 0; m < comparison->n_score_columns; m = plait_run_comparison_split_end (comparison, m))
    {
      guint end = plait_run_comparison_split_end (comparison, m);
      g_autoptr (GArray) pairs = NULL;

      for (guint k = m; k < end && !pairs; k++)
        {
          pairs = pairs_of (comparison, &comparison->score_columns[k]);
          g_autoptr (PlaitTable) table
              = pairs ? table_of (comparison, &comparison->score_columns[k], pairs, (guint)n) : NULL;
          if (table)
            add_or_print (&comparison->score_columns[k], table, json, terminal);
        }
      any = any || pairs;
    }
  if (!any)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "--differ: no split of the two runs has scores of the same sentences; run plait test on both");
  if (json)
    plait_json_print (json);
  return TRUE;
}
