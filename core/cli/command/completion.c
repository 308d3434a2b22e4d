/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "command/options.h"
#include "command/reference.h"
#include "command/embedded.h"
#include "experiment/groups.h"

/* This file prints the completion scripts (plait help --bash, --zsh). The name of an option's value in --help decides
 * what completes it (options.h). */

/* Returns "best|last|update-N" as "best last"; a last word with a number cannot be completed. (transfer full) */
static char *
words_of (const char *choice)
{
  gsize length = g_str_has_suffix (choice, "-N") ? (gsize)(strrchr (choice, '|') - choice) : strlen (choice);

  return g_strdelimit (g_strndup (choice, length), "|", ' ');
}

/* Returns the first word of the command's synopsis, which names what completes its arguments besides files. (transfer
 * full) */
static char *
first_argument (const PlaitCommand *command)
{
  return g_strndup (command->synopsis, strcspn (command->synopsis, " "));
}

static void
print_command_names (void)
{
  for (guint i = 0; plait_commands[i]; i++)
    printf ("%s ", plait_commands[i]->name);
}

static void
print_bash_options (const PlaitCommand *command)
{
  const PlaitOption *option;

  for (guint i = 0; (option = plait_command_option (command, i)); i++)
    {
      printf (" --%s", option->name);
      if (option->letter)
        printf (" -%c", option->letter);
    }
}

static void
print_bash_values (const PlaitCommand *command)
{
  static const char *const kinds[] = { "none", "file", "folder", "key", "plugin", NULL };
  const PlaitOption *option;

  for (guint i = 0; (option = plait_command_option (command, i)); i++)
    {
      if (!option->value)
        continue;
      PlaitValueKind value = plait_option_value_kind (option->value);
      g_autofree char *words = words_of (option->value);

      fputs ("        ", stdout);
      if (option->letter)
        printf ("-%c | ", option->letter);
      if (value == PLAIT_VALUE_CHOICE)
        printf ("--%s) kind=words words='%s' ;;\n", option->name, words);
      else
        printf ("--%s) kind=%s ;;\n", option->name, kinds[value]);
    }
}

static void
print_bash_command (const PlaitCommand *command)
{
  g_autofree char *first = first_argument (command);
  g_autofree char *words = words_of (first);

  printf ("    %s)\n      options='", command->name);
  print_bash_options (command);
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
  print_bash_values (command);
  fputs ("      esac\n      ;;\n", stdout);
}

/* Prints the embedded script @name. In place of @NAMES@ it calls @print_names, and in place of @COMMANDS@ it calls
 * @print_command for each command. */
static void
print_script (const char *name, void (*print_names) (void), void (*print_command) (const PlaitCommand *command))
{
  g_auto (GStrv) halves = g_strsplit (plait_embedded_text (name), "@COMMANDS@", 2);
  g_auto (GStrv) parts = g_strsplit (halves[0], "@NAMES@", -1);

  fputs (parts[0], stdout);
  for (guint i = 1; parts[i]; i++)
    {
      print_names ();
      fputs (parts[i], stdout);
    }
  for (guint i = 0; plait_commands[i]; i++)
    print_command (plait_commands[i]);
  fputs (halves[1], stdout);
}

void
plait_completion_print_bash (void)
{
  print_script ("completion.bash", print_command_names, print_bash_command);
}

/* Prints @text inside single quotes, escaped for _arguments, which interprets brackets and colons. */
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
print_zsh_options (const PlaitCommand *command)
{
  const PlaitOption *option;

  for (guint i = 0; (option = plait_command_option (command, i)); i++)
    for (int is_short = 0; is_short <= (option->letter != 0); is_short++)
      {
        const char *repeats = option->kind == PLAIT_OPTION_TEXTS ? "*" : "";
        const char *joint = !option->value ? "" : is_short ? "+" : "=";

        if (is_short)
          printf (" \\\n        '%s-%c%s[", repeats, option->letter, joint);
        else
          printf (" \\\n        '%s--%s%s[", repeats, option->name, joint);
        print_zsh_text (option->help);
        putchar (']');
        if (option->value)
          print_zsh_value (option->value);
        putchar ('\'');
      }
}

static void
print_zsh_command (const PlaitCommand *command)
{
  g_autofree char *first = first_argument (command);
  g_autofree char *words = words_of (first);

  printf ("    %s)\n      _arguments -S", command->name);
  print_zsh_options (command);
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
  for (guint i = 0; plait_commands[i]; i++)
    {
      printf ("    '%s:", plait_commands[i]->name);
      print_zsh_text (plait_commands[i]->summary);
      fputs ("'\n", stdout);
    }
}

void
plait_completion_print_zsh (void)
{
  print_script ("completion.zsh", print_zsh_names, print_zsh_command);
}
