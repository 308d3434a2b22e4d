/* SPDX-License-Identifier: MIT */
#include "store/ctranslate2.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"

#define BINARY_VERSION 6
#define SPECIFICATION "TransformerSpec"
#define REVISION 7

static gboolean
write_string (FILE *stream, const char *text)
{
  guint16 length = GUINT16_TO_LE ((guint16)(strlen (text) + 1));

  return fwrite (&length, sizeof length, 1, stream) == 1 && fwrite (text, strlen (text) + 1, 1, stream) == 1;
}

static gboolean
write_word (FILE *stream, guint64 word)
{
  guint32 bytes = GUINT32_TO_LE ((guint32)word);

  return fwrite (&bytes, sizeof bytes, 1, stream) == 1;
}

static gboolean
write_number (FILE *stream, const PlaitCtranslate2Variable *variable)
{
  gint8 small = (gint8)variable->number;
  gint16 medium = GINT16_TO_LE ((gint16)variable->number);
  float real = (float)variable->number;

  switch (variable->type)
    {
    case PLAIT_CTRANSLATE2_INT8:
      return write_word (stream, sizeof small) && fwrite (&small, sizeof small, 1, stream) == 1;
    case PLAIT_CTRANSLATE2_INT16:
      return write_word (stream, sizeof medium) && fwrite (&medium, sizeof medium, 1, stream) == 1;
    default:
      return write_word (stream, sizeof real) && fwrite (&real, sizeof real, 1, stream) == 1;
    }
}

static gboolean
write_values (FILE *stream, const PlaitCtranslate2Variable *variable, gint64 rows, gint64 width)
{
  PlaitTensor value = variable->value;
  g_autofree float *row = g_new (float, width);
  gboolean good = write_word (stream, (guint64)(rows * width) * sizeof *row);

  G_STATIC_ASSERT (G_BYTE_ORDER == G_LITTLE_ENDIAN); /* as their values */
  for (gint64 i = 0; i < rows && good; i++)
    {
      for (gint64 k = 0; k < width; k++)
        row[k] = (float)(variable->transposed ? plait_tensor_row (value, k)[i] : plait_tensor_row (value, i)[k]);
      good = fwrite (row, sizeof *row, (gsize)width, stream) == (gsize)width;
    }
  return good;
}

static gboolean
write_variable (FILE *stream, const PlaitCtranslate2Variable *variable)
{
  PlaitTensor value = variable->value;
  guint8 rank = (guint8)variable->rank, type = (guint8)variable->type;
  gint64 rows = variable->transposed ? value.width : value.rows;
  gint64 width = variable->transposed ? value.rows : value.width;

  return write_string (stream, variable->name) && fwrite (&rank, 1, 1, stream) == 1
         && (rank < 2 || write_word (stream, (guint64)rows)) && (rank < 1 || write_word (stream, (guint64)width))
         && fwrite (&type, 1, 1, stream) == 1
         && (rank == 0 ? write_number (stream, variable) : write_values (stream, variable, rows, width));
}

static gboolean
write_all (FILE *stream, const PlaitCtranslate2Variable *variables, guint n)
{
  guint n_names = 0;
  gboolean good;

  for (guint i = 0; i < n; i++)
    n_names += variables[i].same_as != NULL;
  good = write_word (stream, BINARY_VERSION) && write_string (stream, SPECIFICATION) && write_word (stream, REVISION)
         && write_word (stream, n - n_names);
  for (guint i = 0; i < n && good; i++)
    good = variables[i].same_as || write_variable (stream, &variables[i]);
  good = good && write_word (stream, n_names);
  for (guint i = 0; i < n && good; i++)
    good = !variables[i].same_as
           || (write_string (stream, variables[i].name) && write_string (stream, variables[i].same_as));
  return good;
}

/* Sizes are words of 32 bits. */
static gboolean
check_sizes (const PlaitCtranslate2Variable *variables, guint n, const char *path, GError **error)
{
  for (guint i = 0; i < n; i++)
    if (variables[i].value.rows * variables[i].value.width > G_MAXUINT32 / (gint64)sizeof (float))
      return plait_fail (error, PLAIT_ERROR_INPUT,
                         "%s: %s has 4 GiB or more, which do not fit into the format; export the run as safetensors",
                         path, variables[i].name);
  return TRUE;
}

gboolean
plait_ctranslate2_write (const PlaitCtranslate2Variable *variables, guint n, const char *path, GError **error)
{
  g_autoptr (PlaitFile) file = check_sizes (variables, n, path, error) ? plait_file_begin (path, error) : NULL;

  if (!file)
    return FALSE;
  /* Where it breaks off, the stream knows why. */
  write_all (plait_file_stream (file), variables, n);
  return plait_file_commit (g_steal_pointer (&file), error);
}
