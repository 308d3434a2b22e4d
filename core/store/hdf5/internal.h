/* SPDX-License-Identifier: MIT */
#pragma once

#include "files/file.h"
#include "hdf5/store.h"

#include <hdf5.h>

/* An HDF5 identifier, released at the end of its scope if declared g_auto (StoreId). */
typedef hid_t StoreId;

static inline void
store_id_release (StoreId id)
{
  if (id >= 0)
    H5Idec_ref (id);
}
G_DEFINE_AUTO_CLEANUP_FREE_FUNC (StoreId, store_id_release, -1)

/* Returns *@id and sets it to -1, like g_steal_pointer. */
static inline hid_t
store_id_steal (StoreId *id)
{
  hid_t stolen = *id;

  *id = -1;
  return stolen;
}

typedef struct PlaitStoreBlocks PlaitStoreBlocks;

#define PLAIT_STORE_MAX_DEPTH 64 /* maximum number of names in a path; files of plait stay far below */

/* A group that is open for writing. */
typedef struct
{
  char *name;
  hid_t id;
} PlaitStoreGroup;

struct PlaitStore
{
  char *path;
  PlaitFile *replacement; /* when writing: the new file, until it is committed */
  int fd;

  /* When reading: digest in the user block; computed from the contents if another program rewrote the file. */
  char *digest;

  /* When reading: differences from what plait wrote if another program rewrote the file; else NULL. */
  PlaitStoreChanges *changes;

  PlaitStoreBlocks *blocks; /* when reading: checks blocks; NULL for a new or a rewritten file */
  /* When writing: open groups, each in the one before, the first in the root. Objects are found and made in these
   * groups, because HDF5 takes long for long paths. */
  PlaitStoreGroup groups[PLAIT_STORE_MAX_DEPTH];
  guint n_groups;

  GByteArray *metadata; /* when writing: one byte for each block, 1 if it contains metadata (plait_store_blocks_mark) */
  GPtrArray *appended;  /* when writing: buffered ragged arrays (ragged-write.c); NULL if no array was appended */
  GHashTable *ragged;   /* when reading: open ragged groups by path (ragged-kinds.c); may be NULL */
  int failure;          /* errno of the first failed write, or ENOMEM of plait_store_access; later writes are ignored */
  gboolean writing;
  hid_t driver; /* HDF5 file driver that uses @fd */
  hid_t file;
  hid_t access;    /* property list for access to links: does not follow external links */
  hid_t link;      /* property list for new links: UTF-8 names */
  hid_t group;     /* property list for new groups: no times, members in order of creation */
  hid_t attribute; /* property list for new attributes: UTF-8 names */
};

/* ---- defined in blocks.c ---- */

/* Bytes of the user block: the smallest size that HDF5 allows. */
#define PLAIT_STORE_USER_BLOCK 512

/* Reads the table of hashes, which begins at byte @end of the open file @fd, and loads all blocks of metadata. The
 * table must have SHA-256 @digest. Messages name @path. (transfer full) */
PlaitStoreBlocks *plait_store_blocks_open (int fd, const char *path, gint64 end, const char *digest, GError **error);
void plait_store_blocks_free (PlaitStoreBlocks *blocks);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitStoreBlocks, plait_store_blocks_free)

/* Returns the end of the HDF5 part of the file. */
gint64 plait_store_blocks_end (const PlaitStoreBlocks *blocks);

/* Returns the size in bytes of the table in a file whose HDF5 part ends at @end. */
gint64 plait_store_blocks_table_size (gint64 end);

/* Reads @size bytes from @address on; bytes outside the HDF5 part are zero. If a block is damaged or unreadable,
 * records the failure and returns FALSE; if damage is tolerated, reads zeros from this block and returns TRUE. */
gboolean plait_store_blocks_read (PlaitStoreBlocks *blocks, gint64 address, gsize size, gpointer buffer);

/* If @tolerates, damaged or unreadable blocks read as zero from now on; the caller must check plait_store_intact
 * afterwards. @blocks may be NULL. */
void plait_store_blocks_tolerate_damage (PlaitStoreBlocks *blocks, gboolean tolerates);

/* TRUE if a read has failed; then sets *error to the place and the reason. @blocks may be NULL. */
gboolean plait_store_blocks_fail (const PlaitStoreBlocks *blocks, const char *path, GError **error);

/* Reads and checks all blocks. */
gboolean plait_store_blocks_check (PlaitStoreBlocks *blocks, const char *path, GError **error);

