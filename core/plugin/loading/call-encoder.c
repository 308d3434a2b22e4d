/* SPDX-License-Identifier: MIT */
#include "loading/call-private.h"

/* Functions that call encoders. */

/*
 * Functions that call encoders while the model is built
 */

static gboolean
check_shape (const PlaitComponent *component, const PlaitEncoderShape *shape, GError **error)
{
  PlaitStructure promised = component->schema->provides_structure;

  if (shape->n_memories < 1 || shape->n_memories > PLAIT_ENCODER_MAX_MEMORIES)
    return plait_fail (error, PLAIT_ERROR_PLUGIN, "%s: build declares %u memories; declare 1 to %d", component->label,
                       shape->n_memories, PLAIT_ENCODER_MAX_MEMORIES);
  if (!plait_call_check_width (component, "a summary", shape->summary_width, 0, error))
    return FALSE;
  if (component->schema->provides_summary && shape->summary_width == 0)
    return plait_fail (error, PLAIT_ERROR_PLUGIN,
                       "%s: %s promises a summary, but build declares no summary; declare it or change the schema",
                       component->label, component->schema->path);
  for (guint i = 0; i < shape->n_memories; i++)
    {
      const char *name = shape->memories[i].name;
      PlaitStructure declared = shape->memories[i].structure, lacking = promised & ~declared;
      g_autofree char *what = g_strdup_printf ("memory %u as", i);

      if (!plait_call_check_width (component, what, shape->memories[i].width, 1, error))
        return FALSE;
      if (declared & ~PLAIT_STRUCTURE_ALL)
        return plait_fail (error, PLAIT_ERROR_PLUGIN,
                           "%s: build declares memory %u with the structure 0x%x, which does not exist; use "
                           "PLAIT_STRUCTURE_...",
                           component->label, i, (guint)declared);
      if (name && !plait_name_is_valid (name))
        return plait_fail (error, PLAIT_ERROR_PLUGIN,
                           "%s: build calls a memory \"%s\", which is not a valid name: give " PLAIT_NAME_FORM,
                           component->label, name);
      for (guint k = 0; k < i; k++)
        if (g_strcmp0 (name, shape->memories[k].name) == 0)
          return plait_fail (error, PLAIT_ERROR_PLUGIN,
                             "%s: build declares two memories %s%s; give them different names", component->label,
                             name ? "called " : "without a name", name ? name : "");
      if (lacking)
        {
          g_autofree char *text = plait_structure_text (lacking);

          return plait_fail (error, PLAIT_ERROR_PLUGIN,
                             "%s: %s promises memories with %s, which build does not declare for memory %u; declare "
                             "this structure or change the schema",
                             component->label, component->schema->path, text, i);
        }
    }
  return TRUE;
}

/* Builds the inner encoder, and sets own->leaves to the shape of the inner encoder. */
static gboolean
build_leaves (PlaitInstance *instance, PlaitEncoderBuild *own, PlaitLossColumns *columns, GError **error)
{
  g_autofree char *prefix = g_strdup_printf ("%sleaves/", own->prefix);
  PlaitEncoderBuild below = *own;

  below.prefix = prefix;
  instance->leaves = plait_parameters_memory (own->parameters, sizeof (PlaitInstance));
  own->leaves = &instance->leaves->shape;
  return plait_call_build_encoder (instance->leaves, instance->component->leaves, &below, columns, error);
}

gboolean
plait_call_build_encoder (PlaitInstance *instance, const PlaitComponent *component, const PlaitEncoderBuild *build,
                          PlaitLossColumns *columns, GError **error)
{
  const PlaitEncoderTable *table = plait_call_table (component);
  PlaitEncoderShape *shape = &instance->shape;
  PlaitEncoderBuild own = *build;
  GError *fault = NULL;
  PlaitCallBuilding before
      = plait_call_begin_build (instance, component, table->state_size, build->parameters, build->prefix);
  gboolean built;

  if (component->leaves && !build_leaves (instance, &own, columns, error))
    return plait_call_leave_build (before, build->parameters, FALSE);
  built = table->build (&own, component->settings, instance->state, shape, &fault);
  return plait_call_leave_build (
      before, build->parameters,
      plait_call_end_build (instance, built, fault, build->parameters, error) && check_shape (component, shape, error)
          && plait_call_take_losses (instance, &shape->losses, build->parameters, columns, error));
}

