/* SPDX-License-Identifier: MIT */
#pragma once

#include "layers/recurrent.h"
#include "interface/loss.h"
#include "interface/memory.h"

/*
 * The coverage contract: the attention paid so far -> a term in the next attention score (Tu et al. 2016; Chen et al.
 * 2017, section 4).
 *
 * - prepare: p <- project (memory), once a memory, outside of the time loop.
 * - score: V state, which the host computes unless the plugin has a score of its own. Additive scores take it inside
 *   their tanh (eq. 12), so it is as wide as that; others add it to the energy, one number a head.
 * - update: state <- cell (state, attention, query, p, and what stands at linked rows).
 *
 * There is a state for each pair of a query and a row of the memory; pairs are as in attention/query-key-pairs.h. The
 * host keeps the states of hypotheses, follows their ancestry, and finds linked pairs. Where an attention has several
 * heads, the attention paid is their mean, or there is a state for each head (decoder.coverage_heads).
 */

/* What the host tells a coverage that it builds, for each attention to a memory. It lasts as long as the call. */
typedef struct
{
  gint64 memory_width;
  gint64 query_width;
  gint64 score_width;          /* of what score gives */
  PlaitParameters *parameters; /* declare parameters here ... */
  const char *prefix;          /* ... under names that begin with this */
} PlaitCoverageBuild;

/* What a coverage declares. */
typedef struct
{
  gint64 width; /* of a pair's state, at least 1 */
  PlaitLosses losses;
} PlaitCoverageShape;

/* One step. Nodes are of @tape. */
typedef struct
{
  PlaitTape *tape;
  const PlaitMemory *memory;
  PlaitNode *prepared;      /* what prepare gave */
  PlaitNode *state;         /* [pairs, width], of the step before */
  PlaitNode *attention;     /* [pairs, 1], just paid, before dropout; NULL in score */
  PlaitNode *query;         /* [queries, query width]: the state that asked */
  gint64 n;                 /* pairs */
  PlaitPairIndices indices; /* their memory rows and queries */
  /* [n]: the pair of the same query with the row's child or neighbour, or -1. Neighbours are those of the memory's
   * links, and without them the rows before and after. */
  const gint64 *left;
  const gint64 *right;
  const gint64 *previous;
  const gint64 *next;
  /*< private >*/
  struct PlaitCoverageHost *host;
} PlaitCoverageStep;

typedef struct
{
  gsize state_size; /* of the instance's state, zeroed memory of the host, which frees it */

  /* Declares parameters and fills @shape, which is zero. FALSE with *error set, PLAIT_ERROR_INPUT, if the settings do
   * not fit together. */
  gboolean (*build) (const PlaitCoverageBuild *build, gconstpointer settings, gpointer state, PlaitCoverageShape *shape,
                     GError **error);

  /* A node with a row for each row of the memory, or NULL. */
  PlaitNode *(*prepare) (gconstpointer settings, gconstpointer state, PlaitTape *tape, const PlaitMemory *memory);

  /* What the states add to the scores, [pairs, score width]; NULL: the host's V state. */
  PlaitNode *(*score) (gconstpointer settings, gconstpointer state, const PlaitCoverageStep *step);

  /* The new states, [pairs, width]. The first are zeros. */
  PlaitNode *(*update) (gconstpointer settings, gconstpointer state, const PlaitCoverageStep *step);

  /* What to call it in dumps, "fertility", if what prepare gives is one number a row that people look at; else NULL. */
  const char *prepared_name;

  gpointer reserved[3];
} PlaitCoverageTable;

/* Adds @loss [1, 1], summed over pairs, to the declared loss @name. In update. */
PLAIT_API void plait_coverage_add_loss (const PlaitCoverageStep *step, const char *name, PlaitNode *loss);

/* Row i is the row of @x that belongs to the memory row of pair i: x [rows, w] -> [pairs, w]. */
PLAIT_API PlaitNode *plait_coverage_gather_rows (const PlaitCoverageStep *step, PlaitNode *x);

/*
 * What gated coverages share: a GRU over pairs (eq. 11),
 *
 *     C_ji = GRU (C_(j-1)i, a_ji, d, h_i)
 *
 * h being the row, d the query, a the attention. A value of this type owns nothing.
 */
typedef struct
{
  PlaitCell cell;        /* PREFIXcell; its input is the row */
  PlaitLinear query;     /* PREFIXquery */
  PlaitLinear attention; /* PREFIXattention */
} PlaitCoverageCell;

PLAIT_API PlaitCoverageCell plait_coverage_cell_declare (const PlaitCoverageBuild *build, gint64 width,
                                                         PlaitResetOrder reset);

/* A further input of all gates, @in wide: PREFIXNAME. */
PLAIT_API PlaitLinear plait_coverage_cell_input (const PlaitCoverageBuild *build, const PlaitCoverageCell *cell,
                                                 const char *name, gint64 in);

/* [rows, 3 width]: the rows' part of the gates. */
PLAIT_API PlaitNode *plait_coverage_cell_prepare (PlaitTape *tape, const PlaitCoverageCell *cell,
                                                  const PlaitMemory *memory);

/* A further input's part in an update: pair i reads row link[i] of @x, @link being one of the step's. */
typedef struct
{
  const PlaitLinear *linear; /* of plait_coverage_cell_input */
  const gint64 *link;        /* [pairs] */
  PlaitNode *x;              /* [pairs, in] */
} PlaitCoverageInput;

/* The new states; @inputs [n] are those of the further inputs. */
PLAIT_API PlaitNode *plait_coverage_cell_update (const PlaitCoverageCell *cell, const PlaitCoverageStep *step,
                                                 const PlaitCoverageInput *inputs, guint n);
