/* SPDX-License-Identifier: MIT */
#pragma once

#include "setup/run-inputs.h"
#include "decoders/model.h"

/* The model that an experiment describes: plugins loaded, their settings filled, parameters declared. */
typedef struct
{
  PlaitModel *model;
  const PlaitExperiment *experiment;
  /*< private >*/
  PlaitSourceSpecification *sources;
  gint64 *feature_widths;
} PlaitExperimentModel;

/* @feature_widths: [n_sources], 0 for tokens. @run_inputs: NULL where there is no text; every vocabulary then has
 * data.vocabulary_size entries, or some where that is 0. (transfer full) */
PlaitExperimentModel *plait_experiment_model_new (const PlaitExperiment *experiment, const PlaitRunInputs *run_inputs,
                                                  const gint64 *feature_widths, GError **error);
void plait_experiment_model_free (PlaitExperimentModel *experiment_model);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitExperimentModel, plait_experiment_model_free)

/* Builds the model in a child process, with a stand-in where a size is only known of what is read, and throws it away:
 * whether its parts take each other, and whether what plugins do then comes to an end. What takes long, such as
 * learning a vocabulary, comes after that. */
gboolean plait_experiment_model_try_build (const PlaitExperiment *experiment, GError **error);

/* Makes the model of @experiment, which was rehearsed, with the same stand-ins: for what does not depend on
 * vocabularies. (transfer full) */
PlaitExperimentModel *plait_experiment_model_new_without_vocabularies (const PlaitExperiment *experiment,
                                                                       GError **error);

/* How many parameters the model of @experiment has, with the same stand-ins; -1 where it cannot be built. */
gint64 plait_experiment_model_count_parameters (const PlaitExperiment *experiment, GError **error);

/* Draws the initial values of all parameters, by train.initial_values and experiment.seed. */
void plait_experiment_model_initialise (const PlaitExperimentModel *experiment_model, PlaitPool *pool);

/* Writes /plugins, their modules in /environment, and the widths of features. */
gboolean plait_experiment_model_write (const PlaitExperimentModel *experiment_model, PlaitStore *store, GError **error);

/* Tells @registry from where @run had its plugins, as far as it says so: for messages about those that are missing. */
void plait_experiment_model_remember_plugins (PlaitStore *run, PlaitRegistry *registry);

/* The widths that plait_experiment_model_write wrote. (transfer full) */
gint64 *plait_experiment_model_read_feature_widths (const PlaitExperiment *experiment, PlaitStore *run, GError **error);

/* Fails if a plugin is not the one that @run was trained with: name, kind, and digests of module and schema. With
 * @shared only plugins that @run has too count: training begins with what it learnt. */
gboolean plait_experiment_model_check_plugins (const PlaitExperiment *experiment, PlaitStore *run, gboolean shared,
                                               GError **error);
