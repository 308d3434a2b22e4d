/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdarg.h>

#include "types/export.h"

/*
 * Errors of all floors.
 *
 * A function that can fail because of its input takes a GError ** last and returns FALSE or NULL. A message is one
 * sentence: the thing, the value, what was expected and what to do. If a file is at fault, the message begins with
 * "FILE:LINE: ".
 */
#define PLAIT_ERROR (plait_error_quark ())

typedef enum
{
  PLAIT_ERROR_INPUT,   /* wrong input of the user: exit code 2 */
  PLAIT_ERROR_FAILED,  /* failure other than wrong input (disk full, no memory, failed check, ...): exit code 1 */
  PLAIT_ERROR_CORRUPT, /* the digest of a file of plait is wrong, or a foreign file fails in the sandbox: exit code 2 */
  PLAIT_ERROR_PLUGIN,  /* a plugin or its schema is refused: exit code 2 */
  PLAIT_ERROR_MEMORY,  /* a step does not fit into the allowed memory: exit code 1 */
  PLAIT_ERROR_INTERRUPTED, /* stopped by a signal: exit code 130 */
} PlaitErrorCode;

PLAIT_API GQuark plait_error_quark (void);

/* Sets *error with printf formatting and returns FALSE, so that a function can end with "return plait_fail (error,
 * ...)". */
PLAIT_API gboolean plait_fail (GError **error, PlaitErrorCode code, const char *format, ...) G_GNUC_PRINTF (3, 4);

/* Sets *error with printf formatting and returns NULL, for functions that return a pointer. */
PLAIT_API gpointer plait_fail_null (GError **error, PlaitErrorCode code, const char *format, ...) G_GNUC_PRINTF (3, 4);

/* Returns the code of the error of a system call that failed with errno @problem: PLAIT_ERROR_FAILED if memory, file
 * descriptors or space are exhausted or a device fails; else PLAIT_ERROR_INPUT. */
PlaitErrorCode plait_error_code (int problem);

/* Returns the formatted text of an error as valid UTF-8, even if the arguments are not. In a line longer than 1000
 * bytes the middle is left out, because its beginning names the place and its end the remedy. (transfer full) */
char *plait_message (const char *format, va_list arguments) G_GNUC_PRINTF (1, 0);

/* TRUE if *@fault is NULL; else moves *@fault to *@error. For functions that report failure by their GError only. */
gboolean plait_no_error (GError **fault, GError **error);

/* Returns the name in @names (NULL-terminated) that is similar to @wanted: the two differ by a typing error; else one
 * is a long prefix or suffix of the other. NULL if no name is similar. (transfer none) */
const char *plait_nearest_name (const char *wanted, const char *const *names);

/* Returns the end of a message about @wanted, which is not in @names (NULL-terminated): "did you mean "NEAREST"?" if a
 * name is similar (plait_nearest_name); else @otherwise; or, if @otherwise is NULL, "expected one of A, B, C", or
 * "there is none" if @names is empty. (transfer full) */
char *plait_name_remedy (const char *wanted, const char *const *names, const char *otherwise);
