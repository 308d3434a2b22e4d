/* SPDX-License-Identifier: MIT */
#pragma once

#include "corpus/corpus.h"

/*
 * Batches of raw text from files or pipes, each read once, for plait translate, plait score and plait encode. Unlike a
 * corpus, a feed reads only the lines of the next batch, so a pipe gets its answers line by line.
 */
typedef struct PlaitFeed PlaitFeed;

/* A text file whose tab-separated columns are streams. */
typedef struct
{
  const char *path; /* path of the table; NULL: no table; "-": standard input */
  guint columns;
} PlaitFeedTable;

/* Opens the texts of @sources and, if not NULL, @target. Paths may be pipes; one may be "-", standard input. A source
 * with path NULL is missing in all sentences, and so are its trees. At least one source needs a path. Features are read
 * from their file. Ignores maximum_length, because every line gets an answer. With @empty_is_error an empty line of a
 * source is an error, else the source is missing there. @table (may be NULL) holds the streams that are read from a
 * column of a file; these cannot be documents. (transfer full) */
PlaitFeed *plait_feed_open (const PlaitCorpusStream *sources, gint64 n_sources, const PlaitCorpusStream *target,
                            const PlaitFeedTable *table, gboolean empty_is_error, GError **error);
void plait_feed_free (PlaitFeed *feed);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitFeed, plait_feed_free)

/* Returns a batch of the next lines, at most @sentences; sentences are numbered from 0 across batches. Returns NULL
 * after the last line without setting @error, and NULL with @error set on bad text or trees, or if one file ends before
 * another. Do not read the batch, which borrows text, after the next call. (transfer full) */
PlaitBatch *plait_feed_next (PlaitFeed *feed, gint64 sentences, GError **error);

/* Returns the line or document, from 0, of a sentence of the last batch. @sentence is a number in PlaitBatch.sentence,
 * and equal to the line unless documents are cut. */
gint64 plait_feed_line (const PlaitFeed *feed, gint64 sentence);

/* Returns the position of @sentence in the file of stream @stream (n_sources: the target): "FILE:LINE" or "FILE:
 * document N". (transfer full) */
char *plait_feed_location (const PlaitFeed *feed, gint64 sentence, gint64 stream);

/* Returns the name of @sentence of the last batch (plait_document_chunk_name). (transfer full) */
char *plait_feed_name (const PlaitFeed *feed, gint64 sentence);