/* Notes that @size bytes of metadata were written at @address. @metadata has one byte for each block. */
void plait_store_blocks_mark (GByteArray *metadata, gint64 address, gsize size);

/* Writes the table of block hashes after the HDF5 part of the open file @fd, which ends at @end. Returns the digest of
 * the table, or NULL with errno set. (transfer full) */
char *plait_store_blocks_append (int fd, gint64 end, const GByteArray *metadata);

/* ---- defined in file.c ---- */

/* Writes the table of hashes after the HDF5 part of the open file @fd, then the user block at its beginning. FALSE with
 * errno set. */
gboolean plait_store_write_hashes (int fd, gint64 format, const GByteArray *metadata);

/* Makes HDF5 refuse external links through the property list @list: their targets have not been verified. Callers open
 * the target files separately. */
void plait_store_refuse_external (hid_t list);

/* ---- defined in open-flag.c ---- */

/* Refuses the open file @fd, called @path, if HDF5's flag says that it is open for writing: by a running program, or by
 * one that was killed. */
gboolean plait_store_check_closed (int fd, const char *path, GError **error);

/* ---- defined in driver.c ---- */

/* Registers plait's file driver; negative on failure. The caller releases the driver after closing the files that use
 * the driver: if a file holds the last reference, HDF5 1.10 frees the driver too early. */
hid_t plait_store_driver (void);

/* An open file for the driver. A failed write sets *@failure. Then this write and all later ones report success, so
 * that libhdf5 can close the file; the caller must check *@failure. */
typedef struct
{
  int fd;
  int *failure;
  PlaitStoreBlocks *blocks; /* checks blocks when they are read; NULL: no checks */
  GByteArray *metadata;     /* marks the blocks of metadata that were written; may be NULL */
} PlaitStoreBytes;

/* Returns a file access property list for the file of @bytes. The pointers in @bytes must stay valid until the list and
 * the files opened with it are closed. Negative on failure. If little address space is free (ulimit -v), fails with
 * ENOMEM in *@failure: HDF5 would crash later if an allocation failed. */
hid_t plait_store_access (hid_t driver, PlaitStoreBytes bytes);

/* ---- defined in failure.c ---- */

/* End of a message about file contents that plait cannot have written. */
#define PLAIT_STORE_REMEDY "restore a copy or make the file again"

/* Stops libhdf5 from printing errors and from loading filter modules. Call it in each thread that uses HDF5. */
void plait_store_silence_hdf5 (void);

/* Sets *error for the current HDF5 failure: "FILE: OBJECT: cannot ACTION: reason", or the error of the blocks if a read
 * of a block has failed (plait_store_blocks_fail). @path: OBJECT, or NULL for no object. Returns FALSE. */
gboolean plait_store_fail (const PlaitStore *store, const char *path, const char *action, GError **error);

/* TRUE if the current HDF5 failure is a lack of memory. */
gboolean plait_store_lacks_memory (void);

/* Sets *error like plait_store_fail, and returns NULL. */
gpointer plait_store_fail_null (const PlaitStore *store, const char *path, const char *action, GError **error);

/* Returns the innermost description on HDF5's error stack. (transfer full) */
char *plait_store_reason (void);

/* ---- defined in object.c ---- */

/* Prepares @path for writing: checks that @path is well formed and that nothing is stored there, and makes its parent
 * groups. Returns the open parent, which belongs to @store, and sets *@name to the last name of @path. Negative with
 * *error set. */
hid_t plait_store_prepare (PlaitStore *store, const char *path, const char **name, GError **error);

/* Closes the groups that are open for writing. */
void plait_store_close_groups (PlaitStore *store);

/* Opens the object at @path. The items of a ragged group share one stored group or dataset: if @path names an item,
 * opens that shared object. Negative with *error set. */
hid_t plait_store_object (PlaitStore *store, const char *path, GError **error);

/* Opens the dataset at @path and describes it in *@object. Negative with *error set. */
hid_t plait_store_dataset (PlaitStore *store, const char *path, PlaitStoreObject *object, GError **error);

/* The object at a path: an object stored there, or an item of a ragged group. */
typedef struct
{
  PlaitStoreObject object;
  hid_t id; /* open HDF5 object that has the attributes; for an item's array: the dataset that all items share */
  gint64 start, count; /* first element and number of elements of an item's array, in the dataset of all items; other
                          objects: -1 and 0 */
  char *text;   /* strings of an item's array of strings, a NUL after each; NULL for other objects (transfer full) */
  char **names; /* names of the members of an item's group; NULL for other objects (transfer full) */
} PlaitStoreFound;

