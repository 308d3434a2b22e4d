/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/table.h"
#include "terminal/terminal.h"

/* Prints the title of @table, the table with aligned columns, indented by two, and its notes. On a terminal, text is
 * cut until the table fits. Columns that still do not fit follow below, with the first column repeated. */
void plait_table_print (const PlaitTable *table, PlaitTerminal *terminal);
