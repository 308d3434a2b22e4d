/* SPDX-License-Identifier: MIT */
#include "foreign/safetensors.h"

#include "files.h"
#include "harness.h"
#include "sample-file.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

/* Writes a safetensors file with @header, @length as the stated length of the header (0: the true length), and @n
 * values after it. */
static void
make (const char *path, const char *header, guint64 length, const void *values, gsize n)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  guint64 told = GUINT64_TO_LE (length > 0 ? length : strlen (header));

  g_byte_array_append (bytes, (const guint8 *)&told, sizeof told);
  g_byte_array_append (bytes, (const guint8 *)header, (guint)strlen (header));
  if (n > 0)
    g_byte_array_append (bytes, values, (guint)n);
  plait_test_write_bytes (path, (const char *)bytes->data, bytes->len);
}

/* Checks that the file @path is refused with one sentence, which begins with the path and contains @part. */
static void
check_refused (const char *path, const char *part)
{
  GError *error = NULL;
  PlaitSafetensors *file = plait_safetensors_open (path, &error);

  CHECK (!file);
  plait_safetensors_free (file);
  REQUIRE (error != NULL);
  CHECK (g_str_has_prefix (error->message, path));
  CHECK (!strchr (error->message, '\n'));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, part);
}

#define TENSOR(name, type, shape, places)                                                                              \
  "\"" name "\":{\"dtype\":\"" type "\",\"shape\":" shape ",\"data_offsets\":" places "}"

/* Refuses attacks that the format's repository lists, and inputs that its own reader refuses. */
TEST_CASE (safetensors, refuses_headers_that_lie)
{
  static const guint8 values[16] = { 0 };
  const struct
  {
    const char *header, *part;
  } cases[] = {
    { " {}", "does not begin with '{'" },
    { "[]", "does not begin with '{'" },
    { "{\"a\":\"\xff\"}", "is not valid JSON (unable to decode byte 0xff" },
    { "{", "is not valid JSON (string or '}' expected" },
    { "{}x", "end of file expected" },
    { "{\"a\":1}", "tensor \"a\" is described by other members than" },
    { "{\"a\":{}}", "\"a\" is described by other members than" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[4]}}", "\"a\" is described by other members than" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16],\"more\":1}}",
      "other members than dtype, shape and data_offsets" },
    { "{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F64\"}}", "duplicate object key" },
    { "{" TENSOR ("a", "F32", "[2]", "[0,8]") "," TENSOR ("a", "F32", "[2]", "[8,16]") "}", "duplicate object key" },
    { "{\"__metadata__\":{\"a\":1}," TENSOR ("a", "F32", "[4]", "[0,16]") "}",
      "__metadata__ is not a JSON object of strings" },
    { "{\"__metadata__\":[]," TENSOR ("a", "F32", "[4]", "[0,16]") "}",
      "__metadata__ is not a JSON object of strings" },
    { "{\"__metadata__\":{\"a\":\"b\",\"a\":\"c\"}," TENSOR ("a", "F32", "[4]", "[0,16]") "}", "duplicate object key" },
    { "{" TENSOR ("a", "F33", "[4]", "[0,16]") "}", "unknown type \"F33\"" },
    { "{" TENSOR ("a", "f32", "[4]", "[0,16]") "}", "unknown type \"f32\"" },
    { "{" TENSOR ("a", "F32", "[4]", "[0]") "}", "data_offsets that are not two integers" },
    { "{" TENSOR ("a", "F32", "[4]", "[]") "}", "data_offsets that are not two integers" },
    { "{" TENSOR ("a", "F32", "[4]", "[0,16,16]") "}", "data_offsets that are not two integers" },
    { "{" TENSOR ("a", "F32", "[4]", "[-16,0]") "}", "has the invalid range" },
    { "{" TENSOR ("a", "F32", "[4]", "[16,0]") "}", "has the invalid range" },
    { "{" TENSOR ("a", "F32", "[4]", "[0.0,16]") "}", "that are not two integers" },
    { "{" TENSOR ("a", "F32", "[-4]", "[0,16]") "}", "a dimension that is not an integer" },
    { "{" TENSOR ("a", "F32", "[4.0]", "[0,16]") "}", "a dimension that is not an integer" },
    { "{" TENSOR ("a", "F32", "[1,1,1,1,1,1,1,1,4]", "[0,16]") "}", "a shape that is not a list of at most 8 sizes" },
    /* Ranges of bytes that do not match type and shape. */
    { "{" TENSOR ("a", "F32", "[3]", "[0,16]") "}", "has 16 bytes, but its 3 elements of type F32 take 96 bits" },
    { "{" TENSOR ("a", "F64", "[4]", "[0,16]") "}", "has 16 bytes, but its 4 elements of type F64 take 256 bits" },
    { "{" TENSOR ("a", "F4", "[31]", "[0,16]") "}", "take 124 bits" },
    { "{" TENSOR ("a", "F32", "[0]", "[0,16]") "}", "its 0 elements" },
    { "{" TENSOR ("a", "F32", "[]", "[0,16]") "}", "its 1 elements" },
    /* Shapes whose product overflows, to zero or to the number of bytes in the file. */
    { "{" TENSOR ("a", "F32", "[4294967296,4294967296]", "[0,16]") "}", "2^63 or more elements" },
    { "{" TENSOR ("a", "F32", "[4611686018427387908,4]", "[0,16]") "}", "2^63 or more elements" },
    { "{" TENSOR ("a", "F32", "[18446744073709551620]", "[0,16]") "}", "too big integer" },
    { "{" TENSOR ("a", "F32", "[9223372036854775807]", "[0,16]") "}", "2^60 or more bytes" },
    { "{" TENSOR ("a", "F32", "[576460752303423492]", "[0,16]") "}", "2^60 or more bytes" },
    /* Ranges that overlap, leave holes, or lie outside the file. */
    { "{" TENSOR ("a", "F32", "[4]", "[0,16]") "," TENSOR ("b", "F32", "[4]", "[0,16]") "}",
      "\"b\" begins at byte 0 of the values, but the previous tensor ends at byte 16" },
    { "{" TENSOR ("a", "F32", "[3]", "[0,12]") "," TENSOR ("b", "F32", "[2]", "[8,16]") "}", "begins at byte 8" },
    { "{" TENSOR ("a", "F32", "[1]", "[0,4]") "," TENSOR ("b", "F32", "[2]", "[8,16]") "}", "begins at byte 8" },
    { "{" TENSOR ("a", "F32", "[3]", "[4,16]") "}",
      "begins at byte 4 of the values, but the previous tensor ends at byte 0" },
    { "{" TENSOR ("a", "F32", "[3]", "[0,12]") "}", "have 12 bytes, but 16 are after" },
    { "{" TENSOR ("a", "F32", "[5]", "[0,20]") "}", "have 20 bytes, but 16 are after" },
    { "{" TENSOR ("a", "F32", "[4]", "[16,32]") "}", "begins at byte 16" },
    { "{}", "have 0 bytes, but 16 are after" },
  };
  const char *path = plait_test_path ("weights.safetensors");

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      CONTEXT ("%s", cases[i].header);
      make (path, cases[i].header, 0, values, sizeof values);
      check_refused (path, cases[i].part);
    }
}

