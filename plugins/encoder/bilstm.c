/* SPDX-License-Identifier: MIT */
#include "layers/layers.h"
#include "interface/plugin.h"

#include "bilstm-settings.h"

/*
 * A stack of LSTMs over the tokens, by default one layer in both directions (Hochreiter & Schmidhuber 1997; Graves &
 * Schmidhuber 2005): row i of the memory is [h_i forward; h_i backward], with cell states. The summary of a sentence is
 * the last state and cell state of each direction. With directions=forward it is the leaf encoder of Eriguchi et al.
 * 2016.
 */

static gboolean
build (const PlaitEncoderBuild *build, gconstpointer data, gpointer state, PlaitEncoderShape *shape, GError **error)
{
  const Settings *settings = data;
  PlaitRecurrentStack *stack = state;
  guint n = plait_directions_n (settings->directions);
  g_autofree char *layers = g_strconcat (build->prefix, "layer", NULL);
  PlaitRecurrentStackDeclaration declaration = {
    .cell.kind = PLAIT_CELL_LSTM,
    .cell.forget_bias = settings->forget_bias,
    .cell.input_width = build->input_width,
    .cell.width = settings->width == PLAIT_DECODER_WIDTH ? (build->model_width + n - 1) / n : settings->width,
    .layers = settings->layers,
    .directions = settings->directions,
    .dropout = settings->dropout,
  };

  *stack = plait_recurrent_stack_declare (build->parameters, layers, &declaration);
  shape->n_memories = 1;
  shape->memories[0].width = shape->summary_width = stack->width;
  return TRUE;
}

static void
encode (gconstpointer data, gconstpointer state, PlaitEncoding *encoding)
{
  const PlaitRecurrentStack *stack = state;
  PlaitRagged rows = encoding->input->rows;
  PlaitRecurrentStates found = plait_recurrent_stack_apply (encoding->tape, stack, encoding->embedded, rows);

  encoding->memories[0] = (PlaitMemory){ .states = found.states, .cells = found.cells, .rows = rows };
  encoding->summary = found.summary;
  encoding->summary_cell = found.summary_cell;
}

PLAIT_PLUGIN_DEFINE (.state_size = sizeof (PlaitRecurrentStack), .build = build, .encode = encode)
