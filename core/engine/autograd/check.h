/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/tape.h"
#include "text/error.h"

/*
 * Gradients against central finite differences of fourth order. In the build with double scalars the two agree to 1e-6
 * and better; with float scalars the numeric side is rough, and only gross errors show.
 */

/* A tensor to differentiate by. Its values are moved during the check and put back. */
typedef struct
{
  const char *name;
  PlaitTensor value;
  PlaitTensor gradient; /* where backward adds, the shape of @value: a parameter's; set to zero first, and left with
                           nothing of use. data NULL: the check has storage of its own */
} PlaitCheckLeaf;

typedef struct
{
  /* Builds a [1, 1] root on a tape that has just begun. leaves[i] stands for leaf i; one that is a parameter's may be
   * ignored and reached by plait_parameter_node. It must build the same thing each time. */
  PlaitNode *(*build) (PlaitTape *tape, PlaitNode *const *leaves, gpointer data);
  gpointer data;
  const PlaitCheckLeaf *leaves;
  guint n_leaves;
  PlaitTapeMode mode; /* PLAIT_TAPE_TRAIN, with dropout from @key, or PLAIT_TAPE_CHECK */
  PlaitRandomKey key; /* of dropout, and of the sample */
  gint64 sample;      /* elements to look at in each leaf, drawn with @key; 0: all */
  double tolerance;   /* greatest relative error; 0: 1e-6 for double scalars, 3e-2 for float */
  double small;       /* the share of the greatest gradient of its leaf below which the error of an element is relative
                         to that share; 0: a thousandth */
} PlaitGradientCheck;

/*
 * Compares. The error of an element is relative to its magnitude or, where that is small, to a share of the greatest
 * gradient of its leaf. PLAIT_ERROR_FAILED names leaf, element, numeric and analytic gradient of the first
 * that is off.
 */
gboolean plait_check_gradients (const PlaitGradientCheck *check, PlaitPool *pool, GError **error);
