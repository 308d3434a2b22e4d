/* SPDX-License-Identifier: MIT */
#pragma once

#include "interface/cross-attention.h"

/*
 * The combiner contract: queries and the memories of all sources -> context vectors, through a site.
 */
typedef struct
{
  gsize state_size; /* of the state of each site, zeroed memory of the host, which frees it and asks nobody: arrays in
                       it come from plait_parameters_memory */

  /* Declares what combine will call, and fills @state. Once for each site (each layer of a Transformer decoder).
   * @settings is the plugin's own struct, filled by the host; it lives as long as the model. FALSE with *error set,
   * PLAIT_ERROR_INPUT, if they do not fit what the site has. */
  gboolean (*build) (PlaitCrossAttention *cross, gconstpointer settings, gpointer state, GError **error);

  /* What it makes of the rows of a memory, [rows, any width], that does not depend on the queries: once a memory,
   * outside of the time loop. For memories that were declared by plait_cross_declare_rows. NULL, or gives NULL:
   * nothing. */
  PlaitNode *(*prepare) (gconstpointer settings, gconstpointer state, PlaitTape *tape, guint memory,
                         const PlaitMemory *rows);

  /* Runs the strategy on @x and returns what the decoder goes on with. */
  PlaitResidualStream (*combine) (PlaitCrossAttention *cross, gconstpointer settings, gconstpointer state,
                                  PlaitResidualStream x);

  gpointer reserved[4];
} PlaitCombinerTable;
