/* SPDX-License-Identifier: MIT */
#include "experiment/file.h"

#include <string.h>

#include "files/path.h"
#include "experiment/resolution.h"

/* This file loads experiment files and applies overrides. */

gboolean
plait_experiment_split_key (const char *dotted, char **group, char **key)
{
  static const char source[] = "source.";
  const char *name = g_str_has_prefix (dotted, source) ? dotted + strlen (source) : NULL;
  const char *dot = strchr (name ? name : dotted, '.');

  if (!dot || dot == dotted || dot == name || dot[1] == '\0')
    return FALSE;
  if (name)
    *group = g_strdup_printf ("source %.*s", (int)(dot - name), name);
  else
    *group = g_strndup (dotted, (gsize)(dot - dotted));
  *key = g_strdup (dot + 1);
  return TRUE;
}

/* TRUE if @key in [@group] is a setting whose value is the path of a file or folder. */
static gboolean
is_path_setting (const char *group, const char *key)
{
  const PlaitSettingSpecification *specification = plait_experiment_setting (group, key);

  if (specification)
    return (specification->flags & PLAIT_SETTING_PATH) != 0;
  return g_str_equal (group, "data") && strchr (key, '.') && !g_str_has_prefix (key, "generate.");
}

/* Returns the absolute path of @written, a path relative to the current folder. Replaces "~" and variables. Escapes the
 * result for a key-file; if @listed, as an item of a list. (transfer full) */
static char *
path_from_here (const char *written, gboolean listed, GError **error)
{
  g_autofree char *path = plait_path_expand (written, error);
  g_autofree char *absolute = path && *path != '\0' ? g_canonicalize_filename (path, NULL) : g_strdup (path);
  g_autofree char *literal = absolute ? plait_path_escape (absolute) : NULL;

  return !literal ? NULL : listed ? plait_key_file_escape_item (literal) : plait_key_file_escape (literal);
}

/* Makes the paths of a key from the command line absolute. They are relative to the current folder, whereas paths in an
 * experiment file are relative to that file. */
static gboolean
set_from_here (PlaitKeyFile *file, const char *group, const char *key, GError **error)
{
  gboolean several = g_str_equal (group, "data") && g_str_has_prefix (key, "train.");
  const char *const one[] = { plait_key_file_value (file, group, key), NULL };
  g_auto (GStrv) paths = several ? plait_key_file_list (file, group, key) : g_strdupv ((char **)one);
  g_autofree char *value = NULL;

  for (guint i = 0; paths[i]; i++)
    {
      char *path = path_from_here (g_strstrip (paths[i]), several, error);

      if (!path)
        return FALSE;
      g_free (paths[i]);
      paths[i] = path;
    }
  value = g_strjoinv (";", paths);
  return plait_key_file_set (file, group, key, value, NULL, error);
}

#define EXAMPLES "write it like decoder.layers=4 or source.en.layers=4"

gboolean
plait_override_split (char *text, PlaitOverride *override, GError **error)
{
  char *equals = strchr (text, '=');

  if (!equals)
    return plait_fail (error, PLAIT_ERROR_INPUT, "--set %s: is not GROUP.KEY=VALUE; " EXAMPLES, text);
  *equals = '\0';
  *override = (PlaitOverride){ g_strstrip (text), equals + 1 };
  return TRUE;
}

char *
plait_override_text (const PlaitOverride *override)
{
  return g_strconcat (override->key, "=", override->value, NULL);
}

/* Removes the key @dotted, the value of --unset, from @file. */
static void
unset (PlaitKeyFile *file, const char *dotted, PlaitProblems *problems)
{
  g_autofree char *group = NULL, *key = NULL;

  if (!plait_experiment_split_key (dotted, &group, &key))
    plait_problems_add (problems, "--unset %s: is not GROUP.KEY; write it like train.initialise or source.en.layers",
                        dotted);
  else if (!plait_key_file_value (file, group, key))
    plait_problems_add (problems, "--unset %s: the file has no key %s in [%s]; leave the option out", dotted, key,
                        group);
  else
    plait_key_file_remove (file, group, key);
}

