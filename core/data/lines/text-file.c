/* SPDX-License-Identifier: MIT */
#include "lines/text-file.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "files/input-guard.h"
#include "files/file.h"
#include "lines/shared-lines.h"
#include "lines/tree-lines.h"

#define READ_SIZE (64 * 1024)
#define GZIP (16 + MAX_WBITS) /* zlib's windowBits: the largest window, gzip format */

/* A file whose lines have several tab-separated fields, shared by one reader per column. */
typedef struct
{
  guint users;
  PlaitTextReader *lines;
  guint n;
  gint64 row; /* number of the current line, from 1 */
  gboolean ended;
  GStrv fields; /* [n], fields of the current line */
} Table;

struct PlaitTextReader
{
  Table *table; /* table that has @column, or NULL */
  guint column;
  gboolean is_column;    /* TRUE: the lines are one column of a file whose columns several readers may share */
  PlaitTreeLines *trees; /* joins the lines of a tree; NULL: each line of the file is one text */

  PlaitSharedLines *shared; /* lines that several readers share; NULL: not shared */
  gint64 position;          /* number of shared lines that were returned; @text is the last of them */

  char *name;
  int descriptor;
  gboolean owns_descriptor;
  gboolean is_pipe; /* TRUE: reading may block for a long time */

  /* Bytes read from the file; raw[raw_start .. raw_end - 1] are not used yet. */
  guint8 raw[READ_SIZE];
  gsize raw_start;
  gsize raw_end;
  gboolean raw_ended;
  gboolean begun; /* TRUE after the first bytes have been examined for gzip */

  z_stream *inflate;        /* state of decoding gzip; NULL for plain text */
  gboolean between_members; /* gzip: the previous member is complete, and the next one has not begun */

  /* Decoded text; text[start .. end - 1] was not returned yet, and its first @scanned bytes hold no LF. */
  char *text;
  gsize allocated;
  gsize start;
  gsize scanned;
  gsize end;
  gboolean text_ended;
  gint64 line;
};

static PlaitTextReader *
reader_new (int descriptor, gboolean owns_descriptor, gboolean is_pipe, const char *name)
{
  PlaitTextReader *reader = g_new0 (PlaitTextReader, 1);
  reader->name = g_strdup (name);
  reader->descriptor = descriptor;
  reader->owns_descriptor = owns_descriptor;
  reader->is_pipe = is_pipe;
  reader->allocated = READ_SIZE + 1;
  reader->text = g_malloc (reader->allocated);
  return reader;
}

static PlaitTextReader *
open_path (const char *path, gboolean pipes, GError **error)
{
  struct stat status;
  int descriptor = plait_file_open (path, pipes ? PLAIT_FILE_OR_PIPE : PLAIT_FILE_REGULAR, "a text file, plain or gzip",
                                    &status, error);

  return descriptor >= 0 ? reader_new (descriptor, TRUE, pipes, path) : NULL;
}

PlaitTextReader *
plait_text_reader_open (const char *path, GError **error)
{
  return open_path (path, FALSE, error);
}

PlaitTextReader *
plait_text_reader_open_pipe (const char *path, GError **error)
{
  if (strcmp (path, "-") == 0)
    {
      plait_input_guard_add (STDIN_FILENO, "standard input");
      return reader_new (STDIN_FILENO, FALSE, TRUE, "standard input");
    }
  return open_path (path, TRUE, error);
}

GPtrArray *
plait_text_reader_open_columns (const char *path, guint n, GError **error)
{
  PlaitTextReader *lines = plait_text_reader_open_pipe (path, error);
  GPtrArray *columns;
  Table *table;

  if (!lines)
    return NULL;
  table = g_new0 (Table, 1);
  table->users = n;
  table->lines = lines;
  table->n = n;
  columns = g_ptr_array_new_with_free_func ((GDestroyNotify)plait_text_reader_free);
  for (guint i = 0; i < n; i++)
    {
      PlaitTextReader *column = g_new0 (PlaitTextReader, 1);
      column->table = table;
      column->column = i;
      column->is_column = TRUE;
      column->name = g_strdup (lines->name);
      g_ptr_array_add (columns, column);
    }
  return columns;
}

