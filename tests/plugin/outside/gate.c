/* SPDX-License-Identifier: MIT */
#include "autograd/operators.h"
#include "layers/layers.h"
#include "interface/plugin.h"

#include "gate-settings.h"

/*
 * A combiner with a gate for each context. Query and context together open the gate, separately for each column:
 *
 *     q <- normalise (x);  c_i <- attend_i (q);  g_i <- sigmoid (q W_i + c_i U_i + b_i)
 *     x <- residual (x, sum_i g_i * c_i)
 */

typedef struct
{
  PlaitLinear query;   /* W and b of the equation */
  PlaitLinear context; /* U of the equation */
} Gate;

typedef struct
{
  Gate *gates; /* gate of each memory */
} State;

static PlaitLinear
declare (PlaitCrossAttention *cross, guint memory, const char *what, gint64 in, gboolean bias)
{
  g_autofree char *name
      = g_strdup_printf ("%sgate/%s/%s", plait_cross_prefix (cross), plait_cross_memory (cross, memory)->name, what);

  return plait_linear_declare (plait_cross_parameters (cross), name, in, plait_cross_width (cross), bias);
}

static gboolean
build (PlaitCrossAttention *cross, gconstpointer data, gpointer memory, GError **error)
{
  const Settings *settings = data;
  State *state = memory;
  guint n = plait_cross_n_memories (cross);
  PlaitAttendSettings attention = { PLAIT_DECODER_DROPOUT_RATES };

  state->gates = plait_parameters_memory (plait_cross_parameters (cross), n * sizeof (Gate));
  plait_cross_declare_residual (cross, 0);
  for (guint i = 0; i < n; i++)
    {
      plait_cross_declare_attend (cross, i, &attention);
      state->gates[i].query = declare (cross, i, "query", plait_cross_query_width (cross), settings->bias);
      state->gates[i].context = declare (cross, i, "context", plait_cross_width (cross), FALSE);
    }
  return TRUE;
}

/* Returns the context multiplied by the gate. A sentence that lacks this source keeps a zero context. */
static PlaitNode *
let_through (PlaitTape *tape, const Gate *gate, PlaitNode *query, PlaitNode *context)
{
  PlaitNode *terms[] = {
    plait_linear_apply (tape, &gate->query, query, PLAIT_ACTIVATION_NONE),
    plait_linear_apply (tape, &gate->context, context, PLAIT_ACTIVATION_NONE),
  };

  return plait_multiply (tape, plait_activate (tape, plait_add_n (tape, terms, 2), PLAIT_ACTIVATION_SIGMOID), context);
}

static PlaitResidualStream
combine (PlaitCrossAttention *cross, gconstpointer settings, gconstpointer data, PlaitResidualStream x)
{
  const State *state = data;
  guint n = plait_cross_n_memories (cross);
  PlaitContext *contexts = g_newa (PlaitContext, n);
  PlaitResidualStream query = plait_cross_normalise (cross, 0, x);

  for (guint i = 0; i < n; i++)
    {
      contexts[i] = plait_cross_attend (cross, i, query);
      contexts[i].value = let_through (plait_cross_tape (cross), &state->gates[i], query.query, contexts[i].value);
    }
  return plait_cross_residual (cross, 0, x, plait_cross_sum (cross, contexts, n));
}

PLAIT_PLUGIN_DEFINE (.state_size = sizeof (State), .build = build, .combine = combine)