TEST_CASE (safetensors, refuses_lengths_that_lie)
{
  const char *path = plait_test_path ("weights.safetensors");

  make (path, "{}", G_MAXUINT64, NULL, 0);
  check_refused (path, "claims a header of 18446744073709551615 bytes");
  make (path, "{}", 100000001, NULL, 0);
  check_refused (path, "claims a header of 100000001 bytes, which is more than 100000000");
  make (path, "{}", 3, NULL, 0);
  check_refused (path, "claims a header of 3 bytes");
  make (path, "", 0, NULL, 0);
  check_refused (path, "does not begin with '{'");
  plait_test_write_bytes (path, "\2\0\0\0\0\0\0", 7);
  check_refused (path, "has 7 bytes, too few");
  check_refused (plait_test_folder (), "is a folder; expected a safetensors file");
  check_refused (plait_test_path ("absent.safetensors"), "cannot be opened");
}

#define ONE(name) "{" TENSOR (name, "F32", "[1]", "[0,4]") "}"

/* Writes the files part-1 (a tensor with the value 1) and part-2 (value 2), and an index with the text @index. Returns
 * the path of the index. */
static const char *
make_parts (const char *first, const char *second, const char *index)
{
  static const float values[] = { 1, 2 };
  const char *one = plait_test_path ("part-1.safetensors"), *two = plait_test_path ("part-2.safetensors");

  make (one, first, 0, &values[0], sizeof *values);
  make (two, second, 0, &values[1], sizeof *values);
  const char *path = plait_test_write ("model.safetensors.index.json", index);
  return path;
}

