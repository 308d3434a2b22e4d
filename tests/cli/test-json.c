/* SPDX-License-Identifier: MIT */
#include "text/json-read.h"
#include "text/number.h"
#include "call.h"
#include "experiments.h"
#include "files.h"
#include "harness.h"
#include "sample-run.h"
#include "grids.h"

/* Tests the output of --json of commands that print one JSON document: null for missing values, and numbers that are
 * not texts. */

static const char small[] = "[data]\ngenerate=agreement\nvocabulary_type=words\n" SMALL_SOURCE ("a") TINY_DECODER;

/* TRUE if @text is a number or a word for a missing value, which JSON should not have as a string. */
static gboolean
is_misplaced (const char *text)
{
  static const char *const words[] = { "–", "-", "nan", "inf", "-inf", "null", "nothing", "(null)", NULL };
  double number;

  return g_strv_contains (words, text) || plait_parse_double (text, &number);
}

/* Checks all strings in @value, which stands at @path of the document. */
static void
check_value (const char *path, json_t *value)
{
  const char *name;
  json_t *member;
  size_t i;

  if (json_is_string (value) && is_misplaced (json_string_value (value)))
    {
      CONTEXT ("%s is \"%s\"", path, json_string_value (value));
      CHECK (FALSE);
    }
  json_object_foreach (value, name, member)
  {
    check_value (plait_test_format ("%s.%s", path, name), member);
  }
  json_array_foreach (value, i, member) check_value (path, member);
}

TEST_CASE (json, of_all_commands_has_null_for_nothing_and_numbers_as_such)
{
  static const char *const more = "[source a]\nlayers=2\n";
  static const char *const calls[][5] = {
    { "plugins" },
    { "inspect" },
    { "inspect", "train" },
    { "inspect", "data" },
    { "inspect", "hierarchical" },
    { "inspect", "hat" },
    { "inspect", "--keys", "small.ini" },
    { "generate" },
    { "explain", "small.ini" },
    { "run", "small.ini", "--dry-run" },
    { "grid", "tiny.ini", "--dry-run" },
    { "check", "small.ini" },
    { "compare", "one.h5", "two.h5" },
    { "compare", "one.h5", "two.h5", "--attention" },
    { "compare", "one.h5", "two.h5", "--test", "none" },
    { "verify", "one.h5" },
    { "show", "one.h5", "/training/validation" },
    { "show", "one.h5", "/attention/test/0/en" },
    { "show", "one.h5", "/@seed" },
    { "evaluate", "--reference=text", "--hypothesis=text" },
    { "evaluate", "--reference=text", "--hypothesis=text", "--resamples=0" },
    { "evaluate", "--reference=text", "--hypothesis=text", "--sentences" },
  };

  plait_test_write ("small.ini", small);
  plait_test_write_grid ("decoder.combiner=serial;flat\nexperiment.seed=1;2\n"
                         "exclude=decoder.combiner=flat & experiment.seed=2\n");
  plait_test_write ("text", "a b c d\ne f g h\n");
  plait_test_write_run ("one.h5", &(PlaitTestRun){ "serial", plait_test_wrong });
  plait_test_write_run ("two.h5", &(PlaitTestRun){ "flat", plait_test_right, .more = more, .seed = 2 });
  for (guint i = 0; i < G_N_ELEMENTS (calls); i++)
    {
      const char *arguments[7] = { NULL };
      guint n = 0;

      for (; n < G_N_ELEMENTS (calls[i]) && calls[i][n]; n++)
        arguments[n] = calls[i][n];
      arguments[n] = "--json";
      CONTEXT ("%s %s", arguments[0], arguments[1]);
      PlaitTestCall call = DONE (plait_test_call (NULL, arguments));
      g_autoptr (json_t) document = json_loads (call.output, JSON_REJECT_DUPLICATES, NULL);

      CHECK (document != NULL);
      check_value ("", document);
    }
}
