/* SPDX-License-Identifier: MIT */
#include "misbehaving.h"

/* Defines a faulty coverage and its test: the name of the plugin, the code that is wrong, and the message after the
 * plugin's name. */
#define COVERAGE_BUILD(name, deed, sentence)                                                                           \
  FUNCTION (gboolean, name, (const PlaitCoverageBuild *build, PlaitCoverageShape *shape, GError **error), TRUE, deed)  \
  TEST_CASE (misbehaving_coverages, name)                                                                              \
  {                                                                                                                    \
    faulty_plugin = (FaultyPlugin){ .covered = TRUE, .coverage = name };                                               \
    check_fault (BOTH, COVERAGE, sentence);                                                                            \
  }
#define COVERAGE_STEP(call, name, given, sentence)                                                                     \
  FUNCTION (PlaitNode *, name, (const PlaitCoverageStep *step), given, )                                               \
  TEST_CASE (misbehaving_coverages, name)                                                                              \
  {                                                                                                                    \
    faulty_plugin = (FaultyPlugin){ .covered = TRUE, .call = name };                                                   \
    check_fault (BOTH, COVERAGE ", " #call, sentence);                                                                 \
  }

/* clang-format off */
COVERAGE_BUILD (coverage_refuses_without_words, return FALSE, "build returned FALSE without an error")
COVERAGE_BUILD (coverage_accepts_with_an_error, FAIL, "build returned TRUE with an error (not to my taste)")
COVERAGE_BUILD (states_of_no_width, shape->width = 0, "build declares states 0 wide")
COVERAGE_BUILD (coverage_with_five_losses, shape->losses.n = 5, "declares 5 losses")
COVERAGE_BUILD (coverage_loss_of_a_bad_name, shape->losses.losses[0].name = "1", "declares a loss \"1\", which is not a valid name")
COVERAGE_BUILD (coverage_loss_before_training, shape->losses.losses[0].start = -1, "starts its loss \"sound\" at update -1: set start to 0 or more")
COVERAGE_BUILD (coverage_parameter_outside, plait_parameters_declare (build->parameters, "..", 1, 1, PLAIT_ZEROS), "build: \"..\" is not a valid name for a parameter")
COVERAGE_BUILD (states_out_of_this_world, shape->width = (gint64)1 << 40, "build declares states 1099511627776 wide; give at most 16777216 columns")
COVERAGE_BUILD (coverage_parameter_of_another, plait_parameters_declare (build->parameters, "decoder/a", 1, 1, PLAIT_ZEROS), "build: the parameter decoder/a is declared, but its name must begin with ")
COVERAGE_STEP (update, adds_no_number_as_a_loss, (plait_coverage_add_loss (step, "sound", number (step->tape, NAN)), step->state), "its loss \"sound\" is nan, although the loss of the targets is finite")
COVERAGE_STEP (score, scores_nothing, NULL, "gave NULL for a score")
COVERAGE_STEP (score, scores_too_few, zeros (step->tape, step->n - 1, 1), "gave a score of the shape [")
COVERAGE_STEP (score, scores_too_wide, zeros (step->tape, step->n, 99), "expected [")
COVERAGE_STEP (score, loss_of_a_score, (plait_coverage_add_loss (step, "sound", zeros (step->tape, 1, 1)), NULL), "adds to a loss in score: add to it in update")
COVERAGE_STEP (update, updates_to_nothing, NULL, "gave NULL for states")
COVERAGE_STEP (update, updates_too_few, zeros (step->tape, step->n - 1, 2), "gave states of the shape [")
COVERAGE_STEP (update, updates_to_another_width, zeros (step->tape, step->n, 3), ", 3], expected [")
COVERAGE_STEP (update, adds_an_undeclared_coverage_loss, (plait_coverage_add_loss (step, "other", zeros (step->tape, 1, 1)), NULL), "adds to the loss \"other\"")
COVERAGE_STEP (update, adds_a_wide_coverage_loss, (plait_coverage_add_loss (step, "sound", step->state), NULL), "the loss \"sound\" is not a node [1, 1]")
COVERAGE_STEP (update, rows_of_too_few, plait_coverage_gather_rows (step, zeros (step->tape, 1, 2)), "was called with wrong arguments")
/* clang-format on */

static PlaitNode *
prepare_too_few (PlaitTape *tape, const PlaitMemory *memory)
{
  return FEWER (memory->states);
}

TEST_CASE (misbehaving_coverages, prepares_too_few)
{
  faulty_plugin = (FaultyPlugin){ .covered = TRUE, .prepare_coverage = prepare_too_few };
  check_fault (BOTH, COVERAGE ", prepare", "gave a prepared node of the shape [4, 8], expected [5, 8]");
}
