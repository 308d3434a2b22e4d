/* SPDX-License-Identifier: MIT */
#include "store/safetensors.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json-read.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/transfer.h"

#define LENGTH_BYTES 8
#define MOST_HEADER ((guint64)100000000)
#define METADATA "__metadata__"
#define ALIGNMENT 8

/* Values are read in pieces of so many bytes. */
#define PIECE (1 << 16)

struct PlaitSafetensors
{
  char *path;
  int descriptor;
  gint64 values;       /* bytes in front of them */
  gint64 length;       /* bytes of all values */
  GArray *tensors;     /* of PlaitSafetensor, by place */
  GHashTable *by_name; /* name -> tensor, once all are read */
};

/*
 * Types
 */

G_STATIC_ASSERT (G_BYTE_ORDER == G_LITTLE_ENDIAN); /* as the values of the format */

typedef struct
{
  const char *name;
  guint bits;
  void (*convert) (const guint8 *bytes, gsize n, PlaitScalar *values); /* NULL: no weights are of this type */
} Type;

static void
convert_f64 (const guint8 *bytes, gsize n, PlaitScalar *values)
{
  for (gsize i = 0; i < n; i++)
    {
      double value;

      memcpy (&value, bytes + i * sizeof value, sizeof value);
      values[i] = (PlaitScalar)value;
    }
}

static void
convert_f32 (const guint8 *bytes, gsize n, PlaitScalar *values)
{
  for (gsize i = 0; i < n; i++)
    {
      float value;

      memcpy (&value, bytes + i * sizeof value, sizeof value);
      values[i] = value;
    }
}

static guint32
half_at (const guint8 *bytes, gsize i)
{
  return (guint32)(bytes[2 * i] | bytes[2 * i + 1] << 8);
}

static void
convert_bf16 (const guint8 *bytes, gsize n, PlaitScalar *values)
{
  for (gsize i = 0; i < n; i++)
    {
      guint32 bits = half_at (bytes, i) << 16;
      float value;

      memcpy (&value, &bits, sizeof value);
      values[i] = value;
    }
}

/* One bit of sign, 5 of exponent, which is biased by 15, and 10 behind the point. */
static void
convert_f16 (const guint8 *bytes, gsize n, PlaitScalar *values)
{
  for (gsize i = 0; i < n; i++)
    {
      guint32 bits = half_at (bytes, i), exponent = bits >> 10 & 31, fraction = bits & 1023;
      double size = exponent == 31  ? (fraction ? NAN : INFINITY)
                    : exponent == 0 ? ldexp (fraction, -24)
                                    : ldexp (fraction + 1024, (gint)exponent - 25);

      values[i] = (PlaitScalar)(bits & 0x8000 ? -size : size);
    }
}

static const Type types[] = {
  { "F32", 32, convert_f32 }, { "F16", 16, convert_f16 }, { "BF16", 16, convert_bf16 }, { "F64", 64, convert_f64 },
  { "I64", 64, NULL },        { "I32", 32, NULL },        { "I16", 16, NULL },          { "I8", 8, NULL },
  { "U64", 64, NULL },        { "U32", 32, NULL },        { "U16", 16, NULL },          { "U8", 8, NULL },
  { "BOOL", 8, NULL },        { "C64", 64, NULL },        { "F8_E4M3", 8, NULL },       { "F8_E5M2", 8, NULL },
  { "F8_E8M0", 8, NULL },     { "F6_E2M3", 6, NULL },     { "F6_E3M2", 6, NULL },       { "F4", 4, NULL },
};

static const Type *
find_type (const char *name)
{
  for (gsize i = 0; name && i < G_N_ELEMENTS (types); i++)
    if (g_str_equal (types[i].name, name))
      return &types[i];
  return NULL;
}

/*
 * The header
 */

static void
clear_tensor (gpointer data)
{
  PlaitSafetensor *tensor = data;

  g_free ((char *)tensor->name);
}

