/* SPDX-License-Identifier: MIT */
#include "command/command.h"

#include <math.h>

#include "process/module.h"
#include "text/separators.h"
#include "command/options.h"
#include "command/output.h"
#include "comparison/location.h"
#include "plot/plot.h"

#define MAX_HEATMAPS 16
#define LABELS "tokens|numbers|none" /* words of --labels, in the order of PlaitPlotLabels */
#define SCALES "auto|linear|log"     /* words of --scale, in the order of PlaitPlotScale */

typedef struct
{
  PlaitPlotSettings settings;
  const char *output, *layer, *head, *metric, *by, *names;
  guint labels, scale;
  gboolean force;
} Options;

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

/* Splits @arguments into files, which come first and exist, and paths of objects in the files. */
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
                         "there is no file %s, or it follows a path; name files, then paths in them that begin with /",
                         *argument);
  return paths->len > 0
         || plait_fail (
             error, PLAIT_ERROR_INPUT,
             "no path in %s is named; name a path, such as /attention/test/0/SOURCE or /evaluation/test/metrics",
             *arguments);
}

/* Reads the heatmaps at @paths in all @files. Returns an empty array if the first path is not a heatmap. (transfer
 * full) (element-type PlaitHeatmap) */
static GPtrArray *
read_heatmaps (const GPtrArray *files, const GPtrArray *paths, PlaitHeatmapSelection choice, PlaitLog *log,
               GError **error)
{
  g_autoptr (GPtrArray) heatmaps = g_ptr_array_new_with_free_func ((GDestroyNotify)plait_heatmap_free);

  for (guint f = 0; files->pdata[f]; f++)
    for (guint p = 0; p < paths->len; p++)
      {
        g_autoptr (GError) fault = NULL;
        g_autoptr (PlaitLocation) location = plait_location_open (files->pdata[f], paths->pdata[p], log, &fault);
        PlaitHeatmap *heatmap;

        if (heatmaps->len == 0 && (!location || !plait_heatmap_exists (location->store, location->path)))
          return g_steal_pointer (&heatmaps);
        if (!plait_no_error (&fault, error))
          return NULL;
        if (!plait_heatmap_exists (location->store, location->path) || heatmaps->len == MAX_HEATMAPS)
          return plait_fail_null (error, PLAIT_ERROR_INPUT,
                                  heatmaps->len == MAX_HEATMAPS
                                      ? "%s: %s is one heatmap too many; name at most " G_STRINGIFY (MAX_HEATMAPS)
                                      : "%s: %s is not a heatmap, so it cannot share a figure with the heatmaps named "
                                        "before it; draw it separately",
                                  (const char *)files->pdata[f], (const char *)paths->pdata[p]);
        heatmap = plait_heatmap_read (location->store, location->path, choice, error);
        if (!heatmap)
          return NULL;
        g_free (heatmap->title);
        heatmap->title = g_path_get_basename (location->path);
        g_ptr_array_add (heatmaps, heatmap);
      }
  return g_steal_pointer (&heatmaps);
}

/* Warns if a number per target token, such as perplexity, is drawn for runs with different target vocabularies. */
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
                       "the runs have different vocabularies of the target, so %s, which is per token, cannot be "
                       "compared between them",
                       curve ? column : metric);
}

static gboolean
is_name (const char *text, gconstpointer data)
{
  (void)data;
  return *text != '\0';
}

/* Warns if --names has a single name, which another separator than ";" would split into @n names. */
static void
warn_of_names (const char *const *names, guint n, PlaitLog *log)
{
  g_autofree char *mended = names && !names[1] ? plait_separators_mend (names[0], ";", is_name, NULL) : NULL;
  g_auto (GStrv) each = g_strsplit (mended ? mended : "", ";", -1);

  if (mended && g_strv_length (each) == n)
    plait_log_warning (log, "--names has one name, because \";\" separates names; did you mean \"%s\"?", mended);
}

