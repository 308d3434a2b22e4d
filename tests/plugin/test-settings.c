/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "harness.h"
#include "schema/settings.h"

#include "example-settings.h"

static const PlaitSettingSpecification heads
    = { .name = "heads", .type = PLAIT_SETTING_INTEGER, .standard = "8", .minimum = "1", .maximum = "64" };
static const PlaitSettingSpecification rate
    = { .name = "rate", .type = PLAIT_SETTING_REAL, .standard = "0.1", .minimum = "0", .maximum = "0.9" };
static const PlaitSettingSpecification flag = { .name = "flag", .type = PLAIT_SETTING_BOOLEAN, .standard = "false" };
static const PlaitSettingSpecification norm
    = { .name = "norm", .type = PLAIT_SETTING_CHOICE, .standard = "pre", .choices = "pre;post" };
static const PlaitSettingSpecification label = { .name = "label", .type = PLAIT_SETTING_TEXT, .standard = "" };
static const PlaitSettingSpecification parts
    = { .name = "parts", .type = PLAIT_SETTING_LIST, .standard = "", .choices = "one;two;three" };
static const PlaitSettingSpecification free_list = { .name = "free", .type = PLAIT_SETTING_LIST, .standard = "" };

static void
check_canonical (const PlaitSettingSpecification *specification, const char *text, const char *canonical)
{
  CONTEXT ("%s=%s", specification->name, text);
  g_autofree char *printed = plait_setting_parse (specification, text, NULL, NO_ERROR);

  CHECK_STRING (printed, canonical);
}

static void
check_refused (const PlaitSettingSpecification *specification, const char *text, const char *message)
{
  CONTEXT ("%s=%s", specification->name, text);
  g_autoptr (GError) error = NULL;

  CHECK (!plait_setting_parse (specification, text, NULL, &error));
  REQUIRE (error != NULL);
  CHECK_STRING (error->message, message);
  CHECK_INT (error->code, PLAIT_ERROR_INPUT);
}

TEST_CASE (settings, canonical_texts)
{
  check_canonical (&heads, "8", "8");
  check_canonical (&heads, "  008 ", "8");
  check_canonical (&rate, "0.10", "0.1");
  check_canonical (&rate, "1e-1", "0.1");
  check_canonical (&rate, ".25", "0.25");
  check_canonical (&rate, "-0", "0");
  check_canonical (&rate, "0.30000000000000004", "0.30000000000000004");
  check_canonical (&flag, "true", "true");
  check_canonical (&norm, "post", "post");
  check_canonical (&label, "  a b  ", "a b");
  check_canonical (&parts, " two ; one; ", "two;one");
  check_canonical (&free_list, "x;y", "x;y");
}

TEST_CASE (settings, refusals)
{
  check_refused (&heads, "", "the value \"\" is not an integer; give an integer from 1 to 64");
  check_refused (&heads, "8x", "the value \"8x\" is not an integer; give an integer from 1 to 64");
  check_refused (&heads, "0x10", "the value \"0x10\" is not an integer; give an integer from 1 to 64");
  check_refused (&heads, "1,000", "the value \"1,000\" is not an integer; give an integer from 1 to 64");
  check_refused (&heads, "4.0", "the value \"4.0\" is not an integer; give an integer from 1 to 64");
  check_refused (&heads, "99999999999999999999",
                 "the value \"99999999999999999999\" is not an integer; give an integer from 1 to 64");
  check_refused (&heads, "0", "the value \"0\" is below the minimum 1; give an integer from 1 to 64");
  check_refused (&heads, "65", "the value \"65\" is above the maximum 64; give an integer from 1 to 64");
  check_refused (&rate, "0,5", "the value \"0,5\" is not a number; give a number from 0 to 0.9");
  check_refused (&rate, "nan", "the value \"nan\" is not a number; give a number from 0 to 0.9");
  check_refused (&rate, "inf", "the value \"inf\" is not a number; give a number from 0 to 0.9");
  check_refused (&rate, "0.95", "the value \"0.95\" is above the maximum 0.9; give a number from 0 to 0.9");
  check_refused (&flag, "yes", "the value \"yes\" is not a truth value; give true or false");
  check_refused (&norm, "psot", "the value \"psot\" is not a choice (did you mean \"post\"?); give one of pre, post");
  check_refused (&norm, "middle", "the value \"middle\" is not a choice; give one of pre, post");
  check_refused (&parts, "one;fuor", "the value \"fuor\" is not a choice; give a list of one, two, three");
  check_refused (&parts, "one;;two", "the value \"one;;two\" has an empty item; give a list of one, two, three");
  check_refused (&parts, "one;one", "the value \"one;one\" names \"one\" twice; give a list of one, two, three");
  check_refused (&label, "a\tb", "a value holds the control character 0x09; give one line of plain text");
  check_refused (&label, "\xff", "the value \"\xef\xbf\xbd\" is not valid UTF-8; write it in UTF-8");
}

