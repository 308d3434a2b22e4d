/* SPDX-License-Identifier: MIT */
/* Models in several safetensors files, with an index that names the file of each tensor. */
#include "foreign/safetensors-private.h"

#include <string.h>

#include "files/file.h"
#include "text/json-read.h"

#define MAX_BYTES ((gsize)100000000)
#define MAX_SHARDS 500 /* maximum number of shards; all are open at the same time */
#define MAP "weight_map"

gboolean
plait_safetensors_index_is_named (const char *path)
{
  return g_str_has_suffix (path, PLAIT_SAFETENSORS_INDEX_SUFFIX);
}

gboolean
plait_safetensors_is_named (const char *path)
{
  return g_str_has_suffix (path, PLAIT_SAFETENSORS_SUFFIX) || plait_safetensors_index_is_named (path);
}

/* Returns the file name of the shard that contains @tensor according to the index; NULL if the index does not list
 * @tensor. */
static const char *
shard_of (const PlaitSafetensorsIndex *index, const char *tensor)
{
  return json_string_value (json_object_get (json_object_get (index->json, MAP), tensor));
}

/* TRUE if @name can be the name of a safetensors file in the folder of the index. */
static gboolean
is_shard (const char *name)
{
  return name && !strchr (name, '/') && g_str_has_suffix (name, PLAIT_SAFETENSORS_SUFFIX);
}

static gint
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *)a, *(const char *const *)b);
}

/* Sets index->paths from the JSON of the index. */
static gboolean
take_shards (PlaitSafetensorsIndex *index, GError **error)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  g_autofree char *folder = g_path_get_dirname (index->path);
  const char *tensor;
  json_t *value;

  json_object_foreach (json_object_get (index->json, MAP), tensor, value)
  {
    const char *name = json_string_value (value);

    if (!is_shard (name))
      return plait_fail (
          error, PLAIT_ERROR_INPUT,
          "%s: " MAP
          " puts tensor \"%.200s\" into \"%.200s\"; expected the name of a safetensors file in the folder of the index",
          index->path, tensor, name ? name : "");
    if (g_hash_table_add (seen, (gpointer)name))
      g_ptr_array_add (index->paths, g_build_filename (folder, name, NULL));
  }
  g_ptr_array_sort (index->paths, compare_names);
  return (index->paths->len > 0 && index->paths->len <= MAX_SHARDS)
         || plait_fail (error, PLAIT_ERROR_INPUT,
                        "%s: has %u parts in its " MAP
                        "; expected 1 to %d: copy the index again, or name another index",
                        index->path, index->paths->len, MAX_SHARDS);
}

PlaitSafetensorsIndex *
plait_safetensors_index_read (const char *path, GError **error)
{
  g_autoptr (PlaitSafetensorsIndex) index = g_new0 (PlaitSafetensorsIndex, 1);
  g_autoptr (GBytes) bytes
      = plait_file_read (path, PLAIT_FILE_REGULAR, MAX_BYTES, "an index of safetensors files", error);

  index->path = g_strdup (path);
  index->paths = g_ptr_array_new_with_free_func (g_free);
  if (bytes)
    index->json = plait_json_read_object (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), path, error);
  return index->json && take_shards (index, error) ? g_steal_pointer (&index) : NULL;
}

void
plait_safetensors_index_free (PlaitSafetensorsIndex *index)
{
  if (!index)
    return;
  g_clear_pointer (&index->json, json_decref);
  g_ptr_array_unref (index->paths);
  g_free (index->path);
  g_free (index);
}

GStrv
plait_safetensors_shards (const char *path, GError **error)
{
  g_autoptr (PlaitSafetensorsIndex) index = NULL;
  g_autoptr (GStrvBuilder) shards = g_strv_builder_new ();

  if (plait_safetensors_index_is_named (path) && !(index = plait_safetensors_index_read (path, error)))
    return NULL;
  for (guint i = 0; index && i < index->paths->len; i++)
    g_strv_builder_add (shards, index->paths->pdata[i]);
  return g_strv_builder_end (shards);
}

gboolean
plait_safetensors_index_check (const PlaitSafetensorsIndex *index, const PlaitSafetensors *file, GError **error)
{
  const char *name;
  json_t *value;

  for (guint i = 0; i < plait_safetensors_n (file); i++)
    {
      const PlaitSafetensor *tensor = plait_safetensors_get (file, i);
      g_autofree char *there = g_path_get_basename (index->paths->pdata[tensor->shard]);
      const char *said = shard_of (index, tensor->name);

      if (g_strcmp0 (said, there) != 0)
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "%s: tensor \"%.200s\" is in %s, but " MAP
                           " puts it into %s; copy the index and all parts of the model again",
                           index->path, tensor->name, there, said ? said : "no file");
    }
  json_object_foreach (json_object_get (index->json, MAP), name, value)
  {
    if (!plait_safetensors_find (file, name))
      return plait_fail (error, PLAIT_ERROR_INPUT,
                         "%s: tensor \"%.200s\" is not in %s, where " MAP
                         " puts it; copy the index and all parts of the model again",
                         index->path, name, json_string_value (value));
  }
  return TRUE;
}

gboolean
plait_safetensors_index_check_alone (const char *path, GError **error)
{
  g_autoptr (GRegex) numbers = g_regex_new ("-[0-9]+-of-[0-9]+$", 0, 0, NULL);
  gboolean is_named = g_str_has_suffix (path, PLAIT_SAFETENSORS_SUFFIX);
  g_autofree char *stem = g_strndup (path, strlen (path) - (is_named ? strlen (PLAIT_SAFETENSORS_SUFFIX) : 0));
  g_autofree char *whole = g_regex_replace_literal (numbers, stem, -1, 0, "", 0, NULL);
  g_autofree char *index = g_strconcat (whole, PLAIT_SAFETENSORS_INDEX_SUFFIX, NULL);
  gboolean is_one = !g_str_equal (stem, whole);

  return ((!is_one && g_file_test (path, G_FILE_TEST_EXISTS)) || !g_file_test (index, G_FILE_TEST_EXISTS))
         || plait_fail (
             error, PLAIT_ERROR_INPUT, "%s: %s; name the index of all parts, %s", path,
             is_one ? "is one of several parts of a model" : "does not exist, but an index of its parts does", index);
}
