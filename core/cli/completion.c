/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "cli/options.h"
#include "cli/reference.h"
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

/* A line of the shell that names the plugins that are found now. */
#define PLUGIN_NAMES "plait plugins 2> /dev/null | sed -n 's/^  \\([a-z][^ ]*\\) .*/\\1/p'"

static void
print_bash_options (const GOptionEntry *entries)
{
  for (const GOptionEntry *option = entries; option && option->long_name; option++)
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

  for (const GOptionEntry *option = entries; option && option->long_name; option++)
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
print_bash_command (const PlaitCommand *command, const GOptionEntry *own, const GOptionEntry *common)
{
  g_autofree char *first = first_argument (command);
  g_autofree char *words = words_of (first);

  printf ("    %s)\n      options='", command->name);
  print_bash_options (own);
  print_bash_options (common);
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
  print_bash_values (own);
  fputs ("      esac\n      ;;\n", stdout);
}

void
plait_completion_print_bash (void)
{
  fputs ("# Completion of plait for bash. Made by plait help --bash.\n"
         "# Lines KEY=VALUES, of the experiment file on the line if there is one.\n"
         "_plait_keys ()\n"
         "{\n"
         "  local word\n"
         "  for word in \"${COMP_WORDS[@]}\"; do\n"
         "    [ \"${word%.ini}\" = \"$word\" ] || { plait inspect --keys \"$word\" 2> /dev/null && return; }\n"
         "  done\n"
         "  plait inspect --keys 2> /dev/null\n"
         "}\n"
         "_plait ()\n"
         "{\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} at=$COMP_CWORD option before setting='' equals='' key values\n"
         "  local kind=argument options='' words='' names=''\n"
         "  COMPREPLY=()\n"
         "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
         "    mapfile -t COMPREPLY < <(compgen -W '",
         stdout);
  print_command_names ();
  fputs ("help --help --version' -- \"$current\")\n"
         "    return\n"
         "  fi\n"
         "  # An equals sign is a word of its own: --option=value, --source name=file, --set key=value.\n"
         "  [ \"$current\" != = ] || { current='' at=$((at + 1)); }\n"
         "  [ \"${COMP_WORDS[at-1]}\" != = ] || equals=yes at=$((at - 1))\n"
         "  option=${COMP_WORDS[at-1]}\n"
         "  if [ -n \"$equals\" ] && [ \"$at\" -ge 4 ]; then\n"
         "    before=${COMP_WORDS[at-2]}\n"
         "    [ \"$before\" != = ] || before=${COMP_WORDS[at-3]}\n"
         "    case $before in --set | -s) setting=$option option=$before ;; esac\n"
         "  fi\n"
         "  case ${COMP_WORDS[1]} in\n"
         "    help)\n"
         "      words='",
         stdout);
  print_command_names ();
  fputs ("--man --bash --zsh'\n      kind=words\n      ;;\n", stdout);
  for (const PlaitCommand *command = plait_commands; command->name; command++)
    plait_command_describe (command, print_bash_command);
  fputs ("  esac\n"
         "  if [ \"$kind\" = argument ] && [ \"${current#-}\" != \"$current\" ]; then\n"
         "    mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$current\")\n"
         "    return\n"
         "  fi\n"
         "  [ -z \"$names\" ] || words=\"$words $(" PLUGIN_NAMES ")\"\n"
         "  if [ \"$kind\" = key ] && [ -n \"$setting\" ]; then\n"
         "    kind=words\n"
         "    while IFS== read -r key values; do\n"
         "      [ \"$key\" != \"$setting\" ] || words=$values\n"
         "    done < <(_plait_keys)\n"
         "    [ \"$words\" != FILE ] || kind=file words=''\n"
         "  fi\n"
         "  case $kind in\n"
         "    key)\n"
         "      compopt -o nospace 2> /dev/null\n"
         "      mapfile -t COMPREPLY < <(compgen -S = -W \"$(_plait_keys | sed 's/=.*//')\" -- \"$current\") ;;\n"
         "    words)\n"
         "      mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\") ;;\n"
         "    folder)\n"
         "      compopt -o filenames 2> /dev/null\n"
         "      mapfile -t COMPREPLY < <(compgen -d -- \"$current\") ;;\n"
         "    argument | file)\n"
         "      compopt -o filenames 2> /dev/null\n"
         "      mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\"; compgen -f -- \"$current\") ;;\n"
         "  esac\n"
         "}\n"
         "complete -F _plait plait\n",
         stdout);
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
  for (const GOptionEntry *option = entries; option && option->long_name; option++)
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
print_zsh_command (const PlaitCommand *command, const GOptionEntry *own, const GOptionEntry *common)
{
  g_autofree char *first = first_argument (command);
  g_autofree char *words = words_of (first);

  printf ("    %s)\n      _arguments -S", command->name);
  print_zsh_options (own);
  print_zsh_options (common);
  if (plait_option_value_kind (first) == PLAIT_VALUE_CHOICE)
    printf (" \\\n        '1:what:(%s)'", words);
  if (plait_option_value_kind (first) == PLAIT_VALUE_PLUGIN || strstr (command->synopsis, "| PLUGIN"))
    fputs (" \\\n        '*:argument:_plait_names'\n      ;;\n", stdout);
  else
    fputs (" \\\n        '*:argument:_files'\n      ;;\n", stdout);
}

void
plait_completion_print_zsh (void)
{
  fputs ("#compdef plait\n"
         "# Completion of plait for zsh. Made by plait help --zsh.\n"
         "_plait_keys ()\n"
         "{\n"
         "  local -a files lines values\n"
         "  local key\n"
         "  files=(${(M)words:#*.ini})\n"
         "  lines=(${(f)\"$(plait inspect --keys ${files[1]} 2> /dev/null || plait inspect --keys 2> /dev/null)\"})\n"
         "  if compset -P '*='; then\n"
         "    key=${${IPREFIX%=}##*=}\n"
         "    values=(${=${(M)lines:#$key=*}#*=})\n"
         "    if [[ $values = FILE ]]; then\n"
         "      _files\n"
         "    else\n"
         "      compadd -a values\n"
         "    fi\n"
         "  else\n"
         "    compadd -S = -- ${lines%%=*}\n"
         "  fi\n"
         "}\n"
         "_plait_plugins ()\n"
         "{\n"
         "  compadd -- ${(f)\"$(" PLUGIN_NAMES ")\"}\n"
         "}\n"
         "_plait_names ()\n"
         "{\n"
         "  _alternative 'plugins:plugin:_plait_plugins' 'files:file:_files'\n"
         "}\n"
         "_plait ()\n"
         "{\n"
         "  local -a commands\n"
         "  commands=(\n",
         stdout);
  for (const PlaitCommand *command = plait_commands; command->name; command++)
    {
      printf ("    '%s:", command->name);
      print_zsh_text (command->summary);
      fputs ("'\n", stdout);
    }
  fputs ("    'help:Show the help of a command'\n"
         "  )\n"
         "  if (( CURRENT == 2 )); then\n"
         "    _describe command commands\n"
         "    return\n"
         "  fi\n"
         "  shift words\n"
         "  (( CURRENT-- ))\n"
         "  case $words[1] in\n"
         "    help) _describe command commands ;;\n",
         stdout);
  for (const PlaitCommand *command = plait_commands; command->name; command++)
    plait_command_describe (command, print_zsh_command);
  fputs ("  esac\n"
         "}\n"
         "_plait \"$@\"\n",
         stdout);
}
