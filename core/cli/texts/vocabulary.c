/* SPDX-License-Identifier: MIT */
#include "vocabulary/vocabulary.h"

#include <stdio.h>
#include <string.h>

#include "text/display.h"
#include "text/error.h"
#include "files/file.h"
#include "text/json.h"
#include "text/number.h"
#include "command/command.h"
#include "command/options.h"
#include "command/output.h"
#include "comparison/stored-table.h"
#include "terminal/table-print.h"
#include "lines/text-file.h"
#include "setup/vocabularies.h"

/* Implements plait vocabulary: makes a vocabulary, prints one, or encodes and decodes lines of text. */

#define ENDS 20 /* number of rows that are printed at each end of a long vocabulary */

typedef struct
{
  const char *output, *show, *encode, *decode, *published, *list, *name;
  PlaitVocabularySettings settings;
  gboolean force, ids, everything, json;
} Options;

/* Returns a vocabulary learnt from the text files, or read from a published model or a list of words. */
static PlaitVocabulary *
make_vocabulary (const PlaitInvocation *invocation, const Options *options, GError **error)
{
  PlaitVocabulary *vocabulary;
  guint left_out = 0;

  if (options->published)
    return plait_vocabulary_from_published (options->published, error);
  if (!options->list)
    return plait_vocabulary_train (&options->settings, (const char *const *)invocation->arguments, error);
  vocabulary = plait_vocabulary_from_list (options->list, &left_out, error);
  if (vocabulary && left_out > 0)
    plait_log_info (invocation->log, "%s: left out %u special tokens, since plait adds special tokens itself",
                    options->list, left_out);
  return vocabulary;
}

static gboolean
make (const PlaitInvocation *invocation, const Options *options, GError **error)
{
  const char *taken[] = { options->published ? options->published : options->list, NULL };
  const char *const *inputs = taken[0] ? taken : (const char *const *)invocation->arguments;
  g_autoptr (PlaitVocabulary) vocabulary = NULL;
  g_autoptr (GBytes) bytes = NULL;

  if (options->published && options->list)
    return plait_fail (error, PLAIT_ERROR_INPUT, "--published and --list exclude each other; give one of them");
  if (taken[0] && invocation->arguments[0])
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s reads no text files; leave \"%s\" out",
                       options->published ? "--published" : "--list", invocation->arguments[0]);
  if (!inputs[0])
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "a text file is missing; usage: plait vocabulary --output FILE FILE...");
  for (guint i = 0; inputs[i]; i++)
    if (!plait_output_differs ("--output", options->output, inputs[i], error))
      return FALSE;
  if (!plait_file_check_new (options->output, options->force, "", "--output", error))
    return FALSE;
  vocabulary = make_vocabulary (invocation, options, error);
  bytes = vocabulary ? plait_vocabulary_to_file (vocabulary) : NULL;
  if (!bytes || !plait_file_replace (options->output, g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), error))
    return FALSE;
  plait_log_info (invocation->log, "%s: %s, %d entries, sha256 %s", options->output,
                  plait_vocabulary_format (vocabulary), plait_vocabulary_size (vocabulary),
                  plait_vocabulary_hash (vocabulary));
  return TRUE;
}

static void
show_json (const PlaitVocabulary *vocabulary)
{
  g_autoptr (PlaitJson) json = plait_json_new_object ();

  plait_json_members (json, "format=%s sha256=%s", plait_vocabulary_format (vocabulary),
                      plait_vocabulary_hash (vocabulary));
  plait_json_begin_array (json, "pieces");
  for (gint32 id = 0; id < plait_vocabulary_size (vocabulary); id++)
    plait_json_object (json, NULL, "id=%u piece=%s score=%g", id, plait_vocabulary_piece (vocabulary, id),
                       plait_vocabulary_score (vocabulary, id));
  plait_json_end_array (json);
  plait_json_print (json);
}

static void
show_text (const PlaitVocabulary *vocabulary, const Options *options)
{
  g_autoptr (PlaitTerminal) terminal = plait_terminal_new ();
  g_autoptr (PlaitTable) table = plait_table_new ();
  gint32 n = plait_vocabulary_size (vocabulary);
  gboolean words = strcmp (plait_vocabulary_format (vocabulary), "words") == 0;

  plait_terminal_text (terminal, PLAIT_TERMINAL_HEADING, "%s", options->show);
  plait_terminal_text (terminal, PLAIT_TERMINAL_DIM, "  %s, %d entries, sha256 %s\n",
                       plait_vocabulary_format (vocabulary), n, plait_vocabulary_hash (vocabulary));
  plait_table_column (table, PLAIT_TABLE_COUNTS, "Id");
  plait_table_column (table, PLAIT_TABLE_CODE, "Piece");
  plait_table_column (table, PLAIT_TABLE_NUMBERS, words ? "Count" : "Score")->format = "%.7g";
  for (gint32 id = 0; id < n; id++)
    {
      id = (gint32)plait_table_skip (table, id, n, options->everything ? 0 : ENDS);
      plait_table_integer (table, PLAIT_TABLE_DIM, id);
      plait_table_text (table, PLAIT_TABLE_NAME, plait_vocabulary_piece (vocabulary, id));
      plait_table_real (table, plait_vocabulary_score (vocabulary, id));
    }
  plait_table_print (table, terminal);
}

