/* SPDX-License-Identifier: MIT */
#include "text/display.h"
#include "show/show.h"

/* Prints a descent on the terminal, level by level from the top. */

#define BAR 20
#define MAX_ROWS 12 /* maximum number of rows shown for each level without --all */

/* Returns the rows of @level that were weighed, with their shares. (transfer full) (element-type PlaitIndexedWeight) */
static GArray *
weighed_rows (const PlaitDescent *descent, gint64 word, gint64 level)
{
  GArray *rows = g_array_new (FALSE, FALSE, sizeof (PlaitIndexedWeight));

  for (gint64 r = 0; r < descent->n_rows; r++)
    {
      const PlaitDescentStep *step = plait_descent_step (descent, word, r);

      if (descent->level[r] == level && step->weighed > 0)
        g_array_append_val (rows, ((PlaitIndexedWeight){ r, step->share }));
    }
  return rows;
}

/* Prints a row such as "  ▶ 0.81 ████████████████      ein … Mann". If the descent is a mean of heads or layers, also
 * prints how many of these selected the row. */
static void
print_row (const PlaitDescent *descent, gint64 word, gint64 row, PlaitTerminal *terminal)
{
  const PlaitDescentStep *step = plait_descent_step (descent, word, row);
  g_autofree char *label = plait_display_sanitise (descent->rows[row], FALSE);
  char share[G_ASCII_DTOSTR_BUF_SIZE];
  guint full = (guint)(CLAMP (step->share, 0, 1) * BAR + .5);

  g_ascii_formatd (share, sizeof share, "%.2f", step->share);
  plait_terminal_text (terminal, PLAIT_TERMINAL_PLAIN, "  %s %s ",
                       step->taken == 0          ? " "
                       : descent->level[row] > 0 ? "▶"
                                                 : "•",
                       share);
  for (guint i = 0; i < full; i++)
    plait_terminal_text (terminal, PLAIT_TERMINAL_NAME, "█");
  plait_terminal_text (terminal, PLAIT_TERMINAL_PLAIN, "%*s ", BAR - full, "");
  plait_terminal_text (terminal, step->taken > 0 ? PLAIT_TERMINAL_HEADING : PLAIT_TERMINAL_PLAIN, "%s", label);
  if (descent->ways > 1)
    plait_terminal_text (terminal, PLAIT_TERMINAL_DIM, "  (%u of %u)", step->taken, descent->ways);
  plait_terminal_text (terminal, PLAIT_TERMINAL_PLAIN, "\n");
}

static void
print_level (const PlaitDescent *descent, gint64 word, gint64 level, gboolean everything, PlaitTerminal *terminal)
{
  g_autoptr (GArray) rows = weighed_rows (descent, word, level);
  guint weighed = rows->len;
  gint64 all = 0;

  for (gint64 r = 0; r < descent->n_rows; r++)
    all += descent->level[r] == level;
  if (level > 0)
    plait_terminal_text (terminal, PLAIT_TERMINAL_HEADING, "level %jd", level);
  else
    plait_terminal_text (terminal, PLAIT_TERMINAL_HEADING, "leaves");
  plait_terminal_text (terminal, PLAIT_TERMINAL_DIM, "  %u of %jd rows weighed\n", weighed, all);
  if (!everything)
    plait_indexed_weights_keep_top (rows, MAX_ROWS);
  for (guint i = 0; i < rows->len; i++)
    print_row (descent, word, g_array_index (rows, PlaitIndexedWeight, i).number, terminal);
  if (weighed > rows->len)
    plait_terminal_text (terminal, PLAIT_TERMINAL_DIM, "  … %u lighter rows; --all shows them\n", weighed - rows->len);
}

/* Prints "words: 0 a, 1 black, …". */
static void
print_words (const PlaitDescent *descent, PlaitTerminal *terminal)
{
  g_autoptr (GString) text = g_string_new ("words:");

  for (gint64 t = 0; t < descent->n_targets; t++)
    {
      g_autofree char *label = plait_display_sanitise (descent->targets[t], FALSE);

      g_string_append_printf (text, "%s %jd %s", t > 0 ? "," : "", t, label);
    }
  plait_terminal_paragraph (terminal, 0, 2, text->str);
}

void
plait_descent_print (const PlaitDescent *descent, gint64 word, gboolean everything, PlaitTerminal *terminal)
{
  g_autofree char *label = plait_display_sanitise (descent->targets[word], FALSE);

  plait_terminal_text (terminal, PLAIT_TERMINAL_HEADING, "%s", descent->title ? descent->title : "descent");
  plait_terminal_text (terminal, PLAIT_TERMINAL_DIM, "  word %jd", word);
  plait_terminal_text (terminal, PLAIT_TERMINAL_NAME, " %s", label);
  plait_terminal_text (terminal, PLAIT_TERMINAL_DIM, "  %s\n", descent->choice);
  for (gint64 level = descent->highest; level >= 0; level--)
    print_level (descent, word, level, everything, terminal);
  plait_terminal_text (terminal, PLAIT_TERMINAL_DIM,
                       "▶ selected: its children are weighed next; • leaf that is read; a number is the share of the "
                       "row in its level, by the product of the weights from the top\n");
  print_words (descent, terminal);
}

static void
add_level_json (const PlaitDescent *descent, gint64 word, gint64 level, PlaitJson *json)
{
  plait_json_begin_object (json, NULL);
  plait_json_integer (json, "level", level);
  plait_json_begin_array (json, "rows");
  for (gint64 r = 0; r < descent->n_rows; r++)
    {
      const PlaitDescentStep *step = plait_descent_step (descent, word, r);

      if (descent->level[r] != level || step->weighed == 0)
        continue;
      plait_json_object (json, NULL,
                         "row=%jd label=%s first_leaf=%jd last_leaf=%jd weight=%g path=%g share=%g weighed=%u taken=%u",
                         r, descent->rows[r], descent->first[r], descent->last[r], step->weight, step->path,
                         step->share, step->weighed, step->taken);
    }
  plait_json_end_array (json);
  plait_json_end_object (json);
}

void
plait_descent_add_json (const PlaitDescent *descent, gint64 first, gint64 last, PlaitJson *json)
{
  plait_json_members (json, "title=%s choice=%s ways=%u", descent->title, descent->choice, descent->ways);
  plait_json_begin_array (json, "words");
  for (gint64 word = first; word <= last; word++)
    {
      plait_json_begin_object (json, NULL);
      plait_json_members (json, "word=%jd label=%s", word, descent->targets[word]);
      plait_json_begin_array (json, "levels");
      for (gint64 level = descent->highest; level >= 0; level--)
        add_level_json (descent, word, level, json);
      plait_json_end_array (json);
      plait_json_end_object (json);
    }
  plait_json_end_array (json);
}
