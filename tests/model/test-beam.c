/* SPDX-License-Identifier: MIT */
#include "beam-cases.h"
#include "data/input.h"
#include "harness.h"
#include "model/beam.h"

#include <math.h>
#include <string.h>

/* A word of the table as a token id, its end being EOS. */
static gint32
to_id (int word, int end)
{
  return word == end ? PLAIT_TOKEN_EOS : PLAIT_TOKEN_SPECIALS + word;
}

static int
to_word (gint32 id, int end)
{
  return id == PLAIT_TOKEN_EOS ? end : id - PLAIT_TOKEN_SPECIALS;
}

typedef struct
{
  double log_probability;
  gint32 id;
} Word;

static gint
compare_words (gconstpointer a_pointer, gconstpointer b_pointer)
{
  const Word *a = a_pointer;
  const Word *b = b_pointer;

  if (a->log_probability != b->log_probability)
    return a->log_probability > b->log_probability ? -1 : 1;
  return a->id < b->id ? -1 : a->id > b->id;
}

static PlaitDecodeSettings
decode_settings (const BeamCase *wanted)
{
  PlaitDecodeSettings settings;

  plait_setting_group_defaults (&plait_decode_group, &settings);
  settings.beam = wanted->width;
  settings.n_best = wanted->width;
  settings.length_normalisation = g_str_equal (wanted->normalise, "wu")        ? PLAIT_NORMALISE_WU
                                  : g_str_equal (wanted->normalise, "average") ? PLAIT_NORMALISE_AVERAGE
                                                                               : PLAIT_NORMALISE_NONE;
  settings.alpha = wanted->alpha;
  settings.ranking = g_str_equal (wanted->rank, "final") ? PLAIT_RANK_FINAL : PLAIT_RANK_PARTIAL;
  return settings;
}

/* Runs the search of @wanted over @sentences sentences at once, all alike, words proposed by the table. */
static PlaitBeam *
search (const BeamCase *wanted, gint64 sentences)
{
  int words = wanted->table == 0 ? 3 : 4;
  const double *table = wanted->table == 0 ? beam_table_0 : beam_table_1;
  PlaitDecodeSettings settings = decode_settings (wanted);
  gint64 limits[4] = { wanted->limit, wanted->limit, wanted->limit, wanted->limit };
  PlaitBeam *beam = plait_beam_new (&settings, sentences, limits);

  for (gint64 step = 0;; step++)
    {
      PlaitBeamRows rows = plait_beam_rows (beam);
      gint64 n = plait_ragged_rows (rows.hypotheses);
      g_autofree gint32 *ids = g_new (gint32, n * words + 1);
      g_autofree PlaitScalar *log_probabilities = g_new (PlaitScalar, n * words + 1);

      if (n == 0)
        return beam;
      for (gint64 row = 0; row < n; row++)
        {
          /* The last place of the table stands for the beginning. */
          int previous = rows.tokens[row] == PLAIT_TOKEN_BOS ? words : to_word (rows.tokens[row], wanted->end);
          Word proposed[4];

          for (int w = 0; w < words; w++)
            proposed[w] = (Word){ table[(step * (words + 1) + previous) * words + w], to_id (w, wanted->end) };
          qsort (proposed, words, sizeof *proposed, compare_words);
          for (int w = 0; w < words; w++)
            {
              ids[row * words + w] = proposed[w].id;
              log_probabilities[row * words + w] = (PlaitScalar)proposed[w].log_probability;
            }
        }
      plait_beam_advance (beam, (guint)words, ids, log_probabilities);
    }
}

static void
check_result (const PlaitBeam *beam, const BeamCase *wanted, const PlaitBeamResult *result, int place)
{
  gint64 token = result->last;

  CHECK_INT (result->length, wanted->beam[place].length);
  CHECK_NEAR (result->log_probability, wanted->beam[place].log_probability, 1e-6);
  CHECK_NEAR (result->score, wanted->beam[place].score, 1e-6);
  for (gint64 i = result->length; i-- > 0 && token >= 0;)
    {
      CHECK_INT (to_word (plait_beam_token (beam, token)->token, wanted->end), wanted->beam[place].words[i]);
      CHECK_INT (plait_beam_token (beam, token)->step, i);
      token = plait_beam_token (beam, token)->previous;
    }
  CHECK_INT (token, -1);
}

