/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/model.h"
#include "train/settings.h"

/* The work of one update before the optimizer's: what the trainer and the benchmark share. */

/* Sums over batches, as plait_update_gradients adds to them. */
typedef struct
{
  double loss;                    /* smoothing included, nats */
  double negative_log_likelihood; /* nats */
  double auxiliary;               /* encoders' own losses, weighted */
  gint64 correct;                 /* target rows whose most probable word was right */
  gint64 tokens;                  /* target rows */
  gint64 sentences;
  double seconds; /* the caller's affair */
} PlaitTrainingSums;

/*
 * Forward and backward of @n batches as one update, for plait_optimizer_update: the gradients of their mean loss stay
 * on the tape where there is one batch, else they are added to those of the parameters. Adds to @sums. The batches suit
 * the model (plait_model_check_batch). @dropout keys this update's masks. PLAIT_ERROR_MEMORY names the batch that does
 * not fit, about what it would need, and the keys to change.
 */
gboolean plait_update_gradients (const PlaitModel *model, PlaitTape *tape, const PlaitTrainSettings *settings,
                                 PlaitBatch *const *batches, guint n, PlaitRandomKey dropout, PlaitTrainingSums *sums,
                                 GError **error);
