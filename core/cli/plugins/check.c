/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "text/display.h"
#include "text/json.h"
#include "command/command.h"
#include "loading/registry.h"
#include "command/options.h"
#include "terminal/terminal.h"
#include "contract/contract.h"
#include "axes/cells.h"
#include "setup/experiment-model.h"

/* Implements plait check. For a plugin, runs the contract suite. For an experiment file, finds every mistake that can
 * be found without making vocabularies and batches. */

#define FLAGS (PLAIT_RESOLVE_CHECK_FILES | PLAIT_RESOLVE_LOAD_MODULES | PLAIT_RESOLVE_COUNT_LINES)
#define SECONDS 60
#define OUTCOMES 4
#define GRADIENTS "gradients"
#define DOUBLES "plait-double"

static const char *const outcomes[OUTCOMES] = { "passed", "failed", "not applicable", "not run" };

typedef struct
{
  const PlaitOverride *sets;
  const char *const *properties;
  gint64 seconds; /* limit for each property; 0: use the default */
  gboolean json;
} Options;

/*
 * Functions that check a plugin
 */

typedef struct
{
  PlaitTerminal *terminal; /* terminal for output as text; NULL: output as JSON */
  PlaitJson *json;
  guint name_width;
  guint n[OUTCOMES];
  GString *failed;    /* names of the failed properties, such as "runs, search" */
  gboolean gradients; /* TRUE if the property gradients was checked and passed */
} Report;

static void
print_result (const Report *report, const PlaitContractResult *result)
{
  gboolean passed = result->outcome == PLAIT_CONTRACT_PASSED;
  guint outcome_width = (guint)strlen (outcomes[PLAIT_CONTRACT_NOT_APPLICABLE]);
  guint indent = report->name_width + outcome_width + 6;
  g_autofree char *models = g_strdup_printf ("in %u model%s", result->n_models, result->n_models == 1 ? "" : "s");
  g_autofree char *text
      = g_strjoin (passed && result->text ? "; " : "", passed ? models : "", result->text ? result->text : "", NULL);

  plait_terminal_text (report->terminal, PLAIT_TERMINAL_NAME, "  %-*s", (int)report->name_width, result->property);
  plait_terminal_text (report->terminal,
                       result->outcome == PLAIT_CONTRACT_FAILED ? PLAIT_TERMINAL_ERROR : PLAIT_TERMINAL_PLAIN,
                       "  %-*s  ", (int)outcome_width, outcomes[result->outcome]);
  plait_terminal_paragraph (report->terminal, indent, indent, text);
  fflush (stdout);
}

static void
add_result (PlaitJson *json, const PlaitContractResult *result)
{
  plait_json_object (json, NULL, "name=%s summary=%s outcome=%s models=%u text=%s", result->property, result->summary,
                     outcomes[result->outcome], result->n_models, result->text);
}

static void
take (const PlaitContractResult *result, gpointer data)
{
  Report *report = data;

  report->n[result->outcome]++;
  if (result->outcome == PLAIT_CONTRACT_FAILED)
    g_string_append_printf (report->failed, "%s%s", report->failed->len > 0 ? ", " : "", result->property);
  if (result->outcome == PLAIT_CONTRACT_PASSED && g_str_equal (result->property, GRADIENTS))
    report->gradients = TRUE;
  if (report->json)
    add_result (report->json, result);
  else
    print_result (report, result);
}

static void
begin (Report *report, const PlaitPlugin *plugin)
{
  const char *kind = plait_plugin_kind_name (plugin->kind), *version = plugin->descriptor->version;
  g_autofree const char **properties = plait_contract_properties ();

  for (guint i = 0; properties[i]; i++)
    report->name_width = MAX (report->name_width, (guint)strlen (properties[i]));
  if (!report->json)
    {
      plait_terminal_text (report->terminal, PLAIT_TERMINAL_HEADING, "%s/%s", kind, plugin->name);
      plait_terminal_text (report->terminal, PLAIT_TERMINAL_DIM, "  %s  %s\n", version, plugin->module_path);
      return;
    }
  plait_json_members (report->json, "kind=%s name=%s version=%s module=%s scalar=%s", kind, plugin->name, version,
                      plugin->module_path, sizeof (PlaitScalar) == sizeof (double) ? "double" : "float");
  plait_json_begin_array (report->json, "properties");
}

