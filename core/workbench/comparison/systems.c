/* SPDX-License-Identifier: MIT */
#include "comparison/systems.h"

#include <string.h>

#include "experiment/groups.h"
#include "setup/trained.h"

static void
system_clear (gpointer item)
{
  PlaitRunSystem *system = item;

  g_free (system->name);
  g_free (system->runs);
}

/* Returns the digests, joined by ';', that @run records for the files of @key of [data] or [train]; NULL if there is no
 * record. The records are /data/KEY, /data/KEY.2, /data/KEY.3 and so on; for the key "initialise", which can name an
 * index of files, KEY, KEY.1, KEY.2 and so on. (transfer full) */
static char *
digests_of (const PlaitRunFile *run, const char *key)
{
  g_autofree char *place = g_strconcat ("/data/", key, NULL);
  char *digests
      = plait_store_has (run->store, place) ? plait_store_get_string (run->store, place, "sha256", NULL) : NULL;

  for (guint i = g_str_equal (key, "initialise") ? 1 : 2; digests; i++)
    {
      g_autofree char *next = g_strdup_printf ("%s.%u", place, i), *before = digests;
      g_autofree char *digest
          = plait_store_has (run->store, next) ? plait_store_get_string (run->store, next, "sha256", NULL) : NULL;

      if (!digest)
        return g_steal_pointer (&before);
      digests = g_strconcat (before, ";", digest, NULL);
    }
  return NULL;
}

/* Returns the value of [@group] @key of @run. For a file, returns the digest of the file instead if @run records a
 * digest. (transfer full) */
static char *
value_of (const PlaitRunFile *run, const char *group, const char *key)
{
  gboolean initial = g_str_equal (group, "train") && g_str_has_prefix (key, "initialise");
  gboolean is_file = initial || (g_str_equal (group, "data") && (strchr (key, '.') || g_str_equal (key, "head_rules")));
  char *digest = is_file ? digests_of (run, key) : NULL;

  return digest ? digest : plait_run_setting_value (group, key, plait_key_file_value (run->experiment, group, key));
}

/* TRUE if runs that differ in [@group] @key belong to different systems. The seed of [evaluate] counts only for masked
 * prediction, where it selects the masked words. */
static gboolean
distinguishes_systems (const PlaitRunFile *run, const char *group, const char *key)
{
  if (g_str_equal (group, "evaluate") && g_str_equal (key, "seed"))
    return g_strcmp0 (plait_key_file_value (run->experiment, "predict", "kind"), "masked") == 0;
  return !(g_str_equal (group, "experiment") && g_str_equal (key, "seed"))
         && plait_experiment_changes_scores (group, key);
}

/* If @run is an average of checkpoints, appends their names to @text. */
static void
append_average (const PlaitRunFile *run, GString *text)
{
  gint64 n;
  g_auto (GStrv) checkpoints
      = plait_store_has (run->store, PLAIT_AVERAGE)
            ? plait_store_read_strings (run->store, PLAIT_AVERAGE "/runs/checkpoint", 1 << 20, &n, NULL)
            : NULL;

  for (guint i = 0; checkpoints && checkpoints[i]; i++)
    g_string_append_printf (text, "average of %s\n", checkpoints[i]);
}

/* Returns as text all settings of @run that distinguish systems, and the checkpoints of which @run is the average.
 * (transfer full) */
static char *
settings_of (const PlaitRunFile *run)
{
  g_autoptr (GString) text = g_string_new (NULL);
  const char *const *groups = plait_key_file_groups (run->experiment);

  for (guint g = 0; groups[g]; g++)
    {
      const char *const *keys = plait_key_file_keys (run->experiment, groups[g]);

      for (guint k = 0; keys[k]; k++)
        {
          g_autofree char *value
              = distinguishes_systems (run, groups[g], keys[k]) ? value_of (run, groups[g], keys[k]) : NULL;

          if (value)
            g_string_append_printf (text, "%s\n%s=%s\n", groups[g], keys[k], value);
        }
    }
  append_average (run, text);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static const char *
seed_of (const PlaitRunFile *run)
{
  return plait_key_file_value (run->experiment, "experiment", "seed");
}

/* TRUE if no run of @system has the seed of @run. */
static gboolean
is_new_seed (const GPtrArray *runs, const PlaitRunSystem *system, const PlaitRunFile *run)
{
  for (guint i = 0; i < system->n; i++)
    if (g_strcmp0 (seed_of (plait_run_at (runs, system->runs[i])), seed_of (run)) == 0)
      return FALSE;
  return TRUE;
}

/* Returns the common beginning of the names of a system's runs, without "seed-" and separators at its end; the name of
 * the first run if no valid text remains. (transfer full) */
static char *
common_name (const GPtrArray *runs, const PlaitRunSystem *system)
{
  const char *first = plait_run_at (runs, system->runs[0])->name;
  gsize length = strlen (first);

  for (guint i = 1; i < system->n; i++)
    {
      const char *other = plait_run_at (runs, system->runs[i])->name;
      gsize same = 0;

      while (same < length && first[same] == other[same])
        same++;
      length = same;
    }
  g_autofree char *name = g_strndup (first, length);
  if (g_str_has_suffix (name, "seed-"))
    name[strlen (name) - strlen ("seed-")] = '\0';
  for (gsize n = strlen (name); n > 0 && strchr ("-_. ", name[n - 1]); n--)
    name[n - 1] = '\0';
  return g_utf8_validate (name, -1, NULL) && *name != '\0' ? g_steal_pointer (&name) : g_strdup (first);
}

/* Names each system by the common beginning of the names of its runs. If two systems would have equal names, names each
 * of them by its first run. */
static void
name_systems (GArray *systems, const GPtrArray *runs)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);

  for (guint s = 0; s < systems->len; s++)
    g_ptr_array_add (names, common_name (runs, plait_run_system_at (systems, s)));
  for (guint s = 0; s < systems->len; s++)
    {
      PlaitRunSystem *system = plait_run_system_at (systems, s);
      const char *name = names->pdata[s];

      for (guint other = 0; other < systems->len; other++)
        if (other != s && g_str_equal (names->pdata[other], names->pdata[s]))
          name = plait_run_at (runs, system->runs[0])->name;
      system->name = system->n > 1 ? g_strdup_printf ("%s, %u seeds", name, system->n) : g_strdup (name);
    }
}

GArray *
plait_run_systems_new (const GPtrArray *runs)
{
  GArray *systems = g_array_new (FALSE, TRUE, sizeof (PlaitRunSystem));
  g_autoptr (GPtrArray) settings = g_ptr_array_new_with_free_func (g_free);

  g_array_set_clear_func (systems, system_clear);
  for (guint r = 0; r < runs->len; r++)
    {
      const PlaitRunFile *run = runs->pdata[r];
      PlaitRunSystem *system = NULL;
      g_autofree char *own = settings_of (run);

      for (guint s = 0; s < systems->len && !system && !run->dump; s++)
        {
          PlaitRunSystem *other = plait_run_system_at (systems, s);

          if (g_str_equal (settings->pdata[s], own) && !plait_run_at (runs, other->runs[0])->dump
              && is_new_seed (runs, other, run))
            system = other;
        }
      if (!system)
        {
          const PlaitRunSystem fresh = { .runs = g_new (guint, runs->len) };

          g_array_append_val (systems, fresh);
          g_ptr_array_add (settings, g_steal_pointer (&own));
          system = plait_run_system_at (systems, systems->len - 1);
        }
      system->runs[system->n++] = r;
    }
  name_systems (systems, runs);
  return systems;
}
