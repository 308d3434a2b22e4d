/* SPDX-License-Identifier: MIT */
#include "words/text.h"

#include <string.h>

#include "process/unicode.h"
#include "text/words.h"

gboolean
plait_text_is_space (gunichar character)
{
  if (character < 0x80)
    return (character >= 0x09 && character <= 0x0d) || (character >= 0x1c && character <= 0x20);
  return plait_text_is_white_space (character);
}

char *
plait_text_strip_end (char *text)
{
  char *end = text + strlen (text);
  while (end > text)
    {
      char *last = g_utf8_prev_char (end);
      if (!plait_text_is_space (g_utf8_get_char (last)))
        break;
      end = last;
    }
  *end = '\0';
  return text;
}

gboolean
plait_text_next_word (const char **text, const char **end)
{
  const char *at = *text;
  while (*at && plait_text_is_space (g_utf8_get_char (at)))
    at = g_utf8_next_char (at);
  *text = at;
  while (*at && !plait_text_is_space (g_utf8_get_char (at)))
    at = g_utf8_next_char (at);
  *end = at;
  return at > *text;
}

gsize
plait_text_count_words (const char *text)
{
  gsize words = 0;
  for (const char *end; plait_text_next_word (&text, &end); text = end)
    words++;
  return words;
}

char *
plait_text_lower (const char *text)
{
  const PlaitUnicodeTable *unicode = g_str_is_ascii (text) ? NULL : plait_unicode_open (NULL);

  return unicode ? unicode->lower (text) : g_ascii_strdown (text, -1);
}

char *
plait_text_replace (char *text, PlaitTextRule *rules, GRegexCompileFlags flags)
{
  for (PlaitTextRule *rule = rules; rule->pattern; rule++)
    {
      if (g_once_init_enter (&rule->compiled))
        g_once_init_leave (&rule->compiled, g_regex_new (rule->pattern, flags | G_REGEX_OPTIMIZE, 0, NULL));
      if (!g_regex_match (rule->compiled, text, 0, NULL))
        continue;

      g_autofree char *before = text;
      text = g_regex_replace (rule->compiled, before, -1, 0, rule->replacement, 0, NULL);
    }
  return text;
}
