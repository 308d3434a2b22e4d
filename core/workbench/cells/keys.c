/* SPDX-License-Identifier: MIT */
#include "cells/keys.h"

#include <string.h>

#include "process/pool.h"
#include "experiment/file.h"

/* Rows whose names end so stand for any key that begins as they do. */
#define ANY_NAME ".NAME"
#define ANY_KEY ".KEY"

const PlaitSettingSpecification plait_grid_keys[] = {
  { .name = "GROUP" ANY_KEY,
    .type = PLAIT_SETTING_LIST,
    .flags = PLAIT_SETTING_OPTIONAL,
    .summary = "An axis: the values that KEY of [GROUP] has, between ';', \"\" for the empty one, as in "
               "decoder.combiner=serial;flat. Each combination is a cell, and the first axis varies slowest" },
  { .name = "exclude",
    .type = PLAIT_SETTING_LIST,
    .flags = PLAIT_SETTING_OPTIONAL,
    .summary = "Cells that are left out, between ';': KEY=VALUE|VALUE & KEY=VALUE, all conditions of one being met" },
  { .name = "exclude" ANY_NAME,
    .type = PLAIT_SETTING_LIST,
    .flags = PLAIT_SETTING_OPTIONAL,
    .summary = "More of them" },
  { .name = "zip",
    .type = PLAIT_SETTING_LIST,
    .flags = PLAIT_SETTING_OPTIONAL,
    .summary = "Axes that vary together, KEY & KEY, several such groups between ';'" },
  { .name = "zip" ANY_NAME, .type = PLAIT_SETTING_LIST, .flags = PLAIT_SETTING_OPTIONAL, .summary = "More of them" },
  { .name = "only" ANY_KEY,
    .type = PLAIT_SETTING_TEXT,
    .flags = PLAIT_SETTING_OPTIONAL,
    .summary = "The cells that have the axis KEY: a condition as in exclude. The others have what the file says" },
  { .name = "match",
    .type = PLAIT_SETTING_CHOICE,
    .flags = PLAIT_SETTING_OPTIONAL,
    .choices = "parameters",
    .summary = "Every cell gets as many parameters as the first one: the widths of match.vary are changed" },
  { .name = "match.vary",
    .type = PLAIT_SETTING_LIST,
    .flags = PLAIT_SETTING_OPTIONAL,
    .summary = "Keys of these widths, such as decoder.feed_forward, with their values of the first cell in the file" },
  { .name = "match.tolerance",
    .type = PLAIT_SETTING_REAL,
    .standard = "0.01",
    .minimum = "0",
    .maximum = "1",
    .summary = "How far a cell may be from the first one, as a share of its parameters" },
  { .name = "match.multiple",
    .type = PLAIT_SETTING_INTEGER,
    .standard = "1",
    .minimum = "1",
    .maximum = "1048576",
    .summary = "Widths are multiples of it" },
  { .name = "vocabularies",
    .type = PLAIT_SETTING_CHOICE,
    .standard = "together",
    .choices = "together;own",
    .summary = "Cells that would learn different vocabularies for a stream learn one from the text of all of them, or "
               "each its own" },
  /* In the order of plait_executors. */
  { .name = "executor",
    .type = PLAIT_SETTING_CHOICE,
    .standard = "local",
    .choices = "local;slurm",
    .summary = "What runs the cells: this machine, or Slurm, to which they are submitted" },
  { .name = "executor.jobs",
    .type = PLAIT_SETTING_INTEGER,
    .flags = PLAIT_SETTING_OPTIONAL,
    .minimum = "1",
    .maximum = G_STRINGIFY (PLAIT_GRID_MOST_JOBS),
    .summary = "Cells that run at once" },
  { .name = "executor.threads",
    .type = PLAIT_SETTING_INTEGER,
    .flags = PLAIT_SETTING_OPTIONAL,
    .minimum = "1",
    .maximum = G_STRINGIFY (PLAIT_POOL_MOST_THREADS),
    .summary = "Threads of each cell" },
  { .name = "executor.time",
    .type = PLAIT_SETTING_TEXT,
    .flags = PLAIT_SETTING_OPTIONAL,
    .summary = "Time that a cell may run, with s, m, h or d behind the number; for Slurm also measured" },
  { .name = "executor.retries",
    .type = PLAIT_SETTING_INTEGER,
    .flags = PLAIT_SETTING_OPTIONAL,
    .minimum = "0",
    .maximum = G_STRINGIFY (PLAIT_GRID_MOST_RETRIES),
    .summary = "How often a cell that fails is begun again" },
  { .name = "executor.memory",
    .type = PLAIT_SETTING_TEXT,
    .flags = PLAIT_SETTING_OPTIONAL,
    .summary = "Memory of each cell for Slurm, such as 4G, or measured" },
  { .name = "executor.options",
    .type = PLAIT_SETTING_TEXT,
    .flags = PLAIT_SETTING_OPTIONAL,
    .summary = "Further options of sbatch, such as --partition=cpu;--account=mt, that cannot change what is run" },
};

