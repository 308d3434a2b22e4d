/* SPDX-License-Identifier: MIT */
#include "autograd/operators.h"
#include "layers/layers.h"
#include "interface/plugin.h"

#include "gate-settings.h"

/*
 * Every context passes a gate that query and context open together, column by column:
 *
 *     q <- normalise (x);  c_i <- attend_i (q);  g_i <- sigmoid (q W_i + c_i U_i + b_i)
 *     x <- residual (x, sum_i g_i * c_i)
 */

typedef struct
{
  PlaitLinear query;   /* W, b */
  PlaitLinear context; /* U */
} Gate;

typedef struct
{
  Gate *gates; /* one a memory */
} State;

static PlaitLinear
declare (PlaitSite *site, guint memory, const char *what, gint64 in, gboolean bias)
{
  g_autofree char *name
      = g_strdup_printf ("%sgate/%s/%s", plait_site_prefix (site), plait_site_memory (site, memory)->name, what);

  return plait_linear_declare (plait_site_parameters (site), name, in, plait_site_width (site), bias);
}

static gboolean
build (PlaitSite *site, gconstpointer data, gpointer memory, GError **error)
{
  const Settings *settings = data;
  State *state = memory;
  guint n = plait_site_n_memories (site);
  PlaitSiteAttention attention = { PLAIT_DECODER_RATES };

  state->gates = plait_parameters_memory (plait_site_parameters (site), n * sizeof (Gate));
  plait_site_declare_residual (site, 0);
  for (guint i = 0; i < n; i++)
    {
      plait_site_declare_attend (site, i, &attention);
      state->gates[i].query = declare (site, i, "query", plait_site_query_width (site), settings->bias);
      state->gates[i].context = declare (site, i, "context", plait_site_width (site), FALSE);
    }
  return TRUE;
}

/* A sentence without this source has a context of zeros, whatever the gate. */
static PlaitNode *
let_through (PlaitTape *tape, const Gate *gate, PlaitNode *query, PlaitNode *context)
{
  PlaitNode *terms[] = {
    plait_linear_apply (tape, &gate->query, query, PLAIT_ACTIVATION_NONE),
    plait_linear_apply (tape, &gate->context, context, PLAIT_ACTIVATION_NONE),
  };

  return plait_multiply (tape, plait_activate (tape, plait_sum (tape, terms, 2), PLAIT_ACTIVATION_SIGMOID), context);
}

static PlaitStream
combine (PlaitSite *site, gconstpointer settings, gconstpointer data, PlaitStream x)
{
  const State *state = data;
  guint n = plait_site_n_memories (site);
  PlaitContext *contexts = g_newa (PlaitContext, n);
  PlaitStream query = plait_site_normalise (site, 0, x);

  for (guint i = 0; i < n; i++)
    {
      contexts[i] = plait_site_attend (site, i, query);
      contexts[i].value = let_through (plait_site_tape (site), &state->gates[i], query.query, contexts[i].value);
    }
  return plait_site_residual (site, 0, x, plait_site_sum (site, contexts, n));
}

PLAIT_PLUGIN_DEFINE (.state_size = sizeof (State), .build = build, .combine = combine)
