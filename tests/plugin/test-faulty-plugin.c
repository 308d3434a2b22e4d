/* SPDX-License-Identifier: MIT */
#include "faulty-plugin.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/crash.h"
#include "files.h"
#include "harness.h"
#include "loading/registry.h"

#include "faulty-settings.h"

/* Tests of every fault that a plugin can have, and of the host's message for it. */

/* Returns the schema that the faulty modules were compiled with. (transfer full) */
static GString *
read_schema (void)
{
  g_autofree char *text = NULL;

  g_assert_true (g_file_get_contents (plait_test_source_path ("tests/plugin/faulty/faulty.ini"), &text, NULL, NULL));
  return g_string_new (text);
}

void
faulty_plugin_write (const char *folder, const char *name, const char *text, gssize length)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_autofree char *parent = g_path_get_dirname (path);

  plait_test_make_folder (parent);
  FILE *file = fopen (path, "w");
  gsize size = length < 0 ? strlen (text) : (gsize)length;
  g_assert_true (file && fwrite (text, 1, size, file) == size && fclose (file) == 0);
}

const char *
faulty_plugin_install (const char *folder, const char *name, const char *fault)
{
  return faulty_plugin_install_kind (folder, PLAIT_PLUGIN_COMBINER, name, fault);
}

const char *
faulty_plugin_install_kind (const char *folder, PlaitPluginKind kind, const char *name, const char *fault)
{
  const char *path = plait_test_path (folder);
  const char *kind_name = plait_plugin_kind_name (kind);
  g_autofree char *kind_line
      = g_strdup_printf ("\nkind=%s\n%s", kind_name, kind == PLAIT_PLUGIN_ENCODER ? "input=tokens\n" : "");
  g_autoptr (GString) schema = read_schema ();

  g_string_replace (schema, "\nname=faulty\n", plait_test_format ("\nname=%s\n", name), 1);
  g_string_replace (schema, "\nkind=combiner\n", kind_line, 1);
  if (kind == PLAIT_PLUGIN_DECODER)
    g_string_append (schema, "\n[provides]\nattention=heads\n");
  faulty_plugin_write (path, plait_test_format ("%s/%s.ini", kind_name, name), schema->str, -1);
  if (fault)
    {
      gboolean linked = g_str_equal (fault, "no-symbol") || g_str_equal (fault, "unresolved");
      g_autofree char *below = g_strdup_printf ("tests/plugin/%s.so", linked ? fault : "faulty");
      g_autofree char *bytes = NULL;
      gsize length = 0;

      g_assert_true (g_file_get_contents (plait_test_build_path (below), &bytes, &length, NULL));
      faulty_plugin_write (path, plait_test_format ("%s/%s.so", kind_name, name), bytes, (gssize)length);
    }
  return path;
}

/* Checks that the host refuses the plugin @name of @folder with a message that contains @part. */
static void
check_refused_kind (const char *folder, PlaitPluginKind kind, const char *name, PlaitSandboxLimits limits,
                    const char *part)
{
  CONTEXT ("%s", name);
  g_autoptr (PlaitRegistry) registry = plait_registry_new_for_folders ((const char *[]){ folder, NULL });
  g_autoptr (GError) error = NULL;
  PlaitPlugin *plugin = plait_registry_find (registry, kind, name, NO_ERROR);

  REQUIRE (plugin != NULL);
  plait_registry_set_sandbox_limits (registry, limits);
  CHECK (!plait_plugin_load (plugin, &error));
  REQUIRE (error != NULL);
  CHECK_CONTAINS (error->message, plugin->module_path);
  CHECK_ERROR (error, PLAIT_ERROR_PLUGIN, part);
}

static void
check_refused_within (const char *folder, const char *name, PlaitSandboxLimits limits, const char *part)
{
  check_refused_kind (folder, PLAIT_PLUGIN_COMBINER, name, limits, part);
}

static void
check_refused (const char *folder, const char *name, const char *part)
{
  check_refused_within (folder, name, (PlaitSandboxLimits){ 60, 30, (gsize)256 << 20 }, part);
}

/* Checks that the host refuses the faulty module @name, installed under its own name, with a message that contains
 * @part. */
