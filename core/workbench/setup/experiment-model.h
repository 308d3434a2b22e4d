/* SPDX-License-Identifier: MIT */
#pragma once

#include "setup/run-inputs.h"
#include "decoders/model.h"

/* The model of an experiment, with plugins loaded, settings filled in and parameters declared. */
typedef struct
{
  PlaitModel *model;
  const PlaitExperiment *experiment;
  /*< private >*/
  PlaitSourceSpecification *sources;
  gint64 *feature_widths;
} PlaitExperimentModel;

/* Returns the model of @experiment. @feature_widths [n_sources] has 0 for sources of text. @run_inputs has the
 * vocabularies. If @run_inputs is NULL, settings give the sizes of vocabularies: factor_vocabulary_size for factors and
 * tags, data.vocabulary_size for other streams; if the setting is 0, a substitute is used. (transfer full) */
PlaitExperimentModel *plait_experiment_model_new (const PlaitExperiment *experiment, const PlaitRunInputs *run_inputs,
                                                  const gint64 *feature_widths, GError **error);
void plait_experiment_model_free (PlaitExperimentModel *experiment_model);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitExperimentModel, plait_experiment_model_free)

/* Builds the model in a child process and discards it. So incompatible components, and plugins that crash or never
 * return, are found before slow work, such as learning a vocabulary, begins. Uses substitutes for sizes of vocabularies
 * that depend on text. */
gboolean plait_experiment_model_try_build (const PlaitExperiment *experiment, GError **error);

/* Fails if the alignments of a test split cannot be scored, because the decoder lacks the layer or head that
 * evaluate.alignment_attention names, or does not attend to the source. plait_experiment_model_try_build() calls it. */
gboolean plait_experiment_model_check_alignment (const PlaitExperimentModel *experiment_model, GError **error);

/* Calls plait_experiment_model_new() without run inputs, and with the feature widths of the training files
 * (bench.feature_width without a file). plait_experiment_model_try_build() must have succeeded. (transfer full) */
PlaitExperimentModel *plait_experiment_model_new_without_vocabularies (const PlaitExperiment *experiment,
                                                                       GError **error);

/* Returns the number of scalars in all parameters of @experiment's model; -1 if it cannot be built. @known maps names
 * of vocabularies to their sizes (gint64). Settings or substitutes give the sizes of other vocabularies. */
gint64 plait_experiment_model_count_parameters (const PlaitExperiment *experiment, GHashTable *known, GError **error);

/* Draws the initial values of all parameters by train.initial_values and experiment.seed. */
void plait_experiment_model_initialise (const PlaitExperimentModel *experiment_model, PlaitPool *pool);

/* Writes the plugins and the feature widths to /plugins, and the paths of the module files to /environment/plugins. */
gboolean plait_experiment_model_write (const PlaitExperimentModel *experiment_model, PlaitStore *store, GError **error);

/* Tells @registry from where @run loaded its plugins. Messages about missing plugins then name these places. */
void plait_experiment_model_remember_plugins (PlaitStore *run, PlaitRegistry *registry);

/* Returns the feature widths [n_sources] that plait_experiment_model_write() wrote. (transfer full) */
gint64 *plait_experiment_model_read_feature_widths (const PlaitExperiment *experiment, PlaitStore *run, GError **error);

/* Fails unless @run was trained with equal plugins: name, kind, and SHA-256 of module and schema of each plugin of
 * @experiment are compared. With @shared, plugins that @run does not have are accepted: training then only begins with
 * parameters of @run. */
gboolean plait_experiment_model_check_plugins (const PlaitExperiment *experiment, PlaitStore *run, gboolean shared,
                                               GError **error);
