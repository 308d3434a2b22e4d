/* SPDX-License-Identifier: MIT */
#include "harness.h"

#include "text/error.h"
#include "words/ngrams.h"
#include "metrics/pieces.h"
#include "words/text.h"

#include <string.h>

TEST_CASE (text, white_space_is_what_python_calls_so)
{
  /* All code points for which str.isspace () is true in Python 3. */
  static const gunichar spaces[] = { 0x09,   0x0a,   0x0b,   0x0c,   0x0d,   0x1c,   0x1d,   0x1e,   0x1f,   0x20,
                                     0x85,   0xa0,   0x1680, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006,
                                     0x2007, 0x2008, 0x2009, 0x200a, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000 };
  guint next = 0;
  for (gunichar c = 1; c < 0x110000; c++)
    {
      gboolean expected = next < G_N_ELEMENTS (spaces) && spaces[next] == c;
      next += expected;
      if (plait_text_is_space (c) != expected)
        {
          CONTEXT ("code point %04X", c);
          CHECK (plait_text_is_space (c) == expected);
        }
    }
  CHECK_INT (next, G_N_ELEMENTS (spaces));
}

TEST_CASE (text, counts_words)
{
  CHECK_INT (plait_text_count_words (""), 0);
  CHECK_INT (plait_text_count_words (" \t"), 0);
  CHECK_INT (plait_text_count_words ("one"), 1);
  CHECK_INT (plait_text_count_words ("\302\240one\343\200\200two three "), 3);
}

/* The first case of each format has the result of the format's own program: sed -r 's/(@@ )|(@@ ?$)//g',
 * SentencePiece's decoder, and BERT's. */
TEST_CASE (text, joins_pieces_of_words)
{
  static const struct
  {
    PlaitTextPieces pieces;
    const char *text, *joined;
  } cases[] = {
    { PLAIT_PIECES_SUBWORD_NMT, "the un@@ know@@ n word", "the unknown word" },
    { PLAIT_PIECES_SUBWORD_NMT, "cut@@", "cut" },
    { PLAIT_PIECES_SUBWORD_NMT, "cut@@ ", "cut" },
    { PLAIT_PIECES_SUBWORD_NMT, "a@@ b@@\nc", "ab\nc" },
    { PLAIT_PIECES_SUBWORD_NMT, "me@@home @ @@x", "me@@home @ @@x" },
    { PLAIT_PIECES_WORDPIECE, "the un ##know ##n word ## #", "the unknown word ## #" },
    { PLAIT_PIECES_SENTENCEPIECE, "\xe2\x96\x81the \xe2\x96\x81un known \xe2\x96\x81 word", "the unknown word" },
    { PLAIT_PIECES_SENTENCEPIECE,
      "\xe2\x96\x81"
      "a b\n\xe2\x96\x81"
      "c d",
      "ab\ncd" },
    { PLAIT_PIECES_SENTENCEPIECE, "a text as it is", "a text as it is" },
    { PLAIT_PIECES_NONE, "un@@ known", "un@@ known" },
  };
  static const struct
  {
    const char *text[3];
    PlaitTextPieces found;
  } looks[] = {
    { { "the un@@ known word", "another" }, PLAIT_PIECES_SUBWORD_NMT },
    { { "the un ##known word" }, PLAIT_PIECES_WORDPIECE },
    { { "\xe2\x96\x81the \xe2\x96\x81word" }, PLAIT_PIECES_SENTENCEPIECE },
    { { "me@home @@ ## ### #hash", "" }, PLAIT_PIECES_NONE },
    { { NULL }, PLAIT_PIECES_NONE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_auto (GStrv) texts = g_strdupv ((char *[]){ (char *)cases[i].text, NULL });

      plait_text_join_pieces (texts, cases[i].pieces);
      CHECK_STRING (texts[0], cases[i].joined);
    }
  for (guint i = 0; i < G_N_ELEMENTS (looks); i++)
    CHECK (plait_text_find_pieces (looks[i].text) == looks[i].found);
}

/* Tokenises a line of 160 kB. The tokeniser must not call strstr () for each entity: under AddressSanitizer that takes
 * time quadratic in the length of the line. */
TEST_CASE (text, tokeniser_takes_lines_of_many_entities)
{
  g_autoptr (GString) line = g_string_new (NULL);
  for (guint i = 0; i < 20000; i++)
    g_string_append (line, "&amp;lt;");
  g_autofree char *tokens = plait_tokenise_13a (line->str);
  CHECK_INT (strlen (tokens), 2 * 20000 - 1);
}

TEST_CASE (ngrams, match_is_clipped_by_the_reference_that_has_most)
{
  g_autoptr (PlaitNgrams) ngrams = plait_ngrams_new ();
  for (guint round = 0; round < 3; round++)
    {
      plait_ngrams_clear (ngrams);
      plait_ngrams_add_words (ngrams, "a a a b a");
      plait_ngrams_add_words (ngrams, "a b");
      plait_ngrams_add_words (ngrams, "a a c");
      plait_ngrams_next (ngrams);
      CHECK_INT (plait_ngrams_total (ngrams, 0), 5);
      CHECK_INT (plait_ngrams_match (ngrams, 1, 2), 2); /* shared unigrams: "a" and "b" */
      CHECK_INT (plait_ngrams_match (ngrams, 2, 3), 2); /* shared unigram: "a" twice */
      CHECK_INT (plait_ngrams_match (ngrams, 1, 3), 3); /* shared unigrams: "a" twice, and "b" */
      plait_ngrams_next (ngrams);
      CHECK_INT (plait_ngrams_total (ngrams, 0), 4);
      CHECK_INT (plait_ngrams_match (ngrams, 1, 3), 2); /* shared bigrams: "a a" once, and "a b" */
      plait_ngrams_next (ngrams);
      CHECK_INT (plait_ngrams_total (ngrams, 1), 0);
      CHECK_INT (plait_ngrams_total (ngrams, 2), 1);
      CHECK_INT (plait_ngrams_match (ngrams, 1, 3), 0);
    }
}
