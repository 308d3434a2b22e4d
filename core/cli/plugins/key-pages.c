/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "text/separators.h"
#include "command/reference.h"
#include "plugins/key-groups.h"

/* This file prints the reference of all keys, as a page in Markdown and as a manual page. */

/* Returns the type, range and default of @setting: "integer  1 .. 64; default: 8". (transfer full) */
static char *
values_of (const PlaitSettingSpecification *setting)
{
  g_autofree char *type = plait_key_type (setting), *standard = plait_key_default (setting);

  return g_strconcat (type, "; ", standard, NULL);
}

/* Returns @summary, followed by @reference in parentheses if @reference is not NULL. (transfer full) */
static char *
with_reference (const char *summary, const char *reference)
{
  return reference ? g_strdup_printf ("%s (%s)", summary, reference) : g_strdup (summary);
}

/* Prints @text escaped for Markdown. */
static void
print_markdown (const char *text)
{
  for (const char *p = text; *p != '\0'; p++)
    {
      if (strchr ("\\*`<", *p))
        putchar ('\\');
      putchar (*p);
    }
}

/* Prints @setting as a paragraph, such as "layers=2 1..64: meaning". Leaves out a type that the other parts show. */
static void
print_item (const PlaitSettingSpecification *setting)
{
  g_autofree char *meaning = with_reference (setting->summary, setting->reference);
  gboolean is_optional = (setting->flags & PLAIT_SETTING_OPTIONAL) != 0;
  gboolean is_range = setting->type == PLAIT_SETTING_INTEGER && setting->minimum;
  gboolean is_evident = setting->type == PLAIT_SETTING_BOOLEAN && setting->standard; /* the default shows the type */

  printf ("\n`%s%s%s`", setting->name, setting->standard ? "=" : "", setting->standard ? setting->standard : "");
  if (!is_evident)
    putchar (' ');
  if (setting->type != PLAIT_SETTING_CHOICE && !is_range && !is_evident)
    printf ("%s%s", plait_setting_type_name (setting->type), setting->choices ? " " : "");
  for (const char *p = setting->choices; p && *p != '\0'; p++)
    putchar (*p == ';' ? '|' : *p);
  if (setting->minimum || setting->maximum)
    printf ("%s%s..%s", is_range ? "" : " ", setting->minimum ? setting->minimum : "",
            setting->maximum ? setting->maximum : "");
  if (!setting->standard)
    fputs (is_optional ? ", optional" : ", required", stdout);
  fputs (": ", stdout);
  print_markdown (meaning);
  putchar ('\n');
}

static gboolean
settings_equal (const PlaitSettingSpecification *one, const PlaitSettingSpecification *other)
{
  return one->type == other->type && one->flags == other->flags && g_str_equal (one->name, other->name)
         && g_strcmp0 (one->standard, other->standard) == 0 && g_strcmp0 (one->minimum, other->minimum) == 0
         && g_strcmp0 (one->maximum, other->maximum) == 0 && g_strcmp0 (one->choices, other->choices) == 0
         && g_strcmp0 (one->summary, other->summary) == 0 && g_strcmp0 (one->reference, other->reference) == 0;
}

/* Returns the last member after @groups[@i] that has a key equal to @setting; NULL if no later member has one. */
static const PlaitKeyGroup *
find_later (const GPtrArray *groups, guint i, const PlaitSettingSpecification *setting)
{
  const PlaitKeyGroup *found = NULL, *later;

  while (++i < groups->len && (later = groups->pdata[i])->is_member)
    for (guint k = 0; k < later->settings->len; k++)
      if (settings_equal (later->settings->pdata[k], setting))
        found = later;
  return found;
}

/* Prints in full those keys of @groups[@i] that no later member has. For each other key, refers to the last member that
 * has the key, in a line "KEYS: as in MEMBER". */
static void
print_items (const GPtrArray *groups, guint i)
{
  const GPtrArray *settings = ((const PlaitKeyGroup *)groups->pdata[i])->settings;

  for (guint k = 0; k < settings->len; k++)
    if (!find_later (groups, i, settings->pdata[k]))
      print_item (settings->pdata[k]);
  for (guint other = i + 1; other < groups->len; other++)
    {
      const char *separator = "\n";

      for (guint k = 0; k < settings->len; k++)
        if (find_later (groups, i, settings->pdata[k]) == groups->pdata[other])
          {
            printf ("%s`%s`", separator, ((const PlaitSettingSpecification *)settings->pdata[k])->name);
            separator = ", ";
          }
      if (*separator == ',')
        printf (": as in %s\n", ((const PlaitKeyGroup *)groups->pdata[other])->name);
    }
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
        "<!-- plait inspect keys --format markdown > experiments/KEYS.md makes this page from schemas/. -->\n"
        "# Keys");
  for (guint i = 0; plait_key_introduction[i]; i++)
    print_lines (plait_key_introduction[i]);
  puts ("\n"
        "Each key: KEY=DEFAULT, type and range or choices, description. Numbers are integers unless marked as real.\n"
        "\n"
        "## Separators\n");
  for (const PlaitSeparator *row = plait_separators; row->separator; row++)
    printf ("- `%s` %s: `%s`\n", row->separator, row->between, row->example);
  for (guint i = 0; i < groups->len; i++)
    {
      const PlaitKeyGroup *group = groups->pdata[i];
      g_autofree char *summary = with_reference (group->summary, group->reference);

      printf ("\n%s ", group->is_member ? "###" : "##");
      print_markdown (group->heading);
      puts ("");
      print_lines (summary);
      print_lines (group->details);
      print_items (groups, i);
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
