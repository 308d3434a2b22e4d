/* SPDX-License-Identifier: MIT */
#pragma once

#include "files/key-file.h"

/*
 * Several errors in one: a reader of a file that is wrong in five places says so five times at once, not one at a time.
 */
typedef struct PlaitProblems PlaitProblems;

/* One of them. */
typedef struct
{
  const char *location; /* "FILE:LINE", or what else said it; NULL: the sentence has it */
  guint line;           /* of the file; 0: it is on no line */
  const char *group;    /* of a key-file; NULL: the sentence has it */
  const char *key;      /* NULL: the group itself */
  const char *sentence;
} PlaitProblem;

/* An empty list. (transfer full) */
PlaitProblems *plait_problems_new (void);
void plait_problems_free (PlaitProblems *problems);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitProblems, plait_problems_free)

/* Adds one sentence, with printf formatting. */
void plait_problems_add (PlaitProblems *problems, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* Adds a copy of @problem, told as "PLACE: [group] key: SENTENCE". */
void plait_problems_add_at (PlaitProblems *problems, const PlaitProblem *problem);

/* The same of [@group] @key of @file, at its line, with printf formatting. */
void plait_problems_add_key (PlaitProblems *problems, const PlaitKeyFile *file, const char *group, const char *key,
                             const char *format, ...) G_GNUC_PRINTF (5, 6);
void plait_problems_add_key_va (PlaitProblems *problems, const PlaitKeyFile *file, const char *group, const char *key,
                                const char *format, va_list arguments) G_GNUC_PRINTF (5, 0);

/* Adds the message of @error, each line of it, and frees it. */
void plait_problems_add_error (PlaitProblems *problems, GError *error);

guint plait_problems_count (const PlaitProblems *problems);

/* How many are kept, the first hundred, and one of these. (transfer none) */
guint plait_problems_n_listed (const PlaitProblems *problems);
const PlaitProblem *plait_problems_get (const PlaitProblems *problems, guint index);

/* @problem as a line. (transfer full) */
char *plait_problem_text (const PlaitProblem *problem);

/* TRUE if there are none. Otherwise sets *error to @code with all sentences, a line each (the first hundred, and how
 * many more there are), and returns FALSE. The list stays as it is. */
gboolean plait_problems_report (const PlaitProblems *problems, PlaitErrorCode code, GError **error);