/* What is wrong with @tensor is told behind its file and name. */
static gboolean refuse (const PlaitSafetensors *file, const char *name, GError **error, const char *format, ...)
    G_GNUC_PRINTF (4, 5);

static gboolean
refuse (const PlaitSafetensors *file, const char *name, GError **error, const char *format, ...)
{
  g_autofree char *what = NULL;
  va_list arguments;

  va_start (arguments, format);
  what = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  return plait_fail (error, PLAIT_ERROR_INPUT, "%s: tensor \"%.200s\" %s", file->path, name, what);
}

static gboolean
read_shape (const PlaitSafetensors *file, const json_t *shape, PlaitSafetensor *tensor, GError **error)
{
  gsize rank = json_array_size (shape);

  if (!json_is_array (shape) || rank > PLAIT_SAFETENSORS_MAXIMUM_RANK)
    return refuse (file, tensor->name, error, "has no shape of at most %d dimensions", PLAIT_SAFETENSORS_MAXIMUM_RANK);
  tensor->rank = (guint)rank;
  tensor->elements = 1;
  for (gsize i = 0; i < rank; i++)
    {
      const json_t *size = json_array_get (shape, i);

      if (!json_is_integer (size) || json_integer_value (size) < 0)
        return refuse (file, tensor->name, error, "has a dimension that is no size");
      tensor->shape[i] = json_integer_value (size);
      if (__builtin_mul_overflow (tensor->elements, tensor->shape[i], &tensor->elements))
        return refuse (file, tensor->name, error, "has more elements than can be counted");
    }
  return TRUE;
}

static gboolean
read_place (const PlaitSafetensors *file, const json_t *place, PlaitSafetensor *tensor, GError **error)
{
  const json_t *begin = json_array_get (place, 0), *end = json_array_get (place, 1);

  if (json_array_size (place) != 2 || !json_is_integer (begin) || !json_is_integer (end))
    return refuse (file, tensor->name, error, "has data_offsets that are not two integers");
  tensor->begin = json_integer_value (begin);
  tensor->end = json_integer_value (end);
  return (tensor->begin >= 0 && tensor->end >= tensor->begin)
         || refuse (file, tensor->name, error, "lies from byte %jd to %jd, which is no place", tensor->begin,
                    tensor->end);
}

/* Whether place, type and shape fit each other. */
static gboolean
check_size (const PlaitSafetensors *file, const PlaitSafetensor *tensor, const Type *type, GError **error)
{
  gint64 bits;

  if (__builtin_mul_overflow (tensor->elements, (gint64)type->bits, &bits))
    return refuse (file, tensor->name, error, "has more bytes than can be counted");
  return (bits % 8 == 0 && bits / 8 == tensor->end - tensor->begin)
         || refuse (file, tensor->name, error, "has %jd bytes, but its %jd elements of type %s take %jd bits",
                    tensor->end - tensor->begin, tensor->elements, type->name, bits);
}

static gboolean
read_tensor (PlaitSafetensors *file, const char *name, const json_t *json, GError **error)
{
  const char *type_name = json_string_value (json_object_get (json, "dtype"));
  const Type *type = find_type (type_name);
  PlaitSafetensor tensor = { .name = name };

  if (json_object_size (json) != 3 || !type_name)
    return refuse (file, name, error, "is described by other members than dtype, shape and data_offsets");
  if (!type)
    return refuse (file, name, error, "is of an unknown type \"%.40s\"", type_name);
  if (!read_shape (file, json_object_get (json, "shape"), &tensor, error)
      || !read_place (file, json_object_get (json, "data_offsets"), &tensor, error)
      || !check_size (file, &tensor, type, error))
    return FALSE;
  tensor.type = type->name;
  tensor.name = g_strdup (name);
  g_array_append_val (file->tensors, tensor);
  return TRUE;
}

