/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/tape.h"
#include "text/error.h"

/*
 * The parameters of a model, by name. Layers declare parameters; then the host allocates all of them. Values lie in one
 * array and gradients in another, so optimisers and norms work on few large arrays. Parameters, their names and arrays
 * of layers belong to the registry and live as long as it does. Names are paths such as
 * "decoder/layer/3/feed_forward/inner/weight". They are public: files and warm starts use them, and random initial
 * values depend on them.
 */
typedef struct PlaitParameters PlaitParameters;

typedef enum
{
  PLAIT_INITIAL_ZEROS,
  PLAIT_INITIAL_ONES,
  PLAIT_INITIAL_NORMAL,     /* normal distribution with mean 0 and standard deviation size */
  PLAIT_INITIAL_UNIFORM,    /* uniform in [-size, size) */
  PLAIT_INITIAL_GLOROT,     /* uniform in [-a, a), a = sqrt (6 / (rows + width / blocks)) (Glorot & Bengio 2010) */
  PLAIT_INITIAL_BLOCKS,     /* equal blocks of columns; every element of the blocks first .. last is @size, all other
                               elements are 0 */
  PLAIT_INITIAL_ORTHOGONAL, /* each square block is a random orthogonal matrix, all equally likely (Saxe et al. 2014) */
} PlaitInitialKind;

/* The initial values of a parameter. */
typedef struct
{
  PlaitInitialKind kind;
  double size;       /* used by NORMAL, UNIFORM and BLOCKS */
  guint blocks;      /* number of weights side by side in this parameter (keys and values: 2); 0 means 1 */
  guint first, last; /* used by BLOCKS: the blocks first .. last hold @size; the leftmost block is block 0 */
  guint stacked;     /* used by ORTHOGONAL: number of weights one above the other (2 for the weight of two children); 0
                        means 1 */
} PlaitInitial;

#define PLAIT_ZEROS ((PlaitInitial){ PLAIT_INITIAL_ZEROS, 0, 0, 0, 0, 0 })
#define PLAIT_ONES ((PlaitInitial){ PLAIT_INITIAL_ONES, 0, 0, 0, 0, 0 })
#define PLAIT_NORMAL(deviation) ((PlaitInitial){ PLAIT_INITIAL_NORMAL, (deviation), 0, 0, 0, 0 })
#define PLAIT_UNIFORM(bound) ((PlaitInitial){ PLAIT_INITIAL_UNIFORM, (bound), 0, 0, 0, 0 })
#define PLAIT_GLOROT ((PlaitInitial){ PLAIT_INITIAL_GLOROT, 0, 1, 0, 0, 0 })
#define PLAIT_GLOROT_BLOCKS(n) ((PlaitInitial){ PLAIT_INITIAL_GLOROT, 0, (n), 0, 0, 0 })
#define PLAIT_ORTHOGONAL(blocks, stacked) ((PlaitInitial){ PLAIT_INITIAL_ORTHOGONAL, 0, (blocks), 0, 0, (stacked) })
#define PLAIT_BLOCKS(size, first, last, n) ((PlaitInitial){ PLAIT_INITIAL_BLOCKS, (size), (n), (first), (last), 0 })

/* The kind of matrix product that beam search computes with a parameter. It decides how the parameter is packed. */
typedef enum
{
  PLAIT_USE_OTHER,  /* none of the uses below; the parameter is not packed */
  PLAIT_USE_WEIGHT, /* x W, in a linear layer */
  PLAIT_USE_STEP,   /* x W in a recurrence; packed without rounding, because rounding errors would add up over the steps
                     */
  PLAIT_USE_TABLE,  /* x times the transposed table [V, w] of the output layer, often also the table of embeddings;
                       packed for plait_output_layer_top_k */
} PlaitParameterUse;

/* A parameter. Read only, except the numbers in value and gradient. */
typedef struct
{
  const char *name;
  PlaitTensor value;    /* [rows, width]; data is NULL before allocation */
  PlaitTensor gradient; /* [rows, width]; data is NULL before allocation */
  PlaitInitial initial;
  gboolean is_positional; /* TRUE if row i belongs to position i of a sentence. Then values of a shorter table can
                             initialise the first rows */
  PlaitParameterUse use;
  struct PlaitPacked *packed; /* the value, packed for search as @use says; or NULL */
  gint64 offset;              /* index of the first element of value and gradient in the registry's arrays */
} PlaitParameter;

/*
 * Declares the parameter @name [rows, width] and returns it. (transfer none) A name has parts between slashes, none of
 * them empty, "." or "..", and no control characters; it has at most 1024 bytes and begins with the plugin's prefix.
 * Faults are: a name that is malformed or already declared, rows or width below 1, more elements than any machine can
 * hold (checked for plugins), an impossible @initial, and a declaration after allocation. The host reports the first
 * fault after build; until then, store the returned parameter but do not use it.
 */
PLAIT_API PlaitParameter *plait_parameters_declare (PlaitParameters *parameters, const char *name, gint64 rows,
                                                    gint64 width, PlaitInitial initial);

/* Returns @size zeroed bytes that live as long as the registry, for arrays of layers. (transfer none) */
PLAIT_API gpointer plait_parameters_memory (PlaitParameters *parameters, gsize size);

/* Returns the leaf of @parameter on @tape; the same node for all calls in one step. (transfer none) */
PLAIT_API PlaitNode *plait_parameter_node (PlaitTape *tape, const PlaitParameter *parameter);
