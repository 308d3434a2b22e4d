/* SPDX-License-Identifier: MIT */
#pragma once

#include "scoring/evaluation.h"

/*
 * The evaluations of a trained run: what its experiment asks for on each test split, made where it is not in the file
 * already, and taken over where it is. The end of a run, a run whose evaluation is asked for otherwise, and plait test
 * all make them here.
 *
 *     /evaluation/SPLIT         attributes: key (plait_evaluation_fingerprint), checkpoint,
 *                               settings ([decode] and [evaluate])
 *     /evaluation/SPLIT.NAME    the same of an evaluation beside it that plait test --as NAME made; further: set
 *
 * with what stands below /attention, /coverage, /descent and /environment/evaluation under the same names.
 */
typedef struct PlaitEvaluations PlaitEvaluations;

/* What viewers draw first where there is no attention (yet). */
#define PLAIT_EVALUATIONS_CURVE "/training/validation"

/* All is borrowed. */
typedef struct
{
  const PlaitExperimentModel *experiment_model;
  const PlaitRunInputs *run_inputs; /* of the same experiment; their text is there (plait_run_inputs_generate) */
  PlaitCorpus *const *tests;        /* of each test split; NULL: opened as they are needed */
  PlaitStore *trained; /* the checkpoints, and evaluations that may be there already; the first process's */
  const char *training_fingerprint;
  const char *name;       /* of evaluations beside the others, or NULL */
  const char *const *set; /* with @name: the settings that make them others, NULL-terminated */
  PlaitPool *pool;
  PlaitLog *log;
  const gint *stop;
  PlaitRanks *ranks; /* NULL, or the processes that all make them, each with a part of the search */
} PlaitEvaluationsSetup;

/* Looks which evaluations are to be made; nothing is made yet. @setup is copied. (transfer full) */
PlaitEvaluations *plait_evaluations_new (const PlaitEvaluationsSetup *setup, GError **error);
void plait_evaluations_free (PlaitEvaluations *evaluations);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitEvaluations, plait_evaluations_free)

/* How many are to be made; the others are in the file. */
guint plait_evaluations_due (const PlaitEvaluations *evaluations);

/* TRUE if the file has evaluations of splits that the experiment has no more. */
gboolean plait_evaluations_has_others (const PlaitEvaluations *evaluations);

/* Makes those that are due, with the parameters of evaluate.checkpoint, which the system's model has from then on. */
gboolean plait_evaluations_make (PlaitEvaluations *evaluations, GError **error);

/* Writes those that were made into @store, and all others of the file that still count: those of the same key, and
 * those beside them that the experiment with their settings would still give. Viewers open the file with a heatmap of
 * attention, or the curve. */
gboolean plait_evaluations_write (const PlaitEvaluations *evaluations, PlaitStore *store, GError **error);
