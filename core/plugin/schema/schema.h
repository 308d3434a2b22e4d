/* SPDX-License-Identifier: MIT */
#pragma once

#include "schema/settings.h"

/*
 * A schema describes a plugin without its code: a key-file KIND/NAME.ini next to the module KIND/NAME.so.
 *
 *     [plugin]            name, kind, interface, summary; reference, version, licence, author;
 *                         equations=A;B: what the plugin computes, in the terms of a paper;
 *                         encoders: input, and streams=trees if they read trees over the tokens
 *     [requires]          decoder=NAME;NAME: decoder plugins in which the plugin works
 *                         attention=heads;score: what the decoder must provide
 *                         structure=tree;levels;sentences: links that memories must carry
 *                         memories=all (default) or one: all memories must carry these links, or at least one
 *                         leaves=true: an encoder needs an inner encoder, leaves= in [source NAME]
 *                         coverage=none: a combiner cannot be used with a coverage
 *                         target=sentences: a combiner pairs sentences of documents with sentences of the target
 *     [provides]          structure=... of an encoder's memories
 *                         summary=true: an encoder gives a summary
 *                         attention=heads or score: how the cross-attentions of a decoder score rows
 *                         words=own: an output also writes words of the sources that the vocabulary lacks
 *     [parameter.NAME]    type, default, minimum, maximum, choices, enum, summary, reference
 */
typedef struct
{
  const char *path; /* path of the schema file */
  const char *name;
  PlaitPluginKind kind;
  gint64 interface;
  const char *summary;
  const char *reference; /* source, such as a paper; NULL if not given, as are version, licence and author */
  const char *version;
  const char *licence;
  const char *author;
  const char *equations;             /* equations separated by ';'; NULL if not given */
  PlaitInputKind input;              /* encoders only: kind of input that the encoder reads */
  gboolean reads_trees;              /* encoders only: TRUE if the input must have trees */
  const char *decoders;              /* decoders that the plugin works in, "transformer;gru"; NULL: all */
  const char *attentions;            /* scores of decoders that the plugin works with, "heads;score"; NULL: all */
  PlaitCrossScores scores;           /* decoders only: method by which the cross-attentions score rows */
  PlaitStructure requires_structure; /* links that the plugin's memories must carry */
  gboolean one_memory_is_enough;     /* TRUE if one memory with the required links is enough; FALSE if all need them */
  gboolean requires_leaves;          /* encoders only: TRUE if the encoder needs an inner encoder */
  gboolean refuses_coverage;         /* combiners only: TRUE if the combiner cannot be used with a coverage */
  gboolean requires_sentences; /* combiners only: TRUE if the combiner pairs source sentences with target sentences */
  PlaitStructure provides_structure; /* encoders only: links that the memories of the encoder carry */
  gboolean writes_own_words;         /* outputs only: TRUE if the output also writes words that the vocabulary lacks */
  gboolean provides_summary;         /* encoders only: TRUE if the encoder gives a summary */
  guint n_parameters;
  const PlaitSettingSpecification *const *parameters; /* [n_parameters] parameters, in the order of the file */

  GStringChunk *texts; /* owns all texts of the schema */
} PlaitSchema;

/* Reads the schema at @path, which must be called KIND/NAME.ini. The error lists the first hundred problems, one on
 * each line, after "FILE:LINE: " or, for a missing group, "FILE: ". (transfer full) */
PlaitSchema *plait_schema_read (const char *path, GError **error);
void plait_schema_free (PlaitSchema *schema);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitSchema, plait_schema_free)

/* TRUE if the plugin of @schema works in @decoder. */
gboolean plait_schema_allows_decoder (const PlaitSchema *schema, const PlaitSchema *decoder);

/* Returns the name of @scores, "heads" or "score". (transfer none) */
const char *plait_cross_scores_name (PlaitCrossScores scores);

/* Returns the specification of parameter @name, or NULL. (transfer none) */
const PlaitSettingSpecification *plait_schema_parameter (const PlaitSchema *schema, const char *name);

/* Returns the name of @kind and of its folder: encoder, combiner, coverage, output or decoder. (transfer none) */
const char *plait_plugin_kind_name (PlaitPluginKind kind);
gboolean plait_plugin_kind_from_name (const char *name, PlaitPluginKind *kind);
#define PLAIT_PLUGIN_KINDS 5

/* Returns the name of @kind: "tokens", "features" or "documents". (transfer none) */
const char *plait_input_kind_name (PlaitInputKind kind);

/* Returns the names of the flags in @structure, such as "tree, levels", or "nothing". (transfer full) */
char *plait_structure_text (PlaitStructure structure);

/* TRUE if @name is valid for a plugin, a source, a memory or a loss: a letter, then letters, digits, '-' or '_', at
 * most 64 in all. So the name is never a path. The name of a parameter must not contain '-'. */
gboolean plait_name_is_valid (const char *name);

/* The form of these names, in words, for messages. */
#define PLAIT_NAME_FORM "up to 64 letters, digits, '-' and '_', beginning with a letter"
