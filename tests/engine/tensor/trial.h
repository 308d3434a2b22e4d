/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/arena.h"
#include "process/pool.h"
#include "process/random.h"
#include "harness.h"
#include "tensor/packed.h"

/*
 * A trial runs a fast kernel beside its slow twin on random shapes: with every kernel variant that this processor has,
 * and with 1, 2 and 3 threads, whose results must have the same bits.
 */
typedef struct
{
  PlaitPool *pool;
  PlaitArena *arena;
  PlaitRandomKey key;
  guint64 draws;
  GPtrArray *blocks;
  guint64 digest; /* of the bits of everything checked */
} Trial;

typedef void (*TrialBody) (Trial *trial);

/* Runs @body @rounds times for each variant and number of threads. */
void trial_run (TrialBody body, guint rounds);

/* A number in @least .. @most. */
gint64 trial_number (Trial *trial, gint64 least, gint64 most);
gboolean trial_flip (Trial *trial);

/* Memory that lives as long as the trial. */
gpointer trial_memory (Trial *trial, gsize size);

/* Normal numbers; a row may be followed by a gap. */
PlaitTensor trial_tensor (Trial *trial, gint64 rows, gint64 width);

/* Normal numbers end to end. */
PlaitScalar *trial_vector (Trial *trial, gint64 n);

/* Not-a-numbers, as uninitialised memory might hold. */
PlaitTensor trial_rubbish (Trial *trial, gint64 rows, gint64 width);

/* The same values elsewhere. */
PlaitTensor trial_copy (Trial *trial, PlaitTensor tensor);

/* Rubbish if @beta is 0, else normal numbers; *slow is a copy for the slow twin, zero if @beta is 0. */
PlaitTensor trial_target (Trial *trial, gint64 rows, gint64 width, PlaitScalar beta, PlaitTensor *slow);

/* @n sentences of @least .. @most rows. */
PlaitRagged trial_ragged (Trial *trial, gint64 n, gint64 least, gint64 most);

/* A byte a row, 0 or 1. */
guint8 *trial_bytes (Trial *trial, gint64 n);

/* Checks that a row of @x times @packed, @out wide, has the same bits alone and beside the others. */
void trial_check_alone (Trial *trial, const PlaitPacked *packed, PlaitTensor x, gint64 out);

/* Checks that @fast is near @slow, relative to the greatest magnitude in @slow, and takes @fast's
 * bits into the digest. */
void trial_check (Trial *trial, const char *what, PlaitTensor fast, PlaitTensor slow);
void trial_check_vector (Trial *trial, const char *what, const PlaitScalar *fast, const PlaitScalar *slow, gint64 n);
