/* SPDX-License-Identifier: MIT */
#pragma once

#include "grid/table.h"

/* Prints the scores of the finished run @path on stdout, as a table or as JSON. */
gboolean plait_run_print_scores (const char *path, gboolean as_json, GError **error);

/* Prints the table of @grid's cells on stdout, as text or as JSON with all numbers. */
void plait_grid_print (const PlaitGrid *grid, const PlaitGridTable *table, gboolean as_json);
