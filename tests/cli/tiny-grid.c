/* SPDX-License-Identifier: MIT */
#include "tiny-grid.h"

#include "call.h"
#include "files.h"
#include "harness.h"

static const char experiment[] = "[experiment]\n"
                                 "name=tiny\n"
                                 "[data]\n"
                                 "generate=agreement\n"
                                 "generate.train=24\n"
                                 "generate.validation=4\n"
                                 "generate.test=6\n"
                                 "target=target\n"
                                 "vocabulary_type=words\n"
                                 "[source a]\n"
                                 "encoder=transformer\n"
                                 "layers=1\n"
                                 "feed_forward=8\n"
                                 "[decoder]\n"
                                 "layers=1\n"
                                 "width=8\n"
                                 "heads=2\n"
                                 "feed_forward=8\n"
                                 "[train]\n"
                                 "epochs=1\n"
                                 "batch=12\n"
                                 "warm_up=4\n"
                                 "[decode]\n"
                                 "beam=1\n"
                                 "maximum_length=8\n"
                                 "[evaluate]\n"
                                 "resamples=5\n"
                                 "[grid]\n";

void
plait_test_write_grid (const char *axes)
{
  g_autofree char *text = g_strconcat (experiment, axes, NULL);

  plait_test_write ("tiny.ini", text);
}