static gboolean
check_metadata (const PlaitSafetensors *file, json_t *metadata, GError **error)
{
  const char *name;
  json_t *value;
  gboolean good = json_is_object (metadata);

  json_object_foreach (metadata, name, value) good = good && json_is_string (value);
  return good || plait_fail (error, PLAIT_ERROR_INPUT, "%s: " METADATA " is not all text", file->path);
}

static gint
compare_places (gconstpointer a, gconstpointer b)
{
  const PlaitSafetensor *first = a;
  const PlaitSafetensor *second = b;

  if (first->begin != second->begin)
    return first->begin < second->begin ? -1 : 1;
  if (first->end != second->end)
    return first->end < second->end ? -1 : 1;
  return strcmp (first->name, second->name);
}

/* Whether the tensors, by place, lie one behind the other and take all bytes; notes their names. */
static gboolean
check_places (PlaitSafetensors *file, GError **error)
{
  gint64 end = 0;

  g_array_sort (file->tensors, compare_places);
  for (guint i = 0; i < file->tensors->len; i++)
    {
      const PlaitSafetensor *tensor = &g_array_index (file->tensors, PlaitSafetensor, i);

      if (tensor->begin != end)
        return refuse (file, tensor->name, error,
                       "begins at byte %jd of the values, but the one before ends at byte %jd: tensors must neither "
                       "overlap nor leave holes",
                       tensor->begin, end);
      end = tensor->end;
      g_hash_table_insert (file->by_name, (gpointer)tensor->name, (gpointer)tensor);
    }
  if (end == file->length)
    return TRUE;
  return plait_fail (error, PLAIT_ERROR_INPUT,
                     "%s: its tensors have %jd bytes, but %jd stand behind the header: the file was cut short, or is "
                     "no safetensors file",
                     file->path, end, file->length);
}

static gboolean
parse_header (PlaitSafetensors *file, const char *header, gsize length, GError **error)
{
  g_autoptr (json_t) json = NULL;
  const char *name;
  json_t *value;

  if (length == 0 || header[0] != '{')
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s: the header does not begin with '{': it is no safetensors file",
                       file->path);
  json = plait_json_read_object (header, length, file->path, error);
  if (!json)
    return FALSE;
  json_object_foreach (json, name, value) if (!(g_str_equal (name, METADATA)
                                                    ? check_metadata (file, value, error)
                                                    : read_tensor (file, name, value, error))) return FALSE;
  return check_places (file, error);
}

/* Reads @n bytes at @place, all of them. */
static gboolean
read_bytes (const PlaitSafetensors *file, gint64 place, gpointer bytes, gsize n, GError **error)
{
  gssize got = plait_read_at (file->descriptor, bytes, n, place);

  if (got < 0)
    return plait_fail (error, PLAIT_ERROR_FAILED, "%s: cannot be read: %s", file->path, g_strerror (errno));
  if ((gsize)got < n)
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s: ends at byte %jd: it was cut short", file->path,
                       place + (gint64)got);
  return TRUE;
}

static gboolean
read_header (PlaitSafetensors *file, gint64 size, GError **error)
{
  g_autofree char *header = NULL;
  guint64 length;

  if (size < LENGTH_BYTES)
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s: has %jd bytes, too few for a safetensors file", file->path, size);
  if (!read_bytes (file, 0, &length, sizeof length, error))
    return FALSE;
  length = GUINT64_FROM_LE (length);
  if (length > MOST_HEADER || length > (guint64)size - LENGTH_BYTES)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s: claims a header of %ju bytes, expected at most %ju and no more than the file has: it was "
                       "cut short, or is no safetensors file",
                       file->path, length, MOST_HEADER);
  header = plait_try_allocate (length, 1, file->path, error);
  if (!header || !read_bytes (file, LENGTH_BYTES, header, length, error))
    return FALSE;
  file->values = LENGTH_BYTES + (gint64)length;
  file->length = size - file->values;
  return parse_header (file, header, length, error);
}