TEST_CASE (safetensors, reads_parts_by_their_index)
{
  const char *path = make_parts (ONE ("b"), ONE ("a"),
                                 "{\"metadata\":{\"total_size\":8},\"weight_map\":{\"a\":\"part-2.safetensors\",\"b\":"
                                 "\"part-1.safetensors\"}}");
  g_autoptr (PlaitSafetensors) file = plait_safetensors_open (path, NO_ERROR);
  g_auto (GStrv) parts = plait_safetensors_shards (path, NO_ERROR);
  static const char *const names[] = { "b", "a" };

  REQUIRE (file && parts);
  CHECK_STRING (plait_safetensors_path (file), path);
  CHECK_INT (g_strv_length (parts), 2);
  CHECK (g_str_has_suffix (parts[0], "/part-1.safetensors"));
  REQUIRE (plait_safetensors_n (file) == 2);
  for (guint i = 0; i < 2; i++)
    {
      const PlaitSafetensor *tensor = plait_safetensors_get (file, i);
      PlaitScalar value = 0;

      CHECK_STRING (tensor->name, names[i]);
      CHECK (plait_safetensors_find (file, names[i]) == tensor);
      CHECK (plait_safetensors_read (file, tensor, 0, 1, &value, NO_ERROR));
      CHECK_NEAR (value, i + 1, 0);
    }
}

