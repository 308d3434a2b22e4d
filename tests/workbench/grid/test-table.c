/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "grid/table.h"
#include "harness.h"

/* Tests of tables of cells that this file makes, so that every number is known. */

static const char *const combiners[] = { "serial", "fl,at" };
static const char *const seeds[] = { "1", "2" };

/* [row, seed, sentence]: translations */
static const char *const hypotheses[2][2][4]
    = { { { "a b c d e", "a b c d f", "x", "y" }, { "a b c d e", "y", "x", "y" } },
        { { "a b c d e", "a b c d f", "x", "y" }, { "a b c d e", "y", "x", "y" } } };
static const char *const references[] = { "a b c d e", "a b c d f", "a b c d g", "a b c d h" };

typedef struct
{
  PlaitCells cells;
  PlaitAxis axes[2];
  PlaitExperimentCell cell[4];
  PlaitExperiment experiment;
  guint places[4][2];
  PlaitGridCell items[4];
  PlaitGrid grid;
} Made;

static void
add_score (PlaitRunResult *result, const char *metric, const char *const *said, double score, double low, double high)
{
  PlaitRunScore *made = g_new0 (PlaitRunScore, 1);
  const char *const *sets[] = { references };
  PlaitTextPairs pairs = { 4, said, 1, sets };

  made->split = g_strdup ("test");
  made->metric = g_strdup (metric);
  made->name = g_ascii_strup (metric, -1);
  made->score = score;
  made->low = low;
  made->high = high;
  made->references = g_strdup ("digest");
  if (said)
    {
      made->scorer = plait_metric_new (metric, NULL);
      made->statistics = plait_metric_statistics (made->scorer, &pairs, NULL);
    }
  g_ptr_array_add (result->scores, made);
}

static void
free_score (gpointer score)
{
  PlaitRunScore *made = score;

  g_free (made->split);
  g_free (made->metric);
  g_free (made->name);
  g_free (made->references);
  g_clear_pointer (&made->scorer, plait_metric_free);
  g_clear_pointer (&made->statistics, plait_statistics_free);
  g_free (made);
}

/* Makes two rows of two seeds. All cells except the last are finished. */
static Made *
make (void)
{
  Made *made = g_new0 (Made, 1);

  made->axes[0] = (PlaitAxis){ "decoder.combiner", (char **)combiners, 2 };
  made->axes[1] = (PlaitAxis){ "experiment.seed", (char **)seeds, 2 };
  made->cells = (PlaitCells){ .name = "made", .n_axes = 2, .axes = made->axes, .n_cells = 4, .cells = made->cell };
  made->grid = (PlaitGrid){ .cells = &made->cells, .n = 4, .items = made->items };
  for (guint i = 0; i < 4; i++)
    {
      PlaitRunResult *result = g_new0 (PlaitRunResult, 1);
      double rates[] = { 100 * (i + 1), 1, 1000 };

      made->places[i][0] = i / 2;
      made->places[i][1] = i % 2;
      made->cell[i] = (PlaitExperimentCell){ "label", made->places[i], &made->experiment };
      made->items[i] = (PlaitGridCell){ .cell = &made->cell[i], .state = PLAIT_CELL_FINISHED };
      result->scores = g_ptr_array_new_with_free_func (free_score);
      result->rates = g_array_new (FALSE, FALSE, sizeof (double));
      result->vocabularies = g_array_new (FALSE, FALSE, sizeof (PlaitRunVocabulary));
      g_array_append_vals (result->rates, rates, 3);
      result->parameters = 1000 + i;
      add_score (result, "bleu", hypotheses[i / 2][i % 2], 10 + 4 * i, 9 + 4 * i, 12 + 4 * i);
      add_score (result, "ppl", NULL, 2.5 * i, 2.5 * i, 2.5 * i);
      made->items[i].result = result;
    }
  made->items[3].state = PLAIT_CELL_FAILED;
  g_clear_pointer (&made->items[3].result, plait_run_result_free);
  return made;
}

static void
made_free (Made *made)
{
  for (guint i = 0; i < 4; i++)
    plait_run_result_free (made->items[i].result);
  g_free (made);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Made, made_free)

