/* SPDX-License-Identifier: MIT */
#include "files/key-file.h"
#include "harness.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <locale.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static PlaitKeyFile *
load (const char *text, GError **error)
{
  return plait_key_file_load_data (text, -1, "a.ini", error);
}

static void
check_refused (const char *text, const char *message)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (PlaitKeyFile) file = load (text, &error);

  CONTEXT ("text \"%s\"", text);
  CHECK (!file);
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, message);
}

static const char example[] = "# A comment\n"
                              "[experiment]\n"
                              "name=first\n"
                              "\n"
                              "  seed = 7  \r\n"
                              "[source en]\n"
                              "# another=one\n"
                              "train.en.trees=a b.txt\n"
                              "text=\\sone\\ttwo\\\\\n"
                              "list=a; b ;c\\;d;\n"
                              "empty=\n"
                              "[empty]\n"
                              "[last]\n"
                              "ä=ö = ü";

static void
check_place (const PlaitKeyFile *file, const char *group, const char *key, const char *expected)
{
  g_autofree char *place = plait_key_file_location (file, group, key);

  CHECK_STRING (place, expected);
}

TEST_CASE (key_file, groups_keys_values_and_lines)
{
  g_autoptr (PlaitKeyFile) file = load (example, NO_ERROR);

  REQUIRE (file != NULL);
  CHECK_STRING (plait_key_file_name (file), "a.ini");
  g_autofree char *groups = g_strjoinv ("|", (char **)plait_key_file_groups (file));
  CHECK_STRING (groups, "experiment|source en|empty|last");
  g_autofree char *keys = g_strjoinv ("|", (char **)plait_key_file_keys (file, "source en"));
  CHECK_STRING (keys, "train.en.trees|text|list|empty");
  CHECK (!plait_key_file_keys (file, "empty")[0]);
  CHECK (!plait_key_file_keys (file, "nowhere")[0]);
  CHECK (plait_key_file_has_group (file, "empty") && !plait_key_file_has_group (file, "nowhere"));

  CHECK_STRING (plait_key_file_value (file, "experiment", "name"), "first");
  CHECK_STRING (plait_key_file_value (file, "experiment", "seed"), "7");
  CHECK_STRING (plait_key_file_value (file, "source en", "train.en.trees"), "a b.txt");
  CHECK_STRING (plait_key_file_value (file, "source en", "text"), " one\ttwo\\");
  CHECK_STRING (plait_key_file_value (file, "source en", "empty"), "");
  CHECK_STRING (plait_key_file_value (file, "last", "ä"), "ö = ü");
  CHECK_STRING (plait_key_file_value (file, "last", "nothing"), NULL);
  CHECK_STRING (plait_key_file_value (file, "nowhere", "name"), NULL);

  CHECK_STRING (plait_key_file_value (file, "source en", "list"), "a; b ;c;d;");

  check_place (file, "experiment", NULL, "a.ini:2");
  check_place (file, "experiment", "seed", "a.ini:5");
  check_place (file, "last", "ä", "a.ini:14");
  check_place (file, "nowhere", NULL, "a.ini");
  check_place (file, "last", "nothing", "a.ini:13");

  g_auto (GStrv) list = plait_key_file_list (file, "source en", "list");
  CHECK_INT (g_strv_length (list), 3);
  CHECK_STRING (list[0], "a");
  CHECK_STRING (list[1], "b");
  CHECK_STRING (list[2], "c;d");
}

TEST_CASE (key_file, lists_of_nothing)
{
  g_autoptr (PlaitKeyFile) file = load (example, NULL);
  g_auto (GStrv) empty = plait_key_file_list (file, "source en", "empty");
  g_auto (GStrv) one = plait_key_file_list (file, "experiment", "seed");

  REQUIRE (empty && one);
  CHECK_INT (g_strv_length (empty), 0);
  CHECK_INT (g_strv_length (one), 1);
  CHECK (!plait_key_file_list (file, "experiment", "nothing"));
}

TEST_CASE (key_file, refuses_what_nobody_can_mean)
{
  check_refused ("[a]\nx=1\n[b]\n[a]\n", "a.ini:4: the group [a] is already in line 1");
  check_refused ("[a]\nx=1\ny=2\nx=3\n", "a.ini:4: the key x of [a] is already in line 2");
  check_refused ("x=1\n[a]\n", "a.ini:1: \"x=1\" is before the first group");
  check_refused ("[a]\n\nx\n", "a.ini:3: \"x\" is neither");
  check_refused ("[a]\n=5\n", "a.ini:2: \"\" is not a valid name of a key");
  check_refused ("[a]\nx[de]=5\n", "a.ini:2: \"x[de]\" is not a valid name of a key");
  check_refused ("[a] # comment\n", "a.ini:1: the group header \"[a] # comment\" does not end");
  check_refused ("[a\n", "does not end with \"]\"");
  check_refused ("[", "does not end with \"]\"");
  check_refused ("[]\n", "a.ini:1: \"\" is not a valid name of a group");
  check_refused ("[a[b]]\n", "is not a valid name of a group");
  check_refused ("[ a]\n", "is not a valid name of a group");
  check_refused ("[a]\nx=\\q\n", "a.ini:2: the value of x has an unknown escape");
  check_refused ("[a]\nx=a\\\n", "a.ini:2: the value of x has an unknown escape");
  check_refused ("[a]\nx=1\ny=\xff\n", "a.ini:3: the byte 0xff is not valid UTF-8");
  check_refused ("[a]\nx=\xe2\x82", "a.ini:2: the byte 0xe2 is not valid UTF-8");
}

