/* SPDX-License-Identifier: MIT */
/*
 * The task "names": translate a sentence word by word, and copy its names. Words are drawn uniformly from a small
 * lexicon; names are drawn from 4,900^3 names, so that almost no name is in two tuples:
 *
 *     a:        dabo tero Dabotaronile nila
 *     target:   giso lamu Dabotaronile pevo
 *
 * A vocabulary of words that occur more than once has almost no name. A model that predicts words of its vocabulary
 * gets almost no name right; a model that copies words of the source can get all names right.
 */
#include "tasks/generate.h"

enum
{
  WORDS,
  NAMES,
  SHORTEST,
  LONGEST,
  N_PARAMETERS,
};

static const PlaitTaskParameter parameters[N_PARAMETERS] = {
  [WORDS] = { "words", 40, 1, 4900, "Words in the lexicon" },
  [NAMES] = { "names", 2, 0, 100, "Maximum number of names in a sentence" },
  [SHORTEST] = { "shortest", 4, 1, 1000, "Words of the shortest sentences, without names" },
  [LONGEST] = { "longest", 10, 1, 1000, "Words of the longest sentences; at least those of the shortest" },
};

enum
{
  A,
  TARGET,
};

#define PARTS 3    /* number of stems of a name */
#define STEMS 4900 /* number of different stems of names */

/* Appends name number @number of this tuple to the source line and to the target line. */
static void
append_name (PlaitRandomKey key, gint64 number, GString *const *lines)
{
  g_autoptr (GString) parts = g_string_new (NULL);

  for (gint64 i = 0; i < PARTS; i++)
    plait_task_append_stem (parts, plait_task_draw (key, PARTS * number + i, STEMS), 97);
  g_string_replace (parts, " ", "", 0);
  parts->str[0] = g_ascii_toupper (parts->str[0]);
  plait_task_append (lines[A], parts->str);
  plait_task_append (lines[TARGET], parts->str);
}

static void
generate (const gint64 *values, PlaitRandomKey key, GString *const *lines)
{
  PlaitRandomKey words = plait_random_subkey (key, 1), places = plait_random_subkey (key, 2);
  gint64 n = plait_task_draw_length (values[SHORTEST], values[LONGEST], plait_random_subkey (key, 0), 0);
  gint64 names = plait_task_draw_length (MIN (1, values[NAMES]), values[NAMES], plait_random_subkey (key, 0), 1);

  for (gint64 i = 0, done = 0; i < n + names; i++)
    if (plait_task_draw (places, i, n + names - i) < names - done)
      append_name (plait_random_subkey (key, 3), done++, lines);
    else
      {
        gint64 word = plait_task_draw (words, i, values[WORDS]);

        plait_task_append_stem (lines[A], word, 97);
        plait_task_append_stem (lines[TARGET], word, 143);
      }
}

const PlaitTask plait_task_names = {
  .name = "names",
  .summary = "A sentence to translate word by word, with rare names, which the target copies",
  .streams = (const char *const[]){ "a", "target", NULL },
  .parameters = parameters,
  .n_parameters = N_PARAMETERS,
  .generate = generate,
};
