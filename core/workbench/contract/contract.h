/* SPDX-License-Identifier: MIT */
#pragma once

#include "loading/registry.h"

/*
 * The contract suite: what every plugin of a kind must do, held to one plugin. It stands in small models beside others,
 * with its defaults under every decoder that its schema allows, and with each of its other choices. Each property is
 * tried in a process of its own, so that a plugin which crashes, leaves or hangs costs that property alone.
 */
typedef struct PlaitContract PlaitContract;

typedef enum
{
  PLAIT_CONTRACT_PASSED,
  PLAIT_CONTRACT_FAILED,
  PLAIT_CONTRACT_NOT_APPLICABLE, /* there is nothing to hold */
  PLAIT_CONTRACT_NOT_RUN,        /* a property failed without which there is nothing to run */
} PlaitContractOutcome;

/* How one property came out. */
typedef struct
{
  const char *property; /* "gradients" */
  const char *summary;  /* what it says, one sentence */
  PlaitContractOutcome outcome;
  guint n_models;  /* that were held to it */
  guint n_refused; /* that the plugin refused in words though all was at its defaults */
  char *text;      /* FAILED: one sentence; NOT_APPLICABLE, NOT_RUN: why; PASSED: what to know, or NULL */
} PlaitContractResult;

/* The suite for @plugin, which is loaded here with what stands beside it: other plugins of its registry, those of the
 * build tree or the installation first. Fails where it is refused, or where there is nothing to stand beside it.
 * @plugin outlives it. (transfer full) */
PlaitContract *plait_contract_new (PlaitPlugin *plugin, GError **error);
void plait_contract_free (PlaitContract *contract);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitContract, plait_contract_free)

/* The properties, in the order in which they are held, NULL-terminated. (transfer container) */
const char **plait_contract_properties (void);

/* Takes one result, which lasts as long as the call. */
typedef void (*PlaitContractCallback) (const PlaitContractResult *result, gpointer data);

/* Holds the plugin to every property, or to those of @only (NULL-terminated), each for at most @seconds, and hands each
 * result to @take as soon as it is there. No other thread may run. Returns how many failed. */
guint plait_contract_check (PlaitContract *contract, const char *const *only, guint seconds, PlaitContractCallback take,
                            gpointer data);
