/* SPDX-License-Identifier: MIT */
#pragma once

#include "call.h"
#include "harness.h"

/*
 * Calls of plait on bad input, and what has to hold of each.
 */

/* Begins a call of plait with the words of @command, which stand between blanks; of plait-bench if that is the first
 * word. @settings may be NULL. */
PlaitTestProcess attempt_start (const char *command, const PlaitTestCallSettings *settings);

PlaitTestCall attempt_with (const char *command, const PlaitTestCallSettings *settings);

#define ATTEMPT(command) attempt_with ((command), NULL)

/* The call ended with @code and one error for a person to read, whose sentence has all of @parts (parted by '|') in it;
 * no sign of a crash. */
void attempt_check (const PlaitTestCall *attempt, int code, const char *parts);

/* Calls plait and checks the answer as above, and that the test's folder is just as it was. */
void attempt_refused_with (const char *command, const PlaitTestCallSettings *settings, int code, const char *parts);

#define REFUSED(command, parts) attempt_refused_with ((command), NULL, 2, (parts))

/* As attempt_refused_with and code 2, except that the call may succeed, because the spoilt file happens to be sound. */
void attempt_refused_or_done (const char *command, const PlaitTestCallSettings *settings, const char *parts);

/* Names, kinds and contents of all in the test's folder. (transfer full) */
char *attempt_folder (void);
