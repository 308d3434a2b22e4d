/* SPDX-License-Identifier: MIT */
#include "misbehaving.h"

/* Defines a faulty combiner and its test: the name of the plugin, the code that is wrong, and the message after the
 * plugin's name. */
#define COMBINER_BUILD(name, deed, sentence)                                                                           \
  FUNCTION (gboolean, name, (PlaitCrossAttention * cross, GError * *error), TRUE, deed)                                \
  TEST_CASE (misbehaving_combiner_builds, name)                                                                        \
  {                                                                                                                    \
    faulty_plugin = (FaultyPlugin){ .cross = name };                                                                   \
    check_fault (BOTH, COMBINER, sentence);                                                                            \
  }
#define COMBINE_IN(decoders, name, deed, sentence)                                                                     \
  FUNCTION (PlaitResidualStream, name, (PlaitCrossAttention * cross, PlaitTape * tape, PlaitResidualStream x), x,      \
            deed)                                                                                                      \
  TEST_CASE (misbehaving_combiners, name)                                                                              \
  {                                                                                                                    \
    faulty_plugin = (FaultyPlugin){ .combine = name };                                                                 \
    check_fault (decoders, COMBINER ", combine", sentence);                                                            \
  }
#define COMBINE(name, deed, sentence) COMBINE_IN (BOTH, name, deed, sentence)

/*
 * Combiners whose declarations are invalid
 */

#define ATTEND(...)                                                                                                    \
  plait_cross_declare_attend (cross, 0, &(PlaitAttendSettings){ PLAIT_DECODER_DROPOUT_RATES, __VA_ARGS__ })
#define NAMED(...) plait_cross_declare_attend (cross, 0, &(PlaitAttendSettings){ .name = "a", __VA_ARGS__ })
#define JOINTLY(...)                                                                                                   \
  plait_cross_declare_attend_jointly (cross, &(PlaitAttendSettings){ PLAIT_DECODER_DROPOUT_RATES, __VA_ARGS__ })
#define PARAMETER(name, rows, width)                                                                                   \
  plait_parameters_declare (plait_cross_parameters (cross), name, rows, width, PLAIT_ZEROS)
#define OWN_NAME own_name (cross)
#define OWN(rows, width, initial)                                                                                      \
  plait_parameters_declare (plait_cross_parameters (cross), OWN_NAME, rows, width, initial)
#define NOTHING ((PlaitContext){ NULL, NULL, NULL })
#define NO_QUERY ((PlaitResidualStream){ NULL, NULL })

/* Returns a valid name for a parameter of @cross. Its memory is not leaked if the combiner fails. */
static const char *
own_name (PlaitCrossAttention *cross)
{
  return plait_parameters_text (plait_cross_parameters (cross), plait_test_format ("%sa", plait_cross_prefix (cross)));
}

