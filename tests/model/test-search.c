/* SPDX-License-Identifier: MIT */
#include "harness.h"
#include "search-fixture.h"

#include <math.h>
#include <string.h>

/* Tests of search against forced decoding, which has no caches, hypotheses or ancestors. */

static void
check_beam (SearchFixture *fixture)
{
  g_autoptr (PlaitBatch) batch = search_fixture_batch (fixture);
  PlaitDecodeSettings settings = search_fixture_settings (4);
  g_autoptr (PlaitSearch) search
      = plait_search_new (fixture->model->model, fixture->pool, PLAIT_PRECISION_FLOAT, 0, NULL);
  PlaitHypotheses *found = plait_search_batch (search, batch, &settings, NO_ERROR);

  REQUIRE (found != NULL);
  for (guint place = 0; place < 4; place++)
    search_fixture_check (fixture, search, found, place);
  plait_hypotheses_free (found, 3);
}

/* Checks the score of every hypothesis of a beam against forced decoding. This tests caches and ancestors. */
TEST_CASE (search, scores_as_forced_decoding_does)
{
  for (guint c = 0; c < SEARCH_FIXTURE_COMBINERS; c++)
    for (guint d = 0; d < PLAIT_FIXTURE_DECODERS; d++)
      {
        g_auto (SearchFixture) fixture = search_fixture_new (search_fixture_combiners[c], d, NULL, FALSE);
        CONTEXT ("%s, decoder %u", search_fixture_combiners[c], d);

        check_beam (&fixture);
      }
}

/* Scores agree with every start token of the decoder. Each start token gives other losses. */
TEST_CASE (search, begins_with_the_start_that_is_set)
{
  for (guint d = 0; d < PLAIT_FIXTURE_DECODERS; d++)
    for (gint start = PLAIT_DECODER_START_BOS; start <= PLAIT_DECODER_START_PAD; start++)
      {
        PlaitFixtureDecoder decoder = plait_fixture_decoder (d);
        static double losses[PLAIT_DECODER_START_PAD + 1][64];
        CONTEXT ("decoder %u, start %d", d, start);

        decoder.settings.start = start;
        decoder.more = "embedding_norm=true";
        g_auto (SearchFixture) fixture = search_fixture_with (NULL, "serial", decoder, NULL, FALSE);
        g_autoptr (PlaitBatch) batch = search_fixture_batch (&fixture);
        g_autoptr (PlaitSearch) search
            = plait_search_new (fixture.model->model, fixture.pool, PLAIT_PRECISION_FLOAT, 0, NULL);

        check_beam (&fixture);
        CHECK (plait_search_forced (search, batch, losses[start], NULL, FALSE, NO_ERROR));
        for (gint64 s = 0; s < 3; s++)
          for (gint other = 0; other < start; other++)
            CHECK (losses[start][batch->target_rows.offsets[s]] != losses[other][batch->target_rows.offsets[s]]);
      }
}

/* Searches with two memories of documents and one of a second source, with every combiner that reads memories. */
TEST_CASE (search, scores_documents_as_forced_decoding_does)
{
  for (guint c = 0; c < SEARCH_FIXTURE_COVERED; c++)
    for (guint d = 0; d < PLAIT_FIXTURE_DECODERS; d++)
      {
        g_auto (SearchFixture) fixture = search_fixture_over ("hat", search_fixture_combiners[c], d, NULL, FALSE);
        CONTEXT ("%s, decoder %u", search_fixture_combiners[c], d);

        check_beam (&fixture);
      }
}

