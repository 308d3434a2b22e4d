/* SPDX-License-Identifier: MIT */
#include "command/main.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "process/crash.h"
#include "files/file-input.h"
#include "files/path.h"
#include "command/command.h"
#include "command/exit-codes.h"
#include "terminal/page.h"
#include "command/reference.h"

#define USAGE "Usage: plait COMMAND [OPTION...] [ARGUMENT...]\n"

static void
print_help (void)
{
  g_autoptr (PlaitPage) page = plait_page_new ();
  guint width = 0;

  for (const PlaitCommand *command = plait_commands; command->name; command++)
    width = MAX (width, (guint)strlen (command->name));
  plait_page_text (page, PLAIT_PAGE_PLAIN, "%s\n", USAGE);
  plait_page_paragraph (page, 0, 0,
                        "A workbench for sequence-to-sequence models that read several things at once.\n\nCommands:");
  for (const PlaitCommand *command = plait_commands; command->name; command++)
    plait_page_row (page, width, command->name, command->summary);
  plait_page_text (page, PLAIT_PAGE_PLAIN, "\n");
  plait_page_paragraph (
      page, 0, 0,
      "plait COMMAND --help, or plait help COMMAND, tells more of one. plait --version prints the version. plait help "
      "--man prints the manual page, --bash and --zsh completion for these shells.\n\nExit codes:");
  for (const PlaitExitCode *exit = plait_exit_codes; exit->summary; exit++)
    {
      g_autofree char *code = g_strdup_printf ("%d", exit->code);
      g_autofree char *text = g_strconcat (exit->summary, exit->details ? ": " : "", exit->details, NULL);

      plait_page_row (page, width, code, text);
    }
}

static const PlaitCommand *
find_command (const char *name, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();

  for (const PlaitCommand *command = plait_commands; command->name; command++)
    {
      if (strcmp (command->name, name) == 0)
        return command;
      g_ptr_array_add (names, (gpointer)command->name);
    }
  g_ptr_array_add (names, NULL);
  if (*name == '-')
    return plait_fail_null (
        error, PLAIT_ERROR_INPUT,
        "%s is no option before a command: expected plait COMMAND [OPTION...]; plait --help lists the commands", name);
  g_autofree char *remedy = plait_name_remedy (name, (const char *const *)names->pdata, "plait --help lists them");
  return plait_fail_null (error, PLAIT_ERROR_INPUT, "there is no command \"%s\"; %s", name, remedy);
}

/* The command line as a shell would take it again. */
static char *
quoted_line (int argc, char **argv)
{
  g_autoptr (GString) line = g_string_new ("plait");

  for (int i = 1; i < argc; i++)
    plait_path_add_word (line, argv[i]);
  return g_utf8_make_valid (line->str, -1);
}

static gboolean
run_command (const PlaitCommand *command, int argc, char **argv, PlaitLog **log, GError **error)
{
  PlaitInvocation invocation = { .command = command };
  gboolean done;

  invocation.line = quoted_line (argc, argv);
  invocation.arguments = g_strdupv (argv + 2);
  plait_crash_guard_exit (TRUE);
  done = command->run (&invocation, error);
  *log = invocation.log;
  g_clear_pointer (&invocation.values, g_ptr_array_unref);
  g_strfreev (invocation.arguments);
  g_free (invocation.line);
  return done;
}

/* Results that did not reach stdout were not delivered. */
static int
flush_results (PlaitLog *log, int code)
{
  if (fflush (stdout) == 0 && !ferror (stdout))
    return code;
  plait_log_error (log, "standard output cannot be written; free some space, or write elsewhere");
  return code == PLAIT_EXIT_DONE ? PLAIT_EXIT_FAILED : code;
}

/* GLib ends the process where there is no memory for something small. That is no fault of the program, to be told by a
 * trap and a dump. */
static void
end_in_words (const char *domain, GLogLevelFlags level, const char *message, gpointer data)
{
  if ((level & G_LOG_LEVEL_ERROR) == 0)
    {
      g_log_default_handler (domain, level, message, data);
      return;
    }
  if (plait_crash_running ().who)
    dprintf (STDERR_FILENO, "error: %s, %s: %s\n", plait_crash_running ().who, plait_crash_running ().call, message);
  else
    dprintf (STDERR_FILENO, "error: plait cannot go on: %s\n", message);
  _exit (PLAIT_EXIT_FAILED);
}

/* A standard stream that is closed would be the number of the next file that is opened. What takes its place is open
 * the wrong way round, so that input and output still fail where somebody wants them. */
static gboolean
occupy_streams (void)
{
  static const int modes[] = { O_WRONLY, O_RDONLY, O_WRONLY };

  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++)
    if (fcntl (stream, F_GETFD) < 0 && open ("/dev/null", modes[stream]) != stream)
      return FALSE;
  return TRUE;
}

int
plait_main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  PlaitLog *log = NULL;
  const PlaitCommand *command;
  int code;

  if (!occupy_streams ())
    return PLAIT_EXIT_FAILED;
  g_log_set_default_handler (end_in_words, NULL);
  /* A limit of file sizes is answered like a full disk. */
  signal (SIGXFSZ, SIG_IGN);
  plait_crash_watch ();
  plait_file_input_guard ();
  if (argc >= 2 && (strcmp (argv[1], "--version") == 0 || strcmp (argv[1], "-V") == 0))
    printf ("plait %s\n", PLAIT_VERSION);
  else if (argc >= 2 && (strcmp (argv[1], "--help") == 0 || strcmp (argv[1], "-h") == 0))
    print_help ();
  else if (argc >= 2 && strcmp (argv[1], "help") == 0)
    {
      if (argc == 2)
        print_help ();
      else if (strcmp (argv[2], "--man") == 0)
        plait_manual_print ();
      else if (strcmp (argv[2], "--bash") == 0)
        plait_completion_print_bash ();
      else if (strcmp (argv[2], "--zsh") == 0)
        plait_completion_print_zsh ();
      else if ((command = find_command (argv[2], &error)))
        run_command (command, 3, (char *[]){ argv[0], argv[2], "--help", NULL }, &log, &error);
    }
  else if (argc < 2)
    {
      fputs (USAGE "plait --help lists the commands.\n", stderr);
      return PLAIT_EXIT_USAGE;
    }
  else if ((command = find_command (argv[1], &error)))
    run_command (command, argc, argv, &log, &error);

  if (!log)
    log = plait_log_new (FALSE);
  if (error)
    plait_log_error (log, "%s", error->message);
  /* Of processes that have failed together the first has the word, and its code counts: a launcher would end it in the
   * middle of its sentence where another one fails before. */
  code = flush_results (log, plait_log_is_mute (log) ? PLAIT_EXIT_DONE : plait_exit_code (error));
  plait_log_free (log);
  plait_crash_guard_exit (FALSE);
  return code;
}
