/* SPDX-License-Identifier: MIT */
#include "weights/published.h"

#include "files/memory.h"

#define MAX_NAMED 6

struct PlaitPublished
{
  PlaitSafetensors *file;
  PlaitNameMap *map; /* name map; NULL: tensors have the names of parameters */
  GHashTable *used;  /* (element-type PlaitSafetensor): set of the tensors that were used */
};

/* A parameter to be read. */
typedef struct
{
  PlaitPublished *published;
  const PlaitParameter *parameter;
  const PlaitParameterMapping *mapping;
} TensorRequest;

PlaitPublished *
plait_published_open (const char *path, const char *map, GError **error)
{
  g_autoptr (PlaitPublished) published = g_new0 (PlaitPublished, 1);

  published->used = g_hash_table_new (NULL, NULL);
  published->map = map ? plait_name_map_read (map, error) : NULL;
  if (map && !published->map)
    return NULL;
  published->file = plait_safetensors_open (path, error);
  return published->file ? g_steal_pointer (&published) : NULL;
}

void
plait_published_free (PlaitPublished *published)
{
  if (!published)
    return;
  g_hash_table_unref (published->used);
  plait_name_map_free (published->map);
  plait_safetensors_free (published->file);
  g_free (published);
}

const PlaitNameMap *
plait_published_map (const PlaitPublished *published)
{
  return published->map;
}

/* Sets @shape to the shape of @tensor as a matrix; a vector is one row. FALSE if it has more than two dimensions. */
static gboolean
matrix_shape (const PlaitSafetensor *tensor, gint64 shape[2])
{
  shape[0] = tensor->rank == 2 ? tensor->shape[0] : 1;
  shape[1] = tensor->rank > 0 ? tensor->shape[tensor->rank - 1] : 1;
  return tensor->rank <= 2;
}

static gboolean
misfit (const TensorRequest *request, const PlaitSafetensor *tensor, const char *expected, GError **error)
{
  g_autofree char *shape = plait_safetensor_shape_text (tensor);
  const PlaitTensor value = request->parameter->value;

  return plait_fail (
      error, PLAIT_ERROR_INPUT,
      "%s: the tensor %s of %s has the shape %s, which does not fit the parameter %s [%jd, %jd]; expected %s",
      request->mapping->place, tensor->name, plait_safetensors_path (request->published->file), shape,
      request->parameter->name, value.rows, value.width, expected);
}

/*
 * Functions that map words
 */

/* Returns the row of special token @i in a published vocabulary of @theirs words, or PLAIT_NAME_MAP_NONE. */
static gint64
word_of (const PlaitNameMapWords *words, gint64 theirs, gint64 i)
{
  return words->specials[i] == PLAIT_NAME_MAP_LAST ? theirs - 1 : words->specials[i];
}

/* TRUE if each of @theirs published words becomes one word of a vocabulary of @ours words. */
static gboolean
words_fit (const PlaitNameMapWords *words, gint64 theirs, gint64 ours)
{
  gint64 end = words->words + ours - PLAIT_NAME_MAP_SPECIALS;
  gint64 read = ours - PLAIT_NAME_MAP_SPECIALS;

  for (gint64 i = 0; i < PLAIT_NAME_MAP_SPECIALS; i++)
    {
      gint64 word = word_of (words, theirs, i);

      if (word >= theirs || (word >= words->words && word < end))
        return FALSE;
      read += word != PLAIT_NAME_MAP_NONE;
    }
  return ours >= PLAIT_NAME_MAP_SPECIALS && end <= theirs && read == theirs;
}

/*
 * Functions that read values
 */

/* Reads elements @first .. @first + @n - 1 of @tensor. */
static gboolean
read_values (const TensorRequest *request, const PlaitSafetensor *tensor, gint64 first, gint64 n, PlaitScalar *values,
             GError **error)
{
  g_hash_table_add (request->published->used, (gpointer)tensor);
  return plait_safetensors_read (request->published->file, tensor, first, n, values, error);
}

/* Reads all elements of @tensor. (transfer full) */
static PlaitScalar *
read_whole (const TensorRequest *request, const PlaitSafetensor *tensor, GError **error)
{
  g_autofree PlaitScalar *values
      = plait_try_allocate ((gsize)tensor->elements, sizeof (PlaitScalar), "published weights", error);

  if (!values || !read_values (request, tensor, 0, tensor->elements, values, error))
    return NULL;
  return g_steal_pointer (&values);
}

/* Reads a parameter whose rows are words, or whose single row has an element for each word. Reads special tokens one by
 * one, then all pieces as one block. */
