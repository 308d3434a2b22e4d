/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/arena.h"
#include "process/pool.h"
#include "tensor/panel.h"

/*
 * A weight laid out once in column panels, as the product kernel reads it: for weights that are used many times
 * (decoding, recurrent steps). A copy: pack again when the weight has changed.
 */
typedef struct PlaitPacked PlaitPacked;

/* FALSE where this processor has no instructions for products of @precision; where the build has double scalars, of
 * bfloat16 but emulated. */
gboolean plait_precision_runs_here (PlaitPrecision precision);

/* Packs @weight [in, out], or its transpose if @transposed (a vocabulary table [V, w] as the weight [w, V]), of a
 * precision that runs here; one too deep for sums of bytes is packed as it is. NULL when memory is out.
 * (transfer full) */
PlaitPacked *plait_pack (PlaitPool *pool, PlaitTensor weight, gboolean transposed, PlaitPrecision precision);
PlaitPrecision plait_packed_precision (const PlaitPacked *packed);
void plait_packed_free (PlaitPacked *packed);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitPacked, plait_packed_free)

/* As plait_pack, in the memory of @arena: for a step in which a weight is used often. Not of bytes. */
PlaitPacked *plait_pack_in (PlaitArena *arena, PlaitPool *pool, PlaitTensor weight, gboolean transposed,
                            PlaitPrecision precision);

/* Gives back what plait_pack_in took. NULL is allowed. */
void plait_packed_release (PlaitArena *arena, PlaitPacked *packed);

/* Packs new values of a weight of the same shape into @packed. */
void plait_packed_update (PlaitPool *pool, PlaitPacked *packed, PlaitTensor weight, gboolean transposed);

/* y = beta * y + x W, and what @epilogue (or NULL) does to it: x [r, in], y [r, out], @beta 0 or 1. A row's result does
 * not depend on the other rows. */
void plait_packed_product (PlaitPool *pool, PlaitTensor y, PlaitScalar beta, PlaitTensor x, const PlaitPacked *packed,
                           const PlaitEpilogue *epilogue);
