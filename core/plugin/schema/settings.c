/* SPDX-License-Identifier: MIT */
#include "schema/settings.h"

#include <string.h>

#include "text/number.h"
#include "text/separators.h"

/* Greatest length of a value in bytes, far above that of any sensible setting. */
#define LONGEST_VALUE 65536

const char *const plait_setting_type_names[] = { "integer", "real", "boolean", "text", "choice", "list", NULL };

const char *
plait_setting_type_name (PlaitSettingType type)
{
  return (guint)type <= PLAIT_SETTING_LIST ? plait_setting_type_names[type] : "unknown";
}

gint
plait_setting_find (const PlaitSettingSpecification *const *specifications, guint n, const char *name)
{
  for (guint i = 0; i < n; i++)
    if (g_str_equal (specifications[i]->name, name))
      return (gint)i;
  return -1;
}

char *
plait_setting_remedy (const PlaitSettingSpecification *const *specifications, guint n, const char *name,
                      const char *otherwise)
{
  g_autofree const char **names = g_new0 (const char *, n + 1);

  for (guint i = 0; i < n; i++)
    names[i] = specifications[i]->name;
  return plait_name_remedy (name, names, otherwise);
}

char *
plait_choices_text (const char *choices)
{
  g_auto (GStrv) names = g_strsplit (choices, ";", -1);

  return g_strjoinv (", ", names);
}

char *
plait_setting_expectation (const PlaitSettingSpecification *specification)
{
  static const char *const nouns[] = {
    [PLAIT_SETTING_INTEGER] = "an integer",
    [PLAIT_SETTING_REAL] = "a number",
    [PLAIT_SETTING_BOOLEAN] = "true or false",
    [PLAIT_SETTING_TEXT] = "a text",
    [PLAIT_SETTING_CHOICE] = "one",
    [PLAIT_SETTING_LIST] = "a list",
  };
  const char *noun = nouns[specification->type];
  g_autofree char *names = specification->choices ? plait_choices_text (specification->choices) : NULL;

  if (names)
    return g_strdup_printf ("%s of %s", noun, names);
  if (specification->type == PLAIT_SETTING_LIST)
    return g_strdup ("a list, its items separated by ';'");
  if (specification->minimum && specification->maximum)
    return g_strdup_printf ("%s from %s to %s", noun, specification->minimum, specification->maximum);
  if (specification->minimum)
    return g_strdup_printf ("%s of at least %s", noun, specification->minimum);
  if (specification->maximum)
    return g_strdup_printf ("%s of at most %s", noun, specification->maximum);
  return g_strdup (noun);
}

static gpointer
not_a_value (const PlaitSettingSpecification *specification, const char *text, const char *fault, GError **error)
{
  g_autofree char *expectation = plait_setting_expectation (specification);

  return plait_fail_null (error, PLAIT_ERROR_INPUT, "the value \"%s\" %s; give %s", text, fault, expectation);
}

/* Returns the index of @name in the choices. If it is missing, returns -1 and an error with the nearest choice. */
static gint
choice_index (const PlaitSettingSpecification *specification, const char *name, GError **error)
{
  g_auto (GStrv) names = g_strsplit (specification->choices, ";", -1);

  for (gint i = 0; names[i] != NULL; i++)
    if (g_str_equal (names[i], name))
      return i;
  g_autofree char *remedy = specification->type == PLAIT_SETTING_LIST
                                ? plait_item_remedy (name, (const char *const *)names, ";", "")
                                : plait_name_remedy (name, (const char *const *)names, "");
  g_autofree char *fault = *remedy ? g_strdup_printf ("is not a choice (%s)", remedy) : g_strdup ("is not a choice");
  not_a_value (specification, name, fault, error);
  return -1;
}

static char *
parse_list (const PlaitSettingSpecification *specification, const char *text, GError **error)
{
  g_auto (GStrv) items = g_strsplit (text, ";", -1);
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GString) canonical = g_string_new (NULL);

  for (guint i = 0; items[i] != NULL; i++)
    {
      g_strstrip (items[i]);
      /* A list may end in ';', as GLib's key-files do. */
      if (*items[i] == '\0' && !items[i + 1])
        break;
      if (*items[i] == '\0')
        return not_a_value (specification, text, "has an empty item", error);
      if (specification->choices && choice_index (specification, items[i], error) < 0)
        return NULL;
      if (!g_hash_table_add (seen, items[i]))
        {
          g_autofree char *fault = g_strdup_printf ("names \"%s\" twice", items[i]);
          return not_a_value (specification, text, fault, error);
        }
      if (canonical->len > 0)
        g_string_append_c (canonical, ';');
      g_string_append (canonical, items[i]);
    }
  return g_string_free (g_steal_pointer (&canonical), FALSE);
}

