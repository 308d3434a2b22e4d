/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/error.h"
#include "text/log.h"
#include "types/tensor.h"

/*
 * Our own HDF5 files.
 *
 * A file begins with a user block of 512 bytes: five lines of text that name the format, the length, and the SHA-256
 * digest of a table of hashes at the end of the file, one for each 64 KiB. Opening checks the length, the table and all
 * that is no values (groups, attributes, shapes); values are checked whenever they are read. So libhdf5 sees no byte
 * that was not checked, a truncation and any flipped byte that matters are refused, and values that nobody reads cost
 * nothing: plait_store_check reads them all. Before a file that this process has not written is used, a child process
 * parses its structure. The last that is written is /contents, a table of digests of all that the
 * file holds, by which one that another program has written anew is known (contents.c). Writing makes a new file beside
 * the old one and puts it in its place when it is whole and synced; until then, and whenever something fails, the old
 * one stands untouched. The same writes give the same bytes.
 *
 * One handle serves both: plait_store_open gives one to read, plait_store_create one to write (and read back). Writing
 * to a handle that was opened to read is a bug of the caller. A handle belongs to the thread that made it.
 *
 * Paths begin with "/", name groups by "/", and have no empty, "." or ".." component. Writing makes missing groups on
 * the way, and refuses a path that is taken. External links are never followed: see plait_store_external_link.
 *
 * Errors: PLAIT_ERROR_CORRUPT for a damaged or newer file, PLAIT_ERROR_INPUT for what is missing or of another shape or
 * type than asked, PLAIT_ERROR_FAILED where the system refused (disk full, no memory).
 */
typedef struct PlaitStore PlaitStore;

/* The format that this library writes and reads; it stands in the user block and as attribute "format" of "/". */
#define PLAIT_STORE_FORMAT 2

#define PLAIT_STORE_MAX_RANK 8

/* Attributes above this many bytes are stored as datasets: HDF5 refuses attributes of 64 kB and is slow long before. */
#define PLAIT_STORE_MAX_ATTRIBUTE_BYTES 8192

/* Element types, of buffers and of what is stored. */
typedef enum
{
  PLAIT_STORE_FLOAT,
  PLAIT_STORE_DOUBLE,
  PLAIT_STORE_INT32,
  PLAIT_STORE_INT64,
  PLAIT_STORE_UINT8,
  PLAIT_STORE_STRING, /* const char *, UTF-8 */
  PLAIT_STORE_OTHER,  /* only as an answer: what this library does not write */
} PlaitStoreType;

/* "float32", as people call it. (transfer none) */
const char *plait_store_type_name (PlaitStoreType type);

#ifdef PLAIT_SCALAR_DOUBLE
#define PLAIT_STORE_SCALAR PLAIT_STORE_DOUBLE
#else
#define PLAIT_STORE_SCALAR PLAIT_STORE_FLOAT
#endif

typedef enum
{
  PLAIT_STORE_PLAIN = 0,
  PLAIT_STORE_COMPRESSED = 1 << 0, /* shuffle and deflate: attention yes, weights no */
} PlaitStoreOptions;

typedef enum
{
  PLAIT_STORE_GROUP,
  PLAIT_STORE_DATASET,
  PLAIT_STORE_SOFT_LINK,
  PLAIT_STORE_EXTERNAL_LINK,
  PLAIT_STORE_UNKNOWN, /* what this library does not write, such as a named type */
} PlaitStoreKind;

/* What stands at a path. Shape, elements and bytes are of datasets. */
typedef struct
{
  PlaitStoreKind kind;
  PlaitStoreType type;
  guint rank; /* 0: one element */
  gint64 shape[PLAIT_STORE_MAX_RANK];
  gint64 elements;
  gint64 element_bytes; /* of the type as stored */
  gint64 stored_bytes;  /* on disk, after compression */
  gint64 members;       /* of a group */
  gint64 attributes;
} PlaitStoreObject;

/* ---- files ---- */

/* TRUE if the file at @path begins as one that plait wrote. */
gboolean plait_store_recognize (const char *path);

/* Refuses the file at @path if HDF5's flag says that a program has it open to write, such as one that was killed: all
 * of it may be there. TRUE if there is no such file. */
gboolean plait_store_check_not_left_open (const char *path, GError **error);

