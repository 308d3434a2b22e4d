/* SPDX-License-Identifier: MIT */
#pragma once

#include "files/file.h"
#include "hdf5/store.h"

#include <hdf5.h>

/*
 * What the files of this floor share. Nothing outside core/store includes it.
 */

/* An HDF5 identifier that is released when its scope ends: g_auto (StoreId). */
typedef hid_t StoreId;

static inline void
store_id_release (StoreId id)
{
  if (id >= 0)
    H5Idec_ref (id);
}
G_DEFINE_AUTO_CLEANUP_FREE_FUNC (StoreId, store_id_release, -1)

/* As g_steal_pointer. */
static inline hid_t
store_id_steal (StoreId *id)
{
  hid_t stolen = *id;

  *id = -1;
  return stolen;
}

typedef struct PlaitStoreBlocks PlaitStoreBlocks;

struct PlaitStore
{
  char *path;
  PlaitFile *replacement; /* of a new file that is not committed */
  int fd;
  char *digest;               /* of a file that is read: as in its user block, or of the contents that were found */
  PlaitStoreChanges *changes; /* of a file that another program has written anew; else NULL */
  PlaitStoreBlocks *blocks;   /* checks what is read; NULL: a new file, or one that another program has written */
  GByteArray *structure;      /* of a new file: see plait_store_blocks_mark */
  GPtrArray *appended;        /* of a new file: what ragged-write.c holds; NULL: nothing was appended */
  GHashTable *ragged;         /* of a file that is read: what ragged-kinds.c knows, by group; NULL: nothing yet */
  int failure;                /* errno of the first write that failed; from then on nothing is written */
  gboolean writing;
  hid_t driver; /* how libhdf5 reaches @fd */
  hid_t file;
  hid_t access;    /* link access: external links are not followed */
  hid_t link;      /* link creation: UTF-8 names */
  hid_t group;     /* group creation: no times, order of making kept */
  hid_t attribute; /* attribute creation: UTF-8 names */
};

/* ---- blocks.c ---- */

/* Bytes of the user block: the least that HDF5 allows. */
#define PLAIT_STORE_USER_BLOCK 512

/* Reads the table of hashes behind byte @end of the open file @fd, which must have @digest (SHA-256), and takes in all
 * blocks of structure. @path is for messages. (transfer full) */
PlaitStoreBlocks *plait_store_blocks_open (int fd, const char *path, gint64 end, const char *digest, GError **error);
void plait_store_blocks_free (PlaitStoreBlocks *blocks);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitStoreBlocks, plait_store_blocks_free)

/* Where HDF5's part of the file ends. */
gint64 plait_store_blocks_end (const PlaitStoreBlocks *blocks);

/* Bytes of the table of a file whose HDF5 part ends at @end. */
gint64 plait_store_blocks_table_size (gint64 end);

/* Reads @size bytes from @address on; bytes that are not HDF5's are zero. FALSE, with @buffer undefined, if one of
 * their blocks is damaged or cannot be read; that is remembered. */
gboolean plait_store_blocks_read (PlaitStoreBlocks *blocks, gint64 address, gsize size, gpointer buffer);

/* From now on, with @passes, what is damaged reads as zero, and whoever reads looks at plait_store_intact afterwards.
 * @blocks may be NULL. */
void plait_store_blocks_tolerate_damage (PlaitStoreBlocks *blocks, gboolean passes);

/* If a read has failed (@blocks may be NULL), sets *error to where and why. Whether it has. */
gboolean plait_store_blocks_fail (const PlaitStoreBlocks *blocks, const char *path, GError **error);

/* Reads all blocks. */
gboolean plait_store_blocks_check (PlaitStoreBlocks *blocks, const char *path, GError **error);

/* Notes in @structure, a byte a block, that @size bytes of structure were written at @address. */
void plait_store_blocks_mark (GByteArray *structure, gint64 address, gsize size);

