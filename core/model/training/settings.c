/* SPDX-License-Identifier: MIT */
#include "training/settings.h"

#include <math.h>
#include <string.h>

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

double
plait_learning_rate (const PlaitTrainSettings *settings, gint64 step, gint64 width, gint64 updates)
{
  double t = (double)step;
  double warm_up = (double)settings->warm_up;
  double rising = warm_up > 0 ? t / warm_up : 1;

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
    default:
      return settings->learning_rate * MIN (rising, 1);
    }
}
