/* SPDX-License-Identifier: MIT */
#include "contract/case.h"
#include "contract/pass.h"

/* Checks that the memories of an encoder have the structure that the schema and the function build declare, and that
 * the links of a memory do not contradict each other. The host checks at every call that links stay in their sentence
 * and that shapes fit. */

typedef struct
{
  const PlaitContractCase *tested;
  const PlaitBatch *batch;
  PlaitTape *tape;
  GError *error;
} Reading;

/* Fails because @link of row @row in memory @name leads to row @to, which has the fault @what. */
static gboolean
disagree (const char *name, gint64 row, const char *link, gint64 to, const char *what, GError **error)
{
  return plait_fail (error, PLAIT_ERROR_FAILED, "memory %s, row %jd: its link \"%s\" leads to row %jd, %s", name, row,
                     link, to, what);
}

static gboolean
check_tree (const char *name, const PlaitLinks *links, gint64 n, GError **error)
{
  for (gint64 row = 0; row < n; row++)
    {
      gint64 left = links->left[row], right = links->right[row], parent = links->parent[row];

      if ((left < 0) != (right < 0))
        return plait_fail (error, PLAIT_ERROR_FAILED,
                           "memory %s, row %jd: its links \"left\" and \"right\" are %jd and %jd: set both to "
                           "children, or both to -1 in a leaf",
                           name, row, left, right);
      if (left >= 0 && links->parent[left] != row)
        return disagree (name, row, "left", left, "whose \"parent\" is another row: set it to this row", error);
      if (right >= 0 && links->parent[right] != row)
        return disagree (name, row, "right", right, "whose \"parent\" is another row: set it to this row", error);
      if (parent >= 0 && links->left[parent] != row && links->right[parent] != row)
        return disagree (name, row, "parent", parent, "whose children are other rows: set one to this row", error);
    }
  return TRUE;
}

/* Checks that the rows of the top level come last in each sentence. A descent begins with the last rows. */
static gboolean
check_top (const char *name, const PlaitLinks *links, PlaitRagged rows, GError **error)
{
  for (gint64 s = 0; s < rows.n; s++)
    {
      gint64 begin = rows.offsets[s], row = rows.offsets[s + 1], top = row > begin ? links->level[row - 1] : 0;

      while (row > begin && links->level[row - 1] == top)
        row--;
      while (row-- > begin)
        if (links->level[row] >= top)
          return plait_fail (error, PLAIT_ERROR_FAILED,
                             "memory %s, row %jd has level %jd, but the last row of its sentence has level %jd: put "
                             "the rows of the top level last",
                             name, row, links->level[row], top);
    }
  return TRUE;
}

static gboolean
check_levels (const char *name, const PlaitLinks *links, gint64 n, GError **error)
{
  for (gint64 row = 0; row < n; row++)
    {
      gint64 first = links->first_child[row], parent = links->parent[row];

      for (gint64 child = first; child < first + links->n_children[row]; child++)
        if (links->level[child] != links->level[row] - 1)
          return disagree (name, row, "first_child", child,
                           "which is not one level below: give children the level of their parent minus 1", error);
      if (links->n_children[row] == 0 && links->level[row] != 0)
        return plait_fail (error, PLAIT_ERROR_FAILED,
                           "memory %s, row %jd has no children, but level %jd: leaves have level 0", name, row,
                           links->level[row]);
      if (parent >= 0
          && (row < links->first_child[parent] || row >= links->first_child[parent] + links->n_children[parent]))
        return disagree (name, row, "parent", parent, "whose children are other rows: set one to this row", error);
    }
  return TRUE;
}

static gboolean
check_neighbours (const char *name, const PlaitLinks *links, gint64 n, GError **error)
{
  for (gint64 row = 0; row < n && links->previous && links->next; row++)
    {
      if (links->next[row] >= 0 && links->previous[links->next[row]] != row)
        return disagree (name, row, "next", links->next[row], "whose \"previous\" is another row", error);
      if (links->previous[row] >= 0 && links->next[links->previous[row]] != row)
        return disagree (name, row, "previous", links->previous[row], "whose \"next\" is another row", error);
    }
  return TRUE;
}

static gboolean
check_memory_structure (const PlaitMemorySpecification *specification, const PlaitMemory *memory, GError **error)
{
  gint64 n = plait_ragged_rows (memory->rows);

  if (!memory->links)
    return TRUE;
  if ((specification->structure & PLAIT_STRUCTURE_TREE) && !check_tree (specification->name, memory->links, n, error))
    return FALSE;
  if ((specification->structure & PLAIT_STRUCTURE_LEVELS)
      && (!check_levels (specification->name, memory->links, n, error)
          || !check_top (specification->name, memory->links, memory->rows, error)))
    return FALSE;
  return check_neighbours (specification->name, memory->links, n, error);
}

static void
read_batch (gpointer data)
{
  Reading *reading = data;
  const PlaitModel *model = reading->tested->fixture->model;
  guint n = 0;
  const PlaitMemorySpecification *specifications = plait_model_memories (model, &n);
  PlaitEncoderOutputs read;

  plait_tape_begin (reading->tape, PLAIT_TAPE_CHECK, plait_random_key (1, "dropout", NULL, 1));
  read = plait_model_encode (model, reading->tape, reading->batch, plait_loss_pass_new (reading->tape));
  for (guint i = 0; i < n && !reading->error; i++)
    check_memory_structure (&specifications[i], &read.memories[i], &reading->error);
}

static gboolean
check (PlaitContractCase *tested, GError **error)
{
  g_autoptr (PlaitBatch) batch = plait_pass_batch (tested->fixture, &plait_pass_whole);
  g_autoptr (PlaitPool) pool = plait_pool_new (1, NULL);
  g_autoptr (PlaitArena) arena = plait_arena_new (0);
  g_autoptr (PlaitTape) tape = plait_tape_new (pool, arena);
  Reading reading = { tested, batch, tape, NULL };

  if (!plait_arena_protect (arena, read_batch, &reading, error))
    return FALSE;
  return plait_no_error (&reading.error, error);
}

const PlaitContractProperty plait_contract_structure = {
  .name = "structure",
  .summary = "Memories have the structure that the schema declares, and their links agree",
  .not_applicable = "only encoders give memories",
  .kinds = 1u << PLAIT_PLUGIN_ENCODER,
  .decides = TRUE,
  .check = check,
};
