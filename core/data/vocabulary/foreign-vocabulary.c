/* SPDX-License-Identifier: MIT */
#include "vocabulary/foreign-vocabulary.h"

#include <string.h>

#include "text/error.h"
#include "files/file.h"
#include "text/words.h"
#include "vocabulary/id-map.h"
#include "lines/text-file.h"

#define MAX_LINES 1000 /* number of lines examined */

/* Counts of lines by form, at the beginning of a text. */
typedef struct
{
  guint lines;
  guint words;      /* lines with one field */
  guint counts;     /* lines with a word and a number of 0 or more */
  guint scores;     /* lines with a piece, a tab and a score of 0 or less */
  guint codes;      /* lines with two pieces and a count, the form of fastBPE's codes */
  guint wordpieces; /* lines with a piece in the form of WordPiece, such as ##ing and [UNK] */
} Lines;

static gboolean
is_number (const char *text, gdouble *value)
{
  char *end;

  *value = g_ascii_strtod (text, &end);
  return end > text && *end == '\0';
}

static void
look_at_line (Lines *lines, const char *line)
{
  g_autofree char *squeezed = g_strstrip (g_strdup (line));
  g_auto (GStrv) fields = g_strsplit_set (squeezed, " \t", -1);
  guint n = g_strv_length (fields);
  gdouble value = 0;
  gboolean number = n > 1 && is_number (fields[n - 1], &value);

  if (n == 0)
    return;
  lines->lines++;
  lines->words += n == 1;
  lines->counts += n == 2 && number && value >= 0;
  lines->scores += n == 2 && number && value <= 0 && strchr (line, '\t');
  lines->codes += n == 3 && number;
  lines->wordpieces += n == 1 && (g_str_has_prefix (fields[0], "##") || g_str_equal (fields[0], "[UNK]"));
}

static Lines
look_at (const char *text)
{
  Lines lines = { 0 };
  g_auto (GStrv) each = g_strsplit (text, "\n", MAX_LINES + 1);

  for (guint i = 0; each[i] && i < MAX_LINES; i++)
    look_at_line (&lines, each[i]);
  return lines;
}

/* Returns the path of the SentencePiece model of the list of pieces at @path, for a message; the text "NAME.model" if
 * there is no such file. (transfer full) */
static char *
model_of (const char *path)
{
  g_autofree char *stem
      = g_str_has_suffix (path, ".vocab") ? g_strndup (path, strlen (path) - strlen (".vocab")) : NULL;
  g_autofree char *model = stem ? g_strconcat (stem, ".model", NULL) : NULL;

  return model && g_file_test (model, G_FILE_TEST_EXISTS) ? g_steal_pointer (&model) : g_strdup ("NAME.model");
}

static const char *
describe_text (const char *text, const char *path, char **remedy)
{
  Lines lines = look_at (text);

  if (g_str_has_prefix (text, "#version") || (lines.lines > 0 && lines.codes == lines.lines))
    {
      *remedy = g_strdup (
          "split the text with that program and learn its pieces with data.vocabulary_type=words and "
          "evaluate.join=subword-nmt; for a published model, name its folder to plait vocabulary --published");
      return "the merges of byte pair encoding by another program, such as subword-nmt's codes";
    }
  if (lines.lines > 0 && lines.scores == lines.lines)
    {
      g_autofree char *model = model_of (path);

      *remedy = g_strdup_printf ("name that model, %s", model);
      return "the list of pieces that SentencePiece writes next to its model";
    }
  if (lines.wordpieces > 0 && lines.words == lines.lines)
    {
      *remedy = g_strdup ("split the text with that program and learn its pieces with data.vocabulary_type=words and "
                          "evaluate.join=wordpiece");
      return "a list of pieces of WordPiece, with which plait cannot split text";
    }
  if (lines.lines > 0 && (lines.words == lines.lines || lines.counts == lines.lines))
    {
      *remedy = g_strdup_printf (
          "make a vocabulary from it with plait vocabulary --list %s --output FILE, for data.vocabulary_type=words",
          path);
      return lines.counts == lines.lines ? "a list of words and their counts" : "a list of words";
    }
  *remedy = g_strdup_printf ("make a vocabulary from it with plait vocabulary --output FILE %s", path);
  return "text";
}

