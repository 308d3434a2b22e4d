/* SPDX-License-Identifier: MIT */
#include <glib/gstdio.h>
#include <string.h>

#include "call.h"
#include "files.h"
#include "harness.h"
#include "hdf5/store.h"
#include "sample-run.h"

/* Tests of how runs are grouped into systems, and of the names of systems. */

/* Settings that cannot change a score do not separate systems; others do. */
TEST_CASE (compare_command, takes_runs_for_one_system_whatever_is_dumped_of_them)
{
  static const struct
  {
    const char *setting;
    gboolean apart;
  } cases[] = {
    { "[evaluate]\nlength_bins=10;20\n", FALSE },
    { "[evaluate]\nresamples=0\nseed=7\nattention=9\nmetrics=bleu\n", FALSE },
    { "[evaluate]\ntranslation_rates=search\ntranslation_rate_over=2\n", FALSE },
    { "[train]\nlog_every=7\ncheckpoint_every=9\n", FALSE },
    { "[decode]\nbatch=3\n", FALSE },
    { "[evaluate]\ncheckpoint=last\n", TRUE },
    { "[evaluate]\nalignment_attention=mean\n", TRUE },
    { "[decode]\nbeam=17\n", TRUE },
    { "[train]\nbatch=3\n", TRUE },
  };

  plait_test_write_run ("one.h5", &(PlaitTestRun){ "serial", plait_test_wrong });
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      CONTEXT ("%s", cases[i].setting);
      plait_test_write_run ("other.h5",
                            &(PlaitTestRun){ "serial", plait_test_right, .seed = 2, .more = cases[i].setting });
      PlaitTestCall call = DONE (CALL ("compare", "one.h5", "other.h5", "--json"));

      CHECK_INT (!strstr (call.output, "\"seeds\": 2,"), cases[i].apart);
      CHECK_INT (strstr (call.output, "approximate randomisation") != NULL, cases[i].apart);
    }
}

/* Runs that read files of one name but other contents are different systems. */
TEST_CASE (compare_command, takes_other_contents_of_files_for_other_systems)
{
  static const char *const files[] = { "initialise", "initialise.1", "initialise_map", "head_rules" };
  const char *more = "[data]\nhead_rules=english\n[train]\ninitialise=w.index.json\ninitialise_map=bart\n";

  /* The first two runs read equal files. Each of the others reads another file in the place of one of them. */
  for (guint i = 0; i < 6; i++)
    {
      plait_test_write_run ("made.h5", &(PlaitTestRun){ "serial", plait_test_right, .seed = i + 1, .more = more });
      g_autoptr (PlaitStore) from = plait_store_open (plait_test_path ("made.h5"), NO_ERROR);
      g_autoptr (PlaitStore) to = plait_store_create (plait_test_path (plait_test_format ("run-%u.h5", i)), NO_ERROR);

      REQUIRE (from && to && plait_store_copy (to, from, "/", NO_ERROR));
      for (guint f = 0; f < G_N_ELEMENTS (files); f++)
        {
          const char *group = plait_test_format ("/data/%s", files[f]);

          CHECK (plait_store_make_group (to, group, NO_ERROR)
                 && plait_store_set_string (to, group, "sha256", f + 2 == i ? "other" : "same", NO_ERROR));
        }
      CHECK (plait_store_commit (to, NO_ERROR));
    }
  PlaitTestCall call = DONE (CALL ("compare", "run-0.h5", "run-1.h5", "run-2.h5", "run-3.h5", "run-4.h5", "run-5.h5"));
  CHECK_CONTAINS (call.output, "\n  run, 2 seeds  ");
}

/* If files have equal names, adds the folders that differ. */
TEST_CASE (compare_command, names_folders_where_files_have_one_name)
{
  const char *x = plait_test_path ("x"), *y = plait_test_path ("y");

  CHECK (g_mkdir (x, 0755) == 0 && g_mkdir (y, 0755) == 0);
  plait_test_write_run ("x/one.h5", &(PlaitTestRun){ "serial", plait_test_wrong });
  plait_test_write_run ("y/one.h5", &(PlaitTestRun){ "flat", plait_test_right });
  plait_test_write_run ("one.h5", &(PlaitTestRun){ "parallel", plait_test_right });
  const char *first = plait_test_path ("x/one.h5"), *second = plait_test_path ("y/one.h5");
  PlaitTestCall call = DONE (CALL ("compare", "x/one.h5", "y/one.h5", "one.h5"));
  PlaitTestCall whole = CALL ("compare", first, second);
  PlaitTestCall twice = DONE (CALL ("compare", "x/one.h5", "x/one.h5"));

  CHECK_CONTAINS (call.output, "\n  x/one  ");
  CHECK_CONTAINS (call.output, "\n  y/one  ");
  CHECK_CONTAINS (call.output, "\n  one    ");
  CHECK_CONTAINS (call.output, "p compares with x/one: ");
  CHECK_CONTAINS (whole.output, "\n  x/one  ");
  CHECK_CONTAINS (whole.output, "\n  y/one  ");
  CHECK_CONTAINS (twice.output, "\n  one  ");
}