/* TRUE if plait-double can load @plugin: from @folder, or as one of its own plugins. */
static gboolean
has_doubles (const PlaitPlugin *plugin, const char *folder)
{
  g_autofree char *file = g_strconcat (plugin->name, ".so", NULL);
  g_autofree char *module = g_build_filename (folder, plait_plugin_kind_name (plugin->kind), file, NULL);

  return g_strcmp0 (plugin->folder->origin, "installed") == 0 || g_file_test (module, G_FILE_TEST_EXISTS);
}

/* Runs @program (plait-double) to check the gradients of @plugin, which @program looks for in @folder first. Copies the
 * output of @program into the report. FALSE if the check failed or could not run. */
static gboolean
run_doubles (Report *report, const char *program, const PlaitPlugin *plugin, const char *folder, guint seconds)
{
  g_autofree char *name = g_strdup_printf ("%s/%s", plait_plugin_kind_name (plugin->kind), plugin->name);
  g_autofree char *limit = g_strdup_printf ("--seconds=%u", seconds);
  g_autofree char *output = NULL;
  const char *const words[]
      = { program, "check", name, "--property", GRADIENTS, limit, report->json ? "--json" : NULL, NULL };
  g_auto (GStrv) environment = g_environ_setenv (g_get_environ (), "PLAIT_PLUGIN_PATH", folder, TRUE);
  int status;

  if (!g_spawn_sync (NULL, (char **)words, environment, G_SPAWN_DEFAULT, NULL, NULL, &output, NULL, &status, NULL)
      || !g_utf8_validate (output, -1, NULL))
    return FALSE;
  if (!report->json)
    plait_terminal_text (report->terminal, PLAIT_TERMINAL_PLAIN, "\n%s", output);
  else if (*output)
    plait_json_document (report->json, "doubles", output);
  else /* nothing to report, since @program has printed its error to stderr */
    plait_json_text (report->json, "doubles", NULL);
  return g_spawn_check_wait_status (status, NULL);
}

/* If the gradients passed, checks them in double precision with plait-double, whose plugin is its own or stands in the
 * folder "double" of the plugin's folder. FALSE if this check failed; TRUE without plait-double or its plugin. */
static gboolean
check_doubles (Report *report, const PlaitPlugin *plugin, guint seconds)
{
  g_autofree char *program = g_find_program_in_path (DOUBLES);
  g_autofree char *folder = g_build_filename (plugin->folder->path, "double", NULL);

  if (!program || !report->gradients || sizeof (PlaitScalar) == sizeof (double))
    return TRUE;
  if (has_doubles (plugin, folder))
    return run_doubles (report, program, plugin, folder, seconds);
  if (!report->json)
    plait_terminal_text (report->terminal, PLAIT_TERMINAL_DIM,
                         "gradients in doubles: not run, %s has no %s/%s.so for " DOUBLES "\n", folder,
                         plait_plugin_kind_name (plugin->kind), plugin->name);
  return TRUE;
}

static void
end_properties (Report *report)
{
  if (!report->json)
    {
      plait_terminal_text (report->terminal, PLAIT_TERMINAL_PLAIN, "%u passed, %u failed",
                           report->n[PLAIT_CONTRACT_PASSED], report->n[PLAIT_CONTRACT_FAILED]);
      for (guint i = PLAIT_CONTRACT_NOT_APPLICABLE; i < OUTCOMES; i++)
        if (report->n[i] > 0)
          plait_terminal_text (report->terminal, PLAIT_TERMINAL_PLAIN, ", %u %s", report->n[i], outcomes[i]);
      plait_terminal_text (report->terminal, PLAIT_TERMINAL_PLAIN, "\n");
      return;
    }
  plait_json_end_array (report->json);
  for (guint i = 0; i < OUTCOMES; i++)
    {
      g_autofree char *name = g_strdelimit (g_strdup (outcomes[i]), " ", '_');

      plait_json_integer (report->json, name, report->n[i]);
    }
}

