/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "materials.h"

/* Tests of resources that are missing at the start: memory, threads, standard streams. */

/* AddressSanitizer needs terabytes of address space, and a thread that searches for leaks. */
#ifndef __SANITIZE_ADDRESS__
TEST_CASE (hostile_startup, with_little_memory)
{
  PlaitTestCallSettings limits = { .memory = (guint64)150 << 20 };

  for (guint i = 0; i < 3; i++)
    QUIET (attempt_with (i == 0 ? "--version" : i == 1 ? "inspect encoder/transformer" : "plugins", &limits));
}

/* Starts runs with little memory, of which the first cannot succeed. If an allocation fails, at whatever point, the run
 * ends with code 1 and an error. */
HOSTILE_CASE (hostile_startup, with_too_little_memory_for_a_run)
{
  guint failed = 0;

  for (guint64 memory = 60; memory < 431; memory += 75)
    {
      PlaitTestCallSettings limits = { .memory = memory << 20 };
      CONTEXT ("%d MiB", (int)memory);
      PlaitTestCall attempt
          = attempt_with ("run text.ini -q -o new --threads 2 --set train.epochs=0 --set train.updates=1", &limits);
      if (attempt.code != 0)
        attempt_check (&attempt, 1, "");
      failed += attempt.code != 0;
      plait_test_remove ("new");
    }
  CHECK (failed > 0);
}

HOSTILE_CASE (hostile_startup, without_threads_and_processes)
{
  PlaitTestCallSettings limits = { .alone = TRUE };

  PlaitTestCall attempt = QUIET (attempt_with ("--version", &limits));

  if (attempt.code > 125)
    SKIP_TEST ("root cannot become another user here, or that user cannot reach the command");
  CHECK_STRING (attempt.output, "plait " PLAIT_VERSION "\n");
  attempt_refused_with ("plait-bench train text.ini -q --threads 2", &limits, 1,
                        "thread 2 of 2 cannot be started|--threads");
  attempt_refused_with ("inspect encoder/transformer", &limits, 1, "no process can be started for a sandbox|ulimit -u");
}

#endif

/* When plait starts, OpenBLAS must not start threads, which may be forbidden. */
TEST_CASE (hostile_startup, with_one_thread)
{
  PlaitTestCallSettings limits = { .input = "pipe", .started = TRUE };
  const char *pipe = plait_test_path ("pipe");
  CHECK (mkfifo (pipe, 0600) == 0);
  int writer = g_open (pipe, O_RDWR | O_CLOEXEC, 0), unread = 2;
  CHECK (write (writer, "x\n", 2) == 2);
  PlaitTestProcess process = attempt_start ("trees --check -", &limits);
  for (int i = 0; i < 10000 && unread > 0 && ioctl (writer, FIONREAD, &unread) == 0; i++)
    g_usleep (1000);
  CHECK_INT (unread, 0);
  g_autoptr (GDir) threads = g_dir_open (plait_test_format ("/proc/%d/task", process.process), 0, NULL);
  guint n = 0;
  while (threads && g_dir_read_name (threads))
    n++;
  CHECK_INT (n, 1);
  close (writer);
  PlaitTestCall attempt = plait_test_call_end (&process);
  CHECK_INT (attempt.code, 2);
}

HOSTILE_CASE (hostile_startup, without_standard_streams)
{
  PlaitTestCallSettings limits = { .closed = TRUE };

  /* Writing to closed standard streams gives errors. The run is complete; only the scores on stdout are lost. */
  PlaitTestCall run = attempt_with ("run text.ini -o new", &limits);
  CHECK_INT (run.code, 1);
  PlaitTestCall shown = DONE (ATTEMPT ("show new"));
  CHECK_CONTAINS (shown.output, "complete");
  PlaitTestCall reader = attempt_with ("translate new -s a=- --without b -o lines", &limits);
  CHECK_INT (reader.code, 2);
  PlaitTestCall writer = attempt_with ("translate new -s a=test.a --without b", &limits);
  CHECK_INT (writer.code, 1);
  plait_test_remove ("new");
}
