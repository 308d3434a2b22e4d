/* SPDX-License-Identifier: MIT */
#pragma once

#include "types/export.h"
#include "types/tensor.h"

/*
 * A batch of tuples. A tuple has one sentence of each source and, unless the batch is to be translated, one target
 * sentence. Sentences are stored end to end, without padding.
 *
 * These types are part of the plugin interface. Plugins only read them; the batch owns all memory.
 */

/* Token ids that every vocabulary reserves. PLAIT_TOKEN_PAD also stands for a masked token, and for the start token of
 * a decoder that begins with padding. */
enum
{
  PLAIT_TOKEN_PAD = 0,
  PLAIT_TOKEN_BOS = 1,
  PLAIT_TOKEN_EOS = 2,
  PLAIT_TOKEN_UNKNOWN = 3,
  PLAIT_TOKEN_SPECIALS = 4, /* the first id of an ordinary piece */
};

/* Kind of the rows of an input. The schema of an encoder names the kind that it reads. */
typedef enum
{
  PLAIT_INPUT_TOKENS,    /* a row is a token id */
  PLAIT_INPUT_FEATURES,  /* a row is a vector, such as a region of an image */
  PLAIT_INPUT_DOCUMENTS, /* a row is a token id; the input also says at which rows sentences begin */
} PlaitInputKind;

/* TRUE if the rows of @kind are vocabulary ids. */
static inline gboolean
plait_input_kind_is_text (PlaitInputKind kind)
{
  return kind != PLAIT_INPUT_FEATURES;
}

/*
 * Binary trees over the rows of an input. The leaves of a tree are, from left to right, the rows of a sentence, without
 * an EOS row at the end. So a tree with I leaves has I - 1 inner nodes. If I is 1, the row is the root. A sentence
 * without a tree has no inner nodes.
 *
 * The arrays have one entry for each inner node. Sentence s has the entries
 * nodes.offsets[s] .. nodes.offsets[s + 1] - 1. Children precede their parents, so the last inner node is the root. In
 * a sentence of T rows, EOS included, child c is row c of the sentence if c < T, and inner node c - T if c >= T.
 */
typedef struct
{
  PlaitRagged nodes;   /* inner nodes of each sentence; nodes.n is the number of sentences */
  const gint64 *left;  /* [nodes] left child: a row of the sentence, or T + i for its inner node i */
  const gint64 *right; /* [nodes] right child, numbered like @left */

  /* [nodes] label: "NP"; "ROOT+S" if it stands for a chain of single children; "@NP" if the node was added to make the
   * tree binary; "" if unknown */
  const char *const *labels;
} PlaitTrees;

/* The sentences of documents. In a batch of documents, what a PlaitRagged calls a sentence is a document or a chunk of
 * a document. */
typedef struct
{
  PlaitRagged sentences; /* the sentences of each document; sentences.n is the number of documents. Document d has the
                            sentences offsets[d] .. offsets[d + 1] - 1 */
  const gint64 *rows;    /* [sentences + 1] sentence i has the rows rows[i] .. rows[i + 1] - 1 of the batch. Every row
                            belongs to one sentence, EOS to the last. A sentence has at least one row */
  gboolean start_tokens; /* TRUE if the first row of each sentence is a start token */
  const gint32 *roles;   /* [sentences] role of each sentence, 0 .. roles - 1; NULL: documents have no roles */
} PlaitDocuments;

/* Word alignment of a source with the target, over their rows: each piece of a source word is linked to each piece of
 * the target word. */
typedef struct
{
  PlaitRagged links;    /* links of each sentence; links.n is the number of sentences */
  const gint64 *source; /* [links] source row of each link, counted in its sentence */
  const gint64 *target; /* [links] target row of each link: index into the sentence's part of target_outputs */
} PlaitAlignment;

