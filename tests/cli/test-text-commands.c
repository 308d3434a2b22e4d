/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "call.h"
#include "files.h"
#include "harness.h"

/* Tests of plait generate and plait vocabulary. */

TEST_CASE (generate_command, writes_the_same_files_again)
{
  PlaitTestCall call = DONE (CALL ("generate", "agreement", "--output", "made/here", "--set", "train=20", "--set",
                                   "validation=3", "--set", "test=1", "--set", "seed=5"));
  DONE (CALL ("generate", "agreement", "-o", "again", "-s", "train=20", "-s", "validation=3", "-s", "test=1", "-s",
              "seed=5"));
  DONE (CALL ("generate", "agreement", "-o", "other", "-s", "train=20", "-s", "seed=6"));

  CHECK (g_str_has_prefix (call.output, "made/here/train.a\nmade/here/train.b\n"));
  CHECK_CONTAINS (call.output, "made/here/test.target\n");
  const char *first = plait_test_read_text ("made/here/train.target"),
             *second = plait_test_read_text ("again/train.target"),
             *third = plait_test_read_text ("other/train.target"), *one = plait_test_read_text ("made/here/test.a");
  REQUIRE (first && third);
  CHECK_STRING (first, second);
  CHECK (strcmp (first, third) != 0);
  REQUIRE (one != NULL);
  CHECK (strchr (one, '\n') == one + strlen (one) - 1);
}

TEST_CASE (generate_command, lists_tasks)
{
  PlaitTestCall list = DONE (CALL ("generate"));
  PlaitTestCall json = CALL ("generate", "--json");

  CHECK_CONTAINS (list.output, "agreement  ");
  CHECK_CONTAINS (list.output, "  nouns            24  1 .. 400  Nouns in the lexicon\n");
  CHECK_CONTAINS (json.output, "\"name\": \"agreement\"");
  CHECK_CONTAINS (json.output, "\"maximum\": 400");
}

TEST_CASE (generate_command, refuses)
{
  CHECK_REFUSED (CALL ("generate", "agrement", "-o", "x"), "did you mean \"agreement\"?");
  CHECK_REFUSED (CALL ("generate", "agreement"), "--output is missing");
  CHECK_REFUSED (CALL ("generate", "-o", "x"), "TASK is missing");
  CHECK_REFUSED (CALL ("generate", "agreement", "-o", "x", "-s", "train"), "--set train: expected KEY=NUMBER");
  CHECK_REFUSED (CALL ("generate", "agreement", "-o", "x", "-s", "train=many"),
                 "--set train=many: expected KEY=NUMBER");
  CHECK_REFUSED (CALL ("generate", "agreement", "-o", "x", "-s", "verbs=0"),
                 "Parameter verbs of task agreement cannot be 0");
  CHECK_REFUSED (CALL ("generate", "agreement", "-o", "x", "-s", "words=1"), "has no parameter \"words\"");
  CHECK_REFUSED (CALL ("generate", "agreement", "-o", "x", "--json"), "--json is only for the list of tasks");
  CHECK (!plait_test_exists ("x"));
}

TEST_CASE (vocabulary_command, words_there_and_back)
{
  plait_test_write ("one", "b a b\nb c a\n");
  plait_test_write ("two", "d d d d\n");
  PlaitTestCall train
      = DONE (CALL ("vocabulary", "--output", "words", "--type", "words", "--minimum-count", "2", "one", "two"));
  PlaitTestCall show = CALL ("vocabulary", "--show", "words");
  PlaitTestCall encode = plait_test_call ("a d c\n\nb\n", (const char *[]){ "vocabulary", "--encode", "words", NULL });
  PlaitTestCall ids
      = plait_test_call ("a d c\n\nb\n", (const char *[]){ "vocabulary", "--encode", "words", "--ids", NULL });
  PlaitTestCall decode = plait_test_call (encode.output, (const char *[]){ "vocabulary", "--decode", "words", NULL });
  PlaitTestCall decode_ids
      = plait_test_call ("6 4 5\n", (const char *[]){ "vocabulary", "--decode", "words", "--ids", NULL });

  CHECK_STRING (train.output, "");
  CHECK_CONTAINS (train.errors, "words: words, 7 entries");
  CHECK_CONTAINS (show.output, "   4  d          4\n   5  b          3\n   6  a          2\n");
  CHECK_STRING (encode.output, "a d <unk>\n\nb\n");
  CHECK_STRING (ids.output, "6 4 3\n\n5\n");
  CHECK_STRING (decode.output, "a d <unk>\n\nb\n");
  CHECK_STRING (decode_ids.output, "a d b\n");
}

