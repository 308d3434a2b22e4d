/* SPDX-License-Identifier: MIT */
#include "files/folder.h"
#include "harness.h"
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
