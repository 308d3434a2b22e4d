/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "autograd/operators.h"
#include "contract/contract.h"
#include "disguise.h"

/* Tests that properties can fail, with encoders, combiners and coverages that break their contract in one place each.
 * Together with test-decoder-faults.c, every property fails at least once. */

/* Differences of the faulty plugin from a valid one. */
typedef struct
{
  gboolean (*build) (GError **error);
  PlaitNode *(*change) (PlaitTape *tape, PlaitCrossAttention *cross,
                        PlaitNode *context); /* combiners: function that changes their context */
  void (*encode) (PlaitEncoding *encoding, PlaitMemory *memory);
  PlaitNode *(*update) (const PlaitCoverageStep *step);
  guint first_memory;      /* combiners: number of memories that they read, from the first on; 0: all */
  gboolean loss;           /* TRUE: the plugin declares a loss */
  double weight;           /* weight of the loss */
  PlaitStructure promised; /* structure that the schema of an encoder promises */
  PlaitStructure declared; /* structure that build() declares */
  const char *decoders;    /* decoders in the schema; NULL: all */
} FaultyPlugin;

static FaultyPlugin faulty_plugin;

/*
 * Functions of valid plugins
 */

static guint
n_read (const PlaitCrossAttention *cross)
{
  guint n = plait_cross_n_memories (cross);

  return faulty_plugin.first_memory > 0 ? MIN (n, faulty_plugin.first_memory) : n;
}

static gboolean
build_combiner (PlaitCrossAttention *cross, gconstpointer settings, gpointer state, GError **error)
{
  PlaitAttendSettings attention = { PLAIT_DECODER_DROPOUT_RATES };

  plait_cross_declare_residual (cross, 0);
  plait_cross_declare_rows (cross, 0);
  for (guint i = 0; i < n_read (cross); i++)
    plait_cross_declare_attend (cross, i, &attention);
  if (faulty_plugin.loss)
    plait_cross_declare_loss (cross, "own", faulty_plugin.weight);
  return !faulty_plugin.build || faulty_plugin.build (error);
}

static PlaitResidualStream
combine (PlaitCrossAttention *cross, gconstpointer settings, gconstpointer state, PlaitResidualStream x)
{
  guint n = n_read (cross);
  PlaitContext *contexts = g_newa (PlaitContext, n);
  PlaitResidualStream query = plait_cross_normalise (cross, 0, x);
  PlaitContext sum;

  for (guint i = 0; i < n; i++)
    contexts[i] = plait_cross_attend (cross, i, query);
  sum = plait_cross_sum (cross, contexts, n);
  if (faulty_plugin.change)
    sum.value = faulty_plugin.change (plait_cross_tape (cross), cross, sum.value);
  return plait_cross_residual (cross, 0, x, sum);
}

static gboolean
build_encoder (const PlaitEncoderBuild *build, gconstpointer settings, gpointer state, PlaitEncoderShape *shape,
               GError **error)
{
  g_autofree char *name = g_strconcat (build->prefix, "out", NULL);

  *(PlaitLinear *)state = plait_linear_declare (build->parameters, name, build->input_width, build->model_width, FALSE);
  shape->n_memories = 1;
  shape->memories[0].width = build->model_width;
  shape->memories[0].structure = faulty_plugin.declared;
  return !faulty_plugin.build || faulty_plugin.build (error);
}

static void
encode (gconstpointer settings, gconstpointer state, PlaitEncoding *encoding)
{
  encoding->memories[0].rows = encoding->input->rows;
  encoding->memories[0].states = plait_linear_apply (encoding->tape, state, encoding->embedded, PLAIT_ACTIVATION_NONE);
  if (faulty_plugin.encode)
    faulty_plugin.encode (encoding, &encoding->memories[0]);
}

static gboolean
build_coverage (const PlaitCoverageBuild *build, gconstpointer settings, gpointer state, PlaitCoverageShape *shape,
                GError **error)
{
  shape->width = 1;
  if (faulty_plugin.loss)
    shape->losses = (PlaitLosses){ 1, { { "own", faulty_plugin.weight } } };
  return !faulty_plugin.build || faulty_plugin.build (error);
}

