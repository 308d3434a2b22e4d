/* SPDX-License-Identifier: MIT */
#pragma once

#include "experiment/file.h"
#include "layers/parameter.h"

/* A part of a model, by the names of its parameters: what plait explain and plait run --dry-run tell of it. */
typedef struct
{
  char *title;                         /* "source a" */
  const PlaitComponent *component;     /* of a plugin; NULL: the core's own */
  const PlaitExperimentSource *source; /* NULL: it is none */
  char *prefix;                        /* of its parameters' names */
  GPtrArray *parameters;               /* (element-type PlaitParameter) */
  gint64 count;                        /* numbers in these */
} PlaitParameterGroup;

/* The parts in the order in which a batch passes them, from "embeddings" to "prediction"; each of @parameters belongs
 * to one. (transfer full) (element-type PlaitParameterGroup) */
GPtrArray *plait_parameter_groups_new (const PlaitExperiment *experiment, const PlaitParameters *parameters);
