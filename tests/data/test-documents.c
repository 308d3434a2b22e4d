/* SPDX-License-Identifier: MIT */
#include "documents/documents.h"

#include "text/error.h"
#include "data-files.h"
#include "corpus/batch.h"
#include "corpus/feed.h"
#include "files.h"
#include "harness.h"

/* Sets up documents whose files have one sentence on each line, with start tokens and without chunks. */
static void
set_up (DataText *setup, const char *one, const char *two, const char *target)
{
  const PlaitDocumentSettings documents = { .layout = PLAIT_LAYOUT_DOCUMENTS, .start_tokens = TRUE };

  data_text_set_up (setup, one, two, target);
  setup->sources[0].append_end = TRUE;
  setup->sources[0].documents = setup->sources[1].documents = setup->target.documents = documents;
}

static void
set_maximum (DataText *setup, gint64 maximum)
{
  setup->sources[0].documents.maximum = setup->sources[1].documents.maximum = maximum;
}

/* Returns the documents of @input as text such as "(1 4 5)(1 6 2) | (1 7 2)": ids of each sentence, with "B" before a
 * sentence of role 1 and "C" before one of role 2. (transfer full) */
static char *
show_source (const PlaitInput *input)
{
  const PlaitDocuments *documents = input->documents;
  GString *text = g_string_new (NULL);

  CHECK_INT (documents->rows[0], 0);
  CHECK_INT (documents->rows[plait_ragged_rows (documents->sentences)], plait_ragged_rows (input->rows));
  for (gint64 d = 0; d < input->rows.n; d++)
    {
      const gint64 *sentences = documents->sentences.offsets + d;

      g_string_append (text, d > 0 ? " | " : "");
      CHECK_INT (documents->rows[sentences[0]], input->rows.offsets[d]);
      CHECK_INT (documents->rows[sentences[1]], input->rows.offsets[d + 1]);
      for (gint64 s = sentences[0]; s < sentences[1]; s++)
        {
          if (documents->roles && documents->roles[s] > 0)
            g_string_append_c (text, (char)('A' + documents->roles[s]));
          for (gint64 row = documents->rows[s]; row < documents->rows[s + 1]; row++)
            g_string_append_printf (text, "%s%d", row == documents->rows[s] ? "(" : " ", input->tokens[row]);
          g_string_append_c (text, ')');
        }
    }
  return g_string_free (text, FALSE);
}

/* Returns the target outputs of @batch as text such as "5 1 6 6 2 | 7 2". (transfer full) */
static char *
show_target (const PlaitBatch *batch)
{
  GString *text = g_string_new (NULL);

  for (gint64 d = 0; d < batch->n_sentences; d++)
    for (gint64 row = batch->target_rows.offsets[d]; row < batch->target_rows.offsets[d + 1]; row++)
      {
        gboolean first = row == batch->target_rows.offsets[d];

        g_string_append_printf (text, "%s%d", !first ? " " : d > 0 ? " | " : "", batch->target_outputs[row]);
        CHECK_INT (batch->target_inputs[row], first ? PLAIT_TOKEN_BOS : batch->target_outputs[row - 1]);
      }
  return g_string_free (text, FALSE);
}

static void
check_source (const PlaitBatch *batch, gint64 source, const char *expected)
{
  g_autofree char *shown = show_source (&batch->inputs[source]);

  CHECK_STRING (shown, expected);
}

static void
check_target (const PlaitBatch *batch, const char *expected)
{
  g_autofree char *shown = show_target (batch);

  CHECK_STRING (shown, expected);
}

/* Returns all tuples as one batch. */
static PlaitBatch *
batch_of (const PlaitCorpus *corpus)
{
  gint64 n = plait_corpus_size (corpus);
  g_autofree gint64 *tuples = g_new (gint64, n);
  PlaitBatch *batch;

  for (gint64 i = 0; i < n; i++)
    tuples[i] = i;
  batch = plait_corpus_batch (corpus, tuples, n, NO_ERROR);
  return batch;
}

