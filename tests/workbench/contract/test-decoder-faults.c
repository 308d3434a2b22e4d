/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "disguise.h"
#include "interface/plugin.h"
#include "layers/layers.h"

/* Tests that properties can fail, with decoders and outputs that break their contract in one place each. Together with
 * test-faults.c, every property fails at least once. */

/*
 * Tests of decoders. The valid one has self-attention, a linear recurrence and a cross-attention.
 */

typedef struct
{
  guint attend;
  guint scan;
  guint cross;
  guint unused;
  guint carried;
} Own;

/* Differences of the faulty decoder from the valid one. */
typedef struct
{
  PlaitNode *(*change) (PlaitDecoding *decoding, PlaitTape *tape, PlaitNode *x); /* returns changed states */
  PlaitNode *(*begin) (PlaitDecoding *decoding, PlaitTape *tape); /* returns the carried rows before the first step */
  gboolean two;            /* TRUE: the decoder declares a second cross-attention and does not call it */
  PlaitStructure required; /* structure that the schema requires */
} FaultyDecoder;

static FaultyDecoder faulty_decoder;

static gboolean
build_decoder (PlaitDecoding *decoding, const PlaitDecoderBuild *build, gconstpointer settings, gpointer state,
               GError **error)
{
  const PlaitCrossSettings cross = { .query_width = build->width };
  Own *own = state;

  own->attend = plait_decoding_declare_attend (decoding, "decoder/attend", &(PlaitCausalSettings){ .heads = 2 });
  own->scan = plait_decoding_declare_scan (decoding, build->width);
  own->cross = plait_decoding_declare_cross (decoding, "decoder/combiner/", &cross);
  if (faulty_decoder.two)
    own->unused = plait_decoding_declare_cross (decoding, "decoder/unused/", &cross);
  if (faulty_decoder.begin)
    own->carried = plait_decoding_declare_carried (decoding, build->width);
  return TRUE;
}

static void
begin (PlaitDecoding *decoding, gconstpointer settings, gconstpointer state)
{
  plait_decoding_carry (decoding, ((const Own *)state)->carried,
                        faulty_decoder.begin (decoding, plait_decoding_tape (decoding)));
}

static void
add_carried (PlaitDecoding *decoding, gconstpointer settings, gconstpointer state, PlaitNode *const *inputs,
             PlaitNode **outputs)
{
  const Own *own = state;
  PlaitNode *terms[] = { plait_decoding_carried (decoding, own->carried), inputs[0] };

  outputs[0] = plait_add_n (plait_decoding_tape (decoding), terms, 2);
  plait_decoding_carry (decoding, own->carried, outputs[0]);
}

static PlaitNode *
layer (PlaitDecoding *decoding, gconstpointer settings, gconstpointer state, guint index, PlaitNode *x)
{
  const Own *own = state;
  PlaitTape *tape = plait_decoding_tape (decoding);
  PlaitNode *terms[] = { x, plait_decoding_attend (decoding, own->attend, x) };

  x = plait_add_n (tape, terms, 2);
  x = plait_decoding_scan (decoding, own->scan, plait_activate (tape, x, PLAIT_ACTIVATION_SIGMOID), x);
  return faulty_decoder.change ? faulty_decoder.change (decoding, tape, x) : x;
}

static PlaitNode *
decode (PlaitDecoding *decoding, gconstpointer settings, gconstpointer state, PlaitNode *x)
{
  const Own *own = state;

  x = plait_decoding_layer (decoding, layer, 0, x);
  if (faulty_decoder.begin)
    plait_decoding_steps (decoding, add_carried, (PlaitNode *[]){ x }, 1, &x, 1);
  return plait_decoding_cross (decoding, own->cross, x, NULL).query;
}

#define DECODER(name, failed, words, ...)                                                                              \
  TEST_CASE (contract_decoder_faults, name)                                                                            \
  {                                                                                                                    \
    static const PlaitDecoderTable table                                                                               \
        = { .state_size = sizeof (Own), .build = build_decoder, .begin = begin, .decode = decode };                    \
                                                                                                                       \
    faulty_decoder = (FaultyDecoder){ __VA_ARGS__ };                                                                   \
    disguise_check (&(Disguise){ PLAIT_PLUGIN_DECODER, "transformer", &table, NULL, faulty_decoder.required },         \
                    PLAIT_STRUCTURE_NONE, SECONDS, failed, words);                                                     \
  }

