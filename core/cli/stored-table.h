/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/table.h"
#include "store/store.h"

/* The table @path of a file (store/table.h): columns of text, integers and real numbers as they are there. Of
 * more than 2 @ends + 1 rows those in the middle are left out, with a gap in their place; @ends 0: all are
 * taken. (transfer full) */
PlaitTable *plait_stored_table (PlaitStore *store, const char *path, gint64 ends, GError **error);

static inline gboolean
plait_stored_is_integer (PlaitStoreType type)
{
  return type == PLAIT_STORE_INT32 || type == PLAIT_STORE_INT64 || type == PLAIT_STORE_UINT8;
}

/* Where a list of @rows is cut: rows @*first .. @*last - 1 are left out. */
void plait_table_cut (gint64 rows, gint64 ends, gint64 *first, gint64 *last);

/* "… 12 more; --all shows them" in the place of rows @first .. @last - 1. */
void plait_table_add_left_out (PlaitTable *table, gint64 first, gint64 last);
