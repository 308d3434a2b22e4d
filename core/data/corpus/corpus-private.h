/* SPDX-License-Identifier: MIT */
#pragma once

#include "types/features.h"
#include "files/file-stamp.h"
#include "process/random.h"
#include "corpus/corpus.h"
#include "corpus/token-store.h"
#include "corpus/unknown-words.h"
#include "vocabulary/sampling.h"

/* A file of text, features, word alignments or weights. A text can have a file of trees. */
typedef struct
{
  char *path;           /* path of the file; NULL: the stream is absent */
  PlaitFileStamp stamp; /* stamp of the file before it was read; unused for features */
  char *trees_path;     /* path of the trees; NULL: no trees, or trees that are made without a file */
  PlaitFileStamp trees_stamp;
} PlaitCorpusFile;

/* One stream of an open corpus, or one factor of a source. */
typedef struct PlaitCorpusStreamState PlaitCorpusStreamState;

struct PlaitCorpusStreamState
{
  char *name;
  PlaitCorpusFile *files;     /* [n_files] files of text or features */
  guint column, trees_column; /* columns of a feed's table, as in PlaitCorpusStream */
  PlaitInputKind kind;
  PlaitVocabulary *vocabulary; /* vocabulary of a text or of labels; else NULL */
  PlaitTokenStore *tokens;     /* token ids: one sentence for each kept tuple; NULL for features */
  PlaitUnknownWords *unknown;  /* unknown words: one sentence for each kept tuple; NULL: not kept */
  PlaitFeatures *features;     /* features: one sentence for each line of the split */
  PlaitTreeMaker *trees;       /* maker of the stream's trees; NULL if the stream has no trees */
  PlaitTokenStore *steps;      /* trees, two numbers per node; one tree per kept tuple */
  gboolean treeless_dropped;   /* TRUE: tuples without a tree are dropped (no_tree=drop) */
  PlaitDocumentSettings documents;
  PlaitTokenStore *sentences; /* documents of a source: length and role of each sentence; one entry per kept tuple */
  PlaitTokenStore *links; /* word alignment: pairs of source row and target row; one entry per kept tuple; or NULL */
  PlaitCorpusFile *link_files; /* [n_files] files of @links, or NULL */
  gboolean append_end;
  PlaitTargetKind target;
  gboolean allow_unknown;
  PlaitUnknownUse unknown_use;
  gint64 maximum_length;
  gint64 most_tokens;           /* longer sentences are truncated to this many tokens, without EOS; 0: no truncation */
  PlaitSubwordSampler *sampler; /* draws random segmentations; NULL: only the usual segmentation is used */
  gint64 most_sampled;          /* maximum tokens of a random segmentation */

  /* [size] Index of each tuple in the stores of this stream, if plait_corpus_derange or plait_corpus_drop changed it.
   * NULL: tuple i has the index i. */
  guint32 *order;

  gboolean absent; /* TRUE: the source is missing in all tuples */
  gboolean noisy;
  PlaitRandomKey noise;
  PlaitCorpusCounts counts;
  PlaitCorpusStreamState *factors; /* [n_factors] factors of a source, with one token for each word of the source */
  guint n_factors;
  gboolean predicted; /* TRUE: this factor has tags that a model predicts */
};

struct PlaitCorpus
{
  char *split;
  PlaitCorpusStreamState *streams; /* sources, then the target if there is one */
  gint64 n_sources;
  gint64 n_streams;
  gboolean empty_is_error;
  gboolean keep_all;
  gboolean masked;
  PlaitMasking masking;
  double source_dropout;
  double sampling; /* strength of the random segmentations */
  guint64 sampling_seed;
  guint64 source_dropout_seed;

  gint64 n_files;       /* number of files of each stream, at least 1 */
  gint64 *first_lines;  /* [n_files + 1] line with which each file begins, then the number of lines */
  double *weights;      /* [n_files] weights of the files, or NULL */
  GArray *loss_weights; /* double, [lines] weight of the loss of each line, dropped ones included; NULL: all are 1 */
  PlaitCorpusFile *weight_files; /* [n_files] files of @loss_weights, or NULL */

  gint64 first; /* number, from 0, of the first line in memory; a feed discards earlier lines */
  gint64 lines;
  gint64 size;

  /* guint32, line of each kept tuple; NULL while tuple i is line first + i (no tuple was dropped or cut). */
  GArray *line_of;

  gint64 cut;    /* number of documents cut into several chunks */
  gint64 chunks; /* number of chunks of the cut documents */
};

/* Returns the index of @tuple in the stores of @stream, or -1 if @stream is missing in all tuples. */
static inline gint64
plait_corpus_stored_tuple (const PlaitCorpusStreamState *stream, gint64 tuple)
{
  return stream->absent ? -1 : stream->order ? stream->order[tuple] : tuple;
}

/* Returns the indices [streams][n] of @tuples [n] in the stores of all streams. The index is -1 for sources that are
 * missing in all tuples or that source dropout removes in @epoch (corpus-perturb.c). (transfer full) */
