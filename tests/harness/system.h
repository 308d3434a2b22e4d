/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/*
 * Makes system calls of the core that change files (open, write, pwrite, ftruncate, fsync, fchmod, rename, unlink,
 * close) fail, or ends the process at one of them. The linker inserts this code (--wrap), so the core has no hook.
 * Calls inside libraries are not affected; HDF5 writes files through the core.
 *
 * Calls are numbered from 0, from plait_test_system_begin on.
 */
G_BEGIN_DECLS

typedef enum
{
  PLAIT_TEST_SYSTEM_COUNT,       /* counts calls only */
  PLAIT_TEST_SYSTEM_FAIL,        /* call number @number does nothing and fails with errno @problem */
  PLAIT_TEST_SYSTEM_KILL_BEFORE, /* the process ends before call number @number */
  PLAIT_TEST_SYSTEM_KILL_AFTER,  /* the process ends after call number @number */
  PLAIT_TEST_SYSTEM_INTERRUPT,   /* every call that can block, also read and pread, is interrupted once (EINTR) */
} PlaitTestSystemMode;

void plait_test_system_begin (PlaitTestSystemMode mode, int number, int problem);

/* Calls @after (@data) after each counted call; calls made by @after are not counted. NULL ends that. */
void plait_test_system_watch (void (*after) (gpointer data), gpointer data);

/* Ends the mode. Returns the number of calls since plait_test_system_begin. */
int plait_test_system_end (void);

/* From now on a forked process stops (SIGSTOP) before it renames a file to a name that ends in @ending, after @number
 * such renames. */
void plait_test_system_stop_forked (const char *ending, int number);

/* Runs @body (@data) in a forked child. TRUE if the child returned or was ended by a KILL mode. */
gboolean plait_test_system_fork (void (*body) (gpointer data), gpointer data);

G_END_DECLS
