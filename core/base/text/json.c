/* SPDX-License-Identifier: MIT */
#include "text/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "text/display.h"
#include "text/number.h"

struct PlaitJson
{
  GString *text;
  guint depth;
  gboolean first; /* TRUE if the innermost object or array is still empty */
  gboolean one_line;
};

PlaitJson *
plait_json_new (void)
{
  PlaitJson *json = g_new0 (PlaitJson, 1);

  json->text = g_string_new (NULL);
  json->first = TRUE;
  return json;
}

PlaitJson *
plait_json_new_object (void)
{
  PlaitJson *json = plait_json_new ();

  plait_json_begin_object (json, NULL);
  return json;
}

PlaitJson *
plait_json_new_array (void)
{
  PlaitJson *json = plait_json_new ();

  plait_json_begin_array (json, NULL);
  return json;
}

PlaitJson *
plait_json_new_line (void)
{
  PlaitJson *json = plait_json_new ();

  json->one_line = TRUE;
  return json;
}

void
plait_json_free (PlaitJson *json)
{
  if (!json)
    return;
  g_string_free (json->text, TRUE);
  g_free (json);
}

static void
append_text (PlaitJson *json, const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);

  g_string_append_c (json->text, '"');
  for (const char *p = valid; *p != '\0'; p = g_utf8_next_char (p))
    {
      gunichar character = g_utf8_get_char (p);

      if (character == '"' || character == '\\')
        g_string_append_printf (json->text, "\\%c", *p);
      else if (plait_display_is_unsafe (character))
        g_string_append_printf (json->text, "\\u%04x", character);
      else
        g_string_append_unichar (json->text, character);
    }
  g_string_append_c (json->text, '"');
}

static void
new_line (PlaitJson *json)
{
  if (json->one_line)
    return;
  g_string_append_c (json->text, '\n');
  for (guint i = 0; i < json->depth; i++)
    g_string_append (json->text, "  ");
}

/* Writes the comma, line break and name before a value, if needed. */
static void
begin_value (PlaitJson *json, const char *name)
{
  if (json->depth > 0)
    {
      if (!json->first)
        g_string_append (json->text, json->one_line ? ", " : ",");
      new_line (json);
    }
  json->first = FALSE;
  if (name)
    {
      append_text (json, name);
      g_string_append (json->text, ": ");
    }
}

static void
begin (PlaitJson *json, const char *name, char bracket)
{
  begin_value (json, name);
  g_string_append_c (json->text, bracket);
  json->depth++;
  json->first = TRUE;
}

static void
end (PlaitJson *json, char bracket)
{
  json->depth--;
  if (!json->first)
    new_line (json);
  g_string_append_c (json->text, bracket);
  json->first = FALSE;
  if (json->depth == 0)
    g_string_append_c (json->text, '\n');
}

void
plait_json_begin_object (PlaitJson *json, const char *name)
{
  begin (json, name, '{');
}

void
plait_json_end_object (PlaitJson *json)
{
  end (json, '}');
}

void
plait_json_begin_array (PlaitJson *json, const char *name)
{
  begin (json, name, '[');
}

void
plait_json_end_array (PlaitJson *json)
{
  end (json, ']');
}

void
plait_json_text (PlaitJson *json, const char *name, const char *text)
{
  begin_value (json, name);
  if (!text)
    g_string_append (json->text, "null");
  else
    append_text (json, text);
}

void
plait_json_integer (PlaitJson *json, const char *name, gint64 value)
{
  begin_value (json, name);
  g_string_append_printf (json->text, "%jd", value);
}

void
plait_json_real (PlaitJson *json, const char *name, double value)
{
  char buffer[PLAIT_NUMBER_LENGTH];

  begin_value (json, name);
  g_string_append (json->text, isfinite (value) ? plait_format_double (buffer, value) : "null");
}

void
plait_json_boolean (PlaitJson *json, const char *name, gboolean value)
{
  begin_value (json, name);
  g_string_append (json->text, value ? "true" : "false");
}

static void
add_members (PlaitJson *json, const char *members, va_list values)
{
  g_auto (GStrv) parts = g_strsplit (members, " ", -1);

  for (guint i = 0; parts[i]; i++)
    {
      char *conversion = strstr (parts[i], "=%");

      *conversion = '\0';
      switch (conversion[2])
        {
        case 's':
          plait_json_text (json, parts[i], va_arg (values, const char *));
          break;
        case 'g':
          plait_json_real (json, parts[i], va_arg (values, double));
          break;
        case 'd':
          plait_json_boolean (json, parts[i], va_arg (values, gboolean));
          break;
        case 'u':
          plait_json_integer (json, parts[i], va_arg (values, guint));
          break;
        default: /* the types of %jd and %zu have 64 bits */
          plait_json_integer (json, parts[i], va_arg (values, gint64));
        }
    }
}

void
plait_json_members (PlaitJson *json, const char *members, ...)
{
  va_list values;

  va_start (values, members);
  add_members (json, members, values);
  va_end (values);
}

void
plait_json_object (PlaitJson *json, const char *name, const char *members, ...)
{
  va_list values;

  va_start (values, members);
  plait_json_begin_object (json, name);
  add_members (json, members, values);
  plait_json_end_object (json);
  va_end (values);
}

void
plait_json_texts (PlaitJson *json, const char *name, const char *const *texts, gint64 n)
{
  plait_json_begin_array (json, name);
  for (gint64 i = 0; n < 0 ? texts && texts[i] : i < n; i++)
    plait_json_text (json, NULL, texts[i]);
  plait_json_end_array (json);
}

void
plait_json_integers (PlaitJson *json, const char *name, const gint64 *values, gint64 n)
{
  plait_json_begin_array (json, name);
  for (gint64 i = 0; i < n; i++)
    plait_json_integer (json, NULL, values[i]);
  plait_json_end_array (json);
}

void
plait_json_reals (PlaitJson *json, const char *name, const double *values, gint64 n)
{
  plait_json_begin_array (json, name);
  for (gint64 i = 0; i < n; i++)
    plait_json_real (json, NULL, values[i]);
  plait_json_end_array (json);
}

void
plait_json_document (PlaitJson *json, const char *name, const char *document)
{
  begin_value (json, name);
  for (const char *p = document; *p != '\0'; p++)
    if (*p != '\n')
      g_string_append_c (json->text, *p);
    else if (p[1] != '\0')
      new_line (json);
}

const char *
plait_json_string (const PlaitJson *json)
{
  return json->text->str;
}

void
plait_json_print (PlaitJson *json)
{
  end (json, json->text->str[0] == '{' ? '}' : ']');
  fputs (plait_json_string (json), stdout);
}
