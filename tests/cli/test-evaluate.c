/* SPDX-License-Identifier: MIT */
#include "call.h"
#include "files.h"
#include "harness.h"

/* Tests of how plait evaluate reads files and prints scores. tests/evaluate tests the scores themselves. */

#define REFERENCE "the cat sat on the mat\nhello world foo bar baz\nA man rides a bike .\n"
#define WORSE "the cat sat on a mat\nhello world foo bar bay\nA man rides the bike .\n"

static void
write_files (void)
{
  plait_test_write ("reference", REFERENCE);
  plait_test_write ("worse", WORSE);
  plait_test_write_gzip ("same.gz", REFERENCE, -1);
}

TEST_CASE (evaluate_command, one_system_is_a_line_a_metric)
{
  write_files ();
  PlaitTestCall call = QUIET (CALL ("evaluate", "-r", "reference", "-i", "same.gz", "--resamples", "0"));

  CHECK_STRING (call.output,
                "BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:plait-" PLAIT_VERSION
                " = 100.00 100.0/100.0/100.0/100.0 (BP = 1.000 ratio = 1.000 hyp_len = 17 ref_len = 17)\n"
                "chrF2|nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:plait-" PLAIT_VERSION " = 100.00\n");
}

TEST_CASE (evaluate_command, reads_standard_input_and_several_references)
{
  write_files ();
  PlaitTestCall call = DONE (plait_test_call (
      REFERENCE, (const char *[]){ "evaluate", "-r", "worse", "-r", "reference", "-i", "-", "-m", "bleu", NULL }));

  CHECK_CONTAINS (call.output, "nrefs:2|bs:1000|seed:12345|");
  CHECK_CONTAINS (call.output, " = 100.00 ");
}

/* By default, ROUGE finds only words of English letters and digits. */
TEST_CASE (evaluate_command, warns_where_rouge_finds_no_word)
{
  plait_test_write ("chinese", "我们去北京。\nthe cat\n");
  PlaitTestCall call = CALL ("evaluate", "-r", "chinese", "-i", "chinese", "-m", "rouge");
  PlaitTestCall cut = CALL ("evaluate", "-r", "chinese", "-i", "chinese", "-m", "rouge:tok=zh");

  CHECK_CONTAINS (call.errors, "rouge: finds no word in 1 of 2 references, which score 0; choose a tokeniser");
  CHECK_CONTAINS (call.output, " = 50.00 ");
  CHECK_STRING (cut.errors, "");
  CHECK_CONTAINS (cut.output, "tok:zh|like:rouge-score|");
  CHECK_CONTAINS (cut.output, " = 100.00 ");
}

/* Refuses standard input for two files, because it can be read only once. */
TEST_CASE (evaluate_command, takes_standard_input_for_one_file)
{
  static const struct
  {
    const char *arguments[9];
    const char *part;
  } refused[] = {
    { { "evaluate", "-r", "-", "-i", "-" }, "standard input cannot be both --reference and --hypothesis; name a file" },
    { { "evaluate", "-r", "reference", "-i", "-", "-i", "-" },
      "cannot be both --hypothesis and another file of this option" },
    { { "evaluate", "-r", "reference", "-i", "-", "--source", "-" }, "cannot be both --hypothesis and --source" },
  };

  write_files ();
  for (guint i = 0; i < G_N_ELEMENTS (refused); i++)
    CHECK_REFUSED (plait_test_call (REFERENCE, refused[i].arguments), refused[i].part);
}

TEST_CASE (evaluate_command, several_systems_are_tables_with_tests)
{
  write_files ();
  PlaitTestCall call = DONE (CALL ("evaluate", "--reference", "reference", "--hypothesis", "worse", "--hypothesis",
                                   "same.gz", "--hypothesis", "worse", "--trials", "99", "--resamples", "0"));

  CHECK_CONTAINS (call.output, "  System     BLEU  Difference       p  p (Holm)\n"
                               "  worse     49.53           –       –         –\n");
  CHECK_CONTAINS (call.output, "  worse     49.53       +0.00  1.0000    1.0000\n");
  CHECK_CONTAINS (call.output, "p compares with worse: approximate randomisation, 99\n  shuffles, seed 12345");
}

