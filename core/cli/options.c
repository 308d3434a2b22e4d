/* SPDX-License-Identifier: MIT */
#include "cli/options.h"

#include <string.h>

#include "base/error.h"
#include "base/number.h"

#define SIGNIFICANT 0.05

gboolean
plait_option_integer (const char *option, const char *text, gint64 minimum, gint64 maximum, gint64 *value,
                      GError **error)
{
  gint64 number;

  if (text == NULL)
    return TRUE;
  if (!plait_parse_integer (text, &number) || number < minimum || number > maximum)
    {
      g_autofree char *shown = g_utf8_make_valid (text, -1);

      return plait_fail (error, PLAIT_ERROR_INPUT,
                         "%s cannot be \"%s\"; expected an integer from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT,
                         option, shown, minimum, maximum);
    }
  *value = number;
  return TRUE;
}

gboolean
plait_option_test (const char *text, gboolean *tested, PlaitTest *test, GError **error)
{
  *tested = TRUE;
  *test = PLAIT_TEST_PERMUTATION;
  if (text == NULL || strcmp (text, "permutation") == 0)
    return TRUE;
  if (strcmp (text, "bootstrap") == 0)
    {
      *test = PLAIT_TEST_BOOTSTRAP;
      return TRUE;
    }
  if (strcmp (text, "none") == 0)
    {
      *tested = FALSE;
      return TRUE;
    }
  g_autofree char *shown = g_utf8_make_valid (text, -1);
  return plait_fail (error, PLAIT_ERROR_INPUT, "--test cannot be \"%s\"; expected permutation, bootstrap or none",
                     shown);
}

static void
number_cell (PlaitColumns *columns, const char *format, double value)
{
  char digits[G_ASCII_DTOSTR_BUF_SIZE];

  plait_columns_cell (columns, PLAIT_PAGE_PLAIN, g_ascii_formatd (digits, sizeof digits, format, value));
}

void
plait_comparison_columns (PlaitColumns *columns)
{
  plait_columns_add (columns, "Difference", PLAIT_COLUMN_RIGHT);
  plait_columns_add (columns, "p", PLAIT_COLUMN_RIGHT);
  plait_columns_add (columns, "p (Holm)", PLAIT_COLUMN_RIGHT);
  plait_columns_add (columns, "", PLAIT_COLUMN_LEFT);
}

void
plait_comparison_cells (PlaitColumns *columns, const PlaitComparison *comparison, guint digits)
{
  if (comparison == NULL)
    {
      for (guint c = 0; c < 4; c++)
        plait_columns_cell (columns, PLAIT_PAGE_DIM, c < 3 ? "–" : "");
      return;
    }
  g_autofree char *format = g_strdup_printf ("%%+.%uf", digits);
  number_cell (columns, format, comparison->difference);
  number_cell (columns, "%.4f", comparison->p);
  number_cell (columns, "%.4f", comparison->adjusted_p);
  plait_columns_cell (columns, PLAIT_PAGE_NAME, comparison->adjusted_p < SIGNIFICANT ? "*" : "");
}
