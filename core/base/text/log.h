/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdio.h>

#include "types/export.h"

/*
 * What the program tells its user beside its results: lines on stderr, and one line of progress.
 *
 * On a terminal the progress is one line that is rewritten in place; elsewhere it is plain lines, at most one in thirty
 * seconds. Colour is used on a terminal only, and not if NO_COLOR is set and not empty or TERM is "dumb". Control
 * characters in what is said are replaced, so no data can command the terminal.
 *
 * A log is handed to whoever may have something to say; there is no global one. NULL is a log that says nothing. One
 * thread uses a log.
 */
typedef struct PlaitLog PlaitLog;

/* What a log writes to; tests make their own. */
typedef struct
{
  FILE *stream;
  gboolean terminal;
  gboolean colour;
  gboolean quiet;
  /* Microseconds on a clock that only goes forward. */
  gint64 (*now) (void);
} PlaitLogSettings;

/* A log on stderr. @quiet leaves out messages and progress; warnings and errors are always said. (transfer full) */
PlaitLog *plait_log_new (gboolean quiet);

/* A log on a stream that stays the caller's. (transfer full) */
PlaitLog *plait_log_new_with (PlaitLogSettings settings);

/* Takes a progress line off the terminal and frees the log. */
void plait_log_free (PlaitLog *log);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitLog, plait_log_free)

/* From now on the log says nothing, warnings and errors included. */
void plait_log_mute (PlaitLog *log);
gboolean plait_log_is_mute (const PlaitLog *log);

typedef enum
{
  PLAIT_LOG_INFO,
  PLAIT_LOG_WARNING, /* "warning: ..." */
  PLAIT_LOG_ERROR,   /* "error: ...", for the message of a GError that ends a command; each line of it is one problem */
} PlaitLogLevel;

/* One message, without a line break at its end. */
void plait_log_write (PlaitLog *log, PlaitLogLevel level, const char *format, ...) G_GNUC_PRINTF (3, 4);

#define plait_log_info(log, ...) plait_log_write (log, PLAIT_LOG_INFO, __VA_ARGS__)
#define plait_log_warning(log, ...) plait_log_write (log, PLAIT_LOG_WARNING, __VA_ARGS__)
#define plait_log_error(log, ...) plait_log_write (log, PLAIT_LOG_ERROR, __VA_ARGS__)

/* Where long work stands, as one short line. May be called as often as one likes: a terminal sees ten a second. */
void plait_log_progress (PlaitLog *log, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* The work is over: takes the line off a terminal. The next progress is shown at once. */
void plait_log_progress_end (PlaitLog *log);

/* "1:05:07", "12:30" or "8 s": @seconds for a progress line. (transfer full) */
char *plait_log_duration (double seconds);
