/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "command/exit-codes.h"
#include "command/reference.h"

/* This file prints the manual page (plait help --man). */

void
plait_manual_print_text (const char *text, gboolean begins_line)
{
  static const char *const escapes[G_MAXUINT8 + 1] = { ['-'] = "\\-", ['\\'] = "\\e", ['\''] = "\\(aq" };

  /* A dot or an apostrophe at the beginning of a line would be a roff request. */
  if (begins_line && (*text == '.' || *text == '\''))
    fputs ("\\&", stdout);
  for (const char *p = text; *p != '\0'; p++)
    if (escapes[(guchar)*p])
      fputs (escapes[(guchar)*p], stdout);
    else
      putchar (*p);
}

void
plait_manual_print_line (const char *text)
{
  plait_manual_print_text (text, TRUE);
  putchar ('\n');
}

static void
print_options (const PlaitCommand *command)
{
  const PlaitOption *option;

  for (guint i = 0; (option = plait_command_option (command, i)); i++)
    {
      fputs (".TP\n", stdout);
      if (option->letter)
        printf ("\\fB\\-%c\\fR, ", option->letter);
      fputs ("\\fB\\-\\-", stdout);
      plait_manual_print_text (option->name, FALSE);
      fputs ("\\fR", stdout);
      if (option->value)
        {
          fputs ("=\\fI", stdout);
          plait_manual_print_text (option->value, FALSE);
          fputs ("\\fR", stdout);
        }
      putchar ('\n');
      plait_manual_print_line (option->help);
    }
}

/* Prints @details; lines that begin with a space are examples and keep their line breaks. */
static void
print_details (const char *details)
{
  g_auto (GStrv) lines = g_strsplit (details ? details : "", "\n", -1);
  gboolean in_example = FALSE, ended = TRUE;

  if (lines[0])
    fputs (".PP\n", stdout);
  for (guint i = 0; lines[i]; i++)
    {
      if ((*lines[i] == ' ') != in_example)
        fputs (in_example ? ".EE\n" : ".PP\n.EX\n", stdout);
      in_example = *lines[i] == ' ';
      if (*lines[i] == '\0' && !ended)
        fputs (".PP\n", stdout);
      ended = *lines[i] == '\0';
      if (!ended)
        plait_manual_print_line (lines[i]);
    }
  if (in_example)
    fputs (".EE\n", stdout);
}

static void
print_command (const PlaitCommand *command)
{
  printf (".SS plait %s\n\\fBplait %s\\fR ", command->name, command->name);
  plait_manual_print_text (command->synopsis, FALSE);
  fputs ("\n.PP\n", stdout);
  plait_manual_print_text (command->summary, TRUE);
  fputs (".\n", stdout);
  print_options (command);
  print_details (command->details);
}

void
plait_manual_print (void)
{
  printf (".\\\" Made by plait help --man.\n"
          ".TH PLAIT 1 2026-11-23 \"plait " PLAIT_VERSION "\" \"User Commands\"\n"
          ".SH NAME\n"
          "plait \\- workbench for sequence\\-to\\-sequence models that read several things at once\n"
          ".SH SYNOPSIS\n"
          "\\fBplait\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR...] [\\fIARGUMENT\\fR...]\n"
          ".PP\n"
          "\\fBplait help\\fR [\\fICOMMAND\\fR|\\-\\-man|\\-\\-bash|\\-\\-zsh]\n"
          ".SH DESCRIPTION\n"
          "plait trains, runs and inspects such models. A model is made of plugins that an experiment file names; the\n"
          "results of a run are stored in one HDF5 file. Results go to standard output, everything else to standard "
          "error.\n"
          ".PP\n"
          "\\fBplait inspect\\fR shows the groups of an experiment file and the keys of a group.\n"
          "\\fBplait help \\-\\-man\\fR prints this page, \\fB\\-\\-bash\\fR and \\fB\\-\\-zsh\\fR completion for\n"
          "these shells.\n"
          ".SH COMMANDS\n");
  for (guint i = 0; plait_commands[i]; i++)
    print_command (plait_commands[i]);
  fputs (".SH \"EXIT STATUS\"\n", stdout);
  for (const PlaitExitCode *exit = plait_exit_codes; exit->summary; exit++)
    printf (".TP\n"
            "%d\n"
            "%c%s%s%s.\n",
            exit->code, g_ascii_toupper (exit->summary[0]), exit->summary + 1, exit->details ? ": " : "",
            exit->details ? exit->details : "");
  printf (
      ".SH ENVIRONMENT\n"
      ".TP\n"
      "PLAIT_BLAS\n"
      "The library that multiplies matrices: openblas, blis or mkl. Default: the first of these that is installed.\n"
      ".TP\n"
      "PLAIT_INDEX\n"
      "The folder of the text cache for texts of 64 MiB or more, or none. Default: plait-index in the folder of each "
      "text; if that cannot be written, plait in the user's cache.\n"
      ".TP\n"
      "PLAIT_PLUGIN_PATH\n"
      "Folders that are searched for plugins before all others, separated by colons.\n"
      ".TP\n"
      "XDG_DATA_HOME, XDG_CACHE_HOME, TMPDIR\n"
      "Folders of the user's own plugins (plait/1), of that cache, and of temporary files. Defaults: ~/.local/share, "
      "~/.cache and /tmp. A relative path is ignored.\n"
      ".TP\n"
      "NO_COLOR\n"
      "If it is set, plait prints no colours.\n"
      ".SH \"SEE ALSO\"\n"
      ".BR plait\\-keys (5)\n");
}
