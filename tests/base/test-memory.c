/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files.h"
#include "files/memory.h"
#include "harness.h"

#define PART ((gsize)32 << 20)

/* The kernel counts the memory of a process separately on each processor, so the sum is not exact. */
#define ROUGHLY ((gsize)2 << 20)

TEST_CASE (memory, of_a_process_counts_what_it_touched)
{
  gsize held, most, later, highest;

  plait_memory_of_process (getpid (), &held, &most);
  CHECK (held > 0 && most + ROUGHLY >= held);
  gpointer pages = plait_pages_allocate (PART);
  REQUIRE (pages != NULL);
  memset (pages, 1, PART);
  plait_memory_of_process (getpid (), &later, &highest);
  CHECK (later >= held + PART / 2);
  CHECK (highest + ROUGHLY >= later);
  plait_pages_free (pages, PART);
  plait_memory_of_process (getpid (), &later, &most);
  CHECK (later <= highest - PART / 2);
  CHECK (most + ROUGHLY >= highest);
}

TEST_CASE (memory, of_a_process_that_is_gone_is_nothing)
{
  pid_t child = fork ();
  gsize held = 1, most = 1;

  if (child == 0)
    _exit (0);
  CHECK (waitpid (child, NULL, 0) == child);
  plait_memory_of_process (child, &held, &most);
  CHECK_INT (held, 0);
  CHECK_INT (most, 0);
}

/* The tightest limit of a control group and of the groups around it counts: a cluster limits the job, not the task. */
TEST_CASE (memory, limit_of_an_outer_control_group)
{
  const char *root = plait_test_folder ();

  plait_test_write ("job/memory.max", "1000000\n");
  plait_test_write ("job/memory.current", "700000\n");
  plait_test_write ("job/memory.stat", "anon 100\ninactive_file 200000\n");
  plait_test_write ("job/task/memory.max", "max\n");
  plait_test_write ("job/task/memory.current", "600000\n");
  plait_test_write ("job/small/memory.max", "5000\n");
  plait_test_write ("job/small/memory.current", "6000\n");
  CHECK_INT (plait_memory_left_in_groups (root, "/job"), 500000);
  CHECK_INT (plait_memory_left_in_groups (root, "/job/task"), 500000);
  CHECK_INT (plait_memory_left_in_groups (root, "/job/small"), 0);
  CHECK (plait_memory_left_in_groups (root, "/") == G_MAXUINT64);
  CHECK (plait_memory_left_in_groups (root, "/none/task") == G_MAXUINT64);
}
