/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>

#include "report/html.h"
#include "report/report.h"

/*
 * Attention as SVG: one large picture a memory with its tokens, and small ones of every layer and head. Of a long
 * document sentences stand below each other, and tokens of those that are read most follow: no picture has more cells
 * than a browser draws at once.
 */

#define CELL 24
#define SMALL_CELL 5
#define SHADES 12
#define MOST_CELLS 6000         /* of one large picture */
#define MOST_OF_DOCUMENT 2500   /* of one large picture of a document's sentences */
#define MOST_OF_SENTENCE 500    /* of one of a sentence's tokens */
#define MOST_SENTENCES 5        /* that are drawn token by token */
#define MOST_LABELS 1000        /* of both axes of a large picture */
#define MOST_SMALL_CELLS 60000  /* of all small ones of a memory */
#define MOST_LAYER_CELLS 500000 /* the same of the means of layers alone */
#define LEAST_SHARE .004        /* of the greatest weight, that is drawn: one of 255 steps of a colour */
#define LIGHT_INK .7            /* the strength from which a number is written in the colour of paper */

/* About how wide the longest of @labels is in a browser. */
static double
largest_label (char **labels, gint64 n)
{
  gsize columns = 0;

  for (gint64 i = 0; i < n; i++)
    columns = MAX (columns, plait_html_label_columns (labels[i]));
  return n > 0 ? 7.2 * (double)columns + 6 : 0;
}

/* How weights become colours. */
typedef struct
{
  double largest; /* weight */
  double least;   /* share of it that is drawn */
} Strength;

static double
share_of (double value, Strength strength)
{
  return isfinite (value) && strength.largest > 0 ? CLAMP (value / strength.largest, 0, 1) : 0;
}

static Strength
strength_of (const PlaitMap *map)
{
  return (Strength){ plait_map_largest (map), LEAST_SHARE };
}

/* How many cells of @map are drawn. */
static gint64
count_drawn (const PlaitMap *map, Strength strength)
{
  gint64 n = 0;

  for (gint64 i = 0; i < map->n_rows * map->n_columns; i++)
    n += share_of (map->values[i], strength) >= strength.least;
  return n;
}

static int
compare_falling (gconstpointer a, gconstpointer b)
{
  const double *first = a, *second = b;

  return (*first < *second) - (*first > *second);
}

/* Lets no more than the heaviest @most cells of @map be drawn. */
static void
limit (Strength *strength, const PlaitMap *map, gint64 most)
{
  gint64 n = map->n_rows * map->n_columns;
  g_autofree double *shares = NULL;

  if (count_drawn (map, *strength) <= most)
    return;
  shares = g_new (double, n);
  for (gint64 i = 0; i < n; i++)
    shares[i] = share_of (map->values[i], *strength);
  qsort (shares, (gsize)n, sizeof *shares, compare_falling);
  strength->least = nextafter (shares[most], 2);
}

/* The cell of @column, which tells its tokens and its weight when pointed at; none where it would not be seen. */
static void
add_cell (GString *html, const PlaitMap *map, gint64 row, gint64 column, Strength strength)
{
  double value = map->values[row * map->n_columns + column];
  double share = share_of (value, strength);

  if (share < strength.least)
    return;
  g_string_append_printf (html, "<rect x=\"%jd\" fill-opacity=\"%s\"><title>", column * CELL,
                          PLAIT_HTML_REAL (share, 3));
  plait_html_format (html, "%s → %s", map->rows[row], map->columns[column]);
  g_string_append_printf (html, ": %s</title></rect>\n", PLAIT_HTML_REAL (value, 4));
  if (value >= .1 && value <= 1)
    g_string_append_printf (html, "<text class=\"%s\" x=\"%s\" y=\"%d\">%d</text>\n", share > LIGHT_INK ? "on" : "off",
                            PLAIT_HTML_REAL ((double)column * CELL + (CELL - 1) / 2., 1), CELL / 2 + 3,
                            (int)(value * 100 + .5));
}

