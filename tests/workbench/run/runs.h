/* SPDX-License-Identifier: MIT */
#pragma once

#include "run/run.h"

/* Tiny runs for tests, and the comparison of what they leave. */

/* A key-file of a tiny experiment on generated text, with dropout, validation, an average and attention. @more: lines
 * of [train] to add, or NULL. (transfer full) */
char *test_write_experiment (const char *name, const char *more);

/* Loads @path with @overrides, whose files are relative to the test's folder. (transfer full) */
PlaitExperiment *test_load (const char *path, const char *const *overrides, PlaitRegistry *registry, GError **error);

/* Loads @path and runs it into @output. @log may be NULL. */
gboolean test_run (const char *path, const char *output, gboolean resume, guint threads, PlaitLog *log,
                   const gint *stop, GError **error);

/* Loads @path with @overrides ("train.updates=1", NULL-terminated, or NULL), as above, and runs it into @output on one
 * thread. */
gboolean test_run_with (const char *path, const char *const *overrides, const char *output, gboolean resume,
                        PlaitLog *log, GError **error);

/* The same into the file @name of the test's folder, which is opened; checks that all goes well, NULL otherwise.
 * (transfer full) */
PlaitStore *test_run_open (const char *path, const char *const *overrides, const char *name);

/* Checks that two runs hold the same: every dataset and attribute but what tells time and place. */
void test_check_same_run (const char *a, const char *b);

/*
 * A log that calls @at with the number of each line of progress, from 1: a clock for what happens between updates.
 * One at a time.
 */
typedef void (*TestAtProgress) (int line, gpointer data);
PlaitLog *test_log_new (TestAtProgress at, gpointer data);

/* Checks that the run of @path, stopped by a signal's flag at line @line of progress and gone on with, on @threads
 * threads, holds the same as when it runs through on one. */
void test_check_interruption (const char *path, int line, guint threads);

/* Checks that the run of @path with @overrides (NULL-terminated, or NULL) diverges to finite numbers at a high learning
 * rate, and is said to have done so: at once, when it goes on from a checkpoint, and without validation text. */
void test_check_diverges (const char *path, const char *const *overrides);
