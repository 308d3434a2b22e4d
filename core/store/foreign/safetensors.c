/* SPDX-License-Identifier: MIT */
#include "foreign/safetensors.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "files/file.h"
#include "text/json-read.h"
#include "files/memory.h"
#include "files/transfer.h"
#include "foreign/safetensors-private.h"

#define LENGTH_BYTES 8

/* Bytes of values that are read at once. */
#define PIECE (1 << 16)

/* The remedy for a file that is damaged, cut short or of another format. */
#define REMEDY "copy the file again, or name another"

/* A file: a whole model or one shard of it. */
typedef struct
{
  char *path;
  guint number; /* number of the shard, from 0 */
  int descriptor;
  gint64 values;   /* offset of the values in the file */
  gint64 length;   /* bytes of all values */
  GArray *tensors; /* (element-type PlaitSafetensor), in the order of the values in the file */
} Shard;

struct PlaitSafetensors
{
  char *path;
  GPtrArray *shards;   /* (element-type Shard) */
  GPtrArray *tensors;  /* (element-type PlaitSafetensor), in the order of shards and of values */
  GHashTable *by_name; /* name of a tensor -> PlaitSafetensor */
};

G_STATIC_ASSERT (G_BYTE_ORDER == G_LITTLE_ENDIAN); /* values of the format are little-endian */

typedef struct
{
  const char *name;
  guint bits;

  /* Returns the number stored at @bytes. The function is NULL if the type is not used for weights. */
  double (*value) (const guint8 *bytes);
} Type;

static double
f64_value (const guint8 *bytes)
{
  double value;

  memcpy (&value, bytes, sizeof value);
  return value;
}

static double
f32_value (const guint8 *bytes)
{
  float value;

  memcpy (&value, bytes, sizeof value);
  return (double)value;
}

/* Returns a bfloat16, the upper half of a float. */
static double
bf16_value (const guint8 *bytes)
{
  const guint8 whole[] = { 0, 0, bytes[0], bytes[1] };

  return f32_value (whole);
}

/* Returns the value of a half (float16): one sign bit, 5 bits of exponent with bias 15, and 10 bits of fraction. */
static double
f16_value (const guint8 *bytes)
{
  guint32 bits = (guint32)(bytes[0] | bytes[1] << 8), exponent = bits >> 10 & 31, fraction = bits & 1023;
  double size = exponent == 31  ? (fraction ? NAN : INFINITY)
                : exponent == 0 ? ldexp (fraction, -24)
                                : ldexp (fraction + 1024, (gint)exponent - 25);

  return bits & 0x8000 ? -size : size;
}

static const Type types[] = {
  { "F32", 32, f32_value }, { "F16", 16, f16_value }, { "BF16", 16, bf16_value }, { "F64", 64, f64_value },
  { "I64", 64, NULL },      { "I32", 32, NULL },      { "I16", 16, NULL },        { "I8", 8, NULL },
  { "U64", 64, NULL },      { "U32", 32, NULL },      { "U16", 16, NULL },        { "U8", 8, NULL },
  { "BOOL", 8, NULL },      { "C64", 64, NULL },      { "F8_E4M3", 8, NULL },     { "F8_E5M2", 8, NULL },
  { "F8_E8M0", 8, NULL },   { "F6_E2M3", 6, NULL },   { "F6_E3M2", 6, NULL },     { "F4", 4, NULL },
};

static const Type *
find_type (const char *name)
{
  for (gsize i = 0; name && i < G_N_ELEMENTS (types); i++)
    if (g_str_equal (types[i].name, name))
      return &types[i];
  return NULL;
}

static void
clear_tensor (gpointer data)
{
  PlaitSafetensor *tensor = data;

  g_free ((char *)tensor->name);
}

/* Fails with a message that names the file of @shard and the tensor @name. */
static gboolean refuse (const Shard *shard, const char *name, GError **error, const char *format, ...)
    G_GNUC_PRINTF (4, 5);

