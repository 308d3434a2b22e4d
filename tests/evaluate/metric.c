/* SPDX-License-Identifier: MIT */
#include "harness.h"

#include "text/error.h"
#include "metrics/metric.h"

#include <string.h>

TEST_CASE (metric, every_name_makes_a_metric)
{
  g_autofree const char **names = plait_metric_names ();
  for (const char *const *name = names; *name; name++)
    {
      CONTEXT ("metric %s", *name);
      g_autoptr (PlaitMetric) metric = plait_metric_new (*name, NO_ERROR);
      REQUIRE (metric != NULL);
      CHECK_STRING (plait_metric_text (metric), *name);
      CHECK (plait_metric_larger_is_better (metric)
             == (strcmp (*name, "repetition") != 0 && strcmp (*name, "ter") != 0 && strcmp (*name, "aer") != 0
                 && strcmp (*name, "mse") != 0));
    }
}

TEST_CASE (metric, refuses_what_it_does_not_know)
{
  static const struct
  {
    const char *text, *message;
  } cases[] = {
    { "blue", "unknown name \"blue\"; did you mean \"bleu\"?" },
    { "chrf+", "did you mean \"chrf" },
    { "accordance", "unknown name \"accordance\"; expected one of bleu, multi-bleu, chrf, chrf++, repetition, rouge, "
                    "meteor, ter, accuracy, macro-f1, span-f1" },
    { "", "unknown name \"\"" },
    { "BLEU", "did you mean \"bleu\"?" },
    { "bleu:", "there is no option after the colon" },
    { "bleu:smoth=exp", "unknown option \"smoth\"; did you mean \"smooth\"?" },
    { "bleu:tok=13b", "unknown value of option \"tok\": \"13b\"; did you mean \"13a\"?" },
    { "bleu:smooth=flor", "did you mean \"floor\"?" },
    { "bleu:tok", "option \"tok\" needs a value" },
    { "bleu:tok=", "option \"tok\" needs a value" },
    { "bleu:lowercase=yes", "option \"lowercase\" takes no value, found \"yes\"" },
    { "bleu:lowercase,lowercase", "option \"lowercase\" is given twice" },
    { "bleu:tok=none,", "unknown option \"\"" },
    { "bleu:value=0.5", "\"value\" belongs to smooth=floor and smooth=add-k, but smooth is exp" },
    { "bleu:smooth=floor,value=-1", "option \"value\" is \"-1\", but must be a number from 0 to 1000" },
    { "bleu:smooth=floor,value=nan", "must be a number" },
    { "bleu:smooth=floor,value=1e9", "must be a number" },
    { "bleu:smooth=floor,value=0.1x", "must be a number" },
    { "multi-bleu:tok=none", "unknown option \"tok\"; expected one of case, unit" },
    { "multi-bleu:case=upper", "unknown value of option \"case\": \"upper\"; expected one of lc, mixed" },
    { "chrf:beta=0", "from 1 to 100" },
    { "chrf:beta=2.5", "must be a whole number; write beta=2" },
    { "chrf:characters=0", "from 1 to 20" },
    { "chrf++:words=1.5", "\"words\" must be a whole number; write words=1" },
    { "repetition:n=2.5", "\"n\" must be a whole number; write n=2" },
    { "repetition:n=5", "from 1 to 4" },
    { "chrf:tok=none", "unknown option \"tok\"" },
    { "bleu:unit=page", "unknown value of option \"unit\": \"page\"; expected one of sentence, document" },
    { "rouge:type=3", "unknown value of option \"type\": \"3\"; expected one of 1, 2, L, Lsum" },
    { "rouge:type=lsum", "did you mean \"Lsum\"?" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      CONTEXT ("metric \"%s\"", cases[i].text);
      g_autoptr (GError) error = NULL;
      g_autoptr (PlaitMetric) metric = plait_metric_new (cases[i].text, &error);
      CHECK (!metric);
      CHECK_ERROR (error, PLAIT_ERROR_INPUT, cases[i].message);
    }
}

TEST_CASE (metric, lists)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) metrics = plait_metric_new_list (" bleu;chrf:beta=3 bleu:tok=none,lowercase; ", NO_ERROR);
  REQUIRE (metrics != NULL);
  CHECK_INT (metrics->len, 3);
  CHECK_STRING (plait_metric_title (g_ptr_array_index (metrics, 0)), "BLEU");
  CHECK_STRING (plait_metric_title (g_ptr_array_index (metrics, 1)), "chrF3");
  CHECK_STRING (plait_metric_text (g_ptr_array_index (metrics, 2)), "bleu:tok=none,lowercase");

  CHECK (!plait_metric_new_list ("bleu; chrf bleu", &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "\"bleu\" is given twice");
  CHECK (!plait_metric_new_list (" ; ", &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "is empty");
  CHECK (!plait_metric_new_list ("bleu;blue", &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "did you mean \"bleu\"?");
}

TEST_CASE (metric, lists_with_wrong_separators)
{
  static const struct
  {
    const char *text, *mended;
  } cases[] = {
    { "bleu,chrf", "bleu;chrf" },
    { "bleu|chrf++", "bleu;chrf++" },
    { "bleu+ter", "bleu;ter" },
    { "bleu:chrf", "bleu;chrf" },
    { "ter;bleu:tok=none,lowercase,chrf:words=2,beta=3", "bleu:tok=none,lowercase;chrf:words=2,beta=3" },
    { "bleu:tok=none;lowercase", "bleu:tok=none,lowercase" },
    { "bleu;unit=document", "bleu:unit=document" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *message = g_strdup_printf ("did you mean \"%s\"?", cases[i].mended);

      CONTEXT ("%s", cases[i].text);
      CHECK (!plait_metric_new_list (cases[i].text, &error));
      CHECK_ERROR (error, PLAIT_ERROR_INPUT, message);
    }
}

static void
check_refused (gsize sentences, const char *hypothesis, const char *reference, const char *message)
{
  CONTEXT ("expecting \"%s\"", message);
  g_autoptr (PlaitMetric) metric = plait_metric_new ("bleu", NULL);
  const char *hypotheses[] = { "fine", hypothesis }, *set[] = { "fine", reference };
  const char *const *references[] = { set };
  PlaitTextPairs pairs = { sentences, hypotheses, 1, references };
  g_autoptr (GError) error = NULL;
  g_autoptr (PlaitStatistics) statistics = plait_metric_statistics (metric, &pairs, &error);
  CHECK (!statistics);
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, message);
}

TEST_CASE (metric, refuses_text_that_cannot_be_scored)
{
  g_autofree char *long_text = g_strnfill (PLAIT_TEXT_LIMIT + 1, 'x');
  check_refused (0, "", "", "there are no sentences to score with BLEU");
  check_refused (2, "x", NULL, "sentence 2 has no reference");
  check_refused (2, "\377", "x", "the hypothesis of sentence 2 is not valid UTF-8");
  check_refused (2, "x", "\303", "the reference of sentence 2 is not valid UTF-8");
  check_refused (2, long_text, "x", "the hypothesis of sentence 2 has 1048577 bytes");
}

TEST_CASE (metric, takes_the_longest_text_allowed)
{
  g_autofree char *text = g_strnfill (PLAIT_TEXT_LIMIT, 'x');
  for (gsize i = 1; i < PLAIT_TEXT_LIMIT; i += 2)
    text[i] = ' ';
  const char *hypotheses[] = { text };
  const char *const *references[] = { hypotheses };
  PlaitTextPairs pairs = { 1, hypotheses, 1, references };
  static const struct
  {
    const char *name;
    gsize longest;
  } shorter[] = { { "ter", 64 * 1024 }, { "meteor", 8 * 1024 } }; /* the rest of the text is cut off */
  g_autofree const char **names = plait_metric_names ();
  g_autofree char *links = g_strnfill (PLAIT_TEXT_LIMIT, ' ');
  for (gsize i = 0; i + 4 < PLAIT_TEXT_LIMIT; i += 4)
    memcpy (links + i, "0-0", 3);
  for (const char *const *name = names; *name; name++)
    {
      static const char *const numbers[] = { "pearson", "spearman", "mse", NULL };
      g_autoptr (PlaitMetric) metric = plait_metric_new (*name, NULL);
      g_autofree char *part = NULL;

      if (g_strv_contains (numbers, *name))
        continue;
      hypotheses[0] = strcmp (*name, "aer") == 0 || g_str_has_prefix (*name, "alignment") ? links : text;
      for (guint i = 0; i < G_N_ELEMENTS (shorter); i++)
        if (strcmp (*name, shorter[i].name) == 0)
          hypotheses[0] = part = g_strndup (text, shorter[i].longest);
      CONTEXT ("metric %s", *name);
      g_autoptr (PlaitStatistics) statistics = plait_metric_statistics (metric, &pairs, NULL);
      REQUIRE (statistics != NULL);
      CHECK_NEAR (plait_metric_score (metric, statistics->values), plait_metric_larger_is_better (metric) ? 100 : 0,
                  1e-9);
    }
}

TEST_CASE (metric, rows_are_counts_of_the_sentence)
{
  const char *hypotheses[] = { "a b c d e", "" }, *set[] = { "a b c x", "y z" };
  const char *const *references[] = { set };
  PlaitTextPairs pairs = { 2, hypotheses, 1, references };
  static const double bleu_rows[] = { 5, 4, 3, 2, 1, 0, 5, 4, 3, 2, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0 };
  static const double chrf_rows[] = { 5, 4, 3, 4, 3, 2, 3, 2, 1, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 1, 0 };

  g_autoptr (PlaitMetric) bleu = plait_metric_new ("bleu", NULL);
  g_autoptr (PlaitStatistics) statistics = plait_metric_statistics (bleu, &pairs, NULL);
  REQUIRE (statistics != NULL);
  CHECK_INT (statistics->width, 10);
  for (guint i = 0; i < G_N_ELEMENTS (bleu_rows); i++)
    CHECK_INT (statistics->values[i], bleu_rows[i]);

  g_autoptr (PlaitMetric) chrf = plait_metric_new ("chrf", NULL);
  g_autoptr (PlaitStatistics) characters = plait_metric_statistics (chrf, &pairs, NULL);
  REQUIRE (characters != NULL);
  CHECK_INT (characters->width, 18);
  for (guint i = 0; i < G_N_ELEMENTS (chrf_rows); i++)
    CHECK_INT (characters->values[i], chrf_rows[i]);
}
