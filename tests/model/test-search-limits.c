/* SPDX-License-Identifier: MIT */
#include "harness.h"
#include "layers/parameter-set.h"
#include "search-fixture.h"

#include <math.h>
#include <string.h>

/* Tests of settings of search for lengths, ends and repetitions. */

/* Hypotheses have at least the minimum and at most the maximum of tokens. The limit may leave hypotheses without an
 * end. */
TEST_CASE (search, keeps_to_the_lengths_that_are_asked_for)
{
  g_auto (SearchFixture) fixture = search_fixture_new ("flat", 0, NULL, FALSE);
  g_autoptr (PlaitBatch) batch = search_fixture_batch (&fixture);
  PlaitDecodeSettings settings = search_fixture_settings (3);
  g_autoptr (PlaitSearch) search
      = plait_search_new (fixture.model->model, fixture.pool, PLAIT_PRECISION_FLOAT, 0, NULL);
  PlaitHypotheses *found;

  settings.minimum_length = settings.maximum_length = 5;
  found = plait_search_batch (search, batch, &settings, NULL);
  REQUIRE (found != NULL);
  for (gint64 s = 0; s < 3; s++)
    for (guint i = 0; i < found[s].n; i++)
      {
        CHECK_INT (found[s].hypotheses[i].length, 5);
        CHECK (!found[s].hypotheses[i].ended);
      }
  plait_hypotheses_free (found, 3);
}

/* Returns how many of the hypotheses that @search finds for @batch have fewer than @length tokens. Checks that all keep
 * to the minimum and the maximum. */
static guint
count_shorter (PlaitSearch *search, const PlaitBatch *batch, const PlaitDecodeSettings *settings, gint64 length)
{
  PlaitHypotheses *found = plait_search_batch (search, batch, settings, NO_ERROR);
  guint shorter = 0;

  CHECK (found != NULL);
  if (!found)
    return 0;
  for (gint64 s = 0; s < 3; s++)
    {
      CHECK_INT (found[s].n, settings->n_best);
      for (guint i = 0; i < found[s].n; i++)
        {
          CHECK (found[s].hypotheses[i].length >= settings->minimum_length);
          CHECK (search_fixture_steps (&found[s].hypotheses[i]) <= settings->maximum_length);
          shorter += found[s].hypotheses[i].length < length;
        }
    }
  plait_hypotheses_free (found, 3);
  return shorter;
}

/* No sample is shorter than the minimum length. Without the minimum, some samples are. */
TEST_CASE (search, samples_have_the_minimum_length)
{
  g_auto (SearchFixture) fixture = search_fixture_new ("flat", 0, NULL, FALSE);
  g_autoptr (PlaitBatch) batch = search_fixture_batch (&fixture);
  PlaitDecodeSettings settings = search_fixture_settings (1);
  g_autoptr (PlaitSearch) search
      = plait_search_new (fixture.model->model, fixture.pool, PLAIT_PRECISION_FLOAT, 0, NULL);

  settings.method = PLAIT_DECODE_METHOD_SAMPLE;
  settings.n_best = 100;
  settings.temperature = 20; /* almost all words, and EOS, are equally probable */
  for (gint64 minimum = 1; minimum <= settings.maximum_length; minimum++)
    {
      CONTEXT ("minimum %d", (int)minimum);

      settings.minimum_length = minimum - 1;
      CHECK (count_shorter (search, batch, &settings, minimum) > 0);
      settings.minimum_length = minimum;
      CHECK_INT (count_shorter (search, batch, &settings, minimum), 0);
    }
}

/* The minimum and the maximum length count the tokens of a prefix. If decode.maximum_ratio allows fewer tokens than the
 * prefix and EOS have, the limit is that number. */