/* clang-format off */
COMBINER_BUILD (combiner_build_refuses_without_words, return FALSE, "build returned FALSE without an error: set an error")
COMBINER_BUILD (combiner_build_accepts_with_an_error, FAIL, "build returned TRUE with an error (not to my taste)")
COMBINER_BUILD (combiner_build_refuses, FAIL; return FALSE, "not to my taste")
COMBINER_BUILD (slot_twice, plait_cross_declare_residual (cross, 0), "plait_cross_declare_residual: declares slot 0, but the next slot is 2")
COMBINER_BUILD (slot_left_out, plait_cross_declare_residual (cross, 3), "plait_cross_declare_residual: declares slot 3, but the next slot is 2")
COMBINER_BUILD (slots_without_end, for (guint i = 2; i < 300; i++) plait_cross_declare_residual (cross, i), "declares slot 256, but the next slot is 256 of at most 256")
COMBINER_BUILD (attention_twice, ATTEND (), "plait_cross_declare_attend: declares the same attention twice: declare each once, or give it a name")
COMBINER_BUILD (named_attention_twice, ATTEND (.name = "a"); ATTEND (.name = "a"), "declares the same attention twice: a")
COMBINER_BUILD (attention_of_a_bad_name, ATTEND (.name = "../a"), "plait_cross_declare_attend: \"../a\" cannot name an attention")
COMBINER_BUILD (attention_without_letters, ATTEND (.name = ""), "\"\" cannot name an attention")
COMBINER_BUILD (attention_of_a_taken_name, ATTEND (.name = "sentinel"), "\"sentinel\" cannot name an attention")
COMBINER_BUILD (attentions_without_end, for (guint i = 0; i < 300; i++) ATTEND (.name = ((char[]){ 'a', (char)('a' + i / 20), (char)('a' + i % 20), '\0' })), "declares more than 256 attentions")
COMBINER_BUILD (attention_to_no_memory, plait_cross_declare_attend (cross, 9, &(PlaitAttendSettings){ PLAIT_DECODER_DROPOUT_RATES, .name = "a" }), "plait_cross_declare_attend: there is no memory 9; memories are numbered 0 to 1")
COMBINER_BUILD (rows_of_no_memory, plait_cross_declare_rows (cross, 2), "plait_cross_declare_rows: there is no memory 2")
COMBINER_BUILD (looks_at_no_memory, plait_cross_memory (cross, 2), "plait_cross_memory: there is no memory 2")
COMBINER_BUILD (dropout_of_no_number, NAMED (.dropout = NAN), "asks for dropout=nan")
COMBINER_BUILD (dropout_of_all, NAMED (.dropout = 1), "asks for dropout=1")
COMBINER_BUILD (output_dropout_of_no_number, NAMED (.output_dropout = NAN), "output_dropout=nan")
COMBINER_BUILD (weights_of_all, JOINTLY (.weights = TRUE), "plait_cross_declare_attend_jointly: asks for weights, but only attention to one memory returns weights")
COMBINER_BUILD (name_of_all, JOINTLY (.name = "a"), "plait_cross_declare_attend_jointly: has the name \"a\", but only attention to one memory can have a name: leave name at NULL")
COMBINER_BUILD (name_of_contexts, plait_cross_declare_attend_contexts (cross, &(PlaitAttendSettings){ PLAIT_DECODER_DROPOUT_RATES, .name = "a" }), "plait_cross_declare_attend_contexts: has the name \"a\", but only attention to one memory can have a name")
COMBINER_BUILD (jointly_twice, JOINTLY (); JOINTLY (), "plait_cross_declare_attend_jointly: declares the same attention twice: declare each once")
COMBINER_BUILD (heads_that_do_not_fit, ATTEND (.name = "a", .heads = 3), "3 heads ")
COMBINER_BUILD (sentinel_of_one_memory, ATTEND (.name = "a", .sentinel = TRUE), "cannot have a sentinel")
COMBINER_BUILD (five_losses, for (guint i = 0; i < 4; i++) plait_cross_declare_loss (cross, &"abcd"[i], 1), "declares 5 losses; a component can have up to 4")
COMBINER_BUILD (combiner_build_loss_twice, plait_cross_declare_loss (cross, "sound", 1), "declares the loss \"sound\" twice")
COMBINER_BUILD (combiner_build_loss_of_no_name, plait_cross_declare_loss (cross, NULL, 1), "declares a loss \"\", which is not a valid name")
COMBINER_BUILD (combiner_build_loss_of_a_bad_name, plait_cross_declare_loss (cross, "a/b", 1), "declares a loss \"a/b\", which is not a valid name")
COMBINER_BUILD (combiner_build_loss_of_no_weight, plait_cross_declare_loss (cross, "a", NAN), "gives its loss \"a\" the weight nan")
COMBINER_BUILD (parameter_without_name, PARAMETER ("", 1, 1), "build: \"\" is not a valid name for a parameter")
COMBINER_BUILD (parameter_outside, PARAMETER ("a/../b", 1, 1), "build: \"a/../b\" is not a valid name for a parameter")
COMBINER_BUILD (parameter_twice, OWN (2, 2, PLAIT_ZEROS); OWN (2, 2, PLAIT_ZEROS), "combiner/a is declared twice")
COMBINER_BUILD (parameter_of_another, PARAMETER ("decoder/own", 1, 1), "build: the parameter decoder/own is declared, but its name must begin with decoder/")
COMBINER_BUILD (parameter_out_of_this_world, OWN ((gint64)1 << 40, (gint64)1 << 40, PLAIT_ZEROS), "combiner/a is declared as [1099511627776, 1099511627776], which no machine has memory for")
COMBINER_BUILD (begins_in_no_way, OWN (2, 2, ((PlaitInitial){ .kind = 77 })), "combiner/a has initial values of kind 77, which does not exist")
COMBINER_BUILD (begins_with_no_number, OWN (2, 2, PLAIT_NORMAL (NAN)), "combiner/a has initial values of size nan")
COMBINER_BUILD (begins_without_end, OWN (2, 2, PLAIT_UNIFORM (INFINITY)), "combiner/a has initial values of size inf")
COMBINER_BUILD (begins_below_nothing, OWN (2, 2, PLAIT_NORMAL (-1)), "combiner/a has initial values of size -1")
COMBINER_BUILD (blocks_that_do_not_divide, OWN (1, 2, PLAIT_BLOCKS (1, 50, 99, 3)), "combiner/a [1, 2] cannot be divided into 3 blocks side by side")
COMBINER_BUILD (blocks_that_are_none, OWN (1, 2, PLAIT_BLOCKS (1, 50, 99, 2)), "combiner/a has initial values in blocks 50 to 99, but has 2 blocks")
COMBINER_BUILD (blocks_the_wrong_way_round, OWN (1, 4, PLAIT_BLOCKS (1, 1, 0, 2)), "combiner/a has initial values in blocks 1 to 0, but has 2 blocks")
COMBINER_BUILD (blocks_of_no_number, OWN (1, 4, PLAIT_BLOCKS (NAN, 0, 0, 2)), "combiner/a has initial values of size nan")
COMBINER_BUILD (glorot_of_too_many, OWN (2, 2, PLAIT_GLOROT_BLOCKS (3)), "combiner/a [2, 2] cannot be divided into 3 blocks side by side")
COMBINER_BUILD (orthogonal_and_not_square, OWN (2, 3, PLAIT_ORTHOGONAL (1, 1)), "combiner/a [2, 3] has orthogonal initial values, but its blocks are not square")
COMBINER_BUILD (orthogonal_of_too_many, OWN (2, 6, PLAIT_ORTHOGONAL (3, 4)), "combiner/a [2, 6] cannot be divided into 3 blocks side by side and 4 above one another")
COMBINER_BUILD (linear_of_no_blocks, plait_linear_declare_blocks (plait_cross_parameters (cross), OWN_NAME, 2, 2, 0, FALSE), "plait_linear_declare_blocks was called with wrong arguments")
COMBINER_BUILD (positions_in_no_way, plait_positions_declare (plait_cross_parameters (cross), OWN_NAME, 77, 4, 4), "plait_positions_declare was called with wrong arguments")
COMBINER_BUILD (positions_of_no_width, plait_positions_declare (plait_cross_parameters (cross), OWN_NAME, PLAIT_POSITIONS_HALVES, 4, -4), "plait_positions_declare was called with wrong arguments")
COMBINER_BUILD (positions_without_end, plait_positions_declare (plait_cross_parameters (cross), OWN_NAME, PLAIT_POSITIONS_HALVES, 4, (gint64)1 << 62), "plait_positions_declare was called with wrong arguments")
COMBINER_BUILD (feeds_by_no_activation, plait_feed_forward_declare (plait_cross_parameters (cross), OWN_NAME, 2, 2, 77, 0), "plait_feed_forward_declare was called with wrong arguments")
COMBINER_BUILD (feeds_by_a_choice_that_is_none, plait_feed_forward_declare (plait_cross_parameters (cross), OWN_NAME, 2, 2, plait_feed_forward_activation (77), 0), "plait_feed_forward_declare was called with wrong arguments")
COMBINER_BUILD (cell_of_no_kind, plait_cell_declare (plait_cross_parameters (cross), OWN_NAME, &(PlaitCellDeclaration){ .kind = 77, .input_width = 2, .width = 2 }), "plait_cell_declare was called with wrong arguments")
COMBINER_BUILD (cell_of_no_reset, plait_cell_declare (plait_cross_parameters (cross), OWN_NAME, &(PlaitCellDeclaration){ .reset = 77, .input_width = 2, .width = 2 }), "plait_cell_declare was called with wrong arguments")
COMBINER_BUILD (cell_that_forgets_no_number, plait_cell_declare (plait_cross_parameters (cross), OWN_NAME, &(PlaitCellDeclaration){ .kind = PLAIT_CELL_LSTM, .input_width = 2, .width = 2, .forget_bias = NAN }), "has initial values of size nan")
COMBINER_BUILD (stack_of_less_than_nothing, plait_recurrent_stack_declare (plait_cross_parameters (cross), OWN_NAME, &(PlaitRecurrentStackDeclaration){ .layers = -1, .cell = { .input_width = 2, .width = 2 } }), "plait_recurrent_stack_declare was called with wrong arguments")
COMBINER_BUILD (stack_without_end, plait_recurrent_stack_declare (plait_cross_parameters (cross), OWN_NAME, &(PlaitRecurrentStackDeclaration){ .layers = (gint64)1 << 60, .cell = { .input_width = 2, .width = 2 } }), "plait_recurrent_stack_declare was called with wrong arguments")
COMBINER_BUILD (stack_in_no_direction, plait_recurrent_stack_declare (plait_cross_parameters (cross), OWN_NAME, &(PlaitRecurrentStackDeclaration){ .layers = 1, .directions = 77, .cell = { .input_width = 2, .width = 2 } }), "plait_recurrent_stack_declare was called with wrong arguments")
COMBINER_BUILD (tree_unit_of_no_kind, plait_tree_unit_declare (plait_cross_parameters (cross), OWN_NAME, &(PlaitTreeUnitDeclaration){ .kind = 77, .width = 2 }), "plait_tree_unit_declare was called with wrong arguments")
COMBINER_BUILD (pyramid_of_less_than_nothing, plait_pyramid_declare (plait_cross_parameters (cross), OWN_NAME, &(PlaitPyramidDeclaration){ .block = 2, .levels = -1 }), "plait_pyramid_declare was called with wrong arguments")
COMBINER_BUILD (attention_of_no_heads, plait_attention_declare_self (plait_cross_parameters (cross), OWN_NAME, &(PlaitAttentionDeclaration){ .width = 2 }), "plait_attention_declare_self was called with wrong arguments")
COMBINER_BUILD (attention_that_is_not_asked_for, plait_cross_declare_attend (cross, 0, NULL), "plait_cross_declare_attend: the settings of the attention are NULL")
COMBINER_BUILD (projections_of_no_kind, NAMED (.projections = 77), "asks for unknown projections 77")
COMBINER_BUILD (allocates_by_itself, plait_parameters_allocate (plait_cross_parameters (cross), NULL), "build: calls plait_parameters_allocate, which only the host may call")
COMBINER_BUILD (frees_what_is_the_hosts, plait_parameters_free (plait_cross_parameters (cross)), "build: calls plait_parameters_free, which only the host may call")
COMBINER_BUILD (parameter_of_nothing, PARAMETER ("a", 0, 4), "build: the parameter a is declared as [0, 4]")
COMBINER_BUILD (linear_of_nothing, plait_linear_declare (plait_cross_parameters (cross), "a", -1, 4, TRUE), "build: the parameter a/weight is declared as [-1, 4]")
COMBINER_BUILD (takes_the_tape_in_build, plait_cross_tape (cross), "calls plait_cross_tape in build")
COMBINER_BUILD (normalises_in_build, plait_cross_normalise (cross, 0, NO_QUERY), "calls plait_cross_normalise in build")
COMBINER_BUILD (attends_in_build, plait_cross_attend (cross, 0, NO_QUERY), "calls plait_cross_attend_named in build")
COMBINER_BUILD (attends_jointly_in_build, plait_cross_attend_jointly (cross, NO_QUERY), "calls plait_cross_attend_jointly in build")
COMBINER_BUILD (attends_contexts_in_build, plait_cross_attend_contexts (cross, NO_QUERY, &NOTHING), "calls plait_cross_attend_contexts in build")
COMBINER_BUILD (sums_in_build, plait_cross_sum (cross, &NOTHING, 1), "calls plait_cross_sum in build")
COMBINER_BUILD (adds_in_build, plait_cross_residual (cross, 0, NO_QUERY, NOTHING), "calls plait_cross_residual in build")
COMBINER_BUILD (reads_rows_in_build, plait_cross_rows (cross, 0), "calls plait_cross_rows in build")
COMBINER_BUILD (pairs_in_build, plait_cross_pairs (cross, 0), "calls plait_cross_pairs in build")
COMBINER_BUILD (prepared_in_build, plait_cross_prepared (cross, 0), "calls plait_cross_prepared in build")
COMBINER_BUILD (heads_in_build, plait_cross_heads (cross, NULL, 0), "calls plait_cross_heads in build")
COMBINER_BUILD (weighs_in_build, plait_cross_sparse_weights (cross, NULL, 0, NO_QUERY, NULL), "calls plait_cross_sparse_weights in build")
COMBINER_BUILD (reads_in_build, plait_cross_sparse_context (cross, NULL, 0, NULL, NULL), "calls plait_cross_sparse_context in build")
COMBINER_BUILD (descends_in_build, plait_cross_descend (cross, NULL, 0, NO_QUERY, 1, FALSE), "calls plait_cross_descend in build")
COMBINER_BUILD (loss_in_build, plait_cross_add_loss (cross, "sound", NULL), "calls plait_cross_add_loss in build")

