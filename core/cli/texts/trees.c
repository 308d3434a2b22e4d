/* SPDX-License-Identifier: MIT */
#include "trees/tree-lint.h"

#include <string.h>

#include "text/display.h"
#include "text/json.h"
#include "command/command.h"
#include "command/options.h"
#include "command/output.h"
#include "terminal/terminal.h"
#include "loading/registry.h"

/* Implements plait trees: checks a file of trees and counts its contents, or converts it to another form. */

/* Words of --to in the order of PlaitTreeFormat, and of --binarise in the order of PlaitBinarisation. */
#define FORMS "brackets|triples"
#define WAYS "left|right|head"

typedef struct
{
  const char *check, *convert, *tokens, *form, *output, *rules;
  guint binarise;
  gint64 limit; /* value of the option; -1: not given */
  gboolean force, json;
} Options;

/* Returns the head rules called @name. (transfer full) */
static PlaitHeadRules *
find_rules (const char *name, GError **error)
{
  g_autoptr (PlaitRegistry) registry = plait_registry_new ();
  g_autofree char *path = plait_registry_find_text (registry, PLAIT_HEAD_RULES_FOLDER, name, error);

  return path ? plait_head_rules_read (path, error) : NULL;
}

static gboolean
take_settings (const Options *options, PlaitTreeSettings *settings, GError **error)
{
  settings->binarisation = (PlaitBinarisation)options->binarise;
  if (settings->binarisation != PLAIT_BINARISE_HEAD)
    return !options->rules
           || plait_fail (error, PLAIT_ERROR_INPUT, "--head-rules needs --binarise head; leave --head-rules out");
  settings->head_rules = find_rules (options->rules ? options->rules : "english", error);
  return settings->head_rules != NULL;
}

/*
 * Functions that check trees
 */

typedef struct
{
  GPtrArray *shown;
  gint64 limit;
} Complaints;

static void
complain (const char *sentence, gpointer data)
{
  Complaints *complaints = data;

  if (complaints->shown->len < complaints->limit)
    g_ptr_array_add (complaints->shown, g_strdup (sentence));
}

static double
share (gint64 part, gint64 whole)
{
  return whole > 0 ? (double)part / (double)whole : 0;
}

static void
print_json (const PlaitTreeCounts *counts, const Complaints *complaints)
{
  g_autoptr (PlaitJson) json = plait_json_new_object ();
  gint64 constituents = counts->unary + counts->binary + counts->ternary + counts->wider;

  plait_json_members (json,
                      "lines=%jd with_tree=%jd without_tree=%jd bad=%jd mean_leaves=%g mean_height=%g constituents=%jd "
                      "unary=%jd binary=%jd ternary=%jd wider=%jd",
                      counts->lines, counts->with_tree, counts->without_tree, counts->bad,
                      share (counts->leaves, counts->with_tree), share (counts->height, counts->with_tree),
                      constituents, counts->unary, counts->binary, counts->ternary, counts->wider);
  plait_json_texts (json, "complaints", (const char *const *)complaints->shown->pdata, complaints->shown->len);
  plait_json_print (json);
}

static void print_row (PlaitTerminal *terminal, const char *label, const char *format, ...) G_GNUC_PRINTF (3, 4);

static void
print_row (PlaitTerminal *terminal, const char *label, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  g_autofree char *text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  plait_terminal_row (terminal, 14, label, text);
}

static void
print_text (const char *file, const PlaitTreeCounts *counts, const Complaints *complaints)
{
  g_autoptr (PlaitTerminal) terminal = plait_terminal_new ();
  gint64 constituents = counts->unary + counts->binary + counts->ternary + counts->wider;
  char leaves[G_ASCII_DTOSTR_BUF_SIZE], height[G_ASCII_DTOSTR_BUF_SIZE];

  for (guint i = 0; i < complaints->shown->len; i++)
    plait_terminal_text (terminal, PLAIT_TERMINAL_ERROR, "%s\n", (const char *)complaints->shown->pdata[i]);
  if (counts->bad > complaints->shown->len)
    plait_terminal_text (terminal, PLAIT_TERMINAL_ERROR, "... and %jd more bad lines; --limit shows more\n",
                         counts->bad - complaints->shown->len);
  plait_terminal_text (terminal, PLAIT_TERMINAL_HEADING, "%s\n", file);
  print_row (terminal, "lines", "%jd", counts->lines);
  print_row (terminal, "with tree", "%jd", counts->with_tree);
  print_row (terminal, "without tree", "%jd", counts->without_tree);
  print_row (terminal, "bad", "%jd", counts->bad);
  print_row (terminal, "mean leaves", "%s",
             g_ascii_formatd (leaves, sizeof leaves, "%.2f", share (counts->leaves, counts->with_tree)));
  print_row (terminal, "mean height", "%s links of the binary trees",
             g_ascii_formatd (height, sizeof height, "%.2f", share (counts->height, counts->with_tree)));
  print_row (terminal, "children", "%.0f %% one, %.0f %% two, %.0f %% three, %.0f %% more, of %jd constituents",
             100 * share (counts->unary, constituents), 100 * share (counts->binary, constituents),
             100 * share (counts->ternary, constituents), 100 * share (counts->wider, constituents), constituents);
}