static void
check_fault (const char *name, const char *part)
{
  const char *folder = faulty_plugin_install ("faulty", name, name);

  check_refused (folder, name, part);
}

TEST_CASE (faulty_plugin, a_sound_plugin_loads_and_gets_its_settings)
{
  const char *folder = faulty_plugin_install ("faulty", "sound", "sound");
  g_autoptr (PlaitRegistry) registry = plait_registry_new_for_folders ((const char *[]){ folder, NULL });
  g_autoptr (GError) error = NULL;
  PlaitPlugin *plugin = plait_registry_find (registry, PLAIT_PLUGIN_COMBINER, "sound", &error);

  REQUIRE (plugin != NULL);
  CHECK (!plugin->descriptor);
  REQUIRE (plait_plugin_load (plugin, &error));
  CHECK_STRING (plugin->descriptor->version, "1.2.3");
  CHECK_INT (strlen (plugin->schema_digest), 64);
  CHECK_INT (strlen (plugin->module_digest), 64);

  const PlaitSchema *schema = plugin->schema;
  g_autoptr (PlaitSettings) settings = plait_settings_new (schema->parameters, schema->n_parameters);
  CHECK (plait_settings_set (settings, "heads", "7", &error));
  CHECK (plait_settings_set (settings, "label", "a b", &error));
  g_autofree Settings *filled = plait_plugin_new_settings (plugin, settings);
  CHECK_INT (filled->heads, 7);
  CHECK_NEAR (filled->rate, 0.5, 0);
  CHECK_INT (filled->flag, TRUE);
  CHECK_INT (filled->order, ORDER_LAST);
  CHECK_STRING (filled->label, "a b");
  CHECK_STRING (filled->parts, "a;b");
}

TEST_CASE (faulty_plugin, descriptors_that_are_none)
{
  check_fault ("no-symbol", "has no function plait_plugin");
  check_fault ("no-descriptor", "gave no descriptor");
  check_fault ("wrong-magic", "begins with 0xdeadbeef instead of 0x706c6169");
  check_fault ("short-struct", "descriptor has 16 bytes, but this plait expects");
  check_fault ("older-interface",
               "built for plugin interface 1, but this plait has 2, in which combiners have a state");
  check_fault ("newer-interface", "built for plugin interface 3, but this plait has 2; update plait");
}

TEST_CASE (faulty_plugin, layouts_of_another_build)
{
  check_fault ("layout-pointer", "a pointer of 5 bytes, but this plait has 8; rebuild the plugin for this machine");
  check_fault ("layout-scalar", "a scalar of 5 bytes, but this plait has");
  check_fault ("layout-tensor", "a tensor of 5 bytes");
  check_fault ("layout-node", "a tape node of 5 bytes");
  check_fault ("layout-input", "a batch input of 5 bytes");
  check_fault ("layout-trees", "the trees of a batch of 5 bytes");
  check_fault ("layout-memory", "a memory of 5 bytes");
  check_fault ("layout-encoding", "an encoding of 5 bytes");
  check_fault ("layout-linear", "a linear layer of 5 bytes");
  check_fault ("layout-context", "a context of 5 bytes");
  check_fault ("layout-coverage-step", "a step of coverage of 5 bytes");
  check_fault ("layout-output-pass", "a pass of an output of 5 bytes");
}

TEST_CASE (faulty_plugin, identities_that_disagree)
{
  check_fault ("other-kind", "its kind is encoder");
  check_fault ("unknown-kind", "of kind number 77");
  check_fault ("other-name", "calls itself \"another-name\"");
  check_fault ("no-version", "has no version");
  check_fault ("other-version", "is version 9.9");
}

TEST_CASE (faulty_plugin, tables_of_parameters_that_are_none)
{
  check_fault ("no-bindings", "claims 6 parameters but has no table of them");
  check_fault ("many-bindings", "claims 100000 parameters");
  check_fault ("no-settings",
               "puts the parameter \"heads\" at byte 0 of its settings of 0 bytes, where it has no room");
  check_fault ("short-settings", "puts the parameter \"parts\" at byte");
  check_fault ("huge-settings", "asks for settings of 18446744073709551615 bytes");
}

