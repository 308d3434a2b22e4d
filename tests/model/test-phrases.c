/* SPDX-License-Identifier: MIT */
#include "harness.h"
#include "process/random.h"
#include "toy.h"

#include <string.h>

#include "types/input.h"

/* Tests of required phrases: the automaton against a search in the text, and dynamic beam allocation (Post & Vilar
 * 2018) against a slow twin and against all translations. */

#define MAX_PHRASES 4
#define MAX_TOKENS 12

/* Required phrases of one sentence. */
typedef struct
{
  gint64 n;
  gint64 offsets[MAX_PHRASES + 1];
  gint32 tokens[MAX_TOKENS];
} Phrases;

static PlaitPhrases *
compile (const Phrases *phrases)
{
  return plait_phrases_new ((PlaitRagged){ phrases->n, phrases->offsets }, phrases->tokens);
}

/* Returns up to @most random phrases. Each has up to three words, out of @words words. */
static Phrases
random_phrases (PlaitRandomKey key, gint64 most, gint32 words)
{
  Phrases phrases = { .n = 1 + (gint64)plait_random_below (key, 1000, (guint64)most) };

  for (gint64 i = 0; i < phrases.n; i++)
    phrases.offsets[i + 1] = phrases.offsets[i] + 1 + (gint64)plait_random_below (key, 1001 + (guint64)i, 3);
  for (gint64 i = 0; i < phrases.offsets[phrases.n]; i++)
    phrases.tokens[i] = TOY_FIRST + (gint32)plait_random_below (key, (guint64)i, (guint64)words);
  return phrases;
}

static gboolean
contains (const gint32 *tokens, gint64 n, const gint32 *phrase, gint64 length)
{
  for (gint64 i = 0; i + length <= n; i++)
    if (memcmp (tokens + i, phrase, (gsize)length * sizeof *phrase) == 0)
      return TRUE;
  return FALSE;
}

/* TRUE if phrase @i is equal to an earlier one of @phrases. */
static gboolean
is_repeated (const Phrases *phrases, gint64 i)
{
  gint64 length = phrases->offsets[i + 1] - phrases->offsets[i];

  for (gint64 k = 0; k < i; k++)
    if (phrases->offsets[k + 1] - phrases->offsets[k] == length
        && contains (phrases->tokens + phrases->offsets[k], length, phrases->tokens + phrases->offsets[i], length))
      return TRUE;
  return FALSE;
}

/* Returns the number of tokens that @tokens [n] still need for all phrases. If @tokens end with the beginning of a
 * missing phrase, the tokens of this beginning are not counted. */
static gint64
slow_missing (const Phrases *phrases, const gint32 *tokens, gint64 n)
{
  gint64 missing = 0, begun = 0;

  for (gint64 i = 0; i < phrases->n; i++)
    {
      const gint32 *phrase = phrases->tokens + phrases->offsets[i];
      gint64 length = phrases->offsets[i + 1] - phrases->offsets[i];

      if (is_repeated (phrases, i) || contains (tokens, n, phrase, length))
        continue;
      missing += length;
      for (gint64 k = 1; k < length && k <= n; k++)
        if (memcmp (tokens + n - k, phrase, (gsize)k * sizeof *phrase) == 0)
          begun = MAX (begun, k);
    }
  return missing - begun;
}

TEST_CASE (phrases, are_found_as_a_search_in_the_text_finds_them)
{
  enum
  {
    WORDS = 3,
    LENGTH = 12,
  };

  for (guint t = 0; t < 500; t++)
    {
      PlaitRandomKey key = plait_random_key (t, "phrases", NULL, 0);
      Phrases phrases = random_phrases (key, MAX_PHRASES, WORDS);
      g_autoptr (PlaitPhrases) compiled = compile (&phrases);
      PlaitPhraseState state = { 0 };
      gint32 tokens[LENGTH + 1];
      CONTEXT ("trial %u", t);

      CHECK_INT (plait_phrases_tokens (compiled), slow_missing (&phrases, tokens, 0));
      for (gint64 n = 0; n < LENGTH; n++)
        {
          gint32 words[MAX_TOKENS];
          guint n_words = plait_phrases_words (compiled, state, words);
          gint64 none = plait_phrases_missing (compiled, (PlaitPhraseState){ state.met, 0 });

          CHECK_INT (plait_phrases_missing (compiled, state), slow_missing (&phrases, tokens, n));
          for (gint32 word = TOY_FIRST; word < TOY_FIRST + WORDS; word++)
            {
              gint64 after;
              guint listed = 0;

              tokens[n] = word;
              after = slow_missing (&phrases, tokens, n + 1);
              for (guint i = 0; i < n_words; i++)
                listed += words[i] == word;
              CHECK_INT (plait_phrases_missing (compiled, plait_phrases_advance (compiled, state, word)), after);
              CHECK_INT (listed, after < none);
            }
          tokens[n] = TOY_FIRST + (gint32)plait_random_below (key, 2000 + (guint64)n, WORDS);
          state = plait_phrases_advance (compiled, state, tokens[n]);
        }
    }
}

