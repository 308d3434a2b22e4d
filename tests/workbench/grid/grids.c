/* SPDX-License-Identifier: MIT */
#include "grids.h"

#include <glib/gstdio.h>

#include "files.h"
#include "harness.h"

const char test_grid_text[] = "[experiment]\n"
                              "name=tiny\n"
                              "[data]\n"
                              "generate=agreement\n"
                              "generate.train=48\n"
                              "generate.validation=4\n"
                              "generate.test=6\n"
                              "target=target\n"
                              "vocabulary_type=words\n"
                              "vocabulary_size=0\n"
                              "[source a]\n"
                              "encoder=transformer\n"
                              "layers=1\n"
                              "feed_forward=8\n"
                              "[source b]\n"
                              "encoder=transformer\n"
                              "layers=1\n"
                              "feed_forward=8\n"
                              "[decoder]\n"
                              "layers=1\n"
                              "width=8\n"
                              "heads=2\n"
                              "feed_forward=8\n"
                              "[train]\n"
                              "epochs=1\n"
                              "batch=12\n"
                              "warm_up=4\n"
                              "log_every=2\n"
                              "[decode]\n"
                              "beam=1\n"
                              "maximum_length=8\n"
                              "[evaluate]\n"
                              "resamples=5\n"
                              "attention=1\n"
                              "[grid]\n";

void
test_grid_write (const char *axes)
{
  g_autofree char *text = g_strconcat (test_grid_text, axes, NULL);

  plait_test_write ("tiny.ini", text);
}

void
test_copy_file (const char *from, const char *to, const char *appended)
{
  g_autofree char *bytes = NULL;
  gsize length = 0;
  g_autoptr (GString) text = NULL;

  g_assert_true (g_file_get_contents (from, &bytes, &length, NULL));
  text = g_string_new_len (bytes, (gssize)length);
  g_string_append (text, appended);
  g_assert_true (g_file_set_contents (to, text->str, (gssize)text->len, NULL));
}

void
test_write_plugin (const char *name, const char *schema, const char *module, const char *appended)
{
  g_autofree char *folder = plait_test_path ("plugins/combiner");
  g_autofree char *schema_path = g_strdup_printf ("%s/%s.ini", folder, name);
  g_autofree char *module_path = g_strdup_printf ("%s/%s.so", folder, name);

  g_assert_cmpint (g_mkdir_with_parents (folder, 0755), ==, 0);
  g_assert_true (g_file_set_contents (schema_path, schema, -1, NULL));
  test_copy_file (module, module_path, appended);
}

void
test_write_faulty (void)
{
  g_autofree char *module = plait_test_build_path ("tests/workbench/grid/faulty.so");
  g_autofree char *path = plait_test_source_path ("tests/workbench/grid/faulty/faulty.ini");
  g_autofree char *schema = NULL;

  g_assert_true (g_file_get_contents (path, &schema, NULL, NULL));
  test_write_plugin ("faulty", schema, module, "");
}

PlaitRegistry *
test_grid_registry (void)
{
  g_autofree char *own = plait_test_path ("plugins");
  g_autofree char *built = plait_test_build_path ("plugins");

  return plait_registry_new_for_folders ((const char *[]){ own, built, NULL });
}

void
test_grid_clear (TestGrid *opened)
{
  plait_grid_free (opened->grid);
  plait_registry_free (opened->registry);
}

TestGrid
test_grid_open (const char *name, const char *const *overrides, gboolean fresh)
{
  g_autofree char *path = plait_test_path ("tiny.ini");
  g_autofree char *folder = plait_test_path (name);
  g_autoptr (GError) error = NULL;
  TestGrid opened = { .registry = test_grid_registry () };

  opened.grid = plait_grid_new (path, overrides, folder, fresh, NULL, 0, opened.registry, NULL, &error);
  CHECK_NO_ERROR (error);
  g_assert_nonnull (opened.grid);
  return opened;
}

void
test_grid_run (const TestGrid *opened, guint jobs)
{
  PlaitGridOptions options = { .jobs = jobs, .threads = 1 };
  g_autoptr (GError) error = NULL;

  CHECK (plait_grid_run (opened->grid, &options, &error));
  CHECK_NO_ERROR (error);
}

void
test_grid_run_all (const char *name, guint jobs, const char *const *overrides)
{
  g_auto (TestGrid) opened = test_grid_open (name, overrides, 0);

  test_grid_run (&opened, jobs);
  for (guint i = 0; i < opened.grid->n; i++)
    CHECK_STRING (opened.grid->items[i].note, NULL);
  CHECK_INT (plait_grid_count (opened.grid, PLAIT_CELL_FINISHED), opened.grid->n);
}
