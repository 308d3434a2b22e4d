/* SPDX-License-Identifier: MIT */
#pragma once

#include "decoders/decoder.h"
#include "loading/losses.h"

/* The attention that learns word alignments, and the weight of its loss. */
typedef struct
{
  double weight;    /* weight of the loss, against the losses of the target words */
  gint64 layer;     /* number of the cross-attention, from 0; -1: the last one */
  gint64 head;      /* number of the head, from 0; -1: the mean of all heads */
  const char *name; /* name of the combiner's attention; NULL: the one without a name */
} PlaitAlignmentSettings;

/*
 * Guided alignment (Chen et al. 2016; Garg et al. 2019): a loss that draws an attention to given word alignments,
 *
 *     - sum_t 1 / |A_t| sum_{i in A_t} log (w_ti / sum_j w_tj)
 *
 * A_t are the rows of a memory that are linked to target row t; target rows without links do not count. w are the
 * attention weights, divided by their sum over the memory, which is not 1 in joint attention.
 */
typedef struct
{
  PlaitAlignmentSettings settings;
  gint *sources;      /* [n_memories]: source whose alignment the memory learns, or -1 */
  guint n;            /* number of memories that learn alignments */
  PlaitLosses losses; /* the loss, if n > 0 */
  guint column;       /* column of the loss */
} PlaitGuidedAlignment;

/* Lets the loss read @decoder (or NULL), and adds its column to @columns. The caller has set @settings and @sources.
 * Fails with PLAIT_ERROR_INPUT if there is no such layer, attention or head. */
gboolean plait_guided_alignment_build (PlaitGuidedAlignment *guided, const PlaitDecoder *decoder,
                                       const PlaitMemorySpecification *memories, guint n, PlaitLossColumns *columns,
                                       GError **error);

/* Called before and after the decoder runs over @batch; the second adds the loss to encoded->losses. They do nothing
 * unless @tape trains and @batch has alignments. */
void plait_guided_alignment_begin (const PlaitGuidedAlignment *guided, PlaitTape *tape, const PlaitBatch *batch,
                                   PlaitEncoderOutputs *encoded);
void plait_guided_alignment_end (const PlaitGuidedAlignment *guided, PlaitTape *tape, const PlaitBatch *batch,
                                 const PlaitEncoderOutputs *encoded);
