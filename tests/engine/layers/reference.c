/* SPDX-License-Identifier: MIT */
#include "reference.h"

#include <string.h>

#include "text/number.h"

/* Tolerance for comparisons with the reference file, which has twelve digits. */
#ifdef PLAIT_SCALAR_DOUBLE
#define AGREEMENT 1e-9
#else
#define AGREEMENT 5e-5
#endif

#define FILE_NAME "tests/engine/layers/reference-cases.txt"

/* Reads an array whose header line is @header, "NAME ROWS WIDTH". *@rest is the text after the header, and is moved to
 * the end of the array. Returns NULL if @header is not a header. (transfer full) */
static ReferenceArray *
read_array (const char *header, char **rest)
{
  g_auto (GStrv) words = g_strsplit (header, " ", -1);
  ReferenceArray *array;
  gint64 rows, width;
  double *numbers;

  if (g_strv_length (words) != 3 || !plait_parse_integer (words[1], &rows) || !plait_parse_integer (words[2], &width))
    return NULL;
  numbers = g_new (double, rows *width + 1);
  for (gint64 i = 0; i < rows * width; i++)
    {
      char *end;

      numbers[i] = g_ascii_strtod (*rest, &end);
      g_assert_true (end > *rest && *end == ((i + 1) % width > 0 ? ' ' : '\n'));
      *rest = end + 1;
    }
  array = g_new (ReferenceArray, 1);
  *array = (ReferenceArray){ (int)rows, (int)width, numbers };
  return array;
}

/* Returns all arrays of the file, as a table from name to ReferenceArray. (transfer full) */
static GHashTable *
load (void)
{
  GHashTable *arrays = g_hash_table_new (g_str_hash, g_str_equal);
  const char *path = plait_test_source_path (FILE_NAME);
  g_autofree char *text = NULL;
  char *rest, *end;

  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  for (rest = text; (end = strchr (rest, '\n'));)
    {
      g_autofree char *line = g_strndup (rest, (gsize)(end - rest));
      ReferenceArray *array;

      rest = end + 1;
      if (line[0] == '#')
        continue;
      array = read_array (line, &rest);
      if (!array)
        g_error ("%s: \"%s\" is not a header of an array", path, line);
      g_hash_table_insert (arrays, g_strndup (line, strcspn (line, " ")), array);
    }
  return arrays;
}

const ReferenceArray *
reference (const char *the_case, const char *name)
{
  static GHashTable *arrays; /* never freed */
  g_autofree char *whole = g_strdup_printf ("%s/%s", the_case, name);
  const ReferenceArray *array;

  if (!arrays)
    arrays = load ();
  array = g_hash_table_lookup (arrays, whole);
  if (!array)
    g_error ("there is no array %s in " FILE_NAME, whole);
  return array;
}

static const ReferenceArray *
reference_of (const char *the_case, const char *kind, const char *name)
{
  return reference (the_case, plait_test_format ("%s/%s", kind, name));
}

PlaitNode *
reference_input (Bench *bench, const char *the_case, const char *name)
{
  const ReferenceArray *array = reference_of (the_case, "inputs", name);

  return bench_leaf (bench, array->rows, array->width, array->numbers);
}

void
reference_set (PlaitParameter *parameter, gint64 column, const char *the_case, const char *name)
{
  const ReferenceArray *array;

  if (!parameter)
    return;
  array = reference_of (the_case, "weights", name);
  g_assert (array->rows == parameter->value.rows && column + array->width <= parameter->value.width);
  for (int row = 0; row < array->rows; row++)
    for (int i = 0; i < array->width; i++)
      plait_tensor_row (parameter->value, row)[column + i] = (PlaitScalar)array->numbers[row * array->width + i];
}

void
reference_check_gradient (const PlaitParameter *parameter, gint64 column, const char *the_case, const char *name)
{
  const ReferenceArray *array;
  g_autofree char *what = g_strdup_printf ("gradient of %s", name);

  if (!parameter)
    return;
  array = reference_of (the_case, "gradients/weights", name);
  check_tensor (what, plait_tensor_columns (parameter->gradient, column, array->width), array->numbers, AGREEMENT);
}

/* Returns the block of @n rows of @tensor that begins at row @row and column @column and is as wide as @array. */
static PlaitTensor
block_of (PlaitTensor tensor, gint64 row, gint64 column, const ReferenceArray *array, gint64 from, gint64 n)
{
  g_assert (from + n <= array->rows && row + n <= tensor.rows && column + array->width <= tensor.width);
  return plait_tensor_rows (plait_tensor_columns (tensor, column, array->width), row, n);
}

