/* SPDX-License-Identifier: MIT */
#include "harness.h"
#include "search-fixture.h"

#include <math.h>
#include <string.h>

#include "layers/parameter-set.h"

/* Tests of search with several models, against means of what each of them gives. */

#define LIMIT 3 /* tokens of a translation, EOS included */
#define WORDS (PLAIT_FIXTURE_WORDS - PLAIT_TOKEN_UNKNOWN)
#define TRANSLATIONS (1 + WORDS + WORDS * WORDS)

static const double weights[] = { 0.3, 0.7 };

/* Two models that differ in combiner and decoder, and read different sentences. */
typedef struct
{
  SearchFixture fixtures[2];
  PlaitSearchMember members[2];
  PlaitSearch *search;
} Ensemble;

static void
ensemble_clear (Ensemble *ensemble)
{
  plait_search_free (ensemble->search);
  for (guint i = 0; i < 2; i++)
    search_fixture_clear (&ensemble->fixtures[i]);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Ensemble, ensemble_clear)

static Ensemble
ensemble_new (gboolean same, PlaitEnsembleRule rule)
{
  Ensemble ensemble = { .fixtures = { search_fixture_new ("serial", PLAIT_FIXTURE_TRANSFORMER, NULL, FALSE) } };

  ensemble.fixtures[1] = same ? search_fixture_new ("serial", PLAIT_FIXTURE_TRANSFORMER, NULL, FALSE)
                              : search_fixture_new ("flat", PLAIT_FIXTURE_GRU, NULL, FALSE);
  if (!same)
    plait_fixture_initialise (ensemble.fixtures[1].model, 12);
  for (guint i = 0; i < 2; i++)
    ensemble.members[i]
        = (PlaitSearchMember){ ensemble.fixtures[i].model->model, PLAIT_PRECISION_FLOAT, same ? 0.5 : weights[i] };
  ensemble.search = plait_search_new_ensemble (ensemble.members, 2, rule, ensemble.fixtures[0].pool, 0, NO_ERROR);
  return ensemble;
}

/* Batches of the two models, and the batch of the ensemble. */
typedef struct
{
  PlaitBatch *parts[2];
  PlaitInput inputs[4];
  PlaitBatch whole;
} Batches;

static void
batches_clear (Batches *batches)
{
  for (guint i = 0; i < 2; i++)
    plait_batch_free (batches->parts[i]);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Batches, batches_clear)

/* Fills @batches with @n sentences. The first model reads the sentences from number @first on. */
static void
fill (const Ensemble *ensemble, gboolean same, gint64 first, gint64 n, const gint64 *const *lengths,
      const gint64 *targets, Batches *batches)
{
  for (guint i = 0; i < 2; i++)
    {
      batches->parts[i]
          = plait_fixture_batch (ensemble->fixtures[i].model, first + (same ? 0 : 100 * i), n, lengths, targets);
      memcpy (batches->inputs + 2 * i, batches->parts[i]->inputs, 2 * sizeof *batches->inputs);
    }
  batches->whole = *batches->parts[0];
  batches->whole.inputs = batches->inputs;
  batches->whole.n_sources = 4;
}

/* Returns the mean of two log-probabilities by @rule, computed plainly. */
static double
mean_of (PlaitEnsembleRule rule, double a, double b)
{
  return rule == PLAIT_ENSEMBLE_MEAN ? log (weights[0] * exp (a) + weights[1] * exp (b))
                                     : weights[0] * a + weights[1] * b;
}

/* A translation with its log-probability in the ensemble. */
typedef struct
{
  gint32 tokens[LIMIT];
  gint64 length; /* number of tokens, without EOS */
  double log_probability;
} Path;

static gint
compare_paths (gconstpointer a, gconstpointer b)
{
  double x = ((const Path *)a)->log_probability, y = ((const Path *)b)->log_probability;

  return x > y ? -1 : x < y;
}

