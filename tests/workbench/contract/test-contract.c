/* SPDX-License-Identifier: MIT */
#include "contract/contract.h"
#include "harness.h"
#include "models.h"

/* Tests the contract of every plugin that the registry finds. This file names no plugin. */

#define SECONDS 120

static void
take (const PlaitContractResult *result, gpointer data)
{
  CONTEXT ("%s", result->text ? result->text : "");

  CHECK (result->outcome == PLAIT_CONTRACT_PASSED || result->outcome == PLAIT_CONTRACT_NOT_APPLICABLE);
  /* plait's own plugins work in every decoder that their schemas name. Only models of the property memories may be
   * refused, because a decoder can refuse the width of a single memory. */
  if (!g_str_equal (result->property, "memories"))
    CHECK_INT (result->n_refused, 0);
  *(guint *)data += result->n_models;
}

static void
check_all (const char *property)
{
  PlaitRegistry *registry = test_registry ();
  const char *const only[] = { property, NULL };
  guint n_models = 0;

  for (guint i = 0; i < plait_registry_n_plugins (registry); i++)
    {
      PlaitPlugin *plugin = plait_registry_plugin (registry, i);
      CONTEXT ("%s %s", plait_plugin_kind_name (plugin->kind), plugin->name);
      g_autoptr (PlaitContract) contract = plait_contract_new (plugin, NO_ERROR);

      if (contract)
        plait_contract_check (contract, only, SECONDS, take, &n_models);
    }
  CHECK (n_models > 0);
}

#define PROPERTY(name)                                                                                                 \
  TEST_CASE (contract, name)                                                                                           \
  {                                                                                                                    \
    check_all (#name);                                                                                                 \
  }

PROPERTY (structure)
PROPERTY (runs)
#ifdef PLAIT_SCALAR_DOUBLE
PROPERTY (gradients) /* precise only if PlaitScalar is double */
#endif
PROPERTY (memories)
PROPERTY (missing)
PROPERTY (batches)
PROPERTY (lengths)
PROPERTY (search)
PROPERTY (causal)
PROPERTY (losses)
PROPERTY (repeats)
PROPERTY (shards)

TEST_CASE (contract, every_property_is_held)
{
  g_autofree const char **properties = plait_contract_properties ();

  CHECK_INT (g_strv_length ((char **)properties), 12);
}
