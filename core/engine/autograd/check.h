/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/tape.h"
#include "text/error.h"

/*
 * Compares gradients with central finite differences of fourth order. With double scalars, correct gradients agree with
 * them to 1e-6 or better. With float scalars, finite differences are rough, and only large errors show.
 */

/* A tensor whose gradient is checked. The check changes its values and restores them. */
typedef struct
{
  const char *name;
  PlaitTensor value;
  PlaitTensor gradient; /* gradient of a parameter, to which backward adds, in the shape of @value; the check
                           overwrites it. No data: the check allocates a gradient */
} PlaitCheckLeaf;

typedef struct
{
  /* Builds a graph on @tape and returns its [1, 1] root. leaves[i] is the node of leaf i; for a parameter, the node of
   * plait_parameter_node may be used instead. Must build the same graph each time. */
  PlaitNode *(*build) (PlaitTape *tape, PlaitNode *const *leaves, gpointer data);
  gpointer data;
  const PlaitCheckLeaf *leaves;
  guint n_leaves;
  PlaitTapeMode mode; /* PLAIT_TAPE_TRAIN (with dropout, drawn from @key) or PLAIT_TAPE_CHECK (without) */
  PlaitRandomKey key; /* random key of dropout and of the choice of elements */
  gint64 sample;      /* number of elements to check in each leaf, drawn with @key; 0: all */
  double tolerance;   /* largest relative error allowed; 0: 1e-6 for double scalars, 3e-2 for float */
  double small;       /* The error of an element is divided by the greatest of: its gradient, @small times the largest
                         gradient of the leaf, and a bound for rounding errors. 0: 0.001 */
} PlaitGradientCheck;

/*
 * Checks the gradients of all leaves against finite differences. Returns FALSE with PLAIT_ERROR_FAILED at the first
 * element that differs; the message names the leaf, the element and both gradients. Returns FALSE, too, with the error
 * of a step that fails.
 */
gboolean plait_check_gradients (const PlaitGradientCheck *check, PlaitPool *pool, GError **error);