/* Adds to @paths all translations of sentence @number that have @length words. */
static void
add_paths (const Ensemble *ensemble, PlaitEnsembleRule rule, gint64 number, gint64 length, GArray *paths)
{
  const gint64 *const lengths[] = { search_fixture_lengths[0] + number, search_fixture_lengths[1] + number };
  gint64 n = 1;

  for (gint64 t = 0; t < length; t++)
    n *= WORDS;
  for (gint64 index = 0; index < n; index++)
    {
      g_auto (Batches) batches = { 0 };
      double rows[2][LIMIT + 1];
      Path path = { .length = length };
      gint64 left = index;

      fill (ensemble, FALSE, number, 1, lengths, &length, &batches);
      for (gint64 t = 0; t < length; t++, left /= WORDS)
        path.tokens[t] = (gint32)(PLAIT_TOKEN_UNKNOWN + left % WORDS);
      for (guint m = 0; m < 2; m++)
        {
          g_autoptr (PlaitSearch) search = plait_search_new (ensemble->members[m].model, ensemble->fixtures[m].pool,
                                                             PLAIT_PRECISION_FLOAT, 0, NULL);

          for (gint64 t = 0; t < length; t++)
            ((gint32 *)batches.parts[m]->target_inputs)[t + 1] = ((gint32 *)batches.parts[m]->target_outputs)[t]
                = path.tokens[t];
          CHECK (plait_search_forced (search, batches.parts[m], rows[m], NULL, FALSE, NO_ERROR));
        }
      for (gint64 t = 0; t <= length; t++)
        path.log_probability += mean_of (rule, rows[0][t], rows[1][t]);
      g_array_append_val (paths, path);
    }
}

/* Checks that @found are the best of all @paths. Translations that are almost equally good may change places. */
static void
check_best (const PlaitHypotheses *found, GArray *paths)
{
  g_array_sort (paths, compare_paths);
  CHECK_INT (found->n, TRANSLATIONS);
  for (guint i = 0; i < MIN (found->n, paths->len); i++)
    {
      const PlaitHypothesis *hypothesis = &found->hypotheses[i];
      gboolean listed = FALSE;
      CONTEXT ("hypothesis %u", i);

      CHECK (hypothesis->ended);
      CHECK_NEAR (hypothesis->log_probability, g_array_index (paths, Path, i).log_probability, 1e-4);
      for (guint p = 0; p < paths->len; p++)
        {
          const Path *path = &g_array_index (paths, Path, p);

          if (path->length == hypothesis->length
              && memcmp (path->tokens, hypothesis->tokens, (gsize)path->length * sizeof *path->tokens) == 0)
            listed = fabs (path->log_probability - hypothesis->log_probability) < 1e-4;
        }
      CHECK (listed);
    }
}

/* Searches with a beam so wide that it keeps every translation. */
TEST_CASE (ensemble, finds_the_best_of_all_translations)
{
  for (gint rule = PLAIT_ENSEMBLE_MEAN; rule <= PLAIT_ENSEMBLE_LOG; rule++)
    {
      g_auto (Ensemble) ensemble = ensemble_new (FALSE, rule);
      g_auto (Batches) batches = { 0 };
      PlaitDecodeSettings settings = search_fixture_settings (TRANSLATIONS);
      CONTEXT ("rule %d", rule);

      settings.minimum_length = 0;
      settings.maximum_length = LIMIT;
      settings.at_limit = PLAIT_DECODE_AT_LIMIT_END;
      settings.length_normalisation = PLAIT_DECODE_LENGTH_NORMALISATION_NONE;
      fill (&ensemble, FALSE, 0, 3, search_fixture_lengths, search_fixture_targets, &batches);
      PlaitHypotheses *found = plait_search_batch (ensemble.search, &batches.whole, &settings, NO_ERROR);
      REQUIRE (found != NULL);
      for (gint64 s = 0; s < 3; s++)
        {
          g_autoptr (GArray) paths = g_array_new (FALSE, FALSE, sizeof (Path));
          CONTEXT ("sentence %d", (int)s);

          for (gint64 length = 0; length < LIMIT; length++)
            add_paths (&ensemble, rule, s, length, paths);
          check_best (&found[s], paths);
        }
      plait_hypotheses_free (found, 3);
    }
}