static void
add_large (GString *html, const PlaitMap *map, Strength strength)
{
  double left = largest_label (map->rows, map->n_rows) + 6, slope = sin (G_PI / 3);
  double tallest = largest_label (map->columns, map->n_columns), top = tallest * slope + 8;
  double width = left + (double)map->n_columns * CELL + tallest * .5 + 4, height = top + (double)map->n_rows * CELL;

  g_string_append (html, "<div class=\"scroll\">");
  plait_html_begin_svg (html, "map", width, height);
  for (gint64 c = 0; c < map->n_columns; c++)
    {
      g_string_append_printf (html, "<text transform=\"translate(%s %s) rotate(-60)\">",
                              PLAIT_HTML_REAL (left + (double)c * CELL + CELL / 2. + 2, 1),
                              PLAIT_HTML_REAL (top - 5, 1));
      plait_html_label (html, map->columns[c]);
      g_string_append (html, "</text>\n");
    }
  for (gint64 r = 0; r < map->n_rows; r++)
    {
      g_string_append_printf (html, "<text text-anchor=\"end\" x=\"%s\" y=\"%s\">", PLAIT_HTML_REAL (left - 6, 1),
                              PLAIT_HTML_REAL (top + (double)r * CELL + CELL / 2. + 4, 1));
      plait_html_label (html, map->rows[r]);
      g_string_append_printf (html, "</text>\n<g transform=\"translate(%s %s)\"><path d=\"M0 %d.5h%jd\"/>\n",
                              PLAIT_HTML_REAL (left, 1), PLAIT_HTML_REAL (top + (double)r * CELL, 1), CELL / 2 - 1,
                              map->n_columns * CELL);
      for (gint64 c = 0; c < map->n_columns; c++)
        add_cell (html, map, r, c, strength);
      g_string_append (html, "</g>\n");
    }
  g_string_append (html, "</svg></div>\n");
}

static guint
shade_of (double value, double largest)
{
  return value > 0 ? MIN ((guint)(MIN (value / largest, 1) * SHADES), SHADES - 1) : 0;
}

/* Without labels and numbers: cells of one strength, from 0 to 1 or, of sentences, of which none gets much, to the
 * greatest weight, are one path over a ground, and beside each other one stroke of it, as high as a row. */
static void
add_small (GString *html, const PlaitMap *map)
{
  gint64 columns = map->n_columns;
  double most = plait_map_largest (map), largest = map->of_sentences && most > 0 ? most : 1;

  g_string_append_printf (html,
                          "<svg role=\"img\" width=\"%jd\" height=\"%jd\" viewBox=\"0 -0.5 %jd %jd\"><rect "
                          "class=\"cell\" y=\"-0.5\" width=\"%jd\" height=\"%jd\" fill-opacity=\"0.05\"/>",
                          columns * SMALL_CELL, map->n_rows * SMALL_CELL, columns, map->n_rows, columns, map->n_rows);
  for (guint shade = 1; shade < SHADES; shade++)
    {
      gboolean any = FALSE;

      for (gint64 i = 0, run; i < map->n_rows * columns; i += MAX (run, 1))
        {
          for (run = 0; i % columns + run < columns && shade_of (map->values[i + run], largest) == shade;)
            run++;
          if (run == 0)
            continue;
          if (!any)
            g_string_append_printf (html, "<path class=\"stroke\" stroke-opacity=\"%s\" d=\"",
                                    PLAIT_HTML_REAL ((double)shade / (SHADES - 1), 2));
          g_string_append_printf (html, "M%jd %jdh%jd", i % columns, i / columns, run);
          any = TRUE;
        }
      if (any)
        g_string_append (html, "\"/>");
    }
  g_string_append (html, "</svg>\n");
}

/* Rows of layers, columns of heads; their mean alone where there is much of them. */
static gboolean
add_all (GString *html, PlaitStore *store, const char *path, const PlaitMap *map, GError **error)
{
  gint64 layers, heads, cells = MAX (map->n_rows * map->n_columns, 1);

  plait_map_steps (store, path, &layers, &heads);
  gboolean mean = MAX (layers, 1) * MAX (heads, 1) > MOST_SMALL_CELLS / cells;
  gint64 columns = mean ? 1 : MAX (heads, 1);
  if (MAX (layers, 1) * columns < 2 || (mean && layers > MOST_LAYER_CELLS / cells))
    return TRUE;
  g_string_append_printf (html, "<details><summary class=\"small\">every layer%s</summary><table>\n<tr><th></th>",
                          mean ? "" : " and head");
  for (gint64 h = 0; h < heads && !mean; h++)
    g_string_append_printf (html, "<th>head %jd</th>", h);
  g_string_append (html, "</tr>\n");
  for (gint64 l = 0; l < MAX (layers, 1); l++)
    {
      g_string_append_printf (html, "<tr><th>layer %jd</th>", l);
      for (gint64 h = 0; h < columns; h++)
        {
          PlaitMapChoice choice = { l, mean ? PLAIT_MAP_MEAN : h, PLAIT_MAP_USUAL };
          g_autoptr (PlaitMap) one = plait_map_read (store, path, choice, error);

          if (!one)
            return FALSE;
          if (one->of_sentences)
            plait_map_turn (one);
          g_string_append (html, "<td>");
          add_small (html, one);
          g_string_append (html, "</td>");
        }
      g_string_append (html, "</tr>\n");
    }
  g_string_append (html, "</table></details>\n");
  return TRUE;
}

