/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "data-files.h"
#include "tasks/generate.h"
#include "harness.h"

/* One tuple of the task needle: the sentences of a document, and the words of the target. */
typedef struct
{
  GString *lines[2];
  GStrv sentences;
  guint n;       /* number of sentences */
  GStrv answers; /* answers in the target, two words for each */
  guint n_questions;
} Tuple;

static void
tuple_clear (Tuple *tuple)
{
  for (int s = 0; s < 2; s++)
    if (tuple->lines[s])
      g_string_free (tuple->lines[s], TRUE);
  g_strfreev (tuple->sentences);
  g_strfreev (tuple->answers);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Tuple, tuple_clear)

static void
make_tuple (Tuple *tuple, const PlaitTaskSettings *settings, gint64 split, gint64 index)
{
  for (int s = 0; s < 2; s++)
    if (!tuple->lines[s])
      tuple->lines[s] = g_string_new (NULL);
  plait_task_tuple (&plait_task_needle, settings, split, index, tuple->lines);
  g_strfreev (tuple->sentences);
  g_strfreev (tuple->answers);
  tuple->sentences = g_strsplit (tuple->lines[0]->str, "\n", -1);
  tuple->n = g_strv_length (tuple->sentences) - 1; /* the text has a line end after each sentence */
  tuple->answers = g_strsplit (tuple->lines[1]->str, " ", -1);
  tuple->n_questions = g_strv_length (tuple->answers) / 2;
}

static void
set (PlaitTaskSettings *settings, const char *name, gint64 value)
{
  CHECK (plait_task_set (&plait_task_needle, settings, name, value, NO_ERROR));
}

enum
{
  CUES = 3500,
  NAMES = 8,
};

/* Meaning of a sentence: the names in it, and the word of its fact. */
typedef struct
{
  gint64 first;
  gint64 second;
  const char *word; /* word of the fact; NULL if the sentence is a question */
  guint place;      /* index of the sentence's first name, or of the cue word */
} Sentence;

/* Returns a table from the words of the task, except fillers, to their numbers. (transfer full) */
static GHashTable *
make_lexicon (void)
{
  GHashTable *lexicon = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (gint64 number = 0; number < CUES + NAMES * NAMES; number++)
    {
      GString *word = g_string_new (NULL);

      if (number == 3000)
        number = CUES;
      plait_task_append_stem (word, number, 97);
      g_hash_table_insert (lexicon, g_string_free (word, FALSE), GSIZE_TO_POINTER (number));
    }
  return lexicon;
}

static void
read_cue (Sentence *sentence, gint64 number)
{
  CHECK (sentence->first < 0 && sentence->second < 0);
  sentence->first = (number - CUES) / NAMES;
  sentence->second = (number - CUES) % NAMES;
}

/* Returns the meaning of the sentence or answer @words. */
static Sentence
read_sentence (GHashTable *lexicon, char **words)
{
  Sentence sentence = { -1, -1, NULL, 0 };

  for (guint i = 0; words[i]; i++)
    {
      gpointer found;
      gint64 number;

      if (!g_hash_table_lookup_extended (lexicon, words[i], NULL, &found))
        continue;
      number = (gint64)GPOINTER_TO_SIZE (found);
      if (number < 1000 || number >= CUES)
        sentence.place = i;
      if (number >= CUES)
        read_cue (&sentence, number);
      else if (number < 1000)
        sentence.first = number;
      else if (number < 2000)
        sentence.second = number - 1000;
      else
        sentence.word = words[i];
    }
  CHECK (sentence.first >= 0 && sentence.second >= 0);
  return sentence;
}

/* Returns the meaning of the answer at the beginning of @words. */
static Sentence
read_answer (GHashTable *lexicon, char **words)
{
  char *answer[] = { words[0], words[1], NULL };
  Sentence sentence = read_sentence (lexicon, answer);

  CHECK_INT (sentence.place, 0);
  CHECK (sentence.word == words[1]);
  return sentence;
}