static PlaitCorpus *
open_corpus (const DataText *setup)
{
  return plait_corpus_open (&setup->settings, NULL, NO_ERROR);
}

static void
check_report (const PlaitCorpus *corpus, const char *expected)
{
  g_auto (GStrv) report = plait_corpus_report (corpus);
  g_autofree char *joined = g_strjoinv ("\n", report);

  CHECK_STRING (joined, expected);
}

TEST_CASE (documents, tell_where_sentences_begin)
{
  g_auto (DataText) setup = { 0 };
  set_up (&setup, "a b\nc\n\nd zzz\n", "b\n\na a\r\nc\r\n\r\n", "b\nc c\n\nd\n");
  g_autoptr (PlaitCorpus) corpus = open_corpus (&setup);
  REQUIRE (corpus != NULL);
  CHECK_INT (plait_corpus_size (corpus), 2);
  CHECK_INT (plait_corpus_lines (corpus), 2);
  CHECK_INT (plait_corpus_length (corpus, 0, 0), 6);
  CHECK_INT (plait_corpus_longest (corpus, 2), 5);
  g_autoptr (PlaitBatch) batch = batch_of (corpus);
  REQUIRE (batch != NULL);
  CHECK (batch->inputs[0].kind == PLAIT_INPUT_TOKENS && batch->inputs[0].documents->start_tokens);
  CHECK (!batch->inputs[0].documents->roles);
  check_source (batch, 0, "(1 4 5)(1 6 2) | (1 7 3 2)");
  check_source (batch, 1, "(1 5) | (1 4 4)(1 6)");
  check_target (batch, "5 1 6 6 2 | 7 2");
  check_report (corpus, "");
  g_auto (GStrv) text = plait_corpus_text (corpus, 1, NULL);
  REQUIRE (text && g_strv_length (text) == 2);
  CHECK_STRING (text[0], "b");
  CHECK_STRING (text[1], "a a\nc");
}

TEST_CASE (documents, need_no_start_tokens)
{
  g_auto (DataText) setup = { 0 };
  set_up (&setup, "a b\nc\n\nd\n", "b\n\na\nc\n", "b\nc c\n\nd\n");
  setup.sources[0].documents.start_tokens = setup.target.documents.start_tokens = FALSE;
  g_autoptr (PlaitCorpus) corpus = open_corpus (&setup);
  g_autoptr (PlaitBatch) batch = batch_of (corpus);
  REQUIRE (batch != NULL);
  CHECK (!batch->inputs[0].documents->start_tokens && batch->inputs[1].documents->start_tokens);
  check_source (batch, 0, "(4 5)(6 2) | (7 2)");
  check_target (batch, "5 6 6 2 | 7 2");
}

TEST_CASE (documents, may_be_missing_in_a_source)
{
  g_auto (DataText) setup = { 0 };
  set_up (&setup, "\nd\n\n\n", "a\n\na\n\nc\n\n", "a\n\nb\n\nc\n");
  g_autoptr (PlaitCorpus) corpus = open_corpus (&setup);
  g_autoptr (PlaitBatch) batch = batch_of (corpus);
  REQUIRE (batch != NULL);
  CHECK_INT (plait_corpus_size (corpus), 3);
  check_source (batch, 0, " | (1 7 2) | ");
}

TEST_CASE (documents, may_stand_beside_lines)
{
  g_auto (DataText) setup = { 0 };
  set_up (&setup, "a\nb\n\nc\n", "a b\n\n", "c\nd\n");
  setup.sources[1].documents.layout = setup.target.documents.layout = PLAIT_LAYOUT_SENTENCES;
  g_autoptr (PlaitCorpus) corpus = open_corpus (&setup);
  g_autoptr (PlaitBatch) batch = batch_of (corpus);
  REQUIRE (batch != NULL);
  check_source (batch, 0, "(1 4)(1 5 2) | (1 6 2)");
  CHECK (!batch->inputs[1].documents);
  CHECK_INT (batch->inputs[1].n_missing, 1);
  check_target (batch, "6 2 | 7 2");
}

