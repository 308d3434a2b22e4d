/* SPDX-License-Identifier: MIT */
/*
 * The task "agreement": three small source languages each describe a part of one event. The target is a fourth language
 * whose words agree with all parts.
 *
 * An event is drawn from independent, uniform facts:
 *
 *     subject, object     noun, number (singular, plural), gender (2), definiteness (2), and, in half of them, an
 *                         adjective; a quarter of the events have no object
 *     verb                verb, tense (3), polarity (2), and, in half of them, an adverb
 *     topic               whether the object comes first (never without an object)
 *
 * Source a has the nouns with their number, the verb and the topic; the particle "o" follows an object:
 *
 *     a:       noun+number verb [noun+number o]        or, object first:   noun+number o verb noun+number
 *
 * Source b has gender, definiteness and adjective of subject and object. A prefix names the role: subject or object.
 * The order of the two is random and means nothing:
 *
 *     b:       role+gender+definiteness [adjective]    role+gender+definiteness [adjective]
 *
 * Source c has the tense, the polarity and the adverb:
 *
 *     c:       polarity tense [adverb]
 *
 * Target: articles agree in case, gender, number and definiteness, adjectives and nouns in number, the verb in tense
 * and in the gender of its subject. The topic decides the order of the phrases:
 *
 *     target:  [adverb] NP [ne] verb+tense+gender [NP]
 *     NP:      article(case, gender, number, definiteness) [adjective+number] noun+number
 *
 * So every article needs a's number and b's gender and definiteness; the verb needs a's verb, b's gender and c's tense.
 * The target is a function of the three sources together. A model that reads only one or two sources gets at most the
 * following share of targets wholly right. The share is the probability of the likeliest target:
 *
 *     a  1/4 1/2 (1/4 + 3/4 1/8) 1/3 1/2 1/2   = 0.36 %      a and b   1/3 1/2 1/2              = 8.3 %
 *     b  1/nouns 1/2 ..                        < 0.1 %       a and c   1/8 (1/4 + 3/4 1/8)      = 4.3 %
 *     c  1/nouns 1/2 ..                        < 0.1 %       b and c   1/nouns 1/2 1/verbs ..   < 0.1 %
 *
 * The shares of b, c, and b with c hold for the default lexicon. The sum in parentheses averages over events without
 * and with an object. With all three sources the bound is 100 %.
 */
#include "tasks/generate.h"

enum
{
  NOUNS,
  VERBS,
  ADJECTIVES,
  ADVERBS,
  N_PARAMETERS,
};

static const PlaitTaskParameter parameters[N_PARAMETERS] = {
  [NOUNS] = { "nouns", 24, 1, 400, "Nouns in the lexicon" },
  [VERBS] = { "verbs", 12, 1, 400, "Verbs in the lexicon" },
  [ADJECTIVES] = { "adjectives", 8, 1, 400, "Adjectives in the lexicon" },
  [ADVERBS] = { "adverbs", 4, 1, 400, "Adverbs in the lexicon" },
};

enum
{
  A,
  B,
  C,
  TARGET,
};

typedef struct
{
  gint64 noun;
  gint64 adjective; /* number of the adjective; -1: no adjective */
  gboolean plural;
  gint64 gender;
  gboolean definite;
} Participant;

typedef struct
{
  Participant participants[2]; /* [0]: subject, [1]: object */
  gboolean has_object;
  gboolean object_first;
  gint64 verb;
  gint64 tense;
  gboolean negative;
  gint64 adverb; /* number of the adverb; -1: no adverb */
} Event;

/* Appends the stem of word @number of lexical class @class in @language. */
static void
append_stem (GString *line, int language, int class, gint64 number)
{
  static const gint64 multipliers[] = { 97, 143, 181, 239 };
  plait_task_append_stem (line, class * 1000 + number, multipliers[language]);
}

static Participant
draw_participant (const gint64 *values, PlaitRandomKey key)
{
  gint64 i = 0;
  Participant participant;
  participant.noun = plait_task_draw (key, i++, values[NOUNS]);
  participant.plural = plait_task_draw (key, i++, 2) == 1;
  participant.gender = plait_task_draw (key, i++, 2);
  participant.definite = plait_task_draw (key, i++, 2) == 1;
  participant.adjective = plait_task_draw (key, i++, values[ADJECTIVES]);
  if (plait_task_draw (key, i++, 2) == 0)
    participant.adjective = -1;
  return participant;
}

