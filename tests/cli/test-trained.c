/* SPDX-License-Identifier: MIT */
#include "call.h"
#include "experiments.h"
#include "files.h"
#include "harness.h"

#include <glib/gstdio.h>
#include <string.h>

/* Tests of rules for all commands that use a trained run: its plugins must be unchanged, and --set must have an
 * effect. */

static const char experiment[] = SMALL_TRANSLATION (SMALL_SOURCE ("a"), "beam=4\nmaximum_length=6\n");

static const char *const computing[][12] = {
  { "translate", "small.h5", "-q", "-s", "a=made/test.a" },
  { "score", "small.h5", "-q", "-s", "a=made/test.a", "--target", "made/test.target" },
  { "adversarial", "small.h5", "-q" },
  { "export", "small.h5", "-q", "--force", "-o", "small.safetensors" },
};

/* Copies the built plugin file plugins/combiner/@name to own/combiner and appends the text @more to it. */
static void
copy_plugin (const char *name, const char *more)
{
  g_autofree char *built = g_strconcat ("plugins/combiner/", name, NULL);
  const char *folder = plait_test_path ("own/combiner");
  g_autofree char *to = g_build_filename (folder, name, NULL);
  g_autofree char *data = NULL;
  gsize length;

  REQUIRE (g_mkdir_with_parents (folder, 0777) == 0
           && g_file_get_contents (plait_test_build_path (built), &data, &length, NULL));
  data = g_realloc (data, length + strlen (more));
  memcpy (data + length, more, strlen (more));
  g_unlink (to);
  plait_test_write_bytes (to, data, (length + strlen (more)));
}

/* Refuses a plugin that has changed since training, except with --changed-plugins. */
TEST_CASE (trained, is_not_computed_with_other_plugins)
{
  static const struct
  {
    const char *file, *part;
  } changes[]
      = { { "serial.so", "the plugin's module has changed" }, { "serial.ini", "the plugin's schema has changed" } };
  g_autofree char *path = g_strjoin (":", plait_test_path ("own"), plait_test_build_path ("plugins"), NULL);

  plait_test_write ("small.ini", experiment);
  copy_plugin ("serial.so", "");
  copy_plugin ("serial.ini", "");
  PlaitTestCall made
      = CALL ("generate", "agreement", "-o", "made", "-s", "train=60", "-s", "validation=10", "-s", "test=8");
  PlaitTestCall run = plait_test_call_with_plugins (path, (const char *[]){ "run", "small.ini", "-q", NULL });
  CHECK_INT (made.code + run.code, 0);
  for (gsize c = 0; c < G_N_ELEMENTS (changes); c++)
    {
      for (gsize i = 0; i < G_N_ELEMENTS (computing); i++)
        {
          const char *words[14] = { NULL };
          CONTEXT ("%s, %s", changes[c].file, computing[i][0]);

          memcpy (words, computing[i], sizeof computing[i]);
          PlaitTestCall before = QUIET (plait_test_call_with_plugins (path, words));
          copy_plugin (changes[c].file, "\n");
          PlaitTestCall refused = plait_test_call_with_plugins (path, words);
          words[g_strv_length ((char **)words)] = "--changed-plugins";
          PlaitTestCall told = DONE (plait_test_call_with_plugins (path, words));
          copy_plugin (changes[c].file, "");
          CHECK_INT (refused.code, 2);
          CHECK_STRING (refused.output, "");
          CHECK_CONTAINS (refused.errors, changes[c].part);
          CHECK_CONTAINS (refused.errors, "--changed-plugins");
          CHECK_CONTAINS (told.errors, "warning: ");
          CHECK_CONTAINS (told.errors, changes[c].part);
          CHECK_STRING (told.output, before.output);
        }
      copy_plugin (changes[c].file, "\n");
      PlaitTestCall tested = plait_test_call_with_plugins (
          path, (const char *[]){ "test", "small.h5", "-q", "--set", "decode.beam=1", "--as", "greedy", NULL });
      copy_plugin (changes[c].file, "");
      CHECK_INT (tested.code, 2);
      CHECK_CONTAINS (tested.errors, changes[c].part);
    }
  PlaitTestCall plain = plait_test_call_with_plugins (
      path, (const char *[]){ "run", "small.ini", "-q", "-o", "next.h5", "--set", "train.initialise=small.h5", NULL });
  copy_plugin ("serial.so", "\n");
  PlaitTestCall warned
      = plait_test_call_with_plugins (path, (const char *[]){ "run", "small.ini", "-q", "-o", "next.h5", "--force",
                                                              "--set", "train.initialise=small.h5", NULL });
  CHECK_INT (plain.code + warned.code, 0);
  CHECK_STRING (plain.errors, "");
  CHECK_CONTAINS (warned.errors, "small.h5 was trained with another build of combiner \"serial\"");
  CHECK_CONTAINS (warned.errors, "check that the parameters still mean the same");
  g_unlink (plait_test_path ("own/combiner/serial.so"));
  for (gsize i = 0; i < G_N_ELEMENTS (computing); i++)
    {
      PlaitTestCall missing = plait_test_call_with_plugins (path, computing[i]);
      CHECK_REFUSED (missing, "serial.so: is missing, although its schema is there; build or install");
    }
}

