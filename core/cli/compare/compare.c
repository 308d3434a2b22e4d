/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "text/error.h"
#include "text/json.h"
#include "command/command.h"
#include "compare/compare.h"
#include "comparison/comparison.h"
#include "comparison/lengths.h"
#include "command/options.h"
#include "terminal/table-print.h"

#define FORMATS "markdown|csv|latex"

typedef struct
{
  guint test;
  gint64 trials, seed;
  double margin;
  gint64 differ; /* number of sentences to print of each split; 0: the option was not given */
  const char *frequencies, *format;
  gboolean attention, json;
  PlaitComparisonChoice choice;
} Options;

/* Styles of tables, one for each word of FORMATS, in the order of FORMATS. */
static const struct
{
  const char *mark; /* text that is written before a title */
  const char *below;
  char *(*write) (const PlaitTable *table);
} formats[] = { { "## ", "\n", plait_table_markdown }, { "", "", plait_table_csv }, { "% ", "", plait_table_latex } };

static void
add_systems_json (PlaitJson *json, const PlaitRunComparison *comparison)
{
  plait_json_begin_array (json, "systems");
  for (guint s = 0; s < comparison->systems->len; s++)
    {
      const PlaitRunSystem *system = plait_run_system_at (comparison->systems, s);

      plait_json_begin_object (json, NULL);
      plait_json_text (json, "name", system->name);
      plait_json_begin_array (json, "runs");
      for (guint i = 0; i < system->n; i++)
        plait_json_integer (json, NULL, system->runs[i]);
      plait_json_end_array (json);
      plait_json_begin_array (json, "scores");
      for (guint m = 0; m < comparison->n_score_columns; m++)
        {
          const PlaitSeedStatistics *value = plait_run_comparison_value (comparison, s, m);

          if (value->n > 0)
            plait_seed_statistics_add_json (value, &comparison->score_columns[m], json);
        }
      plait_json_end_array (json);
      plait_json_end_object (json);
    }
  plait_json_end_array (json);
}

static gboolean
print_json (const PlaitRunComparison *comparison, GError **error)
{
  g_autoptr (PlaitJson) json = plait_json_new_object ();

  plait_json_begin_array (json, "runs");
  for (guint r = 0; r < comparison->runs->len; r++)
    {
      const PlaitRunFile *run = comparison->runs->pdata[r];

      plait_json_begin_object (json, NULL);
      plait_json_members (json, "name=%s file=%s parameters=%jd target_tokens_per_second=%g", run->name,
                          plait_store_path (run->store), run->result->parameters, run->rate);
      plait_json_begin_array (json, "scores");
      for (guint m = 0; m < comparison->n_score_columns; m++)
        {
          const PlaitRunScore *score = plait_score_column_score (&comparison->score_columns[m], run->result);

          if (score)
            plait_run_score_add_json (score, json);
        }
      plait_json_end_array (json);
      if (!plait_lengths_add_json (run, json, error))
        return FALSE;
      plait_json_begin_object (json, "differences");
      for (guint d = 0; d < comparison->differences->len; d++)
        plait_setting_difference_add_json (comparison->differences->pdata[d], r, json);
      plait_json_end_object (json);
      plait_json_end_object (json);
    }
  plait_json_end_array (json);
  add_systems_json (json, comparison);
  plait_json_texts (json, "notes", (const char *const *)comparison->notes, -1);
  plait_json_print (json);
  return TRUE;
}

static void
print_scores (const PlaitRunComparison *comparison, PlaitTerminal *terminal)
{
  for (guint first = 0; first < comparison->n_score_columns; first = plait_run_comparison_split_end (comparison, first))
    {
      g_autoptr (PlaitTable) scores = plait_run_comparison_scores (comparison, first);
      g_autofree char *split = plait_score_column_split_text (&comparison->score_columns[first]);

      scores->title = g_strconcat ("scores on ", split, NULL);
      plait_table_print (scores, terminal);
    }
  if (comparison->n_score_columns == 0)
    plait_terminal_text (terminal, PLAIT_TERMINAL_PLAIN, "No test split has been scored yet.\n");
}

/* Writes only the tables of scores, each with the title of its split, for other programs. */
static void
write_scores (const PlaitRunComparison *comparison, guint format)
{
  for (guint first = 0; first < comparison->n_score_columns; first = plait_run_comparison_split_end (comparison, first))
    {
      g_autoptr (PlaitTable) scores = plait_run_comparison_scores (comparison, first);
      g_autofree char *split = plait_score_column_split_text (&comparison->score_columns[first]);
      g_autofree char *text = formats[format].write (scores);

      printf ("%s%sScores on %s\n%s%s", first > 0 ? "\n" : "", formats[format].mark, split, formats[format].below,
              text);
    }
}

static void
print_settings (const PlaitRunComparison *comparison, PlaitTerminal *terminal)
{
  g_autoptr (PlaitTable) settings = plait_run_comparison_settings (comparison);

  if (comparison->runs->len < 2)
    return;
  plait_terminal_heading (terminal,
                          comparison->differences->len > 0 ? "different settings" : "all settings are the same");
  if (comparison->differences->len > 0)
    plait_table_print (settings, terminal);
}

