/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "examples.h"
#include "files.h"
#include "harness.h"
#include "runs.h"

/* Tests of valid experiment files: their settings. */

TEST_CASE (experiment_file, a_sound_one)
{
  g_autoptr (PlaitRegistry) registry = example_registry ();
  g_autoptr (PlaitExperiment) experiment = example_load (registry, example_text, NULL, NO_ERROR);

  REQUIRE (experiment != NULL);
  CHECK_STRING (experiment->name, "example");
  CHECK_INT (experiment->experiment.seed, 7);
  CHECK_STRING (experiment->data.target, "cs");
  CHECK_STRING (*plait_experiment_data_files (experiment, "train", "en"), plait_test_path ("text/train.en"));
  CHECK (!*plait_experiment_data_files (experiment, "validation", "en"));
  CHECK_STRING (plait_experiment_vocabulary (experiment, "cs"), "shared");
  REQUIRE (experiment->n_sources == 3);
  CHECK_STRING (experiment->sources[0].name, "en");
  CHECK_STRING (plait_settings_text (experiment->sources[0].encoder->parameters, "layers"), "4");
  CHECK_STRING (experiment->sources[1].name, "de");
  CHECK_INT (experiment->sources[2].kind, PLAIT_INPUT_FEATURES);
  CHECK_STRING (experiment->sources[2].dataset, "/conv");
  CHECK_STRING (experiment->combiner->plugin->name, "hierarchical");
  CHECK_STRING (plait_settings_text (experiment->combiner->parameters, "context_heads"), "4");
  CHECK_INT (experiment->decoder.width, 256);
  CHECK_INT (experiment->train.epochs, 3);
  CHECK_INT (experiment->decode.beam, 4);
  CHECK_STRING (experiment->test_splits[0], "test2016");
  CHECK (!experiment->test_splits[1]);
}

TEST_CASE (experiment_file, streams_can_be_documents)
{
  static const char *const overrides[] = { "experiment.sources=en",   "source.en.encoder=reader",
                                           "data.documents=en;de",    "data.documents_by_line=cs:cs",
                                           "data.document_roles=5",   "data.document_starts=sources",
                                           "data.document_length=99", NULL };
  g_autoptr (PlaitRegistry) registry = example_registry ();
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) parts = g_strsplit (example_text, "layers=4\n", -1);
  g_autofree char *file = g_strjoinv ("", parts);
  g_autoptr (PlaitExperiment) experiment = example_load (registry, file, overrides, NO_ERROR);

  REQUIRE (experiment && experiment->n_sources == 1);
  CHECK_INT (experiment->sources[0].kind, PLAIT_INPUT_DOCUMENTS);
  PlaitDocumentSettings en = plait_experiment_documents (experiment, "en");
  PlaitDocumentSettings cs = plait_experiment_documents (experiment, "cs");
  CHECK (en.layout == PLAIT_LAYOUT_DOCUMENTS && en.start_tokens && en.roles == 5 && en.maximum == 99 && !en.truncates);
  CHECK (cs.layout == PLAIT_LAYOUT_LINES && !cs.start_tokens && cs.roles == 0 && cs.maximum == 0);
  CHECK_STRING (cs.language, "cs");

  /* The stored text has only the streams that are used, and can be read again. */
  g_autofree char *text = plait_experiment_text (experiment);
  CHECK_CONTAINS (text, "\ndocuments=en\n");
  g_autoptr (PlaitExperiment) again = plait_experiment_parse (text, "run.h5", NULL, registry, NO_ERROR);
  REQUIRE (again != NULL);
  CHECK_INT (plait_experiment_documents (again, "en").maximum, 99);

  g_autoptr (PlaitExperiment) plain = example_load (registry, example_text, NULL, &error);
  g_autofree char *without = plait_experiment_text (plain);
  CHECK (!strstr (without, "document"));
}

