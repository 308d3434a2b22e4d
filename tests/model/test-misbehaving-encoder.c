/* SPDX-License-Identifier: MIT */
#include "misbehaving.h"

/* Defines a faulty encoder and its test: the name of the plugin, the code that is wrong, and the message after the
 * plugin's name. */
#define ENCODER_BUILD(name, deed, sentence)                                                                            \
  FUNCTION (gboolean, name, (const PlaitEncoderBuild *build, PlaitEncoderShape *shape, GError **error), TRUE, deed)    \
  TEST_CASE (misbehaving_encoders, name)                                                                               \
  {                                                                                                                    \
    faulty_plugin = (FaultyPlugin){ .encoder = name };                                                                 \
    check_fault (TRANSFORMER, ENCODER, sentence);                                                                      \
  }
#define ENCODE_WITH(structure, name, deed, sentence)                                                                   \
  FUNCTION (void, name, (PlaitEncoding * encoding, PlaitTape * tape, PlaitMemory * memory), , deed)                    \
  TEST_CASE (misbehaving_encoders, name)                                                                               \
  {                                                                                                                    \
    faulty_plugin = (FaultyPlugin){ .encode = name, .promised = structure };                                           \
    check_fault (TRANSFORMER, ENCODER ", encode", sentence);                                                           \
  }
#define ENCODE(name, deed, sentence) ENCODE_WITH (PLAIT_STRUCTURE_NONE, name, deed, sentence)

/* clang-format off */
#define WIDTH (build->model_width)

ENCODER_BUILD (encoder_refuses_without_words, return FALSE, "build returned FALSE without an error")
ENCODER_BUILD (encoder_accepts_with_an_error, FAIL, "build returned TRUE with an error (not to my taste)")
ENCODER_BUILD (no_memories, shape->n_memories = 0, "build declares 0 memories; declare 1 to 4")
ENCODER_BUILD (five_memories, shape->n_memories = 5, "build declares 5 memories; declare 1 to 4")
ENCODER_BUILD (memory_of_no_width, shape->memories[0].width = 0, "build declares memory 0 as 0 wide")
ENCODER_BUILD (memory_of_a_bad_name, shape->memories[0].name = "a b", "build calls a memory \"a b\", which is not a valid name")
ENCODER_BUILD (two_memories_of_a_name, shape->n_memories = 2; shape->memories[1] = shape->memories[0], "build declares two memories without a name")
ENCODER_BUILD (summary_of_less_than_nothing, shape->summary_width = -1, "build declares a summary -1 wide")
ENCODER_BUILD (encoder_with_five_losses, shape->losses.n = 5, "declares 5 losses; a component can have up to 4")
ENCODER_BUILD (encoder_loss_twice, shape->losses.n = 2; shape->losses.losses[1] = shape->losses.losses[0], "declares the loss \"sound\" twice")
ENCODER_BUILD (encoder_loss_of_no_weight, shape->losses.losses[0].weight = INFINITY, "gives its loss \"sound\" the weight inf")
ENCODER_BUILD (encoder_parameter_twice, for (guint i = 0; i < 2; i++) plait_linear_declare (build->parameters, "source/first/a", 2, 2, FALSE), "build: the parameter source/first/a/weight is declared twice")
ENCODER_BUILD (encoder_parameter_of_another, plait_linear_declare (build->parameters, "source/second/a", 2, 2, FALSE), "build: the parameter source/second/a/weight is declared, but its name must begin with source/first/: put this prefix before the name")
ENCODER_BUILD (memory_out_of_this_world, shape->memories[0].width = (gint64)1 << 40, "build declares memory 0 as 1099511627776 wide; give at most 16777216 columns")
ENCODER_BUILD (summary_out_of_this_world, shape->summary_width = G_MAXINT64, "build declares a summary 9223372036854775807 wide; give at most")
ENCODER_BUILD (memory_of_no_structure, shape->memories[0].structure = 1024, "build declares memory 0 with the structure 0x400, which does not exist")

