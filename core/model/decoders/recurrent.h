/* SPDX-License-Identifier: MIT */
#pragma once

#include "decoders/decoder.h"
#include "cross-attention/cross-attention.h"
#include "layers/recurrent.h"

/*
 * Recurrent decoders: GRU (dl4mt; Chen et al. 2017, eq. 3-7) and LSTM (Luong et al. 2015; Eriguchi et al. 2016),
 * one attention site. Which state asks (decoder.query) settles the order of a step:
 *
 *     previous       c = combine (s');          s = cell (s', [y; c])
 *     intermediate   h = cell (s', y);          c = combine (h);    s = second cell (h, c)
 *     current        s = cell (s', y);          c = combine (s)
 *
 * s' being the top layer's state of the step before in the first, the first layer's otherwise. Layers above the first
 * read the states below them. With reset=after the second cell has biases on both of its products, as dl4mt needs. The
 * readout tanh (W [s; y; c] + b) is made once for all steps, unless it is fed to the next one.
 */

typedef struct
{
  PlaitDecoder decoder;
  PlaitDecoderBuild build;
  const PlaitDecoderSettings *settings;
  gint64 state_width;
  PlaitCell *cells;    /* [layers] */
  PlaitCell second;    /* query=intermediate */
  PlaitLinear context; /* query=previous: what the context adds to the first cell's input side */
  PlaitLinear feed;    /* with input feeding: the same of the readout */
  PlaitCrossAttentionLayer cross;
  PlaitLinear readout;
  PlaitLinear *initial_states; /* [layers][sources of the first state]; the first source has the bias */
  PlaitLinear *initial_cells;  /* the same of LSTM cells */
  guint n_initial;
} PlaitRecurrent;

/* What a step hands to the next. */
typedef struct
{
  PlaitCellState *layers;
  PlaitNode *readout; /* with input feeding */
  PlaitCrossAttentionStep cross;
} PlaitRecurrentCarried;

/* What embeddings add to steps, made for all of them at once. */
typedef struct
{
  PlaitNode *cell; /* the input side of the first cell */
  PlaitNode *gate; /* that of the sentinel's gate, or NULL */
} PlaitRecurrentInput;

typedef struct
{
  PlaitNode *state;   /* of the top layer */
  PlaitNode *context; /* what the combiner read */
} PlaitRecurrentStep;

static inline gboolean
plait_recurrent_has_cells (const PlaitRecurrent *r)
{
  return r->settings->type == PLAIT_DECODER_TYPE_LSTM;
}

PlaitRecurrentInput plait_recurrent_input (const PlaitRecurrent *r, PlaitTape *tape, PlaitNode *embedded);

/* Rows @rows [n] of it, those of a step. */
PlaitRecurrentInput plait_recurrent_input_rows (PlaitTape *tape, PlaitRecurrentInput input, const gint64 *rows,
                                                gint64 n);

/* One step from @carried, which it renews. */
PlaitRecurrentStep plait_recurrent_advance (const PlaitRecurrent *r, const PlaitCrossAttentionPass *pass,
                                            PlaitRecurrentInput input, PlaitRecurrentCarried *carried);

/* tanh (W [state; context; embedding] + b), or without the embedding, with dropout. */
PlaitNode *plait_recurrent_read_out (const PlaitRecurrent *r, PlaitTape *tape, PlaitNode *state, PlaitNode *embedded,
                                     PlaitNode *context);
