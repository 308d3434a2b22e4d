/* SPDX-License-Identifier: MIT */
#pragma once

#include "interface/cross-attention.h"

/* The combiner contract: queries and the memories of all sources -> context vectors, through a PlaitCrossAttention. */
typedef struct
{
  gsize state_size; /* bytes of the state of one cross-attention. The host allocates it, zeroed, and frees it without a
                       callback; allocate its arrays with plait_parameters_memory */

  /* Declares every attention that combine will use, and fills @state. Called once for each cross-attention (each layer
   * of a Transformer decoder). @settings: the plugin's own struct, filled by the host; it lives as long as the model.
   * Returns FALSE with PLAIT_ERROR_INPUT if the settings do not fit the memories of @cross. */
  gboolean (*build) (PlaitCrossAttention *cross, gconstpointer settings, gpointer state, GError **error);

  /* Returns a node [rows of the memory, any width] computed from @rows without the queries, or NULL. Called once
   * for each memory that was declared with plait_cross_declare_rows, before the time loop. The function may be NULL. */
  PlaitNode *(*prepare) (gconstpointer settings, gconstpointer state, PlaitTape *tape, guint memory,
                         const PlaitMemory *rows);

  /* Combines the memories for the queries of @x and returns the residual stream that the decoder continues with. */
  PlaitResidualStream (*combine) (PlaitCrossAttention *cross, gconstpointer settings, gconstpointer state,
                                  PlaitResidualStream x);

  gpointer reserved[4];
} PlaitCombinerTable;
