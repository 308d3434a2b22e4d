/* SPDX-License-Identifier: MIT */
#include "harness.h"
#include "search-fixture.h"

#include <string.h>

#include "search/search-private.h"
#include "kernels/kernels.h"
#include "tensor/packed.h"

/* Tests of batches that are searched in parts: each thread searches some of the sentences. */

#define SENTENCES 17
#define BEAM 4

/* Returns SENTENCES sentences, numbered from @number on. */
static PlaitBatch *
many_sentences (const SearchFixture *fixture, gint64 number)
{
  gint64 first[SENTENCES], second[SENTENCES], targets[SENTENCES];
  const gint64 *const lengths[] = { first, second };

  for (gint64 s = 0; s < SENTENCES; s++)
    {
      first[s] = s == 5 ? 0 : 1 + s * 3 % 7;
      second[s] = s % 4 == 1 ? 0 : 1 + s % 5;
      targets[s] = 1 + s % 3;
    }
  return plait_fixture_batch (fixture->model, number, SENTENCES, lengths, targets);
}

/* Results of a search with one pool of threads. */
typedef struct
{
  PlaitHypotheses *hypotheses;
  PlaitAttentionRecords *attention;
  PlaitSearchWork work;
} Found;

static void
found_clear (Found *found)
{
  plait_hypotheses_free (found->hypotheses, SENTENCES);
  plait_attention_records_free (found->attention);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Found, found_clear)

/* Searches a batch. If @used is TRUE, the search searches two other batches before, one in parts and a small one. */
static Found
search_with (const SearchFixture *fixture, PlaitPool *pool, PlaitPrecision precision,
             const PlaitDecodeSettings *settings, const PlaitRequirement *requirements, gboolean used)
{
  g_autoptr (PlaitBatch) batch = many_sentences (fixture, 0), other = many_sentences (fixture, SENTENCES);
  g_autoptr (PlaitBatch) small = search_fixture_batch (fixture);
  g_autoptr (PlaitSearch) search = plait_search_new (fixture->model->model, pool, precision, 0, NULL);
  PlaitSearchWork before;
  Found found = { 0 };

  if (used)
    {
      plait_hypotheses_free (plait_search_batch (search, other, settings, NO_ERROR), SENTENCES);
      plait_hypotheses_free (plait_search_batch (search, small, settings, NO_ERROR), 3);
    }
  before = plait_search_work (search);
  found.hypotheses
      = plait_search_batch_with_attention (search, batch, settings, requirements, &found.attention, 2, TRUE, NULL);
  found.work = plait_search_work_since (search, &before);
  return found;
}

static void
check_same (const Found *a, const Found *b)
{
  CHECK_INT (a->work.words, b->work.words);
  CHECK_INT (a->work.steps, b->work.steps);
  CHECK (a->work.rows_weighed.all > 0);
  CHECK_INT (a->work.rows_weighed.all, b->work.rows_weighed.all);
  CHECK_INT (a->work.rows_weighed.selected, b->work.rows_weighed.selected);
  for (gint64 s = 0; s < SENTENCES; s++)
    {
      CONTEXT ("sentence %d", (int)s);

      CHECK_INT (a->hypotheses[s].n, b->hypotheses[s].n);
      for (guint i = 0; i < MIN (a->hypotheses[s].n, b->hypotheses[s].n); i++)
        {
          const PlaitHypothesis *x = &a->hypotheses[s].hypotheses[i], *y = &b->hypotheses[s].hypotheses[i];

          CHECK (x->log_probability == y->log_probability && x->score == y->score && x->ended == y->ended);
          CHECK_INT (x->length, y->length);
          CHECK (memcmp (x->tokens, y->tokens, (gsize)MIN (x->length, y->length) * sizeof *x->tokens) == 0);
        }
    }
  for (gint64 i = 0; i < 2 * SENTENCES; i++)
    {
      const PlaitAttentionRecord *x = a->attention->of[i], *y = b->attention->of[i];

      CHECK_INT (plait_ragged_rows (x->queries), plait_ragged_rows (y->queries));
      for (const PlaitRecordedAttention *of = x->attentions; of; of = of->next)
        for (guint l = 0; plait_ragged_rows (x->queries) == plait_ragged_rows (y->queries) && l < x->n_layers; l++)
          {
            const PlaitRecordedLayer *paid = &of->layers[l],
                                     *other = plait_attention_record_find (y, l, of->name, of->memory);
            gint64 n = paid->heads * plait_attention_record_pairs (x, of->memory);

            REQUIRE (other != NULL);
            CHECK_INT (paid->heads, other->heads);
            CHECK (!paid->weights == !other->weights);
            if (paid->weights && other->weights)
              CHECK (memcmp (paid->weights, other->weights, (gsize)n * sizeof (PlaitScalar)) == 0);
          }
    }
}