TEST_CASE (documents, of_a_line_are_split_by_rule)
{
  g_auto (DataText) setup = { 0 };
  set_up (&setup, "a b. C d!  Mr. B?  a 1.5 b\n  a  \n", "a\nb\n", "c\nd\n");
  setup.sources[0].documents.layout = PLAIT_LAYOUT_LINES;
  setup.sources[1].documents.layout = setup.target.documents.layout = PLAIT_LAYOUT_SENTENCES;
  g_autoptr (PlaitCorpus) plain = open_corpus (&setup);
  g_autoptr (PlaitBatch) first = batch_of (plain);
  g_strlcpy (setup.sources[0].documents.language, "en", PLAIT_DOCUMENT_LANGUAGE_LENGTH);
  g_autoptr (PlaitCorpus) english = open_corpus (&setup);
  g_autoptr (PlaitBatch) second = batch_of (english);
  REQUIRE (first && second);
  check_source (first, 0, "(1 4 3)(1 3 3)(1 3)(1 3)(1 4 3 5 2) | (1 4 2)");
  check_source (second, 0, "(1 4 3)(1 3 3)(1 3 3)(1 4 3 5 2) | (1 4 2)");
  g_auto (GStrv) text = plait_corpus_text (english, 0, NULL);
  REQUIRE (text != NULL);
  CHECK_STRING (text[0], "a b.\nC d!\nMr. B?\na 1.5 b");
}

/* Does not end a sentence after an abbreviation, number or initial. */
TEST_CASE (documents, go_on_behind_abbreviations)
{
  static const struct
  {
    const char *language, *text, *sentences;
  } cases[] = {
    { "en", "See Dr. B, e.g. A. B. Cole. Fig. D is in vol. E. Go on etc. And F.",
      "See Dr. B, e.g. A. B. Cole.|Fig. D is in vol. E.|Go on etc.|And F." },
    { "en", "Vitamin C. Dr. No. End", "Vitamin C.|Dr. No.|End" },
    { "de", "Das ist z. B. Herr Dr. Meier. Am 5. Mai vgl. Seite 7. Nein.",
      "Das ist z. B. Herr Dr. Meier.|Am 5. Mai vgl. Seite 7.|Nein." },
    { "de", "Platz 5. Maier kam. Ende des 5. Augusts (8. M\u00e4rz). Am 1. Mai",
      "Platz 5.|Maier kam.|Ende des 5. Augusts (8. M\u00e4rz).|Am 1. Mai" },
    { "de", "Das ist z.\u00a0B. Hier. Im Jahr 2000. Die (z. B. Dort) usw. Und.",
      "Das ist z.\u00a0B. Hier.|Im Jahr 2000.|Die (z. B. Dort) usw.|Und." },
    { "cs", "Nap\u0159. Petr, tj. Ing. Nov\u00e1k. Konec.", "Nap\u0159. Petr, tj. Ing. Nov\u00e1k.|Konec." },
    { "fr", "Ici M. Dupont, p. ex. Lui. Non.", "Ici M. Dupont, p. ex. Lui.|Non." },
    { "es", "En EE. UU. El Sr. Paz. Fin.", "En EE. UU. El Sr. Paz.|Fin." },
    { "", "J. R. R. Cole. Dr. A.", "J.|R.|R.|Cole.|Dr.|A." },
    { "fr", "Le TIM. Oui.", "Le TIM.|Oui." },
    { "en", "Dr.", "Dr." },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      const char *path = plait_test_write ("line", cases[i].text);
      g_autoptr (PlaitTextReader) lines = plait_text_reader_open (path, NO_ERROR);
      PlaitDocumentSettings settings = { .layout = PLAIT_LAYOUT_LINES };
      g_autoptr (GString) text = g_string_new (NULL);
      g_autoptr (GArray) sentences = g_array_new (FALSE, FALSE, sizeof (PlaitDocumentSentence));
      PlaitDocumentReader *reader;
      gint64 line;
      CONTEXT ("case %zu", i);

      g_strlcpy (settings.language, cases[i].language, PLAIT_DOCUMENT_LANGUAGE_LENGTH);
      reader = plait_document_reader_new (lines, &settings, NO_ERROR);
      REQUIRE (reader != NULL);
      CHECK (plait_document_reader_next (reader, text, sentences, &line, &error));
      g_strdelimit (text->str, "\n", '|');
      CHECK_STRING (text->str, cases[i].sentences);
      plait_document_reader_free (reader);
    }
}