TEST_CASE (grid_table, has_means_and_spreads_over_seeds)
{
  g_autoptr (Made) made = make ();
  g_autoptr (PlaitGridTable) table = plait_grid_table_new (&made->grid, NO_ERROR);

  REQUIRE (table != NULL);
  CHECK_INT (table->n_axes, 1);
  CHECK_INT (table->n_rows, 2);
  CHECK_INT (table->n_score_columns, 2);
  CHECK (table->one_split);
  CHECK_STRING (table->rows[0].values[0], "serial");
  CHECK_INT (table->rows[0].n, 2);
  CHECK_INT (table->rows[1].n, 1);
  CHECK_INT (table->rows[1].n_cells, 2);
  CHECK_INT (table->rows[0].parameters, 1000);
  CHECK_INT (table->rows[1].parameters, 1002);
  /* The two seeds of row 0 have the scores 10 and 14. Their deviations from the mean are 2 and 2. The sum of the
   * squares is 8, divided by n - 1 = 1. */
  CHECK_NEAR (table->rows[0].seed_statistics[0].mean, 12, 1e-12);
  CHECK_NEAR (table->rows[0].seed_statistics[0].deviation, sqrt (8), 1e-12);
  CHECK (isnan (table->rows[0].seed_statistics[0].low));
  CHECK_NEAR (table->rows[1].seed_statistics[0].mean, 18, 0);
  CHECK (isnan (table->rows[1].seed_statistics[0].deviation));
  CHECK_NEAR (table->rows[1].seed_statistics[0].low, 17, 0);
  CHECK_NEAR (table->rows[1].seed_statistics[0].high, 20, 0);
  /* The medians are those of 1 1 100 200 1000 1000, and of 1 300 1000. */
  CHECK_NEAR (table->rows[0].rate, 150, 0);
  CHECK_NEAR (table->rows[1].rate, 300, 0);
}

TEST_CASE (grid_table, tests_all_seeds_of_both_rows)
{
  g_autoptr (Made) made = make ();
  g_autoptr (GError) error = NULL;
  g_autoptr (PlaitGridTable) table = plait_grid_table_new (&made->grid, &error);
  double mean = 0;

  REQUIRE (table != NULL);
  CHECK (!table->rows[0].seed_statistics[0].compared);
  CHECK (table->rows[1].seed_statistics[0].compared);
  CHECK (!table->rows[1].seed_statistics[1].compared);
  CHECK_INT (table->rows[1].seed_statistics[0].comparison.test, PLAIT_TEST_SEEDS);
  /* The baseline is the mean, over the seeds of row 0, of the scores that the statistics give. */
  for (guint i = 0; i < 2; i++)
    {
      const PlaitRunScore *score = made->items[i].result->scores->pdata[0];
      g_autofree double *sums = g_new (double, score->statistics->width);

      plait_statistics_sum (score->statistics, sums);
      mean += plait_metric_score (score->scorer, sums) / 2;
    }
  CHECK_NEAR (table->rows[1].seed_statistics[0].comparison.baseline, mean, 1e-12);

  /* Now each row has one seed. */
  g_clear_pointer (&made->items[1].result, plait_run_result_free);
  g_autoptr (PlaitGridTable) single = plait_grid_table_new (&made->grid, &error);
  REQUIRE (single != NULL);
  CHECK_INT (single->rows[1].seed_statistics[0].comparison.test, PLAIT_TEST_PERMUTATION);
  CHECK_NEAR (single->rows[1].seed_statistics[0].comparison.p, 1, 0);
  g_autoptr (GPtrArray) shown = plait_grid_tables_shown (single);
  g_autofree char *markdown = plait_table_markdown (shown->pdata[0]);
  CHECK_CONTAINS (markdown, "| BLEU | p (one seed) | p (Holm, one seed) |");
}

/* In a grid that was opened without its experiment file, only finished cells have an experiment. */
TEST_CASE (grid_table, has_rows_whose_first_cell_is_not_finished)
{
  g_autoptr (Made) made = make ();
  g_autoptr (PlaitGridTable) table = NULL;

  made->items[2].cell = &made->cell[3];
  made->items[3].cell = &made->cell[2];
  made->cell[3].experiment = NULL;
  made->items[3].state = PLAIT_CELL_FINISHED;
  made->items[3].result = g_steal_pointer (&made->items[2].result);
  made->items[2].state = PLAIT_CELL_NEW;
  table = plait_grid_table_new (&made->grid, NO_ERROR);
  REQUIRE (table != NULL);
  CHECK_INT (table->rows[1].n, 1);
  CHECK (table->rows[1].seed_statistics[0].compared);
}