/* Aligns numbers in columns and puts a mark after a significant p. */
TEST_CASE (evaluate_command, marks_what_is_significant)
{
  g_autoptr (GString) right = g_string_new (NULL), wrong = g_string_new (NULL);

  for (guint i = 0; i < 30; i++)
    {
      g_string_append (right, "one two three four\n");
      g_string_append (wrong, "four three two one\n");
    }
  plait_test_write ("right", right->str);
  plait_test_write ("wrong", wrong->str);
  PlaitTestCall call = DONE (CALL ("evaluate", "-r", "right", "-i", "wrong", "-i", "right", "-i", "wrong", "-m", "chrf",
                                   "--trials", "999", "--resamples", "0"));

  CHECK_CONTAINS (call.output, "       p  p (Holm)\n"
                               "  wrong   ");
  CHECK_CONTAINS (call.output, "       –         –\n");
  CHECK_CONTAINS (call.output, "  0.0010    0.0020 * better\n");
  CHECK_CONTAINS (call.output, "  1.0000    1.0000\n");
}

/* CR LF, a byte order mark, a missing last line end and blanks in a blank line do not change the scores. */
TEST_CASE (evaluate_command, reads_text_as_every_command_does)
{
#define METRICS                                                                                                        \
  "accuracy;repetition;multi-bleu;bleu:tok=none;chrf:whitespace;ter;meteor;rouge:type=L;chrf:unit=document"
  static const char plain[] = "one two three four\n\nfive six\nseven\n", other[] = "one two three\n\nfive\nseven\n";
  static const char blank[] = "one two three four\n \t\nfive six\nseven\n";
  static const char marked[] = "\xef\xbb\xbfone two three four\r\n\r\nfive six\r\nseven";
  static const char *const texts[][3]
      = { { plain, plain, plain }, { plain, marked, plain }, { marked, plain, marked }, { marked, marked, plain },
          { plain, blank, plain }, { blank, plain, blank },  { plain, other, plain },   { marked, other, marked } };
  const char *outputs[G_N_ELEMENTS (texts)];

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      plait_test_write ("r", texts[i][0]);
      plait_test_write ("h", texts[i][1]);
      plait_test_write ("s", texts[i][2]);
      PlaitTestCall call = DONE (
          CALL ("evaluate", "-r", "r", "-i", "h", "--source", "s", "-m", METRICS, "--bins", "1;2", "--resamples", "0"));
      outputs[i] = call.output;
    }
  CHECK_CONTAINS (outputs[0], "above 2          1  100.00");
  CHECK_CONTAINS (outputs[6], "above 2          1    0.00"); /* accuracy is 0 */
  for (guint i = 1; i < 6; i++)
    CHECK_STRING (outputs[i], outputs[0]);
  CHECK_STRING (outputs[7], outputs[6]);
  /* A line that has only a no-break space is text and not a blank line, also between documents. */
  plait_test_write ("space", "one two three four\n\xc2\xa0\nfive six\nseven\n");
  PlaitTestCall space
      = CALL ("evaluate", "-r", "space", "-i", "space", "-m", "chrf:unit=document", "--json", "--resamples", "0");
  CHECK_CONTAINS (space.output, "\"sentences\": 1\n");
}

/* Joins subwords if --join is given; otherwise reports that the text looks like subwords. */
TEST_CASE (evaluate_command, joins_pieces_of_words)
{
  plait_test_write ("words", "the unknown words here are known\n");
  plait_test_write ("pieces", "the un@@ known word@@ s here are known\n");
  PlaitTestCall plain = CALL ("evaluate", "-r", "words", "-i", "words", "-m", "bleu;ter", "--json");
  PlaitTestCall pieces
      = CALL ("evaluate", "-r", "pieces", "-i", "pieces", "-m", "bleu;ter", "--source", "pieces", "--bins", "6");
  PlaitTestCall joined = CALL ("evaluate", "-r", "words", "-i", "pieces", "-m", "bleu;ter", "--source", "pieces",
                               "--bins", "6", "--join", "subword-nmt");
  PlaitTestCall json
      = CALL ("evaluate", "-r", "pieces", "-i", "words", "--join", "subword-nmt", "--json", "-m", "bleu");
  CHECK_REFUSED (CALL ("evaluate", "-r", "words", "-i", "words", "--join", "bpe"),
                 "expected subword-nmt, wordpiece or sentencepiece");

  CHECK_STRING (plain.errors, "");
  CHECK_CONTAINS (pieces.errors, "pieces: looks like text in subwords, which metrics would count as words; --join "
                                 "subword-nmt joins them");
  CHECK_CONTAINS (pieces.output, "to 6             0"); /* a line of eight subwords */
  CHECK_STRING (joined.errors, "");
  CHECK_CONTAINS (joined.output, " = 100.00 ");
  CHECK_CONTAINS (joined.output, "to 6             1");
  CHECK_CONTAINS (json.output, "\"join\": \"subword-nmt\"");
  CHECK_CONTAINS (json.output, "\"score\": 100");
}