/* Wu et al. 2016, eq. 14, and its relatives, on tables small enough to be searched by hand. */
TEST_CASE (beam, finds_what_the_reference_finds)
{
  for (guint i = 0; i < G_N_ELEMENTS (beam_cases); i++)
    {
      const BeamCase *wanted = &beam_cases[i];
      g_autoptr (PlaitBeam) beam = search (wanted, 3);
      CONTEXT ("case %u: table %d, width %d, %s %g, %s", i, wanted->table, wanted->width, wanted->normalise,
               wanted->alpha, wanted->rank);

      for (gint64 sentence = 0; sentence < 3; sentence++)
        {
          PlaitBeamResult results[16];
          guint n = plait_beam_results (beam, sentence, results);

          CHECK_INT (n, wanted->n);
          for (guint k = 0; k < n && k < (guint)wanted->n; k++)
            check_result (beam, wanted, &results[k], (int)k);
        }
    }
}

/* Scores by hand: ((5 + 3) / 6)^0.5, 3^0.5, 1. */
TEST_CASE (beam, normalises_by_length_as_named)
{
  PlaitDecodeSettings settings;

  plait_setting_group_defaults (&plait_decode_group, &settings);
  settings.alpha = 0.5;
  settings.length_normalisation = PLAIT_NORMALISE_WU;
  CHECK_NEAR (plait_length_penalty (&settings, 3), sqrt (8.0 / 6.0), 1e-12);
  settings.length_normalisation = PLAIT_NORMALISE_AVERAGE;
  CHECK_NEAR (plait_length_penalty (&settings, 3), sqrt (3.0), 1e-12);
  settings.length_normalisation = PLAIT_NORMALISE_NONE;
  CHECK_NEAR (plait_length_penalty (&settings, 3), 1, 0);
}

/* Two words of the same probability, and the same again: the older hypothesis, then the lower id, goes first. */
TEST_CASE (beam, breaks_ties_by_age_and_id)
{
  PlaitDecodeSettings settings;
  gint64 limits[] = { 2 };
  g_autoptr (PlaitBeam) beam = NULL;
  gint32 ids[] = { 7, 5, 5, 7 };
  PlaitScalar log_probabilities[] = { -1, -1, -1, -1 };
  PlaitBeamResult results[2];

  plait_setting_group_defaults (&plait_decode_group, &settings);
  settings.beam = settings.n_best = 2;
  beam = plait_beam_new (&settings, 1, limits);
  plait_beam_advance (beam, 2, ids, log_probabilities);
  CHECK_INT (plait_beam_rows (beam).tokens[0], 5);
  CHECK_INT (plait_beam_rows (beam).tokens[1], 7);
  plait_beam_advance (beam, 2, ids, log_probabilities);
  CHECK_INT (plait_beam_results (beam, 0, results), 2);
  CHECK_INT (plait_beam_token (beam, results[0].last)->token, 5);
  CHECK_INT (plait_beam_token (beam, results[1].last)->token, 7);
  CHECK_INT (plait_beam_token (beam, results[0].last)->row, 0);
  CHECK_INT (plait_beam_token (beam, results[1].last)->row, 0);
}

/* A sentence whose limit is reached is no longer extended, while others go on. */
TEST_CASE (beam, ends_each_sentence_at_its_own_limit)
{
  PlaitDecodeSettings settings;
  gint64 limits[] = { 1, 3, 0 };
  g_autoptr (PlaitBeam) beam = NULL;
  gint32 ids[] = { 4, 4 };
  PlaitScalar log_probabilities[] = { -0.5, -0.5 };
  PlaitBeamResult results[1];

  plait_setting_group_defaults (&plait_decode_group, &settings);
  settings.beam = 1;
  beam = plait_beam_new (&settings, 3, limits);
  CHECK_INT (plait_ragged_rows (plait_beam_rows (beam).hypotheses), 2);
  plait_beam_advance (beam, 1, ids, log_probabilities);
  CHECK_INT (plait_ragged_rows (plait_beam_rows (beam).hypotheses), 1);
  CHECK_INT (plait_ragged_length (plait_beam_rows (beam).hypotheses, 1), 1);
  CHECK_INT (plait_beam_rows (beam).parents[0], 1);
  plait_beam_advance (beam, 1, ids, log_probabilities);
  plait_beam_advance (beam, 1, ids, log_probabilities);
  CHECK_INT (plait_ragged_rows (plait_beam_rows (beam).hypotheses), 0);
  plait_beam_results (beam, 1, results);
  CHECK_INT (results[0].length, 3);
  CHECK (!results[0].ended);
}
