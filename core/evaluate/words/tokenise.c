/* SPDX-License-Identifier: MIT */
#include "words/text.h"

/*
 * Applies the regular expressions of mteval and sacreBLEU one after the other. A character takes part in only one match
 * of each.
 */

/* Applies @rules to @line (plait_text_replace) and returns its words with a space between them. Takes @line. (transfer
 * full) */
static char *
tokenise (char *line, PlaitTextRule *rules, GRegexCompileFlags flags)
{
  g_autofree char *text = plait_text_replace (line, rules, flags);
  g_autoptr (GString) joined = g_string_new (NULL);
  const char *word = text;

  for (const char *end; plait_text_next_word (&word, &end); word = end)
    {
      if (joined->len)
        g_string_append_c (joined, ' ');
      g_string_append_len (joined, word, end - word);
    }
  return g_string_free (g_steal_pointer (&joined), FALSE);
}

char *
plait_tokenise_13a (const char *line)
{
  /* Symbols except apostrophe, hyphen, period and comma become tokens; so do a period or comma without a digit before
   * it, or without one after it, and a hyphen after a digit. The original also adds spaces to each space, which changes
   * no word. All rules match single ASCII characters or a non-digit, so they may match bytes. */
  static PlaitTextRule rules[] = { { "([{-~[-`!-&(-+:-@/])", " \\1 " },
                                   { "([^0-9])([.,])", "\\1 \\2 " },
                                   { "([.,])([^0-9])", " \\1 \\2" },
                                   { "([0-9])(-)", "\\1 \\2 " },
                                   { NULL } };
  GString *work = g_string_new (" ");

  g_string_append (work, line);
  g_string_replace (work, "<skipped>", "", 0);
  g_string_replace (work, "-\n", "", 0);
  g_string_replace (work, "\n", " ", 0);
  g_string_replace (work, "&quot;", "\"", 0);
  g_string_replace (work, "&amp;", "&", 0); /* must be first, so that &amp;lt; becomes < */
  g_string_replace (work, "&lt;", "<", 0);
  g_string_replace (work, "&gt;", ">", 0);
  g_string_append_c (work, ' ');
  return tokenise (g_string_free (work, FALSE), rules, G_REGEX_RAW);
}

char *
plait_tokenise_international (const char *line)
{
  static PlaitTextRule rules[]
      = { { "(\\P{N})(\\p{P})", "\\1 \\2 " }, { "(\\p{P})(\\P{N})", " \\1 \\2" }, { "(\\p{S})", " \\1 " }, { NULL } };

  return tokenise (g_strdup (line), rules, 0);
}

char *
plait_tokenise_characters (const char *line)
{
  static PlaitTextRule rules[] = { { "(.)", "\\1 " }, { NULL } };

  return tokenise (g_strdup (line), rules, G_REGEX_DOTALL);
}
