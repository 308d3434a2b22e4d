/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/pool.h"
#include "process/random.h"
#include "types/tensor.h"

/*
 * Functions that copy, select or sum whole rows. If several rows are added to one row, each piece computes some columns
 * and visits the rows in order, so the bits do not depend on the number of threads.
 */

/* y[i] = beta * y[i] + x[indices[i]], where x[-1] is zeros: y [n, w]. */
void plait_rows_gather (PlaitPool *pool, PlaitTensor y, PlaitScalar beta, PlaitTensor x, const gint64 *indices);

/* Backward of plait_rows_gather: dx[indices[i]] += dy[i], in order of i; skips i if indices[i] is -1. dx must be
 * initialised (see plait_tensor_fill). */
void plait_rows_scatter_add (PlaitPool *pool, PlaitTensor dx, PlaitTensor dy, const gint64 *indices);

/* y[i] = take[i] ? a[i] : b[i]; @b NULL: zeros. */
void plait_rows_select (PlaitPool *pool, PlaitTensor y, const guint8 *take, PlaitTensor a, const PlaitTensor *b);

/* Backward of plait_rows_select: dx[i] = beta * dx[i] + dy[i] if take[i] (as a boolean) is @which, else beta * dx[i].
 * @which is TRUE for the gradient of a, FALSE for that of b. */
void plait_rows_select_backward (PlaitPool *pool, PlaitTensor dx, PlaitScalar beta, const guint8 *take, gboolean which,
                                 PlaitTensor dy);

/* y[i] = scale * table[ids[i]]: y [n, w], table [V, w]. */
void plait_embed_forward (PlaitPool *pool, PlaitTensor y, PlaitTensor table, const gint32 *ids, PlaitScalar scale);

/* Backward of plait_embed_forward: dtable[ids[i]] += scale * dy[i], in order of i. */
void plait_embed_backward (PlaitPool *pool, PlaitTensor dtable, PlaitTensor dy, const gint32 *ids, PlaitScalar scale);

/* y = dropout (x + table[first + position]), where position is the row's position in its sentence. Dropout as in
 * plait_tensor_dropout. y may be x. */
void plait_positions_forward (PlaitPool *pool, PlaitTensor y, PlaitTensor x, PlaitRagged rows, PlaitTensor table,
                              gint64 first, PlaitRandomKey key, double rate);

/* Backward of plait_positions_forward for the table: dtable[first + position] += dy * mask / (1 - rate). (The gradient
 * of x is plait_tensor_dropout of dy.) */
void plait_positions_backward (PlaitPool *pool, PlaitTensor dtable, PlaitTensor dy, PlaitRagged rows, gint64 first,
                               PlaitRandomKey key, double rate);

/* y = beta * y + x * factors, elementwise: x [rows, w]; factors [rows, 1], one for each row, or [1, w], one for each
 * column. */
void plait_broadcast_multiply (PlaitPool *pool, PlaitTensor y, PlaitScalar beta, PlaitTensor x, PlaitTensor factors);

/* y = beta * y + sum of a * b, along each row if y is [rows, 1], along each column if y is [1, w]: a, b [rows, w]. */
void plait_broadcast_dot (PlaitPool *pool, PlaitTensor y, PlaitScalar beta, PlaitTensor a, PlaitTensor b);

/* Softmax of each row, and its backward: dx = beta * dx + y * (dy - sum of y * dy). */
void plait_rows_softmax (PlaitPool *pool, PlaitTensor y, PlaitTensor x);
void plait_rows_softmax_backward (PlaitPool *pool, PlaitTensor dx, PlaitScalar beta, PlaitTensor dy, PlaitTensor y);

/* sum [1, w] = beta * sum + sum of the rows of x. */
void plait_rows_sum (PlaitPool *pool, PlaitTensor sum, PlaitScalar beta, PlaitTensor x);