/* Returns @canonical (transfer full), or NULL with an error if the value is @below the minimum or @above the
 * maximum. */
static char *
in_range (const PlaitSettingSpecification *specification, char *canonical, const char *text, gboolean below,
          gboolean above, GError **error)
{
  g_autofree char *number = canonical, *fault = NULL;

  if (!below && !above)
    return g_steal_pointer (&number);
  fault = below ? g_strdup_printf ("is below the minimum %s", specification->minimum)
                : g_strdup_printf ("is above the maximum %s", specification->maximum);
  return not_a_value (specification, text, fault, error);
}

static char *
parse_integer (const PlaitSettingSpecification *specification, const char *text, gint64 *value, GError **error)
{
  gint64 bound;

  if (!plait_parse_integer (text, value))
    return not_a_value (specification, text, "is not an integer", error);
  return in_range (specification, g_strdup_printf ("%jd", *value), text,
                   specification->minimum && plait_parse_integer (specification->minimum, &bound) && *value < bound,
                   specification->maximum && plait_parse_integer (specification->maximum, &bound) && *value > bound,
                   error);
}

static char *
parse_real (const PlaitSettingSpecification *specification, const char *text, double *value, GError **error)
{
  char buffer[PLAIT_NUMBER_LENGTH];
  double bound;

  if (!plait_parse_double (text, value))
    return not_a_value (specification, text, "is not a number", error);
  plait_format_double (buffer, *value == 0 ? 0 : *value); /* turns -0 into 0 */
  return in_range (specification, g_strdup (buffer), text,
                   specification->minimum && plait_parse_double (specification->minimum, &bound) && *value < bound,
                   specification->maximum && plait_parse_double (specification->maximum, &bound) && *value > bound,
                   error);
}

/* Checks that @text fits on one line of a key-file: valid UTF-8 of at most LONGEST_VALUE bytes without control
 * characters. */
static gboolean
check_text (const char *text, GError **error)
{
  if (strlen (text) > LONGEST_VALUE)
    return plait_fail (error, PLAIT_ERROR_INPUT, "a value of %zu bytes is too long; give at most %d bytes",
                       strlen (text), LONGEST_VALUE);
  if (!g_utf8_validate (text, -1, NULL))
    return plait_fail (error, PLAIT_ERROR_INPUT, "the value \"%s\" is not valid UTF-8; write it in UTF-8", text);
  for (const char *p = text; *p != '\0'; p++)
    if (g_ascii_iscntrl (*p))
      return plait_fail (error, PLAIT_ERROR_INPUT,
                         "a value holds the control character 0x%02x; give one line of plain text", (guchar)*p);
  return TRUE;
}

char *
plait_setting_parse (const PlaitSettingSpecification *specification, const char *text, PlaitSettingValue *value,
                     GError **error)
{
  PlaitSettingValue parsed = { 0 };
  g_autofree char *canonical = NULL;

  if (!check_text (text, error))
    return NULL;
  g_autofree char *stripped = g_strstrip (g_strdup (text));
  switch (specification->type)
    {
    case PLAIT_SETTING_INTEGER:
      canonical = parse_integer (specification, stripped, &parsed.integer, error);
      break;
    case PLAIT_SETTING_REAL:
      canonical = parse_real (specification, stripped, &parsed.real, error);
      break;
    case PLAIT_SETTING_BOOLEAN:
      if (plait_parse_boolean (stripped, &parsed.boolean))
        canonical = g_steal_pointer (&stripped);
      else
        not_a_value (specification, stripped, "is not a truth value", error);
      break;
    case PLAIT_SETTING_TEXT:
      canonical = g_steal_pointer (&stripped);
      parsed.text = canonical;
      break;
    case PLAIT_SETTING_CHOICE:
      parsed.choice = choice_index (specification, stripped, error);
      if (parsed.choice >= 0)
        canonical = g_steal_pointer (&stripped);
      break;
    case PLAIT_SETTING_LIST:
      canonical = parse_list (specification, stripped, error);
      parsed.text = canonical;
      break;
    }
  if (canonical && value)
    *value = parsed;
  return g_steal_pointer (&canonical);
}

void
plait_setting_add_json (const PlaitSettingSpecification *specification, const char *text, PlaitJson *json,
                        const char *name)
{
  PlaitSettingSpecification free_range = { specification->name, specification->type };
  PlaitSettingValue value;
  g_autofree char *canonical = NULL;

  free_range.choices = specification->choices;
  if (text)
    canonical = plait_setting_parse (&free_range, text, &value, NULL);
  if (!canonical)
    plait_json_text (json, name, NULL);
  else if (specification->type == PLAIT_SETTING_INTEGER)
    plait_json_integer (json, name, value.integer);
  else if (specification->type == PLAIT_SETTING_REAL)
    plait_json_real (json, name, value.real);
  else if (specification->type == PLAIT_SETTING_BOOLEAN)
    plait_json_boolean (json, name, value.boolean);
  else
    plait_json_text (json, name, canonical);
}

