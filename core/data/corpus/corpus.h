/* SPDX-License-Identifier: MIT */
#pragma once

#include "types/features.h"
#include "process/pool.h"
#include "documents/documents.h"
#include "corpus/text-cache.h"
#include "types/input.h"
#include "documents/labels.h"
#include "documents/masking.h"
#include "trees/trees.h"
#include "vocabulary/vocabulary.h"

/*
 * A split of a corpus: line-aligned streams, one a source and one for the target. Line i of each file, and entry i of a
 * features dataset, belong to tuple i. A source of tokens may have a second stream, its trees (trees.h). Where streams
 * are documents (documents.h), "line i" is document i of them, and a document that is cut gives a tuple a chunk.
 *
 * Opening reads every text file once, from beginning to end, checks it and encodes it (token-store.h); nothing of the
 * text is held. Features stay in their file and are read a batch at a time.
 */
typedef struct PlaitCorpus PlaitCorpus;

/* Where a source or the target comes from. */
typedef struct
{
  const char *name;    /* as in [source NAME]; for messages and batches */
  PlaitInputKind kind; /* the target is tokens */
  const char *path;    /* of a text file (plain or gzip), or of an HDF5 file */
  guint column;        /* to a feed: from 1, the column of its table that the text is instead; 0: none */
  const char *dataset; /* features: path of the dataset [sentence, position, width]; NULL: the only one */
  PlaitFeaturesOpen open_features;
  PlaitVocabulary *vocabulary; /* tokens; the corpus takes a reference */
  gboolean append_end;         /* sources: EOS ends each sentence that is not missing. Targets always have it. */
  PlaitTargetKind target;      /* of a target, which is no documents unless it is text */
  gboolean allow_unknown;      /* where no line is dropped: a label that the vocabulary lacks is a target of no rows */
  const PlaitKnownText *known; /* what @path is to be, to an index; NULL: whatever is there */
  gint64 maximum_length;       /* drops tuples with more tokens of text here (no BOS, no EOS); 0: no limit */

  /* Sources of tokens: their trees, or NULL. Tokens are encoded white-space token by token then, so that the rows of a
   * word are known. */
  const PlaitTreeSettings *trees;
  const char *trees_path; /* of PLAIT_TREES_GIVEN: a text file with a tree a line */
  guint trees_column;     /* as column */

  /* Tokens, without trees: how the text is laid out. If one stream's documents are cut into chunks, all streams are
   * documents. A target has no maximum, so that it is cut where it would be if it were not known; its sentences have
   * start tokens between them alone, since decoders read one before the first anyhow. */
  PlaitDocumentSettings documents;
} PlaitCorpusStream;

typedef struct
{
  const char *split; /* such as "train"; for messages */
  const PlaitCorpusStream *sources;
  gint64 n_sources;
  const PlaitCorpusStream *target; /* NULL: there is nothing but sources */

  /* NULL, or how tokens of the first source are masked, which is text. Batches have the masked tokens as their targets
   * then, a row each: the outputs are the tokens, the inputs their rows within the sentence. There is no stream of a
   * target beside them. */
  const PlaitMasking *masking;

  /* empty=error: an empty line, or features of length 0, are an error. Otherwise the source is missing for this
   * tuple. */
  gboolean empty_is_error;

  /* For splits that are translated and scored, where line i must stay line i: no tuple is dropped, whatever its lengths
   * and trees, and an empty target is a target of no tokens. Otherwise tuples above a length limit, with an empty
   * target, or without a tree where no_tree=drop, are dropped and counted. */
  gboolean keep_all;

  /* NULL, or where what is encoded is kept: of sentences without trees, of whose files one is large and all are
   * known. */
  const PlaitTextCache *text_cache;
} PlaitCorpusSettings;

/* What was found in a stream. */
typedef struct
{
  gint64 tokens;         /* in the kept tuples; without EOS */
  gint64 unknown;        /* of these, how many are PLAIT_TOKEN_UNKNOWN */
  gint64 missing;        /* kept tuples where the stream is empty */
  gint64 unknown_labels; /* kept tuples whose label the vocabulary lacks */
  gint64 longest;        /* tokens or rows in the longest kept sentence, without EOS */
  gint64
      dropped_long; /* tuples dropped because this stream is above its limit (each counted at the first such stream) */
  gint64 dropped_empty;    /* tuples dropped because the target is empty */
  gint64 dropped_treeless; /* tuples dropped because this stream's tree is missing, and no_tree=drop */
  gint64 without_tree;     /* kept tuples of several words whose tree stream has no tree */
  gint64 truncated;        /* documents that lost what was behind their maximum */
  gint64 tokens_lost;      /* in these */
} PlaitCorpusCounts;

/* Reads and checks all streams; @pool (may be NULL) shares the encoding. Fails, naming file and line, on: missing and
 * unreadable files, bad text (text-file.h), files of different numbers of lines, empty lines where they are errors, a
 * corpus of no tuples, lines that are no label of the vocabulary or no number of a sentence, trees of kept tuples that
 * are malformed or not of their sentence, documents that cannot be read or cut (documents.h). (transfer full) */
