/* SPDX-License-Identifier: MIT */
#include "trees/parser.h"

#include <stdio.h>

#include "text/display.h"
#include "text/json.h"
#include "process/module.h"
#include "command/command.h"
#include "command/options.h"
#include "command/output.h"
#include "command/stop.h"

/* Implements plait parse: reads English text and writes constituency trees, line by line. */

/* Default limits of the parser. UNLINKED: on captions, trees with two or three unlinked words agree no better with a
 * treebank parser than right-branching trees do. TOKENS: a sentence of 60 tokens takes seconds. */
#define UNLINKED 1
#define TOKENS 60
#define SECONDS 60

/* Maximum number of tokens that link-grammar accepts. */
#define MAX_TOKENS 250

typedef struct
{
  const char *output;
  gint64 unlinked, tokens, seconds, jobs; /* limits of a sentence; number of processes (0: one per processor) */
  gboolean force, json;
} Options;

typedef struct
{
  PlaitLog *log;
  FILE *stream;
  gint64 lines;
  gint64 ends[PLAIT_N_PARSE_OUTCOMES];
} Result;

static void
take (const char *tree, PlaitParseOutcome end, gpointer data)
{
  Result *result = data;

  plait_display_line (result->stream, tree);
  result->lines++;
  result->ends[end]++;
  plait_log_progress (result->log, "%jd lines so far", result->lines);
}

static gboolean
parse_to (const char *output, const char *text, const PlaitParseSettings *settings, Result *result, GError **error)
{
  static const PlaitModuleWanted wanted
      = { "parser", "link-grammar", "parsing English", "liblink-grammar-dev and link-grammar-dictionaries-en",
          sizeof (PlaitSentenceParser) };
  const gint *stop = plait_stop_reads_on_signals ();
  const PlaitSentenceParser *parser = plait_module_open (&wanted, error);
  g_autoptr (PlaitTextReader) reader = NULL;
  g_auto (PlaitOutput) to = { 0 };
  gboolean good;

  if (!parser || !plait_output_begin (&to, output, error))
    return FALSE;
  result->stream = to.stream;
  reader = plait_text_reader_open_pipe (text, error);
  good = reader && plait_parse (parser, settings, reader, stop, take, result, error);
  plait_log_progress_end (result->log);
  return good && plait_output_commit (&to, error);
}

static void
print_json (const Result *result, double seconds)
{
  static const char *const names[PLAIT_N_PARSE_OUTCOMES]
      = { "whole", "with_unlinked_words", "not_parsed", "unmatched", "too_long", "timed_out", "crashed", "empty" };
  g_autoptr (PlaitJson) json = plait_json_new_object ();

  plait_json_integer (json, "lines", result->lines);
  for (guint i = 0; i < PLAIT_N_PARSE_OUTCOMES; i++)
    plait_json_integer (json, names[i], result->ends[i]);
  plait_json_real (json, "seconds", seconds);
  plait_json_print (json);
}

static void
log_outcome (const Result *result, const PlaitParseSettings *settings, double seconds)
{
  static const char *const forms[PLAIT_N_PARSE_OUTCOMES] = {
    [PLAIT_PARSE_NONE] = "%jd not parsed",
    [PLAIT_PARSE_UNMATCHED] = "%jd whose parsed words differ from their tokens",
    [PLAIT_PARSE_TOO_LONG] = "%jd of more than %jd tokens",
    [PLAIT_PARSE_TIMED_OUT] = "%jd not parsed in %jd s",
    [PLAIT_PARSE_CRASHED] = "%jd that crashed the parser",
    [PLAIT_PARSE_EMPTY] = "%jd empty",
  };
  g_autoptr (GString) without = g_string_new (NULL);
  g_autofree char *duration = plait_log_duration (seconds);
  gint64 with_tree = result->ends[PLAIT_PARSE_COMPLETE] + result->ends[PLAIT_PARSE_PARTIAL];

  for (guint i = PLAIT_PARSE_NONE; i < PLAIT_N_PARSE_OUTCOMES; i++)
    if (result->ends[i] > 0)
      {
        g_string_append (without, without->len > 0 ? ", " : ": ");
        g_string_append_printf (without, forms[i], result->ends[i],
                                i == PLAIT_PARSE_TOO_LONG ? settings->tokens : settings->seconds);
      }
  plait_log_info (result->log,
                  "%jd lines in %s: %jd with a tree (%jd parsed completely, %jd with unlinked words), %jd without%s",
                  result->lines, duration, with_tree, result->ends[PLAIT_PARSE_COMPLETE],
                  result->ends[PLAIT_PARSE_PARTIAL], result->lines - with_tree, without->str);
  if (result->ends[PLAIT_PARSE_TIMED_OUT] > 0)
    plait_log_warning (result->log,
                       "%jd lines exceeded the time limit, so a second run can give other trees; for repeatable trees, "
                       "lower --tokens, so that long lines are skipped before they exceed the time limit",
                       result->ends[PLAIT_PARSE_TIMED_OUT]);
  if (with_tree > 0)
    plait_log_warning (result->log, "link-grammar derives constituents from its links, so the trees are approximate; "
                                    "compare the results with runs that set data.trees=right and data.trees=balanced");
}

