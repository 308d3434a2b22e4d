/* SPDX-License-Identifier: MIT */
#include "experiments.h"
#include "files.h"
#include "files/folder.h"
#include "harness.h"
#include "loading/registry.h"
#include "models.h"
#include "setup/run-inputs.h"
#include "runs.h"

/* Another temporary folder is made. This does not remove the generated text of a process that still runs. */
TEST_CASE (run_inputs, keep_generated_text_while_others_begin)
{
  const char *path = test_write_experiment ("tiny", "");
  g_autoptr (PlaitRegistry) registry = plait_registry_new ();
  g_autoptr (PlaitExperiment) experiment = test_load (path, NULL, registry, NO_ERROR);
  g_autoptr (PlaitRunInputs) run_inputs = NULL;

  REQUIRE (experiment && experiment->task);
  run_inputs = plait_run_inputs_new (experiment, NULL, NULL, NULL, NULL, NO_ERROR);
  REQUIRE (run_inputs != NULL);
  g_autoptr (PlaitFolder) other = plait_folder_begin_temporary (NO_ERROR);
  CHECK (other != NULL);
  CHECK (g_file_test (*plait_run_inputs_files (run_inputs, "train", experiment->data.target), G_FILE_TEST_IS_REGULAR));
  g_autoptr (PlaitCorpus) corpus = plait_run_inputs_open (run_inputs, "test", NULL, NULL, NO_ERROR);
  CHECK (corpus != NULL);
}

/* Refuses a sentence of four rows, as an encoder may that reads pairs of words. */
static gboolean
refuse_four (gconstpointer settings, gconstpointer state, const PlaitInput *input, GError **error)
{
  for (gint64 i = 0; i < input->rows.n; i++)
    if (plait_ragged_length (input->rows, i) == 4)
      return plait_fail (error, PLAIT_ERROR_INPUT, "a sentence of four rows: add a word");
  return TRUE;
}

/* Each sentence that an encoder refuses by check_input is reported before training, with its file and line. */
TEST_CASE (run_inputs, that_an_encoder_refuses_are_told_before_training)
{
  PlaitPlugin *plugin = test_plugin (test_registry (), PLAIT_PLUGIN_ENCODER, "transformer");
  const PlaitPluginDescriptor *before = plugin->descriptor;
  PlaitEncoderTable table = *(const PlaitEncoderTable *)before->table;
  PlaitPluginDescriptor descriptor = *before;
  g_autoptr (GError) error = NULL;
  const char *path;

  table.check_input = refuse_four;
  descriptor.table = &table;
  plait_test_write ("train.a", "u v\nu v w\nw u\nv w u\n");
  plait_test_write ("train.b", "x y\nx\ny\nx x\n");
  path = plait_test_write (
      "checked.ini", "[data]\ntarget=b\nvocabulary_type=words\ntrain.a=train.a\ntrain.b=train.b\n" TINY_SOURCE ("a")
                         TINY_DECODER "[train]\nupdates=1\n[evaluate]\nresamples=0\nattention=0\n");
  plugin->descriptor = &descriptor;
  CHECK (!test_run_with (path, NULL, plait_test_path ("checked.h5"), FALSE, NULL, &error));
  plugin->descriptor = before;
  REQUIRE (error != NULL);
  CHECK_CONTAINS (error->message, "train.a:2: [source a]: a sentence of four rows: add a word");
  CHECK_CONTAINS (error->message, "train.a:4: ");
}
