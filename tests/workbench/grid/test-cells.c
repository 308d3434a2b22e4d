/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "axes/cells.h"
#include "harness.h"
#include "runs.h"

static const char grid_head[] = "[experiment]\nname=grid\n"                                   /* lines 1 and 2 */
                                "[data]\ngenerate=agreement\ngenerate.train=100\n"            /* lines 3 to 5 */
                                "[source %s]\nencoder=transformer\n"                          /* lines 6 and 7 */
                                "[source %s]\nencoder=transformer\n"                          /* lines 8 and 9 */
                                "[decoder]\nwidth=64\n[combiner]\ncontext_heads=2\n[grid]\n"; /* lines 10 to 14 */

static void
write_file (const char *path, const char *text)
{
  FILE *file = fopen (path, "w");

  g_assert_true (file && fputs (text, file) >= 0 && fclose (file) == 0);
}

/* Loads a grid file that ends with the lines @axes. */
static PlaitCells *
load (PlaitRegistry *registry, const char *axes, GError **error)
{
  const char *const *streams = plait_tasks ()[0]->streams;
  const char *path = plait_test_path ("grid.ini");

  write_file (path, plait_test_format ("%s%s", plait_test_format (grid_head, streams[0], streams[1]), axes));
  return plait_cells_load (path, NULL, 0, registry, error);
}

static PlaitRegistry *
open_registry (void)
{
  return plait_registry_new_for_folders ((const char *[]){ plait_test_build_path ("plugins"), NULL });
}

/* Zipped axes vary together. A conditional axis exists only in cells that meet its condition; in other cells the
 * setting has the value that the file gives it, or else its default. */
TEST_CASE (cells, axes_that_hang_together)
{
  g_autoptr (PlaitRegistry) registry = open_registry ();
  g_autoptr (PlaitCells) cells
      = load (registry,
              "decoder.width=32;64\ndecoder.layers=1;2\ndecoder.combiner=hierarchical;serial\n"
              "combiner.context_heads=4;8\ntrain.smoothing=0.2;0.3\nzip=decoder.width & decoder.layers\n"
              "only.combiner.context_heads=decoder.combiner=hierarchical\n"
              "only.train.smoothing=decoder.combiner=serial & decoder.layers=2\n",
              NO_ERROR);

  REQUIRE (cells != NULL);
  REQUIRE (cells->n_cells == 7);
  CHECK_STRING (cells->cells[0].label,
                "decoder.width=32 decoder.layers=1 decoder.combiner=hierarchical combiner.context_heads=4");
  CHECK_STRING (cells->cells[2].label, "decoder.width=32 decoder.layers=1 decoder.combiner=serial");
  CHECK_STRING (cells->cells[4].label,
                "decoder.width=64 decoder.layers=2 decoder.combiner=hierarchical combiner.context_heads=8");
  CHECK_STRING (cells->cells[6].label, "decoder.width=64 decoder.layers=2 decoder.combiner=serial train.smoothing=0.3");
  CHECK_STRING (cells->axes[3].values[cells->cells[2].value_indices[3]], "");
  CHECK_STRING (cells->axes[3].values[cells->cells[4].value_indices[3]], "8");
  CHECK_NEAR (cells->cells[6].experiment->train.smoothing, 0.3, 0);
  /* The file does not set train.smoothing, so cells without this axis have its default. */
  CHECK_NEAR (cells->cells[3].experiment->train.smoothing, cells->cells[0].experiment->train.smoothing, 0);
  CHECK (cells->cells[3].experiment->train.smoothing < 0.2);

  /* The file sets decoder.width=64. */
  g_autoptr (PlaitCells) widths = load (registry,
                                        "decoder.combiner=hierarchical\ndecoder.layers=1;2\ndecoder.width=32;128\n"
                                        "only.decoder.width=decoder.layers=2\n",
                                        NO_ERROR);
  REQUIRE (widths && widths->n_cells == 3);
  CHECK_INT (widths->cells[0].experiment->decoder.width, 64);
  CHECK_INT (widths->cells[1].experiment->decoder.width, 32);
  CHECK_INT (widths->cells[2].experiment->decoder.width, 128);
}

