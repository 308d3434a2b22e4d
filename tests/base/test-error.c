/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "harness.h"

static const char *const names[] = { "learning-rate", "layers", "heads", "width", "seed", "encoder", "decoder", NULL };

TEST_CASE (error, fails_with_a_message)
{
  g_autoptr (GError) error = NULL;

  CHECK (!plait_fail (&error, PLAIT_ERROR_INPUT, "%s:%d: no", "a.ini", 3));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "a.ini:3: no");
  CHECK (!plait_fail (NULL, PLAIT_ERROR_INPUT, "nobody listens"));
}

TEST_CASE (error, nearest_name_of_a_slip)
{
  CHECK_STRING (plait_nearest_name ("layer", names), "layers");
  CHECK_STRING (plait_nearest_name ("laeyrs", names), "layers");
  CHECK_STRING (plait_nearest_name ("learning_rate", names), "learning-rate");
  CHECK_STRING (plait_nearest_name ("learningrate", names), "learning-rate");
  CHECK_STRING (plait_nearest_name ("Width", names), "width");
  /* A swap of neighbours is one slip, not two. */
  CHECK_STRING (plait_nearest_name ("sede", names), "seed");
  /* The first of the equally near. */
  CHECK_STRING (plait_nearest_name ("eecoder", names), "encoder");
}

TEST_CASE (error, nearest_name_of_something_else)
{
  g_autofree char *endless = g_strnfill (1000, 'x');
  const char *const endless_names[] = { endless, NULL };
  const char *const none[] = { NULL };

  CHECK_STRING (plait_nearest_name ("dropout", names), NULL);
  CHECK_STRING (plait_nearest_name ("", names), NULL);
  CHECK_STRING (plait_nearest_name ("x", names), NULL);
  CHECK_STRING (plait_nearest_name (endless, names), NULL);
  CHECK_STRING (plait_nearest_name ("x", endless_names), NULL);
  CHECK_STRING (plait_nearest_name ("layers", none), NULL);
}
