/* SPDX-License-Identifier: MIT */
#include <glib/gstdio.h>

#include "grid/cells.h"
#include "grids.h"
#include "harness.h"

/* Cells that differ in what their files say. */

static const char head[] = "[data]\ntrain.a=one\ntrain.b=one\ntest.a=one\ntest.b=one\nvalidation.a=one\n"
                           "validation.b=one\ntarget=b\nvocabulary_type=words\nvocabulary_size=0\n[source a]\n"
                           "encoder=transformer\n[decoder]\nwidth=64\n[grid]\n";

/* Writes @text as the file @name, below folders that it names. */
static void
write_file (const char *name, const char *text)
{
  g_autofree char *path = plait_test_path (name);
  g_autofree char *folder = g_path_get_dirname (path);

  g_assert_cmpint (g_mkdir_with_parents (folder, 0755), ==, 0);
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
}

static PlaitCells *
load (PlaitRegistry *registry, const char *axes)
{
  g_autofree char *text = g_strconcat (head, axes, NULL);
  g_autofree char *path = plait_test_path ("grid.ini");
  g_autoptr (GError) error = NULL;
  PlaitCells *cells;

  write_file ("grid.ini", text);
  cells = plait_cells_load (path, NULL, registry, &error);
  CHECK_NO_ERROR (error);
  g_assert_nonnull (cells);
  return cells;
}

TEST_CASE (cells, files_of_other_content_make_other_cells)
{
  static const char *const axes[] = { "data.folder=%s;%s",
                                      "data.train.a=%s/one;%s/one",
                                      "data.train.b=%s/one;%s/one",
                                      "data.validation.a=%s/one;%s/one",
                                      "data.test.b=%s/one;%s/one",
                                      "data.vocabulary.shared=%s/one;%s/one",
                                      "train.initialise=%s/one;%s/one" };
  g_autoptr (PlaitRegistry) registry = test_grid_registry ();

  write_file ("one", "u v\n");
  write_file ("first/one", "x\n");
  write_file ("other/one", "y\n");
  write_file ("copy/one", "x\n");
  for (guint i = 0; i < G_N_ELEMENTS (axes); i++)
    {
      CONTEXT ("%s", axes[i]);
      g_auto (GStrv) parts = g_strsplit (axes[i], "%s", 3);
      g_autofree char *differ = g_strconcat (parts[0], "first", parts[1], "other", parts[2], "\n", NULL);
      g_autofree char *alike = g_strconcat (parts[0], "first", parts[1], "copy", parts[2], "\n", NULL);
      g_autoptr (PlaitCells) two = load (registry, differ);
      g_autoptr (PlaitCells) one = load (registry, alike);
      g_autofree char *none = plait_cells_tell_same (two);
      g_autofree char *told = plait_cells_tell_same (one);

      CHECK_INT (two->n_cells, 2);
      CHECK_STRING (none, NULL);
      REQUIRE (one->n_cells == 1);
      CHECK_STRING (one->same_as[0], one->cells[0].label);
      CHECK_CONTAINS (told,
                      "1 cell is left out, as settings and the content of files make it the same as a cell before");
      CHECK_CONTAINS (told, "copy");
    }
}
