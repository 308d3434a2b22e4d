/* SPDX-License-Identifier: MIT */
#include "files.h"
#include "grid/cost.h"
#include "grids.h"
#include "harness.h"
#include "scoring/run-diff.h"

/* Tests of cells that get more epochs after they were finished. */

#define LONGER "train.epochs=2"

/* Checks that the cells of the grids @a and @b have equal bits, except times and paths. */
static void
check_same_cells (const PlaitGrid *a, const PlaitGrid *b)
{
  for (guint i = 0; i < a->n; i++)
    {
      g_autofree char *one = plait_grid_file (a, &a->items[i], ".h5");
      g_autofree char *two = plait_grid_file (b, &b->items[i], ".h5");
      g_autoptr (PlaitStore) here = plait_store_open (one, NO_ERROR);
      g_autoptr (PlaitStore) there = plait_store_open (two, NO_ERROR);
      g_autoptr (GArray) parts = NULL;
      CONTEXT ("%s", a->items[i].cell->label);

      REQUIRE (here && there);
      parts = plait_run_diff_new (here, there, PLAIT_RUN_DIFF_ALL, 0, NO_ERROR);
      REQUIRE (parts && parts->len > 0);
      for (guint k = 0; k < parts->len; k++)
        {
          const PlaitRunDiff *part = &g_array_index (parts, PlaitRunDiff, k);
          CONTEXT ("%s: %s", part->name, part->first ? part->first : "");

          CHECK (part->compared > 0);
          CHECK_INT (part->different, 0);
        }
    }
}

/* Training continues from its end and gives the bits of one longer training. */
TEST_CASE (longer, cells_go_on_to_the_same_bits)
{
  static const char *const longer[] = { LONGER, NULL };

  test_grid_write ("decoder.combiner=serial;flat\n");
  test_grid_run_all ("whole", 2, longer);
  test_grid_run_all ("cells", 2, NULL);
  {
    g_auto (TestGrid) opened = test_grid_open ("cells", longer, 0);
    gint stop = 1;
    PlaitGridOptions options = { .jobs = 1, .threads = 1, .stop = &stop };
    g_autofree char *finished = plait_grid_file (opened.grid, &opened.grid->items[0], ".h5");
    g_autoptr (GBytes) before = plait_test_read (finished);
    g_autoptr (GError) error = NULL;

    CHECK_INT (plait_grid_count (opened.grid, PLAIT_CELL_PARTIAL), 2);
    CHECK_STRING (opened.grid->items[1].note, "after update 4");
    /* If the grid is interrupted before training begins, finished runs are unchanged and can still be continued. */
    CHECK (!plait_grid_run (opened.grid, &options, &error));
    CHECK_ERROR (error, PLAIT_ERROR_INTERRUPTED, "run the same command to continue");
    g_autoptr (GBytes) after = plait_test_read (finished);
    CHECK (g_bytes_equal (after, before));
  }
  g_auto (TestGrid) whole = test_grid_open ("whole", longer, 0);
  g_auto (TestGrid) opened = test_grid_open ("cells", longer, 0);

  CHECK_INT (plait_grid_count (opened.grid, PLAIT_CELL_PARTIAL), 2);
  test_grid_run (&opened, 2);
  CHECK_INT (plait_grid_count (opened.grid, PLAIT_CELL_FINISHED), 2);
  check_same_cells (whole.grid, opened.grid);
  g_auto (TestGrid) again = test_grid_open ("cells", longer, 0);
  CHECK_INT (plait_grid_count (again.grid, PLAIT_CELL_FINISHED), 2);
  g_auto (TestGrid) fresh = test_grid_open ("cells", longer, TRUE);
  CHECK_INT (plait_grid_count (fresh.grid, PLAIT_CELL_STALE), 2);
}

/* The cost of a cell that continues a finished run is estimated from longer runs, minus the training already done. The
 * time of the finished run itself says nothing about a longer training. */