static Event
draw_event (const gint64 *values, PlaitRandomKey key)
{
  gint64 i = 0;
  Event event;
  event.participants[0] = draw_participant (values, plait_random_subkey (key, 0));
  event.participants[1] = draw_participant (values, plait_random_subkey (key, 1));
  key = plait_random_subkey (key, 2);
  event.has_object = plait_task_draw (key, i++, 4) > 0;
  event.object_first = plait_task_draw (key, i++, 2) == 1 && event.has_object;
  event.verb = plait_task_draw (key, i++, values[VERBS]);
  event.tense = plait_task_draw (key, i++, 3);
  event.negative = plait_task_draw (key, i++, 2) == 1;
  event.adverb = plait_task_draw (key, i++, values[ADVERBS]);
  if (plait_task_draw (key, i++, 2) == 0)
    event.adverb = -1;
  return event;
}

static void
write_noun_in_a (GString *line, const Event *event, int role)
{
  append_stem (line, A, NOUNS, event->participants[role].noun);
  if (event->participants[role].plural)
    g_string_append_c (line, 'n');
  if (role == 1)
    plait_task_append (line, "o");
}

static void
write_a (GString *line, const Event *event)
{
  write_noun_in_a (line, event, event->object_first);
  append_stem (line, A, VERBS, event->verb);
  if (event->has_object)
    write_noun_in_a (line, event, !event->object_first);
}

static void
write_b (GString *line, const Event *event, gboolean object_first)
{
  for (int i = 0; i < 1 + event->has_object; i++)
    {
      int role = event->has_object && object_first ? 1 - i : i;
      const Participant *participant = &event->participants[role];
      plait_task_append (line, role == 0 ? "xa" : "xo");
      g_string_append_c (line, participant->gender == 0 ? 'm' : 'f');
      if (participant->definite)
        g_string_append_c (line, 'r');
      if (participant->adjective < 0)
        continue;
      append_stem (line, B, ADJECTIVES, participant->adjective);
    }
}

static void
write_c (GString *line, const Event *event)
{
  static const char *const tenses[] = { "ya", "yi", "yo" };
  plait_task_append (line, event->negative ? "nu" : "pe");
  plait_task_append (line, tenses[event->tense]);
  if (event->adverb < 0)
    return;
  append_stem (line, C, ADVERBS, event->adverb);
}

static void
write_participant_in_target (GString *line, const Event *event, int role)
{
  const Participant *participant = &event->participants[role];
  plait_task_append (line, role == 0 ? "d" : "z");
  g_string_append_c (line, participant->gender == 0 ? 'a' : 'i');
  if (participant->plural)
    g_string_append_c (line, 'n');
  if (participant->definite)
    g_string_append_c (line, 't');
  if (participant->adjective >= 0)
    {
      append_stem (line, TARGET, ADJECTIVES, participant->adjective);
      g_string_append (line, participant->plural ? "us" : "u");
    }
  append_stem (line, TARGET, NOUNS, participant->noun);
  if (participant->plural)
    g_string_append_c (line, 's');
}

static void
write_target (GString *line, const Event *event)
{
  static const char tenses[] = "rlm";
  if (event->adverb >= 0)
    append_stem (line, TARGET, ADVERBS, event->adverb);
  write_participant_in_target (line, event, event->object_first);
  if (event->negative)
    plait_task_append (line, "ne");
  append_stem (line, TARGET, VERBS, event->verb);
  g_string_append_c (line, tenses[event->tense]);
  g_string_append_c (line, event->participants[0].gender == 0 ? 'a' : 'i');
  if (event->has_object)
    write_participant_in_target (line, event, !event->object_first);
}

static void
generate (const gint64 *values, PlaitRandomKey key, GString *const *lines)
{
  Event event = draw_event (values, plait_random_subkey (key, 0));
  write_a (lines[A], &event);
  write_b (lines[B], &event, plait_task_draw (plait_random_subkey (key, 1), 0, 2) == 1);
  write_c (lines[C], &event);
  write_target (lines[TARGET], &event);
}

const PlaitTask plait_task_agreement = {
  .name = "agreement",
  .summary = "One event described in three languages, each with facts that the others lack; the target has all facts",
  .streams = (const char *const[]){ "a", "b", "c", "target", NULL },
  .parameters = parameters,
  .n_parameters = N_PARAMETERS,
  .generate = generate,
};