TEST_CASE (vocabulary_command, pieces_there_and_back)
{
  static const char *const text = "the cat sat on the mat\nthe dog sat on the log\na cat and a dog\n";
  plait_test_write ("text", text);
  QUIET (CALL ("vocabulary", "-q", "-o", "pieces", "--size", "40", "text"));
  PlaitTestCall encode = CALL ("vocabulary", "--encode", "pieces", "text");
  PlaitTestCall decode
      = plait_test_call (encode.output, (const char *[]){ "vocabulary", "--decode", "pieces", "-", NULL });
  PlaitTestCall json = CALL ("vocabulary", "--show", "pieces", "--json");

  CHECK_CONTAINS (encode.output, "▁the");
  CHECK_STRING (decode.output, text);
  CHECK_CONTAINS (json.output, "\"format\": \"sentencepiece\"");
  CHECK_CONTAINS (json.output, "\"piece\": \"▁the\"");
}

/* Writes a published model of @type, with a piece for each byte as GPT-2 spells it, and ids from 1 on. */
static void
write_published (const char *type)
{
  g_autoptr (GString) pieces = g_string_new ("{\"<|endoftext|>\": 0");
  const char *folder = plait_test_path ("model");
  gunichar next = 256;

  for (int byte = 0; byte < 256; byte++)
    {
      gboolean visible = (byte > 32 && byte < 127) || (byte > 160 && byte != 173);

      g_string_append_printf (pieces, ", \"\\u%04x\": %d", visible ? (guint)byte : next++, byte + 1);
    }
  g_string_append (pieces, "}");
  g_mkdir_with_parents (folder, 0700);
  g_autofree char *config = g_strdup_printf (
      "{\"model_type\": \"%s\", \"vocab_size\": 257, \"bos_token_id\": 0, \"eos_token_id\": 0}", type);
  plait_test_write ("model/config.json", config);
  plait_test_write ("model/vocab.json", pieces->str);
  plait_test_write ("model/merges.txt", "#version: 0.2\n");
}

TEST_CASE (vocabulary_command, takes_what_is_published)
{
  write_published ("gpt2");
  PlaitTestCall take = DONE (CALL ("vocabulary", "--output", "bytes", "--published", "model"));
  PlaitTestCall ids = plait_test_call ("a b\n", (const char *[]){ "vocabulary", "--encode", "bytes", "--ids", NULL });
  PlaitTestCall decode
      = plait_test_call (ids.output, (const char *[]){ "vocabulary", "--decode", "bytes", "--ids", NULL });
  PlaitTestCall whole = CALL ("verify", "bytes");

  CHECK_CONTAINS (take.errors, "bytes: published, 260 entries");
  CHECK_STRING (ids.output, "101 36 102\n");
  CHECK_STRING (decode.output, "a b\n");
  CHECK_STRING (whole.output, "bytes: whole\n");
}

/* Makes a vocabulary from a list of words, as sources with trees need it. */
TEST_CASE (vocabulary_command, takes_a_list_of_words)
{
  plait_test_write ("dict.txt", "<unk> 9\nth@@ 7\ne 5\n");
  plait_test_write ("text", "th@@ e x\n");
  CHECK_REFUSED (CALL ("vocabulary", "--show", "dict.txt"),
                 "make a vocabulary from it with plait vocabulary --list dict.txt --output FILE");
  PlaitTestCall take = DONE (CALL ("vocabulary", "--output", "words", "--list", "dict.txt"));
  PlaitTestCall encode = CALL ("vocabulary", "--encode", "words", "text");
  PlaitTestCall text = CALL ("vocabulary", "--output", "more", "--list", "dict.txt", "text");
  CHECK_REFUSED (CALL ("vocabulary", "--output", "more", "--list", "dict.txt", "--published", "model"),
                 "--published and --list exclude each other");
  CHECK_REFUSED (CALL ("vocabulary", "--list", "dict.txt"), "--list needs --output");
  CHECK_REFUSED (CALL ("vocabulary", "--output", "dict.txt", "--list", "dict.txt", "--force"), "dict.txt");

  CHECK_CONTAINS (take.errors, "dict.txt: left out 1 special tokens, since plait adds special tokens itself");
  CHECK_CONTAINS (take.errors, "words: words, 6 entries");
  CHECK_STRING (encode.output, "th@@ e <unk>\n");
  CHECK_REFUSED (text, "--list reads no text files; leave \"text\" out");
}

