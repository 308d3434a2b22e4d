/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/types.h>

#include "harness.h"

/*
 * The built command on bad input: calls of it, and what has to hold of each.
 */
typedef struct
{
  const char *input;  /* file on standard input, NULL for an empty one */
  const char *output; /* file that takes standard output, such as "/dev/full"; NULL to keep it */
  guint64 memory;  /* limit of address space in bytes, 0 for none; not under AddressSanitizer, which takes terabytes */
  gboolean closed; /* no standard stream is open; what is said to them is not kept */
  gboolean alone;  /* no further process or thread may be started */
  guint64 file_size; /* limit of any file in bytes, 0 for none: a disk that is full */
} AttemptLimits;

/* A call of plait that goes on. */
typedef struct
{
  pid_t process;
  int output;
  int errors;
  GString *output_text;
  GString *errors_text;
} AttemptProcess;

/* A call that has ended. */
typedef struct
{
  int code; /* exit code, or minus the signal that ended it; a call that does not end is ended with SIGKILL */
  char *output;
  char *errors;
} Attempt;

void attempt_clear (Attempt *attempt);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Attempt, attempt_clear)

/* Starts plait in the test's folder with the words of @command, separated by blanks; plait-bench if that is the first
 * word. @limits may be NULL. */
AttemptProcess attempt_start (const char *command, const AttemptLimits *limits);

/* Waits for its end. */
Attempt attempt_end (AttemptProcess *process);

/* Waits until it has written @part to stderr, for a bounded time. Returns whether it has. */
gboolean attempt_await (AttemptProcess *process, const char *part);

Attempt attempt_with (const char *command, const AttemptLimits *limits);

#define ATTEMPT(command) attempt_with ((command), NULL)

/* The call ended with @code and one error for a person to read, whose sentence has all of @parts (parted by '|') in it;
 * no sign of a crash. */
void attempt_check (const Attempt *attempt, int code, const char *parts);

/* Calls plait and checks the answer as above, and that the test's folder is just as it was. */
void attempt_refused_with (const char *command, const AttemptLimits *limits, int code, const char *parts);

#define REFUSED(command, parts) attempt_refused_with ((command), NULL, 2, (parts))

/* As REFUSED, but the call may also succeed (the spoilt file happens to be sound); then what it writes is removed. */
void attempt_refused_or_done (const char *command, const char *parts);

/* Names, kinds and contents of all in the test's folder. (transfer full) */
char *attempt_folder (void);
