/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "files.h"
#include "harness.h"
#include "report-page.h"

/* Tests of runs whose texts are documents, whole or cut into chunks, and of plait translate and plait score with
 * them. */

/* Appends a document with @sentences sentences, numbered from @number on, in the target language if @translated. */
static void
append_document (GString *text, int number, int sentences, gboolean translated)
{
  static const char *const words[2][4] = { { "one", "two", "three", "four" }, { "un", "deux", "trois", "quatre" } };

  for (int i = 0; i < sentences; i++)
    g_string_append_printf (text, "%s %s\n", words[translated][(number + i) % 4],
                            words[translated][(number + 2 * i) % 4]);
  g_string_append_c (text, '\n');
}

/* Writes @n documents of one to five sentences with two words each. Line i of the source and of the target
 * correspond. */
static void
write_documents (const char *split, int n)
{
  for (int translated = 0; translated < 2; translated++)
    {
      g_autofree char *name = g_strdup_printf ("%s.%s", split, translated ? "fr" : "en");
      g_autoptr (GString) text = g_string_new (NULL);

      for (int i = 0; i < n; i++)
        append_document (text, i, 1 + i % 5, translated);
      plait_test_write (name, text->str);
    }
}

static const char *const experiment
    = "[experiment]\nname=documents\nseed=3\n"
      "[data]\ntarget=fr\nvocabulary_type=words\ndocuments=en;fr\ndocument_length=6\n"
      "train.en=train.en\ntrain.fr=train.fr\nvalidation.en=test.en\nvalidation.fr=test.fr\n"
      "test.en=test.en\ntest.fr=test.fr\n"
      "[source en]\nencoder=transformer\nlayers=1\nheads=2\nfeed_forward=32\ndropout=0\n"
      "[decoder]\ncombiner=serial\nlayers=1\nwidth=16\nheads=2\nfeed_forward=32\ndropout=0\n"
      "[train]\nbatch=8\nepochs=160\nwarm_up=40\nlearning_rate=1\nvalidate_every=200\nmetric=bleu:tok=none\n"
      "[decode]\nbeam=2\nmaximum_length=20\n[evaluate]\nresamples=10\nattention=1\n";

static void
set_up (void)
{
  write_documents ("train", 40);
  write_documents ("test", 7);
  plait_test_write ("documents.ini", experiment);
}

static guint
count (const char *text, const char *part)
{
  guint n = 0;

  for (const char *at = text; (at = strstr (at, part)); at++)
    n++;
  return n;
}

/* Checks that @apart has a score for each sentence (two words and its end), and that the scores of a document's
 * sentences add up to its line in @whole. */
static void
check_apart (const char *whole, const char *apart)
{
  g_auto (GStrv) documents = g_strsplit (whole, "\n", -1);
  g_auto (GStrv) sums = g_strsplit (apart, "\n\n", -1);

  REQUIRE (g_strv_length (documents) == 8 && g_strv_length (sums) == 7);
  for (int i = 0; i < 7; i++)
    {
      g_auto (GStrv) lines = g_strsplit (g_strchomp (sums[i]), "\n", -1);
      double sum = 0;

      CHECK_INT (g_strv_length (lines), 1 + i % 5);
      for (guint k = 0; lines[k]; k++)
        {
          CHECK (g_str_has_suffix (lines[k], "\t3"));
          sum += g_ascii_strtod (lines[k], NULL);
        }
      CHECK_NEAR (sum, g_ascii_strtod (documents[i], NULL), 1e-5);
    }
}

