/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdio.h>

#include "text/error.h"
#include "files/file.h"

/*
 * Output files of commands.
 *
 * A file that existed before the command started is replaced by an output file only with --force or, for plait run,
 * --resume. plait_file_check_new() (files/file.h) reports such a file before any work is done. plait_file_commit() also
 * refuses to replace a file that another program has made or changed since plait_file_begin().
 */

/* TRUE if @output and @input are different files. @option is the option that names @output. @input is a file that the
 * command reads, or another file that it writes. Either may be NULL. If both name one file, fails with
 * PLAIT_ERROR_INPUT, since writing @output would destroy @input. */
gboolean plait_output_differs (const char *option, const char *output, const char *input, GError **error);

/* Text output of a command: standard output, or a file that appears under its name only when it is complete. */
typedef struct
{
  FILE *stream;    /* stream to write to; plait_output_commit() reports write errors of a file */
  PlaitFile *file; /* temporary file that is renamed in the end; NULL: standard output */
} PlaitOutput;

/* Opens the file @path; NULL: standard output. Fails like plait_file_begin(). */
gboolean plait_output_begin (PlaitOutput *output, const char *path, GError **error);

/* Renames the finished file to its path. Fails like plait_file_commit(), which leaves an older file unchanged. Standard
 * output never fails here: its write errors are reported at the end of the program. */
gboolean plait_output_commit (PlaitOutput *output, GError **error);

/* Deletes the temporary file if the output was not committed. */
void plait_output_abandon (PlaitOutput *output);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (PlaitOutput, plait_output_abandon)
