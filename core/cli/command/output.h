/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdio.h>

#include "text/error.h"
#include "files/file.h"

/*
 * What commands write. No command replaces a file that was there before it, unless told by --force:
 * plait_file_check_new (files/file.h) says so before any work is done, and what comes to be there in the meantime stays
 * as well.
 */

/* TRUE if the file @output, which @option names, is another one than @input, which the command reads, or than another
 * output. Either may be NULL. PLAIT_ERROR_INPUT if both are one file: writing it would lose what is there. */
gboolean plait_output_differs (const char *option, const char *output, const char *input, GError **error);

/* TRUE if @folder, which --output names, has none of the files @names, or if @force. */
gboolean plait_output_check_folder (const char *folder, const char *const *names, gboolean force, GError **error);

/* Text that a command writes: to standard output, or to a file that is put in place when all of it is there. */
typedef struct
{
  FILE *stream;    /* to write to; its errors are found when the output is committed */
  PlaitFile *file; /* NULL: standard output */
} PlaitOutput;

/* NULL for @path is standard output. As plait_file_begin fails. */
gboolean plait_output_begin (PlaitOutput *output, const char *path, GError **error);

/* Puts the file in place. FALSE with PLAIT_ERROR_FAILED if something could not be written: then what was there stays.
 * (Whether standard output took everything is looked at when the program ends.) */
gboolean plait_output_commit (PlaitOutput *output, GError **error);

/* Lets go of what was not committed. */
void plait_output_abandon (PlaitOutput *output);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (PlaitOutput, plait_output_abandon)
