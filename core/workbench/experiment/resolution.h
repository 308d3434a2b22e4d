/* SPDX-License-Identifier: MIT */
#pragma once

#include "files/problems.h"
#include "experiment/file.h"

/*
 * Inside of file.h: what an experiment owns, and the state of resolving one. Faults are collected, so each step goes on
 * as well as it can after one.
 */

typedef struct
{
  const char *split;
  const char *stream;
  const char *written; /* as in the file */
  const char *path;    /* absolute */
  const char *key;     /* "train.en" */
} PlaitDataFile;

/* The group [data]. */
typedef struct
{
  GStringChunk *texts;
  const char *folder;       /* absolute */
  PlaitSettings *settings;  /* the experiment's */
  GArray *files;            /* PlaitDataFile of SPLIT.STREAM keys, in the order of the file */
  GArray *vocabulary_files; /* PlaitDataFile; stream is the vocabulary's name */
  GArray *vocabulary_texts; /* likewise; of a generated corpus path is NULL, and written a stream of the task */
  GPtrArray *test_splits;
  const PlaitTask *task;       /* of generate=, or NULL */
  GArray *task_specifications; /* PlaitSettingSpecification */
  PlaitSettings *task_settings;
  PlaitTaskSettings task_values;
} PlaitParsedData;

typedef struct
{
  PlaitExperiment public; /* first: the two are cast into each other */
  GHashTable *settings;   /* name of a group of the core -> PlaitSettings */
  PlaitParsedData *data;
  GPtrArray *sources;       /* PlaitParsedSource, all in the file */
  GArray *used;             /* PlaitExperimentSource */
  GArray *vocabulary_texts; /* plait_experiment_set_vocabulary_texts; NULL: those of @data */
  GStringChunk *texts;      /* their strings, or NULL */
} PlaitExperimentPrivate;

/* A group [source NAME], used or not. */
typedef struct
{
  char *group; /* "source en" */
  const char *name;
  PlaitSettings *host; /* plait_source_group */
  PlaitSourceSettings settings;
  char *trees;             /* "en.trees", beside the stream that is read */
  PlaitComponent *encoder; /* NULL: not known */
  char *inner_group;       /* "source en/leaves" */
} PlaitParsedSource;

struct PlaitResolver
{
  char *folder;
  char **alternatives; /* or NULL */
  PlaitResolveFlags flags;
  PlaitRegistry *registry;

  /* What the cells of a grid need not read again. */
  GHashTable *lines;    /* data.empty and path of a file -> gint64, how many it has */
  GHashTable *scorable; /* files of references and metrics that were checked */
};

typedef struct
{
  const PlaitResolver *resolver;
  const PlaitKeyFile *file;
  PlaitProblems *problems;
  PlaitExperimentPrivate *experiment;
} PlaitResolution;

/* Notes "PLACE: [group] key: SENTENCE" ("PLACE: [group]: ..." without a key). */
void plait_resolution_problem (const PlaitResolution *resolution, const char *group, const char *key,
                               const char *format, ...) G_GNUC_PRINTF (4, 5);

/* Takes the keys of [@group] that @settings knows. Those that it does not know go to @other (may be NULL) with @data,
 * which returns whether it took the key; the rest are faults that name the nearest key. Then notes each setting that
 * must be given and was not. */
typedef gboolean (*PlaitOtherKey) (const PlaitResolution *resolution, const char *group, const char *key,
                                   gconstpointer data);
void plait_resolution_read_group (const PlaitResolution *resolution, const char *group, PlaitSettings *settings,
                                  PlaitOtherKey other, gconstpointer data);

/* For that: whether @key is a parameter of another plugin that the grid may choose in the place of this one; @data is
 * the PlaitPluginKind. */
gboolean plait_resolution_is_alternative (const PlaitResolution *resolution, const char *group, const char *key,
                                          gconstpointer data);

/* The part that the plugin @name plays, which stands at [@place] @key, with its parameters from [@group]. NULL where
 * there is no such plugin: that is told. (transfer full) */
PlaitComponent *plait_resolution_read_part (const PlaitResolution *resolution, PlaitPluginKind kind, const char *name,
                                            const char *place, const char *key, const char *group);

/* The plugins of @kind that the grid may choose somewhere: calls @found for each, and ends with TRUE where it does. */
gboolean plait_resolution_any_alternative (const PlaitResolution *resolution, PlaitPluginKind kind,
                                           gboolean (*found) (const PlaitSchema *schema, gconstpointer data),
                                           gconstpointer data);

/* The keys of [data] that name vocabularies begin with it. */
#define PLAIT_VOCABULARY_PREFIX "vocabulary."

/* Those that name text which a vocabulary is learnt from. */
#define PLAIT_VOCABULARY_TEXT_PREFIX "vocabulary_text."

/* Takes the key vocabulary_text.NAME.NUMBER. */
void plait_resolution_read_vocabulary_text (const PlaitResolution *resolution, const char *key);

/* Notes each vocabulary that is both read from a file and learnt. */
void plait_resolution_check_vocabulary_texts (const PlaitResolution *resolution);

/* The texts that keys or the grid name, all vocabularies together. (transfer none) (element-type PlaitDataFile) */
const GArray *plait_vocabulary_texts_written (const PlaitExperiment *experiment);

/* Reads the value of @key of [data] as a file name, relative to data.folder. FALSE after noting what is wrong. */
gboolean plait_resolution_read_file_name (const PlaitResolution *resolution, const char *key, PlaitDataFile *file);

/* [data]: settings, files, the generated task. After the sources. */
void plait_resolution_read_data (const PlaitResolution *resolution);
void plait_parsed_data_free (gpointer data);

/* The groups of sources begin with it. */
#define PLAIT_SOURCE_PREFIX "source "

/* Reads every [source NAME], and chooses those that experiment.sources names. */
void plait_resolution_read_sources (const PlaitResolution *resolution);
void plait_parsed_source_free (gpointer source);

/* TRUE if sources, encoders, combiner, decoder and data fit together; all of them have been read without a fault. */
void plait_resolution_check_compatibility (const PlaitResolution *resolution);

/* The target and the streams of all sources, used or not; NULL-terminated. (transfer container) */
const char **plait_resolution_streams (const PlaitResolution *resolution);

/* What @list, of data.documents or documents_by_line, says of streams that are used. (transfer full) */
char *plait_documents_used (const PlaitExperiment *experiment, const char *list);

/* TRUE if streams that are said to be documents are there and are text, and whoever needs documents has them. */
void plait_resolution_check_documents (const PlaitResolution *resolution);

/* TRUE if what is predicted fits the data, where it is no sequence (predict.c). */
void plait_resolution_check_prediction (const PlaitResolution *resolution);

/* TRUE if the files of a split that are there have as many lines, or features of sentences, each (lines.c). */
void plait_resolution_check_lines (const PlaitResolution *resolution);

/* Notes references of a test split, or of validation, that a metric cannot score. */
void plait_resolution_check_references (const PlaitResolution *resolution);

/* TRUE if the settings of one group fit together; it has been read without a fault. */
void plait_resolution_check_decoder (const PlaitResolution *resolution);
void plait_resolution_check_train (const PlaitResolution *resolution);
void plait_resolution_check_decode (const PlaitResolution *resolution);
void plait_resolution_check_evaluate (const PlaitResolution *resolution);
void plait_resolution_check_bench (const PlaitResolution *resolution);
