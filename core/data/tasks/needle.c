/* SPDX-License-Identifier: MIT */
/*
 * The task "needle": documents of many facts; the first sentences ask for some of them by cues.
 *
 * A fact has a pair of names, one of the first kind and one of the second, and a word. The sentence of a fact has these
 * three words and meaningless fillers, in random order. The facts of a document have different pairs, so pairs limit
 * the number of facts. But many facts share a name: a document uses the fewest names that make enough pairs. Each pair
 * has a cue, the same in all documents. The sentence of a question has the word "ki", the cue of a fact and fillers, in
 * random order. All questions come before the facts; the facts that they ask for are drawn at random. For each question
 * in turn, the target has the cue and the fact's word:
 *
 *     a:        ki pafo               pafo: dabo and vufa
 *               zuta ki sopi          zuta: nela and vufa
 *               dabo mure zime        dabo and zime: mure
 *               vufa rino nela        nela and vufa: rino
 *               vufa kobe sopi dabo   dabo and vufa: kobe
 *     target:   pafo kobe zuta rino
 *
 * The number of sentences is the smaller of two uniform draws from shortest to longest, because models learn the search
 * from short documents. If there are not enough pairs, the document has fewer sentences. At most half of the sentences
 * are questions. Names, words and fillers are drawn uniformly.
 *
 * No single word identifies a fact: n facts use the pairs of about sqrt (n) names of each kind, so about sqrt (n) facts
 * share a name. A model that searches by one name finds the right fact once in about sqrt (n) times; a random choice
 * finds it once in n times. In the longest default documents, sqrt (n) is about 7. One sentence has both names and the
 * word, so one state per sentence can hold all that an answer needs.
 */
#include "tasks/generate.h"

enum
{
  NAMES,
  WORDS,
  FILLERS,
  QUESTIONS,
  SHORTEST,
  LONGEST,
  N_PARAMETERS,
};

static const PlaitTaskParameter parameters[N_PARAMETERS] = {
  [NAMES] = { "names", 8, 1, 30, "Names of each kind; their pairs name the facts and limit the number of facts" },
  [WORDS] = { "words", 20, 1, 1000, "Different words that facts can have" },
  [FILLERS] = { "fillers", 1, 0, 100, "Maximum number of meaningless words in a sentence" },
  [QUESTIONS] = { "questions", 6, 1, 1000, "Questions of a document; at most half of its sentences" },
  [SHORTEST] = { "shortest", 5, 2, 4000, "Sentences of the shortest documents" },
  [LONGEST] = { "longest", 60, 2, 4000, "Sentences of the longest documents; at least those of the shortest" },
};

enum
{
  A,
  TARGET,
};

/* The lowest number of each class of words, for plait_task_append_stem. There are N_FILLER_WORDS
 * different fillers. QUESTION stands for the word "ki". */
enum
{
  FIRST_NAMES = 0,
  SECOND_NAMES = 1000,
  FACT_WORDS = 2000,
  FILLER_WORDS = 3000,
  N_FILLER_WORDS = 20,
  CUES = 3500,
  QUESTION = -1,
};

typedef struct
{
  gint64 first;
  gint64 second;
  gint64 word;
} Fact;

/* Draws @n numbers of @values [@of] without replacement, and moves them to the front in random order. */
static void
draw_first (gint64 *values, gint64 n, gint64 of, PlaitRandomKey key)
{
  for (gint64 i = 0; i < n; i++)
    {
      gint64 other = i + plait_task_draw (key, i, of - i), value = values[other];

      values[other] = values[i];
      values[i] = value;
    }
}

/* Returns @n distinct numbers from 0 to @of - 1 in random order, at the front of an array [of]. (transfer full) */
static gint64 *
draw_distinct (gint64 n, gint64 of, PlaitRandomKey key)
{
  gint64 *values = g_new (gint64, of);

  for (gint64 i = 0; i < of; i++)
    values[i] = i;
  draw_first (values, n, of, key);
  return values;
}

