/* SPDX-License-Identifier: MIT */
#include "weights/name-map.h"

#include <string.h>

#include "text/number.h"
#include "files/problems.h"
#include "schema/settings.h"
#include "weights/weights-parameter-settings.h"
#include "weights/weights-settings.h"

#define GROUP "weights"

/* A group of the map. The group's name is the pattern of the names of the parameters to which the group applies. */
typedef struct
{
  const char *pattern; /* name of the group */
  char **parts;        /* name of the group, split at slashes */
  PlaitSettings *settings;
  PlaitWeightsParameterSettings entry; /* keys of the group; their texts belong to @settings */
} Group;

struct PlaitNameMap
{
  PlaitKeyFile *file;
  PlaitNameMapWords words;
  char **unused;  /* globs over names of tensors */
  GArray *groups; /* (element-type Group) */
};

static void
clear_group (gpointer data)
{
  Group *group = data;

  g_strfreev (group->parts);
  plait_settings_free (group->settings);
}

void
plait_name_map_free (PlaitNameMap *map)
{
  if (!map)
    return;
  g_array_unref (map->groups);
  g_strfreev (map->unused);
  plait_key_file_free (map->file);
  g_free (map);
}

const PlaitKeyFile *
plait_name_map_file (const PlaitNameMap *map)
{
  return map->file;
}

PlaitNameMapWords
plait_name_map_words (const PlaitNameMap *map)
{
  return map->words;
}

/*
 * Functions that read a map
 */

static void
add_problem (const PlaitNameMap *map, PlaitProblems *problems, const char *group, const char *key, const char *what)
{
  g_autofree char *place = plait_key_file_location (map->file, group, key);

  plait_problems_add (problems, "%s: [%s]%s%s %s", place, group, key ? " " : "", key ? key : "", what);
}

/* Reads the keys of group @name into @memory. Texts in @memory belong to the returned settings. (transfer full) */
static PlaitSettings *
read_group (const PlaitNameMap *map, const char *name, const PlaitSettingGroup *group, gpointer memory,
            PlaitProblems *problems)
{
  PlaitSettings *settings = plait_settings_new_for_group (group);
  const char *const *keys = plait_key_file_keys (map->file, name);
  guint before = plait_problems_count (problems);

  for (guint i = 0; keys[i]; i++)
    {
      g_autoptr (GError) fault = NULL;

      if (!plait_settings_set (settings, keys[i], plait_key_file_value (map->file, name, keys[i]), &fault))
        add_problem (map, problems, name, keys[i], fault->message);
    }
  if (plait_problems_count (problems) == before && group == &plait_weights_parameter_group
      && !plait_key_file_value (map->file, name, "from"))
    add_problem (map, problems, name, NULL,
                 "has no from=; add from= with the names of the tensors from which its parameters are made");
  if (plait_problems_count (problems) == before)
    plait_settings_fill_group (settings, group, memory);
  return settings;
}

static gboolean
read_row (const char *text, gint64 *row)
{
  if (g_str_equal (text, "none"))
    *row = PLAIT_NAME_MAP_NONE;
  else if (g_str_equal (text, "last"))
    *row = PLAIT_NAME_MAP_LAST;
  else
    return plait_parse_integer (text, row) && *row >= 0;
  return TRUE;
}

static void
read_head (PlaitNameMap *map, PlaitProblems *problems)
{
  static const char *const keys[] = { "pad", "bos", "eos", "unknown" };
  guint before = plait_problems_count (problems);
  PlaitWeightsSettings head;
  g_autoptr (PlaitSettings) settings = read_group (map, GROUP, &plait_weights_group, &head, problems);

  G_STATIC_ASSERT (G_N_ELEMENTS (keys) == PLAIT_NAME_MAP_SPECIALS);
  if (plait_problems_count (problems) > before)
    return;
  map->words.words = head.words;
  map->unused = g_strsplit (head.unused, ";", -1);
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    if (!read_row (plait_settings_text (settings, keys[i]), &map->words.specials[i]))
      add_problem (map, problems, GROUP, keys[i], "is not a row; expected last, none, or a number from 0");
}

static void
check_settings (const PlaitNameMap *map, PlaitProblems *problems)
{
  const char *const *keys = plait_key_file_keys (map->file, PLAIT_NAME_MAP_SETTINGS);

  for (guint i = 0; keys[i]; i++)
    if (!g_str_has_prefix (keys[i], "source.") && !g_str_has_prefix (keys[i], "decoder."))
      add_problem (map, problems, PLAIT_NAME_MAP_SETTINGS, keys[i],
                   "is not a setting; expected source.KEY or decoder.KEY");
}

