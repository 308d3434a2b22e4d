/* SPDX-License-Identifier: MIT */
#pragma once

#include "types/export.h"

/*
 * Numbers as text, independent of the locale. Parsing is strict: the whole text is the number, without blanks. A number
 * that is too large is refused, never clipped. On FALSE *value is unchanged.
 */

/* Parses a decimal integer, "-12" or "12"; not "+12" or "0x12". */
gboolean plait_parse_integer (const char *text, gint64 *value);

/* Parses a finite decimal number, "0.5", "-1e-3", "12". Refuses "+12", "inf", "nan", hexadecimal numbers and overflow.
 * Accepts numbers that are too small for a double, as 0 or a subnormal number. */
gboolean plait_parse_double (const char *text, double *value);

/* Parses "true" or "false". */
gboolean plait_parse_boolean (const char *text, gboolean *value);

/* Parses a span: "START END" with 0 <= START <= END < 2^31 - 2, into *first and *last; or "-1", which means no span and
 * sets both to -1. Allows white space around a span, unlike around numbers. */
gboolean plait_parse_span (const char *text, gint64 *first, gint64 *last);

/* Size of a buffer for any number that plait_format_double writes. */
#define PLAIT_NUMBER_LENGTH 32

/* Formats like g_strdup_printf, but always in the C locale. (transfer full) */
char *plait_format (const char *format, ...) G_GNUC_PRINTF (1, 2);

/* Writes @value into @buffer with as few digits as plait_parse_double needs to read the same bits. Whole numbers below
 * 1e15 have no exponent. Writes "inf", "-inf" or "nan" if @value is not finite. Returns @buffer. */
const char *plait_format_double (char buffer[PLAIT_NUMBER_LENGTH], double value);
