/* SPDX-License-Identifier: MIT */
#pragma once

#include "files/problems.h"
#include "experiment/file.h"

/*
 * Internals of file.h: what an experiment owns, and the state while it is resolved.
 *
 * Faults are collected: every step continues as far as possible after a fault.
 */

/* A key of [data] that names files, or that names a text of the task. */
typedef struct
{
  const char *split;   /* NULL for files of vocabularies and for texts to learn them from */
  const char *stream;  /* name of the stream or of the vocabulary */
  const char *written; /* path as in the experiment file, with "~" and variables replaced. For training: escaped paths,
                          joined by ';'. In a generated corpus: a text of the task */
  char **paths;        /* absolute paths, NULL-terminated; several only for training; empty for a text of a task */
  const char *key;     /* key that names the file, such as "train.en" */
} PlaitDataFile;

/* TRUE if @file belongs to training, so that its key names a list of files. */
gboolean plait_data_file_is_list (const PlaitDataFile *file);

/* Contents of the group [data]. */
typedef struct
{
  GStringChunk *texts;
  const char *folder;       /* absolute path of data.folder */
  PlaitSettings *settings;  /* keys of [data]; owned by the experiment */
  GArray *files;            /* (element-type PlaitDataFile), one for each key SPLIT.STREAM, in the order of the file */
  GArray *vocabulary_files; /* (element-type PlaitDataFile); its field stream is the name of the vocabulary */
  GArray *vocabulary_texts; /* (element-type PlaitDataFile): texts to learn vocabularies from. The field stream is the
                               name of the vocabulary. In a generated corpus, paths is empty, and
                               plait_task_parse_text() reads the field written */
  GPtrArray *paths;         /* (element-type GStrv), owns the lists PlaitDataFile.paths */
  GPtrArray *test_splits;
  const PlaitTask *task;       /* task of data.generate, or NULL */
  GArray *task_specifications; /* (element-type PlaitSettingSpecification) */
  PlaitSettings *task_settings;
  PlaitTaskSettings task_values;
} PlaitParsedData;

typedef struct
{
  PlaitExperiment public; /* first member, so that pointers to the two structs can be cast */
  GHashTable *settings;   /* maps the name of a core group to its PlaitSettings */
  PlaitParsedData *data;
  GPtrArray *sources;       /* (element-type PlaitParsedSource), all sources of the file */
  GArray *used;             /* (element-type PlaitExperimentSource), the used sources */
  GArray *vocabulary_texts; /* set by plait_experiment_set_vocabulary_texts; NULL: use data->vocabulary_texts */
  GArray *scores;           /* (element-type PlaitExperimentScore): keys scores.NAME of [evaluate] */
} PlaitExperimentPrivate;

/* A group [source NAME]; the experiment need not use the source. */
typedef struct
{
  char *group; /* name of the group, such as "source en" */
  const char *name;
  PlaitSettings *host; /* keys of the group that are not its encoder's: those of schemas/group/source.ini */
  PlaitSourceSettings settings;
  char *trees;        /* stream of the source's trees, such as "en.trees" */
  char *alignment;    /* stream of the source's word alignments, such as "en.alignment" */
  GPtrArray *factors; /* (element-type utf8) streams of the source's factors, such as "en.pos", then of its tags;
                         NULL-terminated */
  guint n_factors, n_tags;
  gint64 *factor_widths; /* as PlaitExperimentSource.factor_widths */
  double *tag_weights;
  PlaitComponent *encoder; /* encoder; NULL if a problem was added instead, such as a missing plugin */
  char *inner_group;       /* group of the inner encoder, such as "source en/leaves" */
} PlaitParsedSource;

struct PlaitResolver
{
  char *folder;
  char **alternatives; /* plugins whose parameters a file may contain although it does not use the plugins
                          (find_alternatives()) */
  PlaitResolveFlags flags;
  PlaitRegistry *registry;

  /* Results of checks that later cells of a grid need not repeat. */
  GHashTable *lines;    /* maps a file's path, with the settings that affect counting, to its number of lines, trees or
                           sentences (gint64) */
  GHashTable *scorable; /* set of strings, each of which lists the files, metrics and settings of a finished check of
                           references; a fault is reported only once */
};

typedef struct
{
  const PlaitResolver *resolver;
  const PlaitKeyFile *file;
  PlaitProblems *problems;
  PlaitExperimentPrivate *experiment;
} PlaitResolution;

