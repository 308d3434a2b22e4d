/* SPDX-License-Identifier: MIT */
#pragma once

#include "decoders/decoder.h"
#include "cross-attention/cross-attention.h"
#include "layers/recurrent.h"

/*
 * Recurrent decoders: GRU (dl4mt; Chen et al. 2017, eq. 3-7) and LSTM (Luong et al. 2015; Eriguchi et al. 2016), with
 * one cross-attention. decoder.query gives the state that queries it, and so the order of a step:
 *
 *     previous       c = combine (s');          s = cell (s', [y; c])
 *     intermediate   h = cell (s', y);          c = combine (h);    s = second cell (h, c)
 *     current        s = cell (s', y);          c = combine (s)
 *
 * s' is the previous state: of the top layer with previous, else of the first layer. Each further layer reads the
 * states of the layer below. With reset=after the second cell has biases on both products, as dl4mt does. The readout
 * tanh (W [s; y; c] + b) is computed once for all steps, unless input feeding needs it in each step.
 */

typedef struct
{
  PlaitDecoder decoder;
  PlaitDecoderBuild build;
  const PlaitDecoderSettings *settings;
  gint64 state_width;
  PlaitCell *cells;
  PlaitCell second;    /* if query=intermediate */
  PlaitLinear context; /* if query=previous: from the context to the gates of the first cell */
  PlaitLinear feed;    /* input feeding: from the readout to the gates of the first cell */
  PlaitCrossAttentionLayer cross;
  PlaitLinear readout;
  PlaitLinear *initial_states; /* [layers][memories or summaries]; the first of each layer has a bias */
  PlaitLinear *initial_cells;  /* [layers][memories or summaries], for LSTM cells */
  guint n_initial;
} PlaitRecurrent;

/* Nodes that a step hands to the next step. */
typedef struct
{
  PlaitCellState *layers;
  PlaitNode *readout; /* set with input feeding */
  PlaitCrossAttentionStep cross;
} PlaitRecurrentCarried;

/* Terms of the embeddings, computed once for all steps. */
typedef struct
{
  PlaitNode *cell; /* terms for the gates of the first cell */
  PlaitNode *gate; /* term for the sentinel's gate, or NULL */
} PlaitRecurrentInput;

typedef struct
{
  PlaitNode *state;   /* state of the top layer */
  PlaitNode *context; /* context that the combiner read */
} PlaitRecurrentStep;

static inline gboolean
plait_recurrent_has_cells (const PlaitRecurrent *r)
{
  return r->settings->type == PLAIT_DECODER_TYPE_LSTM;
}

PlaitRecurrentInput plait_recurrent_input (const PlaitRecurrent *r, PlaitTape *tape, PlaitNode *embedded);

/* Returns rows @rows [n] of @input, those of one step. */
PlaitRecurrentInput plait_recurrent_input_rows (PlaitTape *tape, PlaitRecurrentInput input, const gint64 *rows,
                                                gint64 n);

/* Computes one step from @carried and stores the new states there. */
PlaitRecurrentStep plait_recurrent_advance (const PlaitRecurrent *r, const PlaitCrossAttentionPass *pass,
                                            PlaitRecurrentInput input, PlaitRecurrentCarried *carried);

/* Returns tanh (W [state; context; embedding] + b) with dropout; without the embedding unless decoder.readout=deep. */
PlaitNode *plait_recurrent_read_out (const PlaitRecurrent *r, PlaitTape *tape, PlaitNode *state, PlaitNode *embedded,
                                     PlaitNode *context);
