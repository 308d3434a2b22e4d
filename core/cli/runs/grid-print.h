/* SPDX-License-Identifier: MIT */
#pragma once

#include "grid/table.h"

/* Prints the table of @grid's cells on stdout, as text or as JSON with all numbers. */
void plait_grid_print (const PlaitGrid *grid, const PlaitGridTable *table, gboolean as_json);
