/* SPDX-License-Identifier: MIT */
#pragma once

#include "weights/initialisation.h"

#define PLAIT_INITIALISATION_MAX_LOGGED 6 /* maximum number of parameters or tensors named in the log */

typedef enum
{
  PLAIT_INITIALISATION_TAKEN,
  PLAIT_INITIALISATION_GROWN, /* the origin has fewer rows than the parameter; the parameter's first rows are taken
                                 from the origin */
  PLAIT_INITIALISATION_FRESH,
  PLAIT_INITIALISATION_LEFT,
  PLAIT_INITIALISATION_OTHER_SHAPE,
  PLAIT_INITIALISATION_OTHER_VOCABULARY,
  PLAIT_INITIALISATION_OUTCOMES,
} PlaitInitialisationOutcome;

/* A parameter of the model, and what happened to it. */
typedef struct
{
  const PlaitParameter *parameter;
  PlaitInitialisationOutcome outcome;
  gint64 there[2]; /* rows and width in the run or weights; 0: missing, not a matrix, or not looked up */
} PlaitInitialisationEntry;

/* Globs that select parameters by name. */
typedef struct
{
  char **globs;
  gboolean *used; /* [globs]: TRUE if the glob matched a name */
} PlaitInitialisationGlobs;

struct PlaitInitialisation
{
  const PlaitExperiment *experiment;
  char *checkpoint; /* path of the parameters in the run; NULL if they come from a file of weights */
  char **otherwise; /* sentences about settings and plugins that differ from those with which the origin was trained;
                       NULL or empty if none differ */
  char *unused_tensors; /* number and first names of the tensors in the file of weights that no parameter uses, as
                           text; NULL if there are none */
  PlaitInitialisationGlobs take;
  PlaitInitialisationGlobs leave;
  guint n;
  PlaitInitialisationEntry *entries;
  guint n_outcome[PLAIT_INITIALISATION_OUTCOMES]; /* number of parameters with each outcome */
};

/* TRUE if parameter @name belongs to an output layer of labels or tags. The vocabulary of such a layer has the name of
 * the stream, even with data.vocabulary=shared. */
gboolean plait_initialisation_has_labels (const char *name);
