/* SPDX-License-Identifier: MIT */
#include <glib/gstdio.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "materials.h"

/* Tests of SIGINT, SIGTERM and SIGHUP at any time: the exit code is 130, and a second call (for runs, with --resume)
 * does the remaining work. */

/* Waits until @holds (@data) returns TRUE. FALSE if it does not within a limited time. */
static gboolean
await (gboolean (*holds) (gpointer data), gpointer data)
{
  for (int i = 0; i < 30000; i++)
    {
      if (holds (data))
        return TRUE;
      g_usleep (1000);
    }
  return FALSE;
}

static gboolean
is_there (gpointer name)
{
  return plait_test_exists (name);
}

/* A process that a test waits for. */
typedef struct
{
  pid_t process;
  gint64 work; /* processor time to wait for, in clock ticks (usually 10 ms) */
} Watched;

/* Returns the state of @process as in /proc/PID/stat (proc(5)), or '-' if there is no such process. Sets *@work to its
 * processor time in clock ticks. */
static char
look (pid_t process, gint64 *work)
{
  g_autofree char *text = NULL;
  char state = '-';
  gint64 in_program = 0, in_kernel = 0;

  if (g_file_get_contents (plait_test_format ("/proc/%d/stat", (int)process), &text, NULL, NULL))
    sscanf (strrchr (text, ')'), ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld %ld", &state, &in_program,
            &in_kernel);
  *work = in_program + in_kernel;
  return state;
}

static gboolean
has_worked (gpointer data)
{
  Watched *watched = data;
  gint64 work;

  return look (watched->process, &work) != '-' && work >= watched->work;
}

static gboolean
is_asleep (gpointer data)
{
  Watched *watched = data;
  gint64 work;

  return look (watched->process, &work) == 'S';
}

static gboolean
has_half_written (gpointer nothing)
{
  g_autofree char *folder = attempt_folder ();

  return strstr (folder, ".partial") != NULL;
}

/* TRUE if the command ended before the signal came, as may happen on a busy machine. The test then tries again, a few
 * times. */
static gboolean
was_too_late (const PlaitTestCall *attempt, guint *tries)
{
  return attempt->code == 0 && ++*tries < 10;
}

/* Starts @command, which writes the file "new", and sends @signal when the command has used @ticks of processor time
 * after that file appeared. Then resumes the command. */
static void
interrupt_and_resume (const char *command, int signal, guint ticks)
{
  CONTEXT ("plait %s, signal %d after %u ticks", command, signal, ticks);
  g_autofree char *resume = g_strconcat (command, " --resume", NULL);
  PlaitTestCall attempt = { 0 };
  guint tries = 0;

  do
    {
      plait_test_remove ("new");
      PlaitTestProcess process = attempt_start (command, NULL);
      Watched watched = { process.process, 0 };
      CHECK (await (is_there, "new"));
      look (process.process, &watched.work);
      watched.work += ticks;
      CHECK (await (has_worked, &watched));
      kill (process.process, signal);
      attempt = plait_test_call_end (&process);
    }
  while (was_too_late (&attempt, &tries));
  attempt_check (&attempt, 130, "interrupted");
  CHECK (!has_half_written (NULL));
  QUIET (ATTEMPT (resume));
  CHECK (!has_half_written (NULL));
  DONE (ATTEMPT (resume));
  plait_test_remove ("new");
}

HOSTILE_CASE (hostile_signal, during_training)
{
  static const char command[]
      = "run text.ini -q -o new --set train.epochs=0 --set train.updates=400 --set train.checkpoint_every=40 "
        "--set train.validate_every=400";
  static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

  signal (SIGHUP, SIG_DFL); /* do not inherit an ignored SIGHUP from the program that started the tests */
  for (guint i = 0; i < G_N_ELEMENTS (signals); i++)
    interrupt_and_resume (command, signals[i], i);
}

/* The reader of the log ends, as when Ctrl-C ends tee. The run continues. */
HOSTILE_CASE (hostile_signal, of_a_log_that_nobody_reads_any_more)
{
  PlaitTestProcess process = attempt_start ("run text.ini -o new --set train.epochs=3", NULL);
  int nothing = g_open ("/dev/null", O_RDONLY, 0);

  CHECK (plait_test_call_await (&process, "update 1 "));
  CHECK (dup2 (nothing, process.pipes[1]) >= 0); /* closes the pipe */
  close (nothing);
  PlaitTestCall attempt = DONE (plait_test_call_end (&process));
  CHECK_CONTAINS (attempt.output, "BLEU");
}

/* Sends signals during validation, which takes nearly all of the time. */
HOSTILE_CASE (hostile_signal, during_validation)
{
  static const char command[] = "run text.ini -q -o new --set train.epochs=12 --set train.metric=bleu "
                                "--set decode.beam=60 --set decode.maximum_length=60";

  for (guint i = 0; i < 2; i++)
    interrupt_and_resume (command, i == 0 ? SIGINT : SIGTERM, i);
}