/* Each question asks for one fact of the document, and the target answers with the word of that fact. */
TEST_CASE (needle, target_answers_the_questions)
{
  const int n = 2000;
  g_auto (PlaitTaskSettings) settings = plait_task_defaults (&plait_task_needle);
  g_autoptr (GHashTable) lexicon = make_lexicon ();
  g_auto (Tuple) tuple = { 0 };
  guint shortest = G_MAXUINT, longest = 0;
  int places[4] = { 0 };
  double sentences = 0;

  for (gint64 i = 0; i < n; i++)
    {
      g_autoptr (GHashTable) words = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, g_free);
      gint64 asked[6];

      make_tuple (&tuple, &settings, 0, i);
      shortest = MIN (shortest, tuple.n);
      longest = MAX (longest, tuple.n);
      sentences += tuple.n;
      CHECK_INT (g_strv_length (tuple.answers) % 2, 0);
      REQUIRE (tuple.n_questions == MIN (6, tuple.n / 2));
      for (guint s = 0; s < tuple.n; s++)
        {
          g_auto (GStrv) split = g_strsplit (tuple.sentences[s], " ", -1);
          Sentence sentence = read_sentence (lexicon, split);
          gint64 pair = sentence.first * 1000 + sentence.second;

          guint without = s < tuple.n_questions ? 2 : 3;

          CHECK (g_strv_length (split) == without || g_strv_length (split) == without + 1);
          CHECK_INT (g_strv_contains ((const char *const *)split, "ki"), s < tuple.n_questions);
          CHECK_INT (!sentence.word, s < tuple.n_questions);
          CHECK (sentence.first < 8 && sentence.second < 8);
          if (s >= tuple.n_questions && g_strv_length (split) == 4)
            places[sentence.place]++;
          if (s < tuple.n_questions)
            asked[s] = pair;
          else
            CHECK (g_hash_table_insert (words, g_memdup2 (&pair, sizeof pair), g_strdup (sentence.word)));
        }
      for (guint q = 0; q < tuple.n_questions; q++)
        {
          Sentence answer = read_answer (lexicon, tuple.answers + 2 * q);
          CHECK_INT (answer.first * 1000 + answer.second, asked[q]);
          CHECK_STRING (answer.word, g_hash_table_lookup (words, &asked[q]));
        }
    }
  CHECK_INT (shortest, 5);
  CHECK_INT (longest, 60);
  /* The length is the smaller of two draws. This is its mean. */
  CHECK_NEAR (sentences / n, 5 + 55 * 111 / 336., 4 * 56 / sqrt (18. * n));
  for (int place = 1; place < 4; place++)
    CHECK_NEAR (places[place], places[0], 6 * sqrt (places[0]));
}

/* Returns the fraction of right answers if a fact is looked up by only one of its two names. If several facts have this
 * name, one of them is drawn. */
static double
right_by_one_name (const PlaitTaskSettings *settings, gboolean by_second, gint64 tuples)
{
  g_autoptr (GHashTable) lexicon = make_lexicon ();
  g_auto (Tuple) tuple = { 0 };
  double right = 0, n = 0;

  for (gint64 i = 0; i < tuples; i++)
    {
      make_tuple (&tuple, settings, 0, i);
      for (guint q = 0; q < tuple.n_questions; q++)
        {
          g_auto (GStrv) question = g_strsplit (tuple.sentences[q], " ", -1);
          Sentence asked = read_sentence (lexicon, question);
          int same = 0, correct = 0;

          for (guint s = tuple.n_questions; s < tuple.n; s++)
            {
              g_auto (GStrv) words = g_strsplit (tuple.sentences[s], " ", -1);
              Sentence fact = read_sentence (lexicon, words);

              if (by_second ? fact.second != asked.second : fact.first != asked.first)
                continue;
              same++;
              correct += g_str_equal (fact.word, tuple.answers[2 * q + 1]);
            }
          CHECK (same > 0);
          right += (double)correct / same;
          n++;
        }
    }
  return right / n;
}

