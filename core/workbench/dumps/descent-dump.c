/* SPDX-License-Identifier: MIT */
#include "dumps/descent-dump.h"

#include "dumps/attention.h"
#include "tables/ragged.h"

/* Arrays of the dump of one attention. */
typedef struct
{
  const PlaitLinks *links;
  gint64 rows;
  gint64 *owner; /* [rows]: the parent whose first child is this row; if several parents share this child, the first of
                    them; -1 if none */
  double *reached;  /* [rows]: sum of the products of weights along all paths to each row, for the current entry */
  gint64 *entry;    /* [rows]: number, from 1, of the last entry that weighed the row; 0: none */
  gint64 n_entries; /* number of entries so far */
  GArray *entry_offsets, *set_parent, *set_offsets, *row, *weight, *path, *taken;
} Dump;

static Dump
dump_new (const PlaitLinks *links, gint64 rows)
{
  static const gint64 none = 0;
  Dump dump = {
    .links = links,
    .rows = rows,
    .owner = g_new (gint64, rows + 1),
    .reached = g_new0 (double, rows + 1),
    .entry = g_new0 (gint64, rows + 1),
    .entry_offsets = g_array_new (FALSE, FALSE, sizeof (gint64)),
    .set_parent = g_array_new (FALSE, FALSE, sizeof (gint64)),
    .set_offsets = g_array_new (FALSE, FALSE, sizeof (gint64)),
    .row = g_array_new (FALSE, FALSE, sizeof (gint64)),
    .weight = g_array_new (FALSE, FALSE, sizeof (PlaitScalar)),
    .path = g_array_new (FALSE, FALSE, sizeof (PlaitScalar)),
    .taken = g_array_new (FALSE, FALSE, sizeof (guint8)),
  };

  for (gint64 i = 0; i < rows; i++)
    dump.owner[i] = -1;
  for (gint64 i = rows - 1; links->level && i >= 0; i--)
    if (links->n_children[i] > 0)
      dump.owner[links->first_child[i]] = i;
  g_array_append_val (dump.entry_offsets, none);
  g_array_append_val (dump.set_offsets, none);
  return dump;
}

static void
dump_clear (Dump *dump)
{
  g_free (dump->owner);
  g_free (dump->reached);
  g_free (dump->entry);
  g_array_unref (dump->entry_offsets);
  g_array_unref (dump->set_parent);
  g_array_unref (dump->set_offsets);
  g_array_unref (dump->row);
  g_array_unref (dump->weight);
  g_array_unref (dump->path);
  g_array_unref (dump->taken);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Dump, dump_clear)

static gboolean
was_weighed (const Dump *dump, gint64 row)
{
  return dump->entry[row] == dump->n_entries;
}

/* Returns the weighed row whose children are the @n rows @row, or -1. */
static gint64
parent_of (const Dump *dump, const gint64 *row, gint64 n)
{
  const PlaitLinks *links = dump->links;

  for (gint64 i = 1; i < n; i++)
    if (row[i] != row[0] + i)
      return -1;
  /* Two neighbours may have the same first child. */
  for (gint64 p = n > 0 ? dump->owner[row[0]] : -1; p >= 0 && p < dump->rows && links->first_child[p] == row[0]; p++)
    if (links->n_children[p] == n && was_weighed (dump, p))
      return p;
  return -1;
}

/* Marks @row as taken in all sets of the current entry. The elements of this entry begin at index @first of the
 * arrays. */
static void
take (Dump *dump, guint first, gint64 row)
{
  for (guint i = first; i < dump->row->len; i++)
    if (g_array_index (dump->row, gint64, i) == row)
      g_array_index (dump->taken, guint8, i) = TRUE;
}

/* Adds a set: the @n rows @row with @weights. They are the children of @parent, or top rows if @parent is -1. Marks
 * @parent as taken. Elements of the current entry begin at @first. */
static void
add_set (Dump *dump, const gint64 *row, const PlaitScalar *weights, gint64 n, gint64 parent, guint first)
{
  double above = parent >= 0 ? dump->reached[parent] : 1;
  gint64 end;

  if (parent >= 0)
    take (dump, first, parent);
  for (gint64 i = 0; i < n; i++)
    {
      PlaitScalar weight = weights[i], path = (PlaitScalar)(above * (double)weight);
      guint8 taken = FALSE;

      if (!was_weighed (dump, row[i]))
        dump->reached[row[i]] = 0;
      dump->entry[row[i]] = dump->n_entries;
      dump->reached[row[i]] += (double)path;
      g_array_append_val (dump->row, row[i]);
      g_array_append_val (dump->weight, weight);
      g_array_append_val (dump->path, path);
      g_array_append_val (dump->taken, taken);
    }
  end = dump->row->len;
  g_array_append_val (dump->set_parent, parent);
  g_array_append_val (dump->set_offsets, end);
}

/* TRUE if @row is the only row of its level. */
static gboolean
is_alone (const Dump *dump, gint64 row)
{
  const gint64 *level = dump->links->level;

  return (row == 0 || level[row - 1] != level[row]) && (row + 1 == dump->rows || level[row + 1] != level[row]);
}

/* Adds sets, from the top down, for those ancestors of the @n rows @row that are alone on their levels. The set of an
 * ancestor has only this row, with weight 1. The combiner records no such set, because it computes no weight for a row
 * without alternative. */
static void
add_tops (Dump *dump, const gint64 *row, gint64 n, guint first)
{
  static const PlaitScalar whole = 1;
  gint64 top = n > 0 ? dump->owner[row[0]] : -1;

  if (top < 0 || dump->links->n_children[top] != n || !is_alone (dump, top))
    return;
  add_tops (dump, &top, 1, first);
  add_set (dump, &top, &whole, 1, parent_of (dump, &top, 1), first);
}

