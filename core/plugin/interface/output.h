/* SPDX-License-Identifier: MIT */
#pragma once

#include "attention/query-key-pairs.h"
#include "layers/parameter.h"

/*
 * The output contract: states of the decoder -> probabilities of the next word. An output gives one of two forms:
 *
 *     logits    p (v) = softmax (T s + b)_v
 *     mixture   p (v) = g softmax (T s + b)_v + (1 - g) c (v),   g = sigmoid (gate)
 *
 * with a state s, a table T, a bias b and a distribution c over copied words of the sources. A memory row has the id of
 * a word, or no id. c (v) is the sum of the weights of the rows with id v, divided by the sum of the weights of all
 * rows with an id. If no row of the sentence has an id, g is 1. Ids from the vocabulary's size on are source words that
 * the vocabulary lacks; the table has no rows for them, so only c gives them probability.
 *
 * The host computes the loss of training, the best words of search and the scores of forced decoding from these
 * formulas, in chunks: no matrix [target rows, vocabulary] is stored.
 */

/* Largest number of memories whose words an output can copy. */
#define PLAIT_OUTPUT_MAX_MEMORIES 64

/* The declaration of an output. */
typedef struct
{
  PlaitParameter *table; /* table T [vocabulary, width] */
  PlaitParameter *bias;  /* bias b [1, vocabulary], or NULL */
  gboolean context;      /* TRUE: the output reads PlaitOutputPass.context */
  gboolean embedded;     /* TRUE: the output reads PlaitOutputPass.embedded */

  /* TRUE for each memory whose words the output copies: the output gives a mixture and reads PlaitOutputPass.attention.
   * All FALSE: the output gives logits. */
  gboolean copies[PLAIT_OUTPUT_MAX_MEMORIES];
  const char *attention; /* name of the attention to read, static; NULL: the attention without a name */
  guint head;            /* number of the head to read, from 1; 0: mean of all heads */
} PlaitOutputShape;

/* A memory of the decoder. */
typedef struct
{
  const char *name;   /* name of the source, or SOURCE.PART if the encoder calls this memory PART */
  const char *source; /* name of the source */

  /* TRUE if the rows have ids of words: the source is text with the target's vocabulary, and rows are not sentences */
  gboolean has_words;
} PlaitOutputMemory;

/* Arguments for building an output. Valid during the call of build: copy what the function output needs. */
typedef struct
{
  gint64 state_width;                /* width of the decoder's states */
  gint64 context_width;              /* width of PlaitOutputPass.context */
  gint64 embedded_width;             /* width of PlaitOutputPass.embedded */
  gint64 vocabulary_size;            /* number of words */
  const PlaitOutputMemory *memories; /* [n_memories] memories of the decoder */
  guint n_memories;
  PlaitParameter *embedding;   /* target embeddings [vocabulary, state_width] if decoder.tie_output is set, else NULL */
  gboolean bias;               /* value of decoder.output_bias */
  PlaitParameters *parameters; /* registry in which to declare parameters */
  const char *prefix;          /* required beginning of the parameters' names */
} PlaitOutputBuild;

/* Attention of the decoder's last cross-attention to one memory. */
typedef struct
{
  /* [pairs, 1] attention weights before dropout; NULL if PlaitOutputShape.copies is FALSE for this memory */
  PlaitNode *weights;

  PlaitQueryKeyPairs pairs; /* pairs of a row of the pass and a row of the memory */
  const gint64 *queries;    /* [pairs] query of each pair: a row of the pass */
} PlaitOutputAttention;

/* One pass: whole targets, or in search one row for each hypothesis. Nodes are on @tape. */
typedef struct
{
  PlaitTape *tape;
  PlaitNode *states;   /* [rows, state_width] states of the decoder */
  PlaitNode *context;  /* [rows, context_width] sum of the contexts that the combiner added in the decoder's last
                          cross-attention; NULL if PlaitOutputShape.context is FALSE */
  PlaitNode *embedded; /* [rows, embedded_width] embeddings of the tokens that the decoder read, plus those of their
                          roles if the target has roles, without dropout; NULL if PlaitOutputShape.embedded is FALSE */
  guint n_memories;
  const PlaitOutputAttention *attention; /* [n_memories] attention to each memory */
  PlaitNode *shares; /* [rows, n_memories] weights of the combiner's attention over contexts, or NULL */
  gboolean joint;    /* TRUE: the attention weights of all memories come from one softmax */

  /* Filled by the output. */
  PlaitNode *logit_states; /* states s [rows, width of the table] */
  PlaitNode *gate;         /* [rows, 1] gate of a mixture; NULL for logits */
  PlaitNode **copied; /* [n_memories] for each memory with PlaitOutputShape.copies: weights [pairs, 1] of at least 0;
                         for other memories: NULL */
} PlaitOutputPass;

typedef struct
{
  gsize state_size; /* bytes of the output's state. The host allocates it, zeroed, and frees it without a callback;
                       allocate its arrays with plait_parameters_memory */

  /* Declares all parameters and fills @shape, which is zeroed. @settings: the plugin's own struct, filled by the host;
   * it lives as long as the model. Returns FALSE with PLAIT_ERROR_INPUT if the settings contradict each other. */
  gboolean (*build) (const PlaitOutputBuild *build, gconstpointer settings, gpointer state, PlaitOutputShape *shape,
                     GError **error);

  /* Computes the fields of @pass that the output fills. A row of the result depends on the same row of the nodes
   * only. */
  void (*output) (gconstpointer settings, gconstpointer state, PlaitOutputPass *pass);

  gpointer reserved[4];
} PlaitOutputTable;

/* Sets table and bias of @shape. If decoder.tie_output is set, the table is the target embeddings; else declares the
 * table as PREFIX + "weight" [vocabulary, state_width]. If decoder.output_bias is set, declares the bias as PREFIX +
 * "bias"; else the bias stays NULL. */
PLAIT_API void plait_output_declare_table (const PlaitOutputBuild *build, PlaitOutputShape *shape);

/* Returns a node [pairs, 1] of memory @memory: the attention weight of each pair times the number in @numbers [rows, 1]
 * of the pair's query row. */
PLAIT_API PlaitNode *plait_output_weigh (const PlaitOutputPass *pass, guint memory, PlaitNode *numbers);
