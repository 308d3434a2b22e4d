/* SPDX-License-Identifier: MIT */
#include "files/memory.h"
#include "hdf5/internal.h"

/* Datasets of fewer bytes are not compressed: the chunk index would cost more than compression gains. */
#define MIN_COMPRESSED ((gint64)1 << 10)
/* Maximum bytes of a chunk: the default size of HDF5's chunk cache. */
#define MAX_CHUNK ((gint64)1 << 20)

/* Bytes of a chunk of a growing dataset. A chunk is buffered while it is written, and read as a whole for each item in
 * it. */
#define GROWING_CHUNK ((gint64)1 << 18)

#define DEFLATE_LEVEL 4

/* Sets @chunk to the shape of a chunk of at most MAX_CHUNK bytes, or of one larger element. From the last dimension
 * to the first, takes as much of each dimension as fits. */
static void
choose_chunk (guint rank, const gint64 *shape, gint64 element_bytes, hsize_t *chunk)
{
  gint64 bytes = element_bytes;
  for (guint i = rank; i-- > 0;)
    {
      gint64 fits = MAX (1, MAX_CHUNK / bytes);
      chunk[i] = (hsize_t)MIN (shape[i], fits);
      bytes *= (gint64)chunk[i];
    }
}

/* Returns the HDF5 creation property list of a dataset: compressed in chunks of shape @chunk [@rank], or contiguous if
 * @chunk is NULL. */
static hid_t
creation_list (guint rank, const hsize_t *chunk)
{
  g_auto (StoreId) list = H5Pcreate (H5P_DATASET_CREATE);
  gboolean good = list >= 0 && H5Pset_obj_track_times (list, FALSE) >= 0
                  && H5Pset_fill_time (list, H5D_FILL_TIME_NEVER) >= 0 && H5Pset_attr_phase_change (list, 16, 12) >= 0;
  if (good && chunk)
    good = H5Pset_chunk (list, (int)rank, chunk) >= 0 && H5Pset_shuffle (list) >= 0
           && H5Pset_deflate (list, DEFLATE_LEVEL) >= 0;
  return good ? store_id_steal (&list) : -1;
}

gboolean
plait_store_create_dataset (PlaitStore *store, const char *path, hid_t file_type, hid_t memory_type, hid_t memory_space,
                            guint rank, const gint64 *shape, gconstpointer values, PlaitStoreOptions options,
                            GError **error)
{
  g_assert (rank <= PLAIT_STORE_MAX_RANK);
  hsize_t extent[PLAIT_STORE_MAX_RANK];
  gint64 elements = 1;
  for (guint i = 0; i < rank; i++)
    {
      g_assert (shape[i] >= 0 && !__builtin_mul_overflow (elements, shape[i], &elements));
      extent[i] = (hsize_t)shape[i];
    }
  g_auto (StoreId) space = rank == 0 ? H5Screate (H5S_SCALAR) : H5Screate_simple ((int)rank, extent, NULL);
  gint64 element_bytes = (gint64)H5Tget_size (file_type);
  gboolean compressed = (options & PLAIT_STORE_COMPRESSED) && rank > 0 && elements * element_bytes >= MIN_COMPRESSED;
  hsize_t chunk[PLAIT_STORE_MAX_RANK];
  if (compressed)
    choose_chunk (rank, shape, element_bytes, chunk);
  g_auto (StoreId) list = creation_list (rank, compressed ? chunk : NULL);
  const char *name;
  hid_t parent = plait_store_prepare (store, path, &name, error);
  if (parent < 0)
    return FALSE;
  g_auto (StoreId) id
      = space < 0 || list < 0 ? -1 : H5Dcreate2 (parent, name, file_type, space, store->link, list, H5P_DEFAULT);
  if (id < 0 || (elements > 0 && H5Dwrite (id, memory_type, memory_space, H5S_ALL, H5P_DEFAULT, values) < 0)
      || store->failure != 0)
    return plait_store_fail (store, path, "write it", error);
  return TRUE;
}

