/* SPDX-License-Identifier: MIT */
#pragma once

#include "significance/statistics.h"

/*
 * What several commands take as options.
 */

/* What the value of an option may be, by the name that --help gives it. */
typedef enum
{
  PLAIT_VALUE_OTHER,
  PLAIT_VALUE_FILE,   /* FILE, RUN.h5, NAME=FILE */
  PLAIT_VALUE_FOLDER, /* FOLDER */
  PLAIT_VALUE_KEY,    /* G.K=V */
  PLAIT_VALUE_PLUGIN,
  PLAIT_VALUE_CHOICE, /* best|last */
} PlaitValueKind;

PlaitValueKind plait_option_value_kind (const char *name);

/* Reads the value @text of @option ("--seed") in @minimum .. @maximum. NULL leaves *@value as it is. */
gboolean plait_option_integer (const char *option, const char *text, gint64 minimum, gint64 maximum, gint64 *value,
                               GError **error);

/* The same of a real number. */
gboolean plait_option_real (const char *option, const char *text, double minimum, double maximum, double *value,
                            GError **error);

/* Which of @choices, "text|tsv|json", @text is, which the parser has seen to be one; 0 for NULL. */
guint plait_option_choice (const char *text, const char *choices);

/* Reads the value of --threads; 0 is as many as there are processors. */
gboolean plait_option_threads (const char *text, guint *threads, GError **error);

/* Whether each of @sets (NULL-terminated, or NULL), the values of --set, has one of @beginnings, "GROUP." or
 * "GROUP.KEY=": what changes what the command does with a run that is trained; @what those are for people. Those behind
 * "-" are refused, whatever else they begin with. */
gboolean plait_option_sets (const char *const *sets, const char *const *beginnings, const char *what, GError **error);

/* The row of an option table. */
#define PLAIT_OPTION_CHANGED_PLUGINS(changed)                                                                          \
  {                                                                                                                    \
    "changed-plugins", 0, 0, G_OPTION_ARG_NONE, &(changed),                                                            \
        "Compute with plugins that have changed since training, after a warning; else they are refused", NULL          \
  }

/* The value that --set gave to @key last, or NULL. (transfer none) */
const char *plait_option_set_value (const char *const *sets, const char *key);

/* What --test takes; @text is the test then, or, for "none", *@tested becomes FALSE. *@trials is what --trials says,
 * @trials_text, or as many as are usual for the test. */
#define PLAIT_OPTION_TESTS "permutation|bootstrap|none"
gboolean plait_option_test (const char *text, const char *trials_text, gboolean *tested, PlaitTest *test,
                            gint64 *trials, GError **error);