static void
encode_line (const PlaitVocabulary *vocabulary, const char *line, gsize length, gboolean as_ids, GArray *ids)
{
  g_autoptr (GString) text = g_string_new (NULL);

  g_array_set_size (ids, 0);
  plait_vocabulary_encode (vocabulary, line, length, ids);
  for (guint i = 0; i < ids->len; i++)
    {
      gint32 id = g_array_index (ids, gint32, i);

      if (i > 0)
        g_string_append_c (text, ' ');
      if (as_ids)
        g_string_append_printf (text, "%d", id);
      else
        g_string_append (text, plait_vocabulary_piece (vocabulary, id));
    }
  plait_display_line (stdout, text->str);
}

/* Returns a table from pieces to ids. (transfer full) */
static GHashTable *
index_pieces (const PlaitVocabulary *vocabulary)
{
  GHashTable *ids = g_hash_table_new (g_str_hash, g_str_equal);

  for (gint32 id = 0; id < plait_vocabulary_size (vocabulary); id++)
    g_hash_table_insert (ids, (gpointer)plait_vocabulary_piece (vocabulary, id), GINT_TO_POINTER (id));
  return ids;
}

/* Decodes @line and prints the text. @line consists of pieces, separated by blanks, or, if @pieces is NULL, of ids. */
static gboolean
decode_line (const PlaitVocabulary *vocabulary, GHashTable *pieces, const PlaitTextReader *reader, const char *line,
             GArray *ids, GError **error)
{
  g_auto (GStrv) words = g_strsplit_set (line, " \t", -1);

  g_array_set_size (ids, 0);
  for (guint i = 0; words[i]; i++)
    {
      gpointer found = NULL;
      gint64 number = -1;
      gint32 id;

      if (*words[i] == '\0')
        continue;
      if (pieces
              ? g_hash_table_lookup_extended (pieces, words[i], NULL, &found)
              : plait_parse_integer (words[i], &number) && number >= 0 && number < plait_vocabulary_size (vocabulary))
        id = pieces ? (gint32)GPOINTER_TO_INT (found) : (gint32)number;
      else
        return plait_fail (
            error, PLAIT_ERROR_INPUT, "%s:%jd: \"%.80s\" is not %s of the vocabulary; %s",
            plait_text_reader_name (reader), plait_text_reader_line (reader), words[i], pieces ? "a piece" : "an id",
            pieces ? "expected the output of --encode (for ids add --ids)" : "expected the output of --encode --ids");
      g_array_append_val (ids, id);
    }
  g_autofree char *text = plait_vocabulary_decode (vocabulary, (const gint32 *)ids->data, ids->len);
  plait_display_line (stdout, text);
  return TRUE;
}