TEST_CASE (documents, have_roles_from_prefixes)
{
  g_auto (DataText) setup = { 0 };
  set_up (&setup, "Ann: a\nb 1:2\nBob B: c\nAnn:\nCy: d\n\nCy: d\nAnn: a\n", "a\n\nb\n", "c\n\nd\n");
  setup.sources[0].documents.roles = 3;
  g_autoptr (PlaitCorpus) corpus = open_corpus (&setup);
  g_autoptr (PlaitBatch) batch = batch_of (corpus);
  REQUIRE (batch != NULL);
  check_source (batch, 0, "(1 3 4)(1 5 3)B(1 3 3 6)(1 3)C(1 3 7 2) | (1 3 7)B(1 3 4 2)");
  CHECK (!batch->inputs[1].documents->roles);
}

TEST_CASE (documents, are_cut_into_chunks_at_the_same_sentences)
{
  g_auto (DataText) setup = { 0 };
  set_up (&setup, "a\nb\nc d\na\n\nd\n", "a\nb b b\nc\na\n\n\n", "a\nb b b b b b b b b\nc c\nd d d\n\nb\n");
  set_maximum (&setup, 6);
  g_autoptr (PlaitCorpus) corpus = open_corpus (&setup);
  REQUIRE (corpus != NULL);
  CHECK_INT (plait_corpus_size (corpus), 3);
  CHECK_INT (plait_corpus_lines (corpus), 2);
  CHECK_INT (plait_corpus_line (corpus, 1), 0);
  CHECK_INT (plait_corpus_line (corpus, 2), 1);
  check_report (corpus, "train: cut 1 of 2 documents into 2 chunks of at most 6 tokens");
  g_autoptr (PlaitBatch) batch = batch_of (corpus);
  REQUIRE (batch != NULL);
  check_source (batch, 0, "(1 4)(1 5 2) | (1 6 7)(1 4 2) | (1 7 2)");
  check_source (batch, 1, "(1 4)(1 5 5 5) | (1 6)(1 4) | ");
  check_target (batch, "4 1 5 5 5 5 5 5 5 5 5 2 | 6 6 1 7 7 7 2 | 5 2");
  g_auto (GStrv) text = plait_corpus_text (corpus, 2, NULL);
  REQUIRE (text && g_strv_length (text) == 2);
  CHECK_STRING (text[0], "a\nb b b b b b b b b\nc c\nd d d");
}

TEST_CASE (documents, drop_chunks_above_a_length_limit)
{
  g_auto (DataText) setup = { 0 };
  set_up (&setup, "a a a\nb\nc\n\nd\n", "a\nb\nc\n\nb\n", "a\nb\nc\n\nb\n");
  set_maximum (&setup, 4);
  setup.sources[0].maximum_length = 2; /* the limit does not count start tokens */
  g_autoptr (PlaitCorpus) corpus = open_corpus (&setup);
  g_autoptr (PlaitBatch) batch = batch_of (corpus);
  REQUIRE (batch != NULL);
  check_source (batch, 0, "(1 5)(1 6 2) | (1 7 2)");
  CHECK_INT (plait_corpus_line (corpus, 0), 0);
  CHECK_INT (plait_corpus_line (corpus, 1), 1);
  check_report (corpus, "train: cut 1 of 2 documents into 2 chunks of at most 4 tokens\n"
                        "train: dropped 1 of 3 tuples where one is longer than 2 tokens");
}

