/* SPDX-License-Identifier: MIT */
#include <glib/gstdio.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "materials.h"

/* SIGINT and SIGTERM at any time: exit code 130, and the same command with --resume does what is left. */

static gboolean
await_file (const char *name)
{
  g_autofree char *path = plait_test_path (name);

  for (int i = 0; i < 30000; i++)
    {
      if (g_file_test (path, G_FILE_TEST_EXISTS))
        return TRUE;
      g_usleep (1000);
    }
  return FALSE;
}

static gboolean
has_half_written (void)
{
  g_autofree char *folder = attempt_folder ();

  return strstr (folder, ".partial") != NULL;
}

/* Begins @command, which writes the file "new"; as soon as it is there, waits for @microseconds and sends @signal; then
 * goes on with it. */
static void
interrupt_and_resume (const char *command, int signal, guint microseconds)
{
  CONTEXT ("plait %s, signal %d after %u microseconds", command, signal, microseconds);
  g_autofree char *resume = g_strconcat (command, " --resume", NULL);
  AttemptProcess process = attempt_start (command, NULL);

  CHECK (await_file ("new"));
  g_usleep (microseconds);
  kill (process.process, signal);
  g_auto (Attempt) attempt = attempt_end (&process);
  attempt_check (&attempt, 130, "interrupted");
  CHECK (!has_half_written ());
  g_auto (Attempt) rest = ATTEMPT (resume);
  CHECK_STRING (rest.errors, "");
  CHECK_INT (rest.code, 0);
  CHECK (!has_half_written ());
  g_auto (Attempt) again = ATTEMPT (resume);
  CHECK_INT (again.code, 0);
  materials_remove ("new");
}

TEST_CASE (hostile_signal, during_training)
{
  static const char command[]
      = "run text.ini -q -o new --set train.epochs=0 --set train.updates=400 --set train.checkpoint_every=40 "
        "--set train.validate_every=400";

  NEED_MATERIALS ();
  for (guint i = 0; i < 3; i++)
    interrupt_and_resume (command, i % 2 == 0 ? SIGINT : SIGTERM, i * 9000);
}

/* Nearly all of the time goes into validation. */
TEST_CASE (hostile_signal, during_validation)
{
  static const char command[] = "run text.ini -q -o new --set train.epochs=12 --set train.metric=bleu "
                                "--set decode.beam=60 --set decode.maximum_length=60";

  NEED_MATERIALS ();
  for (guint i = 0; i < 2; i++)
    interrupt_and_resume (command, i == 0 ? SIGINT : SIGTERM, i * 11000);
}

/* Makes @name of many lines of it. */
static void
lengthen (const char *name)
{
  g_autoptr (GBytes) bytes = materials_read (name);
  g_autoptr (GString) text = g_string_new (NULL);

  for (int i = 0; i < 300; i++)
    g_string_append_len (text, g_bytes_get_data (bytes, NULL), (gssize)g_bytes_get_size (bytes));
  materials_write (name, text->str, text->len);
}

TEST_CASE (hostile_signal, during_the_translation_of_a_test)
{
  static const char command[] = "run text.ini -q -o new --set train.epochs=0 --set train.updates=1 "
                                "--set decode.beam=12 --set decode.batch=8";

  NEED_MATERIALS ();
  lengthen ("test.a");
  lengthen ("test.b");
  lengthen ("test.target");
  for (guint i = 0; i < 2; i++)
    interrupt_and_resume (command, i == 0 ? SIGTERM : SIGINT, 30000);
}

/* Whether a process works in the test's folder. */
static gboolean
is_worked_in (void)
{
  g_autoptr (GDir) processes = g_dir_open ("/proc", 0, NULL);
  const char *name;

  while (processes != NULL && (name = g_dir_read_name (processes)) != NULL)
    {
      g_autofree char *link = g_build_filename ("/proc", name, "cwd", NULL);
      g_autofree char *target = g_file_read_link (link, NULL);

      if (target != NULL && g_str_equal (target, plait_test_folder ()))
        return TRUE;
    }
  return FALSE;
}

TEST_CASE (hostile_signal, during_a_grid)
{
  static const char command[] = "grid grid.ini -o new -j 2 --set train.epochs=0 --set train.updates=200 "
                                "--set train.checkpoint_every=20";

  NEED_MATERIALS ();
  for (guint i = 0; i < 2; i++)
    {
      AttemptProcess process = attempt_start (command, NULL);

      CHECK (attempt_await (&process, "begins"));
      g_usleep (100000);
      kill (process.process, i == 0 ? SIGINT : SIGTERM);
      g_auto (Attempt) attempt = attempt_end (&process);
      attempt_check (&attempt, 130, "interrupted");
      CHECK (!is_worked_in ());
      CHECK (!has_half_written ());
      g_auto (Attempt) rest = ATTEMPT (command);
      CHECK_INT (rest.code, 0);
      CHECK_CONTAINS (rest.output, "flat");
      materials_remove ("new");
    }
}

/* What would be half a translation is none. */
TEST_CASE (hostile_signal, during_translation)
{
  NEED_MATERIALS ();
  lengthen ("test.a");
  lengthen ("test.b");
  materials_write_text ("new", "what was there");
  g_autofree char *before = attempt_folder ();
  AttemptProcess process
      = attempt_start ("translate text.h5 -s a=test.a -s b=test.b -o new --beam 12 --batch 1 -a dump", NULL);
  CHECK (attempt_await (&process, "1 sentences"));
  kill (process.process, SIGTERM);
  g_auto (Attempt) attempt = attempt_end (&process);
  attempt_check (&attempt, 130, "interrupted before line");
  g_autofree char *after = attempt_folder ();
  CHECK_STRING (after, before);
}

/* A signal also ends the wait for input that does not come. */
TEST_CASE (hostile_signal, while_waiting_for_input)
{
  AttemptLimits limits = { .input = "pipe" };

  NEED_MATERIALS ();
  g_autofree char *pipe = plait_test_path ("pipe");
  CHECK (mkfifo (pipe, 0600) == 0);
  int writer = g_open (pipe, O_RDWR, 0); /* a pipe that stays open and empty */
  materials_write_text ("new", "what was there");
  g_autofree char *before = attempt_folder ();
  AttemptProcess process = attempt_start ("translate text.h5 -s a=- --without b -o new -a dump", &limits);
  CHECK (write (writer, "x\n", 2) == 2);
  for (int i = 0; i < 10000 && !has_half_written (); i++)
    g_usleep (1000);
  g_usleep (50000);
  kill (process.process, SIGINT);
  g_auto (Attempt) attempt = attempt_end (&process);
  attempt_check (&attempt, 130, "interrupted");
  g_autofree char *after = attempt_folder ();
  CHECK_STRING (after, before);
  close (writer);
}
