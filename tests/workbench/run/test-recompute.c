/* SPDX-License-Identifier: MIT */
#include "harness.h"
#include "runs.h"

#include <string.h>

/* Tests that recomputing layers in the backward pass does not change results. */

static void
check_same_training (PlaitStore *first, PlaitStore *second)
{
  static const char *const arrays[]
      = { "/checkpoint/last/parameters/decoder/layer/0/feed_forward/inner/weight",
          "/checkpoint/last/parameters/embedding/shared/table", "/training/updates/loss" };
  g_autofree char *key = first ? plait_store_get_string (first, "/", "key", NULL) : NULL;
  g_autofree char *other_key = second ? plait_store_get_string (second, "/", "key", NULL) : NULL;

  CHECK (key != NULL);
  CHECK_STRING (other_key, key);
  for (guint i = 0; first && second && i < G_N_ELEMENTS (arrays); i++)
    {
      gint64 n = 0, m = 0;
      g_autofree double *a = plait_store_read_array (first, arrays[i], PLAIT_STORE_DOUBLE, 1 << 20, &n, NULL);
      g_autofree double *b = plait_store_read_array (second, arrays[i], PLAIT_STORE_DOUBLE, 1 << 20, &m, NULL);
      CONTEXT ("%s", arrays[i]);

      CHECK (a && b && n > 0 && n == m && memcmp (a, b, (gsize)n * sizeof *a) == 0);
    }
}

static void
check_same (const char *const *more)
{
  const char *path = test_write_experiment ("tiny", NULL);
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  g_auto (GStrv) again = NULL;

  g_strv_builder_addv (builder, (const char **)more);
  g_strv_builder_add (builder, "train.recompute=layers");
  again = g_strv_builder_end (builder);
  g_autoptr (PlaitStore) first = test_run_open (path, more, "kept.h5");
  g_autoptr (PlaitStore) second = test_run_open (path, (const char *const *)again, "again.h5");

  check_same_training (first, second);
}

TEST_CASE (recompute, trains_to_the_same_bits)
{
  check_same ((const char *[]){ "decoder.norm=post", "source.a.activation=gelu", NULL });
}

/* Training with emulated bfloat16, shards, accumulated batches, and attention that depends on the previous step through
 * coverage. */
TEST_CASE (recompute, trains_to_the_same_bits_in_shards_with_coverage)
{
  check_same ((const char *[]){ "train.shards=2", "train.accumulate=2", "train.precision=bfloat16_emulated",
                                "decoder.coverage=word", NULL });
}

/* The output reads contexts and attention of the last cross-attention, so that layer is not recomputed. */
TEST_CASE (recompute, trains_to_the_same_bits_with_a_pointer)
{
  check_same ((const char *[]){ "decoder.output=pointer", "decoder.layers=3", NULL });
}

TEST_CASE (recompute, a_run_goes_on_without)
{
  static const char *const whole[] = { "train.updates=20", "train.validate_every=10", NULL };
  static const char *const begun[] = { "train.updates=10", "train.validate_every=10", "train.recompute=layers", NULL };
  const char *path = test_write_experiment ("tiny", NULL);
  g_autoptr (PlaitStore) first = test_run_open (path, whole, "whole.h5");
  g_autoptr (PlaitStore) part = test_run_open (path, begun, "parts.h5");
  const char *output = plait_test_path ("parts.h5");
  g_autoptr (PlaitStore) second = NULL;

  g_clear_pointer (&part, plait_store_free);
  CHECK (test_run_with (path, whole, output, TRUE, NULL, NO_ERROR));
  second = plait_store_open (output, NO_ERROR);
  check_same_training (first, second);
}