static PlaitNode *
update (gconstpointer settings, gconstpointer state, const PlaitCoverageStep *step)
{
  PlaitNode *terms[] = { step->state, step->attention };

  return faulty_plugin.update ? faulty_plugin.update (step) : plait_add_n (step->tape, terms, 2);
}

/*
 * Functions that run a faulty plugin
 */

/* Checks the faulty plugin, of the kind @kind, with disguise_check(). */
static void
check_fault (PlaitPluginKind kind, guint seconds, const char *failed, const char *words)
{
  static const PlaitEncoderTable encoder_table
      = { .state_size = sizeof (PlaitLinear), .build = build_encoder, .encode = encode };
  static const PlaitCombinerTable combiner_table = { .build = build_combiner, .combine = combine };
  static const PlaitCoverageTable coverage_table = { .build = build_coverage, .update = update };
  static const Disguise disguises[] = {
    [PLAIT_PLUGIN_ENCODER] = { PLAIT_PLUGIN_ENCODER, "bigru", &encoder_table },
    [PLAIT_PLUGIN_COMBINER] = { PLAIT_PLUGIN_COMBINER, "serial", &combiner_table },
    [PLAIT_PLUGIN_COVERAGE] = { PLAIT_PLUGIN_COVERAGE, "word", &coverage_table },
  };

  Disguise disguise = disguises[kind];

  disguise.decoders = faulty_plugin.decoders;
  disguise_check (&disguise, faulty_plugin.promised, seconds, failed, words);
}

#define ENCODER PLAIT_PLUGIN_ENCODER
#define COMBINER PLAIT_PLUGIN_COMBINER
#define COVERAGE PLAIT_PLUGIN_COVERAGE

/* Defines the test of a faulty plugin: its kind, its name, the properties that fail, words of the message, and its
 * differences from a valid plugin. */
#define FAULTY(kind, name, failed, words, ...)                                                                         \
  TEST_CASE (contract_faults, name)                                                                                    \
  {                                                                                                                    \
    faulty_plugin = (FaultyPlugin){ __VA_ARGS__ };                                                                     \
    check_fault (kind, SECONDS, failed, words);                                                                        \
  }

FAULTY (ENCODER, sound_encoder, "", "", .encode = NULL)
FAULTY (COMBINER, sound_combiner, "", "", .change = NULL)
FAULTY (COVERAGE, sound_coverage, "", "", .update = NULL)
FAULTY (COMBINER, sound_combiner_of_another_decoder, "", "", .decoders = "convolutional")

/*
 * Encoders whose structure is wrong
 */

static void
leaves_above_leaves (PlaitEncoding *encoding, PlaitMemory *memory)
{
  PlaitArena *arena = plait_tape_arena (encoding->tape);
  gint64 n = plait_ragged_rows (memory->rows);
  PlaitLinks *links = plait_arena_new_array (arena, PlaitLinks, 1);
  gint64 *none = plait_arena_new_array (arena, gint64, n + 1), *zero = plait_arena_new_array (arena, gint64, n + 1);
  gint64 *one = plait_arena_new_array (arena, gint64, n + 1);

  for (gint64 i = 0; i < n; i++)
    {
      none[i] = -1;
      zero[i] = 0;
      one[i] = 1;
    }
  *links = (PlaitLinks){ .parent = none, .first_child = none, .n_children = zero, .level = one };
  memory->links = links;
}

/* The first row of each sentence is the parent of the others. */
static void
top_first (PlaitEncoding *encoding, PlaitMemory *memory)
{
  PlaitArena *arena = plait_tape_arena (encoding->tape);
  gint64 n = plait_ragged_rows (memory->rows);
  PlaitLinks *links = plait_arena_new_array (arena, PlaitLinks, 1);
  gint64 *parent = plait_arena_new_array (arena, gint64, n + 1), *child = plait_arena_new_array (arena, gint64, n + 1);
  gint64 *children = plait_arena_new_array (arena, gint64, n + 1),
         *level = plait_arena_new_array (arena, gint64, n + 1);

  for (gint64 s = 0; s < memory->rows.n; s++)
    for (gint64 begin = memory->rows.offsets[s], end = memory->rows.offsets[s + 1], i = begin; i < end; i++)
      {
        gboolean top = i == begin && end > begin + 1;

        parent[i] = i == begin ? -1 : begin;
        child[i] = top ? begin + 1 : -1;
        children[i] = top ? end - begin - 1 : 0;
        level[i] = top ? 1 : 0;
      }
  *links = (PlaitLinks){ .parent = parent, .first_child = child, .n_children = children, .level = level };
  memory->links = links;
}

