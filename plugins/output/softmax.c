/* SPDX-License-Identifier: MIT */
#include "interface/plugin.h"

#include "softmax-settings.h"

/*
 * Softmax over the vocabulary. The table is the target embedding, or has parameters of its own (decoder.tie_output).
 *
 *     p (v) = softmax (T s + b)_v
 */

static gboolean
build (const PlaitOutputBuild *build, gconstpointer settings, gpointer state, PlaitOutputShape *shape, GError **error)
{
  plait_output_declare_table (build, shape);
  return TRUE;
}

static void
output (gconstpointer settings, gconstpointer state, PlaitOutputPass *pass)
{
  pass->logit_states = pass->states;
}

PLAIT_PLUGIN_DEFINE (.build = build, .output = output)
