/* SPDX-License-Identifier: MIT */
#include "foreign/feature.h"

#include "files/file-stamp.h"
#include "process/sandbox.h"
#include "hdf5/internal.h"

#include <math.h>
#include <unistd.h>

/* Maximum bytes of values that the sandbox reads. It reads at least two sentences, even if they are larger. */
#define SANDBOX_BYTES ((gint64)64 << 20)
/* Maximum bytes of one sentence in memory. */
#define MAX_SENTENCE_BYTES ((gint64)1 << 30)
/* Bytes of HDF5's chunk cache: several chunks of the usual size fit, so that neighbouring sentences are not
 * decompressed again. */
#define CHUNK_CACHE ((size_t)32 << 20)
/* Suffix of the dataset with the lengths of sentences. */
#define LENGTHS "_lengths"

typedef struct
{
  PlaitFeatures parent;
  char *path;
  char *dataset;
  int fd;
  PlaitFileStamp stamp; /* stamp of the file when it was opened, to detect changes */
  int failure;          /* ENOMEM if plait_store_access lacked memory, else 0 (the file is only read) */
  hid_t driver;
  hid_t file;
  hid_t data;
} FeatureFile;

/* Sets *error for a failure of HDF5 on a foreign file, or for a lack of memory. */
static gboolean
fail_hdf5 (const FeatureFile *file, const char *what, GError **error)
{
  gboolean lacks_memory = plait_store_lacks_memory ();
  g_autofree char *reason = plait_store_reason ();
  if (lacks_memory)
    return plait_fail (error, PLAIT_ERROR_FAILED, "%s: %s: there is not enough memory", file->path, what);
  if (file->failure != 0)
    return plait_fail (error, PLAIT_ERROR_FAILED, "%s: %s: %s", file->path, what, g_strerror (file->failure));
  return plait_fail (error, PLAIT_ERROR_INPUT, "%s: %s: %s; expected an HDF5 file with a dataset of features",
                     file->path, what, reason);
}

typedef struct
{
  char *name;
  guint n;
} OnlyDataset;

static herr_t
note_dataset (hid_t group, const char *name, const H5L_info_t *info, void *data)
{
  OnlyDataset *only = data;
  H5O_info_t object;
  if (info->type == H5L_TYPE_HARD && !g_str_has_suffix (name, LENGTHS)
      && H5Oget_info_by_name2 (group, name, &object, H5O_INFO_BASIC, H5P_DEFAULT) >= 0
      && object.type == H5O_TYPE_DATASET && only->n++ == 0)
    only->name = g_strconcat ("/", name, NULL);
  return only->n > 1;
}

static gboolean
choose_dataset (FeatureFile *file, GError **error)
{
  OnlyDataset only = { NULL, 0 };
  hsize_t at = 0;
  if (H5Literate (file->file, H5_INDEX_NAME, H5_ITER_INC, &at, note_dataset, &only) >= 0 && only.n == 1)
    {
      file->dataset = only.name;
      return TRUE;
    }
  g_free (only.name);
  return plait_fail (error, PLAIT_ERROR_INPUT,
                     "%s: its root group has %s, so name the dataset to read (dataset=); expected the shape [sentence, "
                     "position, width]",
                     file->path, only.n == 0 ? "no dataset" : "more than one dataset");
}

static gboolean
check_shape (FeatureFile *file, GError **error)
{
  g_auto (StoreId) type = H5Dget_type (file->data);
  g_auto (StoreId) space = H5Dget_space (file->data);
  H5T_class_t class = type >= 0 ? H5Tget_class (type) : H5T_NO_CLASS;
  int rank = space >= 0 ? H5Sget_simple_extent_ndims (space) : -1;
  if (class == H5T_NO_CLASS || rank < 0)
    return fail_hdf5 (file, "cannot read the shape and type of its dataset", error);
  if (class != H5T_INTEGER && class != H5T_FLOAT)
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s: %s does not hold numbers; expected any integer or float type",
                       file->path, file->dataset);
  hsize_t shape[H5S_MAX_RANK];
  if (rank != 3 || H5Sget_simple_extent_dims (space, shape, NULL) != 3)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s: %s has %d dimensions; expected three, [sentence, position, width]", file->path,
                       file->dataset, rank);
  for (int i = 0; i < 3; i++)
    if (shape[i] == 0 || shape[i] > G_MAXINT32)
      return plait_fail (
          error, PLAIT_ERROR_INPUT,
          "%s: %s has the size %ju in dimension %d, counted from 1, of [sentence, position, width]; expected 1 to %d",
          file->path, file->dataset, (guint64)shape[i], i + 1, G_MAXINT32);
  file->parent.sentences = (gint64)shape[0];
  file->parent.positions = (gint64)shape[1];
  file->parent.width = (gint64)shape[2];
  gint64 element_bytes = (gint64)MAX (H5Tget_size (type), sizeof (PlaitScalar));
  gint64 bytes;
  if (__builtin_mul_overflow (file->parent.positions * file->parent.width, element_bytes, &bytes)
      || bytes > MAX_SENTENCE_BYTES)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s: one sentence of %s has %jd x %jd values, which take more than 1 GiB; write fewer positions "
                       "or a smaller width",
                       file->path, file->dataset, file->parent.positions, file->parent.width);
  return plait_store_check_storage (file->data, file->fd, file->path, file->dataset, error);
}

