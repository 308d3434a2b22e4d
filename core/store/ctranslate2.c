/* SPDX-License-Identifier: MIT */
#include "store/ctranslate2.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"

#define BINARY_VERSION 6
#define SPECIFICATION "TransformerSpec"
#define REVISION 7

/* A tensor of the model, or a number without dimensions. */
typedef struct
{
  char *name;
  PlaitCtranslate2Type type;
  guint rank;
  PlaitTensor value; /* of rank 1 and 2 */
  gboolean transposed;
  double number; /* of rank 0 */
} Variable;

struct PlaitCtranslate2
{
  GArray *variables;
  GPtrArray *aliases; /* second names, each followed by the first */
};

static void
clear_variable (gpointer data)
{
  g_free (((Variable *)data)->name);
}

PlaitCtranslate2 *
plait_ctranslate2_new (void)
{
  PlaitCtranslate2 *model = g_new0 (PlaitCtranslate2, 1);

  model->variables = g_array_new (FALSE, FALSE, sizeof (Variable));
  g_array_set_clear_func (model->variables, clear_variable);
  model->aliases = g_ptr_array_new ();
  return model;
}

void
plait_ctranslate2_free (PlaitCtranslate2 *model)
{
  if (!model)
    return;
  g_array_unref (model->variables);
  g_ptr_array_unref (model->aliases);
  g_free (model);
}

void
plait_ctranslate2_add_number (PlaitCtranslate2 *model, const char *name, PlaitCtranslate2Type type, double number)
{
  Variable variable = { .name = g_strdup (name), .type = type, .number = number };

  g_array_append_val (model->variables, variable);
}

void
plait_ctranslate2_add_tensor (PlaitCtranslate2 *model, const char *name, guint rank, PlaitTensor value,
                              gboolean transposed)
{
  Variable variable = { .name = g_strdup (name), .rank = rank, .value = value, .transposed = transposed };

  g_array_append_val (model->variables, variable);
}

void
plait_ctranslate2_add_alias (PlaitCtranslate2 *model, const char *name, const char *of)
{
  g_ptr_array_add (model->aliases, (gpointer)name);
  g_ptr_array_add (model->aliases, (gpointer)of);
}

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
write_number (FILE *stream, const Variable *variable)
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
write_values (FILE *stream, const Variable *variable)
{
  PlaitTensor value = variable->value;
  gint64 rows = variable->transposed ? value.width : value.rows;
  gint64 width = variable->transposed ? value.rows : value.width;
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
write_variable (FILE *stream, const Variable *variable)
{
  PlaitTensor value = variable->value;
  guint8 rank = (guint8)variable->rank, type = (guint8)variable->type;
  gint64 rows = variable->transposed ? value.width : value.rows;
  gint64 width = variable->transposed ? value.rows : value.width;

  return write_string (stream, variable->name) && fwrite (&rank, 1, 1, stream) == 1
         && (rank < 2 || write_word (stream, (guint64)rows)) && (rank < 1 || write_word (stream, (guint64)width))
         && fwrite (&type, 1, 1, stream) == 1
         && (rank == 0 ? write_number (stream, variable) : write_values (stream, variable));
}

static gboolean
write_all (FILE *stream, const PlaitCtranslate2 *model)
{
  gboolean good = write_word (stream, BINARY_VERSION) && write_string (stream, SPECIFICATION)
                  && write_word (stream, REVISION) && write_word (stream, model->variables->len);

  for (guint i = 0; i < model->variables->len && good; i++)
    good = write_variable (stream, &g_array_index (model->variables, Variable, i));
  good = good && write_word (stream, model->aliases->len / 2);
  for (guint i = 0; i < model->aliases->len && good; i++)
    good = write_string (stream, model->aliases->pdata[i]);
  return good;
}

/* Sizes are words of 32 bits. */
static gboolean
check_sizes (const PlaitCtranslate2 *model, const char *path, GError **error)
{
  for (guint i = 0; i < model->variables->len; i++)
    {
      const Variable *variable = &g_array_index (model->variables, Variable, i);

      if (variable->rank > 0 && variable->value.rows * variable->value.width > G_MAXUINT32 / (gint64)sizeof (float))
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "%s: %s has 4 GiB or more, which do not fit into the format; export the run as safetensors",
                           path, variable->name);
    }
  return TRUE;
}

gboolean
plait_ctranslate2_write (const PlaitCtranslate2 *model, const char *path, GError **error)
{
  g_autoptr (PlaitFile) file = check_sizes (model, path, error) ? plait_file_begin (path, error) : NULL;
  FILE *stream = file ? fopen (plait_file_temporary (file), "we") : NULL;
  gboolean good;

  if (!file)
    return FALSE;
  good = stream && write_all (stream, model);
  if ((stream && fclose (stream) != 0) || !good)
    return plait_fail (error, PLAIT_ERROR_FAILED, "%s: cannot be written: %s", path, g_strerror (errno));
  return plait_file_commit (g_steal_pointer (&file), error);
}
