/* SPDX-License-Identifier: MIT */
#include "files/key-file.h"
#include "files/file.h"
#include "files/problems.h"

#include <string.h>

#define MAX_FILE ((gsize)16 << 20)
#define EXPECTED "a file of groups and keys"

typedef struct
{
  char *name;
  char *value;
  char *origin;
  guint line;
} Entry;

typedef struct
{
  char *name;
  char *origin;
  guint line;
  /* names of the keys in order; the strings belong to @entries */
  GPtrArray *keys;
  GHashTable *entries;
} Group;

struct PlaitKeyFile
{
  char *name;
  /* values as written, with their escapes; needed to split lists */
  GKeyFile *written;
  GPtrArray *names;
  GHashTable *groups;
};

static void
entry_free (gpointer data)
{
  Entry *entry = data;

  g_free (entry->name);
  g_free (entry->value);
  g_free (entry->origin);
  g_free (entry);
}

static void
group_free (gpointer data)
{
  Group *group = data;

  g_ptr_array_unref (group->keys);
  g_hash_table_unref (group->entries);
  g_free (group->name);
  g_free (group->origin);
  g_free (group);
}

PlaitKeyFile *
plait_key_file_new (const char *name)
{
  PlaitKeyFile *file = g_new0 (PlaitKeyFile, 1);

  file->name = g_strdup (name);
  file->written = g_key_file_new ();
  file->names = g_ptr_array_new_null_terminated (8, NULL, TRUE);
  file->groups = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, group_free);
  return file;
}

void
plait_key_file_free (PlaitKeyFile *file)
{
  if (!file)
    return;
  g_free (file->name);
  g_key_file_unref (file->written);
  g_ptr_array_unref (file->names);
  g_hash_table_unref (file->groups);
  g_free (file);
}

static Group *
find_group (const PlaitKeyFile *file, const char *name)
{
  return g_hash_table_lookup (file->groups, name);
}

static Entry *
find_entry (const PlaitKeyFile *file, const char *group_name, const char *key)
{
  Group *group = find_group (file, group_name);

  return !group || !key ? NULL : g_hash_table_lookup (group->entries, key);
}

static Group *
add_group (PlaitKeyFile *file, const char *name, guint line)
{
  Group *group = g_new0 (Group, 1);

  group->name = g_strdup (name);
  group->line = line;
  group->keys = g_ptr_array_new_null_terminated (8, NULL, TRUE);
  group->entries = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, entry_free);
  g_ptr_array_add (file->names, group->name);
  g_hash_table_insert (file->groups, group->name, group);
  return group;
}

/* Returns @length bytes of @text without blanks at both ends. (transfer full) */
static char *
stripped (const char *text, gsize length)
{
  return g_strstrip (g_strndup (text, length));
}

/* TRUE if @name is not empty and has no control characters, no character of @reserved, and no blanks at its ends. */
static gboolean
is_name (const char *name, const char *reserved)
{
  if (*name == '\0' || g_ascii_isspace (*name) || g_ascii_isspace (name[strlen (name) - 1]))
    return FALSE;
  for (; *name != '\0'; name++)
    if (g_ascii_iscntrl (*name) || strchr (reserved, *name))
      return FALSE;
  return TRUE;
}

static gboolean
is_key_name (const char *name)
{
  return name[0] != '#' && is_name (name, "[]=");
}

/* Returns the value with its escapes resolved, or NULL if an escape is unknown. (transfer full) */
static char *
resolve (const char *written)
{
  static const char letters[] = "stnr\\;", meanings[] = " \t\n\r\\;";
  g_autoptr (GString) value = g_string_new (NULL);

  for (; *written != '\0'; written++)
    {
      const char *letter = written;

      if (*written == '\\')
        {
          written++;
          letter = *written == '\0' ? NULL : strchr (letters, *written);
          if (!letter)
            return NULL;
          letter = &meanings[letter - letters];
        }
      g_string_append_c (value, *letter);
    }
  return g_string_free (g_steal_pointer (&value), FALSE);
}

