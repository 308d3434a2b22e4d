/* SPDX-License-Identifier: MIT */
#include "axes/cells.h"

#include "files/problems.h"
#include "text/number.h"
#include "text/separators.h"
#include "axes/exclusions.h"
#include "axes/executor-settings.h"
#include "axes/keys.h"
#include "axes/parameter-match.h"
#include "axes/constraints.h"
#include "axes/vocabularies.h"

#define MAX_CELLS 10000
#define MAX_NAMED 6  /* maximum number of duplicate cells that one sentence names */
#define EMPTY "\"\"" /* what the user writes as the empty value of an axis */

/* A problem that one or more cells have. */
typedef struct
{
  const PlaitProblem *problem;
  char *text;  /* result of plait_problem_text() */
  char *first; /* label of the first cell with the problem */
  guint n_cells;
} Fault;

typedef struct
{
  PlaitGridGroup grid;
  PlaitRegistry *registry;
  PlaitResolver *resolver;
  PlaitParameterMatch *match; /* state of match=parameters; NULL: widths are not changed */
  PlaitExclusions *exclusions;
  PlaitAxisConstraints *constraints;
  char **own; /* [n_axes]: the file's own value of the axis's key; NULL if the file lacks the key */
  PlaitCells *cells;
  GStrvBuilder *duplicates; /* labels of the cells that are left out because they equal an earlier cell */
  GStrvBuilder *duplicate_of;
  GHashTable *by_fingerprint; /* fingerprint of a cell's run -> label of the cell */
  GPtrArray *noted;           /* (element-type PlaitProblems): problems of faulty cells; @faults points into them */
  GPtrArray *faults;          /* (element-type Fault), in the order of the first cell with the fault */
  GHashTable *by_text;        /* text of a problem -> its Fault */
  guint *set; /* [n_axes]: index of the axis value that the file holds now; G_MAXUINT before the first cell */
  guint n_resolved;
} Builder;

static void
fault_free (gpointer data)
{
  Fault *fault = data;

  g_free (fault->text);
  g_free (fault->first);
  g_free (fault);
}

/* The setting that an axis varies. */
typedef struct
{
  const Builder *builder;
  const PlaitSettingSpecification *setting; /* NULL if the axis varies a parameter of a plugin or task */
} Varied;

static gboolean
is_source (const char *text, gconstpointer data)
{
  const Builder *builder = data;
  g_autofree char *group = g_strconcat ("source ", text, NULL);

  return plait_key_file_has_group (builder->grid.file, group);
}

/* TRUE if @text is certainly one value of the axis, such as a number, a choice, a plugin, or sources like en+de. FALSE
 * if @text may also be several values with a wrong separator. */
static gboolean
is_value (const char *text, gconstpointer data)
{
  const Varied *varied = data;
  const PlaitRegistry *registry = varied->builder->registry;
  g_autofree char *value = NULL;
  gboolean truth, found = is_source (text, varied->builder);
  double number;

  if (!varied->setting)
    return plait_parse_double (text, &number) || plait_parse_boolean (text, &truth);
  if (varied->setting->type != PLAIT_SETTING_TEXT && varied->setting->type != PLAIT_SETTING_LIST)
    {
      value = plait_setting_parse (varied->setting, text, NULL, NULL);
      return value != NULL;
    }
  if (g_str_equal (varied->setting->name, "sources"))
    {
      value = plait_separators_mend (text, ";", is_source, varied->builder);
      return found || (value && strchr (text, '+'));
    }
  for (guint i = 0; i < plait_registry_n_plugins (registry); i++)
    if (g_str_equal (plait_registry_plugin (registry, i)->name, text))
      return TRUE;
  return FALSE;
}

/* If *@values is one text in which a wrong character separates several values, adds a problem of @key and splits the
 * text. */
static void
mend_values (const Builder *builder, const char *key, const char *group, const char *name, GStrv *values)
{
  const Varied varied = { builder, plait_experiment_setting (group, name) };
  g_autofree char *mended = plait_separators_mend ((*values)[0], ";", is_value, &varied);

  /* Sources joined by '+', such as en+de, are one value. */
  if (!mended || is_value ((*values)[0], &varied))
    return;
  plait_grid_problem (&builder->grid, key, "is given one value, \"%s\"; did you mean \"%s\"?", (*values)[0], mended);
  g_strfreev (*values);
  *values = g_strsplit (mended, ";", -1);
}

