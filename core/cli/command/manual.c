/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "command/embedded.h"
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
  g_auto (GStrv) parts = g_strsplit_set (plait_embedded_text ("manual.1"), "@", -1);

  for (guint i = 0; parts[i]; i++)
    if (g_str_equal (parts[i], "VERSION"))
      fputs (PLAIT_VERSION, stdout);
    else if (g_str_equal (parts[i], "COMMANDS"))
      for (guint c = 0; plait_commands[c]; c++)
        print_command (plait_commands[c]);
    else if (g_str_equal (parts[i], "EXITS"))
      for (const PlaitExitCode *exit = plait_exit_codes; exit->summary; exit++)
        printf (".TP\n%d\n%c%s%s%s.\n", exit->code, g_ascii_toupper (exit->summary[0]), exit->summary + 1,
                exit->details ? ": " : "", exit->details ? exit->details : "");
    else
      fputs (parts[i], stdout);
}
