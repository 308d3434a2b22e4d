/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/ranks.h"
#include "decoders/model.h"
#include "training/settings.h"

/* The work of one update before the optimizer's: what the trainer and the benchmark share. */

/* Sums over some batches. */
typedef struct
{
  double negative_log_likelihood; /* nats */
  double guessing;                /* nats: PlaitModelSums */
} PlaitLikelihood;

/* Sums over batches, as plait_update_gradients adds to them. */
typedef struct
{
  double loss;                           /* smoothing included, nats */
  double negative_log_likelihood;        /* nats */
  PlaitLikelihood update;                /* of one update, before which the caller sets it to zero */
  double losses[PLAIT_MAX_LOSS_COLUMNS]; /* of the parts: plait_model_losses */
  double auxiliary;                      /* the same, weighted, in all */
  double multiplications;                /* of matrix products, forward and backward */
  gint64 correct;                        /* target rows whose most probable word was right */
  gint64 tokens;                         /* target rows */
  gint64 sentences;
  double seconds; /* the caller's affair */
} PlaitTrainingSums;

/*
 * What updates of a model are computed with. With settings->shards above 1 a batch is cut into so many shards of
 * about the same number of rows, each with a tape, an arena and its share of the threads of its own: they go forward
 * and back without waiting for one another. Where the cuts are depends on the batch alone, and the shards' gradients
 * are added in their order, so the numbers follow the number of shards, never that of threads.
 *
 * With @ranks each process has some shards that follow one another. The sum of the gradients goes from process to
 * process, each adding its own, and from the last to all: so the order is that of one process, and so are the bits.
 */
typedef struct PlaitUpdate PlaitUpdate;

/* Updates of @model, whose gradients @tape is to hold, on its pool; of all processes of @ranks, or of one by itself.
 * All are borrowed. NULL if the threads of the shards cannot be started, if there are more processes than shards, or
 * this processor has not settings->precision. (transfer full) */
PlaitUpdate *plait_update_new (const PlaitModel *model, PlaitTape *tape, const PlaitTrainSettings *settings,
                               PlaitRanks *ranks, GError **error);
void plait_update_free (PlaitUpdate *update);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitUpdate, plait_update_free)

/*
 * Forward and backward of @n batches as one update, for plait_optimizer_update: the gradients of their mean loss stay
 * on the tape where there is one batch and one process, else they are added to those of the parameters. Adds to @sums.
 * The batches suit the model (plait_model_check_batch). @dropout keys this update's masks. PLAIT_ERROR_MEMORY names the
 * batch that does not fit, about what it would need, and the keys to change. All processes fail where one does.
 */
gboolean plait_update_gradients (PlaitUpdate *update, PlaitBatch *const *batches, guint n, PlaitRandomKey dropout,
                                 PlaitTrainingSums *sums, GError **error);

/* The most bytes that updates have had in use at once. */
gsize plait_update_peak (const PlaitUpdate *update);
