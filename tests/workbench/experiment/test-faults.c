/* SPDX-License-Identifier: MIT */
#include "examples.h"
#include "files.h"
#include "harness.h"
#include "runs.h"

/* Tests of experiment files: the message for each fault. */

static void
check_refused (PlaitRegistry *registry, const char *text, const char *const *overrides, const char *part)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (PlaitExperiment) experiment = example_load (registry, text, overrides, &error);

  CHECK (!experiment);
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, part);
}

typedef struct
{
  guint line; /* number of the line of the valid file to replace, from 1; 0: replacement is an override */
  const char *replacement;
  const char *part;
} Fault;

static void
check_fault (PlaitRegistry *registry, const Fault *fault)
{
  CONTEXT ("line %u: %s", fault->line, fault->replacement);
  g_auto (GStrv) lines = g_strsplit (example_text, "\n", -1);

  if (fault->line > 0)
    {
      g_free (lines[fault->line - 1]);
      lines[fault->line - 1] = g_strdup (fault->replacement);
    }
  g_autofree char *text = g_strjoinv ("\n", lines);
  check_refused (registry, text, fault->line == 0 ? (const char *[]){ fault->replacement, NULL } : NULL, fault->part);
}

TEST_CASE (experiment_file, every_fault_has_its_place_and_remedy)
{
  static const Fault faults[] = {
    { 1, "[experimnt]", "example.ini:1: [experimnt]: no such group; did you mean \"experiment\"?" },
    { 1, "[zzz]", "example.ini:1: [zzz]: no such group; expected one of experiment, data, source NAME" },
    { 1, "[source]", "example.ini:1: [source]: no such group; a source is [source NAME]" },
    { 1, "[experiment", "example.ini:1: " },
    { 2, "seed=-1",
      "example.ini:2: [experiment] seed: the value \"-1\" is below the minimum 0; give an integer from 0" },
    { 2, "seeds=1", "example.ini:2: [experiment] seeds: no such key; did you mean \"seed\"?" },
    { 2, "colour=1", "example.ini:2: [experiment] colour: no such key; plait inspect experiment lists the keys" },
    { 2, "sources=en+dee",
      "example.ini:2: [experiment] sources: there is no source \"dee\" (names are joined with '+'); did you mean "
      "\"de\"?" },
    { 2, "sources=en,de",
      "[experiment] sources: there is no source \"en,de\" (names are joined with '+'); did you mean "
      "\"en+de\"?" },
    { 6, "documents=en,cs",
      "[data] documents: no source reads the stream \"en,cs\", nor is it the target; did you mean "
      "\"en;cs\"?" },
    { 6, "documents_by_line=en:en,cs:cs", "is not a language with known abbreviations; did you mean \"en:en;cs:cs\"?" },
    { 6, "documents_by_line=en+cs:cs", "did you mean \"en;cs:cs\"?" },
    { 33, "metrics=bleu,chrf",
      "example.ini:33: [evaluate] metrics: metrics \"bleu,chrf\": metrics are separated by ';', "
      "options of a metric by ','; did you mean \"bleu;chrf\"?" },
    { 33, "length_bins=10,20", "example.ini:33: [evaluate] length_bins: the bins \"10,20\"" },
    { 33, "translation_rates=search,forced",
      "translation_rates: the value \"search,forced\" is not a choice (did you mean \"search;forced\"?)" },
    { 2, "sources=en+en", "example.ini:2: [experiment] sources: en is named twice" },
    { 2, "sources=audio", "there is no source \"audio\" (names are joined with '+'); expected one of en, de, image" },
    { 2, "seed", "example.ini:2: " },
    { 3, "[experiment]", "example.ini:3: " },
    { 4, "folder=nowhere", "nowhere/train.en; name one relative to" },
    { 5, "",
      "example.ini:3: [data]: target is missing; add target=VALUE, where VALUE is a text (meaning: Stream that the "
      "model predicts)" },
    { 5, "target=fr", "example.ini:3: [data]: there is no file for train.fr; add train.fr=FILE" },
    { 5, "target=en", "example.ini:15: [source en]: reads the stream en, which is data.target" },
    { 8, "train.de=train.de;train.cs",
      "example.ini:8: [data] train.de: names 2 files (train.de;train.cs), but train.en "
      "names 1 (train.en); give equally many" },
    { 9, "train.image=train.h5;test.h5", "names several files, but the features of a split are one HDF5 file; join" },
    { 7, "train.en=train.en;nowhere", "there is no file" },
    { 11, "test2016.en=test.en;train.en",
      "only streams of the training split take several files: join the files into one" },
    { 6, "weights=1;2",
      "[data] weights: weighs several training files, but each stream has only one; name several files" },
    { 6, "weights=1;x", "[data] weights: \"x\" is not a positive number; give one positive number for each file" },
    { 6, "weights=1;0", "[data] weights: \"0\" is not a positive number" },
    { 6, "subword_sampling=2", "[data] subword_sampling: the value \"2\" is above the maximum 1" },
    { 6, "vocabulary_type=words\nsubword_sampling=.1", "subword_sampling: samples pieces of SentencePiece, but" },
    { 6, "share=0",
      "[data] share: 0 is neither a share (above 0, up to 1) nor a number of tuples (an integer above 1)" },
    { 6, "share=1.5", "[data] share: 1.5 is neither a share" },
    { 6, "vocabulary_size=many", "example.ini:6: [data] vocabulary_size: the value \"many\" is not an integer" },
    { 6, "vocabulary_size=5", "example.ini:6: [data] vocabulary_size: 5 entries are too few for SentencePiece" },
    { 6, "vocabulary=shard",
      "example.ini:6: [data] vocabulary: the value \"shard\" is not a choice (did you mean \"shared\"?)" },
    { 6, "vocabulary_character_coverage=2", "the value \"2\" is above the maximum 1; give a number from 0.98 to 1" },
    { 6, "vocabulary.en=train.en",
      "example.ini:6: [data] vocabulary.en: there is one vocabulary for all streams, called shared" },
    { 6, "vocabulary_text.en.1=train.en",
      "example.ini:6: [data] vocabulary_text.en.1: there is one vocabulary for all streams, called shared" },
    { 6, "vocabulary_text.shared=train.en", "example.ini:6: [data] vocabulary_text.shared: must end in a number" },
    { 6, "vocabulary_text.shared.0=train.en", "[data] vocabulary_text.shared.0: must end in a number" },
    { 6, "vocabulary_text.shared.1=none.txt", "example.ini:6: [data] vocabulary_text.shared.1: there is no file" },
    { 6, "vocabulary.shared=train.en\nvocabulary_text.shared.1=train.en",
      "example.ini:7: [data] vocabulary_text.shared.1: names a text from which to learn vocabulary shared, but "
      "vocabulary.shared names a file that holds it; drop one of the two keys" },
    { 6, "vocabulary.shared=none.model", "example.ini:6: [data] vocabulary.shared: there is no file" },
    { 6, "append_end=1", "example.ini:6: [data] append_end: the value \"1\" is not a truth value; give true or false" },
    { 6, "generate=agreemnt", "example.ini:6: [data] generate: " },
    { 6, "generate=agreement",
      "example.ini:7: [data] train.en: names a file, but generate=agreement makes the corpus" },
    { 6, "generate.train=7",
      "example.ini:6: [data] generate.train: is for a generated corpus; add generate=TASK, or drop" },
    { 7, "train.en=missing.en", "example.ini:7: [data] train.en: there is no file" },
    { 7, "train.en=", "example.ini:7: [data] train.en: the key names no file" },
    { 7, "train.en=..", "example.ini:7: [data] train.en: " },
    { 7, "train.en=train.h5", "example.ini:7: [data] train.en: train.h5 is an HDF5 file, but the encoder transformer" },
    { 7, "training.en=train.en", "example.ini:7: [data] training.en: \"training\" is not a split" },
    { 7, "train.e n=train.en", "example.ini:7: [data] train.e n: \"e n\" is not a name of a stream" },
    { 7, "train.en=train.en\ntrain.enn=train.en",
      "no source reads the stream \"enn\", nor is it the target; did you mean" },
    { 7, "train.en=train.en\ntrain.audio=train.en", "add [source audio], or drop the line" },
    { 8, "", "example.ini:3: [data]: there is no file for train.de; add train.de=FILE" },
    { 10, "train.cs=train.h5", "example.ini:10: [data] train.cs: train.h5 is an HDF5 file, but cs is the target" },
    { 10, "train.cs=train.cs\nvalidation.cs=train.cs", "there is no file for validation.en" },
    { 12, "", "there is no file for test2016.de" },
    { 14, "train.cs=train.cs", "example.ini:14: the key train.cs of [data] is already in line 10" },
    { 15, "[source e/n]", "example.ini:15: [source e/n]: \"e/n\" is not a name for a source" },
    { 16, "", "example.ini:15: [source en]: encoder is missing; add encoder=" },
    { 16, "encoder=transfromer", "there is no encoder called \"transfromer\"; did you mean \"transformer\"?" },
    { 16, "encoder=../transformer", "\"../transformer\" is not a valid name of a plugin" },
    { 16, "encoder=needy", "example.ini:15: [source en]: size is missing; add size=VALUE, where VALUE is an integer" },
    { 16, "encoder=greedy", "greedy.ini has a parameter stream, which is a key of plait itself" },
    { 17, "layers=four",
      "example.ini:17: [source en] layers: the value \"four\" is not an integer; give an integer from 0 to 64" },
    { 17, "layer=4", "example.ini:17: [source en] layer: no such key; did you mean \"layers\"?" },
    { 17, "colour=4",
      "example.ini:17: [source en] colour: no such key; plait inspect encoder/transformer lists the keys" },
    { 17, "stream=image",
      "example.ini:21: [source image] encoder: the encoder features reads features, but [source en]" },
    { 19, "encoder=treeful", "the encoder treeful needs input with the structure tree, which tokens do not have" },
    { 19, "encoder=recurrent",
      "example.ini:19: [source de] encoder: the encoder recurrent cannot be used in a decoder" },
    { 24, "combiner=heirarchical", "there is no combiner called \"heirarchical\"; did you mean \"hierarchical\"?" },
    { 24, "combiner=serial", "example.ini:27: [combiner] context_heads: no such key" },
    { 25, "width=250", "example.ini:23: [decoder] heads: 8 heads do not divide the width 250" },
    { 25, "width=1e3", "example.ini:25: [decoder] width: the value \"1e3\" is not an integer" },
    { 25, "norm=prae",
      "example.ini:25: [decoder] norm: the value \"prae\" is not a choice (did you mean \"pre\"?); give one of pre, "
      "post" },
    { 27, "context_dropout=some", "example.ini:27: [combiner] context_dropout: the value \"some\" is not a choice" },
    { 29, "metric=bleu",
      "example.ini:29: [train] metric: needs validation text, but [data] names no such text; add validation.cs=FILE" },
    { 29, "patience=2", "example.ini:29: [train] patience: needs validation text" },
    { 29, "epochs=0", "example.ini:29: [train] epochs: epochs=0 and updates=0: training would never end" },
    { 29, "best_by=metric", "example.ini:29: [train] best_by: best_by=metric needs a metric" },
    { 29, "metric=blue", "example.ini:29: [train] metric: " },
    { 29, "smoothing=1", "example.ini:29: [train] smoothing: the value \"1\" is above the maximum 0.9" },
    { 31, "n_best=9", "example.ini:31: [decode] n_best: 9 is above the beam of 5" },
    { 31, "temperature=0.7", "example.ini:31: [decode] temperature: has no effect without method=sample" },
    { 31, "top_k=5", "example.ini:31: [decode] top_k: has no effect without method=sample" },
    { 31, "nucleus=0.9", "example.ini:31: [decode] nucleus: has no effect without method=sample" },
    { 31, "seed=9", "example.ini:31: [decode] seed: has no effect without method=sample" },
    { 31, "diversity=1", "example.ini:31: [decode] diversity: has no effect without groups above 1" },
    { 31, "groups=2", "example.ini:31: [decode] groups: 2 does not divide the beam of 5; choose beam=6" },
    { 31, "method=sample\ngroups=5",
      "example.ini:32: [decode] groups: groups divide a beam, but method=sample has no beam" },
    { 31, "nucleus=0", "example.ini:31: [decode] nucleus: the value \"0\" is below the minimum 0.001" },
    { 31, "minimum_length=500", "example.ini:31: [decode] minimum_length: 500 is above maximum_length=200" },
    { 33, "metrics=bleu;blue", "example.ini:33: [evaluate] metrics: " },
    { 33, "metrics=bleu;chrf:unit=document",
      "example.ini:33: [evaluate] metrics: chrf:unit=document scores documents, but the target cs has sentences" },
    { 33, "length_bins=20;10", "example.ini:33: [evaluate] length_bins: the bins \"20;10\" are not rising" },
    { 33, "translation_rates=beam", "example.ini:33: [evaluate] translation_rates: the value \"beam\" is not" },
    { 33, "translation_rate_under=2",
      "example.ini:33: [evaluate] translation_rate_under: 2 is above translation_rate_over=1.5" },
    { 33, "metrics=bleu;bleu", "example.ini:33: [evaluate] metrics: the value \"bleu;bleu\" names \"bleu\" twice" },
    { 29, "optimizer=adadelta\nschedule=noam",
      "example.ini:30: [train] schedule: the learning rates of noam are made for adam; adadelta finds its step sizes "
      "itself" },
    { 0, "decoder.layers=0", "--set decoder.layers=0: [decoder] layers: the value \"0\" is below the minimum 1" },
    { 0, "decoder.lairs=2", "--set decoder.lairs=2: [decoder] lairs: no such key" },
    { 0, "layers=2", "--set layers=2: is not GROUP.KEY=VALUE; write it like decoder.layers=4" },
    { 0, "source.en=4", "--set source.en=4: is not GROUP.KEY=VALUE" },
    { 0, "sourec.en=4", "--set sourec.en=4: [sourec]: no such group; a source is [source NAME]" },
    { 0, "decoder.layers=\xff", "is not valid UTF-8" },
  };
  g_autoptr (PlaitRegistry) registry = example_registry ();

  for (guint i = 0; i < G_N_ELEMENTS (faults); i++)
    check_fault (registry, &faults[i]);
}