/*
 * Reading
 */

PlaitSafetensors *
plait_safetensors_open (const char *path, GError **error)
{
  g_autoptr (PlaitSafetensors) file = g_new0 (PlaitSafetensors, 1);
  struct stat status;

  file->path = g_strdup (path);
  file->tensors = g_array_new (FALSE, TRUE, sizeof (PlaitSafetensor));
  g_array_set_clear_func (file->tensors, clear_tensor);
  file->by_name = g_hash_table_new (g_str_hash, g_str_equal);
  file->descriptor = plait_file_open (path, PLAIT_FILE_REGULAR, "a safetensors file", &status, error);
  return file->descriptor >= 0 && read_header (file, (gint64)status.st_size, error) ? g_steal_pointer (&file) : NULL;
}

void
plait_safetensors_free (PlaitSafetensors *file)
{
  if (!file)
    return;
  if (file->descriptor >= 0)
    close (file->descriptor);
  g_hash_table_unref (file->by_name);
  g_array_unref (file->tensors);
  g_free (file->path);
  g_free (file);
}

const char *
plait_safetensors_path (const PlaitSafetensors *file)
{
  return file->path;
}

guint
plait_safetensors_n (const PlaitSafetensors *file)
{
  return file->tensors->len;
}

const PlaitSafetensor *
plait_safetensors_get (const PlaitSafetensors *file, guint i)
{
  g_assert (i < file->tensors->len);
  return &g_array_index (file->tensors, PlaitSafetensor, i);
}

const PlaitSafetensor *
plait_safetensors_find (const PlaitSafetensors *file, const char *name)
{
  return g_hash_table_lookup (file->by_name, name);
}

char *
plait_safetensor_shape_text (const PlaitSafetensor *tensor)
{
  GString *text = g_string_new ("[");

  for (guint i = 0; i < tensor->rank; i++)
    g_string_append_printf (text, "%s%jd", i > 0 ? ", " : "", tensor->shape[i]);
  return g_string_free (g_string_append_c (text, ']'), FALSE);
}

gboolean
plait_safetensors_read (const PlaitSafetensors *file, const PlaitSafetensor *tensor, gint64 first, gint64 n,
                        PlaitScalar *values, GError **error)
{
  const Type *type = find_type (tensor->type);
  gint64 size = type->bits / 8;
  g_autofree guint8 *bytes = g_malloc (PIECE);

  g_assert (first >= 0 && n >= 0 && first + n <= tensor->elements);
  if (!type->convert)
    return refuse (file, tensor->name, error, "is of type %s, expected F64, F32, F16 or BF16", type->name);
  for (gint64 done = 0; done < n;)
    {
      gint64 count = MIN (n - done, PIECE / size);

      if (!read_bytes (file, file->values + tensor->begin + (first + done) * size, bytes, (gsize)(count * size), error))
        return FALSE;
      type->convert (bytes, (gsize)count, values + done);
      for (gint64 i = done; i < done + count; i++)
        if (!isfinite (values[i]))
          return refuse (file, tensor->name, error, "has an undefined, infinite or too large value in element %jd",
                         first + i);
      done += count;
    }
  return TRUE;
}

/*
 * Writing
 */

/* The header's text with the spaces that align the values. (transfer full) */
static GString *
make_header (const PlaitNamedTensor *tensors, guint n, const char *const *metadata)
{
  g_autoptr (PlaitJson) json = plait_json_new ();
  GString *header;
  gint64 end = 0;

  plait_json_begin_object (json, NULL);
  plait_json_begin_object (json, METADATA);
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
  header = g_string_new (plait_json_string (json));
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
  if (header->len > MOST_HEADER)
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s: the names of %u tensors do not fit into a header", path, n);
  write_all (plait_file_stream (file), header, tensors, n);
  return plait_file_commit (g_steal_pointer (&file), error);
}
