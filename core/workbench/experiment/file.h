/* SPDX-License-Identifier: MIT */
#pragma once

#include "files/key-file.h"
#include "files/problems.h"
#include "corpus/corpus.h"
#include "tasks/generate.h"
#include "experiment/groups.h"
#include "settings/settings.h"
#include "loading/component.h"
#include "training/settings.h"

/*
 * The experiment file, read and checked.
 *
 *     [experiment]      name, seed, sources
 *
 *     [data]            SPLIT.STREAM=FILE for the splits train, validation and any that begins with "test";
 *                       vocabulary.NAME=FILE; target, folder, vocabulary keys; or generate=TASK with generate.NAME keys
 *
 *     [source NAME]     encoder=PLUGIN and its parameters; leaves=PLUGIN for an encoder that stands on another, whose
 *                       parameters stand in [source NAME/leaves]
 *
 *     [predict]         kind=class where no sequence is predicted
 *
 *     [decoder]         combiner=PLUGIN, ...
 *
 *     [combiner]        the combiner's parameters
 *     [coverage]        the coverage's, if decoder.coverage names one
 *
 *     [train] [decode] [evaluate]
 *
 *     [bench]           what plait-bench draws
 *
 *     [grid]            cells/cells.h
 *
 * All faults are told at once, each on a line "FILE:LINE: [group] key: ...", before any data is read. What does not fit
 * together (a combiner that cannot stand in the decoder, an encoder that reads something else) is found from the
 * schemas alone; modules are loaded where a flag asks for it.
 */

/* One source, in the order in which combiners see it. */
typedef struct
{
  const char *name;
  const char *stream;      /* of [data] */
  const char *trees;       /* "STREAM.trees", of an encoder that reads trees; else NULL */
  const char *dataset;     /* of features */
  PlaitComponent *encoder; /* with what it stands on; not opened */
  PlaitInputKind kind;     /* what the encoder reads */
} PlaitExperimentSource;

/* Everything belongs to the experiment, and the plugins to the registry, which must outlive it. */
typedef struct
{
  char *path; /* of the file, as given */
  const char *name;

  PlaitExperimentSettings experiment;
  PlaitDataSettings data; /* folder is absolute here */
  PlaitPredictSettings predict;
  PlaitDecoderSettings decoder;
  PlaitTrainSettings train;
  PlaitDecodeSettings decode;
  PlaitEvaluateSettings evaluate;
  PlaitBenchSettings bench;

  guint n_sources;
  const PlaitExperimentSource *sources;
  PlaitComponent *combiner; /* not opened; NULL unless a sequence is predicted */
  PlaitComponent *coverage; /* NULL: none */

  const char *const *test_splits; /* names in the order of the file, NULL-terminated */
  char *head_rules;               /* path of the rules that trees are made binary by, or NULL */
  char *name_map;                 /* path of the map of train.initialise_map, or NULL */
  const PlaitTask *task;          /* of generate=, or NULL */
  PlaitTaskSettings task_settings;
} PlaitExperiment;

/* What is looked at beside the text of an experiment file. */
typedef enum
{
  PLAIT_RESOLVE_CHECK_FILES = 1 << 0,  /* the files of [data] must be there */
  PLAIT_RESOLVE_WITHOUT_DATA = 1 << 1, /* [data] need name none */
  PLAIT_RESOLVE_LOAD_MODULES = 1 << 2, /* those of the plugins that are used must load */
  PLAIT_RESOLVE_COUNT_LINES = 1 << 3,  /* the files of a split must have as many: they are read through */
} PlaitResolveFlags;

/* Reads the file at @path with @overrides ("decoder.layers=4", "source.en.layers=4", NULL-terminated, or NULL), and
 * looks at what @flags ask for. Files that these name are relative to the current folder. A group [grid] is left aside.
 * (transfer full) */
PlaitExperiment *plait_experiment_load (const char *path, const char *const *overrides, PlaitResolveFlags flags,
                                        PlaitRegistry *registry, GError **error);

