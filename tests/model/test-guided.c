/* SPDX-License-Identifier: MIT */
#include "harness.h"
#include "search-fixture.h"

#include <string.h>

/* Tests of search with sampling, groups, prefixes and phrases. Scores equal those of forced decoding, which has no
 * hypotheses, and translations do not depend on the batch. */

#define BEAM 4
#define N_CASES 5

static const gint32 prefix[] = { 6, 9, 5 }, tokens[] = { 8, 5, 9 };
static const gint64 offsets[] = { 0, 2, 3 };

/* A way to guide a search, with its settings. */
typedef struct
{
  PlaitDecodeSettings settings;
  PlaitRequirement requirements[3];
} Guided;

static Guided
guided (guint i, const PlaitPhrases *phrases)
{
  Guided guided = { search_fixture_settings (BEAM) };

  guided.settings.maximum_length = 9;
  for (gint64 s = 0; s < 3; s++)
    guided.requirements[s]
        = (PlaitRequirement){ prefix, i == 0 || i == 4 ? s + 1 : 0, i == 1 || i == 4 ? phrases : NULL };
  if (i == 2)
    guided.settings.groups = 2;
  if (i == 3)
    guided.settings.method = PLAIT_DECODE_METHOD_SAMPLE;
  return guided;
}

static PlaitHypotheses *
search_guided (PlaitSearch *search, const PlaitBatch *batch, const Guided *guided, gint64 first)
{
  return plait_search_batch_with_attention (search, batch, &guided->settings, guided->requirements + first, NULL, 0,
                                            FALSE, NO_ERROR);
}

static gboolean
contains (const PlaitHypothesis *hypothesis, const gint32 *phrase, gint64 n)
{
  for (gint64 i = 0; i + n <= hypothesis->length; i++)
    if (memcmp (hypothesis->tokens + i, phrase, (gsize)n * sizeof *phrase) == 0)
      return TRUE;
  return FALSE;
}

static void
check_requirement (const PlaitHypothesis *hypothesis, const PlaitRequirement *requirement)
{
  gint64 n = requirement->prefix_length;

  CHECK (hypothesis->length >= n && memcmp (hypothesis->tokens, prefix, (gsize)n * sizeof *prefix) == 0);
  if (requirement->phrases)
    CHECK (contains (hypothesis, tokens, 2) && contains (hypothesis, tokens + 2, 1));
}

TEST_CASE (guided, scores_as_forced_decoding_does)
{
  g_autoptr (PlaitPhrases) phrases = plait_phrases_new ((PlaitRagged){ 2, offsets }, tokens);

  for (guint d = 0; d < PLAIT_FIXTURE_DECODERS; d++)
    {
      g_auto (SearchFixture) fixture = search_fixture_new ("serial", d, NULL, FALSE);
      g_autoptr (PlaitBatch) batch = search_fixture_batch (&fixture);
      g_autoptr (PlaitSearch) search
          = plait_search_new (fixture.model->model, fixture.pool, PLAIT_PRECISION_FLOAT, 0, NULL);

      for (guint i = 0; i < N_CASES; i++)
        {
          Guided way = guided (i, phrases);
          PlaitHypotheses *found = search_guided (search, batch, &way, 0);
          CONTEXT ("decoder %u, case %u", d, i);

          REQUIRE (found != NULL);
          for (guint place = 0; place < BEAM; place++)
            {
              for (gint64 s = 0; s < 3; s++)
                {
                  CHECK_INT (found[s].n, BEAM);
                  check_requirement (&found[s].hypotheses[place], &way.requirements[s]);
                }
              search_fixture_check (&fixture, search, found, place);
            }
          plait_hypotheses_free (found, 3);
        }
    }
}

TEST_CASE (guided, does_not_depend_on_the_batch)
{
  g_autoptr (PlaitPhrases) phrases = plait_phrases_new ((PlaitRagged){ 2, offsets }, tokens);

  for (guint d = 0; d < PLAIT_FIXTURE_DECODERS; d++)
    {
      g_auto (SearchFixture) fixture = search_fixture_new ("parallel", d, NULL, FALSE);
      g_autoptr (PlaitBatch) batch = search_fixture_batch (&fixture);
      g_autoptr (PlaitSearch) search
          = plait_search_new (fixture.model->model, fixture.pool, PLAIT_PRECISION_FLOAT, 0, NULL);

      for (guint i = 0; i < N_CASES; i++)
        {
          Guided way = guided (i, phrases);
          PlaitHypotheses *together = search_guided (search, batch, &way, 0);
          CONTEXT ("decoder %u, case %u", d, i);

          for (gint64 s = 0; s < 3; s++)
            {
              const gint64 *const one[] = { search_fixture_lengths[0] + s, search_fixture_lengths[1] + s };
              g_autoptr (PlaitBatch) alone = plait_fixture_batch (fixture.model, s, 1, one, search_fixture_targets + s);
              PlaitHypotheses *found = search_guided (search, alone, &way, s);

              for (guint place = 0; place < BEAM; place++)
                {
                  const PlaitHypothesis *a = &found[0].hypotheses[place], *b = &together[s].hypotheses[place];

                  CHECK_INT (a->length, b->length);
                  CHECK (memcmp (a->tokens, b->tokens, (gsize)MIN (a->length, b->length) * sizeof *a->tokens) == 0);
                  if (way.settings.method == PLAIT_DECODE_METHOD_SAMPLE)
                    CHECK (a->log_probability == b->log_probability);
                  CHECK_NEAR (a->log_probability, b->log_probability, 1e-4);
                }
              plait_hypotheses_free (found, 1);
            }
          plait_hypotheses_free (together, 3);
        }
    }
}

/* A beam gets equal bits if it computes all words in a step and if it computes only the best words. */
TEST_CASE (guided, has_the_bits_of_search_without_requirements)
{
  g_auto (SearchFixture) fixture = search_fixture_new ("serial", 0, NULL, FALSE);
  g_autoptr (PlaitBatch) batch = search_fixture_batch (&fixture);
  g_autoptr (PlaitSearch) search
      = plait_search_new (fixture.model->model, fixture.pool, PLAIT_PRECISION_FLOAT, 0, NULL);
  PlaitDecodeSettings settings = search_fixture_settings (BEAM);
  PlaitHypotheses *usual = plait_search_batch (search, batch, &settings, NULL);
  /* The prefixes of the other sentences force the search to compute all words in each step, also for the first
   * sentence. */
  const PlaitRequirement requirements[] = { { NULL }, { prefix, 3 }, { prefix, 2 } };
  PlaitHypotheses *guided
      = plait_search_batch_with_attention (search, batch, &settings, requirements, NULL, 0, FALSE, NULL);

  REQUIRE (usual && guided);
  for (guint i = 0; i < BEAM; i++)
    {
      const PlaitHypothesis *a = &usual[0].hypotheses[i], *b = &guided[0].hypotheses[i];

      CHECK (a->log_probability == b->log_probability && a->score == b->score);
      CHECK_INT (a->length, b->length);
      CHECK (memcmp (a->tokens, b->tokens, (gsize)MIN (a->length, b->length) * sizeof *a->tokens) == 0);
    }
  plait_hypotheses_free (usual, 3);
  plait_hypotheses_free (guided, 3);
}
