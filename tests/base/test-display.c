/* SPDX-License-Identifier: MIT */
#include "text/display.h"
#include "harness.h"

#include <pty.h>
#include <stdio.h>
#include <termios.h>
#include <unistd.h>

TEST_CASE (display, measures_columns)
{
  CHECK_INT (plait_display_width (""), 0);
  CHECK_INT (plait_display_width ("▁haus"), 5);
  CHECK_INT (plait_display_width ("漢字"), 4);
  CHECK_INT (plait_display_width ("é"), 1);            /* one character */
  CHECK_INT (plait_display_width ("e\u0301"), 1);      /* two characters, of which one is combining */
  CHECK_INT (plait_display_width ("a\u200bb"), 2);     /* a zero-width space */
  CHECK_INT (plait_display_width ("\U0001f600"), 2);   /* an emoji */
  CHECK_INT (plait_display_width ("\u0e01\u0e34"), 1); /* a consonant with a Thai vowel above it */
}

static void
check_cut (char *(*truncate) (const char *text, gsize columns), const char *text, gsize columns, const char *expected)
{
  CONTEXT ("%s to %d", text, (int)columns);
  g_autofree char *cut = truncate (text, columns);

  CHECK_STRING (cut, expected);
  CHECK (plait_display_width (cut) <= columns);
}

TEST_CASE (display, cuts_between_characters)
{
  check_cut (plait_display_truncate, "abc", 3, "abc");
  check_cut (plait_display_truncate, "abcd", 3, "ab…");
  check_cut (plait_display_truncate, "abcd", 1, "…");
  check_cut (plait_display_truncate, "abcd", 0, "");
  check_cut (plait_display_truncate, "", 0, "");
  check_cut (plait_display_truncate, "漢字漢", 6, "漢字漢");
  check_cut (plait_display_truncate, "漢字漢", 5, "漢字…");
  check_cut (plait_display_truncate, "漢字漢", 4, "漢…"); /* a wide character is shown whole or not at all */
  check_cut (plait_display_truncate, "ae\u0301bcd", 3, "ae\u0301…");
}

TEST_CASE (display, cuts_in_the_middle)
{
  check_cut (plait_display_truncate_middle, "abc", 3, "abc");
  check_cut (plait_display_truncate_middle, "abcdef", 5, "ab…ef");
  check_cut (plait_display_truncate_middle, "abcdef", 4, "ab…f");
  check_cut (plait_display_truncate_middle, "abcd", 2, "a…");
  check_cut (plait_display_truncate_middle, "abcd", 1, "…");
  check_cut (plait_display_truncate_middle, "abcd", 0, "");
  check_cut (plait_display_truncate_middle, "漢字漢字", 6, "漢…字");
  check_cut (plait_display_truncate_middle, "漢字漢字", 3, "漢…");
  check_cut (plait_display_truncate_middle, "abcde\u0301", 3, "a…e\u0301");
}

TEST_CASE (display, pads)
{
  g_autoptr (GString) line = g_string_new ("|");

  plait_display_pad (line, "漢", 4, FALSE);
  plait_display_pad (line, "|1", 5, TRUE);
  plait_display_pad (line, "|long", 2, TRUE);
  CHECK_STRING (line->str, "|漢     |1|long");
}

TEST_CASE (display, cleans)
{
  g_autofree char *cell = plait_display_sanitise ("a\033[2J\tb\n\xc2\x9b"
                                                  "c\x7f\u202e\xff",
                                                  FALSE);
  g_autofree char *text = plait_display_sanitise ("a\033\tb\n", TRUE);

  CHECK_STRING (cell, "a\ufffd[2J\ufffdb\ufffd\ufffdc\ufffd\ufffd\ufffd");
  CHECK_STRING (text, "a\ufffd\tb\n");
}

/* Returns what @text becomes when it is written to a terminal. (transfer full) */
static char *
on_terminal (const char *text)
{
  char buffer[100];
  struct termios raw;
  int terminal, end;
  gsize length = 0;

  CHECK (openpty (&terminal, &end, NULL, NULL, NULL) == 0);
  CHECK (tcgetattr (end, &raw) == 0);
  cfmakeraw (&raw);
  CHECK (tcsetattr (end, TCSANOW, &raw) == 0);
  FILE *stream = fdopen (end, "w");
  plait_display_line (stream, text);
  fflush (stream);
  fclose (stream);
  /* The text may arrive in several pieces. At its end, reading fails because the other end is closed. */
  for (gssize n; length < sizeof buffer && (n = read (terminal, buffer + length, sizeof buffer - length)) > 0;)
    length += (gsize)n;
  close (terminal);
  return g_strndup (buffer, length);
}

/* Returns what @text becomes when it is written to a file. (transfer full) */
static char *
in_file (const char *text)
{
  const char *path = plait_test_path ("file");
  FILE *stream = fopen (path, "we");
  char *bytes = NULL;

  plait_display_line (stream, text);
  fclose (stream);
  CHECK (g_file_get_contents (path, &bytes, NULL, NULL));
  return bytes;
}

TEST_CASE (display, lines_are_harmless_on_a_terminal_and_exact_elsewhere)
{
  static const struct
  {
    const char *text, *terminal, *file;
  } cases[] = {
    { "", "\n", "\n" },
    { "a\tb", "a\tb\n", "a\tb\n" },
    { "a\nb\n", "a\nb\n", "a\nb\n" },
    { "\033[2J\xff", "\ufffd[2J\ufffd\n", "\033[2J\xff\n" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *terminal = on_terminal (cases[i].text), *file = in_file (cases[i].text);
      CHECK_STRING (terminal, cases[i].terminal);
      CHECK_STRING (file, cases[i].file);
    }
}
