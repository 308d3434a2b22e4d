/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/arena.h"
#include "process/pool.h"
#include "process/random.h"
#include "harness.h"
#include "tensor/packed.h"

/*
 * A trial compares a kernel with its slow twin on random shapes, for every kernel variant of this processor, and with
 * 1, 2 and 3 threads. The bits must be equal for all numbers of threads, so the twin computes with 1 thread only.
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

/* Runs @body @rounds times for each variant and number of threads. */
void trial_run (TrialBody body, guint rounds);

/* TRUE if the twin computes: with 1 thread. With more threads only the digest is compared. */
gboolean trial_compares (void);

/* Returns a random integer in @least .. @most. */
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

/* Returns a copy of @tensor, perhaps with another stride. */
PlaitTensor trial_copy (Trial *trial, PlaitTensor tensor);

/* Returns a target for beta * target + ...: NaN if @beta is 0, else random. *slow is a copy for the slow twin, zeros if
 * @beta is 0. */
PlaitTensor trial_target (Trial *trial, gint64 rows, gint64 width, PlaitScalar beta, PlaitTensor *slow);

/* Returns @n sentences of @least .. @most rows. */
PlaitRagged trial_ragged (Trial *trial, gint64 n, gint64 least, gint64 most);

/* Returns @n random bytes, 0 or 1. */
guint8 *trial_bytes (Trial *trial, gint64 n);

/* TRUE if dropout with @key and @rate drops element @i. */
gboolean trial_dropped (PlaitRandomKey key, double rate, gint64 i);

/* Returns an activation of @x in double, and its derivative in *derivative. */
double trial_activation (PlaitActivation activation, double x, double *derivative);

/* Checks that the bits of a row of the product of @x [rows, in] and @packed [in, @out] do not depend on the other
 * rows. */
void trial_check_alone (Trial *trial, const PlaitPacked *packed, PlaitTensor x, gint64 out);

/* Adds @size bytes to the digest. */
void trial_digest (Trial *trial, gconstpointer bytes, gsize size);

/* Checks that @fast is close to @slow, relative to the greatest magnitude in @slow, and adds the bits of @fast to the
 * digest. */
void trial_check (Trial *trial, const char *what, PlaitTensor fast, PlaitTensor slow);
void trial_check_vector (Trial *trial, const char *what, const PlaitScalar *fast, const PlaitScalar *slow, gint64 n);
