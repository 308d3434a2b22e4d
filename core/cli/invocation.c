/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"

/* "plait run --help": GOption lays the options out, and no more, because its own way of helping ends the process. */
static void
print_command_help (const PlaitCommand *command, GOptionContext *context)
{
  g_autofree char *help = g_option_context_get_help (context, FALSE, NULL);
  const char *options = strstr (help, "\n\n");

  printf ("Usage: plait %s %s\n\n%s.%s", command->name, command->synopsis, command->summary,
          options != NULL ? options : "\n");
  if (command->details != NULL)
    printf ("%s\n", command->details);
}

static gboolean
check_count (const PlaitCommand *command, guint n, int least, int most, GError **error)
{
  if (n < (guint)least)
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s is missing; usage: plait %s %s",
                       n == 0 ? "an argument" : "another argument", command->name, command->synopsis);
  if (most >= 0 && n > (guint)most)
    return plait_fail (error, PLAIT_ERROR_INPUT, "there are %u arguments too many; usage: plait %s %s", n - (guint)most,
                       command->name, command->synopsis);
  return TRUE;
}

gboolean
plait_invocation_parse (PlaitInvocation *invocation, const GOptionEntry *entries, int least, int most, GError **error)
{
  const PlaitCommand *command = invocation->command;
  gboolean help = FALSE, quiet = FALSE;
  const GOptionEntry common[] = {
    { "quiet", 'q', 0, G_OPTION_ARG_NONE, &quiet, "Say only warnings and errors", NULL },
    { "help", 'h', 0, G_OPTION_ARG_NONE, &help, "Show this", NULL },
    { NULL },
  };
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  g_autoptr (GError) fault = NULL;
  /* The parser takes the first word for the program's name. */
  g_auto (GStrv) words = g_new0 (char *, g_strv_length (invocation->arguments) + 2);

  g_option_context_set_help_enabled (context, FALSE);
  if (entries != NULL)
    g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_add_main_entries (context, common, NULL);
  words[0] = g_strdup ("plait");
  for (guint i = 0; invocation->arguments[i] != NULL; i++)
    words[i + 1] = g_strdup (invocation->arguments[i]);
  if (!g_option_context_parse_strv (context, &words, &fault))
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s; plait %s --help lists the options", fault->message,
                       command->name);
  if (help)
    {
      print_command_help (command, context);
      return FALSE;
    }
  invocation->log = plait_log_new (quiet);

  /* "--" ends the options and is no argument itself. */
  guint first = words[1] != NULL && g_str_equal (words[1], "--") ? 2 : 1;
  g_strfreev (invocation->arguments);
  invocation->arguments = g_strdupv (words + first);
  return check_count (command, g_strv_length (invocation->arguments), least, most, error);
}
