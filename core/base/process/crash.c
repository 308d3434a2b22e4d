/* SPDX-License-Identifier: MIT */
#include "process/crash.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Signals of crashes, and their descriptions in messages. */
static const struct
{
  int number;
  const char *what;
} crashes[] = {
  { SIGSEGV, "accessed memory that does not exist" },
  { SIGBUS, "accessed memory that does not exist" },
  { SIGFPE, "divided by zero" },
  { SIGILL, "executed an invalid instruction" },
  { SIGTRAP, "executed a trap instruction" },
  { SIGABRT, "ended the process by abort ()" },
};

static _Thread_local PlaitCodeOwner running;

static gboolean installed;

/* arguments of plait_crash_report_to; descriptor -1: not called */
static int report_descriptor = -1;
static const char *report_begin;
static const char *report_end;

#define MAX_SUSPECTS 16

/* argument of the last call of plait_crash_catch_exit */
static gboolean guarded_exit;
static const char *suspects[MAX_SUSPECTS];
static guint n_suspects;

PlaitCodeOwner
plait_crash_set_owner (PlaitCodeOwner caller)
{
  PlaitCodeOwner before = running;

  running = caller;
  return before;
}

PlaitCodeOwner
plait_crash_get_owner (void)
{
  return running;
}

static void
write_text (int descriptor, const char *text)
{
  gsize length = strlen (text);

  while (length > 0)
    {
      gssize n = TEMP_FAILURE_RETRY (write (descriptor, text, length));

      if (n <= 0)
        return;
      text += n;
      length -= (gsize)n;
    }
}

static void
write_sentence (int descriptor, const char *what)
{
  write_text (descriptor, running.who);
  write_text (descriptor, ", ");
  write_text (descriptor, running.call);
  write_text (descriptor, ": ");
  write_text (descriptor, what);
}

void
plait_crash_end_process (const char *what)
{
  if (!running.who)
    return;
  write_text (STDERR_FILENO, "error: ");
  write_sentence (STDERR_FILENO, what);
  write_text (STDERR_FILENO, PLAIT_CRASH_ENDS_RUN "\n");
  if (report_descriptor >= 0)
    {
      write_text (report_descriptor, report_begin);
      write_sentence (report_descriptor, what);
      write_text (report_descriptor, report_end);
    }
  _exit (1);
}

/* Writes the end of a sentence, ", or by a thread of A or B", which names the suspects (plait_crash_suspect). */
static void
write_suspects (int descriptor)
{
  for (guint i = 0; i < n_suspects; i++)
    {
      write_text (descriptor, i == 0 ? ", or by a thread of " : " or ");
      write_text (descriptor, suspects[i]);
    }
}

static void
handle_crash (int number)
{
  for (guint i = 0; i < G_N_ELEMENTS (crashes); i++)
    if (crashes[i].number == number)
      plait_crash_end_process (crashes[i].what);
  /* The fault may be plait's own. Let the signal kill the process after this message, because a core dump shows the
   * cause. */
  if (n_suspects > 0)
    {
      write_text (STDERR_FILENO, "error: the process crashed, by a fault of plait or of a library");
      write_suspects (STDERR_FILENO);
      write_text (STDERR_FILENO, "\n");
    }
  signal (number, SIG_DFL);
  raise (number);
}

static void
write_exit_message (int descriptor)
{
  write_text (descriptor, "the process ended because exit () was called outside of plait, by a library");
  write_suspects (descriptor);
}

static void
handle_exit (void)
{
  plait_crash_end_process ("called exit ()");
  if (!guarded_exit)
    return;
  write_text (STDERR_FILENO, "error: ");
  write_exit_message (STDERR_FILENO);
  write_text (STDERR_FILENO, "\n");
  if (report_descriptor >= 0)
    {
      write_text (report_descriptor, report_begin);
      write_exit_message (report_descriptor);
    }
  _exit (1);
}

void
plait_crash_catch_exit (gboolean guarded)
{
  guarded_exit = guarded;
}

void
plait_crash_suspect (const char *module)
{
  if (n_suspects < MAX_SUSPECTS)
    suspects[n_suspects++] = module;
}

void
plait_crash_report_to (int descriptor, const char *begin, const char *end)
{
  report_descriptor = descriptor;
  report_begin = begin;
  report_end = end;
}

void
plait_crash_unblock_signals (sigset_t *signals)
{
  for (guint i = 0; i < G_N_ELEMENTS (crashes); i++)
    sigdelset (signals, crashes[i].number);
}

void
plait_crash_use_signal_stack (void)
{
  static _Thread_local char spare[32768];
  const stack_t stack = { .ss_sp = spare, .ss_size = sizeof spare };
  stack_t before;

  /* A sanitizer may have set its own signal stack. */
  if (sigaltstack (NULL, &before) == 0 && (before.ss_flags & SS_DISABLE))
    sigaltstack (&stack, NULL);
  /* Touch the thread-local variable now: its first use must not be in a signal handler. */
  plait_crash_set_owner (running);
}

static void
install_signal_handlers (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (crashes); i++)
    {
      struct sigaction action, before;

      /* Keep the handler of a sanitizer, which reports more. */
      if (sigaction (crashes[i].number, NULL, &before) != 0 || before.sa_handler != SIG_DFL)
        continue;
      memset (&action, 0, sizeof action);
      action.sa_handler = handle_crash;
      action.sa_flags = SA_ONSTACK;
      sigaction (crashes[i].number, &action, NULL);
    }
}

void
plait_crash_install_handlers (void)
{
  installed = TRUE;
  /* If the program that started this one ignores SIGCHLD, waitpid does not tell how a child process ended. */
  signal (SIGCHLD, SIG_DFL);
  plait_crash_use_signal_stack ();
  install_signal_handlers ();
  atexit (handle_exit);
  at_quick_exit (handle_exit);
}

void
plait_crash_reinstall_handlers (void)
{
  if (installed)
    install_signal_handlers ();
}
