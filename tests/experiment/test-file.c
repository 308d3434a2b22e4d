/* SPDX-License-Identifier: MIT */
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>

#include "experiment/file.h"
#include "harness.h"
#include "runs.h"

/* Experiment files: what a sound one resolves to, and what is said of broken ones. */

static const char sound[] = "[experiment]\n"           /* 1 */
                            "seed=7\n"                 /* 2 */
                            "[data]\n"                 /* 3 */
                            "folder=text\n"            /* 4 */
                            "target=cs\n"              /* 5 */
                            "vocabulary_size=500\n"    /* 6 */
                            "train.en=train.en\n"      /* 7 */
                            "train.de=train.de\n"      /* 8 */
                            "train.image=train.h5\n"   /* 9 */
                            "train.cs=train.cs\n"      /* 10 */
                            "test2016.en=test.en\n"    /* 11 */
                            "test2016.de=test.de\n"    /* 12 */
                            "test2016.image=test.h5\n" /* 13 */
                            "test2016.cs=test.cs\n"    /* 14 */
                            "[source en]\n"            /* 15 */
                            "encoder=transformer\n"    /* 16 */
                            "layers=4\n"               /* 17 */
                            "[source de]\n"            /* 18 */
                            "encoder=transformer\n"    /* 19 */
                            "[source image]\n"         /* 20 */
                            "encoder=features\n"       /* 21 */
                            "dataset=/conv\n"          /* 22 */
                            "[decoder]\n"              /* 23 */
                            "combiner=hierarchical\n"  /* 24 */
                            "width=256\n"              /* 25 */
                            "[combiner]\n"             /* 26 */
                            "context_heads=4\n"        /* 27 */
                            "[train]\n"                /* 28 */
                            "epochs=3\n"               /* 29 */
                            "[decode]\n"               /* 30 */
                            "beam=4\n"                 /* 31 */
                            "[evaluate]\n"             /* 32 */
                            "metrics=bleu;chrf\n";     /* 33 */

static void
write_file (const char *name, const char *text)
{
  g_autofree char *path = plait_test_path (name);
  g_autofree char *folder = g_path_get_dirname (path);

  g_assert_cmpint (g_mkdir_with_parents (folder, 0755), ==, 0);
  FILE *file = fopen (path, "w");
  g_assert_true (file && fputs (text, file) >= 0 && fclose (file) == 0);
}

/* The plugins of this build, and two schemas without modules that the crossings below need. */
static PlaitRegistry *
open_registry (void)
{
  g_autofree char *built = plait_test_build_path ("plugins");
  g_autofree char *odd = plait_test_path ("plugins");

  write_file ("plugins/combiner/recurrent.ini", "[plugin]\nname=recurrent\nkind=combiner\ninterface=2\nsummary=S\n"
                                                "[requires]\ndecoder=gru;lstm\n");
  write_file ("plugins/combiner/downwards.ini", "[plugin]\nname=downwards\nkind=combiner\ninterface=2\nsummary=S\n"
                                                "[requires]\nstructure=levels\n");
  write_file ("plugins/encoder/treeful.ini", "[plugin]\nname=treeful\nkind=encoder\ninterface=2\nsummary=S\n"
                                             "input=tokens\n[requires]\nstructure=tree\n");
  write_file ("plugins/encoder/recurrent.ini", "[plugin]\nname=recurrent\nkind=encoder\ninterface=2\nsummary=S\n"
                                               "input=tokens\n[requires]\ndecoder=gru\n");
  write_file ("plugins/encoder/needy.ini", "[plugin]\nname=needy\nkind=encoder\ninterface=2\nsummary=S\ninput=tokens\n"
                                           "[parameter.size]\ntype=integer\nsummary=Size\n");
  write_file ("plugins/encoder/greedy.ini",
              "[plugin]\nname=greedy\nkind=encoder\ninterface=2\nsummary=S\ninput=tokens\n"
              "[parameter.stream]\ntype=text\ndefault=\nsummary=Stream\n");
  write_file ("plugins/encoder/forest.ini", "[plugin]\nname=forest\nkind=encoder\ninterface=2\nsummary=S\n"
                                            "input=tokens\nstreams=trees\n");
  write_file ("plugins/encoder/reader.ini", "[plugin]\nname=reader\nkind=encoder\ninterface=2\nsummary=S\n"
                                            "input=documents\n");
  return plait_registry_new_for_folders ((const char *[]){ odd, built, NULL });
}

