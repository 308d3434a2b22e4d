/* SPDX-License-Identifier: MIT */
#pragma once

#include "files/key-file.h"

/*
 * Name maps: which tensors of published weights a parameter is made of. A key-file, schemas/weights/NAME.ini, found
 * where plugins are. The group [weights] says which rows of embeddings are which words:
 *
 *     summary=..., reference=...
 *     pad=1, bos=0, eos=2, unknown=3      a row, last, or none
 *     words=4                             the row of the first ordinary piece; the others follow it
 *     unused=A.*;*.b                      globs over names of tensors that change nothing that is computed
 *
 * [settings] says which settings the model has, [config] which values its config.json must have:
 *
 *     source.heads=KEY         the value of KEY in config.json
 *     decoder.start=KEY:VALUE  the same, or VALUE where there is none; KEY may be empty
 *     normalize_before=false   in [config]: its value there, if it is there
 *
 * Each other group is called as the parameters that it is for, {NAME} standing for any part between slashes:
 *
 *     from=A.{NAME}.b;C|D      tensors that stand side by side in it, one or more; of several names the first that is
 *                              there
 *     transposed=true          theirs are [outputs, inputs]
 *     first=2                  the row of theirs that is the first of ours (positions)
 *     words=rows|columns       rows, or columns, go by words as said above
 *     fill=-1e9                what stands where theirs have no such word; 0 unless given
 *     plus=E                   a tensor of one row that is added to each row
 *     optional=true            the parameter begins as ever where theirs are not there; zeros are the same as none
 *     needs=TEXT               settings with which a model has the parameter, for messages
 */
typedef struct PlaitNameMap PlaitNameMap;

enum
{
  PLAIT_NAME_MAP_SPECIALS = 4, /* padding, BOS, EOS, unknown */
};

/* Rows of theirs; see PLAIT_NAME_MAP_LAST. */
typedef struct
{
  gint64 specials[PLAIT_NAME_MAP_SPECIALS];
  gint64 words;
} PlaitNameMapWords;

#define PLAIT_NAME_MAP_NONE ((gint64)-1)
#define PLAIT_NAME_MAP_LAST ((gint64)-2)

typedef enum
{
  PLAIT_WORD_AXIS_NONE,
  PLAIT_WORD_AXIS_ROWS,    /* are words */
  PLAIT_WORD_AXIS_COLUMNS, /* are words */
} PlaitWordAxis;

/* What one parameter is made of. */
typedef struct
{
  char **from; /* names, several with '|' between them where any of them will do */
  char *plus;  /* or NULL */
  gboolean transposed;
  gint64 first;
  gint words; /* PlaitWordAxis */
  double fill;
  gboolean optional;
  char *place; /* "FILE:LINE" */
} PlaitParameterMapping;

void plait_parameter_mapping_clear (PlaitParameterMapping *mapping);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (PlaitParameterMapping, plait_parameter_mapping_clear)

/* Reads @path; all that is wrong with it is one PLAIT_ERROR_INPUT. (transfer full) */
PlaitNameMap *plait_name_map_read (const char *path, GError **error);
void plait_name_map_free (PlaitNameMap *map);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitNameMap, plait_name_map_free)

#define PLAIT_NAME_MAP_SETTINGS "settings"
#define PLAIT_NAME_MAP_CONFIG "config"

/* The key-file, for these two groups. (transfer none) */
const PlaitKeyFile *plait_name_map_file (const PlaitNameMap *map);

PlaitNameMapWords plait_name_map_words (const PlaitNameMap *map);

/* Fills @mapping for the parameter @name; FALSE if no group is for it. Of several the first counts. */
gboolean plait_name_map_find (const PlaitNameMap *map, const char *name, PlaitParameterMapping *mapping);

/* TRUE if [weights] unused= has @tensor, the name of a tensor. */
gboolean plait_name_map_ignores (const PlaitNameMap *map, const char *tensor);

/* A parameter that a tensor can make. */
typedef struct
{
  char *parameter;   /* its name, '*' for each part that the tensor's name leaves open */
  char *names;       /* of tensors, '|' between them, of which the first that is there makes it */
  const char *needs; /* settings with which a model has the parameter, or "" */
  gboolean optional;
} PlaitMappedParameter;

/* Returns the PlaitMappedParameter of the tensor @tensor, in the order of the map; empty if it names no such tensor.
 * (transfer full) */
GArray *plait_name_map_uses (const PlaitNameMap *map, const char *tensor);
