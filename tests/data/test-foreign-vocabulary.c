/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "text/error.h"
#include "data-files.h"
#include "types/input.h"
#include "vocabulary/vocabulary.h"
#include "files.h"
#include "harness.h"

/* Tests of lists of words from other programs, which can be read, and of the messages about other files. */

static PlaitVocabulary *
take_list (const char *text, guint *left_out, GError **error)
{
  const char *path = plait_test_write ("list", text);

  return plait_vocabulary_from_list (path, left_out, error);
}

TEST_CASE (foreign_vocabulary, takes_lists_of_words)
{
  static const struct
  {
    const char *text;
    guint left_out;
    double count; /* expected count of the second word */
  } cases[] = {
    { "the 7\nth@@ 12\nmadeupword0000 0\n", 0, 12 }, /* dict.txt of fairseq, and a vocabulary of subword-nmt */
    { "the\nth@@\nmadeupword0000\n", 0, 0 },
    { "<pad>\r\n<s>\r\n</s>\r\n<unk>\r\nthe\r\nth@@\r\n\r\nmadeupword0000", 4, 0 },
    { "\xef\xbb\xbf<unk>\t1\nthe\t3\nth@@\t2\nmadeupword0000\t0\n", 1, 2 },
  };
  static const char *const words[] = { "the", "th@@", "madeupword0000" };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      guint left_out = 99;
      g_autoptr (PlaitVocabulary) vocabulary = take_list (cases[i].text, &left_out, NO_ERROR);
      CONTEXT ("case %zu", i);

      REQUIRE (vocabulary != NULL);
      CHECK_STRING (plait_vocabulary_format (vocabulary), "words");
      CHECK_INT (left_out, cases[i].left_out);
      CHECK_INT (plait_vocabulary_size (vocabulary), PLAIT_TOKEN_SPECIALS + 3);
      for (gint32 k = 0; k < 3; k++)
        CHECK_STRING (plait_vocabulary_piece (vocabulary, PLAIT_TOKEN_SPECIALS + k), words[k]);
      CHECK_NEAR (plait_vocabulary_score (vocabulary, PLAIT_TOKEN_SPECIALS + 1), cases[i].count, 0);
    }
}

TEST_CASE (foreign_vocabulary, refuses_lists_by_line)
{
  static const struct
  {
    const char *text, *message;
  } cases[] = {
    { "", "list: has no words; expected a list of words, one a line" },
    { "\n \n<s>\n", "list: has no words" },
    { "a 1\nb\n", "list:2: \"b\" is not a word with its count; expected a list of words: either WORD in every line" },
    { "a\nb 1\n", "list:2: \"b 1\" is not a word alone; expected a list" },
    { "a x\n", "list:1: \"a x\" is not a word with or without its count" },
    { "a -1\n", "list:1: \"a -1\" is not a word" },
    { "a 1 #fairseq:overwrite\n", "list:1: \"a 1 #fairseq:overwrite\" is not a word" },
    { "a 99999999999999999999\n", "list:1: " },
    { "a\nb\n\na\n", "list:4: the word \"a\" is in line 1 already; remove one of the two lines" },
    { "a\n\xff\n", "list:2: byte 1 of the line (0xff) is not UTF-8" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      guint left_out;
      CONTEXT ("case %zu", i);

      CHECK (!take_list (cases[i].text, &left_out, &error));
      CHECK_ERROR (error, PLAIT_ERROR_INPUT, cases[i].message);
    }
}

TEST_CASE (foreign_vocabulary, says_what_to_do_with_files_of_other_programs)
{
  static const struct
  {
    const char *name, *text, *looks, *remedy;
  } cases[] = {
    { "dict.txt", "the 999\nof 12\n", "looks like a list of words and their counts; expected a vocabulary",
      "/dict.txt --output FILE, for data.vocabulary_type=words" },
    { "words", "the\nof\n", "looks like a list of words; expected",
      "make a vocabulary from it with plait vocabulary --list " },
    { "codes", "#version: 0.2\nt h\nth e</w>\n", "looks like the merges of byte pair encoding by another program",
      "learn its pieces with data.vocabulary_type=words and evaluate.join=subword-nmt" },
    { "codes", "t h 1204\nth e</w> 900\n", "looks like the merges of byte pair encoding", "evaluate.join=subword-nmt" },
    { "x.vocab", "<unk>\t0\n<s>\t0\n\u2581the\t-3.25\n", "looks like the list of pieces that SentencePiece writes",
      ": name that model, NAME.model" },
    { "y.vocab", "<unk>\t0\n\u2581the\t-0\nx\t-1\n", "looks like the list of pieces that SentencePiece writes",
      "/y.model" },
    { "vocab.txt", "[PAD]\n[UNK]\nthe\n##ing\n", "looks like a list of pieces of WordPiece",
      "evaluate.join=wordpiece" },
    { "vocab.json", "{\"<s>\": 0}", "looks like a file of a published model", "plait vocabulary --published" },
    { "text", "the cat\nthe dog sleeps\n", "looks like text; expected",
      "make a vocabulary from it with plait vocabulary --output FILE " },
  };

  plait_test_write ("y.model", "");
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const char *path = plait_test_write (cases[i].name, cases[i].text);
      g_autoptr (GError) error = NULL;
      CONTEXT ("case %zu", i);

      CHECK (!plait_vocabulary_read (path, NULL, &error));
      REQUIRE (error != NULL);
      CHECK_CONTAINS (error->message, cases[i].remedy);
      CHECK_ERROR (error, PLAIT_ERROR_INPUT, cases[i].looks);
    }
}
