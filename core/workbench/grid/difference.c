/* SPDX-License-Identifier: MIT */
#include "grid/difference.h"

#define MAX_LISTED 6

typedef struct
{
  PlaitStore *run;
  GPtrArray *sentences;
  gboolean unknown; /* TRUE if the run does not store the digest of a file or plugin */
} Difference;

/* TRUE if the setting [@group] @key has changed from @old, the run's value, to @new, the experiment's value. A path has
 * changed only if @old or @new is empty. If @old is NULL, the run lacks the setting: then a key of the core has changed
 * if @new is not its default, and any other key has changed. @data has the experiment's fingerprint text, which has
 * digests or other texts in place of paths. */
static gboolean
has_changed (const char *group, const char *key, const char *old, const char *new, gconstpointer data)
{
  const PlaitSettingSpecification *setting = plait_experiment_setting (group, key);

  if (!old)
    return !setting || g_strcmp0 (setting->standard, new) != 0;
  return g_str_equal (plait_key_file_value (data, group, key), new) ? !g_str_equal (old, new) : !*old;
}

static gboolean
is_gone (const char *group, const char *key, const char *old, const char *new, gconstpointer data)
{
  return !new;
}

static gboolean
compare_settings (const Difference *difference, const PlaitExperiment *experiment, GError **error)
{
  g_autofree char *text = plait_store_get_string (difference->run, "/", "experiment", error);
  g_autofree char *now_text = plait_experiment_text (experiment);
  g_autofree char *key_text = plait_experiment_fingerprint_text (experiment);
  g_autoptr (PlaitKeyFile) before = NULL;
  g_autoptr (PlaitKeyFile) now = NULL;
  g_autoptr (PlaitKeyFile) key = NULL;

  before = text ? plait_key_file_load_data (text, -1, plait_store_path (difference->run), error) : NULL;
  now = before ? plait_key_file_load_data (now_text, -1, experiment->path, error) : NULL;
  key = now ? plait_key_file_load_data (key_text, -1, experiment->path, error) : NULL;
  if (!key)
    return FALSE;
  plait_key_files_describe_differences (key, before, now, has_changed, key, difference->sentences);
  plait_key_files_describe_differences (before, before, now, is_gone, NULL, difference->sentences);
  return TRUE;
}

static gboolean
compare_file (const char *name, const char *path, const char *digest, gpointer data, GError **error)
{
  Difference *difference = data;
  g_autofree char *group = g_strdup_printf ("/data/%s", name);
  g_autofree char *old = plait_store_get_string (difference->run, group, "sha256", NULL);
  g_autofree char *key = plait_digest_key (name);

  /* If the experiment did not name the file before, compare_settings() reports the key. */
  difference->unknown |= !old;
  if (old && !g_str_equal (old, digest))
    g_ptr_array_add (difference->sentences,
                     g_strdup_printf ("the %s of %s has changed", path ? "file" : "generated text", key));
  return TRUE;
}

static gboolean
compare_plugin (PlaitPlugin *plugin, gpointer data, GError **error)
{
  Difference *difference = data;
  const char *kind = plait_plugin_kind_name (plugin->kind);
  g_autofree char *path = g_strdup_printf ("/plugins/%s/%s", kind, plugin->name);
  g_autofree char *schema = plait_store_get_string (difference->run, path, "schema_sha256", NULL);
  g_autofree char *module = plait_store_get_string (difference->run, path, "module_sha256", NULL);

  if (!plait_plugin_digest (plugin, error))
    return FALSE;
  difference->unknown |= !schema || !module;
  if (schema && !g_str_equal (schema, plugin->schema_digest))
    g_ptr_array_add (difference->sentences, g_strdup_printf ("the schema of %s %s has changed", kind, plugin->name));
  if (module && !g_str_equal (module, plugin->module_digest))
    g_ptr_array_add (difference->sentences, g_strdup_printf ("the module of %s %s has changed", kind, plugin->name));
  return TRUE;
}

/* If @experiment reads files whose digests no run stores (such as decode.dictionary), adds the sentence "the file of
 * KEY may have changed". */
static gboolean
add_other_files (Difference *difference, const PlaitExperiment *experiment, PlaitDigests *digests, GError **error)
{
  g_auto (GStrv) names = plait_fingerprint_other_files (experiment, digests, error);
  g_autofree char *list = names ? g_strjoinv (", ", names) : NULL;

  if (names && names[0])
    g_ptr_array_add (difference->sentences, g_strdup_printf ("the file of %s may have changed", list));
  return names != NULL;
}

char *
plait_grid_difference (const PlaitExperiment *experiment, PlaitDigests *digests, PlaitStore *run, GError **error)
{
  g_autoptr (GPtrArray) sentences = g_ptr_array_new_null_terminated (8, g_free, TRUE);
  Difference difference = { run, sentences, FALSE };
  guint n;

  if (!compare_settings (&difference, experiment, error)
      || !plait_digests_visit (digests, experiment, compare_file, &difference, error)
      || !plait_experiment_each_plugin (experiment, compare_plugin, &difference, error))
    return NULL;
  if (sentences->len == 0 && difference.unknown)
    g_ptr_array_add (sentences, g_strdup ("a file or plugin may have changed that an older plait did not record"));
  else if (sentences->len == 0 && !add_other_files (&difference, experiment, digests, error))
    return NULL;
  n = sentences->len;
  if (n > MAX_LISTED)
    {
      g_ptr_array_set_size (sentences, MAX_LISTED);
      g_ptr_array_add (sentences, g_strdup_printf ("and %u more", n - MAX_LISTED));
    }
  return g_strjoinv ("; ", (char **)sentences->pdata);
}
