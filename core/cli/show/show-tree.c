/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "text/display.h"
#include "show/show.h"
#include "tables/table.h"
#include "hdf5/walk.h"

#define MAX_DEPTH 3  /* depth of the tree shown without --all */
#define MAX_SHOWN 12 /* without --all, more than MAX_SHOWN + 1 members are cut to the first and last MAX_SHOWN / 2 */
#define MAX_COUNTED 10000
#define MAX_VALUE_LENGTH 60

/* TRUE if @name in the group @path is a one-dimensional array of @type; *@object describes it. */
static gboolean
is_list (PlaitStore *store, const char *path, const char *name, PlaitStoreType type, PlaitStoreObject *object)
{
  g_autofree char *place = plait_location_join (path, name);

  return plait_store_has (store, place) && plait_store_describe (store, place, object, NULL)
         && object->kind == PLAIT_STORE_DATASET && object->type == type && object->rank == 1;
}

/* TRUE if the group at @path stores a list of strings: a dataset "bytes", a dataset "offsets" and nothing else. Then
 * changes *@group to describe a list. Checks types too, because sources can be called "bytes" and "offsets". */
static gboolean
is_strings (PlaitStore *store, const char *path, PlaitStoreObject *group)
{
  PlaitStoreObject object;

  if (group->members != 2 || !is_list (store, path, "bytes", PLAIT_STORE_UINT8, &object)
      || !is_list (store, path, "offsets", PLAIT_STORE_INT64, &object))
    return FALSE;
  group->type = PLAIT_STORE_STRING;
  group->rank = 1;
  group->shape[0] = MAX (object.shape[0] - 1, 0);
  return TRUE;
}

static gboolean
is_table (PlaitStore *store, const char *path)
{
  gint64 rows;

  if (!plait_store_has_attribute (store, path, "columns"))
    return FALSE;
  g_auto (GStrv) columns = plait_store_table_columns (store, path, &rows, NULL);
  return columns && columns[0];
}

gboolean
plait_show_describe (PlaitStore *store, const char *path, PlaitShowKind *kind, PlaitStoreObject *object, GError **error)
{
  if (!plait_store_describe (store, path, object, error))
    return FALSE;
  if (object->kind == PLAIT_STORE_GROUP)
    *kind = is_table (store, path)               ? PLAIT_SHOW_TABLE
            : is_strings (store, path, object)   ? PLAIT_SHOW_STRINGS
            : plait_heatmap_exists (store, path) ? PLAIT_SHOW_HEATMAP
            : plait_descent_is (store, path)     ? PLAIT_SHOW_DESCENT
                                                 : PLAIT_SHOW_GROUP;
  else if (object->kind == PLAIT_STORE_DATASET)
    *kind = object->type != PLAIT_STORE_STRING ? PLAIT_SHOW_NUMBERS
            : object->rank == 0                ? PLAIT_SHOW_STRING
                                               : PLAIT_SHOW_STRINGS;
  else
    *kind = object->kind == PLAIT_STORE_UNKNOWN ? PLAIT_SHOW_OTHER : PLAIT_SHOW_LINK;
  return TRUE;
}

/* Appends type and shape, such as "float32 [512, 512]"; only the type, "float64", of a single number. */
static void
summarise_array (const PlaitShow *show, const char *path, const PlaitStoreObject *object, GString *text)
{
  g_string_append (text, plait_store_type_name (object->type));
  for (guint i = 0; i < object->rank; i++)
    g_string_append_printf (text, "%s%jd", i > 0 ? ", " : " [", object->shape[i]);
  if (object->rank > 0)
    g_string_append_c (text, ']');
}

/* Appends "heatmaps: en, de, fr" or "descent: en". FALSE unless @path has 1 to MAX_SHOWN such members and no others. */
static gboolean
summarise_pictures (const PlaitShow *show, const char *path, const PlaitStoreObject *object, GString *text,
                    gboolean (*is) (PlaitStore *, const char *), const char *name)
{
  if (object->members == 0 || object->members > MAX_SHOWN)
    return FALSE;
  g_auto (GStrv) members = plait_store_members (show->store, path, NULL);
  for (guint i = 0; members && members[i]; i++)
    {
      g_autofree char *place = plait_location_join (path, members[i]);

      if (!is (show->store, place))
        return FALSE;
    }
  if (!members)
    return FALSE;
  g_autofree char *joined = g_strjoinv (", ", members);
  g_string_append_printf (text, "%s%s: %s", name, object->members == 1 ? "" : "s", joined);
  return TRUE;
}

typedef struct
{
  gint64 datasets, elements, objects;
} Count;

static PlaitStoreWalkAction
count (PlaitStore *store, const PlaitStoreVisit *visit, gpointer data, GError **error)
{
  Count *counted = data;
  gboolean dataset = visit->object.kind == PLAIT_STORE_DATASET;

  counted->datasets += dataset;
  if (dataset && visit->object.elements < G_MAXINT64 - counted->elements)
    counted->elements += visit->object.elements;
  return ++counted->objects < MAX_COUNTED ? PLAIT_STORE_WALK_CONTINUE : PLAIT_STORE_WALK_STOP;
}

