/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "call.h"
#include "files.h"
#include "harness.h"

/* Tests of grids whose cells have equal numbers of parameters. */

#define BASE                                                                                                           \
  "[data]\n"                                                                                                           \
  "generate=agreement\n"                                                                                               \
  "vocabulary_type=words\n"                                                                                            \
  "vocabulary_size=100\n"                                                                                              \
  "[source a]\n"                                                                                                       \
  "encoder=transformer\n"                                                                                              \
  "layers=1\n"                                                                                                         \
  "heads=2\n"                                                                                                          \
  "feed_forward=32\n"                                                                                                  \
  "[source b]\n"                                                                                                       \
  "encoder=transformer\n"                                                                                              \
  "layers=1\n"                                                                                                         \
  "heads=2\n"                                                                                                          \
  "feed_forward=32\n"                                                                                                  \
  "[decoder]\n"                                                                                                        \
  "combiner=flat\n"                                                                                                    \
  "layers=1\n"                                                                                                         \
  "width=16\n"                                                                                                         \
  "heads=2\n"                                                                                                          \
  "feed_forward=200\n"                                                                                                 \
  "[grid]\n"

/* Returns the number of parameters that the plan @text prints for @cell. */
static gint64
parameters_behind (const char *text, const char *cell)
{
  const char *place = text ? strstr (text, cell) : NULL;
  const char *number = place ? strstr (place, ": ") : NULL;

  return number ? g_ascii_strtoll (number + 2, NULL, 10) : -1;
}

/* Serial attention has 1056 parameters more than flat attention: 4 w w for the second memory and 2 w for its norm, with
 * w = 16. A unit of the feed-forward layer has 2 w + 1 = 33 parameters, so 32 units fewer compensate for that. */
TEST_CASE (grid_match, widths_are_solved_for)
{
  plait_test_write ("matched.ini", BASE "decoder.combiner=flat;serial;hierarchical\nmatch=parameters\n"
                                        "match.vary=decoder.feed_forward\n");
  PlaitTestCall call = QUIET (CALL ("grid", "matched.ini", "--dry-run", "--quiet"));
  gint64 flat, serial, hierarchical;

  CHECK_CONTAINS (call.output, "decoder.combiner=flat\n");
  CHECK_CONTAINS (call.output, "decoder.feed_forward=200: ");
  CHECK_CONTAINS (call.output, "decoder.feed_forward=168: ");
  flat = parameters_behind (call.output, "decoder.combiner=flat\n");
  serial = parameters_behind (call.output, "decoder.combiner=serial\n");
  hierarchical = parameters_behind (call.output, "decoder.combiner=hierarchical\n");
  CHECK (flat > 0);
  CHECK_INT (serial, flat);
  CHECK (ABS (hierarchical - flat) <= 17);
}

TEST_CASE (grid_match, several_widths_keep_their_proportion_and_multiples)
{
  plait_test_write ("several.ini", BASE "decoder.combiner=flat;serial\nmatch=parameters\nmatch.multiple=4\n"
                                        "match.tolerance=0.02\n"
                                        "match.vary=decoder.feed_forward;source.a.feed_forward\n");
  PlaitTestCall call = DONE (CALL ("grid", "several.ini", "--dry-run"));

  CHECK_CONTAINS (call.output, "decoder.feed_forward=200 source.a.feed_forward=32: ");
  CHECK_CONTAINS (call.output, "decoder.feed_forward=172 source.a.feed_forward=28: ");
}

/* The width of [source a/leaves] has no effect in cells whose encoder has no inner encoder. */
TEST_CASE (grid_match, a_width_without_effect_is_kept)
{
  plait_test_write ("leaves.ini", BASE "experiment.seed=1;2\nsource.a.encoder=transformer;pyramid\n"
                                       "match=parameters\nmatch.tolerance=0.1\nmatch.vary=source.a/leaves.width\n"
                                       "[source a/leaves]\nwidth=8\n");
  PlaitTestCall call = DONE (CALL ("grid", "leaves.ini", "--dry-run", "--set", "source.a.leaves=bigru"));
  const char *second = strstr (call.output, "experiment.seed=2 source.a.encoder=transformer");

  CHECK (second);
  CHECK (second && g_str_has_prefix (strstr (second, "source.a/leaves.width="), "source.a/leaves.width=8: "));
}

TEST_CASE (grid_match, says_what_cannot_be)
{
  static const struct
  {
    const char *lines;
    const char *part;
  } cases[] = {
    { "decoder.layers=1;4\nmatch=parameters\nmatch.vary=source.a.feed_forward\n",
      "the closest match of this cell has " },
    { "decoder.combiner=flat;serial\nmatch=depth\nmatch.vary=decoder.feed_forward\n",
      "the value \"depth\" is not a choice" },
    { "decoder.combiner=flat;serial\nmatch=parameters\n", "needs match.vary=" },
    { "decoder.combiner=flat;serial\nmatch.tolerance=0.1\n",
      "[grid] match.tolerance: has no effect without the key match; write match=parameters, or drop this key" },
    { "decoder.combiner=flat;serial\nmatch.vary=decoder.feed_forward\n",
      "[grid] match.vary: has no effect without the key match; write match=parameters" },
    { "decoder.combiner=flat;serial\nmatch=parameters\nmatch.vary=decoder.feed_forward,source.a.feed_forward\n",
      "did you mean \"decoder.feed_forward;source.a.feed_forward\"?" },
    { "decoder.combiner=flat;serial\nmatch=parameters\nmatch.vary=decoder.feed\n",
      "match.vary: this file gives \"decoder.feed\" no width; name keys such as" },
    { "decoder.combiner=flat;serial\nmatch=parameters\nmatch.vary=decoder.feed_forward\nmatch.tolerance=2\n",
      "match.tolerance: the value \"2\" is above the maximum 1" },
    { "decoder.combiner=flat;serial\nmatch=parameters\nmatch.varies=decoder.feed_forward\n",
      "match.varies: is neither an axis nor a key of [grid]; did you mean \"match.vary\"?" },
    { "decoder.feed_forward=8;9\nmatch=parameters\nmatch.vary=decoder.feed_forward\n", "is an axis, but match.vary" },
  };

  /* If the first cell has a fault, no other cell is said to differ from it. */
  plait_test_write ("first.ini", BASE "decoder.width=15;16;64\nmatch=parameters\nmatch.vary=decoder.feed_forward\n");
  PlaitTestCall first = CALL ("grid", "first.ini", "--dry-run");
  CHECK_INT (first.code, 2);
  CHECK_CONTAINS (first.errors, "2 heads do not divide the width 15");
  CHECK (!strstr (first.errors, "the first cell has"));
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      CONTEXT ("case %u", i);
      g_autofree char *text = g_strconcat (BASE, cases[i].lines, NULL);

      plait_test_write ("impossible.ini", text);
      PlaitTestCall call = CALL ("grid", "impossible.ini", "--dry-run");
      CHECK_INT (call.code, 2);
      CHECK_CONTAINS (call.errors, cases[i].part);
    }
}
