/* SPDX-License-Identifier: MIT */
#pragma once

#include "comparison/systems.h"

/* The runs, scores and names of rows that a comparison shows. Lists are separated by ';'; NULL: all. */
typedef struct
{
  const char *runs;    /* patterns of names of runs, with * and ? */
  const char *metrics; /* names of score columns, such as "BLEU", or metrics, such as "bleu" */
  const char *names;   /* names of the rows, in order */
} PlaitComparisonChoice;

/* Removes the runs whose names match no pattern of @choice. FALSE if a pattern matches no run. */
gboolean plait_choice_take_runs (const PlaitComparisonChoice *choice, GPtrArray *runs, GError **error);

/* Removes the score columns that @choice does not name. FALSE if a name is no column. */
gboolean plait_choice_take_columns (const PlaitComparisonChoice *choice, GArray *columns, GError **error);

/* Names @systems, and runs that are the only ones of their systems, by @choice. FALSE if the number of names is
 * wrong, or two are equal. */
gboolean plait_choice_name_systems (const PlaitComparisonChoice *choice, GArray *systems, const GPtrArray *runs,
                                    GError **error);