TEST_CASE (evaluate_command, fits_a_terminal)
{
  write_files ();
  PlaitTestCall call = DONE (plait_test_call_on_terminal (
      80, (const char *[]){ "evaluate", "-r", "reference", "-i", "worse", "-i", "same.gz", "--trials", "99", NULL }));
  g_auto (GStrv) lines = g_strsplit (call.output, "\n", -1);
  gboolean told = FALSE;

  for (guint i = 0; lines[i]; i++)
    if (g_str_has_prefix (lines[i], "  Brackets are "))
      {
        told = TRUE;
        CHECK (g_utf8_strlen (g_strchomp (lines[i]), -1) <= 80);
        CHECK (lines[i + 1] && g_str_has_prefix (lines[i + 1], "  "));
      }
  CHECK (told);
}

TEST_CASE (evaluate_command, scores_sentences)
{
  plait_test_write ("reference", "a b c d\na b\n\nc d\n");
  plait_test_write ("one", "a b c d\na x\n\nc d\n");
  plait_test_write ("two", "x y z\na b\n\nc d\n");
  PlaitTestCall call
      = DONE (CALL ("evaluate", "-r", "reference", "-i", "one", "-i", "two", "-m", "accuracy;ter", "--sentences"));
  PlaitTestCall documents = CALL ("evaluate", "-r", "reference", "-i", "one", "-m", "ter:unit=document", "--sentences");
  CHECK_REFUSED (CALL ("evaluate", "-r", "reference", "-i", "one", "-m", "ter;ter:unit=document", "--sentences"),
                 "run plait evaluate once for each");
  PlaitTestCall json = CALL ("evaluate", "-r", "reference", "-i", "one", "-m", "accuracy;ter", "--sentences", "--json");

  CHECK_STRING (call.output, "sentence\tone accuracy\ttwo accuracy\tone ter\ttwo ter\n"
                             "1\t100\t0\t0\t100\n"
                             "2\t0\t100\t50\t0\n"
                             "3\t100\t100\t0\t0\n"
                             "4\t100\t100\t0\t0\n");
  CHECK_STRING (documents.output, "document\tter:unit=document\n1\t16.666666666666664\n2\t0\n");
  CHECK_CONTAINS (json.output, "  \"unit\": \"sentence\",\n  \"rows\": 4,\n");
  CHECK_CONTAINS (json.output, "\"hypothesis\": \"one\",\n      \"scores\": {\n        \"accuracy\": [\n"
                               "          100,\n          0,\n          100,\n          100\n        ],\n");
}

TEST_CASE (evaluate_command, json)
{
  write_files ();
  PlaitTestCall call = DONE (CALL ("evaluate", "-r", "reference", "-i", "worse", "-i", "same.gz", "--test", "bootstrap",
                                   "--trials", "50", "-m", "chrf", "--json"));

  CHECK_CONTAINS (call.output, "  \"sentences\": 3,\n");
  CHECK_CONTAINS (call.output, "\"hypothesis\": \"same.gz\"");
  CHECK_CONTAINS (call.output, "\"score\": 100,");
  CHECK_CONTAINS (call.output, "\"test\": \"paired bootstrap\"");
  CHECK_CONTAINS (call.output, "\"share_better\": 1");
}

/* Summaries of two documents, cut into other sentences than the references. One system is right only for the second
 * document. */
TEST_CASE (evaluate_command, documents_need_not_have_the_same_lines)
{
  plait_test_write ("summaries", "a b\nc d\n\ne f\n");
  plait_test_write ("right", "\nc d\na b\n\n\ne f\n\n");
  plait_test_write ("half", "x\n\ne\nf\n");
  plait_test_write ("documents", "one two three\nfour\n\nfive\n");
  plait_test_write ("more", "a b\n\nc d\n\ne f\n");
  PlaitTestCall call
      = QUIET (CALL ("evaluate", "-r", "summaries", "-i", "right", "-i", "half", "-m", "rouge:type=Lsum,unit=document",
                     "--resamples", "0", "--trials", "9", "--source", "documents", "--bins", "3", "--json"));
  CHECK_REFUSED (CALL ("evaluate", "-r", "summaries", "-i", "more", "-m", "chrf:unit=document"),
                 "more: has 3 documents, but summaries has 2");
  PlaitTestCall lines = CALL ("evaluate", "-r", "summaries", "-i", "right", "-m", "bleu;bleu:unit=document");

  CHECK_CONTAINS (call.output, "\"score\": 100,\n          \"signature\": \"nrefs:1|unit:document|type:Lsum|");
  CHECK_CONTAINS (call.output, "\"score\": 50,");
  CHECK_CONTAINS (call.output, "\"sentences\": 2");
  CHECK_CONTAINS (call.output, "\"difference\": -50");
  CHECK_REFUSED (lines, "right: has 7 lines, but summaries has 4");
}