#define PLAIT_STORE_NOT_FOUND ((PlaitStoreFound){ .id = -1, .start = -1 })

void plait_store_found_clear (PlaitStoreFound *found);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (PlaitStoreFound, plait_store_found_clear)

/* Finds the object at @path. */
gboolean plait_store_find (PlaitStore *store, const char *path, PlaitStoreFound *found, GError **error);

/* Finds the object at @path, which must be a dataset with readable values. */
gboolean plait_store_find_values (PlaitStore *store, const char *path, PlaitStoreFound *found, GError **error);

/* TRUE if an object or link is stored at @path. Items of ragged groups are not stored. */
gboolean plait_store_is_stored (PlaitStore *store, const char *path);

/* Like plait_store_describe and plait_store_members, but the members of a ragged group are its stored objects, not its
 * items. */
gboolean plait_store_describe_stored (PlaitStore *store, const char *path, PlaitStoreObject *object, GError **error);
char **plait_store_members_stored (PlaitStore *store, const char *path, GError **error);

/* A member of a group. */
typedef struct
{
  char *name;
  H5L_info_t info;
} PlaitStoreLink;

/* Finds the object at @path, which may be an item of a ragged group. @link is the link at @path, or NULL if not known
 * yet. Finds a soft or external link itself, and does not open its target. */
gboolean plait_store_find_stored (PlaitStore *store, const char *path, const PlaitStoreLink *link,
                                  PlaitStoreFound *found, GError **error);

/* Returns the links of the group @found at @path, which must be a stored object, not an item. (transfer full)
 * (element-type PlaitStoreLink) */
GArray *plait_store_links_of (const PlaitStore *store, const char *path, const PlaitStoreFound *found, GError **error);

/* Returns the names of the members of the group @found at @path. If @found has the names already, moves them out of
 * @found. (transfer full) */
char **plait_store_members_of (const PlaitStore *store, const char *path, PlaitStoreFound *found, GError **error);

/* TRUE if the values of the dataset @id at @path can be read safely (plait_store_check_storage). Values in a new file
 * are not checked. */
gboolean plait_store_check_values (const PlaitStore *store, const char *path, hid_t id, GError **error);

/* ---- defined in attribute.c ---- */

/* Returns the names of the attributes of the object @id at @path. (transfer full) */
char **plait_store_attributes_of (const PlaitStore *store, const char *path, hid_t id, GError **error);

/* ---- defined in storage.c ---- */

/* Refuses a dataset @data whose values cannot be read safely: values in other files (virtual datasets, external
 * storage), a shape that the file cannot hold at any compression, chunks that exhaust memory. @fd is the file's
 * descriptor; messages name @path and @name. */
gboolean plait_store_check_storage (hid_t data, int fd, const char *path, const char *name, GError **error);

/* ---- defined in types.c ---- */

/* Return the HDF5 type of elements in memory and in the file; not for strings. The caller must not release it. */
hid_t plait_store_memory_type (PlaitStoreType type);
hid_t plait_store_file_type (PlaitStoreType type);
gsize plait_store_type_size (PlaitStoreType type);

/* Returns a fixed-length UTF-8 type for strings of at most @length bytes and a NUL. The caller releases it. */
hid_t plait_store_string_type (gsize length);

/* Returns the PlaitStoreType of a stored HDF5 type. */
PlaitStoreType plait_store_type_of (hid_t type);

/* TRUE if elements of type @stored with @element_bytes bytes can be read as @wanted: integers as integers of at least
 * their size, integers and floats as floats of any size. */
gboolean plait_store_convertible (PlaitStoreType stored, gint64 element_bytes, PlaitStoreType wanted);

/* ---- defined in dataset.c ---- */

/* Reads the block of @count elements from @start on, both [@rank], of the dataset @id. Rank 0: its single element. */
gboolean plait_store_read_block (hid_t id, guint rank, const hsize_t *start, const hsize_t *count, hid_t memory_type,
                                 gpointer buffer);

/* Creates a dataset at @path and writes @values. @memory_space is H5S_ALL or a selection of @values. */
gboolean plait_store_create_dataset (PlaitStore *store, const char *path, hid_t file_type, hid_t memory_type,
                                     hid_t memory_space, guint rank, const gint64 *shape, gconstpointer values,
                                     PlaitStoreOptions options, GError **error);

