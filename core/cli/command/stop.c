/* SPDX-License-Identifier: MIT */
#include "command/stop.h"

#include <signal.h>

/* Set by the signal handler, which can reach only a global variable. */
static gint stop_raised;

static void
raise_stop (int number)
{
  g_atomic_int_set (&stop_raised, 1);
}

/* Handles SIGPIPE by doing nothing, so a write to a closed pipe fails. Programs that this process starts get the
 * default action, because a handler, unlike SIG_IGN, is not inherited. */
static void
pass_over (int number)
{
}

static const gint *
stop_with (int flags)
{
  const struct sigaction action = { .sa_handler = raise_stop, .sa_flags = flags | SA_RESETHAND };
  struct sigaction before;

  sigaction (SIGINT, &action, NULL);
  sigaction (SIGTERM, &action, NULL);
  /* Keep SIGHUP ignored if nohup has started the program. */
  if (sigaction (SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
    sigaction (SIGHUP, &action, NULL);
  return &stop_raised;
}

const gint *
plait_stop_on_signals (void)
{
  const struct sigaction action = { .sa_handler = pass_over, .sa_flags = SA_RESTART };

  sigaction (SIGPIPE, &action, NULL);
  return stop_with (SA_RESTART);
}

const gint *
plait_stop_reads_on_signals (void)
{
  return stop_with (0);
}
