/* SPDX-License-Identifier: MIT */
#include "process/crash.h"
#include "process/pool.h"
#include "process/program.h"
#include "harness.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const PlaitCodeOwner nobody = { NULL, NULL };
static const PlaitCodeOwner somebody = { "source en (encoder, bigru 1.0)", "encode" };

typedef struct
{
  int status;
  char said[1000];
  char reported[1000];
} End;

static void
read_all (int descriptor, char *text, gsize size)
{
  gsize length = 0;
  gssize n;

  while (length + 1 < size && (n = read (descriptor, text + length, size - length - 1)) > 0)
    length += (gsize)n;
  text[length] = '\0';
  close (descriptor);
}

/* Runs @deed in a child process with crash handlers, as code of @caller. Returns how the process ended. */
static End
watch (PlaitCodeOwner caller, void (*deed) (void))
{
  const struct rlimit no_dump = { 0, 0 };
  int said[2], reported[2];
  End end = { 0, "", "" };

  g_assert_true (pipe (said) == 0 && pipe (reported) == 0);
  fflush (NULL);
  pid_t child = fork ();
  if (child == 0)
    {
      setrlimit (RLIMIT_CORE, &no_dump);
      dup2 (said[1], STDERR_FILENO);
      close (said[0]);
      close (reported[0]);
      plait_crash_report_to (reported[1], "n", "; so it is");
      plait_crash_install_handlers ();
      plait_crash_set_owner (caller);
      deed ();
      _exit (77);
    }
  close (said[1]);
  close (reported[1]);
  read_all (said[0], end.said, sizeof end.said);
  read_all (reported[0], end.reported, sizeof end.reported);
  waitpid (child, &end.status, 0);
  return end;
}

static void
reach_wild (void)
{
  volatile gsize wild = 64;

  *(int *)wild = 1;
}

static void
divide (void)
{
  raise (SIGFPE);
}

static void
trap (void)
{
  __builtin_trap ();
}

static void
leave (void)
{
  exit (0);
}

static void
leave_quickly (void)
{
  quick_exit (0);
}

/* Recurses without end. It is written so that the compiler can neither recognise that nor turn it into a loop. */
static int
fall (volatile char *above)
{
  volatile char room[4096];

  room[0] = above ? *above : 0;
  return room[0] == 0 ? fall (room) + room[0] : 1;
}

static void
overflow (void)
{
  fall (NULL);
}

static void
fall_in_piece (gpointer data, gint64 piece, guint thread)
{
  if (thread == 1)
    overflow ();
  usleep (1000);
}

/* Overflows the stack of a worker thread. */
static void
overflow_in_a_pool (void)
{
  PlaitPool *pool = plait_pool_new (2, NULL);

  for (;;)
    plait_pool_run (pool, 64, fall_in_piece, NULL);
}

static void
come_back_first (void)
{
  plait_crash_set_owner (nobody);
  exit (3);
}

/* Ends with the exit code 5 if a program that ends well counts as done. */
static void
run_program (void)
{
  const char *const words[] = { "true", NULL };
  PlaitProgramResult answer = { 0 };

  if (plait_program_call (&(PlaitProgramCall){ .words = words, .seconds = 60 }, &answer, NULL)
      && answer.end == PLAIT_PROGRAM_DONE)
    _exit (5);
}

/* A program that ignores SIGCHLD passes this on to the programs that it starts. */
TEST_CASE (crash, leaves_the_ends_of_children_known)
{
  void (*before) (int) = signal (SIGCHLD, SIG_IGN);
  int ends[2];

  REQUIRE (pipe (ends) == 0);
  pid_t child = fork ();
  if (child == 0)
    {
      plait_crash_install_handlers ();
      run_program ();
      (void)!write (ends[1], "n", 1);
      _exit (1);
    }
  signal (SIGCHLD, before);
  close (ends[1]);
  char said[2];
  read_all (ends[0], said, sizeof said);
  waitpid (child, NULL, 0);
  CHECK_STRING (said, "");
}

