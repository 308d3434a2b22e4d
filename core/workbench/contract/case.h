/* SPDX-License-Identifier: MIT */
#pragma once

#include "contract/contract.h"
#include "contract/fixture.h"
#include "decoders/model.h"

/* The models and results that the tests of a plugin's contract share. */

/* A model that contains the plugin. */
typedef struct
{
  PlaitPlugin *plugin;
  PlaitFixture *fixture;
  gboolean not_applicable; /* TRUE: set by a property that cannot be checked in this model */
} PlaitContractCase;

/* A property of the contract: one testable clause. */
typedef struct
{
  const char *name;
  const char *summary;
  gboolean fewer_sources;     /* TRUE: models of 1, 2 and 3 sources are checked, not only of 3 */
  const char *not_applicable; /* reason if the property can be checked in no model */
  const char *remark;         /* note to show if the property passes, or NULL */
  guint kinds;                /* bits 1 << PlaitPluginKind of the kinds that are checked; 0: all */
  gboolean decides;           /* TRUE: if this property fails, the remaining ones are not checked */

  /* Returns FALSE with PLAIT_ERROR_FAILED: one sentence with the expected and the found result. */
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

/* A plugin that completes a small model besides the tested plugin, with the settings of plait_fixture_settings. */
typedef struct
{
  PlaitPlugin *plugin;
  PlaitSettings *settings; /* NULL if there is no such plugin */
} PlaitCompanion;

struct PlaitContract
{
  PlaitPlugin *plugin;
  PlaitCompanion tokens;     /* encoder of tokens */
  PlaitCompanion structured; /* encoder with the structure that the plugin requires; for a decoder, with a summary */
  PlaitCompanion combiner;
};

/* State of the checks of one property in a child process. */
typedef struct
{
  const PlaitContract *contract;
  const PlaitContractProperty *property;
  PlaitContractProgress *progress;

  /* Results of the models that were checked so far: */
  gboolean taken[PLAIT_FIXTURE_TYPES]; /* TRUE if a decoder of this type accepted the plugin's defaults */
  GError *refusal;                     /* the plugin's last refusal of a model */
} PlaitContractSweep;

/* Checks the property of @sweep, a PlaitContractSweep, in every model, and updates its progress. */
gboolean plait_contract_sweep (gpointer sweep, GError **error);
