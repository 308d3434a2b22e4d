/* SPDX-License-Identifier: MIT */
#include "files/file-stamp.h"

#include <sys/stat.h>

static PlaitFileStamp
stamp_of (const struct stat *status)
{
  return (PlaitFileStamp){
    .device = status->st_dev,
    .number = status->st_ino,
    .size = status->st_size,
    .written = status->st_mtim,
    .changed = status->st_ctim,
  };
}

PlaitFileStamp
plait_file_stamp (const char *path)
{
  struct stat status;

  return stat (path, &status) == 0 ? stamp_of (&status) : (PlaitFileStamp){ 0 };
}

PlaitFileStamp
plait_file_stamp_open (int descriptor)
{
  struct stat status;

  return fstat (descriptor, &status) == 0 ? stamp_of (&status) : (PlaitFileStamp){ 0 };
}

static gboolean
is_same_time (const struct timespec *a, const struct timespec *b)
{
  return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

gboolean
plait_file_stamp_matches (const PlaitFileStamp *now, const PlaitFileStamp *before)
{
  return now->device == before->device && now->number == before->number && now->size == before->size
         && is_same_time (&now->written, &before->written);
}

gboolean
plait_file_stamp_check (const PlaitFileStamp *stamp, const char *path, GError **error)
{
  PlaitFileStamp now = plait_file_stamp (path);

  /* A program that writes the file can restore the old mtime, but not the old ctime (time of change). */
  return (plait_file_stamp_matches (&now, stamp) && is_same_time (&now.changed, &stamp->changed))
         || plait_fail (
             error, PLAIT_ERROR_INPUT,
             "%s: the file %s while it was in use; restore the old file to continue, or run the command again", path,
             now.number == 0 ? "was removed" : "has been changed");
}
