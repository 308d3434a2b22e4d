/* SPDX-License-Identifier: MIT */

/*
 * The table /contents describes what a file contains, independently of the position of its bytes. It has a row for each
 * other group, dataset and link:
 *
 *   path         path of the object
 *   values       dataset: XXH3-64 of its type, shape and values; link: XXH3-64 of its target; group: 0
 *   attributes   dataset or group: XXH3-64 of the names and values of its attributes; link: 0
 *
 * The hashes ignore padding of strings, and the attributes in which HDF5 stores dimension scales, because these
 * attributes contain addresses. If another program (h5py, h5repack) has rewritten a file, its blocks no longer match
 * the hashes of blocks.c. With this table, the file can still be compared with what plait wrote.
 */
#include "files/digest.h"
#include "files/memory.h"
#include "hdf5/internal.h"
#include "tables/table.h"
#include "hdf5/walk.h"

#include <string.h>
#include <xxhash.h>

/* Maximum bytes of rows that are read at once; a larger row is read alone. A multiple of the maximum chunk sizes of
 * dataset.c. */
#define WINDOW ((gint64)1 << 20)
#define MAX_ROW_BYTES ((gsize)1 << 30)

typedef struct
{
  char *path;
  gint64 values, attributes;
} Entry;

static const PlaitStoreField fields[] = {
  PLAIT_STORE_FIELD (Entry, path, STRING, NULL),
  PLAIT_STORE_FIELD (Entry, values, INT64, NULL),
  PLAIT_STORE_FIELD (Entry, attributes, INT64, NULL),
};

static void
entry_clear (gpointer entry)
{
  g_free (((Entry *)entry)->path);
}

/* Returns an empty table of contents. (transfer full) (element-type Entry) */
static GArray *
contents_new (void)
{
  GArray *contents = g_array_new (FALSE, FALSE, sizeof (Entry));

  g_array_set_clear_func (contents, entry_clear);
  return contents;
}

