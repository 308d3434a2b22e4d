/* SPDX-License-Identifier: MIT */
#pragma once

#include "call.h"
#include "harness.h"

/*
 * Calls of plait with bad input, and checks of its answers.
 */

/* Starts plait with the words of @command, which are separated by blanks; if the first word is plait-bench, starts
 * plait-bench. @settings may be NULL. */
PlaitTestProcess attempt_start (const char *command, const PlaitTestCallSettings *settings);

PlaitTestCall attempt_with (const char *command, const PlaitTestCallSettings *settings);

#define ATTEMPT(command) attempt_with ((command), NULL)

/* Checks that the call ended with @code and one short, readable error that contains all of @parts (separated by '|'),
 * and that stderr does not show a crash. */
void attempt_check (const PlaitTestCall *attempt, int code, const char *parts);

/* Calls plait and checks the answer as attempt_check() does. Also checks that the test's folder has not changed. */
void attempt_refused_with (const char *command, const PlaitTestCallSettings *settings, int code, const char *parts);

#define REFUSED(command, parts) attempt_refused_with ((command), NULL, 2, (parts))

/* Checks a call as attempt_refused_with() does with code 2. Also accepts success, since a damaged file may still be
 * valid. */
void attempt_refused_or_done (const char *command, const PlaitTestCallSettings *settings, const char *parts);

/* Returns a text with the names, kinds and hashes of all files in the test's folder. (transfer full) */
char *attempt_folder (void);