static void
children_of_others (PlaitEncoding *encoding, PlaitMemory *memory)
{
  gint64 n = plait_ragged_rows (memory->rows);
  PlaitLinks *links = plait_arena_new_array (plait_tape_arena (encoding->tape), PlaitLinks, 1);
  gint64 *none = plait_arena_new_array (plait_tape_arena (encoding->tape), gint64, n + 1);
  gint64 *before = plait_arena_new_array (plait_tape_arena (encoding->tape), gint64, n + 1);

  for (gint64 s = 0; s < memory->rows.n; s++)
    for (gint64 i = memory->rows.offsets[s]; i < memory->rows.offsets[s + 1]; i++)
      {
        none[i] = -1;
        before[i] = i == memory->rows.offsets[s] ? -1 : i - 1;
      }
  *links = (PlaitLinks){ .left = none, .right = none, .parent = before };
  memory->links = links;
}

FAULTY (ENCODER, promises_a_tree_and_declares_none, "structure",
        "promises memories with tree, which build does not declare for memory 0", .promised = PLAIT_STRUCTURE_TREE)
FAULTY (ENCODER, promises_a_tree_and_fills_none, "structure", "gave a memory without the links \"left\"",
        .promised = PLAIT_STRUCTURE_TREE, .declared = PLAIT_STRUCTURE_TREE)
FAULTY (ENCODER, has_parents_without_children, "structure",
        "memory first, row 1: its link \"parent\" leads to row 0, whose children are other rows",
        .promised = PLAIT_STRUCTURE_TREE, .declared = PLAIT_STRUCTURE_TREE, .encode = children_of_others)
FAULTY (ENCODER, has_leaves_above_leaves, "structure", "memory first, row 0 has no children, but level 1",
        .promised = PLAIT_STRUCTURE_LEVELS, .declared = PLAIT_STRUCTURE_LEVELS, .encode = leaves_above_leaves)
FAULTY (
    ENCODER, has_the_top_level_first, "structure",
    "memory first, row 0 has level 1, but the last row of its sentence has level 0: put the rows of the top level last",
    .promised = PLAIT_STRUCTURE_LEVELS, .declared = PLAIT_STRUCTURE_LEVELS, .encode = top_first)

/*
 * Plugins that fail to run
 */

static gboolean
refuse_all (GError **error)
{
  return plait_fail (error, PLAIT_ERROR_INPUT, "nothing is to my taste");
}

static PlaitNode *
give_nothing (PlaitTape *tape, PlaitCrossAttention *cross, PlaitNode *context)
{
  return NULL;
}

static PlaitNode *
reach_wild (PlaitTape *tape, PlaitCrossAttention *cross, PlaitNode *context)
{
  volatile gsize wild = 64;

  *(int *)wild = 1;
  return context;
}

static PlaitNode *
leave (PlaitTape *tape, PlaitCrossAttention *cross, PlaitNode *context)
{
  exit (0);
}

static PlaitNode *
leave_at_once (PlaitTape *tape, PlaitCrossAttention *cross, PlaitNode *context)
{
  _exit (7);
}

static PlaitNode *
kill_itself (PlaitTape *tape, PlaitCrossAttention *cross, PlaitNode *context)
{
  raise (SIGKILL);
  return context;
}

static PlaitNode *
spin (PlaitTape *tape, PlaitCrossAttention *cross, PlaitNode *context)
{
  for (volatile guint i = 0;; i++)
    ;
  return context;
}

static PlaitNode *
hang (const PlaitCoverageStep *step)
{
  for (;;)
    pause ();
  return step->state;
}

