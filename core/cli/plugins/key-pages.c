/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "text/separators.h"
#include "command/reference.h"
#include "plugins/key-groups.h"

/* This file prints the reference of all keys as a page in Markdown and as a manual page. */

/* Returns the type, range and default of @setting: "integer  1 .. 64; default: 8". (transfer full) */
static char *
values_of (const PlaitSettingSpecification *setting)
{
  g_autofree char *type = plait_key_type (setting), *standard = plait_key_default (setting);

  return g_strconcat (type, "; ", standard, NULL);
}

/* Returns @summary, followed by @reference in parentheses unless it is NULL. (transfer full) */
static char *
with_reference (const char *summary, const char *reference)
{
  return reference ? g_strdup_printf ("%s (%s)", summary, reference) : g_strdup (summary);
}

/* Prints @text escaped for a cell of a Markdown table. */
static void
print_markdown (const char *text)
{
  for (const char *p = text; *p != '\0'; p++)
    {
      if (strchr ("|\\*`<", *p))
        putchar ('\\');
      putchar (*p);
    }
}

static void
print_cells (const char *first, const char *second, const char *third)
{
  const char *cells[] = { second, third };

  fputs ("| `", stdout);
  print_markdown (first);
  fputs ("`", stdout);
  for (guint i = 0; i < G_N_ELEMENTS (cells); i++)
    {
      fputs (" | ", stdout);
      print_markdown (cells[i]);
    }
  puts (" |");
}

static void
print_lines (const char *lines)
{
  g_auto (GStrv) each = g_strsplit (lines ? lines : "", "\n", -1);

  for (guint i = 0; each[i]; i++)
    {
      putchar ('\n');
      print_markdown (each[i]);
      putchar ('\n');
    }
}

void
plait_key_groups_print_markdown (const GPtrArray *groups)
{
  puts ("<!-- SPDX-License-Identifier: MIT -->\n"
        "<!-- plait inspect keys --format markdown > experiments/KEYS.md makes this page of schemas/. -->\n"
        "# Keys");
  for (guint i = 0; plait_key_introduction[i]; i++)
    print_lines (plait_key_introduction[i]);
  puts ("\n"
        "## Separators\n"
        "\n"
        "| separator | between | example |\n"
        "| --- | --- | --- |");
  for (const PlaitSeparator *row = plait_separators; row->separator; row++)
    print_cells (row->separator, row->between, row->example);
  for (guint i = 0; i < groups->len; i++)
    {
      const PlaitKeyGroup *group = groups->pdata[i];
      g_autofree char *summary = with_reference (group->summary, group->reference);

      printf ("\n%s ", group->is_member ? "###" : "##");
      print_markdown (group->heading);
      puts ("");
      print_lines (summary);
      print_lines (group->details);
      if (group->settings->len > 0)
        puts ("\n| key | values | meaning |\n| --- | --- | --- |");
      for (guint k = 0; k < group->settings->len; k++)
        {
          const PlaitSettingSpecification *setting = group->settings->pdata[k];
          g_autofree char *values = values_of (setting),
                          *meaning = with_reference (setting->summary, setting->reference);

          print_cells (setting->name, values, meaning);
        }
    }
}

void
plait_key_groups_print_manual (const GPtrArray *groups)
{
  puts (".\\\" Made by plait inspect keys \\-\\-format man.\n"
        ".TH PLAIT\\-KEYS 5 2026-11-26 \"plait " PLAIT_VERSION "\" \"File Formats\"\n"
        ".SH NAME\n"
        "plait\\-keys \\- keys of experiment files of plait\n"
        ".SH DESCRIPTION");
  for (guint i = 0; plait_key_introduction[i]; i++)
    {
      fputs (i > 0 ? ".PP\n" : "", stdout);
      plait_manual_print_line (plait_key_introduction[i]);
    }
  puts (".SH SEPARATORS");
  for (const PlaitSeparator *row = plait_separators; row->separator; row++)
    {
      printf (".TP\n\\fB%s\\fR\n", row->separator);
      plait_manual_print_text (row->between, TRUE);
      fputs (": \\fI", stdout);
      plait_manual_print_text (row->example, FALSE);
      puts ("\\fR");
    }
  for (guint i = 0; i < groups->len; i++)
    {
      const PlaitKeyGroup *group = groups->pdata[i];
      g_autofree char *summary = with_reference (group->summary, group->reference);
      g_auto (GStrv) details = g_strsplit (group->details ? group->details : "", "\n", -1);

      fputs (group->is_member ? ".SS \"" : ".SH \"", stdout);
      plait_manual_print_text (group->heading, FALSE);
      puts ("\"");
      plait_manual_print_line (summary);
      for (guint k = 0; details[k]; k++)
        {
          puts (".PP");
          plait_manual_print_line (details[k]);
        }
      for (guint k = 0; k < group->settings->len; k++)
        {
          const PlaitSettingSpecification *setting = group->settings->pdata[k];
          g_autofree char *values = values_of (setting),
                          *meaning = with_reference (setting->summary, setting->reference);

          fputs (".TP\n\\fB", stdout);
          plait_manual_print_text (setting->name, FALSE);
          fputs ("\\fR  ", stdout);
          plait_manual_print_line (values);
          plait_manual_print_line (meaning);
        }
    }
  puts (".SH \"SEE ALSO\"\n.BR plait (1)");
}