/* A condition may name an axis that has a condition itself, before or after it. A cell without that axis does not meet
 * the condition. */
TEST_CASE (cells, conditions_on_conditional_axes)
{
  static const char conditions[]
      = "only.train.smoothing=decoder.width=64\nonly.decoder.width=decoder.combiner=serial\n";
  static const char *const orders[] = {
    "train.smoothing=0.2;0.3\ndecoder.width=64;32\ndecoder.combiner=hierarchical;serial\n",
    "decoder.combiner=hierarchical;serial\ndecoder.width=64;32\ntrain.smoothing=0.2;0.3\n",
  };
  g_autoptr (PlaitRegistry) registry = open_registry ();

  for (guint i = 0; i < G_N_ELEMENTS (orders); i++)
    {
      CONTEXT ("%s", orders[i]);
      g_autoptr (PlaitCells) cells = load (registry, plait_test_format ("%s%s", orders[i], conditions), NO_ERROR);

      REQUIRE (cells && cells->n_cells == 4);
      CHECK_STRING (cells->cells[0].label, "decoder.combiner=hierarchical");
    }
}

/* If the first of the axes that vary together has a condition, cells that do not meet it still vary the other axis. */
TEST_CASE (cells, condition_on_the_first_zipped_axis)
{
  g_autoptr (PlaitRegistry) registry = open_registry ();
  g_autoptr (PlaitCells) cells
      = load (registry,
              "decoder.combiner=hierarchical;serial\ndecoder.width=32;64\ntrain.smoothing=0.2;0.3\n"
              "zip=decoder.width & train.smoothing\nonly.decoder.width=decoder.combiner=serial\n",
              NO_ERROR);

  REQUIRE (cells && cells->n_cells == 4);
  CHECK_STRING (cells->cells[0].label, "decoder.combiner=hierarchical train.smoothing=0.2");
  CHECK_STRING (cells->cells[1].label, "decoder.combiner=hierarchical train.smoothing=0.3");
  CHECK_STRING (cells->cells[3].label, "decoder.combiner=serial decoder.width=64 train.smoothing=0.3");
}

/* A zipped axis may have a value several times if the combinations differ. Combinations that differ only in an axis
 * that the cell does not have give one cell. */
TEST_CASE (cells, values_that_zipped_axes_repeat)
{
  g_autoptr (PlaitRegistry) registry = open_registry ();
  g_autoptr (PlaitCells) cells
      = load (registry,
              "decoder.width=32;64;32;32\ndecoder.layers=1;1;2;3\nexperiment.seed=1;2\ndecoder.combiner=hierarchical\n"
              "zip=decoder.width & decoder.layers\nexclude=decoder.width=32 & "
              "decoder.layers=3 & experiment.seed=2\n",
              NO_ERROR);

  REQUIRE (cells != NULL);
  REQUIRE (cells->n_cells == 7);
  CHECK_INT (cells->axes[0].n_values, 2);
  CHECK_STRING (cells->cells[2].label,
                "decoder.width=64 decoder.layers=1 experiment.seed=1 decoder.combiner=hierarchical");
  CHECK_STRING (cells->cells[4].label,
                "decoder.width=32 decoder.layers=2 experiment.seed=1 decoder.combiner=hierarchical");
  CHECK_STRING (cells->cells[6].label,
                "decoder.width=32 decoder.layers=3 experiment.seed=1 decoder.combiner=hierarchical");
  CHECK_INT (cells->cells[6].experiment->decoder.width, 32);
  CHECK (plait_cells_are_seeds (cells, &cells->cells[4], &cells->cells[5]));
  CHECK (!plait_cells_are_seeds (cells, &cells->cells[0], &cells->cells[4]));

  g_autoptr (PlaitCells) conditional = load (registry,
                                             "decoder.combiner=hierarchical;serial\ndecoder.width=32;32;64\n"
                                             "decoder.layers=1;2;2\nzip=decoder.width & decoder.layers\n"
                                             "only.decoder.layers=decoder.combiner=serial\n",
                                             NO_ERROR);
  REQUIRE (conditional && conditional->n_cells == 5);
  CHECK (!conditional->duplicates[0]);
  CHECK_STRING (conditional->cells[1].label, "decoder.combiner=hierarchical decoder.width=64");
}

