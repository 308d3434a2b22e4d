/* SPDX-License-Identifier: MIT */
#pragma once

#include "corpus/corpus-private.h"
#include "lines/text-file.h"

/* A block has the next lines of all text streams of a corpus. corpus-read.c reads and encodes blocks, corpus-store.c
 * filters and stores their lines. A side is a text stream, or the trees or one factor of a source. Threads of a pool
 * read and store the sides of a corpus in parallel. The sides of a feed are read in turn, line by line. */

#define BLOCK_LINES 4096
#define PIECE_LINES 64 /* lines that a thread encodes at a time */

/* Position of one line's items in an array. */
typedef struct
{
  guint first, n;
} PlaitCorpusRange;

/* A side: the lines of one text stream, or of a source's trees or factor, in the current block. */
typedef struct PlaitCorpusSide PlaitCorpusSide;

struct PlaitCorpusSide
{
  PlaitTextReader *reader;
  PlaitDocumentReader *lines;    /* reader of lines or documents from @reader */
  gint64 stream;                 /* index of the stream in the corpus */
  PlaitCorpusStreamState *state; /* state of the stream; of the factor if the side is a factor */
  gboolean is_factor;
  gboolean is_trees;     /* TRUE: the side has the trees of that stream */
  gboolean is_documents; /* TRUE: a line of the block is a document, with LF between its sentences */
  gint64 n_lines;        /* lines that were read into the block, at most block->wanted */

  /* Error of reading the side, which ended the block early, or of storing a tuple; else NULL. The end of the file is no
   * error. */
  GError *error;

  guint failed_at;                /* index in block->kept of the tuple that could not be stored */
  const PlaitCorpusSide *trees;   /* side of the trees of this stream, or NULL */
  const PlaitCorpusSide *factors; /* [state->n_factors] sides of the factors of this stream */
  GString *text;
  gsize ends[BLOCK_LINES]; /* end of each line in @text */
  gboolean blank[BLOCK_LINES];
  gint64 numbers[BLOCK_LINES]; /* line number in the file at which each line of the block begins */

  /* Number, from 1, of the last line read, or of the first line of the last document read. At the end: number of lines
   * + 1. */
  gint64 number;

  GArray *ids[BLOCK_LINES / PIECE_LINES]; /* gint32, ids of the lines of a piece end to end */
  PlaitCorpusRange line_ids[BLOCK_LINES]; /* range of the line's ids in the array of its piece */

  /* For tokens with trees. The lines are divided as in @ids. */
  GArray *words[BLOCK_LINES / PIECE_LINES]; /* gint32, number of ids of each word */
  PlaitCorpusRange line_words[BLOCK_LINES];

  GArray *sentences; /* (element-type PlaitDocumentSentence) sentences of all documents of the block */
  PlaitCorpusRange line_sentences[BLOCK_LINES];
  GArray *scratch; /* one tuple's tree (gint32) or sentences (PlaitDocumentSentence) */
};

/* A tuple. Each text contributes the sentences @first .. @end - 1 of line @line of the block, or all sentences of the
 * line if documents are not cut. */
typedef struct
{
  gint64 line, first, end;
} PlaitCorpusTuple;

typedef struct
{
  PlaitCorpus *corpus;
  PlaitCorpusSide *sides; /* [n_sides] sides of the block */
  gint64 n_sides;
  gboolean by_turns; /* TRUE: the sides are read line by line in turn, for texts from pipes */

  /* Readers of texts that several sides of a feed read. Key: "/" and the path of the text, or the number of its column.
   * Value: a GPtrArray of PlaitTextReaders, one for each side that has not taken its reader yet. */
  GHashTable *shared;
  gint64 wanted; /* number of lines to read, at most BLOCK_LINES; if @by_turns, the caller sets it for each block */
  gint64 lines;  /* number of lines of the block; every side has at least this many */
  gint64 file;   /* index of the file that is read, equal in all streams */
  gint64 pieces;
  GArray *kept; /* (element-type PlaitCorpusTuple) tuples of the block that are kept */

  PlaitDocument *cut_from; /* [streams] the current document, once for each side that has documents */
  GArray *ends;            /* gint64, for each chunk: index of the sentence after the chunk; G_MAXINT64: not cut */
} PlaitCorpusBlock;

/* Returns the text of line @line of the block, and its length in *@length. */
static inline const char *
plait_corpus_side_text (const PlaitCorpusSide *side, gint64 line, gsize *length)
{
  gsize start = line > 0 ? side->ends[line - 1] : 0;

  *length = side->ends[line] - start;
  return side->text->str + start;
}

/* Opens file @file of each text stream of @corpus for reading in blocks. @by_turns: read them once, line by line in
 * turn. Streams with a column take their reader from @columns (may be NULL). (transfer full) */
PlaitCorpusBlock *plait_corpus_block_new (PlaitCorpus *corpus, gint64 file, gboolean by_turns, GPtrArray *columns,
                                          GError **error);
void plait_corpus_block_free (PlaitCorpusBlock *block);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitCorpusBlock, plait_corpus_block_free)

/* Reads the next block and adds its tuples to the corpus. FALSE on failure; block->lines is 0 at the end. */
gboolean plait_corpus_block_next (PlaitCorpusBlock *block, PlaitPool *pool, GError **error);

/* Sets @error to "FILE:LINE: ends here, but FILE continues" and returns FALSE. */
gboolean plait_corpus_fail_on_end (const char *ended, const char *going, gint64 line, GError **error);

/* Filters the tuples of @block and stores the kept ones in its corpus. */
gboolean plait_corpus_store_block (PlaitCorpusBlock *block, PlaitPool *pool, GError **error);