TEST_CASE (experiment_file, sources_can_be_chosen_and_ordered)
{
  g_autoptr (PlaitRegistry) registry = example_registry ();
  g_autoptr (PlaitExperiment) experiment
      = example_load (registry, example_text, (const char *[]){ "experiment.sources=de + en", NULL }, NO_ERROR);

  REQUIRE (experiment && experiment->n_sources == 2);
  CHECK_STRING (experiment->sources[0].name, "de");
  CHECK_STRING (experiment->sources[1].name, "en");

  g_autofree char *text = plait_experiment_text (experiment);
  CHECK_CONTAINS (text, "\nsources=de+en\n");
  CHECK (!strstr (text, "image"));
}

/* The defaults of [train] depend on the optimizer. A value that is set overrides the default. */
TEST_CASE (experiment_file, defaults_suit_the_optimizer)
{
  static const struct
  {
    const char *overrides[3];
    double learning_rate;
    gint schedule;
    gint64 warm_up;
  } cases[] = {
    { { "train.optimizer=adam" }, 0.2, PLAIT_TRAIN_SCHEDULE_NOAM, 4000 },
    { { "train.optimizer=adamw" }, 0.2, PLAIT_TRAIN_SCHEDULE_NOAM, 4000 },
    { { "train.optimizer=lion" }, 0.0001, PLAIT_TRAIN_SCHEDULE_CONSTANT, 4000 },
    { { "train.optimizer=adadelta" }, 1, PLAIT_TRAIN_SCHEDULE_CONSTANT, 0 },
    { { "train.optimizer=adadelta", "train.learning_rate=0.5" }, 0.5, PLAIT_TRAIN_SCHEDULE_CONSTANT, 0 },
    { { "train.optimizer=adadelta", "train.schedule=linear" }, 1, PLAIT_TRAIN_SCHEDULE_LINEAR, 0 },
  };
  g_autoptr (PlaitRegistry) registry = example_registry ();

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (PlaitExperiment) experiment = example_load (registry, example_text, cases[i].overrides, NO_ERROR);
      CONTEXT ("%s", cases[i].overrides[0]);

      REQUIRE (experiment != NULL);
      CHECK_NEAR (experiment->train.learning_rate, cases[i].learning_rate, 0);
      CHECK_INT (experiment->train.schedule, cases[i].schedule);
      CHECK_INT (experiment->train.warm_up, cases[i].warm_up);
      CHECK_NEAR (experiment->train.rho, 0.95, 0);
      CHECK_NEAR (experiment->train.adadelta_epsilon, 1e-6, 0);
    }
}

TEST_CASE (experiment_file, the_resolved_text_reads_back_to_itself)
{
  g_autoptr (PlaitRegistry) registry = example_registry ();
  g_autoptr (PlaitExperiment) experiment = example_load (
      registry, example_text, (const char *[]){ "decoder.dropout=0.30", "experiment.name=a \\\\ b", NULL }, NO_ERROR);

  REQUIRE (experiment != NULL);
  g_autofree char *text = plait_experiment_text (experiment);
  CHECK_CONTAINS (text, "name=a \\\\ b\nseed=7\nsources=en+de+image\n");
  CHECK_CONTAINS (text, "\ndropout=0.3\n");
  CHECK_CONTAINS (text, "\n[source image]\nencoder=features\nstream=image\ndataset=/conv\n");

  g_autoptr (PlaitExperiment) again = plait_experiment_parse (text, "run.h5", NULL, registry, NO_ERROR);
  REQUIRE (again != NULL);
  g_autofree char *text_again = plait_experiment_text (again);
  CHECK_STRING (text_again, text);
  CHECK_STRING (again->name, "a \\ b");
}

/* Names of training files may contain semicolons and backslashes, in a file, on the command line and in the stored
 * text. */
