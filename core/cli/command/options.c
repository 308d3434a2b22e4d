/* SPDX-License-Identifier: MIT */
#include "command/options.h"

#include <string.h>

#include "text/error.h"
#include "text/number.h"

static gboolean
is_choice (const char *name)
{
  return strchr (name, '|') && strspn (name, "abcdefghijklmnopqrstuvwxyz0123456789_-N|") == strlen (name);
}

PlaitValueKind
plait_option_value_kind (const char *name)
{
  if (is_choice (name))
    return PLAIT_VALUE_CHOICE;
  return strstr (name, "FILE") || strstr (name, ".h5") || strstr (name, "FOLDER") ? PLAIT_VALUE_PATH
                                                                                  : PLAIT_VALUE_OTHER;
}

/* TRUE if @choice ends with the placeholder N, and @text is @choice with an integer instead of N. */
static gboolean
is_numbered (const char *text, const char *choice)
{
  gsize length = strlen (choice) - 1;
  gint64 number;

  return choice[length] == 'N' && strncmp (text, choice, length) == 0 && plait_parse_integer (text + length, &number);
}

gboolean
plait_option_is_choice (const char *text, const char *choices)
{
  g_auto (GStrv) names = g_strsplit (choices, "|", -1);

  for (guint i = 0; names[i]; i++)
    if (g_str_equal (text, names[i]) || is_numbered (text, names[i]))
      return TRUE;
  return FALSE;
}

guint
plait_option_choice (const char *text, const char *choices)
{
  g_auto (GStrv) names = g_strsplit (choices, "|", -1);
  guint i = 0;

  while (text && names[i] && !g_str_equal (names[i], text))
    i++;
  g_assert (names[i]);
  return i;
}

gboolean
plait_option_sets (const PlaitOverride *sets, const char *const *keys, const char *what, GError **error)
{
  for (guint i = 0; sets && sets[i].key; i++)
    {
      gboolean known = FALSE, refused = FALSE;

      for (guint k = 0; keys[k]; k++)
        if (keys[k][0] == '-')
          refused |= g_str_equal (sets[i].key, keys[k] + 1);
        else
          known |= g_str_has_suffix (keys[k], ".") ? g_str_has_prefix (sets[i].key, keys[k])
                                                   : g_str_equal (sets[i].key, keys[k]);
      if (!known || refused)
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "--set %s=%s: for a trained run this command accepts only %s, such as decode.batch=8",
                           sets[i].key, sets[i].value, what);
    }
  return TRUE;
}

const char *
plait_option_set_value (const PlaitOverride *sets, const char *key)
{
  const char *value = NULL;

  for (guint i = 0; sets && sets[i].key; i++)
    if (g_str_equal (sets[i].key, key))
      value = sets[i].value;
  return value;
}

gboolean
plait_option_test (guint choice, PlaitTest *test, gint64 *trials)
{
  static const PlaitTest tests[] = { PLAIT_TEST_PERMUTATION, PLAIT_TEST_BOOTSTRAP, PLAIT_TEST_PERMUTATION };

  *test = tests[choice];
  if (*trials == 0)
    *trials = *test == PLAIT_TEST_BOOTSTRAP ? PLAIT_BOOTSTRAP_RESAMPLES : PLAIT_PERMUTATION_SHUFFLES;
  return choice < 2;
}