/* How a file that another program has written anew, such as h5py or h5repack, differs from what plait wrote, by its
 * table of contents: paths of groups (but not what stands below those that are gone or new), datasets and links; those
 * of which only attributes changed are marked. */
typedef struct
{
  GPtrArray *changed, *removed, *added; /* (element-type char) */
} PlaitStoreChanges;

/* Opens @path to read. A file that another program has written anew is tried in a child process first, and refused if
 * something that plait wrote was changed or removed. (transfer full) */
PlaitStore *plait_store_open (const char *path, GError **error);

/* The same for those who tell: what was changed, removed or added is a warning. (transfer full) */
PlaitStore *plait_store_open_rewritten (const char *path, PlaitLog *log, GError **error);

/* How @store, which was opened to read, differs from what plait wrote; NULL: no other program has written it. (transfer
 * none) */
const PlaitStoreChanges *plait_store_changes (const PlaitStore *store);

/* "another program has written it anew; changed: /a, /b", at most @most names of each kind. (transfer full) */
char *plait_store_changes_text (const PlaitStoreChanges *changes, guint most);

/* Checks every byte of a file that was opened to read; of one that another program has written anew, that it holds all
 * that plait wrote. */
gboolean plait_store_check (PlaitStore *store, GError **error);

/* FALSE, with *error set, if something was damaged that was read so far: for those who do without what cannot be
 * read. */
gboolean plait_store_intact (const PlaitStore *store, GError **error);

/* Begins the file that plait_store_commit will put at @path. (transfer full) */
PlaitStore *plait_store_create (const char *path, GError **error);

/* Closes the new file, writes its hashes, syncs it, puts it at its path and syncs the folder. After success or failure
 * only plait_store_free may follow; after a failure what stood at the path still stands there. */
gboolean plait_store_commit (PlaitStore *store, GError **error);

/* Closes; abandons what was not committed. NULL is allowed. */
void plait_store_free (PlaitStore *store);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitStore, plait_store_free)

/* The path as it was given. (transfer none) */
const char *plait_store_path (const PlaitStore *store);

/* What identifies the contents of a file that was opened to read: the digest in its user block, or that of its contents
 * where another program has written it anew. (transfer none) */
const char *plait_store_digest (const PlaitStore *store);

/* ---- groups, members, links ---- */

/* Makes the group @path and those above it; one that exists is good. */
gboolean plait_store_make_group (PlaitStore *store, const char *path, GError **error);

/* TRUE if a group, a dataset, or a link that leads to one stands at @path. */
gboolean plait_store_has (PlaitStore *store, const char *path);

/* What stands at @path. An absent path is an error that names the nearest member of the last group on the way. */
gboolean plait_store_describe (PlaitStore *store, const char *path, PlaitStoreObject *object, GError **error);

/* Names of the members of group @path in the order of their making, NULL-terminated. (transfer full) */
char **plait_store_members (PlaitStore *store, const char *path, GError **error);

/* A soft link at @path to @target, a path of the same file (which need not exist yet). */
gboolean plait_store_link (PlaitStore *store, const char *path, const char *target, GError **error);

/* A link at @path to @object of another HDF5 file. @file is relative to the folder of this one. */
gboolean plait_store_link_external (PlaitStore *store, const char *path, const char *file, const char *object,
                                    GError **error);

/* Where the link at @path leads. *@file is as stored, to be taken relative to this file's folder, and NULL for a soft
 * link. (transfer full) */
gboolean plait_store_link_target (PlaitStore *store, const char *path, char **file, char **object, GError **error);

/* Copies @path with all below it and its attributes from @from to the same path of @store, raw data as stored, axes
 * of heatmaps attached anew. */
gboolean plait_store_copy (PlaitStore *store, PlaitStore *from, const char *path, GError **error);

/* ---- attributes ---- */

/*
 * Setting an attribute that exists replaces it. @path is a group or a dataset. A value above
 * PLAIT_STORE_MAX_ATTRIBUTE_BYTES becomes the dataset PATH/NAME (of a dataset: PATH.NAME); the readers below look there
 * as well. Strings must be UTF-8.
 */
gboolean plait_store_set_string (PlaitStore *store, const char *path, const char *name, const char *value,
                                 GError **error);
gboolean plait_store_set_int (PlaitStore *store, const char *path, const char *name, gint64 value, GError **error);
gboolean plait_store_set_double (PlaitStore *store, const char *path, const char *name, double value, GError **error);