/* Adds a problem "PLACE: [group] key: SENTENCE"; "PLACE: [group]: SENTENCE" if @key is NULL. PLACE is the result of
 * plait_key_file_location(). */
void plait_resolution_problem (const PlaitResolution *resolution, const char *group, const char *key,
                               const char *format, ...) G_GNUC_PRINTF (4, 5);

/* Called for @key of [@group] that the settings of the group do not know. Returns TRUE if it accepts the key. @data is
 * what the caller passed. */
typedef gboolean (*PlaitOtherKey) (const PlaitResolution *resolution, const char *group, const char *key,
                                   gconstpointer data);

/* Reads the keys of [@group] into @settings. For a key that @settings does not know, calls @other (may be NULL) with
 * @data; TRUE means that @other accepts the key. Adds a problem for every other unknown key, with the nearest known
 * key, for every invalid value, and for every required setting that is missing. */
void plait_resolution_read_group (const PlaitResolution *resolution, const char *group, PlaitSettings *settings,
                                  PlaitOtherKey other, gconstpointer data);

/* TRUE if @key is a parameter of a plugin among the resolver's alternatives. A PlaitOtherKey; @data points to the
 * PlaitPluginKind of these plugins. */
gboolean plait_resolution_is_alternative (const PlaitResolution *resolution, const char *group, const char *key,
                                          gconstpointer data);

/* Reads those keys of [@group] that the core knows into @host. The others are parameters of a plugin. FALSE after
 * adding problems. */
gboolean plait_resolution_read_host_keys (const PlaitResolution *resolution, const char *group, PlaitSettings *host);

/* Reads the parameters of @component from [@group]. The group also has keys of the core, @host; messages about
 * unknown keys suggest keys of both. @chooser is the key that names the plugin. */
void plait_resolution_read_plugin_keys (const PlaitResolution *resolution, const char *group, const PlaitSettings *host,
                                        PlaitComponent *component, const char *chooser);

/* Finds the plugin @name, the value of @key in [@place], and reads its parameters from [@group]. Returns NULL after
 * adding a problem if there is no such plugin. (transfer full) */
PlaitComponent *plait_resolution_read_part (const PlaitResolution *resolution, PlaitPluginKind kind, const char *name,
                                            const char *place, const char *key, const char *group);

/* TRUE if one of the resolver's alternative plugins of @kind has a schema for which @found (schema, @data) is TRUE. */
gboolean plait_resolution_any_alternative (const PlaitResolution *resolution, PlaitPluginKind kind,
                                           gboolean (*found) (const PlaitSchema *schema, gconstpointer data),
                                           gconstpointer data);

/* Reads @key of [evaluate] if it has the form scores.NAME. A PlaitOtherKey. */
gboolean plait_resolution_take_score (const PlaitResolution *resolution, const char *group, const char *key,
                                      gconstpointer data);

/* Finds for which scores smaller is better, and stores the list of all scores in the experiment. Adds a problem for
 * each name in evaluate.smaller_is_better that is not a score. */
void plait_resolution_check_scores (const PlaitResolution *resolution);

/* First part of the keys of [data] that name vocabulary files. */
#define PLAIT_VOCABULARY_PREFIX "vocabulary."

/* First part of the keys of [data] that name texts from which vocabularies are learnt. */
#define PLAIT_VOCABULARY_TEXT_PREFIX "vocabulary_text."

/* Reads @key, "vocabulary_text.NAME.NUMBER" of [data], or adds a problem. */
void plait_resolution_read_vocabulary_text (const PlaitResolution *resolution, const char *key);

/* Adds a problem for each text from which to learn a vocabulary, if the vocabulary is also read from a file. */
void plait_resolution_check_vocabulary_texts (const PlaitResolution *resolution);

/* Returns the texts for learning vocabularies that keys of [data] name, or that plait_experiment_set_vocabulary_texts()
 * set in their place. Leaves out the training text of streams. (transfer none) (element-type PlaitDataFile) */
const GArray *plait_vocabulary_texts_written (const PlaitExperiment *experiment);

/* Reads the value of @key in [data], a path relative to data.folder, into @file. For a stream of training the value may
 * be several paths. FALSE after adding a problem. */
gboolean plait_resolution_read_file_name (const PlaitResolution *resolution, const char *key, PlaitDataFile *file);

/* Reads [data]: settings, files and the task of a generated corpus. Call it after plait_resolution_read_sources(). */
void plait_resolution_read_data (const PlaitResolution *resolution);
void plait_parsed_data_free (gpointer data);