TEST_CASE (experiment_file, names_of_training_files_may_have_semicolons)
{
  g_autoptr (PlaitRegistry) registry = example_registry ();
  g_autoptr (GString) changed = g_string_new (example_text);
  const char *paths[] = { plait_test_path ("text/x;y"), plait_test_path ("text/x\\y") };

  g_string_replace (changed, "train.en=train.en", "train.en=x\\;y", 0);
  plait_test_write ("text/x;y", "a b c\n");
  plait_test_write ("text/x\\y", "a b c\n");
  for (guint i = 0; i < 3; i++)
    {
      const char *const given[] = { i == 1   ? "data.train.en=text/x\\;y"
                                    : i == 2 ? "data.train.en=text/x\\\\y"
                                             : NULL,
                                    NULL };
      g_autoptr (PlaitExperiment) experiment
          = example_load (registry, i == 0 ? changed->str : example_text, given, NO_ERROR);
      CONTEXT ("%u", i);

      REQUIRE (experiment != NULL);
      g_autofree char *text = plait_experiment_text (experiment);
      g_autoptr (PlaitExperiment) again = plait_experiment_parse (text, "run.h5", NULL, registry, NO_ERROR);
      REQUIRE (again != NULL);
      CHECK_STRING (plait_experiment_data_files (experiment, "train", "en")[0], paths[i == 2]);
      CHECK_STRING (plait_experiment_data_files (again, "train", "en")[0], paths[i == 2]);
      CHECK (!plait_experiment_data_files (again, "train", "en")[1]);
    }
}