/*
 * Combiners that do not run as they declared
 */

#define Q ((PlaitResidualStream){ x.query, NULL })
#define ALL_QUERIES (x.query->value.rows)

COMBINE (gives_nothing, return NO_QUERY, "gave NULL for a ")
COMBINE (gives_too_few_rows, x.context = plait_cross_attend (cross, 0, x).value; return ((PlaitResidualStream){ FEWER (x.query), FEWER (x.context) }), "gave a ")
COMBINE (gives_too_few_columns, x.context = plait_cross_attend (cross, 0, x).value; return ((PlaitResidualStream){ NARROWER (x.query), NARROWER (x.context) }), "expected [")
COMBINE_IN (RECURRENT, gives_no_context, return x, "gave NULL for a context")
COMBINE (attends_twice, plait_cross_attend (cross, 0, x); plait_cross_attend (cross, 0, x), "plait_cross_attend_named: this attention is called twice in a pass")
COMBINE (attends_by_another_name, plait_cross_attend_named (cross, "other", 0, x), "plait_cross_attend_named: no attention to this memory called other was declared")
COMBINE (attends_jointly_undeclared, plait_cross_attend_jointly (cross, x), "plait_cross_attend_jointly: no attention jointly without a name was declared")
COMBINE (attends_contexts_undeclared, plait_cross_attend_contexts (cross, x, &NOTHING), "plait_cross_attend_contexts: no attention over contexts without a name was declared")
COMBINE (attends_no_memory, plait_cross_attend (cross, 9, x), "there is no memory 9; memories are numbered 0 to 1")
COMBINE (attends_without_query, plait_cross_attend (cross, 0, NO_QUERY), "plait_cross_attend_named: the query does not have the shape [")
COMBINE (attends_with_fewer, plait_cross_attend (cross, 0, ((PlaitResidualStream){ FEWER (x.query), NULL })), "plait_cross_attend_named: the query does not have the shape [")
COMBINE (normalises_another_slot, plait_cross_normalise (cross, 9, x), "plait_cross_normalise: slot 9 was not declared")
COMBINE (normalises_nothing, plait_cross_normalise (cross, 0, NO_QUERY), "plait_cross_normalise: the query does not have the shape [")
COMBINE (adds_to_another_slot, plait_cross_residual (cross, 9, x, plait_cross_attend (cross, 0, x)), "plait_cross_residual: slot 9 was not declared")
COMBINE (adds_nothing, plait_cross_residual (cross, 0, x, NOTHING), "plait_cross_residual: context 0 does not have the shape [")
COMBINE (adds_to_nothing, plait_cross_residual (cross, 0, NO_QUERY, plait_cross_attend (cross, 0, x)), "plait_cross_residual: the query does not have the shape [")
COMBINE (sums_nothing, plait_cross_sum (cross, NULL, 0), "plait_cross_sum: receives no contexts")
COMBINE (sums_no_context, plait_cross_sum (cross, &NOTHING, 1), "plait_cross_sum: context 0 does not have the shape [")
COMBINE (asks_for_undeclared_queries, plait_cross_sentences (cross), "calls plait_cross_sentences without plait_cross_declare_queries: call that in build")
COMBINE (reads_undeclared_rows, plait_cross_rows (cross, 0), "plait_cross_rows: the rows of memory 0 were not declared")
COMBINE (reads_rows_of_no_memory, plait_cross_rows (cross, 7), "there is no memory 7")
COMBINE (pairs_with_no_memory, plait_cross_pairs (cross, 7), "there is no memory 7")
COMBINE (undeclared_prepared, plait_cross_prepared (cross, 0), "plait_cross_prepared: the rows of memory 0 were not declared")
COMBINE (declares_a_slot_late, plait_cross_declare_residual (cross, 0), "calls plait_cross_declare_residual while the model runs: declare in build")
COMBINE (declares_attention_late, ATTEND (.name = "a"), "calls plait_cross_declare_attend while the model runs")
COMBINE (declares_joint_attention_late, JOINTLY (), "calls plait_cross_declare_attend_jointly while the model runs")
COMBINE (declares_attention_over_contexts_late, plait_cross_declare_attend_contexts (cross, &(PlaitAttendSettings){ PLAIT_DECODER_DROPOUT_RATES }), "calls plait_cross_declare_attend_contexts while the model runs")
COMBINE (declares_rows_late, plait_cross_declare_rows (cross, 0), "calls plait_cross_declare_rows while the model runs")
COMBINE (declares_loss_late, plait_cross_declare_loss (cross, "a", 1), "calls plait_cross_declare_loss while the model runs")
COMBINE (parameters_late, plait_cross_parameters (cross), "calls plait_cross_parameters while the model runs")
COMBINE (declares_a_parameter_late, plait_parameters_declare (cross->declared->decoder->parameters, "late", 1, 1, PLAIT_ZEROS); return x.context ? x : plait_cross_residual (cross, 1, x, plait_cross_attend (cross, 0, x)), ": the parameter \"late\" is declared while the model runs: declare it in build")
COMBINE (prefix_late, plait_cross_prefix (cross), "calls plait_cross_prefix while the model runs")
COMBINE (adds_an_undeclared_loss, plait_cross_add_loss (cross, "other", zeros (tape, 1, 1)), "adds to the loss \"other\", which was not declared")
COMBINE (adds_a_wide_loss, plait_cross_add_loss (cross, "sound", zeros (tape, 1, 2)), "the loss \"sound\" is not a node [1, 1]")
COMBINE (adds_no_loss, plait_cross_add_loss (cross, "sound", NULL), "the loss \"sound\" is not a node [1, 1]")

