/* SPDX-License-Identifier: MIT */
#pragma once

#include "models.h"
#include "reference.h"

/* Models of documents, 8 wide, against the float64 reference: sets parameters and checks their gradients. */
typedef struct
{
  const char *name; /* name of the case */
  PlaitFixture *model;
  gboolean checking; /* TRUE: check gradients; FALSE: set values */
} ReferenceVisit;

/* Visits the parameter OURS/SUFFIX, from column @column on, which is THEIRS/NAME of the case, if the model has it. */
void reference_visit (const ReferenceVisit *to, const char *ours, const char *suffix, gint64 column, const char *theirs,
                      const char *name);

/* Visit the parameters of a layer @ours, which are those of @theirs in the case: self-attention, attention to a memory,
 * a feed-forward layer, a layer normalisation. */
void reference_visit_self (const ReferenceVisit *to, const char *ours, const char *theirs);
void reference_visit_attention (const ReferenceVisit *to, const char *ours, const char *theirs);
void reference_visit_feed_forward (const ReferenceVisit *to, const char *ours, const char *theirs);
void reference_visit_norm (const ReferenceVisit *to, const char *ours, const char *theirs);

/* Visits rows ids[i] of the table @parameter: sets them to the case's input @name, or checks their gradients. */
void reference_visit_rows (const ReferenceVisit *to, const char *parameter, const gint32 *ids, const char *name);

/* Returns a Transformer decoder of one layer without positions and scaling. */
PlaitFixtureDecoder reference_model_decoder (gint norm);

/* Returns one document of six rows, whose sentences begin at rows 0, 3 and 4, with a target of the tokens @target
 * [@n]. (transfer full) */
PlaitBatch *reference_model_batch (const gint32 *tokens, const gint32 *target, gint64 n);

/* Checks @states against CASE/outputs/OUTPUT. */
void reference_check_states (const char *the_case, const char *output, const PlaitNode *states);
