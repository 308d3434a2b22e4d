/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/error.h"

/*
 * Keeps a command from overwriting its own input files. plait_file_open and plait_text_reader_open_pipe register each
 * input. Replaced files and folders (files/file.h, files/folder.h) and the training log are checked. Files are compared
 * by device, inode, size and time of writing, so links are found, too. Inactive until plait_input_guard_enable.
 */

/* Activates the guard. */
void plait_input_guard_enable (void);

/* Registers the open file @descriptor as an input; messages call it @name. */
void plait_input_guard_add (int descriptor, const char *name);

/* Allows this process to replace the file @path even if the file is one of its inputs. */
void plait_input_guard_allow (const char *path);

/* TRUE if the file @path may be written: it is not a registered input, or it is allowed. Messages call it @name. */
gboolean plait_input_guard_check (const char *path, const char *name, GError **error);
