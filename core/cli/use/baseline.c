/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "text/display.h"
#include "command/command.h"
#include "command/options.h"
#include "command/output.h"
#include "lines/text-file.h"
#include "words/text.h"

/* plait baseline: summarises or labels documents without a model, for comparison with trained systems. */

#define MAX_COUNT 1000000

typedef struct
{
  gint64 words, sentences; /* 0: not given */
  const char *train, *output;
  gboolean keep_lines, line_documents, force;
} Options;

/* Settings and state of a baseline that reads documents line by line. */
typedef struct
{
  char *majority; /* output for every document; NULL: print its beginning */
  gint64 words;   /* maximum of words from each document */
  gint64 sentences;
  gboolean line_documents; /* TRUE if each line is a document */
  gboolean keep_lines;     /* TRUE: print the beginning in the lines of the document */

  FILE *stream;
  gint64 documents;
  gint64 words_left, sentences_left; /* words and sentences that the current document may still add */
  GString *beginning;
} Baseline;

static void
begin_document (Baseline *baseline)
{
  baseline->words_left = baseline->words;
  baseline->sentences_left = baseline->sentences;
  g_string_truncate (baseline->beginning, 0);
}

/* Appends @line to the beginning of the document, up to the limits. */
static void
add_sentence (Baseline *baseline, const char *line)
{
  gboolean first = TRUE;

  if (baseline->majority || baseline->sentences_left == 0)
    return;
  baseline->sentences_left--;
  for (const char *end; baseline->words_left > 0 && plait_text_next_word (&line, &end); line = end)
    {
      if (baseline->beginning->len > 0)
        g_string_append_c (baseline->beginning, first && baseline->keep_lines ? '\n' : ' ');
      g_string_append_len (baseline->beginning, line, end - line);
      baseline->words_left--;
      first = FALSE;
    }
}

static void
end_document (Baseline *baseline)
{
  g_auto (GStrv) lines = NULL;

  if (baseline->majority)
    plait_display_line (baseline->stream, baseline->majority);
  else if (!baseline->keep_lines)
    plait_display_line (baseline->stream, baseline->beginning->str);
  else
    {
      if (baseline->documents > 0)
        fputs ("\n", baseline->stream);
      lines = g_strsplit (baseline->beginning->str, "\n", -1);
      for (guint i = 0; lines[i]; i++)
        plait_display_line (baseline->stream, lines[i]);
    }
  baseline->documents++;
}

static gboolean
read_documents (Baseline *baseline, PlaitTextReader *reader, GError **error)
{
  g_autoptr (GError) local = NULL;
  gboolean inside = FALSE;
  const char *line;
  gsize length;

  while ((line = plait_text_reader_next (reader, &length, &local)))
    {
      gboolean blank = plait_text_is_blank (line, length);

      if (!inside)
        begin_document (baseline);
      if (!blank)
        add_sentence (baseline, line);
      inside |= !blank;
      if (baseline->line_documents || (blank && inside))
        {
          end_document (baseline);
          inside = FALSE;
        }
    }
  if (!plait_no_error (&local, error))
    return FALSE;
  if (inside)
    end_document (baseline);
  return TRUE;
}

/* Returns the most frequent line of the file at @path, of several the first. Blank lines do not count. (transfer
 * full) */
static char *
find_majority (const char *path, GError **error)
{
  g_autoptr (PlaitTextReader) reader = plait_text_reader_open (path, error);
  g_autoptr (GPtrArray) lines = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GArray) times = g_array_new (FALSE, TRUE, sizeof (gint64));       /* occurrences of each of lines */
  g_autoptr (GHashTable) numbers = g_hash_table_new (g_str_hash, g_str_equal); /* maps each of lines to its index + 1 */
  g_autoptr (GError) local = NULL;
  const char *text;
  gsize length;
  guint best = 0;

  if (!reader)
    return NULL;
  while ((text = plait_text_reader_next (reader, &length, &local)))
    {
      guint number = GPOINTER_TO_UINT (g_hash_table_lookup (numbers, text));

      if (plait_text_is_blank (text, length))
        continue;
      if (number == 0)
        {
          g_ptr_array_add (lines, g_strdup (text));
          number = lines->len;
          g_array_set_size (times, number);
          g_hash_table_insert (numbers, lines->pdata[number - 1], GUINT_TO_POINTER (number));
        }
      g_array_index (times, gint64, number - 1)++;
    }
  if (!plait_no_error (&local, error))
    return NULL;
  if (lines->len == 0)
    return plait_fail_null (error, PLAIT_ERROR_INPUT,
                            "%s: has no line that is not blank; expected one title or label a line", path);
  for (guint i = 1; i < lines->len; i++)
    if (g_array_index (times, gint64, i) > g_array_index (times, gint64, best))
      best = i;
  return g_strdup (lines->pdata[best]);
}