static gboolean
make_of_words (const TensorRequest *request, const PlaitSafetensor *tensor, gint64 there[2], GError **error)
{
  PlaitNameMapWords words = plait_name_map_words (request->published->map);
  PlaitTensor value = request->parameter->value;
  gboolean rows = request->mapping->words == PLAIT_WORD_AXIS_ROWS;
  gint64 theirs = there[rows ? 0 : 1], ours = rows ? value.rows : value.width, width = rows ? value.width : 1;

  if ((rows ? there[1] != value.width : there[0] != 1 || value.rows != 1) || !words_fit (&words, theirs, ours))
    return misfit (request, tensor,
                   "an equal width and number of words, so take the vocabulary with which the weights were trained",
                   error);
  for (gint64 i = 0; i < PLAIT_NAME_MAP_SPECIALS; i++)
    {
      gint64 word = word_of (&words, theirs, i);
      PlaitScalar *to = value.data + i * width;

      for (gint64 k = 0; word == PLAIT_NAME_MAP_NONE && k < width; k++)
        to[k] = (PlaitScalar)request->mapping->fill;
      if (word != PLAIT_NAME_MAP_NONE && !read_values (request, tensor, word * width, width, to, error))
        return FALSE;
    }
  return read_values (request, tensor, words.words * width, (ours - PLAIT_NAME_MAP_SPECIALS) * width,
                      value.data + PLAIT_NAME_MAP_SPECIALS * width, error);
}

/* Reads @rows rows of @tensor, from row mapping->first on, into columns @column .. @column + @width - 1 of the
 * parameter. If mapping->transposed is TRUE and @tensor is a matrix [outputs, inputs], reads its columns in place of
 * rows. */
static gboolean
make_columns (const TensorRequest *request, const PlaitSafetensor *tensor, gint64 rows, gint64 column, gint64 width,
              GError **error)
{
  const PlaitParameterMapping *mapping = request->mapping;
  PlaitTensor value = request->parameter->value;
  gboolean transposed = mapping->transposed && tensor->rank == 2;
  gint64 row_step = transposed ? 1 : width, column_step = transposed ? tensor->shape[1] : 1;
  g_autofree PlaitScalar *from = NULL;

  if (!transposed && width == value.width)
    return read_values (request, tensor, mapping->first * width, rows * width, value.data, error);
  from = read_whole (request, tensor, error);
  if (!from)
    return FALSE;
  for (gint64 row = 0; row < rows; row++)
    for (gint64 k = 0; k < width; k++)
      plait_tensor_row (value, row)[column + k] = from[(mapping->first + row) * row_step + k * column_step];
  return TRUE;
}

static gboolean
make_of_parts (const TensorRequest *request, const PlaitSafetensor *const *parts, guint n, gint64 there[2],
               GError **error)
{
  const PlaitParameterMapping *mapping = request->mapping;
  const PlaitParameter *parameter = request->parameter;
  PlaitTensor value = parameter->value;
  gint64 column = 0;

  for (guint i = 0; i < n; i++)
    {
      gboolean transposed = mapping->transposed && parts[i]->rank == 2;
      gint64 shape[2], rows, width;

      matrix_shape (parts[i], shape);
      rows = shape[transposed] - mapping->first;
      width = shape[!transposed];
      if (parameter->is_positional ? rows < 1 : rows != value.rows)
        return misfit (request, parts[i],
                       mapping->first > 0
                           ? "an equal number of rows (for positions: at least one) after the rows that first= skips"
                           : "an equal number of rows (for positions: at least one)",
                       error);
      if (width > value.width - column)
        return misfit (request, parts[i], "at most as many columns, summed over all tensors of the parameter", error);
      if (!make_columns (request, parts[i], MIN (rows, value.rows), column, width, error))
        return FALSE;
      column += width;
      there[0] = rows;
    }
  there[1] = column;
  return column == value.width || misfit (request, parts[n - 1], "more columns", error);
}

static gboolean
add_row (const TensorRequest *request, const PlaitSafetensor *tensor, gint64 rows, GError **error)
{
  PlaitTensor value = request->parameter->value;
  g_autofree PlaitScalar *row = NULL;

  if (tensor->elements != value.width)
    return misfit (request, tensor, "one row, to add to each row", error);
  row = read_whole (request, tensor, error);
  for (gint64 i = 0; row && i < rows; i++)
    for (gint64 k = 0; k < value.width; k++)
      plait_tensor_row (value, i)[k] += row[k];
  return row != NULL;
}

/*
 * Functions that find tensors
 */

