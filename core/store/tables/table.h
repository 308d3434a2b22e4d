/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/table.h"
#include "hdf5/store.h"

/*
 * Tables: a group with one dataset of one dimension for each column, all of equal length. Strings of very different
 * lengths are a group instead of a dataset (plait_store_write_strings). The attribute "columns" of the table lists the
 * names of columns in order. So a column can be read alone, and h5py makes a data frame of a table of datasets with
 * pandas.DataFrame ({name: group[name][:] for name in group.attrs["columns"]}).
 */

/* A column of a table whose rows are structs in memory, each with one value for every column. */
typedef struct
{
  const char *name;    /* name of the column, one path component, such as "learning_rate" */
  PlaitStoreType type; /* PLAIT_STORE_INT32 (also for gboolean), _INT64, _DOUBLE, or _STRING (a char *) */
  gsize offset;        /* offset of the value in the struct */
  const char *unit;    /* unit shown by viewers; may be NULL */
} PlaitStoreField;

/* Initialises a PlaitStoreField for the struct member @member of @Row, with its name as column name, PLAIT_STORE_ ##
 * @kind as type and @of as unit. */
#define PLAIT_STORE_FIELD(Row, member, kind, of)                                                                       \
  {                                                                                                                    \
    .name = #member, .type = PLAIT_STORE_##kind, .offset = G_STRUCT_OFFSET (Row, member), .unit = of                   \
  }

/* Writes @rows, structs with @fields, as the table @path. If @axis and @signal name two numeric columns, viewers of
 * NeXus plot @signal against @axis when a user opens the group. NULL: no plot. */
gboolean plait_store_write_rows (PlaitStore *store, const char *path, const GArray *rows, const PlaitStoreField *fields,
                                 guint n_fields, const char *axis, const char *signal, GError **error);

/* Writes @table, which has no gaps (plait_table_gap), as the table @path: PLAIT_TABLE_COUNTS as integers (-1 for a
 * number that does not exist), PLAIT_TABLE_NUMBERS as doubles (NaN for a number that does not exist), other columns as
 * text. */
gboolean plait_store_write_table (PlaitStore *store, const char *path, const PlaitTable *table, GError **error);

/* Replaces the content of @rows by the table @path of at most @most rows. Reads only the columns of @fields; other
 * members of the structs are zero. @rows owns the strings. Its clear function frees them, also after a failure. */
gboolean plait_store_read_table (PlaitStore *store, const char *path, const PlaitStoreField *fields, guint n_fields,
                                 gint64 most, GArray *rows, GError **error);

/* Returns the names of the columns of the table @path in order, NULL-terminated, and the number of rows in *@rows.
 * Fails if @path is not a table. The path of a column is PATH/NAME. (transfer full) */
char **plait_store_table_columns (PlaitStore *store, const char *path, gint64 *rows, GError **error);
