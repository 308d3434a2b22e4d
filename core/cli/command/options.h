/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/pool.h"
#include "command/command.h"
#include "significance/statistics.h"

/*
 * Options that several commands share.
 */

/* Kind of an option's value, recognised by the name that --help gives the value. */
typedef enum
{
  PLAIT_VALUE_OTHER,
  PLAIT_VALUE_PATH,   /* FILE, RUN.h5, NAME=FILE, FOLDER */
  PLAIT_VALUE_CHOICE, /* best|last */
} PlaitValueKind;

PlaitValueKind plait_option_value_kind (const char *name);

/* TRUE if @text is one of @choices, a list such as "best|last|update-N"; N stands for a number. */
gboolean plait_option_is_choice (const char *text, const char *choices);

/* Returns the index of @text in @choices, a list such as "text|tsv|json"; 0 if @text is NULL. The parser has checked
 * that @text is in the list. */
guint plait_option_choice (const char *text, const char *choices);

/* Checks the values of --set for a command on a trained run: TRUE if each of @sets (NULL-terminated, or NULL) begins
 * with one of @beginnings, such as "GROUP." or "GROUP.KEY=". A beginning after "-" is refused even if another one
 * matches. @what names the allowed keys in the error. */
gboolean plait_option_sets (const char *const *sets, const char *const *beginnings, const char *what, GError **error);

/* Rows for tables of options. The command's struct @Type must have the field that a row names. */
#define PLAIT_OPTION_FORCE(Type)                                                                                       \
  {                                                                                                                    \
    "force", 0, PLAIT_OPTION_FLAG, offsetof (Type, force), "Replace files that exist; without it they are refused"     \
  }
#define PLAIT_OPTION_UNSET(Type, sets)                                                                                 \
  {                                                                                                                    \
    "unset", 0, PLAIT_OPTION_UNSETS, offsetof (Type, sets), "Remove a key of the file, such as train.initialise",      \
        "G.K"                                                                                                          \
  }
#define PLAIT_OPTION_THREADS(Type)                                                                                     \
  {                                                                                                                    \
    "threads", 't', PLAIT_OPTION_INTEGER, offsetof (Type, threads),                                                    \
        "Number of threads; default: the number of processors", "N", 0, PLAIT_POOL_MAX_THREADS                         \
  }
#define PLAIT_OPTION_JSON(Type)                                                                                        \
  {                                                                                                                    \
    "json", 0, PLAIT_OPTION_FLAG, offsetof (Type, json), "Print JSON"                                                  \
  }
/* Names of checkpoints, a list for plait_option_is_choice. */
#define PLAIT_OPTION_CHECKPOINTS "best|last|average|update-N"
#define PLAIT_OPTION_CHECKPOINT(Type)                                                                                  \
  {                                                                                                                    \
    "checkpoint", 'c', PLAIT_OPTION_TEXT, offsetof (Type, checkpoint), "Parameters to use; default: best",             \
        PLAIT_OPTION_CHECKPOINTS                                                                                       \
  }
#define PLAIT_OPTION_CHANGED_PLUGINS(Type)                                                                             \
  {                                                                                                                    \
    "changed-plugins", 0, PLAIT_OPTION_FLAG, offsetof (Type, changed),                                                 \
        "Accept plugins that have changed since training, with a warning; without it they are refused"                 \
  }
/* Returns the last value that --set gave to @key, or NULL. (transfer none) */
const char *plait_option_set_value (const char *const *sets, const char *key);

/* Values of the option --test, a PLAIT_OPTION_CHOICE; and the row of the option --trials for a table of options. */
#define PLAIT_OPTION_TESTS "permutation|bootstrap|none"
#define PLAIT_OPTION_TRIALS(Type)                                                                                      \
  {                                                                                                                    \
    "trials", 0, PLAIT_OPTION_INTEGER, offsetof (Type, trials), "Shuffles (10000) or resamples (1000) of the test",    \
        "N", 1, PLAIT_MAX_TRIALS                                                                                       \
  }

/* Translates the index @choice of --test into *@test. FALSE for "none". If *@trials is 0, it becomes the default number
 * for that test. */
gboolean plait_option_test (guint choice, PlaitTest *test, gint64 *trials);
