/* SPDX-License-Identifier: MIT */
#include "autograd/internal.h"
#include "recurrent/scan.h"

enum
{
  SCAN_A,
  SCAN_B,
  SCAN_INITIAL,
  SCAN_INPUTS
};

/* Returns the kernel's arguments for @node, whose payload is the ragged rows. */
static PlaitScanJob
job_of (PlaitTape *tape, const PlaitNode *node)
{
  return (PlaitScanJob){ .a = node->inputs[SCAN_A]->value,
                         .b = node->inputs[SCAN_B]->value,
                         .initial = plait_tape_value_if_any (tape, node->inputs[SCAN_INITIAL]),
                         .states = node->value,
                         .rows = *(const PlaitRagged *)node->payload };
}

static PlaitGradientTarget
target_of (PlaitTape *tape, PlaitNode *input)
{
  PlaitGradientTarget target;

  target.gradient = plait_gradient_if_needed (tape, input, &target.beta);
  return target;
}

static void
scan_backward (PlaitTape *tape, PlaitNode *node)
{
  PlaitScanJob job = job_of (tape, node);

  job.dstates = node->gradient;
  job.da = target_of (tape, node->inputs[SCAN_A]);
  job.db = target_of (tape, node->inputs[SCAN_B]);
  job.dinitial = target_of (tape, node->inputs[SCAN_INITIAL]);
  plait_scan_backward (plait_tape_pool (tape), &job);
}

static const PlaitOperator scan = { .name = "scan", .backward = scan_backward };

PlaitNode *
plait_scan (PlaitTape *tape, PlaitNode *a, PlaitNode *b, PlaitNode *initial, PlaitRagged rows)
{
  PlaitNode *inputs[SCAN_INPUTS] = { a, b, initial };
  PlaitNode *node;
  PlaitScanJob job;

  plait_tape_expect (tape, a && b && plait_ragged_is_valid (rows));
  if (a->value.rows != b->value.rows || a->value.width != b->value.width)
    plait_tape_fail (tape, "%s was given nodes of the shapes [%jd, %jd] and [%jd, %jd]: give it nodes of one shape",
                     G_STRFUNC, a->value.rows, a->value.width, b->value.rows, b->value.width);
  plait_tape_expect (tape, plait_ragged_rows (rows) == a->value.rows);
  plait_tape_expect (tape, !initial || (initial->value.rows == rows.n && initial->value.width == a->value.width));
  node = plait_tape_node (tape, &scan, a->value.rows, a->value.width, inputs, SCAN_INPUTS, sizeof rows);
  *(PlaitRagged *)node->payload = rows;
  job = job_of (tape, node);
  plait_scan_forward (plait_tape_pool (tape), &job);
  return node;
}
