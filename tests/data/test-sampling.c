/* SPDX-License-Identifier: MIT */
#include "vocabulary/sampling.h"

#include <math.h>
#include <string.h>

#include "data-files.h"
#include "files.h"
#include "harness.h"
#include "sampling-reference.h"
#include "text/error.h"
#include "types/input.h"

/* Tests of random segmentations: their probabilities equal exact ones, and SentencePiece's own samples. */

#define DRAWS 20000

static PlaitVocabulary *
train (const char *type, gint64 size)
{
  const char *const paths[]
      = { plait_test_write ("sampled", "low low low lower lower newest newest newest widest widest\n"
                                       "lowest slow slower new news we owe sew stew west\n"
                                       "low newest lower wide wide widen\n"),
          NULL };
  PlaitVocabularySettings settings = PLAIT_VOCABULARY_DEFAULTS;

  settings.type = type;
  settings.size = size;
  return plait_vocabulary_train (&settings, paths, NO_ERROR);
}

/* Returns an empty table from a segmentation, "id id ...", to its count or probability. */
static GHashTable *
table_new (void)
{
  return g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
}

static void
add (gpointer table, const gint32 *ids, gsize n, double value)
{
  GString *key = g_string_new (NULL);
  double *sum;

  for (gsize i = 0; i < n; i++)
    g_string_append_printf (key, "%d ", ids[i]);
  sum = g_hash_table_lookup (table, key->str);
  if (sum)
    *sum += value;
  else
    g_hash_table_insert (table, g_strdup (key->str), g_memdup2 (&value, sizeof value));
  g_string_free (key, TRUE);
}

static void
count (gpointer table, const gint32 *ids, gsize n)
{
  add (table, ids, n, 1);
}

/* Returns how often plait draws each segmentation of @text. (transfer full) */
static GHashTable *
draw (const PlaitVocabulary *vocabulary, const char *text, double strength)
{
  g_autoptr (PlaitSubwordSampler) sampler = plait_subword_sampler_new (vocabulary, NO_ERROR);
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint32));
  g_autoptr (GArray) sampled = g_array_new (FALSE, FALSE, sizeof (gint32));
  PlaitRandomKey key = plait_random_key (1, "subwords", NULL, 0);
  GHashTable *table = table_new ();

  plait_vocabulary_encode (vocabulary, text, strlen (text), ids);
  for (gint64 i = 0; i < DRAWS; i++)
    {
      g_array_set_size (sampled, 0);
      plait_subword_sample (sampler, strength, plait_random_subkey (key, (guint64)i),
                            (const gint32 *)(gpointer)ids->data, ids->len, sampled);
      count (table, (const gint32 *)(gpointer)sampled->data, sampled->len);
    }
  return table;
}

static double
value_in (GHashTable *table, const char *key)
{
  const double *value = g_hash_table_lookup (table, key);

  return value ? *value : 0;
}

/* Checks that the counts @drawn agree with @expected: probabilities if @reference is 0, else counts of @reference
 * draws. */
static void
check_distribution (GHashTable *drawn, GHashTable *expected, gint64 reference)
{
  GHashTableIter iterator;
  gpointer key;
  double total = 0;

  for (guint side = 0; side < 2; side++)
    {
      g_hash_table_iter_init (&iterator, side == 0 ? expected : drawn);
      while (g_hash_table_iter_next (&iterator, &key, NULL))
        {
          double p = value_in (expected, key) / (double)MAX (reference, 1), found = value_in (drawn, key) / DRAWS;
          double mean = reference > 0 ? (p + found) / 2 : p;
          double deviation = sqrt (mean * (1 - mean) * (1. / DRAWS + (reference > 0 ? 1. / (double)reference : 0)));
          CONTEXT ("%s: %g, expected %g", (const char *)key, found, p);

          CHECK (fabs (found - p) <= 4.5 * deviation + 1e-4);
          total += side == 0 ? p : 0;
        }
    }
  CHECK_NEAR (total, 1, 1e-9);
}