/* Sets the value of @key in @group to @written, and adds the key if it is missing. Returns the entry of the key; NULL,
 * with nothing changed, if @written has an unknown escape. */
static Entry *
put (PlaitKeyFile *file, Group *group, const char *key, const char *written)
{
  Entry *entry = g_hash_table_lookup (group->entries, key);
  char *value = resolve (written);

  if (!value)
    return NULL;
  g_key_file_set_value (file->written, group->name, key, written);
  if (!entry)
    {
      entry = g_new0 (Entry, 1);
      entry->name = g_strdup (key);
      g_ptr_array_add (group->keys, entry->name);
      g_hash_table_insert (group->entries, entry->name, entry);
    }
  g_free (entry->value);
  entry->value = value;
  return entry;
}

#define ESCAPES "only \\s, \\t, \\n, \\r, \\\\ and, in a list, \\; are known; write \\\\ for a backslash"

/* Parses a group header. Returns the group, or NULL after adding a problem. */
static Group *
read_header (PlaitKeyFile *file, const char *line, guint number, PlaitProblems *problems)
{
  gsize length = strlen (line);
  g_autofree char *name = NULL;

  if (line[length - 1] != ']')
    {
      plait_problems_add (
          problems,
          "%s:%u: the group header \"%s\" does not end with \"]\"; close it, and put comments on lines of their own",
          file->name, number, line);
      return NULL;
    }
  name = g_strndup (line + 1, length - 2);
  if (!is_name (name, "[]"))
    {
      plait_problems_add (problems,
                          "%s:%u: \"%s\" is not a valid name of a group; names are not empty, have no \"[\", \"]\" or "
                          "control character, and neither begin nor end with a blank",
                          file->name, number, name);
      return NULL;
    }
  Group *group = find_group (file, name);
  if (group)
    {
      plait_problems_add (problems, "%s:%u: the group [%s] is already in line %u; put all of its keys there",
                          file->name, number, name, group->line);
      return NULL;
    }
  return add_group (file, name, number);
}

/* Parses "key=value" and adds it to @group. */
static void
read_entry (PlaitKeyFile *file, Group *group, const char *line, guint number, PlaitProblems *problems)
{
  const char *equals = strchr (line, '=');

  if (!equals)
    {
      plait_problems_add (problems, "%s:%u: \"%s\" is neither \"[group]\" nor \"key=value\" nor a comment (\"# ...\")",
                          file->name, number, line);
      return;
    }
  g_autofree char *key = stripped (line, equals - line);
  g_autofree char *value = stripped (equals + 1, strlen (equals + 1));
  if (!is_key_name (key))
    {
      plait_problems_add (problems,
                          "%s:%u: \"%s\" is not a valid name of a key; names are not empty and have no \"[\", \"]\" or "
                          "control character",
                          file->name, number, key);
      return;
    }
  Entry *entry = g_hash_table_lookup (group->entries, key);
  if (entry)
    {
      plait_problems_add (problems, "%s:%u: the key %s of [%s] is already in line %u; keep one of the two lines",
                          file->name, number, key, group->name, entry->line);
      return;
    }
  entry = put (file, group, key, value);
  if (!entry)
    {
      plait_problems_add (problems, "%s:%u: the value of %s has an unknown escape: %s", file->name, number, key,
                          ESCAPES);
      return;
    }
  entry->line = number;
}

