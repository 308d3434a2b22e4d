/* SPDX-License-Identifier: MIT */

/*
 * File driver through which libhdf5 accesses all files. The driver uses an open file descriptor. It checks the bytes
 * that it reads, unless the file is new, or another program has written or rewritten it (blocks.c). It hides write
 * errors: HDF5 1.10 does not close a file properly after a failed write (it retries the write at exit), so the driver
 * reports every write as successful.
 */
#include "hdf5/internal.h"

#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/memory.h"
#include "files/transfer.h"

/* Bytes of free address space that opening a file requires: a generous bound, since the metadata cache alone takes some
 * megabytes. */
#define MIN_FREE_MEMORY ((gsize)32 << 20)

typedef struct
{
  H5FD_t public; /* must be the first member: HDF5 casts the struct to H5FD_t */
  PlaitStoreBytes bytes;
  haddr_t end_allocated;
  haddr_t end_written;
} DriverFile;

/* HDF5 allocates file space for metadata in pieces of 64 KiB, the size of the hashed blocks in blocks.c. Therefore only
 * a few hashed blocks contain metadata. */
#define METADATA_BLOCK ((hsize_t)1 << 16)
#define CACHE_SIZE ((size_t)32 << 10) /* bytes of the metadata cache for reading */

static H5FD_t *
driver_open (const char *name, unsigned flags, hid_t access, haddr_t maximum)
{
  const PlaitStoreBytes *bytes = H5Pget_driver_info (access);
  struct stat status;
  if (!bytes || fstat (bytes->fd, &status) != 0)
    return NULL;
  DriverFile *file = g_new0 (DriverFile, 1);
  file->bytes = *bytes;
  file->end_written = (haddr_t)(bytes->blocks ? plait_store_blocks_end (bytes->blocks) : (gint64)status.st_size);
  return &file->public;
}

static herr_t
driver_close (H5FD_t *file)
{
  g_free (file); /* leave the descriptor open: it belongs to the PlaitStore */
  return 0;
}

static herr_t
driver_query (const H5FD_t *file, unsigned long *flags)
{
  if (flags)
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE
             | H5FD_FEAT_AGGREGATE_SMALLDATA;
  return 0;
}

static haddr_t
driver_get_end_allocated (const H5FD_t *file, H5FD_mem_t type)
{
  return ((const DriverFile *)file)->end_allocated;
}

static herr_t
driver_set_end_allocated (H5FD_t *file, H5FD_mem_t type, haddr_t address)
{
  ((DriverFile *)file)->end_allocated = address;
  return 0;
}

static haddr_t
driver_get_end_of_file (const H5FD_t *file, H5FD_mem_t type)
{
  return ((const DriverFile *)file)->end_written;
}

static herr_t
driver_read (H5FD_t *base, H5FD_mem_t type, hid_t transfer, haddr_t address, size_t size, void *buffer)
{
  DriverFile *file = (DriverFile *)base;

  if (file->bytes.blocks)
    return plait_store_blocks_read (file->bytes.blocks, (gint64)address, size, buffer) ? 0 : -1;
  gssize n = plait_read_at (file->bytes.fd, buffer, size, (gint64)address);
  if (n < 0)
    return -1;
  /* Allocated bytes that were never written read as zero. */
  memset ((char *)buffer + n, 0, size - (gsize)n);
  return 0;
}

static herr_t
driver_write (H5FD_t *base, H5FD_mem_t type, hid_t transfer, haddr_t address, size_t size, const void *buffer)
{
  DriverFile *file = (DriverFile *)base;

  if (type != H5FD_MEM_DRAW && file->bytes.metadata)
    plait_store_blocks_mark (file->bytes.metadata, (gint64)address, size);
  if (*file->bytes.failure == 0 && !plait_write_at (file->bytes.fd, buffer, size, (gint64)address))
    *file->bytes.failure = errno;
  file->end_written = MAX (file->end_written, address + size);
  return 0;
}

static herr_t
driver_truncate (H5FD_t *base, hid_t transfer, hbool_t closing)
{
  DriverFile *file = (DriverFile *)base;
  if (file->end_written == file->end_allocated)
    return 0;
  if (*file->bytes.failure == 0 && TEMP_FAILURE_RETRY (ftruncate (file->bytes.fd, (off_t)file->end_allocated)) != 0)
    *file->bytes.failure = errno;
  file->end_written = file->end_allocated;
  return 0;
}

static const H5FD_class_t driver_class = {
#if H5_VERSION_GE(1, 13, 0)
  .version = H5FD_CLASS_VERSION,
  .value = (H5FD_class_value_t)600, /* HDF5's own drivers have numbers below 256 */
#endif
  .name = "plait",
  .maxaddr = G_MAXINT64,
  .fc_degree = H5F_CLOSE_STRONG,
  .fapl_size = sizeof (PlaitStoreBytes),
  .open = driver_open,
  .close = driver_close,
  .query = driver_query,
  .get_eoa = driver_get_end_allocated,
  .set_eoa = driver_set_end_allocated,
  .get_eof = driver_get_end_of_file,
  .read = driver_read,
  .write = driver_write,
  .truncate = driver_truncate,
  .fl_map = H5FD_FLMAP_DICHOTOMY,
};

hid_t
plait_store_driver (void)
{
  return H5FDregister (&driver_class);
}

/* Limits the metadata cache, so that HDF5 reuses memory, which is faster than new memory from the system. A larger
 * cache would not help: a file is read from front to back, and objects are rarely read twice. */
static gboolean
set_small_cache (hid_t access)
{
  H5AC_cache_config_t cache = { .version = H5AC__CURR_CACHE_CONFIG_VERSION };

  if (H5Pget_mdc_config (access, &cache) < 0)
    return FALSE;
  cache.set_initial_size = TRUE;
  cache.initial_size = cache.min_size = cache.max_size = CACHE_SIZE;
  cache.incr_mode = H5C_incr__off;
  cache.flash_incr_mode = H5C_flash_incr__off;
  cache.decr_mode = H5C_decr__off;
  return H5Pset_mdc_config (access, &cache) >= 0;
}

hid_t
plait_store_access (hid_t driver, PlaitStoreBytes bytes)
{
  if (!plait_address_space_is_available (MIN_FREE_MEMORY))
    {
      *bytes.failure = ENOMEM;
      return -1;
    }
  hid_t access = H5Pcreate (H5P_FILE_ACCESS);
  if (driver < 0 || access < 0 || H5Pset_driver (access, driver, &bytes) < 0
      || H5Pset_fclose_degree (access, H5F_CLOSE_STRONG) < 0 || H5Pset_meta_block_size (access, METADATA_BLOCK) < 0
      || (!bytes.metadata && !set_small_cache (access)))
    {
      store_id_release (access);
      return -1;
    }
  return access;
}
