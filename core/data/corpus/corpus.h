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
 * A split of a corpus: line-aligned streams, one for each source and one for the target. Line i of each stream,
 * counted over its files, and entry i of a features dataset form one tuple. A source of tokens may have a second
 * stream, its trees (trees.h). Where streams are documents (documents.h), "line i" is document i, and a document that
 * is cut gives one tuple per chunk. Tuples can be dropped, so that line i need not be tuple i.
 *
 * Opening reads, checks and encodes every text file (token-store.h), unless the encoded text is cached (text-cache.h).
 * The text is not kept. Features stay in their file and are read a batch at a time.
 */
typedef struct PlaitCorpus PlaitCorpus;

/* The data that a corpus stores for words that the vocabulary of a stream lacks. A corpus is cached only if all its
 * streams have PLAIT_UNKNOWN_ID. */
typedef enum
{
  PLAIT_UNKNOWN_ID,   /* the id of the unknown token */
  PLAIT_UNKNOWN_TEXT, /* the id and the text, for PlaitInput.unknown_words of a source */

  /* The id and the text; the words are own words of their sentences (PlaitBatch). All such streams share the target's
   * vocabulary of words. */
  PLAIT_UNKNOWN_OWN,
} PlaitUnknownUse;

/* Settings of one source, or of the target. */
typedef struct PlaitCorpusStream PlaitCorpusStream;

struct PlaitCorpusStream
{
  const char *name;    /* name, as in [source NAME], for messages and batches */
  PlaitInputKind kind; /* kind of a source's rows; PLAIT_INPUT_TOKENS for the target */

  /* Paths of the text files (plain or gzip) of the stream, or of one HDF5 file of features; NULL-terminated. NULL or an
   * empty list: the source is missing. All streams have equally many files, and their i-th files have equally many
   * lines. */
  const char *const *paths;

  guint column;        /* column of a feed's table, from 1, to read instead of @paths (not empty); 0: read @paths */
  const char *dataset; /* path of the dataset of features [sentence, position, width]; NULL: the only one */
  PlaitFeaturesOpen open_features;
  PlaitVocabulary *vocabulary; /* vocabulary of a text or of labels, else NULL; the corpus takes a reference */

  /* TRUE: EOS ends each sentence of a source that is not missing; text targets always have EOS */
  gboolean append_end;

  PlaitTargetKind target;  /* kind of a target; PLAIT_TARGET_TEXT for sources, factors and documents */
  gboolean allow_unknown;  /* TRUE: with keep_all, a target with a label that is not in the vocabulary has no rows */
  PlaitUnknownUse unknown; /* data that is stored for unknown words of a text */
  const PlaitKnownText *const *known; /* [files] stamp and digest of each file, for the cache; NULL: unknown */

  /* Maximum tokens of a sentence, without BOS and EOS; 0: no limit. A longer one drops its tuple unless keep_all. */
  gint64 maximum_length;

  /* Settings of the trees of a source of tokens; NULL: no trees. With trees, each word is encoded alone, so that its
   * rows are known. */
  const PlaitTreeSettings *trees;
  const char *const *trees_paths; /* files of trees, one tree per line, in the order of @paths; for PLAIT_TREES_GIVEN */
  guint trees_column;             /* column of a feed's table with trees, like @column */

  /* Layout of the text, for tokens without trees. If one stream has documents that are cut into chunks, all streams
   * must have documents. A target must have maximum 0: chunks must not depend on the target, which a translation does
   * not know. A target is stored without its first start token, because decoders add it, unless the vocabulary begins
   * texts with BOS. */
  PlaitDocumentSettings documents;

  /* [n_factors] factors of this source, which then has no documents. Each is a stream of text with one token for each
   * word of this source; white space separates words. It has a name, files or a column, and a vocabulary of words. */
  const PlaitCorpusStream *factors;
  guint n_factors;
  gboolean predicted; /* TRUE: this factor has tags that a model predicts (PlaitInput.factors) */
};

typedef struct
{
  const char *split; /* name of the split, such as "train", for messages */
  const PlaitCorpusStream *sources;
  gint64 n_sources;
  const PlaitCorpusStream *target; /* the target; NULL: the corpus has sources only */

  /* Masking of the first source, which must be text; NULL: no masking. With masking there is no target stream. Each
   * masked token is a target row: its output is the token, its input is the row of the token in the sentence. */
  const PlaitMasking *masking;

  /* empty=error: an empty line or features of length 0 are errors. Otherwise an empty source is missing in that tuple;
   * keep_all decides about an empty target. */
  gboolean empty_is_error;

  /* TRUE for splits that are translated and scored: no tuple is dropped; an empty text target has no tokens, an empty
   * label, choice, span or number is an error. FALSE: tuples above a length limit, with an empty target, or without a
   * tree (no_tree=drop) are dropped and counted. */
  gboolean keep_all;

  /* Cache of encoded text, or NULL. Used if the digests of all files are known, and no stream has trees, documents or
   * the text of unknown words. */
  const PlaitTextCache *text_cache;
} PlaitCorpusSettings;

