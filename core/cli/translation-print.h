/* SPDX-License-Identifier: MIT */
#pragma once

#include "data/documents.h"
#include "model/search.h"
#include "run/word-alignment.h"

/* What a line of output has. */
typedef enum
{
  PLAIT_TRANSLATION_TEXT, /* the best hypothesis alone */
  PLAIT_TRANSLATION_TSV,  /* a hypothesis: line, score, log-probability, text, length, alignments */
  PLAIT_TRANSLATION_JSON, /* all hypotheses of a line of the sources, or of a chunk of a document */
} PlaitTranslationFormat;

/*
 * Translations as text, sentence after sentence: a line each. Documents come out as those that were read: a sentence a
 * line and a blank line between documents, or a document a line. Their chunks are joined again.
 */
typedef struct
{
  FILE *stream;
  PlaitTranslationFormat format;
  const PlaitWordAligner *aligner; /* or NULL; of other formats than text */
  const PlaitVocabulary *vocabulary;
  PlaitTextLayout layout; /* of the target */
  gboolean whole;         /* nothing is cut at a length limit: what is told is no sequence */

  /* What was printed last; begin with line -1. */
  gint64 line;
  gboolean is_empty; /* nothing of its document yet */
} PlaitTranslationPrinter;

/* Prints what was found for line or document @line (from 0), or for its next chunk. With an aligner @alignments are
 * [hypotheses][sources of the aligner]. */
void plait_translation_print (PlaitTranslationPrinter *printer, gint64 line, const PlaitHypotheses *found,
                              const char *const *alignments);

/* Ends the last document. */
void plait_translation_print_end (const PlaitTranslationPrinter *printer);
