/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "text/display.h"
#include "command/command.h"
#include "command/options.h"
#include "command/output.h"
#include "lines/text-file.h"
#include "words/text.h"

/* plait baseline: systems that summarise or label documents without a model, to be scored as any other. */

#define MAX_COUNT 1000000

typedef struct
{
  gint64 words, sentences; /* 0: not given */
  const char *train, *output;
  gboolean keep_lines, line_documents, force;
} Options;

/* What is said of each document. */
typedef struct
{
  char *majority; /* said of all; NULL: their beginnings are */
  gint64 words;   /* most of a beginning */
  gint64 sentences;
  gboolean line_documents; /* each line is a document */
  gboolean keep_lines;     /* of a beginning */

  FILE *stream;
  gint64 documents;
  gint64 words_left, sentences_left; /* of the document that is being read */
  GString *beginning;
} Baseline;

static void
begin_document (Baseline *baseline)
{
  baseline->words_left = baseline->words;
  baseline->sentences_left = baseline->sentences;
  g_string_truncate (baseline->beginning, 0);
}

/* Adds what still belongs to the beginning. */
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

/* The line that stands most often in the file at @path, of several the first; blank ones do not count. (transfer
 * full) */
static char *
find_majority (const char *path, GError **error)
{
  g_autoptr (PlaitTextReader) reader = plait_text_reader_open (path, error);
  g_autoptr (GPtrArray) lines = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GArray) times = g_array_new (FALSE, TRUE, sizeof (gint64));       /* that each of these stands there */
  g_autoptr (GHashTable) numbers = g_hash_table_new (g_str_hash, g_str_equal); /* of these, from 1 on */
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
    return plait_fail (error, PLAIT_ERROR_INPUT, "--train goes with majority alone; lead reads the documents");
  if (!options->words && !options->sentences)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "how much leads is missing: add --words N or --sentences N, such as --sentences 3");
  if (baseline->line_documents && (options->sentences || baseline->keep_lines))
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "--%s goes with documents of a sentence a line; --line-documents tells no sentences apart",
                       options->sentences ? "sentences" : "keep-lines");
  baseline->words = options->words ? options->words : G_MAXINT64;
  baseline->sentences = options->sentences ? options->sentences : G_MAXINT64;
  return TRUE;
}

static gboolean
take_majority (const Options *options, Baseline *baseline, GError **error)
{
  if (options->words || options->sentences || baseline->keep_lines)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "--words, --sentences and --keep-lines go with lead alone; majority says one line of --train");
  if (!options->train)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "--train is missing; name the file whose most frequent line is said of every document");
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
                       "%s: has no documents; expected a sentence a line, blank lines between",
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
    "lead: a sentence a line and a blank line between documents, instead of a line a document", NULL },
  { "train", 0, PLAIT_OPTION_TEXT, offsetof (Options, train), "majority: titles or labels, one a line", "FILE" },
  { "line-documents", 0, PLAIT_OPTION_FLAG, offsetof (Options, line_documents), "Each line of FILE is a document",
    NULL },
  { "output", 'o', PLAIT_OPTION_TEXT, offsetof (Options, output), "Write here instead of standard output", "FILE" },
  PLAIT_OPTION_FORCE (Options),
  { NULL },
};

const PlaitCommand plait_command_baseline = {
  .name = "baseline",
  .synopsis = "lead|majority [FILE] [--words N|--sentences N] [--train FILE] [--output FILE] [--force]",
  .summary
  = "Print the output of a system that hardly reads its documents: their first words, or the most frequent line",
  .details
  = "lead prints the first N words, or sentences, of each document of FILE, majority the line that stands most often "
    "in the file of --train, of several the first. A document is a sentence a line, up to a blank line. FILE is plain "
    "or gzip; without it, or with \"-\", standard input is read.\n"
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