TEST_CASE (settings, specifications_that_make_no_sense)
{
  const struct
  {
    PlaitSettingSpecification specification;
    const char *part;
  } cases[] = {
    { { "x", PLAIT_SETTING_INTEGER, "1", "1.5" }, "minimum=1.5 is not an integer" },
    { { "x", PLAIT_SETTING_REAL, "1", "0", "many" }, "maximum=many is not a number" },
    { { "x", PLAIT_SETTING_INTEGER, "3", "4", "2" }, "minimum=4 is above maximum=2" },
    { { "x", PLAIT_SETTING_TEXT, "", "4" }, "minimum=4 bounds a setting of type text" },
    { { "x", PLAIT_SETTING_CHOICE, "a" }, "type=choice without choices" },
    { { "x", PLAIT_SETTING_INTEGER, "1", NULL, NULL, "a;b" }, "choices=a;b for a setting of type integer" },
    { { "x", PLAIT_SETTING_CHOICE, "a", NULL, NULL, "a;a" }, "holds a name twice" },
    { { "x", PLAIT_SETTING_CHOICE, "a", NULL, NULL, "a;" }, "holds an empty name" },
    { { "x", PLAIT_SETTING_CHOICE, "c", NULL, NULL, "a;b" }, "default: the value \"c\" is not a choice" },
    { { "x", PLAIT_SETTING_INTEGER, "9", "1", "4" }, "default: the value \"9\" is above the maximum 4" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      CONTEXT ("case %u", i);
      g_autoptr (GError) error = NULL;

      CHECK (!plait_setting_check (&cases[i].specification, &error));
      CHECK_ERROR (error, PLAIT_ERROR_INPUT, cases[i].part);
    }
}

TEST_CASE (settings, a_group_fills_its_struct)
{
  g_autoptr (PlaitSettings) settings = plait_settings_new_for_group (&plait_example_group);
  g_autoptr (GError) error = NULL;
  PlaitExampleSettings example, defaults;

  CHECK (plait_settings_set (settings, "heads", "16", &error));
  CHECK (plait_settings_set (settings, "norm", "pre", &error));
  plait_settings_fill_group (settings, &plait_example_group, &example);
  CHECK_INT (example.heads, 16);
  CHECK_NEAR (example.rate, 0.1, 0);
  CHECK_INT (example.flag, TRUE);
  CHECK_INT (example.norm, PLAIT_EXAMPLE_NORM_PRE);
  CHECK_STRING (example.label, "none");
  CHECK_STRING (example.parts, "a;b");
  CHECK (plait_settings_is_given (settings, 0));
  CHECK (!plait_settings_is_given (settings, 1));

  plait_setting_group_defaults (&plait_example_group, &defaults);
  CHECK_INT (defaults.heads, 8);
  CHECK_INT (defaults.norm, PLAIT_EXAMPLE_NORM_POST);
  CHECK_STRING (defaults.parts, "a;b");
}

TEST_CASE (settings, a_group_is_as_its_schema_describes_it)
{
  const PlaitSettingSpecification *rate_of = &plait_example_group.definitions[1].specification;
  const PlaitSettingSpecification *label_of = &plait_example_group.definitions[4].specification;

  CHECK_STRING (plait_example_group.name, "example");
  CHECK_STRING (plait_example_group.summary, "An example");
  CHECK_STRING (plait_example_group.details, "One paragraph.\nAnother.");
  CHECK_INT (plait_example_group.n_definitions, 6);
  CHECK_STRING (rate_of->name, "rate");
  CHECK_STRING (rate_of->minimum, "0");
  CHECK_STRING (rate_of->maximum, "0.9");
  CHECK_INT (rate_of->flags, 0);
  CHECK (!rate_of->reference && !rate_of->choices);
  CHECK_INT (label_of->flags, PLAIT_SETTING_NEUTRAL);
  CHECK_STRING (label_of->summary, "Label, \"quoted\" \\ as it stands");
  CHECK_STRING (label_of->reference, "A paper");
}

TEST_CASE (settings, last_as_long_as_one_of_their_owners)
{
  PlaitSettings *first = plait_settings_new_for_group (&plait_example_group);
  g_autoptr (PlaitSettings) second = plait_settings_share (first);

  plait_settings_free (first);
  CHECK_STRING (plait_settings_text (second, "norm"), "post");
  CHECK (plait_settings_set (second, "norm", "pre", NULL));
  CHECK_STRING (plait_settings_text (second, "norm"), "pre");
}

TEST_CASE (settings, a_refused_value_leaves_the_old_one)
{
  g_autoptr (PlaitSettings) settings = plait_settings_new_for_group (&plait_example_group);
  g_autoptr (GError) error = NULL;

  CHECK (plait_settings_set (settings, "heads", "16", &error));
  CHECK (!plait_settings_set (settings, "heads", "1000", &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "above the maximum 64");
  CHECK_STRING (plait_settings_text (settings, "heads"), "16");
  CHECK (!plait_settings_set (settings, "haeds", "4", &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "did you mean \"heads\"?");
  CHECK (!plait_settings_set (settings, "something", "4", &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "\"something\" is not a key here");
}