TEST_CASE (ensemble, scores_the_mean_of_forced_decoding)
{
  for (gint rule = PLAIT_ENSEMBLE_MEAN; rule <= PLAIT_ENSEMBLE_LOG; rule++)
    {
      g_auto (Ensemble) ensemble = ensemble_new (FALSE, rule);
      g_auto (Batches) batches = { 0 };
      double rows[3][64];
      CONTEXT ("rule %d", rule);

      fill (&ensemble, FALSE, 0, 3, search_fixture_lengths, search_fixture_targets, &batches);
      for (guint m = 0; m < 2; m++)
        {
          g_autoptr (PlaitSearch) search
              = plait_search_new (ensemble.members[m].model, ensemble.fixtures[m].pool, PLAIT_PRECISION_FLOAT, 0, NULL);
          PlaitBatch batch = *batches.parts[m];

          /* Every model must score the target of the ensemble. */
          batch.target_inputs = batches.whole.target_inputs;
          batch.target_outputs = batches.whole.target_outputs;
          CHECK (plait_search_forced (search, &batch, rows[m], NULL, FALSE, NO_ERROR));
        }
      CHECK (plait_search_forced (ensemble.search, &batches.whole, rows[2], NULL, FALSE, NO_ERROR));
      for (gint64 row = 0; row < plait_ragged_rows (batches.whole.target_rows); row++)
        CHECK_NEAR (rows[2][row], mean_of (rule, rows[0][row], rows[1][row]), 1e-12);
    }
}

static void
check_same (const PlaitHypotheses *a, const PlaitHypotheses *b, gint64 n)
{
  for (gint64 s = 0; s < n; s++)
    {
      CONTEXT ("sentence %d", (int)s);

      CHECK_INT (a[s].n, b[s].n);
      for (guint i = 0; i < MIN (a[s].n, b[s].n); i++)
        {
          const PlaitHypothesis *x = &a[s].hypotheses[i], *y = &b[s].hypotheses[i];

          CHECK (x->log_probability == y->log_probability && x->score == y->score && x->ended == y->ended);
          CHECK_INT (x->length, y->length);
          CHECK (memcmp (x->tokens, y->tokens, (gsize)MIN (x->length, y->length) * sizeof *x->tokens) == 0);
        }
    }
}

/* Searches by beams, diverse beams and sampling; sampling needs the probabilities of all words. */
TEST_CASE (ensemble, of_one_model_twice_gives_its_bits)
{
  for (gint rule = PLAIT_ENSEMBLE_MEAN; rule <= PLAIT_ENSEMBLE_LOG; rule++)
    {
      g_auto (Ensemble) ensemble = ensemble_new (TRUE, rule);
      g_auto (Batches) batches = { 0 };
      PlaitDecodeSettings settings = search_fixture_settings (4);
      g_autoptr (PlaitSearch) alone
          = plait_search_new (ensemble.members[0].model, ensemble.fixtures[0].pool, PLAIT_PRECISION_FLOAT, 0, NULL);
      CONTEXT ("rule %d", rule);

      settings.no_repeat_ngrams = 2;
      settings.minimum_length = 2;
      fill (&ensemble, TRUE, 0, 3, search_fixture_lengths, search_fixture_targets, &batches);
      for (guint way = 0; way < 3; way++)
        {
          CONTEXT ("way %u", way);

          settings.groups = way == 1 ? 2 : 1;
          settings.method = way == 2 ? PLAIT_DECODE_METHOD_SAMPLE : PLAIT_DECODE_METHOD_BEAM;
          PlaitHypotheses *twice = plait_search_batch (ensemble.search, &batches.whole, &settings, NO_ERROR);
          PlaitHypotheses *once = plait_search_batch (alone, batches.parts[0], &settings, NO_ERROR);
          REQUIRE (twice && once);
          check_same (twice, once, 3);
          plait_hypotheses_free (twice, 3);
          plait_hypotheses_free (once, 3);
        }
    }
}

