/* SPDX-License-Identifier: MIT */
#pragma once

#include "loading/losses.h"
#include "loading/component.h"

/*
 * Calls of components. All functions in plugins' tables are called by the functions below, which check the results.
 * While a function runs, the tape and the crash handler know whose code it is (plait_tape_fail, process/crash.h).
 */

/* Greatest width that a plugin may declare. */
#define PLAIT_CALL_MAX_WIDTH ((gint64)1 << 24)

/* A component built into a model. Its state and its inner encoder belong to the model's parameters. */
typedef struct PlaitInstance PlaitInstance;

struct PlaitInstance
{
  const PlaitComponent *component; /* component that was built; NULL: the model has no such component */
  gpointer state;
  PlaitLosses losses;
  guint columns[PLAIT_MAX_LOSSES];
  PlaitEncoderShape shape; /* shape of the encoder's memories; set for encoders only */
  PlaitInstance *leaves;   /* instance of the inner encoder, or NULL */
};

/*
 * Building. The component must be open. PLAIT_ERROR_PLUGIN: the plugin broke a rule; PLAIT_ERROR_INPUT: the plugin
 * refused the settings. The messages name the component.
 */

/* Builds the encoder and its inner encoder. The encoder is given the shape of the inner encoder instead of
 * build->leaves. */
gboolean plait_call_build_encoder (PlaitInstance *instance, const PlaitComponent *component,
                                   const PlaitEncoderBuild *build, PlaitLossColumns *columns, GError **error);

/* Builds the combiner, which declares what it uses in @cross. */
gboolean plait_call_build_combiner (PlaitInstance *instance, const PlaitComponent *component,
                                    PlaitCrossAttention *cross, PlaitParameters *parameters, GError **error);

gboolean plait_call_build_coverage (PlaitInstance *instance, const PlaitComponent *component,
                                    const PlaitCoverageBuild *build, PlaitCoverageShape *shape,
                                    PlaitLossColumns *columns, GError **error);

gboolean plait_call_build_output (PlaitInstance *instance, const PlaitComponent *component,
                                  const PlaitOutputBuild *build, PlaitOutputShape *shape, GError **error);

/* Returns the width to which memories of @widths [n] are projected, or 0 with an error if the decoder gives no valid
 * width. @component: the decoder; @width: decoder.width. */
gint64 plait_call_memory_width (const PlaitComponent *component, gint64 width, const gint64 *widths, guint n,
                                GError **error);

/* Builds the decoder, which declares what it uses in @decoding. */
gboolean plait_call_build_decoder (PlaitInstance *instance, const PlaitComponent *component, PlaitDecoding *decoding,
                                   const PlaitDecoderBuild *build, GError **error);

/* Running. A wrong result of a function that uses a tape ends the step with an error that names the component. */

/* TRUE if the encoder and its inner encoder can read a sentence of @rows rows. */
gboolean plait_call_check_length (const PlaitInstance *instance, gint64 rows, GError **error);

/* TRUE if the encoder and its inner encoder can read @input, apart from the lengths of sentences. */
gboolean plait_call_check_input (const PlaitInstance *instance, const PlaitInput *input, GError **error);

/* TRUE if the encoder or its inner encoder has the function check_input. */
gboolean plait_call_has_input_check (const PlaitInstance *instance);

/* Fills the memories and the summary of @encoding, whose tape, input and embedded are set. If encoding->leaves is NULL
 * and the encoder has an inner encoder, runs the inner encoder first. */
void plait_call_encode (const PlaitInstance *instance, PlaitEncoding *encoding, PlaitLossPass *losses);

/* TRUE if the decoder can read a target of @rows rows. */
gboolean plait_call_check_target_length (const PlaitInstance *instance, gint64 rows, GError **error);

/* Calls the decoder's function begin, which sets the carried rows of @decoding. */
void plait_call_begin_decoder (const PlaitInstance *instance, PlaitTape *tape, PlaitDecoding *decoding);

/* Calls the decoder and returns its states, in the shape of @embedded. */
PlaitNode *plait_call_decode (const PlaitInstance *instance, PlaitTape *tape, PlaitDecoding *decoding,
                              PlaitNode *embedded);

/* Returns the node that the combiner's prepare makes from memory @memory, or NULL. */
PlaitNode *plait_call_prepare (const PlaitInstance *instance, PlaitTape *tape, guint memory, const PlaitMemory *rows);

/* Calls the combiner and returns its residual stream. Checks the context of the stream if @gives_context is TRUE (in
 * recurrent decoders); otherwise checks the query of the stream. */
PlaitResidualStream plait_call_combine (const PlaitInstance *instance, PlaitTape *tape, PlaitCrossAttention *cross,
                                        PlaitResidualStream x, gboolean gives_context);

/* Returns the node that the coverage's prepare makes from @memory, or NULL. */
PlaitNode *plait_call_prepare_coverage (const PlaitInstance *instance, PlaitTape *tape, const PlaitMemory *memory);

/* Returns the terms that the coverage adds to the scores, [pairs, @score_width]. Requires plait_call_has_score. */
PlaitNode *plait_call_score (const PlaitInstance *instance, PlaitCoverageStep *step, gint64 score_width);
gboolean plait_call_has_score (const PlaitInstance *instance);

/* Returns the new coverage states, [pairs, width]. */
PlaitNode *plait_call_update (const PlaitInstance *instance, PlaitCoverageStep *step, PlaitLossPass *losses);

/* Returns the name in dumps of the node that plait_call_prepare_coverage returns, or NULL. */
const char *plait_call_prepared_name (const PlaitInstance *instance);

/* TRUE if the output copies words of a memory. */
gboolean plait_output_copies (const PlaitOutputShape *shape);

/* Runs the output, whose declaration is @shape, on @pass. */
void plait_call_output (const PlaitInstance *instance, const PlaitOutputShape *shape, PlaitOutputPass *pass);
