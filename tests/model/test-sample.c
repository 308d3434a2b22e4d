/* SPDX-License-Identifier: MIT */
#include "harness.h"
#include "process/random.h"
#include "search/sample.h"
#include "toy.h"

#include <math.h>
#include <string.h>

#include "types/input.h"

/* Tests of sampling against distributions computed from their definitions. */

static PlaitDecodeSettings
sampling (double temperature, gint64 top_k, double nucleus)
{
  PlaitDecodeSettings settings;

  plait_setting_group_defaults (&plait_decode_group, &settings);
  settings.method = PLAIT_DECODE_METHOD_SAMPLE;
  settings.temperature = temperature;
  settings.top_k = top_k;
  settings.nucleus = nucleus;
  return settings;
}

/*
 * Computes the distribution from which a word is drawn, by definition. It is a softmax with the temperature (Holtzman
 * et al. 2020, eq. 4). Words are removed if at least top_k words are before them: more probable ones, or equally
 * probable ones with lower ids (Fan et al. 2018). Words are also removed if the words before them already reach the
 * nucleus (Holtzman et al. 2020, eq. 2). The rest is rescaled (eq. 3).
 */
static void
distribution (const PlaitDecodeSettings *settings, const PlaitScalar *log_probabilities, gint32 n,
              double *probabilities)
{
  double total = 0, of_top = 0, kept = 0;
  double tempered[64];
  gboolean is_top[64];

  for (gint32 i = 0; i < n; i++)
    total += exp ((double)log_probabilities[i] / settings->temperature);
  for (gint32 i = 0; i < n; i++)
    tempered[i] = exp ((double)log_probabilities[i] / settings->temperature) / total;
  for (gint32 i = 0; i < n; i++)
    {
      gint64 before = 0;

      for (gint32 k = 0; k < n; k++)
        before += tempered[k] > tempered[i] || (tempered[k] == tempered[i] && k < i);
      is_top[i] = settings->top_k == 0 || before < settings->top_k;
      of_top += is_top[i] ? tempered[i] : 0;
    }
  for (gint32 i = 0; i < n; i++)
    {
      double before = 0;

      for (gint32 k = 0; k < n; k++)
        if (is_top[k] && (tempered[k] > tempered[i] || (tempered[k] == tempered[i] && k < i)))
          before += tempered[k] / of_top;
      probabilities[i] = is_top[i] && before < settings->nucleus - 1e-12 ? tempered[i] : 0;
      kept += probabilities[i];
    }
  for (gint32 i = 0; i < n; i++)
    probabilities[i] /= kept;
}

static const struct
{
  double temperature;
  gint64 top_k;
  double nucleus;
} cases[] = { { 1, 0, 1 },   { 0.5, 0, 1 },   { 3, 0, 1 },     { 1, 3, 1 },  { 1, 1, 1 },
              { 1, 0, 0.6 }, { 1, 0, 0.001 }, { 0.7, 4, 0.8 }, { 2, 2, 0.9 } };

/* Evenly spaced numbers in place of random ones draw each word as often as its probability says. */
TEST_CASE (sample, draws_words_as_often_as_holtzman_2020_eq_2_to_4_say)
{
  enum
  {
    WORDS = 12,
    GRID = 4000,
  };

  for (guint c = 0; c < G_N_ELEMENTS (cases) * 20; c++)
    {
      PlaitDecodeSettings settings = sampling (cases[c / 20].temperature, cases[c / 20].top_k, cases[c / 20].nucleus);
      PlaitRandomKey key = plait_random_key (c, "words", NULL, 0);
      PlaitScalar log_probabilities[WORDS];
      double wanted[WORDS];
      gint64 drawn[WORDS] = { 0 };
      CONTEXT ("temperature %g, top_k %d, nucleus %g", settings.temperature, (int)settings.top_k, settings.nucleus);

      for (guint i = 0; i < WORDS; i++)
        log_probabilities[i] = (PlaitScalar)(-4 * plait_random_uniform (key, i));
      /* One word must not be drawn, and some are equally probable. */
      log_probabilities[c % WORDS] = -(PlaitScalar)INFINITY;
      log_probabilities[(c + 1) % WORDS] = log_probabilities[(c + 5) % WORDS];
      distribution (&settings, log_probabilities, WORDS, wanted);
      for (guint i = 0; i < GRID; i++)
        drawn[plait_sample_word (&settings, log_probabilities, WORDS, i / (double)GRID)]++;
      for (guint i = 0; i < WORDS; i++)
        CHECK_NEAR ((double)drawn[i] / GRID, wanted[i], 1.5 / GRID);
    }
}

