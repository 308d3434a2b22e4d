/* SPDX-License-Identifier: MIT */
#include "beam-cases.h"
#include "types/input.h"
#include "harness.h"
#include "search/beam.h"

#include <math.h>
#include <string.h>

#define MAX_WORDS 5

/* Returns word @word of the table as a token id. The word @end is EOS. */
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
decode_settings (const BeamCase *wanted, gboolean final)
{
  PlaitDecodeSettings settings;

  plait_setting_group_defaults (&plait_decode_group, &settings);
  settings.beam = wanted->width;
  settings.n_best = wanted->width;
  settings.length_normalisation = g_str_equal (wanted->normalise, "wu") ? PLAIT_DECODE_LENGTH_NORMALISATION_WU
                                  : g_str_equal (wanted->normalise, "average")
                                      ? PLAIT_DECODE_LENGTH_NORMALISATION_AVERAGE
                                      : PLAIT_DECODE_LENGTH_NORMALISATION_NONE;
  settings.alpha = wanted->alpha;
  settings.ranking = final ? PLAIT_DECODE_RANKING_FINAL : PLAIT_DECODE_RANKING_PARTIAL;
  return settings;
}

/* Log-probabilities [limit][words + 1][words] of all words after each previous word. The last previous word is the
 * beginning of the sentence. */
typedef struct
{
  const double *numbers;
  int words, end;
  gint64 limit;
} Table;

static const double *
table_row (const Table *table, gint64 step, int previous)
{
  return table->numbers + (step * (table->words + 1) + previous) * table->words;
}

