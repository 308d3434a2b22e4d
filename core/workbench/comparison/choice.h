/* SPDX-License-Identifier: MIT */
#pragma once

#include "comparison/systems.h"

/* The user's selection of what a comparison shows. Each text is a list separated by ';'; NULL: everything. */
typedef struct
{
  const char *runs;    /* patterns for the names of the runs to show, with * and ? */
  const char *metrics; /* score columns to show: their names, such as "BLEU", or metrics, such as "bleu" */
  const char *names;   /* new names of the rows, in order; NULL: rows keep their names */
} PlaitComparisonChoice;

/* Removes the runs whose names match no pattern of @choice. FALSE with an error if a pattern matches no run. */
gboolean plait_choice_take_runs (const PlaitComparisonChoice *choice, GPtrArray *runs, GError **error);

/* Removes the score columns that @choice does not name. FALSE with an error if a name matches no column. */
gboolean plait_choice_take_columns (const PlaitComparisonChoice *choice, GArray *columns, GError **error);

/* Renames @systems by choice->names. If a system is a single run, renames the run too. FALSE with an error if the
 * number of names is wrong, or a name is empty, repeated or not UTF-8. */
gboolean plait_choice_name_systems (const PlaitComparisonChoice *choice, GArray *systems, const GPtrArray *runs,
                                    GError **error);
