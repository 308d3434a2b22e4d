/* SPDX-License-Identifier: MIT */
#include "run/event-file.h"

#include <string.h>

/* Castagnoli's polynomial, bits reversed (RFC 3720, appendix B.4). */
#define POLYNOMIAL 0x82f63b78u

/* Wire types of protocol buffers. */
typedef enum
{
  VARINT = 0,
  FIXED64 = 1,
  BYTES = 2,
  FIXED32 = 5,
} WireType;

/* Field numbers of tensorflow/core/util/event.proto and framework/summary.proto. */
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

/* Returns the checksum of @bytes in TFRecord's form: rotated and shifted, because a checksum of data that contain a
 * plain checksum is weak. */
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

/* Appends @n bytes of @data, as in memory, as @field. */
static void
append (GByteArray *bytes, guint field, WireType type, gconstpointer data, gsize n)
{
  G_STATIC_ASSERT (G_BYTE_ORDER == G_LITTLE_ENDIAN);
  append_varint (bytes, field << 3 | type);
  if (type == BYTES)
    append_varint (bytes, n);
  g_byte_array_append (bytes, data, (guint)n);
}

static void
append_record (GByteArray *bytes, const GByteArray *event)
{
  guint64 length = event->len;
  guint32 of_length = masked_checksum ((const guint8 *)&length, sizeof length);
  guint32 of_event = masked_checksum (event->data, event->len);

  g_byte_array_append (bytes, (const guint8 *)&length, sizeof length);
  g_byte_array_append (bytes, (const guint8 *)&of_length, sizeof of_length);
  g_byte_array_append (bytes, event->data, event->len);
  g_byte_array_append (bytes, (const guint8 *)&of_event, sizeof of_event);
}

void
plait_event_append_version (GByteArray *bytes, double time)
{
  static const char version[] = "brain.Event:2";
  g_autoptr (GByteArray) event = g_byte_array_new ();

  append (event, EVENT_TIME, FIXED64, &time, sizeof time);
  append (event, EVENT_VERSION, BYTES, version, strlen (version));
  append_record (bytes, event);
}

void
plait_event_append_scalars (GByteArray *bytes, double time, gint64 step, const PlaitEventScalar *scalars, guint n)
{
  g_autoptr (GByteArray) event = g_byte_array_new ();
  g_autoptr (GByteArray) summary = g_byte_array_new ();

  append (event, EVENT_TIME, FIXED64, &time, sizeof time);
  append (event, EVENT_STEP, VARINT, NULL, 0);
  append_varint (event, (guint64)step);
  for (guint i = 0; i < n; i++)
    {
      g_autoptr (GByteArray) value = g_byte_array_new ();
      float number = (float)scalars[i].value;

      append (value, VALUE_TAG, BYTES, scalars[i].tag, strlen (scalars[i].tag));
      append (value, VALUE_SIMPLE, FIXED32, &number, sizeof number);
      append (summary, SUMMARY_VALUE, BYTES, value->data, value->len);
    }
  append (event, EVENT_SUMMARY, BYTES, summary->data, summary->len);
  append_record (bytes, event);
}