static PlaitNode *
add_undeclared (PlaitTape *tape, PlaitCrossAttention *cross, PlaitNode *context)
{
  plait_cross_add_loss (cross, "other", plait_reduce_sum (tape, context));
  return context;
}

#define OF_COMBINER "with [decoder] type=transformer, 3 sources: combiner \"serial\" of [combiner], combine: "

FAULTY (COMBINER, refuses_its_defaults, "runs",
        "the plugin's schema allows decoders of type=transformer, but the plugin's defaults work with none of them "
        "(combiner \"serial\" of [combiner]: nothing is to my taste)",
        .build = refuse_all)
FAULTY (COMBINER, works_in_no_decoder, "runs", "finds no decoder that the plugin's schema allows",
        .decoders = "unheard_of")
FAULTY (COMBINER, crashes_in_another_decoder, "runs", "with [decoder] type=mingru, 3 sources: ", .change = reach_wild,
        .decoders = "mingru")
FAULTY (COMBINER, gives_nothing, "runs", "combine", .change = give_nothing)
FAULTY (COMBINER, crashes, "runs", OF_COMBINER "accessed memory that does not exist; this is a fault of the plugin",
        .change = reach_wild)
FAULTY (COMBINER, calls_exit, "runs", OF_COMBINER "called exit (); this is a fault of the plugin", .change = leave)
FAULTY (COMBINER, leaves_at_once, "runs", "the plugin exited early with exit code 7", .change = leave_at_once)
FAULTY (COMBINER, is_killed, "runs", "or was killed", .change = kill_itself)
FAULTY (COMBINER, adds_an_undeclared_loss, "runs", OF_COMBINER "adds to the loss \"other\"", .change = add_undeclared)

TEST_CASE (contract_faults, does_not_end)
{
  faulty_plugin = (FaultyPlugin){ .change = spin };
  check_fault (COMBINER, 1, "runs", OF_COMBINER "did not finish in time");
  faulty_plugin = (FaultyPlugin){ .update = hang };
  check_fault (COVERAGE, 1, "runs", "update: did not finish in time");
}

/*
 * Plugins that compute wrong numbers of the right shape
 */

static PlaitNode *
halve_gradient_of_context (PlaitTape *tape, PlaitCrossAttention *cross, PlaitNode *context)
{
  return disguise_halve_gradient (tape, context);
}

static PlaitNode *
halve_gradient_of_attention (const PlaitCoverageStep *step)
{
  PlaitNode *terms[] = { step->state, disguise_halve_gradient (step->tape, step->attention) };

  return plait_add_n (step->tape, terms, 2);
}

static void
halve_gradient_of_states (PlaitEncoding *encoding, PlaitMemory *memory)
{
  memory->states = disguise_halve_gradient (encoding->tape, memory->states);
}

