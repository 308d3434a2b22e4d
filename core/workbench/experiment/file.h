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
 *                       vocabulary.NAME=FILE or vocabulary_text.NAME.NUMBER=FILE; target, folder, vocabulary keys; or
 *                       generate=TASK with generate.NAME keys
 *
 *     [source NAME]     encoder=PLUGIN and its parameters; leaves=PLUGIN for an encoder that reads another encoder's
 *                       output; the parameters of that inner encoder are in [source NAME/leaves]
 *
 *     [predict]         kind=class etc., if no sequence is predicted
 *
 *     [decoder]         combiner=PLUGIN, ...
 *
 *     [combiner]        parameters of the combiner
 *     [coverage]        parameters of the coverage, if decoder.coverage names one
 *     [output]          parameters of the output that decoder.output names
 *
 *     [train] [decode]
 *     [evaluate]        metrics, ...; scores.NAME=COMMAND for external scores
 *
 *     [bench]           random text for plait-bench
 *
 *     [grid]            axes/cells.h
 *
 * All faults found are reported together, each on a line "FILE:LINE: [group] key: ...". Parts that do not fit together
 * (a combiner that the decoder cannot use, an encoder of another kind of input) are found from the schemas alone, once
 * the groups are read without faults. Modules are loaded, and data files read, only if a flag asks for it.
 */

/* One source. Combiners see the sources in the order of experiment.sources. */
typedef struct
{
  const char *name;
  const char *stream;         /* name of the stream in [data] */
  const char *trees;          /* "STREAM.trees" if the encoder reads trees, else NULL */
  const char *alignment;      /* "STREAM.alignment", the stream of word alignments between source and target */
  const char *const *factors; /* [n_factors + n_tags] streams of factors, then of predicted tags: "STREAM.NAME";
                                 NULL-terminated */
  guint n_factors;
  guint n_tags;
  const double *tag_weights;     /* [n_tags] weights of the losses of tags */
  const gint64 *factor_widths;   /* [n_factors] widths of the concatenated embeddings; all 0: embeddings are added */
  gint64 factor_vocabulary_size; /* maximum entries of each vocabulary of a factor or of tags; 0: no limit */
  const char *dataset;           /* path of the features inside their HDF5 files */
  PlaitComponent *encoder;       /* encoder with its inner encoder; their modules need not be loaded yet */
  PlaitInputKind kind;           /* kind of input that the encoder reads */
} PlaitExperimentSource;

/* An external score, which a command or file gives for each line: the key evaluate.scores.NAME. */
typedef struct
{
  const char *name;
  const char *command; /* value of the key: a shell command, or "file:" and a path */
  const char *path;    /* absolute path of the file with the numbers; NULL: run the command */
  gboolean larger_is_better;
} PlaitExperimentScore;

/* A resolved experiment. It owns all members except the plugins: these belong to the registry, which must outlive the
 * experiment. */
typedef struct
{
  char *path; /* path of the experiment file, as given */
  const char *name;

  PlaitExperimentSettings experiment;
  PlaitDataSettings data; /* settings of [data], with an absolute folder */
  PlaitPredictSettings predict;
  PlaitDecoderSettings decoder;
  PlaitTrainSettings train;
  PlaitDecodeSettings decode;
  PlaitEvaluateSettings evaluate;
  PlaitBenchSettings bench;

  guint n_sources;
  const PlaitExperimentSource *sources;
  PlaitComponent *decoder_component; /* decoder plugin of decoder.type; in models only if a sequence is predicted */
  PlaitComponent *combiner; /* combiner (its module need not be loaded yet); NULL if no sequence is predicted */
  PlaitComponent *coverage; /* coverage, or NULL */
  PlaitComponent *output;   /* output; NULL if no sequence is predicted */

  const PlaitExperimentScore *scores; /* [n_scores] */
  guint n_scores;

  const char *const *test_splits; /* names of the test splits, in the order of the file, NULL-terminated */
  char *head_rules;               /* path of the head rules that make trees binary, or NULL */
  char *name_map;                 /* path of the name map train.initialise_map, or NULL */
  const PlaitTask *task;          /* task of data.generate, or NULL if the corpus is read from files */
  PlaitTaskSettings task_settings;
} PlaitExperiment;

