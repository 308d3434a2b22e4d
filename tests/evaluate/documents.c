/* SPDX-License-Identifier: MIT */
#include "harness.h"

#include "text/error.h"
#include "metrics/documents.h"
#include "significance/length-bins.h"
#include "significance/report.h"

#include <string.h>

/* Three documents. Blank lines at both ends, and two blank lines in a row, make no difference. */
static const char *const hypotheses[] = { "", "a b c", "d e", " ", "", "", "f g h -", "x", "", "i", "" };
static const char *const set[] = { "", "a b c", "d f", "\t", "", "c d e f", "f g h", "i j", "", "i", " " };
static const char *const *const references[] = { set };
static const PlaitTextPairs pairs = { G_N_ELEMENTS (set), hypotheses, 1, references };

TEST_CASE (documents, are_between_blank_lines)
{
  static const char *const texts[] = { "a b c d e", "f g h - x", "i" };
  static const char *const sets[] = { "a b c d f", "c d e f f g h i j", "i" };
  static const gsize lines[] = { 1, 5, 9, 10 };
  g_autoptr (PlaitDocumentPairs) documents = plait_document_pairs_new (&pairs, ' ', NO_ERROR);

  REQUIRE (documents != NULL);
  CHECK_INT (documents->pairs.sentences, 3);
  for (guint d = 0; d < 3; d++)
    {
      CHECK_STRING (documents->pairs.hypotheses[d], texts[d]);
      CHECK_STRING (documents->pairs.references[0][d], sets[d]);
      CHECK_INT (documents->lines[d], lines[d]);
    }
  CHECK_INT (documents->lines[3], lines[3]);
}

/* Documents get the scores of single lines, into which they are joined by hand. Intervals resample documents. */
TEST_CASE (documents, score_as_lines_of_their_own)
{
  static const char *const metrics[] = { "bleu", "bleu:tok=none,smooth=none", "chrf", "chrf++", "rouge:type=2" };
  static const char *const texts[] = { "a b c d e", "f g h - x", "i" };
  static const char *const joined[] = { "a b c d f", "c d e f f g h i j", "i" };
  static const char *const *const joined_references[] = { joined };
  const PlaitTextPairs documents = { 3, texts, 1, joined_references };

  for (guint m = 0; m < G_N_ELEMENTS (metrics); m++)
    {
      CONTEXT ("%s", metrics[m]);
      g_autofree char *name = g_strconcat (metrics[m], strchr (metrics[m], ':') ? "," : ":", "unit=document", NULL);
      g_autoptr (PlaitMetric) of_lines = plait_metric_new (metrics[m], NULL);
      g_autoptr (PlaitMetric) of_documents = plait_metric_new (name, NULL);
      REQUIRE (of_lines && of_documents);
      g_autoptr (PlaitResult) wanted = plait_evaluate (of_lines, &documents, 100, 1, NULL);
      g_autoptr (PlaitResult) result = plait_evaluate (of_documents, &pairs, 100, 1, NULL);
      REQUIRE (wanted && result);
      CHECK_INT (result->sentences, 3);
      CHECK_NEAR (result->score, wanted->score, 0);
      CHECK_NEAR (result->interval.low, wanted->interval.low, 0);
      CHECK_NEAR (result->interval.high, wanted->interval.high, 0);
      CHECK_CONTAINS (result->signature, "seed:1|unit:document|");
      if (m < 4)
        {
          CHECK_STRING (result->name, plait_test_format ("d-%s", wanted->name));
        }
      else
        CHECK_STRING (result->name, wanted->name);
    }
}

/* ROUGE-Lsum takes the lines of a document as its sentences. As single lines, "b a" and "a b" share one word in order;
 * as two lines each, they share two. */
