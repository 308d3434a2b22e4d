/* SPDX-License-Identifier: MIT */
#include "words/stem.h"

#include <string.h>

/* Replaces @suffix at the end of a word by @replacement if the rest of the word passes the test of the function apply.
 * The rest includes the first @kept letters of the suffix. */
typedef struct
{
  const char *suffix, *replacement;
  gsize kept;
} Rule;

/* Words with irregular stems. */
static const struct
{
  const char *word, *stem;
} irregular[] = {
  { "sky", "sky" },        { "skies", "sky" },       { "dying", "die" },        { "lying", "lie" },
  { "tying", "tie" },      { "news", "news" },       { "innings", "inning" },   { "inning", "inning" },
  { "outings", "outing" }, { "outing", "outing" },   { "cannings", "canning" }, { "canning", "canning" },
  { "howe", "howe" },      { "proceed", "proceed" }, { "exceed", "exceed" },    { "succeed", "succeed" },
};

static gboolean
is_vowel (char c)
{
  return c == 'a' || c == 'e' || c == 'i' || c == 'o' || c == 'u';
}

/* TRUE if letter @i is a consonant. A y is a consonant at the beginning of a word and after a vowel. */
static gboolean
is_consonant (const char *text, gsize i)
{
  gboolean turned = FALSE;
  for (; i > 0 && text[i] == 'y'; i--)
    turned = !turned;
  return is_vowel (text[i]) == turned;
}

/* TRUE if the first @n letters contain a vowel. Sets *@measure to the number of times a consonant follows a vowel there
 * (Porter's m). */
static gboolean
look (const char *text, gsize n, gsize *measure)
{
  gboolean consonant = TRUE, any = FALSE;
  *measure = 0;
  for (gsize i = 0; i < n; i++)
    {
      gboolean next = text[i] == 'y' ? i == 0 || !consonant : !is_vowel (text[i]);
      *measure += next && !consonant;
      any |= !next;
      consonant = next;
    }
  return any;
}

static gsize
measure_of (const char *text, gsize n)
{
  gsize measure;
  look (text, n, &measure);
  return measure;
}

static gboolean
has_vowel (const char *text, gsize n)
{
  gsize measure;
  return look (text, n, &measure);
}

/* TRUE if the first @n letters end in a consonant, a vowel, and a consonant that is not w, x or y. Also TRUE if they
 * are a vowel and a consonant. */
static gboolean
ends_short (const char *text, gsize n)
{
  if (n < 2 || !is_consonant (text, n - 1) || is_consonant (text, n - 2))
    return FALSE;
  return n == 2 || (is_consonant (text, n - 3) && !strchr ("wxy", text[n - 1]));
}

/* Finds the first of @rules (NULL-terminated) whose suffix the word has. Replaces the suffix if Porter's m of the rest
 * of the word is at least @measure. Returns FALSE only if no suffix fits. */
static gboolean
apply (GString *word, const Rule *rules, gsize measure)
{
  for (; rules->suffix; rules++)
    if (g_str_has_suffix (word->str, rules->suffix))
      {
        gsize before = word->len - strlen (rules->suffix);
        if (measure == 0 || measure_of (word->str, before + rules->kept) >= measure)
          {
            g_string_truncate (word, before);
            g_string_append (word, rules->replacement);
          }
        return TRUE;
      }
  return FALSE;
}

/* Removes plural endings. */
static void
step_1a (GString *word)
{
  static const Rule shortest[] = { { "ies", "ie" }, { NULL } };
  static const Rule rules[] = { { "sses", "ss" }, { "ies", "i" }, { "ss", "ss" }, { "s", "" }, { NULL } };
  if (word->len != 4 || !apply (word, shortest, 0))
    apply (word, rules, 0);
}

