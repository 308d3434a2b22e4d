/* SPDX-License-Identifier: MIT */
#include "process/crash.h"

/* A plugin that calls exit (0) must not pass the test. */
__attribute__ ((constructor)) static void
watch (void)
{
  plait_crash_install_handlers ();
}
