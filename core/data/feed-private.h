/* SPDX-License-Identifier: MIT */
#pragma once

#include "data/feed.h"
#include "store/feature.h"

/* A feed between feed.c, which opens it and gives its batches, feed-read.c, which reads tuples, and feed-batch.c, which
 * makes batches of them. */

/* A stream, and its sentences of the batch in the making. */
typedef struct
{
  char *name;
  char *path; /* NULL: missing everywhere */
  PlaitInputKind kind;
  gboolean append_end;
  PlaitTargetKind target;
  gboolean allow_unknown;
  PlaitVocabulary *vocabulary;
  PlaitTextReader *reader;
  PlaitFeatureFile *features;
  GArray *ids;     /* gint32, of all sentences end to end */
  GArray *offsets; /* gint64, of each sentence and of the end, in ids or in feature rows */

  /* Of tokens with trees. */
  PlaitTreeMaker *trees;
  PlaitTextReader *tree_reader; /* NULL: they are made from the tokens */
  GArray *words;                /* gint32, ids of each word of one sentence */
  GArray *steps;                /* gint32, two a node, of all sentences end to end */
  GArray *nodes;                /* gint64, nodes before each sentence and in all */

  /* Of documents. */
  PlaitDocumentSettings settings;
  PlaitDocumentReader *documents; /* NULL: a line is a sentence, or the documents are missing everywhere */
  GArray *sentences;              /* PlaitDocumentSentence, of all tuples end to end */
  GArray *bounds;                 /* gint64, sentences before each tuple and in all; NULL: there are no documents */
} PlaitFeedSide;

struct PlaitFeed
{
  PlaitFeedSide *sides; /* sources, then the target if there is one */
  gint64 n_sources;
  gint64 n_sides;
  gboolean empty_is_error;
  gint64 line; /* lines or documents read so far */

  gboolean cuts;           /* documents into chunks */
  PlaitDocument *cut_from; /* [n_sides], the document that has been read; of no sentences where there is none */
  GArray *ends;            /* gint64, of its chunks */
  gint64 first;            /* number of the first tuple of the batch in the making */
  GArray *lines;           /* gint64, of each tuple of it */
  GArray *chunks;          /* gint64, of each tuple in its document */
  PlaitBatch *whole;       /* more tuples than were asked for, of which so many have been given: */
  gint64 given;
};

/* What became of a tuple. */
typedef enum
{
  PLAIT_FEED_TAKEN,
  PLAIT_FEED_MISSING, /* of one side: as everywhere in it */
  PLAIT_FEED_END,
  PLAIT_FEED_FAILED,
} PlaitFeedTake;

/* Adds the next sentence or document of every side to the batch in the making: one tuple, or the chunks of a
 * document. */
PlaitFeedTake plait_feed_take (PlaitFeed *feed, GError **error);

/* A batch of the @n tuples that were added. (transfer full) */
PlaitBatch *plait_feed_batch (const PlaitFeed *feed, gint64 n, GError **error);
