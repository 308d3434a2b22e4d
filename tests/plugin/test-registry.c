/* SPDX-License-Identifier: MIT */
#include "faulty-plugin.h"

#include <string.h>

#include "harness.h"
#include "loading/registry.h"

TEST_CASE (registry, the_first_folder_hides_the_later_ones)
{
  const char *first = faulty_plugin_install ("first", "sound", NULL);
  const char *second = faulty_plugin_install ("second", "sound", "sound");
  const char *third = faulty_plugin_install ("third", "sound", NULL);
  faulty_plugin_install ("second", "other", NULL);
  g_autoptr (PlaitRegistry) registry = plait_registry_new_for_folders (
      (const char *[]){ first, plait_test_path ("missing"), second, first, third, NULL });

  CHECK_INT (plait_registry_n_folders (registry), 4);
  CHECK (!plait_registry_folder (registry, 1)->exists);
  REQUIRE (plait_registry_n_plugins (registry) == 2);
  CHECK_STRING (plait_registry_plugin (registry, 0)->name, "other");

  const PlaitPlugin *plugin = plait_registry_plugin (registry, 1);
  CHECK_STRING (plugin->folder->path, first);
  REQUIRE (plugin->hidden != NULL);
  CHECK_STRING (plugin->hidden->folder->path, second);
  REQUIRE (plugin->hidden->hidden != NULL);
  CHECK_STRING (plugin->hidden->hidden->folder->path, third);
  CHECK (!plugin->hidden->hidden->hidden);
}

TEST_CASE (registry, a_broken_plugin_hides_too_and_says_why)
{
  const char *first = plait_test_path ("first");
  const char *second = faulty_plugin_install ("second", "sound", "sound");
  g_autoptr (GError) error = NULL;

  faulty_plugin_write (first, "combiner/sound.ini", "[plugin]\nname=sound\n", -1);
  g_autoptr (PlaitRegistry) registry = plait_registry_new_for_folders ((const char *[]){ first, second, NULL });
  CHECK (!plait_registry_find (registry, PLAIT_PLUGIN_COMBINER, "sound", &error));
  CHECK_ERROR (error, PLAIT_ERROR_PLUGIN, "first/combiner/sound.ini:1: [plugin] has no key kind");
}

TEST_CASE (registry, a_module_without_schema_is_seen)
{
  const char *folder = plait_test_path ("plugins");
  g_autoptr (GError) error = NULL;

  faulty_plugin_write (folder, "encoder/lonely.so", "", 0);
  g_autoptr (PlaitRegistry) registry = plait_registry_new_for_folders ((const char *[]){ folder, NULL });
  CHECK_INT (plait_registry_n_plugins (registry), 1);
  CHECK (!plait_registry_find (registry, PLAIT_PLUGIN_ENCODER, "lonely", &error));
  CHECK_ERROR (error, PLAIT_ERROR_PLUGIN, "lonely.so: has no schema; put lonely.ini into its folder");
}

TEST_CASE (registry, names_that_are_not_known)
{
  const char *folder = faulty_plugin_install ("plugins", "hierarchical", NULL);
  faulty_plugin_install ("plugins", "flat", NULL);
  g_autoptr (PlaitRegistry) registry = plait_registry_new_for_folders ((const char *[]){ folder, NULL });
  g_autoptr (GError) error = NULL;

  CHECK (!plait_registry_find (registry, PLAIT_PLUGIN_COMBINER, "heirarchical", &error));
  CHECK_ERROR (error, PLAIT_ERROR_PLUGIN,
               "there is no combiner called \"heirarchical\"; did you mean \"hierarchical\"?");
  CHECK (!plait_registry_find (registry, PLAIT_PLUGIN_COMBINER, "bilinear", &error));
  CHECK_ERROR (error, PLAIT_ERROR_PLUGIN, "expected one of flat, hierarchical");
  CHECK (!plait_registry_find (registry, PLAIT_PLUGIN_ENCODER, "flat", &error));
  CHECK_ERROR (error, PLAIT_ERROR_PLUGIN, "there is no encoder called \"flat\"; no plugin of this kind is installed");
}

TEST_CASE (registry, unknown_names_say_where_they_were_looked_for)
{
  const char *missing = plait_test_path ("missing");
  const char *folder = faulty_plugin_install ("plugins", "flat", NULL);
  g_autoptr (PlaitRegistry) registry = plait_registry_new_for_folders ((const char *[]){ folder, missing, NULL });
  g_autofree char *looked = g_strdup_printf (
      "(plait looked in %s [given], %s [given, not there]; PLAIT_PLUGIN_PATH=FOLDER adds a folder)", folder, missing);
  g_autoptr (GError) error = NULL;

  CHECK (!plait_registry_find (registry, PLAIT_PLUGIN_COMBINER, "mine", &error));
  CHECK_ERROR (error, PLAIT_ERROR_PLUGIN, looked);

  /* The registry knows where the run's plugin was, so the message does not suggest another name. */
  plait_registry_remember (registry, PLAIT_PLUGIN_COMBINER, "flut", "/there/combiner/flut.so");
  CHECK (!plait_registry_find (registry, PLAIT_PLUGIN_COMBINER, "flut", &error));
  CHECK_ERROR (error, PLAIT_ERROR_PLUGIN,
               "there is no combiner called \"flut\"; the run was trained with the module /there/combiner/flut.so "
               "(plait looked in ");
}

