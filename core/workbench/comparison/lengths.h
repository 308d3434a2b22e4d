/* SPDX-License-Identifier: MIT */
#pragma once

#include "comparison/comparison.h"
#include "text/json.h"
#include "scoring/length-table.h"

/*
 * Scores by the length of the source as tables: a row a bin, a column a system.
 */

/* Makes the table of the metric @metric, which people call @name, of @systems (NULL-terminated), each of which has
 * @rows (element-type PlaitLengthRow, of any metrics; NULL: none). A cell is "34.50 [33.30, 35.70]", "–" for an empty
 * bin, and has the number of sentences after it where that is not the first system's. @split is for the title, or
 * NULL. (transfer full) */
PlaitTable *plait_length_table_new (const char *split, const char *metric, const char *name, const char *const *systems,
                                    GArray *const *rows);

/* Makes the tables of all splits and metrics that any of the runs has. (transfer full) (element-type PlaitTable) */
GPtrArray *plait_length_tables_of_runs (const PlaitRunComparison *comparison, GError **error);

/* Adds the rows of @run as the array "length_bins" to the JSON object that is open; nothing if it has none. */
gboolean plait_lengths_add_json (const PlaitRunFile *run, PlaitJson *json, GError **error);

/* The same of one system and metric: the objects of an array that is open. */
void plait_length_row_add_json (const PlaitLengthRow *row, const char *split, PlaitJson *json);
