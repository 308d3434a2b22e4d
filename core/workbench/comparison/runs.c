/* SPDX-License-Identifier: MIT */
#include "comparison/runs.h"

#include <math.h>
#include <string.h>

#include "text/error.h"
#include "files/path.h"
#include "comparison/location.h"
#include "significance/statistics.h"
#include "experiment/groups.h"
#include "setup/trained.h"

#define MAX_RUNS 1000
#define DIGEST 8                        /* hexadecimal digits of a digest in a file name */
#define MAX_TEXT_BYTES ((gsize)1 << 30) /* maximum bytes of the text of one split */

static void
run_free (gpointer item)
{
  PlaitRunFile *run = item;

  plait_store_free (run->store);
  g_free (run->name);
  g_clear_pointer (&run->experiment, plait_key_file_free);
  plait_run_result_free (run->result);
  g_free (run);
}

char **
plait_run_lines (PlaitStore *store, const char *split, const char *name, gint64 *n)
{
  g_autofree char *path = g_strdup_printf ("/evaluation/%s/%s", split, name);

  *n = 0;
  return plait_store_has (store, path) ? plait_store_read_strings (store, path, MAX_TEXT_BYTES, n, NULL) : NULL;
}

void
plait_run_score_add_json (const PlaitRunScore *score, PlaitJson *json)
{
  gboolean bounded = score->low < score->high;

  plait_json_object (json, NULL, "split=%s metric=%s name=%s larger_is_better=%d score=%g low=%g high=%g", score->split,
                     score->metric, score->name, plait_run_score_larger_is_better (score), score->score,
                     bounded ? score->low : NAN, bounded ? score->high : NAN);
}

/* TRUE if @n is at most MAX_RUNS; else sets @error. */
static gboolean
check_number (guint n, GError **error)
{
  return n <= MAX_RUNS
         || plait_fail (error, PLAIT_ERROR_INPUT, "there are more than %d runs; name fewer files or a smaller grid",
                        MAX_RUNS);
}

/* Adds the run or dump in @store (transfer full). */
static gboolean
add_run (GPtrArray *runs, PlaitStore *store, const char *name, gboolean dumps, GError **error)
{
  PlaitRunFile *run = g_new0 (PlaitRunFile, 1);

  g_ptr_array_add (runs, run);
  run->store = store;
  run->name = g_strdup (name);
  run->dump = dumps && !plait_store_has (store, "/training") && plait_store_has (store, "/attention");
  if (!run->dump && (!plait_store_has_attribute (store, "/", "experiment") || !plait_store_has (store, "/training")))
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s: is not a run; expected a file that plait run or plait grid made%s",
                       plait_store_path (store), dumps ? ", or a dump of plait translate --attention" : "");
  run->experiment = run->dump ? plait_key_file_new ("none") : plait_trained_key_file (store, error);
  if (!run->experiment)
    return FALSE;
  run->result = plait_run_result_new (store, error);
  if (!run->result)
    return FALSE;
  run->rate = plait_median ((const double *)(gpointer)run->result->rates->data, run->result->rates->len);
  return TRUE;
}

/* Returns the length of @name without the digest that a grid appends to the names of its files; 0 if @name has no
 * digest. */
static gsize
short_length (const char *name)
{
  gsize length = strlen (name), digest = 0;

  while (digest < length && g_ascii_isxdigit (name[length - 1 - digest]))
    digest++;
  return digest == DIGEST && length > DIGEST + 1 && name[length - DIGEST - 1] == '-' ? length - DIGEST - 1 : 0;
}

/* Returns @name without the digest that a grid appends to the names of its files. Keeps the digest if the short name
 * would not be unique among @names. (transfer full) */
static char *
short_name (const char *name, char *const *names)
{
  gsize length = short_length (name);
  guint same = 0;

  for (guint i = 0; names[i]; i++)
    same += short_length (names[i]) == length && strncmp (names[i], name, length) == 0;
  return length > 0 && same == 1 ? g_strndup (name, length) : g_strdup (name);
}