/* One source of a batch. A sentence without rows is missing: this source has no text or features for it. */
typedef struct
{
  PlaitInputKind kind;
  const char *name;     /* name of the source, as in [source NAME] */
  PlaitRagged rows;     /* rows of each sentence; rows.n is the number of sentences */
  const gint32 *tokens; /* [rows] token ids, each in 0 .. vocabulary size - 1; NULL for features */

  /* [rows] for PLAIT_TOKEN_UNKNOWN: the word of the text, between white space, that contains the token, or NULL if the
   * word was not found; for other tokens: NULL. The array is NULL if unknown words were not kept. */
  const char *const *unknown_words;

  /* [rows] like @tokens, except that the own words of each sentence (PlaitBatch.own_words) have the ids first_own,
   * first_own + 1, ... instead of PLAIT_TOKEN_UNKNOWN. NULL if the output does not copy words, or if this source has
   * another vocabulary of words than the target. */
  const gint32 *own_ids;

  PlaitTensor features;    /* [rows, width] feature vectors; data is NULL for tokens and documents */
  gint64 n_missing;        /* number of sentences without rows */
  const PlaitTrees *trees; /* trees whose leaves are the rows of PLAIT_INPUT_TOKENS; NULL if the source has no trees */

  /* Sentences of each document. Set for PLAIT_INPUT_DOCUMENTS, and for PLAIT_INPUT_TOKENS made from documents; else
   * NULL. */
  const PlaitDocuments *documents;

  const PlaitAlignment *alignment; /* word alignment with the target; NULL if there is no file of alignments */

  guint n_factors; /* number of arrays in @factors: source factors, such as parts of speech, then predicted tags */
  /* [n_factors][rows] ids in the vocabulary of each factor. All rows of a word have the factor of the word; white space
   * separates words. PLAIT_TOKEN_PAD, PLAIT_TOKEN_BOS and PLAIT_TOKEN_EOS keep their ids in all factors. If the
   * target is the masked tokens, all rows of a word with a masked token have PLAIT_TOKEN_PAD. Tags: only the first row
   * of a word has the tag of the word; its other rows have PLAIT_TOKEN_PAD. Encoders get an input without tags. */
  const gint32 *const *factors;
} PlaitInput;

/* TRUE if sentence @sentence of the batch has no rows in @input. */
static inline gboolean
plait_input_is_missing (const PlaitInput *input, gint64 sentence)
{
  return plait_ragged_length (input->rows, sentence) == 0;
}

/*
 * A batch of tuples. Its targets are of one kind:
 * Text y_1 .. y_n: target_inputs are BOS, y_1, .., y_n and target_outputs are y_1, .., y_n, EOS. A decoder predicts
 * output row j after it has read input rows 0 .. j.
 * Masked tokens: target_outputs are the original tokens, and target_inputs are the rows of these tokens in their
 * sentence.
 * The other kinds have no EOS and do not use target_inputs. The target_outputs of a sentence are, for
 * - a class: one row, the number of the class; no row if the class is unknown;
 * - tags: one row for each token, the number of its tag;
 * - a choice: one row, the number of the chosen sentence in its document;
 * - a number: one row, the bits of a float;
 * - a span: two rows, the numbers of the first and the last row of the span in its document.
 *
 * A batch to be translated has no target: target_rows.offsets, target_inputs and target_outputs are NULL.
 *
 * Own words: an output that copies words can write source words that the vocabulary lacks. own_words lists, for each
 * sentence, the different unknown words of all sources that have own_ids. In this sentence, word i of the list has the
 * id first_own + i, both in PlaitInput.own_ids and in target_outputs. An unknown word of the target that is not in the
 * list stays PLAIT_TOKEN_UNKNOWN. target_inputs never have ids of own words, because own words have no embedding.
 */
typedef struct
{
  gint64 n_sentences;
  gint64 n_sources;
  const PlaitInput *inputs; /* [n_sources] the sources, in the order of the experiment */

  PlaitRagged target_rows; /* target rows of each sentence; a text target of n tokens has n + 1 rows */
  const gint32 *target_inputs;
  const gint32 *target_outputs;

  gint32
      first_own; /* id of the first own word of each sentence, which is the size of the vocabulary; 0: no own words */
  PlaitRagged own_words; /* own words of each sentence; n = n_sentences. If first_own is 0, n is 0, offsets is NULL */
  const char *const *own_texts; /* [own words] text of each own word */

  const gint64 *sentence; /* [n_sentences] index of each tuple in its corpus */
  const double *weights;  /* [n_sentences] weight of the loss of each target; NULL: all weights are 1 */
} PlaitBatch;

/* Returns the text of token @id of sentence @sentence if it is an own word, else NULL. (transfer none) */
static inline const char *
plait_batch_own_word (const PlaitBatch *batch, gint64 sentence, gint32 id)
{
  return batch->first_own > 0 && id >= batch->first_own
             ? batch->own_texts[batch->own_words.offsets[sentence] + id - batch->first_own]
             : NULL;
}

/* Returns an id that the vocabulary has: PLAIT_TOKEN_UNKNOWN if @id is an own word, else @id. */
static inline gint32
plait_batch_known_id (const PlaitBatch *batch, gint32 id)
{
  return batch->first_own > 0 && id >= batch->first_own ? PLAIT_TOKEN_UNKNOWN : id;
}

/* Frees @batch and everything in it. NULL is allowed. */
void plait_batch_free (PlaitBatch *batch);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitBatch, plait_batch_free)