/* Checks of an experiment that need more than the text of its file, and a flag for experiments without data. */
typedef enum
{
  PLAIT_RESOLVE_CHECK_FILES = 1 << 0,  /* the files that the settings name must exist and be readable, and metrics must
                                          be able to score the references */
  PLAIT_RESOLVE_WITHOUT_DATA = 1 << 1, /* [data] need not name files */
  PLAIT_RESOLVE_LOAD_MODULES = 1 << 2, /* the modules of all used plugins must load */
  PLAIT_RESOLVE_COUNT_LINES = 1 << 3,  /* reads the data files completely: those of a split must have equal numbers of
                                          lines, except documents of several lines; trees and word alignments must be
                                          well-formed */
} PlaitResolveFlags;

/* A key that the command line sets or removes. A list of overrides ends with an element whose key is NULL; an empty
 * list may be NULL. */
typedef struct
{
  const char *key;   /* GROUP.KEY, such as "decoder.layers" or "source.en.layers" */
  const char *value; /* NULL: remove the key */
} PlaitOverride;

/* Splits @text, "GROUP.KEY=VALUE", in place; @override then points into @text. FALSE with an error if @text has no
 * '='. */
gboolean plait_override_split (char *text, PlaitOverride *override, GError **error);

/* Returns @override as "GROUP.KEY=VALUE". @override must not remove a key. (transfer full) */
char *plait_override_text (const PlaitOverride *override);

/* Returns the experiment of the file at @path, after applying @overrides in their order and making the checks in
 * @flags. Paths in @overrides are relative to the current folder. Does not apply the axes of a group [grid]. (transfer
 * full) */
PlaitExperiment *plait_experiment_load (const char *path, const PlaitOverride *overrides, PlaitResolveFlags flags,
                                        PlaitRegistry *registry, GError **error);

/* Reads an experiment file like plait_experiment_load. Returns NULL after adding faults to @problems. (transfer
 * full) */
PlaitExperiment *plait_experiment_check (const char *path, const PlaitOverride *overrides, PlaitResolveFlags flags,
                                         PlaitRegistry *registry, PlaitProblems *problems);

/* Returns the experiment in @text, which plait_experiment_text() made and a run stores. Applies @overrides as
 * plait_experiment_load() does. @name identifies the text in messages. Files of [data] may be missing. (transfer
 * full) */
PlaitExperiment *plait_experiment_parse (const char *text, const char *name, const PlaitOverride *overrides,
                                         PlaitRegistry *registry, GError **error);

void plait_experiment_free (PlaitExperiment *experiment);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitExperiment, plait_experiment_free)

/* Returns the resolved experiment as the text of an experiment file: every used setting with its value, defaults too,
 * always in one order. Leaves out [bench], unused sources with their files, keys of trees if no source reads trees, and
 * keys of documents if no used stream has documents. plait_experiment_parse() makes an equal experiment of the text.
 * (transfer full) */
char *plait_experiment_text (const PlaitExperiment *experiment);

/* Returns the text of the resolved experiment without settings that cannot change results, such as names, paths and log
 * intervals. Two experiments give equal runs if this text and the digests of files and plugins are equal. (transfer
 * full) */
char *plait_experiment_fingerprint_text (const PlaitExperiment *experiment);

typedef enum
{
  PLAIT_FINGERPRINT_FULL,  /* every setting that can change results, to describe differences to users */
  PLAIT_FINGERPRINT_BRIEF, /* only settings that differ from their defaults. Runs store a digest of this text, so that a
                              setting which a later version adds does not change the digest while it has its default */
} PlaitFingerprintForm;

/* Returns the part of plait_experiment_fingerprint_text that affects training: without [decode], [evaluate] and the
 * test splits. If train.best_by=metric or predict.kind=masked, includes the settings of [decode] and [evaluate] that
 * validation uses. (transfer full) */
char *plait_experiment_training_fingerprint_text (const PlaitExperiment *experiment, PlaitFingerprintForm form);

/* Returns the settings that affect the evaluation of a trained model: the groups [decode] and [evaluate] of
 * plait_experiment_fingerprint_text, and data.too_long if it is truncate. (transfer full) */
char *plait_experiment_evaluation_fingerprint_text (const PlaitExperiment *experiment, PlaitFingerprintForm form);

/* Returns the absolute paths of the files for @stream in @split, NULL-terminated; several only for training. The list
 * is empty if there is no such file, or if the corpus is generated. (transfer none) */
const char *const *plait_experiment_data_files (const PlaitExperiment *experiment, const char *split,
                                                const char *stream);