static gboolean
holds_all (const Phrases *phrases, const ToyPath *path)
{
  return slow_missing (phrases, path->tokens, path->length - toy_is_ended (path)) == 0;
}

static PlaitDecodeSettings
beam_settings (gint64 beam)
{
  PlaitDecodeSettings settings;

  plait_setting_group_defaults (&plait_decode_group, &settings);
  settings.beam = settings.n_best = beam;
  return settings;
}

/* Searches one sentence. Fills @found (element-type ToyPath), best first. */
static void
search (const Toy *toy, const PlaitDecodeSettings *settings, const PlaitRequirement *requirement, GArray *found)
{
  g_autoptr (PlaitBeam) beam = toy_search (toy, settings, &(PlaitBeamSentences){ 1, &toy->limit, NULL, requirement });
  g_autofree PlaitBeamResult *results = g_new (PlaitBeamResult, settings->beam);
  guint n = plait_beam_results (beam, 0, results);

  g_array_set_size (found, 0);
  for (guint i = 0; i < n; i++)
    {
      ToyPath path = toy_path (toy, beam, &results[i]);

      CHECK_NEAR (results[i].log_probability, path.log_probability, 1e-9);
      path.value = results[i].score;
      g_array_append_val (found, path);
    }
}

static void
check_equal (const GArray *found, const GArray *wanted, guint n)
{
  CHECK (found->len >= MIN (n, wanted->len));
  for (guint i = 0; i < MIN (n, MIN (found->len, wanted->len)); i++)
    {
      const ToyPath *a = &g_array_index (found, ToyPath, i), *b = &g_array_index (wanted, ToyPath, i);
      CONTEXT ("place %u", i);

      CHECK (toy_equal (a, b));
      CHECK_NEAR (a->value, b->value, 1e-9);
    }
}

static void
add_scored (const PlaitDecodeSettings *settings, const ToyPath *path, GArray *paths)
{
  ToyPath scored = *path;

  scored.value = plait_hypothesis_score (settings, path->log_probability, path->length);
  g_array_append_val (paths, scored);
}

/* TRUE if a search can find @path: after each token, the missing phrases and the end token still fit into the limit. */
static gboolean
is_in_time (const Toy *toy, const Phrases *phrases, const ToyPath *path)
{
  for (gint64 i = 1; i <= path->length - toy_is_ended (path); i++)
    if (slow_missing (phrases, path->tokens, i) > MAX (0, toy->limit - i - 1))
      return FALSE;
  return TRUE;
}

/* A beam that has space for every hypothesis finds the best of all translations that contain the phrases, with any
 * prefix. */
TEST_CASE (phrases, are_in_the_best_of_all_translations_that_hold_them)
{
  enum
  {
    WORDS = 3,
  };
  PlaitDecodeSettings settings = beam_settings (2000);
  g_autoptr (GArray) found = g_array_new (FALSE, FALSE, sizeof (ToyPath));

  settings.n_best = 10;
  for (guint t = 0; t < 40; t++)
    {
      PlaitRandomKey key = plait_random_key (t, "best", NULL, 0);
      Toy toy = { t, WORDS, 5, -1 };
      Phrases phrases = random_phrases (key, 3, WORDS);
      g_autoptr (PlaitPhrases) compiled = compile (&phrases);
      gint32 prefix[] = { TOY_FIRST + (gint32)(t % WORDS) };
      PlaitRequirement requirement = { prefix, t % 3 == 0, compiled };
      g_autoptr (GArray) all = toy_all (&toy);
      g_autoptr (GArray) wanted = g_array_new (FALSE, FALSE, sizeof (ToyPath));
      CONTEXT ("trial %u", t);

      if (plait_requirement_length (&requirement) > toy.limit)
        continue;
      settings.length_normalisation = (gint)(t % 2);
      for (guint i = 0; i < all->len; i++)
        {
          const ToyPath *path = &g_array_index (all, ToyPath, i);

          if (holds_all (&phrases, path) && is_in_time (&toy, &phrases, path)
              && (requirement.prefix_length == 0 || path->tokens[0] == prefix[0]))
            add_scored (&settings, path, wanted);
        }
      g_array_sort (wanted, toy_compare);
      search (&toy, &settings, &requirement, found);
      CHECK (found->len > 0);
      check_equal (found, wanted, 10);
      for (guint i = 0; i < found->len; i++)
        CHECK (holds_all (&phrases, &g_array_index (found, ToyPath, i)));
    }
}

