/* SPDX-License-Identifier: MIT */
#include "run/result.h"
#include "files.h"
#include "harness.h"
#include "runs.h"

#include <string.h>

/* Tests of runs whose combiner descends a pyramid, and of the descents that they store. */

/* Trains a run that copies sentences of 1 to 7 symbols, with a pyramid of blocks of two and descent=top1; @overrides
 * may change that. Returns the run. (transfer full) */
static PlaitStore *
run_descent (const char *name, const char *const *overrides)
{
  static const char text[]
      = "[experiment]\nname=levels\nseed=3\n"
        "[data]\ngenerate=copy\ntarget=target\nvocabulary_type=words\n"
        "generate.symbols=9\ngenerate.shortest=1\ngenerate.longest=7\n"
        "generate.train=40\ngenerate.validation=8\ngenerate.test=8\n"
        "[source a]\nencoder=pyramid\nleaves=bigru\nblock=2\n"
        "[decoder]\ntype=gru\ncombiner=descent\nlayers=1\nwidth=8\nstate_width=8\n"
        "[combiner]\ndescent=top1\n"
        "[train]\nbatch=8\nupdates=2\nwarm_up=10\nlearning_rate=1\n"
        "[decode]\nbeam=2\nmaximum_length=9\nminimum_length=2\n[evaluate]\nresamples=10\nattention=8\n";
  g_autofree char *file = g_strconcat (name, ".ini", NULL), *output = g_strconcat (name, ".h5", NULL);

  const char *path = plait_test_write (file, text);
  return test_run_open (path, overrides, output);
}

static double
attribute (PlaitStore *store, const char *path, const char *name)
{
  double value = -1;
  CONTEXT ("%s@%s", path, name);

  CHECK (plait_store_get_double (store, path, name, &value, NO_ERROR));
  return value;
}

/* Checks that the results of @run have the number of rows that its search weighed and its time for each word. @column
 * says whether tables show these as columns. */
static void
check_work (PlaitStore *run, gboolean column)
{
  static const char *const metrics[] = { "states_touched", "milliseconds_a_word" };
  static const char *const paths[] = { "/evaluation/test", "/environment/evaluation/test" };
  g_autoptr (PlaitRunResult) result = plait_run_result_new (run, NO_ERROR);
  const PlaitRunResult *const results[] = { result };
  g_autoptr (GArray) score_columns = NULL;
  guint found = 0;

  REQUIRE (result != NULL);
  score_columns = plait_run_results_score_columns (results, 1);
  for (guint i = 0; i < G_N_ELEMENTS (metrics); i++)
    {
      const PlaitRunScore *score = plait_run_result_find (result, "test", metrics[i]);

      REQUIRE (score != NULL);
      CHECK (score->aside == !column);
      CHECK_NEAR (score->score, attribute (run, paths[i], metrics[i]), 0);
      CHECK (score->score > 0);
      for (guint m = 0; m < score_columns->len; m++)
        found += g_str_equal (g_array_index (score_columns, PlaitScoreColumn, m).metric, metrics[i]);
    }
  CHECK_INT (found, column ? 2 : 0);
}

TEST_CASE (descents, are_told_by_what_they_touch)
{
  g_autoptr (PlaitStore) top = run_descent ("top", NULL);
  g_autoptr (PlaitStore) soft = run_descent ("soft", (const char *[]){ "combiner.descent=soft", NULL });
  const char *file = test_write_experiment ("tiny", NULL);
  g_autoptr (PlaitStore) all = test_run_open (file, NULL, "tiny.h5");
  double touched;

  REQUIRE (top && soft && all);
  touched = attribute (top, "/evaluation/test", "states_touched");
  check_work (top, TRUE);
  check_work (soft, TRUE);
  /* Above the leaves, at most eight with the end token, there are two levels. Attention weighs at most 2 rows at the
   * top, and 2 below each of the two selected rows. */
  CHECK (touched >= 1 && touched <= 2 + 2 + 2);
  CHECK_NEAR (attribute (top, "/evaluation/test", "states_chosen"), touched, 0);
  CHECK (attribute (soft, "/evaluation/test", "states_touched") > touched);
  CHECK_NEAR (attribute (top, "/environment/evaluation/test", "milliseconds_a_word"),
              1e3 * attribute (top, "/environment/evaluation/test", "seconds")
                  / attribute (top, "/environment/evaluation/test", "words"),
              1e-9);

  check_work (all, FALSE);
  CHECK_NEAR (attribute (all, "/evaluation/test", "states_chosen"), 0, 0);
}

