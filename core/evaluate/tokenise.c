/* SPDX-License-Identifier: MIT */
#include "evaluate/tokenise.h"

#include "evaluate/text.h"

#include <string.h>

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

/* One pass from left to right; linear in the line, however often @from occurs. */
static void
replace_all (GString *line, const char *from, const char *to)
{
  const char *at = line->str;
  const char *found = strstr (at, from);
  if (!found)
    return;

  g_autoptr (GString) result = g_string_sized_new (line->len);
  for (; found; found = strstr (at, from))
    {
      g_string_append_len (result, at, found - at);
      g_string_append (result, to);
      at = found + strlen (from);
    }
  g_string_append (result, at);
  g_string_assign (line, result->str);
}

/* Symbols other than the apostrophe, hyphen, period and comma stand alone. */
static void
separate_symbols (const GString *line, GString *result)
{
  for (const char *at = line->str; *at; at++)
    if (is_symbol (*at))
      {
        g_string_append_c (result, ' ');
        g_string_append_c (result, *at);
        g_string_append_c (result, ' ');
      }
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
          g_string_append_c (result, ' ');
          g_string_append_c (result, at[1]);
          g_string_append_c (result, ' ');
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
          g_string_append_c (result, ' ');
          g_string_append_c (result, *at);
          g_string_append_c (result, ' ');
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

char *
plait_tokenise_13a (const char *line)
{
  static void (*const rules[]) (const GString *, GString *)
      = { separate_symbols, separate_points_after, separate_points_before, separate_hyphens };

  g_autoptr (GString) work = g_string_new (" ");
  g_string_append (work, line);
  replace_all (work, "<skipped>", "");
  replace_all (work, "-\n", "");
  replace_all (work, "\n", " ");
  replace_all (work, "&quot;", "\"");
  replace_all (work, "&amp;", "&"); /* before the next two: &amp;lt; becomes < */
  replace_all (work, "&lt;", "<");
  replace_all (work, "&gt;", ">");
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

  g_string_truncate (other, 0);
  const char *word = work->str;
  for (const char *end; plait_text_next_word (&word, &end); word = end)
    {
      if (other->len)
        g_string_append_c (other, ' ');
      g_string_append_len (other, word, end - word);
    }
  return g_string_free (g_steal_pointer (&other), FALSE);
}