static void
read_axis (const Builder *builder, const char *key)
{
  g_auto (GStrv) values = plait_key_file_list (builder->grid.file, PLAIT_GRID_GROUP, key);
  g_autofree char *group = NULL, *name = NULL;
  guint n = g_strv_length (values);

  if (plait_grid_owns_key (key) || !plait_experiment_split_key (key, &group, &name)
      || g_str_equal (group, PLAIT_GRID_GROUP))
    {
      plait_grid_refuse_key (&builder->grid, key);
      return;
    }
  if (n == 1)
    mend_values (builder, key, group, name, &values);
  n = g_strv_length (values);
  if (builder->match && plait_parameter_match_varies (builder->match, key))
    plait_grid_problem (&builder->grid, key, "is an axis, but match.vary changes this key too; keep one of the two");
  if (n == 0)
    plait_grid_problem (&builder->grid, key, "has no values; give some, separated by ';'");
  for (guint i = 0; i < n; i++)
    if (*values[i] == '\0')
      plait_grid_problem (&builder->grid, key,
                          "has an empty value; drop one of the ';', or write \"\" to mean the empty value");
  builder->cells->axes[builder->cells->n_axes++] = (PlaitAxis){ g_strdup (key), g_steal_pointer (&values), n };
}

gboolean
plait_axis_is_seed (const PlaitAxis *axis)
{
  return g_str_equal (axis->key, "experiment.seed");
}

gboolean
plait_cells_are_seeds (const PlaitCells *cells, const PlaitExperimentCell *a, const PlaitExperimentCell *b)
{
  for (guint i = 0; i < cells->n_axes; i++)
    if (!plait_axis_is_seed (&cells->axes[i]) && a->value_indices[i] != b->value_indices[i])
      return FALSE;
  return TRUE;
}

static char *
label_of (const Builder *builder, const guint *value_indices)
{
  g_autoptr (GString) label = g_string_new (NULL);

  for (guint i = 0; i < builder->cells->n_axes; i++)
    {
      const PlaitAxis *axis = &builder->cells->axes[i];

      if (!plait_axis_constraints_is_absent (builder->constraints, i, value_indices[i]))
        g_string_append_printf (label, "%s%s=%s", label->len > 0 ? " " : "", axis->key, axis->values[value_indices[i]]);
    }
  return g_strdup (label->str);
}

/* Sets in the file the values of the cell with the indices @value_indices. Changes only axes whose value differs from
 * that of the previous cell. */
static gboolean
set_values (const Builder *builder, const guint *value_indices, GError **error)
{
  for (guint i = 0; i < builder->cells->n_axes; i++)
    {
      const PlaitAxis *axis = &builder->cells->axes[i];

      if (builder->set[i] == value_indices[i])
        continue;
      g_autofree char *location = plait_key_file_location (builder->grid.file, PLAIT_GRID_GROUP, axis->key);
      g_autofree char *group = NULL, *key = NULL;
      gboolean absent = plait_axis_constraints_is_absent (builder->constraints, i, value_indices[i]);
      const char *value = absent ? builder->own[i] : axis->values[value_indices[i]];
      g_auto (GStrv) parts = g_strsplit (value ? value : "", "\\", -1);
      g_autofree char *written = g_strjoinv ("\\\\", parts);

      plait_experiment_split_key (axis->key, &group, &key);
      builder->set[i] = value_indices[i];
      if (!value)
        {
          plait_key_file_remove (builder->grid.file, group, key);
          continue;
        }
      if (!plait_key_file_set (builder->grid.file, group, key, g_str_equal (written, EMPTY) ? "" : written, location,
                               error))
        return FALSE;
    }
  return TRUE;
}

/* Adds @problems (transfer full) of the cell @label to the faults. Counts for each fault the cells that have it. */
static void
note_faults (Builder *builder, PlaitProblems *problems, const char *label)
{
  g_ptr_array_add (builder->noted, problems);
  for (guint i = 0; i < plait_problems_n_listed (problems); i++)
    {
      const PlaitProblem *problem = plait_problems_get (problems, i);
      g_autofree char *text = plait_problem_text (problem);
      Fault *fault = g_hash_table_lookup (builder->by_text, text);

      if (!fault)
        {
          fault = g_new0 (Fault, 1);
          *fault = (Fault){ problem, g_steal_pointer (&text), g_strdup (label), 0 };
          g_ptr_array_add (builder->faults, fault);
          g_hash_table_insert (builder->by_text, fault->text, fault);
        }
      fault->n_cells++;
    }
}