static const struct
{
  const char *overrides[4];
  const char *said;
} document_faults[] = {
  { { "source.en.encoder=reader" },
    "[source en] encoder: the encoder reader reads documents, but the stream en has no documents" },
  { { "source.en.encoder=forest", "data.documents=en", "data.train.en.trees=text/train.en" },
    "[source en] encoder: the encoder forest reads trees, but the stream en has documents" },
  { { "data.documents=image" },
    "[source image] encoder: the encoder features reads features, but the stream image has documents" },
  { { "data.documents=en;fr" }, "[data] documents: no source reads the stream \"fr\"" },
  { { "data.documents=en", "data.documents_by_line=en:en" }, "the stream en is also in documents" },
  { { "data.documents_by_line=en:it" },
    "[data] documents_by_line: \"it\" is not a language with known abbreviations; expected cs, de" },
  { { "data.documents=en;de;cs", "data.document_length=9" },
    "[data] document_length: chunks are cut at the same sentences of all streams, but the stream image" },
};

TEST_CASE (experiment_file, documents_must_fit)
{
  g_autoptr (PlaitRegistry) registry = example_registry ();
  g_auto (GStrv) parts = g_strsplit (example_text, "layers=4\n", -1);
  g_autofree char *file = g_strjoinv ("", parts);

  for (guint i = 0; i < G_N_ELEMENTS (document_faults); i++)
    {
      CONTEXT ("%s", document_faults[i].overrides[0]);

      check_refused (registry, file, document_faults[i].overrides, document_faults[i].said);
    }
}

