/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data-files.h"
#include "lines/text-file.h"
#include "files.h"
#include "harness.h"

#include "text/error.h"

/* Returns all lines of @path, each followed by "|". Sets @error if reading fails. (transfer full) */
static char *
read_all (const char *path, GError **error)
{
  g_autoptr (PlaitTextReader) reader = plait_text_reader_open (path, error);
  if (!reader)
    return NULL;
  GString *all = g_string_new (NULL);
  const char *line;
  gsize length;
  while ((line = plait_text_reader_next (reader, &length, error)))
    {
      CHECK_INT (strlen (line), length);
      g_string_append (all, line);
      g_string_append_c (all, '|');
    }
  return g_string_free (all, FALSE);
}

static void
check_lines (const char *bytes, gssize length, const char *expected)
{
  for (int zipped = 0; zipped < 2; zipped++)
    {
      CONTEXT ("zipped %d, expecting %s", zipped, expected);
      const char *path = (zipped ? plait_test_write_gzip : plait_test_write_bytes) ("text", bytes, length);
      g_autofree char *lines = read_all (path, NO_ERROR);
      CHECK_STRING (lines, expected);
    }
}

static void
check_refused (const char *bytes, gssize length, const char *before, const char *message)
{
  for (int zipped = 0; zipped < 2; zipped++)
    {
      CONTEXT ("zipped %d, expecting %s", zipped, message);
      g_autoptr (GError) error = NULL;
      const char *path = (zipped ? plait_test_write_gzip : plait_test_write_bytes) ("text", bytes, length);
      g_autofree char *lines = read_all (path, &error);
      CHECK_STRING (lines, before);
      CHECK_ERROR (error, PLAIT_ERROR_INPUT, message);
    }
}

TEST_CASE (text_file, reads_lines_however_they_end)
{
  check_lines ("", 0, "");
  check_lines ("\n", 1, "|");
  check_lines ("a b\nc\n", -1, "a b|c|");
  check_lines ("a\nb", -1, "a|b|");
  check_lines ("a\r\n\r\nb\r\n", -1, "a||b|");
  check_lines ("a\rb\n\r", -1, "a\rb|\r|");
  check_lines ("\xef\xbb\xbf"
               "a\n\xef\xbb\xbf"
               "b\n",
               -1,
               "a|\xef\xbb\xbf"
               "b|");
  check_lines ("a\xe2\x80\xa8"
               "b\xc2\x85\n",
               -1,
               "a\xe2\x80\xa8"
               "b\xc2\x85|");
}

TEST_CASE (text_file, refuses_what_is_not_text)
{
  check_refused ("fine\nsec\xffond\n", -1, "fine|", "text:2: byte 4 of the line (0xff) is not UTF-8");
  check_refused ("cut \xc5", -1, "", "text:1: byte 5 of the line (0xc5) is not UTF-8");
  check_refused ("\xed\xa0\x80\n", -1, "", "text:1: byte 1");
  check_refused ("a\nb\0c\n", 6, "a|", "text:2: byte 2 of the line is NUL");
  /* The wrong byte stands after words of plain letters, then inside a word. */
  check_refused ("eight by sixteen bytes\xff\n", -1, "", "text:1: byte 23 of the line (0xff) is not UTF-8");
  check_refused ("eight by six\xc3teen bytes\n", -1, "", "text:1: byte 13 of the line (0xc3) is not UTF-8");
  check_refused ("eight by six\0teen bytes\n", 24, "", "text:1: byte 13 of the line is NUL");
}

TEST_CASE (text_file, bounds_the_length_of_a_line)
{
  g_autoptr (GString) text = g_string_new ("first\n");
  gsize start = text->len;
  g_string_set_size (text, start + PLAIT_TEXT_LINE_LIMIT);
  memset (text->str + start, 'x', PLAIT_TEXT_LINE_LIMIT);
  g_string_append (text, "\r\nlast\n");
  for (int zipped = 0; zipped < 2; zipped++)
    {
      const char *path
          = (zipped ? plait_test_write_gzip : plait_test_write_bytes) ("text", text->str, (gssize)text->len);
      g_autofree char *lines = read_all (path, NO_ERROR);
      CHECK_INT (strlen (lines), PLAIT_TEXT_LINE_LIMIT + strlen ("first||last|"));
    }
  g_string_insert_c (text, (gssize)start, 'x');
  check_refused (text->str, (gssize)text->len, "first|", "text:2: the line is longer than 1048576 bytes");

  gsize huge = 10 * 1000 * 1000;
  g_autofree char *line = g_malloc (huge);
  memset (line, 'y', huge);
  check_refused (line, (gssize)huge, "", "text:1: the line is longer");
}