/* Returns the id of the piece @text [length], found by comparing every piece; -1 if there is none. */
static gint32
find (const PlaitVocabulary *vocabulary, const char *text, gsize length)
{
  for (gint32 id = PLAIT_TOKEN_SPECIALS; id < plait_vocabulary_size (vocabulary); id++)
    {
      const char *piece = plait_vocabulary_piece (vocabulary, id);

      if (strlen (piece) == length && memcmp (piece, text, length) == 0)
        return id;
    }
  return -1;
}

/* Adds each segmentation of @rest, preceded by @ids, with its weight exp (strength * sum of scores). Returns the sum of
 * the weights. */
static double
enumerate_unigram (const PlaitVocabulary *vocabulary, const char *rest, double strength, double logarithm, GArray *ids,
                   GHashTable *table)
{
  double sum = 0;

  if (*rest == '\0')
    {
      add (table, (const gint32 *)(gpointer)ids->data, ids->len, exp (logarithm));
      return exp (logarithm);
    }
  for (gsize length = 1; length <= strlen (rest); length++)
    {
      gint32 id = find (vocabulary, rest, length);

      if (id < 0)
        continue;
      g_array_append_val (ids, id);
      sum += enumerate_unigram (vocabulary, rest + length, strength,
                                logarithm + strength * plait_vocabulary_score (vocabulary, id), ids, table);
      g_array_set_size (ids, ids->len - 1);
    }
  return sum;
}

#define MAX_SYMBOLS 16

/* Symbols of a word while merges are drawn: the bounds of each symbol in the text, and the merges not drawn yet, by the
 * places where they begin and end. */
typedef struct
{
  gsize bounds[MAX_SYMBOLS + 1];
  guint n;
  gsize merges[64][2];
  guint n_merges;
} State;

static void
offer (const PlaitVocabulary *vocabulary, const char *text, State *state, guint symbol)
{
  gsize start, end;

  if (symbol + 1 >= state->n)
    return;
  start = state->bounds[symbol];
  end = state->bounds[symbol + 2];
  if (find (vocabulary, text + start, end - start) < 0)
    return;
  state->merges[state->n_merges][0] = start;
  state->merges[state->n_merges++][1] = end;
}

/* Returns the symbol that begins at @start, if the next symbol ends at @end; else -1. */
static gint
symbol_at (const State *state, gsize start, gsize end)
{
  for (guint i = 0; i + 1 < state->n; i++)
    if (state->bounds[i] == start && state->bounds[i + 2] == end)
      return (gint)i;
  return -1;
}

/* Adds each segmentation that can follow from @state, with its probability. */
static void
enumerate_bpe (const PlaitVocabulary *vocabulary, const char *text, double dropout, State state, double probability,
               GHashTable *table)
{
  guint best = 0;
  gint symbol;
  gint32 ids[MAX_SYMBOLS];
  State merged;

  if (state.n_merges == 0)
    {
      for (guint i = 0; i < state.n; i++)
        ids[i] = find (vocabulary, text + state.bounds[i], state.bounds[i + 1] - state.bounds[i]);
      add (table, ids, state.n, probability);
      return;
    }
  for (guint i = 1; i < state.n_merges; i++)
    {
      const gsize *a = state.merges[i], *b = state.merges[best];
      double score = plait_vocabulary_score (vocabulary, find (vocabulary, text + a[0], a[1] - a[0]));
      double other = plait_vocabulary_score (vocabulary, find (vocabulary, text + b[0], b[1] - b[0]));

      if (score > other || (score == other && a[0] < b[0]))
        best = i;
    }
  symbol = symbol_at (&state, state.merges[best][0], state.merges[best][1]);
  memmove (state.merges[best], state.merges[--state.n_merges], sizeof *state.merges);
  if (symbol < 0)
    {
      enumerate_bpe (vocabulary, text, dropout, state, probability, table);
      return;
    }
  enumerate_bpe (vocabulary, text, dropout, state, probability * dropout, table);
  merged = state;
  memmove (merged.bounds + symbol + 1, merged.bounds + symbol + 2,
           (merged.n - (guint)symbol - 1) * sizeof *merged.bounds);
  merged.n--;
  if (symbol > 0)
    offer (vocabulary, text, &merged, (guint)symbol - 1);
  offer (vocabulary, text, &merged, (guint)symbol);
  enumerate_bpe (vocabulary, text, dropout, merged, probability * (1 - dropout), table);
}