TEST_CASE (cells, refuses_ties_of_nothing)
{
  static const struct
  {
    const char *axes;
    const char *message;
  } cases[] = {
    { "experiment.seed=1;2\nzip=experiment.seed\n",
      "\"experiment.seed\" names fewer than two axes; write two or more keys joined by '&', such as KEY & KEY" },
    { "experiment.seed=1;2\ndecoder.width=8;16\nzip=experiment.seed,decoder.width\n",
      "did you mean \"experiment.seed & decoder.width\"?" },
    { "experiment.seed=1;2\ndecoder.width=8;16\nzip=experiment.seed;decoder.width\n",
      "did you mean \"experiment.seed & decoder.width\"?" },
    { "experiment.seed=1;2\nzip=experiment.seed & decoder.width\n", "\"decoder.width\" is not an axis of this grid" },
    { "experiment.seed=1;2\nzip=experiment.seed & experiment.seed\n", "names the axis experiment.seed twice" },
    { "experiment.seed=1;2\ndecoder.width=8;16\ndecoder.layers=1;2\nzip=decoder.width & decoder.layers\n"
      "zip.more=experiment.seed & decoder.width\n",
      "names the axis decoder.width twice" },
    { "experiment.seed=1;2\ndecoder.width=8;16;32\nzip=experiment.seed & decoder.width\n",
      "decoder.width has 3 values, but experiment.seed has 2" },
    { "decoder.width=8;16;8\ndecoder.layers=1;2;1\nzip=decoder.width & decoder.layers\n",
      "[grid] decoder.width: has the value \"8\" twice with the same values of the axes zipped with it; keep one" },
    { "experiment.seed=1;2\ndecoder.width=8;16\nzip=decoder.width & experiment.seed\n",
      "begins with an axis that [grid] lists after experiment.seed; name the axes in the order of [grid]" },
    { "experiment.seed=1;2\nonly.decoder.width=experiment.seed=1\n", "\"decoder.width\" is not an axis of this grid" },
    { "experiment.seed=1;2\ndecoder.width=8;16\nonly.decoder.width=experiment.seed=3\n",
      "\"3\" is not a value of the axis experiment.seed" },
  };
  g_autoptr (PlaitRegistry) registry = open_registry ();

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      CONTEXT ("%s", cases[i].axes);
      g_autoptr (GError) error = NULL;
      g_autoptr (PlaitCells) cells = load (registry, cases[i].axes, &error);

      CHECK (!cells);
      CHECK_ERROR (error, PLAIT_ERROR_INPUT, cases[i].message);
    }
}

TEST_CASE (cells, every_combination_the_first_axis_slowest)
{
  g_autoptr (PlaitRegistry) registry = open_registry ();
  g_autoptr (PlaitCells) cells
      = load (registry, "decoder.combiner=hierarchical;serial\nexperiment.seed=1;2;3\n", NO_ERROR);

  REQUIRE (cells != NULL);
  CHECK_STRING (cells->name, "grid");
  CHECK_INT (cells->n_axes, 2);
  REQUIRE (cells->n_cells == 6);
  CHECK_STRING (cells->cells[1].label, "decoder.combiner=hierarchical experiment.seed=2");
  CHECK_STRING (cells->cells[3].label, "decoder.combiner=serial experiment.seed=1");
  CHECK_INT (cells->cells[3].value_indices[0], 1);
  CHECK_INT (cells->cells[3].experiment->experiment.seed, 1);
  CHECK_STRING (cells->cells[3].experiment->combiner->plugin->name, "serial");
  /* The file has parameters of hierarchical, for all cells; the combiner serial does not have these parameters. */
  CHECK (plait_settings_find (cells->cells[3].experiment->combiner->parameters, "context_heads") < 0);
  CHECK_STRING (plait_settings_text (cells->cells[0].experiment->combiner->parameters, "context_heads"), "2");
}