TEST_CASE (text_file, notices_damaged_gzip)
{
  g_autoptr (GString) text = g_string_new (NULL);
  for (int i = 0; i < 5000; i++)
    g_string_append_printf (text, "line %d of some text\n", i * 7919 % 5000);
  g_autoptr (GBytes) packed = plait_test_gzip (text->str, (gssize)text->len);
  gsize size;
  const char *bytes = g_bytes_get_data (packed, &size);
  gsize cuts[] = { 2, 9, 10, 11, size / 2, size - 8, size - 1 };
  for (gsize i = 0; i < G_N_ELEMENTS (cuts); i++)
    {
      CONTEXT ("cut at %d of %d", (int)cuts[i], (int)size);
      g_autoptr (GError) error = NULL;
      const char *path = plait_test_write_bytes ("cut.gz", bytes, (gssize)cuts[i]);
      g_free (read_all (path, &error));
      CHECK_ERROR (error, PLAIT_ERROR_INPUT, "cut.gz: the gzip data ends early");
    }
  for (gsize at = 10; at < size; at += size / 13)
    {
      CONTEXT ("flipped at %d of %d", (int)at, (int)size);
      g_autoptr (GError) error = NULL;
      g_autofree char *flipped = g_memdup2 (bytes, size);
      flipped[at] ^= 0x10;
      const char *path = plait_test_write_bytes ("flipped.gz", flipped, (gssize)size);
      g_free (read_all (path, &error));
      CHECK (error != NULL);
      if (error)
        CHECK_CONTAINS (error->message, "flipped.gz");
    }
}