TEST_CASE (sample, draws_nothing_if_no_word_may_follow)
{
  PlaitDecodeSettings settings = sampling (1, 0, 1);
  PlaitScalar none[] = { -(PlaitScalar)INFINITY, -(PlaitScalar)INFINITY };

  CHECK_INT (plait_sample_word (&settings, none, 2, 0.5), -1);
  none[1] = 0;
  CHECK_INT (plait_sample_word (&settings, none, 2, 0), 1);
  CHECK_INT (plait_sample_word (&settings, none, 2, 1 - 1e-16), 1);
}

/* A row with NaN is at fault, wherever the NaN is, and whichever words decode.top_k and decode.nucleus keep. */
TEST_CASE (sample, draws_nothing_from_a_row_with_nan)
{
  for (guint i = 0; i < 3 * G_N_ELEMENTS (cases); i++)
    {
      PlaitDecodeSettings settings = sampling (cases[i / 3].temperature, cases[i / 3].top_k, cases[i / 3].nucleus);
      PlaitScalar row[] = { -1, -2, -3 };
      CONTEXT ("case %u", i);

      row[i % 3] = (PlaitScalar)NAN;
      CHECK_INT (plait_sample_word (&settings, row, 3, 0.5), -1);
    }
}

/* Returns the probability with which sampling draws @path. */
static double
path_probability (const Toy *toy, const PlaitDecodeSettings *settings, const ToyPath *path)
{
  double probability = 1;

  for (gint64 i = 0; i < path->length; i++)
    {
      PlaitScalar log_probabilities[TOY_FIRST + TOY_MAX_WORDS];
      double words[TOY_FIRST + TOY_MAX_WORDS];

      toy_fill (toy, i, i > 0 ? path->tokens[i - 1] : PLAIT_TOKEN_BOS, log_probabilities);
      distribution (settings, log_probabilities, toy_size (toy), words);
      probability *= words[path->tokens[i]];
    }
  return probability;
}

/* Returns how many of the samples of all sentences equal @path. */
static gint64
count (const Toy *toy, const PlaitBeam *beam, gint64 sentences, gint64 samples, const ToyPath *path)
{
  gint64 n = 0;

  for (gint64 s = 0; s < sentences; s++)
    {
      g_autofree PlaitBeamResult *results = g_new (PlaitBeamResult, samples);

      CHECK_INT (plait_beam_results (beam, s, results), samples);
      for (gint64 i = 0; i < samples; i++)
        {
          ToyPath drawn = toy_path (toy, beam, &results[i]);

          CHECK_NEAR (results[i].log_probability, drawn.log_probability, 1e-9);
          n += toy_equal (&drawn, path);
        }
    }
  return n;
}

/* All translations of a small vocabulary are drawn as often as their probabilities say, within four standard
 * deviations. */
