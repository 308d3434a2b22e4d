/* SPDX-License-Identifier: MIT */
#include "axes/keys.h"

#include <string.h>

#include "process/pool.h"
#include "experiment/file.h"

/* Endings of schema rows. The row exclude.NAME, for example, stands for all keys that begin with "exclude.". */
#define ANY_NAME ".NAME"
#define ANY_KEY ".KEY"

G_STATIC_ASSERT (PLAIT_GRID_EXECUTOR_THREADS_MAXIMUM == PLAIT_POOL_MAX_THREADS);

static const char *
row_name (guint i)
{
  return plait_grid_group.definitions[i].specification.name;
}

/* Returns the prefix of all keys that the schema row @row stands for, such as "exclude." of exclude.NAME; NULL if it
 * stands for one key. (transfer full) */
static char *
beginning_of (const char *row)
{
  gboolean any = g_str_has_suffix (row, ANY_NAME) || g_str_has_suffix (row, ANY_KEY);

  return any ? g_strndup (row, (gsize)(strrchr (row, '.') + 1 - row)) : NULL;
}

gboolean
plait_grid_has_key (const char *key)
{
  for (guint i = 1; i < plait_grid_group.n_definitions; i++)
    {
      const char *row = row_name (i);
      g_autofree char *beginning = beginning_of (row);

      if (beginning ? g_str_has_prefix (key, beginning) : g_str_equal (key, row))
        return TRUE;
    }
  return FALSE;
}

gboolean
plait_grid_owns_key (const char *key)
{
  gsize length = strcspn (key, ".");

  for (guint i = 1; i < plait_grid_group.n_definitions; i++)
    if (strcspn (row_name (i), ".") == length && strncmp (row_name (i), key, length) == 0)
      return TRUE;
  return FALSE;
}

void
plait_grid_problem (const PlaitGridGroup *grid, const char *key, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  plait_problems_add_key_va (grid->problems, grid->file, PLAIT_GRID_GROUP, key, format, arguments);
  va_end (arguments);
}

void
plait_grid_refuse_key (const PlaitGridGroup *grid, const char *key)
{
  g_autofree const char **names = g_new0 (const char *, plait_grid_group.n_definitions + 1);
  gboolean dotted = strchr (key, '.') != NULL;
  g_autofree char *remedy = NULL;
  guint n = 0;

  for (guint i = 1; i < plait_grid_group.n_definitions; i++)
    if (dotted == (strchr (row_name (i), '.') != NULL))
      names[n++] = row_name (i);
  remedy = plait_name_remedy (key, names,
                              "write GROUP.KEY=VALUE;VALUE, such as decoder.combiner=serial;flat, or one of the keys "
                              "that plait inspect grid lists");
  plait_grid_problem (grid, key, "is neither an axis nor a key of [grid]; %s", remedy);
}

PlaitSettings *
plait_grid_read_keys (const PlaitGridGroup *grid, const char *prefix, PlaitGridSettings *read)
{
  const char *const *keys = plait_key_file_keys (grid->file, PLAIT_GRID_GROUP);
  PlaitSettings *settings = plait_settings_new_for_group (&plait_grid_group);

  for (guint i = 0; keys[i]; i++)
    {
      g_autoptr (GError) fault = NULL;

      if (g_str_has_prefix (keys[i], prefix) && plait_settings_find (settings, keys[i]) >= 0
          && !plait_settings_set (settings, keys[i], plait_key_file_value (grid->file, PLAIT_GRID_GROUP, keys[i]),
                                  &fault))
        plait_grid_problem (grid, keys[i], "%s", fault->message);
    }
  plait_settings_fill_group (settings, &plait_grid_group, read);
  return settings;
}
