/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/table.h"
#include "hdf5/store.h"

#define PLAIT_STORED_MAX_TEXT_BYTES ((gsize)256 << 20) /* bytes of strings that are read */
#define PLAIT_STORED_MAX_NUMBERS ((gint64)1 << 24)     /* the same of numbers */

/* The table @path of a file (tables/table.h): columns of text, integers and real numbers as they are there. Of
 * more than 2 @ends + 1 rows those in the middle are left out, with a gap in their place; @ends 0: all are
 * taken. (transfer full) */
PlaitTable *plait_stored_table (PlaitStore *store, const char *path, gint64 ends, GError **error);

static inline gboolean
plait_stored_is_integer (PlaitStoreType type)
{
  return type == PLAIT_STORE_INT32 || type == PLAIT_STORE_INT64 || type == PLAIT_STORE_UINT8;
}

/* The row to be added where @row of @rows would come: it, or behind those in the middle, in whose place "… 12 more;
 * --all shows them" is added, the first of the last @ends. */
gint64 plait_table_skip (PlaitTable *table, gint64 row, gint64 rows, gint64 ends);
