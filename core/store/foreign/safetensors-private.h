/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>

#include "foreign/safetensors.h"

#define PLAIT_SAFETENSORS_METADATA "__metadata__"
#define PLAIT_SAFETENSORS_MAX_HEADER ((guint64)100000000) /* maximum bytes of a header */

/* An index file: it names the shard of each tensor (safetensors.h). */
typedef struct
{
  char *path;
  json_t *json;     /* the parsed index */
  GPtrArray *paths; /* paths of the shards, sorted, without duplicates */
} PlaitSafetensorsIndex;

gboolean plait_safetensors_index_is_named (const char *path);

/* Reads the index at @path. Its shards are files in its folder. (transfer full) */
PlaitSafetensorsIndex *plait_safetensors_index_read (const char *path, GError **error);
void plait_safetensors_index_free (PlaitSafetensorsIndex *index);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitSafetensorsIndex, plait_safetensors_index_free)

/* TRUE if @file has the tensors of @index and no others, each in the shard that @index gives for it. @file must have
 * the shards of @index, in order. */
gboolean plait_safetensors_index_check (const PlaitSafetensorsIndex *index, const PlaitSafetensors *file,
                                        GError **error);

/* Refuses @path if the user should name the index NAME.safetensors.index.json, which exists: @path is a shard such as
 * NAME-00001-of-00002.safetensors, or a missing file NAME.safetensors or NAME. */
gboolean plait_safetensors_index_check_alone (const char *path, GError **error);
