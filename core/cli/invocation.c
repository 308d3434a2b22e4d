/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/path.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/page.h"
#include "cli/reference.h"

/* "-s, --set=G.K=V". (transfer full) */
static char *
option_label (const GOptionEntry *option)
{
  g_autofree char *initial = option->short_name ? g_strdup_printf ("-%c, ", option->short_name) : g_strdup ("");

  return g_strconcat (initial, "--", option->long_name, option->arg_description ? "=" : "", option->arg_description,
                      NULL);
}

static void
print_options (PlaitPage *page, const GOptionEntry *entries, guint width)
{
  for (const GOptionEntry *option = entries; option && option->long_name; option++)
    {
      g_autofree char *label = option_label (option);

      plait_page_row (page, width, label, option->description);
    }
}

static guint
widest_option (const GOptionEntry *entries)
{
  guint width = 0;

  for (const GOptionEntry *option = entries; option && option->long_name; option++)
    {
      g_autofree char *label = option_label (option);

      width = MAX (width, (guint)strlen (label));
    }
  return width;
}

/* "plait run --help". GOption's own way of helping ends the process and knows no terminal's width. */
static void
print_command_help (const PlaitCommand *command, const GOptionEntry *own, const GOptionEntry *common)
{
  g_autoptr (PlaitPage) page = plait_page_new ();
  g_autofree char *usage = g_strdup_printf ("Usage: plait %s ", command->name);
  g_autofree char *summary = g_strdup_printf ("%s.\n\nOptions:", command->summary);
  g_auto (GStrv) details = g_strsplit (command->details ? command->details : "", "\n", -1);
  guint indent = (guint)strlen (usage);
  guint width = MAX (widest_option (own), widest_option (common));

  plait_page_text (page, PLAIT_PAGE_PLAIN, "%s", usage);
  plait_page_paragraph (page, indent, indent, command->synopsis);
  plait_page_text (page, PLAIT_PAGE_PLAIN, "\n");
  plait_page_paragraph (page, 0, 0, summary);
  print_options (page, own, width);
  print_options (page, common, width);
  if (details[0])
    plait_page_text (page, PLAIT_PAGE_PLAIN, "\n");
  for (guint i = 0; details[i]; i++)
    if (*details[i] == ' ') /* an example, to be copied */
      plait_page_text (page, PLAIT_PAGE_PLAIN, "%s\n", details[i]);
    else
      plait_page_paragraph (page, 0, 0, details[i]);
}

static gboolean
check_count (const PlaitCommand *command, guint n, int least, int most, GError **error)
{
  if (n < (guint)least)
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s is missing; usage: plait %s %s",
                       n == 0 ? "an argument" : "another argument", command->name, command->synopsis);
  if (most >= 0 && n > (guint)most)
    return plait_fail (error, PLAIT_ERROR_INPUT, "%u argument%s too many; usage: plait %s %s", n - (guint)most,
                       n - (guint)most == 1 ? "" : "s", command->name, command->synopsis);
  return TRUE;
}

/* The option that @word ("--set", "-s") is, or NULL. */
static const GOptionEntry *
find_option (const GOptionEntry *entries, const char *word)
{
  for (const GOptionEntry *option = entries; option && option->long_name; option++)
    {
      const char initial[] = { '-', option->short_name, '\0' };

      if ((g_str_has_prefix (word, "--") && g_str_equal (word + 2, option->long_name)) || g_str_equal (word, initial))
        return option;
    }
  return NULL;
}

/* GOption takes and ignores what is given to an option that has no value: --quiet=no. */
static gboolean
check_flags (const PlaitInvocation *invocation, const GOptionEntry *own, const GOptionEntry *common, GError **error)
{
  for (guint i = 0; invocation->arguments[i] && !g_str_equal (invocation->arguments[i], "--"); i++)
    {
      const char *equals = strchr (invocation->arguments[i], '=');
      g_autofree char *word = g_strndup (invocation->arguments[i], strcspn (invocation->arguments[i], "="));
      const GOptionEntry *option = find_option (own, word);

      if (!option)
        option = find_option (common, word);
      if (equals && option && option->arg == G_OPTION_ARG_NONE)
        return plait_fail (error, PLAIT_ERROR_INPUT, "%s takes no value; leave \"%s\" out, or the option", word,
                           equals);
    }
  return TRUE;
}

/* Says which option there is not, or lacks its value. GOption leaves either to its message. */
static gboolean
refuse_option (const PlaitInvocation *invocation, const GOptionEntry *own, const GOptionEntry *common,
               const GError *fault, GError **error)
{
  const GOptionEntry *lists[] = { own, common };
  const char *said = strstr (fault->message, " -"), *nearest;
  g_autofree char *word = said ? g_strndup (said + 1, strcspn (said + 1, " =")) : g_strdup ("");
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);

  for (guint l = 0; l < G_N_ELEMENTS (lists); l++)
    {
      const GOptionEntry *option = find_option (lists[l], word);

      if (option)
        return plait_fail (error, PLAIT_ERROR_INPUT, "%s is given without its value; expected %s %s", word, word,
                           option->arg_description);
      for (option = lists[l]; option && option->long_name; option++)
        g_ptr_array_add (names, g_strconcat ("--", option->long_name, NULL));
    }
  g_ptr_array_add (names, NULL);
  nearest = g_str_has_prefix (word, "--") ? plait_nearest_name (word, (const char *const *)names->pdata) : NULL;
  if (nearest)
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s; did you mean %s? plait %s --help lists the options",
                       fault->message, nearest, invocation->command->name);
  return plait_fail (error, PLAIT_ERROR_INPUT, "%s; plait %s --help lists the options", fault->message,
                     invocation->command->name);
}

