/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "base/display.h"
#include "base/json.h"
#include "cli/check.h"
#include "grid/cells.h"
#include "run/system.h"

/* plait check FILE.ini: all that can be told of an experiment without learning anything from its data. */

#define FLAGS (PLAIT_RESOLVE_CHECK_FILES | PLAIT_RESOLVE_LOAD_MODULES | PLAIT_RESOLVE_COUNT_LINES)

/* Builds the model of @experiment, and adds why that cannot be done. */
static void
rehearse (const PlaitExperiment *experiment, const char *cell, PlaitProblems *problems)
{
  g_autoptr (GError) fault = NULL;

  if (plait_system_rehearse (experiment, &fault))
    return;
  if (cell)
    plait_problems_add (problems, "%s (in the cell %s)", fault->message, cell);
  else
    plait_problems_add (problems, "%s", fault->message);
}

/* The cells that were looked at; 0: without a grid, or where they could not be made. */
static guint
look (const char *path, const char *const *overrides, PlaitProblems *problems)
{
  g_autoptr (PlaitRegistry) registry = plait_registry_new ();
  g_autoptr (PlaitKeyFile) file = plait_key_file_load (path, NULL);
  g_autoptr (PlaitExperiment) experiment = NULL;
  g_autoptr (PlaitCells) cells = NULL;

  if (!file || !plait_key_file_has_group (file, PLAIT_GRID_GROUP))
    {
      experiment = plait_experiment_check (path, overrides, FLAGS, registry, problems);
      if (experiment)
        rehearse (experiment, NULL, problems);
      return 0;
    }
  cells = plait_cells_check (path, overrides, FLAGS, registry, problems);
  for (guint i = 0; cells && i < cells->n_cells; i++)
    rehearse (cells->cells[i].experiment, cells->cells[i].label, problems);
  return cells ? cells->n_cells : 0;
}

static void
print_text (const char *path, const PlaitProblems *problems, guint n_cells)
{
  for (guint i = 0; i < plait_problems_n_kept (problems); i++)
    {
      g_autofree char *text = plait_problem_text (plait_problems_get (problems, i));

      plait_display_line (stdout, text);
    }
  if (plait_problems_count (problems) > 0)
    return;
  g_autofree char *cells = n_cells > 0 ? g_strdup_printf (" in %u cells", n_cells) : g_strdup ("");
  g_autofree char *text = g_strdup_printf ("%s: no mistake was found%s", path, cells);
  plait_display_line (stdout, text);
}

static void
print_json (const char *path, const PlaitProblems *problems, guint n_cells)
{
  g_autoptr (PlaitJson) json = plait_json_new_object ();

  plait_json_text (json, "file", path);
  plait_json_integer (json, "cells", n_cells);
  plait_json_integer (json, "mistakes", plait_problems_count (problems));
  plait_json_begin_array (json, "problems");
  for (guint i = 0; i < plait_problems_n_kept (problems); i++)
    {
      const PlaitProblem *problem = plait_problems_get (problems, i);

      plait_json_begin_object (json, NULL);
      plait_json_text (json, "place", problem->place);
      if (problem->line > 0)
        plait_json_integer (json, "line", problem->line);
      else
        plait_json_text (json, "line", NULL);
      plait_json_text (json, "group", problem->group);
      plait_json_text (json, "key", problem->key);
      plait_json_text (json, "text", problem->sentence);
      plait_json_end_object (json);
    }
  plait_json_end_array (json);
  plait_json_print (json);
}

gboolean
plait_check_experiment (const char *path, const char *const *overrides, gboolean as_json, GError **error)
{
  g_autoptr (PlaitProblems) problems = plait_problems_new ();
  guint n_cells = look (path, overrides, problems);
  guint n = plait_problems_count (problems);

  if (as_json)
    print_json (path, problems, n_cells);
  else
    print_text (path, problems, n_cells);
  return n == 0 || plait_fail (error, PLAIT_ERROR_INPUT, "%s: %u mistake%s", path, n, n == 1 ? "" : "s");
}