static const Entry *
entry_at (const GArray *contents, guint i)
{
  return &g_array_index (contents, Entry, i);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (XXH3_state_t, XXH3_freeState)

static XXH3_state_t *
begin_hash (void)
{
  XXH3_state_t *state = XXH3_createState ();

  XXH3_64bits_reset (state);
  return state;
}

static gint64
end_hash (const XXH3_state_t *state)
{
  XXH64_hash_t hash = XXH3_64bits_digest (state);
  gint64 value;

  memcpy (&value, &hash, sizeof value);
  return value;
}

static void
hash_text (XXH3_state_t *state, const char *text)
{
  XXH3_64bits_update (state, text, strlen (text) + 1);
}

/* Hashes a name of @type. Files contain the hashes, so these names are fixed; the names in messages may change. */
static void
hash_type (XXH3_state_t *state, PlaitStoreType type)
{
  static const char *const names[] = { "float", "double", "int32", "int64", "uint8", "string", "unknown type" };

  hash_text (state, names[type]);
}

/* Hashes @n elements of @type, each of @bytes bytes, strings without their padding. */
static void
hash_values (XXH3_state_t *state, PlaitStoreType type, gint64 n, gsize bytes, const char *values)
{
  if (type != PLAIT_STORE_STRING)
    {
      XXH3_64bits_update (state, values, (gsize)n * bytes);
      return;
    }
  for (gint64 i = 0; i < n; i++)
    {
      const char *slot = values + (gsize)i * bytes;

      XXH3_64bits_update (state, slot, strnlen (slot, bytes));
      XXH3_64bits_update (state, "", 1);
    }
}

/* Hashes @rows rows of @object from row @first on; an element has @bytes bytes in memory. */
static gboolean
hash_rows (XXH3_state_t *state, hid_t id, const PlaitStoreObject *object, gint64 first, gint64 rows, hid_t memory_type,
           gsize bytes, char *buffer)
{
  hsize_t start[PLAIT_STORE_MAX_RANK] = { (hsize_t)first };
  hsize_t count[PLAIT_STORE_MAX_RANK] = { (hsize_t)rows };
  gint64 n = rows;

  for (guint i = 1; i < object->rank; i++)
    {
      count[i] = (hsize_t)object->shape[i];
      n *= object->shape[i];
    }
  if (!plait_store_read_block (id, object->rank, start, count, memory_type, buffer))
    return FALSE;
  hash_values (state, object->type, n, bytes, buffer);
  return TRUE;
}

/* Hashes type, shape and values of a dataset that has passed plait_store_check_values. Omits values of the type
 * PLAIT_STORE_OTHER. */
static gboolean
hash_dataset (PlaitStore *store, const PlaitStoreVisit *visit, gint64 *hash, GError **error)
{
  const PlaitStoreObject *object = &visit->object;
  const char *path = visit->path;
  g_auto (StoreId) stored_type = H5Dget_type (visit->id);
  g_autoptr (XXH3_state_t) state = begin_hash ();

  hash_type (state, object->type);
  XXH3_64bits_update (state, object->shape, object->rank * sizeof *object->shape);
  *hash = end_hash (state);
  if (object->type == PLAIT_STORE_OTHER || object->elements == 0)
    return TRUE;

  gboolean text = object->type == PLAIT_STORE_STRING;
  gsize bytes = text ? (gsize)object->element_bytes : plait_store_type_size (object->type);
  hid_t memory_type = text ? stored_type : plait_store_memory_type (object->type);
  gint64 rows = object->rank == 0 ? 1 : object->shape[0], row_elements = object->elements / rows;
  gsize row_bytes;
  if (!plait_size_multiply ((gsize)row_elements, bytes, &row_bytes) || row_bytes > MAX_ROW_BYTES)
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s: a row of %s has more than 1 GiB; " PLAIT_STORE_REMEDY,
                       store->path, path);
  gint64 step = MIN (rows, MAX (1, WINDOW / (gint64)row_bytes));
  g_autofree char *buffer = g_try_malloc ((gsize)step * row_bytes);
  if (!buffer)
    return plait_fail (error, PLAIT_ERROR_FAILED, "%s: no memory for the values of %s", store->path, path);
  for (gint64 first = 0; first < rows; first += step)
    if (!hash_rows (state, visit->id, object, first, MIN (step, rows - first), memory_type, bytes, buffer))
      return plait_store_fail (store, path, "read it", error);
  *hash = end_hash (state);
  return TRUE;
}

static gboolean
hash_attribute (XXH3_state_t *state, PlaitStore *store, hid_t object, const char *path, const char *name,
                GError **error)
{
  g_auto (StoreId) id = H5Aopen (object, name, H5P_DEFAULT);
  g_auto (StoreId) stored_type = H5Aget_type (id);
  g_auto (StoreId) space = H5Aget_space (id);
  hssize_t n = space < 0 ? -1 : H5Sget_simple_extent_npoints (space);
  PlaitStoreType type = plait_store_type_of (stored_type);

  if (n < 0)
    return plait_store_fail (store, path, "read its attributes", error);
  hash_text (state, name);
  hash_type (state, type);
  XXH3_64bits_update (state, &n, sizeof n);
  if (type == PLAIT_STORE_OTHER || n == 0)
    return TRUE;

  gboolean text = type == PLAIT_STORE_STRING;
  gsize bytes = text ? H5Tget_size (stored_type) : plait_store_type_size (type), size;
  gboolean fits = plait_size_multiply ((gsize)n, bytes, &size) && size <= MAX_ROW_BYTES;
  g_autofree char *values = fits ? g_try_malloc (size) : NULL;
  if (!values)
    return plait_fail (error, PLAIT_ERROR_FAILED, "%s: no memory for the attribute '%s' of %s", store->path, name,
                       path);
  if (H5Aread (id, text ? stored_type : plait_store_memory_type (type), values) < 0)
    return plait_store_fail (store, path, "read its attributes", error);
  hash_values (state, type, n, bytes, values);
  return TRUE;
}

