/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/arena.h"
#include "process/pool.h"
#include "process/random.h"
#include "types/tensor.h"

/*
 * The tape: operators run at once and leave a node; backward walks the nodes in reverse. Shapes may vary from step to
 * step and from sentence to sentence. Everything a tape holds lives in its arena until the next plait_tape_begin.
 *
 * Ownership: a node belongs to its tape. Tensors and arrays given to an operator are borrowed and must stay until then.
 */
typedef struct PlaitTape PlaitTape;
typedef struct PlaitNode PlaitNode;

typedef enum
{
  PLAIT_TAPE_TRAIN,    /* dropout acts, gradients can flow */
  PLAIT_TAPE_EVALUATE, /* no dropout, nothing is recorded for backward; packed weights are used for few rows */
  PLAIT_TAPE_CHECK,    /* no dropout, gradients can flow */
} PlaitTapeMode;

/* An operator's behaviour. Static and constant. Only the first two need be given. */
typedef struct
{
  const char *name;
  /* Adds to the gradients of the inputs that need one, from node->gradient. It reads values through the node and its
   * inputs: they may have moved since forward. */
  void (*backward) (PlaitTape *tape, PlaitNode *node);
  /* Computes node->value again, the same bits, into storage that is there. */
  void (*recompute) (PlaitTape *tape, PlaitNode *node);
  gboolean ignores_value;  /* backward reads the shape of node->value and none of its numbers */
  gboolean ignores_inputs; /* the same of the inputs' values */
} PlaitOperator;

struct PlaitNode
{
  PlaitTensor value;    /* data is NULL while the value is given up: see plait_tape_value */
  PlaitTensor gradient; /* data is NULL until a gradient has arrived */
  const PlaitOperator *operation;
  PlaitNode **inputs;
  guint n_inputs;
  gboolean needs_gradient;
  gpointer payload; /* what the operator keeps between forward and backward, in the arena */
  /*< private >*/
  PlaitNode *previous;
  PlaitNode *whole;                 /* of a view: the node that owns the storage */
  const struct PlaitPacked *packed; /* of a weight: panels for products of few rows, or NULL */
  gsize payload_size;
  PlaitNode *next_discardable;
  guint n_consumers;
  gboolean pinned;                /* views of the value are about */
  struct PlaitWeightReuse *reuse; /* of a weight: what the step keeps of it because it is used often, or NULL */
  struct PlaitSavedTensor *saved; /* plait_tape_save */
  PlaitNode *older;               /* the node made before it */
  const char *maker;              /* the plugin that ran when it was made, or NULL */
  gint place;                     /* among recorded nodes, from 1; of a leaf: of the first that may read it, or 0 */
  gint reserved[1];
};

/* A tape that computes on @pool and lives in @arena (both borrowed). (transfer full) */
PlaitTape *plait_tape_new (PlaitPool *pool, PlaitArena *arena);
void plait_tape_free (PlaitTape *tape);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitTape, plait_tape_free)

/* Starts a step: forgets all nodes, resets the arena, sets the mode and the key that dropout draws from. */
void plait_tape_begin (PlaitTape *tape, PlaitTapeMode mode, PlaitRandomKey dropout);

PLAIT_API PlaitTapeMode plait_tape_mode (const PlaitTape *tape);
PLAIT_API PlaitPool *plait_tape_pool (const PlaitTape *tape);
PLAIT_API PlaitArena *plait_tape_arena (const PlaitTape *tape);

/* A fresh dropout key: the tape's key and a running number, so the same program order gives the same masks. */
PLAIT_API PlaitRandomKey plait_tape_next_key (PlaitTape *tape);

/* A leaf. @value is borrowed. With @gradient (same shape, borrowed) backward adds into it; without, nothing flows. */
PLAIT_API PlaitNode *plait_leaf (PlaitTape *tape, PlaitTensor value, const PlaitTensor *gradient);

/*
 * The value of @node. To save memory the tape gives up values that can be computed again and that nobody is known to
 * want any more; operators get them back by themselves (from plait_tape_node on, and in backward), others ask here.
 */
PLAIT_API PlaitTensor plait_tape_value (PlaitTape *tape, PlaitNode *node);

/* Runs backward from @root, a [1, 1] node, with cotangent 1. Once a step. A node's storage is reused once its backward
 * is done, so only leaves and the value of @root may be read afterwards. */
void plait_tape_backward (PlaitTape *tape, PlaitNode *root);

/*
 * Ends the step that @tape records, with PLAIT_ERROR_PLUGIN: one sentence that begins with the plugin and the function
 * of it that runs. The calls from here up to the host's are left at once and their frames skipped, so that nothing in
 * them is freed (g_autofree is not run): code that works on a tape holds its memory in the tape's arena. The host's
 * functions do the same with what does not fit, shapes above all.
 */
PLAIT_API G_NORETURN void plait_tape_fail (PlaitTape *tape, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* Leaves the step with the name of the function and @condition where that does not hold. */
#define plait_tape_expect(tape, condition)                                                                             \
  (G_LIKELY (condition) ? (void)0 : plait_tape_expect_failed ((tape), G_STRFUNC, #condition))
PLAIT_API G_NORETURN void plait_tape_expect_failed (PlaitTape *tape, const char *function, const char *condition);

/*
 * For operators, those of plugins included.
 */

/* A node with an uninitialised value of [rows, width] and a payload of @payload_size zeroed bytes. It needs a gradient
 * if the mode lets gradients flow and one of @inputs does. NULL inputs are skipped. The values of the inputs are there
 * when it returns: read them after it. */
PLAIT_API PlaitNode *plait_tape_node (PlaitTape *tape, const PlaitOperator *operation, gint64 rows, gint64 width,
                                      PlaitNode *const *inputs, guint n_inputs, gsize payload_size);

/* Where backward writes its contribution to @input's gradient: the tensor, and *beta, 0 if the tensor is uninitialised
 * and is to be overwritten, 1 if it is to be added to. Call it once for each contribution, and only where
 * input->needs_gradient; then write the whole tensor. */
PLAIT_API PlaitTensor plait_gradient_target (PlaitTape *tape, PlaitNode *input, PlaitScalar *beta);