/* Reads the number of valid positions of each sentence from DATASET_lengths, if the file has this dataset. */
static gboolean
read_lengths (FeatureFile *file, hid_t access, GError **error)
{
  g_autofree char *name = g_strconcat (file->dataset, LENGTHS, NULL);
  if (H5Lexists (file->file, name, access) <= 0)
    return TRUE;
  g_auto (StoreId) data = H5Dopen2 (file->file, name, access);
  g_auto (StoreId) type = data >= 0 ? H5Dget_type (data) : -1;
  g_auto (StoreId) space = data >= 0 ? H5Dget_space (data) : -1;
  hsize_t n = 0;
  if (type < 0 || space < 0 || H5Tget_class (type) != H5T_INTEGER || H5Sget_simple_extent_ndims (space) != 1
      || H5Sget_simple_extent_dims (space, &n, NULL) != 1 || n != (hsize_t)file->parent.sentences)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s: %s must hold %jd integers, the number of valid positions of each sentence of %s; correct "
                       "this dataset, or rename it if it is something else",
                       file->path, name, file->parent.sentences, file->dataset);
  if (!plait_store_check_storage (data, file->fd, file->path, name, error))
    return FALSE;
  file->parent.lengths = g_try_new (gint32, (gsize)file->parent.sentences);
  if (!file->parent.lengths)
    return plait_fail (error, PLAIT_ERROR_FAILED, "%s: no memory for the lengths of its sentences", file->path);
  /* HDF5 replaces values that do not fit into 32 bits by the nearest that fit. */
  if (H5Dread (data, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, file->parent.lengths) < 0)
    return fail_hdf5 (file, "cannot read the lengths of its sentences", error);
  for (gint64 i = 0; i < file->parent.sentences; i++)
    if (file->parent.lengths[i] < 0 || file->parent.lengths[i] > file->parent.positions)
      return plait_fail (error, PLAIT_ERROR_INPUT,
                         "%s: %s[%jd] is %d, expected the number of valid positions, from 0 to %jd; 0 means that the "
                         "sentence is missing",
                         file->path, name, i, file->parent.lengths[i], file->parent.positions);
  return TRUE;
}

/* Opens the HDF5 file and its dataset, checks the shape and reads the lengths. */
static gboolean
attach (FeatureFile *file, GError **error)
{
  plait_store_silence_hdf5 ();
  file->driver = plait_store_driver ();
  g_auto (StoreId) access
      = plait_store_access (file->driver, (PlaitStoreBytes){ .fd = file->fd, .failure = &file->failure });
  file->file = access < 0 ? -1 : H5Fopen (file->path, H5F_ACC_RDONLY, access);
  if (file->file < 0)
    return fail_hdf5 (file, "cannot be opened as HDF5", error);
  if (!file->dataset && !choose_dataset (file, error))
    return FALSE;
  g_auto (StoreId) link = H5Pcreate (H5P_DATASET_ACCESS);
  plait_store_refuse_external (link);
  H5Pset_chunk_cache (link, 521, CHUNK_CACHE, 1.0);
  file->data = H5Dopen2 (file->file, file->dataset, link);
  if (file->data < 0)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s: there is no dataset '%s' in this file; h5ls -r lists the datasets", file->path,
                       file->dataset);
  return check_shape (file, error) && read_lengths (file, link, error);
}

/* Fills all rows of @rows with the positions of @sentence from @first on. */
static gboolean
read_positions (FeatureFile *file, gint64 sentence, gint64 first, PlaitTensor rows, GError **error)
{
  hsize_t start[3] = { (hsize_t)sentence, (hsize_t)first };
  hsize_t count[3] = { 1, (hsize_t)rows.rows, (hsize_t)file->parent.width };
  if (rows.rows == 0)
    return TRUE;
  g_auto (StoreId) stored = H5Dget_space (file->data);
  g_auto (StoreId) memory = plait_store_tensor_space (rows);
  if (stored < 0 || memory < 0 || H5Sselect_hyperslab (stored, H5S_SELECT_SET, start, NULL, count, NULL) < 0
      || H5Dread (file->data, plait_store_memory_type (PLAIT_STORE_SCALAR), memory, stored, H5P_DEFAULT, rows.data) < 0)
    {
      g_autofree char *what = g_strdup_printf ("cannot read sentence %jd of %s", sentence, file->dataset);
      return fail_hdf5 (file, what, error);
    }
  for (gint64 i = 0; i < rows.rows; i++)
    for (gint64 j = 0; j < rows.width; j++)
      if (!isfinite (plait_tensor_row (rows, i)[j]))
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "%s: %s[%jd, %jd, %jd] is infinite or not a number; expected finite values; where a "
                           "sentence is missing, set its length in %s" LENGTHS " to 0",
                           file->path, file->dataset, sentence, first + i, j, file->dataset);
  return TRUE;
}