/* Writes the table of the open file @fd, whose HDF5 part ends at @end, behind it. Its digest, or NULL with errno set.
 * (transfer full) */
char *plait_store_blocks_append (int fd, gint64 end, const GByteArray *structure);

/* ---- file.c ---- */

/* Writes the table of hashes behind the HDF5 of the open file @fd, and the user block over what stands there. FALSE
 * with errno set. */
gboolean plait_store_write_hashes (int fd, gint64 format, const GByteArray *structure);

/* With the access list @list external links lead nowhere: those who want them open them as files of their own, for
 * nothing of them has been verified here. */
void plait_store_refuse_external (hid_t list);

/* ---- open-mark.c ---- */

/* Refuses the open file @fd, called @path, if HDF5 marks it as open to write: by a program at work, or one that was
 * killed. */
gboolean plait_store_check_closed (int fd, const char *path, GError **error);

/* ---- driver.c ---- */

/* A driver of our own. To be released after the files opened with it are closed: HDF5 1.10 frees it before its last use
 * when a file holds the last reference. Negative on failure. */
hid_t plait_store_driver (void);

/* An open file as the driver sees it. A write that fails is remembered in *@failure and, like all after it, passes for
 * done, so that libhdf5 closes in good order; the caller looks at *@failure. */
typedef struct
{
  int fd;
  int *failure;
  PlaitStoreBlocks *blocks; /* checks what is read; NULL: nothing is checked */
  GByteArray *structure;    /* learns where structure is written; may be NULL */
} PlaitStoreBytes;

/* A file access list over @bytes, whose pointers must outlive it and its files. Negative on failure, with ENOMEM in
 * *@failure where there is no memory to work with a file: HDF5 crashes when it learns that half-way. */
hid_t plait_store_access (hid_t driver, PlaitStoreBytes bytes);

/* ---- failure.c ---- */

/* What ends a message on contents that plait does not write. */
#define PLAIT_STORE_REMEDY "restore a copy or make it anew"

/* Keeps libhdf5 quiet (it prints errors by itself) and from loading filter modules. Once a handle: it is per thread. */
void plait_store_silence_hdf5 (void);

/* Sets *error for HDF5's failure of the moment: "FILE: OBJECT: cannot ACTION: reason". @path may be NULL. FALSE. */
gboolean plait_store_fail (const PlaitStore *store, const char *path, const char *action, GError **error);

/* TRUE if HDF5's failure of the moment is that it has no memory. */
gboolean plait_store_lacks_memory (void);

/* The same for functions that return a pointer: returns NULL. */
gpointer plait_store_fail_null (const PlaitStore *store, const char *path, const char *action, GError **error);

/* The innermost description on HDF5's error stack. (transfer full) */
char *plait_store_reason (void);

/* ---- object.c ---- */

/* @path is fit to be written: well formed, free, its group made. */
gboolean plait_store_prepare (PlaitStore *store, const char *path, GError **error);

/* The object at @path, of an item that which has its attributes, or negative with *error set. */
hid_t plait_store_object (PlaitStore *store, const char *path, GError **error);

/* The same, which must be a dataset, described in *@object. */
hid_t plait_store_dataset (PlaitStore *store, const char *path, PlaitStoreObject *object, GError **error);

/* What a path leads to: what is stored there, or what an item of a ragged group has. */
typedef struct
{
  PlaitStoreObject object;
  hid_t id;            /* what has its attributes, open; of an array of an item this is the flat dataset of all items */
  gint64 start, count; /* of such an array: its elements in the flat dataset; else -1 and 0 */
  char *text;          /* of such an array of strings: they, a NUL after each; else NULL (transfer full) */
  char **names;        /* of a group of an item: of its members; else NULL (transfer full) */
} PlaitStoreFound;

#define PLAIT_STORE_NOT_FOUND ((PlaitStoreFound){ .id = -1, .start = -1 })

void plait_store_found_clear (PlaitStoreFound *found);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (PlaitStoreFound, plait_store_found_clear)