TEST_CASE (cells, exclusions)
{
  g_autoptr (PlaitRegistry) registry = open_registry ();
  const char *const *streams = plait_tasks ()[0]->streams;
  g_autofree char *axes = g_strdup_printf ("decoder.combiner=serial;parallel;flat;hierarchical\n"
                                           "experiment.sources=%s;%s+%s\n"
                                           "exclude=experiment.sources=%s & decoder.combiner=parallel|flat; "
                                           "experiment.sources=%s & decoder.combiner=hierarchical\n",
                                           streams[0], streams[0], streams[1], streams[0], streams[0]);
  g_autoptr (PlaitCells) cells = load (registry, axes, NO_ERROR);

  REQUIRE (cells != NULL);
  CHECK_INT (cells->n_cells, 5);
  CHECK_INT (cells->n_excluded, 3);
  CHECK_INT (cells->cells[0].experiment->n_sources, 1);
  CHECK_INT (cells->cells[1].experiment->n_sources, 2);
}

/* An axis of two values in each of five groups. Only one of the combiners has context_heads. */
#define AXES_IN_FIVE_GROUPS                                                                                            \
  "data.generate.train=50;60\nsource.%s.layers=1;2\ndecoder.combiner=hierarchical;serial\n"                            \
  "combiner.context_heads=1;2\ntrain.batch=8;16\nvocabularies=own\n"

static PlaitCells *
load_five_groups (PlaitRegistry *registry, GError **error)
{
  return load (registry, plait_test_format (AXES_IN_FIVE_GROUPS, plait_tasks ()[0]->streams[0]), error);
}

TEST_CASE (cells, each_is_what_its_values_make_alone)
{
  g_autoptr (PlaitRegistry) registry = open_registry ();
  const char *path = plait_test_path ("grid.ini");
  g_autoptr (GError) error = NULL;
  g_autoptr (PlaitCells) cells = load_five_groups (registry, NO_ERROR);

  REQUIRE (cells != NULL);
  CHECK_INT (cells->n_cells, 24);
  for (guint i = 0; i < cells->n_cells; i++)
    {
      g_auto (GStrv) overrides = g_strsplit (cells->cells[i].label, " ", -1);
      g_autoptr (PlaitExperiment) alone = plait_experiment_load (path, test_overrides ((const char *const *)overrides),
                                                                 PLAIT_RESOLVE_CHECK_FILES, registry, &error);
      CONTEXT ("%s", cells->cells[i].label);

      REQUIRE (alone != NULL);
      g_autofree char *expected = plait_experiment_text (alone);
      g_autofree char *text = plait_experiment_text (cells->cells[i].experiment);
      CHECK_STRING (text, expected);
      CHECK_INT (cells->cells[i].experiment->task_settings.sizes[0], alone->task_settings.sizes[0]);
      CHECK_INT (cells->cells[i].experiment->train.batch, alone->train.batch);
    }
}

TEST_CASE (cells, an_axis_may_have_the_empty_value)
{
  g_autoptr (PlaitRegistry) registry = open_registry ();
  g_autoptr (PlaitCells) cells = load (registry,
                                       "experiment.sources=\"\";b\ndecoder.combiner=serial;hierarchical\n"
                                       "exclude=experiment.sources=\"\" & decoder.combiner=serial\n",
                                       NO_ERROR);

  REQUIRE (cells != NULL);
  CHECK_INT (cells->n_cells, 3);
  CHECK_STRING (cells->cells[0].label, "experiment.sources=\"\" decoder.combiner=hierarchical");
  CHECK_INT (cells->cells[0].experiment->n_sources, 2);
  CHECK_INT (cells->cells[1].experiment->n_sources, 1);
}