/* Returns a selection of row @row, for every query and each of @heads heads. */
static const PlaitSelectedRows *
choose (PlaitTape *tape, gint64 queries, guint heads, gint64 row)
{
  gint64 n = queries * heads, *numbers = plait_arena_new_array (plait_tape_arena (tape), gint64, 2 * n + 1);
  PlaitSelectedRows *selected = plait_arena_new_array (plait_tape_arena (tape), PlaitSelectedRows, 1);

  for (gint64 i = 0; i <= n; i++)
    numbers[i] = i;
  for (gint64 i = 0; i < n; i++)
    numbers[n + 1 + i] = row;
  *selected = (PlaitSelectedRows){ heads, { n, numbers }, { n, numbers }, numbers + n + 1 };
  return selected;
}

#define CHOSEN(heads, row) choose (tape, ALL_QUERIES, heads, row)
#define HEADS plait_cross_heads (cross, NULL, 0)

COMBINE (heads_of_no_attention, plait_cross_heads (cross, "a", 0), "plait_cross_heads: no attention to this memory called a was declared")
COMBINE (weighs_rows_of_another_sentence, plait_cross_sparse_weights (cross, NULL, 0, x, CHOSEN (HEADS, 4)), "plait_cross_sparse_weights: row 4 was selected, but the query's sentence has rows 0 to 2")
COMBINE (weighs_rows_that_are_none, plait_cross_sparse_weights (cross, NULL, 0, x, CHOSEN (HEADS, -1)), "plait_cross_sparse_weights: row -1 was selected")
COMBINE (weighs_for_other_heads, plait_cross_sparse_weights (cross, NULL, 0, x, CHOSEN (HEADS + 1, 0)), "plait_cross_sparse_weights: selects rows for ")
COMBINE (weighs_for_too_few, plait_cross_sparse_weights (cross, NULL, 0, x, choose (tape, ALL_QUERIES - 1, HEADS, 0)), "plait_cross_sparse_weights: selects rows for ")
COMBINE (weighs_without_query, plait_cross_sparse_weights (cross, NULL, 0, NO_QUERY, CHOSEN (HEADS, 0)), "plait_cross_sparse_weights: the query does not have the shape [")
COMBINE (descends_undeclared_rows, plait_cross_descend (cross, NULL, 0, x, 1, FALSE), "plait_cross_descend: the rows of memory 0 were not declared")
COMBINE (reads_without_weights, plait_cross_sparse_context (cross, NULL, 0, CHOSEN (HEADS, 0), NULL), "plait_cross_sparse_context")
COMBINE (reads_other_weights, plait_cross_sparse_context (cross, NULL, 0, CHOSEN (HEADS, 4), zeros (tape, 1, 1)), "plait_cross_sparse_context: row 4 was selected")

