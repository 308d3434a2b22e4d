/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/*
 * The system calls that change files, as the core makes them (open, write, pwrite, ftruncate, fsync, fchmod, rename,
 * unlink, close), can be made to fail or to be the last thing the process does. The linker puts this between (--wrap),
 * so the core has no hook. What libraries call by themselves passes by unseen; HDF5 writes our files through the core.
 *
 * Calls are numbered from 0, beginning with plait_test_system_begin.
 */
G_BEGIN_DECLS

typedef enum
{
  PLAIT_TEST_SYSTEM_COUNT,       /* only count */
  PLAIT_TEST_SYSTEM_FAIL,        /* call @number does nothing and fails with @problem */
  PLAIT_TEST_SYSTEM_KILL_BEFORE, /* the process ends before call @number */
  PLAIT_TEST_SYSTEM_KILL_AFTER,  /* the process ends after call @number */
  PLAIT_TEST_SYSTEM_INTERRUPT,   /* each call that can wait, read and pread too, is interrupted once (EINTR) */
} PlaitTestSystemMode;

void plait_test_system_begin (PlaitTestSystemMode mode, int number, int problem);

/* Calls @after (@data), whose own calls are not counted, after each call from plait_test_system_begin to the end; NULL:
 * nothing. */
void plait_test_system_watch (void (*after) (gpointer data), gpointer data);

/* Back to normal. Returns how many calls were made since the beginning. */
int plait_test_system_end (void);

/* From now on a process that is forked stops (SIGSTOP) when it has renamed @number files to names that end in @ending
 * and is about to rename one more. */
void plait_test_system_stop_forked (const char *ending, int number);

/* Runs @body (@data) in a forked child. TRUE if the child was ended by a KILL mode or came to its end. */
gboolean plait_test_system_fork (void (*body) (gpointer data), gpointer data);

G_END_DECLS
