/* SPDX-License-Identifier: MIT */
#pragma once

#include "call.h"
#include "harness.h"

/*
 * Calls of plait with bad input, and checks of the answers.
 */

/* Starts plait with the words of @command, separated by blanks, or plait-bench if that is the first word. @settings may
 * be NULL. */
PlaitTestProcess attempt_start (const char *command, const PlaitTestCallSettings *settings);

PlaitTestCall attempt_with (const char *command, const PlaitTestCallSettings *settings);

#define ATTEMPT(command) attempt_with ((command), NULL)

/* Checks that the call ended with @code and one error that a person can read, which contains all of @parts (separated
 * by '|'), and without a sign of a crash. */
void attempt_check (const PlaitTestCall *attempt, int code, const char *parts);

/* Calls plait, checks the answer like attempt_check, and checks that the test's folder has not changed. */
void attempt_refused_with (const char *command, const PlaitTestCallSettings *settings, int code, const char *parts);

#define REFUSED(command, parts) attempt_refused_with ((command), NULL, 2, (parts))

/* Checks a call like attempt_refused_with with code 2, but accepts success too, since the damaged file may be valid. */
void attempt_refused_or_done (const char *command, const PlaitTestCallSettings *settings, const char *parts);

/* Returns the names, kinds and contents of all files in the test's folder. (transfer full) */
char *attempt_folder (void);