/* Name of the training stream that gives each sentence tuple the weight of its loss. No source reads it. */
#define PLAIT_LOSS_WEIGHTS "loss_weights"

/* Returns the weights of data.weights, one for each file of a stream of training, and sets *@n to their number. If the
 * key is not set, returns NULL and leaves *@n as it is. (transfer full) */
double *plait_experiment_file_weights (const PlaitExperiment *experiment, guint *n);

/* Returns the used streams: those of the sources, of their factors and tags, without repetition, then the target;
 * NULL-terminated. (transfer container) */
const char **plait_experiment_streams (const PlaitExperiment *experiment);

/* Returns the streams of plait_experiment_streams(), then the streams of trees if data.trees=given, then those streams
 * of word alignments, further references and loss weights that have files; NULL-terminated. (transfer container) */
const char **plait_experiment_all_streams (const PlaitExperiment *experiment);

/* Text between the target and the name of a further reference in the name of a stream: "cs.reference.2". */
#define PLAIT_REFERENCE ".reference."

/* Returns the name of a further reference, such as "2" if @stream is "cs.reference.2"; NULL if @stream is another
 * stream. (transfer none) */
const char *plait_experiment_reference_name (const PlaitExperiment *experiment, const char *stream);

/* Returns the streams of further references in @split, in the order of the file; NULL-terminated. (transfer
 * container) */
const char **plait_experiment_references (const PlaitExperiment *experiment, const char *split);

/* Returns the value of @key in [@group] as text, such as the name of a choice; NULL if there is no such key. @group is
 * a group of the core, but not [source NAME]. The group [decoder] includes the parameters of the decoder plugin.
 * (transfer none) */
const char *plait_experiment_value (const PlaitExperiment *experiment, const char *group, const char *key);

/* Returns the settings for reading the documents of @stream; layout PLAIT_LAYOUT_SENTENCES if it has no documents. */
PlaitDocumentSettings plait_experiment_documents (const PlaitExperiment *experiment, const char *stream);

/* TRUE if @stream has documents. */
gboolean plait_experiment_is_documents (const PlaitExperiment *experiment, const char *stream);

/* TRUE if a used stream has documents. */
gboolean plait_experiment_reads_documents (const PlaitExperiment *experiment);

/* TRUE if training learns word alignments of @source. */
gboolean plait_experiment_learns_alignment (const PlaitExperiment *experiment, const PlaitExperimentSource *source);

/* Returns the first source with the factor or the tags @stream, or NULL. (transfer none) */
const PlaitExperimentSource *plait_experiment_factor_source (const PlaitExperiment *experiment, const char *stream);

/* TRUE if @split has files with the tags of @source. A validation or test split has files for all tags of @source or
 * for none. */
gboolean plait_experiment_has_tags (const PlaitExperiment *experiment, const char *split,
                                    const PlaitExperimentSource *source);

/* TRUE if an encoder reads trees. */
gboolean plait_experiment_reads_trees (const PlaitExperiment *experiment);

/* TRUE if reading may drop training tuples because of data.maximum_source_length, data.maximum_target_length,
 * data.empty or data.no_tree. Does not consider data.too_long. */
gboolean plait_experiment_drops_tuples (const PlaitExperiment *experiment);

/* TRUE if a decoder predicts a sequence. */
gboolean plait_experiment_has_decoder (const PlaitExperiment *experiment);

/* Returns FALSE with an error if @experiment has no decoder and @sets set a key of [decode] other than batch, precision
 * and n_best, since only a search reads such a key. @sets must not remove keys. */
gboolean plait_experiment_check_sets (const PlaitExperiment *experiment, const PlaitOverride *sets, GError **error);

/* Returns the kind of the target's lines if @stream is the target, else PLAIT_TARGET_TEXT. */
PlaitTargetKind plait_experiment_target_kind (const PlaitExperiment *experiment, const char *stream);

/* Returns the name of the vocabulary of token stream @stream: "shared" or the stream's own name. Labels, factors and
 * tags always have their own vocabulary. (transfer none) */
const char *plait_experiment_vocabulary (const PlaitExperiment *experiment, const char *stream);

/* Returns the absolute path of the file from which vocabulary @name is read, or NULL if it is learnt. (transfer
 * none) */
const char *plait_experiment_vocabulary_file (const PlaitExperiment *experiment, const char *name);