/* Returns @x, in which each row is replaced by the row other (@rows, s, row). */
static PlaitNode *
replace_rows (PlaitTape *tape, PlaitNode *x, PlaitRagged rows, gint64 (*other) (PlaitRagged rows, gint64 s, gint64 row))
{
  gint64 *indices = plait_arena_new_array (plait_tape_arena (tape), gint64, x->value.rows + 1);

  for (gint64 s = 0; s < rows.n; s++)
    for (gint64 row = rows.offsets[s]; row < rows.offsets[s + 1]; row++)
      indices[row] = other (rows, s, row);
  return plait_gather_rows (tape, x, indices, x->value.rows);
}

static gint64
next (PlaitRagged rows, gint64 s, gint64 row)
{
  return MIN (row + 1, rows.offsets[s + 1] - 1);
}

static gint64
last (PlaitRagged rows, gint64 s, gint64 row)
{
  return rows.offsets[s + 1] - 1;
}

static gint64
previous_in_batch (PlaitRagged rows, gint64 s, gint64 row)
{
  return MAX (row - 1, 0);
}

#define OTHER_ROWS(name)                                                                                               \
  static PlaitNode *see_##name (PlaitDecoding *decoding, PlaitTape *tape, PlaitNode *x)                                \
  {                                                                                                                    \
    PlaitNode *terms[] = { x, replace_rows (tape, x, plait_decoding_rows (decoding), name) };                          \
                                                                                                                       \
    return plait_add_n (tape, terms, 2);                                                                               \
  }
OTHER_ROWS (next)
OTHER_ROWS (last)
OTHER_ROWS (previous_in_batch)

/* Defines a function that scales the states of each target by @number. This expression may use targets, the targets of
 * this pass, and rows, the number of rows of the target in this pass. */