/* Repeats the lines of the file @name many times, so that translating them takes long. */
static void
lengthen (const char *name)
{
  g_autoptr (GBytes) bytes = plait_test_read (name);
  g_autoptr (GString) text = g_string_new (NULL);

  for (int i = 0; i < 300; i++)
    g_string_append_len (text, g_bytes_get_data (bytes, NULL), (gssize)g_bytes_get_size (bytes));
  plait_test_write_bytes (name, text->str, text->len);
}

HOSTILE_CASE (hostile_signal, during_the_translation_of_a_test)
{
  static const char command[] = "run text.ini -q -o new --set train.epochs=0 --set train.updates=1 "
                                "--set decode.beam=12 --set decode.batch=8";

  lengthen ("test.a");
  lengthen ("test.b");
  lengthen ("test.target");
  for (guint i = 0; i < 2; i++)
    interrupt_and_resume (command, i == 0 ? SIGTERM : SIGINT, 3);
}

static gboolean
has_checkpoint (gpointer nothing)
{
  g_autofree char *folder = attempt_folder ();

  return strstr (folder, ".training.h5") != NULL;
}

/* TRUE if a process has the test's folder as its current folder. */
static gboolean
is_worked_in (void)
{
  g_autoptr (GDir) processes = g_dir_open ("/proc", 0, NULL);
  const char *name;

  while (processes && (name = g_dir_read_name (processes)))
    {
      g_autofree char *link = g_build_filename ("/proc", name, "cwd", NULL);
      g_autofree char *target = g_file_read_link (link, NULL);

      if (target && g_str_equal (target, plait_test_folder ()))
        return TRUE;
    }
  return FALSE;
}

HOSTILE_CASE (hostile_signal, during_a_grid)
{
  static const char command[] = "grid grid.ini -o new -j 2 --set train.epochs=0 --set train.updates=200 "
                                "--set train.checkpoint_every=20";

  for (guint i = 0; i < 2; i++)
    {
      PlaitTestCall attempt = { 0 };
      guint tries = 0;

      do
        {
          plait_test_remove ("new");
          PlaitTestProcess process = attempt_start (command, NULL);
          CHECK (await (has_checkpoint, NULL));
          kill (process.process, i == 0 ? SIGINT : SIGTERM);
          attempt = plait_test_call_end (&process);
        }
      while (was_too_late (&attempt, &tries));
      attempt_check (&attempt, 130, "interrupted");
      CHECK (!is_worked_in ());
      CHECK (!has_half_written (NULL));
      PlaitTestCall rest = DONE (ATTEMPT (command));
      CHECK_CONTAINS (rest.output, "flat");
      plait_test_remove ("new");
    }
}

/* An interrupted translation does not leave an incomplete file. */
HOSTILE_CASE (hostile_signal, during_translation)
{
  lengthen ("test.a");
  lengthen ("test.b");
  PlaitTestCall attempt = { 0 };
  g_autofree char *before = NULL;
  guint tries = 0;
  do
    {
      plait_test_remove ("dump");
      plait_test_write ("new", "what was there");
      g_free (before);
      before = attempt_folder ();
      PlaitTestProcess process = attempt_start (
          "translate text.h5 -s a=test.a -s b=test.b -o new --force --beam 12 --set decode.batch=1 -a dump", NULL);
      CHECK (plait_test_call_await (&process, "1 sentence so far"));
      kill (process.process, SIGTERM);
      attempt = plait_test_call_end (&process);
    }
  while (was_too_late (&attempt, &tries));
  attempt_check (&attempt, 130, "interrupted before line");
  g_autofree char *after = attempt_folder ();
  CHECK_STRING (after, before);
}

/* TRUE if the reader has read everything from the pipe. */
static gboolean
is_drained (gpointer writer)
{
  int unread;

  return ioctl (*(int *)writer, FIONREAD, &unread) == 0 && unread == 0;
}

/* A signal also interrupts a command that waits for input. */
HOSTILE_CASE (hostile_signal, while_waiting_for_input)
{
  PlaitTestCallSettings limits = { .input = "pipe" };

  const char *pipe = plait_test_path ("pipe");
  CHECK (mkfifo (pipe, 0600) == 0);
  int writer = g_open (pipe, O_RDWR, 0); /* keeps the pipe open and empty */
  plait_test_write ("new", "what was there");
  g_autofree char *before = attempt_folder ();
  PlaitTestProcess process = attempt_start ("translate text.h5 -s a=- --without b -o new --force -a dump", &limits);
  CHECK (write (writer, "x\n", 2) == 2);
  CHECK (await (has_half_written, NULL));
  CHECK (await (is_drained, &writer));
  CHECK (await (is_asleep, &(Watched){ process.process, 0 }));
  kill (process.process, SIGINT);
  PlaitTestCall attempt = plait_test_call_end (&process);
  attempt_check (&attempt, 130, "interrupted");
  g_autofree char *after = attempt_folder ();
  CHECK_STRING (after, before);
  close (writer);
}
