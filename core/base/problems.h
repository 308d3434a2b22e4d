/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/error.h"

/*
 * Several errors in one: a reader of a file that is wrong in five places says so five times at once, not one at a time.
 */
typedef struct PlaitProblems PlaitProblems;

/* An empty list. (transfer full) */
PlaitProblems *plait_problems_new (void);
void plait_problems_free (PlaitProblems *problems);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitProblems, plait_problems_free)

/* Adds one sentence, with printf formatting. */
void plait_problems_add (PlaitProblems *problems, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* Adds the message of @error and frees it. */
void plait_problems_take (PlaitProblems *problems, GError *error);

guint plait_problems_count (const PlaitProblems *problems);

/* TRUE if there are none. Otherwise sets *error to @code with all sentences, a line each (the first hundred, and how
 * many more there are), and returns FALSE. The list stays as it is. */
gboolean plait_problems_report (const PlaitProblems *problems, PlaitErrorCode code, GError **error);