/* Returns the first tensor of @names that the file has, or NULL. */
static const PlaitSafetensor *
find_first (const PlaitPublished *published, char *const *names)
{
  const PlaitSafetensor *found = NULL;

  for (guint i = 0; names[i] && !found; i++)
    found = plait_safetensors_find (published->file, g_strstrip (names[i]));
  return found;
}

/* Returns the first tensor of @names, separated by '|', that the file has. Fails if there is no such tensor, or if it
 * has more than two dimensions. */
static const PlaitSafetensor *
find_any (const TensorRequest *request, const char *names, GError **error)
{
  g_auto (GStrv) any = g_strsplit (names, "|", -1);
  const PlaitSafetensor *found = find_first (request->published, any);
  gint64 shape[2];

  if (!found)
    plait_fail (error, PLAIT_ERROR_INPUT,
                "%s: %s has no tensor %s, from which the parameter %s is made; use the name map for the layout of this "
                "file, or leave the parameter out with train.initialise_leave",
                request->mapping->place, plait_safetensors_path (request->published->file), names,
                request->parameter->name);
  else if (!matrix_shape (found, shape))
    {
      misfit (request, found, "at most two dimensions", error);
      return NULL;
    }
  return found;
}

static PlaitPublishedOutcome
read_mapping (const TensorRequest *request, gint64 there[2], GError **error)
{
  const PlaitParameterMapping *mapping = request->mapping;
  guint n = g_strv_length (mapping->from);
  g_autofree const PlaitSafetensor **parts = g_new0 (const PlaitSafetensor *, n + 1);
  const PlaitSafetensor *plus = NULL;

  for (guint i = 0; i < n; i++)
    {
      g_autoptr (GError) fault = NULL;

      parts[i] = find_any (request, mapping->from[i], &fault);
      if (parts[i])
        continue;
      if (mapping->optional && i == 0)
        return PLAIT_PUBLISHED_ABSENT;
      g_propagate_error (error, g_steal_pointer (&fault));
      return PLAIT_PUBLISHED_FAILED;
    }
  if (mapping->plus && !(plus = find_any (request, mapping->plus, error)))
    return PLAIT_PUBLISHED_FAILED;
  matrix_shape (parts[0], there);
  if (!(mapping->words == PLAIT_WORD_AXIS_NONE ? make_of_parts (request, parts, n, there, error)
                                               : make_of_words (request, parts[0], there, error)))
    return PLAIT_PUBLISHED_FAILED;
  if (plus && !add_row (request, plus, MIN (there[0], request->parameter->value.rows), error))
    return PLAIT_PUBLISHED_FAILED;
  return PLAIT_PUBLISHED_TAKEN;
}

/* Reads the tensor that has the parameter's own name. */
static PlaitPublishedOutcome
read_named (const TensorRequest *request, gint64 there[2], GError **error)
{
  const PlaitParameter *parameter = request->parameter;
  const PlaitSafetensor *tensor = plait_safetensors_find (request->published->file, parameter->name);

  if (!tensor)
    return PLAIT_PUBLISHED_ABSENT;
  if (tensor->rank != 2 || !matrix_shape (tensor, there) || there[1] != parameter->value.width
      || (parameter->is_positional ? there[0] < 1 : there[0] != parameter->value.rows))
    return PLAIT_PUBLISHED_OTHER_SHAPE;
  if (!make_columns (request, tensor, MIN (there[0], parameter->value.rows), 0, there[1], error))
    return PLAIT_PUBLISHED_FAILED;
  return PLAIT_PUBLISHED_TAKEN;
}

PlaitPublishedOutcome
plait_published_read (PlaitPublished *published, const PlaitParameter *parameter, gint64 there[2], GError **error)
{
  g_auto (PlaitParameterMapping) mapping = { 0 };
  TensorRequest request = { published, parameter, &mapping };

  if (!published->map)
    return read_named (&request, there, error);
  if (!plait_name_map_find (published->map, parameter->name, &mapping))
    return PLAIT_PUBLISHED_ABSENT;
  return read_mapping (&request, there, error);
}

/*
 * Functions for tensors of which no parameter was made
 */

/* Returns all values of @tensor as bytes; NULL if they cannot be read. (transfer full) */
static GBytes *
read_bytes (const PlaitPublished *published, const PlaitSafetensor *tensor)
{
  gsize size = sizeof (PlaitScalar) * (gsize)tensor->elements;
  g_autofree PlaitScalar *values
      = plait_try_allocate ((gsize)tensor->elements, sizeof (PlaitScalar), "published weights", NULL);

  if (!values || !plait_safetensors_read (published->file, tensor, 0, tensor->elements, values, NULL))
    return NULL;
  return g_bytes_new_take (g_steal_pointer (&values), size);
}

