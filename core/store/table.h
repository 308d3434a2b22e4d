/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/table.h"
#include "store/store.h"

/*
 * Tables: a group with one dataset of one dimension a column, all of the same length, and their names in order as its
 * attribute "columns". So a column is read alone, and h5py gives a data frame with
 * pandas.DataFrame ({name: group[name][:] for name in group.attrs["columns"]}).
 */
typedef struct
{
  const char *name; /* a name of one component, such as "learning_rate" */
  PlaitStoreType type;
  gconstpointer values; /* [rows] of @type; const char *const * for strings */
  const char *unit;     /* shown by viewers; NULL for none */
} PlaitStoreColumn;

/* Writes @columns as the table @path. With @axis and @signal, names of two numeric columns, viewers that know NeXus
 * draw the second over the first when the group is opened; both may be NULL. */
gboolean plait_store_write_table (PlaitStore *store, const char *path, const PlaitStoreColumn *columns, guint n_columns,
                                  gint64 rows, const char *axis, const char *signal, GError **error);

/* Writes @table, which has no gaps, as the table @path: columns of PLAIT_TABLE_COUNTS as integers, -1 where there is
 * none, of PLAIT_TABLE_NUMBERS as real numbers, NaN where there is none, and others as text. */
gboolean plait_store_write_filled (PlaitStore *store, const char *path, const PlaitTable *table, GError **error);

/* Names of the columns of the table @path in order, NULL-terminated, and *@rows; refuses what is no table. A column is
 * read as the dataset PATH/NAME. (transfer full) */
char **plait_store_table_columns (PlaitStore *store, const char *path, gint64 *rows, GError **error);
