/* SPDX-License-Identifier: MIT */
#include "command/main.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/*
 * The executable loads libplait by itself, after it has told OpenBLAS, which libplait brings along, to be content with
 * one thread. Otherwise OpenBLAS begins a thread a processor, with 128 MiB each, while it is loaded: before there is a
 * main that could forbid it, or say what is wrong. Where memory is limited it then tries for ever to get them; where
 * threads are, it ends the process by SIGINT. plait has threads of its own and calls OpenBLAS from each.
 */

/* What the libraries take while they are loaded, OpenBLAS's buffer included, with some room. */
#define LEAST_MEMORY ((size_t)256 << 20)

/* OpenBLAS's own, and what its build on OpenMP asks. */
static const char *const threads[] = { "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS" };

enum
{
  N_THREADS = sizeof threads / sizeof *threads
};

/* Children are to find the environment as it was. */
static void *
load_library (void)
{
  char *before[N_THREADS];
  void *library;

  for (int i = 0; i < N_THREADS; i++)
    {
      before[i] = getenv (threads[i]) ? strdup (getenv (threads[i])) : NULL;
      setenv (threads[i], "1", 1);
    }
  library = dlopen (PLAIT_LIBRARY, RTLD_LAZY | RTLD_GLOBAL);
  for (int i = 0; i < N_THREADS; i++)
    {
      if (before[i])
        setenv (threads[i], before[i], 1);
      else
        unsetenv (threads[i]);
      free (before[i]);
    }
  return library;
}

int
main (int argc, char **argv)
{
  void *room = mmap (NULL, LEAST_MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  __typeof__ (plait_main) *run;
  void *library;

  if (room == MAP_FAILED)
    {
      fprintf (stderr, "error: plait needs %zu MiB of memory to begin with; raise its limit (ulimit -v)\n",
               LEAST_MEMORY >> 20);
      return 1;
    }
  munmap (room, LEAST_MEMORY);
  library = load_library ();
  run = library ? (__typeof__ (run))dlsym (library, "plait_main") : NULL;
  if (!run)
    {
      fprintf (stderr, "error: plait cannot be started (%s); install it again\n", dlerror ());
      return 1;
    }
  return run (argc, argv);
}
