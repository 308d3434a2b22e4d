/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/* Text that another program has split into subword pieces. Metrics need words, so it is joined before scoring. */
typedef enum
{
  PLAIT_PIECES_NONE,
  PLAIT_PIECES_SUBWORD_NMT,   /* "un@@ known" */
  PLAIT_PIECES_WORDPIECE,     /* "un ##known" */
  PLAIT_PIECES_SENTENCEPIECE, /* "▁un known ▁word" */
} PlaitTextPieces;

/* Joins the pieces in each of @texts (NULL-terminated) in place. */
void plait_text_join_pieces (char **texts, PlaitTextPieces pieces);

/* Returns the format that @texts (NULL-terminated) seem to be in; PLAIT_PIECES_NONE if they are not split. */
PlaitTextPieces plait_text_find_pieces (const char *const *texts);
