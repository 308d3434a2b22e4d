/* SPDX-License-Identifier: MIT */
#include "run/plan.h"

#include <math.h>
#include <stdio.h>

#include "text/display.h"
#include "text/json.h"
#include "text/number.h"
#include "weights/parameter-groups.h"
#include "layers/parameter-set.h"

static void
print_tuples (const char *split, const PlaitCorpus *corpus)
{
  g_autofree char *what = g_strconcat (split, " tuples", NULL);

  if (corpus)
    fprintf (stdout, "%-28s %10jd\n", what, plait_corpus_size (corpus));
}

static void
print_bytes (const char *what, gsize bytes)
{
  fprintf (stdout, "%-28s %10.1f MiB\n", what, (double)bytes / 1024 / 1024);
}

static gsize
peak_bytes (const PlaitPlan *plan)
{
  return plait_trainer_fixed_bytes (plan->trainer) + MAX (plan->step_bytes, plan->validation_bytes);
}

static void
add_tuples (PlaitJson *json, const char *split, const PlaitCorpus *corpus)
{
  if (corpus)
    plait_json_integer (json, split, plait_corpus_size (corpus));
}

#define COLUMNS 48

/* Samples the learning rate at COLUMNS updates that are spread evenly over training. Sets @steps [COLUMNS] to these
 * updates and @rates [COLUMNS] to their rates. Returns the highest of these rates, and sets *@highest to its index. */
static double
sample_rates (const PlaitPlan *plan, gint64 *steps, double *rates, guint *highest)
{
  const PlaitTrainSettings *train = &plan->experiment->train;
  gint64 updates = plait_trainer_planned_updates (plan->trainer);

  *highest = 0;
  for (guint i = 0; i < COLUMNS; i++)
    {
      steps[i] = 1 + (MAX (updates, 1) - 1) * (gint64)i / (COLUMNS - 1);
      rates[i] = plait_learning_rate (train, steps[i], plan->experiment->decoder.width, updates, 0);
      if (rates[i] > rates[*highest])
        *highest = i;
    }
  return rates[*highest];
}

static void
print_json (const PlaitPlan *plan, const GPtrArray *parts)
{
  const PlaitExperiment *experiment = plan->experiment;
  gint64 steps[COLUMNS];
  double rates[COLUMNS];
  guint highest;
  g_autoptr (PlaitJson) json = plait_json_new_object ();

  plait_json_text (json, "experiment", experiment->name);
  plait_json_begin_object (json, "tuples");
  add_tuples (json, "train", plan->training);
  add_tuples (json, "validation", plan->validation);
  for (guint i = 0; experiment->test_splits[i]; i++)
    add_tuples (json, experiment->test_splits[i], plan->tests[i]);
  plait_json_end_object (json);
  plait_json_members (json, "updates=%jd updates_made=%jd parameters=%jd",
                      plait_trainer_planned_updates (plan->trainer), plait_trainer_step (plan->trainer),
                      plait_parameters_count (plan->parameters, NULL));
  plait_json_begin_array (json, "parts");
  for (guint i = 0; i < parts->len; i++)
    {
      const PlaitParameterGroup *part = parts->pdata[i];

      plait_json_object (json, NULL, "name=%s parameters=%jd", part->title, part->count);
    }
  plait_json_end_array (json);
  plait_json_begin_array (json, "learning_rates");
  sample_rates (plan, steps, rates, &highest);
  for (guint i = 0; i < COLUMNS; i++)
    plait_json_object (json, NULL, "update=%jd rate=%g", steps[i], rates[i]);
  plait_json_end_array (json);
  plait_json_object (json, "bytes",
                     "parameters_and_optimizer=%jd step=%jd step_is_estimated=%d validation=%jd peak=%jd",
                     (gint64)plait_trainer_fixed_bytes (plan->trainer), (gint64)plan->step_bytes, plan->step_estimated,
                     (gint64)plan->validation_bytes, (gint64)peak_bytes (plan));
  plait_json_print (json);
}

/* Draws the learning rates as bars over the updates. */
static void
print_rates (const PlaitPlan *plan)
{
  static const char *const bars[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
  gint64 steps[COLUMNS];
  double rates[COLUMNS];
  guint highest;
  double top = sample_rates (plan, steps, rates, &highest);
  g_autofree char *first = plait_format ("%.3g", rates[0]), *best = plait_format ("%.3g", top);
  g_autofree char *last = plait_format ("%.3g", rates[COLUMNS - 1]);

  fputs ("learning rate  ", stdout);
  for (guint i = 0; i < COLUMNS; i++)
    fputs (bars[top > 0 ? (guint)ceil (8 * rates[i] / top) : 0], stdout);
  fprintf (stdout, "\n%-14s %s at first, %s about update %jd, %s at last%s\n\n", "", first, best, steps[highest], last,
           plan->experiment->train.schedule == PLAIT_TRAIN_SCHEDULE_PLATEAU ? ", lower when validation stalls" : "");
}

void
plait_plan_print (const PlaitPlan *plan, gboolean as_json)
{
  const PlaitExperiment *experiment = plan->experiment;
  g_autoptr (GPtrArray) parts = plait_parameter_groups_new (experiment, plan->parameters);

  if (as_json)
    {
      print_json (plan, parts);
      return;
    }
  fprintf (stdout, "experiment                   ");
  plait_display_line (stdout, experiment->name);
  print_tuples ("training", plan->training);
  print_tuples ("validation", plan->validation);
  for (guint i = 0; experiment->test_splits[i]; i++)
    print_tuples (experiment->test_splits[i], plan->tests[i]);
  fprintf (stdout, "updates                      %10jd\n\n", plait_trainer_planned_updates (plan->trainer));
  fprintf (stdout, "%-28s %10jd\n", "parameters", plait_parameters_count (plan->parameters, NULL));
  for (guint i = 0; i < parts->len; i++)
    {
      const PlaitParameterGroup *part = parts->pdata[i];

      if (part->count > 0)
        fprintf (stdout, "  %-26s %10jd\n", part->title, part->count);
    }
  fputs ("\n", stdout);
  if (experiment->coverage && experiment->decoder_component->schema->scores == PLAIT_SCORES_HEADS)
    fprintf (stdout, "with coverage, each step of cross-attention depends on the previous step, so it is trained step "
                     "by step, and more slowly\n\n");
  print_rates (plan);
  print_bytes ("parameters and optimizer", plait_trainer_fixed_bytes (plan->trainer));
  print_bytes (plan->step_estimated ? "a step, estimated" : "a step, largest batch seen", plan->step_bytes);
  print_bytes ("validation, longest batch", plan->validation_bytes);
  print_bytes ("peak, about", peak_bytes (plan));
}
