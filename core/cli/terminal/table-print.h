/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/table.h"
#include "terminal/terminal.h"

/* Prints @table below its title, if it has one, indented by two, columns aligned by what the terminal shows, then
 * its notes. On a terminal text is cut until the table fits; columns that still do not fit follow below, beside the
 * first one again. */
void plait_table_print (const PlaitTable *table, PlaitTerminal *terminal);
