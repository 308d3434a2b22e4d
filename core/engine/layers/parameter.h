/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/tape.h"
#include "text/error.h"

/*
 * Parameters of a model, by name.
 *
 * First every layer declares its parameters, then plait_parameters_allocate gives them storage, once. All values stand
 * in one array and all gradients in another, so that optimisers, norms and checkpoints run over few large arrays.
 * Handles, names and layers belong to the registry and live as long as it does.
 *
 * Names are paths such as "decoder/layer/3/feed_forward/inner/weight". They are public: files and warm starts use them,
 * and initial values depend on the seed and the name only.
 */
typedef struct PlaitParameters PlaitParameters;

typedef enum
{
  PLAIT_INITIAL_ZEROS,
  PLAIT_INITIAL_ONES,
  PLAIT_INITIAL_NORMAL,     /* mean 0, standard deviation @size */
  PLAIT_INITIAL_UNIFORM,    /* in [-size, size) */
  PLAIT_INITIAL_GLOROT,     /* uniform in [-a, a), a = sqrt (6 / (rows + width / blocks)) (Glorot & Bengio 2010) */
  PLAIT_INITIAL_BLOCKS,     /* of @blocks side by side, @size in those from @first to @last, zeros in the others */
  PLAIT_INITIAL_ORTHOGONAL, /* each of the square blocks an orthogonal matrix, all as likely (Saxe et al. 2014) */
} PlaitInitialKind;

/* How a parameter starts. */
typedef struct
{
  PlaitInitialKind kind;
  double size;       /* NORMAL, UNIFORM, BLOCKS */
  guint blocks;      /* weights that stand side by side in this one (keys and values: 2); 0 means 1 */
  guint first, last; /* BLOCKS */
  guint stacked;     /* ORTHOGONAL: and how many one above the other (those of two children: 2); 0 means 1 */
} PlaitInitial;

#define PLAIT_ZEROS ((PlaitInitial){ PLAIT_INITIAL_ZEROS, 0, 0, 0, 0, 0 })
#define PLAIT_ONES ((PlaitInitial){ PLAIT_INITIAL_ONES, 0, 0, 0, 0, 0 })
#define PLAIT_NORMAL(deviation) ((PlaitInitial){ PLAIT_INITIAL_NORMAL, (deviation), 0, 0, 0, 0 })
#define PLAIT_UNIFORM(bound) ((PlaitInitial){ PLAIT_INITIAL_UNIFORM, (bound), 0, 0, 0, 0 })
#define PLAIT_GLOROT ((PlaitInitial){ PLAIT_INITIAL_GLOROT, 0, 1, 0, 0, 0 })
#define PLAIT_GLOROT_BLOCKS(n) ((PlaitInitial){ PLAIT_INITIAL_GLOROT, 0, (n), 0, 0, 0 })
#define PLAIT_ORTHOGONAL(blocks, stacked) ((PlaitInitial){ PLAIT_INITIAL_ORTHOGONAL, 0, (blocks), 0, 0, (stacked) })
#define PLAIT_BLOCKS(size, first, last, n) ((PlaitInitial){ PLAIT_INITIAL_BLOCKS, (size), (n), (first), (last), 0 })

/* What search multiplies by a parameter, and so how it is packed. */
typedef enum
{
  PLAIT_USE_OTHER,  /* nothing: not packed */
  PLAIT_USE_WEIGHT, /* x W: a linear layer */
  PLAIT_USE_STEP,   /* x W, where the next x comes of it: packed as it is, since what is rounded would add up */
  PLAIT_USE_TABLE,  /* x T^T: the output layer, T [V, w] often being the embeddings; packed for plait_output_layer_top_k
                     */
} PlaitParameterUse;

/* A parameter. Read only, but for the numbers that value and gradient point to. */
typedef struct
{
  const char *name;
  PlaitTensor value;    /* [rows, width]; data is NULL before allocation */
  PlaitTensor gradient; /* the same shape; data is NULL before allocation */
  PlaitInitial initial;
  gboolean
      is_positional; /* row i is of place i in a sentence: what was learned of shorter ones holds for longer ones too */
  PlaitParameterUse use;
  struct PlaitPacked *packed; /* panels of the value for products of few rows, or NULL */
  gint64 offset;              /* of the value (and gradient) in the registry's array, in elements */
} PlaitParameter;

/*
 * Adds the parameter @name [rows, width]: parts between slashes, none of them empty, "." or "..". A name that is taken,
 * no name or outside of the plugin's prefix, rows or width below 1, an @initial that cannot be, and a declaration after
 * allocation are faults: the first is kept for
 * plait_parameters_check, and what comes back may be held but not used. (transfer none)
 */
PLAIT_API PlaitParameter *plait_parameters_declare (PlaitParameters *parameters, const char *name, gint64 rows,
                                                    gint64 width, PlaitInitial initial);

/* @size zeroed bytes that live as long as the registry: for arrays of layers. (transfer none) */
PLAIT_API gpointer plait_parameters_memory (PlaitParameters *parameters, gsize size);

/* The leaf of @parameter on @tape: one a tape and step. (transfer none) */
PLAIT_API PlaitNode *plait_parameter_node (PlaitTape *tape, const PlaitParameter *parameter);