static gboolean
take_lead (const Options *options, Baseline *baseline, GError **error)
{
  if (options->train)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "--train needs majority; lead reads only the documents, so leave it out");
  if (!options->words && !options->sentences)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "lead needs a length: add --words N or --sentences N, such as --sentences 3");
  if (baseline->line_documents && (options->sentences || baseline->keep_lines))
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "--%s needs documents with one sentence a line; with --line-documents sentences are not known",
                       options->sentences ? "sentences" : "keep-lines");
  baseline->words = options->words ? options->words : G_MAXINT64;
  baseline->sentences = options->sentences ? options->sentences : G_MAXINT64;
  return TRUE;
}

static gboolean
take_majority (const Options *options, Baseline *baseline, GError **error)
{
  if (options->words || options->sentences || baseline->keep_lines)
    return plait_fail (
        error, PLAIT_ERROR_INPUT,
        "--words, --sentences and --keep-lines need lead; majority prints one line of --train, so leave them out");
  if (!options->train)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "--train is missing; name the file whose most frequent line is printed for every document");
  baseline->majority = find_majority (options->train, error);
  return baseline->majority != NULL;
}

static gboolean
baseline_run (const PlaitInvocation *invocation, const Options *options, Baseline *baseline, GError **error)
{
  const char *kind = invocation->arguments[0];
  const char *path = invocation->arguments[1] ? invocation->arguments[1] : "-";
  g_autoptr (PlaitTextReader) reader = NULL;
  g_auto (PlaitOutput) to = { 0 };
  gboolean lead = g_str_equal (kind, "lead");

  if (!lead && !g_str_equal (kind, "majority"))
    return plait_fail (error, PLAIT_ERROR_INPUT, "there is no baseline \"%s\"; expected lead or majority", kind);
  if (!(lead ? take_lead (options, baseline, error) : take_majority (options, baseline, error))
      || !plait_output_differs ("--output", options->output, path, error)
      || !plait_output_differs ("--output", options->output, options->train, error)
      || !plait_file_check_new (options->output, options->force, "", "--output", error)
      || !plait_output_begin (&to, options->output, error))
    return FALSE;
  baseline->stream = to.stream;
  reader = plait_text_reader_open_pipe (path, error);
  if (!reader || !read_documents (baseline, reader, error))
    return FALSE;
  if (baseline->documents == 0)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s: has no documents; expected one sentence a line, with a blank line between documents",
                       plait_text_reader_name (reader));
  if (!plait_output_commit (&to, error))
    return FALSE;
  if (options->output)
    plait_log_info (invocation->log, "%s: %jd documents", options->output, baseline->documents);
  return TRUE;
}

static gboolean
run_command (PlaitInvocation *invocation, GError **error)
{
  const Options *options = invocation->options;
  Baseline baseline = {
    .beginning = g_string_new (NULL),
    .keep_lines = options->keep_lines,
    .line_documents = options->line_documents,
  };
  gboolean done = baseline_run (invocation, options, &baseline, error);

  g_free (baseline.majority);
  g_string_free (baseline.beginning, TRUE);
  return done;
}

static const PlaitOption options[] = {
  { "words", 0, PLAIT_OPTION_INTEGER, offsetof (Options, words), "lead: at most N words of a document", "N", 1,
    MAX_COUNT },
  { "sentences", 0, PLAIT_OPTION_INTEGER, offsetof (Options, sentences), "lead: at most N sentences of a document", "N",
    1, MAX_COUNT },
  { "keep-lines", 0, PLAIT_OPTION_FLAG, offsetof (Options, keep_lines),
    "lead: print one sentence a line and a blank line between documents, instead of one document a line", NULL },
  { "train", 0, PLAIT_OPTION_TEXT, offsetof (Options, train), "majority: file of titles or labels, one a line",
    "FILE" },
  { "line-documents", 0, PLAIT_OPTION_FLAG, offsetof (Options, line_documents), "Each line of FILE is a document",
    NULL },
  { "output", 'o', PLAIT_OPTION_TEXT, offsetof (Options, output), "Output file; default: standard output", "FILE" },
  PLAIT_OPTION_FORCE (Options),
  { NULL },
};

const PlaitCommand plait_command_baseline = {
  .name = "baseline",
  .synopsis = "lead|majority [FILE] [--words N|--sentences N] [--train FILE] [--output FILE] [--force]",
  .summary = "Print a trivial baseline for documents: their first words, or the most frequent line",
  .details
  = "lead prints the first N words or sentences of each document of FILE. majority prints for each document the most "
    "frequent line of the file of --train; of equally frequent lines the first. A document has one sentence a line and "
    "ends at a blank line. FILE is plain or gzip; without it, or with \"-\", standard input is read.\n"
    "\n"
    "Examples:\n"
    "  plait baseline lead --words 14 test.doc > lead.txt\n"
    "  plait baseline lead --sentences 3 --keep-lines test.doc --output lead.txt\n"
    "  plait baseline majority --train train.title test.doc",
  .options = options,
  .size = sizeof (Options),
  .min = 1,
  .max = 2,
  .run = run_command,
};
