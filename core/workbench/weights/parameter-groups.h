/* SPDX-License-Identifier: MIT */
#pragma once

#include "experiment/file.h"
#include "layers/parameter.h"

/* Parameters of one component of the model, selected by name, for plait explain and plait run --dry-run. */
typedef struct
{
  char *title;                         /* title for people, such as "source a" */
  const PlaitComponent *component;     /* component of a plugin; NULL for the core's own */
  const PlaitExperimentSource *source; /* NULL if the group is not a source */
  char *prefix;                        /* prefix of the parameters' names */
  GPtrArray *parameters;               /* (element-type PlaitParameter) */
  gint64 count;                        /* number of scalars */
} PlaitParameterGroup;

/* Returns the groups in the order in which a batch passes them, from "embeddings" to "prediction". Each parameter is in
 * one group. (transfer full) (element-type PlaitParameterGroup) */
GPtrArray *plait_parameter_groups_new (const PlaitExperiment *experiment, const PlaitParameters *parameters);
