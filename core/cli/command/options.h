/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/pool.h"
#include "command/command.h"
#include "experiment/file.h"
#include "significance/statistics.h"

/*
 * Options that several commands share.
 */

/* Kind of an option's value. The name of the value in --help determines the kind. */
typedef enum
{
  PLAIT_VALUE_OTHER,
  PLAIT_VALUE_PATH,   /* names such as FILE, RUN.h5, NAME=FILE or FOLDER */
  PLAIT_VALUE_CHOICE, /* lists of words such as best|last */
} PlaitValueKind;

PlaitValueKind plait_option_value_kind (const char *name);

/* TRUE if @text is one of @choices, a list such as "best|last|update-N", in which N stands for any integer. */
gboolean plait_option_is_choice (const char *text, const char *choices);

/* Returns the index of @text in @choices, a list such as "text|tsv|json"; 0 if @text is NULL. The caller must have
 * checked that @text is in the list. */
guint plait_option_choice (const char *text, const char *choices);

/* TRUE if @keys allows every key of @sets, the values of --set for a command on a trained run. In @keys, "GROUP.KEY"
 * allows one key, "GROUP." allows all keys of a group, and "-GROUP.KEY" refuses one of these keys. @what describes the
 * allowed keys in the error. */
gboolean plait_option_sets (const PlaitOverride *sets, const char *const *keys, const char *what, GError **error);

/* Makes a row of a table of options: the option's value has the type PLAIT_OPTION_@kind and is stored in @field of the
 * command's struct @Type. The last arguments are the member help of PlaitOption and those after it. PLAIT_OPTION and
 * PLAIT_FLAG are for a struct called Options. */
#define PLAIT_OPTION_OF(Type, name, letter, kind, field, ...)                                                          \
  {                                                                                                                    \
    name, letter, PLAIT_OPTION_##kind, offsetof (Type, field), __VA_ARGS__                                             \
  }
#define PLAIT_OPTION(name, letter, kind, field, ...) PLAIT_OPTION_OF (Options, name, letter, kind, field, __VA_ARGS__)
#define PLAIT_FLAG(name, letter, field, help) PLAIT_OPTION (name, letter, FLAG, field, help, NULL)

/* Rows of option tables that several commands have. */
#define PLAIT_OPTION_FORCE(Type)                                                                                       \
  PLAIT_OPTION_OF (Type, "force", 0, FLAG, force, "Replace existing files instead of failing", NULL)
#define PLAIT_OPTION_UNSET(Type, sets)                                                                                 \
  PLAIT_OPTION_OF (Type, "unset", 0, UNSETS, sets, "Remove a key of the file, such as train.initialise", "G.K")
#define PLAIT_OPTION_THREADS(Type)                                                                                     \
  PLAIT_OPTION_OF (Type, "threads", 't', INTEGER, threads, "Number of threads; default: the number of processors",     \
                   "N", 0, PLAIT_POOL_MAX_THREADS)
#define PLAIT_OPTION_JSON(Type) PLAIT_OPTION_OF (Type, "json", 0, FLAG, json, "Print JSON", NULL)
/* Names of checkpoints, a list for plait_option_is_choice. */
#define PLAIT_OPTION_CHECKPOINTS "best|last|average|update-N"
#define PLAIT_OPTION_CHECKPOINT(Type)                                                                                  \
  PLAIT_OPTION_OF (Type, "checkpoint", 'c', TEXT, checkpoint, "Parameters to use; default: best, else last",           \
                   PLAIT_OPTION_CHECKPOINTS)
#define PLAIT_OPTION_CHANGED_PLUGINS(Type)                                                                             \
  PLAIT_OPTION_OF (                                                                                                    \
      Type, "changed-plugins", 0, FLAG, changed,                                                                       \
      "Accept plugins that changed since training, with a warning; without this option they are an error", NULL)
/* Returns the value that --set gave to @key last; NULL without --set, or if --unset came later. (transfer none) */
const char *plait_option_set_value (const PlaitOverride *sets, const char *key);

/* Values of the option --test, which is a PLAIT_OPTION_CHOICE; and the row of the option --trials for a table of
 * options. */
#define PLAIT_OPTION_TESTS "permutation|bootstrap|none"
#define PLAIT_OPTION_TRIALS(Type)                                                                                      \
  PLAIT_OPTION_OF (Type, "trials", 0, INTEGER, trials,                                                                 \
                   "Number of shuffles (default: 10000) or resamples (default: 1000) of the test", "N", 1,             \
                   PLAIT_MAX_TRIALS)

/* The row of the option --margin, which tests equivalence (significance/equivalence.h). */
#define PLAIT_OPTION_MARGIN(Type)                                                                                      \
  PLAIT_OPTION_OF (Type, "margin", 0, REAL, margin, "Also test whether scores are within X of the first run", "X",     \
                   1e-9, 1e9)

/* Sets *@test to the test at index @choice of PLAIT_OPTION_TESTS. "none" sets the permutation test and returns FALSE.
 * If *@trials is 0, sets it to the default number for *@test. */
gboolean plait_option_test (guint choice, PlaitTest *test, gint64 *trials);
