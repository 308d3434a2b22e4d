/* SPDX-License-Identifier: MIT */
#pragma once

#include "corpus/corpus.h"

/*
 * Batches of raw text as it comes, from files or pipes, each read once: what plait translate and plait score read.
 * Unlike a corpus it looks no further than the batch that is asked for, so a pipe can be answered line by line.
 */
typedef struct PlaitFeed PlaitFeed;

/* A text whose lines are fields that tabs part, of which streams are columns. */
typedef struct
{
  const char *path; /* NULL: there is none; "-": standard input */
  guint columns;
} PlaitFeedTable;

/* Opens the text of @sources and, if not NULL, @target. Paths may be pipes; "-" is standard input, for one of them.
 * A path of NULL is a source that is missing everywhere, its trees too; one source at least must not be. Features are
 * read from their file. maximum_length is not applied: every line gets its answer. With @empty_is_error an empty line
 * of a source is an error, else the source is missing there. @table, or NULL, is of the streams with a column, which
 * are no documents. (transfer full) */
PlaitFeed *plait_feed_open (const PlaitCorpusStream *sources, gint64 n_sources, const PlaitCorpusStream *target,
                            const PlaitFeedTable *table, gboolean empty_is_error, GError **error);
void plait_feed_free (PlaitFeed *feed);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitFeed, plait_feed_free)

/* The batch of the next lines, at most @sentences, whose numbers go on from batch to batch, from 0. NULL with @error
 * left alone after the last line; NULL with @error set if the text or a tree is bad or one file ends before another. It
 * must not outlive the feed, nor the next call. (transfer full) */
PlaitBatch *plait_feed_next (PlaitFeed *feed, gint64 sentences, GError **error);

/* The line or document, from 0, of a sentence of the batch that was given last: its number unless documents are
 * cut. */
gint64 plait_feed_line (const PlaitFeed *feed, gint64 sentence);

/* Where it stands in the file of stream @stream (n_sources: the target), as "FILE:LINE" or "FILE: document N".
 * (transfer full) */
char *plait_feed_location (const PlaitFeed *feed, gint64 sentence, gint64 stream);

/* Its name (documents.h). (transfer full) */
char *plait_feed_name (const PlaitFeed *feed, gint64 sentence);
