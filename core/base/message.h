/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>
#include <stdarg.h>

/* The formatted text of an error. Where input blew a line of it up beyond 1000 bytes, the middle of the line is left
 * out: its beginning names the place, its end the remedy. (transfer full) */
char *plait_message (const char *format, va_list arguments) G_GNUC_PRINTF (1, 0);