TEST_CASE (documents_of_runs, are_translated_chunk_by_chunk_and_joined_again)
{
  g_autoptr (GString) expected = g_string_new (NULL);

  set_up ();
  for (int i = 0; i < 7; i++)
    append_document (expected, i, 1 + i % 5, TRUE);
  g_string_truncate (expected, expected->len - 1); /* the last document is not followed by a blank line */
  PlaitTestCall run = DONE (CALL ("run", "documents.ini", "--threads", "1", "-o", "run.h5", "--set",
                                  "evaluate.translation_rates=search;forced", "--set", "evaluate.attention=5", "--set",
                                  "evaluate.metrics=bleu;bleu:unit=document;rouge:type=Lsum,unit=document"));
  PlaitTestCall translated = QUIET (CALL ("translate", "run.h5", "-q", "-s", "en=test.en", "--threads", "1"));
  PlaitTestCall one_by_one
      = CALL ("translate", "run.h5", "-q", "-s", "en=test.en", "--set", "decode.batch=1", "--attention", "dump.h5");
  CHECK_REFUSED (CALL ("translate", "run.h5", "-q", "-s", "en=test.en", "--constraints", "test.fr"),
                 "--constraints: the target of run.h5 is documents, but the option needs a target of sentences");
  PlaitTestCall scored = DONE (CALL ("score", "run.h5", "-q", "-s", "en=test.en", "--target", "test.fr"));
  PlaitTestCall apart = DONE (CALL ("score", "run.h5", "-q", "-s", "en=test.en", "--target", "test.fr", "--sentences"));
  PlaitTestCall objects
      = CALL ("score", "run.h5", "-q", "-s", "en=test.en", "--target", "test.fr", "--sentences", "--json");
  PlaitTestCall stored = DONE (CALL ("show", "run.h5", "/evaluation/test/hypotheses"));
  PlaitTestCall dumped = CALL ("show", "run.h5", "/attention/test");
  PlaitTestCall dumped_too = CALL ("show", "dump.h5", "/attention/translation");
  PlaitTestCall metrics = CALL ("show", "run.h5", "/evaluation/test/metrics");
  DONE (CALL ("show", "run.h5", "/evaluation/test/reference_tokens"));
  PlaitTestCall rates = DONE (CALL ("show", "run.h5", "/evaluation/test/translation_rates/forced/en/words"));
  PlaitTestCall compared = CALL ("compare", "run.h5", "run.h5");
  QUIET (CALL ("adversarial", "run.h5", "-q"));
  const char *page = plait_test_path ("page.html");
  DONE (CALL ("report", "run.h5", "--sentences", "5", "-o", page));
  g_auto (Pack) index = { 0 };

  CHECK_CONTAINS (run.errors, "train: cut 24 of 40 documents into 56 chunks of at most 6 tokens");
  CHECK_CONTAINS (run.errors, "test: cut 3 of 7 documents into 7 chunks of at most 6 tokens");
  CHECK_STRING (translated.output, expected->str);
  CHECK_STRING (one_by_one.output, expected->str);
  CHECK_INT (count (scored.output, "\n"), 7);
  CHECK_CONTAINS (scored.output, "\t9\n"); /* 3 sentences in 2 chunks: 6 words, 1 start token, 2 end tokens */
  check_apart (scored.output, apart.output);
  CHECK_INT (count (objects.output, "\n"), count (objects.output, "\"sentence\": "));
  CHECK_CONTAINS (objects.output, "{\"line\": 1, \"sentence\": 1, \"log_probability\": -");
  CHECK_CONTAINS (objects.output, "{\"line\": 2, \"sentence\": 1, \"log_probability\": -");
  CHECK_CONTAINS (stored.output, "un un deux trois trois un quatre trois un un");
  CHECK_CONTAINS (rates.output, "  4  10\n  5   2\n"); /* numbers of words of whole documents */
  CHECK_STRING (compared.errors, "");
  CHECK_CONTAINS (compared.output, "over-translated en");
  CHECK_CONTAINS (dumped.output, "─ 2.1\n");
  CHECK (!strstr (dumped.output, "─ 3.1\n"));
  CHECK_CONTAINS (dumped_too.output, "─ 4.2\n");
  const char *html = plait_test_read_text (page);
  read_index (&index, html);
  CHECK_CONTAINS (index.json, "\"name\": \"2.1\",");
  CHECK_CONTAINS (html, "un un\ndeux trois\ntrois un");
  CHECK_CONTAINS (compared.output, "d-BLEU");
  CHECK_CONTAINS (compared.output, "ROUGE-Lsum");
  CHECK_CONTAINS (metrics.output, "unit:document");
}

/* The encoder hat gives a memory of tokens and a memory of sentences, to which the decoder attends in this order. A
 * document cannot have more sentences than learned positions of sentences. */
