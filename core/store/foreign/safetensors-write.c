/* SPDX-License-Identifier: MIT */
#include "foreign/safetensors-private.h"

#include <stdio.h>

#include "files/file.h"
#include "text/json.h"

#define ALIGNMENT 8

/* Returns the text of the header, padded with spaces to align the values. (transfer full) */
static GString *
make_header (const PlaitNamedTensor *tensors, guint n, const char *const *metadata)
{
  g_autoptr (PlaitJson) json = plait_json_new ();
  gint64 end = 0;

  plait_json_begin_object (json, NULL);
  plait_json_begin_object (json, PLAIT_SAFETENSORS_METADATA);
  for (guint i = 0; metadata[i]; i += 2)
    plait_json_text (json, metadata[i], metadata[i + 1]);
  plait_json_end_object (json);
  for (guint i = 0; i < n; i++)
    {
      PlaitTensor value = tensors[i].value;
      gint64 begin = end;

      end += value.rows * value.width * (gint64)sizeof (PlaitScalar);
      plait_json_begin_object (json, tensors[i].name);
      plait_json_text (json, "dtype", sizeof (PlaitScalar) == 8 ? "F64" : "F32");
      plait_json_integers (json, "shape", (const gint64[]){ value.rows, value.width }, 2);
      plait_json_integers (json, "data_offsets", (const gint64[]){ begin, end }, 2);
      plait_json_end_object (json);
    }
  plait_json_end_object (json);
  GString *header = g_string_new (plait_json_string (json));
  while (header->len % ALIGNMENT != 0)
    g_string_append_c (header, ' ');
  return header;
}

static void
write_all (FILE *stream, const GString *header, const PlaitNamedTensor *tensors, guint n)
{
  guint64 length = GUINT64_TO_LE ((guint64)header->len);

  fwrite (&length, sizeof length, 1, stream);
  fwrite (header->str, 1, header->len, stream);
  for (guint i = 0; i < n && !ferror (stream); i++)
    for (gint64 row = 0; row < tensors[i].value.rows; row++)
      fwrite (plait_tensor_row (tensors[i].value, row), sizeof (PlaitScalar), (gsize)tensors[i].value.width, stream);
}

gboolean
plait_safetensors_write (const char *path, const PlaitNamedTensor *tensors, guint n, const char *const *metadata,
                         GError **error)
{
  g_autoptr (PlaitFile) file = plait_file_begin (path, error);
  g_autoptr (GString) header = make_header (tensors, n, metadata);

  if (!file)
    return FALSE;
  if (header->len > PLAIT_SAFETENSORS_MAX_HEADER)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s: the names and shapes of the %u tensors do not fit into the header, which may have at most "
                       "%ju bytes; store a smaller model",
                       path, n, PLAIT_SAFETENSORS_MAX_HEADER);
  write_all (plait_file_stream (file), header, tensors, n);
  return plait_file_commit (g_steal_pointer (&file), error);
}
