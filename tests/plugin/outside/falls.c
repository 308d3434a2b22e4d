/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "interface/plugin.h"

#include "falls-settings.h"

/* A combiner that crashes or ends the process, as its parameter says. */

static gboolean
build (PlaitCrossAttention *cross, gconstpointer data, gpointer state, GError **error)
{
  const Settings *settings = data;

  if (settings->how == HOW_BUILD)
    exit (0);
  return TRUE;
}

/* Recurses without end. */
static int
fall (volatile char *above)
{
  volatile char room[4096];

  room[0] = above ? *above : 0;
  return room[0] == 0 ? fall (room) + room[0] : 1;
}

static PlaitResidualStream
combine (PlaitCrossAttention *cross, gconstpointer data, gconstpointer state, PlaitResidualStream x)
{
  const Settings *settings = data;
  volatile gsize wild = 64;

  if (settings->how == HOW_CRASH)
    *(int *)wild = 1;
  else if (settings->how == HOW_OVERFLOW)
    fall (NULL);
  else if (settings->how == HOW_ABORT)
    abort ();
  exit (0);
}

PLAIT_PLUGIN_DEFINE (.build = build, .combine = combine)
