/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/error.h"
#include "text/log.h"
#include "types/tensor.h"

/*
 * HDF5 files of plait.
 *
 * A file begins with a user block of 512 bytes: five lines of text with the format, the length, and the SHA-256 digest
 * of a table of hashes at the end of the file, one hash for each 64 KiB. Opening a file checks the length, the table
 * and the metadata of HDF5 (groups, attributes, shapes). Values are checked whenever they are read. So libhdf5 never
 * sees an unchecked byte, every truncation and every relevant flipped bit is refused, and unread values cost nothing;
 * plait_store_check reads all of them. A file that this process has neither written nor parsed is first parsed in a
 * child process. The table /contents, written last, has digests of all objects. If another program has rewritten the
 * file, the hashes of blocks no longer apply, and the objects are compared with this table instead (contents.c). A new
 * file is written next to the old one and replaces it when it is complete and synced. Until then, the old file stays
 * unchanged. Equal writes give equal bytes.
 *
 * plait_store_open returns a handle for reading, plait_store_create one for writing (and reading back). Writing to a
 * handle opened for reading is a bug of the caller. A handle belongs to the thread that made it.
 *
 * A path begins with "/", separates groups by "/", and has no empty, "." or ".." component. Writing makes missing
 * groups and refuses a path that exists. External links are never followed: see plait_store_link_target.
 *
 * Errors: PLAIT_ERROR_CORRUPT for a damaged file or one of another format; PLAIT_ERROR_INPUT for a missing object or
 * another shape or type than expected; PLAIT_ERROR_FAILED if the system refuses (disk full, no memory).
 */
typedef struct PlaitStore PlaitStore;

/* The file format that this library writes and reads. It is in the user block and in the attribute "format" of "/". */
#define PLAIT_STORE_FORMAT 2

#define PLAIT_STORE_MAX_RANK 8

/* Larger attributes are stored as datasets or groups: HDF5 refuses 64 kB or more, and is slow well below that. */
#define PLAIT_STORE_MAX_ATTRIBUTE_BYTES 8192

/* Element types of buffers and of stored values. */
typedef enum
{
  PLAIT_STORE_FLOAT,
  PLAIT_STORE_DOUBLE,
  PLAIT_STORE_INT32,
  PLAIT_STORE_INT64,
  PLAIT_STORE_UINT8,
  PLAIT_STORE_STRING, /* const char *, UTF-8 */
  PLAIT_STORE_OTHER,  /* any other type: plait can report it, but not write it */
} PlaitStoreType;

/* Returns a name such as "float32". (transfer none) */
const char *plait_store_type_name (PlaitStoreType type);

#ifdef PLAIT_SCALAR_DOUBLE
#define PLAIT_STORE_SCALAR PLAIT_STORE_DOUBLE
#else
#define PLAIT_STORE_SCALAR PLAIT_STORE_FLOAT
#endif

typedef enum
{
  PLAIT_STORE_PLAIN = 0,
  PLAIT_STORE_COMPRESSED = 1 << 0, /* compressed by HDF5's filters shuffle and deflate */
} PlaitStoreOptions;

typedef enum
{
  PLAIT_STORE_GROUP,
  PLAIT_STORE_DATASET,
  PLAIT_STORE_SOFT_LINK,
  PLAIT_STORE_EXTERNAL_LINK,
  PLAIT_STORE_UNKNOWN, /* a kind that this library does not write, such as a named type */
} PlaitStoreKind;

/* Description of the object at a path. Only datasets have rank, shape, elements and bytes. */
typedef struct
{
  PlaitStoreKind kind;
  PlaitStoreType type;
  guint rank; /* number of dimensions; 0: a single element */
  gint64 shape[PLAIT_STORE_MAX_RANK];
  gint64 elements;
  gint64 element_bytes; /* bytes of one element in the file */
  gint64 stored_bytes;  /* bytes in the file, after compression */
  gint64 members;       /* number of members of a group */
  gint64 attributes;
} PlaitStoreObject;

/* ---- files ---- */

/* TRUE if the file at @path begins with the first line of plait's user block. */
gboolean plait_store_recognize (const char *path);

/* Refuses the file at @path if HDF5's flag says that it is open for writing: by a running program, or by one that was
 * killed. The contents may still be complete. TRUE if there is no file. */
gboolean plait_store_check_not_left_open (const char *path, GError **error);

/* Paths of the groups, datasets and links that another program, such as h5py or h5repack, changed, removed or added
 * when it rewrote a file of plait. Members of a removed or added group are left out. If only the attributes of an
 * object changed, " (its attributes)" follows its path. */
typedef struct
{
  GPtrArray *changed, *removed, *added; /* paths (element-type utf8) */
} PlaitStoreChanges;

/* Opens @path for reading. Refuses the file if another program has changed or removed anything that plait wrote.
 * (transfer full) */
PlaitStore *plait_store_open (const char *path, GError **error);

