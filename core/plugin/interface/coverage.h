/* SPDX-License-Identifier: MIT */
#pragma once

#include "layers/recurrent.h"
#include "interface/loss.h"
#include "interface/memory.h"

/*
 * The coverage contract: the attention paid so far -> a term of the next attention score (Tu et al. 2016; Chen et al.
 * 2017, section 4). Each pair of a query and a memory row has a state; see attention/query-key-pairs.h.
 *
 * - prepare returns p, computed from the memory. It is called once for each memory, before the time loop.
 * - score returns the term. If score is NULL, the term is the state times a matrix V of the host. Additive scores add
 *   the term inside their tanh (Chen et al. 2017, eq. 12); other score functions add the term to the score.
 * - update returns the new state, computed from the state, the attention, the query, p, and the values of linked rows,
 *   such as the children of a node.
 *
 * The host keeps the states of hypotheses and follows their ancestry. With several attention heads, the attention is
 * the mean over the heads, or each head has its own state (decoder.coverage_heads).
 */

/* Arguments for building a coverage, for one attention to one memory. Valid during the call. */
typedef struct
{
  gint64 memory_width;
  gint64 query_width;
  gint64 score_width;          /* width of the terms that the states add to the scores */
  PlaitParameters *parameters; /* registry in which to declare parameters */
  const char *prefix;          /* required beginning of the parameters' names */
} PlaitCoverageBuild;

/* The state width and the losses that a coverage declares in build. */
typedef struct
{
  gint64 width; /* width of a pair's state, at least 1 */
  PlaitLosses losses;
} PlaitCoverageShape;

/* One time step of a coverage. Nodes are on @tape. */
typedef struct
{
  PlaitTape *tape;
  const PlaitMemory *memory;
  PlaitNode *prepared; /* node that prepare returned; may be NULL */
  PlaitNode *state;    /* [pairs, width] states after the previous step */

  /* [pairs, 1] attention weights of this step, before dropout; NULL when the function score is called */
  PlaitNode *attention;

  PlaitNode *query;         /* [queries, query width] queries of the attention */
  gint64 n;                 /* number of pairs */
  PlaitPairIndices indices; /* memory row and query of each pair */
  /* [n] If pair i is query q and row r: left[i], right[i], previous[i] and next[i] are the pairs of q with the left
   * child, right child, previous row and next row of r; -1 if there is no such row. If the memory has no links to
   * previous and next rows, the previous and next row are the rows before and after within the sentence. */
  const gint64 *left;
  const gint64 *right;
  const gint64 *previous;
  const gint64 *next;
  /*< private >*/
  struct PlaitCoverageHost *host;
} PlaitCoverageStep;

typedef struct
{
  gsize state_size; /* bytes of the instance's state. The host allocates it, zeroed, and frees it without a callback */

  /* Declares parameters and fills @shape, which is zeroed. Returns FALSE with PLAIT_ERROR_INPUT if the settings
   * contradict each other. */
  gboolean (*build) (const PlaitCoverageBuild *build, gconstpointer settings, gpointer state, PlaitCoverageShape *shape,
                     GError **error);

  /* Returns a node with one row for each row of @memory, or NULL. The function may be NULL. */
  PlaitNode *(*prepare) (gconstpointer settings, gconstpointer state, PlaitTape *tape, const PlaitMemory *memory);

  /* Returns the terms that the states add to the scores, [pairs, score width]. If the function is NULL, the host
   * computes V state. */
  PlaitNode *(*score) (gconstpointer settings, gconstpointer state, const PlaitCoverageStep *step);

  /* Returns the new states, [pairs, width]. The states before the first step are zeros. */
  PlaitNode *(*update) (gconstpointer settings, gconstpointer state, const PlaitCoverageStep *step);

  /* Name, such as "fertility", under which dumps store the node that prepare returns if it has one column; NULL: not
   * stored. */
  const char *prepared_name;

  gpointer reserved[3];
} PlaitCoverageTable;

/* Adds @loss [1, 1], a sum over pairs, to the declared loss @name. Call it in update only. Ends the step if @name was
 * not declared. */
PLAIT_API void plait_coverage_add_loss (const PlaitCoverageStep *step, const char *name, PlaitNode *loss);

/* Returns a node [pairs, w]: for each pair the row of x [memory rows, w] that belongs to the pair's memory row. */
PLAIT_API PlaitNode *plait_coverage_gather_rows (const PlaitCoverageStep *step, PlaitNode *x);

/*
 * The cell of gated coverages: a GRU over query-key pairs, C_ji = GRU (C_(j-1)i, a_ji, d, h_i), where h_i is the memory
 * row, d the query and a_ji the attention weight (Chen et al. 2017, eq. 11). The struct refers to parameters and owns
 * nothing.
 */
typedef struct
{
  PlaitCell cell;        /* the GRU, with parameters named PREFIX + "cell/..."; its input is the memory row */
  PlaitLinear query;     /* input of the gates from the query, named PREFIX + "query/..." */
  PlaitLinear attention; /* input of the gates from the attention weight, named PREFIX + "attention/..." */
} PlaitCoverageCell;

PLAIT_API PlaitCoverageCell plait_coverage_cell_declare (const PlaitCoverageBuild *build, gint64 width,
                                                         PlaitResetOrder reset);

/* Declares an additional input of all gates, @in numbers wide, with parameters named PREFIX + @name + "/...". */
PLAIT_API PlaitLinear plait_coverage_cell_input (const PlaitCoverageBuild *build, const PlaitCoverageCell *cell,
                                                 const char *name, gint64 in);

/* Returns a node [memory rows, 3 width]: the part of the gates that depends on the memory row. The plugin's prepare
 * must return this node. */
PLAIT_API PlaitNode *plait_coverage_cell_prepare (PlaitTape *tape, const PlaitCoverageCell *cell,
                                                  const PlaitMemory *memory);

/* An additional input in an update: pair i reads row link[i] of @x. @link is one of the arrays of PlaitCoverageStep. */
typedef struct
{
  const PlaitLinear *linear; /* weight from plait_coverage_cell_input */
  const gint64 *link;        /* [pairs] pair to read, or -1 for no input */
  PlaitNode *x;              /* [pairs, in] values of all pairs */
} PlaitCoverageInput;

/* Returns the states [pairs, width] after @step. @inputs: the @n additional inputs. */
PLAIT_API PlaitNode *plait_coverage_cell_update (const PlaitCoverageCell *cell, const PlaitCoverageStep *step,
                                                 const PlaitCoverageInput *inputs, guint n);
