/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdio.h>

#include "types/export.h"

/*
 * Messages to the user, apart from results: lines on stderr, and one line of progress.
 *
 * On a terminal the progress line is rewritten in place. Elsewhere progress is plain lines, at most one in 30 seconds.
 * Colour is used on a terminal only, and not if NO_COLOR is set and not empty. A terminal with TERM "dumb", or under a
 * launcher (text/launcher.h), does not count as a terminal. Control characters are replaced, so data cannot control the
 * terminal.
 *
 * Functions that write messages get a log as an argument; there is no global one. NULL is a silent log. A log belongs
 * to one thread.
 */
typedef struct PlaitLog PlaitLog;

/* Output of a log. Tests make their own. */
typedef struct
{
  FILE *stream;
  gboolean terminal;
  gboolean colour;
  gboolean quiet;
  /* Returns microseconds of a monotonic clock. */
  gint64 (*now) (void);
} PlaitLogSettings;

/* Returns a log on stderr. @quiet hides messages and progress; warnings and errors are always written. (transfer
 * full) */
PlaitLog *plait_log_new (gboolean quiet);

/* Returns a log on settings.stream. The log never closes the stream. (transfer full) */
PlaitLog *plait_log_new_with (PlaitLogSettings settings);

/* Removes the progress line from the terminal and frees the log. */
void plait_log_free (PlaitLog *log);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitLog, plait_log_free)

/* Silences the log from now on, warnings and errors included. */
void plait_log_mute (PlaitLog *log);
gboolean plait_log_is_mute (const PlaitLog *log);

typedef enum
{
  PLAIT_LOG_INFO,
  PLAIT_LOG_WARNING, /* prefixed with "warning: " */
  PLAIT_LOG_ERROR,   /* prefixed with "error: ", for the GError that ends a command; each line of it is one problem */
} PlaitLogLevel;

/* Writes one message. The log adds the line break. */
void plait_log_write (PlaitLog *log, PlaitLogLevel level, const char *format, ...) G_GNUC_PRINTF (3, 4);

#define plait_log_info(log, ...) plait_log_write (log, PLAIT_LOG_INFO, __VA_ARGS__)
#define plait_log_warning(log, ...) plait_log_write (log, PLAIT_LOG_WARNING, __VA_ARGS__)
#define plait_log_error(log, ...) plait_log_write (log, PLAIT_LOG_ERROR, __VA_ARGS__)

/* Shows the progress of long work in one short line. May be called often: a terminal shows at most ten lines a
 * second. */
void plait_log_progress (PlaitLog *log, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* Ends the work: removes the progress line from a terminal. The next progress is shown at once. */
void plait_log_progress_end (PlaitLog *log);

/* Formats @seconds for a progress line: "1:05:07", "12:30" or "8 s"; "?" if negative, NaN, or at least 1e9. (transfer
 * full) */
char *plait_log_duration (double seconds);
