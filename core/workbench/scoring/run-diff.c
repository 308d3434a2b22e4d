/* SPDX-License-Identifier: MIT */
#include "scoring/run-diff.h"

#include <math.h>
#include <string.h>

#include "hdf5/walk.h"

#define DEPTH 32
#define MAX_BYTES ((gsize)1 << 32)
#define UPDATES "/training/updates/"

/* Groups of objects that are counted separately. A path belongs to the first group whose texts begin and end the path;
 * the last group has all other paths. */
static const struct
{
  const char *name;
  const char *begin;
  const char *end; /* text with which the path must end; NULL: any */
  PlaitRunDiffScope extent;
} groups[] = {
  { "training log", "/training/", NULL, PLAIT_RUN_DIFF_LOG },
  { "parameters and optimizer", "/checkpoint/", NULL, PLAIT_RUN_DIFF_TRAINING },
  { "hypotheses", "/evaluation/", "/hypotheses", PLAIT_RUN_DIFF_ALL },
  { "scores", "/evaluation/", NULL, PLAIT_RUN_DIFF_ALL },
  { "attention", "/attention/", NULL, PLAIT_RUN_DIFF_ALL },
  { "record and vocabularies", "/", NULL, PLAIT_RUN_DIFF_ALL },
};

typedef struct
{
  PlaitStore *other;
  PlaitRunDiffScope extent;
  gint64 updates;
  gboolean only_missing; /* TRUE: count only the objects that the other file lacks */
  GArray *diffs;
  GError *fault;
} Comparison;

/* TRUE if @path belongs to a named evaluation (SPLIT.NAME), which is not part of the run itself. */
static gboolean
is_named_evaluation (const char *path)
{
  static const char *const begins[] = { "/evaluation/", "/attention/", "/coverage/", "/copy/", "/descent/" };

  for (guint i = 0; i < G_N_ELEMENTS (begins); i++)
    if (g_str_has_prefix (path, begins[i]))
      {
        const char *split = path + strlen (begins[i]);

        return memchr (split, '.', strcspn (split, "/")) != NULL;
      }
  return FALSE;
}

/* TRUE if @path is not compared: it depends on time or machine, belongs to a named evaluation, or holds the
 * experiment's text or the digests of the file. */
static gboolean
is_left_out (const char *path)
{
  return is_named_evaluation (path) || g_str_equal (path, "/experiment") || g_str_has_prefix (path, "/contents")
         || g_str_has_prefix (path, "/environment") || g_str_equal (path, UPDATES "seconds")
         || g_str_equal (path, UPDATES "target_tokens_per_second");
}

/* Returns the group that counts @path, or NULL if comparison->extent leaves this group out. */
static PlaitRunDiff *
group_of (const Comparison *comparison, const char *path)
{
  guint i = 0;

  while (!g_str_has_prefix (path, groups[i].begin) || (groups[i].end && !g_str_has_suffix (path, groups[i].end)))
    i++;
  return groups[i].extent >= comparison->extent ? &g_array_index (comparison->diffs, PlaitRunDiff, i) : NULL;
}

static void
note (PlaitRunDiff *diff, const char *path, gboolean same, double largest)
{
  diff->compared++;
  if (same)
    return;
  diff->different++;
  diff->largest = fmax (diff->largest, largest);
  if (!diff->first)
    diff->first = g_strdup (path);
}

/* TRUE if @attribute of @path may differ between runs with equal bits. The status depends on the end of the run. The
 * experiment's text has file paths. The default for viewers depends on the last evaluation. Fingerprints, format and
 * version depend on the version of plait. */
static gboolean
depends_on_file_paths (const char *path, const char *attribute)
{
  static const char *const names[] = { "status", "version", "experiment", "format", "training_key", NULL };

  /* Ignore the attributes of /training: they follow from the data, and older runs lack them. */
  return g_str_equal (attribute, "default") || g_str_equal (attribute, "key") || g_str_equal (path, "/training")
         || (g_str_equal (path, "/") && g_strv_contains (names, attribute));
}

static void
compare_attributes (const Comparison *comparison, PlaitStore *store, const char *path)
{
  PlaitRunDiff *diff = group_of (comparison, path);
  g_auto (GStrv) names = diff ? plait_store_attributes (store, path, NULL) : NULL;

  for (guint i = 0; names && names[i]; i++)
    {
      g_autofree char *place = g_strdup_printf ("%s@%s", path, names[i]);
      g_autofree char *a = NULL, *b = NULL;
      gboolean both = plait_store_has_attribute (comparison->other, path, names[i]);

      if (depends_on_file_paths (path, names[i]) || (both && comparison->only_missing))
        continue;
      a = plait_store_attribute_text (store, path, names[i], 1 << 20, NULL);
      b = both ? plait_store_attribute_text (comparison->other, path, names[i], 1 << 20, NULL) : NULL;
      note (diff, place, g_strcmp0 (a, b) == 0, 0);
    }
}

/* Returns how many of the @n rows of the dataset @path are compared: in training tables the rows up to update
 * comparison->updates (0: no limit), in other datasets all rows. */