TEST_CASE (sample, draws_translations_as_often_as_their_enumeration_says)
{
  enum
  {
    SENTENCES = 40,
    SAMPLES = 50,
  };
  Toy toy = { 3, 2, 3, 0 };
  gint64 limits[SENTENCES], numbers[SENTENCES];
  g_autoptr (GArray) all = toy_all (&toy);

  for (gint64 s = 0; s < SENTENCES; s++)
    {
      limits[s] = toy.limit;
      numbers[s] = s;
    }
  for (guint c = 0; c < G_N_ELEMENTS (cases); c++)
    {
      PlaitDecodeSettings settings = sampling (cases[c].temperature, cases[c].top_k, cases[c].nucleus);
      double n = SENTENCES * SAMPLES, sum = 0;
      CONTEXT ("case %u", c);

      settings.n_best = SAMPLES;
      g_autoptr (PlaitBeam) beam
          = toy_search (&toy, &settings, &(PlaitBeamSentences){ SENTENCES, limits, numbers, NULL });
      for (guint i = 0; i < all->len; i++)
        {
          const ToyPath *path = &g_array_index (all, ToyPath, i);
          double p = path_probability (&toy, &settings, path);

          sum += p;
          CHECK_NEAR ((double)count (&toy, beam, SENTENCES, SAMPLES, path) / n, p, 4 * sqrt (p * (1 - p) / n) + 1e-9);
        }
      CHECK_NEAR (sum, 1, 1e-9);
    }
}

/* A sample depends on the seed, the number of its sentence and its own number. It does not depend on the place of the
 * sentence in the batch, or on how many samples are drawn. */
TEST_CASE (sample, depends_on_seed_sentence_and_sample_only)
{
  static const gint64 limits[] = { 6, 6, 6 };
  Toy toy = { 5, 5, 6, -1 };
  PlaitDecodeSettings few = sampling (1, 0, 0.9), many = few, other = few;
  PlaitBeamResult results[3][8];
  guint differing = 0;

  few.n_best = 3;
  many.n_best = 8;
  other.n_best = 3;
  other.seed = 2;
  for (gint64 number = 0; number < 20; number++)
    {
      g_autoptr (PlaitBeam) alone = toy_search (&toy, &few, &(PlaitBeamSentences){ 1, limits, &number, NULL });
      g_autoptr (PlaitBeam) batch = toy_search (
          &toy, &many, &(PlaitBeamSentences){ 3, limits, (gint64[]){ number + 7, number + 1, number }, NULL });
      g_autoptr (PlaitBeam) seeded = toy_search (&toy, &other, &(PlaitBeamSentences){ 1, limits, &number, NULL });
      CONTEXT ("sentence %d", (int)number);

      CHECK_INT (plait_beam_results (alone, 0, results[0]), 3);
      CHECK_INT (plait_beam_results (batch, 2, results[1]), 8);
      CHECK_INT (plait_beam_results (seeded, 0, results[2]), 3);
      for (guint i = 0; i < 3; i++)
        {
          ToyPath a = toy_path (&toy, alone, &results[0][i]), b = toy_path (&toy, batch, &results[1][i]),
                  c = toy_path (&toy, seeded, &results[2][i]);

          CHECK (toy_equal (&a, &b));
          differing += !toy_equal (&a, &c);
        }
    }
  CHECK (differing > 40);
}

/* Samples have no banned n-grams, and they have the end token if the limit requires it. */
TEST_CASE (sample, keeps_the_rules_of_search)
{
  static const gint64 limit = 7, number = 1;
  Toy toy = { 8, 2, 7, -4 };
  PlaitDecodeSettings settings = sampling (1, 0, 1);
  PlaitBeamResult results[200];

  settings.n_best = 200;
  settings.no_repeat_ngrams = 2;
  settings.at_limit = PLAIT_DECODE_AT_LIMIT_END;
  g_autoptr (PlaitBeam) beam = toy_search (&toy, &settings, &(PlaitBeamSentences){ 1, &limit, &number, NULL });
  CHECK_INT (plait_beam_results (beam, 0, results), 200);
  for (guint i = 0; i < 200; i++)
    {
      ToyPath path = toy_path (&toy, beam, &results[i]);

      CHECK (results[i].ended && toy_is_ended (&path));
      for (gint64 k = 1; k < path.length; k++)
        for (gint64 m = k + 1; m < path.length; m++)
          CHECK (memcmp (path.tokens + k - 1, path.tokens + m - 1, 2 * sizeof *path.tokens) != 0);
    }
}
