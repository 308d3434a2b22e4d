/* SPDX-License-Identifier: MIT */
#pragma once

#include "contract/contract.h"
#include "contract/fixture.h"
#include "decoders/model.h"

/* Models and results that the tests of a plugin's contract share. */

/* A model that contains the tested plugin. */
typedef struct
{
  PlaitPlugin *plugin;
  PlaitFixture *fixture;
  gboolean not_applicable; /* set to TRUE by a property that cannot be checked in this model */
} PlaitContractCase;

/* A property of the contract: one testable clause. */
typedef struct
{
  const char *name;
  const char *summary;
  gboolean fewer_sources;     /* TRUE: check the defaults in models of 1, 2 and 3 sources; FALSE: only of 3 */
  const char *not_applicable; /* reason to show if no model was checked; NULL if every model can be checked */
  const char *remark;         /* note to show if the property passes, or NULL */
  guint kinds;                /* bits 1 << PlaitPluginKind: the kinds of plugins that the property concerns; 0: all */
  gboolean decides;           /* TRUE: if this property fails, the remaining properties are not checked */

  /* Checks the property in one model. Fails with PLAIT_ERROR_FAILED and one sentence with the expected and the found
   * result. */
  gboolean (*check) (PlaitContractCase *tested, GError **error);
} PlaitContractProperty;

extern const PlaitContractProperty plait_contract_structure;
extern const PlaitContractProperty plait_contract_runs;
extern const PlaitContractProperty plait_contract_gradients;
extern const PlaitContractProperty plait_contract_memories;
extern const PlaitContractProperty plait_contract_missing;
extern const PlaitContractProperty plait_contract_batches;
extern const PlaitContractProperty plait_contract_lengths;
extern const PlaitContractProperty plait_contract_search;
extern const PlaitContractProperty plait_contract_causal;
extern const PlaitContractProperty plait_contract_losses;
extern const PlaitContractProperty plait_contract_repeats;
extern const PlaitContractProperty plait_contract_shards;

/* Progress of a child process, in memory shared with its parent. */
typedef struct
{
  guint n_models;
  guint n_refused;
  char model_text[256]; /* current model, such as "[decoder] type=gru, heads=2" */
} PlaitContractProgress;

/* A plugin that a small model needs besides the tested plugin, with settings from plait_fixture_settings(). */
typedef struct
{
  PlaitPlugin *plugin;
  PlaitSettings *settings;
} PlaitCompanion;

struct PlaitContract
{
  PlaitPlugin *plugin;
  PlaitCompanion tokens;     /* encoder that reads tokens */
  PlaitCompanion structured; /* encoder with the structure that the tested plugin requires; for a decoder that requires
                                no structure, an encoder with a summary */
  PlaitCompanion combiner;
};

/* State of the checks of one property in a child process. */
typedef struct
{
  const PlaitContract *contract;
  const PlaitContractProperty *property;
  PlaitContractProgress *progress;
  PlaitPlugin *decoder; /* decoder of all models: the tested decoder or, if the tested plugin's schema allows no test
                           decoder, a decoder that it allows; NULL: the test decoders */

  /* Results of the models that were checked so far: */
  gboolean taken[PLAIT_FIXTURE_TYPES]; /* TRUE if the plugin, with its defaults, accepted a decoder of this type */
  GError *refusal;                     /* last error with which the plugin refused a model; or NULL */
} PlaitContractSweep;

/* Checks sweep->property in every model, and updates sweep->progress. @sweep: a PlaitContractSweep. */
gboolean plait_contract_sweep (gpointer sweep, GError **error);