/*
 * Functions that call encoders while the model runs
 */

/* Calls check_input of the encoder and of its inner encoder; if @input is NULL, calls check_length instead. The error
 * begins with the group of the encoder that cannot read the input. */
static gboolean
check (const PlaitInstance *instance, const PlaitInput *input, gint64 rows, GError **error)
{
  const PlaitComponent *component = instance->component;
  const PlaitEncoderTable *table = plait_call_table (component);
  const char *call = input ? "check_input" : "check_length";
  g_autofree char *group = g_strdup_printf ("[%s]", component->group);
  PlaitCodeOwner before;
  GError *fault = NULL;
  gboolean fits;

  if (instance->leaves && !check (instance->leaves, input, rows, error))
    return FALSE;
  if (input ? !table->check_input : !table->check_length)
    return TRUE;
  before = plait_crash_set_owner ((PlaitCodeOwner){ component->label, call });
  fits = input ? table->check_input (component->settings, instance->state, input, &fault)
               : table->check_length (component->settings, instance->state, rows, &fault);
  return plait_call_end (instance, before, call, fits, fault, group, error);
}

gboolean
plait_call_check_length (const PlaitInstance *instance, gint64 rows, GError **error)
{
  return check (instance, NULL, rows, error);
}

gboolean
plait_call_check_input (const PlaitInstance *instance, const PlaitInput *input, GError **error)
{
  return check (instance, input, 0, error);
}

gboolean
plait_call_has_input_check (const PlaitInstance *instance)
{
  const PlaitEncoderTable *table = plait_call_table (instance->component);

  return table->check_input || (instance->leaves && plait_call_has_input_check (instance->leaves));
}

/* Fails the step unless each link is -1 or a row of the same sentence. @needed: TRUE if @links must not be NULL. */
static void
expect_links (PlaitTape *tape, const char *what, const gint64 *links, PlaitRagged rows, gboolean needed)
{
  if (!links && needed)
    plait_tape_fail (
        tape, "gave a memory without the links \"%s\" that its structure needs: fill this array of PlaitLinks", what);
  for (gint64 s = 0; links && s < rows.n; s++)
    for (gint64 row = rows.offsets[s]; row < rows.offsets[s + 1]; row++)
      if (links[row] != -1 && (links[row] < rows.offsets[s] || links[row] >= rows.offsets[s + 1]))
        plait_tape_fail (tape,
                         "gave row %jd of a memory the link \"%s\" to row %jd, which is not in the same sentence: give "
                         "a row of that sentence, or -1",
                         row, what, links[row]);
}

/* Fails the step unless @row has a level of at least 0 and each child of @row a lower level, so that every descent
 * ends. */
static void
expect_levels (PlaitTape *tape, const PlaitLinks *links, gint64 row)
{
  gint64 level = links->level[row], first = links->first_child[row];

  if (level < 0)
    plait_tape_fail (tape, "gave row %jd of a memory the level %jd: give levels of at least 0, the level of leaves",
                     row, level);
  for (gint64 child = first; child < first + links->n_children[row]; child++)
    if (links->level[child] >= level)
      plait_tape_fail (
          tape, "gave row %jd of a memory level %jd, and its child row %jd level %jd: a child must have a lower level",
          row, level, child, links->level[child]);
}

