/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "call.h"
#include "files.h"
#include "harness.h"
#include "hdf5/store.h"

/* Tests of plait-bench steps, which shows steps of attention of several experiments side by side. Speed is not
 * tested. */

#define BENCH(...) plait_test_call_program ("plait-bench", (const char *[]){ __VA_ARGS__, NULL })

#define DATA "[data]\ntarget=target\nvocabulary_size=400\n"

static const char full[] = DATA "[source text]\nencoder=bigru\nwidth=8\n"
                                "[decoder]\ncombiner=serial\nlayers=1\nwidth=16\nheads=2\n";
static const char down[] = DATA "[source text]\nencoder=pyramid\nleaves=bigru\npool=mean\nblock=3\nlevels=0\n"
                                "[source text/leaves]\nwidth=8\n"
                                "[decoder]\ncombiner=descent\nlayers=1\nwidth=16\nheads=2\n"
                                "[combiner]\ndescent=top1\ntrain=same\n";

static void
write_files (void)
{
  plait_test_write ("full.ini", full);
  plait_test_write ("down.ini", down);
}

/* Returns the numbers in the column @title of @json. (transfer full) */
static char **
column (const char *json, const char *title)
{
  g_autofree char *key = g_strdup_printf ("\"%s\": [", title);
  g_autofree char *numbers = NULL;
  const char *start = strstr (json, key);

  CHECK (start);
  start = start ? start + strlen (key) : "";
  numbers = g_strndup (start, strcspn (start, "]"));
  return g_strsplit (numbers, ",", -1);
}

/* Over 27 rows there are levels of nine, three and one row. A head weighs three rows at each of three levels. */
TEST_CASE (bench_steps, weighs_what_each_experiment_says)
{
  static const char *const rows[] = { "2", "2", "27", "27", "2", "2", "27", "27" };
  static const char *const weighed[] = { "4", "4", "54", "18", "12", "12", "162", "54" };

  write_files ();
  PlaitTestCall call = QUIET (BENCH ("steps", "full.ini", "down.ini", "--lengths", "2,27", "--batch", "1,3", "--steps",
                                     "1", "--threads", "1", "--json"));
  g_auto (GStrv) lengths = column (call.output, "rows"), counts = column (call.output, "weighed");
  g_auto (GStrv) ratios = column (call.output, "times as fast");
  REQUIRE (g_strv_length (lengths) == 8 && g_strv_length (counts) == 8 && g_strv_length (ratios) == 8);
  for (guint i = 0; i < 8; i++)
    {
      CHECK_STRING (g_strstrip (lengths[i]), rows[i]);
      CHECK_STRING (g_strstrip (counts[i]), weighed[i]);
      CHECK (g_ascii_strtod (ratios[i], NULL) > 0);
    }
}

/* The last block of a level may be shorter than the others, so queries may weigh different numbers of rows. The count
 * is that of one fixed step, whatever --steps is. */
TEST_CASE (bench_steps, weighs_the_same_in_any_number_of_steps)
{
  static const char *const steps[] = { "1", "4" };
  g_autofree char *expected = NULL;

  write_files ();
  for (guint i = 0; i < G_N_ELEMENTS (steps); i++)
    {
      CONTEXT ("%s steps", steps[i]);
      PlaitTestCall call
          = BENCH ("steps", "down.ini", "--lengths", "28,58,85", "--steps", steps[i], "--threads", "1", "--json");
      g_auto (GStrv) counts = column (call.output, "weighed");
      g_autofree char *found = g_strjoinv (",", counts);

      if (!expected)
        expected = g_strdup (found);
      CHECK (*found != '\0');
      CHECK_STRING (found, expected);
    }
}

/* The written file has all that another program needs to compute an equal step. */
TEST_CASE (bench_steps, writes_a_step)
{
  static const char *const paths[]
      = { "/keys",  "/values",      "/queries",    "/given",
          "/level", "/first_child", "/n_children", "/parameters/decoder/layer/0/combiner/attend/text/query/weight" };

  write_files ();
  DONE (BENCH ("steps", "down.ini", "--lengths", "9", "--batch", "2", "--steps", "1", "--threads", "1", "--parameters",
               "step.h5"));
  PlaitTestCall several = BENCH ("steps", "full.ini", "down.ini", "--parameters", "other.h5");
  g_autoptr (PlaitStore) store = plait_store_open (plait_test_path ("step.h5"), NO_ERROR);

  REQUIRE (store);
  for (guint i = 0; i < G_N_ELEMENTS (paths); i++)
    CHECK (plait_store_has (store, paths[i]));
  CHECK_CONTAINS (several.errors, "--parameters writes one step of search");
}