/* Checks that a used search on two threads gives the results of a new search on one thread. */
static void
check_parts (const char *combiner, guint decoder, const char *coverage, PlaitPrecision precision,
             const PlaitDecodeSettings *settings, const PlaitRequirement *requirements)
{
  g_auto (SearchFixture) fixture = search_fixture_new (combiner, decoder, coverage, FALSE);
  g_autoptr (PlaitPool) one = plait_pool_new (1, NULL);
  g_auto (Found) whole = search_with (&fixture, one, precision, settings, requirements, FALSE);
  g_auto (Found) parts = search_with (&fixture, fixture.pool, precision, settings, requirements, TRUE);
  CONTEXT ("%s, decoder %u", combiner, decoder);

  REQUIRE (whole.hypotheses && parts.hypotheses);
  check_same (&whole, &parts);
}

/* A search of any number of threads that has searched other batches gives the bits of a new search on one thread. */
TEST_CASE (search, gives_the_bits_of_a_new_search_if_used_again)
{
  static const struct
  {
    const char *combiner;
    guint decoder;
    gint method;
  } cases[] = { { "serial", 0, PLAIT_DECODE_METHOD_BEAM },
                { "flat", 2, PLAIT_DECODE_METHOD_BEAM },
                { "descent", 1, PLAIT_DECODE_METHOD_SAMPLE } };

  for (guint c = 0; c < G_N_ELEMENTS (cases); c++)
    {
      g_auto (SearchFixture) fixture = search_fixture_new (cases[c].combiner, cases[c].decoder, NULL, FALSE);
      g_autoptr (PlaitPool) one = plait_pool_new (1, NULL);
      PlaitDecodeSettings settings = search_fixture_settings (BEAM);

      settings.method = cases[c].method;
      g_auto (Found) fresh = search_with (&fixture, one, PLAIT_PRECISION_FLOAT, &settings, NULL, FALSE);
      for (guint threads = 1; threads <= 3; threads++)
        {
          g_autoptr (PlaitPool) pool = plait_pool_new (threads, NULL);
          g_auto (Found) used = search_with (&fixture, pool, PLAIT_PRECISION_FLOAT, &settings, NULL, TRUE);
          CONTEXT ("%s, %u threads", cases[c].combiner, threads);

          REQUIRE (fresh.hypotheses && used.hypotheses);
          check_same (&fresh, &used);
        }
    }
}

/* A batch searched in parts has the bits, attention, coverage and work counts of a batch searched as a whole. */
TEST_CASE (search, parts_of_a_batch_give_the_bits_of_the_whole)
{
  PlaitDecodeSettings settings = search_fixture_settings (BEAM);

  for (guint c = 0; c < SEARCH_FIXTURE_COMBINERS; c++)
    for (guint d = 0; d < PLAIT_FIXTURE_DECODERS; d++)
      check_parts (search_fixture_combiners[c], d, NULL, PLAIT_PRECISION_FLOAT, &settings, NULL);
  check_parts ("serial", 0, "word", PLAIT_PRECISION_FLOAT, &settings, NULL);
  check_parts ("flat", 2, "fertility", PLAIT_PRECISION_FLOAT, &settings, NULL);
  if (plait_precision_runs_here (PLAIT_PRECISION_INT8))
    check_parts ("serial", 0, NULL, PLAIT_PRECISION_INT8, &settings, NULL);
  settings.no_repeat_ngrams = 2;
  settings.at_limit = PLAIT_DECODE_AT_LIMIT_END;
  check_parts ("parallel", 0, NULL, PLAIT_PRECISION_FLOAT, &settings, NULL);
}

