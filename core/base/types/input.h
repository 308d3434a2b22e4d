/* SPDX-License-Identifier: MIT */
#pragma once

#include "types/export.h"
#include "types/tensor.h"

/*
 * What the host hands to encoders and decoders: a batch of tuples, each with one sentence a source and one target
 * sentence, laid end to end without padding.
 *
 * Part of the plugin interface. Plugins read these and change nothing; all memory belongs to the batch.
 */

/* Token ids that every vocabulary keeps. Row PLAIT_TOKEN_PAD of an embedding is read where a
 * token is masked, and where a decoder is told to begin with it. */
enum
{
  PLAIT_TOKEN_PAD = 0,
  PLAIT_TOKEN_BOS = 1,
  PLAIT_TOKEN_EOS = 2,
  PLAIT_TOKEN_UNKNOWN = 3,
  PLAIT_TOKEN_SPECIALS = 4, /* ordinary pieces have the ids from here on */
};

/* What the rows of an input are. A schema names the kind that its encoder reads. */
typedef enum
{
  PLAIT_INPUT_TOKENS,    /* one vocabulary id a row */
  PLAIT_INPUT_FEATURES,  /* one vector a row, such as a position of an image */
  PLAIT_INPUT_DOCUMENTS, /* one vocabulary id a row, and where the sentences of each document begin */
} PlaitInputKind;

/* TRUE if the rows of @kind are vocabulary ids. */
static inline gboolean
plait_input_kind_is_text (PlaitInputKind kind)
{
  return kind != PLAIT_INPUT_FEATURES;
}

/*
 * Binary trees over the rows of an input. Sentence s has the inner nodes nodes.offsets[s] .. nodes.offsets[s + 1] - 1,
 * children before parents, so the last is the root; the arrays have an entry a node. A child c of sentence s, which has
 * T rows, is row c of the sentence if c < T, and else inner node c - T of the sentence.
 *
 * Read from left to right, the leaves are the rows in their order: a sentence of I tokens has I - 1 inner nodes, or
 * none if it has no tree. An EOS row, the last of its sentence, stands outside of the tree. So one token, with EOS
 * behind it or without, is a tree whose root is that row.
 */
typedef struct
{
  PlaitRagged nodes;   /* n = sentences of the batch */
  const gint64 *left;  /* counted within the sentence, as said above */
  const gint64 *right; /* the same */

  /* Such as "NP", "ROOT+S" (a chain of single children made one) and "@NP" (made to be binary); "" where unknown. */
  const char *const *labels;
} PlaitTrees;

/* The sentences of documents: each "sentence" of the batch is a document then, or a chunk of one. */
typedef struct
{
  PlaitRagged sentences; /* n = documents of the batch: document d has the sentences offsets[d] .. offsets[d + 1] - 1 */
  const gint64 *rows;    /* [sentences + 1]: sentence i has the rows rows[i] .. rows[i + 1] - 1 of the batch; every row
                            is of one sentence, EOS of the last, and a sentence has one at least */
  gboolean start_tokens; /* whether the first row of each sentence is a start token */
  const gint32 *roles;   /* [sentences]: 0 .. roles - 1; NULL: documents have no roles */
} PlaitDocuments;

/* One source of a batch. A sentence without rows is missing: there is nothing of this source to read for it. */
typedef struct
{
  PlaitInputKind kind;
  const char *name;        /* of the source, as in [source NAME] */
  PlaitRagged rows;        /* n = sentences of the batch */
  const gint32 *tokens;    /* [rows] of tokens and documents, each in 0 .. vocabulary size - 1; NULL otherwise */
  PlaitTensor features;    /* [rows, width] of PLAIT_INPUT_FEATURES; data is NULL otherwise */
  gint64 n_missing;        /* sentences without rows */
  const PlaitTrees *trees; /* over the rows of PLAIT_INPUT_TOKENS; NULL if the source has no trees */

  /* Over the rows of PLAIT_INPUT_DOCUMENTS, and of PLAIT_INPUT_TOKENS that come from documents; NULL otherwise. */
  const PlaitDocuments *documents;
} PlaitInput;

/* TRUE if sentence @sentence of the batch has no rows in @input. */
static inline gboolean
plait_input_is_missing (const PlaitInput *input, gint64 sentence)
{
  return plait_ragged_length (input->rows, sentence) == 0;
}

/*
 * A batch of tuples. For a target y_1 .. y_n the inputs are BOS, y_1, .., y_n and the outputs y_1, .., y_n, EOS: row j
 * of the outputs is what a decoder predicts after it has read the rows up to j of the inputs. Both have target_rows.
 *
 * A target of classes has one row a sentence, the number of its class, or none where nobody knows that class; one of
 * choices has that of a sentence of the document; of spans there are two, the rows where they begin and end. Of masked
 * tokens the outputs are what they were, the inputs their rows within the sentence.
 *
 * A batch to be translated has no target: target_rows.offsets, target_inputs and target_outputs are NULL.
 */
typedef struct
{
  gint64 n_sentences;
  gint64 n_sources;
  const PlaitInput *inputs; /* [n_sources], in the order of the experiment's sources */

  PlaitRagged target_rows; /* n = n_sentences; a sentence of n tokens has n + 1 rows */
  const gint32 *target_inputs;
  const gint32 *target_outputs;

  const gint64 *sentence; /* [n_sentences], the index of each tuple in its corpus */
} PlaitBatch;

/* Frees @batch and everything in it. NULL is allowed. */
void plait_batch_free (PlaitBatch *batch);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitBatch, plait_batch_free)