static gboolean
refuse (const Shard *shard, const char *name, GError **error, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  g_autofree char *what = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  return plait_fail (error, PLAIT_ERROR_INPUT, "%s: tensor \"%.200s\" %s", shard->path, name, what);
}

static gboolean
read_shape (const Shard *shard, const json_t *shape, PlaitSafetensor *tensor, GError **error)
{
  gsize rank = json_array_size (shape);

  if (!json_is_array (shape) || rank > PLAIT_SAFETENSORS_MAX_RANK)
    return refuse (shard, tensor->name, error, "has a shape that is not a list of at most %d sizes; " REMEDY,
                   PLAIT_SAFETENSORS_MAX_RANK);
  tensor->rank = (guint)rank;
  tensor->elements = 1;
  for (gsize i = 0; i < rank; i++)
    {
      const json_t *size = json_array_get (shape, i);

      if (!json_is_integer (size) || json_integer_value (size) < 0)
        return refuse (shard, tensor->name, error, "has a dimension that is not an integer of at least 0; " REMEDY);
      tensor->shape[i] = json_integer_value (size);
      if (__builtin_mul_overflow (tensor->elements, tensor->shape[i], &tensor->elements))
        return refuse (shard, tensor->name, error, "has 2^63 or more elements; " REMEDY);
    }
  return TRUE;
}

static gboolean
read_range (const Shard *shard, const json_t *offset, PlaitSafetensor *tensor, GError **error)
{
  const json_t *begin = json_array_get (offset, 0), *end = json_array_get (offset, 1);

  if (json_array_size (offset) != 2 || !json_is_integer (begin) || !json_is_integer (end))
    return refuse (shard, tensor->name, error, "has data_offsets that are not two integers; " REMEDY);
  tensor->begin = json_integer_value (begin);
  tensor->end = json_integer_value (end);
  return (tensor->begin >= 0 && tensor->end >= tensor->begin)
         || refuse (shard, tensor->name, error, "has the invalid range of bytes %jd to %jd; " REMEDY, tensor->begin,
                    tensor->end);
}

/* TRUE if the byte range of @tensor has exactly the size that its elements of @type need. */
static gboolean
check_size (const Shard *shard, const PlaitSafetensor *tensor, const Type *type, GError **error)
{
  gint64 bits;

  if (__builtin_mul_overflow (tensor->elements, (gint64)type->bits, &bits))
    return refuse (shard, tensor->name, error, "has 2^60 or more bytes; " REMEDY);
  return (bits % 8 == 0 && bits / 8 == tensor->end - tensor->begin)
         || refuse (shard, tensor->name, error, "has %jd bytes, but its %jd elements of type %s take %jd bits; " REMEDY,
                    tensor->end - tensor->begin, tensor->elements, type->name, bits);
}

static gboolean
read_tensor (Shard *shard, const char *name, const json_t *json, GError **error)
{
  const char *type_name = json_string_value (json_object_get (json, "dtype"));
  const Type *type = find_type (type_name);
  PlaitSafetensor tensor = { .name = name, .shard = shard->number };

  if (json_object_size (json) != 3 || !type_name)
    return refuse (shard, name, error, "is described by other members than dtype, shape and data_offsets; " REMEDY);
  if (!type)
    return refuse (shard, name, error, "is of an unknown type \"%.40s\"; " REMEDY, type_name);
  if (!read_shape (shard, json_object_get (json, "shape"), &tensor, error)
      || !read_range (shard, json_object_get (json, "data_offsets"), &tensor, error)
      || !check_size (shard, &tensor, type, error))
    return FALSE;
  tensor.type = type->name;
  tensor.name = g_strdup (name);
  g_array_append_val (shard->tensors, tensor);
  return TRUE;
}

static gboolean
check_metadata (const Shard *shard, json_t *metadata, GError **error)
{
  const char *name;
  json_t *value;
  gboolean good = json_is_object (metadata);

  json_object_foreach (metadata, name, value) good = good && json_is_string (value);
  return good
         || plait_fail (error, PLAIT_ERROR_INPUT,
                        "%s: " PLAIT_SAFETENSORS_METADATA " is not a JSON object of strings; " REMEDY, shard->path);
}

