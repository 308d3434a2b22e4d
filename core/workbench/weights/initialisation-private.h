/* SPDX-License-Identifier: MIT */
#pragma once

#include "weights/initialisation.h"

#define PLAIT_INITIALISATION_MAX_LOGGED 6           /* maximum number of names in a message */
#define PLAIT_INITIALISATION_LABELS "class/output/" /* prefix of the parameters of a classifier's labels */

typedef enum
{
  PLAIT_INITIALISATION_TAKEN,
  PLAIT_INITIALISATION_GROWN, /* only its first rows are taken */
  PLAIT_INITIALISATION_FRESH,
  PLAIT_INITIALISATION_LEFT,
  PLAIT_INITIALISATION_OTHER_SHAPE,
  PLAIT_INITIALISATION_OTHER_VOCABULARY,
  PLAIT_INITIALISATION_OUTCOMES,
} PlaitInitialisationOutcome;

/* A parameter of the model and its outcome. */
typedef struct
{
  const PlaitParameter *parameter;
  PlaitInitialisationOutcome outcome;
  gint64 there[2]; /* rows and width in the run or file; 0: missing, or not a matrix */
} PlaitInitialisationEntry;

/* Globs over names of parameters. */
typedef struct
{
  char **globs;
  gboolean *used; /* [globs] TRUE if a name matched */
} PlaitInitialisationGlobs;

struct PlaitInitialisation
{
  const PlaitExperiment *experiment;
  char *checkpoint;     /* path of the parameters in the run; NULL for a file of weights */
  char **otherwise;     /* sentences on settings and plugins that differ from those of training; NULL if none do */
  char *unused_tensors; /* tensors of the file of weights that no parameter is made of, as text; NULL if none */
  PlaitInitialisationGlobs take;
  PlaitInitialisationGlobs leave;
  guint n;
  PlaitInitialisationEntry *entries;
  guint n_outcome[PLAIT_INITIALISATION_OUTCOMES]; /* number of parameters of each outcome */
};