static void
write_data (void)
{
  static const char *const names[]
      = { "train.en", "train.de", "train.cs", "train.h5", "test.en", "test.de", "test.cs", "test.h5" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *name = g_strconcat ("text/", names[i], NULL);
      write_file (name, "a\n");
    }
}

static PlaitExperiment *
load (PlaitRegistry *registry, const char *text, const char *const *overrides, GError **error)
{
  g_autofree char *path = plait_test_path ("example.ini");

  write_data ();
  write_file ("example.ini", text);
  return test_load (path, overrides, registry, error);
}

TEST_CASE (experiment_file, a_sound_one)
{
  g_autoptr (PlaitRegistry) registry = open_registry ();
  g_autoptr (GError) error = NULL;
  g_autoptr (PlaitExperiment) experiment = load (registry, sound, NULL, &error);
  g_autofree char *train_en = plait_test_path ("text/train.en");

  CHECK_NO_ERROR (error);
  REQUIRE (experiment != NULL);
  CHECK_STRING (experiment->name, "example");
  CHECK_INT (experiment->experiment.seed, 7);
  CHECK_STRING (experiment->data.target, "cs");
  CHECK_STRING (plait_experiment_data_file (experiment, "train", "en"), train_en);
  CHECK (!plait_experiment_data_file (experiment, "validation", "en"));
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
  g_autoptr (PlaitRegistry) registry = open_registry ();
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) parts = g_strsplit (sound, "layers=4\n", -1);
  g_autofree char *file = g_strjoinv ("", parts);
  g_autoptr (PlaitExperiment) experiment = load (registry, file, overrides, &error);

  CHECK_NO_ERROR (error);
  REQUIRE (experiment && experiment->n_sources == 1);
  CHECK_INT (experiment->sources[0].kind, PLAIT_INPUT_DOCUMENTS);
  PlaitDocumentSettings en = plait_experiment_documents (experiment, "en");
  PlaitDocumentSettings cs = plait_experiment_documents (experiment, "cs");
  CHECK (en.layout == PLAIT_LAYOUT_DOCUMENTS && en.starts && en.roles == 5 && en.maximum == 99 && !en.truncates);
  CHECK (cs.layout == PLAIT_LAYOUT_LINES && !cs.starts && cs.roles == 0 && cs.maximum == 0);
  CHECK_STRING (cs.language, "cs");

  /* What is stored speaks of streams that are used, and is read again. */
  g_autofree char *text = plait_experiment_text (experiment);
  CHECK_CONTAINS (text, "\ndocuments=en\n");
  g_autoptr (PlaitExperiment) again = plait_experiment_parse (text, "run.h5", NULL, registry, &error);
  CHECK_NO_ERROR (error);
  REQUIRE (again != NULL);
  CHECK_INT (plait_experiment_documents (again, "en").maximum, 99);

  g_autoptr (PlaitExperiment) plain = load (registry, sound, NULL, &error);
  g_autofree char *without = plait_experiment_text (plain);
  CHECK (!strstr (without, "document"));
}

static const struct
{
  const char *overrides[4];
  const char *said;
} document_faults[] = {
  { { "source.en.encoder=reader" },
    "[source en] encoder: the encoder reader reads documents, but the stream en is none" },
  { { "source.en.encoder=forest", "data.documents=en", "data.train.en.trees=text/train.en" },
    "[source en] encoder: the encoder forest reads trees, but the stream en is documents" },
  { { "data.documents=image" },
    "[source image] encoder: the encoder features reads features, but the stream image is" },
  { { "data.documents=en;fr" }, "[data] documents: no source reads the stream \"fr\"" },
  { { "data.documents=en", "data.documents_by_line=en:en" }, "the stream en stands in documents as well" },
  { { "data.documents_by_line=en:e n" }, "[data] documents_by_line: \"e n\" is no language" },
  { { "data.documents=en;de;cs", "data.document_length=9" },
    "[data] document_length: documents are cut into chunks, the same sentences of all streams, but the stream image" },
};

TEST_CASE (experiment_file, documents_must_fit)
{
  g_autoptr (PlaitRegistry) registry = open_registry ();
  g_auto (GStrv) parts = g_strsplit (sound, "layers=4\n", -1);
  g_autofree char *file = g_strjoinv ("", parts);

  for (guint i = 0; i < G_N_ELEMENTS (document_faults); i++)
    {
      g_autoptr (GError) error = NULL;
      CONTEXT ("%s", document_faults[i].overrides[0]);

      CHECK (!load (registry, file, document_faults[i].overrides, &error));
      CHECK_ERROR (error, PLAIT_ERROR_INPUT, document_faults[i].said);
    }
}

