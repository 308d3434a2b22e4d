/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "base/display.h"
#include "cli/html.h"
#include "cli/report.h"

/*
 * Attention as SVG: one large picture a memory with its tokens, and small ones of every layer and head.
 */

#define CELL 24
#define SMALL_CELL 5
#define SHADES 12
#define MOST_CELLS 6000        /* of one large picture */
#define MOST_SMALL_CELLS 60000 /* of all small ones of a memory */
#define LEAST_SHARE .004       /* of the greatest weight, that is drawn: one of 255 steps of a colour */
#define LONGEST_LABEL 18
#define LIGHT_INK .7 /* the strength from which a number is written in the colour of paper */

/* About how wide @label is in a browser. */
static double
label_width (const char *label)
{
  return 6.6 * (double)MIN (plait_display_width (label), LONGEST_LABEL) + 6;
}

static void
add_label (GString *html, const char *label)
{
  g_autofree char *clean = plait_display_clean (label, FALSE);
  g_autofree char *cut = plait_display_cut (clean, LONGEST_LABEL);

  plait_html_text (html, cut);
}

static double
largest_label (char **labels, gint64 n)
{
  double largest = 0;

  for (gint64 i = 0; i < n; i++)
    {
      g_autofree char *clean = plait_display_clean (labels[i], FALSE);
      largest = MAX (largest, label_width (clean));
    }
  return largest;
}

/* The cell of @column, which tells its tokens and its weight when pointed at; none where it would not be seen. */
static void
add_cell (GString *html, const PlaitMap *map, gint64 row, gint64 column, double largest)
{
  double value = map->values[row * map->n_columns + column];
  double share = isfinite (value) && largest > 0 ? CLAMP (value / largest, 0, 1) : 0;

  if (share < LEAST_SHARE)
    return;
  plait_html_add (html, "<rect x=\"%" G_GINT64_FORMAT "\" fill-opacity=\"", column * CELL);
  plait_html_real (html, share, 3);
  g_string_append (html, "\"><title>");
  plait_html_text (html, map->rows[row]);
  g_string_append (html, " → ");
  plait_html_text (html, map->columns[column]);
  g_string_append (html, ": ");
  plait_html_real (html, value, 4);
  g_string_append (html, "</title></rect>\n");
  if (value >= .1 && value <= 1)
    {
      plait_html_add (html, "<text class=\"%s\" x=\"", share > LIGHT_INK ? "on" : "off");
      plait_html_real (html, (double)column * CELL + (CELL - 1) / 2., 1);
      plait_html_add (html, "\" y=\"%d\">%d</text>\n", CELL / 2 + 3, (int)(value * 100 + .5));
    }
}

static void
add_large (GString *html, const PlaitMap *map)
{
  double left = largest_label (map->rows, map->n_rows), slope = sin (G_PI / 3);
  double tallest = largest_label (map->columns, map->n_columns), top = tallest * slope + 8, largest = 0;
  double width = left + (double)map->n_columns * CELL + tallest * .5 + 4, height = top + (double)map->n_rows * CELL;

  for (gint64 i = 0; i < map->n_rows * map->n_columns; i++)
    if (isfinite (map->values[i]))
      largest = MAX (largest, map->values[i]);
  g_string_append (html, "<svg class=\"map\" role=\"img\" width=\"");
  plait_html_real (html, width, 0);
  g_string_append (html, "\" height=\"");
  plait_html_real (html, height, 0);
  g_string_append (html, "\" viewBox=\"0 0 ");
  plait_html_real (html, width, 0);
  g_string_append_c (html, ' ');
  plait_html_real (html, height, 0);
  g_string_append (html, "\">\n");
  for (gint64 c = 0; c < map->n_columns; c++)
    {
      g_string_append (html, "<text transform=\"translate(");
      plait_html_real (html, left + (double)c * CELL + CELL / 2. + 2, 1);
      g_string_append_c (html, ' ');
      plait_html_real (html, top - 5, 1);
      g_string_append (html, ") rotate(-60)\">");
      add_label (html, map->columns[c]);
      g_string_append (html, "</text>\n");
    }
  for (gint64 r = 0; r < map->n_rows; r++)
    {
      g_string_append (html, "<text text-anchor=\"end\" x=\"");
      plait_html_real (html, left - 6, 1);
      g_string_append (html, "\" y=\"");
      plait_html_real (html, top + (double)r * CELL + CELL / 2. + 4, 1);
      g_string_append (html, "\">");
      add_label (html, map->rows[r]);
      g_string_append (html, "</text>\n");
      g_string_append (html, "<g transform=\"translate(");
      plait_html_real (html, left, 1);
      g_string_append_c (html, ' ');
      plait_html_real (html, top + (double)r * CELL, 1);
      plait_html_add (html, ")\"><path d=\"M0 %d.5h%" G_GINT64_FORMAT "\"/>\n", CELL / 2 - 1, map->n_columns * CELL);
      for (gint64 c = 0; c < map->n_columns; c++)
        add_cell (html, map, r, c, largest);
      g_string_append (html, "</g>\n");
    }
  g_string_append (html, "</svg>\n");
}