/* Searches @sentences equal sentences in one batch, with the probabilities of @table. */
static PlaitBeam *
search (const Table *table, const PlaitDecodeSettings *settings, gint64 sentences)
{
  int words = table->words;
  gint64 limits[4] = { table->limit, table->limit, table->limit, table->limit };
  PlaitBeam *beam = plait_beam_new (settings, &(PlaitBeamSentences){ sentences, limits });

  for (gint64 step = 0;; step++)
    {
      PlaitBeamRows rows = plait_beam_rows (beam);
      gint64 n = plait_ragged_rows (rows.hypotheses);
      guint best = MIN (plait_beam_words (beam), (guint)words);
      g_autofree gint32 *ids = g_new (gint32, n * best + 1);
      g_autofree PlaitScalar *log_probabilities = g_new (PlaitScalar, n * best + 1);

      if (n == 0)
        return beam;
      for (gint64 row = 0; row < n; row++)
        {
          int previous = rows.tokens[row] == PLAIT_TOKEN_BOS ? words : to_word (rows.tokens[row], table->end);
          Word proposed[MAX_WORDS];

          for (int w = 0; w < words; w++)
            proposed[w] = (Word){ table_row (table, step, previous)[w], to_id (w, table->end) };
          qsort (proposed, words, sizeof *proposed, compare_words);
          for (guint w = 0; w < best; w++)
            {
              ids[row * best + w] = proposed[w].id;
              log_probabilities[row * best + w] = (PlaitScalar)proposed[w].log_probability;
            }
        }
      plait_beam_advance (beam, best, ids, log_probabilities);
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

/* Checks a case of Wu et al. 2016, eq. 14, or of a similar score, on a table small enough to search by hand. */
static void
check_case (const BeamCase *wanted, gboolean final)
{
  PlaitDecodeSettings settings = decode_settings (wanted, final);
  Table table
      = { wanted->table == 0 ? beam_table_0 : beam_table_1, wanted->table == 0 ? 3 : 4, wanted->end, wanted->limit };
  g_autoptr (PlaitBeam) beam = search (&table, &settings, 3);
  CONTEXT ("table %d, width %d, %s %g, %s", wanted->table, wanted->width, wanted->normalise, wanted->alpha,
           final ? "final" : "partial");

  for (gint64 sentence = 0; sentence < 3; sentence++)
    {
      PlaitBeamResult results[16];
      guint n = plait_beam_results (beam, sentence, results);

      CHECK_INT (n, wanted->n);
      for (guint k = 0; k < n && k < (guint)wanted->n; k++)
        check_result (beam, wanted, &results[k], (int)k);
    }
}

TEST_CASE (beam, finds_what_the_reference_finds)
{
  for (guint i = 0; i < G_N_ELEMENTS (beam_cases); i++)
    for (guint final = 0; final < 2; final++)
      if (!beam_cases[i].rank || g_str_equal (beam_cases[i].rank, final ? "final" : "partial"))
        check_case (&beam_cases[i], final);
}

/* Slow twin of beam search: lists and sorts all continuations, and treats finished hypotheses as decode.finished
 * says. */

#define MAX_PATHS 64 /* at most eight hypotheses, with five words each */

typedef struct
{
  int words[8];
  int length;
  double log_probability;
  double rank;
  gboolean ended;
} Path;

typedef struct
{
  Path paths[MAX_PATHS];
  guint n;
} Paths;

static void
add (Paths *paths, const Path *path)
{
  g_assert (paths->n < MAX_PATHS);
  paths->paths[paths->n++] = *path;
}

static double
path_score (const PlaitDecodeSettings *settings, const Path *path)
{
  return plait_hypothesis_score (settings, path->log_probability, path->length);
}

static gint
compare_paths (gconstpointer a, gconstpointer b)
{
  double x = ((const Path *)a)->rank, y = ((const Path *)b)->rank;

  return x > y ? -1 : x < y;
}

/* TRUE if an n-gram occurs twice in @path. */
static gboolean
repeats (const Path *path, int n)
{
  for (int i = 0; n > 0 && i + n <= path->length; i++)
    for (int k = i + 1; k + n <= path->length; k++)
      if (memcmp (path->words + i, path->words + k, (gsize)n * sizeof *path->words) == 0)
        return TRUE;
  return FALSE;
}

/* Computes the beam @next after step @step, best hypothesis first. */
static void
follow (const Table *table, const PlaitDecodeSettings *settings, gint64 step, const Paths *beam, Paths *next)
{
  next->n = 0;
  for (guint i = 0; i < beam->n; i++)
    for (int w = 0; w < (beam->paths[i].ended ? 1 : table->words); w++)
      {
        Path path = beam->paths[i];
        int previous = path.length == 0 ? table->words : path.words[path.length - 1];

        if (!path.ended)
          {
            path.words[path.length++] = w;
            path.log_probability += table_row (table, step, previous)[w];
            path.rank
                = settings->ranking == PLAIT_DECODE_RANKING_FINAL ? path.log_probability : path_score (settings, &path);
            path.ended = w == table->end;
          }
        if (!repeats (&path, (int)settings->no_repeat_ngrams))
          add (next, &path);
      }
  qsort (next->paths, next->n, sizeof *next->paths, compare_paths);
}

static void
twin (const Table *table, const PlaitDecodeSettings *settings, Paths *found)
{
  Paths beam = { .n = 1 }, next;
  guint width = (guint)settings->beam;
  gboolean compete = settings->finished == PLAIT_DECODE_FINISHED_COMPETE,
           refill = settings->finished == PLAIT_DECODE_FINISHED_REFILL;

  found->n = 0;
  for (gint64 step = 0; step < table->limit && beam.n > 0 && found->n < width; step++)
    {
      guint places = settings->finished == PLAIT_DECODE_FINISHED_SHRINK ? width - found->n : width;

      follow (table, settings, step, &beam, &next);
      beam.n = 0;
      for (guint i = 0; i < next.n; i++)
        if (compete               ? i < width
            : next.paths[i].ended ? i < places && found->n < width
            : refill              ? beam.n < width
                                  : i < places)
          add (next.paths[i].ended && !compete ? found : &beam, &next.paths[i]);
    }
  for (guint i = 0; i < beam.n && found->n < width; i++)
    add (found, &beam.paths[i]);
  for (guint i = 0; i < found->n; i++)
    found->paths[i].rank = path_score (settings, &found->paths[i]);
  qsort (found->paths, found->n, sizeof *found->paths, compare_paths);
}

/* Checks that the @n_best best hypotheses of a search are those of its twin. */
static void
check_twin (const Table *table, const PlaitDecodeSettings *settings)
{
  g_autoptr (PlaitBeam) beam = search (table, settings, 1);
  PlaitBeamResult results[16];
  guint n = plait_beam_results (beam, 0, results);
  Paths found;

  twin (table, settings, &found);
  CHECK (n <= (guint)settings->beam && n >= MIN ((guint)settings->n_best, found.n));
  for (guint k = 0; k < MIN (MIN (n, found.n), (guint)settings->n_best); k++)
    {
      CONTEXT ("place %u", k);
      gint64 token = results[k].last;

      CHECK_NEAR (results[k].score, found.paths[k].rank, 1e-6);
      CHECK_INT (results[k].ended, found.paths[k].ended);
      CHECK_INT (results[k].length, found.paths[k].length);
      for (gint64 i = results[k].length; i-- > 0; token = plait_beam_token (beam, token)->previous)
        CHECK_INT (to_word (plait_beam_token (beam, token)->token, table->end), found.paths[k].words[i]);
    }
}

/* Searches random tables in which the end is likely. */
TEST_CASE (beam, finds_what_its_slow_twin_finds)
{
  enum
  {
    TABLES = 60,
    LIMIT = 5,
  };
  double numbers[LIMIT * (MAX_WORDS + 1) * MAX_WORDS];
  Table table = { numbers, MAX_WORDS, 0, LIMIT };

  for (guint i = 0; i < TABLES * 18; i++)
    {
      PlaitRandomKey key = plait_random_key (i / 18, "table", NULL, 0);
      PlaitDecodeSettings settings;

      for (guint k = 0; k < G_N_ELEMENTS (numbers); k++)
        numbers[k] = -(k % MAX_WORDS == 0 ? 2 : 3) * plait_random_uniform (key, k);
      plait_setting_group_defaults (&plait_decode_group, &settings);
      settings.length_normalisation = (gint)(i % 3);
      settings.ranking = (gint)(i / 3 % 2);
      settings.finished = (gint)(i / 6 % 3);
      settings.word_reward = i / 18 % 3 * 0.7;
      for (settings.beam = 1; settings.beam <= 8; settings.beam++)
        for (settings.n_best = 1; settings.n_best <= settings.beam; settings.n_best += MAX (settings.beam - 1, 1))
          {
            CONTEXT ("table %u, normalisation %d, reward %g, ranking %d, finished %d, beam %d, best %d", i / 18,
                     settings.length_normalisation, settings.word_reward, settings.ranking, settings.finished,
                     (int)settings.beam, (int)settings.n_best);

            check_twin (&table, &settings);
          }
    }
}

/* Tables with two words and an unlikely end, so that a search would repeat words for ever. If n-grams are banned, the
 * search finds what its twin finds, which looks for repeats in each whole path. */
TEST_CASE (beam, repeats_no_ngram_that_it_may_not)
{
  enum
  {
    TABLES = 20,
    WORDS = 3,
    LIMIT = 8,
  };
  double numbers[LIMIT * (WORDS + 1) * WORDS];
  Table table = { numbers, WORDS, 0, LIMIT };
  guint would = 0;

  for (guint i = 0; i < TABLES * 9; i++)
    {
      PlaitRandomKey key = plait_random_key (i / 9, "repeats", NULL, 0);
      PlaitDecodeSettings settings;

      for (guint k = 0; k < G_N_ELEMENTS (numbers); k++)
        numbers[k] = (k % WORDS == 0 ? -4 : 0) - plait_random_uniform (key, k);
      plait_setting_group_defaults (&plait_decode_group, &settings);
      settings.ranking = PLAIT_DECODE_RANKING_FINAL;
      settings.finished = (gint)(i / 3 % 3);
      settings.n_best = 1;
      for (settings.beam = 1; settings.beam <= 5; settings.beam += 2)
        {
          CONTEXT ("table %u, %u-grams, finished %d, beam %d", i / 9, i % 3 + 1, settings.finished, (int)settings.beam);
          Paths free;

          settings.no_repeat_ngrams = 0;
          twin (&table, &settings, &free);
          settings.no_repeat_ngrams = i % 3 + 1;
          would += repeats (&free.paths[0], (int)settings.no_repeat_ngrams);
          check_twin (&table, &settings);
        }
    }
  CHECK (would > TABLES * 9);
}

/*
 * By hand: three words end, x and y, a beam of two, three steps, scores by average. The log-probabilities of each step
 * are:
 *
 *     first   x -0.2, end -2, y -2.1
 *     second  after x: y -0.4, x -0.6, end -3; after y: end -0.1, x -2, y -2
 *     third   after xy: x -7, end -9, y -9.5; after xx: end -6, x -9, y -9
 *
 * After the first step, x and the end are the two best. If finished hypotheses compete with the others, xy (-0.6) and
 * xx (-0.8) remove the end (-2); xx ends with -6.8 / 3 = -2.27, and xyx has -7.6 / 3 = -2.53. If finished hypotheses
 * are set aside, the end keeps its -2, and the remaining place continues xy as xyx. If places are refilled, y takes the
 * place of the end, xy and xx are again the two best (y with its end has -2.2), and xx ends as the second.
 */
TEST_CASE (beam, does_with_finished_hypotheses_as_it_is_told)
{
  enum
  {
    X = PLAIT_TOKEN_SPECIALS,
    Y,
    END = PLAIT_TOKEN_EOS,
  };
  static const struct
  {
    gint finished;
    gint64 rows[3];
    double scores[2];
    gint32 last[2];
  } cases[] = {
    { PLAIT_DECODE_FINISHED_COMPETE, { 1, 1, 2 }, { -6.8 / 3, -7.6 / 3 }, { END, X } },
    { PLAIT_DECODE_FINISHED_SHRINK, { 1, 1, 1 }, { -2, -7.6 / 3 }, { END, X } },
    { PLAIT_DECODE_FINISHED_REFILL, { 1, 2, 2 }, { -2, -6.8 / 3 }, { END, END } },
  };
  /* Ids of the words, best first: after the beginning; in the second step after x and after y; in the third after x and
   * after y, each after x. */
  static const gint32 ids[5][3] = { { X, END, Y }, { Y, X, END }, { END, X, Y }, { END, X, Y }, { X, END, Y } };
  static const PlaitScalar words[5][3] = {
    { -0.2F, -2, -2.1F }, { -0.4F, -0.6F, -3 }, { -0.1F, -2, -2 }, { -6, -9, -9 }, { -7, -9, -9.5F },
  };
  gint64 limits[] = { 3 };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      CONTEXT ("case %u", i);
      PlaitDecodeSettings settings;
      PlaitBeamResult results[2];

      plait_setting_group_defaults (&plait_decode_group, &settings);
      settings.beam = settings.n_best = 2;
      settings.length_normalisation = PLAIT_DECODE_LENGTH_NORMALISATION_AVERAGE;
      settings.ranking = PLAIT_DECODE_RANKING_FINAL;
      settings.finished = cases[i].finished;
      g_autoptr (PlaitBeam) beam = plait_beam_new (&settings, &(PlaitBeamSentences){ 1, limits });
      for (guint step = 0; step < 3; step++)
        {
          PlaitBeamRows rows = plait_beam_rows (beam);
          gint32 step_ids[2][3];
          PlaitScalar step_words[2][3];

          CHECK_INT (plait_ragged_rows (rows.hypotheses), cases[i].rows[step]);
          for (gint64 row = 0; row < plait_ragged_rows (rows.hypotheses); row++)
            {
              guint from = step == 0 ? 0 : 2 * step - 1 + (rows.tokens[row] == Y);

              memcpy (step_ids[row], ids[from], sizeof step_ids[row]);
              memcpy (step_words[row], words[from], sizeof step_words[row]);
            }
          plait_beam_advance (beam, 3, step_ids[0], step_words[0]);
        }
      CHECK_INT (plait_ragged_rows (plait_beam_rows (beam).hypotheses), 0);
      CHECK_INT (plait_beam_results (beam, 0, results), 2);
      for (guint k = 0; k < 2; k++)
        {
          CHECK_NEAR (results[k].score, cases[i].scores[k], 1e-6);
          CHECK_INT (plait_beam_token (beam, results[k].last)->token, cases[i].last[k]);
        }
    }
}

/* Scores, by hand, of the log-probability -6: divided by ((5 + 3) / 6)^0.5, by 3^0.5 and by 1, and with three rewards
 * of 0.25. */
TEST_CASE (beam, scores_by_length_as_named)
{
  PlaitDecodeSettings settings;

  plait_setting_group_defaults (&plait_decode_group, &settings);
  settings.alpha = 0.5;
  settings.length_normalisation = PLAIT_DECODE_LENGTH_NORMALISATION_WU;
  CHECK_NEAR (plait_hypothesis_score (&settings, -6, 3), -6 / sqrt (8.0 / 6.0), 1e-12);
  settings.length_normalisation = PLAIT_DECODE_LENGTH_NORMALISATION_AVERAGE;
  CHECK_NEAR (plait_hypothesis_score (&settings, -6, 3), -6 / sqrt (3.0), 1e-12);
  settings.length_normalisation = PLAIT_DECODE_LENGTH_NORMALISATION_NONE;
  CHECK_NEAR (plait_hypothesis_score (&settings, -6, 3), -6, 0);
  settings.word_reward = 0.25;
  CHECK_NEAR (plait_hypothesis_score (&settings, -6, 3), -5.25, 1e-12);
}

/*
 * Ranks finished hypotheses that were set aside, as fairseq does: by log-probability / length^alpha, where the end
 * counts as a token. "x" has the log-probability -2 and two tokens with its end, "x x x" has -4 and four tokens: -2 / 2
 * = -4 / 4. So alpha > 1 ranks the longer one first (-4 / 4^2 = -0.25 before -2 / 2^2 = -0.5), and alpha < 1 the
 * shorter one (-2 / 2^.5 before -4 / 4^.5 = -2). With alpha = 0 only the reward for each token decides: the longer one
 * has two more tokens, so it is first if the reward is above 1.
 */
TEST_CASE (beam, ranks_by_length_penalty_and_reward)
{
  enum
  {
    X = PLAIT_TOKEN_SPECIALS,
    END = PLAIT_TOKEN_EOS,
  };
  static const gint32 ids[4][3] = { { X, -1, -1 }, { END, X, -1 }, { X, -1, -1 }, { END, -1, -1 } };
  static const PlaitScalar words[4][3] = { { -1 }, { -1, -1 }, { -1 }, { -1 } };
  static const struct
  {
    double alpha, reward;
    gint64 lengths[2];
    double scores[2];
  } cases[] = { { 2, 0, { 4, 2 }, { -0.25, -0.5 } },
                { 0.5, 0, { 2, 4 }, { -2 / G_SQRT2, -2 } },
                { 0, 0.5, { 2, 4 }, { -1, -2 } },
                { 0, 1.5, { 4, 2 }, { 2, 1 } } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      CONTEXT ("alpha %g, reward %g", cases[i].alpha, cases[i].reward);
      gint64 limits[] = { 6 };
      PlaitDecodeSettings settings;
      PlaitBeamResult results[2];

      plait_setting_group_defaults (&plait_decode_group, &settings);
      settings.beam = settings.n_best = 2;
      settings.length_normalisation = PLAIT_DECODE_LENGTH_NORMALISATION_AVERAGE;
      settings.alpha = cases[i].alpha;
      settings.word_reward = cases[i].reward;
      settings.ranking = PLAIT_DECODE_RANKING_FINAL;
      settings.finished = PLAIT_DECODE_FINISHED_REFILL;
      g_autoptr (PlaitBeam) beam = plait_beam_new (&settings, &(PlaitBeamSentences){ 1, limits });
      for (guint step = 0; step < 4; step++)
        plait_beam_advance (beam, 3, ids[step], words[step]);
      CHECK_INT (plait_ragged_rows (plait_beam_rows (beam).hypotheses), 0);
      CHECK_INT (plait_beam_results (beam, 0, results), 2);
      for (guint k = 0; k < 2; k++)
        {
          CHECK_INT (results[k].length, cases[i].lengths[k]);
          CHECK_NEAR (results[k].score, cases[i].scores[k], 1e-12);
        }
    }
}

/* Two words have equal probabilities in two steps: the older hypothesis is ranked first, then the lower id. */
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
  beam = plait_beam_new (&settings, &(PlaitBeamSentences){ 1, limits });
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

/* A sentence that has reached its limit is not extended, while other sentences continue. */
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
  beam = plait_beam_new (&settings, &(PlaitBeamSentences){ 3, limits });
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