static gint
compare_ranges (gconstpointer a, gconstpointer b)
{
  const PlaitSafetensor *first = a;
  const PlaitSafetensor *second = b;

  if (first->begin != second->begin)
    return first->begin < second->begin ? -1 : 1;
  if (first->end != second->end)
    return first->end < second->end ? -1 : 1;
  return strcmp (first->name, second->name);
}

/* TRUE if the tensors follow each other without gaps or overlap and cover all bytes of values. */
static gboolean
check_ranges (Shard *shard, GError **error)
{
  gint64 end = 0;

  g_array_sort (shard->tensors, compare_ranges);
  for (guint i = 0; i < shard->tensors->len; i++)
    {
      const PlaitSafetensor *tensor = &g_array_index (shard->tensors, PlaitSafetensor, i);

      if (tensor->begin != end)
        return refuse (shard, tensor->name, error,
                       "begins at byte %jd of the values, but the previous tensor ends at byte %jd; expected both at "
                       "the same byte: " REMEDY,
                       tensor->begin, end);
      end = tensor->end;
    }
  return end == shard->length
         || plait_fail (error, PLAIT_ERROR_INPUT,
                        "%s: its tensors have %jd bytes, but %jd are after the header: the file was cut short, or is "
                        "not a safetensors file; " REMEDY,
                        shard->path, end, shard->length);
}

static gboolean
parse_header (Shard *shard, const char *header, gsize length, GError **error)
{
  const char *name;
  json_t *value;

  if (length == 0 || header[0] != '{')
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s: the header does not begin with '{': it is not a safetensors file; " REMEDY, shard->path);
  g_autoptr (json_t) json = plait_json_read_object (header, length, shard->path, error);
  if (!json)
    return FALSE;
  json_object_foreach (json, name, value) if (!(g_str_equal (name, PLAIT_SAFETENSORS_METADATA)
                                                    ? check_metadata (shard, value, error)
                                                    : read_tensor (shard, name, value, error))) return FALSE;
  return check_ranges (shard, error);
}

/* Reads exactly @n bytes at @offset. */
static gboolean
read_bytes (const Shard *shard, gint64 offset, gpointer bytes, gsize n, GError **error)
{
  gssize got = plait_read_at (shard->descriptor, bytes, n, offset);

  if (got < 0)
    return plait_fail (error, PLAIT_ERROR_FAILED, "%s: cannot be read: %s", shard->path, g_strerror (errno));
  return (gsize)got >= n
         || plait_fail (error, PLAIT_ERROR_INPUT, "%s: ends at byte %jd: it was cut short; " REMEDY, shard->path,
                        offset + (gint64)got);
}

static gboolean
read_header (Shard *shard, gint64 size, GError **error)
{
  guint64 length;

  if (size < LENGTH_BYTES)
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s: has %jd bytes, too few for a safetensors file; " REMEDY,
                       shard->path, size);
  if (!read_bytes (shard, 0, &length, sizeof length, error))
    return FALSE;
  length = GUINT64_FROM_LE (length);
  if (length > PLAIT_SAFETENSORS_MAX_HEADER || length > (guint64)size - LENGTH_BYTES)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s: claims a header of %ju bytes, which is more than %ju or does not fit into the file: the "
                       "file was cut short, or is not a safetensors file; " REMEDY,
                       shard->path, length, PLAIT_SAFETENSORS_MAX_HEADER);
  g_autofree char *header = plait_try_allocate (length, 1, shard->path, error);
  if (!header || !read_bytes (shard, LENGTH_BYTES, header, length, error))
    return FALSE;
  shard->values = LENGTH_BYTES + (gint64)length;
  shard->length = size - shard->values;
  return parse_header (shard, header, length, error);
}

static void
shard_free (gpointer data)
{
  Shard *shard = data;

  if (shard->descriptor >= 0)
    close (shard->descriptor);
  g_array_unref (shard->tensors);
  g_free (shard->path);
  g_free (shard);
}