static void
expect_children (PlaitTape *tape, const PlaitLinks *links, PlaitRagged rows, gboolean needed)
{
  if (needed && (!links->n_children || !links->level))
    plait_tape_fail (tape, "gave a memory of levels without the links \"%s\": fill this array of PlaitLinks",
                     links->level ? "n_children" : "level");
  for (gint64 s = 0; links->n_children && links->first_child && s < rows.n; s++)
    for (gint64 row = rows.offsets[s]; row < rows.offsets[s + 1]; row++)
      {
        gint64 first = links->first_child[row], n = links->n_children[row];

        if (n < 0 || (n > 0 && (first < 0 || n > rows.offsets[s + 1] - first)))
          plait_tape_fail (
              tape,
              "gave row %jd of a memory n_children %jd and first_child %jd: all children must be in the row's sentence",
              row, n, first);
        if (links->level)
          expect_levels (tape, links, row);
      }
}

/* Fails the step if parents form a cycle. */
static void
expect_no_cycle (PlaitTape *tape, const gint64 *parent, gint64 n)
{
  gint64 *seen = plait_arena_new_array0 (plait_tape_arena (tape), gint64, n + 1);

  for (gint64 row = 0; row < n; row++)
    {
      gint64 at = row;

      for (; at >= 0 && !seen[at]; at = parent[at])
        seen[at] = row + 1;
      if (at >= 0 && seen[at] == row + 1)
        plait_tape_fail (
            tape, "gave a memory \"parent\" links with a cycle at row %jd: a row cannot be its own ancestor", at);
    }
  plait_arena_release (plait_tape_arena (tape), seen, (gsize)(n + 1) * sizeof *seen);
}

static void
expect_structure (PlaitTape *tape, const PlaitMemory *memory, PlaitStructure structure)
{
  static const PlaitLinks none;
  const PlaitLinks *links = memory->links ? memory->links : &none;
  gboolean tree = structure & PLAIT_STRUCTURE_TREE, levels = structure & PLAIT_STRUCTURE_LEVELS;

  expect_links (tape, "left", links->left, memory->rows, tree);
  expect_links (tape, "right", links->right, memory->rows, tree);
  expect_links (tape, "parent", links->parent, memory->rows, tree || levels);
  if (links->parent)
    expect_no_cycle (tape, links->parent, plait_ragged_rows (memory->rows));
  expect_links (tape, "first_child", links->first_child, memory->rows, levels);
  expect_links (tape, "previous", links->previous, memory->rows, FALSE);
  expect_links (tape, "next", links->next, memory->rows, FALSE);
  expect_children (tape, links, memory->rows, levels);
  if ((structure & PLAIT_STRUCTURE_SENTENCES) && !links->sentence)
    plait_tape_fail (
        tape, "gave a memory without the links \"sentence\" that its structure needs: fill this array of PlaitLinks");
}

static void
expect_memory (PlaitTape *tape, const PlaitMemory *memory, gint64 sentences, gint64 width, PlaitStructure structure)
{
  gint64 rows;

  if (!memory->states || !memory->rows.offsets || memory->rows.n != sentences || memory->rows.offsets[0] != 0)
    plait_tape_fail (tape, "left a memory unfilled: give it states, and rows for each of %jd sentences", sentences);
  for (gint64 s = 0; s < sentences; s++)
    if (plait_ragged_length (memory->rows, s) < 0)
      plait_tape_fail (tape, "gave sentence %jd of a memory a negative number of rows: give offsets in ascending order",
                       s);
  rows = plait_ragged_rows (memory->rows);
  plait_call_expect_node (tape, "states of a memory", memory->states, rows, width);
  if (memory->cells)
    plait_call_expect_node (tape, "cells of a memory", memory->cells, rows, width);
  expect_structure (tape, memory, structure);
}