static gboolean
hash_attributes (PlaitStore *store, const PlaitStoreVisit *visit, gint64 *hash, GError **error)
{
  gboolean any = visit->object.attributes > 0;
  g_auto (GStrv) names = any ? plait_store_attributes_of (store, visit->path, visit->id, error) : NULL;
  g_autoptr (XXH3_state_t) state = begin_hash ();

  if (any && !names)
    return FALSE;
  for (char **name = names; any && *name; name++)
    if (!plait_store_belongs_to_axes (*name) && !hash_attribute (state, store, visit->id, visit->path, *name, error))
      return FALSE;
  *hash = end_hash (state);
  return TRUE;
}

static PlaitStoreWalkAction
note (PlaitStore *store, const PlaitStoreVisit *visit, gpointer data, GError **error)
{
  GArray *contents = data;
  Entry entry = { NULL, 0, 0 };
  gboolean good = TRUE;

  if (g_str_equal (visit->path, PLAIT_STORE_CONTENTS))
    return PLAIT_STORE_WALK_SKIP;
  switch (visit->object.kind)
    {
    case PLAIT_STORE_GROUP:
      good = hash_attributes (store, visit, &entry.attributes, error);
      break;
    case PLAIT_STORE_DATASET:
      good = plait_store_check_values (store, visit->path, visit->id, error)
             && hash_dataset (store, visit, &entry.values, error)
             && hash_attributes (store, visit, &entry.attributes, error);
      break;
    case PLAIT_STORE_SOFT_LINK:
    case PLAIT_STORE_EXTERNAL_LINK:
      {
        g_autoptr (XXH3_state_t) state = begin_hash ();

        hash_text (state, visit->link_file ? visit->link_file : "");
        hash_text (state, visit->link_object);
        entry.values = end_hash (state);
        break;
      }
    case PLAIT_STORE_UNKNOWN:
      break;
    }
  if (!good)
    return PLAIT_STORE_WALK_FAIL;
  entry.path = g_strdup (visit->path);
  g_array_append_val (contents, entry);
  return PLAIT_STORE_WALK_CONTINUE;
}

gboolean
plait_store_write_contents (PlaitStore *store, GError **error)
{
  g_autoptr (GArray) contents = contents_new ();

  return plait_store_walk (store, "/", PLAIT_STORE_MAX_DEPTH, note, contents, error)
         && plait_store_write_rows (store, PLAIT_STORE_CONTENTS, contents, fields, G_N_ELEMENTS (fields), NULL, NULL,
                                    error);
}

/* ---- parsing files that another process has written ---- */

/* TRUE if the values of the dataset @id are stored in chunks. */
static gboolean
is_chunked (hid_t id)
{
  /* Most datasets are contiguous, and H5Dget_offset recognises these faster than their property list would. */
  g_auto (StoreId) list = H5Dget_offset (id) == HADDR_UNDEF ? H5Dget_create_plist (id) : -1;

  return list >= 0 && H5Pget_layout (list) == H5D_CHUNKED;
}

/* Makes HDF5 parse everything of one object: names, type, shape and attributes. Also reads its values if they are
 * chunked and have at most *@data bytes, and subtracts their bytes from *@data. */
static PlaitStoreWalkAction
parse (PlaitStore *store, const PlaitStoreVisit *visit, gpointer data, GError **error)
{
  const PlaitStoreObject *object = &visit->object;
  gint64 *left = data, hash, bytes;

  if (visit->id >= 0 && !hash_attributes (store, visit, &hash, error))
    return PLAIT_STORE_WALK_FAIL;
  /* Ignore unreadable values here: they are reported when they are used. */
  if (object->kind != PLAIT_STORE_DATASET || !is_chunked (visit->id)
      || !plait_store_check_values (store, visit->path, visit->id, NULL)
      || __builtin_mul_overflow (object->elements, object->element_bytes, &bytes) || bytes > *left)
    return PLAIT_STORE_WALK_CONTINUE;
  *left -= bytes;
  return hash_dataset (store, visit, &hash, error) ? PLAIT_STORE_WALK_CONTINUE : PLAIT_STORE_WALK_FAIL;
}