/* Adds an accuracy to @result: @right of @n sentences are right. */
static void
add_accuracy (PlaitRunResult *result, guint right, guint n)
{
  PlaitRunScore *score;

  add_score (result, "accuracy", NULL, 100.0 * right / n, 0, 0);
  score = result->scores->pdata[result->scores->len - 1];
  score->scorer = plait_metric_new ("accuracy", NULL);
  score->statistics = plait_statistics_new (n, 2);
  for (guint i = 0; i < n; i++)
    {
      score->statistics->values[2 * i] = i < right;
      score->statistics->values[2 * i + 1] = 1;
    }
}

/* The accuracies of the rows are 22.5 +- 3.5 and 55 +- 49.5 over two seeds. The difference is not marked as
 * significant: other seeds could reverse it, although many sentences change. */
TEST_CASE (grid_table, marks_no_difference_that_is_one_of_seeds)
{
  g_autoptr (Made) made = make ();
  g_autoptr (GError) error = NULL;
  const guint right[] = { 8, 10, 8, 36 };

  made->items[3].state = PLAIT_CELL_FINISHED;
  made->items[3].result = g_new0 (PlaitRunResult, 1);
  made->items[3].result->scores = g_ptr_array_new_with_free_func (free_score);
  made->items[3].result->rates = g_array_new (FALSE, FALSE, sizeof (double));
  made->items[3].result->vocabularies = g_array_new (FALSE, FALSE, sizeof (PlaitRunVocabulary));
  for (guint i = 0; i < 4; i++)
    add_accuracy (made->items[i].result, right[i], 40);
  g_autoptr (PlaitGridTable) table = plait_grid_table_new (&made->grid, &error);
  REQUIRE (table != NULL);
  REQUIRE (table->n_score_columns == 3);
  const PlaitSeedStatistics *value = &table->rows[1].seed_statistics[2];
  CHECK_NEAR (table->rows[0].seed_statistics[2].mean, 22.5, 1e-9);
  CHECK_NEAR (value->mean, 55, 1e-9);
  CHECK_NEAR (value->comparison.difference, 32.5, 1e-9);
  CHECK (value->comparison.p > 0.1);
  g_autoptr (GPtrArray) shown = plait_grid_tables_shown (table);
  g_autofree char *markdown = plait_table_markdown (shown->pdata[0]);
  CHECK (!strstr (markdown, "\\*"));
  CHECK_CONTAINS (markdown, "a t test over seeds and sentences");
}

TEST_CASE (grid_table, keeps_other_references_apart)
{
  g_autoptr (Made) made = make ();
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < 2; i++)
    {
      PlaitRunScore *other = made->items[2].result->scores->pdata[i];

      g_free (other->references);
      other->references = g_strdup ("anotherdigest");
    }
  g_autoptr (PlaitGridTable) table = plait_grid_table_new (&made->grid, &error);
  REQUIRE (table != NULL);
  REQUIRE (table->n_score_columns == 4);
  CHECK (!table->one_split);
  CHECK (!table->rows[1].seed_statistics[0].compared);
  CHECK (!table->rows[1].seed_statistics[2].compared);
  CHECK_INT (table->rows[1].seed_statistics[0].n, 0);
  CHECK_INT (table->rows[0].seed_statistics[2].n, 0);
  CHECK_NEAR (table->rows[1].seed_statistics[2].mean, 18, 0);
  g_autoptr (GPtrArray) shown = plait_grid_tables_shown (table);
  REQUIRE (shown->len == 2);
  g_autofree char *first = plait_table_markdown (shown->pdata[0]);
  g_autofree char *second = plait_table_markdown (shown->pdata[1]);
  CHECK_CONTAINS (first,
                  "| combiner | n | test (references digest) BLEU | p | p (Holm) | test (references digest) PPL | "
                  "parameters |");
  CHECK (!strstr (first, "fl,at"));
  CHECK_CONTAINS (second, "| combiner | n | test (references anotherd) BLEU | p |");
  CHECK_CONTAINS (second, "| fl,at | 1 | 18.00 ");
  CHECK (!strstr (second, "serial"));
  CHECK_CONTAINS (second, "Cells with other references");
}

