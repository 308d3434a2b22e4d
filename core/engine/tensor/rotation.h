/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/pool.h"
#include "types/tensor.h"

/* Rotation of pairs of columns by angles that depend on the position of the row (Su et al. 2021). */
typedef struct
{
  const gint64 *positions; /* [rows] */
  gint64 first;            /* least of the positions */
  guint heads;
  PlaitTensor angles; /* [positions, d] row p: d / 2 cosines, then d / 2 sines, of the angles of position @first + p */
} PlaitRotation;

/* Fills the table @angles. Angle i of position p is p * base^(-2 i / d), computed in double. */
void plait_rotation_fill (PlaitRotation *rotation, double base);

/* y = beta * y + x rotated by the angles; if @backward, x rotated in the opposite direction, which is the inverse and
 * also the gradient. y may be x if beta is 0. */
void plait_rotate_rows (PlaitPool *pool, PlaitTensor y, PlaitScalar beta, PlaitTensor x, const PlaitRotation *rotation,
                        gboolean backward);