gboolean
plait_store_parse_all (PlaitStore *store, gint64 bytes, GError **error)
{
  return plait_store_walk (store, "/", PLAIT_STORE_MAX_DEPTH, parse, &bytes, error);
}

/* ---- comparing files that another program has rewritten ---- */

void
plait_store_changes_free (PlaitStoreChanges *changes)
{
  if (!changes)
    return;
  g_ptr_array_unref (changes->changed);
  g_ptr_array_unref (changes->removed);
  g_ptr_array_unref (changes->added);
  g_free (changes);
}

/* Adds @path to @list, unless @path is below the last path in @list. */
static void
add_path (GPtrArray *list, const char *path)
{
  const char *last = list->len > 0 ? list->pdata[list->len - 1] : NULL;

  if (!last || !g_str_has_prefix (path, last) || path[strlen (last)] != '/')
    g_ptr_array_add (list, g_strdup (path));
}

/* Compares the entry @written with the entry @found at the same path, and adds a difference to @changes. @found is NULL
 * if the object is missing. */
static void
compare_entry (PlaitStoreChanges *changes, const Entry *written, const Entry *found)
{
  if (!found)
    add_path (changes->removed, written->path);
  else if (written->values != found->values)
    g_ptr_array_add (changes->changed, g_strdup (written->path));
  else if (written->attributes != found->attributes)
    g_ptr_array_add (changes->changed, g_strdup_printf ("%s (its attributes)", written->path));
}

PlaitStoreChanges *
plait_store_compare_contents (PlaitStore *store, char **digest, GError **error)
{
  g_autoptr (GArray) written = contents_new (), found = contents_new ();
  g_autoptr (GHashTable) there = g_hash_table_new (g_str_hash, g_str_equal); /* path -> its Entry in @found */
  g_autoptr (GHashTable) known = g_hash_table_new (g_str_hash, g_str_equal); /* the set of paths in @written */
  g_autoptr (GString) all = g_string_new (NULL);

  if (!plait_store_read_table (store, PLAIT_STORE_CONTENTS, fields, G_N_ELEMENTS (fields), G_MAXINT32, written, error)
      || !plait_store_walk (store, "/", PLAIT_STORE_MAX_DEPTH, note, found, error))
    return NULL;
  PlaitStoreChanges *changes = g_new0 (PlaitStoreChanges, 1);
  changes->changed = g_ptr_array_new_with_free_func (g_free);
  changes->removed = g_ptr_array_new_with_free_func (g_free);
  changes->added = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < found->len; i++)
    {
      const Entry *entry = entry_at (found, i);

      g_hash_table_insert (there, entry->path, (gpointer)entry);
      g_string_append_printf (all, "%s %jd %jd\n", entry->path, entry->values, entry->attributes);
    }
  for (guint i = 0; i < written->len; i++)
    {
      const Entry *entry = entry_at (written, i);

      g_hash_table_add (known, entry->path);
      compare_entry (changes, entry, g_hash_table_lookup (there, entry->path));
    }
  for (guint i = 0; i < found->len; i++)
    if (!g_hash_table_contains (known, entry_at (found, i)->path))
      add_path (changes->added, entry_at (found, i)->path);
  *digest = plait_digest_bytes (all->str, all->len);
  return changes;
}

static void
add_names (GString *text, const char *what, const GPtrArray *names, guint most)
{
  for (guint i = 0; i < MIN (names->len, most); i++)
    g_string_append_printf (text, "%s%s", i == 0 ? what : ", ", (char *)names->pdata[i]);
  if (names->len > most)
    g_string_append_printf (text, " and %u more", names->len - most);
}

char *
plait_store_changes_text (const PlaitStoreChanges *changes, guint most)
{
  GString *text = g_string_new ("another program has rewritten it");

  add_names (text, "; changed: ", changes->changed, most);
  add_names (text, "; removed: ", changes->removed, most);
  add_names (text, "; added: ", changes->added, most);
  if (changes->changed->len + changes->removed->len == 0)
    g_string_append (text, "; all that plait wrote is unchanged");
  return g_string_free (text, FALSE);
}