/* Scores also agree if finished hypotheses are set aside and the beam stays full. */
TEST_CASE (search, sets_finished_hypotheses_aside)
{
  static const guint decoders[] = { 0, 3 };

  for (guint d = 0; d < G_N_ELEMENTS (decoders); d++)
    for (gint finished = PLAIT_DECODE_FINISHED_SHRINK; finished <= PLAIT_DECODE_FINISHED_REFILL; finished++)
      {
        CONTEXT ("decoder %u, finished %d", decoders[d], finished);
        g_auto (SearchFixture) fixture = search_fixture_new ("serial", decoders[d], NULL, FALSE);
        g_autoptr (PlaitBatch) batch = search_fixture_batch (&fixture);
        PlaitDecodeSettings settings = search_fixture_settings (4);
        g_autoptr (PlaitSearch) search
            = plait_search_new (fixture.model->model, fixture.pool, PLAIT_PRECISION_FLOAT, 0, NULL);
        PlaitHypotheses *found;

        settings.ranking = PLAIT_DECODE_RANKING_FINAL;
        settings.finished = finished;
        found = plait_search_batch (search, batch, &settings, NULL);
        REQUIRE (found != NULL);
        for (gint64 s = 0; s < 3; s++)
          CHECK_INT (found[s].n, 4);
        for (guint place = 0; place < 4; place++)
          search_fixture_check (&fixture, search, found, place);
        plait_hypotheses_free (found, 3);
      }
}

/* Each word of a hypothesis is one step. A step weighs all rows of both sources, in both layers with both heads, unless
 * a combiner selects rows. */
TEST_CASE (search, counts_what_it_touches)
{
  static const struct
  {
    const char *combiner;
    guint decoder;
    gint64 attentions; /* number of layers times number of heads */
  } cases[]
      = { { "serial", 0, 4 }, { "flat", 1, 4 }, { "hierarchical", 2, 1 }, { "descent", 0, 4 }, { "descent", 2, 1 } };

  for (guint c = 0; c < G_N_ELEMENTS (cases); c++)
    {
      g_auto (SearchFixture) fixture = search_fixture_new (cases[c].combiner, cases[c].decoder, NULL, FALSE);
      g_autoptr (PlaitBatch) batch = search_fixture_batch (&fixture);
      PlaitDecodeSettings settings = search_fixture_settings (1);
      g_autoptr (PlaitSearch) search
          = plait_search_new (fixture.model->model, fixture.pool, PLAIT_PRECISION_FLOAT, 0, NULL);
      PlaitHypotheses *found = plait_search_batch (search, batch, &settings, NULL);
      PlaitSearchWork work = plait_search_work (search), nothing = plait_search_work_since (search, &work);
      gint64 words = 0, of_first = 0, of_second = 0;
      CONTEXT ("%s, decoder %u", cases[c].combiner, cases[c].decoder);

      REQUIRE (found != NULL);
      for (gint64 s = 0; s < 3; s++)
        {
          gint64 steps = search_fixture_steps (&found[s].hypotheses[0]);

          words += steps;
          of_first += steps * search_fixture_lengths[0][s] * cases[c].attentions;
          of_second += steps * search_fixture_lengths[1][s] * cases[c].attentions;
        }
      CHECK_INT (work.words, words);
      CHECK_INT (work.steps, words);
      CHECK (work.seconds > 0);
      if (g_str_equal (cases[c].combiner, "descent"))
        {
          CHECK (work.rows_weighed.selected >= words);
          CHECK_INT (work.rows_weighed.all, work.rows_weighed.selected + of_second);
        }
      else
        {
          CHECK_INT (work.rows_weighed.selected, 0);
          CHECK_INT (work.rows_weighed.all, of_first + of_second);
        }
      CHECK_NEAR (plait_search_work_rows_weighed (&work), (double)work.rows_weighed.all / (double)words, 1e-12);
      CHECK (nothing.words == 0 && nothing.steps == 0 && nothing.rows_weighed.all == 0
             && nothing.rows_weighed.selected == 0);
      plait_hypotheses_free (found, 3);
    }
}

