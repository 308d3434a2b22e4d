/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "call.h"
#include "harness.h"

/* plait check. What it holds plugins to is tested in tests/contract, and what fails in tests/plugin/outside.py too. */

TEST_CASE (check_command, prints_a_line_a_property)
{
  g_auto (PlaitTestCall) call = CALL ("check", "word", "--property", "missing", "--property", "structure");

  CHECK_INT (call.code, 0);
  CHECK_STRING (call.errors, "");
  CHECK (g_str_has_prefix (call.output, "coverage/word  "));
  CHECK_CONTAINS (call.output, "\n  structure  not applicable  encoders alone give memories\n");
  CHECK_CONTAINS (call.output, "\n  missing    passed          in 9 models\n");
  CHECK_CONTAINS (call.output, "\n1 passed, 0 failed, 1 not applicable\n");
}

TEST_CASE (check_command, prints_json)
{
  g_auto (PlaitTestCall) call = CALL ("check", "encoder/features", "--property", "batches", "--json");

  CHECK_INT (call.code, 0);
  CHECK_CONTAINS (call.output, "\"kind\": \"encoder\"");
  CHECK_CONTAINS (call.output, "\"name\": \"batches\"");
  CHECK_CONTAINS (call.output, "\"outcome\": \"passed\"");
  CHECK_CONTAINS (call.output, "\"failed\": 0");
  CHECK (!strstr (call.output, "gradients"));
}

TEST_CASE (check_command, refuses)
{
  const struct
  {
    PlaitTestCall call;
    const char *part;
  } cases[] = {
    { CALL ("check"), "an argument is missing; usage: plait check PLUGIN" },
    { CALL ("check", "serail"), "there is no plugin \"serail\"; did you mean \"serial\"?" },
    { CALL ("check", "train"), "there is no plugin \"train\"" },
    { CALL ("check", "coverage/serial"), "there is no plugin \"coverage/serial\"" },
    { CALL ("check", "serial", "--property", "gradient"), "\"gradient\" is no property; did you mean gradients?" },
    { CALL ("check", "serial", "--property", "colour"),
      "\"colour\" is no property; expected one of structure, runs, " },
    { CALL ("check", "serial", "--seconds", "0"), "--seconds" },
    { CALL ("check", "serial", "--seconds", "soon"), "--seconds" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      CONTEXT ("case %u", i);
      g_auto (PlaitTestCall) call = cases[i].call;

      plait_test_check_refused (&call, cases[i].part);
    }
}
