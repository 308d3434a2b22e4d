/* SPDX-License-Identifier: MIT */
#pragma once

#include "layers/parameter.h"

/*
 * The output contract: states of the decoder -> probabilities of the next word. An output gives logits,
 *
 *     p (v) = softmax (T s + b)_v
 *
 * with states s, a table T and a bias b. From these the host computes the loss of training, the best words of search
 * and the scores of forced decoding, in chunks, so that no matrix [target rows, vocabulary] is stored.
 */

/* The declaration of an output. */
typedef struct
{
  PlaitParameter *table; /* T [vocabulary, width] */
  PlaitParameter *bias;  /* b [1, vocabulary], or NULL */
} PlaitOutputShape;

/* Arguments for building an output. Valid during the call of build: copy what output needs. */
typedef struct
{
  gint64 state_width;          /* width of the decoder's states */
  gint64 vocabulary_size;      /* number of words */
  PlaitParameter *embedding;   /* target embeddings [vocabulary, state_width] if decoder.tie_output is set, else NULL */
  gboolean bias;               /* decoder.output_bias */
  PlaitParameters *parameters; /* registry in which to declare parameters */
  const char *prefix;          /* required beginning of the parameters' names */
} PlaitOutputBuild;

/* One pass: whole targets, or in search one row for each hypothesis. Nodes are on @tape. */
typedef struct
{
  PlaitTape *tape;
  PlaitNode *states; /* [rows, state_width] states of the decoder */

  /* Filled by the output. */
  PlaitNode *logit_states; /* s [rows, width of the table] */
} PlaitOutputPass;

typedef struct
{
  gsize state_size; /* bytes of the output's state. The host allocates it, zeroed, and frees it without a callback;
                       allocate arrays in it with plait_parameters_memory */

  /* Declares all parameters and fills @shape, which is zeroed. @settings: the plugin's own struct, filled by the host;
   * it lives as long as the model. Returns FALSE with PLAIT_ERROR_INPUT if the settings contradict each other. */
  gboolean (*build) (const PlaitOutputBuild *build, gconstpointer settings, gpointer state, PlaitOutputShape *shape,
                     GError **error);

  /* Computes what @pass asks for. Each row depends on the same row of the nodes of @pass only. */
  void (*output) (gconstpointer settings, gconstpointer state, PlaitOutputPass *pass);

  gpointer reserved[4];
} PlaitOutputTable;

/* Declares table and bias as decoder.tie_output and decoder.output_bias say: the target embeddings or a new table
 * PREFIXweight [vocabulary, state_width], and PREFIXbias. */
PLAIT_API void plait_output_declare_table (const PlaitOutputBuild *build, PlaitOutputShape *shape);
