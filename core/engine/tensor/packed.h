/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/arena.h"
#include "process/pool.h"
#include "tensor/panel.h"

/*
 * A copy of a weight in column panels, as the product kernels read it. For weights that are used many times (decoding,
 * recurrent steps). Pack again when the weight changes.
 */
typedef struct PlaitPacked PlaitPacked;

/* TRUE if products in @precision run in this process. Full precision and emulated bfloat16 always do. int8 and bfloat16
 * need instructions of the processor; bfloat16 also needs float scalars. */
gboolean plait_precision_runs_here (PlaitPrecision precision);

/* Packs @weight [in, out]; or its transpose if @transposed, such as a table [V, w] as the weight [w, V].
 * plait_precision_runs_here (precision) must be TRUE. With int8, a weight too deep for exact sums of bytes stays in
 * full precision. Returns NULL if there is not enough memory. (transfer full) */
PlaitPacked *plait_pack (PlaitPool *pool, PlaitTensor weight, gboolean transposed, PlaitPrecision precision);
PlaitPrecision plait_packed_precision (const PlaitPacked *packed);
void plait_packed_free (PlaitPacked *packed);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitPacked, plait_packed_free)

/* Packs a weight in memory of @arena, for a weight that is used often within one step. @precision must not be int8.
 * Release with plait_packed_release. */
PlaitPacked *plait_pack_in (PlaitArena *arena, PlaitPool *pool, PlaitTensor weight, gboolean transposed,
                            PlaitPrecision precision);

/* Releases the memory that plait_pack_in allocated in @arena. @packed may be NULL. */
void plait_packed_release (PlaitArena *arena, PlaitPacked *packed);

/* Packs new values of a weight into @packed. The shape must be that of the first packing. */
void plait_packed_update (PlaitPool *pool, PlaitPacked *packed, PlaitTensor weight, gboolean transposed);

/* Computes y = beta * y + x W, then applies @epilogue (may be NULL): x [r, in], y [r, out], @beta 0 or 1. The result of
 * a row does not depend on the other rows. */
void plait_packed_product (PlaitPool *pool, PlaitTensor y, PlaitScalar beta, PlaitTensor x, const PlaitPacked *packed,
                           const PlaitEpilogue *epilogue);
