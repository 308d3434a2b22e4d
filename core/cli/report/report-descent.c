/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "comparison/descent.h"
#include "report/html.h"
#include "report/report.h"

/*
 * Descents as SVG: for each target word the pyramid, its top above, filled by how much came down to each row, the way
 * outlined. Words are buttons of one choice, so the style sheet alone shows one picture at a time. A sentence of 100
 * words has 100 pyramids, so what pictures share stands once: cells by their number once a page, frames and labels once
 * a sentence.
 */

#define CELL 26        /* of a leaf */
#define HEIGHT 24      /* of a level */
#define GAP 8          /* between levels */
#define LEFT 58        /* for the names of levels */
#define MOST_CELLS 800 /* of all pictures of one descent: the script draws the others */
#define LIGHT_INK 70   /* the number from which it is written in the colour of paper */

static const char cell_letters[2] = "aw"; /* of cells aside, and on the way */

typedef struct
{
  PlaitReportDescents *descents;
  GString *html;
  const PlaitDescentMap *descent;
  guint number; /* on the page: of the buttons, and of what all words share */
  double width, height;
} Picture;

static double
top_of (const PlaitDescentMap *descent, gint64 level)
{
  return 2 + (double)(descent->highest - level) * (HEIGHT + GAP);
}

static double
width_of (const PlaitDescentMap *descent, gint64 row)
{
  return (double)(descent->last[row] - descent->first[row] + 1) * CELL - 3;
}

void
plait_report_descents_end (const PlaitReportDescents *descents, GString *html)
{
  if (descents->n == 0)
    return;
  g_string_append (html, "<svg class=\"cells\" width=\"0\" height=\"0\">\n");
  for (guint taken = 0; taken < 2; taken++)
    for (int percent = 0; percent <= 100; percent++)
      if (descents->drawn[taken][percent])
        g_string_append_printf (html,
                                "<symbol id=\"%c%d\"><rect class=\"cell %s\" width=\"100%%\" height=\"%d\" rx=\"3\" "
                                "fill-opacity=\"%s\"/><text class=\"%s\" x=\"50%%\" y=\"%d\">%d</text></symbol>\n",
                                cell_letters[taken], percent, taken ? "way" : "aside", HEIGHT,
                                PLAIT_HTML_REAL (.06 + .94 * percent / 100, 3), percent > LIGHT_INK ? "on" : "off",
                                HEIGHT / 2 + 3, percent);
  g_string_append (html, "</svg>\n");
}

/* What a row spans, and the numbers behind its share, when it is pointed at. */
static void
add_title (const Picture *picture, const PlaitDescentStep *step, gint64 row)
{
  GString *html = picture->html;
  double weight = isfinite (step->weight) ? step->weight : 0, path = isfinite (step->path) ? step->path : 0;

  plait_html_format (html, "<title>%s", picture->descent->rows[row]);
  g_string_append_printf (html, ": %s", PLAIT_HTML_REAL (weight, 4));
  if (fabs (path - weight) > 0) /* at the top it is the weight */
    g_string_append_printf (html, ", %s", PLAIT_HTML_REAL (path, 4));
  if (picture->descent->ways > 1)
    g_string_append_printf (html, "; %u of %u", step->taken, picture->descent->ways);
  g_string_append (html, "</title>");
}

/* The rows of @level that were weighed for @word. Widths are told where they are not that of the first one. */
static void
add_level (const Picture *picture, gint64 word, gint64 level)
{
  const PlaitDescentMap *descent = picture->descent;
  GString *html = picture->html;
  double usual = -1;

  for (gint64 r = 0; r < descent->n_rows; r++)
    {
      const PlaitDescentStep *step = plait_descent_step (descent, word, r);
      int percent = isfinite (step->share) ? (int)(CLAMP (step->share, 0, 1) * 100 + .5) : 0;
      gboolean taken = step->taken > 0;

      if (descent->level[r] != level || step->weighed == 0)
        continue;
      picture->descents->drawn[taken][percent] = TRUE;
      if (usual < 0)
        {
          usual = width_of (descent, r);
          g_string_append_printf (html, "<svg y=\"%s\" width=\"%s\">\n", PLAIT_HTML_REAL (top_of (descent, level), 1),
                                  PLAIT_HTML_REAL (usual, 1));
        }
      g_string_append_printf (html, "<use href=\"#%c%d\" x=\"%s\"", cell_letters[taken], percent,
                              PLAIT_HTML_REAL (LEFT + (double)descent->first[r] * CELL, 1));
      if (fabs (width_of (descent, r) - usual) > 0)
        g_string_append_printf (html, " width=\"%s\"", PLAIT_HTML_REAL (width_of (descent, r), 1));
      g_string_append_c (html, '>');
      add_title (picture, step, r);
      g_string_append (html, "</use>\n");
    }
  if (usual >= 0)
    g_string_append (html, "</svg>\n");
}

/* The frame of one row, which stands empty where the row was not looked at. */
static void
add_frame (const Picture *picture, gint64 row)
{
  const PlaitDescentMap *descent = picture->descent;

  g_string_append_printf (
      picture->html, "<rect class=\"unseen\" x=\"%s\" y=\"%s\" width=\"%s\" height=\"%d\" rx=\"3\"><title>",
      PLAIT_HTML_REAL (LEFT + (double)descent->first[row] * CELL, 1),
      PLAIT_HTML_REAL (top_of (descent, descent->level[row]), 1), PLAIT_HTML_REAL (width_of (descent, row), 1), HEIGHT);
  plait_html_format (picture->html, "%s: not looked at</title></rect>\n", descent->rows[row]);
}