/* Each of these single values may contain such separators, so no wrong separator is reported. */
TEST_CASE (cells, an_axis_may_have_one_value_with_separators)
{
  static const char *const axes[] = {
    "decoder.combiner=hierarchical\nexperiment.sources=a+b\n",
    "decoder.combiner=hierarchical\nevaluate.metrics=bleu:tok=none,lowercase\n",
    "decoder.combiner=hierarchical\ntrain.initialise_leave=decoder/*|x,y\n",
    "decoder.combiner=hierarchical\nexperiment.name=one, two: three\n",
  };
  g_autoptr (PlaitRegistry) registry = open_registry ();

  for (guint i = 0; i < G_N_ELEMENTS (axes); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (PlaitCells) cells = load (registry, axes[i], &error);

      CONTEXT ("%s", axes[i]);
      CHECK_NO_ERROR (error);
      CHECK (cells && cells->n_cells == 1);
    }
}

TEST_CASE (cells, the_same_experiment_is_one_cell)
{
  g_autoptr (PlaitRegistry) registry = open_registry ();
  g_autoptr (PlaitCells) cells
      = load (registry, "decoder.combiner=serial;hierarchical\ncombiner.context_heads=1;2\n", NO_ERROR);

  REQUIRE (cells != NULL);
  CHECK_INT (cells->n_cells, 3);
  CHECK_STRING (cells->duplicates[0], "decoder.combiner=serial combiner.context_heads=2");
  CHECK (!cells->duplicates[1]);
}

TEST_CASE (cells, an_experiment_with_a_grid_runs_alone_too)
{
  g_autoptr (PlaitRegistry) registry = open_registry ();
  g_autoptr (PlaitCells) cells = load (registry, "decoder.combiner=serial;hierarchical\n", NO_ERROR);

  CHECK (cells != NULL);
  g_autoptr (PlaitExperiment) experiment
      = plait_experiment_load (plait_test_path ("grid.ini"), NULL, PLAIT_RESOLVE_CHECK_FILES, registry, NO_ERROR);
  REQUIRE (experiment != NULL);
  CHECK_STRING (experiment->combiner->plugin->name, "serial");
}

