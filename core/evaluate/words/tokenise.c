/* SPDX-License-Identifier: MIT */
#include "words/text.h"

/*
 * The rules of mteval-v13a are regular expressions that are applied one after the other. Each tests single ASCII
 * characters or "anything but a digit", so they may walk over bytes: a character of several bytes is never split by
 * what they insert.
 */

static gboolean
is_symbol (char c)
{
  return (c >= '{' && c <= '~') || (c >= '[' && c <= '`') || (c >= ' ' && c <= '&') || (c >= '(' && c <= '+')
         || (c >= ':' && c <= '@') || c == '/';
}

static gboolean
is_point (char c)
{
  return c == '.' || c == ',';
}

/* With a space on either side. */
static void
append_apart (GString *result, gunichar c)
{
  g_string_append_c (result, ' ');
  g_string_append_unichar (result, c);
  g_string_append_c (result, ' ');
}

/* Symbols other than the apostrophe, hyphen, period and comma stand alone. */
static void
separate_symbols (const GString *line, GString *result)
{
  for (const char *at = line->str; *at; at++)
    if (is_symbol (*at))
      append_apart (result, (guchar)*at);
    else
      g_string_append_c (result, *at);
}

/* A period or comma stands alone unless a digit precedes it. A character takes part in one match only, so of two
 * periods in a row the first is what precedes the second only if nothing matched the first. */
static void
separate_points_after (const GString *line, GString *result)
{
  const char *at = line->str;
  while (*at)
    {
      g_string_append_c (result, *at);
      if (!g_ascii_isdigit (*at) && is_point (at[1]))
        {
          append_apart (result, (guchar)at[1]);
          at++;
        }
      at++;
    }
}

/* A period or comma stands alone unless a digit follows it. */
static void
separate_points_before (const GString *line, GString *result)
{
  const char *at = line->str;
  while (*at)
    {
      if (is_point (*at) && at[1] && !g_ascii_isdigit (at[1]))
        {
          append_apart (result, (guchar)*at);
          at++;
        }
      g_string_append_c (result, *at);
      at++;
    }
}

/* A hyphen stands alone if a digit precedes it. */
static void
separate_hyphens (const GString *line, GString *result)
{
  for (const char *at = line->str; *at; at++)
    if (*at == '-' && at > line->str && g_ascii_isdigit (at[-1]))
      g_string_append (result, " - ");
    else
      g_string_append_c (result, *at);
}

/* The words of @text with a space between them. (transfer full) */
static char *
join_words (const GString *text)
{
  GString *joined = g_string_sized_new (text->len);
  const char *word = text->str;

  for (const char *end; plait_text_next_word (&word, &end); word = end)
    {
      if (joined->len)
        g_string_append_c (joined, ' ');
      g_string_append_len (joined, word, end - word);
    }
  return g_string_free (joined, FALSE);
}

char *
plait_tokenise_13a (const char *line)
{
  static void (*const rules[]) (const GString *, GString *)
      = { separate_symbols, separate_points_after, separate_points_before, separate_hyphens };

  g_autoptr (GString) work = g_string_new (" ");
  g_string_append (work, line);
  g_string_replace (work, "<skipped>", "", 0);
  g_string_replace (work, "-\n", "", 0);
  g_string_replace (work, "\n", " ", 0);
  g_string_replace (work, "&quot;", "\"", 0);
  g_string_replace (work, "&amp;", "&", 0); /* before the next two: &amp;lt; becomes < */
  g_string_replace (work, "&lt;", "<", 0);
  g_string_replace (work, "&gt;", ">", 0);
  g_string_append_c (work, ' ');

  g_autoptr (GString) other = g_string_sized_new (2 * work->len);
  for (guint i = 0; i < G_N_ELEMENTS (rules); i++)
    {
      g_string_truncate (other, 0);
      rules[i](work, other);
      GString *swap = work;
      work = other;
      other = swap;
    }

  return join_words (work);
}

/*
 * International
 */

static gboolean
is_number (gunichar c)
{
  GUnicodeType type = g_unichar_type (c);

  return type == G_UNICODE_DECIMAL_NUMBER || type == G_UNICODE_LETTER_NUMBER || type == G_UNICODE_OTHER_NUMBER;
}

static gboolean
is_unicode_symbol (gunichar c)
{
  GUnicodeType type = g_unichar_type (c);

  return type == G_UNICODE_CURRENCY_SYMBOL || type == G_UNICODE_MODIFIER_SYMBOL || type == G_UNICODE_MATH_SYMBOL
         || type == G_UNICODE_OTHER_SYMBOL;
}

/* Copies characters; where a pair of them is one that @is_pair knows, both with a space about the one that is
 * punctuation. A character takes part in one pair only. */
static void
separate_pairs (const GString *line, GString *result, gboolean (*is_pair) (gunichar, gunichar), const char *before,
                const char *after)
{
  const char *at = line->str;

  while (*at)
    {
      const char *next = g_utf8_next_char (at);
      gunichar c = g_utf8_get_char (at), other = *next ? g_utf8_get_char (next) : 0;

      at = next;
      if (!*next || !is_pair (c, other))
        {
          g_string_append_unichar (result, c);
          continue;
        }
      at = g_utf8_next_char (next);
      g_string_append (result, before);
      g_string_append_unichar (result, c);
      g_string_append_c (result, ' ');
      g_string_append_unichar (result, other);
      g_string_append (result, after);
    }
}

static gboolean
is_punctuation_behind (gunichar c, gunichar other)
{
  return !is_number (c) && g_unichar_ispunct (other) && !is_unicode_symbol (other);
}

static gboolean
is_punctuation_before (gunichar c, gunichar other)
{
  return g_unichar_ispunct (c) && !is_unicode_symbol (c) && !is_number (other);
}

char *
plait_tokenise_international (const char *line)
{
  g_autoptr (GString) first = g_string_new (line), second = g_string_new (NULL);

  separate_pairs (first, second, is_punctuation_behind, "", " ");
  g_string_truncate (first, 0);
  separate_pairs (second, first, is_punctuation_before, " ", "");
  g_string_truncate (second, 0);
  for (const char *at = first->str; *at; at = g_utf8_next_char (at))
    {
      gunichar c = g_utf8_get_char (at);

      if (is_unicode_symbol (c))
        append_apart (second, c);
      else
        g_string_append_unichar (second, c);
    }
  return join_words (second);
}

char *
plait_tokenise_characters (const char *line)
{
  g_autoptr (GString) characters = g_string_new (NULL);

  for (const char *at = line; *at; at = g_utf8_next_char (at))
    {
      g_string_append_unichar (characters, g_utf8_get_char (at));
      g_string_append_c (characters, ' ');
    }
  return join_words (characters);
}
