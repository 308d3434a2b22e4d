/* SPDX-License-Identifier: MIT */
#pragma once

#include <time.h>

#include "text/error.h"

/* Identity, size and times of a file, to detect changes without reading the file. */
typedef struct
{
  guint64 device;
  guint64 number; /* inode of the file; 0 if there was no file */
  gint64 size;
  struct timespec written;
  struct timespec changed; /* time of the last change of content, owner, mode or link count (ctime) */
} PlaitFileStamp;

/* Returns the stamp of the file at @path, or of the target if @path is a link; all zeros if the file cannot be
 * reached. */
PlaitFileStamp plait_file_stamp (const char *path);

/* Returns the stamp of the file open as @descriptor. */
PlaitFileStamp plait_file_stamp_open (int descriptor);

/* TRUE if device, inode, size and time of writing (mtime) of the stamps are equal, also if both stamps are all zeros.
 * Changes of mode and name are ignored. A program can restore the mtime after writing. */
gboolean plait_file_stamp_matches (const PlaitFileStamp *now, const PlaitFileStamp *before);

/* TRUE if the file at @path is unchanged since @stamp was made, also in mode, owner and link count; else FALSE with
 * PLAIT_ERROR_INPUT. */
gboolean plait_file_stamp_check (const PlaitFileStamp *stamp, const char *path, GError **error);
