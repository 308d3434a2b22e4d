/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/internal.h"

/* A leaf found again by its key; the table uses open addressing and is at most half full. */
typedef struct
{
  gconstpointer key;
  PlaitNode *node;
} KeyedLeaf;

struct PlaitTape
{
  PlaitPool *pool;
  PlaitArena *arena;
  PlaitTapeMode mode;
  PlaitCodeOwner caller;
  PlaitRandomKey dropout;
  guint64 n_keys;
  double multiplications;
  PlaitNode *last;        /* the newest node that backward must visit */
  gint n_recorded;        /* how many nodes were recorded */
  PlaitNode *discardable; /* the newest node whose value may be given up */
  PlaitNode *made;        /* the newest of all */
  PlaitWeightReuse *reuse;
  PlaitTapeReport report; /* or NULL */
  gpointer report_data;
  gboolean went_back;
  gboolean keeps_gradients;
  gboolean recomputes;
  gboolean in_recomputed;
  PlaitPrecision precision;
  KeyedLeaf *leaves;
  gsize leaf_capacity; /* a power of two */
  gsize n_leaves;
};

/* A node without a value or payload, that is not recorded. */
PlaitNode *plait_tape_new_node (PlaitTape *tape, const PlaitOperator *operation, PlaitNode *const *inputs,
                                guint n_inputs);

/* Gives back what @node holds, whose backward is done or will not come. Views and leaves own nothing. */
void plait_tape_release_node (PlaitTape *tape, PlaitNode *node);

/* Runs backward from the newest recorded node on; each is released when it is done, but for @root. */
void plait_tape_run_backward (PlaitTape *tape, const PlaitNode *root);

/* Records @node as the newest that backward visits. */
void plait_tape_record (PlaitTape *tape, PlaitNode *node);