/* Sanitizers report crashes themselves, so plait's handlers are not used. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED TRUE
#else
#define SANITIZED FALSE
#endif

TEST_CASE (crash, ends_in_one_sentence_with_exit_code_1)
{
  static const struct
  {
    void (*deed) (void);
    const char *what;
    gboolean by_signal;
  } deeds[] = {
    { reach_wild, "accessed memory that does not exist", TRUE },
    { overflow, "accessed memory that does not exist", TRUE },
    { overflow_in_a_pool, "accessed memory that does not exist", TRUE },
    { divide, "divided by zero", TRUE },
    { trap, "executed an invalid instruction", TRUE },
    { abort, "ended the process by abort ()", TRUE },
    { leave, "called exit ()", FALSE },
    { leave_quickly, "called exit ()", FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (deeds); i++)
    {
      CONTEXT ("deed %u", i);
      g_autofree char *sentence = g_strdup_printf ("%s, %s: %s", somebody.who, somebody.call, deeds[i].what);
      g_autofree char *said
          = g_strdup_printf ("error: %s; this is a fault of the plugin, and the run ends here\n", sentence);
      g_autofree char *reported = g_strconcat ("n", sentence, "; so it is", NULL);

      if (SANITIZED && deeds[i].by_signal)
        continue;
      End end = watch (somebody, deeds[i].deed);
      CHECK (WIFEXITED (end.status) && WEXITSTATUS (end.status) == 1);
      CHECK_STRING (end.said, said);
      CHECK_STRING (end.reported, reported);
    }
}

TEST_CASE (crash, the_hosts_own_end_as_ever)
{
  End end = watch (somebody, come_back_first);

  CHECK (WIFEXITED (end.status) && WEXITSTATUS (end.status) == 3);
  CHECK_STRING (end.said, "");
  end = watch (nobody, leave);
  CHECK (WIFEXITED (end.status) && WEXITSTATUS (end.status) == 0);
  if (SANITIZED)
    return;
  end = watch (nobody, reach_wild);
  CHECK (WIFSIGNALED (end.status) && WTERMSIG (end.status) == SIGSEGV);
  CHECK_STRING (end.said, "");
  CHECK_STRING (end.reported, "");
}

/* Calls exit() in the middle of the work, as a library or a thread of a plugin may do. */
static void
leave_unasked (void)
{
  plait_crash_catch_exit (TRUE);
  plait_crash_suspect ("/a/b.so");
  plait_crash_suspect ("/c.so");
  exit (0);
}

static void
reach_wild_in_some_thread (void)
{
  plait_crash_suspect ("/a/b.so");
  reach_wild ();
}

static void
leave_as_asked (void)
{
  plait_crash_catch_exit (TRUE);
  plait_crash_catch_exit (FALSE);
  exit (5);
}

TEST_CASE (crash, an_exit_that_nobody_asked_for_ends_in_words)
{
  End end = watch (nobody, leave_unasked);

  CHECK (WIFEXITED (end.status) && WEXITSTATUS (end.status) == 1);
  CHECK_STRING (end.said, "error: the process ended because exit () was called outside of plait, by a library, or by a "
                          "thread of /a/b.so or /c.so\n");
  CHECK_CONTAINS (end.reported, "nthe process ended because exit () was called outside of plait");
  if (!SANITIZED)
    {
      end = watch (nobody, reach_wild_in_some_thread);
      CHECK (WIFSIGNALED (end.status) && WTERMSIG (end.status) == SIGSEGV);
      CHECK_STRING (end.said, "error: the process crashed, by a fault of plait or of a library, or by a thread of "
                              "/a/b.so\n");
    }
  end = watch (nobody, leave_as_asked);
  CHECK (WIFEXITED (end.status) && WEXITSTATUS (end.status) == 5);
  CHECK_STRING (end.said, "");
}

static void
note_caller (gpointer data, gint64 piece, guint thread)
{
  ((PlaitCodeOwner *)data)[piece] = plait_crash_get_owner ();
}

TEST_CASE (crash, a_pool_works_for_whoever_began)
{
  g_autoptr (PlaitPool) pool = plait_pool_new (3, NULL);
  PlaitCodeOwner callers[100] = { nobody };
  PlaitCodeOwner before = plait_crash_set_owner (somebody);

  CHECK (!before.who);
  plait_pool_run (pool, G_N_ELEMENTS (callers), note_caller, callers);
  CHECK (plait_crash_set_owner (before).who == somebody.who);
  for (guint i = 0; i < G_N_ELEMENTS (callers); i++)
    CHECK (callers[i].who == somebody.who && callers[i].call == somebody.call);
  plait_pool_run (pool, G_N_ELEMENTS (callers), note_caller, callers);
  for (guint i = 0; i < G_N_ELEMENTS (callers); i++)
    CHECK (!callers[i].who);
}
