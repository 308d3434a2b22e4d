/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/*
 * The built command as a user calls it.
 */
typedef struct
{
  int code; /* exit code; -1: it did not end by itself */
  char *output;
  char *errors;
} PlaitTestCall;

void plait_test_call_clear (PlaitTestCall *call);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (PlaitTestCall, plait_test_call_clear)

/* Runs plait with @arguments (NULL-terminated) in the test's folder, @input on its standard input (NULL: empty), with
 * nobody's plugins but the build's. */
PlaitTestCall plait_test_call (const char *input, const char *const *arguments);

/* The same of another program of the build, such as plait-bench. */
PlaitTestCall plait_test_call_program (const char *program, const char *const *arguments);

/* The same, with PLAIT_PLUGIN_PATH set to @plugin_path. */
PlaitTestCall plait_test_call_with_plugins (const char *plugin_path, const char *const *arguments);

/* The same on a terminal of @columns columns; output and errors come together. */
PlaitTestCall plait_test_call_on_terminal (guint columns, const char *const *arguments);

#define CALL(...) plait_test_call (NULL, (const char *[]){ __VA_ARGS__, NULL })

/* The call ended with code 2, said nothing on stdout, and one line with @part in it on stderr. */
void plait_test_check_refused (const PlaitTestCall *call, const char *part);

/* Writes @text as the file @name of the test's folder. */
void plait_test_write (const char *name, const char *text);