/* Refuses a key of --set that has no effect in the command. */
TEST_CASE (trained, takes_keys_that_do_something)
{
  static const struct
  {
    const char *words[8];
    const char *key;
  } cases[] = {
    { { "score", "small.h5", "-s", "a=made/test.a", "--target", "made/test.target" }, "decode.beam=2" },
    { { "score", "small.h5", "-s", "a=made/test.a", "--target", "made/test.target" }, "decode.n_best=2" },
    { { "score", "small.h5", "-s", "a=made/test.a", "--target", "made/test.target" }, "decode.alpha=2" },
    { { "test", "small.h5" }, "decode.n_best=2" },
    { { "adversarial", "small.h5" }, "decode.n_best=2" },
    { { "adversarial", "small.h5" }, "evaluate.checkpoint=last" },
    { { "adversarial", "small.h5" }, "evaluate.attention=2" },
    { { "adversarial", "small.h5" }, "evaluate.length_bins=4;5" },
    { { "adversarial", "small.h5" }, "evaluate.translation_rates=search" },
    { { "translate", "class.h5", "-s", "text=topics/test.text" }, "decode.beam=2" },
    { { "test", "class.h5" }, "decode.beam=2" },
    { { "adversarial", "class.h5" }, "decode.beam=2" },
  };

  plait_test_write ("small.ini", experiment);
  plait_test_write ("class.ini", SMALL_CLASSES);
  PlaitTestCall made
      = CALL ("generate", "agreement", "-o", "made", "-s", "train=60", "-s", "validation=10", "-s", "test=8");
  PlaitTestCall topics = CALL ("generate", "topic", "-o", "topics", "-s", "train=60", "-s", "validation=10", "-s",
                               "test=8", "-s", "topics=3");
  PlaitTestCall run = CALL ("run", "small.ini", "-q");
  PlaitTestCall other = CALL ("run", "class.ini", "-q");
  CHECK_INT (made.code + topics.code + run.code + other.code, 0);
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const char *words[12] = { NULL };
      guint n = g_strv_length ((char **)cases[i].words);
      CONTEXT ("%s %s", cases[i].words[0], cases[i].key);

      memcpy (words, cases[i].words, sizeof cases[i].words);
      words[n] = "--set";
      words[n + 1] = cases[i].key;
      CHECK_REFUSED (plait_test_call (NULL, words), cases[i].key);
    }
  PlaitTestCall beam = CALL ("translate", "class.h5", "-s", "text=topics/test.text", "--beam", "2");
  CHECK_REFUSED (beam, "--beam: class.h5 has no decoder, so it does not search");
  PlaitTestCall set = DONE (CALL ("translate", "small.h5", "-q", "-s", "a=made/test.a", "--set", "decode.n_best=3"));
  PlaitTestCall option = CALL ("translate", "small.h5", "-q", "-s", "a=made/test.a", "--n-best", "3");
  CHECK_STRING (set.output, option.output);
  CHECK_INT (g_strrstr (set.output, "\n8\t") != NULL, TRUE);
}
