/* SPDX-License-Identifier: MIT */
#include "call.h"
#include "harness.h"

#include <string.h>

#include "store/safetensors.h"
#include "store/store.h"

/* plait export. */

static const char experiment[] = "[experiment]\nseed=3\n"
                                 "[data]\ngenerate=agreement\nvocabulary_type=words\n"
                                 "generate.train=60\ngenerate.validation=10\ngenerate.test=8\n"
                                 "[source a]\nencoder=transformer\nlayers=1\nheads=2\nfeed_forward=8\n"
                                 "[decoder]\ncombiner=serial\nlayers=1\nwidth=8\nheads=2\nfeed_forward=8\n"
                                 "[train]\nbatch=6\nepochs=1\n"
                                 "[decode]\nbeam=1\nmaximum_length=6\n[evaluate]\nresamples=10\n";

TEST_CASE (export_command, writes_all_parameters_bit_by_bit)
{
  g_autofree char *run_path = plait_test_path ("small.h5");
  g_autofree char *path = plait_test_path ("small.safetensors");
  GError *error = NULL;

  plait_test_write ("small.ini", experiment);
  g_auto (PlaitTestCall) run = CALL ("run", "small.ini", "-q");
  g_auto (PlaitTestCall) made = CALL ("export", "small.h5", "-o", "small.safetensors", "-c", "last");
  CHECK_INT (run.code, 0);
  CHECK_INT (made.code, 0);
  CHECK_STRING (made.output, "");
  CHECK_STRING (made.errors, "");

  g_autoptr (PlaitStore) store = plait_store_open (run_path, &error);
  g_autoptr (PlaitSafetensors) file = plait_safetensors_open (path, &error);
  CHECK_NO_ERROR (error);
  REQUIRE (store && file);
  CHECK (plait_safetensors_n (file) > 20);
  for (guint i = 0; i < plait_safetensors_n (file); i++)
    {
      const PlaitSafetensor *tensor = plait_safetensors_get (file, i);
      g_autofree char *there = g_strconcat ("/checkpoint/last/parameters/", tensor->name, NULL);
      g_autofree PlaitScalar *ours = g_new (PlaitScalar, tensor->elements);
      g_autofree PlaitScalar *theirs = g_new (PlaitScalar, tensor->elements);

      CONTEXT ("%s", tensor->name);
      CHECK (plait_store_read (store, there, PLAIT_STORE_SCALAR, tensor->elements, ours, &error));
      CHECK (plait_safetensors_read (file, tensor, 0, tensor->elements, theirs, &error));
      CHECK_NO_ERROR (error);
      CHECK (memcmp (ours, theirs, sizeof *ours * (gsize)tensor->elements) == 0);
    }
}

TEST_CASE (export_command, refuses_what_it_cannot_do)
{
  plait_test_write ("small.ini", experiment);
  plait_test_write ("there.safetensors", "mine");
  g_auto (PlaitTestCall) run = CALL ("run", "small.ini", "-q");
  g_auto (PlaitTestCall) nowhere = CALL ("export", "small.h5");
  g_auto (PlaitTestCall) there = CALL ("export", "small.h5", "-o", "there.safetensors");
  g_auto (PlaitTestCall) itself = CALL ("export", "small.h5", "-o", "small.h5", "--force");
  g_auto (PlaitTestCall) other = CALL ("export", "small.ini", "-o", "new.safetensors");
  g_auto (PlaitTestCall) average = CALL ("export", "small.h5", "-o", "new.safetensors", "-c", "average");
  g_auto (PlaitTestCall) folder = CALL ("export", "small.h5", "-o", "absent/new.safetensors");
  g_autofree char *path = plait_test_path ("new.safetensors");

  CHECK_INT (run.code, 0);
  plait_test_check_refused (&nowhere, "add --output FILE");
  plait_test_check_refused (&there, "there.safetensors");
  plait_test_check_refused (&itself, "is the same file as small.h5");
  plait_test_check_refused (&other, "small.ini");
  plait_test_check_refused (&average, "there is no checkpoint \"average\"");
  plait_test_check_refused (&folder, "absent");
  CHECK (!g_file_test (path, G_FILE_TEST_EXISTS));
}