TEST_CASE (evaluate_command, by_length_of_the_source)
{
  write_files ();
  plait_test_write ("source", "one two three\nuno\nein Mann f\xc3\xa4hrt Rad heute\n");
  PlaitTestCall one = DONE (CALL ("evaluate", "-r", "reference", "-i", "same.gz", "-m", "bleu", "--resamples", "0",
                                  "--source", "source", "--bins", "1;3;4;9"));
  PlaitTestCall two = DONE (CALL ("evaluate", "-r", "reference", "-i", "same.gz", "-i", "worse", "-m", "bleu",
                                  "--resamples", "0", "--test", "none", "--source", "source"));
  PlaitTestCall json = CALL ("evaluate", "-r", "reference", "-i", "same.gz", "-m", "bleu", "--resamples", "0",
                             "--source", "source", "--json");

  CHECK_CONTAINS (one.output, "By words of the source: BLEU\n"
                              "  Words    Sentences  same.gz\n"
                              "  to 1             1   100.00\n"
                              "  2-3              1   100.00\n"
                              "  4                0        –\n"
                              "  5-9              1   100.00\n"
                              "  above 9          0        –\n");
  CHECK_CONTAINS (two.output, "  Words     Sentences  same.gz  worse\n"
                              "  to 10             3   100.00  49.53\n"
                              "  11-20             0        –      –\n");
  CHECK_CONTAINS (json.output, "\"words\": \"to 10\",");
}

TEST_CASE (evaluate_command, refuses)
{
  write_files ();
  plait_test_write ("short", "one\ntwo\n");
  plait_test_write ("empty", "");
  plait_test_write ("latin", "fine\nna\xefve\nfine\n");
  g_autofree char *words = g_strnfill (9000, 'w'), *text = g_strdup_printf ("one\n%s\nthree\n", words);
  plait_test_write ("long", text);
  CHECK_REFUSED (CALL ("evaluate", "-r", "reference"), "--hypothesis is missing");
  CHECK_REFUSED (CALL ("evaluate", "-i", "worse"), "--reference is missing");
  CHECK_REFUSED (CALL ("evaluate", "-r", "reference", "-i", "short"), "short: has 2 lines, but reference has 3");
  CHECK_REFUSED (CALL ("evaluate", "-r", "reference", "-i", "empty"), "empty: is empty");
  CHECK_REFUSED (CALL ("evaluate", "-r", "latin", "-i", "worse"), "latin:2: byte 3 of the line (0xef) is not UTF-8");
  CHECK_REFUSED (CALL ("evaluate", "-r", "reference", "-i", "nowhere"), "nowhere: cannot be opened");
  CHECK_REFUSED (CALL ("evaluate", "-r", "reference", "-i", "."), ".: is a folder");
  CHECK_REFUSED (CALL ("evaluate", "-r", "reference", "-i", "worse", "-m", "blue"), "did you mean \"bleu\"?");
  CHECK_REFUSED (CALL ("evaluate", "-r", "reference", "-i", "worse", "--seed", "-1"), "--seed cannot be \"-1\"");
  CHECK_REFUSED (CALL ("evaluate", "-r", "reference", "-i", "worse", "--resamples", "many"),
                 "--resamples cannot be \"many\"");
  CHECK_REFUSED (CALL ("evaluate", "-r", "reference", "-i", "worse", "--trials", "0"), "--trials cannot be \"0\"");
  CHECK_REFUSED (CALL ("evaluate", "-r", "reference", "-i", "worse", "--test", "t"),
                 "expected permutation, bootstrap or none");
  CHECK_REFUSED (CALL ("evaluate", "-r", "reference", "-i", "worse", "--bins", "10"), "--bins needs --source");
  CHECK_REFUSED (CALL ("evaluate", "-r", "reference", "-i", "worse", "--source", "worse", "--bins", "10;9"),
                 "--bins: the bins \"10;9\" are not rising whole numbers");
  CHECK_REFUSED (CALL ("evaluate", "-r", "reference", "-i", "worse", "--source", "short"), "short: has 2 lines");
  CHECK_REFUSED (CALL ("evaluate", "-r", "reference", "-r", "long", "-i", "worse", "-m", "meteor"),
                 "long: the reference of sentence 2 has 9000 bytes");
  CHECK_REFUSED (CALL ("evaluate", "-r", "reference", "-i", "worse", "-i", "long", "-m", "meteor"),
                 "long: the hypothesis of sentence 2 has 9000 bytes");
  CHECK_REFUSED (CALL ("evaluate", "extra"), "1 argument too many");
}
