/* SPDX-License-Identifier: MIT */
#include "metrics/pieces.h"

#include <string.h>

#include "words/text.h"

#define MARK_OF_WORD "\xe2\x96\x81" /* U+2581, which begins a word */

/* Text counts as split into pieces of a format if at least n / ONE_OF (rounded down) of its n words are marked pieces
 * of this format, and at least one word is. */
#define ONE_OF 50

/* Rules that join the pieces of each format. Pieces of different lines are not joined. */
static PlaitTextRule subword_nmt[] = { { "@@(?: |(?=\\n)|\\z)", "" }, { NULL } };
static PlaitTextRule wordpiece[] = { { " ##(?=[^ \\n])", "" }, { NULL } };
static PlaitTextRule sentencepiece[]
    = { { " ", "" }, { "(?:\\A|(?<=\\n))" MARK_OF_WORD, "" }, { MARK_OF_WORD, " " }, { NULL } };

void
plait_text_join_pieces (char **texts, PlaitTextPieces pieces)
{
  static PlaitTextRule *const rules[] = {
    [PLAIT_PIECES_SUBWORD_NMT] = subword_nmt,
    [PLAIT_PIECES_WORDPIECE] = wordpiece,
    [PLAIT_PIECES_SENTENCEPIECE] = sentencepiece,
  };

  for (gsize i = 0; texts[i] && pieces != PLAIT_PIECES_NONE; i++)
    /* A text without the mark is not in SentencePiece's format. */
    if (pieces != PLAIT_PIECES_SENTENCEPIECE || strstr (texts[i], MARK_OF_WORD))
      texts[i] = plait_text_replace (texts[i], rules[pieces], G_REGEX_RAW);
}

/* Returns the format in which the word @word .. @end - 1 is a marked piece; PLAIT_PIECES_NONE if it has no mark. */
static PlaitTextPieces
pieces_of (const char *word, const char *end)
{
  gsize length = (gsize)(end - word);

  if (length > 2 && memcmp (end - 2, "@@", 2) == 0)
    return PLAIT_PIECES_SUBWORD_NMT;
  if (length > 2 && memcmp (word, "##", 2) == 0 && word[2] != '#')
    return PLAIT_PIECES_WORDPIECE;
  return g_str_has_prefix (word, MARK_OF_WORD) ? PLAIT_PIECES_SENTENCEPIECE : PLAIT_PIECES_NONE;
}

PlaitTextPieces
plait_text_find_pieces (const char *const *texts)
{
  gsize words = 0, found[] = { 0, 0, 0, 0 };

  for (gsize i = 0; texts[i]; i++)
    for (const char *word = texts[i], *end; plait_text_next_word (&word, &end); word = end, words++)
      found[pieces_of (word, end)]++;
  for (PlaitTextPieces pieces = PLAIT_PIECES_NONE + 1; pieces < G_N_ELEMENTS (found); pieces++)
    if (found[pieces] > 0 && found[pieces] >= words / ONE_OF)
      return pieces;
  return PLAIT_PIECES_NONE;
}