/* A batch with samples, groups, prefixes or phrases that is searched in parts also has the bits of the whole. */
TEST_CASE (search, parts_of_a_guided_batch_give_the_bits_of_the_whole)
{
  static const gint32 prefix[] = { 6, 5, 7 }, tokens[] = { 8, 5, 9 };
  static const gint64 offsets[] = { 0, 2, 3 };
  g_autoptr (PlaitPhrases) phrases = plait_phrases_new ((PlaitRagged){ 2, offsets }, tokens);
  PlaitRequirement requirements[SENTENCES];
  PlaitDecodeSettings settings = search_fixture_settings (BEAM);
  guint n_precisions = plait_precision_runs_here (PLAIT_PRECISION_INT8) ? 2 : 1;
  static const PlaitPrecision precisions[] = { PLAIT_PRECISION_FLOAT, PLAIT_PRECISION_INT8 };

  for (gint64 s = 0; s < SENTENCES; s++)
    requirements[s] = (PlaitRequirement){ prefix, s % 4, s % 3 == 0 ? phrases : NULL };
  for (guint i = 0; i < n_precisions; i++)
    for (guint d = 0; d < PLAIT_FIXTURE_DECODERS; d++)
      {
        settings = search_fixture_settings (BEAM);
        check_parts ("serial", d, NULL, precisions[i], &settings, requirements);
        settings.groups = 2;
        check_parts ("parallel", d, NULL, precisions[i], &settings, NULL);
        settings = search_fixture_settings (1);
        settings.n_best = BEAM;
        settings.method = PLAIT_DECODE_METHOD_SAMPLE;
        settings.nucleus = 0.9;
        check_parts ("serial", d, NULL, precisions[i], &settings, NULL);
      }
}

/* A batch has one part for each thread, or one part if the batch is small. With BLAS, every batch has one part, because
 * bits may depend on the number of rows. */
TEST_CASE (search, deals_batches_that_are_large_enough)
{
  g_autoptr (PlaitPool) one = plait_pool_new (1, NULL), two = plait_pool_new (2, NULL);
  gboolean deals = plait_kernels ()->blas_rows[0] == 0;

  CHECK_INT (plait_search_parts (one, 100, 10), 1);
  CHECK_INT (plait_search_parts (two, 16, 4), deals ? 2 : 1);
  CHECK_INT (plait_search_parts (two, 16, 3), 1);
  CHECK_INT (plait_search_parts (two, 15, 10), 1);
  CHECK (plait_kernels_choose ("v1"));
  CHECK_INT (plait_search_parts (two, 16, 4), 1);
  plait_kernels_choose (NULL);
}

/* If a part does not get enough memory, the batch fails with a message that names the keys to lower. The results of the
 * other parts are freed. */
TEST_CASE (search, says_what_to_lower_when_a_part_has_no_memory)
{
  g_auto (SearchFixture) fixture = search_fixture_new ("serial", 0, NULL, FALSE);
  g_autoptr (PlaitBatch) batch = many_sentences (&fixture, 0);
  PlaitDecodeSettings settings = search_fixture_settings (BEAM);
  g_autoptr (PlaitSearch) search
      = plait_search_new (fixture.model->model, fixture.pool, PLAIT_PRECISION_FLOAT, 8192, NULL);

  for (guint i = 0; i < 2; i++)
    {
      GError *error = NULL;

      CHECK (!plait_search_batch (search, batch, &settings, &error));
      CHECK_ERROR (error, PLAIT_ERROR_MEMORY, "searching 17 sentences with a beam of 4 does not fit");
    }
}
