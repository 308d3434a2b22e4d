/* SPDX-License-Identifier: MIT */
#include "cli/html.h"
#include "cli/report.h"
#include "store/table.h"

#include <string.h>

/* Training curves. */

#define MOST_POINTS ((gint64)1 << 20)

typedef struct
{
  const char *table, *column; /* below /training */
  gboolean dashed;
} Source;

typedef struct
{
  const char *title;
  guint n;
  Source sources[2];
} Plot;

static const Plot plots[] = {
  { "Negative log-likelihood, nats a target token",
    2,
    { { "updates", "negative_log_likelihood", TRUE }, { "validation", "negative_log_likelihood", FALSE } } },
  { "Validation metric", 1, { { "validation", "metric", FALSE } } },
  { "Learning rate", 1, { { "updates", "learning_rate", FALSE } } },
  { "Target tokens per second", 1, { { "updates", "target_tokens_per_second", FALSE } } },
};

/* Reads one curve; one that the run does not have is empty. */
static void
read_curve (PlaitStore *store, const Source *source, PlaitHtmlCurve *curve, GPtrArray *memory)
{
  g_autofree char *steps = g_strdup_printf ("/training/%s/step", source->table);
  g_autofree char *values = g_strdup_printf ("/training/%s/%s", source->table, source->column);
  gint64 n_x = 0, n_y = 0;

  if (!plait_store_has (store, steps) || !plait_store_has (store, values))
    return;
  double *x = plait_store_read_array (store, steps, PLAIT_STORE_DOUBLE, MOST_POINTS, &n_x, NULL);
  double *y = plait_store_read_array (store, values, PLAIT_STORE_DOUBLE, MOST_POINTS, &n_y, NULL);
  g_ptr_array_add (memory, x);
  g_ptr_array_add (memory, y);
  if (!x || !y || n_x != n_y)
    return;
  curve->n = (guint)n_x;
  curve->x = x;
  curve->y = y;
}

static void
add_plot (GString *html, const PlaitRunComparison *comparison, const Plot *plot)
{
  g_autoptr (GPtrArray) memory = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GArray) curves = g_array_new (FALSE, TRUE, sizeof (PlaitHtmlCurve));
  gboolean several = comparison->runs->len > 1;

  for (guint r = 0; r < comparison->runs->len; r++)
    for (guint s = 0; s < plot->n; s++)
      {
        const PlaitRunFile *run = comparison->runs->pdata[r];
        const Source *source = &plot->sources[s];
        PlaitHtmlCurve curve = { .name = run->name, .colour = r, .dashed = source->dashed };

        /* One curve a run is all that can be told apart. */
        if (several && source->dashed)
          continue;
        read_curve (run->store, source, &curve, memory);
        if (curve.n > 0)
          g_array_append_val (curves, curve);
      }
  plait_html_plot (html, plot->title, "updates", (const PlaitHtmlCurve *)(gpointer)curves->data, curves->len);
}

/* One legend serves all plots. */
static void
add_legend (GString *html, const PlaitRunComparison *comparison)
{
  g_autoptr (GArray) curves = g_array_new (FALSE, TRUE, sizeof (PlaitHtmlCurve));

  if (comparison->runs->len == 1)
    {
      const PlaitHtmlCurve pair[]
          = { { .name = "training", .colour = 0, .dashed = TRUE }, { .name = "validation", .colour = 0 } };

      plait_html_legend (html, pair, G_N_ELEMENTS (pair));
      return;
    }
  for (guint r = 0; r < comparison->runs->len; r++)
    {
      const PlaitRunFile *run = comparison->runs->pdata[r];
      PlaitHtmlCurve curve = { .name = run->name, .colour = r };

      g_array_append_val (curves, curve);
    }
  plait_html_legend (html, (const PlaitHtmlCurve *)(gpointer)curves->data, curves->len);
}

/* The names of the losses that parts of the runs have beside the words', each once: "en.ponder". (transfer full) */
static GPtrArray *
part_losses (const PlaitRunComparison *comparison)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);

  for (guint r = 0; r < comparison->runs->len; r++)
    {
      const PlaitRunFile *run = comparison->runs->pdata[r];
      gint64 n;
      g_auto (GStrv) columns = plait_store_table_columns (run->store, "/training/updates", &n, NULL);

      for (guint i = 0; columns && columns[i]; i++)
        if (strchr (columns[i], '.') && !g_ptr_array_find_with_equal_func (names, columns[i], g_str_equal, NULL))
          g_ptr_array_add (names, g_strdup (columns[i]));
    }
  return names;
}

static void
add_part_losses (GString *html, const PlaitRunComparison *comparison)
{
  g_autoptr (GPtrArray) names = part_losses (comparison);

  for (guint i = 0; i < names->len; i++)
    {
      g_autofree char *title = g_strdup_printf ("Loss %s, a sentence", (const char *)names->pdata[i]);
      const Plot plot = { title, 1, { { "updates", names->pdata[i], FALSE } } };

      add_plot (html, comparison, &plot);
    }
}

void
plait_report_training (GString *html, const PlaitRunComparison *comparison)
{
  g_string_append (html, "<h2>Training</h2>\n");
  add_legend (html, comparison);
  g_string_append (html, "<div class=\"plots\">\n");
  for (guint i = 0; i < G_N_ELEMENTS (plots); i++)
    add_plot (html, comparison, &plots[i]);
  add_part_losses (html, comparison);
  g_string_append (html, "</div>\n");
}