/* Counts of one stream. */
typedef struct
{
  gint64 tokens;         /* tokens in kept tuples, without EOS */
  gint64 unknown;        /* number of PLAIT_TOKEN_UNKNOWN among the tokens */
  gint64 missing;        /* kept tuples in which the stream is empty */
  gint64 unknown_labels; /* kept tuples with a label that is not in the vocabulary */
  gint64 longest;        /* tokens or rows in the longest kept sentence, without EOS */
  gint64 dropped_long;   /* tuples dropped because this stream is above its limit (counted at the first such stream) */
  gint64 dropped_empty;  /* tuples dropped because the target is empty */
  gint64 dropped_treeless; /* tuples dropped because this stream's tree is missing (no_tree=drop) */
  gint64 without_tree;     /* kept tuples whose sentence has several words but no tree in the tree stream */
  gint64 truncated;        /* documents that were truncated */
  gint64 tokens_lost;      /* tokens removed by truncation */
} PlaitCorpusCounts;

/* Reads and checks all streams. Threads of @pool (may be NULL) share the encoding. Fails, naming file and line, on
 * missing or unreadable files, bad text (text-file.h), different numbers of lines, empty lines if they are errors,
 * invalid labels and sentence numbers, malformed or mismatched trees and factors of kept tuples, documents that cannot
 * be read or cut, and if no tuple is left. (transfer full) */
PlaitCorpus *plait_corpus_open (const PlaitCorpusSettings *settings, PlaitPool *pool, GError **error);
void plait_corpus_free (PlaitCorpus *corpus);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitCorpus, plait_corpus_free)

/* Returns the number of factors and tags of @source. */
guint plait_corpus_n_factors (const PlaitCorpus *corpus, gint64 source);

/* Returns the number of kept tuples. */
gint64 plait_corpus_size (const PlaitCorpus *corpus);

/* Returns the number of lines or documents in all files of a stream, dropped ones included. */
gint64 plait_corpus_lines (const PlaitCorpus *corpus);

/* Returns the line or document of kept tuple @tuple, from 0, counted over all files of a stream; equal to @tuple unless
 * tuples were dropped or documents cut. */
gint64 plait_corpus_line (const PlaitCorpus *corpus, gint64 tuple);

/* Returns the name of kept tuple @tuple (plait_document_chunk_name). (transfer full) */
char *plait_corpus_name (const PlaitCorpus *corpus, gint64 tuple);

/* Returns the position of kept tuple @tuple in the file of @stream (a source, or n_sources for the target): "FILE:LINE"
 * or "FILE: document N". (transfer full) */
char *plait_corpus_location (const PlaitCorpus *corpus, gint64 stream, gint64 tuple);

gint64 plait_corpus_n_sources (const PlaitCorpus *corpus);
gboolean plait_corpus_has_target (const PlaitCorpus *corpus);

/* Returns the counts of stream @stream: a source's index, or n_sources for the target. (transfer none) */
const PlaitCorpusCounts *plait_corpus_counts (const PlaitCorpus *corpus, gint64 stream);

/* Returns sentences about dropped tuples, cut and truncated documents, and sentences without a tree. (transfer full) */
GStrv plait_corpus_report (const PlaitCorpus *corpus);

/* Returns the number of rows of @stream (n_sources: the target) in tuple @tuple, EOS included. */
gint64 plait_corpus_length (const PlaitCorpus *corpus, gint64 stream, gint64 tuple);

/* Returns the largest number of rows of @stream in one tuple, EOS included. */
gint64 plait_corpus_longest (const PlaitCorpus *corpus, gint64 stream);

/* Returns the number of tokens of all token sources and the target in @tuple, EOS included. */
gint64 plait_corpus_tokens (const PlaitCorpus *corpus, gint64 tuple);

/* Returns the width of feature source @source; 0 for tokens. */
gint64 plait_corpus_width (const PlaitCorpus *corpus, gint64 source);

/* Drops all but @n tuples. A random ranking that depends only on @seed and the lines of tuples decides which stay, so a
 * smaller @n keeps a subset. The kept tuples stay in their order. */
void plait_corpus_keep (PlaitCorpus *corpus, gint64 n, guint64 seed);

/* Returns the number of files of each stream. */
gint64 plait_corpus_files (const PlaitCorpus *corpus);

/* Returns the path of file @file of the first text stream. (transfer none) */
const char *plait_corpus_file (const PlaitCorpus *corpus, gint64 file);

/* Sets *@first to the first kept tuple of file @file, *@end to the tuple after its last one; equal if there is none. */
void plait_corpus_file_tuples (const PlaitCorpus *corpus, gint64 file, gint64 *first, gint64 *end);

/* Sets the weights of the files, @weights [files], which are positive. In shuffled order, an epoch then draws tuples
 * from the files in proportion to the weights. Without this call, an epoch has each tuple once. Each file must have a
 * tuple. */
void plait_corpus_set_file_weights (PlaitCorpus *corpus, const double *weights);

/* Returns the numbers of tuples [files] that an epoch draws from each file, in proportion to the weights; their sum is
 * the number of tuples. NULL without weights. (transfer full) */