/* The metrics bleu and bleu:lowercase have the same title, BLEU. */
TEST_CASE (grid_table, tells_metrics_of_one_name_apart)
{
  g_autoptr (Made) made = make ();
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < 3; i++)
    add_score (made->items[i].result, "bleu:lowercase", hypotheses[0][0], 1, 1, 1);
  for (guint i = 0; i < 3; i++)
    {
      PlaitRunScore *score = made->items[i].result->scores->pdata[2];

      g_free (score->name);
      score->name = g_strdup ("BLEU");
    }
  g_autoptr (PlaitGridTable) table = plait_grid_table_new (&made->grid, &error);
  REQUIRE (table != NULL);
  CHECK_INT (table->n_score_columns, 3);
  CHECK_STRING (table->score_columns[0].name, "bleu");
  CHECK_STRING (table->score_columns[1].name, "PPL");
  CHECK_STRING (table->score_columns[2].name, "bleu:lowercase");
}

/* A score with the flag aside becomes a column, for all cells, if one cell has the score without the
 * flag. */
TEST_CASE (grid_table, shows_a_score_that_stands_aside_beside_one_that_does_not)
{
  g_autoptr (Made) made = make ();
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < 3; i++)
    {
      add_score (made->items[i].result, "touched", NULL, 5 + i, 5 + i, 5 + i);
      ((PlaitRunScore *)made->items[i].result->scores->pdata[2])->aside = TRUE;
    }
  g_autoptr (PlaitGridTable) hidden = plait_grid_table_new (&made->grid, &error);
  REQUIRE (hidden != NULL);
  CHECK_INT (hidden->n_score_columns, 2);
  ((PlaitRunScore *)made->items[2].result->scores->pdata[2])->aside = FALSE;
  g_autoptr (PlaitGridTable) table = plait_grid_table_new (&made->grid, &error);
  REQUIRE (table != NULL);
  CHECK_INT (table->n_score_columns, 3);
  CHECK_STRING (table->score_columns[2].name, "TOUCHED");
  CHECK_NEAR (table->rows[0].seed_statistics[2].mean, 5.5, 0);
  CHECK_NEAR (table->rows[1].seed_statistics[2].mean, 7, 0);
}

TEST_CASE (grid_table, writes_csv_and_markdown)
{
  g_autoptr (Made) made = make ();
  g_autoptr (PlaitGridTable) table = plait_grid_table_new (&made->grid, NULL);

  REQUIRE (table != NULL);
  g_autoptr (PlaitTable) numbers = plait_grid_table_numbers (table);
  g_autoptr (GPtrArray) shown = plait_grid_tables_shown (table);
  g_autofree char *csv = plait_table_csv (numbers), *markdown = plait_table_markdown (shown->pdata[0]);
  g_auto (GStrv) lines = g_strsplit (csv, "\n", -1);
  REQUIRE (g_strv_length (lines) == 4);
  CHECK_STRING (lines[0],
                "decoder.combiner,n,test BLEU,test BLEU standard deviation,test BLEU low,test BLEU high,"
                "test BLEU p,test BLEU adjusted p,test BLEU better,test PPL,test PPL standard deviation,test PPL low,"
                "test PPL high,parameters,target tokens per second");
  /* One seed, whose score is that of the baseline's first seed: t = .5 / sqrt (.75), with one degree of freedom. */
  CHECK_CONTAINS (lines[2], "\"fl,at\",1,18,,17,20,0.66666666");
  CHECK (g_str_has_suffix (lines[2], ",5,,5,5,1002,300"));
  CHECK_CONTAINS (markdown, "| combiner | n | BLEU | p | p (Holm) | PPL | parameters | target tokens/s |\n"
                            "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
                            "| serial | 2 | 12.00 ± 2.83 | – | – | 1.25 ± 1.77 | 1000 | 150 |\n");
  CHECK_CONTAINS (markdown, "| fl,at | 1 | 18.00 \\[17.00, 20.00] | 0.6667 | 0.6667 | 5.00 | 1002 | 300 |\n");
}
