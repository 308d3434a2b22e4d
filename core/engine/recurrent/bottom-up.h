/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/pool.h"
#include "recurrent/heights.h"
#include "recurrent/recurrent.h"

/*
 * Recurrent cells up binary trees, all trees of a batch at once: a height is what can be computed when the heights
 * below are, so each is a product of whole rows, and the weights' gradients are one product over all nodes. What is
 * collected has a row an inner node, height after height.
 */

/* The gates that come from one product, in widths. */
static inline gint64
plait_bottom_up_gates (PlaitTreeKind kind)
{
  return kind == PLAIT_TREE_HEAD_WORD ? 1 : 5;
}

/* What a cell keeps of a node, in widths: its gates, and of a GRU the candidate, before it with the reset after the
 * product the products of both children. */
static inline gint64
plait_bottom_up_saved (PlaitTreeKind kind, PlaitResetOrder reset)
{
  return plait_bottom_up_gates (kind) + (kind != PLAIT_TREE_GRU ? 0 : reset == PLAIT_RESET_BEFORE ? 1 : 3);
}

typedef struct
{
  PlaitTreeKind kind;
  PlaitResetOrder reset;
  gint64 width; /* w */
  const PlaitTreeHeights *heights;
  PlaitRnnWeight gates;              /* [2 w, gates w], the left child's above the right one's */
  PlaitRnnWeight candidate[2];       /* of a GRU: [2 w, w]; with the reset after, [w, w] for each child */
  const PlaitScalar *gate_bias;      /* gates w numbers, or NULL */
  const PlaitScalar *candidate_bias; /* of a GRU: w numbers, or NULL */
  PlaitTensor projected;             /* [nodes, w of all gates and the candidate] what is added to them, or no data */
  PlaitTensor states;                /* [rows, w], the leaves' there, the nodes' written */
  PlaitTensor cells;                 /* the same, of an LSTM */

  PlaitTensor children;       /* [nodes, 2 w] the states of both children */
  PlaitTensor saved;          /* [nodes, plait_bottom_up_saved () w] */
  PlaitTensor reset_children; /* [nodes, 2 w] after the reset gates, of a GRU with the reset before */
} PlaitBottomUp;

/*
 * The way back, from the cotangents of all rows, to which it adds: those of the leaves are then the leaves' gradients.
 * In @saved the cotangents of the gates' inputs take the gates' places, and so do those of a GRU's candidate and
 * products; factors' gradients are children^T and reset_children^T times them. The factors are packed transposed.
 */
typedef struct
{
  PlaitTensor dstates;    /* [rows, w] */
  PlaitTensor dcells;     /* the same, of an LSTM */
  PlaitTensor dprojected; /* [nodes, gates w], or no data */
  gboolean adds;          /* to dprojected */
  PlaitTensor dchildren;  /* [nodes of the lowest height, which has the most, 2 w] scratch */
  PlaitTensor dreset;     /* the same, of a GRU with the reset before */
} PlaitBottomUpBackward;

/* Goes up, or back where there is @work. */
void plait_bottom_up_run (PlaitPool *pool, const PlaitBottomUp *bottom_up, const PlaitBottomUpBackward *work);
