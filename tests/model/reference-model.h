/* SPDX-License-Identifier: MIT */
#pragma once

#include "models.h"
#include "reference.h"

/* Compares models of documents, whose width is 8, with the float64 reference: sets their parameters and checks their
 * gradients. */
typedef struct
{
  const char *name; /* name of the reference's case */
  PlaitFixture *model;
  gboolean checking; /* TRUE: check gradients; FALSE: set values */
} ReferenceVisit;

/* Sets the parameter OURS/SUFFIX, from column @column on, to the array THEIRS/NAME of the case, or checks its gradient.
 * Does nothing if the model lacks the parameter. */
void reference_visit (const ReferenceVisit *to, const char *ours, const char *suffix, gint64 column, const char *theirs,
                      const char *name);

/* Visit the parameters of a layer @ours; the case has them under the name @theirs. The layers are self-attention,
 * attention to a memory, a feed-forward layer, and a layer normalisation. */
void reference_visit_self (const ReferenceVisit *to, const char *ours, const char *theirs);
void reference_visit_attention (const ReferenceVisit *to, const char *ours, const char *theirs);
void reference_visit_feed_forward (const ReferenceVisit *to, const char *ours, const char *theirs);
void reference_visit_norm (const ReferenceVisit *to, const char *ours, const char *theirs);

/* Sets the rows ids[i] of the table @parameter to the case's input @name, or checks their gradients. */
void reference_visit_rows (const ReferenceVisit *to, const char *parameter, const gint32 *ids, const char *name);

/* Returns a Transformer decoder of one layer without positions and scaling. */
PlaitFixtureDecoder reference_model_decoder (gint norm);

/* Returns a batch of one document with six rows, whose sentences begin at rows 0, 3 and 4. Its target has the tokens
 * @target [@n]. (transfer full) */
PlaitBatch *reference_model_batch (const gint32 *tokens, const gint32 *target, gint64 n);

/* Checks @states against the array CASE/outputs/OUTPUT. */
void reference_check_states (const char *the_case, const char *output, const PlaitNode *states);
