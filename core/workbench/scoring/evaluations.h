/* SPDX-License-Identifier: MIT */
#pragma once

#include "scoring/evaluation.h"

/*
 * The evaluations of a trained run: those that its experiment asks for on each test split. Valid ones are copied from
 * the old file, the others are made anew. Used at the end of a run, when a finished run gets other settings, and by
 * plait test.
 *
 *     /evaluation/SPLIT         attributes: key (plait_evaluation_fingerprint), checkpoint,
 *                               settings ([decode] and [evaluate])
 *     /evaluation/SPLIT.NAME    an evaluation that plait test --as NAME made; one more attribute, set
 *
 * /attention, /coverage, /copy, /descent and /environment/evaluation have groups with the same names.
 */
typedef struct PlaitEvaluations PlaitEvaluations;

/* Default object for viewers if there is no attention (yet). */
#define PLAIT_EVALUATIONS_CURVE "/training/validation"

/* All pointers are borrowed. */
typedef struct
{
  const PlaitExperimentModel *experiment_model;
  const PlaitRunInputs *run_inputs; /* inputs of this experiment, with their text (plait_run_inputs_generate) */
  PlaitCorpus *const *tests;        /* [test splits]; NULL: opened when needed */
  PlaitStore *trained;              /* file with checkpoints and perhaps evaluations; the first process's */
  const char *training_fingerprint;
  const char *name;       /* NAME of named evaluations (SPLIT.NAME), or NULL */
  const char *const *set; /* with @name: its settings, NULL-terminated */
  PlaitPool *pool;
  PlaitLog *log;
  const gint *stop;
  PlaitRanks *ranks; /* NULL, or all processes, which share the search */
} PlaitEvaluationsSetup;

/* Finds out which evaluations are due, without making any. Copies @setup. (transfer full) */
PlaitEvaluations *plait_evaluations_new (const PlaitEvaluationsSetup *setup, GError **error);
void plait_evaluations_free (PlaitEvaluations *evaluations);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitEvaluations, plait_evaluations_free)

/* Returns the number of evaluations that are due. */
guint plait_evaluations_due (const PlaitEvaluations *evaluations);

/* TRUE if the file has evaluations of splits that the experiment no longer has. */
gboolean plait_evaluations_has_others (const PlaitEvaluations *evaluations);

/* Loads the parameters of evaluate.checkpoint into the model, and makes the evaluations that are due. */
gboolean plait_evaluations_make (PlaitEvaluations *evaluations, GError **error);

/* TRUE unless a score from outside failed; @error then says that the rest is stored. Such an evaluation is written
 * without that score and stays due. */
gboolean plait_evaluations_check (const PlaitEvaluations *evaluations, GError **error);

/* Returns @fingerprint, or another text if a score from outside failed, so that the run counts as unfinished. (transfer
 * full) */
char *plait_evaluations_seal (const PlaitEvaluations *evaluations, const char *fingerprint);

/* TRUE if @key, a fingerprint that a run stores, says that a score from outside failed. */
gboolean plait_evaluations_is_incomplete (const char *key);

/* Writes into @store the evaluations made, and copies all valid ones of the old file: those with the right fingerprint,
 * and named ones whose settings still give their fingerprint. Sets the default object for viewers: a heatmap, or the
 * training curve. */
gboolean plait_evaluations_write (const PlaitEvaluations *evaluations, PlaitStore *store, GError **error);
