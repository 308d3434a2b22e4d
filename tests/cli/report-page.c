/* SPDX-License-Identifier: MIT */
#include "report-page.h"

#include <gio/gio.h>
#include <string.h>

#include "call.h"
#include "files.h"
#include "harness.h"

void
pack_clear (Pack *pack)
{
  g_free (pack->json);
  g_clear_pointer (&pack->all, g_bytes_unref);
}

const char *
page_of (const char *files)
{
  g_auto (GStrv) arguments = g_strsplit (plait_test_format ("report -q --force -o page.html %s", files), " ", -1);

  QUIET (plait_test_call (NULL, (const char *const *)arguments));
  return plait_test_read_text ("page.html");
}

char *
page_without_scripts (const char *html)
{
  static const char *const begins[] = { "<script type=\"application/json\" id=\"data\">", "<script>/* SPDX" };
  GString *bare = g_string_new (html);

  for (guint i = 0; i < G_N_ELEMENTS (begins); i++)
    {
      const char *begin = strstr (bare->str, begins[i]), *end = begin ? strstr (begin, "</script>") : NULL;

      CHECK (end != NULL);
      if (end)
        g_string_erase (bare, begin - bare->str, end - begin);
    }
  return g_string_free (bare, FALSE);
}

/* Unpacks the string that begins at quote number @nth of @text. */
static void
unpack (Pack *pack, const char *text, guint nth)
{
  g_auto (GStrv) parts = g_strsplit (text, "\"", (gint)nth + 2);

  REQUIRE (g_strv_length (parts) == nth + 2);
  gsize length = 0;
  g_autofree guchar *packed = g_base64_decode (parts[nth], &length);
  g_autoptr (GInputStream) memory = g_memory_input_stream_new_from_data (packed, (gssize)length, NULL);
  g_autoptr (GZlibDecompressor) decompressor = g_zlib_decompressor_new (G_ZLIB_COMPRESSOR_FORMAT_ZLIB);
  g_autoptr (GInputStream) stream = g_converter_input_stream_new (memory, G_CONVERTER (decompressor));
  g_autoptr (GOutputStream) all = g_memory_output_stream_new_resizable ();
  guint32 of_json;

  REQUIRE (g_output_stream_splice (all, stream, G_OUTPUT_STREAM_SPLICE_CLOSE_TARGET, NULL, NULL) > 4);
  pack->all = g_memory_output_stream_steal_as_bytes (G_MEMORY_OUTPUT_STREAM (all));
  const char *bytes = g_bytes_get_data (pack->all, &pack->n);
  memcpy (&of_json, bytes, sizeof of_json);
  of_json = GUINT32_FROM_LE (of_json);
  REQUIRE (of_json <= pack->n - 4);
  pack->json = g_strndup (bytes + 4, of_json);
  pack->bytes = (const guint8 *)bytes + 4 + of_json;
  pack->n -= 4 + of_json;
}

void
read_index (Pack *pack, const char *html)
{
  const char *data = strstr (html, "{ \"index\": \"");

  REQUIRE (data != NULL);
  unpack (pack, data, 3);
}

void
read_pack (Pack *pack, const char *html, guint n)
{
  const char *maps = strstr (html, "\"maps\": [\n");

  REQUIRE (maps != NULL);
  unpack (pack, maps, 3 + 2 * n);
}
