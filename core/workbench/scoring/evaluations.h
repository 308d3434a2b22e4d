/* SPDX-License-Identifier: MIT */
#pragma once

#include "scoring/evaluation.h"

/*
 * The evaluations that the experiment of a trained run requests for each test split. Valid evaluations are copied from
 * the old file, the others are computed. Used when a run ends, when a finished run gets other settings, and by plait
 * test.
 *
 *     /evaluation/SPLIT         attributes: key (plait_evaluation_fingerprint), checkpoint,
 *                               settings ([decode] and [evaluate])
 *     /evaluation/SPLIT.NAME    an evaluation that plait test --as NAME made; one more attribute, set
 *
 * /attention, /coverage, /copy, /descent and /environment/evaluation have groups with these names too; attention of
 * forced decoding is in SPLIT-forced.
 */
typedef struct PlaitEvaluations PlaitEvaluations;

/* Path that viewers show first while a run has no attention. */
#define PLAIT_EVALUATIONS_CURVE "/training/validation"

/* Inputs of the evaluations. All pointers are borrowed. */
typedef struct
{
  const PlaitExperimentModel *experiment_model;
  const PlaitRunInputs *run_inputs; /* inputs of the experiment; generated text must have been written already */
  PlaitCorpus *const *tests;        /* [test splits]: their texts; NULL: opened when needed */
  PlaitStore *trained;              /* file with checkpoints and perhaps evaluations; only the first process needs it */
  const char *training_fingerprint;
  const char *name;         /* NAME, if the evaluations are to be named SPLIT.NAME; else NULL */
  const PlaitOverride *set; /* settings of the named evaluations; not used if name is NULL */
  PlaitPool *pool;
  PlaitLog *log;
  const gint *stop;
  PlaitRanks *ranks; /* processes that share the search; NULL: only this process */
} PlaitEvaluationsSetup;

/* In the first process, finds out which evaluations are due; the other processes learn this in
 * plait_evaluations_make(). Copies @setup. (transfer full) */
PlaitEvaluations *plait_evaluations_new (const PlaitEvaluationsSetup *setup, GError **error);
void plait_evaluations_free (PlaitEvaluations *evaluations);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitEvaluations, plait_evaluations_free)

/* Returns the number of evaluations that are due. In processes other than the first, 0 before
 * plait_evaluations_make(). */
guint plait_evaluations_due (const PlaitEvaluations *evaluations);

/* TRUE if the file has evaluations of splits that the experiment no longer has, which plait_evaluations_write()
 * would drop. FALSE with a name (setup->name): then all other evaluations are kept. */
gboolean plait_evaluations_has_others (const PlaitEvaluations *evaluations);

/* If evaluations are due, loads the parameters of evaluate.checkpoint into the model and makes these evaluations. */
gboolean plait_evaluations_make (PlaitEvaluations *evaluations, GError **error);

/* TRUE unless an external score (evaluate.scores.NAME) failed; the error then says that everything else is stored. The
 * evaluation is written without this score and stays due. */
gboolean plait_evaluations_check (const PlaitEvaluations *evaluations, GError **error);

/* Returns @fingerprint. If an external score failed, returns another text in its place, so that the run counts as
 * unfinished. (transfer full) */
char *plait_evaluations_seal (const PlaitEvaluations *evaluations, const char *fingerprint);

/* TRUE if @key, the fingerprint that a run stores, was replaced because an external score failed
 * (plait_evaluations_seal). */
gboolean plait_evaluations_is_incomplete (const char *key);

/* Writes the new evaluations to @store, and copies all valid evaluations of the old file. An evaluation is valid if it
 * has the fingerprint of an evaluation of the experiment. A named evaluation is valid if its settings still give its
 * fingerprint. If the new evaluations are named, copies all others without a check. Sets what viewers show first: a
 * heatmap, or the training curve. */
gboolean plait_evaluations_write (const PlaitEvaluations *evaluations, PlaitStore *store, GError **error);