GPtrArray *
plait_text_reader_share (PlaitTextReader *lines, guint n)
{
  GPtrArray *readers = g_ptr_array_new_with_free_func ((GDestroyNotify)plait_text_reader_free);
  PlaitSharedLines *shared = plait_shared_lines_new (lines, n);

  for (guint i = 0; i < n; i++)
    {
      PlaitTextReader *reader = g_new0 (PlaitTextReader, 1);
      reader->shared = shared;
      reader->is_column = lines->is_column;
      reader->descriptor = lines->descriptor;
      reader->name = g_strdup (lines->name);
      g_ptr_array_add (readers, reader);
    }
  return readers;
}

PlaitTextReader *
plait_text_reader_join_trees (PlaitTextReader *lines, gboolean may_wait)
{
  PlaitTextReader *reader;
  struct stat status;

  if (lines->is_column)
    return lines;
  reader = g_new0 (PlaitTextReader, 1);
  reader->name = g_strdup (lines->name);
  reader->trees
      = plait_tree_lines_new (lines, may_wait || (fstat (lines->descriptor, &status) == 0 && S_ISREG (status.st_mode)));
  return reader;
}

static void
table_unref (Table *table)
{
  if (--table->users > 0)
    return;
  plait_text_reader_free (table->lines);
  g_strfreev (table->fields);
  g_free (table);
}

void
plait_text_reader_free (PlaitTextReader *reader)
{
  if (!reader)
    return;
  if (reader->table)
    table_unref (reader->table);
  plait_tree_lines_free (reader->trees);
  plait_shared_lines_unref (reader->shared);
  if (reader->owns_descriptor)
    close (reader->descriptor);
  if (reader->inflate)
    inflateEnd (reader->inflate);
  g_free (reader->inflate);
  g_free (reader->text);
  g_free (reader->name);
  g_free (reader);
}

gint64
plait_text_reader_line (const PlaitTextReader *reader)
{
  return reader->line;
}

const char *
plait_text_reader_name (const PlaitTextReader *reader)
{
  return reader->name;
}

static gboolean
read_raw (PlaitTextReader *reader, GError **error)
{
  if (reader->raw_start > 0)
    {
      memmove (reader->raw, reader->raw + reader->raw_start, reader->raw_end - reader->raw_start);
      reader->raw_end -= reader->raw_start;
      reader->raw_start = 0;
    }
  g_assert (reader->raw_end < READ_SIZE);
  ssize_t got;
  do
    got = read (reader->descriptor, reader->raw + reader->raw_end, READ_SIZE - reader->raw_end);
  while (got < 0 && errno == EINTR && !reader->is_pipe);
  if (got < 0 && errno == EINTR)
    return plait_fail (error, PLAIT_ERROR_INTERRUPTED, "%s: interrupted after line %jd", reader->name, reader->line);
  if (got < 0)
    return plait_fail (error, plait_error_code (errno),
                       "%s: cannot be read after line %jd (%s); name a file that can be read", reader->name,
                       reader->line, g_strerror (errno));
  if (got == 0)
    reader->raw_ended = TRUE;
  reader->raw_end += (gsize)got;
  return TRUE;
}

/* Reads the first bytes and finds out whether the file is gzip. */
static gboolean
begin (PlaitTextReader *reader, GError **error)
{
  reader->begun = TRUE;
  /* Ask for a second byte only if the first is gzip's, because a pipe may deliver only one byte for now. */
  while (!reader->raw_ended && (reader->raw_end == 0 || (reader->raw_end == 1 && reader->raw[0] == 0x1f)))
    if (!read_raw (reader, error))
      return FALSE;
  if (reader->raw_end >= 2 && reader->raw[0] == 0x1f && reader->raw[1] == 0x8b)
    {
      reader->inflate = g_new0 (z_stream, 1);
      if (inflateInit2 (reader->inflate, GZIP) != Z_OK)
        return plait_fail (error, PLAIT_ERROR_FAILED,
                           "%s: there is no memory to unpack the gzip data; free some memory", reader->name);
    }
  return TRUE;
}

/* Skips zero padding after a gzip member. Then begins the next member (cat a.gz b.gz), or sets text_ended. */
static gboolean
begin_member (PlaitTextReader *reader, GError **error)
{
  gsize left;
  for (;;)
    {
      while (reader->raw_start < reader->raw_end && reader->raw[reader->raw_start] == 0)
        reader->raw_start++;
      left = reader->raw_end - reader->raw_start;
      if (left >= 2 || reader->raw_ended)
        break;
      if (!read_raw (reader, error))
        return FALSE;
    }
  if (left == 0)
    {
      reader->text_ended = TRUE;
      return TRUE;
    }
  const guint8 *next = reader->raw + reader->raw_start;
  if (left < 2 || next[0] != 0x1f || next[1] != 0x8b)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s: other bytes follow the gzip data; expected further gzip data or the end of the file, so "
                       "copy the file again",
                       reader->name);
  inflateReset (reader->inflate);
  reader->between_members = FALSE;
  return TRUE;
}