static gint64
rows_until (const Comparison *comparison, PlaitStore *store, const char *path, gint64 n)
{
  g_autofree char *table = g_path_get_dirname (path);
  g_autofree char *steps_path = g_strconcat (table, "/step", NULL);
  gint64 rows = 0, count = 0;
  g_autofree gint64 *steps = NULL;

  if (comparison->updates == 0 || !g_str_has_prefix (path, "/training/"))
    return n;
  steps = plait_store_read_array (store, steps_path, PLAIT_STORE_INT64, n, &count, NULL);
  while (steps && rows < count && steps[rows] <= comparison->updates)
    rows++;
  return rows;
}

static double
largest_difference (PlaitStoreType type, gconstpointer a, gconstpointer b, gint64 n)
{
  double largest = 0;

  for (gint64 i = 0; i < n && (type == PLAIT_STORE_FLOAT || type == PLAIT_STORE_DOUBLE); i++)
    {
      double x = type == PLAIT_STORE_FLOAT ? (double)((const float *)a)[i] : ((const double *)a)[i];
      double y = type == PLAIT_STORE_FLOAT ? (double)((const float *)b)[i] : ((const double *)b)[i];

      largest = fmax (largest, fabs (x - y));
    }
  return largest;
}

static gsize
size_of (PlaitStoreType type)
{
  return type == PLAIT_STORE_FLOAT ? sizeof (float) : type == PLAIT_STORE_UINT8 ? 1 : sizeof (gint64);
}

static void
compare_numbers (Comparison *comparison, PlaitStore *store, const PlaitStoreVisit *visit, PlaitRunDiff *diff)
{
  PlaitStoreType type = visit->object.type == PLAIT_STORE_INT32 ? PLAIT_STORE_INT64 : visit->object.type;
  gint64 n = 0, m = 0, rows_a, rows_b;
  g_autofree gpointer a = plait_store_read_array (store, visit->path, type, G_MAXINT32, &n, &comparison->fault);
  g_autofree gpointer b
      = a ? plait_store_read_array (comparison->other, visit->path, type, G_MAXINT32, &m, &comparison->fault) : NULL;
  gboolean same;

  if (!b)
    return;
  rows_a = rows_until (comparison, store, visit->path, n);
  rows_b = rows_until (comparison, comparison->other, visit->path, m);
  same = rows_a == rows_b && memcmp (a, b, (gsize)rows_a * size_of (type)) == 0;
  note (diff, visit->path, same, same || rows_a != rows_b ? 0 : largest_difference (type, a, b, rows_a));
}

static void
compare_strings (Comparison *comparison, PlaitStore *store, const PlaitStoreVisit *visit, PlaitRunDiff *diff)
{
  gint64 n = 0, m = 0;
  g_auto (GStrv) a = plait_store_read_strings (store, visit->path, MAX_BYTES, &n, &comparison->fault);
  g_auto (GStrv) b
      = a ? plait_store_read_strings (comparison->other, visit->path, MAX_BYTES, &m, &comparison->fault) : NULL;

  if (b)
    note (diff, visit->path, g_strv_equal ((const char *const *)a, (const char *const *)b), 0);
}

static PlaitStoreWalkAction
compare (PlaitStore *store, const PlaitStoreVisit *visit, gpointer data, GError **error)
{
  Comparison *comparison = data;
  PlaitRunDiff *diff = group_of (comparison, visit->path);

  if (is_left_out (visit->path))
    return PLAIT_STORE_WALK_SKIP;
  if (!plait_store_has (comparison->other, visit->path))
    {
      if (diff)
        note (diff, visit->path, FALSE, 0);
      return PLAIT_STORE_WALK_SKIP;
    }
  if (comparison->updates == 0)
    compare_attributes (comparison, store, visit->path);
  if (comparison->only_missing || !diff || visit->object.kind != PLAIT_STORE_DATASET)
    return PLAIT_STORE_WALK_CONTINUE;
  if (visit->object.type == PLAIT_STORE_STRING)
    compare_strings (comparison, store, visit, diff);
  else if (visit->object.type != PLAIT_STORE_OTHER)
    compare_numbers (comparison, store, visit, diff);
  return plait_no_error (&comparison->fault, error) ? PLAIT_STORE_WALK_CONTINUE : PLAIT_STORE_WALK_FAIL;
}

static void
diff_clear (gpointer diff)
{
  g_free (((PlaitRunDiff *)diff)->first);
}

GArray *
plait_run_diff_new (PlaitStore *a, PlaitStore *b, PlaitRunDiffScope extent, gint64 updates, GError **error)
{
  g_autoptr (GArray) diffs = g_array_new (FALSE, TRUE, sizeof (PlaitRunDiff));
  Comparison comparison = { b, extent, updates, FALSE, diffs, NULL };

  g_array_set_clear_func (diffs, diff_clear);
  for (guint i = 0; i < G_N_ELEMENTS (groups); i++)
    {
      PlaitRunDiff diff = { .name = groups[i].name };

      g_array_append_val (diffs, diff);
    }
  if (!plait_store_walk (a, "/", DEPTH, compare, &comparison, error))
    return NULL;
  comparison.other = a;
  comparison.only_missing = TRUE;
  return plait_store_walk (b, "/", DEPTH, compare, &comparison, error) ? g_steal_pointer (&diffs) : NULL;
}