/* Links in a batch of two sentences, which have three rows and two rows. */
#define NONE { -1, -1, -1, -1, -1 }
static const gint64 no_links[] = NONE, outside[] = { 1, -1, 4, -1, -1 }, far[] = { 99, -1, -1, -1, -1 },
                    below[] = { -2, -1, -1, -1, -1 }, itself[] = { 0, -1, -1, -1, -1 }, circle[] = { 1, 2, 0, -1, -1 },
                    level_0[] = { 0, 0, 0, 0, 0 }, no_children[] = { 0, 0, 0, 0, 0 }, many[] = { 9, 0, 0, 0, 0 },
                    endless[] = { G_MAXINT64, 0, 0, 0, 0 }, first[] = { 1, -1, -1, -1, -1 },
                    negative[] = { -3, 0, 0, 0, 0 }, falling[] = { 0, 6, 5 };

static void
link_rows (PlaitTape *tape, PlaitMemory *memory, PlaitLinks links)
{
  PlaitLinks *copy = plait_arena_new_array (plait_tape_arena (tape), PlaitLinks, 1);

  *copy = links;
  memory->links = copy;
}

#define LINKS(...) link_rows (tape, memory, (PlaitLinks){ __VA_ARGS__ })
#define ENCODE_TREE(...) ENCODE_WITH (PLAIT_STRUCTURE_TREE, __VA_ARGS__)
#define ENCODE_LEVELS(...) ENCODE_WITH (PLAIT_STRUCTURE_LEVELS, __VA_ARGS__)

ENCODE (fills_no_memory, *memory = (PlaitMemory){ .states = NULL }, "left a memory unfilled")
ENCODE (starts_without_documents, plait_encoding_starts (encoding), "calls plait_encoding_starts without documents")
ENCODE (fills_without_states, memory->states = NULL, "left a memory unfilled")
ENCODE (fills_for_fewer_sentences, memory->rows.n = 1, "left a memory unfilled: give it states, and rows for each of 2 sentences")
ENCODE (rows_that_fall, memory->rows.offsets = falling, "gave sentence 1 of a memory a negative number of rows")
ENCODE (states_of_fewer_rows, memory->states = FEWER (memory->states), "gave states of a memory of the shape [4, 8], expected [5, 8]")
ENCODE (states_of_another_width, memory->states = NARROWER (memory->states), "gave states of a memory of the shape [5, 7], expected [5, 8]")
ENCODE (cells_of_another_width, memory->cells = NARROWER (memory->states), "gave cells of a memory of the shape [5, 7], expected [5, 8]")
ENCODE (adds_an_undeclared_encoder_loss, plait_encoding_add_loss (encoding, "other", zeros (tape, 1, 1)), "adds to the loss \"other\"")
ENCODE (adds_a_long_encoder_loss, plait_encoding_add_loss (encoding, "sound", zeros (tape, 3, 1)), "the loss \"sound\" is not a node [1, 1]")
ENCODE (adds_no_number_as_an_encoder_loss, plait_encoding_add_loss (encoding, "sound", number (tape, INFINITY)), "its loss \"sound\" is inf, although the loss of the targets is finite")
ENCODE (trees_without_leaves, plait_encoding_tree (encoding), "plait_encoding_tree")
ENCODE (looks_up_words_that_are_none, plait_gather_rows (tape, encoding->embedded, ((gint64[]){ 77 }), 1), "was called with wrong arguments")
ENCODE (links_outside_without_promise, LINKS (.next = outside), "the link \"next\" to row 4, which is not in the same sentence")
ENCODE (tokens_out_of_their_sentence, LINKS (.token = far), "gave row 0 of a memory the link \"token\" to number 99, but there are 3")
ENCODE (tokens_before_the_first, LINKS (.token = below), "gave row 0 of a memory the link \"token\" to number -2")
ENCODE_TREE (tree_without_links, , "gave a memory without the links \"left\"")
ENCODE_TREE (tree_without_parents, LINKS (.left = no_links, .right = no_links), "gave a memory without the links \"parent\"")
ENCODE_TREE (tree_out_of_its_sentence, LINKS (.left = outside, .right = no_links, .parent = no_links), "gave row 2 of a memory the link \"left\" to row 4")
ENCODE_TREE (tree_out_of_the_batch, LINKS (.left = no_links, .right = far, .parent = no_links), "gave row 0 of a memory the link \"right\" to row 99")
ENCODE_TREE (tree_below_all, LINKS (.left = no_links, .right = no_links, .parent = below), "the link \"parent\" to row -2")
ENCODE_TREE (parent_of_itself, LINKS (.left = no_links, .right = no_links, .parent = itself), "gave a memory \"parent\" links with a cycle at row 0")
ENCODE_TREE (circle_of_parents, LINKS (.left = no_links, .right = no_links, .parent = circle), "gave a memory \"parent\" links with a cycle")
ENCODE_LEVELS (levels_without_links, , "gave a memory without the links \"parent\"")
ENCODE_LEVELS (levels_without_children, LINKS (.parent = no_links, .first_child = no_links, .level = level_0), "gave a memory of levels without the links \"n_children\"")
ENCODE_LEVELS (levels_without_level, LINKS (.parent = no_links, .first_child = no_links, .n_children = no_children), "gave a memory of levels without the links \"level\"")
ENCODE_LEVELS (too_many_children, LINKS (.parent = no_links, .first_child = first, .n_children = many, .level = level_0), "gave row 0 of a memory n_children 9")
ENCODE_LEVELS (endless_children, LINKS (.parent = no_links, .first_child = first, .n_children = endless, .level = level_0), " and first_child 1: all children must be in the row's sentence")
ENCODE_LEVELS (children_from_nowhere, LINKS (.parent = no_links, .first_child = no_links, .n_children = many, .level = level_0), "gave row 0 of a memory n_children 9")
ENCODE_LEVELS (less_than_no_children, LINKS (.parent = no_links, .first_child = first, .n_children = negative, .level = level_0), "gave row 0 of a memory n_children -3")
ENCODE_LEVELS (level_below_the_leaves, LINKS (.parent = no_links, .first_child = no_links, .n_children = no_children, .level = negative), "gave row 0 of a memory the level -3")
/* clang-format on */

