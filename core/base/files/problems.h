/* SPDX-License-Identifier: MIT */
#pragma once

#include "files/key-file.h"

/* A list of errors in one file. A reader collects all errors and reports them together. */
typedef struct PlaitProblems PlaitProblems;

/* One error in a file. */
typedef struct
{
  const char *location; /* "FILE:LINE" or another origin, such as an option; NULL if @sentence already names it */
  guint line;           /* line in the file; 0 without a line */
  const char *group;    /* group of a key-file; NULL: no group, or @sentence names the group */
  const char *key;      /* key in @group; NULL: the group itself is at fault */
  const char *sentence;
} PlaitProblem;

/* Returns an empty list. (transfer full) */
PlaitProblems *plait_problems_new (void);
void plait_problems_free (PlaitProblems *problems);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitProblems, plait_problems_free)

/* Adds a problem that is described by one sentence, with printf formatting. */
void plait_problems_add (PlaitProblems *problems, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* Adds a copy of @problem, formatted as "LOCATION: [group] key: SENTENCE". */
void plait_problems_add_at (PlaitProblems *problems, const PlaitProblem *problem);

/* Add a problem of the key @key in the group @group of @file, with the location of the key. If @key is NULL, the group
 * itself is at fault. @format is the sentence, with printf formatting. */
void plait_problems_add_key (PlaitProblems *problems, const PlaitKeyFile *file, const char *group, const char *key,
                             const char *format, ...) G_GNUC_PRINTF (5, 6);
void plait_problems_add_key_va (PlaitProblems *problems, const PlaitKeyFile *file, const char *group, const char *key,
                                const char *format, va_list arguments) G_GNUC_PRINTF (5, 0);

/* Adds each line of the message of @error as one problem, and frees @error. */
void plait_problems_add_error (PlaitProblems *problems, GError *error);

guint plait_problems_count (const PlaitProblems *problems);

/* plait_problems_n_listed returns the number of listed problems. Only the first hundred are listed. plait_problems_get
 * returns the listed problem at @index, counted from 0. (transfer none) */
guint plait_problems_n_listed (const PlaitProblems *problems);
const PlaitProblem *plait_problems_get (const PlaitProblems *problems, guint index);

/* Formats @problem as one line. (transfer full) */
char *plait_problem_text (const PlaitProblem *problem);

/* TRUE if the list is empty. Otherwise sets *error to @code with one line for each of the first hundred problems and
 * the number of further ones, and returns FALSE. The list is not changed. */
gboolean plait_problems_report (const PlaitProblems *problems, PlaitErrorCode code, GError **error);
