/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/ranks.h"
#include "decoders/model.h"
#include "training/settings.h"

/* Likelihood of the target tokens of some batches. */
typedef struct
{
  double negative_log_likelihood; /* sum in nats */
  double guessing; /* negative log-likelihood in nats if all words were equally probable (PlaitModelSums) */
} PlaitLikelihood;

/* Sums over batches, to which plait_update_gradients adds. */
typedef struct
{
  double loss;                           /* sum in nats, smoothing included */
  double negative_log_likelihood;        /* sum in nats */
  PlaitLikelihood update;                /* sums of one update; the caller sets them to zero before each update */
  double losses[PLAIT_MAX_LOSS_COLUMNS]; /* losses of the loss columns (plait_model_losses) */
  PlaitLossItems items[PLAIT_MAX_LOSS_COLUMNS];
  double auxiliary;       /* sum of @losses times their weights */
  double multiplications; /* multiplications of matrix products, forward and backward */
  gint64 correct;         /* number of target rows whose most probable word is the target */
  gint64 tokens;          /* number of target rows */
  gint64 sentences;
  double seconds; /* seconds of the updates; set by the caller */
} PlaitTrainingSums;

/*
 * Computes gradients of updates of a model. If settings->shards is above 1, a batch is cut into that many shards with
 * about equal numbers of rows. Each shard has its own tape, arena and threads, so shards do not wait for each other.
 * The cuts depend on the batch only, and the shards' gradients are added in order. So results depend on the number of
 * shards, not on the number of threads.
 *
 * With @ranks each process has some consecutive shards. The sum of the gradients goes from process to process, and each
 * process adds its own gradients. So the bits are those of a single process with settings->shards shards.
 */
typedef struct PlaitUpdate PlaitUpdate;

/* Creates the updates of @model. They run on the pool of @tape. Gradients that stay on a tape (plait_update_gradients)
 * stay on @tape. @ranks: processes that share the shards, or NULL. All arguments are borrowed. Fails if the threads of
 * shards cannot be started, if there are more processes than shards, or if products in settings->precision cannot run
 * here (plait_precision_runs_here). (transfer full) */
PlaitUpdate *plait_update_new (const PlaitModel *model, PlaitTape *tape, const PlaitTrainSettings *settings,
                               PlaitRanks *ranks, GError **error);
void plait_update_free (PlaitUpdate *update);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitUpdate, plait_update_free)

/*
 * Computes forward and backward of @n batches as one update, for plait_optimizer_update. The gradients of the batches'
 * mean loss stay on the tape if there is one batch and one process, else they are added to the parameters' gradients.
 * Adds losses and counts to @sums. The batches must have passed plait_model_check_batch. @dropout is the random key of
 * this update. If memory is too small, the message (PLAIT_ERROR_MEMORY) gives the size of the batch that does not fit,
 * an estimate of its memory if there is one, and the keys to change. If one process fails, all fail.
 */
gboolean plait_update_gradients (PlaitUpdate *update, PlaitBatch *const *batches, guint n, PlaitRandomKey dropout,
                                 PlaitTrainingSums *sums, GError **error);

/* Returns the largest number of bytes that updates have used at once. */
gsize plait_update_peak (const PlaitUpdate *update);