/* TRUE if @tensor equals another tensor of @names from which a parameter was made, as tied weights do. */
static gboolean
is_copy (const PlaitPublished *published, const PlaitSafetensor *tensor, char *const *names)
{
  for (guint i = 0; names[i]; i++)
    {
      const PlaitSafetensor *other = plait_safetensors_find (published->file, g_strstrip (names[i]));
      g_autoptr (GBytes) here = NULL;
      g_autoptr (GBytes) there = NULL;

      if (!other || other->elements != tensor->elements || !g_hash_table_contains (published->used, other))
        continue;
      here = read_bytes (published, tensor);
      there = read_bytes (published, other);
      if (here && there && g_bytes_equal (here, there))
        return TRUE;
    }
  return FALSE;
}

static gboolean
is_zero (const PlaitPublished *published, const PlaitSafetensor *tensor)
{
  g_autoptr (GBytes) bytes = read_bytes (published, tensor);
  const PlaitScalar *values = bytes ? g_bytes_get_data (bytes, NULL) : NULL;

  for (gint64 i = 0; values && i < tensor->elements; i++)
    if (values[i] != 0)
      return FALSE;
  return values != NULL;
}

/* Returns the first of @uses whose parameter lacks the unused @tensor, by the rules of plait_published_check_unused();
 * NULL if there is none. */
static const PlaitMappedParameter *
find_missed (const PlaitPublished *published, const PlaitSafetensor *tensor, const GArray *uses,
             PlaitPublishedWants wants, gconstpointer data)
{
  for (guint i = 0; i < uses->len; i++)
    {
      const PlaitMappedParameter *use = &g_array_index (uses, PlaitMappedParameter, i);
      g_auto (GStrv) names = g_strsplit (use->names, "|", -1);

      if (find_first (published, names) == tensor && wants (data, tensor->name, use->parameter)
          && !is_copy (published, tensor, names) && !(use->optional && is_zero (published, tensor)))
        return use;
    }
  return NULL;
}

/* Returns a description of @tensor if results depend on it but no parameter was made of it; else NULL. (transfer
 * full) */
static char *
describe_missed (const PlaitPublished *published, const PlaitSafetensor *tensor, PlaitPublishedWants wants,
                 gconstpointer data)
{
  g_autoptr (GArray) uses = plait_name_map_uses (published->map, tensor->name);
  const PlaitMappedParameter *missed = find_missed (published, tensor, uses, wants, data);

  if (plait_name_map_ignores (published->map, tensor->name))
    return NULL;
  if (missed)
    return g_strdup_printf ("%s, which makes %s%s%s%s", tensor->name, missed->parameter, *missed->needs ? " (" : "",
                            missed->needs, *missed->needs ? ")" : "");
  return uses->len == 0 && wants (data, tensor->name, NULL)
             ? g_strdup_printf ("%s, which the map does not name", tensor->name)
             : NULL;
}

char *
plait_published_unused (const PlaitPublished *published, guint max, guint *n)
{
  GString *text = g_string_new (NULL);

  *n = 0;
  for (guint i = 0; i < plait_safetensors_n (published->file); i++)
    {
      const PlaitSafetensor *tensor = plait_safetensors_get (published->file, i);

      if (g_hash_table_contains (published->used, tensor))
        continue;
      if (*n < max)
        g_string_append_printf (text, "%s%.200s", *n > 0 ? ", " : "", tensor->name);
      (*n)++;
    }
  return g_string_free (text, FALSE);
}

gboolean
plait_published_check_unused (const PlaitPublished *published, PlaitPublishedWants wants, gconstpointer data,
                              GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);
  guint n = 0;

  for (guint i = 0; published->map && i < plait_safetensors_n (published->file); i++)
    {
      const PlaitSafetensor *tensor = plait_safetensors_get (published->file, i);
      g_autofree char *missed
          = g_hash_table_contains (published->used, tensor) ? NULL : describe_missed (published, tensor, wants, data);

      if (missed && n < MAX_NAMED)
        g_string_append_printf (text, "%s%.400s", n > 0 ? "; " : "", missed);
      n += missed != NULL;
    }
  return n == 0
         || plait_fail (
             error, PLAIT_ERROR_INPUT,
             "%s: this model takes no parameter from %u of the tensors that the published model uses: %s%s; give this "
             "model the settings of the published model, or list these tensors in train.initialise_leave",
             plait_safetensors_path (published->file), n, text->str, n > MAX_NAMED ? "; ..." : "");
}
