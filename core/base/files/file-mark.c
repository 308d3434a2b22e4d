/* SPDX-License-Identifier: MIT */
#include "files/file-mark.h"

#include <sys/stat.h>

static PlaitFileMark
mark_of (const struct stat *status)
{
  return (PlaitFileMark){
    .device = status->st_dev,
    .number = status->st_ino,
    .size = status->st_size,
    .written = status->st_mtim,
    .changed = status->st_ctim,
  };
}

PlaitFileMark
plait_file_mark (const char *path)
{
  struct stat status;

  return stat (path, &status) == 0 ? mark_of (&status) : (PlaitFileMark){ 0 };
}

PlaitFileMark
plait_file_mark_open (int descriptor)
{
  struct stat status;

  return fstat (descriptor, &status) == 0 ? mark_of (&status) : (PlaitFileMark){ 0 };
}

static gboolean
is_same_time (const struct timespec *a, const struct timespec *b)
{
  return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

gboolean
plait_file_mark_is (const PlaitFileMark *now, const PlaitFileMark *before)
{
  return now->device == before->device && now->number == before->number && now->size == before->size
         && is_same_time (&now->written, &before->written);
}

gboolean
plait_file_mark_check (const PlaitFileMark *mark, const char *path, GError **error)
{
  PlaitFileMark now = plait_file_mark (path);

  /* Whoever restores the time of writing changes that of the last change. */
  if (plait_file_mark_is (&now, mark) && is_same_time (&now.changed, &mark->changed))
    return TRUE;
  return plait_fail (
      error, PLAIT_ERROR_INPUT,
      "%s: the file %s while it was in use; put the old one back to go on, or begin anew with the new one", path,
      now.number == 0 ? "was removed" : "has been changed");
}
