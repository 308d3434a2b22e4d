/* SPDX-License-Identifier: MIT */
#include "files/problems.h"
#include "harness.h"

#include <string.h>

TEST_CASE (problems, none_is_no_error)
{
  g_autoptr (PlaitProblems) problems = plait_problems_new ();

  CHECK (plait_problems_report (problems, PLAIT_ERROR_INPUT, NO_ERROR));
}

TEST_CASE (problems, all_in_one)
{
  g_autoptr (PlaitProblems) problems = plait_problems_new ();
  g_autoptr (GError) error = NULL;

  plait_problems_add (problems, "one %d", 1);
  plait_fail (&error, PLAIT_ERROR_INPUT, "two 100%%");
  plait_problems_add_error (problems, g_steal_pointer (&error));
  CHECK_INT (plait_problems_count (problems), 2);
  CHECK (!plait_problems_report (problems, PLAIT_ERROR_PLUGIN, &error));
  REQUIRE (error != NULL);
  CHECK_STRING (error->message, "one 1\ntwo 100%");
  CHECK_ERROR (error, PLAIT_ERROR_PLUGIN, "one 1");
}

TEST_CASE (problems, the_list_is_bounded)
{
  g_autoptr (PlaitProblems) problems = plait_problems_new ();
  g_autoptr (GError) error = NULL;

  for (int i = 0; i < 100000; i++)
    plait_problems_add (problems, "problem %d", i);
  CHECK (!plait_problems_report (problems, PLAIT_ERROR_INPUT, &error));
  REQUIRE (error != NULL);
  CHECK (!strstr (error->message, "problem 100\n"));
  CHECK_CONTAINS (error->message, "problem 99\n");
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "\nand 99900 more problems");
}