/* Checks that a bound is a number of the setting's type, and that the type has bounds. */
static gboolean
check_bound (const PlaitSettingSpecification *specification, const char *key, const char *bound, GError **error)
{
  gint64 integer;
  double real;

  if (!bound)
    return TRUE;
  if (specification->type == PLAIT_SETTING_INTEGER)
    return plait_parse_integer (bound, &integer)
           || plait_fail (error, PLAIT_ERROR_INPUT,
                          "the bound %s=%s is not an integer, but the setting has type=integer; give an integer", key,
                          bound);
  if (specification->type == PLAIT_SETTING_REAL)
    return plait_parse_double (bound, &real)
           || plait_fail (error, PLAIT_ERROR_INPUT,
                          "the bound %s=%s is not a number, but the setting has type=real; give a number", key, bound);
  return plait_fail (
      error, PLAIT_ERROR_INPUT,
      "%s=%s bounds a setting of type %s; drop this key, because only the types integer and real have bounds", key,
      bound, plait_setting_type_name (specification->type));
}

static gboolean
check_choices (const PlaitSettingSpecification *specification, GError **error)
{
  gboolean takes = specification->type == PLAIT_SETTING_CHOICE || specification->type == PLAIT_SETTING_LIST;

  if (!specification->choices)
    return specification->type != PLAIT_SETTING_CHOICE
           || plait_fail (error, PLAIT_ERROR_INPUT, "type=choice without choices; add choices=FIRST;SECOND");
  if (!takes)
    return plait_fail (
        error, PLAIT_ERROR_INPUT,
        "choices=%s for a setting of type %s; drop this key, because only the types choice and list have choices",
        specification->choices, plait_setting_type_name (specification->type));

  g_auto (GStrv) names = g_strsplit (specification->choices, ";", -1);
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  for (guint i = 0; names[i] != NULL; i++)
    if (*names[i] == '\0' || !g_hash_table_add (seen, names[i]))
      return plait_fail (error, PLAIT_ERROR_INPUT, "choices=%s holds %s", specification->choices,
                         *names[i] == '\0' ? "an empty name; drop one of the ';'"
                                           : "a name twice; name each choice once");
  return TRUE;
}

gboolean
plait_setting_check (const PlaitSettingSpecification *specification, GError **error)
{
  const char *minimum = specification->minimum, *maximum = specification->maximum;

  if (!check_bound (specification, "minimum", minimum, error) || !check_bound (specification, "maximum", maximum, error)
      || !check_choices (specification, error))
    return FALSE;
  if (minimum && maximum)
    {
      double least, most;

      if (plait_parse_double (minimum, &least) && plait_parse_double (maximum, &most) && least > most)
        return plait_fail (
            error, PLAIT_ERROR_INPUT,
            "minimum=%s is above maximum=%s, so no value is allowed; lower the minimum or raise the maximum", minimum,
            maximum);
    }
  if (specification->standard)
    {
      g_autoptr (GError) fault = NULL;
      g_autofree char *canonical = plait_setting_parse (specification, specification->standard, NULL, &fault);

      if (!canonical)
        return plait_fail (error, PLAIT_ERROR_INPUT, "default: %s", fault->message);
    }
  return TRUE;
}

/*
 * Values of a group of settings
 */

typedef struct
{
  char *text; /* canonical text of the value; NULL if the setting has no value */
  PlaitSettingValue value;
  gboolean given;
} Entry;

struct PlaitSettings
{
  guint references;
  guint n;
  const PlaitSettingSpecification **specifications; /* [n] specification of each setting */
  Entry *entries;                                   /* [n] value of each setting */
};

PlaitSettings *
plait_settings_new (const PlaitSettingSpecification *const *specifications, guint n)
{
  PlaitSettings *settings = g_new0 (PlaitSettings, 1);

  settings->references = 1;
  settings->n = n;
  settings->specifications = g_memdup2 (specifications, n * sizeof *specifications);
  settings->entries = g_new0 (Entry, n);
  for (guint i = 0; i < n; i++)
    {
      Entry *entry = &settings->entries[i];

      if (!specifications[i]->standard)
        continue;
      entry->text = plait_setting_parse (specifications[i], specifications[i]->standard, &entry->value, NULL);
      g_assert (entry->text != NULL); /* cannot be NULL: plait_setting_check has accepted the default */
    }
  return settings;
}

