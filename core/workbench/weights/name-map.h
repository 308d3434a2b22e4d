/* SPDX-License-Identifier: MIT */
#pragma once

#include "files/key-file.h"

/*
 * A name map says from which tensors of published weights each parameter is made. It is a key-file
 * weights/NAME.ini in a plugin folder. The group [weights] maps rows of embeddings to words:
 *
 *     summary=..., reference=...
 *     pad=1, bos=0, eos=2, unknown=3      row of the special token: a number, last (the last row) or none (no row)
 *     words=4                             the row of the first ordinary piece; the next rows are the other pieces
 *     unused=A.*;*.b                      globs over names of tensors that have no effect on results
 *
 * [settings] says which settings the published model has, [config] which values its config.json must have:
 *
 *     source.heads=KEY         the value of KEY in config.json
 *     decoder.start=KEY:VALUE  the value of KEY, or VALUE if config.json lacks it; KEY may be empty
 *     normalize_before=false   in [config]: the value that config.json must have, if it has the key
 *
 * Each other group is named like the parameters that it makes; {NAME} matches any part between slashes:
 *
 *     from=A.{NAME}.b;C|D      tensors whose columns, side by side, are those of the parameter; C|D: C, or D if the
 *                              file lacks C
 *     transposed=true          the tensors are [outputs, inputs]
 *     first=2                  the tensor's row that becomes row 0 of the parameter (positions)
 *     words=rows|columns       the rows (or columns) of the only tensor are words, mapped as [weights] says
 *     fill=-1e9                value for words that the tensor lacks; 0 by default
 *     plus=E                   a tensor of one row that is added to each row
 *     optional=true            if the file lacks the first tensor of from=, the parameter stays as initialised; if the
 *                              model lacks the parameter, a tensor of zeros in the file is no error
 *     needs=TEXT               settings with which a model has the parameter, for messages
 */
typedef struct PlaitNameMap PlaitNameMap;

enum
{
  PLAIT_NAME_MAP_SPECIALS = 4, /* number of special tokens: padding, BOS, EOS, unknown */
};

/* Rows of the words in a published vocabulary. */
typedef struct
{
  gint64 specials[PLAIT_NAME_MAP_SPECIALS]; /* a row, PLAIT_NAME_MAP_NONE or PLAIT_NAME_MAP_LAST */
  gint64 words;                             /* row of the first ordinary piece */
} PlaitNameMapWords;

#define PLAIT_NAME_MAP_NONE ((gint64)-1)
#define PLAIT_NAME_MAP_LAST ((gint64)-2)

typedef enum
{
  PLAIT_WORD_AXIS_NONE,
  PLAIT_WORD_AXIS_ROWS,    /* rows are words */
  PLAIT_WORD_AXIS_COLUMNS, /* columns are words */
} PlaitWordAxis;

/* Tensors from which one parameter is made. */
typedef struct
{
  char **from; /* names of tensors; each can be several alternatives separated by '|' */
  char *plus;  /* tensor that is added to each row, named like an element of @from; NULL if there is none */
  gboolean transposed;
  gint64 first;
  gint words; /* PlaitWordAxis */
  double fill;
  gboolean optional;
  char *place; /* "FILE:LINE" of the key from of the group, in the file of the map */
} PlaitParameterMapping;

void plait_parameter_mapping_clear (PlaitParameterMapping *mapping);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (PlaitParameterMapping, plait_parameter_mapping_clear)

/* Reads the name map @path. Fails with one PLAIT_ERROR_INPUT for all problems. (transfer full) */
PlaitNameMap *plait_name_map_read (const char *path, GError **error);
void plait_name_map_free (PlaitNameMap *map);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitNameMap, plait_name_map_free)

#define PLAIT_NAME_MAP_SETTINGS "settings"
#define PLAIT_NAME_MAP_CONFIG "config"

/* Returns the key-file of the map, from which the caller reads the groups [settings] and [config]. (transfer none) */
const PlaitKeyFile *plait_name_map_file (const PlaitNameMap *map);

PlaitNameMapWords plait_name_map_words (const PlaitNameMap *map);

/* Fills in @mapping for parameter @name from the first group that applies. FALSE if no group applies. */
gboolean plait_name_map_find (const PlaitNameMap *map, const char *name, PlaitParameterMapping *mapping);

/* TRUE if unused= in [weights] matches the tensor name @tensor. */
gboolean plait_name_map_ignores (const PlaitNameMap *map, const char *tensor);

/* A parameter that can be read from a tensor. */
typedef struct
{
  char *parameter;   /* name of the parameter, with '*' for each part that the tensor's name does not determine */
  char *names;       /* names of tensors separated by '|'; the first that the file has is used */
  const char *needs; /* settings with which a model has the parameter, or "" */
  gboolean optional;
} PlaitMappedParameter;

/* Returns the parameters that can be made of @tensor, in the order of the map; empty if the map does not name the
 * tensor. (transfer full) (element-type PlaitMappedParameter) */
GArray *plait_name_map_uses (const PlaitNameMap *map, const char *tensor);
