/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/table.h"
#include "hdf5/store.h"

#define PLAIT_STORED_MAX_TEXT_BYTES ((gsize)256 << 20) /* maximum bytes of strings that are read from a table */
#define PLAIT_STORED_MAX_NUMBERS ((gint64)1 << 24)     /* maximum numbers that are read from a table */

/* Reads the table @path of a file (tables/table.h), with columns of text, integers and real numbers. Of more than 2
 * @ends + 1 rows, those in the middle are replaced by a gap; @ends 0: all rows are read. (transfer full) */
PlaitTable *plait_stored_table (PlaitStore *store, const char *path, gint64 ends, GError **error);

static inline gboolean
plait_stored_is_integer (PlaitStoreType type)
{
  return type == PLAIT_STORE_INT32 || type == PLAIT_STORE_INT64 || type == PLAIT_STORE_UINT8;
}

/* Returns the next row to add at @row of @rows: usually @row. At the start of a long middle part, adds the gap "… 12
 * more; --all shows them" and returns the first of the last @ends rows. */
gint64 plait_table_skip (PlaitTable *table, gint64 row, gint64 rows, gint64 ends);
