/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/error.h"

/*
 * Files that a command reads, which none of its outputs may replace: plait_file_open and plait_text_reader_open_pipe
 * note each, and plait_file_begin and plait_file_commit ask. A file is known by device and number, so by links too, as
 * long as nothing was written to it. Nothing is noted before plait_input_guard_enable.
 */

/* From now on files that are read are not replaced. */
void plait_input_guard_enable (void);

/* Notes that the file that is open as @descriptor is read; @name is what messages call it. */
void plait_input_guard_add (int descriptor, const char *name);

/* Notes that this process replaces the file @path by design, having read it. */
void plait_input_guard_allow (const char *path);

/* TRUE unless @path, which messages call @name, is a file that was noted, and not this process's own. */
gboolean plait_input_guard_check (const char *path, const char *name, GError **error);
