/* SPDX-License-Identifier: MIT */
#include "command/program.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "process/crash.h"
#include "files/input-guard.h"
#include "files/path.h"
#include "command/exit-codes.h"
#include "command/ranks.h"
#include "terminal/terminal.h"

static void
print_usage (FILE *stream)
{
  fprintf (stream, "Usage: %s COMMAND [OPTION...] [ARGUMENT...]\n", g_get_prgname ());
}

static void
print_help (const PlaitProgram *program)
{
  g_autofree char *summary = g_strconcat (program->summary, "\n\nCommands:", NULL);
  g_autofree char *help = g_strconcat (program->help, "\n\nExit codes:", NULL);
  g_autoptr (PlaitTerminal) terminal = plait_terminal_new ();
  guint width = 0;

  for (guint i = 0; program->commands[i]; i++)
    width = MAX (width, (guint)strlen (program->commands[i]->name));
  print_usage (stdout);
  plait_terminal_text (terminal, PLAIT_TERMINAL_PLAIN, "\n");
  plait_terminal_paragraph (terminal, 0, 0, summary);
  for (guint i = 0; program->commands[i]; i++)
    plait_terminal_row (terminal, width, program->commands[i]->name, program->commands[i]->summary);
  plait_terminal_text (terminal, PLAIT_TERMINAL_PLAIN, "\n");
  plait_terminal_paragraph (terminal, 0, 0, help);
  for (const PlaitExitCode *exit = plait_exit_codes; exit->summary; exit++)
    {
      g_autofree char *code = g_strdup_printf ("%d", exit->code);
      g_autofree char *text = g_strconcat (exit->summary, exit->details ? ": " : "", exit->details, NULL);

      plait_terminal_row (terminal, width, code, text);
    }
}

static const PlaitCommand *
find_command (const PlaitProgram *program, const char *name, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_null_terminated (8, NULL, TRUE);

  for (guint i = 0; program->commands[i]; i++)
    {
      if (strcmp (program->commands[i]->name, name) == 0)
        return program->commands[i];
      g_ptr_array_add (names, (gpointer)program->commands[i]->name);
    }
  if (*name == '-')
    return plait_fail_null (
        error, PLAIT_ERROR_INPUT,
        "%s: the command must come before its options: write %s COMMAND [OPTION...]; %s --help lists the commands",
        name, program->name, program->name);
  g_autofree char *otherwise = g_strdup_printf ("%s --help lists the commands", program->name);
  g_autofree char *remedy = plait_name_remedy (name, (const char *const *)names->pdata, otherwise);
  return plait_fail_null (error, PLAIT_ERROR_INPUT, "there is no command \"%s\"; %s", name, remedy);
}

/* Returns the command line quoted for a shell. (transfer full) */
static char *
quoted_line (int argc, char **argv)
{
  g_autoptr (GString) line = g_string_new (g_get_prgname ());

  for (int i = 1; i < argc; i++)
    plait_path_append_quoted (line, argv[i]);
  return g_utf8_make_valid (line->str, -1);
}

static void
run_command (const PlaitCommand *command, int argc, char **argv, PlaitLog **log, GError **error)
{
  g_auto (PlaitInvocation) invocation = { .line = quoted_line (argc, argv) };
  g_autoptr (PlaitRanks) ranks = NULL;

  plait_crash_catch_exit (TRUE);
  if (!plait_invocation_parse (&invocation, command, argv + 2, error))
    {
      if (command->several) /* joining mutes all processes except the first, so that one error is printed */
        plait_ranks_join (&ranks, &invocation, NULL);
    }
  else if (invocation.help)
    plait_command_print_help (command);
  else
    command->run (&invocation, error);
  *log = invocation.log;
}

/* Returns @code; PLAIT_EXIT_FAILED instead of PLAIT_EXIT_DONE if stdout could not be written completely. */
static int
flush_results (PlaitLog *log, int code)
{
  if (fflush (stdout) == 0 && !ferror (stdout))
    return code;
  plait_log_error (log, "standard output cannot be written; free some space, or write elsewhere");
  return code == PLAIT_EXIT_DONE ? PLAIT_EXIT_FAILED : code;
}

/* Handles GLib's fatal log messages, such as failed small allocations: prints an error and exits. By default, GLib
 * would trap and dump core. */
static void
end_in_words (const char *domain, GLogLevelFlags level, const char *message, gpointer data)
{
  if ((level & G_LOG_LEVEL_ERROR) == 0)
    {
      g_log_default_handler (domain, level, message, data);
      return;
    }
  if (plait_crash_get_owner ().who)
    dprintf (STDERR_FILENO, "error: %s, %s: %s\n", plait_crash_get_owner ().who, plait_crash_get_owner ().call,
             message);
  else
    dprintf (STDERR_FILENO, "error: %s cannot continue: %s\n", g_get_prgname (), message);
  _exit (PLAIT_EXIT_FAILED);
}

/* Opens /dev/null in place of each closed standard stream, because otherwise the next opened file would get the
 * stream's number. Reading stdin and writing stdout still fail then, since each is opened for the other direction. What
 * is written to stderr is lost. */
static gboolean
occupy_streams (void)
{
  static const int modes[] = { O_WRONLY, O_RDONLY, O_WRONLY };

  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++)
    if (fcntl (stream, F_GETFD) < 0 && open ("/dev/null", modes[stream]) != stream)
      return FALSE;
  return TRUE;
}

/* Prints the output of "help" and "help WORD". */
static void
print_asked_help (const PlaitProgram *program, const char *word, char **argv, PlaitLog **log, GError **error)
{
  const PlaitCommand *command;

  if (!word)
    print_help (program);
  else if (!(program->print_form && program->print_form (word)) && (command = find_command (program, word, error)))
    run_command (command, 3, (char *[]){ argv[0], argv[2], "--help", NULL }, log, error);
}

int
plait_program_run (const PlaitProgram *program, int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  PlaitLog *log = NULL;
  const PlaitCommand *command;
  int code;

  g_set_prgname (program->name);
  if (!occupy_streams ())
    return PLAIT_EXIT_FAILED;
  g_log_set_default_handler (end_in_words, NULL);
  /* Ignore SIGXFSZ, so that a write beyond the file size limit fails as on a full disk. */
  signal (SIGXFSZ, SIG_IGN);
  plait_crash_install_handlers ();
  plait_input_guard_enable ();
  if (argc >= 2 && (strcmp (argv[1], "--version") == 0 || strcmp (argv[1], "-V") == 0))
    printf ("%s %s\n", program->name, PLAIT_VERSION);
  else if (argc >= 2 && (strcmp (argv[1], "--help") == 0 || strcmp (argv[1], "-h") == 0))
    print_help (program);
  else if (argc >= 2 && strcmp (argv[1], "help") == 0)
    print_asked_help (program, argv[2], argv, &log, &error);
  else if (argc < 2)
    {
      print_usage (stderr);
      fprintf (stderr, "%s --help lists the commands.\n", program->name);
      return PLAIT_EXIT_USAGE;
    }
  else if ((command = find_command (program, argv[1], &error)))
    run_command (command, argc, argv, &log, &error);

  if (!log)
    log = plait_log_new (FALSE);
  if (error)
    plait_log_error (log, "%s", error->message);
  /* If several processes failed, the muted ones, all except the first, return success: a launcher kills all processes
   * when one fails, possibly before the first has printed its error. */
  code = flush_results (log, plait_log_is_mute (log) ? PLAIT_EXIT_DONE : plait_exit_code (error));
  plait_log_free (log);
  plait_crash_catch_exit (FALSE);
  return code;
}