/* Refuses a file of another kind (plait_file_kind), too large a file, and a file that is not UTF-8 text. */
static gboolean
check_text (const char *text, gsize length, const char *name, GError **error)
{
  const char *kind = plait_file_kind (text, length), *end;
  guint line = 1;

  if (kind)
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s: this file is %s; expected " EXPECTED, name, kind);
  if (length > MAX_FILE)
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s: has more than %zu bytes; expected " EXPECTED, name, MAX_FILE);
  if (g_utf8_validate_len (text, length, &end))
    return TRUE;
  for (const char *at = text; at < end; at++)
    line += *at == '\n';
  if (*end == '\0')
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s:%u: the line has a NUL byte, so the file is not text; name a text file", name, line);
  return plait_fail (error, PLAIT_ERROR_INPUT, "%s:%u: the byte 0x%02x is not valid UTF-8; save the file as UTF-8",
                     name, line, (guint)(guchar)*end);
}

PlaitKeyFile *
plait_key_file_load_data (const char *text, gssize length, const char *name, GError **error)
{
  gsize size = length < 0 ? strlen (text) : (gsize)length;
  const char *end = text + size, *next;
  g_autoptr (PlaitProblems) problems = plait_problems_new ();
  Group *group = NULL;
  /* TRUE after a refused header. Lines up to the next header are ignored, because the refused header was already
   * reported. */
  gboolean refused = FALSE;

  if (!check_text (text, size, name, error))
    return NULL;
  g_autoptr (PlaitKeyFile) file = plait_key_file_new (name);
  /* Some editors begin a file with a byte-order mark. */
  if (size >= 3 && memcmp (text, "\xef\xbb\xbf", 3) == 0)
    text += 3;
  for (guint number = 1; text < end; number++, text = next)
    {
      const char *newline = memchr (text, '\n', end - text);
      g_autofree char *line = stripped (text, (!newline ? end : newline) - text);

      next = !newline ? end : newline + 1;
      if (line[0] == '\0' || line[0] == '#')
        continue;
      if (line[0] == '[')
        {
          group = read_header (file, line, number, problems);
          refused = !group;
        }
      else if (group)
        read_entry (file, group, line, number, problems);
      else if (!refused)
        plait_problems_add (problems, "%s:%u: \"%s\" is before the first group; put it below a \"[group]\"", name,
                            number, line);
    }
  if (!plait_problems_report (problems, PLAIT_ERROR_INPUT, error))
    return NULL;
  return g_steal_pointer (&file);
}

static PlaitKeyFile *
load (const char *path, PlaitFileInput input, GError **error)
{
  g_autoptr (GBytes) bytes = plait_file_read (path, input, MAX_FILE, EXPECTED, error);
  gsize length = 0;
  const char *text = bytes ? g_bytes_get_data (bytes, &length) : NULL;

  return bytes ? plait_key_file_load_data (text, (gssize)length, path, error) : NULL;
}

PlaitKeyFile *
plait_key_file_load (const char *path, GError **error)
{
  return load (path, PLAIT_FILE_REGULAR, error);
}

PlaitKeyFile *
plait_key_file_load_pipe (const char *path, GError **error)
{
  return load (path, PLAIT_FILE_OR_OPEN_PIPE, error);
}

const char *
plait_key_file_name (const PlaitKeyFile *file)
{
  return file->name;
}

const char *const *
plait_key_file_groups (const PlaitKeyFile *file)
{
  return (const char *const *)file->names->pdata;
}

gboolean
plait_key_file_has_group (const PlaitKeyFile *file, const char *group)
{
  return find_group (file, group) != NULL;
}

const char *const *
plait_key_file_keys (const PlaitKeyFile *file, const char *group_name)
{
  static const char *const none[] = { NULL };
  Group *group = find_group (file, group_name);

  return !group ? none : (const char *const *)group->keys->pdata;
}

const char *
plait_key_file_value (const PlaitKeyFile *file, const char *group, const char *key)
{
  Entry *entry = find_entry (file, group, key);

  return !entry ? NULL : entry->value;
}

char **
plait_key_file_list (const PlaitKeyFile *file, const char *group, const char *key)
{
  if (!find_entry (file, group, key))
    return NULL;
  char **items = g_key_file_get_string_list (file->written, group, key, NULL, NULL);
  /* An empty value is an empty list. */
  if (!items)
    return g_new0 (char *, 1);
  for (gsize i = 0; items[i]; i++)
    g_strstrip (items[i]);
  return items;
}