gint64 *plait_corpus_draws (const PlaitCorpus *corpus);

/* Reads the weights of the losses of tuples from @paths [files], for PlaitBatch.weights. Line i of file f is a positive
 * number: the weight of the tuple in line i of file f of each stream. Fails if a line is not a positive number, or if
 * file f of the weights and file f of the streams have different numbers of lines. */
gboolean plait_corpus_read_weights (PlaitCorpus *corpus, const char *const *paths, GError **error);

/* Appends the positive numbers in the file @path, one on each line, to @weights (double). */
gboolean plait_tuple_weights_read (const char *path, GArray *weights, GError **error);

/* Fails with PLAIT_ERROR_INPUT because line @line of @file, or the document that ends there, has no sentence of @stream
 * although data.empty=error. Returns FALSE. */
gboolean plait_corpus_fail_empty (const char *file, gint64 line, const char *stream, gboolean is_document,
                                  gboolean is_target, GError **error);

/* Removes the tuples with dropped[i] TRUE ([size]) from a training corpus. The others keep their order. At least one
 * must stay, and no source may be deranged yet. */
void plait_corpus_drop (PlaitCorpus *corpus, const gboolean *dropped);

/* Reads word alignments (text/word-links.h) of source @source with the target, for PlaitInput.alignment. @paths, as
 * many files as each stream has, have one line for each line of text. Source and target must be sentences of text, and
 * plait_corpus_drop must not have removed tuples. A link of two words links all their pieces. Fails on malformed links,
 * on links of words that a kept sentence lacks, and if a file has another number of lines than the text. */
gboolean plait_corpus_align (PlaitCorpus *corpus, gint64 source, const char *const *paths, GError **error);

/* TRUE if the sentences of stream @stream can be truncated: it is a source of tokens without documents or trees. FALSE
 * for the first source if the target is tags. */
gboolean plait_corpus_can_truncate (const PlaitCorpus *corpus, gint64 stream);

/* Truncates sentences of @source to @rows rows, EOS included. The source must allow it (plait_corpus_can_truncate). */
void plait_corpus_truncate (PlaitCorpus *corpus, gint64 source, gint64 rows);

/* Takes source @source of each tuple from another tuple, by a permutation without fixed points that depends on @seed.
 * This is the adversarial test of whether a model uses a source. Needs at least two tuples. */
gboolean plait_corpus_derange (PlaitCorpus *corpus, gint64 source, guint64 seed, GError **error);

/* Replaces each token, factor or row of features of source @source: draws a tuple of the corpus, and a token, factor or
 * row of this source in the drawn tuple. Nothing is replaced if the drawn tuple lacks the source. Keyed by @seed.
 * Predicted tags, lengths, trees and sentence ends stay. */
void plait_corpus_add_noise (PlaitCorpus *corpus, gint64 source, guint64 seed);

/* Makes source @source missing in all tuples. */
void plait_corpus_remove_source (PlaitCorpus *corpus, gint64 source);

/* Sets source dropout for training: each source of a tuple is missing with probability @rate, drawn anew in each epoch,
 * keyed by @seed, independent of batching. If all sources of a tuple would be missing, a random one stays; so with n
 * sources each is missing with probability rate - rate^n / n. Lengths, and so the order of batches, are those of the
 * whole tuples. */
void plait_corpus_set_source_dropout (PlaitCorpus *corpus, double rate, guint64 seed);

/* Makes a training corpus segment all text anew in each epoch (vocabulary/sampling.h), keyed by @seed, epoch and line.
 * plait_corpus_length still returns the length of the usual segmentation. A text that would have more than @most
 * [streams] rows, EOS included, keeps the usual segmentation. Fails if plait_subword_sampler_new refuses a vocabulary.
 * Streams must not have trees or documents. */
gboolean plait_corpus_sample_subwords (PlaitCorpus *corpus, double strength, guint64 seed, const gint64 *most,
                                       GError **error);

/* TRUE if no file changed since it was read or opened (files/file-stamp.h); else sets @error, which names the first
 * changed file. */
gboolean plait_corpus_check (const PlaitCorpus *corpus, GError **error);

/* Reads the text lines of the kept tuples of token stream @stream again, as references for scoring; fails if the file
 * changed. Returns each document once and whole, with LF between its sentences, even if it was cut. Ignores
 * derangement. NULL-terminated. (transfer full) */
GStrv plait_corpus_text (const PlaitCorpus *corpus, gint64 stream, GError **error);

/* Returns the batch of tuples @tuples [n]; masks, source dropout and sampled subwords depend on @epoch, from 0. The
 * batch must not outlive the corpus. Fails if ids or features cannot be read, a features file changed, or memory is
 * short. (transfer full) */
PlaitBatch *plait_corpus_batch_in (const PlaitCorpus *corpus, gint64 epoch, const gint64 *tuples, gint64 n,
                                   GError **error);

/* Returns plait_corpus_batch_in in epoch 0. (transfer full) */
PlaitBatch *plait_corpus_batch (const PlaitCorpus *corpus, const gint64 *tuples, gint64 n, GError **error);