/* Encodes or decodes the lines of the files, or of standard input. */
static gboolean
convert (const PlaitInvocation *invocation, const PlaitVocabulary *vocabulary, const Options *options, GError **error)
{
  static char *standard_input[] = { (char *)"-", NULL };
  char *const *paths = invocation->arguments[0] ? invocation->arguments : standard_input;
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint32));
  g_autoptr (GHashTable) pieces = options->decode && !options->ids ? index_pieces (vocabulary) : NULL;

  for (guint i = 0; paths[i]; i++)
    {
      g_autoptr (PlaitTextReader) reader = plait_text_reader_open_pipe (paths[i], error);
      g_autoptr (GError) fault = NULL;
      const char *line;
      gsize length;

      if (!reader)
        return FALSE;
      while ((line = plait_text_reader_next (reader, &length, &fault)))
        if (options->encode)
          encode_line (vocabulary, line, length, options->ids, ids);
        else if (!decode_line (vocabulary, pieces, reader, line, ids, error))
          return FALSE;
      if (!plait_no_error (&fault, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
run_command (PlaitInvocation *invocation, GError **error)
{
  const Options *options = invocation->options;
  guint modes
      = (options->output != NULL) + (options->show != NULL) + (options->encode != NULL) + (options->decode != NULL);
  const char *path = options->show ? options->show : options->encode ? options->encode : options->decode;

  if ((options->published || options->list) && !options->output)
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s needs --output, the file for the new vocabulary",
                       options->published ? "--published" : "--list");
  if (modes != 1)
    return plait_fail (error, PLAIT_ERROR_INPUT, "expected one of --output, --show, --encode and --decode, found %s",
                       modes == 0 ? "none" : "several");
  if (options->name && options->output)
    return plait_fail (
        error, PLAIT_ERROR_INPUT,
        "--name chooses a vocabulary of a run for --show, --encode or --decode; leave --name out with --output");
  if (options->output)
    return make (invocation, options, error);
  if (options->show && invocation->arguments[0])
    return plait_fail (error, PLAIT_ERROR_INPUT, "--show takes no text files; leave \"%s\" out",
                       invocation->arguments[0]);
  if (options->name && !plait_store_recognize (path))
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s: is not a run, so it has no vocabulary called %s; leave --name out", path, options->name);
  g_autoptr (PlaitVocabulary) vocabulary
      = plait_run_vocabulary_open (path, options->name, FALSE, invocation->log, error);
  if (!vocabulary)
    return FALSE;
  if (!options->show)
    return convert (invocation, vocabulary, options, error);
  if (options->json)
    show_json (vocabulary);
  else
    show_text (vocabulary, options);
  return TRUE;
}

static const PlaitOption options[] = {
  PLAIT_OPTION ("output", 'o', TEXT, output, "File for a new vocabulary, learnt from the text files", "FILE"),
  PLAIT_OPTION_FORCE (Options),
  PLAIT_OPTION ("show", 0, TEXT, show, "Show a vocabulary", "FILE"),
  PLAIT_OPTION ("encode", 0, TEXT, encode, "Print the pieces of lines of text", "FILE"),
  PLAIT_OPTION ("decode", 0, TEXT, decode, "Print the text of lines of pieces", "FILE"),
  PLAIT_OPTION ("published", 0, TEXT, published,
                "With --output: convert the vocabulary of the published model in this folder", "FOLDER"),
  PLAIT_OPTION ("list", 0, TEXT, list,
                "With --output: convert a list of words, WORD or WORD COUNT a line (fairseq's dict.txt)", "FILE"),
  PLAIT_OPTION ("name", 0, TEXT, name, "If FILE is a run with several vocabularies: the name of the one to read",
                "NAME"),
  PLAIT_OPTION ("type", 0, TEXT, settings.type, "Kind of pieces; default: bpe", "bpe|unigram|words"),
  PLAIT_OPTION ("size", 0, INTEGER, settings.size,
                "Number of entries, including four special ones; type words: 0 keeps all words; default: 8000", "N", 0,
                10000000),
  PLAIT_OPTION ("minimum-count", 0, INTEGER, settings.minimum_count,
                "Type words: words that occur fewer than N times become unknown; default: 1", "N", 1, 1000000000),
  PLAIT_OPTION ("coverage", 0, REAL, settings.character_coverage,
                "SentencePiece: share of the characters that get a piece; default: 1", "SHARE", .98, 1),
  PLAIT_OPTION ("normalisation", 0, TEXT, settings.normalization,
                "SentencePiece: Unicode normalisation of the text; default: identity",
                "identity|nfkc|nmt_nfkc|nfkc_cf|nmt_nfkc_cf"),
  PLAIT_FLAG ("byte-fallback", 0, settings.byte_fallback, "SentencePiece: characters without a piece become bytes"),
  PLAIT_OPTION ("lines", 0, INTEGER, settings.sentence_limit,
                "SentencePiece: learn from N lines, spread evenly; 0: all lines; default: 0", "N", 0, 1000000000),
  PLAIT_FLAG ("ids", 0, ids, "Print and read ids instead of pieces"),
  PLAIT_FLAG ("all", 'a', everything, "Show long vocabularies completely"),
  PLAIT_FLAG ("json", 0, json, "Print the vocabulary as JSON"),
  { NULL },
};

const PlaitCommand plait_command_vocabulary = {
  .name = "vocabulary",
  .synopsis = "--output FILE [--force] TEXT... | --show FILE | --encode FILE [TEXT...] | --decode FILE [TEXT...]",
  .summary = "Make a vocabulary from text, print one, or encode and decode text",
  .details
  = "Several text files, plain or gzip, give one shared vocabulary. --encode and --decode read standard input if no "
    "text is named. FILE may also be a run, which stores the vocabularies that it was trained with.\n"
    "\n"
    "Examples:\n"
    "  plait vocabulary --output shared.model --type bpe --size 6000 train.en train.de\n"
    "  plait vocabulary --show shared.model\n"
    "  echo 'a man rides' | plait vocabulary --encode shared.model\n"
    "  plait vocabulary --show run.h5 --name en\n"
    "  plait vocabulary --list dict.en.txt --output en.words",
  .options = options,
  .size = sizeof (Options),
  .defaults = &(const Options){ .settings = PLAIT_VOCABULARY_DEFAULTS },
  .max = -1,
  .run = run_command,
};
