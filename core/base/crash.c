/* SPDX-License-Identifier: MIT */
#include "base/crash.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static _Thread_local PlaitCaller running;

PlaitCaller
plait_crash_enter (PlaitCaller caller)
{
  PlaitCaller before = running;

  running = caller;
  return before;
}

PlaitCaller
plait_crash_running (void)
{
  return running;
}

static void
say (const char *text)
{
  gsize length = strlen (text);

  while (length > 0)
    {
      gssize n = write (STDERR_FILENO, text, length);

      if (n <= 0)
        return;
      text += n;
      length -= (gsize)n;
    }
}

/* Only what a signal handler may call. */
static void
tell (const char *what)
{
  say ("plait: ");
  say (running.who);
  say (", ");
  say (running.call);
  say (what);
  _exit (1);
}

static void
crashed (int number)
{
  if (running.who)
    tell (number == SIGABRT ? ": ended the process by abort (); this is a fault of the plugin, and the run ends here\n"
          : number == SIGFPE
              ? ": divided by zero; this is a fault of the plugin, and the run ends here\n"
              : ": reached for memory that is not there; this is a fault of the plugin, and the run ends "
                "here\n");
  signal (number, SIG_DFL);
  raise (number);
}

static void
left (void)
{
  if (running.who)
    tell (": called exit (); a plugin must not, and the run ends here\n");
}

void
plait_crash_watch (void)
{
  /* A plugin that calls itself without end has no stack left to handle the signal on. */
  static char spare[65536];
  const stack_t stack = { .ss_sp = spare, .ss_size = sizeof spare };
  static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };

  sigaltstack (&stack, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (signals); i++)
    {
      struct sigaction action, before;

      /* A sanitizer that handles it has more to say. */
      if (sigaction (signals[i], NULL, &before) != 0 || before.sa_handler != SIG_DFL)
        continue;
      memset (&action, 0, sizeof action);
      action.sa_handler = crashed;
      action.sa_flags = SA_ONSTACK;
      sigaction (signals[i], &action, NULL);
    }
  atexit (left);
}