TEST_CASE (search, limits_count_the_prefix)
{
  static const gint32 prefix[] = { 6, 5, 7 };
  const PlaitRequirement requirements[] = { { prefix, 3, NULL }, { prefix, 3, NULL }, { prefix, 3, NULL } };
  static const struct
  {
    gint64 minimum, maximum;
    double ratio;
    gint64 shortest, longest; /* tokens, without and with EOS */
  } cases[] = { { 0, 6, 0, 3, 6 }, { 3, 6, 0, 3, 6 }, { 4, 6, 0, 4, 6 },
                { 5, 5, 0, 5, 5 }, { 1, 4, 0, 3, 4 }, { 1, 9, .1, 3, 4 } };
  g_auto (SearchFixture) fixture = search_fixture_new ("serial", 0, NULL, FALSE);
  g_autoptr (PlaitBatch) batch = search_fixture_batch (&fixture);
  g_autoptr (PlaitSearch) search
      = plait_search_new (fixture.model->model, fixture.pool, PLAIT_PRECISION_FLOAT, 0, NULL);

  for (guint i = 0; i < 2 * G_N_ELEMENTS (cases); i++)
    {
      PlaitDecodeSettings settings = search_fixture_settings (300);
      PlaitHypotheses *found;
      CONTEXT ("case %u, method %u", i / 2, i % 2);

      settings.method = i % 2 ? PLAIT_DECODE_METHOD_SAMPLE : PLAIT_DECODE_METHOD_BEAM;
      settings.temperature = 20;
      settings.minimum_length = cases[i / 2].minimum;
      settings.maximum_length = cases[i / 2].maximum;
      settings.maximum_ratio = cases[i / 2].ratio;
      settings.maximum_offset = 0;
      found = plait_search_batch_with_attention (search, batch, &settings, requirements, NULL, 0, FALSE, NO_ERROR);
      REQUIRE (found != NULL);
      for (gint64 s = 0; s < 3; s++)
        {
          gint64 shortest = G_MAXINT64, longest = 0;

          for (guint k = 0; k < found[s].n; k++)
            {
              const PlaitHypothesis *hypothesis = &found[s].hypotheses[k];

              REQUIRE (hypothesis->length >= 3);
              CHECK (memcmp (hypothesis->tokens, prefix, sizeof prefix) == 0);
              shortest = MIN (shortest, hypothesis->length);
              longest = MAX (longest, search_fixture_steps (hypothesis));
            }
          CHECK_INT (shortest, cases[i / 2].shortest);
          CHECK_INT (longest, cases[i / 2].longest);
        }
      plait_hypotheses_free (found, 3);
    }
}

/* Checks that all hypotheses have EOS, with its own probability, if EOS is the last token that the limit allows. The
 * limit of a sentence is @ratio times the rows of its longest source, plus @offset. Returns the number of sentences
 * that reached their limit. */
static guint
check_ends (SearchFixture *fixture, gint finished, double ratio, gint64 offset)
{
  g_autoptr (PlaitBatch) batch = search_fixture_batch (fixture);
  PlaitDecodeSettings settings = search_fixture_settings (4);
  g_autoptr (PlaitSearch) search
      = plait_search_new (fixture->model->model, fixture->pool, PLAIT_PRECISION_FLOAT, 0, NULL);
  PlaitHypotheses *found;
  guint at_limit = 0;

  settings.finished = finished;
  settings.maximum_ratio = ratio;
  settings.maximum_offset = offset;
  settings.at_limit = PLAIT_DECODE_AT_LIMIT_END;
  found = plait_search_batch (search, batch, &settings, NULL);
  CHECK (found != NULL);
  if (!found)
    return 0;
  for (gint64 s = 0; s < 3; s++)
    {
      gint64 longest
          = MAX (plait_ragged_length (batch->inputs[0].rows, s), plait_ragged_length (batch->inputs[1].rows, s));
      gint64 limit = MIN (settings.maximum_length, MAX ((gint64)(ratio * (double)longest) + offset, 2)), reached = 0;

      for (guint i = 0; i < found[s].n; i++)
        {
          CHECK (found[s].hypotheses[i].ended);
          CHECK (search_fixture_steps (&found[s].hypotheses[i]) <= limit);
          reached = MAX (reached, search_fixture_steps (&found[s].hypotheses[i]));
        }
      at_limit += reached == limit;
    }
  search_fixture_check (fixture, search, found, 0);
  plait_hypotheses_free (found, 3);
  return at_limit;
}

