/* SPDX-License-Identifier: MIT */
#pragma once

#include "setup/trained.h"
#include "search/search.h"

/* The runs with which translate and score compute: one, or an ensemble over one target vocabulary. */

/* Values of --ensemble, in the order of PlaitEnsembleRule. */
#define PLAIT_ENSEMBLE_RULES "mean|log"

/* Arguments of plait_trained_open for each run. */
typedef struct
{
  const char *checkpoint;
  const char *const *sets;
  gboolean changed;
  PlaitLog *log;
} PlaitEnsembleOptions;

/* Opens the runs @paths (NULL-terminated). Fails if several runs cannot translate together: they must have decoders and
 * equal target vocabularies. (element-type PlaitTrained) (transfer full) */
GPtrArray *plait_ensemble_open (char *const *paths, const PlaitEnsembleOptions *options, GError **error);

/* Reads the weights of @n runs from @text, the value of --weights ("0.7;0.3"), into @weights [@n], so that their sum is
 * 1. NULL: equal weights. */
gboolean plait_ensemble_weights (const char *text, guint n, double *weights, GError **error);

/* Creates a search over @runs, each in its decode.precision. (transfer full) */
PlaitSearch *plait_ensemble_search (const GPtrArray *runs, const double *weights, PlaitEnsembleRule rule,
                                    PlaitPool *pool, GError **error);