/* Adds the tensors of @shard, whose names must be new, to @file. */
static gboolean
add_tensors (PlaitSafetensors *file, const Shard *shard, GError **error)
{
  for (guint i = 0; i < shard->tensors->len; i++)
    {
      PlaitSafetensor *tensor = &g_array_index (shard->tensors, PlaitSafetensor, i);
      const PlaitSafetensor *other = g_hash_table_lookup (file->by_name, tensor->name);

      if (other)
        return refuse (shard, tensor->name, error, "is also in %s; expected it in one file only",
                       ((const Shard *)file->shards->pdata[other->shard])->path);
      g_hash_table_insert (file->by_name, (gpointer)tensor->name, tensor);
      g_ptr_array_add (file->tensors, tensor);
    }
  return TRUE;
}

static gboolean
add_shard (PlaitSafetensors *file, const char *path, GError **error)
{
  Shard *shard = g_new0 (Shard, 1);
  struct stat status;

  shard->path = g_strdup (path);
  shard->number = file->shards->len;
  shard->tensors = g_array_new (FALSE, TRUE, sizeof (PlaitSafetensor));
  g_array_set_clear_func (shard->tensors, clear_tensor);
  g_ptr_array_add (file->shards, shard);
  shard->descriptor = plait_file_open (path, PLAIT_FILE_REGULAR, "a safetensors file", &status, error);
  return shard->descriptor >= 0 && read_header (shard, (gint64)status.st_size, error)
         && add_tensors (file, shard, error);
}

/* Adds all shards of the index, and checks that their tensors are where the index says. */
static gboolean
add_shards (PlaitSafetensors *file, GError **error)
{
  g_autoptr (PlaitSafetensorsIndex) index = plait_safetensors_index_read (file->path, error);

  for (guint i = 0; index && i < index->paths->len; i++)
    if (!add_shard (file, index->paths->pdata[i], error))
      {
        g_prefix_error (error, "%s: ", file->path);
        return FALSE;
      }
  return index && plait_safetensors_index_check (index, file, error);
}

PlaitSafetensors *
plait_safetensors_open (const char *path, GError **error)
{
  g_autoptr (PlaitSafetensors) file = g_new0 (PlaitSafetensors, 1);

  file->path = g_strdup (path);
  file->shards = g_ptr_array_new_with_free_func (shard_free);
  file->tensors = g_ptr_array_new ();
  file->by_name = g_hash_table_new (g_str_hash, g_str_equal);
  if (!plait_safetensors_index_is_named (path)
          ? plait_safetensors_index_check_alone (path, error) && add_shard (file, path, error)
          : add_shards (file, error))
    return g_steal_pointer (&file);
  return NULL;
}

void
plait_safetensors_free (PlaitSafetensors *file)
{
  if (!file)
    return;
  g_hash_table_unref (file->by_name);
  g_ptr_array_unref (file->tensors);
  g_ptr_array_unref (file->shards);
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
  return file->tensors->pdata[i];
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
  const Shard *shard = file->shards->pdata[tensor->shard];
  const Type *type = find_type (tensor->type);
  gint64 size = type->bits / 8;
  g_autofree guint8 *bytes = g_malloc (PIECE);

  g_assert (first >= 0 && n >= 0 && first + n <= tensor->elements);
  if (!type->value)
    return refuse (shard, tensor->name, error, "is of type %s, expected F64, F32, F16 or BF16", type->name);
  for (gint64 done = 0; done < n;)
    {
      gint64 count = MIN (n - done, PIECE / size);

      if (!read_bytes (shard, shard->values + tensor->begin + (first + done) * size, bytes, (gsize)(count * size),
                       error))
        return FALSE;
      for (gint64 i = 0; i < count; i++, done++)
        {
          values[done] = (PlaitScalar)type->value (bytes + i * size);
          if (!isfinite (values[done]))
            return refuse (shard, tensor->name, error, "has an undefined, infinite or too large value in element %jd",
                           first + done);
        }
    }
  return TRUE;
}
