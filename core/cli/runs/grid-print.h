/* SPDX-License-Identifier: MIT */
#pragma once

#include "grid/table.h"

/* Prints the table of @grid's cells on stdout: what plait grid ends with, and plait test of a grid. As JSON it has all
 * numbers, by its columns. */
void plait_grid_print (const PlaitGrid *grid, const PlaitGridTable *table, gboolean as_json);
