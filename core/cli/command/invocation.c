/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "files/path.h"
#include "command/command.h"
#include "command/options.h"
#include "terminal/page.h"
#include "command/reference.h"

/* "-s, --set=G.K=V". (transfer full) */
static char *
option_label (const GOptionEntry *option)
{
  g_autofree char *initial = option->short_name ? g_strdup_printf ("-%c, ", option->short_name) : g_strdup ("");

  return g_strconcat (initial, "--", option->long_name, option->arg_description ? "=" : "", option->arg_description,
                      NULL);
}

static void
print_options (PlaitPage *page, const GOptionEntry *options)
{
  guint width = 0;

  for (const GOptionEntry *option = options; option->long_name; option++)
    {
      g_autofree char *label = option_label (option);

      width = MAX (width, (guint)strlen (label));
    }
  for (const GOptionEntry *option = options; option->long_name; option++)
    {
      g_autofree char *label = option_label (option);

      plait_page_row (page, width, label, option->description);
    }
}

/* "plait run --help". GOption's own way of helping ends the process and knows no terminal's width. */
static void
print_command_help (const PlaitCommand *command, const GOptionEntry *options)
{
  g_autoptr (PlaitPage) page = plait_page_new ();
  g_autofree char *usage = g_strdup_printf ("Usage: %s %s ", g_get_prgname (), command->name);
  g_autofree char *summary = g_strdup_printf ("%s.\n\nOptions:", command->summary);
  g_auto (GStrv) details = g_strsplit (command->details ? command->details : "", "\n", -1);
  guint indent = (guint)strlen (usage);

  plait_page_text (page, PLAIT_PAGE_PLAIN, "%s", usage);
  plait_page_paragraph (page, indent, indent, command->synopsis);
  plait_page_text (page, PLAIT_PAGE_PLAIN, "\n");
  plait_page_paragraph (page, 0, 0, summary);
  print_options (page, options);
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
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s is missing; usage: %s %s %s",
                       n == 0 ? "an argument" : "another argument", g_get_prgname (), command->name, command->synopsis);
  if (most >= 0 && n > (guint)most)
    return plait_fail (error, PLAIT_ERROR_INPUT, "%u argument%s too many; usage: %s %s %s", n - (guint)most,
                       n - (guint)most == 1 ? "" : "s", g_get_prgname (), command->name, command->synopsis);
  return TRUE;
}

/* The option that @word ("--set", "-s") is, or NULL. */
static const GOptionEntry *
find_option (const GOptionEntry *options, const char *word)
{
  for (const GOptionEntry *option = options; option->long_name; option++)
    {
      const char initial[] = { '-', option->short_name, '\0' };

      if ((g_str_has_prefix (word, "--") && g_str_equal (word + 2, option->long_name)) || g_str_equal (word, initial))
        return option;
    }
  return NULL;
}

/* GOption takes and ignores what is given to an option that has no value: --quiet=no. */
static gboolean
check_flags (const PlaitInvocation *invocation, const GOptionEntry *options, GError **error)
{
  for (guint i = 0; invocation->arguments[i] && !g_str_equal (invocation->arguments[i], "--"); i++)
    {
      const char *equals = strchr (invocation->arguments[i], '=');
      g_autofree char *word = g_strndup (invocation->arguments[i], strcspn (invocation->arguments[i], "="));
      const GOptionEntry *option = find_option (options, word);

      if (equals && option && option->arg == G_OPTION_ARG_NONE)
        return plait_fail (error, PLAIT_ERROR_INPUT, "%s takes no value; leave \"%s\" out, or the option", word,
                           equals);
    }
  return TRUE;
}