static GBytes *
draw (const PlaitPlotTable *table, const GPtrArray *files, const GPtrArray *paths, PlaitHeatmapSelection choice,
      const PlaitPlotSelection *selection, const PlaitPlotSettings *settings, PlaitPlotFormat format, PlaitLog *log,
      GError **error)
{
  g_autoptr (GPtrArray) heatmaps = read_heatmaps (files, paths, choice, log, error);
  g_autoptr (GPtrArray) runs = NULL;
  g_autoptr (PlaitPlotChart) chart = NULL;
  g_autoptr (GArray) missing = g_array_new (FALSE, FALSE, sizeof (gunichar));
  PlaitPlotLosses losses = { .missing = missing };
  double highest = 0;
  GBytes *bytes;

  if (!heatmaps)
    return NULL;
  if (heatmaps->len == 0)
    {
      if (paths->len > 1)
        return plait_fail_null (error, PLAIT_ERROR_INPUT,
                                "%s is not a heatmap, and only heatmaps can share a figure; name one path",
                                (const char *)paths->pdata[0]);
      runs = plait_runs_open ((char **)files->pdata, FALSE, log, error);
      if (runs)
        warn_of_tokens (runs, paths->pdata[0], selection->metric, log);
      chart = runs ? plait_plot_chart_new (runs, paths->pdata[0], selection, error) : NULL;
      if (!chart)
        return NULL;
    }
  else if (selection->by)
    return plait_fail_null (error, PLAIT_ERROR_INPUT,
                            "--by %s draws scores, but %s is a heatmap; name /evaluation/SPLIT/metrics", selection->by,
                            (const char *)paths->pdata[0]);
  for (guint m = 0; m < heatmaps->len; m++)
    highest = MAX (highest, plait_heatmap_max (heatmaps->pdata[m]));
  warn_of_names ((const char *const *)settings->names,
                 !chart                           ? heatmaps->len
                 : chart->kind == PLAIT_PLOT_BARS ? g_strv_length (chart->categories)
                                                  : chart->series->len,
                 log);
  bytes = table->draw (chart, heatmaps, highest, settings, format, &losses, error);
  if (bytes && losses.left_out > 0)
    plait_log_warning (log, "%u labels do not fit in the picture; a larger --width or smaller letters (--size) help",
                       losses.left_out);
  if (bytes && missing->len > 0)
    {
      g_autofree char *text = plait_plot_missing_text (&g_array_index (missing, gunichar, 0), missing->len);

      plait_log_warning (log, "%s", text);
    }
  return bytes;
}

static gboolean
run_command (PlaitInvocation *invocation, GError **error)
{
  const Options *options = invocation->options;
  const char *output = options->output;
  g_auto (GStrv) name_list = options->names ? g_strsplit (options->names, ";", -1) : NULL;
  g_autoptr (GPtrArray) files = g_ptr_array_new_null_terminated (8, NULL, TRUE), paths = g_ptr_array_new ();
  g_autoptr (GBytes) bytes = NULL;
  PlaitHeatmapSelection choice = PLAIT_HEATMAP_SELECTION_DEFAULT;
  PlaitPlotSettings settings = options->settings;
  const PlaitPlotSelection selection = { options->metric, options->by, (PlaitPlotScale)options->scale };
  PlaitPlotFormat format = PLAIT_PLOT_SVG;
  static const PlaitModuleWanted cairo
      = { "plot", "cairo", "drawing figures", "libcairo2-dev and libpango1.0-dev", sizeof (PlaitPlotTable) };
  const PlaitPlotTable *table;

  if (!plait_heatmap_parse ("--layer", options->layer, &choice.layer, error)
      || !plait_heatmap_parse ("--head", options->head, &choice.head, error)
      || !(table = plait_module_open (&cairo, error)) || !split_arguments (invocation->arguments, files, paths, error))
    return FALSE;
  settings.labels = (PlaitPlotLabels)options->labels;
  settings.names = name_list;
  if (!output)
    return plait_fail (error, PLAIT_ERROR_INPUT, "--output is missing; name the figure, such as -o figure.pdf");
  const char *const texts[] = { options->names, settings.x_title, settings.y_title, settings.font };
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    if (texts[i] && !g_utf8_validate (texts[i], -1, NULL))
      return plait_fail (error, PLAIT_ERROR_INPUT,
                         "--names, --x-title, --y-title and --font must be UTF-8; convert the text");
  if (!find_format (output, &format, error) || !plait_file_check_new (output, options->force, "", "--output", error))
    return FALSE;
  for (guint i = 0; files->pdata[i]; i++)
    if (!plait_output_differs ("--output", output, files->pdata[i], error))
      return FALSE;
  bytes = draw (table, files, paths, choice, &selection, &settings, format, invocation->log, error);
  if (!bytes || !plait_file_replace (output, g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), error))
    return FALSE;
  plait_log_info (invocation->log, "%s is written", output);
  return TRUE;
}

