/* SPDX-License-Identifier: MIT */
#pragma once

#include "decoders/decoder.h"
#include "loading/losses.h"

/* Settings of the loss on word alignments: its weight, and the attention that learns them. */
typedef struct
{
  double weight;    /* weight of the loss; the loss of the target words has weight 1 */
  gint64 layer;     /* number of the cross-attention, from 0; -1: the last one */
  gint64 head;      /* number of the head, from 0; -1: the mean of all heads */
  const char *name; /* name of the combiner's attention; NULL: the one without a name */
} PlaitAlignmentSettings;

/*
 * Guided alignment (Chen et al. 2016; Garg et al. 2019): a loss that makes an attention learn given word alignments,
 *
 *     - sum_t 1 / |A_t| sum_{i in A_t} log (w_ti / sum_j w_tj)
 *
 * A_t are the rows of a memory that are linked to target row t; target rows without links do not count. w are the
 * attention weights. They are divided by their sum over the memory, because this sum is below 1 in joint attention.
 */
typedef struct
{
  PlaitAlignmentSettings settings;
  gint *sources;      /* [n_memories]: number of the source whose alignment the attention to the memory learns, or -1 */
  guint n;            /* number of memories with an alignment to learn */
  PlaitLosses losses; /* declaration of the loss, if n > 0 */
  guint column;       /* index of the loss in the loss columns */
} PlaitGuidedAlignment;

/* Adds a column for the loss to @columns, and requests the attention weights of the cross-attention
 * guided->settings.layer. The caller has set @guided->settings and @guided->sources. If no memory has an alignment to
 * learn, does nothing, and @decoder can be NULL. Fails with PLAIT_ERROR_INPUT if there is no such layer, attention or
 * head, or if there are too many losses. */
gboolean plait_guided_alignment_build (PlaitGuidedAlignment *guided, const PlaitDecoder *decoder,
                                       const PlaitMemorySpecification *memories, guint n, PlaitLossColumns *columns,
                                       GError **error);

/* begin is called before the decoder runs over @batch, so that the weights are stored. end is called after the decoder
 * and adds the loss to encoded->losses. Both do nothing if @tape computes no gradients or @batch has no alignments. */
void plait_guided_alignment_begin (const PlaitGuidedAlignment *guided, PlaitTape *tape, const PlaitBatch *batch,
                                   PlaitEncoderOutputs *encoded);
void plait_guided_alignment_end (const PlaitGuidedAlignment *guided, PlaitTape *tape, const PlaitBatch *batch,
                                 const PlaitEncoderOutputs *encoded);
