/* SPDX-License-Identifier: MIT */
#pragma once

#include "comparison/comparison.h"
#include "text/json.h"
#include "scoring/length-table.h"

/* Scores by length of the source sentence, as tables with a row for each bin of lengths and a column for each
 * system. */

/* Makes the table of the scores of @metric, shown as @name. @systems are the names of the systems (NULL-terminated),
 * @rows the rows of each system (element-type PlaitLengthRow, of any metrics; or NULL). A cell is "34.50 [33.30,
 * 35.70]", or "–" for an empty bin. The column Sentences counts the sentences of the first system with the bin. If a
 * system has another number of sentences in the bin, its cell ends with that number: "34.50 (120)". The title names
 * @split, unless it is NULL. (transfer full) */
PlaitTable *plait_length_table_new (const char *split, const char *metric, const char *name, const char *const *systems,
                                    GArray *const *rows);

/* Makes the tables of all splits and metrics of the runs. (transfer full) (element-type PlaitTable) */
GPtrArray *plait_length_tables_of_runs (const PlaitRunComparison *comparison, GError **error);

/* Adds the rows of @run as the array "length_bins" to the open JSON object; adds nothing if there are no rows. */
gboolean plait_lengths_add_json (const PlaitRunFile *run, PlaitJson *json, GError **error);

/* Adds @row as an object to the open JSON array, with its @split unless that is NULL. */
void plait_length_row_add_json (const PlaitLengthRow *row, const char *split, PlaitJson *json);
