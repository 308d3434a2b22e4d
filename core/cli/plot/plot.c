/* SPDX-License-Identifier: MIT */
#include "command/command.h"

#include <math.h>

#include "process/module.h"
#include "command/options.h"
#include "command/output.h"
#include "comparison/place.h"
#include "plot/plot.h"

/* plait plot: figures for papers. */

#define MOST_MAPS 16
#define LABELS "tokens|numbers|none" /* in the order of PlaitPlotLabels */

/* The ending of @output says how it is written. */
static gboolean
find_format (const char *output, PlaitPlotFormat *format, GError **error)
{
  static const char *const endings[] = { ".svg", ".pdf", ".png" };

  for (guint i = 0; i < G_N_ELEMENTS (endings); i++)
    if (g_str_has_suffix (output, endings[i]))
      {
        *format = (PlaitPlotFormat)i;
        return TRUE;
      }
  return plait_fail (error, PLAIT_ERROR_INPUT, "--output cannot be %s; its name must end in .svg, .pdf or .png",
                     output);
}

/* Files are what is there; all else are paths within them. */
static gboolean
split_arguments (char **arguments, GPtrArray *files, GPtrArray *paths, GError **error)
{
  for (char **argument = arguments; *argument; argument++)
    if (g_file_test (*argument, G_FILE_TEST_EXISTS) && paths->len == 0)
      g_ptr_array_add (files, *argument);
    else if (**argument == '/' && files->len > 0)
      g_ptr_array_add (paths, *argument);
    else
      return plait_fail (error, PLAIT_ERROR_INPUT,
                         "there is no file %s; name files first, then paths in them that begin with /", *argument);
  g_ptr_array_add (files, NULL);
  return paths->len > 0
         || plait_fail (error, PLAIT_ERROR_INPUT,
                        "what of %s is to be drawn is missing; name a path, such as /attention/test/0/SOURCE or "
                        "/evaluation/test/metrics",
                        *arguments);
}

/* The heatmaps at @paths of all @files; none if the first is none. (transfer full) */
static GPtrArray *
read_maps (const GPtrArray *files, const GPtrArray *paths, PlaitMapChoice choice, PlaitLog *log, GError **error)
{
  g_autoptr (GPtrArray) maps = g_ptr_array_new_with_free_func ((GDestroyNotify)plait_map_free);

  for (guint f = 0; files->pdata[f]; f++)
    for (guint p = 0; p < paths->len; p++)
      {
        g_autoptr (GError) fault = NULL;
        g_autoptr (PlaitPlace) place = plait_place_open (files->pdata[f], paths->pdata[p], log, &fault);
        PlaitMap *map;

        if (maps->len == 0 && (!place || !plait_map_is (place->store, place->path)))
          return g_steal_pointer (&maps);
        if (!plait_no_fault (&fault, error))
          return NULL;
        if (!plait_map_is (place->store, place->path) || maps->len == MOST_MAPS)
          return plait_fail_null (error, PLAIT_ERROR_INPUT,
                                  maps->len == MOST_MAPS ? "%s: %s is a heatmap more than fit beside each other"
                                                         : "%s: %s is no heatmap, but stands beside one; draw it alone",
                                  (const char *)files->pdata[f], (const char *)paths->pdata[p]);
        map = plait_map_read (place->store, place->path, choice, error);
        if (!map)
          return NULL;
        g_free (map->title);
        map->title = g_path_get_basename (place->path);
        g_ptr_array_add (maps, map);
      }
  return g_steal_pointer (&maps);
}

/* Warns where curves or scores that are per token of the target are drawn of different tokens. */
static void
warn_of_tokens (const GPtrArray *runs, const char *path, const char *metric, PlaitLog *log)
{
  static const char *const columns[] = { "loss", "negative_log_likelihood", "perplexity", "accuracy", NULL };
  g_autofree const PlaitRunResult **results = g_new (const PlaitRunResult *, runs->len + 1);
  g_autofree char *column = g_path_get_basename (path);
  gboolean curve = g_str_has_prefix (path, "/training/") && g_strv_contains (columns, column);

  for (guint r = 0; r < runs->len; r++)
    results[r] = plait_run_at (runs, r)->result;
  if ((curve || (metric && g_ascii_strncasecmp (metric, "perplexity", strlen ("perplexity")) == 0))
      && !g_str_has_suffix (metric ? metric : "", "word") && plait_run_results_differ_in_target (results, runs->len))
    plait_log_warning (log,
                       "the runs have different vocabularies of the target, so %s, which is per token, does not "
                       "compare between them",
                       curve ? column : metric);
}