static gboolean
run_command (PlaitInvocation *invocation, GError **error)
{
  const Options *options = invocation->options;
  const char *text = invocation->arguments[0];
  gint64 start = g_get_monotonic_time ();
  Result result = { .log = invocation->log };
  const PlaitParseSettings settings = {
    options->unlinked,
    options->tokens,
    options->seconds,
    options->jobs > 0 ? (guint)options->jobs : g_get_num_processors (),
  };

  if (options->json && !options->output)
    return plait_fail (
        error, PLAIT_ERROR_INPUT,
        "--json prints counts to standard output, where the trees would go; name a file for the trees with --output");
  if (!plait_output_differs ("--output", options->output, text, error)
      || !plait_file_check_new (options->output, options->force, "", "--output", error)
      || !parse_to (options->output, text, &settings, &result, error))
    return FALSE;
  double seconds = (double)(g_get_monotonic_time () - start) / G_USEC_PER_SEC;
  log_outcome (&result, &settings, seconds);
  if (options->json)
    print_json (&result, seconds);
  return TRUE;
}

static const PlaitOption options[] = {
  PLAIT_OPTION ("output", 'o', TEXT, output, "File for the trees; default: standard output", "FILE"),
  PLAIT_OPTION_FORCE (Options),
  PLAIT_OPTION ("unlinked", 0, INTEGER, unlinked,
                "Maximum number of words without a link, which are attached to the constituent around them; default: 1",
                "N", 0, MAX_TOKENS),
  PLAIT_OPTION ("tokens", 0, INTEGER, tokens, "Maximum number of tokens; longer sentences get no tree; default: 60",
                "N", 1, MAX_TOKENS),
  PLAIT_OPTION ("seconds", 0, INTEGER, seconds, "Time limit of a sentence in seconds; default: 60", "N", 1, 86400),
  PLAIT_OPTION ("jobs", 'j', INTEGER, jobs, "Number of processes; default: the number of processors", "N", 0, 1024),
  PLAIT_FLAG ("json", 0, json, "Print the counts as JSON; needs --output"),
  { NULL },
};

const PlaitCommand plait_command_parse = {
  .name = "parse",
  .synopsis = "FILE [--output FILE] [--force] [--unlinked N] [--tokens N] [--seconds N] [--json]",
  .summary = "Make constituency trees of English text with link-grammar",
  .details = "Each line is a sentence, whose words are separated by white space; line i of the trees belongs to line i "
             "of the text. A sentence without a tree has an empty line; data.no_tree decides how a run reads it. Files "
             "are plain or gzip; \"-\" is standard input. Equal text gives equal trees for any number of processes, "
             "except for sentences that exceed --seconds.\n"
             "\n"
             "Examples:\n"
             "  plait parse train.en --output train.en.trees\n"
             "  plait parse train.en --unlinked 0 --json --output train.en.trees\n"
             "  plait trees --check train.en.trees --tokens train.en",
  .options = options,
  .size = sizeof (Options),
  .defaults = &(const Options){ .unlinked = UNLINKED, .tokens = TOKENS, .seconds = SECONDS },
  .min = 1,
  .max = 1,
  .run = run_command,
};