/* Appends @value with commas, such as "12,345,678". */
static void
append_count (GString *text, gint64 value)
{
  g_autofree char *digits = g_strdup_printf ("%jd", value);
  gsize n = strlen (digits);

  for (gsize i = 0; i < n; i++)
    g_string_append_printf (text, "%c%s", digits[i], i + 1 < n && (n - 1 - i) % 3 == 0 ? "," : "");
}

static void
summarise_table (const PlaitShow *show, const char *path, const PlaitStoreObject *object, GString *text)
{
  gint64 n;
  g_auto (GStrv) columns = plait_store_table_columns (show->store, path, &n, NULL);
  g_autofree char *names = columns ? g_strjoinv (", ", columns) : g_strdup ("");

  g_string_append_printf (text, "table of %jd row%s: %s", n, n == 1 ? "" : "s", names);
}

static void
summarise_heatmap (const PlaitShow *show, const char *path, const PlaitStoreObject *object, GString *text)
{
  gint64 n;
  g_auto (GStrv) axes = plait_store_get_list (show->store, path, "axes", PLAIT_STORE_STRING, &n, NULL);
  g_autofree char *signal = plait_store_get_string (show->store, path, "signal", NULL);
  g_autofree char *place = plait_location_join (path, signal);
  PlaitStoreObject array;

  g_string_append (text, "heatmap,");
  if (axes && plait_store_describe (show->store, place, &array, NULL))
    for (guint i = 0; i < array.rank && axes[i]; i++)
      g_string_append_printf (text, "%s %s %jd", i > 0 ? " ×" : "", axes[i], array.shape[i]);
}

static void
summarise_descent (const PlaitShow *show, const char *path, const PlaitStoreObject *object, GString *text)
{
  g_autofree char *labels = plait_location_join (path, "target_labels");
  PlaitStoreObject targets;

  g_string_append (text, "descent");
  if (plait_store_describe (show->store, labels, &targets, NULL) && targets.rank == 1)
    g_string_append_printf (text, " of %jd words", targets.shape[0]);
}

static void
summarise_group (const PlaitShow *show, const char *path, const PlaitStoreObject *object, GString *text)
{
  Count counted = { 0 };

  if (object->members == 0 && object->attributes > 0)
    {
      g_auto (GStrv) names = plait_store_attributes (show->store, path, NULL);
      g_autofree char *joined = names ? g_strjoinv (", ", names) : NULL;

      g_string_append_printf (text, "attribute%s: %s", object->attributes == 1 ? "" : "s", joined ? joined : "?");
      return;
    }
  if (summarise_pictures (show, path, object, text, plait_heatmap_exists, "heatmap")
      || summarise_pictures (show, path, object, text, plait_descent_is, "descent"))
    return;
  plait_store_walk (show->store, path, 64, count, &counted, NULL);
  g_string_append_printf (text, "%jd member%s", object->members, object->members == 1 ? "" : "s");
  if (counted.objects >= MAX_COUNTED)
    g_string_append (text, ", very many objects below");
  else if (counted.datasets > object->members)
    {
      g_string_append_printf (text, ", %jd datasets below, ", counted.datasets);
      append_count (text, counted.elements);
      g_string_append (text, " elements");
    }
}

static void
summarise_string (const PlaitShow *show, const char *path, const PlaitStoreObject *object, GString *text)
{
  g_autofree char *value = plait_store_read_string (show->store, path, NULL);
  g_autofree char *clean = plait_display_sanitise (value ? value : "", FALSE);
  g_autofree char *cut = plait_display_truncate (clean, MAX_VALUE_LENGTH);

  g_string_append_printf (text, "\"%s\"", cut);
}

static void
summarise_link (const PlaitShow *show, const char *path, const PlaitStoreObject *object, GString *text)
{
  g_autofree char *file = NULL, *target = NULL;

  if (plait_store_link_target (show->store, path, &file, &target, NULL))
    g_string_append_printf (text, "→ %s%s%s", file ? file : "", file ? " " : "", target);
  else
    g_string_append (text, "a link that leads nowhere");
}

static void
summarise_other (const PlaitShow *show, const char *path, const PlaitStoreObject *object, GString *text)
{
  g_string_append (text, "not written by plait");
}