/* Returns the probabilities of all segmentations of the word @word by BPE dropout. (transfer full) */
static GHashTable *
bpe_probabilities (const PlaitVocabulary *vocabulary, const char *word, double dropout)
{
  g_autofree char *text = g_strconcat ("\xe2\x96\x81", word, NULL);
  GHashTable *table = table_new ();
  State state = { .n = (guint)strlen (word) + 1 };

  for (guint i = 1; i <= state.n; i++)
    state.bounds[i] = i + 2;
  for (guint i = 0; i + 1 < state.n; i++)
    offer (vocabulary, text, &state, i);
  enumerate_bpe (vocabulary, text, dropout, state, 1, table);
  return table;
}

TEST_CASE (sampling, of_bpe_leaves_out_merges)
{
  static const double rates[] = { 0.1, 0.5, 0.9 };
  g_autoptr (PlaitVocabulary) vocabulary = train ("bpe", 40);

  for (guint i = 0; i < G_N_ELEMENTS (rates); i++)
    {
      g_autoptr (GHashTable) exact = bpe_probabilities (vocabulary, "newest", rates[i]);
      g_autoptr (GHashTable) reference = table_new ();
      g_autoptr (GHashTable) drawn = draw (vocabulary, "newest", rates[i]);
      CONTEXT ("rate %g", rates[i]);

      CHECK (g_hash_table_size (exact) > 5);
      check_distribution (drawn, exact, 0);
      CHECK (sampling_reference (plait_vocabulary_serialize (vocabulary), "newest", rates[i], DRAWS, count, reference));
      check_distribution (drawn, reference, DRAWS);
    }
}

TEST_CASE (sampling, of_unigram_follows_the_probabilities)
{
  static const double exponents[] = { 0.1, 0.5, 1 };
  g_autoptr (PlaitVocabulary) vocabulary = train ("unigram", 28);

  for (guint i = 0; i < G_N_ELEMENTS (exponents); i++)
    {
      g_autoptr (GHashTable) exact = table_new ();
      g_autoptr (GHashTable) reference = table_new ();
      g_autoptr (GHashTable) drawn = draw (vocabulary, "lowest news", exponents[i]);
      g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint32));
      double sum = enumerate_unigram (vocabulary, "\xe2\x96\x81lowest\xe2\x96\x81news", exponents[i], 0, ids, exact);
      GHashTableIter iterator;
      gpointer value;
      CONTEXT ("exponent %g", exponents[i]);

      g_hash_table_iter_init (&iterator, exact);
      while (g_hash_table_iter_next (&iterator, NULL, &value))
        *(double *)value /= sum;
      CHECK (g_hash_table_size (exact) > 5);
      check_distribution (drawn, exact, 0);
      CHECK (sampling_reference (plait_vocabulary_serialize (vocabulary), "lowest news", exponents[i], DRAWS, count,
                                 reference));
      check_distribution (drawn, reference, DRAWS);
    }
}

/* Every segmentation decodes to the original text, even with characters that the vocabulary lacks. */
TEST_CASE (sampling, keeps_the_text)
{
  static const char *const texts[]
      = { "low  newest ", "", "\xc5\xbe", "we \xc5\xbe\xc5\xbeowe\xe6\x9d\xb1low news", "news" };
  static const char *const types[] = { "bpe", "unigram" };

  for (guint t = 0; t < G_N_ELEMENTS (types); t++)
    {
      g_autoptr (PlaitVocabulary) vocabulary = train (types[t], 28);
      g_autoptr (PlaitSubwordSampler) sampler = plait_subword_sampler_new (vocabulary, NO_ERROR);

      for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
        {
          g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint32));
          g_autofree char *usual = NULL;

          plait_vocabulary_encode (vocabulary, texts[i], strlen (texts[i]), ids);
          usual = plait_vocabulary_decode (vocabulary, (const gint32 *)(gpointer)ids->data, ids->len);
          for (guint64 k = 0; k < 100; k++)
            {
              g_autoptr (GArray) sampled = g_array_new (FALSE, FALSE, sizeof (gint32));
              g_autofree char *text = NULL;

              plait_subword_sample (sampler, 0.4, plait_random_key (k, "subwords", NULL, 0),
                                    (const gint32 *)(gpointer)ids->data, ids->len, sampled);
              text = plait_vocabulary_decode (vocabulary, (const gint32 *)(gpointer)sampled->data, sampled->len);
              CHECK_STRING (text, usual);
            }
        }
    }
}

