/* SPDX-License-Identifier: MIT */
#include "words/text.h"

/*
 * Applies the regular expressions of mteval and sacreBLEU one after the other. Matches of one expression do not
 * overlap.
 */

/* Applies @rules to @line (plait_text_replace) and returns its words with a space between them. Takes ownership of
 * @line. (transfer full) */
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

/* The rules of 13a, except that the original also adds spaces to each space, which changes no word. Spaces are added
 * only beside ASCII characters, so the rules give the same words whether they match bytes or characters. */
static PlaitTextRule rules_13a[] = { { "([{-~[-`!-&(-+:-@/])", " \\1 " },
                                     { "([^0-9])([.,])", "\\1 \\2 " },
                                     { "([.,])([^0-9])", " \\1 \\2" },
                                     { "([0-9])(-)", "\\1 \\2 " },
                                     { NULL } };

char *
plait_tokenise_13a (const char *line)
{
  GString *work = g_string_new (" ");

  g_string_append (work, line);
  g_string_replace (work, "<skipped>", "", 0);
  g_string_replace (work, "-\n", "", 0);
  g_string_replace (work, "\n", " ", 0);
  g_string_replace (work, "&quot;", "\"", 0);
  g_string_replace (work, "&amp;", "&", 0); /* must come before &lt; and &gt;: &amp;lt; becomes < */
  g_string_replace (work, "&lt;", "<", 0);
  g_string_replace (work, "&gt;", ">", 0);
  g_string_append_c (work, ' ');
  return tokenise (g_string_free (work, FALSE), rules_13a, G_REGEX_RAW);
}

/* TRUE if sacreBLEU counts @character as Chinese. Its tables also have two ranges above U+FFFF, which Python reads as
 * U+2001 to U+2A6D and U+2F81 to U+2FA1. */
static gboolean
is_chinese (gunichar character)
{
  static const gunichar ranges[][2] = {
    { 0x2001, 0x2a6d }, { 0x2e80, 0x2fdf }, { 0x2ff0, 0x303f }, { 0x3100, 0x312f }, { 0x31a0, 0x31bf },
    { 0x31c0, 0x31ef }, { 0x3200, 0x4db5 }, { 0x4e00, 0x9fbb }, { 0xf900, 0xfa2d }, { 0xfa30, 0xfa6a },
    { 0xfa70, 0xfad9 }, { 0xfe10, 0xfe1f }, { 0xfe30, 0xfe4f }, { 0xff00, 0xffef },
  };

  for (guint i = 0; i < G_N_ELEMENTS (ranges); i++)
    if (character >= ranges[i][0] && character <= ranges[i][1])
      return TRUE;
  return FALSE;
}

char *
plait_tokenise_chinese (const char *line)
{
  GString *work = g_string_new (NULL);

  while (*line && plait_text_is_space (g_utf8_get_char (line)))
    line = g_utf8_next_char (line);
  for (const char *next; *line; line = next)
    {
      const char *space = is_chinese (g_utf8_get_char (line)) ? " " : "";

      next = g_utf8_next_char (line);
      g_string_append (work, space);
      g_string_append_len (work, line, next - line);
      g_string_append (work, space);
    }
  plait_text_strip_end (work->str);
  return tokenise (g_string_free (work, FALSE), rules_13a, G_REGEX_RAW);
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
