/* SPDX-License-Identifier: MIT */
#pragma once

#include "metrics/pieces.h"
#include "schema/settings.h"

/*
 * The groups of an experiment file that the core itself reads. Those of other floors: plait_predict_group,
 * plait_decoder_group, plait_decode_group (core/model), plait_train_group (core/model/training).
 */

/* [experiment] */
typedef struct
{
  const char *name; /* empty: that of the file */
  gint64 seed;
  const char *sources; /* "en+de": the [source] groups that are used, in this order; empty: all, as in the file */
} PlaitExperimentSettings;

extern const PlaitSettingGroup plait_experiment_group;

typedef enum
{
  PLAIT_VOCABULARY_SHARED,   /* one vocabulary for all streams of tokens */
  PLAIT_VOCABULARY_SEPARATE, /* one for each stream */
} PlaitVocabularySharing;

typedef enum
{
  PLAIT_VOCABULARY_BPE,
  PLAIT_VOCABULARY_UNIGRAM,
  PLAIT_VOCABULARY_WORDS,
  PLAIT_VOCABULARY_GIVEN, /* as the files have it */
} PlaitVocabularyType;

typedef enum
{
  PLAIT_EMPTY_ERROR,
  PLAIT_EMPTY_MISSING,
} PlaitEmptyPolicy;

/* What becomes of a sentence that the model cannot read. */
typedef enum
{
  PLAIT_TOO_LONG_ERROR,
  PLAIT_TOO_LONG_SKIP,
  PLAIT_TOO_LONG_TRUNCATE,
} PlaitTooLongPolicy;

typedef enum
{
  PLAIT_STARTS_ALL,
  PLAIT_STARTS_SOURCES,
  PLAIT_STARTS_TARGET,
  PLAIT_STARTS_NONE,
} PlaitDocumentStarts;

typedef enum
{
  PLAIT_CUT_CHUNKS,
  PLAIT_CUT_TRUNCATE,
} PlaitDocumentCut;

/* [data], less the keys that name files: SPLIT.STREAM and vocabulary.NAME. */
typedef struct
{
  const char *folder;
  const char *target;   /* name of the target stream */
  gint vocabulary;      /* PlaitVocabularySharing */
  gint vocabulary_type; /* PlaitVocabularyType */
  gint64 vocabulary_size;
  gint64 vocabulary_minimum_count;
  double vocabulary_character_coverage;
  gint vocabulary_normalisation;
  gboolean vocabulary_byte_fallback;
  gint64 vocabulary_sentences;
  gboolean append_end;
  gint64 maximum_source_length;
  gint64 maximum_target_length;

  /* plait_experiment_documents */
  const char *documents;         /* a list of streams: a sentence a line */
  const char *documents_by_line; /* a list of STREAM or STREAM:LANGUAGE: a document a line */
  gint document_starts;          /* PlaitDocumentStarts */
  gint64 document_roles;
  gint64 document_length;
  gint document_cut; /* PlaitDocumentCut */

  gint empty;    /* PlaitEmptyPolicy */
  gint too_long; /* PlaitTooLongPolicy */

  /* Trees: plait_experiment_reads_trees. */
  gint trees;        /* PlaitTreeShape */
  gint binarisation; /* PlaitBinarisation */
  const char *head_rules;
  gint no_tree; /* PlaitNoTree */
  const char *generate;
} PlaitDataSettings;

extern const PlaitSettingGroup plait_data_group;

/* The keys of [source NAME] that belong to the host; the others are the encoder's. */
typedef struct
{
  const char *encoder;
  const char *leaves;
  const char *stream;
  const char *dataset;
} PlaitSourceSettings;

extern const PlaitSettingGroup plait_source_group;

typedef enum
{
  PLAIT_RATE_LAYERS_MEAN,
  PLAIT_RATE_LAYERS_LAST,
} PlaitRateLayers;

/* [evaluate] */
typedef struct
{
  const char *metrics; /* a list, as plait_metric_new_list reads it */
  gint checkpoint;     /* PlaitCheckpoint */
  gint64 resamples;
  gint64 seed;
  gint64 attention;
  const char *length_bins;       /* bounds, a list; empty: none */
  const char *translation_rates; /* a list of search and forced; empty: none */
  double translation_rate_over;
  double translation_rate_under;
  gint translation_rate_layers; /* PlaitRateLayers */
  gint join;                    /* PlaitTextPieces */
} PlaitEvaluateSettings;

extern const PlaitSettingGroup plait_evaluate_group;

/* [bench]: the text that plait-bench draws where an experiment would read its own. It says nothing about a run, and no
 * run keeps it. Lengths count the end of a sentence: normal, rounded, within shortest_length .. longest_length. */
typedef struct
{
  double mean_length; /* rounded, the steps of a search too */
  double length_deviation;
  gint64 shortest_length;
  gint64 longest_length;
  gint64 document_sentence; /* tokens of each sentence of a document, which the lengths above are the lengths of */
  gint64 feature_rows;      /* of a sentence, for an encoder of features */
  gint64 feature_width;
  gint64 positions; /* rows of the longest memory that a step of attention reads */
} PlaitBenchSettings;

extern const PlaitSettingGroup plait_bench_group;

/* All groups with keys of the core, in the order of a resolved file, NULL-terminated. */
const PlaitSettingGroup *const *plait_experiment_groups (void);

/* The setting @key of the core's group @group, which may be "source NAME". NULL: the core has none. */
const PlaitSettingSpecification *plait_experiment_setting (const char *group, const char *key);

/* TRUE if the value of [@group] @key can change a score. Names, log intervals, batches of search and what is dumped
 * cannot, nor what [evaluate] says of intervals and bins or of which scores there are: a rate with another bound is
 * another score. */
gboolean plait_experiment_changes_scores (const char *group, const char *key);