TEST_CASE (documents, are_truncated_instead)
{
  g_auto (DataText) setup = { 0 };
  set_up (&setup, "a b\nc c c\nd\n\na\n", "a\n\nb\n", "a\nb b b b b b b\n\nc\n");
  setup.sources[0].documents.maximum = setup.sources[1].documents.maximum = 5;
  setup.sources[0].documents.truncates = setup.sources[1].documents.truncates = TRUE;
  g_autoptr (PlaitCorpus) corpus = open_corpus (&setup);
  g_autoptr (PlaitBatch) batch = batch_of (corpus);
  REQUIRE (batch != NULL);
  check_source (batch, 0, "(1 4 5)(1 6 2) | (1 4 2)");
  check_target (batch, "4 1 5 5 5 5 5 5 5 2 | 6 2");
  check_report (corpus, "train: truncated 1 of 2 documents of one to 5 tokens; 4 were lost");
}

TEST_CASE (documents, keep_their_sentences_in_parts_of_batches)
{
  g_auto (DataText) setup = { 0 };
  set_up (&setup, "A: a b\nB: c\n\nA: d\n\nA: a\nB: a\nA: d d", "a\n\n\nb\n", "b\n\nd\n\na\n");
  setup.sources[0].documents.roles = 2;
  g_autoptr (PlaitCorpus) corpus = open_corpus (&setup);
  g_autoptr (PlaitBatch) batch = batch_of (corpus);
  g_autoptr (GError) error = NULL;
  REQUIRE (batch != NULL);
  g_autoptr (PlaitBatch) part = plait_batch_slice (batch, 1, 2, &error);
  REQUIRE (part != NULL);
  check_source (part, 0, "(1 3 7 2) | (1 3 4)B(1 3 4)(1 3 7 7 2)");
  check_source (part, 1, " | (1 5)");
}

TEST_CASE (documents, are_fed_as_a_corpus_gives_them)
{
  g_auto (DataText) setup = { 0 };
  set_up (&setup, "A: a\nb\nB: c d\nB: a\n\nA: d\n", "a\nb b b\nc\na\n\n\n", "a\nb\nc c\nd d d\n\nb\n");
  set_maximum (&setup, 6);
  setup.sources[0].documents.roles = 2;
  setup.settings.keep_all = TRUE;
  g_autoptr (PlaitCorpus) corpus = open_corpus (&setup);
  g_autoptr (PlaitBatch) whole = batch_of (corpus);
  g_autoptr (PlaitFeed) feed = plait_feed_open (setup.sources, 2, &setup.target, NULL, FALSE, NO_ERROR);
  gint64 tuple = 0;
  REQUIRE (whole && feed);
  CHECK_INT (whole->n_sentences, 4);
  for (; tuple < 4; tuple++)
    {
      g_autoptr (PlaitBatch) fed = plait_feed_next (feed, 1, NO_ERROR);
      g_autoptr (PlaitBatch) part = plait_batch_slice (whole, tuple, 1, NULL);
      CONTEXT ("tuple %d", (int)tuple);

      REQUIRE (fed && fed->n_sentences == 1);
      CHECK_INT (fed->sentence[0], tuple);
      CHECK_INT (plait_feed_line (feed, tuple), plait_corpus_line (corpus, tuple));
      for (gint64 s = 0; s < 2; s++)
        {
          g_autofree char *expected = show_source (&part->inputs[s]);
          check_source (fed, s, expected);
        }
      g_autofree char *target = show_target (part);
      check_target (fed, target);
    }
  CHECK (!plait_feed_next (feed, 1, NO_ERROR));
}

