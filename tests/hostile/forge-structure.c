/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "forge.h"
#include "hdf5/store.h"

/* This file changes bytes of HDF5's own structure and corrects the checksums that HDF5 stores in it. */

static guint32
rotate (guint32 value, guint bits)
{
  return value << bits | value >> (32 - bits);
}

/* Returns the checksum of @bytes [n] that HDF5 uses: lookup3 (hashlittle) by Bob Jenkins. */
static guint32
checksum (const guint8 *bytes, gsize n)
{
  static const guint mix[] = { 4, 6, 8, 16, 19, 4 }, end[] = { 14, 11, 25, 16, 4, 14, 24 };
  guint32 s[3] = { 0xdeadbeefu + (guint32)n, 0xdeadbeefu + (guint32)n, 0xdeadbeefu + (guint32)n };

  for (; n > 12; n -= 12, bytes += 12)
    {
      for (guint i = 0; i < 12; i++)
        s[i / 4] += (guint32)bytes[i] << 8 * (i % 4);
      for (guint i = 0; i < G_N_ELEMENTS (mix); i++)
        {
          s[i % 3] -= s[(i + 2) % 3];
          s[i % 3] ^= rotate (s[(i + 2) % 3], mix[i]);
          s[(i + 2) % 3] += s[(i + 1) % 3];
        }
    }
  for (gsize i = 0; i < n; i++)
    s[i / 4] += (guint32)bytes[i] << 8 * (i % 4);
  for (guint i = 0; n > 0 && i < G_N_ELEMENTS (end); i++)
    {
      s[(i + 2) % 3] ^= s[(i + 1) % 3];
      s[(i + 2) % 3] -= rotate (s[(i + 1) % 3], end[i]);
    }
  return s[2];
}

/* An HDF5 object header, with the offsets of its first message and of its checksum. */
typedef struct
{
  gsize start, messages, end;
} Header;

static gboolean
find_header (const guint8 *bytes, gsize n, gsize at, Header *header)
{
  guint flags = bytes[at + 5];
  gsize size = at + 6 + (flags & 0x20 ? 16 : 0) + (flags & 0x10 ? 4 : 0), width = (gsize)1 << (flags & 3), length = 0;
  guint32 stored;

  for (gsize i = 0; i < MIN (width, 4); i++)
    length |= (gsize)bytes[size + i] << 8 * i;
  *header = (Header){ at, size + width, size + width + length };
  if (header->end + sizeof stored > n)
    return FALSE;
  memcpy (&stored, bytes + header->end, sizeof stored);
  return GUINT32_FROM_LE (stored) == checksum (bytes + at, header->end - at);
}

/* Returns the object headers in @bytes. (transfer full) (element-type Header) */
static GArray *
find_headers (const guint8 *bytes, gsize n)
{
  GArray *headers = g_array_new (FALSE, FALSE, sizeof (Header));
  Header header;

  for (gsize at = 512; at + 32 < n; at++)
    if (memcmp (bytes + at, "OHDR\2", 5) == 0 && find_header (bytes, n, at, &header))
      g_array_append_val (headers, header);
  return headers;
}

void
forge_structure (const char *from, const char *to, guint32 seed)
{
  static const guint8 values[] = { 0, 1, 127, 128, 255 };
  g_autoptr (GBytes) whole = plait_test_read (from);
  g_autofree guint8 *bytes = g_memdup2 (g_bytes_get_data (whole, NULL), g_bytes_get_size (whole));
  gsize length = 512 + (gsize)g_ascii_strtoull (strstr ((const char *)bytes, "length ") + 7, NULL, 10);
  g_autoptr (GArray) headers = find_headers (bytes, length);
  g_autoptr (GRand) random = g_rand_new_with_seed (seed);

  REQUIRE (headers->len > 0);
  for (guint i = 0; i < 1 + seed % 3; i++)
    {
      const Header *header = &g_array_index (headers, Header, g_rand_int_range (random, 0, (gint32)headers->len));
      gsize at = (gsize)g_rand_int_range (random, (gint32)header->messages, (gint32)header->end);
      gint32 value = g_rand_int_range (random, 0, 256);
      guint32 sum;

      bytes[at] = value < 128 ? values[(guint)value % G_N_ELEMENTS (values)] : (guint8)value;
      sum = GUINT32_TO_LE (checksum (bytes + header->start, header->end - header->start));
      memcpy (bytes + header->end, &sum, sizeof sum);
    }
  plait_test_write_bytes (to, bytes, length);
  forge_seal (to, PLAIT_STORE_FORMAT);
}
