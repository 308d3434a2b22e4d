/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/error.h"
#include "text/log.h"

/*
 * The command line: plait COMMAND [OPTION...] [ARGUMENT...].
 *
 * A command is a file of its own with one PlaitCommand: what its help says, a table of its options, and what it does.
 * commands.c lists the commands. Results go to stdout (through stdio, never through g_print, which would convert to the
 * locale's encoding), everything else to the log on stderr.
 */
typedef struct PlaitCommand PlaitCommand;
typedef struct PlaitInvocation PlaitInvocation;

/* How an option is read, and the type of its field in the command's struct. */
typedef enum
{
  PLAIT_OPTION_FLAG,    /* gboolean */
  PLAIT_OPTION_TEXT,    /* const char *: bytes as given; NULL if not given */
  PLAIT_OPTION_TEXTS,   /* const char **: the option may be repeated; NULL-terminated, or NULL if not given */
  PLAIT_OPTION_INTEGER, /* gint64 */
  PLAIT_OPTION_REAL,    /* double */
  PLAIT_OPTION_CHOICE,  /* guint: which of the words in its value, "text|tsv|json" */
} PlaitOptionKind;

/* A row of a table of options; the last has no name. */
typedef struct
{
  const char *name; /* "output" */
  char letter;      /* 'o', or 0 */
  PlaitOptionKind kind;
  gsize field;       /* offset in the command's struct */
  const char *help;  /* what --help says of it */
  const char *value; /* what --help calls its value: "FILE", "best|last"; NULL of a flag. See plait_option_value_kind */
  double min, max;   /* of a number */
} PlaitOption;

struct PlaitCommand
{
  const char *name;
  const char *synopsis; /* what follows the name: "FILE [--set G.K=V]..." */
  const char *summary;  /* one line */
  const char *details;  /* paragraphs and examples below the options of its --help, or NULL */

  const PlaitOption *options; /* NULL: none but those of all commands */
  gsize size;                 /* bytes of the struct that options fill */
  gconstpointer defaults;     /* its values before; NULL: zeros */
  int min, max;               /* how many arguments; negative: any number */
  gboolean several;           /* mpirun may start several processes of it */

  /* The code of *error becomes the exit code. */
  gboolean (*run) (PlaitInvocation *invocation, GError **error);
};

/* One call of a command. */
struct PlaitInvocation
{
  const PlaitCommand *command;
  char **arguments;  /* what is neither an option nor its value; NULL-terminated */
  gpointer options;  /* the command's struct, filled */
  GPtrArray *values; /* the texts in options; owned */
  char *line;        /* the whole command line as typed, quoted for a shell, to be stored in runs */
  gboolean quiet;    /* --quiet */
  gboolean help;     /* --help */
  PlaitLog *log;     /* knows --quiet */
};

/* Reads @words, the NULL-terminated rest of a command line, into a call of @command. Without PLAIT_ERROR_INPUT on bad
 * usage the call either has help, and nothing else is looked at, or can be run. */
gboolean plait_invocation_parse (PlaitInvocation *invocation, const PlaitCommand *command, char *const *words,
                                 GError **error);
void plait_invocation_clear (PlaitInvocation *invocation);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (PlaitInvocation, plait_invocation_clear)

/* Returns option @i of @command: its own, then those of all commands; NULL after the last. */
const PlaitOption *plait_command_option (const PlaitCommand *command, guint i);

/* Prints what plait COMMAND --help says. */
void plait_command_print_help (const PlaitCommand *command);

/* All commands, in the order of the help text; NULL-terminated. */
extern const PlaitCommand *const plait_commands[];

extern const PlaitCommand plait_command_run;
extern const PlaitCommand plait_command_grid;
extern const PlaitCommand plait_command_test;
extern const PlaitCommand plait_command_translate;
extern const PlaitCommand plait_command_score;
extern const PlaitCommand plait_command_explain;
extern const PlaitCommand plait_command_export;
extern const PlaitCommand plait_command_adversarial;
extern const PlaitCommand plait_command_plugins;
extern const PlaitCommand plait_command_inspect;
extern const PlaitCommand plait_command_check;
extern const PlaitCommand plait_command_new;
extern const PlaitCommand plait_command_evaluate;
extern const PlaitCommand plait_command_show;
extern const PlaitCommand plait_command_reproduce;
extern const PlaitCommand plait_command_verify;
extern const PlaitCommand plait_command_generate;
extern const PlaitCommand plait_command_baseline;
extern const PlaitCommand plait_command_parse;
extern const PlaitCommand plait_command_trees;
extern const PlaitCommand plait_command_vocabulary;
extern const PlaitCommand plait_command_compare;
extern const PlaitCommand plait_command_plot;
extern const PlaitCommand plait_command_report;