/* Removes -ed and -ing if a vowel remains, and mends the end of the rest. Other rules hold for -eed and -ied. */
static void
step_1b (GString *word)
{
  static const Rule shortest[] = { { "ied", "ie" }, { NULL } }, others[] = { { "ied", "i" }, { NULL } };
  static const Rule eed[] = { { "eed", "ee" }, { NULL } };
  static const Rule restored[] = { { "at", "ate" }, { "bl", "ble" }, { "iz", "ize" }, { NULL } };
  if (apply (word, word->len == 4 ? shortest : others, 0) || apply (word, eed, 1))
    return;
  gsize cut = g_str_has_suffix (word->str, "ed") ? 2 : g_str_has_suffix (word->str, "ing") ? 3 : 0;
  if (cut == 0 || !has_vowel (word->str, word->len - cut))
    return;
  g_string_truncate (word, word->len - cut);
  if (apply (word, restored, 0))
    return;
  char last = word->str[word->len - 1];
  if (word->len > 1 && word->str[word->len - 2] == last && is_consonant (word->str, word->len - 1))
    {
      if (!strchr ("lsz", last))
        g_string_truncate (word, word->len - 1);
    }
  else if (measure_of (word->str, word->len) == 1 && ends_short (word->str, word->len))
    g_string_append_c (word, 'e');
}

static void
step_1c (GString *word)
{
  if (g_str_has_suffix (word->str, "y") && word->len > 2 && is_consonant (word->str, word->len - 2))
    word->str[word->len - 1] = 'i';
}

/* Shortens double suffixes, then removes single ones. */
static void
steps_2_to_4 (GString *word)
{
  static const Rule alli[] = { { "alli", "al" }, { NULL } };
  static const Rule second[] = { { "ational", "ate" }, { "tional", "tion" },
                                 { "enci", "ence" },   { "anci", "ance" },
                                 { "izer", "ize" },    { "bli", "ble" },
                                 { "entli", "ent" },   { "eli", "e" },
                                 { "ousli", "ous" },   { "ization", "ize" },
                                 { "ation", "ate" },   { "ator", "ate" },
                                 { "alism", "al" },    { "iveness", "ive" },
                                 { "fulness", "ful" }, { "ousness", "ous" },
                                 { "aliti", "al" },    { "iviti", "ive" },
                                 { "biliti", "ble" },  { "fulli", "ful" },
                                 { "logi", "log", 1 }, { NULL } };
  static const Rule third[] = { { "icate", "ic" }, { "ative", "" }, { "alize", "al" }, { "iciti", "ic" },
                                { "ical", "ic" },  { "ful", "" },   { "ness", "" },    { NULL } };
  static const Rule fourth[]
      = { { "al", "" },       { "ance", "" }, { "ence", "" },  { "er", "" },   { "ic", "" },  { "able", "" },
          { "ible", "" },     { "ant", "" },  { "ement", "" }, { "ment", "" }, { "ent", "" }, { "sion", "s", 1 },
          { "tion", "t", 1 }, { "ou", "" },   { "ism", "" },   { "ate", "" },  { "iti", "" }, { "ous", "" },
          { "ive", "" },      { "ize", "" },  { NULL } };
  apply (word, alli, 1);
  apply (word, second, 1);
  apply (word, third, 1);
  apply (word, fourth, 2);
}

/* Removes a final e, and one l of a final ll, if enough of the word remains. */
static void
step_5 (GString *word)
{
  if (g_str_has_suffix (word->str, "e"))
    {
      gsize before = word->len - 1, measure = measure_of (word->str, before);
      if (measure > 1 || (measure == 1 && !ends_short (word->str, before)))
        g_string_truncate (word, before);
    }
  if (g_str_has_suffix (word->str, "ll") && measure_of (word->str, word->len - 1) > 1)
    g_string_truncate (word, word->len - 1);
}

void
plait_stem (GString *word)
{
  for (guint i = 0; i < G_N_ELEMENTS (irregular); i++)
    if (strcmp (word->str, irregular[i].word) == 0)
      {
        g_string_assign (word, irregular[i].stem);
        return;
      }
  if (word->len <= 2)
    return;
  step_1a (word);
  step_1b (word);
  step_1c (word);
  steps_2_to_4 (word);
  step_5 (word);
}