/* The path in *@value, which --help calls @name: what it is, or what stands behind NAME=. */
static gboolean
expand_value (char **value, const char *name, GError **error)
{
  char *equals = strchr (name, '=') ? strchr (*value, '=') : NULL;
  g_autofree char *path = plait_path_expand_home (equals ? equals + 1 : *value, error);
  char *whole = path ? g_strdup_printf ("%.*s%s", equals ? (int)(equals + 1 - *value) : 0, *value, path) : NULL;

  if (!whole)
    return FALSE;
  g_free (*value);
  *value = whole;
  return TRUE;
}

/* A shell expands the tilde of an argument, but none behind --output= or NAME=. */
static gboolean
expand_paths (const GOptionEntry *entries, GError **error)
{
  for (const GOptionEntry *option = entries; option && option->long_name; option++)
    {
      const char *name = option->arg_description;
      PlaitValueKind kind = name ? plait_option_value_kind (name) : PLAIT_VALUE_OTHER;
      char **values = option->arg_data;

      if (kind != PLAIT_VALUE_FILE && kind != PLAIT_VALUE_FOLDER)
        continue;
      if (option->arg != G_OPTION_ARG_FILENAME_ARRAY)
        {
          if (*values && !expand_value (values, name, error))
            return FALSE;
          continue;
        }
      for (values = *(char ***)option->arg_data; values && *values; values++)
        if (!expand_value (values, name, error))
          return FALSE;
    }
  return TRUE;
}

/* "a, b or c". (transfer full) */
static char *
list_choices (char *const *choices)
{
  GString *list = g_string_new (choices[0]);

  for (guint i = 1; choices[i]; i++)
    g_string_append_printf (list, "%s%s", choices[i + 1] ? ", " : " or ", choices[i]);
  return g_string_free (list, FALSE);
}

/* Whether values are among the choices that --help tells of. */
static gboolean
check_choices (const GOptionEntry *entries, GError **error)
{
  for (const GOptionEntry *option = entries; option && option->long_name; option++)
    {
      const char *value = option->arg == G_OPTION_ARG_FILENAME ? *(char **)option->arg_data : NULL;
      g_auto (GStrv) choices = NULL;

      if (!value || plait_option_value_kind (option->arg_description) != PLAIT_VALUE_CHOICE)
        continue;
      choices = g_strsplit (option->arg_description, "|", -1);
      if (g_strv_contains ((const char *const *)choices, value))
        continue;
      g_autofree char *shown = g_utf8_make_valid (value, -1), *expected = list_choices (choices);
      return plait_fail (error, PLAIT_ERROR_INPUT, "--%s cannot be \"%s\"; expected %s", option->long_name, shown,
                         expected);
    }
  return TRUE;
}

/* Lets values last as long as @invocation. */
static void
keep_values (PlaitInvocation *invocation, const GOptionEntry *entries)
{
  invocation->values = g_ptr_array_new_with_free_func (g_free);
  for (const GOptionEntry *option = entries; option && option->long_name; option++)
    if (option->arg == G_OPTION_ARG_FILENAME || option->arg == G_OPTION_ARG_FILENAME_ARRAY)
      {
        gpointer value = *(gpointer *)option->arg_data;

        g_ptr_array_add (invocation->values, value);
        for (char **each = value; option->arg == G_OPTION_ARG_FILENAME_ARRAY && each && *each; each++)
          g_ptr_array_add (invocation->values, *each);
      }
}

void
plait_command_describe (const PlaitCommand *command, PlaitDescribe describe)
{
  char *none[] = { NULL };
  PlaitInvocation invocation = { .command = command, .arguments = none, .describe = describe };

  command->run (&invocation, NULL);
}

gboolean
plait_invocation_parse (PlaitInvocation *invocation, const GOptionEntry *entries, int least, int most, GError **error)
{
  const PlaitCommand *command = invocation->command;
  gboolean help = FALSE, quiet = FALSE, good;
  const GOptionEntry common[] = {
    { "quiet", 'q', 0, G_OPTION_ARG_NONE, &quiet, "Say only warnings and errors", NULL },
    { "help", 'h', 0, G_OPTION_ARG_NONE, &help, "Show this", NULL },
    { NULL },
  };
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  g_autoptr (GError) fault = NULL;
  /* The parser takes the first word for the program's name. */
  g_auto (GStrv) words = g_new0 (char *, g_strv_length (invocation->arguments) + 2);

  if (invocation->describe)
    {
      invocation->describe (command, entries, common);
      return FALSE;
    }
  g_option_context_set_help_enabled (context, FALSE);
  if (entries)
    g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_add_main_entries (context, common, NULL);
  words[0] = g_strdup ("plait");
  for (guint i = 0; invocation->arguments[i]; i++)
    words[i + 1] = g_strdup (invocation->arguments[i]);
  if (!check_flags (invocation, entries, common, error))
    return FALSE;
  if (!g_option_context_parse_strv (context, &words, &fault))
    return refuse_option (invocation, entries, common, fault, error);
  good = help || (expand_paths (entries, error) && check_choices (entries, error));
  keep_values (invocation, entries);
  if (help)
    print_command_help (command, entries, common);
  if (help || !good)
    return FALSE;
  invocation->log = plait_log_new (quiet);

  /* "--" ends the options and is no argument itself. */
  guint first = words[1] && g_str_equal (words[1], "--") ? 2 : 1;
  g_strfreev (invocation->arguments);
  invocation->arguments = g_strdupv (words + first);
  return check_count (command, g_strv_length (invocation->arguments), least, most, error);
}