TEST_CASE (experiment_file, sources_can_be_chosen_and_ordered)
{
  g_autoptr (PlaitRegistry) registry = open_registry ();
  g_autoptr (GError) error = NULL;
  g_autoptr (PlaitExperiment) experiment
      = load (registry, sound, (const char *[]){ "experiment.sources=de + en", NULL }, &error);

  CHECK_NO_ERROR (error);
  REQUIRE (experiment && experiment->n_sources == 2);
  CHECK_STRING (experiment->sources[0].name, "de");
  CHECK_STRING (experiment->sources[1].name, "en");

  g_autofree char *text = plait_experiment_text (experiment);
  CHECK_CONTAINS (text, "\nsources=de+en\n");
  CHECK (!strstr (text, "image"));
}

/* What [train] leaves open suits the optimizer; what it gives stays. */
TEST_CASE (experiment_file, defaults_suit_the_optimizer)
{
  static const struct
  {
    const char *overrides[3];
    double learning_rate;
    gint schedule;
    gint64 warm_up;
  } cases[] = {
    { { "train.optimizer=adam" }, 0.2, PLAIT_SCHEDULE_NOAM, 4000 },
    { { "train.optimizer=adadelta" }, 1, PLAIT_SCHEDULE_CONSTANT, 0 },
    { { "train.optimizer=adadelta", "train.learning_rate=0.5" }, 0.5, PLAIT_SCHEDULE_CONSTANT, 0 },
    { { "train.optimizer=adadelta", "train.schedule=linear" }, 1, PLAIT_SCHEDULE_LINEAR, 0 },
  };
  g_autoptr (PlaitRegistry) registry = open_registry ();

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (PlaitExperiment) experiment = load (registry, sound, cases[i].overrides, &error);
      CONTEXT ("%s", cases[i].overrides[0]);

      CHECK_NO_ERROR (error);
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
  g_autoptr (PlaitRegistry) registry = open_registry ();
  g_autoptr (GError) error = NULL;
  g_autoptr (PlaitExperiment) experiment
      = load (registry, sound, (const char *[]){ "decoder.dropout=0.30", "experiment.name=a \\\\ b", NULL }, &error);

  CHECK_NO_ERROR (error);
  REQUIRE (experiment != NULL);
  g_autofree char *text = plait_experiment_text (experiment);
  CHECK_CONTAINS (text, "name=a \\\\ b\nseed=7\nsources=en+de+image\n");
  CHECK_CONTAINS (text, "\ndropout=0.3\n");
  CHECK_CONTAINS (text, "\n[source image]\nencoder=features\nstream=image\ndataset=/conv\n");

  g_autoptr (PlaitExperiment) again = plait_experiment_parse (text, "run.h5", NULL, registry, &error);
  CHECK_NO_ERROR (error);
  REQUIRE (again != NULL);
  g_autofree char *text_again = plait_experiment_text (again);
  CHECK_STRING (text_again, text);
  CHECK_STRING (again->name, "a \\ b");
}