TEST_CASE (documents_of_runs, are_read_by_their_sentences)
{
  static const char *const source = "[source en]\nencoder=transformer\nlayers=1\n";
  static const char *const by_sentences = "[source en/leaves]\nheads=2\nlayers=1\nfeed_forward=32\ndropout=0\n"
                                          "[source en]\nencoder=hat\nleaves=transformer\n";
  g_auto (GStrv) parts = g_strsplit (experiment, source, 2);
  g_autofree char *text = g_strjoinv (by_sentences, parts);

  set_up ();
  plait_test_write ("hat.ini", text);
  PlaitTestCall run = DONE (CALL ("run", "hat.ini", "--threads", "1", "-o", "run.h5"));
  PlaitTestCall translated = QUIET (CALL ("translate", "run.h5", "-q", "-s", "en=test.en", "--threads", "1"));
  PlaitTestCall one_by_one = CALL ("translate", "run.h5", "-q", "-s", "en=test.en", "--set", "decode.batch=1");
  PlaitTestCall attention = DONE (CALL ("show", "run.h5", "/attention/test"));
  QUIET (CALL ("run", "hat.ini", "-q", "--threads", "1", "-o", "layers.h5", "--set", "train.epochs=2", "--set",
               "source.en.place=layers", "--set", "source.en/leaves.layers=0", "--set",
               "source.en/leaves.final_norm=false"));
  PlaitTestCall few = CALL ("run", "hat.ini", "-q", "--threads", "1", "-o", "few.h5", "--set",
                            "source.en.sentence_positions=learned", "--set", "source.en.sentence_limit=1");
  PlaitTestCall none
      = CALL ("run", "hat.ini", "-q", "-o", "none.h5", "--set", "data.documents=", "--set", "data.document_length=0");

  CHECK_CONTAINS (run.errors, "train: cut 24 of 40 documents into 56 chunks of at most 6 tokens");
  CHECK_CONTAINS (translated.output, "un un\ndeux trois\n");
  CHECK_STRING (one_by_one.output, translated.output);
  CHECK_REFUSED (CALL ("run", "hat.ini", "-q", "-o", "none.h5", "--set", "decode.unknown=replace"),
                 "the decoder does not attend to tokens of sources");
  CHECK (!plait_test_exists ("none.h5"));
  CHECK_CONTAINS (attention.output, "en.tokens");
  CHECK_CONTAINS (attention.output, "en.sentences");
  CHECK_INT (few.code, 2);
  CHECK_CONTAINS (few.errors, "has more than the sentence_limit=1 learned positions");
  CHECK_INT (none.code, 2);
  CHECK_CONTAINS (none.errors, "the encoder hat reads documents, but the stream en has no documents");
}

/* A plain encoder reads documents as tokens: whole, without start tokens, truncated, with one target line for each
 * document, or one document on each line, which is split into sentences by rule. */
TEST_CASE (documents_of_runs, may_be_anything_else)
{
  const struct
  {
    const char *const settings[6];
    const char *said;
    guint lines; /* number of lines of the translation */
  } cases[] = {
    { { "data.document_length=0" }, "", 0 },
    { { "data.document_starts=none" }, "cut", 0 },
    { { "data.document_starts=sources", "data.document_cut=truncate" },
      "test: truncated 3 of 7 documents of en to 6 tokens; 18 were lost",
      0 },
    { { "data.documents=en", "data.document_length=0", "data.train.fr=lines.fr", "data.test.fr=some.fr",
        "data.validation.fr=some.fr" },
      "",
      7 },
    { { "data.documents=fr", "data.documents_by_line=en:en", "data.document_length=0", "data.train.en=lines.en",
        "data.test.en=some.en", "data.validation.en=some.en" },
      "",
      0 },
  };
  g_autoptr (GString) lines = g_string_new (NULL), some = g_string_new (NULL);

  set_up ();
  for (int i = 0; i < 40; i++)
    g_string_append (i < 7 ? some : lines, "Un deux. Trois!\n");
  g_string_append (lines, some->str);
  plait_test_write ("lines.fr", lines->str);
  plait_test_write ("some.fr", some->str);
  plait_test_write ("lines.en", lines->str);
  plait_test_write ("some.en", some->str);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GPtrArray) words = g_ptr_array_new ();
      CONTEXT ("case %u", i);

      for (guint k = 0; k < 6 && cases[i].settings[k]; k++)
        {
          g_ptr_array_add (words, (gpointer) "--set");
          g_ptr_array_add (words, (gpointer)cases[i].settings[k]);
        }
      for (guint k = words->len; k < 13; k++)
        g_ptr_array_add (words, NULL);
      PlaitTestCall run = DONE (CALL (
          "run", "documents.ini", "--threads", "1", "--force", "-o", "run.h5", "--set", "train.epochs=2",
          words->pdata[0], words->pdata[1], words->pdata[2], words->pdata[3], words->pdata[4], words->pdata[5],
          words->pdata[6], words->pdata[7], words->pdata[8], words->pdata[9], words->pdata[10], words->pdata[11]));
      PlaitTestCall translated
          = QUIET (CALL ("translate", "run.h5", "-q", "-s", i == 4 ? "en=some.en" : "en=test.en", "--threads", "1"));

      CHECK_CONTAINS (run.errors, cases[i].said);
      if (cases[i].lines > 0)
        CHECK_INT (count (translated.output, "\n"), cases[i].lines);
    }
}