/* Appends some inflated text at reader->end, where at least READ_SIZE bytes are free, or sets text_ended. */
static gboolean
add_inflated (PlaitTextReader *reader, GError **error)
{
  if (reader->between_members && !begin_member (reader, error))
    return FALSE;
  if (reader->text_ended)
    return TRUE;
  if (reader->raw_start == reader->raw_end && !reader->raw_ended && !read_raw (reader, error))
    return FALSE;

  z_stream *inflating = reader->inflate;
  inflating->next_in = reader->raw + reader->raw_start;
  inflating->avail_in = (uInt)(reader->raw_end - reader->raw_start);
  inflating->next_out = (Bytef *)reader->text + reader->end;
  inflating->avail_out = READ_SIZE;
  int result = inflate (inflating, Z_NO_FLUSH);
  if (result == Z_BUF_ERROR && reader->raw_ended)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s: the gzip data ends early, after line %jd; the file is truncated, so copy it again",
                       reader->name, reader->line);
  if (result == Z_BUF_ERROR)
    return read_raw (reader, error);
  if (result != Z_OK && result != Z_STREAM_END)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s: the gzip data is damaged after line %jd (%s); copy the file again", reader->name,
                       reader->line, inflating->msg ? inflating->msg : zError (result));
  reader->raw_start = reader->raw_end - inflating->avail_in;
  reader->end += READ_SIZE - inflating->avail_out;
  reader->between_members = result == Z_STREAM_END;
  return TRUE;
}

static gboolean
add_plain (PlaitTextReader *reader, GError **error)
{
  if (reader->raw_start == reader->raw_end && !reader->raw_ended && !read_raw (reader, error))
    return FALSE;
  gsize n = reader->raw_end - reader->raw_start;
  memcpy (reader->text + reader->end, reader->raw + reader->raw_start, n);
  reader->end += n;
  reader->raw_start = reader->raw_end;
  reader->text_ended = reader->raw_ended;
  return TRUE;
}

static gboolean
add_text (PlaitTextReader *reader, GError **error)
{
  if (!reader->begun && !begin (reader, error))
    return FALSE;

  if (reader->start > 0)
    {
      memmove (reader->text, reader->text + reader->start, reader->end - reader->start);
      reader->end -= reader->start;
      reader->start = 0;
    }
  if (reader->allocated - reader->end < READ_SIZE + 1)
    {
      /* The buffer stays bounded, because the caller refuses lines above the limit. */
      reader->allocated = MAX (2 * reader->allocated, reader->end + READ_SIZE + 1);
      reader->text = g_realloc (reader->text, reader->allocated);
    }
  return reader->inflate ? add_inflated (reader, error) : add_plain (reader, error);
}

static gboolean
fail_nul (const PlaitTextReader *reader, gint64 line, gsize byte, GError **error)
{
  return plait_fail (
      error, PLAIT_ERROR_INPUT,
      "%s:%jd: byte %zu of the line is NUL; expected UTF-8 text without NUL, so check that this is a text file",
      reader->name, line, byte);
}

/* Returns how many bytes at the start of @text are ASCII and not NUL, rounded down to a multiple of 8. */
static gsize
count_plain (const char *text, gsize length)
{
  const guint64 ones = 0x0101010101010101u, tops = 0x8080808080808080u;
  gsize i = 0;

  for (guint64 word; i + 8 <= length; i += 8)
    {
      memcpy (&word, text + i, 8);
      if ((word | (word - ones)) & tops) /* some byte is 0, or has its top bit set */
        break;
    }
  return i;
}

/* Checks that text[0 .. length - 1] is UTF-8 without NUL, and terminates it. */
static gboolean
check_line (PlaitTextReader *reader, char *text, gsize length, GError **error)
{
  gsize plain = count_plain (text, length);
  const char *nul = memchr (text + plain, 0, length - plain);
  if (nul)
    return fail_nul (reader, reader->line, (gsize)(nul - text) + 1, error);
  const char *bad;
  if (!g_utf8_validate_len (text + plain, length - plain, &bad))
    return plait_fail (
        error, PLAIT_ERROR_INPUT,
        "%s:%jd: byte %zu of the line (0x%02x) is not UTF-8; convert the file, for example with iconv -t UTF-8",
        reader->name, reader->line, (gsize)(bad - text) + 1, (guint)(guint8)*bad);
  text[length] = '\0';
  return TRUE;
}