/* Returns the experiment of the cell whose values the file holds now. Sets *@matched as in PlaitExperimentCell. */
static PlaitExperiment *
resolve (const Builder *builder, char **matched, PlaitProblems *problems)
{
  g_autofree char *widths = NULL;
  gint64 parameters = 0;
  PlaitExperiment *experiment;

  if (!builder->match)
    return plait_resolver_resolve (builder->resolver, builder->grid.file, problems);
  experiment = plait_parameter_match_resolve (builder->match, builder->resolver, builder->grid.file, &parameters,
                                              &widths, problems);
  if (experiment)
    *matched = g_strdup_printf ("%s: %jd parameters", widths, parameters);
  return experiment;
}

static gboolean
find_fingerprints (const Builder *builder, PlaitExperimentCell *cell, PlaitProblems *problems)
{
  PlaitDigests *digests = builder->cells->digests;
  GError *fault = NULL;

  cell->training_fingerprint = plait_training_fingerprint (cell->experiment, digests, &fault);
  if (cell->training_fingerprint)
    cell->fingerprint = plait_run_fingerprint (cell->experiment, cell->training_fingerprint, digests, &fault);
  if (!cell->fingerprint)
    plait_problems_add_error (problems, fault);
  return cell->fingerprint != NULL;
}

static void
cell_clear (PlaitExperimentCell *cell)
{
  g_free (cell->label);
  g_free (cell->matched);
  g_free (cell->value_indices);
  g_free (cell->training_fingerprint);
  g_free (cell->fingerprint);
  g_clear_pointer (&cell->vocabularies, g_ptr_array_unref);
  plait_experiment_free (cell->experiment);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (PlaitExperimentCell, cell_clear)

static void
add_cell (Builder *builder, const guint *value_indices)
{
  PlaitCells *cells = builder->cells;
  g_auto (PlaitExperimentCell) cell = { .label = label_of (builder, value_indices) };
  g_autoptr (PlaitProblems) problems = plait_problems_new ();
  GError *fault = NULL;

  builder->n_resolved++;
  if (set_values (builder, value_indices, &fault))
    cell.experiment = resolve (builder, &cell.matched, problems);
  else
    plait_problems_add_error (problems, fault);
  if (!cell.experiment)
    {
      note_faults (builder, g_steal_pointer (&problems), cell.label);
      return;
    }
  cell.value_indices = g_memdup2 (value_indices, cells->n_axes * sizeof *value_indices);
  cells->cells[cells->n_cells++] = cell;
  cell = (PlaitExperimentCell){ NULL };
}

/* Gives each cell its fingerprints and vocabularies. Removes a cell if its settings and file contents equal those of an
 * earlier cell. Also removes a cell without a fingerprint, and notes its faults. */
static void
drop_duplicates (Builder *builder)
{
  PlaitCells *cells = builder->cells;
  guint n = cells->n_cells;

  cells->n_cells = 0;
  for (guint i = 0; i < n; i++)
    {
      g_auto (PlaitExperimentCell) cell = cells->cells[i];
      g_autoptr (PlaitProblems) problems = plait_problems_new ();
      const char *before;

      cells->cells[i] = (PlaitExperimentCell){ NULL };
      if (!find_fingerprints (builder, &cell, problems))
        {
          note_faults (builder, g_steal_pointer (&problems), cell.label);
          continue;
        }
      before = g_hash_table_lookup (builder->by_fingerprint, cell.fingerprint);
      if (before)
        {
          g_strv_builder_add (builder->duplicates, cell.label);
          g_strv_builder_add (builder->duplicate_of, before);
          continue;
        }
      g_hash_table_insert (builder->by_fingerprint, cell.fingerprint, cell.label);
      cell.vocabularies = plait_vocabularies_describe (cell.experiment, cells->digests);
      cells->cells[cells->n_cells++] = cell;
      cell = (PlaitExperimentCell){ NULL };
    }
}

/* Adds each fault to the problems once. The text names the first cell with the fault. If all cells have the fault, the
 * text names no cell. */
static void
report_faults (const Builder *builder)
{
  for (guint i = 0; i < builder->faults->len; i++)
    {
      const Fault *fault = builder->faults->pdata[i];
      PlaitProblem reported = *fault->problem;
      g_autofree char *sentence = fault->n_cells == builder->n_resolved ? g_strdup (reported.sentence)
                                  : fault->n_cells == 1
                                      ? g_strdup_printf ("%s (in the cell %s)", reported.sentence, fault->first)
                                      : g_strdup_printf ("%s (in %u cells, the first is %s)", reported.sentence,
                                                         fault->n_cells, fault->first);

      reported.sentence = sentence;
      plait_problems_add_at (builder->grid.problems, &reported);
    }
}

/* Stores the value that the file itself gives to the key of each axis, before cells change it. */
static void
read_own (Builder *builder)
{
  guint n = builder->cells->n_axes;

  builder->own = g_new0 (char *, n);
  builder->set = g_new (guint, n);
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *group = NULL, *key = NULL;

      plait_experiment_split_key (builder->cells->axes[i].key, &group, &key);
      builder->own[i] = g_strdup (plait_key_file_value (builder->grid.file, group, key));
      builder->set[i] = G_MAXUINT;
    }
}