/*
 * Tests of the dumps
 */

enum
{
  MAX_ITEMS = 1 << 20,
};

/* A descent as it is dumped in /descent, and the attention to its rows. */
typedef struct
{
  gint64 layers, heads, targets, rows;
  gint64 *level, *first_child, *children;
  gint64 *entries, *parent, *sets, *row;
  double *weight, *path, *taken;
  double *read; /* [layer, head, target, row]: attention */
  char **row_labels;
} Dump;

static void
dump_clear (Dump *dump)
{
  g_free (dump->level);
  g_free (dump->first_child);
  g_free (dump->children);
  g_free (dump->entries);
  g_free (dump->parent);
  g_free (dump->sets);
  g_free (dump->row);
  g_free (dump->weight);
  g_free (dump->path);
  g_free (dump->taken);
  g_free (dump->read);
  g_strfreev (dump->row_labels);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Dump, dump_clear)

/* Reads @n values of @type, 8 bytes each, from the dataset @name in @group. Returns zeros if they cannot be read.
 * (transfer full) */
static gpointer
read_all (PlaitStore *store, const char *group, const char *name, PlaitStoreType type, gint64 n)
{
  g_autofree char *path = g_strdup_printf ("%s/%s", group, name);
  gint64 *values = g_new0 (gint64, n + 1); /* holds doubles if @type is double */
  CONTEXT ("%s", path);

  CHECK (plait_store_read (store, path, type, n, values, NO_ERROR));
  return values;
}

static Dump
dump_read (PlaitStore *store, const char *split, gint64 sentence)
{
  g_autofree char *group = g_strdup_printf ("/descent/%s/%jd/a", split, sentence);
  g_autofree char *labels = g_strconcat (group, "/row_labels", NULL);
  g_autofree char *attention = g_strdup_printf ("/attention/%s/%jd/a", split, sentence);
  Dump dump = { 0 };
  g_autofree gint64 *extents = read_all (store, group, "extents", PLAIT_STORE_INT64, 3);
  gint64 entries, n;

  dump.layers = extents[0];
  dump.heads = extents[1];
  dump.targets = extents[2];
  entries = dump.layers * dump.heads * dump.targets;
  dump.row_labels = plait_store_read_strings (store, labels, MAX_ITEMS, &dump.rows, NULL);
  CHECK (dump.row_labels && entries > 0);
  dump.level = read_all (store, group, "row_level", PLAIT_STORE_INT64, dump.rows);
  dump.first_child = read_all (store, group, "row_first_child", PLAIT_STORE_INT64, dump.rows);
  dump.children = read_all (store, group, "row_children", PLAIT_STORE_INT64, dump.rows);
  dump.entries = read_all (store, group, "entry_offsets", PLAIT_STORE_INT64, entries + 1);
  n = dump.entries[entries];
  dump.parent = read_all (store, group, "set_parent", PLAIT_STORE_INT64, n);
  dump.sets = read_all (store, group, "set_offsets", PLAIT_STORE_INT64, n + 1);
  n = dump.sets[n];
  dump.row = read_all (store, group, "row", PLAIT_STORE_INT64, n);
  dump.weight = read_all (store, group, "weight", PLAIT_STORE_DOUBLE, n);
  dump.path = read_all (store, group, "path", PLAIT_STORE_DOUBLE, n);
  dump.taken = read_all (store, group, "taken", PLAIT_STORE_DOUBLE, n);
  dump.read = read_all (store, attention, "weights", PLAIT_STORE_DOUBLE, entries * dump.rows);
  return dump;
}

