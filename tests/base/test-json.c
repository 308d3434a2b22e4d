/* SPDX-License-Identifier: MIT */
#include "text/json-read.h"
#include "text/json.h"
#include "harness.h"

#include <math.h>
#include <string.h>

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

TEST_CASE (json, writes_members_of_every_type)
{
  g_autoptr (PlaitJson) json = plait_json_new_line ();
  const char *nothing = NULL;

  plait_json_begin_object (json, NULL);
  plait_json_members (json, "text=%s nothing=%s small=%jd large=%u size=%zu", "a=%d b", nothing, G_MININT64, G_MAXUINT,
                      (gsize)1 << 40);
  plait_json_object (json, "inner", "real=%g none=%g yes=%d no=%d", .1, NAN, TRUE, FALSE);
  plait_json_end_object (json);
  CHECK_STRING (plait_json_string (json),
                "{\"text\": \"a=%d b\", \"nothing\": null, \"small\": -9223372036854775808, \"large\": 4294967295, "
                "\"size\": 1099511627776, \"inner\": {\"real\": 0.1, \"none\": null, \"yes\": true, \"no\": false}}\n");
}

TEST_CASE (json, writes_lists)
{
  g_autoptr (PlaitJson) json = plait_json_new_line ();
  const char *const texts[] = { "a", NULL, "b" };

  plait_json_begin_object (json, NULL);
  plait_json_texts (json, "all", texts, 3);
  plait_json_texts (json, "first", texts, -1);
  plait_json_texts (json, "none", NULL, -1);
  plait_json_integers (json, "integers", (const gint64[]){ 3, -4 }, 2);
  plait_json_reals (json, "reals", (const double[]){ .5, NAN }, 2);
  plait_json_end_object (json);
  CHECK_STRING (plait_json_string (json), "{\"all\": [\"a\", null, \"b\"], \"first\": [\"a\"], \"none\": [], "
                                          "\"integers\": [3, -4], \"reals\": [0.5, null]}\n");
}

TEST_CASE (json, keeps_to_one_line)
{
  g_autoptr (PlaitJson) json = plait_json_new_line ();

  plait_json_begin_object (json, NULL);
  plait_json_text (json, "text", "a\nb");
  plait_json_begin_array (json, "items");
  plait_json_integer (json, NULL, 1);
  plait_json_integer (json, NULL, 2);
  plait_json_end_array (json);
  plait_json_begin_object (json, "none");
  plait_json_end_object (json);
  plait_json_end_object (json);
  CHECK_STRING (plait_json_string (json), "{\"text\": \"a\\u000ab\", \"items\": [1, 2], \"none\": {}}\n");
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

static json_t *
read_text (const char *text, GError **error)
{
  return plait_json_read_object (text, strlen (text), "file.json", error);
}

TEST_CASE (json, is_read)
{
  g_autoptr (json_t) json = read_text ("{\"a\": 1, \"\\u0120b\": [\"\\ud83d\\ude00\"], \"\": {}}", NO_ERROR);

  REQUIRE (json != NULL);
  CHECK_INT (json_object_size (json), 3);
  CHECK_INT (json_integer_value (json_object_get (json, "a")), 1);
  CHECK_STRING (json_string_value (json_array_get (json_object_get (json, "\u0120b"), 0)), "\U0001f600");
}

/* Refuses JSON that two readers could understand differently. */
TEST_CASE (json, is_refused_where_it_is_in_doubt)
{
  static const struct
  {
    const char *text, *said;
  } cases[] = {
    { "", "file.json:1: is not valid JSON" },
    { "{\n\"a\": 1,\n\"a\": 1}", "file.json:3: is not valid JSON (duplicate object key" },
    { "{\n\"a\": 1,}", "file.json:2:" },
    { "{\"a\": 1} {", "file.json:1:" },
    { "{\"a\": 1", "file.json:1:" },
    { "{\"a\": 9223372036854775808}", "too big integer" },
    { "{\"a\": 01}", "file.json:1:" },
    { "{\"a\": NaN}", "file.json:1:" },
    { "{\"a\": \"\\u0000\"}", "file.json:1:" },
    { "{\"a\": \"\\ud800\"}", "file.json:1:" },
    { "{\"a\": \"\xff\"}", "file.json:1:" },
    { "{\"a\": \"\xed\xa0\x80\"}", "file.json:1:" },
    { "\xef\xbb\xbf{}", "file.json:1:" },
    { "[1]", "file.json: is JSON, but not an object" },
    { "1", "file.json:1:" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (json_t) json = read_text (cases[i].text, &error);
      CONTEXT ("case %zu", i);

      CHECK (!json);
      CHECK_ERROR (error, PLAIT_ERROR_INPUT, cases[i].said);
    }
}

TEST_CASE (json, is_refused_where_it_nests_without_end)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GString) text = g_string_new ("{\"a\":");

  for (int i = 0; i < 100000; i++)
    g_string_append_c (text, '[');
  g_autoptr (json_t) json = read_text (text->str, &error);
  CHECK (!json);
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "maximum parsing depth reached");
}