/* TRUE if the braces in @text are paired and each {NAME} in it also appears in @pattern. */
static gboolean
knows_names (const char *text, const char *pattern)
{
  const char *open = strchr (text, '{');
  const char *close = strchr (text, '}');
  g_autofree char *name = NULL;

  if (!open || !close || close < open)
    return open == close;
  name = g_strndup (open, (gsize)(close - open) + 1);
  return strstr (pattern, name) && knows_names (close + 1, pattern);
}

static void
check_braces (PlaitNameMap *map, PlaitProblems *problems, const char *name, const char *key, const char *text)
{
  if (!knows_names (text, name))
    add_problem (map, problems, name, key,
                 "has unpaired braces, or a {NAME} that is not in the group's name; correct it");
}

static void
read_entry (PlaitNameMap *map, const char *name, PlaitProblems *problems)
{
  Group group = { .pattern = name, .parts = g_strsplit (name, "/", -1) };
  guint before = plait_problems_count (problems);

  group.settings = read_group (map, name, &plait_weights_parameter_group, &group.entry, problems);
  if (plait_problems_count (problems) == before)
    {
      check_braces (map, problems, name, NULL, name);
      check_braces (map, problems, name, "from", group.entry.from);
      check_braces (map, problems, name, "plus", group.entry.plus);
    }
  if (plait_problems_count (problems) == before && group.entry.words != PLAIT_WEIGHTS_PARAMETER_WORDS_NONE
      && (group.entry.transposed || strchr (group.entry.from, ';')))
    add_problem (map, problems, name, "words",
                 "needs one tensor that is not transposed, with one word in each row or column; name one tensor in "
                 "from=, and drop transposed");
  g_array_append_val (map->groups, group);
}

PlaitNameMap *
plait_name_map_read (const char *path, GError **error)
{
  g_autoptr (PlaitNameMap) map = g_new0 (PlaitNameMap, 1);
  g_autoptr (PlaitProblems) problems = plait_problems_new ();
  const char *const *groups;

  map->groups = g_array_new (FALSE, TRUE, sizeof (Group));
  g_array_set_clear_func (map->groups, clear_group);
  map->file = plait_key_file_load (path, error);
  if (!map->file)
    return NULL;
  if (!plait_key_file_has_group (map->file, GROUP))
    return plait_fail_null (error, PLAIT_ERROR_INPUT,
                            "%s: has no group [" GROUP "], so it is not a name map; name another file", path);
  read_head (map, problems);
  groups = plait_key_file_groups (map->file);
  for (guint i = 0; groups[i]; i++)
    if (g_str_equal (groups[i], PLAIT_NAME_MAP_SETTINGS))
      check_settings (map, problems);
    else if (!g_str_equal (groups[i], GROUP) && !g_str_equal (groups[i], PLAIT_NAME_MAP_CONFIG))
      read_entry (map, groups[i], problems);
  return plait_problems_report (problems, PLAIT_ERROR_INPUT, error) ? g_steal_pointer (&map) : NULL;
}

/*
 * Functions that look up names in a map
 */

/* TRUE if @group applies to the parameter name @name, split at slashes. */
static gboolean
is_for (const Group *group, char *const *name)
{
  guint i;

  for (i = 0; group->parts[i] && name[i]; i++)
    if (group->parts[i][0] != '{' && !g_str_equal (group->parts[i], name[i]))
      return FALSE;
  return !group->parts[i] && !name[i];
}

/* Returns @text with each {NAME} replaced by its part of @name. (transfer full) */
static char *
fill_in (const char *text, const Group *group, char *const *name)
{
  g_autoptr (GString) made = g_string_new (text);

  for (guint i = 0; group->parts[i]; i++)
    if (group->parts[i][0] == '{')
      g_string_replace (made, group->parts[i], name[i], 0);
  return g_string_free (g_steal_pointer (&made), FALSE);
}