/* Finds what @path leads to. */
gboolean plait_store_find (PlaitStore *store, const char *path, PlaitStoreFound *found, GError **error);

/* The same, which must have values that can be read. */
gboolean plait_store_find_values (PlaitStore *store, const char *path, PlaitStoreFound *found, GError **error);

/* TRUE if something is stored at @path; of items nothing is. */
gboolean plait_store_is_stored (PlaitStore *store, const char *path);

/* What stands at @path as it is stored, without items of ragged groups. */
gboolean plait_store_describe_stored (PlaitStore *store, const char *path, PlaitStoreObject *object, GError **error);
char **plait_store_members_stored (PlaitStore *store, const char *path, GError **error);

/* A member of a group. */
typedef struct
{
  char *name;
  H5L_info_t info;
} PlaitStoreLink;

/* Finds what is stored at @path, to which @link leads; NULL: the link is looked for. Of a link other than a hard one
 * the link itself is found, with no object open. */
gboolean plait_store_find_stored (PlaitStore *store, const char *path, const PlaitStoreLink *link,
                                  PlaitStoreFound *found, GError **error);

/* Returns the links of the group that was @found at @path, which must be stored. (transfer full) (element-type
 * PlaitStoreLink) */
GArray *plait_store_links_of (const PlaitStore *store, const char *path, const PlaitStoreFound *found, GError **error);

/* The names in the group that was @found at @path, which are taken from it if it has them. (transfer full) */
char **plait_store_members_of (const PlaitStore *store, const char *path, PlaitStoreFound *found, GError **error);

/* TRUE if the values of the dataset @id, which stands at @path, can be read (storage.c), or are being written. */
gboolean plait_store_check_values (const PlaitStore *store, const char *path, hid_t id, GError **error);

/* ---- attribute.c ---- */

/* The names of the attributes of the object @id, which stands at @path. (transfer full) */
char **plait_store_attributes_of (const PlaitStore *store, const char *path, hid_t id, GError **error);

/* ---- storage.c ---- */

/* Refuses values of the dataset @data (in messages, @name of the file @path, which is open as @fd) that are not in this
 * file, such as those of virtual datasets and external storage; a shape that the file cannot hold, whatever the
 * compression; chunks that fill the memory. */
gboolean plait_store_check_storage (hid_t data, int fd, const char *path, const char *name, GError **error);

/* ---- types.c ---- */

/* The type of a buffer of @type, and the one that is stored for it. Not to be released; not for strings. */
hid_t plait_store_memory_type (PlaitStoreType type);
hid_t plait_store_file_type (PlaitStoreType type);
gsize plait_store_type_size (PlaitStoreType type);

/* A fixed-length UTF-8 type for strings of at most @length bytes, with a place for the end. To be released. */
hid_t plait_store_string_type (gsize length);

/* What a stored type is in our terms. */
PlaitStoreType plait_store_type_of (hid_t type);

/* TRUE if @stored of @element_bytes can be read as @wanted without loss of magnitude. */
gboolean plait_store_convertible (PlaitStoreType stored, gint64 element_bytes, PlaitStoreType wanted);

/* ---- dataset.c ---- */

/* Reads of the dataset @id the block of @count elements from @start on, both [@rank]; of rank 0 its one element. */
gboolean plait_store_read_block (hid_t id, guint rank, const hsize_t *start, const hsize_t *count, hid_t memory_type,
                                 gpointer buffer);

/* Creates and fills a dataset. @memory_space is H5S_ALL or a selection of @values. @path has been prepared. */
gboolean plait_store_create_dataset (PlaitStore *store, const char *path, hid_t file_type, hid_t memory_type,
                                     hid_t memory_space, guint rank, const gint64 *shape, gconstpointer values,
                                     PlaitStoreOptions options, GError **error);

/* Rows of a dataset that grows, of @row_bytes each, that are one chunk. */
gint64 plait_store_growing_chunk (gint64 row_bytes);

