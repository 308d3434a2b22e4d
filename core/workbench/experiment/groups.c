/* SPDX-License-Identifier: MIT */
#include "experiment/groups.h"

#include "settings/settings.h"
#include "training/settings.h"

static const PlaitSettingDefinition experiment_definitions[] = {
  PLAIT_DEFINE_NEUTRAL_TEXT (PlaitExperimentSettings, name, "", "Name in tables and reports; empty: that of the file"),
  PLAIT_DEFINE_INTEGER (PlaitExperimentSettings, seed, "1", "0", "9223372036854775807",
                        "Seed of initial values, dropout and data order"),
  PLAIT_DEFINE_TEXT (
      PlaitExperimentSettings, sources, "",
      "Sources that are read, in this order, joined by '+' (en+de); empty: all, in the order of the file"),
};

const PlaitSettingGroup plait_experiment_group
    = PLAIT_SETTING_GROUP ("experiment", "The experiment as a whole", PlaitExperimentSettings, experiment_definitions);

static const PlaitSettingDefinition data_definitions[] = {
  PLAIT_DEFINE_NEUTRAL_PLACE (PlaitDataSettings, folder, "",
                              "Folder that the files of this group are relative to; empty: that of the experiment "
                              "file, which it is itself relative to"),
  PLAIT_DEFINE_TEXT (PlaitDataSettings, target, NULL, "Stream to be predicted"),
  PLAIT_DEFINE_CHOICE (PlaitDataSettings, vocabulary, "shared", "shared;separate",
                       "One vocabulary for all streams of tokens, or one for each",
                       "Libovicky, Helcl & Marecek 2018, section 4.1"),
  PLAIT_DEFINE_CHOICE (PlaitDataSettings, vocabulary_type, "bpe", "bpe;unigram;words;given",
                       "SentencePiece by byte pair encoding or by unigram model, or words between white space; files "
                       "of vocabularies must be of it. given: whatever the files are, and nothing is learnt"),
  PLAIT_DEFINE_INTEGER (PlaitDataSettings, vocabulary_size, "8000", "0", "10000000",
                        "Entries of a vocabulary, four special ones included; words: a shortlist of the most frequent, "
                        "the others are unknown; 0 keeps all"),
  PLAIT_DEFINE_INTEGER (PlaitDataSettings, vocabulary_minimum_count, "1", "1", "1000000000",
                        "Words: rarer ones become unknown"),
  PLAIT_DEFINE_REAL (PlaitDataSettings, vocabulary_character_coverage, "1", "0.98", "1",
                     "SentencePiece: share of the characters of the text that get a piece"),
  PLAIT_DEFINE_CHOICE (PlaitDataSettings, vocabulary_normalisation, "identity",
                       "identity;nfkc;nmt_nfkc;nfkc_cf;nmt_nfkc_cf", "SentencePiece: normalisation of the text"),
  PLAIT_DEFINE_BOOLEAN (PlaitDataSettings, vocabulary_byte_fallback, "false",
                        "SentencePiece: characters without a piece become bytes instead of unknown"),
  PLAIT_DEFINE_INTEGER (PlaitDataSettings, vocabulary_sentences, "0", "0", "1000000000",
                        "SentencePiece: learn from so many lines, spread evenly over the text; 0: from all"),
  PLAIT_DEFINE_BOOLEAN (PlaitDataSettings, append_end, "true", "End sentences of the sources with an end token"),
  PLAIT_DEFINE_INTEGER (
      PlaitDataSettings, maximum_source_length, "0", "0", "1000000",
      "Training tuples with more tokens in any source are dropped, ends and start tokens not counted; 0: no limit. "
      "With both limits 50 that is the filter of Chen et al. 2017; dl4mt drops from maxlen on: one less here"),
  PLAIT_DEFINE_INTEGER (PlaitDataSettings, maximum_target_length, "0", "0", "1000000",
                        "Training tuples with more tokens in the target are dropped, end and start tokens not counted, "
                        "whatever the sources' lengths; 0: no limit"),
  PLAIT_DEFINE_LIST (PlaitDataSettings, documents, "", NULL,
                     "Streams that are documents, a sentence a line and a blank line after each document; document i "
                     "of each belongs to tuple i, as does line i of streams that are none"),
  PLAIT_DEFINE_LIST (PlaitDataSettings, documents_by_line, "", NULL,
                     "Streams that are documents, one a line, split into sentences by the rules of Unicode; STREAM:en "
                     "lets no abbreviation of English end a sentence (or of cs, de, es, fr)"),
  PLAIT_DEFINE_CHOICE (PlaitDataSettings, document_starts, "all", "all;sources;target;none",
                       "Where a start token stands before each sentence of a document",
                       "Rohde et al. 2021, section 3.1"),
  PLAIT_DEFINE_INTEGER (PlaitDataSettings, document_roles, "0", "0", "10000",
                        "Most roles of a source's document, told by the prefix NAME: of its sentences and numbered as "
                        "they appear; each has a vector that is added to its tokens. 0: documents have no roles",
                        "Rohde et al. 2021, section 4.1"),
  PLAIT_DEFINE_INTEGER (
      PlaitDataSettings, document_length, "0", "0", "10000000",
      "Longer documents of sources are cut: most tokens, start tokens counted and ends not; 0: they stay whole"),
  PLAIT_DEFINE_CHOICE (PlaitDataSettings, document_cut, "chunks", "chunks;truncate",
                       "Chunks of whole sentences, the same ones of all streams, which must be documents, translated "
                       "one by one and joined again; or sources keep their first tokens alone. The sources' lengths "
                       "alone tell where, so that training cuts as translating does"),
  PLAIT_DEFINE_CHOICE (
      PlaitDataSettings, empty, "error", "error;missing",
      "What an empty line or document of a source, or one without features, is: an error, or a missing source"),
  PLAIT_DEFINE_CHOICE (
      PlaitDataSettings, too_long, "error", "error;skip;truncate",
      "What is done with a sentence that is longer than learned positions reach: an error; or skip: its training tuple "
      "is dropped, plait translate and score give an empty answer on its line (score: nan), and splits that are scored "
      "are refused; or truncate: its beginning is read. Trees, documents, features and targets are not truncated: that "
      "training tuple is dropped, and elsewhere it is an error"),
  PLAIT_DEFINE_CHOICE (PlaitDataSettings, trees, "given", "given;left;right;balanced;random",
                       "Trees of sources whose encoder reads trees: those of their files, or for comparison others "
                       "over the same words, which need no file; random ones by experiment.seed"),
  PLAIT_DEFINE_CHOICE (PlaitDataSettings, binarisation, "head", "left;right;head",
                       "Given trees: where nodes of more than two children branch, head: around the head",
                       "Zhang & Clark 2009, as Chen et al. 2017 have it"),
  PLAIT_DEFINE_TEXT (PlaitDataSettings, head_rules, "english",
                     "binarisation=head: name of the rules, a file head-rules/NAME.ini in a plugin folder"),
  PLAIT_DEFINE_CHOICE (
      PlaitDataSettings, no_tree, "leaves", "leaves;right;error;drop",
      "What a sentence without a given tree has: leaves alone, or a tree that branches to the right; or it is an "
      "error; or drop: its training tuple is dropped, and elsewhere, where every line counts, it has leaves alone"),
  PLAIT_DEFINE_TEXT (PlaitDataSettings, generate, "", "Task whose corpus is made instead of read; empty: none"),
};

