/* SPDX-License-Identifier: MIT */
#include "text/json.h"
#include "show/show.h"
#include "comparison/stored-table.h"

#define MAX_OBJECTS 1000000
#define MAX_ATTRIBUTE_BYTES ((gsize)1 << 24)

/* Adds the attribute @attribute of @path, a number or text, to the open JSON object, as @name. */
static gboolean
add_attribute (PlaitJson *json, PlaitStore *store, const char *path, const char *attribute, const char *name,
               GError **error)
{
  g_autofree char *text = NULL;
  gint64 integer;
  double real;

  if (plait_store_get_int (store, path, attribute, &integer, NULL))
    plait_json_integer (json, name, integer);
  else if (plait_store_get_double (store, path, attribute, &real, NULL))
    plait_json_real (json, name, real);
  else
    {
      text = plait_store_attribute_text (store, path, attribute, MAX_ATTRIBUTE_BYTES, error);
      if (!text)
        return FALSE;
      plait_json_text (json, name, text);
    }
  return TRUE;
}

gboolean
plait_show_attribute_json (PlaitStore *store, const char *path, const char *name, GError **error)
{
  g_autoptr (PlaitJson) json = plait_json_new_object ();

  plait_json_members (json, "file=%s path=%s attribute=%s", plait_store_path (store), path, name);
  if (!add_attribute (json, store, path, name, "value", error))
    return FALSE;
  plait_json_print (json);
  return TRUE;
}

static gboolean
add_attributes (PlaitJson *json, PlaitStore *store, const char *path, GError **error)
{
  g_auto (GStrv) names = plait_store_attributes (store, path, error);

  if (!names)
    return FALSE;
  plait_json_begin_object (json, "attributes");
  for (guint i = 0; names[i]; i++)
    if (!add_attribute (json, store, path, names[i], names[i], NULL))
      plait_json_text (json, names[i], NULL);
  plait_json_end_object (json);
  return TRUE;
}

/* Adds the numbers of the array @path in the order of the file, without its shape. */
static gboolean
add_numbers (PlaitJson *json, PlaitStore *store, const char *path, PlaitStoreType type, GError **error)
{
  gboolean real = type == PLAIT_STORE_FLOAT || type == PLAIT_STORE_DOUBLE;
  gint64 n;
  g_autofree gpointer values = plait_store_read_array (store, path, real ? PLAIT_STORE_DOUBLE : PLAIT_STORE_INT64,
                                                       PLAIT_STORED_MAX_NUMBERS, &n, error);

  if (!values)
    return FALSE;
  if (real)
    plait_json_reals (json, "values", values, n);
  else
    plait_json_integers (json, "values", values, n);
  return TRUE;
}

/* Adds a table, a list of strings or one string. */
static gboolean
add_texts (PlaitJson *json, PlaitStore *store, const char *path, PlaitShowKind kind, GError **error)
{
  g_autoptr (PlaitTable) table = kind == PLAIT_SHOW_TABLE ? plait_stored_table (store, path, 0, error) : NULL;
  g_autofree char *text = kind == PLAIT_SHOW_STRING ? plait_store_read_string (store, path, error) : NULL;
  gint64 n;
  g_auto (GStrv) strings = kind == PLAIT_SHOW_STRINGS
                               ? plait_store_read_strings (store, path, PLAIT_STORED_MAX_TEXT_BYTES, &n, error)
                               : NULL;

  if (table)
    plait_table_add_json (table, json);
  else if (text)
    plait_json_text (json, "values", text);
  else if (strings)
    plait_json_texts (json, "values", (const char *const *)strings, n);
  return table || text || strings;
}

static gboolean
add_heatmap (PlaitJson *json, const PlaitShow *show, const char *path, GError **error)
{
  g_autoptr (PlaitHeatmap) heatmap = plait_show_heatmap (show, path, error);

  if (!heatmap)
    return FALSE;
  plait_json_members (json, "title=%s choice=%s", heatmap->title, *heatmap->choice != '\0' ? heatmap->choice : NULL);
  plait_json_texts (json, heatmap->row_axis, (const char *const *)heatmap->rows, -1);
  plait_json_texts (json, heatmap->column_axis, (const char *const *)heatmap->columns, -1);
  plait_json_begin_array (json, "values");
  for (gint64 r = 0; r < heatmap->n_rows; r++)
    plait_json_reals (json, NULL, heatmap->values + r * heatmap->n_columns, heatmap->n_columns);
  plait_json_end_array (json);
  return TRUE;
}