/* Puts @rows rows of @values behind the first @written of the dataset @path of one dimension, or with @width > 0 of
 * two, which is made if none are written. */
gboolean plait_store_extend (PlaitStore *store, const char *path, PlaitStoreType type, guint width, gint64 written,
                             gint64 rows, gconstpointer values, GError **error);

/* The elements of @tensor within memory that begins at its data, whatever its stride. To be released. */
hid_t plait_store_tensor_space (PlaitTensor tensor);

/* ---- copy.c ---- */

/* TRUE if HDF5 keeps dimension scales by attributes called @name. */
gboolean plait_store_belongs_to_axes (const char *name);

/* ---- contents.c ---- */

#define PLAIT_STORE_CONTENTS "/contents"

/* Writes the table of what @store holds, the last that is written. */
gboolean plait_store_write_contents (PlaitStore *store, GError **error);

/* Reads all that HDF5 parses: names, types, shapes, attributes, indices of chunks, and at most @bytes of the values
 * that stand in chunks. */
gboolean plait_store_parse_all (PlaitStore *store, gint64 bytes, GError **error);

/* Compares what @store holds with that table. *@digest: what identifies what was found (transfer full). (transfer
 * full) */
PlaitStoreChanges *plait_store_compare_contents (PlaitStore *store, char **digest, GError **error);
void plait_store_changes_free (PlaitStoreChanges *changes);

/* ---- heatmap.c ---- */

/* Attaches the axes that the attributes of the NXdata group @path name as dimension scales to its signal. */
gboolean plait_store_attach_axes (PlaitStore *store, const char *path, GError **error);

/* Attaches the first column of the table @path, or the one that its attribute "axes" names, as dimension scale to the
 * others: readers of NetCDF such as h5netcdf ask for one. */
gboolean plait_store_attach_columns (PlaitStore *store, const char *path, GError **error);

/* ---- ragged-write.c, ragged-kinds.c, ragged-find.c ---- */

/* The attribute of a ragged group, which says what its items are. */
#define PLAIT_STORE_RAGGED "ragged"
/* That, the names of the items of a kind, and with "_i" the attribute that says how to cut one out. */
#define PLAIT_STORE_ITEMS "sentence"
#define PLAIT_STORE_OFFSETS "_offsets"
#define PLAIT_STORE_SHAPE "_shape"
/* The attribute of arrays of text. */
#define PLAIT_STORE_TEXT "text"

/* Writes what has been appended and is still held. */
gboolean plait_store_ragged_finish (PlaitStore *store, GError **error);

/* TRUE if @path is one of an item, there or not, of a ragged group that has been read. */
gboolean plait_store_is_item (PlaitStore *store, const char *path);

/* Finds @path, at which nothing is stored, in the ragged group that it leads into. FALSE without *error if there is
 * none, or no such item; with *error if what tells where items lie cannot be right. */
gboolean plait_store_item_find (PlaitStore *store, const char *path, PlaitStoreFound *found, GError **error);

/* The names of the items of the ragged group @path in their order. (transfer full) */
char **plait_store_item_names (PlaitStore *store, const char *path, GError **error);

/* ---- text.c ---- */

/* @n strings laid out in slots of @slot bytes, ends included; NULL without memory. (transfer full) */
char *plait_store_pack (const char *const *values, gint64 n, gsize slot);

/* The longest of @n strings in bytes, after a check that each is UTF-8. */
gboolean plait_store_measure_strings (const PlaitStore *store, const char *path, const char *const *values, gint64 n,
                                      gsize *longest, gsize *total, GError **error);

/* @n strings out of slots of @slot bytes, NULL-terminated. (transfer full) */
char **plait_store_unpack (const char *slots, gint64 n, gsize slot);

/* TRUE if @offsets [@n] go from 0 to @end and never fall. */
gboolean plait_store_are_offsets (const gint64 *offsets, gint64 n, gint64 end);
