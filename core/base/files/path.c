/* SPDX-License-Identifier: MIT */
#include "files/path.h"

#include <pwd.h>
#include <string.h>

#define MAX_USER_ENTRY (64 * 1024)

/* Returns the user's home folder: $HOME, else the one that the system knows. (transfer none) */
static const char *
own_home (void)
{
  const char *own = g_getenv ("HOME");

  return own ? own : g_get_home_dir ();
}

/* Returns the home folder of @user. (transfer full) */
static char *
find_home (const char *user, GError **error)
{
  g_autofree char *buffer = g_malloc (MAX_USER_ENTRY);
  struct passwd entry, *found = NULL;

  if (getpwnam_r (user, &entry, buffer, MAX_USER_ENTRY, &found) == 0 && found)
    return g_strdup (entry.pw_dir);
  return plait_fail_null (error, PLAIT_ERROR_INPUT, "~%s: there is no user %s; write ./~%s for a folder of that name",
                          user, user, user);
}

/* Returns the home folder that "~" or "~USER" at the beginning of @written means, and sets *@rest to the text after it.
 * Without a tilde, returns "" and sets *@rest to @written. (transfer full) */
static char *
home_of (const char *written, const char **rest, GError **error)
{
  *rest = *written == '~' ? written + strcspn (written, "/") : written;
  if (*rest == written)
    return g_strdup ("");
  if (*rest == written + 1)
    return g_strdup (own_home ());
  g_autofree char *user = g_strndup (written + 1, (gsize)(*rest - written - 1));
  return find_home (user, error);
}

char *
plait_path_expand_home (const char *written, GError **error)
{
  const char *rest;
  g_autofree char *home = home_of (written, &rest, error);

  return home ? g_strconcat (home, rest, NULL) : NULL;
}

/* Returns the variable name after the dollar at @sign and sets *@end to the text after it; NULL without a name.
 * (transfer full) */
static char *
variable_name (const char *sign, const char **end)
{
  gboolean in_braces = sign[1] == '{';
  const char *name = sign + 1 + in_braces, *p = name;

  while (g_ascii_isalpha (*p) || *p == '_' || (p > name && g_ascii_isdigit (*p)))
    p++;
  *end = p + in_braces;
  return p == name || (in_braces && *p != '}') ? NULL : g_strndup (name, (gsize)(p - name));
}

static gboolean
append_variable (GString *path, const char *sign, const char **end, GError **error)
{
  g_autofree char *name = variable_name (sign, end);
  const char *value = name ? g_getenv (name) : NULL;

  if (!name)
    return plait_fail (
        error, PLAIT_ERROR_INPUT,
        "a $ is not followed by the name of a variable; write $NAME or ${NAME}, or $$ for a dollar sign");
  if (!value)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "the variable %s is not set; set it in the environment, or write $$ for a dollar sign", name);
  g_string_append (path, value);
  return TRUE;
}

char *
plait_path_expand (const char *written, GError **error)
{
  const char *end, *rest;
  g_autofree char *home = home_of (written, &rest, error); /* only @rest is expanded: @home may contain a dollar sign */
  g_autoptr (GString) path = g_string_new (home);

  if (!home)
    return NULL;
  for (const char *p = rest; *p != '\0'; p = end)
    if (p[0] != '$')
      {
        end = p + strcspn (p, "$");
        g_string_append_len (path, p, end - p);
      }
    else if (p[1] == '$')
      {
        end = p + 2;
        g_string_append_c (path, '$');
      }
    else if (!append_variable (path, p, &end, error))
      return NULL;
  return g_strdup (path->str);
}

char *
plait_path_escape (const char *path)
{
  g_auto (GStrv) parts = g_strsplit (path, "$", -1);
  g_autofree char *escaped = g_strjoinv ("$$", parts);

  return g_strconcat (*path == '~' ? "./" : "", escaped, NULL);
}

const char *
plait_path_within (const char *path, const char *folder)
{
  gsize length = strlen (folder);

  return g_str_has_prefix (path, folder) && path[length] == '/' ? path + length + 1 : path;
}

char *
plait_path_stem (const char *path, const char *ending)
{
  char *name = g_path_get_basename (path);

  if (g_str_has_suffix (name, ending))
    name[strlen (name) - strlen (ending)] = '\0';
  return name;
}

void
plait_path_append_quoted (GString *line, const char *word)
{
  g_autofree char *quoted = g_shell_quote (word);
  gboolean plain = *word && strspn (word, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "-_+./=,:@%") == strlen (word);

  g_string_append_printf (line, "%s%s", line->len > 0 ? " " : "", plain ? word : quoted);
}

char *
plait_path_user_folder (const char *variable, const char *below)
{
  const char *named = g_getenv (variable), *home = own_home ();

  if (named && g_path_is_absolute (named))
    return g_strdup (named);
  return g_path_is_absolute (home) ? g_build_filename (home, below, NULL) : NULL;
}

const char *
plait_path_temporary (void)
{
  const char *named = g_getenv ("TMPDIR");

  return named && g_path_is_absolute (named) ? named : "/tmp";
}