/* Opens @path like plait_store_open, but does not refuse changes: warns in @log if another program has rewritten the
 * file. (transfer full) */
PlaitStore *plait_store_open_rewritten (const char *path, PlaitLog *log, GError **error);

/* Returns the changes of @store, opened for reading; NULL if no other program has rewritten it. (transfer none) */
const PlaitStoreChanges *plait_store_changes (const PlaitStore *store);

/* Formats changes: "another program has rewritten it; changed: /a, /b", at most @most names of each kind. (transfer
 * full) */
char *plait_store_changes_text (const PlaitStoreChanges *changes, guint most);

/* Checks every byte of a file opened for reading. For a file that another program has rewritten: checks that the file,
 * when it was opened, still contained all that plait wrote. */
gboolean plait_store_check (PlaitStore *store, GError **error);

/* FALSE, with *error set, if any value read so far was damaged. For callers that ignore values that they cannot
 * read. */
gboolean plait_store_intact (const PlaitStore *store, GError **error);

/* Begins a new file, which plait_store_commit will put at @path. (transfer full) */
PlaitStore *plait_store_create (const char *path, GError **error);

/* Closes the new file, writes its hashes, syncs it, renames it to its path and syncs the folder. Afterwards, only
 * plait_store_free may be called. On failure, the old file at the path is unchanged, unless only the sync of the folder
 * failed. */
gboolean plait_store_commit (PlaitStore *store, GError **error);

/* Closes a store and deletes a file that was not committed. NULL is allowed. */
void plait_store_free (PlaitStore *store);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitStore, plait_store_free)

/* Returns the path that was given to plait_store_open or plait_store_create. (transfer none) */
const char *plait_store_path (const PlaitStore *store);

/* Returns a digest that identifies the contents of a file opened for reading: from its user block, or computed from the
 * contents if another program has rewritten it. (transfer none) */
const char *plait_store_digest (const PlaitStore *store);

/* ---- groups, members, links ---- */

/* Makes the group @path and its parents; an existing group is not an error. */
gboolean plait_store_make_group (PlaitStore *store, const char *path, GError **error);

/* TRUE if @path is an object, an item of a ragged group, a soft link whose target exists, or any external link. */
gboolean plait_store_has (PlaitStore *store, const char *path);

/* Describes the object at @path. If it does not exist, the error names the most similar member of the last existing
 * group. */
gboolean plait_store_describe (PlaitStore *store, const char *path, PlaitStoreObject *object, GError **error);

/* Returns the names of the members of group @path, NULL-terminated, in the order of creation, or of names if the group
 * does not record that order. For a ragged group: the names of the items, in the order of their numbers. (transfer
 * full) */
char **plait_store_members (PlaitStore *store, const char *path, GError **error);

/* Makes a soft link at @path to @target, a path in the same file; an object at @target need not exist yet. */
gboolean plait_store_link (PlaitStore *store, const char *path, const char *target, GError **error);

/* Makes a link at @path to @object in another HDF5 file. @file is relative to the folder of this file. */
gboolean plait_store_link_external (PlaitStore *store, const char *path, const char *file, const char *object,
                                    GError **error);

/* Reads the target of the link at @path. *@file is relative to this file's folder, and NULL for a soft link. (transfer
 * full) */
gboolean plait_store_link_target (PlaitStore *store, const char *path, char **file, char **object, GError **error);

/* Copies @path with its members and attributes from @from to the same path of @store, except /contents and objects of
 * the kind PLAIT_STORE_UNKNOWN. Values are copied as stored; axes of plots and tables are attached again. */
gboolean plait_store_copy (PlaitStore *store, PlaitStore *from, const char *path, GError **error);

/* ---- attributes ---- */

/*
 * Setting an attribute that exists replaces it. @path is a group or a dataset. The value of a large attribute, of more
 * than PLAIT_STORE_MAX_ATTRIBUTE_BYTES, is stored at PATH/NAME if PATH is a group, and at PATH.NAME if PATH is a
 * dataset; plait_store_has_attribute finds it there and plait_store_get_... read it. Strings must be UTF-8.
 */
gboolean plait_store_set_string (PlaitStore *store, const char *path, const char *name, const char *value,
                                 GError **error);
gboolean plait_store_set_int (PlaitStore *store, const char *path, const char *name, gint64 value, GError **error);
gboolean plait_store_set_double (PlaitStore *store, const char *path, const char *name, double value, GError **error);

/* Sets a list of @n values of @type (for PLAIT_STORE_STRING: const char *const *); @n may be 0. */
gboolean plait_store_set_list (PlaitStore *store, const char *path, const char *name, PlaitStoreType type, gint64 n,
                               gconstpointer values, GError **error);

/* TRUE if @path has the attribute @name, however large. */
gboolean plait_store_has_attribute (PlaitStore *store, const char *path, const char *name);

