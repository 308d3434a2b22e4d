/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/pool.h"
#include "command/command.h"
#include "significance/statistics.h"

/*
 * Options that several commands share.
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

/* TRUE if each of @sets (NULL-terminated, or NULL), the values of --set, has one of @beginnings, "GROUP." or
 * "GROUP.KEY=": what changes what the command does with a run that is trained; @what those are for people. Those behind
 * "-" are refused, whatever else they begin with. */
gboolean plait_option_sets (const char *const *sets, const char *const *beginnings, const char *what, GError **error);

/* Rows of option tables; the command's struct @Type has the fields that they name. */
#define PLAIT_OPTION_FORCE(Type)                                                                                       \
  {                                                                                                                    \
    "force", 0, PLAIT_OPTION_FLAG, offsetof (Type, force), "Replace what is there; else a file that exists is refused" \
  }
#define PLAIT_OPTION_THREADS(Type)                                                                                     \
  {                                                                                                                    \
    "threads", 't', PLAIT_OPTION_INTEGER, offsetof (Type, threads), "Threads; else as many as there are processors",   \
        "N", 0, PLAIT_POOL_MAX_THREADS                                                                                 \
  }
#define PLAIT_OPTION_JSON(Type)                                                                                        \
  {                                                                                                                    \
    "json", 0, PLAIT_OPTION_FLAG, offsetof (Type, json), "Print JSON"                                                  \
  }
#define PLAIT_OPTION_CHECKPOINT(Type)                                                                                  \
  {                                                                                                                    \
    "checkpoint", 'c', PLAIT_OPTION_TEXT, offsetof (Type, checkpoint), "Of these parameters; best unless told",        \
        "best|last|average"                                                                                            \
  }
#define PLAIT_OPTION_CHANGED_PLUGINS(Type)                                                                             \
  {                                                                                                                    \
    "changed-plugins", 0, PLAIT_OPTION_FLAG, offsetof (Type, changed),                                                 \
        "Compute with plugins that have changed since training, after a warning; else they are refused"                \
  }
/* The value that --set gave to @key last, or NULL. (transfer none) */
const char *plait_option_set_value (const char *const *sets, const char *key);

/* The value of --test, a PLAIT_OPTION_CHOICE, and its row of --trials. */
#define PLAIT_OPTION_TESTS "permutation|bootstrap|none"
#define PLAIT_OPTION_TRIALS(Type)                                                                                      \
  {                                                                                                                    \
    "trials", 0, PLAIT_OPTION_INTEGER, offsetof (Type, trials), "Shuffles (10000) or resamples (1000) of the test",    \
        "N", 1, PLAIT_MAX_TRIALS                                                                                       \
  }

/* What --test asks for: FALSE for none, else *@test, and in *@trials, if that is 0, as many as are usual. */
gboolean plait_option_test (guint choice, PlaitTest *test, gint64 *trials);
