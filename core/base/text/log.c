/* SPDX-License-Identifier: MIT */
#include "text/log.h"
#include "text/display.h"

#include <math.h>
#include <stdarg.h>
#include <sys/ioctl.h>

#define TERMINAL_INTERVAL (G_USEC_PER_SEC / 10)
#define LINE_INTERVAL (30 * G_USEC_PER_SEC)

struct PlaitLog
{
  PlaitLogSettings settings;
  /* Earliest time of the next progress line, microseconds. */
  gint64 next_progress;
  gboolean line_shown;
  gboolean mute;
};

PlaitLog *
plait_log_new_with (PlaitLogSettings settings)
{
  PlaitLog *log = g_new0 (PlaitLog, 1);

  log->settings = settings;
  log->next_progress = G_MININT64;
  return log;
}

PlaitLog *
plait_log_new (gboolean quiet)
{
  gboolean terminal = plait_display_is_terminal (stderr) && g_strcmp0 (g_getenv ("TERM"), "dumb") != 0;
  const char *no_colour = g_getenv ("NO_COLOR");

  return plait_log_new_with ((PlaitLogSettings){ .stream = stderr,
                                                 .terminal = terminal,
                                                 .colour = terminal && (!no_colour || *no_colour == '\0'),
                                                 .quiet = quiet,
                                                 .now = g_get_monotonic_time });
}

static void
clear_line (PlaitLog *log)
{
  if (!log->line_shown)
    return;
  fputs ("\r\033[K", log->settings.stream);
  log->line_shown = FALSE;
}

void
plait_log_free (PlaitLog *log)
{
  if (!log)
    return;
  plait_log_progress_end (log);
  g_free (log);
}

void
plait_log_mute (PlaitLog *log)
{
  plait_log_progress_end (log);
  log->settings.quiet = log->mute = TRUE;
}

gboolean
plait_log_is_mute (const PlaitLog *log)
{
  return log->mute;
}

/* Returns the formatted text. Replaces characters that control a terminal, but keeps line breaks and tabs if @lines.
 * (transfer full) */
static char *
safe_text (const char *format, va_list arguments, gboolean lines)
{
  g_autofree char *raw = g_strdup_vprintf (format, arguments);

  return plait_display_sanitise (raw, lines);
}

void
plait_log_write (PlaitLog *log, PlaitLogLevel level, const char *format, ...)
{
  static const struct
  {
    const char *colour, *word;
  } levels[] = {
    [PLAIT_LOG_WARNING] = { "33", "warning" },
    [PLAIT_LOG_ERROR] = { "31", "error" },
  };
  va_list arguments;

  if (!log || log->mute || (level == PLAIT_LOG_INFO && log->settings.quiet))
    return;
  va_start (arguments, format);
  g_autofree char *text = safe_text (format, arguments, TRUE);
  va_end (arguments);
  clear_line (log);
  if (level != PLAIT_LOG_INFO && log->settings.colour)
    fprintf (log->settings.stream, "\033[%sm%s:\033[0m ", levels[level].colour, levels[level].word);
  else if (level != PLAIT_LOG_INFO)
    fprintf (log->settings.stream, "%s: ", levels[level].word);
  fprintf (log->settings.stream, "%s\n", text);
  fflush (log->settings.stream);
}

/* Returns the columns of the terminal minus one, so that no line wraps. */
static gsize
columns (const PlaitLog *log)
{
  struct winsize size;

  if (ioctl (fileno (log->settings.stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 1)
    return size.ws_col - 1;
  return 79;
}

void
plait_log_progress (PlaitLog *log, const char *format, ...)
{
  va_list arguments;

  if (!log || log->settings.quiet)
    return;
  gint64 now = log->settings.now ();
  if (now < log->next_progress)
    return;
  log->next_progress = now + (log->settings.terminal ? TERMINAL_INTERVAL : LINE_INTERVAL);

  va_start (arguments, format);
  g_autofree char *text = safe_text (format, arguments, FALSE);
  va_end (arguments);
  clear_line (log);
  if (log->settings.terminal)
    {
      g_autofree char *cut = plait_display_truncate (text, columns (log));

      fputs (cut, log->settings.stream);
      log->line_shown = TRUE;
    }
  else
    fprintf (log->settings.stream, "%s\n", text);
  fflush (log->settings.stream);
}

void
plait_log_progress_end (PlaitLog *log)
{
  if (!log)
    return;
  clear_line (log);
  fflush (log->settings.stream);
  log->next_progress = G_MININT64;
}

char *
plait_log_duration (double seconds)
{
  if (!(seconds >= 0 && seconds < 1e9))
    return g_strdup ("?");
  gint64 whole = llround (seconds);
  if (whole < 60)
    return g_strdup_printf ("%d s", (int)whole);
  if (whole < 3600)
    return g_strdup_printf ("%d:%02d", (int)(whole / 60), (int)(whole % 60));
  return g_strdup_printf ("%d:%02d:%02d", (int)(whole / 3600), (int)(whole / 60 % 60), (int)(whole % 60));
}
