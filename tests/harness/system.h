/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/*
 * Makes system calls of the core that change files (open, write, pwrite, ftruncate, fsync, fchmod, rename, unlink,
 * close) fail, or ends the process at one of them. The linker inserts this code (--wrap), so the core needs no code for
 * it. Calls inside libraries are not affected; HDF5 writes files through the core.
 *
 * Calls are numbered from 0, starting with plait_test_system_begin().
 */
G_BEGIN_DECLS

typedef enum
{
  PLAIT_TEST_SYSTEM_COUNT, /* only counts the calls */
  PLAIT_TEST_SYSTEM_FAIL,  /* call number @number does nothing and fails with the errno @problem; close still closes */
  PLAIT_TEST_SYSTEM_KILL_BEFORE, /* the process ends before call number @number */
  PLAIT_TEST_SYSTEM_KILL_AFTER,  /* the process ends after call number @number */
  PLAIT_TEST_SYSTEM_INTERRUPT,   /* each call that can block, also read and pread, is interrupted once (EINTR) */
} PlaitTestSystemMode;

void plait_test_system_begin (PlaitTestSystemMode mode, int number, int problem);

/* Sets a function @after (@data) that is called after each counted call that was not made to fail; NULL: no function.
 * Calls made by @after are not counted. */
void plait_test_system_watch (void (*after) (gpointer data), gpointer data);

/* Ends the mode. Returns the number of calls since plait_test_system_begin(). */
int plait_test_system_end (void);

/* From now on, a forked process stops (SIGSTOP) before it renames a file to a name that ends in @ending. It first lets
 * @number such renames pass. */
void plait_test_system_stop_forked (const char *ending, int number);

/* Runs @body (@data) in a forked child. TRUE if @body returned or a KILL mode ended the child. */
gboolean plait_test_system_fork (void (*body) (gpointer data), gpointer data);

G_END_DECLS
