/* SPDX-License-Identifier: MIT */
#include "store/ctranslate2.h"

#include "harness.h"
#include "sample.h"

#include <string.h>

/* The bytes that ctranslate2/specs/model_spec.py writes for the same. */
TEST_CASE (ctranslate2, writes_the_bytes_of_its_own_converter)
{
  static const char expected[] = "\6\0\0\0"                /* binary version */
                                 "\x10\0TransformerSpec\0" /* what it is */
                                 "\7\0\0\0"                /* of which revision */
                                 "\5\0\0\0"                /* variables */
                                 "\2\0a\0\0\1\1\0\0\0\xfd"
                                 "\2\0b\0\0\2\2\0\0\0\xff\xff"
                                 "\2\0c\0\0\0\4\0\0\0\0\0\x80\x40"
                                 "\4\0d/e\0\2\2\0\0\0\2\0\0\0\0\x10\0\0\0" /* [[1, 3], [2, 4]] */
                                 "\0\0\x80\x3f\0\0\x40\x40\0\0\0\x40\0\0\x80\x40"
                                 "\2\0f\0\1\2\0\0\0\0\x08\0\0\0\0\0\x80\x3f\0\0\0\x40"
                                 "\1\0\0\0" /* second names */
                                 "\2\0g\0\4\0d/e";
  g_autofree char *path = plait_test_path ("model.bin");
  PlaitScalar values[] = { 1, 2, 3, 4 };
  const PlaitCtranslate2Variable variables[] = {
    { .name = "a", .type = PLAIT_CTRANSLATE2_INT8, .number = -3 },
    { .name = "b", .type = PLAIT_CTRANSLATE2_INT16, .number = -1 },
    { .name = "c", .type = PLAIT_CTRANSLATE2_FLOAT32, .number = 4 },
    { .name = "d/e", .rank = 2, .value = plait_tensor (values, 2, 2), .transposed = TRUE },
    { .name = "f", .rank = 1, .value = plait_tensor (values, 1, 2) },
    { .name = "g", .same_as = "d/e" },
  };
  GError *error = NULL;

  CHECK (plait_ctranslate2_write (variables, G_N_ELEMENTS (variables), path, &error));
  CHECK_NO_ERROR (error);
  g_autoptr (GBytes) bytes = plait_test_load (path);
  gsize size;
  const char *data = g_bytes_get_data (bytes, &size);
  CHECK_INT (size, sizeof expected);
  CHECK (size == sizeof expected && memcmp (data, expected, size) == 0);
}

TEST_CASE (ctranslate2, refuses_what_its_sizes_cannot_tell)
{
  g_autofree char *path = plait_test_path ("large.bin");
  const PlaitCtranslate2Variable variable
      = { .name = "d/e", .rank = 2, .value = plait_tensor (NULL, 1 << 15, 1 << 15) };
  GError *error = NULL;

  CHECK (!plait_ctranslate2_write (&variable, 1, path, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "d/e has 4 GiB or more");
  CHECK (!g_file_test (path, G_FILE_TEST_EXISTS));
}
