/* SPDX-License-Identifier: MIT */
#pragma once

#include <time.h>

#include "text/error.h"

/*
 * What tells, without reading it, whether a file is still the one that was seen.
 */
typedef struct
{
  guint64 device;
  guint64 number; /* of the file on its device; 0: there was none */
  gint64 size;
  struct timespec written;
  struct timespec changed; /* also its owner, mode and links */
} PlaitFileStamp;

/* The mark of the file at @path, links followed; of no file where none can be reached. */
PlaitFileStamp plait_file_stamp (const char *path);

/* The mark of the file that is open as @descriptor. */
PlaitFileStamp plait_file_stamp_open (int descriptor);

/* TRUE if @now is the file of @before, and nothing was written to it since. A new mode or name does not count. */
gboolean plait_file_stamp_matches (const PlaitFileStamp *now, const PlaitFileStamp *before);

/* TRUE if what is at @path is as it was when it was marked; nothing at all may have been done to it. PLAIT_ERROR_INPUT
 * if not. */
gboolean plait_file_stamp_check (const PlaitFileStamp *stamp, const char *path, GError **error);
