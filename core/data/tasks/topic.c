/* SPDX-License-Identifier: MIT */
/*
 * The task "topic": a sentence, and its topic as a class. Every topic has words of its own. A sentence has @cues words
 * of its topic, @distractors words (fewer than cues) of other topics, and otherwise words common to all topics, in
 * random order:
 *
 *     text:     dabo tero vila nila tero pisa
 *     topic:    kalo
 *
 * So with distractors no single word determines the class; the topic with the most words does.
 */
#include "tasks/generate.h"

enum
{
  TOPICS,
  WORDS,
  CUES,
  DISTRACTORS,
  OWN,
  COMMON,
  N_PARAMETERS,
};

static const PlaitTaskParameter parameters[N_PARAMETERS] = {
  [TOPICS] = { "topics", 6, 2, 60, "Number of topics" },
  [WORDS] = { "words", 12, 1, 10000, "Words of a sentence; at least its cues and distractors" },
  [CUES] = { "cues", 3, 1, 1000, "Cues of a sentence: words of its topic" },
  [DISTRACTORS]
  = { "distractors", 2, 0, 1000, "Distractors of a sentence: words of other topics; fewer than its cues" },
  [OWN] = { "own", 8, 1, 40, "Words that belong to one topic only, for each topic" },
  [COMMON] = { "common", 40, 1, 2000, "Words that are common to all topics" },
};

enum
{
  TEXT,
  TOPIC,
};

enum
{
  DRAW_TOPIC,
  DRAW_OTHER,
  DRAW_WORD,
  DRAW_PLACE,
};

static gint64
draw (PlaitRandomKey key, guint64 what, gint64 number, gint64 n)
{
  return plait_task_draw (plait_random_subkey (key, what), number, n);
}

static void
generate (const gint64 *values, PlaitRandomKey key, GString *const *lines)
{
  gint64 topic = draw (key, DRAW_TOPIC, 0, values[TOPICS]);
  gint64 cues = values[CUES], distractors = MIN (values[DISTRACTORS], cues - 1);
  gint64 n = MAX (values[WORDS], cues + distractors);
  g_autofree gint64 *words = g_new (gint64, n);

  for (gint64 i = 0; i < n; i++)
    {
      gint64 other = (topic + 1 + draw (key, DRAW_OTHER, i, values[TOPICS] - 1)) % values[TOPICS];
      gint64 of = i < cues ? topic : other;

      words[i] = i < cues + distractors ? values[COMMON] + of * values[OWN] + draw (key, DRAW_WORD, i, values[OWN])
                                        : draw (key, DRAW_WORD, i, values[COMMON]);
    }
  for (gint64 i = n - 1; i >= 0; i--)
    {
      gint64 place = draw (key, DRAW_PLACE, i, i + 1), word = words[place];

      words[place] = words[i];
      plait_task_append_stem (lines[TEXT], word, 97);
    }
  plait_task_append_stem (lines[TOPIC], topic, 1003);
}

const PlaitTask plait_task_topic = {
  .name = "topic",
  .summary = "A sentence whose topic is to be predicted as a class",
  .streams = (const char *const[]){ "text", "topic", NULL },
  .parameters = parameters,
  .n_parameters = N_PARAMETERS,
  .generate = generate,
};
