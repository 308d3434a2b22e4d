/* SPDX-License-Identifier: MIT */
#include "text/number.h"

#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

gboolean
plait_parse_integer (const char *text, gint64 *value)
{
  /* GLib also accepts a plus sign and a vertical tab before the number, so check the first character here. */
  return (*text == '-' || g_ascii_isdigit (*text))
         && g_ascii_string_to_signed (text, 10, G_MININT64, G_MAXINT64, value, NULL);
}

gboolean
plait_parse_double (const char *text, double *value)
{
  char *end;

  if (*text == '\0' || text[strspn (text, "0123456789.eE+-")] != '\0' || *text == '+')
    return FALSE;
  double number = g_ascii_strtod (text, &end);
  if (*end != '\0' || !isfinite (number))
    return FALSE;
  *value = number;
  return TRUE;
}

gboolean
plait_parse_boolean (const char *text, gboolean *value)
{
  if (strcmp (text, "true") != 0 && strcmp (text, "false") != 0)
    return FALSE;
  *value = text[0] == 't';
  return TRUE;
}

gboolean
plait_parse_span (const char *text, gint64 *first, gint64 *last)
{
  g_autofree char *whole = g_strstrip (g_strdup (text));
  g_auto (GStrv) words = g_strsplit_set (whole, " \t", -1);
  guint64 found[2];
  guint n = 0;

  if (g_str_equal (whole, "-1"))
    {
      *first = *last = -1;
      return TRUE;
    }
  for (guint i = 0; words[i]; i++)
    if (*words[i] != '\0'
        && (n == 2 || !g_ascii_string_to_unsigned (words[i], 10, 0, G_MAXINT32 - 2, &found[n++], NULL)))
      return FALSE;
  if (n != 2 || found[0] > found[1])
    return FALSE;
  *first = (gint64)found[0];
  *last = (gint64)found[1];
  return TRUE;
}

const char *
plait_format_double (char buffer[PLAIT_NUMBER_LENGTH], double value)
{
  char format[] = "%.00g";

  if (!isfinite (value))
    {
      g_strlcpy (buffer, isnan (value) ? "nan" : value < 0 ? "-inf" : "inf", PLAIT_NUMBER_LENGTH);
      return buffer;
    }
  /* Write whole numbers below 1e15 without an exponent. A double represents all of these exactly. */
  if (value == trunc (value) && fabs (value) < 1e15)
    return g_ascii_formatd (buffer, PLAIT_NUMBER_LENGTH, "%.0f", value);
  /* Seventeen digits distinguish all doubles; most need fewer. */
  for (int digits = 1; digits <= 17; digits++)
    {
      format[2] = (char)('0' + digits / 10);
      format[3] = (char)('0' + digits % 10);
      g_ascii_formatd (buffer, PLAIT_NUMBER_LENGTH, format, value);
      if (g_ascii_strtod (buffer, NULL) == value)
        break;
    }
  return buffer;
}

char *
plait_format (const char *format, ...)
{
  static gsize neutral; /* the C locale, a locale_t */
  va_list arguments;

  if (g_once_init_enter (&neutral))
    g_once_init_leave (&neutral, (gsize)newlocale (LC_ALL_MASK, "C", (locale_t)0));
  locale_t before = uselocale ((locale_t)neutral);
  va_start (arguments, format);
  char *text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  uselocale (before);
  return text;
}