/* Adds the sets of one target row and head. @read [rows] are the weights with which the decoder read the rows. @read is
 * NULL only if @sets is empty. */
static void
add_entry (Dump *dump, const PlaitRecordedSets *sets, const PlaitScalar *read)
{
  guint first = dump->row->len;
  gint64 end;

  dump->n_entries++;
  if (sets->first)
    add_tops (dump, sets->first->row, sets->first->n, first);
  for (const PlaitRecordedSet *set = sets->first; set; set = set->next)
    add_set (dump, set->row, set->weights, set->n, parent_of (dump, set->row, set->n), first);
  for (guint i = first; i < dump->row->len; i++)
    if (read[g_array_index (dump->row, gint64, i)] > 0)
      g_array_index (dump->taken, guint8, i) = TRUE;
  end = dump->set_parent->len;
  g_array_append_val (dump->entry_offsets, end);
}

/* Destination of a dump. */
typedef struct
{
  PlaitStore *store;
  const char *path, *name; /* path of the sentence's group, and name of the attention */
  GError **error;
} DumpGroup;

static gboolean
append (const DumpGroup *dump_group, const char *name, PlaitStoreType type, gint64 n, gconstpointer values)
{
  return plait_store_append (dump_group->store, dump_group->path, dump_group->name, name, type, 1, &n, values, NULL,
                             dump_group->error);
}

static gboolean
write_array (const DumpGroup *dump_group, const char *name, PlaitStoreType type, const GArray *values)
{
  return append (dump_group, name, type, values->len, values->data);
}

static gboolean
write_links (const DumpGroup *dump_group, const char *name, const gint64 *links, gint64 otherwise, gint64 n)
{
  g_autofree gint64 *values = g_new (gint64, n + 1);

  for (gint64 i = 0; i < n; i++)
    values[i] = links ? links[i] : otherwise;
  return append (dump_group, name, PLAIT_STORE_INT64, n, values);
}

static gboolean
write_dump (const DumpGroup *dump_group, const Dump *dump, char **rows, char **targets, gint64 n_targets)
{
  return append (dump_group, "target_labels", PLAIT_STORE_STRING, n_targets, targets)
         && append (dump_group, "row_labels", PLAIT_STORE_STRING, dump->rows, rows)
         && write_links (dump_group, "row_level", dump->links->level, 0, dump->rows)
         && write_links (dump_group, "row_first_child", dump->links->first_child, -1, dump->rows)
         && write_links (dump_group, "row_children", dump->links->n_children, 0, dump->rows)
         && write_array (dump_group, "entry_offsets", PLAIT_STORE_INT64, dump->entry_offsets)
         && write_array (dump_group, "set_parent", PLAIT_STORE_INT64, dump->set_parent)
         && write_array (dump_group, "set_offsets", PLAIT_STORE_INT64, dump->set_offsets)
         && write_array (dump_group, "row", PLAIT_STORE_INT64, dump->row)
         && write_array (dump_group, "weight", PLAIT_STORE_SCALAR, dump->weight)
         && write_array (dump_group, "path", PLAIT_STORE_SCALAR, dump->path)
         && write_array (dump_group, "taken", PLAIT_STORE_UINT8, dump->taken);
}

static gboolean
write_attention (PlaitStore *store, const char *path, const PlaitAttentionRecord *a, const PlaitRecordedAttention *of,
                 const PlaitLabels *labels, guint heads, GError **error)
{
  static const PlaitRecordedSets nothing = { 0 };
  const PlaitMemory *memory = &a->memories[of->memory];
  gint64 rows = plait_ragged_rows (memory->rows), length = plait_ragged_rows (a->queries);
  g_autofree char *name = plait_attention_label (of, labels);
  g_autofree char *title = g_strdup_printf ("descent to %s", name);
  const gint64 extents[] = { a->n_layers, heads, length };
  const DumpGroup dump_group = { store, path, name, error };
  g_auto (Dump) dump = dump_new (memory->links, rows);

  for (guint l = 0; l < a->n_layers; l++)
    for (guint h = 0; h < heads; h++)
      for (gint64 t = 0; t < length; t++)
        {
          const PlaitRecordedLayer *paid = &of->layers[l];
          gboolean chosen = paid->sets && h < paid->heads;

          add_entry (&dump, chosen ? &paid->sets[t * paid->heads + h] : &nothing,
                     chosen ? paid->weights + (h * length + t) * rows : NULL);
        }
  return plait_store_append_attribute (store, path, name, "title", title, error)
         && append (&dump_group, "extents", PLAIT_STORE_INT64, G_N_ELEMENTS (extents), extents)
         && write_dump (&dump_group, &dump, labels->memories[of->memory].rows, labels->targets, length);
}

gboolean
plait_descent_dump_write (PlaitStore *store, const char *path, const PlaitAttentionRecord *a, const PlaitLabels *labels,
                          GError **error)
{
  for (const PlaitRecordedAttention *of = a->attentions; of; of = of->next)
    {
      guint heads = 0;

      for (guint l = 0; l < a->n_layers; l++)
        if (of->layers[l].sets)
          heads = MAX (heads, of->layers[l].heads);
      if (heads > 0 && plait_ragged_rows (a->queries) > 0 && plait_ragged_rows (a->memories[of->memory].rows) > 0
          && !write_attention (store, path, a, of, labels, heads, error))
        return FALSE;
    }
  return TRUE;
}
