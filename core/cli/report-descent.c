/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "base/display.h"
#include "cli/descent.h"
#include "cli/html.h"
#include "cli/report.h"

/*
 * Descents as SVG: for each target word the pyramid, its top above, filled by how much came down to each row, the way
 * outlined. Words are buttons of one choice, so the style sheet alone shows one picture at a time.
 */

#define CELL 26   /* of a leaf */
#define HEIGHT 24 /* of a level */
#define GAP 8     /* between levels */
#define LEFT 58   /* for the names of levels */
#define LONGEST_LABEL 18
#define MOST_CELLS 30000 /* of all pictures of one descent */
#define LIGHT_INK .7     /* the strength from which a number is written in the colour of paper */

typedef struct
{
  GString *html;
  const PlaitDescentMap *descent;
  const char *name; /* of the buttons: no other's on the page */
} Picture;

static double
top_of (const PlaitDescentMap *descent, gint64 level)
{
  return 2 + (double)(descent->highest - level) * (HEIGHT + GAP);
}

/* The cell of one row, which tells what it spans and its numbers when pointed at. */
static void
add_row (const Picture *picture, gint64 word, gint64 row)
{
  const PlaitDescentMap *descent = picture->descent;
  const PlaitDescentStep *step = plait_descent_step (descent, word, row);
  GString *html = picture->html;
  double x = LEFT + (double)descent->first[row] * CELL, y = top_of (descent, descent->level[row]);
  double width = (double)(descent->last[row] - descent->first[row] + 1) * CELL - 3;
  double share = isfinite (step->share) ? CLAMP (step->share, 0, 1) : 0;

  plait_html_add (html, "<g><rect class=\"%s\" x=\"",
                  step->weighed == 0 ? "unseen"
                  : step->taken > 0  ? "cell way"
                                     : "cell");
  plait_html_real (html, x, 1);
  g_string_append (html, "\" y=\"");
  plait_html_real (html, y, 1);
  g_string_append (html, "\" width=\"");
  plait_html_real (html, width, 1);
  plait_html_add (html, "\" height=\"%d\" rx=\"3\"", HEIGHT);
  if (step->weighed > 0)
    {
      g_string_append (html, " fill-opacity=\"");
      plait_html_real (html, .06 + .94 * share, 3);
      g_string_append_c (html, '"');
    }
  g_string_append (html, "/>");
  if (step->weighed > 0)
    {
      plait_html_add (html, "<text class=\"%s\" text-anchor=\"middle\" x=\"", share > LIGHT_INK ? "on" : "off");
      plait_html_real (html, x + width / 2, 1);
      g_string_append (html, "\" y=\"");
      plait_html_real (html, y + HEIGHT / 2. + 3, 1);
      plait_html_add (html, "\">%d</text>", (int)(share * 100 + .5));
    }
  g_string_append (html, "<title>");
  plait_html_text (html, descent->rows[row]);
  if (step->weighed > 0)
    {
      g_string_append (html, ": ");
      plait_html_real (html, share, 4);
      g_string_append (html, " of its level, ");
      plait_html_real (html, isfinite (step->weight) ? step->weight : 0, 4);
      g_string_append (html, " among its siblings, path ");
      plait_html_real (html, isfinite (step->path) ? step->path : 0, 4);
    }
  else
    g_string_append (html, ": not looked at");
  if (descent->ways > 1)
    plait_html_add (html, "; taken by %u of %u", step->taken, descent->ways);
  g_string_append (html, "</title></g>\n");
}

static void
add_level_names (const Picture *picture)
{
  for (gint64 level = picture->descent->highest; level >= 0; level--)
    {
      plait_html_add (picture->html, "<text class=\"tick\" text-anchor=\"end\" x=\"%d\" y=\"", LEFT - 8);
      plait_html_real (picture->html, top_of (picture->descent, level) + HEIGHT / 2. + 4, 1);
      if (level > 0)
        plait_html_add (picture->html, "\">level %" G_GINT64_FORMAT "</text>\n", level);
      else
        g_string_append (picture->html, "\">leaves</text>\n");
    }
}