static void
add_level_names (const Picture *picture)
{
  for (gint64 level = picture->descent->highest; level >= 0; level--)
    {
      g_string_append_printf (picture->html, "<text class=\"tick\" text-anchor=\"end\" x=\"%d\" y=\"%s\">", LEFT - 8,
                              PLAIT_HTML_REAL (top_of (picture->descent, level) + HEIGHT / 2. + 4, 1));
      if (level > 0)
        g_string_append_printf (picture->html, "level %jd</text>\n", level);
      else
        g_string_append (picture->html, "leaves</text>\n");
    }
}

/* The leaves below their cells, from bottom to top. */
static void
add_leaves (const Picture *picture, double top)
{
  const PlaitDescentMap *descent = picture->descent;

  for (gint64 r = 0; r < descent->n_rows; r++)
    {
      if (descent->level[r] != 0)
        continue;
      g_string_append_printf (picture->html, "<text text-anchor=\"end\" transform=\"translate(%s %s) rotate(-60)\">",
                              PLAIT_HTML_REAL (LEFT + (double)descent->first[r] * CELL + CELL / 2. + 3, 1),
                              PLAIT_HTML_REAL (top, 1));
      plait_html_label (picture->html, descent->rows[r]);
      g_string_append (picture->html, "</text>\n");
    }
}

static double
tallest_label (const PlaitDescentMap *descent)
{
  gsize widest = 0;

  for (gint64 r = 0; r < descent->n_rows; r++)
    if (descent->level[r] == 0)
      widest = MAX (widest, plait_html_label_columns (descent->rows[r]));
  return (6.6 * (double)widest + 6) * sin (G_PI / 3) + 8;
}

/* What the pictures of all words have in common, once: names of levels, frames of rows, the leaves. */
static void
add_ground (const Picture *picture)
{
  g_string_append_printf (picture->html, "<svg class=\"cells\" width=\"0\" height=\"0\"><defs><g id=\"d%u\">\n",
                          picture->number);
  add_level_names (picture);
  for (gint64 r = 0; r < picture->descent->n_rows; r++)
    add_frame (picture, r);
  add_leaves (picture, top_of (picture->descent, -1) + 4);
  g_string_append (picture->html, "</g></defs></svg>\n");
}

static void
add_pyramid (const Picture *picture, gint64 word)
{
  const PlaitDescentMap *descent = picture->descent;

  plait_html_begin_svg (picture->html, NULL, picture->width, picture->height);
  g_string_append_printf (picture->html, "<use href=\"#d%u\"/>\n", picture->number);
  for (gint64 level = descent->highest; level >= 0; level--)
    add_level (picture, word, level);
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
      g_string_append_printf (html, "<input type=\"radio\" name=\"d%u\" id=\"d%u.%jd\"%s><label for=\"d%u.%jd\">",
                              picture->number, picture->number, t, t == 0 ? " checked" : "", picture->number, t);
      plait_html_label (html, picture->descent->targets[t]);
      g_string_append (html, "</label>\n<div>");
      add_pyramid (picture, t);
      g_string_append (html, "</div>\n");
    }
  g_string_append (html, "</div>\n");
}

/* How many words' pictures stand on the page: as many as have no more than MOST_CELLS weighed rows, and the first. */
static gint64
count_words (const PlaitDescentMap *descent)
{
  gint64 cells = 0;

  for (gint64 word = 0; word < descent->n_targets; word++)
    {
      for (gint64 r = 0; r < descent->n_rows; r++)
        cells += plait_descent_step (descent, word, r)->weighed > 0;
      if (cells > MOST_CELLS)
        return MAX (word, 1);
    }
  return descent->n_targets;
}

/* How to read descents, before the first of the page. */
static const char legend[]
    = "<p class=\"dim small\">In a descent a word is chosen. The rows below each other are the levels, filled by how "
      "much of what came down to a level each has, in hundredths; what the way goes through is outlined. Pointed at, a "
      "cell tells its weight among its siblings, below the top also the product of the weights down to it, and of "
      "several heads how many took it.</p>\n";

gboolean
plait_report_descents (PlaitReportDescents *descents, GString *html, PlaitStore *store, const char *path,
                       GError **error)
{
  g_auto (GStrv) members = plait_place_members (store, path, error);

  if (!members)
    return FALSE;
  for (guint i = 0; members[i]; i++)
    {
      g_autofree char *place = plait_place_below (path, members[i]);
      g_autoptr (PlaitDescentMap) descent = NULL;
      Picture picture;
      gint64 words;

      if (!plait_descent_is (store, place))
        continue;
      descent = plait_descent_read (store, place, PLAIT_MAP_CHOICE_USUAL, error);
      if (!descent)
        return FALSE;
      if (descents->n == 0)
        g_string_append (html, legend);
      words = count_words (descent);
      plait_html_format (html, "<figure><figcaption>%s <span class=\"dim\">%s</span></figcaption>\n",
                         descent->title ? descent->title : members[i], descent->choice);
      if (words < descent->n_targets)
        g_string_append_printf (html,
                                "<p class=\"dim small\">The first %jd of %jd words; with script the page draws the "
                                "others, as plait show does.</p>\n",
                                words, descent->n_targets);
      picture = (Picture){ .descents = descents,
                           .html = html,
                           .descent = descent,
                           .number = descents->n++,
                           .width = LEFT + (double)descent->n_leaves * CELL + 2,
                           .height = top_of (descent, -1) + tallest_label (descent) };
      add_ground (&picture);
      add_words (&picture, words);
      g_string_append (html, "</figure>\n");
    }
  return TRUE;
}