gboolean
plait_store_write (PlaitStore *store, const char *path, PlaitStoreType type, guint rank, const gint64 *shape,
                   gconstpointer values, PlaitStoreOptions options, GError **error)
{
  return plait_store_create_dataset (store, path, plait_store_file_type (type), plait_store_memory_type (type), H5S_ALL,
                                     rank, shape, values, options, error);
}

gint64
plait_store_growing_chunk (gint64 row_bytes)
{
  return MAX (1, GROWING_CHUNK / row_bytes);
}

gboolean
plait_store_extend (PlaitStore *store, const char *path, PlaitStoreType type, guint width, gint64 written, gint64 rows,
                    gconstpointer values, GError **error)
{
  int rank = width > 0 ? 2 : 1;
  const char *name = path;
  hsize_t start[] = { (hsize_t)written, 0 }, count[] = { (hsize_t)rows, width }, none[] = { 0, width };
  hsize_t extent[] = { (hsize_t)(written + rows), width }, most[] = { H5S_UNLIMITED, width };
  hsize_t chunk[]
      = { (hsize_t)plait_store_growing_chunk ((gint64)plait_store_type_size (type) * MAX (width, 1)), width };
  g_auto (StoreId) list = creation_list ((guint)rank, chunk);
  g_auto (StoreId) empty = H5Screate_simple (rank, none, most);
  g_auto (StoreId) memory = H5Screate_simple (rank, count, NULL);
  hid_t parent = written == 0 ? plait_store_prepare (store, path, &name, error) : store->file;
  if (parent < 0)
    return FALSE;
  g_auto (StoreId) id
      = list < 0 || empty < 0 || memory < 0 ? -1
        : written > 0                       ? H5Dopen2 (parent, name, H5P_DEFAULT)
                      : H5Dcreate2 (parent, name, plait_store_file_type (type), empty, store->link, list, H5P_DEFAULT);
  g_auto (StoreId) stored = id < 0 || H5Dset_extent (id, extent) < 0 ? -1 : H5Dget_space (id);
  if (stored < 0 || H5Sselect_hyperslab (stored, H5S_SELECT_SET, start, NULL, count, NULL) < 0
      || H5Dwrite (id, plait_store_memory_type (type), memory, stored, H5P_DEFAULT, values) < 0 || store->failure != 0)
    return plait_store_fail (store, path, "write it", error);
  return TRUE;
}

/* Copies the rows of all @sentences to @padded [sentence, @positions, width]. */
static void
pad (PlaitTensor rows, PlaitRagged sentences, gint64 positions, PlaitScalar *padded)
{
  for (gint64 i = 0; i < sentences.n; i++)
    for (gint64 row = sentences.offsets[i]; row < sentences.offsets[i + 1]; row++)
      memcpy (padded + (i * positions + row - sentences.offsets[i]) * rows.width, plait_tensor_row (rows, row),
              (gsize)rows.width * sizeof (PlaitScalar));
}

