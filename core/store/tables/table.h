/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/table.h"
#include "hdf5/store.h"

/*
 * Tables: a group with one dataset of one dimension a column, all of the same length, and their names in order as its
 * attribute "columns". So a column is read alone, and h5py gives a data frame with
 * pandas.DataFrame ({name: group[name][:] for name in group.attrs["columns"]}).
 */

/* A column as rows in memory have it: structs, of which each has one value of every column. */
typedef struct
{
  const char *name;    /* a name of one component, such as "learning_rate" */
  PlaitStoreType type; /* INT32 (a gboolean too), INT64, DOUBLE, or STRING: a char * */
  gsize offset;        /* of the value in a row */
  const char *unit;    /* shown by viewers; NULL for none */
} PlaitStoreField;

/* The column that is called as the member of @Row that holds it. */
#define PLAIT_STORE_FIELD(Row, member, kind, of)                                                                       \
  {                                                                                                                    \
    .name = #member, .type = PLAIT_STORE_##kind, .offset = G_STRUCT_OFFSET (Row, member), .unit = of                   \
  }

/* Writes @rows, structs that have @fields, as the table @path. With @axis and @signal, names of two numeric columns,
 * viewers that know NeXus draw the second over the first when the group is opened; both may be NULL. */
gboolean plait_store_write_rows (PlaitStore *store, const char *path, const GArray *rows, const PlaitStoreField *fields,
                                 guint n_fields, const char *axis, const char *signal, GError **error);

/* Writes @table, which has no gaps, as the table @path: columns of PLAIT_TABLE_COUNTS as integers, -1 where there is
 * none, of PLAIT_TABLE_NUMBERS as real numbers, NaN where there is none, and others as text. */
gboolean plait_store_write_table (PlaitStore *store, const char *path, const PlaitTable *table, GError **error);

/* Puts the table @path, which has at most @most rows, in the place of what @rows has: of each row the @fields, zeros
 * elsewhere. Strings are @rows' own, for its clear function, even after a failure. Columns that no field names are not
 * read. */
gboolean plait_store_read_table (PlaitStore *store, const char *path, const PlaitStoreField *fields, guint n_fields,
                                 gint64 most, GArray *rows, GError **error);

/* Names of the columns of the table @path in order, NULL-terminated, and *@rows; refuses what is no table. A column is
 * read as the dataset PATH/NAME. (transfer full) */
char **plait_store_table_columns (PlaitStore *store, const char *path, gint64 *rows, GError **error);