/* A path on the command line is relative to the current folder, a path in a file to the folder of the file. */
TEST_CASE (experiment_file, files_on_the_command_line_are_relative_to_where_it_is_given)
{
  g_autoptr (PlaitRegistry) registry = example_registry ();
  g_autoptr (GError) error = NULL;
  const char *german = plait_test_path ("text/train.de"), *folder = plait_test_path ("text");
  const char *const overrides[][2] = {
    { "data.vocabulary.shared=text/train.de", NULL },
    { "data.vocabulary.shared = ./text/../text/train.de", NULL },
    { plait_test_format ("data.vocabulary.shared=%s", german), NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (overrides); i++)
    {
      g_autoptr (PlaitExperiment) experiment = example_load (registry, example_text, overrides[i], NO_ERROR);
      REQUIRE (experiment);
      CHECK_STRING (plait_experiment_vocabulary_file (experiment, "shared"), german);
      CHECK_STRING (experiment->data.folder, folder);
    }
  g_autoptr (PlaitExperiment) other = example_load (
      registry, example_text, (const char *[]){ "data.folder=text", "data.train.en=text/train.de", NULL }, NO_ERROR);
  REQUIRE (other);
  CHECK_STRING (other->data.folder, folder);
  CHECK_STRING (*plait_experiment_data_files (other, "train", "en"), german);
  /* An empty value means that no file is named. */
  g_autoptr (PlaitExperiment) none
      = example_load (registry, example_text, (const char *[]){ "train.initialise=", NULL }, NO_ERROR);
  REQUIRE (none);
  CHECK_STRING (none->train.initialise, "");
  CHECK (!example_load (registry, example_text, (const char *[]){ "data.vocabulary.shared=train.de", NULL }, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT,
               "--set data.vocabulary.shared=train.de: [data] vocabulary.shared: there is no file");
}

/* Variables are replaced in paths of the file and of the command line, and "~" in paths of the command line. The stored
 * text has the replaced paths, so that a run can be repeated in another environment. */
TEST_CASE (experiment_file, paths_have_folders_of_users_and_variables)
{
  g_autoptr (PlaitRegistry) registry = example_registry ();
  g_autoptr (GError) error = NULL;
  const char *folder = plait_test_path ("text"), *german = plait_test_path ("text/train.de");
  const char *odd = plait_test_path ("text/$HOME");
  g_auto (GStrv) before = g_strsplit (example_text, "folder=text", 2);
  g_autofree char *in_file = g_strjoinv ("folder=$PLAIT_TEST_TEXT", before);
  const struct
  {
    const char *text;
    const char *overrides[3];
  } cases[] = {
    { in_file, { NULL } },
    { example_text, { "data.folder=~/text", NULL } },
    { example_text, { "data.folder=$PLAIT_TEST_TEXT", "data.train.en=${PLAIT_TEST_TEXT}/train.de", NULL } },
    { example_text, { "data.vocabulary.shared=~/text/$PLAIT_TEST_FILE", NULL } },
  };

  g_setenv ("HOME", plait_test_folder (), TRUE);
  g_setenv ("PLAIT_TEST_TEXT", folder, TRUE);
  g_setenv ("PLAIT_TEST_FILE", "train.de", TRUE);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      CONTEXT ("case %u", i);
      g_autoptr (PlaitExperiment) experiment = example_load (registry, cases[i].text, cases[i].overrides, NO_ERROR);
      REQUIRE (experiment);
      CHECK_STRING (experiment->data.folder, folder);
      if (i == 2)
        CHECK_STRING (*plait_experiment_data_files (experiment, "train", "en"), german);
      if (i == 3)
        CHECK_STRING (plait_experiment_vocabulary_file (experiment, "shared"), german);
      g_autofree char *text = plait_experiment_text (experiment);
      CHECK (!strchr (text, '$') && !strchr (text, '~'));
    }
  CHECK (!example_load (registry, example_text, (const char *[]){ "data.folder=$PLAIT_TEST_UNSET/a", NULL }, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT,
               "--set data.folder=$PLAIT_TEST_UNSET/a: [data] folder: the variable PLAIT_TEST_UNSET is not set");
  g_clear_error (&error);
  CHECK (
      !example_load (registry, example_text, (const char *[]){ "train.initialise=~no-such-user/a.h5", NULL }, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "there is no user no-such-user");
  g_clear_error (&error);

  /* A "$" in the name of a file is preserved when the experiment is stored and read again. */
  plait_test_write ("text/$HOME", "a\n");
  g_autoptr (PlaitExperiment) experiment
      = example_load (registry, example_text, (const char *[]){ "data.vocabulary.shared=text/$$HOME", NULL }, NO_ERROR);
  REQUIRE (experiment);
  CHECK_STRING (plait_experiment_vocabulary_file (experiment, "shared"), odd);
  g_autofree char *text = plait_experiment_text (experiment);
  g_autoptr (PlaitExperiment) again = plait_experiment_parse (text, "run.h5", NULL, registry, NO_ERROR);
  REQUIRE (again);
  CHECK_STRING (plait_experiment_vocabulary_file (again, "shared"), odd);
}

/* plait_override_from_here() makes paths in values of --set absolute and leaves other values unchanged. plait test
 * stores such values. */
TEST_CASE (experiment_file, a_setting_of_the_command_line_is_made_to_last)
{
  g_autoptr (GError) error = NULL;

  g_setenv ("HOME", plait_test_folder (), TRUE);
  g_autofree char *file = plait_override_from_here (&(PlaitOverride){ "data.test2017.en", "~/text/a.en" }, NO_ERROR);
  g_autofree char *number = plait_override_from_here (&(PlaitOverride){ "decode.beam", "4" }, NO_ERROR);
  CHECK_STRING (file, plait_test_path ("text/a.en"));
  CHECK_STRING (number, "4");
  CHECK (!plait_override_from_here (&(PlaitOverride){ "data.test2017.en", "$PLAIT_TEST_UNSET" }, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "the variable PLAIT_TEST_UNSET is not set");
}

TEST_CASE (experiment_file, files_of_one_from_a_pipe_are_relative_to_where_it_is_read)
{
  const char *path = plait_test_path ("example.ini");
  g_autofree char *here = g_get_current_dir ();
  plait_test_write ("example.ini", "");
  g_autofree char *of_file = plait_experiment_folder (path), *of_pipe = plait_experiment_folder ("/dev/stdin");
  g_autofree char *open_file = g_strdup_printf ("/dev/fd/%d", g_open (path, O_RDONLY | O_CLOEXEC));
  g_autofree char *of_open_file = plait_experiment_folder (open_file);

  CHECK_STRING (of_file, plait_test_folder ());
  CHECK_STRING (of_pipe, here);
  CHECK_STRING (of_open_file, here);
  close (atoi (open_file + strlen ("/dev/fd/")));
}

/* An experiment file in /dev/shm is a regular file, so its paths are relative to its folder. */
TEST_CASE (experiment_file, files_of_one_in_memory_are_relative_to_it)
{
  g_autofree char *folder = g_strdup ("/dev/shm/plait-test-XXXXXX");

  if (!g_mkdtemp (folder))
    SKIP_TEST ("no folder can be made in /dev/shm");
  g_autofree char *path = g_build_filename (folder, "example.ini", NULL);
  plait_test_write (path, "");
  g_autofree char *of_file = plait_experiment_folder (path);
  CHECK_STRING (of_file, folder);
  g_unlink (path);
  g_rmdir (folder);
}

TEST_CASE (experiment_file, the_key_knows_what_changes_results)
{
  g_autoptr (PlaitRegistry) registry = example_registry ();
  static const struct
  {
    const char *override;
    gboolean changes;
  } cases[] = {
    { "experiment.name=other", FALSE },
    { "train.log_every=7", FALSE },
    { "train.checkpoint_every=9", FALSE },
    { "data.train.en=text/train.de", FALSE },
    { "decoder.width=256", FALSE },
    { "source.en.layers=04", FALSE },
    { "experiment.seed=8", TRUE },
    { "source.de.layers=4", TRUE },
    { "combiner.heads=4", TRUE },
    { "experiment.sources=en+de", TRUE },
    { "decoder.combiner=flat", TRUE },
    { "data.vocabulary_size=501", TRUE },
    { "experiment.sources=de+en+image", TRUE },
  };
  /* The file of all cases does not set context_heads, because the combiner flat of one case lacks this parameter. */
  g_auto (GStrv) lines = g_strsplit (example_text, "context_heads=4\n", -1);
  g_autofree char *text = g_strjoinv ("", lines);
  g_autoptr (PlaitExperiment) base = example_load (registry, text, NULL, NO_ERROR);
  REQUIRE (base != NULL);
  g_autofree char *key = plait_experiment_fingerprint_text (base);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      CONTEXT ("%s", cases[i].override);
      g_autoptr (PlaitExperiment) other
          = example_load (registry, text, (const char *[]){ cases[i].override, NULL }, NO_ERROR);

      REQUIRE (other != NULL);
      g_autofree char *other_key = plait_experiment_fingerprint_text (other);
      CHECK_INT (strcmp (key, other_key) != 0, cases[i].changes);
    }
}

/* A run stores the digest of the brief form, so that the digest does not change when plait gets a new setting. */
TEST_CASE (experiment_file, the_brief_key_leaves_defaults_out)
{
  g_autoptr (PlaitRegistry) registry = example_registry ();
  g_autoptr (PlaitExperiment) plain = example_load (registry, example_text, NULL, NO_ERROR);
  g_autoptr (PlaitExperiment) spelt = example_load (
      registry, example_text, (const char *[]){ "decoder.norm_epsilon=0.000001", "decode.beam=4", NULL }, NO_ERROR);
  g_autoptr (PlaitExperiment) other
      = example_load (registry, example_text, (const char *[]){ "decoder.norm_epsilon=1e-5", NULL }, NO_ERROR);

  REQUIRE (plain && spelt && other);
  g_autofree char *key = plait_experiment_training_fingerprint_text (plain, PLAIT_FINGERPRINT_BRIEF);
  g_autofree char *spelt_key = plait_experiment_training_fingerprint_text (spelt, PLAIT_FINGERPRINT_BRIEF);
  g_autofree char *other_key = plait_experiment_training_fingerprint_text (other, PLAIT_FINGERPRINT_BRIEF);
  g_autofree char *full = plait_experiment_training_fingerprint_text (plain, PLAIT_FINGERPRINT_FULL);
  g_autofree char *evaluation = plait_experiment_evaluation_fingerprint_text (plain, PLAIT_FINGERPRINT_BRIEF);
  CHECK_STRING (spelt_key, key);
  CHECK (!strstr (key, "norm_epsilon="));
  CHECK_CONTAINS (key, "\nepochs=3\n");
  CHECK_CONTAINS (other_key, "\nnorm_epsilon=1e-05\n");
  CHECK_CONTAINS (full, "\nnorm_epsilon=1e-06\n");
  CHECK_CONTAINS (evaluation, "\nbeam=4\n");
  CHECK (!strstr (evaluation, "n_best="));
}

TEST_CASE (experiment_file, unused_sources_do_not_reach_the_key)
{
  g_autoptr (PlaitRegistry) registry = example_registry ();
  g_autoptr (GError) error = NULL;
  g_autoptr (PlaitExperiment) one
      = example_load (registry, example_text, (const char *[]){ "experiment.sources=en", NULL }, &error);
  g_autoptr (PlaitExperiment) other = example_load (
      registry, example_text, (const char *[]){ "experiment.sources=en", "source.de.layers=2", NULL }, &error);

  REQUIRE (one && other);
  g_autofree char *key = plait_experiment_fingerprint_text (one),
                  *other_key = plait_experiment_fingerprint_text (other);
  CHECK_STRING (key, other_key);
}

TEST_CASE (experiment_file, a_generated_corpus)
{
  g_autoptr (PlaitRegistry) registry = example_registry ();
  const PlaitTask *task = plait_tasks ()[0];
  guint n = g_strv_length ((char **)task->streams);
  g_autofree char *text = g_strdup_printf ("[data]\ngenerate=%s\ngenerate.train=60\ngenerate.seed=5\n"
                                           "[source %s]\nencoder=transformer\n",
                                           task->name, task->streams[0]);
  g_autoptr (GError) error = NULL;
  g_autoptr (PlaitExperiment) experiment = example_load (registry, text, NULL, NO_ERROR);

  REQUIRE (experiment != NULL);
  CHECK (experiment->task == task);
  CHECK_INT (experiment->task_settings.sizes[0], 60);
  CHECK_INT (experiment->task_settings.seed, 5);
  CHECK_STRING (experiment->data.target, task->streams[n - 1]);
  CHECK_STRING (experiment->test_splits[0], "test");

  g_autofree char *resolved = plait_experiment_text (experiment);
  g_autoptr (PlaitExperiment) again = plait_experiment_parse (resolved, "run.h5", NULL, registry, &error);
  REQUIRE (again != NULL);
  g_autofree char *resolved_again = plait_experiment_text (again);
  CHECK_STRING (resolved_again, resolved);
}

/* An encoder that reads trees needs a file of trees, and a file of trees needs such an encoder. */
TEST_CASE (experiment_file, trees)
{
  g_autoptr (PlaitRegistry) registry = example_registry ();
  static const char text[] = "[data]\ntarget=cs\nfolder=text\ntrain.en=train.en\ntrain.cs=train.cs\n"
                             "train.en.trees=train.de\n"
                             "[source en]\nencoder=forest\n[decoder]\ncombiner=serial\n";
  g_autoptr (GError) error = NULL;
  g_autoptr (PlaitExperiment) experiment = example_load (registry, text, NULL, NO_ERROR);
  REQUIRE (experiment != NULL);
  CHECK_STRING (experiment->sources[0].trees, "en.trees");
  CHECK (plait_experiment_reads_trees (experiment));
  REQUIRE (experiment->head_rules != NULL);
  CHECK (g_str_has_suffix (experiment->head_rules, "/head-rules/english.ini"));
  g_autofree char *resolved = plait_experiment_text (experiment);
  CHECK_CONTAINS (resolved, "train.en.trees=train.de\n");
  CHECK_CONTAINS (resolved, "trees=given\nbinarisation=head\nhead_rules=english\nno_tree=leaves\n");
  g_autoptr (PlaitExperiment) again = plait_experiment_parse (resolved, "resolved", NULL, registry, NO_ERROR);
  g_autofree char *twice = plait_experiment_text (again);
  CHECK_STRING (twice, resolved);

  /* If trees are generated, the fingerprint does not contain the file of trees. If no encoder reads trees, the stored
   * text has no settings of trees. */
  g_autoptr (PlaitExperiment) control
      = example_load (registry, text, (const char *[]){ "data.trees=random", NULL }, NO_ERROR);
  g_autofree char *key = plait_experiment_fingerprint_text (control);
  CHECK (!strstr (key, "en.trees") && !control->head_rules);
  g_autoptr (PlaitExperiment) plain = example_load (registry, example_text, NULL, &error);
  g_autofree char *without = plait_experiment_text (plain);
  CHECK (!strstr (without, "no_tree") && !strstr (without, "trees="));

  CHECK (!example_load (registry, text, (const char *[]){ "source.en.encoder=transformer", NULL }, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT,
               "example.ini:6: [data] train.en.trees: names trees, but the encoder transformer of [source en] does "
               "not read trees; choose an encoder of trees, or drop the line");
  CHECK (!example_load (registry, text,
                        (const char *[]){ "data.test.en=text/test.en", "data.test.cs=text/test.cs", NULL }, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT,
               "there is no file for test.en.trees, but the encoder forest of [source en] reads trees; add "
               "test.en.trees=FILE, set trees=right");
  CHECK (!example_load (registry, text, (const char *[]){ "data.head_rules=klingon", NULL }, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT,
               "--set data.head_rules=klingon: [data] head_rules: there is no file head-rules/");
  CHECK (!example_load (registry, text, (const char *[]){ "data.train.de.trees=text/train.de", NULL }, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "[data] train.de.trees: no source reads the stream \"de.trees\"");
  g_autofree char *grid = g_strconcat (text, "[grid]\nsource.en.encoder=forest;transformer\n", NULL);
  g_autoptr (PlaitExperiment) one
      = example_load (registry, grid, (const char *[]){ "source.en.encoder=transformer", NULL }, NO_ERROR);
  CHECK (one != NULL);

  static const char generated[] = "[data]\ngenerate=reorder\n[source a]\nencoder=forest\n[decoder]\ncombiner=serial\n";
  g_autoptr (PlaitExperiment) made = example_load (registry, generated, NULL, NO_ERROR);
  CHECK (made != NULL);
  CHECK (!example_load (registry, generated, (const char *[]){ "data.generate=agreement", NULL }, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "the task agreement makes no stream \"a.trees\"");
}

TEST_CASE (experiment_file, tasks_say_which_streams_are_documents)
{
  static const char text[] = "[data]\ngenerate=needle\n[source a]\nencoder=transformer\n[decoder]\ncombiner=serial\n";
  g_autoptr (PlaitRegistry) registry = example_registry ();
  g_autoptr (PlaitExperiment) made = example_load (registry, text, NULL, NO_ERROR);

  REQUIRE (made != NULL);
  CHECK_INT (plait_experiment_documents (made, "a").layout, PLAIT_LAYOUT_DOCUMENTS);
  CHECK_INT (plait_experiment_documents (made, "target").layout, PLAIT_LAYOUT_SENTENCES);
}

/* plait-bench loads models although their text files do not exist. */
TEST_CASE (experiment_file, models_need_no_data)
{
  static const char *const names[] = { "small", "msmt", "mmt", "long", "h128", "h256", "h1024" };
  static const char *const trees[] = { "experiment.sources=tree", "decoder.coverage=tree", NULL };
  g_autoptr (PlaitRegistry) registry = example_registry ();

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      CONTEXT ("%s", names[i]);
      const char *path = plait_test_source_path (plait_test_format ("experiments/bench/%s.ini", names[i]));
      g_autoptr (GError) fault = NULL;
      g_autoptr (PlaitExperiment) experiment = plait_experiment_load (
          path, *names[i] == 'h' ? test_overrides (trees) : NULL, PLAIT_RESOLVE_WITHOUT_DATA, registry, NO_ERROR);

      REQUIRE (experiment != NULL);
      CHECK_STRING (experiment->name, names[i]);
      CHECK (experiment->bench.longest_length < 200);
      CHECK (!plait_experiment_load (path, NULL, PLAIT_RESOLVE_CHECK_FILES, registry, &fault));
      CHECK_ERROR (fault, PLAIT_ERROR_INPUT, "there is no file for train.text");
    }
}
