/* SPDX-License-Identifier: MIT */
#include "base/json.h"
#include "harness.h"

#include <math.h>

TEST_CASE (json, nests)
{
  g_autoptr (PlaitJson) json = plait_json_new ();

  plait_json_begin_object (json, NULL);
  plait_json_text (json, "text", "a");
  plait_json_begin_array (json, "items");
  plait_json_integer (json, NULL, G_MININT64);
  plait_json_begin_object (json, NULL);
  plait_json_end_object (json);
  plait_json_boolean (json, NULL, TRUE);
  plait_json_end_array (json);
  plait_json_begin_array (json, "none");
  plait_json_end_array (json);
  plait_json_end_object (json);
  CHECK_STRING (plait_json_string (json), "{\n"
                                          "  \"text\": \"a\",\n"
                                          "  \"items\": [\n"
                                          "    -9223372036854775808,\n"
                                          "    {},\n"
                                          "    true\n"
                                          "  ],\n"
                                          "  \"none\": []\n"
                                          "}\n");
}

TEST_CASE (json, takes_another_document)
{
  g_autoptr (PlaitJson) inner = plait_json_new (), outer = plait_json_new ();

  plait_json_begin_object (inner, NULL);
  plait_json_integer (inner, "a", 1);
  plait_json_end_object (inner);
  plait_json_begin_object (outer, NULL);
  plait_json_document (outer, "inner", plait_json_string (inner));
  plait_json_document (outer, "again", plait_json_string (inner));
  plait_json_end_object (outer);
  CHECK_STRING (plait_json_string (outer), "{\n"
                                           "  \"inner\": {\n"
                                           "    \"a\": 1\n"
                                           "  },\n"
                                           "  \"again\": {\n"
                                           "    \"a\": 1\n"
                                           "  }\n"
                                           "}\n");
}

TEST_CASE (json, escapes)
{
  g_autoptr (PlaitJson) json = plait_json_new ();

  plait_json_begin_object (json, NULL);
  plait_json_text (json, "\"\\", "\n\x01é\xff\x7f\xc2\x9b\u2028\u202e\u2066");
  plait_json_text (json, "nothing", NULL);
  plait_json_end_object (json);
  CHECK_STRING (plait_json_string (json),
                "{\n"
                "  \"\\\"\\\\\": \"\\u000a\\u0001é\ufffd\\u007f\\u009b\\u2028\\u202e\\u2066\",\n"
                "  \"nothing\": null\n"
                "}\n");
}

TEST_CASE (json, numbers_keep_their_bits)
{
  g_autoptr (PlaitJson) json = plait_json_new ();

  plait_json_begin_array (json, NULL);
  plait_json_real (json, NULL, 0.1 + 0.2);
  plait_json_real (json, NULL, -1e300);
  plait_json_real (json, NULL, NAN);
  plait_json_real (json, NULL, INFINITY);
  plait_json_end_array (json);
  CHECK_STRING (plait_json_string (json), "[\n  0.30000000000000004,\n  -1e+300,\n  null,\n  null\n]\n");
}