TEST_CASE (needle, takes_both_names)
{
  const struct
  {
    gint64 sentences;
    double facts_of_a_name; /* expected number of facts with a given name, for n facts over side x side pairs of names:
                               (n - 1) (side - 1) / (side^2 - 1) + 1 */
  } cases[] = { { 22, 15. * 3 / 15 + 1 }, { 60, 53. * 7 / 63 + 1 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (int by_second = 0; by_second < 2; by_second++)
      {
        CONTEXT ("%d sentences, by name %d", (int)cases[i].sentences, by_second);
        g_auto (PlaitTaskSettings) settings = plait_task_defaults (&plait_task_needle);
        set (&settings, "words", 1000); /* many words, so that few answers are right by chance */
        set (&settings, "shortest", cases[i].sentences);
        set (&settings, "longest", cases[i].sentences);
        CHECK_NEAR (right_by_one_name (&settings, by_second, 300), 1 / cases[i].facts_of_a_name, .01);
      }
}

TEST_CASE (needle, keys_say_how_many)
{
  g_auto (PlaitTaskSettings) settings = plait_task_defaults (&plait_task_needle);
  g_auto (Tuple) tuple = { 0 };

  set (&settings, "fillers", 0);
  set (&settings, "questions", 7);
  set (&settings, "shortest", 40);
  set (&settings, "longest", 2); /* below shortest, so all documents have forty sentences */
  make_tuple (&tuple, &settings, 0, 0);
  CHECK_INT (tuple.n, 40);
  CHECK_INT (tuple.n_questions, 7);
  for (guint s = 0; s < tuple.n; s++)
    {
      g_auto (GStrv) words = g_strsplit (tuple.sentences[s], " ", -1);
      CHECK_INT (g_strv_length (words), s < tuple.n_questions ? 2 : 3);
    }
  set (&settings, "names", 2);
  make_tuple (&tuple, &settings, 0, 0);
  CHECK_INT (tuple.n, 8); /* four facts, each with a question */
  CHECK_INT (tuple.n_questions, 4);
  set (&settings, "shortest", 2);
  make_tuple (&tuple, &settings, 0, 0);
  CHECK_INT (tuple.n, 2);
  CHECK_INT (tuple.n_questions, 1);
}

TEST_CASE (needle, repeats_itself_by_seed)
{
  g_auto (PlaitTaskSettings) settings = plait_task_defaults (&plait_task_needle);
  g_auto (Tuple) first = { 0 }, again = { 0 }, other = { 0 }, test = { 0 };

  for (gint64 i = 0; i < 100; i++)
    {
      settings.seed = 1;
      make_tuple (&first, &settings, 0, i);
      make_tuple (&again, &settings, 0, i);
      make_tuple (&test, &settings, 2, i);
      settings.seed = 2;
      make_tuple (&other, &settings, 0, i);
      CHECK_STRING (again.lines[0]->str, first.lines[0]->str);
      CHECK_STRING (again.lines[1]->str, first.lines[1]->str);
      CHECK (strcmp (first.lines[0]->str, other.lines[0]->str) != 0);
      CHECK (strcmp (first.lines[0]->str, test.lines[0]->str) != 0);
    }
}

/* Files that the task writes are read back with one document for each target line. */
TEST_CASE (needle, is_read_as_documents)
{
  g_auto (PlaitTaskSettings) settings = plait_task_defaults (&plait_task_needle);
  const char *folder = plait_test_path ("needle");
  g_autofree char *a = g_build_filename (folder, "train.a", NULL);
  g_autofree char *target_path = g_build_filename (folder, "train.target", NULL);
  const char *const paths[] = { a, target_path, NULL };
  PlaitVocabularySettings words = PLAIT_VOCABULARY_DEFAULTS;
  g_autoptr (GError) error = NULL;
  g_auto (Tuple) tuple = { 0 };

  set (&settings, "train", 20);
  CHECK (plait_task_write (&plait_task_needle, &settings, folder, NO_ERROR));
  words.type = "words";
  g_autoptr (PlaitVocabulary) vocabulary = plait_vocabulary_train (&words, paths, NO_ERROR);
  PlaitCorpusStream source = data_tokens ("a", a, vocabulary);
  PlaitCorpusStream target = data_tokens ("target", target_path, vocabulary);
  PlaitCorpusSettings corpus_settings
      = { .split = "train", .sources = &source, .n_sources = 1, .target = &target, .empty_is_error = TRUE };
  source.documents.layout = PLAIT_LAYOUT_DOCUMENTS;
  g_autoptr (PlaitCorpus) corpus = plait_corpus_open (&corpus_settings, NULL, NO_ERROR);
  REQUIRE (corpus != NULL);
  CHECK_INT (plait_corpus_size (corpus), 20);

  g_auto (GStrv) lines = plait_corpus_text (corpus, 1, &error);
  make_tuple (&tuple, &settings, 0, 7);
  CHECK_STRING (lines[7], tuple.lines[1]->str);
}
