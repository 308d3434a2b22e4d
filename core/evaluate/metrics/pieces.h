/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/*
 * Text that another program has cut into pieces of words. Metrics are of words, so it is joined before it is scored.
 */
typedef enum
{
  PLAIT_PIECES_NONE,
  PLAIT_PIECES_SUBWORD_NMT,   /* "un@@ known" */
  PLAIT_PIECES_WORDPIECE,     /* "un ##known" */
  PLAIT_PIECES_SENTENCEPIECE, /* "▁un known ▁word" */
} PlaitTextPieces;

/* Joins the pieces of each of @texts (NULL-terminated) in place. */
void plait_text_join_pieces (char **texts, PlaitTextPieces pieces);

/* Returns the kind of pieces that @texts (NULL-terminated) look like. */
PlaitTextPieces plait_text_find_pieces (const char *const *texts);