/* Returns how many rows of @row_bytes bytes one chunk of a growing dataset has. */
gint64 plait_store_growing_chunk (gint64 row_bytes);

/* Appends @rows rows of @values after the first @written rows of dataset @path. The dataset has one dimension, or two
 * if @width > 0. Creates the dataset if @written is 0. */
gboolean plait_store_extend (PlaitStore *store, const char *path, PlaitStoreType type, guint width, gint64 written,
                             gint64 rows, gconstpointer values, GError **error);

/* Returns the HDF5 space of the elements of @tensor in memory that begins at tensor.data, for any stride. The caller
 * releases it. */
hid_t plait_store_tensor_space (PlaitTensor tensor);

/* ---- defined in copy.c ---- */

/* TRUE if @name is one of the attributes in which HDF5 stores dimension scales. */
gboolean plait_store_belongs_to_axes (const char *name);

/* ---- defined in contents.c ---- */

#define PLAIT_STORE_CONTENTS "/contents"

/* Writes the table of contents of @store. Must be the last write. */
gboolean plait_store_write_contents (PlaitStore *store, GError **error);

/* Reads everything that HDF5 must parse: names, types, shapes, attributes, chunk indices, and at most @bytes of chunked
 * values. */
gboolean plait_store_parse_all (PlaitStore *store, gint64 bytes, GError **error);

/* Compares the contents of @store with its table of contents. Sets *@digest to a digest of the contents of the file.
 * (transfer full) */
PlaitStoreChanges *plait_store_compare_contents (PlaitStore *store, char **digest, GError **error);
void plait_store_changes_free (PlaitStoreChanges *changes);

/* ---- defined in heatmap.c ---- */

/* Attaches the axes named by the attributes of the NXdata group @path to its signal, as HDF5 dimension scales. */
gboolean plait_store_attach_axes (PlaitStore *store, const char *path, GError **error);

/* Makes one column of the table @path the dimension scale of the other columns. This column is the one that the
 * attribute "axes" names, else the first. Readers of NetCDF such as h5netcdf need this scale. */
gboolean plait_store_attach_columns (PlaitStore *store, const char *path, GError **error);

/* ---- defined in ragged-write.c, ragged-kinds.c, ragged-find.c ---- */

/* Attribute that marks a ragged group. Its value is the name of the dataset that lists the items. */
#define PLAIT_STORE_RAGGED "ragged"
/* Name of the dataset that lists the items. The attribute "sentence_i" of an array has a Python expression for one
 * item. */
#define PLAIT_STORE_ITEMS "sentence"
#define PLAIT_STORE_OFFSETS "_offsets"
#define PLAIT_STORE_SHAPE "_shape"
/* Attribute that marks an array of text. */
#define PLAIT_STORE_TEXT "text"

/* Writes what is still buffered of all arrays that are appended to. */
gboolean plait_store_ragged_finish (PlaitStore *store, GError **error);

/* TRUE if @path is a path of an item in an open ragged group, or a path below an item. The item need not exist. */
gboolean plait_store_is_item (PlaitStore *store, const char *path);

/* Finds the item @path of a ragged group; no object is stored at @path. FALSE without *error if there is no such group
 * or item; with *error if the offsets or shapes of items are wrong. */
gboolean plait_store_item_find (PlaitStore *store, const char *path, PlaitStoreFound *found, GError **error);

/* Returns the names of the items of the ragged group @path, sorted by their numbers. (transfer full) */
char **plait_store_item_names (PlaitStore *store, const char *path, GError **error);

/* ---- defined in text.c ---- */

/* Returns @n strings in slots of @slot bytes, a NUL after each; NULL if there is no memory. (transfer full) */
char *plait_store_pack (const char *const *values, gint64 n, gsize slot);

/* Checks that @n strings are UTF-8 and shorter than 64 MiB. Sets *@longest to the bytes of the longest string and
 * *@total to the bytes of all. */
gboolean plait_store_measure_strings (const PlaitStore *store, const char *path, const char *const *values, gint64 n,
                                      gsize *longest, gsize *total, GError **error);

/* Returns the @n strings from slots of @slot bytes, NULL-terminated; NULL if there is no memory. (transfer full) */
char **plait_store_unpack (const char *slots, gint64 n, gsize slot);

/* TRUE if @offsets [@n] begin at 0, end at @end and never decrease. */
gboolean plait_store_are_offsets (const gint64 *offsets, gint64 n, gint64 end);
