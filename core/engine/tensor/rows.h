/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/pool.h"
#include "process/random.h"
#include "types/tensor.h"

/*
 * Kernels that move, choose or sum whole rows. Where rows are added to one place, each piece owns some columns and goes
 * through the rows in order, so the bits do not depend on the threads.
 */

/* y[i] = beta * y[i] + x[indices[i]], nothing being added where the index is -1: y [n, w]. */
void plait_rows_gather (PlaitPool *pool, PlaitTensor y, PlaitScalar beta, PlaitTensor x, const gint64 *indices);

/* The backward of it: dx[indices[i]] += dy[i], in order of i. dx must be initialised (see plait_tensor_fill). */
void plait_rows_scatter_add (PlaitPool *pool, PlaitTensor dx, PlaitTensor dy, const gint64 *indices);

/* y[i] = take[i] ? a[i] : b[i]; @b NULL means zeros. */
void plait_rows_select (PlaitPool *pool, PlaitTensor y, const guint8 *take, PlaitTensor a, const PlaitTensor *b);

/* dx[i] = beta * dx[i] + dy[i] where take[i] is @which (0 or not), + 0 elsewhere: the backward of select. */
void plait_rows_select_backward (PlaitPool *pool, PlaitTensor dx, PlaitScalar beta, const guint8 *take, gboolean which,
                                 PlaitTensor dy);

/* y[i] = scale * table[ids[i]]: y [n, w], table [V, w]. */
void plait_embed_forward (PlaitPool *pool, PlaitTensor y, PlaitTensor table, const gint32 *ids, PlaitScalar scale);

/* dtable[ids[i]] += scale * dy[i], in order of i. */
void plait_embed_backward (PlaitPool *pool, PlaitTensor dtable, PlaitTensor dy, const gint32 *ids, PlaitScalar scale);

/* y = dropout (x + table[first + place of the row in its sentence]): dropout as plait_tensor_dropout. y may be x. */
void plait_positions_forward (PlaitPool *pool, PlaitTensor y, PlaitTensor x, PlaitRagged rows, PlaitTensor table,
                              gint64 first, PlaitRandomKey key, double rate);

/* dtable[first + place] += dy * mask / (1 - rate). (The gradient of x is plait_tensor_dropout of dy.) */
void plait_positions_backward (PlaitPool *pool, PlaitTensor dtable, PlaitTensor dy, PlaitRagged rows, gint64 first,
                               PlaitRandomKey key, double rate);

/* Sets y to beta * y + x * factors, element by element: x [rows, w], factors a column [rows, 1] or a row [1, w], which
 * repeats. */
void plait_broadcast_multiply (PlaitPool *pool, PlaitTensor y, PlaitScalar beta, PlaitTensor x, PlaitTensor factors);

/* Sets y to beta * y + the sums of a * b over the rows, y [rows, 1], or over the columns, y [1, w]: a, b [rows, w]. */
void plait_broadcast_dot (PlaitPool *pool, PlaitTensor y, PlaitScalar beta, PlaitTensor a, PlaitTensor b);

/* The softmax of each row, and its backward: dx = beta * dx + y * (dy - the sum of y * dy). */
void plait_rows_softmax (PlaitPool *pool, PlaitTensor y, PlaitTensor x);
void plait_rows_softmax_backward (PlaitPool *pool, PlaitTensor dx, PlaitScalar beta, PlaitTensor dy, PlaitTensor y);

/* sum[1, w] = beta * sum + the sum of x's rows. */
void plait_rows_sum (PlaitPool *pool, PlaitTensor sum, PlaitScalar beta, PlaitTensor x);