gboolean
plait_key_file_set (PlaitKeyFile *file, const char *group_name, const char *key, const char *value, const char *origin,
                    GError **error)
{
  g_autofree char *written = stripped (value, strlen (value));
  const char *place = !origin ? file->name : origin;

  if (!is_name (group_name, "[]") || !g_utf8_validate (group_name, -1, NULL))
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s: \"%s\" cannot be the name of a group; names are UTF-8, are not empty, have no \"[\", \"]\" "
                       "or control character, and neither begin nor end with a blank",
                       place, group_name);
  if (!is_key_name (key) || !g_utf8_validate (key, -1, NULL))
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s: \"%s\" cannot be the name of a key; names are UTF-8, are not empty, have no \"[\", \"]\", "
                       "\"=\" or control character, do not begin with \"#\", and neither begin nor end with a blank",
                       place, key);
  if (!g_utf8_validate (value, -1, NULL))
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s: the value of %s is not valid UTF-8; write the value in UTF-8",
                       place, key);
  if (strpbrk (written, "\n\r"))
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s: the value of %s has a line break; write \\n for it", place, key);

  g_autofree char *resolved = resolve (written);
  if (!resolved)
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s: the value of %s has an unknown escape: %s", place, key, ESCAPES);
  Group *group = find_group (file, group_name);
  if (!group)
    {
      group = add_group (file, group_name, 0);
      group->origin = g_strdup (origin);
    }
  Entry *entry = put (file, group, key, written);
  if (origin)
    {
      entry->line = 0;
      g_free (entry->origin);
      entry->origin = g_strdup (origin);
    }
  return TRUE;
}

char *
plait_key_file_escape (const char *text)
{
  g_auto (GStrv) parts = g_strsplit (text, "\\", -1);

  return g_strjoinv ("\\\\", parts);
}

char *
plait_key_file_escape_item (const char *text)
{
  g_autofree char *escaped = plait_key_file_escape (text);
  g_auto (GStrv) parts = g_strsplit (escaped, ";", -1);

  return g_strjoinv ("\\;", parts);
}

void
plait_key_file_remove (PlaitKeyFile *file, const char *group_name, const char *key)
{
  Group *group = find_group (file, group_name);
  Entry *entry = find_entry (file, group_name, key);

  if (!entry)
    return;
  g_key_file_remove_key (file->written, group_name, key, NULL);
  g_ptr_array_remove (group->keys, entry->name);
  g_hash_table_remove (group->entries, key);
}

guint
plait_key_file_line (const PlaitKeyFile *file, const char *group_name, const char *key)
{
  Group *group = find_group (file, group_name);
  Entry *entry = find_entry (file, group_name, key);

  return entry ? entry->line : group ? group->line : 0;
}

char *
plait_key_file_location (const PlaitKeyFile *file, const char *group_name, const char *key)
{
  Group *group = find_group (file, group_name);
  Entry *entry = find_entry (file, group_name, key);
  guint line = plait_key_file_line (file, group_name, key);
  const char *origin = entry ? entry->origin : group ? group->origin : NULL;

  if (line != 0)
    return g_strdup_printf ("%s:%u", file->name, line);
  return g_strdup (origin ? origin : file->name);
}

char *
plait_key_file_text (const PlaitKeyFile *file)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < file->names->len; i++)
    {
      const Group *group = find_group (file, file->names->pdata[i]);

      g_string_append_printf (text, "%s[%s]\n", i > 0 ? "\n" : "", group->name);
      for (guint k = 0; k < group->keys->len; k++)
        {
          const char *key = group->keys->pdata[k];
          g_autofree char *written = g_key_file_get_value (file->written, group->name, key, NULL);

          g_string_append_printf (text, "%s=%s\n", key, written);
        }
    }
  return g_string_free (text, FALSE);
}
