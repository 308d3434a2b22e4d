/* SPDX-License-Identifier: MIT */
#pragma once

#include "experiment/file.h"
#include "layers/parameter.h"

/* Parameters of one component of the model, selected by name, for plait explain and plait run --dry-run. */
typedef struct
{
  char *title;                         /* title that users see, such as "source a" */
  const PlaitComponent *component;     /* component of a plugin; NULL if the core declares the parameters */
  const PlaitExperimentSource *source; /* source to which the parameters belong; NULL if they belong to no source */
  char *prefix;                        /* prefix of the names of the parameters */
  GPtrArray *parameters;               /* (element-type PlaitParameter) */
  gint64 count;                        /* number of scalars in all parameters */
} PlaitParameterGroup;

/* Returns the groups in the order in which a batch passes through them, from "embeddings" to "prediction". Each
 * parameter is in one group. (transfer full) (element-type PlaitParameterGroup) */
GPtrArray *plait_parameter_groups_new (const PlaitExperiment *experiment, const PlaitParameters *parameters);