#define DATA "[data]\ntarget=cs\nfolder=text\ntrain.en=train.en\ntrain.cs=train.cs\n"
#define OF_ONE_TRANSFORMER DATA "[source en]\nencoder=transformer\n[decoder]\ncombiner=recurrent\n"
#define OF_ONE_PYRAMID                                                                                                 \
  DATA "train.de=train.de\n[source en]\nencoder=transformer\n[source de]\nencoder=pyramid\nleaves=transformer\n"       \
       "[decoder]\ncombiner=descent\n"

/* A combiner that pairs sentences must know the sentences of the target, except if no source has documents. */
TEST_CASE (experiment_file, pairs_of_sentences_need_start_tokens)
{
  static const char *const sources_alone[] = { "data.documents=en", NULL };
  static const char *const without_starts[] = { "data.documents=en;cs", "data.document_starts=sources", NULL };
  static const char *const both[] = { "data.documents=en;cs", NULL };
  const char *text = DATA "[source en]\nencoder=transformer\n[decoder]\ncombiner=group\n";
  g_autoptr (PlaitRegistry) registry = example_registry ();
  g_autoptr (PlaitExperiment) paired = NULL, plain = NULL;

  check_refused (registry, text, sources_alone,
                 "[decoder] combiner: the combiner group pairs sentences of source and target by their numbers");
  check_refused (registry, text, without_starts, "so the target needs documents with start tokens");
  paired = plait_experiment_parse (text, "paired", test_overrides (both), registry, NO_ERROR);
  plain = plait_experiment_parse (text, "plain", NULL, registry, NO_ERROR);
  CHECK (paired && plain);
}

