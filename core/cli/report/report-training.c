/* SPDX-License-Identifier: MIT */
#include "report/report.h"

#include <string.h>

#include "report/html.h"
#include "comparison/chart.h"
#include "tables/table.h"

typedef struct
{
  const char *table, *column; /* name of a table in /training, and of one of its columns */
  gboolean dashed;
} Source;

typedef struct
{
  const char *title;
  Source sources[2]; /* sources of one or two curves; the second may be empty */
} Plot;

static const Plot plots[] = {
  { "Negative log-likelihood, nats a target token",
    { { "updates", "negative_log_likelihood", TRUE }, { "validation", "negative_log_likelihood", FALSE } } },
  { NULL, { { "validation", "metric", FALSE } } }, /* metric_title makes the title */
  { "Learning rate", { { "updates", "learning_rate", FALSE } } },
  { "Target tokens per second", { { "updates", "target_tokens_per_second", FALSE } } },
};

/* TRUE if a run was validated more than once, so that validation is a curve. */
static gboolean
has_validation_curve (const PlaitRunComparison *comparison)
{
  for (guint r = 0; r < comparison->runs->len; r++)
    {
      gint64 rows = 0;
      g_auto (GStrv) columns
          = plait_store_table_columns (plait_run_at (comparison->runs, r)->store, "/training/validation", &rows, NULL);

      if (columns && rows > 1)
        return TRUE;
    }
  return FALSE;
}

static void
add_plot (GString *html, const PlaitRunComparison *comparison, const Plot *plot)
{
  g_autoptr (GPtrArray) curves = g_ptr_array_new_with_free_func ((GDestroyNotify)plait_plot_series_free);
  gboolean several = comparison->runs->len > 1 && plot->sources[1].table;
  gboolean dashed = several && !has_validation_curve (comparison);
  g_autofree char *title = g_strconcat (plot->title, dashed ? ", in training" : "", NULL);

  for (guint s = 0; s < comparison->systems->len; s++)
    for (guint i = 0; i < G_N_ELEMENTS (plot->sources) && plot->sources[i].table; i++)
      {
        const PlaitRunSystem *system = plait_run_system_at (comparison->systems, s);
        const Source *source = &plot->sources[i];
        g_autofree char *path = g_strdup_printf ("/training/%s/%s", source->table, source->column);
        PlaitPlotSeries *curve;

        /* Draw one of two sources for several runs: validation if validation is a curve, else training. */
        if (several && source->dashed != dashed)
          continue;
        curve = plait_plot_series_read (comparison->runs, system, path, TRUE, NULL);
        if (!curve)
          continue;
        curve->colour = system->runs[0];
        curve->dashed = source->dashed && !several;
        g_ptr_array_add (curves, curve);
      }
  plait_html_plot (html, title, &(const PlaitPlotChart){ .x_title = (char *)"updates", .series = curves });
}

static void
add_legend (GString *html, const PlaitRunComparison *comparison)
{
  gboolean one = comparison->runs->len == 1, banded = FALSE;

  g_string_append (html, "<p class=\"small\">");
  if (one)
    {
      plait_html_key (html, "training", 0, TRUE);
      plait_html_key (html, "validation", 0, FALSE);
    }
  for (guint s = 0; s < comparison->systems->len && !one; s++)
    {
      const PlaitRunSystem *system = plait_run_system_at (comparison->systems, s);

      if (plait_run_at (comparison->runs, system->runs[0])->dump)
        continue;
      plait_html_key (html, system->name, system->runs[0], FALSE);
      banded = banded || system->n > 1;
    }
  g_string_append (html, "</p>\n");
  if (banded)
    g_string_append (html, "<p class=\"dim small\">Curves of several seeds are means; a band is the standard deviation "
                           "over seeds, cut if it is much wider than the distance of the curves.</p>\n");
}

/* Returns the title of the plot of the validation metric. It names the metric only if all runs were validated by one
 * metric. (transfer full) */
static char *
metric_title (const PlaitRunComparison *comparison)
{
  const char *name = NULL;

  for (guint r = 0; r < comparison->runs->len; r++)
    {
      const PlaitRunFile *run = comparison->runs->pdata[r];
      const char *own = plait_key_file_value (run->experiment, "train", "metric");

      if (run->dump)
        continue;
      if (!own || *own == '\0' || (name && strcmp (name, own) != 0))
        return g_strdup ("Validation metric");
      name = own;
    }
  g_autoptr (PlaitMetric) metric = name ? plait_metric_new (name, NULL) : NULL;
  return g_strdup_printf ("Validation %s%s",
                          metric ? plait_metric_title (metric)
                          : name ? name
                                 : "metric",
                          metric && !plait_metric_larger_is_better (metric) ? ", smaller is better" : "");
}

/* Returns the names of the losses that single components add, such as "en.ponder", each once. (transfer full) */
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
      const Plot plot = { title, { { "updates", names->pdata[i], FALSE } } };

      add_plot (html, comparison, &plot);
    }
}

void
plait_report_training (GString *html, const PlaitRunComparison *comparison)
{
  g_autofree char *metric = metric_title (comparison);

  g_string_append (html, "<h2>Training</h2>\n");
  add_legend (html, comparison);
  if (comparison->tokens_differ)
    plait_html_element (
        html, "p", "class=\"dim small\"",
        "Runs have different vocabularies of the target: numbers per token cannot be compared between their curves.");
  g_string_append (html, "<div class=\"plots\">\n");
  for (guint i = 0; i < G_N_ELEMENTS (plots); i++)
    {
      Plot plot = plots[i];

      plot.title = plot.title ? plot.title : metric;
      add_plot (html, comparison, &plot);
    }
  add_part_losses (html, comparison);
  g_string_append (html, "</div>\n");
}
