/* SPDX-License-Identifier: MIT */
#pragma once

#include "data/documents.h"
#include "model/search.h"

/*
 * Translations as text, sentence after sentence: a line each. Documents come out as those that were read: a sentence a
 * line and a blank line between documents, or a document a line. Their chunks are joined again.
 */
typedef struct
{
  FILE *stream;
  gboolean scored; /* all hypotheses, each a line of line, score, log-probability and text */
  const PlaitVocabulary *vocabulary;
  PlaitTextLayout layout; /* of the target */

  /* What was printed last; begin with line -1. */
  gint64 line;
  gboolean is_empty; /* nothing of its document yet */
} PlaitTranslationPrinter;

/* Prints what was found for line or document @line (from 0), or for its next chunk. */
void plait_translation_print (PlaitTranslationPrinter *printer, gint64 line, const PlaitHypotheses *found);

/* Ends the last document. */
void plait_translation_print_end (const PlaitTranslationPrinter *printer);