TEST_CASE (registry, says_which_plugins_lie_beside_the_folders_of_kinds)
{
  const char *folder = plait_test_path ("plugins"), *inner = plait_test_path ("plugins/coverage");
  g_autofree char *moved = g_strdup_printf (
      "%s/mine.so and mine.ini are not in the folder of a kind: move both to %s/combiner (plait looked in ", folder,
      folder);
  g_autofree char *renamed = g_strdup_printf ("%s/other.so and other.ini are not in the folder of a kind: name %s in "
                                              "PLAIT_PLUGIN_PATH instead (plait looked in ",
                                              inner, folder);
  g_autoptr (GError) error = NULL;

  faulty_plugin_write (folder, "mine.ini", "[plugin]\nname=mine\nkind=combiner\n", -1);
  faulty_plugin_write (folder, "mine.so", "", 0);
  faulty_plugin_write (folder, "alone.so", "", 0);
  faulty_plugin_write (inner, "other.ini", "", 0);
  faulty_plugin_write (inner, "other.so", "", 0);
  g_autoptr (PlaitRegistry) registry = plait_registry_new_for_folders ((const char *[]){ folder, inner, NULL });
  g_autofree char *all = plait_plugin_folder_misplaced (plait_registry_folder (registry, 0), NULL);
  CHECK (!plait_registry_find (registry, PLAIT_PLUGIN_COMBINER, "mine", &error));
  CHECK_ERROR (error, PLAIT_ERROR_PLUGIN, moved);
  CHECK (!plait_registry_find (registry, PLAIT_PLUGIN_COMBINER, "other", &error));
  CHECK_ERROR (error, PLAIT_ERROR_PLUGIN, renamed);
  CHECK_CONTAINS (all, "plugins/mine.so and mine.ini are not in the folder of a kind: move both to ");
  CHECK (!strstr (all, "alone"));
}

static gboolean
has_folder_of_user (void)
{
  g_autoptr (PlaitRegistry) registry = plait_registry_new ();

  for (guint i = 0; i < plait_registry_n_folders (registry); i++)
    if (g_str_equal (plait_registry_folder (registry, i)->origin, "user"))
      return TRUE;
  return FALSE;
}

/* Ignores relative plugin folders: modules are loaded from these folders, so they must not depend on the current
 * folder. */
TEST_CASE (registry, passes_over_user_folders_that_are_not_absolute)
{
  g_setenv ("XDG_DATA_HOME", plait_test_folder (), TRUE);
  CHECK (has_folder_of_user ());
  g_setenv ("XDG_DATA_HOME", "data", TRUE);
  g_setenv ("HOME", "", TRUE);
  CHECK (!has_folder_of_user ());
  g_unsetenv ("XDG_DATA_HOME");
  CHECK (!has_folder_of_user ());
  g_setenv ("HOME", plait_test_folder (), TRUE);
  CHECK (has_folder_of_user ());
}

TEST_CASE (registry, a_name_is_never_a_path)
{
  const char *folder = faulty_plugin_install ("plugins", "flat", NULL);
  g_autoptr (PlaitRegistry) registry = plait_registry_new_for_folders ((const char *[]){ folder, NULL });
  const char *const paths[] = { "../combiner/flat", "./flat", "/tmp/flat", "flat.so", "", "fl\nat" };

  for (guint i = 0; i < G_N_ELEMENTS (paths); i++)
    {
      CONTEXT ("%s", paths[i]);
      g_autoptr (GError) error = NULL;

      CHECK (!plait_registry_find (registry, PLAIT_PLUGIN_COMBINER, paths[i], &error));
      CHECK_ERROR (error, PLAIT_ERROR_PLUGIN, "is not a valid name of a plugin");
    }
}

TEST_CASE (registry, digests_come_without_loading_and_follow_the_files)
{
  const char *folder = faulty_plugin_install ("plugins", "sound", "sound");
  g_autoptr (GError) error = NULL;
  g_autofree char *before = NULL;

  for (guint round = 0; round < 2; round++)
    {
      g_autoptr (PlaitRegistry) registry = plait_registry_new_for_folders ((const char *[]){ folder, NULL });
      PlaitPlugin *plugin = plait_registry_find (registry, PLAIT_PLUGIN_COMBINER, "sound", &error);

      REQUIRE (plugin != NULL);
      CHECK (plait_plugin_digest (plugin, &error));
      CHECK (!plugin->descriptor);
      if (round == 0)
        before = g_strdup (plugin->module_digest);
      else
        CHECK (strcmp (before, plugin->module_digest) != 0);
      faulty_plugin_write (folder, "combiner/sound.so", "changed", -1);
    }
}

TEST_CASE (registry, the_build_tree_is_found_without_variables)
{
  g_autoptr (PlaitRegistry) registry = plait_registry_new ();
  guint n = plait_registry_n_folders (registry);
  const PlaitPluginFolder *last = plait_registry_folder (registry, n - 1);

  CHECK_STRING (last->origin, "build tree");
  CHECK_STRING (last->path, plait_test_build_path ("plugins"));
}

TEST_CASE (registry, every_plugin_of_the_tree_loads)
{
  g_autoptr (PlaitRegistry) registry
      = plait_registry_new_for_folders ((const char *[]){ plait_test_build_path ("plugins"), NULL });
  guint n = plait_registry_n_plugins (registry);

  CHECK (n >= 6);
  for (guint i = 0; i < n; i++)
    {
      PlaitPlugin *plugin = plait_registry_plugin (registry, i);
      CONTEXT ("%s", plugin->schema_path);

      CHECK (plait_plugin_load (plugin, NO_ERROR));
    }
}