void
reference_set_block (PlaitParameter *parameter, gint64 row, gint64 column, const char *the_case, const char *name,
                     gint64 from, gint64 n)
{
  const ReferenceArray *array = reference_of (the_case, "weights", name);
  PlaitTensor block = block_of (parameter->value, row, column, array, from, n);

  for (gint64 r = 0; r < n; r++)
    for (gint64 i = 0; i < block.width; i++)
      plait_tensor_row (block, r)[i] = (PlaitScalar)array->numbers[(from + r) * array->width + i];
}

void
reference_check_block (const PlaitParameter *parameter, gint64 row, gint64 column, const char *the_case,
                       const char *name, gint64 from, gint64 n)
{
  const ReferenceArray *array = reference_of (the_case, "gradients/weights", name);
  g_autofree char *what = g_strdup_printf ("gradient of %s from row %d", name, (int)from);

  check_tensor (what, block_of (parameter->gradient, row, column, array, from, n), array->numbers + from * array->width,
                AGREEMENT);
}

typedef void (*Visit) (PlaitParameter *parameter, gint64 column, const char *the_case, const char *name);

static void
check_visit (PlaitParameter *parameter, gint64 column, const char *the_case, const char *name)
{
  reference_check_gradient (parameter, column, the_case, name);
}

static void
visit (Visit function, PlaitParameter *parameter, gint64 column, const char *the_case, const char *name,
       const char *part)
{
  g_autofree char *path = !name ? g_strdup (part) : g_strdup_printf ("%s/%s", name, part);

  function (parameter, column, the_case, path);
}

static void
visit_attention (Visit function, const PlaitAttention *attention, const char *the_case, const char *name)
{
  gint64 width = attention->declaration.width;
  gboolean self = attention->query_key_value.weight != NULL;
  PlaitLinear query = self ? attention->query_key_value : attention->query;
  PlaitLinear key_value = self ? attention->query_key_value : attention->key_value[0];
  gint64 keys = self ? width : 0;

  visit (function, query.weight, 0, the_case, name, "Wq");
  visit (function, query.bias, 0, the_case, name, "bq");
  visit (function, key_value.weight, keys, the_case, name, "Wk");
  visit (function, key_value.bias, keys, the_case, name, "bk");
  visit (function, key_value.weight, keys + width, the_case, name, "Wv");
  visit (function, key_value.bias, keys + width, the_case, name, "bv");
  visit (function, attention->output.weight, 0, the_case, name, "Wo");
  visit (function, attention->output.bias, 0, the_case, name, "bo");
}

void
reference_set_attention (const PlaitAttention *attention, const char *the_case, const char *name)
{
  visit_attention (reference_set, attention, the_case, name);
}

void
reference_check_attention (const PlaitAttention *attention, const char *the_case, const char *name)
{
  visit_attention (check_visit, attention, the_case, name);
}

void
reference_set_norm (const PlaitNorm *norm, const char *the_case, const char *name)
{
  visit (reference_set, norm->gain, 0, the_case, name, "g");
  visit (reference_set, norm->bias, 0, the_case, name, "b");
}

void
reference_check_norm (const PlaitNorm *norm, const char *the_case, const char *name)
{
  visit (check_visit, norm->gain, 0, the_case, name, "g");
  visit (check_visit, norm->bias, 0, the_case, name, "b");
}

void
reference_go_back (Bench *bench, PlaitNode *output, const char *the_case)
{
  check_tensor ("y", output->value, reference (the_case, "outputs/y")->numbers, AGREEMENT);
  plait_tape_backward (bench->tape, bench_weigh (bench, output, reference (the_case, "cotangents/y")->numbers));
}

void
reference_check_input (const PlaitNode *input, const char *the_case, const char *name)
{
  g_autofree char *what = g_strdup_printf ("gradient of %s", name);

  check_tensor (what, input->gradient, reference_of (the_case, "gradients/inputs", name)->numbers, AGREEMENT);
}

PlaitNode *
reference_weigh (Bench *bench, PlaitNode *x, const char *the_case, const char *name, gint64 first)
{
  const ReferenceArray *array = reference_of (the_case, "cotangents", name);

  g_assert (x->value.width == array->width && first + x->value.rows <= array->rows);
  return bench_weigh (bench, x, array->numbers + first * array->width);
}

void
reference_check_output (PlaitScalar *numbers, const char *the_case, const char *name)
{
  const ReferenceArray *array = reference_of (the_case, "outputs", name);

  check_tensor (name, plait_tensor (numbers, array->rows, array->width), array->numbers, AGREEMENT);
}