const char *
plait_foreign_vocabulary_describe (GBytes *bytes, const char *path, char **remedy)
{
  gsize length;
  const char *data = g_bytes_get_data (bytes, &length);
  const char *kind = plait_file_kind (data, length);
  g_autofree char *text = NULL;

  *remedy = NULL;
  if (kind || length == 0)
    return kind ? kind : "an empty file";
  if (!g_utf8_validate_len (data, length, NULL))
    return NULL;
  if (data[0] == '{')
    return "a file of a published model; plait vocabulary --published makes a vocabulary from its folder";
  text = g_strndup (data, length);
  return data[0] == '[' && strchr (text, '=') ? "a key-file, such as an experiment"
                                              : describe_text (text, path, remedy);
}

typedef struct
{
  PlaitTextReader *reader;
  gboolean begun, counted; /* @begun: TRUE after the first line; @counted: TRUE if the first line has a count, so that
                              every line must have one */
  GHashTable *seen;        /* word -> line number */
  GString *text;           /* the serialised vocabulary */
  char *specials[PLAIT_TOKEN_SPECIALS];
  guint left_out;
} List;

static void
list_clear (List *list)
{
  g_clear_pointer (&list->reader, plait_text_reader_free);
  g_clear_pointer (&list->seen, g_hash_table_unref);
  if (list->text)
    g_string_free (list->text, TRUE);
  for (gint32 id = 0; id < PLAIT_TOKEN_SPECIALS; id++)
    g_free (list->specials[id]);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (List, list_clear)

/* Splits @line into a word and an optional count. FALSE if it has another form. */
static gboolean
cut_line (const char *line, gsize length, char **word, guint64 *count, gboolean *counted)
{
  gsize position = 0, n, n_count, n_more;
  const char *first = plait_words_next (line, length, &position, &n);
  const char *second = plait_words_next (line, length, &position, &n_count);
  g_autofree char *number = second ? g_strndup (second, n_count) : NULL;

  *counted = second != NULL;
  *count = 0;
  *word = g_strndup (first, n);
  return !plait_words_next (line, length, &position, &n_more)
         && (!number || g_ascii_string_to_unsigned (number, 10, 0, G_MAXINT64, count, NULL));
}

static gboolean
add_line (List *list, const char *line, gsize length, GError **error)
{
  gint64 number = plait_text_reader_line (list->reader);
  const char *path = plait_text_reader_name (list->reader);
  g_autofree char *word = NULL;
  gpointer before;
  guint64 count;
  gboolean counted, good = cut_line (line, length, &word, &count, &counted);

  if (!good || (list->begun && counted != list->counted))
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s:%jd: \"%.80s\" is not a %s; expected a list of words: either WORD in every line, or WORD "
                       "COUNT in every line",
                       path, number, line,
                       !list->begun    ? "word with or without its count"
                       : list->counted ? "word with its count"
                                       : "word alone");
  list->begun = TRUE;
  list->counted = counted;
  for (gint32 id = 0; id < PLAIT_TOKEN_SPECIALS; id++)
    if (g_str_equal (word, list->specials[id]))
      {
        list->left_out++;
        return TRUE;
      }
  if (g_hash_table_lookup_extended (list->seen, word, NULL, &before))
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s:%jd: the word \"%.80s\" is in line %d already; remove one of the two lines", path, number,
                       word, GPOINTER_TO_INT (before));
  g_string_append_printf (list->text, "%s %ju\n", word, count);
  if (list->text->len > PLAIT_VOCABULARY_MAX_FILE)
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s:%jd: the list of words has more than %zu bytes; shorten the list",
                       path, number, PLAIT_VOCABULARY_MAX_FILE);
  g_hash_table_insert (list->seen, g_steal_pointer (&word), GINT_TO_POINTER ((gint)MIN (number, G_MAXINT)));
  return TRUE;
}

GBytes *
plait_foreign_vocabulary_read_list (const char *path, guint *left_out, GError **error)
{
  g_auto (List) list = { .reader = plait_text_reader_open (path, error) };
  g_autoptr (GError) fault = NULL;
  const char *line;
  gsize length;

  if (!list.reader)
    return NULL;
  list.seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  list.text = g_string_new (plait_words_format.header);
  for (gint32 id = 0; id < PLAIT_TOKEN_SPECIALS; id++)
    list.specials[id] = plait_special_name (id, 0);
  while ((line = plait_text_reader_next (list.reader, &length, &fault)))
    if (!plait_text_is_blank (line, length) && !add_line (&list, line, length, error))
      return NULL;
  if (!plait_no_error (&fault, error))
    return NULL;
  if (g_hash_table_size (list.seen) == 0)
    return plait_fail_null (error, PLAIT_ERROR_INPUT, "%s: has no words; expected a list of words, one a line", path);
  *left_out = list.left_out;
  return g_string_free_to_bytes (g_steal_pointer (&list.text));
}
