/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "cli/command.h"
#include "cli/page.h"

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

/* Says which option there is not. GOption leaves it to its message. */
static gboolean
refuse_option (const PlaitInvocation *invocation, const GOptionEntry *own, const GOptionEntry *common,
               const char *message, GError **error)
{
  const GOptionEntry *lists[] = { own, common };
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  const char *nearest = NULL;

  for (guint l = 0; l < G_N_ELEMENTS (lists); l++)
    for (const GOptionEntry *option = lists[l]; option && option->long_name; option++)
      g_ptr_array_add (names, g_strconcat ("--", option->long_name, NULL));
  g_ptr_array_add (names, NULL);
  for (guint i = 0; invocation->arguments[i] && !nearest; i++)
    {
      g_autofree char *name = g_strndup (invocation->arguments[i], strcspn (invocation->arguments[i], "="));

      if (g_str_has_prefix (name, "--") && strstr (message, name))
        nearest = plait_nearest_name (name, (const char *const *)names->pdata);
    }
  if (nearest)
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s; did you mean %s? plait %s --help lists the options", message,
                       nearest, invocation->command->name);
  return plait_fail (error, PLAIT_ERROR_INPUT, "%s; plait %s --help lists the options", message,
                     invocation->command->name);
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
  if (entries)
    g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_add_main_entries (context, common, NULL);
  words[0] = g_strdup ("plait");
  for (guint i = 0; invocation->arguments[i]; i++)
    words[i + 1] = g_strdup (invocation->arguments[i]);
  if (!g_option_context_parse_strv (context, &words, &fault))
    return refuse_option (invocation, entries, common, fault->message, error);
  if (help)
    {
      print_command_help (command, entries, common);
      return FALSE;
    }
  invocation->log = plait_log_new (quiet);

  /* "--" ends the options and is no argument itself. */
  guint first = words[1] && g_str_equal (words[1], "--") ? 2 : 1;
  g_strfreev (invocation->arguments);
  invocation->arguments = g_strdupv (words + first);
  return check_count (command, g_strv_length (invocation->arguments), least, most, error);
}
