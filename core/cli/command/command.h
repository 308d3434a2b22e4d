/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/error.h"
#include "text/log.h"

/*
 * The command line: plait COMMAND [OPTION...] [ARGUMENT...].
 *
 * Each command has one PlaitCommand: its help, a table of its options and its function. PLAIT_COMMANDS lists the
 * commands. Results go to stdout (through stdio, never through g_print, which would convert to the locale's encoding),
 * everything else to the log on stderr.
 */
typedef struct PlaitCommand PlaitCommand;
typedef struct PlaitInvocation PlaitInvocation;

/* Type of an option's value, which determines the type of its field in the command's struct. */
typedef enum
{
  PLAIT_OPTION_FLAG,    /* gboolean: TRUE if the option is given */
  PLAIT_OPTION_TEXT,    /* const char *: the bytes of the value; NULL if the option is not given */
  PLAIT_OPTION_TEXTS,   /* const char **: values of an option that may be repeated, NULL-terminated; NULL if it is not
                           given */
  PLAIT_OPTION_SETS,    /* PlaitOverride *: values of --set, then a NULL key; NULL without --set and --unset */
  PLAIT_OPTION_UNSETS,  /* PlaitOverride *: keys of --unset, with NULL values; uses the array of PLAIT_OPTION_SETS */
  PLAIT_OPTION_INTEGER, /* gint64: an integer */
  PLAIT_OPTION_REAL,    /* double: a real number */
  PLAIT_OPTION_CHOICE,  /* guint: index of the value in the option's list of words, such as "text|tsv|json" */
} PlaitOptionKind;

/* A row of a table of options. A row whose name is NULL ends the table. */
typedef struct
{
  const char *name; /* long name without dashes, such as "output" */
  char letter;      /* short name, such as 'o'; 0: none */
  PlaitOptionKind kind;
  gsize field;       /* offset of the option's field in the command's struct */
  const char *help;  /* description in --help */
  const char *value; /* name of the value in --help, such as "FILE" or "best|last" (options.h); NULL for a flag */
  double min, max;   /* smallest and largest allowed value, if the value is a number */
} PlaitOption;

struct PlaitCommand
{
  const char *name;
  const char *synopsis; /* arguments after the command's name: "FILE [--set G.K=V]..." */
  const char *summary;  /* description in one line */
  const char *details;  /* paragraphs and examples that --help prints below the options, or NULL */

  const PlaitOption *options; /* the command's own options, or NULL */
  gsize size;                 /* size in bytes of the struct that the options fill */
  gconstpointer defaults;     /* values of the struct before options are read; NULL: zeros */
  int min, max;               /* smallest and largest number of arguments; max negative: any number */
  gboolean several;           /* TRUE if mpirun may start the command as several processes */

  /* Runs the command. If it fails, the code of *error determines the exit code. */
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
  PlaitLog *log; /* log of the command; NULL until the options are read */
};

/* Reads the options and arguments in @words, the NULL-terminated words after the command's name, into @invocation. With
 * --help, sets the help flag and checks neither values nor argument count. Wrong usage gives PLAIT_ERROR_INPUT. */
gboolean plait_invocation_parse (PlaitInvocation *invocation, const PlaitCommand *command, char *const *words,
                                 GError **error);
void plait_invocation_clear (PlaitInvocation *invocation);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (PlaitInvocation, plait_invocation_clear)

/* Returns option @i of @command. The command's own options come first, then --quiet and --help; NULL after the last. */
const PlaitOption *plait_command_option (const PlaitCommand *command, guint i);

/* Prints the text of plait COMMAND --help. */
void plait_command_print_help (const PlaitCommand *command);

/* Calls the macro @each (NAME) for every plait_command_NAME, in the order of the help text. */
#define PLAIT_COMMANDS(each)                                                                                           \
  each (run) each (grid) each (test) each (translate) each (score) each (encode) each (export) each (average)          \
      each (evaluate) each (compare) each (adversarial) each (report) each (plot) each (show) each (reproduce)         \
          each (verify) each (generate) each (vocabulary) each (trees) each (parse) each (plugins) each (inspect)      \
              each (explain) each (new) each (check)

#define PLAIT_DECLARE(name) extern const PlaitCommand plait_command_##name;
PLAIT_COMMANDS (PLAIT_DECLARE)

/* Pointers to all commands; NULL-terminated. */
extern const PlaitCommand *const plait_commands[];