static gboolean
check_names (const char *const *names, GError **error)
{
  g_autofree const char **known = plait_contract_properties ();

  for (guint i = 0; names && names[i]; i++)
    if (!g_strv_contains (known, names[i]))
      {
        g_autofree char *remedy = plait_name_remedy (names[i], known, NULL);

        return plait_fail (error, PLAIT_ERROR_INPUT, "\"%s\" is not a property; %s", names[i], remedy);
      }
  return TRUE;
}

static gboolean
check_plugin (PlaitPlugin *plugin, const char *const *names, guint seconds, gboolean as_json, GError **error)
{
  g_autoptr (PlaitContract) contract = plait_contract_new (plugin, error);
  g_autoptr (GString) failed = g_string_new (NULL);
  g_autoptr (PlaitTerminal) terminal = as_json ? NULL : plait_terminal_new ();
  g_autoptr (PlaitJson) json = as_json ? plait_json_new_object () : NULL;
  Report report = { .terminal = terminal, .json = json, .failed = failed };

  if (!contract)
    return FALSE;
  begin (&report, plugin);
  plait_contract_check (contract, names, seconds, take, &report);
  end_properties (&report);
  if (!check_doubles (&report, plugin, seconds))
    g_string_append_printf (failed, "%s" GRADIENTS " in doubles", failed->len > 0 ? ", " : "");
  if (json)
    plait_json_print (json);
  return failed->len == 0
         || plait_fail (error, PLAIT_ERROR_FAILED, "%s \"%s\" breaks its contract; failed properties: %s",
                        plait_plugin_kind_name (plugin->kind), plugin->name, failed->str);
}

/*
 * Functions that check an experiment
 */

/* Builds the model of @experiment. If that fails, adds the error to @problems. @cell names the cell of a grid, or is
 * NULL. */
static void
try_build (const PlaitExperiment *experiment, const char *cell, PlaitProblems *problems)
{
  g_autoptr (GError) fault = NULL;

  if (!plait_experiment_model_try_build (experiment, &fault))
    plait_problems_add (problems, cell ? "%s (in the cell %s)" : "%s", fault->message, cell);
}

/* Adds mistakes in values of the file that a [grid] axis replaces. No cell uses these values, but plait run does. */
static void
check_own_values (const char *path, const PlaitOverride *overrides, PlaitRegistry *registry, PlaitProblems *problems)
{
  g_autoptr (PlaitKeyFile) file = plait_experiment_read (path, overrides, NULL);
  g_autoptr (PlaitProblems) alone = plait_problems_new ();
  PlaitExperiment *experiment = plait_experiment_check (path, overrides, FLAGS, registry, alone);

  if (experiment)
    plait_experiment_free (experiment);
  for (guint i = 0; i < plait_problems_n_listed (alone); i++)
    {
      const PlaitProblem *problem = plait_problems_get (alone, i);
      g_autofree char *axis = problem->key ? g_strdup_printf ("%s.%s", problem->group, problem->key) : g_strdup ("");

      if (file && plait_key_file_value (file, PLAIT_GRID_GROUP, g_strdelimit (axis, " ", '.'))
          && plait_key_file_value (file, problem->group, problem->key))
        plait_problems_add_at (problems, problem);
    }
}

/* Summary of a checked experiment file. */
typedef struct
{
  guint n_cells;    /* number of cells; 0 if the file has no [grid], or if the cells could not be made */
  char *duplicates; /* sentence about cells with equal settings, from plait_cells_describe_duplicates(); or NULL */
} ExperimentCheck;

