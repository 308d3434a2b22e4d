/* SPDX-License-Identifier: MIT */
#include "grid/tasks.h"

#include <string.h>

#include "files/path.h"

static void
add_number (GString *line, const char *option, gint64 number, const char *unit)
{
  if (number > 0)
    g_string_append_printf (line, " %s %jd%s", option, number, unit);
}

/* Appends @option and the absolute path of @folder, unless @folder is NULL. */
static void
add_folder (GString *line, const char *option, const char *folder)
{
  g_autofree char *path = folder ? g_canonicalize_filename (folder, NULL) : NULL;

  if (!path)
    return;
  plait_path_append_quoted (line, option);
  plait_path_append_quoted (line, path);
}

char *
plait_grid_program (GError **error)
{
  g_autoptr (GError) fault = NULL;
  char *program = g_file_read_link ("/proc/self/exe", &fault);

  if (!program)
    plait_fail (error, PLAIT_ERROR_FAILED, "the path of this program cannot be found (%s); mount /proc",
                fault->message);
  return program;
}

/* Returns "cd HERE && PROGRAM grid FILE --output FOLDER --set ...", with "exec" before PROGRAM if @replaces_shell. HERE
 * is the current folder: values of --set may name files relative to it. (transfer full) */
static GString *
begin_line (const PlaitGrid *grid, gboolean replaces_shell, GError **error)
{
  g_autoptr (GString) line = g_string_new ("cd");
  g_autofree char *here = g_get_current_dir ();
  g_autofree char *file = g_canonicalize_filename (grid->path, NULL);
  g_autofree char *folder = g_canonicalize_filename (grid->folder, NULL);
  g_autofree char *program = plait_grid_program (error);

  const char *const words[] = { program, "grid", file, "--output", folder };

  if (!program)
    return NULL;
  plait_path_append_quoted (line, here);
  g_string_append (line, replaces_shell ? " && exec" : " &&");
  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    plait_path_append_quoted (line, words[i]);
  for (const PlaitOverride *override = grid->overrides; override && override->key; override++)
    {
      g_autofree char *set = override->value ? plait_override_text (override) : NULL;

      plait_path_append_quoted (line, set ? "--set" : "--unset");
      plait_path_append_quoted (line, set ? set : override->key);
    }
  return g_steal_pointer (&line);
}

/* Returns the text of @line, or fails if it contains a line break. (transfer full) */
static char *
end_line (const GString *line, GError **error)
{
  if (!strchr (line->str, '\n'))
    return g_strdup (line->str);
  return plait_fail_null (
      error, PLAIT_ERROR_INPUT,
      "a path or a value of --set contains a line break, which a line of a job cannot contain; remove the line break");
}

/* Groups the due cells by training fingerprint, in the order of the cells. (transfer full) (element-type GPtrArray of
 * PlaitGridCell) */
static GPtrArray *
group_cells (const PlaitGrid *grid)
{
  GPtrArray *groups = g_ptr_array_new_with_free_func ((GDestroyNotify)g_ptr_array_unref);
  g_autoptr (GHashTable) by_training = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < grid->n; i++)
    {
      PlaitGridCell *cell = &grid->items[i];
      GPtrArray *group = g_hash_table_lookup (by_training, cell->cell->training_fingerprint);

      if (!plait_grid_cell_is_due (cell))
        continue;
      if (!group)
        {
          group = g_ptr_array_new ();
          g_hash_table_insert (by_training, cell->cell->training_fingerprint, group);
          g_ptr_array_add (groups, group);
        }
      g_ptr_array_add (group, cell);
    }
  return groups;
}

guint
plait_grid_longest_task (const PlaitGrid *grid)
{
  g_autoptr (GPtrArray) groups = group_cells (grid);
  guint longest = 0;

  for (guint i = 0; i < groups->len; i++)
    longest = MAX (longest, ((GPtrArray *)groups->pdata[i])->len);
  return longest;
}

GPtrArray *
plait_grid_tasks (const PlaitGrid *grid, const PlaitGridOptions *options, gboolean replaces_shell, GError **error)
{
  g_autoptr (GPtrArray) groups = group_cells (grid);
  g_autoptr (GPtrArray) lines = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < groups->len; i++)
    {
      const GPtrArray *group = groups->pdata[i];
      g_autoptr (GString) line = begin_line (grid, replaces_shell, error);
      char *text;

      if (!line)
        return NULL;
      g_string_append (line, " --jobs 1");
      add_number (line, "--threads", options->threads, "");
      add_number (line, "--time", options->seconds, "s");
      add_number (line, "--retries", options->retries, "");
      add_folder (line, "--log", options->lines);
      for (guint c = 0; c < group->len; c++)
        {
          plait_path_append_quoted (line, "--cell");
          plait_path_append_quoted (line, ((const PlaitGridCell *)group->pdata[c])->name);
        }
      text = end_line (line, error);
      if (!text)
        return NULL;
      g_ptr_array_add (lines, text);
    }
  return g_steal_pointer (&lines);
}

char *
plait_grid_collect_command (const PlaitGrid *grid, GError **error)
{
  g_autoptr (GString) line = begin_line (grid, FALSE, error);

  if (!line)
    return NULL;
  plait_path_append_quoted (line, "--collect");
  return end_line (line, error);
}
