/* SPDX-License-Identifier: MIT */
#pragma once

#include "run/initialisation.h"

/* What an initialisation keeps of what it took, for those that tell it and go on from it. */

#define PLAIT_INITIALISATION_MOST_TOLD 6
#define PLAIT_INITIALISATION_LABELS "class/output/" /* what belongs to the labels of a classifier */

typedef enum
{
  PLAIT_FATE_TAKEN,
  PLAIT_FATE_GROWN, /* its first rows are taken */
  PLAIT_FATE_FRESH,
  PLAIT_FATE_LEFT,
  PLAIT_FATE_OTHER_SHAPE,
  PLAIT_FATE_OTHER_VOCABULARY,
  PLAIT_FATE_OUTCOMES,
} PlaitFateOutcome;

/* What became of a parameter. */
typedef struct
{
  const PlaitParameter *parameter;
  PlaitFateOutcome outcome;
  gint64 there[2]; /* rows and width in that run; 0: none, or no matrix */
} PlaitFate;

struct PlaitInitialisation
{
  const PlaitExperiment *experiment;
  char *checkpoint; /* path of its parameters in that run; NULL: weights are no run */
  char *unread;     /* tensors of such weights that nothing was made of, as text; NULL: none */
  char **take;      /* globs */
  char **leave;
  guint n;
  PlaitFate *fates;                     /* [n] */
  guint n_outcome[PLAIT_FATE_OUTCOMES]; /* how many met each */
};