gboolean
plait_store_extend_padded (PlaitStore *store, const char *path, PlaitTensor rows, PlaitRagged sentences, gint64 written,
                           GError **error)
{
  g_autofree char *lengths_path = g_strconcat (path, "_lengths", NULL);
  g_autofree gint64 *lengths = g_new (gint64, sentences.n);
  g_autofree PlaitScalar *padded = NULL;
  const char *name = path;
  hsize_t width = (hsize_t)rows.width, positions = 1, extent[] = { 0, 1, width };
  hsize_t most[] = { H5S_UNLIMITED, H5S_UNLIMITED, width };
  /* A chunk has some positions of one sentence. */
  hsize_t chunk[]
      = { 1, (hsize_t)CLAMP (plait_store_growing_chunk (rows.width * (gint64)sizeof (PlaitScalar)), 1, 64), width };

  for (gint64 i = 0; i < sentences.n; i++)
    {
      lengths[i] = plait_ragged_length (sentences, i);
      positions = MAX (positions, (hsize_t)lengths[i]);
    }
  padded = g_new0 (PlaitScalar, (gsize)sentences.n * positions * width);
  pad (rows, sentences, (gint64)positions, padded);
  hid_t parent = written == 0 ? plait_store_prepare (store, path, &name, error) : store->file;
  if (parent < 0)
    return FALSE;
  hsize_t start[] = { (hsize_t)written, 0, 0 }, count[] = { (hsize_t)sentences.n, positions, width };
  g_auto (StoreId) list = creation_list (3, chunk);
  g_auto (StoreId) empty = H5Screate_simple (3, extent, most);
  g_auto (StoreId) memory = H5Screate_simple (3, count, NULL);
  g_auto (StoreId) id = list < 0 || H5Pset_fill_time (list, H5D_FILL_TIME_ALLOC) < 0 || empty < 0 || memory < 0 ? -1
                        : written > 0 ? H5Dopen2 (parent, name, H5P_DEFAULT)
                                      : H5Dcreate2 (parent, name, plait_store_file_type (PLAIT_STORE_SCALAR), empty,
                                                    store->link, list, H5P_DEFAULT);
  g_auto (StoreId) before = id < 0 ? -1 : H5Dget_space (id);
  if (before < 0 || H5Sget_simple_extent_dims (before, extent, NULL) < 0)
    return plait_store_fail (store, path, "write it", error);
  extent[0] = (hsize_t)(written + sentences.n);
  extent[1] = MAX (extent[1], positions);
  g_auto (StoreId) stored = H5Dset_extent (id, extent) < 0 ? -1 : H5Dget_space (id);
  if (stored < 0 || H5Sselect_hyperslab (stored, H5S_SELECT_SET, start, NULL, count, NULL) < 0
      || H5Dwrite (id, plait_store_memory_type (PLAIT_STORE_SCALAR), memory, stored, H5P_DEFAULT, padded) < 0
      || store->failure != 0)
    return plait_store_fail (store, path, "write it", error);
  return plait_store_extend (store, lengths_path, PLAIT_STORE_INT64, 0, written, sentences.n, lengths, error);
}

static gboolean
check_type (PlaitStore *store, const char *path, const PlaitStoreObject *object, PlaitStoreType type, GError **error)
{
  return plait_store_convertible (object->type, object->element_bytes, type)
         || plait_fail (error, PLAIT_ERROR_INPUT,
                        "%s: %s holds elements of %s, which cannot be read as %s; " PLAIT_STORE_REMEDY, store->path,
                        path, plait_store_type_name (object->type), plait_store_type_name (type));
}

/* Finds a dataset at @path whose values can be read as @type. */
static gboolean
find_values (PlaitStore *store, const char *path, PlaitStoreType type, PlaitStoreFound *found, GError **error)
{
  return plait_store_find_values (store, path, found, error) && check_type (store, path, &found->object, type, error);
}

gboolean
plait_store_read_block (hid_t id, guint rank, const hsize_t *start, const hsize_t *count, hid_t memory_type,
                        gpointer buffer)
{
  StoreId stored = H5Dget_space (id), memory = H5Screate_simple ((int)rank, count, NULL);
  gboolean good = stored >= 0 && memory >= 0
                  && (rank == 0 || H5Sselect_hyperslab (stored, H5S_SELECT_SET, start, NULL, count, NULL) >= 0)
                  && H5Dread (id, memory_type, memory, stored, H5P_DEFAULT, buffer) >= 0;
  /* Releasing clears HDF5's errors, so keep them for plait_store_fail. */
  hid_t errors = good ? -1 : H5Eget_current_stack ();

  store_id_release (memory);
  store_id_release (stored);
  if (errors >= 0)
    H5Eset_current_stack (errors);
  return good;
}