/* The leaves below their cells, from bottom to top. */
static void
add_leaves (const Picture *picture, double top)
{
  const PlaitDescentMap *descent = picture->descent;

  for (gint64 r = 0; r < descent->n_rows; r++)
    {
      g_autofree char *clean = descent->level[r] == 0 ? plait_display_clean (descent->rows[r], FALSE) : NULL;
      g_autofree char *cut = clean ? plait_display_cut (clean, LONGEST_LABEL) : NULL;

      if (!cut)
        continue;
      g_string_append (picture->html, "<text text-anchor=\"end\" transform=\"translate(");
      plait_html_real (picture->html, LEFT + (double)descent->first[r] * CELL + CELL / 2. + 3, 1);
      g_string_append_c (picture->html, ' ');
      plait_html_real (picture->html, top, 1);
      g_string_append (picture->html, ") rotate(-60)\">");
      plait_html_text (picture->html, cut);
      g_string_append (picture->html, "</text>\n");
    }
}

static double
tallest_label (const PlaitDescentMap *descent)
{
  gsize widest = 0;

  for (gint64 r = 0; r < descent->n_rows; r++)
    if (descent->level[r] == 0)
      {
        g_autofree char *clean = plait_display_clean (descent->rows[r], FALSE);

        widest = MAX (widest, MIN (plait_display_width (clean), LONGEST_LABEL));
      }
  return (6.6 * (double)widest + 6) * sin (G_PI / 3) + 8;
}

static void
add_pyramid (const Picture *picture, gint64 word)
{
  const PlaitDescentMap *descent = picture->descent;
  double width = LEFT + (double)descent->n_leaves * CELL + 2, bottom = top_of (descent, -1);
  double height = bottom + tallest_label (descent);

  g_string_append (picture->html, "<svg role=\"img\" width=\"");
  plait_html_real (picture->html, width, 0);
  g_string_append (picture->html, "\" height=\"");
  plait_html_real (picture->html, height, 0);
  g_string_append (picture->html, "\" viewBox=\"0 0 ");
  plait_html_real (picture->html, width, 0);
  g_string_append_c (picture->html, ' ');
  plait_html_real (picture->html, height, 0);
  g_string_append (picture->html, "\">\n");
  add_level_names (picture);
  for (gint64 r = 0; r < descent->n_rows; r++)
    add_row (picture, word, r);
  add_leaves (picture, bottom + 4);
  g_string_append (picture->html, "</svg>\n");
}

/* A button, its label and its picture, one word after the other; the first is chosen. */
static void
add_words (const Picture *picture, gint64 words)
{
  GString *html = picture->html;

  g_string_append (html, "<div class=\"descent\">\n");
  for (gint64 t = 0; t < words; t++)
    {
      g_autofree char *clean = plait_display_clean (picture->descent->targets[t], FALSE);
      g_autofree char *cut = plait_display_cut (clean, LONGEST_LABEL);

      g_string_append (html, "<input type=\"radio\" name=\"");
      plait_html_text (html, picture->name);
      g_string_append (html, "\" id=\"");
      plait_html_text (html, picture->name);
      plait_html_add (html, "/%" G_GINT64_FORMAT "\"%s><label for=\"", t, t == 0 ? " checked" : "");
      plait_html_text (html, picture->name);
      plait_html_add (html, "/%" G_GINT64_FORMAT "\">", t);
      plait_html_text (html, cut);
      g_string_append (html, "</label>\n<div class=\"scroll\">");
      add_pyramid (picture, t);
      g_string_append (html, "</div>\n");
    }
  g_string_append (html, "</div>\n");
}

gboolean
plait_report_descents (GString *html, guint run, PlaitStore *store, const char *path, GError **error)
{
  g_auto (GStrv) members = plait_store_members (store, path, error);

  if (!members)
    return FALSE;
  for (guint i = 0; members[i]; i++)
    {
      g_autofree char *place = plait_place_below (path, members[i]);
      g_autofree char *name = g_strdup_printf ("%u%s", run, place);
      g_autoptr (PlaitDescentMap) descent = NULL;
      gint64 words;

      if (!plait_descent_is (store, place))
        continue;
      descent = plait_descent_read (store, place, (PlaitMapChoice){ PLAIT_MAP_USUAL, PLAIT_MAP_USUAL }, error);
      if (!descent)
        return FALSE;
      words = MIN (descent->n_targets, MOST_CELLS / descent->n_rows);
      g_string_append (html, "<figure><figcaption>");
      plait_html_text (html, descent->title ? descent->title : members[i]);
      g_string_append (html, " <span class=\"dim\">");
      plait_html_text (html, descent->choice);
      g_string_append (html, "</span></figcaption>\n");
      if (words < descent->n_targets)
        plait_html_add (html,
                        "<p class=\"dim small\">The first %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT
                        " words; plait show draws the others.</p>\n",
                        words, descent->n_targets);
      add_words (&(Picture){ html, descent, name }, words);
      g_string_append (html, "</figure>\n");
    }
  return TRUE;
}