gint64 *plait_corpus_stored_tuples (const PlaitCorpus *corpus, gint64 epoch, const gint64 *tuples, gint64 n);

/* Returns the number of rows of source @stream at index @origin of its store, EOS included; 0 if @origin is -1
 * (corpus-batch.c). */
gint64 plait_corpus_source_rows (const PlaitCorpus *corpus, const PlaitCorpusStreamState *stream, gint64 origin);

/* Replaces @row [n], the tokens of stored tuple @tuple in @stream, by tokens of random tuples (plait_corpus_add_noise).
 * @stream is @source or one of its factors. plait_corpus_fill_feature_noise replaces @rows, the features of @tuple
 * (corpus-perturb.c). */
gboolean plait_corpus_fill_noise (const PlaitCorpus *corpus, const PlaitCorpusStreamState *source,
                                  const PlaitCorpusStreamState *stream, gint64 tuple, gint32 *row, gint64 n,
                                  GError **error);

/* Appends the factors and tags of the tokens @ids [n], as in PlaitInput.factors, to @factors (element-type GArray).
 * @ids is a segmentation of the words of stored tuple @tuple (corpus-factors.c). */
gboolean plait_corpus_append_factors (const PlaitCorpusStreamState *stream, gint64 tuple, const gint32 *ids, gint64 n,
                                      GPtrArray *factors, GError **error);

/* Sets the factors of all pieces of a word to PLAIT_TOKEN_MASK if one of the pieces must be predicted, because the
 * factors would reveal this piece. Keeps tags that a model predicts. @ids [n]: the sentence before masking. @positions
 * [n_masked]: rows of the tokens to predict (plait_masking_apply). @first: row of @input with which the sentence
 * begins. */
void plait_corpus_mask_factors (const PlaitCorpusStreamState *stream, const gint32 *ids, gint64 n,
                                const gint32 *positions, gint64 n_masked, const PlaitInput *input, gint64 first);

gboolean plait_corpus_fill_feature_noise (const PlaitCorpus *corpus, const PlaitCorpusStreamState *stream, gint64 tuple,
                                          PlaitTensor rows, GError **error);

/* Returns a number that is larger than all ids of the text stream @stream. Without a vocabulary, an id can be the bits
 * of a float (plait_id_of_number), and ids are read as guint32. */
static inline gint64
plait_corpus_ids (const PlaitCorpusStreamState *stream)
{
  return stream->vocabulary ? plait_vocabulary_size (stream->vocabulary) : (gint64)G_MAXUINT32 + 1;
}

/* Returns the cache key of @corpus (corpus-cache.c). Returns NULL if @corpus cannot be cached: the digest of a file is
 * unknown, or @corpus has trees, documents or the text of unknown words. (transfer full) */
char *plait_corpus_cache_key (const PlaitCorpus *corpus, const PlaitCorpusSettings *settings);

/* Fills @corpus from the cache. FALSE if the cache lacks the corpus or is damaged. */
gboolean plait_corpus_cache_load (PlaitCorpus *corpus, const PlaitTextCache *text_cache, const char *key,
                                  PlaitPool *pool);

/* plait_corpus_cache_begin makes the empty stores of @corpus write to cache files. Returns FALSE, sometimes without
 * setting @error, if the cache cannot be written; the text must then be read into a new corpus. plait_corpus_cache_end
 * publishes the cache files after all tuples are stored. Returns FALSE with @error if a file changed since it was
 * read. */
gboolean plait_corpus_cache_begin (PlaitCorpus *corpus, const PlaitTextCache *text_cache, const char *key,
                                   GError **error);
gboolean plait_corpus_cache_end (PlaitCorpus *corpus, const PlaitTextCache *text_cache, const char *key,
                                 GError **error);

/* Opens a corpus for @settings without reading its text. (transfer full) */
PlaitCorpus *plait_corpus_new (const PlaitCorpusSettings *settings, GError **error);

/* Removes all tuples, so that a feed can read its next lines. @corpus must have dropped no tuple. */
void plait_corpus_clear (PlaitCorpus *corpus);

/* Counts the kept tuples whose features are missing, and finds the length of the longest features of a tuple. Fails on
 * features of length 0 if empty=error. */
gboolean plait_corpus_count_features (PlaitCorpus *corpus, PlaitCorpusStreamState *stream, GError **error);

/* TRUE if documents that are longer than their maximum are cut into chunks. */
gboolean plait_corpus_cuts (const PlaitCorpus *corpus);

/* Finishes the stores of @stream after writing (corpus-read.c). */
gboolean plait_corpus_stream_finish (const PlaitCorpusStreamState *stream, GError **error);

/* Reads all text streams of @corpus, and fills their stores and counts (corpus-read.c). */
gboolean plait_corpus_read (PlaitCorpus *corpus, PlaitPool *pool, GError **error);