char *
plait_show_summary (const PlaitShow *show, const char *path, PlaitShowKind kind, const PlaitStoreObject *object)
{
  static void (*const summaries[]) (const PlaitShow *, const char *, const PlaitStoreObject *, GString *) = {
    [PLAIT_SHOW_GROUP] = summarise_group,     [PLAIT_SHOW_TABLE] = summarise_table,
    [PLAIT_SHOW_HEATMAP] = summarise_heatmap, [PLAIT_SHOW_DESCENT] = summarise_descent,
    [PLAIT_SHOW_STRINGS] = summarise_array,   [PLAIT_SHOW_STRING] = summarise_string,
    [PLAIT_SHOW_NUMBERS] = summarise_array,   [PLAIT_SHOW_LINK] = summarise_link,
    [PLAIT_SHOW_OTHER] = summarise_other,
  };
  g_autoptr (GString) text = g_string_new (NULL);

  summaries[kind](show, path, object, text);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static gboolean show_members (const PlaitShow *show, const char *path, const char *prefix, guint depth, GError **error);

static gboolean
show_member (const PlaitShow *show, const char *path, const char *name, const char *prefix, gboolean last, guint depth,
             GError **error)
{
  g_autofree char *place = plait_location_join (path, name);
  g_autofree char *clean = plait_display_sanitise (name, FALSE);
  PlaitStoreObject object;
  PlaitShowKind kind;
  gboolean open; /* TRUE: show the group's members instead of its summary */

  if (!plait_show_describe (show->store, place, &kind, &object, error))
    return FALSE;
  open = object.kind == PLAIT_STORE_GROUP && object.members > 0
         && (show->everything || (kind == PLAIT_SHOW_GROUP && depth < MAX_DEPTH));
  plait_terminal_text (show->terminal, PLAIT_TERMINAL_DIM, "  %s%s ", prefix, last ? "└─" : "├─");
  plait_terminal_text (show->terminal, object.kind == PLAIT_STORE_GROUP ? PLAIT_TERMINAL_HEADING : PLAIT_TERMINAL_NAME,
                       "%s", clean);
  if (!open)
    {
      g_autofree char *summary = plait_show_summary (show, place, kind, &object);

      if (!plait_store_intact (show->store, error))
        return FALSE;
      g_autofree char *shown = plait_display_sanitise (summary, FALSE);
      gsize used = 2 + plait_display_width (prefix) + 3 + plait_display_width (clean) + 2;
      gsize width_left = plait_terminal_width (show->terminal);
      g_autofree char *cut = plait_display_truncate (shown, width_left > used + 10 ? width_left - used : 10);

      plait_terminal_text (show->terminal, PLAIT_TERMINAL_DIM, "  %s", cut);
    }
  plait_terminal_text (show->terminal, PLAIT_TERMINAL_PLAIN, "\n");
  if (!open)
    return TRUE;
  g_autofree char *deeper = g_strconcat (prefix, last ? "   " : "│  ", NULL);
  return show_members (show, place, deeper, depth + 1, error);
}

static gboolean
show_members (const PlaitShow *show, const char *path, const char *prefix, guint depth, GError **error)
{
  g_auto (GStrv) members = plait_store_members (show->store, path, error);

  if (!members)
    return FALSE;
  guint n = g_strv_length (members), half = MAX_SHOWN / 2;
  gboolean cut = n > MAX_SHOWN + 1 && !show->everything;
  for (guint i = 0; i < n; i++)
    {
      if (cut && i == half)
        {
          plait_terminal_text (show->terminal, PLAIT_TERMINAL_DIM, "  %s├─ … %u more\n", prefix, n - 2 * half);
          i = n - half;
        }
      if (!show_member (show, path, members[i], prefix, i + 1 == n, depth, error))
        return FALSE;
    }
  return TRUE;
}

gboolean
plait_show_tree (const PlaitShow *show, const char *path, GError **error)
{
  g_autofree char *clean = plait_display_sanitise (path, FALSE);

  plait_terminal_text (show->terminal, PLAIT_TERMINAL_HEADING, "  %s\n", clean);
  return show_members (show, path, "", 1, error);
}

gboolean
plait_show_attributes (const PlaitShow *show, const char *path, gboolean is_table, GError **error)
{
  PlaitTerminal *terminal = show->terminal;
  g_auto (GStrv) names = plait_store_attributes (show->store, path, error);
  gsize width = 0;

  if (!names)
    return FALSE;
  for (guint i = 0; names[i]; i++)
    width = MAX (width, plait_display_width (names[i]));
  for (guint i = 0; names[i]; i++)
    {
      if (is_table && strcmp (names[i], "columns") == 0)
        continue; /* the header of the table already shows the columns */
      g_autofree char *value = plait_store_attribute_text (show->store, path, names[i], 1 << 16, NULL);
      g_autofree char *clean = plait_display_sanitise (names[i], FALSE);
      g_autoptr (GString) label = g_string_new (NULL);
      g_auto (GStrv) lines = g_strsplit (value ? value : "(cannot be read)", "\n", -1);
      guint n = g_strv_length (lines);

      while (n > 1 && *lines[n - 1] == '\0')
        n--;
      plait_display_pad (label, clean, MIN (width, 32), FALSE);
      plait_terminal_text (terminal, PLAIT_TERMINAL_NAME, "  %s  ", label->str);
      if (n > 1)
        plait_terminal_text (terminal, PLAIT_TERMINAL_DIM, "%u lines of text (path %s@%s shows them)\n", n, path,
                             clean);
      else
        {
          gsize used = MIN (width, 32) + 4, width_left = plait_terminal_width (terminal);
          g_autofree char *shown = plait_display_sanitise (n > 0 ? lines[0] : "", FALSE);
          g_autofree char *cut
              = plait_display_truncate (shown, width_left > used + 20 ? MIN (width_left - used, 1000) : 20);

          plait_terminal_text (terminal, PLAIT_TERMINAL_PLAIN, "%s\n", cut);
        }
    }
  return TRUE;
}