static gboolean
print_text (const PlaitRunComparison *comparison, GError **error)
{
  g_autoptr (GPtrArray) lengths = plait_length_tables_of_runs (comparison, error);
  g_autoptr (PlaitTable) sizes = plait_run_comparison_sizes (comparison);

  if (!lengths)
    return FALSE;
  g_autoptr (PlaitTerminal) terminal = plait_terminal_new ();
  sizes->title = g_strdup ("models");
  print_scores (comparison, terminal);
  for (guint i = 0; i < lengths->len; i++)
    plait_table_print (lengths->pdata[i], terminal);
  plait_table_print (sizes, terminal);
  print_settings (comparison, terminal);
  return TRUE;
}

static gboolean
run_command (PlaitInvocation *invocation, GError **error)
{
  const Options *options = invocation->options;
  PlaitComparisonOptions wanted
      = { .trials = options->trials, .seed = options->seed, .log = invocation->log, .choice = options->choice };

  wanted.margin = options->margin;
  if (options->format && options->json)
    return plait_fail (error, PLAIT_ERROR_INPUT, "--format prints scores as text; leave out --json");
  if (!!options->format + options->attention + !!options->differ + !!options->frequencies > 1)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "--format, --attention, --differ and --frequencies each print something else; give one of them");
  wanted.tested = plait_option_test (options->test, &wanted.test, &wanted.trials) && !options->attention
                  && !options->differ && !options->frequencies;
  if (options->margin > 0 && !wanted.tested)
    return plait_fail (
        error, PLAIT_ERROR_INPUT,
        "--margin tests scores; do not combine it with --test none, --attention, --differ or --frequencies");
  if (options->attention)
    return plait_compare_attention (invocation->arguments, options->json, invocation->log, error);
  g_autoptr (PlaitRunComparison) comparison = plait_run_comparison_new (invocation->arguments, &wanted, error);
  if (!comparison)
    return FALSE;
  if (options->differ)
    return plait_compare_sentences (comparison, options->differ, options->json, error);
  if (options->frequencies)
    return plait_compare_frequencies (comparison, options->frequencies, options->json, error);
  if (options->format)
    {
      write_scores (comparison, plait_option_choice (options->format, FORMATS));
      return TRUE;
    }
  return options->json ? print_json (comparison, error) : print_text (comparison, error);
}

static const PlaitOption options[] = {
  PLAIT_OPTION ("test", 0, CHOICE, test, "Test of each run against the first; default: permutation",
                PLAIT_OPTION_TESTS),
  PLAIT_OPTION_TRIALS (Options),
  PLAIT_OPTION ("seed", 0, INTEGER, seed, "Seed of the test; default: 12345", "N", 0, (double)G_MAXINT64),
  PLAIT_OPTION_MARGIN (Options),
  PLAIT_FLAG ("attention", 0, attention, "Instead, compare the attention of two files by Jensen-Shannon divergence"),
  PLAIT_OPTION ("differ", 0, INTEGER, differ,
                "Instead, print the N sentences whose scores differ most between two runs", "N", 1, G_MAXINT),
  PLAIT_OPTION ("frequencies", 0, TEXT, frequencies,
                "Instead, print F1 of words by frequency in this training text of the target language", "FILE"),
  PLAIT_OPTION ("format", 0, TEXT, format, "Print only the scores, as text for other programs", FORMATS),
  PLAIT_OPTION ("runs", 0, TEXT, choice.runs, "Only runs whose names match; * stands for any text", "PATTERN;..."),
  PLAIT_OPTION ("metrics", 0, TEXT, choice.metrics, "Only scores of these names", "NAME;..."),
  PLAIT_OPTION ("names", 0, TEXT, choice.names, "New names of the rows, in their order", "NAME;..."),
  PLAIT_OPTION_JSON (Options),
  { NULL },
};

const PlaitCommand plait_command_compare = {
  .name = "compare",
  .synopsis = "RUN.h5|grid.h5... [--test NAME] [--margin X] [--attention] [--differ N] [--frequencies FILE] [--runs "
              "PATTERN] [--metrics NAME] [--names A;B] [--format NAME] [--json]",
  .summary = "Compare the scores and the settings of runs",
  .details
  = "A grid stands for all its finished runs. Every run is tested against the first one on the hypotheses in their "
    "files. Runs that differ only in experiment.seed and experiment.name are one system, with a mean, its standard "
    "deviation and a test that includes the seeds.\nA large p does not show that runs are equally good. --margin tests "
    "that: it prints the larger p of two one-sided tests, small if scores differ by less than the "
    "margin.\n\nExamples:\n  plait compare serial.h5 flat.h5\n  plait compare grid/grid.h5 --test bootstrap --json\n  "
    "plait compare serial.h5 flat.h5 --metrics BLEU --margin 0.5\n  plait compare serial.h5 flat.h5 --differ 10\n  "
    "plait compare serial.h5 flat.h5 --frequencies train.cs.gz\n  plait compare serial.h5 flat.h5 --attention",
  .options = options,
  .size = sizeof (Options),
  .defaults = &(const Options){ .seed = 12345 },
  .min = 1,
  .max = -1,
  .run = run_command,
};