static ExperimentCheck
check_file (const char *path, const PlaitOverride *overrides, PlaitProblems *problems)
{
  g_autoptr (PlaitRegistry) registry = plait_registry_new ();
  g_autoptr (PlaitKeyFile) file = plait_key_file_load (path, NULL);
  g_autoptr (PlaitExperiment) experiment = NULL;
  g_autoptr (PlaitCells) cells = NULL;

  if (!file || !plait_key_file_has_group (file, PLAIT_GRID_GROUP))
    {
      experiment = plait_experiment_check (path, overrides, FLAGS, registry, problems);
      if (experiment)
        try_build (experiment, NULL, problems);
      return (ExperimentCheck){ 0 };
    }
  cells = plait_cells_check (path, overrides, FLAGS, registry, problems);
  check_own_values (path, overrides, registry, problems);
  for (guint i = 0; cells && i < cells->n_cells; i++)
    try_build (cells->cells[i].experiment, cells->cells[i].label, problems);
  return cells ? (ExperimentCheck){ cells->n_cells, plait_cells_describe_duplicates (cells) } : (ExperimentCheck){ 0 };
}

static void
print_problems (const char *path, const PlaitProblems *problems, const ExperimentCheck *checked_experiment)
{
  for (guint i = 0; i < plait_problems_n_listed (problems); i++)
    {
      g_autofree char *text = plait_problem_text (plait_problems_get (problems, i));

      plait_display_line (stdout, text);
    }
  if (plait_problems_count (problems) > 0)
    return;
  g_autofree char *cells = checked_experiment->n_cells > 0
                               ? g_strdup_printf (" in %u cell%s", checked_experiment->n_cells,
                                                  checked_experiment->n_cells == 1 ? "" : "s")
                               : g_strdup ("");
  g_autofree char *text = g_strdup_printf ("%s: no mistake was found%s", path, cells);
  plait_display_line (stdout, text);
  if (checked_experiment->duplicates)
    plait_display_line (stdout, checked_experiment->duplicates);
}

static void
print_problems_json (const char *path, const PlaitProblems *problems, const ExperimentCheck *checked_experiment)
{
  g_autoptr (PlaitJson) json = plait_json_new_object ();

  plait_json_members (json, "file=%s cells=%u same=%s mistakes=%u", path, checked_experiment->n_cells,
                      checked_experiment->duplicates, plait_problems_count (problems));
  plait_json_begin_array (json, "problems");
  for (guint i = 0; i < plait_problems_n_listed (problems); i++)
    {
      const PlaitProblem *problem = plait_problems_get (problems, i);

      plait_json_begin_object (json, NULL);
      plait_json_text (json, "place", problem->location);
      if (problem->line > 0)
        plait_json_integer (json, "line", problem->line);
      else
        plait_json_text (json, "line", NULL);
      plait_json_members (json, "group=%s key=%s text=%s", problem->group, problem->key, problem->sentence);
      plait_json_end_object (json);
    }
  plait_json_end_array (json);
  plait_json_print (json);
}

/* Prints the mistakes of the experiment file at @path, at most a hundred; with a group [grid], those of all cells.
 * PLAIT_ERROR_INPUT if there is a mistake. */
static gboolean
check_experiment (const char *path, const PlaitOverride *overrides, gboolean as_json, GError **error)
{
  g_autoptr (PlaitProblems) problems = plait_problems_new ();
  ExperimentCheck checked_experiment = check_file (path, overrides, problems);
  guint n = plait_problems_count (problems);

  if (as_json)
    print_problems_json (path, problems, &checked_experiment);
  else
    print_problems (path, problems, &checked_experiment);
  g_free (checked_experiment.duplicates);
  return n == 0 || plait_fail (error, PLAIT_ERROR_INPUT, "%s: %u mistake%s", path, n, n == 1 ? "" : "s");
}

