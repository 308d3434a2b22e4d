/* SPDX-License-Identifier: MIT */
#pragma once

#include "layers/layers.h"
#include "interface/plugin.h"

/*
 * The recurrent decoders: GRU (dl4mt; Chen et al. 2017, eq. 3-7) and LSTM (Luong et al. 2015; Eriguchi et al. 2016),
 * with one cross-attention. The setting query names the state that queries the memories, and so the order of a step:
 *
 *     previous       c = combine (s');          s = cell (s', [y; c])
 *     intermediate   h = cell (s', y);          c = combine (h);    s = second cell (h, c)
 *     current        s = cell (s', y);          c = combine (s)
 *
 * s and s' are the current and previous state of the first layer; in combine and the readout, of the top layer. Each
 * further layer reads the states of the layer below. With reset=after the second cell has biases on both products, as
 * dl4mt does. The readout tanh (W [s; y; c] + b) is computed once for all steps, unless input feeding needs it in each
 * step.
 */

typedef enum
{
  RECURRENT_QUERY_PREVIOUS,
  RECURRENT_QUERY_INTERMEDIATE,
  RECURRENT_QUERY_CURRENT,
} RecurrentQuery;

typedef enum
{
  RECURRENT_READOUT_DEEP,        /* the readout reads state, embedding and context */
  RECURRENT_READOUT_ATTENTIONAL, /* the readout reads state and context */
} RecurrentReadout;

typedef enum
{
  RECURRENT_INITIAL_MEAN,    /* first states are computed from the means of the rows of memories */
  RECURRENT_INITIAL_SUMMARY, /* first states are computed from the summaries of encoders */
  RECURRENT_INITIAL_ZERO,
} RecurrentInitial;

/* Settings of the plugins gru and lstm, whose schemas explain them. */
typedef struct
{
  PlaitCellKind cell;
  PlaitResetOrder reset;
  gint64 layers;
  gint64 state_width;
  RecurrentQuery query;
  PlaitScoreFunction attention;
  gint64 attention_width;
  gboolean input_feeding;
  RecurrentReadout readout;
  RecurrentInitial initial;
} RecurrentSettings;

/* Initialises fields of RecurrentSettings from @settings, the struct of the plugin gru or lstm. */
#define RECURRENT_SETTINGS(settings)                                                                                   \
  .layers = (settings)->layers, .state_width = (settings)->state_width, .query = (settings)->query,                    \
  .attention = (settings)->attention, .attention_width = (settings)->attention_width,                                  \
  .input_feeding = (settings)->input_feeding, .readout = (settings)->readout, .initial = (settings)->initial

/* The state of a recurrent decoder. */
typedef struct
{
  RecurrentSettings settings;
  gint64 width; /* w, width of embeddings and readout */
  gint64 state_width;
  double dropout;
  PlaitCell *cells;    /* [layers] cells */
  PlaitCell second;    /* second cell of the first layer; declared only if query=intermediate */
  PlaitLinear context; /* linear map from the context to the gates of the first cell, if query=previous */
  PlaitLinear feed;    /* linear map from the readout to the gates of the first cell, for input feeding */
  guint cross;
  PlaitLinear readout;

  /* [layers][n_initial] maps to the first states; the first map of each layer has a bias */
  PlaitLinear *initial_states;

  PlaitLinear *initial_cells; /* [layers][n_initial] maps to the first cell states, for LSTM cells */
  guint n_initial;            /* number of memories or summaries from which the first states are computed */
  guint *states;              /* [layers] indices of the states among the carried rows */
  guint *cell_states;         /* [layers] indices of the cell states among the carried rows, for LSTM cells */
  guint fed;                  /* index of the readout among the carried rows, for input feeding */
} Recurrent;

/* Inputs and outputs of a step. */
enum
{
  RECURRENT_INPUT_CELL,      /* embeddings, projected to the gates of the first cell */
  RECURRENT_INPUT_GATE,      /* term for the sentinel's gate, or NULL */
  RECURRENT_INPUT_EMBEDDING, /* the embeddings, for input feeding; else NULL */
  RECURRENT_INPUTS
};

enum
{
  RECURRENT_OUTPUT_STATE,   /* state of the top layer, or with input feeding the readout */
  RECURRENT_OUTPUT_CONTEXT, /* context that the combiner read */
  RECURRENT_OUTPUTS
};

/* Fills the inputs of steps [RECURRENT_INPUTS] from the embeddings of all rows. */
void recurrent_inputs (PlaitDecoding *decoding, const Recurrent *r, PlaitNode *embedded, PlaitNode **inputs);

/* Computes one step of the target; a PlaitDecodingStep. */
void recurrent_step (PlaitDecoding *decoding, gconstpointer settings, gconstpointer state, PlaitNode *const *inputs,
                     PlaitNode **outputs);

/* Returns tanh (W [state; context; embedding] + b) with dropout; only readout=deep reads the embedding. */
PlaitNode *recurrent_read_out (const Recurrent *r, PlaitTape *tape, PlaitNode *state, PlaitNode *embedded,
                               PlaitNode *context);

/* Functions of the table of a decoder (interface/decoder.h). */
gint64 recurrent_memory_width (gint64 context_width, gint64 width, const gint64 *widths, guint n);
gboolean recurrent_build (Recurrent *r, PlaitDecoding *decoding, const PlaitDecoderBuild *build,
                          const RecurrentSettings *settings, GError **error);
void recurrent_begin (PlaitDecoding *decoding, gconstpointer settings, gconstpointer state);
PlaitNode *recurrent_decode (PlaitDecoding *decoding, gconstpointer settings, gconstpointer state, PlaitNode *embedded);
