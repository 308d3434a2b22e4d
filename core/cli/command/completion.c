/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "command/options.h"
#include "command/reference.h"
#include "resources.h"
#include "experiment/groups.h"

/* plait help --bash and --zsh. What a value may be is told by how --help names it (options.h). */

/* "best|last" as "best last". (transfer full) */
static char *
words_of (const char *choice)
{
  return g_strdelimit (g_strdup (choice), "|", ' ');
}

/* What the command's arguments may be besides files: the first word of its synopsis. (transfer full) */
static char *
first_argument (const PlaitCommand *command)
{
  return g_strndup (command->synopsis, strcspn (command->synopsis, " "));
}

static void
print_command_names (void)
{
  for (const PlaitCommand *command = plait_commands; command->name; command++)
    printf ("%s ", command->name);
}

static void
print_bash_options (const GOptionEntry *entries)
{
  for (const GOptionEntry *option = entries; option->long_name; option++)
    {
      printf (" --%s", option->long_name);
      if (option->short_name)
        printf (" -%c", option->short_name);
    }
}

static void
print_bash_values (const GOptionEntry *entries)
{
  static const char *const kinds[] = { "none", "file", "folder", "key", "plugin", NULL };

  for (const GOptionEntry *option = entries; option->long_name; option++)
    {
      if (!option->arg_description)
        continue;
      PlaitValueKind value = plait_option_value_kind (option->arg_description);
      g_autofree char *words = words_of (option->arg_description);

      fputs ("        ", stdout);
      if (option->short_name)
        printf ("-%c | ", option->short_name);
      if (value == PLAIT_VALUE_CHOICE)
        printf ("--%s) kind=words words='%s' ;;\n", option->long_name, words);
      else
        printf ("--%s) kind=%s ;;\n", option->long_name, kinds[value]);
    }
}

static void
print_bash_command (const PlaitCommand *command, const GOptionEntry *options)
{
  g_autofree char *first = first_argument (command);
  g_autofree char *words = words_of (first);

  printf ("    %s)\n      options='", command->name);
  print_bash_options (options);
  fputs ("'\n", stdout);
  if (strstr (first, "GROUP"))
    {
      fputs ("      words='", stdout);
      for (const PlaitSettingGroup *const *group = plait_experiment_groups (); *group; group++)
        printf ("%s ", (*group)->name);
      fputs ("'\n", stdout);
    }
  if (plait_option_value_kind (first) == PLAIT_VALUE_CHOICE)
    printf ("      [ \"$COMP_CWORD\" -ne 2 ] || words='%s'\n", words);
  if (plait_option_value_kind (first) == PLAIT_VALUE_PLUGIN || strstr (command->synopsis, "| PLUGIN"))
    fputs ("      names=plugins\n", stdout);
  fputs ("      case $option in\n", stdout);
  print_bash_values (options);
  fputs ("      esac\n      ;;\n", stdout);
}

/* Prints the script @name, with names by @print_names and the options of each command by @describe in their places. */
static void
print_script (const char *name, void (*print_names) (void), PlaitDescribe describe)
{
  g_autoptr (GBytes) bytes = g_resource_lookup_data (plait_get_resource (), name, 0, NULL);
  g_auto (GStrv) halves = g_strsplit (g_bytes_get_data (bytes, NULL), "@COMMANDS@", 2);
  g_auto (GStrv) parts = g_strsplit (halves[0], "@NAMES@", -1);

  fputs (parts[0], stdout);
  for (guint i = 1; parts[i]; i++)
    {
      print_names ();
      fputs (parts[i], stdout);
    }
  for (const PlaitCommand *command = plait_commands; command->name; command++)
    plait_command_describe (command, describe);
  fputs (halves[1], stdout);
}

void
plait_completion_print_bash (void)
{
  print_script ("/plait/completion.bash", print_command_names, print_bash_command);
}

/* In single quotes, where _arguments reads brackets and colons as its own. */
static void
print_zsh_text (const char *text)
{
  for (const char *p = text; *p != '\0'; p++)
    if (*p == '\'')
      fputs ("'\\''", stdout);
    else
      printf (strchr ("[]:\\", *p) ? "\\%c" : "%c", *p);
}

static void
print_zsh_value (const char *name)
{
  static const char *const actions[] = { " ", "_files", "_files -/", "_plait_keys", "_plait_plugins", NULL };
  PlaitValueKind value = plait_option_value_kind (name);
  g_autofree char *words = words_of (name);

  putchar (':');
  print_zsh_text (value == PLAIT_VALUE_CHOICE ? "value" : name);
  if (value == PLAIT_VALUE_CHOICE)
    printf (":(%s)", words);
  else
    printf (":%s", actions[value]);
}

static void
print_zsh_options (const GOptionEntry *entries)
{
  for (const GOptionEntry *option = entries; option->long_name; option++)
    for (int is_short = 0; is_short <= (option->short_name != 0); is_short++)
      {
        const char *repeats = option->arg == G_OPTION_ARG_FILENAME_ARRAY ? "*" : "";
        const char *joint = !option->arg_description ? "" : is_short ? "+" : "=";

        if (is_short)
          printf (" \\\n        '%s-%c%s[", repeats, option->short_name, joint);
        else
          printf (" \\\n        '%s--%s%s[", repeats, option->long_name, joint);
        print_zsh_text (option->description);
        putchar (']');
        if (option->arg_description)
          print_zsh_value (option->arg_description);
        putchar ('\'');
      }
}

static void
print_zsh_command (const PlaitCommand *command, const GOptionEntry *options)
{
  g_autofree char *first = first_argument (command);
  g_autofree char *words = words_of (first);

  printf ("    %s)\n      _arguments -S", command->name);
  print_zsh_options (options);
  if (plait_option_value_kind (first) == PLAIT_VALUE_CHOICE)
    printf (" \\\n        '1:what:(%s)'", words);
  if (plait_option_value_kind (first) == PLAIT_VALUE_PLUGIN || strstr (command->synopsis, "| PLUGIN"))
    fputs (" \\\n        '*:argument:_plait_names'\n      ;;\n", stdout);
  else
    fputs (" \\\n        '*:argument:_files'\n      ;;\n", stdout);
}

static void
print_zsh_names (void)
{
  for (const PlaitCommand *command = plait_commands; command->name; command++)
    {
      printf ("    '%s:", command->name);
      print_zsh_text (command->summary);
      fputs ("'\n", stdout);
    }
}

void
plait_completion_print_zsh (void)
{
  print_script ("/plait/completion.zsh", print_zsh_names, print_zsh_command);
}
