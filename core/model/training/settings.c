/* SPDX-License-Identifier: MIT */
#include "training/settings.h"

#include <math.h>
#include <string.h>

#include "text/error.h"
#include "text/number.h"

gint64
plait_checkpoint_update (const char *checkpoint)
{
  gint64 update;

  return g_str_has_prefix (checkpoint, PLAIT_KEPT_CHECKPOINT)
                 && plait_parse_integer (checkpoint + strlen (PLAIT_KEPT_CHECKPOINT), &update)
             ? MAX (update, 0)
             : 0;
}

PlaitPrecision
plait_train_precision (const PlaitTrainSettings *settings)
{
  static const PlaitPrecision precisions[] = {
    [PLAIT_TRAIN_PRECISION_FLOAT] = PLAIT_PRECISION_FLOAT,
    [PLAIT_TRAIN_PRECISION_BFLOAT16] = PLAIT_PRECISION_BFLOAT16,
    [PLAIT_TRAIN_PRECISION_BFLOAT16_EMULATED] = PLAIT_PRECISION_BFLOAT16_EMULATED,
  };

  return precisions[settings->precision];
}

gboolean
plait_schedule_has_end (const PlaitTrainSettings *settings)
{
  return settings->schedule == PLAIT_TRAIN_SCHEDULE_LINEAR || settings->schedule == PLAIT_TRAIN_SCHEDULE_COSINE
         || settings->schedule == PLAIT_TRAIN_SCHEDULE_ONE_CYCLE;
}

/* Parses a pair STEP:RATE. */
static gboolean
parse_pair (const char *text, gint64 *step, double *rate)
{
  const char *colon = strchr (text, ':');
  g_autofree char *number = colon ? g_strndup (text, (gsize)(colon - text)) : NULL;

  return number && plait_parse_integer (number, step) && plait_parse_double (colon + 1, rate) && *rate >= 0;
}

gboolean
plait_rates_check (const char *rates, GError **error)
{
  g_auto (GStrv) pairs = g_strsplit (rates, ";", -1);
  gint64 before = 0, step;
  double rate;

  for (guint i = 0; pairs[i]; i++, before = step)
    {
      if (!parse_pair (pairs[i], &step, &rate))
        return plait_fail (error, PLAIT_ERROR_INPUT,
                           "\"%s\" is not a step and a rate; write pairs such as 1:0.001;5000:0.0005", pairs[i]);
      if (i == 0 ? step != 1 : step <= before)
        return plait_fail (
            error, PLAIT_ERROR_INPUT,
            "\"%s\": the first step must be 1, and each later step must be above the previous step; correct this pair",
            pairs[i]);
    }
  return pairs[0]
         || plait_fail (error, PLAIT_ERROR_INPUT, "there are no rates; write pairs such as 1:0.001;5000:0.0005");
}

/* Returns the rate in @rates for step @step: that of the last pair STEP:RATE with STEP <= @step. @rates must be
 * valid. */
static double
find_rate (const char *rates, gint64 step)
{
  g_auto (GStrv) pairs = g_strsplit (rates, ";", -1);
  double rate = 0, its;
  gint64 from;

  for (guint i = 0; pairs[i] && parse_pair (pairs[i], &from, &its) && from <= step; i++)
    rate = its;
  return rate;
}

/* Returns the value at @share of a half cosine that goes from @from at share 0 to @to at share 1. */
static double
cosine (double from, double to, double share)
{
  return to + (from - to) * (1 + cos (G_PI * CLAMP (share, 0, 1))) / 2;
}

/* Returns the share of the current restart period that has passed after @updates updates. */
static double
share_of_period (const PlaitTrainSettings *settings, double updates)
{
  double period = (double)settings->restart_every;

  while (updates >= period && settings->restart_growth > 1)
    {
      updates -= period;
      period *= (double)settings->restart_growth;
    }
  return fmod (updates, period) / period;
}

double
plait_learning_rate (const PlaitTrainSettings *settings, gint64 step, gint64 width, gint64 updates, gint64 drops)
{
  const double cycle_begin = 1.0 / 25; /* rate at the start of a cycle divided by the highest rate, as in torch */
  double t = (double)step;
  double warm_up = (double)settings->warm_up;
  double rising = warm_up > 0 ? t / warm_up : 1;
  double highest = settings->learning_rate, lowest = MIN (settings->minimum_rate, highest);
  double over = (t - warm_up) / MAX (1, (double)updates - warm_up); /* elapsed share of the updates after warm_up */

  if (step <= 0)
    return 0;
  switch (settings->schedule)
    {
    case PLAIT_TRAIN_SCHEDULE_NOAM:
      if (warm_up <= 0)
        return settings->learning_rate / sqrt ((double)width * t);
      return settings->learning_rate / sqrt ((double)width) * MIN (1 / sqrt (t), t * pow (warm_up, -1.5));
    case PLAIT_TRAIN_SCHEDULE_INVERSE_SQUARE_ROOT:
      return settings->learning_rate * MIN (rising, sqrt (MAX (warm_up, 1) / t));
    case PLAIT_TRAIN_SCHEDULE_LINEAR:
      if (t <= warm_up)
        return settings->learning_rate * rising;
      return settings->learning_rate * MAX (0, (double)updates - t) / MAX (1, (double)updates - warm_up);
    case PLAIT_TRAIN_SCHEDULE_COSINE:
      return t <= warm_up ? highest * rising : cosine (highest, lowest, over);
    case PLAIT_TRAIN_SCHEDULE_ONE_CYCLE:
      return t <= warm_up ? cosine (highest * cycle_begin, highest, rising) : cosine (highest, lowest, over);
    case PLAIT_TRAIN_SCHEDULE_RESTARTS:
      return t <= warm_up ? highest * rising : cosine (highest, lowest, share_of_period (settings, t - warm_up - 1));
    case PLAIT_TRAIN_SCHEDULE_PLATEAU:
      return MAX (lowest, highest * MIN (rising, 1) * pow (settings->plateau_factor, (double)drops));
    case PLAIT_TRAIN_SCHEDULE_STEPS:
      return find_rate (settings->rates, step);
    default:
      return settings->learning_rate * MIN (rising, 1);
    }
}
