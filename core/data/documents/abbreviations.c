/* SPDX-License-Identifier: MIT */
#include "documents/abbreviations.h"

#include <string.h>

#define MAX_ABBREVIATION 24 /* upper bound of the bytes of an abbreviation, no-break spaces included */

/* Abbreviations of one language. An abbreviation also matches text where its first letter is a capital. */
typedef struct
{
  const char *language;
  const char *abbreviations[40];
  const char *behind_ordinals[13]; /* months, before which a number with a full stop is an ordinal: "5. Mai" */
} Language;

static const Language languages[] = {
  { "en", { "Mr.",   "Mrs.", "Ms.",     "Dr.",  "Prof.", "Jr.",   "St.",  "Mt.",   "cf.",  "e.g.",
            "e. g.", "i.e.", "i. e.",   "vs.",  "fig.",  "figs.", "eq.",  "eqs.",  "sec.", "ch.",
            "vol.",  "pp.",  "approx.", "Gen.", "Col.",  "Lt.",   "Sgt.", "Capt.", "Rev.", "dept." } },
  { "de",
    { "z. B.", "z.B.",    "d. h.",   "d.h.", "u. a.", "u.a.", "i. d. R.", "o. ä.", "s. o.", "s. u.",
      "v. a.", "n. Chr.", "v. Chr.", "bzw.", "ca.",   "Dr.",  "Prof.",    "Dipl.", "Ing.",  "Hr.",
      "Fr.",   "St.",     "Nr.",     "Abb.", "Abs.",  "Art.", "Bd.",      "Kap.",  "S.",    "Tab.",
      "evtl.", "ggf.",    "inkl.",   "sog.", "vgl.",  "Mio.", "Mrd." },
    { "Januar", "Jänner", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober",
      "November", "Dezember" } },
  { "cs", { "např.", "tj.",   "tzn.",  "tzv.",  "resp.", "popř.", "mj.",  "srov.", "sv.",
            "č.",    "str.",  "obr.",  "kap.",  "tab.",  "ing.",  "mgr.", "bc.",   "dr.",
            "doc.",  "prof.", "MUDr.", "JUDr.", "RNDr.", "PhDr.", "p.",   "tis.",  "mil." } },
  { "fr",
    { "M.", "MM.", "Dr.", "Prof.", "p. ex.", "c.-à-d.", "cf.", "av. J.-C.", "ap. J.-C.", "fig.", "chap.", "vol.",
      "art.", "env.", "éd.", "p.", "pp." } },
  { "es", { "Sr.",   "Sra.", "Srta.", "Sres.", "Dr.",  "Dra.", "D.",   "Dña.", "p. ej.", "EE. UU.", "EE.UU.", "a. C.",
            "d. C.", "pág.", "págs.", "fig.",  "núm.", "art.", "cap.", "vol.", "ud.",    "uds.",    "cf." } },
};

/* TRUE if @character is a space or a no-break space. */
static gboolean
is_space (gunichar character)
{
  return character == ' ' || character == 0xa0 || character == 0x202f;
}

/* Returns the end of @abbreviation in the text at @at, or NULL if the text does not begin with it. */
static const char *
match (const char *abbreviation, const char *at, const char *end)
{
  for (const char *a = abbreviation; *a; a = g_utf8_next_char (a))
    {
      gunichar wanted = g_utf8_get_char (a), found;

      if (at >= end)
        return NULL;
      found = g_utf8_get_char (at);
      if (wanted == ' ' ? !is_space (found)
                        : found != wanted && !(a == abbreviation && found == g_unichar_toupper (wanted)))
        return NULL;
      at = g_utf8_next_char (at);
    }
  return at;
}

static gboolean
begins_word (const char *text, const char *at)
{
  return at == text || !g_unichar_isalnum (g_utf8_get_char (g_utf8_prev_char (at)));
}

/* TRUE if an abbreviation of @language ends at @stop, or begins before @stop and ends after it. */
static gboolean
is_abbreviated (const Language *language, const char *text, const char *stop, const char *end)
{
  for (const char *at = stop; at > text && stop - at < MAX_ABBREVIATION;)
    {
      at = g_utf8_prev_char (at);
      for (gsize i = 0; begins_word (text, at) && i < G_N_ELEMENTS (language->abbreviations); i++)
        {
          const char *abbreviation = language->abbreviations[i];
          const char *over = abbreviation ? match (abbreviation, at, end) : NULL;

          if (over && over >= stop)
            return TRUE;
        }
    }
  return FALSE;
}

/* Returns the start of the short word whose full stop ends at @stop; NULL if there is none. A short word is a number of
 * one or two digits if @digits, else a single capital letter. */
static const char *
short_word (const char *text, const char *stop, gboolean digits)
{
  const char *at;

  if (stop == text || stop[-1] != '.')
    return NULL;
  at = stop - 1;
  for (guint n = 0; at > text && n < (digits ? 2 : 1); n++)
    {
      const char *before = g_utf8_prev_char (at);

      if (!(digits ? g_ascii_isdigit (*before) : g_unichar_isupper (g_utf8_get_char (before))))
        break;
      at = before;
    }
  return at < stop - 1 && begins_word (text, at) ? at : NULL;
}

/* Returns the start of the spaces that end at @at, or @at if there are none. */
static const char *
before_space (const char *text, const char *at)
{
  while (at > text && is_space (g_utf8_get_char (g_utf8_prev_char (at))))
    at = g_utf8_prev_char (at);
  return at;
}

/* TRUE if the text before @stop ends with an initial ("J."), and another initial precedes it or begins at @next. */
static gboolean
is_initial (const char *text, const char *stop, const char *next, const char *end)
{
  const char *at = short_word (text, stop, FALSE);
  const char *behind = next < end ? g_utf8_next_char (next) : end;

  return at
         && (short_word (text, before_space (text, at), FALSE)
             || (behind < end && *behind == '.' && g_unichar_isupper (g_utf8_get_char (next))));
}

/* TRUE if a word ends at @at, or after an "s" (genitive) at @at. */
static gboolean
ends_word (const char *at, const char *end)
{
  if (at < end && *at == 's')
    at++;
  return at >= end || !g_unichar_isalnum (g_utf8_get_char (at));
}

/* TRUE if the full stop before @stop belongs to an ordinal number, because the word at @next is a month. */
static gboolean
is_ordinal (const Language *language, const char *text, const char *stop, const char *next, const char *end)
{
  for (gsize i = 0; i < G_N_ELEMENTS (language->behind_ordinals) && language->behind_ordinals[i]; i++)
    {
      const char *over = match (language->behind_ordinals[i], next, end);

      if (over && ends_word (over, end))
        return short_word (text, stop, TRUE) != NULL;
    }
  return FALSE;
}

static const Language *
find_language (const char *language)
{
  for (gsize i = 0; i < G_N_ELEMENTS (languages); i++)
    if (strcmp (languages[i].language, language) == 0)
      return &languages[i];
  return NULL;
}

gboolean
plait_abbreviation_has_language (const char *language)
{
  return find_language (language) != NULL;
}

gboolean
plait_abbreviation_continues (const char *language, const char *text, gsize length, gsize position)
{
  const char *end = text + length, *next = text + position, *stop = before_space (text, next);
  const Language *known;

  if (*language == '\0' || stop == text || stop[-1] != '.' || next == end)
    return FALSE;
  if (is_initial (text, stop, next, end))
    return TRUE;
  known = find_language (language);
  return known && (is_abbreviated (known, text, stop, end) || is_ordinal (known, text, stop, next, end));
}
