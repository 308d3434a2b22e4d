/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "call.h"
#include "files.h"
#include "harness.h"
#include "report-page.h"
#include "sample-run.h"
#include "tables/ragged.h"

/* Tests of heatmaps of documents, whose columns are sentences or tokens of sentences, on the terminal and on a page. */

static const char *const axes[] = { "layer", "head", "target", "row" };
static const char *const targets[] = { "x", "y" };

/* Writes a run with the attention of two heads, from two target rows to three sentences and to their five tokens. @n of
 * the tokens know the number of their sentence. */
static void
write_document (gint64 n)
{
  static const char *const sentences[] = { "0: a b", "1: c", "2: d e" }, *const tokens[] = { "a", "b", "c", "d", "e" };
  static const char *const *const of_sentences[] = { NULL, NULL, targets, sentences };
  static const char *const *const of_tokens[] = { NULL, NULL, targets, tokens };
  static const PlaitScalar weights[] = { .5, .25, .25, 0, .25, .75, .125, .375, .5, .25, .25, .5 };
  static const PlaitScalar token_weights[] = { .1, .2, .3, .2, .2, 0, 0, 1, 0, 0, .5, .5, 0, 0, 0, .2, .2, .2, .2, .2 };
  static const gint64 shape[] = { 1, 2, 2, 3 }, token_shape[] = { 1, 2, 2, 5 }, row_sentence[] = { 0, 0, 1, 2, 2 };
  static const char place[] = "/attention/test/0";
  g_autoptr (PlaitStore) store = plait_store_create (plait_test_path ("document.h5"), NULL);

  REQUIRE (store != NULL);
  CHECK (plait_store_append_heatmap (store, place, "a.sentences",
                                     &(PlaitStoreHeatmap){ "weights", 4, shape, weights, axes, of_sentences, NULL },
                                     NULL));
  CHECK (plait_store_append_attribute (store, place, "a.sentences", "rows", "sentences", NULL));
  CHECK (plait_store_append_heatmap (
      store, place, "a.tokens",
      &(PlaitStoreHeatmap){ "weights", 4, token_shape, token_weights, axes, of_tokens, "attention to a.tokens" },
      NULL));
  CHECK (plait_store_append (store, place, "a.tokens", "row_sentence", PLAIT_STORE_INT64, 1, &n, row_sentence, NULL,
                             NULL));
  CHECK (plait_store_commit (store, NULL));
}

/* Shows sentences as rows, labelled by their first words. */
TEST_CASE (heatmap, of_sentences_has_them_below_each_other)
{
  write_document (5);
  PlaitTestCall call = DONE (CALL ("show", "document.h5", "/attention/test/0/a.sentences"));

  CHECK_STRING (call.output, "         x y\n"
                             "  0: a b ▒▒░░\n"
                             "    1: c ▒▒▒▒\n"
                             "  2: d e ▓▓██\n"
                             "         0 ░▒▓█ 0.625\n"
                             "         layer 0, mean of 2 heads; row down, target across\n");
}

/* Scales the heaviest weights of each head to sum to one before taking the mean over heads. */
TEST_CASE (heatmap, keeps_the_heaviest_of_each_head)
{
  write_document (5);
  PlaitTestCall two = CALL ("show", "document.h5", "/attention/test/0/a.sentences", "--top", "2", "--json");
  PlaitTestCall one
      = CALL ("show", "document.h5", "/attention/test/0/a.sentences", "--top", "1", "--json", "--head", "1");
  PlaitTestCall all = CALL ("show", "document.h5", "/attention/test/0/a.sentences", "--top", "3", "--json");

  /* The mean of the heads, each with its two heaviest weights: (2/3 1/3 0 + 0 3/7 4/7) / 2, where the first of two
   * equal weights is kept, and (0 .25 .75 + 1/3 0 2/3) / 2. */
  CHECK_CONTAINS (two.output, "\"choice\": \"layer 0, mean of 2 heads, the 2 heaviest of 3\"");
  CHECK_CONTAINS (two.output, "0.33333");
  CHECK_CONTAINS (two.output, "0.380952");
  CHECK_CONTAINS (two.output, "0.285714");
  CHECK_CONTAINS (two.output, "0.166666");
  CHECK_CONTAINS (two.output, "0.708333");
  CHECK_CONTAINS (one.output, "\"choice\": \"layer 0, head 1, the 1 heaviest of 3\"");
  CHECK_CONTAINS (one.output,
                  "    [\n      0,\n      0,\n      1\n    ],\n    [\n      0,\n      0,\n      1\n    ]\n");
  CHECK_CONTAINS (all.output, "\"choice\": \"layer 0, mean of 2 heads\"");
}

