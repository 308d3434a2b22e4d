/* SPDX-License-Identifier: MIT */
#include "autograd/operators.h"
#include "interface/plugin.h"

#include "@NAME@-settings.h"

/*
 * An output that is a softmax over the vocabulary, with scaled states. The table T is the target embedding, or has
 * parameters of its own (decoder.tie_output).
 *
 *     p (v) = softmax (T (scale s) + b)_v
 */

static gboolean
build (const PlaitOutputBuild *build, gconstpointer settings, gpointer state, PlaitOutputShape *shape, GError **error)
{
  plait_output_declare_table (build, shape);
  return TRUE;
}

static void
output (gconstpointer data, gconstpointer state, PlaitOutputPass *pass)
{
  const Settings *settings = data;

  pass->logit_states = plait_scale (pass->tape, pass->states, settings->scale);
}

PLAIT_PLUGIN_DEFINE (.build = build, .output = output)