TEST_CASE (documents, keep_their_lines_for_lsum)
{
  static const char *const texts[] = { "b", "a" };
  static const char *const wanted[] = { "a", "b" };
  static const char *const *const wanted_references[] = { wanted };
  const PlaitTextPairs lines = { 2, texts, 1, wanted_references };
  static const struct
  {
    const char *metric;
    double score;
  } cases[] = { { "rouge:type=Lsum,unit=document", 100 }, { "rouge:type=L,unit=document", 50 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      CONTEXT ("%s", cases[i].metric);
      g_autoptr (PlaitMetric) metric = plait_metric_new (cases[i].metric, NULL);
      g_autoptr (PlaitResult) result = plait_evaluate (metric, &lines, 0, 1, NULL);
      REQUIRE (result != NULL);
      CHECK_NEAR (result->score, cases[i].score, 1e-12);
    }
}

/* Scores texts of whole documents, as a run passes them. Only a metric that reads lines distinguishes LF from a
 * space. */
TEST_CASE (documents, may_be_texts_of_several_lines)
{
  static const char *const texts[] = { "b\na", "d e f\ng" }, *const spaced[] = { "b a", "d e f g" };
  static const char *const wanted[] = { "a\nb", "d e\nf g" }, *const spaced_wanted[] = { "a b", "d e f g" };
  static const char *const *const sets[] = { wanted }, *const *const spaced_sets[] = { spaced_wanted };
  const PlaitTextPairs several = { 2, texts, 1, sets, TRUE }, one = { 2, spaced, 1, spaced_sets };
  static const char *const metrics[] = { "bleu", "chrf", "rouge:type=Lsum", "rouge:type=L" };

  for (guint m = 0; m < G_N_ELEMENTS (metrics); m++)
    {
      CONTEXT ("%s", metrics[m]);
      g_autofree char *name = g_strconcat (metrics[m], strchr (metrics[m], ':') ? "," : ":", "unit=document", NULL);
      g_autoptr (PlaitMetric) of_sentences = plait_metric_new (metrics[m], NULL);
      g_autoptr (PlaitMetric) of_documents = plait_metric_new (name, NULL);
      REQUIRE (of_sentences && of_documents);
      g_autoptr (PlaitResult) plain = plait_evaluate (of_sentences, &one, 50, 1, NULL);
      g_autoptr (PlaitResult) same = plait_evaluate (of_sentences, &several, 50, 1, NULL);
      g_autoptr (PlaitResult) documents = plait_evaluate (of_documents, &several, 50, 1, NULL);
      REQUIRE (plain && same && documents);
      CHECK_INT (documents->sentences, 2);
      CHECK_NEAR (same->score, plain->score, 0);
      CHECK_NEAR (same->interval.low, plain->interval.low, 0);
      CHECK_NEAR (documents->score, m == 2 ? 100 : plain->score, 1e-12);
      CHECK_CONTAINS (documents->signature, "unit:document|");
    }
}

/* The length of a document is the sum over its source lines: 1 + 2 + 1, 3 + 1 + 2 and 1 words. */
TEST_CASE (documents, are_as_long_as_their_sources)
{
  static const gint64 words[] = { 9, 1, 2, 1, 0, 3, 1, 2, 0, 1, 0 };
  g_autoptr (PlaitMetric) metric = plait_metric_new ("bleu:unit=document", NULL);
  g_autoptr (PlaitStatistics) statistics = plait_metric_statistics (metric, &pairs, NULL);
  g_autoptr (PlaitLengthBins) bins = plait_length_bins_new ("3;5", NULL);
  g_autoptr (GPtrArray) results = plait_length_bins_score (bins, metric, statistics, words, 0, 1, NULL);

  REQUIRE (results != NULL);
  PlaitResult *const *scores = (PlaitResult *const *)results->pdata;
  for (guint bin = 0; bin < 3; bin++)
    CHECK_INT (scores[bin]->sentences, 1);
  CHECK_CONTAINS (scores[0]->detail, "hyp_len = 1 ref_len = 1)");
  CHECK_CONTAINS (scores[1]->detail, "hyp_len = 5 ");
  CHECK_CONTAINS (scores[2]->detail, "ref_len = 9)");
}

static void
check_refused (const char *hypothesis, const char *first, const char *second, const char *message)
{
  CONTEXT ("expecting \"%s\"", message);
  const char *texts[] = { "a", hypothesis, "b" }, *one[] = { "a", first, "b" }, *two[] = { "a", second, "b" };
  const char *const *sets[] = { one, two };
  PlaitTextPairs some = { 3, texts, 2, sets };
  g_autoptr (PlaitMetric) metric = plait_metric_new ("chrf:unit=document", NULL);
  g_autoptr (GError) error = NULL;

  CHECK (!plait_metric_statistics (metric, &some, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, message);
}

TEST_CASE (documents, refuse)
{
  const char *blank[] = { " ", "" };
  const char *const *sets[] = { blank };
  PlaitTextPairs nothing = { 2, blank, 1, sets };
  g_autoptr (PlaitMetric) metric = plait_metric_new ("bleu:unit=document", NULL);
  g_autoptr (GError) error = NULL;

  check_refused ("x", "", "",
                 "line 2 of the reference is blank, which ends a document, but the same line of the hypothesis is not");
  check_refused (
      "", "", "x",
      "line 2 of the reference is blank, which ends a document, but the same line of another reference is not");
  check_refused ("\303", "", "", "the hypothesis of sentence 2 is not valid UTF-8");
  check_refused ("x", NULL, NULL, "sentence 2 has no reference");
  CHECK (!plait_metric_statistics (metric, &nothing, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "there are no documents, because all lines of the reference are blank");
}

/* If a set of references lacks a line, it lacks the whole document. */
TEST_CASE (documents, of_a_set_that_lacks_a_line_are_not_there)
{
  const char *texts[] = { "a", "b", "", "c" }, *one[] = { "a", "b", "", "c" }, *two[] = { "a", NULL, NULL, "d" };
  const char *const *sets[] = { one, two };
  PlaitTextPairs some = { 4, texts, 2, sets };
  g_autoptr (PlaitDocumentPairs) documents = plait_document_pairs_new (&some, ' ', NULL);

  REQUIRE (documents != NULL);
  CHECK_INT (documents->pairs.sentences, 2);
  CHECK_STRING (documents->pairs.references[0][0], "a b");
  CHECK (!documents->pairs.references[1][0]);
  CHECK_STRING (documents->pairs.references[1][1], "d");
}

static void
check_aligned (const char *lines, const char *like, const char *wanted)
{
  CONTEXT ("\"%s\" like \"%s\"", lines, like);
  g_auto (GStrv) some = g_strsplit (lines, "|", -1);
  g_auto (GStrv) others = g_strsplit (like, "|", -1);
  g_auto (GStrv) aligned
      = plait_documents_align ((const char *const *)some, "some", (const char *const *)others, "others", NO_ERROR);
  REQUIRE (aligned != NULL);
  g_autofree char *text = g_strjoinv ("|", aligned);
  CHECK_STRING (text, wanted);
}

TEST_CASE (documents, are_aligned)
{
  static const char *const some[] = { "a", "", "b", NULL }, *const others[] = { "a", "b", NULL };
  g_autoptr (GError) error = NULL;

  check_aligned ("a|b||c", "x|y||z", "a|b||c");
  check_aligned ("a|||c", "x|y||z", "a|||c"); /* the second sentence is empty */
  check_aligned ("a||c|d", "x|y||z", "a|||c\nd");
  check_aligned ("|a|b|c|||d||", "x||y|z", "a\nb\nc||d|");
  CHECK (!plait_documents_align (some, "some", others, "others", &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "some: has 2 documents, but others has 1; blank lines end documents");
}