gboolean
plait_name_map_find (const PlaitNameMap *map, const char *name, PlaitParameterMapping *mapping)
{
  g_auto (GStrv) parts = g_strsplit (name, "/", -1);

  for (guint i = 0; i < map->groups->len; i++)
    {
      const Group *group = &g_array_index (map->groups, Group, i);
      const PlaitWeightsParameterSettings *entry = &group->entry;
      g_autofree char *from = NULL;

      if (!is_for (group, parts))
        continue;
      from = fill_in (entry->from, group, parts);
      *mapping = (PlaitParameterMapping){
        .from = g_strsplit (from, ";", -1),
        .plus = *entry->plus ? fill_in (entry->plus, group, parts) : NULL,
        .transposed = entry->transposed,
        .first = entry->first,
        .words = entry->words,
        .fill = entry->fill,
        .optional = entry->optional,
        .place = plait_key_file_location (map->file, group->pattern, "from"),
      };
      return TRUE;
    }
  return FALSE;
}

gboolean
plait_name_map_ignores (const PlaitNameMap *map, const char *tensor)
{
  for (guint i = 0; map->unused[i]; i++)
    if (g_pattern_match_simple (map->unused[i], tensor))
      return TRUE;
  return FALSE;
}

/* TRUE if the tensor name @tensor matches @template, in which a {NAME} stands for any text without dots and slashes. In
 * @name, a copy of group->parts, replaces each {NAME} of @template by its text. */
static gboolean
read_back (const char *template, const char *tensor, const Group *group, char **name)
{
  g_autoptr (GString) expression = g_string_new (NULL);
  g_autoptr (GRegex) regex = NULL;
  g_autoptr (GMatchInfo) match = NULL;
  g_autofree char *again = NULL;
  g_auto (GStrv) pieces = g_regex_split_simple ("(\\{[^}]*\\})", template, 0, 0);

  for (guint i = 0; pieces[i]; i++)
    {
      g_autofree char *literal = g_regex_escape_string (pieces[i], -1);

      g_string_append (expression, i % 2 ? "([^./]+)" : literal);
    }
  regex = g_regex_new (expression->str, G_REGEX_ANCHORED | G_REGEX_DOLLAR_ENDONLY, 0, NULL);
  if (!regex || !g_regex_match (regex, tensor, 0, &match))
    return FALSE;
  for (guint i = 1; pieces[i] && pieces[i + 1]; i += 2)
    for (guint k = 0; group->parts[k]; k++)
      if (g_str_equal (group->parts[k], pieces[i]))
        {
          g_free (name[k]);
          name[k] = g_match_info_fetch (match, (int)(i + 1) / 2);
        }
  again = fill_in (template, group, name);
  return g_str_equal (again, tensor);
}

/* Appends to @uses the parameter that @group makes of @tensor, if one of @names (separated by '|') matches @tensor. */
static void
add_use (const Group *group, const char *names, const char *tensor, GArray *uses)
{
  g_auto (GStrv) any = g_strsplit (names, "|", -1);

  for (guint i = 0; any[i]; i++)
    {
      g_auto (GStrv) name = g_strdupv (group->parts);
      PlaitMappedParameter use = { .optional = group->entry.optional, .needs = group->entry.needs };

      if (!read_back (g_strstrip (any[i]), tensor, group, name))
        continue;
      use.names = fill_in (names, group, name);
      for (guint k = 0; name[k]; k++)
        if (name[k][0] == '{')
          {
            g_free (name[k]);
            name[k] = g_strdup ("*");
          }
      use.parameter = g_strjoinv ("/", name);
      g_array_append_val (uses, use);
      return;
    }
}

static void
clear_use (gpointer data)
{
  PlaitMappedParameter *use = data;

  g_free (use->parameter);
  g_free (use->names);
}

GArray *
plait_name_map_uses (const PlaitNameMap *map, const char *tensor)
{
  GArray *uses = g_array_new (FALSE, FALSE, sizeof (PlaitMappedParameter));

  g_array_set_clear_func (uses, clear_use);
  for (guint i = 0; i < map->groups->len; i++)
    {
      const Group *group = &g_array_index (map->groups, Group, i);
      g_auto (GStrv) from = g_strsplit (group->entry.from, ";", -1);

      for (guint k = 0; from[k]; k++)
        add_use (group, from[k], tensor, uses);
      add_use (group, group->entry.plus, tensor, uses);
    }
  return uses;
}

void
plait_parameter_mapping_clear (PlaitParameterMapping *mapping)
{
  g_strfreev (mapping->from);
  g_free (mapping->plus);
  g_free (mapping->place);
}