static void
add_caption (GString *html, const char *title, const PlaitMap *map, Strength strength)
{
  plait_html_format (html, "<figcaption>%s <span class=\"dim\">%s", title, map->choice);
  if (map->of_sentences)
    g_string_append (html, "; sentences down, target tokens across");
  if (strength.least > LEAST_SHARE)
    g_string_append_printf (html, "; weights from %s", PLAIT_HTML_REAL (strength.least * strength.largest, 4));
  g_string_append (html, "</span></figcaption>\n");
}

/* The sentences whose tokens are read, by how much of all weight these have. (transfer full)
 * (element-type PlaitMapWeight) */
static GArray *
sentences_of (const PlaitMap *map)
{
  GArray *sentences = g_array_new (FALSE, TRUE, sizeof (PlaitMapWeight));

  for (gint64 c = 0; c < map->n_columns; c++)
    {
      if (c == 0 || map->sentence[c] != map->sentence[c - 1])
        g_array_append_val (sentences, ((PlaitMapWeight){ map->sentence[c], 0 }));
      for (gint64 r = 0; r < map->n_rows; r++)
        if (isfinite (map->values[r * map->n_columns + c]))
          g_array_index (sentences, PlaitMapWeight, sentences->len - 1).weight += map->values[r * map->n_columns + c];
    }
  return sentences;
}

/* The tokens of the sentences of a long document that are read most, in its order. */
static void
add_sentences (GString *html, const PlaitMap *map, const char *title)
{
  g_autoptr (GArray) sentences = sentences_of (map);
  Strength strength = strength_of (map);

  plait_map_keep_heaviest (sentences, MOST_SENTENCES);
  for (guint i = 0; i < sentences->len; i++)
    {
      gint64 sentence = g_array_index (sentences, PlaitMapWeight, i).number;
      g_autoptr (PlaitMap) part = plait_map_of_sentence (map, sentence, NULL);
      Strength own = strength;

      if (!part || part->n_rows + part->n_columns > MOST_LABELS)
        continue;
      limit (&own, part, MOST_OF_SENTENCE);
      g_string_append (html, "<figure>");
      add_caption (html, title, part, own);
      add_large (html, part, own);
      g_string_append (html, "</figure>\n");
    }
}

static gboolean
add_map (GString *html, PlaitStore *store, const char *path, const char *name, GError **error)
{
  g_autoptr (PlaitMap) map = plait_map_read (store, path, PLAIT_MAP_CHOICE_USUAL, error);

  if (!map)
    return FALSE;
  const char *title = map->title ? map->title : name;
  Strength strength = strength_of (map);
  if (map->of_sentences)
    limit (&strength, map, MOST_OF_DOCUMENT);
  gint64 cells = map->sentence || map->of_sentences ? count_drawn (map, strength) : map->n_rows * map->n_columns;
  gboolean large = cells <= MOST_CELLS && map->n_rows + map->n_columns <= MOST_LABELS;
  if (!large && map->sentence)
    {
      add_sentences (html, map, title);
      return TRUE;
    }
  if (map->of_sentences)
    plait_map_turn (map);
  g_string_append (html, "<figure>");
  add_caption (html, title, map, strength);
  if (large)
    add_large (html, map, strength);
  else
    add_small (html, map);
  if (!add_all (html, store, path, map, error))
    return FALSE;
  g_string_append (html, "</figure>\n");
  return TRUE;
}

gboolean
plait_report_attention (GString *html, PlaitStore *store, const char *path, GError **error)
{
  g_auto (GStrv) members = plait_store_members (store, path, error);

  if (!members)
    return FALSE;
  g_string_append (html, "<div class=\"maps\">\n");
  /* The tokens of a document behind its sentences. */
  for (guint tokens = 0; tokens < 2; tokens++)
    for (guint i = 0; members[i]; i++)
      {
        g_autofree char *place = plait_place_below (path, members[i]);
        g_autofree char *sentences = plait_place_below (place, "row_sentence");

        gboolean is_map = plait_map_is (store, place);

        if (plait_store_has (store, sentences) != (tokens == 1))
          continue;
        if (is_map && plait_map_fits (store, place))
          {
            if (!add_map (html, store, place, members[i], error))
              return FALSE;
          }
        else if (is_map || plait_store_has_attribute (store, place, "signal"))
          plait_html_format (
              html,
              is_map ? "<p class=\"dim small\">%s has too many values to be drawn.</p>\n"
                     : "<p class=\"dim small\">%s cannot be drawn: its values are not there, or no heatmap.</p>\n",
              members[i]);
      }
  g_string_append (html, "</div>\n");
  return TRUE;
}