TEST_CASE (cells, faults)
{
  static const struct
  {
    const char *axes;
    const char *part;
  } cases[] = {
    { "", "grid.ini:14: [grid]: has no axis" },
    { "combiner=serial;flat\n",
      "grid.ini:15: [grid] combiner: is neither an axis nor a key of [grid]; write GROUP.KEY=VALUE;VALUE" },
    { "decoder.combiner=\n", "grid.ini:15: [grid] decoder.combiner: has no values" },
    { "decoder.combiner=flat;flat\n", "grid.ini:15: [grid] decoder.combiner: has the value \"flat\" twice" },
    { "decoder.combiner=flat;;serial\n", "grid.ini:15: [grid] decoder.combiner: has an empty value; drop one of the "
                                         "';', or write \"\" to mean the empty value" },
    { "decoder.combiner=hierarchical;falt\n",
      "grid.ini:15: [decoder] combiner: there is no combiner called \"falt\"; did "
      "you mean \"flat\"? (plait looked in " },
    { "exclud=decoder.layers=1\n",
      "grid.ini:15: [grid] exclud: is neither an axis nor a key of [grid]; did you mean \"exclude\"?" },
    { "executer=slurm\n", "did you mean \"executor\"?" },
    { "executor.tme=2h\n", "executor.tme: is neither an axis nor a key of [grid]; did you mean \"executor.time\"?" },
    { "trian.batch=1;2\n", "[trian]: no such group; did you mean \"train\"?" },
    { "train.batchsize=1;2\n", "[train] batchsize: no such key; did you mean \"batch\"?" },
    { "decoder.colour=1;2\n", "grid.ini:15: [decoder] colour: no such key" },
    { "decoder.layers=1;many;0\n",
      "grid.ini:15: [decoder] layers: the value \"many\" is not an integer; give an integer from 1 to "
      "64 (in the cell decoder.layers=many)" },
    { "decoder.heads=4;8\nexclude=decoder.width=4\n", "grid.ini:16: [grid] exclude: \"decoder.width\" is not an axis" },
    { "decoder.heads=4;8\nexclude=decoder.headz=4\n", "is not an axis of this grid; did you mean \"decoder.heads\"?" },
    { "decoder.heads=4;8\nexclude=decoder.heads=5\n",
      "\"5\" is not a value of the axis decoder.heads; expected one of 4, 8" },
    { "decoder.heads=4,8\n", "[grid] decoder.heads: is given one value, \"4,8\"; did you mean \"4;8\"?" },
    { "decoder.combiner=flat|serial\n", "is given one value, \"flat|serial\"; did you mean \"flat;serial\"?" },
    { "experiment.sources=a+b,a\n", "is given one value, \"a+b,a\"; did you mean \"a+b;a\"?" },
    { "decoder.norm=pre+post\n", "is given one value, \"pre+post\"; did you mean \"pre;post\"?" },
    { "combiner.heads=1, 2\n", "is given one value, \"1, 2\"; did you mean \"1;2\"?" },
    { "decoder.heads=4;8\nexclude=decoder.heads=4,8\n",
      "[grid] exclude: \"4,8\" is not a value of the axis decoder.heads; did you mean \"4|8\"?" },
    { "decoder.heads=4;8\nexclude=decoder.heads=4;8\n", "did you mean \"decoder.heads=4|8\"?" },
    { "decoder.heads=4;8\ndecoder.layers=1;2\nexclude=decoder.heads=4,decoder.layers=1\n",
      "did you mean \"decoder.heads=4 & decoder.layers=1\"?" },
    { "decoder.heads=4;8\nexecutor.options=--partition=cpu,--account=mt\n",
      "is several options; did you mean \"--partition=cpu;--account=mt\"?" },
    { "decoder.heads=4;8\nexclude.a=decoder.heads\n",
      "grid.ini:16: [grid] exclude.a: \"decoder.heads\" is not a condition" },
    { "decoder.heads=4;8\nexclude=decoder.heads=4 & decoder.heads=8\n", "excludes no cell" },
    { "decoder.heads=4;8\nexclude=decoder.heads=4|8\n", "grid.ini:14: [grid]: every cell is excluded" },
    { "decoder.heads=4;8\nvocabularies=all\n",
      "grid.ini:16: [grid] vocabularies: the value \"all\" is not a choice; give one of together, own" },
    { "grid.x=4;8\n", "grid.ini:15: [grid] grid.x: is neither an axis" },
    { "a.a=1;2;3;4;5;6;7;8;9;10;11\na.b=1;2;3;4;5;6;7;8;9;10;11\na.c=1;2;3;4;5;6;7;8;9;10;11\n"
      "a.d=1;2;3;4;5;6;7;8;9;10;11\n",
      "grid.ini:14: [grid]: its axes make more than 10000 cells" },
  };
  g_autoptr (PlaitRegistry) registry = open_registry ();

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      CONTEXT ("%s", cases[i].axes);
      g_autoptr (GError) error = NULL;

      CHECK (!load (registry, cases[i].axes, &error));
      CHECK_ERROR (error, PLAIT_ERROR_INPUT, cases[i].part);
    }
}

TEST_CASE (cells, a_fault_of_all_cells_is_told_once)
{
  g_autoptr (PlaitRegistry) registry = open_registry ();
  g_autoptr (GError) error = NULL;

  CHECK (!load (registry, "decoder.combiner=hierarchical;flat\n[train]\nclip=-1\n", &error));
  REQUIRE (error != NULL);
  CHECK_CONTAINS (error->message, "grid.ini:17: [train] clip: ");
  CHECK (!strstr (error->message, "cell"));
  CHECK (!strchr (error->message, '\n'));
}

TEST_CASE (cells, a_file_without_a_grid)
{
  g_autoptr (PlaitRegistry) registry = open_registry ();
  const char *path = plait_test_path ("plain.ini");
  g_autoptr (GError) error = NULL;

  write_file (path, "[decoder]\nlayers=2\n");
  CHECK (!plait_cells_load (path, NULL, 0, registry, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "plain.ini: has no group [grid]");
}
