/* SPDX-License-Identifier: MIT */
#include "initial.h"

#include "harness.h"
#include "runs.h"

#include <string.h>

const char *
test_base_run (const char *experiment)
{
  const char *output = plait_test_path ("base.h5");

  CHECK (test_run_with (experiment, (const char *[]){ "train.updates=7", NULL }, output, FALSE, NULL, NO_ERROR));
  return output;
}

PlaitStore *
test_run_still (const char *experiment, const char *name, const char *const *more, char **said, GError **error)
{
  const char *output = plait_test_path (name);
  g_autoptr (GPtrArray) overrides = g_ptr_array_new ();
  gsize length = 0;
  char *text = NULL;
  FILE *stream = open_memstream (&text, &length);
  g_autoptr (PlaitLog) log = plait_log_new_with ((PlaitLogSettings){ .stream = stream, .now = g_get_monotonic_time });
  gboolean done;

  g_ptr_array_add (overrides, (gpointer) "train.updates=1");
  g_ptr_array_add (overrides, (gpointer) "train.learning_rate=0");
  for (guint i = 0; more && more[i]; i++)
    g_ptr_array_add (overrides, (gpointer)more[i]);
  g_ptr_array_add (overrides, NULL);
  done = test_run_with (experiment, (const char *const *)overrides->pdata, output, FALSE, log, error);
  g_clear_pointer (&log, plait_log_free);
  fclose (stream);
  if (said)
    *said = g_strdup (text);
  free (text);
  return done ? plait_store_open (output, error) : NULL;
}

gboolean
test_is_same (PlaitStore *a, PlaitStore *b, const char *checkpoint, const char *name)
{
  enum
  {
    MAX_ITEMS = 1 << 20,
  };
  g_autofree char *mine = g_strdup_printf ("/checkpoint/last/parameters/%s", name);
  g_autofree char *other = g_strdup_printf ("/checkpoint/%s/parameters/%s", checkpoint, name);
  gint64 n = 0;
  gint64 m = 0;
  g_autofree double *x = plait_store_read_array (a, mine, PLAIT_STORE_DOUBLE, MAX_ITEMS, &n, NULL);
  g_autofree double *y = plait_store_read_array (b, other, PLAIT_STORE_DOUBLE, MAX_ITEMS, &m, NULL);

  CHECK (x && y && n == m);
  return x && y && n == m && memcmp (x, y, (gsize)n * sizeof *x) == 0;
}

char *
test_outcome_of (PlaitStore *run, const char *name)
{
  g_auto (GStrv) names = plait_store_read_strings (run, "/initialisation/parameters/name", 1 << 20, NULL, NULL);
  g_auto (GStrv) outcomes = plait_store_read_strings (run, "/initialisation/parameters/outcome", 1 << 20, NULL, NULL);

  for (guint i = 0; names && outcomes && names[i]; i++)
    if (g_str_equal (names[i], name))
      return g_strdup (outcomes[i]);
  return NULL;
}