/* The kind of descent that is expected. */
typedef struct
{
  guint branches; /* number of rows selected on each level; 0: all */
  gboolean normalised;
} Way;

/* Checks that each set is a distribution over the children of a selected row, or over the top rows, and that each path
 * is the product of the weights on it. Sets @reached [row] to the sum of the paths to each row. */
static void
check_sets (const Dump *dump, gint64 entry, double *reached)
{
  g_autofree gboolean *selected = g_new0 (gboolean, dump->rows);

  memset (reached, 0, (gsize)dump->rows * sizeof *reached);
  for (gint64 s = dump->entries[entry]; s < dump->entries[entry + 1]; s++)
    {
      gint64 first = dump->sets[s], n = dump->sets[s + 1] - first, parent = dump->parent[s];
      double above = parent < 0 ? 1 : reached[parent], sum = 0;
      CONTEXT ("set %d", (int)s);

      CHECK (n > 0);
      CHECK (parent < 0 ? s == dump->entries[entry] : selected[parent]);
      for (gint64 i = first; i < first + n; i++)
        {
          sum += dump->weight[i];
          CHECK_NEAR (dump->path[i], above * dump->weight[i], 1e-6);
          reached[dump->row[i]] += dump->path[i];
          selected[dump->row[i]] |= dump->taken[i] > 0;
          CHECK_INT (dump->row[i], parent < 0 ? dump->rows - n + i - first : dump->first_child[parent] + i - first);
        }
      CHECK_NEAR (sum, 1, 1e-5);
      if (parent >= 0)
        CHECK_INT (n, dump->children[parent]);
    }
}

/* Checks that the heaviest rows of each level are selected, and that attention reads all leaves that are reached. */
static void
check_taken (const Dump *dump, gint64 entry, const double *reached, const Way *way)
{
  gint64 first = dump->sets[dump->entries[entry]], end = dump->sets[dump->entries[entry + 1]];
  double of_leaves = 0;

  for (gint64 i = first; i < end; i++)
    {
      gint64 level = dump->level[dump->row[i]];
      guint heavier = 0;

      for (gint64 row = 0; row < dump->rows; row++)
        heavier += dump->level[row] == level
                   && (reached[row] > reached[dump->row[i]]
                       || (reached[row] == reached[dump->row[i]] && row < dump->row[i]));
      CHECK_INT (dump->taken[i], level == 0 || way->branches == 0 || heavier < way->branches);
      if (level == 0)
        of_leaves += dump->path[i];
    }
  if (way->branches == 0)
    CHECK_NEAR (of_leaves, 1, 1e-5);
  for (gint64 row = 0; row < dump->rows; row++)
    CHECK_NEAR (dump->read[entry * dump->rows + row],
                dump->level[row] > 0 ? 0 : reached[row] / (way->normalised ? of_leaves : 1), 1e-5);
}

/* Checks the descents of every target word, of translations and of references, in a run with @overrides. */
static void
check_dumps (const char *name, const char *const *overrides, const Way *way)
{
  static const char *const splits[] = { "test", "test-forced" };
  g_autoptr (PlaitStore) run = run_descent (name, overrides);

  REQUIRE (run != NULL);
  for (guint i = 0; i < G_N_ELEMENTS (splits); i++)
    for (gint64 s = 0; s < 8; s++)
      {
        g_auto (Dump) dump = dump_read (run, splits[i], s);
        g_autofree double *reached = g_new (double, dump.rows);

        for (gint64 entry = 0; entry < dump.layers * dump.heads * dump.targets; entry++)
          {
            CONTEXT ("%s, %s, sentence %d, entry %d", name, splits[i], (int)s, (int)entry);

            REQUIRE (dump.entries[entry + 1] > dump.entries[entry]);
            check_sets (&dump, entry, reached);
            check_taken (&dump, entry, reached, way);
          }
      }
}

