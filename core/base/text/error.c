/* SPDX-License-Identifier: MIT */
#include "text/error.h"

#include <errno.h>
#include <string.h>

GQuark
plait_error_quark (void)
{
  return g_quark_from_static_string ("plait-error");
}

PlaitErrorCode
plait_error_code (int problem)
{
  switch (problem)
    {
    case ENOMEM:
    case EMFILE:
    case ENFILE:
    case ENOSPC:
    case EDQUOT:
    case EIO:
      return PLAIT_ERROR_FAILED;
    default:
      return PLAIT_ERROR_INPUT;
    }
}

#define MAX_BEGINNING 700
#define MAX_END 300

static gboolean
is_within_character (char byte)
{
  return ((guchar)byte & 0xc0) == 0x80;
}

/* Returns @line if it is short; else frees @line and returns a shorter copy. (transfer full) */
static char *
shorten (char *line)
{
  gsize length = strlen (line), beginning = MAX_BEGINNING, end = length - MAX_END;

  if (length <= MAX_BEGINNING + MAX_END)
    return line;
  while (beginning > 0 && is_within_character (line[beginning]))
    beginning--;
  while (end < length && is_within_character (line[end]))
    end++;
  char *shorter = g_strdup_printf ("%.*s ... %s", (int)beginning, line, line + end);
  g_free (line);
  return shorter;
}

char *
plait_message (const char *format, va_list arguments)
{
  g_autofree char *whole = g_strdup_vprintf (format, arguments);
  g_autofree char *valid = g_utf8_make_valid (whole, -1);
  g_auto (GStrv) lines = g_strsplit (valid, "\n", -1);

  for (guint i = 0; lines[i]; i++)
    lines[i] = shorten (lines[i]);
  return g_strjoinv ("\n", lines);
}

static void
set_error (GError **error, PlaitErrorCode code, const char *format, va_list arguments)
{
  g_autofree char *message = error ? plait_message (format, arguments) : NULL;

  if (message)
    g_set_error_literal (error, PLAIT_ERROR, code, message);
}

gboolean
plait_fail (GError **error, PlaitErrorCode code, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  set_error (error, code, format, arguments);
  va_end (arguments);
  return FALSE;
}

gpointer
plait_fail_null (GError **error, PlaitErrorCode code, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  set_error (error, code, format, arguments);
  va_end (arguments);
  return NULL;
}

gboolean
plait_no_error (GError **fault, GError **error)
{
  if (!*fault)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (fault));
  return FALSE;
}

/* Maximum bytes of a name that is compared. */
#define MAX_NAME 64

/* Returns the Damerau-Levenshtein distance (optimal string alignment: insertion, deletion, substitution and a swap of
 * neighbours cost 1 each), ASCII case ignored. Both names have at most MAX_NAME bytes. */
static gsize
distance (const char *a, gsize a_length, const char *b, gsize b_length)
{
  gsize rows[3][MAX_NAME + 1];
  gsize *before = rows[0], *above = rows[1], *row = rows[2];

  for (gsize j = 0; j <= b_length; j++)
    above[j] = j;
  for (gsize i = 1; i <= a_length; i++)
    {
      row[0] = i;
      for (gsize j = 1; j <= b_length; j++)
        {
          char x = g_ascii_tolower (a[i - 1]), y = g_ascii_tolower (b[j - 1]);
          gsize best = above[j - 1] + (x != y);

          best = MIN (best, above[j] + 1);
          best = MIN (best, row[j - 1] + 1);
          if (i > 1 && j > 1 && x == g_ascii_tolower (b[j - 2]) && y == g_ascii_tolower (a[i - 2]))
            best = MIN (best, before[j - 2] + 1);
          row[j] = best;
        }
      gsize *spare = before;
      before = above;
      above = row;
      row = spare;
    }
  return above[b_length];
}

/* A name of at least this many bytes is similar to every longer name that begins or ends with it. */
#define MIN_PART 4

static gboolean
begins_or_ends (const char *text, gsize length, const char *part, gsize part_length)
{
  return part_length >= MIN_PART && part_length < length
         && (g_ascii_strncasecmp (text, part, part_length) == 0
             || g_ascii_strcasecmp (text + length - part_length, part) == 0);
}

/* Returns the longest name that is a prefix or suffix of @wanted ("batch" for "batchsize", "epochs" for "max_epochs");
 * else the shortest name of which @wanted is a prefix or suffix ("learning_rate" for "learning"); else NULL. */
static const char *
related_name (const char *wanted, gsize length, const char *const *names)
{
  const char *part = NULL, *whole = NULL;

  for (gsize i = 0; names[i]; i++)
    {
      gsize n = strlen (names[i]);

      if (begins_or_ends (wanted, length, names[i], n) && (!part || n > strlen (part)))
        part = names[i];
      if (begins_or_ends (names[i], n, wanted, length) && (!whole || n < strlen (whole)))
        whole = names[i];
    }
  return part ? part : whole;
}

const char *
plait_nearest_name (const char *wanted, const char *const *names)
{
  gsize length = strlen (wanted);
  const char *nearest = NULL;
  gsize least = G_MAXSIZE;

  if (length > MAX_NAME)
    return NULL;
  for (gsize i = 0; names[i]; i++)
    {
      gsize name_length = strlen (names[i]);

      if (name_length > MAX_NAME)
        continue;
      gsize d = distance (wanted, length, names[i], name_length);
      /* A typing error changes at most a third of the letters: one in three letters, two in six, three in nine or
       * more. */
      if (d < least && d <= MIN (3, MAX (length, name_length) / 3) && d < length)
        {
          least = d;
          nearest = names[i];
        }
    }
  return nearest ? nearest : related_name (wanted, length, names);
}

char *
plait_name_remedy (const char *wanted, const char *const *names, const char *otherwise)
{
  const char *nearest = plait_nearest_name (wanted, names);

  if (nearest)
    return g_strdup_printf ("did you mean \"%s\"?", nearest);
  if (otherwise || !names[0])
    return g_strdup (otherwise ? otherwise : "there is none");
  g_autofree char *all = g_strjoinv (", ", (char **)names);
  return g_strconcat ("expected one of ", all, NULL);
}