static gboolean
add_descent (PlaitJson *json, const PlaitShow *show, const char *path, GError **error)
{
  g_autoptr (PlaitDescent) descent = plait_descent_read (show->store, path, show->choice, error);
  gint64 first, last;

  if (!descent || !plait_show_words (show, descent, path, &first, &last, error))
    return FALSE;
  plait_descent_add_json (descent, first, last, json);
  return TRUE;
}

/* Adds kind, shape, attributes and members of @path, without values. *@budget is the number of objects that may still
 * be added. */
static gboolean
add_object (PlaitJson *json, const char *name, PlaitStore *store, const char *path, guint *budget, GError **error)
{
  static const char *const kinds[] = {
    [PLAIT_STORE_GROUP] = "group",        [PLAIT_STORE_DATASET] = "dataset", [PLAIT_STORE_SOFT_LINK] = "link",
    [PLAIT_STORE_EXTERNAL_LINK] = "link", [PLAIT_STORE_UNKNOWN] = "unknown",
  };
  PlaitStoreObject object;

  if (!plait_store_describe (store, path, &object, error))
    return FALSE;
  if ((*budget)-- == 0)
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s: holds more than %d objects; name a path to see part of it",
                       plait_store_path (store), MAX_OBJECTS);
  gboolean link = object.kind == PLAIT_STORE_SOFT_LINK || object.kind == PLAIT_STORE_EXTERNAL_LINK;
  plait_json_begin_object (json, name);
  plait_json_text (json, "kind", kinds[object.kind]);
  if (link)
    {
      g_autofree char *file = NULL, *target = NULL;

      if (!plait_store_link_target (store, path, &file, &target, error))
        return FALSE;
      if (file)
        plait_json_text (json, "file", file);
      plait_json_text (json, "target", target);
    }
  if (object.kind == PLAIT_STORE_DATASET)
    {
      plait_json_text (json, "type", plait_store_type_name (object.type));
      plait_json_integers (json, "shape", object.shape, object.rank);
      plait_json_integer (json, "stored_bytes", object.stored_bytes);
    }
  if (!link && object.kind != PLAIT_STORE_UNKNOWN && object.attributes > 0
      && !add_attributes (json, store, path, error))
    return FALSE;
  if (object.kind == PLAIT_STORE_GROUP)
    {
      g_auto (GStrv) members = plait_store_members (store, path, error);

      if (!members)
        return FALSE;
      plait_json_begin_object (json, "members");
      for (guint i = 0; members[i]; i++)
        {
          g_autofree char *place = plait_location_join (path, members[i]);

          if (!add_object (json, members[i], store, place, budget, error))
            return FALSE;
        }
      plait_json_end_object (json);
    }
  plait_json_end_object (json);
  return TRUE;
}

static gboolean
add_shown (PlaitJson *json, const PlaitShow *show, const char *path, GError **error)
{
  PlaitStore *store = show->store;
  PlaitStoreObject object;
  PlaitShowKind kind;
  guint budget = MAX_OBJECTS;

  if (!plait_show_describe (store, path, &kind, &object, error))
    return FALSE;
  if (kind == PLAIT_SHOW_STRINGS || kind == PLAIT_SHOW_STRING || kind == PLAIT_SHOW_NUMBERS)
    plait_json_integers (json, "shape", object.shape, object.rank);
  switch (kind)
    {
    case PLAIT_SHOW_TABLE:
    case PLAIT_SHOW_STRINGS:
    case PLAIT_SHOW_STRING:
      return add_texts (json, store, path, kind, error);
    case PLAIT_SHOW_HEATMAP:
      return add_heatmap (json, show, path, error);
    case PLAIT_SHOW_DESCENT:
      return add_descent (json, show, path, error);
    case PLAIT_SHOW_NUMBERS:
      return add_numbers (json, store, path, object.type, error);
    default:
      return add_object (json, "object", store, path, &budget, error);
    }
}

gboolean
plait_show_json (const PlaitShow *show, const char *path, GError **error)
{
  g_autoptr (PlaitJson) json = plait_json_new_object ();

  plait_json_members (json, "file=%s path=%s", plait_store_path (show->store), path);
  if (!add_shown (json, show, path, error))
    return FALSE;
  plait_json_print (json);
  return TRUE;
}