TEST_CASE (search, ends_at_the_limit_where_asked)
{
  guint near = 0, far = 0;

  for (guint d = 0; d < PLAIT_FIXTURE_DECODERS; d++)
    {
      g_auto (SearchFixture) fixture = search_fixture_new ("flat", d, NULL, FALSE);

      for (gint finished = PLAIT_DECODE_FINISHED_COMPETE; finished <= PLAIT_DECODE_FINISHED_REFILL; finished++)
        {
          CONTEXT ("decoder %u, finished %d", d, finished);

          near += check_ends (&fixture, finished, 0.5, 1);
          far += check_ends (&fixture, finished, 0.5, 3);
        }
    }
  /* A hypothesis may end before the limit, but with random weights few do. */
  CHECK (near > 8 * PLAIT_FIXTURE_DECODERS);
  CHECK (far > 8 * PLAIT_FIXTURE_DECODERS);
}

/* The minimum length applies even if the limit that follows from a short source is lower. */
TEST_CASE (search, the_fewest_tokens_go_before_the_ratio)
{
  g_auto (SearchFixture) fixture = search_fixture_new ("serial", 0, NULL, FALSE);
  g_autoptr (PlaitBatch) batch = search_fixture_batch (&fixture);
  PlaitDecodeSettings settings = search_fixture_settings (3);
  g_autoptr (PlaitSearch) search
      = plait_search_new (fixture.model->model, fixture.pool, PLAIT_PRECISION_FLOAT, 0, NULL);
  PlaitHypotheses *found;

  settings.minimum_length = 20;
  settings.maximum_length = 40;
  settings.maximum_ratio = 1;
  found = plait_search_batch (search, batch, &settings, NULL);
  REQUIRE (found != NULL);
  for (gint64 s = 0; s < 3; s++)
    for (guint i = 0; i < found[s].n; i++)
      {
        CHECK (found[s].hypotheses[i].length >= 20);
        CHECK (search_fixture_steps (&found[s].hypotheses[i]) == 21);
      }
  plait_hypotheses_free (found, 3);
}

/* Returns how many n-grams of @hypothesis occurred in it before. */
static guint
count_repeats (const PlaitHypothesis *hypothesis, gint64 n)
{
  guint repeats = 0;

  for (gint64 i = 0; i + n <= hypothesis->length; i++)
    for (gint64 k = 0; k < i; k++)
      repeats += memcmp (hypothesis->tokens + i, hypothesis->tokens + k, (gsize)n * sizeof *hypothesis->tokens) == 0;
  return repeats;
}

/* An untrained model repeats itself. With no_repeat_ngrams no n-gram occurs twice, and scores still equal those of
 * forced decoding. */
