/* SPDX-License-Identifier: MIT */
#pragma once

#include "setup/run-inputs.h"
#include "decoders/model.h"

/* The model of an experiment: plugins loaded, settings filled, parameters declared. */
typedef struct
{
  PlaitModel *model;
  const PlaitExperiment *experiment;
  /*< private >*/
  PlaitSourceSpecification *sources;
  gint64 *feature_widths;
} PlaitExperimentModel;

/* Returns the model of @experiment. @feature_widths: [n_sources], 0 for tokens. @run_inputs: NULL if there is no text;
 * every vocabulary then has data.vocabulary_size entries, or a stand-in size if that is 0. (transfer full) */
PlaitExperimentModel *plait_experiment_model_new (const PlaitExperiment *experiment, const PlaitRunInputs *run_inputs,
                                                  const gint64 *feature_widths, GError **error);
void plait_experiment_model_free (PlaitExperimentModel *experiment_model);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitExperimentModel, plait_experiment_model_free)

/* Builds the model in a child process and discards it, to find incompatible components and plugins that crash or never
 * return before slow work such as learning a vocabulary begins. Uses stand-ins for sizes that depend on data. */
gboolean plait_experiment_model_try_build (const PlaitExperiment *experiment, GError **error);

/* Returns the model of @experiment with stand-in sizes, for uses that do not depend on vocabularies.
 * plait_experiment_model_try_build must have succeeded. (transfer full) */
PlaitExperimentModel *plait_experiment_model_new_without_vocabularies (const PlaitExperiment *experiment,
                                                                       GError **error);

/* Returns the number of parameters of @experiment's model, with stand-in sizes; -1 if it cannot be built. */
gint64 plait_experiment_model_count_parameters (const PlaitExperiment *experiment, GError **error);

/* Draws the initial values of all parameters by train.initial_values and experiment.seed. */
void plait_experiment_model_initialise (const PlaitExperimentModel *experiment_model, PlaitPool *pool);

/* Writes /plugins, the module files in /environment/plugins, and the feature widths. */
gboolean plait_experiment_model_write (const PlaitExperimentModel *experiment_model, PlaitStore *store, GError **error);

/* Tells @registry where @run loaded its plugins, for messages about missing ones. */
void plait_experiment_model_remember_plugins (PlaitStore *run, PlaitRegistry *registry);

/* Reads the widths written by plait_experiment_model_write, [n_sources]. (transfer full) */
gint64 *plait_experiment_model_read_feature_widths (const PlaitExperiment *experiment, PlaitStore *run, GError **error);

/* Fails if a plugin differs from the one that trained @run: name, kind, SHA-256 of module and schema. With @shared
 * plugins that @run lacks are accepted: training then begins with parameters of @run. */
gboolean plait_experiment_model_check_plugins (const PlaitExperiment *experiment, PlaitStore *run, gboolean shared,
                                               GError **error);