/* First part of the names of source groups. */
#define PLAIT_SOURCE_PREFIX "source "

/* Reads every [source NAME] and selects the sources that experiment.sources names, or all if it is empty. */
void plait_resolution_read_sources (const PlaitResolution *resolution);
void plait_parsed_source_free (gpointer source);

/* Reads the factors and tags of @source from source->settings, which must be filled. */
void plait_resolution_read_factors (const PlaitResolution *resolution, PlaitParsedSource *source);

/* Adds a problem if @source cannot have its factors or tags. */
void plait_resolution_check_factors (const PlaitResolution *resolution, const PlaitExperimentSource *source);

/* Returns the first source, used or not, that reads the stream STREAM, if @stream has the form STREAM.NAME. Returns
 * NULL if there is no such source, or if NAME cannot be the name of a factor, such as "trees". (transfer none) */
const PlaitParsedSource *plait_resolution_factor_source (const PlaitResolution *resolution, const char *stream);

/* TRUE if plait_resolution_factor_source() finds a source for @stream, and this source has the key factors or tags. The
 * key need not name @stream, because another cell of a grid can use @stream. */
gboolean plait_resolution_is_factor (const PlaitResolution *resolution, const char *stream);

/* Adds a problem if sources, encoders, combiner, decoder and data do not fit together. All of them must have been read
 * without faults. */
void plait_resolution_check_compatibility (const PlaitResolution *resolution);

/* Adds a problem if one source reads a stream as text and another source reads it as features. */
void plait_resolution_check_kinds (const PlaitResolution *resolution);

/* Adds a problem for each missing key of a file, for each file or vocabulary that belongs neither to a source nor to
 * the target, and if data.vocabulary_size is impossible. For a generated corpus, adds a problem for each key of a file,
 * and for each used stream that the task does not make. PLAIT_RESOLVE_WITHOUT_DATA: does not check files. */
void plait_resolution_check_data (const PlaitResolution *resolution);

/* Returns the target, the streams of all sources, used or not, and the streams of their factors and tags;
 * NULL-terminated. (transfer container) */
const char **plait_resolution_streams (const PlaitResolution *resolution);

/* Returns those items of @list whose streams are used. @list is the value of data.documents or data.documents_by_line.
 * (transfer full) */
char *plait_documents_used (const PlaitExperiment *experiment, const char *list);

/* Adds a problem for each wrong item of data.documents and data.documents_by_line, and for each component that needs
 * documents but gets none, or gets documents but cannot read them. If documents are cut into chunks, adds a problem for
 * each used stream without documents. */
void plait_resolution_check_documents (const PlaitResolution *resolution);

/* Adds a problem if the data does not suit the kind of prediction. Accepts all data if a sequence is predicted. */
void plait_resolution_check_prediction (const PlaitResolution *resolution);

/* Adds a problem if the streams of training have different numbers of files, if features have several files, if a
 * source reads the stream of loss weights, or if data.weights, data.share or data.subword_sampling do not suit the
 * data. */
void plait_resolution_check_training_files (const PlaitResolution *resolution);

/* Adds a problem for each file that is malformed or cannot be read, or whose number of lines or feature sentences
 * differs from that of the first counted stream of its split. Compares no numbers of streams whose documents have
 * several lines. */
void plait_resolution_check_lines (const PlaitResolution *resolution);

/* Adds a problem for each metric that cannot score a file of references, and for each file of further references whose
 * number of texts differs from that of the target's file. Checks test splits, and validation if train.metric is set.
 * Accepts all references of masked text. */
void plait_resolution_check_references (const PlaitResolution *resolution);

/* Finds the name map, and adds a problem if training cannot begin with train.initialise. */
void plait_resolution_check_initial (const PlaitResolution *resolution);

/* Adds a problem if a key names a checkpoint that cannot exist. */
void plait_resolution_check_checkpoints (const PlaitResolution *resolution);

/* Each of these functions adds a problem if the settings of one group do not fit together. The group must have been
 * read without faults. */
void plait_resolution_check_decoder (const PlaitResolution *resolution);
void plait_resolution_check_train (const PlaitResolution *resolution);
void plait_resolution_check_decode (const PlaitResolution *resolution);
void plait_resolution_check_evaluate (const PlaitResolution *resolution);
void plait_resolution_check_bench (const PlaitResolution *resolution);