const PlaitSettingGroup plait_data_group = PLAIT_SETTING_GROUP_WITH (
    "data", "Corpora and vocabularies", PlaitDataSettings, data_definitions,
    "SPLIT.STREAM=FILE, such as train.en or test2016.cs: line-aligned text, plain or gzip, or HDF5 for an encoder of "
    "features. Splits are train, validation, and names that begin with test.\n"
    "SPLIT.STREAM.trees=FILE, such as train.en.trees: for an encoder of trees, one for each line of STREAM, as "
    "brackets, over one line or several, or triples (plait trees --check).\n"
    "vocabulary.NAME=FILE: a vocabulary to be read instead of learnt, or a run whose vocabulary of the name, or only "
    "one, is taken. NAME is shared, or with vocabulary=separate a stream. Without it, a run in train.initialise gives "
    "its own (train.initialise_vocabulary).\n"
    "vocabulary_text.NAME.1=FILE, vocabulary_text.NAME.2=FILE, ...: text that vocabulary NAME is learnt from in the "
    "place of the training text of the streams that are read; with generate= streams of the task, such as a, or a "
    "train=100 where that is made otherwise. Cells of a grid that would learn different vocabularies are given them.\n"
    "What --set names, of all these and folder, is relative to the current folder instead.\n"
    "In paths, here and in train.initialise, ~ and ~USER at the beginning are folders of users, $NAME and ${NAME} "
    "variables of the environment, and $$ is the sign itself.\n"
    "generate.NAME=NUMBER: seed, sizes of the splits and parameters of the task in generate (plait generate TASK "
    "--help).");