/* Applies @set to @file. @set must not remove a key. */
static void
set_key (PlaitKeyFile *file, const PlaitOverride *set, PlaitProblems *problems)
{
  g_autofree char *text = plait_override_text (set), *origin = g_strconcat ("--set ", text, NULL);
  g_autofree char *group = NULL, *key = NULL;
  g_autoptr (GError) fault = NULL;

  if (!plait_experiment_split_key (set->key, &group, &key))
    plait_problems_add (problems, "%s: is not GROUP.KEY=VALUE; " EXAMPLES, origin);
  else if (!plait_key_file_set (file, group, key, set->value, origin, &fault))
    plait_problems_add_error (problems, g_steal_pointer (&fault));
  else if (is_path_setting (group, key) && !set_from_here (file, group, key, &fault))
    plait_problems_add_key (problems, file, group, key, "%s", fault->message);
}

char *
plait_override_from_here (const PlaitOverride *set, GError **error)
{
  g_autoptr (PlaitProblems) problems = plait_problems_new ();
  g_autoptr (PlaitKeyFile) file = plait_key_file_new ("--set");
  const char *group, *key;

  set_key (file, set, problems);
  if (!plait_problems_report (problems, PLAIT_ERROR_INPUT, error))
    return NULL;
  group = plait_key_file_groups (file)[0];
  key = plait_key_file_keys (file, group)[0];
  return is_path_setting (group, key) ? plait_key_file_escape (plait_key_file_value (file, group, key))
                                      : g_strdup (set->value);
}

static gboolean
override_all (PlaitKeyFile *file, const PlaitOverride *overrides, GError **error)
{
  g_autoptr (PlaitProblems) problems = plait_problems_new ();

  for (const PlaitOverride *override = overrides; override && override->key; override++)
    if (override->value)
      set_key (file, override, problems);
    else
      unset (file, override->key, problems);
  return plait_problems_report (problems, PLAIT_ERROR_INPUT, error);
}

PlaitKeyFile *
plait_experiment_read (const char *path, const PlaitOverride *overrides, GError **error)
{
  g_autoptr (PlaitKeyFile) file = plait_key_file_load_pipe (path, error);

  return file && override_all (file, overrides, error) ? g_steal_pointer (&file) : NULL;
}

/* TRUE if @absolute can be an open file of the process: /dev/stdin, or a path below /dev/fd or /proc. */
static gboolean
is_open_file (const char *absolute)
{
  return g_str_equal (absolute, "/dev/stdin") || g_str_has_prefix (absolute, "/dev/fd/")
         || g_str_has_prefix (absolute, "/proc/");
}

char *
plait_experiment_folder (const char *path)
{
  g_autofree char *absolute = g_canonicalize_filename (path, NULL);

  return g_file_test (path, G_FILE_TEST_IS_REGULAR) && !is_open_file (absolute) ? g_path_get_dirname (absolute)
                                                                                : g_get_current_dir ();
}

PlaitExperiment *
plait_experiment_check (const char *path, const PlaitOverride *overrides, PlaitResolveFlags flags,
                        PlaitRegistry *registry, PlaitProblems *problems)
{
  GError *fault = NULL;
  g_autoptr (PlaitKeyFile) file = plait_experiment_read (path, overrides, &fault);

  if (!file)
    {
      plait_problems_add_error (problems, fault);
      return NULL;
    }
  g_autoptr (PlaitResolver) resolver = plait_resolver_new (file, path, flags, registry);
  return plait_resolver_resolve (resolver, file, problems);
}

PlaitExperiment *
plait_experiment_load (const char *path, const PlaitOverride *overrides, PlaitResolveFlags flags,
                       PlaitRegistry *registry, GError **error)
{
  g_autoptr (PlaitProblems) problems = plait_problems_new ();
  g_autoptr (PlaitExperiment) experiment = plait_experiment_check (path, overrides, flags, registry, problems);

  return plait_problems_report (problems, PLAIT_ERROR_INPUT, error) ? g_steal_pointer (&experiment) : NULL;
}

PlaitExperiment *
plait_experiment_parse (const char *text, const char *name, const PlaitOverride *overrides, PlaitRegistry *registry,
                        GError **error)
{
  g_autoptr (PlaitKeyFile) file = plait_key_file_load_data (text, -1, name, error);
  g_autoptr (PlaitResolver) resolver = plait_resolver_new (NULL, NULL, 0, registry);
  g_autoptr (PlaitProblems) problems = plait_problems_new ();
  g_autoptr (PlaitExperiment) experiment = NULL;

  if (!file || !override_all (file, overrides, error))
    return NULL;
  experiment = plait_resolver_resolve (resolver, file, problems);
  return plait_problems_report (problems, PLAIT_ERROR_INPUT, error) ? g_steal_pointer (&experiment) : NULL;
}
