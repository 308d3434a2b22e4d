/* SPDX-License-Identifier: MIT */
#pragma once

#include "types/input.h"
#include "layers/parameter.h"
#include "layers/pyramid.h"
#include "layers/tree.h"
#include "interface/loss.h"
#include "interface/memory.h"

/*
 * The encoder contract: a batch of one source -> one or more memories.
 */

#define PLAIT_ENCODER_MAX_MEMORIES 4

/* Value of a setting that stands for the decoder's width. */
#define PLAIT_DECODER_WIDTH 0

/* The declaration of an encoder: its memories, in the order in which encode fills them, and its losses. */
typedef struct
{
  guint n_memories;
  struct
  {
    const char *name; /* name of the memory, a static text such as "sentences"; NULL for the only or main memory */
    gint64 width;
    PlaitStructure structure; /* links that the memory carries; at least those that the schema promises */
    gboolean zero_output; /* TRUE: the output projection of an attention that reads only this memory is initialised with
                             zeros */
  } memories[PLAIT_ENCODER_MAX_MEMORIES];
  gint64 summary_width; /* width of PlaitEncoding.summary; 0: no summary */
  PlaitLosses losses;
} PlaitEncoderShape;

/* Arguments for building an encoder. Valid during the call of build: copy what the function encode needs. */
typedef struct
{
  const char *source;          /* name of the source */
  PlaitInputKind kind;         /* kind of PlaitEncoding.input: tokens, features or documents */
  gint64 input_width;          /* width of embedded tokens or of feature vectors */
  gint64 model_width;          /* width of the decoder, used for settings that are PLAIT_DECODER_WIDTH */
  gboolean pre_norm;           /* TRUE if decoder.norm is pre; used if the encoder's setting is norm=decoder */
  PlaitParameters *parameters; /* registry in which to declare parameters */
  const char *prefix;          /* required beginning of the parameters' names, such as "source/en/" */
  /* Shape of the inner encoder, if the schema asks for one (leaves=true); else NULL. The group [source NAME/leaves] has
   * the settings of the inner encoder; the names of its parameters begin with PREFIX + "leaves/". */
  const PlaitEncoderShape *leaves;
} PlaitEncoderBuild;

/* One call of an encoder. Nodes are on @tape, arrays in its arena or in @input: they must live until the end of the
 * step. */
typedef struct PlaitEncoding PlaitEncoding;

struct PlaitEncoding
{
  PlaitTape *tape;
  const PlaitInput *input;
  const PlaitEncoding *leaves; /* output of the inner encoder, or NULL if the schema asks for none */
  PlaitNode *embedded; /* [rows, input_width]: for tokens and documents, the host's embeddings, roles and factors
                          included; for features, the vectors as a constant leaf */

  /* Filled by the encoder. */
  PlaitMemory memories[PLAIT_ENCODER_MAX_MEMORIES];
  PlaitNode *summary;      /* [sentences, summary_width] last state or root, or NULL */
  PlaitNode *summary_cell; /* [sentences, summary_width] cell state of the summary, or NULL */
  /*< private >*/
  struct PlaitEncodingHost *host;
};

typedef struct
{
  gsize state_size; /* bytes of the instance's state. The host allocates it, zeroed, and frees it without a callback;
                       allocate its arrays with plait_parameters_memory */

  /* Declares all parameters and fills @shape, which is zeroed. @settings: the plugin's own struct, filled by the host;
   * it lives as long as the model. Returns FALSE with PLAIT_ERROR_INPUT if the settings contradict each other. */
  gboolean (*build) (const PlaitEncoderBuild *build, gconstpointer settings, gpointer state, PlaitEncoderShape *shape,
                     GError **error);

  /* Runs the encoder on encoding->tape and fills the memories and the summary of @encoding. */
  void (*encode) (gconstpointer settings, gconstpointer state, PlaitEncoding *encoding);

  /* Returns FALSE with PLAIT_ERROR_INPUT, naming the setting that limits the length, if a sentence of @rows rows is too
   * long. Called before a batch is read. NULL: any length is allowed. */
  gboolean (*check_length) (gconstpointer settings, gconstpointer state, gint64 rows, GError **error);

  /* Returns FALSE with PLAIT_ERROR_INPUT if the encoder cannot read @input for another reason than its length, such as
   * too many sentences in a document. Called for each sentence before training, and before a batch is read. NULL: any
   * input is allowed. */
  gboolean (*check_input) (gconstpointer settings, gconstpointer state, const PlaitInput *input, GError **error);

  gpointer reserved[2];
} PlaitEncoderTable;

/* Adds @loss [1, 1], a sum over sentences, to the declared loss @name. Ends the step if @name was not declared. */
PLAIT_API void plait_encoding_add_loss (PlaitEncoding *encoding, const char *name, PlaitNode *loss);

/* Functions for encoders of trees, pyramids and documents. Those for trees and pyramids need an inner encoder. */

/* Returns the memory rows of the input's trees over the rows of the inner encoder. A sentence of one token, with or
 * without EOS, has this token as its root. The result is in the tape's arena. */
PLAIT_API const PlaitTreeRows *plait_encoding_tree (const PlaitEncoding *encoding);

/* Returns a memory of all rows of @tree, with their links. @rows: their states and, unless NULL, their cell states. */
PLAIT_API PlaitMemory plait_encoding_tree_memory (const PlaitEncoding *encoding, const PlaitTreeRows *tree,
                                                  PlaitCellState rows);

/* Returns a node [sentences, w]: the rows of x [rows, w] that are roots; zeros for a sentence without a tree. */
PLAIT_API PlaitNode *plait_encoding_tree_root (const PlaitEncoding *encoding, const PlaitTreeRows *tree, PlaitNode *x);

/* Returns a memory of all levels of @pyramid, with the links between their rows. */
PLAIT_API PlaitMemory plait_encoding_pyramid_memory (const PlaitEncoding *encoding, const PlaitPyramidRows *pyramid);

/* Returns the first row of each sentence in documents, as row numbers of the input. An inner encoder must have one row
 * for each token. */
PLAIT_API PlaitSentenceStarts plait_encoding_starts (const PlaitEncoding *encoding);

/* Returns a memory with one row for each token: states [rows, w]. Omits the rows of start tokens if documents have them
 * and @start_tokens is FALSE. */
PLAIT_API PlaitMemory plait_encoding_token_memory (const PlaitEncoding *encoding, PlaitNode *states,
                                                   gboolean start_tokens);

/* Returns a memory with one row for each sentence: states [sentences of all documents, w]. */
PLAIT_API PlaitMemory plait_encoding_sentence_memory (const PlaitEncoding *encoding, PlaitNode *states);