TEST_CASE (text_file, reads_gzip_of_several_members)
{
  g_autoptr (GBytes) first = plait_test_gzip ("one\ntw", -1), second = plait_test_gzip ("o\nthree\n", -1);
  g_autoptr (GByteArray) both = g_byte_array_new ();
  g_byte_array_append (both, g_bytes_get_data (first, NULL), (guint)g_bytes_get_size (first));
  g_byte_array_append (both, g_bytes_get_data (second, NULL), (guint)g_bytes_get_size (second));
  g_byte_array_append (both, (const guint8 *)"\0\0\0\0", 4);
  g_autoptr (GError) error = NULL;
  const char *path = plait_test_write_bytes ("both.gz", (const char *)both->data, (gssize)both->len);
  g_autofree char *lines = read_all (path, NO_ERROR);
  CHECK_STRING (lines, "one|two|three|");

  g_byte_array_append (both, (const guint8 *)"rest", 4);
  const char *other_path = plait_test_write_bytes ("other.gz", (const char *)both->data, (gssize)both->len);
  g_free (read_all (other_path, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "other.gz: other bytes follow the gzip data");
}

TEST_CASE (text_file, refuses_what_is_no_file)
{
  g_autoptr (GError) error = NULL;
  CHECK (!plait_text_reader_open (plait_test_path ("absent"), &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "absent: cannot be opened (");
  CHECK (!plait_text_reader_open (plait_test_folder (), &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, ": is a folder; expected a text file");
  CHECK (!plait_text_reader_open_pipe (plait_test_folder (), &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, ": is a folder");
  CHECK (!plait_text_reader_open ("/dev/zero", &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "/dev/zero: is not a regular file");
  const char *pipe = plait_test_path ("pipe");
  REQUIRE (mkfifo (pipe, 0600) == 0);
  CHECK (!plait_text_reader_open (pipe, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "pipe: is not a regular file");
}

static gpointer
write_in_two (gpointer data)
{
  int descriptor = open (data, O_WRONLY);
  int unread = 1;
  CHECK (write (descriptor, "one\ntw", 6) == 6);
  while (unread > 0 && ioctl (descriptor, FIONREAD, &unread) == 0)
    g_thread_yield ();
  CHECK_INT (unread, 0);
  CHECK (write (descriptor, "o\n", 2) == 2);
  close (descriptor);
  return NULL;
}

TEST_CASE (text_file, reads_a_pipe)
{
  const char *path = plait_test_path ("pipe");
  REQUIRE (mkfifo (path, 0600) == 0);
  GThread *writer = g_thread_new ("writer", write_in_two, (gpointer)path);
  g_autoptr (PlaitTextReader) reader = plait_text_reader_open_pipe (path, NO_ERROR);
  CHECK_STRING (plait_text_reader_next (reader, NULL, NO_ERROR), "one");
  CHECK_STRING (plait_text_reader_next (reader, NULL, NO_ERROR), "two");
  CHECK_INT (plait_text_reader_line (reader), 2);
  CHECK (!plait_text_reader_next (reader, NULL, NO_ERROR));
  CHECK (!plait_text_reader_next (reader, NULL, NO_ERROR));
  CHECK_INT (plait_text_reader_line (reader), 2);
  g_thread_join (writer);
}

/* The reader returns an empty line at once. It does not wait for more bytes. */
TEST_CASE (text_file, gives_an_empty_line_as_soon_as_it_comes)
{
  const char *path = plait_test_path ("pipe");
  REQUIRE (mkfifo (path, 0600) == 0);
  int both = open (path, O_RDWR);
  CHECK (write (both, "\n", 1) == 1);
  g_autoptr (PlaitTextReader) reader = plait_text_reader_open_pipe (path, NO_ERROR);
  CHECK_STRING (plait_text_reader_next (reader, NULL, NO_ERROR), "");
  close (both);
  CHECK (!plait_text_reader_next (reader, NULL, NO_ERROR));
}

TEST_CASE (text_file, gives_all_lines_by_the_same_rule)
{
  static const char text[] = "\xef\xbb\xbf one\r\n\rtwo\n\r\n \nlast";
  g_autoptr (GError) error = NULL;

  const char *path = plait_test_write_bytes ("text", text, sizeof text - 1);
  g_auto (GStrv) lines = plait_text_file_lines (path, TRUE, sizeof text, NO_ERROR);
  REQUIRE (lines && g_strv_length (lines) == 5);
  CHECK_STRING (lines[0], " one");
  CHECK_STRING (lines[1], "\rtwo");
  CHECK_STRING (lines[2], "");
  CHECK_STRING (lines[3], " ");
  CHECK_STRING (lines[4], "last");

  CHECK (!plait_text_file_lines (path, TRUE, 8, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "text: holds more than 8 bytes");
  g_clear_error (&error);
  CHECK (!plait_text_file_lines ("/dev/zero", TRUE, G_MAXSIZE, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "/dev/zero:1: ");
}

/* Several readers of one text each read it at their own pace. */
TEST_CASE (text_file, gives_each_of_several_readers_all_lines)
{
  PlaitTextReader *lines = plait_text_reader_open (plait_test_write ("text", "one\ntwo\n\nfour\n"), NO_ERROR);
  g_autoptr (GPtrArray) readers = lines ? plait_text_reader_share (lines, 3) : NULL;
  static const char *const expected[] = { "one", "two", "", "four" };
  static const guint order[] = { 0, 0, 1, 0, 2, 2, 0, 1, 1, 2, 1, 2 };
  guint given[3] = { 0 };

  REQUIRE (readers != NULL);
  for (guint i = 0; i < G_N_ELEMENTS (order); i++)
    {
      PlaitTextReader *reader = readers->pdata[order[i]];
      const char *line = plait_text_reader_next (reader, NULL, NO_ERROR);

      CHECK_STRING (line, expected[given[order[i]]++]);
      CHECK_INT (plait_text_reader_line (reader), given[order[i]]);
    }
  for (guint i = 0; i < 3; i++)
    CHECK (!plait_text_reader_next (readers->pdata[i], NULL, NO_ERROR));
}