/* The schema next to a module is not the one with which the module was compiled. */
TEST_CASE (faulty_plugin, schemas_that_a_module_was_not_built_from)
{
  static const struct
  {
    const char *built;
    const char *found;
    const char *part;
  } changes[] = {
    { "type=integer", "type=real",
      "was built with type=integer for the parameter \"heads\", but %s says type=real; build it" },
    { "choices=first;last", "choices=last;first",
      "was built with choices=first;last for the parameter \"order\", but %s says choices=last;first" },
    { "default=a;b", "default=a;b\nchoices=a;b",
      "was built with choices= for the parameter \"parts\", but %s says choices=a;b" },
    { "[parameter.heads]", "[parameter.haeds]", "was built without the parameter \"haeds\" of %s; build it again" },
    { "[parameter.parts]\ntype=list\ndefault=a;b\nsummary=Parts\n", "",
      "was built with the parameter \"parts\", which %s does not describe; build it again" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (changes); i++)
    {
      const char *folder = faulty_plugin_install ("faulty", "sound", "sound");
      g_autofree char *path = g_build_filename (folder, "combiner/sound.ini", NULL);
      g_autoptr (GString) schema = read_schema (), part = g_string_new (changes[i].part);

      g_string_replace (schema, "\nname=faulty\n", "\nname=sound\n", 1);
      REQUIRE (g_string_replace (schema, changes[i].built, changes[i].found, 1) == 1);
      g_string_replace (part, "%s", path, 1);
      faulty_plugin_write (folder, "combiner/sound.ini", schema->str, -1);
      check_refused (folder, "sound", part->str);
    }
}

TEST_CASE (faulty_plugin, tables_without_functions)
{
  check_fault ("no-table", "has no table of functions");
  check_fault ("no-build", "has no function \"build\"");
  check_fault ("no-combine", "has no function \"combine\"");
  check_fault ("huge-state", "asks for a state of 1073741824 bytes, but at most 16777216 are allowed");
}

TEST_CASE (faulty_plugin, other_kinds_without_functions)
{
  static const struct
  {
    PlaitPluginKind kind;
    const char *name;
    const char *part; /* part of the expected message; NULL: the schema is accepted */
  } faults[] = {
    { PLAIT_PLUGIN_ENCODER, "encoder-sound", NULL },
    { PLAIT_PLUGIN_ENCODER, "encoder-no-build", "has no function \"build\" in its table; every encoder needs one" },
    { PLAIT_PLUGIN_ENCODER, "encoder-no-encode", "has no function \"encode\" in its table; every encoder needs one" },
    { PLAIT_PLUGIN_ENCODER, "encoder-huge-state", "asks for a state of 1073741824 bytes" },
    { PLAIT_PLUGIN_COVERAGE, "coverage-sound", NULL },
    { PLAIT_PLUGIN_COVERAGE, "coverage-no-build", "has no function \"build\" in its table; every coverage needs one" },
    { PLAIT_PLUGIN_COVERAGE, "coverage-no-update",
      "has no function \"update\" in its table; every coverage needs one" },
    { PLAIT_PLUGIN_COVERAGE, "coverage-of-state",
      "its prepared_name is \"state\", which dumps use for something else; choose another name" },
    { PLAIT_PLUGIN_COVERAGE, "coverage-of-accumulated", "its prepared_name is \"accumulated\", which dumps use" },
    { PLAIT_PLUGIN_COVERAGE, "coverage-of-offsets", "its prepared_name is \"fertility_offsets\", which dumps use" },
    { PLAIT_PLUGIN_COVERAGE, "coverage-of-a-path", "its prepared_name is \"a/b\", which is not a valid name" },
    { PLAIT_PLUGIN_COVERAGE, "coverage-of-wild-name", "crashed (signal 11" },
    { PLAIT_PLUGIN_COVERAGE, "coverage-huge-state", "asks for a state of 1073741824 bytes" },
    { PLAIT_PLUGIN_OUTPUT, "output-sound", NULL },
    { PLAIT_PLUGIN_OUTPUT, "output-no-build", "has no function \"build\" in its table; every output needs one" },
    { PLAIT_PLUGIN_OUTPUT, "output-no-output", "has no function \"output\" in its table; every output needs one" },
    { PLAIT_PLUGIN_OUTPUT, "output-huge-state", "asks for a state of 1073741824 bytes" },
    { PLAIT_PLUGIN_DECODER, "decoder-sound", NULL },
    { PLAIT_PLUGIN_DECODER, "decoder-no-build", "has no function \"build\" in its table; every decoder needs one" },
    { PLAIT_PLUGIN_DECODER, "decoder-no-decode", "has no function \"decode\" in its table; every decoder needs one" },
    { PLAIT_PLUGIN_DECODER, "decoder-huge-state", "asks for a state of 1073741824 bytes" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (faults); i++)
    {
      const char *folder = faulty_plugin_install_kind ("faulty", faults[i].kind, faults[i].name, faults[i].name);

      CONTEXT ("%s", faults[i].name);
      if (faults[i].part)
        {
          check_refused_kind (folder, faults[i].kind, faults[i].name, (PlaitSandboxLimits){ 60, 30, (gsize)256 << 20 },
                              faults[i].part);
          continue;
        }
      g_autoptr (PlaitRegistry) registry = plait_registry_new_for_folders ((const char *[]){ folder, NULL });
      PlaitPlugin *plugin = plait_registry_find (registry, faults[i].kind, faults[i].name, NO_ERROR);

      REQUIRE (plugin != NULL);
      CHECK (plait_plugin_load (plugin, NO_ERROR));
    }
}

TEST_CASE (faulty_plugin, code_that_misbehaves)
{
  check_fault ("constructor-crashes", "crashed (signal 11");
  check_fault ("constructor-aborts", "crashed (signal 6");
  check_fault ("constructor-exits", "exited early with exit code 0");
  check_fault ("constructor-leaves", "exited early with exit code 7");
  check_fault ("entry-crashes", "crashed (signal 11");
  check_fault ("wild-pointer", "crashed (signal 11");
  check_fault ("unresolved", "plait_nobody_has_this");
}

TEST_CASE (faulty_plugin, code_that_changes_the_process)
{
  g_autofree char *before = g_get_current_dir (), *after = NULL;

  check_fault ("goes-away", "changes the working folder of the process while it is loaded; do not change it");
  check_fault ("later-goes-away", "changes the working folder of the process");
  check_fault ("masks-files", "changes the mask of new files");
  check_fault ("sets-the-locale", "changes the locale");
  check_fault ("takes-signals", "changes the handling of a signal");
  check_fault ("closes-a-stream", "changes a standard stream");
  check_fault ("rounds-upwards", "changes the rounding of numbers");
  check_fault ("later-another", "gave no descriptor");
  after = g_get_current_dir ();
  CHECK_STRING (after, before);
  CHECK (fcntl (STDOUT_FILENO, F_GETFD) >= 0);
}

#ifndef __SANITIZE_ADDRESS__
/* Loads the faulty plugin @name of @folder in a child process, and copies the child's messages to @said. */
static void
load_in_child (const char *folder, const char *name, char *said, gsize size)
{
  int ends[2], status = 0;
  gsize length = 0;
  gssize n;
  pid_t child;

  REQUIRE (pipe (ends) == 0);
  fflush (NULL);
  child = fork ();
  if (child == 0)
    {
      g_autoptr (PlaitRegistry) registry = plait_registry_new_for_folders ((const char *[]){ folder, NULL });
      PlaitPlugin *plugin = plait_registry_find (registry, PLAIT_PLUGIN_COMBINER, name, NULL);

      dup2 (ends[1], STDERR_FILENO);
      plait_crash_install_handlers ();
      _exit (plugin && plait_plugin_load (plugin, NULL) ? 77 : 78);
    }
  close (ends[1]);
  while (length + 1 < size && (n = read (ends[0], said + length, size - length - 1)) > 0)
    length += (gsize)n;
  said[length] = '\0';
  close (ends[0]);
  REQUIRE (waitpid (child, &status, 0) == child);
  CHECK (WIFEXITED (status) && WEXITSTATUS (status) == 1);
}
#endif

/* The module behaves well in the sandbox and badly when it is loaded after that. */
TEST_CASE (faulty_plugin, code_that_misbehaves_after_its_trial)
{
#ifdef __SANITIZE_ADDRESS__
  SKIP_TEST ("a sanitizer answers crashes itself");
#else
  static const char *const faults[][2] = { { "later-crashes", "accessed memory that does not exist" },
                                           { "later-aborts", "ended the process by abort ()" },
                                           { "later-exits", "called exit ()" } };

  for (guint i = 0; i < G_N_ELEMENTS (faults); i++)
    {
      CONTEXT ("%s", faults[i][0]);
      const char *folder = faulty_plugin_install ("faulty", faults[i][0], faults[i][0]);
      g_autofree char *part
          = g_strdup_printf ("%s.so, loading: %s; this is a fault of the plugin", faults[i][0], faults[i][1]);
      char said[1000];

      load_in_child (folder, faults[i][0], said, sizeof said);
      CHECK_CONTAINS (said, part);
    }
#endif
}

TEST_CASE (faulty_plugin, code_that_does_not_end)
{
  const char *folder = faulty_plugin_install ("faulty", "constructor-spins", "constructor-spins");

  check_refused_within (folder, "constructor-spins", (PlaitSandboxLimits){ 60, 1, 0 },
                        "more than 1 seconds of processor time");
  faulty_plugin_install ("faulty", "constructor-sleeps", "constructor-sleeps");
  check_refused_within (folder, "constructor-sleeps", (PlaitSandboxLimits){ 1, 30, 0 }, "did not end within 1 seconds");
}

TEST_CASE (faulty_plugin, code_that_hoards_memory)
{
#ifdef __SANITIZE_ADDRESS__
  SKIP_TEST ("the address sanitizer's allocator answers in its own way");
#else
  check_fault ("constructor-hoards", "limited to 256 MiB of memory, crashed");
#endif
}

TEST_CASE (faulty_plugin, files_that_are_no_modules)
{
  const char *folder = faulty_plugin_install ("faulty", "missing", NULL);
  g_autofree char *sound = NULL;
  gsize length = 0;

  check_refused (folder, "missing", "is missing, although its schema is there");
  faulty_plugin_install ("faulty", "empty", NULL);
  faulty_plugin_write (folder, "combiner/empty.so", "", 0);
  check_refused (folder, "empty", "is empty");
  faulty_plugin_install ("faulty", "text", NULL);
  faulty_plugin_write (folder, "combiner/text.so", "#!/bin/sh\necho this is not a module\n", -1);
  check_refused (folder, "text", "is not a shared library");
  faulty_plugin_install ("faulty", "short", NULL);
  faulty_plugin_write (folder, "combiner/short.so", "\177ELF", 4);
  check_refused (folder, "short", "is not a shared library");

  faulty_plugin_install ("faulty", "truncated", "sound");
  g_autofree char *path = g_build_filename (folder, "combiner/truncated.so", NULL);
  REQUIRE (g_file_get_contents (path, &sound, &length, NULL));
  faulty_plugin_write (folder, "combiner/truncated.so", sound, (gssize)length / 2);
  check_refused (folder, "truncated", "truncated.so");

  faulty_plugin_install ("faulty", "folder", NULL);
  faulty_plugin_write (folder, "combiner/folder.so/file", "", 0);
  check_refused (folder, "folder", "is not an ordinary file");
}

TEST_CASE (faulty_plugin, the_host_lives_on)
{
  /* After a faulty plugin, a sound plugin still loads: the faulty one has changed nothing in this process. */
  const char *folder = faulty_plugin_install ("faulty", "constructor-crashes", "constructor-crashes");

  check_refused (folder, "constructor-crashes", "crashed");
  faulty_plugin_install ("faulty", "sound", "sound");
  g_autoptr (PlaitRegistry) registry = plait_registry_new_for_folders ((const char *[]){ folder, NULL });
  PlaitPlugin *plugin = plait_registry_find (registry, PLAIT_PLUGIN_COMBINER, "sound", NO_ERROR);
  REQUIRE (plugin != NULL);
  CHECK (plait_plugin_load (plugin, NO_ERROR));
}
