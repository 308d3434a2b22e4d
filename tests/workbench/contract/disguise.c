/* SPDX-License-Identifier: MIT */
#include "disguise.h"

#include "tensor/elementwise.h"

typedef struct
{
  GString *failed; /* names of the failed properties, such as "runs search" */
  char *text;      /* message of the first failure */
  guint n_passed;
} Outcome;

static void
take (const PlaitContractResult *result, gpointer data)
{
  Outcome *outcome = data;

  outcome->n_passed += result->outcome == PLAIT_CONTRACT_PASSED;
  if (result->outcome != PLAIT_CONTRACT_FAILED)
    return;
  g_string_append_printf (outcome->failed, "%s%s", outcome->failed->len > 0 ? " " : "", result->property);
  if (!outcome->text)
    outcome->text = g_strdup (result->text);
}

void
disguise_check (const Disguise *disguise, PlaitStructure promised, guint seconds, const char *failed, const char *words)
{
  PlaitRegistry *registry = test_registry ();
  PlaitPlugin plugin = *test_plugin (registry, disguise->kind, disguise->name);
  PlaitPluginDescriptor descriptor = *plugin.descriptor;
  PlaitSchema schema = *plugin.schema;
  g_autoptr (GString) names = g_string_new (NULL);
  g_autoptr (PlaitContract) contract = NULL;
  Outcome outcome = { names, NULL, 0 };

  descriptor.table = disguise->table;
  descriptor.n_bindings = 0;
  schema.n_parameters = 0;
  schema.provides_structure = promised;
  schema.provides_summary = FALSE;
  schema.decoders = disguise->decoders;
  schema.requires_structure = disguise->required;
  plugin.descriptor = &descriptor;
  plugin.schema = &schema;
  contract = plait_contract_new (&plugin, NO_ERROR);
  REQUIRE (contract != NULL);
  plait_contract_check (contract, NULL, seconds, take, &outcome);
  CHECK_STRING (names->str, failed);
  CHECK_CONTAINS (outcome.text ? outcome.text : "", words);
  if (*failed == '\0')
    CHECK (outcome.n_passed >= 9);
  g_free (outcome.text);
}

static void
go_back_halfway (PlaitTape *tape, PlaitNode *node)
{
  PlaitScalar beta = 0;
  PlaitTensor target = plait_gradient_target (tape, node->inputs[0], &beta);

  plait_tensor_accumulate (plait_tape_pool (tape), target, beta, (PlaitScalar)0.5, node->gradient);
}

PlaitNode *
disguise_halve_gradient (PlaitTape *tape, PlaitNode *x)
{
  static const PlaitOperator operation = { .name = "halfway", .backward = go_back_halfway };
  PlaitNode *node = plait_tape_node (tape, &operation, x->value.rows, x->value.width, &x, 1, 0);

  plait_tensor_accumulate (plait_tape_pool (tape), node->value, 0, 1, x->value);
  return node;
}

PlaitNode *
disguise_scale (PlaitTape *tape, PlaitNode *x, PlaitRagged rows, double (*factor) (gpointer data, gint64 sentence),
                gpointer data)
{
  gint64 width = x->value.width;
  PlaitScalar *factors = plait_arena_new_array (plait_tape_arena (tape), PlaitScalar, x->value.rows * width + 1);

  for (gint64 s = 0; s < rows.n; s++)
    for (gint64 i = rows.offsets[s] * width; i < rows.offsets[s + 1] * width; i++)
      factors[i] = (PlaitScalar)factor (data, s);
  return plait_multiply (tape, x, plait_leaf (tape, plait_tensor (factors, x->value.rows, width), NULL));
}
