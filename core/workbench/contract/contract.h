/* SPDX-License-Identifier: MIT */
#pragma once

#include "loading/registry.h"

/*
 * The contract suite checks what every plugin of a kind must do. It builds small models that contain the plugin:
 * models with the default settings for each decoder that the schema allows, and further models in which one parameter
 * has another choice. Each property is checked in a separate process, so that a crash or an endless loop fails only
 * that property.
 */
typedef struct PlaitContract PlaitContract;

typedef enum
{
  PLAIT_CONTRACT_PASSED,
  PLAIT_CONTRACT_FAILED,
  PLAIT_CONTRACT_NOT_APPLICABLE, /* the property does not concern this plugin */
  PLAIT_CONTRACT_NOT_RUN,        /* not checked, because an earlier property, which all others need, has failed */
} PlaitContractOutcome;

/* Result of one property. */
typedef struct
{
  const char *property; /* name, such as "gradients" */
  const char *summary;  /* the property in one sentence */
  PlaitContractOutcome outcome;
  guint n_models;  /* number of models checked */
  guint n_refused; /* number of models that the plugin refused with its defaults */
  char *text;      /* FAILED: one sentence; NOT_APPLICABLE, NOT_RUN: the reason; PASSED: a note, or NULL */
} PlaitContractResult;

/* Creates the suite for @plugin and loads the plugin. Other plugins of its registry complete the small models; those of
 * the build tree or the installation are preferred. Fails if the plugin cannot be loaded, or if there is no plugin to
 * complete the models. @plugin must outlive the suite. (transfer full) */
PlaitContract *plait_contract_new (PlaitPlugin *plugin, GError **error);
void plait_contract_free (PlaitContract *contract);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitContract, plait_contract_free)

/* Returns the names of the properties in the order of checks, NULL-terminated. (transfer container) */
const char **plait_contract_properties (void);

/* Receives one result, valid during the call. */
typedef void (*PlaitContractCallback) (const PlaitContractResult *result, gpointer data);

/* Checks every property, or those of @only (NULL-terminated), each for at most @seconds, and calls @take with each
 * result as soon as the check ends. No other thread may run, because the function forks. Returns the number of failed
 * properties. */
guint plait_contract_check (PlaitContract *contract, const char *const *only, guint seconds, PlaitContractCallback take,
                            gpointer data);