COMBINE (multiplies_other_shapes, plait_multiply (tape, x.query, FEWER (x.query)), "plait_multiply was given nodes of the shapes [")
COMBINE (divides_other_shapes, plait_divide (tape, x.query, FEWER (x.query)), "plait_divide was given nodes of the shapes [")
COMBINE (greatest_of_other_shapes, plait_maximum (tape, x.query, FEWER (x.query)), "plait_maximum was given nodes of the shapes [")
COMBINE (least_of_other_shapes, plait_minimum (tape, x.query, NARROWER (x.query)), "plait_minimum was given nodes of the shapes [")
COMBINE (scales_other_rows, plait_multiply_broadcast (tape, x.query, zeros (tape, x.query->value.rows + 1, 1)), "plait_multiply_broadcast was called with wrong arguments")
COMBINE (scales_rows_by_a_matrix, plait_multiply_broadcast (tape, x.query, x.query), "plait_multiply_broadcast was called with wrong arguments")
COMBINE (scales_other_columns, plait_multiply_broadcast (tape, x.query, zeros (tape, 1, x.query->value.width + 1)), "plait_multiply_broadcast was called with wrong arguments")
COMBINE (softmax_of_nothing, plait_softmax (tape, NULL), "plait_softmax was called with wrong arguments")
COMBINE (logarithm_of_nothing, plait_log (tape, NULL), "plait_log was called with wrong arguments")
COMBINE (exponential_of_nothing, plait_exp (tape, NULL), "plait_exp was called with wrong arguments")
COMBINE (sums_other_shapes, plait_add_n (tape, ((PlaitNode *[]){ x.query, NARROWER (x.query) }), 2), "plait_add_n was given nodes of the shapes [")
COMBINE (sums_no_terms, plait_add_n (tape, &x.query, 0), "plait_add_n was called with wrong arguments")
COMBINE (adds_another_shape, plait_residual (tape, x.query, NARROWER (x.query), 0), "plait_residual was given nodes of the shapes [")
COMBINE (product_of_other_widths, plait_linear (tape, x.query, zeros (tape, 3, 2), NULL, PLAIT_ACTIVATION_NONE), "plait_linear_dropout was called with wrong arguments")
COMBINE (bias_of_another_width, plait_linear (tape, x.query, zeros (tape, x.query->value.width, 2), zeros (tape, 1, 3), PLAIT_ACTIVATION_NONE), "plait_linear_dropout was called with wrong arguments")
COMBINE (columns_beyond_the_last, plait_columns (tape, x.query, 1, x.query->value.width), "plait_columns was called with wrong arguments")
COMBINE (columns_out_of_this_world, plait_columns (tape, x.query, G_MAXINT64, 1), "plait_columns was called with wrong arguments")
COMBINE (rows_before_the_first, plait_rows (tape, x.query, -1, 1), "plait_rows was called with wrong arguments")
COMBINE (rows_out_of_this_world, plait_rows (tape, x.query, G_MAXINT64, 1), "plait_rows was called with wrong arguments")
COMBINE (stands_other_rows_side_by_side, plait_concatenate_columns (tape, ((PlaitNode *[]){ x.query, FEWER (x.query) }), 2), "was called with wrong arguments")
COMBINE (stands_nothing_side_by_side, plait_concatenate_columns (tape, NULL, 0), "was called with wrong arguments")
COMBINE (gathers_rows_that_are_none, plait_gather_rows (tape, x.query, ((gint64[]){ 0, 99 }), 2), "was called with wrong arguments")
COMBINE (gathers_less_than_nothing, plait_gather_rows (tape, x.query, NULL, -1), "was called with wrong arguments")
COMBINE (drops_all, plait_dropout (tape, x.query, 1), "plait_dropout was called with wrong arguments")
COMBINE (drops_no_number, plait_residual (tape, x.query, x.query, NAN), "plait_residual was called with wrong arguments")
COMBINE (selects_from_another_shape, plait_select_rows (tape, (const guint8 *)"abcdefgh", x.query, NARROWER (x.query)), "plait_select_rows was called with wrong arguments")
COMBINE (norm_of_another_width, plait_layer_norm (tape, x.query, zeros (tape, 1, 1), zeros (tape, 1, 1), 0), "plait_layer_norm was called with wrong arguments")
COMBINE (embeds_words_that_are_none, plait_embed (tape, x.query, ((gint32[]){ 99 }), 1, 1), "plait_embed was called with wrong arguments")
COMBINE (pairs_of_other_sentences, plait_query_key_pairs (tape, ((PlaitRagged){ 1, (gint64[]){ 0, 1 } }), ((PlaitRagged){ 2, (gint64[]){ 0, 1, 2 } })), "plait_query_key_pairs was called with wrong arguments")
#define LEAF(...) plait_leaf (tape, ((PlaitTensor){ __VA_ARGS__ }), NULL)
static PlaitScalar some[16];
static void nowhere (PlaitTape *tape, PlaitNode *node) {}
static const PlaitOperator idle = { "idle", nowhere }, idler = { "idler", NULL };
COMBINE (leaf_of_nothing, LEAF (NULL, 2, 2, 2), "plait_leaf was called with wrong arguments")
COMBINE (leaf_of_no_stride, LEAF (some, 2, 2, 0), "plait_leaf was called with wrong arguments")
COMBINE (leaf_of_less_than_nothing, LEAF (some, -1, 2, 2), "plait_leaf was called with wrong arguments")
COMBINE (leaf_of_no_width, LEAF (some, 2, 0, 2), "plait_leaf was called with wrong arguments")
COMBINE (node_out_of_this_world, plait_tape_node (tape, &idle, (gint64)1 << 40, (gint64)1 << 40, NULL, 0, 0), "makes a node [1099511627776, 1099511627776], which no machine has memory for")
COMBINE (node_beyond_all_numbers, plait_tape_node (tape, &idle, (gint64)1 << 40, 1 << 18, NULL, 0, 0), "which no machine has memory for")
COMBINE (node_that_does_not_go_back, plait_tape_node (tape, &idler, 1, 1, NULL, 0, 0), "plait_tape_node was called with wrong arguments")
COMBINE (node_of_inputs_that_are_not_there, plait_tape_node (tape, &idle, 1, 1, NULL, 3, 0), "plait_tape_node was called with wrong arguments")
COMBINE (activates_in_no_way, plait_activate (tape, x.query, 77), "plait_activate was called with wrong arguments")
COMBINE (product_with_no_activation, plait_linear (tape, x.query, zeros (tape, x.query->value.width, 2), NULL, 77), "was called with wrong arguments")
COMBINE (scales_by_no_number, plait_scale (tape, x.query, NAN), "plait_scale was called with wrong arguments")
COMBINE (scales_without_end, plait_scale (tape, x.query, INFINITY), "plait_scale was called with wrong arguments")
COMBINE (norm_without_number, plait_layer_norm (tape, x.query, zeros (tape, 1, x.query->value.width), zeros (tape, 1, x.query->value.width), NAN), "plait_layer_norm was called with wrong arguments")
COMBINE (gathers_windows_of_nothing, plait_gather_windows (tape, x.query, ((gint64[]){ 0 }), 1, 0), "plait_gather_windows was called with wrong arguments")
COMBINE (gathers_windows_without_end, plait_gather_windows (tape, x.query, ((gint64[]){ 0 }), 1, G_MAXINT64), "plait_gather_windows was called with wrong arguments")
COMBINE (scans_unequal_shapes, plait_scan (tape, zeros (tape, 3, 2), zeros (tape, 3, 4), NULL, ((PlaitRagged){ 1, (gint64[]){ 0, 3 } })), "plait_scan was given nodes of the shapes [3, 2] and [3, 4]: give it nodes of one shape")
COMBINE (scans_other_rows, plait_scan (tape, zeros (tape, 3, 2), zeros (tape, 3, 2), NULL, ((PlaitRagged){ 1, (gint64[]){ 0, 2 } })), "plait_scan was called with wrong arguments")
COMBINE (scans_from_other_states, plait_scan (tape, zeros (tape, 3, 2), zeros (tape, 3, 2), zeros (tape, 2, 2), ((PlaitRagged){ 1, (gint64[]){ 0, 3 } })), "plait_scan was called with wrong arguments")
COMBINE (rotates_a_half_pair, plait_rotate (tape, zeros (tape, 1, 6), ((gint64[]){ 0 }), 2, 10000), "plait_rotate was called with wrong arguments")
COMBINE (rotates_before_the_beginning, plait_rotate (tape, zeros (tape, 1, 4), ((gint64[]){ -1 }), 2, 10000), "plait_rotate was called with wrong arguments")
COMBINE (gathers_from_nothing, plait_gather_rows (tape, NULL, ((gint64[]){ 0 }), 1), "was called with wrong arguments")
COMBINE (embeds_less_than_nothing, plait_embed (tape, x.query, NULL, -1, 1), "was called with wrong arguments")
COMBINE (pairs_of_rows_that_fall, plait_query_key_pairs (tape, ((PlaitRagged){ 1, (gint64[]){ 0, -4 } }), ((PlaitRagged){ 1, (gint64[]){ 0, 1 } })), "plait_query_key_pairs was called with wrong arguments")
COMBINE (adds_through_a_slot_twice, for (guint i = 0; i < 2; i++) x = plait_cross_residual (cross, 0, x, ((PlaitContext){ zeros (tape, ALL_QUERIES, plait_cross_width (cross)), NULL, NULL })), "plait_cross_residual: slot 0 is used twice in a pass: declare another slot")
COMBINE (adds_up_no_contexts, plait_cross_sum (cross, NULL, 2), "plait_cross_sum: context 0 does not have the shape [")
COMBINE (weighs_no_rows, plait_cross_sparse_weights (cross, NULL, 0, x, NULL), "plait_cross_sparse_weights: the selected rows are NULL")
COMBINE (begins_a_step, plait_tape_begin (tape, PLAIT_TAPE_TRAIN, plait_random_key (1, "a", NULL, 1)), "calls plait_tape_begin, which only the host may call")
COMBINE (goes_back_by_itself, plait_tape_backward (tape, zeros (tape, 1, 1)), "calls plait_tape_backward, which only the host may call")
COMBINE (frees_the_tape, plait_tape_free (tape), "calls plait_tape_free, which only the host may call")
COMBINE_IN (TRANSFORMER, adds_no_number_as_a_combiner_build_loss, plait_cross_add_loss (cross, "sound", number (tape, NAN)), "its loss \"sound\" is nan, although the loss of the targets is finite")
COMBINE (adds_to_a_loss_without_name, plait_cross_add_loss (cross, NULL, zeros (tape, 1, 1)), "adds to the loss \"\", which was not declared")
COMBINE (node_of_no_width, plait_tape_node (tape, NULL, 1, 0, NULL, 0, 0), "plait_tape_node was called with wrong arguments")
/* clang-format on */

static PlaitNode *
prepare_too_few (PlaitTape *tape, const PlaitMemory *memory)
{
  return FEWER (memory->states);
}

TEST_CASE (misbehaving_combiners, prepares_too_few)
{
  faulty_plugin = (FaultyPlugin){ .prepare = prepare_too_few };
  check_fault (BOTH, COMBINER ", prepare", "gave a prepared node of the shape [4, 8], expected [5, 8]");
}