const guint plait_grid_n_keys = G_N_ELEMENTS (plait_grid_keys);

/* The key of row @i without what stands for any name: "exclude." (transfer full) */
static char *
beginning_of (const char *row)
{
  gboolean any = g_str_has_suffix (row, ANY_NAME) || g_str_has_suffix (row, ANY_KEY);

  return any ? g_strndup (row, (gsize)(strrchr (row, '.') + 1 - row)) : NULL;
}

gboolean
plait_grid_has_key (const char *key)
{
  for (guint i = 1; i < plait_grid_n_keys; i++)
    {
      const char *row = plait_grid_keys[i].name;
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

  for (guint i = 1; i < plait_grid_n_keys; i++)
    if (strcspn (plait_grid_keys[i].name, ".") == length && strncmp (plait_grid_keys[i].name, key, length) == 0)
      return TRUE;
  return FALSE;
}

void
plait_grid_refuse_key (const PlaitKeyFile *file, const char *key, PlaitProblems *problems)
{
  const char *names[G_N_ELEMENTS (plait_grid_keys) + 1] = { NULL };
  gboolean dotted = strchr (key, '.') != NULL;
  g_autofree char *remedy = NULL;
  guint n = 0;

  for (guint i = 1; i < plait_grid_n_keys; i++)
    if (dotted == (strchr (plait_grid_keys[i].name, '.') != NULL))
      names[n++] = plait_grid_keys[i].name;
  remedy = plait_name_remedy (key, names,
                              "write GROUP.KEY=VALUE;VALUE, such as decoder.combiner=serial;flat, or one of the keys "
                              "that plait inspect grid lists");
  plait_problems_add_key (problems, file, PLAIT_GRID_GROUP, key, "is no axis, and no such key; %s", remedy);
}

PlaitSettings *
plait_grid_read_keys (const PlaitKeyFile *file, const char *prefix, PlaitProblems *problems)
{
  const PlaitSettingSpecification *rows[G_N_ELEMENTS (plait_grid_keys)];
  const char *const *keys = plait_key_file_keys (file, PLAIT_GRID_GROUP);
  PlaitSettings *settings;
  guint n = 0;

  for (guint i = 0; i < plait_grid_n_keys; i++)
    if (g_str_has_prefix (plait_grid_keys[i].name, prefix))
      rows[n++] = &plait_grid_keys[i];
  settings = plait_settings_new (rows, n);
  for (guint i = 0; keys[i]; i++)
    {
      g_autoptr (GError) fault = NULL;

      if (plait_settings_find (settings, keys[i]) >= 0
          && !plait_settings_set (settings, keys[i], plait_key_file_value (file, PLAIT_GRID_GROUP, keys[i]), &fault))
        plait_problems_add_key (problems, file, PLAIT_GRID_GROUP, keys[i], "%s", fault->message);
    }
  return settings;
}