/* TRUE if the output plugin writes own words (types/input.h) and the vocabulary of @stream is the target's vocabulary.
 * @stream is the stream of a source or of the target. Its unknown words then become own words if the vocabulary
 * consists of words; the caller must check that. */
gboolean plait_experiment_has_own_words (const PlaitExperiment *experiment, const char *stream);

/* Returns the used token streams with vocabulary @name. (transfer container) (element-type utf8) */
GPtrArray *plait_experiment_vocabulary_streams (const PlaitExperiment *experiment, const char *name);

/* Returns the first used token stream of each vocabulary; NULL-terminated. (transfer container) */
const char **plait_experiment_first_streams (const PlaitExperiment *experiment);

/* A text from which a vocabulary is learnt. */
typedef struct
{
  const char *key;    /* key of the text, such as "vocabulary_text.shared.1"; NULL: training text of a used stream */
  const char *path;   /* absolute path; NULL if the text is generated */
  const char *stream; /* generated text in the form of plait_task_parse_text(); NULL if the text is a file */
} PlaitVocabularyText;

/* Returns the texts from which vocabulary @name is learnt. These are the texts that the keys
 * data.vocabulary_text.NAME.NUMBER name or, without such keys, the training text of all streams with this vocabulary.
 * The strings belong to @experiment. (transfer container) (element-type PlaitVocabularyText) */
GArray *plait_experiment_vocabulary_texts (const PlaitExperiment *experiment, const char *name);

/* Replaces the texts for learning vocabulary @name by copies of @texts (element-type PlaitVocabularyText), as if keys
 * of the experiment file named them. */
void plait_experiment_set_vocabulary_texts (PlaitExperiment *experiment, const char *name, const GArray *texts);

/* Called once for each used plugin of an experiment. Returns FALSE with an error to stop. */
typedef gboolean (*PlaitEachPlugin) (PlaitPlugin *plugin, gpointer data, GError **error);

/* Calls @call once for each used plugin: encoders and inner encoders in the order of the sources, then the decoder, the
 * combiner, the coverage and the output. Stops and returns FALSE if @call fails. */
gboolean plait_experiment_each_plugin (const PlaitExperiment *experiment, PlaitEachPlugin call, gpointer data,
                                       GError **error);

/*
 * Steps of loading an experiment, which axes/cells.c takes one by one
 */

/* Returns the value of @set. @set must not remove a key. If the value holds paths, replaces "~" and variables in them
 * and makes them absolute, so that the value is valid in another folder and environment. (transfer full) */
char *plait_override_from_here (const PlaitOverride *set, GError **error);

/* Returns the folder to which paths in the experiment file at @path are relative: the file's own folder, or the current
 * folder if @path is not a regular file or is an open file such as /dev/stdin. (transfer full) */
char *plait_experiment_folder (const char *path);

/* Returns the key-file at @path, with @overrides applied. (transfer full) */
PlaitKeyFile *plait_experiment_read (const char *path, const PlaitOverride *overrides, GError **error);

#define PLAIT_GRID_GROUP "grid"

/* Splits a key with dots: "source.en.layers" into group "source en" and key "layers", "data.train.en" into "data" and
 * "train.en". FALSE if a dot is missing, or if the group or the key would be empty; then sets nothing. The caller owns
 * *@group and *@key. */
gboolean plait_experiment_split_key (const char *dotted, char **group, char **key);

/* Makes experiments from key-files, such as the cells of a grid. The resolver remembers which data files it has
 * checked, so that it does not read them again for later experiments. */
typedef struct PlaitResolver PlaitResolver;

/* Creates a resolver for experiments made from @file, which was read from @path. If @file is NULL, the experiments are
 * texts that runs store; they have absolute paths. If axes of [grid] in @file choose plugins, groups may have
 * parameters of all these plugins. @registry must outlive the resolver and the experiments. The resolver does not keep
 * @file. (transfer full) */
PlaitResolver *plait_resolver_new (const PlaitKeyFile *file, const char *path, PlaitResolveFlags flags,
                                   PlaitRegistry *registry);
void plait_resolver_free (PlaitResolver *resolver);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitResolver, plait_resolver_free)

/* Resolves the experiment in @file. Returns NULL after adding faults to @problems. (transfer full) */
PlaitExperiment *plait_resolver_resolve (const PlaitResolver *resolver, const PlaitKeyFile *file,
                                         PlaitProblems *problems);
