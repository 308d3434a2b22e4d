/* SPDX-License-Identifier: MIT */
#include "cli/stop.h"

#include <signal.h>
#include <string.h>

/* A signal handler can reach nothing but a global. */
static gint stop_raised;

static void
raise_stop (int number)
{
  struct sigaction usual;

  g_atomic_int_set (&stop_raised, 1);
  memset (&usual, 0, sizeof usual);
  usual.sa_handler = SIG_DFL;
  sigaction (number, &usual, NULL);
}

const gint *
plait_stop_on_signals (void)
{
  struct sigaction action;

  memset (&action, 0, sizeof action);
  action.sa_handler = raise_stop;
  action.sa_flags = SA_RESTART;
  sigaction (SIGINT, &action, NULL);
  sigaction (SIGTERM, &action, NULL);
  return &stop_raised;
}
