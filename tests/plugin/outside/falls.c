/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include <plait.h>

/* What no author wants to write: a combiner that brings the process down. */
typedef enum
{
  FALLS_CRASH,
  FALLS_OVERFLOW,
  FALLS_ABORT,
  FALLS_EXIT,
  FALLS_BUILD,
} Falls;

typedef struct
{
  gint how;
} Settings;

static const PlaitBinding bindings[] = {
  PLAIT_BIND_CHOICE (Settings, how, "crash;overflow;abort;exit;build"),
};

static gboolean
build (PlaitSite *site, gconstpointer data, gpointer state, GError **error)
{
  const Settings *settings = data;

  if (settings->how == FALLS_BUILD)
    exit (0);
  return TRUE;
}

/* Without an end that is reached. */
static int
fall (volatile char *above)
{
  volatile char room[4096];

  room[0] = above ? *above : 0;
  return room[0] == 0 ? fall (room) + room[0] : 1;
}

static PlaitStream
combine (PlaitSite *site, gconstpointer data, gconstpointer state, PlaitStream x)
{
  const Settings *settings = data;
  volatile gsize wild = 64;

  if (settings->how == FALLS_CRASH)
    *(int *)wild = 1;
  else if (settings->how == FALLS_OVERFLOW)
    fall (NULL);
  else if (settings->how == FALLS_ABORT)
    abort ();
  exit (0);
}

static const PlaitCombinerTable table = { .build = build, .combine = combine };

PLAIT_PLUGIN_COMBINER_DEFINE ("falls", "1.0", Settings, bindings, table)