static gboolean
run_command (PlaitInvocation *invocation, GError **error)
{
  const Options *options = invocation->options;
  gboolean is_experiment; /* TRUE: the argument is an experiment file; FALSE: it names a plugin */
  const char *word;
  g_autoptr (PlaitRegistry) registry = NULL;
  PlaitPlugin *plugin;

  if (!check_names (options->properties, error))
    return FALSE;
  word = invocation->arguments[0];
  is_experiment = g_str_has_suffix (word, ".ini") || g_file_test (word, G_FILE_TEST_IS_REGULAR);
  if (is_experiment && (options->properties || options->seconds))
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "--property and --seconds are for plugins, but %s is an experiment file; leave them out", word);
  if (is_experiment)
    return check_experiment (word, options->sets, options->json, error);
  if (options->sets)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "--set and --unset are for experiment files, but %s is not one; leave them out", word);
  registry = plait_registry_new ();
  plugin = plait_registry_find_word (registry, word, NULL, error);
  return plugin
         && check_plugin (plugin, options->properties, options->seconds ? (guint)options->seconds : SECONDS,
                          options->json, error);
}

static const PlaitOption options[] = {
  PLAIT_OPTION ("set", 's', SETS, sets, "Set a key of the experiment", "G.K=V"),
  PLAIT_OPTION_UNSET (Options, sets),
  PLAIT_OPTION ("property", 0, TEXTS, properties, "Check only this property of the plugin (may be repeated)", "NAME"),
  PLAIT_OPTION ("seconds", 0, INTEGER, seconds, "Time limit of each property of a plugin; default: 60", "N", 1, 86400),
  PLAIT_OPTION_JSON (Options),
  { NULL },
};

const PlaitCommand plait_command_check = {
  .name = "check",
  .synopsis
  = "FILE.ini [--set G.K=V]... [--unset G.K]... [--json] | PLUGIN [--property NAME]... [--seconds N] [--json]",
  .summary = "Find the mistakes of an experiment file, or check a plugin against the contract of its kind",
  .details
  = "For an experiment file, the output has a line for each mistake, with file, line and key, also in all cells of its "
    "[grid]: unknown keys, wrong values, settings that do not fit together, missing or unreadable files, files with "
    "unequal numbers of lines, modules that do not load, models that cannot be built. Nothing is learnt from the data, "
    "so it takes seconds. plait run makes the same checks first. plait run --dry-run also checks what needs the data: "
    "vocabularies, updates and memory. The exit code is 2 if there is a mistake.\n"
    "\n"
    "PLUGIN is a name, or KIND/NAME if plugins of several kinds have that name. The plugin is tested in small models "
    "with plait's own plugins: with its defaults under every decoder that its schema allows, and with each of its "
    "choices. The output has one line for each property: passed, failed, not applicable or not run; a failure has one "
    "sentence. The exit code is 0 if nothing failed. If the plugin crashes, exits or does not end, the property that "
    "is being checked fails.\n"
    "\n"
    "structure: memories are as the schema promises. runs: the plugin builds, and losses and gradients are finite. "
    "gradients: gradients agree with finite differences. memories: the plugin works with one, two and three sources. "
    "missing: sources may be missing. batches: the sentences of a batch are independent. lengths: long and short "
    "sentences work. search: search scores equal forced decoding. causal: later words of a target change no earlier "
    "result. losses: declared losses are added and finite. repeats: equal bits for any number of threads. shards: "
    "parts of a batch may run at once.\n"
    "\n"
    "In single precision, finite differences show only gross errors of gradients. If plait-double is found (plait "
    "built with -Dscalar=double), it checks gradients to six digits: for the plugin FOLDER/KIND/NAME.so it loads "
    "FOLDER/double/KIND/NAME.so, which a project of plait new also builds.\n"
    "\n"
    "Examples:\n"
    "  plait check first.ini\n"
    "  plait check hierarchical\n"
    "  PLAIT_PLUGIN_PATH=build plait check combiner/averaged --property gradients",
  .options = options,
  .size = sizeof (Options),
  .min = 1,
  .max = 1,
  .run = run_command,
};
