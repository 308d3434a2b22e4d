/* SPDX-License-Identifier: MIT */
#include "contract/contract.h"

#include <string.h>
#include <sys/mman.h>

#include "process/sandbox.h"
#include "contract/case.h"

/* Bytes of address space that a child process may map in addition to those that it inherits. Models are small, so this
 * limit ends a plugin that allocates without end. */
#define MEMORY ((gsize)4 << 30)

static const PlaitContractProperty *const properties[] = {
  &plait_contract_structure, &plait_contract_runs,    &plait_contract_gradients, &plait_contract_memories,
  &plait_contract_missing,   &plait_contract_batches, &plait_contract_lengths,   &plait_contract_search,
  &plait_contract_causal,    &plait_contract_losses,  &plait_contract_repeats,   &plait_contract_shards,
};

/*
 * Functions that choose the other plugins of the small models
 */

static gboolean
reads_tokens (const PlaitSchema *schema, PlaitStructure structure)
{
  return schema->kind == PLAIT_PLUGIN_ENCODER && schema->input == PLAIT_INPUT_TOKENS && !schema->requires_leaves
         && !schema->reads_trees && schema->provides_structure == PLAIT_STRUCTURE_NONE;
}

static gboolean
summarises (const PlaitSchema *schema, PlaitStructure structure)
{
  return reads_tokens (schema, structure) && schema->provides_summary;
}

static gboolean
carries (const PlaitSchema *schema, PlaitStructure structure)
{
  return schema->kind == PLAIT_PLUGIN_ENCODER && schema->input == PLAIT_INPUT_TOKENS
         && (schema->provides_structure & structure) == structure;
}

static gboolean
combines (const PlaitSchema *schema, PlaitStructure structure)
{
  return schema->kind == PLAIT_PLUGIN_COMBINER && schema->requires_structure == PLAIT_STRUCTURE_NONE
         && !schema->decoders && !schema->attentions;
}

/* Returns the last plugin for which @fits returns TRUE, preferring the plugins of plait itself. */
static PlaitPlugin *
choose (const PlaitRegistry *registry, gboolean (*fits) (const PlaitSchema *schema, PlaitStructure structure),
        PlaitStructure structure)
{
  PlaitPlugin *found = NULL;
  gboolean found_own = FALSE;

  for (guint i = 0; i < plait_registry_n_plugins (registry); i++)
    {
      PlaitPlugin *plugin = plait_registry_plugin (registry, i);
      const PlaitSchema *schema = plait_plugin_schema (plugin, NULL);
      gboolean own
          = g_str_equal (plugin->folder->origin, "build tree") || g_str_equal (plugin->folder->origin, "installed");

      if (!schema || !fits (schema, structure) || (found_own && !own))
        continue;
      found = plugin;
      found_own = own;
    }
  return found;
}

static gboolean
find_companion (PlaitCompanion *companion, const PlaitPlugin *plugin,
                gboolean (*fits) (const PlaitSchema *schema, PlaitStructure structure), PlaitStructure structure,
                const char *what, GError **error)
{
  companion->plugin = choose (plugin->registry, fits, structure);
  if (!companion->plugin)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "%s \"%s\" cannot be tested, since there is no %s to complete the model; put one into a folder "
                       "that the command plait plugins lists",
                       plait_plugin_kind_name (plugin->kind), plugin->name, what);
  if (!plait_plugin_load (companion->plugin, error))
    return FALSE;
  companion->settings = plait_fixture_settings (companion->plugin);
  return TRUE;
}

PlaitContract *
plait_contract_new (PlaitPlugin *plugin, GError **error)
{
  g_autoptr (PlaitContract) contract = g_new0 (PlaitContract, 1);
  PlaitStructure structure;
  g_autofree char *needed = NULL;
  g_autofree char *structured = NULL;

  contract->plugin = plugin;
  if (!plait_plugin_load (plugin, error))
    return NULL;
  structure = plugin->schema->requires_structure;
  needed = plait_structure_text (structure);
  structured = structure ? g_strdup_printf ("encoder of tokens whose memories have %s", needed)
                         : g_strdup ("encoder of tokens with a summary");
  if (!find_companion (&contract->tokens, plugin, reads_tokens, structure, "encoder of tokens", error)
      || !find_companion (&contract->structured, plugin,
                          structure                              ? carries
                          : plugin->kind == PLAIT_PLUGIN_DECODER ? summarises
                                                                 : reads_tokens,
                          structure, structured, error)
      || !find_companion (&contract->combiner, plugin, combines, structure, "combiner for every decoder", error))
    return NULL;
  return g_steal_pointer (&contract);
}

void
plait_contract_free (PlaitContract *contract)
{
  if (!contract)
    return;
  plait_settings_free (contract->tokens.settings);
  plait_settings_free (contract->structured.settings);
  plait_settings_free (contract->combiner.settings);
  g_free (contract);
}

/*
 * Functions that check the properties, each in a child process
 */

const char **
plait_contract_properties (void)
{
  const char **names = g_new0 (const char *, G_N_ELEMENTS (properties) + 1);

  for (guint i = 0; i < G_N_ELEMENTS (properties); i++)
    names[i] = properties[i]->name;
  return names;
}

/* Checks one property in a child process and returns the result. */
static PlaitContractResult
check (const PlaitContract *contract, const PlaitContractProperty *property, PlaitContractProgress *progress,
       guint seconds)
{
  const PlaitSandboxLimits limits = { seconds, 4 * (seconds + 1), MEMORY };
  PlaitContractSweep sweep = { .contract = contract, .property = property, .progress = progress };
  PlaitContractResult result = { .property = property->name, .summary = property->summary };
  g_autoptr (GError) error = NULL;

  memset (progress, 0, sizeof *progress);
  if (!plait_sandbox_run_with_subject ("the plugin", PLAIT_ERROR_FAILED, plait_contract_sweep, &sweep, limits, &error))
    {
      result.outcome = PLAIT_CONTRACT_FAILED;
      result.text = *progress->model_text == '\0'
                        ? g_strdup (error->message)
                        : g_strdup_printf ("with %s: %s", progress->model_text, error->message);
    }
  else if (progress->n_models == 0)
    {
      result.outcome = PLAIT_CONTRACT_NOT_APPLICABLE;
      result.text = g_strdup (property->not_applicable);
    }
  else
    result.text = g_strdup (property->remark);
  result.n_models = progress->n_models;
  result.n_refused = progress->n_refused;
  return result;
}

guint
plait_contract_check (PlaitContract *contract, const char *const *only, guint seconds, PlaitContractCallback take,
                      gpointer data)
{
  /* Shared with the child processes, which write to it. */
  PlaitContractProgress *progress
      = mmap (NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  const PlaitContractProperty *decided = NULL;
  guint n_failed = 0;

  if (progress == MAP_FAILED)
    g_error ("no memory for a page shared by processes");
  for (guint i = 0; i < G_N_ELEMENTS (properties); i++)
    {
      const PlaitContractProperty *property = properties[i];
      PlaitContractResult result
          = { .property = property->name, .summary = property->summary, .outcome = PLAIT_CONTRACT_NOT_RUN };

      if (only && !g_strv_contains (only, property->name))
        continue;
      if (decided)
        result.text = g_strdup_printf ("%s failed", decided->name);
      else
        result = check (contract, property, progress, seconds);
      if (result.outcome == PLAIT_CONTRACT_FAILED)
        n_failed++;
      if (result.outcome == PLAIT_CONTRACT_FAILED && property->decides)
        decided = property;
      take (&result, data);
      g_free (result.text);
    }
  munmap (progress, sizeof *progress);
  return n_failed;
}