/* The same; NULL where it adds to @problems. (transfer full) */
PlaitExperiment *plait_experiment_check (const char *path, const char *const *overrides, PlaitResolveFlags flags,
                                         PlaitRegistry *registry, PlaitProblems *problems);

/* Reads @text, what plait_experiment_text gave and a run stored, with @overrides as above; @name stands for it in
 * messages. Files of [data] need not be there any more. (transfer full) */
PlaitExperiment *plait_experiment_parse (const char *text, const char *name, const char *const *overrides,
                                         PlaitRegistry *registry, GError **error);

void plait_experiment_free (PlaitExperiment *experiment);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitExperiment, plait_experiment_free)

/* The fully resolved experiment: every setting with its value, defaults written out, always in the same order; sources
 * that are not used and [bench] are left out. plait_experiment_parse reads it back to the same experiment. (transfer
 * full) */
char *plait_experiment_text (const PlaitExperiment *experiment);

/* The resolved experiment less what cannot change results: names, places of files, log intervals. Together with digests
 * of the files and plugins it tells whether two experiments would give the same run. (transfer full) */
char *plait_experiment_fingerprint_text (const PlaitExperiment *experiment);

typedef enum
{
  PLAIT_FINGERPRINT_FULL,  /* every setting, for people who are told a difference */
  PLAIT_FINGERPRINT_BRIEF, /* less those at their defaults: what runs keep a digest of, so that a setting which a later
                      plait has beside the others changes nothing while it stands at its default */
} PlaitFingerprintForm;

/* The two stages of it apart. What training depends on: all but [decode], [evaluate] and the test splits, unless
 * validation itself chooses by translations (train.best_by=metric) or masks its text. (transfer full) */
char *plait_experiment_training_fingerprint_text (const PlaitExperiment *experiment, PlaitFingerprintForm form);

/* What the evaluation of a split depends on beside the trained model and its files: [decode] and [evaluate]. (transfer
 * full) */
char *plait_experiment_evaluation_fingerprint_text (const PlaitExperiment *experiment, PlaitFingerprintForm form);

/* Absolute path of the file of @stream in @split, or NULL if there is none (or the corpus is generated). (transfer
 * none) */
const char *plait_experiment_data_file (const PlaitExperiment *experiment, const char *split, const char *stream);

/* The streams that are used: those of the sources, without repetition, then the target; NULL-terminated. (transfer
 * container) */
const char **plait_experiment_streams (const PlaitExperiment *experiment);

/* The same, and the streams of trees that are read from files. (transfer container) */
const char **plait_experiment_all_streams (const PlaitExperiment *experiment);

/* The value of @key of the core's group [@group] as text, such as the name of a choice. (transfer none) */
const char *plait_experiment_value (const PlaitExperiment *experiment, const char *group, const char *key);

/* How the documents of @stream are read; layout PLAIT_LAYOUT_SENTENCES if it has none. */
PlaitDocumentSettings plait_experiment_documents (const PlaitExperiment *experiment, const char *stream);

/* TRUE if it has some. */
gboolean plait_experiment_is_documents (const PlaitExperiment *experiment, const char *stream);

/* TRUE if a stream that is used is documents. */
gboolean plait_experiment_reads_documents (const PlaitExperiment *experiment);

/* TRUE if an encoder reads trees. */
gboolean plait_experiment_reads_trees (const PlaitExperiment *experiment);

/* TRUE if a sequence is predicted, by a decoder. */
gboolean plait_experiment_has_decoder (const PlaitExperiment *experiment);

/* TRUE if each of @sets (NULL-terminated, or NULL), keys as --set gives them, can change what @experiment does when it
 * is trained: those of search cannot where there is no decoder. */
gboolean plait_experiment_check_sets (const PlaitExperiment *experiment, const char *const *sets, GError **error);