/* Reads @rows rows of the dataset @found, from row @first on. */
static gboolean
read_rows (PlaitStore *store, const char *path, const PlaitStoreFound *found, gint64 first, gint64 rows,
           PlaitStoreType type, gpointer buffer, GError **error)
{
  const PlaitStoreObject *object = &found->object;
  gboolean item = found->start >= 0;
  gint64 row_elements = object->rank == 0 || object->shape[0] == 0 ? 1 : object->elements / object->shape[0];
  hsize_t from[PLAIT_STORE_MAX_RANK] = { (hsize_t)(item ? found->start + first * row_elements : first) };
  hsize_t count[PLAIT_STORE_MAX_RANK] = { (hsize_t)(item ? rows * row_elements : rows) };
  for (guint i = 1; i < object->rank && !item; i++)
    count[i] = (hsize_t)object->shape[i];
  return plait_store_read_block (found->id, item ? 1 : object->rank, from, count, plait_store_memory_type (type),
                                 buffer)
         || plait_store_fail (store, path, "read it", error);
}

static gboolean
read_all (PlaitStore *store, const char *path, const PlaitStoreFound *found, PlaitStoreType type, gpointer buffer,
          GError **error)
{
  return found->object.elements == 0
         || read_rows (store, path, found, 0, found->object.rank == 0 ? 1 : found->object.shape[0], type, buffer,
                       error);
}

gboolean
plait_store_read (PlaitStore *store, const char *path, PlaitStoreType type, gint64 elements, gpointer buffer,
                  GError **error)
{
  g_auto (PlaitStoreFound) found = PLAIT_STORE_NOT_FOUND;
  if (!find_values (store, path, type, &found, error))
    return FALSE;
  if (found.object.elements != elements)
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s: %s has %jd elements instead of %jd; " PLAIT_STORE_REMEDY,
                       store->path, path, found.object.elements, elements);
  return read_all (store, path, &found, type, buffer, error);
}

gboolean
plait_store_read_rows (PlaitStore *store, const char *path, PlaitStoreType type, gint64 first, gint64 rows,
                       gint64 capacity, gpointer buffer, GError **error)
{
  g_auto (PlaitStoreFound) found = PLAIT_STORE_NOT_FOUND;
  if (!find_values (store, path, type, &found, error))
    return FALSE;
  gint64 all = found.object.rank == 0 ? 0 : found.object.shape[0];
  if (found.object.rank == 0 || first < 0 || rows < 0 || first > all || rows > all - first)
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s: %s has %jd rows, so %jd rows from row %jd on cannot be read",
                       store->path, path, all, rows, first);
  gint64 row_elements = all == 0 ? 0 : found.object.elements / all;
  gint64 elements;
  if (__builtin_mul_overflow (rows, row_elements, &elements) || elements > capacity)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s: %jd rows of %s with %jd elements each do not fit into a buffer of %jd elements",
                       store->path, rows, path, row_elements, capacity);
  return elements == 0 || read_rows (store, path, &found, first, rows, type, buffer, error);
}

gpointer
plait_store_read_array (PlaitStore *store, const char *path, PlaitStoreType type, gint64 maximum, gint64 *elements,
                        GError **error)
{
  g_auto (PlaitStoreFound) found = PLAIT_STORE_NOT_FOUND;
  if (!find_values (store, path, type, &found, error))
    return NULL;
  gint64 n = found.object.elements;
  if (n > maximum)
    return plait_fail_null (error, PLAIT_ERROR_INPUT,
                            "%s: %s has %jd elements, but at most %jd are allowed; " PLAIT_STORE_REMEDY, store->path,
                            path, n, maximum);
  gsize bytes;
  gboolean has = plait_size_multiply ((gsize)MAX (n, 1), plait_store_type_size (type), &bytes)
                 && plait_memory_is_available (bytes);
  g_autofree gpointer buffer = has ? g_try_malloc (bytes) : NULL;
  if (!buffer)
    return plait_fail_null (error, PLAIT_ERROR_FAILED, "%s: no memory for the %jd elements of %s", store->path, n,
                            path);
  if (!read_all (store, path, &found, type, buffer, error))
    return NULL;
  if (elements)
    *elements = n;
  return g_steal_pointer (&buffer);
}

