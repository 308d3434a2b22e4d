/* SPDX-License-Identifier: MIT */
#include "harness.h"
#include "loading/losses.h"

/* Declares the loss "gate" of a component in @group, and returns the name of its column. (transfer none) */
static const char *
declare (PlaitLossColumns *columns, const char *group, guint *place)
{
  const PlaitComponent part = { .group = (char *)group, .label = (char *)group };
  const PlaitLosses losses = { 1, { { "gate", 0.5 } } };

  CHECK (plait_loss_columns_declare (columns, &part, &losses, place, NO_ERROR));
  return columns->columns[*place].name;
}

/* Instances of one component share a column. A source called "combiner" has another column than the combiner. */
TEST_CASE (losses, have_a_column_for_each_part)
{
  PlaitLossColumns columns = { 0 };
  guint place;

  CHECK_STRING (declare (&columns, "source combiner", &place), "combiner.gate");
  CHECK_STRING (declare (&columns, "source a/leaves", &place), "a.leaves.gate");
  for (guint layer = 0; layer < 2; layer++)
    {
      CHECK_STRING (declare (&columns, "combiner", &place), "<combiner>.gate");
      CHECK_INT (place, 2);
      CHECK_STRING (declare (&columns, "coverage", &place), "coverage.gate");
      CHECK_INT (place, 3);
    }
  CHECK_INT (columns.n, 4);
  plait_loss_columns_clear (&columns);
}

/* All instances of a component share one weight and one start. */
TEST_CASE (losses, have_one_weight)
{
  const PlaitLoss others[] = { { "gate", 0.25 }, { "gate", 0.5, 3 } };
  PlaitLossColumns columns = { 0 };
  guint place;

  declare (&columns, "combiner", &place);
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    {
      const PlaitComponent part = { .group = (char *)"combiner", .label = (char *)"combiner" };
      g_autoptr (GError) error = NULL;

      CHECK (!plait_loss_columns_declare (&columns, &part, &(PlaitLosses){ 1, { others[i] } }, &place, &error));
      REQUIRE (error != NULL);
      CHECK (error->code == PLAIT_ERROR_PLUGIN);
      CHECK_STRING (error->message, i == 0 ? "combiner gives its loss \"gate\" the weight 0.25 and the start 0, but "
                                             "the weight 0.5 and the start 0 in an earlier instance: give the loss one "
                                             "weight and one start"
                                           : "combiner gives its loss \"gate\" the weight 0.5 and the start 3, but "
                                             "the weight 0.5 and the start 0 in an earlier instance: give the loss one "
                                             "weight and one start");
    }
  plait_loss_columns_clear (&columns);
}
