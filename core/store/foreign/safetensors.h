/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/error.h"
#include "types/tensor.h"

/*
 * Files of tensors in the format safetensors: the length of a header in 8 bytes, the header, which is JSON and names
 * each tensor with its type, shape and place, and the values. Large models are in several such files, their parts,
 * beside an index NAME.safetensors.index.json, whose "weight_map" names the part that each tensor is in. What names the
 * index reads all of them as one.
 *
 * Nobody vouches for such a file, so all of the header is checked before anything is made of it: its length against the
 * file and 100 MB, UTF-8 and JSON, names that stand twice, types, shapes whose product overflows, places that do not
 * match type and shape, overlap, leave holes or lie outside of the file; metadata that is no text. Of an index: parts
 * that are missing or outside of its folder, tensors in other parts than it says, in two, or unknown to it. Values are
 * read, not
 * mapped, so a file that is cut short meanwhile is an error and no signal. A tensor without elements is allowed.
 *
 * Errors are PLAIT_ERROR_INPUT and name the file and the tensor.
 */
typedef struct PlaitSafetensors PlaitSafetensors;

#define PLAIT_SAFETENSORS_MAX_RANK 8

/* The end of such a file's name, and of that of an index. */
#define PLAIT_SAFETENSORS_SUFFIX ".safetensors"
#define PLAIT_SAFETENSORS_INDEX_SUFFIX PLAIT_SAFETENSORS_SUFFIX ".index.json"

/* TRUE if @path is called as such a file or an index is. */
gboolean plait_safetensors_is_named (const char *path);

/* The files that the index @path names, sorted; none if it is no index. (transfer full) */
GStrv plait_safetensors_shards (const char *path, GError **error);

/* A tensor of a file. */
typedef struct
{
  const char *name;
  const char *type; /* "F32" and so on */
  guint rank;       /* 0: one element */
  gint64 shape[PLAIT_SAFETENSORS_MAX_RANK];
  gint64 elements;
  gint64 begin, end; /* bytes behind the header */
  guint shard;       /* the file that it is in */
} PlaitSafetensor;

/* Opens @path, which may be an index, and checks all headers. (transfer full) */
PlaitSafetensors *plait_safetensors_open (const char *path, GError **error);
void plait_safetensors_free (PlaitSafetensors *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitSafetensors, plait_safetensors_free)

/* The path as it was given. (transfer none) */
const char *plait_safetensors_path (const PlaitSafetensors *file);

/* How many tensors there are, the i-th in the order of parts and values, and the one called @name or NULL.
 * (transfer none) */
guint plait_safetensors_n (const PlaitSafetensors *file);
const PlaitSafetensor *plait_safetensors_get (const PlaitSafetensors *file, guint i);
const PlaitSafetensor *plait_safetensors_find (const PlaitSafetensors *file, const char *name);

/* "[2, 3]". (transfer full) */
char *plait_safetensor_shape_text (const PlaitSafetensor *tensor);

/* Reads the elements @first .. @first + @n - 1 of @tensor, row-major, as they are to the nearest PlaitScalar. Of types
 * F64, F32, F16 and BF16; another type, and a value that is undefined or infinite as a PlaitScalar, is an error. */
gboolean plait_safetensors_read (const PlaitSafetensors *file, const PlaitSafetensor *tensor, gint64 first, gint64 n,
                                 PlaitScalar *values, GError **error);

/* A tensor to be written. */
typedef struct
{
  const char *name;
  PlaitTensor value; /* [rows, width] */
} PlaitNamedTensor;

/* Writes @tensors [n], of different names, as F32 (F64 where PlaitScalar is double) and @metadata, names and texts in
 * turn up to NULL, to @path, which is replaced as a whole. The same tensors give the same bytes. */
gboolean plait_safetensors_write (const char *path, const PlaitNamedTensor *tensors, guint n,
                                  const char *const *metadata, GError **error);