TEST_CASE (descents, are_dumped_level_by_level)
{
  check_dumps ("top1", NULL, &(Way){ 1, TRUE });
  check_dumps ("soft", (const char *[]){ "combiner.descent=soft", NULL }, &(Way){ 0, TRUE });
  check_dumps ("beam",
               (const char *[]){ "combiner.descent=beam", "combiner.branches=2", "source.a.levels=0",
                                 "source.a.shared=true", NULL },
               &(Way){ 2, TRUE });
  check_dumps ("cif", (const char *[]){ "combiner.descent=soft", "source.a.pool=cif", NULL }, &(Way){ 0, TRUE });
  check_dumps ("heads",
               (const char *[]){ "decoder.type=transformer", "decoder.layers=2", "decoder.heads=2",
                                 "decoder.feed_forward=8", NULL },
               &(Way){ 1, TRUE });
}

/* The weights of the leaves do not sum to one with normalise=false. The dump must accept that. */
TEST_CASE (descents, are_dumped_with_the_products_of_their_paths)
{
  check_dumps ("products", (const char *[]){ "combiner.normalise=false", NULL }, &(Way){ 1, FALSE });
}

/* The label of a row above the leaves names its first and last leaf. */
TEST_CASE (descents, call_rows_by_what_they_span)
{
  g_autoptr (PlaitStore) run = run_descent ("labels", NULL);

  REQUIRE (run != NULL);
  for (gint64 s = 0; s < 8; s++)
    {
      g_auto (Dump) dump = dump_read (run, "test", s);

      for (gint64 row = 0; row < dump.rows; row++)
        {
          gint64 first = row, last = row;
          g_autofree char *expected = NULL;

          while (dump.children[first] > 0)
            first = dump.first_child[first];
          while (dump.children[last] > 0)
            last = dump.first_child[last] + dump.children[last] - 1;
          expected = first == last ? g_strdup (dump.row_labels[first])
                                   : g_strdup_printf ("%s … %s", dump.row_labels[first], dump.row_labels[last]);
          CHECK_STRING (dump.row_labels[row], expected);
        }
    }
}

/* For rates of over- and under-translation, the leaves of a pyramid are counted. */
TEST_CASE (descents, have_rates_of_translation)
{
  static const char *const columns[] = { "over", "under", "words" };
  static const double bounds[] = { .6, .3 };
  g_autoptr (PlaitStore) run = run_descent ("rates", (const char *[]){ "evaluate.translation_rates=forced",
                                                                       "evaluate.translation_rate_over=0.6",
                                                                       "evaluate.translation_rate_under=0.3", NULL });

  REQUIRE (run != NULL);
  for (gint64 s = 0; s < 8; s++)
    {
      g_auto (Dump) dump = dump_read (run, "test-forced", s);
      double expected[3] = { 0 };

      for (gint64 row = 0; row < dump.rows && dump.children[row] == 0; row++)
        {
          double sum = 0;

          if (g_str_equal (dump.row_labels[row], "</s>"))
            continue;
          for (gint64 t = 0; t + 1 < dump.targets; t++)
            sum += dump.read[t * dump.rows + row];
          expected[0] += sum > bounds[0];
          expected[1] += sum < bounds[1];
          expected[2]++;
        }
      CHECK (expected[2] >= 1);
      for (guint c = 0; c < 3; c++)
        {
          g_autofree char *path = g_strdup_printf ("/evaluation/test/translation_rates/forced/a/%s", columns[c]);
          double found[8] = { 0 };

          CHECK (plait_store_read (run, path, PLAIT_STORE_DOUBLE, 8, found, NULL));
          CHECK_NEAR (found[s], expected[c], 0);
        }
    }
}
