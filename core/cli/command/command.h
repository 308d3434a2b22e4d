/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/error.h"
#include "text/log.h"

/*
 * The command line: plait COMMAND [OPTION...] [ARGUMENT...].
 *
 * Each command is one file with one PlaitCommand: its help, a table of its options and its function. PLAIT_COMMANDS
 * lists the commands. Results go to stdout (through stdio, never through g_print, which would convert to the locale's
 * encoding), everything else to the log on stderr.
 */
typedef struct PlaitCommand PlaitCommand;
typedef struct PlaitInvocation PlaitInvocation;

/* Type of an option's value, and so of its field in the command's struct. */
typedef enum
{
  PLAIT_OPTION_FLAG,    /* the field is a gboolean */
  PLAIT_OPTION_TEXT,    /* const char *: bytes as given; NULL if not given */
  PLAIT_OPTION_TEXTS,   /* const char **: the option may be repeated; NULL-terminated, or NULL if not given */
  PLAIT_OPTION_UNSETS,  /* --unset, which shares the field of --set: appends its value after PLAIT_EXPERIMENT_UNSET */
  PLAIT_OPTION_INTEGER, /* the field is a gint64 */
  PLAIT_OPTION_REAL,    /* the field is a double */
  PLAIT_OPTION_CHOICE,  /* the field is a guint: index of the given word in the option's list of words, "text|tsv|json"
                         */
} PlaitOptionKind;

/* A row of a table of options; a row whose name is NULL ends the table. */
typedef struct
{
  const char *name; /* long name without dashes, such as "output" */
  char letter;      /* short name, such as 'o', or 0 */
  PlaitOptionKind kind;
  gsize field;       /* offset in the command's struct */
  const char *help;  /* description in --help */
  const char *value; /* name of its value in --help: "FILE", "best|last" (options.h); NULL for a flag */
  double min, max;   /* limits of a number */
} PlaitOption;

struct PlaitCommand
{
  const char *name;
  const char *synopsis; /* arguments after the name: "FILE [--set G.K=V]..." */
  const char *summary;  /* one line */
  const char *details;  /* paragraphs and examples below the options of its --help, or NULL */

  const PlaitOption *options; /* the command's own options, or NULL */
  gsize size;                 /* bytes of the struct that the options fill */
  gconstpointer defaults;     /* values of that struct before options are read; NULL: zeros */
  int min, max;               /* limits of the number of arguments; a negative max: any number */
  gboolean several;           /* TRUE if mpirun may start several processes of the command */

  /* Runs the command. The code of *error determines the exit code. */
  gboolean (*run) (PlaitInvocation *invocation, GError **error);
};

/* One call of a command. */
struct PlaitInvocation
{
  const PlaitCommand *command;
  char **arguments;  /* words that are neither an option nor its value; NULL-terminated */
  gpointer options;  /* the command's struct, filled from the options */
  GPtrArray *values; /* owns the strings that options points to */
  char *line;        /* command line as typed, quoted for a shell; runs store it */
  gboolean quiet;
  gboolean help;
  PlaitLog *log; /* NULL until the options are read */
};

/* Reads @words, the NULL-terminated words after the command's name, into @invocation. With --help only the help flag is
 * set and nothing else is checked. Otherwise bad usage gives PLAIT_ERROR_INPUT. */
gboolean plait_invocation_parse (PlaitInvocation *invocation, const PlaitCommand *command, char *const *words,
                                 GError **error);
void plait_invocation_clear (PlaitInvocation *invocation);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (PlaitInvocation, plait_invocation_clear)

/* Returns option @i of @command: its own options come first, then --quiet and --help; NULL after the last. */
const PlaitOption *plait_command_option (const PlaitCommand *command, guint i);

/* Prints the text of plait COMMAND --help. */
void plait_command_print_help (const PlaitCommand *command);

/* The commands in the order of the help text: calls @each (NAME), a macro, for plait_command_NAME. */
#define PLAIT_COMMANDS(each)                                                                                           \
  each (run) each (grid) each (test) each (translate) each (score) each (encode) each (export) each (average)          \
      each (evaluate) each (compare) each (adversarial) each (report) each (plot) each (show) each (reproduce)         \
          each (verify) each (generate) each (vocabulary) each (trees) each (parse) each (plugins) each (inspect)      \
              each (explain) each (new) each (check)

#define PLAIT_DECLARE(name) extern const PlaitCommand plait_command_##name;
PLAIT_COMMANDS (PLAIT_DECLARE)

/* Pointers to all commands; NULL-terminated. */
extern const PlaitCommand *const plait_commands[];
