/* SPDX-License-Identifier: MIT */
#pragma once

#include "types/features.h"
#include "files/file-stamp.h"
#include "process/random.h"
#include "corpus/corpus.h"
#include "corpus/token-store.h"

/* One stream of an open corpus. */
typedef struct
{
  char *name;
  char *path;                 /* NULL: absent */
  guint column, trees_column; /* as PlaitCorpusStream has them */
  PlaitFileStamp stamp;       /* tokens: of the file before it was read */
  PlaitInputKind kind;
  PlaitVocabulary *vocabulary; /* tokens */
  PlaitTokenStore *tokens;     /* a sentence a kept tuple */
  PlaitFeatures *features;     /* a sentence a line */
  PlaitTreeMaker *trees;       /* tokens with trees */
  PlaitTokenStore *steps;      /* of trees, two numbers a node; a sentence a kept tuple */
  char *trees_path;            /* NULL: trees are made from the tokens */
  PlaitFileStamp trees_stamp;
  gboolean treeless_dropped; /* no_tree=drop */
  PlaitDocumentSettings documents;
  PlaitTokenStore *sentences; /* of a source's documents, two numbers each: tokens and role; a sentence a kept tuple */
  gboolean append_end;
  PlaitTargetKind target;
  gboolean allow_unknown;
  gint64 maximum_length;
  gint64 most_tokens; /* tokens that a truncated source gives of a sentence; 0: all */
  guint32 *order;     /* which tuple of the stores stands for which: deranged, or others were dropped; NULL: its own */
  gboolean absent;    /* in all tuples */
  gboolean noisy;
  PlaitRandomKey noise;
  PlaitCorpusCounts counts;
} PlaitCorpusStreamState;

struct PlaitCorpus
{
  char *split;
  PlaitCorpusStreamState *streams; /* the sources, then the target if there is one */
  gint64 n_sources;
  gint64 n_streams;
  gboolean empty_is_error;
  gboolean keep_all;
  gboolean masked;
  PlaitMasking masking;
  double source_dropout;
  guint64 source_dropout_seed;

  gint64 first; /* line of those that are here: a feed has forgotten what was before */
  gint64 lines;
  gint64 size;
  GArray *line_of; /* guint32 a kept tuple; NULL while nothing was dropped or cut: tuple i is the i-th line */
  gint64 cut;      /* documents of several chunks */
  gint64 chunks;   /* of these */
};

/* The tuple of the stores that @stream gives for @tuple; -1: it is absent there. */
static inline gint64
plait_corpus_stored_tuple (const PlaitCorpusStreamState *stream, gint64 tuple)
{
  return stream->absent ? -1 : stream->order ? stream->order[tuple] : tuple;
}

/* The same of all streams and of @tuples [n] in @epoch, less those that source dropout leaves out: [streams][n]
 * (corpus-disturb.c). (transfer full) */
gint64 *plait_corpus_stored_tuples (const PlaitCorpus *corpus, gint64 epoch, const gint64 *tuples, gint64 n);

/* The rows of the source @stream in kept tuple @origin, EOS included; none where that is -1 (corpus-batch.c). */
gint64 plait_corpus_source_rows (const PlaitCorpus *corpus, const PlaitCorpusStreamState *stream, gint64 origin);

/* Puts tokens or rows that are drawn from all of @stream in the place of those of @tuple (corpus-disturb.c). */
gboolean plait_corpus_fill_noise (const PlaitCorpus *corpus, const PlaitCorpusStreamState *stream, gint64 tuple,
                                  gint32 *row, gint64 n, GError **error);
gboolean plait_corpus_fill_feature_noise (const PlaitCorpus *corpus, const PlaitCorpusStreamState *stream, gint64 tuple,
                                          PlaitTensor rows, GError **error);

/* What the ids of @stream, which is text, are below. */
static inline gint64
plait_corpus_ids (const PlaitCorpusStreamState *stream)
{
  return stream->vocabulary ? plait_vocabulary_size (stream->vocabulary) : G_MAXINT32;
}

/* Encoded corpora that are kept (corpus-index.c). The key that tells @corpus apart; NULL if it is not kept: a file is
 * not known, or there are trees or documents. (transfer full) */
char *plait_corpus_cache_key (const PlaitCorpus *corpus, const PlaitCorpusSettings *settings);

/* Takes @corpus from what is kept, and says whether it was there. */
gboolean plait_corpus_cache_load (PlaitCorpus *corpus, const PlaitTextCache *text_cache, const char *key,
                                  PlaitPool *pool);

/* Lets the empty stores of @corpus become files, and when they are full lets these take their place. FALSE, with @error
 * perhaps left alone, if nothing can be kept; @corpus must be read again then. */
gboolean plait_corpus_cache_begin (PlaitCorpus *corpus, const PlaitTextCache *text_cache, const char *key,
                                   GError **error);
gboolean plait_corpus_cache_end (PlaitCorpus *corpus, const PlaitTextCache *text_cache, const char *key,
                                 GError **error);

/* The corpus of @settings, of which nothing has been read. (transfer full) */
PlaitCorpus *plait_corpus_new (const PlaitCorpusSettings *settings, GError **error);

/* Forgets all tuples, for those of the next lines: what feeds do, which drop none. */
void plait_corpus_clear (PlaitCorpus *corpus);

/* Counts the kept tuples whose features are missing, and the positions of the others. */
gboolean plait_corpus_count_features (PlaitCorpus *corpus, PlaitCorpusStreamState *stream, GError **error);

/* TRUE if documents are cut into chunks. */
gboolean plait_corpus_cuts (const PlaitCorpus *corpus);

/* Ends the writing of its stores (corpus-read.c). */
gboolean plait_corpus_stream_finish (const PlaitCorpusStreamState *stream, GError **error);

/* Reads all text streams of @corpus and fills their stores and counts (corpus-read.c). */
gboolean plait_corpus_read (PlaitCorpus *corpus, PlaitPool *pool, GError **error);
