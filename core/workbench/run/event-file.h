/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/*
 * Event files as TensorBoard reads them: records of TFRecord (length, its masked CRC-32C, bytes, theirs), each an Event
 * of protocol buffers. All numbers are little-endian.
 */

/* A number and the tag that it is shown under. */
typedef struct
{
  const char *tag; /* "updates/loss" */
  double value;    /* kept as a float */
} PlaitEventScalar;

/* Appends the record that a file begins with, made at @time, seconds since 1970. */
void plait_event_append_version (GByteArray *bytes, double time);

/* Appends a record of @n scalars after update @step. */
void plait_event_append_scalars (GByteArray *bytes, double time, gint64 step, const PlaitEventScalar *scalars, guint n);