TEST_CASE (experiment_file, combiners_must_fit)
{
  static const struct
  {
    const char *text, *overrides[3], *part;
  } faults[] = {
    { OF_ONE_TRANSFORMER,
      { NULL },
      "example.ini:9: [decoder] combiner: the combiner recurrent cannot be used in a decoder of type transformer; "
      "choose one of these types: gru, lstm (" },
    { OF_ONE_TRANSFORMER,
      { "decoder.combiner=downwards" },
      "example.ini:7: [source en] encoder: the combiner downwards needs memories with levels, which the encoder "
      "transformer does not provide" },
    { OF_ONE_PYRAMID,
      { "experiment.sources=en" },
      "example.ini:13: [decoder] combiner: the combiner descent needs at least one memory with levels, which no "
      "source provides; choose an encoder with such memories for one source, or another combiner" },
    { OF_ONE_PYRAMID,
      { "decoder.combiner=downwards" },
      "[source en] encoder: the combiner downwards needs memories with levels" },
    { OF_ONE_TRANSFORMER,
      { "decoder.combiner=serial", "decoder.output=lofty" },
      "[source en] encoder: the output lofty needs memories with levels" },
    { OF_ONE_TRANSFORMER,
      { "decoder.combiner=serial", "decoder.type=climbing" },
      "[source en] encoder: the decoder climbing needs memories with levels" },
    { OF_ONE_TRANSFORMER,
      { "decoder.combiner=serial", "decoder.type=hanging" },
      "[decoder] type: the decoder hanging needs at least one memory with levels" },
    { DATA "[source en]\nencoder=pyramid\nleaves=transformer\n[decoder]\ncombiner=descent\ncoverage=fertility\n",
      { NULL },
      "example.ini:11: [decoder] coverage: the combiner descent cannot be used with a coverage; set coverage=none, or "
      "choose another combiner (" },
  };
  g_autoptr (PlaitRegistry) registry = example_registry ();
  g_autoptr (PlaitExperiment) one_is_enough = example_load (registry, OF_ONE_PYRAMID, NULL, NO_ERROR);

  CHECK (one_is_enough != NULL);
  for (guint i = 0; i < G_N_ELEMENTS (faults); i++)
    {
      CONTEXT ("fault %u", i);
      check_refused (registry, faults[i].text, faults[i].overrides, faults[i].part);
    }
}