#define SCALE(name, number)                                                                                            \
  static double name##_factor (gpointer data, gint64 s)                                                                \
  {                                                                                                                    \
    PlaitDecoding *decoding = data;                                                                                    \
    PlaitRagged targets = plait_decoding_rows (decoding);                                                              \
    G_GNUC_UNUSED double rows = (double)plait_ragged_length (targets, s);                                              \
                                                                                                                       \
    return number;                                                                                                     \
  }                                                                                                                    \
  static PlaitNode *name (PlaitDecoding *decoding, PlaitTape *tape, PlaitNode *x)                                      \
  {                                                                                                                    \
    return disguise_scale (tape, x, plait_decoding_rows (decoding), name##_factor, decoding);                          \
  }

static guint n_calls;

SCALE (count_targets, 1 / (double)targets.n)
SCALE (count_rows, 1 + rows / 100)
SCALE (divide_by_fewer_rows, (rows - 1) / (rows - 1))
SCALE (count_steps, 1 + (double)plait_decoding_first_position (decoding))
SCALE (count_threads, plait_pool_threads (plait_tape_pool (plait_decoding_tape (decoding))))
SCALE (ask_for_mode, plait_tape_mode (plait_decoding_tape (decoding)) == PLAIT_TAPE_EVALUATE ? 2 : 1)
SCALE (count_calls, 1 + ++n_calls / 1000.0)

static PlaitNode *
halve_gradient (PlaitDecoding *decoding, PlaitTape *tape, PlaitNode *x)
{
  return disguise_halve_gradient (tape, x);
}

/* Doubles the states if the layer is computed again in training, when the dropout key equals that of the previous
 * call. */
static PlaitNode *
notice_the_second_call (PlaitDecoding *decoding, PlaitTape *tape, PlaitNode *x)
{
  static PlaitRandomKey before;
  PlaitRandomKey key = plait_tape_next_key (tape);
  gboolean second = plait_tape_mode (tape) == PLAIT_TAPE_TRAIN && memcmp (&key, &before, sizeof key) == 0;

  before = key;
  return second ? plait_scale (tape, x, 2) : x;
}

static PlaitNode *
reach_wild (PlaitDecoding *decoding, PlaitTape *tape, PlaitNode *x)
{
  volatile gsize wild = 64;

  *(int *)wild = 1;
  return x;
}

static PlaitNode *
begin_with_means (PlaitDecoding *decoding, PlaitTape *tape)
{
  return plait_memory_mean (tape, plait_decoding_memory (decoding, 0));
}

static PlaitNode *
begin_with_all (PlaitDecoding *decoding, PlaitTape *tape)
{
  PlaitNode *means = begin_with_means (decoding, tape);

  return replace_rows (tape, means, plait_ragged_units (plait_tape_arena (tape), means->value.rows), previous_in_batch);
}

/* Reads the tree of a memory, which the schema requires. */
static PlaitNode *
begin_with_roots (PlaitDecoding *decoding, PlaitTape *tape)
{
  const PlaitMemory *memory = plait_decoding_memory (decoding, 0);
  gint64 *roots = plait_arena_new_array (plait_tape_arena (tape), gint64, memory->rows.n + 1);

  for (gint64 s = 0; s < memory->rows.n; s++)
    {
      roots[s] = -1;
      for (gint64 row = memory->rows.offsets[s]; row < memory->rows.offsets[s + 1]; row++)
        if (memory->links->parent[row] < 0)
          roots[s] = row;
    }
  return plait_gather_rows (tape, memory->states, roots, memory->rows.n);
}

/* Divides the mean of a memory by itself, which gives NaN if the memory has no rows. */
static PlaitNode *
begin_with_shares (PlaitDecoding *decoding, PlaitTape *tape)
{
  PlaitNode *means = plait_memory_mean (tape, plait_decoding_memory (decoding, 0));

  return plait_divide (tape, means, means);
}

DECODER (sound_decoder, "", "", .change = NULL)
DECODER (sound_decoder_with_carried_rows, "", "", .begin = begin_with_means)
DECODER (sound_decoder_of_trees, "", "", .begin = begin_with_roots, .required = PLAIT_STRUCTURE_TREE)
DECODER (sees_the_next_row, "search causal", "in search and", .change = see_next)
DECODER (sees_the_last_row, "search causal", "in search and", .change = see_last)
DECODER (sees_the_target_before, "batches search", "a sentence must not depend on other sentences",
         .change = see_previous_in_batch)
DECODER (counts_targets, "batches search", "a sentence must not depend on other sentences", .change = count_targets)
DECODER (counts_rows, "search", "in search and", .change = count_rows)
DECODER (counts_steps, "search", "in search and", .change = count_steps)
DECODER (needs_two_rows, "lengths search", "is nan", .change = divide_by_fewer_rows)
DECODER (has_a_wrong_gradient, "gradients", "finite differences, a relative error of", .change = halve_gradient)
DECODER (counts_threads, "repeats", "in a later pass (threads: 2), expected equal bits", .change = count_threads)
DECODER (counts_its_calls, "gradients batches search causal repeats shards", "correct the backward function",
         .change = count_calls)
DECODER (evaluates_otherwise, "search", "in training", .change = ask_for_mode)
DECODER (notices_its_second_call, "shards", "differ if layers are computed again", .change = notice_the_second_call)
DECODER (declares_a_cross_attention_too_many, "runs", "declares cross-attention 1 and does not call", .two = TRUE)
DECODER (crashes, "runs", "decode: accessed memory that does not exist; this is a fault of the plugin",
         .change = reach_wild)
DECODER (begins_with_another_sentence, "batches", "a sentence must not depend on other sentences",
         .begin = begin_with_all)
DECODER (begins_with_shares_of_a_source, "missing", "expected a finite", .begin = begin_with_shares)

/*
 * Tests of outputs. The valid one copies words of all sources, with a gate.
 */

typedef struct
{
  PlaitLinear gate;
} OwnOutput;

/* Difference of the faulty output from the valid one. */
static void (*faulty_output) (PlaitOutputPass *pass, PlaitTape *tape);

static gboolean
build_output (const PlaitOutputBuild *build, gconstpointer settings, gpointer state, PlaitOutputShape *shape,
              GError **error)
{
  OwnOutput *own = state;
  g_autofree char *gate = g_strconcat (build->prefix, "gate", NULL);

  plait_output_declare_table (build, shape);
  own->gate = plait_linear_declare (build->parameters, gate, build->state_width, 1, TRUE);
  for (guint m = 0; m < build->n_memories; m++)
    shape->copies[m] = build->memories[m].has_words;
  return TRUE;
}

static void
output (gconstpointer settings, gconstpointer state, PlaitOutputPass *pass)
{
  const OwnOutput *own = state;

  pass->logit_states = pass->states;
  pass->gate = plait_linear_apply (pass->tape, &own->gate, pass->states, PLAIT_ACTIVATION_NONE);
  for (guint m = 0; m < pass->n_memories; m++)
    pass->copied[m] = pass->attention[m].weights;
  if (faulty_output)
    faulty_output (pass, pass->tape);
}

#define OUTPUT(name, failed, words, deed)                                                                              \
  static void name (PlaitOutputPass *pass, PlaitTape *tape)                                                            \
  {                                                                                                                    \
    deed;                                                                                                              \
  }                                                                                                                    \
  TEST_CASE (contract_output_faults, name)                                                                             \
  {                                                                                                                    \
    static const PlaitOutputTable table                                                                                \
        = { .state_size = sizeof (OwnOutput), .build = build_output, .output = output };                               \
                                                                                                                       \
    faulty_output = name;                                                                                              \
    disguise_check (&(Disguise){ PLAIT_PLUGIN_OUTPUT, "pointer", &table }, PLAIT_STRUCTURE_NONE, SECONDS, failed,      \
                    words);                                                                                            \
  }

#define ROWS (pass->attention[0].pairs.queries)
#define CHANGE(node, factor) ((node) = plait_scale (tape, node, factor))

/* clang-format off */
OUTPUT (sound_output, "", "", (void)tape)
OUTPUT (copies_nothing, "", "", for (guint m = 0; m < pass->n_memories; m++) CHANGE (pass->copied[m], 0))
OUTPUT (predicts_from_the_next_row, "search causal", "in search and", pass->logit_states = replace_rows (tape, pass->states, ROWS, next))
OUTPUT (gates_by_the_last_row, "search causal", "in search and", pass->gate = replace_rows (tape, pass->gate, ROWS, last))
OUTPUT (gates_by_other_sentences, "batches search", "a sentence must not depend on other sentences", pass->gate = replace_rows (tape, pass->gate, ROWS, previous_in_batch))
OUTPUT (counts_rows_of_the_pass, "batches search", "a sentence must not depend on other sentences", CHANGE (pass->logit_states, 1 / (double)pass->states->value.rows))
OUTPUT (has_a_wrong_gradient_of_states, "gradients", "finite differences", pass->logit_states = disguise_halve_gradient (tape, pass->states))
OUTPUT (has_a_wrong_gradient_of_the_gate, "gradients", "finite differences", pass->gate = disguise_halve_gradient (tape, pass->gate))
OUTPUT (copies_with_a_wrong_gradient, "gradients", "finite differences", pass->copied[0] = disguise_halve_gradient (tape, pass->copied[0]))
OUTPUT (copies_less_than_nothing, "runs", "give weights of at least 0", CHANGE (pass->copied[2], -1))
OUTPUT (gates_without_end, "runs", "contains nan, though the loss is finite", pass->gate = plait_divide (tape, pass->gate, plait_scale (tape, pass->gate, 0)))
OUTPUT (generates_in_training_only, "search", "in training", if (plait_tape_mode (tape) == PLAIT_TAPE_EVALUATE) CHANGE (pass->gate, -1))
OUTPUT (sharpens_in_search, "search", "in training", if (plait_tape_mode (tape) == PLAIT_TAPE_EVALUATE) CHANGE (pass->logit_states, 3))
OUTPUT (copies_by_threads, "repeats", "in a later pass (threads: 2), expected equal bits", CHANGE (pass->copied[0], plait_pool_threads (plait_tape_pool (tape))))
OUTPUT (counts_words, "batches search", "a sentence must not depend on other sentences", CHANGE (pass->gate, 1 / (1 + (double)pass->copied[0]->value.rows)))
/* clang-format on */