static GBytes *
draw (const PlaitPlotTable *table, const GPtrArray *files, const GPtrArray *paths, PlaitMapChoice choice,
      const char *metric, const PlaitPlotSettings *settings, PlaitPlotFormat format, PlaitLog *log, GError **error)
{
  g_autoptr (GPtrArray) maps = read_maps (files, paths, choice, log, error);
  g_autoptr (GPtrArray) runs = NULL;
  g_autoptr (PlaitPlotChart) chart = NULL;
  g_autoptr (GArray) missing = g_array_new (FALSE, FALSE, sizeof (gunichar));
  PlaitPlotLosses losses = { .missing = missing };
  double highest = 0;
  GBytes *bytes;

  if (!maps)
    return NULL;
  if (maps->len == 0)
    {
      if (paths->len > 1)
        return plait_fail_null (error, PLAIT_ERROR_INPUT,
                                "%s is no heatmap, and only heatmaps stand beside each other; name one path",
                                (const char *)paths->pdata[0]);
      runs = plait_runs_open ((char **)files->pdata, FALSE, log, error);
      if (runs)
        warn_of_tokens (runs, paths->pdata[0], metric, log);
      chart = runs ? plait_plot_chart_new (runs, paths->pdata[0], metric, error) : NULL;
      if (!chart)
        return NULL;
    }
  for (guint m = 0; m < maps->len; m++)
    highest = MAX (highest, plait_map_largest (maps->pdata[m]));
  bytes = table->draw (chart, maps, highest, settings, format, &losses, error);
  if (bytes && losses.left_out > 0)
    plait_log_warning (log, "%u labels have no place at this width; more --width, or less --size, shows them",
                       losses.left_out);
  if (bytes && missing->len > 0)
    {
      g_autofree char *text = plait_plot_missing_text (&g_array_index (missing, gunichar, 0), missing->len);

      plait_log_warning (log, "%s", text);
    }
  return bytes;
}

gboolean
plait_command_plot (PlaitInvocation *invocation, GError **error)
{
  char *output = NULL, *width = NULL, *size = NULL, *labels = NULL, *layer = NULL, *head = NULL;
  char *metric = NULL, *names = NULL;
  g_auto (GStrv) name_list = NULL;
  g_autoptr (GPtrArray) files = g_ptr_array_new (), paths = g_ptr_array_new ();
  g_autoptr (GBytes) bytes = NULL;
  PlaitMapChoice choice = PLAIT_MAP_CHOICE_USUAL;
  PlaitPlotSettings settings = { .width = 8, .size = 7 };
  PlaitPlotFormat format = PLAIT_PLOT_SVG;
  gboolean force = FALSE;
  static const PlaitModuleWanted cairo
      = { "plot", "cairo", "drawing figures", "libcairo2-dev and libpango1.0-dev", sizeof (PlaitPlotTable) };
  const PlaitPlotTable *table;
  const GOptionEntry entries[] = {
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &output, "The figure to be written: .svg, .pdf or .png", "FILE" },
    PLAIT_OUTPUT_FORCE (force),
    { "width", 0, 0, G_OPTION_ARG_FILENAME, &width, "Width as printed, in centimetres (8)", "CM" },
    { "size", 0, 0, G_OPTION_ARG_FILENAME, &size, "Size of letters as printed, in points (7)", "PT" },
    { "font", 0, 0, G_OPTION_ARG_FILENAME, &settings.font, "Font (Sans)", "NAME" },
    { "labels", 0, 0, G_OPTION_ARG_FILENAME, &labels, "Labels of a heatmap (tokens)", LABELS },
    { "layer", 0, 0, G_OPTION_ARG_FILENAME, &layer, "Layer of a heatmap: a number from 0, or mean (the last)", "N" },
    { "head", 0, 0, G_OPTION_ARG_FILENAME, &head, "Head of a heatmap: a number from 0, or mean (mean)", "N" },
    { "metric", 0, 0, G_OPTION_ARG_FILENAME, &metric, "Which score is drawn (the first)", "METRIC" },
    { "names", 0, 0, G_OPTION_ARG_FILENAME, &names, "What heatmaps, lines or bars are called, with ; between",
      "NAMES" },
    { "x-title", 0, 0, G_OPTION_ARG_FILENAME, &settings.x_title, "Title of the horizontal axis; empty: none", "TEXT" },
    { "y-title", 0, 0, G_OPTION_ARG_FILENAME, &settings.y_title, "Title of the vertical axis; empty: none", "TEXT" },
    { NULL },
  };

  if (!plait_invocation_parse (invocation, entries, 1, -1, error)
      || !plait_option_real ("--width", width, 2, 100, &settings.width, error)
      || !plait_option_real ("--size", size, 2, 40, &settings.size, error)
      || !plait_map_parse ("--layer", layer, &choice.layer, error)
      || !plait_map_parse ("--head", head, &choice.head, error) || !(table = plait_module_open (&cairo, error))
      || !split_arguments (invocation->arguments, files, paths, error))
    return FALSE;
  settings.labels = (PlaitPlotLabels)plait_option_choice (labels, LABELS);
  if (!output)
    return plait_fail (error, PLAIT_ERROR_INPUT, "--output is missing; name the figure, such as -o figure.pdf");
  const char *const texts[] = { names, settings.x_title, settings.y_title, settings.font };
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    if (texts[i] && !g_utf8_validate (texts[i], -1, NULL))
      return plait_fail (error, PLAIT_ERROR_INPUT, "names and titles must be in UTF-8");
  if (!find_format (output, &format, error) || !plait_file_check_new (output, force, "", "--output", error))
    return FALSE;
  for (guint i = 0; files->pdata[i]; i++)
    if (!plait_output_differs ("--output", output, files->pdata[i], error))
      return FALSE;
  name_list = names ? g_strsplit (names, ";", -1) : NULL;
  settings.names = name_list;
  if (!settings.font)
    settings.font = "Sans";
  bytes = draw (table, files, paths, choice, metric, &settings, format, invocation->log, error);
  if (!bytes || !plait_file_replace (output, g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), error))
    return FALSE;
  plait_log_info (invocation->log, "%s is written", output);
  return TRUE;
}
