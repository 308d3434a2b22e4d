/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/arena.h"
#include "process/pool.h"
#include "process/random.h"
#include "harness.h"
#include "tensor/packed.h"

/*
 * A trial compares a kernel with its slow twin on random shapes, for every kernel variant that this processor runs, and
 * with 1, 2 and 3 threads. Bits must be equal for all numbers of threads, so the twin computes only if there is 1
 * thread.
 */
typedef struct
{
  PlaitPool *pool;
  PlaitArena *arena;
  PlaitRandomKey key;
  guint64 draws;
  GPtrArray *blocks;
  guint64 digest; /* hash of the bits of all checked results */
} Trial;

typedef void (*TrialBody) (Trial *trial);

/* Calls @body @rounds times for each variant and each number of threads; less often under the address sanitizer. */
void trial_run (TrialBody body, guint rounds);

/* TRUE if there is 1 thread, so that the twin computes too. With more threads, only the digest is compared. */
gboolean trial_compares (void);

/* Returns a random integer from @least to @most. */
gint64 trial_number (Trial *trial, gint64 least, gint64 most);
gboolean trial_flip (Trial *trial);

/* Returns zeroed memory that lives as long as the trial. */
gpointer trial_memory (Trial *trial, gsize size);

/* Returns a tensor of random elements with mean 0 and variance 1; its stride may be greater than its width. */
PlaitTensor trial_tensor (Trial *trial, gint64 rows, gint64 width);

/* Returns @n random elements with mean 0 and variance 1. */
PlaitScalar *trial_vector (Trial *trial, gint64 n);

/* Returns a tensor of NaN, as uninitialised memory may contain. */
PlaitTensor trial_rubbish (Trial *trial, gint64 rows, gint64 width);

/* Returns a copy of @tensor, whose stride may differ. */
PlaitTensor trial_copy (Trial *trial, PlaitTensor tensor);

/* Returns a target for beta * target + ...: NaN if @beta is 0, else random. Sets *slow to a copy for the slow twin,
 * with zeros if @beta is 0. */
PlaitTensor trial_target (Trial *trial, gint64 rows, gint64 width, PlaitScalar beta, PlaitTensor *slow);

/* Returns @n sentences of random lengths from @least to @most. */
PlaitRagged trial_ragged (Trial *trial, gint64 n, gint64 least, gint64 most);

/* Returns @n random bytes, 0 or 1. */
guint8 *trial_bytes (Trial *trial, gint64 n);

/* TRUE if dropout with @key and @rate drops element number @i. */
gboolean trial_dropped (PlaitRandomKey key, double rate, gint64 i);

/* Returns the value of the activation at @x, computed in double. Sets *derivative to its derivative there. */
double trial_activation (PlaitActivation activation, double x, double *derivative);

/* Checks that the bits of a row of the product of @x [rows, in] and @packed [in, @out] do not depend on the other
 * rows. */
void trial_check_alone (Trial *trial, const PlaitPacked *packed, PlaitTensor x, gint64 out);

/* Adds @size bytes to the digest of the trial. */
void trial_digest (Trial *trial, gconstpointer bytes, gsize size);

/* Checks that @fast is close to @slow, compared with the largest magnitude in @slow. Adds the bits of @fast to the
 * digest. */
void trial_check (Trial *trial, const char *what, PlaitTensor fast, PlaitTensor slow);
void trial_check_vector (Trial *trial, const char *what, const PlaitScalar *fast, const PlaitScalar *slow, gint64 n);
