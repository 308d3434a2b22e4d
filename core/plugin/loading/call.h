/* SPDX-License-Identifier: MIT */
#pragma once

#include "loading/losses.h"
#include "loading/component.h"

/*
 * Calling a component: the one place where the functions of plugins' tables are called, and where what they give is
 * checked. While one runs, the tape knows who it is (plait_tape_fail), and so does crash.h.
 */

/* A component built into a model. It owns nothing: its memory is that of the model's parameters. */
typedef struct PlaitInstance PlaitInstance;

struct PlaitInstance
{
  const PlaitComponent *component; /* NULL: there is none */
  gpointer state;
  PlaitLosses losses;
  guint columns[PLAIT_MAX_LOSSES];
  PlaitEncoderShape shape; /* of an encoder */
  PlaitInstance *leaves;   /* what an encoder stands on, or NULL */
};

/*
 * Building. The component has been opened. PLAIT_ERROR_PLUGIN for what no plugin may do, PLAIT_ERROR_INPUT where the
 * plugin refuses the settings; the messages name the component.
 */

/* The encoder and what it stands on; build->leaves is filled here. */
gboolean plait_call_build_encoder (PlaitInstance *instance, const PlaitComponent *component,
                                   const PlaitEncoderBuild *build, PlaitLossColumns *columns, GError **error);

/* The combiner of @cross, which has noted what was declared there. */
gboolean plait_call_build_combiner (PlaitInstance *instance, const PlaitComponent *component,
                                    PlaitCrossAttention *cross, PlaitParameters *parameters, GError **error);

gboolean plait_call_build_coverage (PlaitInstance *instance, const PlaitComponent *component,
                                    const PlaitCoverageBuild *build, PlaitCoverageShape *shape,
                                    PlaitLossColumns *columns, GError **error);

/*
 * Running. What does not fit leaves the step with the name of the component.
 */

/* TRUE if the encoder, and what it stands on, can read a sentence of @rows rows. */
gboolean plait_call_check_length (const PlaitInstance *instance, gint64 rows, GError **error);

/* TRUE if they can read @input in all else. */
gboolean plait_call_check_input (const PlaitInstance *instance, const PlaitInput *input, GError **error);

/* Fills the memories, and the summary, of @encoding, whose tape, input and embedded are set. Where its leaves are set
 * too, they are taken as they are; else their encoder runs first. */
void plait_call_encode (const PlaitInstance *instance, PlaitEncoding *encoding, PlaitLossPass *losses);

/* NULL where the combiner prepares nothing. */
PlaitNode *plait_call_prepare (const PlaitInstance *instance, PlaitTape *tape, guint memory, const PlaitMemory *rows);

/* What the decoder goes on with: a context in a recurrent decoder (@gives_context), else a query. */
PlaitResidualStream plait_call_combine (const PlaitInstance *instance, PlaitTape *tape, PlaitCrossAttention *cross,
                                        PlaitResidualStream x, gboolean gives_context);

/* NULL where the coverage prepares nothing. */
PlaitNode *plait_call_prepare_coverage (const PlaitInstance *instance, PlaitTape *tape, const PlaitMemory *memory);

/* [pairs, @score_width]; for a coverage with a score of its own. */
PlaitNode *plait_call_score (const PlaitInstance *instance, PlaitCoverageStep *step, gint64 score_width);
gboolean plait_call_has_score (const PlaitInstance *instance);

/* [pairs, width of the states]. */
PlaitNode *plait_call_update (const PlaitInstance *instance, PlaitCoverageStep *step, PlaitLossPass *losses);

/* What stands in dumps for what the coverage prepares, or NULL. */
const char *plait_call_prepared_name (const PlaitInstance *instance);