static void
build_cells (Builder *builder)
{
  PlaitCells *cells = builder->cells;
  g_autofree guint *positions = g_new0 (guint, cells->n_axes);
  g_autofree guint *resolved = g_new0 (guint, cells->n_axes);

  cells->cells = g_new0 (PlaitExperimentCell, plait_axis_constraints_count (builder->constraints, MAX_CELLS));
  do
    if (!plait_axis_constraints_resolve (builder->constraints, positions, resolved))
      continue;
    else if (plait_exclusions_leave_out (builder->exclusions, resolved))
      cells->n_excluded++;
    else
      add_cell (builder, resolved);
  while (plait_axis_constraints_next (builder->constraints, positions));

  cells->exclusions = plait_exclusions_list (builder->exclusions, &cells->n_exclusions);
  if (builder->n_resolved == 0)
    plait_grid_problem (&builder->grid, NULL, "every cell is excluded; drop an exclusion");
  if (!cells->own_vocabularies)
    cells->joined = plait_vocabularies_join (cells->cells, cells->n_cells, cells->digests);
  drop_duplicates (builder);
  report_faults (builder);
}

static void
read_grid (Builder *builder)
{
  const char *const *keys = plait_key_file_keys (builder->grid.file, PLAIT_GRID_GROUP);
  PlaitCells *cells = builder->cells;

  if (!plait_key_file_has_group (builder->grid.file, PLAIT_GRID_GROUP))
    {
      plait_problems_add (
          builder->grid.problems,
          "%s: has no group [grid]; add one with axes such as decoder.combiner=serial;flat, or use plait run",
          plait_key_file_name (builder->grid.file));
      return;
    }
  cells->axes = g_new0 (PlaitAxis, g_strv_length ((char **)keys));
  for (guint i = 0; keys[i]; i++)
    if (!plait_grid_has_key (keys[i]))
      read_axis (builder, keys[i]);
  builder->constraints = plait_axis_constraints_new (&builder->grid, keys, cells->axes, cells->n_axes);
  builder->exclusions = plait_exclusions_new (&builder->grid, cells->axes, cells->n_axes);
  cells->own_vocabularies = plait_vocabularies_read_own (&builder->grid);
  plait_executor_read (&builder->grid, &cells->executor);
  for (guint i = 0; keys[i]; i++)
    if (plait_exclusions_have_key (keys[i]))
      plait_exclusions_read (builder->exclusions, keys[i]);
  if (cells->n_axes == 0 && plait_problems_count (builder->grid.problems) == 0)
    plait_grid_problem (&builder->grid, NULL,
                        "has no axis; add one such as decoder.combiner=serial;flat, or use plait run");
  if (plait_axis_constraints_count (builder->constraints, MAX_CELLS) > MAX_CELLS)
    plait_grid_problem (&builder->grid, NULL, "its axes make more than %d cells; split the grid", MAX_CELLS);
}

void
plait_cells_free (PlaitCells *cells)
{
  if (!cells)
    return;
  for (guint i = 0; i < cells->n_axes; i++)
    {
      g_free (cells->axes[i].key);
      g_strfreev (cells->axes[i].values);
    }
  for (guint i = 0; i < cells->n_cells; i++)
    cell_clear (&cells->cells[i]);
  for (guint i = 0; i < cells->n_exclusions; i++)
    g_free (cells->exclusions[i].rule);
  g_free (cells->name);
  g_free (cells->axes);
  g_free (cells->cells);
  g_free (cells->exclusions);
  plait_settings_free (cells->executor.values);
  g_strfreev (cells->executor.words);
  g_strfreev (cells->duplicates);
  g_strfreev (cells->duplicate_of);
  g_clear_pointer (&cells->digests, plait_digests_free);
  g_free (cells);
}

/* Resolves one cell, with the first value of each axis. Called if [grid] has a fault, so that faults of the other
 * groups are reported together with it. */
static void
check_first (Builder *builder)
{
  PlaitCells *cells = builder->cells;
  g_autofree guint *value_indices = g_new0 (guint, cells->n_axes);

  for (guint i = 0; i < cells->n_axes; i++)
    if (cells->axes[i].n_values == 0)
      return;
  cells->cells = g_new0 (PlaitExperimentCell, 1);
  add_cell (builder, value_indices);
  report_faults (builder);
}