/* Returns the names of the attributes of @path except large ones, sorted, NULL-terminated. (transfer full) */
char **plait_store_attributes (PlaitStore *store, const char *path, GError **error);

/* Read one value. Fail if the attribute is missing, does not have exactly one value, or has a type that cannot be read
 * as the wanted type (plait_store_read). (transfer full) */
char *plait_store_get_string (PlaitStore *store, const char *path, const char *name, GError **error);
gboolean plait_store_get_int (PlaitStore *store, const char *path, const char *name, gint64 *value, GError **error);
gboolean plait_store_get_double (PlaitStore *store, const char *path, const char *name, double *value, GError **error);

/* Returns all values of the attribute as @type, and their number in *@n; a scalar is a list of one. Free a char ** of
 * PLAIT_STORE_STRING with g_strfreev, others with g_free. (transfer full) */
gpointer plait_store_get_list (PlaitStore *store, const char *path, const char *name, PlaitStoreType type, gint64 *n,
                               GError **error);

/* Formats the attribute @name of @path for people, a list with ", " between its values, and cuts the result to @maximum
 * characters. (transfer full) */
char *plait_store_attribute_text (PlaitStore *store, const char *path, const char *name, gsize maximum, GError **error);

/* ---- datasets ---- */

/* Writes @values, row-major, of @shape [@rank] (@rank 0: one value, @shape may be NULL). Not for strings. Without
 * compression, the dataset is contiguous. */
gboolean plait_store_write (PlaitStore *store, const char *path, PlaitStoreType type, guint rank, const gint64 *shape,
                            gconstpointer values, PlaitStoreOptions options, GError **error);

/* Appends sentences to the array @path [sentence, position, width], which already has @written sentences. @sentences
 * says which rows of @rows each sentence has. The layout equals that of feature files (foreign/feature.h): shorter
 * sentences are padded with zeros, and PATH_lengths has the number of rows of each sentence. Makes the array and
 * PATH_lengths if @written is 0. */
gboolean plait_store_extend_padded (PlaitStore *store, const char *path, PlaitTensor rows, PlaitRagged sentences,
                                    gint64 written, GError **error);

/* Reads all of @path into @buffer, which has @elements elements of @type. Fails if the dataset has another number of
 * elements. Integers can be read as integers of at least their size, all numbers as floats. */
gboolean plait_store_read (PlaitStore *store, const char *path, PlaitStoreType type, gint64 elements, gpointer buffer,
                           GError **error);

/* Reads rows @first .. @first + @rows - 1, counted in the first dimension, into @buffer, which has @capacity elements
 * of @type. */
gboolean plait_store_read_rows (PlaitStore *store, const char *path, PlaitStoreType type, gint64 first, gint64 rows,
                                gint64 capacity, gpointer buffer, GError **error);

/* Reads all of @path into new memory. Sets *@elements (may be NULL) to the number of elements. Refuses more than
 * @maximum elements. Free the memory with g_free. (transfer full) */
gpointer plait_store_read_array (PlaitStore *store, const char *path, PlaitStoreType type, gint64 maximum,
                                 gint64 *elements, GError **error);

/* Write and read @tensor as a dataset [rows, width], for any stride. Reading needs the same shape. */
gboolean plait_store_write_tensor (PlaitStore *store, const char *path, PlaitTensor tensor, GError **error);
gboolean plait_store_read_tensor (PlaitStore *store, const char *path, PlaitTensor tensor, GError **error);

/* Write and read @size raw bytes, such as a serialised model. Reading refuses more than @maximum bytes. (transfer
 * full) */
gboolean plait_store_write_bytes (PlaitStore *store, const char *path, gconstpointer bytes, gsize size, GError **error);
GBytes *plait_store_read_bytes (PlaitStore *store, const char *path, gsize maximum, GError **error);

/* ---- text ---- */

/*
 * One string is a scalar dataset. A list is a dataset of one dimension whose elements have the length of the longest
 * string; h5py reads it with asstr(). If that would waste much space (one very long line among many short ones), the
 * list is a group with the members "bytes" and "offsets": string i is bytes[offsets[i] .. offsets[i + 1] - 1].
 * plait_store_read_strings reads all these forms.
 */
gboolean plait_store_write_string (PlaitStore *store, const char *path, const char *value, GError **error);
gboolean plait_store_write_strings (PlaitStore *store, const char *path, const char *const *values, gint64 n,
                                    GError **error);

/* Reads one string. (transfer full) */
char *plait_store_read_string (PlaitStore *store, const char *path, GError **error);

/* Reads a list of strings, NULL-terminated, and their number into *@n (may be NULL). Refuses more than @maximum bytes
 * of text; if strings are padded to equal length, more than MAX (8 * @maximum, 4 MiB) with padding. (transfer full) */
char **plait_store_read_strings (PlaitStore *store, const char *path, gsize maximum, gint64 *n, GError **error);