TEST_CASE (key_file, reports_everything_at_once)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (PlaitKeyFile) file = load ("[a]\nx\nx=1\nx=2\n[a]\ny=1\n[b\nz\n", &error);

  CHECK (!file);
  REQUIRE (error != NULL);
  CHECK_CONTAINS (error->message, "a.ini:2:");
  CHECK_CONTAINS (error->message, "\na.ini:4:");
  CHECK_CONTAINS (error->message, "\na.ini:5:");
  CHECK_CONTAINS (error->message, "\na.ini:7:");
  /* Lines in a group with a refused header are not checked. */
  CHECK (!strstr (error->message, "a.ini:6:") && !strstr (error->message, "a.ini:8:"));
}

TEST_CASE (key_file, refuses_nul_bytes)
{
  g_autoptr (GError) error = NULL;

  CHECK (!plait_key_file_load_data ("[a]\nx=\0y\n", 9, "a.ini", &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "a.ini:2: the line has a NUL byte");
}

TEST_CASE (key_file, says_what_other_files_are)
{
  g_autoptr (GError) error = NULL;

  CHECK (!plait_key_file_load_data ("plait-store\n\0\0", 14, "run.h5", &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT,
               "run.h5: this file is a run, a dump or a grid of plait; expected a file of groups");
}

TEST_CASE (key_file, reads_a_file)
{
  const char *path = plait_test_path ("a.ini");
  g_autofree char *long_comment = g_strnfill (200000, '#');

  REQUIRE (g_file_set_contents (path, plait_test_format ("\xef\xbb\xbf[a]\n%s\nx=1\n", long_comment), -1, NULL));
  g_autoptr (PlaitKeyFile) file = plait_key_file_load (path, NO_ERROR);
  REQUIRE (file != NULL);
  CHECK_STRING (plait_key_file_value (file, "a", "x"), "1");
  g_autofree char *place = plait_key_file_location (file, "a", "x");
  CHECK (g_str_has_suffix (place, "a.ini:3"));
}

TEST_CASE (key_file, reads_a_pipe_that_somebody_writes_to)
{
  const char *path = plait_test_path ("pipe.ini");
  g_autoptr (GError) error = NULL;

  CHECK (mkfifo (path, 0600) == 0);
  CHECK (!plait_key_file_load_pipe (path, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "pipe.ini: no bytes came from this pipe");
  int writer = g_open (path, O_RDWR, 0);
  pid_t child = fork ();
  if (child == 0)
    {
      /* Let the reader wait before the text is written. */
      g_usleep (20000);
      _exit (write (writer, "[a]\nx=1\n", 8) == 8 ? 0 : 1);
    }
  int reader = g_open (path, O_RDONLY, 0); /* keeps the pipe open, so that the written text is not lost */
  close (writer);
  g_autoptr (PlaitKeyFile) file = plait_key_file_load_pipe (path, NO_ERROR);
  REQUIRE (file != NULL);
  CHECK_STRING (plait_key_file_value (file, "a", "x"), "1");
  waitpid (child, NULL, 0);
  close (reader);
}

TEST_CASE (key_file, refuses_what_is_no_file)
{
  const char *large = plait_test_path ("large.ini");
  const char *pipe = plait_test_path ("pipe.ini");
  g_autofree char *bytes = g_strnfill ((16 << 20) + 1, '#');
  g_autoptr (GError) error = NULL;

  CHECK (!plait_key_file_load (plait_test_path ("missing.ini"), &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "missing.ini: cannot be opened (No such file");
  CHECK (!plait_key_file_load (plait_test_folder (), &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, ": is a folder");
  CHECK (mkfifo (pipe, 0600) == 0);
  CHECK (!plait_key_file_load (pipe, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "pipe.ini: is not a regular file");
  REQUIRE (g_file_set_contents (large, bytes, (16 << 20) + 1, NULL));
  CHECK (!plait_key_file_load (large, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "large.ini: has more than 16777216 bytes");
  REQUIRE (g_file_set_contents (large, bytes, 16 << 20, NULL));
  plait_key_file_free (plait_key_file_load (large, NO_ERROR));
}

TEST_CASE (key_file, set_values_carry_their_origin)
{
  g_autoptr (PlaitKeyFile) file = load (example, NULL);

  CHECK (plait_key_file_set (file, "experiment", "seed", " 8 ", "--set experiment.seed=8", NO_ERROR));
  CHECK (plait_key_file_set (file, "new", "key", "a;b", "--set new.key=a;b", NO_ERROR));
  CHECK_STRING (plait_key_file_value (file, "experiment", "seed"), "8");
  CHECK_STRING (plait_key_file_value (file, "new", "key"), "a;b");
  check_place (file, "experiment", "seed", "--set experiment.seed=8");
  check_place (file, "experiment", "name", "a.ini:3");
  check_place (file, "experiment", "missing", "a.ini:2");
  check_place (file, "new", NULL, "--set new.key=a;b");
  check_place (file, "nowhere", "key", "a.ini");
}

TEST_CASE (key_file, set_refuses_what_no_file_could_say)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (PlaitKeyFile) file = load (example, NULL);

  CHECK (!plait_key_file_set (file, "", "key", "1", "--set x", &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "--set x: \"\" cannot be the name of a group");
  CHECK (!plait_key_file_set (file, "a", "k=y", "1", "--set x", &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "--set x: \"k=y\" cannot be the name of a key");
  CHECK (!plait_key_file_set (file, "a", "#k", "1", "--set x", &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "cannot be the name of a key");
  CHECK (!plait_key_file_set (file, "a", "k", "\xff", "--set x", &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "not valid UTF-8");
  CHECK (!plait_key_file_set (file, "a", "k", "1\n[b]", "--set x", &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "line break");
  /* After an error, the old value is still set. */
  CHECK (!plait_key_file_set (file, "experiment", "seed", "\\q", "--set x", &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "unknown escape");
  CHECK_STRING (plait_key_file_value (file, "experiment", "seed"), "7");
  CHECK (!plait_key_file_set (file, "absent", "seed", "\\q", "--set x", NULL));
  CHECK (!plait_key_file_has_group (file, "absent"));
}

TEST_CASE (key_file, text_reads_back)
{
  g_autoptr (PlaitKeyFile) file = load (example, NULL);

  CHECK (plait_key_file_set (file, "empty", "key", "\\sa\\n", NULL, NO_ERROR));
  g_autofree char *text = plait_key_file_text (file);
  CHECK_CONTAINS (text, "[experiment]\nname=first\nseed=7\n\n[source en]\ntrain.en.trees=a b.txt\n");
  g_autoptr (PlaitKeyFile) again = load (text, NO_ERROR);
  REQUIRE (again != NULL);
  g_autofree char *text_again = plait_key_file_text (again);
  CHECK_STRING (text_again, text);
  CHECK_STRING (plait_key_file_value (again, "empty", "key"), " a\n");
}

TEST_CASE (key_file, has_the_text_of_its_present_values)
{
  g_autoptr (PlaitKeyFile) file = load ("# above\n[a]\nx = 1\n\n[b]\ny=\\s2\n# below\n", NULL);

  REQUIRE (file != NULL);
  CHECK (plait_key_file_set (file, "a", "x", "3", NULL, NULL));
  CHECK (plait_key_file_set (file, "a", "z", "4", NULL, NULL));
  CHECK (!plait_key_file_set (file, "a", "z", "\\q", NULL, NULL));
  g_autofree char *text = plait_key_file_text (file);
  CHECK_STRING (text, "[a]\nx=3\nz=4\n\n[b]\ny=\\s2\n");
}

TEST_CASE (key_file, an_empty_one)
{
  g_autoptr (PlaitKeyFile) file = load ("", NULL);
  g_autoptr (PlaitKeyFile) made = plait_key_file_new ("made");
  g_autofree char *place = plait_key_file_location (made, "a", "b");

  REQUIRE (file != NULL);
  CHECK (!plait_key_file_groups (file)[0]);
  CHECK (!plait_key_file_groups (made)[0]);
  CHECK_STRING (place, "made");
}

/* For any bytes, the reader returns an error or a file that can be written and read back. */
TEST_CASE (key_file, survives_any_bytes)
{
  const char alphabet[] = "[]=#;\\ \n\r\tab\xc3\xa9";
  guint state = 1;

  for (int round = 0; round < 20000; round++)
    {
      char text[24];
      gsize length = round % (sizeof text + 1);
      g_autoptr (GError) error = NULL;

      for (gsize i = 0; i < length; i++)
        {
          state = state * 1664525u + 1013904223u;
          text[i] = alphabet[(state >> 16) % (sizeof alphabet)];
        }
      g_autoptr (PlaitKeyFile) file = plait_key_file_load_data (text, (gssize)length, "a.ini", &error);
      REQUIRE (!file == (error != NULL));
      if (file)
        {
          g_autofree char *out = plait_key_file_text (file);
          g_autoptr (PlaitKeyFile) again = load (out, NO_ERROR);

          CONTEXT ("text \"%s\"", out);
          REQUIRE (again != NULL);
        }
    }
}
