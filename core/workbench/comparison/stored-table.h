/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/table.h"
#include "hdf5/store.h"

#define PLAIT_STORED_MAX_TEXT_BYTES ((gsize)256 << 20) /* maximum bytes of strings in one column */
#define PLAIT_STORED_MAX_NUMBERS ((gint64)1 << 24)     /* maximum numbers in one column */

/* Reads the table @path of a file (tables/table.h), whose columns have text, integers or real numbers. Replaces rows in
 * the middle by a gap, as plait_table_skip() says. (transfer full) */
PlaitTable *plait_stored_table (PlaitStore *store, const char *path, gint64 ends, GError **error);

static inline gboolean
plait_stored_is_integer (PlaitStoreType type)
{
  return type == PLAIT_STORE_INT32 || type == PLAIT_STORE_INT64 || type == PLAIT_STORE_UINT8;
}

/* Returns the row to add to @table next: @row, except at a gap. There is a gap if @ends is not 0 and @rows, the number
 * of all rows, exceeds 2 @ends + 1. Then, if @row is @ends, adds the gap, such as "… 12 more rows; --all shows them",
 * and returns @rows - @ends. */
gint64 plait_table_skip (PlaitTable *table, gint64 row, gint64 rows, gint64 ends);