/* Divides @places as section 3.2 of the paper says: each bank gets an equal number, the last bank also the rest. Places
 * that a bank cannot fill then go to other banks, one at a time. */
static void
slow_allocate (guint places, guint n, const guint *counts, guint *sizes)
{
  for (guint i = 0; i < n; i++)
    sizes[i] = places / n;
  sizes[n - 1] += places % n;
  for (guint from = n; from-- > 0;)
    while (sizes[from] > counts[from])
      {
        guint to = from;

        /* Take the nearest bank before this one that has room; if there is none, the last bank that has room. */
        while (to > 0 && sizes[to] >= counts[to])
          to--;
        if (sizes[to] >= counts[to])
          for (to = n - 1; to > 0 && sizes[to] >= counts[to]; to--)
            ;
        sizes[from]--;
        if (sizes[to] < counts[to])
          sizes[to]++;
      }
}

typedef struct
{
  ToyPath path;
  gint64 missing;
  gboolean is_best, is_closer; /* best word after its hypothesis; completes more of the phrases */
} Option;

static gint
compare_options (gconstpointer a, gconstpointer b)
{
  return toy_compare (&((const Option *)a)->path, &((const Option *)b)->path);
}

/* Lists the hypotheses that may follow those of @beam, best first. */
static void
list_options (const Toy *toy, const PlaitDecodeSettings *settings, const Phrases *phrases, const GArray *beam,
              GArray *options)
{
  g_array_set_size (options, 0);
  for (guint i = 0; i < beam->len; i++)
    {
      const ToyPath *from = &g_array_index (beam, ToyPath, i);
      gint64 missing = slow_missing (phrases, from->tokens, from->length - toy_is_ended (from));
      guint first = options->len, best = first;

      if (toy_is_ended (from))
        {
          Option kept = { *from, 0, FALSE, FALSE };

          g_array_append_val (options, kept);
          continue;
        }
      for (gint32 id = PLAIT_TOKEN_EOS; id < toy_size (toy); id = id == PLAIT_TOKEN_EOS ? TOY_FIRST : id + 1)
        {
          gboolean ends = id == PLAIT_TOKEN_EOS;
          Option option = { toy_extend (toy, from, id), 0, FALSE, FALSE };

          option.missing = slow_missing (phrases, option.path.tokens, option.path.length - ends);
          option.path.value = plait_hypothesis_score (settings, option.path.log_probability, option.path.length);
          option.is_closer = option.missing < missing;
          if (ends ? missing == 0 : option.missing <= MAX (0, toy->limit - option.path.length - 1))
            g_array_append_val (options, option);
        }
      for (guint k = first; k < options->len; k++)
        if (g_array_index (options, Option, k).path.value > g_array_index (options, Option, best).path.value)
          best = k;
      if (first < options->len)
        g_array_index (options, Option, best).is_best = TRUE;
    }
  g_array_sort (options, compare_options);
}

/* One step of Post & Vilar 2018, section 3. The candidates are the k best of the beam, the best word of each
 * hypothesis, and the words that continue its phrases. Each bank keeps its best candidates. */
static void
twin (const Toy *toy, const PlaitDecodeSettings *settings, const Phrases *phrases, GArray *beam)
{
  g_autoptr (GArray) options = g_array_new (FALSE, FALSE, sizeof (Option));
  guint tokens = (guint)slow_missing (phrases, NULL, 0);

  g_array_set_size (beam, 0);
  g_array_append_val (beam, ((ToyPath){ .length = 0 }));
  for (gint64 step = 0; step < toy->limit; step++)
    {
      guint counts[MAX_TOKENS + 1] = { 0 }, sizes[MAX_TOKENS + 1];

      list_options (toy, settings, phrases, beam, options);
      for (guint i = options->len; i-- > 0;)
        {
          const Option *option = &g_array_index (options, Option, i);

          if (i >= settings->beam && !option->is_best && !option->is_closer)
            g_array_remove_index (options, i);
          else
            counts[tokens - option->missing]++;
        }
      slow_allocate ((guint)settings->beam, tokens + 1, counts, sizes);
      g_array_set_size (beam, 0);
      for (guint i = 0; i < options->len; i++)
        {
          const Option *option = &g_array_index (options, Option, i);

          if (sizes[tokens - option->missing] == 0)
            continue;
          sizes[tokens - option->missing]--;
          g_array_append_val (beam, option->path);
        }
    }
}