TEST_CASE (safetensors, refuses_an_index_that_lies)
{
  static const char good[] = ONE ("a"), other[] = ONE ("b");
  static const struct
  {
    const char *first, *second, *index, *part;
  } cases[] = {
    { good, other, "[]", "is JSON, but not an object" },
    { good, other, "{\"weight_map\":{\"a\":\"\xff\"}}", "unable to decode byte 0xff" },
    { good, other, "{}", "has 0 parts in its weight_map; expected 1 to 500" },
    { good, other, "{\"weight_map\":[]}", "has 0 parts in its weight_map" },
    { good, other, "{\"weight_map\":{}}", "has 0 parts in its weight_map" },
    { good, other, "{\"weight_map\":{\"a\":1}}",
      "weight_map puts tensor \"a\" into \"\"; expected the name of a safetensors file in the folder of the index" },
    { good, other, "{\"weight_map\":{\"a\":\"../part-1.safetensors\"}}", "into \"../part-1.safetensors\"; expected" },
    { good, other, "{\"weight_map\":{\"a\":\"/tmp/part-1.safetensors\"}}",
      "into \"/tmp/part-1.safetensors\"; expected" },
    { good, other, "{\"weight_map\":{\"a\":\"part-1.bin\"}}", "into \"part-1.bin\"; expected" },
    { good, other, "{\"weight_map\":{\"a\":\"..\"}}", "into \"..\"; expected" },
    { good, other, "{\"weight_map\":{\"a\":\"part-1.safetensors\",\"a\":\"part-2.safetensors\"}}",
      "duplicate object key" },
    { good, other, "{\"weight_map\":{\"a\":\"part-3.safetensors\"}}", "part-3.safetensors: cannot be opened (" },
    { good, good, "{\"weight_map\":{\"a\":\"part-1.safetensors\",\"b\":\"part-2.safetensors\"}}",
      "part-2.safetensors: tensor \"a\" is also in " },
    { good, other, "{\"weight_map\":{\"a\":\"part-2.safetensors\",\"b\":\"part-1.safetensors\"}}",
      "tensor \"a\" is in part-1.safetensors, but weight_map puts it into part-2.safetensors; copy the index and all "
      "parts of the model again" },
    { good, other, "{\"weight_map\":{\"c\":\"part-1.safetensors\"}}",
      "tensor \"a\" is in part-1.safetensors, but weight_map puts it into no file" },
    { good, other, "{\"weight_map\":{\"a\":\"part-1.safetensors\",\"c\":\"part-1.safetensors\"}}",
      "tensor \"c\" is not in part-1.safetensors, where weight_map puts it" },
    { "{}", other, "{\"weight_map\":{\"a\":\"part-1.safetensors\"}}",
      "part-1.safetensors: its tensors have 0 bytes, but 4" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const char *path = make_parts (cases[i].first, cases[i].second, cases[i].index);
      CONTEXT ("%s", cases[i].index);

      check_refused (path, cases[i].part);
    }
}

/* Refuses an index that is deeply nested, very long, or has more parts than can be open. */
TEST_CASE (safetensors, refuses_an_index_that_is_too_much)
{
  g_autoptr (GString) many = g_string_new ("{\"weight_map\":{");
  g_autoptr (GString) deep = g_string_new ("{\"weight_map\":");

  for (int i = 0; i < 501; i++)
    g_string_append_printf (many, "%s\"t%d\":\"part-%d.safetensors\"", i > 0 ? "," : "", i, i);
  g_string_append (many, "}}");
  for (int i = 0; i < 100000; i++)
    g_string_append_c (deep, '[');
  const char *path = make_parts (ONE ("a"), ONE ("b"), many->str);
  check_refused (path, "has 501 parts in its weight_map; expected 1 to 500");
  path = make_parts (ONE ("a"), ONE ("b"), deep->str);
  check_refused (path, "maximum parsing depth reached");
}

/* If the user names one part, or a whole file that does not exist, the message suggests the index. */
TEST_CASE (safetensors, names_the_index_for_one_of_its_parts)
{
  static const char *const names[] = { "model-00001-of-00002.safetensors", "model.safetensors" };
  static const char *const parts[]
      = { "is one of several parts of a model; name the index of all parts, ",
          "does not exist, but an index of its parts does; name the index of all parts, " };
  static const float value = 1;

  for (gsize i = 0; i < G_N_ELEMENTS (names); i++)
    {
      const char *path = plait_test_path (names[i]), *index = plait_test_path ("model.safetensors.index.json");
      g_autoptr (GError) error = NULL;

      if (i == 0)
        make (path, ONE ("a"), 0, &value, sizeof value);
      g_unlink (index);
      g_autoptr (PlaitSafetensors) alone = plait_safetensors_open (path, &error);
      CHECK (!alone == (i > 0));
      plait_test_write (index, "{}");
      check_refused (path, parts[i]);
    }
}

TEST_CASE (safetensors, reads_all_types_of_weights)
{
  static const guint8 values[] = {
    0,    0,    0xc0, 0x3f, 1, 0,    0,    0,    /* F32: 1.5, and the smallest denormal number */
    0,    0,    0,    0,    0, 0,    0xf8, 0xbf, /* F64: -1.5 */
    0,    0x3e, 1,    0,    0, 0x84, 0xff, 0x7b, /* F16: 1.5, 2^-24, -2^-14 (1 + 0 / 1024), 65504 */
    0xc0, 0x3f, 0,    0x80,                      /* BF16: 1.5, -0 */
    1,    0,    0,    0,    0, 0,    0,    0,    /* I64: 1 */
  };
  static const char header[]
      = "{\"__metadata__\":{\"format\":\"pt\"}," TENSOR ("d", "BF16", "[2]", "[24,28]") "," TENSOR (
          "e", "I64", "[]",
          "[28,36]") "," TENSOR ("a", "F32", "[1,2]",
                                 "[0,8]") "," TENSOR ("none", "F16", "[3,0]",
                                                      "[16,16]") "," TENSOR ("b", "F64", "[]",
                                                                             "[8,16]") "," TENSOR ("c", "F16", "[2,2]",
                                                                                                   "[16,24]") "}   ";
  static const double expected[] = { 1.5, 1.40129846432481707e-45, -1.5, 1.5, 0x1p-24, -0x1p-14, 65504, 1.5, 0 };
  const char *path = plait_test_path ("weights.safetensors");
  GError *error = NULL;
  PlaitScalar read[4];
  guint seen = 0;

  make (path, header, 0, values, sizeof values);
  g_autoptr (PlaitSafetensors) file = plait_safetensors_open (path, NO_ERROR);
  REQUIRE (file != NULL);
  CHECK_INT (plait_safetensors_n (file), 6);
  for (guint i = 0; i < 5; i++)
    {
      const PlaitSafetensor *tensor = plait_safetensors_get (file, i);

      CONTEXT ("%s", tensor->name);
      CHECK (plait_safetensors_find (file, tensor->name) == tensor);
      CHECK (plait_safetensors_read (file, tensor, 0, tensor->elements, read, NO_ERROR));
      for (gint64 k = 0; k < tensor->elements; k++)
        CHECK_NEAR (read[k], (PlaitScalar)expected[seen++], 0);
    }
  CHECK_INT (seen, G_N_ELEMENTS (expected));
  CHECK (plait_safetensors_read (file, plait_safetensors_find (file, "c"), 3, 1, read, &error));
  CHECK_NEAR (read[0], 65504, 0);
  CHECK (!plait_safetensors_read (file, plait_safetensors_find (file, "e"), 0, 1, read, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "tensor \"e\" is of type I64, expected F64, F32, F16 or BF16");
  CHECK (!plait_safetensors_find (file, "f"));
  g_autofree char *shape = plait_safetensor_shape_text (plait_safetensors_find (file, "c"));
  CHECK_STRING (shape, "[2, 2]");
}

TEST_CASE (safetensors, refuses_values_that_are_no_numbers)
{
  static const guint8 values[] = { 0, 0x3c, 0, 0x7c, 0, 0x7e }; /* F16: 1, infinity, NaN */
  const char *path = plait_test_path ("weights.safetensors");
  GError *error = NULL;
  PlaitScalar read[3];

  make (path, "{" TENSOR ("a", "F16", "[3]", "[0,6]") "}", 0, values, sizeof values);
  g_autoptr (PlaitSafetensors) file = plait_safetensors_open (path, NO_ERROR);
  REQUIRE (file != NULL);
  CHECK (plait_safetensors_read (file, plait_safetensors_get (file, 0), 0, 1, read, &error));
  for (gint64 i = 1; i < 3; i++)
    {
      CHECK (!plait_safetensors_read (file, plait_safetensors_get (file, 0), 0, i + 1, read, &error));
      CHECK_ERROR (error, PLAIT_ERROR_INPUT, "undefined, infinite or too large value in element 1");
    }
}

/* The file is cut short while it is open. If it were mapped into memory, the process would crash here. */
TEST_CASE (safetensors, tells_that_a_file_was_cut_short_meanwhile)
{
  const char *path = plait_test_path ("weights.safetensors");
  g_autofree guint8 *values = g_malloc0 (1 << 18);
  g_autofree PlaitScalar *read = g_new (PlaitScalar, 1 << 16);
  GError *error = NULL;

  make (path, "{" TENSOR ("a", "F32", "[65536]", "[0,262144]") "}", 0, values, 1 << 18);
  g_autoptr (PlaitSafetensors) file = plait_safetensors_open (path, NO_ERROR);
  REQUIRE (file != NULL);
  REQUIRE (truncate (path, 100000) == 0);
  CHECK (!plait_safetensors_read (file, plait_safetensors_get (file, 0), 0, 1 << 16, read, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "ends at byte 100000: it was cut short");
}

TEST_CASE (safetensors, reads_back_what_it_writes)
{
  const char *path = plait_test_path ("weights.safetensors");
  const char *again = plait_test_path ("again.safetensors");
  PlaitScalar values[6] = { 1, -0.0, (PlaitScalar)0.1, (PlaitScalar)1e-30, -3, (PlaitScalar)1e30 }, read[6];
  const PlaitNamedTensor tensors[] = { { "a/\"b\"", plait_tensor (values, 2, 3) },
                                       { "ž", plait_tensor_columns (plait_tensor (values, 2, 3), 1, 2) } };
  const char *const metadata[] = { "format", "plait", "lines", "a\nb", NULL };
  GError *error = NULL;

  CHECK (plait_safetensors_write (path, tensors, 2, metadata, NO_ERROR));
  CHECK (plait_safetensors_write (again, tensors, 2, metadata, NO_ERROR));
  g_autoptr (PlaitSafetensors) file = plait_safetensors_open (path, NO_ERROR);
  REQUIRE (file != NULL);
  const PlaitSafetensor *tensor = plait_safetensors_find (file, "a/\"b\"");
  REQUIRE (tensor != NULL);
  CHECK_INT (tensor->begin, 0);
  CHECK (plait_safetensors_read (file, tensor, 0, 6, read, &error));
  CHECK (memcmp (read, values, sizeof values) == 0);
  tensor = plait_safetensors_find (file, "ž");
  REQUIRE (tensor != NULL);
  CHECK (plait_safetensors_read (file, tensor, 0, 4, read, &error));
  CHECK_NEAR (read[0], values[1], 0);
  CHECK_NEAR (read[2], values[4], 0);
  CHECK_NEAR (read[3], values[5], 0);
  g_autoptr (GBytes) first = plait_test_read (path);
  g_autoptr (GBytes) second = plait_test_read (again);
  CHECK (g_bytes_equal (first, second));
  CHECK_INT ((gint64)(g_bytes_get_size (first) - 10 * sizeof (PlaitScalar)) % 8, 0);
}