TEST_CASE (longer, cells_take_the_time_that_is_left)
{
  static const char *const longer[] = { LONGER, NULL };
  double trained[2], evaluated = 0;

  test_grid_write ("experiment.seed=1\n");
  test_grid_run_all ("cells", 1, longer);
  test_grid_write ("experiment.seed=2\n");
  test_grid_run_all ("cells", 1, NULL);
  test_grid_write ("experiment.seed=1;2\n");
  g_auto (TestGrid) opened = test_grid_open ("cells", longer, 0);
  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *path = plait_grid_file (opened.grid, &opened.grid->items[i], ".h5");
      g_autoptr (PlaitStore) run = plait_store_open (path, NO_ERROR);

      REQUIRE (
          run && plait_store_get_double (run, "/environment/training", "seconds", &trained[i], NO_ERROR)
          && (i > 0 || plait_store_get_double (run, "/environment/evaluation/test", "seconds", &evaluated, NO_ERROR)));
    }
  CHECK_INT (opened.grid->items[0].state, PLAIT_CELL_FINISHED);
  CHECK_INT (opened.grid->items[1].state, PLAIT_CELL_PARTIAL);
  g_autoptr (PlaitGridCost) cost = plait_grid_cost_new (opened.grid, NULL);
  CHECK_INT (cost->n_ran, 1);
  CHECK (cost->cells[1].like == &opened.grid->items[0]);
  CHECK_NEAR (cost->seconds, evaluated + MAX (0, trained[0] - trained[1]), 1e-9);
}

/* If continuing would give other bits than one training, the cell is stale: it must be trained from the beginning. */
TEST_CASE (longer, cells_begin_anew_where_going_on_is_not_the_same)
{
  static const struct
  {
    const char *before[4];
    const char *now[4];
  } cases[] = {
    { { "train.epochs=2" }, { "train.epochs=1" } },
    { { "train.epochs=1" }, { LONGER, "train.batch=11" } },
    { { "train.epochs=1" }, { LONGER, "data.generate.seed=8" } },
    { { "train.schedule=linear" }, { LONGER, "train.schedule=linear" } },
    /* The first training ends with a validation that a longer training would not make. */
    { { "train.updates=2" }, { LONGER, "train.updates=6" } },
    { { "train.validate_every=3" }, { LONGER, "train.validate_every=3" } },
    /* The longer training might have ended earlier, because it has patience. */
    { { "train.epochs=1" }, { LONGER, "train.patience=1" } },
  };

  test_grid_write ("decoder.combiner=serial\n");
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *folder = g_strdup_printf ("cells%u", i);
      CONTEXT ("%s, then %s", cases[i].before[0], cases[i].now[1] ? cases[i].now[1] : cases[i].now[0]);

      test_grid_run_all (folder, 1, cases[i].before);
      g_auto (TestGrid) opened = test_grid_open (folder, cases[i].now, 0);
      CHECK_INT (opened.grid->items[0].state, PLAIT_CELL_STALE);
    }
}

/* Two cells differ only in evaluation: one of them continues training, and both are evaluated. */
TEST_CASE (longer, one_of_the_cells_that_are_trained_the_same_goes_on)
{
  static const char *const longer[] = { LONGER, NULL };

  test_grid_write ("decode.beam=1;2\n");
  test_grid_run_all ("cells", 1, NULL);
  g_auto (TestGrid) opened = test_grid_open ("cells", longer, 0);

  CHECK_INT (opened.grid->items[0].state, PLAIT_CELL_PARTIAL);
  CHECK_INT (opened.grid->items[1].state, PLAIT_CELL_STALE);
  CHECK_CONTAINS (opened.grid->items[1].note, "evaluated after that cell is trained");
  test_grid_run (&opened, 2);
  CHECK_INT (plait_grid_count (opened.grid, PLAIT_CELL_FINISHED), 2);
  CHECK_STRING (opened.grid->items[1].trained, plait_test_format ("%s.h5", opened.grid->items[0].name));
}