/* Fails the step unless each of @numbers [rows] is at least -1 and below the length of its sentence in @limits. */
static void
expect_numbers (PlaitTape *tape, const char *what, const gint64 *numbers, PlaitRagged rows, PlaitRagged limits)
{
  for (gint64 s = 0; numbers && s < rows.n; s++)
    for (gint64 row = rows.offsets[s]; row < rows.offsets[s + 1]; row++)
      if (numbers[row] < -1 || numbers[row] >= plait_ragged_length (limits, s))
        plait_tape_fail (tape,
                         "gave row %jd of a memory the link \"%s\" to number %jd, but there are %jd numbers, from 0 "
                         "on: give one of these numbers, or -1",
                         row, what, numbers[row], plait_ragged_length (limits, s));
}

/* Checks the token and sentence links of @memory. If the encoder gave neither, adds token links: rows are tokens if
 * every sentence has one row for each token; otherwise all token links are -1. Does nothing for features. */
static void
link_tokens (PlaitTape *tape, const PlaitInput *input, PlaitMemory *memory)
{
  static const PlaitLinks none;
  PlaitArena *arena = plait_tape_arena (tape);
  const PlaitLinks *links = memory->links ? memory->links : &none;
  PlaitRagged rows = memory->rows;
  PlaitLinks *complete;
  gboolean alike = TRUE;
  gint64 *token;

  if (!plait_input_kind_is_text (input->kind))
    return;
  expect_numbers (tape, "token", links->token, rows, input->rows);
  if (input->documents)
    expect_numbers (tape, "sentence", links->sentence, rows, input->documents->sentences);
  if (links->token || links->sentence)
    return;
  for (gint64 s = 0; s < rows.n; s++)
    alike &= plait_ragged_length (rows, s) == plait_ragged_length (input->rows, s);
  token = plait_arena_new_array (arena, gint64, plait_ragged_rows (rows) + 1);
  for (gint64 s = 0; s < rows.n; s++)
    for (gint64 row = rows.offsets[s]; row < rows.offsets[s + 1]; row++)
      token[row] = alike ? row - rows.offsets[s] : -1;
  complete = plait_arena_new_array (arena, PlaitLinks, 1);
  *complete = *links;
  complete->token = token;
  memory->links = complete;
}

struct PlaitEncodingHost
{
  const PlaitInstance *instance;
  PlaitLossPass *losses;
};

void
plait_encoding_add_loss (PlaitEncoding *encoding, const char *name, PlaitNode *loss)
{
  const PlaitInstance *instance = encoding->host->instance;

  plait_loss_pass_add (encoding->host->losses, encoding->tape, &instance->losses, instance->columns, name, loss);
}

void
plait_call_encode (const PlaitInstance *instance, PlaitEncoding *encoding, PlaitLossPass *losses)
{
  PlaitTape *tape = encoding->tape;
  PlaitArena *arena = plait_tape_arena (tape);
  struct PlaitEncodingHost *host = plait_arena_new_array (arena, struct PlaitEncodingHost, 1);
  const PlaitEncoderTable *table = plait_call_table (instance->component);
  PlaitCodeOwner before;

  *host = (struct PlaitEncodingHost){ instance, losses };
  encoding->host = host;
  if (instance->leaves && !encoding->leaves)
    {
      PlaitEncoding *leaves = plait_arena_new_array (arena, PlaitEncoding, 1);

      *leaves = *encoding;
      plait_call_encode (instance->leaves, leaves, losses);
      encoding->leaves = leaves;
    }
  before = plait_call_enter (instance, tape, "encode");
  table->encode (instance->component->settings, instance->state, encoding);
  for (guint i = 0; i < instance->shape.n_memories; i++)
    {
      expect_memory (tape, &encoding->memories[i], encoding->input->rows.n, instance->shape.memories[i].width,
                     instance->shape.memories[i].structure);
      link_tokens (tape, encoding->input, &encoding->memories[i]);
    }
  if (instance->shape.summary_width > 0)
    plait_call_expect_node (tape, "a summary", encoding->summary, encoding->input->rows.n,
                            instance->shape.summary_width);
  plait_tape_set_caller (tape, before);
}