TEST_CASE (documents_of_runs, are_told_apart_by_their_speakers)
{
  set_up ();
  plait_test_write ("train.en", "A: one\nB: two\n\nB: two\nA: one\n\n");
  plait_test_write ("train.fr", "un\ndeux\n\ndeux\nun\n");
  QUIET (CALL ("run", "documents.ini", "-q", "-o", "run.h5", "--set", "data.document_roles=2", "--set",
               "train.epochs=1", "--set", "data.validation.en=train.en", "--set", "data.validation.fr=train.fr",
               "--set", "data.test.en=train.en", "--set", "data.test.fr=train.fr"));
  PlaitTestCall table = DONE (CALL ("show", "run.h5", "/checkpoint/best/parameters/source/en/roles/table"));

  CHECK_CONTAINS (table.output, "[2, 16]");
}

/* Returns the number in column @column of the first line of @text. */
static double
number_of (const char *text, guint column)
{
  g_auto (GStrv) columns = g_strsplit (text, "\t", -1);

  return g_strv_length (columns) > column ? g_ascii_strtod (columns[column], NULL) : 0;
}

/* The decoder reads the role (speaker) of the current sentence. Search finds it by counting the sentences of each
 * hypothesis, forced decoding by counting those of whole targets; their scores must agree. */
TEST_CASE (documents_of_runs, may_tell_the_decoder_who_speaks)
{
  static const char *const roles[] = { "decoder.roles=own", "decoder.roles=shared" };
  static const char *const types[] = { "decoder.type=transformer", "decoder.type=gru" };
  g_autoptr (GString) source = g_string_new (NULL), target = g_string_new (NULL);

  set_up ();
  for (int i = 0; i < 10; i++)
    {
      g_string_append (source, "A: one\nB: two\nA: three\n\nB: two\nA: one\n\n");
      g_string_append (target, "un\ndeux\ntrois\n\ndeux\nun\n\n");
    }
  plait_test_write ("train.en", source->str);
  plait_test_write ("train.fr", target->str);
  plait_test_write ("test.en", "A: one\nB: two\nA: three\n");
  plait_test_write ("test.fr", "un\ndeux\ntrois\n");
  for (int i = 0; i < 2; i++)
    {
      CONTEXT ("%s", roles[i]);
      QUIET (CALL ("run", "documents.ini", "-q", "-o", "run.h5", "--force", "--set", roles[i], "--set", types[i],
                   "--set", "data.document_roles=2", "--set", "data.document_length=0", "--set", "train.epochs=40",
                   "--set", "decode.beam=3"));
      PlaitTestCall own = CALL ("show", "run.h5", "/checkpoint/best/parameters/decoder/roles/table");
      PlaitTestCall found = CALL ("translate", "run.h5", "-q", "-s", "en=test.en", "-o", "found.fr", "--force");
      PlaitTestCall searched = CALL ("translate", "run.h5", "-q", "-s", "en=test.en", "--n-best", "1");
      PlaitTestCall forced = CALL ("score", "run.h5", "-q", "-s", "en=test.en", "--target", "found.fr");

      CHECK_INT (own.code, i == 0 ? 0 : 2);
      CHECK_STRING (found.errors, "");
      CHECK (number_of (searched.output, 2) < -1e-5);
      CHECK_NEAR (number_of (searched.output, 2), number_of (forced.output, 0), 1e-5);
    }
}

TEST_CASE (documents_of_runs, are_refused_in_one_sentence)
{
  const struct
  {
    const char *setting;
    const char *part;
  } cases[] = {
    { "data.documents=en",
      "the stream fr has no documents; name this stream in documents, or set document_cut=truncate" },
    { "decoder.roles=own", "takes the roles of source sentences, but no source has roles; set data.document_roles" },
    { "data.document_length=2", "train.en:1: sentence 1 of the document has 3 tokens, but a chunk has at most 2" },
  };

  set_up ();
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      PlaitTestCall call = CALL ("run", "documents.ini", "-q", "-o", "new.h5", "--set", cases[i].setting);
      CONTEXT ("%s", cases[i].setting);

      CHECK_INT (call.code, 2);
      CHECK_CONTAINS (call.errors, cases[i].part);
    }
  CHECK (!plait_test_exists ("new.h5"));
}