static const PlaitOption options[] = {
  PLAIT_OPTION ("output", 'o', TEXT, output, "File of the figure: .svg, .pdf or .png", "FILE"),
  PLAIT_OPTION_FORCE (Options),
  PLAIT_OPTION ("width", 0, REAL, settings.width, "Printed width in centimetres; default: 8", "CM", 2, 100),
  PLAIT_OPTION ("size", 0, REAL, settings.size, "Printed size of letters in points; default: 7", "PT", 2, 40),
  PLAIT_OPTION ("font", 0, TEXT, settings.font, "Font; default: Sans", "NAME"),
  PLAIT_OPTION ("labels", 0, CHOICE, labels, "Labels of a heatmap; default: tokens", LABELS),
  PLAIT_OPTION ("layer", 0, TEXT, layer, "Layer of a heatmap: a number from 0, or mean; default: the last", "N"),
  PLAIT_OPTION ("head", 0, TEXT, head, "Head of a heatmap: a number from 0, or mean; default: mean", "N"),
  PLAIT_OPTION ("metric", 0, TEXT, metric, "Score to draw; default: the first", "METRIC"),
  PLAIT_OPTION ("by", 0, TEXT, by, "Draw scores as curves over the numbers of this key", "KEY"),
  PLAIT_OPTION ("scale", 0, CHOICE, scale, "Axis of --by: log, linear, or log if its numbers grow by factors (auto)",
                SCALES),
  PLAIT_OPTION ("names", 0, TEXT, names, "Names of heatmaps, lines or bars, separated by ;", "NAMES"),
  PLAIT_OPTION ("x-title", 0, TEXT, settings.x_title, "Title of the horizontal axis; empty: none", "TEXT"),
  PLAIT_OPTION ("y-title", 0, TEXT, settings.y_title, "Title of the vertical axis; empty: none", "TEXT"),
  { NULL },
};

const PlaitCommand plait_command_plot = {
  .name = "plot",
  .synopsis = "FILE... PATH... --output FIGURE [--width CM] [--size PT] [--metric NAME] [--by KEY] [--scale SCALE] "
              "[--names A;B] [--force]",
  .summary = "Draw a figure for a paper as SVG, PDF or PNG: heatmaps, curves, scores, scores by length",
  .details = "PATH is a heatmap (several are drawn in one row with one scale), a column of a training table, "
             "/evaluation/SPLIT/metrics or /evaluation/SPLIT/length_bins. A grid stands for all its finished runs. "
             "Runs that differ only in experiment.seed and experiment.name are drawn as their mean with its standard "
             "deviation, a single run with its interval. Figures keep their meaning without colour; a PDF embeds its "
             "fonts. Word marks of SentencePiece are left out.\n\nExamples:\n  plait plot run.h5 /attention/test/0/a "
             "/attention/test/0/b -o attention.pdf\n  plait plot grid/grid.h5 /training/validation/perplexity -o "
             "curves.svg --width 12\n  plait plot grid/grid.h5 /evaluation/test/metrics --metric chrF2 -o scores.pdf\n "
             " plait plot serial.h5 flat.h5 /evaluation/test/length_bins -o lengths.png\n  plait plot grid/grid.h5 "
             "/evaluation/test/metrics --by data.share -o curve.pdf",
  .options = options,
  .size = sizeof (Options),
  .defaults = &(const Options){ .settings = { .width = 8, .size = 7, .font = "Sans" } },
  .min = 1,
  .max = -1,
  .run = run_command,
};
