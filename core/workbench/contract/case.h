/* SPDX-License-Identifier: MIT */
#pragma once

#include "contract/contract.h"
#include "contract/fixture.h"
#include "decoders/model.h"

/* What the properties of the contract see. */

/* A model in which the plugin stands. */
typedef struct
{
  PlaitPlugin *plugin;
  PlaitFixture *fixture;
  gboolean not_applicable; /* set by a property that has nothing to hold in this model */
} PlaitContractCase;

/* One property. */
typedef struct
{
  const char *name;
  const char *summary;
  gboolean fewer_sources;     /* it is held in models of one and two sources too, not of three alone */
  const char *not_applicable; /* why it does not apply where no model has something to hold */
  const char *remark;         /* what to know where it passes, or NULL */
  gboolean of_encoders;       /* it is for encoders alone */
  gboolean decides;           /* where it fails, nothing else is run */

  /* FALSE with one sentence, PLAIT_ERROR_FAILED, that says what was expected and what came. */
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
extern const PlaitContractProperty plait_contract_losses;
extern const PlaitContractProperty plait_contract_repeats;
extern const PlaitContractProperty plait_contract_shards;

/* Where a child of the suite is, in memory that its parent sees. */
typedef struct
{
  guint n_models;
  guint n_refused;
  char model_text[256]; /* which model: "[decoder] type=gru, heads=2" */
} PlaitContractProgress;

/* What stands beside the plugin: settings are those of specimens. */
typedef struct
{
  PlaitPlugin *plugin;
  PlaitSettings *settings; /* NULL where there is no such plugin */
} PlaitCompanion;

struct PlaitContract
{
  PlaitPlugin *plugin;
  PlaitCompanion tokens;     /* an encoder of tokens */
  PlaitCompanion structured; /* one that gives the structure that the plugin requires, or that of tokens */
  PlaitCompanion combiner;
};

/* What a child of the suite does. */
typedef struct
{
  const PlaitContract *contract;
  const PlaitContractProperty *property;
  PlaitContractProgress *progress;

  /* Found on the way. */
  gboolean taken[PLAIT_DECODER_TYPE_LSTM + 1]; /* the defaults, by decoders of this type */
  GError *refusal;                             /* the last of a model, in words of the plugin */
} PlaitContractSweep;

/* Holds the plugin to the property of @sweep, a PlaitContractSweep, in every model, and notes where it is. */
gboolean plait_contract_sweep (gpointer sweep, GError **error);
