/* SPDX-License-Identifier: MIT */
#include "text/log.h"
#include "harness.h"

#include <stdlib.h>

static gint64 clock_now;

static gint64
test_clock (void)
{
  return clock_now;
}

typedef struct
{
  char *text;
  size_t length;
  FILE *stream;
  PlaitLog *log;
} Said;

static Said *
listen (PlaitLogSettings settings)
{
  Said *said = g_new0 (Said, 1);

  said->stream = open_memstream (&said->text, &said->length);
  settings.stream = said->stream;
  settings.now = test_clock;
  said->log = plait_log_new_with (settings);
  clock_now = 0;
  return said;
}

static char *
heard (Said *said)
{
  plait_log_free (said->log);
  fclose (said->stream);
  char *text = g_strdup (said->text);
  free (said->text);
  g_free (said);
  return text;
}

TEST_CASE (log, plain_lines)
{
  Said *said = listen ((PlaitLogSettings){ 0 });

  plait_log_info (said->log, "read %d lines", 5);
  plait_log_warning (said->log, "odd");
  plait_log_error (said->log, "a.ini:1: no\na.ini:2: no");
  g_autofree char *text = heard (said);
  CHECK_STRING (text, "read 5 lines\nwarning: odd\nerror: a.ini:1: no\na.ini:2: no\n");
}

TEST_CASE (log, quiet_still_warns)
{
  Said *said = listen ((PlaitLogSettings){ .quiet = TRUE });

  plait_log_info (said->log, "info");
  plait_log_progress (said->log, "progress");
  plait_log_warning (said->log, "odd");
  plait_log_error (said->log, "wrong");
  g_autofree char *text = heard (said);
  CHECK_STRING (text, "warning: odd\nerror: wrong\n");
}

TEST_CASE (log, colour_where_asked_for)
{
  Said *said = listen ((PlaitLogSettings){ .colour = TRUE });

  plait_log_warning (said->log, "odd");
  g_autofree char *text = heard (said);
  CHECK_STRING (text, "\033[33mwarning:\033[0m odd\n");
}

TEST_CASE (log, progress_off_a_terminal_is_sparse)
{
  Said *said = listen ((PlaitLogSettings){ 0 });

  for (int second = 0; second <= 61; second++)
    {
      clock_now = second * G_USEC_PER_SEC;
      plait_log_progress (said->log, "second %d", second);
    }
  plait_log_progress_end (said->log);
  plait_log_progress (said->log, "next");
  g_autofree char *text = heard (said);
  CHECK_STRING (text, "second 0\nsecond 30\nsecond 60\nnext\n");
}

TEST_CASE (log, progress_on_a_terminal_is_one_line)
{
  Said *said = listen ((PlaitLogSettings){ .terminal = TRUE });
  g_autofree char *wide = g_strnfill (200, 'x');
  g_autofree char *cut = g_strnfill (78, 'x');

  plait_log_progress (said->log, "one");
  clock_now = 1000;
  plait_log_progress (said->log, "too soon");
  clock_now = 200000;
  plait_log_progress (said->log, "two");
  plait_log_info (said->log, "message");
  clock_now = 400000;
  plait_log_progress (said->log, "%s", wide);
  g_autofree char *text = heard (said);
  CHECK_STRING (text, plait_test_format ("one\r\033[Ktwo\r\033[Kmessage\n%s…\r\033[K", cut));
}

TEST_CASE (log, data_cannot_command_the_terminal)
{
  Said *said = listen ((PlaitLogSettings){ 0 });

  plait_log_info (said->log, "a\033[2Jb\rc\x7f \u202e \xc2\x9b"
                             "d \xc3\xa9 \xff");
  plait_log_progress (said->log, "x\ny");
  g_autofree char *text = heard (said);
  CHECK_STRING (text, "a\ufffd[2Jb\ufffdc\ufffd \ufffd \ufffd"
                      "d é \ufffd\nx\ufffdy\n");
}

TEST_CASE (log, null_says_nothing)
{
  plait_log_info (NULL, "info");
  plait_log_warning (NULL, "odd");
  plait_log_error (NULL, "wrong");
  plait_log_progress (NULL, "progress");
  plait_log_progress_end (NULL);
  plait_log_free (NULL);
}

TEST_CASE (log, durations)
{
  const struct
  {
    double seconds;
    const char *text;
  } cases[] = { { 8.2, "8 s" }, { 59.4, "59 s" }, { 59.6, "1:00" },   { 750, "12:30" }, { 3907, "1:05:07" },
                { 0, "0 s" },   { -1, "?" },      { 0.0 / 0.0, "?" }, { 1e300, "?" } };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = plait_log_duration (cases[i].seconds);

      CHECK_STRING (text, cases[i].text);
    }
}
