/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/error.h"
#include "types/tensor.h"

/*
 * Files of tensors in safetensors format: 8 bytes with the length of the header; the header, JSON with type, shape and
 * offsets of each tensor; then the values. Large models consist of several such files (shards) and an index
 * NAME.safetensors.index.json, whose "weight_map" names the shard of each tensor. Opening the index opens all shards as
 * one file.
 *
 * Such files are not trusted, so the header is fully checked first. These headers are refused: longer than the file or
 * than 100 MB; not JSON in UTF-8; with duplicate names, unknown types, or shapes of more than 8 dimensions or 2^63
 * elements; with offsets that do not match type and shape, overlap, leave holes or lie outside the file; with metadata
 * that is not text. An index is refused if shards are missing or in other folders, or if the shards do not have exactly
 * the tensors that the index gives for them. Values are read, not mapped, so a file that is truncated meanwhile gives
 * an error, not a signal. A tensor without elements is allowed.
 *
 * Faults of a file are PLAIT_ERROR_INPUT; messages name the file and the tensor.
 */
typedef struct PlaitSafetensors PlaitSafetensors;

#define PLAIT_SAFETENSORS_MAX_RANK 8

/* Suffixes of the names of safetensors files and their indices. */
#define PLAIT_SAFETENSORS_SUFFIX ".safetensors"
#define PLAIT_SAFETENSORS_INDEX_SUFFIX PLAIT_SAFETENSORS_SUFFIX ".index.json"

/* TRUE if the name @path has the suffix of a safetensors file or an index. */
gboolean plait_safetensors_is_named (const char *path);

/* Returns the paths of the shards of the index @path, sorted; empty if @path is not an index. (transfer full) */
GStrv plait_safetensors_shards (const char *path, GError **error);

/* A tensor in a file. */
typedef struct
{
  const char *name;
  const char *type; /* type such as "F32" */
  guint rank;       /* number of dimensions; 0: a single element */
  gint64 shape[PLAIT_SAFETENSORS_MAX_RANK];
  gint64 elements;
  gint64 begin, end; /* first byte, and byte after the last one, counted from the end of the header */
  guint shard;       /* number of the shard that contains the tensor */
} PlaitSafetensor;

/* Opens @path, a file or an index, and checks all headers. (transfer full) */
PlaitSafetensors *plait_safetensors_open (const char *path, GError **error);
void plait_safetensors_free (PlaitSafetensors *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitSafetensors, plait_safetensors_free)

/* Returns the path that was given to plait_safetensors_open. (transfer none) */
const char *plait_safetensors_path (const PlaitSafetensors *file);

/* Return the number of tensors, tensor @i (from 0, in the order of shards and offsets), and the tensor called @name or
 * NULL. (transfer none) */
guint plait_safetensors_n (const PlaitSafetensors *file);
const PlaitSafetensor *plait_safetensors_get (const PlaitSafetensors *file, guint i);
const PlaitSafetensor *plait_safetensors_find (const PlaitSafetensors *file, const char *name);

/* Formats the shape of @tensor, such as "[2, 3]". (transfer full) */
char *plait_safetensor_shape_text (const PlaitSafetensor *tensor);

/* Reads elements @first .. @first + @n - 1 of @tensor, row-major, rounded to PlaitScalar. Types are F64, F32, F16 and
 * BF16. Another type is an error, and so is a value that is undefined or infinite as a PlaitScalar. */
gboolean plait_safetensors_read (const PlaitSafetensors *file, const PlaitSafetensor *tensor, gint64 first, gint64 n,
                                 PlaitScalar *values, GError **error);

/* A tensor for writing. */
typedef struct
{
  const char *name;
  PlaitTensor value; /* [rows, width] values */
} PlaitNamedTensor;

/* Writes @tensors [n] with different names to @path, as F32 (F64 if PlaitScalar is double). @metadata is
 * NULL-terminated, names and texts in turn. The file is replaced as a whole. Equal arguments give equal bytes. */
gboolean plait_safetensors_write (const char *path, const PlaitNamedTensor *tensors, guint n,
                                  const char *const *metadata, GError **error);
