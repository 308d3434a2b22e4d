/* SPDX-License-Identifier: MIT */
#include "autograd/tape-private.h"

#include <string.h>

/* Pieces of a step that backward computes again, so that the activations of only one piece are in memory at a time. */

typedef struct
{
  PlaitRecomputedCall call;
  gconstpointer data;
  PlaitCodeOwner caller;
  guint64 n_keys; /* number of dropout keys drawn before the piece */
} Recomputed;

/* Fields of the tape as they were before a recomputed piece. */
typedef struct
{
  PlaitNode *last;
  PlaitNode *discardable;
  PlaitNode *made;
} Marks;

static Marks
begin (PlaitTape *tape)
{
  Marks before = { tape->last, tape->discardable, tape->made };

  tape->discardable = NULL;
  tape->in_recomputed = TRUE;
  tape->keeps_piece = FALSE;
  return before;
}

static void
end (PlaitTape *tape, Marks before)
{
  tape->last = before.last;
  tape->discardable = before.discardable;
  tape->made = before.made;
  tape->in_recomputed = FALSE;
}

/* Ends a piece whose nodes stay on the tape. */
static void
end_kept (PlaitTape *tape, Marks before)
{
  PlaitNode **oldest = &tape->discardable;

  while (*oldest)
    oldest = &(*oldest)->next_discardable;
  *oldest = before.discardable;
  tape->in_recomputed = FALSE;
}

void
plait_tape_keep_piece (PlaitTape *tape)
{
  tape->keeps_piece = TRUE;
}

/* Releases the storage of the nodes made since @before. */
static void
release_since (PlaitTape *tape, Marks before)
{
  for (PlaitNode *node = tape->made; node != before.made; node = node->older)
    plait_tape_release_node (tape, node);
}

/* Lowers n_consumers of the inputs of all nodes made since @before, because backward will make these nodes again and so
 * raise n_consumers again. */
static void
forget_since (PlaitTape *tape, Marks before)
{
  for (PlaitNode *node = tape->made; node != before.made; node = node->older)
    for (guint i = 0; i < node->n_inputs; i++)
      if (node->inputs[i])
        node->inputs[i]->n_consumers--;
}

static void
recomputed_backward (PlaitTape *tape, PlaitNode *node)
{
  const Recomputed *recomputed = node->payload;
  guint64 n_keys = tape->n_keys;
  double multiplications = tape->multiplications;
  Marks before;
  PlaitNode *made;

  plait_tape_release (tape, node->value);
  node->value.data = NULL;
  before = begin (tape);
  tape->last = NULL;
  tape->went_back = FALSE;
  tape->n_keys = recomputed->n_keys;
  plait_tape_set_caller (tape, recomputed->caller);
  made = recomputed->call (tape, recomputed->data);
  made->gradient = node->gradient;
  node->gradient.data = NULL;
  tape->went_back = TRUE;
  tape->n_keys = n_keys;
  tape->multiplications = multiplications;
  plait_tape_run_backward (tape, NULL);
  release_since (tape, before);
  end (tape, before);
}

static const PlaitOperator recomputed_operator
    = { .name = "recompute", .backward = recomputed_backward, .ignores_value = TRUE, .ignores_inputs = TRUE };

static PlaitNode *
recomputed_node (PlaitTape *tape, const Recomputed *recomputed, PlaitTensor value)
{
  PlaitNode *node = plait_tape_new_node (tape, &recomputed_operator, NULL, 0);

  node->value = value;
  node->payload_size = sizeof *recomputed;
  node->payload = memcpy (plait_arena_allocate (tape->arena, node->payload_size), recomputed, node->payload_size);
  node->needs_gradient = TRUE;
  plait_tape_record (tape, node);
  return node;
}

PlaitNode *
plait_tape_recomputed (PlaitTape *tape, PlaitRecomputedCall call, gconstpointer data, gsize size)
{
  Recomputed recomputed = { .call = call, .caller = tape->caller, .n_keys = tape->n_keys };
  PlaitTensor value = { NULL, 0, 0, 0 };
  PlaitNode *made;
  Marks before;

  g_assert (!tape->in_recomputed);
  if (!tape->recomputes || tape->mode == PLAIT_TAPE_EVALUATE)
    return call (tape, data);
  recomputed.data = memcpy (plait_arena_allocate (tape->arena, size), data, size);
  before = begin (tape);
  made = call (tape, recomputed.data);
  if (tape->keeps_piece)
    {
      end_kept (tape, before);
      return made;
    }
  if (made->needs_gradient)
    {
      g_assert (made->operation && !made->whole);
      value = plait_tape_value (tape, made);
      made->value.data = NULL;
      forget_since (tape, before);
      release_since (tape, before);
    }
  end (tape, before);
  return made->needs_gradient ? recomputed_node (tape, &recomputed, value) : made;
}
