/* SPDX-License-Identifier: MIT */
#pragma once

#include "setup/trained.h"
#include "search/search.h"

/* Opens the runs for plait translate and plait score: one run, or an ensemble of runs with equal target
 * vocabularies. */

/* Values of --ensemble, in the order of PlaitEnsembleRule. */
#define PLAIT_ENSEMBLE_RULES "mean|log"

/* Arguments of plait_trained_open for each run. */
typedef struct
{
  const char *checkpoint;
  const PlaitOverride *sets;    /* values of --set, or NULL */
  const PlaitOverride *implied; /* settings that options other than --set imply, applied after those in sets; or NULL */
  gboolean changed;
  PlaitLog *log;
} PlaitEnsembleOptions;

/* Opens the runs @paths (NULL-terminated). Several runs must be able to translate together: fails unless all have
 * decoders, equal target vocabularies, and equal start tokens of target sentences (data.document_starts). (element-type
 * PlaitTrained) (transfer full) */
GPtrArray *plait_ensemble_open (char *const *paths, const PlaitEnsembleOptions *options, GError **error);

/* Reads the weights of @n runs from @text, the value of --weights ("0.7;0.3"), into @weights [@n], scaled so that their
 * sum is 1. If @text is NULL, all weights are equal. */
gboolean plait_ensemble_weights (const char *text, guint n, double *weights, GError **error);

/* Creates a search over @runs. Each run computes in its own decode.precision. (transfer full) */
PlaitSearch *plait_ensemble_search (const GPtrArray *runs, const double *weights, PlaitEnsembleRule rule,
                                    PlaitPool *pool, GError **error);