/* What the lines of @stream are, if it is the target; PLAIT_TARGET_TEXT of others. */
PlaitTargetKind plait_experiment_target_kind (const PlaitExperiment *experiment, const char *stream);

/* The name of the vocabulary of token stream @stream: "shared", or the stream's own, as labels always have. (transfer
 * none) */
const char *plait_experiment_vocabulary (const PlaitExperiment *experiment, const char *stream);

/* Absolute path of the file that vocabulary @name is read from, or NULL if it is to be learnt. (transfer none) */
const char *plait_experiment_vocabulary_file (const PlaitExperiment *experiment, const char *name);

/* TRUE if @stream is read as tokens of a vocabulary. */
gboolean plait_experiment_is_tokens (const PlaitExperiment *experiment, const char *stream);

/* A text that a vocabulary is learnt from. */
typedef struct
{
  const char *key;    /* "vocabulary_text.shared.1"; NULL: it is training text of a stream that is used */
  const char *path;   /* absolute; NULL: generated */
  const char *stream; /* where the corpus is generated: plait_task_parse_text; else NULL */
} PlaitVocabularyText;

/* The texts that vocabulary @name is learnt from, if it is: those that data.vocabulary_text.NAME names, or else the
 * training text of its streams. (transfer full) (element-type PlaitVocabularyText) */
GArray *plait_experiment_vocabulary_texts (const PlaitExperiment *experiment, const char *name);

/* Has @experiment learn vocabulary @name from @texts (element-type PlaitVocabularyText), as if its file said so. */
void plait_experiment_set_vocabulary_texts (PlaitExperiment *experiment, const char *name, const GArray *texts);

/* Called for each plugin of an experiment, once. */
typedef gboolean (*PlaitEachPlugin) (PlaitPlugin *plugin, gpointer data, GError **error);

/* Encoders and what they stand on in the order of the sources, then the combiner and the coverage, if there are; ends
 * where @call fails. */
gboolean plait_experiment_each_plugin (const PlaitExperiment *experiment, PlaitEachPlugin call, gpointer data,
                                       GError **error);

/*
 * For cells/cells.h: the steps of loading.
 */

/* What "GROUP.KEY=VALUE" of a command line says wherever and whenever it is read again: paths are made absolute, ~ and
 * variables in them what they are now. (transfer full) */
char *plait_experiment_set_from_here (const char *set, GError **error);

/* What the files that the experiment at @path names are relative to: its folder; the current one if it comes through a
 * pipe. (transfer full) */
char *plait_experiment_folder (const char *path);

/* The key file at @path with @overrides set. (transfer full) */
PlaitKeyFile *plait_experiment_read (const char *path, const char *const *overrides, GError **error);

#define PLAIT_GRID_GROUP "grid"

/* Splits "source.en.layers" into group "source en" and key "layers", "data.train.en" into "data" and "train.en". FALSE
 * if it has no dot where one is needed. (transfer full) both */
gboolean plait_experiment_split_key (const char *dotted, char **group, char **key);

/* Makes experiments of key files. A group that says what it said before is not read again, nor are its files looked at
 * again, and the experiments share what it gave. */
typedef struct PlaitResolver PlaitResolver;

/* For what is made of @file, which was read from @path; with NULL of what runs keep, whose paths are absolute.
 * Parameters of the combiners, coverages and encoders that the axes of its [grid] choose among may stand in it though
 * the plugin chosen has none of the name: those of other cells. @registry must outlive the experiments, all else only
 * the resolver. (transfer full) */
PlaitResolver *plait_resolver_new (const PlaitKeyFile *file, const char *path, PlaitResolveFlags flags,
                                   PlaitRegistry *registry);
void plait_resolver_free (PlaitResolver *resolver);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitResolver, plait_resolver_free)

/* The experiment that @file describes; NULL where it adds to @problems. (transfer full) */
PlaitExperiment *plait_resolver_resolve (const PlaitResolver *resolver, const PlaitKeyFile *file,
                                         PlaitProblems *problems);