PlaitCorpus *plait_corpus_open (const PlaitCorpusSettings *settings, PlaitPool *pool, GError **error);
void plait_corpus_free (PlaitCorpus *corpus);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitCorpus, plait_corpus_free)

/* Kept tuples. */
gint64 plait_corpus_size (const PlaitCorpus *corpus);

/* Lines or documents of each file, dropped ones included. */
gint64 plait_corpus_lines (const PlaitCorpus *corpus);

/* The line or document of kept tuple @tuple, from 0. The same number unless tuples were dropped or documents cut. */
gint64 plait_corpus_line (const PlaitCorpus *corpus, gint64 tuple);

/* The name of kept tuple @tuple (documents.h). (transfer full) */
char *plait_corpus_name (const PlaitCorpus *corpus, gint64 tuple);

/* Where kept tuple @tuple stands in the file of @stream (a source, or n_sources for the target), as "FILE:LINE" or
 * "FILE: document N". (transfer full) */
char *plait_corpus_location (const PlaitCorpus *corpus, gint64 stream, gint64 tuple);

gint64 plait_corpus_n_sources (const PlaitCorpus *corpus);
gboolean plait_corpus_has_target (const PlaitCorpus *corpus);

/* Counts of stream @stream: a source's index, or n_sources for the target. (transfer none) */
const PlaitCorpusCounts *plait_corpus_counts (const PlaitCorpus *corpus, gint64 stream);

/* What was dropped or cut and why, and what has no tree, a sentence a stream and reason; empty if nothing. (transfer
 * full) */
GStrv plait_corpus_report (const PlaitCorpus *corpus);

/* Rows of @stream (as above) in tuple @tuple, EOS included. */
gint64 plait_corpus_length (const PlaitCorpus *corpus, gint64 stream, gint64 tuple);

/* Rows of @stream in the tuple that has the most of them, EOS included. */
gint64 plait_corpus_longest (const PlaitCorpus *corpus, gint64 stream);

/* Tokens of all token sources and the target in @tuple, EOS included: what batches by tokens count. */
gint64 plait_corpus_tokens (const PlaitCorpus *corpus, gint64 tuple);

/* The width of feature source @source; 0 for tokens. */
gint64 plait_corpus_width (const PlaitCorpus *corpus, gint64 source);

/* Removes the tuples of @corpus, of training, that @dropped [size] says. Others follow in their order. One at least
 * must stay, and no source may be deranged yet. */
void plait_corpus_drop (PlaitCorpus *corpus, const gboolean *dropped);

/* TRUE if the sentences of stream @stream can be truncated: of a source, tokens that are no documents and have no
 * trees. */
gboolean plait_corpus_can_truncate (const PlaitCorpus *corpus, gint64 stream);

/* Lets @source, which can be truncated, give the beginning of each sentence that has more than @rows rows, its end
 * among them. */
void plait_corpus_truncate (PlaitCorpus *corpus, gint64 source, gint64 rows);

/* Lets source @source of tuple i come from another tuple, by a permutation without fixed points keyed by @seed: the
 * adversarial test of whether a model uses a source. Needs two tuples. */
gboolean plait_corpus_derange (PlaitCorpus *corpus, gint64 source, guint64 seed, GError **error);

/* Puts tokens drawn from all tokens of source @source in the place of each of its tokens, or rows in the place of each
 * of its features, keyed by @seed: lengths, trees and bounds of sentences stay. */
void plait_corpus_add_noise (PlaitCorpus *corpus, gint64 source, guint64 seed);

/* Lets source @source be missing in all tuples. */
void plait_corpus_remove_source (PlaitCorpus *corpus, gint64 source);

/* Source dropout, for training: lets each source of each tuple be missing with probability @rate, by draws keyed by
 * @seed, other ones in each epoch and the same ones in whatever batches. Where all that a tuple has would be missing,
 * one of them stays, drawn at random, so that of n sources each is missing with probability rate - rate^n / n. Lengths,
 * and with them the order of batches, stay those of the whole tuples. */
void plait_corpus_set_source_dropout (PlaitCorpus *corpus, double rate, guint64 seed);

/* TRUE if all files are as they were when they were read or opened (files/file-stamp.h): names the first that is
 * not. */
gboolean plait_corpus_check (const PlaitCorpus *corpus, GError **error);

/* The text lines of the kept tuples of token stream @stream, read from the file again, which must not have changed:
 * references to score against. Of documents, the sentences of each with LF between them, cut or not. NULL-terminated;
 * not deranged. (transfer full) */
GStrv plait_corpus_text (const PlaitCorpus *corpus, gint64 stream, GError **error);

/* The batch of tuples @tuples[0 .. n - 1], in an epoch, from 0, on which masks and source dropout depend. It must not
 * outlive the corpus. Fails if features cannot be read, if their file was changed, or if memory does not suffice.
 * (transfer full) */
PlaitBatch *plait_corpus_batch_in (const PlaitCorpus *corpus, gint64 epoch, const gint64 *tuples, gint64 n,
                                   GError **error);

/* The same in epoch 0. */
PlaitBatch *plait_corpus_batch (const PlaitCorpus *corpus, const gint64 *tuples, gint64 n, GError **error);