static gboolean
check (const Options *options, const PlaitTreeSettings *settings, GError **error)
{
  g_autoptr (GPtrArray) shown = g_ptr_array_new_with_free_func (g_free);
  Complaints complaints = { shown, options->limit < 0 ? 20 : options->limit };
  PlaitTreeCounts counts;

  if (options->form || options->output)
    return plait_fail (error, PLAIT_ERROR_INPUT, "--to and --output are for --convert; leave them out with --check");
  if (!plait_trees_check (options->check, options->tokens, settings, complain, &complaints, &counts, error))
    return FALSE;
  if (options->json)
    print_json (&counts, &complaints);
  else
    print_text (options->check, &counts, &complaints);
  return counts.bad == 0
         || plait_fail (error, PLAIT_ERROR_INPUT,
                        "%s: %jd of %jd lines are wrong; each line must have the tree of its sentence, or no tree",
                        options->check, counts.bad, counts.lines);
}

/*
 * Functions that convert trees
 */

static void
put_line (const char *line, gpointer data)
{
  plait_display_line (data, line);
}

static gboolean
convert (const Options *options, const PlaitTreeSettings *settings, GError **error)
{
  g_auto (PlaitOutput) to = { 0 };

  if (options->json || options->limit >= 0)
    return plait_fail (error, PLAIT_ERROR_INPUT, "--json and --limit are for --check; leave them out with --convert");
  if (!options->form)
    return plait_fail (error, PLAIT_ERROR_INPUT, "--to is missing; expected --to brackets or --to triples");
  if (!plait_output_differs ("--output", options->output, options->convert, error)
      || !plait_output_differs ("--output", options->output, options->tokens, error)
      || !plait_file_check_new (options->output, options->force, "", "--output", error))
    return FALSE;
  return plait_output_begin (&to, options->output, error)
         && plait_trees_convert (options->convert, options->tokens, settings,
                                 (PlaitTreeFormat)plait_option_choice (options->form, FORMS), put_line, to.stream,
                                 error)
         && plait_output_commit (&to, error);
}

static gboolean
run_command (PlaitInvocation *invocation, GError **error)
{
  const Options *options = invocation->options;
  PlaitTreeSettings settings = { .shape = PLAIT_TREES_GIVEN };
  const char *file = options->check ? options->check : options->convert;

  if ((options->check != NULL) == (options->convert != NULL))
    return plait_fail (error, PLAIT_ERROR_INPUT, "expected one of --check and --convert, found %s",
                       options->check ? "both" : "none");
  if (options->tokens && strcmp (file, "-") == 0 && strcmp (options->tokens, "-") == 0)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "standard input cannot be both trees and tokens; name a file for one of them");
  gboolean good = take_settings (options, &settings, error)
                  && (options->check ? check (options, &settings, error) : convert (options, &settings, error));
  plait_head_rules_unref (settings.head_rules);
  return good;
}

static const PlaitOption options[] = {
  PLAIT_OPTION ("check", 0, TEXT, check, "Report bad lines, and print statistics of the file", "FILE"),
  PLAIT_OPTION ("convert", 0, TEXT, convert, "Print the trees in binary form", "FILE"),
  PLAIT_OPTION ("tokens", 0, TEXT, tokens, "Text whose tokens must equal the words of the trees", "FILE"),
  PLAIT_OPTION ("to", 0, TEXT, form, "Form of the converted trees", FORMS),
  PLAIT_OPTION ("output", 'o', TEXT, output, "File for converted trees; default: standard output", "FILE"),
  PLAIT_OPTION_FORCE (Options),
  PLAIT_OPTION ("binarise", 0, CHOICE, binarise, "How nodes with more than two children are split; default: head",
                WAYS),
  PLAIT_OPTION ("head-rules", 0, TEXT, rules, "Head rules; default: english", "NAME"),
  PLAIT_OPTION ("limit", 0, INTEGER, limit, "Number of bad lines to report; default: 20", "N", 0, 1000000),
  PLAIT_OPTION_JSON (Options),
  { NULL },
};

const PlaitCommand plait_command_trees = {
  .name = "trees",
  .synopsis
  = "--check FILE [--tokens FILE] [--json] | --convert FILE --to FORM [--tokens FILE] [--output FILE] [--force]",
  .summary = "Check a file of constituency trees against its text, or write it in another form",
  .details
  = "A line holds one tree: brackets as in the Penn Treebank, or triples [LEFT,RIGHT,PARENT] with words numbered from "
    "1. The words of tree i must be the white-space tokens of line i of the text. A tree in brackets may continue on "
    "further lines, each of which begins with a space. null, (()) and [1,1,201] mean that there is no tree; so does an "
    "empty line if no tree of the file has several lines. Files are plain or gzip; \"-\" is standard input.\n"
    "\n"
    "Examples:\n"
    "  plait trees --check train.en.tree --tokens train.en\n"
    "  plait trees --check train.en.tree --binarise right --json\n"
    "  plait trees --convert train.en.tree --to triples --binarise head --output train.en.triples",
  .options = options,
  .size = sizeof (Options),
  .defaults = &(const Options){ .binarise = PLAIT_BINARISE_HEAD, .limit = -1 },
  .run = run_command,
};
