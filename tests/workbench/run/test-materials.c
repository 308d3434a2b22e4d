/* SPDX-License-Identifier: MIT */
#include "files/folder.h"
#include "harness.h"
#include "setup/materials.h"
#include "runs.h"

/* A process that begins removes what dead ones left behind, and nothing else. */
TEST_CASE (materials, keep_generated_text_while_others_begin)
{
  const char *path = test_write_experiment ("tiny", "");
  g_autoptr (PlaitRegistry) registry = plait_registry_new ();
  g_autoptr (PlaitExperiment) experiment = test_load (path, NULL, registry, NO_ERROR);
  g_autoptr (PlaitMaterials) materials = NULL;

  REQUIRE (experiment && experiment->task);
  materials = plait_materials_new (experiment, NULL, NULL, NULL, NULL, NO_ERROR);
  REQUIRE (materials != NULL);
  g_autoptr (PlaitFolder) other = plait_folder_begin_temporary (NO_ERROR);
  CHECK (other != NULL);
  CHECK (g_file_test (plait_materials_file (materials, "train", experiment->data.target), G_FILE_TEST_IS_REGULAR));
  g_autoptr (PlaitCorpus) corpus = plait_materials_open (materials, "test", NULL, NULL, NO_ERROR);
  CHECK (corpus != NULL);
}