TEST_CASE (sampling, needs_pieces)
{
  g_autoptr (PlaitVocabulary) words = data_words ("a b\n");
  g_autoptr (GError) error = NULL;

  CHECK (!plait_subword_sampler_new (words, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "a vocabulary of the kind words has only one segmentation of each text");
}

/* Returns the sources of all tuples of @corpus in @epoch as text. Sets *@longest to the length of the longest. */
static char *
show_epoch (const PlaitCorpus *corpus, gint64 epoch, gint64 *longest)
{
  GString *text = g_string_new (NULL);

  for (gint64 tuple = 0; tuple < plait_corpus_size (corpus); tuple++)
    {
      g_autoptr (PlaitBatch) batch = plait_corpus_batch_in (corpus, epoch, &tuple, 1, NO_ERROR);

      *longest = MAX (*longest, batch->inputs[0].rows.offsets[1]);
      for (gint64 i = 0; i < batch->inputs[0].rows.offsets[1]; i++)
        g_string_append_printf (text, "%d ", batch->inputs[0].tokens[i]);
      g_string_append (text, "| ");
    }
  return g_string_free (text, FALSE);
}

TEST_CASE (sampling, of_a_corpus_is_drawn_by_seed_epoch_and_line)
{
  const char *path = plait_test_write ("lines", "newest lower\nwidest low\n\nlowest news\nnewest lower\n");
  g_autoptr (PlaitVocabulary) vocabulary = train ("bpe", 40);
  PlaitCorpusStream source = data_tokens ("in", path, vocabulary);
  const PlaitCorpusSettings settings = { .split = "train", .sources = &source, .n_sources = 1 };
  const gint64 most[] = { 100 }, few[] = { 7 };
  gboolean dropped[] = { TRUE, FALSE, FALSE, FALSE, FALSE };
  gint64 longest = 0, limited = 0;

  source.append_end = TRUE;
  g_autoptr (PlaitCorpus) corpus = plait_corpus_open (&settings, NULL, NO_ERROR);
  g_autoptr (PlaitCorpus) other = plait_corpus_open (&settings, NULL, NO_ERROR);
  g_autofree char *usual = show_epoch (corpus, 0, &longest);
  REQUIRE (plait_corpus_sample_subwords (corpus, 0.5, 3, most, NO_ERROR));
  REQUIRE (plait_corpus_sample_subwords (other, 0.5, 3, few, NO_ERROR));
  longest = 0;
  g_autofree char *first = show_epoch (corpus, 0, &longest);
  g_autofree char *second = show_epoch (corpus, 1, &longest);
  g_autofree char *again = show_epoch (corpus, 0, &longest);
  CHECK (strcmp (first, usual) != 0 && strcmp (first, second) != 0);
  CHECK_STRING (again, first);
  CHECK (longest > 7);

  for (gint64 epoch = 0; epoch < 20; epoch++)
    g_free (show_epoch (other, epoch, &limited));
  CHECK (limited <= 7);

  /* Equal lines get different segmentations. Dropping a line does not change the other segmentations. */
  g_auto (GStrv) lines = g_strsplit (first, "| ", -1);
  CHECK (strcmp (lines[0], lines[4]) != 0);
  plait_corpus_drop (corpus, dropped);
  g_autofree char *rest = show_epoch (corpus, 0, &longest);
  CHECK_STRING (rest, first + strlen (lines[0]) + 2);
}
