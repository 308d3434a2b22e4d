/* SPDX-License-Identifier: MIT */
#include "call.h"
#include "experiments.h"
#include "files.h"
#include "harness.h"

#include <string.h>

#include "foreign/feature.h"
#include "foreign/safetensors.h"
#include "hdf5/store.h"

/* Tests of plait encode. */

#define DATA                                                                                                           \
  "[experiment]\nseed=3\n[data]\nvocabulary_type=words\ntarget=t\nempty=missing\ntrain.a=%s\ntrain.t=t\ntest.a=%s\n"   \
  "test.t=t\n"
#define REST                                                                                                           \
  "[train]\nbatch=4\nepochs=3\nlearning_rate=%s\nschedule=constant\n[decode]\nbeam=1\nmaximum_length=6\n"              \
  "[evaluate]\nresamples=0\nattention=0\n"

static void
write_files (void)
{
  plait_test_write ("a", "x y z\ny\n\nz z x y x\n");
  plait_test_write ("t", "one two three\ntwo three one\nthree three\none one two\n");
  plait_test_write ("text.ini",
                    plait_test_format (DATA SMALL_SOURCE ("a") SMALL_DECODER ("serial") REST, "a", "a", "0.01"));
}

/* Writes features.safetensors: the parameters of text.safetensors, except those of its source, and the identity matrix
 * as projection of the features. */
static void
write_parameters (void)
{
  g_autoptr (PlaitSafetensors) from = plait_safetensors_open (plait_test_path ("text.safetensors"), NO_ERROR);
  g_autoptr (GArray) tensors = g_array_new (FALSE, FALSE, sizeof (PlaitNamedTensor));
  g_autoptr (GPtrArray) values = g_ptr_array_new_with_free_func (g_free);
  const char *const metadata[] = { NULL };
  PlaitScalar identity[64] = { 0 }, zeros[8] = { 0 };
  PlaitNamedTensor projection[] = { { "source/a/projection/weight", plait_tensor (identity, 8, 8) },
                                    { "source/a/projection/bias", plait_tensor (zeros, 1, 8) } };

  REQUIRE (from != NULL);
  for (guint i = 0; i < 8; i++)
    identity[9 * i] = 1;
  g_array_append_vals (tensors, projection, 2);
  for (guint i = 0; i < plait_safetensors_n (from); i++)
    {
      const PlaitSafetensor *tensor = plait_safetensors_get (from, i);
      PlaitScalar *value = g_new (PlaitScalar, tensor->elements);
      PlaitNamedTensor named = { tensor->name, plait_tensor (value, tensor->shape[0], tensor->shape[1]) };

      g_ptr_array_add (values, value);
      CHECK (plait_safetensors_read (from, tensor, 0, tensor->elements, value, NO_ERROR));
      if (!g_str_has_prefix (tensor->name, "source/"))
        g_array_append_val (tensors, named);
    }
  CHECK (plait_safetensors_write (plait_test_path ("features.safetensors"),
                                  (const PlaitNamedTensor *)(gpointer)tensors->data, tensors->len, metadata, NO_ERROR));
}

/* A second model reads the states that plait encode wrote, projected by the identity. It computes what the first model
 * computes. */
TEST_CASE (encode, states_are_the_memory_that_features_give)
{
  write_files ();
  QUIET (CALL ("run", "text.ini", "--output", "text.h5", "-q"));
  DONE (CALL ("encode", "text.h5", "--source", "a=a", "--output", "states.h5", "--set", "decode.batch=3"));
  g_autoptr (PlaitFeatures) features = plait_feature_file_open (plait_test_path ("states.h5"), "/a", NO_ERROR);

  REQUIRE (features != NULL);
  CHECK_INT (features->sentences, 4);
  QUIET (CALL ("export", "text.h5", "--output", "text.safetensors"));
  write_parameters ();
  plait_test_write ("features.ini",
                    plait_test_format (DATA "[source a]\nencoder=features\ndataset=/a\n" SMALL_DECODER ("serial") REST,
                                       "states.h5", "states.h5", "0.000000000001"));
  QUIET (CALL ("run", "features.ini", "--output", "features.h5", "-q", "--set", "train.initialise=features.safetensors",
               "--set", "train.epochs=0", "--set", "train.updates=1", "--set", "data.vocabulary.shared=text.h5"));
  PlaitTestCall text = DONE (CALL ("score", "text.h5", "--source", "a=a", "--target", "t"));
  PlaitTestCall read = DONE (CALL ("score", "features.h5", "--source", "a=states.h5", "--target", "t"));
  CHECK_STRING (read.output, text.output);
}

TEST_CASE (encode, has_lengths_and_summaries)
{
  write_files ();
  QUIET (CALL ("run", "text.ini", "--output", "text.h5", "-q", "--set", "source.a.encoder=bigru", "--unset",
               "source.a.heads", "--unset", "source.a.feed_forward"));
  DONE (CALL ("encode", "text.h5", "--source", "a=a", "--output", "states.h5"));
  g_autoptr (PlaitStore) store = plait_store_open (plait_test_path ("states.h5"), NO_ERROR);
  PlaitStoreObject memory, summary;
  gint64 lengths[4], summaries[4];

  REQUIRE (store != NULL);
  CHECK (plait_store_describe (store, "/a", &memory, NO_ERROR)
         && plait_store_describe (store, "/a.summary", &summary, NO_ERROR));
  CHECK_INT (memory.shape[0], 4);
  CHECK_INT (memory.shape[1], 6); /* five words and the end token */
  CHECK_INT (summary.shape[1], 1);
  CHECK (plait_store_read (store, "/a_lengths", PLAIT_STORE_INT64, 4, lengths, NO_ERROR)
         && plait_store_read (store, "/a.summary_lengths", PLAIT_STORE_INT64, 4, summaries, NO_ERROR));
  CHECK_INT (lengths[0], 4);
  CHECK_INT (lengths[1], 2);
  CHECK_INT (lengths[2], 0);
  CHECK_INT (lengths[3], 6);
  CHECK_INT (summaries[3], 1);
  g_autofree PlaitScalar *values = plait_store_read_array (store, "/a", PLAIT_STORE_SCALAR, 1 << 20, NULL, NO_ERROR);
  REQUIRE (values != NULL);
  for (gint64 i = 2 * memory.shape[2]; i < 6 * memory.shape[2]; i++)
    CHECK (values[6 * memory.shape[2] + i] == 0); /* padding after the second, shorter sentence */
}

TEST_CASE (encode, refusals)
{
  write_files ();
  QUIET (CALL ("run", "text.ini", "--output", "text.h5", "-q", "--set", "train.epochs=1"));
  CHECK_REFUSED (CALL ("encode", "text.h5", "--source", "a=a"),
                 "--output is missing; name the file to write with --output FILE.h5");
  CHECK_REFUSED (CALL ("encode", "text.h5", "--output", "states.h5"), "source \"a\" is not given");
  CHECK_REFUSED (CALL ("encode", "text.h5", "--source", "a=a", "--output", "x.h5", "--set", "decode.beam=2"),
                 "decode.batch, data.empty and data.too_long");
  CHECK_REFUSED (CALL ("encode", "text.h5", "--source", "a=a", "--output", "text.h5"), "text.h5");
}