/* As after any command; in a file, files are relative to it. */
TEST_CASE (experiment_file, files_on_the_command_line_are_relative_to_where_it_is_given)
{
  g_autoptr (PlaitRegistry) registry = open_registry ();
  g_autoptr (GError) error = NULL;
  g_autofree char *german = plait_test_path ("text/train.de"), *folder = plait_test_path ("text");
  g_autofree char *absolute = g_strconcat ("data.vocabulary.shared=", german, NULL);
  const char *const overrides[][2] = {
    { "data.vocabulary.shared=text/train.de", NULL },
    { "data.vocabulary.shared = ./text/../text/train.de", NULL },
    { absolute, NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (overrides); i++)
    {
      g_autoptr (PlaitExperiment) experiment = load (registry, sound, overrides[i], &error);
      CHECK_NO_ERROR (error);
      REQUIRE (experiment);
      CHECK_STRING (plait_experiment_vocabulary_file (experiment, "shared"), german);
      CHECK_STRING (experiment->data.folder, folder);
    }
  g_autoptr (PlaitExperiment) other
      = load (registry, sound, (const char *[]){ "data.folder=text", "data.train.en=text/train.de", NULL }, &error);
  CHECK_NO_ERROR (error);
  REQUIRE (other);
  CHECK_STRING (other->data.folder, folder);
  CHECK_STRING (plait_experiment_data_file (other, "train", "en"), german);
  /* What is empty is no file. */
  g_autoptr (PlaitExperiment) none = load (registry, sound, (const char *[]){ "train.initialise=", NULL }, &error);
  CHECK_NO_ERROR (error);
  REQUIRE (none);
  CHECK_STRING (none->train.initialise, "");
  CHECK (!load (registry, sound, (const char *[]){ "data.vocabulary.shared=train.de", NULL }, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT,
               "--set data.vocabulary.shared=train.de: [data] vocabulary.shared: there is no file");
}

TEST_CASE (experiment_file, files_of_one_from_a_pipe_are_relative_to_where_it_is_read)
{
  g_autofree char *path = plait_test_path ("example.ini"), *here = g_get_current_dir ();
  write_file ("example.ini", "");
  g_autofree char *of_file = plait_experiment_folder (path), *of_pipe = plait_experiment_folder ("/dev/stdin");

  CHECK_STRING (of_file, plait_test_folder ());
  CHECK_STRING (of_pipe, here);
}

TEST_CASE (experiment_file, the_key_knows_what_changes_results)
{
  g_autoptr (PlaitRegistry) registry = open_registry ();
  g_autoptr (GError) error = NULL;
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
  /* The combiner of the comparison has the parameters of every case. */
  g_auto (GStrv) lines = g_strsplit (sound, "context_heads=4\n", -1);
  g_autofree char *text = g_strjoinv ("", lines);
  g_autoptr (PlaitExperiment) base = load (registry, text, NULL, &error);
  REQUIRE (base != NULL);
  g_autofree char *key = plait_experiment_key (base);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      CONTEXT ("%s", cases[i].override);
      g_autoptr (PlaitExperiment) other = load (registry, text, (const char *[]){ cases[i].override, NULL }, &error);

      CHECK_NO_ERROR (error);
      REQUIRE (other != NULL);
      g_autofree char *other_key = plait_experiment_key (other);
      CHECK_INT (strcmp (key, other_key) != 0, cases[i].changes);
    }
}

TEST_CASE (experiment_file, unused_sources_do_not_reach_the_key)
{
  g_autoptr (PlaitRegistry) registry = open_registry ();
  g_autoptr (GError) error = NULL;
  g_autoptr (PlaitExperiment) one = load (registry, sound, (const char *[]){ "experiment.sources=en", NULL }, &error);
  g_autoptr (PlaitExperiment) other
      = load (registry, sound, (const char *[]){ "experiment.sources=en", "source.de.layers=2", NULL }, &error);

  REQUIRE (one && other);
  g_autofree char *key = plait_experiment_key (one), *other_key = plait_experiment_key (other);
  CHECK_STRING (key, other_key);
}

TEST_CASE (experiment_file, a_generated_corpus)
{
  g_autoptr (PlaitRegistry) registry = open_registry ();
  const PlaitTask *task = plait_tasks ()[0];
  guint n = g_strv_length ((char **)task->streams);
  g_autofree char *text = g_strdup_printf ("[data]\ngenerate=%s\ngenerate.train=60\ngenerate.seed=5\n"
                                           "[source %s]\nencoder=transformer\n",
                                           task->name, task->streams[0]);
  g_autoptr (GError) error = NULL;
  g_autoptr (PlaitExperiment) experiment = load (registry, text, NULL, &error);

  CHECK_NO_ERROR (error);
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

typedef struct
{
  guint line; /* of the sound file, from 1; 0: @replacement is an override */
  const char *replacement;
  const char *part;
} Fault;

static void
check_fault (PlaitRegistry *registry, const Fault *fault)
{
  CONTEXT ("line %u: %s", fault->line, fault->replacement);
  g_auto (GStrv) lines = g_strsplit (sound, "\n", -1);
  g_autoptr (GError) error = NULL;

  if (fault->line > 0)
    {
      g_free (lines[fault->line - 1]);
      lines[fault->line - 1] = g_strdup (fault->replacement);
    }
  g_autofree char *text = g_strjoinv ("\n", lines);
  g_autoptr (PlaitExperiment) experiment
      = load (registry, text, fault->line == 0 ? (const char *[]){ fault->replacement, NULL } : NULL, &error);
  CHECK (!experiment);
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, fault->part);
}

TEST_CASE (experiment_file, every_fault_has_its_place_and_remedy)
{
  static const Fault faults[] = {
    { 1, "[experimnt]", "example.ini:1: [experimnt]: no such group; did you mean [experiment]?" },
    { 1, "[zzz]", "example.ini:1: [zzz]: no such group; there are experiment, data, source NAME" },
    { 1, "[source]", "example.ini:1: [source]: no such group; a source is [source NAME]" },
    { 1, "[experiment", "example.ini:1: " },
    { 2, "seed=-1", "example.ini:2: [experiment] seed: \"-1\" is below the minimum 0; give an integer from 0" },
    { 2, "seeds=1", "example.ini:2: [experiment] seeds: no such key; did you mean \"seed\"?" },
    { 2, "colour=1", "example.ini:2: [experiment] colour: no such key; plait inspect experiment lists the keys" },
    { 2, "sources=en+dee", "example.ini:2: [experiment] sources: there is no [source dee]; did you mean \"de\"?" },
    { 2, "sources=en+en", "example.ini:2: [experiment] sources: en stands there twice" },
    { 2, "sources=audio", "there is no [source audio]; join names with '+' (there are: en, de, image)" },
    { 2, "seed", "example.ini:2: " },
    { 3, "[experiment]", "example.ini:3: " },
    { 4, "folder=nowhere", "nowhere/train.en; name one relative to" },
    { 5, "", "example.ini:3: [data]: target is missing (Stream to be predicted); add target=" },
    { 5, "target=fr", "example.ini:3: [data]: there is no file for train.fr; add train.fr=FILE" },
    { 5, "target=en", "example.ini:15: [source en]: reads the stream en, which is data.target" },
    { 6, "vocabulary_size=many", "example.ini:6: [data] vocabulary_size: \"many\" is not an integer" },
    { 6, "vocabulary_size=5", "example.ini:6: [data] vocabulary_size: 5 entries are too few for SentencePiece" },
    { 6, "vocabulary=shard", "example.ini:6: [data] vocabulary: \"shard\" is not a choice (did you mean \"shared\"?)" },
    { 6, "vocabulary_character_coverage=2", "\"2\" is above the maximum 1; give a number from 0.98 to 1" },
    { 6, "vocabulary.en=train.en",
      "example.ini:6: [data] vocabulary.en: there is one vocabulary for all, called shared" },
    { 6, "vocabulary.shared=none.model", "example.ini:6: [data] vocabulary.shared: there is no file" },
    { 6, "append_end=1", "example.ini:6: [data] append_end: \"1\" is not a truth value; give true or false" },
    { 6, "generate=agreemnt", "example.ini:6: [data] generate: " },
    { 6, "generate=agreement",
      "example.ini:7: [data] train.en: names a file, but generate=agreement makes the corpus" },
    { 6, "generate.train=7", "example.ini:6: [data] generate.train: belongs to a generated corpus; add generate=TASK" },
    { 7, "train.en=missing.en", "example.ini:7: [data] train.en: there is no file" },
    { 7, "train.en=", "example.ini:7: [data] train.en: no file is named" },
    { 7, "train.en=..", "example.ini:7: [data] train.en: " },
    { 7, "train.en=train.h5", "example.ini:7: [data] train.en: train.h5 is an HDF5 file, but the encoder transformer" },
    { 7, "training.en=train.en", "example.ini:7: [data] training.en: \"training\" is no split" },
    { 7, "train.e n=train.en", "example.ini:7: [data] train.e n: \"e n\" is no name of a stream" },
    { 7, "train.en=train.en\ntrain.enn=train.en",
      "no source reads the stream \"enn\", nor is it the target; did you mean" },
    { 7, "train.en=train.en\ntrain.audio=train.en", "add [source audio], or drop the line" },
    { 8, "", "example.ini:3: [data]: there is no file for train.de; add train.de=FILE" },
    { 10, "train.cs=train.h5", "example.ini:10: [data] train.cs: train.h5 is an HDF5 file, but cs is the target" },
    { 10, "train.cs=train.cs\nvalidation.cs=train.cs", "there is no file for validation.en" },
    { 12, "", "there is no file for test2016.de" },
    { 14, "train.cs=train.cs", "example.ini:14: the key train.cs of [data] stands already in line 10" },
    { 15, "[source e/n]", "example.ini:15: [source e/n]: \"e/n\" is no name for a source" },
    { 16, "", "example.ini:15: [source en]: encoder is missing; add encoder=" },
    { 16, "encoder=transfromer", "there is no encoder called \"transfromer\"; did you mean \"transformer\"?" },
    { 16, "encoder=../transformer", "\"../transformer\" is no name of a plugin" },
    { 16, "encoder=needy", "example.ini:15: [source en]: size is missing (Size); add size= and an integer" },
    { 16, "encoder=greedy", "greedy.ini has a parameter stream, which the host keeps for itself" },
    { 17, "layers=four",
      "example.ini:17: [source en] layers: \"four\" is not an integer; give an integer from 0 to 64" },
    { 17, "layer=4", "example.ini:17: [source en] layer: no such key; did you mean \"layers\"?" },
    { 17, "colour=4", "example.ini:17: [source en] colour: no such key; plait inspect transformer lists the keys" },
    { 17, "stream=image",
      "example.ini:21: [source image] encoder: the encoder features reads features, but [source en]" },
    { 19, "encoder=treeful", "the encoder treeful needs tree, which its input (tokens) does not carry" },
    { 19, "encoder=recurrent", "example.ini:19: [source de] encoder: the encoder recurrent cannot stand in a decoder" },
    { 24, "combiner=heirarchical", "there is no combiner called \"heirarchical\"; did you mean \"hierarchical\"?" },
    { 24, "combiner=serial", "example.ini:27: [combiner] context_heads: no such key" },
    { 25, "width=250", "example.ini:23: [decoder] heads: 8 heads do not divide the width 250" },
    { 25, "width=1e3", "example.ini:25: [decoder] width: \"1e3\" is not an integer" },
    { 25, "norm=prae",
      "example.ini:25: [decoder] norm: \"prae\" is not a choice (did you mean \"pre\"?); give one of pre, post" },
    { 27, "context_dropout=some", "example.ini:27: [combiner] context_dropout: \"some\" is not a choice" },
    { 29, "metric=bleu",
      "example.ini:29: [train] metric: needs validation text, but [data] has none; add validation.cs=FILE" },
    { 29, "patience=2", "example.ini:29: [train] patience: needs validation text" },
    { 29, "epochs=0", "example.ini:29: [train] epochs: epochs=0 and updates=0: training would never end" },
    { 29, "best_by=metric", "example.ini:29: [train] best_by: best_by=metric needs a metric" },
    { 29, "metric=blue", "example.ini:29: [train] metric: " },
    { 29, "smoothing=1", "example.ini:29: [train] smoothing: \"1\" is above the maximum 0.9" },
    { 31, "n_best=9", "example.ini:31: [decode] n_best: 9 is above the beam of 5" },
    { 31, "minimum_length=500", "example.ini:31: [decode] minimum_length: 500 is above maximum_length=200" },
    { 33, "metrics=bleu;blue", "example.ini:33: [evaluate] metrics: " },
    { 33, "metrics=bleu;chrf:unit=document",
      "example.ini:33: [evaluate] metrics: chrf:unit=document is of documents, but a corpus is of sentences" },
    { 33, "length_bins=20;10", "example.ini:33: [evaluate] length_bins: the bins \"20;10\" are not rising" },
    { 33, "translation_rates=beam", "example.ini:33: [evaluate] translation_rates: \"beam\" is not" },
    { 33, "translation_rate_under=2",
      "example.ini:33: [evaluate] translation_rate_under: 2 is above translation_rate_over=1.5" },
    { 33, "metrics=bleu;bleu", "example.ini:33: [evaluate] metrics: \"bleu;bleu\" names \"bleu\" twice" },
    { 29, "optimizer=adadelta\nschedule=noam",
      "example.ini:30: [train] schedule: the rates of noam are made for adam; adadelta finds its step sizes itself" },
    { 0, "decoder.layers=0", "--set decoder.layers=0: [decoder] layers: \"0\" is below the minimum 1" },
    { 0, "decoder.lairs=2", "--set decoder.lairs=2: [decoder] lairs: no such key" },
    { 0, "layers=2", "--set layers=2: is not GROUP.KEY=VALUE; write it like decoder.layers=4" },
    { 0, "decoder.layers", "--set decoder.layers: is not GROUP.KEY=VALUE" },
    { 0, "source.en=4", "--set source.en=4: is not GROUP.KEY=VALUE" },
    { 0, "sourec.en=4", "--set sourec.en=4: [sourec]: no such group; a source is [source NAME]" },
    { 0, "decoder.layers=\xff", "is not valid UTF-8" },
  };
  g_autoptr (PlaitRegistry) registry = open_registry ();

  for (guint i = 0; i < G_N_ELEMENTS (faults); i++)
    check_fault (registry, &faults[i]);
}

/* An encoder of trees has them, and where there are trees something reads them. */
TEST_CASE (experiment_file, trees)
{
  g_autoptr (PlaitRegistry) registry = open_registry ();
  static const char text[] = "[data]\ntarget=cs\nfolder=text\ntrain.en=train.en\ntrain.cs=train.cs\n"
                             "train.en.trees=train.de\n"
                             "[source en]\nencoder=forest\n[decoder]\ncombiner=serial\n";
  g_autoptr (GError) error = NULL;
  g_autoptr (PlaitExperiment) experiment = load (registry, text, NULL, &error);
  CHECK_NO_ERROR (error);
  REQUIRE (experiment != NULL);
  CHECK_STRING (experiment->sources[0].trees, "en.trees");
  CHECK (plait_experiment_reads_trees (experiment));
  REQUIRE (experiment->head_rules != NULL);
  CHECK (g_str_has_suffix (experiment->head_rules, "/head-rules/english.ini"));
  g_autofree char *resolved = plait_experiment_text (experiment);
  CHECK_CONTAINS (resolved, "train.en.trees=train.de\n");
  CHECK_CONTAINS (resolved, "trees=given\nbinarisation=head\nhead_rules=english\nno_tree=leaves\n");
  g_autoptr (PlaitExperiment) again = plait_experiment_parse (resolved, "resolved", NULL, registry, &error);
  CHECK_NO_ERROR (error);
  g_autofree char *twice = plait_experiment_text (again);
  CHECK_STRING (twice, resolved);

  /* Trees that need no file leave it out of what tells runs apart; without an encoder of trees there are none. */
  g_autoptr (PlaitExperiment) control = load (registry, text, (const char *[]){ "data.trees=random", NULL }, &error);
  CHECK_NO_ERROR (error);
  g_autofree char *key = plait_experiment_key (control);
  CHECK (!strstr (key, "en.trees") && !control->head_rules);
  g_autoptr (PlaitExperiment) plain = load (registry, sound, NULL, &error);
  g_autofree char *without = plait_experiment_text (plain);
  CHECK (!strstr (without, "no_tree") && !strstr (without, "trees="));

  CHECK (!load (registry, text, (const char *[]){ "source.en.encoder=transformer", NULL }, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT,
               "example.ini:6: [data] train.en.trees: names trees, but the encoder transformer of [source en] reads "
               "none; choose an encoder of trees, or drop the line");
  CHECK (!load (registry, text, (const char *[]){ "data.test.en=text/test.en", "data.test.cs=text/test.cs", NULL },
                &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT,
               "there is no file for test.en.trees, but the encoder forest of [source en] reads trees; add "
               "test.en.trees=FILE, set trees=right");
  CHECK (!load (registry, text, (const char *[]){ "data.head_rules=klingon", NULL }, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "--set data.head_rules=klingon: [data] head_rules: there is no head-rules/");
  CHECK (!load (registry, text, (const char *[]){ "data.train.de.trees=text/train.de", NULL }, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "[data] train.de.trees: no source reads the stream \"de.trees\"");
  g_autofree char *grid = g_strconcat (text, "[grid]\nsource.en.encoder=forest;transformer\n", NULL);
  g_autoptr (PlaitExperiment) one
      = load (registry, grid, (const char *[]){ "source.en.encoder=transformer", NULL }, &error);
  CHECK_NO_ERROR (error);
  CHECK (one != NULL);

  static const char generated[] = "[data]\ngenerate=reorder\n[source a]\nencoder=forest\n[decoder]\ncombiner=serial\n";
  g_autoptr (PlaitExperiment) made = load (registry, generated, NULL, &error);
  CHECK_NO_ERROR (error);
  CHECK (made != NULL);
  CHECK (!load (registry, generated, (const char *[]){ "data.generate=agreement", NULL }, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "the task agreement makes no stream \"a.trees\"");
}

TEST_CASE (experiment_file, combiners_that_do_not_fit)
{
  g_autoptr (PlaitRegistry) registry = open_registry ();
  static const char text[] = "[data]\ntarget=cs\nfolder=text\ntrain.en=train.en\ntrain.cs=train.cs\n"
                             "[source en]\nencoder=transformer\n[decoder]\ncombiner=recurrent\n";
  g_autoptr (GError) error = NULL;

  CHECK (!load (registry, text, NULL, &error));
  CHECK_ERROR (
      error, PLAIT_ERROR_INPUT,
      "example.ini:9: [decoder] combiner: the combiner recurrent cannot stand in a decoder of type transformer; it "
      "needs one of: gru, lstm (");
  CHECK (!load (registry, text, (const char *[]){ "decoder.combiner=downwards", NULL }, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT,
               "example.ini:7: [source en] encoder: the combiner downwards needs memories with levels, which the "
               "encoder transformer does not make");
}

/* One of the sources is enough, and must be used. */
TEST_CASE (experiment_file, combiners_that_need_one_memory_with_a_structure)
{
  g_autoptr (PlaitRegistry) registry = open_registry ();
  static const char text[] = "[data]\ntarget=cs\nfolder=text\ntrain.en=train.en\ntrain.de=train.de\ntrain.cs=train.cs\n"
                             "[source en]\nencoder=transformer\n[source de]\nencoder=pyramid\nleaves=transformer\n"
                             "[decoder]\ncombiner=descent\n";
  g_autoptr (GError) error = NULL;
  g_autoptr (PlaitExperiment) both = load (registry, text, NULL, &error);
  CHECK_NO_ERROR (error);
  CHECK (both);
  CHECK (!load (registry, text, (const char *[]){ "experiment.sources=en", NULL }, &error));
  CHECK_ERROR (
      error, PLAIT_ERROR_INPUT,
      "example.ini:13: [decoder] combiner: the combiner descent needs at least one memory with levels, which no "
      "source makes; choose an encoder that provides it for one of them, or another combiner");
  g_clear_error (&error);
  CHECK (!load (registry, text, (const char *[]){ "decoder.combiner=downwards", NULL }, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "[source en] encoder: the combiner downwards needs memories with levels");
}

TEST_CASE (experiment_file, combiners_without_coverage)
{
  g_autoptr (PlaitRegistry) registry = open_registry ();
  static const char text[] = "[data]\ntarget=cs\nfolder=text\ntrain.en=train.en\ntrain.cs=train.cs\n"
                             "[source en]\nencoder=pyramid\nleaves=transformer\n"
                             "[decoder]\ncombiner=descent\ncoverage=fertility\n";
  g_autoptr (GError) error = NULL;

  CHECK (!load (registry, text, NULL, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT,
               "example.ini:11: [decoder] coverage: no coverage can stand beside the combiner descent; set "
               "coverage=none, or choose another combiner (");
}

TEST_CASE (experiment_file, all_faults_at_once)
{
  g_autoptr (PlaitRegistry) registry = open_registry ();
  g_autoptr (GError) error = NULL;

  CHECK (!load (registry,
                "[experiment]\nsed=1\n[data]\ntrain.en=nowhere\n[source en]\nencoder=nothing\n[decoder]\nlayers=x\n"
                "[train]\nclip=-1\n",
                NULL, &error));
  REQUIRE (error != NULL);
  CHECK_CONTAINS (error->message, "example.ini:2: [experiment] sed");
  CHECK_CONTAINS (error->message, "example.ini:4: [data] train.en");
  CHECK_CONTAINS (error->message, "example.ini:3: [data]: target is missing");
  CHECK_CONTAINS (error->message, "example.ini:6: [source en] encoder");
  CHECK_CONTAINS (error->message, "example.ini:8: [decoder] layers");
  CHECK_CONTAINS (error->message, "example.ini:10: [train] clip");
}

TEST_CASE (experiment_file, files_that_are_none)
{
  g_autoptr (PlaitRegistry) registry = open_registry ();
  g_autofree char *nowhere = plait_test_path ("nowhere.ini");
  g_autoptr (GError) error = NULL;

  CHECK (!plait_experiment_load (nowhere, NULL, registry, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "nowhere.ini");
  CHECK (!plait_experiment_load (plait_test_folder (), NULL, registry, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, plait_test_folder ());
  CHECK (!load (registry, "", NULL, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "there is no source; add a group [source NAME]");
  CHECK (!load (registry, "[data]\ntarget=\xff\n", NULL, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "example.ini:2");
}

/* What plait bench reads: models whose text is nowhere. */
TEST_CASE (experiment_file, models_need_no_data)
{
  static const char *const names[] = { "small", "msmt", "mmt", "h128", "h256", "h1024" };
  static const char *const trees[] = { "experiment.sources=tree", "decoder.coverage=tree", NULL };
  g_autoptr (PlaitRegistry) registry = open_registry ();

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      CONTEXT ("%s", names[i]);
      g_autofree char *name = g_strdup_printf ("experiments/bench/%s.ini", names[i]);
      g_autofree char *path = plait_test_source_path (name);
      g_autoptr (GError) error = NULL;
      g_autoptr (GError) fault = NULL;
      g_autoptr (PlaitExperiment) experiment
          = plait_experiment_load_model (path, *names[i] == 'h' ? trees : NULL, registry, &error);

      CHECK_NO_ERROR (error);
      REQUIRE (experiment != NULL);
      CHECK_STRING (experiment->name, names[i]);
      CHECK (experiment->bench.longest_length < 100);
      CHECK (!plait_experiment_load (path, NULL, registry, &fault));
      CHECK_ERROR (fault, PLAIT_ERROR_INPUT, "there is no file for train.text");
    }
}
