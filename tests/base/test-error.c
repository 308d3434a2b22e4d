/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "text/error.h"
#include "harness.h"

#include "text/separators.h"

static const char *const names[] = { "learning-rate", "layers", "heads", "width", "seed", "encoder", "decoder", NULL };

TEST_CASE (error, fails_with_a_message)
{
  g_autoptr (GError) error = NULL;

  CHECK (!plait_fail (&error, PLAIT_ERROR_INPUT, "%s:%d: no", "a.ini", 3));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "a.ini:3: no");
  CHECK (!plait_fail (NULL, PLAIT_ERROR_INPUT, "nobody listens"));
  g_clear_error (&error);
  CHECK (!plait_fail_null (&error, PLAIT_ERROR_FAILED, "%d of 2", 1));
  CHECK_ERROR (error, PLAIT_ERROR_FAILED, "1 of 2");
  CHECK (!plait_fail_null (NULL, PLAIT_ERROR_INPUT, "nobody listens"));
}

TEST_CASE (error, hands_on_a_fault)
{
  g_autoptr (GError) fault = NULL, error = NULL;

  CHECK (plait_no_error (&fault, &error));
  CHECK (!error);
  plait_fail (&fault, PLAIT_ERROR_CORRUPT, "torn");
  CHECK (!plait_no_error (&fault, &error));
  CHECK (!fault);
  CHECK_ERROR (error, PLAIT_ERROR_CORRUPT, "torn");
  plait_fail (&fault, PLAIT_ERROR_CORRUPT, "torn");
  CHECK (!plait_no_error (&fault, NULL));
  CHECK (!fault);
}

/* If an input is very long, the message quotes only its beginning and its end. */
TEST_CASE (error, leaves_out_the_middle_of_endless_lines)
{
  g_autofree char *most = g_strnfill (1000, 'x');
  g_autofree char *endless = g_strnfill (100000, 'x');
  g_autoptr (GString) wide = g_string_new (NULL);
  GError *error = NULL;

  plait_fail (&error, PLAIT_ERROR_INPUT, "%s\nb", most);
  CHECK_INT (strlen (error->message), 1002);
  g_clear_error (&error);
  plait_fail (&error, PLAIT_ERROR_INPUT, "a.ini:1: \"%s\" is too long; cut it\nb.ini: %s", endless, "too");
  CHECK_INT (strlen (error->message), 1005 + strlen ("\nb.ini: too"));
  CHECK (g_str_has_prefix (error->message, "a.ini:1: \"xxx"));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "xxx\" is too long; cut it\nb.ini: too");
  for (int i = 0; i < 1000; i++)
    g_string_append (wide, "€");
  for (int i = 0; i < 3; i++)
    {
      plait_fail (&error, PLAIT_ERROR_INPUT, "%.*s%s", i, "abc", wide->str);
      CHECK (g_utf8_validate (error->message, -1, NULL));
      g_clear_error (&error);
    }
}

TEST_CASE (error, is_valid_whatever_it_quotes)
{
  GError *error = NULL;

  plait_fail (&error, PLAIT_ERROR_INPUT, "\"%s\" is not a number", "a\xff");
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "\"a\ufffd\" is not a number");
}

TEST_CASE (error, nearest_name_of_a_slip)
{
  CHECK_STRING (plait_nearest_name ("layer", names), "layers");
  CHECK_STRING (plait_nearest_name ("laeyrs", names), "layers");
  CHECK_STRING (plait_nearest_name ("learning_rate", names), "learning-rate");
  CHECK_STRING (plait_nearest_name ("learningrate", names), "learning-rate");
  CHECK_STRING (plait_nearest_name ("Width", names), "width");
  /* A swap of neighbours is one error, not two. */
  CHECK_STRING (plait_nearest_name ("sede", names), "seed");
  /* The first of equally similar names is returned. */
  CHECK_STRING (plait_nearest_name ("eecoder", names), "encoder");
}

TEST_CASE (error, nearest_name_of_a_part)
{
  static const char *const keys[]
      = { "batch", "batch_by", "learning_rate", "learning_rate_floor", "epochs", "lr", NULL };

  CHECK_STRING (plait_nearest_name ("batchsize", keys), "batch");
  CHECK_STRING (plait_nearest_name ("batch_by_tokens", keys), "batch_by");
  CHECK_STRING (plait_nearest_name ("max_epochs", keys), "epochs");
  CHECK_STRING (plait_nearest_name ("Learning", keys), "learning_rate");
  CHECK_STRING (plait_nearest_name ("floor", keys), "learning_rate_floor");
  CHECK_STRING (plait_nearest_name ("lrs_of_adam", keys), NULL);
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

/* If a list has a wrong separator, such as "A,B", the message suggests the right one. Other text is not changed. */
TEST_CASE (error, mends_separators)
{
  static const struct
  {
    const char *wanted, *separator, *remedy;
  } cases[] = {
    { "en,de", ";", "did you mean \"en;de\"?" },
    { "en + de", ";", "did you mean \"en;de\"?" },
    { "en de", ";", "did you mean \"en;de\"?" },
    { "en:de", ";", "did you mean \"en;de\"?" },
    { "en;de", "+", "did you mean \"en+de\"?" },
    { "en,de", "|", "did you mean \"en|de\"?" },
    { "en|de", " & ", "did you mean \"en & de\"?" },
    { "en:a,de:b", ";", "did you mean \"en:a;de:b\"?" },
    { "en;de", ";", "other" },
    { "en,colour", ";", "other" },
    { "en,", ";", "did you mean \"en\"?" },
    { "fr", ";", "other" },
  };
  static const char *const known[] = { "en", "de", NULL };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *remedy = plait_item_remedy (cases[i].wanted, known, cases[i].separator, "other");

      CONTEXT ("%s", cases[i].wanted);
      CHECK_STRING (remedy, cases[i].remedy);
    }
}
