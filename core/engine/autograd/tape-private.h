/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/internal.h"

struct PlaitTape
{
  PlaitPool *pool;
  PlaitArena *arena;
  PlaitTapeMode mode;
  PlaitCodeOwner caller;
  PlaitRandomKey dropout;
  guint64 n_keys;
  double multiplications;
  PlaitNode *last;        /* newest recorded node; backward begins here */
  gint n_recorded;        /* number of recorded nodes */
  PlaitNode *discardable; /* newest node that is marked as discardable */
  PlaitNode *made;        /* newest node, recorded or not */
  PlaitWeightReuse *reuse;
  PlaitTapeReport report; /* function to which backward reports its progress, or NULL */
  gpointer report_data;
  gboolean went_back;
  gboolean keeps_gradients;
  gboolean recomputes;
  gboolean in_recomputed;
  gboolean keeps_piece; /* TRUE: the piece that is being computed stays on the tape */
  gboolean separates_sentences;
  PlaitPrecision precision;
  GHashTable *leaves; /* keyed leaves: key -> PlaitNode */
};

/* Returns a new node without value and payload. The node is not recorded for backward. */
PlaitNode *plait_tape_new_node (PlaitTape *tape, const PlaitOperator *operation, PlaitNode *const *inputs,
                                guint n_inputs);

/* Releases value, gradient, payload and saved tensors of @node. Does nothing for leaves and views, which own no
 * storage. */
void plait_tape_release_node (PlaitTape *tape, PlaitNode *node);

/* Visits all recorded nodes, newest first. Runs the backward of each node that has a gradient. Then releases the node,
 * with or without a gradient, unless it is @root. */
void plait_tape_run_backward (PlaitTape *tape, const PlaitNode *root);

/* Fails the step if a plugin calls @function, which only the host may call. */
void plait_tape_refuse_plugins (PlaitTape *tape, const char *function);

/* Records @node: backward will visit it. */
void plait_tape_record (PlaitTape *tape, PlaitNode *node);