TEST_CASE (vocabulary_command, published_is_none_for_trees)
{
  write_published ("gpt2");
  plait_test_write ("a", "a b\n");
  plait_test_write ("trees.ini",
                    "[data]\ntarget=y\ntrain.a=a\ntrain.y=a\nvocabulary.shared=bytes\nvocabulary_type=given\n"
                    "trees=right\n[source a]\nencoder=bitree-gru\nleaves=bigru\n[decoder]\ntype=gru\n"
                    "layers=1\nwidth=8\n");
  DONE (CALL ("vocabulary", "-q", "--output", "bytes", "--published", "model"));
  CHECK_REFUSED (CALL ("run", "trees.ini"), "source a has trees, so its words must be split one by one");
}

/* A model that was trained with BOS begins its translations with BOS, which counts as a token but is not printed. */
TEST_CASE (vocabulary_command, published_texts_begin_in_search_too)
{
  write_published ("bart");
  plait_test_write ("a", "aaa\naaa\n");
  plait_test_write ("begin.ini",
                    "[data]\ntarget=y\ntrain.a=a\ntrain.y=a\nvocabulary.shared=bytes\nvocabulary_type=given\n"
                    "[source a]\nencoder=transformer\nlayers=1\nheads=1\nfeed_forward=8\n[decoder]\nlayers=1\nwidth=8\n"
                    "heads=1\nfeed_forward=8\ndropout=0\n[decode]\nbeam=1\n"
                    "[train]\nepochs=600\nbatch=2\nlearning_rate=0.02\nschedule=constant\nsmoothing=0\n");
  DONE (CALL ("vocabulary", "-q", "--output", "bytes", "--published", "model"));
  DONE (CALL ("run", "-q", "begin.ini"));
  PlaitTestCall one = CALL ("translate", "-q", "begin.h5", "--source", "a=a", "--set", "decode.maximum_length=1");
  PlaitTestCall all = CALL ("translate", "-q", "begin.h5", "--source", "a=a");

  CHECK_STRING (one.output, "\n\n");
  CHECK_STRING (all.output, "aaa\naaa\n");
}

TEST_CASE (vocabulary_command, refuses)
{
  plait_test_write ("text", "a b\n");
  plait_test_write ("a", "a\n");
  DONE (CALL ("vocabulary", "-q", "-o", "words", "--type", "words", "a"));
  CHECK_REFUSED (CALL ("vocabulary"), "expected one of --output, --show, --encode and --decode, found none");
  CHECK_REFUSED (CALL ("vocabulary", "--show", "a", "--encode", "b"), "found several");
  CHECK_REFUSED (CALL ("vocabulary", "--output", "new"), "a text file is missing");
  CHECK_REFUSED (CALL ("vocabulary", "--published", "new"), "--published needs --output");
  CHECK_REFUSED (CALL ("vocabulary", "--output", "new", "--published", "new", "text"),
                 "--published reads no text files");
  CHECK_REFUSED (CALL ("vocabulary", "--output", "new", "--published", "nowhere"), "config.json: cannot be opened (");
  CHECK_REFUSED (CALL ("vocabulary", "--output", "new", "--type", "wrods", "text"), "expected bpe, unigram or words");
  CHECK_REFUSED (CALL ("vocabulary", "--output", "new", "--coverage", "2", "text"), "expected a number from 0.98 to 1");
  CHECK_REFUSED (CALL ("vocabulary", "--output", "new", "--size", "x", "text"), "--size cannot be \"x\"");
  CHECK_REFUSED (CALL ("vocabulary", "--output", "new", "nowhere"), "nowhere: cannot be opened");
  CHECK_REFUSED (CALL ("vocabulary", "--show", "text"), "text: looks like text; expected a vocabulary");
  CHECK_REFUSED (CALL ("vocabulary", "--show", "words", "text"), "--show takes no text files");
  CHECK_REFUSED (plait_test_call ("a b\n", (const char *[]){ "vocabulary", "--decode", "words", NULL }),
                 "standard input:1: \"b\" is not a piece");
  CHECK_REFUSED (plait_test_call ("9\n", (const char *[]){ "vocabulary", "--decode", "words", "--ids", NULL }),
                 "standard input:1: \"9\" is not an id");
  CHECK (!plait_test_exists ("new"));
}