TEST_CASE (heatmap, of_tokens_goes_into_a_sentence)
{
  write_document (5);
  PlaitTestCall call = DONE (CALL ("show", "document.h5", "/attention/test/0/a.tokens", "--sentence", "2"));
  PlaitTestCall group = CALL ("show", "document.h5", "/attention/test/0", "--sentence", "2");
  PlaitTestCall json = CALL ("show", "document.h5", "/attention/test/0/a.tokens", "--sentence", "1", "--json");

  CHECK_STRING (call.output, "    attention to a.tokens\n"
                             "    d e\n"
                             "  x ████\n"
                             "  y ████\n"
                             "    0 ░▒▓█ 0.1\n"
                             "    layer 0, mean of 2 heads, sentence 2; target down, row across\n");
  CHECK_CONTAINS (group.output, "/attention/test/0/a.sentences\n");
  CHECK_CONTAINS (group.output, "  0: a b ▒▒░░\n");
  CHECK_CONTAINS (group.output, call.output);
  CHECK_CONTAINS (json.output, "\"row\": [\n    \"c\"\n  ]");
}

TEST_CASE (heatmap, refuses)
{
  write_document (5);
  CHECK_REFUSED (CALL ("show", "document.h5", "/attention/test/0/a.tokens", "--sentence", "3"),
                 "document.h5: /attention/test/0/a.tokens: the document has no sentence 3; expected 0 to 2");
  CHECK_REFUSED (CALL ("show", "document.h5", "/attention/test/0", "--json", "--sentence", "-1"), "--sentence");
  CHECK_REFUSED (CALL ("show", "document.h5", "/attention/test/0/a.tokens", "--top", "-2"), "--top");
}

/* Returns the page of a report about a run with a document of @sentences sentences. */
static const char *
report (gint64 sentences)
{
  plait_test_write_run ("run.h5",
                        &(PlaitTestRun){ .combiner = "serial", .hypotheses = plait_test_wrong, .document = sentences });
  return page_of ("run.h5");
}

/* The page of 5,000 tokens and 200 words stays small. It has the sentences with their first words, and for each token
 * its sentence. */
TEST_CASE (heatmap, of_a_long_document_leaves_the_report_small)
{
  const char *html = report (200);
  g_auto (Pack) pack = { 0 };
  read_pack (&pack, html, 1);

  CHECK_CONTAINS (pack.json, "\"name\": \"a.sentences\",");
  CHECK_CONTAINS (pack.json, "\"heaviest\": 16,");
  CHECK_CONTAINS (pack.json, "\"40: the first words");
  CHECK_CONTAINS (pack.json, "\"name\": \"a.tokens\",");
  CHECK_CONTAINS (pack.json, "\"heaviest\": 0,");
  CHECK_CONTAINS (pack.json, "\"of\": [\n        0,\n");
  CHECK (strlen (html) < 800000);
}

TEST_CASE (heatmap, whose_tokens_are_of_unknown_sentences_is_refused)
{
  write_document (4);
  CHECK_REFUSED (CALL ("show", "document.h5", "/attention/test/0/a.tokens"),
                 "document.h5: /attention/test/0/a.tokens/row_sentence has 4 numbers, but the heatmap "
                 "has 5 columns; write the dump again");
}

/* A short document is drawn whole. */
TEST_CASE (heatmap, of_a_short_document_has_all_tokens_on_the_page)
{
  const char *html = report (1);
  g_auto (Pack) pack = { 0 };
  read_pack (&pack, html, 1);

  CHECK_CONTAINS (pack.json, "\"title\": \"a.tokens\",");
  CHECK_CONTAINS (pack.json, "\"kept_heads\": 2,");
}

TEST_CASE (heatmap, that_is_too_large_leaves_the_rest_of_the_page)
{
  plait_test_write_run ("run.h5",
                        &(PlaitTestRun){ .combiner = "serial", .hypotheses = plait_test_wrong, .wide = TRUE });
  const char *html = page_of ("run.h5");
  g_auto (Pack) first = { 0 }, second = { 0 };
  read_pack (&first, html, 0);
  read_pack (&second, html, 1);

  CHECK_CONTAINS (first.json, "\"title\": \"attention to en\"");
  CHECK_CONTAINS (second.json, "\"undrawn\": [\n    \"<wide> has too many values to be drawn.\"\n  ]");
  CHECK_CONTAINS (html, "<footer>");
}
