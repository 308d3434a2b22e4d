/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>

#include "foreign/safetensors.h"

#define PLAIT_SAFETENSORS_METADATA "__metadata__"
#define PLAIT_SAFETENSORS_MAX_HEADER ((guint64)100000000) /* bytes */

/* What an index of parts says (safetensors.h). */
typedef struct
{
  char *path;
  json_t *json;     /* all of it */
  GPtrArray *paths; /* of the parts, each once, sorted */
} PlaitSafetensorsIndex;

gboolean plait_safetensors_index_is_named (const char *path);

/* Reads the index at @path. Parts are files in its folder. (transfer full) */
PlaitSafetensorsIndex *plait_safetensors_index_read (const char *path, GError **error);
void plait_safetensors_index_free (PlaitSafetensorsIndex *index);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitSafetensorsIndex, plait_safetensors_index_free)

/* TRUE if the tensors of @file, which has the parts of @index in their order, are where @index says. */
gboolean plait_safetensors_index_check (const PlaitSafetensorsIndex *index, const PlaitSafetensors *file,
                                        GError **error);

/* TRUE unless @path, which is to be read alone, is one of several parts, or there in parts instead, as an index beside
 * it tells. */
gboolean plait_safetensors_index_check_alone (const char *path, GError **error);
