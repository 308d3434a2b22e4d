/* SPDX-License-Identifier: MIT */
#include "report/report.h"

#include "text/error.h"
#include "files/file.h"
#include "comparison/attention-difference.h"
#include "command/command.h"
#include "report/html.h"
#include "command/options.h"
#include "command/output.h"
#include "report/report-data.h"

#define MAX_SENTENCES 1000

/* Adds a table of the references and translations of the first @n sentences of @split. */
static void
add_translations (GString *html, const PlaitRunComparison *comparison, const char *split, gint64 n)
{
  const PlaitRunFile *first = NULL;
  gint64 n_references = 0;
  g_auto (GStrv) references = NULL;
  g_autoptr (GPtrArray) hypotheses = g_ptr_array_new_with_free_func ((GDestroyNotify)g_strfreev);
  g_autofree gint64 *lengths = g_new0 (gint64, comparison->runs->len + 1);

  for (guint r = 0; r < comparison->runs->len; r++)
    {
      const PlaitRunFile *run = comparison->runs->pdata[r];

      g_ptr_array_add (hypotheses, plait_run_lines (run->store, split, "hypotheses", &lengths[r]));
      if (!first && lengths[r] > 0)
        {
          first = run;
          references = plait_run_lines (run->store, split, "references", &n_references);
        }
    }
  n = MIN (n, n_references);
  if (n == 0)
    return;
  g_autoptr (PlaitTable) table = plait_table_new ();
  plait_table_column (table, PLAIT_TABLE_WORDS, "");
  plait_table_column (table, PLAIT_TABLE_WORDS, "");
  plait_table_column (table, PLAIT_TABLE_PROSE, "");
  for (gint64 i = 0; i < n; i++)
    {
      plait_table_integer (table, PLAIT_TABLE_HEADING, i);
      plait_table_text (table, PLAIT_TABLE_HEADING, "reference");
      plait_table_text (table, PLAIT_TABLE_PLAIN, references[i]);
      for (guint r = 0; r < comparison->runs->len; r++)
        if (i < lengths[r])
          {
            plait_table_text (table, PLAIT_TABLE_PLAIN, NULL);
            plait_table_run (table, plait_run_at (comparison->runs, r)->name, r);
            plait_table_text (table, PLAIT_TABLE_PLAIN, ((char **)hypotheses->pdata[r])[i]);
          }
    }
  table->title = g_strdup (split);
  plait_html_table (html, table);
}

/* Adds tables of how much the attention of each run differs from that of the first run that has attention
 * (Jensen-Shannon divergence). */
static gboolean
add_divergence (GString *html, const PlaitRunComparison *comparison, GError **error)
{
  const PlaitRunFile *first = NULL;
  gboolean begun = FALSE;

  for (guint r = 0; r < comparison->runs->len; r++)
    {
      const PlaitRunFile *run = comparison->runs->pdata[r];
      g_autoptr (GPtrArray) differences = NULL;

      if (!plait_store_has (run->store, "/attention"))
        continue;
      if (!first)
        {
          first = run;
          continue;
        }
      differences = plait_attention_differences (first->store, run->store, error);
      if (!differences)
        return FALSE;
      for (guint i = 0; i < differences->len; i++)
        {
          const PlaitAttentionDifference *difference = differences->pdata[i];
          g_autoptr (PlaitTable) table = plait_attention_difference_shown (difference);

          table->title = g_strdup_printf ("%s and %s, attention to %s on %s: %jd sentence%s", first->name, run->name,
                                          difference->memory, difference->split, difference->sentences,
                                          difference->sentences == 1 ? "" : "s");
          if (difference->sentences == 0)
            continue;
          if (!begun)
            {
              plait_html_element (html, "h2", NULL, "Differences in attention");
              plait_html_element (html, "p", "class=\"dim small\"", plait_attention_difference_legend);
            }
          begun = TRUE;
          plait_html_table (html, table);
        }
    }
  return TRUE;
}

/* Unless @n is 0, adds the data for the script and a table of the first @n translations of each split. */
static gboolean
add_sentences (GString *html, const PlaitRunComparison *comparison, gint64 n, GError **error)
{
  if (n == 0)
    return TRUE;
  if (!plait_report_data (html, comparison, error))
    return FALSE;
  if (comparison->n_score_columns == 0)
    return TRUE;
  g_string_append (html, "<details id=\"fixed\" open><summary>The first translations, as tables that need no "
                         "script</summary>\n<h2>Translations</h2>\n");
  for (guint m = 0; m < comparison->n_score_columns; m = plait_run_comparison_split_end (comparison, m))
    add_translations (html, comparison, comparison->score_columns[m].split, n);
  g_string_append (html, "</details>\n");
  return TRUE;
}

/* Adds the summary table of each grid in @paths. If runs have different references of a split, adds only a note. */
static gboolean
add_summaries (GString *html, const PlaitRunComparison *comparison, char *const *paths, GError **error)
{
  gboolean apart = FALSE;
  g_autofree char *note = plait_comparison_note ("the first row", PLAIT_TEST_PERMUTATION, 0, 0, TRUE);

  for (guint m = 0; m < comparison->n_score_columns; m++)
    apart |= comparison->score_columns[m].apart;
  for (guint i = 0; paths[i]; i++)
    {
      /* Pass no log: changes by other programs were already logged when the runs were opened. */
      g_autoptr (PlaitStore) store = plait_store_open_rewritten (paths[i], NULL, error);

      if (!store)
        return FALSE;
      if (!plait_store_has (store, "/summary"))
        continue;
      plait_html_element (html, "h2", NULL, "The grid");
      plait_html_element (html, "p", "class=\"dim small\"",
                          apart ? "The cells have different references of a split, so their scores are not in one "
                                  "table: each table below has its own references."
                                : note);
      if (!apart && !plait_report_summary (html, store, error))
        return FALSE;
    }
  return TRUE;
}