PlaitSettings *
plait_settings_new_for_group (const PlaitSettingGroup *group)
{
  g_autofree const PlaitSettingSpecification **specifications
      = g_new (const PlaitSettingSpecification *, group->n_definitions);

  for (guint i = 0; i < group->n_definitions; i++)
    specifications[i] = &group->definitions[i].specification;
  return plait_settings_new (specifications, group->n_definitions);
}

PlaitSettings *
plait_settings_share (PlaitSettings *settings)
{
  settings->references++;
  return settings;
}

void
plait_settings_free (PlaitSettings *settings)
{
  if (!settings || --settings->references > 0)
    return;
  for (guint i = 0; i < settings->n; i++)
    g_free (settings->entries[i].text);
  g_free (settings->specifications);
  g_free (settings->entries);
  g_free (settings);
}

guint
plait_settings_n (const PlaitSettings *settings)
{
  return settings->n;
}

const PlaitSettingSpecification *
plait_settings_specification (const PlaitSettings *settings, guint index)
{
  g_assert (index < settings->n);
  return settings->specifications[index];
}

gint
plait_settings_find (const PlaitSettings *settings, const char *name)
{
  return plait_setting_find (settings->specifications, settings->n, name);
}

char *
plait_settings_remedy (const PlaitSettings *settings, const char *name, const char *otherwise)
{
  return plait_setting_remedy (settings->specifications, settings->n, name, otherwise);
}

gboolean
plait_settings_set (PlaitSettings *settings, const char *name, const char *text, GError **error)
{
  gint index = plait_settings_find (settings, name);
  PlaitSettingValue value;

  g_assert (settings->references == 1);
  if (index < 0)
    {
      g_autofree char *remedy = plait_settings_remedy (settings, name, NULL);

      return plait_fail (error, PLAIT_ERROR_INPUT, "\"%s\" is not a key here; %s", name, remedy);
    }
  Entry *entry = &settings->entries[index];
  char *canonical = plait_setting_parse (settings->specifications[index], text, &value, error);
  if (!canonical)
    return FALSE;
  g_free (entry->text);
  entry->text = canonical;
  entry->value = value;
  entry->given = TRUE;
  return TRUE;
}

const char *
plait_settings_text_at (const PlaitSettings *settings, guint index)
{
  g_assert (index < settings->n);
  return settings->entries[index].text;
}

const char *
plait_settings_text (const PlaitSettings *settings, const char *name)
{
  gint index = plait_settings_find (settings, name);

  return index < 0 ? NULL : settings->entries[index].text;
}

gboolean
plait_settings_is_given (const PlaitSettings *settings, guint index)
{
  g_assert (index < settings->n);
  return settings->entries[index].given;
}

static void
store (PlaitSettingType type, const PlaitSettingValue *value, gpointer field)
{
  switch (type)
    {
    case PLAIT_SETTING_INTEGER:
      *(gint64 *)field = value->integer;
      break;
    case PLAIT_SETTING_REAL:
      *(double *)field = value->real;
      break;
    case PLAIT_SETTING_BOOLEAN:
      *(gboolean *)field = value->boolean;
      break;
    case PLAIT_SETTING_CHOICE:
      *(gint *)field = value->choice;
      break;
    case PLAIT_SETTING_TEXT:
    case PLAIT_SETTING_LIST:
      *(const char **)field = value->text;
      break;
    }
}

void
plait_settings_fill (const PlaitSettings *settings, const PlaitBinding *bindings, guint n_bindings, gpointer memory)
{
  for (guint i = 0; i < n_bindings; i++)
    {
      gint index = plait_settings_find (settings, bindings[i].name);

      g_assert (index >= 0 && settings->specifications[index]->type == bindings[i].type);
      store (bindings[i].type, &settings->entries[index].value, (guint8 *)memory + bindings[i].offset);
    }
}

void
plait_settings_fill_group (const PlaitSettings *settings, const PlaitSettingGroup *group, gpointer memory)
{
  for (guint i = 0; i < group->n_definitions; i++)
    {
      const PlaitSettingDefinition *definition = &group->definitions[i];

      g_assert (settings->specifications[i] == &definition->specification);
      store (definition->specification.type, &settings->entries[i].value, (guint8 *)memory + definition->offset);
    }
}

void
plait_setting_group_defaults (const PlaitSettingGroup *group, gpointer memory)
{
  g_autoptr (PlaitSettings) settings = plait_settings_new_for_group (group);

  /* The texts of @settings are freed on return, so point to the static texts of the specifications. */
  for (guint i = 0; i < settings->n; i++)
    if (settings->specifications[i]->type == PLAIT_SETTING_TEXT
        || settings->specifications[i]->type == PLAIT_SETTING_LIST)
      settings->entries[i].value.text = settings->specifications[i]->standard;
  memset (memory, 0, group->settings_size);
  plait_settings_fill_group (settings, group, memory);
}
