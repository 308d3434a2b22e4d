/* SPDX-License-Identifier: MIT */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "interface/plugin.h"

#include "faulty-settings.h"

/* A combiner that computes what serial does. If its parameter fault says so, it ends the process or waits in a forward
 * pass. */

enum
{
  FREE_CALLS = 3, /* number of calls before it waits, so that a checkpoint exists */
};

static gboolean
build (PlaitCrossAttention *cross, gconstpointer settings, gpointer state, GError **error)
{
  PlaitAttendSettings attention = { PLAIT_DECODER_DROPOUT_RATES };

  for (guint i = 0; i < plait_cross_n_memories (cross); i++)
    {
      plait_cross_declare_residual (cross, i);
      plait_cross_declare_attend (cross, i, &attention);
    }
  return TRUE;
}

/* TRUE if the file that PLAIT_TEST_GATE names exists. */
static gboolean
is_open (void)
{
  const char *gate = g_getenv ("PLAIT_TEST_GATE");

  return gate && g_file_test (gate, G_FILE_TEST_EXISTS);
}

static PlaitResidualStream
combine (PlaitCrossAttention *cross, gconstpointer data, gconstpointer state, PlaitResidualStream x)
{
  static guint calls;
  const Settings *settings = data;

  switch (settings->fault)
    {
    case FAULT_HANG: /* wait for a signal */
      pause ();
      break;
    case FAULT_WAIT: /* wait until the file of PLAIT_TEST_GATE exists, and ignore SIGTERM */
      signal (SIGTERM, SIG_IGN);
      while (++calls > FREE_CALLS && !is_open ())
        g_usleep (20000);
      break;
    case FAULT_ONCE: /* if the file of PLAIT_TEST_GATE does not exist, make it and crash */
      if (is_open ())
        break;
      g_file_set_contents (g_getenv ("PLAIT_TEST_GATE"), "", 0, NULL);
      G_GNUC_FALLTHROUGH;
    case FAULT_CRASH:
      signal (SIGSEGV, SIG_DFL); /* default action, whatever handler a sanitizer has installed */
      raise (SIGSEGV);
      break;
    case FAULT_EXIT:
      _exit (0);
    case FAULT_KILL: /* SIGKILL, as the kernel sends when memory runs out */
      raise (SIGKILL);
      break;
    case FAULT_NONE:
      break;
    }
  for (guint i = 0; i < plait_cross_n_memories (cross); i++)
    x = plait_cross_residual (cross, i, x, plait_cross_attend (cross, i, plait_cross_normalise (cross, i, x)));
  return x;
}

PLAIT_PLUGIN_DEFINE (.build = build, .combine = combine)