/* @n values of @type (for PLAIT_STORE_STRING: const char *const *), a list of one dimension; @n may be 0. */
gboolean plait_store_set_list (PlaitStore *store, const char *path, const char *name, PlaitStoreType type, gint64 n,
                               gconstpointer values, GError **error);

/* TRUE if the attribute @name of @path exists, as an attribute or as the dataset of a large one. */
gboolean plait_store_has_attribute (PlaitStore *store, const char *path, const char *name);

/* Names of the attributes of @path, sorted, NULL-terminated. (transfer full) */
char **plait_store_attributes (PlaitStore *store, const char *path, GError **error);

/* (transfer full) */
char *plait_store_get_string (PlaitStore *store, const char *path, const char *name, GError **error);
gboolean plait_store_get_int (PlaitStore *store, const char *path, const char *name, gint64 *value, GError **error);
gboolean plait_store_get_double (PlaitStore *store, const char *path, const char *name, double *value, GError **error);

/* All values as @type, *@n of them; a scalar counts as a list of one. For PLAIT_STORE_STRING a char ** for g_strfreev,
 * else for g_free. (transfer full) */
gpointer plait_store_get_list (PlaitStore *store, const char *path, const char *name, PlaitStoreType type, gint64 *n,
                               GError **error);

/* The attribute @name of @path as a person reads it: a string as it is, numbers and lists with commas, at most
 * @maximum characters. (transfer full) */
char *plait_store_attribute_text (PlaitStore *store, const char *path, const char *name, gsize maximum, GError **error);

/* ---- datasets ---- */

/* Writes @values, row-major, of @shape [@rank] (@rank 0: one value, @shape may be NULL). Not for strings. What is not
 * compressed stands in one piece. */
gboolean plait_store_write (PlaitStore *store, const char *path, PlaitStoreType type, guint rank, const gint64 *shape,
                            gconstpointer values, PlaitStoreOptions options, GError **error);

/* Reads all of @path into @buffer, which holds exactly @elements of @type; another number is an error. Integers are
 * read into integers that hold them, and any number into floats. */
gboolean plait_store_read (PlaitStore *store, const char *path, PlaitStoreType type, gint64 elements, gpointer buffer,
                           GError **error);

/* Reads the rows @first .. @first + @rows - 1 (along the first dimension) into @buffer, which has room for @capacity
 * elements of @type. */
gboolean plait_store_read_rows (PlaitStore *store, const char *path, PlaitStoreType type, gint64 first, gint64 rows,
                                gint64 capacity, gpointer buffer, GError **error);

/* Reads all of @path into new memory, refusing more than @maximum elements. *@elements may be NULL. For g_free.
 * (transfer full) */
gpointer plait_store_read_array (PlaitStore *store, const char *path, PlaitStoreType type, gint64 maximum,
                                 gint64 *elements, GError **error);

/* @tensor as [rows, width], whatever its stride; read back only into the same shape. */
gboolean plait_store_write_tensor (PlaitStore *store, const char *path, PlaitTensor tensor, GError **error);
gboolean plait_store_read_tensor (PlaitStore *store, const char *path, PlaitTensor tensor, GError **error);

/* @size bytes as they are, such as a serialised model; read back bounded by @maximum. (transfer full) */
gboolean plait_store_write_bytes (PlaitStore *store, const char *path, gconstpointer bytes, gsize size, GError **error);
GBytes *plait_store_read_bytes (PlaitStore *store, const char *path, gsize maximum, GError **error);

/* ---- text ---- */

/*
 * One string as a scalar dataset; a list as a dataset of one dimension whose elements have the length of the longest,
 * which h5py reads with asstr(). A list that would waste much that way (one very long line among many short) becomes a
 * group with the members "bytes" and "offsets": string i is bytes[offsets[i] .. offsets[i + 1]]. Readers take both.
 */
gboolean plait_store_write_string (PlaitStore *store, const char *path, const char *value, GError **error);
gboolean plait_store_write_strings (PlaitStore *store, const char *path, const char *const *values, gint64 n,
                                    GError **error);

/* (transfer full) */
char *plait_store_read_string (PlaitStore *store, const char *path, GError **error);

/* *@n strings, NULL-terminated, refusing more than @maximum bytes of text in all. @n may be NULL. (transfer full) */
char **plait_store_read_strings (PlaitStore *store, const char *path, gsize maximum, gint64 *n, GError **error);
