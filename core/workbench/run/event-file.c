/* SPDX-License-Identifier: MIT */
#include "run/event-file.h"

#include <string.h>

/* Castagnoli's polynomial, its bits reversed; RFC 3720, appendix B.4. */
#define POLYNOMIAL 0x82f63b78u

/* Wire types of protocol buffers. */
typedef enum
{
  VARINT = 0,
  FIXED64 = 1,
  BYTES = 2,
  FIXED32 = 5,
} WireType;

/* Of tensorflow/core/util/event.proto and framework/summary.proto. */
enum
{
  EVENT_TIME = 1,
  EVENT_STEP = 2,
  EVENT_VERSION = 3,
  EVENT_SUMMARY = 5,
  SUMMARY_VALUE = 1,
  VALUE_TAG = 1,
  VALUE_SIMPLE = 2,
};

/* A checksum of a checksum is weak, so TFRecord turns and shifts it. */
static guint32
masked_checksum (const guint8 *bytes, gsize n)
{
  guint32 sum = ~0u;

  for (gsize i = 0; i < n; i++)
    {
      sum ^= bytes[i];
      for (guint bit = 0; bit < 8; bit++)
        sum = sum >> 1 ^ (sum & 1 ? POLYNOMIAL : 0);
    }
  sum = ~sum;
  return (sum >> 15 | sum << 17) + 0xa282ead8u;
}

/* The lowest @n bytes of @value. */
static void
append_fixed (GByteArray *bytes, guint64 value, guint n)
{
  guint64 little = GUINT64_TO_LE (value);

  g_byte_array_append (bytes, (const guint8 *)&little, n);
}

static void
append_varint (GByteArray *bytes, guint64 value)
{
  do
    {
      guint8 byte = (value & 0x7f) | (value > 0x7f ? 0x80 : 0);

      g_byte_array_append (bytes, &byte, 1);
      value >>= 7;
    }
  while (value > 0);
}

static void
append_key (GByteArray *bytes, guint field, WireType type)
{
  append_varint (bytes, field << 3 | type);
}

static void
append_bytes (GByteArray *bytes, guint field, gconstpointer data, gsize n)
{
  append_key (bytes, field, BYTES);
  append_varint (bytes, n);
  g_byte_array_append (bytes, data, (guint)n);
}

static void
append_time (GByteArray *event, double time)
{
  guint64 bits;

  memcpy (&bits, &time, sizeof bits);
  append_key (event, EVENT_TIME, FIXED64);
  append_fixed (event, bits, sizeof bits);
}

static void
append_record (GByteArray *bytes, const GByteArray *event)
{
  guint start = bytes->len;

  append_fixed (bytes, event->len, sizeof (guint64));
  append_fixed (bytes, masked_checksum (bytes->data + start, sizeof (guint64)), sizeof (guint32));
  g_byte_array_append (bytes, event->data, event->len);
  append_fixed (bytes, masked_checksum (event->data, event->len), sizeof (guint32));
}

void
plait_event_append_version (GByteArray *bytes, double time)
{
  static const char version[] = "brain.Event:2";
  g_autoptr (GByteArray) event = g_byte_array_new ();

  append_time (event, time);
  append_bytes (event, EVENT_VERSION, version, strlen (version));
  append_record (bytes, event);
}

void
plait_event_append_scalars (GByteArray *bytes, double time, gint64 step, const PlaitEventScalar *scalars, guint n)
{
  g_autoptr (GByteArray) event = g_byte_array_new ();
  g_autoptr (GByteArray) summary = g_byte_array_new ();

  append_time (event, time);
  append_key (event, EVENT_STEP, VARINT);
  append_varint (event, (guint64)step);
  for (guint i = 0; i < n; i++)
    {
      g_autoptr (GByteArray) value = g_byte_array_new ();
      float number = (float)scalars[i].value;
      guint32 bits;

      memcpy (&bits, &number, sizeof bits);
      append_bytes (value, VALUE_TAG, scalars[i].tag, strlen (scalars[i].tag));
      append_key (value, VALUE_SIMPLE, FIXED32);
      append_fixed (value, bits, sizeof bits);
      append_bytes (summary, SUMMARY_VALUE, value->data, value->len);
    }
  append_bytes (event, EVENT_SUMMARY, summary->data, summary->len);
  append_record (bytes, event);
}