/* Runs in the child process: opens the file as the parent process will do later, and reads sentences from all parts of
 * the file. */
static gboolean
try_file (gpointer data, GError **error)
{
  FeatureFile *file = data;
  if (!attach (file, error))
    return FALSE;
  gint64 sentence_elements = file->parent.positions * file->parent.width;
  g_autofree PlaitScalar *values = g_try_new (PlaitScalar, (gsize)sentence_elements);
  if (!values)
    return plait_fail (error, PLAIT_ERROR_FAILED, "%s: no memory for one sentence of features", file->path);
  gint64 sentence_bytes = sentence_elements * (gint64)sizeof (PlaitScalar);
  gint64 n = CLAMP (SANDBOX_BYTES / sentence_bytes, 2, file->parent.sentences);
  for (gint64 i = 0; i < n; i++)
    {
      gint64 sentence = n == 1 ? 0 : (gint64)((__int128)i * (file->parent.sentences - 1) / (n - 1));
      gint64 length = plait_features_length (&file->parent, sentence);
      if (!read_positions (file, sentence, 0, plait_tensor (values, length, file->parent.width), error))
        return FALSE;
    }
  return TRUE;
}

/* Returns @done, the result of a read, and moves its error from *@fault to *@error. If the file has changed since it
 * was opened, fails with an error about the change instead. */
static gboolean
finish (const FeatureFile *file, gboolean done, GError **fault, GError **error)
{
  if (!plait_file_stamp_check (&file->stamp, file->path, error))
    return FALSE;
  if (!done)
    g_propagate_error (error, g_steal_pointer (fault));
  return done;
}

static gboolean
read_sentences (FeatureFile *file, const gint64 *sentences, gint64 n, PlaitTensor rows, GError **error)
{
  gint64 at = 0;
  plait_store_silence_hdf5 (); /* needed in each thread that uses HDF5; this one may differ from the thread that opened
                                  the file */
  for (gint64 i = 0; i < n; i++)
    {
      if (sentences[i] < 0 || sentences[i] >= file->parent.sentences)
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "%s: %s has %jd sentences, so sentence %jd, counted from 0, cannot be read; give a sentence "
                           "for each line of the text",
                           file->path, file->dataset, file->parent.sentences, sentences[i]);
      gint64 length = plait_features_length (&file->parent, sentences[i]);
      g_assert (length <= rows.rows - at && rows.width == file->parent.width);
      if (!read_positions (file, sentences[i], 0, plait_tensor_rows (rows, at, length), error))
        return FALSE;
      at += length;
    }
  g_assert (at == rows.rows);
  return TRUE;
}

static gboolean
check (const PlaitFeatures *self, GError **error)
{
  const FeatureFile *file = (const FeatureFile *)self;
  return plait_file_stamp_check (&file->stamp, file->path, error);
}

static gboolean
read_row (PlaitFeatures *self, gint64 sentence, gint64 position, PlaitScalar *row, GError **error)
{
  g_autoptr (GError) fault = NULL;
  FeatureFile *file = (FeatureFile *)self;
  g_assert (sentence >= 0 && sentence < self->sentences && position >= 0
            && position < plait_features_length (self, sentence));
  return finish (file, read_positions (file, sentence, position, plait_tensor (row, 1, self->width), &fault), &fault,
                 error);
}

static gboolean
read_checked (PlaitFeatures *self, const gint64 *sentences, gint64 n, PlaitTensor rows, GError **error)
{
  g_autoptr (GError) fault = NULL;
  FeatureFile *file = (FeatureFile *)self;
  return finish (file, read_sentences (file, sentences, n, rows, &fault), &fault, error);
}

static void
feature_file_free (PlaitFeatures *self)
{
  FeatureFile *file = (FeatureFile *)self;
  store_id_release (file->data);
  store_id_release (file->file);
  store_id_release (file->driver);
  if (file->fd >= 0)
    close (file->fd);
  g_free (file->path);
  g_free (file->dataset);
  g_free (self->lengths);
  g_free (file);
}

PlaitFeatures *
plait_feature_file_open (const char *path, const char *dataset, GError **error)
{
  FeatureFile *file = g_new0 (FeatureFile, 1);
  g_autoptr (PlaitFeatures) features = &file->parent;
  file->parent
      = (PlaitFeatures){ .check = check, .read_row = read_row, .read = read_checked, .free = feature_file_free };
  file->path = g_strdup (path);
  file->dataset = dataset && *dataset != '\0' ? g_strdup (dataset) : NULL;
  file->driver = file->file = file->data = -1;
  struct stat status;
  file->fd = plait_file_open (path, PLAIT_FILE_REGULAR, "HDF5 with a dataset of features", &status, error);
  if (file->fd < 0)
    return NULL;
  file->stamp = plait_file_stamp_open (file->fd);
  if (!plait_store_check_closed (file->fd, path, error)
      || !plait_sandbox_run (path, PLAIT_ERROR_CORRUPT, try_file, file, PLAIT_SANDBOX_LIMITS, error)
      || !attach (file, error))
    return NULL;
  return g_steal_pointer (&features);
}
