/* SPDX-License-Identifier: MIT */
#include "experiments.h"
#include "files.h"
#include "harness.h"
#include "runs.h"

/* Tests of runs whose decoder attends to tokens and sentences of documents: the labels of rows in their dumps. */

#define HAT                                                                                                            \
  "[source a/leaves]\nlayers=1\nheads=2\nfeed_forward=8\n"                                                             \
  "[source a]\nencoder=hat\nleaves=transformer\nheads=2\nfeed_forward=8\n"

/* Trains a run over three documents. Its source has the lines @source. Returns the run. (transfer full) */
static PlaitStore *
run_documents (const char *name, const char *source)
{
  static const char text[]
      = "[experiment]\nname=documents\nseed=3\n"
        "[data]\ntarget=t\nvocabulary_type=words\ndocuments=a\n"
        "train.a=d.a\ntrain.t=d.t\ntest.a=d.a\ntest.t=d.t\n" SMALL_DECODER (
            "hierarchical") "[train]\nbatch=2\nupdates=2\nwarm_up=10\n"
                            "[decode]\nbeam=1\nmaximum_length=3\n[evaluate]\nresamples=0\nattention=2\n";

  plait_test_write ("d.a", "one two three\nfour\n\nfive six seven eight nine ten eleven\n\none\ntwo\nfour five\n");
  plait_test_write ("d.t", "two\nsix\nfive\n");
  return test_run_open (plait_test_write (plait_test_format ("%s.ini", name), plait_test_format ("%s%s", text, source)),
                        NULL, plait_test_format ("%s.h5", name));
}

static void
check_labels (PlaitStore *run, const char *place, const char *expected)
{
  g_autofree char *path = g_strconcat ("/attention/", place, "/row_labels", NULL), *joined = NULL;
  g_auto (GStrv) labels = NULL;
  gint64 n = 0;

  labels = plait_store_read_strings (run, path, 10000, &n, NO_ERROR);
  REQUIRE (labels != NULL);
  joined = g_strjoinv ("|", labels);
  CHECK_STRING (joined, expected);
}

static void
check_sentences (PlaitStore *run, const char *place, const char *expected)
{
  g_autofree char *path = g_strconcat ("/attention/", place, "/row_sentence", NULL);
  g_autoptr (GString) text = g_string_new (NULL);
  g_autofree gint64 *sentences = NULL;
  gint64 n = 0;

  sentences = plait_store_read_array (run, path, PLAIT_STORE_INT64, 100, &n, NO_ERROR);
  for (gint64 i = 0; i < n; i++)
    g_string_append_printf (text, "%s%d", i > 0 ? " " : "", (int)sentences[i]);
  CHECK_STRING (text->str, expected);
}

TEST_CASE (document_dumps, name_tokens_and_sentences)
{
  g_autoptr (PlaitStore) run = run_documents ("named", HAT);

  REQUIRE (run != NULL);
  check_labels (run, "test/0/a.tokens", "<s>|one|two|three|<s>|four|</s>");
  check_labels (run, "test-forced/0/a.tokens", "<s>|one|two|three|<s>|four|</s>");
  check_labels (run, "test/0/a.sentences", "0: one two three|1: four");
  check_labels (run, "test/1/a.sentences", "0: five six seven eight ni…");
  check_labels (run, "test-forced/1/a.tokens", "<s>|five|six|seven|eight|nine|ten|eleven|</s>");
}

/* The dump of attention to tokens has the sentence of each token, and so has its product with attention to contexts. */
TEST_CASE (document_dumps, tell_the_sentence_of_each_token)
{
  static const char *const places[] = { "test/0/a.tokens", "test-forced/0/a.tokens.effective" };
  static const char *const sentences[] = { "/attention/test/0/a.sentences", "/attention/test/1/a.sentences.effective" };
  g_autoptr (PlaitStore) run = run_documents ("places", HAT);

  REQUIRE (run != NULL);
  for (guint i = 0; i < G_N_ELEMENTS (places); i++)
    {
      g_autofree char *rows = plait_store_get_string (run, sentences[i], "rows", NULL);
      CONTEXT ("%s", places[i]);

      check_sentences (run, places[i], "0 0 0 0 1 1 1");
      CHECK_STRING (rows, "sentences");
    }
  CHECK (!plait_store_has_attribute (run, "/attention/test/0/a.tokens", "rows"));
  CHECK (!plait_store_has (run, "/attention/test/0/a.sentences/row_sentence"));
  CHECK (!plait_store_has (run, "/attention/test/0/contexts/row_sentence"));
}

/* The sentence of each token is also dumped for a plain encoder, which has one row for each token. */
TEST_CASE (document_dumps, of_a_plain_encoder_tell_sentences_too)
{
  g_autoptr (PlaitStore) run = run_documents ("plain", SMALL_SOURCE ("a"));

  REQUIRE (run != NULL);
  check_labels (run, "test/0/a", "<s>|one|two|three|<s>|four|</s>");
  check_sentences (run, "test/0/a", "0 0 0 0 1 1 1");
  check_sentences (run, "test-forced/1/a", "0 0 0 0 0 0 0 0 0");
}

TEST_CASE (document_dumps, leave_out_start_tokens_that_are_not_attended_to)
{
  g_autoptr (PlaitStore) run = run_documents ("starts", HAT "starts_in_tokens=false\n");

  REQUIRE (run != NULL);
  check_labels (run, "test/0/a.tokens", "one|two|three|four|</s>");
  check_sentences (run, "test/0/a.tokens", "0 0 0 1 1");
  check_labels (run, "test/0/a.sentences", "0: one two three|1: four");
}
