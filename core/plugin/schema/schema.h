/* SPDX-License-Identifier: MIT */
#pragma once

#include "schema/settings.h"

/*
 * A schema describes a plugin without its code: a key-file KIND/NAME.ini beside the module KIND/NAME.so.
 *
 *     [plugin]            name, kind, interface, summary; reference, version, licence, author;
 *                         equations=A;B, what it computes, in the words of a paper;
 *                         of encoders: input, and streams=trees of one that reads the trees beside its tokens
 *     [requires]          decoder=transformer;gru;lstm
 *                         structure=tree;levels;sentences, which memories must carry: memories=all (where not given)
 *                         or one, at least
 *                         leaves=true of an encoder that stands on another one, leaves= in [source NAME]
 *                         coverage=none of a combiner beside which there can be no coverage
 *     [provides]          structure=... of an encoder's memories
 *     [parameter.NAME]    type, default, minimum, maximum, choices, enum, summary, reference
 */
typedef struct
{
  const char *path; /* of the schema file */
  const char *name;
  PlaitPluginKind kind;
  gint64 interface;
  const char *summary;
  const char *reference; /* NULL where not given, as are the next three */
  const char *version;
  const char *licence;
  const char *author;
  const char *equations;             /* "A;B"; NULL where not given */
  PlaitInputKind input;              /* of encoders */
  gboolean reads_trees;              /* of encoders: their input must have trees */
  const char *decoders;              /* "transformer;gru": where it can stand; NULL: anywhere */
  PlaitStructure requires_structure; /* what the memories that it reads must carry */
  gboolean one_memory_is_enough;     /* one of them must; else all */
  gboolean requires_leaves;          /* of an encoder: it stands on another one */
  gboolean refuses_coverage;         /* of a combiner: none can stand beside it */
  PlaitStructure provides_structure; /* what the memories of an encoder carry */
  guint n_parameters;
  const PlaitSettingSpecification *const *parameters; /* in the order of the file */

  GStringChunk *texts; /* owns all of the above */
} PlaitSchema;

/* Reads the schema at @path, which must be called KIND/NAME.ini. Everything that is wrong with it is told at once, one
 * line for each fault, each beginning "FILE:LINE: ". (transfer full) */
PlaitSchema *plait_schema_read (const char *path, GError **error);
void plait_schema_free (PlaitSchema *schema);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitSchema, plait_schema_free)

/* TRUE if the schema lets the plugin stand in a decoder of type @decoder. */
gboolean plait_schema_allows_decoder (const PlaitSchema *schema, const char *decoder);

/* The specification of parameter @name, or NULL. (transfer none) */
const PlaitSettingSpecification *plait_schema_parameter (const PlaitSchema *schema, const char *name);

/* "encoder", "combiner", "coverage": the name of a kind's folder. (transfer none) */
const char *plait_plugin_kind_name (PlaitPluginKind kind);
gboolean plait_plugin_kind_from_name (const char *name, PlaitPluginKind *kind);
#define PLAIT_PLUGIN_KINDS 3

/* "tokens", "features", "documents". (transfer none) */
const char *plait_input_kind_name (PlaitInputKind kind);

/* "tree, levels"; "nothing" for none. (transfer full) */
char *plait_structure_text (PlaitStructure structure);

/* TRUE if @name can be the name of a plugin, a parameter or a source: a letter, then letters, digits, '-' or '_', at
 * most 64. So it is never a path. */
gboolean plait_name_is_valid (const char *name);
