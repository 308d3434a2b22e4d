/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/*
 * TensorBoard's event files: TFRecord records (length, its masked CRC-32C, data, its masked CRC-32C), each with one
 * Event in protocol buffers. All numbers are little-endian.
 */

/* A number with its tag in TensorBoard. */
typedef struct
{
  const char *tag; /* name of the curve in TensorBoard, such as "updates/loss" */
  double value;    /* stored as float */
} PlaitEventScalar;

/* Appends the first record of a file, made at @time (seconds since 1970). */
void plait_event_append_version (GByteArray *bytes, double time);

/* Appends a record of @n scalars after update @step. */
void plait_event_append_scalars (GByteArray *bytes, double time, gint64 step, const PlaitEventScalar *scalars, guint n);