TEST_CASE (experiment_file, source_dropout_needs_two_sources)
{
  g_autoptr (PlaitRegistry) registry = example_registry ();

  check_refused (registry, example_text, (const char *[]){ "experiment.sources=en", "train.source_dropout=0.2", NULL },
                 "--set train.source_dropout=0.2: [train] source_dropout: 0.2 would leave out a source, but the only "
                 "source must be read");
}

TEST_CASE (experiment_file, all_faults_at_once)
{
  g_autoptr (PlaitRegistry) registry = example_registry ();
  g_autoptr (GError) error = NULL;

  CHECK (!example_load (
      registry,
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
  g_autoptr (PlaitRegistry) registry = example_registry ();
  g_autoptr (GError) error = NULL;

  CHECK (!plait_experiment_load (plait_test_path ("nowhere.ini"), NULL, PLAIT_RESOLVE_CHECK_FILES, registry, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "nowhere.ini");
  CHECK (!plait_experiment_load (plait_test_folder (), NULL, PLAIT_RESOLVE_CHECK_FILES, registry, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, plait_test_folder ());
  CHECK (!example_load (registry, "", NULL, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "there is no source; add a group [source NAME]");
  CHECK (!example_load (registry, "[data]\ntarget=\xff\n", NULL, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "example.ini:2");
}

/* A module that hangs is stopped at a time limit. The message reports the module for each source that uses it, together
 * with the other faults. */
TEST_CASE (experiment_file, modules_that_hang_are_told_with_the_rest)
{
  g_autofree char *bytes = NULL;
  g_autoptr (PlaitRegistry) registry = NULL;
  g_autoptr (PlaitProblems) problems = plait_problems_new ();
  g_autoptr (GError) error = NULL;
  gint64 start = g_get_monotonic_time ();
  gsize length;

  plait_test_write ("hanging/encoder/constructor-sleeps.ini",
                    "[plugin]\nname=constructor-sleeps\nkind=encoder\ninterface=2\nsummary=S\ninput=tokens\n");
  REQUIRE (
      g_file_get_contents (plait_test_build_path ("tests/plugin/faulty.so"), &bytes, &length, NULL)
      && g_file_set_contents (plait_test_path ("hanging/encoder/constructor-sleeps.so"), bytes, (gssize)length, NULL));
  plait_test_write ("hanging.ini", "[data]\ngenerate=agreement\n[source a]\nencoder=constructor-sleeps\n[source b]\n"
                                   "encoder=constructor-sleeps\n[train]\nepochs=-1\n");
  registry = plait_registry_new_for_folders (
      (const char *[]){ plait_test_path ("hanging"), plait_test_build_path ("plugins"), NULL });
  plait_registry_set_sandbox_limits (registry, (PlaitSandboxLimits){ .wall_seconds = 1, .processor_seconds = 1 });
  CHECK (
      !plait_experiment_check (plait_test_path ("hanging.ini"), NULL, PLAIT_RESOLVE_LOAD_MODULES, registry, problems));
  CHECK (!plait_problems_report (problems, PLAIT_ERROR_INPUT, &error));
  REQUIRE (error != NULL);
  CHECK_CONTAINS (error->message, "hanging.ini:4: [source a] encoder: ");
  CHECK_CONTAINS (error->message, "hanging.ini:6: [source b] encoder: ");
  CHECK_CONTAINS (error->message, "did not end within 1 seconds");
  CHECK_CONTAINS (error->message, "hanging.ini:8: [train] epochs: ");
  CHECK_INT (plait_problems_count (problems), 3);
  CHECK_INT (plait_problems_get (problems, 1)->line, 6);
  CHECK (g_get_monotonic_time () - start < 20 * G_USEC_PER_SEC); /* the module sleeps for 1000 s */
}
