/* SPDX-License-Identifier: MIT */
#include "process/program.h"
#include "harness.h"

/* Makes a call of the shell that runs @script_. */
#define SHELL(script_, ...)                                                                                            \
  ((PlaitProgramCall){ .words = (const char *const[]){ "sh", "-c", script_, NULL }, __VA_ARGS__ })

TEST_CASE (program, reads_what_it_is_given_and_answers)
{
  const PlaitProgramCall call = SHELL ("cat; echo 'no\377t UTF-8' >&2", .seconds = 60, .input = "one\ntwo\n");
  g_auto (PlaitProgramResult) answer = { 0 };

  CHECK (plait_program_call (&call, &answer, NO_ERROR));
  CHECK_INT (answer.end, PLAIT_PROGRAM_DONE);
  CHECK_STRING (answer.output, "one\ntwo\n");
  CHECK_STRING (answer.errors, "no\357\277\275t UTF-8\n");
}

TEST_CASE (program, tells_how_it_ended)
{
  static const struct
  {
    const char *script;
    PlaitProgramOutcome end;
  } cases[] = {
    { "exit 0", PLAIT_PROGRAM_DONE },
    { "exit 3", PLAIT_PROGRAM_FAILED },
    { "kill -9 $$", PLAIT_PROGRAM_FAILED },
    { "while :; do echo 0123456789; done", PLAIT_PROGRAM_OVERFLOWED }, /* never ends */
    { "while :; do echo 0123456789 >&2; done", PLAIT_PROGRAM_OVERFLOWED },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const PlaitProgramCall call = SHELL (cases[i].script, .seconds = 60);
      g_auto (PlaitProgramResult) answer = { 0 };

      CONTEXT ("%s", cases[i].script);
      CHECK (plait_program_call (&call, &answer, NULL));
      CHECK_INT (answer.end, cases[i].end);
    }
}

/* The caller does not wait for a program that hangs, nor for a child that outlives its program. */
TEST_CASE (program, waits_for_nobody_beyond_its_time)
{
  const PlaitProgramCall hangs = SHELL ("sleep 600; true", .seconds = 1);
  const PlaitProgramCall leaves = SHELL ("sleep 600 & echo $!", .seconds = 60);
  g_auto (PlaitProgramResult) late = { 0 }, left = { 0 };

  CHECK (plait_program_call (&hangs, &late, NULL));
  CHECK_INT (late.end, PLAIT_PROGRAM_TIMED_OUT);
  CHECK (plait_program_call (&leaves, &left, NULL));
  CHECK_INT (left.end, PLAIT_PROGRAM_DONE);
  const PlaitProgramCall end = SHELL (plait_test_format ("kill %s", left.output), .seconds = 60);
  g_auto (PlaitProgramResult) ended = { 0 };
  CHECK (plait_program_call (&end, &ended, NULL) && ended.end == PLAIT_PROGRAM_DONE);
}

TEST_CASE (program, is_ended_by_the_flag)
{
  const gint stop = 1;
  const PlaitProgramCall call = SHELL ("sleep 600", .seconds = 60, .stop = &stop);
  const PlaitProgramCall absent = { .words = (const char *const[]){ "/nowhere/program", NULL }, .seconds = 60 };
  g_auto (PlaitProgramResult) answer = { 0 }, none = { 0 };
  g_autoptr (GError) error = NULL;

  CHECK (!plait_program_call (&call, &answer, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INTERRUPTED, "interrupted while sh ran");
  CHECK (!plait_program_call (&absent, &none, &error));
  CHECK_ERROR (error, PLAIT_ERROR_FAILED, "/nowhere/program: this program cannot be run (");
}