TEST_CASE (search, repeats_no_ngram_that_it_may_not)
{
  g_auto (SearchFixture) fixture = search_fixture_new ("serial", 0, NULL, FALSE);
  g_autoptr (PlaitBatch) batch = search_fixture_batch (&fixture);
  g_autoptr (PlaitSearch) search
      = plait_search_new (fixture.model->model, fixture.pool, PLAIT_PRECISION_FLOAT, 0, NULL);

  for (gint64 n = 1; n <= 3; n++)
    for (gint64 beam = 1; beam <= 4; beam += 3)
      {
        CONTEXT ("%d-grams, beam %d", (int)n, (int)beam);
        PlaitDecodeSettings settings = search_fixture_settings (beam);
        PlaitHypotheses *found[2];
        guint repeats[2] = { 0 };

        settings.minimum_length = 4;
        settings.maximum_length = 12;
        for (guint ruled = 0; ruled < 2; ruled++)
          {
            settings.no_repeat_ngrams = ruled ? n : 0;
            found[ruled] = plait_search_batch (search, batch, &settings, NULL);
            REQUIRE (found[ruled] != NULL);
            for (gint64 s = 0; s < 3; s++)
              for (guint i = 0; i < found[ruled][s].n; i++)
                repeats[ruled] += count_repeats (&found[ruled][s].hypotheses[i], n);
          }
        CHECK (repeats[0] > 0);
        CHECK_INT (repeats[1], 0);
        for (guint place = 0; place < (guint)beam; place++)
          search_fixture_check (&fixture, search, found[1], place);
        plait_hypotheses_free (found[0], 3);
        plait_hypotheses_free (found[1], 3);
      }
}

/* If a number in a model is not finite, search fails with a message, with beams and with samples. So does scoring. */
TEST_CASE (search, refuses_a_model_without_numbers)
{
  g_auto (SearchFixture) fixture = search_fixture_new ("serial", 0, NULL, FALSE);
  g_autoptr (PlaitBatch) batch = search_fixture_batch (&fixture);
  PlaitParameter *norm = plait_parameters_find (plait_model_parameters (fixture.model->model), "decoder/norm/gain");
  g_autoptr (PlaitSearch) search
      = plait_search_new (fixture.model->model, fixture.pool, PLAIT_PRECISION_FLOAT, 0, NULL);

  REQUIRE (norm != NULL);
  norm->value.data[0] = (PlaitScalar)NAN;
  for (guint samples = 0; samples < 2; samples++)
    {
      PlaitDecodeSettings settings = search_fixture_settings (3);
      g_autoptr (GError) error = NULL;
      CONTEXT ("%u", samples);

      settings.method = samples ? PLAIT_DECODE_METHOD_SAMPLE : PLAIT_DECODE_METHOD_BEAM;
      CHECK (!plait_search_batch (search, batch, &settings, &error));
      CHECK_ERROR (error, PLAIT_ERROR_INPUT, "the model gives no word a probability");
    }
  g_autofree double *rows = g_new (double, plait_ragged_rows (batch->target_rows));
  g_autoptr (GError) error = NULL;
  CHECK (!plait_search_forced (search, batch, rows, NULL, FALSE, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "the model gives no target a probability");
}

/* If no word may follow a sample, because all n-grams would repeat, the sample ends there. */
TEST_CASE (search, ends_a_sample_that_no_word_may_follow)
{
  g_auto (SearchFixture) fixture = search_fixture_new ("serial", 0, NULL, FALSE);
  g_autoptr (PlaitBatch) batch = search_fixture_batch (&fixture);
  g_autoptr (PlaitSearch) search
      = plait_search_new (fixture.model->model, fixture.pool, PLAIT_PRECISION_FLOAT, 0, NULL);

  for (guint samples = 0; samples < 2; samples++)
    {
      PlaitDecodeSettings settings = search_fixture_settings (2);
      CONTEXT ("%u", samples);

      settings.method = samples ? PLAIT_DECODE_METHOD_SAMPLE : PLAIT_DECODE_METHOD_BEAM;
      settings.no_repeat_ngrams = 1;
      settings.minimum_length = 40;
      settings.maximum_length = 50;
      PlaitHypotheses *found = plait_search_batch (search, batch, &settings, NO_ERROR);
      REQUIRE (found != NULL);
      for (gint64 s = 0; s < 3; s++)
        {
          CHECK_INT (found[s].n, settings.n_best);
          CHECK_INT (found[s].hypotheses[0].length, PLAIT_FIXTURE_WORDS - 3); /* all but PAD, BOS and EOS */
          CHECK (!found[s].hypotheses[0].ended);
        }
      plait_hypotheses_free (found, 3);
    }
}
