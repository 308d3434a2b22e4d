/* SPDX-License-Identifier: MIT */
#pragma once

#include "corpus/corpus-private.h"
#include "lines/text-file.h"

/* A block of a corpus while it is read: the lines of all its text streams, encoded, between corpus-read.c, which reads
 * them, and corpus-store.c, which judges and stores them. Sides are read, and stored, side by side by the threads of a
 * pool; those of a feed are read by turns. */

#define BLOCK_LINES 4096
#define PIECE_LINES 64 /* what one thread encodes at a time */

/* What a line has in an array. */
typedef struct
{
  guint first, n;
} PlaitCorpusRange;

/* The lines of one text stream, or of a source's trees, in the present block. */
typedef struct PlaitCorpusSide PlaitCorpusSide;

struct PlaitCorpusSide
{
  PlaitTextReader *reader;
  PlaitDocumentReader *lines;   /* of that reader */
  gint64 stream;                /* its place in the corpus */
  gboolean is_trees;            /* of that stream */
  gboolean is_documents;        /* to the block each is a line, whose text has LF between the sentences */
  gint64 n_lines;               /* that were read into the block: as many as were asked for, or fewer */
  GError *error;                /* why fewer, or why they cannot be stored; NULL: the file has ended */
  guint failed_at;              /* the tuple that cannot be stored, among those that the block keeps */
  const PlaitCorpusSide *trees; /* of tokens whose trees are read; else NULL */
  GString *text;
  gsize ends[BLOCK_LINES]; /* of each line in text */
  gboolean blank[BLOCK_LINES];
  gint64 numbers[BLOCK_LINES]; /* of the line where each begins */
  gint64 number;               /* of the line that was read last, from 1; at the end the one that is not there */
  GArray *ids[BLOCK_LINES / PIECE_LINES]; /* gint32, of the lines of a piece end to end */
  PlaitCorpusRange line_ids[BLOCK_LINES]; /* in its piece's ids */

  /* Of tokens with trees: how many ids each word has, as with the ids above. */
  GArray *words[BLOCK_LINES / PIECE_LINES]; /* gint32 */
  PlaitCorpusRange line_words[BLOCK_LINES];

  GArray *sentences; /* PlaitDocumentSentence, of all documents of the block */
  PlaitCorpusRange line_sentences[BLOCK_LINES];
  GArray *scratch; /* of one tuple: gint32 of its tree, or PlaitDocumentSentence */
};

/* What a tuple has of each side: of line @line of the block the sentences from @first to before @end, which are all
 * unless it is a document that is cut. */
typedef struct
{
  gint64 line, first, end;
} PlaitCorpusTuple;

typedef struct
{
  PlaitCorpus *corpus;
  PlaitCorpusSide *sides; /* [n_sides] */
  gint64 n_sides;
  gboolean by_turns; /* of texts that come once */
  gint64 wanted;     /* lines that are asked for, at most BLOCK_LINES; the next that is read by turns is the caller's */
  gint64 lines;      /* that all sides have */
  gint64 pieces;
  GArray *kept; /* PlaitCorpusTuple */

  /* Of documents. */
  PlaitDocument *cut_from; /* [n_sides], one document */
  GArray *ends;            /* gint64, of its chunks */
} PlaitCorpusBlock;

/* The text of @line of the block. */
static inline const char *
plait_corpus_side_text (const PlaitCorpusSide *side, gint64 line, gsize *length)
{
  gsize start = line > 0 ? side->ends[line - 1] : 0;

  *length = side->ends[line] - start;
  return side->text->str + start;
}

/* The block of @corpus, whose text files are opened: with @by_turns to be read once, or taken from @columns, readers or
 * NULL. (transfer full) */
PlaitCorpusBlock *plait_corpus_block_new (PlaitCorpus *corpus, gboolean by_turns, GPtrArray *columns, GError **error);
void plait_corpus_block_free (PlaitCorpusBlock *block);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitCorpusBlock, plait_corpus_block_free)

/* Reads the next lines, and adds their tuples to the corpus. FALSE on failure; no lines at the end. */
gboolean plait_corpus_block_next (PlaitCorpusBlock *block, PlaitPool *pool, GError **error);

/* "FILE:LINE: ends here, but FILE goes on"; FALSE. */
gboolean plait_corpus_fail_on_end (const char *ended, const char *going, gint64 line, GError **error);

/* Adds the tuples of @block to its corpus, but those that are dropped. */
gboolean plait_corpus_store_block (PlaitCorpusBlock *block, PlaitPool *pool, GError **error);