/* Draws @n facts of one document. (transfer full) */
static Fact *
draw_facts (const gint64 *values, gint64 n, PlaitRandomKey key)
{
  PlaitRandomKey words = plait_random_subkey (key, 3);
  g_autofree gint64 *first = NULL, *second = NULL, *pairs = NULL;
  Fact *facts = g_new (Fact, n);
  gint64 side = 1;

  while (side * side < n)
    side++;
  first = draw_distinct (side, values[NAMES], plait_random_subkey (key, 0));
  second = draw_distinct (side, values[NAMES], plait_random_subkey (key, 1));
  pairs = draw_distinct (n, side * side, plait_random_subkey (key, 2));
  for (gint64 i = 0; i < n; i++)
    {
      facts[i].first = first[pairs[i] / side];
      facts[i].second = second[pairs[i] % side];
      facts[i].word = plait_task_draw (words, i, values[WORDS]);
    }
  return facts;
}

static gint64
cue_of (const gint64 *values, const Fact *fact)
{
  return CUES + fact->first * values[NAMES] + fact->second;
}

static void
write_sentence (GString *line, const gint64 *values, const Fact *fact, gboolean asks, PlaitRandomKey key)
{
  PlaitRandomKey fillers = plait_random_subkey (key, 1);
  gint64 n = 0, n_fillers = plait_task_draw (plait_random_subkey (key, 0), 0, values[FILLERS] + 1);
  gint64 words[103];

  if (asks)
    {
      words[n++] = QUESTION;
      words[n++] = cue_of (values, fact);
    }
  else
    {
      words[n++] = FIRST_NAMES + fact->first;
      words[n++] = SECOND_NAMES + fact->second;
      words[n++] = FACT_WORDS + fact->word;
    }
  for (gint64 i = 0; i < n_fillers; i++)
    words[n++] = FILLER_WORDS + plait_task_draw (fillers, i, N_FILLER_WORDS);
  draw_first (words, n, n, plait_random_subkey (key, 2));
  for (gint64 i = 0; i < n; i++)
    if (words[i] == QUESTION)
      plait_task_append (line, "ki");
    else
      plait_task_append_stem (line, words[i], 97);
  g_string_append_c (line, '\n');
}

static void
answer (GString *line, const gint64 *values, const Fact *fact)
{
  plait_task_append_stem (line, cue_of (values, fact), 97);
  plait_task_append_stem (line, FACT_WORDS + fact->word, 97);
}

static void
generate (const gint64 *values, PlaitRandomKey key, GString *const *lines)
{
  PlaitRandomKey length = plait_random_subkey (key, 0);
  gint64 n = MIN (plait_task_draw_length (values[SHORTEST], values[LONGEST], length, 0),
                  plait_task_draw_length (values[SHORTEST], values[LONGEST], length, 1));
  gint64 n_questions = MIN (values[QUESTIONS], n / 2);
  gint64 n_facts = MIN (n - n_questions, values[NAMES] * values[NAMES]);
  PlaitRandomKey sentences = plait_random_subkey (key, 3);
  g_autofree Fact *facts = draw_facts (values, n_facts, plait_random_subkey (key, 1));
  g_autofree gint64 *asked = NULL;

  n_questions = MIN (n_questions, n_facts);
  asked = draw_distinct (n_questions, n_facts, plait_random_subkey (key, 2));
  for (gint64 i = 0; i < n_questions; i++)
    {
      write_sentence (lines[A], values, &facts[asked[i]], TRUE, plait_random_subkey (sentences, (guint64)i));
      answer (lines[TARGET], values, &facts[asked[i]]);
    }
  for (gint64 i = 0; i < n_facts; i++)
    write_sentence (lines[A], values, &facts[i], FALSE, plait_random_subkey (sentences, (guint64)(n_questions + i)));
}

const PlaitTask plait_task_needle = {
  .name = "needle",
  .summary = "Documents of facts, each named by a pair of words; the target answers questions about some of them",
  .streams = (const char *const[]){ "a", "target", NULL },
  .documents = "a",
  .parameters = parameters,
  .n_parameters = N_PARAMETERS,
  .generate = generate,
};