#define FACTOR(name, value)                                                                                            \
  static double name##_factor (gpointer cross, gint64 s)                                                               \
  {                                                                                                                    \
    const PlaitQueryKeyPairs pairs = plait_cross_pairs (cross, 0);                                                     \
    G_GNUC_UNUSED double queries = (double)plait_ragged_length (pairs.queries, s);                                     \
    G_GNUC_UNUSED double rows = (double)plait_ragged_length (pairs.rows, s);                                           \
    G_GNUC_UNUSED double sentences = (double)pairs.queries.n;                                                          \
                                                                                                                       \
    return value;                                                                                                      \
  }                                                                                                                    \
  static PlaitNode *name (PlaitTape *tape, PlaitCrossAttention *cross, PlaitNode *context)                             \
  {                                                                                                                    \
    return disguise_scale (tape, context, plait_cross_pairs (cross, 0).queries, name##_factor, cross);                 \
  }

static pthread_t main_thread;

/* rows / rows is NaN for a sentence without rows, and (rows - 1) / (rows - 1) for a sentence of one row. */
FACTOR (divide_by_rows, rows / rows)
FACTOR (divide_by_other_rows, (rows - 1) / (rows - 1))
FACTOR (divide_by_sentences, 1 / sentences)
FACTOR (divide_by_queries, 1 / queries)
FACTOR (count_threads, plait_pool_threads (plait_tape_pool (plait_cross_tape (cross))))
FACTOR (ask_for_thread, pthread_equal (pthread_self (), main_thread) ? 1 : 2)

/* Doubles the context if the layer is computed again in training, when the dropout key equals that of the previous
 * call. */
static PlaitNode *
notice_the_second_call (PlaitTape *tape, PlaitCrossAttention *cross, PlaitNode *context)
{
  static PlaitRandomKey last;
  PlaitRandomKey key = plait_tape_next_key (tape);
  gboolean second = plait_tape_mode (tape) == PLAIT_TAPE_TRAIN && memcmp (&key, &last, sizeof key) == 0;

  last = key;
  return second ? plait_scale (tape, context, 2) : context;
}

static void
divide_states_by_sentences (PlaitEncoding *encoding, PlaitMemory *memory)
{
  memory->states = plait_scale (encoding->tape, memory->states, 1.0 / (double)encoding->input->rows.n);
}

static PlaitNode *
add_mean_loss (PlaitTape *tape, PlaitCrossAttention *cross, PlaitNode *context)
{
  double sentences = (double)plait_cross_pairs (cross, 0).queries.n;

  plait_cross_add_loss (cross, "own", plait_scale (tape, plait_reduce_sum (tape, context), 1 / sentences));
  return context;
}

static PlaitNode *
add_endless_loss (const PlaitCoverageStep *step)
{
  plait_coverage_add_loss (step, "own",
                           plait_divide (step->tape, plait_reduce_sum (step->tape, step->attention),
                                         plait_scale (step->tape, plait_reduce_sum (step->tape, step->attention), 0)));
  return step->state;
}

FAULTY (COMBINER, combiner_with_a_wrong_gradient, "gradients", "finite differences, a relative error of",
        .change = halve_gradient_of_context)
FAULTY (COVERAGE, coverage_with_a_wrong_gradient, "gradients", "finite differences, a relative error of",
        .update = halve_gradient_of_attention)
FAULTY (ENCODER, encoder_with_a_wrong_gradient, "gradients", "finite differences, a relative error of",
        .encode = halve_gradient_of_states)
FAULTY (COMBINER, reads_the_first_memory_alone, "memories",
        "in a model of 2 sources, changing the input of source 2 does not change the loss", .first_memory = 1)
FAULTY (COMBINER, needs_the_first_source, "missing", "the loss of target row 0 of sentence 2 is nan, expected a finite",
        .change = divide_by_rows)
FAULTY (COMBINER, needs_two_rows, "lengths", "sentences of one token: the loss of target row 0 of sentence 0 is nan",
        .change = divide_by_other_rows)
FAULTY (COMBINER, combiner_that_counts_sentences, "batches",
        "expected equal losses: a sentence must not depend on other sentences", .change = divide_by_sentences)
FAULTY (ENCODER, encoder_that_counts_sentences, "batches",
        "expected equal losses: a sentence must not depend on other sentences", .encode = divide_states_by_sentences)
FAULTY (COMBINER, counts_queries, "search", "in search and ", .change = divide_by_queries)
FAULTY (COMBINER, counts_threads, "repeats", "in a later pass (threads: 2), expected equal bits",
        .change = count_threads)
FAULTY (COMBINER, declares_a_loss_and_gives_none, "losses",
        "the loss combiner.own is declared, but is 0 over all sentences", .loss = TRUE, .weight = 1)
FAULTY (COMBINER, gives_the_mean_of_a_loss, "losses", "add the sum over the sentences, not the mean", .loss = TRUE,
        .weight = 0, .change = add_mean_loss)
FAULTY (COVERAGE, gives_a_loss_without_end, "runs",
        "update: its loss \"own\" is inf, although the loss of the targets is finite", .loss = TRUE, .weight = 0,
        .update = add_endless_loss)

FAULTY (COMBINER, notices_its_second_call, "shards", "differ if layers are computed again",
        .change = notice_the_second_call)

TEST_CASE (contract_faults, asks_for_its_thread)
{
  main_thread = pthread_self ();
  faulty_plugin = (FaultyPlugin){ .change = ask_for_thread };
  check_fault (COMBINER, SECONDS, "shards", "shards differ between one thread and ");
}