static const PlaitSettingDefinition source_definitions[] = {
  PLAIT_DEFINE_TEXT (PlaitSourceSettings, encoder, NULL, "Encoder plugin, whose parameters stand in the same group"),
  PLAIT_DEFINE_TEXT (PlaitSourceSettings, leaves, "",
                     "Encoder plugin whose rows are the leaves of this one, if it stands on another (trees); its "
                     "parameters stand in [source NAME/leaves]"),
  PLAIT_DEFINE_TEXT (PlaitSourceSettings, stream, "",
                     "Stream of [data] that is read; empty: the one of the source's name"),
  PLAIT_DEFINE_TEXT (PlaitSourceSettings, dataset, "/features",
                     "Features: dataset [sentence, position, width] in the file; a dataset of that name with _lengths "
                     "behind it, [sentence], tells how many positions count, 0: the sentence is missing"),
};

const PlaitSettingGroup plait_source_group = PLAIT_SETTING_GROUP_WITH (
    "source", "One source, [source NAME], and its encoder", PlaitSourceSettings, source_definitions,
    "The other keys are the encoder's parameters: plait inspect ENCODER.");

static const PlaitSettingDefinition evaluate_definitions[] = {
  PLAIT_DEFINE_LIST (PlaitEvaluateSettings, metrics, "bleu;chrf", NULL,
                     "Metrics of translations, each NAME or NAME:OPTION,OPTION=VALUE"),
  PLAIT_DEFINE_CHOICE (
      PlaitEvaluateSettings, join, "none", PLAIT_TEXT_PIECES,
      "Text of the data that another program has cut into pieces (un@@ known, un ##known, or those of SentencePiece) "
      "is joined before it is scored and kept, translations and references alike; words are counted then"),
  PLAIT_DEFINE_CHOICE (PlaitEvaluateSettings, checkpoint, "best", "best;last;average",
                       "Parameters that are evaluated: those of the best validation (the last ones where there was "
                       "none), the last ones, or the average that train.average keeps"),
  PLAIT_DEFINE_INTEGER (PlaitEvaluateSettings, resamples, "1000", "0", "1000000",
                        "Bootstrap samples for intervals; 0: no intervals"),
  PLAIT_DEFINE_INTEGER (PlaitEvaluateSettings, seed, "12345", "0", "9223372036854775807", "Seed of the bootstrap"),
  PLAIT_DEFINE_INTEGER (PlaitEvaluateSettings, attention, "2", "0", "1000000",
                        "Sentences of each test split whose attention the run keeps"),
  PLAIT_DEFINE_LIST (PlaitEvaluateSettings, length_bins, "", NULL,
                     "Bounds of bins, such as 10;20;30;40;50, by the words between white space of the first source of "
                     "text; each bin is scored by all metrics; empty: none"),
  PLAIT_DEFINE_LIST (PlaitEvaluateSettings, translation_rates, "", "search;forced",
                     "Rates of over- and under-translation of every source of text, from the attention of search, of "
                     "forced decoding of the references, or both; empty: none",
                     "Tu et al. 2016"),
  PLAIT_DEFINE_REAL (PlaitEvaluateSettings, translation_rate_over, "1.5", "0", "1000000",
                     "Over-translated: source tokens whose attention, summed over the target, exceeds this; once "
                     "translated they have about 1, twice 2"),
  PLAIT_DEFINE_REAL (PlaitEvaluateSettings, translation_rate_under, "0.2", "0", "1000000",
                     "Under-translated: source tokens whose attention, summed over the target, misses this"),
  PLAIT_DEFINE_CHOICE (PlaitEvaluateSettings, translation_rate_layers, "mean", "mean;last",
                       "Layers of the decoder whose attention, the mean over its heads, counts: the mean of all, for "
                       "they divide the work, or the last"),
};