static guint
shade_of (double value)
{
  return value > 0 ? MIN ((guint)(MIN (value, 1) * SHADES), SHADES - 1) : 0;
}

/* Without labels and numbers: cells of one strength are one path, and beside each other one part of it. */
static void
add_small (GString *html, const PlaitMap *map)
{
  gint64 columns = map->n_columns;

  plait_html_add (html,
                  "<svg role=\"img\" width=\"%" G_GINT64_FORMAT "\" height=\"%" G_GINT64_FORMAT
                  "\" viewBox=\"0 0 %" G_GINT64_FORMAT " %" G_GINT64_FORMAT "\">",
                  columns * SMALL_CELL, map->n_rows * SMALL_CELL, columns, map->n_rows);
  for (guint shade = 0; shade < SHADES; shade++)
    {
      gboolean any = FALSE;

      for (gint64 i = 0, run; i < map->n_rows * columns; i += MAX (run, 1))
        {
          for (run = 0; i % columns + run < columns && shade_of (map->values[i + run]) == shade;)
            run++;
          if (run == 0)
            continue;
          if (!any)
            g_string_append (html, "<path class=\"cell\" fill-opacity=\"");
          if (!any)
            plait_html_real (html, .05 + .95 * shade / (SHADES - 1), 2);
          plait_html_add (html,
                          "%sM%" G_GINT64_FORMAT " %" G_GINT64_FORMAT "h%" G_GINT64_FORMAT "v1h-%" G_GINT64_FORMAT "z",
                          any ? "" : "\" d=\"", i % columns, i / columns, run, run);
          any = TRUE;
        }
      if (any)
        g_string_append (html, "\"/>");
    }
  g_string_append (html, "</svg>\n");
}

/* Rows of layers, columns of heads. */
static gboolean
add_all (GString *html, PlaitStore *store, const char *path, const PlaitMap *map, GError **error)
{
  gint64 layers, heads;

  plait_map_steps (store, path, &layers, &heads);
  gint64 pictures = MAX (layers, 1) * MAX (heads, 1);
  if (pictures < 2 || pictures > MOST_SMALL_CELLS / MAX (map->n_rows * map->n_columns, 1))
    return TRUE;
  g_string_append (html, "<details><summary class=\"small\">every layer and head</summary><table>\n<tr><th></th>");
  for (gint64 h = 0; h < heads; h++)
    plait_html_add (html, "<th>head %" G_GINT64_FORMAT "</th>", h);
  g_string_append (html, "</tr>\n");
  for (gint64 l = 0; l < MAX (layers, 1); l++)
    {
      plait_html_add (html, "<tr><th>layer %" G_GINT64_FORMAT "</th>", l);
      for (gint64 h = 0; h < MAX (heads, 1); h++)
        {
          PlaitMapChoice choice = { l, heads > 0 ? h : PLAIT_MAP_USUAL };
          g_autoptr (PlaitMap) one = plait_map_read (store, path, choice, error);

          if (!one)
            return FALSE;
          g_string_append (html, "<td>");
          add_small (html, one);
          g_string_append (html, "</td>");
        }
      g_string_append (html, "</tr>\n");
    }
  g_string_append (html, "</table></details>\n");
  return TRUE;
}

gboolean
plait_report_attention (GString *html, PlaitStore *store, const char *path, GError **error)
{
  g_auto (GStrv) members = plait_store_members (store, path, error);

  if (!members)
    return FALSE;
  g_string_append (html, "<div class=\"maps\">\n");
  for (guint i = 0; members[i]; i++)
    {
      g_autofree char *place = plait_place_below (path, members[i]);

      if (!plait_map_is (store, place))
        continue;
      g_autoptr (PlaitMap) map
          = plait_map_read (store, place, (PlaitMapChoice){ PLAIT_MAP_USUAL, PLAIT_MAP_USUAL }, error);
      if (!map)
        return FALSE;
      g_string_append (html, "<figure><figcaption>");
      plait_html_text (html, map->title ? map->title : members[i]);
      g_string_append (html, " <span class=\"dim\">");
      plait_html_text (html, map->choice);
      g_string_append (html, "</span></figcaption>\n");
      if (map->n_rows * map->n_columns <= MOST_CELLS)
        add_large (html, map);
      else
        add_small (html, map);
      if (!add_all (html, store, place, map, error))
        return FALSE;
      g_string_append (html, "</figure>\n");
    }
  g_string_append (html, "</div>\n");
  return TRUE;
}