static gboolean
add_grid (GPtrArray *runs, PlaitStore *store, PlaitLog *log, GError **error)
{
  const char *path = plait_store_path (store);
  g_auto (GStrv) names = plait_store_members (store, "/runs", error);

  if (!names)
    return FALSE;
  if (!names[0])
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s: is a grid without finished runs; run plait grid first", path);
  if (!check_number (runs->len + g_strv_length (names), error))
    return FALSE;
  for (guint i = 0; names[i]; i++)
    {
      g_autofree char *link = plait_location_join ("/runs", names[i]);
      g_autoptr (PlaitLocation) location = plait_location_open (path, link, log, error);

      g_autofree char *name = short_name (names[i], names);

      if (!location || !add_run (runs, g_steal_pointer (&location->store), name, FALSE, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
names_clash (const GPtrArray *runs)
{
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < runs->len; i++)
    if (!g_hash_table_add (names, plait_run_at (runs, i)->name))
      return TRUE;
  return FALSE;
}

/* Returns the length of the longest common beginning of @folders that consists of whole folder names. */
static gsize
common_folder (const GPtrArray *folders)
{
  const char *first = folders->pdata[0];
  gsize length = strlen (first);

  for (guint i = 1; i < folders->len; i++)
    {
      const char *other = folders->pdata[i];
      gsize same = 0;

      while (same < length && first[same] == other[same])
        same++;
      length = same;
    }
  while (length > 0 && first[length - 1] != G_DIR_SEPARATOR)
    length--;
  return length;
}

/* If two runs have equal names, puts the folders of the files, without their common beginning, before the names of all
 * runs. */
static void
make_names_unique (GPtrArray *runs)
{
  g_autoptr (GPtrArray) folders = g_ptr_array_new_with_free_func (g_free);
  gsize folder;

  if (!names_clash (runs))
    return;
  for (guint i = 0; i < runs->len; i++)
    {
      const PlaitRunFile *run = plait_run_at (runs, i);
      g_autofree char *above = g_path_get_dirname (plait_store_path (run->store));

      g_ptr_array_add (folders, g_build_filename (g_str_equal (above, ".") ? "" : above, run->name, NULL));
    }
  folder = common_folder (folders);
  for (guint i = 0; i < runs->len; i++)
    {
      PlaitRunFile *run = runs->pdata[i];

      g_free (run->name);
      run->name = g_strdup ((const char *)folders->pdata[i] + folder);
    }
}

GPtrArray *
plait_runs_open (char *const *paths, gboolean dumps, PlaitLog *log, GError **error)
{
  g_autoptr (GPtrArray) runs = g_ptr_array_new_with_free_func (run_free);

  for (guint i = 0; paths[i]; i++)
    {
      g_autoptr (PlaitStore) store = plait_store_open_rewritten (paths[i], log, error);

      if (!store)
        return NULL;
      if (plait_store_has (store, "/runs"))
        {
          if (!add_grid (runs, store, log, error))
            return NULL;
          continue;
        }
      g_autofree char *name = plait_path_stem (paths[i], ".h5");
      if (!check_number (runs->len + 1, error) || !add_run (runs, g_steal_pointer (&store), name, dumps, error))
        return NULL;
    }
  make_names_unique (runs);
  return g_steal_pointer (&runs);
}

static void
difference_free (gpointer item)
{
  PlaitSettingDifference *difference = item;

  g_free (difference->key);
  g_ptr_array_unref (difference->values);
  g_free (difference);
}

/* TRUE if each of @values that is not NULL can be parsed as @type. */
static gboolean
are_of (const GPtrArray *values, PlaitSettingType type)
{
  const PlaitSettingSpecification specification = { "value", type };

  for (guint r = 0; r < values->len; r++)
    {
      g_autofree char *canonical
          = values->pdata[r] ? plait_setting_parse (&specification, values->pdata[r], NULL, NULL) : g_strdup ("");

      if (!canonical)
        return FALSE;
    }
  return TRUE;
}

/* Returns the type of [@group] @key. A run does not store the type of a setting of a plugin or task; for such a
 * setting, returns the first type that can parse all @values. */
static PlaitSettingType
type_of (const char *group, const char *key, const GPtrArray *values)
{
  static const PlaitSettingType types[] = { PLAIT_SETTING_INTEGER, PLAIT_SETTING_REAL, PLAIT_SETTING_BOOLEAN };
  const PlaitSettingSpecification *known = plait_experiment_setting (group, key);

  if (known)
    return known->type == PLAIT_SETTING_CHOICE ? PLAIT_SETTING_TEXT : known->type;
  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    if (are_of (values, types[i]))
      return types[i];
  return PLAIT_SETTING_TEXT;
}

char *
plait_run_setting_value (const char *group, const char *key, const char *text)
{
  const PlaitSettingSpecification integer = { key, PLAIT_SETTING_INTEGER }, real = { key, PLAIT_SETTING_REAL };
  const PlaitSettingSpecification *known = plait_experiment_setting (group, key);
  gboolean number = !known || known->type == PLAIT_SETTING_INTEGER || known->type == PLAIT_SETTING_REAL;
  char *value = number ? plait_setting_parse (&integer, text, NULL, NULL) : NULL;

  if (number && !value)
    value = plait_setting_parse (&real, text, NULL, NULL);
  if (!value)
    value = g_strdup (text);
  if (known && g_strcmp0 (known->standard, value) == 0)
    g_clear_pointer (&value, g_free);
  return value;
}

const char *
plait_setting_difference_text (const PlaitSettingDifference *difference, guint run)
{
  const char *value = difference->values->pdata[run];

  return value ? value : "–";
}

void
plait_setting_difference_add_json (const PlaitSettingDifference *difference, guint run, PlaitJson *json)
{
  const PlaitSettingSpecification specification = { difference->key, difference->type };

  plait_setting_add_json (&specification, difference->values->pdata[run], json, difference->key);
}

/* Adds [@group] @key to @differences if @runs differ in it. Ignores dumps. If @group is a source, also ignores runs
 * that do not read this source, because experiment.sources shows that difference. */
static void
add_difference (GPtrArray *differences, GPtrArray *runs, const char *group, const char *key)
{
  g_autoptr (GPtrArray) values = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *first = NULL;
  gboolean found = FALSE, differs = FALSE;

  for (guint r = 0; r < runs->len; r++)
    {
      const PlaitRunFile *run = runs->pdata[r];
      const char *value = plait_key_file_value (run->experiment, group, key);

      g_ptr_array_add (values, g_strdup (value));
      if (run->dump)
        continue;
      if (g_str_has_prefix (group, "source ") && !plait_key_file_has_group (run->experiment, group))
        continue;
      g_autofree char *same = value ? plait_run_setting_value (group, key, value) : NULL;
      differs = differs || (found && g_strcmp0 (same, first) != 0);
      if (!found)
        first = g_steal_pointer (&same);
      found = TRUE;
    }
  if (!differs)
    return;
  PlaitSettingDifference *difference = g_new0 (PlaitSettingDifference, 1);
  g_autofree char *dotted = g_strdelimit (g_strdup (group), " ", '.');
  difference->key = g_strconcat (dotted, ".", key, NULL);
  difference->type = type_of (group, key, values);
  difference->values = g_steal_pointer (&values);
  g_ptr_array_add (differences, difference);
}

GPtrArray *
plait_setting_differences (GPtrArray *runs)
{
  GPtrArray *differences = g_ptr_array_new_with_free_func (difference_free);
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint r = 0; r < runs->len; r++)
    {
      const PlaitRunFile *run = runs->pdata[r];
      const char *const *groups = plait_key_file_groups (run->experiment);

      for (guint g = 0; groups[g]; g++)
        {
          const char *const *keys = plait_key_file_keys (run->experiment, groups[g]);

          for (guint k = 0; keys[k]; k++)
            if (g_hash_table_add (seen, g_strdup_printf ("%s\n%s", groups[g], keys[k])))
              add_difference (differences, runs, groups[g], keys[k]);
        }
    }
  return differences;
}