hid_t
plait_store_tensor_space (PlaitTensor tensor)
{
  if (tensor.rows == 0 || tensor.width == 0)
    return H5Screate (H5S_NULL);
  if (tensor.stride == tensor.width)
    return H5Screate_simple (1, (const hsize_t[]){ (hsize_t)(tensor.rows * tensor.width) }, NULL);
  /* The memory of @tensor may end with the last element of its last row. */
  hsize_t extent = (hsize_t)((tensor.rows - 1) * tensor.stride + tensor.width);
  hsize_t start = 0, stride = (hsize_t)tensor.stride, count = (hsize_t)tensor.rows, block = (hsize_t)tensor.width;
  g_auto (StoreId) space = H5Screate_simple (1, &extent, NULL);
  gboolean good = space >= 0 && H5Sselect_hyperslab (space, H5S_SELECT_SET, &start, &stride, &count, &block) >= 0;
  return good ? store_id_steal (&space) : -1;
}

gboolean
plait_store_write_tensor (PlaitStore *store, const char *path, PlaitTensor tensor, GError **error)
{
  gint64 shape[2] = { tensor.rows, tensor.width };
  g_auto (StoreId) space = plait_store_tensor_space (tensor);
  return plait_store_create_dataset (store, path, plait_store_file_type (PLAIT_STORE_SCALAR),
                                     plait_store_memory_type (PLAIT_STORE_SCALAR), space, 2, shape, tensor.data,
                                     PLAIT_STORE_PLAIN, error);
}

gboolean
plait_store_read_tensor (PlaitStore *store, const char *path, PlaitTensor tensor, GError **error)
{
  PlaitStoreObject object;
  g_auto (StoreId) id = plait_store_dataset (store, path, &object, error);
  if (id < 0 || !check_type (store, path, &object, PLAIT_STORE_SCALAR, error))
    return FALSE;
  if (object.rank != 2 || object.shape[0] != tensor.rows || object.shape[1] != tensor.width)
    {
      g_autoptr (GString) found = g_string_new (NULL);
      for (guint i = 0; i < object.rank; i++)
        g_string_append_printf (found, "%s%jd", i > 0 ? ", " : "", object.shape[i]);
      return plait_fail (error, PLAIT_ERROR_INPUT,
                         "%s: %s has the shape [%s] instead of [%jd, %jd]; " PLAIT_STORE_REMEDY, store->path, path,
                         found->str, tensor.rows, tensor.width);
    }
  g_auto (StoreId) space = plait_store_tensor_space (tensor);
  if (object.elements > 0
      && H5Dread (id, plait_store_memory_type (PLAIT_STORE_SCALAR), space, H5S_ALL, H5P_DEFAULT, tensor.data) < 0)
    return plait_store_fail (store, path, "read it", error);
  return TRUE;
}

gboolean
plait_store_write_bytes (PlaitStore *store, const char *path, gconstpointer bytes, gsize size, GError **error)
{
  gint64 shape = (gint64)size;
  return plait_store_write (store, path, PLAIT_STORE_UINT8, 1, &shape, bytes, PLAIT_STORE_PLAIN, error);
}

GBytes *
plait_store_read_bytes (PlaitStore *store, const char *path, gsize maximum, GError **error)
{
  gint64 size = 0;
  gpointer bytes
      = plait_store_read_array (store, path, PLAIT_STORE_UINT8, (gint64)MIN (maximum, (gsize)G_MAXINT64), &size, error);
  return bytes ? g_bytes_new_take (bytes, (gsize)size) : NULL;
}
