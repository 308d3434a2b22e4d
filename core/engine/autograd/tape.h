/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/arena.h"
#include "process/pool.h"
#include "process/random.h"
#include "types/tensor.h"

/*
 * The tape records operators as they run. Each operator makes a node, and backward visits the nodes in reverse order.
 * Shapes may vary from step to step and from sentence to sentence. A node belongs to its tape and lives until the next
 * plait_tape_begin. Tensors and arrays given to an operator are borrowed and must live as long as its node.
 */
typedef struct PlaitTape PlaitTape;
typedef struct PlaitNode PlaitNode;

typedef enum
{
  PLAIT_TAPE_TRAIN,    /* dropout on, gradients are computed */
  PLAIT_TAPE_EVALUATE, /* dropout off, nothing is recorded for backward; products read the panels of packed weights */
  PLAIT_TAPE_CHECK,    /* dropout off, gradients are computed */
} PlaitTapeMode;

/* The functions of an operator; static and constant. name and backward are required. */
typedef struct
{
  const char *name;
  /* Reads node->gradient, and adds to the gradient of each input that needs a gradient. Must read values through @node
   * and node->inputs: they may have moved since the forward pass. */
  void (*backward) (PlaitTape *tape, PlaitNode *node);
  /* Computes node->value again, bit for bit, into the allocated node->value. NULL: values are never discarded. */
  void (*recompute) (PlaitTape *tape, PlaitNode *node);
  gboolean ignores_value;  /* TRUE if backward reads only the shape of node->value */
  gboolean ignores_inputs; /* TRUE if backward reads only the shapes of the inputs' values, or restores these values
                              itself */
} PlaitOperator;

struct PlaitNode
{
  PlaitTensor value;    /* data is NULL while the value is discarded; plait_tape_value restores it */
  PlaitTensor gradient; /* data is NULL until a gradient arrives; a leaf has the storage given to plait_leaf */
  const PlaitOperator *operation;
  PlaitNode **inputs;
  guint n_inputs;
  gboolean needs_gradient;
  gpointer payload; /* data that the operator keeps from forward to backward, in the arena */
  /*< private >*/
  PlaitNode *previous;
  PlaitNode *whole;                 /* node that owns the storage of a view, else NULL */
  const struct PlaitPacked *packed; /* panels that the owner of a weight packed, or NULL */
  gsize payload_size;
  PlaitNode *next_discardable;
  guint n_consumers;
  gboolean pinned;                /* TRUE if the value has views, so its storage must stay */
  struct PlaitWeightReuse *reuse; /* a weight's panels and collected rows if it is used at many time steps, or NULL */
  struct PlaitSavedTensor *saved; /* list of the tensors of plait_tape_save */
  PlaitNode *older;               /* the node made before this one */
  const char *maker;              /* plugin that made the node, or NULL for the host */
  gint place; /* position among the recorded nodes, from 1; for a leaf: position of the first node that may read it,
                 or 0 */
  gint reserved[1];
};

/* Returns a tape that computes on @pool and allocates in @arena, both borrowed. (transfer full) */
PlaitTape *plait_tape_new (PlaitPool *pool, PlaitArena *arena);
void plait_tape_free (PlaitTape *tape);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitTape, plait_tape_free)

/* Begins a step: drops all nodes, resets the arena and sets the mode and the random key of dropout. */
void plait_tape_begin (PlaitTape *tape, PlaitTapeMode mode, PlaitRandomKey dropout);

/* These three functions return the mode of the step, its thread pool, and its arena (transfer none). */
PLAIT_API PlaitTapeMode plait_tape_mode (const PlaitTape *tape);
PLAIT_API PlaitPool *plait_tape_pool (const PlaitTape *tape);
PLAIT_API PlaitArena *plait_tape_arena (const PlaitTape *tape);

/* Returns a new random key for dropout, made of the tape's key and a counter: the same order of calls gives the same
 * masks. */
PLAIT_API PlaitRandomKey plait_tape_next_key (PlaitTape *tape);

/* Returns a leaf with the value @value (borrowed). If @gradient (same shape, borrowed) is given, backward adds to it;
 * if NULL, the leaf needs no gradient. */
PLAIT_API PlaitNode *plait_leaf (PlaitTape *tape, PlaitTensor value, const PlaitTensor *gradient);

/*
 * Returns the value of @node. The tape discards some values to save memory; this function computes them again.
 * Operators need not call it: plait_tape_node and backward restore the values of inputs.
 */
PLAIT_API PlaitTensor plait_tape_value (PlaitTape *tape, PlaitNode *node);

/* Runs backward from @root, a [1, 1] node, whose gradient is 1. Call it at most once in a step. It releases the storage
 * of nodes as it goes: afterwards only leaves and the value of @root may be read. */
void plait_tape_backward (PlaitTape *tape, PlaitNode *root);

/*
 * Ends the step on @tape with the error PLAIT_ERROR_PLUGIN. The message is "PLUGIN, FUNCTION: " and the formatted text.
 * Does not return: it jumps back to the host and skips the frames between, so g_autofree does not run there. Code that
 * works on a tape must therefore allocate in plait_tape_arena (). The host's functions call it for wrong arguments,
 * such as shapes. If no plugin is working on the tape, it aborts the process instead.
 */
PLAIT_API G_NORETURN void plait_tape_fail (PlaitTape *tape, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* Ends the step, naming the function and @condition, if @condition is FALSE. */
#define plait_tape_expect(tape, condition)                                                                             \
  (G_LIKELY (condition) ? (void)0 : plait_tape_expect_failed ((tape), G_STRFUNC, #condition))
PLAIT_API G_NORETURN void plait_tape_expect_failed (PlaitTape *tape, const char *function, const char *condition);

/*
 * For code that defines operators, in the host or in plugins.
 */

/* Returns a node of @operation with an uninitialised value [rows, width] and a payload of @payload_size zeroed bytes.
 * The node needs a gradient if the mode computes gradients and one of @inputs needs one. Inputs may be NULL. Restores
 * the values of the inputs, so read them afterwards. */
PLAIT_API PlaitNode *plait_tape_node (PlaitTape *tape, const PlaitOperator *operation, gint64 rows, gint64 width,
                                      PlaitNode *const *inputs, guint n_inputs, gsize payload_size);

/* Returns the tensor where backward writes one contribution to the gradient of @input, and sets *beta. *beta 0: the
 * tensor is uninitialised, overwrite it; 1: add to it. Write the whole tensor. Call it once for each contribution, and
 * only if input->needs_gradient. */
PLAIT_API PlaitTensor plait_gradient_target (PlaitTape *tape, PlaitNode *input, PlaitScalar *beta);
