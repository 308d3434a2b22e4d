/* SPDX-License-Identifier: MIT */
#include "runs/grid-print.h"

#include "terminal/table-print.h"

static void
print_text (const PlaitGridTable *table)
{
  g_autoptr (PlaitTerminal) terminal = plait_terminal_new ();
  g_autoptr (GPtrArray) shown = plait_grid_tables_shown (table);

  for (guint i = 0; i < shown->len; i++)
    {
      if (i > 0)
        plait_terminal_text (terminal, PLAIT_TERMINAL_PLAIN, "\n");
      plait_table_print (shown->pdata[i], terminal);
    }
}

static void
print_json (const PlaitGrid *grid, const PlaitGridTable *table)
{
  g_autoptr (PlaitJson) json = plait_json_new_object ();
  g_autoptr (PlaitTable) numbers = plait_grid_table_numbers (table);

  plait_json_text (json, "folder", grid->folder);
  plait_json_integer (json, "cells", grid->n);
  plait_json_integer (json, "finished", plait_grid_count (grid, PLAIT_CELL_FINISHED));
  plait_table_add_json (numbers, json);
  plait_json_texts (json, "notes", (const char *const *)table->notes, -1);
  plait_json_print (json);
}

void
plait_grid_print (const PlaitGrid *grid, const PlaitGridTable *table, gboolean as_json)
{
  if (as_json)
    print_json (grid, table);
  else
    print_text (table);
}