TEST_CASE (phrases, share_the_beam_as_post_and_vilar_2018_section_3_says)
{
  g_autoptr (GArray) found = g_array_new (FALSE, FALSE, sizeof (ToyPath)),
                     wanted = g_array_new (FALSE, FALSE, sizeof (ToyPath));
  guint tried = 0;

  for (guint t = 0; t < 300; t++)
    {
      PlaitRandomKey key = plait_random_key (t, "banks", NULL, 0);
      Toy toy = { t, 4, 7, t % 2 == 0 ? 0 : 1.5 };
      Phrases phrases = random_phrases (key, MAX_PHRASES, 4);
      g_autoptr (PlaitPhrases) compiled = compile (&phrases);
      PlaitRequirement requirement = { NULL, 0, compiled };
      PlaitDecodeSettings settings = beam_settings (1 + t % 9);
      CONTEXT ("trial %u, beam %d", t, (int)settings.beam);

      if (plait_requirement_length (&requirement) > toy.limit)
        continue;
      tried++;
      twin (&toy, &settings, &phrases, wanted);
      search (&toy, &settings, &requirement, found);
      CHECK_INT (found->len, wanted->len);
      check_equal (found, wanted, (guint)settings.beam);
      /* A search that stops at the first finished hypothesis must not return one that lacks a phrase. */
      settings.n_best = 1;
      search (&toy, &settings, &requirement, found);
      check_equal (found, wanted, 1);
      for (guint i = 0; i < found->len; i++)
        CHECK (holds_all (&phrases, &g_array_index (found, ToyPath, i)));
    }
  CHECK (tried > 100);
}

/* Every hypothesis contains the phrases, even if the beam has one place and the limit leaves no token to spare. */
TEST_CASE (phrases, are_held_where_the_limit_just_suffices)
{
  g_autoptr (GArray) found = g_array_new (FALSE, FALSE, sizeof (ToyPath));

  for (guint t = 0; t < 200; t++)
    {
      PlaitRandomKey key = plait_random_key (t, "limit", NULL, 0);
      Phrases phrases = random_phrases (key, 2, 4);
      g_autoptr (PlaitPhrases) compiled = compile (&phrases);
      PlaitRequirement requirement = { NULL, 0, compiled };
      Toy toy = { t, 4, plait_requirement_length (&requirement), 3 };
      PlaitDecodeSettings settings = beam_settings (1 + t % 3);
      CONTEXT ("trial %u", t);

      settings.finished = t % 2 == 0 ? PLAIT_DECODE_FINISHED_COMPETE : PLAIT_DECODE_FINISHED_SHRINK;
      settings.at_limit = t % 5 == 0 ? PLAIT_DECODE_AT_LIMIT_END : PLAIT_DECODE_AT_LIMIT_CUT;
      search (&toy, &settings, &requirement, found);
      CHECK (found->len > 0);
      for (guint i = 0; i < found->len; i++)
        CHECK (holds_all (&phrases, &g_array_index (found, ToyPath, i)));
    }
}

/* A prefix is forced even if it repeats an n-gram that translations are not allowed to repeat. */
TEST_CASE (phrases, come_after_a_prefix_that_repeats_an_ngram)
{
  static const gint32 prefix[] = { TOY_FIRST, TOY_FIRST, TOY_FIRST };
  Toy toy = { 1, 3, 6, -1 };
  PlaitDecodeSettings settings = beam_settings (3);
  PlaitRequirement requirement = { prefix, G_N_ELEMENTS (prefix), NULL };
  g_autoptr (GArray) found = g_array_new (FALSE, FALSE, sizeof (ToyPath));

  settings.no_repeat_ngrams = 1;
  search (&toy, &settings, &requirement, found);
  CHECK_INT (found->len, 3);
  for (guint i = 0; i < found->len; i++)
    {
      const ToyPath *path = &g_array_index (found, ToyPath, i);

      CHECK (memcmp (path->tokens, prefix, sizeof prefix) == 0);
      for (gint64 k = 3; k < path->length; k++)
        CHECK (path->tokens[k] != TOY_FIRST);
    }
}
