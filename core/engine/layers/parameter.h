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
  PLAIT_USE_TABLE,  /* x T^T: the output layer, T [V, w] often being the embeddings; packed for plait_vocabulary_best */
} PlaitParameterUse;

/* A parameter. Read only, but for the numbers that value and gradient point to. */
typedef struct
{
  const char *name;
  PlaitTensor value;    /* [rows, width]; data is NULL before allocation */
  PlaitTensor gradient; /* the same shape; data is NULL before allocation */
  PlaitInitial initial;
  gboolean places; /* row i is of place i in a sentence: what was learned of shorter ones holds for longer ones too */
  PlaitParameterUse use;
  struct PlaitPacked *packed; /* panels of the value for products of few rows, or NULL */
  gint64 offset;              /* of the value (and gradient) in the registry's array, in elements */
} PlaitParameter;

/* An empty registry. (transfer full) */
PLAIT_API PlaitParameters *plait_parameters_new (void);
PLAIT_API void plait_parameters_free (PlaitParameters *parameters);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitParameters, plait_parameters_free)

/*
 * Adds the parameter @name [rows, width]: parts between slashes, none of them empty, "." or "..". A name that is taken,
 * no name or outside of the plugin's prefix, rows or width below 1, an @initial that cannot be, and a declaration after
 * allocation are faults: the first is kept for
 * plait_parameters_check, and what comes back may be held but not used. (transfer none)
 */
PLAIT_API PlaitParameter *plait_parameters_declare (PlaitParameters *parameters, const char *name, gint64 rows,
                                                    gint64 width, PlaitInitial initial);

/* Notes the fault that @condition does not hold, with the name of the function. */
#define plait_parameters_expect(parameters, condition)                                                                 \
  (G_LIKELY (condition) ? (void)0 : plait_parameters_misfit ((parameters), G_STRFUNC, #condition))
PLAIT_API void plait_parameters_misfit (PlaitParameters *parameters, const char *function, const char *condition);

/* What the layer norms that are declared from here on add to the variance; 1e-6 until it is set. */
void plait_parameters_set_norm_epsilon (PlaitParameters *parameters, double epsilon);
double plait_parameters_norm_epsilon (const PlaitParameters *parameters);

/* From now on names of parameters begin with @prefix (borrowed; NULL: as they like); returns what they began with. */
const char *plait_parameters_enter (PlaitParameters *parameters, const char *prefix);

/* The first fault of the declarations so far, as PLAIT_ERROR_PLUGIN; TRUE without one. */
gboolean plait_parameters_check (const PlaitParameters *parameters, GError **error);

/* @size zeroed bytes that live as long as the registry: for arrays of layers. (transfer none) */
PLAIT_API gpointer plait_parameters_memory (PlaitParameters *parameters, gsize size);

/* A copy of @text in such memory. (transfer none) */
const char *plait_parameters_text (PlaitParameters *parameters, const char *text);

/* Gives all parameters storage: values and gradients zero. PLAIT_ERROR_MEMORY, naming the bytes, if there is none. */
PLAIT_API gboolean plait_parameters_allocate (PlaitParameters *parameters, GError **error);

/* Sets all values as declared. Each depends on @seed, the parameter's name and its shape only. */
PLAIT_API void plait_parameters_initialise (PlaitParameters *parameters, PlaitPool *pool, guint64 seed);

/* Lets weights begin as those of dl4mt do (nyu-dl/dl4mt-tutorial): square ones orthogonal, all others, and embeddings,
 * normal with the standard deviation 0.01. Biases, gains and forget gates stay as they are declared. Before
 * plait_parameters_initialise. */
void plait_parameters_follow_dl4mt (PlaitParameters *parameters);

/* How many parameters there are, and the @i-th in the order of declaration. (transfer none) */
PLAIT_API guint plait_parameters_n (const PlaitParameters *parameters);
PLAIT_API PlaitParameter *plait_parameters_get (const PlaitParameters *parameters, guint i);

/* The parameter @name, or NULL. (transfer none) */
PLAIT_API PlaitParameter *plait_parameters_find (const PlaitParameters *parameters, const char *name);

/* The number of elements of all parameters whose name begins with @prefix (NULL: of all). Also before allocation. */
PLAIT_API gint64 plait_parameters_count (const PlaitParameters *parameters, const char *prefix);

/*
 * All values as one row, to be read, in the order of declaration. Each parameter starts at a multiple of 64 bytes; what
 * stands between is zero and has zero gradient.
 */
PLAIT_API PlaitTensor plait_parameters_values (const PlaitParameters *parameters);

/* The same for writing; drops the packed panels. Whoever writes values, one parameter's too, calls it first. */
PLAIT_API PlaitTensor plait_parameters_write_values (PlaitParameters *parameters);

/* All gradients as one row: element i belongs to element i of the values. */
PLAIT_API PlaitTensor plait_parameters_gradients (const PlaitParameters *parameters);

/* Makes all gradients zero. */
PLAIT_API void plait_parameters_zero_gradients (PlaitParameters *parameters);

/* Declares that @parameter is multiplied by in search. Layers do so for their own. */
PLAIT_API void plait_parameters_use (PlaitParameters *parameters, PlaitParameter *parameter, PlaitParameterUse use);

/* PLAIT_ERROR_INPUT if this processor has no instructions for products of @precision. */
PLAIT_API gboolean plait_precision_check (PlaitPrecision precision, GError **error);

/* Packs the values of all weights and tables with @precision, so that a tape in PLAIT_TAPE_EVALUATE multiplies few rows
 * fast. PLAIT_ERROR_MEMORY if there is no room for the copies, PLAIT_ERROR_INPUT as above. */
PLAIT_API gboolean plait_parameters_pack (PlaitParameters *parameters, PlaitPool *pool, PlaitPrecision precision,
                                          GError **error);

/* The leaf of @parameter on @tape: one a tape and step. (transfer none) */
PLAIT_API PlaitNode *plait_parameter_node (PlaitTape *tape, const PlaitParameter *parameter);

/* The same, or NULL for NULL. (transfer none) */
PlaitNode *plait_parameter_node_if_any (PlaitTape *tape, const PlaitParameter *parameter);
