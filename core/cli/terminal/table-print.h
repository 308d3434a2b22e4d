/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/table.h"
#include "terminal/terminal.h"

/* Prints the title of @table, then its rows with aligned columns, indented by two, then its notes. On a terminal, cuts
 * text until the table fits. Columns that still do not fit are printed below, with the first column repeated. */
void plait_table_print (const PlaitTable *table, PlaitTerminal *terminal);
