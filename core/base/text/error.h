/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdarg.h>

#include "types/export.h"

/*
 * Errors of every floor.
 *
 * A function that can fail on input takes a GError ** last and returns FALSE or NULL. A message is one sentence that
 * names the thing, the value, what was expected and what to do; where a file is at fault it begins "FILE:LINE: ".
 */
#define PLAIT_ERROR (plait_error_quark ())

typedef enum
{
  PLAIT_ERROR_INPUT,       /* what a user handed over is wrong: exit code 2 */
  PLAIT_ERROR_FAILED,      /* the system refused (disk full, no memory, ...): exit code 1 */
  PLAIT_ERROR_CORRUPT,     /* a file of our own fails its digest, or a foreign one its trial: exit code 2 */
  PLAIT_ERROR_PLUGIN,      /* a plugin or its schema is refused: exit code 2 */
  PLAIT_ERROR_MEMORY,      /* a step does not fit into the memory allowed: exit code 1 */
  PLAIT_ERROR_INTERRUPTED, /* stopped by a signal after a checkpoint was written: exit code 130 */
} PlaitErrorCode;

PLAIT_API GQuark plait_error_quark (void);

/* Sets *error with printf formatting and returns FALSE, so that "return plait_fail (error, ...)" reads well. */
PLAIT_API gboolean plait_fail (GError **error, PlaitErrorCode code, const char *format, ...) G_GNUC_PRINTF (3, 4);

/* The same for functions that return a pointer: returns NULL. */
PLAIT_API gpointer plait_fail_null (GError **error, PlaitErrorCode code, const char *format, ...) G_GNUC_PRINTF (3, 4);

/* The text of an error, formatted, in valid UTF-8 whatever was quoted in it. Where input blew a line of it up beyond
 * 1000 bytes, the middle of the line is left out: its beginning names the place, its end the remedy. (transfer full) */
char *plait_message (const char *format, va_list arguments) G_GNUC_PRINTF (1, 0);

/* TRUE where *@fault is NULL; else moves it to *@error. For calls that tell failure by their GError alone. */
gboolean plait_no_error (GError **fault, GError **error);

/* The name among @names (NULL-terminated) nearest to @wanted: a slip, or else one of which @wanted is a part or that is
 * a part of it. NULL if there is none. (transfer none) */
const char *plait_nearest_name (const char *wanted, const char *const *names);

/* How a message about @wanted, which is none of @names (NULL-terminated), ends: "did you mean "NEAREST"?" if one is
 * near enough to be a slip; else @otherwise, or if that is NULL "expected one of A, B, C". (transfer full) */
char *plait_name_remedy (const char *wanted, const char *const *names, const char *otherwise);