/* A beam of one finds one hypothesis of ordinary words. A wide beam finds one that is at least as probable. */
TEST_CASE (search, is_greedy_with_a_beam_of_one)
{
  g_auto (SearchFixture) fixture = search_fixture_new ("serial", 0, NULL, FALSE);
  g_autoptr (PlaitBatch) batch = search_fixture_batch (&fixture);
  PlaitDecodeSettings settings = search_fixture_settings (1);
  g_autoptr (PlaitSearch) search
      = plait_search_new (fixture.model->model, fixture.pool, PLAIT_PRECISION_FLOAT, 0, NULL);
  PlaitHypotheses *found = plait_search_batch (search, batch, &settings, NULL);
  PlaitHypotheses *wide;

  REQUIRE (found != NULL);
  for (gint64 s = 0; s < 3; s++)
    {
      CHECK_INT (found[s].n, 1);
      for (gint64 t = 0; t < found[s].hypotheses[0].length; t++)
        CHECK (found[s].hypotheses[0].tokens[t] >= PLAIT_TOKEN_UNKNOWN);
    }
  settings = search_fixture_settings (8);
  settings.length_normalisation = PLAIT_DECODE_LENGTH_NORMALISATION_NONE;
  wide = plait_search_batch (search, batch, &settings, NULL);
  for (gint64 s = 0; s < 3; s++)
    CHECK (wide[s].hypotheses[0].log_probability >= found[s].hypotheses[0].log_probability - 1e-5);
  plait_hypotheses_free (found, 3);
  plait_hypotheses_free (wide, 3);
}

/* A sentence has the same translation alone and in a batch. */
TEST_CASE (search, does_not_depend_on_the_batch)
{
  for (guint i = 0; i < SEARCH_FIXTURE_COMBINERS * PLAIT_FIXTURE_DECODERS; i++)
    {
      guint c = i / PLAIT_FIXTURE_DECODERS, d = i % PLAIT_FIXTURE_DECODERS;
      g_auto (SearchFixture) fixture = search_fixture_new (search_fixture_combiners[c], d, NULL, FALSE);
      g_autoptr (PlaitBatch) batch = search_fixture_batch (&fixture);
      PlaitDecodeSettings settings = search_fixture_settings (3);
      g_autoptr (PlaitSearch) search
          = plait_search_new (fixture.model->model, fixture.pool, PLAIT_PRECISION_FLOAT, 0, NULL);
      PlaitHypotheses *together = plait_search_batch (search, batch, &settings, NULL);
      CONTEXT ("%s, decoder %u", search_fixture_combiners[c], d);

      for (gint64 s = 0; s < 3; s++)
        {
          const gint64 *const one[] = { search_fixture_lengths[0] + s, search_fixture_lengths[1] + s };
          g_autoptr (PlaitBatch) alone = plait_fixture_batch (fixture.model, s, 1, one, search_fixture_targets + s);
          PlaitHypotheses *found = plait_search_batch (search, alone, &settings, NULL);
          const PlaitHypothesis *a = &found[0].hypotheses[0];
          const PlaitHypothesis *b = &together[s].hypotheses[0];

          CHECK_INT (a->length, b->length);
          CHECK (memcmp (a->tokens, b->tokens, MIN (a->length, b->length) * sizeof *a->tokens) == 0);
          CHECK_NEAR (a->log_probability, b->log_probability, 1e-4);
          plait_hypotheses_free (found, 1);
        }
      plait_hypotheses_free (together, 3);
    }
}

/* If the memory limit is too low, the error names a key to lower. */
TEST_CASE (search, says_what_to_lower_when_memory_is_out)
{
  g_auto (SearchFixture) fixture = search_fixture_new ("serial", 0, NULL, FALSE);
  g_autoptr (PlaitBatch) batch = search_fixture_batch (&fixture);
  PlaitDecodeSettings settings = search_fixture_settings (3);
  g_autoptr (PlaitSearch) search
      = plait_search_new (fixture.model->model, fixture.pool, PLAIT_PRECISION_FLOAT, 4096, NULL);
  GError *error = NULL;

  CHECK (!plait_search_batch (search, batch, &settings, &error));
  CHECK_ERROR (error, PLAIT_ERROR_MEMORY, "lower decode.batch");
}
