/* SPDX-License-Identifier: MIT */
#include "recurrent.h"

#include "gru-settings.h"

/* The decoder of GRU cells; recurrent.h has its equations. */

static gint64
memory_width (gconstpointer data, gint64 width, const gint64 *widths, guint n)
{
  return recurrent_memory_width (((const Settings *)data)->context_width, width, widths, n);
}

static gboolean
build (PlaitDecoding *decoding, const PlaitDecoderBuild *build, gconstpointer data, gpointer state, GError **error)
{
  const Settings *settings = data;
  RecurrentSettings own = { RECURRENT_SETTINGS (settings), .cell = PLAIT_CELL_GRU, .reset = settings->reset };

  return recurrent_build (state, decoding, build, &own, error);
}

PLAIT_PLUGIN_DEFINE (.state_size = sizeof (Recurrent), .memory_width = memory_width, .build = build,
                     .begin = recurrent_begin, .decode = recurrent_decode)