PlaitCells *
plait_cells_check (const char *path, const PlaitOverride *overrides, PlaitResolveFlags flags, PlaitRegistry *registry,
                   PlaitProblems *problems)
{
  GError *fault = NULL;
  g_autoptr (PlaitKeyFile) file = plait_experiment_read (path, overrides, &fault);
  g_autoptr (PlaitCells) cells = NULL;
  guint before = plait_problems_count (problems);

  if (!file)
    {
      plait_problems_add_error (problems, fault);
      return NULL;
    }
  cells = g_new0 (PlaitCells, 1);
  cells->digests = plait_digests_new (NULL, NULL);

  g_autoptr (PlaitResolver) resolver = plait_resolver_new (file, path, flags, registry);
  g_autoptr (GPtrArray) noted = g_ptr_array_new_with_free_func ((GDestroyNotify)plait_problems_free);
  g_autoptr (GPtrArray) faults = g_ptr_array_new_with_free_func (fault_free);
  g_autoptr (GHashTable) by_fingerprint = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GHashTable) by_text = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GStrvBuilder) duplicates = g_strv_builder_new ();
  g_autoptr (GStrvBuilder) duplicate_of = g_strv_builder_new ();
  Builder builder = {
    .grid = { file, problems },
    .registry = registry,
    .resolver = resolver,
    .cells = cells,
    .duplicates = duplicates,
    .duplicate_of = duplicate_of,
    .by_fingerprint = by_fingerprint,
    .noted = noted,
    .faults = faults,
    .by_text = by_text,
  };

  builder.match = plait_parameter_match_new (&builder.grid);
  read_grid (&builder);
  read_own (&builder);
  if (plait_problems_count (problems) == before)
    build_cells (&builder);
  else if (plait_key_file_has_group (file, PLAIT_GRID_GROUP))
    check_first (&builder);
  for (guint i = 0; i < cells->n_axes; i++)
    g_free (builder.own[i]);
  g_free (builder.own);
  g_free (builder.set);
  plait_parameter_match_free (builder.match);
  plait_exclusions_free (builder.exclusions);
  plait_axis_constraints_free (builder.constraints);
  if (plait_problems_count (problems) > before)
    return NULL;
  cells->name = g_strdup (cells->cells[0].experiment->name);
  cells->duplicates = g_strv_builder_end (duplicates);
  cells->duplicate_of = g_strv_builder_end (duplicate_of);
  return g_steal_pointer (&cells);
}

char *
plait_cells_describe_duplicates (const PlaitCells *cells)
{
  guint n = cells->duplicates ? g_strv_length (cells->duplicates) : 0;
  g_autoptr (GString) text = g_string_new (NULL);

  if (n == 0)
    return NULL;
  g_string_append_printf (text, "%u %s left out, because an earlier cell has the same settings and file contents:", n,
                          n == 1 ? "cell is" : "cells are");
  for (guint i = 0; i < MIN (n, MAX_NAMED); i++)
    g_string_append_printf (text, "%s %s equals %s", i > 0 ? ";" : "", cells->duplicates[i], cells->duplicate_of[i]);
  if (n > MAX_NAMED)
    g_string_append_printf (text, "; and %u more", n - MAX_NAMED);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

char *
plait_cells_describe_seeds (const PlaitCells *cells)
{
  for (guint a = 0; a < cells->n_axes; a++)
    if (plait_axis_is_seed (&cells->axes[a]) && cells->axes[a].n_values > 1)
      return NULL;
  if (cells->n_cells < 2)
    return NULL;
  return g_strdup ("Each cell has one seed, so p tells only how these trained models would differ on other sentences; "
                   "with other seeds the difference may be reversed. To test over seeds, name several in [grid], such "
                   "as experiment.seed=1;2;3.");
}

PlaitCells *
plait_cells_load (const char *path, const PlaitOverride *overrides, PlaitResolveFlags more, PlaitRegistry *registry,
                  GError **error)
{
  g_autoptr (PlaitProblems) problems = plait_problems_new ();
  g_autoptr (PlaitCells) cells = plait_cells_check (
      path, overrides, PLAIT_RESOLVE_CHECK_FILES | PLAIT_RESOLVE_LOAD_MODULES | more, registry, problems);

  return plait_problems_report (problems, PLAIT_ERROR_INPUT, error) ? g_steal_pointer (&cells) : NULL;
}
