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

/* Value of a setting: the decoder's width. */
#define PLAIT_DECODER_WIDTH 0

/* What an encoder declares: its memories, in the order in which it will fill them, and its losses. */
typedef struct
{
  guint n_memories;
  struct
  {
    const char *name; /* static, such as "sentences"; NULL for the only or main memory */
    gint64 width;
    PlaitStructure structure; /* what the schema promises, at least */
    gboolean zero_output;     /* attention to it alone starts with an output projection of zeros, where it has one */
  } memories[PLAIT_ENCODER_MAX_MEMORIES];
  gint64 summary_width; /* 0: gives no summary */
  PlaitLosses losses;
} PlaitEncoderShape;

/* What the host tells an encoder that it builds. It lasts as long as the call of build: copy what encode needs. */
typedef struct
{
  const char *source;          /* name of the source */
  PlaitInputKind kind;         /* what it will be given */
  gint64 input_width;          /* width of the embedded tokens, or of the feature vectors */
  gint64 model_width;          /* width of the decoder, which a setting PLAIT_DECODER_WIDTH asks for */
  gboolean pre_norm;           /* decoder.norm, which an encoder follows unless its own setting says otherwise */
  PlaitParameters *parameters; /* declare parameters here ... */
  const char *prefix;          /* ... under names that begin with this, for example "source/en/" */
  /* What the encoder gives that this one stands on, in schemas that ask for leaves; else NULL. Its parameters are those
   * of the group [source NAME/leaves], and stand below PREFIXleaves/. */
  const PlaitEncoderShape *leaves;
} PlaitEncoderBuild;

/* One call of an encoder. Nodes are of @tape, arrays of its arena or of @input: the step needs them to its end. */
typedef struct PlaitEncoding PlaitEncoding;

struct PlaitEncoding
{
  PlaitTape *tape;
  const PlaitInput *input;
  const PlaitEncoding *leaves; /* what the encoder gave that this one stands on, or NULL */
  PlaitNode *embedded; /* tokens, documents: the host's embeddings [rows, input_width], with those of roles added;
                          features: the vectors, a constant leaf */

  /* Filled by the encoder. */
  PlaitMemory memories[PLAIT_ENCODER_MAX_MEMORIES];
  PlaitNode *summary;      /* [sentences, summary_width], or NULL: last state or root */
  PlaitNode *summary_cell; /* the cell beside it, or NULL */
  /*< private >*/
  struct PlaitEncodingHost *host;
};

typedef struct
{
  gsize state_size; /* of the instance's state, zeroed memory of the host, which frees it and asks nobody: arrays in it
                       come from plait_parameters_memory */

  /* Declares every parameter and fills @shape, which is zero. @settings is the plugin's own struct, filled by the host;
   * it lives as long as the model. FALSE with *error set, PLAIT_ERROR_INPUT, if the settings do not fit together. */
  gboolean (*build) (const PlaitEncoderBuild *build, gconstpointer settings, gpointer state, PlaitEncoderShape *shape,
                     GError **error);

  /* Composes operators on encoding->tape and fills the memories. */
  void (*encode) (gconstpointer settings, gconstpointer state, PlaitEncoding *encoding);

  /* TRUE if a sentence of @rows rows can be read: PLAIT_ERROR_INPUT names the setting that limits them. Asked before a
   * batch is read. NULL: any can. */
  gboolean (*check_length) (gconstpointer settings, gconstpointer state, gint64 rows, GError **error);

  /* TRUE if @input can be read in all else, such as the number of a document's sentences: likewise. */
  gboolean (*check_input) (gconstpointer settings, gconstpointer state, const PlaitInput *input, GError **error);

  gpointer reserved[2];
} PlaitEncoderTable;

/* Adds @loss [1, 1], summed over sentences, to the declared loss @name. */
PLAIT_API void plait_encoding_add_loss (PlaitEncoding *encoding, const char *name, PlaitNode *loss);

/*
 * For encoders of trees, of pyramids and of documents that stand on leaves.
 */

/* The rows of the memory that the input's trees make over the leaves. A sentence of one token, with EOS behind it or
 * without, has that token for its root. */
PLAIT_API const PlaitTreeRows *plait_encoding_tree (const PlaitEncoding *encoding);

/* A memory with the states, and cells if there are some, of all those rows, and their links. */
PLAIT_API PlaitMemory plait_encoding_tree_memory (const PlaitEncoding *encoding, const PlaitTreeRows *tree,
                                                  PlaitCellState rows);

/* The rows of @x that belong to the roots: x [rows, w] -> [sentences, w]; zeros where a sentence has no tree. */
PLAIT_API PlaitNode *plait_encoding_tree_root (const PlaitEncoding *encoding, const PlaitTreeRows *tree, PlaitNode *x);

/* A memory with all levels of a pyramid over the leaves, and their links. */
PLAIT_API PlaitMemory plait_encoding_pyramid_memory (const PlaitEncoding *encoding, const PlaitPyramidRows *pyramid);

/* The first rows of the sentences in documents, among the leaves' rows, of which there is one a token. */
PLAIT_API PlaitSentenceStarts plait_encoding_starts (const PlaitEncoding *encoding);

/* A memory with the rows of the tokens, @states [rows, w]; without those of start tokens, if documents have some and
 * @start_tokens is FALSE. */
PLAIT_API PlaitMemory plait_encoding_token_memory (const PlaitEncoding *encoding, PlaitNode *states,
                                                   gboolean start_tokens);

/* A memory with a row a sentence, @states [sentences of all documents, w]. */
PLAIT_API PlaitMemory plait_encoding_sentence_memory (const PlaitEncoding *encoding, PlaitNode *states);
