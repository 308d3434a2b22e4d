/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/error.h"
#include "text/log.h"

/*
 * The command line: plait COMMAND [OPTION...] [ARGUMENT...].
 *
 * A command is a row of the table in commands.c and a function in a file of its own. Results go to stdout (through
 * stdio, never through g_print, which would convert to the locale's encoding), everything else to the log on stderr.
 */
typedef struct PlaitCommand PlaitCommand;
typedef struct PlaitInvocation PlaitInvocation;

struct PlaitCommand
{
  const char *name;
  const char *synopsis; /* what follows the name: "FILE [--set G.K=V]..." */
  const char *summary;  /* one line */
  const char *details;  /* paragraphs below the options of its --help, or NULL */

  /* Begins with plait_invocation_parse. The code of *error becomes the exit code. FALSE without an error is a quiet end
   * with exit code 0. */
  gboolean (*run) (PlaitInvocation *invocation, GError **error);
};

/* Told what a command takes: its own options and then those of all commands, ended by a row without a name. */
typedef void (*PlaitDescribe) (const PlaitCommand *command, const GOptionEntry *options);

/* One call of a command. */
struct PlaitInvocation
{
  const PlaitCommand *command;
  char **arguments;       /* after plait_invocation_parse: what is neither an option nor its value; NULL-terminated */
  GPtrArray *values;      /* what was given to options, which point into it; owned */
  char *line;             /* the whole command line as typed, quoted for a shell, to be stored in runs */
  PlaitDescribe describe; /* not NULL: plait_invocation_parse calls it and ends there, quietly */
  gboolean quiet;         /* after plait_invocation_parse: --quiet */
  PlaitLog *log;          /* made by plait_invocation_parse, which knows --quiet; says nothing before */
};

/*
 * Takes @entries (NULL-terminated, or NULL for none), --quiet and --help out of the arguments, of which @least to @most
 * (negative: any number) must be left. FALSE with PLAIT_ERROR_INPUT on bad usage, FALSE without an error after --help
 * was shown.
 *
 * Values stay with @invocation. One of an option that --help describes by its choices, "best|last", is one of these.
 *
 * Texts are G_OPTION_ARG_FILENAME or G_OPTION_ARG_FILENAME_ARRAY (bytes as given), because G_OPTION_ARG_STRING depends
 * on the locale; so do reals, which are taken as texts and read with plait_parse_double.
 */
gboolean plait_invocation_parse (PlaitInvocation *invocation, const GOptionEntry *entries, int least, int most,
                                 GError **error);

/* All commands, in the order of the help text; the last has no name. */
extern const PlaitCommand plait_commands[];

gboolean plait_command_run (PlaitInvocation *invocation, GError **error);
gboolean plait_command_grid (PlaitInvocation *invocation, GError **error);
gboolean plait_command_test (PlaitInvocation *invocation, GError **error);
gboolean plait_command_translate (PlaitInvocation *invocation, GError **error);
gboolean plait_command_score (PlaitInvocation *invocation, GError **error);
gboolean plait_command_explain (PlaitInvocation *invocation, GError **error);
gboolean plait_command_export (PlaitInvocation *invocation, GError **error);
gboolean plait_command_adversarial (PlaitInvocation *invocation, GError **error);
gboolean plait_command_plugins (PlaitInvocation *invocation, GError **error);
gboolean plait_command_inspect (PlaitInvocation *invocation, GError **error);
gboolean plait_command_check (PlaitInvocation *invocation, GError **error);
gboolean plait_command_new (PlaitInvocation *invocation, GError **error);
gboolean plait_command_evaluate (PlaitInvocation *invocation, GError **error);
gboolean plait_command_show (PlaitInvocation *invocation, GError **error);
gboolean plait_command_reproduce (PlaitInvocation *invocation, GError **error);
gboolean plait_command_verify (PlaitInvocation *invocation, GError **error);
gboolean plait_command_generate (PlaitInvocation *invocation, GError **error);
gboolean plait_command_baseline (PlaitInvocation *invocation, GError **error);
gboolean plait_command_parse (PlaitInvocation *invocation, GError **error);
gboolean plait_command_trees (PlaitInvocation *invocation, GError **error);
gboolean plait_command_vocabulary (PlaitInvocation *invocation, GError **error);
gboolean plait_command_compare (PlaitInvocation *invocation, GError **error);
gboolean plait_command_plot (PlaitInvocation *invocation, GError **error);
gboolean plait_command_report (PlaitInvocation *invocation, GError **error);