/* As many rows are weighed for each target word as in one step, whether words are computed one by one or all at
 * once. */
TEST_CASE (bench_steps, goes_over_whole_targets_and_back)
{
  static const char *const decoders[] = { "decoder.type=transformer", "decoder.type=gru" };

  write_files ();
  for (guint i = 0; i < G_N_ELEMENTS (decoders); i++)
    {
      CONTEXT ("%s", decoders[i]);
      PlaitTestCall call = QUIET (BENCH ("steps", "full.ini", "down.ini", "--lengths", "27", "--batch", "2", "--words",
                                         "5", "--steps", "1", "--threads", "1", "--json", "--set", decoders[i]));
      g_auto (GStrv) counts = column (call.output, "weighed");
      guint heads = i == 0 ? 2 : 1;

      REQUIRE (g_strv_length (counts) == 2);
      CHECK_INT (g_ascii_strtoll (g_strstrip (counts[0]), NULL, 10), 2 * 5 * 27 * heads);
      CHECK_INT (g_ascii_strtoll (g_strstrip (counts[1]), NULL, 10), 2 * 5 * 9 * heads);
    }
}

TEST_CASE (bench_steps, prints_a_table)
{
  write_files ();
  PlaitTestCall call
      = DONE (BENCH ("steps", "full.ini", "down.ini", "--lengths", "4", "--steps", "1", "--threads", "1"));

  CHECK_CONTAINS (call.output, "a step of attention in search, 1 thread\n");
  CHECK_CONTAINS (call.output, "times as fast");
  CHECK_CONTAINS (call.output, "full");
  CHECK_CONTAINS (call.output, "down");
}

TEST_CASE (bench_steps, names_the_right_separator)
{
  write_files ();
  CHECK_REFUSED (BENCH ("steps", "full.ini", "--lengths", "4;9"), "--lengths cannot be \"4;9\"; did you mean \"4,9\"?");
}

/* By default, lengths are the powers of ten from 100 below bench.positions, then bench.positions. */
TEST_CASE (bench_steps, takes_lengths_up_to_the_positions_of_the_experiment)
{
  static const char *const rows[] = { "100", "1000", "1500" };

  write_files ();
  PlaitTestCall call = BENCH ("steps", "full.ini", "--set", "bench.positions=1500", "--steps", "1", "--json");
  PlaitTestCall few = BENCH ("steps", "full.ini", "--set", "bench.positions=70", "--steps", "1", "--json");
  g_auto (GStrv) lengths = column (call.output, "rows"), one = column (few.output, "rows");

  REQUIRE (g_strv_length (lengths) == 3 && g_strv_length (one) == 1);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    CHECK_STRING (g_strstrip (lengths[i]), rows[i]);
  CHECK_STRING (g_strstrip (one[0]), "70");
}

TEST_CASE (bench_steps, what_cannot_be_measured)
{
  write_files ();
  plait_test_write ("two.ini",
                    DATA "[source a]\nencoder=bigru\n[source b]\nencoder=bigru\n[decoder]\ncombiner=serial\n");
  plait_test_write ("trees.ini", DATA "[source a]\nencoder=bitree-gru\nleaves=bigru\n[decoder]\ncombiner=serial\n");
  const struct
  {
    PlaitTestCall call;
    const char *part;
  } cases[] = {
    { BENCH ("steps", "two.ini"), "two has 2 sources" },
    { BENCH ("steps", "full.ini", "--set", "decoder.coverage=fertility"), "full has coverage" },
    { BENCH ("steps", "trees.ini", "--lengths", "3"), "bitree-gru reads trees" },
    { BENCH ("steps", "full.ini", "--lengths", "5,4"), "--lengths cannot be \"5,4\"" },
    { BENCH ("steps", "full.ini", "--batch", "0"), "--batch cannot be \"0\"" },
    { BENCH ("steps", "full.ini", "--words", "none"), "--words" },
    { BENCH ("steps", "full.ini", "--forward"), "--forward" },
    { BENCH ("train", "full.ini", "down.ini"), "1 argument too many" },
    { BENCH ("encode", "full.ini", "--words", "3"), "--words" },
    { BENCH ("steps", "nowhere.ini"), "nowhere.ini" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      CONTEXT ("case %u", i);
      PlaitTestCall call = cases[i].call;

      CHECK (call.code != 0);
      CHECK_CONTAINS (call.errors, cases[i].part);
    }
}