/* An encoder that declares a structure and does not provide it. */
static gboolean
build_without_structure (const PlaitEncoderBuild *build, PlaitEncoderShape *shape, GError **error)
{
  shape->memories[0].structure = PLAIT_STRUCTURE_NONE;
  return TRUE;
}

static gboolean
build_with_summary (const PlaitEncoderBuild *build, PlaitEncoderShape *shape, GError **error)
{
  shape->summary_width = 4;
  return TRUE;
}

static void
give_wide_summary (PlaitEncoding *encoding, PlaitTape *tape, PlaitMemory *memory)
{
  encoding->summary = zeros (tape, encoding->input->rows.n, 5);
}

TEST_CASE (misbehaving_encoders, promises_that_are_not_kept)
{
  faulty_plugin = (FaultyPlugin){ .encoder = build_without_structure, .promised = PLAIT_STRUCTURE_TREE };
  check_fault (TRANSFORMER, ENCODER,
               "bigru.ini promises memories with tree, which build does not declare for memory 0");
  faulty_plugin.promised = PLAIT_STRUCTURE_LEVELS;
  check_fault (TRANSFORMER, ENCODER,
               "bigru.ini promises memories with levels, which build does not declare for memory 0");
  faulty_plugin = (FaultyPlugin){ .encoder = build_with_summary };
  check_fault (BOTH, ENCODER ", encode", "gave NULL for a summary: give a node [2, 4]");
  faulty_plugin.encode = give_wide_summary;
  check_fault (BOTH, ENCODER ", encode", "gave a summary of the shape [2, 5], expected [2, 4]");
}

static gboolean
refuse_without_words (GError **error)
{
  return FALSE;
}

static gboolean
accept_with_an_error (GError **error)
{
  FAIL;
  return TRUE;
}

TEST_CASE (misbehaving_encoders, refuses_sentences_without_words)
{
  faulty_plugin = (FaultyPlugin){ .check_length = refuse_without_words };
  check_fault (BOTH, ENCODER, "check_length returned FALSE without an error");
  faulty_plugin = (FaultyPlugin){ .check_input = refuse_without_words };
  check_fault (BOTH, ENCODER, "check_input returned FALSE without an error");
}

TEST_CASE (misbehaving_encoders, accepts_sentences_with_an_error)
{
  faulty_plugin = (FaultyPlugin){ .check_length = accept_with_an_error };
  check_fault (BOTH, ENCODER, "check_length returned TRUE with an error (not to my taste): return FALSE with an error");
  faulty_plugin = (FaultyPlugin){ .check_input = accept_with_an_error };
  check_fault (BOTH, ENCODER, "check_input returned TRUE with an error (not to my taste): return FALSE with an error");
}
