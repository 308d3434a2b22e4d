/* SPDX-License-Identifier: MIT */
#include "forge.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "hdf5/internal.h"

void
forge_seal (const char *name, int format)
{
  g_autoptr (GByteArray) structure = g_byte_array_new ();
  int file = open (plait_test_path (name), O_RDWR | O_CLOEXEC);

  REQUIRE (file >= 0);
  plait_store_blocks_mark (structure, 0, (gsize)lseek (file, 0, SEEK_END));
  CHECK (plait_store_write_hashes (file, format, structure));
  close (file);
}

static hid_t
forge_open (const char *from, const char *to)
{
  plait_test_copy (from, to);
  hid_t file = H5Fopen (plait_test_path (to), H5F_ACC_RDWR, H5P_DEFAULT);
  CHECK (file >= 0);
  return file;
}

static void
forge_close (hid_t file, const char *to)
{
  CHECK (H5Fclose (file) >= 0);
  forge_seal (to, PLAIT_STORE_FORMAT);
}

void
forge (const char *from, const char *to, const char *path, ForgeWrite write)
{
  hid_t file = forge_open (from, to);

  CHECK (H5Ldelete (file, path, H5P_DEFAULT) >= 0);
  write (file, path);
  forge_close (file, to);
}

static void
forge_attribute (const char *from, const char *to, const char *path, const char *name, hid_t type, gconstpointer value)
{
  hid_t file = forge_open (from, to);
  hid_t object = H5Oopen (file, path, H5P_DEFAULT);
  hid_t space = H5Screate (H5S_SCALAR);

  if (H5Aexists (object, name) > 0)
    H5Adelete (object, name);
  hid_t attribute = H5Acreate2 (object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  CHECK (attribute >= 0 && H5Awrite (attribute, type, value) >= 0);
  H5Aclose (attribute);
  H5Sclose (space);
  H5Oclose (object);
  forge_close (file, to);
}

void
forge_string (const char *from, const char *to, const char *path, const char *name, const char *value)
{
  hid_t type = H5Tcopy (H5T_C_S1);

  CHECK (H5Tset_size (type, strlen (value) + 1) >= 0);
  forge_attribute (from, to, path, name, type, value);
  H5Tclose (type);
}

void
forge_integer (const char *from, const char *to, const char *path, const char *name, gint64 value)
{
  forge_attribute (from, to, path, name, H5T_NATIVE_INT64, &value);
}

void
forge_real (const char *from, const char *to, const char *path, const char *name, double value)
{
  forge_attribute (from, to, path, name, H5T_NATIVE_DOUBLE, &value);
}

void
forge_values (const char *from, const char *to, const char *path, double value)
{
  hid_t file = forge_open (from, to);
  hid_t data = H5Dopen2 (file, path, H5P_DEFAULT);
  hid_t space = H5Dget_space (data);
  hssize_t n = H5Sget_simple_extent_npoints (space);
  g_autofree double *values = g_new (double, (gsize)MAX (n, 0) + 1);

  for (hssize_t i = 0; i < n; i++)
    values[i] = value;
  CHECK (n > 0 && H5Dwrite (data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  H5Sclose (space);
  H5Dclose (data);
  forge_close (file, to);
}

/*
 * Functions of type ForgeWrite
 */

/* Creates a dataset without values. If @shape is NULL, it has a single element. @list may be H5P_DEFAULT. */
static void
make_dataset (hid_t file, const char *path, hid_t type, int rank, const hsize_t *shape, hid_t list)
{
  hid_t space = shape ? H5Screate_simple (rank, shape, NULL) : H5Screate (H5S_SCALAR);
  hid_t data = H5Dcreate2 (file, path, type, space, H5P_DEFAULT, list, H5P_DEFAULT);

  CHECK (data >= 0);
  H5Dclose (data);
  H5Sclose (space);
}

static void
write_nothing (hid_t file, const char *path)
{
}

static void
write_text (hid_t file, const char *path)
{
  hid_t type = H5Tcopy (H5T_C_S1);

  H5Tset_size (type, 20);
  make_dataset (file, path, type, 0, NULL, H5P_DEFAULT);
  H5Tclose (type);
}

static void
write_endless_text (hid_t file, const char *path)
{
  hid_t type = H5Tcopy (H5T_C_S1);

  H5Tset_size (type, H5T_VARIABLE);
  make_dataset (file, path, type, 0, NULL, H5P_DEFAULT);
  H5Tclose (type);
}

static void
write_number (hid_t file, const char *path)
{
  make_dataset (file, path, H5T_IEEE_F64LE, 0, NULL, H5P_DEFAULT);
}

static void
write_record (hid_t file, const char *path)
{
  const hsize_t shape[] = { 3 };
  hid_t type = H5Tcreate (H5T_COMPOUND, 16);

  H5Tinsert (type, "real", 0, H5T_IEEE_F64LE);
  H5Tinsert (type, "integer", 8, H5T_STD_I64LE);
  make_dataset (file, path, type, 1, shape, H5P_DEFAULT);
  H5Tclose (type);
}

static void
write_no_extent (hid_t file, const char *path)
{
  hid_t space = H5Screate (H5S_NULL);
  hid_t data = H5Dcreate2 (file, path, H5T_IEEE_F32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);

  CHECK (data >= 0);
  H5Dclose (data);
  H5Sclose (space);
}

static void
write_many_dimensions (hid_t file, const char *path)
{
  const hsize_t shape[] = { 1, 1, 1, 1, 1, 1, 1, 1, 1 };

  make_dataset (file, path, H5T_IEEE_F32LE, G_N_ELEMENTS (shape), shape, H5P_DEFAULT);
}

/* Creates a dataset with a huge shape and no stored values. */
static void
write_very_many (hid_t file, const char *path)
{
  const hsize_t shape[] = { (hsize_t)1 << 40, 1 << 20 }, chunk[] = { 1 << 10, 1 << 10 };
  hid_t list = H5Pcreate (H5P_DATASET_CREATE);

  H5Pset_chunk (list, 2, chunk);
  make_dataset (file, path, H5T_IEEE_F32LE, 2, shape, list);
  H5Pclose (list);
}

static void
write_very_many_texts (hid_t file, const char *path)
{
  const hsize_t shape[] = { (hsize_t)1 << 32 }, chunk[] = { 1 << 20 };
  hid_t list = H5Pcreate (H5P_DATASET_CREATE);
  hid_t type = H5Tcopy (H5T_C_S1);

  H5Pset_chunk (list, 1, chunk);
  make_dataset (file, path, type, 1, shape, list);
  H5Tclose (type);
  H5Pclose (list);
}

static void
write_elsewhere (hid_t file, const char *path)
{
  const hsize_t shape[] = { 10 };
  hid_t list = H5Pcreate (H5P_DATASET_CREATE);

  H5Pset_external (list, "/etc/passwd", 0, H5F_UNLIMITED);
  make_dataset (file, path, H5T_STD_U8LE, 1, shape, list);
  H5Pclose (list);
}

hid_t
forge_make_group (hid_t file, const char *path)
{
  hid_t list = H5Pcreate (H5P_GROUP_CREATE);

  H5Pset_link_creation_order (list, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
  hid_t group = H5Gcreate2 (file, path, H5P_DEFAULT, list, H5P_DEFAULT);
  CHECK (group >= 0);
  H5Pclose (list);
  return group;
}

static void
write_group (hid_t file, const char *path)
{
  H5Gclose (forge_make_group (file, path));
}

/* Creates a group without creation order, as other programs do. */
static void
write_group_without_order (hid_t file, const char *path)
{
  H5Gclose (H5Gcreate2 (file, path, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
}

/* Creates a group that contains itself in two ways. */
static void
write_circle (hid_t file, const char *path)
{
  hid_t group = forge_make_group (file, path);

  CHECK (H5Lcreate_hard (group, ".", group, "0", H5P_DEFAULT, H5P_DEFAULT) >= 0);
  CHECK (H5Lcreate_hard (group, ".", group, "1", H5P_DEFAULT, H5P_DEFAULT) >= 0);
  H5Gclose (group);
}

static void
write_whole (hid_t file, const char *path)
{
  CHECK (H5Lcreate_hard (file, "/", file, path, H5P_DEFAULT, H5P_DEFAULT) >= 0);
}

static void
write_link_to_itself (hid_t file, const char *path)
{
  CHECK (H5Lcreate_soft (path, file, path, H5P_DEFAULT, H5P_DEFAULT) >= 0);
}

static void
write_link_up (hid_t file, const char *path)
{
  CHECK (H5Lcreate_soft ("/", file, path, H5P_DEFAULT, H5P_DEFAULT) >= 0);
}

static void
write_link_out (hid_t file, const char *path)
{
  CHECK (H5Lcreate_external ("/etc/passwd", "/", file, path, H5P_DEFAULT, H5P_DEFAULT) >= 0);
}

static void
write_link_around (hid_t file, const char *path)
{
  CHECK (H5Lcreate_external ("forged.h5", path, file, path, H5P_DEFAULT, H5P_DEFAULT) >= 0);
}

const ForgeWay forge_ways[] = {
  { "nothing", write_nothing },
  { "a text", write_text },
  { "a text of any length", write_endless_text },
  { "a number", write_number },
  { "records", write_record },
  { "no extent", write_no_extent },
  { "nine dimensions", write_many_dimensions },
  { "very many numbers", write_very_many },
  { "very many texts", write_very_many_texts },
  { "values of another file", write_elsewhere },
  { "an empty group", write_group },
  { "an empty group without order", write_group_without_order },
  { "a group within itself", write_circle },
  { "the whole file once more", write_whole },
  { "a link to itself", write_link_to_itself },
  { "a link to the root", write_link_up },
  { "a link to a text file", write_link_out },
  { "a link to itself by another file", write_link_around },
};

const guint forge_n_ways = G_N_ELEMENTS (forge_ways);