/* Fails if the file of a run is damaged. If a run only lacks a part, that part is left out of the page. */
static gboolean
check_intact (const PlaitRunComparison *comparison, GError **error)
{
  for (guint r = 0; r < comparison->runs->len; r++)
    if (!plait_store_intact (plait_run_at (comparison->runs, r)->store, error))
      return FALSE;
  return TRUE;
}

static void
add_footer (GString *html, const PlaitRunComparison *comparison)
{
  g_string_append (html, "<footer>Made by plait " PLAIT_VERSION " from");
  for (guint r = 0; r < comparison->runs->len; r++)
    {
      const PlaitStore *store = plait_run_at (comparison->runs, r)->store;

      plait_html_format (html, r > 0 ? ", %s" : " %s", plait_store_path (store));
      g_string_append_printf (html, " (digest %.16s…)", plait_store_digest (store));
    }
  g_string_append (html, "</footer>\n");
}

typedef struct
{
  const char *output, *title;
  gint64 sentences;
  double margin;
  gboolean force;
  PlaitComparisonChoice choice;
} Options;

static gboolean
report (char *const *paths, const Options *options, PlaitLog *log, GError **error)
{
  const PlaitComparisonOptions wanted = {
    TRUE, PLAIT_TEST_PERMUTATION, PLAIT_PERMUTATION_SHUFFLES, 12345, TRUE, log, options->choice, options->margin
  };
  g_autoptr (PlaitRunComparison) comparison = plait_run_comparison_new (paths, &wanted, error);
  g_autoptr (GString) html = g_string_new (NULL);

  if (!comparison)
    return FALSE;
  g_autoptr (PlaitTable) sizes = plait_run_comparison_sizes (comparison);
  const PlaitRunFile *first = comparison->runs->pdata[0];
  const char *name = plait_key_file_value (first->experiment, "experiment", "name");
  gboolean trained = FALSE;
  const char *title = options->title ? options->title : name && *name != '\0' ? name : first->name;

  for (guint r = 0; r < comparison->runs->len; r++)
    trained = trained || !plait_run_at (comparison->runs, r)->dump;
  plait_html_begin (html, title);
  plait_html_element (html, "h1", NULL, title);
  plait_html_table (html, sizes);
  if (!add_summaries (html, comparison, paths, error))
    return FALSE;
  if (trained)
    {
      plait_report_scores (html, comparison);
      plait_report_axes (html, comparison);
    }
  if (!plait_report_lengths (html, comparison, error))
    return FALSE;
  if (trained)
    plait_report_training (html, comparison);
  if (!add_divergence (html, comparison, error) || !add_sentences (html, comparison, options->sentences, error)
      || (trained && !plait_report_settings (html, comparison, error)) || !check_intact (comparison, error))
    return FALSE;
  add_footer (html, comparison);
  plait_html_end (html);
  return plait_file_replace (options->output, html->str, html->len, error);
}

static gboolean
run_command (PlaitInvocation *invocation, GError **error)
{
  const Options *options = invocation->options;

  if (!options->output)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "--output is missing; name the HTML page to write, such as -o report.html");
  for (char **path = invocation->arguments; *path; path++)
    if (!plait_output_differs ("--output", options->output, *path, error))
      return FALSE;
  if (!plait_file_check_new (options->output, options->force, "", "--output", error)
      || !report (invocation->arguments, options, invocation->log, error))
    return FALSE;
  plait_log_info (invocation->log, "%s is written", options->output);
  return TRUE;
}

static const PlaitOption options[] = {
  PLAIT_OPTION ("output", 'o', TEXT, output, "File of the page", "FILE.html"),
  PLAIT_OPTION_FORCE (Options),
  PLAIT_OPTION ("sentences", 0, INTEGER, sentences,
                "Number of translations shown without JavaScript; 0: no sentences at all; default: 3", "N", 0,
                MAX_SENTENCES),
  PLAIT_OPTION_MARGIN (Options),
  PLAIT_OPTION ("runs", 0, TEXT, choice.runs, "Only runs whose names match; * stands for any text", "PATTERN;..."),
  PLAIT_OPTION ("metrics", 0, TEXT, choice.metrics, "Only scores of these names", "NAME;..."),
  PLAIT_OPTION ("names", 0, TEXT, choice.names, "New names of the rows, in their order", "NAME;..."),
  PLAIT_OPTION ("title", 0, TEXT, title, "Title of the page; default: the name of the experiment", "TEXT"),
  { NULL },
};

const PlaitCommand plait_command_report = {
  .name = "report",
  .synopsis = "RUN.h5|grid.h5|DUMP.h5... --output FILE.html [--runs PATTERN] [--metrics NAME] [--names A;B] [--margin "
              "X] [--sentences N] [--force]",
  .summary = "Make one HTML page of runs, a grid or a dump",
  .details
  = "Scores, training curves, translations, attention, settings; the page needs no other file and no network. With "
    "JavaScript, any sentence can be selected, by number, words, score or difference, and any source, layer and head; "
    "two runs are drawn with one scale of colour. Without JavaScript, the first translations are shown.\nEqual runs "
    "give equal bytes.\n\nExamples:\n  plait report run.h5 -o report.html\n  plait report grid/grid.h5 --sentences 5 "
    "-o grid.html\n  plait report dump.h5 -o dump.html    # what plait translate --attention wrote",
  .options = options,
  .size = sizeof (Options),
  .defaults = &(const Options){ .sentences = 3 },
  .min = 1,
  .max = -1,
  .run = run_command,
};