/* If all sources of a model are missing in a sentence, the model takes no part in it. */
TEST_CASE (ensemble, leaves_out_a_model_that_reads_nothing)
{
  static const gint64 none[] = { 0, 4, 0 };
  const gint64 *const missing[] = { none, none };

  for (gint rule = PLAIT_ENSEMBLE_MEAN; rule <= PLAIT_ENSEMBLE_LOG; rule++)
    {
      g_auto (Ensemble) ensemble = ensemble_new (FALSE, rule);
      g_auto (Batches) batches = { 0 };
      g_autoptr (PlaitSearch) alone
          = plait_search_new (ensemble.members[0].model, ensemble.fixtures[0].pool, PLAIT_PRECISION_FLOAT, 0, NULL);
      g_autoptr (PlaitBatch) second
          = plait_fixture_batch (ensemble.fixtures[1].model, 100, 3, missing, search_fixture_targets);
      PlaitDecodeSettings settings = search_fixture_settings (4);
      double rows[2][64];
      CONTEXT ("rule %d", rule);

      fill (&ensemble, FALSE, 0, 3, search_fixture_lengths, search_fixture_targets, &batches);
      memcpy (batches.inputs + 2, second->inputs, 2 * sizeof *batches.inputs);
      PlaitHypotheses *both = plait_search_batch (ensemble.search, &batches.whole, &settings, NO_ERROR);
      PlaitHypotheses *first = plait_search_batch (alone, batches.parts[0], &settings, NO_ERROR);
      REQUIRE (both && first);
      check_same (both, first, 1);
      CHECK (both[1].hypotheses[0].log_probability != first[1].hypotheses[0].log_probability);
      check_same (both + 2, first + 2, 1);
      CHECK (plait_search_forced (ensemble.search, &batches.whole, rows[0], NULL, FALSE, NO_ERROR));
      CHECK (plait_search_forced (alone, batches.parts[0], rows[1], NULL, FALSE, NO_ERROR));
      for (gint64 s = 0; s < 3; s++)
        for (gint64 row = batches.whole.target_rows.offsets[s]; row < batches.whole.target_rows.offsets[s + 1]; row++)
          CHECK ((rows[0][row] == rows[1][row]) == (s != 1));
      plait_hypotheses_free (both, 3);
      plait_hypotheses_free (first, 3);
    }
}

#define SENTENCES 17

/* A batch that two threads search in parts has the bits that one thread gives, and that each sentence alone gives. */
TEST_CASE (ensemble, does_not_depend_on_threads_and_batches)
{
  g_auto (Ensemble) ensemble = ensemble_new (FALSE, PLAIT_ENSEMBLE_MEAN);
  g_autoptr (PlaitPool) pool = plait_pool_new (1, NULL);
  g_autoptr (PlaitSearch) single = plait_search_new_ensemble (ensemble.members, 2, PLAIT_ENSEMBLE_MEAN, pool, 0, NULL);
  PlaitDecodeSettings settings = search_fixture_settings (4);
  gint64 first[SENTENCES], second[SENTENCES], targets[SENTENCES];
  const gint64 *const lengths[] = { first, second };
  g_auto (Batches) batches = { 0 };

  for (gint64 s = 0; s < SENTENCES; s++)
    {
      first[s] = s == 5 ? 0 : 1 + s * 3 % 7;
      second[s] = s % 4 == 1 ? 0 : 1 + s % 5;
      targets[s] = 1;
    }
  fill (&ensemble, FALSE, 0, SENTENCES, lengths, targets, &batches);
  PlaitHypotheses *parts = plait_search_batch (ensemble.search, &batches.whole, &settings, NO_ERROR);
  PlaitHypotheses *whole = plait_search_batch (single, &batches.whole, &settings, NO_ERROR);
  REQUIRE (parts && whole);
  check_same (parts, whole, SENTENCES);
  CHECK_INT (plait_search_work (ensemble.search).rows_weighed.all, plait_search_work (single).rows_weighed.all);
  for (gint64 s = 0; s < SENTENCES; s++)
    {
      const gint64 *const one[] = { first + s, second + s };
      g_auto (Batches) alone = { 0 };

      fill (&ensemble, FALSE, s, 1, one, targets, &alone);
      PlaitHypotheses *found = plait_search_batch (single, &alone.whole, &settings, NO_ERROR);
      REQUIRE (found != NULL);
      check_same (found, whole + s, 1);
      plait_hypotheses_free (found, 1);
    }
  plait_hypotheses_free (parts, SENTENCES);
  plait_hypotheses_free (whole, SENTENCES);
}

/* A batch must suit every model. Each source of the batch belongs to one model. */
TEST_CASE (ensemble, checks_the_batch_for_every_model)
{
  g_auto (Ensemble) ensemble = ensemble_new (FALSE, PLAIT_ENSEMBLE_MEAN);
  g_auto (Batches) batches = { 0 };
  guint source;

  fill (&ensemble, FALSE, 0, 3, search_fixture_lengths, search_fixture_targets, &batches);
  CHECK (plait_search_check_batch (ensemble.search, &batches.whole, NO_ERROR));
  CHECK (plait_search_reader (ensemble.search, 1, &source) == ensemble.members[0].model && source == 1);
  CHECK (plait_search_reader (ensemble.search, 2, &source) == ensemble.members[1].model && source == 0);
  ((gint32 *)batches.inputs[3].tokens)[0] = PLAIT_FIXTURE_WORDS;
  CHECK (!plait_search_check_batch (ensemble.search, &batches.whole, NULL));
}