TEST_CASE (documents, of_a_source_without_a_file_are_missing_chunk_by_chunk)
{
  g_auto (DataText) setup = { 0 };
  set_up (&setup, "a\nb\n\nc\n", "", "");
  set_maximum (&setup, 2);
  setup.sources[1].paths = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (PlaitFeed) feed = plait_feed_open (setup.sources, 2, NULL, NULL, FALSE, &error);
  g_autoptr (PlaitBatch) batch = plait_feed_next (feed, 10, &error);
  REQUIRE (batch != NULL);
  check_source (batch, 0, "(1 4 2) | (1 5 2) | (1 6 2)");
  check_source (batch, 1, " |  | ");
  CHECK_INT (batch->inputs[1].n_missing, 3);
  CHECK_INT (plait_feed_line (feed, 1), 0);
  CHECK_INT (plait_feed_line (feed, 2), 1);
}

/* Checks that opening a corpus fails with the message @said, and opening a feed with @fed (NULL: also with @said). */
static void
check_refused (const DataText *setup, const char *said, const char *fed)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (PlaitCorpus) corpus = plait_corpus_open (&setup->settings, NULL, &error);
  g_autoptr (PlaitFeed) feed = NULL;

  CHECK (!corpus);
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, said);
  feed = plait_feed_open (setup->sources, 2, &setup->target, NULL, setup->settings.empty_is_error, NO_ERROR);
  REQUIRE (feed != NULL);
  CHECK (!plait_feed_next (feed, 100, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, fed ? fed : said);
}

TEST_CASE (documents, are_refused_where_they_are_bad)
{
  g_autoptr (GString) many = g_string_new (NULL);
  const struct
  {
    const char *one, *two, *target;
    const char *said;
    const char *fed;
  } cases[] = {
    { "a\n\nb\n\n", "a\n\n\nb\n", "a\n\nb\n",
      "two.gz:3: the document has no sentences; expected a sentence of two, since empty=error" },
    { "\na\n", "a\n", "a\n", "one:1: the document has no sentences" },
    { "a\n\nb\n", "a\n\nb\n\nc\n\nd\n", "a\n\nb\n\nc\n", "two.gz:5: the file has 4 documents, but ",
      "one:4: ends here, but " },
    { "a\n\nb\n", "a\n\nb\n", "a\n", "target:2: the file has 1 documents, but ", "target:2: ends here, but " },
    { "a\nb\n\na\nb\n", "a\nb\n\na\nb\n", "a\nb\n\na\nb\nc\n",
      "target:6: the document has 3 sentences, but the document at " },
    { "a\nb\n", "a\n", "a\nb\n", "two.gz:2: the document has 1 sentences, but the document at " },
    { "a\n\nb\na a a a a\n", "a\n\nb\na\n", "a\n\nb\na\n",
      "one:4: sentence 2 of the document has 6 tokens, but a chunk has at most 5" },
    { "a\n\nb\n\xff\n", "a\n\nb\na\n", "a\n\nb\na\n", "one:4: byte 1 of the line (0xff) is not UTF-8" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_auto (DataText) setup = { 0 };
      CONTEXT ("case %u", i);
      set_up (&setup, cases[i].one, cases[i].two, cases[i].target);
      set_maximum (&setup, 5);
      setup.settings.empty_is_error = TRUE;
      check_refused (&setup, cases[i].said, cases[i].fed);
    }

  for (int i = 0; i < 100000; i++)
    g_string_append (many, "a\n");
  g_auto (DataText) endless = { 0 };
  set_up (&endless, many->str, "a\n", "a\n");
  check_refused (&endless, "one:65537: the document has more than 65536 sentences; expected a blank line between",
                 NULL);

  g_auto (DataText) crowd = { 0 };
  set_up (&crowd, "A: a\nB: a\nC: a\n", "a\n", "a\n");
  crowd.sources[0].documents.roles = 2;
  check_refused (&crowd, "one:3: the role \"C\" is one more than the 2 roles that a document may have", NULL);

  g_auto (DataText) nobody = { 0 };
  set_up (&nobody, "A: a\n\nwho am I\n", "a\n\na\n", "a\n\na\n");
  nobody.sources[0].documents.roles = 2;
  check_refused (&nobody, "one:3: the document begins without a role; expected NAME: before its first sentence", NULL);
}
