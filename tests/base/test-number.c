/* SPDX-License-Identifier: MIT */
#include "files/memory.h"
#include "text/number.h"
#include "process/random.h"
#include "harness.h"

#include <locale.h>
#include <math.h>
#include <string.h>

TEST_CASE (number, integers)
{
  gint64 value = 99;

  CHECK (plait_parse_integer ("0", &value) && value == 0);
  CHECK (plait_parse_integer ("-12", &value) && value == -12);
  CHECK (plait_parse_integer ("007", &value) && value == 7);
  CHECK (plait_parse_integer ("9223372036854775807", &value) && value == G_MAXINT64);
  CHECK (plait_parse_integer ("-9223372036854775808", &value) && value == G_MININT64);
}

TEST_CASE (number, not_integers)
{
  const char *const wrong[] = { "",
                                "-",
                                "+1",
                                " 1",
                                "1 ",
                                "1.0",
                                "1e3",
                                "0x10",
                                "1,000",
                                "\v12",
                                "--1",
                                "９",
                                "9223372036854775808",
                                "-9223372036854775809",
                                "99999999999999999999999" };

  for (gsize i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      gint64 value = 99;

      CONTEXT ("\"%s\"", wrong[i]);
      CHECK (!plait_parse_integer (wrong[i], &value));
      CHECK_INT (value, 99);
    }
}

TEST_CASE (number, spans)
{
  static const char *const wrong[]
      = { "", "3", "-1 2", "2 1", "0 1 2", "0.5 1", "0 x", "+1 2", "-2 3", "0,1", "0 2147483646", "0 4294967296" };
  gint64 first = 99, last = 99;

  for (gsize i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      CONTEXT ("\"%s\"", wrong[i]);
      CHECK (!plait_parse_span (wrong[i], &first, &last));
      CHECK (first == 99 && last == 99);
    }
  CHECK (plait_parse_span (" 2\t 5 ", &first, &last) && first == 2 && last == 5);
  CHECK (plait_parse_span ("0 2147483645", &first, &last) && first == 0 && last == 2147483645);
  CHECK (plait_parse_span (" -1 ", &first, &last) && first == -1 && last == -1);
}

TEST_CASE (number, doubles)
{
  double value = 99;

  CHECK (plait_parse_double ("0.5", &value) && value == 0.5);
  CHECK (plait_parse_double ("-1e-3", &value) && value == -1e-3);
  CHECK (plait_parse_double ("12", &value) && value == 12);
  CHECK (plait_parse_double (".5", &value) && value == 0.5);
  CHECK (plait_parse_double ("1E+2", &value) && value == 100);
  CHECK (plait_parse_double ("5e-324", &value) && value == 5e-324);
}

TEST_CASE (number, not_doubles)
{
  const char *const wrong[] = { "",      "-", "+1", " 1", "1 ",    "1,5",    "inf",   "nan",
                                "0x1p3", "e", ".",  "1e", "1e999", "-1e999", "1.2.3", "infinity" };

  for (gsize i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      double value = 99;

      CONTEXT ("\"%s\"", wrong[i]);
      CHECK (!plait_parse_double (wrong[i], &value));
      CHECK (value == 99);
    }
}

TEST_CASE (number, booleans)
{
  gboolean value = FALSE;

  CHECK (plait_parse_boolean ("true", &value) && value);
  CHECK (plait_parse_boolean ("false", &value) && !value);
  CHECK (!plait_parse_boolean ("True", &value));
  CHECK (!plait_parse_boolean ("1", &value));
  CHECK (!plait_parse_boolean ("", &value));
}

TEST_CASE (number, the_shortest_text_of_a_double)
{
  char buffer[PLAIT_NUMBER_LENGTH];

  CHECK_STRING (plait_format_double (buffer, 0.1), "0.1");
  CHECK_STRING (plait_format_double (buffer, 100), "100");
  CHECK_STRING (plait_format_double (buffer, 1e300), "1e+300");
  CHECK_STRING (plait_format_double (buffer, -0.0), "-0");
  CHECK_STRING (plait_format_double (buffer, 5e-324), "5e-324");
  CHECK_STRING (plait_format_double (buffer, 1.0 / 3), "0.3333333333333333");
  CHECK_STRING (plait_format_double (buffer, 0.1 + 0.2), "0.30000000000000004");
  CHECK_STRING (plait_format_double (buffer, INFINITY), "inf");
  CHECK_STRING (plait_format_double (buffer, -INFINITY), "-inf");
  CHECK_STRING (plait_format_double (buffer, -NAN), "nan");
}

TEST_CASE (number, doubles_survive_a_round_trip)
{
  PlaitRandomKey key = plait_random_key (1, "test", "number", 0);

  for (guint64 i = 0; i < 20000; i++)
    {
      guint64 bits = plait_random_bits (key, i), bits_again;
      double value, again = 0;
      char buffer[PLAIT_NUMBER_LENGTH];

      memcpy (&value, &bits, sizeof value);
      if (!isfinite (value))
        continue;
      CONTEXT ("%a", value);
      REQUIRE (plait_parse_double (plait_format_double (buffer, value), &again));
      memcpy (&bits_again, &again, sizeof again);
      REQUIRE (bits == bits_again);
    }
}

TEST_CASE (number, the_locale_does_not_matter)
{
  g_autofree char *before = g_strdup (setlocale (LC_ALL, NULL));
  char buffer[PLAIT_NUMBER_LENGTH];
  double value = 0;

  if (!setlocale (LC_ALL, "de_DE.UTF-8"))
    SKIP_TEST ("the locale de_DE.UTF-8 is not installed");
  CHECK_STRING (plait_format_double (buffer, 0.5), "0.5");
  CHECK (plait_parse_double ("0.5", &value) && value == 0.5);
  CHECK (!plait_parse_double ("0,5", &value));
  setlocale (LC_ALL, before);
}

TEST_CASE (memory, products_that_do_not_fit)
{
  gsize product = 0;

  CHECK (plait_size_multiply (3, 4, &product) && product == 12);
  CHECK (!plait_size_multiply (G_MAXSIZE / 2, 3, &product));
}

TEST_CASE (memory, too_much_is_an_error)
{
  g_autoptr (GError) error = NULL;
  char *some = plait_try_allocate (3, 5, "letters", NO_ERROR);

  REQUIRE (some != NULL);
  for (int i = 0; i < 15; i++)
    CHECK_INT (some[i], 0);
  g_free (some);
  CHECK (!plait_try_allocate (G_MAXSIZE / 2, 3, "the vectors of a.h5", &error));
  CHECK_ERROR (error, PLAIT_ERROR_FAILED, "there is no memory for the vectors of a.h5");
  CHECK (!plait_try_allocate ((gsize)1 << 50, 64, "more", &error));
  CHECK_ERROR (error, PLAIT_ERROR_FAILED, "64 bytes");
  some = plait_try_allocate (0, 5, "nothing", &error);
  CHECK (some != NULL);
  g_free (some);
}