/* Says which option there is not, or lacks its value. GOption leaves either to its message. */
static gboolean
refuse_option (const PlaitInvocation *invocation, const GOptionEntry *options, const GError *fault, GError **error)
{
  const char *said = strstr (fault->message, " -");
  g_autofree char *word = said ? g_strndup (said + 1, strcspn (said + 1, " =")) : g_strdup ("");
  const GOptionEntry *known = find_option (options, word);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);

  if (known)
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s is given without its value; expected %s %s", word, word,
                       known->arg_description);
  for (const GOptionEntry *option = options; option->long_name; option++)
    g_ptr_array_add (names, g_strconcat ("--", option->long_name, NULL));
  g_ptr_array_add (names, NULL);
  g_autofree char *otherwise
      = g_strdup_printf ("%s %s --help lists the options", g_get_prgname (), invocation->command->name);
  g_autofree char *remedy = plait_name_remedy (word, (const char *const *)names->pdata, otherwise);
  return plait_fail (error, PLAIT_ERROR_INPUT, "%s; %s", fault->message, remedy);
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
expand_paths (const GOptionEntry *options, GError **error)
{
  for (const GOptionEntry *option = options; option->long_name; option++)
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

/* Whether values are among the choices that --help tells of. */
static gboolean
check_choices (const GOptionEntry *options, GError **error)
{
  for (const GOptionEntry *option = options; option->long_name; option++)
    {
      const char *value = option->arg == G_OPTION_ARG_FILENAME ? *(char **)option->arg_data : NULL;
      g_auto (GStrv) choices = NULL;

      if (!value || plait_option_value_kind (option->arg_description) != PLAIT_VALUE_CHOICE)
        continue;
      choices = g_strsplit (option->arg_description, "|", -1);
      if (g_strv_contains ((const char *const *)choices, value))
        continue;
      g_autofree char *last = g_strdup (strrchr (option->arg_description, '|') + 1);
      g_clear_pointer (&choices[g_strv_length (choices) - 1], g_free);
      g_autofree char *others = g_strjoinv (", ", choices);
      return plait_fail (error, PLAIT_ERROR_INPUT, "--%s cannot be \"%s\"; expected %s or %s", option->long_name, value,
                         others, last);
    }
  return TRUE;
}

/* Lets values last as long as @invocation. */
static void
keep_values (PlaitInvocation *invocation, const GOptionEntry *options)
{
  invocation->values = g_ptr_array_new_with_free_func (g_free);
  for (const GOptionEntry *option = options; option->long_name; option++)
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
  };
  g_autoptr (GArray) options = g_array_new (TRUE, FALSE, sizeof (GOptionEntry));
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  g_autoptr (GError) fault = NULL;
  g_auto (GStrv) words = NULL;
  const GOptionEntry *all;

  for (; entries && entries->long_name; entries++)
    g_array_append_val (options, *entries);
  g_array_append_vals (options, common, G_N_ELEMENTS (common));
  all = (const GOptionEntry *)(gpointer)options->data;
  if (invocation->describe)
    {
      invocation->describe (command, all);
      return FALSE;
    }
  g_option_context_set_help_enabled (context, FALSE);
  g_option_context_add_main_entries (context, all, NULL);
  g_strv_builder_add (builder, "plait"); /* the parser takes the first word for the program's name */
  g_strv_builder_addv (builder, (const char **)invocation->arguments);
  words = g_strv_builder_end (builder);
  if (!check_flags (invocation, all, error))
    return FALSE;
  if (!g_option_context_parse_strv (context, &words, &fault))
    return refuse_option (invocation, all, fault, error);
  good = help || (expand_paths (all, error) && check_choices (all, error));
  keep_values (invocation, all);
  if (help)
    print_command_help (command, all);
  if (help || !good)
    return FALSE;
  invocation->quiet = quiet;
  invocation->log = plait_log_new (quiet);

  /* "--" ends the options and is no argument itself. */
  guint first = words[1] && g_str_equal (words[1], "--") ? 2 : 1;
  g_strfreev (invocation->arguments);
  invocation->arguments = g_strdupv (words + first);
  return check_count (command, g_strv_length (invocation->arguments), least, most, error);
}
