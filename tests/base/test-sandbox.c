/* SPDX-License-Identifier: MIT */
#include "process/sandbox.h"
#include "harness.h"
#include "system.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static gboolean
accept (gpointer data, GError **error)
{
  puts ("nobody sees this");
  *(int *)data = 7; /* changes only the memory of the child process */
  return TRUE;
}

static gboolean
refuse (gpointer data, GError **error)
{
  return plait_fail (error, PLAIT_ERROR_PLUGIN, "%s: is not to my taste", (const char *)data);
}

static gboolean
crash (gpointer data, GError **error)
{
  raise (SIGSEGV);
  return TRUE;
}

static gboolean
leave (gpointer data, GError **error)
{
  _exit (3);
}

static gboolean
leave_in_good_order (gpointer data, GError **error)
{
  _exit (0);
}

static gboolean
sleep_long (gpointer data, GError **error)
{
  sleep (1000);
  return TRUE;
}

static gboolean
spin (gpointer data, GError **error)
{
  for (volatile guint i = 0;; i++)
    ;
  return TRUE;
}

static gboolean
take_memory (gpointer data, GError **error)
{
  void *memory = mmap (NULL, (size_t)4 << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory != MAP_FAILED || plait_fail (error, PLAIT_ERROR_FAILED, "no memory");
}

static gboolean
write_file (gpointer data, GError **error)
{
  int descriptor = open (data, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  return write (descriptor, "x", 1) == 1;
}

/* Starts a grandchild that keeps the pipe of the report open and outlives the child. */
static gboolean
leave_a_grandchild (gpointer data, GError **error)
{
  if (fork () == 0)
    sleep_long (NULL, NULL);
  return TRUE;
}

static gboolean
say_much (gpointer data, GError **error)
{
  g_autofree char *long_text = g_strnfill (100000, 'x');
  return plait_fail (error, PLAIT_ERROR_INPUT, "%s", long_text);
}

static gboolean
try_it (PlaitSandboxFunc call, gpointer data, GError **error)
{
  return plait_sandbox_run ("thing", PLAIT_ERROR_CORRUPT, call, data, (PlaitSandboxLimits){ 20, 10, (gsize)1 << 30 },
                            error);
}

TEST_CASE (trial, accepts_without_a_trace)
{
  int value = 1;
  CHECK (try_it (accept, &value, NO_ERROR));
  CHECK_INT (value, 1);
}

TEST_CASE (trial, hands_on_the_refusal)
{
  GError *error = NULL;
  CHECK (!try_it (refuse, "soup", &error));
  CHECK_ERROR (error, PLAIT_ERROR_PLUGIN, "soup: is not to my taste");
  CHECK (!try_it (say_much, NULL, &error));
  REQUIRE (error != NULL);
  CHECK (strlen (error->message) < 5000);
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "xxxx");
}

TEST_CASE (trial, tells_how_it_died)
{
  GError *error = NULL;
  CHECK (!try_it (crash, NULL, &error));
  CHECK_ERROR (error, PLAIT_ERROR_CORRUPT,
               "thing: refused, its check in a separate process, limited to 1024 MiB of memory, crashed (signal 11");
  CHECK (!try_it (leave, NULL, &error));
  CHECK_ERROR (error, PLAIT_ERROR_CORRUPT, "exit code 3");
  CHECK (!try_it (leave_in_good_order, NULL, &error));
  CHECK_ERROR (error, PLAIT_ERROR_CORRUPT, "exit code 0");
}

TEST_CASE (trial, words_it_as_it_is_told)
{
  GError *error = NULL;

  CHECK (!plait_sandbox_run_with_subject ("the thing", PLAIT_ERROR_FAILED, leave, NULL,
                                          (PlaitSandboxLimits){ 20, 10, 0 }, &error));
  CHECK_ERROR (error, PLAIT_ERROR_FAILED, "the thing exited early with exit code 3");
  CHECK (!plait_sandbox_run_with_subject ("the thing", PLAIT_ERROR_FAILED, refuse, "soup",
                                          (PlaitSandboxLimits){ 20, 10, 0 }, &error));
  CHECK_ERROR (error, PLAIT_ERROR_PLUGIN, "soup: is not to my taste");
  CHECK (!plait_sandbox_run_with_subject ("the thing", PLAIT_ERROR_FAILED, crash, NULL,
                                          (PlaitSandboxLimits){ 20, 10, 0 }, &error));
  CHECK_ERROR (error, PLAIT_ERROR_FAILED, "the thing crashed (signal 11");
}

TEST_CASE (trial, keeps_the_limits)
{
  GError *error = NULL;
  CHECK (!plait_sandbox_run ("thing", PLAIT_ERROR_CORRUPT, sleep_long, NULL, (PlaitSandboxLimits){ 1, 10, 0 }, &error));
  CHECK_ERROR (error, PLAIT_ERROR_CORRUPT, "did not end within 1 seconds");
  CHECK (!plait_sandbox_run ("thing", PLAIT_ERROR_CORRUPT, spin, NULL, (PlaitSandboxLimits){ 20, 1, 0 }, &error));
  CHECK_ERROR (error, PLAIT_ERROR_CORRUPT, "more than 1 seconds of processor time");
  CHECK (!try_it (take_memory, NULL, &error));
  CHECK_ERROR (error, PLAIT_ERROR_FAILED, "no memory");
  CHECK (!try_it (write_file, (gpointer)plait_test_path ("written"), &error));
  CHECK_ERROR (error, PLAIT_ERROR_CORRUPT, "tried to write a file");
}

TEST_CASE (trial, does_not_wait_for_grandchildren)
{
  CHECK (plait_sandbox_run ("thing", PLAIT_ERROR_CORRUPT, leave_a_grandchild, NULL, (PlaitSandboxLimits){ 10, 10, 0 },
                            NO_ERROR));
}

TEST_CASE (trial, repeats_what_is_interrupted)
{
  GError *error = NULL;
  int value = 1;

  plait_test_system_begin (PLAIT_TEST_SYSTEM_INTERRUPT, 0, 0);
  gboolean accepted = try_it (accept, &value, &error);
  gboolean refused = !try_it (refuse, "soup", error ? NULL : &error);
  plait_test_system_end ();
  CHECK (accepted && refused);
  CHECK_ERROR (error, PLAIT_ERROR_PLUGIN, "soup: is not to my taste");
}
