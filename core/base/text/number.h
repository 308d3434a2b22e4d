/* SPDX-License-Identifier: MIT */
#pragma once

#include "types/export.h"

/*
 * Numbers as text, the same in every locale. Parsing is strict: the whole text is the number, without blanks; what does
 * not fit is refused, never clipped. On FALSE *value is untouched.
 */

/* A decimal integer, "-12" or "12"; no "+", no "0x". */
gboolean plait_parse_integer (const char *text, gint64 *value);

/* A finite decimal number, "0.5", "-1e-3", "12"; not "inf", "nan" or hexadecimal, nor what overflows. */
gboolean plait_parse_double (const char *text, double *value);

/* "true" or "false". */
gboolean plait_parse_boolean (const char *text, gboolean *value);

/* Enough for any number that plait_format_double writes. */
#define PLAIT_NUMBER_LENGTH 32

/* As g_strdup_printf, whatever the locale. (transfer full) */
char *plait_format (const char *format, ...) G_GNUC_PRINTF (1, 2);

/* Writes into @buffer the shortest text that plait_parse_double reads back to the same bits; "inf", "-inf" and "nan"
 * for those. Returns @buffer. */
const char *plait_format_double (char buffer[PLAIT_NUMBER_LENGTH], double value);