const PlaitSettingGroup plait_evaluate_group
    = PLAIT_SETTING_GROUP ("evaluate", "Scoring of test splits", PlaitEvaluateSettings, evaluate_definitions);

static const PlaitSettingDefinition bench_definitions[] = {
  PLAIT_DEFINE_REAL (PlaitBenchSettings, mean_length, "25", "1", "100000",
                     "Mean length of a sentence, its end counted; a search takes so many steps"),
  PLAIT_DEFINE_REAL (PlaitBenchSettings, length_deviation, "10", "0", "100000", "Standard deviation of the lengths"),
  PLAIT_DEFINE_INTEGER (PlaitBenchSettings, shortest_length, "4", "1", "100000", "Shorter sentences are made so long"),
  PLAIT_DEFINE_INTEGER (PlaitBenchSettings, longest_length, "60", "1", "100000", "Longer sentences are made so short"),
  PLAIT_DEFINE_INTEGER (PlaitBenchSettings, document_sentence, "25", "1", "100000",
                        "Tokens of each sentence of a document; the lengths are those of documents then"),
  PLAIT_DEFINE_INTEGER (PlaitBenchSettings, feature_rows, "64", "1", "100000",
                        "Rows of a sentence's features, such as positions of an image"),
  PLAIT_DEFINE_INTEGER (PlaitBenchSettings, feature_width, "2048", "1", "131072", "Width of features"),
  PLAIT_DEFINE_INTEGER (PlaitBenchSettings, positions, "10000", "1", "10000000",
                        "Rows of the longest memory that a step of attention reads"),
};

const PlaitSettingGroup plait_bench_group = PLAIT_SETTING_GROUP ("bench", "What plait-bench draws; runs leave it aside",
                                                                 PlaitBenchSettings, bench_definitions);

const PlaitSettingGroup *const *
plait_experiment_groups (void)
{
  static const PlaitSettingGroup *const groups[] = {
    &plait_experiment_group, &plait_data_group,   &plait_source_group,   &plait_predict_group, &plait_decoder_group,
    &plait_train_group,      &plait_decode_group, &plait_evaluate_group, &plait_bench_group,   NULL,
  };

  return groups;
}

const PlaitSettingSpecification *
plait_experiment_setting (const char *group, const char *key)
{
  const char *name = g_str_has_prefix (group, "source ") ? "source" : group;

  for (const PlaitSettingGroup *const *known = plait_experiment_groups (); *known; known++)
    for (guint i = 0; g_str_equal ((*known)->name, name) && i < (*known)->n_definitions; i++)
      if (g_str_equal ((*known)->definitions[i].specification.name, key))
        return &(*known)->definitions[i].specification;
  return NULL;
}

gboolean
plait_experiment_changes_scores (const char *group, const char *key)
{
  const PlaitSettingSpecification *known = plait_experiment_setting (group, key);

  if ((known && (known->flags & PLAIT_SETTING_NEUTRAL))
      || (g_str_equal (group, plait_decode_group.name) && g_str_equal (key, "batch")))
    return FALSE;
  return !g_str_equal (group, plait_evaluate_group.name) || g_str_equal (key, "checkpoint")
         || g_str_equal (key, "join");
}
