/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "call.h"
#include "harness.h"
#include "sample-run.h"

/* Which runs are seeds of one system. */

/* What changes no score tells no systems apart; what does, does. */
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
    { "[evaluate]\ncheckpoint=last\n", TRUE },
    { "[decode]\nbeam=17\n", TRUE },
    { "[train]\nbatch=3\n", TRUE },
  };

  plait_test_write_run ("one.h5", &(PlaitTestRun){ "serial", plait_test_wrong });
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      CONTEXT ("%s", cases[i].setting);
      plait_test_write_run ("other.h5",
                            &(PlaitTestRun){ "serial", plait_test_right, .seed = 2, .more = cases[i].setting });
      g_auto (PlaitTestCall) call = CALL ("compare", "one.h5", "other.h5", "--json");

      CHECK_INT (call.code, 0);
      CHECK_INT (!strstr (call.output, "\"seeds\": 2,"), cases[i].apart);
      CHECK_INT (strstr (call.output, "approximate randomisation") != NULL, cases[i].apart);
    }
}