/* Reads the next line of @table and splits it. Returns FALSE at the end, without @error, and on failure. */
static gboolean
next_row (Table *table, GError **error)
{
  gsize length = 0;
  const char *line = table->ended ? NULL : plait_text_reader_next (table->lines, &length, error);
  guint n = 1;

  table->ended = !line;
  if (!line)
    return FALSE;
  for (const char *tab = line; (tab = strchr (tab, '\t')); tab++)
    n++;
  if (n != table->n)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s:%jd: the line has %u fields; expected %u with tabs between them, one for each named column",
                       table->lines->name, table->lines->line, n, table->n);
  g_strfreev (table->fields);
  table->fields = length > 0 ? g_strsplit (line, "\t", -1) : g_strdupv ((char *[]){ "", NULL });
  table->row++;
  return TRUE;
}

static const char *
next_field (PlaitTextReader *reader, gsize *length, GError **error)
{
  Table *table = reader->table;

  if (reader->line == table->row && !next_row (table, error))
    return NULL;
  reader->line++;
  *length = strlen (table->fields[reader->column]);
  return table->fields[reader->column];
}

static const char *
next_shared (PlaitTextReader *reader, gsize *length, GError **error)
{
  g_free (reader->text);
  reader->text = plait_shared_lines_next (reader->shared, reader->position, length, &reader->line, error);
  reader->position += reader->text != NULL;
  return reader->text;
}

const char *
plait_text_reader_next (PlaitTextReader *reader, gsize *length, GError **error)
{
  gsize ignored;
  char *lf = NULL;
  length = length ? length : &ignored;
  if (reader->table)
    return next_field (reader, length, error);
  if (reader->shared)
    return next_shared (reader, length, error);
  if (reader->trees)
    return plait_tree_lines_next (reader->trees, length, &reader->line, error);
  for (;;)
    {
      char *unscanned = reader->text + reader->start + reader->scanned;
      gsize left = reader->end - reader->start - reader->scanned;
      lf = left > 0 ? memchr (unscanned, '\n', left) : NULL;
      if (lf)
        break;
      reader->scanned += left;
      /* The limit does not count the line end: + 1 for CR. */
      if (reader->scanned > PLAIT_TEXT_LINE_LIMIT + 1 || reader->text_ended)
        break;
      if (!add_text (reader, error))
        return NULL;
    }

  char *line = reader->text + reader->start;
  gsize n = lf ? (gsize)(lf - line) : reader->end - reader->start;
  if (!lf && n == 0)
    return NULL;
  reader->line++;
  if (lf && n > 0 && line[n - 1] == '\r')
    n--;
  if (n > PLAIT_TEXT_LINE_LIMIT)
    return plait_fail_null (
        error, PLAIT_ERROR_INPUT,
        "%s:%jd: the line is longer than %d bytes; expected one sentence a line, so split or remove the line",
        reader->name, reader->line, PLAIT_TEXT_LINE_LIMIT);
  reader->start = lf ? (gsize)(lf + 1 - reader->text) : reader->end;
  reader->scanned = 0;
  if (!check_line (reader, line, n, error))
    return NULL;
  if (reader->line == 1 && n >= 3 && memcmp (line, "\xef\xbb\xbf", 3) == 0)
    {
      line += 3;
      n -= 3;
    }
  *length = n;
  return line;
}

char **
plait_text_file_lines (const char *path, gboolean pipes, gsize maximum, GError **error)
{
  g_autoptr (PlaitTextReader) reader
      = pipes ? plait_text_reader_open_pipe (path, error) : plait_text_reader_open (path, error);
  g_autoptr (GStrvBuilder) lines = g_strv_builder_new ();
  g_autoptr (GError) fault = NULL;
  gsize length, left = maximum;

  if (!reader)
    return NULL;
  for (const char *line; (line = plait_text_reader_next (reader, &length, &fault)); left -= length + 1)
    {
      if (length >= left)
        return plait_fail_null (error, PLAIT_ERROR_INPUT, "%s: holds more than %zu bytes of text; split the file",
                                reader->name, maximum);
      g_strv_builder_add (lines, line);
    }
  return plait_no_error (&fault, error) ? g_strv_builder_end (lines) : NULL;
}
